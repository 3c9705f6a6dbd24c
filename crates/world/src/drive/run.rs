//! A drive with one scheme: many handoffs, cross traffic, the web.

use super::course::Course;
pub use super::experiment::{DriveExperiment, WideArea};
use super::mobility::Class;
use super::network::{self, AR, DriveNode, DriveSim, LinkIds, MN, SERVER, SINK, WEB};
use super::record::{DriveHandoff, DriveObserver, DriveRecord, Notices};
use crate::access_router::AccessRouter;
use crate::lead;
use crate::nodes::{Arrived, BenchNode, Mobile};
use crate::packet::Packet;
use crate::words::NoticeMode;
use segue_handoff::alone::window::Path;
use segue_handoff::{Announcement, Holder, Notice, Scheme, StartRule};
use segue_netsim::{Nanos, Net};

impl DriveExperiment {
    /// The network at time zero with `scheme` at the senders to the mobile, which is in its first cell. It is for those
    /// who take it further themselves.
    pub fn network(&self, scheme: &Scheme) -> (DriveSim, LinkIds) {
        let (mut sim, link_ids) = network::build(self, scheme);
        sim.net.observer.flows = self.flows as u16;
        if let Some(extra_dup) = scheme.mobile().phas {
            sim.with_node(MN, |node, _| {
                let DriveNode::Bench(BenchNode::Mobile(mn)) = node else { return };
                mn.filter_acks(extra_dup);
            });
        }
        if let Some(rule) = scheme.mobile().alone {
            let window = self.stack.receive_window;
            with_mobile(&mut sim, |mn, net| mn.help(rule, net.add_timer(MN), window));
        }
        (sim, link_ids)
    }

    /// Runs the drive with `scheme` at the senders to the mobile, and at the mobile.
    pub fn run(&self, scheme: &Scheme) -> DriveRecord {
        let (mut sim, link_ids) = self.network(scheme);
        let sent = self.drive_through(&mut sim, link_ids, scheme);
        self.record(sim, sent)
    }

    /// The same; what is kept is when the cumulative ACK of the first flow moved, and the packet it moved to.
    pub fn progress(&self, scheme: &Scheme) -> Vec<(Nanos, u32)> {
        let (mut sim, link_ids) = self.network(scheme);
        sim.net.observer.progress = Some(Vec::new());
        self.drive_through(&mut sim, link_ids, scheme);
        sim.net.observer.progress.unwrap_or_default()
    }

    /// The same; what is kept is what came to the mobile in each of at most `bins` parts of the drive, and the waits.
    pub fn course(&self, scheme: &Scheme, bins: u32) -> Course {
        let (mut sim, link_ids) = self.network(scheme);
        let empty = Course::new(self.drive.length, bins, u32::from(self.stack.mss));
        sim.net.observer.course = Some(empty.clone());
        self.drive_through(&mut sim, link_ids, scheme);
        let mut course = sim.net.observer.course.unwrap_or(empty);
        course.end(self.drive.length);
        course
    }

    /// Takes the mobile from its first cell to the end; says how many copies of notices it sent.
    fn drive_through(&self, sim: &mut DriveSim, link_ids: LinkIds, scheme: &Scheme) -> u32 {
        let mut sent = 0;
        for index in 0..self.drive.stays.len() {
            let stay = &self.drive.stays[index];
            if index > 0 {
                sim.run_until(stay.from);
                sent += self.link_up(sim, link_ids, scheme, index);
            }
            self.read_clock(sim, scheme, index);
            let last = index + 1 == self.drive.stays.len();
            if last && stay.until >= self.drive.length {
                break;
            }
            if !last {
                self.close_window(sim, scheme, index);
                self.hold_early(sim, scheme, index);
                sent += self.foretell(sim, scheme, index);
                self.read_schedule(sim, scheme, index);
            }
            sim.run_until(stay.until);
            for link in [link_ids.access_down, link_ids.access_up] {
                sim.net.cut(link, stay.until);
            }
            if !last {
                self.link_down(sim, scheme, index);
            }
        }
        sim.run_until(self.drive.length);
        sent
    }

