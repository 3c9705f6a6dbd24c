//! Why the new link is idle: the classes of docs/reference/bench.md, "Where the time went". The bench's observer tells
//! what happens; nothing is looked up in the network after completion.

mod awaited;
#[cfg(test)]
mod polled;
#[cfg(test)]
mod tests;

use crate::bench::{LinkIds, NEW, correspondent, mobile};
use crate::nodes::{BenchSim, HostObserver};
use crate::packet::Packet;
use crate::record::LinkTime;
use crate::routers;
use awaited::Awaited;
use segue_handoff::LoggedScheme;
use segue_netsim::{LinkId, LossCause, Nanos};
use segue_tcp::AnySender;

/// A sender as it stands when an event is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// First unacknowledged packet.
    pub snd_una: u32,
    /// One beyond the highest packet ever sent.
    pub snd_max: u32,
    /// Packets that it has sent, again or for the first time.
    pub transmissions: u32,
    /// It has data that its window forbids, and is not in RTO recovery.
    pub window_limited: bool,
}

impl Standing {
    /// That of `sender`.
    pub(crate) fn of(sender: &AnySender<LoggedScheme>) -> Self {
        Self {
            snd_una: sender.snd_una(),
            snd_max: sender.snd_max(),
            transmissions: sender.counters().transmissions,
            window_limited: sender.is_established() && sender.has_unsent_data() && !sender.in_rto_recovery(),
        }
    }
}

/// Why an idle link is idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Idle {
    Path,
    Window,
    Timer,
    Other,
}

/// Which part a link has.
#[derive(Clone, Copy, Debug, Default)]
struct Role {
    /// It leads data to the new link.
    leads: bool,
    /// A packet that comes out of it is with the mobile, or on another such link.
    way: bool,
    /// It has been cut: nothing comes out.
    cut: bool,
}

/// Follows a run from completion on, and counts the time in which the new link is idle.
#[derive(Clone, Debug)]
pub(crate) struct IdleTime {
    new_access: LinkId,
    roles: Vec<Role>,
    /// All is counted until then.
    from: Nanos,
    /// When the new link has sent all that it has taken.
    busy_until: Nanos,
    /// The mobile's packets before the new link: on links that lead to it, and in buffers.
    before: usize,
    /// The mobile's packets on links that will come out.
    alive: usize,
    awaited: Awaited,
    time: LinkTime,
}

impl IdleTime {
    /// Begins at completion with the network as it is. `targets`: what each flow's cumulative ACK has to reach.
    pub fn new<W: HostObserver>(
        sim: &BenchSim<W>,
        link_ids: &LinkIds,
        completion: Nanos,
        targets: &[u32],
    ) -> Self {
        let new_access = link_ids.access[NEW].down;
        let leads = link_ids.lead_to();
        let ways = [link_ids.old_way(), vec![new_access], link_ids.behind(NEW)].concat();
        let senders = correspondent(sim).flows.iter().map(|flow| Standing::of(&flow.sender));
        let receivers = mobile(sim).flows.iter().map(|flow| &flow.receiver);
        let mut idle = Self {
            new_access,
            roles: Vec::new(),
            from: completion,
            busy_until: sim.net.link(new_access).busy_until(),
            before: routers::held(sim).count(),
            alive: 0,
            awaited: Awaited::new(senders.zip(receivers).zip(targets)),
            time: LinkTime::default(),
        };
        for (id, link) in sim.net.links() {
            let role =
                Role { leads: leads.contains(&id), way: ways.contains(&id), cut: link.is_cut(completion) };
            idle.roles.push(role);
            for (packet, comes_out) in link.fates() {
                let packet = &sim.net.packets[packet];
                if sim.net.observer.is_own(packet.flow) {
                    idle.enters(role, packet);
                    if !comes_out && !role.cut {
                        idle.dies(role, packet);
                    }
                }
            }
        }
        idle
    }

    /// Nothing changes until `now`.
    #[inline]
    pub fn clock(&mut self, now: Nanos) {
        let idle_from = self.from.max(self.busy_until);
        if idle_from < now {
            self.count(now - idle_from);
        }
        self.from = self.from.max(now);
    }

    fn count(&mut self, time: Nanos) {
        *match self.class() {
            Idle::Path => &mut self.time.idle_path,
            Idle::Window => &mut self.time.idle_window,
            Idle::Timer => &mut self.time.idle_timer,
            Idle::Other => &mut self.time.idle_other,
        } += time;
    }

    /// The first class that applies.
    fn class(&mut self) -> Idle {
        if self.before > 0 || self.awaited.only_acks() {
            Idle::Path
        } else if self.awaited.window_limited() {
            Idle::Window
        } else if self.alive == 0 {
            // Nobody waits for what will not come out of its link.
            Idle::Timer
        } else {
            Idle::Other
        }
    }

    /// The mobile has left the new link: its idle time has no more to do with the senders.
    pub fn end(&mut self) {
        self.from = Nanos::MAX;
    }

    /// Idle time by class, up to the last [`Self::clock`].
    pub fn time(&self) -> LinkTime {
        self.time
    }

    #[inline]
    fn role(&self, link: LinkId) -> Role {
        self.roles[usize::from(link.0)]
    }

    #[inline]
    fn enters(&mut self, role: Role, packet: &Packet) {
        self.before += usize::from(role.leads);
        if role.cut {
            return;
        }
        self.alive += 1;
        if role.way && packet.data {
            self.awaited.comes(packet);
        }
    }

    /// A packet of the mobile's is put on `link`.
    #[inline]
    pub fn entered(&mut self, link: LinkId, packet: &Packet) {
        self.enters(self.role(link), packet);
    }

    /// The new link is busy with a packet, whosever it is.
    #[inline]
    pub fn busy(&mut self, link: LinkId, departure: Nanos) {
        if link == self.new_access {
            self.busy_until = departure;
        }
    }

    /// `link` will lose a packet of the mobile's.
    #[cold]
    pub fn doomed(&mut self, link: LinkId, packet: &Packet) {
        let role = self.role(link);
        if !role.cut {
            self.dies(role, packet);
        }
    }

    fn dies(&mut self, role: Role, packet: &Packet) {
        self.alive -= 1;
        if role.way && packet.data {
            self.awaited.comes_no_more(packet);
        }
    }

    /// A packet of the mobile's has come out of `link`.
    #[inline]
    pub fn left(&mut self, link: LinkId, packet: &Packet) {
        let role = self.role(link);
        self.before -= usize::from(role.leads);
        self.alive -= 1;
        if role.way && packet.data {
            self.awaited.comes_no_more(packet);
        }
    }

    /// A packet of the mobile's was lost before or on `link`.
    pub fn lost(&mut self, link: LinkId, packet: &Packet, cause: LossCause) {
        let role = self.role(link);
        self.before -= usize::from(role.leads);
        // A loss on the link was foreseen.
        if cause == LossCause::Queue && !role.cut {
            self.dies(role, packet);
        }
    }

    /// A router has put a packet into its buffer.
    pub fn held(&mut self) {
        self.before += 1;
    }

    /// A packet has left a router's buffer.
    pub fn released(&mut self) {
        self.before -= 1;
    }

    /// The sender of `flow` has changed.
    #[inline(never)] // off the way of the packets before the handoff
    pub fn stands(&mut self, flow: u16, standing: Standing) {
        self.awaited.stands(flow, standing);
    }

    /// A packet of `flow` has brought the mobile new bytes.
    #[inline(never)] // off the way of the packets before the handoff
    pub fn received(&mut self, flow: u16, seq: u32) {
        self.awaited.received(flow, seq);
    }
}
