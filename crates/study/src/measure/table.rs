//! The table of measures. A new measure is one entry. From it come JSON, CSV, Arrow and Parquet, the columns of tables
//! and pages, and what `segue diff` compares. docs/reference/measures.md comes from it, too
//! (`segue measures --markdown` writes it). An entry reads:
//!
//! ```text
//! /// Its definition.
//! field of the row: type = its value over all handoffs [, each type = its value in one handoff] => {
//!     the number in that field as name in CSV: type, unit, noise, "its meaning"
//!         [, column Name "word in files" "heading" ["heading of a page"]];
//! }
//! ```
//!
//! Entries after `optional` are of what not every question has. A row without it has no such field, and a file without
//! such rows no such column.
//!
//! The order is that of JSON and CSV. `{first}` stands for the name of the first scheme. Averages over handoffs, and
//! the values of one handoff, are read from the [`RunRecord`].

use super::define::measures;
use super::parts::{
    AgainstFirst, NeighboursKept, NewLink, OfTraffic, OfVideo, OverBound, Quartiles, QueueDelay,
};
use super::sample::{
    Sample, fast_retransmits, jain, seconds, spurious_timeouts, timeouts, timeouts_in_disconnection,
};
use super::{EachKind, EachMeasure, Measure, Noise, Number, Shown, Unit};
use crate::planned::PlannedScheme;
use crate::request::Plan;
use segue_world::traffic::Class;
use segue_world::{Experiment, RunRecord};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

