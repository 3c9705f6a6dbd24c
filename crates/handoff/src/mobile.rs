//! The mobile's acts at a handoff, beside receiving: the part of a scheme that is not at the
//! sender. Only the rule; who runs the mobile enacts it.

use crate::hn_option::{Encoding, Start};
use segue_mobile::notices::Pace;
use segue_policy::Link;
use segue_tcp::Nanos;

/// The mobile's part at every handoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MobileRule {
    /// It sends the notice on completion.
    pub announces: bool,
    /// It tells its flows at the agent's pace ([`Pace`]); else all of them at once.
    pub spaces: bool,
    /// How long before a handoff without an outage it announces it, over the old link. One more copy of the notice then
    /// takes the old link, too.
    pub expects: Option<Lead>,
    /// It closes its window before a disconnection.
    pub window: Option<WindowRule>,
    /// It tells the senders of a handoff before it begins, and once more on completion.
    pub foretells: Option<StartRule>,
    /// It suppresses ACKs of what routers forwarded ([`Phas`](crate::Phas)); whether the last goes out twice.
    pub phas: Option<bool>,
    /// It helps senders that know nothing.
    pub alone: Option<AloneRule>,
}

/// The senders are told, and TCP is left alone.
impl Default for MobileRule {
    fn default() -> Self {
        Self {
            announces: true,
            spaces: false,
            expects: None,
            window: None,
            phas: None,
            foretells: None,
            alone: None,
        }
    }
}

impl MobileRule {
    /// The pace at which it tells its flows of `new_link`, in so many copies over an uplink of `up_kbps`; `None`: all
    /// at once.
    pub fn pace(&self, new_link: Link, up_kbps: u32, copies: u32, disconnected: bool) -> Option<Pace> {
        let pace = self.spaces.then(|| Pace::over(up_kbps, copies))?;
        Some(if disconnected { pace.after_outage(new_link.rate_kbps) } else { pace })
    }
}

/// How the mobile stops the senders before a disconnection and starts them after it
/// (algorithms.md, 4.5). A make-before-break handoff has none, and nothing happens.
///
/// On completion the mobile advertises the window that it has, whether the handoff was foreseen or not. It sends
/// [`reopen_acks`](Self::reopen_acks) copies of its last ACK back to back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowRule {
    /// How long before a foreseen disconnection it advertises a window of zero.
    pub closes: Lead,
    /// Every so many handoffs one is not foreseen; 0: all are.
    pub missed: u32,
    /// Pure ACKs on completion.
    pub reopen_acks: u32,
}

/// The mobile's help for senders that know nothing of handoffs (docs/reference/mobile.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AloneRule {
    /// It has senders resume after an outage.
    pub resumes: bool,
    /// It bounds its windows on a slower link.
    pub bounds: bool,
    /// So many of the packets that it makes for a connection at each handoff are lost before its uplink, the first
    /// ones.
    pub lost: u32,
    /// Packets that the queue of a link is taken to hold; `None`: what it does hold.
    pub queue: Option<u32>,
}

/// The mobile's announcement before a handoff (algorithms.md, 5.2, step 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartRule {
    /// The handoff delay that it expects; `None`: what it will be.
    pub ehd: Option<Nanos>,
    /// How it is written.
    pub encoding: Encoding,
}

impl AloneRule {
    /// No help but reminders of a notice (mobile.md, 1.9), which all of them have.
    pub const NONE: Self = Self { resumes: false, bounds: false, lost: 0, queue: None };
}

impl StartRule {
    /// HO Start before a handoff that will last so long, where the next access router keeps `buffer` bytes.
    pub fn start(&self, disconnection: Nanos, buffer: u64) -> Start {
        Start { ehd: self.ehd.unwrap_or(disconnection), pbs: buffer }
    }
}

/// A time before a disconnection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lead {
    /// One round trip of the path: the last packets arrive just before the link goes.
    PathRtt,
    /// Half a round trip: what is sent over the old link then is with the senders just as the link goes.
    HalfPathRtt,
    /// So long.
    Time(Nanos),
}

impl Lead {
    /// In ns, on a path of this round-trip time.
    pub fn on_path(self, rtt: Nanos) -> Nanos {
        match self {
            Self::PathRtt => rtt,
            Self::HalfPathRtt => rtt / 2,
            Self::Time(time) => time,
        }
    }
}

impl WindowRule {
    /// Whether the mobile foresees the `n`-th handoff of a connection, the first being 1.
    pub fn foresees(&self, n: u32) -> bool {
        self.missed == 0 || !n.is_multiple_of(self.missed)
    }
}
