/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * table.h - a policy that is one header (docs/guide/tutorial.md): its state is a few words,
 * its answers to events are a table of functions.
 *
 * Such a header ends with one line
 *
 *     SEGUE_POLICY(name, .on_notice = ..., .on_new_ack = ...)
 *
 * which crates/policy turns into a table that the simulator calls, as
 * segue_policy::headers::name(). Events that it leaves out ask for nothing.
 */
#ifndef SEGUE_TABLE_H
#define SEGUE_TABLE_H

#include "policy.h"

#define SEGUE_FLOW_WORDS 8

/* State of one flow; all zero when it starts. */
struct segue_flow {
	u32 word[SEGUE_FLOW_WORDS];
};

/*
 * One call per event; each fills `act`, which asks for nothing when it comes. Nothing
 * but notices is told before the first notice. on_fast_retransmit and on_timeout come
 * before the host cuts its window.
 */
struct segue_table {
	void (*on_notice)(struct segue_flow *flow, const struct segue_sender *tcp,
			  const struct segue_notice *notice, struct segue_action *act);
	void (*on_new_ack)(struct segue_flow *flow, const struct segue_sender *tcp,
			   struct segue_action *act);
	void (*on_dup_ack)(struct segue_flow *flow, const struct segue_sender *tcp,
			   struct segue_action *act);
	void (*on_fast_retransmit)(struct segue_flow *flow, const struct segue_sender *tcp,
				   struct segue_action *act);
	void (*on_timeout)(struct segue_flow *flow, const struct segue_sender *tcp,
			   struct segue_action *act);
	/* of the packet sample_seq: a round trip of rtt_us */
	void (*on_rtt_sample)(struct segue_flow *flow, const struct segue_sender *tcp,
			      u32 sample_seq, u32 rtt_us, struct segue_action *act);
};

/* The table exists where SEGUE_TABLES asks for it (crates/policy/build.rs). */
#ifdef SEGUE_TABLES
#define SEGUE_POLICY(name, ...) \
	extern const struct segue_table segue_table_##name; \
	const struct segue_table segue_table_##name = { __VA_ARGS__ }
#else
#define SEGUE_POLICY(name, ...) struct segue_table
#endif

#endif
