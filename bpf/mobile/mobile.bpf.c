/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mobile.bpf.c - the mobile host: the receiver of bulk data, whose access link
 * changes (docs/reference/wire.md). Its programs:
 *
 *     mobile_sockops   at each event of a connection: capability and reports
 *     mobile_notify    when the agent reads its iterator: a notice, on all connections
 *     mobile_egress    as a segment leaves: not over a link that has gone
 *     mobile_echo      at the device's egress: the time stamps that peers are sent, the
 *                      windows of those without capability, and what is forwarded
 *     mobile_waiting   when the agent reads its iterator: which of these may wait
 */
#include "negotiate.h"
#include "notice_tx.h"
#include "craft.h"
#include "unsent.h"
#include "resume.h"
#include "icmp.h"
#include "push.h"

char _license[] SEC("license") = "GPL";

SEC("sockops")
int mobile_sockops(struct bpf_sock_ops *ops)
{
	int on = 1;

	switch (ops->op) {
	case BPF_SOCK_OPS_TCP_CONNECT_CB:
		on_connect(ops);
		break;
	case BPF_SOCK_OPS_TCP_LISTEN_CB:
		bpf_setsockopt(ops, SOL_TCP, TCP_SAVE_SYN, &on, sizeof(on));
		write_options(ops, 1);
		break;
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
		on_established(ops, 0, 0);
		break;
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		on_established(ops, BPF_LOAD_HDR_OPT_TCP_SYN, BPF_SK_STORAGE_GET_F_CREATE);
		break;
	case BPF_SOCK_OPS_HDR_OPT_LEN_CB:
		on_option_length(ops);
		break;
	case BPF_SOCK_OPS_WRITE_HDR_OPT_CB:
		if (ops->skb_tcp_flags & TCP_FLAG_SYN)
			write_capability(ops);
		else
			write_report(ops);
		break;
	}
	return 1;
}

/* A new notice: reports that still wait are out of date. But without the first the peer knows no old link, and a
 * completed handoff would mean nothing to it. */
static __always_inline void renew(struct connection *connection,
				  const struct segue_mobile_orders *order)
{
	if (connection->marked && connection->written)
		connection->report++; /* its number has been used */
	if (connection->type == SEGUE_TYPE_FIRST && order->type == SEGUE_TYPE_COMPLETED &&
	    order->before.rate_kbps)
		connection->ahead = 1;
	else if (connection->again) /* it has been sent ahead of the notice before */
		connection->ahead = 0;
	connection->round = order->round;
	connection->link = order->link;
	connection->before = order->before;
	connection->type = order->type;
	connection->marked = 0;
	connection->written = 0;
	connection->again = AGAIN_NOTHING;
}

/* Sends what the kernel can; leaves the rest in `to_craft`. */
static __always_inline void notify(struct tcp_sock *tp, struct connection *connection,
				   const struct segue_mobile_orders *order)
{
	const u8 waiting = connection->round == order->round ? 0 : connection->type;
	u8 copies = segue_min(order->copies, SEGUE_MOBILE_COPIES);

	renew(connection, order);
	if (connection->ahead && copies < 2)
		copies = 2; /* the first report, and one */
	connection->copies = copies;
	connection->to_craft = 0;
	/* over the old link it might overtake the first report */
	connection->also = order->also && !connection->ahead;
	if (connection->ahead)
		connection->again = AGAIN_BOTH;
	else if (order->others == SEGUE_OTHERS_MARKED && order->type == SEGUE_TYPE_COMPLETED)
		connection->again = AGAIN_NOTICE;
	if (order->way == SEGUE_WAY_TRIGGER ||
	    (order->way == SEGUE_WAY_AUTO && has_room(tp) && !reports_stale(tp, connection)))
		trigger(tp, connection);
	connection->copies = 0;
	/* a first report that still waits is now out of date */
	connection->type = 0;
	if (connection->written >= copies) {
		count(SEGUE_MOBILE_COUNT_TRIGGERED);
	} else if (order->way == SEGUE_WAY_TRIGGER) {
		count(SEGUE_MOBILE_COUNT_UNWRITTEN);
		connection->type = waiting == SEGUE_TYPE_FIRST ? waiting : 0;
		connection->ahead = 0;
		connection->again = AGAIN_NOTHING;
		if (!connection->written) {
			connection->also = 0;
			return; /* the number was not used */
		}
	} else {
		connection->to_craft = copies - connection->written;
	}
	connection->report++;
}

/* 1: options are written on the connection's next ACKs. */
static __always_inline u32 ask_to_write(struct tcp_sock *tp, const struct segue_mobile_orders *order)
{
	int flags;

	if (order->way == SEGUE_WAY_CRAFT ||
	    bpf_getsockopt(tp, SOL_TCP, TCP_BPF_SOCK_OPS_CB_FLAGS, &flags, sizeof(flags)))
		return 0; /* before Linux 6.12 */
	flags |= BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG;
	return !bpf_setsockopt(tp, SOL_TCP, TCP_BPF_SOCK_OPS_CB_FLAGS, &flags, sizeof(flags));
}

