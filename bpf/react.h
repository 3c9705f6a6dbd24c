/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * react.h - the events of a congestion control, told to the policy.
 *
 * What both wrappers do alike. A connection without storage has not negotiated:
 * for it they are the congestion control that they wrap, and nothing else.
 *
 * Not told, for nothing that would be answered can be done here (enact.h): duplicate
 * ACKs, DSACKs, and to Enhanced TCP RTT samples. What the kernel does by itself on a
 * DSACK (undo) stays.
 */
#ifndef SEGUE_REACT_H
#define SEGUE_REACT_H

#include "ack_order.h"
#include "believe.h"
#include "beyond.h"
#include "enact.h"
#include "hear.h"
#include "rto_max.h"
#include "state.h"

/* Of the kernel (ack_order.h): pkts_acked comes before in_ack_event. */
u32 cleaned_first;

/* What an ACK has come to. */
enum segue_outcome {
	SEGUE_AS_BEFORE = 0,
	SEGUE_ANOTHER_WINDOW, /* the congestion control must start anew */
	SEGUE_BY_NOTICE, /* the same, by a notice */
	SEGUE_RETREATED, /* the same, after a trial that was not stood */
};

static inline struct segue_connection *segue_connection_of(struct sock *sk)
{
	return bpf_sk_storage_get(&connections, sk, 0, 0);
}

/* The connection, if this call is the one in which its ACK is answered. */
static inline struct segue_connection *segue_to_answer(struct sock *sk, enum segue_ack_call call)
{
	struct segue_connection *conn;

	if (call == SEGUE_PKTS_ACKED && cleaned_first)
		return 0;
	conn = segue_connection_of(sk);
	if (!conn || !segue_answer_now(&cleaned_first, &conn->ack_half, call,
				       segue_tcp(sk)->packets_out))
		return 0;
	return conn;
}

/* What the policy asks for, as far as it is believed. 1: a window is granted that only the
 * link can prove. Global, so that the verifier takes it by itself: what follows it would be
 * taken for each of the policy's many paths, and there is an end to its patience. */
__noinline u32 segue_decide(struct segue_connection *conn, const struct segue_sender *view,
			    const struct segue_notice *notice, u32 beyond_us,
			    struct segue_action *act)
{
	struct segue_notice of_path;

	if (!conn || !view || !notice || !act)
		return 0;
	of_path = *notice;
	segue_add_beyond(&of_path, beyond_us);
	segue_do_nothing(act);
	if (scheme == SEGUE_SCHEME_ETCP) {
		segue_etcp_on_notice(segue_etcp_set(), &conn->etcp, view, &of_path, act);
		segue_fit_into_queue(segue_etcp_set(), notice, view, act);
	} else if (scheme == SEGUE_SCHEME_TCP_HO) {
		segue_tcp_ho_on_notice(segue_tcp_ho_set(), &conn->tcp_ho, view, &of_path, act);
	}
	return segue_believe(view, notice->disconnected, segue_windows(conn->proven), act);
}

/* What could not be sent for want of a link (carrier.h) is to the policy what a timer has
 * found lost. */
static inline void segue_view_unsent(const struct tcp_sock *tp, struct segue_sender *view)
{
	view->in_rto_recovery = 1;
	view->timeouts_since_ack = 1;
	view->ssthresh_saved = view->ssthresh;
	view->srtt_before_us = tp->srtt_us >> 3;
}

/* 1: the window is another one. */
static inline u32 segue_on_notice(struct sock *sk, struct segue_connection *conn,
				  const struct segue_notice *notice)
{
	struct tcp_sock *tp = segue_tcp(sk);
	struct segue_sender view;
	struct segue_action act = {};

	segue_view(tp, conn, segue_ca_state(tp), tp->snd_cwnd, &view);
	if (conn->own_round && notice->disconnected && !tp->packets_out &&
	    tp->write_seq != tp->snd_nxt)
		segue_view_unsent(tp, &view);
	if (segue_decide(conn, &view, notice, segue_beyond_us(tp, &notice->old_link), &act))
		segue_begin_trial(tp, conn);
	if (act.what & SEGUE_SET_CWND)
		conn->told_kbps = notice->new_link.rate_kbps / segue_max(1, notice->flows);
	if (notice->disconnected && scheme != SEGUE_SCHEME_UNAWARE)
		conn->bounds_rto = 1;
	return segue_enact(sk, conn, notice->disconnected, &act);
}

