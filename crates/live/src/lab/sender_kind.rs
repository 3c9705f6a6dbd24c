//! The senders that a laboratory compares: the kernel's own, and ones that are told of handoffs.

use super::ends::Aware;
use std::fmt;
use std::sync::Arc;

/// A sender under test.
#[derive(Clone, Debug)]
pub enum SenderKind {
    /// The kernel's own.
    Builtin {
        /// `cubic`, `bbr`, `reno`, ...
        congestion_control: String,
        /// `net.ipv4.tcp_rto_max_ms`; `None`: the kernel's 120 s.
        rto_max_ms: Option<u32>,
    },
    /// Ours: told of handoffs.
    Aware {
        /// In tables.
        name: String,
        /// Attaches it.
        by: Arc<dyn Aware>,
    },
}

impl SenderKind {
    /// A sender of the kernel's own. Whether the kernel has it shows when it runs.
    pub fn builtin(congestion_control: &str, rto_max_ms: Option<u32>) -> Self {
        Self::Builtin { congestion_control: congestion_control.into(), rto_max_ms }
    }
}

impl fmt::Display for SenderKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Builtin { congestion_control, rto_max_ms: None } => f.write_str(congestion_control),
            Self::Builtin { congestion_control, rto_max_ms: Some(ms) } => {
                write!(f, "{congestion_control}, longest RTO {ms} ms")
            }
            Self::Aware { name, .. } => f.write_str(name),
        }
    }
}
