//! `policy/etcp.h` in Rust: one flow of Enhanced TCP.
#![allow(unsafe_code)]

use crate::headers::{self, Bound};
use crate::{Action, Notice, Sender, Settings};

pub use crate::states::Etcp;

/// For one ACK the host calls, as they apply and in this order, [`on_dsack`], [`on_new_ack`] or [`on_dup_ack`], and
/// [`on_rtt_sample`]. When the duplicate ACKs have reached dupthresh, it calls [`on_fast_retransmit`]. That one and
/// [`on_timeout`] come before the host cuts its window.
///
/// [`on_dsack`]: Self::on_dsack
/// [`on_new_ack`]: Self::on_new_ack
/// [`on_dup_ack`]: Self::on_dup_ack
/// [`on_rtt_sample`]: Self::on_rtt_sample
/// [`on_fast_retransmit`]: Self::on_fast_retransmit
/// [`on_timeout`]: Self::on_timeout
impl Etcp {
    /// A handoff has completed; algorithms.md 2.0 and 3.4 say who acts. A second
    /// notice overwrites the point of the first and evaluates everything anew.
    pub fn on_notice(&mut self, set: &Settings, tcp: &Sender, notice: &Notice) -> Action {
        self.bound(set).on_notice(tcp, notice)
    }

    /// The window that the link of a notice holds alone, 1/256 packet.
    pub fn link_window(set: &Settings, notice: &Notice) -> u32 {
        crate::ffi::segue_shim_link_window(set, notice)
    }

    /// `snd_una` has advanced.
    pub fn on_new_ack(&mut self, set: &Settings, tcp: &Sender) -> Action {
        self.heard(set, |flow| flow.on_new_ack(tcp))
    }

    /// A DSACK block `left..right`, on whatever ACK. The late original is reported
    /// mostly by a duplicate ACK, before the one that ends the handoff.
    pub fn on_dsack(&mut self, set: &Settings, left: u32, right: u32) {
        self.bound(set).on_dsack(left, right);
    }

    /// A duplicate ACK; algorithms.md 3.3 (c).
    pub fn on_dup_ack(&mut self, set: &Settings, tcp: &Sender) -> Action {
        self.heard(set, |flow| flow.on_dup_ack(tcp))
    }

    /// The head, `snd_una`, is about to be resent; algorithms.md 2.3, 3.3 (b).
    pub fn on_fast_retransmit(&mut self, set: &Settings, tcp: &Sender) -> Action {
        self.heard(set, |flow| flow.on_fast_retransmit(tcp))
    }

    /// The retransmission timer has expired; algorithms.md 9.8, 3.3.
    pub fn on_timeout(&mut self, set: &Settings, tcp: &Sender) -> Action {
        self.heard(set, |flow| flow.on_timeout(tcp))
    }

    /// A valid RTT sample of the segment that starts at `sample_seq`; algorithms.md
    /// 2.1, 2.5.
    pub fn on_rtt_sample(&mut self, set: &Settings, tcp: &Sender, sample_seq: u32) -> Action {
        self.heard(set, |flow| flow.on_rtt_sample(tcp, sample_seq, 0))
    }

    /// Whether a notice has been heard.
    pub const fn is_active(&self) -> bool {
        self.active != 0
    }

    /// `snd_max` at the last notice.
    pub const fn ho_point(&self) -> u32 {
        self.ho_point
    }

    /// Whether `snd_una` has reached [`ho_point`](Self::ho_point).
    pub const fn old_path_drained(&self) -> bool {
        self.ho_acked != 0
    }

    /// Whether A1's minrto holds.
    pub const fn a1_active(&self) -> bool {
        self.a1_active != 0
    }

    /// Whether the first valid RTT sample of the new path is awaited.
    pub const fn awaits_sample(&self) -> bool {
        self.reinit_rtt != 0
    }

    /// Whether A2, A5 or Fig. 1 has reduced the window (`cwnd_reduced`).
    pub const fn cwnd_reduced(&self) -> bool {
        self.cwnd_reduced != 0
    }

    /// `cwnd_reduction` of Fig. 3.
    pub const fn cwnd_reduction(&self) -> bool {
        self.cwnd_reduction != 0
    }

    /// Whether Fig. 3 expects reordering (`reordering_flag`).
    pub const fn expects_reordering(&self) -> bool {
        self.reordering_flag != 0
    }

    /// Whether phase (c) of Fig. 3 runs.
    pub const fn in_reordering_phase(&self) -> bool {
        self.reordering != 0
    }

    /// `dupthresh_ho` of Fig. 3 in 1/256; meaningful while reordering is expected.
    pub const fn dupthresh_ho(&self) -> u32 {
        self.dupthresh_ho
    }

    /// b = bdp_new/N at the last notice, 1/256 packet.
    pub const fn bdp_share(&self) -> u32 {
        self.bdp_share
    }

    /// W = max(2, b) at the last notice, 1/256 packet.
    pub const fn window(&self) -> u32 {
        self.window
    }

    const fn bound<'a>(&'a mut self, set: &'a Settings) -> Bound<'a> {
        // SAFETY: the settings and the state of policy/etcp.h, whose fields are integers.
        unsafe { headers::etcp().bind(set, self) }
    }

    /// A flow that has heard nothing asks for nothing; not worth a call per ACK.
    fn heard(&mut self, set: &Settings, event: impl FnOnce(&mut Bound<'_>) -> Action) -> Action {
        if self.is_active() { event(&mut self.bound(set)) } else { Action::NOTHING }
    }
}
