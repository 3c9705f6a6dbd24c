/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * etcp.h - Enhanced TCP: a sender that hears of a vertical handoff.
 *
 * Source: L. Daniel, M. Kojo 2008 (algorithms A1 to A5; algorithms.md section 2).
 * L. Daniel, M. Kojo, "The Performance of Multiple TCP Flows with Vertical Handoff",
 * MobiWac 2009 (Figures 1 to 3; algorithms.md section 3).
 *
 *     notice --+-- in RTO recovery ---- A3 (+ A4's RTT part) | Fig. 2
 *              `-- otherwise --- delay grows: A1    else: A4 | 3.5
 *                          `---- A2 | A5 | Fig. 1 or Fig. 3 (a)
 *
 *     until snd_una reaches ho_point        no second cut (2.3), reordering (3.3)
 *     from there to the first valid sample  RTT variables start anew (2.1, 2.5)
 *
 * table.h says when the host calls what; on_fast_retransmit comes when the duplicate
 * ACKs have reached dupthresh.
 */
#ifndef SEGUE_ETCP_H
#define SEGUE_ETCP_H

#include "etcp_rules.h"
#include "table.h"

/* ------------------------------------------------------------ 2.0, 3.4: notice */

static inline void segue_etcp_in_rto(const struct segue_etcp_settings *set,
				     struct segue_etcp *flow, const struct segue_path *path,
				     const struct segue_sender *tcp, struct segue_action *act)
{
	if (set->algorithms & SEGUE_FIG2) { /* 3.4 step 1 */
		segue_fig2(set, flow, path, tcp, act);
		return;
	}
	if (set->algorithms & SEGUE_A3)
		segue_a3(set, flow, tcp, act);
	/* 2.0: the RTT part of A4, in either direction [from 000 Fig. 2] */
	if (set->algorithms & SEGUE_A4 && segue_delay_changed(set, path, set->a4_needs_minrto)) {
		segue_restart_rtt(set, flow, act);
		act->rules |= SEGUE_RULE_A4;
	}
}

static inline void segue_etcp_adapt_rto(const struct segue_etcp_settings *set,
					struct segue_etcp *flow, const struct segue_handoff *ho,
					const struct segue_sender *tcp, struct segue_action *act)
{
	const struct segue_path *path = &ho->path;

	if (segue_a1_applies(set, ho)) {
		segue_a1(set, flow, ho, tcp, act);
		return;
	}
	/* 2.0, 2.5: A4 where the delay falls [T], significantly */
	if (set->algorithms & SEGUE_A4 && path->new_link.delay_us < path->old_link.delay_us &&
	    segue_delay_changed(set, path, set->a4_needs_minrto)) {
		segue_restart_rtt(set, flow, act);
		act->rules |= SEGUE_RULE_A4;
	}
	/* 3.4 step 2: 3.5 where A1 has nothing to do */
	if (set->algorithms & SEGUE_CONVERGENCE &&
	    segue_delay_changed(set, path, set->convergence_needs_minrto)) {
		segue_restart_rtt(set, flow, act);
		act->rules |= SEGUE_RULE_CONVERGENCE;
	}
}

static inline void segue_etcp_adapt_window(const struct segue_etcp_settings *set,
					   struct segue_etcp *flow,
					   const struct segue_handoff *ho,
					   const struct segue_sender *tcp,
					   struct segue_action *act)
{
	const u32 increase = ho->path.new_link.rate_kbps > ho->path.old_link.rate_kbps;
	const u32 fig1 = set->algorithms & SEGUE_FIG1;
	const u32 fig3 = set->algorithms & SEGUE_FIG3;

	if (segue_may_reduce(set, ho, tcp)) {
		if (set->algorithms & (SEGUE_A2 | SEGUE_A5))
			segue_a2_a5(set, flow, ho, act);
		/* 3.4 step 3: 3.1 would shrink the window for a large increase, which
		 * 3.3 avoids on purpose. Fig. 1 alone runs as printed. */
		if (fig1 && (!increase || !fig3 || set->fig1_on_increase))
			segue_fig1(flow, ho, act);
	}
	if (fig3 && (increase || set->fig3_on_decrease))
		segue_fig3(set, flow, ho, tcp, act);
}

/* A second notice overwrites ho_point and evaluates everything anew (2.0 [C]). Fields
 * that only an ACK or a sample clears (section 2, table) wait for those of the new
 * path. */
static inline void segue_etcp_on_notice(const void *settings, void *state,
					const struct segue_sender *tcp,
					const struct segue_notice *notice,
					struct segue_action *act)
{
	const struct segue_etcp_settings *set = settings;
	struct segue_etcp *flow = state;
	struct segue_handoff ho;

	if (!set->algorithms || !segue_notice_usable(notice))
		return;
	segue_path_of(&ho.path, notice, set->packet_bytes, set->ack_bytes, set->whole_packets);
	ho.disconnected = notice->disconnected;
	ho.flight = segue_min(tcp->flight, SEGUE_FLIGHT_LIMIT - 1) + (set->flight_plus_one != 0);
	ho.flows = segue_flows(set, notice);

	segue_forget_reordering(set, flow, act);
	flow->active = 1;
	flow->ho_acked = 0;
	flow->ho_point = tcp->snd_max;
	flow->bdp_share = segue_bdp_share(&ho.path, ho.flows);
	flow->window = segue_window(set, &ho.path, ho.flows);
	flow->delay_increased = ho.path.new_link.delay_us > ho.path.old_link.delay_us;

	if (tcp->in_rto_recovery) {
		segue_etcp_in_rto(set, flow, &ho.path, tcp, act);
		return;
	}
	segue_etcp_adapt_rto(set, flow, &ho, tcp, act);
	segue_etcp_adapt_window(set, flow, &ho, tcp, act);
}

/* ------------------------------------------------------------------------ ACKs */

/* "All segments sent before the handoff ACKed": snd_una has reached ho_point. */
static inline void segue_etcp_old_path_drained(const struct segue_etcp_settings *set,
					       struct segue_etcp *flow,
					       const struct segue_sender *tcp,
					       struct segue_action *act)
{
	flow->ho_acked = 1;
	flow->cwnd_reduced = 0; /* 2.3 [T] */
	flow->cwnd_reduction = 0; /* 3.3 (d) */

	if (flow->a1_active) { /* 2.1 */
		if (flow->delay_increased) /* [T] */
			segue_restart_rtt(set, flow, act);
		flow->reinit_rtt = 1;
		act->rules |= SEGUE_RULE_A1_DRAINED;
	}
	if (flow->fig3_heard) { /* 3.3 (d) */
		segue_undo(set, flow, tcp, act);
		segue_forget_reordering(set, flow, act);
		if (flow->delay_changed) {
			segue_restart_rtt(set, flow, act);
			act->rules |= SEGUE_RULE_FIG3_DRAINED;
		}
	}
}

/* snd_una has advanced. */
static inline void segue_etcp_on_new_ack(const void *settings, void *state,
					 const struct segue_sender *tcp,
					 struct segue_action *act)
{
	const struct segue_etcp_settings *set = settings;
	struct segue_etcp *flow = state;

	if (!flow->active || flow->ho_acked)
		return;
	if (!segue_seq_before(tcp->snd_una, flow->ho_point)) {
		flow->dupacks = 0;
		segue_etcp_old_path_drained(set, flow, tcp, act);
		return;
	}
	/* 3.3 (c): a partial ACK restarts the count [C] and stays in (c) */
	if (!flow->reordering || set->fig3_restart_dupacks)
		flow->dupacks = 0;
	if (flow->reordering)
		act->what |= SEGUE_HOLD_HOLES;
}

/* 3.3 (d): a DSACK block [left, right) came in, on whatever ACK. As the copy takes the
 * fast link, the late original is reported. Mostly a duplicate ACK reports it, before
 * the ACK that ends the handoff. */
static inline void segue_etcp_on_dsack(void *state, u32 left, u32 right)
{
	struct segue_etcp *flow = state;

	if (flow->active && flow->cwnd_prev && !segue_seq_before(flow->resent, left) &&
	    segue_seq_before(flow->resent, right))
		flow->needless = 1;
}

/* 3.3 (c): in fast recovery on account of reordering each duplicate ACK lets one new
 * segment out. No hole is resent until they are more than dupthresh_ho. */
static inline void segue_etcp_on_dup_ack(const void *settings, void *state,
					 const struct segue_sender *tcp,
					 struct segue_action *act)
{
	struct segue_etcp *flow = state;

	(void)settings;
	(void)tcp;
	if (!flow->active || flow->ho_acked)
		return;
	if (flow->dupacks < SEGUE_FLIGHT_LIMIT)
		flow->dupacks++;
	if (!flow->reordering)
		return;
	if ((u64)flow->dupacks * SEGUE_PACKET > flow->dupthresh_ho) {
		flow->return_fastrecovery = 1;
		segue_end_reordering(flow, act);
		act->rules |= SEGUE_RULE_FIG3_RETURNS;
		return;
	}
	act->what |= SEGUE_HOLD_HOLES | SEGUE_SEND_NEW;
	act->rules |= SEGUE_RULE_FIG3_SENDS_NEW;
}

/* The head is about to be resent; the host has not cut its window yet. */
static inline void segue_etcp_on_fast_retransmit(const void *settings, void *state,
						 const struct segue_sender *tcp,
						 struct segue_action *act)
{
	const struct segue_etcp_settings *set = settings;
	struct segue_etcp *flow = state;
	const u32 head_seq = tcp->snd_una;

	if (!flow->active || flow->ho_acked || !segue_seq_before(head_seq, flow->ho_point))
		return;
	if (flow->cwnd_reduced) { /* 2.3: cwnd stays [T], and so does ssthresh [C] */
		act->what |= set->recovery_keeps_ssthresh ? SEGUE_KEEP_WINDOW : SEGUE_KEEP_CWND;
		act->rules |= SEGUE_RULE_NO_SECOND_CUT;
	}
	if (flow->reordering_flag && !flow->return_fastrecovery) { /* 3.3 (b) */
		flow->cwnd_prev = tcp->cwnd;
		flow->resent = head_seq;
		flow->reordering = 1;
		/* the first of them may have come before the notice */
		flow->dupacks = segue_max(flow->dupacks, SEGUE_DUPTHRESH);
		act->what |= SEGUE_HOLD_HOLES;
		act->rules |= SEGUE_RULE_FIG3_HOLDS;
	}
}

/* ------------------------------------------------------------- timer and samples */

/* The timer has expired; the host has not cut its window yet. A1's state and
 * ho_point stay (2.1 [C]). */
static inline void segue_etcp_on_timeout(const void *settings, void *state,
					 const struct segue_sender *tcp,
					 struct segue_action *act)
{
	const struct segue_etcp_settings *set = settings;
	struct segue_etcp *flow = state;

	(void)tcp;
	if (!flow->active || flow->ho_acked)
		return;
	if (flow->cwnd_reduced && !set->halve_on_rto) { /* 9.8 [C] */
		act->what |= SEGUE_KEEP_SSTHRESH;
		act->rules |= SEGUE_RULE_RTO_KEEPS_SSTHRESH;
	}
	/* what the timer found lost was not merely late: (c) is over, no undo */
	if (flow->reordering_flag)
		flow->return_fastrecovery = 1;
	segue_end_reordering(flow, act);
}

/* 2.1, 2.5: a valid sample (Karn) of the segment that starts at sample_seq. */
static inline void segue_etcp_on_rtt_sample(const void *settings, void *state,
					    const struct segue_sender *tcp, u32 sample_seq, u32 rtt_us,
					    struct segue_action *act)
{
	const struct segue_etcp_settings *set = settings;
	struct segue_etcp *flow = state;

	(void)tcp;
	(void)rtt_us;
	if (!flow->active || !flow->reinit_rtt)
		return;
	if (segue_seq_before(sample_seq, flow->ho_point)) {
		if (set->ignore_old_samples) { /* 2.5 [C] */
			act->what |= SEGUE_IGNORE_SAMPLE;
			act->rules |= SEGUE_RULE_OLD_SAMPLE;
		}
		return;
	}
	if (flow->a1_active || set->reinit_rto_us)
		segue_set_min_rto(act, 0); /* 2.1: minrto is the default again */
	act->rules |= SEGUE_RULE_FIRST_SAMPLE;
	flow->reinit_rtt = 0;
	flow->a1_active = 0;
	flow->delay_changed = 0; /* no second start at 3.3 (d) */
}

/* ------------------------------------------------------------------------- table */

/* Until everything that was sent before the handoff is acknowledged. */
static inline u32 segue_etcp_listens(const void *state)
{
	const struct segue_etcp *flow = state;

	return flow->active && !flow->ho_acked;
}

/* W of the link alone. */
static inline u32 segue_etcp_link_window(const void *settings, const struct segue_notice *notice)
{
	const struct segue_etcp_settings *set = settings;
	struct segue_path path;

	segue_path_of(&path, notice, set->packet_bytes, set->ack_bytes, set->whole_packets);
	return segue_window(set, &path, segue_flows(set, notice));
}

SEGUE_FITS(struct segue_etcp_settings, struct segue_etcp);

SEGUE_POLICY(etcp, .on_notice = segue_etcp_on_notice, .on_new_ack = segue_etcp_on_new_ack,
	     .on_dup_ack = segue_etcp_on_dup_ack,
	     .on_fast_retransmit = segue_etcp_on_fast_retransmit,
	     .on_timeout = segue_etcp_on_timeout, .on_rtt_sample = segue_etcp_on_rtt_sample,
	     .on_dsack = segue_etcp_on_dsack, .listens = segue_etcp_listens,
	     .link_window = segue_etcp_link_window, .sample_seq = 1);

#endif
