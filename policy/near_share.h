/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * near_share.h - flows of one remote address whose claims are of the same new link share it by how
 * far each is behind the others. The shares add up to that of all.
 *
 * Source: docs/reference/near.md, 8.9 and 8.10.
 *
 *   behind          old packets that are lost, less the new ones that have left
 *   weight          1 for a flow that is as far behind as the mean of its group
 *   share           of one flow in its W / N
 *   spare           said of a link of which a group has no more than half (8.10)
 */
#ifndef SEGUE_NEAR_SHARE_H
#define SEGUE_NEAR_SHARE_H

#include "near_jitter.h"

#define SEGUE_NEAR_EVEN_SHARE 256u /* one that is W / N */
#define SEGUE_NEAR_LEAST_SHARE 64u
#define SEGUE_NEAR_CATCH_UP 64u /* packets in which flows catch up */
#define SEGUE_NEAR_WEIGHT_LIMIT 0xffffu
#define SEGUE_NEAR_BEHIND_LIMIT 0x7fffu /* packets; more count as so many */
#define SEGUE_NEAR_ALONE_US 44000u /* until one packet is acknowledged: TCP_DELACK_MIN, and a tick of 4 ms */

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

/* 8.10: 1 if the group has never had more than half of the N flows, and does not fill the link at
 * twice its rate. The others that the notice counts may send nothing. */
static inline u32 segue_near_spare(struct segue_near_flow *flow, const struct segue_out *out)
{
	const u64 twice = 2 * ((u64)out->others + 1);

	if (twice > flow->flows)
		flow->complete = 1;
	return !flow->complete && twice * segue_near_rate_kbps(flow) <= (u64)flow->kbps * flow->flows;
}

/* 8.8: a packet has waited if its round trip is longer. If the link is spare, nothing else may
 * explain it (8.10): neither the delay beyond the old link (8.5), nor a delayed ACK. */
static inline u32 segue_near_unqueued_rtt_us(const struct segue_near_flow *flow, u32 spare)
{
	const u32 packet_us = segue_near_slot_us(flow->kbps) / flow->flows;
	const u64 others_us = (u64)packet_us * (segue_max(SEGUE_NEAR_MIN_QUEUE, flow->flows) - 1);
	u64 limit_us = (u64)flow->rtt_us + packet_us;

	if (!spare)
		return segue_saturate(limit_us);
	if (flow->max_own_rtt_us > limit_us + others_us)
		limit_us = flow->max_own_rtt_us - others_us;
	if (segue_near_slot_us(segue_near_rate_kbps(flow)) > SEGUE_NEAR_ALONE_US)
		limit_us += SEGUE_NEAR_ALONE_US;
	return segue_saturate(limit_us);
}

/* 8.9, 8.10: this flow's share. */
static inline u32 segue_near_share_in_group(const struct segue_near_flow *flow,
					    const struct segue_out *out, u32 weight)
{
	const u32 flows = out->others + 1;
	const u64 rest = SEGUE_NEAR_EVEN_SHARE - SEGUE_NEAR_LEAST_SHARE;
	u64 share;

	if (flows < 2)
		return SEGUE_NEAR_EVEN_SHARE;
	share = SEGUE_NEAR_LEAST_SHARE + rest * flows * weight / ((u64)weight + out->others_weight);
	if (flows > flow->flows) /* more than N: all together have the link */
		share = share * flow->flows / flows;
	return segue_saturate(share);
}

/* 8.9: the time to find a loss (5.4), and for flows of unequal shares to retransmit all. A flow has
 * at least three quarters of the slots that equal times would give it. */
static inline u32 segue_near_shared_until_ms(const struct segue_near_flow *flow, s64 all)
{
	const u64 slot_us = segue_near_slot_us((u64)flow->kbps * flow->flows);

	return segue_saturate(flow->rtt_us / 500 + SEGUE_NEAR_MIN_RTO_NS / 1000000 +
			      (u64)(all > 0 ? all : 0) * slot_us / 750);
}

/* 8.9: what the other flows leave to this one, in addition to what the host has granted, and less
 * than that. Together no more than `proven` (8.11): a share is no reason to trust a notice more. */
static inline void segue_near_take_share(const struct segue_near_flow *flow, const struct segue_out *out,
					 u64 rate, u32 old_out, u32 proven, struct segue_claim *claim)
{
	const u32 reported = segue_near_bdp(flow->rtt_us, flow->kbps);
	const u32 full = segue_near_full_bdp(flow, rate);
	const u32 more = full > reported ? full - reported : 0, less = reported > full ? reported - full : 0;
	const u32 extra = segue_near_of_granted(more, out->granted, reported);
	const u32 withheld = segue_near_of_granted(less, out->granted, reported);
	const u64 window = (u64)out->granted + extra;
	const u64 most = (u64)proven + withheld;

	claim->extra_packets = segue_saturate((u64)extra + old_out + SEGUE_NEAR_DELAYED_ACK);
	claim->withheld_packets = withheld + (window > most ? segue_saturate(window - most) : 0);
}

#endif
