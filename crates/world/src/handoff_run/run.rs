//! A handoff, run with one scheme to its end.

use super::completed::{Completed, GIVE_UP};
use super::fork::Fork;
use super::steps::Steps;
use crate::bench::neighbours;
use crate::bench::{LinkIds, NEW, mobile};
use crate::lead;
use crate::link_time::IdleTime;
use crate::nodes::{BenchSim, HostObserver};
use crate::notice_error::Told;
use crate::packet::Packet;
use crate::record::{Bounds, RunRecord};
use crate::routers;
use crate::traffic::watch::TrafficWatch;
use segue_handoff::Scheme;
use segue_netsim::Nanos;
use segue_tcp::StackProfile;
use std::collections::BTreeSet;

/// So often a run asks whether to go on: every few milliseconds of a processor's time on the fastest links.
pub(super) const BETWEEN_LOOKS: Nanos = 50_000_000;

/// A network at completion, before any sender knows, with the marks and the bound that all schemes share.
#[derive(Clone)]
pub struct Handoff<W = ()> {
    pub(super) at: Completed<W>,
    /// Where routers hold nothing.
    bounds: Bounds,
}

/// A run that has come to its end.
pub(crate) struct Ended<W> {
    pub record: RunRecord,
    /// Time of the end, ns.
    pub at: Nanos,
    /// Data packets on links and in buffers then: flow and number of the transmission, ascending.
    pub under_way: Vec<(u16, u32)>,
    /// The observer, with all that it has heard.
    pub watch: W,
    /// The mobile's traffic in all handoffs of the run, when all has come; nothing unless this is the last.
    pub(super) traffic: Option<Box<TrafficWatch>>,
}

/// A run whose record is still open.
#[derive(Clone)]
pub(super) struct Run<W> {
    pub sim: BenchSim<W>,
    pub link_ids: LinkIds,
    /// All is accounted for until then.
    from: Nanos,
    /// Steps still to come.
    pub steps: Steps,
    count: Count,
}

/// Counts what the neighbours on the new link receive.
#[derive(Clone)]
struct Count {
    /// When it ends, until it has; without neighbours it does not begin.
    at: Option<Nanos>,
    /// Packets of each before it begins; once it has ended, those since.
    packets: Vec<u64>,
}

impl Count {
    fn begin<W>(sim: &BenchSim<W>, at: &Completed<W>) -> Self {
        let asked = at.undisturbed.and(at.fork.experiment.neighbours);
        let at = asked.map(|asked| at.completion + asked.counted);
        Self { at, packets: neighbours::received(sim) }
    }

    fn end<W>(&mut self, sim: &BenchSim<W>, now: Nanos) {
        if self.at.take_if(|at| *at == now).is_some() {
            self.packets = neighbours::received_since(sim, &self.packets);
        }
    }
}

fn earlier(a: Option<Nanos>, b: Option<Nanos>) -> Option<Nanos> {
    a.into_iter().chain(b).min()
}

impl Fork {
    /// Begins the handoff and runs plain TCP to its completion.
    pub fn complete(self) -> Handoff {
        self.complete_watched()
    }
}

impl<W: HostObserver> Fork<W> {
    /// As [`Self::complete`].
    pub(crate) fn complete_watched(self) -> Handoff<W> {
        let at = Completed::new(self);
        let physical = at.bound(None);
        let bounds = Bounds { physical, told: at.bound_told(physical) };
        Handoff { at, bounds }
    }
}

impl Handoff {
    /// Runs the rest with `scheme` at every sender.
    pub fn run(&self, scheme: &Scheme) -> RunRecord {
        self.run_watched(scheme, &|| {}).record
    }
}

impl<W: HostObserver> Handoff<W> {
    /// When the handoff completes.
    pub fn completion(&self) -> Nanos {
        self.at.completion
    }

    /// TCP of both ends.
    pub(crate) fn stack(&self) -> &StackProfile {
        self.at.stack()
    }

    /// The packet that each flow's cumulative ACK has to reach.
    pub(crate) fn targets(&self) -> &[u32] {
        self.at.targets()
    }

