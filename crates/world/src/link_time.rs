//! Why the new link is idle: the classes of docs/reference/bench.md, "Where the time went". The bench's observer tells
//! what happens; nothing is looked up in the network after completion.

mod awaited;
#[cfg(test)]
mod polled;
#[cfg(test)]
mod tests;

use crate::bench::traffic::physical;
use crate::bench::{AR, Duplex, LinkIds, NEW, OLD, R, WIR, correspondent, mobile};
use crate::nodes::{BenchNode, BenchSim, HostObserver};
use crate::packet::Packet;
use crate::record::LinkTime;
use crate::routers;
use awaited::Awaited;
use segue_handoff::LoggedScheme;
use segue_netsim::{LinkId, LossCause, Nanos, NodeId};
use segue_tcp::AnySender;

/// A sender as it stands when an event is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// First unacknowledged packet.
    pub snd_una: u32,
    /// One beyond the highest packet ever sent.
    pub snd_max: u32,
    /// It has data that its window forbids, and is not in RTO recovery.
    pub window_limited: bool,
}

impl Standing {
    /// That of `sender`.
    pub(crate) fn of(sender: &AnySender<LoggedScheme>) -> Self {
        Self {
            snd_una: sender.snd_una(),
            snd_max: sender.snd_max(),
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

/// The counts that a packet of the mobile's is part of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    /// It is before the new link.
    before: i32,
    /// It will come out of its link.
    alive: i32,
    /// If it is data: when it comes out, it is with the mobile, or on another such link.
    way: i32,
}

impl Counts {
    /// The change from `other` to this.
    fn beyond(self, other: Self) -> Self {
        Self {
            before: self.before - other.before,
            alive: self.alive - other.alive,
            way: self.way - other.way,
        }
    }
}

/// Which part a link has.
#[derive(Clone, Copy, Debug, Default)]
struct Role {
    /// The counts of a packet on it.
    on: Counts,
    /// The changes as a packet is put on it, and as one comes out.
    enters: Counts,
    leaves: Counts,
}

/// The roles of all links. Routers mostly send on at once what comes. Then a packet counts as on one link until the
/// next takes it, and nothing changes between two links of the same kind.
fn roles<W: HostObserver>(sim: &BenchSim<W>, link_ids: &LinkIds, completion: Nanos) -> Vec<Role> {
    let leads = link_ids.lead_to();
    let ways = [link_ids.old_way(), vec![link_ids.access[NEW].down], link_ids.behind(NEW)].concat();
    let links = sim.net.links().map(|(id, link)| {
        // Nothing comes out of a link that has been cut.
        let alive = i32::from(!link.is_cut(completion));
        let way = if ways.contains(&id) { alive } else { 0 };
        Counts { before: i32::from(leads.contains(&id)), alive, way }
    });
    let on: Vec<Counts> = links.collect();
    let mut roles: Vec<Role> =
        on.iter().map(|&on| Role { on, enters: on, leaves: Counts::default().beyond(on) }).collect();
    let sends_on = |id: &NodeId| matches!(sim.nodes[usize::from(id.0)], BenchNode::Router(_));
    if ![R].iter().chain(&AR).chain(&WIR).all(sends_on) {
        return roles;
    }
    let mut join = |from: &[LinkId], to: &[LinkId]| {
        let Some(&common) = from.last().map(|link| &on[usize::from(link.0)]) else { return };
        for link in from {
            roles[usize::from(link.0)].leaves = common.beyond(on[usize::from(link.0)]);
        }
        for link in to {
            roles[usize::from(link.0)].enters = on[usize::from(link.0)].beyond(common);
        }
    };
    let turned = |duplex: Duplex| physical(duplex, link_ids.is_upward);
    let core = turned(link_ids.core);
    let [edge, access, last] = [link_ids.edge, link_ids.access, link_ids.last].map(|hop| hop.map(turned));
    join(&[core.down], &edge.map(|edge| edge.down));
    join(&edge.map(|edge| edge.up), &[core.up]);
    for side in [OLD, NEW] {
        join(&[edge[side].down], &[access[side].down]);
        join(&[access[side].down], &[last[side].down]);
        join(&[last[side].up], &[access[side].up]);
        join(&[access[side].up], &[edge[side].up]);
    }
    roles
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
    before: i32,
    /// The mobile's packets on links that will come out.
    alive: i32,
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
        let senders = correspondent(sim).flows.iter().map(|flow| Standing::of(&flow.sender));
        let receivers = mobile(sim).flows.iter().map(|flow| &flow.receiver);
        let mut idle = Self {
            new_access,
            roles: roles(sim, link_ids, completion),
            from: completion,
            busy_until: sim.net.link(new_access).busy_until(),
            before: routers::held(sim).count() as i32,
            alive: 0,
            awaited: Awaited::new(senders.zip(receivers).zip(targets)),
            time: LinkTime::default(),
        };
        for (id, link) in sim.net.links() {
            let on = idle.role(id).on;
            for (packet, comes_out) in link.fates() {
                let packet = &sim.net.packets[packet];
                if sim.net.observer.is_own(packet.flow) {
                    idle.add(on, packet);
                    if !comes_out {
                        idle.dies(on, packet);
                    }
                }
            }
        }
        idle
    }

    /// Links that it wants to know of when a packet is put on them.
    pub fn entering(&self) -> impl Iterator<Item = LinkId> {
        let links = (0u16..).map(LinkId).zip(&self.roles);
        let changes = links.filter(|(_, role)| role.enters != Counts::default()).map(|(link, _)| link);
        changes.chain([self.new_access])
    }

    /// Links that it wants to know of when a packet comes out of them.
    pub fn leaving(&self) -> impl Iterator<Item = LinkId> {
        let links = (0u16..).map(LinkId).zip(&self.roles);
        links.filter(|(_, role)| role.leaves != Counts::default()).map(|(link, _)| link)
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
    fn class(&self) -> Idle {
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
    fn add(&mut self, counts: Counts, packet: &Packet) {
        self.before += counts.before;
        self.alive += counts.alive;
        if counts.way != 0 && packet.data {
            self.awaited.comes(packet, counts.way);
        }
    }

    /// A packet of the mobile's is put on `link`.
    #[inline]
    pub fn entered(&mut self, link: LinkId, packet: &Packet) {
        self.add(self.role(link).enters, packet);
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
        self.dies(self.role(link).on, packet);
    }

    /// A packet will not come out of the link on which it counts so.
    fn dies(&mut self, on: Counts, packet: &Packet) {
        self.add(Counts { before: 0, alive: -on.alive, way: -on.way }, packet);
    }

    /// A packet of the mobile's has come out of `link`.
    #[inline]
    pub fn left(&mut self, link: LinkId, packet: &Packet) {
        self.add(self.role(link).leaves, packet);
    }

    /// A packet of the mobile's was lost before or on `link`.
    pub fn lost(&mut self, link: LinkId, packet: &Packet, cause: LossCause) {
        let on = self.role(link).on;
        self.before -= on.before;
        // A loss on the link was foreseen.
        if cause == LossCause::Queue {
            self.dies(on, packet);
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
