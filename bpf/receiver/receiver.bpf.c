/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * receiver.bpf.c - the mobile beside peers that run nothing of ours: what it can do by
 * its ACKs alone. At the egress of the device whose link changes:
 *
 *     receiver_egress    phas.h     ACKs that are held back
 *                        freeze.h   windows that are advertised as closed
 *     receiver_trigger   acks.h     when its owner reads the iterator: ACKs at once
 */
#include "freeze.h"
#include "phas.h"
#include "acks.h"

char _license[] SEC("license") = "GPL";

SEC("tc")
int receiver_egress(struct __sk_buff *skb)
{
	const struct segue_receiver_orders *orders;
	struct segment segment = {};
	const u32 zero = 0;

	orders = bpf_map_lookup_elem(&receiver_orders, &zero);
	if (!orders || !read_segment(skb, link_header, &segment) || !chosen(segment.flow.remote))
		return TC_ACT_UNSPEC;
	if (filters && held_back(&segment, orders))
		return TC_ACT_STOLEN; /* TC_ACT_SHOT would be a loss to the socket */
	close_window(skb, &segment, orders);
	return TC_ACT_UNSPEC;
}
