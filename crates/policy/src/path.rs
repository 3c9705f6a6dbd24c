//! `policy/path.h` in Rust: the derived link quantities of algorithms.md section 0.

use crate::ffi;
use crate::{Link, Notice, PACKET, Settings};

/// The path that a notice describes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Path {
    pub(crate) old_link: Link,
    pub(crate) new_link: Link,
    pub(crate) packet_bytes: u32,
    pub(crate) ack_bytes: u32,
    pub(crate) whole_packets: u32,
}

impl Path {
    /// The path of a notice, with the packet sizes of the settings. Links beyond the
    /// limits of `path.h` are taken to be at them, a rate of zero to be 1 kbit/s.
    pub fn new(set: &Settings, notice: &Notice) -> Self {
        let mut path = Self {
            old_link: Link::default(),
            new_link: Link::default(),
            packet_bytes: 0,
            ack_bytes: 0,
            whole_packets: 0,
        };
        ffi::segue_shim_path(set, notice, &mut path);
        path
    }

    /// Data on the old link, its ACK on the new one, in ns.
    pub fn old_new_rtt_ns(&self) -> u64 {
        ffi::segue_shim_old_new_rtt_ns(self)
    }

    /// Both on the new link, in ns.
    pub fn new_rtt_ns(&self) -> u64 {
        ffi::segue_shim_new_rtt_ns(self)
    }

    /// Both on the old link, in ns.
    pub fn old_rtt_ns(&self) -> u64 {
        ffi::segue_shim_old_rtt_ns(self)
    }

    /// The new link's BDP with serialisation, in packets: an exact fraction.
    pub fn bdp_new(&self) -> (u64, u64) {
        (ffi::segue_shim_bdp_new(self), ffi::segue_shim_bdp_unit(self))
    }

    /// The old link's BDP with serialisation, in packets: an exact fraction.
    pub fn bdp_old(&self) -> (u64, u64) {
        (ffi::segue_shim_bdp_old(self), ffi::segue_shim_bdp_unit(self))
    }

    /// The new link's BDP as papers quote it, rate times twice the delay; 1/256 packet.
    pub fn bdp_quoted_new(&self) -> u32 {
        ffi::segue_shim_bdp_quoted_new(self)
    }

    /// W = max(2, bdp_new / flows), 1/256 packet.
    pub fn window(&self, set: &Settings, flows: u32) -> u32 {
        ffi::segue_shim_window(set, self, flows.clamp(1, 0xffff))
    }

    /// 1.5 or 2 in 1/256: the multiple of the BDP that A5 and Fig. 1 allow.
    pub fn factor(&self) -> u32 {
        ffi::segue_shim_factor(self)
    }

    /// flight > factor * bdp_new / flows, without rounding; factor in 1/256, up to 8.
    pub fn flight_exceeds(&self, flight: u32, factor: u32, flows: u32) -> bool {
        let (factor, flows) = (factor.min(8 * PACKET), flows.clamp(1, 0xffff));
        ffi::segue_shim_flight_exceeds(self, flight, factor, flows) != 0
    }

    /// Whether the delay changes significantly (9.6), with the clause of 3.5 or not.
    pub fn delay_changed(&self, set: &Settings, needs_minrto: bool) -> bool {
        ffi::segue_shim_delay_changed(set, self, u32::from(needs_minrto)) != 0
    }
}
