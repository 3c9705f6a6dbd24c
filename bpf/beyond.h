/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * beyond.h - the path beyond the access link.
 *
 * A notice tells of the access link alone, and W is its bandwidth-delay product
 * (algorithms.md 0), as on the papers' benches, where it is nearly the whole path. Over
 * the Internet a peer may be far behind it: W would be a small part of what the path
 * holds, and a handoff between like links would cut the window to that. By how much the
 * smallest round trip of the connection exceeds the old link's, so much lies beyond it,
 * and does so after the handoff.
 */
#ifndef SEGUE_BEYOND_H
#define SEGUE_BEYOND_H

#include "kernel.h"
#include "etcp.h"

#define SEGUE_BOTH_WAYS_BITS (8u * (1500 + 60)) /* a packet and its ACK */

/* One way, us. */
static inline u32 segue_beyond_us(const struct tcp_sock *tp, const struct segue_link *old_link)
{
	/* the smallest may itself be of an outage, after five minutes without another */
	const u32 round_trip_us = segue_min(tp->rtt_min.s[0].v, tp->srtt_us >> 3);
	const u64 link_us = 2 * (u64)old_link->delay_us +
			    SEGUE_BOTH_WAYS_BITS * 1000 / segue_max(1, old_link->rate_kbps);

	return round_trip_us > link_us ? (round_trip_us - (u32)link_us) / 2 : 0;
}

/* The same notice, of the path. */
static inline void segue_add_beyond(struct segue_notice *notice, u32 beyond_us)
{
	notice->old_link.delay_us += beyond_us;
	notice->new_link.delay_us += beyond_us;
}

/* After an outage a whole window leaves at once, of which what lies beyond the link takes
 * nothing off the link's queue: no more than the link's own W. Slow start leads from there
 * to what the flow has had before, for it would fill that queue long before the path. */
static inline void segue_fit_into_queue(const struct segue_etcp_settings *set,
					const struct segue_notice *notice,
					const struct segue_sender *view, struct segue_action *act)
{
	struct segue_path path;
	u32 own;

	if (!(act->what & SEGUE_RETRANSMIT_HEAD))
		return;
	segue_path_of(&path, notice, set->packet_bytes, set->ack_bytes, set->whole_packets);
	own = segue_window(set, &path, segue_flows(set, notice));
	if (act->what & SEGUE_SET_CWND)
		act->cwnd = segue_min(act->cwnd, own);
	if (act->what & SEGUE_SET_SSTHRESH)
		act->ssthresh = segue_min(act->ssthresh, segue_max(own, view->ssthresh_saved));
}

#endif
