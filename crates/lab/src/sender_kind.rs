//! The senders that a laboratory compares: the kernel's own, and those that are notified of handoffs. Plain data;
//! [`super::segue`] attaches them.

use segue_kernel::sender::{Around, Policy};
use std::fmt;
use std::time::Duration;

/// A sender under test.
#[derive(Clone, Debug)]
pub enum SenderKind {
    /// The kernel's own.
    Builtin {
        /// `cubic`, `bbr`, `reno`, ...
        congestion_control: String,
        /// `net.ipv4.tcp_rto_max_ms`; `None`: the kernel's 120 s.
        rto_max_ms: Option<u32>,
        /// Time before each handoff at which the mobile closes its window (Freeze-TCP), or its agent, if it has one;
        /// `None`: never.
        freeze_before: Option<Duration>,
        /// The mobile's agent helps it, which runs nothing of ours: the words of its command. Empty: nobody does.
        agent: Vec<String>,
    },
    /// Ours: told of handoffs.
    Aware {
        /// In tables.
        name: String,
        /// How it is set.
        segue: Segue,
        /// The part of the mobile that tells it.
        notice_by: NoticeBy,
    },
}

/// How a sender of ours is set.
#[derive(Clone, Debug)]
pub struct Segue {
    /// The policy that decides.
    pub policy: Policy,
    /// The congestion control that it is built around.
    pub around: Around,
    /// Whether the head is resent by RFC 6069.
    pub icmp: bool,
}

/// The part of the mobile that tells senders of a handoff.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum NoticeBy {
    /// A test sender within the laboratory, which is called at link-up.
    #[default]
    Laboratory,
    /// The agent, a process on the mobile that finds out by itself: the words of its command, without those of its
    /// configuration.
    Agent(Vec<String>),
}

impl SenderKind {
    /// A sender of the kernel's own. Whether the kernel has it shows when it runs.
    pub fn builtin(congestion_control: &str, rto_max_ms: Option<u32>) -> Self {
        Self::Builtin {
            congestion_control: congestion_control.into(),
            rto_max_ms,
            freeze_before: None,
            agent: Vec::new(),
        }
    }
}

impl fmt::Display for SenderKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Builtin { congestion_control, rto_max_ms, freeze_before, agent } => {
                f.write_str(congestion_control)?;
                if let Some(ms) = rto_max_ms {
                    write!(f, ", longest RTO {ms} ms")?;
                }
                if !agent.is_empty() {
                    f.write_str(", agent")?;
                }
                freeze_before.map_or(Ok(()), |before| write!(f, ", freeze {} ms before", before.as_millis()))
            }
            Self::Aware { name, .. } => f.write_str(name),
        }
    }
}
