/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * claim.h - as long as a claim lasts, the policy says before packets leave how many may be out,
 * and how fast they leave.
 *
 * In recovery PRR sets cwnd with each ACK, and around cubic each ACK sets the pacing rate
 * (tcp_cong_control, tcp_update_pacing_rate). Both come before packets leave. The kernel then
 * asks the congestion control for min_tso_segs, before it looks at cwnd and pace
 * (tcp_write_xmit, tcp_xmit_retransmit_queue). So the claim is enacted there.
 *
 * A timer may expire because the new path is longer than the old one. Until an ACK shows
 * whether it was right, the kernel sends the head alone.
 *
 * Where no fq paces, TCP does by itself (SK_PACING_NEEDED), until the claim is over.
 *
 * Before an expected handoff the congestion control keeps its window, and its pace where that is
 * slower.
 *
 * Source: docs/internals/kernel.md; net/ipv4/tcp_output.c.
 */
#ifndef SEGUE_SENDER_CLAIM_H
#define SEGUE_SENDER_CLAIM_H

#include "grant.h"
#include "group.h"
#include "state.h"
#include "units.h"

/* expects: the handoff is expected, and has not come */
static inline void segue_begin_claim(struct sock *sk, struct segue_connection *conn, u32 expects)
{
	conn->state.claim = 1;
	conn->state.expects = expects & 1;
	if (sk->sk_pacing_status == SK_PACING_NONE) {
		sk->sk_pacing_status = SK_PACING_NEEDED;
		conn->state.paces = 1;
	}
}

/* more: packets that may be out in addition to the granted window */
static inline void segue_end_claim(struct sock *sk, struct segue_connection *conn, u32 competing,
				   u32 more)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;

	conn->state.claim = 0;
	segue_leave_group(conn);
	if (!conn->state.expects) {
		tp->snd_cwnd = segue_window_after_claim(tp->snd_cwnd, conn->guard.packets, competing, more);
		tp->snd_cwnd_cnt = 0;
		tp->snd_cwnd_stamp = (u32)bpf_jiffies64();
	}
	conn->state.expects = 0;
	if (competing)
		tp->snd_ssthresh = segue_min(tp->snd_ssthresh, segue_max(2, tp->snd_cwnd));
	if (conn->state.paces && sk->sk_pacing_status == SK_PACING_NEEDED)
		sk->sk_pacing_status = SK_PACING_NONE;
	conn->state.paces = 0;
}

static inline void segue_view_out(const struct tcp_sock *tp, const struct segue_connection *conn,
				  struct segue_out *out)
{
	const u32 age_ms = (u32)(tp->tcp_mstamp - tp->rack.mstamp) / 1000;
	u32 i;

	out->snd_una = tp->snd_una;
	out->unit = tp->mss_cache;
	out->marked = tp->sacked_out + tp->lost_out;
	out->lost = tp->lost_out;
	out->snd_max = tp->snd_nxt;
	for (i = 0; i < SEGUE_SACKS; i++) {
		out->sacks[i].start = tp->recv_sack_cache[i].start_seq;
		out->sacks[i].end = tp->recv_sack_cache[i].end_seq;
	}
	out->granted = conn->guard.packets;
	out->elapsed_ms = segue_now_ms() - conn->accepted_ms;
	out->rtt_us = age_ms < out->elapsed_ms ? tp->rack.rtt_us : 0;
	out->sent_us = (u32)tp->rack.mstamp;
	out->now_us = (u32)tp->tcp_mstamp;
	out->sent = tp->data_segs_out;
}

static inline void segue_met_competing_traffic(struct tcp_sock *tp, struct segue_connection *conn);

/* Packets are about to leave. */
enum segue_sending {
	SEGUE_NO_CLAIM = 0,
	SEGUE_CLAIM_LASTS, /* each packet leaves by itself; the same before an expected handoff */
	SEGUE_CLAIM_OVER, /* since now: the congestion control must start again */
};

/* before: of a raise that this refutes, the window that it had found; else 0. */
static inline enum segue_sending segue_before_sending(struct sock *sk, u32 *before)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct segue_claim claim = {};
	struct segue_connection *conn;
	struct segue_out out;
	u32 window, expects;
	u64 rate;

	*before = 0;
	if (!SEGUE_ANSWERS(scheme, claim))
		return SEGUE_NO_CLAIM;
	conn = segue_connection_of(sk);
	if (!conn || !conn->state.claim)
		return SEGUE_NO_CLAIM;
	expects = conn->state.expects;
	segue_view_out(tp, conn, &out);
	if (!expects)
		segue_meet_group(tp, conn, &out);
	if (!segue_claim_lasts(scheme, &conn->flow, &out, &claim)) {
		segue_end_claim(sk, conn, claim.competing_traffic, claim.extra_packets);
		if (claim.competing_traffic) {
			*before = segue_before_raise(conn);
			segue_met_competing_traffic(tp, conn);
		}
		return expects ? SEGUE_NO_CLAIM : SEGUE_CLAIM_OVER;
	}
	rate = segue_payload_rate(claim.kbps, tp->mss_cache);
	if (expects) {
		sk->sk_pacing_rate = rate < sk->sk_pacing_rate ? rate : sk->sk_pacing_rate;
		return SEGUE_CLAIM_LASTS;
	}
	segue_tell_group(conn, claim.behind, claim.weight);
	window = segue_claim_window(conn->guard.packets) + claim.extra_packets;
	window = segue_max(1, window - segue_min(window, claim.withheld_packets));
	if (!conn->state.expired)
		tp->snd_cwnd = segue_min(window, tp->snd_cwnd_clamp);
	sk->sk_pacing_rate = rate;
	return SEGUE_CLAIM_LASTS;
}

#endif
