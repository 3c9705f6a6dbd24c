/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * grant.h - the window that a notice grants to a sender on Linux. It answers whether there was
 * an outage, what leaves at once, when the grant is refuted, and what is kept of it.
 *
 * The sender's own file says when each question is asked: bpf/sender/ in the kernel,
 * crates/handoff/src/on_linux.rs in the simulator. Windows and counts are in packets here.
 *
 * Source: ours (docs/internals/kernel.md); the safe retreat of careful resume,
 * draft-ietf-tsvwg-careful-resume.
 */
#ifndef SEGUE_GRANT_H
#define SEGUE_GRANT_H

#include "belief.h"
#include "policy.h"

#define SEGUE_HEADER_BYTES 52u /* of a packet: IPv4, TCP, time stamps */
#define SEGUE_INITIAL_WINDOW 10u /* RFC 6928 */
#define SEGUE_TRIAL_ROUNDS 3u
#define SEGUE_GUARD_ROUNDS 3u
#define SEGUE_LEAST_PROVEN 5u /* packets */
#define SEGUE_DOUBT_MS 10000u
#define SEGUE_DISBELIEF_MS 10000u
#define SEGUE_INITIAL_RTO_MS 1000u /* RFC 6298, 2.1 */

/* Links do not change more often than that. */
#define SEGUE_NOTICES_APART_MS 1000u

/* The option does not tell whether there was a disconnection; silence does. Without a
 * disconnection the first ACK over the new link follows the last one over the old. The gap
 * is at most the difference of the delays, which is less than both round trips together. */
static inline u32 segue_was_silent(u32 silence_us, u32 srtt_us, const struct segue_link *new_link)
{
	const u64 packet_us = (u64)1500 * 8 * 1000 / segue_max(1, new_link->rate_kbps);

	return silence_us > (u64)2 * new_link->delay_us + packet_us + srtt_us;
}

/* The length of an outage is no round trip: a bound of the RTO after one (bpf/sender/rto_max.h). */
static inline u32 segue_rto_bound_ms(const struct segue_link *link)
{
	const u64 packet_us = 1500 * 8 * 1000 / segue_max(1, link->rate_kbps);
	const u64 bound_ms = 2 * (2 * (u64)link->delay_us + packet_us) / 1000;

	return segue_max(SEGUE_INITIAL_RTO_MS, (u32)bound_ms);
}

/* At once no more than the peer has ever had room for, so that a rate of nonsense makes
 * no burst of nonsense. Slow start does the rest. */
static inline u32 segue_leaves_at_once(u32 window, u32 most_room)
{
	return segue_min(window, segue_max(most_room, SEGUE_INITIAL_WINDOW));
}

/* After an outage before any timeout the kernel takes all that was lost for under way. A window
 * that is not larger then stays shut until the timer expires. So these leave beyond it: their
 * SACKs tell RACK what was lost (RFC 8985, 6.2). */
#define SEGUE_ASKING 2u

static inline u32 segue_asks_what_was_lost(u32 window, u32 in_flight)
{
	return segue_max(window, segue_saturate((u64)in_flight + SEGUE_ASKING));
}

/* The window from the next ACK on. guard: ssthresh as the notice left it; 0: it brought none. */
static inline u32 segue_after_asking(u32 window, u32 guard)
{
	const u32 before = segue_max(1, window - segue_min(window, SEGUE_ASKING));

	return guard ? segue_min(before, segue_min(guard, SEGUE_AT_ONCE)) : before;
}

/* Losses that prove nothing. The old link may have lost all of it. Packets that are marked
 * lost already count, too: an undo takes the marks back, and the kernel then finds the same
 * packets lost again. */
static inline u32 segue_trial_allows(u32 packets_out)
{
	return packets_out + SEGUE_INITIAL_WINDOW;
}

/* lost, arrived: since the trial began. */
static inline u32 segue_trial_fails(u32 lost, u32 arrived, u32 allowed)
{
	return lost > allowed + arrived / 2;
}

/* After a failure: half of what arrived in a round trip. */
static inline u32 segue_found_window(u32 arrived, u32 srtt_us, u32 took_us)
{
	srtt_us = segue_max(1, srtt_us);
	took_us = segue_max(took_us, srtt_us);
	return segue_max(SEGUE_LEAST_PROVEN,
			 segue_saturate((u64)arrived * srtt_us / took_us) / 2);
}

/* A window that a notice raised without an outage may have pushed others aside at the queue. If
 * that has been refuted, notices without an outage say nothing for so long. */
static inline u32 segue_disbelieves(u32 disconnected, u32 refuted, u32 since_ms)
{
	return !disconnected && refuted && since_ms < SEGUE_DISBELIEF_MS;
}

/* After a success later grants may be twice as large; 0: nothing is known. */
static inline u32 segue_proven_twice(u32 proven)
{
	return segue_min(proven * 2, 1u << 20);
}

/* The rate of a notice may be far too small: twice as much arrives. */
static inline u32 segue_refutes_rate(u32 delivered, u32 mss, u32 interval_us, u32 kbps)
{
	return interval_us && (u64)delivered * mss * 8000 / interval_us > 2 * (u64)kbps;
}

/* A claim (table.h) lets out no more packets than were granted, as far as that has not been
 * refuted: `guard`. */
static inline u32 segue_claimed(u32 guard)
{
	return segue_max(1, segue_min(guard, SEGUE_CLAIMED));
}

/* The stack's window at the end of one; more: packets that the path holds beside. */
static inline u32 segue_left_by_claim(u32 cwnd, u32 guard, u32 shared, u32 more)
{
	cwnd = segue_min(cwnd, segue_saturate((u64)segue_claimed(guard) + more));
	return segue_max(1, shared ? cwnd / 2 : cwnd);
}

/* Its pace in octets of payload a second, which is all that the kernel counts. */
static inline u64 segue_payload_rate(u32 kbps, u32 mss)
{
	return (u64)kbps * 125 * mss / ((u64)mss + SEGUE_HEADER_BYTES);
}

/* The ssthresh that a cut leaves. During its trial a grant is kept whole; afterwards it is
 * no more than the window in use. Above that PRR would let cwnd grow within a recovery, and
 * the ssthresh of a false rate would never be cut. */
static inline u32 segue_kept_window(u32 before, u32 cut, u32 prior_cwnd, u32 on_trial)
{
	return on_trial ? before : segue_max(cut, segue_min(before, prior_cwnd));
}

/* The window that an undo gives back while a grant is guarded. */
static inline u32 segue_undone_window(u32 window, u32 guard, u32 cwnd)
{
	return segue_min(window, segue_max(guard, cwnd));
}

#endif
