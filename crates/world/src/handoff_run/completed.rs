//! A network at completion, before any sender knows, with the marks that all schemes share.

use super::follower::replace_schemes;
use super::fork::{Fork, announce, announce_all, pass, read_clock, told};
use super::new_address;
use crate::access::AccessLink;
use crate::bench::neighbours;
use crate::bench::traffic::{self, Pair, receivers_of, senders_of};
use crate::bench::{Experiment, LinkIds, MN, NEW, OLD, correspondent, mobile};
use crate::lead;
use crate::neighbours::{COUNTED, Received};
use crate::nodes::{Also, Arrived, BenchNode, BenchSim, Copies, HostObserver, Mobile};
use crate::notice_error::Told;
use crate::observer::Observer;
use crate::packet::{Packet, Signal};
use crate::routers;
use crate::soft;
use crate::words::{Address, Definition, Kind, NoticeMode, Overlap};
use segue_handoff::alone::window::Path;
use segue_handoff::{Announcement, Link, Notice, Scheme};
use segue_netsim::{Nanos, Net, SECOND};
use segue_tcp::StackProfile;

/// A run is incomplete this long after completion.
pub(super) const GIVE_UP: Nanos = 400 * SECOND;

/// A network at completion.
#[derive(Clone)]
pub(super) struct Completed<W> {
    pub fork: Fork<W>,
    pub completion: Nanos,
    /// Targets after-highest and after-ack: regular TCP's, whatever a scheme has done before completion.
    targets: [Vec<u32>; 2],
    /// Targets of uploads beside downloads.
    uploads: Vec<u32>,
    /// The notice of the bench's flows, which may be wrong.
    notice: Notice,
    /// Notices of what goes to the mobile, and of what comes from it.
    notices: [Notice; 2],
    /// The same of the return, if the mobile returns.
    back: Option<[Notice; 2]>,
    /// So much later than at completion it is told.
    late: Nanos,
    /// Packets for the neighbours on the new link while they are counted, if nobody hands over.
    pub undisturbed: Option<u64>,
}

impl<W: HostObserver> Completed<W> {
    /// Begins the handoff and runs plain TCP to its completion.
    pub fn new(mut fork: Fork<W>) -> Self {
        let completion = fork.at + fork.experiment.kind.disconnection();
        let undisturbed = fork.experiment.neighbours.map(|asked| {
            let mut sim = fork.sim.clone();
            sim.run_until(completion);
            let before = neighbours::received(&sim);
            sim.run_until(completion + asked.counted);
            neighbours::received_since(&sim, &before).iter().sum()
        });
        pass(&fork.experiment, &fork.link_ids, fork.at, &mut fork.sim, fork.rule);

        let packets = fork.experiment.packets;
        let flows = &correspondent(&fork.sim).flows;
        let mut targets: [Vec<u32>; 2] = [
            flows.iter().map(|flow| flow.sender.snd_max() + packets).collect(),
            flows.iter().map(|flow| flow.sender.snd_una() + packets).collect(),
        ];
        if fork.experiment.address == Address::New {
            let has = mobile(&fork.sim).flows.iter().map(|flow| flow.receiver.rcv_nxt()).collect::<Vec<_>>();
            targets.iter_mut().for_each(|targets| new_address::renumber(targets, &has));
            new_address::take(&mut fork.sim, &fork.link_ids, &fork.experiment);
        }
        let after_highest = fork.experiment.definition == Definition::AfterHighest;
        let uploads = traffic::uploads_at(&fork.sim, &fork.link_ids, after_highest);
        let uploads = uploads.into_iter().map(|seq| seq + packets).collect();
        let (notices, mut late) = fork.notices(completion);
        if let NoticeMode::InBand { .. } = fork.experiment.notice {
            late += fork.experiment.notice_delay;
        }
        let notice = notices[usize::from(fork.experiment.is_upward())];
        let back = fork.experiment.kind.returns_after().map(|stay| fork.notices_of_return(completion + stay));
        Self { fork, completion, targets, uploads, notice, notices, back, late, undisturbed }
    }