    /// The mobile closes its window before the link of stay `index` goes, where the scheme has it so and the
    /// handoff is foreseen (algorithms.md 4.5).
    fn close_window(&self, sim: &mut DriveSim, scheme: &Scheme, index: usize) {
        let stay = &self.drive.stays[index];
        let Some(rule) = scheme.mobile().window.filter(|rule| rule.foresees(index as u32 + 1)) else {
            return;
        };
        let rtt = 2 * self.wan.delay + stay.link.round_trip_at(stay.until);
        let closes = stay.until.saturating_sub(rule.closes.on_path(rtt)).max(stay.from);
        sim.run_until(closes);
        sim.with_node(MN, |node, net| {
            let DriveNode::Bench(BenchNode::Mobile(mn)) = node else { return };
            mn.advertise(net, 0, 1);
        });
    }

    /// A new router holds packets from the hint on, which come to it by a tunnel (algorithms.md, 5.2).
    fn hold_early(&self, sim: &mut DriveSim, scheme: &Scheme, index: usize) {
        let stay = &self.drive.stays[index];
        if self.routers.rule_for(scheme, self.notice).is_some_and(|rule| rule.holder == Holder::New) {
            sim.run_until(stay.until.saturating_sub(self.routers.hint).max(stay.from));
            with_router(sim, |router, _| router.hold());
        }
    }

    /// The mobile tells the senders that the link of stay `index` is about to go, where the scheme has it so
    /// (algorithms.md,
    /// 5.2). Says how many copies it sent.
    fn foretell(&self, sim: &mut DriveSim, scheme: &Scheme, index: usize) -> u32 {
        let Some(rule) = scheme.mobile().foretells.filter(|_| self.notice != NoticeMode::Withheld) else {
            return 0;
        };
        let (stay, next) = (&self.drive.stays[index], &self.drive.stays[index + 1]);
        sim.run_until(stay.until.saturating_sub(self.routers.hint).max(stay.from));
        let start = rule.start(next.from - stay.until, self.routers.capacity_bytes(&self.stack));
        self.announce(sim, Announcement::Start(start), rule)
    }

    /// The senders read in their schedule that the link of stay `index` is about to go.
    fn read_schedule(&self, sim: &mut DriveSim, scheme: &Scheme, index: usize) {
        let Some(lead) = lead::schedule(self.notice, scheme) else { return };
        let stay = &self.drive.stays[index];
        sim.run_until(stay.until.saturating_sub(lead).max(stay.from));
        sim.with_node(SERVER, |node, net| {
            let DriveNode::Bench(BenchNode::Correspondent(server)) = node else { return };
            (0..server.flows.len()).for_each(|flow| server.read_schedule(net, flow, stay.until));
        });
    }

    /// The senders' schedule goes by the clock of the link of stay `index`.
    fn read_clock(&self, sim: &mut DriveSim, scheme: &Scheme, index: usize) {
        if lead::schedule(self.notice, scheme).is_none() {
            return;
        }
        let clock = self.drive.stays[index].link.clock();
        sim.with_node(SERVER, |node, net| {
            let DriveNode::Bench(BenchNode::Correspondent(server)) = node else { return };
            (0..server.flows.len()).for_each(|flow| server.on_link(net, flow, clock));
        });
    }

    /// Tells the senders, as notices are told; says how many copies the mobile sent.
    fn announce(&self, sim: &mut DriveSim, what: Announcement, rule: StartRule) -> u32 {
        match self.notice {
            NoticeMode::Withheld => 0,
            NoticeMode::Instant => {
                let told = match what {
                    Announcement::Start(start) => start.as_told(rule.encoding).map(Announcement::Start),
                    Announcement::Finish => Some(what),
                };
                let Some(told) = told else { return 0 };
                sim.with_node(SERVER, |node, net| {
                    let DriveNode::Bench(BenchNode::Correspondent(server)) = node else { return };
                    (0..server.flows.len()).for_each(|flow| server.announce(net, flow, told));
                });
                0
            }
            mode @ NoticeMode::InBand { .. } => {
                let copies = mode.copies();
                sim.with_node(MN, |node, net| {
                    let DriveNode::Bench(BenchNode::Mobile(mn)) = node else { return };
                    mn.foretell(net, what, rule.encoding, copies);
                });
                copies * self.flows as u32
            }
        }
    }

