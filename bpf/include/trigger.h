/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trigger.h - makes a socket send ACKs at once. They are the kernel's own, with the right time
 * stamps, window and SACK blocks.
 *
 * A program that iterates over the sockets cannot send; only a congestion control can
 * (bpf_tcp_send_ack). So the socket gets for a moment one whose init sends.
 *
 * Source: net/ipv4/bpf_tcp_ca.c.
 */
#ifndef SEGUE_TRIGGER_H
#define SEGUE_TRIGGER_H

#include "kernel.h"

#define CA_NAME_LENGTH 16

/* The owner writes a name of its own here, the same as into its congestion control. */
const volatile char trigger_name[CA_NAME_LENGTH] = "segue_trigger";

extern u32 tcp_reno_ssthresh(struct sock *sk) __ksym;
extern void tcp_reno_cong_avoid(struct sock *sk, u32 ack, u32 acked) __ksym;
extern u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym;

/* A socket has this one only while it is locked for the trigger; should one be stuck with
 * it (TRIGGER_STUCK), it goes on as NewReno. */
SEC("struct_ops")
u32 BPF_PROG(trigger_ssthresh, struct sock *sk)
{
	return tcp_reno_ssthresh(sk);
}

SEC("struct_ops")
void BPF_PROG(trigger_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	tcp_reno_cong_avoid(sk, ack, acked);
}

SEC("struct_ops")
u32 BPF_PROG(trigger_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

/* Whether the socket can be given back the congestion control that it has, into `name`.
 * One of eBPF may be gone while sockets still use it: only what can be set now can be set
 * again. To set what is set is nothing. */
static __always_inline u32 can_be_triggered(void *tp, char *name)
{
	return !bpf_getsockopt(tp, SOL_TCP, TCP_CONGESTION, name, CA_NAME_LENGTH) &&
	       !bpf_setsockopt(tp, SOL_TCP, TCP_CONGESTION, name, CA_NAME_LENGTH);
}

enum {
	TRIGGER_DONE,
	TRIGGER_REFUSED,
	TRIGGER_STUCK, /* the socket's own congestion control has vanished in that moment */
};

/* Has the socket, which is locked, send what init sends. */
static __always_inline u32 trigger_once(void *tp, char *name)
{
	char own[CA_NAME_LENGTH];

	for (u32 i = 0; i < sizeof(own); i++)
		own[i] = trigger_name[i];
	if (bpf_setsockopt(tp, SOL_TCP, TCP_CONGESTION, own, sizeof(own)))
		return TRIGGER_REFUSED;
	return bpf_setsockopt(tp, SOL_TCP, TCP_CONGESTION, name, CA_NAME_LENGTH) ? TRIGGER_STUCK
										: TRIGGER_DONE;
}

#endif