/* 1: the connection's next ACKs carry the report. */
static __always_inline u32 mark(struct tcp_sock *tp, struct connection *connection,
				const struct segue_mobile_orders *order)
{
	if (!ask_to_write(tp, order))
		return 0;
	renew(connection, order);
	connection->marked = segue_min(order->copies, SEGUE_MOBILE_COPIES);
	return 1;
}

/* Nobody knows whether a notice arrives, or a first report that was sent ahead of it. The connection's next ACKs carry
 * them again, with the same numbers. */
static __always_inline void mark_again(struct tcp_sock *tp, struct connection *connection,
				       const struct segue_mobile_orders *order)
{
	if (!ask_to_write(tp, order)) {
		connection->again = AGAIN_NOTHING;
		return;
	}
	connection->report--;
	connection->type = order->type;
	connection->ahead = connection->again == AGAIN_BOTH;
	connection->marked = segue_min(order->copies, SEGUE_MOBILE_COPIES);
	connection->written = 1; /* the number has been used */
}

/* Sends this connection's notice, marks the connection, or lets it wait. */
static __always_inline void take_turn(struct tcp_sock *tp, struct connection *connection,
				      struct segue_mobile_orders *order)
{
	const u32 marks = order->others == SEGUE_OTHERS_MARKED;
	u32 first = order->others == SEGUE_OTHERS_NOTIFIED || busy(tp, order);
	u32 marked = connection->round == order->round; /* by a pass before */

	if (marks && !marked && !(first && order->budget))
		marked = mark(tp, connection, order);
	/* a connection that cannot be marked counts as busy */
	first |= marks && !marked;
	if (first && order->budget) {
		order->budget--;
		notify(tp, connection, order);
		return;
	}
	if (first)
		count(SEGUE_MOBILE_COUNT_UNPAID);
	if (marked)
		count(SEGUE_MOBILE_COUNT_MARKED);
	else if (!first)
		count(SEGUE_MOBILE_COUNT_LATER);
}

/* Lets a flow that waits for a timer go on. Data that are queued while nothing is under way had
 * no link, and wait for the timer of a closed window (probe0). If there is a policy, it first
 * decides how much of them leaves (sender/local_handoff.h). */
static __always_inline void go_on(struct seq_file *seq, struct tcp_sock *tp,
				  const struct segue_mobile_orders *order)
{
	if (tp->packets_out) {
		if (tp->inet_conn.icsk_backoff && segue_takes_icmp(tp))
			tell_agent_of_upload(seq, tp);
	} else if (order->pushes && !tp->inet_conn.icsk_user_timeout) {
		segue_push(tp);
		if (tp->packets_out)
			count(SEGUE_MOBILE_COUNT_PUSHED);
	}
}

SEC("iter/tcp")
int mobile_notify(struct bpf_iter__tcp *context)
{
	struct sock_common *common = context->sk_common;
	struct segue_mobile_orders *order;
	struct connection *connection;
	struct tcp_sock *tp;
	u32 zero = 0, state;

	order = bpf_map_lookup_elem(&orders, &zero);
	if (!common || !order)
		return 0;
	tp = bpf_skc_to_tcp_sock(common);
	if (!tp || !segue_in_scope(&tp->inet_conn.icsk_inet.sk.__sk_common))
		return 0;
	state = tp->inet_conn.icsk_inet.sk.__sk_common.skc_state;
	/* whether its peer has negotiated or not */
	if (may_upload(state) && (tp->packets_out || tp->write_seq != tp->snd_nxt)) {
		count(SEGUE_MOBILE_COUNT_UPLOADS);
		if (order->uploads)
			go_on(context->meta->seq, tp, order);
	}
	connection = bpf_sk_storage_get(&connections, tp, 0, 0);
	if (!connection || !connection->negotiated) {
		if (state == TCP_ESTABLISHED)
			count(SEGUE_MOBILE_COUNT_UNNEGOTIATED);
		return 0;
	}
	/* the peer may still send: not after its FIN */
	if (state != TCP_ESTABLISHED && state != TCP_FIN_WAIT1 && state != TCP_FIN_WAIT2) {
		count(SEGUE_MOBILE_COUNT_CLOSING);
		return 0;
	}
	count(SEGUE_MOBILE_COUNT_NEGOTIATED);
	/* A socket may be shown again: in a later pass, when the table grows, and when
	 * what was written for it overflowed. */
	if (connection->round != order->round || (connection->marked && !connection->written))
		take_turn(tp, connection, order);
	if ((connection->to_craft || connection->also) &&
	    !tell_agent(context->meta->seq, tp, connection)) {
		connection->to_craft = 0;
		connection->also = 0;
		connection->ahead = 0;
	}
	if (connection->again && !connection->marked && !connection->to_craft && !connection->also)
		mark_again(tp, connection, order);
	return 0;
}
