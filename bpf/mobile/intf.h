/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * intf.h - the interface between the mobile's programs and its agent. The build writes the
 * same types in Rust (layouts.bpf.c).
 */
#ifndef SEGUE_MOBILE_INTF_H
#define SEGUE_MOBILE_INTF_H

#include "policy.h"

/* Sent at once for one connection: a bound for the verifier, and for the network. */
#define SEGUE_MOBILE_COPIES 8u

/* How a notice leaves. */
enum {
	SEGUE_WAY_AUTO = 0, /* poke, and craft what the poke could not write */
	SEGUE_WAY_POKE = 1, /* the kernel's own ACKs, or nothing */
	SEGUE_WAY_CRAFT = 2, /* ACKs built by the agent */
};

/* What a walk does with the connections that it does not tell at once. */
enum {
	SEGUE_OTHERS_WAIT = 0, /* they are counted; another walk comes */
	SEGUE_OTHERS_TOLD = 1, /* they are told at once, too */
	SEGUE_OTHERS_MARKED = 2, /* their next ACKs carry the report */
};

/* The one element of the map `orders`. */
struct segue_mobile_orders {
	u64 since; /* ns, CLOCK_MONOTONIC: who has been busy since is told first */
	struct segue_link link; /* what the notice tells */
	struct segue_link first; /* what first reports tell */
	u32 round; /* counts the notices of this host; never 0 in a notice */
	u32 budget; /* connections that this walk may still tell */
	u8 type; /* SEGUE_TYPE_COMPLETED, SEGUE_TYPE_EXPECTED */
	u8 copies;
	u8 way;
	u8 others;
	u8 uploads; /* what this host's own flows wait for is asked for, too */
	u8 pushes; /* and what they have queued is sent */
	u8 pad[2];
};

/* Elements of the map `tally`: connections, since the programs were loaded. The last
 * seven are a census: each walk counts anew. */
enum segue_tally {
	SEGUE_TALLY_POKED = 0, /* every copy was written by the kernel */
	SEGUE_TALLY_UNRESTORED = 1, /* the poke's congestion control could not be left */
	SEGUE_TALLY_ACKED = 2, /* a marked connection's own ACKs have carried the report */
	SEGUE_TALLY_UNWRITTEN = 3, /* SEGUE_WAY_POKE, and not every copy was written */
	SEGUE_TALLY_UNNEGOTIATED = 4, /* established, but the peer has no capability */
	SEGUE_TALLY_CLOSING = 5, /* the peer has nothing more to send */
	SEGUE_TALLY_LATER = 6, /* not told yet: SEGUE_OTHERS_WAIT */
	SEGUE_TALLY_UNPAID = 7, /* busy and not told yet: the budget was spent */
	SEGUE_TALLY_MARKED = 8, /* waits for an ACK of its own */
	SEGUE_TALLY_NEGOTIATED = 9, /* may be told */
	SEGUE_TALLY_UPLOADS = 10, /* flows of this host with data under way or queued */
	SEGUE_TALLY_PUSHED = 11, /* of these, nothing was under way: sent what was queued */
	SEGUE_TALLY_LENGTH = 12,
};

/* Written by the iterator for each connection whose ACKs the agent has to craft.
 * Addresses in network byte order, everything else in the host's. */
struct segue_mobile_ack {
	u8 remote[16]; /* IPv4 as ::ffff:a.b.c.d */
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
	u8 stamped; /* tsval and tsecr are to be sent */
	u8 report; /* the report's number */
	u8 copies; /* still to be sent */
	u8 backoffs; /* of the timer, to be taken back (RFC 6069); 0: none */
	u32 una; /* snd_una, where there are */
};

#endif