    /// The link of stay `index` is gone.
    fn link_down(&self, sim: &mut DriveSim, scheme: &Scheme, index: usize) {
        let [old, new] = [index, index + 1].map(|index| &self.drive.stays[index]);
        sim.net.observer.close_ramp(old.until);
        sim.net.observer.handoffs.push(DriveHandoff {
            class: self.drive.class(index, self.wan.delay).unwrap_or(Class::LHh),
            down: old.until,
            up: new.from,
            lost: 0,
            buffer_drops: 0,
            idle: None,
            ramp: (0, 0),
            overshoot: 0,
        });
        if self.routers.rule_for(scheme, self.notice).is_some_and(|rule| rule.holder == Holder::Previous) {
            with_router(sim, |router, net| router.link_down(net));
        }
        with_mobile(sim, |mn, _| mn.link_gone());
    }

    /// The handoff to stay `index` as a mobile knows it that acts alone.
    fn arrived(&self, link_ids: LinkIds, index: usize) -> Arrived {
        let stays = [index - 1, index].map(|index| &self.drive.stays[index]);
        let [gone, up] = [stays[0].until, stays[1].from];
        let path = |index: usize, at: Nanos, began: Nanos| {
            let link = &self.drive.stays[index].link;
            Path {
                rate: u64::from(self.reported_link(index, began).rate_kbps) * 1000,
                round_trip: 2 * self.wan.delay + link.round_trip_at(at),
                queue: link.queue,
                packet_bits: 8 * u64::from(self.stack.data_bytes()),
            }
        };
        Arrived {
            gone,
            disconnected: true,
            paths: [path(index - 1, gone, stays[0].from), path(index, up, up)],
            access: stays[1].link.round_trip_at(up),
            up_kbps: u32::try_from(stays[1].link.up.mean_rate() / 1000).unwrap_or(u32::MAX),
            over: [Some(link_ids.access_down), None],
            also: None,
        }
    }

    /// The link of stay `index` is up: the mobile tells, as the scheme has it. Says how many copies it sent.
    fn link_up(&self, sim: &mut DriveSim, link_ids: LinkIds, scheme: &Scheme, index: usize) -> u32 {
        let stay = &self.drive.stays[index];
        // Packets that came to the old router meanwhile and are not held are lost (4.8 [C]).
        sim.net.replace_link(link_ids.access_down, stay.link.down_config(self.link_seed(index)));
        sim.net.replace_link(link_ids.access_up, stay.link.up_config(self.link_seed(index)));
        if let Some(rule) = self.routers.rule_for(scheme, self.notice) {
            // The new one goes on holding what comes until it has let out what came before.
            if rule.holder == Holder::Previous {
                with_router(sim, |router, _| router.link_up());
            }
            sim.with_node(MN, |node, net| {
                let DriveNode::Bench(BenchNode::Mobile(mn)) = node else { return };
                mn.request_forwarding(net);
            });
        }
        let rule = scheme.mobile();
        if rule.alone.is_some() {
            let arrived = self.arrived(link_ids, index);
            with_mobile(sim, |mn, net| mn.link_up(net, &arrived));
        }
        if let Some(window) = rule.window {
            sim.with_node(MN, |node, net| {
                let DriveNode::Bench(BenchNode::Mobile(mn)) = node else { return };
                mn.advertise(net, self.stack.receive_window, window.reopen_acks);
            });
        }
        if let Some(foretells) = rule.foretells.filter(|_| self.notice != NoticeMode::Withheld) {
            return self.announce(sim, Announcement::Finish, foretells);
        }
        if !rule.announces || self.notice == NoticeMode::Withheld {
            return 0;
        }
        let copies = self.notice.copies();
        let new_link = self.reported_link(index, stay.from);
        let in_band = matches!(self.notice, NoticeMode::InBand { .. });
        let connecting = match &sim.nodes[usize::from(SERVER.0)] {
            DriveNode::Bench(BenchNode::Correspondent(server)) => server.connecting(),
            _ => Vec::new(),
        };
        sim.with_node(MN, |node, net| {
            let DriveNode::Bench(BenchNode::Mobile(mn)) = node else { return };
            if scheme.needs_dsack() {
                mn.flows.iter_mut().for_each(|flow| flow.receiver.set_dsack(true));
            }
            if in_band {
                if self.stack.kernel.is_some() {
                    mn.withhold_stamps(net.now());
                }
                let up_kbps = u32::try_from(stay.link.up.mean_rate() / 1000).unwrap_or(u32::MAX);
                let pace = rule.pace(new_link, up_kbps, copies, true);
                mn.announce(net, new_link, copies, pace.clone(), &connecting);
                if self.stack.kernel.is_some() {
                    mn.remind(net, |net| net.add_timer(MN), &self.arrived(link_ids, index), pace);
                }
            }
        });
        if in_band {
            return copies * self.flows as u32;
        }
        let notice = Notice {
            old_link: self.reported_link(index - 1, self.drive.stays[index - 1].from),
            new_link,
            flows: self.flows as u32,
            disconnected: 1,
        };
        sim.with_node(SERVER, |node, net| {
            let DriveNode::Bench(BenchNode::Correspondent(server)) = node else { return };
            (0..server.flows.len()).for_each(|flow| server.notify(net, flow, &notice));
        });
        0
    }

