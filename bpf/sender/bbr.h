/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bbr.h - the congestion control around BBR, whose own functions do the work (kfuncs;
 * cong_control as of Linux 6.10).
 *
 * At a notice bbr_init restarts its filters: bandwidth, round trips, startup. It leaves cwnd
 * alone and takes the lowest RTT of the connection's last five minutes for the path's. The
 * old link's RTT says nothing about the new link, so it is removed, and the first sample
 * counts. The pacing rate, which only grows in startup, starts at this flow's share of the
 * rate in the notice. After a failed trial it is no more than what arrived: BBR itself would
 * keep the rate of the notice. After a refuted raise without an outage the lowest RTT counts
 * again, which a receiver that lies could otherwise have taken in a standing queue.
 *
 * Source: net/ipv4/tcp_bbr.c.
 */
#ifndef SEGUE_BBR_H
#define SEGUE_BBR_H

#include "events.h"

extern void bbr_init(struct sock *sk) __ksym __weak;
extern u32 bbr_ssthresh(struct sock *sk) __ksym __weak;
extern void bbr_main(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs) __ksym __weak;
extern void bbr_set_state(struct sock *sk, u8 new_state) __ksym __weak;
extern void bbr_cwnd_event(struct sock *sk, enum tcp_ca_event event) __ksym __weak;
extern u32 bbr_undo_cwnd(struct sock *sk) __ksym __weak;
extern u32 bbr_sndbuf_expand(struct sock *sk) __ksym __weak;
extern u32 bbr_min_tso_segs(struct sock *sk) __ksym __weak;

SEC("struct_ops")
void BPF_PROG(bbr_around_release, struct sock *sk)
{
	segue_on_release(sk);
}

SEC("struct_ops")
u32 BPF_PROG(bbr_around_ssthresh, struct sock *sk)
{
	segue_before_cut(sk);
	return bbr_ssthresh(sk);
}

SEC("struct_ops")
void BPF_PROG(bbr_around_cong_control, struct sock *sk, u32 ack, int flag,
	      const struct rate_sample *rs)
{
	bbr_main(sk, ack, flag, rs);
}

/* bbr.min_rtt_us, if it is where this looks for it. */
static inline u32 *segue_bbr_min_rtt_us(struct sock *sk)
{
	struct inet_connection_sock *icsk = (struct inet_connection_sock *)sk;

	if (!bpf_core_field_exists(struct bbr, min_rtt_us) || bpf_core_field_offset(struct bbr, min_rtt_us))
		return 0;
	return (u32 *)icsk->icsk_ca_priv;
}

static inline void segue_bbr_takes_back_min_rtt(struct sock *sk)
{
	const struct segue_connection *conn = segue_connection_of(sk);
	u32 *min_rtt_us = segue_bbr_min_rtt_us(sk);

	if (conn && conn->state.raise_refuted && min_rtt_us)
		*min_rtt_us = segue_min(*min_rtt_us, segue_tcp(sk)->rtt_min.s[0].v);
}

/* A claim is over. BBR has measured the path all the time, and the flow has filled its part. So startup, which would
 * send at almost three times that rate, is over, too (bbr_check_drain). */
static inline void segue_bbr_ends_startup(struct sock *sk)
{
	struct inet_connection_sock *icsk = (struct inet_connection_sock *)sk;
	const struct bbr *bbr = (void *)icsk->icsk_ca_priv;

	segue_bbr_takes_back_min_rtt(sk);
	if (!bpf_core_field_exists(bbr->full_bw_reached))
		return;
	((u32 *)icsk->icsk_ca_priv)[bpf_core_field_offset(bbr->full_bw_reached) / 4] |=
		1u << (63 - __CORE_RELO(bbr, full_bw_reached, LSHIFT_U64));
}

SEC("struct_ops")
void BPF_PROG(bbr_around_set_state, struct sock *sk, u8 new_state)
{
	const struct segue_connection *conn = segue_connection_of(sk);
	const u32 claimed = conn && conn->state.claim, raised = segue_before_raise(conn);

	bbr_set_state(sk, new_state);
	segue_on_state(sk, new_state);
	if (claimed && !conn->state.claim)
		segue_bbr_ends_startup(sk);
	else if (raised && !segue_before_raise(conn))
		segue_bbr_takes_back_min_rtt(sk);
}

