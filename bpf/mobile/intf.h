/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * intf.h - the interface between the mobile's programs and its agent. The build writes the
 * same types in Rust (layouts.bpf.c).
 */
#ifndef SEGUE_MOBILE_INTF_H
#define SEGUE_MOBILE_INTF_H

#include "tuple.h"
#include "policy.h"

/* Sent at once for one connection: a bound for the verifier, and for the network. */
#define SEGUE_MOBILE_COPIES 8u

/* How a notice leaves. */
enum {
	SEGUE_WAY_AUTO = 0, /* trigger, and craft what the trigger could not write */
	SEGUE_WAY_TRIGGER = 1, /* the kernel's own ACKs, or nothing */
	SEGUE_WAY_CRAFT = 2, /* ACKs built by the agent */
};

/* How a pass treats connections whose notice it does not send at once. */
enum {
	SEGUE_OTHERS_WAIT = 0, /* they are counted; another pass comes */
	SEGUE_OTHERS_NOTIFIED = 1, /* they are notified at once, too */
	SEGUE_OTHERS_MARKED = 2, /* their next ACKs carry the report */
};

/* The one element of the map `orders`. */
struct segue_mobile_orders {
	u64 since; /* ns, CLOCK_MONOTONIC: connections busy since then are notified first */
	struct segue_link link; /* the notice's */
	struct segue_link first; /* of first reports */
	struct segue_link before; /* of those that go ahead of a notice; rate 0: unknown */
	u32 round; /* counts the notices of this host; never 0 in a notice */
	u32 budget; /* connections that this pass may still notify */
	u8 type; /* SEGUE_TYPE_COMPLETED, SEGUE_TYPE_EXPECTED */
	u8 copies;
	u8 way;
	u8 others;
	u8 uploads; /* what this host's own flows wait for is asked for, too */
	u8 pushes; /* and what they have queued is sent */
	u8 forwarded; /* connections that this host forwards are followed */
	u8 also; /* the agent sends one more copy of each notice, over the old link */
};

/* Elements of the map `counters`: connections, since the programs were loaded. Each pass
 * counts the last seven anew. */
enum segue_mobile_counter {
	SEGUE_MOBILE_COUNT_TRIGGERED = 0, /* every copy was written by the kernel */
	SEGUE_MOBILE_COUNT_UNRESTORED = 1, /* the trigger's congestion control could not be left */
	SEGUE_MOBILE_COUNT_ACKED = 2, /* a marked connection's own ACKs have carried the report */
	SEGUE_MOBILE_COUNT_UNWRITTEN = 3, /* SEGUE_WAY_TRIGGER, and not every copy was written */
	SEGUE_MOBILE_COUNT_UNNEGOTIATED = 4, /* established, but the peer has no capability */
	SEGUE_MOBILE_COUNT_CLOSING = 5, /* the peer has nothing more to send */
	SEGUE_MOBILE_COUNT_LATER = 6, /* not notified yet: SEGUE_OTHERS_WAIT */
	SEGUE_MOBILE_COUNT_UNPAID = 7, /* busy and not notified yet: the budget was spent */
	SEGUE_MOBILE_COUNT_MARKED = 8, /* waits for an ACK of its own */
	SEGUE_MOBILE_COUNT_NEGOTIATED = 9, /* may be notified */
	SEGUE_MOBILE_COUNT_UPLOADS = 10, /* flows of this host with data under way or queued */
	SEGUE_MOBILE_COUNT_PUSHED = 11, /* of these, nothing was under way: sent what was queued */
	SEGUE_MOBILE_COUNT_UNECHOED = 12, /* segments, not connections: TSecr became 0 */
	SEGUE_MOBILE_COUNT_NARROWED = 13, /* segments: the window became smaller */
	SEGUE_MOBILE_COUNT_CLOSED = 14, /* segments: the window became zero */
	SEGUE_MOBILE_COUNT_LENGTH = 15,
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
	u16 also; /* 1: and one for the old link */
	u16 ahead; /* 1: the first of the copies is the first report */
};

/* ACK numbers of a connection that are remembered. */
#define SEGUE_SENT_ACKS 4

