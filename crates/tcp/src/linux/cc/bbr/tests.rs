use super::super::MinMax;
use super::window::tso_segs_goal;
use super::*;

/// 40 packets in 9600 us: 50 Mbit/s of 1500-byte packets (TV-33).
const BW: u32 = (40 * BW_UNIT / 9_600) as u32;

/// A sender and its control in `mode`, with the pipe full.
fn flow(mode: Mode, min_rtt_us: u32) -> (Sock, Bbr) {
    let mut sk = Sock::new(250, 1448);
    (sk.app_limited, sk.delivered, sk.srtt_us) = (0, 100, min_rtt_us * 8);
    sk.refresh(1_000_000_000, 250);
    sk.delivered_mstamp = sk.tcp_mstamp;
    let mut bbr = Bbr::new(1);
    bbr.init(&mut sk);
    (bbr.mode, bbr.min_rtt_us, bbr.full_bw_reached, bbr.cycle_idx) = (mode, min_rtt_us, true, 2);
    bbr.bw = MinMax::new(0, BW);
    bbr.update_gains();
    bbr.set_pacing_rate(&mut sk, BW, UNIT);
    (sk, bbr)
}

/// TV-33: rates with the margin of 1 %.
#[test]
fn rates_follow_from_bandwidth_and_gain() {
    assert_eq!(BW, 69905);
    let sk = Sock::new(250, 1448);
    let rates = [256, 320, 192, 739, 88].map(|gain| pacing_rate(&sk, BW, gain));
    assert_eq!(rates, [5972994, 7466242, 4479745, 17242354, 2053216]);
    assert_eq!((HIGH_GAIN, DRAIN_GAIN), (739, 88));
}

/// TV-34: products, windows and what ProbeBw wants in flight, for three round trips.
#[test]
fn windows_follow_from_the_product() {
    for (rtt_us, bdp, twice, inflight, cwnd, probed) in [
        (20_000, 84, 167, 96, 180, 120),
        (40_000, 167, 334, 180, 346, 224),
        (100_000, 417, 834, 430, 846, 536),
    ] {
        let (sk, mut bbr) = flow(Mode::ProbeBw, rtt_us);
        assert_eq!(tso_segs_goal(&sk), 4);
        assert_eq!((bbr.bdp(BW, UNIT), bbr.bdp(BW, 2 * UNIT)), (bdp, twice));
        assert_eq!(bbr.inflight(&sk, BW, UNIT), inflight);
        assert_eq!(bbr.quantized(&sk, bbr.bdp(BW, CWND_GAIN)), cwnd);
        bbr.cycle_idx = 0; // the probing phase has room for two packets more
        assert_eq!(bbr.quantized(&sk, bbr.bdp(BW, CWND_GAIN)), cwnd + 2);
        assert_eq!(bbr.inflight(&sk, BW, CYCLE[0]), probed);
    }
}

/// TV-35: the first rate.
#[test]
fn the_initial_window_paces_the_first_round() {
    let mut sk = Sock::new(250, 1448);
    sk.srtt_us = 40_000 * 8;
    Bbr::new(0).init(&mut sk);
    assert_eq!((sk.pacing_rate, sk.pacing_status), (1034467, PacingStatus::Needed));
    sk.srtt_us = 0;
    Bbr::new(0).init(&mut sk);
    assert_eq!((sk.pacing_rate as f64 * 8.0 / 1e4).round() / 100.0, 331.05);
}

/// TV-36: three rounds without a quarter more.
#[test]
fn the_pipe_is_full_after_three_rounds() {
    let mut bbr = Bbr::new(0);
    bbr.round_start = true;
    let rounds = [(10, 10, 0), (20, 20, 0), (40, 40, 0), (78, 78, 0), (90, 78, 1), (94, 78, 2), (95, 78, 3)];
    for (round, (max, full_bw, count)) in (1..).zip(rounds) {
        bbr.bw = MinMax::new(round, max);
        // A sample that the application held back proves nothing, nor does an ACK within a round.
        bbr.check_full_bw_reached(&RateSample { is_app_limited: true, ..RateSample::default() });
        bbr.check_full_bw_reached(&RateSample::default());
        assert_eq!((bbr.full_bw, bbr.full_bw_cnt, bbr.full_bw_reached), (full_bw, count, round == 7));
    }
}

