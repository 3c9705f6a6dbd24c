/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sender.bpf.c - the sender on an unmodified kernel: a congestion control around
 * cubic or BBR, and the programs that negotiate, hear notices and count flows.
 *
 *     sockops   negotiate.h  SYN, SYN-ACK, established
 *               hear.h       options of arriving segments
 *     cc        cubic.h, bbr.h > react.h > policy/ > enact.h
 *     iter      sockets.h    sockets that are there already
 *               own.h        handoffs of this host itself
 */
#include "bbr.h"
#include "cubic.h"
#include "negotiate.h"
#include "own.h"
#include "sockets.h"

char _license[] SEC("license") = "GPL";

SEC("sockops")
int hear(struct bpf_sock_ops *ctx)
{
	switch (ctx->op) {
	case BPF_SOCK_OPS_TCP_LISTEN_CB:
		segue_on_listen(ctx);
		break;
	case BPF_SOCK_OPS_TCP_CONNECT_CB:
		segue_set_flags(ctx, 0, BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG);
		break;
	case BPF_SOCK_OPS_HDR_OPT_LEN_CB:
		if (segue_offers(ctx))
			bpf_reserve_hdr_opt(ctx, SEGUE_CAPABILITY_LENGTH, 0);
		break;
	case BPF_SOCK_OPS_WRITE_HDR_OPT_CB:
		segue_on_write(ctx);
		break;
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		segue_on_established(ctx, 1);
		break;
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
		segue_on_established(ctx, 0);
		break;
	case BPF_SOCK_OPS_STATE_CB:
		segue_on_change(ctx);
		break;
	case BPF_SOCK_OPS_PARSE_HDR_OPT_CB:
		segue_on_parse(ctx);
		break;
	}
	return 1;
}
