//! CoDel, controlled delay (RFC 8289, section 5): drops at dequeue while the sojourn time stays above a target.

use super::{Discipline, Fifo, Waiting};
use crate::{Nanos, PacketId};

/// Constants of RFC 8289, section 5.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodelConfig {
    /// TARGET: a standing queue may delay packets so long.
    pub target: Nanos,
    /// INTERVAL: a queue that stays above the target so long is a standing one.
    pub interval: Nanos,
    /// `maxpacket`: a queue of no more bytes is never too long.
    pub mtu: u32,
    /// Most packets that wait; an arrival beyond is dropped.
    pub limit: u32,
    /// Packets whose transport understands it are marked in place of dropped (`codel_impl.h`, `codel_dequeue`).
    pub ecn: bool,
}

/// The values of RFC 8289; the limit is that of Linux (`sch_codel.c`, `DEFAULT_CODEL_LIMIT`).
impl Default for CodelConfig {
    fn default() -> Self {
        Self { target: 5_000_000, interval: 100_000_000, mtu: 1500, limit: 1000, ecn: false }
    }
}

impl CodelConfig {
    /// Whether the head is marked in place of dropped.
    fn marks(&self, head: &mut Option<Waiting>) -> bool {
        self.ecn && head.as_mut().is_some_and(|head| head.ecn.mark())
    }
}

/// The control loop of one queue. Fields have the names of the RFC's pseudocode.
#[derive(Clone, Debug, Default)]
pub(super) struct Control {
    /// When the sojourn time will have been above the target for an interval; `None`: it is below (the RFC's 0).
    first_above_time: Option<Nanos>,
    drop_next: Nanos,
    /// Packets dropped in the present drop state.
    pub(super) count: u32,
    /// The count with which it began.
    lastcount: u32,
    dropping: bool,
}

/// The queue that is controlled, and the bytes that wait beside it and count with it.
pub(super) struct Controlled<'a> {
    pub(super) fifo: &'a mut Fifo,
    pub(super) beside: u64,
}

impl Control {
    /// `control_law`: INTERVAL / sqrt(count) after `t`. IEEE 754 rounds a square root alike on every machine.
    fn control_law(&self, config: &CodelConfig, t: Nanos) -> Nanos {
        t.saturating_add((config.interval as f64 / f64::from(self.count).sqrt()) as Nanos)
    }

    /// As after a packet that found nothing to wait for: `dodequeue` has no reason to drop.
    #[inline]
    pub(super) fn rest(&mut self) {
        self.first_above_time = None;
        self.dropping = false;
    }

    /// `dodequeue`: the head, and whether it may be dropped.
    fn dodequeue(
        &mut self,
        config: &CodelConfig,
        queue: &mut Controlled<'_>,
        now: Nanos,
    ) -> (Option<Waiting>, bool) {
        let Some(head) = queue.fifo.pop() else {
            self.first_above_time = None;
            return (None, false);
        };
        let sojourn_time = now - head.arrival;
        let backlog = queue.fifo.bytes() + queue.beside;
        if sojourn_time < config.target || backlog <= u64::from(config.mtu) {
            self.first_above_time = None;
            return (Some(head), false);
        }
        let first_above = *self.first_above_time.get_or_insert(now.saturating_add(config.interval));
        (Some(head), now >= first_above)
    }

    /// `dodequeue` where it drops nothing, mostly: whether the head is sent at `now`, while `bytes` wait, its own included.
    #[inline(always)] // on the path of every packet
    pub(super) fn keeps(&mut self, config: &CodelConfig, head: &Waiting, bytes: u64, now: Nanos) -> bool {
        if self.dropping {
            return false;
        }
        let backlog = bytes - u64::from(head.bytes);
        if now - head.arrival < config.target || backlog <= u64::from(config.mtu) {
            self.first_above_time = None;
            return true;
        }
        now < *self.first_above_time.get_or_insert(now.saturating_add(config.interval))
    }

    /// The packet to be sent at `now`; those that are dropped go onto `dropped`.
    #[inline(always)] // on the path of every packet
    pub(super) fn dequeue(
        &mut self,
        config: &CodelConfig,
        queue: Controlled<'_>,
        now: Nanos,
        dropped: &mut Vec<PacketId>,
    ) -> Option<Waiting> {
        // Mostly nothing is to be decided. This looks at the head where it lies.
        if let Some(head) = queue.fifo.first()
            && self.keeps(config, head, queue.fifo.bytes() + queue.beside, now)
        {
            return queue.fifo.pop();
        }
        self.decide(config, queue, now, dropped)
    }