/// TV-37, recorded on a running kernel: after a timeout cwnd is 1. The ACK of the head makes it 4 at once, then each
/// ACK adds one. ssthresh stays infinite.
#[test]
fn an_outage_leaves_four_packets() {
    let mut sk = Sock::new(250, 1000);
    sk.srtt_us = 100_000 * 8;
    sk.rtt_min = MinMax::new(0, 100_000);
    let mut bbr = Bbr::new(0);
    bbr.init(&mut sk);
    bbr.bw = MinMax::new(0, (20 * BW_UNIT / 100_000) as u32);
    (sk.delivered, sk.snd_cwnd, sk.packets_out, sk.lost_out) = (11, 20, 21, 21);
    assert_eq!(bbr.ssthresh(&sk), INFINITE_SSTHRESH);
    sk.snd_cwnd = 1;
    bbr.set_state(&mut sk, CaState::Loss);
    sk.ca_state = CaState::Loss;
    let mut windows = Vec::new();
    for _ in 0..5 {
        sk.delivered += 1;
        bbr.cong_control(
            &mut sk,
            &RateSample { acked_sacked: 1, delivered: -1, interval_us: -1, ..RateSample::default() },
        );
        windows.push(sk.snd_cwnd);
    }
    assert_eq!((windows, sk.snd_ssthresh), (vec![4, 5, 6, 7, 8], INFINITE_SSTHRESH));
}

/// Bursts: one segment below 1.2 Mbit/s, two from there on, a millisecond of a fast sender's rate, 64 KiB at most.
#[test]
fn bursts_grow_with_the_rate() {
    let mut sk = Sock::new(250, 1448);
    for (rate, segments) in [(149_999, 1), (150_000, 2), (5_972_994, 4), (100_000_000, 45)] {
        sk.pacing_rate = rate;
        assert_eq!(tso_segs_goal(&sk), segments, "{rate}");
    }
}

/// A cycle begins in any phase but the draining one, and the seed says in which.
#[test]
fn the_lot_spares_the_draining_phase() {
    let phases = |seed| {
        let (sk, mut bbr) = flow(Mode::Drain, 20_000);
        bbr.random = Pcg64Mcg::seed_from_u64(seed);
        let mut draw = || {
            bbr.enter_probe_bw(&sk);
            bbr.cycle_idx
        };
        (0..200).map(|_| draw()).collect::<Vec<_>>()
    };
    let drawn = phases(3);
    for phase in 0..8 {
        assert_eq!(drawn.contains(&phase), phase != 1, "phase {phase}");
    }
    assert_eq!(drawn, phases(3));
    assert_ne!(drawn, phases(4));
}

/// `bbr_is_next_cycle_phase`.
#[test]
fn phases_end_by_time_or_by_flight() {
    let over = |gain, later_us, prior_in_flight, losses| {
        let (mut sk, mut bbr) = flow(Mode::ProbeBw, 20_000);
        (bbr.pacing_gain, bbr.cycle_mstamp) = (gain, sk.delivered_mstamp);
        sk.delivered_mstamp += later_us;
        bbr.phase_is_over(&sk, &RateSample { prior_in_flight, losses, ..RateSample::default() })
    };
    // Cruising: longer than min_rtt.
    assert!(!over(UNIT, 20_000, 0, 0) && over(UNIT, 20_001, 0, 0));
    // Probing: and 118 packets with a burst of 4 in flight (1.25 x 84 + 12, even), or a loss.
    assert!(!over(CYCLE[0], 20_001, 113, 0) && over(CYCLE[0], 20_001, 114, 0));
    assert!(over(CYCLE[0], 20_001, 0, 1) && !over(CYCLE[0], 20_000, 200, 1));
    // Draining: or no more than 96 in flight.
    assert!(!over(CYCLE[1], 20_000, 97, 0) && over(CYCLE[1], 20_000, 96, 0) && over(CYCLE[1], 20_001, 97, 0));
}

/// Packets that leave before the next departure do not count as in flight then.
#[test]
fn departures_ahead_are_deducted() {
    let (mut sk, mut bbr) = flow(Mode::ProbeBw, 20_000);
    sk.tcp_wstamp_ns = sk.tcp_clock_cache + 2_400_000; // 10 packets at the bandwidth
    assert_eq!(bbr.packets_in_net_at_edt(&sk, 100), 91); // 9.99 of them, rounded down
    assert_eq!(bbr.packets_in_net_at_edt(&sk, 8), 0);
    bbr.pacing_gain = CYCLE[0];
    assert_eq!(bbr.packets_in_net_at_edt(&sk, 100), 95);
}

