//! The transmit timer: one slot for retransmission, reordering, loss probe and window probe; giving up.
//!
//! Source: net/ipv4/tcp_timer.c, include/net/tcp.h (`tcp_reset_xmit_timer`, `tcp_rto_delta_us`, `tcp_probe0_when`),
//! include/net/inet_connection_sock.h, tcp_input.c (`tcp_rearm_rto`, `tcp_ack_probe`), tcp_output.c
//! (`tcp_send_probe0`).

use super::LinuxSender;
use super::transmit::Push;
use super::wheel::WheelTimer;
use crate::Nanos;
use crate::advice::Advisor;

/// Expiries of the SYN that do not double the RTO (`tcp_syn_linear_timeouts`).
const SYN_LINEAR_TIMEOUTS: u32 = 4;
/// Retransmissions before the connection is given up, as a measure of time (`tcp_retries2`).
const RETRIES: u32 = 15;
/// Expiries of the SYN before that (`tcp_syn_retries`).
const SYN_RETRIES: u32 = 6;

/// Meaning of the transmit timer (`icsk_pending`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Pending {
    #[default]
    None,
    /// `ICSK_TIME_RETRANS`.
    Retrans,
    /// `ICSK_TIME_REO_TIMEOUT`.
    Reo,
    /// `ICSK_TIME_LOSS_PROBE`.
    LossProbe,
    /// `ICSK_TIME_PROBE0`.
    Probe0,
}

/// The transmit timer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct XmitTimer {
    /// Its meaning.
    pub pending: Pending,
    /// When it fires, if anything is pending.
    pub fires: Option<Nanos>,
    /// The jiffy from which the retransmission timer counts, if it is pending.
    pub started: u64,
    /// The timer in the wheel, even if nothing is pending.
    pub wheel: WheelTimer,
}

/// Expiries of the retransmission timer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Retries {
    /// Doublings of the RTO (`icsk_backoff`).
    pub backoff: u32,
    /// Since `snd_una` advanced (`icsk_retransmits`).
    pub retransmits: u32,
    /// In all.
    pub timeouts: u32,
    /// The connection has been given up.
    pub given_up: bool,
}

impl<A: Advisor> LinuxSender<A> {
    /// `inet_csk_reset_xmit_timer`: `wait` jiffies from now.
    pub(super) fn set_timer(&mut self, pending: Pending, wait: u64) {
        if self.advised.suspends {
            return;
        }
        let expires = self.jiffies + wait.min(self.rtt.rto_max);
        self.xmit.pending = pending;
        self.xmit.started = expires.saturating_sub(self.rtt.rto);
        let clk = self.jiffies + u64::from(self.in_timer);
        let fires = self.xmit.wheel.set(expires, self.jiffies, clk);
        self.xmit.fires = Some(self.clock.at(fires));
    }

    /// The same after what pacing holds back has left (`tcp_reset_xmit_timer`).
    pub(super) fn reset_xmit_timer(&mut self, pending: Pending, wait: u64) {
        let held = self.sk.tcp_wstamp_ns.saturating_sub(self.sk.tcp_clock_cache);
        self.set_timer(pending, wait + self.clock.from_ns(held));
    }

    /// The retransmission timer expires an RTO after its last start, but not in the past: advice has changed the RTO.
    /// Where another timer has its slot, it counts from when the head left (`tcp_rearm_rto`).
    pub(super) fn extend_timer(&mut self) {
        let wait = match self.xmit.pending {
            Pending::Retrans => (self.xmit.started + self.rtt.rto).saturating_sub(self.jiffies),
            _ => self.clock.from_us(self.rto_delta_us().max(0) as u64),
        };
        self.set_timer(Pending::Retrans, wait);
    }

    /// `inet_csk_clear_xmit_timer`.
    pub(super) fn clear_timer(&mut self) {
        self.xmit.pending = Pending::None;
        self.xmit.fires = None;
    }

