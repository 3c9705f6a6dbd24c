//! algorithms.md section 3, rule by rule: Figures 1 to 3 for N flows (paper 000). Each
//! test is named after its section.

use crate::common::*;
use segue_policy::{Action, Etcp, Sender, Settings, What};

const WINDOW: What = What(What::SET_CWND.0 | What::SET_SSTHRESH.0);

// ------------------------------------------------------------------------- 3.1 Figure 1

/// Section 7: N = 4, flight 5 -> W 2.76; flight 4 -> none. N = 1, flight 5 -> none.
#[test]
fn section_3_1_divides_by_the_number_of_flows() {
    let settings = scheme("etcp-v1");
    let notice = |flows| with_flows(mbb("6400/9", "200/300"), flows);
    let reduced = |flight, flows| reduced_to(&hear(&settings, &sender(flight), &notice(flows)).0);
    close(reduced(5, 4).expect("5 > 4.13"), 2.76, PRINTED);
    assert_eq!(reduced(4, 4), None);
    assert_eq!(reduced(5, 1), None);
    assert_eq!(reduced(5, 0), None, "0 counts as 1");
}

#[test]
fn section_3_1_etcp_v0_takes_n_to_be_one() {
    let notice = with_flows(mbb("6400/9", "200/300"), 4);
    let reduced = |flight| reduced_to(&hear(&scheme("etcp-v0"), &sender(flight), &notice).0);
    assert_eq!(reduced(16), None);
    close(reduced(17).expect("17 > 16.54"), 11.03, PRINTED);
}

#[test]
fn section_3_1_the_floor_is_two_packets() {
    let notice = with_flows(mbb("6400/9", "200/300"), 8);
    assert_eq!(reduced_to(&hear(&scheme("etcp-v1"), &sender(5), &notice).0), Some(2.0));
}

#[test]
fn section_3_1_exempts_the_fast_retransmit_as_2_3_does() {
    let settings = scheme("etcp-v1");
    let (_, mut flow) = hear(&settings, &sender(17), &mbb("6400/9", "200/300"));
    let act = flow.on_fast_retransmit(&settings, &Sender { snd_una: 101, ..sender(17) });
    assert_eq!(act.what, What::KEEP_WINDOW);
}

// ------------------------------------------------------------------------- 3.2 Figure 2

#[test]
fn section_3_2_sets_ssthresh_to_w_and_restores_nothing() {
    let tcp = Sender { ssthresh_saved: packets(10), ..in_rto(sender(20)) };
    for (new, ssthresh) in [("200/300", 11.03), ("6400/300", 321.03)] {
        let (act, _) = hear(&scheme("etcp-v1"), &tcp, &bbm("6400/9", new));
        assert_eq!(
            act.what,
            What::RETRANSMIT_HEAD | WINDOW | What::CLEAR_BACKOFF | What::REARM_TIMER | What::REINIT_RTT
        );
        close(in_packets(act.ssthresh), ssthresh, PRINTED);
        assert_eq!(act.cwnd, packets(1));
    }
}

#[test]
fn section_3_2_divides_by_n_and_takes_samples_as_2_5() {
    let settings = scheme("etcp-v1");
    let tcp = in_rto(sender(20));
    let (act, mut flow) = hear(&settings, &tcp, &with_flows(bbm("6400/9", "200/300"), 4));
    close(in_packets(act.ssthresh), 2.76, PRINTED);
    assert_eq!(flow.on_rtt_sample(&settings, &tcp, 119).what, What::IGNORE_SAMPLE);
    assert_eq!(flow.on_rtt_sample(&settings, &tcp, 120).what, What::NOTHING);
    assert!(!flow.awaits_sample());
}

#[test]
fn section_3_2_keeps_the_rtt_where_the_delay_hardly_changes() {
    let (act, _) = hear(&scheme("etcp-v1"), &in_rto(sender(20)), &bbm("1600/75", "1600/50"));
    assert!(act.has(What::RETRANSMIT_HEAD) && !act.has(What::REINIT_RTT));
}

// ------------------------------------------------------------------------- 3.3 Figure 3

/// 2000/50 to 54000/2, so dupthresh_ho = 27 and b = 19.03; `flight` under way.
fn overtaken(flight: u32) -> (Settings, Sender, Etcp) {
    let settings = scheme("etcp-v1");
    let tcp = sender(flight);
    let (act, flow) = hear(&settings, &tcp, &mbb("2000/50", "54000/2"));
    assert_eq!(act.what, What::NOTHING);
    assert!(flow.expects_reordering());
    (settings, tcp, flow)
}

