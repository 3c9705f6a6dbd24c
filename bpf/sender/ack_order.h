/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ack_order.h - in which of two calls an ACK is answered.
 *
 * For each ACK tcp_ack() calls in_ack_event. Where something is under way it also calls
 * tcp_clean_rtx_queue(), which ends with pkts_acked. Their order depends on the kernel:
 *
 *   Linux 6.15            pkts_acked, then in_ack_event. Stable kernels may have taken the
 *                         change ("tcp: reorganize tcp_in_ack_event() and
 *                         tcp_count_delivered()"): 6.12.117 has it
 *   before that change    in_ack_event, then pkts_acked. In the first one snd_una has moved,
 *                         but packets_out, lost_out, retrans_out, delivered and SRTT have not
 *
 * The answer is given in the later call, so that it sees the same state on every kernel. The
 * first ACK with something under way tells the order.
 */
#ifndef SEGUE_ACK_ORDER_H
#define SEGUE_ACK_ORDER_H

#include "policy.h"

enum segue_ack_call {
	SEGUE_IN_ACK_EVENT,
	SEGUE_PKTS_ACKED,
};

/* The first call of the ACK at hand, if it has had one. */
enum segue_ack_half {
	SEGUE_ACK_WHOLE, /* no call, or both */
	SEGUE_ACK_CLEANED, /* pkts_acked came first */
	SEGUE_ACK_WAITS, /* in_ack_event came first, pkts_acked will follow */
};

/*
 * 1: the ACK is answered in this call. cleaned_first: of the machine, once it is known that
 * pkts_acked comes first; then the caller need not ask about pkts_acked. half: of the
 * connection.
 */
static inline u32 segue_answer_now(u32 *cleaned_first, u8 *half, u32 call, u32 packets_out)
{
	const u32 before = *half;

	if (*cleaned_first)
		return call == SEGUE_IN_ACK_EVENT;
	if (call == SEGUE_PKTS_ACKED) {
		*half = before == SEGUE_ACK_WAITS ? SEGUE_ACK_WHOLE : SEGUE_ACK_CLEANED;
		return before == SEGUE_ACK_WAITS;
	}
	if (before == SEGUE_ACK_CLEANED) {
		*cleaned_first = 1;
		*half = SEGUE_ACK_WHOLE;
		return 1;
	}
	/* nothing was under way: pkts_acked is not called on any kernel */
	if (!packets_out)
		return 1;
	*half = SEGUE_ACK_WAITS;
	return 0;
}

#endif
