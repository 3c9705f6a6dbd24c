/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * etcp_rules.h - the rules of Enhanced TCP, one function each: what A1 to A5 and
 * Figures 1 to 3 decide. When each is asked stands in etcp.h.
 *
 * Source: L. Daniel, M. Kojo 2008 (algorithms A1 to A5; algorithms.md section 2).
 * L. Daniel, M. Kojo, "The Performance of Multiple TCP Flows with Vertical Handoff",
 * MobiWac 2009 (Figures 1 to 3; algorithms.md section 3).
 */
#ifndef SEGUE_ETCP_RULES_H
#define SEGUE_ETCP_RULES_H

#include "etcp_settings.h"
#include "path.h"
#include "policy.h"

/* Factors of bdp_new in 1/256 (2.2, 2.3), and the bandwidth ratio between them. */
#define SEGUE_FACTOR 512u /* 2: link BDP plus an equal router queue [T] */
#define SEGUE_FACTOR_LARGE_FALL 384u /* 1.5 */
#define SEGUE_LARGE_CHANGE 8u
#define SEGUE_REORDERING_CHANGE 3u /* 3.3 (a) */

/* segue_action.rules: which of these rules are behind an action. */
enum {
	SEGUE_RULE_A1_CASE1 = 1u << 0, /* 2.1 */
	SEGUE_RULE_A1_CASE2 = 1u << 1,
	SEGUE_RULE_A1_CASE3 = 1u << 2,
	SEGUE_RULE_A1_DRAINED = 1u << 3, /* 2.1: snd_una >= ho_point */
	SEGUE_RULE_FIRST_SAMPLE = 1u << 4, /* 2.1, 2.5 */
	SEGUE_RULE_OLD_SAMPLE = 1u << 5, /* 2.5 [C] */
	SEGUE_RULE_A2 = 1u << 6, /* 2.2 */
	SEGUE_RULE_A5 = 1u << 7, /* 2.3 */
	SEGUE_RULE_NO_SECOND_CUT = 1u << 8, /* 2.3 */
	SEGUE_RULE_RTO_KEEPS_SSTHRESH = 1u << 9, /* 2.3, 9.8 */
	SEGUE_RULE_A3 = 1u << 10, /* 2.4 */
	SEGUE_RULE_A4 = 1u << 11, /* 2.5 */
	SEGUE_RULE_FIG1 = 1u << 12, /* 3.1 */
	SEGUE_RULE_FIG2 = 1u << 13, /* 3.2 */
	SEGUE_RULE_FIG3_WINDOW = 1u << 14, /* 3.3 (a) */
	SEGUE_RULE_FIG3_EXPECTS = 1u << 15, /* 3.3 (a) */
	SEGUE_RULE_FIG3_HOLDS = 1u << 16, /* 3.3 (b) */
	SEGUE_RULE_FIG3_SENDS_NEW = 1u << 17, /* 3.3 (c) */
	SEGUE_RULE_FIG3_RETURNS = 1u << 18, /* 3.3 (c): the wait is over */
	SEGUE_RULE_FIG3_UNDOES = 1u << 19, /* 3.3 (d) */
	SEGUE_RULE_FIG3_DRAINED = 1u << 20, /* 3.3 (d): RTT variables */
	SEGUE_RULE_CONVERGENCE = 1u << 21, /* 3.5 */
};

/* State of one flow (algorithms.md 2, "Additional sender state"; 3.3). All zero:
 * no notice heard yet. */
struct segue_etcp {
	u32 ho_point; /* snd_max at the notice */
	u32 bdp_share; /* b, 1/256 packet */
	u32 window; /* W = max(2, b) */
	u32 cwnd_prev; /* cwnd before the cut of 3.3 (b); 0: no such cut */
	u32 resent; /* the segment that 3.3 (b) resent */
	u32 dupthresh_ho; /* 1/256 */
	u32 dupacks; /* since the last advance of snd_una */
	u8 active; /* a notice has been heard */
	u8 ho_acked; /* snd_una has reached ho_point */
	u8 a1_active; /* A1's minrto holds */
	u8 delay_increased; /* d_new > d_old at the last notice */
	u8 reinit_rtt; /* the first valid sample is awaited */
	u8 cwnd_reduced; /* A2, A5, Fig. 1: no second cut */
	u8 fig3_heard; /* Fig. 3 was entered at this notice */
	u8 cwnd_reduction; /* Fig. 3 (a) */
	u8 reordering_flag;
	u8 reordering; /* phase (c): in fast recovery on account of reordering */
	u8 return_fastrecovery;
	u8 needless; /* DSACK: what 3.3 (b) resent had not been lost */
	u8 delay_changed; /* significantly, for 3.3 (d) */
	u8 pad[3];
};

