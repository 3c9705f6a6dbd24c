/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cubic.h - the congestion control around cubic, whose own functions do the work (kfuncs,
 * Linux 5.13).
 *
 * Source: RFC 9438, net/ipv4/tcp_cubic.c.
 */
#ifndef SEGUE_CUBIC_H
#define SEGUE_CUBIC_H

#include "events.h"

extern void cubictcp_init(struct sock *sk) __ksym __weak;
extern u32 cubictcp_recalc_ssthresh(struct sock *sk) __ksym __weak;
extern void cubictcp_cong_avoid(struct sock *sk, u32 ack, u32 acked) __ksym __weak;
extern void cubictcp_state(struct sock *sk, u8 new_state) __ksym __weak;
extern void cubictcp_cwnd_event(struct sock *sk, enum tcp_ca_event event) __ksym __weak;
extern void cubictcp_acked(struct sock *sk, const struct ack_sample *sample) __ksym __weak;
extern u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym __weak;

SEC("struct_ops")
void BPF_PROG(cubic_release, struct sock *sk)
{
	segue_on_release(sk);
}

SEC("struct_ops")
u32 BPF_PROG(cubic_ssthresh, struct sock *sk)
{
	segue_before_cut(sk);
	return cubictcp_recalc_ssthresh(sk);
}

SEC("struct_ops")
void BPF_PROG(cubic_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	cubictcp_cong_avoid(sk, ack, acked);
}

/* bictcp.last_max_cwnd (W_max), if it is where this looks for it. */
static inline u32 *segue_cubic_last_max(struct sock *sk)
{
	struct inet_connection_sock *icsk = (struct inet_connection_sock *)sk;

	if (!bpf_core_field_exists(struct bictcp, last_max_cwnd) ||
	    bpf_core_field_offset(struct bictcp, last_max_cwnd) != 4)
		return 0;
	return (u32 *)icsk->icsk_ca_priv + 1;
}

/* A cut has refuted a raise without an outage. Cubic would grow back to the raised window fast, and a
 * receiver that lies would gain. */
static inline void segue_cubic_bound_w_max(struct sock *sk, u32 before)
{
	u32 *last_max = segue_cubic_last_max(sk);

	if (last_max)
		*last_max = segue_min(*last_max, before);
}

SEC("struct_ops")
void BPF_PROG(cubic_set_state, struct sock *sk, u8 new_state)
{
	const struct segue_connection *conn = segue_connection_of(sk);
	const u32 before = segue_before_raise(conn);

	cubictcp_state(sk, new_state);
	segue_on_state(sk, new_state);
	if (before && !segue_before_raise(conn))
		segue_cubic_bound_w_max(sk, before);
}

SEC("struct_ops")
void BPF_PROG(cubic_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	cubictcp_cwnd_event(sk, event);
	segue_on_event(sk, event);
}

/*
 * Where the window is another one, cubic would grow back to the one at its last loss
 * (W_max) within a round trip. So it starts anew. Without a W_max it would grow ever
 * faster from the first moment (RFC 9438, 4.3) and run over the queue by many packets.
 * So it gets a W_max just below what the policy reckons with: the link's BDP and as
 * much again in the router's queue (algorithms.md 2.2). It comes to rest there. After a
 * refuted raise that is no more than the window before it.
 *
 * before: that window, packets; 0: no raise was refuted
 */
static inline u32 segue_cubic_w_max(u32 window, u32 before)
{
	const u32 w_max = 2 * window - window / 4;

	return before ? segue_max(window, segue_min(w_max, before)) : w_max;
}

static inline void segue_cubic_anew(struct sock *sk, u32 by_notice, u32 before)
{
	const u32 window = segue_tcp(sk)->snd_ssthresh;
	u32 *last_max = segue_cubic_last_max(sk);

	cubictcp_init(sk);
	if (by_notice && window < SEGUE_INFINITE_SSTHRESH / 2 && last_max)
		*last_max = segue_cubic_w_max(window, before);
}

SEC("struct_ops")
void BPF_PROG(cubic_init, struct sock *sk)
{
	struct segue_notice notice = {};

	cubictcp_init(sk);
	if (segue_on_init(sk, &notice) != SEGUE_AS_BEFORE)
		segue_cubic_anew(sk, 1, 0);
}

static inline void segue_cubic_on_ack(struct sock *sk, enum segue_ack_call call)
{
	struct segue_connection *conn = segue_to_answer(sk, call);
	const u32 before = segue_before_raise(conn);
	struct segue_notice notice = {};
	enum segue_outcome anew;

	if (!conn)
		return;
	anew = segue_on_ack(sk, conn, &notice);
	if (anew)
		segue_cubic_anew(sk, anew >= SEGUE_BY_NOTICE, anew == SEGUE_RETREATED ? before : 0);
}

SEC("struct_ops")
void BPF_PROG(cubic_in_ack_event, struct sock *sk, u32 flags)
{
	segue_cubic_on_ack(sk, SEGUE_IN_ACK_EVENT);
}

SEC("struct_ops")
void BPF_PROG(cubic_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct tcp_sock *tp = segue_tcp(sk);
	const u32 ssthresh = tp->snd_ssthresh;

	if (segue_slow_start_is_hidden(sk)) {
		tp->snd_ssthresh = 0; /* it changes no ssthresh then */
		cubictcp_acked(sk, sample);
		tp->snd_ssthresh = ssthresh;
	} else {
		cubictcp_acked(sk, sample);
	}
	segue_on_sample(sk, sample->rtt_us);
	segue_cubic_on_ack(sk, SEGUE_PKTS_ACKED);
}

SEC("struct_ops")
u32 BPF_PROG(cubic_min_tso_segs, struct sock *sk)
{
	u32 before;
	const enum segue_sending sending = segue_before_sending(sk, &before);

	if (sending == SEGUE_CLAIM_LASTS)
		return 1;
	/* Its curve began with the claim, in which the window stood still. A cut begins another by itself. */
	if (sending == SEGUE_CLAIM_OVER)
		segue_cubic_anew(sk, 1, before);
	return BPF_CORE_READ(sk, __sk_common.skc_net.net, ipv4.sysctl_tcp_min_tso_segs);
}

SEC("struct_ops")
u32 BPF_PROG(cubic_undo_cwnd, struct sock *sk)
{
	return segue_on_undo(sk, tcp_reno_undo_cwnd(sk));
}

SEC(".struct_ops.link")
struct tcp_congestion_ops around_cubic = {
	.init = (void *)cubic_init,
	.release = (void *)cubic_release,
	.ssthresh = (void *)cubic_ssthresh,
	.cong_avoid = (void *)cubic_cong_avoid,
	.set_state = (void *)cubic_set_state,
	.cwnd_event = (void *)cubic_cwnd_event,
	.in_ack_event = (void *)cubic_in_ack_event,
	.pkts_acked = (void *)cubic_pkts_acked,
	.undo_cwnd = (void *)cubic_undo_cwnd,
	.min_tso_segs = (void *)cubic_min_tso_segs, /* with a claim alone */
	.name = "segue",
};

#endif