measures! {
    /// Handoffs whose transfer did not complete within 400 s.
    incomplete: usize = |all| all.handoffs.iter().filter(|one| one.transfer.is_none()).count() => {
        incomplete as incomplete: usize, Handoffs, Share, "handoffs whose transfer did not complete",
            column Incomplete "incomplete" "incomplete";
    }

    /// Transfer time: from completion until the cumulative ACK of the slowest flow reaches its target. Quartiles by
    /// linear interpolation (type 7); null if infinite.
    transfer_s: Quartiles = |all| all.transfer_times(), each Option<f64> = |one| one.transfer.map(seconds) => {
        transfer_s.q1 as transfer_q1_s: Option<f64>, Seconds, Unknown, "transfer time in seconds, lower quartile",
            column Q1 "q1" "Q1" "Q1, s";
        transfer_s.median as transfer_median_s: Option<f64>, Seconds, Notch, "transfer time in seconds, median",
            column Median "median" "median" "median, s";
        transfer_s.q3 as transfer_q3_s: Option<f64>, Seconds, Unknown, "transfer time in seconds, upper quartile",
            column Q3 "q3" "Q3" "Q3, s";
    }

    /// The physical bound of the same handoff, which no sender can beat.
    bound_s: Option<f64> = |all| all.median_bound(|one| one.bound), each f64 = |one| seconds(one.bound) => {
        bound_s as bound_s: Option<f64>, Seconds, Unknown,
            "least time that any sender needs on these links, in seconds, median",
            column Bound "bound" "bound";
    }

    /// Transfer time over the bound of the same handoff.
    over_bound: OverBound = |all| all.over_bounds(|one| one.bound) => {
        over_bound.median as over_bound_median: Option<f64>, TimesBound, Unknown,
            "transfer time over the least that any sender needs, median",
            column OverBound "over_bound" "x bound" "\u{d7} bound";
        over_bound.p90 as over_bound_p90: Option<f64>, TimesBound, Unknown,
            "transfer time over the least that any sender needs, 90th percentile",
            column OverBoundP90 "over_bound_p90" "p90" "p90";
    }

    /// Expiries of the retransmission timer from completion to the end.
    timeouts: f64 = |all| all.mean(timeouts), each usize = timeouts => {
        timeouts as timeouts: f64, PerHandoff, Count, "retransmission timeouts per handoff",
            column Timeouts "timeouts" "RTO" "timeouts";
    }

    /// Timeouts whose packet was not lost: the last copy of the first unacknowledged packet that was sent before the
    /// expiry is delivered after all. A packet that the receiver refuses (PAWS) was lost.
    spurious_timeouts: f64 = |all| all.mean(spurious_timeouts), each usize = spurious_timeouts => {
        spurious_timeouts as spurious_timeouts: f64, PerHandoff, Count,
            "spurious timeouts per handoff: the packet was not lost",
            column SpuriousTimeouts "spurious_timeouts" "spur" "spurious";
    }

    /// Share of handoffs with a spurious timeout.
    spurious_timeout_fraction: f64 = |all| all.share(|one| spurious_timeouts(one) > 0) => {
        spurious_timeout_fraction as spurious_timeout_fraction: f64, Share, Share,
            "share of handoffs with a spurious timeout",
            column SpuriousTimeoutFraction "spurious_timeout_fraction" "with spur";
    }

    /// Expiries of the retransmission timer between T and completion.
    timeouts_in_disconnection: f64 = |all| all.mean(timeouts_in_disconnection),
        each usize = timeouts_in_disconnection =>
    {
        timeouts_in_disconnection as timeouts_in_disconnection: f64, PerHandoff, Count,
            "timeouts during the disconnection, per handoff",
            column TimeoutsInDisconnection "timeouts_in_disconnection" "RTO in gap";
    }

    /// Entries into fast recovery.
    fast_retransmits: f64 = |all| all.mean(fast_retransmits), each usize = fast_retransmits => {
        fast_retransmits as fast_retransmits: f64, PerHandoff, Count, "fast retransmits per handoff",
            column FastRetransmits "fast_retransmits" "FR" "fast retransmits";
    }

    /// Packets that found a queue full, data and ACKs.
    drops: f64 = |all| all.mean(|one| one.drops), each u32 = |one| one.drops => {
        drops as drops: f64, PerHandoff, Count, "packets that found a queue full, ACKs included, per handoff",
            column Drops "drops" "drops" "drops";
    }

    /// Packets that came out of the old link after T: data, ACKs and window probes.
    lost_in_disconnection: f64 = |all| all.mean(|one| one.lost_in_disconnection),
        each u32 = |one| one.lost_in_disconnection =>
    {
        lost_in_disconnection as lost_in_disconnection: f64, PerHandoff, Count,
            "packets lost in the disconnection, per handoff",
            column LostInDisconnection "lost_in_disconnection" "lost in gap";
    }

    /// Packets sent again after completion.
    retransmissions: f64 = |all| all.mean(|one| one.retransmissions), each u32 = |one| one.retransmissions => {
        retransmissions as retransmissions: f64, PerHandoff, Count, "packets sent again, per handoff",
            column Retransmissions "retransmissions" "rexmit" "resent";
    }

    /// Retransmissions whose every byte had been received when they arrived. Where the copy overtakes the original (slow
    /// to fast link), the copy is useful and the original comes too late: neither counts.
    needless_retransmissions: f64 = |all| all.mean(|one| one.needless_retransmissions),
        each u32 = |one| one.needless_retransmissions =>
    {
        needless_retransmissions as needless_retransmissions: f64, PerHandoff, Count,
            "packets sent again that brought nothing new, per handoff",
            column NeedlessRetransmissions "needless_retransmissions" "needless" "needless";
    }

    /// Where the time of the new link's data direction went, from completion to the end: mean seconds per handoff in
    /// each class. An idle instant has the first class that applies.
    new_link_s: NewLink = |all| all.link_times() => {
        new_link_s.useful as useful_s: f64, Seconds, Unknown,
            "it carried bytes that the mobile did not have, packets beyond the target among them";
        new_link_s.needless as needless_s: f64, Seconds, Unknown,
            "it carried bytes that the mobile had or refused (PAWS), or a window probe";
        new_link_s.idle_path as idle_path_s: f64, Seconds, Unknown,
            "idle: data was on its way to the link, or only ACKs of the last target packets were awaited";
        new_link_s.idle_window as idle_window_s: f64, Seconds, Unknown,
            "idle: a sender had data that its window forbade, and was not in RTO recovery";
        new_link_s.idle_timer as idle_timer_s: f64, Seconds, Unknown, "idle: every sender waited for a timer";
        new_link_s.idle_other as idle_other_s: f64, Seconds, Unknown,
            "idle for another reason, mostly slow start in RTO recovery, between its round trips";
    }

    /// Wait of each data packet at the new access queue, all handoffs pooled.
    queue_delay_s: QueueDelay = |all| all.queue_delays() => {
        queue_delay_s.median as queue_delay_median_s: Option<f64>, Delay, Unknown,
            "wait at the new link's queue in seconds, median",
            column QueueDelay "queue_delay" "queue";
        queue_delay_s.p95 as queue_delay_p95_s: Option<f64>, Delay, Unknown,
            "wait at the new link's queue in seconds, 95th percentile",
            column QueueDelayP95 "queue_delay_p95" "queue p95";
    }

    /// Jain's index of the bytes that each flow newly acknowledged.
    jain: f64 = |all| all.mean(|one| jain(&one.acknowledged)) => {
        jain as jain: f64, Index, Unknown, "Jain's index of fairness among the flows; 1 is fair",
            column Jain "jain" "Jain";
    }

    /// Transfer time over that of the first scheme in the same handoff; 1 where neither completes, for which tables have a
    /// dash.
    against_first: AgainstFirst = |all| all.against_first() => {
        against_first.ratio_median as ratio_to_first_median: Option<f64>, TimesFirst, Unknown,
            "transfer time over that of {first} in the same handoff, median; below 1 is faster",
            column RatioToFirst "ratio_to_first" "vs first" "vs first";
        against_first.better as better_than_first: f64, Share, Share,
            "share of handoffs faster than {first} by more than 5 %",
            column BetterThanFirst "better_than_first" "better";
        against_first.worse as worse_than_first: f64, Share, Share,
            "share of handoffs slower than {first} by more than 5 %",
            column WorseThanFirst "worse_than_first" "worse";
    }

    /// The bound given the notice: what no sender can beat that is regular TCP until a notice can be with it. With an
    /// instant notice it is the physical bound; after an outage also for schemes that act before it or at routers.
    bound_told_s: Option<f64> = |all| all.median_bound(|one| one.bound_told), each f64 = |one| seconds(one.bound_told) => {
        bound_told_s as bound_told_s: Option<f64>, Seconds, Unknown,
            "least time that a sender needs that knows nothing before a notice can come, in seconds, median",
            column BoundTold "bound_told" "told";
    }

    /// Transfer time over the bound given the notice of the same handoff.
    over_bound_told: OverBound = |all| all.over_bounds(|one| one.bound_told) => {
        over_bound_told.median as over_bound_told_median: Option<f64>, TimesBound, Unknown,
            "transfer time over the least that a sender needs once a notice can have come, median",
            column OverBoundTold "over_bound_told" "x told";
        over_bound_told.p90 as over_bound_told_p90: Option<f64>, TimesBound, Unknown,
            "transfer time over the least that a sender needs once a notice can have come, 90th percentile",
            column OverBoundToldP90 "over_bound_told_p90" "told p90";
    }

    optional {
        /// Data that the neighbours on the new link receive in 2 s after completion, or as asked (`--neighbours`).
        neighbours: NeighboursKept = |all| all.neighbours() => {
            kept as neighbours_kept, TimesUndisturbed,
                "bytes over those without the handoff, all handoffs together; infinite if there were none";
            received_bytes as neighbours_received_bytes, Bytes, "bytes in that time";
            undisturbed_bytes as neighbours_undisturbed_bytes, Bytes, "the same without the handoff";
        }

        /// Long downloads (`--traffic`).
        download: OfTraffic = |all| all.traffic(Class::Download) => {
            completion_median_s as download_completion_median_s, Seconds,
                "from completion until the slowest download has reached its target, in seconds, median";
            completion_p95_s as download_completion_p95_s, Seconds, "the same, 95th percentile";
            stall_s as download_stall_s, Seconds, "waits of more than 200 ms without progress, in seconds, mean";
            delay_p95_s as download_delay_p95_s, Delay, "one-way delay of data packets in seconds, 95th percentile";
            count as download_count, PerHandoff, "transfers that are measured, per handoff";
        }

        /// Long uploads (`--traffic`).
        upload: OfTraffic = |all| all.traffic(Class::Upload) => {
            completion_median_s as upload_completion_median_s, Seconds,
                "from completion until the slowest upload has reached its target, in seconds, median";
            completion_p95_s as upload_completion_p95_s, Seconds, "the same, 95th percentile";
            stall_s as upload_stall_s, Seconds, "waits of more than 200 ms without progress, in seconds, mean";
            delay_p95_s as upload_delay_p95_s, Delay, "one-way delay of data packets in seconds, 95th percentile";
            count as upload_count, PerHandoff, "transfers that are measured, per handoff";
        }

        /// Responses, one after the other (`--traffic`).
        request: OfTraffic = |all| all.traffic(Class::Request) => {
            completion_median_s as request_completion_median_s, Seconds,
                "from the sending of a response until the mobile has all of it, in seconds, median";
            completion_p95_s as request_completion_p95_s, Seconds, "the same, 95th percentile";
            stall_s as request_stall_s, Seconds, "waits of more than 200 ms without progress, in seconds, mean";
            delay_p95_s as request_delay_p95_s, Delay, "one-way delay of data packets in seconds, 95th percentile";
            count as request_count, PerHandoff, "responses that are measured, per handoff";
        }

        /// Frames of a video call (`--traffic`).
        video: OfVideo = |all| all.video() => {
            completion_median_s as video_completion_median_s, Seconds,
                "from the making of a frame until the mobile has all of it, in seconds, median";
            completion_p95_s as video_completion_p95_s, Seconds, "the same, 95th percentile";
            stall_s as video_stall_s, Seconds, "waits of more than 200 ms without progress, in seconds, mean";
            delay_p95_s as video_delay_p95_s, Delay, "one-way delay of data packets in seconds, 95th percentile";
            late_frames as video_late_frames, PerHandoff, "frames late by more than 100 ms, per handoff";
            count as video_count, PerHandoff, "frames that are measured, per handoff";
        }

        /// Pages of the web (`--traffic`).
        page: OfTraffic = |all| all.traffic(Class::Page) => {
            completion_median_s as page_completion_median_s, Seconds,
                "from the sending of a page until the mobile has all of it, in seconds, median";
            completion_p95_s as page_completion_p95_s, Seconds, "the same, 95th percentile";
            stall_s as page_stall_s, Seconds, "waits of more than 200 ms without progress, in seconds, mean";
            delay_p95_s as page_delay_p95_s, Delay, "one-way delay of data packets in seconds, 95th percentile";
            count as page_count, PerHandoff, "pages that are measured, per handoff";
        }
    }
}

fn one() -> u64 {
    1
}

fn is_one(n: &u64) -> bool {
    *n == 1
}
