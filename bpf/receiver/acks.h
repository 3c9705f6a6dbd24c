/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * acks.h - ACKs at once (trigger.h): the peer must learn of a window that closes or opens, and
 * an ACK that was held back must go.
 *
 * Source: docs/guide/receiver.md.
 */
#ifndef SEGUE_RECEIVER_ACKS_H
#define SEGUE_RECEIVER_ACKS_H

#include "addr.h"
#include "trigger.h"
#include "state.h"

/* Set before each pass over the sockets. */
u32 trigger_acks; /* ACKs of each connection */
u32 trigger_held_only; /* only of connections whose last ACK was dropped */

SEC("struct_ops")
void BPF_PROG(acks_init, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;

	for (u32 i = 0; i < SEGUE_RECEIVER_ACKS && i < trigger_acks; i++)
		bpf_tcp_send_ack(tp, tp->rcv_nxt);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops receiver_acks = {
	.init = (void *)acks_init,
	.ssthresh = (void *)trigger_ssthresh,
	.cong_avoid = (void *)trigger_cong_avoid,
	.undo_cwnd = (void *)trigger_undo_cwnd,
	.name = "segue_acks",
};

/* Its packets leave by the device, as far as is known. */
static __always_inline u32 leaves_here(struct tcp_sock *tp)
{
	struct dst_entry *route = tp->inet_conn.icsk_inet.sk.sk_dst_cache;

	return !route || (u32)BPF_CORE_READ(route, dev, ifindex) == device;
}

static __always_inline void send_acks(struct tcp_sock *tp)
{
	char name[CA_NAME_LENGTH] = {};
	u32 triggered;

	if (!can_be_triggered(tp, name))
		return;
	triggered = trigger_once(tp, name);
	if (triggered == TRIGGER_REFUSED)
		return;
	count(SEGUE_COUNT_TRIGGERED);
	if (triggered == TRIGGER_STUCK)
		count(SEGUE_COUNT_UNRESTORED);
}

SEC("iter/tcp")
int receiver_trigger(struct bpf_iter__tcp *context)
{
	struct sock_common *common = context->sk_common;
	struct segue_tuple flow = {};
	struct tcp_sock *tp;
	u8 state;

	if (!common)
		return 0;
	tp = bpf_skc_to_tcp_sock(common);
	if (!tp)
		return 0;
	/* The peer may still send: not after its FIN. */
	state = tp->inet_conn.icsk_inet.sk.__sk_common.skc_state;
	if (state != TCP_ESTABLISHED && state != TCP_FIN_WAIT1 && state != TCP_FIN_WAIT2)
		return 0;
	segue_tuple_of(&tp->inet_conn.icsk_inet.sk.__sk_common, &flow);
	if (!chosen(flow.remote) || !leaves_here(tp))
		return 0;
	if (trigger_held_only) {
		struct segue_receiver_state *kept = bpf_map_lookup_elem(&flows, &flow);

		if (!kept || !kept->held)
			return 0;
	}
	send_acks(tp);
	return 0;
}

#endif