/// The same, in phase (c): three duplicate ACKs and the fast retransmit of the head.
fn in_phase_c(flight: u32) -> (Settings, Sender, Etcp) {
    let (settings, tcp, mut flow) = overtaken(flight);
    for _ in 0..3 {
        assert_eq!(flow.on_dup_ack(&settings, &tcp).what, What::NOTHING);
    }
    let act = flow.on_fast_retransmit(&settings, &tcp);
    assert_eq!(act.what, What::HOLD_HOLES, "and the usual cut");
    (settings, in_fast_recovery(tcp), flow)
}

#[test]
fn section_3_3_a_no_flag_where_flight_exceeds_twice_the_share() {
    let settings = scheme("etcp-v1");
    let notice = mbb("2000/50", "54000/2");
    for (flight, flag) in [(38, true), (39, false)] {
        let (_, flow) = hear(&settings, &sender(flight), &notice);
        assert_eq!(flow.expects_reordering(), flag, "38.05");
        assert_eq!(flow.cwnd_reduction(), !flag);
    }
}

#[test]
fn section_3_3_a_no_flag_up_to_three_times_the_bandwidth_or_in_recovery() {
    let settings = scheme("etcp-v1");
    let flag = |tcp: &Sender, new: &str| hear(&settings, tcp, &mbb("2000/50", new)).1.expects_reordering();
    assert!(!flag(&sender(4), "6000/50"));
    assert!(flag(&sender(4), "6001/50"));
    assert!(!flag(&in_fast_recovery(sender(4)), "6001/50"));
    assert!(!flag(&in_rto(sender(4)), "6001/50"));
}

/// The BDP falls while the bandwidth grows, less than eight times.
#[test]
fn section_3_3_a_cuts_where_the_bdp_falls() {
    let settings = scheme("etcp-v1");
    let (act, flow) = hear(&settings, &sender(40), &mbb("1600/75", "3200/18"));
    close(reduced_to(&act).expect("40 > 2*10.63"), 10.63, PRINTED);
    assert!(flow.cwnd_reduction() && !flow.cwnd_reduced(), "two variables");
    // eight times the bandwidth
    let (act, flow) = hear(&settings, &sender(40), &mbb("400/300", "3200/18"));
    assert_eq!(reduced_to(&act), None);
    assert!(flow.cwnd_reduction());
    // a BDP that grows
    let (act, _) = hear(&settings, &sender(50), &mbb("1600/37", "3200/37"));
    assert_eq!(reduced_to(&act), None);
}

#[test]
fn section_3_3_a_the_cut_never_fires_in_the_four_pairs_of_3_6() {
    for (old, new) in
        [("200/300", "6400/9"), ("2000/50", "54000/2"), ("700/75", "11000/10"), ("6000/50", "54000/4")]
    {
        let (act, _) = hear(&scheme("etcp-v1"), &sender(500), &mbb(old, new));
        assert_eq!(reduced_to(&act), None, "{old} to {new}");
    }
}

#[test]
fn section_3_3_b_without_the_flag_a_fast_retransmit_is_as_usual() {
    let settings = scheme("etcp-v1");
    let (_, mut flow) = hear(&settings, &sender(39), &mbb("2000/50", "54000/2"));
    assert_eq!(
        flow.on_fast_retransmit(&settings, &Sender { snd_una: 100, ..sender(39) }).what,
        What::NOTHING
    );
    assert!(!flow.in_reordering_phase());
}

#[test]
fn section_3_3_c_each_dupack_lets_one_out_until_they_exceed_dupthresh() {
    let (settings, tcp, mut flow) = in_phase_c(19);
    for _ in 4..=27 {
        assert_eq!(flow.on_dup_ack(&settings, &tcp).what, What::SEND_NEW | What::HOLD_HOLES);
    }
    assert_eq!(flow.on_dup_ack(&settings, &tcp).what, What::RESUME_RECOVERY, "28 > 27");
    assert!(!flow.in_reordering_phase());
    assert_eq!(flow.on_dup_ack(&settings, &tcp).what, What::NOTHING);
}

