//! The mobile helps senders that know nothing of handoffs (docs/reference/mobile.md), and reminds those that were told.
//! When it says what, and how wide its windows are, is `segue_mobile`'s; here that meets connections, links and time.

use super::{Mobile, ReceivingFlow};
use crate::host_observer::HostObserver;
use crate::packet::{Packet, Signal};
use segue_handoff::alone::early::Early;
use segue_handoff::alone::echo::Sent;
use segue_handoff::alone::resume::{Due, Flow, Resumes, Say, begins_anew};
use segue_handoff::alone::window::{Bound, Change, Path, begins_after, narrows, timers_expire};
use segue_handoff::{Act, AloneRule, Pace};
use segue_netsim::{LinkId, Nanos, Net, PacketId, SECOND, Slab, TimerId};
use segue_tcp::segment::Timestamps;
use segue_tcp::{AnyReceiver, Detail, Segment};

/// A connection is busy on which something has come within so long of the old link's end (as the agent has it).
const LATELY: Nanos = 2 * SECOND;
/// Arrivals on a connection are counted over so long, ns.
const RECENT: Nanos = SECOND;
/// Index of the path before.
const OLD: usize = 0;

/// The mobile's memory of a connection, whether a scheme needs it or not: its past cannot be asked for later.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Memory {
    sent: Sent,
    /// When something came last.
    heard: Nanos,
    /// Next packet expected at the beginning of this period and of the one before, and when this one ends.
    expected: [u32; 2],
    until: Nanos,
    /// The highest number of which SACK blocks have told.
    sacked: u32,
    /// The last time stamp.
    stamp: u32,
}

impl Memory {
    /// A data packet has come.
    #[inline]
    pub(super) fn hears(&mut self, now: Nanos) {
        self.heard = now;
    }

    /// An ACK leaves; whether it must not echo its stamp.
    #[inline]
    pub(super) fn acknowledges(&mut self, now: Nanos, ack: &Segment, stale: Nanos) -> bool {
        if now >= self.until {
            self.expected = [ack.ack, self.expected[0]];
            self.until = now + RECENT;
        }
        for (_, right) in ack.sack.as_slice() {
            self.sacked = self.sacked.max(*right);
        }
        self.stamp = ack.timestamps.map_or(0, |stamps| stamps.value);
        let echo = ack.timestamps.map_or(0, |stamps| stamps.echo);
        !ack.syn && self.sent.leaves(now, ack.ack, echo, stale)
    }

    /// Packets in order of this period and the one before.
    fn recent(&self, receiver: &AnyReceiver) -> u32 {
        receiver.rcv_nxt().saturating_sub(self.expected[1])
    }
}

/// A handoff as the mobile knows it when the new link is up.
#[derive(Clone, Copy, Debug)]
pub struct Arrived {
    /// When the old link was gone.
    pub gone: Nanos,
    /// There was no link in between.
    pub disconnected: bool,
    /// The path before and after; the round trip over the new link as the mobile expects it.
    pub paths: [Path; 2],
    /// Both ways over the new access link.
    pub access: Nanos,
    /// kbit/s from the mobile.
    pub up_kbps: u32,
    /// Where data come over the new link, to each of the hosts that receive.
    pub over: [Option<LinkId>; 2],
    /// The old uplink, if it still carries.
    pub also: Option<Also>,
}

/// An old uplink that still carries.
#[derive(Clone, Copy, Debug)]
pub struct Also {
    /// It.
    pub out: LinkId,
    /// How long an ACK takes by it and by the new one.
    pub ways: [Nanos; 2],
}

/// A connection that is being helped.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    index: usize,
    /// Next packet expected when the link was back.
    ack: u32,
    /// Its last ACK numbers then.
    sent: Sent,
    /// When its sender was told by a notice.
    told: Option<Nanos>,
}

