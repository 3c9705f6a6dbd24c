//! The run of a download.

pub use super::download::{Download, Loss};
use super::network::{self, FmipSim, MN};
use super::nodes::FmipNode;
use super::record::DownloadRecord;
use segue_handoff::Scheme;
use segue_netsim::{Nanos, SECOND};

/// A download is incomplete this long after the hint, or after its start where there is no handover.
const GIVE_UP: Nanos = 400 * SECOND;

impl Download {
    /// Runs it with `scheme` at the sender.
    pub fn run(&self, scheme: &Scheme) -> DownloadRecord {
        let mut sim = network::build(self, scheme);
        let from = self.hint.unwrap_or(0);
        if self.hint.is_some() {
            sim.run_until(from);
            sim.with_node(MN, |node, net| {
                let FmipNode::Mobile(mobile) = node else { return };
                mobile.on_hint(net);
            });
        }
        let limit = from + GIVE_UP;
        while !self.is_done(&sim) && sim.step(limit) {}
        self.record(sim)
    }

    fn is_done(&self, sim: &FmipSim) -> bool {
        sim.net.observer.received >= self.packets()
    }

    fn record(&self, mut sim: FmipSim) -> DownloadRecord {
        let done = self.is_done(&sim).then(|| sim.net.now());
        let under_way = under_way(&sim);
        let mobile = match &sim.nodes[usize::from(MN.0)] {
            FmipNode::Mobile(mobile) => mobile.passage(),
            _ => unreachable!("node 5 of the download is the mobile node"),
        };
        let record = std::mem::take(&mut sim.net.observer.record);
        DownloadRecord { hint: self.hint, mobile, finished: done, under_way, ..record }
    }
}

/// Data packets on links and in the buffer now.
fn under_way(sim: &FmipSim) -> u32 {
    let on_links = sim.net.on_links().filter(|&id| sim.net.packets[id].data).count();
    (network::held(sim).count() + on_links) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use segue_tcp::profile::INET_RENO;

    const MS: Nanos = 1_000_000;

    /// Each packet sent has arrived, is lost for a reason, or is under way.
    fn next_event_conserves(sim: &mut FmipSim, limit: Nanos) -> bool {
        let more = sim.step(limit);
        let record = &sim.net.observer.record;
        let found = record.arrived + record.lost + record.overflowed + under_way(sim);
        assert_eq!(record.sent.len() as u32, found, "at {} ns", sim.net.now());
        more
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: ProptestConfig::default().cases / 10,
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        /// After every event of a handover, whatever signalling is lost.
        #[test]
        fn packets_are_conserved_after_every_event(
            (away, buffer, lead) in (0u64..2000, 1u64..600, 0u64..300), seed: u64,
            message in prop::sample::select(vec!["PrRtAdv", "FBU", "HI", "HAck", "FBack", "UNA", "BU"]), first in 0u32..3,
            name in prop::sample::select(vec!["hn", "reno"]),
        ) {
            let download = Download {
                bytes: 500_000,
                hint: Some(SECOND + seed % SECOND),
                lead: lead * MS,
                disconnection: away * MS,
                buffer: buffer * 1000,
                losses: vec![Loss { message, first }],
                seed,
                ..Download::new(INET_RENO)
            };
            let scheme = Scheme::build(name, &[]).unwrap();
            let mut sim = network::build(&download, &scheme);
            let hint = download.hint.unwrap();
            while next_event_conserves(&mut sim, hint) {}
            sim.run_until(hint);
            sim.with_node(MN, |node, net| {
                let FmipNode::Mobile(mobile) = node else { return };
                mobile.on_hint(net);
            });
            while !download.is_done(&sim) && next_event_conserves(&mut sim, hint + GIVE_UP) {}
            prop_assert_eq!(download.record(sim), download.run(&scheme));
        }
    }
}
