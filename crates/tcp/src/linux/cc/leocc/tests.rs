use super::super::bbr::BW_UNIT;
use super::super::{CongestionOps, MinMax, RateSample, Sock};
use super::*;

/// 40 packets in 9600 us, or one in 240 (TV-33).
const BW: u32 = 69905;

/// A sender in ProbeBw on a path of 20 ms, with 100 packets delivered, 100 in flight and a window of 180.
struct Flow {
    sk: Sock,
    leocc: Leocc,
}

impl Flow {
    fn new() -> Self {
        let mut sk = Sock::new(250, 1448);
        (sk.app_limited, sk.delivered, sk.srtt_us) = (0, 100, 20_000 * 8);
        (sk.snd_cwnd, sk.packets_out) = (180, 100);
        sk.refresh(1_000_000_000, 250);
        sk.delivered_mstamp = 1; // the phase has just begun
        let mut leocc = Leocc::new(1);
        leocc.init(&mut sk);
        (leocc.mode, leocc.min_rtt_us, leocc.full_bw_reached, leocc.cycle_idx) = (Mode::ProbeBw, 20_000, true, 2);
        leocc.bw = MinMax::new(0, BW);
        Self { sk, leocc }
    }

    /// An ACK of one packet, so many jiffies after the start, that took `interval_us`.
    fn ack(&mut self, jiffies: u32, prior_delivered: u32, rtt_us: i64, interval_us: i64) -> Mode {
        self.sk.jiffies = 250 + jiffies;
        self.sk.delivered += 1;
        let rs = RateSample {
            acked_sacked: 1,
            delivered: 1,
            interval_us,
            prior_delivered,
            rtt_us,
            ..RateSample::default()
        };
        self.leocc.cong_control(&mut self.sk, &rs);
        self.leocc.mode
    }

    /// The first ACK of a round, with one packet per 240 us.
    fn round(&mut self, jiffies: u32) -> Mode {
        self.ack(jiffies, self.sk.delivered, 70_000, 240)
    }
}

/// TV-54. The variance is 25 at first. With the first number it becomes 29, the gain 29 x 256 / 33 = 224, and then it is
/// (256 - 224) x 29 / 256 = 3.
#[test]
fn the_filter_follows_a_step() {
    let mut filter = Kalman::default();
    assert_eq!(filter, Kalman { x: 0, p: 25 });
    let gain = filter.measured(1_000);
    assert_eq!((gain, filter.x, filter.p), (224, 875, 3));
    let mut gains = vec![gain];
    let mut estimates = vec![filter.x];
    for z in [[1_000; 5].as_slice(), &[200; 6]].concat() {
        gains.push(filter.measured(z));
        estimates.push(filter.x);
    }
    assert_eq!(gains, [[224, 162].as_slice(), &[153; 10]].concat());
    assert_eq!(estimates, [875, 954, 981, 992, 996, 998, 521, 329, 251, 220, 208, 203]);
}

/// The first ACK while a reconfiguration is near begins ProbeRtt: half a product, 41.67 packets. It takes 200 ms and a
/// round from when no more are in flight. Then `min_rtt` is the last round trip, though it is longer. Startup begins
/// with no bandwidth, but at the rate and with the window that were.
#[test]
fn a_reconfiguration_is_probed_and_started_anew() {
    let mut flow = Flow::new();
    assert_eq!(flow.ack(5, 0, 20_000, 240), Mode::ProbeBw);
    assert_eq!((flow.sk.snd_cwnd, flow.sk.pacing_rate), (180, 5_972_994));
    flow.leocc.path_changes_soon(true);
    assert_eq!(flow.ack(10, 0, 20_000, 240), Mode::ProbeRtt);
    assert_eq!((flow.sk.snd_cwnd, flow.sk.app_limited), (42, 202));
    flow.leocc.path_changes_soon(false); // the trigger stays
    flow.sk.packets_out = 43;
    assert_eq!(flow.ack(15, 0, 70_000, 240), Mode::ProbeRtt); // one too many
    flow.sk.packets_out = 42;
    assert_eq!(flow.ack(20, 0, 70_000, 240), Mode::ProbeRtt); // 200 ms begin here: 50 jiffies
    assert_eq!(flow.round(60), Mode::ProbeRtt);
    assert_eq!(flow.ack(70, 0, 70_000, 240), Mode::ProbeRtt);
    assert_eq!((flow.leocc.min_rtt_us, flow.leocc.bw.get()), (20_000, BW));
    assert_eq!(flow.ack(71, 0, 70_000, 240), Mode::Startup);
    assert_eq!((flow.leocc.min_rtt_us, flow.leocc.bw.get()), (70_000, 0));
    assert!(!flow.leocc.full_bw_reached());
    assert_eq!((flow.sk.snd_cwnd, flow.sk.pacing_rate), (180, 5_972_994));
    // Startup at 2.89 times what is found. Its first round finds more than nothing, three more no quarter above that.
    for jiffies in 72..75 {
        assert_eq!(flow.round(jiffies), Mode::Startup);
        assert_eq!(flow.sk.pacing_rate, 17_242_354); // TV-33
    }
    assert_eq!(flow.round(75), Mode::ProbeBw); // Drain has nothing to do
    assert_eq!(flow.ack(76, 0, 70_000, 240), Mode::ProbeBw); // the trigger is gone
}

