//! When a receiver acknowledges: quick, delayed and compressed ACKs.
//!
//! Source: net/ipv4/tcp_input.c (`tcp_event_data_recv`, `tcp_incr_quickack`, `__tcp_ack_snd_check`,
//! `tcp_sack_compress_send_ack`), tcp_output.c (`tcp_send_delayed_ack`), tcp.c (`__tcp_cleanup_rbuf`).

use super::LinuxReceiver;
use crate::Nanos;
use crate::segment::Ecn;

/// ACKs sent at once at the start and after trouble (`TCP_MAX_QUICKACKS`).
pub(super) const MAX_QUICKACKS: u32 = 16;
/// Duplicate ACKs before they are compressed (`TCP_FASTRETRANS_THRESH`).
const DUP_ACKS: u32 = 3;
/// Most ACKs that one compressed ACK stands for (`tcp_comp_sack_nr`).
const COMPRESSED_MOST: u32 = 44;
/// Longest wait of a compressed ACK and what the timer may add (`tcp_comp_sack_delay_ns`, `_slack_ns`).
const COMPRESSED_WAIT: Nanos = 1_000_000;
const COMPRESSED_SLACK: Nanos = 100_000;

/// When the next ACK is due (`icsk_ack`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AckSchedule {
    /// ACKs to send at once.
    pub(super) quick: u32,
    /// Expected gap between data, jiffies; 0: nothing was received.
    pub(super) ato: u64,
    /// Time of the last data, jiffies.
    pub(super) last_data: u64,
    /// An ACK is due, now or later (`ICSK_ACK_SCHED`).
    pub(super) scheduled: bool,
    /// It is due now (`ICSK_ACK_NOW`).
    pub(super) now: bool,
    /// A packet had PSH (`ICSK_ACK_PUSHED`).
    pub(super) pushed: bool,
    /// Jiffy to which it is delayed (`ICSK_ACK_TIMER`).
    pub(super) timeout: Option<u64>,
    /// When the wheel calls, whether an ACK still waits or not: a timer that is cleared stays in it.
    pub(super) timer: Option<Nanos>,
}

/// Duplicate ACKs that one ACK stands for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Compression {
    /// Those that wait (`compressed_ack`).
    pub(super) count: u32,
    /// When they are sent (`compressed_ack_timer`).
    pub(super) at: Option<Nanos>,
    /// The hole at which duplicates count (`compressed_ack_rcv_nxt`), and those that were sent (`dup_ack_counter`).
    rcv_nxt: u32,
    dup_acks: u32,
}

impl LinuxReceiver {
    /// In-order data (`tcp_event_data_recv`).
    pub(super) fn event_data_recv(&mut self, ecn: Ecn) {
        self.ack.scheduled = true;
        let least = self.ato_min();
        if self.ack.ato == 0 {
            self.incr_quickack(MAX_QUICKACKS);
            self.ack.ato = least;
        } else {
            let gap = self.jiffies - self.ack.last_data;
            if gap <= least / 2 {
                self.ack.ato = self.ack.ato / 2 + least / 2;
            } else if gap < self.ack.ato {
                self.ack.ato = (self.ack.ato / 2 + gap).min(self.handshake.rto).min(self.delack_max());
            } else if gap > self.handshake.rto {
                self.incr_quickack(MAX_QUICKACKS); // the sender has paused
            }
        }
        self.ack.last_data = self.jiffies;
        self.check_ce(ecn);
        self.grow_window();
    }

    /// `tcp_grow_window`: while the window widens, ACKs are sent at once.
    pub(super) fn grow_window(&mut self) {
        let grows = self.buffer.grows(self.held());
        self.ack.quick |= u32::from(grows);
    }

    /// `tcp_incr_quickack`. The window is never so small that it counts.
    fn incr_quickack(&mut self, most: u32) {
        let quick = (self.window / 2).max(2).min(most);
        self.ack.quick = self.ack.quick.max(quick);
    }

    /// `tcp_enter_quickack_mode`.
    pub(super) fn enter_quickack_mode(&mut self, most: u32) {
        self.incr_quickack(most);
        self.ack.ato = self.ato_min();
    }

