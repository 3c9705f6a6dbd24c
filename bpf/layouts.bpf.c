/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * layouts.bpf.c - the types of all interfaces between programs and user space, as variables:
 * from them the build writes the same types in Rust (crates/kernel/build.rs). Nothing loads
 * this program.
 */
#include "sender/intf.h"
#include "sender/schemes.h"
#include "mobile/intf.h"
#include "receiver/intf.h"
#include "scope.h"
#include "tuple.h"

char _license[] SEC("license") = "GPL";

/* sender/schemes.h */
enum segue_scheme scheme;

/* sender/intf.h */
enum segue_counter counter;
struct segue_flow_row flow_row;
struct segue_icmp_request icmp_request;
enum segue_local_verdict local_verdict;
struct segue_local_order local_order;

/* scope.h */
struct segue_prefix prefix;

/* tuple.h */
struct segue_tuple tuple;

/* mobile/intf.h */
enum segue_mobile_counter mobile_counter;
struct segue_mobile_orders mobile_orders;
struct segue_mobile_ack mobile_ack;
struct segue_others others;
struct segue_sent sent;
struct segue_forwarded forwarded;
struct segue_bound bound;
struct segue_waiting waiting;

/* receiver/intf.h */
enum segue_receiver_counter receiver_counter;
struct segue_receiver_orders receiver_orders;
struct segue_receiver_state receiver_state;