    /// The new link as it is told, and how late, where that may be wrong.
    pub fn told(&self) -> Option<Told> {
        let errs = !self.fork.experiment.notice_error.is_none();
        errs.then_some(Told { new_link: self.notice.new_link, late: self.late })
    }

    /// Bytes for the neighbours on the new link, with this handoff and without.
    pub fn neighbours_received(&self, packets: &[u64]) -> Option<Received> {
        let asked = self.fork.experiment.neighbours?;
        let mss = u64::from(asked.stack.mss);
        let undisturbed = self.undisturbed? * mss;
        let least = packets.iter().min().filter(|_| asked.counted != COUNTED);
        let bytes = packets.iter().sum::<u64>() * mss;
        Some(Received { bytes, undisturbed, least: least.map(|packets| packets * mss) })
    }

    /// TCP of both ends.
    pub fn stack(&self) -> &StackProfile {
        &self.fork.experiment.stack
    }

    /// The packet that each flow's cumulative ACK has to reach.
    pub fn targets(&self) -> &[u32] {
        &self.targets[self.ends_by()]
    }

    /// The same with senders that have a schedule, expect the handoff, or act from the start. They may have sent other
    /// packets before completion than regular TCP.
    pub fn of_early_senders(&self, scheme: &Scheme) -> Option<Self> {
        let experiment = &self.fork.experiment;
        let expected = lead::announces(experiment, scheme).is_some();
        let differ = scheme.attends() || expected || lead::schedule(experiment.notice, scheme).is_some();
        if !differ || self.fork.continued || experiment.address == Address::New {
            return None;
        }
        let (sim, link_ids) = self.fork.pass_with(scheme, &lead::early(experiment, scheme));
        Some(Self { fork: Fork { sim, link_ids, ..self.fork.clone() }, ..self.clone() })
    }

    /// Which targets end the run.
    fn ends_by(&self) -> usize {
        match self.fork.experiment.definition {
            Definition::AfterHighest => 0,
            Definition::AfterAck => 1,
        }
    }

    /// The network just after completion, and its links: routes moved, notices on their way.
    pub fn start(&self, scheme: &Scheme) -> (BenchSim<W>, LinkIds) {
        self.start_by(scheme, self.fork.experiment.kind.overlap())
    }

    /// The same where nothing new goes over the old link.
    pub(super) fn start_without_overlap(&self, scheme: &Scheme) -> (BenchSim<W>, LinkIds) {
        self.start_by(scheme, None)
    }

