/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * negotiate.h - which segment carries which option. Source: docs/reference/wire.md.
 *
 *     SYN ->           capability
 *     <- SYN-ACK       capability          else: never an option again
 *     first ACK ->     report, type 1; the same on all that follows, for the ACK may be
 *                      lost, until an answer shows that one has arrived. Where other
 *                      options leave no room (MPTCP's on the first ACKs) it waits
 *     a notice         the report that the connection's state holds: on the ACKs of a
 *                      trigger, or where it is marked on the next that it sends anyway.
 *                      A first report that has no answer goes ahead, and both are
 *                      repeated on the next three. So it is where a handoff completes
 *                      between SYN and SYN-ACK
 */
#ifndef SEGUE_MOBILE_NEGOTIATE_H
#define SEGUE_MOBILE_NEGOTIATE_H

#include "state.h"

/* After so many SYNs the path may be one that drops those with unknown options. */
#define SYNS_WITH_CAPABILITY 2

/* So often at most the first report is sent: who accepts a connection and only listens is
 * never answered. */
#define FIRST_REPORTS 8

/* ------------------------------------------------------------------- negotiation */

static __always_inline struct connection *connection_of(struct bpf_sock_ops *ops, u64 flags)
{
	struct bpf_sock *sk = ops->sk;

	return sk ? bpf_sk_storage_get(&connections, sk, 0, flags) : 0;
}

static __always_inline void write_options(struct bpf_sock_ops *ops, u32 on)
{
	/* other programs may have set other flags */
	const u32 others = ops->bpf_sock_ops_cb_flags & ~BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG;

	bpf_sock_ops_cb_flags_set(ops, others | (on ? BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG : 0));
}

/* The capability of a SYN-ACK, or of the SYN that was saved. */
static __always_inline u32 load_capability(struct bpf_sock_ops *ops, u64 flags,
					   struct segue_capability *capability)
{
	/* RFC 6994: a search by kind and ExID, 4 octets; the kernel knows 4 or 6 */
	u8 option[SEGUE_REPORT_LENGTH] = { SEGUE_OPTION_KIND, 4, SEGUE_OPTION_EXID >> 8,
					   SEGUE_OPTION_EXID & 0xff };
	const long length = bpf_load_hdr_opt(ops, option, sizeof(option), flags);

	return length == SEGUE_CAPABILITY_LENGTH &&
	       segue_decode_capability(option, SEGUE_CAPABILITY_LENGTH, capability) ==
		       SEGUE_OPTION_OK;
}

static __always_inline void on_connect(struct bpf_sock_ops *ops)
{
	struct connection *connection = connection_of(ops, BPF_SK_STORAGE_GET_F_CREATE);
	const struct segue_mobile_orders *order;
	u32 zero = 0;

	if (!connection)
		return;
	connection->nonce = bpf_get_prandom_u32();
	order = bpf_map_lookup_elem(&orders, &zero);
	if (order)
		connection->round = order->round;
	write_options(ops, 1);
}

/* A handoff of this peer's route has completed since the connection's SYN. So it was one of the old link, and its own
 * ACKs tell the peer. */
static __always_inline void report_handoff(struct bpf_sock *sk, struct connection *connection)
{
	struct tcp_sock *tp = sk ? bpf_skc_to_tcp_sock(sk) : 0;
	const struct segue_mobile_orders *order;
	u32 zero = 0;

	order = bpf_map_lookup_elem(&orders, &zero);
	if (!tp || !segue_in_scope(&tp->inet_conn.icsk_inet.sk.__sk_common))
		return;
	if (!order || connection->round == order->round || order->type != SEGUE_TYPE_COMPLETED ||
	    !order->before.rate_kbps)
		return;
	connection->round = order->round;
	connection->link = order->link;
	connection->before = order->before;
	connection->type = order->type;
	connection->ahead = 1;
	connection->marked = segue_min(order->copies, SEGUE_MOBILE_COPIES);
}

static __always_inline void on_established(struct bpf_sock_ops *ops, u64 load_flags, u64 storage_flags)
{
	struct segue_capability capability;
	struct connection *connection = 0;

	if (load_capability(ops, load_flags, &capability))
		connection = connection_of(ops, storage_flags);
	if (!connection) {
		struct bpf_sock *sk = ops->sk;

		write_options(ops, 0);
		if (sk)
			bpf_sk_storage_delete(&connections, sk);
		return;
	}
	connection->peer_nonce = capability.nonce;
	connection->negotiated = 1;
	connection->type = SEGUE_TYPE_FIRST;
	connection->report = 1; /* the first report is 0 */
	connection->data_is_no_answer = ops->op == BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB;
	if (ops->op == BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB)
		report_handoff(ops->sk, connection);
	write_options(ops, 1);
}

/* A SYN-ACK answers a capability, but not as a SYN cookie: nothing of the SYN would
 * be known when the connection is established. */
static __always_inline u32 answers(struct bpf_sock_ops *ops)
{
	struct segue_capability capability;

	return ops->args[0] != BPF_WRITE_HDR_TCP_SYNACK_COOKIE &&
	       load_capability(ops, BPF_LOAD_HDR_OPT_TCP_SYN, &capability);
}

/* ----------------------------------------------------------------- option by option */

/* Whether the peer has answered a segment with the first report: by an ACK of data sent
 * with it or later, or by data. Before our first ACK, only a peer that has connected can
 * send data. */
static __always_inline u32 is_answered(struct bpf_sock_ops *ops, const struct connection *connection)
{
	if (!connection->written)
		return 0;
	return segue_seq_before(connection->una, ops->snd_una) ||
	       (!connection->data_is_no_answer && ops->bytes_received);
}

/* Data that the peer sent before are no answer, nor are its ACKs of segments sent before. */
static __always_inline void begin_to_ask(struct bpf_sock_ops *ops, struct connection *connection)
{
	connection->una = ops->snd_nxt;
	if (ops->bytes_received)
		connection->data_is_no_answer = 1;
}

static __always_inline void on_option_length(struct bpf_sock_ops *ops)
{
	struct connection *connection;

	/* without a segment: the MSS is computed, and must foresee the option */
	if (ops->args[0] != BPF_WRITE_HDR_TCP_CURRENT_MSS) {
		const u32 flags = ops->skb_tcp_flags;

		if (flags & TCP_FLAG_SYN) {
			if (flags & TCP_FLAG_ACK ? answers(ops)
					       : ops->total_retrans < SYNS_WITH_CAPABILITY)
				bpf_reserve_hdr_opt(ops, SEGUE_CAPABILITY_LENGTH, 0);
			return;
		}
	}
	connection = connection_of(ops, 0);
	if (!connection || !connection->negotiated)
		return;
	if (connection->type == SEGUE_TYPE_FIRST &&
	    (is_answered(ops, connection) || connection->written == FIRST_REPORTS))
		connection->type = 0;
	if (connection->type)
		bpf_reserve_hdr_opt(ops, SEGUE_REPORT_LENGTH, 0);
	else /* answered, or a notice has replaced the first report */
		write_options(ops, 0);
}

static __always_inline void write_capability(struct bpf_sock_ops *ops)
{
	struct segue_capability capability = {};
	u8 option[SEGUE_CAPABILITY_LENGTH];

	if (ops->skb_tcp_flags & TCP_FLAG_ACK) {
		/* no storage before the connection is established, and nobody
		 * here who would hear a report */
		capability.nonce = bpf_get_prandom_u32();
	} else {
		struct connection *connection = connection_of(ops, 0);

		if (!connection)
			return;
		capability.nonce = connection->nonce;
	}
	segue_encode_capability(&capability, option);
	bpf_store_hdr_opt(ops, option, sizeof(option), 0);
}

static __always_inline void write_report(struct bpf_sock_ops *ops)
{
	struct connection *connection = connection_of(ops, 0);
	struct segue_mobile_orders *order;
	u8 option[SEGUE_REPORT_LENGTH];
	struct segue_report report = {};
	u32 zero = 0;

	if (!connection || !connection->negotiated || !connection->type)
		return;
	report.link = connection->link;
	report.type = connection->ahead ? SEGUE_TYPE_FIRST : connection->type;
	report.seq = connection->report;
	if (report.type == SEGUE_TYPE_FIRST) {
		order = bpf_map_lookup_elem(&orders, &zero);
		if (!order)
			return;
		report.link = connection->ahead ? connection->before : order->first;
		report.seq = 0;
	}
	report.nonce = connection->peer_nonce;
	if (segue_encode_report(&report, option) != SEGUE_OPTION_OK)
		return;
	if (bpf_store_hdr_opt(ops, option, sizeof(option), 0))
		return;
	if (connection->ahead) {
		connection->ahead = 0;
		if (connection->marked)
			return; /* the notice is on the next */
	}
	if (connection->type == SEGUE_TYPE_FIRST && !connection->written)
		begin_to_ask(ops, connection);
	connection->written++;
	if (connection->type == SEGUE_TYPE_FIRST || !connection->marked || --connection->marked)
		return;
	if (!connection->again)
		count(SEGUE_MOBILE_COUNT_ACKED);
	connection->again = 0;
	connection->type = 0;
	connection->report++;
	write_options(ops, 0);
}

#endif
