/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * state.h - the memory of the receiver's programs: their owner's orders, peers,
 * connections, counters.
 */
#ifndef SEGUE_RECEIVER_STATE_H
#define SEGUE_RECEIVER_STATE_H

#include "addr.h"
#include "tuple.h"
#include "intf.h"

/* Connections that the filter can remember: a bound for memory; of more, the one that
 * was silent for longest is forgotten. */
#define FLOWS 4096
#define PEERS 1024

/* Set when the filter is put at a device, which may come later than the programs, go and
 * come again. */
volatile u32 device; /* its index */
volatile u32 link_header; /* octets before the IP header: 14 on Ethernet, else 0 */

/* Set before the programs are loaded. */
const volatile u32 chosen_peers; /* only those of the map `peers`, not all */
const volatile u32 filters; /* PHAS may be asked for */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct segue_receiver_orders);
} receiver_orders SEC(".maps");

struct peer {
	u8 address[16];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PEERS);
	__type(key, struct peer);
	__type(value, u8);
} peers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, FLOWS);
	__type(key, struct segue_tuple);
	__type(value, struct segue_receiver_state);
} flows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SEGUE_COUNT_LENGTH);
	__type(key, u32);
	__type(value, u64);
} counters SEC(".maps");

static __always_inline void count(u32 what)
{
	u64 *counter = bpf_map_lookup_elem(&counters, &what);

	if (counter)
		__sync_fetch_and_add(counter, 1);
}

static __always_inline u32 chosen(const u8 remote[16])
{
	struct peer peer;

	if (!chosen_peers)
		return 1;
	__builtin_memcpy(peer.address, remote, 16);
	return bpf_map_lookup_elem(&peers, &peer) != 0;
}

#endif
