/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sockets.h - programs over the sockets that exist already: mark listeners at attach,
 * list connections for `status`, let everything go at detach. Each runs when its link
 * is read, over the TCP sockets of the reader's network namespace.
 */
#ifndef SEGUE_SOCKETS_H
#define SEGUE_SOCKETS_H

#include "addr.h"
#include "flows.h"
#include "negotiate.h"
#include "rto_max.h"
#include "state.h"

#define SEGUE_CGROUP_DEPTH 64

/* Whether the socket belongs to the cgroup of the attachment or to one below it. */
static inline u32 segue_of_cgroup(const struct sock *sk)
{
	struct cgroup *cgroup = BPF_CORE_READ(sk, sk_cgrp_data.cgroup);

	for (int depth = 0; depth < SEGUE_CGROUP_DEPTH && cgroup; depth++) {
		if (BPF_CORE_READ(cgroup, kn, id) == cgroup_id)
			return 1;
		cgroup = BPF_CORE_READ(cgroup, self.parent, cgroup);
	}
	return 0;
}

static inline struct tcp_sock *segue_next(struct bpf_iter__tcp *ctx)
{
	struct sock_common *common = ctx->sk_common;
	struct tcp_sock *tp;

	if (!common)
		return 0;
	tp = bpf_skc_to_tcp_sock(common);
	return tp && segue_of_cgroup((struct sock *)tp) ? tp : 0;
}

SEC("iter/tcp")
int mark_listeners(struct bpf_iter__tcp *ctx)
{
	struct tcp_sock *tp = segue_next(ctx);
	struct segue_mark *mark;
	int flags, one = 1;

	if (!tp || tp->inet_conn.icsk_inet.sk.__sk_common.skc_state != TCP_LISTEN)
		return 0;
	mark = bpf_sk_storage_get(&marks, tp, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!mark)
		return 0;
	if (!BPF_CORE_READ_BITFIELD(tp, save_syn) &&
	    !bpf_setsockopt(tp, SOL_TCP, TCP_SAVE_SYN, &one, sizeof(one)))
		mark->save_syn = 1;
	flags = tp->bpf_sock_ops_cb_flags;
	if (!(flags & BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG)) {
		flags |= BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG;
		if (!bpf_setsockopt(tp, SOL_TCP, TCP_BPF_SOCK_OPS_CB_FLAGS, &flags,
				    sizeof(flags)))
			mark->flags = BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG;
	}
	return 0;
}

static inline u32 segue_enrolled(struct tcp_sock *tp)
{
	char name[SEGUE_CC_NAME_LEN] = {};

	if (bpf_getsockopt(tp, SOL_TCP, TCP_CONGESTION, name, sizeof(name)))
		return 0;
	for (u32 i = 0; i < SEGUE_CC_NAME_LEN; i++) {
		if (name[i] != cc_name[i])
			return 0;
		if (!name[i])
			break;
	}
	return 1;
}

static inline void segue_row_addresses(const struct sock_common *common, struct segue_flow_row *row)
{
	segue_local_address(common, row->local);
	segue_remote_address(common, row->remote);
	row->local_port = common->skc_num;
	row->remote_port = bpf_ntohs(common->skc_dport);
}

SEC("iter/tcp")
int list_flows(struct bpf_iter__tcp *ctx)
{
	struct tcp_sock *tp = segue_next(ctx);
	struct segue_connection *conn;
	struct segue_flow_row row;
	struct sock_common *common;

	if (!tp)
		return 0;
	common = &tp->inet_conn.icsk_inet.sk.__sk_common;
	if (common->skc_state == TCP_LISTEN)
		return 0;
	__builtin_memset(&row, 0, sizeof(row));
	segue_row_addresses(common, &row);
	row.state = common->skc_state;
	row.enrolled = segue_enrolled(tp);
	row.cwnd = tp->snd_cwnd;
	row.ssthresh = tp->snd_ssthresh;
	conn = bpf_sk_storage_get(&connections, tp, 0, 0);
	if (conn) {
		row.negotiated = 1;
		row.reported = conn->negotiated.link.rate_kbps != 0;
		row.link = conn->negotiated.link;
		row.flows = segue_flows_of(&conn->host);
		row.accepted = conn->accepted;
		row.refused = conn->refused;
	}
	bpf_seq_write(ctx->meta->seq, &row, sizeof(row));
	return 0;
}

/* A flow that nobody will watch any more: nothing of ours may stay with it. */
static inline void segue_forget(struct tcp_sock *tp)
{
	struct segue_connection *conn = bpf_sk_storage_get(&connections, tp, 0, 0);

	if (!conn)
		return;
	if (conn->own_rto_max_ms)
		segue_free_rto((struct sock *)tp, conn);
	bpf_sk_storage_delete(&connections, tp);
}

SEC("iter/tcp")
int let_go(struct bpf_iter__tcp *ctx)
{
	char cubic[SEGUE_CC_NAME_LEN] = "cubic";
	struct tcp_sock *tp = segue_next(ctx);
	struct segue_mark *mark;
	int flags, zero = 0;

	if (!tp)
		return 0;
	flags = tp->bpf_sock_ops_cb_flags;
	mark = bpf_sk_storage_get(&marks, tp, 0, 0);
	if (mark) {
		if (mark->save_syn)
			bpf_setsockopt(tp, SOL_TCP, TCP_SAVE_SYN, &zero, sizeof(zero));
		flags &= ~mark->flags;
		bpf_setsockopt(tp, SOL_TCP, TCP_BPF_SOCK_OPS_CB_FLAGS, &flags, sizeof(flags));
		bpf_sk_storage_delete(&marks, tp);
	}
	if (segue_enrolled(tp))
		bpf_setsockopt(tp, SOL_TCP, TCP_CONGESTION, cubic, sizeof(cubic));
	if (bpf_sk_storage_get(&connections, tp, 0, 0)) {
		flags &= ~SEGUE_OUR_FLAGS;
		bpf_setsockopt(tp, SOL_TCP, TCP_BPF_SOCK_OPS_CB_FLAGS, &flags, sizeof(flags));
		segue_forget(tp);
	}
	return 0;
}

#endif
