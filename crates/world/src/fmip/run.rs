//! The experiment of a download, and its run.

use super::network::{self, FmipSim, MN};
use super::nodes::FmipNode;
use super::record::DownloadRecord;
use segue_handoff::Scheme;
use segue_handoff::fmipv6::Message;
use segue_netsim::{Nanos, SECOND};
use segue_tcp::StackProfile;

const MS: Nanos = 1_000_000;
/// A download is incomplete this long after the hint, or after its start where there is no handover.
const GIVE_UP: Nanos = 400 * SECOND;

/// Signalling that is lost: the first so many messages of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// As the RFCs abbreviate it.
    pub message: &'static str,
    /// How many; `u32::MAX`: all.
    pub first: u32,
}

/// A download and what happens to it.
#[derive(Clone, Debug)]
pub struct Download {
    /// TCP of both ends.
    pub stack: StackProfile,
    /// Bytes of the file.
    pub bytes: u64,
    /// When the mobile node's radio says that the link is about to go; `None`: it never does.
    pub hint: Option<Nanos>,
    /// How long after the hint the old link lasts at most; the mobile node leaves earlier if it has its FBack.
    pub lead: Nanos,
    /// L2 handoff delay: without a link.
    pub disconnection: Nanos,
    /// Bytes that NAR keeps for the mobile node.
    pub buffer: u64,
    /// Mean one-way delays of the wired links a and b.
    pub core: [Nanos; 2],
    /// Of the links e.
    pub edge: Nanos,
    /// Of the link t, between the access routers.
    pub tunnel: Nanos,
    /// Gamma shape of wired delays: (mean / standard deviation)^2.
    pub shape: u32,
    /// One-way delays of c and d.
    pub access: [Nanos; 2],
    /// Effective rate of the wireless links, bit/s.
    pub wireless_rate: u64,
    /// Time to configure an address where PAR has told nothing (RFC 4862).
    pub configuration: Nanos,
    /// Whether NAR's buffer has room for what was under way at HO Start beside the bytes that it grants (9.26).
    pub room_in_flight: bool,
    /// Copies of each announcement.
    pub copies: u32,
    /// Signalling that is lost.
    pub losses: Vec<Loss>,
    /// Of the delays.
    pub seed: u64,
}

impl Download {
    /// The paper's: 1 MB, a hint at 5 s, 1 MB at NAR; what it leaves open as docs/reference/schemes.md says (9.27).
    pub fn new(stack: StackProfile) -> Self {
        Self {
            stack,
            bytes: 1_000_000,
            hint: Some(5 * SECOND),
            lead: 100 * MS,
            disconnection: 0,
            buffer: 1_000_000,
            core: [75 * MS; 2],
            edge: 5 * MS,
            tunnel: 5 * MS,
            shape: 100,
            access: [5 * MS, 5 * MS],
            wireless_rate: 24_000_000,
            configuration: SECOND,
            room_in_flight: false,
            copies: 2,
            losses: Vec::new(),
            seed: 1,
        }
    }

    /// Full segments of the file.
    pub fn packets(&self) -> u32 {
        u32::try_from(self.bytes.div_ceil(u64::from(self.stack.mss))).unwrap_or(u32::MAX - 1)
    }

    /// Bytes that NAR's buffer holds, as links charge them.
    pub(super) fn room(&self) -> u64 {
        let in_flight = u64::from(self.stack.receive_window) * u64::from(self.stack.data_bytes());
        self.buffer + if self.room_in_flight { in_flight } else { 0 }
    }

    /// How often a message is lost.
    pub(super) fn lost(&self, message: Message) -> u32 {
        self.losses
            .iter()
            .filter(|loss| loss.message == message.name())
            .map(|loss| loss.first)
            .max()
            .unwrap_or(0)
    }

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

    /// What was sent has arrived, is lost for a reason, or is under way.
    fn goes_on_with_whole_books(sim: &mut FmipSim, limit: Nanos) -> bool {
        let more = sim.step(limit);
        let record = &sim.net.observer.record;
        let found = record.arrived + record.lost + record.overflowed + under_way(sim);
        assert_eq!(record.sent.len() as u32, found, "at {} ns", sim.net.now());
        more
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

        /// After every event of a handover, whatever signalling is lost.
        #[test]
        fn the_books_are_whole_after_every_event(
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
            while goes_on_with_whole_books(&mut sim, hint) {}
            sim.run_until(hint);
            sim.with_node(MN, |node, net| {
                let FmipNode::Mobile(mobile) = node else { return };
                mobile.on_hint(net);
            });
            while !download.is_done(&sim) && goes_on_with_whole_books(&mut sim, hint + GIVE_UP) {}
            prop_assert_eq!(download.record(sim), download.run(&scheme));
        }
    }
}