    fn start_by(&self, scheme: &Scheme, overlap: Option<Overlap>) -> (BenchSim<W>, LinkIds) {
        let experiment = &self.fork.experiment;
        let early = lead::early(experiment, scheme);
        let (mut sim, link_ids) = if early.is_empty() || self.fork.continued {
            (self.fork.sim.clone(), self.fork.link_ids)
        } else {
            self.fork.pass_with(scheme, &early)
        };
        if experiment.address == Address::Keep {
            for pair in traffic::pairs(&link_ids) {
                traffic::hand_over(&mut sim, &link_ids, &pair);
            }
        }
        if let Some(rule) = routers::rule(experiment, scheme) {
            routers::link_up(&mut sim, &link_ids, rule);
        }
        if let Some(overlap) = overlap {
            soft::open(&mut sim, &link_ids, experiment, overlap);
        }
        traffic::end_uploads(&mut sim, &link_ids, &self.uploads);
        let senders = || correspondent(&sim).flows.iter().map(|flow| &flow.sender);
        let una = senders().map(|sender| sender.snd_una()).collect();
        let sent_before = senders().map(|sender| sender.snd_max()).collect();
        let first_copies = senders().map(|sender| sender.counters().transmissions).collect();
        if let Some(recorder) = &mut sim.net.observer.recorder {
            recorder.complete(
                self.completion,
                una,
                sent_before,
                first_copies,
                self.targets.clone(),
                self.ends_by(),
            );
        }
        let disconnected = self.notice.disconnected != 0;
        for pair in traffic::pairs(&link_ids) {
            if let Some(host) = senders_of(&mut sim.nodes[usize::from(pair.senders.0)]) {
                host.sharing = (self.notice.flows, disconnected);
            }
        }
        // A scheme that remembers has been there from the start, unless nothing happens early. One that has heard of the
        // handoff is there. After a handoff every scheme stays.
        let has_heard = lead::announces(experiment, scheme).is_some();
        if !self.fork.continued && !has_heard && (early.is_empty() || !scheme.remembers()) {
            replace_schemes(&mut sim, scheme);
        }
        if has_schedule(experiment, scheme) {
            read_clock(&mut sim, experiment.new.clock());
        }
        let heard = self.copies_heard(scheme);
        let told_now = self.is_in_band() && self.late == 0;
        self.act_at_mobile(&mut sim, &link_ids, scheme);
        let connecting = traffic::connecting(&mut sim, &traffic::own_pair(&link_ids));
        sim.with_node(MN, |node, net| {
            let BenchNode::Mobile(mn) = node else { return };
            if heard == 0 {
                return;
            }
            if scheme.needs_dsack() {
                mn.flows.iter_mut().for_each(|flow| flow.receiver.set_dsack(true));
            }
            if told_now {
                self.tell_in_band(mn, net, scheme, heard, &self.notices, &connecting);
            }
        });
        if heard > 0 {
            self.tell_further(&mut sim, scheme, told_now.then_some(heard), &self.notices);
            if told_now {
                self.remind(&mut sim, &link_ids, scheme, heard, &self.notices);
            }
        }
        (sim, link_ids)
    }

    /// When the link is there, the mobile does what its scheme has it do for all connections. These are the ones that
    /// it receives, and the ones that it sends on.
    fn act_at_mobile(&self, sim: &mut BenchSim<W>, link_ids: &LinkIds, scheme: &Scheme) {
        let experiment = &self.fork.experiment;
        let window_rule = lead::window_rule(experiment, scheme);
        let alone = scheme.mobile().alone.filter(|_| experiment.address == Address::Keep);
        if let Some(device) = traffic::device(link_ids) {
            sim.with_node(device, |node, net| {
                let BenchNode::Mobile(host) = node else { return };
                if let Some(extra_dup) = scheme.mobile().phas.filter(|_| !self.fork.continued) {
                    host.filter_acks(extra_dup);
                }
                if link_ids.tunnel.is_some() {
                    net.originate(host.out, asks(host.first.0));
                }
                if let Some(rule) = window_rule {
                    host.advertise(net, experiment.stack.receive_window, rule.reopen_acks);
                }
                if let Some(rule) = alone {
                    if !self.fork.continued {
                        host.help(rule, net.add_timer(device), experiment.stack.receive_window);
                    }
                    host.link_up(net, &self.arrived(link_ids));
                }
            });
        }
        // A mobile that only sends lacks ACKs.
        if link_ids.tunnel.is_some() && traffic::device(link_ids).is_none() {
            let pair = traffic::own_pair(link_ids);
            if let Some(host) = senders_of(&mut sim.nodes[usize::from(pair.senders.0)]) {
                sim.net.originate(host.out, asks(host.first.0));
            }
        }
        if alone.is_some_and(|rule| rule.resumes) && self.notices[0].disconnected != 0 {
            for pair in traffic::pairs(link_ids).filter(|pair| pair.is_upward) {
                sim.with_node(pair.senders, |node, net| {
                    if let Some(host) = senders_of(node) {
                        host.resume(net);
                    }
                });
            }
        }
    }

