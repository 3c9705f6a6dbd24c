/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * push.h - a socket sends at once as much of its queue as its window allows, without an ACK
 * or a timer.
 *
 * Setting TCP_NODELAY does that. The socket must be locked, as it is for a program that
 * iterates over the sockets.
 *
 * Callers leave out sockets with TCP_USER_TIMEOUT that wait for the timer of a closed window
 * (probe0). The kernel would count that timer's start against the option (mobile/unsent.h).
 *
 * Source: __tcp_sock_set_nodelay (net/ipv4/tcp.c).
 */
#ifndef SEGUE_PUSH_H
#define SEGUE_PUSH_H

#include "kernel.h"

/* The option is afterwards as it was before. */
static __always_inline void segue_push(void *tp)
{
	int on = 1, before;

	if (bpf_getsockopt(tp, SOL_TCP, TCP_NODELAY, &before, sizeof(before)) ||
	    bpf_setsockopt(tp, SOL_TCP, TCP_NODELAY, &on, sizeof(on)))
		return;
	if (!before)
		bpf_setsockopt(tp, SOL_TCP, TCP_NODELAY, &before, sizeof(before));
}

#endif
