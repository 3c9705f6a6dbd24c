//! FQ-CoDel (RFC 8290): a CoDel queue for each flow, served in turn, new flows first. Where the RFC leaves it open,
//! as in Linux (`sch_fq_codel.c`).
//!
//! Unlike both, flows do not share queues by the accident of a hash: each flow of a packet has its own.

use super::codel::{CodelConfig, Control, Controlled};
use super::{Discipline, Fifo, Waiting};
use crate::{Nanos, PacketId};

/// Constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FqCodelConfig {
    /// CoDel's settings of each queue; `limit` is for all of them together.
    pub codel: CodelConfig,
    /// Bytes that a flow may send in its turn.
    pub quantum: u32,
    /// Most packets that an overflow drops at once.
    pub drop_batch: usize,
}

/// RFC 8290, section 5.2: a quantum of a full Ethernet frame, 10,240 packets; the batch is that of Linux.
impl Default for FqCodelConfig {
    fn default() -> Self {
        let codel = CodelConfig { limit: 10_240, ..CodelConfig::default() };
        Self { codel, quantum: 1514, drop_batch: 64 }
    }
}

/// Where a flow's queue is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum List {
    #[default]
    None,
    New,
    Old,
}

/// One flow.
#[derive(Clone, Debug, Default)]
struct Flow {
    fifo: Fifo,
    control: Control,
    /// Bytes that it may still send; negative if its last packet was larger.
    deficit: i64,
    list: List,
    /// The one behind it there, or [`NOBODY`].
    next: u32,
}

/// No flow.
const NOBODY: u32 = u32::MAX;

/// Flows whose queues are served in turn, linked as in Linux (`list_head`): looking at the first is one read.
#[derive(Clone, Copy, Debug)]
struct Turns {
    first: u32,
    last: u32,
}

impl Turns {
    const NONE: Self = Self { first: NOBODY, last: NOBODY };

    fn push(&mut self, flows: &mut [Flow], number: u32) {
        flows[number as usize].next = NOBODY;
        match self.first {
            NOBODY => self.first = number,
            _ => flows[self.last as usize].next = number,
        }
        self.last = number;
    }

    fn pop(&mut self, flows: &[Flow]) -> Option<u32> {
        let first = self.first;
        (first != NOBODY).then(|| {
            self.first = flows[first as usize].next;
            first
        })
    }
}

/// The queues.
#[derive(Clone, Debug)]
pub struct FqCodel {
    config: FqCodelConfig,
    /// By number of the flow.
    flows: Vec<Flow>,
    new: Turns,
    old: Turns,
    packets: usize,
    bytes: u64,
}

impl FqCodel {
    /// Empty queues.
    pub fn new(config: FqCodelConfig) -> Self {
        Self { config, flows: Vec::new(), new: Turns::NONE, old: Turns::NONE, packets: 0, bytes: 0 }
    }

    /// RFC 8290, section 4.1.3 (`fq_codel_drop`): half of the queue with the most bytes, from its head, but no more
    /// than a batch.
    #[cold]
    #[inline(never)]
    fn drop_from_the_fattest(&mut self, dropped: &mut Vec<PacketId>) {
        // The first of several, as in Linux.
        let fattest = self.flows.iter_mut().rev().max_by_key(|flow| flow.fifo.bytes());
        let Some(flow) = fattest else { return };
        let threshold = flow.fifo.bytes() / 2;
        let (mut count, mut bytes) = (0, 0);
        while count < self.config.drop_batch
            && let Some(head) = flow.fifo.pop()
        {
            dropped.push(head.packet);
            count += 1;
            bytes += u64::from(head.bytes);
            if bytes >= threshold {
                break;
            }
        }
        // CoDel shall drop more, too.
        flow.control.count = flow.control.count.saturating_add(count as u32);
        self.packets -= count;
        self.bytes -= bytes;
    }
}

