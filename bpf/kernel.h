/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel.h - the few kernel types and names that the programs need, declared by
 * hand. Fields are found by name in the running kernel's BTF (CO-RE), so that a
 * structure lists only what is used, in any order.
 */
#ifndef SEGUE_KERNEL_H
#define SEGUE_KERNEL_H

#include "policy.h"
/* linux/types.h, as bpf_helpers.h needs it */
typedef u8 __u8;
typedef u16 __u16;
typedef u32 __u32;
typedef u64 __u64;
typedef s32 __s32;
typedef long long __s64;
typedef u16 __be16;
typedef u32 __be32;
typedef u32 __wsum;

/* linux/bpf.h */
enum bpf_map_type {
	BPF_MAP_TYPE_ARRAY = 2,
};

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct sock {
	int sk_dummy_unused[0];
};

enum tcp_ca_event { CA_EVENT_TX_START };

struct ack_sample {
	u32 pkts_acked;
};

struct tcp_congestion_ops {
	u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	void (*set_state)(struct sock *sk, u8 new_state);
	void (*cwnd_event)(struct sock *sk, enum tcp_ca_event ev);
	void (*in_ack_event)(struct sock *sk, u32 flags);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	u32 (*undo_cwnd)(struct sock *sk);
	char name[16];
	u32 key;
	u32 flags;
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
};

#pragma clang attribute pop

#endif
