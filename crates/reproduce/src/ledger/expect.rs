//! The expectation of a claim, as a ledger names it: operations over measures.

use super::{Part, Several};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A measure of a handoff, or of a drive with one seed of its traffic. Times in s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Transfer time; infinite if incomplete.
    Transfer,
    /// Shortest possible time (docs/reference/bounds.md).
    Bound,
    /// Timeouts from completion to the end.
    Timeouts,
    /// Those that were spurious.
    SpuriousTimeouts,
    /// Timeouts between T and completion.
    TimeoutsInDisconnection,
    /// Both: from T to the end.
    TimeoutsFromT,
    /// Entries into fast recovery from completion to the end.
    FastRetransmits,
    /// Those whose packet was not lost.
    FalseFastRetransmits,
    /// In queues, data and ACKs.
    Drops,
    /// Data alone.
    DataDrops,
    /// In the disconnection, data and ACKs.
    LostInDisconnection,
    /// Packets sent again.
    Retransmissions,
    /// Those that brought nothing.
    NeedlessRetransmissions,
    /// From completion until a sender first sends anything.
    Unused,
    /// From completion to the first timeout; infinite if there is none.
    FirstTimeout,
    /// Packets outstanding at T, all flows.
    FlightAtT,
    /// Needless retransmissions over [`FlightAtT`](Self::FlightAtT), in handoffs with one timeout, which was
    /// spurious; others have no value.
    WindowResent,
    /// RTO at T, the largest of the flows.
    RtoAtT,
    /// Packets sent from completion until all that was sent before is acknowledged, the flows' sum.
    SentWhileDraining,
    /// Drive: all flows to the mobile, kbit/s.
    MobileThroughput,
    /// Drive: all cross traffic, kbit/s.
    CrossThroughput,
    /// Drive: data packets lost with the old link, mean of its handoffs, as are the next three.
    LostWithOldLink,
    /// Drive: from link-up until data reaches the new link, of the handoffs in which some did.
    IdleAfterLinkUp,
    /// Drive: in the first five seconds of data over the new link, the share in which it sent nothing.
    UnusedAtFirst,
    /// Drive: data packets that its queue dropped meanwhile.
    OvershootDrops,
    /// Cells: packets acknowledged per second of the sojourns; one value per run, as are the next two.
    CellThroughput,
    /// Cells: packets sent again per handoff, over W_max.
    ResentPerWindow,
    /// Cells: packets sent again, over those and the acknowledged ones.
    ResentShare,
    /// Cells: duplicate ACKs in the round trip that begins with the first ACK after link-up, as the next of each handoff.
    BurstOfDuplicates,
    /// Cells: ssthresh when the sojourn ends, packets.
    SsthreshAfterHandoff,
    /// Cells: from link-up to the first fast retransmit; infinite if there is none.
    FastRetransmitAfter,
    /// Cells, runs of one or two handoffs: packets sent from link-up until the sojourn ends, after the last, as are the next two.
    PacketsInSojourn,
    /// Cells: from link-up until the window is ssthresh.
    AvoidanceAfter,
    /// Cells: from link-up until the window is W_max.
    LargestWindowAfter,
    /// Download: mean throughput with the L2 handoff delay subtracted from the time, kbit/s; 0 if it is never done.
    Goodput,
    /// Download: the same without a handoff.
    UndisturbedGoodput,
    /// Download: what the sender would have sent without a handoff from HO Start to HO Finish less the buffer (Eq. 3), kB.
    BufferGap,
    /// Download: sent between HO Start and the end of HANDOFF, kB.
    Injected,
    /// Download: 1 if cwnd falls after the L2 hint, else 0.
    WindowFalls,
    /// Download: least cwnd from the L2 hint on, packets.
    LeastWindow,
    /// Download: received by one second after the mobile is attached again, kB.
    ReceivedSoon,
}

/// One number out of many handoffs, or seeds of a drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stat {
    /// 50 %.
    #[default]
    Median,
    /// 25 %.
    Q1,
    /// 75 %.
    Q3,
    /// Q3 - Q1.
    Iqr,
    /// Mean.
    Mean,
    /// Smallest.
    Min,
    /// Largest.
    Max,
    /// Share of handoffs in which it is above 0.
    Share,
}

