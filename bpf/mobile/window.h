/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * window.h - bounds of the windows that this host tells peers which run nothing of ours
 * (docs/reference/mobile.md, 2). The agent sets them (crates/mobile, window.rs).
 *
 * The socket knows nothing of it: without a bound its next ACK tells the true window again.
 *
 * Source: RFC 9293, 3.8.6: senders must survive a right edge that moves to the left.
 */
#ifndef SEGUE_MOBILE_WINDOW_H
#define SEGUE_MOBILE_WINDOW_H

#include "segment.h"
#include "state.h"
#include "window_field.h"

/* Connections that may be bounded; of more, the one that was silent for longest is not. */
#define BOUND_FLOWS 4096

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, BOUND_FLOWS);
	__type(key, struct segue_tuple);
	__type(value, struct segue_bound);
} bounds SEC(".maps");

/* Whether the bound holds for a segment that leaves now. */
static __always_inline u32 holds(const struct segue_bound *bound, u32 ack, u32 device)
{
	return device == bound->device && !segue_seq_before(ack, bound->from) &&
	       bpf_ktime_get_ns() < bound->until;
}

/* Octets held behind a hole, as far as the blocks of the connection's ACKs tell of them. They are not under
 * way. Without them a peer that resends could send nothing else, until its last loss is mended. */
static __always_inline u32 held(const struct tcp_sock *tp)
{
	const u32 blocks = tp->rx_opt.num_sacks;
	u32 octets = 0;

#pragma clang loop unroll(full)
	for (u32 i = 0; i < 4; i++)
		if (i < blocks)
			octets += tp->selective_acks[i].end_seq - tp->selective_acks[i].start_seq;
	return octets;
}

/* The bound as the header tells it. */
static __always_inline u32 most_of(const struct segue_bound *bound, const struct tcp_sock *tp)
{
	const u32 scale = BPF_CORE_READ_BITFIELD(tp, rx_opt.rcv_wscale) & 15;
	const u32 unit = 1u << scale;

	/* rounded up, as `most` is: a peer that lacks an octet of room for a packet waits */
	return segue_min(0xffff, bound->most + ((held(tp) + unit - 1) >> scale));
}

static __always_inline void narrow(struct __sk_buff *skb, const struct segment *segment,
				   struct tcp_sock *tp)
{
	const struct segue_bound *bound = bpf_map_lookup_elem(&bounds, &segment->flow);
	u32 most;

	if (!bound || !holds(bound, segment->ack, skb->ifindex))
		return;
	most = most_of(bound, tp);
	if (bpf_ntohs(segment->window) <= most)
		return;
	if (tell_window(skb, segment, bpf_htons(most)))
		count(SEGUE_MOBILE_COUNT_NARROWED);
}

#endif
