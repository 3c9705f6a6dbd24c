/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * near_probe.h - rate probes of a flow that decides alone: packet trains at double speed. Their round
 * trips show whether the link is faster than reported.
 *
 * Source: docs/reference/near.md, 8.7.
 */
#ifndef SEGUE_NEAR_PROBE_H
#define SEGUE_NEAR_PROBE_H

#include "near_jitter.h"
#include "near_share.h"
#include "near_state.h"
#include "table.h"

#define SEGUE_NEAR_PROBE_PAUSE 8u /* rounds from a rate probe that failed to the next (6.4) */
#define SEGUE_NEAR_MIN_PROBE 3u /* packets of a rate probe */
#define SEGUE_NEAR_NO_SAMPLE 7u /* no packet of a rate probe */
#define SEGUE_NEAR_PROBE_LIMIT_US 60000000u /* a round waits for its rate probe no longer */
#define SEGUE_NEAR_PROBE_SLOTS 4u /* from a rate probe's begin to its last packet, and a slot more */

/* 8.7: packets of a rate probe, as far as the window has so many. Fewer than three are none: the
 * packet that decides is a slot behind another. */
static inline u32 segue_near_probe_packets(const struct segue_near_flow *flow, u64 rate)
{
	return segue_min(SEGUE_NEAR_PROBE_PACKETS, segue_near_bdp(flow->rtt_us, rate) +
						     SEGUE_NEAR_DELAYED_ACK / flow->flows);
}

/* 8.7: the next packet leaves at this rate. All of a rate probe leave half a slot apart, and
 * what that saves is waited for behind the last one. */
static inline u64 segue_near_pace(struct segue_near_flow *flow, const struct segue_out *out,
				  u64 rate)
{
	const u32 packets = segue_near_probe_packets(flow, rate);
	u32 left;

	if (packets < SEGUE_NEAR_MIN_PROBE)
		return rate;
	if (flow->probe == SEGUE_NEAR_PROBE_STARTS && !segue_near_has_jitter(flow)) {
		flow->probe = SEGUE_NEAR_PROBE_SENDS;
		flow->probe_sent = (u8)out->sent;
		flow->probe_began_us = out->now_us;
		flow->first_sample = SEGUE_NEAR_NO_SAMPLE;
	}
	if (flow->probe != SEGUE_NEAR_PROBE_SENDS)
		return rate;
	left = (u8)(out->sent - flow->probe_sent);
	if (left >= packets)
		flow->probe = SEGUE_NEAR_PROBE_WAITS;
	else if (out->now_us - flow->probe_began_us > (packets / 2 + 1) * segue_near_slot_us(rate))
		flow->probe = SEGUE_NEAR_PROBE_PAUSED + 1; /* something else holds them back */
	else
		return left + 1 < packets ? 2 * rate : 2 * rate / (packets + 1);
	return rate;
}

/* 8.7: the round trip of the last packet to arrive. If the link has the clock's rate, half of what
 * left between this packet and an earlier one still waits, in slots of the link. Whole slots of
 * the flow are between them, in which the other flows have sent what is theirs. For one flow or two
 * half a slot makes no difference. */
SEGUE_ONCE u32 segue_near_on_probe_sample(SEGUE_STATE *state, const struct segue_out *out, u32 share)
{
	struct segue_near_flow *flow = (void *)state;
	u32 packets, half_us, ahead_us, number, behind;
	u64 even_rate, rate;

	if (!flow || !out)
		return 0;
	even_rate = segue_near_rate_kbps(flow);
	rate = segue_near_shared_kbps(even_rate, share);
	packets = segue_near_probe_packets(flow, rate);
	half_us = segue_max(1, segue_near_slot_us(rate) / 2);
	ahead_us = out->sent_us - flow->probe_began_us + half_us / 2;
	number = ahead_us / half_us;
	if (packets < SEGUE_NEAR_MIN_PROBE ||
	    (flow->probe != SEGUE_NEAR_PROBE_SENDS && flow->probe != SEGUE_NEAR_PROBE_WAITS))
		return 0;
	if (!out->rtt_us || (s32)ahead_us < 0)
		return 0; /* it left before the rate probe */
	if (out->rtt_us > out->now_us - out->sent_us)
		return 0; /* RACK keeps the round trip of an older packet that came later */
	if (number > packets) {
		flow->probe = SEGUE_NEAR_PROBE_PAUSED + 1; /* no sample: retransmitted (Karn) */
		return 0;
	}
	if (flow->first_sample == SEGUE_NEAR_NO_SAMPLE) {
		flow->first_sample = number & 7;
		flow->min_rtt_us = out->rtt_us; /* an earlier queue counts no more */
		return 0;
	}
	if (number + 2 < packets || number < flow->first_sample + 2u ||
	    (flow->flows > 2 && (number - flow->first_sample) % 2))
		return 0;
	behind = number - flow->first_sample;
	if (flow->flows == 2)
		behind &= ~1u; /* the other flow may have sent nothing in the last half */
	if (segue_near_has_jitter(flow) || out->rtt_us > flow->max_own_rtt_us || /* 8.5: competing traffic */
	    out->rtt_us - flow->min_rtt_us >= behind * segue_near_slot_us(even_rate) / (4 * flow->flows)) {
		flow->probe = SEGUE_NEAR_PROBE_PAUSED + SEGUE_NEAR_PROBE_PAUSE;
		return 0;
	}
	flow->steps = segue_near_steps_after_probe(flow->steps) & 31;
	flow->probe = SEGUE_NEAR_PROBE_STARTS;
	return 0;
}

/* 8.7: 1 if a round trip may still decide a rate probe: the round waits for it. */
static inline u32 segue_near_awaits_probe(const struct segue_near_flow *flow, const struct segue_out *out, u32 share)
{
	const u64 rate = segue_near_shared_kbps(segue_near_rate_kbps(flow), share);
	const u64 probe_us = flow->max_own_rtt_us + SEGUE_NEAR_PROBE_SLOTS * (u64)segue_near_slot_us(rate);
	const u32 most_us = segue_min(segue_saturate(probe_us), SEGUE_NEAR_PROBE_LIMIT_US);

	return (flow->probe == SEGUE_NEAR_PROBE_SENDS || flow->probe == SEGUE_NEAR_PROBE_WAITS) &&
	       out->now_us - flow->probe_began_us < most_us;
}

/* 8.7, 6.4: a round is over, and may have shown competing traffic. */
static inline void segue_near_probe_after_round(struct segue_near_flow *flow, u32 queue)
{
	if (flow->probe == SEGUE_NEAR_PROBE_NEVER)
		return;
	if (queue)
		flow->probe = SEGUE_NEAR_PROBE_PAUSED + SEGUE_NEAR_PROBE_PAUSE;
	else if (flow->probe == SEGUE_NEAR_PROBE_WAITS || flow->probe == SEGUE_NEAR_PROBE_PAUSED + 1)
		flow->probe = SEGUE_NEAR_PROBE_STARTS;
	else if (flow->probe > SEGUE_NEAR_PROBE_PAUSED)
		flow->probe = (flow->probe - 1) & 15;
}

/* 8.7: 1 if this flow has enough packets for a rate probe. */
static inline u32 segue_near_can_probe(const struct segue_near_flow *flow)
{
	return segue_near_probe_packets(flow, segue_near_rate_kbps(flow)) >= SEGUE_NEAR_MIN_PROBE;
}

#endif
