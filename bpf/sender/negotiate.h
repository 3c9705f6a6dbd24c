/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * negotiate.h - the capability on SYN and SYN-ACK (docs/reference/wire.md).
 *
 *     listen()      keep SYNs; call us when SYN-ACKs are written
 *     SYN-ACK       capability, if the SYN carried one
 *     established   negotiated: storage, the congestion control; else: nothing
 *
 * A host that connects offers the capability on its first SYN. A SYN sent again goes without:
 * a middlebox may have dropped the first because of the option.
 *
 * Source: docs/reference/wire.md.
 */
#ifndef SEGUE_NEGOTIATE_H
#define SEGUE_NEGOTIATE_H

#include "notice_rx.h"
#include "nonce.h"
#include "state.h"

#define SEGUE_RX_FLAGS                                                                        \
	(BPF_SOCK_OPS_PARSE_UNKNOWN_HDR_OPT_CB_FLAG | BPF_SOCK_OPS_STATE_CB_FLAG)
#define SEGUE_OUR_FLAGS                                                                            \
	(SEGUE_RX_FLAGS | BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG)

static inline int segue_set_flags(struct bpf_sock_ops *ctx, u32 without, u32 with)
{
	return bpf_sock_ops_cb_flags_set(ctx, (int)((ctx->bpf_sock_ops_cb_flags & ~without) |
						    with));
}

static inline void segue_on_listen(struct bpf_sock_ops *ctx)
{
	struct bpf_sock *sk = ctx->sk;
	struct segue_mark *mark;
	struct tcp_sock *tp;
	int one = 1;

	if (!sk)
		return;
	mark = bpf_sk_storage_get(&marks, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	tp = bpf_skc_to_tcp_sock(sk);
	if (!mark || !tp)
		return;
	if (!BPF_CORE_READ_BITFIELD(tp, save_syn) &&
	    !bpf_setsockopt(ctx, SOL_TCP, TCP_SAVE_SYN, &one, sizeof(one)))
		mark->save_syn = 1;
	if (!(ctx->bpf_sock_ops_cb_flags & BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG) &&
	    !segue_set_flags(ctx, 0, BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG))
		mark->flags = BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG;
}

/* flags: where to look, in the segment at hand or in the SYN that it answers. */
static inline u32 segue_capable(struct bpf_sock_ops *ctx, u64 flags)
{
	struct segue_capability capability;
	u8 option[SEGUE_OPTION_ROOM];
	const int length = segue_find_option(ctx, option, flags);

	return length > 0 && !segue_decode_capability(option, (u32)length, &capability);
}

static inline u32 segue_offers(struct bpf_sock_ops *ctx)
{
	const u32 flags = ctx->skb_tcp_flags & (TCP_FLAG_SYN | TCP_FLAG_ACK);

	if (flags == TCP_FLAG_SYN)
		return ctx->total_retrans == 0;
	return flags == (TCP_FLAG_SYN | TCP_FLAG_ACK) &&
	       segue_capable(ctx, BPF_LOAD_HDR_OPT_TCP_SYN);
}

static inline void segue_on_write(struct bpf_sock_ops *ctx)
{
	struct segue_capability capability = {};
	u8 option[SEGUE_CAPABILITY_LENGTH] = {};
	const u8 *header = ctx->skb_data;

	if (!segue_offers(ctx) || (void *)(header + 8) > ctx->skb_data_end)
		return;
	capability.nonce = segue_nonce(ctx, segue_get32(header + 4));
	segue_encode_capability(&capability, option);
	bpf_store_hdr_opt(ctx, option, sizeof(option), 0);
}

/* A passive connection has negotiated if its SYN offered the capability. With SYN cookies the SYN
 * is gone; a peer that repeats the nonce has seen our SYN-ACK's capability. */
static inline void segue_on_established(struct bpf_sock_ops *ctx, u32 passive)
{
	const u16 nonce = segue_nonce(ctx, ctx->snd_una - 1);
	struct segue_report report = {};
	struct segue_connection *conn;
	struct bpf_sock *sk = ctx->sk;
	u32 fault, negotiated;

	fault = segue_load_report(ctx, &report);
	if (passive)
		negotiated = (fault == SEGUE_OPTION_OK && report.nonce == nonce) ||
			     segue_capable(ctx, BPF_LOAD_HDR_OPT_TCP_SYN);
	else
		negotiated = segue_capable(ctx, 0);
	if (!negotiated || !sk) {
		if (fault == SEGUE_OPTION_OK)
			segue_count(SEGUE_COUNT_NOT_NEGOTIATED);
		segue_set_flags(ctx, SEGUE_OUR_FLAGS, 0);
		return;
	}
	conn = bpf_sk_storage_get(&connections, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!conn)
		return;
	conn->negotiated.replay.nonce = nonce;
	conn->last_una = ctx->snd_una;
	segue_host_of(ctx, &conn->host);
	segue_count(SEGUE_COUNT_NEGOTIATED);
	segue_set_flags(ctx, SEGUE_OUR_FLAGS, SEGUE_RX_FLAGS);
	bpf_setsockopt(ctx, SOL_TCP, TCP_CONGESTION, (void *)SEGUE_LOADED(void, cc_name),
		       SEGUE_CC_NAME_LEN);
	/* The kernel has just accepted the handshake, and with it this segment. */
	if (passive && fault != SEGUE_NO_OPTION)
		segue_first_report(conn, fault, &report);
}

/* A connection that has been reset keeps its socket until the program closes it. */
static inline void segue_on_change(struct bpf_sock_ops *ctx)
{
	struct bpf_sock *sk = ctx->sk;
	struct segue_connection *conn;

	if (!sk || ctx->args[1] != TCP_CLOSE)
		return;
	conn = bpf_sk_storage_get(&connections, sk, 0, 0);
	if (!conn)
		return;
	segue_flow_idle(conn);
	segue_leave_group(conn);
}

#endif
