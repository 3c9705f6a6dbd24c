//! `policy/tcp_ho.h`: every transition of algorithms.md 4.3, the units of 4.4, the variants of 4.5, and
//! every knob.

use crate::common::vectors::{HoEvent, HoStep, ho_sender, ho_trial};
use crate::common::{bbm, in_packets, packets, sender};
use proptest::prelude::*;
use segue_policy::rules::TCP_HO_RULES;
use segue_policy::{Action, Link, Notice, Sender, TcpHo, TcpHoSettings, Variant, What};

const TCP_HO: TcpHoSettings = TcpHoSettings::new(Variant::TCP_HO);
const IMMEDIATE: TcpHoSettings = TcpHoSettings::new(Variant::IMMEDIATE);
const AGGRESSIVE: TcpHoSettings = TcpHoSettings::new(Variant::AGGRESSIVE);

/// 4.3: what every variant asks for when it resumes.
fn resume() -> What {
    What::RETRANSMIT_HEAD | What::CLEAR_BACKOFF | What::REARM_TIMER
}

/// Twenty packets outstanding, twice timed out, 200 ms before that.
fn timed_out() -> Sender {
    ho_sender(1)
}

/// To 7 Mbit/s, the paper's WLAN.
fn notice() -> Notice {
    bbm("200/150", "7000/10")
}

fn hear(settings: &TcpHoSettings, tcp: &Sender) -> (Action, TcpHo) {
    let mut flow = TcpHo::default();
    (flow.on_notice(settings, tcp, &notice()), flow)
}

/// The threshold that an action sets, in packets.
fn ssthresh(act: &Action) -> Option<f64> {
    act.has(What::SET_SSTHRESH).then(|| in_packets(act.ssthresh))
}

fn close(found: Option<f64>, expected: f64) {
    let found = found.expect("a threshold");
    assert!((found - expected).abs() <= 1.0 / 256.0, "{found} is not {expected}");
}

/// Names of the rules behind an action, as numbers.
fn told(act: &Action) -> Vec<usize> {
    (0..TCP_HO_RULES.len()).filter(|&index| act.rules & TCP_HO_RULES[index].bit != 0).collect()
}

#[test]
fn a_notice_just_after_a_timeout_begins_ho_adjust() {
    let (act, flow) = hear(&TCP_HO, &timed_out());
    assert_eq!(act.what, resume() | What::SET_SSTHRESH, "cwnd is the timeout's");
    close(ssthresh(&act), 7_000_000.0 * 0.2 / 8.0 / 1500.0);
    assert!(flow.is_adjusting());
    assert_eq!((flow.bandwidth_kbps(), flow.srtt_us()), (7000, 0));
    assert_eq!(told(&act), [0, 1]);
}

/// 4.4: 116.7, 8.33 and 292 segments.
#[test]
fn the_papers_products() {
    for (rate_kbps, ms, expected) in [(7000, 200, 116.667), (200, 500, 8.333), (7000, 500, 291.667)] {
        let tcp = Sender { srtt_before_us: ms * 1000, ..timed_out() };
        let heard = Notice { new_link: Link { rate_kbps, delay_us: 0 }, ..notice() };
        close(ssthresh(&TcpHo::default().on_notice(&TCP_HO, &tcp, &heard)), expected);
    }
}

#[test]
fn samples_adjust_ssthresh_and_the_fourth_is_the_last() {
    let (_, mut flow) = hear(&TCP_HO, &timed_out());
    // 100; 7/8 * 100 + 1/8 * 180 = 110; 7/8 * 110 + 1/8 * 190 = 120; 7/8 * 120 + 1/8 * 40 = 110
    for (ms, average, rules) in
        [(100, 100.0, vec![5]), (180, 110.0, vec![5]), (190, 120.0, vec![5]), (40, 110.0, vec![5, 6])]
    {
        let act = flow.on_rtt_sample(&TCP_HO, ms * 1000);
        assert_eq!(act.what, What::SET_SSTHRESH);
        close(ssthresh(&act), 7000.0 * average / 12_000.0);
        assert_eq!(told(&act), rules);
    }
    assert_eq!((flow.is_adjusting(), flow.bandwidth_kbps()), (false, 0));
    assert_eq!(flow.on_rtt_sample(&TCP_HO, 100_000), Action::NOTHING);
}

