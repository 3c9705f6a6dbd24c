//! Tail loss probes.
//!
//! Source: net/ipv4/tcp_output.c (`tcp_schedule_loss_probe`, `tcp_send_loss_probe`), tcp_input.c
//! (`tcp_process_tlp_ack`); RFC 8985, section 7.

use super::rack::TIMEOUT_MIN_US;
use super::transmit::Push;
use super::{CaState, LinuxSender, Pending, flag};
use crate::advice::Advisor;

/// The probe that is out.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tlp {
    /// `snd_nxt` when it was sent; 0 = none is out.
    pub high_seq: u32,
    /// It was the last packet again.
    pub retrans: bool,
}

impl<A: Advisor> LinuxSender<A> {
    /// Starts the probe timer, if a probe is allowed, and says so (`tcp_schedule_loss_probe`).
    pub(super) fn schedule_loss_probe(&mut self, advancing_rto: bool) -> bool {
        if self.sk.packets_out == 0
            || !self.sack_ok
            || !matches!(self.sk.ca_state, CaState::Open | CaState::Cwr)
        {
            return false;
        }
        let mut timeout = match self.sk.srtt_us {
            0 => u64::from(self.clock.hz()), // `TCP_TIMEOUT_INIT`
            srtt_us => {
                let allowance = if self.sk.packets_out == 1 { self.rtt.rto_min_us } else { TIMEOUT_MIN_US };
                self.clock.from_us(u64::from(srtt_us >> 2) + u64::from(allowance))
            }
        };
        let rto_us = if advancing_rto { self.clock.to_us(self.rtt.rto) as i64 } else { self.rto_delta_us() };
        // The kernel holds this in a u32, so that "already past" is far away.
        let rto_us = rto_us as u32;
        if rto_us > 0 {
            timeout = timeout.min(self.clock.from_us(rto_us.into()));
        }
        self.reset_xmit_timer(Pending::LossProbe, timeout);
        true
    }

    /// The probe timer has expired: a new packet, or the last one again (`tcp_send_loss_probe`).
    pub(super) fn send_loss_probe(&mut self) {
        if self.tlp.high_seq == 0 && self.probe() {
            self.tlp.high_seq = self.sk.snd_nxt;
            self.counters.probes += 1;
            self.xmit.pending = Pending::None; // so that the RTO starts from now
        }
        self.rearm_rto();
    }

    fn probe(&mut self) -> bool {
        self.tlp.retrans = false;
        if self.may_send_new() {
            let before = self.sk.packets_out;
            self.write_xmit(Push::Probe);
            return self.sk.packets_out > before;
        }
        let Some(last) = self.queue.end().checked_sub(1).filter(|_| !self.queue.is_empty()) else {
            return false;
        };
        if !self.retransmit_packets(last, 1) {
            return false;
        }
        self.tlp.retrans = true;
        true
    }

    /// An ACK while a probe is out (`tcp_process_tlp_ack`).
    pub(super) fn process_tlp_ack(&mut self, ack: u32, flags: u32) {
        if ack < self.tlp.high_seq {
            return;
        }
        if !self.tlp.retrans || flags & flag::DSACK_TLP != 0 {
            self.tlp.high_seq = 0; // new data has arrived, or both original and probe
        } else if ack > self.tlp.high_seq {
            // The probe has repaired a loss: one cut.
            self.init_cwnd_reduction();
            self.set_ca_state(CaState::Cwr);
            self.end_cwnd_reduction();
            self.try_keep_open();
            self.cwnd_event(super::cc::CaEvent::TlpRecovery);
        } else if flags & (flag::SND_UNA_ADVANCED | flag::NOT_DUP | flag::DATA_SACKED) == 0 {
            self.tlp.high_seq = 0; // a plain duplicate ACK: both have arrived
        }
    }
}
