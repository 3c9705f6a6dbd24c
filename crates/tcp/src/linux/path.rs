//! A path that becomes another one while packets of the old one are out.
//!
//! Source: RFC 9000, 9.4 (congestion controller and estimator start anew; packets of the old path contribute to
//! neither). RFC 9002, 6.2.2 and 7.2 (timer and window at the start). Here they are on the kernel's queue and states.
//! No kernel has this: TCP keeps its state when the access link changes.
//!
//! Packets that were last sent before the change are under way *elsewhere*. While any is outstanding the state is Loss:
//! lost packets are sent again as cwnd allows, which grows by slow start. The first loss of a packet of the new path is
//! one like any other.

use super::LinuxSender;
use super::cc::{CaState, CongestionOps, INFINITE_SSTHRESH};
use super::queue::{LOST, Packet, RETRANS, SACKED};
use crate::advice::{Advisor, Anew, NewPath};

/// The path since it became another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Path {
    /// One beyond what was sent before.
    mark: u32,
    /// The first transmission over it.
    first_copy: u32,
    /// Its time stamp when it became the flow's.
    began_ms: u32,
    /// Packets sent since that were delivered.
    pub delivered: u32,
    /// Packets sent since that were marked lost.
    pub lost: u32,
    /// The state is Loss for the old path's packets alone.
    spares: bool,
}

/// How often the kernel counts a packet as under way.
fn counts(packet: &Packet) -> u32 {
    u32::from(!packet.has(SACKED | LOST)) + u32::from(packet.has(RETRANS))
}

impl<A: Advisor> LinuxSender<A> {
    /// The path is another one.
    pub(super) fn start_path(&mut self, new: &NewPath) {
        let outstanding = self.sk.packets_out > 0;
        self.rtt.forget(&self.clock, &mut self.sk, new.rto / 1_000);
        (self.retries.backoff, self.retries.retransmits) = (0, 0);
        (self.undo.marker, self.undo.prior_ssthresh, self.sk.prior_cwnd) = (None, 0, 0);
        (self.frto, self.tlp.high_seq, self.advised.expiries, self.advised.ssthresh_saved) = (false, 0, 0, 0);
        if new.lost {
            for seq in self.queue.head()..self.queue.end() {
                self.mark_lost(seq);
            }
            self.retransmit_hint = None;
        }
        self.path = Some(Path {
            mark: self.sk.snd_nxt,
            first_copy: self.counters.transmissions,
            began_ms: self.time_stamp(),
            delivered: 0,
            lost: 0,
            spares: outstanding,
        });
        self.recount_elsewhere();
        self.high_seq = self.sk.snd_nxt;
        self.set_ca_state(if outstanding { CaState::Loss } else { CaState::Open });
        self.sk.snd_cwnd_cnt = 0;
        self.usage.stamp = self.sk.jiffies;
        self.sk.snd_ssthresh = INFINITE_SSTHRESH;
        self.sk.set_cwnd(self.profile.initial_window);
        self.control.start_anew(&mut self.sk, Anew::Unknown);
    }

    /// Whether a packet was last sent over the old path.
    #[inline]
    pub(super) fn is_old(&self, packet: &Packet) -> bool {
        self.path.is_some_and(|path| packet.copy < path.first_copy)
    }

    /// Whether packets of the old path may still be out.
    #[inline]
    pub(super) fn is_on_two_paths(&self) -> bool {
        self.path.is_some_and(|path| self.queue.head() < path.mark)
    }

    /// Whether a time stamp so many ms old may be one of the old path.
    #[inline]
    pub(super) fn is_of_old_path(&self, age_ms: u32) -> bool {
        self.path.is_some_and(|path| self.time_stamp().wrapping_sub(age_ms) <= path.began_ms)
    }

    /// Counts what is under way elsewhere.
    #[inline]
    pub(super) fn recount_elsewhere(&mut self) {
        let Some(path) = self.path else { return };
        let old = (self.queue.head()..path.mark.min(self.queue.end())).map(|seq| self.queue.get(seq));
        self.sk.elsewhere = old.filter(|packet| packet.copy < path.first_copy).map(counts).sum();
    }

    /// Packet `seq` is about to be sent again, over the path that the flow has now.
    #[inline]
    pub(super) fn leave_old_path(&mut self, seq: u32) {
        let packet = self.queue.get(seq);
        if self.is_old(packet) {
            self.sk.elsewhere = self.sk.elsewhere.saturating_sub(counts(packet));
        }
    }

    /// A packet has been delivered.
    #[inline]
    pub(super) fn note_on_path(&mut self, packet: &Packet) {
        if let Some(path) = &mut self.path
            && packet.copy >= path.first_copy
        {
            path.delivered = path.delivered.wrapping_add(1);
        }
    }

    /// Packet `seq` has been marked lost; `before`: as it was.
    pub(super) fn note_lost_on_path(&mut self, seq: u32, before: &Packet) {
        let after = counts(self.queue.get(seq));
        if let Some(path) = &mut self.path {
            match before.copy < path.first_copy {
                true => self.sk.elsewhere = self.sk.elsewhere.saturating_sub(counts(before) - after),
                false => path.lost = path.lost.wrapping_add(1),
            }
        }
    }

    /// Packets that an ACK has delivered and marked lost: the part of them that counts on the path.
    pub(super) fn of_path(&self, before: Option<Path>, all: [u32; 2]) -> [u32; 2] {
        match (self.path, before) {
            (Some(path), Some(before)) if before.spares || self.is_on_two_paths() => {
                [path.delivered.wrapping_sub(before.delivered), path.lost.wrapping_sub(before.lost)]
            }
            _ => all,
        }
    }

    /// A recovery is about to begin: whether the losses are the old path's alone, which are repaired without a cut.
    pub(super) fn spares_window(&mut self) -> bool {
        let Some(path) = self.path.filter(|path| path.lost == 0 && self.queue.head() < path.mark) else {
            return false;
        };
        self.path = Some(Path { spares: true, ..path });
        self.frto = false;
        self.undo.marker = None;
        self.high_seq = self.sk.snd_nxt;
        self.set_ca_state(CaState::Loss);
        true
    }

    /// The timer has expired: from here on the state is TCP's.
    pub(super) fn spare_no_more(&mut self) {
        if let Some(path) = &mut self.path {
            path.spares = false;
        }
    }

    /// In the Loss state that spares the window: a packet of the new path has been lost, which is a loss like any
    /// other. Says whether a recovery has begun.
    pub(super) fn path_has_lost(&mut self, before: Option<Path>) -> bool {
        let (Some(path), Some(before)) = (&mut self.path, before) else { return false };
        if !path.spares || path.lost == before.lost || self.sk.ca_state != CaState::Loss {
            return false;
        }
        path.spares = false;
        self.sk.ca_state = CaState::Disorder;
        self.enter_recovery(false);
        true
    }

    /// The first unacknowledged packet leaves now, whatever is known of a copy of it.
    pub(super) fn probe_head(&mut self) {
        let head = self.queue.head();
        if self.queue.get(head).has(RETRANS) {
            self.mark_lost(head);
        }
        self.retransmit(head);
    }
}
