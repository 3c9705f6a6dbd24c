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
#include "window_field.h"

static __always_inline void close_window(struct __sk_buff *skb, const struct segment *segment,
					 const struct segue_receiver_orders *orders)
{
	if (!(segment->flags & TCP_FLAG_ACK) || segment->flags & (TCP_FLAG_SYN | TCP_FLAG_RST))
		return;
	if (bpf_ktime_get_boot_ns() >= orders->closed_until || !segment->window)
		return;
	if (tell_window(skb, segment, 0))
		count(SEGUE_COUNT_CLOSED);
}

#endif
