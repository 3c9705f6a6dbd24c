/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * near_flow.h - `near` for a sender that decides for one flow alone. It leaves the choice of the
 * packet to its stack, as programs in a Linux kernel must.
 *
 * Source: docs/reference/near.md, whose sections the comments name; what a kernel cannot do is
 * in docs/internals/kernel.md. The numbers are those of near.h.
 *
 * A notice begins a claim. As long as it lasts, the flow may have its part of W and two packets
 * out on the new link. A packet leaves in each of its slots. The stack's control goes on after
 * it.
 */
#ifndef SEGUE_NEAR_FLOW_H
#define SEGUE_NEAR_FLOW_H

#include "near.h"
#include "table.h"

#define SEGUE_NEAR_PACKET_BYTES 1500u
#define SEGUE_NEAR_ACK_BYTES 52u /* with time stamps (RFC 7323) */
#define SEGUE_NEAR_REST 2u /* rounds from a question that found nothing to the next */
#define SEGUE_NEAR_LEAST_TRAIN 3u /* packets of a question */
#define SEGUE_NEAR_NONE 7u /* no packet of a question */
#define SEGUE_NEAR_ROUND 8u /* least slots of a round trip by which the claim is judged */
#define SEGUE_NEAR_ALONE_MS 10000u /* a claim goes on for no longer, after its first two round trips */
#define SEGUE_NEAR_ALONE_SLOTS 256u /* nor that of a crowd (8.9) */
#define SEGUE_NEAR_MOST_CUTS 4u /* eighths by which a crowd's flow is slower */
#define SEGUE_NEAR_MOST_FLOWS 2047u

/* segue_action.rules */
enum {
	SEGUE_RULE_NEAR_CLAIMS = 1u << 0, /* 2.4, 3.1 */
	SEGUE_RULE_NEAR_OLD_LOSS = 1u << 1, /* 4.2 */
};

/* segue_near_flow.asks (8.7) */
enum {
	SEGUE_NEAR_ASKS = 1, /* the next packet begins a question */
	SEGUE_NEAR_LEAVES, /* not all of its packets have left */
	SEGUE_NEAR_AWAITS, /* they have, and there is no answer yet */
	SEGUE_NEAR_RESTS, /* and so many round trips until the next question */
};

/* State of one flow. */
struct segue_near_flow {
	u32 ho_point; /* snd_max at the notice */
	u8 drains : 1; /* not all of what was sent before it is acknowledged */
	u8 asks : 3; /* whether the link is faster than told (8.7) */
	u8 first : 3; /* number of the question's first packet that has told a round trip, from 0 on */
	u8 waits : 1; /* this round, a packet has waited for others on the new link (8.9) */
	u8 sent; /* segue_out.sent as that began, the last octet */
	u16 flows : 11; /* N */
	u16 crowds : 1; /* the N flows overflow a short queue by themselves (8.9) */
	u16 cuts : 3; /* of a crowd: the pace is so many eighths slower */
	u16 clean : 1; /* in the round before, none has waited */
	u32 claims; /* 0: no claim lasts; 1: its first round trips; else when it ends, ms */
	u16 flight; /* packets under way then */
	u16 since; /* the last so many of them were on the new link */
	u32 kbps : 27; /* this flow's slots as told */
	u32 steps : 5; /* each of which makes them shorter by a fifth */
	u32 rtt_us; /* of the new path as told */
	u32 alone_us; /* a longer one shows others (8.5) */
	u32 least_us; /* least round trip of this round; 0: none yet */
	u32 until_ms; /* the claim lasts so long, and until ho_point is reached; then by rounds */
	u32 most_ms; /* ho_point is waited for no longer (8.5) */
	u32 asked_us; /* when the question began, by segue_out.now_us */
};

static inline u32 segue_near_ms(u64 ns)
{
	return segue_saturate(ns / 1000000) + 1;
}

static inline u32 segue_near_us(u64 ns)
{
	return segue_saturate(ns / 1000);
}

/* The mobile's ACKs over the old link take so long, ns. */
static inline u64 segue_near_old_ack_way(const struct segue_notice *notice)
{
	struct segue_link link;

	segue_copy_within_limits(&link, &notice->old_link);
	return segue_serialisation_ns(SEGUE_NEAR_ACK_BYTES, link, 1) + segue_delay_ns(link);
}