    /// `TCP_ATO_MIN`, `TCP_DELACK_MIN`: 40 ms in jiffies.
    pub(super) fn ato_min(&self) -> u64 {
        u64::from(self.clock.hz() / 25).max(1)
    }

    /// `TCP_DELACK_MAX`: 200 ms in jiffies.
    pub(super) fn delack_max(&self) -> u64 {
        u64::from(self.clock.hz() / 5)
    }

    /// Now or later (`__tcp_ack_snd_check`).
    pub(super) fn ack_snd_check(&mut self) {
        // Where the right edge does not advance, the application's read sends the ACK.
        let second = self.rcv_nxt - self.rcv_wup > 1 && self.select_window() >= self.buffer.offered();
        if second || self.ack.quick > 0 || self.ack.now {
            return self.send_ack();
        }
        if self.reassembly.ranges.is_empty() {
            return self.send_delayed_ack();
        }
        if self.compression.count >= COMPRESSED_MOST {
            return self.send_ack();
        }
        if self.compression.rcv_nxt != self.rcv_nxt {
            self.compression.rcv_nxt = self.rcv_nxt;
            self.compression.dup_acks = 0;
        }
        if self.compression.dup_acks < DUP_ACKS {
            self.compression.dup_acks += 1;
            return self.send_ack();
        }
        self.compression.count += 1;
        if self.compression.at.is_none() {
            // Without a round trip of the handshake, that of the first data counts, which is no shorter than a
            // SYN/ACK's.
            let rtt = if self.handshake.srtt_us == 0 { u64::MAX } else { self.handshake.srtt_us * 1_000 };
            let wait = COMPRESSED_WAIT.min(rtt / 20);
            self.compression.at = Some(self.now + wait + COMPRESSED_SLACK);
        }
    }

    /// The application has read all that was in order (`__tcp_cleanup_rbuf`). The window is never so small that a read
    /// doubles it.
    pub(super) fn cleanup_rbuf(&mut self) {
        let second = self.rcv_nxt - self.rcv_wup > 1;
        let drained = self.ack.pushed && self.held() == 0;
        if self.ack.scheduled && (second || drained) {
            self.send_ack();
        }
    }

    /// The window that the buffer allows. One that is half full ends quick ACKs (`__tcp_select_window`).
    pub(super) fn select_window(&mut self) -> u32 {
        let held = self.held();
        if self.buffer.is_half_full(held) {
            self.ack.quick = 0;
        }
        self.buffer.select_window(held)
    }

    /// `tcp_sack_compress_send_ack`.
    pub(super) fn send_compressed(&mut self) {
        if self.compression.count > 0 {
            self.send_ack();
        }
    }

    /// `tcp_send_delayed_ack`.
    fn send_delayed_ack(&mut self) {
        let least = self.ato_min();
        let mut ato = self.ack.ato;
        if ato > least {
            let mut most = if self.ack.pushed { self.delack_max() } else { u64::from(self.clock.hz() / 2) };
            if self.handshake.srtt_us > 0 {
                most = most.min(self.clock.from_us(self.handshake.srtt_us).max(least));
            }
            ato = ato.min(most);
        }
        // `tcp_delack_max`: before the sender's shortest RTO.
        let rto_min = self.clock.from_us(self.profile.rto.min / 1_000);
        ato = ato.min(self.delack_max()).min(rto_min.max(2) - 1);
        let mut timeout = self.jiffies + ato;
        if let Some(running) = self.ack.timeout {
            if running <= self.jiffies + (ato >> 2) {
                return self.send_ack(); // about to expire
            }
            timeout = timeout.min(running);
        }
        self.ack.scheduled = true;
        self.set_delack_timer(timeout);
    }

    pub(super) fn set_delack_timer(&mut self, timeout: u64) {
        self.ack.timeout = Some(timeout);
        let clk = self.jiffies + u64::from(self.in_timer);
        let fires = self.wheel_timer.set(timeout, self.jiffies, clk);
        self.ack.timer = Some(self.clock.at(fires));
    }
}
