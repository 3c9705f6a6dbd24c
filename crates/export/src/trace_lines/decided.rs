//! A decision of a scheme in a trace's line: the event that it answers, and what it asks for.

use super::AdviceLine;
use segue_handoff::{Decision, Occasion};
use segue_tcp::advice::MinRto;

/// 1/256 packet in packets.
pub(super) fn in_packets(window: u32) -> f64 {
    f64::from(window) / 256.0
}

/// Name of the event.
pub(super) fn occasion(decision: &Decision) -> &'static str {
    match decision.occasion {
        Occasion::Notice(_) => "notice",
        Occasion::Start(_) => "start",
        Occasion::Finish => "finish",
        Occasion::Deadline => "deadline",
        Occasion::NewAck => "new_ack",
        Occasion::DupAck => "dup_ack",
        Occasion::FastRetransmit => "fast_retransmit",
        Occasion::Mark => "mark",
        Occasion::Timeout => "timeout",
        Occasion::RttSample(_) => "rtt_sample",
    }
}

/// Requests of the answer.
pub(super) fn advice(decision: &Decision) -> AdviceLine {
    let advice = &decision.advice;
    let kernel = &advice.kernel;
    let also = [
        (advice.retransmit_head, "retransmit_head"),
        (advice.room_for_one, "room_for_one"),
        (advice.rearm_timer, "rearm_timer"),
        (advice.extend_timer, "extend_timer"),
        (advice.clear_backoff, "clear_backoff"),
        (advice.reinit_rtt, "reinit_rtt"),
        (advice.keep_window, "keep_window"),
        (advice.keep_cwnd, "keep_cwnd"),
        (advice.keep_ssthresh, "keep_ssthresh"),
        (advice.hold_holes, "hold_holes"),
        (advice.send_new, "send_new"),
        (advice.beyond_window, "beyond_window"),
        (advice.suspend, "suspend"),
        (advice.resume, "resume"),
        (advice.resume_recovery, "resume_recovery"),
        (advice.ignore_sample, "ignore_sample"),
        (kernel.anew.is_some(), "anew"),
        (kernel.path.is_some(), "path"),
        (kernel.hold_window == Some(true), "hold_window"),
        (kernel.hold_window == Some(false), "free_window"),
        (kernel.keep_w_max == Some(true), "hurry"),
        (kernel.keep_w_max == Some(false), "no_hurry"),
        (kernel.path_changes_soon == Some(true), "reconfigures"),
        (kernel.path_changes_soon == Some(false), "no_reconfiguration"),
        (kernel.min_rtt.is_some(), "min_rtt"),
        (kernel.probe_head, "probe_head"),
    ];
    AdviceLine {
        cwnd: advice.cwnd.map(in_packets),
        ssthresh: advice.ssthresh.map(in_packets),
        min_rto_ns: advice.min_rto.map(|floor| match floor {
            MinRto::Own => 0,
            MinRto::AtLeast(floor) => floor,
        }),
        dupthresh: advice.dupthresh,
        also: also.into_iter().filter(|(asked, _)| *asked).map(|(_, name)| name).collect(),
    }
}