/* Peers that have not negotiated, by prefix: element of the map `others`. */
struct segue_others {
	u64 stale; /* ns, CLOCK_MONOTONIC: stamps first echoed before then are from before an outage */
	u64 closed_until; /* the same: they are told a window of zero until then */
	u32 resume; /* connections with them are helped */
	u32 window; /* windows told to them may be bounded */
	u32 freeze; /* and may be closed before a break */
	u32 closes; /* index: only what leaves by this device is told a window of zero */
};

/* State of a connection as of its last segment to the peer: element of the map `sent`. */
struct segue_sent {
	u64 echoed; /* ns, CLOCK_MONOTONIC: when `tsecr` was first sent */
	u64 until; /* the same: when this period of counting ends */
	u32 tsecr;
	u32 known; /* of `acks` */
	u32 acks[SEGUE_SENT_ACKS]; /* the last ACK numbers, each once, the newest first */
	u32 packets; /* data packets that have come */
	u32 before[2]; /* the same, as this period began and the one before */
	u32 device; /* index: the last segment has left by it */
	u32 rtt_us; /* the smallest of the last minutes; 0: unknown */
	u16 mss; /* octets of data in the peer's packets */
	u8 scale; /* RFC 7323: of this host's windows */
	u8 closed; /* the last segment has told a window of zero, or the agent's ACK has */
	u32 seq; /* this host's next */
	u32 sacked; /* the highest number that SACK blocks have told of; no further than `acks`: none */
	u32 stamp; /* its last time stamp, host byte order */
	u32 left_ack; /* the highest number that was told by devices before this one */
	u32 left_stamp; /* the last stamp there, host byte order */
	u32 mark; /* sk_mark: it may choose the route */
	u16 window; /* the socket's own, as it stands in the header, host byte order */
	u16 stamped; /* there are time stamps */
	u32 negotiated; /* its peer has: `packets` is all that is kept */
};

/* A connection that this host forwards, by what its near end has sent: element of the map `forwarded`. */
struct segue_forwarded {
	u64 echoed; /* as in segue_sent */
	u64 heard; /* ns, CLOCK_MONOTONIC: when new data was last acknowledged, or sent by the near end */
	u32 tsecr;
	u32 known; /* of `acks` */
	u32 acks[SEGUE_SENT_ACKS];
	u32 seq; /* the near end's next */
	u32 tsval; /* its last stamp, host byte order */
	u16 window; /* as it stood in the last header, host byte order */
	u16 stamped; /* there are time stamps */
	u32 pad;
};

/* The bound of a connection's windows: element of the map `bounds`. */
struct segue_bound {
	u64 until; /* ns, CLOCK_MONOTONIC: it ends by itself, also if its agent is gone */
	u32 from; /* the first ACK number that it holds for */
	u32 device; /* index: what leaves by another is not bounded */
	u32 most; /* as it stands in the header, host byte order */
	u32 pad;
};

/* Written by mobile_waiting for each connection whose peer may be waiting. */
struct segue_waiting {
	u64 heard; /* ns, CLOCK_MONOTONIC: something was last at work on it */
	struct segue_tuple tuple;
	u32 acks[SEGUE_SENT_ACKS]; /* as in segue_sent */
	u32 known;
	u32 seq; /* snd_nxt */
	u32 ack; /* rcv_nxt */
	u32 tsval;
	u32 mark; /* sk_mark: it may choose the route */
	u32 device; /* SO_BINDTODEVICE; 0: none */
	u32 rtt_us; /* the smallest of the last minutes; 0: unknown */
	u16 window; /* as it stands in the header */
	u16 stamped; /* time stamps have been negotiated */
	u16 closed; /* the peer was told a window of zero last */
	u16 resumes; /* it may be helped after an outage */
	u16 negotiated; /* its peer is sent notices; no ACK numbers but `ack` */
	u16 mss; /* as in segue_sent; 0: unknown */
	u32 packets; /* data packets that have come */
	u32 una; /* snd_una */
	u16 own_mss; /* octets of data in a packet by the MSS that this host has announced */
	u16 under_way; /* there is a hole in what has come, or data of this host are not acknowledged */
};

#endif
