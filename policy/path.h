/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * path.h - what a notice says about the path: round-trip times and
 * bandwidth-delay products of the access links.
 *
 * Source: algorithms.md section 0, "Derived link quantities" (Daniel and Kojo
 * 2008, Sec. 5.2).
 *
 * A BDP is a fraction whose numerator is an integer: rate times the serialisation
 * of a packet is the packet itself, so
 *
 *     bdp = bw * (2*d + 8P/bw + 8A/bw) / 8P = (2*d*bw + 8P + 8A) / 8P
 *
 * and a comparison of flight with a multiple of it needs no rounding at all.
 */
#ifndef SEGUE_PATH_H
#define SEGUE_PATH_H

#include "policy.h"

/* Links beyond these are taken to be at them; with them no product below
 * leaves 64 bits. 134 Gbit/s, 16.7 s, 65535 flows, a million packets. */
#define SEGUE_RATE_LIMIT (1u << 27)
#define SEGUE_DELAY_LIMIT (1u << 24)
#define SEGUE_FLOWS_LIMIT 65535u
#define SEGUE_FLIGHT_LIMIT (1u << 20)
#define SEGUE_BYTES_LIMIT 65535u
#define SEGUE_RATIO_LIMIT (1u << 20)

struct segue_path {
	struct segue_link old_link;
	struct segue_link new_link;
	u32 packet_bytes; /* P */
	u32 ack_bytes; /* A */
	u32 whole_packets; /* 9.7: BDPs rounded to whole packets */
};

/* A link without a rate says nothing. */
static inline u32 segue_notice_usable(const struct segue_notice *notice)
{
	return notice->old_link.rate_kbps && notice->new_link.rate_kbps;
}

static inline void segue_copy_within_limits(struct segue_link *to, const struct segue_link *from)
{
	to->rate_kbps = segue_max(1, segue_min(from->rate_kbps, SEGUE_RATE_LIMIT));
	to->delay_us = segue_min(from->delay_us, SEGUE_DELAY_LIMIT);
}

static inline void segue_path_of(struct segue_path *path, const struct segue_notice *notice,
				 u32 packet_bytes, u32 ack_bytes, u32 whole_packets)
{
	segue_copy_within_limits(&path->old_link, &notice->old_link);
	segue_copy_within_limits(&path->new_link, &notice->new_link);
	path->packet_bytes = segue_max(1, segue_min(packet_bytes, SEGUE_BYTES_LIMIT));
	path->ack_bytes = segue_min(ack_bytes, SEGUE_BYTES_LIMIT);
	path->whole_packets = whole_packets;
}

/* ------------------------------------------------------- round-trip times, ns */

/* sd(link) = 8 * bytes / bw, for `count` packets in one division. */
static inline u64 segue_serialisation_ns(u32 bytes, struct segue_link link, u32 count)
{
	return (u64)bytes * 8 * 1000000 * count / link.rate_kbps;
}

static inline u64 segue_delay_ns(struct segue_link link)
{
	return (u64)link.delay_us * 1000;
}

/* 2*d + sd_pkt + sd_ack: data and ACK both on this link. */
static inline u64 segue_link_rtt_ns(const struct segue_path *path, struct segue_link link)
{
	return 2 * segue_delay_ns(link) +
	       segue_serialisation_ns(path->packet_bytes + path->ack_bytes, link, 1);
}

/* new_rtt */
static inline u64 segue_new_rtt_ns(const struct segue_path *path)
{
	return segue_link_rtt_ns(path, path->new_link);
}

/* old_rtt [C: symmetric to new_rtt] */
static inline u64 segue_old_rtt_ns(const struct segue_path *path)
{
	return segue_link_rtt_ns(path, path->old_link);
}

/* old_new_rtt: data on the old link, its ACK on the new one. */
static inline u64 segue_old_new_rtt_ns(const struct segue_path *path)
{
	return segue_delay_ns(path->old_link) +
	       segue_serialisation_ns(path->packet_bytes, path->old_link, 1) +
	       segue_delay_ns(path->new_link) +
	       segue_serialisation_ns(path->ack_bytes, path->new_link, 1);
}

static inline u32 segue_us_from_ns(u64 ns)
{
	return segue_saturate((ns + 500) / 1000);
}

/* max(a/b, b/a) >= ratio, the ratio in 1/256. Zero beside zero is no change. */
static inline u32 segue_differ_by(u64 a, u64 b, u32 ratio)
{
	const u64 large = a > b ? a : b;
	const u64 small = a > b ? b : a;

	return large && large * 256 >= small * segue_min(ratio, SEGUE_RATIO_LIMIT);
}

/* ---------------------------------------------------- bandwidth-delay products */

/* The denominator of every BDP: 8P bit, in kbit/s * us = 1/1000 bit. */
static inline u64 segue_bdp_unit(const struct segue_path *path)
{
	return (u64)8000 * path->packet_bytes;
}

/* bdp * segue_bdp_unit, exact. */
static inline u64 segue_bdp(const struct segue_path *path, struct segue_link link)
{
	const u64 unit = segue_bdp_unit(path);
	u64 bdp = (u64)2 * link.delay_us * link.rate_kbps + unit + (u64)8000 * path->ack_bytes;

	if (path->whole_packets) /* 9.7, the other choice */
		bdp = (bdp + unit / 2) / unit * unit;
	return bdp;
}

/* bdp_quoted = bw * 2*d / 8P in 1/256 packet: the value papers quote for a link. */
static inline u32 segue_bdp_quoted(const struct segue_path *path, struct segue_link link)
{
	const u64 unit = segue_bdp_unit(path);

	return segue_saturate(((u64)2 * link.delay_us * link.rate_kbps * SEGUE_PACKET + unit / 2) /
			      unit);
}

/* b = bdp_new / N in 1/256 packet (algorithms.md 3; N = 1: bdp_new itself). */
static inline u32 segue_bdp_share(const struct segue_path *path, u32 flows)
{
	const u64 unit = segue_bdp_unit(path) * flows;

	return segue_saturate((segue_bdp(path, path->new_link) * SEGUE_PACKET + unit / 2) / unit);
}

/*
 * flight > factor * bdp_new / N, the factor in 1/256. As flight is an integer, it
 * exceeds a real number exactly when it exceeds its integer part.
 */
static inline u32 segue_flight_exceeds(const struct segue_path *path, u32 flight, u32 factor,
				       u32 flows)
{
	return flight > segue_bdp(path, path->new_link) * factor /
				(segue_bdp_unit(path) * 256 * flows);
}

#endif
