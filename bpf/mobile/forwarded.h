/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * forwarded.h - connections that this host forwards, as a router does: what the agent must know
 * to have their peers send again after an outage (resume.h).
 *
 * There is no socket to be asked. All that is known stands in the segments of the near end, as they
 * leave by the uplink, behind a NAT of this host. A connection is established whose ACK number
 * has advanced: its peer sends data, and the near end takes them. A SYN, a FIN or a RST of the
 * near end ends what is known.
 *
 * Source: RFC 6069; RFC 5927; RFC 9293, 3.3.2.
 */
#ifndef SEGUE_MOBILE_FORWARDED_H
#define SEGUE_MOBILE_FORWARDED_H

#include "ack_numbers.h"
#include "segment.h"
#include "stamps.h"
#include "state.h"

/* A bound for memory; of more, the one that was silent for longest is forgotten. */
#define FORWARDED_FLOWS 4096

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, FORWARDED_FLOWS);
	__type(key, struct segue_tuple);
	__type(value, struct segue_forwarded);
} forwarded SEC(".maps");

/* Octets before the IP header. */
static __always_inline u32 link_header_of(struct __sk_buff *context)
{
	struct sk_buff *skb = bpf_cast_to_kern_ctx(context);

	return skb->network_header - (u32)(skb->data - skb->head);
}

static __always_inline void learn(struct segue_forwarded *known, const struct segment *segment,
				  const struct stamps *stamps, u32 stamped, u64 now)
{
	const u32 end = segment->seq + segment->payload;

	if (segue_seq_before(known->acks[0], segment->ack) || segment->payload)
		known->heard = now;
	remember_ack(known->acks, &known->known, segment->ack);
	if (segue_seq_before(known->seq, end))
		known->seq = end;
	known->window = bpf_ntohs(segment->window);
	known->stamped = stamped;
	if (stamped)
		known->tsval = bpf_ntohl(stamps->value);
}

static __always_inline void on_forwarded(struct __sk_buff *skb, const struct segment *segment, u64 stale)
{
	const u64 now = bpf_ktime_get_ns();
	struct segue_forwarded *known;
	struct stamps stamps = {};
	u32 stamped;

	if (segment->flags & (TCP_FLAG_SYN | TCP_FLAG_FIN | TCP_FLAG_RST)) {
		bpf_map_delete_elem(&forwarded, &segment->flow);
		return;
	}
	if (!(segment->flags & TCP_FLAG_ACK))
		return;
	stamped = read_stamps(skb, segment, &stamps);
	known = bpf_map_lookup_elem(&forwarded, &segment->flow);
	if (!known) {
		struct segue_forwarded first = { .echoed = now, .tsecr = stamped ? stamps.echo : 0, .known = 1 };

		first.acks[0] = segment->ack;
		first.seq = segment->seq;
		learn(&first, segment, &stamps, stamped, now);
		bpf_map_update_elem(&forwarded, &segment->flow, &first, BPF_ANY);
		return;
	}
	learn(known, segment, &stamps, stamped, now);
	if (stamped && is_stale(stamps.echo, &known->tsecr, &known->echoed, stale, now))
		echo_nothing(skb, segment, stamps.echo);
}

/* A packet without a socket leaves. */
static __always_inline void follow_forwarded(struct __sk_buff *skb)
{
	const struct segue_mobile_orders *order;
	const struct segue_others *treated;
	struct segment segment = {};
	u32 zero = 0;

	order = bpf_map_lookup_elem(&orders, &zero);
	if (!order || !order->forwarded || !read_segment(skb, link_header_of(skb), &segment))
		return;
	treated = treatment(segment.flow.remote);
	if (treated && treated->resume)
		on_forwarded(skb, &segment, treated->stale);
}

#endif
