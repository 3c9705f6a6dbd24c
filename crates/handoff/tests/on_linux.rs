//! A sender on Linux: what its programs do with a notice beside asking the policy (bpf/sender/), by hand.

mod claim;

use segue_handoff::{Notice, Scheme};
use segue_policy::Link;
use segue_tcp::advice::{Anew, KernelView};
use segue_tcp::{Advisor, View};

const PACKET: u32 = 256;
const MS: u64 = 1_000_000;
const SLOW: Link = Link { rate_kbps: 200, delay_us: 300_000 };
const FAST: Link = Link { rate_kbps: 6400, delay_us: 9_000 };

fn scheme(enact: &str) -> Scheme {
    Scheme::build("etcp-v1", &[("enact".into(), enact.into())]).expect("a scheme")
}

/// After an outage from the slow to the fast link.
fn notice() -> Notice {
    Notice { old_link: SLOW, new_link: FAST, flows: 1, disconnected: 1 }
}

/// In RTO recovery: 20 packets out, all lost, the first sent again; ssthresh was 10 after the cut. The path is 7.6 ms
/// longer than the slow link's 662.4 ms.
fn timed_out() -> View {
    View {
        snd_una: 100,
        snd_max: 120,
        flight: 20,
        transmissions: 121,
        mss: 1448,
        cwnd: PACKET,
        ssthresh: 10 * PACKET,
        rto: 1_000 * MS,
        srtt: 700 * MS,
        ssthresh_saved: 10 * PACKET,
        srtt_before: 700 * MS,
        timeouts_since_ack: 1,
        in_fast_recovery: false,
        in_rto_recovery: true,
        kernel: Some(KernelView {
            now: 5_000 * MS,
            is_calm: false,
            rttvar_us: 2_000_000,
            quiet_since: 3_000 * MS,
            cwnd: 1,
            ssthresh: 10,
            in_flight: 1,
            marked: 20,
            high_seq: 120,
            most_room: 10_001,
            delivered: 1_000,
            lost: 20,
            min_rtt_us: 670_000,
            ..crate::line::unused()
        }),
    }
}

fn with(view: &View, change: impl FnOnce(&mut KernelView)) -> View {
    let mut kernel = view.kernel.expect("a kernel's");
    change(&mut kernel);
    View { kernel: Some(kernel), ..*view }
}

/// The flow is open again, `rounds` windows of 20 packets later.
fn open(rounds: u32) -> View {
    let from = 120 + 20 * rounds;
    let view = View { snd_una: from, snd_max: from + 20, in_rto_recovery: false, ..timed_out() };
    with(&View { timeouts_since_ack: 0, ssthresh_saved: 0, ..view }, |tp| {
        tp.delivered += 20 * rounds;
    })
}

/// Figures 1 and 2: cwnd and ssthresh are the path's BDP. That is (2 (9 + 3.8) ms 6400 kbit/s + 1540 bytes) / 1500 = 14.7 packets. But no
/// more leaves at once than the link's 10.6, rounded 11, and ssthresh is no more than that or what the flow had.
#[test]
fn an_outage_resumes_no_more_than_the_link_takes() {
    let mut sender = scheme("linux");
    let advice = sender.on_notice(&timed_out(), &notice());
    assert_eq!((advice.cwnd, advice.ssthresh), (Some(11 * PACKET), Some(11 * PACKET)));
    assert!(!advice.retransmit_head && !advice.rearm_timer && sender.watching());
    // A flow that had more goes back to what the path holds.
    let had_more = View { ssthresh_saved: 90 * PACKET, ..timed_out() };
    assert_eq!(scheme("linux").on_notice(&had_more, &notice()).ssthresh, Some(15 * PACKET));
    // Nobody does that on paper, nor where a stack tells nothing of the kind.
    assert!(scheme("paper").on_notice(&timed_out(), &notice()).retransmit_head);
    let mut without = scheme("linux");
    without.on_notice(&View { kernel: None, ..timed_out() }, &notice());
    assert!(!without.watching());
}

