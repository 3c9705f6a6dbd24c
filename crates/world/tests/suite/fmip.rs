//! A download during a fast handover (algorithms.md, 5; RFC 5568): who holds what, what becomes of lost signalling,
//! and that packets are conserved.

use crate::support::{MS, scheme, scheme_with};
use proptest::prelude::*;
use segue_handoff::Scheme;
use segue_handoff::fmipv6::Mode;
use segue_netsim::{Nanos, SECOND};
use segue_tcp::StackProfile;
use segue_tcp::profile::{INET_RENO, PROFILES, RFC};
use segue_world::fmip::{Download, DownloadRecord, Loss};

fn download(disconnection: Nanos) -> Download {
    Download { disconnection, ..Download::new(INET_RENO) }
}

fn exact() -> Scheme {
    scheme_with("hn", &[("encoding", "exact")])
}

/// Every packet that left has come, is lost for a reason, or is still somewhere.
fn conserved(record: &DownloadRecord) -> Result<(), String> {
    let sent = record.sent.len() as u32;
    let found = [record.arrived, record.lost, record.overflowed, record.under_way];
    match found.iter().sum::<u32>() == sent {
        true => Ok(()),
        false => Err(format!("{sent} sent; arrived, lost, overflowed, under way: {found:?}")),
    }
}

fn names(record: &DownloadRecord) -> Vec<&'static str> {
    record.signals.iter().map(|signal| signal.message).collect()
}

#[test]
fn the_handover_is_predictive_and_loses_nothing() {
    let e = download(500 * MS);
    let record = e.run(&exact());
    let way = record.mobile;
    assert_eq!(way.mode, Some(Mode::Predictive));
    let expected =
        ["RtSolPr", "PrRtAdv", "FBU", "HI", "HAck", "FBack", "FBack", "UNA", "BU", "FBack", "BAck"];
    assert_eq!(names(&record), expected);
    assert!(record.signals.iter().all(|signal| signal.arrived.is_some_and(|at| at > signal.sent)));
    let ways = ["PrRtAdv", "HI", "UNA", "BAck"].map(|name| {
        let signal = record.signals.iter().find(|signal| signal.message == name).unwrap();
        format!("{}-{}", signal.from.name(), signal.to.name())
    });
    assert_eq!(ways, ["PAR-MN", "PAR-NAR", "MN-NAR", "HA-MN"]);
    let states: Vec<_> = record.states.iter().map(|(_, state)| state.name()).collect();
    assert_eq!(states, ["HANDOFF", "NORMAL"]);
    assert_eq!(record.sent_in_handoff().count() as u32, record.injected);
    let (hint, left, attached) = (record.hint.unwrap(), way.left.unwrap(), way.attached.unwrap());
    // RtSolPr, PrRtAdv, FBU and FBack over c, HI and HAck over t: 4 * 5 ms + 2 * about 5 ms, within the lead of 100 ms.
    assert!(left - hint > 4 * 5 * MS && left - hint < 60 * MS, "{}", left - hint);
    assert_eq!(attached - left, 500 * MS);
    assert_eq!((record.lost, record.overflowed), (0, 0));
    assert!(record.finished.is_some());
    conserved(&record).unwrap();
}

/// Nothing is on its way to a mobile node without a handover: no signalling, no announcement.
#[test]
fn without_a_hint_nothing_happens() {
    let still = Download { hint: None, ..download(500 * MS) };
    let (hn, reno) = (still.run(&exact()), still.run(&scheme("reno")));
    assert_eq!(hn, reno);
    assert!(hn.signals.is_empty() && hn.finished.is_some());
}

/// Eq. 2: from HO Start, which leaves with the grant, to HO Finish, which leaves with UNA.
#[test]
fn fmip_eq2() {
    let record = download(500 * MS).run(&exact());
    let way = record.mobile;
    let (started, finished) = (way.started.unwrap(), way.finished.unwrap());
    assert_eq!(way.handoff_delay(), Some(finished - started));
    let una = record.signals.iter().find(|signal| signal.message == "UNA").unwrap().sent;
    assert_eq!((finished, way.attached), (una, Some(una)));
    assert!(started > record.hint.unwrap() && started < way.left.unwrap());
}

/// Eq. 3: what the flow would have sent, from the download that no handover disturbs; a buffer below it is the limit.
#[test]
fn fmip_eq3() {
    let e = Download { buffer: 100_000, ..download(1500 * MS) };
    let record = e.run(&exact());
    let way = record.mobile;
    let still = Download { hint: None, ..e.clone() }.run(&exact());
    let integral = still.sent_between(&e, way.started.unwrap(), way.finished.unwrap());
    assert!(integral > e.buffer, "{integral}");
    let injected = u64::from(record.injected) * u64::from(e.stack.mss);
    // As many whole segments as fit.
    assert_eq!(injected, e.buffer / 1024 * 1024);
}

/// Eq. 4: with a window of bandwidth times RTT the wireless link is full; with the paper's 64 segments it is not.
#[test]
fn fmip_eq4() {
    let throughput = |window: u32| {
        let stack = StackProfile { receive_window: window, window_scale: 7, initial_ssthresh: window, ..RFC };
        let e = Download { stack, hint: None, bytes: 20_000_000, shape: 300, ..download(0) };
        let record = e.run(&scheme("reno"));
        let half = |share: usize| record.received[record.received.len() * share / 20].0;
        let bytes = record.received.len() as f64 / 2.0 * f64::from(e.stack.mss);
        bytes * 8.0 * 1e9 / (half(18) - half(8)) as f64
    };
    // 24 Mbit/s * 0.33 s / 1500 bytes = 660 packets, and what delays that vary take more.
    let rate = 24e6 * f64::from(RFC.mss) / 1500.0;
    assert!(throughput(900) > 0.95 * rate, "{}", throughput(900));
    assert!(throughput(64) < 0.15 * rate, "{}", throughput(64));
}

