//! Congestion control: how large the window is. One file per rule set.
//!
//! Events are distinct calls, never merged (a controller that cannot tell a timeout from a fast
//! retransmit cuts twice).

mod bsd;
mod ns2;
mod rfc5681;

pub use bsd::BsdWindow;
pub use ns2::Ns2Window;
pub use rfc5681::Rfc5681;

use crate::{Nanos, Window256};

/// A congestion control.
pub trait CongestionControl {
    /// `acked` packets were newly acknowledged outside recovery.
    fn on_new_ack(&mut self, acked: u32);
    /// A duplicate ACK.
    fn on_dup_ack(&mut self) {}
    /// A valid RTT sample.
    fn on_rtt_sample(&mut self, _rtt: Nanos) {}
    /// Fast retransmit with `flight` packets outstanding.
    fn on_fast_retransmit(&mut self, flight: u32);
    /// The retransmission timer expired with `flight` packets outstanding; `repeated`: not for
    /// the first time since `snd_una` advanced.
    fn on_timeout(&mut self, flight: u32, repeated: bool);
    /// Fast recovery is over, `flight` packets are outstanding.
    fn on_recovery_exit(&mut self, _flight: u32) {}
    /// Recovery has ended with less than a window outstanding (RFC 6582, 3.2, step 3, option 1): a
    /// cwnd above `most` packets would be sent as one burst.
    fn on_little_outstanding(&mut self, _most: u32) {}
    /// A D-SACK arrived.
    fn on_dsack(&mut self) {}
    /// Window and threshold set from outside; `None` leaves one alone.
    fn on_notice(&mut self, cwnd: Option<Window256>, ssthresh: Option<Window256>);
    /// An ECN echo with `flight` packets outstanding.
    fn on_ecn(&mut self, _flight: u32) {}
    /// The connection is established and may send its initial window.
    fn on_established(&mut self, initial_window: u32);
    /// cwnd in whole packets, rounded down: what may be outstanding.
    fn window(&self) -> u32;
    /// cwnd.
    fn cwnd(&self) -> Window256;
    /// ssthresh.
    fn ssthresh(&self) -> Window256;
}

/// The rule sets a profile can choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionRules {
    /// ns-2 2.35 with `precisionReduce_` off.
    Ns2,
    /// RFC 5681.
    Rfc5681,
    /// [`BsdWindow`].
    Bsd,
}

/// A congestion control, dispatched statically.
#[derive(Clone, Debug)]
pub enum Congestion {
    /// ns-2 2.35.
    Ns2(Ns2Window),
    /// RFC 5681.
    Rfc5681(Rfc5681),
    /// 4.4BSD.
    Bsd(BsdWindow),
}

impl Congestion {
    /// Fresh state; `limit` is the largest window that the profile allows, `ssthresh` where slow start ends under the
    /// rules of RFC 5681, packets; `mss` the size in which BSD's count, bytes.
    pub fn new(rules: CongestionRules, limit: u32, ssthresh: u32, mss: u16) -> Self {
        match rules {
            CongestionRules::Ns2 => Self::Ns2(Ns2Window::new(limit)),
            CongestionRules::Rfc5681 => Self::Rfc5681(Rfc5681::new(ssthresh)),
            CongestionRules::Bsd => Self::Bsd(BsdWindow::new(limit, mss)),
        }
    }
}

macro_rules! dispatch {
    ($($(#[$meta:meta])* fn $name:ident(&mut self $(, $arg:ident: $ty:ty)*);)*) => {
        $(#[inline] fn $name(&mut self $(, $arg: $ty)*) {
            match self {
                Self::Ns2(c) => c.$name($($arg),*),
                Self::Rfc5681(c) => c.$name($($arg),*),
                Self::Bsd(c) => c.$name($($arg),*),
            }
        })*
    };
}

impl CongestionControl for Congestion {
    dispatch! {
        fn on_new_ack(&mut self, acked: u32);
        fn on_dup_ack(&mut self);
        fn on_rtt_sample(&mut self, rtt: Nanos);
        fn on_fast_retransmit(&mut self, flight: u32);
        fn on_timeout(&mut self, flight: u32, repeated: bool);
        fn on_recovery_exit(&mut self, flight: u32);
        fn on_little_outstanding(&mut self, most: u32);
        fn on_dsack(&mut self);
        fn on_notice(&mut self, cwnd: Option<Window256>, ssthresh: Option<Window256>);
        fn on_ecn(&mut self, flight: u32);
        fn on_established(&mut self, initial_window: u32);
    }

    #[inline]
    fn window(&self) -> u32 {
        match self {
            Self::Ns2(c) => c.window(),
            Self::Rfc5681(c) => c.window(),
            Self::Bsd(c) => c.window(),
        }
    }

    fn cwnd(&self) -> Window256 {
        match self {
            Self::Ns2(c) => c.cwnd(),
            Self::Rfc5681(c) => c.cwnd(),
            Self::Bsd(c) => c.cwnd(),
        }
    }

    fn ssthresh(&self) -> Window256 {
        match self {
            Self::Ns2(c) => c.ssthresh(),
            Self::Rfc5681(c) => c.ssthresh(),
            Self::Bsd(c) => c.ssthresh(),
        }
    }
}