SEC("struct_ops")
void BPF_PROG(bbr_around_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	bbr_cwnd_event(sk, event);
	segue_on_event(sk, event);
}

static inline void segue_bbr_anew(struct sock *sk, const struct segue_notice *notice)
{
	const u32 flows = segue_max(1, notice->flows);
	u32 *min_rtt_us;

	bbr_init(sk);
	min_rtt_us = segue_bbr_min_rtt_us(sk);
	if (min_rtt_us)
		*min_rtt_us = ~0u;
	/* bytes a second */
	sk->sk_pacing_rate = (u64)notice->new_link.rate_kbps * 125 / flows;
}

SEC("struct_ops")
void BPF_PROG(bbr_around_init, struct sock *sk)
{
	struct segue_notice notice = {};

	bbr_init(sk);
	if (segue_on_init(sk, &notice) == SEGUE_BY_NOTICE)
		segue_bbr_anew(sk, &notice);
}

/* The window that the trial has left, once a round trip; bytes a second. */
static inline void segue_bbr_retreat(struct sock *sk, const struct segue_connection *conn)
{
	const struct tcp_sock *tp = segue_tcp(sk);
	const u32 left = conn->state.raise_refuted ? conn->guard.packets : conn->proven;
	const u64 rate = (u64)left * tp->mss_cache * 1000000 / segue_max(1, tp->srtt_us >> 3);

	if (sk->sk_pacing_rate > rate)
		sk->sk_pacing_rate = rate;
	segue_bbr_takes_back_min_rtt(sk);
}

static inline void segue_bbr_on_ack(struct sock *sk, enum segue_ack_call call)
{
	struct segue_connection *conn = segue_to_answer(sk, call);
	struct segue_notice notice = {};
	enum segue_outcome anew;

	if (!conn)
		return;
	anew = segue_on_ack(sk, conn, &notice);
	if (anew == SEGUE_BY_NOTICE)
		segue_bbr_anew(sk, &notice);
	else if (anew == SEGUE_RETREATED)
		segue_bbr_retreat(sk, conn);
}

SEC("struct_ops")
void BPF_PROG(bbr_around_in_ack_event, struct sock *sk, u32 flags)
{
	segue_bbr_on_ack(sk, SEGUE_IN_ACK_EVENT);
}

SEC("struct_ops")
void BPF_PROG(bbr_around_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	segue_on_sample(sk, sample->rtt_us);
	segue_bbr_on_ack(sk, SEGUE_PKTS_ACKED);
}

SEC("struct_ops")
u32 BPF_PROG(bbr_around_undo_cwnd, struct sock *sk)
{
	return segue_on_undo(sk, bbr_undo_cwnd(sk));
}

SEC("struct_ops")
u32 BPF_PROG(bbr_around_sndbuf_expand, struct sock *sk)
{
	return bbr_sndbuf_expand(sk);
}

SEC("struct_ops")
u32 BPF_PROG(bbr_around_min_tso_segs, struct sock *sk)
{
	u32 before;
	const enum segue_sending sending = segue_before_sending(sk, &before);

	if (sending == SEGUE_CLAIM_LASTS)
		return 1;
	if (sending == SEGUE_CLAIM_OVER)
		segue_bbr_ends_startup(sk);
	return bbr_min_tso_segs(sk);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops around_bbr = {
	.init = (void *)bbr_around_init,
	.release = (void *)bbr_around_release,
	.ssthresh = (void *)bbr_around_ssthresh,
	.cong_control = (void *)bbr_around_cong_control,
	.set_state = (void *)bbr_around_set_state,
	.cwnd_event = (void *)bbr_around_cwnd_event,
	.in_ack_event = (void *)bbr_around_in_ack_event,
	.pkts_acked = (void *)bbr_around_pkts_acked,
	.undo_cwnd = (void *)bbr_around_undo_cwnd,
	.sndbuf_expand = (void *)bbr_around_sndbuf_expand,
	.min_tso_segs = (void *)bbr_around_min_tso_segs,
	.name = "segue",
};

#endif