/// The mobile at work.
#[derive(Clone, Debug)]
pub(super) struct Helper {
    rule: AloneRule,
    timer: TimerId,
    resumes: Resumes<(), Waiting>,
    bound: Option<Bound>,
    /// The window that each connection would offer without a bound.
    usual: u32,
    over: [Option<LinkId>; 2],
    /// The bound begins on each connection with this packet.
    begins: Vec<u32>,
    /// Packets made for each connection since the last handoff.
    made: Vec<u32>,
    early: Option<OverOld>,
}

/// ACKs over the old link, too.
#[derive(Clone, Debug)]
struct OverOld {
    early: Early,
    out: LinkId,
    /// The last time stamps there.
    stamps: Vec<u32>,
}

impl Helper {
    /// A data packet has come.
    #[inline]
    pub(super) fn on_data(&mut self, link: LinkId, index: usize) {
        if let Some(bound) = self.bound.as_mut().filter(|_| self.over.contains(&Some(link))) {
            bound.on_packets(index, 1);
        }
    }

    fn deadline(&self) -> Option<Nanos> {
        let round = self.bound.as_ref().map(Bound::deadline);
        let early = self.early.as_ref().and_then(|old| old.early.deadline());
        self.resumes.deadline().into_iter().chain(round).chain(early).min()
    }
}

/// Whether a connection waits for its sender (`may_wait` and `busy` of bpf/mobile): established, and it lacks
/// something or has lately received something.
fn may_wait(flow: &ReceivingFlow, since: Nanos) -> bool {
    let (received, expected) = (flow.receiver.received(), flow.receiver.rcv_nxt());
    received > 1 && (received > expected || flow.memory.heard >= since)
}

impl Mobile {
    /// All connections of the device.
    fn receiving(&self) -> impl Iterator<Item = &ReceivingFlow> {
        self.flows.iter().chain(self.beside.iter().flat_map(|beside| &beside.flows))
    }

    /// The host and the place there of the device's connection `index`.
    fn place(&self, index: usize) -> (&Self, usize) {
        match &self.beside {
            Some(beside) if index >= self.flows.len() => (beside, index - self.flows.len()),
            _ => (self, index),
        }
    }

    /// The number of the device's connection `index`.
    fn number(&self, index: usize) -> u16 {
        let (host, index) = self.place(index);
        host.first.0 + index as u16
    }

    /// From now on it does so at handoffs, for all connections of the device, by this timer of its own. `usual`: the
    /// window that it offers without a bound.
    pub fn help(&mut self, rule: AloneRule, timer: TimerId, usual: u32) {
        let connections = self.receiving().count();
        self.helper = Some(Box::new(Helper {
            rule,
            timer,
            resumes: Resumes::new(),
            bound: None,
            usual,
            over: [None; 2],
            begins: vec![0; connections],
            made: vec![0; connections],
            early: None,
        }));
    }

    /// Whether this timer is the one by which it helps.
    #[inline]
    pub(super) fn helps_by(&self, timer: TimerId) -> bool {
        self.helper.as_ref().is_some_and(|helper| helper.timer == timer)
    }

    /// After an outage notices leave at this pace for all connections of the device: senders of which nothing comes are
    /// reminded (mobile.md, 1.9). `timer`: one of its own, if it has none so far.
    pub fn remind<O: HostObserver>(
        &mut self,
        net: &mut Net<Packet, O>,
        timer: impl FnOnce(&mut Net<Packet, O>) -> TimerId,
        arrived: &Arrived,
        pace: Option<Pace>,
    ) {
        if self.helper.is_none() {
            let timer = timer(net);
            self.help(AloneRule::NONE, timer, u32::MAX);
        }
        let Some(mut helper) = self.helper.take() else { return };
        let since = arrived.gone.saturating_sub(LATELY);
        let waiting = self.receiving().enumerate().filter(|(_, flow)| may_wait(flow, since));
        let now = net.now();
        let waiting = waiting.map(|(index, flow)| {
            let (ack, sent) = (flow.receiver.rcv_nxt(), flow.memory.sent);
            Waiting { index, ack, sent, told: Some(now) }
        });
        let waiting: Vec<_> = waiting.collect();
        // As the agent has it, none is taken to be told before the last.
        let told = pace.map_or(0, |pace| pace.time_of(u32::try_from(waiting.len()).unwrap_or(u32::MAX)));
        let round_trip = arrived.paths[OLD].round_trip.max(arrived.access);
        let flow = |waiting| Flow {
            waiting,
            acks: 0,
            round_trip,
            closed: false,
            anew: false,
            mtu: None,
            told: Some(told),
            idle: None,
        };
        helper.made.fill(0);
        helper.resumes.begin(now, (), now - arrived.gone, arrived.up_kbps, waiting.into_iter().map(flow));
        self.helper = Some(helper);
        self.act(net);
    }

