/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * segment.h - the TCP segment in an outgoing packet, as tc sees it. The packet may be a
 * large one that the device or the kernel cuts later. Its checksum may be left to them.
 *
 * Source: RFC 9293, RFC 791, RFC 8200.
 */
#ifndef SEGUE_SEGMENT_H
#define SEGUE_SEGMENT_H

#include "addr.h"
#include "tuple.h"

struct segment {
	struct segue_tuple flow;
	u32 tcp; /* where its header begins */
	u32 options; /* where its options begin */
	u32 payload; /* octets */
	u32 seq; /* host byte order, as is the next */
	u32 ack;
	u16 window; /* network byte order */
	u8 flags;
};

/* RFC 9293, 3.1 */
struct tcp_header {
	u16 source;
	u16 destination;
	u32 seq;
	u32 ack;
	u8 offset; /* upper half: in words */
	u8 flags;
	u16 window;
	u16 checksum;
	u16 urgent;
};

/* RFC 791, 3.1 */
struct ipv4_header {
	u8 version_length;
	u8 service;
	u16 total_length;
	u16 id;
	u16 fragment;
	u8 ttl;
	u8 protocol;
	u16 checksum;
	u32 source;
	u32 destination;
};

/* RFC 8200, 3 */
struct ipv6_header {
	u32 version_flow;
	u16 payload_length;
	u8 next_header;
	u8 hop_limit;
	u8 source[16];
	u8 destination[16];
};

/* Offset of the TCP header behind a link header of that length; 0: no TCP, a fragment, or IPv6 with extension headers. */
static __always_inline u32 read_addresses(struct __sk_buff *skb, u32 link_header, struct segue_tuple *flow)
{
	if (skb->protocol == ETH_P_IP) {
		struct ipv4_header ip;

		if (bpf_skb_load_bytes(skb, link_header, &ip, sizeof(ip)) || ip.protocol != IPPROTO_TCP ||
		    ip.fragment & bpf_htons(0x3fff))
			return 0;
		segue_map_v4(flow->local, ip.source);
		segue_map_v4(flow->remote, ip.destination);
		return link_header + (ip.version_length & 15) * 4;
	}
	if (skb->protocol == ETH_P_IPV6) {
		struct ipv6_header ip;

		if (bpf_skb_load_bytes(skb, link_header, &ip, sizeof(ip)) || ip.next_header != IPPROTO_TCP)
			return 0;
		__builtin_memcpy(flow->local, ip.source, 16);
		__builtin_memcpy(flow->remote, ip.destination, 16);
		return link_header + sizeof(ip);
	}
	return 0;
}

/* RFC 7323, appendix A: the option as all common stacks write it. */
struct stamps {
	u8 head[4]; /* two NOPs, kind and length */
	u32 value;
	u32 echo;
};

static __always_inline u32 are_stamps(const struct stamps *stamps)
{
	return stamps->head[0] == 1 && stamps->head[1] == 1 && stamps->head[2] == 8 &&
	       stamps->head[3] == 10;
}

/* RFC 9293, 3.1; RFC 2385; RFC 5925 */
#define TCP_OPTION_END 0
#define TCP_OPTION_NOP 1
#define TCP_OPTION_MD5 19
#define TCP_OPTION_AO 29
#define TCP_MOST_OPTIONS 40

/* Whether a signature is among these options: the peer throws away what has been changed since. */
static __always_inline u32 is_signed(struct __sk_buff *skb, u32 at, u32 end)
{
	struct stamps stamps;
	u8 option[2];

	/* most segments have these alone */
	if (at + sizeof(stamps) <= end && !bpf_skb_load_bytes(skb, at, &stamps, sizeof(stamps)) &&
	    are_stamps(&stamps))
		at += sizeof(stamps);
	for (u32 i = 0; i < TCP_MOST_OPTIONS && at < end; i++) {
		/* a NOP may be the packet's last octet */
		if (bpf_skb_load_bytes(skb, at, option, 1) || option[0] == TCP_OPTION_END)
			return 0;
		if (option[0] == TCP_OPTION_NOP) {
			at++;
			continue;
		}
		if (option[0] == TCP_OPTION_MD5 || option[0] == TCP_OPTION_AO)
			return 1;
		if (bpf_skb_load_bytes(skb, at + 1, option + 1, 1) || option[1] < 2)
			return 0;
		at += option[1];
	}
	return 0;
}

/* Whether the packet, which begins with so many octets of its link, carries TCP that may be changed; its segment. */
static __always_inline u32 read_segment(struct __sk_buff *skb, u32 link_header,
					 struct segment *segment)
{
	struct tcp_header tcp;
	u32 headers;

	segment->tcp = read_addresses(skb, link_header, &segment->flow);
	if (!segment->tcp || bpf_skb_load_bytes(skb, segment->tcp, &tcp, sizeof(tcp)))
		return 0;
	segment->flow.local_port = tcp.source;
	segment->flow.remote_port = tcp.destination;
	segment->seq = bpf_ntohl(tcp.seq);
	segment->ack = bpf_ntohl(tcp.ack);
	segment->window = tcp.window;
	segment->flags = tcp.flags;
	headers = segment->tcp + (tcp.offset >> 4) * 4;
	segment->options = segment->tcp + sizeof(tcp);
	segment->payload = skb->len > headers ? skb->len - headers : 0;
	return !is_signed(skb, segment->options, headers);
}

#endif
