/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * near_flow.h - `near` for a sender that decides for one flow alone. It leaves the choice of the
 * packet to its stack, as programs in a Linux kernel must.
 *
 * Source: docs/reference/near.md, whose sections the comments name; what a kernel cannot do is
 * in docs/internals/kernel.md. The numbers are those of near.h.
 *
 *   claim           a paced bandwidth claim, which a notice begins. As long as it lasts, the
 *                   flow may have its share of W and two packets in flight on the new link. A
 *                   packet leaves in each of its slots. The stack's congestion control goes on
 *                   after it
 *   oversubscribed  N flows have more in flight than the path and a queue of W hold (8.8)
 *   share           of one flow in its W / N (near_share.h)
 *   own queue       packets of the N flows that wait for each other. A round trip that this
 *                   queue does not explain shows competing traffic (8.5)
 */
#ifndef SEGUE_NEAR_FLOW_H
#define SEGUE_NEAR_FLOW_H

#include "belief.h"
#include "near_expected.h"
#include "near_jitter.h"
#include "near_probe.h"
#include "near_share.h"
#include "near_state.h"
#include "table.h"

#define SEGUE_NEAR_ACK_BYTES 52u /* with time stamps (RFC 7323) */
#define SEGUE_NEAR_MIN_ROUND_SLOTS 8u /* a round has at least so many slots */
#define SEGUE_NEAR_MIN_ROUND_MS 100u /* and lasts so long: CoDel's INTERVAL (RFC 8289) */
#define SEGUE_NEAR_SHORT_ROUND_SLOTS 3u /* if the link is spare, and the flow cannot probe (8.10) */
#define SEGUE_NEAR_QUEUE_US 5000u /* of a queue that is none: CoDel's TARGET (RFC 8289) */
#define SEGUE_NEAR_JITTER_PART 4u /* of the round trip, a quarter: more jitter shows competing traffic (8.5) */
#define SEGUE_NEAR_MAX_CLAIM_MS 10000u /* of a claim, after its first round */
#define SEGUE_NEAR_MAX_CLAIM_SLOTS 256u /* of the flow, if these last longer */
#define SEGUE_NEAR_MAX_SLOWDOWN 4u /* eighths by which a flow is slower, oversubscribed (8.8) */

static inline u32 segue_near_ms(u64 ns)
{
	return segue_saturate(ns / 1000000 + 1);
}

/* A time in the claim, as its state keeps it. */
static inline u32 segue_near_until(u64 ms)
{
	return segue_min(segue_saturate(ms), SEGUE_NEAR_TIME_LIMIT);
}

static inline u32 segue_near_us(u64 ns)
{
	return segue_saturate(ns / 1000);
}

/* One-way delay of the mobile's ACKs over the old link, ns. */
static inline u64 segue_near_old_ack_owd(const struct segue_notice *notice)
{
	struct segue_link link;

	segue_copy_within_limits(&link, &notice->old_link);
	return segue_serialisation_ns(SEGUE_NEAR_ACK_BYTES, link, 1) + segue_delay_ns(link);
}

/* 2.5, 2.6: of the packets in flight, those that left after completion. ACKs that were on the
 * old link then have let them out, one for each of its packets. Later ACKs come over the new
 * link, and not before the notice. W of them fit into the new path. */
static inline u32 segue_near_sent_on_new(const struct segue_near_flow *flow, const struct segue_near *near,
					 const struct segue_notice *notice, u32 flows, u32 flight)
{
	const u64 old_owd = segue_near_old_ack_owd(notice);
	const u64 owd = near->ack_owd_ns < old_owd ? near->ack_owd_ns : old_owd;
	const u32 there = segue_min(segue_near_sent_in(flow, near, flows, owd), segue_near_share(near, 1));

	return notice->disconnected ? 0 : segue_min(there, flight);
}

/* 8.5: the time to find a loss (5.4), to retransmit all that is in flight, and for the old
 * link to deliver what it holds. */