/// 700/75 to 11000/10: 15 are not more than 15.71, 16 are.
#[test]
fn section_3_3_c_the_threshold_need_not_be_whole() {
    let settings = scheme("etcp-v1");
    let tcp = sender(9);
    let (_, mut flow) = hear(&settings, &tcp, &mbb("700/75", "11000/10"));
    flow.on_fast_retransmit(&settings, &tcp); // three of them before the notice
    for _ in 4..=15 {
        assert!(flow.on_dup_ack(&settings, &tcp).has(What::SEND_NEW));
    }
    assert_eq!(flow.on_dup_ack(&settings, &tcp).what, What::RESUME_RECOVERY);
}

#[test]
fn section_3_3_c_a_partial_ack_restarts_the_count_and_stays() {
    let (settings, tcp, mut flow) = in_phase_c(19);
    for _ in 0..24 {
        flow.on_dup_ack(&settings, &tcp);
    }
    let act = flow.on_new_ack(&settings, &acked_to(tcp, 101));
    assert_eq!(act.what, What::HOLD_HOLES);
    for _ in 1..=27 {
        assert!(flow.on_dup_ack(&settings, &tcp).has(What::SEND_NEW));
    }
    assert_eq!(flow.on_dup_ack(&settings, &tcp).what, What::RESUME_RECOVERY);
}

#[test]
fn section_3_3_c_a_timeout_ends_it_without_undo() {
    let (settings, tcp, mut flow) = in_phase_c(19);
    assert_eq!(flow.on_timeout(&settings, &tcp).what, What::RESUME_RECOVERY);
    flow.on_dsack(&settings, 100, 101);
    let cut = Sender { cwnd: packets(1), ..acked_to(tcp, 119) };
    assert_eq!(reduced_to_any(&flow.on_new_ack(&settings, &cut)), None);
}

fn reduced_to_any(act: &Action) -> Option<(f64, f64)> {
    act.has(WINDOW).then(|| (in_packets(act.cwnd), in_packets(act.ssthresh)))
}

/// b = 19.03: cwnd = min(cwnd_prev, b), ssthresh = max(cwnd_prev, b).
#[test]
fn section_3_3_d_a_needless_retransmission_is_undone() {
    for (cwnd_prev, cwnd, ssthresh) in [(12, 12.0, 19.03), (30, 19.03, 30.0)] {
        let (settings, tcp, mut flow) = in_phase_c(cwnd_prev);
        let cut = Sender { cwnd: packets(6), ..acked_to(tcp, tcp.snd_max) };
        flow.on_dsack(&settings, 100, 101);
        let act = flow.on_new_ack(&settings, &cut);
        let (to_cwnd, to_ssthresh) = reduced_to_any(&act).expect("an undo");
        close(to_cwnd, cwnd, PRINTED);
        close(to_ssthresh, ssthresh, PRINTED);
        assert!(act.has(What::RESUME_RECOVERY));
        assert!(!flow.expects_reordering());
    }
}

/// The late original is reported by a duplicate ACK, ahead of the last one.
#[test]
fn section_3_3_d_dsack_may_come_before_the_ack_that_ends_it() {
    let (settings, tcp, flow) = in_phase_c(12);
    let cut = Sender { cwnd: packets(6), ..acked_to(tcp, tcp.snd_max) };
    for (left, right, undone) in [(100, 101, true), (98, 103, true), (101, 102, false)] {
        let mut flow = flow;
        flow.on_dsack(&settings, left, right);
        let act = flow.on_new_ack(&settings, &cut);
        assert_eq!(reduced_to_any(&act).is_some(), undone, "[{left}, {right})");
    }
}

#[test]
fn section_3_3_d_no_undo_without_dsack_or_after_the_return_or_for_a_large_cwnd() {
    let (settings, tcp, fresh) = in_phase_c(12);
    let end = |cwnd| Sender { cwnd: packets(cwnd), ..acked_to(tcp, tcp.snd_max) };

    let mut flow = fresh;
    assert_eq!(reduced_to_any(&flow.on_new_ack(&settings, &end(6))), None);

    let mut flow = fresh;
    for _ in 0..25 {
        flow.on_dup_ack(&settings, &tcp);
    }
    flow.on_dsack(&settings, 100, 101);
    assert_eq!(reduced_to_any(&flow.on_new_ack(&settings, &end(6))), None);

    let mut flow = fresh;
    flow.on_dsack(&settings, 100, 101);
    assert_eq!(reduced_to_any(&flow.on_new_ack(&settings, &end(12))), None);
}