/* A socket takes on this congestion control, on the order of the agent (own.h) or otherwise.
 * 1: its window is that of a notice; 2: of this one. */
static inline u32 segue_on_init(struct sock *sk, struct segue_notice *notice)
{
	struct segue_connection *conn = segue_connection_of(sk);
	const struct segue_own_order *order;
	u32 zero = 0;

	if (!conn)
		return 0;
	order = bpf_map_lookup_elem(&own_orders, &zero);
	if (!conn->own_pending || !order)
		return conn->guard_rounds != 0;
	conn->own_pending = 0;
	conn->link = order->new_link;
	conn->accepted_ms = segue_now_ms();
	conn->accepted++;
	notice->old_link = order->old_link;
	notice->new_link = order->new_link;
	notice->flows = order->flows;
	/* of a way that was gone for a moment the timer may know more than the agent */
	notice->disconnected = order->disconnected || segue_tcp(sk)->inet_conn.icsk_retransmits;
	if (!segue_on_notice(sk, conn, notice))
		return 0;
	conn->resumed_stamp = 0;
	return 2;
}

static inline u32 segue_on_new_ack(struct sock *sk, struct segue_connection *conn)
{
	struct tcp_sock *tp = segue_tcp(sk);
	struct segue_sender view;
	struct segue_action act;

	conn->last_una = tp->snd_una;
	if (conn->busy && tp->snd_una == tp->write_seq)
		segue_flow_idle(conn);
	if (scheme != SEGUE_SCHEME_ETCP || !conn->etcp.active || conn->etcp.ho_acked)
		return 0;
	segue_view(tp, conn, segue_ca_state(tp), tp->snd_cwnd, &view);
	segue_etcp_on_new_ack(segue_etcp_set(), &conn->etcp, &view, 0, &act);
	return segue_enact(sk, conn, 0, &act);
}

/* In the later of the two calls for this ACK. */
static inline enum segue_outcome segue_on_ack(struct sock *sk, struct segue_connection *conn,
					      struct segue_notice *notice)
{
	enum segue_outcome anew = SEGUE_AS_BEFORE;
	struct tcp_sock *tp = segue_tcp(sk);
	const u32 waited = conn->busy;

	if (tp->snd_una != conn->last_una)
		anew = segue_on_new_ack(sk, conn) ? SEGUE_ANOTHER_WINDOW : SEGUE_AS_BEFORE;
	if (conn->guard_rounds)
		segue_guard_on_ack(conn, tp);
	else if (conn->told_kbps)
		segue_doubt(conn, tp);
	if (conn->pending.type && segue_consume(conn, tp, waited, notice)) {
		if (segue_on_notice(sk, conn, notice))
			anew = SEGUE_BY_NOTICE;
	} else if (conn->trial_rounds && segue_try(tp, conn)) {
		/* beside a notice it can wait: the verifier takes every path through both */
		anew = SEGUE_RETREATED;
	}
	if (conn->bounds_rto || conn->own_rto_max_ms)
		segue_look_at_rto(sk, tp, conn);
	conn->quiet_us = (u32)tp->tcp_mstamp;
	return anew;
}

/* The kernel takes a reduction back, and with it its timeouts: the window of then, as far
 * as it may come back. The timer is set right after it. */
static inline u32 segue_on_undo(struct sock *sk, u32 window)
{
	struct segue_connection *conn = segue_connection_of(sk);

	if (conn && conn->bounds_rto) {
		conn->bounds_rto = 0;
		segue_bound_rto(sk, conn);
	}
	return segue_bound_undo(conn, segue_tcp(sk), window);
}

static inline void segue_before_cut(struct sock *sk)
{
	struct segue_connection *conn = segue_connection_of(sk);

	if (conn)
		conn->ssthresh_before = segue_tcp(sk)->snd_ssthresh;
}

/* What was granted is kept; once its trial is over no more than is used: above the window
 * of before PRR would let it grow in the middle of a recovery, and ssthresh of a told rate
 * of nonsense would never be cut. */