static inline u64 segue_near_old_timeout_ns(const struct segue_near *near,
					    const struct segue_notice *notice, u32 flows,
					    u32 flight)
{
	const u64 packets = segue_min(flight, SEGUE_FLIGHT_LIMIT);
	const u64 old = notice->disconnected ? 0 : near->old_slot_ns * flows;

	return segue_near_rto_ns(near, 0) + packets * (near->slot_ns + old);
}

static inline void segue_near_on_notice(const void *settings, void *state,
					const struct segue_sender *tcp,
					const struct segue_notice *notice,
					struct segue_action *act)
{
	struct segue_near_flow *flow = state;
	struct segue_near near;
	u32 window, flows, round_ms;

	(void)settings;
	if (!segue_notice_usable(notice))
		return;
	flows = segue_max(1, segue_min(notice->flows, SEGUE_NEAR_FLOWS_LIMIT));
	/* the notice is about the path: its delays have what lies beyond the link */
	segue_near_of(&near, notice, 0, SEGUE_NEAR_PACKET_BYTES, SEGUE_NEAR_ACK_BYTES, 1);
	window = segue_saturate((u64)segue_near_share(&near, 1) * SEGUE_PACKET);
	if (tcp->notified_lately && window > tcp->cwnd) { /* 8.6: it ends a claim, and begins none */
		flow->claim_until = 0;
		flow->old_unacked = 0;
		return;
	}
	flow->flight = (u16)segue_min(tcp->flight, 0xffff);
	flow->sent_on_new = segue_min(segue_near_sent_on_new(flow, &near, notice, flows, flow->flight),
				      SEGUE_NEAR_SENT_LIMIT) & SEGUE_NEAR_SENT_LIMIT;
	flow->ho_point = tcp->snd_max;
	flow->old_unacked = segue_seq_before(tcp->snd_una, tcp->snd_max) & 1;
	flow->claim_until = 1;
	flow->probe = tcp->notified_lately ? SEGUE_NEAR_PROBE_NEVER : SEGUE_NEAR_PROBE_STARTS;
	flow->flows = flows & SEGUE_NEAR_FLOWS_LIMIT;
	/* The first reduction refutes a raise without a disconnection (belief.h). So does one round that shows
	 * competing traffic, whatever its jitter: a receiver that lies would gain otherwise. */
	flow->raised = !notice->disconnected && window > tcp->cwnd;
	flow->oversubscribed = !flow->raised && segue_near_oversubscribed(&near, flows);
	flow->slowdown = 0;
	flow->queue_before = 0;
	flow->jitter = 0;
	flow->jumped = 0;
	flow->jumped_before = 0;
	flow->last_more = SEGUE_NEAR_MORE_LIMIT; /* so that the first one is no jump */
	flow->queued = 0;
	flow->no_queue = 0;
	flow->sampled = 0;
	flow->complete = 0;
	flow->kbps = segue_near_kbps(notice->new_link.rate_kbps / flows) & (SEGUE_RATE_LIMIT - 1);
	flow->steps = 0;
	flow->rtt_us = segue_near_us(near.rtt_ns);
	flow->max_own_rtt_us = segue_near_us(segue_near_max_own_rtt_ns(&near, flows));
	flow->min_rtt_us = 0;
	round_ms = segue_max(segue_near_ms(2 * near.rtt_ns),
			     segue_near_ms(SEGUE_NEAR_MIN_ROUND_SLOTS * near.slot_ns));
	if (!flow->raised) {
		flow->max_own_rtt_us = segue_max(flow->max_own_rtt_us, flow->rtt_us + SEGUE_NEAR_QUEUE_US);
		round_ms = segue_max(round_ms, SEGUE_NEAR_MIN_ROUND_MS);
	}
	flow->round_ends_ms = segue_near_until(round_ms) & SEGUE_NEAR_TIME_LIMIT;
	flow->old_until_ms = segue_near_ms(segue_near_old_timeout_ns(&near, notice, flows,
							   tcp->flight));