/* 2.5, 2.6: of the packets under way, those that left after completion. ACKs that were on the
 * old link then have let them out, one for each of its packets. Later ACKs come over the new
 * link, and not before the notice. W of them fit into the new path. */
static inline u32 segue_near_since(const struct segue_near *near, const struct segue_notice *notice,
				   u32 flows, u32 flight)
{
	const u64 old_way = segue_near_old_ack_way(notice);
	const u64 way = near->ack_way_ns < old_way ? near->ack_way_ns : old_way;
	const u64 since = way / (near->old_slot_ns * flows + 1) + 1;
	const u32 there = segue_min(segue_saturate(since), segue_near_share(near, 1));

	return notice->disconnected ? 0 : segue_min(there, flight);
}

/* 8.5: the time to hear of a loss (5.4), to resend all that is under way, and for the old
 * link to deliver what it holds. */
static inline u64 segue_near_longest_ns(const struct segue_near *near,
					const struct segue_notice *notice, u32 flows, u32 flight)
{
	const u64 packets = segue_min(flight, SEGUE_FLIGHT_LIMIT);
	const u64 old = notice->disconnected ? 0 : near->old_slot_ns * flows;

	return segue_near_rto_ns(near, 0) + packets * (near->slot_ns + old);
}

/* 8.9: 1 if N flows have more out than the path and a queue as long hold. Each has whole
 * packets, and two for its delayed ACK. */
static inline u32 segue_near_crowds(const struct segue_near *near, u32 flows)
{
	const u64 out = (u64)flows * (segue_near_share(near, 1) + SEGUE_NEAR_ACKS_HELD);

	return out > 2 * (near->rtt_ns * flows / near->slot_ns + 1);
}

static inline void segue_near_on_notice(const void *settings, void *state,
					const struct segue_sender *tcp,
					const struct segue_notice *notice,
					struct segue_action *act)
{
	struct segue_near_flow *flow = state;
	struct segue_near near;
	u32 window, flows;