    /// The same, with all that RFC 8289 has.
    #[inline(never)]
    pub(super) fn decide(
        &mut self,
        config: &CodelConfig,
        mut queue: Controlled<'_>,
        now: Nanos,
        dropped: &mut Vec<PacketId>,
    ) -> Option<Waiting> {
        let (mut head, mut ok_to_drop) = self.dodequeue(config, &mut queue, now);
        if self.dropping {
            self.dropping = ok_to_drop;
            while self.dropping && now >= self.drop_next {
                self.count = self.count.saturating_add(1);
                if config.marks(&mut head) {
                    self.drop_next = self.control_law(config, self.drop_next);
                    break;
                }
                dropped.extend(head.map(|head| head.packet));
                (head, ok_to_drop) = self.dodequeue(config, &mut queue, now);
                self.dropping = ok_to_drop;
                if ok_to_drop {
                    self.drop_next = self.control_law(config, self.drop_next);
                }
            }
        } else if ok_to_drop {
            if !config.marks(&mut head) {
                dropped.extend(head.map(|head| head.packet));
                (head, _) = self.dodequeue(config, &mut queue, now);
            }
            self.dropping = true;
            // Close to the last drop state, the rate that controlled the queue then is a good start.
            let delta = self.count - self.lastcount;
            let recent = now.saturating_sub(self.drop_next) < config.interval.saturating_mul(16);
            self.count = if delta > 1 && recent { delta } else { 1 };
            self.drop_next = self.control_law(config, now);
            self.lastcount = self.count;
        }
        head
    }
}

/// A CoDel queue.
#[derive(Clone, Debug)]
pub struct Codel {
    config: CodelConfig,
    fifo: Fifo,
    control: Control,
}

impl Codel {
    /// An empty queue.
    pub fn new(config: CodelConfig) -> Self {
        Self { config, fifo: Fifo::default(), control: Control::default() }
    }
}

impl Discipline for Codel {
    #[inline(always)] // on the path of every packet
    fn enqueue(&mut self, packet: Waiting, dropped: &mut Vec<PacketId>) {
        if self.fifo.len() >= self.config.limit as usize {
            dropped.push(packet.packet);
        } else {
            self.fifo.push(packet);
        }
    }

    #[inline(always)] // on the path of every packet
    fn dequeue(&mut self, now: Nanos, dropped: &mut Vec<PacketId>) -> Option<Waiting> {
        let queue = Controlled { fifo: &mut self.fifo, beside: 0 };
        self.control.dequeue(&self.config, queue, now, dropped)
    }

