/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * carrier.h - a segment that is handed to a device without carrier has not been sent, and
 * TCP has to know it.
 *
 * The kernel gives such a device a queue that swallows everything (noop_qdisc) and tells
 * TCP that the segment has left: for what is written during an outage a timer runs, which
 * backs off, and RFC 6069 takes back no more than that. Refused here, new data stay in the
 * write queue, from which a push sends them when there is a link again (push.h); lost
 * segments are lost and not sent again, so that the first ACK lets them out. Timers back
 * off as before.
 */
#ifndef SEGUE_CARRIER_H
#define SEGUE_CARRIER_H

#include "kernel_mobile.h"

extern void *bpf_cast_to_kern_ctx(void *context) __ksym;

#define REFUSED 0 /* -EPERM: an error, not congestion, so that no window is cut */
#define SENT 1

SEC("cgroup_skb/egress")
int mobile_egress(struct __sk_buff___mobile *context)
{
	const u64 without = 1ull << bpf_core_enum_value(enum netdev_state_t, __LINK_STATE_NOCARRIER);
	struct bpf_sock *sk = context->sk;
	struct bpf_sock___mobile *full;
	struct sk_buff___mobile *skb;

	full = sk ? (struct bpf_sock___mobile *)bpf_sk_fullsock(sk) : 0;
	/* other protocols would tell their programs */
	if (!full || full->protocol != IPPROTO_TCP)
		return SENT;
	skb = bpf_cast_to_kern_ctx(context);
	return skb->dev->state & without ? REFUSED : SENT;
}

#endif
