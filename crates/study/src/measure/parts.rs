//! Measures that are several numbers.

use serde::{Deserialize, Serialize};

/// Lower quartile, median and upper quartile; `None` (JSON null) = infinite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Quartiles {
    /// 25 %.
    pub q1: Option<f64>,
    /// 50 %.
    pub median: Option<f64>,
    /// 75 %.
    pub q3: Option<f64>,
}

/// Ratio to the bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OverBound {
    /// 50 %.
    pub median: Option<f64>,
    /// 90 %.
    pub p90: Option<f64>,
}

/// Where the time of the new link's data direction went, mean s per handoff.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NewLink {
    /// Bytes first received by this packet.
    pub useful: f64,
    /// Bytes that had been received.
    pub needless: f64,
    /// Idle, data on its way to the link or last ACKs awaited.
    pub idle_path: f64,
    /// Idle, a window forbids to send.
    pub idle_window: f64,
    /// Idle, every sender waits for a timer.
    pub idle_timer: f64,
    /// Idle for another reason.
    pub idle_other: f64,
    /// Packets of neighbours, where there are any.
    #[serde(default, skip_serializing_if = "is_none_at_all")]
    pub neighbours: f64,
}

fn is_none_at_all(time: &f64) -> bool {
    *time == 0.0
}

/// Bytes that the neighbours on the new link received in the time after completion that is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NeighboursKept {
    /// Over what they receive without the handoff, all handoffs together; `None`: nothing without it.
    pub kept: Option<f64>,
    /// Bytes, mean per handoff.
    pub received_bytes: f64,
    /// The same without the handoff.
    pub undisturbed_bytes: f64,
    /// Bytes of the one that received least, where a time was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least_bytes: Option<f64>,
}

/// A class of the user's traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OfTraffic {
    /// How long things took, all handoffs pooled, s; `None` = infinite.
    pub completion_median_s: Option<f64>,
    /// The same, 95 %.
    pub completion_p95_s: Option<f64>,
    /// Waits of more than 200 ms without progress, s, mean per handoff.
    pub stall_s: f64,
    /// From the sending of a data packet to its arrival, s, 95 %; `None`: there was none.
    pub delay_p95_s: Option<f64>,
    /// Things that are measured, mean per handoff.
    pub count: f64,
}

/// The frames of a video call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OfVideo {
    /// How long frames took, all handoffs pooled, s; `None` = infinite.
    pub completion_median_s: Option<f64>,
    /// The same, 95 %.
    pub completion_p95_s: Option<f64>,
    /// Waits of more than 200 ms without progress, s, mean per handoff.
    pub stall_s: f64,
    /// From the sending of a data packet to its arrival, s, 95 %; `None`: there was none.
    pub delay_p95_s: Option<f64>,
    /// Frames late by more than 100 ms, mean per handoff.
    pub late_frames: f64,
    /// Frames, mean per handoff.
    pub count: f64,
}

/// Queueing delay at the new access queue, s, all points pooled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QueueDelay {
    /// 50 %.
    pub median: Option<f64>,
    /// 95 %.
    pub p95: Option<f64>,
}

/// Against the first scheme over the same handoffs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AgainstFirst {
    /// Median of the ratio per handoff; `None` = infinite.
    pub ratio_median: Option<f64>,
    /// Share of handoffs that are better by more than 5 %.
    pub better: f64,
    /// Share of handoffs that are worse by more than 5 %.
    pub worse: f64,
}
