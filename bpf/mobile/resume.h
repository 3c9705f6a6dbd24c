/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * resume.h - connections whose peer runs nothing of ours. The agent learns what it needs to
 * have the peer send again after an outage, and to bound their windows (window.h). The same
 * for connections whose peer has negotiated, which a notice has send again: the agent must
 * see that something comes.
 *
 *     mobile_echo      remembers the last ACK numbers of each connection. An ICMP message
 *                      moves the peer's timer only if it quotes the first segment that the
 *                      peer knows no ACK for (RFC 6069), and the last ACKs may have
 *                      died with the link.
 *     mobile_waiting   lists the connections that are to be helped
 *
 * Until new data comes mobile_echo echoes nothing, to peers that have negotiated neither (stamps.h).
 *
 * Source: RFC 6069; RFC 5927: the quoted sequence number must be one of data under way;
 * tcp_v4_err, tcp_ld_RTO_revert (net/ipv4/tcp_ipv4.c).
 */
#ifndef SEGUE_MOBILE_RESUME_H
#define SEGUE_MOBILE_RESUME_H

#include "ack_numbers.h"
#include "craft.h"
#include "forwarded.h"
#include "freeze.h"
#include "segment.h"
#include "stamps.h"
#include "state.h"
#include "window.h"

/* Connections that are remembered: a bound for memory; of more, the one that was silent
 * for longest is forgotten. */
#define SENT_FLOWS 4096

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, SENT_FLOWS);
	__type(key, struct segue_tuple);
	__type(value, struct segue_sent);
} sent SEC(".maps");

/* Arrivals on a connection are counted over so long, ns. */
#define COUNTED_FOR 1000000000ull

/* The minimum over the last minutes, us; 0: unknown. */
static __always_inline u32 smallest_rtt(struct tcp_sock *tp)
{
	const u32 rtt = tp->rtt_min.s[0].v;

	return rtt == ~0u ? 0 : rtt;
}

/* Notes the arrivals so far, in the periods of the simulator's Memory::acknowledges. */
static __always_inline void count_arrivals(struct segue_sent *known, struct tcp_sock *tp, u32 device,
					   u64 now)
{
	known->packets = tp->data_segs_in;
	if (now >= known->until) {
		known->before[1] = known->until ? known->before[0] : known->packets;
		known->before[0] = known->packets;
		known->until = now + COUNTED_FOR;
	}
	known->device = device;
	known->rtt_us = smallest_rtt(tp);
	known->mss = tp->inet_conn.icsk_ack.rcv_mss;
	known->scale = BPF_CORE_READ_BITFIELD(tp, rx_opt.rcv_wscale);
}

/* Notes header fields for the ACKs that the agent sends by the connection's old device (mobile.md, 2.7). */
static __always_inline void remember_header(struct segue_sent *known, struct __sk_buff *skb,
					    const struct segment *segment, struct tcp_sock *tp)
{
	const u32 blocks = tp->rx_opt.num_sacks, next = segment->seq + segment->payload;
	struct stamps stamps;

	if (known->device != skb->ifindex) {
		known->left_ack = known->acks[0];
		known->left_stamp = known->stamp;
	}
	known->stamped = read_stamps(skb, segment, &stamps);
	if (known->stamped)
		known->stamp = bpf_ntohl(stamps.value);
	/* what is sent again takes nothing back */
	if (!segue_seq_before(next, known->seq))
		known->seq = next;
	known->window = bpf_ntohs(segment->window);
	known->mark = tp->inet_conn.icsk_inet.sk.sk_mark;
	/* Long ago: it must not look as if it were ahead (RFC 9293, 3.4). */
	if ((s32)(segment->ack - known->sacked) > 1 << 30)
		known->sacked = segment->ack - (1 << 29);
#pragma clang loop unroll(full)
	for (u32 i = 0; i < 4; i++)
		if (i < blocks && segue_seq_before(known->sacked, tp->selective_acks[i].end_seq))
			known->sacked = tp->selective_acks[i].end_seq;
}

/* A segment of a connection that is sent notices leaves: whether something has come on it since mobile_waiting has
 * listed it. */
static __always_inline void watch(const struct segment *segment, struct tcp_sock *tp)
{
	struct segue_sent *known = bpf_map_lookup_elem(&sent, &segment->flow);

	if (known)
		known->packets = tp->data_segs_in;
}

/* A segment of an established connection leaves. */
static __always_inline void on_segment(struct __sk_buff *skb, const struct segment *segment,
				       const struct segue_others *treated, struct tcp_sock *tp)
{
	const u64 now = bpf_ktime_get_ns();
	const u32 echo = echo_of(skb, segment);
	struct segue_sent *known;

	known = bpf_map_lookup_elem(&sent, &segment->flow);
	if (!known) {
		struct segue_sent first = { .echoed = now, .tsecr = echo, .known = 1 };

		first.acks[0] = segment->ack;
		first.sacked = segment->ack;
		first.seq = segment->seq;
		first.device = skb->ifindex;
		remember_header(&first, skb, segment, tp);
		first.left_ack = segment->ack;
		first.left_stamp = first.stamp;
		count_arrivals(&first, tp, skb->ifindex, now);
		first.closed = is_frozen(treated, skb->ifindex);
		bpf_map_update_elem(&sent, &segment->flow, &first, BPF_ANY);
		return;
	}
	remember_header(known, skb, segment, tp);
	remember_ack(known->acks, &known->known, segment->ack);
	count_arrivals(known, tp, skb->ifindex, now);
	known->closed = is_frozen(treated, skb->ifindex);
	if (is_stale(echo, &known->tsecr, &known->echoed, treated->stale, now) && treated->resume)
		echo_nothing(skb, segment, echo);
}

