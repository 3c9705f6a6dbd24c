//! A sender of which somebody else decides what is sent, and when: advice has [suspended](crate::Advice::suspend) it.
//!
//! Its queue, its scoreboard and its estimates hear every ACK, as always; timers, windows and pacing rest. No kernel has
//! this: programs of eBPF cannot choose the packet.

use super::queue::{ANY_RETRANS, EVER_RETRANS, LOST, RETRANS, SACKED};
use super::{CaState, LinuxSender};
use crate::Nanos;
use crate::advice::{Advice, Advisor, Anew, KernelAdvice};
use crate::sender::Transmit;

impl<A: Advisor> LinuxSender<A> {
    /// Sends packet `seq` now, whatever window, pacing and recovery say. `None`: the receiver has it, or the application
    /// or the receiver's window has no such packet.
    pub fn send(&mut self, now: Nanos, seq: u32) -> Option<Transmit> {
        self.refresh(now);
        let again = seq < self.sk.snd_nxt;
        if seq < self.sk.snd_una
            || seq > self.sk.snd_nxt
            || seq >= self.written.end.min(self.wnd_end())
            || (again && self.queue.get(seq).has(SACKED))
        {
            return None;
        }
        // Pacing holds nothing back any more.
        self.sk.tcp_wstamp_ns = self.sk.tcp_wstamp_ns.min(self.sk.tcp_clock_cache);
        if again {
            // RACK may not have found it yet. It would be in flight twice, of which PRR would make a larger window.
            if self.advised.goes_on && !self.queue.get(seq).has(LOST | RETRANS) {
                self.mark_lost(seq);
            }
            self.total_retrans += 1;
            self.queue.bind(seq, seq + 1);
            self.transmit(seq, true);
            let packet = self.queue.get_mut(seq);
            let first = !packet.has(RETRANS);
            packet.flags |= if first { ANY_RETRANS } else { EVER_RETRANS };
            self.sk.retrans_out += u32::from(first);
            // Or every cut would look needless: nothing sent again, so nothing lost (`tcp_packet_delayed`).
            if self.undo.retrans_stamp == 0 {
                self.undo.retrans_stamp = (self.queue.get(seq).sent_ns / 1_000_000) as u32;
            }
            self.undo.retrans = self.undo.retrans.max(0) + 1;
        } else {
            self.transmit_new();
        }
        // `tcp_write_xmit` and `tcp_xmit_retransmit_queue` count it so.
        if self.sk.in_cwnd_reduction() {
            self.prr.out += 1;
        }
        let limited = self.sk.packets_in_flight() >= self.sk.snd_cwnd;
        self.cwnd_validate(limited);
        let out = self.out.pop_back()?;
        self.host.memory = 0;
        Some(self.packet(out))
    }

    /// Its control goes on from so many packets, as if it had found them itself. A packet in its part of the path takes
    /// `packet`, a round trip `rtt`. The sender goes by its [`window`](Self::window).
    pub fn goes_on(&mut self, now: Nanos, packets: u32, packet: Nanos, rtt: Nanos) {
        self.refresh(now);
        // Nothing of the old path is given back.
        self.undo.marker = None;
        self.undo.prior_ssthresh = 0;
        self.sk.prior_cwnd = packets;
        (self.prr.delivered, self.prr.out) = (0, 0);
        self.advised.goes_on = true;
        let window = Some(packets.saturating_mul(256));
        let kernel = KernelAdvice { anew: Some(Anew::Claimed { packet, rtt }), ..KernelAdvice::default() };
        self.take(&Advice { cwnd: window, ssthresh: window, kernel, ..Advice::default() });
    }

    /// Pace of a control that has one of its own (`cong_control`), as BBR has.
    pub fn packets_per_second(&self) -> Option<u64> {
        self.has_cong_control().then(|| self.sk.pacing_rate / u64::from(self.sk.mss_cache.max(1)))
    }

    /// Whether it is in a recovery, which reduces its window (`tcp_in_cwnd_reduction`).
    pub fn reduces(&self) -> bool {
        self.sk.in_cwnd_reduction()
    }

    /// A packet was lost: its control cuts its window, unless RACK has found it before and that is done.
    pub fn loses_one(&mut self, now: Nanos) {
        self.refresh(now);
        if self.sk.packets_out > 0 && self.sk.ca_state < CaState::Recovery {
            self.enter_recovery(false);
        }
    }

    /// All that is out is lost: its control answers as to its timer.
    pub fn loses_all(&mut self, now: Nanos) {
        self.refresh(now);
        if self.sk.packets_out > 0 {
            self.enter_loss();
        }
    }

    /// When an outstanding packet was sent last.
    pub fn sent_at(&self, now: Nanos, seq: u32) -> Nanos {
        let sent = self.queue.get(seq).sent_ns;
        now.saturating_sub(self.clock.since_boot(now).saturating_sub(sent))
    }

    /// Whether a SACK block has reported an outstanding packet.
    pub fn is_sacked(&self, seq: u32) -> bool {
        self.queue.get(seq).has(SACKED)
    }

    /// Shortest round trip of the window of `tcp_min_rtt_wlen`.
    pub fn min_rtt(&self) -> Option<Nanos> {
        let min_rtt_us = self.sk.min_rtt_us();
        (min_rtt_us != u32::MAX).then_some(Nanos::from(min_rtt_us) * 1_000)
    }

    /// Whether application and receiver have room for one more new packet.
    pub fn has_new(&self) -> bool {
        self.may_send_new()
    }
}
