/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * base_rtt.h - the base RTT of the path beyond the access link.
 *
 * A notice describes the access link alone, and W is that link's bandwidth-delay product
 * (algorithms.md 0). On the papers' benches the link is nearly the whole path. On the
 * Internet a peer may be far behind it. W would then be a small part of what the path
 * holds, and a handoff between similar links would cut the window to that. The connection's
 * smallest round trip exceeds the old link's by the part that lies beyond; the handoff
 * leaves that part as it is.
 *
 * Source: docs/internals/kernel.md.
 */
#ifndef SEGUE_BASE_RTT_H
#define SEGUE_BASE_RTT_H

#include "policy.h"

#define SEGUE_BOTH_WAYS_BITS (8u * (1500 + 60)) /* a packet and its ACK */

/* The part of the delay that lies beyond the access link; one way, us. */
static inline u32 segue_delay_beyond_us(u32 min_rtt_us, u32 srtt_us, const struct segue_link *old_link)
{
	/* after five minutes without a smaller one, the minimum may itself stem from an outage */
	const u32 round_trip_us = segue_min(min_rtt_us, srtt_us);
	const u64 link_us = 2 * (u64)old_link->delay_us +
			    SEGUE_BOTH_WAYS_BITS * 1000 / segue_max(1, old_link->rate_kbps);

	return round_trip_us > link_us ? (round_trip_us - (u32)link_us) / 2 : 0;
}

/* Turns a notice about the link into one about the path. */
static inline void segue_add_delay_beyond(struct segue_notice *notice, u32 beyond_us)
{
	notice->old_link.delay_us += beyond_us;
	notice->new_link.delay_us += beyond_us;
}

/* After an outage a whole window leaves at once and queues at the link, however long the path
 * beyond is. So cwnd is no more than the link's own W. From there slow start leads to the window
 * before the outage. To a larger one it would fill that queue long before the path. */
static inline void segue_fit_into_queue(u32 link_window, const struct segue_sender *view,
					struct segue_action *act)
{
	if (act->what & SEGUE_SET_CWND)
		act->cwnd = segue_min(act->cwnd, link_window);
	if (act->what & SEGUE_SET_SSTHRESH)
		act->ssthresh = segue_min(act->ssthresh,
					  segue_max(link_window, view->ssthresh_saved));
}

#endif
