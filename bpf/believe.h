/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * believe.h - how far a notice is believed.
 *
 * The mobile gains from a window that is too large: what its competitors lose at the
 * shared queue is its own. So
 *
 *   no disconnection  a notice may shrink cwnd and ssthresh, never raise them: whoever
 *                     still hears ACKs needs no help to grow
 *   after one         a new link may be faster than everything before, and nothing here
 *                     can know. At most SEGUE_AT_ONCE packets leave at once, slow start
 *                     does the rest, and for three round trips what is granted is on
 *                     trial: if beyond what the old link can have lost more is lost than
 *                     an initial window and half of what arrives, the window becomes
 *                     half of what did arrive in a round trip (the safe retreat of
 *                     careful resume, draft-ietf-tsvwg-careful-resume)
 *   after a retreat   the next grants are no larger than what was found; each that
 *                     stands its trial doubles them
 *
 * Without the trial the kernel would keep the window: in RTO recovery it cuts it for
 * nothing but another timeout.
 */
#ifndef SEGUE_BELIEVE_H
#define SEGUE_BELIEVE_H

#include "enact.h"

#define SEGUE_AT_ONCE 64u
#define SEGUE_TRIAL_ROUNDS 3u
#define SEGUE_LEAST_PROVEN 5u /* packets */

/* What a notice outside an outage may leave. In RTO recovery that is ssthresh as the first
 * expiry left it (2.4), in fast recovery what PRR already leads to. */
static inline u32 segue_no_more_than(const struct tcp_sock *tp, const struct segue_connection *conn,
				     u32 state)
{
	if (state == TCP_CA_Loss)
		return segue_max(tp->snd_ssthresh, conn->ssthresh_saved);
	if (state == TCP_CA_Recovery)
		return tp->snd_ssthresh;
	return segue_max(tp->snd_ssthresh, tp->snd_cwnd);
}

static inline void segue_begin_trial(const struct tcp_sock *tp, struct segue_connection *conn)
{
	conn->trial_rounds = SEGUE_TRIAL_ROUNDS;
	conn->trial_us = (u32)tp->tcp_mstamp;
	conn->trial_seq = tp->snd_nxt;
	conn->trial_lost = tp->lost;
	conn->trial_delivered = tp->delivered;
	/* all of it may yet turn out to be lost with the old link */
	conn->trial_allowed = tp->packets_out + SEGUE_INITIAL_WINDOW;
}

/* Takes from what the policy asks for at a notice what is not believed. */
static inline void segue_believe(const struct tcp_sock *tp, struct segue_connection *conn,
				 u32 disconnected, struct segue_action *act)
{
	const u32 state = segue_ca_state(tp);
	u32 most = SEGUE_AT_ONCE;

	if (!disconnected) {
		if (act->what & SEGUE_SET_CWND)
			act->cwnd = segue_min(act->cwnd, segue_windows(tp->snd_cwnd));
		if (act->what & SEGUE_SET_SSTHRESH)
			act->ssthresh = segue_min(
				act->ssthresh, segue_windows(segue_no_more_than(tp, conn, state)));
		return;
	}
	if (!(act->what & (SEGUE_SET_CWND | SEGUE_SET_SSTHRESH)))
		return;
	if (conn->proven) {
		most = segue_min(most, conn->proven);
		act->ssthresh = segue_min(act->ssthresh, segue_windows(conn->proven));
	}
	act->cwnd = segue_min(act->cwnd, segue_windows(most));
	segue_begin_trial(tp, conn);
}

static inline u32 segue_retreat(struct tcp_sock *tp, struct segue_connection *conn)
{
	const u32 srtt_us = segue_max(1, tp->srtt_us >> 3);
	const u32 took_us = segue_max((u32)tp->tcp_mstamp - conn->trial_us, srtt_us);
	const u64 arrived = tp->delivered - conn->trial_delivered;

	conn->trial_rounds = 0;
	conn->resumed = 0;
	conn->proven = segue_max(SEGUE_LEAST_PROVEN, segue_saturate(arrived * srtt_us / took_us) / 2);
	tp->snd_ssthresh = segue_min(tp->snd_ssthresh, conn->proven);
	tp->snd_cwnd = segue_min(tp->snd_cwnd, conn->proven);
	tp->snd_cwnd_cnt = 0;
	segue_guard(conn, tp, tp->snd_ssthresh);
	return 1;
}

/* On each ACK of a trial. 1: the window is another one. */
static inline u32 segue_try(struct tcp_sock *tp, struct segue_connection *conn)
{
	const u32 arrived = tp->delivered - conn->trial_delivered;

	if (tp->lost - conn->trial_lost > conn->trial_allowed + arrived / 2)
		return segue_retreat(tp, conn);
	/* a recovery is part of the trial: RTO recovery would not cut the window again */
	if (segue_seq_before(tp->snd_una, conn->trial_seq) ||
	    segue_ca_state(tp) >= TCP_CA_Recovery)
		return 0;
	conn->trial_seq = tp->snd_nxt;
	conn->trial_rounds--;
	if (!conn->trial_rounds)
		conn->proven = segue_min(conn->proven * 2, 1u << 20);
	return 0;
}

#endif
