//! algorithms.md section 2, rule by rule: dispatch, A1 to A5 (paper 001). Each test is
//! named after its section.

use crate::common::*;
use segue_policy::{Action, Algorithms, Etcp, Link, Notice, Sender, What};

// ------------------------------------------------------------------ nothing heard yet

#[test]
fn section_2_before_a_notice_every_event_is_answered_with_nothing() {
    let settings = scheme("etcp-v1");
    let (mut flow, tcp) = (Etcp::default(), in_fast_recovery(sender(9)));
    flow.on_dsack(&settings, 100, 101);
    for act in [
        flow.on_new_ack(&settings, &tcp),
        flow.on_dup_ack(&settings, &tcp),
        flow.on_fast_retransmit(&settings, &tcp),
        flow.on_timeout(&settings, &tcp),
        flow.on_rtt_sample(&settings, &tcp, 100),
    ] {
        assert_eq!(act.what, What::NOTHING);
    }
    assert_eq!(flow, Etcp::default());
}

#[test]
fn section_2_a_notice_of_a_link_without_a_rate_is_not_heard() {
    let silent = Notice { new_link: Link::default(), ..mbb("6400/9", "200/300") };
    assert_eq!(hear(&scheme("etcp"), &sender(21), &silent), (Action::NOTHING, Etcp::default()));
}

#[test]
fn section_2_without_algorithms_a_notice_is_not_heard() {
    let mut settings = scheme("etcp");
    settings.algorithms = Algorithms::NONE;
    let answer = hear(&settings, &sender(21), &mbb("6400/9", "200/300"));
    assert_eq!(answer, (Action::NOTHING, Etcp::default()));
}

// ------------------------------------------------------------------------ 2.0 dispatch

#[test]
fn section_2_0_the_delay_grows_a1_and_a2_both_act() {
    let (act, flow) = hear(&scheme("etcp"), &sender(39), &mbb("6400/9", "200/300"));
    assert_eq!(act.what, What::SET_MIN_RTO | What::REARM_TIMER | What::SET_CWND | What::SET_SSTHRESH);
    assert_eq!(flow.ho_point(), 139);
}

#[test]
fn section_2_0_the_delay_falls_a4_acts() {
    let (act, _) = hear(&scheme("etcp"), &sender(10), &mbb("200/300", "6400/9"));
    assert_eq!(act.what, What::REINIT_RTT);
}

#[test]
fn section_2_0_a4_only_where_the_fall_is_big() {
    let (act, _) = hear(&scheme("etcp"), &sender(10), &mbb("1600/75", "1600/50"));
    assert_eq!(act.what, What::NOTHING);
}

#[test]
fn section_2_0_in_rto_recovery_a3_and_the_rtt_part_of_a4() {
    let tcp = in_rto(sender(39));
    for (old, new) in [("6400/9", "200/300"), ("200/300", "6400/9")] {
        let (act, _) = hear(&scheme("etcp"), &tcp, &bbm(old, new));
        assert!(act.has(What::RETRANSMIT_HEAD | What::REINIT_RTT), "{old} to {new}");
        assert!(!act.has(What::SET_MIN_RTO));
    }
    let (act, _) = hear(&scheme("etcp"), &tcp, &bbm("1600/75", "1600/50"));
    assert!(act.has(What::RETRANSMIT_HEAD) && !act.has(What::REINIT_RTT));
}

#[test]
fn section_2_0_each_algorithm_alone() {
    let (plain, stuck) = (sender(39), in_rto(sender(39)));
    let slower = mbb("6400/9", "200/300");
    let only = |name, tcp: &Sender, notice| hear(&scheme(name), tcp, notice).0.what;
    assert_eq!(only("etcp:a1", &plain, &slower), What::SET_MIN_RTO | What::REARM_TIMER);
    assert_eq!(only("etcp:a2", &plain, &slower), What::SET_CWND | What::SET_SSTHRESH);
    assert_eq!(only("etcp:a5", &plain, &slower), What::SET_CWND | What::SET_SSTHRESH);
    assert_eq!(only("etcp:a3", &plain, &slower), What::NOTHING);
    assert_eq!(only("etcp:a4", &plain, &slower), What::NOTHING);
    assert_eq!(only("etcp:a1+a2", &stuck, &slower), What::NOTHING);
    assert_eq!(only("etcp:a4", &stuck, &slower), What::REINIT_RTT);
    assert!(only("etcp:a3", &stuck, &slower).has(What::RETRANSMIT_HEAD));
}

