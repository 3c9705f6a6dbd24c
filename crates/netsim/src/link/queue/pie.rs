//! PIE, proportional integral controller enhanced (RFC 8033): drops arrivals with a probability that is controlled by
//! the queueing delay. Delays are measured by time stamps (section 4.3), as in Linux (`sch_pie.c`).

use super::{Discipline, Fifo, Waiting};
use crate::random::{stream, uniform};
use crate::{Nanos, PacketId, SECOND};
use rand_pcg::Pcg64Mcg;

/// Constants of RFC 8033, sections 4 and 5.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PieConfig {
    /// QDELAY_REF.
    pub target: Nanos,
    /// T_UPDATE.
    pub update: Nanos,
    /// MAX_BURST.
    pub burst: Nanos,
    /// Per s of delay above the target.
    pub alpha: f64,
    /// Per s that the delay grew.
    pub beta: f64,
    /// MEAN_PKTSIZE: a queue of less than two such packets is never too long.
    pub mtu: u32,
    /// Most packets that wait; an arrival beyond is dropped.
    pub limit: u32,
    /// Packets whose transport understands it are marked while the probability is at most a tenth (section 5.1).
    pub ecn: bool,
}

/// The values of RFC 8033; the limit is that of Linux.
impl Default for PieConfig {
    fn default() -> Self {
        let (target, update, burst) = (15_000_000, 15_000_000, 150_000_000);
        Self { target, update, burst, alpha: 0.125, beta: 1.25, mtu: 1500, limit: 1000, ecn: false }
    }
}

/// Packets are marked up to this probability, and dropped beyond it.
const MARKED_UP_TO: f64 = 0.1;
/// Delay beyond which the probability grows by 2 % more each time (Linux).
const LONG_DELAY: Nanos = 250_000_000;

/// The controller. Fields have the names of the RFC's pseudocode.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Control {
    drop_prob: f64,
    accu_prob: f64,
    qdelay: Nanos,
    qdelay_old: Nanos,
    burst_allowance: Nanos,
}

impl Control {
    fn new(config: &PieConfig) -> Self {
        Self { drop_prob: 0.0, accu_prob: 0.0, qdelay: 0, qdelay_old: 0, burst_allowance: config.burst }
    }

    /// `calculate_drop_prob` (section 4.2), once each T_UPDATE.
    fn update(&mut self, config: &PieConfig, backlog: u64) {
        let seconds = |time: Nanos| time as f64 / SECOND as f64;
        let error = seconds(self.qdelay) - seconds(config.target);
        let growth = seconds(self.qdelay) - seconds(self.qdelay_old);
        // Section 4.2: small steps while the probability is small.
        let scale = match self.drop_prob {
            p if p < 0.000_001 => 2048.0,
            p if p < 0.000_01 => 512.0,
            p if p < 0.000_1 => 128.0,
            p if p < 0.001 => 32.0,
            p if p < 0.01 => 8.0,
            p if p < 0.1 => 2.0,
            _ => 1.0,
        };
        let mut step = (config.alpha * error + config.beta * growth) / scale;
        // Section 5.5: not more than 2 % at once.
        if self.drop_prob >= 0.1 {
            step = step.min(0.02);
        }
        if self.qdelay > LONG_DELAY {
            step += 0.02;
        }
        self.drop_prob = (self.drop_prob + step).clamp(0.0, 1.0);
        if self.qdelay == 0 && self.qdelay_old == 0 && backlog == 0 {
            self.drop_prob -= self.drop_prob / 64.0;
        }
        // Section 4.4.
        let calm = |delay: Nanos| delay < config.target / 2;
        self.burst_allowance = self.burst_allowance.saturating_sub(config.update);
        if self.drop_prob == 0.0 && calm(self.qdelay) && calm(self.qdelay_old) {
            *self = Self { qdelay: self.qdelay, ..Self::new(config) };
        }
        self.qdelay_old = self.qdelay;
    }

    /// `drop_early` (sections 4.1 and 5.4): `random` is asked if chance decides.
    fn drops(&mut self, config: &PieConfig, backlog: u64, random: impl FnOnce() -> f64) -> bool {
        let calm = self.qdelay < config.target / 2 && self.drop_prob < 0.2;
        if self.burst_allowance > 0 || calm || backlog < 2 * u64::from(config.mtu) {
            return false;
        }
        self.accu_prob = if self.drop_prob == 0.0 { 0.0 } else { self.accu_prob + self.drop_prob };
        self.accu_prob >= 0.85 && (self.accu_prob >= 8.5 || random() <= self.drop_prob)
    }
}