    /// Its link is gone: nothing is sent.
    pub fn link_gone(&mut self) {
        if let Some(helper) = &mut self.helper {
            helper.resumes.stop(&());
            helper.early = None;
        }
    }

    /// Its new link is up.
    pub fn link_up<O: HostObserver>(&mut self, net: &mut Net<Packet, O>, arrived: &Arrived) {
        let Some(mut helper) = self.helper.take() else { return };
        let now = net.now();
        helper.made.fill(0);
        helper.over = arrived.over;
        helper.resumes.stop(&());
        if helper.rule.resumes && arrived.disconnected {
            self.withhold_stamps(now);
            let [old, new] = arrived.paths;
            let since = arrived.gone.saturating_sub(LATELY);
            let flows = self.receiving().enumerate().filter(|(_, flow)| may_wait(flow, since));
            let flows = flows.map(|(index, flow)| {
                let sent = flow.memory.sent;
                Flow {
                    waiting: Waiting { index, ack: flow.receiver.rcv_nxt(), sent, told: None },
                    acks: sent.acks().len(),
                    round_trip: arrived.paths[OLD].round_trip.max(arrived.access),
                    closed: false,
                    // Other stacks count whole packets.
                    anew: matches!(flow.receiver, AnyReceiver::Linux(_)) && begins_anew(&old, &new),
                    mtu: None,
                    told: None,
                    idle: None,
                }
            });
            helper.resumes.begin(now, (), now - arrived.gone, arrived.up_kbps, flows);
        }
        let [old, new] = arrived.paths;
        let was_bound = helper.bound.take().is_some();
        helper.early = None;
        if helper.rule.bounds && narrows(&old, &new) {
            let queue = helper.rule.queue.unwrap_or(new.queue);
            let recent: Vec<_> = self.receiving().map(|flow| flow.memory.recent(&flow.receiver)).collect();
            let after = begins_after(&old, &new, arrived.disconnected);
            let expire = timers_expire(&old, &new, arrived.disconnected);
            helper.bound = Some(Bound::new(now, Path { queue, ..new }, &recent, expire));
            let begins = self.receiving().map(|flow| flow.receiver.rcv_nxt().saturating_add(after));
            helper.begins = begins.collect();
            let also = arrived.also.filter(|_| after == 0);
            helper.early = also.and_then(|also| self.begin_early(now, &new, &also));
        }
        if was_bound || helper.bound.is_some() {
            self.offer(net, &helper, false);
        }
        self.helper = Some(helper);
        self.act(net);
    }

    /// ACKs over the old link from now on, if they are there sooner.
    fn begin_early(&self, now: Nanos, new: &Path, also: &Also) -> Option<OverOld> {
        let mut early = Early::new(now, new, also.ways)?;
        for (index, flow) in self.receiving().enumerate() {
            early.add(flow.memory.sent.newest(), 1);
            early.came(index, flow.memory.sent.newest(), flow.memory.sacked);
        }
        let stamps = self.receiving().map(|flow| flow.memory.stamp).collect();
        Some(OverOld { early, out: also.out, stamps })
    }

