/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel.h - the few kernel types and names that the programs need, declared by hand.
 * Fields are found by name in the running kernel's BTF (CO-RE), so that a structure
 * lists only what is used, in any order.
 *
 * Source: Linux 6.12, the files named below.
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

/* linux/bpf.h: numbers of the kernel's interface, which never change */
enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_LPM_TRIE = 11,
	BPF_MAP_TYPE_SK_STORAGE = 24,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_F_NO_PREALLOC = 1,
	BPF_SK_STORAGE_GET_F_CREATE = 1,
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
};

enum sk_pacing { /* net/sock.h */
	SK_PACING_NONE = 0,
	SK_PACING_NEEDED = 1,
	SK_PACING_FQ = 2,
};

enum { /* bpf_sock_ops.op */
	BPF_SOCK_OPS_TCP_CONNECT_CB = 3,
	BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB = 4,
	BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB = 5,
	BPF_SOCK_OPS_STATE_CB = 10,
	BPF_SOCK_OPS_TCP_LISTEN_CB = 11,
	BPF_SOCK_OPS_PARSE_HDR_OPT_CB = 13,
	BPF_SOCK_OPS_HDR_OPT_LEN_CB = 14,
	BPF_SOCK_OPS_WRITE_HDR_OPT_CB = 15,
};

enum { /* bpf_sock_ops.bpf_sock_ops_cb_flags */
	BPF_SOCK_OPS_STATE_CB_FLAG = 1 << 2,
	BPF_SOCK_OPS_PARSE_UNKNOWN_HDR_OPT_CB_FLAG = 1 << 5,
	BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG = 1 << 6,
};

enum { /* flags of bpf_load_hdr_opt */
	BPF_LOAD_HDR_OPT_TCP_SYN = 1,
};

enum { /* args[0] at BPF_SOCK_OPS_HDR_OPT_LEN_CB: for which purpose */
	BPF_WRITE_HDR_TCP_CURRENT_MSS = 1,
	BPF_WRITE_HDR_TCP_SYNACK_COOKIE = 2,
};

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>

/* linux/socket.h, linux/in.h */
#define AF_INET 2
#define AF_INET6 10
#define SOCK_STREAM 1
#define IPPROTO_TCP 6
#define SOL_TCP 6

/* linux/tcp.h */
#define TCP_NODELAY 1
#define TCP_CONGESTION 13
#define TCP_SAVE_SYN 27
#define TCP_RTO_MAX_MS 44 /* Linux 6.15 */
#define TCP_FLAG_FIN 0x01u
#define TCP_FLAG_SYN 0x02u
#define TCP_FLAG_RST 0x04u
#define TCP_FLAG_ACK 0x10u

/* linux/bpf.h */
#define TCP_BPF_SOCK_OPS_CB_FLAGS 1008 /* Linux 6.12 */

/* linux/pkt_cls.h */
#define TC_ACT_UNSPEC (-1) /* the next filter decides */
#define TC_ACT_STOLEN 4 /* gone, and no loss to its sender */

/* linux/if_ether.h, in network byte order */
#define ETH_P_IP bpf_htons(0x0800)
#define ETH_P_IPV6 bpf_htons(0x86dd)

enum { /* net/tcp_states.h */
	TCP_ESTABLISHED = 1,
	TCP_FIN_WAIT1 = 4,
	TCP_FIN_WAIT2 = 5,
	TCP_CLOSE = 7,
	TCP_CLOSE_WAIT = 8,
	TCP_LAST_ACK = 9,
	TCP_LISTEN = 10,
	TCP_CLOSING = 11,
};

enum { /* tcp_ca_state, linux/tcp.h */
	TCP_CA_Open = 0,
	TCP_CA_Disorder = 1,
	TCP_CA_CWR = 2,
	TCP_CA_Recovery = 3,
	TCP_CA_Loss = 4,
};

enum netdev_state_t { /* linux/netdevice.h: bits of a device's state */
	__LINK_STATE_NOCARRIER = 2,
};

struct seq_file;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* linux/bpf.h: contexts of programs */

struct bpf_sock {
	u32 type;
	u32 protocol;
	u32 state;
};

struct bpf_sock_ops {
	u32 op;
	u32 args[4];
	u32 family;
	u32 remote_ip4;
	u32 remote_ip6[4];
	u32 remote_port;
	u32 local_port;
	u32 bpf_sock_ops_cb_flags;
	u32 snd_nxt;
	u32 snd_una;
	u32 total_retrans;
	u64 bytes_received;
	struct bpf_sock *sk;
	void *skb_data;
	void *skb_data_end;
	u32 skb_tcp_flags;
};

struct __sk_buff {
	u32 len;
	u32 protocol; /* network byte order */
	u32 ifindex;
	struct bpf_sock *sk;
};

/* linux/netdevice.h, linux/skbuff.h, net/dst.h */

struct net_device {
	unsigned long state;
	int ifindex;
};

struct sk_buff {
	struct net_device *dev;
	unsigned char *head;
	unsigned char *data;
	u16 network_header; /* from head */
};

struct dst_entry {
	struct net_device *dev;
};

/* linux/cgroup-defs.h, net/sock.h, net/inet_connection_sock.h, linux/tcp.h */

struct in6_addr {
	union {
		u8 u6_addr8[16];
		u32 u6_addr32[4];
	} in6_u;
};

