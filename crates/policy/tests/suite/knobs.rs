//! Every knob of `policy/etcp_settings.h` changes what its line says, and nothing hides
//! from the command line.

use crate::common::*;
use segue_policy::{Action, Algorithms, Etcp, Notice, SETTINGS, Sender, SettingError, Settings, What};

/// Answers of a sender at each step of one story.
type Story = fn(&Settings) -> Vec<Action>;

fn notice_only(settings: &Settings, tcp: Sender, notice: Notice) -> Vec<Action> {
    vec![hear(settings, &tcp, &notice).0]
}

/// 2000/50 to 54000/2 with 12 under way: fast retransmit, a partial ACK amid duplicate
/// ACKs, and the end of the handoff with a DSACK.
fn reordering(settings: &Settings, notice: Notice) -> Vec<Action> {
    let tcp = sender(12);
    let (act, mut flow) = hear(settings, &tcp, &notice);
    let mut acts = vec![act, flow.on_fast_retransmit(settings, &tcp)];
    let mut tcp = in_fast_recovery(tcp);
    acts.extend((0..20).map(|_| flow.on_dup_ack(settings, &tcp)));
    tcp.snd_una = 101;
    acts.push(flow.on_new_ack(settings, &tcp));
    acts.extend((0..20).map(|_| flow.on_dup_ack(settings, &tcp)));
    tcp = Sender { snd_una: 112, cwnd: packets(6), ..tcp };
    flow.on_dsack(settings, 100, 101);
    acts.push(flow.on_new_ack(settings, &tcp));
    acts
}

fn after_notice(
    settings: &Settings,
    tcp: Sender,
    notice: Notice,
    event: fn(&mut Etcp, &Settings, &Sender) -> Action,
) -> Vec<Action> {
    let (act, mut flow) = hear(settings, &tcp, &notice);
    vec![act, event(&mut flow, settings, &tcp)]
}