static inline u32 segue_kept(const struct tcp_sock *tp, const struct segue_connection *conn)
{
	u32 kept = conn->ssthresh_before;

	if (!conn->trial_rounds)
		kept = segue_max(tp->snd_ssthresh, segue_min(kept, tp->prior_cwnd));
	return conn->guard_rounds ? segue_min(kept, conn->guard) : kept;
}

/* Before everything of the loss is acknowledged only an undo leads there. */
static inline void segue_on_open(struct tcp_sock *tp, struct segue_connection *conn)
{
	if (!conn->resumed || conn->resumed_stamp)
		return;
	if (segue_seq_before(tp->snd_una, tp->high_seq))
		tp->snd_cwnd = segue_in_flight(tp) + conn->resumed;
	conn->resumed = 0;
}

/* The kernel asks for the cut first and says afterwards why (tcp_enter_recovery,
 * tcp_enter_loss); until cwnd follows, ssthresh can be put back. */
static inline void segue_on_state(struct sock *sk, u32 state)
{
	struct tcp_sock *tp = segue_tcp(sk);
	struct segue_connection *conn;
	struct segue_sender view;
	struct segue_action act;

	if (state != TCP_CA_Open && state != TCP_CA_Recovery && state != TCP_CA_Loss)
		return;
	conn = segue_connection_of(sk);
	if (!conn)
		return;
	if (state == TCP_CA_Open) {
		segue_on_open(tp, conn);
		return;
	}
	if (state == TCP_CA_Loss && conn->own_rto_max_ms)
		segue_free_rto(sk, conn);
	if (state == TCP_CA_Loss && !tp->inet_conn.icsk_retransmits) {
		conn->ssthresh_saved = tp->snd_ssthresh;
		conn->srtt_before_us = tp->srtt_us >> 3;
	}
	segue_do_nothing(&act);
	if (scheme == SEGUE_SCHEME_ETCP && conn->etcp.active) {
		segue_view(tp, conn, segue_ca_state(tp), tp->prior_cwnd, &view);
		if (state == TCP_CA_Recovery)
			segue_etcp_on_fast_retransmit(segue_etcp_set(), &conn->etcp, &view,
						      tp->snd_una, &act);
		else
			segue_etcp_on_timeout(segue_etcp_set(), &conn->etcp, &view, &act);
	} else if (scheme == SEGUE_SCHEME_TCP_HO) {
		segue_view(tp, conn, segue_ca_state(tp), tp->prior_cwnd, &view);
		if (state == TCP_CA_Recovery)
			segue_tcp_ho_on_fast_retransmit(segue_tcp_ho_set(), &conn->tcp_ho, &view,
							&act);
		else
			segue_tcp_ho_on_timeout(segue_tcp_ho_set(), &conn->tcp_ho, &view, &act);
	}
	if (act.what & (SEGUE_KEEP_WINDOW | SEGUE_KEEP_CWND | SEGUE_KEEP_SSTHRESH) &&
	    conn->ssthresh_before > tp->snd_ssthresh)
		tp->snd_ssthresh = segue_kept(tp, conn);
}

static inline void segue_on_sample(struct sock *sk, s32 rtt_us)
{
	struct segue_connection *conn;
	struct segue_action act;

	if (scheme != SEGUE_SCHEME_TCP_HO || rtt_us <= 0)
		return;
	conn = segue_connection_of(sk);
	if (!conn)
		return;
	segue_tcp_ho_on_rtt_sample(segue_tcp_ho_set(), &conn->tcp_ho, (u32)rtt_us, &act);
	segue_enact(sk, conn, 0, &act);
}

static inline void segue_on_event(struct sock *sk, enum tcp_ca_event event)
{
	struct segue_connection *conn;

	if (event != CA_EVENT_TX_START)
		return;
	conn = segue_connection_of(sk);
	if (!conn)
		return;
	/* an ACK has been due since now, if none was before */
	if (!conn->busy)
		conn->quiet_us = (u32)segue_tcp(sk)->tcp_mstamp;
	segue_flow_busy(conn);
	if (conn->own_rto_max_ms)
		segue_look_at_rto(sk, segue_tcp(sk), conn);
}

static inline void segue_on_release(struct sock *sk)
{
	struct segue_connection *conn = segue_connection_of(sk);

	if (conn)
		segue_flow_idle(conn);
}

#endif