/// The outage is over before the timer expires, and 60 packets count as under way: more than is granted. Two leave beyond
/// the 60, and the next ACK brings the granted window. The cut for the losses that RACK then finds is not the policy's.
#[test]
fn before_any_timeout_packets_ask_what_was_lost() {
    let falls = Notice { old_link: FAST, new_link: SLOW, flows: 1, disconnected: 1 };
    let silent = View {
        snd_max: 160,
        flight: 60,
        cwnd: 60 * PACKET,
        ssthresh: 90 * PACKET,
        timeouts_since_ack: 0,
        in_rto_recovery: false,
        ..timed_out()
    };
    let silent = with(&silent, |tp| (tp.cwnd, tp.ssthresh, tp.in_flight, tp.marked) = (60, 90, 60, 0));
    // With few packets under way the window asks by itself.
    let few = with(&silent, |tp| tp.in_flight = 2);
    let granted = scheme("linux").on_notice(&few, &falls).cwnd.expect("a window");
    assert!(granted < 60 * PACKET, "{granted}");
    let mut sender = scheme("linux");
    let advice = sender.on_notice(&silent, &falls);
    assert_eq!((advice.cwnd, advice.retransmit_head), (Some(62 * PACKET), false));
    assert!(sender.watching());
    let later = with(&View { cwnd: 62 * PACKET, ..silent }, |tp| tp.cwnd = 62);
    assert_eq!(sender.on_ack(&later).cwnd, Some(granted));
    assert!(sender.on_fast_retransmit(&later).keep_window);
    // Once: in the recovery it is over.
    let recovering = View { in_fast_recovery: true, ..later };
    assert_eq!(sender.on_ack(&recovering).cwnd, None);
    // Without an outage nothing was lost.
    let seamless = Notice { disconnected: 0, ..falls };
    assert_eq!(scheme("linux").on_notice(&silent, &seamless).cwnd, Some(granted));
}

/// 20 packets were out, and ten more may be lost, and half of what arrives. In 0.7 s and none arrived: five.
#[test]
fn a_trial_that_fails_leaves_what_was_found() {
    let lost = |more: u32, arrived: u32| {
        let mut sender = scheme("linux");
        sender.on_notice(&timed_out(), &notice());
        let later = with(&timed_out(), |tp| {
            tp.now += 700 * MS;
            tp.lost += more;
            tp.delivered += arrived;
            tp.cwnd = 40;
            tp.ssthresh = 40;
        });
        (sender.on_ack(&later), sender)
    };
    assert_eq!(lost(30, 0).0.kernel.anew, None);
    assert_eq!(lost(40, 20).0.kernel.anew, None);
    let (failed, mut sender) = lost(31, 0);
    assert_eq!(failed.kernel.anew, Some(Anew::Retreat { found: 5, before: None }));
    assert_eq!((failed.cwnd, failed.ssthresh), (Some(5 * PACKET), Some(5 * PACKET)));
    // A round trip of 0.7 s brought 60: half of them.
    assert_eq!(lost(100, 60).0.kernel.anew, Some(Anew::Retreat { found: 30, before: None }));
    // Later notices grant no more; a trial that succeeds, after three round trips, doubles it.
    assert_eq!(sender.on_notice(&timed_out(), &notice()).ssthresh, Some(5 * PACKET));
    for rounds in 0..3 {
        sender.on_ack(&open(rounds));
    }
    assert_eq!(sender.on_notice(&timed_out(), &notice()).ssthresh, Some(10 * PACKET));
}

/// The timer is the old path's. It expires before anything has arrived, and marks 64 packets as lost.
#[test]
fn an_early_timeout_refutes_nothing() {
    for (arrived, anew) in [(0, None), (1, Some(Anew::Retreat { found: 5, before: None }))] {
        let mut sender = scheme("linux");
        sender.on_notice(&timed_out(), &notice());
        let marked =
            with(&timed_out(), |tp| (tp.lost, tp.delivered) = (tp.lost + 64, tp.delivered + arrived));
        sender.on_cut(&marked);
        assert_eq!(sender.on_ack(&marked).kernel.anew, anew, "{arrived}");
        // Later losses count: more than 20 and 10.
        let more = with(&marked, |tp| tp.lost += 31);
        assert_eq!(sender.on_ack(&more).kernel.anew.is_some(), anew.is_none(), "{arrived}");
    }
}

