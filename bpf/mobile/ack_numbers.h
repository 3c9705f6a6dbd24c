/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ack_numbers.h - the last ACK numbers of a connection, each once, the newest first
 * (crates/mobile, echo.rs).
 *
 * Source: RFC 6069: a message acts that quotes the first segment the peer knows no ACK for.
 */
#ifndef SEGUE_MOBILE_ACK_NUMBERS_H
#define SEGUE_MOBILE_ACK_NUMBERS_H

#include "intf.h"

static __always_inline void remember_ack(u32 acks[SEGUE_SENT_ACKS], u32 *known, u32 ack)
{
	if (!segue_seq_before(acks[0], ack)) {
		/* Much has left by a device that nobody watches: it must not look as if it were ahead. */
		if (acks[0] - ack > 1u << 30) {
			acks[0] = ack;
			*known = 1;
		}
		return;
	}
	for (u32 i = SEGUE_SENT_ACKS - 1; i > 0; i--)
		acks[i] = acks[i - 1];
	acks[0] = ack;
	if (*known < SEGUE_SENT_ACKS)
		++*known;
}

#endif
