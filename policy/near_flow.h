/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * near_flow.h - `near` for a sender that decides for one flow alone and leaves the choice of the
 * packet to its stack, as programs in a Linux kernel must.
 *
 * Source: docs/reference/near.md, whose sections the comments name; what a kernel cannot do is
 * in docs/internals/kernel.md. The numbers are those of near.h.
 *
 * A notice begins a claim: as long as it lasts, the flow may have its part of W and two packets
 * out on the new link, and a packet leaves in each of its slots. The stack's control goes on
 * after it.
 */
#ifndef SEGUE_NEAR_FLOW_H
#define SEGUE_NEAR_FLOW_H

#include "near.h"
#include "table.h"

#define SEGUE_NEAR_PACKET_BYTES 1500u
#define SEGUE_NEAR_ACK_BYTES 52u /* with time stamps (RFC 7323) */

/* segue_action.rules */
enum {
	SEGUE_RULE_NEAR_CLAIMS = 1u << 0, /* 2.4, 3.1 */
	SEGUE_RULE_NEAR_OLD_LOSS = 1u << 1, /* 4.2 */
};

/* State of one flow. */
struct segue_near_flow {
	u32 ho_point; /* snd_max at the notice */
	u32 drains; /* 1: not all of what was sent before it is acknowledged */
	u32 claims; /* 1: the claim lasts */
	u32 flight; /* packets under way then */
	u32 since; /* the last so many of them were on the new link */
	u32 kbps; /* this flow's slots */
	u32 rtt_ms; /* of the new path as told */
	u32 rtts_ms; /* two of them: the claim lasts so long, and until ho_point is reached */
	u32 most_ms; /* ho_point is waited for no longer (8.5) */
};

static inline u32 segue_near_ms(u64 ns)
{
	return segue_saturate(ns / 1000000) + 1;
}

/* The mobile's ACKs over the old link take so long, ns. */
static inline u64 segue_near_old_ack_way(const struct segue_notice *notice)
{
	struct segue_link link;

	segue_copy_within_limits(&link, &notice->old_link);
	return segue_serialisation_ns(SEGUE_NEAR_ACK_BYTES, link, 1) + segue_delay_ns(link);
}

/* 2.5, 2.6: of the packets under way, those that left after completion. ACKs have let them out
 * that were on the old link then, one for each of its packets; what the mobile sent later comes
 * over the new link, and not before the notice. W of them fit into the new path. */
static inline u32 segue_near_since(const struct segue_near *near, const struct segue_notice *notice,
				   u32 flows, u32 flight)
{
	const u64 old_way = segue_near_old_ack_way(notice);
	const u64 way = near->ack_way_ns < old_way ? near->ack_way_ns : old_way;
	const u64 since = way / (near->old_slot_ns * flows + 1) + 1;
	const u32 there = segue_min(segue_saturate(since), segue_near_share(near, 1));

	return notice->disconnected ? 0 : segue_min(there, flight);
}

/* 8.5: as long as it takes to hear of a loss (5.4), to send all again that is under way, and
 * until the old link has delivered what it holds. */
static inline u64 segue_near_longest_ns(const struct segue_near *near,
					const struct segue_notice *notice, u32 flows, u32 flight)
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
	u32 window, flows;

	(void)settings;
	if (!segue_notice_usable(notice))
		return;
	flows = segue_max(1, segue_min(notice->flows, SEGUE_FLOWS_LIMIT));
	/* the notice is about the path: its delays have what lies beyond the link */
	segue_near_of(&near, notice, 0, SEGUE_NEAR_PACKET_BYTES, SEGUE_NEAR_ACK_BYTES, 1);
	window = segue_saturate((u64)segue_near_share(&near, 1) * SEGUE_PACKET);
	flow->ho_point = tcp->snd_max;
	flow->drains = segue_seq_before(tcp->snd_una, tcp->snd_max);
	flow->claims = 1;
	flow->flight = tcp->flight;
	flow->since = segue_near_since(&near, notice, flows, tcp->flight);
	flow->kbps = segue_max(1, notice->new_link.rate_kbps / flows);
	flow->rtt_ms = segue_near_ms(near.rtt_ns);
	flow->rtts_ms = segue_near_ms(2 * near.rtt_ns);
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
		flow->drains = segue_seq_before(tcp->snd_una, flow->ho_point);
}

/* 4.2: what was sent before the notice is the old link's loss, and costs no window. */
static inline void segue_near_on_fast_retransmit(const void *settings, void *state,
						 const struct segue_sender *tcp,
						 struct segue_action *act)
{
	const struct segue_near_flow *flow = state;

	(void)settings;
	if (!flow->drains || !segue_seq_before(tcp->snd_una, flow->ho_point))
		return;
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

	return flow->drains;
}

/* 3.1, 3.2: before a packet leaves. What the old link holds is not on the new one; the stack
 * counts it as under way until it is acknowledged, SACKed or marked lost. The last that left before
 * the notice are on the new link. */
static inline u32 segue_near_claim(void *state, const struct segue_out *out,
				   struct segue_claim *claim)
{
	struct segue_near_flow *flow = state;
	const u32 drains = segue_seq_before(out->snd_una, flow->ho_point);
	u32 old_out = 0;

	if (!flow->claims)
		return 0;
	if (out->elapsed_ms >= (drains ? flow->most_ms : flow->rtts_ms)) {
		flow->claims = 0;
		return 0;
	}
	if (drains) {
		const u32 unit = segue_max(1, out->unit);
		const u32 left = (flow->ho_point - out->snd_una + unit - 1) / unit;
		/* what was on the new link has arrived a round trip later, or is lost */
		const u32 since = out->elapsed_ms < flow->rtt_ms ? flow->since : 0;
		const u32 there = segue_saturate((u64)since + out->marked);

		old_out = left > there ? left - there : 0;
		old_out = segue_min(old_out, flow->flight - since);
	}
	claim->beside = old_out + SEGUE_NEAR_ACKS_HELD;
	claim->kbps = flow->kbps;
	return 1;
}

SEGUE_FITS(u32, struct segue_near_flow);

SEGUE_POLICY(near, .on_notice = segue_near_on_notice, .on_new_ack = segue_near_on_new_ack,
	     .on_fast_retransmit = segue_near_on_fast_retransmit,
	     .on_timeout = segue_near_on_timeout, .listens = segue_near_listens,
	     .claim = segue_near_claim);

#endif
