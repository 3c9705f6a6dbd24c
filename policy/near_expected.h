/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * near_expected.h - `near` between the announcement of a handoff and its notice.
 *
 * A mobile that changes its link without an outage knows the new one before. Otherwise packets
 * leave at the pace of the old link until the notice comes, and a slower link drops them. The
 * first ACK over a shorter path overtakes others, and would let many packets leave at once.
 *
 * Source: docs/reference/near.md, 8.13.
 */
#ifndef SEGUE_NEAR_EXPECTED_H
#define SEGUE_NEAR_EXPECTED_H

#include "near_state.h"

#define SEGUE_NEAR_EXPECTED_US 1000000u /* for so long a handoff is expected */

/* 1: a handoff is expected, and has not come. */
static inline u32 segue_near_expects(const struct segue_near_flow *flow)
{
	return flow->claim_until && flow->probe == SEGUE_NEAR_PROBE_EXPECTS;
}

/* 8.13: the mobile will move to the new link of this notice. */
static inline void segue_near_on_expected(const void *settings, void *state,
					  const struct segue_sender *tcp,
					  const struct segue_notice *notice,
					  struct segue_action *act)
{
	struct segue_near_flow *flow = state;
	const u32 flows = segue_max(1, segue_min(notice->flows, SEGUE_NEAR_FLOWS_LIMIT));

	(void)settings;
	(void)tcp;
	if (!segue_notice_usable(notice))
		return;
	flow->old_unacked = 0;
	flow->oversubscribed = 0;
	flow->raised = 0;
	flow->probe = SEGUE_NEAR_PROBE_EXPECTS;
	flow->kbps = segue_near_kbps(notice->new_link.rate_kbps / flows) & (SEGUE_RATE_LIMIT - 1);
	flow->claim_until = 1;
	flow->round_ends_ms = 0; /* the time has not begun */
	flow->min_rtt_us = 0;
	act->what |= SEGUE_CLAIM;
	act->rules |= SEGUE_RULE_NEAR_EXPECTS;
}

/* The same, before a packet leaves: the host takes the pace alone. 0: the time is over. */
static inline u32 segue_near_expected_pace(struct segue_near_flow *flow, const struct segue_out *out,
					   struct segue_claim *claim)
{
	if (!flow->round_ends_ms) {
		flow->round_ends_ms = 1;
		flow->probe_began_us = out->now_us;
	}
	if (out->now_us - flow->probe_began_us > SEGUE_NEAR_EXPECTED_US) {
		flow->claim_until = 0;
		return 0;
	}
	flow->min_rtt_us = out->now_us - flow->probe_began_us;
	claim->kbps = flow->kbps;
	return 1;
}

/* 8.3: packets that this flow has sent in the last `time_ns`. As long as the handoff was expected, it
 * sent no more than one in a slot, which is N packets long (8.1). */
static inline u32 segue_near_sent_in(const struct segue_near_flow *flow, const struct segue_near *near,
				     u32 flows, u64 time_ns)
{
	const u64 old_ns = near->old_slot_ns * flows + 1;
	const u64 expected_ns = segue_near_expects(flow) ? flow->min_rtt_us * 1000ull : 0;
	const u64 slowly_ns = expected_ns < time_ns ? expected_ns : time_ns;

	if (near->slot_ns <= old_ns)
		return segue_saturate(time_ns / old_ns + 1);
	return segue_saturate(slowly_ns / near->slot_ns + (time_ns - slowly_ns) / old_ns + 1);
}

#endif
