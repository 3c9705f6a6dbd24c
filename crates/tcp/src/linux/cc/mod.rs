//! Linux's congestion controls: one file and one test file each; their list is `controls!` below.
//!
//! The sender ([`Sock`] is what a control sees of it) decides what is delivered, lost and undone. A control says how
//! large the window is and, if it likes, how fast packets leave. Names are the kernel's, so that both can be read
//! side by side. Windows and sequence numbers count packets.

use crate::advice::Anew;

#[macro_use]
mod registry;
pub mod minmax;
pub mod rate;
mod sock;

pub use minmax::MinMax;
pub use rate::{RateSample, TxStamp};
pub use sock::{CaState, INFINITE_SSTHRESH, INIT_CWND, PacingStatus, Sock};

controls! {
    bbr::Bbr,
    bbr3::Bbr3,
    cubic::Cubic,
    leocc::Leocc,
    reno::Reno,
}

impl CcName {
    /// Whether a released kernel has it, against which it was held.
    pub fn is_released(self) -> bool {
        !matches!(self, Self::Bbr3 | Self::Leocc)
    }
}

/// A congestion control (`struct tcp_congestion_ops`). Beside these it has `new(seed)`: all zero.
///
/// In the order of a connection's life. The sender calls, per ACK: [`pkts_acked`](Self::pkts_acked), then
/// [`ssthresh`](Self::ssthresh) and [`set_state`](Self::set_state) if the state changes, then one of
/// [`cong_control`](Self::cong_control) and [`cong_avoid`](Self::cong_avoid).
pub trait CongestionOps {
    /// The handshake is over (`tcp_init_congestion_control`): cwnd is the initial window, srtt that of the SYN.
    fn init(&mut self, _sk: &mut Sock) {}

    /// An ACK has taken packets off the queue or marked them SACKed (`tcp_clean_rtx_queue`).
    fn pkts_acked(&mut self, _sk: &mut Sock, _sample: &AckSample) {}

    /// A packet has just been marked lost (BBRv3's `skb_marked_lost`).
    fn skb_marked_lost(&mut self, _sk: &mut Sock, _stamp: &TxStamp) {}

    /// A reduction begins: the new threshold. Once per episode, before the state changes.
    fn ssthresh(&mut self, sk: &Sock) -> u32;

    /// `sk.ca_state` is about to become `new`; it may be the state that it has.
    fn set_state(&mut self, _sk: &mut Sock, _new: CaState) {}

    /// Something else has happened.
    fn cwnd_event(&mut self, _sk: &mut Sock, _event: CaEvent) {}

    /// Whether [`cong_control`](Self::cong_control) alone sets cwnd and pacing rate: no PRR, no restart after idle.
    fn has_cong_control(&self) -> bool {
        false
    }

    /// `acked` packets of an ACK that may open the window; not in CWR and Recovery, where PRR sets cwnd.
    fn cong_avoid(&mut self, _sk: &mut Sock, _acked: u32) {}

    /// Every ACK in every state, in place of `cong_avoid` and PRR.
    fn cong_control(&mut self, _sk: &mut Sock, _rs: &RateSample) {}

    /// The reduction was needless: the new cwnd.
    fn undo_cwnd(&mut self, sk: &Sock) -> u32;

    /// Programs around it have set the window: what it knows of the path is old (bpf/sender/cubic.h, bbr.h).
    fn start_anew(&mut self, _sk: &mut Sock, _why: Anew) {}

    /// Whether losses are to be expected that say nothing of the path: W_max stays (the kernel module of SaTCP).
    fn keep_w_max(&mut self, _keeps: bool) {}

    /// Whether the path is about to change, by a schedule (the kernel module of LeoCC).
    fn path_changes_soon(&mut self, _is_near: bool) {}

    /// Whether it knows the path's rate (`full_bw_reached`), or needs none.
    fn full_bw_reached(&self) -> bool {
        true
    }

    /// Programs around it know that the path's smallest round trip is another one.
    fn set_min_rtt(&mut self, _sk: &Sock, _min_rtt_us: u32) {}

    /// How HyStart ended slow start last.
    fn hystart_end(&self) -> Option<HyStartEnd> {
        None
    }

    /// Least segments of a burst, in place of `tcp_min_tso_segs`.
    fn min_tso_segs(&self, _sk: &Sock) -> Option<u32> {
        None
    }
}

/// Packets that an ACK took off the queue (`struct ack_sample`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckSample {
    /// Packets newly acknowledged, cumulatively.
    pub pkts_acked: u32,
    /// Round trip of the last of them that was sent once, us; -1 = none.
    pub rtt_us: i64,
}

/// An end of slow start by HyStart (`hystart_update`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HyStartEnd {
    /// `tcp_mstamp`: when, us since boot.
    pub at_us: u64,
    /// Why.
    pub sign: HyStartSign,
    /// ssthresh before, packets.
    pub before: u32,
    /// ssthresh from then on, packets: cwnd.
    pub ssthresh: u32,
}

/// A sign of a full path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HyStartSign {
    /// ACKs in close succession span half of the round trip (`HYSTART_ACK_TRAIN`).
    AckTrain,
    /// Round trips have risen by an eighth (`HYSTART_DELAY`).
    RoundTrips,
}

/// `enum tcp_ca_event`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaEvent {
    /// Data is sent with nothing in flight; `sk.lsndtime` still is the time of the last send before.
    TxStart,
    /// cwnd has been cut after idle time (`tcp_cwnd_restart`).
    CwndRestart,
    /// CWR or Recovery ends, cwnd is down.
    CompleteCwr,
    /// The timer has expired and ssthresh is cut (`tcp_enter_loss`).
    Loss,
    /// A tail loss probe has repaired a loss (BBRv3's `CA_EVENT_TLP_RECOVERY`).
    TlpRecovery,
}

#[cfg(test)]
mod tests;