	act->what |= SEGUE_CLAIM;
	segue_set_cwnd(act, window);
	segue_set_ssthresh(act, window);
	if (tcp->timeouts_since_ack || tcp->in_rto_recovery) /* stalled: 4.1 */
		act->what |= SEGUE_RETRANSMIT_HEAD | SEGUE_CLEAR_BACKOFF | SEGUE_REARM_TIMER;
	act->rules |= SEGUE_RULE_NEAR_CLAIMS;
}

static inline void segue_near_on_new_ack(const void *settings, void *state,
					 const struct segue_sender *tcp,
					 struct segue_action *act)
{
	struct segue_near_flow *flow = state;

	(void)settings;
	(void)act;
	if (flow->old_unacked)
		flow->old_unacked = segue_seq_before(tcp->snd_una, flow->ho_point) & 1;
}

/* 8.8, 6.4: a packet that was sent since the notice is lost, and the claim goes on. */
static inline void segue_near_on_cut(struct segue_near_flow *flow)
{
	if (!flow->oversubscribed)
		return; /* the host ends it */
	flow->queued = 1;
	if (flow->steps)
		flow->steps = segue_near_steps_after_queue(flow->steps) & 31;
	else if (flow->slowdown < SEGUE_NEAR_MAX_SLOWDOWN)
		flow->slowdown = (flow->slowdown + 1) & 7;
}

/* 4.2: a loss of what was sent before the notice is the old link's, and reduces no window. */
static inline void segue_near_on_fast_retransmit(const void *settings, void *state,
						 const struct segue_sender *tcp,
						 struct segue_action *act)
{
	struct segue_near_flow *flow = state;

	(void)settings;
	if (!flow->old_unacked || !segue_seq_before(tcp->snd_una, flow->ho_point)) {
		segue_near_on_cut(flow);
		return;
	}
	act->what |= SEGUE_KEEP_WINDOW;
	act->rules |= SEGUE_RULE_NEAR_OLD_LOSS;
}

static inline void segue_near_on_timeout(const void *settings, void *state,
					 const struct segue_sender *tcp, struct segue_action *act)
{
	const struct segue_near_flow *flow = state;

	(void)settings;
	if (!flow->old_unacked || !segue_seq_before(tcp->snd_una, flow->ho_point))
		return;
	act->what |= SEGUE_KEEP_SSTHRESH;
	act->rules |= SEGUE_RULE_NEAR_OLD_LOSS;
}

static inline u32 segue_near_listens(const void *state)
{
	const struct segue_near_flow *flow = state;

	return flow->old_unacked || (flow->claim_until && flow->oversubscribed);
}

/* 8.5: a round trip of the new path. */
static inline void segue_near_on_rtt(struct segue_near_flow *flow, const struct segue_out *out, u32 spare)
{
	const u32 rtt_us = out->rtt_us;

	if (!rtt_us)
		return;
	flow->sampled = 1;
	if (!flow->min_rtt_us || rtt_us < flow->min_rtt_us)
		flow->min_rtt_us = rtt_us;
	if (flow->claim_until > 1 && (!flow->path_rtt_us || rtt_us < flow->path_rtt_us))
		flow->path_rtt_us = rtt_us;
	if (rtt_us > segue_near_unqueued_rtt_us(flow, spare))
		flow->queued = 1;
	if (rtt_us > out->now_us - out->sent_us)
		return; /* RACK keeps the round trip of an older packet that came later */
	segue_near_on_jump(flow, rtt_us);
	segue_near_on_jitter(flow, rtt_us - flow->min_rtt_us);
}

/* 8.8: a round is over. A flow that was slowed down is faster again. One that has too few packets
 * for a rate probe takes a step if none of its packets has waited in two rounds. If the link
 * is spare, one round is as good as a rate probe (8.10). If it has jitter, no competing traffic is
 * enough (8.12). */
