/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * mobile.h - what the mobile's programs and its agent tell each other. Every
 * layout is repeated in crates/live/src/mobile/records.rs.
 */
#ifndef SEGUE_MOBILE_H
#define SEGUE_MOBILE_H

#include "policy.h"

/* Sent at once for one connection: a bound for the verifier, and for the network. */
#define SEGUE_MOBILE_COPIES 8u

/* How a notice leaves. */
enum {
	SEGUE_WAY_AUTO = 0, /* poke, and craft what the poke could not write */
	SEGUE_WAY_POKE = 1, /* the kernel's own ACKs, or nothing */
	SEGUE_WAY_CRAFT = 2, /* ACKs built by the agent */
};

/* The one element of the map `orders`. */
struct segue_mobile_orders {
	struct segue_link link; /* what reports say */
	u32 round; /* counts the notices of this host; never 0 in a notice */
	u8 type; /* SEGUE_TYPE_COMPLETED, SEGUE_TYPE_EXPECTED */
	u8 copies;
	u8 way;
	u8 all; /* 0: only connections that have received data */
};

/* Elements of the map `tally`: connections, since the programs were loaded. */
enum {
	SEGUE_TALLY_POKED = 0, /* every copy was written by the kernel */
	SEGUE_TALLY_UNNEGOTIATED = 1, /* established, but the peer has no capability */
	SEGUE_TALLY_CLOSING = 2, /* the peer has nothing more to send */
	SEGUE_TALLY_UNWRITTEN = 3, /* SEGUE_WAY_POKE, and not every copy was written */
	SEGUE_TALLY_UNRESTORED = 4, /* the poke's congestion control could not be left */
	SEGUE_TALLY_LATER = 5, /* left for the second pass */
	SEGUE_TALLY_LENGTH = 6,
};

/* Written by the iterator for each connection whose ACKs the agent has to craft.
 * Addresses in network byte order, everything else in the host's. */
struct segue_mobile_ack {
	u8 remote[16]; /* IPv4: the first four */
	u8 local[16];
	u32 seq; /* snd_nxt */
	u32 ack; /* rcv_nxt */
	u32 tsval;
	u32 tsecr;
	u32 mark; /* sk_mark: it may choose the route */
	u32 device; /* SO_BINDTODEVICE; 0: none */
	u16 remote_port;
	u16 local_port;
	u16 window; /* as it stands in the header */
	u16 nonce;
	u8 ipv6;
	u8 stamped; /* tsval and tsecr are to be sent */
	u8 report; /* the report's number */
	u8 copies; /* still to be sent */
};

_Static_assert(sizeof(struct segue_mobile_orders) == 16, "records.rs");
_Static_assert(sizeof(struct segue_mobile_ack) == 68, "records.rs");

#endif
