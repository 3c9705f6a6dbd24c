/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * local_handoff.h - handoffs of this host when it is the sender. The agent triggers the
 * policy directly; no notice is received.
 *
 * The agent writes down the handoff and runs `local_handoff` over the sockets. A flow of
 * cubic or BBR gets the congestion control around it, whose init, under the socket's lock,
 * acts as on a notice. The flow keeps it, since the policy also answers later losses, until
 * `local_let_go` gives the flow back. A flow of any other congestion control is left alone:
 * the meaning of its window is not known.
 *
 * The kernel gives no cut back to a socket that has changed its congestion control
 * (prior_ssthresh). It may still find its timeouts spurious, and then counts everything as
 * under way again (enact.h). That undo calls no function of a congestion control; so the
 * programs answer the way back to TCP_CA_Open.
 *
 * A flow whose timer has expired, or whose data are queued because there was no link
 * (mobile/unsent.h), waits for an ACK or a timer. Here no notice's ACK comes: the flow sends
 * at once as much as the window allows.
 *
 * Source: docs/internals/agent.md.
 */
#ifndef SEGUE_LOCAL_HANDOFF_H
#define SEGUE_LOCAL_HANDOFF_H

#include "push.h"
#include "react.h"
#include "scope.h"
#include "sockets.h"

/* Names of the agents' congestion controls begin so: one that was killed leaves flows. */
#define SEGUE_LOCAL_CUBIC "sgup_"
#define SEGUE_LOCAL_BBR "sgub_"

/* That around BBR; empty where the kernel does not lend it. Around cubic: cc_name. */
const volatile char local_bbr_name[SEGUE_CC_NAME_LEN] = "";

/* A flow's congestion control, or the one that ours wraps. */
enum segue_local_base {
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

static inline enum segue_local_base segue_base_of(const char *name)
{
	char cubic[SEGUE_CC_NAME_LEN] = "cubic", bbr[SEGUE_CC_NAME_LEN] = "bbr";

	if (segue_begins_with(name, cubic, sizeof(cubic)) ||
	    segue_begins_with(name, SEGUE_LOCAL_CUBIC, sizeof(SEGUE_LOCAL_CUBIC) - 1))
		return SEGUE_BASE_CUBIC;
	if (local_bbr_name[0] &&
	    (segue_begins_with(name, bbr, sizeof(bbr)) ||
	     segue_begins_with(name, SEGUE_LOCAL_BBR, sizeof(SEGUE_LOCAL_BBR) - 1)))
		return SEGUE_BASE_BBR;
	return SEGUE_BASE_OTHER;
}

static inline void segue_give_base(struct tcp_sock *tp, enum segue_local_base base)
{
	char cubic[SEGUE_CC_NAME_LEN] = "cubic", bbr[SEGUE_CC_NAME_LEN] = "bbr";

	bpf_setsockopt(tp, SOL_TCP, TCP_CONGESTION, base == SEGUE_BASE_BBR ? bbr : cubic,
		       SEGUE_CC_NAME_LEN);
}

static inline u32 segue_under_way(const struct tcp_sock *tp)
{
	return tp->packets_out || tp->write_seq != tp->snd_nxt;
}

/* A flow that sends, or has sent more than an initial window: its window is of the old link. */
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

/* The values that segue_on_state records at the first expiry; during an outage neither changes
 * afterwards. */
static inline void segue_join(const struct tcp_sock *tp, struct segue_connection *conn)
{
	conn->last_una = tp->snd_una;
	conn->quiet_us = (u32)tp->tcp_mstamp;
	if (tp->inet_conn.icsk_retransmits) {
		conn->reduction.ssthresh_saved = tp->snd_ssthresh;
		conn->reduction.srtt_before_us = tp->srtt_us >> 3;
	}
}

/* 1: the policy has decided. */
static inline u32 segue_govern(struct tcp_sock *tp, const struct segue_local_order *order)
{
	char name[SEGUE_CC_NAME_LEN] = {};
	struct segue_connection *conn;
	enum segue_local_base base;
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
	if (conn->local_round == order->round)
		return !conn->state.local_pending;
	if (!conn->local_round)
		segue_join(tp, conn);
	conn->local_round = order->round;
	conn->state.local_pending = 1;
	/* to set what is set would call nobody */
	segue_give_base(tp, base);
	ours = base == SEGUE_BASE_BBR ? SEGUE_LOADED(void, local_bbr_name) :
					SEGUE_LOADED(void, cc_name);
	bpf_setsockopt(tp, SOL_TCP, TCP_CONGESTION, (void *)ours, SEGUE_CC_NAME_LEN);
	return !conn->state.local_pending;
}

/* Writes one octet for each flow that sends (enum segue_local_verdict). */
SEC("iter/tcp")
int local_handoff(struct bpf_iter__tcp *ctx)
{
	struct tcp_sock *tp = segue_next(ctx);
	const struct segue_local_order *order;
	const struct segue_connection *conn;
	u32 zero = 0, uploads, idle, sends;
	u8 verdict = 0;

	order = bpf_map_lookup_elem(&local_orders, &zero);
	if (!tp || !order || !segue_in_scope(&tp->inet_conn.icsk_inet.sk.__sk_common))
		return 0;
	uploads = segue_uploads(tp);
	if (!uploads && !segue_has_last_octets(tp))
		return 0;
	if (uploads)
		verdict = segue_govern(tp, order) ? SEGUE_LOCAL_GOVERNED : SEGUE_LOCAL_LEFT;
	idle = !tp->packets_out;
	if (idle) {
		sends = !tp->inet_conn.icsk_user_timeout;
	} else {
		conn = bpf_sk_storage_get(&connections, tp, 0, 0);
		/* packets that ask what was lost (grant.h) wait for no ACK */
		sends = segue_ca_state(tp) == TCP_CA_Loss || (conn && conn->state.loss_probe);
	}
	if (tp->write_seq != tp->snd_nxt && sends)
		segue_push(tp);
	if (idle && tp->packets_out)
		verdict |= SEGUE_LOCAL_PUSHED;
	bpf_seq_write(ctx->meta->seq, &verdict, sizeof(verdict));
	return 0;
}

/* Gives flows back their congestion control: when the agent ends, and when it begins, in case
 * an earlier one was killed. No other agent governs flows of its cgroup. */
SEC("iter/tcp")
int local_let_go(struct bpf_iter__tcp *ctx)
{
	struct tcp_sock *tp = segue_next(ctx);
	char name[SEGUE_CC_NAME_LEN] = {};

	if (!tp || bpf_getsockopt(tp, SOL_TCP, TCP_CONGESTION, name, sizeof(name)))
		return 0;
	if (segue_begins_with(name, SEGUE_LOCAL_CUBIC, sizeof(SEGUE_LOCAL_CUBIC) - 1))
		segue_give_base(tp, SEGUE_BASE_CUBIC);
	else if (segue_begins_with(name, SEGUE_LOCAL_BBR, sizeof(SEGUE_LOCAL_BBR) - 1))
		segue_give_base(tp, SEGUE_BASE_BBR);
	segue_forget(tp);
	return 0;
}

#endif
