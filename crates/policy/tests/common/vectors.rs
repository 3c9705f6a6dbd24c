//! The vectors of algorithms.md, section 7: what a sender is, what it hears, what it must answer. They also say what a
//! sender on Linux believes of that (docs/internals/kernel.md). The same lists are played in user space
//! (`crates/policy/tests/suite/vectors.rs`) and inside a loaded kernel program (`crates/kernel/tests/vectors.rs`).

use super::{
    PRINTED, bbm, close, in_fast_recovery, in_packets, in_rto, mbb, min_rto_ms, packets, reduced_to,
};
use super::{scheme, sender, with_flows};
use segue_policy::{Action, Grant, Link, Notice, Sender, Settings, What};

/// One notice, and what is expected of the answer.
pub struct Vector {
    pub name: &'static str,
    pub settings: Settings,
    pub tcp: Sender,
    pub notice: Notice,
    pub check: fn(&Action),
}

fn reduces_to(act: &Action, window: f64) {
    close(reduced_to(act).expect("a window"), window, PRINTED);
}

/// Nothing but A1's RTO, which these vectors do not ask for.
fn keeps_the_window(act: &Action) {
    assert_eq!(reduced_to(act), None);
}

pub fn vectors() -> Vec<Vector> {
    let vector = |name, scheme_name, tcp, notice, check| Vector {
        name,
        settings: scheme(scheme_name),
        tcp,
        notice,
        check,
    };
    let rto = |flight, ms: u32| Sender { rto_us: ms * 1000, ..sender(flight) };
    let timed_out = Sender { ssthresh: packets(2), ssthresh_saved: packets(10), ..in_rto(sender(20)) };
    vec![
        vector("A1, case 1", "etcp:a1", rto(21, 200), mbb("6400/9", "200/300"), |act| {
            close(min_rto_ms(act).expect("a minrto"), 551.85, 0.1);
        }),
        vector("A1, case 2", "etcp:a1", in_fast_recovery(rto(24, 440)), mbb("800/75", "200/300"), |act| {
            close(min_rto_ms(act).expect("a minrto"), 1221.6, 0.1);
        }),
        vector("A1, case 3", "etcp:a1", rto(21, 850), mbb("400/150", "200/300"), |act| {
            close(min_rto_ms(act).expect("a minrto"), 2121.6, 0.1);
        }),
        vector("A2 fires", "etcp:a2", sender(39), mbb("1600/75", "400/150"), |act| reduces_to(act, 11.03)),
        vector("A2 does not", "etcp:a2", sender(22), mbb("1600/75", "400/150"), keeps_the_window),
        vector("A5 fires", "etcp:a5", sender(17), mbb("1600/37", "200/300"), |act| reduces_to(act, 11.03)),
        vector("A5 does not", "etcp:a5", sender(16), mbb("1600/37", "200/300"), keeps_the_window),
        vector("A2 where A5 fires", "etcp:a2", sender(22), mbb("1600/37", "200/300"), keeps_the_window),
        vector("A3", "etcp:a3", timed_out, bbm("6400/9", "200/300"), |act| {
            assert!(act.has(What::RETRANSMIT_HEAD | What::SET_SSTHRESH));
            close(in_packets(act.ssthresh), 10.0, 0.0);
        }),
        vector("Fig. 1", "etcp-v1", sender(5), with_flows(mbb("6400/9", "200/300"), 4), |act| {
            reduces_to(act, 2.76);
        }),
        vector(
            "Fig. 1, below",
            "etcp-v1",
            sender(4),
            with_flows(mbb("6400/9", "200/300"), 4),
            keeps_the_window,
        ),
        vector("Fig. 1, one flow", "etcp-v1", sender(5), mbb("6400/9", "200/300"), keeps_the_window),
    ]
}

/// Events of a sender with TCP-HO.
#[derive(Clone, Copy, Debug)]
pub enum HoEvent {
    /// A notice of a link of so many kbit/s.
    Notice(u32),
    /// A round trip of so many us.
    Sample(u32),
    FastRetransmit,
    Timeout,
}

