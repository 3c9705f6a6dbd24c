/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * notice_rx.h - the receiver of notices: reports in the headers of arriving segments.
 *
 * The kernel shows a header before it has checked the ACK number. So a report waits until
 * an ACK is answered (ack_order.h): by then the kernel has accepted its segment. The kernel
 * takes a time stamp for each segment, which shows that it is the same one. An attacker who
 * guesses a sequence number in the window, but neither nonce nor ACK number, gets no further.
 *
 * Source: docs/reference/wire.md.
 */
#ifndef SEGUE_NOTICE_RX_H
#define SEGUE_NOTICE_RX_H

#include "grant.h"
#include "addr.h"
#include "flows.h"
#include "state.h"

#define SEGUE_OPTION_ROOM 40u /* all that a TCP header has for options */
#define SEGUE_NO_OPTION 100u /* beside the answers of notice.h */

static inline u32 segue_get32(const u8 *from)
{
	return segue_get16(from) << 16 | segue_get16(from + 2);
}

/* Our option in a header, kind to end; its length, or a negative errno. */
static inline int segue_find_option(struct bpf_sock_ops *ctx, u8 *option, u64 flags)
{
	__builtin_memset(option, 0, SEGUE_OPTION_ROOM);
	option[0] = SEGUE_OPTION_KIND;
	option[1] = 4; /* what to search for: kind, length, ExID (RFC 6994) */
	segue_put16(option + 2, SEGUE_OPTION_EXID);
	return (int)bpf_load_hdr_opt(ctx, option, SEGUE_OPTION_ROOM, flags);
}

static inline u32 segue_load_report(struct bpf_sock_ops *ctx, struct segue_report *report)
{
	u8 option[SEGUE_OPTION_ROOM];
	const int length = segue_find_option(ctx, option, 0);

	if (length <= 0)
		return SEGUE_NO_OPTION;
	return segue_decode_report(option, (u32)length, report);
}

static inline u32 segue_counter_of_fault(u32 fault)
{
	switch (fault) {
	case SEGUE_OPTION_BAD_VERSION:
		return SEGUE_COUNT_BAD_VERSION;
	case SEGUE_OPTION_BAD_TYPE:
		return SEGUE_COUNT_BAD_TYPE;
	case SEGUE_OPTION_ZERO_RATE:
		return SEGUE_COUNT_ZERO_RATE;
	default: /* kind and ExID were what we searched for */
		return SEGUE_COUNT_BAD_LENGTH;
	}
}

static inline void segue_host_of(struct bpf_sock_ops *ctx, struct segue_host *host)
{
	host->netns = bpf_get_netns_cookie(ctx);
	segue_remote_address_at(ctx, host->address);
}

/* A report on the segment that completes the handshake. */
static inline void segue_first_report(struct segue_connection *conn, u32 fault,
				    const struct segue_report *report)
{
	if (fault) {
		segue_refuse(conn, segue_counter_of_fault(fault));
		return;
	}
	if (segue_accept_report(&conn->negotiated.replay, report) == SEGUE_WRONG_NONCE) {
		segue_refuse(conn, SEGUE_COUNT_WRONG_NONCE);
		return;
	}
	conn->negotiated.link = report->link;
	segue_count(SEGUE_COUNT_FIRST);
}

static inline void segue_on_parse(struct bpf_sock_ops *ctx)
{
	const u8 *header = ctx->skb_data;
	struct bpf_sock *sk = ctx->sk;
	struct segue_connection *conn;
	struct segue_report report = {};
	struct tcp_sock *tp;
	u32 ack, fault;

	if (!sk || (void *)(header + 20) > ctx->skb_data_end)
		return;
	ack = segue_get32(header + 8);
	fault = segue_load_report(ctx, &report);
	if (fault == SEGUE_NO_OPTION)
		return;
	conn = bpf_sk_storage_get(&connections, sk, 0, 0);
	if (!conn) {
		segue_count(SEGUE_COUNT_NOT_NEGOTIATED);
		return;
	}
	if (fault) {
		segue_refuse(conn, segue_counter_of_fault(fault));
		return;
	}
	if (report.nonce != conn->negotiated.replay.nonce) {
		segue_refuse(conn, SEGUE_COUNT_WRONG_NONCE);
		return;
	}
	/* the peer repeats it until our answer arrives */
	if (report.type == SEGUE_TYPE_FIRST && conn->negotiated.link.rate_kbps &&
	    !conn->state.overtaken)
		return;
	if (segue_seq_before(ack, ctx->snd_una) || segue_seq_before(ctx->snd_nxt, ack)) {
		segue_refuse(conn, SEGUE_COUNT_BAD_ACK);
		return;
	}
	tp = bpf_skc_to_tcp_sock(sk);
	if (!tp)
		return;
	if (conn->pending.report.type)
		segue_refuse(conn, SEGUE_COUNT_NOT_CONSUMED);
	conn->pending.report = report;
	conn->pending.stamp = segue_segment_stamp(tp);
}

