/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * grant.h - the window that a notice grants to a sender on Linux. It decides whether there was
 * an outage, what leaves at once, when the grant is refuted, and what is kept of it.
 *
 *   trial       the probation of a reported window: for three round trips its losses are
 *               counted, and too many refute it (careful resume's Validating phase)
 *   guard       the cap on what an undo may restore: for three round trips no more than the
 *               granted window
 *   HyStart     while the guard lasts it judges in no recovery
 *   proven      the cap on later grants, which the last trial has left
 *   rate check  for ten seconds: if twice the reported rate arrives, slow start goes on
 *   loss probe  two packets beyond the window after an outage, whose SACKs show what was lost
 *   claim       a paced bandwidth claim (near_flow.h)
 *
 * The callers are bpf/sender/ in the kernel and crates/handoff/src/on_linux.rs in the simulator.
 * Windows and counts are in packets here.
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
#define SEGUE_RATE_CHECK_MS 10000u
#define SEGUE_REJECT_MS 10000u
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

/* No more than the peer has ever had room for leaves at once, so that an absurd rate makes no
 * absurd burst. Slow start does the rest. */
static inline u32 segue_burst_window(u32 window, u32 most_room)
{
	return segue_min(window, segue_max(most_room, SEGUE_INITIAL_WINDOW));
}

/* After an outage before any timeout the kernel counts all that was lost as in flight. A window
 * that is not larger then stays shut until the timer expires. So these leave beyond it: their
 * SACKs show RACK what was lost (RFC 8985, 6.2). */
#define SEGUE_LOSS_PROBE_PACKETS 2u

static inline u32 segue_loss_probe_window(u32 window, u32 in_flight)
{
	return segue_max(window, segue_saturate((u64)in_flight + SEGUE_LOSS_PROBE_PACKETS));
}

/* The window from the next ACK on. guard: ssthresh as the notice left it; 0: it brought none. */
static inline u32 segue_window_after_loss_probe(u32 window, u32 guard)
{
	const u32 before = segue_max(1, window - segue_min(window, SEGUE_LOSS_PROBE_PACKETS));

	return guard ? segue_min(before, segue_min(guard, SEGUE_BURST_LIMIT)) : before;
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

/* A timeout marks all that is under way as lost. The timer is that of the old path until something
 * has arrived, and a claim's is for longer. So the marks refute nothing. arrived: since the trial
 * began. */
static inline u32 segue_timeout_proves_nothing(u32 arrived, u32 claim)
{
	return claim || !arrived;
}

/* After a failed trial: half of what arrived in a round trip. */
static inline u32 segue_delivered_window(u32 arrived, u32 srtt_us, u32 took_us)
{
	srtt_us = segue_max(1, srtt_us);
	took_us = segue_max(took_us, srtt_us);
	return segue_max(SEGUE_LEAST_PROVEN,
			 segue_saturate((u64)arrived * srtt_us / took_us) / 2);
}

/* A refuted raise without an outage leaves no more than was there before it. Otherwise a receiver that
 * lies would gain. left: half of what arrived after losses, or the window after a claim that has met
 * competing traffic; before: belief.h */
#define SEGUE_BEFORE_LIMIT 4095u /* packets; more count as so many */

static inline u32 segue_refuted_window(u32 left, u32 before)
{
	before = segue_min(before, SEGUE_BEFORE_LIMIT);
	return segue_min(left, segue_max(2, before));
}

/* A window that a notice raised without an outage may have pushed others aside at the queue. If
 * that has been refuted, notices without an outage are rejected for so long. */
static inline u32 segue_rejects_notice(u32 disconnected, u32 refuted, u32 since_ms)
{
	return !disconnected && refuted && since_ms < SEGUE_REJECT_MS;
}

/* A notice without an outage that follows another one so soon raises no window, and makes its flow look
 * for no more than it reports. Otherwise a receiver that lies, time and again, would gain. */
static inline u32 segue_notified_lately(u32 disconnected, u32 notified, u32 since_ms)
{
	return !disconnected && notified && since_ms < SEGUE_REJECT_MS;
}

/* After a trial that has passed, later grants may be twice as large; 0: nothing is known. */
static inline u32 segue_proven_twice(u32 proven)
{
	return segue_min(proven * 2, 1u << 20);
}

/* The reported rate may be far too small: twice as much arrives. */
static inline u32 segue_rate_check_fails(u32 delivered, u32 mss, u32 interval_us, u32 kbps)
{
	return interval_us && (u64)delivered * mss * 8000 / interval_us > 2 * (u64)kbps;
}

/* The window of a claim: what was granted, as far as that has not been refuted (`guard`). How much
 * of it nothing has proven, the policy says (near_flow.h). */
static inline u32 segue_claim_window(u32 guard)
{
	return segue_max(1, guard);
}

/* The stack's window at the end of a claim. competing: there is competing traffic; more: extra
 * packets that the path holds. */
static inline u32 segue_window_after_claim(u32 cwnd, u32 guard, u32 competing, u32 more)
{
	cwnd = segue_min(cwnd, segue_saturate((u64)segue_claim_window(guard) + more));
	return segue_max(1, competing ? cwnd / 2 : cwnd);
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

/* Whether cubic is to see no slow start, while a grant is guarded. In a recovery PRR keeps cwnd
 * below ssthresh, and cubic takes that for slow start. A round of its HyStart lasts as long as the
 * recovery then, and ends slow start at the few packets that PRR has let out. */
static inline u32 segue_hides_slow_start(u32 guard_rounds, u32 recovers)
{
	return guard_rounds && recovers;
}

/* The window that an undo gives back while a grant is guarded. */
static inline u32 segue_undone_window(u32 window, u32 guard, u32 cwnd)
{
	return segue_min(window, segue_max(guard, cwnd));
}

#endif
