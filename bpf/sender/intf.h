/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * intf.h - the interface between the sender's programs and the daemon. The build writes the
 * same types in Rust (layouts.bpf.c).
 */
#ifndef SEGUE_SENDER_INTF_H
#define SEGUE_SENDER_INTF_H

#include "policy.h"

#define SEGUE_CC_NAME_LEN 16 /* TCP_CA_NAME_MAX */

/* Counters over all connections, since attach. */
enum segue_counter {
	SEGUE_COUNT_NEGOTIATED = 0, /* connections whose peer offered the capability */
	SEGUE_COUNT_FIRST, /* first reports */
	SEGUE_COUNT_ACCEPTED, /* notices that reached the policy */
	SEGUE_COUNT_FORESEEN, /* reports of handoffs to come; nothing is done yet */
	/* refused, by reason; from here on in the order of notice.h */
	SEGUE_COUNT_BAD_LENGTH,
	SEGUE_COUNT_BAD_VERSION,
	SEGUE_COUNT_BAD_TYPE,
	SEGUE_COUNT_ZERO_RATE,
	SEGUE_COUNT_WRONG_NONCE,
	SEGUE_COUNT_REPEATED, /* a copy, or overtaken by a newer report */
	SEGUE_COUNT_BAD_ACK, /* the segment's ACK number is not of this window */
	/* its segment never reached our in_ack_event. On Linux 6.18 that happens only where
	 * the program has set another congestion control. tcp_validate_incoming lets us see
	 * options, and after it tcp_ack throws away only what is BAD_ACK here */
	SEGUE_COUNT_NOT_CONSUMED,
	SEGUE_COUNT_TOO_SOON, /* less than a second after the one before */
	SEGUE_COUNT_NOT_NEGOTIATED,
	SEGUE_COUNT_NO_OLD_LINK, /* nothing to compare the new link with */
	SEGUE_COUNTERS,
};

/* One connection, as the iterator lists it. */
struct segue_flow_row {
	u8 local[16]; /* IPv4 as ::ffff:a.b.c.d */
	u8 remote[16];
	u16 local_port;
	u16 remote_port;
	u8 negotiated;
	u8 enrolled; /* the congestion control is ours */
	u8 reported; /* `link` is known */
	u8 state;
	struct segue_link link; /* last reported */
	u32 flows; /* N: of this host, with data under way or queued */
	u32 accepted;
	u32 refused;
	u32 cwnd;
	u32 ssthresh;
};

/* An ICMP asked for (RFC 6069). */
struct segue_icmp_request {
	u8 local[16];
	u8 remote[16];
	u16 local_port;
	u16 remote_port;
	u32 snd_una;
	u32 copies;
};

/* The octet that local_handoff writes for each flow: bits. */
enum segue_local_verdict {
	SEGUE_LOCAL_GOVERNED = 1, /* the policy has decided */
	SEGUE_LOCAL_PUSHED = 2, /* with nothing under way, what was queued has been sent */
	SEGUE_LOCAL_LEFT = 4, /* of another congestion control: left alone */
};

/* A handoff of this host itself, as the agent orders it (local_handoff.h). */
struct segue_local_order {
	struct segue_link old_link;
	struct segue_link new_link;
	u32 flows; /* N: of this host, with data under way or queued */
	u32 disconnected; /* the agent has seen that there was no link */
	u32 round; /* counts; never 0 */
};

#endif
