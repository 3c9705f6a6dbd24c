//! The functions of `src/shim.c`, and the layouts that both languages share.
#![allow(unsafe_code)]

use crate::replay_window::{CAPABILITY_LENGTH, REPORT_LENGTH, ReplayWindow};
use crate::{Action, Link, Near, Notice, Path, Sender, Settings};

/// `struct segue_report`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct RawReport {
    pub(crate) link: Link,
    pub(crate) nonce: u16,
    pub(crate) seq: u8,
    pub(crate) kind: u8,
}

/// `struct segue_capability`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct RawCapability {
    pub(crate) nonce: u16,
    pub(crate) flags: u8,
    pub(crate) pad: u8,
}

// SAFETY: the signatures are those of src/shim.c. The functions marked safe read and write only what their references
// point to, whose layouts the test below compares with C's. Every value of the integer fields is valid in both
// languages. Nothing is kept.
unsafe extern "C" {
    pub(crate) safe fn segue_shim_window_before(tcp: &Sender) -> u32;
    pub(crate) safe fn segue_shim_believe(
        tcp: &Sender,
        disconnected: u32,
        proven: u32,
        act: &mut Action,
    ) -> u32;

    pub(crate) safe fn segue_shim_was_silent(silence_us: u32, srtt_us: u32, new_link: &Link) -> u32;
    pub(crate) safe fn segue_shim_rto_bound_ms(link: &Link) -> u32;
    pub(crate) safe fn segue_shim_loss_probe_window(window: u32, in_flight: u32) -> u32;
    pub(crate) safe fn segue_shim_window_after_loss_probe(window: u32, guard: u32) -> u32;
    pub(crate) safe fn segue_shim_burst_window(window: u32, most_room: u32) -> u32;
    pub(crate) safe fn segue_shim_trial_allows(packets_out: u32) -> u32;
    pub(crate) safe fn segue_shim_trial_fails(lost: u32, arrived: u32, allowed: u32) -> u32;
    pub(crate) safe fn segue_shim_delivered_window(arrived: u32, srtt_us: u32, took_us: u32) -> u32;
    pub(crate) safe fn segue_shim_refuted_window(delivered: u32, before: u32) -> u32;
    pub(crate) safe fn segue_shim_proven_twice(proven: u32) -> u32;
    pub(crate) safe fn segue_shim_notified_lately(disconnected: u32, notified: u32, since_ms: u32) -> u32;
    pub(crate) safe fn segue_shim_rejects_notice(disconnected: u32, refuted: u32, since_ms: u32) -> u32;
    pub(crate) safe fn segue_shim_rate_check_fails(
        delivered: u32,
        mss: u32,
        interval_us: u32,
        kbps: u32,
    ) -> u32;
    pub(crate) safe fn segue_shim_claim_window(guard: u32) -> u32;
    pub(crate) safe fn segue_shim_window_after_claim(cwnd: u32, guard: u32, competing: u32, more: u32)
    -> u32;
    pub(crate) safe fn segue_shim_payload_rate(kbps: u32, mss: u32) -> u64;
    pub(crate) safe fn segue_shim_kept_window(before: u32, cut: u32, prior_cwnd: u32, on_trial: u32) -> u32;
    pub(crate) safe fn segue_shim_timeout_proves_nothing(arrived: u32, claim: u32) -> u32;
    pub(crate) safe fn segue_shim_hides_slow_start(guard_rounds: u32, recovers: u32) -> u32;
    pub(crate) safe fn segue_shim_undone_window(window: u32, guard: u32, cwnd: u32) -> u32;
    pub(crate) safe fn segue_shim_delay_beyond_us(min_rtt_us: u32, srtt_us: u32, old_link: &Link) -> u32;
    pub(crate) safe fn segue_shim_add_delay_beyond(notice: &mut Notice, beyond_us: u32);
    pub(crate) safe fn segue_shim_fit_into_queue(link_window: u32, tcp: &Sender, act: &mut Action);
    pub(crate) safe fn segue_shim_link_window(set: &Settings, notice: &Notice) -> u32;

    pub(crate) safe fn segue_shim_path(set: &Settings, notice: &Notice, path: &mut Path);
    pub(crate) safe fn segue_shim_old_new_rtt_ns(path: &Path) -> u64;
    pub(crate) safe fn segue_shim_new_rtt_ns(path: &Path) -> u64;
    pub(crate) safe fn segue_shim_old_rtt_ns(path: &Path) -> u64;
    pub(crate) safe fn segue_shim_bdp_unit(path: &Path) -> u64;
    pub(crate) safe fn segue_shim_bdp_new(path: &Path) -> u64;
    pub(crate) safe fn segue_shim_bdp_old(path: &Path) -> u64;
    pub(crate) safe fn segue_shim_bdp_quoted_new(path: &Path) -> u32;
    pub(crate) safe fn segue_shim_window(set: &Settings, path: &Path, flows: u32) -> u32;
    pub(crate) safe fn segue_shim_factor(path: &Path) -> u32;
    pub(crate) safe fn segue_shim_flight_exceeds(path: &Path, flight: u32, factor: u32, flows: u32) -> u32;
    pub(crate) safe fn segue_shim_delay_changed(set: &Settings, path: &Path, clause: u32) -> u32;

    pub(crate) safe fn segue_shim_near_of(
        near: &mut Near,
        notice: &Notice,
        min_rtt_ns: u64,
        packet_bytes: u32,
        ack_bytes: u32,
        own: u32,
    );
    pub(crate) safe fn segue_shim_near_completion(near: &Near, now: u64) -> u64;
    pub(crate) safe fn segue_shim_near_on_old_link(near: &Near, completion: u64, sent: u64) -> u32;
    pub(crate) safe fn segue_shim_near_overflows(near: &Near, free_at: u64, sent: u64) -> u32;
    pub(crate) safe fn segue_shim_near_flight_limit(window: u64, own: u32) -> u64;
    pub(crate) safe fn segue_shim_near_old_arrival(near: &Near, sent: u64, before: u64) -> u64;
    pub(crate) safe fn segue_shim_near_too_late(near: &Near, begins: u64, packets: u32, arrival: u64) -> u32;
    pub(crate) safe fn segue_shim_near_horizon(near: &Near, old_flight: u32) -> u32;
    pub(crate) safe fn segue_shim_near_loss_deadline(near: &Near, arrival: u64) -> u64;
    pub(crate) safe fn segue_shim_near_join_delay_ns(notice: &Notice, ack_bytes: u32, own: u32) -> u64;
    pub(crate) safe fn segue_shim_near_acks_original(near: &Near, elapsed_ns: u64) -> u32;
    pub(crate) safe fn segue_shim_near_queue_of_others(near: &Near, rtt_ns: u64, in_flight: u32) -> u32;
    pub(crate) safe fn segue_shim_near_drain_limit(near: &Near, window: u64, own: u32) -> u64;
    pub(crate) safe fn segue_shim_near_shared_slot_ns(near: &Near) -> u64;
    pub(crate) safe fn segue_shim_near_too_early(near: &Near, sent: u64, arrival: u64) -> u32;
    pub(crate) safe fn segue_shim_near_after_loss(window: u64, own: u32) -> u64;
    pub(crate) safe fn segue_shim_near_after_acks(window: u64, acked: u32, own: u32) -> u64;
    pub(crate) safe fn segue_shim_near_competing_traffic(near: &Near, least_rtt_ns: u64) -> u32;
    pub(crate) safe fn segue_shim_near_set_rtt(near: &mut Near, rtt_ns: u64);
    pub(crate) safe fn segue_shim_near_queued(near: &Near, rtt_ns: u64) -> u32;
    pub(crate) safe fn segue_shim_near_apply_steps(near: &mut Near, told: &Near, steps: u32);
    pub(crate) safe fn segue_shim_near_steps_after_queue(steps: u32) -> u32;
    pub(crate) safe fn segue_shim_near_probe_passes(
        near: &Near,
        packets: u32,
        apart_ns: u64,
        first_ns: u64,
        rtt_ns: u64,
    ) -> u32;
    pub(crate) safe fn segue_shim_near_steps_after_probe(steps: u32) -> u32;
    pub(crate) safe fn segue_shim_near_share(near: &Near, own: u32) -> u32;
    pub(crate) safe fn segue_shim_near_rto_ns(near: &Near, backoff: u32) -> u64;

    pub(crate) safe fn segue_shim_encode_report(report: &RawReport, to: &mut [u8; REPORT_LENGTH]) -> u32;
    pub(crate) safe fn segue_shim_encode_capability(
        capability: &RawCapability,
        to: &mut [u8; CAPABILITY_LENGTH],
    );
    pub(crate) safe fn segue_shim_accept_report(window: &mut ReplayWindow, report: &RawReport) -> u32;
    pub(crate) safe fn segue_shim_encode_rate(rate_kbps: u32) -> u32;
    pub(crate) safe fn segue_shim_decode_rate(code: u32) -> u32;

    fn segue_shim_decode_report(from: *const u8, size: u32, report: &mut RawReport) -> u32;
    fn segue_shim_decode_capability(from: *const u8, size: u32, capability: &mut RawCapability) -> u32;

    #[cfg(test)]
    safe fn segue_shim_default_settings(algorithms: u32, set: &mut Settings);
    #[cfg(test)]
    safe fn segue_shim_default_ho_settings(variant: u32, set: &mut crate::TcpHoSettings);
    #[cfg(test)]
    safe fn segue_shim_layout(index: u32) -> u32;
}

