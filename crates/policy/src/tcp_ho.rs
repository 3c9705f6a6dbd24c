//! `policy/tcp_ho.h` in Rust: one flow of TCP-HO.

use crate::ffi;
use crate::{Action, Notice, Sender, TcpHoSettings};

/// One flow's state. The default is NORMAL: it has heard no notice and asks for nothing.
///
/// Only in HO_ADJUST ([`is_adjusting`](Self::is_adjusting)) is there anything to tell it
/// but notices. [`on_fast_retransmit`](Self::on_fast_retransmit) and
/// [`on_timeout`](Self::on_timeout) come before the host cuts its window.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TcpHo {
    pub(crate) bw_kbps: u32,
    pub(crate) srtt_us: u32,
    pub(crate) samples: u32,
    pub(crate) adjusting: u32,
}

impl TcpHo {
    /// An ACK with the bandwidth of the new link; algorithms.md 4.3.
    pub fn on_notice(&mut self, set: &TcpHoSettings, tcp: &Sender, notice: &Notice) -> Action {
        let mut act = Action::NOTHING;
        ffi::segue_shim_ho_on_notice(set, self, tcp, notice, &mut act);
        act
    }

    /// A valid RTT sample.
    pub fn on_rtt_sample(&mut self, set: &TcpHoSettings, rtt_us: u32) -> Action {
        let mut act = Action::NOTHING;
        ffi::segue_shim_ho_on_rtt_sample(set, self, rtt_us, &mut act);
        act
    }

    /// A fast retransmit ends HO_ADJUST.
    pub fn on_fast_retransmit(&mut self) -> Action {
        let mut act = Action::NOTHING;
        ffi::segue_shim_ho_on_fast_retransmit(self, &mut act);
        act
    }

    /// A timeout ends HO_ADJUST.
    pub fn on_timeout(&mut self) -> Action {
        let mut act = Action::NOTHING;
        ffi::segue_shim_ho_on_timeout(self, &mut act);
        act
    }

    /// Whether it is in HO_ADJUST.
    pub const fn is_adjusting(&self) -> bool {
        self.adjusting != 0
    }

    /// The bandwidth in use, kbit/s; 0 in NORMAL.
    pub const fn bandwidth_kbps(&self) -> u32 {
        self.bw_kbps
    }

    /// The average of the new path's samples, us; 0 before the first.
    pub const fn srtt_us(&self) -> u32 {
        self.srtt_us
    }
}