/// (knob, value, scheme, story): the story ends differently with the value.
#[rustfmt::skip]
const STORIES: &[(&str, &str, &str, Story)] = &[
    ("use-n", "off", "etcp-v1", |s| notice_only(s, sender(5), with_flows(mbb("6400/9", "200/300"), 4))),
    ("rest-us", "300ms", "etcp", |s| notice_only(s, sender(5), mbb("6400/9", "200/300"))),
    ("min-rto-us", "1s", "etcp-v1", |s| notice_only(s, sender(4), mbb("400/300", "400/101"))),
    ("packet-bytes", "1000", "etcp", |s| notice_only(s, sender(30), mbb("1600/75", "400/150"))),
    ("ack-bytes", "60", "etcp", |s| notice_only(s, sender(30), mbb("1600/75", "400/150"))),
    ("flight-plus-one", "on", "etcp-v1", |s| notice_only(s, sender(4), with_flows(mbb("6400/9", "200/300"), 4))),
    ("whole-packets", "on", "etcp", |s| notice_only(s, sender(39), mbb("1600/75", "400/150"))),
    ("min-window", "3", "etcp", |s| notice_only(s, sender(39), mbb("1600/75", "200/1"))),
    ("significant-ratio", "1.5", "etcp", |s| notice_only(s, sender(4), mbb("1600/75", "1600/50"))),
    ("significant-by-delay", "off", "etcp", |s| notice_only(s, sender(4), mbb("200/300", "200/150"))),
    ("a1-on-serialisation", "off", "etcp", |s| notice_only(s, sender(1), mbb("6400/9", "200/9"))),
    ("a1-in-bbm", "off", "etcp", |s| notice_only(s, sender(5), bbm("6400/9", "200/300"))),
    ("a1-from-last-start", "on", "etcp", |s| notice_only(s, sender(5), mbb("6400/9", "200/300"))),
    ("a1-case1-new-rtt", "on", "etcp", |s| notice_only(s, sender(21), mbb("6400/9", "200/300"))),
    ("reinit-rto-us", "3s", "etcp", |s| notice_only(s, in_rto(sender(5)), bbm("6400/9", "200/300"))),
    ("reinit-rto-on-fall", "on", "etcp", |s| {
        // It is nothing without a floor.
        let s = Settings { reinit_rto_us: 3_000_000, ..*s };
        notice_only(&s, sender(5), mbb("200/300", "6400/9"))
    }),
    ("ignore-old-samples", "off", "etcp", |s| after_notice(s, sender(5), mbb("200/300", "6400/9"), |f, s, t| f.on_rtt_sample(s, t, 100))),
    ("a2-in-bbm", "off", "etcp", |s| notice_only(s, sender(39), bbm("1600/75", "400/150"))),
    ("a2-in-recovery", "off", "etcp", |s| notice_only(s, in_fast_recovery(sender(39)), mbb("1600/75", "400/150"))),
    ("recovery-keeps-ssthresh", "off", "etcp", |s| after_notice(s, sender(39), mbb("1600/75", "400/150"), |f, s, t| f.on_fast_retransmit(s, t))),
    ("halve-on-rto", "on", "etcp", |s| after_notice(s, sender(39), mbb("1600/75", "400/150"), |f, s, t| f.on_timeout(s, t))),
    ("a3-cwnd", "4", "etcp", |s| notice_only(s, in_rto(sender(20)), bbm("6400/9", "200/300"))),
    ("resume-at-window", "on", "etcp-v1", |s| notice_only(s, in_rto(sender(20)), bbm("6400/9", "200/300"))),
    ("a3-clear-backoff", "off", "etcp", |s| notice_only(s, in_rto(sender(20)), bbm("6400/9", "200/300"))),
    ("a4-needs-minrto", "on", "etcp", |s| notice_only(s, sender(4), mbb("200/300", "6400/9"))),
    ("convergence-needs-minrto", "off", "etcp-v1", |s| notice_only(s, sender(4), mbb("200/300", "6400/9"))),
    ("fig23-needs-minrto", "on", "etcp-v1", |s| notice_only(s, in_rto(sender(4)), bbm("200/300", "6400/9"))),
    ("fig2-restore-saved", "on", "etcp-v1", |s| notice_only(s, Sender { ssthresh_saved: packets(10), ..in_rto(sender(4)) }, bbm("6400/9", "200/300"))),
    ("fig1-on-increase", "on", "etcp-v1", |s| notice_only(s, sender(100), mbb("200/300", "6400/9"))),
    ("fig3-on-decrease", "on", "etcp-v1", |s| after_notice(s, sender(5), mbb("400/300", "400/101"), |f, s, t| f.on_new_ack(s, &acked_to(*t, 105)))),
    ("fig3-in-bbm", "off", "etcp-v1", |s| reordering(s, bbm("2000/50", "54000/2"))),
    ("fig3-bar-needs-cut", "on", "etcp-v1", |s| notice_only(s, sender(39), mbb("2000/50", "54000/2"))),
    ("fig3-one-variable", "on", "etcp-v1", |s| after_notice(s, sender(40), mbb("1600/75", "3200/18"), |f, s, t| f.on_fast_retransmit(s, t))),
    ("fig3-first-dupthresh", "on", "etcp-v1", |s| reordering(s, mbb("2000/50", "54000/2"))),
    ("fig3-restart-dupacks", "off", "etcp-v1", |s| reordering(s, mbb("2000/50", "54000/2"))),
    ("fig3-undo-to-share", "on", "etcp-v1", |s| reordering(s, mbb("2000/50", "54000/2"))),
];

#[test]
fn every_knob_changes_its_story() {
    for (knob, value, name, story) in STORIES {
        let (plain, turned) = (scheme(name), set(name, knob, value));
        assert_ne!(story(&plain), story(&turned), "{knob} = {value}");
    }
}

#[test]
fn every_knob_has_a_story() {
    let told: Vec<_> = STORIES.iter().map(|(knob, ..)| *knob).collect();
    let known: Vec<_> = SETTINGS.iter().map(|setting| setting.name).collect();
    assert_eq!(told, known);
}

#[test]
fn every_knob_says_what_it_is() {
    for setting in SETTINGS {
        assert!(!setting.meaning.is_empty() && !setting.section.is_empty(), "{}", setting.name);
        let mut settings = scheme("etcp");
        settings.set(setting.name, &setting.default_text()).expect("its own default");
        assert_eq!(settings, scheme("etcp"), "{}", setting.name);
        assert_eq!(settings.get(setting.name), Ok(setting.default_text()));
    }
}

// --------------------------------------------------- what some of them change it into

fn first(settings: &Settings, tcp: Sender, notice: Notice) -> Action {
    hear(settings, &tcp, &notice).0
}

#[test]
fn section_2_1_case_1_as_the_prose_has_it() {
    let settings = set("etcp:a1", "a1-case1-new-rtt", "on");
    let act = first(&settings, sender(21), mbb("6400/9", "200/300"));
    close(min_rto_ms(&act).expect("A1"), 661.6 + 39.375 + 200.0, 0.001);
}