/// A PIE queue.
#[derive(Clone, Debug)]
pub struct Pie {
    config: PieConfig,
    fifo: Fifo,
    control: Control,
    /// When the probability is computed next.
    next_update: Nanos,
    random: Pcg64Mcg,
}

impl Pie {
    /// An empty queue. `number` is the link's own: links with one seed draw from different streams.
    pub fn new(config: PieConfig, seed: u64, number: u64) -> Self {
        let next_update = config.update;
        let (fifo, control) = (Fifo::default(), Control::new(&config));
        Self { config, fifo, control, next_update, random: stream(seed, number) }
    }

    /// Makes up for the updates since the last packet.
    fn update(&mut self, now: Nanos) {
        while self.next_update <= now {
            let before = self.control;
            self.control.update(&self.config, self.fifo.bytes());
            self.next_update += self.config.update;
            if self.control == before {
                // At rest: the others change nothing either.
                let missed = now.saturating_sub(self.next_update) / self.config.update;
                self.next_update += missed * self.config.update;
            }
        }
    }
}

impl Discipline for Pie {
    fn enqueue(&mut self, mut packet: Waiting, dropped: &mut Vec<PacketId>) {
        self.update(packet.arrival);
        let full = self.fifo.len() >= self.config.limit as usize;
        if full || self.control.drops(&self.config, self.fifo.bytes(), || uniform(&mut self.random)) {
            self.control.accu_prob = 0.0;
            let marks = self.config.ecn && !full && self.control.drop_prob <= MARKED_UP_TO;
            if !marks || !packet.ecn.mark() {
                return dropped.push(packet.packet);
            }
        }
        self.fifo.push(packet);
    }

    fn dequeue(&mut self, now: Nanos, _dropped: &mut Vec<PacketId>) -> Option<Waiting> {
        self.update(now);
        let head = self.fifo.pop();
        self.control.qdelay = match head {
            Some(head) if !self.fifo.is_empty() => now - head.arrival,
            _ => 0,
        };
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

    const MS: Nanos = 1_000_000;

    fn control(drop_prob: f64, qdelay: Nanos, qdelay_old: Nanos) -> Control {
        Control { drop_prob, accu_prob: 0.0, qdelay, qdelay_old, burst_allowance: 0 }
    }

    /// A delay of 30 ms that was 20 ms, by hand: 0.125 * 0.015 + 1.25 * 0.010 = 0.014375, over the scale of the range.
    #[test]
    fn a_step_depends_on_the_probability() {
        for (before, scale) in [
            (0.2, 1.0),
            (0.05, 2.0),
            (0.005, 8.0),
            (0.000_5, 32.0),
            (0.000_05, 128.0),
            (0.000_005, 512.0),
            (0.0, 2048.0),
        ] {
            let mut control = control(before, 30 * MS, 20 * MS);
            control.update(&PieConfig::default(), 100_000);
            let step = control.drop_prob - before;
            assert!((step - 0.014_375 / scale).abs() < 1e-12, "from {before}: {step}");
        }
    }

    /// A delay that stays at 30 ms: each step is 0.001875 over the scale. By hand, 2048 * 1e-6 / 0.001875 = 1.09, so
    /// two steps pass 1e-6, and so on.
    #[test]
    fn the_probability_rises_by_ranges() {
        let mut control = control(0.0, 30 * MS, 30 * MS);
        let mut passed = Vec::new();
        for step in 1..=170 {
            let before = control.drop_prob;
            control.update(&PieConfig::default(), 100_000);
            let limits = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1].into_iter();
            passed.extend(limits.filter(|limit| (before..control.drop_prob).contains(limit)).map(|_| step));
        }
        assert_eq!(passed, [2, 5, 11, 27, 66, 162]);
    }

    #[test]
    fn steps_are_bounded_and_fast_beyond_a_quarter_of_a_second() {
        let stepped = |before, qdelay, old| {
            let mut control = control(before, qdelay, old);
            control.update(&PieConfig::default(), 100_000);
            control.drop_prob - before
        };
        // 0.125 * 0.185 + 1.25 * 0.2 = 0.273 is cut to 0.02; with 260 ms 0.02 more.
        assert!((stepped(0.5, 200 * MS, 0) - 0.02).abs() < 1e-12);
        assert!((stepped(0.5, 260 * MS, 0) - 0.04).abs() < 1e-12);
        assert!((stepped(0.995, 260 * MS, 0) - 0.005).abs() < 1e-12);
        // Empty twice: 0.125 * -0.015 / 2 = -0.0009375, then a 64th less.
        let mut idle = control(0.05, 0, 0);
        idle.update(&PieConfig::default(), 0);
        assert!((idle.drop_prob - (0.05 - 0.000_937_5) * 63.0 / 64.0).abs() < 1e-12);
    }