	(void)settings;
	if (!segue_notice_usable(notice))
		return;
	flows = segue_max(1, segue_min(notice->flows, SEGUE_NEAR_MOST_FLOWS));
	/* the notice is about the path: its delays have what lies beyond the link */
	segue_near_of(&near, notice, 0, SEGUE_NEAR_PACKET_BYTES, SEGUE_NEAR_ACK_BYTES, 1);
	window = segue_saturate((u64)segue_near_share(&near, 1) * SEGUE_PACKET);
	flow->ho_point = tcp->snd_max;
	flow->drains = segue_seq_before(tcp->snd_una, tcp->snd_max) & 1;
	flow->claims = 1;
	flow->asks = SEGUE_NEAR_ASKS;
	flow->flows = flows & SEGUE_NEAR_MOST_FLOWS;
	/* a raise without a disconnection is refuted by the first cut (belief.h) */
	flow->crowds = (notice->disconnected || window <= tcp->cwnd) &&
		       segue_near_crowds(&near, flows);
	flow->cuts = 0;
	flow->waits = 0;
	flow->clean = 0;
	flow->flight = (u16)segue_min(tcp->flight, 0xffff);
	flow->since = (u16)segue_near_since(&near, notice, flows, flow->flight);
	flow->kbps = segue_min(segue_max(1, notice->new_link.rate_kbps / flows),
			       SEGUE_RATE_LIMIT - 1) & (SEGUE_RATE_LIMIT - 1);
	flow->steps = 0;
	flow->rtt_us = segue_near_us(near.rtt_ns);
	flow->alone_us = segue_near_us(segue_near_alone_ns(&near, flows));
	flow->least_us = 0;
	flow->until_ms = segue_max(segue_near_ms(2 * near.rtt_ns),
				   segue_near_ms(SEGUE_NEAR_ROUND * near.slot_ns));
	flow->most_ms = segue_near_ms(segue_near_longest_ns(&near, notice, flows,
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
	if (flow->drains)
		flow->drains = segue_seq_before(tcp->snd_una, flow->ho_point) & 1;
}

/* 8.9, 6.4: a packet that was sent since the notice is lost, and the claim goes on. */
static inline void segue_near_cut(struct segue_near_flow *flow)
{
	if (!flow->crowds)
		return; /* the host ends it */
	flow->waits = 1;
	if (flow->steps)
		flow->steps = segue_near_steps_left(flow->steps) & 31;
	else if (flow->cuts < SEGUE_NEAR_MOST_CUTS)
		flow->cuts = (flow->cuts + 1) & 7;
}

/* 4.2: what was sent before the notice is the old link's loss, and costs no window. */
static inline void segue_near_on_fast_retransmit(const void *settings, void *state,
						 const struct segue_sender *tcp,
						 struct segue_action *act)
{
	struct segue_near_flow *flow = state;

	(void)settings;
	if (!flow->drains || !segue_seq_before(tcp->snd_una, flow->ho_point)) {
		segue_near_cut(flow);
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
	if (!flow->drains || !segue_seq_before(tcp->snd_una, flow->ho_point))
		return;
	act->what |= SEGUE_KEEP_SSTHRESH;
	act->rules |= SEGUE_RULE_NEAR_OLD_LOSS;
}

static inline u32 segue_near_listens(const void *state)
{
	const struct segue_near_flow *flow = state;

	return flow->drains || (flow->claims && flow->crowds);
}

/* 6.3: a slot after the steps so far, kbit/s. */
static inline u64 segue_near_speed(const struct segue_near_flow *flow)
{
	u64 kbps = flow->kbps;
	u32 step;

	for (step = 0; step < SEGUE_NEAR_MOST_STEPS; step++)
		if (step < flow->steps)
			kbps += kbps / 4;
	return kbps;
}

#define SEGUE_NEAR_PACKET_BITS ((u64)SEGUE_NEAR_PACKET_BYTES * 8000) /* kbit/s in us */

static inline u32 segue_near_slot_us(u64 speed)
{
	return segue_saturate(SEGUE_NEAR_PACKET_BITS / (speed ? speed : 1));
}

/* Packets that fill a path. */
static inline u32 segue_near_filled(u32 rtt_us, u64 speed)
{
	return segue_saturate(rtt_us * speed / SEGUE_NEAR_PACKET_BITS);
}

/* 8.7: packets of a question, as far as the window has so many. Fewer than three are none: the
 * answer is a slot behind another. */
static inline u32 segue_near_train(const struct segue_near_flow *flow, u64 speed)
{
	return segue_min(SEGUE_NEAR_TRAIN, segue_near_filled(flow->rtt_us, speed) +
						     SEGUE_NEAR_ACKS_HELD / flow->flows);
}

/* 8.7: the next packet leaves at this speed. All of a question leave half a slot apart, and
 * what that saves is waited for behind the last one. */
static inline u64 segue_near_pace(struct segue_near_flow *flow, const struct segue_out *out,
				  u64 speed)
{
	const u32 train = segue_near_train(flow, speed);
	u32 left;

	if (train < SEGUE_NEAR_LEAST_TRAIN)
		return speed;
	if (flow->asks == SEGUE_NEAR_ASKS) {
		flow->asks = SEGUE_NEAR_LEAVES;
		flow->sent = (u8)out->sent;
		flow->asked_us = out->now_us;
		flow->first = SEGUE_NEAR_NONE;
	}
	if (flow->asks != SEGUE_NEAR_LEAVES)
		return speed;
	left = (u8)(out->sent - flow->sent);
	if (left >= train)
		flow->asks = SEGUE_NEAR_AWAITS;
	else if (out->now_us - flow->asked_us > (train / 2 + 1) * segue_near_slot_us(speed))
		flow->asks = SEGUE_NEAR_RESTS + 1; /* something else holds them back */
	else
		return left + 1 < train ? 2 * speed : 2 * speed / (train + 1);
	return speed;
}

/* 8.7: what the last packet to arrive says. At the speed of the clock the link has half of what
 * left between it and another still to carry, in slots of the link. Whole slots of the flow are
 * between them, in which each of the other flows has sent as many packets. */
static inline void segue_near_hears(struct segue_near_flow *flow, const struct segue_out *out,
				    u64 speed)
{
	const u32 train = segue_near_train(flow, speed);
	const u32 slot_us = segue_near_slot_us(speed);
	const u32 half_us = segue_max(1, slot_us / 2);
	const u32 ahead_us = out->sent_us - flow->asked_us + half_us / 2;
	const u32 number = ahead_us / half_us;
	u32 behind;

	if (train < SEGUE_NEAR_LEAST_TRAIN ||
	    (flow->asks != SEGUE_NEAR_LEAVES && flow->asks != SEGUE_NEAR_AWAITS))
		return;
	if (!out->rtt_us || (s32)ahead_us < 0)
		return; /* it left before the question */
	if (out->rtt_us > out->now_us - out->sent_us)
		return; /* RACK keeps the round trip of an older packet that came later */
	if (number > train) {
		flow->asks = SEGUE_NEAR_RESTS + 1; /* no round trip tells: they were sent again */
		return;
	}
	if (flow->first == SEGUE_NEAR_NONE) {
		flow->first = number & 7;
		flow->least_us = out->rtt_us; /* a queue of before tells nothing of this one */
		return;
	}
	if (number + 2 < train || number < flow->first + 2u || (number - flow->first) % 2)
		return;
	behind = number - flow->first;
	if (out->rtt_us > flow->alone_us || /* 8.5: others fill the link */
	    out->rtt_us - flow->least_us >= behind * slot_us / (4 * flow->flows)) {
		flow->asks = SEGUE_NEAR_RESTS + SEGUE_NEAR_REST;
		return;
	}
	flow->steps = segue_near_steps_more(flow->steps) & 31;
	flow->asks = SEGUE_NEAR_ASKS;
}

/* 8.5: what the last round trip has shown. */
static inline void segue_near_measures(struct segue_near_flow *flow, u32 rtt_us)
{
	if (rtt_us && (!flow->least_us || rtt_us < flow->least_us))
		flow->least_us = rtt_us;
	if (rtt_us > flow->rtt_us + segue_near_slot_us(flow->kbps) / flow->flows)
		flow->waits = 1;
}

/* 8.9: a round trip is over. A crowd's flow is faster again; one that cannot ask (8.7) takes a
 * step if none of its packets has waited in two rounds. */
static inline void segue_near_quickens(struct segue_near_flow *flow, u32 queue)
{
	const u32 waits = flow->waits || !flow->least_us;

	if (flow->cuts && !queue)
		flow->cuts = (flow->cuts - 1) & 7;
	else if (!waits && flow->clean &&
		 segue_near_train(flow, segue_near_speed(flow)) < SEGUE_NEAR_LEAST_TRAIN)
		flow->steps = segue_min(flow->steps + 1, SEGUE_NEAR_MOST_STEPS) & 31;
	flow->clean = !waits;
	flow->waits = 0;
}

/* 8.5, 8.9: how long a claim goes on. */
static inline u32 segue_near_alone_ms(const struct segue_near_flow *flow)
{
	const u32 slots_ms = segue_near_slot_us(flow->kbps) / 1000 * SEGUE_NEAR_ALONE_SLOTS;

	return segue_max(SEGUE_NEAR_ALONE_MS, flow->crowds ? slots_ms : 0);
}

/* 8.5: as long as a round trip, and some slots, so that more than one packet tells. */
static inline u32 segue_near_round_us(const struct segue_near_flow *flow)
{
	return segue_max(flow->rtt_us, SEGUE_NEAR_ROUND * segue_near_slot_us(flow->kbps));
}

/* 8.5: a round trip is over. If nobody else is on the link, the claim goes on. */
static inline void segue_near_round(struct segue_near_flow *flow, u32 drains, u32 elapsed_ms,
				    struct segue_claim *claim)
{
	const u32 queue = !drains && flow->least_us > flow->alone_us;

	claim->shared = queue && !flow->steps;
	if (claim->shared)
		claim->beside = 0;
	if (queue) { /* 6.4 */
		flow->steps = segue_near_steps_left(flow->steps) & 31;
		flow->asks = SEGUE_NEAR_RESTS + SEGUE_NEAR_REST;
	} else if (flow->asks == SEGUE_NEAR_AWAITS) {
		flow->asks = SEGUE_NEAR_ASKS;
	} else if (flow->asks > SEGUE_NEAR_RESTS) {
		flow->asks = flow->asks - 1 > SEGUE_NEAR_RESTS ? flow->asks - 1 : SEGUE_NEAR_ASKS;
	}
	segue_near_quickens(flow, queue);
	if (claim->shared || (flow->claims > 1 && elapsed_ms >= flow->claims))
		flow->claims = 0;
	else if (flow->claims == 1 && !drains)
		flow->claims = segue_saturate((u64)elapsed_ms + segue_near_alone_ms(flow));
	flow->until_ms = segue_saturate((u64)elapsed_ms + segue_near_round_us(flow) / 1000 + 1);
	flow->least_us = 0;
	flow->first = SEGUE_NEAR_NONE;
}

/* 8.1: more packets fill the path if it is longer than told, or if its slots are shorter (8.7).
 * It is longer by as much as the least round trip of this round shows, as far as that shows no
 * others. */
static inline u32 segue_near_more(const struct segue_near_flow *flow, u64 speed)
{
	const u32 least_us = segue_min(flow->least_us, flow->alone_us);
	const u32 rtt_us = segue_max(least_us, flow->rtt_us);

	return segue_near_filled(rtt_us, speed) - segue_near_filled(flow->rtt_us, flow->kbps);
}

/* 8.3: packets that the last blocks report of those from `from` on. No byte counts twice: a
 * duplicate may be a block within another. */
static inline u32 segue_near_sacked(const struct segue_out *out, u32 from)
{
	u32 bytes = 0, i;

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

/* 8.3: what the old link holds is not on the new one. The stack counts it as under way until it
 * is acknowledged, SACKed or marked lost. */
static inline u32 segue_near_on_old(const struct segue_near_flow *flow, const struct segue_out *out)
{
	const u32 unit = segue_max(1, out->unit);
	/* what was on the new link has arrived a round trip later, or is lost */
	const u32 since = out->elapsed_ms <= flow->rtt_us / 1000 ? flow->since : 0;
	const u32 end = flow->ho_point - since * unit;
	u32 left, marked;

	if (!segue_seq_before(out->snd_una, end))
		return 0;
	left = (end - out->snd_una + unit - 1) / unit;
	marked = out->marked - segue_min(out->marked, segue_near_sacked(out, end));
	left = left > marked ? left - marked : 0;
	return segue_min(left, flow->flight - since);
}

/* 3.1, 3.2: before a packet leaves. The last that left before the notice are on the new link. */
static inline u32 segue_near_claim(void *state, const struct segue_out *out,
				   struct segue_claim *claim)
{
	struct segue_near_flow *flow = state;
	const u32 drains = segue_seq_before(out->snd_una, flow->ho_point);
	u32 old_out;
	u64 speed;

	if (!flow->claims)
		return 0;
	segue_near_measures(flow, out->rtt_us);
	segue_near_hears(flow, out, segue_near_speed(flow));
	claim->shared = 0;
	claim->beside = segue_near_more(flow, segue_near_speed(flow));
	if (drains && out->elapsed_ms >= flow->most_ms)
		flow->claims = 0;
	else if (out->elapsed_ms >= flow->until_ms)
		segue_near_round(flow, drains, out->elapsed_ms, claim);
	if (!flow->claims)
		return 0;
	old_out = drains ? segue_near_on_old(flow, out) : 0;
	speed = segue_near_speed(flow);
	claim->beside = segue_saturate((u64)segue_near_more(flow, speed) + old_out +
				       SEGUE_NEAR_ACKS_HELD);
	claim->kbps = segue_saturate(segue_near_pace(flow, out, speed) * (8 - flow->cuts) / 8);
	return 1;
}

SEGUE_FITS(u32, struct segue_near_flow);

SEGUE_POLICY(near, .on_notice = segue_near_on_notice, .on_new_ack = segue_near_on_new_ack,
	     .on_fast_retransmit = segue_near_on_fast_retransmit,
	     .on_timeout = segue_near_on_timeout, .listens = segue_near_listens,
	     .claim = segue_near_claim);

#endif