    #[inline(always)] // on the path of every packet
    fn pass(
        &mut self,
        packet: Waiting,
        _idle: Option<Nanos>,
        dropped: &mut Vec<PacketId>,
    ) -> Option<Waiting> {
        if self.config.limit == 0 {
            dropped.push(packet.packet);
            return None;
        }
        self.control.rest();
        Some(packet)
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

    /// A queue with the RFC's constants that is served by hand.
    struct Bench {
        codel: Codel,
        slab: Slab<()>,
        ecn: Codepoint,
    }

    impl Bench {
        fn new() -> Self {
            Self { codel: Codel::new(CodelConfig::default()), slab: Slab::default(), ecn: Codepoint::NotEct }
        }

        /// `count` full packets come at `arrival`.
        fn fill(&mut self, arrival: Nanos, count: usize) {
            for _ in 0..count {
                let waiting =
                    Waiting { packet: self.slab.insert(()), bytes: 1500, flow: 0, arrival, ecn: self.ecn };
                self.codel.enqueue(waiting, &mut Vec::new());
            }
        }

        /// Serves one packet at each of these times, in ms; returns those at which packets were dropped, and how many.
        fn serve(&mut self, times: impl Iterator<Item = u64>) -> Vec<(u64, usize)> {
            let mut drops = Vec::new();
            for ms in times {
                let mut dropped = Vec::new();
                assert!(self.codel.dequeue(ms * MS, &mut dropped).is_some(), "at {ms} ms");
                if !dropped.is_empty() {
                    drops.push((ms, dropped.len()));
                }
            }
            drops
        }
    }

    /// A packet is served each millisecond. All came at 0 ms, so the sojourn time reaches 5 ms at 5 ms, and the
    /// pseudocode says, by hand:
    ///
    /// * at 5 ms first_above_time = 105; at 105 the first drop, count 1, drop_next 105 + 100 = 205;
    /// * at 205 count 2, drop_next 205 + 100/sqrt(2) = 275.71, so the service at 276 drops: count 3, drop_next + 57.74 = 333.45;
    /// * at 334 count 4, drop_next + 50 = 383.45; at 384 count 5, + 44.72 = 428.17; at 429 count 6, + 40.82 = 468.99;
    /// * at 469 count 7, + 37.80 = 506.79.
    #[test]
    fn drops_of_a_standing_queue_follow_the_control_law() {
        let mut bench = Bench::new();
        bench.fill(0, 900);
        let drops = bench.serve(1..=500);
        assert_eq!(drops, [105, 205, 276, 334, 384, 429, 469].map(|at| (at, 1)));
        let Control { count, lastcount, dropping, drop_next, .. } = bench.codel.control;
        assert_eq!((count, lastcount, dropping), (7, 1, true));
        assert_eq!(drop_next / MS, 506);
    }

    /// Three drop states in a row, by hand:
    ///
    /// * The first has dropped 7 when it meets a packet below the target, at 551 ms; drop_next is 506.79.
    /// * The second begins 100 ms after the sojourn time reached 5 ms at 700 ms. 800 - 506.79 is less than 16 intervals,
    ///   so count = 7 - 1 = 6 and drop_next = 800 + 100/sqrt(6) = 840.82. At 841 count 7, + 37.80 = 878.62; at 879
    ///   count 8, + 35.36 = 913.98; at 914 count 9, + 33.33 = 947.31.
    /// * The third begins at 2,700 ms, more than 16 intervals after 947.31: count = 1, although 9 - 6 = 3.
    #[test]
    fn a_new_drop_state_begins_with_the_rate_of_a_recent_one() {
        let mut bench = Bench::new();
        let counts = |bench: &Bench| {
            (bench.codel.control.count, bench.codel.control.lastcount, bench.codel.control.dropping)
        };
        bench.fill(0, 900);
        bench.serve(1..=500);
        bench.codel.clear();
        assert_eq!(counts(&bench), (7, 1, true));
        bench.fill(550 * MS, 3);
        assert_eq!(bench.serve(551..=551), []);
        assert_eq!(counts(&bench), (7, 1, false));
        bench.codel.clear();
        bench.fill(695 * MS, 300);
        assert_eq!(bench.serve(696..=920), [800, 841, 879, 914].map(|at| (at, 1)));
        assert_eq!(counts(&bench), (9, 6, true));
        bench.codel.clear();
        bench.fill(2_595 * MS, 300);
        assert_eq!(bench.serve(2_596..=2_701), [(2_700, 1)]);
        assert_eq!(counts(&bench), (1, 1, true));
    }

    /// The law marks at the times at which it would drop: then a packet leaves, marked, and none is dropped. One mark is
    /// made at a time: of those that are due at 400 ms (275.71, 333.45 and 383.45 ms) one at each service.
    #[test]
    fn marks_stand_for_drops() {
        let mut bench = Bench::new();
        bench.codel.config.ecn = true;
        bench.ecn = Codepoint::Ect;
        bench.fill(0, 900);
        let mut marked = Vec::new();
        for ms in (1..=500).filter(|ms| !(206..400).contains(ms)) {
            let mut dropped = Vec::new();
            let head = bench.codel.dequeue(ms * MS, &mut dropped).expect("a packet");
            assert_eq!(dropped, []);
            if head.ecn == Codepoint::Ce {
                marked.push(ms);
            }
        }
        assert_eq!(marked, [105, 205, 400, 401, 402, 429, 469]);
        // Others are dropped: those of counts 8 to 14 are due, from 506.79 to 693.86 ms.
        bench.ecn = Codepoint::NotEct;
        bench.codel.clear();
        bench.fill(500 * MS, 300);
        assert_eq!(bench.serve(700..=700), [(700, 7)]);
    }

    /// At 400 ms a server that had stood still finds four drops due: 205, 275.71, 333.45 and 383.45 ms.
    #[test]
    fn drops_that_are_due_happen_at_once() {
        let mut bench = Bench::new();
        bench.fill(0, 300);
        assert_eq!(bench.serve((5..=105).chain([400])), [(105, 1), (400, 4)]);
    }

    /// With one packet of 1500 bytes behind it, the head is not dropped, however late it is.
    #[test]
    fn a_queue_of_one_packet_is_never_too_long() {
        let mut bench = Bench::new();
        bench.fill(0, 2);
        for at in 1..=300 {
            assert_eq!(bench.serve(std::iter::once(at)), []);
            bench.fill(0, 1);
        }
    }

    #[test]
    fn an_arrival_beyond_the_limit_is_dropped() {
        let mut codel = Codel::new(CodelConfig { limit: 2, ..CodelConfig::default() });
        let mut slab = Slab::default();
        let packets = [(); 3].map(|()| slab.insert(()));
        let mut dropped = Vec::new();
        for packet in packets {
            codel.enqueue(
                Waiting { packet, bytes: 40, flow: 0, arrival: 0, ecn: Codepoint::NotEct },
                &mut dropped,
            );
        }
        assert_eq!(dropped, packets[2..]);
        assert_eq!(codel.waiting().collect::<Vec<_>>(), packets[..2]);
    }
}