    /// How far away the RTO of the head is, us; negative if it is past (`tcp_rto_delta_us`).
    pub(super) fn rto_delta_us(&self) -> i64 {
        let rto_us = self.clock.to_us(self.rtt.rto) as i64;
        if self.queue.is_empty() {
            return rto_us;
        }
        let head = self.queue.get(self.queue.head());
        head.sent_us() as i64 + rto_us - self.sk.tcp_mstamp as i64
    }

    /// Restarts the retransmission timer, or stops it (`tcp_rearm_rto`).
    pub(super) fn rearm_rto(&mut self) {
        if self.sk.packets_out == 0 {
            self.clear_timer();
            return;
        }
        let mut rto = self.rtt.rto;
        if matches!(self.xmit.pending, Pending::Reo | Pending::LossProbe) {
            rto = self.clock.from_us(self.rto_delta_us().max(1) as u64);
        }
        self.reset_xmit_timer(Pending::Retrans, rto);
    }

    /// `tcp_set_xmit_timer`.
    pub(super) fn set_xmit_timer(&mut self) {
        if !self.schedule_loss_probe(true) {
            self.rearm_rto();
        }
    }

    /// The timer has expired (`tcp_write_timer_handler`); says whether it was the retransmission timer.
    pub(super) fn write_timer(&mut self) -> bool {
        self.xmit.fires = None;
        match self.xmit.pending {
            Pending::None => false,
            Pending::Reo => {
                self.rack_reo_timeout();
                false
            }
            Pending::LossProbe => {
                self.send_loss_probe();
                false
            }
            Pending::Probe0 => {
                self.xmit.pending = Pending::None;
                self.send_probe0();
                false
            }
            Pending::Retrans => {
                self.xmit.pending = Pending::None;
                let due = self.sk.packets_out > 0;
                self.retransmit_timer();
                due
            }
        }
    }

    /// `tcp_retransmit_timer`.
    pub(super) fn retransmit_timer(&mut self) {
        if self.sk.packets_out == 0 {
            return;
        }
        // A window that shrank to nothing is probed by retransmissions, for ever.
        let probes = self.snd_wnd == 0 && self.established;
        if !probes && self.has_given_up() {
            self.retries.given_up = true;
            self.clear_timer();
            return;
        }
        self.counters.timeouts += 1;
        let advice = self.ask(|advisor, view| advisor.on_timeout(view));
        let ssthresh = self.sk.snd_ssthresh;
        self.enter_loss();
        if self.advised.expiries == 0 {
            self.advised.ssthresh_saved = self.sk.snd_ssthresh;
            self.advised.srtt_before = u64::from(self.sk.srtt_us) * 125;
        }
        self.advised.expiries += 1;
        if let Some(advice) = advice {
            if advice.keep_ssthresh {
                self.sk.snd_ssthresh = self.kept(ssthresh);
            }
            self.take(&advice);
        }
        if !probes {
            self.retries.retransmits += 1; // `tcp_update_rto_stats`
            self.retries.timeouts += 1;
        }
        self.retransmit(self.queue.head());
        if self.established || self.retries.timeouts > SYN_LINEAR_TIMEOUTS {
            self.retries.backoff += 1;
            self.rtt.rto = (self.rtt.rto << 1).min(self.rtt.rto_max);
        }
        self.set_timer(Pending::Retrans, self.rtt.rto);
    }

    /// `tcp_write_timeout`: too long since the first retransmission, or too many SYNs.
    fn has_given_up(&self) -> bool {
        if !self.established {
            return self.retries.retransmits >= SYN_RETRIES + SYN_LINEAR_TIMEOUTS;
        }
        self.retries.retransmits > 0
            && self.time_stamp().wrapping_sub(self.undo.retrans_stamp)
                >= model_timeout(RETRIES, self.clock.to_ms(self.rtt.rto_max) as u32)
    }

