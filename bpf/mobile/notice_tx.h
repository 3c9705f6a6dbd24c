/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * notice_tx.h - the sender of notices: reports on ACKs of the kernel's own (trigger.h), to
 * which mobile_sockops adds the option.
 *
 * Source: docs/reference/wire.md.
 */
#ifndef SEGUE_MOBILE_NOTICE_TX_H
#define SEGUE_MOBILE_NOTICE_TX_H

#include "stamps.h"
#include "trigger.h"
#include "state.h"

SEC("struct_ops")
void BPF_PROG(trigger_init, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct connection *connection = bpf_sk_storage_get(&connections, sk, 0, 0);

	if (!connection)
		return;
	for (u32 copy = 0; copy < SEGUE_MOBILE_COPIES && copy < connection->copies; copy++)
		bpf_tcp_send_ack(tp, tp->rcv_nxt);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops segue_trigger = {
	.init = (void *)trigger_init,
	.ssthresh = (void *)trigger_ssthresh,
	.cong_avoid = (void *)trigger_cong_avoid,
	.undo_cwnd = (void *)trigger_undo_cwnd,
	.name = "segue_trigger",
};

/* 40 octets of options: time stamps take 12, SACK blocks 4 and 8 each. The kernel takes
 * as many blocks as fit before it asks for ours (tcp_established_options). */
static __always_inline u32 blocks_of(const struct tcp_sock *tp, u32 stamps)
{
	const u32 wanted = tp->rx_opt.num_sacks + BPF_CORE_READ_BITFIELD(tp, rx_opt.dsack);

	return segue_min(wanted, (40 - stamps - 4) / 8);
}

static __always_inline u32 has_room(struct tcp_sock *tp)
{
	const u32 stamps = BPF_CORE_READ_BITFIELD(tp, rx_opt.tstamp_ok) ? 12 : 0;
	const u32 blocks = blocks_of(tp, stamps);

	return stamps + (blocks ? 4 + 8 * blocks : 0) + SEGUE_REPORT_LENGTH <= 40;
}

/* After an outage blocks of what came before it would have the peer undo its timeouts. Nothing is marked lost then,
 * and a first packet that was sent again in vain waits for another timeout (tcp_process_loss, tcp_mark_skb_lost).
 * The kernel's ACKs have all blocks, the agent's none (mobile.md, 1.1). */
static __always_inline u32 reports_stale(const struct tcp_sock *tp, const struct connection *connection)
{
	u8 remote[16];

	if (!blocks_of(tp, 12))
		return 0;
	segue_remote_address(&tp->inet_conn.icsk_inet.sk.__sk_common, remote);
	return would_echo_stale(tp, connection, remote);
}

/* Sends the copies in the kernel's own ACKs. The socket is locked. */
static __always_inline void trigger(struct tcp_sock *tp, struct connection *connection)
{
	char name[CA_NAME_LENGTH] = {};
	int flags, with_options;

	if (!can_be_triggered(tp, name))
		return;
	if (bpf_getsockopt(tp, SOL_TCP, TCP_BPF_SOCK_OPS_CB_FLAGS, &flags, sizeof(flags)))
		return; /* before Linux 6.12 */
	with_options = flags | BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG;
	if (bpf_setsockopt(tp, SOL_TCP, TCP_BPF_SOCK_OPS_CB_FLAGS, &with_options,
			   sizeof(with_options)))
		return;
	if (trigger_once(tp, name) == TRIGGER_STUCK)
		count(SEGUE_MOBILE_COUNT_UNRESTORED);
	bpf_setsockopt(tp, SOL_TCP, TCP_BPF_SOCK_OPS_CB_FLAGS, &flags, sizeof(flags));
}

#endif