/// Recovery: as many packets as arrive for a round, then growth, then what cwnd was.
#[test]
fn recovery_conserves_packets_for_a_round() {
    let (mut sk, mut bbr) = flow(Mode::ProbeBw, 20_000);
    (sk.snd_cwnd, sk.packets_out, sk.lost_out) = (150, 150, 20);
    bbr.ssthresh(&sk);
    sk.ca_state = CaState::Recovery;
    let ack = |acked, losses| RateSample {
        acked_sacked: acked,
        losses,
        delivered: -1,
        interval_us: -1,
        ..RateSample::default()
    };
    bbr.cong_control(&mut sk, &ack(2, 20));
    assert_eq!(sk.snd_cwnd, 132); // 130 in flight
    // A round later: cwnd grows by what is ACKed, less what is lost.
    bbr.packet_conservation = false;
    bbr.cong_control(&mut sk, &ack(2, 5));
    assert_eq!(sk.snd_cwnd, 129);
    sk.ca_state = CaState::Open;
    bbr.cong_control(&mut sk, &ack(2, 0));
    assert_eq!(sk.snd_cwnd, 152);
    // Nothing is undone but Startup's test.
    bbr.full_bw = 7;
    assert_eq!((bbr.undo_cwnd(&sk), bbr.full_bw), (152, 0));
}

/// ProbeRtt after 10 s without a smaller round trip: 4 packets, for 200 ms and a round from then on.
#[test]
fn probe_rtt_takes_200_ms() {
    let (mut sk, mut bbr) = flow(Mode::ProbeBw, 20_000);
    (sk.snd_cwnd, sk.packets_out) = (180, 100);
    let mut ack = |jiffies: u32, packets_out, prior_delivered, rtt_us| {
        (sk.jiffies, sk.packets_out) = (250 + jiffies, packets_out);
        sk.delivered += 1;
        let rs = RateSample {
            acked_sacked: 1,
            delivered: 1,
            interval_us: 240,
            prior_delivered,
            rtt_us,
            ..RateSample::default()
        };
        bbr.cong_control(&mut sk, &rs);
        (bbr.mode, sk.snd_cwnd, bbr.min_rtt_us, sk.app_limited)
    };
    assert_eq!(ack(2_500, 100, 0, 30_000), (Mode::ProbeBw, 180, 20_000, 0));
    // The window is over: what is measured now counts, 60 ms too.
    assert_eq!(ack(2_501, 100, 0, 60_000), (Mode::ProbeRtt, 4, 60_000, 202));
    assert_eq!(ack(2_510, 4, 0, 50_000), (Mode::ProbeRtt, 4, 50_000, 107)); // 200 ms begin here
    assert_eq!(ack(2_560, 4, 103, 50_000).0, Mode::ProbeRtt); // a round, but no more than 200 ms
    let (mode, cwnd, ..) = ack(2_561, 4, 103, 50_000);
    assert_eq!((mode, cwnd >= 180), (Mode::ProbeBw, true));
}

/// Packets ACKed beyond bandwidth x time widen the window, for five to ten rounds, by 100 ms at most.
#[test]
fn aggregated_acks_widen_the_window() {
    let (mut sk, mut bbr) = flow(Mode::ProbeBw, 20_000);
    sk.snd_cwnd = 1_000;
    let mut ack = |us, acked, round_start| {
        sk.delivered_mstamp += us;
        let rs =
            RateSample { acked_sacked: acked, delivered: 1, interval_us: 1_000, ..RateSample::default() };
        bbr.aggregation.update(&sk, &rs, BW, round_start, EXTRA_ACKED_ROUNDS);
        bbr.ack_aggregation_cwnd()
    };
    assert_eq!(ack(0, 10, false), 10); // an epoch begins
    assert_eq!(ack(1_000, 40, false), 46); // 50 in the time of 4
    assert_eq!(ack(100_000, 1, false), 46); // expected 420: a new epoch
    assert_eq!(ack(0, 999, false), 416); // 1000, but 100 ms of the bandwidth are 416
    for round in 1..10 {
        assert_eq!(ack(300_000, 1, true), 416, "round {round}");
    }
    assert_eq!(ack(300_000, 1, true), 1);
}

/// Two intervals with a fifth lost and the same rate: somebody polices. The rate holds for 48 rounds.
#[test]
fn a_policer_is_recognised() {
    let (mut sk, mut bbr) = flow(Mode::ProbeBw, 20_000);
    let mut round = 0;
    let mut next = |losses: u32, delivered: u32| {
        round += 1;
        sk.delivered += delivered;
        sk.lost += losses;
        sk.delivered_mstamp += 20_000;
        bbr.round_start = true;
        bbr.sample_long_term(&sk, &RateSample { losses, ..RateSample::default() });
        bbr.lt.bw()
    };
    assert_eq!(next(1, 40), None); // sampling begins, and this is its first round
    for _ in 0..2 {
        assert_eq!(next(10, 40), None);
    }
    assert_eq!(next(10, 40), None); // 30 of 120: the first interval ends
    for _ in 0..3 {
        assert_eq!(next(10, 42), None);
    }
    // 4 rounds of 42 after 3 of 40 in 60 ms: 2 and 2.1 packets per ms.
    let (first, second) = (120 * BW_UNIT / 60_000, 168 * BW_UNIT / 80_000);
    assert_eq!(next(10, 42), Some(((first + second) / 2) as u32));
    for _ in 0..47 {
        assert!(next(10, 10).is_some());
    }
    assert_eq!(next(10, 10), None);
}

