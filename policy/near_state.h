/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * near_state.h - what `near` keeps of a flow that decides alone, and the link as it sees it.
 *
 * Source: docs/reference/near.md, whose sections the comments name.
 */
#ifndef SEGUE_NEAR_STATE_H
#define SEGUE_NEAR_STATE_H

#include "near.h"

#define SEGUE_NEAR_PACKET_BYTES 1500u
#define SEGUE_NEAR_PACKET_BITS ((u64)SEGUE_NEAR_PACKET_BYTES * 8000) /* kbit/s in us */
#define SEGUE_NEAR_SENT_LIMIT 0x1fffu /* packets; more count as so many */
#define SEGUE_NEAR_TIME_LIMIT 0x3fffffu /* ms; a later end of a claim is this */
#define SEGUE_NEAR_JITTER_US 128u /* the unit of segue_near_flow.jitter */
#define SEGUE_NEAR_JITTER_LIMIT 0x3ffu /* more counts as so much */
#define SEGUE_NEAR_MORE_US 2048u /* the unit of segue_near_flow.last_more */
#define SEGUE_NEAR_MORE_LIMIT 0x3fu /* more counts as so much */

/* segue_action.rules */
enum {
	SEGUE_RULE_NEAR_CLAIMS = 1u << 0, /* 8.1 */
	SEGUE_RULE_NEAR_OLD_LOSS = 1u << 1, /* 8.4 */
	SEGUE_RULE_NEAR_EXPECTS = 1u << 2, /* 8.13 */
};

/* segue_near_flow.probe: the state of the rate probe (8.7) */
enum {
	SEGUE_NEAR_PROBE_STARTS = 1, /* the next packet is its first one */
	SEGUE_NEAR_PROBE_SENDS, /* not all of its packets have left */
	SEGUE_NEAR_PROBE_WAITS, /* they have, and no round trip has decided yet */
	SEGUE_NEAR_PROBE_PAUSED, /* plus the rounds until the next rate probe */
	SEGUE_NEAR_PROBE_EXPECTS = 14, /* no claim yet: a handoff is expected (8.13) */
	SEGUE_NEAR_PROBE_NEVER = 15, /* the flow was notified lately, too (8.7) */
};

/* State of one flow. */
struct segue_near_flow {
	u32 ho_point; /* snd_max at the notice */
	u8 old_unacked : 1; /* not all of what was sent before it is acknowledged */
	u8 probe : 4; /* rate probe: its state */
	u8 first_sample : 3; /* the first of its packets whose round trip is known, from 0 on */
	u8 probe_sent; /* segue_out.sent as the rate probe began, the last octet */
	u16 flows : 11; /* N: SEGUE_NEAR_FLOWS_LIMIT */
	u16 oversubscribed : 1; /* the N flows overflow a short queue by themselves (8.8) */
	u16 slowdown : 3; /* where they do: the pace is so many eighths slower */
	u16 no_queue : 1; /* in the round before, none has waited */
	u32 claim_until : 22; /* 0: no claim lasts; 1: its first round; else its end, ms */
	u32 jitter : 10; /* mean of round trips over the least of their round (8.5) */
	u16 flight; /* packets in flight at the notice */
	u16 sent_on_new : 13; /* SEGUE_NEAR_SENT_LIMIT: the last so many of them were on the new link */
	u16 sampled : 1; /* a round trip of the new path is known */
	u16 queued : 1; /* in this round, a packet has waited for others on the new link (8.8) */
	u16 complete : 1; /* its group has had more than half of the N flows (8.10) */
	u32 kbps : 27; /* this flow's share of the link, as reported */
	u32 steps : 5; /* each of which makes its slots shorter by a fifth */
	u32 rtt_us; /* of the new path, as reported */
	u32 max_own_rtt_us; /* a longer round trip shows competing traffic (8.5) */
	u32 min_rtt_us; /* least round trip of this round; 0: none yet. Before a claim: how long it is expected (8.13) */
	u32 round_ends_ms : 22; /* at first until the claim's second round trip, then by rounds */
	u32 queue_before : 1; /* the round before has shown competing traffic */
	u32 raised : 1; /* the notice has raised the window without an outage */
	u32 last_more : 6; /* the last round trip, over the reported one (8.12) */
	u32 jumped : 1; /* in this round, a round trip has jumped */
	u32 jumped_before : 1; /* the same in the round before */
	union {
		u32 old_until_ms; /* claim_until 1: ho_point is waited for no longer (8.5) */
		u32 path_rtt_us; /* later: least round trip since the first round (8.1) */
	};
	u32 probe_began_us; /* when the rate probe began, by segue_out.now_us */
};

/* 6.3: the rate of this flow's slots after the steps so far, kbit/s. It has no branch, as a kernel's
 * verifier follows both sides of each. */
static inline u64 segue_near_rate_kbps(const struct segue_near_flow *flow)
{
	u64 kbps = flow->kbps;
	u32 step;

	for (step = 0; step < SEGUE_NEAR_MAX_STEPS; step++) {
		u64 less = (u64)step - flow->steps; /* its first bit is 1 if the step was taken */

		__asm__("" : "+r"(less)); /* or the compiler would compare */
		kbps += (kbps / 4) & (0 - (less >> 63));
	}
	return kbps;
}

/* A rate as the state keeps it. */
static inline u32 segue_near_kbps(u32 kbps)
{
	return segue_min(segue_max(1, kbps), SEGUE_RATE_LIMIT - 1);
}

static inline u32 segue_near_slot_us(u64 rate)
{
	return segue_saturate(SEGUE_NEAR_PACKET_BITS / (rate ? rate : 1));
}

/* Packets that fill a path. */
static inline u32 segue_near_bdp(u32 rtt_us, u64 rate)
{
	return segue_saturate(rtt_us * rate / SEGUE_NEAR_PACKET_BITS);
}

#endif
