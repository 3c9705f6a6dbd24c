/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * notice.h - the handoff notice on the wire, and the capability that announces it.
 *
 * Source: docs/reference/wire.md;
 * RFC 6994 (experimental TCP options, ExID); RFC 4727 (kind 253).
 *
 *      0        1        2        3        4        5        6        7
 *     +--------+--------+--------+--------+--------+--------+--------+--------+
 *     |kind 253|length  |      ExID       |vers|typ| flags  |      nonce      |  8: capability
 *     +--------+--------+--------+--------+--------+--------+--------+--------+
 *     |kind 253|length  |      ExID       |vers|typ|  seq   |      nonce      | 12: report
 *     +--------+--------+--------+--------+--------+--------+--------+--------+
 *     |exp 5, mant. 11  |  delay, 0.1 ms  |
 *     +--------+--------+--------+--------+
 *
 * All numbers in network byte order. The capability rides on SYN and SYN-ACK and
 * carries the nonce that the receiver of notices draws. A report that does not repeat
 * the nonce comes from somebody who has not seen the handshake. The report tells one
 * link, the one in use; the sender remembers the link reported before it.
 */
#ifndef SEGUE_NOTICE_H
#define SEGUE_NOTICE_H

#include "policy.h"

#define SEGUE_OPTION_KIND 253u
/* "SEgE"; free in IANA's registry of TCP experimental option identifiers as known at
 * the time of writing. It must be registered there before use on the Internet. */
#define SEGUE_OPTION_EXID 0x5e9eu
#define SEGUE_OPTION_VERSION 1u
#define SEGUE_REPORT_LENGTH 12u
#define SEGUE_CAPABILITY_LENGTH 8u

/* The low half of octet 4. */
enum {
	SEGUE_TYPE_CAPABILITY = 0,
	SEGUE_TYPE_FIRST = 1, /* the link at the start, on the first ACK */
	SEGUE_TYPE_COMPLETED = 2, /* a handoff to this link has completed */
	SEGUE_TYPE_EXPECTED = 3, /* a handoff to this link is foreseen */
};

/* Answers of a codec. */
enum {
	SEGUE_OPTION_OK = 0,
	SEGUE_OPTION_BAD_LENGTH = 1, /* of the buffer or in octet 1 */
	SEGUE_OPTION_BAD_KIND = 2,
	SEGUE_OPTION_BAD_EXID = 3,
	SEGUE_OPTION_BAD_VERSION = 4,
	SEGUE_OPTION_BAD_TYPE = 5,
	SEGUE_OPTION_ZERO_RATE = 6, /* on the wire, or to be encoded */
};

struct segue_report {
	struct segue_link link;
	u16 nonce;
	u8 seq;
	u8 type;
};

struct segue_capability {
	u16 nonce;
	u8 flags;
	u8 pad;
};

/* --------------------------------------------------------------------- numbers */

static inline void segue_put16(u8 *to, u32 value)
{
	to[0] = (u8)(value >> 8);
	to[1] = (u8)value;
}

static inline u32 segue_get16(const u8 *from)
{
	return (u32)from[0] << 8 | from[1];
}

#define SEGUE_MANTISSA_BITS 11u
#define SEGUE_MANTISSA_LIMIT (1u << SEGUE_MANTISSA_BITS)

/* The nearest mantissa << exponent, ties upwards. The mantissa is as large as possible,
 * and so the exponent as small. It is exact below 2048 kbit/s, and off by at most one
 * part in 2048 above. */
static inline u32 segue_encode_rate(u32 rate_kbps)
{
	u32 exponent = 0;
	u64 mantissa = rate_kbps;

	while (exponent < 31 && mantissa >= SEGUE_MANTISSA_LIMIT) {
		exponent++;
		mantissa = ((u64)rate_kbps + (1u << (exponent - 1))) >> exponent;
	}
	return exponent << SEGUE_MANTISSA_BITS | (u32)mantissa;
}

/* Saturates: the largest exponents exceed what a rate here can be. */
static inline u32 segue_decode_rate(u32 code)
{
	return segue_saturate((u64)(code & (SEGUE_MANTISSA_LIMIT - 1))
			      << (code >> SEGUE_MANTISSA_BITS));
}

/* Nearest 0.1 ms; 6553.5 ms stands for that and more. */
static inline u32 segue_encode_delay(u32 delay_us)
{
	return segue_min(0xffffu, (u32)(((u64)delay_us + 50) / 100));
}

static inline u32 segue_decode_delay(u32 code)
{
	return code * 100;
}

/* ----------------------------------------------------------------------- codec */

