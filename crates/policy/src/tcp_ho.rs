//! `policy/tcp_ho.h` in Rust: one flow of TCP-HO.
#![allow(unsafe_code)]

use crate::headers::{self, Bound};
use crate::{Action, Notice, Sender, TcpHoSettings};

pub use crate::states::TcpHo;

/// Only while it [listens](Self::is_listening) is there anything to tell it but notices.
/// [`on_fast_retransmit`](Self::on_fast_retransmit) and [`on_timeout`](Self::on_timeout) come
/// before the host cuts its window.
impl TcpHo {
    /// An ACK with the bandwidth of the new link; algorithms.md 4.3.
    pub fn on_notice(&mut self, set: &TcpHoSettings, tcp: &Sender, notice: &Notice) -> Action {
        self.bound(set).on_notice(tcp, notice)
    }

    /// A valid RTT sample.
    pub fn on_rtt_sample(&mut self, set: &TcpHoSettings, rtt_us: u32) -> Action {
        self.bound(set).on_rtt_sample(&Sender::default(), 0, rtt_us)
    }

    /// A fast retransmit ends HO_ADJUST, and a report's trial.
    pub fn on_fast_retransmit(&mut self, set: &TcpHoSettings, tcp: &Sender) -> Action {
        self.bound(set).on_fast_retransmit(tcp)
    }

    /// A timeout ends HO_ADJUST, and a report's trial.
    pub fn on_timeout(&mut self, set: &TcpHoSettings, tcp: &Sender) -> Action {
        self.bound(set).on_timeout(tcp)
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

    /// The largest ssthresh that reports are believed, since one was refuted; 1/256 packet, 0 before that.
    pub const fn found(&self) -> u32 {
        self.found
    }

    /// The average of the new path's samples, us; 0 before the first.
    pub const fn srtt_us(&self) -> u32 {
        self.srtt_us
    }

    const fn bound<'a>(&'a mut self, set: &'a TcpHoSettings) -> Bound<'a> {
        // SAFETY: the settings and the state of policy/tcp_ho.h, whose fields are integers.
        unsafe { headers::tcp_ho().bind(set, self) }
    }
}
