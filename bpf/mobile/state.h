/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * state.h - the memory of the mobile's programs: connections, the agent's orders,
 * counters.
 */
#ifndef SEGUE_MOBILE_STATE_H
#define SEGUE_MOBILE_STATE_H

#include "scope.h"
#include "intf.h"
#include "kernel.h"
#include "notice.h"

/* The connection's own ACKs repeat this after its notice. */
enum again {
	AGAIN_NOTHING = 0,
	AGAIN_NOTICE = 1,
	AGAIN_BOTH = 2, /* the first report that went ahead, too */
};

/* One connection, from its SYN on. A connection without one has not negotiated. */
struct connection {
	struct segue_link link; /* of the report to be written */
	struct segue_link before; /* of a first report that goes ahead of it */
	u32 round; /* of the last notice; until the connection is established: as it began */
	u32 una; /* snd_nxt as the first report was first written */
	u16 nonce; /* of our capability */
	u16 peer_nonce; /* repeated in our reports */
	u8 negotiated;
	u8 report; /* number of the next report */
	u8 type; /* of the report to be written; 0: none */
	u8 copies; /* to be sent by segue_trigger */
	u8 written; /* options stored since the trigger began */
	u8 to_craft; /* copies of this round, for the agent */
	u8 data_is_no_answer; /* the peer may send without having heard the first report */
	u8 marked; /* copies that the connection's own ACKs are still to carry */
	u8 also; /* the agent is to send one over the old link */
	u8 ahead; /* the first report is to go ahead of the notice */
	u8 again; /* enum again: what was sent is to be on the connection's next ACKs, too */
	u8 pad;
	u32 tsecr; /* the stamp that was echoed last */
	u64 echoed; /* ns, CLOCK_MONOTONIC: when `tsecr` was first sent */
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct connection);
} connections SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct segue_mobile_orders);
} orders SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SEGUE_MOBILE_COUNT_LENGTH);
	__type(key, u32);
	__type(value, u32);
} counters SEC(".maps");

/* A flow of this host, in a state in which data may be under way. A socket that still
 * connects would take ICMP for the end of it (tcp_v4_err). */
static __always_inline u32 may_upload(u32 state)
{
	return state == TCP_ESTABLISHED || state == TCP_CLOSE_WAIT || state == TCP_FIN_WAIT1 ||
	       state == TCP_LAST_ACK || state == TCP_CLOSING;
}

/* A hole in what has come, or data of this host that are not acknowledged. */
static __always_inline u32 under_way(const struct tcp_sock *tp)
{
	return tp->packets_out || tp->rx_opt.num_sacks;
}

/* Whether the peer may wait for an ACK: something is under way, or has lately come. */
static __always_inline u32 busy(struct tcp_sock *tp,
				const struct segue_mobile_orders *order)
{
	if (under_way(tp))
		return 1;
	return tp->bytes_received && tp->tcp_clock_cache >= order->since;
}

static __always_inline void count(u32 what)
{
	u32 *counter = bpf_map_lookup_elem(&counters, &what);

	if (counter)
		__sync_fetch_and_add(counter, 1);
}

#endif