static inline void segue_put_head(u8 *to, u32 length, u32 type)
{
	to[0] = SEGUE_OPTION_KIND;
	to[1] = (u8)length;
	segue_put16(to + 2, SEGUE_OPTION_EXID);
	to[4] = (u8)(SEGUE_OPTION_VERSION << 4 | type);
}

/* The checks that both options share; the first that fails is the answer. */
static inline u32 segue_check_head(const u8 *from, u32 size, u32 length)
{
	if (size != length)
		return SEGUE_OPTION_BAD_LENGTH;
	if (from[0] != SEGUE_OPTION_KIND)
		return SEGUE_OPTION_BAD_KIND;
	if (from[1] != length)
		return SEGUE_OPTION_BAD_LENGTH;
	if (segue_get16(from + 2) != SEGUE_OPTION_EXID)
		return SEGUE_OPTION_BAD_EXID;
	if (from[4] >> 4 != SEGUE_OPTION_VERSION)
		return SEGUE_OPTION_BAD_VERSION;
	return SEGUE_OPTION_OK;
}

static inline u32 segue_report_type_known(u32 type)
{
	return type == SEGUE_TYPE_FIRST || type == SEGUE_TYPE_COMPLETED ||
	       type == SEGUE_TYPE_EXPECTED;
}

static inline u32 segue_encode_report(const struct segue_report *report, u8 *to)
{
	if (!segue_report_type_known(report->type))
		return SEGUE_OPTION_BAD_TYPE;
	if (!report->link.rate_kbps)
		return SEGUE_OPTION_ZERO_RATE;
	segue_put_head(to, SEGUE_REPORT_LENGTH, report->type);
	to[5] = report->seq;
	segue_put16(to + 6, report->nonce);
	segue_put16(to + 8, segue_encode_rate(report->link.rate_kbps));
	segue_put16(to + 10, segue_encode_delay(report->link.delay_us));
	return SEGUE_OPTION_OK;
}

static inline u32 segue_decode_report(const u8 *from, u32 size, struct segue_report *report)
{
	const u32 fault = segue_check_head(from, size, SEGUE_REPORT_LENGTH);

	if (fault)
		return fault;
	if (!segue_report_type_known(from[4] & 15))
		return SEGUE_OPTION_BAD_TYPE;
	if (!segue_decode_rate(segue_get16(from + 8)))
		return SEGUE_OPTION_ZERO_RATE;
	report->type = from[4] & 15;
	report->seq = from[5];
	report->nonce = (u16)segue_get16(from + 6);
	report->link.rate_kbps = segue_decode_rate(segue_get16(from + 8));
	report->link.delay_us = segue_decode_delay(segue_get16(from + 10));
	return SEGUE_OPTION_OK;
}

static inline void segue_encode_capability(const struct segue_capability *capability, u8 *to)
{
	segue_put_head(to, SEGUE_CAPABILITY_LENGTH, SEGUE_TYPE_CAPABILITY);
	to[5] = capability->flags;
	segue_put16(to + 6, capability->nonce);
}

static inline u32 segue_decode_capability(const u8 *from, u32 size,
					  struct segue_capability *capability)
{
	const u32 fault = segue_check_head(from, size, SEGUE_CAPABILITY_LENGTH);

	if (fault)
		return fault;
	if ((from[4] & 15) != SEGUE_TYPE_CAPABILITY)
		return SEGUE_OPTION_BAD_TYPE;
	capability->flags = from[5];
	capability->nonce = (u16)segue_get16(from + 6);
	capability->pad = 0;
	return SEGUE_OPTION_OK;
}

/* ------------------------------------------------------------------ acceptance */

/* Answers of acceptance. */
enum {
	SEGUE_ACCEPTED = 0,
	SEGUE_WRONG_NONCE = 1, /* forged, or of another connection */
	SEGUE_REPEATED = 2, /* a copy, or overtaken by a newer report */
};

/* The reports that one connection has accepted. */
struct segue_replay_window {
	u16 nonce; /* as exchanged in the handshake */
	u8 last_seq;
	u8 heard; /* last_seq holds a report's number */
};

/* A report counts once: its number is newer than the last one's, modulo 256. */
static inline u32 segue_accept_report(struct segue_replay_window *window, const struct segue_report *report)
{
	if (report->nonce != window->nonce)
		return SEGUE_WRONG_NONCE;
	if (window->heard && (s8)(u8)(report->seq - window->last_seq) <= 0)
		return SEGUE_REPEATED;
	window->heard = 1;
	window->last_seq = report->seq;
	return SEGUE_ACCEPTED;
}

#endif
