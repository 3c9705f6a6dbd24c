//! `policy/etcp.h` in Rust: one flow of Enhanced TCP.

use crate::ffi;
use crate::{Action, Notice, Sender, Settings};

/// One flow's state. The default has heard no notice and asks for nothing.
///
/// For one ACK the host calls, as they apply and in this order, [`on_dsack`],
/// [`on_new_ack`] or [`on_dup_ack`], [`on_rtt_sample`] and, when the duplicate ACKs
/// have reached dupthresh, [`on_fast_retransmit`]. That one and [`on_timeout`] come
/// before the host cuts its window.
///
/// [`on_dsack`]: Self::on_dsack
/// [`on_new_ack`]: Self::on_new_ack
/// [`on_dup_ack`]: Self::on_dup_ack
/// [`on_rtt_sample`]: Self::on_rtt_sample
/// [`on_fast_retransmit`]: Self::on_fast_retransmit
/// [`on_timeout`]: Self::on_timeout
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Etcp {
    pub(crate) ho_point: u32,
    pub(crate) bdp_share: u32,
    pub(crate) window: u32,
    pub(crate) cwnd_prev: u32,
    pub(crate) resent: u32,
    pub(crate) dupthresh_ho: u32,
    pub(crate) dupacks: u32,
    pub(crate) active: u8,
    pub(crate) ho_acked: u8,
    pub(crate) a1_active: u8,
    pub(crate) delay_increased: u8,
    pub(crate) reinit_rtt: u8,
    pub(crate) cwnd_reduced: u8,
    pub(crate) fig3_heard: u8,
    pub(crate) cwnd_reduction: u8,
    pub(crate) reordering_flag: u8,
    pub(crate) reordering: u8,
    pub(crate) return_fastrecovery: u8,
    pub(crate) needless: u8,
    pub(crate) delay_changed: u8,
    pub(crate) pad: [u8; 3],
}

impl Etcp {
    /// A handoff has completed; algorithms.md 2.0 and 3.4 say who acts. A second
    /// notice overwrites the point of the first and evaluates everything anew.
    pub fn on_notice(&mut self, set: &Settings, tcp: &Sender, notice: &Notice) -> Action {
        let mut act = Action::NOTHING;
        ffi::segue_shim_on_notice(set, self, tcp, notice, &mut act);
        act
    }

    /// `snd_una` has advanced. `dsack`: the first SACK block of this ACK reports as a
    /// duplicate the segment that the fast retransmit of 3.3 (b) resent.
    pub fn on_new_ack(&mut self, set: &Settings, tcp: &Sender, dsack: bool) -> Action {
        self.heard(|flow, act| ffi::segue_shim_on_new_ack(set, flow, tcp, u32::from(dsack), act))
    }

    /// A DSACK block `left..right`, on whatever ACK. The late original is reported
    /// mostly by a duplicate ACK, before the one that ends the handoff.
    pub fn on_dsack(&mut self, left: u32, right: u32) {
        ffi::segue_shim_on_dsack(self, left, right);
    }

    /// A duplicate ACK; algorithms.md 3.3 (c).
    pub fn on_dup_ack(&mut self, set: &Settings, tcp: &Sender) -> Action {
        self.heard(|flow, act| ffi::segue_shim_on_dup_ack(set, flow, tcp, act))
    }

    /// The segment `head_seq` is about to be resent; algorithms.md 2.3, 3.3 (b).
    pub fn on_fast_retransmit(&mut self, set: &Settings, tcp: &Sender, head_seq: u32) -> Action {
        self.heard(|flow, act| ffi::segue_shim_on_fast_retransmit(set, flow, tcp, head_seq, act))
    }

    /// The retransmission timer has expired; algorithms.md 9.8, 3.3.
    pub fn on_timeout(&mut self, set: &Settings, tcp: &Sender) -> Action {
        self.heard(|flow, act| ffi::segue_shim_on_timeout(set, flow, tcp, act))
    }

    /// A valid RTT sample of the segment that starts at `sample_seq`; algorithms.md
    /// 2.1, 2.5.
    pub fn on_rtt_sample(&mut self, set: &Settings, tcp: &Sender, sample_seq: u32) -> Action {
        self.heard(|flow, act| ffi::segue_shim_on_rtt_sample(set, flow, tcp, sample_seq, act))
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

    /// A flow that has heard nothing asks for nothing; not worth a call per ACK.
    fn heard(&mut self, event: impl FnOnce(&mut Self, &mut Action)) -> Action {
        let mut act = Action::NOTHING;
        if self.is_active() {
            event(self, &mut act);
        }
        act
    }
}