/* Silence proves nothing about a flow that waited for no ACK. */
static inline u32 segue_was_disconnected(const struct segue_connection *conn,
					 const struct tcp_sock *tp, u32 waited,
					 const struct segue_link *link)
{
	const u32 silence_us = (u32)tp->tcp_mstamp - conn->quiet_us;

	return waited && segue_was_silent(silence_us, tp->srtt_us >> 3, link);
}

/* The content of a report. */
enum segue_told {
	SEGUE_TOLD_NOTHING = 0, /* for the policy */
	SEGUE_TOLD_HANDOFF, /* from `old_link` to negotiated.link */
	SEGUE_TOLD_EXPECTED, /* a handoff from negotiated.link to the link of the report */
};

/* Over a slower old link a first report may come after the notice, and its number is no more news then. */
static inline enum segue_told segue_tells_of_handoff(struct segue_connection *conn, const struct segue_report *report,
					 struct segue_link *old_link)
{
	struct segue_negotiated *negotiated = &conn->negotiated;

	if (report->type == SEGUE_TYPE_FIRST && conn->state.overtaken) {
		conn->state.overtaken = 0;
		*old_link = report->link;
		segue_count(SEGUE_COUNT_FIRST);
		return SEGUE_TOLD_HANDOFF;
	}
	/* or the first report, which may come yet, would be no more news */
	if (report->type == SEGUE_TYPE_EXPECTED && !negotiated->link.rate_kbps) {
		segue_refuse(conn, SEGUE_COUNT_NO_OLD_LINK);
		return SEGUE_TOLD_NOTHING;
	}
	if (segue_accept_report(&negotiated->replay, report) != SEGUE_ACCEPTED) {
		segue_refuse(conn, SEGUE_COUNT_REPEATED);
		return SEGUE_TOLD_NOTHING;
	}
	if (report->type == SEGUE_TYPE_EXPECTED) {
		segue_count(SEGUE_COUNT_FORESEEN);
		return SEGUE_TOLD_EXPECTED;
	}
	*old_link = negotiated->link;
	negotiated->link = report->link;
	conn->state.overtaken = 0;
	if (report->type == SEGUE_TYPE_FIRST) {
		segue_count(SEGUE_COUNT_FIRST);
		return SEGUE_TOLD_NOTHING;
	}
	if (!old_link->rate_kbps) {
		conn->state.overtaken = 1;
		segue_refuse(conn, SEGUE_COUNT_NO_OLD_LINK);
		return SEGUE_TOLD_NOTHING;
	}
	return SEGUE_TOLD_HANDOFF;
}

/* When an ACK is answered. waited: the flow had waited for it. `notice` is for the policy, unless
 * nothing is told. */
static inline enum segue_told segue_consume(struct segue_connection *conn, const struct tcp_sock *tp,
				u32 waited, struct segue_notice *notice)
{
	const struct segue_report pending = conn->pending.report;
	const u32 now_ms = segue_now_ms(), since_ms = now_ms - conn->accepted_ms, notified = conn->accepted;
	struct segue_link old_link;
	enum segue_told told;

	conn->pending.report.type = 0;
	if (conn->pending.stamp != segue_segment_stamp(tp)) {
		segue_refuse(conn, SEGUE_COUNT_NOT_CONSUMED);
		return SEGUE_TOLD_NOTHING;
	}
	told = segue_tells_of_handoff(conn, &pending, &old_link);
	if (told == SEGUE_TOLD_EXPECTED) {
		notice->old_link = conn->negotiated.link;
		notice->new_link = pending.link;
		notice->flows = segue_flows_of(&conn->host);
		notice->disconnected = 0;
	}
	if (told != SEGUE_TOLD_HANDOFF)
		return told;
	/* Links do not change more often than once a second. The link is remembered anyway. */
	if (notified && since_ms < SEGUE_NOTICES_APART_MS) {
		segue_refuse(conn, SEGUE_COUNT_TOO_SOON);
		return SEGUE_TOLD_NOTHING;
	}
	conn->accepted_ms = now_ms;
	segue_count_one(&conn->accepted);
	segue_count(SEGUE_COUNT_ACCEPTED);
	notice->old_link = old_link;
	notice->new_link = conn->negotiated.link;
	notice->flows = segue_flows_of(&conn->host);
	notice->disconnected = segue_was_disconnected(conn, tp, waited, &conn->negotiated.link);
	conn->state.notified_lately = segue_notified_lately(notice->disconnected, notified, since_ms) & 1;
	return SEGUE_TOLD_HANDOFF;
}

#endif
