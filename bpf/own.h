/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * own.h - a handoff of this host, which sends itself: no notice need come, for the agent
 * knows. The same policy acts on the host's own flows at once.
 *
 * The agent writes down the handoff and runs `own_handoff` over the sockets. A flow of
 * cubic or BBR goes over to the congestion control around it, whose init, under the
 * socket's lock, is told as by a notice; it stays there, for what the policy asks for at
 * later losses, until `own_let_go` gives it back. Any other congestion control is left
 * alone: what its window means we do not know.
 *
 * The kernel gives no cut back to a socket that has changed its congestion control
 * (prior_ssthresh), but may still find its timeouts spurious and then counts everything as
 * under way again (enact.h). As that undo asks nobody for a window, the way back to
 * TCP_CA_Open is answered.
 *
 * A flow whose timer has expired, or that had no link for what it has queued (carrier.h),
 * waits for an ACK or for a timer, and here no notice's ACK comes: it sends at once what the
 * window lets out.
 */
#ifndef SEGUE_OWN_H
#define SEGUE_OWN_H

#include "push.h"
#include "react.h"
#include "scope.h"
#include "sockets.h"

/* Names of the agents' congestion controls begin so: one that was killed leaves flows. */
#define SEGUE_OWN_CUBIC "sgup_"
#define SEGUE_OWN_BBR "sgub_"

/* That around BBR; empty where the kernel does not lend it. Around cubic: cc_name. */
const volatile char own_bbr_name[SEGUE_CC_NAME_LEN] = "";

/* What a flow has, or what ours stands around. */
enum segue_own_base {
	SEGUE_BASE_OTHER,
	SEGUE_BASE_CUBIC,
	SEGUE_BASE_BBR,
};

static inline u32 segue_begins_with(const char *name, const char *start, u32 length)
{
	for (u32 i = 0; i < length; i++) {
		if (name[i] != start[i])
			return 0;
	}
	return 1;
}

static inline enum segue_own_base segue_base_of(const char *name)
{
	char cubic[SEGUE_CC_NAME_LEN] = "cubic", bbr[SEGUE_CC_NAME_LEN] = "bbr";

	if (segue_begins_with(name, cubic, sizeof(cubic)) ||
	    segue_begins_with(name, SEGUE_OWN_CUBIC, sizeof(SEGUE_OWN_CUBIC) - 1))
		return SEGUE_BASE_CUBIC;
	if (own_bbr_name[0] &&
	    (segue_begins_with(name, bbr, sizeof(bbr)) ||
	     segue_begins_with(name, SEGUE_OWN_BBR, sizeof(SEGUE_OWN_BBR) - 1)))
		return SEGUE_BASE_BBR;
	return SEGUE_BASE_OTHER;
}

static inline void segue_give_base(struct tcp_sock *tp, enum segue_own_base base)
{
	char cubic[SEGUE_CC_NAME_LEN] = "cubic", bbr[SEGUE_CC_NAME_LEN] = "bbr";

	bpf_setsockopt(tp, SOL_TCP, TCP_CONGESTION, base == SEGUE_BASE_BBR ? bbr : cubic,
		       SEGUE_CC_NAME_LEN);
}

static inline u32 segue_under_way(const struct tcp_sock *tp)
{
	return tp->packets_out || tp->write_seq != tp->snd_nxt;
}

/* Who sends, or has sent more than anybody may at once: its window is of the old link. */
static inline u32 segue_uploads(const struct tcp_sock *tp)
{
	const u8 state = tp->inet_conn.icsk_inet.sk.__sk_common.skc_state;

	if (state != TCP_ESTABLISHED && state != TCP_CLOSE_WAIT && state != TCP_FIN_WAIT1)
		return 0;
	return segue_under_way(tp) || tp->snd_cwnd > SEGUE_INITIAL_WINDOW;
}

/* Closed by its program: nothing more comes, but what has found no link must leave. */
static inline u32 segue_has_last_octets(const struct tcp_sock *tp)
{
	const u8 state = tp->inet_conn.icsk_inet.sk.__sk_common.skc_state;

	return (state == TCP_LAST_ACK || state == TCP_CLOSING) && segue_under_way(tp);
}