/// One step of a story: the event, cwnd then in packets, and the answer. The answer is ssthresh in packets, if any, and
/// the rules behind it as numbers of `TCP_HO_RULES`.
pub struct HoStep {
    pub event: HoEvent,
    pub cwnd: u32,
    pub ssthresh: Option<f64>,
    pub rules: &'static [usize],
}

/// A sender with TCP-HO at such a step: timed out twice, 200 ms before that.
pub fn ho_sender(cwnd: u32) -> Sender {
    Sender {
        cwnd: packets(cwnd),
        ssthresh: packets(10),
        srtt_before_us: 200_000,
        timeouts_since_ack: 2,
        ..in_rto(sender(20))
    }
}

/// Reports on trial (algorithms.md, 4.3 and 9.19). 10 Gbit/s times 200 ms are 166,667 packets of 1500 bytes, and slow
/// start hears of its first loss at 120. Half of that is what later reports get. Each that stands doubles it, until
/// what is told is less, and nothing is bounded.
pub fn ho_trial() -> Vec<HoStep> {
    use HoEvent::{FastRetransmit, Notice, Sample, Timeout};
    let step = |event, cwnd, ssthresh, rules| HoStep { event, cwnd, ssthresh, rules };
    const LIE: u32 = 10_000_000;
    vec![
        step(Notice(LIE), 1, Some(166_666.667), &[0, 1]),
        step(Sample(100_000), 2, Some(83_333.333), &[5]),
        step(FastRetransmit, 120, None, &[7, 9]),
        step(Timeout, 60, None, &[]),
        step(Notice(LIE), 1, Some(60.0), &[0, 1, 10]),
        step(Sample(100_000), 2, Some(60.0), &[5, 10]),
        step(Sample(100_000), 2, Some(60.0), &[5, 10]),
        step(Sample(100_000), 3, Some(60.0), &[5, 10]),
        step(Sample(100_000), 3, Some(60.0), &[5, 6, 10]),
        // one packet more than was granted
        step(Timeout, 61, None, &[]),
        step(Notice(LIE), 1, Some(120.0), &[0, 1, 10]),
        // the head was lost again: nothing was tried
        step(Timeout, 1, None, &[7]),
        step(Notice(LIE), 1, Some(120.0), &[0, 1, 10]),
        step(Sample(300_000), 2, Some(120.0), &[5, 10]),
        step(FastRetransmit, 120, None, &[7]),
        // the truth: 7 Mbit/s times 200 ms
        step(Notice(7_000), 1, Some(116.667), &[0, 1]),
        step(Sample(100_000), 2, Some(58.333), &[5]),
        step(FastRetransmit, 58, None, &[7, 9]),
        step(Notice(7_000), 1, Some(29.0), &[0, 1, 10]),
    ]
}

/// A policy's request at a notice, and the part of it that is believed. Windows in packets.
pub struct Belief {
    pub name: &'static str,
    pub tcp: Sender,
    pub notice: Notice,
    /// Packets that an earlier grant has been found to be worth; 0: nothing is known.
    pub proven: u32,
    /// Whether what was sent leaves packet by packet.
    pub claims: bool,
    /// cwnd and ssthresh.
    pub asked: [u32; 2],
    pub believed: [u32; 2],
    pub grant: Grant,
}

impl Belief {
    pub fn action(&self, windows: [u32; 2]) -> Action {
        let claim = if self.claims { What::CLAIM } else { What::NOTHING };
        let what = What::SET_CWND | What::SET_SSTHRESH | claim;
        Action { what, cwnd: packets(windows[0]), ssthresh: packets(windows[1]), ..Action::NOTHING }
    }
}