/* One handoff as one sender sees it at the notice. */
struct segue_handoff {
	struct segue_path path;
	u32 disconnected;
	u32 flight; /* at the notice (9.2), see 9.38 */
	u32 flows; /* N of Figs. 1 to 3; A1 to A5 know of one flow only */
};

/* ------------------------------------------------- the RTT variables: 2.1, 2.5 */

/* srtt = rttvar = unset; the first valid sample of a segment sent at or after
 * ho_point starts them anew. Meanwhile the RTO stays as it is, for 3 s "as for a
 * new connection" would undo what the notice is for (9.5 [C]). */
static inline void segue_restart_rtt(const struct segue_etcp_settings *set,
				     struct segue_etcp *flow, struct segue_action *act)
{
	flow->reinit_rtt = 1;
	act->what |= SEGUE_REINIT_RTT;
	/* 9.5, the other reading; 2.1 [T] names the timer where the delay grows */
	if (flow->delay_increased || set->reinit_rto_on_fall)
		if (set->reinit_rto_us)
			segue_set_min_rto(act, set->reinit_rto_us);
}

/* 2.0, 9.6 "big": the one-way delays or the RTTs differ by a factor of two. With
 * the clause of 3.5 the new RTT must also exceed minrto, below which the RTO could
 * not fall anyway. */
static inline u32 segue_delay_changed(const struct segue_etcp_settings *set,
				      const struct segue_path *path, u32 needs_minrto)
{
	const u64 new_rtt = segue_new_rtt_ns(path);

	if (needs_minrto && new_rtt <= (u64)set->min_rto_us * 1000)
		return 0;
	if (set->significant_by_delay &&
	    segue_differ_by(path->old_link.delay_us, path->new_link.delay_us,
			    set->significant_ratio))
		return 1;
	return segue_differ_by(segue_old_rtt_ns(path), new_rtt, set->significant_ratio);
}

/* ------------------------------------------------------- 2.1 A1: spurious RTO */

/* 2.0: the delay grows [T], or the serialisation alone does (9.36 [C]). */
static inline u32 segue_a1_applies(const struct segue_etcp_settings *set,
				   const struct segue_handoff *ho)
{
	const struct segue_path *path = &ho->path;

	if (!(set->algorithms & SEGUE_A1))
		return 0;
	if (ho->disconnected && !set->a1_in_bbm) /* 9.37 */
		return 0;
	if (path->new_link.delay_us != path->old_link.delay_us)
		return path->new_link.delay_us > path->old_link.delay_us;
	return set->a1_on_serialisation && segue_new_rtt_ns(path) > segue_old_rtt_ns(path);
}

/* 2.1 [R]: the three cases, from the worked numbers 552 ms, 1220 ms and 2.12 s. */
static inline u64 segue_a1_min_rto_ns(const struct segue_etcp_settings *set,
				      const struct segue_handoff *ho,
				      const struct segue_sender *tcp, struct segue_action *act)
{
	const struct segue_path *path = &ho->path;
	const u32 size = path->packet_bytes;
	const u64 rest = (u64)set->rest_us * 1000;
	const u64 old_queue = segue_serialisation_ns(size, path->old_link, ho->flight);
	const u64 new_queue = segue_serialisation_ns(size, path->new_link, ho->flight);

	/* Case 1: the timer would not even outlast the ACKs on their way. */
	if (segue_old_new_rtt_ns(path) > (u64)tcp->rto_us * 1000) {
		act->rules |= SEGUE_RULE_A1_CASE1;
		if (set->a1_case1_new_rtt)
			return segue_new_rtt_ns(path) + old_queue + rest;
		return segue_old_new_rtt_ns(path) + old_queue + rest;
	}
	/* Case 2: what is resent follows the old link's queue over the new link. */
	if (tcp->in_fast_recovery) {
		act->rules |= SEGUE_RULE_A1_CASE2;
		return segue_new_rtt_ns(path) + old_queue + rest;
	}
	/* Case 3: as much as is under way may queue at the new link. */
	act->rules |= SEGUE_RULE_A1_CASE3;
	return segue_new_rtt_ns(path) + new_queue + rest;
}

static inline void segue_a1(const struct segue_etcp_settings *set, struct segue_etcp *flow,
			    const struct segue_handoff *ho, const struct segue_sender *tcp,
			    struct segue_action *act)
{
	segue_set_min_rto(act, segue_us_from_ns(segue_a1_min_rto_ns(set, ho, tcp, act)));
	/* 9.4 [C]: from now; 9.37: in BBM the last start comes nearer to the paper. */
	act->what |= set->a1_from_last_start ? SEGUE_EXTEND_TIMER : SEGUE_REARM_TIMER;
	flow->a1_active = 1;
}