    /// Prepares the receivers of further traffic for notices; they send `copies` of one in band now.
    fn tell_further(
        &self,
        sim: &mut BenchSim<W>,
        scheme: &Scheme,
        copies: Option<u32>,
        notices: &[Notice; 2],
    ) {
        for pair in self.fork.link_ids.further.into_iter().flatten() {
            let connecting = traffic::connecting(sim, &pair);
            sim.with_node(pair.receivers, |node, net| {
                let Some(host) = receivers_of(node, &pair) else { return };
                if scheme.needs_dsack() {
                    host.flows.iter_mut().for_each(|flow| flow.receiver.set_dsack(true));
                }
                if let Some(copies) = copies.filter(|_| !pair.is_upward) {
                    self.tell_in_band(host, net, scheme, copies, notices, &connecting);
                }
            });
            // The mobile's own senders need no packet to know.
            if copies.is_some() && pair.is_upward {
                match lead::start_rule(&self.fork.experiment, scheme) {
                    Some(_) => announce(sim, &pair, Announcement::Finish),
                    None => notify(sim, &pair, notices),
                }
            }
        }
    }

    /// The handoff as a mobile knows it that acts alone.
    fn arrived(&self, link_ids: &LinkIds) -> Arrived {
        let (experiment, at) = (&self.fork.experiment, self.fork.at);
        let path = |link: &AccessLink, told: Link, at: Nanos| Path {
            rate: u64::from(told.rate_kbps) * 1000,
            round_trip: lead::round_trip(link, at),
            queue: link.queue,
            packet_bits: 8 * u64::from(experiment.stack.data_bytes()),
        };
        Arrived {
            gone: at,
            disconnected: self.notices[0].disconnected != 0,
            paths: [
                path(&experiment.old, self.notices[0].old_link, at),
                path(&experiment.new, self.notices[0].new_link, self.completion),
            ],
            access: experiment.new.round_trip_at(self.completion),
            up_kbps: u32::try_from(experiment.new.up.mean_rate() / 1000).unwrap_or(u32::MAX),
            over: traffic::ends_at_device(link_ids),
            also: self.also(link_ids, [&experiment.old, &experiment.new], self.completion),
        }
    }

    /// The uplink that the mobile leaves now, if it still carries. `links`: that, and the other.
    fn also(&self, link_ids: &LinkIds, links: [&AccessLink; 2], at: Nanos) -> Option<Also> {
        let carries = matches!(self.fork.experiment.kind, Kind::Mbb | Kind::Soft(..) | Kind::PingPong(_));
        let ways = links.map(|link| link.up_delay().at(at));
        carries.then_some(Also { out: link_ids.last[OLD].up, ways })
    }

    fn is_in_band(&self) -> bool {
        matches!(self.fork.experiment.notice, NoticeMode::InBand { .. })
    }

    /// The mobile sends `heard` copies of the notice. `connecting`: flows whose SYN has left.
    fn tell_in_band(
        &self,
        mn: &mut Mobile,
        net: &mut Net<Packet, Observer<W>>,
        scheme: &Scheme,
        heard: u32,
        notices: &[Notice; 2],
        connecting: &[bool],
    ) {
        let [_, up] = notices;
        let notice = &notices[usize::from(self.fork.experiment.is_upward())];
        match lead::start_rule(&self.fork.experiment, scheme) {
            Some(rule) => mn.foretell(net, Announcement::Finish, rule.encoding, heard),
            None => {
                let disconnected = notice.disconnected != 0;
                let up_kbps = up.new_link.rate_kbps;
                if disconnected && self.stack().kernel.is_some() {
                    mn.withhold_stamps(net.now());
                }
                let pace = scheme.mobile().pace(notice.new_link, up_kbps, heard, disconnected);
                let also = lead::expects(&self.fork.experiment, scheme);
                let also = also.map(|_| self.fork.link_ids.last[OLD].up);
                mn.announce(net, notice.new_link, Copies { number: heard, also }, pace, connecting);
            }
        }
    }