pub fn beliefs() -> Vec<Belief> {
    let (inside, after) = (mbb("200/300", "6400/9"), bbm("200/300", "6400/9"));
    let at = |cwnd, ssthresh| Sender { cwnd: packets(cwnd), ssthresh: packets(ssthresh), ..sender(20) };
    let cut = |ssthresh, saved| Sender { ssthresh_saved: packets(saved), ..in_rto(at(1, ssthresh)) };
    let belief = |name, tcp, notice, proven, asked, believed| {
        let grant = if notice == inside { Grant::Nothing } else { Grant::Unproven };
        Belief { name, tcp, notice, proven, claims: false, asked, believed, grant }
    };
    let claim = |name, tcp, notice, proven, asked, believed, grant| Belief {
        name,
        tcp,
        notice,
        proven,
        claims: true,
        asked,
        believed,
        grant,
    };
    let (old, new) = (Grant::Nothing, Grant::Unproven);
    vec![
        belief("no outage: a smaller window", at(20, 30), inside, 0, [11, 11], [11, 11]),
        belief("no outage: a larger one", at(20, 10), inside, 0, [500, 500], [20, 20]),
        belief("no outage: slow start goes on", at(20, 1000), inside, 0, [500, 500], [20, 500]),
        belief("no outage, fast recovery", in_fast_recovery(at(20, 10)), inside, 0, [500, 500], [20, 10]),
        belief("no outage, RTO recovery", cut(2, 10), inside, 0, [500, 500], [1, 10]),
        belief("after an outage", at(1, 2), after, 0, [40, 40], [40, 40]),
        belief("after an outage: more than leaves at once", at(1, 2), after, 0, [500, 500], [64, 500]),
        belief("after a retreat", at(1, 2), after, 12, [500, 500], [12, 12]),
        belief("after a retreat: less than that", at(1, 2), after, 12, [7, 9], [7, 9]),
        claim("a claim: a smaller window", at(20, 30), inside, 0, [13, 11], [13, 11], old),
        claim("a claim: a larger one", at(20, 10), inside, 0, [30, 28], [30, 28], new),
        claim("a claim: more than at first", at(20, 10), inside, 0, [900, 898], [32, 898], new),
        claim("a claim, refuted before", at(20, 10), inside, 31, [163, 161], [31, 31], new),
        claim("a claim, refuted at less", at(20, 10), inside, 12, [163, 161], [20, 20], new),
        claim("a claim after an outage", at(1, 2), after, 0, [163, 161], [163, 161], new),
        claim("a claim after an outage: more than any", at(1, 2), after, 0, [900, 898], [256, 898], new),
        claim("a claim after an outage, refuted before", at(1, 2), after, 31, [163, 161], [31, 31], new),
    ]
}

/// A question about a window that a notice has granted (`policy/grant.h`, `policy/base_rtt.h`). `bpf/tests/vectors.bpf.c`
/// numbers them in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrantEvent {
    BurstWindow,
    LossProbeWindow,
    WindowAfterLossProbe,
    TrialAllows,
    TrialFails,
    DeliveredWindow,
    RefutedWindow,
    ProvenTwice,
    RateCheckFails,
    RejectsNotice,
    KeptWindow,
    UndoneWindow,
    HidesSlowStart,
    TimeoutProvesNothing,
    /// The delay beyond a link of 6400 kbit/s and 9 ms.
    DelayBeyond,
    /// Before a notice of such a link.
    WasSilent,
    /// The bound of the RTO on a link of so many kbit/s and us.
    RtoBound,
}

/// The link of [`GrantEvent::DelayBeyond`] and [`GrantEvent::WasSilent`].
pub const NEAR: Link = Link { rate_kbps: 6400, delay_us: 9000 };

