/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * layouts.bpf.c - never loaded: what the programs and user space tell each other, as
 * variables, so that the build writes the same types in Rust (crates/kernel/build.rs).
 */
#include "kernel.h"
#include "intf.h"
#include "mobile.h"
#include "receiver.h"
#include "scope.h"

char _license[] SEC("license") = "GPL";

/* intf.h */
enum segue_scheme scheme;
enum segue_counter counter;
struct segue_flow_row flow_row;
struct segue_icmp_request icmp_request;
enum segue_own_verdict own_verdict;
struct segue_own_order own_order;

/* scope.h */
struct segue_prefix prefix;

/* mobile.h */
enum segue_tally tally;
struct segue_mobile_orders mobile_orders;
struct segue_mobile_ack mobile_ack;

/* receiver.h */
enum segue_receiver_counter receiver_counter;
struct segue_receiver_orders receiver_orders;
struct segue_receiver_flow receiver_flow;
struct segue_receiver_state receiver_state;