static inline void segue_near_adjust_rate(struct segue_near_flow *flow, u32 queue, u32 spare)
{
	const u32 jitter = segue_near_has_jitter(flow);
	const u32 queued = (jitter ? queue : flow->queued) || !flow->min_rtt_us;
	const u32 free = !queued && flow->probe != SEGUE_NEAR_PROBE_NEVER &&
			 (jitter || !segue_near_can_probe(flow));

	if (flow->slowdown && !queue)
		flow->slowdown = (flow->slowdown - 1) & 7;
	else if (free && spare && !jitter)
		flow->steps = segue_near_steps_after_probe(flow->steps) & 31;
	else if (free && flow->no_queue)
		flow->steps = segue_min(flow->steps + 1, SEGUE_NEAR_MAX_STEPS) & 31;
	flow->no_queue = !queued;
	flow->queued = 0;
}

/* 8.5: when a claim ends that goes on after `elapsed_ms`. */
static inline u32 segue_near_end_ms(const struct segue_near_flow *flow, u32 elapsed_ms)
{
	const u32 slots_ms = segue_near_slot_us(flow->kbps) / 1000 * SEGUE_NEAR_MAX_CLAIM_SLOTS;

	return segue_near_until((u64)elapsed_ms + segue_max(SEGUE_NEAR_MAX_CLAIM_MS, slots_ms));
}

/* 8.5: a round lasts a round trip, and some slots, so that it has more than one sample. It is shorter
 * if the link is spare, and the flow cannot probe (8.10). */
static inline u32 segue_near_round_us(const struct segue_near_flow *flow, u32 spare)
{
	const u64 slot_us = segue_near_slot_us(flow->kbps);
	u64 round_us = flow->rtt_us, least_us = SEGUE_NEAR_MIN_ROUND_SLOTS * slot_us;

	if (spare && !segue_near_can_probe(flow)) {
		round_us = flow->max_own_rtt_us;
		least_us = SEGUE_NEAR_SHORT_ROUND_SLOTS * slot_us;
	}
	if (round_us < least_us)
		round_us = least_us;
	return segue_max(segue_saturate(round_us), flow->raised ? 0 : SEGUE_NEAR_MIN_ROUND_MS * 1000);
}

/* 8.5: the longest round trip that shows no competing traffic. Those of a link with jitter vary by
 * themselves. If old packets are missing, the delay may be reported at half of its value. */
static inline u32 segue_near_explained_rtt_us(const struct segue_near_flow *flow, u32 old_unacked)
{
	const u32 most_us = flow->raised ? 0 : flow->rtt_us / SEGUE_NEAR_JITTER_PART;
	const u64 jitter_us = segue_min(segue_near_jitter_us(flow), most_us);

	return segue_saturate(flow->max_own_rtt_us + jitter_us + (old_unacked ? flow->rtt_us : 0));
}

/* 8.5: 1 if a raise has met a standing queue. New packets have left, none of them has a round trip, and
 * old packets are missing. Without this a claim over a deep queue would end without a word. */
static inline u32 segue_near_hears_nothing(const struct segue_near_flow *flow, const struct segue_out *out,
					   u32 old_unacked)
{
	return flow->raised && !flow->sampled && old_unacked &&
	       segue_seq_before(flow->ho_point, out->snd_max);
}

/* 8.5: packets that the path holds beyond the window at the end of a claim, as the round trips of
 * its last round tell it. They may be long because the delay is reported at half of its value. */
static inline u32 segue_near_extra_at_end(const struct segue_near_flow *flow, u32 granted)
{
	const u32 least_us = segue_min(flow->min_rtt_us, segue_saturate(2 * (u64)flow->rtt_us));
	const u32 rtt_us = segue_saturate((u64)least_us + segue_near_jitter_wait_us(flow));
	const u32 reported = segue_near_bdp(flow->rtt_us, flow->kbps);

	if (!flow->min_rtt_us)
		return 0;
	return segue_near_of_granted(segue_near_bdp(rtt_us, flow->kbps) - reported, granted, reported);
}

