//! The settings of a simulated download.

use segue_handoff::fmipv6::Message;
use segue_netsim::{Nanos, SECOND};
use segue_tcp::StackProfile;

const MS: Nanos = 1_000_000;

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
    /// Mean one-way delay of the links e.
    pub edge: Nanos,
    /// Mean one-way delay of the link t, between the access routers.
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
    /// Seed of the delays.
    pub seed: u64,
}

impl Download {
    /// The paper's: 1 MB, a hint at 5 s, 1 MB at NAR; what it leaves open (9.27) as docs/papers/espi-2010-fmipv6.md
    /// says.
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
}
