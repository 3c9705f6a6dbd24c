/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * group.h - flows of one remote host whose claim is of the same link share it by how far each is
 * behind the others (near.md 8.9).
 *
 * A flow tells the others before its packets leave, and learns how far they are. Nothing is locked.
 * If the map forgets the host (state.h), or flows join at the same instant, their shares are less
 * exact until the claims end. No flow is in a group before its first notice. A flow that could not
 * use its share leaves: it has sent all, the receiver has no more room, or its timer has expired.
 *
 * Source: docs/reference/near.md, 8.9.
 */
#ifndef SEGUE_GROUP_H
#define SEGUE_GROUP_H

#include "state.h"

static inline void segue_leave_group(struct segue_connection *conn)
{
	struct segue_host_flows *group;

	if (!conn->state.in_group)
		return;
	conn->state.in_group = 0;
	group = bpf_map_lookup_elem(&hosts, &conn->host);
	if (group) {
		__sync_fetch_and_add(&group->claims, -1);
		__sync_fetch_and_add(&group->behind, -conn->behind);
		__sync_fetch_and_add(&group->weight, -conn->weight);
	}
	conn->behind = 0;
	conn->weight = 0;
}

static inline u32 segue_same_link(const struct segue_link *a, const struct segue_link *b)
{
	return a->rate_kbps == b->rate_kbps && a->delay_us == b->delay_us;
}

/* 1: more than a packet waits that the receiver can take, or one is lost. So the flow comes back. */
static inline u32 segue_has_backlog(const struct tcp_sock *tp)
{
	const u32 room = tp->snd_una + tp->snd_wnd;
	const u32 end = segue_seq_before(tp->write_seq, room) ? tp->write_seq : room;

	return tp->lost_out || segue_seq_before(tp->snd_nxt + tp->mss_cache, end);
}

/* How far the others are. The group is that of the first link until all its flows have left. */
static inline void segue_meet_group(const struct tcp_sock *tp, struct segue_connection *conn,
				    struct segue_out *out)
{
	const struct segue_link link = conn->negotiated.link;
	struct segue_host_flows *group = bpf_map_lookup_elem(&hosts, &conn->host);

	out->others = 0;
	out->others_behind = 0;
	out->others_weight = 0;
	if (!group)
		return;
	if (conn->state.expired || !segue_has_backlog(tp)) {
		segue_leave_group(conn);
		return;
	}
	if (conn->state.in_group && (group->claims <= 0 || !segue_same_link(&group->link, &link)))
		segue_leave_group(conn);
	if (!conn->state.in_group) {
		if (group->claims <= 0) {
			group->claims = 0;
			group->behind = 0;
			group->weight = 0;
			group->link = link;
		}
		if (!segue_same_link(&group->link, &link))
			return;
		conn->state.in_group = 1;
		conn->behind = 0;
		conn->weight = 0;
		__sync_fetch_and_add(&group->claims, 1);
	}
	if (group->claims > 1) {
		out->others = (u32)group->claims - 1;
		out->others_behind = group->behind - conn->behind;
	}
	if (group->weight > conn->weight)
		out->others_weight = (u32)group->weight - conn->weight;
}

static inline void segue_tell_group(struct segue_connection *conn, s32 behind, u32 weight)
{
	struct segue_host_flows *group;

	if (!conn->state.in_group || (behind == conn->behind && weight == conn->weight))
		return;
	group = bpf_map_lookup_elem(&hosts, &conn->host);
	if (group) {
		__sync_fetch_and_add(&group->behind, behind - conn->behind);
		__sync_fetch_and_add(&group->weight, (s32)weight - conn->weight);
	}
	conn->behind = (s16)behind;
	conn->weight = (u16)weight;
}

#endif
