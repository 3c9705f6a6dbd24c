/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * rlci.h - RLCI: after a change of connectivity the path is taken for a new one. The
 * sender starts on it as a new connection does.
 *
 * Source: S. Schuetz et al. 2008, TCP Response to Lower-Layer Connectivity-Change
 * Indications, as Daniel and Kojo 2008 describe it (algorithms.md 10). The scheme of
 * docs/guide/tutorial.md.
 */
#ifndef SEGUE_RLCI_H
#define SEGUE_RLCI_H

#include "table.h"

#define SEGUE_RLCI_INITIAL_WINDOW (3 * SEGUE_PACKET) /* RFC 3390 */
#define SEGUE_RLCI_INITIAL_RTO_US 3000000u /* RFC 2988 */

/* segue_action.rules */
enum {
	SEGUE_RULE_RLCI_ANEW = 1u << 0, /* 10.1 */
	SEGUE_RULE_RLCI_RESUMES = 1u << 1, /* 10.2 */
	SEGUE_RULE_RLCI_OLD_ACK = 1u << 2, /* 10.3 */
	SEGUE_RULE_RLCI_OLD_SAMPLE = 1u << 3, /* 10.4 */
	SEGUE_RULE_RLCI_SAMPLE = 1u << 4, /* 10.4 */
};

/* State of one flow. */
struct segue_rlci {
	u32 ho_point; /* snd_max at the notice */
	u32 drains; /* 1: not all of what was sent before it is acknowledged */
	u32 unmeasured; /* 1: no RTT sample of the new path yet */
};

static inline void segue_rlci_on_notice(const void *settings, void *state,
					const struct segue_sender *tcp,
					const struct segue_notice *notice,
					struct segue_action *act)
{
	struct segue_rlci *flow = state;

	(void)settings;
	(void)notice; /* it tells that the path has changed; how does not matter */
	flow->ho_point = tcp->snd_max;
	flow->drains = segue_seq_before(tcp->snd_una, tcp->snd_max);
	flow->unmeasured = 1;

	/* 10.1: congestion control and timer as those of a new connection */
	act->what |= SEGUE_REINIT_RTT | SEGUE_CLEAR_BACKOFF | SEGUE_REARM_TIMER;
	segue_set_min_rto(act, SEGUE_RLCI_INITIAL_RTO_US);
	segue_set_cwnd(act, SEGUE_RLCI_INITIAL_WINDOW);
	segue_set_ssthresh(act, 0x7fffffffu);
	act->rules |= SEGUE_RULE_RLCI_ANEW;

	/* 10.2: stalled in back-off */
	if (tcp->timeouts_since_ack) {
		act->what |= SEGUE_RETRANSMIT_HEAD;
		act->rules |= SEGUE_RULE_RLCI_RESUMES;
	}
}

/* 10.3: ACKs of what was sent before say nothing of the new path. */
static inline void segue_rlci_on_new_ack(const void *settings, void *state,
					 const struct segue_sender *tcp,
					 struct segue_action *act)
{
	struct segue_rlci *flow = state;

	(void)settings;
	if (!flow->drains)
		return;
	flow->drains = segue_seq_before(tcp->snd_una, flow->ho_point);
	segue_set_cwnd(act, SEGUE_RLCI_INITIAL_WINDOW);
	act->rules |= SEGUE_RULE_RLCI_OLD_ACK;
}

/* 10.4 */
static inline void segue_rlci_on_rtt_sample(const void *settings, void *state,
					    const struct segue_sender *tcp, u32 sample_seq,
					    u32 rtt_us, struct segue_action *act)
{
	struct segue_rlci *flow = state;

	(void)settings;
	(void)tcp;
	(void)rtt_us;
	if (!flow->unmeasured)
		return;
	if (segue_seq_before(sample_seq, flow->ho_point)) {
		act->what |= SEGUE_IGNORE_SAMPLE;
		act->rules |= SEGUE_RULE_RLCI_OLD_SAMPLE;
	} else {
		flow->unmeasured = 0;
		segue_set_min_rto(act, 0);
		act->rules |= SEGUE_RULE_RLCI_SAMPLE;
	}
}

SEGUE_FITS(u32, struct segue_rlci);

SEGUE_POLICY(rlci, .on_notice = segue_rlci_on_notice, .on_new_ack = segue_rlci_on_new_ack,
	     .on_rtt_sample = segue_rlci_on_rtt_sample, .sample_seq = 1);

#endif
