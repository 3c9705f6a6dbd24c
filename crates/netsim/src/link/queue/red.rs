//! RED, random early detection (Floyd and Jacobson 1993), gentle (Floyd 2000), as in ns-2 2.35 (`red.cc`), with the
//! thresholds that it computes for a link's rate (`initialize_params`).
//!
//! `red.cc` has three rules that the paper's section 4 lacks:
//! * what finds at most one packet waiting is not dropped, whatever the mean;
//! * nor is the packet with which the mean crosses the lower threshold;
//! * idle is a link that asks for a packet and finds none, not a queue whose last packet is being sent. Linux has this
//!   rule, too (`red_dequeue`).

use super::{Discipline, Fifo, Waiting};
use crate::random::{stream, uniform};
use crate::{Nanos, PacketId, SECOND};
use rand_pcg::Pcg64Mcg;

/// Constants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedConfig {
    /// Mean packets below which nothing is dropped.
    pub min: f64,
    /// Mean packets at which `max_p` is reached.
    pub max: f64,
    /// Probability there. Up to twice as many packets it rises to 1 (gentle).
    pub max_p: f64,
    /// w_q: weight of an arrival in the mean.
    pub weight: f64,
    /// Time of a packet's transmission, by which an idle queue's mean ages.
    pub packet_time: Nanos,
    /// Most packets that wait; an arrival beyond is dropped.
    pub limit: u32,
    /// Packets whose transport understands it are marked in place of dropped, but where the queue is full
    /// (`sch_red.c`).
    pub ecn: bool,
}

impl RedConfig {
    /// Those of ns-2 for a link of so many bit/s with packets of `mtu` bytes. The thresholds are half of the packets of
    /// 5 ms, 5 at least, and three times as many. The probability there is 1/10, and w_q 0.002. There is room for four
    /// times the upper threshold.
    pub fn for_rate(rate: u64, mtu: u32) -> Self {
        let packets_per_s = rate as f64 / (8.0 * f64::from(mtu));
        let min = (packets_per_s * 0.005 / 2.0).max(5.0);
        let packet_time = 8 * Nanos::from(mtu) * SECOND / rate.max(1);
        let limit = (12.0 * min) as u32;
        Self {
            min,
            max: 3.0 * min,
            max_p: 0.1,
            weight: 0.002,
            packet_time: packet_time.max(1),
            limit,
            ecn: false,
        }
    }
}

/// A RED queue. Fields have the names of the paper's section 4, and `old` that of `red.cc`.
#[derive(Clone, Debug)]
pub struct Red {
    config: RedConfig,
    fifo: Fifo,
    avg: f64,
    /// Packets since the last drop, or since the mean crossed the lower threshold.
    count: u32,
    /// Whether the packet before could have been dropped early.
    old: bool,
    /// Since when the link has been idle.
    q_time: Option<Nanos>,
    random: Pcg64Mcg,
}

impl Red {
    /// An empty queue. `number` is the link's own: links with one seed draw from different streams.
    pub fn new(config: RedConfig, seed: u64, number: u64) -> Self {
        let random = stream(seed, number);
        Self { config, fifo: Fifo::default(), avg: 0.0, count: 0, old: false, q_time: Some(0), random }
    }

    /// `estimator`: the mean at an arrival. A queue that has been idle ages as if so many whole packets had met none.
    fn average(&mut self, now: Nanos) {
        if let Some(idle_since) = self.q_time.take() {
            let m = (now - idle_since) / self.config.packet_time;
            self.avg *= libm::pow(1.0 - self.config.weight, m as f64);
        }
        self.avg += self.config.weight * (self.fifo.len() as f64 - self.avg);
    }

    /// p_b: by the mean alone.
    fn by_mean(&self) -> f64 {
        let RedConfig { min, max, max_p, .. } = self.config;
        match self.avg {
            avg if avg < min => 0.0,
            avg if avg < max => max_p * (avg - min) / (max - min),
            avg => (max_p + (1.0 - max_p) * (avg - max) / max).min(1.0),
        }
    }