#[test]
fn section_2_0_a_second_notice_overwrites_ho_point() {
    let settings = scheme("etcp");
    let (_, mut flow) = hear(&settings, &sender(39), &mbb("1600/75", "400/150"));
    let later = Sender { snd_max: 200, ..sender(39) };
    flow.on_notice(&settings, &later, &mbb("400/150", "200/300"));
    assert_eq!(flow.ho_point(), 200);
    flow.on_new_ack(&settings, &acked_to(later, 150));
    assert!(flow.cwnd_reduced(), "the first point no longer ends anything");
    flow.on_new_ack(&settings, &acked_to(later, 200));
    assert!(!flow.cwnd_reduced());
}

#[test]
fn section_2_0_a_second_notice_before_ho_point_evaluates_anew() {
    let settings = scheme("etcp");
    let (_, mut flow) = hear(&settings, &sender(10), &mbb("6400/9", "200/300"));
    assert!(flow.a1_active() && !flow.awaits_sample());
    let act = flow.on_notice(&settings, &sender(10), &mbb("200/300", "6400/9"));
    assert_eq!(act.what, What::REINIT_RTT, "A4 now");
    assert!(flow.a1_active(), "minrto falls only with the first valid sample");
}

// ------------------------------------------------------------------------------ 2.1 A1

#[test]
fn section_2_1_case_1_old_new_rtt_exceeds_the_rto() {
    let (act, _) = hear(&scheme("etcp:a1"), &sender(21), &mbb("6400/9", "200/300"));
    close(min_rto_ms(&act).expect("A1"), 551.85, 1e-9);
}

#[test]
fn section_2_1_case_1_comes_before_case_2() {
    let tcp = in_fast_recovery(sender(21));
    let (act, _) = hear(&scheme("etcp:a1"), &tcp, &mbb("6400/9", "200/300"));
    close(min_rto_ms(&act).expect("A1"), 551.85, 1e-9);
}

#[test]
fn section_2_1_case_2_in_fast_recovery() {
    let tcp = in_fast_recovery(Sender { rto_us: 440_000, ..sender(24) });
    let (act, _) = hear(&scheme("etcp:a1"), &tcp, &mbb("800/75", "200/300"));
    close(min_rto_ms(&act).expect("A1"), 1221.6, 1e-9);
}

#[test]
fn section_2_1_case_3_otherwise() {
    let tcp = Sender { rto_us: 850_000, ..sender(21) };
    let (act, _) = hear(&scheme("etcp:a1"), &tcp, &mbb("400/150", "200/300"));
    close(min_rto_ms(&act).expect("A1"), 2121.6, 1e-9);
}

/// old_new_rtt is 312.475 ms: the RTO decides at that very microsecond.
#[test]
fn section_2_1_case_1_ends_where_the_rto_reaches_old_new_rtt() {
    for (rto_us, expected) in [(312_474, 551.85), (312_475, 661.6 + 21.0 * 60.0 + 200.0)] {
        let tcp = Sender { rto_us, ..sender(21) };
        let (act, _) = hear(&scheme("etcp:a1"), &tcp, &mbb("6400/9", "200/300"));
        close(min_rto_ms(&act).expect("A1"), expected, 1e-9);
    }
}

#[test]
fn section_2_1_needs_a_growing_delay() {
    for (old, new) in [("200/300", "6400/9"), ("400/150", "400/150"), ("200/9", "6400/9")] {
        assert_eq!(hear(&scheme("etcp:a1"), &sender(9), &mbb(old, new)).0.what, What::NOTHING);
    }
}

#[test]
fn section_2_1_growing_serialisation_counts() {
    let (act, _) = hear(&scheme("etcp:a1"), &sender(9), &mbb("6400/9", "200/9"));
    assert!(act.has(What::SET_MIN_RTO | What::REARM_TIMER));
}

#[test]
fn section_2_1_at_ho_point_the_rtt_starts_anew_and_the_first_sample_ends_it() {
    let settings = scheme("etcp:a1");
    let tcp = sender(21); // ho_point = 121
    let (_, mut flow) = hear(&settings, &tcp, &mbb("6400/9", "200/300"));

    assert_eq!(flow.on_new_ack(&settings, &acked_to(tcp, 120)).what, What::NOTHING);
    assert_eq!(flow.on_rtt_sample(&settings, &tcp, 119).what, What::NOTHING, "used as ever");

    let act = flow.on_new_ack(&settings, &acked_to(tcp, 121));
    assert_eq!(act.what, What::REINIT_RTT);
    assert_eq!(flow.on_rtt_sample(&settings, &tcp, 120).what, What::IGNORE_SAMPLE);
    assert!(flow.a1_active());

    let act = flow.on_rtt_sample(&settings, &tcp, 121);
    assert_eq!((act.what, act.min_rto_us), (What::SET_MIN_RTO, 0));
    assert!(!flow.a1_active() && !flow.awaits_sample());
    assert_eq!(flow.on_rtt_sample(&settings, &tcp, 122).what, What::NOTHING);
}