#[test]
fn section_9_37_the_deadline_from_the_last_start() {
    let settings = set("etcp:a1", "a1-from-last-start", "on");
    let act = first(&settings, sender(21), bbm("6400/9", "200/300"));
    assert_eq!(act.what, What::SET_MIN_RTO | What::EXTEND_TIMER);
}

#[test]
fn section_9_5_three_seconds_until_the_first_sample() {
    // The timer as for a new connection, where the delay grows (001, Sec. 5.4) ...
    let mut settings = set("etcp:a1", "reinit-rto-us", "3s");
    let (_, mut flow) = hear(&settings, &sender(5), &mbb("6400/9", "200/300"));
    let act = flow.on_new_ack(&settings, &acked_to(sender(5), 105));
    assert_eq!((act.what, act.min_rto_us), (What::REINIT_RTT | What::SET_MIN_RTO, 3_000_000));
    let act = flow.on_rtt_sample(&settings, &sender(5), 105);
    assert_eq!((act.what, act.min_rto_us), (What::SET_MIN_RTO, 0));
    // ... and elsewhere only if asked for: 5.5 speaks of the RTT variables alone.
    settings.algorithms = scheme("etcp:a4").algorithms;
    let falls = mbb("200/300", "6400/9");
    assert_eq!(hear(&settings, &sender(5), &falls).0.what, What::REINIT_RTT);
    settings.reinit_rto_on_fall = 1;
    let act = hear(&settings, &sender(5), &falls).0;
    assert_eq!((act.what, act.min_rto_us), (What::REINIT_RTT | What::SET_MIN_RTO, 3_000_000));
}

#[test]
fn section_9_7_whole_packets() {
    let settings = set("etcp:a2", "whole-packets", "on");
    assert_eq!(reduced_to(&first(&settings, sender(39), mbb("1600/75", "400/150"))), Some(11.0));
    // 22 is not more than twice 11, 23 is
    assert_eq!(reduced_to(&first(&settings, sender(22), mbb("1600/75", "400/150"))), None);
}

#[test]
fn section_9_38_one_packet_more() {
    let settings = set("etcp-v1", "flight-plus-one", "on");
    let notice = with_flows(mbb("6400/9", "200/300"), 4);
    assert!(reduced_to(&first(&settings, sender(4), notice)).is_some(), "5 > 4.13");
    assert_eq!(reduced_to(&first(&settings, sender(3), notice)), None);
}

#[test]
fn section_2_3_cwnd_alone_is_kept() {
    let settings = set("etcp:a2", "recovery-keeps-ssthresh", "off");
    let (_, mut flow) = hear(&settings, &sender(39), &mbb("1600/75", "400/150"));
    let act = flow.on_fast_retransmit(&settings, &Sender { snd_una: 100, ..sender(39) });
    assert_eq!(act.what, What::KEEP_CWND);
}

#[test]
fn section_9_12_the_larger_dupthresh_from_the_start() {
    let settings = set("etcp-v1", "fig3-first-dupthresh", "on");
    let tcp = sender(9);
    let (act, mut flow) = hear(&settings, &tcp, &mbb("700/75", "11000/10"));
    assert_eq!((act.what, act.dupthresh), (What::SET_DUPTHRESH, 16), "15.71 rounded up");
    let act = flow.on_new_ack(&settings, &acked_to(tcp, 109));
    assert!(act.has(What::SET_DUPTHRESH));
    assert_eq!(act.dupthresh, 3, "3.3 (d)");
}

#[test]
fn section_8_the_undo_of_the_prose() {
    let acts = reordering(&set("etcp-v1", "fig3-undo-to-share", "on"), mbb("2000/50", "54000/2"));
    let last = acts.last().expect("a story");
    close(reduced_to(last).expect("an undo"), 19.03, PRINTED);
}

#[test]
fn section_9_9_figure_2_with_the_restore_of_a3() {
    let settings = set("etcp-v1", "fig2-restore-saved", "on");
    let tcp = Sender { ssthresh_saved: packets(10), ..in_rto(sender(20)) };
    assert_eq!(first(&settings, tcp, bbm("6400/9", "200/300")).ssthresh, packets(10));
    let act = first(&settings, in_rto(sender(20)), bbm("6400/9", "200/300"));
    close(in_packets(act.ssthresh), 11.03, PRINTED); // nothing saved
}

