/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * react.h - the events that a policy answers, and its answers as Linux enacts them.
 *
 * Policies are not told of duplicate ACKs and DSACKs, nor of RTT samples if they ask which
 * packet was measured. enact.h could do nothing with the answers, or the kernel does not
 * tell. The kernel's own reaction to a DSACK (undo) stays.
 *
 * Source: docs/internals/kernel.md; the events of policy/.
 */
#ifndef SEGUE_REACT_H
#define SEGUE_REACT_H

#include "belief.h"
#include "trial.h"
#include "base_rtt.h"
#include "enact.h"
#include "schemes.h"
#include "state.h"

/* The action that the policy asks for, as far as it is believed. 1: it grants a window that
 * only the link can prove. It is a global function, which the verifier checks once.
 * Otherwise it would check the caller anew for each of the policy's many paths, and exceed
 * its limit. */
__noinline u32 segue_decide(struct segue_connection *conn, const struct segue_sender *view,
			    const struct segue_notice *notice, u32 beyond_us,
			    struct segue_action *act)
{
	struct segue_notice of_path;

	if (!conn || !view || !notice || !act)
		return 0;
	of_path = *notice;
	segue_add_delay_beyond(&of_path, beyond_us);
	SEGUE_ASK(scheme, on_notice, act, segue_settings(), &conn->flow, view, &of_path);
	if (SEGUE_ANSWERS(scheme, link_window) && act->what & SEGUE_RETRANSMIT_HEAD)
		segue_fit_into_queue(segue_link_window(scheme, segue_settings(), notice), view,
				     act);
	return segue_believe(view, notice->disconnected, segue_windows(conn->proven), act);
}

/* Data that could not be sent because there was no link (mobile/unsent.h) count as lost: the
 * policy sees a timeout. */
static inline void segue_view_unsent(const struct tcp_sock *tp, struct segue_sender *view)
{
	view->in_rto_recovery = 1;
	view->timeouts_since_ack = 1;
	view->ssthresh_saved = view->ssthresh;
	view->srtt_before_us = tp->srtt_us >> 3;
}

/* 1: the window has changed. */
static inline u32 segue_on_notice(struct sock *sk, struct segue_connection *conn,
				  const struct segue_notice *notice)
{
	struct tcp_sock *tp = segue_tcp(sk);
	struct segue_sender view;
	struct segue_action act = {};
	u32 beyond_us;

	if (segue_notice_rejected(conn, notice->disconnected))
		return 0;
	conn->state.raise_refuted = 0;
	segue_view(tp, conn, segue_ca_state(tp), tp->snd_cwnd, &view);
	if (conn->local_round && notice->disconnected && !tp->packets_out &&
	    tp->write_seq != tp->snd_nxt)
		segue_view_unsent(tp, &view);
	view.notified_lately = conn->state.notified_lately;
	beyond_us = segue_delay_beyond_us(tp->rtt_min.s[0].v, tp->srtt_us >> 3, &notice->old_link);
	if (segue_decide(conn, &view, notice, beyond_us, &act))
		segue_begin_trial(tp, conn, !notice->disconnected,
				  segue_whole_packets(segue_window_before(&view)));
	if (view.notified_lately)
		conn->notified_kbps = 0;
	else if (act.what & SEGUE_SET_CWND)
		/* a claim's slots are this flow's alone only until it is over */
		conn->notified_kbps = notice->new_link.rate_kbps /
				      (act.what & SEGUE_CLAIM ? 1 : segue_max(1, notice->flows));
	if (notice->disconnected && scheme != SEGUE_SCHEME_unaware)
		conn->state.rto_bound_wanted = 1;
	return segue_enact(sk, conn, notice->disconnected, &act);
}

/* A handoff is expected. During a claim that says nothing: its pace is that of the link in use. */
static inline void segue_on_expected(struct sock *sk, struct segue_connection *conn,
				     const struct segue_notice *notice)
{
	struct tcp_sock *tp = segue_tcp(sk);
	struct segue_sender view;
	struct segue_action act;

	if (!SEGUE_ANSWERS(scheme, on_expected) || segue_has_claim(conn))
		return;
	segue_view(tp, conn, segue_ca_state(tp), tp->snd_cwnd, &view);
	SEGUE_ASK(scheme, on_expected, &act, segue_settings(), &conn->flow, &view, notice);
	if (act.what & SEGUE_CLAIM)
		segue_begin_claim(sk, conn, 1);
}