    /// `tcp_probe0_when`, jiffies.
    fn probe0_when(&self) -> u64 {
        let least = self.clock.from_us(200_000);
        let backoff = self.retries.backoff.min((self.rtt.rto_max / least).ilog2() + 1);
        (self.rtt.rto.max(least) << backoff).min(self.rtt.rto_max)
    }

    /// Something waits, nothing is out and no timer runs: the window is to be probed (`tcp_check_probe_timer`).
    pub(super) fn check_probe_timer(&mut self) {
        if self.sk.packets_out == 0 && self.xmit.pending == Pending::None {
            let base = self.rtt.rto.max(self.clock.from_us(200_000));
            self.reset_xmit_timer(Pending::Probe0, base);
        }
    }

    /// An ACK with nothing out (`tcp_ack_probe`).
    pub(super) fn ack_probe(&mut self) {
        if !self.has_send_head() {
            return;
        }
        if self.sk.snd_nxt < self.wnd_end() {
            self.retries.backoff = 0;
            self.clear_timer();
        } else {
            let when = self.probe0_when();
            self.reset_xmit_timer(Pending::Probe0, when);
        }
    }

    /// `tcp_probe_timer`, `tcp_send_probe0`.
    fn send_probe0(&mut self) {
        if self.sk.packets_out > 0 || !self.has_send_head() {
            return;
        }
        if self.sk.snd_nxt < self.wnd_end() {
            self.write_xmit(Push::One);
        } else {
            self.send_window_probe();
        }
        if self.sk.packets_out > 0 {
            self.retries.backoff = 0;
            return;
        }
        self.retries.backoff = (self.retries.backoff + 1).min(RETRIES);
        let when = self.probe0_when();
        self.reset_xmit_timer(Pending::Probe0, when);
    }
}

/// How long so many retransmissions may take, ms (`tcp_model_timeout`, of an RTO of 200 ms).
fn model_timeout(boundary: u32, rto_max_ms: u32) -> u32 {
    const BASE: u32 = 200;
    let threshold = (rto_max_ms / BASE).ilog2();
    if boundary <= threshold {
        ((2 << boundary) - 1) * BASE
    } else {
        ((2 << threshold) - 1) * BASE + (boundary - threshold) * rto_max_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::LINUX_6_12_BBR;

    /// A probe's timer in the reference's run bbr 200/300 -> 6400/9, BBM 1 s at 8.2 s. Each packet that pacing lets go
    /// sets it anew for jiffy 9174 (9.016 s). From 74 jiffies before, the wheel's granule is 8, so it fires in 9176.
    /// Set for the same jiffy from nearby, where the granule is 1, it stays where it is.
    #[test]
    fn a_timer_set_for_the_same_jiffy_stays_in_its_bucket() {
        let profile = LINUX_6_12_BBR;
        let mut sender = LinuxSender::new(&profile, profile.kernel.unwrap(), ());
        let mut set = |now: u64, expires: u64| {
            sender.jiffies = now;
            sender.set_timer(Pending::LossProbe, expires - now);
            sender.xmit.fires.map(|at| sender.clock.jiffies(at))
        };
        assert_eq!(set(9_100, 9_174), Some(9_176));
        assert_eq!(set(9_124, 9_174), Some(9_176));
        assert_eq!(set(9_124, 9_173), Some(9_174));
        assert_eq!(set(9_124, 9_174), Some(9_175));
        // Stopping a timer takes it off the list of what is pending, but not off the wheel.
        assert_eq!(set(9_100, 9_174), Some(9_175));
        // Once it has fired it is a new timer.
        assert_eq!(set(9_176, 9_250), Some(9_256));
    }

    #[test]
    fn tv_5_time_to_give_up() {
        assert_eq!(model_timeout(15, 120_000), 924_600);
        assert_eq!(model_timeout(3, 120_000), 3_000);
        assert_eq!(model_timeout(15, 1_000), 14_400);
        assert_eq!(model_timeout(15, 10_000), 112_600);
        assert_eq!(model_timeout(8, 120_000), 102_200);
    }
}
