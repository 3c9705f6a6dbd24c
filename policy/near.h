/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * near.h - the numbers of `near`: one clock of the new link for all flows of a mobile.
 *
 * Source: docs/reference/near.md, whose sections the comments name. A packet's fate and the packet
 * that takes a slot are a list that a host keeps; every number in it comes from here.
 *
 * Times are in ns. Windows are in 1/256 packet, of all flows of the mobile together.
 */
#ifndef SEGUE_NEAR_H
#define SEGUE_NEAR_H

#include "path.h"

#define SEGUE_NEAR_DELAYED_ACK 2u /* packets of a flow whose ACK may be delayed (RFC 5681, 4.2) */
#define SEGUE_NEAR_SLACK_NS 10000000u /* clocks that tick in 10 ms */
#define SEGUE_NEAR_MIN_RTO_NS 200000000u
#define SEGUE_NEAR_DELAY_LIMIT_NS 10000000000ull
/* N, and flows of this host: more count as so many. A kernel's state of a flow has room for no
 * more (near_flow.h), and both senders decide the same. */
#define SEGUE_NEAR_FLOWS_LIMIT 2047u
#define SEGUE_NEAR_MIN_QUEUE 2u /* packets that are no sign of competing traffic */
#define SEGUE_NEAR_MAX_STEPS 16u /* 35 times the reported rate */
#define SEGUE_NEAR_PROBE_PACKETS 6u /* a rate probe, at double speed: no more than three wait */
#define SEGUE_NEAR_PROBE_STEPS 3u /* 1.95 times */

/* The new path as a notice describes it (section 2). */
struct segue_near {
	u64 delay_beyond_ns; /* one way, of the path beyond the access link */
	u64 old_slot_ns; /* a packet on the old link */
	u64 slot_ns; /* a packet on this host's part of the new link */
	u64 ack_owd_ns; /* one-way delay, mobile to sender over the new link */
	u64 data_owd_ns; /* one-way delay, sender to mobile over the new link */
	u64 old_data_owd_ns; /* the same over the old link */
	u64 rtt_ns; /* of the new path, its queues empty */
	u64 window; /* packets that fill the path, in 1/256 */
};

/* 2.4: W */
static inline void segue_near_window(struct segue_near *near)
{
	near->window = (near->rtt_ns / near->slot_ns + 1) * SEGUE_PACKET;
}

/* 2.1 to 2.4. `min_rtt_ns`: least round trip of any flow on the old path, 0 if none was
 * measured; `own`: flows that this host has. */
static inline void segue_near_of(struct segue_near *near, const struct segue_notice *notice,
				 u64 min_rtt_ns, u32 packet_bytes, u32 ack_bytes, u32 own)
{
	const u64 flows = segue_max(1, segue_min(notice->flows, SEGUE_NEAR_FLOWS_LIMIT));
	const u64 share = segue_max(1, segue_min(own, SEGUE_NEAR_FLOWS_LIMIT));
	struct segue_path path;
	u64 old_rtt, packet, ack, beyond;

	segue_path_of(&path, notice, packet_bytes, ack_bytes, 0);
	old_rtt = segue_old_rtt_ns(&path);
	beyond = min_rtt_ns > old_rtt ? (min_rtt_ns - old_rtt) / 2 : 0;
	if (beyond > SEGUE_NEAR_DELAY_LIMIT_NS)
		beyond = SEGUE_NEAR_DELAY_LIMIT_NS;
	packet = segue_serialisation_ns(path.packet_bytes, path.new_link, 1);
	ack = segue_serialisation_ns(path.ack_bytes, path.new_link, 1);

	near->delay_beyond_ns = beyond;
	near->old_slot_ns = segue_serialisation_ns(path.packet_bytes, path.old_link, 1);
	near->slot_ns = packet ? packet : 1;
	near->ack_owd_ns = ack + segue_delay_ns(path.new_link) + beyond;
	near->data_owd_ns = packet + segue_delay_ns(path.new_link) + beyond;
	near->old_data_owd_ns = near->old_slot_ns + segue_delay_ns(path.old_link) + beyond;
	near->rtt_ns = near->ack_owd_ns + near->data_owd_ns;
	if (flows > share) /* the others have their part of the slots */
		near->slot_ns = near->slot_ns * flows / share;
	segue_near_window(near);
}

/* 6.1: a round trip on the new path that takes the place of that of 2.4. */
static inline void segue_near_set_rtt(struct segue_near *near, u64 rtt_ns)
{
	near->rtt_ns = rtt_ns;
	segue_near_window(near);
}

/* 2.5: when the handoff completed, which the notice tells that came with an ACK at `now`. */
static inline u64 segue_near_completion(const struct segue_near *near, u64 now)
{
	return now > near->ack_owd_ns ? now - near->ack_owd_ns : 0;
}

/* 2.6: 1 if what left the sender at `sent` was routed to the old link. */
static inline u32 segue_near_on_old_link(const struct segue_near *near, u64 completion, u64 sent)
{
	return sent + near->delay_beyond_ns / 2 < completion;
}

