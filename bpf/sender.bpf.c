/* SPDX-License-Identifier: GPL-2.0-only */
#include "kernel.h"
#include "intf.h"
#include "tcp_ho.h"
#include "etcp.h"

char _license[] SEC("license") = "GPL";

extern void cubictcp_init(struct sock *sk) __ksym;
extern u32 cubictcp_recalc_ssthresh(struct sock *sk) __ksym;
extern void cubictcp_cong_avoid(struct sock *sk, u32 ack, u32 acked) __ksym;
extern void cubictcp_state(struct sock *sk, u8 new_state) __ksym;
extern void cubictcp_cwnd_event(struct sock *sk, enum tcp_ca_event event) __ksym;
extern void cubictcp_acked(struct sock *sk, const struct ack_sample *sample) __ksym;
extern u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym;

SEC("struct_ops")
void BPF_PROG(segue_init, struct sock *sk) { cubictcp_init(sk); }
SEC("struct_ops")
u32 BPF_PROG(segue_ssthresh, struct sock *sk) { return cubictcp_recalc_ssthresh(sk); }
SEC("struct_ops")
void BPF_PROG(segue_cong_avoid, struct sock *sk, u32 ack, u32 acked) { cubictcp_cong_avoid(sk, ack, acked); }
SEC("struct_ops")
void BPF_PROG(segue_set_state, struct sock *sk, u8 new_state) { cubictcp_state(sk, new_state); }
SEC("struct_ops")
void BPF_PROG(segue_cwnd_event, struct sock *sk, enum tcp_ca_event event) { cubictcp_cwnd_event(sk, event); }
SEC("struct_ops")
void BPF_PROG(segue_acked, struct sock *sk, const struct ack_sample *sample) { cubictcp_acked(sk, sample); }
SEC("struct_ops")
u32 BPF_PROG(segue_undo_cwnd, struct sock *sk) { return tcp_reno_undo_cwnd(sk); }

SEC(".struct_ops.link")
struct tcp_congestion_ops segue = {
	.init = (void *)segue_init,
	.ssthresh = (void *)segue_ssthresh,
	.cong_avoid = (void *)segue_cong_avoid,
	.set_state = (void *)segue_set_state,
	.cwnd_event = (void *)segue_cwnd_event,
	.pkts_acked = (void *)segue_acked,
	.undo_cwnd = (void *)segue_undo_cwnd,
	.name = "segue",
};