static inline u32 segue_moves(const struct sock_common *common)
{
	struct segue_prefix remote = { .bits = 128 };

	if (common->skc_family == AF_INET6) {
		BPF_CORE_READ_INTO(&remote.address, common, skc_v6_daddr);
	} else {
		remote.address[10] = remote.address[11] = 0xff;
		BPF_CORE_READ_INTO((u32 *)(remote.address + 12), common, skc_daddr);
	}
	return segue_in_scope(&remote);
}

/* What on_state would have written down, had it been there: during an outage neither
 * ssthresh nor SRTT changes after the first expiry. */
static inline void segue_join(const struct tcp_sock *tp, struct segue_connection *conn)
{
	conn->last_una = tp->snd_una;
	conn->quiet_us = (u32)tp->tcp_mstamp;
	if (tp->inet_conn.icsk_retransmits) {
		conn->ssthresh_saved = tp->snd_ssthresh;
		conn->srtt_before_us = tp->srtt_us >> 3;
	}
}

/* 1: the policy has been told. */
static inline u32 segue_govern(struct tcp_sock *tp, const struct segue_own_order *order)
{
	char name[SEGUE_CC_NAME_LEN] = {};
	struct segue_connection *conn;
	enum segue_own_base base;
	const void *ours;

	if (bpf_getsockopt(tp, SOL_TCP, TCP_CONGESTION, name, sizeof(name)))
		return 0;
	base = segue_base_of(name);
	if (base == SEGUE_BASE_OTHER)
		return 0;
	conn = bpf_sk_storage_get(&connections, tp, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!conn)
		return 0;
	/* a socket may be shown again */
	if (conn->own_round == order->round)
		return !conn->own_pending;
	if (!conn->own_round)
		segue_join(tp, conn);
	conn->own_round = order->round;
	conn->own_pending = 1;
	/* to set what is set would call nobody */
	segue_give_base(tp, base);
	ours = base == SEGUE_BASE_BBR ? SEGUE_LOADED(void, own_bbr_name) :
					SEGUE_LOADED(void, cc_name);
	bpf_setsockopt(tp, SOL_TCP, TCP_CONGESTION, (void *)ours, SEGUE_CC_NAME_LEN);
	return !conn->own_pending;
}

/* Of each flow that sends one octet is written: whether it is governed or left, and whether
 * what it had queued, with nothing under way, has been sent. */
SEC("iter/tcp")
int own_handoff(struct bpf_iter__tcp *ctx)
{
	struct tcp_sock *tp = segue_next(ctx);
	const struct segue_own_order *order;
	u32 zero = 0, uploads, idle;
	u8 verdict = 0;

	order = bpf_map_lookup_elem(&own_orders, &zero);
	if (!tp || !order || !segue_moves(&tp->inet_conn.icsk_inet.sk.__sk_common))
		return 0;
	uploads = segue_uploads(tp);
	if (!uploads && !segue_has_last_octets(tp))
		return 0;
	if (uploads)
		verdict = segue_govern(tp, order) ? SEGUE_OWN_GOVERNED : SEGUE_OWN_LEFT;
	idle = !tp->packets_out;
	if (tp->write_seq != tp->snd_nxt &&
	    (idle ? !tp->inet_conn.icsk_user_timeout : segue_ca_state(tp) == TCP_CA_Loss))
		segue_push(tp);
	if (idle && tp->packets_out)
		verdict |= SEGUE_OWN_PUSHED;
	bpf_seq_write(ctx->meta->seq, &verdict, sizeof(verdict));
	return 0;
}

/* Flows have again what they had: when the agent ends, and when it begins, after one that was
 * killed. Nobody else governs flows of its cgroup. */
SEC("iter/tcp")
int own_let_go(struct bpf_iter__tcp *ctx)
{
	struct tcp_sock *tp = segue_next(ctx);
	char name[SEGUE_CC_NAME_LEN] = {};

	if (!tp || bpf_getsockopt(tp, SOL_TCP, TCP_CONGESTION, name, sizeof(name)))
		return 0;
	if (segue_begins_with(name, SEGUE_OWN_CUBIC, sizeof(SEGUE_OWN_CUBIC) - 1))
		segue_give_base(tp, SEGUE_BASE_CUBIC);
	else if (segue_begins_with(name, SEGUE_OWN_BBR, sizeof(SEGUE_OWN_BBR) - 1))
		segue_give_base(tp, SEGUE_BASE_BBR);
	segue_forget(tp);
	return 0;
}

#endif