struct kernfs_node {
	u64 id;
};

struct cgroup;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
};

struct sock_cgroup_data {
	struct cgroup *cgroup;
};

struct netns_ipv4 {
	u8 sysctl_tcp_min_tso_segs;
};

struct net {
	struct netns_ipv4 ipv4;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct sock_common {
	u32 skc_daddr;
	u32 skc_rcv_saddr;
	u16 skc_dport;
	u16 skc_num;
	u16 skc_family;
	u8 skc_state;
	possible_net_t skc_net;
	int skc_bound_dev_if;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
};

struct sock {
	struct sock_common __sk_common;
	struct sock_cgroup_data sk_cgrp_data;
	struct dst_entry *sk_dst_cache;
	u32 sk_mark;
	u32 sk_pacing_status;
	unsigned long sk_pacing_rate;
};

struct inet_sock {
	struct sock sk;
	unsigned long inet_flags; /* since Linux 6.6 */
};

/* Its flags are among inet_flags since Linux 6.7. */
struct ipv6_pinfo {
	u16 recverr : 1;
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	u8 icsk_ca_state : 5;
	u8 icsk_retransmits;
	u8 icsk_backoff;
	u8 icsk_probes_out;
	u32 icsk_user_timeout; /* ms; 0: none */
	struct {
		u16 rcv_mss; /* octets in the peer's segments, as they have come */
	} icsk_ack;
	u64 icsk_ca_priv[13];
};

struct minmax_sample {
	u32 v;
};

struct minmax {
	struct minmax_sample s[3];
};

struct tcp_options_received {
	u32 ts_recent;
	u16 tstamp_ok : 1, dsack : 1, rcv_wscale : 4;
	u8 num_sacks;
};

struct tcp_sack_block {
	u32 start_seq;
	u32 end_seq;
};

/* of the packet sent last of those known to have arrived */
struct tcp_rack {
	u64 mstamp; /* when it left */
	u32 rtt_us;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	struct tcp_options_received rx_opt;
	struct tcp_sack_block selective_acks[4]; /* held out of order, the newest first */
	struct tcp_sack_block recv_sack_cache[4]; /* of the last ACK that had some, in order */
	u32 rcv_nxt;
	u32 rcv_wnd;
	u32 rcv_wup;
	u32 write_seq;
	u32 snd_nxt;
	u32 snd_una;
	u32 high_seq;
	u32 snd_cwnd;
	u32 snd_cwnd_cnt;
	u32 snd_cwnd_clamp;
	u32 snd_cwnd_stamp;
	u32 snd_ssthresh;
	u32 prior_cwnd;
	u32 packets_out;
	u32 sacked_out;
	u32 lost_out;
	u32 retrans_out;
	struct tcp_rack rack;
	u32 data_segs_out; /* packets with data, each as often as it was sent */
	u32 delivered; /* packets, since the beginning */
	u32 lost; /* the same, each as often as it was found lost */
	u32 srtt_us; /* 8 * SRTT */
	u32 rttvar_us;
	struct minmax rtt_min; /* us; the smallest of five minutes first */
	u32 mss_cache;
	u16 advmss; /* octets of data in a packet, options aside, by the MSS that this end has announced */
	u32 max_window;
	u32 snd_wnd; /* octets that the peer takes */
	u32 rate_delivered; /* packets of the last rate sample */
	u32 rate_interval_us;
	u8 save_syn : 2;
	u8 bpf_sock_ops_cb_flags;
	u8 tcp_usec_ts : 1; /* since Linux 6.7 */
	u32 tsoffset;
	u64 bytes_received;
	u32 data_segs_in; /* segments with data that have come, also twice */
	u64 tcp_clock_cache; /* ns; since Linux 6.7 */
	u64 tcp_wstamp_ns;
	u64 tcp_mstamp;
};

enum tcp_ca_event { CA_EVENT_TX_START };

struct ack_sample {
	u32 pkts_acked;
	s32 rtt_us;
};

/* only passed on; a mere declaration would not match the kernel's */
struct rate_sample {
	s32 delivered;
};

/* The private states of net/ipv4/tcp_cubic.c and tcp_bbr.c, in icsk_ca_priv. */
struct bictcp {
	u32 last_max_cwnd;
};

struct bbr {
	u32 min_rtt_us;
	u32 full_bw_reached : 1;
};

struct tcp_congestion_ops {
	u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	void (*set_state)(struct sock *sk, u8 new_state);
	void (*cwnd_event)(struct sock *sk, enum tcp_ca_event ev);
	void (*in_ack_event)(struct sock *sk, u32 flags);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	u32 (*min_tso_segs)(struct sock *sk);
	void (*cong_control)(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs);
	u32 (*undo_cwnd)(struct sock *sk);
	u32 (*sndbuf_expand)(struct sock *sk);
	char name[16];
	u32 key;
	u32 flags;
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
};

/* linux/bpf.h, net/tcp.h */

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__tcp {
	struct bpf_iter_meta *meta;
	struct sock_common *sk_common;
};

#pragma clang attribute pop

/* kernel/bpf/helpers.c; since Linux 6.2: of __sk_buff, its sk_buff */
extern void *bpf_cast_to_kern_ctx(void *context) __ksym;

#endif