/* Whether the policy may ask for something at an ACK or a cut. */
static inline u32 segue_listening(const struct segue_connection *conn)
{
	return segue_listens(scheme, &conn->flow, conn->accepted != 0);
}

/* snd_una has advanced. 1: the window has changed. */
static inline u32 segue_on_new_ack(struct sock *sk, struct segue_connection *conn)
{
	struct tcp_sock *tp = segue_tcp(sk);
	struct segue_sender view;
	struct segue_action act;

	if (!SEGUE_ANSWERS(scheme, on_new_ack) || !segue_listening(conn))
		return 0;
	segue_view(tp, conn, segue_ca_state(tp), tp->snd_cwnd, &view);
	SEGUE_ASK(scheme, on_new_ack, &act, segue_settings(), &conn->flow, &view);
	return segue_enact(sk, conn, 0, &act);
}

/* The ssthresh that a cut leaves. */
static inline u32 segue_kept(const struct tcp_sock *tp, const struct segue_connection *conn)
{
	const u32 kept = segue_kept_window(conn->reduction.ssthresh_before, tp->snd_ssthresh, tp->prior_cwnd,
					   conn->state.trial_rounds);

	return conn->state.guard_rounds ? segue_min(kept, conn->guard.packets) : kept;
}

/* The kernel has cut ssthresh for a fast retransmit (TCP_CA_Recovery) or a timeout
 * (TCP_CA_Loss); the policy may put it back. */
static inline void segue_on_cut(struct sock *sk, struct segue_connection *conn, u32 state)
{
	const u32 awaited = conn->state.loss_awaited && conn->state.guard_rounds && state == TCP_CA_Recovery;
	struct tcp_sock *tp = segue_tcp(sk);
	struct segue_sender view;
	struct segue_action act;

	if (!segue_listening(conn)) {
		if (conn->state.raise_on_trial && conn->state.trial_rounds)
			segue_refuted(tp, conn);
		if (segue_has_claim(conn))
			segue_end_claim(sk, conn, 0, 0);
		return;
	}
	segue_view(tp, conn, segue_ca_state(tp), tp->prior_cwnd, &view);
	if (state == TCP_CA_Recovery)
		SEGUE_ASK(scheme, on_fast_retransmit, &act, segue_settings(), &conn->flow, &view);
	else
		SEGUE_ASK(scheme, on_timeout, &act, segue_settings(), &conn->flow, &view);
	/* the losses are those of the outage, which the policy has answered */
	if ((awaited || act.what & (SEGUE_KEEP_WINDOW | SEGUE_KEEP_CWND | SEGUE_KEEP_SSTHRESH)) &&
	    conn->reduction.ssthresh_before > tp->snd_ssthresh)
		tp->snd_ssthresh = segue_kept(tp, conn);
	conn->state.loss_awaited = 0;
}

/* A round trip, of a packet that the kernel does not name. */
static inline void segue_on_sample(struct sock *sk, s32 rtt_us)
{
	struct segue_connection *conn;
	struct segue_sender view;
	struct segue_action act;
	struct tcp_sock *tp;

	if (!SEGUE_ANSWERS(scheme, on_rtt_sample) || SEGUE_ANSWERS(scheme, sample_seq) ||
	    rtt_us <= 0)
		return;
	conn = segue_connection_of(sk);
	if (!conn || !segue_listening(conn))
		return;
	tp = segue_tcp(sk);
	segue_view(tp, conn, segue_ca_state(tp), tp->snd_cwnd, &view);
	SEGUE_ASK(scheme, on_rtt_sample, &act, segue_settings(), &conn->flow, &view, 0,
		  (u32)rtt_us);
	segue_enact(sk, conn, 0, &act);
}

#endif