#[test]
fn congestion_ends_ho_adjust_and_the_bandwidth_is_forgotten() {
    for event in [TcpHo::on_fast_retransmit, TcpHo::on_timeout] {
        let (_, mut flow) = hear(&TCP_HO, &timed_out());
        flow.on_rtt_sample(&TCP_HO, 100_000);
        let act = event(&mut flow, &TCP_HO, &Sender { cwnd: packets(100), ..timed_out() });
        assert_eq!((act.what, told(&act)), (What::NOTHING, vec![7]), "the stack reacts as ever");
        assert_eq!((flow.is_adjusting(), flow.bandwidth_kbps()), (false, 0));
        assert_eq!(flow.on_rtt_sample(&TCP_HO, 100_000), Action::NOTHING);
        let again = event(&mut flow, &TCP_HO, &timed_out());
        assert_eq!(again, Action::NOTHING, "NORMAL has nothing to end");
    }
}

#[test]
fn a_second_copy_is_ignored_in_ho_adjust_only() {
    let (_, mut flow) = hear(&TCP_HO, &timed_out());
    let before = flow;
    let act = flow.on_notice(&TCP_HO, &timed_out(), &notice());
    assert_eq!((act.what, told(&act), flow), (What::NOTHING, vec![4], before));
    flow.on_timeout(&TCP_HO, &timed_out());
    assert_eq!(flow.on_notice(&TCP_HO, &timed_out(), &notice()), hear(&TCP_HO, &timed_out()).0);
}

/// The average of the second handoff starts anew.
#[test]
fn a_second_handoff_begins_ho_adjust_again() {
    let (_, mut flow) = hear(&TCP_HO, &timed_out());
    for _ in 0..4 {
        flow.on_rtt_sample(&TCP_HO, 500_000);
    }
    let act = flow.on_notice(&TCP_HO, &timed_out(), &notice());
    assert_eq!((told(&act), flow.srtt_us()), (vec![0, 1], 0));
    close(ssthresh(&flow.on_rtt_sample(&TCP_HO, 100_000)), 58.333);
}

#[test]
fn the_guard_wants_a_timeout_since_snd_una_advanced() {
    let tcp = Sender { timeouts_since_ack: 0, ..timed_out() };
    let (act, flow) = hear(&TCP_HO, &tcp);
    assert_eq!((act.what, told(&act), flow), (What::NOTHING, vec![3], TcpHo::default()));
    let (act, flow) = hear(&TcpHoSettings { guard: 0, ..TCP_HO }, &tcp);
    assert_eq!((told(&act), flow.is_adjusting()), (vec![0, 1], true));
}

#[test]
fn an_unknown_old_path_leaves_ssthresh_and_cwnd_alone() {
    let tcp = Sender { srtt_before_us: 0, ..timed_out() };
    for settings in [TCP_HO, AGGRESSIVE] {
        let (act, mut flow) = hear(&settings, &tcp);
        assert_eq!((act.what, told(&act)), (resume(), vec![0]));
        close(ssthresh(&flow.on_rtt_sample(&settings, 200_000)), 116.667);
    }
}

#[test]
fn immediate_never_touches_ssthresh() {
    let (act, mut flow) = hear(&IMMEDIATE, &timed_out());
    assert_eq!((act.what, told(&act)), (resume(), vec![0]));
    assert_eq!(told(&flow.on_notice(&IMMEDIATE, &timed_out(), &notice())), [4]);
    for _ in 0..3 {
        assert_eq!(flow.on_rtt_sample(&IMMEDIATE, 100_000), Action::NOTHING);
    }
    let act = flow.on_rtt_sample(&IMMEDIATE, 100_000);
    assert_eq!((act.what, told(&act), flow.is_adjusting()), (What::NOTHING, vec![6], false));
}

/// Three times timed out, as an outage does.
fn outage() -> Sender {
    Sender { timeouts_since_ack: 3, ..timed_out() }
}

