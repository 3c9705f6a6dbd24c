/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * phas.h - PHAS, the filter of ACKs at the mobile (algorithms.md, 6.2). ACKs of packets
 * that the old access router forwards are dropped until one covers the last of them, L.
 *
 * It is on for as long as the orders say. It ends for each connection by itself when L is
 * covered. It ends for all when the orders say that forwarding has ended, or after a time
 * (9.39).
 */
#ifndef SEGUE_PHAS_H
#define SEGUE_PHAS_H

#include "segment.h"
#include "state.h"

/* a is behind b or at it (RFC 9293, 3.4). */
static __always_inline u32 covered(u32 a, u32 b)
{
	return (s32)(a - b) <= 0;
}

/* Whether the ACK may go; the connection's state after it. (6.2) */
static __always_inline u32 may_pass(const struct segment *segment, struct segue_receiver_state *state,
				    u32 active)
{
	if (!active || state->done)
		return 1;
	/* Data, and what opens or closes a connection, is never dropped. */
	if (segment->payload || segment->flags & (TCP_FLAG_SYN | TCP_FLAG_FIN | TCP_FLAG_RST))
		return 1;
	/* "a == last_ack_generated": a duplicate has the same window (RFC 5681, 2); an
	 * update of the window would acknowledge what is held back. */
	if (segment->ack == state->ack && segment->window == state->window)
		return 1;
	if (state->last_known && covered(state->last, segment->ack)) {
		state->done = 1;
		return 1;
	}
	/* An update of the window that acknowledges nothing new, above all one that opens it. */
	return covered(segment->ack, state->passed);
}

static __always_inline u32 held_back(const struct segment *segment,
				     const struct segue_receiver_orders *orders)
{
	const u32 active = bpf_ktime_get_boot_ns() < orders->held_until;
	struct segue_receiver_state *state, first = {};
	u32 passes;

	if (!(segment->flags & TCP_FLAG_ACK))
		return 0;
	state = bpf_map_lookup_elem(&flows, &segment->flow);
	if (!state) {
		/* Earlier ACKs are not known: this one passes. */
		first.ack = first.passed = segment->ack;
		first.window = segment->window;
		first.round = orders->round;
		bpf_map_update_elem(&flows, &segment->flow, &first, BPF_NOEXIST);
		return 0;
	}
	if (state->round != orders->round) {
		state->round = orders->round;
		state->last_known = 0;
		state->done = 0;
	}
	passes = may_pass(segment, state, active);
	state->ack = segment->ack;
	state->window = segment->window;
	if (passes) {
		if (covered(state->passed, segment->ack))
			state->passed = segment->ack;
		state->held = 0;
		return 0;
	}
	state->held = 1;
	count(SEGUE_COUNT_DROPPED);
	return 1;
}

#endif