impl FqCodel {
    /// Room for flow `number`.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, number: usize) {
        self.flows.resize_with(number + 1, Flow::default);
    }

    /// Nothing waits, so all queues that are still in a list have been asked in vain, and are in none. That of flow
    /// `number` becomes a new one.
    #[cold]
    #[inline(never)]
    fn begin(&mut self, number: u16) {
        let index = usize::from(number);
        if self.flows.len() <= index {
            self.grow(index);
        }
        while let Some(other) = self.new.pop(&self.flows).or_else(|| self.old.pop(&self.flows)) {
            let flow = &mut self.flows[other as usize];
            flow.control.rest();
            flow.list = List::None;
        }
        self.new.push(&mut self.flows, number.into());
    }

    /// The turn of the first queue of a list is over.
    #[inline(never)]
    fn pass_on(&mut self, is_new: bool, to: List) {
        let list = if is_new { &mut self.new } else { &mut self.old };
        if let Some(number) = list.pop(&self.flows) {
            self.flows[number as usize].list = to;
            if to == List::Old {
                self.old.push(&mut self.flows, number);
            }
        }
    }

    /// The packet of flow `index` to be sent at `now`, where its CoDel may drop.
    #[inline(never)]
    fn decide(&mut self, index: usize, now: Nanos, dropped: &mut Vec<PacketId>) -> Option<Waiting> {
        let flow = &mut self.flows[index];
        let (packets, bytes) = (flow.fifo.len(), flow.fifo.bytes());
        let queue = Controlled { fifo: &mut flow.fifo, beside: self.bytes - bytes };
        let head = flow.control.decide(&self.config.codel, queue, now, dropped);
        self.packets -= packets - flow.fifo.len();
        self.bytes -= bytes - flow.fifo.bytes();
        head
    }
}

impl Discipline for FqCodel {
    #[inline(always)] // on the path of every packet
    fn enqueue(&mut self, packet: Waiting, dropped: &mut Vec<PacketId>) {
        let index = usize::from(packet.flow);
        if self.flows.len() <= index {
            self.grow(index);
        }
        let flow = &mut self.flows[index];
        flow.fifo.push(packet);
        self.packets += 1;
        self.bytes += u64::from(packet.bytes);
        if flow.list == List::None {
            flow.list = List::New;
            flow.deficit = i64::from(self.config.quantum);
            self.new.push(&mut self.flows, packet.flow.into());
        }
        if self.packets > self.config.codel.limit as usize {
            self.drop_from_the_fattest(dropped);
        }
    }

    /// RFC 8290, section 4.2.
    #[inline(always)] // on the path of every packet
    fn dequeue(&mut self, now: Nanos, dropped: &mut Vec<PacketId>) -> Option<Waiting> {
        loop {
            let is_new = self.new.first != NOBODY;
            let number = if is_new { self.new.first } else { self.old.first };
            if number == NOBODY {
                return None;
            }
            let index = number as usize;
            let flow = &mut self.flows[index];
            if flow.deficit <= 0 {
                flow.deficit += i64::from(self.config.quantum);
                let is_alone = !is_new && flow.next == NOBODY;
                if !is_alone {
                    self.pass_on(is_new, List::Old);
                    continue;
                }
                if flow.deficit <= 0 {
                    continue; // its own turn again
                }
            }
            if let Some(head) = flow.fifo.first()
                && flow.control.keeps(&self.config.codel, head, self.bytes, now)
            {
                self.packets -= 1;
                self.bytes -= u64::from(head.bytes);
                flow.deficit -= i64::from(head.bytes);
                return flow.fifo.pop();
            }
            if let Some(head) = self.decide(index, now, dropped) {
                self.flows[index].deficit -= i64::from(head.bytes);
                return Some(head);
            }
            // An empty new queue goes through the old ones, so that a sparse flow cannot always be new.
            let to = if is_new && self.old.first != NOBODY { List::Old } else { List::None };
            self.pass_on(is_new, to);
        }
    }

    /// Nothing waits. So the queue of the packet becomes a new one, if it is not the only one already.
    #[inline(always)] // on the path of every packet
    fn pass(
        &mut self,
        packet: Waiting,
        _idle: Option<Nanos>,
        dropped: &mut Vec<PacketId>,
    ) -> Option<Waiting> {
        if self.config.codel.limit == 0 {
            dropped.push(packet.packet);
            return None;
        }
        let (number, index) = (u32::from(packet.flow), usize::from(packet.flow));
        let is_only =
            self.new.first == number && self.old.first == NOBODY && self.flows[index].next == NOBODY;
        if !is_only {
            self.begin(packet.flow);
        }
        let flow = &mut self.flows[index];
        flow.control.rest();
        flow.list = List::New;
        flow.deficit = i64::from(self.config.quantum) - i64::from(packet.bytes);
        Some(packet)
    }

