//! Loss of what the mobile says on the new link: does help that is lost do harm?

use super::Nanos;
use super::packet::Packet;
use super::path::{Direction, Switch};
use rand_core::{RngCore, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::collections::VecDeque;

/// Shares of the mobile's packets that never come to the server.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Unheard {
    /// Share of ICMP messages, at all times: a firewall.
    pub icmp: f64,
    /// Share of all packets from a link-up on, until the server sends data.
    pub first: f64,
}

/// Draws which.
#[derive(Clone, Debug)]
pub(super) struct Losing {
    shares: Unheard,
    random: Pcg64Mcg,
    /// Link-ups to come.
    ups: VecDeque<Nanos>,
    /// The link is new, and the server has not sent data yet.
    silent: bool,
}

impl Losing {
    pub(super) fn new(shares: Unheard, seed: u64) -> Self {
        Self { shares, random: Pcg64Mcg::seed_from_u64(seed), ups: VecDeque::new(), silent: false }
    }

    pub(super) fn schedule(&mut self, switch: &Switch) {
        self.ups.push_back(switch.up);
    }

    /// Whether a packet that has entered is lost.
    pub(super) fn loses(&mut self, packet: &Packet) -> bool {
        while self.ups.front().is_some_and(|&up| up <= packet.entered) {
            self.ups.pop_front();
            self.silent = true;
        }
        match packet.direction {
            Direction::Down => {
                self.silent &= packet.segment().is_none_or(|segment| segment.payload == 0);
                false
            }
            Direction::Up => {
                let icmp = if packet.is_icmp() { self.shares.icmp } else { 0.0 };
                let first = if self.silent { self.shares.first } else { 0.0 };
                self.draws(icmp) || self.draws(first)
            }
        }
    }

    fn draws(&mut self, share: f64) -> bool {
        // Nothing is drawn where nothing can be lost.
        share > 0.0 && (self.random.next_u64() as f64) < share * u64::MAX as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::PacketBuilder;

    fn packet(direction: Direction, at: Nanos, payload: usize) -> Packet {
        let mut octets = Vec::new();
        let builder = PacketBuilder::ipv4([1; 4], [2; 4], 64).tcp(1, 2, 3, 4).ack(5);
        builder.write(&mut octets, &vec![0; payload]).expect("memory");
        Packet::new(direction, at, &octets)
    }

    fn message(at: Nanos) -> Packet {
        let mut octets = Vec::new();
        let builder = PacketBuilder::ipv4([1; 4], [2; 4], 64).icmpv4_raw(3, 1, [0; 4]);
        builder.write(&mut octets, &[0; 28]).expect("memory");
        Packet::new(Direction::Up, at, &octets)
    }

    #[test]
    fn what_comes_before_the_server_s_data_may_be_lost() {
        let mut losing = Losing::new(Unheard { icmp: 0.0, first: 1.0 }, 1);
        losing.schedule(&Switch::new(50, 100, true));
        let mut lost = |direction, at, payload| losing.loses(&packet(direction, at, payload));
        assert!(!lost(Direction::Up, 99, 0), "the old link's");
        assert!(lost(Direction::Up, 100, 0));
        assert!(!lost(Direction::Down, 110, 0), "an ACK is no data");
        assert!(lost(Direction::Up, 120, 10));
        assert!(losing.loses(&message(125)), "a message is a packet, too");
        let mut lost = |direction, at, payload| losing.loses(&packet(direction, at, payload));
        assert!(!lost(Direction::Down, 130, 1));
        assert!(!lost(Direction::Up, 140, 0));
        assert!(!losing.loses(&message(145)), "after the server's data");
    }

    #[test]
    fn shares_are_met_and_icmp_is_told_apart() {
        let mut losing = Losing::new(Unheard { icmp: 1.0, first: 0.5 }, 1);
        losing.schedule(&Switch::new(0, 0, true));
        assert!((1..100).all(|at| losing.loses(&message(at))));
        let lost = (1..=1000).filter(|&at| losing.loses(&packet(Direction::Up, at, 0))).count();
        assert!((400..600).contains(&lost), "{lost}");
        let mut nothing = Losing::new(Unheard::default(), 1);
        nothing.schedule(&Switch::new(0, 0, true));
        assert!(!nothing.loses(&message(1)) && !nothing.loses(&packet(Direction::Up, 2, 0)));
    }
}
