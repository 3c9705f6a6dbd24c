/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * events.h - the calls of a congestion control, as both wrappers (cubic.h, bbr.h) answer them.
 *
 * A connection without storage has not negotiated: the wrapper then is the congestion
 * control that it wraps, and nothing else.
 *
 * Source: struct tcp_congestion_ops, include/net/tcp.h.
 */
#ifndef SEGUE_EVENTS_H
#define SEGUE_EVENTS_H

#include "ack_order.h"
#include "notice_rx.h"
#include "flows.h"
#include "react.h"
#include "trial.h"
#include "enact.h"
#include "rto_max.h"

/* Whether this kernel calls pkts_acked before in_ack_event (ack_order.h). */
u32 cleaned_first;

/* The outcome of an ACK, or of init, for the congestion control. */
enum segue_outcome {
	SEGUE_AS_BEFORE = 0,
	SEGUE_ANOTHER_WINDOW, /* the congestion control must start again */
	SEGUE_BY_NOTICE, /* the same, because of a notice */
	SEGUE_RETREATED, /* the same, after a failed trial */
};

/* The connection, if this call is the one in which its ACK is answered. */
static inline struct segue_connection *segue_to_answer(struct sock *sk, enum segue_ack_call call)
{
	struct segue_connection *conn;

	if (call == SEGUE_PKTS_ACKED && cleaned_first)
		return 0;
	conn = segue_connection_of(sk);
	if (!conn || !segue_answer_now(&cleaned_first, &conn->state.ack_half, call,
				       segue_tcp(sk)->packets_out))
		return 0;
	return conn;
}

/* Whether cubic is to see no slow start at this ACK (policy/grant.h). */
static inline u32 segue_slow_start_is_hidden(struct sock *sk)
{
	const struct segue_connection *conn = segue_connection_of(sk);

	return conn && segue_hides_slow_start(conn->state.guard_rounds,
					      segue_ca_state(segue_tcp(sk)) >= TCP_CA_Recovery);
}

/* A socket gets this congestion control. By the agent's order (local_handoff.h) that is a
 * notice. Otherwise the socket's window may be that of an earlier one. */
static inline enum segue_outcome segue_on_init(struct sock *sk, struct segue_notice *notice)
{
	struct segue_connection *conn = segue_connection_of(sk);
	const struct segue_local_order *order;
	u32 zero = 0;

	if (!conn)
		return SEGUE_AS_BEFORE;
	order = bpf_map_lookup_elem(&local_orders, &zero);
	if (!conn->state.local_pending || !order)
		return conn->state.guard_rounds ? SEGUE_ANOTHER_WINDOW : SEGUE_AS_BEFORE;
	conn->state.local_pending = 0;
	conn->negotiated.link = order->new_link;
	conn->accepted_ms = segue_now_ms();
	conn->state.notified_lately = 0; /* this host does not lie to itself */
	segue_count_one(&conn->accepted);
	notice->old_link = order->old_link;
	notice->new_link = order->new_link;
	notice->flows = order->flows;
	/* the timer may have noticed an outage that was too short for the agent */
	notice->disconnected = order->disconnected || segue_tcp(sk)->inet_conn.icsk_retransmits;
	if (!segue_on_notice(sk, conn, notice))
		return SEGUE_AS_BEFORE;
	conn->resume.stamp = 0;
	return SEGUE_BY_NOTICE;
}

/* In the later of the two calls for this ACK (ack_order.h). */
static inline enum segue_outcome segue_on_ack(struct sock *sk, struct segue_connection *conn,
					      struct segue_notice *notice)
{
	enum segue_outcome anew = SEGUE_AS_BEFORE;
	struct tcp_sock *tp = segue_tcp(sk);
	const u32 waited = conn->state.busy;
	enum segue_told told = SEGUE_TOLD_NOTHING;