    /// `modify_p`, p_a: the distances of drops become uniform.
    fn by_count(&self) -> f64 {
        let p_b = self.by_mean();
        let counted = f64::from(self.count) * p_b;
        if counted < 1.0 { (p_b / (1.0 - counted)).min(1.0) } else { 1.0 }
    }

    /// Whether the packet that arrives is dropped early (`enque`).
    fn drops(&mut self) -> bool {
        self.count += 1;
        if self.avg < self.config.min || self.fifo.len() <= 1 {
            self.old = false;
            return false;
        }
        if self.avg >= 2.0 * self.config.max {
            self.count = 0;
            return true;
        }
        if !self.old {
            (self.old, self.count) = (true, 1);
            return false;
        }
        let lost = uniform(&mut self.random) <= self.by_count();
        if lost {
            self.count = 0;
        }
        lost
    }
}

impl Discipline for Red {
    fn enqueue(&mut self, mut packet: Waiting, dropped: &mut Vec<PacketId>) {
        self.average(packet.arrival);
        if self.drops() && !(self.config.ecn && packet.ecn.mark()) {
            dropped.push(packet.packet);
        } else if self.fifo.len() >= self.config.limit as usize {
            self.count = 0;
            dropped.push(packet.packet);
        } else {
            self.fifo.push(packet);
        }
    }

    fn dequeue(&mut self, now: Nanos, _dropped: &mut Vec<PacketId>) -> Option<Waiting> {
        let head = self.fifo.pop();
        if head.is_none() {
            self.q_time = Some(now);
        }
        head
    }

