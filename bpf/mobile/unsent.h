/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unsent.h - TCP must know that a segment given to a device without carrier was not sent.
 *
 * The kernel gives such a device a queue that swallows everything (noop_qdisc) and tells
 * TCP that the segment has left. A timer then runs for data written during an outage and
 * backs off, and RFC 6069 takes back only the back-offs. Here such segments are refused. New
 * data stay in the write queue, from which a push sends them once there is a link (push.h).
 * Lost segments stay lost and unsent, so that the first ACK releases them. Timers back off as
 * before.
 *
 * Only segments of established connections are refused: if a SYN-ACK cannot be sent, the
 * kernel forgets the connection (reqsk_timer_handler). Sockets with TCP_USER_TIMEOUT are
 * exempt: data that wait in the queue run the timer of a closed window (probe0). The kernel
 * keeps that timer's start (icsk_probes_tstamp) even if they leave otherwise, and counts it
 * against the option at the next closed window.
 *
 * Source: noop_enqueue (net/sched/sch_generic.c), tcp_write_timeout (net/ipv4/tcp_timer.c).
 */
#ifndef SEGUE_MOBILE_UNSENT_H
#define SEGUE_MOBILE_UNSENT_H

#include "state.h"

#define REFUSED 0 /* -EPERM: an error, not congestion, so that no window is cut */
#define SENT 1

/* Raw sockets may be of this protocol, too, and would tell their programs. */
static __always_inline u32 may_be_refused(struct bpf_sock *sk)
{
	struct tcp_sock *tp;

	if (sk->type != SOCK_STREAM || sk->protocol != IPPROTO_TCP || !may_upload(sk->state))
		return 0;
	tp = bpf_skc_to_tcp_sock(sk);
	return tp && !tp->inet_conn.icsk_user_timeout;
}

SEC("cgroup_skb/egress")
int mobile_egress(struct __sk_buff *context)
{
	const u64 without = 1ull << bpf_core_enum_value(enum netdev_state_t, __LINK_STATE_NOCARRIER);
	struct bpf_sock *sk = context->sk;
	struct bpf_sock *full;
	struct sk_buff *skb;

	full = sk ? bpf_sk_fullsock(sk) : 0;
	if (!full || !may_be_refused(full))
		return SENT;
	skb = bpf_cast_to_kern_ctx(context);
	return skb->dev->state & without ? REFUSED : SENT;
}

#endif
