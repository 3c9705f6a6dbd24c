/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * tuple.h - a connection, as programs that see its packets know it.
 */
#ifndef SEGUE_TUPLE_H
#define SEGUE_TUPLE_H

#include "policy.h"

/* A connection, by the addresses and ports of its packets, in network byte order;
 * IPv4 addresses as IPv6 maps them (RFC 4291, 2.5.5.2). */
struct segue_tuple {
	u8 remote[16];
	u8 local[16];
	u16 remote_port;
	u16 local_port;
};

#endif
