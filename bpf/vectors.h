/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * vectors.h - one call of policy/ with all that goes in and comes out; what
 * vectors.bpf.c is given, and crates/live/src/vectors.rs repeats.
 */
#ifndef SEGUE_VECTORS_H
#define SEGUE_VECTORS_H

#include "etcp.h"
#include "notice.h"
#include "tcp_ho.h"

enum segue_vector_call {
	SEGUE_CALL_NOTICE = 0,
	SEGUE_CALL_NEW_ACK = 1, /* first: whether a DSACK came with it */
	SEGUE_CALL_DSACK = 2, /* first, second: the block */
	SEGUE_CALL_DUP_ACK = 3,
	SEGUE_CALL_FAST_RETRANSMIT = 4, /* first: the head */
	SEGUE_CALL_TIMEOUT = 5,
	SEGUE_CALL_RTT_SAMPLE = 6, /* first: the segment */
	SEGUE_CALL_HO_NOTICE = 7,
	SEGUE_CALL_HO_RTT_SAMPLE = 8, /* first: the sample, us */
	SEGUE_CALL_HO_FAST_RETRANSMIT = 9,
	SEGUE_CALL_HO_TIMEOUT = 10,
	SEGUE_CALL_REPORT = 11, /* octets; first: how many */
};

struct segue_vector {
	u32 call;
	u32 first;
	u32 second;
	u32 answer; /* of a codec; of acceptance */
	struct segue_etcp_settings set;
	struct segue_tcp_ho_settings ho_set;
	struct segue_sender tcp;
	struct segue_notice notice;
	struct segue_etcp flow;
	struct segue_tcp_ho ho;
	struct segue_action act;
	struct segue_report report;
	struct segue_ear ear;
	u8 octets[SEGUE_REPORT_LENGTH];
};

#endif
