/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * vectors.bpf.c - policy/ inside a loaded program, a call at a time, so that a test
 * can hold it against the same text in user space.
 */
#include "kernel.h"
#include "vectors.h"

char _license[] SEC("license") = "GPL";

/* The context of a program may not be handed on by the address of its parts. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct segue_vector);
} the_call SEC(".maps");

SEC("syscall")
int run(void *ctx)
{
	const u32 only = 0;
	struct segue_vector *v = bpf_map_lookup_elem(&the_call, &only);

	if (!v)
		return -1;
	switch (v->call) {
	case SEGUE_CALL_NOTICE:
		segue_etcp_on_notice(&v->set, &v->flow, &v->tcp, &v->notice, &v->act);
		break;
	case SEGUE_CALL_NEW_ACK:
		segue_etcp_on_new_ack(&v->set, &v->flow, &v->tcp, v->first, &v->act);
		break;
	case SEGUE_CALL_DSACK:
		segue_do_nothing(&v->act);
		segue_etcp_on_dsack(&v->flow, v->first, v->second);
		break;
	case SEGUE_CALL_DUP_ACK:
		segue_etcp_on_dup_ack(&v->set, &v->flow, &v->tcp, &v->act);
		break;
	case SEGUE_CALL_FAST_RETRANSMIT:
		segue_etcp_on_fast_retransmit(&v->set, &v->flow, &v->tcp, v->first, &v->act);
		break;
	case SEGUE_CALL_TIMEOUT:
		segue_etcp_on_timeout(&v->set, &v->flow, &v->tcp, &v->act);
		break;
	case SEGUE_CALL_RTT_SAMPLE:
		segue_etcp_on_rtt_sample(&v->set, &v->flow, &v->tcp, v->first, &v->act);
		break;
	case SEGUE_CALL_HO_NOTICE:
		segue_tcp_ho_on_notice(&v->ho_set, &v->ho, &v->tcp, &v->notice, &v->act);
		break;
	case SEGUE_CALL_HO_RTT_SAMPLE:
		segue_tcp_ho_on_rtt_sample(&v->ho_set, &v->ho, v->first, &v->act);
		break;
	case SEGUE_CALL_HO_FAST_RETRANSMIT:
		segue_tcp_ho_on_fast_retransmit(&v->ho, &v->act);
		break;
	case SEGUE_CALL_HO_TIMEOUT:
		segue_tcp_ho_on_timeout(&v->ho, &v->act);
		break;
	case SEGUE_CALL_REPORT:
		v->answer = segue_decode_report(v->octets, v->first, &v->report);
		if (v->answer == SEGUE_OPTION_OK)
			v->second = segue_accept_report(&v->ear, &v->report);
		break;
	default:
		return -1;
	}
	return 0;
}