/// At how many of the points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum At {
    /// At every one.
    #[default]
    Each,
    /// At one or more.
    Some,
    /// At more than half.
    Most,
    /// The largest of all values counts.
    Largest,
}

/// Bounds of a value. `about` has its tolerance from the table, unless `within` gives one that the text states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// At least.
    pub min: Option<f64>,
    /// At most.
    pub max: Option<f64>,
    /// About.
    pub about: Option<f64>,
    /// Absolute tolerance of `about` that the text itself gives.
    pub within: Option<f64>,
}

/// Directions of a trend over the points as they are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Spearman's rank correlation with the order.
    Increasing,
    /// The same, negative.
    Decreasing,
    /// No step up beyond slack.
    NonIncreasing,
    /// Largest over smallest.
    Flat,
    /// Not flat.
    Varies,
    /// Largest at the point whose links are `peak`.
    Peak,
}

/// Events of one handoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EventWord {
    /// A timer expires.
    Timeout,
    /// A timer expires although the packet was not lost.
    SpuriousTimeout,
    /// Fast recovery begins.
    FastRetransmit,
    /// The first packet that is sent again at or after T.
    FirstRetransmission,
    /// The first ACK after T that acknowledges a packet sent after completion.
    FirstAckOfNewPath,
}

/// A fact of one handoff, as the packets tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    /// Number of the first data packet that a queue drops from T on.
    FirstLostPacket,
    /// Data packets lost in the disconnection.
    DataLostInDisconnection,
    /// From the first fast retransmit or timeout from T on until all that was outstanding then is acknowledged, s.
    RecoveryTime,
    /// Time from the last transmission of a packet before its timer expires until it is acknowledged, s; of the first
    /// such packet from T on.
    AckDelay,
    /// Packets outstanding at T.
    FlightAtT,
    /// Packets outstanding at the first fast retransmit from T on.
    FlightAtFastRetransmit,
    /// RTO at T, s.
    RtoAtT,
    /// ssthresh after the first timeout from T on, packets.
    SsthreshAfterFirstTimeout,
    /// ssthresh after the second timeout from T on, packets.
    SsthreshAfterSecondTimeout,
    /// ssthresh after the first fast retransmit from T on, packets.
    SsthreshAfterFastRetransmit,
    /// ssthresh at the end, packets.
    SsthreshAtEnd,
    /// When the scheme hears of the handoff, s after completion.
    NoticeLatency,
    /// Time of the first packet sent at or after completion, s after completion.
    Unused,
    /// When slow start first overshoots: the time of the first drop of data in the whole run, s.
    OvershootTime,
    /// Data packets dropped within two seconds of the first drop.
    OvershootLosses,
    /// Data packets dropped from completion to the end.
    DataDrops,
    /// Longest run of data packets sent at one instant from completion on.
    LongestBurst,
    /// 1 if rule A2 or A5 acted at the notice, else 0.
    WindowReduced,
    /// Timeouts from T to the end.
    Timeouts,
    /// Spurious ones among them.
    SpuriousTimeouts,
    /// Packets sent again that brought nothing.
    NeedlessRetransmissions,
    /// Packets sent again from the first timeout from T on until the next, or the end.
    ResentUntilNextTimeout,
}