#[test]
fn section_2_1_the_handoff_ends_once() {
    let settings = scheme("etcp:a1");
    let tcp = sender(21);
    let (_, mut flow) = hear(&settings, &tcp, &mbb("6400/9", "200/300"));
    assert!(flow.on_new_ack(&settings, &acked_to(tcp, 121)).has(What::REINIT_RTT));
    assert_eq!(flow.on_new_ack(&settings, &acked_to(tcp, 123)).what, What::NOTHING);
}

#[test]
fn section_2_1_serialisation_alone_keeps_srtt_and_restores_minrto() {
    let settings = scheme("etcp:a1");
    let tcp = sender(9);
    let (_, mut flow) = hear(&settings, &tcp, &mbb("6400/9", "200/9"));
    let act = flow.on_new_ack(&settings, &acked_to(tcp, 109));
    assert_eq!(act.what, What::NOTHING, "the usual filter goes on");
    let act = flow.on_rtt_sample(&settings, &tcp, 109);
    assert_eq!((act.what, act.min_rto_us), (What::SET_MIN_RTO, 0));
}

#[test]
fn section_2_1_a_timeout_leaves_a1_as_it_is() {
    let settings = scheme("etcp:a1");
    let (_, mut flow) = hear(&settings, &sender(21), &mbb("6400/9", "200/300"));
    let before = flow;
    assert_eq!(flow.on_timeout(&settings, &sender(21)).what, What::NOTHING);
    assert_eq!(flow, before);
}

#[test]
fn section_2_1_sequence_numbers_wrap() {
    let settings = scheme("etcp:a1");
    let tcp = Sender { snd_una: u32::MAX - 5, snd_max: 15, ..sender(21) };
    let (_, mut flow) = hear(&settings, &tcp, &mbb("6400/9", "200/300"));
    assert_eq!(flow.on_new_ack(&settings, &acked_to(tcp, u32::MAX)).what, What::NOTHING);
    assert_eq!(flow.on_new_ack(&settings, &acked_to(tcp, 14)).what, What::NOTHING);
    assert!(flow.on_new_ack(&settings, &acked_to(tcp, 15)).has(What::REINIT_RTT));
    // long after, when the circle has turned half round, nothing starts again
    let far = acked_to(tcp, 15 + (1 << 31) + 10);
    assert_eq!(flow.on_new_ack(&settings, &far).what, What::NOTHING);
}

// ------------------------------------------------------------------------ 2.2 A2, 2.3 A5

#[test]
fn section_2_2_flight_above_twice_the_bdp() {
    let notice = mbb("1600/75", "400/150");
    let (act, flow) = hear(&scheme("etcp:a2"), &sender(39), &notice);
    close(reduced_to(&act).expect("A2"), 11.03, PRINTED);
    assert!(flow.cwnd_reduced());
    let (act, flow) = hear(&scheme("etcp:a2"), &sender(22), &notice);
    assert_eq!(act.what, What::NOTHING);
    assert!(!flow.cwnd_reduced());
}

#[test]
fn section_2_2_the_floor_is_two_packets() {
    let (act, _) = hear(&scheme("etcp:a2"), &sender(39), &mbb("1600/75", "200/1"));
    assert_eq!(reduced_to(&act), Some(2.0));
}

#[test]
fn section_2_2_the_number_of_flows_does_not_count_in_paper_001() {
    let notice = with_flows(mbb("1600/75", "400/150"), 4);
    for name in ["etcp:a2", "etcp:a5"] {
        assert_eq!(hear(&scheme(name), &sender(22), &notice).0.what, What::NOTHING);
    }
}

#[test]
fn section_2_3_a_large_fall_of_bandwidth_acts_from_one_and_a_half() {
    let notice = mbb("1600/37", "200/300");
    let acts = |name, flight| reduced_to(&hear(&scheme(name), &sender(flight), &notice).0);
    assert_eq!(acts("etcp:a5", 16), None);
    close(acts("etcp:a5", 17).expect("17 > 16.54"), 11.03, PRINTED);
    assert_eq!(acts("etcp:a2", 22), None);
    close(acts("etcp:a2", 23).expect("23 > 22.05"), 11.03, PRINTED);
}

#[test]
fn section_2_3_below_eight_times_the_factor_is_two() {
    let notice = mbb("1599/37", "200/300");
    assert_eq!(hear(&scheme("etcp:a5"), &sender(22), &notice).0.what, What::NOTHING);
    assert!(reduced_to(&hear(&scheme("etcp:a5"), &sender(23), &notice).0).is_some());
}

