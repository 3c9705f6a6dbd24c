/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mobile.bpf.c - the mobile host: the receiver of bulk data, whose access link
 * changes (docs/wire.md). Two programs:
 *
 *     mobile_sockops   at each event of a connection: capability and reports
 *     mobile_notify    when the agent reads its iterator: a notice, on all connections
 */
#include "mobile_craft.h"
#include "mobile_negotiate.h"
#include "mobile_poke.h"

char _license[] SEC("license") = "GPL";

SEC("sockops")
int mobile_sockops(struct bpf_sock_ops *context)
{
	sock_ops *ops = (sock_ops *)context;
	int on = 1;

	switch (ops->op) {
	case BPF_SOCK_OPS_TCP_CONNECT_CB:
		on_connect(ops);
		break;
	case BPF_SOCK_OPS_TCP_LISTEN_CB:
		bpf_setsockopt(OPS(ops), SOL_TCP, TCP_SAVE_SYN, &on, sizeof(on));
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

/* Sends what the kernel can; leaves the rest in `untold`. */
static __always_inline void notify(struct tcp_sock___mobile *tp, struct connection *connection,
				   const struct segue_mobile_orders *order)
{
	const u8 waiting = connection->type;
	const u8 copies = segue_min(order->copies, SEGUE_MOBILE_COPIES);

	connection->round = order->round;
	connection->link = order->link;
	connection->type = order->type;
	connection->copies = copies;
	connection->written = 0;
	connection->untold = 0;
	if (order->way == SEGUE_WAY_POKE || (order->way == SEGUE_WAY_AUTO && has_room(tp)))
		poke(tp, connection);
	connection->copies = 0;
	/* a first report that still waits is now out of date */
	connection->type = 0;
	if (connection->written >= copies) {
		count(SEGUE_TALLY_POKED);
	} else if (order->way == SEGUE_WAY_POKE) {
		count(SEGUE_TALLY_UNWRITTEN);
		connection->type = waiting;
		if (!connection->written)
			return; /* the number was not used */
	} else {
		connection->untold = copies - connection->written;
	}
	connection->report++;
}

SEC("iter/tcp")
int mobile_notify(struct bpf_iter__tcp___mobile *context)
{
	struct sock_common *common = context->sk_common;
	struct segue_mobile_orders *order;
	struct connection *connection;
	struct tcp_sock___mobile *tp;
	u32 zero = 0, state;

	order = bpf_map_lookup_elem(&orders, &zero);
	if (!common || !order)
		return 0;
	tp = (struct tcp_sock___mobile *)bpf_skc_to_tcp_sock(common);
	if (!tp)
		return 0;
	state = tp->inet_conn.icsk_inet.sk.__sk_common.skc_state;
	connection = bpf_sk_storage_get(&connections, tp, 0, 0);
	if (!connection || !connection->negotiated) {
		if (!order->all && state == TCP_ESTABLISHED)
			count(SEGUE_TALLY_UNNEGOTIATED);
		return 0;
	}
	/* the peer may still send: not after its FIN */
	if (state != TCP_ESTABLISHED && state != TCP_FIN_WAIT1 && state != TCP_FIN_WAIT2) {
		if (!order->all)
			count(SEGUE_TALLY_CLOSING);
		return 0;
	}
	if (!order->all && !tp->bytes_received) {
		count(SEGUE_TALLY_LATER);
		return 0;
	}
	/* A socket may be shown again: in the second pass, when the table grows, and when
	 * what was written for it overflowed. */
	if (connection->round != order->round)
		notify(tp, connection, order);
	if (connection->untold && !tell_agent(context->meta->seq, tp, connection))
		connection->untold = 0;
	return 0;
}
