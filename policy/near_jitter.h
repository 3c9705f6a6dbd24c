/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * near_jitter.h - jitter of the new link, as a flow that decides alone sees it. Its round trips vary
 * by more than its packets wait for each other.
 *
 * Source: docs/reference/near.md, 8.5 and 8.12.
 *
 *   jitter  mean excess of round trips over the least of their round
 *   jump    from one round trip to the next, by more than a queue grows in between
 */
#ifndef SEGUE_NEAR_JITTER_H
#define SEGUE_NEAR_JITTER_H

#include "near_state.h"
#include "table.h"

#define SEGUE_NEAR_JUMP_SLOTS 4u
#define SEGUE_NEAR_JITTER_GAIN 2u /* of the window: BBR's cwnd_gain */
#define SEGUE_NEAR_JITTER_FALLS 32u /* weight of a shorter round trip on a link with jitter */

static inline u32 segue_near_jitter_us(const struct segue_near_flow *flow)
{
	return flow->jitter * SEGUE_NEAR_JITTER_US;
}

/* 8.12: 1 if the link has so much jitter that it hides what a rate probe shows: three slots. */
SEGUE_INLINE u32 segue_near_has_jitter(const struct segue_near_flow *flow)
{
	const u64 hidden_bits = (u64)segue_near_jitter_us(flow) * flow->kbps;

	return (flow->jumped | flow->jumped_before) & !flow->raised &
	       (hidden_bits > SEGUE_NEAR_PROBE_PACKETS / 2 * SEGUE_NEAR_PACKET_BITS);
}

/* 8.12: the time by which a window lasts longer on a link with jitter. */
static inline u32 segue_near_jitter_wait_us(const struct segue_near_flow *flow)
{
	return segue_near_has_jitter(flow) ? SEGUE_NEAR_JITTER_GAIN * segue_near_jitter_us(flow) : 0;
}

/* 8.12: a round trip jumps if it exceeds the last one by more than a queue grows meanwhile. */
static inline void segue_near_on_jump(struct segue_near_flow *flow, u32 rtt_us)
{
	const u32 more_us = rtt_us > flow->rtt_us ? rtt_us - flow->rtt_us : 0;
	const u32 more = segue_min(more_us / SEGUE_NEAR_MORE_US, SEGUE_NEAR_MORE_LIMIT);
	const u64 slots_us = (u64)SEGUE_NEAR_JUMP_SLOTS * segue_near_slot_us(flow->kbps);

	if (more > flow->last_more + 1u && (more - flow->last_more - 1) * SEGUE_NEAR_MORE_US > slots_us)
		flow->jumped = 1;
	flow->last_more = more & SEGUE_NEAR_MORE_LIMIT;
}

/* 8.5: a round trip was longer by so much than the least of its round. Its weight is 1/8, as RFC 6298,
 * 2.3 has it. A shorter one weighs less on a link with jitter (8.12). */
static inline void segue_near_on_jitter(struct segue_near_flow *flow, u32 more_us)
{
	const u32 sample = segue_min(more_us / SEGUE_NEAR_JITTER_US, SEGUE_NEAR_JITTER_LIMIT);
	u32 jitter = (7 * flow->jitter + sample + 4) / 8;

	if (sample < flow->jitter && segue_near_has_jitter(flow))
		jitter = flow->jitter - (flow->jitter - sample + SEGUE_NEAR_JITTER_FALLS - 1) / SEGUE_NEAR_JITTER_FALLS;
	flow->jitter = jitter & SEGUE_NEAR_JITTER_LIMIT;
}

/* 8.1: more packets fill the path if it is longer than reported, if its slots are shorter (8.7), or if
 * it has jitter (8.12). It is longer by as much as the least round trip shows, as far as that shows
 * no competing traffic. In a round this may be the flow's own queue, which more packets would
 * lengthen. So all rounds since the first count. Where the notice has raised the window without
 * an outage, a shorter one counts, too: a receiver that reports a long delay would gain otherwise. */
static inline u32 segue_near_full_bdp(const struct segue_near_flow *flow, u64 rate)
{
	const u32 found_us = flow->claim_until > 1 ? flow->path_rtt_us : flow->min_rtt_us;
	const u32 shortest_us = flow->raised && found_us ? 0 : flow->rtt_us;
	const u32 rtt_us = segue_max(segue_min(found_us, flow->max_own_rtt_us), shortest_us);

	return segue_saturate((u64)segue_near_bdp(rtt_us, rate) +
			      segue_near_bdp(segue_near_jitter_wait_us(flow), flow->kbps));
}

/* 8.11: the host may grant less than the reported path, for example after a refuted notice. Then
 * `packets` beyond that path, or less, count in this proportion. */
static inline u32 segue_near_of_granted(u32 packets, u32 granted, u32 reported)
{
	return granted < reported ? segue_saturate((u64)packets * granted / reported) : packets;
}

/* Packets beyond the granted window that the path holds. */
static inline u32 segue_near_extra_bdp(const struct segue_near_flow *flow, u64 rate, u32 granted)
{
	const u32 reported = segue_near_bdp(flow->rtt_us, flow->kbps);
	const u32 full = segue_near_full_bdp(flow, rate);

	return segue_near_of_granted(full > reported ? full - reported : 0, granted, reported);
}

#endif