    /// ACKs of the device's connection `index` may have left.
    #[inline]
    pub(super) fn after_ack<O: HostObserver>(&mut self, net: &mut Net<Packet, O>, index: usize) {
        if self.helper.as_ref().is_none_or(|helper| helper.early.is_none()) {
            return;
        }
        let (host, place) = self.place(index);
        let Memory { sent, sacked, .. } = host.flows[place].memory;
        if let Some(old) = self.helper.as_mut().and_then(|helper| helper.early.as_mut()) {
            old.early.came(index, sent.newest(), sacked);
        }
        self.act(net);
    }

    /// Sends what is to go over the old link now.
    fn say_early<O: HostObserver>(&self, net: &mut Net<Packet, O>, helper: &mut Helper) {
        let (now, lost) = (net.now(), helper.rule.lost);
        let Some(old) = &mut helper.early else { return };
        while let Some((index, number)) = old.early.next(now) {
            let flow = self.number(index);
            let (host, place) = self.place(index);
            let made = &mut helper.made[index];
            let lost = *made < lost;
            *made += 1;
            net.observer.acted(now, flow, Act::EarlyAck { ack: number, lost });
            let (ack, bytes) = host.flows[place].receiver.plain_ack(now);
            let timestamps = ack.timestamps.map(|stamps| Timestamps { value: old.stamps[index], ..stamps });
            let packet = Packet::ack(flow, (Segment { ack: number, timestamps, ..ack }, bytes));
            if !lost {
                net.observer.sent(now, &packet);
                net.originate(old.out, packet);
            }
        }
        if old.early.is_over(now) {
            helper.early = None;
        }
    }

    /// It is time for something.
    pub(super) fn act<O: HostObserver>(&mut self, net: &mut Net<Packet, O>) {
        let Some(mut helper) = self.helper.take() else { return };
        let now = net.now();
        while let Some(Due { id, waiting, says, last, .. }) = helper.resumes.next(now) {
            let waiting = *waiting;
            let (host, place) = self.place(waiting.index);
            let Memory { sent, heard, .. } = host.flows[place].memory;
            let resumed = match waiting.told {
                None => sent.newest() > waiting.ack,
                Some(at) => heard > at,
            };
            for say in says.into_iter().filter(|_| !resumed) {
                let made = &mut helper.made[waiting.index];
                let lost = *made < helper.rule.lost;
                *made += 1;
                self.say(net, &waiting, say, lost);
            }
            if resumed || last {
                let act = match (resumed, waiting.told) {
                    (true, None) => Act::Resumed,
                    (true, Some(_)) => Act::Answered,
                    (false, _) => Act::LeftAlone,
                };
                // A peer that its notice has resumed without a reminder was not helped.
                if waiting.told.is_none() || helper.made[waiting.index] > 0 {
                    net.observer.acted(now, self.number(waiting.index), act);
                }
                helper.resumes.end(id);
            }
        }
        if let Some(bound) = helper.bound.as_mut().filter(|bound| bound.deadline() <= now) {
            let change = bound.on_round(now);
            if change == Change::Ended {
                helper.bound = None;
            }
            self.offer(net, &helper, change == Change::Raised);
        }
        self.say_early(net, &mut helper);
        if let Some(deadline) = helper.deadline() {
            net.arm(helper.timer, deadline);
        }
        self.helper = Some(helper);
    }

