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
 *                     can know. At most SEGUE_AT_ONCE packets leave at once, slow start
 *                     does the rest, and the host may have found out before what the
 *                     mobile's word is worth (bpf/sender/trial.h)
 *
 * Source: ours (docs/internals/kernel.md); the papers believe every notice.
 */
#ifndef SEGUE_BELIEF_H
#define SEGUE_BELIEF_H

#include "policy.h"

#define SEGUE_AT_ONCE 64u /* packets */

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

/* Takes from what a policy asks for at a notice what is not believed. proven: what an
 * earlier grant has been found to be worth, 1/256 packet; 0: nothing is known. 1: a window
 * is granted that only the link can prove. */
static inline u32 segue_believe(const struct segue_sender *tcp, u32 disconnected, u32 proven,
				struct segue_action *act)
{
	u32 most = SEGUE_AT_ONCE * SEGUE_PACKET;

	if (!(act->what & (SEGUE_SET_CWND | SEGUE_SET_SSTHRESH)))
		return 0;
	if (!disconnected) {
		act->cwnd = segue_min(act->cwnd, tcp->cwnd);
		act->ssthresh = segue_min(act->ssthresh, segue_no_more_than(tcp));
		return 0;
	}
	if (proven) {
		most = segue_min(most, proven);
		act->ssthresh = segue_min(act->ssthresh, proven);
	}
	act->cwnd = segue_min(act->cwnd, most);
	return 1;
}

#endif