    /// After an outage the mobile reminds senders of a kernel's TCP that a notice in band does not resume. Others ignore
    /// messages.
    fn remind(
        &self,
        sim: &mut BenchSim<W>,
        link_ids: &LinkIds,
        scheme: &Scheme,
        copies: u32,
        notices: &[Notice; 2],
    ) {
        let [down, up] = notices;
        let foretold = lead::start_rule(&self.fork.experiment, scheme).is_some();
        if foretold || down.disconnected == 0 || self.stack().kernel.is_none() {
            return;
        }
        let Some(device) = traffic::device(link_ids) else { return };
        let pace = scheme.mobile().pace(down.new_link, up.new_link.rate_kbps, copies, true);
        sim.with_node(device, |node, net| {
            let BenchNode::Mobile(host) = node else { return };
            host.remind(net, |net| net.add_timer(device), &self.arrived(link_ids), pace);
        });
    }

    /// How many copies of the notice leave the mobile, or reach the senders at once. To connections that begin after
    /// the handoff nothing of it is told.
    fn copies_heard(&self, scheme: &Scheme) -> u32 {
        let experiment = &self.fork.experiment;
        if experiment.address == Address::New {
            return 0;
        }
        match scheme.mobile().announces || lead::start_rule(experiment, scheme).is_some() {
            true => experiment.notice.copies(),
            false => 0,
        }
    }

    /// When a notice is given that [`Self::start`] has not given: an instant one, or one in band that is late.
    pub fn notice_at(&self, scheme: &Scheme) -> Option<Nanos> {
        let experiment = &self.fork.experiment;
        let due = match experiment.notice {
            NoticeMode::Instant => Some(self.completion + experiment.notice_delay + self.late),
            NoticeMode::InBand { .. } => Some(self.completion + self.late).filter(|_| self.late > 0),
            NoticeMode::Withheld => None,
        };
        due.filter(|_| self.copies_heard(scheme) > 0)
    }

    /// Whether notices are given with `scheme`.
    pub fn is_told(&self, scheme: &Scheme) -> bool {
        self.copies_heard(scheme) > 0 && self.fork.experiment.notice != NoticeMode::Withheld
    }

    /// When a notice can be with a sender at the earliest, if there is one.
    pub fn told_at(&self) -> Option<Nanos> {
        match self.fork.experiment.notice {
            NoticeMode::Withheld => None,
            NoticeMode::Instant => Some(self.completion + self.fork.experiment.notice_delay + self.late),
            NoticeMode::InBand { .. } => Some(self.acknowledged(self.completion + self.late)),
        }
    }

    /// The notice: an instant one to all senders in turn, one in band from the mobile.
    pub fn notify_all(&self, sim: &mut BenchSim<W>, scheme: &Scheme) {
        self.notify_all_of(sim, scheme, &self.notices);
    }

    /// The same of the return.
    pub(super) fn notify_of_return(&self, sim: &mut BenchSim<W>, scheme: &Scheme) {
        if let Some(back) = &self.back {
            self.notify_all_of(sim, scheme, back);
        }
    }

    fn notify_all_of(&self, sim: &mut BenchSim<W>, scheme: &Scheme, notices: &[Notice; 2]) {
        if self.is_in_band() {
            let heard = self.copies_heard(scheme);
            let connecting = traffic::connecting(sim, &traffic::own_pair(&self.fork.link_ids));
            sim.with_node(MN, |node, net| {
                let BenchNode::Mobile(mn) = node else { return };
                self.tell_in_band(mn, net, scheme, heard, notices, &connecting);
            });
            self.tell_further(sim, scheme, Some(heard), notices);
            return self.remind(sim, &self.fork.link_ids, scheme, heard, notices);
        }
        if lead::start_rule(&self.fork.experiment, scheme).is_some() {
            return announce_all(sim, &self.fork.link_ids, Announcement::Finish);
        }
        for pair in traffic::pairs(&self.fork.link_ids) {
            notify(sim, &pair, notices);
        }
    }

