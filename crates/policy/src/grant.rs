//! `policy/grant.h` and `policy/base_rtt.h` in Rust: the window that a notice has granted to a sender on Linux.
//! Windows and counts are in packets.

use crate::ffi;
use crate::{Action, Link, Notice, Sender};

/// Round trips of a trial.
pub const TRIAL_ROUNDS: u32 = 3;
/// Round trips for which an undo gives back no more than was granted.
pub const GUARD_ROUNDS: u32 = 3;
/// How long the rate of a notice is checked, ms.
pub const RATE_CHECK_MS: u64 = 10_000;
/// Packets of the window before a raise without an outage; more count as so many.
pub const BEFORE_LIMIT: u32 = 4095;

/// Least time between two notices, ms.
pub const NOTICES_APART_MS: u64 = 1_000;

/// Whether so long a silence before a notice tells of a disconnection.
pub fn was_silent(silence_us: u32, srtt_us: u32, new_link: &Link) -> bool {
    ffi::segue_shim_was_silent(silence_us, srtt_us, new_link) != 0
}

/// The window of a claim: what was granted as far as it has not been refuted.
pub fn claim_window(guard: u32) -> u32 {
    ffi::segue_shim_claim_window(guard)
}

/// The stack's window at its end, where there is competing traffic or none, and the path holds `more`.
pub fn window_after_claim(cwnd: u32, guard: u32, competing: bool, more: u32) -> u32 {
    ffi::segue_shim_window_after_claim(cwnd, guard, competing.into(), more)
}

/// Its pace, octets of payload a second.
pub fn payload_rate(kbps: u32, mss: u32) -> u64 {
    ffi::segue_shim_payload_rate(kbps, mss)
}

/// The largest RTO after an outage that ended with this link, ms.
pub fn rto_bound_ms(link: &Link) -> u32 {
    ffi::segue_shim_rto_bound_ms(link)
}

/// The window that lets the packets of a loss probe leave, though `in_flight` count as in flight.
pub fn loss_probe_window(window: u32, in_flight: u32) -> u32 {
    ffi::segue_shim_loss_probe_window(window, in_flight)
}

/// The window from the next ACK on; `guard`: ssthresh as the notice left it, 0 if it brought none.
pub fn window_after_loss_probe(window: u32, guard: u32) -> u32 {
    ffi::segue_shim_window_after_loss_probe(window, guard)
}

/// The part of a granted window that leaves at once, where the peer has had room for `most_room` packets.
pub fn burst_window(window: u32, most_room: u32) -> u32 {
    ffi::segue_shim_burst_window(window, most_room)
}

/// Losses that prove nothing.
pub fn trial_allows(packets_out: u32) -> u32 {
    ffi::segue_shim_trial_allows(packets_out)
}

/// Whether a notice is rejected because a window that one raised without an outage was refuted `since_ms` ago.
pub fn rejects_notice(disconnected: bool, refuted: bool, since_ms: u32) -> bool {
    ffi::segue_shim_rejects_notice(disconnected.into(), refuted.into(), since_ms) != 0
}

/// Whether a notice makes no flow look for more than it reports, because another one came `since_ms` ago.
pub fn notified_lately(disconnected: bool, notified: bool, since_ms: u32) -> bool {
    ffi::segue_shim_notified_lately(disconnected.into(), notified.into(), since_ms) != 0
}

/// Whether so many packets lost and arrived since the trial began refute the grant.
pub fn trial_fails(lost: u32, arrived: u32, allowed: u32) -> bool {
    ffi::segue_shim_trial_fails(lost, arrived, allowed) != 0
}

/// The window after a failure: half of the packets that arrived in a round trip.
pub fn delivered_window(arrived: u32, srtt_us: u32, took_us: u32) -> u32 {
    ffi::segue_shim_delivered_window(arrived, srtt_us, took_us)
}

/// The same after a raise without an outage: no more than cwnd `before` it.
pub fn refuted_window(delivered: u32, before: u32) -> u32 {
    ffi::segue_shim_refuted_window(delivered, before)
}

/// The bound of later grants after a success; 0: none is known.
pub fn proven_twice(proven: u32) -> u32 {
    ffi::segue_shim_proven_twice(proven)
}

/// Whether twice the reported rate arrives.
pub fn rate_check_fails(delivered: u32, mss: u32, interval_us: u32, kbps: u32) -> bool {
    ffi::segue_shim_rate_check_fails(delivered, mss, interval_us, kbps) != 0
}

/// The ssthresh that a cut leaves.
pub fn kept_window(before: u32, cut: u32, prior_cwnd: u32, on_trial: bool) -> u32 {
    ffi::segue_shim_kept_window(before, cut, prior_cwnd, on_trial.into())
}

/// Whether the losses that a timeout marks refute nothing; `arrived`: since the trial began.
pub fn timeout_proves_nothing(arrived: u32, claim: bool) -> bool {
    ffi::segue_shim_timeout_proves_nothing(arrived, claim.into()) != 0
}

/// Whether cubic is to see no slow start: in a recovery while a grant is guarded.
pub fn hides_slow_start(guard_rounds: u32, recovers: bool) -> bool {
    ffi::segue_shim_hides_slow_start(guard_rounds, recovers.into()) != 0
}

/// The window that an undo gives back while a grant is guarded.
pub fn undone_window(window: u32, guard: u32, cwnd: u32) -> u32 {
    ffi::segue_shim_undone_window(window, guard, cwnd)
}

/// The part of the delay that lies beyond the access link; one way, us.
pub fn delay_beyond_us(min_rtt_us: u32, srtt_us: u32, old_link: &Link) -> u32 {
    ffi::segue_shim_delay_beyond_us(min_rtt_us, srtt_us, old_link)
}

/// A notice about the link as one about the path.
pub fn of_path(notice: &Notice, beyond_us: u32) -> Notice {
    let mut of_path = *notice;
    ffi::segue_shim_add_delay_beyond(&mut of_path, beyond_us);
    of_path
}

/// After an outage no more leaves at once than the link's own window, 1/256 packet.
pub fn fit_into_queue(link_window: u32, tcp: &Sender, asked: Action) -> Action {
    let mut act = asked;
    ffi::segue_shim_fit_into_queue(link_window, tcp, &mut act);
    act
}