/* Sees packets of this host's connections, and forwarded ones, which have no socket. */
SEC("tc")
int mobile_echo(struct __sk_buff *skb)
{
	const struct segue_others *treated;
	struct connection *connection;
	struct segment segment = {};
	struct tcp_sock *tp;
	struct bpf_sock *sk = skb->sk;
	struct bpf_sock *full = sk ? bpf_sk_fullsock(sk) : 0;

	if (!sk)
		follow_forwarded(skb);
	/* raw sockets may be of this protocol, too */
	if (!full || full->type != SOCK_STREAM || full->protocol != IPPROTO_TCP ||
	    !read_segment(skb, link_header_of(skb), &segment))
		return TC_ACT_UNSPEC;
	if (full->state != TCP_ESTABLISHED)
		bpf_map_delete_elem(&sent, &segment.flow);
	if (!(segment.flags & TCP_FLAG_ACK) || segment.flags & (TCP_FLAG_SYN | TCP_FLAG_RST))
		return TC_ACT_UNSPEC;
	treated = treatment(segment.flow.remote);
	if (!treated)
		return TC_ACT_UNSPEC;
	tp = bpf_skc_to_tcp_sock(full);
	if (!tp)
		return TC_ACT_UNSPEC;
	connection = bpf_sk_storage_get(&connections, full, 0, 0);
	if (connection && connection->negotiated) {
		/* who has negotiated is sent notices, which tell of windows */
		withhold_stamp(skb, &segment, connection, treated->stale);
		watch(&segment, tp);
		return TC_ACT_UNSPEC;
	}
	if (full->state != TCP_ESTABLISHED || !(treated->resume || treated->window || treated->freeze))
		return TC_ACT_UNSPEC;
	on_segment(skb, &segment, treated, tp);
	if (is_frozen(treated, skb->ifindex))
		close_window(skb, &segment);
	else
		narrow(skb, &segment, tp);
	return TC_ACT_UNSPEC;
}

/* Whether this connection's peer may be waiting. Only an established one: to a peer that has
 * not got our SYN or ACK yet a message may be the end (RFC 5927). At a closed window
 * the peer has nothing under way. */
static __always_inline u32 may_wait(struct tcp_sock *tp)
{
	return tp->inet_conn.icsk_inet.sk.__sk_common.skc_state == TCP_ESTABLISHED &&
	       tp->bytes_received && window_of(tp);
}

static __always_inline u32 has_negotiated(struct tcp_sock *tp)
{
	const struct connection *connection = bpf_sk_storage_get(&connections, tp, 0, 0);

	return connection && connection->negotiated;
}

/* A connection that is sent a notice is watched from now on. */
static __always_inline void begin_to_watch(const struct segue_tuple *tuple, struct tcp_sock *tp)
{
	struct segue_sent first = { .packets = tp->data_segs_in, .negotiated = 1 };

	bpf_map_update_elem(&sent, tuple, &first, BPF_ANY);
}

SEC("iter/tcp")
int mobile_waiting(struct bpf_iter__tcp *context)
{
	struct sock_common *common = context->sk_common;
	const struct segue_mobile_orders *order;
	struct segue_waiting waiting = {};
	const struct segue_others *treated;
	struct segue_sent *known;
	struct tcp_sock *tp;
	u32 zero = 0;

	order = bpf_map_lookup_elem(&orders, &zero);
	if (!common || !order)
		return 0;
	tp = bpf_skc_to_tcp_sock(common);
	if (!tp || !segue_in_scope(&tp->inet_conn.icsk_inet.sk.__sk_common) || !may_wait(tp))
		return 0;
	segue_tuple_of(&tp->inet_conn.icsk_inet.sk.__sk_common, &waiting.tuple);
	treated = treatment(waiting.tuple.remote);
	if (!treated)
		return 0;
	waiting.resumes = treated->resume != 0;
	waiting.negotiated = has_negotiated(tp);
	if (waiting.negotiated) {
		if (!waiting.resumes || !busy(tp, order))
			return 0;
		begin_to_watch(&waiting.tuple, tp);
	} else {
		known = bpf_map_lookup_elem(&sent, &waiting.tuple);
		if (!known || !(busy(tp, order) || known->closed))
			return 0;
		/* the agent's own ACK tells it now */
		if (is_frozen(treated, known->device))
			known->closed = 1;
		waiting.closed = known->closed;
		if (!waiting.resumes && !waiting.closed)
			return 0;
		/* what has come and is still to be acknowledged does not count as news */
		known->packets = tp->data_segs_in;
		__builtin_memcpy(waiting.acks, known->acks, sizeof(waiting.acks));
		waiting.known = known->known;
		waiting.mss = known->mss;
		waiting.own_mss = tp->advmss;
	}
	waiting.packets = tp->data_segs_in;
	waiting.heard = tp->tcp_clock_cache;
	waiting.una = tp->snd_una;
	waiting.under_way = under_way(tp);
	waiting.seq = tp->snd_nxt;
	waiting.ack = tp->rcv_nxt;
	waiting.tsval = time_stamp(tp);
	waiting.mark = tp->inet_conn.icsk_inet.sk.sk_mark;
	waiting.device = tp->inet_conn.icsk_inet.sk.__sk_common.skc_bound_dev_if;
	waiting.rtt_us = smallest_rtt(tp);
	waiting.window = window_of(tp);
	waiting.stamped = BPF_CORE_READ_BITFIELD(tp, rx_opt.tstamp_ok);
	bpf_seq_write(context->meta->seq, &waiting, sizeof(waiting));
	return 0;
}

#endif