	conn->state.icmp_requested = 0;
	if (conn->state.loss_probe)
		segue_end_loss_probe(tp, conn);
	if (tp->snd_una != conn->last_una) {
		conn->last_una = tp->snd_una;
		if (tp->snd_una == tp->write_seq) {
			segue_flow_idle(conn);
			segue_leave_group(conn);
		}
		if (segue_on_new_ack(sk, conn))
			anew = SEGUE_ANOTHER_WINDOW;
	}
	if (conn->state.guard_rounds)
		segue_guard_on_ack(conn, tp);
	else if (conn->notified_kbps && !segue_has_claim(conn))
		segue_check_rate(conn, tp);
	if (conn->pending.report.type)
		told = segue_consume(conn, tp, waited, notice);
	if (told == SEGUE_TOLD_EXPECTED)
		segue_on_expected(sk, conn, notice);
	if (told == SEGUE_TOLD_HANDOFF) {
		if (segue_on_notice(sk, conn, notice))
			anew = SEGUE_BY_NOTICE;
	} else if (conn->state.trial_rounds && segue_trial_on_ack(tp, conn)) {
		/* after a notice it can wait: the verifier would check each path through both */
		anew = SEGUE_RETREATED;
	}
	if (conn->state.rto_bound_wanted || conn->own_rto_max_ms)
		segue_look_at_rto(sk, tp, conn);
	conn->state.expired = 0;
	conn->quiet_us = (u32)tp->tcp_mstamp;
	return anew;
}

/* The kernel undoes a reduction, and with it its timeouts. Returns the window, as far as it may
 * come back. The kernel sets the timer right afterwards. */
static inline u32 segue_on_undo(struct sock *sk, u32 window)
{
	struct segue_connection *conn = segue_connection_of(sk);

	if (conn && conn->state.rto_bound_wanted) {
		conn->state.rto_bound_wanted = 0;
		segue_bound_rto(sk, conn);
	}
	return segue_bound_undo(conn, segue_tcp(sk), window);
}

static inline void segue_before_cut(struct sock *sk)
{
	struct segue_connection *conn = segue_connection_of(sk);

	if (conn)
		conn->reduction.ssthresh_before = segue_tcp(sk)->snd_ssthresh;
}

/* Only an undo leads to TCP_CA_Open before everything of the loss is acknowledged. */
static inline void segue_on_open(struct tcp_sock *tp, struct segue_connection *conn)
{
	if (!conn->resume.packets || conn->resume.stamp)
		return;
	if (segue_seq_before(tp->snd_una, tp->high_seq))
		tp->snd_cwnd = segue_in_flight(tp) + conn->resume.packets;
	conn->resume.packets = 0;
}

/* The kernel asks for the cut first and says afterwards why (tcp_enter_recovery,
 * tcp_enter_loss); until cwnd follows, ssthresh can be put back. */
static inline void segue_on_state(struct sock *sk, u32 state)
{
	struct tcp_sock *tp = segue_tcp(sk);
	struct segue_connection *conn;

	if (state == TCP_CA_Disorder)
		return;
	conn = segue_connection_of(sk);
	if (!conn)
		return;
	/* A mark of ECN, or a loss that a tail loss probe has mended. The policy is not told, but no claim
	 * outlives it. */
	if (state == TCP_CA_CWR) {
		if (!segue_listening(conn))
			segue_on_cut(sk, conn, state);
		return;
	}
	if (state == TCP_CA_Open) {
		segue_on_open(tp, conn);
		return;
	}
	if (state == TCP_CA_Loss)
		conn->state.loss_probe = 0; /* cwnd is another one (tcp_enter_loss) */
	if (state == TCP_CA_Loss && conn->own_rto_max_ms)
		segue_free_rto(sk, conn);
	if (state == TCP_CA_Loss && !tp->inet_conn.icsk_retransmits) {
		conn->reduction.ssthresh_saved = tp->snd_ssthresh;
		conn->reduction.srtt_before_us = tp->srtt_us >> 3;
	}
	if (state == TCP_CA_Loss &&
	    segue_timeout_proves_nothing(tp->delivered - conn->trial.delivered, segue_has_claim(conn)))
		conn->trial.lost = tp->lost;
	if (segue_has_claim(conn) && state == TCP_CA_Loss)
		conn->state.expired = !conn->state.icmp_requested;
	if (conn->state.expired)
		segue_leave_group(conn);
	segue_on_cut(sk, conn, state);
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
	if (!conn->state.busy)
		conn->quiet_us = (u32)segue_tcp(sk)->tcp_mstamp;
	segue_flow_busy(conn);
	if (conn->own_rto_max_ms)
		segue_look_at_rto(sk, segue_tcp(sk), conn);
}

static inline void segue_on_release(struct sock *sk)
{
	struct segue_connection *conn = segue_connection_of(sk);

	if (!conn)
		return;
	segue_flow_idle(conn);
	if (conn->state.claim)
		segue_end_claim(sk, conn, 0, 0);
}

#endif
