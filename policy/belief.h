/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * belief.h - how far a sender on Linux believes a notice.
 *
 * The mobile gains from a window that is too large: what its competitors lose at the
 * shared queue is its own. So
 *
 *   no disconnection  a notice may shrink cwnd and ssthresh, never raise them: whoever
 *                     still hears ACKs needs no help to grow
 *   after one         a new link may be faster than everything before, and nothing here
 *                     can know. At most SEGUE_BURST_LIMIT packets leave at once, and slow
 *                     start does the rest. The host may have found out before what the
 *                     mobile's word is worth (bpf/sender/trial.h)
 *   a claim           leaves packet by packet, so that more is granted, and also without
 *                     a disconnection. Then it is believed until the first loss of what was
 *                     sent since the notice, or until its round trips show competing traffic.
 *                     No more than the window before is left, and for some seconds no such
 *                     notice is believed (grant.h)
 *
 * Source: ours (docs/internals/kernel.md); the papers believe every notice.
 */
#ifndef SEGUE_BELIEF_H
#define SEGUE_BELIEF_H

#include "policy.h"

#define SEGUE_BURST_LIMIT 64u /* packets */
#define SEGUE_CLAIM_LIMIT 256u /* packets of a claim (near_flow.h), at first */
#define SEGUE_RAISE_LIMIT 32u /* the same where it raises the window without a disconnection */
#define SEGUE_RAISE_GAIN 4u /* and packets that each arrival then lets leave */

/* The most packets of a claim, whatever the notice says. If more were not acknowledged at the notice,
 * it is those. Each packet that has arrived since then lets one more leave, as in slow start.
 * raised: without a disconnection. A burst that overflows a queue may cost the others more than the
 * flow that sent it. That one has a single reduction, and none while it retransmits what was lost. */
static inline u32 segue_claim_limit(u32 flight, u32 arrived, u32 raised)
{
	const u32 first = raised ? SEGUE_RAISE_LIMIT : SEGUE_CLAIM_LIMIT;
	const u64 more = raised ? (u64)SEGUE_RAISE_GAIN * arrived : arrived;

	return segue_saturate(segue_max(first, flight) + more);
}

/* The largest window that a notice outside an outage may leave. In RTO recovery that is ssthresh as
 * the first expiry left it (2.4), in fast recovery what the recovery already leads to. */
static inline u32 segue_no_more_than(const struct segue_sender *tcp)
{
	if (tcp->in_rto_recovery)
		return segue_max(tcp->ssthresh, tcp->ssthresh_saved);
	if (tcp->in_fast_recovery)
		return tcp->ssthresh;
	return segue_max(tcp->ssthresh, tcp->cwnd);
}

/* The window that a notice outside an outage finds: in a recovery what that leads to, else cwnd. */
static inline u32 segue_window_before(const struct segue_sender *tcp)
{
	if (tcp->in_rto_recovery || tcp->in_fast_recovery)
		return segue_no_more_than(tcp);
	return tcp->cwnd;
}

/* Takes from what a policy asks for at a notice what is not believed. proven: what an
 * earlier grant has been found to be worth, 1/256 packet; 0: nothing is known. 1: a window
 * is granted that only the link can prove. */
static inline u32 segue_believe(const struct segue_sender *tcp, u32 disconnected, u32 proven,
				struct segue_action *act)
{
	const u32 claims = act->what & SEGUE_CLAIM;
	const u64 packets = claims ? segue_claim_limit(tcp->flight, 0, !disconnected) : SEGUE_BURST_LIMIT;
	u32 most = segue_saturate(packets * SEGUE_PACKET);

	if (!(act->what & (SEGUE_SET_CWND | SEGUE_SET_SSTHRESH)))
		return 0;
	if (!disconnected && (!claims || act->cwnd <= tcp->cwnd)) {
		act->cwnd = segue_min(act->cwnd, tcp->cwnd);
		act->ssthresh = segue_min(act->ssthresh, segue_no_more_than(tcp));
		return 0;
	}
	if (proven) {
		/* without a disconnection the flow keeps what it has */
		const u32 own = disconnected ? proven : segue_max(proven, tcp->cwnd);

		most = segue_min(most, own);
		act->ssthresh = segue_min(act->ssthresh, own);
	}
	act->cwnd = segue_min(act->cwnd, most);
	return 1;
}

#endif