#[test]
fn fmip_window() {
    assert_eq!(INET_RENO.mss, 1024);
    assert_eq!(INET_RENO.receive_window * u32::from(INET_RENO.mss), 65_536);
}

/// The largest shift (RFC 7323, 2.3) makes a window of 2^30 bytes of the largest field, but for the last.
#[test]
fn fmip_wscale() {
    let largest = u64::from(u16::MAX) << segue_tcp::wire::MAX_WINDOW_SCALE;
    assert_eq!(largest + (1 << segue_tcp::wire::MAX_WINDOW_SCALE), 1 << 30);
}

/// Each message lost once, and for ever: the download is done all the same, and packets are conserved.
#[test]
fn lost_signalling_never_stops_a_download() {
    let all = ["RtSolPr", "PrRtAdv", "FBU", "HI", "HAck", "FBack", "UNA", "BU", "BAck"];
    let cases = all.iter().flat_map(|&message| [1, 2, u32::MAX].map(|first| vec![Loss { message, first }]));
    let everything = all.map(|message| Loss { message, first: u32::MAX }).to_vec();
    for losses in cases.chain([everything]) {
        for name in ["reno", "hn"] {
            let e = Download { losses: losses.clone(), ..download(500 * MS) };
            let record = e.run(&scheme(name));
            assert!(conserved(&record).is_ok(), "{losses:?}: {:?}", conserved(&record));
            // Where no Binding Update ever comes, PAR's tunnel is the only way; without it nothing comes for ever.
            let cut_off = losses.len() > 1 || losses[0] == Loss { message: "BU", first: u32::MAX };
            let tunnelled = losses.len() == 1;
            assert!(record.finished.is_some() || (cut_off && !tunnelled), "{name}, {losses:?}");
        }
    }
}

/// RFC 5568, 3.3: what a lost message makes of the handover.
#[test]
fn modes() {
    let mode = |message, first| {
        let e = Download { losses: vec![Loss { message, first }], ..download(500 * MS) };
        let record = e.run(&exact());
        (record.mobile.mode.unwrap(), record.mobile.started.is_some(), record.lost > 0)
    };
    // Not repeated within the lead of 100 ms, or only just.
    assert_eq!(mode("RtSolPr", 1), (Mode::Unassisted, false, true));
    assert_eq!(mode("PrRtAdv", 1), (Mode::Unassisted, false, true));
    assert_eq!(mode("FBU", 1), (Mode::Reactive, true, true));
    // HI goes again 20 ms after the link has gone: what comes in between is lost, if anything does.
    let (reactive, started, _) = mode("HI", 1);
    assert_eq!((reactive, started), (Mode::Reactive, true));
    // PAR forwards already; what it had sent before is still delivered.
    assert_eq!(mode("FBack", 2), (Mode::Reactive, true, false));
    assert_eq!(mode("UNA", u32::MAX), (Mode::Predictive, true, false));
    let longer =
        Download { losses: vec![Loss { message: "FBU", first: 1 }], lead: 300 * MS, ..download(500 * MS) };
    assert_eq!(longer.run(&exact()).mobile.mode, Some(Mode::Predictive), "sent again after 100 ms");
}

/// HO Start without Finish: the timer ends it. Finish without Start: nothing.
#[test]
fn a_sender_that_hears_half() {
    let e = download(500 * MS);
    let short = scheme_with("hn", &[("ehd", "10ms")]);
    assert!(e.run(&short).finished.is_some());
    let long = scheme_with("hn", &[("ehd", "300s")]);
    let record = Download { copies: 1, ..e.clone() }.run(&long);
    assert!(record.finished.is_some());
    // A grant that cannot be told: no Start, and a Finish that nobody waits for.
    let tiny = Download { buffer: 900, ..e };
    assert_eq!(tiny.run(&exact()).injected, 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 5))]

    /// Any delays, any buffer, any stack, any loss of signalling. Packets are conserved, nothing beyond the buffer is
    /// sent in a handoff, and equal input gives equal output.
    #[test]
    fn conservation(
        (away, buffer, lead) in (0u64..3000, 1u64..2000, 0u64..300),
        (c, d, t, e) in (1u64..50, 1u64..50, 1u64..50, 1u64..50),
        stack in 0..PROFILES.len(),
        hn: bool,
        (message, first) in (prop::sample::select(vec!["RtSolPr", "PrRtAdv", "FBU", "HI", "HAck", "FBack", "UNA", "BU", "BAck"]), 0u32..3),
        (shape, seed) in (1u32..200, any::<u64>()),
    ) {
        let e = Download {
            lead: lead * MS,
            buffer: buffer * 1000,
            access: [c * MS, d * MS],
            tunnel: t * MS,
            edge: e * MS,
            losses: vec![Loss { message, first }],
            shape,
            seed,
            bytes: 500_000,
            hint: Some(SECOND + seed % SECOND),
            ..Download { disconnection: away * MS, ..Download::new(PROFILES[stack]) }
        };
        let scheme = if hn { exact() } else { scheme("reno") };
        let record = e.run(&scheme);
        prop_assert_eq!(conserved(&record), Ok(()));
        prop_assert!(record.finished.is_some());
        prop_assert!(u64::from(record.injected) * u64::from(e.stack.mss) <= e.buffer);
        prop_assert_eq!(record, e.run(&scheme));
    }
}