/* 8.12: a round shows competing traffic on a link with jitter: 1 if the flow slows down by an eighth,
 * and the claim goes on. */
static inline u32 segue_near_slows_down(struct segue_near_flow *flow)
{
	if (!segue_near_has_jitter(flow) || flow->slowdown >= SEGUE_NEAR_MAX_SLOWDOWN)
		return 0;
	flow->slowdown = (flow->slowdown + 1) & 7;
	return 1;
}

/* 8.5: a round is over. Two in a row that show competing traffic end the claim. One is enough where
 * the notice has raised the window. */
SEGUE_ONCE u32 segue_near_on_round(SEGUE_STATE *state, const struct segue_out *out, u32 old_unacked, u32 spare,
				    struct segue_claim *claim)
{
	struct segue_near_flow *flow = (void *)state;
	u32 elapsed_ms, explained_us, queue, round_ms;

	if (!flow || !out || !claim)
		return 0;
	elapsed_ms = out->elapsed_ms;
	explained_us = segue_near_explained_rtt_us(flow, old_unacked);
	queue = flow->min_rtt_us > explained_us;
	if (elapsed_ms > ((u64)explained_us + segue_near_slot_us(flow->kbps)) / 1000)
		queue |= segue_near_hears_nothing(flow, out, old_unacked);
	claim->competing_traffic = queue && !flow->steps && !segue_near_slows_down(flow) &&
				   (flow->queue_before || flow->raised);
	flow->queue_before = queue & 1;
	if (claim->competing_traffic)
		claim->extra_packets = segue_near_extra_at_end(flow, out->granted);
	if (queue) /* 6.4 */
		flow->steps = segue_near_steps_after_queue(flow->steps) & 31;
	segue_near_probe_after_round(flow, queue);
	segue_near_adjust_rate(flow, queue, spare);
	if (claim->competing_traffic || (flow->claim_until > 1 && elapsed_ms >= flow->claim_until)) {
		flow->claim_until = 0;
	} else if (flow->claim_until == 1 && !old_unacked) {
		flow->claim_until = segue_near_end_ms(flow, elapsed_ms) & SEGUE_NEAR_TIME_LIMIT;
		flow->path_rtt_us = flow->min_rtt_us;
	}
	round_ms = segue_near_round_us(flow, spare) / 1000 + 1;
	flow->round_ends_ms = segue_near_until((u64)elapsed_ms + round_ms) & SEGUE_NEAR_TIME_LIMIT;
	flow->jumped_before = flow->jumped;
	flow->jumped = 0;
	flow->min_rtt_us = 0;
	flow->first_sample = SEGUE_NEAR_NO_SAMPLE;
	return 0;
}

/* 8.3: packets that the last blocks report of those from `from` on. No byte counts twice: a
 * duplicate may be a block within another. */
SEGUE_ONCE u32 segue_near_sacked(const struct segue_out *out, u32 from)
{
	u32 bytes = 0, i;

	if (!out)
		return 0;
	for (i = 0; i < SEGUE_SACKS; i++) {
		const u32 end = out->sacks[i].end;
		u32 start = out->sacks[i].start;

		if (segue_seq_before(start, from))
			start = from;
		if (!segue_seq_before(start, end))
			continue;
		bytes += end - start;
		from = end;
	}
	return bytes / segue_max(1, out->unit);
}

/* 8.3: packets from before the notice that are on the new link. A round trip later what was there
 * has arrived, or is lost. */
static inline u32 segue_near_on_new(const struct segue_near_flow *flow, const struct segue_out *out)
{
	return out->elapsed_ms <= flow->rtt_us / 1000 ? flow->sent_on_new : 0;
}

/* 8.3: what the old link holds is not on the new one. The stack counts it as in flight until it
 * is acknowledged, SACKed or marked lost. `sacked`: packets that left behind the last of it. */