/* ----------------------------------- 2.2 A2, 2.3 A5, 3.1 Fig. 1: congestion loss */

/* 2.3 [T], 3.1 [T]: bw_old >= 8*bw_new */
static inline u32 segue_large_fall(const struct segue_path *path)
{
	return path->old_link.rate_kbps >= (u64)SEGUE_LARGE_CHANGE * path->new_link.rate_kbps;
}

static inline u32 segue_factor(const struct segue_path *path)
{
	return segue_large_fall(path) ? SEGUE_FACTOR_LARGE_FALL : SEGUE_FACTOR;
}

/* W = max(2, b); real-valued (9.7) */
static inline u32 segue_window(const struct segue_etcp_settings *set,
			       const struct segue_path *path, u32 flows)
{
	return segue_max(set->min_window, segue_bdp_share(path, flows));
}

/* N, as far as the settings look at it. */
static inline u32 segue_flows(const struct segue_etcp_settings *set,
			      const struct segue_notice *notice)
{
	return set->use_n ? segue_max(1, segue_min(notice->flows, SEGUE_FLOWS_LIMIT)) : 1;
}

static inline void segue_set_window(u32 window, struct segue_action *act)
{
	segue_set_cwnd(act, window);
	segue_set_ssthresh(act, window);
}

static inline u32 segue_exceeds(const struct segue_handoff *ho, u32 factor, u32 flows)
{
	return segue_flight_exceeds(&ho->path, ho->flight, factor, flows);
}

static inline void segue_reduce(struct segue_etcp *flow, u32 window, struct segue_action *act)
{
	segue_set_window(window, act);
	flow->cwnd_reduced = 1;
}

/* 2.2 [T]; 2.3 [T] in its place */
static inline void segue_a2_a5(const struct segue_etcp_settings *set, struct segue_etcp *flow,
			       const struct segue_handoff *ho, struct segue_action *act)
{
	const u32 a5 = set->algorithms & SEGUE_A5;

	if (!segue_exceeds(ho, a5 ? segue_factor(&ho->path) : SEGUE_FACTOR, 1))
		return;
	segue_reduce(flow, segue_window(set, &ho->path, 1), act);
	act->rules |= a5 ? SEGUE_RULE_A5 : SEGUE_RULE_A2;
}

/* 3.1 [T] */
static inline void segue_fig1(struct segue_etcp *flow, const struct segue_handoff *ho,
			      struct segue_action *act)
{
	if (!segue_exceeds(ho, segue_factor(&ho->path), ho->flows))
		return;
	segue_reduce(flow, flow->window, act);
	act->rules |= SEGUE_RULE_FIG1;
}

/* 9.35: also after a disconnection. 2.3 [C]: also during fast recovery. */
static inline u32 segue_may_reduce(const struct segue_etcp_settings *set,
				   const struct segue_handoff *ho,
				   const struct segue_sender *tcp)
{
	if (ho->disconnected && !set->a2_in_bbm)
		return 0;
	return set->a2_in_recovery || !tcp->in_fast_recovery;
}

/* ------------------------------- 2.4 A3, 3.2 Fig. 2: unused connection time */

/* 2.4 [T] resend the head at once; cwnd, back-off and timer [C]. The papers' sender starts slowly
 * from there. Where all that was under way is lost, the queue of the new link is empty, and W fits
 * into it. Packets sent before are then no reason to cut W (2.3), should recovery find them lost
 * only now. */
static inline void segue_resume_after_outage(const struct segue_etcp_settings *set,
					     struct segue_etcp *flow,
					     struct segue_action *act)
{
	act->what |= SEGUE_RETRANSMIT_HEAD | SEGUE_REARM_TIMER;
	if (set->a3_clear_backoff)
		act->what |= SEGUE_CLEAR_BACKOFF;
	if (set->resume_at_window) {
		segue_set_cwnd(act, flow->window);
		flow->cwnd_reduced = 1;
	} else if (set->a3_cwnd) {
		segue_set_cwnd(act, set->a3_cwnd);
	}
}

static inline void segue_a3(const struct segue_etcp_settings *set, struct segue_etcp *flow,
			    const struct segue_sender *tcp, struct segue_action *act)
{
	segue_resume_after_outage(set, flow, act);
	act->rules |= SEGUE_RULE_A3;
	if (tcp->ssthresh_saved) /* 2.4 [T]: as the first expiry left it */
		segue_set_ssthresh(act, tcp->ssthresh_saved);
}