/// For three round trips the kernel's undo gives back no more than was found, and no ssthresh either.
#[test]
fn an_undo_is_guarded() {
    let mut sender = scheme("linux");
    sender.on_notice(&timed_out(), &notice());
    sender.on_ack(&with(&timed_out(), |tp| tp.lost += 31));
    assert_eq!(sender.on_undo(&timed_out(), 40), 5);
    for rounds in 0..3 {
        let raised = with(&open(rounds), |tp| tp.ssthresh = 40);
        assert_eq!(sender.on_undo(&raised, 40), 5, "{rounds}");
        assert_eq!(sender.on_ack(&raised).ssthresh, Some(5 * PACKET), "{rounds}");
    }
    assert_eq!(sender.on_undo(&open(3), 40), 40);
}

/// The ACK that brings a notice may also show the kernel that its timeouts were needless. Packets that count as under
/// way again are lost: as much more may leave as was granted.
#[test]
fn a_notice_on_an_ack_that_undoes_lets_new_packets_out() {
    let mut sender = scheme("linux");
    assert!(sender.pend(&timed_out(), &notice()) && sender.pending() == Some(notice()));
    let advice = sender.on_ack(&timed_out());
    assert_eq!((advice.cwnd, sender.pending()), (Some(11 * PACKET), None));
    let undone = with(&timed_out(), |tp| (tp.cwnd, tp.in_flight) = (2, 20));
    assert_eq!(sender.on_undo(&undone, 20), 20 + 11);
    let later = with(&undone, |tp| tp.now += 1);
    assert_eq!(sender.on_undo(&later, 20), 11, "guarded");
    assert_eq!(sender.on_open(&later), None, "it came with a segment");
    // Told outside any segment it waits for the undo.
    let mut sender = scheme("linux");
    sender.on_notice(&timed_out(), &notice());
    assert_eq!(sender.on_open(&undone), Some(20 + 11));
    assert_eq!(sender.on_open(&undone), None);
    assert!(!scheme("paper").pend(&timed_out(), &notice()));
}

/// During its trial a grant is kept whole, which is 11; afterwards no more than the window in use.
#[test]
fn a_cut_keeps_what_is_in_use() {
    let mut sender = scheme("linux");
    assert_eq!(sender.kept(100, 14, 20), 20);
    sender.on_notice(&timed_out(), &notice());
    assert_eq!(sender.kept(100, 7, 8), 11);
    for rounds in 0..3 {
        sender.on_ack(&open(rounds));
    }
    assert_eq!(sender.kept(11, 7, 8), 8);
    assert_eq!(scheme("paper").kept(100, 14, 20), 100);
}

/// Within ten seconds, twice the rate of the notice arrives: slow start probes the path.
#[test]
fn a_rate_that_is_too_small_fails_its_check() {
    let told = Notice { old_link: FAST, new_link: SLOW, flows: 1, disconnected: 0 };
    // Figure 1: 24 packets are more than twice the new link's BDP, 11. Nothing lies beyond the old one's 19.95 ms.
    let view = with(&View { flight: 24, ..open(0) }, |tp| {
        (tp.cwnd, tp.ssthresh, tp.min_rtt_us) = (40, 40, 19_950);
    });
    let view = View { cwnd: 40 * PACKET, ssthresh: 40 * PACKET, ..view };
    let after = |seconds: u64, delivered: u32| {
        let mut sender = scheme("linux");
        let advice = sender.on_notice(&view, &told);
        assert!(matches!(advice.kernel.anew, Some(Anew::WindowSet { kbps: 200 })), "{advice:?}");
        for rounds in 1..=4 {
            sender.on_ack(&open(rounds));
        }
        let fast = with(&open(5), |tp| {
            tp.now += seconds * 1_000 * MS;
            (tp.rate_delivered, tp.rate_interval_us) = (delivered, 1_000_000);
        });
        sender.on_ack(&fast).ssthresh
    };
    // 36 packets of 1448 bytes a second are 417 kbit/s, 34 are 394.
    assert_eq!(after(1, 36), Some(u32::MAX));
    assert_eq!(after(1, 34), None);
    assert_eq!(after(11, 36), None);
}