/* 3.2: 1 if a packet that left at `sent` found the new link's queue full. That link is free
 * from `free_at` on, and its queue is taken to hold what fills the path. */
static inline u32 segue_near_overflows(const struct segue_near *near, u64 free_at, u64 sent)
{
	return free_at > sent && (free_at - sent) / near->slot_ns >= near->window / SEGUE_PACKET;
}

/* 3.1: packets that may be in flight on the new link. */
static inline u64 segue_near_flight_limit(u64 window, u32 own)
{
	return window / SEGUE_PACKET + (u64)SEGUE_NEAR_DELAYED_ACK * own;
}

/* 4.3: when a packet that left the sender at `sent` reaches the mobile over the old link.
 * The one before it reaches the mobile at `before`. */
static inline u64 segue_near_old_arrival(const struct segue_near *near, u64 sent, u64 before)
{
	const u64 alone = sent + near->old_data_owd_ns;
	const u64 behind = before + near->old_slot_ns;

	return alone > behind ? alone : behind;
}

/* 4.2: 1 if a packet that left at `sent` and came at `arrival` cannot have come over the old link. */
static inline u32 segue_near_too_early(const struct segue_near *near, u64 sent, u64 arrival)
{
	return arrival < sent + near->old_data_owd_ns;
}

/* 4.4: 1 if a packet that comes over the old link at `arrival` is too late. By then the new
 * link, free from `begins` on, can have carried `packets`. */
static inline u32 segue_near_too_late(const struct segue_near *near, u64 begins, u32 packets,
				      u64 arrival)
{
	return arrival > begins + packets * near->slot_ns + near->data_owd_ns;
}

/* 4.4: new packets that a retransmission has to wait for. */
static inline u32 segue_near_horizon(const struct segue_near *near, u32 old_flight)
{
	return segue_max(segue_saturate(2 * near->window / SEGUE_PACKET), old_flight);
}

/* 4.5: a packet that reaches the mobile at `arrival` is lost if no ACK has come by then. */
static inline u64 segue_near_loss_deadline(const struct segue_near *near, u64 arrival)
{
	return arrival + near->ack_owd_ns + 2 * near->old_slot_ns + SEGUE_NEAR_SLACK_NS;
}

/* 4.6: when the notice of one flow counts for the others. After a disconnection all flows have
 * stalled, and each is given time for a notice of its own. */
static inline u64 segue_near_join_delay_ns(const struct segue_notice *notice, u32 ack_bytes, u32 own)
{
	struct segue_link link;

	if (!notice->disconnected || own < 2)
		return 0;
	segue_copy_within_limits(&link, &notice->new_link);
	return segue_serialisation_ns(segue_min(ack_bytes, SEGUE_BYTES_LIMIT), link,
				      2 * (segue_min(own, SEGUE_NEAR_FLOWS_LIMIT) - 1));
}

/* 5.1: 1 if an ACK so long after a retransmission must be that of an earlier transmission (as in
 * Eifel detection, RFC 3522). */
static inline u32 segue_near_acks_original(const struct segue_near *near, u64 elapsed_ns)
{
	return elapsed_ns + near->delay_beyond_ns < near->rtt_ns;
}

/* 5.2: the window after a loss on the new link; each flow's part is halved alone. */
static inline u64 segue_near_after_loss(u64 window, u32 own)
{
	const u64 cut = window / (2 * (u64)segue_max(1, own));
	const u64 least = SEGUE_PACKET;

	return window > cut + least ? window - cut : least;
}

/* 5.3: the window after `acked` packets; a packet per round trip and flow. */
static inline u64 segue_near_after_acks(u64 window, u32 acked, u32 own)
{
	const u64 more = (u64)segue_min(acked, SEGUE_FLIGHT_LIMIT) *
			 segue_min(own, SEGUE_NEAR_FLOWS_LIMIT) * SEGUE_PACKET * SEGUE_PACKET;

	return window + more / (window ? window : 1) + 1;
}

/* 5.4: after so long without an ACK of a flow all that it has in flight is lost. */
static inline u64 segue_near_rto_ns(const struct segue_near *near, u32 backoff)
{
	const u64 rto = 2 * near->rtt_ns + near->window / SEGUE_PACKET * near->slot_ns +
			SEGUE_NEAR_MIN_RTO_NS;

	return rto << segue_min(backoff, 6);
}

/* 6.2: 1 if a round trip of the new path is long enough for a queue of more than two packets. */
static inline u32 segue_near_queued(const struct segue_near *near, u64 rtt_ns)
{
	return rtt_ns > near->rtt_ns + 2 * near->slot_ns;
}

/* 6.3: 1 if the link is faster than the clock, of two packets of a rate probe. They are so many
 * packets apart, and left `apart_ns` apart: half of their slots, or more if the window held them
 * back. At the clock's rate the second would wait for the rest of their slots, longer than the
 * first. */