    fn record(&self, mut sim: DriveSim, sent: u32) -> DriveRecord {
        let payload = u64::from(self.stack.mss);
        let received = |host: &Mobile| -> Vec<u64> {
            let packets = host.flows.iter().map(|flow| u64::from(flow.receiver.rcv_nxt().saturating_sub(1)));
            packets.map(|packets| packets * payload).collect()
        };
        let bytes = [MN, SINK].map(|host| match &sim.nodes[usize::from(host.0)] {
            DriveNode::Bench(BenchNode::Mobile(host)) => received(host),
            _ => Vec::new(),
        });
        let [mobile_bytes, cross_bytes] = bytes;
        let mut notices = Notices { sent, ..Notices::default() };
        let (mut retransmissions, mut fast_retransmits) = (0, 0);
        if let DriveNode::Bench(BenchNode::Correspondent(server)) = &sim.nodes[usize::from(SERVER.0)] {
            for flow in &server.flows {
                let counters = flow.sender.counters();
                retransmissions += counters.retransmissions;
                fast_retransmits += counters.fast_retransmits;
                let heard = flow.listener.heard();
                notices.accepted += heard.accepted;
                notices.repeated += heard.repeated;
                notices.refused += heard.refused;
            }
        }
        let web = match &mut sim.nodes[usize::from(WEB.0)] {
            DriveNode::WebServer(server) => std::mem::take(&mut server.fetched),
            _ => Vec::new(),
        };
        let mut observer = sim.net.observer;
        observer.close_ramp(self.drive.length);
        DriveRecord {
            length: self.drive.length,
            mobile_bytes,
            cross_bytes,
            handoffs: observer.handoffs,
            timeouts: observer.timeouts,
            retransmissions,
            fast_retransmits,
            access_delay: observer.access_delay,
            wan_delay: observer.wan_delay,
            wan_drops: observer.wan_drops,
            notices,
            web,
        }
    }
}

/// Lets the mobile act.
fn with_mobile(sim: &mut DriveSim, act: impl FnOnce(&mut Mobile, &mut Net<Packet, DriveObserver>)) {
    sim.with_node(MN, |node, net| {
        let DriveNode::Bench(BenchNode::Mobile(mn)) = node else { return };
        act(mn, net);
    });
}

/// Lets the access router act.
fn with_router(sim: &mut DriveSim, act: impl FnOnce(&mut AccessRouter, &mut Net<Packet, DriveObserver>)) {
    sim.with_node(AR, |node, net| {
        let DriveNode::Bench(BenchNode::AccessRouter(router)) = node else { return };
        act(router, net);
    });
}
