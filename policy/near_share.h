/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * near_share.h - flows of one remote address whose claims are of the same new link share it by how
 * far each is behind the others. The shares add up to that of all.
 *
 * Source: docs/reference/near.md, 8.9.
 *
 *   behind          old packets that are lost, less the new ones that have left
 *   weight          1 for a flow that is as far behind as the mean of its group
 *   share           of one flow in its W / N
 */
#ifndef SEGUE_NEAR_SHARE_H
#define SEGUE_NEAR_SHARE_H

#include "near_state.h"

#define SEGUE_NEAR_EVEN_SHARE 256u /* one that is W / N */
#define SEGUE_NEAR_LEAST_SHARE 64u
#define SEGUE_NEAR_SHARED_LIMIT 256u /* packets in flight: SEGUE_CLAIM_LIMIT of belief.h */
#define SEGUE_NEAR_CATCH_UP 64u /* packets in which flows catch up */
#define SEGUE_NEAR_WEIGHT_LIMIT 0xffffu
#define SEGUE_NEAR_BEHIND_LIMIT 0x7fffu /* packets; more count as so many */

/* 8.9: the rate of this flow's share. */
static inline u64 segue_near_shared_kbps(u64 kbps, u32 share)
{
	return segue_max(1, segue_saturate(kbps * share / SEGUE_NEAR_EVEN_SHARE));
}

/* 8.9: this flow is behind by the packets from before the notice that are marked lost, less the new
 * ones that have left since. A retransmitted one counts until it arrives. */
static inline s32 segue_near_behind(const struct segue_near_flow *flow, const struct segue_out *out,
				    u32 old_unacked)
{
	const u32 lost = old_unacked ? segue_min(out->lost, flow->flight) : 0;
	u32 fresh = 0;

	if (segue_seq_before(flow->ho_point, out->snd_max))
		fresh = (out->snd_max - flow->ho_point) / segue_max(1, out->unit);
	return (s32)segue_min(lost, SEGUE_NEAR_BEHIND_LIMIT) - (s32)segue_min(fresh, SEGUE_NEAR_BEHIND_LIMIT);
}

/* 8.9: this flow's weight in its group of so many flows, which are behind by `all`. */
static inline u32 segue_near_weight(s32 behind, s64 all, u32 flows)
{
	const s64 per = (s64)flows * SEGUE_NEAR_CATCH_UP + (all > 0 ? all : 0);
	const s64 more = per + (s64)behind * flows - all;
	u64 weight;

	if (more <= 0)
		return 1;
	weight = SEGUE_NEAR_EVEN_SHARE * (u64)more / (u64)per;
	return segue_max(1, segue_min(segue_saturate(weight), SEGUE_NEAR_WEIGHT_LIMIT));
}

/* 8.9: this flow's share. */
static inline u32 segue_near_share_in_group(const struct segue_near_flow *flow,
					    const struct segue_out *out, u32 weight)
{
	const u32 flows = out->others + 1;
	const u64 rest = SEGUE_NEAR_EVEN_SHARE - SEGUE_NEAR_LEAST_SHARE;

	if (flows < 2 || flows > flow->flows)
		return SEGUE_NEAR_EVEN_SHARE;
	return SEGUE_NEAR_LEAST_SHARE +
	       segue_saturate(rest * flows * weight / ((u64)weight + out->others_weight));
}

/* 8.9: the time to find a loss (5.4), and for flows of unequal shares to retransmit all. A flow has
 * at least three quarters of the slots that equal times would give it. */
static inline u32 segue_near_shared_until_ms(const struct segue_near_flow *flow, s64 all)
{
	const u64 slot_us = segue_near_slot_us((u64)flow->kbps * flow->flows);

	return segue_saturate(flow->rtt_us / 500 + SEGUE_NEAR_MIN_RTO_NS / 1000000 +
			      (u64)(all > 0 ? all : 0) * slot_us / 750);
}

/* 8.9: what the other flows leave to this one. A share is no reason to trust a notice more. */
static inline void segue_near_take_share(const struct segue_near_flow *flow, u64 even_rate, u64 rate,
					 u32 old_out, struct segue_claim *claim)
{
	const u32 granted = segue_near_bdp(flow->rtt_us, flow->kbps);
	const u32 even = segue_near_full_bdp(flow, even_rate);
	const u32 full = segue_min(segue_near_full_bdp(flow, rate), segue_max(even, SEGUE_NEAR_SHARED_LIMIT));
	const u32 extra = full > granted ? full - granted : 0;

	claim->extra_packets = segue_saturate((u64)extra + old_out + SEGUE_NEAR_DELAYED_ACK);
	claim->withheld_packets = granted > full ? granted - full : 0;
}

#endif
