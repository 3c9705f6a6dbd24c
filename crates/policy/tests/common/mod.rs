//! Links as the papers write them, and a sender in the middle of a transfer.
#![allow(dead_code)] // each test file uses a part

pub mod near_vectors;
pub mod vectors;

use segue_policy::{Action, Etcp, Link, Notice, PACKET, Path, Sender, Settings, What};

/// Half of the second decimal that is printed, and half a 1/256 packet.
pub const PRINTED: f64 = 0.005 + 1.0 / 512.0;

/// "6400/9": kbit/s and ms.
pub fn link(text: &str) -> Link {
    let (rate, delay) = text.split_once('/').expect("rate/delay");
    Link { rate_kbps: rate.parse().expect("kbit/s"), delay_us: delay.parse::<u32>().expect("ms") * 1000 }
}

/// A make-before-break handoff of one flow.
pub fn mbb(old: &str, new: &str) -> Notice {
    Notice { old_link: link(old), new_link: link(new), flows: 1, disconnected: 0 }
}

pub fn bbm(old: &str, new: &str) -> Notice {
    Notice { disconnected: 1, ..mbb(old, new) }
}

pub fn with_flows(notice: Notice, flows: u32) -> Notice {
    Notice { flows, ..notice }
}

pub fn scheme(name: &str) -> Settings {
    Settings::scheme(name).expect("a scheme")
}

pub fn set(name: &str, knob: &str, value: &str) -> Settings {
    let mut settings = scheme(name);
    settings.set(knob, value).expect("a knob");
    settings
}

pub fn path(old: &str, new: &str) -> Path {
    Path::new(&scheme("etcp"), &mbb(old, new))
}

/// 100 to 100 + flight are under way; cwnd = flight; RTO 200 ms.
pub fn sender(flight: u32) -> Sender {
    Sender {
        snd_una: 100,
        snd_max: 100 + flight,
        flight,
        cwnd: packets(flight),
        ssthresh: packets(1000),
        rto_us: 200_000,
        ..Sender::default()
    }
}

pub fn in_fast_recovery(tcp: Sender) -> Sender {
    Sender { in_fast_recovery: 1, ..tcp }
}

pub fn in_rto(tcp: Sender) -> Sender {
    Sender { in_rto_recovery: 1, ..tcp }
}

pub fn packets(count: u32) -> u32 {
    count * PACKET
}

pub fn acked_to(tcp: Sender, snd_una: u32) -> Sender {
    Sender { snd_una, ..tcp }
}

/// A window in packets.
pub fn in_packets(window: u32) -> f64 {
    f64::from(window) / f64::from(PACKET)
}

pub fn close(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value} is not {expected} +- {tolerance}");
}

/// The answer to a notice, and the flow that has heard it.
pub fn hear(settings: &Settings, tcp: &Sender, notice: &Notice) -> (Action, Etcp) {
    let mut flow = Etcp::default();
    let act = flow.on_notice(settings, tcp, notice);
    (act, flow)
}

/// cwnd = ssthresh = W in packets, or None.
pub fn reduced_to(act: &Action) -> Option<f64> {
    if !act.has(What::SET_CWND | What::SET_SSTHRESH) {
        return None;
    }
    assert_eq!(act.cwnd, act.ssthresh);
    Some(in_packets(act.cwnd))
}

/// A1's minrto in ms, or None.
pub fn min_rto_ms(act: &Action) -> Option<f64> {
    act.has(What::SET_MIN_RTO).then(|| f64::from(act.min_rto_us) / 1000.0)
}
