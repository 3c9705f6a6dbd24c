/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sender.bpf.c - the sender on an unmodified kernel: a congestion control around
 * cubic or BBR, and the programs that negotiate, receive notices and count flows.
 *
 *     sockops   negotiate.h      SYN, SYN-ACK, established
 *               notice_rx.h      options of arriving segments
 *     cc        cubic.h, bbr.h   the calls of a congestion control
 *     iter      sockets.h        sockets that exist already
 *               local_handoff.h  handoffs of this host when it is the sender
 *
 * The way of a notice, which is also the order of the includes (scripts/includes):
 *
 *     negotiate.h   the capability, on SYN and SYN-ACK
 *     events.h      an ACK is answered
 *     notice_rx.h   its report is checked and accepted
 *     nonce.h       by the nonce of the handshake
 *     flows.h       N, the flows that share the link
 *     react.h       the policy decides
 *     trial.h       a window that only the link can prove is on trial
 *     enact.h       Linux does it
 *     claim.h       before packets leave, too
 *     group.h       and by how far the host's other flows are
 *     rto_max.h     the outage is no round trip: the RTO is bounded
 */
#include "local_handoff.h"
#include "sockets.h"
#include "cubic.h"
#include "bbr.h"
#include "negotiate.h"

char _license[] SEC("license") = "GPL";

SEC("sockops")
int sender_sockops(struct bpf_sock_ops *ctx)
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