/// Arguments in C's order, and the answer.
pub fn grants() -> Vec<(GrantEvent, [u32; 4], u32)> {
    use GrantEvent::*;
    let none = u32::MAX;
    vec![
        (BurstWindow, [40, 100, 0, 0], 40),
        (BurstWindow, [500, 100, 0, 0], 100),
        (BurstWindow, [500, 3, 0, 0], 10),
        // Two packets beyond 40 under way; a larger window needs none.
        (LossProbeWindow, [11, 40, 0, 0], 42),
        (LossProbeWindow, [50, 40, 0, 0], 50),
        (LossProbeWindow, [11, none, 0, 0], none),
        // ssthresh of the notice, of which 64 leave at once; without one the two packets alone are taken back.
        (WindowAfterLossProbe, [42, 11, 0, 0], 11),
        (WindowAfterLossProbe, [902, 316, 0, 0], 64),
        (WindowAfterLossProbe, [42, 0, 0, 0], 40),
        (WindowAfterLossProbe, [1, 0, 0, 0], 1),
        (TrialAllows, [20, 0, 0, 0], 30),
        // Lost, arrived, allowed: 30 and half of what arrived.
        (TrialFails, [30, 0, 30, 0], 0),
        (TrialFails, [31, 0, 30, 0], 1),
        (TrialFails, [40, 20, 30, 0], 0),
        (TrialFails, [41, 20, 30, 0], 1),
        // 100 packets in 0.5 s are 20 in a round trip of 0.1 s; less than one round trip counts as one.
        (DeliveredWindow, [100, 100_000, 500_000, 0], 10),
        (DeliveredWindow, [30, 100_000, 50_000, 0], 15),
        (DeliveredWindow, [8, 100_000, 50_000, 0], 5),
        (DeliveredWindow, [8, 0, 0, 0], 5),
        // Half of what arrived, and cwnd before the raise; cwnd beyond 4095 counts as so much.
        (RefutedWindow, [5, 10, 0, 0], 5),
        (RefutedWindow, [40, 21, 0, 0], 21),
        (RefutedWindow, [5, 1, 0, 0], 2),
        (RefutedWindow, [5000, 9000, 0, 0], 4095),
        (ProvenTwice, [0, 0, 0, 0], 0),
        (ProvenTwice, [12, 0, 0, 0], 24),
        (ProvenTwice, [600_000, 0, 0, 0], 1 << 20),
        // 10 packets of 1448 bytes in 0.1 s are 1158 kbit/s.
        (RateCheckFails, [10, 1448, 100_000, 578], 1),
        (RateCheckFails, [10, 1448, 100_000, 579], 0),
        (RateCheckFails, [10, 1448, 0, 1], 0),
        // Without an outage, for ten seconds after a raised window was refuted.
        (RejectsNotice, [0, 1, 9_999, 0], 1),
        (RejectsNotice, [0, 1, 10_000, 0], 0),
        (RejectsNotice, [1, 1, 0, 0], 0),
        (RejectsNotice, [0, 0, 0, 0], 0),
        // Before the cut, after it, in use, on trial.
        (KeptWindow, [100, 14, 20, 1], 100),
        (KeptWindow, [100, 14, 20, 0], 20),
        (KeptWindow, [10, 14, 20, 0], 14),
        (UndoneWindow, [40, 11, 5, 0], 11),
        (UndoneWindow, [40, 3, 5, 0], 5),
        (UndoneWindow, [4, 11, 5, 0], 4),
        // Rounds of the guard, a recovery.
        (HidesSlowStart, [3, 1, 0, 0], 1),
        (HidesSlowStart, [1, 1, 0, 0], 1),
        (HidesSlowStart, [0, 1, 0, 0], 0),
        (HidesSlowStart, [3, 0, 0, 0], 0),
        // Packets that have arrived, a claim.
        (TimeoutProvesNothing, [0, 0, 0, 0], 1),
        (TimeoutProvesNothing, [1, 0, 0, 0], 0),
        (TimeoutProvesNothing, [1, 1, 0, 0], 1),
        // 2 x 9 ms and 12,480 bit at 6400 kbit/s are 19.95 ms.
        (DelayBeyond, [30_000, 40_000, 0, 0], 5_025),
        (DelayBeyond, [none, 30_000, 0, 0], 5_025),
        (DelayBeyond, [10_000, 40_000, 0, 0], 0),
        // 18 ms, 12,000 bit at 6400 kbit/s are 1.875 ms, and a round trip of 40 ms.
        (WasSilent, [59_875, 40_000, 0, 0], 0),
        (WasSilent, [59_876, 40_000, 0, 0], 1),
        // Twice 18 + 1.875 ms is less than a second; twice 600 + 60 ms is more.
        (RtoBound, [6400, 9_000, 0, 0], 1_000),
        (RtoBound, [200, 300_000, 0, 0], 1_320),
        (RtoBound, [0, 0, 0, 0], 24_000),
    ]
}
