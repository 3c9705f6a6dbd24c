/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel_mobile.h - the kernel types and names that only the mobile's programs need,
 * beside those of kernel.h and found as those. A name with three underscores stands
 * for the type before them (a "flavour" of CO-RE): what is listed here does not collide
 * with what another program lists of the same type.
 */
#ifndef SEGUE_KERNEL_MOBILE_H
#define SEGUE_KERNEL_MOBILE_H

#include "kernel.h"

/* include/uapi/linux/bpf.h */
#define BPF_MAP_TYPE_ARRAY 2
#define BPF_MAP_TYPE_LPM_TRIE 11
#define BPF_MAP_TYPE_SK_STORAGE 24
#define BPF_F_NO_PREALLOC 1
#define BPF_SK_STORAGE_GET_F_CREATE 1
#define BPF_LOAD_HDR_OPT_TCP_SYN 1
#define BPF_WRITE_HDR_TCP_CURRENT_MSS 1
#define BPF_WRITE_HDR_TCP_SYNACK_COOKIE 2
#define BPF_SOCK_OPS_TCP_CONNECT_CB 3
#define BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB 4
#define BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB 5
#define BPF_SOCK_OPS_TCP_LISTEN_CB 11
#define BPF_SOCK_OPS_HDR_OPT_LEN_CB 14
#define BPF_SOCK_OPS_WRITE_HDR_OPT_CB 15
#define BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG 64
#define TCP_BPF_SOCK_OPS_CB_FLAGS 1008

/* include/net/tcp_states.h */
#define TCP_ESTABLISHED 1
#define TCP_FIN_WAIT1 4
#define TCP_FIN_WAIT2 5
#define TCP_CLOSE_WAIT 8
#define TCP_LAST_ACK 9
#define TCP_CLOSING 11

#define SOL_TCP 6
#define IPPROTO_TCP 6
#define SOCK_STREAM 1
#define TCP_CONGESTION 13
#define TCP_SAVE_SYN 27
#define TCP_FLAG_SYN 0x02u
#define TCP_FLAG_ACK 0x10u
#define AF_INET6 10

/* include/linux/netdevice.h: bits of a device's state */
enum netdev_state_t {
	__LINK_STATE_NOCARRIER = 2,
};

struct bpf_sock_ops;
struct bpf_sock;
struct seq_file;
struct sock_common;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct __sk_buff___mobile {
	struct bpf_sock *sk;
};

struct bpf_sock___mobile {
	u32 type;
	u32 protocol;
	u32 state;
};

struct net_device___mobile {
	unsigned long state;
};

struct sk_buff___mobile {
	struct net_device___mobile *dev;
};

struct bpf_sock_ops___mobile {
	u32 op;
	u32 args[4];
	u32 bpf_sock_ops_cb_flags;
	u32 snd_nxt;
	u32 snd_una;
	u32 total_retrans;
	u64 bytes_received;
	struct bpf_sock *sk;
	u32 skb_tcp_flags;
};

/* Only its address is taken. */
struct in6_addr___mobile {
	u8 not_by_name[0];
};

struct sock_common___mobile {
	u32 skc_daddr;
	u32 skc_rcv_saddr;
	u16 skc_dport;
	u16 skc_num;
	u16 skc_family;
	u8 skc_state;
	int skc_bound_dev_if;
	struct in6_addr___mobile skc_v6_daddr;
	struct in6_addr___mobile skc_v6_rcv_saddr;
};

struct sock___mobile {
	struct sock_common___mobile __sk_common;
	u32 sk_mark;
};

struct tcp_options_received___mobile {
	u32 ts_recent;
	u16 tstamp_ok : 1, dsack : 1, rcv_wscale : 4;
	u8 num_sacks;
};

struct inet_sock___mobile {
	struct sock___mobile sk;
};

struct inet_connection_sock___mobile {
	struct inet_sock___mobile icsk_inet;
	u8 icsk_backoff;
	u32 icsk_user_timeout; /* ms; 0: none */
};

struct tcp_sock___mobile {
	struct inet_connection_sock___mobile inet_conn;
	u32 rcv_nxt;
	u32 write_seq;
	u32 snd_nxt;
	u32 snd_una;
	u32 packets_out;
	u32 rcv_wnd;
	u32 rcv_wup;
	u32 tsoffset;
	u64 tcp_clock_cache; /* ns */
	u64 tcp_wstamp_ns;
	u8 tcp_usec_ts : 1; /* since Linux 6.7 */
	struct tcp_options_received___mobile rx_opt;
	u64 bytes_received;
};

struct bpf_iter_meta___mobile {
	struct seq_file *seq;
};

struct bpf_iter__tcp___mobile {
	struct bpf_iter_meta___mobile *meta;
	struct sock_common *sk_common;
};

#pragma clang attribute pop

#endif