static inline u32 segue_near_old_in_flight(const struct segue_near_flow *flow, const struct segue_out *out,
					   u32 on_new, u32 sacked)
{
	const u32 unit = segue_max(1, out->unit);
	const u32 end = flow->ho_point - on_new * unit;
	u32 left, marked;

	if (!segue_seq_before(out->snd_una, end))
		return 0;
	left = (end - out->snd_una + unit - 1) / unit;
	marked = out->marked - segue_min(out->marked, sacked);
	left = left > marked ? left - marked : 0;
	return segue_min(left, flow->flight - on_new);
}

/* 3.1, 3.2: before a packet leaves. The last that left before the notice are on the new link. */
static inline u32 segue_near_claim(void *state, const struct segue_out *out,
				   struct segue_claim *claim)
{
	struct segue_near_flow *flow = state;
	/* once all of it was, it stays acknowledged, however far numbers have gone since */
	const u32 old_unacked = flow->claim_until == 1 && segue_seq_before(out->snd_una, flow->ho_point);
	const u32 spare = segue_near_spare(flow, out);
	const u32 unit = segue_max(1, out->unit), on_new = segue_near_on_new(flow, out);
	u32 old_out = 0, arrived, share;
	u64 rate;
	s64 all;

	claim->competing_traffic = 0;
	claim->extra_packets = 0;
	if (!flow->claim_until) { /* 8.6: another notice has ended it */
		claim->competing_traffic = flow->raised;
		flow->raised = 0;
		return 0;
	}
	if (segue_near_expects(flow))
		return segue_near_expected_pace(flow, out, claim);
	claim->behind = segue_near_behind(flow, out, old_unacked);
	all = (s64)claim->behind + out->others_behind;
	claim->weight = segue_near_weight(claim->behind, all, segue_min(out->others, SEGUE_NEAR_FLOWS_LIMIT) + 1);
	share = segue_near_share_in_group(flow, out, claim->weight);
	if (share != SEGUE_NEAR_EVEN_SHARE && flow->claim_until == 1)
		flow->old_until_ms = segue_max(flow->old_until_ms, segue_near_shared_until_ms(flow, all));
	segue_near_on_rtt(flow, out, spare);
	segue_near_on_probe_sample(state, out, share);
	claim->extra_packets = segue_near_extra_bdp(flow, segue_near_rate_kbps(flow), out->granted);
	if (old_unacked && out->elapsed_ms >= flow->old_until_ms) {
		flow->claim_until = 0;
		claim->competing_traffic = segue_near_hears_nothing(flow, out, old_unacked);
	} else if (out->elapsed_ms >= flow->round_ends_ms && !segue_near_awaits_probe(flow, out, share)) {
		segue_near_on_round(state, out, old_unacked, spare, claim);
	}
	if (!flow->claim_until) {
		flow->raised = 0;
		return 0;
	}
	if (old_unacked) {
		arrived = segue_near_sacked(out, flow->ho_point - on_new * unit);
		old_out = segue_near_old_in_flight(flow, out, on_new, arrived);
	} else {
		arrived = (out->snd_una - flow->ho_point) / unit + out->marked - out->lost;
	}
	rate = segue_near_shared_kbps(segue_near_rate_kbps(flow), share);
	segue_near_take_share(flow, out, rate, old_out, segue_claim_limit(flow->flight, arrived, flow->raised), claim);
	claim->kbps = segue_max(1, segue_saturate(segue_near_pace(flow, out, rate) * (8 - flow->slowdown) / 8));
	return 1;
}

SEGUE_FITS(u32, struct segue_near_flow);

SEGUE_POLICY(near, .on_notice = segue_near_on_notice, .on_expected = segue_near_on_expected,
	     .on_new_ack = segue_near_on_new_ack,
	     .on_fast_retransmit = segue_near_on_fast_retransmit,
	     .on_timeout = segue_near_on_timeout, .listens = segue_near_listens,
	     .claim = segue_near_claim);

#endif