    fn waiting(&self) -> Box<dyn Iterator<Item = PacketId> + '_> {
        Box::new(self.flows.iter().flat_map(|flow| flow.fifo.packets()))
    }

    fn clear(&mut self) {
        *self = Self::new(self.config);
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

    struct Bench {
        queue: FqCodel,
        slab: Slab<()>,
    }

    impl Bench {
        fn new(config: FqCodelConfig) -> Self {
            Self { queue: FqCodel::new(config), slab: Slab::default() }
        }

        /// Says which packets were dropped for it.
        fn come(&mut self, flow: u16, bytes: u32, arrival: Nanos) -> (PacketId, Vec<PacketId>) {
            let packet = self.slab.insert(());
            let mut dropped = Vec::new();
            self.queue
                .enqueue(Waiting { packet, bytes, flow, arrival, ecn: Codepoint::NotEct }, &mut dropped);
            (packet, dropped)
        }

        /// Flows of the next packets, all served at `now`.
        fn serve(&mut self, now: Nanos, count: usize) -> Vec<u16> {
            let next = |_| self.queue.dequeue(now, &mut Vec::new()).map(|head| head.flow);
            (0..count).filter_map(next).collect()
        }
    }

    /// Deficit round robin, by hand: a flow sends while its deficit is positive, and gets 1514 bytes for a turn. Over a
    /// hundred turns that is 151,400 bytes, more or less by at most a packet, whatever the size of its packets.
    #[test]
    fn flows_share_by_bytes() {
        let mut bench = Bench::new(FqCodelConfig::default());
        for _ in 0..600 {
            bench.come(0, 1500, 0);
            bench.come(1, 300, 0);
        }
        // The first turns: 1500 leave 14, so flow 0 has another packet, and owes 1486; flow 1 sends 6 of 300.
        assert_eq!(bench.serve(0, 14), [0, 0, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1]);
        let mut sent = [2 * 1500 + 1500, 11 * 300];
        for flow in bench.serve(0, 586) {
            sent[usize::from(flow)] += if flow == 0 { 1500 } else { 300 };
        }
        let apart = i64::from(sent[0]) - i64::from(sent[1]);
        assert!(apart.abs() <= 1514 + 1500, "{sent:?}");
    }

    /// A packet of a flow that has nothing waiting goes before the hundred of another, but once only: then its queue
    /// is an old one.
    #[test]
    fn a_sparse_flow_goes_first() {
        let mut bench = Bench::new(FqCodelConfig::default());
        (0..100).for_each(|_| _ = bench.come(0, 1500, 0));
        assert_eq!(bench.serve(0, 3), [0, 0, 0]);
        bench.come(7, 40, 0);
        assert_eq!(bench.serve(0, 2), [7, 0]);
    }

    /// The flow's own CoDel drops as the single one does, which `codel.rs` has by hand: at 105, 205 and 276 ms.
    #[test]
    fn each_flow_has_its_codel() {
        let mut bench = Bench::new(FqCodelConfig::default());
        (0..900).for_each(|_| _ = bench.come(0, 1500, 0));
        let (mut drops, mut sparse) = (Vec::new(), 0);
        for ms in 1..=300 {
            bench.come(1, 40, ms * MS);
            let mut dropped = Vec::new();
            // One packet of the fat flow in each millisecond; those of the sparse flow in between take no time here.
            while bench.queue.dequeue(ms * MS, &mut dropped).unwrap().flow == 1 {
                sparse += 1;
            }
            drops.extend(dropped.iter().map(|_| ms));
        }
        assert!(sparse >= 298, "{sparse}");
        assert_eq!(drops, [105, 205, 276]);
    }

    /// 10 packets of flow 0 and 3 of flow 1, then one more than there may be: half of flow 0, the head first.
    #[test]
    fn overflow_takes_from_the_fattest() {
        let codel = CodelConfig { limit: 13, ..CodelConfig::default() };
        let mut bench = Bench::new(FqCodelConfig { codel, ..FqCodelConfig::default() });
        let fat: Vec<PacketId> = (0..10).map(|_| bench.come(0, 1000, 0).0).collect();
        (0..3).for_each(|_| assert!(bench.come(1, 1000, 0).1.is_empty()));
        assert_eq!(bench.come(1, 1000, 0).1, fat[..5]);
        assert_eq!(bench.queue.waiting().count(), 9);
    }

    /// 200 packets of flow 0: half are more than a batch, so 64 of its head go, and the next arrival finds room. Its
    /// CoDel counts them as drops.
    #[test]
    fn an_overflow_takes_a_batch_at_most() {
        let codel = CodelConfig { limit: 200, ..CodelConfig::default() };
        let mut bench = Bench::new(FqCodelConfig { codel, ..FqCodelConfig::default() });
        let fat: Vec<PacketId> = (0..200).map(|_| bench.come(0, 1000, 0).0).collect();
        assert_eq!(bench.come(1, 1000, 0).1, fat[..64]);
        assert_eq!(bench.queue.flows[0].control.count, 64);
        assert!(bench.come(1, 1000, 0).1.is_empty());
        // The first of two that are equally fat loses.
        let mut bench = Bench::new(FqCodelConfig { codel, ..FqCodelConfig::default() });
        let all: Vec<PacketId> = (0..200).map(|k| bench.come(k % 2, 1000, 0).0).collect();
        let firsts: Vec<PacketId> = all.into_iter().step_by(2).take(50).collect();
        assert_eq!(bench.come(2, 40, 0).1, firsts);
    }
}