static inline void segue_fig2(const struct segue_etcp_settings *set, struct segue_etcp *flow,
			      const struct segue_path *path, const struct segue_sender *tcp,
			      struct segue_action *act)
{
	segue_resume_after_outage(set, flow, act);
	act->rules |= SEGUE_RULE_FIG2;
	/* 3.2: no restore of the saved value here, even for N = 1 (9.9: ablation) */
	if (set->fig2_restore_saved && tcp->ssthresh_saved)
		segue_set_ssthresh(act, tcp->ssthresh_saved);
	else
		segue_set_ssthresh(act, flow->window);
	if (segue_delay_changed(set, path, set->fig23_needs_minrto))
		segue_restart_rtt(set, flow, act);
}

/* --------------------------------------------------- 3.3 Fig. 3: reordering */

/* 3.3 (a) [T]: packets on the new link overtake those on the old one. */
static inline void segue_fig3(const struct segue_etcp_settings *set, struct segue_etcp *flow,
			      const struct segue_handoff *ho, const struct segue_sender *tcp,
			      struct segue_action *act)
{
	const struct segue_path *path = &ho->path;
	const u64 bw_old = path->old_link.rate_kbps;
	const u64 bw_new = path->new_link.rate_kbps;
	/* 3.3 [C]: factor 2 always, and a variable of its own */
	const u32 factor = set->fig3_one_variable ? segue_factor(path) : SEGUE_FACTOR;
	u32 cut = 0;

	flow->fig3_heard = 1;
	flow->delay_changed = (u8)segue_delay_changed(set, path, set->fig23_needs_minrto);

	/* the listing clears it only in (d) */
	if (segue_exceeds(ho, factor, ho->flows))
		flow->cwnd_reduction = 1;
	if (flow->cwnd_reduction &&
	    segue_bdp(path, path->old_link) > segue_bdp(path, path->new_link) &&
	    bw_new < SEGUE_LARGE_CHANGE * bw_old && (set->a2_in_bbm || !ho->disconnected)) {
		segue_set_window(flow->window, act);
		act->rules |= SEGUE_RULE_FIG3_WINDOW;
		cut = 1;
		if (set->fig3_one_variable)
			flow->cwnd_reduced = 1;
	}

	if (ho->disconnected && !set->fig3_in_bbm)
		return;
	if (!tcp->in_fast_recovery && bw_new > SEGUE_REORDERING_CHANGE * bw_old &&
	    !(set->fig3_bar_needs_cut ? cut : flow->cwnd_reduction)) {
		flow->reordering_flag = 1;
		act->rules |= SEGUE_RULE_FIG3_EXPECTS;
		/* max(bw_new/bw_old, 3), the expected number of packets of the new
		 * path per packet of the old one. Rounded down, which leaves the
		 * comparison with a whole number of ACKs exact. */
		flow->dupthresh_ho = segue_max(SEGUE_PACKET * SEGUE_DUPTHRESH,
					       segue_saturate(bw_new * SEGUE_PACKET / bw_old));
		if (set->fig3_first_dupthresh) /* 9.12, the other reading */
			segue_set_dupthresh(act, (flow->dupthresh_ho + SEGUE_PACKET - 1) /
							 SEGUE_PACKET);
	}
}

/* Phase (c) ends: normal SACK recovery from here on. */
static inline void segue_end_reordering(struct segue_etcp *flow, struct segue_action *act)
{
	if (flow->reordering)
		act->what |= SEGUE_RESUME_RECOVERY;
	flow->reordering = 0;
}

/* 2.0 [C], 3.3: a second notice finds no expectation of reordering. */
static inline void segue_forget_reordering(const struct segue_etcp_settings *set,
					   struct segue_etcp *flow, struct segue_action *act)
{
	segue_end_reordering(flow, act);
	if (flow->reordering_flag && set->fig3_first_dupthresh)
		segue_set_dupthresh(act, SEGUE_DUPTHRESH);
	flow->fig3_heard = 0;
	flow->reordering_flag = 0;
	flow->return_fastrecovery = 0;
	flow->needless = 0;
	flow->cwnd_prev = 0;
}

/* 3.3 (d): the resent segment had not been lost; give back what the cut took, up
 * to what the new link holds. The listing is the specification (section 8). */
static inline void segue_undo(const struct segue_etcp_settings *set,
			      const struct segue_etcp *flow, const struct segue_sender *tcp,
			      struct segue_action *act)
{
	const u32 share = flow->bdp_share;

	if (!flow->needless || flow->return_fastrecovery)
		return;
	if (tcp->cwnd >= segue_min(flow->cwnd_prev, share))
		return;
	act->rules |= SEGUE_RULE_FIG3_UNDOES;
	if (set->fig3_undo_to_share) {
		segue_set_window(flow->window, act);
		return;
	}
	segue_set_cwnd(act, segue_min(flow->cwnd_prev, share));
	segue_set_ssthresh(act, segue_max(2 * SEGUE_PACKET, segue_max(flow->cwnd_prev, share)));
}

#endif
