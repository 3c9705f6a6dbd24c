/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * freeze.h - Freeze-TCP (Goff and others 2000; algorithms.md, 4.5) at the receiver: while
 * the link is about to go, every outgoing ACK tells a window of zero.
 *
 * The peer enters persist mode and keeps cwnd, ssthresh and SRTT. The socket knows nothing
 * of it: its next ACK after the freeze tells the true window again.
 */
#ifndef SEGUE_FREEZE_H
#define SEGUE_FREEZE_H

#include "segment.h"
#include "state.h"

static __always_inline void close_window(struct __sk_buff *skb, const struct segment *segment,
					 const struct segue_receiver_orders *orders)
{
	const u32 at = segment->tcp + __builtin_offsetof(struct tcp_header, window);
	const u32 sum = segment->tcp + __builtin_offsetof(struct tcp_header, checksum);
	const u16 closed = 0;

	if (!(segment->flags & TCP_FLAG_ACK) || segment->flags & (TCP_FLAG_SYN | TCP_FLAG_RST))
		return;
	if (bpf_ktime_get_boot_ns() >= orders->closed_until || segment->window == closed)
		return;
	/* A checksum that the device or the kernel has still to compute is left to them
	 * (inet_proto_csum_replace4): the window is no part of the pseudo-header. */
	if (bpf_l4_csum_replace(skb, sum, segment->window, closed, sizeof(closed)) ||
	    bpf_skb_store_bytes(skb, at, &closed, sizeof(closed), 0))
		return;
	count(SEGUE_COUNT_CLOSED);
}

#endif
