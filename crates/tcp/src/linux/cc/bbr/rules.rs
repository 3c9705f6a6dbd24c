//! The rules in which a control that is made from BBR differs. The defaults are those of `tcp_bbr.c`, and cost nothing: a
//! control is compiled with its rules, not asked about them.

use super::{CYCLE, Mode};

/// Parts of BBR that another control replaces, beside what it must hear for that.
pub trait Rules: Clone + std::fmt::Debug + Default {
    /// Seconds of `min_rtt`'s window.
    const MIN_RTT_WINDOW_S: u32 = 10;
    /// ProbeRtt's window in products of bandwidth and `min_rtt`, in 1/256, if that is more than the least.
    const PROBE_RTT_GAIN: Option<u32> = None;
    /// Whether the last round trip of ProbeRtt is `min_rtt`, in place of the smallest.
    const PROBE_RTT_RENEWS: bool = false;
    /// Whether policers are looked for.
    const LONG_TERM: bool = true;

    /// Somebody around the control knows that the path is about to change, or that this time is over.
    fn path_changes_soon(&mut self, _is_near: bool) {}

    /// An ACK is about to move the model. `round`: in ProbeBw, and a round trip ends.
    #[inline]
    fn ack_begins(&mut self, _round: bool) {}

    /// A round trip begins.
    #[inline]
    fn round_begins(&mut self) {}

    /// The delivery rate of an ACK, its round trip in us, or -1, and the mode.
    #[inline]
    fn sampled(&mut self, _bw: u32, _rtt_us: i64, _mode: Mode) {}

    /// Whether ProbeRtt begins; `expired`: `min_rtt` is older than its window.
    #[inline]
    fn probes_rtt(&self, mode: Mode, expired: bool) -> bool {
        expired && mode != Mode::ProbeRtt
    }

    /// ProbeRtt is over: whether Startup begins anew, and with which bandwidth.
    #[inline]
    fn starts_anew(&self) -> Option<u32> {
        None
    }

    /// Startup has filled the pipe.
    #[inline]
    fn startup_is_over(&mut self) {}

    /// ProbeBw's gain of the rate in a phase.
    #[inline]
    fn pacing_gain(&self, phase: usize) -> u32 {
        CYCLE[phase]
    }

    /// The model has moved: the bandwidth to go by at this ACK, if it is not the largest of the window. The ACK's round
    /// trip, or -1, and `min_rtt`, in us.
    #[inline]
    fn bandwidth(&mut self, _mode: Mode, _rtt_us: i64, _min_rtt_us: u32) -> Option<u32> {
        None
    }
}

/// BBR itself.
#[derive(Clone, Debug, Default)]
pub struct Plain;

impl Rules for Plain {}
