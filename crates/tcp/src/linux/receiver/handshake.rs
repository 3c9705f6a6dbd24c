//! The handshake of a connection that this host accepts: SYN/ACK, its timer, and the first round trip.
//!
//! Source: net/ipv4/tcp_input.c (`tcp_conn_request`, `tcp_synack_rtt_meas`), inet_connection_sock.c
//! (`inet_csk_reqsk_queue_hash_add`, `reqsk_timer_handler`), tcp_minisocks.c (`tcp_check_req`,
//! `tcp_create_openreq_child`).

use super::LinuxReceiver;
use crate::Nanos;
use crate::receiver::Arrival;
use crate::segment::{SackList, Segment};

/// Repetitions of the SYN/ACK before the connection is given up (`tcp_synack_retries`).
const SYN_ACK_RETRIES: u32 = 5;
/// RTO without a round trip of the handshake, us (`TCP_TIMEOUT_FALLBACK`).
const FALLBACK_US: u64 = 3_000_000;

/// The handshake of a connection, and what it has measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Handshake {
    /// When the SYN/ACK was sent, unless it was sent twice.
    sent: Option<Nanos>,
    /// When it is sent again (`rsk_timer`), and how often it has been (`num_timeout`).
    pub(super) timer: Option<Nanos>,
    timeouts: u32,
    /// The ACK of the SYN/ACK has come.
    pub(super) complete: bool,
    /// Round trip to that ACK, us; 0: none measured.
    pub(super) srtt_us: u64,
    /// `icsk_rto`, jiffies.
    pub(super) rto: u64,
}

impl Handshake {
    /// Nothing has come yet; `rto` in jiffies.
    pub(super) fn new(rto: u64) -> Self {
        Self { sent: None, timer: None, timeouts: 0, complete: false, srtt_us: 0, rto }
    }
}

impl LinuxReceiver {
    /// `tcp_conn_request`; of a SYN that was repeated `tcp_check_req`, which goes on echoing the first.
    pub(super) fn on_syn(&mut self, segment: &Segment) -> Arrival {
        let arrival = if self.rcv_nxt == 0 { Arrival::New } else { Arrival::Duplicate };
        if let Some(stamps) = segment.timestamps
            && arrival == Arrival::New
        {
            self.ts_recent = stamps.value;
        }
        if arrival == Arrival::New {
            self.ecn.on_syn(segment.ecn);
        }
        self.rcv_nxt = self.rcv_nxt.max(1);
        self.rcv_wup = self.rcv_wup.max(1);
        if self.handshake.complete {
            self.send_ack(); // a challenge ACK
        } else {
            // No round trip is measured by a SYN/ACK that was sent twice.
            self.handshake.sent = Some(self.now).filter(|_| arrival == Arrival::New);
            let syn_ack = self.segment(true, SackList::default());
            self.pending.push_back(syn_ack);
            if arrival == Arrival::New || self.handshake.timer.is_some() {
                self.set_syn_ack_timer();
            }
        }
        arrival
    }

    /// `inet_csk_reqsk_queue_hash_add`, `reqsk_timeout`.
    fn set_syn_ack_timer(&mut self) {
        let wait = self.clock.from_us(self.profile.rto.initial / 1_000) << self.handshake.timeouts;
        let clk = self.jiffies + u64::from(self.in_timer);
        let fires = self.wheel_timer.set(self.jiffies + wait, self.jiffies, clk);
        self.handshake.timer = Some(self.clock.at(fires));
    }

    /// Nothing has answered the SYN/ACK (`reqsk_timer_handler`).
    pub(super) fn on_syn_ack_timer(&mut self) {
        self.handshake.timer = None;
        if self.handshake.timeouts >= SYN_ACK_RETRIES {
            return;
        }
        self.handshake.sent = None; // no round trip is measured by a SYN/ACK that was sent twice
        let syn_ack = self.segment(true, SackList::default());
        self.pending.push_back(syn_ack);
        self.handshake.timeouts += 1;
        self.in_timer = true;
        self.set_syn_ack_timer();
        self.in_timer = false;
    }

    /// The handshake is complete (`tcp_create_openreq_child`). The SYN/ACK measures the round trip if it was sent once,
    /// else the time stamp that `segment` echoes does (`tcp_synack_rtt_meas`).
    pub(super) fn establish(&mut self, segment: &Segment) {
        self.handshake.complete = true;
        self.ack.last_data = self.jiffies;
        self.handshake.timer = None;
        self.buffer.begin(self.now / 1_000, self.rcv_nxt);
        let echoed = segment.timestamps.map(|stamps| {
            let ms = self.time_stamp().wrapping_sub(stamps.echo);
            u64::from(ms.max(1)) * 1_000
        });
        let rtt_us = self.handshake.sent.map(|sent| (self.now - sent) / 1_000).or(echoed);
        if let Some(rtt_us) = rtt_us {
            self.handshake.srtt_us = rtt_us.max(1);
            self.handshake.rto = self.clock.from_us(rtt_us + (2 * rtt_us).max(self.profile.rto.min / 1_000));
        } else {
            self.handshake.rto = self.clock.from_us(FALLBACK_US); // `tcp_init_metrics`
        }
    }
}
