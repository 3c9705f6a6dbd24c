//! Measures of a handoff that a laboratory can take, too. They are when a sender sends again once the new link is up,
//! and how much it brings through in the time that follows.

use crate::bench::mobile;
use crate::handoff_run::Handoff;
use crate::nodes::BenchSim;
use crate::record::Bounds;
use segue_handoff::Scheme;
use segue_netsim::Nanos;

/// The time after one handoff with one scheme. The new link is up at completion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AfterLinkUp {
    /// From then until some sender first sends anything but a window probe; `None` if none did.
    pub first_sent: Option<Nanos>,
    /// Bytes of data new to the mobile that have reached it since, in order or not, of all flows, after each time
    /// asked for.
    pub delivered: Vec<u64>,
    /// Drops in queues until the last of those times, data and ACKs.
    pub drops: u32,
    /// Packets of both directions that came out of the old link after it was gone.
    pub lost_in_disconnection: u32,
    /// Packets sent again until the last of those times.
    pub retransmissions: u32,
}

/// Packets that the mobile has.
fn received(sim: &BenchSim<()>) -> u64 {
    mobile(sim).flows.iter().map(|flow| u64::from(flow.receiver.received())).sum()
}

impl Handoff {
    /// Runs with `scheme` at every sender for the last of `after`, which ascend; no target ends the run.
    pub fn after_link_up(&self, scheme: &Scheme, after: &[Nanos]) -> AfterLinkUp {
        let (mut sim, _) = self.start(scheme);
        let mut notice_at = self.notice_at(scheme);
        let before = received(&sim);
        let mut delivered = Vec::new();
        for time in after {
            let until = self.completion() + time;
            if let Some(at) = notice_at.take_if(|at| *at < until) {
                sim.run_until(at);
                self.notify_all(&mut sim, scheme);
            }
            sim.run_until(until);
            delivered.push((received(&sim) - before) * u64::from(self.stack().mss));
        }
        let Some(recorder) = sim.net.observer.recorder.take() else {
            unreachable!("a handoff is always recorded");
        };
        let record = recorder.finish(self.completion(), Bounds::default(), |_, _| false);
        AfterLinkUp {
            first_sent: record.first_sent,
            delivered,
            drops: record.drops,
            lost_in_disconnection: record.lost_in_disconnection,
            retransmissions: record.retransmissions,
        }
    }
}
