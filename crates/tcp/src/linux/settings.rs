//! Settings of a kernel: its release, congestion control, clock and sysctls.
//!
//! Source: include/net/netns/ipv4.h (`sysctl_tcp_slow_start_after_idle`), kernel/Kconfig.hz (`CONFIG_HZ`),
//! include/uapi/linux/tcp.h (`TCP_RTO_MAX_MS`).

use super::cc::{CcName, PacingStatus};
use crate::Nanos;

/// A kernel. Both behave alike in all that is simulated (docs/reference/schemes.md says where they differ).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// Linux 6.12.
    V6_12,
    /// Linux 6.18.
    V6_18,
}

impl Release {
    /// The stack's name without its congestion control.
    pub fn name(self) -> &'static str {
        match self {
            Self::V6_12 => "linux-6.12",
            Self::V6_18 => "linux-6.18",
        }
    }

    /// Whether programs can bound the RTO of a connection (`TCP_RTO_MAX_MS`, since 6.15).
    pub(super) fn has_rto_max(self) -> bool {
        self == Self::V6_18
    }
}

/// Settings of a Linux sender beside its profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinuxSettings {
    /// Kernel.
    pub release: Release,
    /// Congestion control.
    pub control: CcName,
    /// Jiffies per second (`CONFIG_HZ`).
    pub hz: u32,
    /// Seed of the control's random draws.
    pub seed: u64,
    /// How far beyond a multiple of 4096 jiffies the host's clock stands at time zero.
    pub phase: Nanos,
    /// cwnd shrinks while nothing is sent (`tcp_slow_start_after_idle`).
    pub slow_start_after_idle: bool,
    /// Offers ECN, or takes up the offer (`tcp_ecn`, 1 and 0).
    pub ecn: bool,
    /// Several packets may leave as one (TSO, GSO); off: `gso_max_segs` is 1, as on the reference's bench.
    pub bursts: bool,
    /// Pacing at the start; a control may ask for it itself.
    pub pacing: PacingStatus,
}

impl LinuxSettings {
    /// The same with clock and lot after `seed`; with 1 the clock is the reference's.
    pub fn seeded(self, seed: u64) -> Self {
        // SplitMix64
        let mut x = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^= x >> 31;
        let period = 4096 * (1_000_000_000 / Nanos::from(self.hz));
        let phase = if seed == 1 { 0 } else { x % period };
        Self { seed, phase, ..self }
    }
}