    /// Section 5.4: with p = 0.2 nothing is dropped before the sum reaches 0.85, at the fifth packet; at the latest
    /// at 8.5.
    #[test]
    fn drops_keep_a_distance() {
        let config = PieConfig::default();
        let after = |chance: f64| {
            let mut control = control(0.25, 30 * MS, 30 * MS);
            (1..).find(|_| control.drops(&config, 100_000, || chance)).unwrap()
        };
        assert_eq!(after(0.0), 4, "0.25 * 4 = 1");
        assert_eq!(after(1.0), 34, "0.25 * 34 = 8.5");
        let mut burst = control(1.0, 30 * MS, 30 * MS);
        burst.burst_allowance = 1;
        assert!(!burst.drops(&config, 100_000, || 0.0));
        assert!(!control(1.0, 30 * MS, 30 * MS).drops(&config, 2999, || 0.0), "less than two packets");
        assert!(!control(0.1, 7 * MS, 30 * MS).drops(&config, 100_000, || 0.0), "below half of the target");
    }

    /// With a probability of 10 % a packet is marked, beyond it is dropped, and so is one that nobody marks. A full queue
    /// drops.
    #[test]
    fn marks_end_where_drops_must_begin() {
        let config = PieConfig { ecn: true, limit: 20, ..PieConfig::default() };
        for (drop_prob, ecn, fate) in [
            (0.1, Codepoint::Ect, Some(Codepoint::Ce)),
            (0.1001, Codepoint::Ect, None),
            (0.1, Codepoint::NotEct, None),
            (0.1001, Codepoint::Ce, None),
        ] {
            let mut pie = Pie::new(config, 1, 0);
            let mut slab = Slab::default();
            let mut enqueue = |pie: &mut Pie, ecn| {
                let waiting = Waiting { packet: slab.insert(()), bytes: 1500, flow: 0, arrival: 0, ecn };
                let mut dropped = Vec::new();
                pie.enqueue(waiting, &mut dropped);
                dropped.is_empty()
            };
            assert!((0..10).all(|_| enqueue(&mut pie, Codepoint::NotEct)), "within the burst");
            pie.control = Control { accu_prob: 8.5, ..control(drop_prob, 30 * MS, 30 * MS) };
            assert_eq!(enqueue(&mut pie, ecn), fate.is_some());
            assert_eq!(pie.control.accu_prob, 0.0);
            let marked = (0..11).filter_map(|_| pie.fifo.pop()).any(|packet| packet.ecn == Codepoint::Ce);
            assert_eq!(marked, fate == Some(Codepoint::Ce));
            pie.control = control(0.0, 0, 0);
            assert_eq!((0..30).filter(|_| enqueue(&mut pie, Codepoint::Ect)).count(), 20);
        }
    }

    /// A packet each 0.8 ms meets a server of 1 ms. The burst of 150 ms is over after ten updates. Then the queue is
    /// brought back to about the target, where a drop-tail queue would have grown to its limit.
    #[test]
    fn a_standing_queue_is_brought_to_the_target() {
        let mut pie = Pie::new(PieConfig::default(), 1, 0);
        let mut slab = Slab::default();
        let (mut dropped, mut delays) = (Vec::new(), Vec::new());
        let mut next_arrival = 0;
        for now in (0..120_000).map(|ms| ms * MS) {
            while next_arrival <= now {
                let waiting = Waiting {
                    packet: slab.insert(()),
                    bytes: 1500,
                    flow: 0,
                    arrival: next_arrival,
                    ecn: Codepoint::NotEct,
                };
                pie.enqueue(waiting, &mut dropped);
                next_arrival += 800_000;
                assert!(next_arrival > 150 * MS || dropped.is_empty(), "within the burst");
            }
            let head = pie.dequeue(now, &mut dropped);
            delays.extend(head.filter(|_| now > 60_000 * MS).map(|head| now - head.arrival));
        }
        let mean = delays.iter().sum::<Nanos>() / delays.len() as Nanos;
        assert!((10 * MS..20 * MS).contains(&mean), "{mean} ns");
        // A fifth of what comes is too much.
        let share = dropped.len() as f64 / (next_arrival / 800_000) as f64;
        assert!((share - 0.2).abs() < 0.01, "{share}");
    }
}
