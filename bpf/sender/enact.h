/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * enact.h - Linux does what a policy asks for.
 *
 * A congestion control of eBPF may write cwnd, ssthresh and the pacing rate, and
 * nothing of timers and RTT variables. So:
 *
 *   SET_CWND          snd_cwnd, as far as the peer has had room for; in fast recovery PRR
 *                     (RFC 6937) leads cwnd to ssthresh, and only ssthresh is set
 *   SET_SSTHRESH      snd_ssthresh
 *   RETRANSMIT_HEAD   snd_cwnd > packets in flight: in RTO recovery the kernel then
 *                     resends, on the very ACK, the next segments that it holds for
 *                     lost. The head itself, already resent, follows one RTT later
 *                     by RACK; or at once by RFC 6069, for which an ICMP is asked.
 *                     Mostly the notice's own ACK also acknowledges what had arrived
 *                     before the outage. By its time stamp the kernel then takes the
 *                     timeouts for spurious, undoes them, and counts everything as
 *                     under way again. After an outage that is wrong. The undo is
 *                     answered with a cwnd that is larger by what the policy has
 *                     granted. New segments then leave, and their SACKs show the holes
 *                     (RACK)
 *   KEEP_WINDOW       ssthresh as before the cut: PRR ends there
 *   KEEP_CWND         the same; PRR knows no cwnd of its own
 *   KEEP_SSTHRESH     ssthresh as before the timeout's cut
 *   CLEAR_BACKOFF     nothing: the first valid RTT sample clears it; the ICMP does
 *   REARM_TIMER       nothing: the kernel restarts its timer as the head is acked
 *   EXTEND_TIMER      nothing: F-RTO and time stamps undo a spurious timeout
 *   REINIT_RTT        nothing: SRTT moves by 1/8 of the difference with every ACK
 *   SET_MIN_RTO       nothing: TCP_BPF_RTO_MIN cannot go above 200 ms; `rto_min` of
 *                     a route can
 *   IGNORE_SAMPLE     nothing
 *   SET_DUPTHRESH     nothing: RACK (RFC 8985) waits a part of an RTT, and widens
 *   HOLD_HOLES        it as DSACKs come in
 *   RESUME_RECOVERY
 *   SEND_NEW          nothing: PRR decides what a duplicate ACK lets out
 *   CLAIM             cwnd and pacing rate, before packets leave (claim.h)
 *
 * Source: docs/internals/kernel.md; net/ipv4/tcp_input.c.
 */
#ifndef SEGUE_ENACT_H
#define SEGUE_ENACT_H

#include "addr.h"
#include "claim.h"
#include "grant.h"
#include "icmp.h"
#include "state.h"
#include "units.h"

