/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * icmp.h - the sockets that an ICMP message of this host to itself (RFC 6069) may help.
 *
 * A socket whose program has asked for errors (IP_RECVERR) would report one, and most
 * programs would end the connection. The local address of a transparent proxy is another
 * host's: the message would leave this host.
 *
 * Source: RFC 6069; tcp_v4_err (net/ipv4/tcp_ipv4.c).
 */
#ifndef SEGUE_ICMP_H
#define SEGUE_ICMP_H

#include "kernel.h"

/* include/net/inet_sock.h: bits of inet_flags, whose enum has no name */
#define INET_FLAGS_RECVERR 9
#define INET_FLAGS_TRANSPARENT 15
#define INET_FLAGS_RECVERR6 26

/* Nobody where it cannot be known: before Linux 6.6, for IPv6 before 6.7. */
static __always_inline u32 segue_takes_icmp(const struct tcp_sock *tp)
{
	const unsigned long others = 1ul << INET_FLAGS_RECVERR | 1ul << INET_FLAGS_RECVERR6 |
				     1ul << INET_FLAGS_TRANSPARENT;
	const struct inet_sock *inet = &tp->inet_conn.icsk_inet;

	if (!bpf_core_field_exists(inet->inet_flags) ||
	    (inet->sk.__sk_common.skc_family == AF_INET6 &&
	     bpf_core_field_exists(((struct ipv6_pinfo *)0)->recverr)))
		return 0;
	return !(inet->inet_flags & others);
}

#endif