    /// The network just after completion, and its links: routes moved, notices on their way.
    pub(crate) fn start(&self, scheme: &Scheme) -> (BenchSim<W>, LinkIds) {
        self.at.start(scheme)
    }

    /// When a notice is given that [`Self::start`] has not given.
    pub(crate) fn notice_at(&self, scheme: &Scheme) -> Option<Nanos> {
        self.at.notice_at(scheme)
    }

    /// The new link as it is told, and how late, where that may be wrong.
    pub(crate) fn told(&self) -> Option<Told> {
        self.at.told()
    }

    /// The notice that is due then.
    pub(crate) fn notify_all(&self, sim: &mut BenchSim<W>, scheme: &Scheme) {
        self.at.notify_all(sim, scheme);
    }

    /// Runs the rest with `scheme` at every sender; also what the watcher has heard. `looks` is called every
    /// [`BETWEEN_LOOKS`].
    pub(crate) fn run_watched(&self, scheme: &Scheme, looks: &dyn Fn()) -> Ended<W> {
        let mut ended = self.run_last(scheme, looks);
        self.add_traffic(std::slice::from_mut(&mut ended.record), ended.traffic.take());
        ended
    }

    /// The same of the last handoff of a run, without what came of the traffic.
    pub(super) fn run_last(&self, scheme: &Scheme, looks: &dyn Fn()) -> Ended<W> {
        self.end(scheme, self.run_until(scheme, Nanos::MAX, looks))
    }

    /// Runs until the transfers have ended, but not beyond `latest`.
    pub(super) fn run_until(&self, scheme: &Scheme, latest: Nanos, looks: &dyn Fn()) -> Run<W> {
        let at = &self.at;
        let (mut sim, link_ids) = at.start(scheme);
        let idle = IdleTime::new(&sim, &link_ids, at.completion, at.targets());
        sim.net.observer.follow(idle);
        let limit = latest.min(at.completion + GIVE_UP);
        if let Some(watch) = sim.net.observer.traffic.as_mut().filter(|_| latest < Nanos::MAX) {
            watch.goes_on();
        }
        let mut steps = at.steps(scheme);
        let mut count = Count::begin(&sim, at);
        let mut pause = earlier(steps.next_at(), count.at);
        let mut from = at.completion;
        let mut look_at = from + BETWEEN_LOOKS;
        let done = |sim: &BenchSim<W>| sim.net.observer.recorder.as_ref().is_some_and(|r| r.is_done());
        while !done(&sim) {
            let until = pause.map_or(limit, |at| at.min(limit));
            if let Some(next) = sim.net.next_event().filter(|&next| next < until) {
                from = next;
                sim.step(until);
                if next >= look_at {
                    looks();
                    look_at = next + BETWEEN_LOOKS;
                }
            } else if let Some(now) = pause.filter(|&at| sim.net.next_event().is_none_or(|next| at <= next)) {
                from = now;
                sim.run_until(now);
                at.act(&mut sim, scheme, &mut steps);
                count.end(&sim, now);
                pause = earlier(steps.next_at(), count.at);
            } else {
                from = limit;
                sim.run_until(limit);
                break;
            }
        }
        Run { sim, link_ids, from, steps, count }
    }

