use super::super::MinMax;
use super::losses::inflight_at_loss_percent;
use super::*;

/// 50 Mbit/s of 1500-byte packets.
const BW: u32 = (40 * BW_UNIT / 9_600) as u32;

fn flow(mode: Mode, cwnd: u32) -> (Sock, Bbr3) {
    let mut sk = Sock::new(250, 1448);
    (sk.app_limited, sk.delivered, sk.srtt_us) = (0, 1_000, 20_000 * 8);
    sk.rtt_min = MinMax::new(0, 20_000);
    sk.refresh(1_000_000_000, 250);
    let mut bbr = Bbr3::new(1);
    bbr.init(&mut sk);
    (bbr.mode, bbr.full_bw_reached, bbr.bw_hi) = (mode, true, [BW, BW]);
    (sk.snd_cwnd, sk.is_cwnd_limited) = (cwnd, true);
    bbr.update_gains();
    bbr.set_pacing_rate(&mut sk, UNIT);
    (sk, bbr)
}

/// TV-38: more than 2 % is too much; where in a flight the losses passed that.
#[test]
fn two_percent_is_the_bound() {
    let sample = |tx_in_flight, lost| RateSample { tx_in_flight, lost, ..RateSample::default() };
    assert!(is_inflight_too_high(&sample(100, 3)));
    assert!(!is_inflight_too_high(&sample(100, 2)));
    // 98 in flight and 1 lost before the packet that is lost: (0.02 x 98 - 1) / 0.98 of it is one too many.
    assert_eq!(inflight_at_loss_percent(&sample(99, 2)), 9_898);
    assert_eq!(inflight_at_loss(&sample(99, 2)), 99);
    // The losses before were too many already.
    assert_eq!(inflight_at_loss(&sample(99, 10)), 98);
}

/// TV-39: cruising leaves 15 % free.
#[test]
fn cruising_leaves_headroom() {
    let (mut sk, mut bbr) = flow(Mode::Cruise, 500);
    bbr.inflight_hi = 200;
    bbr.bound_cwnd(&mut sk);
    assert_eq!(sk.snd_cwnd, 170);
    bbr.mode = Mode::Up;
    sk.snd_cwnd = 500;
    bbr.bound_cwnd(&mut sk);
    assert_eq!(sk.snd_cwnd, 200);
    bbr.inflight_lo = 90;
    bbr.bound_cwnd(&mut sk);
    assert_eq!(sk.snd_cwnd, 90);
}

/// TV-39: in each round of a probe the bound rises twice as fast.
#[test]
fn a_probe_accelerates() {
    let (sk, mut bbr) = flow(Mode::Up, 160);
    for per_packet in [160, 80, 40, 20] {
        bbr.raise_slope(&sk);
        assert_eq!(bbr.up_cnt, per_packet);
    }
    bbr.inflight_hi = 100;
    bbr.round_start = false;
    bbr.probe_inflight_upward(&sk, &RateSample { acked_sacked: 50, ..RateSample::default() });
    assert_eq!((bbr.inflight_hi, bbr.up_acks), (102, 10));
}

/// TV-40: rounds with losses cut to 0.7, not below what was delivered.
#[test]
fn losses_cut_the_lower_bound() {
    let (sk, mut bbr) = flow(Mode::Cruise, 160);
    (bbr.bw_hi, bbr.bw_latest) = ([100, 0], 50);
    let bounds: Vec<_> = (0..3)
        .map(|_| {
            bbr.cut_lower_bounds(&sk);
            (bbr.bw_lo, bbr.inflight_lo)
        })
        .collect();
    assert_eq!(bounds, [(70, 112), (50, 78), (50, 54)]);
    assert_eq!(bbr.bw(), 50);
    bbr.start_refill(&sk);
    assert_eq!((bbr.bw(), bbr.inflight_lo), (100, UNSET));
}

/// A timeout that proves needless gives the bounds back.
#[test]
fn undo_restores_the_bounds() {
    let (mut sk, mut bbr) = flow(Mode::Cruise, 160);
    (bbr.bw_lo, bbr.inflight_lo, bbr.inflight_hi) = (70, 150, 200);
    bbr.ssthresh(&sk);
    sk.snd_cwnd = 1;
    bbr.set_state(&mut sk, CaState::Loss);
    bbr.cut_lower_bounds(&sk);
    bbr.inflight_hi = 120;
    assert!(bbr.bw_lo < 70 && bbr.inflight_lo < 150);
    assert_eq!(bbr.undo_cwnd(&sk), 160);
    assert_eq!((bbr.bw_lo, bbr.inflight_lo, bbr.inflight_hi), (70, 150, 200));
}

/// A path of fixed rate, round trip and buffer, to whose clock `Bbr3` runs: one ACK per packet.
struct Path {
    /// us per packet, round trip without a queue, packets that the buffer holds.
    per_packet: u64,
    rtt: u64,
    buffer: u64,
    /// When the bottleneck is free.
    free: u64,
    now: u64,
    queue: std::collections::VecDeque<(u64, u64, TxStamp)>,
    modes: Vec<Mode>,
    dropped: u32,
}

impl Path {
    fn new(per_packet: u64, rtt: u64, buffer: u64) -> Self {
        let queue = std::collections::VecDeque::new();
        Self { per_packet, rtt, buffer, free: 0, now: 1_000_000, queue, modes: Vec::new(), dropped: 0 }
    }

