/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trial.h - the window that a notice after an outage has granted is on trial. The bounds are
 * those of policy/grant.h, which the simulator has, too.
 *
 * policy/belief.h decides how much is granted at once. Then
 *
 *   the trial         lasts three round trips. It fails if, beyond what the old link can
 *                     have lost, more is lost than an initial window and half of what
 *                     arrives. The window then becomes half of what arrived in a round trip
 *   a raise           without an outage (a claim) fails at the first cut, too, if the policy did
 *                     not expect the loss, or if it meets competing traffic. It leaves no more
 *                     than the window before it. After it notices without an outage say nothing
 *                     for 10 s
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

/* raise: without an outage. before: the window that the notice found, packets. If another raise is still
 * on trial, the window before that one counts. */
static inline void segue_begin_trial(const struct tcp_sock *tp, struct segue_connection *conn, u32 raise,
				     u32 before)
{
	const u32 allowed = segue_min(segue_trial_allows(tp->packets_out), SEGUE_ALLOWED_LIMIT);

	before = segue_min(before, SEGUE_BEFORE_LIMIT);
	if (conn->state.trial_rounds && conn->state.raise_on_trial)
		before = segue_min(before, conn->trial.of.before);
	conn->state.raise_on_trial = raise & 1;
	conn->state.trial_rounds = SEGUE_TRIAL_ROUNDS;
	conn->trial.began_us = (u32)tp->tcp_mstamp;
	conn->trial.round_seq = tp->snd_nxt;
	conn->trial.lost = tp->lost;
	conn->trial.delivered = tp->delivered;
	conn->trial.of.allowed = allowed & SEGUE_ALLOWED_LIMIT;
	conn->trial.of.before = before & SEGUE_BEFORE_LIMIT;
}

/* left: the window without the trial, packets. Returns the one that it leaves. */
static inline u32 segue_end_trial(struct tcp_sock *tp, struct segue_connection *conn, u32 left)
{
	if (conn->state.raise_on_trial)
		left = segue_refuted_window(left, conn->trial.of.before);
	conn->state.trial_rounds = 0;
	conn->state.raise_refuted = conn->state.raise_on_trial;
	conn->trial.of.refuted_ms = segue_now_ms();
	tp->snd_ssthresh = segue_min(tp->snd_ssthresh, segue_max(2, left));
	return left;
}

/* Too much was lost. */
static inline u32 segue_trial_failed(struct tcp_sock *tp, struct segue_connection *conn)
{
	const u32 took_us = (u32)tp->tcp_mstamp - conn->trial.began_us;
	const u32 arrived = tp->delivered - conn->trial.delivered;

	conn->proven = segue_delivered_window(arrived, tp->srtt_us >> 3, took_us);
	return segue_end_trial(tp, conn, conn->proven);
}

static inline void segue_retreat(struct tcp_sock *tp, struct segue_connection *conn)
{
	const u32 left = segue_trial_failed(tp, conn);

	conn->resume.packets = 0;
	tp->snd_cwnd = segue_min(tp->snd_cwnd, left);
	tp->snd_cwnd_cnt = 0;
	segue_guard(conn, tp, tp->snd_ssthresh);
}

/* A raise without an outage has met a loss that the policy did not expect. */
static inline void segue_refuted(struct tcp_sock *tp, struct segue_connection *conn)
{
	const u32 left = segue_trial_failed(tp, conn);

	segue_guard(conn, tp, segue_min(conn->guard.packets, left));
}

/* A claim has met competing traffic, and is over. That refutes a raise without an outage on trial, and
 * proves nothing of later grants. */
static inline void segue_met_competing_traffic(struct tcp_sock *tp, struct segue_connection *conn)
{
	if (!conn->state.trial_rounds || !conn->state.raise_on_trial)
		return;
	tp->snd_cwnd = segue_end_trial(tp, conn, tp->snd_cwnd);
	segue_guard(conn, tp, segue_min(conn->guard.packets, tp->snd_cwnd));
}

static inline u32 segue_notice_rejected(const struct segue_connection *conn, u32 disconnected)
{
	return segue_rejects_notice(disconnected, conn->state.raise_refuted,
				    segue_now_ms() - segue_refuted_ms(conn));
}

/* On each ACK of a trial. 1: it has failed, and the window has changed. */
static inline u32 segue_trial_on_ack(struct tcp_sock *tp, struct segue_connection *conn)
{
	const u32 arrived = tp->delivered - conn->trial.delivered;

	if (segue_trial_fails(tp->lost - conn->trial.lost, arrived,
			      segue_allowed_losses(conn))) {
		segue_retreat(tp, conn);
		return 1;
	}
	/* a recovery is part of the trial: RTO recovery would not cut the window again */
	if (segue_seq_before(tp->snd_una, conn->trial.round_seq) ||
	    segue_ca_state(tp) >= TCP_CA_Recovery)
		return 0;
	conn->trial.round_seq = tp->snd_nxt;
	conn->state.trial_rounds--;
	if (!conn->state.trial_rounds)
		conn->proven = segue_proven_twice(conn->proven);
	return 0;
}

#endif
