//! Somebody who watches hosts.

use crate::link_time::Standing;
use crate::packet::Packet;
use crate::traffic::source::Item;
use segue_handoff::{Act, LoggedScheme};
use segue_netsim::{LinkId, Nanos, Observer};
use segue_tcp::AnySender;
use segue_tcp::receiver::Arrival;

/// Somebody who hears what the hosts do; the engine's observer hears of links.
pub trait HostObserver: Observer<Packet> {
    /// The timer of `flow` expired; `head` is its first unacknowledged packet and `copy` the
    /// number of that packet's last transmission.
    fn timeout(&mut self, now: Nanos, flow: u16, head: u32, copy: u32);
    /// `flow` entered fast recovery; `copy` is the number of the last transmission of `head`.
    fn fast_retransmit(&mut self, now: Nanos, flow: u16, head: u32, copy: u32);
    /// A host sends `packet`.
    fn sent(&mut self, now: Nanos, packet: &Packet);
    /// A packet reached a host.
    fn heard(&mut self, now: Nanos, packet: &Packet);
    /// The sender of `flow` has changed: it has heard something or has sent.
    fn changed(&mut self, now: Nanos, flow: u16, sender: &mut AnySender<LoggedScheme>);
    /// The sender of `flow` stands so, once it has changed.
    #[inline]
    fn stands(&mut self, _flow: u16, _standing: impl FnOnce() -> Standing) {}
    /// The cumulative ACK of `flow` moved to `una`.
    fn acknowledged(&mut self, now: Nanos, flow: u16, una: u32);
    /// The user of `flow` asks for something, or an application makes it.
    fn asked(&mut self, _now: Nanos, _flow: u16, _item: Item) {}
    /// The mobile has helped `flow`, or its sender has heard of it.
    fn acted(&mut self, _now: Nanos, _flow: u16, _act: Act) {}
    /// A copy came out of `link`: the first of two, which goes on, or the second.
    fn joined(&mut self, _now: Nanos, _link: LinkId, _packet: &Packet, _is_first: bool) {}
    /// A sender's ACK without data reached the mobile over `link`.
    fn bare_ack(&mut self, _now: Nanos, _link: LinkId, _packet: &Packet) {}
    /// Takes what it has heard, while the network goes on for others. Until that is given back it keeps nothing. `None`
    /// if it has little, and may be copied with the network.
    fn set_aside(&mut self) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }
    /// A data packet reached the mobile over `link`; comes right after [`Self::heard`].
    fn arrived(&mut self, now: Nanos, link: LinkId, packet: &Packet, arrival: Arrival);
}

impl HostObserver for () {
    fn timeout(&mut self, _: Nanos, _: u16, _: u32, _: u32) {}
    fn fast_retransmit(&mut self, _: Nanos, _: u16, _: u32, _: u32) {}
    fn sent(&mut self, _: Nanos, _: &Packet) {}
    fn heard(&mut self, _: Nanos, _: &Packet) {}
    fn changed(&mut self, _: Nanos, _: u16, _: &mut AnySender<LoggedScheme>) {}
    fn acknowledged(&mut self, _: Nanos, _: u16, _: u32) {}
    fn arrived(&mut self, _: Nanos, _: LinkId, _: &Packet, _: Arrival) {}
}