/// No option is longer than that, so that a longer slice has a wrong length anyhow.
fn size(octets: &[u8]) -> u32 {
    u32::try_from(octets.len()).unwrap_or(u32::MAX)
}

pub(crate) fn decode_report(octets: &[u8], report: &mut RawReport) -> u32 {
    // SAFETY: C reads at most `size` octets from a slice that has at least as many.
    unsafe { segue_shim_decode_report(octets.as_ptr(), size(octets), report) }
}

pub(crate) fn decode_capability(octets: &[u8], capability: &mut RawCapability) -> u32 {
    // SAFETY: as above.
    unsafe { segue_shim_decode_capability(octets.as_ptr(), size(octets), capability) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TcpHoSettings;
    use crate::headers::Words;
    use crate::rules::{ETCP_RULES, NEAR_RULES, RLCI_RULES, TCP_HO_RULES};
    use crate::{
        Algorithms, Claim, Etcp, Out, PACKET, SETTINGS, TCP_HO_SETTINGS, TcpHo, Variant, What, grant,
    };
    use std::mem::{offset_of, size_of};

    macro_rules! layout {
        ($type:ty: $($field:ident),*) => {
            [size_of::<$type>(), $(offset_of!($type, $field)),*]
        };
    }

    /// Layouts, bits and numbers, in the order of `layout` in src/shim.c.
    fn rust_layout() -> Vec<usize> {
        let mut all = Vec::new();
        all.extend(layout!(Link: rate_kbps, delay_us));
        all.extend(layout!(Notice: old_link, new_link, flows, disconnected));
        all.extend(layout!(Sender: snd_una, snd_max, flight, cwnd, ssthresh, rto_us,
            ssthresh_saved, srtt_before_us, timeouts_since_ack, in_fast_recovery, in_rto_recovery, notified_lately));
        all.extend(layout!(Action: what, cwnd, ssthresh, min_rto_us, dupthresh, rules));
        all.push(size_of::<Etcp>());
        all.extend(layout!(Path: old_link, new_link, packet_bytes, ack_bytes, whole_packets));
        all.extend(
            layout!(Near: delay_beyond_ns, old_slot_ns, slot_ns, ack_owd_ns, data_owd_ns, old_data_owd_ns, rtt_ns,
            window),
        );
        all.extend(layout!(RawReport: link, nonce, seq, kind));
        all.extend(layout!(RawCapability: nonce, flags));
        all.extend(layout!(ReplayWindow: nonce, last_seq, heard));
        all.extend(layout!(Settings: algorithms));
        all.extend(Settings::offsets());
        all.extend(ETCP_RULES.iter().map(|rule| rule.bit as usize));
        all.extend([size_of::<TcpHo>(), size_of::<Words>()]);
        all.extend(layout!(TcpHoSettings: variant));
        all.extend(TcpHoSettings::offsets());
        all.extend(TCP_HO_RULES.iter().map(|rule| rule.bit as usize));
        all.extend(RLCI_RULES.iter().chain(NEAR_RULES).map(|rule| rule.bit as usize));
        all.extend(
            layout!(Out: snd_una, unit, marked, lost, snd_max, others, others_behind, others_weight, granted, sacks,
            elapsed_ms, rtt_us, sent_us, now_us, sent),
        );
        all.extend(layout!(Claim: extra_packets, withheld_packets, kbps, behind, weight, competing_traffic));
        all.extend(What::NAMES.iter().map(|(flag, _)| flag.0 as usize));
        all.extend([grant::TRIAL_ROUNDS, grant::GUARD_ROUNDS].map(|rounds| rounds as usize));
        all.extend([grant::RATE_CHECK_MS, grant::NOTICES_APART_MS].map(|ms| ms as usize));
        all.extend([Near::PROBE_PACKETS, Near::FLOWS_LIMIT, PACKET].map(|number| number as usize));
        all
    }

    #[test]
    fn layouts_are_those_of_c() {
        let ours = rust_layout();
        let theirs: Vec<usize> = (0..)
            .map(|index| segue_shim_layout(index))
            .take_while(|&value| value != u32::MAX)
            .map(|value| value as usize)
            .collect();
        assert_eq!(ours, theirs);
        assert_eq!(size_of::<Settings>(), 4 * (1 + SETTINGS.len()));
        assert_eq!(size_of::<TcpHoSettings>(), 4 * (1 + TCP_HO_SETTINGS.len()));
    }

    #[test]
    fn defaults_are_those_of_c() {
        let mut theirs = Settings::new(Algorithms::NONE);
        segue_shim_default_settings(Algorithms::ETCP_V.0, &mut theirs);
        assert_eq!(Settings::new(Algorithms::ETCP_V), theirs);
        let mut theirs = TcpHoSettings { guard: 7, ..TcpHoSettings::new(Variant::TCP_HO) };
        segue_shim_default_ho_settings(Variant::AGGRESSIVE.0, &mut theirs);
        assert_eq!(TcpHoSettings::new(Variant::AGGRESSIVE), theirs);
    }
}
