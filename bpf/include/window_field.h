/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * window_field.h - writes another window into a TCP segment that leaves. The socket knows nothing
 * of it: its next segment tells the true window again.
 *
 * Source: RFC 9293, 3.1; RFC 1624.
 */
#ifndef SEGUE_WINDOW_FIELD_H
#define SEGUE_WINDOW_FIELD_H

#include "segment.h"

/* `window`: network byte order. 1: it is written. */
static __always_inline u32 tell_window(struct __sk_buff *skb, const struct segment *segment, u16 window)
{
	const u32 at = segment->tcp + __builtin_offsetof(struct tcp_header, window);
	const u32 sum = segment->tcp + __builtin_offsetof(struct tcp_header, checksum);

	/* A checksum that the device or the kernel has still to compute is left to them
	 * (inet_proto_csum_replace4): the window is no part of the pseudo-header. */
	return !bpf_l4_csum_replace(skb, sum, segment->window, window, sizeof(window)) &&
	       !bpf_skb_store_bytes(skb, at, &window, sizeof(window), 0);
}

#endif
