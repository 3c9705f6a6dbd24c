/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * nonce.h - the nonce that we want to see in reports to us: a keyed hash of what the
 * handshake already holds. Nothing is stored for a connection that is only being
 * asked for, and SYN cookies change nothing.
 *
 * Source: SipHash-2-4, J.-P. Aumasson, D. J. Bernstein 2012. The input is the initial
 * sequence number, which nobody off the path knows, and the ports. Addresses are left
 * out: a listener for both families answers IPv4 with a request socket in which the
 * IPv6 ones are unset.
 */
#ifndef SEGUE_NONCE_H
#define SEGUE_NONCE_H

#include "state.h"

static inline u64 segue_rotl(u64 x, u32 by)
{
	return x << by | x >> (64 - by);
}

#define SEGUE_SIPROUND(v)                                                                          \
	do {                                                                                       \
		v[0] += v[1];                                                                      \
		v[1] = segue_rotl(v[1], 13) ^ v[0];                                                \
		v[0] = segue_rotl(v[0], 32);                                                       \
		v[2] += v[3];                                                                      \
		v[3] = segue_rotl(v[3], 16) ^ v[2];                                                \
		v[0] += v[3];                                                                      \
		v[3] = segue_rotl(v[3], 21) ^ v[0];                                                \
		v[2] += v[1];                                                                      \
		v[1] = segue_rotl(v[1], 17) ^ v[2];                                                \
		v[2] = segue_rotl(v[2], 32);                                                       \
	} while (0)

/* One whole word and SipHash's last one, which holds the length. */
static inline u64 segue_siphash(u64 key0, u64 key1, u64 word)
{
	const u64 last = (u64)8 << 56;
	u64 v[4] = {
		key0 ^ 0x736f6d6570736575ull,
		key1 ^ 0x646f72616e646f6dull,
		key0 ^ 0x6c7967656e657261ull,
		key1 ^ 0x7465646279746573ull,
	};

	v[3] ^= word;
	SEGUE_SIPROUND(v);
	SEGUE_SIPROUND(v);
	v[0] ^= word;
	v[3] ^= last;
	SEGUE_SIPROUND(v);
	SEGUE_SIPROUND(v);
	v[0] ^= last;
	v[2] ^= 0xff;
	SEGUE_SIPROUND(v);
	SEGUE_SIPROUND(v);
	SEGUE_SIPROUND(v);
	SEGUE_SIPROUND(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* isn: the sequence number of our own SYN or SYN-ACK. */
static inline u16 segue_nonce(const struct bpf_sock_ops *ctx, u32 isn)
{
	const u32 remote_port = bpf_ntohl(ctx->remote_port) & 0xffff;
	const u32 ports = remote_port << 16 | (ctx->local_port & 0xffff);

	return (u16)segue_siphash(nonce_key[0], nonce_key[1], (u64)isn << 32 | ports);
}

#endif