#[test]
fn aggressive_sets_cwnd_once_and_ssthresh_on() {
    let (act, mut flow) = hear(&AGGRESSIVE, &outage());
    assert_eq!(act.what, resume() | What::SET_SSTHRESH | What::SET_CWND);
    assert_eq!((act.cwnd, told(&act)), (act.ssthresh, vec![0, 1, 2]));
    let act = flow.on_rtt_sample(&AGGRESSIVE, 100_000);
    assert_eq!(act.what, What::SET_SSTHRESH);
    close(ssthresh(&act), 58.333);
}

/// One or two expiries may be congestion: there the variant is TCP-HO, but for the rule that says so.
#[test]
fn aggressive_bursts_after_an_outage_only() {
    for timeouts_since_ack in [1, 2] {
        let tcp = Sender { timeouts_since_ack, ..timed_out() };
        let ((act, flow), (plain, plain_flow)) = (hear(&AGGRESSIVE, &tcp), hear(&TCP_HO, &tcp));
        assert_eq!((told(&act), told(&plain)), (vec![0, 1, 8], vec![0, 1]));
        assert_eq!((Action { rules: plain.rules, ..act }, flow), (plain, plain_flow));
        let open = TcpHoSettings { guard: 0, ..AGGRESSIVE };
        assert_eq!(told(&hear(&open, &tcp).0), [0, 1, 2], "without the guard");
    }
    for timeouts_since_ack in [3, 4, u32::MAX] {
        let tcp = Sender { timeouts_since_ack, ..timed_out() };
        assert_eq!(told(&hear(&AGGRESSIVE, &tcp).0), [0, 1, 2]);
    }
}

/// The list that `crates/kernel/tests/vectors.rs` plays in a loaded program.
#[test]
fn a_report_that_congestion_refutes_bounds_those_that_follow() {
    let mut flow = TcpHo::default();
    for (index, HoStep { event, cwnd, ssthresh: expected, rules }) in ho_trial().into_iter().enumerate() {
        let act = happen(&mut flow, &TCP_HO, event, &ho_sender(cwnd));
        assert_eq!(told(&act), rules, "step {index}, {event:?}");
        match expected {
            Some(packets) => close(ssthresh(&act), packets),
            None => assert_eq!(act.what, What::NOTHING, "step {index}"),
        }
    }
}

fn happen(flow: &mut TcpHo, settings: &TcpHoSettings, event: HoEvent, tcp: &Sender) -> Action {
    match event {
        HoEvent::Notice(rate_kbps) => {
            let heard = Notice { new_link: Link { rate_kbps, delay_us: 0 }, ..notice() };
            flow.on_notice(settings, tcp, &heard)
        }
        HoEvent::Sample(us) => flow.on_rtt_sample(settings, us),
        HoEvent::FastRetransmit => flow.on_fast_retransmit(settings, tcp),
        HoEvent::Timeout => flow.on_timeout(settings, tcp),
    }
}

/// Without the trial every report is taken for what it is, and NORMAL has nothing to be told of.
#[test]
fn without_the_trial_every_report_is_believed() {
    let open = TcpHoSettings { trial: 0, ..TCP_HO };
    let mut flow = TcpHo::default();
    for HoStep { event, cwnd, .. } in ho_trial() {
        let act = happen(&mut flow, &open, event, &ho_sender(cwnd));
        assert_eq!(flow.is_listening(), flow.is_adjusting());
        assert!(!told(&act).iter().any(|&rule| rule >= 9), "{act:?}");
        if let HoEvent::Notice(kbps) = event {
            close(ssthresh(&act), f64::from(kbps) / 60.0);
        }
    }
}

/// A path that holds what was told is never bounded, however often it is told: what congests it has a window as large.
#[test]
fn a_report_that_stands_bounds_nothing() {
    let mut flow = TcpHo::default();
    for _ in 0..100 {
        let act = flow.on_notice(&TCP_HO, &timed_out(), &notice());
        close(ssthresh(&act), 116.667);
        flow.on_rtt_sample(&TCP_HO, 200_000);
        flow.on_fast_retransmit(&TCP_HO, &ho_sender(117));
        assert_eq!((flow.found(), flow.is_listening()), (0, false));
    }
}