/// Round trips of 100 ms come down to 50 in ProbeRtt, by more than 45 ms. Startup begins with the rate of the ACK
/// before that, a packet in 480 us. Were they 60, with none.
#[test]
fn a_much_shorter_path_keeps_the_bandwidth_before() {
    for (shorter, bandwidth) in [(50_000, BW_UNIT / 480), (60_000, 0)] {
        let mut flow = Flow::new();
        for jiffies in 1..=6 {
            flow.ack(jiffies, 0, 100_000, 240);
        }
        flow.leocc.path_changes_soon(true);
        assert_eq!(flow.ack(7, 0, 100_000, 240), Mode::ProbeRtt);
        flow.sk.packets_out = 4;
        flow.ack(8, 0, 100_000, 480);
        flow.ack(9, 0, shorter, 240); // 99.9 ms is the filtered one
        flow.round(10);
        assert_eq!(flow.ack(60, 0, shorter, 240), Mode::Startup);
        assert_eq!((flow.leocc.min_rtt_us, u64::from(flow.leocc.bw.get())), (shorter as u32, bandwidth));
    }
}

/// Startup is not interrupted. A trigger that came in it has no effect later.
#[test]
fn startup_goes_on() {
    let mut flow = Flow::new();
    (flow.leocc.mode, flow.leocc.full_bw_reached, flow.sk.packets_out) = (Mode::Startup, false, 4);
    flow.leocc.path_changes_soon(true);
    assert_eq!(flow.ack(1, 0, 20_000, 240), Mode::Startup);
    flow.leocc.path_changes_soon(false);
    let modes = [2, 3, 4, 5, 6, 7].map(|jiffies| flow.round(jiffies));
    assert_eq!(modes, [[Mode::Startup; 3], [Mode::ProbeBw; 3]].concat()[..]);
}

/// `min_rtt` is valid for 20 s. Then ProbeRtt begins without a trigger, and ProbeBw goes on after it.
#[test]
fn the_round_trip_is_measured_every_20_s() {
    let mut flow = Flow::new();
    assert_eq!(flow.ack(5_000, 0, 22_000, 240), Mode::ProbeBw);
    assert_eq!(flow.ack(5_001, 0, 22_000, 240), Mode::ProbeRtt);
    flow.sk.packets_out = 4;
    flow.ack(5_002, 0, 22_000, 240);
    flow.round(5_003);
    assert_eq!(flow.ack(5_053, 0, 24_000, 240), Mode::ProbeBw);
    assert_eq!((flow.leocc.min_rtt_us, flow.leocc.bw.get()), (24_000, BW));
}

/// A filtered round trip of `min_rtt` and 10 ms is a queue. The rate follows the filtered bandwidth, and probing is
/// gentler by a fifth of a quarter: 268/256 in place of 320/256.
#[test]
fn a_queue_makes_it_gentle() {
    for (rtt_us, phase, rate) in
        [(30_000, 2, 5_972_994), (29_999, 2, 11_945_988), (30_000, 0, 6_252_978), (29_999, 0, 14_932_485)]
    {
        let mut flow = Flow::new();
        flow.leocc.bw = MinMax::new(0, 2 * BW);
        (flow.leocc.rules.bw.x, flow.leocc.rules.rtt.x) = (BW, rtt_us);
        flow.leocc.cycle_idx = phase;
        flow.ack(1, 0, rtt_us.into(), 240);
        flow.ack(2, 0, rtt_us.into(), 240); // a phase's gain was taken before the queue was seen
        assert_eq!(flow.sk.pacing_rate, rate, "{rtt_us} us in phase {phase}");
    }
}

/// The filter hears the largest rate of each round that ends in ProbeBw.
#[test]
fn the_bandwidth_is_filtered_by_rounds() {
    let mut flow = Flow::new();
    for interval_us in [480, 240, 960] {
        flow.ack(1, 0, 20_000, interval_us);
    }
    assert_eq!(flow.leocc.rules.bw.x, 0);
    flow.round(2);
    assert_eq!(flow.leocc.rules.bw.x, BW * 224 / 256);
}