/// Reports of too low a rate, time and again: the rate is looked at once in ten seconds.
#[test]
fn a_second_notice_without_an_outage_has_no_rate_check() {
    let told = Notice { old_link: FAST, new_link: SLOW, flows: 1, disconnected: 0 };
    let ssthresh_after = |apart_s: u64| {
        let mut sender = scheme("linux");
        let later = |rounds, seconds: u64| with(&open(rounds), |tp| tp.now += seconds * 1_000 * MS);
        for seconds in [0, apart_s] {
            let view = with(&View { flight: 24, ..later(0, seconds) }, |tp| {
                (tp.cwnd, tp.ssthresh, tp.min_rtt_us, tp.quiet_since) = (40, 40, 19_950, tp.now);
            });
            let view = View { cwnd: 40 * PACKET, ssthresh: 40 * PACKET, ..view };
            assert!(sender.pend(&view, &told));
            sender.on_ack(&view);
        }
        for rounds in 1..=4 {
            sender.on_ack(&later(rounds, apart_s));
        }
        let fast =
            with(&later(5, apart_s + 1), |tp| (tp.rate_delivered, tp.rate_interval_us) = (36, 1_000_000));
        sender.on_ack(&fast).ssthresh
    };
    assert_eq!([9, 10].map(ssthresh_after), [None, Some(u32::MAX)]);
}

/// The option does not say whether there was an outage: silence for longer than the round trips together does. A second
/// notice within a second is none.
#[test]
fn silence_tells_of_an_outage_and_haste_is_refused() {
    let told = |view: &View| {
        let mut sender = scheme("linux");
        // The receiver's word does not count.
        sender.pend(view, &Notice { disconnected: 1, ..notice() });
        (sender.on_ack(view), sender)
    };
    let just_heard = with(&timed_out(), |tp| tp.quiet_since = tp.now - 700 * MS);
    assert!(
        told(&just_heard).0.cwnd.is_none_or(|cwnd| cwnd <= 2 * PACKET),
        "no outage, no more than there was"
    );
    let (advice, mut sender) = told(&timed_out());
    assert_eq!(advice.cwnd, Some(11 * PACKET));
    for (ms, answered) in [(999, false), (1_000, true)] {
        let later = with(&timed_out(), |tp| tp.now += ms * MS);
        sender.pend(&later, &notice());
        assert_eq!(sender.on_ack(&later).kernel.anew.is_some(), answered, "{ms}");
    }
}

/// From 6.15 on. The bound of the fast link is a second. It waits until no timeout counts any more, or an undo. It ends
/// with the next timeout, or once SRTT and deviation are below it and the trial is over.
#[test]
fn the_rto_is_bounded_after_an_outage() {
    let settable = |view: &View, calm: bool| with(view, |tp| (tp.has_rto_max, tp.is_calm) = (true, calm));
    let told = |view: &View| {
        let mut sender = scheme("linux");
        sender.on_notice(view, &notice());
        sender
    };
    let mut old = told(&timed_out());
    old.on_ack(&with(&open(0), |tp| tp.is_calm = true));
    assert_eq!(old.rto_bound_ms(), None, "Linux 6.12 has no such option");

    let mut sender = told(&settable(&timed_out(), false));
    sender.on_ack(&settable(&timed_out(), false));
    assert_eq!(sender.rto_bound_ms(), None, "the kernel would give up sooner");
    sender.on_ack(&settable(&open(0), true));
    assert_eq!(sender.rto_bound_ms(), Some(1_000));
    for rounds in 1..4 {
        sender.on_ack(&settable(&open(rounds), true));
        assert_eq!(sender.rto_bound_ms(), Some(1_000), "the estimate is 2.7 s");
    }
    sender.on_ack(&with(&settable(&open(4), true), |tp| tp.rttvar_us = 300_000));
    assert_eq!(sender.rto_bound_ms(), None, "0.7 s and 0.3 s are no more than the bound");

    let mut undone = told(&settable(&timed_out(), false));
    undone.on_undo(&settable(&timed_out(), false), 20);
    assert_eq!(undone.rto_bound_ms(), Some(1_000));
    undone.on_loss();
    assert_eq!(undone.rto_bound_ms(), None);
}

/// In each of the guard's rounds, but in recoveries alone. Later recoveries are the kernel's own.
#[test]
fn hystart_waits_for_the_recovery() {
    let mut sender = scheme("linux");
    assert!(!sender.hides_slow_start(true), "no notice has come");
    sender.on_notice(&timed_out(), &notice());
    for round in 0..3 {
        assert!(sender.hides_slow_start(true) && !sender.hides_slow_start(false), "{round}");
        sender.on_ack(&open(round));
    }
    assert!(!sender.hides_slow_start(true));
}
