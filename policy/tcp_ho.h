/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * tcp_ho.h - TCP-HO: the mobile tells the bandwidth of its new link, and a sender
 * that waits in a timeout goes on at once.
 *
 * Source: X. Wu, M. C. Chan, A. L. Ananda 2008, section 4.2 and Figure 3
 * (algorithms.md 4.3 to 4.5).
 *
 *             notice, just after a timeout: resend, ssthresh = bw * srtt_before
 *     NORMAL ------------------------------------------------------> HO_ADJUST
 *        ^                                                            |    ^ |
 *        `--- four samples, a fast retransmit, a timeout -------------'    `-'
 *                                            sample: ssthresh = bw * srtt_ho
 *
 * Against a mobile that says too much (9.19): no notice without a timeout, and a report
 * that congestion refutes bounds those that follow.
 *
 * table.h says when the host calls what. In NORMAL only a notice asks for anything; the
 * first congestion after one is to be told there, too. The host cuts its window as ever.
 */
#ifndef SEGUE_TCP_HO_H
#define SEGUE_TCP_HO_H

#include "policy.h"
#include "table.h"
#include "tcp_ho_settings.h"

/* segue_action.rules: which of these rules are behind an action. */
enum {
	SEGUE_RULE_HO_RESUMES = 1u << 0, /* 4.3: the head, back-off, timer */
	SEGUE_RULE_HO_SSTHRESH = 1u << 1, /* 4.3: bw * srtt_before */
	SEGUE_RULE_HO_WINDOW = 1u << 2, /* 4.5: aggressive */
	SEGUE_RULE_HO_GUARD = 1u << 3, /* 4.3, 9.19 */
	SEGUE_RULE_HO_REPEATED = 1u << 4, /* 4.3 */
	SEGUE_RULE_HO_SAMPLE = 1u << 5, /* 4.3: bw * srtt_ho */
	SEGUE_RULE_HO_CONVERGED = 1u << 6, /* 4.3: four samples */
	SEGUE_RULE_HO_CONGESTED = 1u << 7, /* 4.3 */
	SEGUE_RULE_HO_NO_BURST = 1u << 8, /* 4.5, 9.21 */
	SEGUE_RULE_HO_REFUTED = 1u << 9, /* 4.3, 9.19 */
	SEGUE_RULE_HO_BOUNDED = 1u << 10, /* 4.3, 9.19 */
};

/* State of one flow (algorithms.md 4.3). All zero: NORMAL. */
struct segue_tcp_ho {
	u32 bw_kbps; /* bw_ho */
	u32 srtt_us; /* srtt_ho; unset before the first sample */
	u32 samples; /* n_samples */
	u32 adjusting; /* 1: HO_ADJUST */
	u32 promised; /* ssthresh of a report that is on trial; 0: none is */
	u32 found; /* ssthresh of a report is no more than this; 0: none was refuted */
	u32 burst; /* 1: cwnd was set, not reached: it proves nothing */
};

/*
 * 4.4: bandwidth times round trip, 1/256 packet; kbit/s * us is 1/8000 byte, and
 * 256/8000 = 4/125. From 2^62 on the window is beyond 32 bits whatever the packet.
 */
static inline u32 segue_tcp_ho_window(const struct segue_tcp_ho_settings *set, u32 bw_kbps,
				      u32 rtt_us)
{
	const u64 packet = segue_max(1, segue_min(set->packet_bytes, 0xffffu));
	const u64 product = (u64)bw_kbps * rtt_us;

	if (product >> 62)
		return 0xffffffffu;
	return segue_max(set->min_window, segue_saturate(product * 4 / (125 * packet)));
}

/* HO_ADJUST is over: what the mobile said is soon out of date. */
static inline void segue_tcp_ho_end(struct segue_tcp_ho *flow, u32 why, struct segue_action *act)
{
	flow->adjusting = 0;
	flow->bw_kbps = 0;
	act->rules |= why;
}

/* ssthresh of a report, for which it is on trial from now on. */
static inline u32 segue_tcp_ho_promise(const struct segue_tcp_ho_settings *set,
				       struct segue_tcp_ho *flow, u32 rtt_us,
				       struct segue_action *act)
{
	u32 window = segue_tcp_ho_window(set, flow->bw_kbps, rtt_us);

	if (set->trial) {
		if (flow->found && flow->found < window) {
			window = segue_max(set->min_window, flow->found);
			act->rules |= SEGUE_RULE_HO_BOUNDED;
		}
		flow->promised = window;
	}
	segue_set_ssthresh(act, window);
	return window;
}

/*
 * The first congestion after a report judges it (against abuse, 9.19). Slow start hears
 * of a loss a round trip late, with twice the window that was lost from. So a cwnd below
 * the threshold means a path that holds less than half of it. Half of cwnd is what it
 * does hold. Before the first sample nothing has been tried. Each report that stands
 * doubles what later ones are believed.
 */
static inline void segue_tcp_ho_judge(const struct segue_tcp_ho_settings *set,
				      struct segue_tcp_ho *flow, u32 cwnd,
				      struct segue_action *act)
{
	if (flow->promised && flow->samples && !flow->burst) {
		if (cwnd < flow->promised) {
			flow->found = segue_max(set->min_window, cwnd / 2);
			act->rules |= SEGUE_RULE_HO_REFUTED;
		} else if (flow->found) {
			flow->found = segue_saturate((u64)flow->found * 2);
		}
	}
	flow->promised = 0;
}

