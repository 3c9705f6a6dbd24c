//! `careful-resume` (algorithms.md, 11.3): vector 52, the examples of RFC 9959, and its conditions, by hand.

use crate::line::{Line, MS};
use segue_handoff::{Link, Notice, Scheme};
use segue_tcp::advice::{KernelView, Pace};
use segue_tcp::{Advice, Advisor, View};

const PACKET: u32 = 256;
const OLD: Link = Link { rate_kbps: 50_000, delay_us: 10_000 };
/// 36 Mbit/s, and a round trip of 100 ms with the third of one that a packet takes: a BDP of 300 packets.
const NEW: Link = Link { rate_kbps: 36_000, delay_us: 49_834 };

/// As the sender stands `ms` after the notice.
fn view(ms: u64, kernel: impl FnOnce(&mut KernelView)) -> View {
    let mut tp = KernelView {
        now: ms * MS,
        rttvar_us: 200_000,
        high_seq: 1_000,
        most_room: 10_000,
        delivered: 1_000,
        min_rtt_us: 20_000,
        ..crate::line::unused()
    };
    kernel(&mut tp);
    View {
        snd_una: 1_000,
        snd_max: 1_000 + tp.path_delivered + tp.in_flight,
        flight: tp.in_flight,
        transmissions: 1_000,
        mss: 1448,
        cwnd: tp.cwnd * PACKET,
        ssthresh: u32::MAX,
        rto: 1_000 * MS,
        srtt: 100 * MS,
        ssthresh_saved: 0,
        srtt_before: 0,
        timeouts_since_ack: 0,
        in_fast_recovery: false,
        in_rto_recovery: false,
        kernel: Some(tp),
    }
}

/// A sender that has been told of the new link.
fn told(settings: &[(&str, &str)]) -> Scheme {
    let settings: Vec<_> = settings.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let mut scheme = Scheme::build("careful-resume", &settings).expect("a scheme");
    let notice = Notice { old_link: OLD, new_link: NEW, flows: 1, disconnected: 1 };
    let advice = scheme.on_notice(&view(0, |_| {}), &notice);
    assert_eq!(advice.kernel.path.map(|path| path.rto), Some(1_000 * MS), "a new connection's");
    scheme
}

/// 29 in flight at the end of Reconnaissance, of 39 that were sent.
fn confirmed(scheme: &mut Scheme, rtt_us: u32) -> Advice {
    scheme.on_ack(&view(200, |tp| {
        (tp.path_delivered, tp.in_flight, tp.cwnd, tp.min_rtt_us) = (10, 29, 29, rtt_us);
    }))
}

/// Then all 150 are out.
fn jumped(settings: &[(&str, &str)]) -> Scheme {
    let mut scheme = told(settings);
    let advice = confirmed(&mut scheme, 100_000);
    assert_eq!((advice.cwnd, advice.kernel.hold_window), (Some(150 * PACKET), Some(true)), "half of 300");
    // 150 packets of 1448 bytes in 100 ms.
    assert_eq!(advice.kernel.pace, Some(Pace::AtMost(150 * 1448 * 10)));
    scheme
}

/// Vector 52 without a loss: 121 packets leave, all 150 arrive, and cwnd stays what was in flight.
#[test]
fn a_jump_that_arrives_is_kept() {
    let mut scheme = jumped(&[]);
    let waits = scheme.on_ack(&view(250, |tp| {
        (tp.path_delivered, tp.in_flight, tp.cwnd) = (20, 79, 150);
    }));
    assert_eq!(waits, Advice::default(), "cwnd is not used up, and half a round trip is over");
    let validates = scheme.on_ack(&view(290, |tp| {
        (tp.path_delivered, tp.in_flight, tp.cwnd) = (21, 149, 150);
    }));
    assert_eq!((validates.cwnd, validates.kernel.hold_window), (Some(149 * PACKET), Some(false)));
    assert_eq!(validates.kernel.pace, Some(Pace::Ends), "the jump alone is paced");
    let arrives = |delivered: u32| view(400, |tp| (tp.path_delivered, tp.in_flight) = (delivered, 30));
    assert_eq!(scheme.on_ack(&arrives(169)), Advice::default());
    assert!(scheme.listening(), "one of 150 is missing: 21 + 149");
    scheme.on_ack(&arrives(170));
    assert!(!scheme.listening(), "Normal");
}

/// A sender that has only 50 packets for the jump: after a round trip cwnd is what is in flight.
#[test]
fn a_jump_that_is_not_used_is_not_kept() {
    let mut scheme = jumped(&[]);
    let later = |ms| view(ms, |tp| (tp.path_delivered, tp.in_flight, tp.cwnd) = (39, 50, 150));
    assert_eq!(scheme.on_ack(&later(300)), Advice::default(), "one round trip, no more");
    assert_eq!(scheme.on_ack(&later(301)).cwnd, Some(50 * PACKET));
    // Nothing more was sent: PipeSize, and normal.
    let mut scheme = jumped(&[]);
    let idle = scheme.on_ack(&view(301, |tp| (tp.path_delivered, tp.in_flight, tp.cwnd) = (34, 5, 150)));
    assert_eq!((idle.cwnd, idle.kernel.hold_window), (Some(29 * PACKET), Some(false)));
    assert!(!scheme.listening());
}