    /// The record of a run that has come to its end.
    pub(super) fn end(&self, scheme: &Scheme, run: Run<W>) -> Ended<W> {
        let at = &self.at;
        let Run { mut sim, from, steps, mut count, .. } = run;
        let rule = routers::rule(&at.fork.experiment, scheme);
        let physical = match (rule, at.of_early_senders(scheme)) {
            (Some(rule), _) => at.bound(Some(rule)),
            // An announcement that comes too early costs time, which its own network would not show.
            (None, Some(own)) if lead::announces(&at.fork.experiment, scheme).is_some() => {
                own.bound(None).min(self.bounds.physical)
            }
            (None, Some(own)) => own.bound(None),
            (None, None) => self.bounds.physical,
        };
        // A scheme that acts before completion needs no notice, nor does a router or a mobile that acts alone. One over
        // the old link may come sooner than the new link allows.
        let early = !lead::early(&at.fork.experiment, scheme).is_empty();
        let over_old = lead::expects(&at.fork.experiment, scheme).is_some();
        let waits = rule.is_none() && !early && !over_old && scheme.mobile().alone.is_none();
        let bounds = Bounds { physical, told: if waits { self.bounds.told } else { physical } };
        let under_way = sim.net.on_links().chain(routers::held(&sim)).filter_map(|id| {
            let Packet { data, flow, copy, .. } = sim.net.packets[id];
            (data && sim.net.observer.is_own(flow)).then_some((flow, copy))
        });
        let mut under_way: Vec<_> = under_way.collect();
        under_way.sort_unstable();
        // The record ends here. Copies go on without what was heard: to copy millions of events takes long.
        let heard = sim.net.observer.watch.set_aside();
        if let Some(until) = count.at {
            let mut later = sim.clone();
            at.run_steps(&mut later, scheme, &mut steps.clone(), until);
            count.end(&later, until);
        }
        let traffic = self.run_traffic(&sim, steps, scheme);
        if let Some(heard) = heard {
            sim.net.observer.watch = heard;
        }
        let (mut record, watch) = self.finish(sim, from, bounds);
        record.neighbours = at.neighbours_received(&count.packets);
        Ended { record, at: from, under_way, watch, traffic }
    }

    /// Closes the record at `end`.
    fn finish(&self, mut sim: BenchSim<W>, end: Nanos, bounds: Bounds) -> (RunRecord, W) {
        let link_ids = &self.at.fork.link_ids;
        // What is still under way on the new link: will it be the first with its bytes?
        let mut under_way = Vec::new();
        for link in link_ids.behind(NEW).into_iter().chain([link_ids.access[NEW].down]) {
            under_way.extend(sim.net.link(link).fates());
        }
        let mut coming = BTreeSet::new();
        let rest: Vec<(u16, u32, bool)> = under_way
            .into_iter()
            .filter(|&(id, _)| sim.net.packets[id].data && sim.net.observer.is_own(sim.net.packets[id].flow))
            .map(|(id, arrives)| {
                let packet = &sim.net.packets[id];
                let key = (packet.flow, packet.segment.seq);
                let has = mobile(&sim).flows[usize::from(key.0)].receiver.has(key.1);
                (packet.flow, packet.copy, arrives && !has && coming.insert(key))
            })
            .collect();
        let doomed = sim.net.doomed().map(|id| &sim.net.packets[id]).filter(|packet| packet.data);
        // Both of two twins must be lost.
        let mut halves = BTreeSet::new();
        let is_doomed = |packet: &&Packet| {
            let observer = &sim.net.observer;
            !packet.twin
                || observer.is_own(packet.flow) && observer.is_half_lost(packet.flow, packet.copy)
                || !halves.insert((packet.flow, packet.copy))
        };
        let doomed: BTreeSet<_> = doomed.filter(is_doomed).map(|packet| (packet.flow, packet.copy)).collect();
        let Some(mut recorder) = sim.net.observer.recorder.take() else {
            unreachable!("a handoff is always recorded");
        };
        if let Some(mut idle) = sim.net.observer.idle.take() {
            idle.clock(end);
            recorder.link_time.add_idle(&idle.time());
        }
        recorder.charge_rest(end, rest.into_iter());
        if neighbours::any(&sim) {
            let whole = end - self.at.completion;
            recorder.link_time.neighbours = whole.saturating_sub(recorder.link_time.total());
        }
        if self.at.returns_to_traffic() {
            let whole = end - self.at.completion;
            let rest = whole.saturating_sub(recorder.link_time.total());
            // A mobile that has left again counts no more of the time.
            let returns = self.at.fork.experiment.kind.returns_after().is_some();
            recorder.link_time.useful += if returns { rest.min(self.at.still_sends()) } else { rest };
        }
        if self.at.fork.experiment.kind.returns_after().is_some() {
            let whole = end - self.at.completion;
            recorder.link_time.idle_other += whole.saturating_sub(recorder.link_time.total());
        }
        let observer = &sim.net.observer;
        let record = recorder.finish(self.at.fork.at, bounds, |flow, copy| {
            !observer.is_lost(flow, copy) && !doomed.contains(&(flow, copy))
        });
        (record, sim.net.observer.watch)
    }
}