    fn waiting(&self) -> Box<dyn Iterator<Item = PacketId> + '_> {
        Box::new(self.fifo.packets())
    }

    fn clear(&mut self) {
        self.fifo.clear();
    }

    fn fork(&self) -> Box<dyn Discipline> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Codepoint;
    use super::*;
    use crate::Slab;

    const CONFIG: RedConfig = RedConfig {
        min: 5.0,
        max: 15.0,
        max_p: 0.1,
        weight: 0.002,
        packet_time: 1_000_000,
        limit: 100,
        ecn: false,
    };

    fn red(avg: f64, count: u32) -> Red {
        Red { avg, count, old: true, ..Red::new(CONFIG, 1, 0) }
    }

    fn waiting(slab: &mut Slab<()>, ecn: Codepoint) -> Waiting {
        Waiting { packet: slab.insert(()), bytes: 1500, flow: 0, arrival: 0, ecn }
    }

    /// The paper's example by hand: a mean of 10 gives 0.1 * 5 / 10 = 0.05; after 5 packets 0.05 / 0.75, and so on.
    #[test]
    fn probabilities() {
        for (avg, expected) in [(4.9, 0.0), (5.0, 0.0), (10.0, 0.05), (15.0, 0.1), (22.5, 0.55), (30.0, 1.0)]
        {
            assert!((red(avg, 0).by_mean() - expected).abs() < 1e-12, "{avg}");
        }
        for (count, expected) in [(0, 0.05), (5, 0.05 / 0.75), (10, 0.1), (15, 0.2), (19, 1.0), (20, 1.0)] {
            assert!((red(10.0, count).by_count() - expected).abs() < 1e-9, "{count}");
        }
    }

    /// A queue that jumps from 0 to 50: 50 * (1 - 0.998^100) = 9.07 after 100 arrivals. Then 50 packet times of
    /// silence.
    #[test]
    fn the_mean_follows_slowly() {
        let mut red = red(0.0, 0);
        let mut slab = Slab::default();
        red.q_time = None;
        for _ in 0..50 {
            red.fifo.push(waiting(&mut slab, Codepoint::NotEct));
        }
        (0..100).for_each(|_| red.average(0));
        assert!((red.avg - 50.0 * (1.0 - 0.998_f64.powi(100))).abs() < 1e-9, "{}", red.avg);
        assert!((red.avg - 9.07).abs() < 0.01);
        red.fifo.clear();
        red.q_time = Some(0);
        red.average(50_000_000);
        assert!((red.avg - 9.071_6 * 0.998_f64.powi(51)).abs() < 0.001, "{}", red.avg);
    }

    /// The mean stays at 10, so p_b is 0.05. The packet after a drop counts 1, so that p_a is 1/19. It is 1/18 for the
    /// next if that one stays, and so on to 1. So the distance of two drops is uniform over 1, ..., 19, with a mean
    /// of 10.
    #[test]
    fn drops_are_spread() {
        let mut red = red(10.0, 0);
        let mut slab = Slab::default();
        (0..2).for_each(|_| red.fifo.push(waiting(&mut slab, Codepoint::NotEct)));
        let mut distances = Vec::new();
        let mut last = 0;
        for number in 1..=100_000 {
            red.avg = 10.0;
            if red.drops() {
                distances.push(number - last);
                last = number;
            }
        }
        distances.remove(0);
        let mean = distances.iter().sum::<i32>() as f64 / distances.len() as f64;
        assert!((mean - 10.0).abs() < 0.2, "{mean}");
        assert!(distances.iter().all(|distance| (1..=19).contains(distance)));
    }

    /// `red.cc`, by hand: at a mean of 40 all would be dropped, at 14 with p_b = 0.09. Neither what finds one packet
    /// waiting is, nor the packet that finds two first: the mean then has just crossed the threshold. That one counts 1.
    #[test]
    fn short_queues_and_crossings_are_spared() {
        for avg in [14.0, 40.0] {
            let mut red = Red { old: false, ..red(avg, 30) };
            let mut slab = Slab::default();
            for _ in 0..2 {
                assert!(!red.drops() && !red.old);
                red.fifo.push(waiting(&mut slab, Codepoint::NotEct));
            }
            if avg < 30.0 {
                assert!(!red.drops());
                assert_eq!((red.old, red.count), (true, 1));
            } else {
                assert!(red.drops());
            }
            _ = red.fifo.pop();
            assert!(!red.drops() && !red.old);
        }
    }

    /// A link that sends its last packet is not idle: the mean ages from the end of that transmission on.
    #[test]
    fn idle_is_a_link_without_a_packet() {
        let (mut red, mut slab) = (red(10.0, 0), Slab::default());
        let mut dropped = Vec::new();
        red.q_time = None;
        red.enqueue(waiting(&mut slab, Codepoint::NotEct), &mut dropped);
        assert!(red.dequeue(1_000_000, &mut dropped).is_some());
        assert_eq!(red.q_time, None);
        assert!(red.dequeue(3_000_000, &mut dropped).is_none());
        // 4.5 packet times: four whole ones and the arrival.
        let avg = red.avg;
        red.average(7_500_000);
        assert!((red.avg - avg * 0.998_f64.powi(5)).abs() < 1e-12);
    }

    #[test]
    fn marks_stand_for_drops_until_the_queue_is_full() {
        let mut red = red(40.0, 0);
        red.config.ecn = true;
        let mut slab = Slab::default();
        let mut enqueue = |red: &mut Red, ecn| {
            let mut dropped = Vec::new();
            red.avg = 40.0;
            red.enqueue(waiting(&mut slab, ecn), &mut dropped);
            dropped.is_empty()
        };
        assert!((0..2).all(|_| enqueue(&mut red, Codepoint::Ect)), "a short queue takes all");
        assert!(!enqueue(&mut red, Codepoint::NotEct), "beyond twice the upper threshold all are dropped");
        assert_eq!((0..200).filter(|_| enqueue(&mut red, Codepoint::Ect)).count(), 98);
        assert!((0..100).filter_map(|_| red.fifo.pop()).skip(2).all(|packet| packet.ecn == Codepoint::Ce));
    }

    /// 833.3 packets a second: half of those of 5 ms are 2.08, so 5; at 100 Mbit/s 20.8.
    #[test]
    fn thresholds_of_a_rate() {
        let slow = RedConfig::for_rate(10_000_000, 1500);
        assert_eq!((slow.min, slow.max, slow.limit), (5.0, 15.0, 60));
        let fast = RedConfig::for_rate(100_000_000, 1500);
        assert!((fast.min - 20.833).abs() < 0.001 && (fast.max - 62.5).abs() < 0.001);
        assert_eq!(fast.packet_time, 120_000);
    }
}