static inline struct tcp_sock *segue_tcp(struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

static inline u32 segue_ca_state(const struct tcp_sock *tp)
{
	return BPF_CORE_READ_BITFIELD(&tp->inet_conn, icsk_ca_state);
}

static inline u32 segue_in_flight(const struct tcp_sock *tp)
{
	return tp->packets_out - (tp->sacked_out + tp->lost_out) + tp->retrans_out;
}

/* cwnd: as the event found it. */
static inline void segue_view(const struct tcp_sock *tp, const struct segue_connection *conn,
			      u32 state, u32 cwnd, struct segue_sender *view)
{
	const u32 timeouts = tp->inet_conn.icsk_retransmits;

	view->snd_una = tp->snd_una;
	view->snd_max = tp->snd_nxt;
	view->flight = tp->packets_out;
	view->cwnd = segue_windows(cwnd);
	view->ssthresh = segue_windows(tp->snd_ssthresh);
	/* icsk_rto is backed off; this is what it is computed from */
	view->rto_us = tp->srtt_us ? (tp->srtt_us >> 3) + tp->rttvar_us : 1000000;
	view->timeouts_since_ack = timeouts;
	view->ssthresh_saved = timeouts ? segue_windows(conn->reduction.ssthresh_saved) : 0;
	view->srtt_before_us = timeouts ? conn->reduction.srtt_before_us : 0;
	view->in_fast_recovery = state == TCP_CA_Recovery;
	view->in_rto_recovery = state == TCP_CA_Loss;
	view->notified_lately = 0;
	view->pad = 0;
}

/* At least one packet, and no more than the socket may have. */
static inline u32 segue_packets(const struct tcp_sock *tp, u32 window)
{
	return segue_min(segue_max(1, segue_whole_packets(window)), tp->snd_cwnd_clamp);
}

static inline u32 segue_at_once(const struct tcp_sock *tp, u32 window)
{
	const u32 mss = tp->mss_cache ? tp->mss_cache : 536;

	return segue_burst_window(segue_packets(tp, window), tp->max_window / mss + 1);
}

/* For a few round trips an undo gives back no more than this. */
static inline void segue_guard(struct segue_connection *conn, const struct tcp_sock *tp, u32 packets)
{
	conn->guard.packets = packets;
	conn->guard.round_seq = tp->snd_nxt;
	conn->state.guard_rounds = SEGUE_GUARD_ROUNDS;
}

static inline void segue_guard_on_ack(struct segue_connection *conn, struct tcp_sock *tp)
{
	/* The kernel's undo also gives back ssthresh, and asks nobody. */
	if (tp->snd_ssthresh > conn->guard.packets && segue_ca_state(tp) < TCP_CA_Recovery)
		tp->snd_ssthresh = conn->guard.packets;
	if (!segue_seq_before(tp->snd_una, conn->guard.round_seq)) {
		conn->state.guard_rounds--;
		conn->guard.round_seq = tp->snd_nxt;
	}
}

/*
 * The rate of a notice may be far too small. If twice as much arrives, slow start probes the
 * path until HyStart or a loss ends it. This waits until the guard is over, because packets
 * sent before crossed the old link.
 */
static inline void segue_check_rate(struct segue_connection *conn, struct tcp_sock *tp)
{
	if (segue_now_ms() - conn->accepted_ms > SEGUE_RATE_CHECK_MS) {
		conn->notified_kbps = 0;
		return;
	}
	if (segue_ca_state(tp) >= TCP_CA_Recovery)
		return;
	if (segue_rate_check_fails(tp->rate_delivered, tp->mss_cache, tp->rate_interval_us,
			       conn->notified_kbps)) {
		conn->notified_kbps = 0;
		tp->snd_ssthresh = SEGUE_INFINITE_SSTHRESH;
	}
}

/* RFC 6069: a host unreachable that quotes the head of a flow that backs off takes one
 * back-off back. The last one finds the timer long expired and resends. */
static inline void segue_request_icmp(struct sock *sk, const struct tcp_sock *tp,
				  struct segue_connection *conn)
{
	const struct sock_common *common = &sk->__sk_common;
	struct segue_icmp_request *request;
	const u32 backoff = tp->inet_conn.icsk_backoff;

	if (!want_icmp || !backoff || !segue_takes_icmp(tp))
		return;
	request = bpf_ringbuf_reserve(&icmp_requests, sizeof(*request), 0);
	if (!request)
		return;
	__builtin_memset(request, 0, sizeof(*request));
	segue_local_address(common, request->local);
	segue_remote_address(common, request->remote);
	request->local_port = common->skc_num;
	request->remote_port = bpf_ntohs(common->skc_dport);
	request->snd_una = tp->snd_una;
	request->copies = backoff + 1;
	bpf_ringbuf_submit(request, 0);
	conn->state.icmp_requested = 1;
}

/* The kernel has found a cut to be wrong and asks for the window before it. */
static inline u32 segue_bound_undo(const struct segue_connection *conn, const struct tcp_sock *tp,
				   u32 cwnd)
{
	if (!conn)
		return cwnd;
	if (conn->resume.packets && conn->resume.stamp == segue_segment_stamp(tp))
		return segue_in_flight(tp) + conn->resume.packets;
	if (conn->state.guard_rounds)
		return segue_undone_window(cwnd, conn->guard.packets, tp->snd_cwnd);
	return cwnd;
}

/* Packets leave beyond the window to ask what the outage has lost. */
static inline void segue_send_loss_probe(struct tcp_sock *tp, struct segue_connection *conn)
{
	const u32 window = segue_loss_probe_window(tp->snd_cwnd, segue_in_flight(tp));

	if (window == tp->snd_cwnd)
		return;
	conn->state.loss_probe = 1;
	conn->state.loss_awaited = 1;
	/* The timer may expire before the answer comes: F-RTO then takes its marks back, and RACK
	 * sets them. */
	segue_allow_losses(conn, tp->packets_out);
	tp->snd_cwnd = segue_min(window, tp->snd_cwnd_clamp);
}

/* They have left. */
static inline void segue_end_loss_probe(struct tcp_sock *tp, struct segue_connection *conn)
{
	conn->state.loss_probe = 0;
	tp->snd_cwnd = segue_window_after_loss_probe(
		tp->snd_cwnd, conn->state.guard_rounds ? conn->guard.packets : 0);
}

/* 1: the window is another one, and the congestion control must start anew. */
static inline u32 segue_enact(struct sock *sk, struct segue_connection *conn, u32 disconnected,
			      const struct segue_action *act)
{
	struct tcp_sock *tp = segue_tcp(sk);
	const u32 state = segue_ca_state(tp);
	u32 anew = 0;

	if (act->what & SEGUE_SET_SSTHRESH)
		tp->snd_ssthresh = segue_max(2, segue_packets(tp, act->ssthresh));
	if (act->what & SEGUE_SET_CWND)
		anew = 1;
	if (anew && state != TCP_CA_Recovery) {
		tp->snd_cwnd = segue_at_once(tp, act->cwnd);
		tp->snd_cwnd_cnt = 0;
		tp->snd_cwnd_stamp = (u32)bpf_jiffies64();
	}
	if (act->what & SEGUE_RETRANSMIT_HEAD) {
		tp->snd_cwnd = segue_max(tp->snd_cwnd, segue_in_flight(tp) + 1);
		if (disconnected) {
			conn->resume.packets = tp->snd_cwnd;
			conn->resume.stamp = segue_segment_stamp(tp);
		}
		/* where this ACK advances snd_una, raising cwnd is all it takes */
		if (tp->inet_conn.icsk_retransmits)
			segue_request_icmp(sk, tp, conn);
	}
	if (disconnected && scheme != SEGUE_SCHEME_unaware && state < TCP_CA_Recovery &&
	    !(act->what & (SEGUE_RETRANSMIT_HEAD | SEGUE_CLAIM)))
		segue_send_loss_probe(tp, conn);
	if (act->what & SEGUE_CLAIM)
		segue_begin_claim(sk, conn, 0);
	if (act->what & SEGUE_SET_CWND && act->what & SEGUE_SET_SSTHRESH)
		segue_guard(conn, tp, tp->snd_ssthresh);
	return anew;
}

#endif