#[test]
fn section_3_3_d_clears_cwnd_reduction_and_starts_the_rtt_anew() {
    let settings = scheme("etcp-v1");
    let tcp = sender(39);
    let (_, mut flow) = hear(&settings, &tcp, &mbb("2000/50", "54000/2"));
    assert!(flow.cwnd_reduction());
    let act = flow.on_new_ack(&settings, &acked_to(tcp, 139));
    assert_eq!(act.what, What::REINIT_RTT);
    assert!(!flow.cwnd_reduction());
    assert_eq!(flow.on_rtt_sample(&settings, &tcp, 139).what, What::NOTHING);
    assert!(!flow.awaits_sample());
}

/// A host that times SACKed segments may have had its first sample before.
#[test]
fn section_3_3_d_starts_the_rtt_anew_only_once() {
    let settings = scheme("etcp-v1");
    let tcp = sender(4); // 3.5 acts: factor 2.8, 232.8 ms
    let (act, mut flow) = hear(&settings, &tcp, &mbb("200/300", "400/101"));
    assert!(act.has(What::REINIT_RTT));
    assert_eq!(flow.on_rtt_sample(&settings, &tcp, 104).what, What::NOTHING);
    assert_eq!(flow.on_new_ack(&settings, &acked_to(tcp, 104)).what, What::NOTHING);
}

/// "The listing clears it only in (d)": a second notice finds it set.
#[test]
fn section_3_3_cwnd_reduction_outlives_a_second_notice() {
    let settings = scheme("etcp-v1");
    let (_, mut flow) = hear(&settings, &sender(39), &mbb("2000/50", "54000/2"));
    flow.on_notice(&settings, &sender(4), &mbb("2000/50", "54000/2"));
    assert!(flow.cwnd_reduction() && !flow.expects_reordering());
}

#[test]
fn section_3_3_a_second_notice_in_phase_c_returns_to_normal_recovery() {
    let (settings, tcp, mut flow) = in_phase_c(19);
    let act = flow.on_notice(&settings, &tcp, &mbb("54000/2", "2000/50"));
    assert!(act.has(What::RESUME_RECOVERY));
    assert!(!flow.expects_reordering() && !flow.in_reordering_phase());
}

// ------------------------------------------------------------------------ 3.4 conflicts

#[test]
fn section_3_4_in_rto_figure_2_only() {
    let tcp = in_rto(sender(500));
    let (act, flow) = hear(&scheme("etcp-v1"), &tcp, &bbm("1600/75", "3200/18"));
    assert!(act.has(What::RETRANSMIT_HEAD));
    assert!(!flow.cwnd_reduction() && !flow.cwnd_reduced() && !flow.a1_active());
}

#[test]
fn section_3_4_growing_bandwidth_goes_to_figure_3_not_figure_1() {
    // Fig. 1 would act: 100 > 21.25
    let (act, flow) = hear(&scheme("etcp-v1"), &sender(100), &mbb("200/300", "6400/9"));
    assert_eq!(reduced_to(&act), None);
    assert!(!flow.cwnd_reduced());
}

#[test]
fn section_3_4_equal_or_falling_bandwidth_goes_to_figure_1() {
    for (old, new) in [("400/300", "400/150"), ("1600/75", "400/150")] {
        let (act, flow) = hear(&scheme("etcp-v1"), &sender(100), &mbb(old, new));
        assert!(reduced_to(&act).is_some());
        assert!(flow.cwnd_reduced() && !flow.cwnd_reduction());
    }
}

#[test]
fn section_3_4_a1_is_unchanged_by_n() {
    for flows in [1, 4] {
        let notice = with_flows(mbb("6400/9", "200/300"), flows);
        let (act, _) = hear(&scheme("etcp-v1"), &sender(21), &notice);
        close(min_rto_ms(&act).expect("A1"), 551.85, 1e-9);
    }
}

// -------------------------------------------------------------------- 3.5 convergence

#[test]
fn section_3_5_needs_a_factor_of_two_and_an_rtt_above_minrto() {
    let starts =
        |old: &str, new: &str| hear(&scheme("etcp-v1"), &sender(4), &mbb(old, new)).0.has(What::REINIT_RTT);
    assert!(starts("400/300", "400/101"), "232.8 ms");
    assert!(!starts("400/300", "400/80"), "190.8 ms");
    assert!(!starts("400/150", "400/101"), "factor 1.4");
}

#[test]
fn section_3_5_runs_only_where_a1_does_not() {
    let (act, flow) = hear(&scheme("etcp-v1"), &sender(4), &mbb("6400/9", "200/300"));
    assert!(!act.has(What::REINIT_RTT) && flow.a1_active());
}
