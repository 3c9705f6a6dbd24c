/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trial.h - the window that a notice after an outage has granted is on trial.
 *
 * policy/belief.h decides how much is granted at once. Then
 *
 *   the trial         lasts three round trips. It fails if, beyond what the old link can
 *                     have lost, more is lost than an initial window and half of what
 *                     arrives. The window then becomes half of what arrived in a round trip
 *   after a failure   later grants are no larger than that window; each trial that
 *                     succeeds doubles them
 *
 * Without the trial the kernel would keep the window: in RTO recovery only another timeout
 * cuts it.
 *
 * Source: the safe retreat of careful resume, draft-ietf-tsvwg-careful-resume.
 */
#ifndef SEGUE_TRIAL_H
#define SEGUE_TRIAL_H

#include "enact.h"

#define SEGUE_TRIAL_ROUNDS 3u
#define SEGUE_LEAST_PROVEN 5u /* packets */

static inline void segue_begin_trial(const struct tcp_sock *tp, struct segue_connection *conn)
{
	conn->trial_rounds = SEGUE_TRIAL_ROUNDS;
	conn->trial_us = (u32)tp->tcp_mstamp;
	conn->trial_seq = tp->snd_nxt;
	conn->trial_lost = tp->lost;
	conn->trial_delivered = tp->delivered;
	/* The old link may have lost all of it. Packets that are marked lost already count, too: an
	 * undo takes the marks back, and the kernel then finds the same packets lost again. */
	conn->trial_allowed = tp->packets_out + SEGUE_INITIAL_WINDOW;
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

/* On each ACK of a trial. 1: it has failed, and the window has changed. */
static inline u32 segue_trial_on_ack(struct tcp_sock *tp, struct segue_connection *conn)
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
