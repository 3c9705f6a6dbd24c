//! `policy/tcp_ho.h` in Rust: one flow of TCP-HO.

use crate::ffi;
use crate::{Action, Notice, Sender, TcpHoSettings};

/// One flow's state. The default is NORMAL: it has heard no notice and asks for nothing.
///
/// Only while it [listens](Self::is_listening) is there anything to tell it but notices.
/// [`on_fast_retransmit`](Self::on_fast_retransmit) and [`on_timeout`](Self::on_timeout) come
/// before the host cuts its window.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TcpHo {
    pub(crate) bw_kbps: u32,
    pub(crate) srtt_us: u32,
    pub(crate) samples: u32,
    pub(crate) adjusting: u32,
    pub(crate) promised: u32,
    pub(crate) found: u32,
    pub(crate) burst: u32,
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

    /// A fast retransmit ends HO_ADJUST, and a report's trial.
    pub fn on_fast_retransmit(&mut self, set: &TcpHoSettings, tcp: &Sender) -> Action {
        let mut act = Action::NOTHING;
        ffi::segue_shim_ho_on_fast_retransmit(set, self, tcp, &mut act);
        act
    }

    /// A timeout ends HO_ADJUST, and a report's trial.
    pub fn on_timeout(&mut self, set: &TcpHoSettings, tcp: &Sender) -> Action {
        let mut act = Action::NOTHING;
        ffi::segue_shim_ho_on_timeout(set, self, tcp, &mut act);
        act
    }

    /// Whether it is in HO_ADJUST.
    pub const fn is_adjusting(&self) -> bool {
        self.adjusting != 0
    }

    /// Whether there is anything to tell it but notices: in HO_ADJUST, and while a report is on trial.
    pub const fn is_listening(&self) -> bool {
        self.adjusting != 0 || self.promised != 0
    }

    /// The bandwidth in use, kbit/s; 0 in NORMAL.
    pub const fn bandwidth_kbps(&self) -> u32 {
        self.bw_kbps
    }

    /// What reports are believed since one was refuted: ssthresh in 1/256 packet; 0 before that.
    pub const fn found(&self) -> u32 {
        self.found
    }

    /// The average of the new path's samples, us; 0 before the first.
    pub const fn srtt_us(&self) -> u32 {
        self.srtt_us
    }
}
