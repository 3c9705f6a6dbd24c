/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * table.h - the form of every policy: its settings and state are a few words, its answers
 * to events are a table of functions.
 *
 * The header of a policy ends with one line
 *
 *     SEGUE_POLICY(name, .on_notice = ..., .on_new_ack = ...);
 *
 * which crates/policy turns into a table that the simulator calls, and
 * bpf/sender/schemes.h into direct calls. Events that it leaves out ask for nothing.
 *
 * Source: docs/guide/tutorial.md.
 */
#ifndef SEGUE_TABLE_H
#define SEGUE_TABLE_H

#include "policy.h"

/* Room for the largest state and the largest settings. */
#define SEGUE_FLOW_WORDS 11
#define SEGUE_SETTINGS_WORDS 40

/* State of one flow, all zero when it starts. A policy's own structure begins there. */
struct segue_flow {
	u32 word[SEGUE_FLOW_WORDS];
};

/* A function that the kernel's verifier follows once, and not for each of its callers' many paths:
 * a global one. As far as the verifier knows, its pointers may be null. It must return a number,
 * and its state is of a type that all policies share. */
#ifdef __bpf__
#define SEGUE_ONCE __attribute__((noinline))
#define SEGUE_STATE struct segue_flow
#else
#define SEGUE_ONCE static inline
#define SEGUE_STATE void
#endif

/* A function that SEGUE_ONCE ones call must be part of them, or its types would be the program's. */
#define SEGUE_INLINE static inline __attribute__((always_inline))

/* Whether these structures fit. */
#define SEGUE_FITS(settings, state)                                                                \
	_Static_assert(sizeof(settings) <= 4 * SEGUE_SETTINGS_WORDS, "SEGUE_SETTINGS_WORDS");      \
	_Static_assert(sizeof(state) <= sizeof(struct segue_flow), "SEGUE_FLOW_WORDS")

/*
 * One call per event; each fills `act`, which asks for nothing when it comes. `set` points to
 * the policy's settings, `flow` to its state. Before the first notice a policy is told of
 * notices alone. For one ACK the host calls, as they apply and in this order, on_dsack,
 * on_new_ack or on_dup_ack, on_rtt_sample, and on_fast_retransmit. That one and on_timeout
 * come before the host cuts its window.
 */
struct segue_table {
	void (*on_notice)(const void *set, void *flow, const struct segue_sender *tcp,
			  const struct segue_notice *notice, struct segue_action *act);
	/* the mobile will move to the new link of this notice, without an outage. SEGUE_CLAIM: until
	 * that notice, claim() says how fast packets leave at most, and nothing else of it counts */
	void (*on_expected)(const void *set, void *flow, const struct segue_sender *tcp,
			    const struct segue_notice *notice, struct segue_action *act);
	/* snd_una has advanced */
	void (*on_new_ack)(const void *set, void *flow, const struct segue_sender *tcp,
			   struct segue_action *act);
	void (*on_dup_ack)(const void *set, void *flow, const struct segue_sender *tcp,
			   struct segue_action *act);
	/* the head, snd_una, is about to be resent */
	void (*on_fast_retransmit)(const void *set, void *flow, const struct segue_sender *tcp,
				   struct segue_action *act);
	void (*on_timeout)(const void *set, void *flow, const struct segue_sender *tcp,
			   struct segue_action *act);
	/* of the packet sample_seq: a valid round trip (Karn) of rtt_us */
	void (*on_rtt_sample)(const void *set, void *flow, const struct segue_sender *tcp,
			      u32 sample_seq, u32 rtt_us, struct segue_action *act);
	/* a DSACK block [left, right), on whatever ACK */
	void (*on_dsack)(void *flow, u32 left, u32 right);
	/* 0: ACKs and cuts of the window would ask for nothing now, and the host need not call.
	 * Left out: it calls after the first notice */
	u32 (*listens)(const void *flow);
	/* the window that the access link alone holds, for a sender that knows the base RTT of
	 * the path (base_rtt.h). Left out: the answer holds for any path */
	u32 (*link_window)(const void *set, const struct segue_notice *notice);
	/* before packets leave, after an answer with SEGUE_CLAIM: 1 as long as the claim lasts.
	 * The first cut that the policy does not answer ends it, too */
	u32 (*claim)(void *flow, const struct segue_out *out, struct segue_claim *claim);
	/* 1: on_rtt_sample reads sample_seq. Linux does not tell it, and so does not call. */
	u32 sample_seq;
};

/* The table exists once where SEGUE_TABLES asks for it (crates/policy/build.rs); elsewhere it
 * is a constant that the compiler sees through. */
#ifdef SEGUE_TABLES
#define SEGUE_POLICY(name, ...)                                                                    \
	extern const struct segue_table segue_table_##name;                                        \
	const struct segue_table segue_table_##name = { __VA_ARGS__ }
#else
#define SEGUE_POLICY(name, ...)                                                                    \
	static const struct segue_table segue_table_##name __attribute__((unused)) = { __VA_ARGS__ }
#endif

#endif
