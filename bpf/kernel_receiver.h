/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel_receiver.h - the kernel types and names that only the receiver's programs
 * need, beside those of kernel.h. Three underscores: see kernel_mobile.h.
 */
#ifndef SEGUE_KERNEL_RECEIVER_H
#define SEGUE_KERNEL_RECEIVER_H

#include "kernel.h"

/* linux/bpf.h */
#define BPF_MAP_TYPE_HASH 1
#define BPF_ANY 0

/* linux/pkt_cls.h */
#define TC_ACT_UNSPEC (-1) /* the next filter decides */
#define TC_ACT_STOLEN 4 /* gone, and no loss to its sender */

/* linux/if_ether.h, in network byte order */
#define ETH_P_IP bpf_htons(0x0800)
#define ETH_P_IPV6 bpf_htons(0x86dd)

#define IPPROTO_TCP 6
#define TCP_FLAG_FIN 0x01u
#define TCP_FLAG_RST 0x04u
#define TCP_FIN_WAIT1 4
#define TCP_FIN_WAIT2 5

/* linux/bpf.h: the beginning of the context of tc programs */
struct __sk_buff {
	__u32 len;
	__u32 pkt_type;
	__u32 mark;
	__u32 queue_mapping;
	__u32 protocol; /* network byte order */
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct net_device___receiver {
	int ifindex;
};

struct dst_entry___receiver {
	struct net_device___receiver *dev;
};

struct sock___receiver {
	struct dst_entry___receiver *sk_dst_cache;
};

struct tcp_sock___receiver {
	u32 rcv_nxt;
};

#pragma clang attribute pop

#endif
