//! The bench's observer: fate of every copy, and the record while one is kept.

use crate::nodes::HostObserver;
use crate::packet::Packet;
use crate::record::Recorder;
use segue_netsim::{LinkId, Nanos, Observer as LinkObserver, Passage};
use segue_tcp::receiver::Arrival;

/// A set of copy numbers.
#[derive(Clone, Debug, Default)]
struct CopySet(Vec<u64>);

impl CopySet {
    fn insert(&mut self, copy: u32) {
        let word = copy as usize / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (copy % 64);
    }

    fn contains(&self, copy: u32) -> bool {
        self.0.get(copy as usize / 64).is_some_and(|word| word >> (copy % 64) & 1 == 1)
    }
}

/// What the bench watches.
#[derive(Clone, Debug)]
pub struct Observer {
    /// Copies that a queue dropped or a disconnection swallowed, by flow.
    lost: Vec<CopySet>,
    /// Kept from the start of the handoff on.
    pub recorder: Option<Box<Recorder>>,
}

impl Observer {
    pub(crate) fn new(flows: usize) -> Self {
        Self { lost: vec![CopySet::default(); flows], recorder: None }
    }

    /// Whether a copy is known to have been lost.
    pub(crate) fn is_lost(&self, flow: u16, copy: u32) -> bool {
        self.lost[usize::from(flow)].contains(copy)
    }

    fn note_loss(&mut self, packet: &Packet) {
        if packet.data && packet.copy != u32::MAX {
            self.lost[usize::from(packet.flow)].insert(packet.copy);
        }
    }
}

impl LinkObserver<Packet> for Observer {
    fn dropped(&mut self, now: Nanos, _link: LinkId, packet: &Packet) {
        self.note_loss(packet);
        if let Some(recorder) = &mut self.recorder {
            recorder.dropped(now, packet);
        }
    }

    #[inline]
    fn accepted(&mut self, link: LinkId, passage: &Passage, packet: &Packet) {
        if let Some(recorder) = &mut self.recorder {
            recorder.accepted(link, passage, packet);
        }
    }

    fn lost(&mut self, _now: Nanos, _link: LinkId, packet: &Packet) {
        self.note_loss(packet);
        if let Some(recorder) = &mut self.recorder {
            recorder.lost_in_disconnection += 1;
        }
    }
}

impl HostObserver for Observer {
    fn timeout(&mut self, now: Nanos, flow: u16, head: u32, copy: u32) {
        if let Some(recorder) = &mut self.recorder {
            recorder.timeout(now, flow, head, copy);
        }
    }

    fn fast_retransmit(&mut self, now: Nanos, flow: u16, head: u32) {
        if let Some(recorder) = &mut self.recorder {
            recorder.fast_retransmit(now, flow, head);
        }
    }

    #[inline]
    fn retransmission(&mut self, now: Nanos, _flow: u16, _seq: u32) {
        if let Some(recorder) = &mut self.recorder {
            recorder.retransmission(now);
        }
    }

    #[inline]
    fn acknowledged(&mut self, now: Nanos, flow: u16, una: u32) {
        if let Some(recorder) = &mut self.recorder {
            recorder.acknowledged(now, flow, una);
        }
    }

    #[inline]
    fn arrived(&mut self, now: Nanos, link: LinkId, packet: &Packet, arrival: Arrival) {
        if let Some(recorder) = &mut self.recorder {
            recorder.arrived(now, link, packet, arrival);
        }
    }
}
