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
 *
 * Only segments of connections that exist: of a SYN-ACK that cannot be sent the kernel
 * forgets the connection (reqsk_timer_handler). And not those of sockets with
 * TCP_USER_TIMEOUT: data that wait in the queue run the timer of a closed window (probe0),
 * whose beginning (icsk_probes_tstamp) the kernel does not forget when they leave otherwise,
 * and holds against that option at the next closed window.
 */
#ifndef SEGUE_CARRIER_H
#define SEGUE_CARRIER_H

#include "mobile_state.h"

extern void *bpf_cast_to_kern_ctx(void *context) __ksym;

#define REFUSED 0 /* -EPERM: an error, not congestion, so that no window is cut */
#define SENT 1

/* Raw sockets may be of this protocol, too, and would tell their programs. */
static __always_inline u32 may_be_refused(struct bpf_sock___mobile *sk)
{
	struct tcp_sock___mobile *tp;

	if (sk->type != SOCK_STREAM || sk->protocol != IPPROTO_TCP || !may_upload(sk->state))
		return 0;
	tp = (struct tcp_sock___mobile *)bpf_skc_to_tcp_sock(sk);
	return tp && !tp->inet_conn.icsk_user_timeout;
}

SEC("cgroup_skb/egress")
int mobile_egress(struct __sk_buff___mobile *context)
{
	const u64 without = 1ull << bpf_core_enum_value(enum netdev_state_t, __LINK_STATE_NOCARRIER);
	struct bpf_sock *sk = context->sk;
	struct bpf_sock___mobile *full;
	struct sk_buff___mobile *skb;

	full = sk ? (struct bpf_sock___mobile *)bpf_sk_fullsock(sk) : 0;
	if (!full || !may_be_refused(full))
		return SENT;
	skb = bpf_cast_to_kern_ctx(context);
	return skb->dev->state & without ? REFUSED : SENT;
}

#endif
