/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * push.h - a socket sends now what is queued and its window lets out, although neither an
 * ACK has come nor a timer expired.
 *
 * To set TCP_NODELAY does it (__tcp_sock_set_nodelay). The socket must be locked, as it is
 * for a program that walks over the sockets.
 *
 * What waits for the timer of a closed window (probe0) of a socket with TCP_USER_TIMEOUT is
 * left to that timer: its beginning would be held against the option (carrier.h).
 */
#ifndef SEGUE_PUSH_H
#define SEGUE_PUSH_H

#include "kernel.h"

/* include/uapi/linux/tcp.h */
#define TCP_NODELAY 1

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
