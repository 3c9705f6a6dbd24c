/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * craft.h - the record from which the agent builds an ACK that the peer's kernel takes for
 * the socket's own.
 *
 * Source: __tcp_transmit_skb (net/ipv4/tcp_output.c), RFC 7323.
 */
#ifndef SEGUE_MOBILE_CRAFT_H
#define SEGUE_MOBILE_CRAFT_H

#include "addr.h"
#include "stamps.h"
#include "state.h"

/* tcp_receive_window(): what was promised beyond rcv_nxt, never more. */
static __always_inline u16 window_of(struct tcp_sock *tp)
{
	const s32 promised = (s32)(tp->rcv_wup + tp->rcv_wnd - tp->rcv_nxt);
	const u32 scale = BPF_CORE_READ_BITFIELD(tp, rx_opt.rcv_wscale);

	return promised < 0 ? 0 : segue_min(0xffff, (u32)promised >> (scale & 15));
}

/*
 * RFC 7323's clock of this socket, as __tcp_transmit_skb() would read it now. It shows
 * not the present time, but that of the last event that made the socket look at its
 * clock. A triggered ACK carries no other, and would be refused as old (PAWS) after a
 * crafted one that is ahead of it.
 */
static __always_inline u32 time_stamp(struct tcp_sock *tp)
{
	u64 clock = tp->tcp_wstamp_ns;

	if (clock < tp->tcp_clock_cache)
		clock = tp->tcp_clock_cache;
	clock /= 1000;
	if (!bpf_core_field_exists(tp->tcp_usec_ts) || !BPF_CORE_READ_BITFIELD(tp, tcp_usec_ts))
		clock /= 1000;
	return (u32)clock + tp->tsoffset;
}

static __always_inline void addresses(const struct sock *sk, struct segue_mobile_ack *ack)
{
	segue_remote_address(&sk->__sk_common, ack->remote);
	segue_local_address(&sk->__sk_common, ack->local);
	ack->remote_port = __builtin_bswap16(sk->__sk_common.skc_dport);
	ack->local_port = sk->__sk_common.skc_num;
}

/* A flow of this host that waits for its timer. The agent takes the back-off back with
 * ICMP from this host to itself (RFC 6069), and the kernel resends. */
static __always_inline long tell_agent_of_upload(struct seq_file *seq, struct tcp_sock *tp)
{
	struct segue_mobile_ack ack = {};

	addresses(&tp->inet_conn.icsk_inet.sk, &ack);
	ack.backoffs = tp->inet_conn.icsk_backoff;
	ack.una = tp->snd_una;
	return bpf_seq_write(seq, &ack, sizeof(ack));
}

static __always_inline long tell_agent(struct seq_file *seq, struct tcp_sock *tp,
				       struct connection *connection)
{
	struct sock *sk = &tp->inet_conn.icsk_inet.sk;
	struct segue_mobile_ack ack = {};

	addresses(sk, &ack);
	ack.seq = tp->snd_nxt;
	ack.ack = tp->rcv_nxt;
	ack.stamped = BPF_CORE_READ_BITFIELD(tp, rx_opt.tstamp_ok);
	ack.tsval = time_stamp(tp);
	ack.tsecr = echo_for(tp, connection, ack.remote);
	ack.mark = sk->sk_mark;
	ack.device = sk->__sk_common.skc_bound_dev_if;
	ack.window = window_of(tp);
	ack.nonce = connection->peer_nonce;
	ack.report = connection->report - 1;
	ack.copies = connection->to_craft;
	ack.also = connection->also;
	ack.ahead = connection->ahead;
	return bpf_seq_write(seq, &ack, sizeof(ack));
}

#endif