/// Refuted at 40 packets.
fn refuted(settings: &TcpHoSettings) -> TcpHo {
    let (_, mut flow) = hear(settings, &timed_out());
    flow.on_rtt_sample(settings, 200_000);
    flow.on_timeout(settings, &ho_sender(40));
    assert_eq!(flow.found(), packets(20));
    flow
}

/// The bound that was found is of the path before an outage; the one behind it may be another.
#[test]
fn an_outage_ends_the_bound() {
    let mut flow = refuted(&TCP_HO);
    close(ssthresh(&flow.clone().on_notice(&TCP_HO, &timed_out(), &notice())), 20.0);
    close(ssthresh(&flow.on_notice(&TCP_HO, &outage(), &notice())), 116.667);
    assert_eq!(flow.found(), 0);
}

/// 4.5: a burst obeys the bound; being set, not reached, it proves nothing.
#[test]
fn a_burst_is_bounded_and_proves_nothing() {
    let open = TcpHoSettings { guard: 0, ..AGGRESSIVE };
    for event in [TcpHo::on_fast_retransmit, TcpHo::on_timeout] {
        let mut flow = refuted(&TCP_HO);
        let act = flow.on_notice(&open, &timed_out(), &notice());
        assert_eq!((act.cwnd, told(&act)), (packets(20), vec![0, 1, 2, 10]));
        flow.on_rtt_sample(&open, 200_000);
        event(&mut flow, &open, &ho_sender(20));
        assert_eq!((flow.found(), flow.is_listening()), (packets(20), false));
    }
}

/// The bound neither overflows nor falls below the floor of the thresholds.
#[test]
fn the_bound_stays_within_its_range() {
    let mut flow = TcpHo::default();
    let refute = |flow: &mut TcpHo, kbps| {
        happen(flow, &TCP_HO, HoEvent::Notice(kbps), &timed_out());
        flow.on_rtt_sample(&TCP_HO, 200_000);
        flow.on_timeout(&TCP_HO, &timed_out());
    };
    refute(&mut flow, u32::MAX);
    assert_eq!(flow.found(), packets(2));
    for _ in 0..40 {
        happen(&mut flow, &TCP_HO, HoEvent::Notice(u32::MAX), &timed_out());
        flow.on_rtt_sample(&TCP_HO, u32::MAX);
        flow.on_timeout(&TCP_HO, &Sender { cwnd: u32::MAX, ..timed_out() });
    }
    assert_eq!(flow.found(), u32::MAX);
}

#[test]
fn a_link_without_a_rate_says_nothing() {
    let mut flow = TcpHo::default();
    let silent = bbm("200/150", "0/10");
    assert_eq!(flow.on_notice(&TCP_HO, &timed_out(), &silent), Action::NOTHING);
    assert_eq!(flow, TcpHo::default());
    // what it was is not asked
    assert!(flow.on_notice(&TCP_HO, &timed_out(), &bbm("0/0", "7000/10")).has(What::SET_SSTHRESH));
}

/// (2^32 - 1)^2 is beyond 2^62, and what a packet makes of it beyond 2^32; 2^31 squared is 2^62.
#[test]
fn products_saturate() {
    let heard = |rate_kbps, srtt_before_us, packet_bytes| {
        let tcp = Sender { srtt_before_us, ..timed_out() };
        let heard = Notice { new_link: Link { rate_kbps, delay_us: 0 }, ..notice() };
        TcpHo::default().on_notice(&TcpHoSettings { packet_bytes, ..TCP_HO }, &tcp, &heard).ssthresh
    };
    assert_eq!(heard(u32::MAX, u32::MAX, 1500), u32::MAX);
    assert_eq!(heard(u32::MAX, u32::MAX, u32::MAX), u32::MAX);
    assert_eq!(heard(1 << 31, 1 << 31, 1500), u32::MAX);
    assert_eq!(heard(u32::MAX, 1 << 29, 65_535), u32::MAX);
    assert_eq!(heard(7000, 200_000, 0), heard(7000, 200_000, 1), "no packet is shorter than a byte");
    assert_eq!(heard(1, 1, 1500), packets(2));
}