/// Conditions that must be true.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
pub enum Expect {
    /// 100 * (1 - scheme / against), percent; an increase is a negative reduction.
    Reduction {
        /// By the paper's name.
        scheme: String,
        /// By the paper's name.
        against: String,
        /// The measure; transfer time unless given.
        of: Option<Measure>,
        /// The statistic of its distribution.
        #[serde(default)]
        stat: Stat,
        /// At how many points.
        #[serde(default)]
        at: At,
        /// Percent.
        is: Bounds,
    },
    /// A value lies within bounds.
    Value {
        /// By the paper's name.
        scheme: String,
        /// The measure.
        of: Measure,
        /// The statistic of its distribution.
        #[serde(default)]
        stat: Stat,
        /// At how many points.
        #[serde(default)]
        at: At,
        /// In the measure's unit.
        is: Bounds,
    },
    /// Numerator over denominator lies within bounds; the two may differ in scheme, measure or statistic.
    Ratio {
        /// Above the line.
        over: Operand,
        /// Below it.
        under: Operand,
        /// At how many points.
        #[serde(default)]
        at: At,
        /// A ratio.
        is: Bounds,
    },
    /// Schemes from lowest to highest; those in one inner list are about equal.
    Order {
        /// By the paper's names.
        low_to_high: Vec<Several<String>>,
        /// The measure; transfer time unless given.
        of: Option<Measure>,
        /// The statistic of its distribution.
        #[serde(default)]
        stat: Stat,
        /// At how many points.
        #[serde(default)]
        at: At,
    },
    /// Two schemes are alike: |a / b - 1| at most so many percent.
    Similar {
        /// By the paper's name.
        scheme: String,
        /// By the paper's name.
        against: String,
        /// The measure; transfer time unless given.
        of: Option<Measure>,
        /// The statistic of its distribution.
        #[serde(default)]
        stat: Stat,
        /// At how many points.
        #[serde(default)]
        at: At,
        /// Percent, as the ledger took it from the text; else the table's.
        percent: Option<f64>,
    },
    /// The same scheme at one part of the points is lower than at another. Parts of equally many points are
    /// compared one by one, others by their means.
    Contrast {
        /// By the paper's name.
        scheme: String,
        /// The measure; transfer time unless given.
        of: Option<Measure>,
        /// The statistic of its distribution.
        #[serde(default)]
        stat: Stat,
        /// Where it is lower.
        low: Box<Part>,
        /// Where it is higher.
        high: Box<Part>,
        /// At how many pairs.
        #[serde(default)]
        at: At,
        /// Percent by which `low` may be above `high`; the table's slack unless given.
        slack_percent: Option<f64>,
    },
    /// A value over the points in their order.
    Trend {
        /// By the paper's name.
        scheme: String,
        /// With `against`: of the reduction in percent, else of the value.
        against: Option<String>,
        /// The measure; transfer time unless given.
        of: Option<Measure>,
        /// The statistic of its distribution.
        #[serde(default)]
        stat: Stat,
        /// Where it goes.
        direction: Direction,
        /// Links of the largest value.
        peak: Option<String>,
    },
    /// Points of cells that differ in their buffer alone: how far the reductions in percent lie apart.
    Spread {
        /// By the paper's name.
        scheme: String,
        /// By the paper's name.
        against: String,
        /// The measure; transfer time unless given.
        of: Option<Measure>,
        /// The statistic of its distribution.
        #[serde(default)]
        stat: Stat,
        /// At how many of the groups.
        #[serde(default)]
        at: At,
        /// Percentage points.
        is: Bounds,
    },
    /// Downloads: the fall per second of handoff delay is greater beyond a delay than up to it.
    Steeper {
        /// By the paper's name.
        scheme: String,
        /// The measure.
        of: Measure,
        /// The statistic of its distribution.
        #[serde(default)]
        stat: Stat,
        /// The delay, one of the points, s.
        from_s: f64,
    },
    /// The order of all points and schemes by their value does not depend on P.
    Insensitive {
        /// By the paper's names.
        schemes: Vec<String>,
    },
    /// One handoff: an event at a time.
    Event {
        /// By the paper's name.
        scheme: String,
        /// The event.
        event: EventWord,
        /// s; within the table's tolerance unless `within` is given.
        at_s: f64,
        /// s.
        within: Option<f64>,
    },
    /// One handoff: a fact.
    Fact {
        /// By the paper's name.
        scheme: String,
        /// The fact.
        fact: Fact,
        /// In the fact's unit.
        is: Bounds,
    },
}

/// One side of a ratio.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Operand {
    /// By the paper's name.
    pub scheme: String,
    /// The measure; transfer time unless given.
    pub of: Option<Measure>,
    /// The statistic of its distribution.
    #[serde(default)]
    pub stat: Stat,
}
