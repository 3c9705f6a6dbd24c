//! The mobile's traffic after the transfer that ends a run: what is measured by class needs its time.

use super::completed::GIVE_UP;
use super::run::Handoff;
use super::steps::Steps;
use crate::nodes::{BenchSim, HostObserver};
use crate::record::RunRecord;
use crate::traffic::watch::TrafficWatch;
use crate::traffic::{Class, Traffic};
use segue_handoff::Scheme;
use segue_netsim::Nanos;

/// How often it is asked whether all has come.
const LOOKS: Nanos = 100_000_000;

impl<W: HostObserver> Handoff<W> {
    /// Takes a copy of the network as it is when the transfer has ended to where all has come that counts. It does not
    /// if another handoff is to follow.
    pub(super) fn run_traffic(
        &self,
        sim: &BenchSim<W>,
        mut steps: Steps,
        scheme: &Scheme,
    ) -> Option<Box<TrafficWatch>> {
        let until = sim.net.observer.traffic.as_ref()?.until()?;
        let mut sim = sim.clone();
        sim.net.observer.idle = None;
        let mut now = sim.net.now().max(until).max(steps.last_at().unwrap_or(0));
        self.at.run_steps(&mut sim, scheme, &mut steps, now);
        let settled =
            |sim: &BenchSim<W>| sim.net.observer.traffic.as_ref().is_none_or(|watch| watch.is_settled());
        while !settled(&sim) && now < self.at.completion + GIVE_UP {
            now += LOOKS;
            sim.run_until(now);
        }
        sim.net.observer.traffic.take()
    }

    /// Adds the outcome of the traffic to the records of a run's handoffs. Without long transfers, the transfer is
    /// over when every application goes on.
    pub(super) fn add_traffic(&self, records: &mut [RunRecord], watch: Option<Box<TrafficWatch>>) {
        let (Some(mut watch), Some(traffic)) = (watch, &self.at.fork.experiment.traffic) else { return };
        watch.end();
        for (handoff, record) in records.iter_mut().enumerate() {
            if !traffic.has_bulk() {
                record.transfer = watch.resumed(handoff);
                (record.after_highest, record.after_ack) = (record.transfer, record.transfer);
            }
            let own = if traffic.is_upward() { Class::Upload } else { Class::Download };
            let own = traffic.has_bulk().then_some((own, record.transfer));
            record.traffic = watch.records(handoff, &Traffic::classes(traffic), own);
        }
    }
}
