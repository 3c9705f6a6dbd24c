/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * intf.h - the interface between the receiver's programs and their owner. The build writes
 * the same types in Rust (layouts.bpf.c).
 */
#ifndef SEGUE_RECEIVER_INTF_H
#define SEGUE_RECEIVER_INTF_H

#include "policy.h"

/* ACKs that one trigger sends at most. */
#define SEGUE_RECEIVER_ACKS 8u

/* The one element of the map `orders`. Times are of CLOCK_BOOTTIME, ns: what is asked
 * for ends by itself, also if who asked is gone. */
struct segue_receiver_orders {
	u64 closed_until; /* Freeze-TCP: the window is advertised as 0 */
	u64 held_until; /* PHAS: the filter is on */
	u32 round; /* counts the filter's handoffs */
	u32 made_clsact; /* the owner made the hook's qdisc, which goes with it */
};

/* Elements of the map `counters`, since the programs were loaded. */
enum segue_receiver_counter {
	SEGUE_COUNT_CLOSED = 0, /* segments whose window became 0 */
	SEGUE_COUNT_DROPPED = 1, /* ACKs that the filter has dropped */
	SEGUE_COUNT_TRIGGERED = 2, /* connections that were made to send ACKs */
	SEGUE_COUNT_UNRESTORED = 3, /* of these, left with the trigger's congestion control */
	SEGUE_COUNT_LENGTH = 4,
};

/* The filter's state of a connection. */
struct segue_receiver_state {
	u32 ack; /* last_ack_generated */
	u32 passed; /* the highest that the peer was sent */
	u32 last; /* L, as the number of the octet behind it */
	u32 round; /* of which `last_known` and `done` speak */
	u16 window; /* of `ack`, as it stands in the header */
	u8 held; /* `ack` was dropped */
	u8 last_known;
	u8 done; /* L is covered */
	u8 pad[3];
};

#endif