#[test]
fn every_knob_does_what_it_says() {
    let set = |key: &str, value: &str| {
        let mut settings = TCP_HO;
        settings.set(key, value).expect("a knob");
        settings
    };
    let (_, mut flow) = hear(&TCP_HO, &timed_out());
    let mean = set("mean", "on");
    // 100; (100 + 180) / 2 = 140; (280 + 200) / 3 = 160
    for (ms, average) in [(100, 100.0), (180, 140.0), (200, 160.0)] {
        close(ssthresh(&flow.on_rtt_sample(&mean, ms * 1000)), 7000.0 * average / 12_000.0);
    }
    let (_, mut flow) = hear(&TCP_HO, &timed_out());
    flow.on_rtt_sample(&set("samples", "1"), 100_000);
    assert!(!flow.is_adjusting());
    close(ssthresh(&hear(&set("packet-bytes", "1000"), &timed_out()).0), 175.0);
    close(ssthresh(&hear(&set("min-window", "200"), &timed_out()).0), 200.0);
    assert!(hear(&set("guard", "off"), &sender(5)).1.is_adjusting());
    let mut early = AGGRESSIVE;
    early.set("burst-after", "1").expect("a knob");
    assert!(hear(&early, &Sender { timeouts_since_ack: 1, ..timed_out() }).0.has(What::SET_CWND));
    assert!(set("samples", "1").set("samples", "1001").is_err());
    assert_eq!(set("samples", "9").get("samples").as_deref(), Ok("9"));
}

#[derive(Clone, Debug)]
enum Event {
    Notice(u32, u32, u32),
    Sample(u32),
    FastRetransmit(u32),
    Timeout(u32),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        1 => (any::<u32>(), any::<u32>(), 0u32..5).prop_map(|(rate, srtt, n)| Event::Notice(rate, srtt, n)),
        4 => any::<u32>().prop_map(Event::Sample),
        1 => any::<u32>().prop_map(Event::FastRetransmit),
        1 => any::<u32>().prop_map(Event::Timeout),
    ];
    prop::collection::vec(event, 0..60)
}

proptest! {
    /// Invariants of any events: only a notice resumes, and no threshold is below two packets or beyond what was found.
    /// NORMAL is silent once a report has been judged.
    #[test]
    fn any_events(variant in 0u32..4, events in events()) {
        let settings = TcpHoSettings::new(Variant(variant));
        let mut flow = TcpHo::default();
        for event in events {
            let (before, allowed, act) = match event {
                Event::Notice(rate_kbps, srtt_before_us, timeouts_since_ack) => {
                    let heard = Notice { new_link: Link { rate_kbps, delay_us: 0 }, ..notice() };
                    let tcp = Sender { srtt_before_us, timeouts_since_ack, ..timed_out() };
                    let act = flow.on_notice(&settings, &tcp, &heard);
                    (true, resume() | What::SET_SSTHRESH | What::SET_CWND, act)
                }
                Event::Sample(us) => {
                    let before = flow.is_adjusting();
                    (before, What::SET_SSTHRESH, flow.on_rtt_sample(&settings, us))
                }
                Event::FastRetransmit(cwnd) => {
                    let tcp = Sender { cwnd, ..timed_out() };
                    (flow.is_listening(), What::NOTHING, flow.on_fast_retransmit(&settings, &tcp))
                }
                Event::Timeout(cwnd) => {
                    let tcp = Sender { cwnd, ..timed_out() };
                    (flow.is_listening(), What::NOTHING, flow.on_timeout(&settings, &tcp))
                }
            };
            prop_assert!(allowed.has(act.what), "{act:?}");
            prop_assert!(before || act == Action::NOTHING, "{act:?}");
            prop_assert!(flow.found() == 0 || act.ssthresh <= flow.found(), "{act:?}");
            prop_assert!(ssthresh(&act).is_none_or(|packets| packets >= 2.0));
        }
    }
}