/// Vector 52 with the 35th packet of the jump lost: PipeSize is 63, cwnd 31. At the end PipeSize is 29 + 120, and
/// ssthresh half of it, or the share that is asked for. (RFC 9959's example counts the 120 alone.)
#[test]
fn a_jump_that_fails_retreats() {
    for (beta, ssthresh) in [("0.5", 149 * 128), ("0.7", 149 * 179)] {
        let mut scheme = jumped(&[("retreat-beta", beta)]);
        scheme.on_ack(&view(290, |tp| (tp.path_delivered, tp.in_flight, tp.cwnd) = (10, 150, 150)));
        let lost = view(400, |tp| (tp.path_delivered, tp.in_flight, tp.cwnd) = (73, 86, 150));
        let retreat = scheme.on_fast_retransmit(&lost);
        assert_eq!((retreat.cwnd, retreat.kernel.hold_window), (Some(31 * PACKET), Some(true)));
        // Recovery goes on, cwnd stays.
        let recovers = |una, reduces| View {
            snd_una: una,
            ..view(420, |tp| (tp.path_delivered, tp.reduces) = (159, reduces))
        };
        assert_eq!(scheme.on_ack(&recovers(1_000, true)), Advice::default());
        assert_eq!(scheme.on_ack(&recovers(1_160, true)), Advice::default());
        let over = scheme.on_ack(&recovers(1_160, false));
        assert_eq!((over.ssthresh, over.kernel.hold_window, over.cwnd), (Some(ssthresh), Some(false), None));
        assert!(!scheme.listening());
    }
    // Never below the initial window.
    let mut scheme = jumped(&[]);
    let at_once = view(210, |tp| (tp.path_delivered, tp.in_flight, tp.cwnd) = (11, 100, 150));
    assert_eq!(scheme.on_fast_retransmit(&at_once).cwnd, Some(14 * PACKET), "29 / 2");
}

/// A mark of congestion is a loss. An undo of the loss raises no window before the retreat is over.
#[test]
fn a_mark_is_a_loss_and_a_retreat_is_not_undone() {
    let mut scheme = jumped(&[]);
    let view = view(400, |tp| (tp.path_delivered, tp.in_flight, tp.cwnd) = (73, 86, 31));
    assert_eq!(scheme.on_undo(&view, 150), 150);
    let retreat = scheme.on_mark(&view);
    assert_eq!((retreat.cwnd, retreat.kernel.hold_window), (Some(31 * PACKET), Some(true)));
    assert_eq!(scheme.on_undo(&view, 150), 31);
    // Another mark in the retreat changes nothing; one before the jump ends it.
    assert_eq!(scheme.on_mark(&view), Advice::default());
    let mut scheme = told(&[]);
    assert_eq!(scheme.on_mark(&view), Advice::default());
    assert!(!scheme.listening());
}

/// The memory must fit: more than half of the saved round trip, at most ten of them, four initial windows or more.
#[test]
fn a_memory_that_does_not_fit_is_not_used() {
    for (settings, rtt_us, jumps) in [
        (vec![], 50_001, true),
        (vec![], 50_000, false),
        (vec![], 1_000_010, true),
        (vec![], 1_000_020, false),
        (vec![("saved-rtt", "2")], 100_002, true),
        (vec![("saved-rtt", "2")], 100_001, false),
        (vec![("saved-window", "0.5")], 100_000, true),
        (vec![("saved-window", "0.14")], 100_000, false), // 42 / 2 is no more than 29
        (vec![("saved-window", "0.125")], 100_000, false), // 37: not saved
        (vec![("max-jump", "29")], 100_000, false),
    ] {
        let mut scheme = told(&settings);
        let advice = confirmed(&mut scheme, rtt_us);
        assert_eq!(advice.cwnd.is_some(), jumps, "{settings:?} {rtt_us}");
        assert_eq!(scheme.listening(), jumps);
    }
    assert_eq!(confirmed(&mut told(&[("max-jump", "100")]), 100_000).cwnd, Some(100 * PACKET));
    assert_eq!(confirmed(&mut told(&[("saved-window", "2")]), 100_000).cwnd, Some(300 * PACKET));
    // A loss in Reconnaissance, or a timeout in any phase, ends it.
    let mut scheme = told(&[]);
    scheme.on_ack(&view(150, |tp| (tp.path_delivered, tp.path_lost) = (4, 1)));
    assert!(!scheme.listening());
    let mut scheme = jumped(&[]);
    assert_eq!(scheme.on_timeout(&view(900, |_| {})).kernel.hold_window, Some(false));
    assert!(!scheme.listening());
}

/// On the kernel's sender: ten packets, then slow start until all ten have arrived, then the jump, over a round trip.
#[test]
fn the_sender_jumps_once_the_initial_window_has_arrived() {
    let mut line = Line::new("linux-6.12/reno", "careful-resume", &[], 20 * MS);
    line.drain();
    line.ack(20 * MS, 11, &[], 20 * MS);
    line.ack(20 * MS, line.sender.snd_max(), &[], 20 * MS);
    let mark = line.sender.snd_max();
    line.notice(OLD, NEW, false);
    assert_eq!(line.sender.view().cwnd / PACKET, 10);
    let una = line.una;
    // The rest from the old path arrives, and then the ten.
    line.ack(50 * MS, mark, &[], 70 * MS);
    line.ack(50 * MS, mark + 9, &[], 100 * MS);
    let before = line.sender.view();
    assert!(una < mark && before.cwnd / PACKET < 30, "{before:?}");
    let start = line.now;
    line.ack(0, mark + 10, &[], 100 * MS);
    assert_eq!(line.sender.view().cwnd / PACKET, 150);
    // Paced: a packet each 2/3 ms.
    let left = line.wait(start + 60 * MS);
    assert!((80..=95).contains(&left.len()), "{}", left.len());
}
