//! A soft handoff: both access links carry for a while, and a router at either end of the two knows it
//! (docs/reference/bench.md).
//!
//! As in packet duplication and split bearers of 5G's PDCP (3GPP TS 38.323, 5.11 and 5.2.1), a packet goes over both
//! links or over one of them. The receiving end discards the second of two copies. PDCP also puts packets back into
//! their order; this does not.

use crate::host_observer::HostObserver;
use crate::packet::Packet;
use crate::router::Router;
use crate::words::SoftWord;
use segue_netsim::{LinkId, Nanos, Net, PacketId};
use std::collections::BTreeSet;

/// Index of the old and the new link.
const OLD: usize = 0;
const NEW: usize = 1;

/// Two links that both carry, as a router at one end sees them: old and new.
#[derive(Clone, Copy, Debug)]
pub struct Ways {
    /// Links by which packets leave for the other end.
    pub leaving: [LinkId; 2],
    /// Links by which they come from there.
    pub coming: [LinkId; 2],
    /// Rates of the access links in the direction of those that leave, bit/s.
    pub rates: [u64; 2],
    /// Until when both carry.
    pub until: Nanos,
    /// Way of packets meanwhile.
    pub way: SoftWord,
}

/// A router at one end of two links that both carry.
#[derive(Clone, Debug)]
pub struct TwoWays {
    router: Router,
    ways: Ways,
    /// Bytes that have left by each, where they are split.
    sent: [u64; 2],
    /// Packets without a number of their own that have left twice.
    numbered: u32,
    /// Packets of which one copy has come and another is to come: whether it is data, flow, number.
    once: BTreeSet<(bool, u16, u32)>,
}

impl TwoWays {
    /// A router whose routes lead over the new link.
    pub(crate) fn new(router: Router, ways: Ways) -> Self {
        Self { router, ways, sent: [0; 2], numbered: 0, once: BTreeSet::new() }
    }

    /// The same router when both links carry again, in other roles.
    pub(crate) fn again(&self, ways: Ways) -> Self {
        Self { ways, sent: [0; 2], ..self.clone() }
    }

    /// Its routes.
    pub(crate) fn routes(&mut self) -> &mut Router {
        &mut self.router
    }

    pub(crate) fn on_packet<O: HostObserver>(
        &mut self,
        net: &mut Net<Packet, O>,
        link: LinkId,
        id: PacketId,
    ) {
        if self.ways.coming.contains(&link) && net.packets[id].twin {
            let now = net.now();
            let packet = &mut net.packets[id];
            let is_first = self.once.insert((packet.data, packet.flow, packet.copy));
            net.observer.joined(now, link, packet, is_first);
            if !is_first {
                return net.packets.remove(id);
            }
            packet.twin = false;
            if !packet.data {
                packet.copy = u32::MAX;
            }
        }
        let Some(out) = self.router.out(link, net.packets[id].flow) else { return net.packets.remove(id) };
        if out != self.ways.leaving[NEW] || net.now() > self.ways.until {
            return net.send(out, id);
        }
        match self.ways.way {
            SoftWord::Duplicate => self.send_twice(net, id),
            SoftWord::Split => {
                let chosen = self.choose(net.packets[id].bytes);
                net.send(self.ways.leaving[chosen], id);
            }
        }
    }

    /// A copy leaves by each link, first by the new one.
    fn send_twice<O: HostObserver>(&mut self, net: &mut Net<Packet, O>, id: PacketId) {
        let packet = &mut net.packets[id];
        packet.twin = true;
        if !packet.data {
            packet.copy = self.numbered;
            self.numbered += 1;
        }
        let copy = *packet;
        net.send(self.ways.leaving[NEW], id);
        net.originate(self.ways.leaving[OLD], copy);
    }

    /// Which link has sent less of what it can, with these bytes; the new one if both have.
    fn choose(&mut self, bytes: u32) -> usize {
        let after = |link: usize, other: usize| {
            u128::from(self.sent[link] + u64::from(bytes)) * u128::from(self.ways.rates[other])
        };
        let chosen = if after(OLD, NEW) < after(NEW, OLD) { OLD } else { NEW };
        self.sent[chosen] += u64::from(bytes);
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn splitter(rates: [u64; 2]) -> TwoWays {
        let (leaving, coming) = ([LinkId(0), LinkId(1)], [LinkId(2), LinkId(3)]);
        TwoWays::new(Router::default(), Ways { leaving, coming, rates, until: 0, way: SoftWord::Split })
    }

    /// Links of 1 and 3 Mbit/s, packets of one size. The old one's n-th packet brings it to n/1, the new one's to n/3
    /// of its rate. The order is new at 1/3, 2/3 and, as both are equal there, 3/3; then old at 1; and again.
    #[test]
    fn packets_are_split_by_the_rates() {
        let mut ways = splitter([1_000_000, 3_000_000]);
        let chosen: Vec<_> = (0..8).map(|_| ways.choose(1500)).collect();
        assert_eq!(chosen, [NEW, NEW, NEW, OLD, NEW, NEW, NEW, OLD]);
    }

    /// Bytes count, not packets: after a large packet on the new link, three small ones go over the old one.
    #[test]
    fn bytes_are_split_by_the_rates() {
        let mut ways = splitter([1_000_000, 1_000_000]);
        let chosen: Vec<_> = [900, 300, 300, 300, 40].into_iter().map(|bytes| ways.choose(bytes)).collect();
        assert_eq!(chosen, [NEW, OLD, OLD, OLD, NEW]);
    }
}