    /// The mobile is back on the old link.
    pub(super) fn turn_back(&self, sim: &mut BenchSim<W>, scheme: &Scheme) {
        let link_ids = self.fork.link_ids.back();
        for pair in traffic::pairs(&link_ids) {
            traffic::hand_over(sim, &link_ids, &pair);
        }
        if has_schedule(&self.fork.experiment, scheme) {
            read_clock(sim, self.fork.experiment.old.clock());
        }
        if let (Some(_), Some(back)) = (scheme.mobile().alone, &self.back) {
            let (gone, [down, _]) = (sim.net.now(), back);
            let Arrived { paths: [old, new], up_kbps, .. } = self.arrived(&self.fork.link_ids);
            let experiment = &self.fork.experiment;
            let told = |path: Path, link: Link| Path { rate: u64::from(link.rate_kbps) * 1000, ..path };
            let arrived = Arrived {
                gone,
                disconnected: false,
                paths: [told(new, down.old_link), told(old, down.new_link)],
                access: experiment.old.round_trip_at(gone),
                up_kbps: u32::try_from(experiment.old.up.mean_rate() / 1000).unwrap_or(up_kbps),
                over: traffic::ends_at_device(&link_ids),
                also: self.also(&link_ids, [&experiment.new, &experiment.old], gone),
            };
            let Some(device) = traffic::device(&link_ids) else { return };
            sim.with_node(device, |node, net| {
                let BenchNode::Mobile(host) = node else { return };
                host.link_up(net, &arrived);
            });
        }
    }
}

/// Whether senders have a schedule, which connections that begin after the handoff do not.
fn has_schedule(experiment: &Experiment, scheme: &Scheme) -> bool {
    experiment.address == Address::Keep && lead::schedule(experiment.notice, scheme).is_some()
}

/// The mobile, by one of its flows, asks for what routers hold (algorithms.md, 6.1).
fn asks(flow: u16) -> Packet {
    Packet::of_signal(flow, Signal::ForwardingRequest, 0)
}

/// All senders of a pair are told at once.
fn notify<W: HostObserver>(sim: &mut BenchSim<W>, pair: &Pair, notices: &[Notice; 2]) {
    sim.with_node(pair.senders, |node, net| {
        let Some(host) = senders_of(node) else { return };
        for index in 0..host.flows.len() {
            host.notify(net, index, &notices[usize::from(pair.is_upward)]);
        }
    });
}

impl<W: HostObserver> Fork<W> {
    /// The notices at completion, of both directions, and how late they are.
    fn notices(&self, completion: Nanos) -> ([Notice; 2], Nanos) {
        let Experiment { old, new, .. } = &*self.experiment;
        self.notices_from([old, new], [OLD, NEW], completion)
    }

    /// The notices when the mobile is back, which are as late.
    fn notices_of_return(&self, at: Nanos) -> [Notice; 2] {
        let Experiment { old, new, .. } = &*self.experiment;
        self.notices_from([new, old], [NEW, OLD], at).0
    }

    fn notices_from(
        &self,
        [from_link, to_link]: [&AccessLink; 2],
        [from_place, to_place]: [usize; 2],
        completion: Nanos,
    ) -> ([Notice; 2], Nanos) {
        let experiment = &self.experiment;
        let mut told_late = 0;
        let mut notice = |old: &AccessLink, new: &AccessLink| {
            let from = completion.saturating_sub(SECOND);
            let Told { new_link, late } = told(experiment, new, to_place, self.at, completion);
            told_late = late;
            Notice {
                old_link: old.reported(experiment.link_seed(from_place), from, completion, completion),
                new_link,
                // Applications alone share the link with no long transfer.
                flows: experiment.flows.max(1) as u32,
                disconnected: u32::from(experiment.kind.breaks()),
            }
        };
        let down = notice(from_link, to_link);
        let up = match experiment.traffic.as_ref().is_some_and(|traffic| traffic.upload) {
            true => notice(&from_link.turned(), &to_link.turned()),
            false => down,
        };
        ([down, up], told_late)
    }
}