#[test]
fn section_2_3_no_second_cut_until_ho_point() {
    let settings = scheme("etcp:a2");
    let tcp = sender(39); // ho_point = 139
    let (_, mut flow) = hear(&settings, &tcp, &mbb("1600/75", "400/150"));
    assert_eq!(flow.on_fast_retransmit(&settings, &Sender { snd_una: 110, ..tcp }).what, What::KEEP_WINDOW);
    assert_eq!(flow.on_fast_retransmit(&settings, &Sender { snd_una: 139, ..tcp }).what, What::NOTHING);
    flow.on_new_ack(&settings, &acked_to(tcp, 139));
    assert_eq!(flow.on_fast_retransmit(&settings, &Sender { snd_una: 138, ..tcp }).what, What::NOTHING);
}

#[test]
fn section_2_3_without_the_reduction_a_fast_retransmit_cuts() {
    let settings = scheme("etcp:a2");
    let (_, mut flow) = hear(&settings, &sender(22), &mbb("1600/75", "400/150"));
    assert_eq!(
        flow.on_fast_retransmit(&settings, &Sender { snd_una: 100, ..sender(22) }).what,
        What::NOTHING
    );
}

#[test]
fn section_2_3_in_fast_recovery_the_windows_are_set_in_place() {
    let tcp = in_fast_recovery(sender(39));
    let (act, _) = hear(&scheme("etcp:a2"), &tcp, &mbb("1600/75", "400/150"));
    assert_eq!(act.what, What::SET_CWND | What::SET_SSTHRESH);
}

#[test]
fn section_9_8_a_timeout_keeps_ssthresh_while_reduced() {
    let settings = scheme("etcp:a2");
    let tcp = sender(39);
    let (_, mut flow) = hear(&settings, &tcp, &mbb("1600/75", "400/150"));
    assert_eq!(flow.on_timeout(&settings, &tcp).what, What::KEEP_SSTHRESH);
    flow.on_new_ack(&settings, &acked_to(tcp, 139));
    assert_eq!(flow.on_timeout(&settings, &tcp).what, What::NOTHING);
}

// ------------------------------------------------------------------------------ 2.4 A3

#[test]
fn section_2_4_resends_the_head_and_restores_ssthresh() {
    let tcp = Sender { ssthresh: packets(2), ssthresh_saved: packets(10), ..in_rto(sender(20)) };
    let (act, _) = hear(&scheme("etcp:a3"), &tcp, &bbm("6400/9", "200/300"));
    assert_eq!(
        act.what,
        What::RETRANSMIT_HEAD | What::SET_SSTHRESH | What::SET_CWND | What::CLEAR_BACKOFF | What::REARM_TIMER
    );
    assert_eq!((act.ssthresh, act.cwnd), (packets(10), packets(1)));
}

#[test]
fn section_2_4_nothing_saved_nothing_restored() {
    let (act, _) = hear(&scheme("etcp:a3"), &in_rto(sender(20)), &bbm("6400/9", "200/300"));
    assert!(act.has(What::RETRANSMIT_HEAD) && !act.has(What::SET_SSTHRESH));
}

#[test]
fn section_2_4_nothing_before_the_timer_has_expired() {
    let tcp = Sender { ssthresh_saved: packets(10), ..sender(20) };
    let (act, _) = hear(&scheme("etcp:a3"), &tcp, &bbm("6400/9", "200/300"));
    assert_eq!(act.what, What::NOTHING);
}

// ------------------------------------------------------------------------------ 2.5 A4

#[test]
fn section_2_5_forgets_the_rtt_and_ignores_old_samples() {
    let settings = scheme("etcp:a4");
    let tcp = sender(10); // ho_point = 110
    let (act, mut flow) = hear(&settings, &tcp, &mbb("200/300", "6400/9"));
    assert_eq!(act.what, What::REINIT_RTT, "the RTO keeps its value");
    assert_eq!(flow.on_rtt_sample(&settings, &tcp, 109).what, What::IGNORE_SAMPLE);
    assert!(flow.awaits_sample());
    assert_eq!(flow.on_rtt_sample(&settings, &tcp, 110).what, What::NOTHING, "taken");
    assert!(!flow.awaits_sample());
}

#[test]
fn section_2_5_alone_needs_a_falling_delay() {
    for (old, new) in [("6400/9", "200/300"), ("6400/9", "200/9")] {
        let (act, _) = hear(&scheme("etcp:a4"), &sender(10), &mbb(old, new));
        assert_eq!(act.what, What::NOTHING);
    }
}
