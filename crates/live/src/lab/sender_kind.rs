//! The senders that a laboratory compares: the kernel's own, and ones that are told of handoffs.

use super::Error;
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

const RTO_MAX: &str = "+rto-max-ms=";

impl SenderKind {
    /// A sender of the kernel's own by its word: `cubic`, or `cubic+rto-max-ms=1000`. Whether the kernel has it
    /// shows when it runs.
    ///
    /// # Errors
    /// What is wrong with the number.
    pub fn builtin(word: &str) -> Result<Self, Error> {
        let (name, rto_max_ms) = match word.split_once(RTO_MAX) {
            None => (word, None),
            Some((name, number)) => match number.parse() {
                // The range of the sysctl (RFC 6298, 2.5: a maximum must be at least 60 s; Linux allows less).
                Ok(ms @ 1000..=120_000) => (name, Some(ms)),
                _ => {
                    return Err(Error::Plan(format!("`{number}` in `{word}`: expected 1000 to 120000 (ms)")));
                }
            },
        };
        Ok(Self::Builtin { congestion_control: name.into(), rto_max_ms })
    }
}

impl fmt::Display for SenderKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Builtin { congestion_control, rto_max_ms: None } => f.write_str(congestion_control),
            Self::Builtin { congestion_control, rto_max_ms: Some(ms) } => {
                write!(f, "{congestion_control}{RTO_MAX}{ms}")
            }
            Self::Aware { name, .. } => f.write_str(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_kernel_s_senders() {
        for word in ["cubic", "bbr", "cubic+rto-max-ms=1000"] {
            assert_eq!(SenderKind::builtin(word).unwrap().to_string(), word);
        }
        let error = SenderKind::builtin("cubic+rto-max-ms=10").unwrap_err().to_string();
        assert_eq!(error, "plan: `10` in `cubic+rto-max-ms=10`: expected 1000 to 120000 (ms)");
    }
}