    /// Sends by window and rate until `end`, us.
    fn run(&mut self, sk: &mut Sock, bbr: &mut Bbr3, end: u64) {
        let mut departure = self.now;
        while self.now < end {
            let room = sk.packets_in_flight() < sk.snd_cwnd;
            let ack = self.queue.front().map_or(u64::MAX, |&(arrival, ..)| arrival);
            if room && departure.max(self.now) <= ack {
                self.now = departure.max(self.now);
                sk.refresh(self.now * 1_000, (self.now / 4_000) as u32);
                departure = self.now + (1448 * 1_000_000 / sk.pacing_rate).max(1);
                let stamp = sk.rate_skb_sent(self.now);
                sk.packets_out += 1;
                sk.is_cwnd_limited = sk.packets_in_flight() >= sk.snd_cwnd;
                let waiting = self.free.saturating_sub(self.now) / self.per_packet;
                if waiting > self.buffer {
                    // Its loss is found a round trip later, and repaired at once.
                    self.queue.push_back((self.free + self.rtt, 0, stamp));
                } else {
                    self.free = self.free.max(self.now) + self.per_packet;
                    self.queue.push_back((self.free + self.rtt - self.per_packet, self.now, stamp));
                }
                continue;
            }
            let (arrival, sent, mut stamp) = self.queue.pop_front().expect("something is in flight");
            self.now = arrival;
            sk.refresh(self.now * 1_000, (self.now / 4_000) as u32);
            let mut rs = RateSample { prior_in_flight: sk.packets_in_flight(), ..RateSample::default() };
            sk.packets_out -= 1;
            let lost = u32::from(sent == 0);
            if lost > 0 {
                self.dropped += 1;
                sk.lost += 1;
                bbr.skb_marked_lost(sk, &stamp);
            } else {
                let packet = super::super::rate::Delivered {
                    sent_us: sent,
                    end_seq: sk.delivered,
                    retransmitted: false,
                    sacked: false,
                };
                sk.delivered += 1;
                rs.rtt_us = (self.now - sent) as i64;
                sk.rtt_min.running_min(75_000, sk.jiffies, rs.rtt_us as u32);
                sk.rate_skb_delivered(&mut stamp, &packet, &mut rs);
            }
            sk.rate_gen(1 - lost, lost, false, &mut rs);
            bbr.cong_control(sk, &rs);
            if self.modes.last() != Some(&bbr.mode) {
                self.modes.push(bbr.mode);
            }
        }
    }
}

fn start() -> (Sock, Bbr3) {
    let mut sk = Sock::new(250, 1448);
    (sk.app_limited, sk.delivered, sk.srtt_us) = (0, 1, 40_000 * 8);
    sk.rtt_min = MinMax::new(0, 40_000);
    sk.refresh(1_000_000_000, 250);
    let mut bbr = Bbr3::new(7);
    bbr.init(&mut sk);
    (sk, bbr)
}

/// 1000 packets/s, 40 ms: the modes come in the draft's order, and the model is the path.
#[test]
fn a_steady_path_is_found() {
    let (mut sk, mut bbr) = start();
    let mut path = Path::new(1_000, 40_000, 1_000);
    path.run(&mut sk, &mut bbr, 12_000_000);
    assert_eq!(path.modes[..5], [Mode::Startup, Mode::Drain, Mode::Down, Mode::Cruise, Mode::Refill]);
    let edges: Vec<_> = path.modes.windows(2).map(|edge| (edge[0], edge[1])).collect();
    for edge in [(Mode::Refill, Mode::Up), (Mode::Up, Mode::Down), (Mode::ProbeRtt, Mode::Cruise)] {
        assert!(edges.contains(&edge), "{edge:?} in {edges:?}");
    }
    let per_second = u64::from(bbr.max_bw()) * 1_000_000 / BW_UNIT;
    assert!((990..=1_010).contains(&per_second), "{per_second} packets/s");
    assert!((40_000..41_000).contains(&bbr.min_rtt_us), "{} us", bbr.min_rtt_us);
    assert_eq!(path.dropped, 0);
}

/// The rate falls to a tenth: two cycles later the bandwidth is forgotten, and the buffer bounds what is in flight.
#[test]
fn a_slower_path_is_learned() {
    let (mut sk, mut bbr) = start();
    let mut path = Path::new(1_000, 40_000, 60);
    path.run(&mut sk, &mut bbr, 8_000_000);
    path.per_packet = 10_000;
    path.run(&mut sk, &mut bbr, 40_000_000);
    let per_second = u64::from(bbr.max_bw()) * 1_000_000 / BW_UNIT;
    assert!((95..=125).contains(&per_second), "{per_second} packets/s");
    assert!(sk.snd_cwnd <= 40, "{}", sk.snd_cwnd);
}

/// The rate grows tenfold: the upper bound does not hold it for long.
#[test]
fn a_faster_path_is_used() {
    let (mut sk, mut bbr) = start();
    let mut path = Path::new(10_000, 40_000, 100);
    path.run(&mut sk, &mut bbr, 10_000_000);
    path.per_packet = 1_000;
    path.run(&mut sk, &mut bbr, 30_000_000);
    let per_second = u64::from(bbr.max_bw()) * 1_000_000 / BW_UNIT;
    assert!(per_second > 900, "{per_second} packets/s");
}
