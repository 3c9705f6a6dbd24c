/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * vectors.bpf.c - for tests only: one event of policy/, or one octet string of its codec,
 * as a loaded program computes it. A test puts the arguments into the globals below, runs the
 * program and compares the answers with those of user space.
 */
#include "kernel.h"
#include "../sender/ack_order.h"
#include "base_rtt.h"
#include "belief.h"
#include "grant.h"
#include "notice.h"
#include "../sender/schemes.h"
#include "../sender/units.h"

char _license[] SEC("license") = "GPL";

enum segue_vector {
	SEGUE_VECTOR_FORGET,
	SEGUE_VECTOR_NOTICE,
	SEGUE_VECTOR_EXPECTED,
	SEGUE_VECTOR_NEW_ACK,
	SEGUE_VECTOR_DSACK,
	SEGUE_VECTOR_DUP_ACK,
	SEGUE_VECTOR_FAST_RETRANSMIT,
	SEGUE_VECTOR_TIMEOUT,
	SEGUE_VECTOR_SAMPLE,
	SEGUE_VECTOR_DECODE_REPORT,
	SEGUE_VECTOR_ENCODE_REPORT,
	SEGUE_VECTOR_DECODE_CAPABILITY,
	SEGUE_VECTOR_ENCODE_CAPABILITY,
	SEGUE_VECTOR_ACCEPT,
	SEGUE_VECTOR_BELIEVE,
	SEGUE_VECTOR_WHOLE_PACKETS,
	SEGUE_VECTOR_WINDOWS,
	SEGUE_VECTOR_ANSWER_NOW,
	SEGUE_VECTOR_CLAIM,
	/* in the order of GrantEvent in crates/policy/tests/common/vectors.rs */
	SEGUE_VECTOR_BURST_WINDOW,
	SEGUE_VECTOR_LOSS_PROBE_WINDOW,
	SEGUE_VECTOR_WINDOW_AFTER_LOSS_PROBE,
	SEGUE_VECTOR_TRIAL_ALLOWS,
	SEGUE_VECTOR_TRIAL_FAILS,
	SEGUE_VECTOR_DELIVERED_WINDOW,
	SEGUE_VECTOR_REFUTED_WINDOW,
	SEGUE_VECTOR_PROVEN_TWICE,
	SEGUE_VECTOR_RATE_CHECK_FAILS,
	SEGUE_VECTOR_REJECTS_NOTICE,
	SEGUE_VECTOR_KEPT_WINDOW,
	SEGUE_VECTOR_UNDONE_WINDOW,
	SEGUE_VECTOR_HIDES_SLOW_START,
	SEGUE_VECTOR_TIMEOUT_PROVES_NOTHING,
	SEGUE_VECTOR_DELAY_BEYOND,
	SEGUE_VECTOR_WAS_SILENT,
	SEGUE_VECTOR_RTO_BOUND,
};

u32 event;
u32 argument[4];
u32 answer;
u32 scheme;
u32 settings[SEGUE_SETTINGS_WORDS];
struct segue_sender sender;
struct segue_notice notice;
struct segue_action action;
struct segue_out out;
struct segue_claim claim;
struct segue_report report;
struct segue_capability capability;
struct segue_replay_window replay;
u8 octets[40];

/* kept from event to event */
struct segue_flow flow;
u32 ack_cleaned_first;
u8 ack_half;

static void on_policy(void)
{
	switch (event) {
	case SEGUE_VECTOR_NOTICE:
		SEGUE_ASK(scheme, on_notice, &action, settings, &flow, &sender, &notice);
		break;
	case SEGUE_VECTOR_EXPECTED:
		SEGUE_ASK(scheme, on_expected, &action, settings, &flow, &sender, &notice);
		break;
	case SEGUE_VECTOR_NEW_ACK:
		SEGUE_ASK(scheme, on_new_ack, &action, settings, &flow, &sender);
		break;
	case SEGUE_VECTOR_DSACK:
		SEGUE_SCHEMES(SEGUE_IF_CHOSEN, scheme, on_dsack, &flow, argument[0], argument[1])
		break;
	case SEGUE_VECTOR_DUP_ACK:
		SEGUE_ASK(scheme, on_dup_ack, &action, settings, &flow, &sender);
		break;
	case SEGUE_VECTOR_FAST_RETRANSMIT:
		SEGUE_ASK(scheme, on_fast_retransmit, &action, settings, &flow, &sender);
		break;
	case SEGUE_VECTOR_TIMEOUT:
		SEGUE_ASK(scheme, on_timeout, &action, settings, &flow, &sender);
		break;
	case SEGUE_VECTOR_SAMPLE:
		SEGUE_ASK(scheme, on_rtt_sample, &action, settings, &flow, &sender, argument[0],
			  argument[1]);
		break;
	}
}

