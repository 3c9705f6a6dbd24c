/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stamps.h - a time stamp from before an outage is not echoed after it. TSecr is 0 until
 * new data has come, to peers that have negotiated and to all others.
 *
 * The peer would take such an echo for a round trip as long as the outage (RFC 7323, 4.1), so
 * its RTO would be as long. It would also take it for a proof that its timer need not have
 * expired (RFC 3522), and send new data before what the mobile lacks. Linux and FreeBSD take a
 * TSecr of 0 for none.
 *
 * Source: RFC 7323; RFC 3522; tcp_parse_aligned_timestamp, tcp_ack_update_rtt,
 * tcp_try_undo_loss (net/ipv4/tcp_input.c).
 */
#ifndef SEGUE_MOBILE_STAMPS_H
#define SEGUE_MOBILE_STAMPS_H

#include "segment.h"
#include "state.h"

/* 64 watched prefixes and 64 that are treated otherwise. */
#define OTHERS_PREFIXES 128

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, OTHERS_PREFIXES);
	__type(key, struct segue_prefix);
	__type(value, struct segue_others);
} others SEC(".maps");

/* The treatment of this peer's prefix; 0: its packets do not move with a watched route. */
static __always_inline const struct segue_others *treatment(const u8 remote[16])
{
	struct segue_prefix prefix = { .bits = 128 };

	__builtin_memcpy(prefix.address, remote, 16);
	return bpf_map_lookup_elem(&others, &prefix);
}

/* 0: the segment has none. */
static __always_inline u32 read_stamps(struct __sk_buff *skb, const struct segment *segment,
				       struct stamps *stamps)
{
	return !bpf_skb_load_bytes(skb, segment->options, stamps, sizeof(*stamps)) && are_stamps(stamps);
}

/* TSecr as it stands in the segment; 0: none. */
static __always_inline u32 echo_of(struct __sk_buff *skb, const struct segment *segment)
{
	struct stamps stamps;

	return read_stamps(skb, segment, &stamps) ? stamps.echo : 0;
}

/* A stamp is echoed now; `tsecr` was last, and first so at `echoed`. Whether it is from before an outage. */
static __always_inline u32 is_stale(u32 echo, u32 *tsecr, u64 *echoed, u64 stale, u64 now)
{
	if (echo != *tsecr) {
		*tsecr = echo;
		*echoed = now;
		return 0;
	}
	return echo && *echoed < stale;
}

static __always_inline void echo_nothing(struct __sk_buff *skb, const struct segment *segment,
					 u32 echoed)
{
	const u32 at = segment->options + __builtin_offsetof(struct stamps, echo);
	const u32 sum = segment->tcp + __builtin_offsetof(struct tcp_header, checksum);
	const u32 none = 0;

	/* RFC 1624. A checksum that is left to the device stays left to it. */
	if (bpf_l4_csum_replace(skb, sum, echoed, none, sizeof(none)) ||
	    bpf_skb_store_bytes(skb, at, &none, sizeof(none), 0))
		return;
	count(SEGUE_MOBILE_COUNT_UNECHOED);
}

/* The same for a connection that has negotiated: its notice is one of these segments. */
static __always_inline void withhold_stamp(struct __sk_buff *skb, const struct segment *segment,
					   struct connection *connection, u64 stale)
{
	const u32 echo = echo_of(skb, segment);

	if (is_stale(echo, &connection->tsecr, &connection->echoed, stale, bpf_ktime_get_ns()))
		echo_nothing(skb, segment, echo);
}

/* Whether the connection's next ACK has a stamp from before an outage to echo. */
static __always_inline u32 would_echo_stale(const struct tcp_sock *tp, const struct connection *connection,
					    const u8 remote[16])
{
	const struct segue_others *treated = treatment(remote);
	const u32 echo = tp->rx_opt.ts_recent;

	return echo && treated && bpf_htonl(echo) == connection->tsecr && connection->echoed < treated->stale;
}

/* TSecr of an ACK that the agent crafts: what its raw socket sends is not seen as the connection's. */
static __always_inline u32 echo_for(const struct tcp_sock *tp, const struct connection *connection,
				    const u8 remote[16])
{
	return would_echo_stale(tp, connection, remote) ? 0 : tp->rx_opt.ts_recent;
}

#endif