/* 4.3, NORMAL: an ACK with the bandwidth option. */
static inline void segue_tcp_ho_on_notice(const void *settings, void *state,
					  const struct segue_sender *tcp,
					  const struct segue_notice *notice,
					  struct segue_action *act)
{
	const struct segue_tcp_ho_settings *set = settings;
	struct segue_tcp_ho *flow = state;
	u32 window;

	if (!notice->new_link.rate_kbps)
		return;
	if (flow->adjusting) { /* the second copy [C] */
		act->rules |= SEGUE_RULE_HO_REPEATED;
		return;
	}
	if (set->guard && !tcp->timeouts_since_ack) { /* against abuse [T]; 9.19 */
		act->rules |= SEGUE_RULE_HO_GUARD;
		return;
	}
	flow->adjusting = 1;
	flow->bw_kbps = notice->new_link.rate_kbps;
	flow->samples = 0;
	flow->srtt_us = 0;
	flow->promised = 0;
	flow->burst = 0;
	if (tcp->timeouts_since_ack >= set->burst_after) /* an outage: another path, maybe */
		flow->found = 0;
	/* cwnd is one packet: the timeout has left it so */
	act->what |= SEGUE_RETRANSMIT_HEAD | SEGUE_CLEAR_BACKOFF | SEGUE_REARM_TIMER;
	act->rules |= SEGUE_RULE_HO_RESUMES;

	/* A sender that never measured the old path learns from the first sample [C]. */
	if (set->variant & SEGUE_HO_IMMEDIATE || !tcp->srtt_before_us)
		return;
	window = segue_tcp_ho_promise(set, flow, tcp->srtt_before_us, act);
	act->rules |= SEGUE_RULE_HO_SSTHRESH;
	if (!(set->variant & SEGUE_HO_AGGRESSIVE))
		return;
	/* Congestion makes an expiry, and another if the resent head is dropped;
	 * an outage worth a burst makes more [C]. */
	if (set->guard && tcp->timeouts_since_ack < set->burst_after) {
		act->rules |= SEGUE_RULE_HO_NO_BURST;
		return;
	}
	flow->burst = 1;
	segue_set_cwnd(act, window); /* 4.5 */
	act->rules |= SEGUE_RULE_HO_WINDOW;
}

/* 4.3, 9.20: the average starts anew with the new path. */
static inline u32 segue_tcp_ho_average(const struct segue_tcp_ho_settings *set,
				       const struct segue_tcp_ho *flow, u32 rtt_us)
{
	const u64 before = flow->samples - 1;

	if (!before)
		return rtt_us;
	if (set->mean)
		return (u32)((before * flow->srtt_us + rtt_us) / flow->samples);
	return (u32)((7 * (u64)flow->srtt_us + rtt_us) / 8);
}

/* 4.3, HO_ADJUST: a valid sample (Karn; with time stamps every ACK gives one). */
static inline void segue_tcp_ho_on_rtt_sample(const void *settings, void *state,
					      const struct segue_sender *tcp, u32 sample_seq, u32 rtt_us,
					      struct segue_action *act)
{
	const struct segue_tcp_ho_settings *set = settings;
	struct segue_tcp_ho *flow = state;

	(void)tcp;
	(void)sample_seq;
	if (!flow->adjusting)
		return;
	flow->samples++;
	flow->srtt_us = segue_tcp_ho_average(set, flow, rtt_us);
	if (!(set->variant & SEGUE_HO_IMMEDIATE)) { /* 9.21: aggressive, too */
		segue_tcp_ho_promise(set, flow, flow->srtt_us, act);
		act->rules |= SEGUE_RULE_HO_SAMPLE;
	}
	if (flow->samples >= set->samples)
		segue_tcp_ho_end(flow, SEGUE_RULE_HO_CONVERGED, act);
}

/* 4.3, HO_ADJUST: congestion; the host reacts as ever. */
static inline void segue_tcp_ho_on_fast_retransmit(const void *settings, void *state,
						   const struct segue_sender *tcp,
						   struct segue_action *act)
{
	const struct segue_tcp_ho_settings *set = settings;
	struct segue_tcp_ho *flow = state;

	segue_tcp_ho_judge(set, flow, tcp->cwnd, act);
	if (flow->adjusting)
		segue_tcp_ho_end(flow, SEGUE_RULE_HO_CONGESTED, act);
}

/* The same for the timer. */
static inline void segue_tcp_ho_on_timeout(const void *settings, void *state,
					   const struct segue_sender *tcp,
					   struct segue_action *act)
{
	segue_tcp_ho_on_fast_retransmit(settings, state, tcp, act);
}

/* In HO_ADJUST, and while a report is on trial. */
static inline u32 segue_tcp_ho_listens(const void *state)
{
	const struct segue_tcp_ho *flow = state;

	return flow->adjusting || flow->promised;
}

SEGUE_FITS(struct segue_tcp_ho_settings, struct segue_tcp_ho);

SEGUE_POLICY(tcp_ho, .on_notice = segue_tcp_ho_on_notice,
	     .on_fast_retransmit = segue_tcp_ho_on_fast_retransmit,
	     .on_timeout = segue_tcp_ho_on_timeout, .on_rtt_sample = segue_tcp_ho_on_rtt_sample,
	     .listens = segue_tcp_ho_listens);

#endif
