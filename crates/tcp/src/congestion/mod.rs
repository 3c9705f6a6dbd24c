//! Congestion control: how large the window is. One file per control; their list is `controls!` below.
//!
//! Loss recovery decides what is lost and when; a control keeps cwnd and ssthresh. Events are distinct, never
//! merged: a control that cannot tell a timeout from a fast retransmit cuts twice.

#[macro_use]
mod registry;

use crate::{Nanos, Window256};

controls! {
    ns2::Ns2,
    rfc5681::Rfc5681,
    bsd::Bsd,
    reno::Reno,
}

/// A congestion control. Beside these it has `new(&Start)`, before anything is sent: cwnd is one packet, the SYN.
pub trait CongestionControl {
    /// The SYN is acknowledged, after `rtt` if that was measured: cwnd is now `initial_window` packets.
    fn on_established(&mut self, initial_window: u32, rtt: Option<Nanos>);
    /// An ACK, new or duplicate: one call for each.
    fn on_ack(&mut self, ack: &Ack);
    /// Congestion, with `flight` packets outstanding.
    fn on_congestion(&mut self, event: Congestion, flight: u32, now: Nanos);
    /// Fast recovery is over, `flight` packets are outstanding. Recovery wants no more than `most` in the window,
    /// against a burst (RFC 6582, 3.2, step 3, option 1).
    fn on_recovery_exit(&mut self, _flight: u32, _most: u32) {}
    /// Nothing was lost when [`Self::on_congestion`] was last called without `repeated` (Linux's `undo_cwnd`).
    fn on_spurious(&mut self) {}
    /// Whether it wants to know how far its window is used: [`Self::on_start`], and `cwnd_limited` and `app_limited`
    /// of an [`Ack`]. Without it nobody looks after every packet at what is in flight.
    fn watches_use(&self) -> bool {
        false
    }
    /// A packet is sent with nothing in flight, `idle` after the last one (Linux's `CA_EVENT_TX_START`).
    fn on_start(&mut self, _now: Nanos, _idle: Nanos) {}
    /// Window (at least a packet) and threshold set from outside; `None` leaves one alone.
    fn set_window(&mut self, cwnd: Option<Window256>, ssthresh: Option<Window256>);
    /// cwnd.
    fn cwnd(&self) -> Window256;
    /// ssthresh.
    fn ssthresh(&self) -> Window256;
    /// cwnd in whole packets: how many may be outstanding.
    fn window(&self) -> u32 {
        self.cwnd() / PACKET
    }
    /// Bytes per second at which packets may leave; `None` = as soon as the window allows. No sender paces yet.
    fn pacing_rate(&self) -> Option<u64> {
        None
    }
    /// Whether cwnd is the control's alone also in recovery, where Linux's PRR sets it otherwise (`cong_control`).
    /// For recoveries with PRR.
    fn sets_cwnd_in_recovery(&self) -> bool {
        false
    }
}

/// An ACK, once its numbers are taken in and before anything follows from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// When it arrived.
    pub now: Nanos,
    /// Packets that the cumulative ACK advanced by; 0 = none. ns-2's recovery counts ACKs: 1.
    pub acked: u32,
    /// Packets that it reports, cumulatively or by SACK, and no ACK before it did (Linux's `acked_sacked`).
    pub newly_delivered: u32,
    /// Packets reported so far, the SYN among them.
    pub delivered: u32,
    /// Round trip that it measured.
    pub rtt: Option<Nanos>,
    /// Shortest round trip of the connection.
    pub min_rtt: Option<Nanos>,
    /// Packets outstanding.
    pub flight: u32,
    /// Round trips so far: one ends when a packet is acknowledged that was sent after it began.
    pub round: u32,
    /// Whether cwnd was what held the sender back (Linux's `tcp_is_cwnd_limited`); unless watched, it counts as that.
    pub cwnd_limited: bool,
    /// Whether the application was, if watched: all that it has given is sent.
    pub app_limited: bool,
    /// State of recovery. The ACK that ends fast recovery is still part of it.
    pub state: State,
}

impl Ack {
    /// Whether it may open the window of a control that grows by cumulative ACKs outside fast recovery (RFC 5681).
    #[inline]
    pub fn opens_window(&self) -> bool {
        self.acked > 0 && self.state != State::Recovery
    }
}

/// State of recovery (Linux's `icsk_ca_state`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Nothing is being repaired.
    Open,
    /// Fast recovery.
    Recovery,
    /// The timer expired, and what was outstanding then is not yet acknowledged.
    Loss,
}

/// Events that a control answers with a smaller window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    /// Fast recovery begins.
    FastRetransmit,
    /// The retransmission timer expired; `repeated`: not for the first time since `snd_una` advanced.
    Timeout {
        /// See above.
        repeated: bool,
    },
    /// The network marked a packet (RFC 3168).
    Ecn,
}

/// Facts that a control knows at its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// Bytes of a full segment.
    pub mss: u16,
    /// Largest window that the receiver offers, packets.
    pub receive_window: u32,
    /// Packets at which slow start ends; [`NO_SSTHRESH`] = "arbitrarily high" (RFC 5681, 3.1).
    pub initial_ssthresh: u32,
}

/// A packet as [`Window256`] counts it.
const PACKET: Window256 = 256;
/// ssthresh "arbitrarily high" (RFC 5681, 3.1), packets.
pub const NO_SSTHRESH: u32 = u32::MAX / PACKET;
/// The same as [`CongestionControl::ssthresh`] shows it.
const INFINITE: Window256 = u32::MAX;

#[cfg(test)]
impl Ack {
    /// An ACK of `acked` packets, with a window in full use, in no recovery.
    fn of(acked: u32) -> Self {
        Self {
            now: 0,
            acked,
            newly_delivered: acked,
            delivered: acked,
            rtt: None,
            min_rtt: None,
            flight: 0,
            round: 0,
            cwnd_limited: true,
            app_limited: false,
            state: State::Open,
        }
    }
}
