/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * scope.h - the remote hosts that a handoff concerns: their packets move with the route.
 * All programs of an agent share the map.
 *
 * Source: docs/internals/agent.md.
 */
#ifndef SEGUE_SCOPE_H
#define SEGUE_SCOPE_H

#include "addr.h"

#define SEGUE_SCOPE_PREFIXES 1024u

/* A prefix of remote addresses, IPv4 as ::ffff:a.b.c.d. */
struct segue_prefix {
	u32 bits;
	u8 address[16];
};

/* 1 at the longest prefix of the remote address: it is concerned. */
struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, SEGUE_SCOPE_PREFIXES);
	__type(key, struct segue_prefix);
	__type(value, u8);
} scope SEC(".maps");

static __always_inline u32 segue_in_scope(const struct sock_common *sk)
{
	struct segue_prefix remote = { .bits = 128 };
	const u8 *found;

	segue_remote_address(sk, remote.address);
	found = bpf_map_lookup_elem(&scope, &remote);
	return found && *found;
}

#endif