static inline u32 segue_near_probe_passes(const struct segue_near *near, u32 packets, u64 apart_ns,
				      u64 first_rtt_ns, u64 rtt_ns)
{
	const u64 slots = packets * near->slot_ns;
	const u64 saved = slots > apart_ns ? slots - apart_ns : 0;

	return packets && saved >= slots / 4 && rtt_ns < first_rtt_ns + saved / 2;
}

/* 6.3: the steps after a rate probe that has passed. */
static inline u32 segue_near_steps_after_probe(u32 steps)
{
	return segue_min(steps + SEGUE_NEAR_PROBE_STEPS, SEGUE_NEAR_MAX_STEPS);
}

/* 6.3: the clock after so many steps: each lets it run a quarter faster. */
static inline void segue_near_apply_steps(struct segue_near *near, const struct segue_near *told,
				    u32 steps)
{
	u32 step;

	near->slot_ns = told->slot_ns;
	near->window = told->window;
	for (step = 0; step < segue_min(steps, SEGUE_NEAR_MAX_STEPS); step++) {
		near->slot_ns -= near->slot_ns / 5;
		near->window += near->window / 4;
	}
}

/* 6.4: how many of them are left when a queue shows, or a loss. */
static inline u32 segue_near_steps_after_queue(u32 steps)
{
	return steps > 2 ? steps - 2 : 0;
}

/* 7.2: 1 if the least round trip of the claim shows competing traffic. The delay beyond the old
 * link (2.1) may be half a packet's time there larger: the least round trip may be that of a
 * SYN. */
static inline u32 segue_near_competing_traffic(const struct segue_near *near, u64 least_rtt_ns)
{
	const u64 quarter = near->window / SEGUE_PACKET * near->slot_ns / 4;
	const u64 unexplained = near->rtt_ns + 2 * near->slot_ns;

	return least_rtt_ns > unexplained + (quarter > near->old_slot_ns ? quarter : near->old_slot_ns);
}

/* 7.5: 1 if a round trip shows that others wait in the queue, too. The packets that all flows of
 * this host have in flight do not explain it. */
static inline u32 segue_near_queue_of_others(const struct segue_near *near, u64 rtt_ns, u32 in_flight)
{
	const u64 own = ((u64)segue_min(in_flight, SEGUE_FLIGHT_LIMIT) + SEGUE_NEAR_MIN_QUEUE) *
			near->slot_ns;

	return segue_near_competing_traffic(near, rtt_ns) && rtt_ns > own;
}

/* 7.5: packets in flight while a queue of this host's own drains. With fewer than four packets a
 * flow may wait for a delayed ACK. */
static inline u64 segue_near_drain_limit(const struct segue_near *near, u64 window, u32 own)
{
	const u64 path = near->window / SEGUE_PACKET;
	const u64 flows = segue_min(own, SEGUE_NEAR_FLOWS_LIMIT);
	const u64 most = (window < near->window ? window : near->window) / SEGUE_PACKET;

	return path < 2 * SEGUE_NEAR_DELAYED_ACK * flows ? most + flows : most;
}

/* 7.5: the slot beside others: a window decides then, and no pace (pacing_ca_ratio is 120 %). */
static inline u64 segue_near_shared_slot_ns(const struct segue_near *near)
{
	return near->slot_ns * 5 / 6;
}

/* 7.2: a flow's share of the path in whole packets, from which its own control goes on. */
static inline u32 segue_near_share(const struct segue_near *near, u32 own)
{
	const u64 whole = (u64)SEGUE_PACKET * segue_max(1, own);

	return segue_saturate((near->window + whole - 1) / whole);
}

/* 8.8: 1 if N flows have more in flight than the path and a queue as long hold. Each has whole
 * packets, and two for its delayed ACK. The slots are one flow's. */
static inline u32 segue_near_oversubscribed(const struct segue_near *near, u32 flows)
{
	const u64 out = (u64)flows * (segue_near_share(near, 1) + SEGUE_NEAR_DELAYED_ACK);

	return out > 2 * (near->rtt_ns * flows / near->slot_ns + 1);
}

/* 8.5: the longest round trip that the queue of these flows explains; the slots are one flow's.
 * They do not know each other's phases, so that each may have a packet waiting, and all
 * together never send slower than the link. Unless they oversubscribe the path, several may
 * have all in flight that is theirs. The delay beyond the old link (2.1) may be half a
 * packet's time there larger: the least round trip may be that of a SYN. */
static inline u64 segue_near_max_own_rtt_ns(const struct segue_near *near, u32 flows)
{
	const u64 waiting = segue_max(SEGUE_NEAR_MIN_QUEUE, flows);
	const u64 phases = near->rtt_ns + waiting * near->slot_ns / segue_max(1, flows);
	const u64 flight = (u64)(segue_near_share(near, 1) + SEGUE_NEAR_DELAYED_ACK) * near->slot_ns;
	const u32 several = flows > 1 && !segue_near_oversubscribed(near, flows);

	return (several && flight > phases ? flight : phases) + near->old_slot_ns;
}

/* 8: one flow on Linux can be given a window and a pace, and no packet: near_flow.h. `near` is
 * that of own = 1 there: its slot is a packet of this flow's share of the link. */

#endif
