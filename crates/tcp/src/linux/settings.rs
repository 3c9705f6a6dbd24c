//! Settings of a kernel: its release, congestion control, clock, sysctls, and the program that writes.
//!
//! Source: include/net/netns/ipv4.h (`sysctl_tcp_slow_start_after_idle`), kernel/Kconfig.hz (`CONFIG_HZ`),
//! include/uapi/linux/tcp.h (`TCP_RTO_MAX_MS`), iperf3 3.12 (`iperf_send`, `Nwrite`).

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

/// The program whose data a connection carries, and the buffers of both hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    /// That of the reference: it connects, and waits while the buffer is full.
    Reference,
    /// iperf3's server in the laboratory (`-R`): it accepts, and asks when the buffer has room again.
    Iperf3,
}

impl Writer {
    /// Words of the setting.
    pub const NAMES: &str = "reference or iperf3";

    /// The one of that name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "reference" => Some(Self::Reference),
            "iperf3" => Some(Self::Iperf3),
            _ => None,
        }
    }

    /// Send and receive buffer at first, bytes (`tcp_wmem`, `tcp_rmem`).
    pub(super) fn buffer(self) -> u32 {
        match self {
            Self::Reference => 4 << 20,
            Self::Iperf3 => 1 << 20,
        }
    }

    /// Bytes that it writes at a time.
    pub(super) fn write(self) -> u32 {
        match self {
            Self::Reference => 32 << 10,
            Self::Iperf3 => 128 << 10,
        }
    }

    /// The other host has opened the connection, so that its first ACK tells the window in full before data are written.
    pub(super) fn accepts(self) -> bool {
        self == Self::Iperf3
    }

    /// The rest of a write that found the buffer full is a write of its own (`O_NONBLOCK`).
    pub(super) fn begins_anew(self) -> bool {
        self == Self::Iperf3
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
    /// The program that writes.
    pub writer: Writer,
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