/// A small loss is no policer's: below a fifth the interval goes on, and after 16 rounds it is dropped.
#[test]
fn small_losses_are_no_policer() {
    let (mut sk, mut bbr) = flow(Mode::ProbeBw, 20_000);
    for _ in 0..200 {
        sk.delivered += 40;
        sk.lost += 7; // 45/256 of 40
        sk.delivered_mstamp += 20_000;
        bbr.round_start = true;
        bbr.sample_long_term(&sk, &RateSample { losses: 7, ..RateSample::default() });
        assert_eq!(bbr.lt.bw(), None);
    }
}

/// Data after idle time leaves at the bandwidth, not at the phase's gain, and no ProbeRtt begins.
#[test]
fn a_restart_after_idle_time_is_calm() {
    let (mut sk, mut bbr) = flow(Mode::ProbeBw, 20_000);
    sk.pacing_rate = 7_466_242;
    bbr.cwnd_event(&mut sk, CaEvent::TxStart);
    assert_eq!((sk.pacing_rate, bbr.idle_restart), (7_466_242, false)); // the application had enough
    sk.app_limited = 1;
    bbr.cwnd_event(&mut sk, CaEvent::TxStart);
    assert_eq!((sk.pacing_rate, bbr.idle_restart), (5_972_994, true));
    sk.jiffies += 2_501;
    let rs = RateSample { acked_sacked: 1, delivered: 1, interval_us: 20_000, ..RateSample::default() };
    bbr.cong_control(&mut sk, &rs);
    assert_eq!((bbr.mode, bbr.idle_restart), (Mode::ProbeBw, false));
}

/// A notice of 6400 kbit/s: 800,000 bytes a second, and Startup on a path of unknown length. A trial that found ten
/// packets per round trip of 20 ms bounds the rate by 724,000, and does not raise it.
#[test]
fn another_window_is_another_path() {
    let (mut sk, mut bbr) = flow(Mode::ProbeBw, 20_000);
    bbr.start_anew(&mut sk, Anew::WindowSet { kbps: 6400 });
    assert_eq!((bbr.mode, bbr.min_rtt_us, bbr.full_bw_reached), (Mode::Startup, u32::MAX, false));
    assert_eq!(sk.pacing_rate, 800_000);
    for (before, after) in [(800_000, 724_000), (100_000, 100_000)] {
        sk.pacing_rate = before;
        bbr.start_anew(&mut sk, Anew::Retreat { found: 10, before: None });
        assert_eq!(sk.pacing_rate, after);
    }
}

/// A claim has filled the flow's part of the path, however it ends: the next ACK ends Startup (`bbr_check_drain`).
#[test]
fn startup_ends_with_a_claim() {
    for cut in [false, true] {
        let (mut sk, mut bbr) = flow(Mode::Startup, 20_000);
        bbr.full_bw_reached = false;
        let rs = RateSample { acked_sacked: 1, delivered: 1, interval_us: 20_000, ..RateSample::default() };
        bbr.cong_control(&mut sk, &rs);
        assert_eq!(bbr.mode, Mode::Startup);
        bbr.start_anew(&mut sk, Anew::ClaimOver { cut, refuted: false, before: None });
        bbr.cong_control(&mut sk, &rs);
        assert_ne!(bbr.mode, Mode::Startup, "{cut}");
    }
}

/// A raise without an outage has met a standing queue of 80 ms, and was refuted. The connection's lowest round trip of 20 ms
/// counts again.
#[test]
fn a_refuted_raise_leaves_no_longer_min_rtt() {
    let over = |refuted| Anew::ClaimOver { cut: false, refuted, before: None };
    let retreat = |before| Anew::Retreat { found: 10, before };
    let longer = [over(false), retreat(None)].map(|why| (why, 80_000));
    let least = [over(true), retreat(Some(4)), Anew::Refuted { before: 4 }].map(|why| (why, 20_000));
    for (why, min_rtt_us) in [&longer[..], &least[..]].concat() {
        let (mut sk, mut bbr) = flow(Mode::ProbeBw, 20_000);
        sk.rtt_min = MinMax::new(0, 20_000);
        bbr.start_anew(&mut sk, Anew::WindowSet { kbps: 6400 });
        bbr.min_rtt_us = 80_000;
        bbr.start_anew(&mut sk, why);
        assert_eq!(bbr.min_rtt_us, min_rtt_us, "{why:?}");
    }
}