    /// Sends one packet for a connection, unless it is lost.
    fn say<O: HostObserver>(&self, net: &mut Net<Packet, O>, waiting: &Waiting, say: Say, lost: bool) {
        let flow = self.number(waiting.index);
        let (host, place) = self.place(waiting.index);
        let past = |number: usize| waiting.sent.acks()[number];
        let act = match say {
            Say::About(number) => Act::Message { seq: past(number), lost },
            Say::AboutNext => Act::Message { seq: waiting.ack, lost },
            // This mobile tells none.
            Say::TooBig(_) => return,
            Say::Octet(number) => Act::Octet { seq: past(number), lost },
            Say::Ack => Act::LastAck { ack: waiting.ack, lost },
        };
        net.observer.acted(net.now(), flow, act);
        if lost {
            return;
        }
        let packet = match act {
            Act::Message { seq, .. } => Packet::of_signal(flow, Signal::Unreachable, seq),
            _ => {
                let (ack, detail) = match act {
                    Act::Octet { seq, .. } => (seq, Detail::Octet),
                    _ => (waiting.ack, Detail::None),
                };
                let (plain, bytes) = host.flows[place].receiver.plain_ack(net.now());
                let packet = Packet::ack(flow, (Segment { ack, detail, ..plain }, bytes));
                net.observer.sent(net.now(), &packet);
                packet
            }
        };
        net.originate(host.out, packet);
    }

    /// Has every connection's ACKs offer what the bound leaves it.
    fn offer<O: HostObserver>(&mut self, net: &mut Net<Packet, O>, helper: &Helper, raised: bool) {
        let (own, first) = (self.flows.len(), self.first.0);
        let (beside, further) = match self.beside.as_deref_mut() {
            Some(beside) => (&mut beside.flows[..], beside.first.0),
            None => (&mut [][..], 0),
        };
        for (index, flow) in self.flows.iter_mut().chain(beside).enumerate() {
            let number = if index < own { first + index as u16 } else { further + (index - own) as u16 };
            let begun = |_: &&Bound| flow.receiver.rcv_nxt() >= helper.begins[index];
            let bound = helper.bound.as_ref().filter(begun);
            let part = bound.map(|bound| bound.part(index)).filter(|part| *part < helper.usual);
            if flow.receiver.bound() == part {
                continue;
            }
            flow.receiver.set_bound(part);
            let act = match part {
                Some(window) => Act::Bounded { window, raised },
                None => Act::Unbounded,
            };
            net.observer.acted(net.now(), number, act);
        }
    }
}

/// The segment without the stamp that it echoes.
#[cold]
pub(super) fn unechoed(segment: Segment) -> Segment {
    let timestamps = segment.timestamps.map(|stamps| Timestamps { echo: 0, ..stamps });
    Segment { timestamps, ..segment }
}

/// Stores an ACK without the stamp that it echoes.
#[cold]
#[inline(never)]
pub(super) fn put_unechoed(packets: &mut Slab<Packet>, flow: u16, (ack, bytes): (Segment, u32)) -> PacketId {
    packets.insert(Packet::ack(flow, (unechoed(ack), bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Experiment, mobile};
    use crate::traffic::Application;
    use crate::{Traffic, WarmRun};
    use segue_handoff::Scheme;
    use segue_tcp::profile::NS2_SACK1;

    /// From 6400kbit/9ms to 200kbit/300ms W is 15 (docs/reference/mobile.md, 2.2), whatever the connections are for: a
    /// part loses less than a packet by rounding.
    #[test]
    fn all_connections_share_one_window() {
        let video = Application::Video { rate: 1_000_000, fps: 30 };
        let traffic = Traffic { download: true, upload: false, applications: vec![video] };
        let experiment = Experiment {
            flows: 2,
            traffic: Some(traffic),
            ..Experiment::between("6400kbit/9ms", "200kbit/300ms", NS2_SACK1)
        };
        let scheme = Scheme::build("mobile-window", &[]).expect("a scheme");
        let handoff = WarmRun::new(experiment).fork(5 * SECOND).complete();
        let (mut sim, _) = handoff.start(&scheme);
        sim.run_until(handoff.completion() + 2 * SECOND);
        let parts: Vec<u32> = mobile(&sim).receiving().filter_map(|flow| flow.receiver.bound()).collect();
        assert_eq!(parts.len(), 3, "{parts:?}");
        assert!((13..=15).contains(&parts.iter().sum::<u32>()), "{parts:?}");
    }
}