#[test]
fn sections_2_4_and_3_2_a_whole_window_after_the_outage() {
    for name in ["etcp", "etcp-v1"] {
        let settings = set(name, "resume-at-window", "on");
        let act = first(&settings, in_rto(sender(4)), bbm("200/100", "6400/100"));
        close(in_packets(act.cwnd), 107.69, PRINTED);
        assert!(act.has(What::RETRANSMIT_HEAD | What::SET_CWND));
    }
    // A loss of packets sent before the handoff is no reason to cut the window.
    let settings = set("etcp-v1", "resume-at-window", "on");
    let (_, mut flow) = hear(&settings, &in_rto(sender(4)), &bbm("200/100", "6400/100"));
    assert_eq!(
        flow.on_fast_retransmit(&settings, &Sender { snd_una: 103, ..sender(4) }).what,
        What::KEEP_WINDOW
    );
    assert_eq!(
        flow.on_fast_retransmit(&settings, &Sender { snd_una: 104, ..sender(4) }).what,
        What::default()
    );
    // N flows share it.
    let act = first(&settings, in_rto(sender(4)), with_flows(bbm("200/100", "6400/100"), 4));
    close(in_packets(act.cwnd), 26.92, PRINTED);
}

// ------------------------------------------------------------------------ command line

#[test]
fn schemes_by_name() {
    assert_eq!(scheme("etcp").algorithms, Algorithms::parse("a1+a2+a3+a4").expect("known"));
    assert_eq!(scheme("etcp-a5").algorithms, Algorithms::parse("a1+a5+a3+a4").expect("known"));
    let figures = Algorithms::parse("a1+fig1+fig2+fig3+convergence").expect("known");
    assert_eq!(scheme("etcp-v1").algorithms, figures);
    assert_eq!(scheme("etcp-v0"), Settings { use_n: 0, ..scheme("etcp-v1") });
    assert_eq!(scheme("etcp:a1+a3").algorithms, Algorithms::A1 | Algorithms::A3);
}

#[test]
fn values_as_people_write_them() {
    let mut settings = scheme("etcp");
    for (text, us) in [("200ms", 200_000), ("0.5s", 500_000), ("1500us", 1500), ("7us", 7), ("0", 0)] {
        settings.set("rest-us", text).expect(text);
        assert_eq!(settings.rest_us, us);
    }
    settings.set("significant-ratio", "1.5").expect("a ratio");
    assert_eq!(settings.significant_ratio, 384);
    for (text, flag) in [("on", 1), ("off", 0), ("1", 1), ("false", 0)] {
        settings.set("halve-on-rto", text).expect(text);
        assert_eq!(settings.halve_on_rto, flag);
    }
}

#[test]
fn bad_words_are_named_with_the_nearest_good_one() {
    let mut settings = scheme("etcp");
    let fault = settings.set("halve-on-rtt", "on").expect_err("no such knob");
    let fault = fault.to_string();
    assert!(
        fault.starts_with("unknown setting `halve-on-rtt`; expected one of ")
            && fault.contains(", halve-on-rto, "),
        "{fault}"
    );
    assert!(fault.ends_with("; did you mean `halve-on-rto`?"), "{fault}");
    let fault = settings.set("unheard-of", "on").expect_err("no such knob").to_string();
    assert!(!fault.contains("did you mean"), "no guess where no word is near: {fault}");
    for (knob, value) in [
        ("halve-on-rto", "maybe"),
        ("rest-us", "200 furlongs"),
        ("rest-us", "1500"),
        ("rest-us", "-1"),
        ("rest-us", "NaN"),
        ("rest-us", "1e99s"),
        ("packet-bytes", "0"),
        ("packet-bytes", "65536"),
        ("significant-ratio", "0.5"),
        ("min-window", ""),
    ] {
        let fault = settings.set(knob, value).expect_err(value);
        assert!(matches!(fault, SettingError::Value { name, .. } if name == knob), "{fault}");
    }
    assert_eq!(settings, scheme("etcp"), "a refusal changes nothing");
    let fault = Settings::scheme("etcp-v2").expect_err("no such scheme").to_string();
    assert!(
        fault.starts_with("unknown scheme `etcp-v2`; expected one of etcp, ")
            && fault.contains("did you mean `etcp-v"),
        "{fault}"
    );
    let fault = Settings::scheme("etcp:a1+a7").expect_err("no such algorithm").to_string();
    assert!(
        fault.starts_with("unknown algorithm `a7`; expected one of a1, ")
            && fault.contains("did you mean `a1`?"),
        "{fault}"
    );
}
