/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rto_max.h - the length of an outage is no round trip.
 *
 * The first ACK after an outage mostly tells of packets that had arrived before it. That makes a
 * sample as long as the outage, and with it an RTO of many seconds. A packet that then waits for
 * the timer stalls the flow. Above all this is a head that was lost before the outage. The
 * kernel's undo leaves it marked as resent, so that RACK no longer resends it
 * (tcp_undo_cwnd_reduction, tcp_mark_skb_lost).
 *
 * Programs cannot write SRTT and RTO, but they can bound the RTO (TCP_RTO_MAX_MS, Linux 6.15;
 * before that nothing is bounded). So the RTO is at most what RFC 6298 has before the first
 * sample, or twice the round trip of the new link. The bound stays until the estimate is
 * below it by itself.
 *
 * From the largest RTO the kernel also computes how long tcp_retries2 retries, or as many probes
 * of a closed window, may take from the first. With a bound, an outage would kill the connection
 * at the next expiry. So the bound holds only while the window is open, and the timer has resent
 * nothing since the last progress or undo. The expiry itself ends it, and so does a probe that
 * follows one. Data that waits for a device without carrier (mobile/unsent.h) waits for the timer
 * of a closed window.
 */
#ifndef SEGUE_RTO_MAX_H
#define SEGUE_RTO_MAX_H

#include "grant.h"
#include "state.h"

static inline void segue_bound_rto(struct sock *sk, struct segue_connection *conn)
{
	u32 bound_ms = segue_rto_bound_ms(&conn->negotiated.link);
	int own_ms;

	if (conn->own_rto_max_ms ||
	    bpf_getsockopt(sk, SOL_TCP, TCP_RTO_MAX_MS, &own_ms, sizeof(own_ms)) ||
	    own_ms <= (int)bound_ms ||
	    bpf_setsockopt(sk, SOL_TCP, TCP_RTO_MAX_MS, &bound_ms, sizeof(bound_ms)))
		return;
	conn->own_rto_max_ms = own_ms;
}

/* Not when a socket's congestion control is released: the kernel lets no option be set then. */
static inline void segue_free_rto(struct sock *sk, struct segue_connection *conn)
{
	u32 own_ms = conn->own_rto_max_ms;

	bpf_setsockopt(sk, SOL_TCP, TCP_RTO_MAX_MS, &own_ms, sizeof(own_ms));
	conn->own_rto_max_ms = 0;
}

/* On each ACK while the bound is wanted, or holds; and when a flow begins to send anew. */
static inline void segue_look_at_rto(struct sock *sk, const struct tcp_sock *tp,
				     struct segue_connection *conn)
{
	const u32 safe = !tp->inet_conn.icsk_retransmits && !tp->inet_conn.icsk_probes_out &&
			 tp->snd_wnd;

	if (conn->state.rto_bound_wanted && safe) {
		conn->state.rto_bound_wanted = 0;
		segue_bound_rto(sk, conn);
	} else if (conn->own_rto_max_ms &&
		   /* in the trial the old sample may still come */
		   (!safe || (!conn->state.trial_rounds &&
			      (tp->srtt_us >> 3) + tp->rttvar_us <=
				      1000 * segue_rto_bound_ms(&conn->negotiated.link)))) {
		segue_free_rto(sk, conn);
	}
}

#endif
