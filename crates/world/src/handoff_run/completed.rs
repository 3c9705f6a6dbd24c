//! A network at completion, before any sender knows, with the marks that all schemes share.

use super::follower::replace_schemes;
use super::fork::{Fork, announce_all, pass};
use crate::access::AccessLink;
use crate::bench::{CN, MN, NEW, OLD, Places, R, correspondent};
use crate::lead;
use crate::nodes::{Arrived, BenchNode, BenchSim, HostObserver, Route};
use crate::words::{Definition, Kind, NoticeMode};
use segue_handoff::alone::window::Path;
use segue_handoff::{Announcement, Link, Notice, Scheme};
use segue_netsim::{Nanos, SECOND};
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
    notice: Notice,
}

impl<W: HostObserver> Completed<W> {
    /// Begins the handoff and runs plain TCP to its completion.
    pub fn new(mut fork: Fork<W>) -> Self {
        let completion = fork.at + fork.experiment.kind.disconnection();
        pass(&fork.experiment, &fork.places, fork.at, &mut fork.sim, None);

        let packets = fork.experiment.packets;
        let flows = &correspondent(&fork.sim).flows;
        let targets = [
            flows.iter().map(|flow| flow.sender.snd_max() + packets).collect(),
            flows.iter().map(|flow| flow.sender.snd_una() + packets).collect(),
        ];
        let notice = fork.notice(completion);
        Self { fork, completion, targets, notice }
    }

    /// TCP of both ends.
    pub fn stack(&self) -> &StackProfile {
        &self.fork.experiment.stack
    }

    /// The packet that each flow's cumulative ACK has to reach.
    pub fn targets(&self) -> &[u32] {
        &self.targets[self.ends_by()]
    }

    /// Which targets end the run.
    fn ends_by(&self) -> usize {
        match self.fork.experiment.definition {
            Definition::AfterHighest => 0,
            Definition::AfterAck => 1,
        }
    }

    /// The network just after completion, and its places: routes moved, notices on their way.
    pub fn start(&self, scheme: &Scheme) -> (BenchSim<W>, Places) {
        let experiment = &self.fork.experiment;
        let early = lead::early(experiment, scheme);
        let (mut sim, places) = if early.is_empty() {
            (self.fork.sim.clone(), self.fork.places)
        } else {
            self.fork.pass_with(scheme, &early)
        };
        if let BenchNode::Router(r) = &mut sim.nodes[usize::from(R.0)] {
            r.route(places.core.down, Route::To(places.edge[NEW].down));
        }
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
        if let BenchNode::Correspondent(cn) = &mut sim.nodes[usize::from(CN.0)] {
            cn.sharing = (self.notice.flows, disconnected);
        }
        // A scheme that remembers has been there from the start, unless nothing happens early.
        if early.is_empty() || !scheme.remembers() {
            replace_schemes(&mut sim, scheme);
        }
        let heard = self.copies_heard(scheme);
        let window_rule = lead::window_rule(experiment, scheme);
        let in_band = matches!(experiment.notice, NoticeMode::InBand { .. });
        sim.with_node(MN, |node, net| {
            let BenchNode::Mobile(mn) = node else { return };
            mn.out = places.last[NEW].up;
            if let Some(extra_dup) = scheme.mobile().phas {
                mn.filter_acks(extra_dup);
            }
            if places.tunnel.is_some() {
                mn.request_forwarding(net);
            }
            if let Some(rule) = window_rule {
                mn.advertise(net, experiment.stack.receive_window, rule.reopen_acks);
            }
            if let Some(rule) = scheme.mobile().alone {
                mn.help(rule, net.add_timer(MN), experiment.stack.receive_window);
                mn.link_up(net, &self.arrived(&places));
            }
            if heard == 0 {
                return;
            }
            if scheme.needs_dsack() {
                mn.flows.iter_mut().for_each(|flow| flow.receiver.set_dsack(true));
            }
            if in_band {
                match lead::start_rule(experiment, scheme) {
                    Some(rule) => mn.foretell(net, Announcement::Finish, rule.encoding, heard),
                    None => mn.announce(net, self.notice.new_link, heard),
                }
            }
        });
        (sim, places)
    }

    /// The handoff as a mobile knows it that acts alone.
    fn arrived(&self, places: &Places) -> Arrived {
        let (experiment, at) = (&self.fork.experiment, self.fork.at);
        let path = |link: &AccessLink, told: Link, at: Nanos| Path {
            rate: u64::from(told.rate_kbps) * 1000,
            round_trip: lead::round_trip(link, at),
            queue: link.queue,
            packet_bits: 8 * u64::from(experiment.stack.data_bytes()),
        };
        Arrived {
            gone: at,
            disconnected: self.notice.disconnected != 0,
            paths: [
                path(&experiment.old, self.notice.old_link, at),
                path(&experiment.new, self.notice.new_link, self.completion),
            ],
            access: experiment.new.round_trip_at(self.completion),
            up_kbps: u32::try_from(experiment.new.up.mean_rate() / 1000).unwrap_or(u32::MAX),
            over: places.last[NEW].down,
        }
    }

    /// How many copies of the notice leave the mobile, or reach the senders at once.
    fn copies_heard(&self, scheme: &Scheme) -> u32 {
        let experiment = &self.fork.experiment;
        match scheme.mobile().announces || lead::start_rule(experiment, scheme).is_some() {
            true => experiment.notice.copies(),
            false => 0,
        }
    }

    /// When the senders learn of the handoff without a packet.
    pub fn instant_notice_at(&self, scheme: &Scheme) -> Option<Nanos> {
        let experiment = &self.fork.experiment;
        let instant = experiment.notice == NoticeMode::Instant && self.copies_heard(scheme) > 0;
        instant.then_some(self.completion + experiment.notice_delay)
    }

    /// The instant notice, to all senders in turn.
    pub fn notify_all(&self, sim: &mut BenchSim<W>, scheme: &Scheme) {
        if lead::start_rule(&self.fork.experiment, scheme).is_some() {
            return announce_all(sim, Announcement::Finish);
        }
        sim.with_node(CN, |node, net| {
            let BenchNode::Correspondent(cn) = node else { return };
            for index in 0..cn.flows.len() {
                cn.notify(net, index, &self.notice);
            }
        });
    }
}

impl<W: HostObserver> Fork<W> {
    /// The notice at completion.
    fn notice(&self, completion: Nanos) -> Notice {
        let experiment = &self.experiment;
        Notice {
            old_link: experiment.old.reported(
                experiment.place(OLD),
                completion.saturating_sub(SECOND),
                completion,
                completion,
            ),
            new_link: experiment.new.reported(
                experiment.place(NEW),
                completion,
                completion + SECOND,
                completion,
            ),
            flows: experiment.flows as u32,
            disconnected: u32::from(experiment.kind != Kind::Mbb),
        }
    }
}
