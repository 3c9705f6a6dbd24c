/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * addr.h - addresses of connections, sixteen octets each: an IPv4 one as IPv6 maps it,
 * ::ffff:a.b.c.d.
 *
 * Source: RFC 4291, 2.5.5.2.
 */
#ifndef SEGUE_ADDR_H
#define SEGUE_ADDR_H

#include "tuple.h"
#include "kernel.h"

/* from: in network byte order, as all words here. */
static __always_inline void segue_map_v4(u8 to[16], u32 from)
{
	__builtin_memset(to, 0, 10);
	to[10] = 0xff;
	to[11] = 0xff;
	__builtin_memcpy(to + 12, &from, 4);
}

static __always_inline void segue_local_address(const struct sock_common *sk, u8 to[16])
{
	if (sk->skc_family == AF_INET6)
		__builtin_memcpy(to, &sk->skc_v6_rcv_saddr, 16);
	else
		segue_map_v4(to, sk->skc_rcv_saddr);
}

static __always_inline void segue_remote_address(const struct sock_common *sk, u8 to[16])
{
	if (sk->skc_family == AF_INET6)
		__builtin_memcpy(to, &sk->skc_v6_daddr, 16);
	else
		segue_map_v4(to, sk->skc_daddr);
}

static __always_inline void segue_tuple_of(const struct sock_common *sk, struct segue_tuple *flow)
{
	segue_remote_address(sk, flow->remote);
	segue_local_address(sk, flow->local);
	flow->remote_port = sk->skc_dport;
	flow->local_port = bpf_htons(sk->skc_num);
}

/* The remote address at an event of a socket, where the kernel shows no `sock_common`. */
static __always_inline void segue_remote_address_at(const struct bpf_sock_ops *ctx, u32 to[4])
{
	/* Both are read before either is chosen: the compiler would choose the address
	 * to read, and the verifier wants that to be a constant. */
	u32 v4 = ctx->remote_ip4;
	u32 v6 = ctx->remote_ip6[3];
	u32 above = ctx->remote_ip6[2];
	const u32 is_v4 = ctx->family == AF_INET;

	barrier_var(v4);
	barrier_var(v6);
	barrier_var(above);
	to[0] = is_v4 ? 0 : ctx->remote_ip6[0];
	to[1] = is_v4 ? 0 : ctx->remote_ip6[1];
	to[2] = is_v4 ? bpf_htonl(0xffff) : above;
	to[3] = is_v4 ? v4 : v6;
}

#endif