static void on_wire(void)
{
	const u32 size = argument[0];

	if (size > sizeof(octets))
		return;
	switch (event) {
	case SEGUE_VECTOR_DECODE_REPORT:
		answer = segue_decode_report(octets, size, &report);
		break;
	case SEGUE_VECTOR_ENCODE_REPORT:
		answer = segue_encode_report(&report, octets);
		break;
	case SEGUE_VECTOR_DECODE_CAPABILITY:
		answer = segue_decode_capability(octets, size, &capability);
		break;
	case SEGUE_VECTOR_ENCODE_CAPABILITY:
		segue_encode_capability(&capability, octets);
		break;
	case SEGUE_VECTOR_ACCEPT:
		answer = segue_accept_report(&replay, &report);
		break;
	}
}

static void on_grant(void)
{
	switch (event) {
	case SEGUE_VECTOR_BURST_WINDOW:
		answer = segue_burst_window(argument[0], argument[1]);
		break;
	case SEGUE_VECTOR_LOSS_PROBE_WINDOW:
		answer = segue_loss_probe_window(argument[0], argument[1]);
		break;
	case SEGUE_VECTOR_WINDOW_AFTER_LOSS_PROBE:
		answer = segue_window_after_loss_probe(argument[0], argument[1]);
		break;
	case SEGUE_VECTOR_TRIAL_ALLOWS:
		answer = segue_trial_allows(argument[0]);
		break;
	case SEGUE_VECTOR_TRIAL_FAILS:
		answer = segue_trial_fails(argument[0], argument[1], argument[2]);
		break;
	case SEGUE_VECTOR_DELIVERED_WINDOW:
		answer = segue_delivered_window(argument[0], argument[1], argument[2]);
		break;
	case SEGUE_VECTOR_REFUTED_WINDOW:
		answer = segue_refuted_window(argument[0], argument[1]);
		break;
	case SEGUE_VECTOR_PROVEN_TWICE:
		answer = segue_proven_twice(argument[0]);
		break;
	case SEGUE_VECTOR_RATE_CHECK_FAILS:
		answer = segue_rate_check_fails(argument[0], argument[1], argument[2], argument[3]);
		break;
	case SEGUE_VECTOR_REJECTS_NOTICE:
		answer = segue_rejects_notice(argument[0], argument[1], argument[2]);
		break;
	case SEGUE_VECTOR_KEPT_WINDOW:
		answer = segue_kept_window(argument[0], argument[1], argument[2], argument[3]);
		break;
	case SEGUE_VECTOR_UNDONE_WINDOW:
		answer = segue_undone_window(argument[0], argument[1], argument[2]);
		break;
	case SEGUE_VECTOR_TIMEOUT_PROVES_NOTHING:
		answer = segue_timeout_proves_nothing(argument[0], argument[1]);
		break;
	case SEGUE_VECTOR_HIDES_SLOW_START:
		answer = segue_hides_slow_start(argument[0], argument[1]);
		break;
	case SEGUE_VECTOR_DELAY_BEYOND:
		answer = segue_delay_beyond_us(argument[0], argument[1], &notice.old_link);
		break;
	case SEGUE_VECTOR_RTO_BOUND:
		notice.new_link.rate_kbps = argument[0];
		notice.new_link.delay_us = argument[1];
		answer = segue_rto_bound_ms(&notice.new_link);
		break;
	case SEGUE_VECTOR_WAS_SILENT:
		answer = segue_was_silent(argument[0], argument[1], &notice.old_link);
		break;
	}
}

SEC("syscall")
int vector(void *ctx)
{
	if (event == SEGUE_VECTOR_FORGET) {
		__builtin_memset(&flow, 0, sizeof(flow));
	} else if (event < SEGUE_VECTOR_DECODE_REPORT) {
		on_policy();
	} else if (event == SEGUE_VECTOR_BELIEVE) {
		answer = segue_believe(&sender, argument[0], argument[1], &action);
	} else if (event == SEGUE_VECTOR_WHOLE_PACKETS) {
		answer = segue_whole_packets(argument[0]);
	} else if (event == SEGUE_VECTOR_WINDOWS) {
		answer = segue_windows(argument[0]);
	} else if (event == SEGUE_VECTOR_ANSWER_NOW) {
		answer = segue_answer_now(&ack_cleaned_first, &ack_half, argument[0], argument[1]);
	} else if (event == SEGUE_VECTOR_CLAIM) {
		answer = segue_claim_lasts(scheme, &flow, &out, &claim);
	} else if (event >= SEGUE_VECTOR_BURST_WINDOW) {
		on_grant();
	} else {
		on_wire();
	}
	return 0;
}
