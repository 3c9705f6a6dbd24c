//! Stack profiles: what one TCP does differently from another, as data.

use crate::Nanos;
use crate::congestion::{CongestionRules, NO_SSTHRESH, Start};
use crate::linux::cc::{CcName, PacingStatus};
use crate::linux::settings::{LinuxSettings, Release, Writer};
use crate::rto::RtoRules;
use crate::rules::RecoveryRules;

const MS: Nanos = 1_000_000;

/// How round trips are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RttSampling {
    /// One packet is timed at a time; retransmission ends the timing (Karn).
    OneAtATime,
    /// RFC 7323 time stamps of this granularity, on every ACK that advances.
    Timestamps(Nanos),
    /// ns-2 with `timestamps_`: a stamp on each packet, from which every new ACK outside fast recovery gives a sample. The
    /// back-off ends as without (`ts_resetRTO_` false).
    Ns2Timestamps,
}

/// ns-2's stamps are exact; ours count so many ns.
pub(crate) const NS2_STAMP: Nanos = 1_000;

impl RttSampling {
    /// Granularity of the time stamps, if there are any.
    #[inline]
    pub fn stamp(self) -> Option<Nanos> {
        match self {
            Self::OneAtATime => None,
            Self::Timestamps(tick) => Some(tick),
            Self::Ns2Timestamps => Some(NS2_STAMP),
        }
    }
}

/// When a receiver acknowledges (RFC 5681, section 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckRules {
    /// An in-order packet waits for another for so long; `None` = every packet is acknowledged.
    pub delay: Option<Nanos>,
    /// Whether the ACK of the SYN waits, too.
    pub delays_syn: bool,
}

/// How many bytes links charge for a segment's headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderSize {
    /// ns-2: 40 bytes and 8 per SACK block; other options are free.
    Ns2,
    /// The sizes that are really on the wire: IP, TCP, and the options with their padding.
    Encoded,
}

/// One TCP stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackProfile {
    /// Name on the command line.
    pub name: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Where it departs from the RFCs, by name.
    pub departures: &'static [&'static str],
    /// Bytes of a full segment.
    pub mss: u16,
    /// Loss detection and recovery.
    pub recovery: RecoveryRules,
    /// Window.
    pub congestion: CongestionRules,
    /// Timer.
    pub rto: RtoRules,
    /// Round trips.
    pub rtt: RttSampling,
    /// Duplicate ACKs that start a fast retransmit.
    pub dupthresh: u32,
    /// Initial window, packets (RFC 3390, RFC 6928).
    pub initial_window: u32,
    /// ssthresh of a new connection under the rules of RFC 5681, packets: "arbitrarily high", for example "the size
    /// of the largest possible advertised window" (3.1). The other rules begin at the receive window.
    pub initial_ssthresh: u32,
    /// RFC 3042.
    pub limited_transmit: bool,
    /// Receive buffer, packets.
    pub receive_window: u32,
    /// Shift of the window field (RFC 7323, section 2).
    pub window_scale: u8,
    /// Whether a window that closes while something is outstanding stops the retransmission timer. BSD forgets what is
    /// under way, and probes. Once the window opens, it goes on from `snd_una` as if nothing had happened, which
    /// Freeze-TCP relies on (algorithms.md, 4.5). Elsewhere the retransmission timer runs on and its packets probe
    /// (RFC 9293, 3.8.6.1). For stacks without SACK.
    pub persist_with_outstanding: bool,
    /// An ACK that tells of a completed handoff gives an RTT sample by the time stamp that it echoes. That stamp is as
    /// old as the break. For hosts that find such notices.
    pub notice_sample: bool,
    /// Acknowledgement policy.
    pub ack: AckRules,
    /// SACK blocks per ACK; 0 = SACK is off.
    pub sack_blocks: usize,
    /// Whether duplicates are reported (RFC 2883).
    pub dsack: bool,
    /// Whether the first unacknowledged packet is sent once more when its retransmission, too, is lost: when
    /// something sent after it is SACKed (RFC 8985). Elsewhere that waits for the timer. For RFC 6675 recovery.
    pub detects_lost_retransmission: bool,
    /// Whether duplicate ACKs of what was outstanding at the last timeout or fast retransmit start no fast retransmit
    /// (RFC 6582, 3.2, steps 1 and 4; ns-2's `bugFix_`). For NewReno.
    pub guards_recovery: bool,
    /// Whether every partial ACK restarts the timer, the "Slow-but-Steady" variant of RFC 6582, section 4; else the
    /// first does, the "Impatient" one. For NewReno.
    pub slow_but_steady: bool,
    /// Sizes that links charge.
    pub header: HeaderSize,
    /// A kernel's own sender and receiver in place of the rules above, which say nothing then.
    pub kernel: Option<LinuxSettings>,
}

/// Largest IP packet of the bench, bytes.
const PACKET_BYTES: u16 = 1500;
/// IP and TCP headers without options, bytes.
pub(crate) const BARE_HEADERS: u32 = 40;

/// ns-2's `ts_option_size_`, bytes; data packets alone have it.
pub(crate) const NS2_STAMP_BYTES: u32 = 10;

/// ns-2 2.35 timers: `tcpTick_` 10 ms, `minrto_` 0.2 s, `rtxcur_init_` 3 s, `maxrto_` 60 s.
const NS2_RTO: RtoRules = RtoRules {
    tick: 10 * MS,
    min: 200 * MS,
    slop: 0,
    max: 60_000 * MS,
    initial: 3_000 * MS,
    backoff_stops_at_64: false,
    forget_srtt_beyond: 8,
};

/// Regular TCP of Daniel and Kojo: ns-2 2.35 Sack1 with the Sack1/DelAck sink.
pub const NS2_SACK1: StackProfile = StackProfile {
    name: "ns2-sack1",
    source: "ns-2 2.35 Agent/TCP/Sack1, Agent/TCPSink/Sack1/DelAck (tcp-sack1.cc, tcp-sink.cc)",
    departures: &[
        "window grows per ACK, not per byte acknowledged",
        "a cut halves the integer cwnd, not FlightSize, at every timeout",
        "pipe is counted, not computed from the scoreboard; no rescue or lost-retransmission rules",
        "after a timeout SACK information is ignored until the next new ACK (go-back-N)",
        "no fast retransmit until snd_una has passed the recovery point of the last one",
        "the ACK of the SYN is delayed",
        "timers count 10 ms ticks",
        "SACK blocks of an ACK may be outdated (history is not merged)",
    ],
    mss: PACKET_BYTES - 40,
    recovery: RecoveryRules::Ns2Sack1,
    congestion: CongestionRules::Ns2,
    rto: NS2_RTO,
    rtt: RttSampling::OneAtATime,
    dupthresh: 3,
    initial_window: 3,
    initial_ssthresh: NO_SSTHRESH,
    limited_transmit: true,
    receive_window: 10_000,
    window_scale: 10,
    persist_with_outstanding: false,
    notice_sample: false,
    ack: AckRules { delay: Some(100 * MS), delays_syn: true },
    sack_blocks: 3,
    dsack: false,
    detects_lost_retransmission: false,
    guards_recovery: true,
    slow_but_steady: false,
    header: HeaderSize::Ns2,
    kernel: None,
};

/// ns-2 NewReno with an ACK per packet, as Chou and Shin use it. It is that of 2003, when `newreno_changes1_` was 0 by
/// default. It lacks the "bug fix" against successive fast retransmits, which their note 2 rules out.
pub const NS2_NEWRENO: StackProfile = StackProfile {
    name: "ns2-newreno",
    source: "ns-2 Agent/TCP/Newreno with Agent/TCPSink, newreno_changes1_ 0, bugFix_ false (RFC 2582 rules, ns-2 window and timer)",
    departures: &[
        "duplicate ACKs after a timeout start a fast retransmit, which cuts the window again",
        "every partial ACK restarts the timer",
        "window grows per ACK, not per byte acknowledged",
        "a cut halves the integer cwnd, not FlightSize, at every timeout",
        "the ACK that ends fast recovery opens the window, too",
        "timers count 10 ms ticks",
    ],
    recovery: RecoveryRules::NewReno,
    ack: AckRules { delay: None, delays_syn: false },
    sack_blocks: 0,
    guards_recovery: false,
    slow_but_steady: true,
    ..NS2_SACK1
};

/// Today's RFCs.
pub const RFC: StackProfile = StackProfile {
    name: "rfc",
    source: "RFC 9293, 5681, 6675, 6298, 6928, 7323, 2018, 2883, 3042",
    departures: &[],
    mss: PACKET_BYTES - 40 - 12,
    recovery: RecoveryRules::Rfc6675,
    congestion: CongestionRules::Rfc5681,
    rto: RtoRules {
        tick: 1,
        min: 1_000 * MS,
        slop: 0,
        max: 60_000 * MS,
        initial: 1_000 * MS,
        backoff_stops_at_64: false,
        forget_srtt_beyond: 0,
    },
    rtt: RttSampling::Timestamps(MS),
    initial_window: 10,
    receive_window: 10_000,
    ack: AckRules { delay: Some(200 * MS), delays_syn: false },
    sack_blocks: 3, // beside time stamps (RFC 2018, 3)
    dsack: true,
    header: HeaderSize::Encoded,
    ..NS2_SACK1
};

/// FreeBSD 5 as Wu, Chan and Ananda used it.
pub const FREEBSD5_NEWRENO: StackProfile = StackProfile {
    name: "freebsd5-newreno",
    source: "FreeBSD 5 tcp_timer.c: 10 ms tick, floor 30 ms + 200 ms slop, back-off 1..64; RFC 6582",
    departures: &[
        "timers count 10 ms ticks",
        "RTO floor of 30 ms + 200 ms slop instead of 1 s",
        "back-off stops at 64",
        "window grows per ACK; a cut halves cwnd, not FlightSize, at every timeout",
        "a closed window stops the retransmission timer, whatever is outstanding",
    ],
    recovery: RecoveryRules::NewReno,
    congestion: CongestionRules::Bsd,
    rto: RtoRules {
        tick: 10 * MS,
        min: 230 * MS,
        slop: 200 * MS,
        max: 64_000 * MS,
        initial: 3_000 * MS,
        backoff_stops_at_64: true,
        forget_srtt_beyond: 8,
    },
    rtt: RttSampling::Timestamps(10 * MS),
    initial_window: 3,
    persist_with_outstanding: true,
    ack: AckRules { delay: Some(100 * MS), delays_syn: false },
    sack_blocks: 0,
    dsack: false,
    ..RFC
};

/// Reno of INET (OMNeT++) as Espi and others used it.
pub const INET_RENO: StackProfile = StackProfile {
    name: "inet-reno",
    source: "INET framework TCPReno: RTO floor 1 s, window 64 segments of 1024 bytes; RFC 5681",
    departures: &[
        "no NewReno partial-ACK rule",
        "segments of 1024 bytes",
        "window of 64 segments, where slow start ends, too",
    ],
    mss: 1024,
    recovery: RecoveryRules::Reno,
    rtt: RttSampling::OneAtATime,
    initial_window: 2,
    initial_ssthresh: 64, // 65535 bytes
    receive_window: 64,
    window_scale: 0,
    sack_blocks: 0,
    dsack: false,
    ..RFC
};

/// Today's Linux as near as these rules come: what the laboratory's results are held against.
pub const LINUX: StackProfile = StackProfile {
    name: "linux",
    source: "an old approximation (take linux-6.12) of Linux 6 with reno: include/net/tcp.h, net/ipv4/tcp_input.c, tcp_timer.c",
    departures: &[
        "unlike Linux: an approximation by the rules of the RFCs, far off on fast paths; linux-6.12 is validated against the kernel",
        "RTO floor of 200 ms instead of 1 s, ceiling of 120 s",
        "a retransmission of the first packet that is lost again is sent once more (RFC 8985)",
        "unlike Linux: no CUBIC, the window grows by RFC 5681",
        "unlike Linux: no RACK-TLP but for that rule, losses are found by RFC 6675, and the tail waits for the timer",
        "unlike Linux: no F-RTO and no undo, a spurious timeout costs its cut",
        "unlike Linux: no PRR, no pacing, no HyStart",
        "unlike Linux: every delayed ACK waits 40 ms, there are no quick ACKs",
        "unlike Linux: RTO = max(SRTT + 4 RTTVAR, 200 ms), not SRTT + max(4 RTTVAR, 200 ms)",
    ],
    rto: RtoRules {
        tick: 1,
        min: 200 * MS,
        slop: 0,
        max: 120_000 * MS,
        initial: 1_000 * MS,
        backoff_stops_at_64: false,
        forget_srtt_beyond: 0,
    },
    ack: AckRules { delay: Some(40 * MS), delays_syn: false },
    detects_lost_retransmission: true,
    ..RFC
};

/// HZ of the reference's kernel, and the values that kernels are built with (kernel/Kconfig.hz).
const REFERENCE_HZ: u32 = 250;
const HZ: [u32; 4] = [100, REFERENCE_HZ, 300, 1000];

const TIMERS: &str = "RTO = SRTT + max(4 RTTVAR, 200 ms), timers in jiffies on a timer wheel";
const RECOVERY: &str =
    "RACK and tail loss probes (RFC 8985), PRR (RFC 9937), F-RTO (RFC 5682), undo by time stamps and D-SACKs";
/// A control that sets cwnd itself does without PRR.
const RECOVERY_BY_CONTROL: &str =
    "RACK and tail loss probes (RFC 8985), F-RTO (RFC 5682), undo by time stamps and D-SACKs";
const LEFT_OUT: &str = "unlike Linux: packets leave the host at once, one by one unless bursts=on; no Fast Open, MTU probing or metrics cache";
const BBR3: &str =
    "unlike Linux: BBR version 3 of the draft, paced by TCP's own timer; not validated against a kernel";
const LEOCC: &str =
    "unlike Linux: LeoCC of its kernel module, paced by TCP's own timer; not validated against a kernel";

/// A kernel with one of its congestion controls; what is set here beside the kernel's own rules is the reference's.
const fn kernel(name: &'static str, release: Release, control: CcName) -> StackProfile {
    StackProfile {
        name,
        source: match (release, control) {
            (Release::V6_12, CcName::Bbr3) => {
                "Linux 6.12.117, rule by rule, with BBR of draft-ietf-ccwg-bbr; not validated against a kernel; HZ 250"
            }
            (Release::V6_12, CcName::Leocc) => {
                "Linux 6.12.117, rule by rule, with LeoCC of its kernel module; not validated against a kernel; HZ 250"
            }
            (Release::V6_12, _) => {
                "Linux 6.12.117, rule by rule (net/ipv4/tcp_*.c), HZ 250; validated against the kernel packet by packet"
            }
            (Release::V6_18, CcName::Bbr3) => {
                "Linux 6.18, whose rules are those of 6.12 here, with BBR of draft-ietf-ccwg-bbr; not validated against a kernel; HZ 250"
            }
            (Release::V6_18, CcName::Leocc) => {
                "Linux 6.18, whose rules are those of 6.12 here, with LeoCC of its kernel module; not validated against a kernel; HZ 250"
            }
            (Release::V6_18, _) => {
                "Linux 6.18, whose rules are those of 6.12 here; compared with it in the laboratory; HZ 250"
            }
        },
        departures: match control {
            CcName::Cubic => &[TIMERS, RECOVERY, "CUBIC with HyStart (RFC 9438)", LEFT_OUT],
            CcName::Reno => &[TIMERS, RECOVERY, LEFT_OUT],
            CcName::Bbr => {
                &[TIMERS, RECOVERY_BY_CONTROL, "BBR version 1, paced by TCP's own timer", LEFT_OUT]
            }
            CcName::Leocc => &[TIMERS, RECOVERY_BY_CONTROL, LEOCC, LEFT_OUT],
            CcName::Bbr3 => &[TIMERS, RECOVERY_BY_CONTROL, BBR3, LEFT_OUT],
        },
        kernel: Some(LinuxSettings {
            release,
            control,
            hz: REFERENCE_HZ,
            seed: 1,
            phase: 0,
            slow_start_after_idle: true,
            ecn: false,
            bursts: false,
            writer: Writer::Reference,
            pacing: PacingStatus::None,
        }),
        ..LINUX
    }
}

/// Linux 6.12 with its default congestion control.
pub const LINUX_6_12: StackProfile = kernel("linux-6.12/cubic", Release::V6_12, CcName::Cubic);
/// The same with Reno.
pub const LINUX_6_12_RENO: StackProfile = kernel("linux-6.12/reno", Release::V6_12, CcName::Reno);
/// The same with BBR version 1.
pub const LINUX_6_12_BBR: StackProfile = kernel("linux-6.12/bbr", Release::V6_12, CcName::Bbr);
/// The same with BBR version 3.
pub const LINUX_6_12_BBR3: StackProfile = kernel("linux-6.12/bbr3", Release::V6_12, CcName::Bbr3);

/// The same with LeoCC.
pub const LINUX_6_12_LEOCC: StackProfile = kernel("linux-6.12/leocc", Release::V6_12, CcName::Leocc);

/// Stacks that are a kernel's own.
pub const KERNELS: [StackProfile; 10] = [
    LINUX_6_12,
    LINUX_6_12_RENO,
    LINUX_6_12_BBR,
    LINUX_6_12_BBR3,
    LINUX_6_12_LEOCC,
    kernel("linux-6.18/cubic", Release::V6_18, CcName::Cubic),
    kernel("linux-6.18/reno", Release::V6_18, CcName::Reno),
    kernel("linux-6.18/bbr", Release::V6_18, CcName::Bbr),
    kernel("linux-6.18/bbr3", Release::V6_18, CcName::Bbr3),
    kernel("linux-6.18/leocc", Release::V6_18, CcName::Leocc),
];

/// Every stack that can be named.
pub fn stacks() -> impl Iterator<Item = StackProfile> {
    PROFILES.into_iter().chain(KERNELS)
}

/// Their names as users write them: a kernel's name alone before those with its congestion controls.
pub fn stack_names() -> Vec<&'static str> {
    let mut names = Vec::new();
    for stack in stacks() {
        let alone = stack.name.split_once('/').map(|(kernel, _)| kernel);
        names.extend(alone.filter(|kernel| !names.contains(kernel)));
        names.push(stack.name);
    }
    names
}

/// The stacks that are rules.
pub const PROFILES: [StackProfile; 6] = [NS2_SACK1, RFC, FREEBSD5_NEWRENO, NS2_NEWRENO, INET_RENO, LINUX];

/// A setting that every stack has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackSetting {
    /// Key.
    pub name: &'static str,
    /// Values it takes.
    pub values: &'static str,
    /// One line, with the open point of algorithms.md that it decides.
    pub meaning: &'static str,
}

/// Settings that every stack has; their defaults are the profile's.
pub const STACK_SETTINGS: &[StackSetting] = &[
    StackSetting { name: "initial-window", values: "1 to 1000 packets", meaning: "initial window (9.17)" },
    StackSetting { name: "receive-window", values: "1 to 1000000 packets", meaning: "receive buffer (9.17)" },
    StackSetting { name: "rto-floor-ms", values: "1 to 60000", meaning: "least RTO (section 1)" },
    StackSetting {
        name: "rto-tick-ms",
        values: "0 (exact) to 1000",
        meaning: "granularity of timers (section 1)",
    },
    StackSetting {
        name: "delayed-ack-ms",
        values: "0 (every packet is acknowledged) to 500",
        meaning: "delayed ACK (section 1)",
    },
    StackSetting {
        name: "window-rules",
        values: CongestionRules::NAMES,
        meaning: "what a timeout cuts, and growth (9.16)",
    },
    StackSetting {
        name: "newreno-guard",
        values: "on or off",
        meaning: "whether duplicate ACKs after a timeout start no fast retransmit (RFC 6582, 3.2, step 4; 6.3)",
    },
    StackSetting {
        name: "newreno-timer",
        values: "first or every",
        meaning: "which partial ACKs restart the timer (RFC 6582, 4; 6.3)",
    },
    StackSetting {
        name: "hz",
        values: "100, 250, 300 or 1000, on a stack with jiffies such as linux-6.12",
        meaning: "jiffies per second, CONFIG_HZ of the kernel",
    },
    StackSetting {
        name: "ecn",
        values: "on or off, on a kernel's stack such as linux-6.12",
        meaning: "whether both ends understand the marks of links with the word ecn (RFC 3168)",
    },
    StackSetting {
        name: "bursts",
        values: "on or off, on a kernel's stack such as linux-6.12",
        meaning: "whether several packets leave as one (TSO), as on a device that takes more than one",
    },
    StackSetting {
        name: "writer",
        values: "reference or iperf3, on a kernel's stack such as linux-6.12",
        meaning: "program and buffers: 32 KiB at a time and 4 MiB, or the laboratory's iperf3, 128 KiB and 1 MiB",
    },
    StackSetting {
        name: "time-stamps",
        values: "on or off, on a stack of ns-2 such as ns2-sack1",
        meaning: "whether packets have time stamps, which give an RTT sample for each new ACK (ns-2's timestamps_)",
    },
    StackSetting {
        name: "notice-sample",
        values: "on or off",
        meaning: "whether the time stamp that comes with a notice gives an RTT sample (9.20)",
    },
];

/// A word for yes or for no.
fn flag(value: &str, yes: &str, no: &str) -> Option<bool> {
    if value == yes { Some(true) } else { (value == no).then_some(false) }
}

impl StackProfile {
    /// Whether a setting of stacks has a meaning here: a kernel has jiffies, and its own timers, ACKs and windows.
    pub fn has(&self, key: &str) -> bool {
        match key {
            "hz" | "ecn" | "bursts" | "writer" => self.kernel.is_some(),
            "time-stamps" => self.header == HeaderSize::Ns2,
            "rto-tick-ms" | "delayed-ack-ms" | "window-rules" | "newreno-guard" | "newreno-timer" => {
                self.kernel.is_none()
            }
            _ => STACK_SETTINGS.iter().any(|setting| setting.name == key),
        }
    }

    /// Changes a setting; the error says what was expected.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), &'static str> {
        let setting = STACK_SETTINGS.iter().find(|s| s.name == key).ok_or("a setting of the stack")?;
        let number = |least: u64, most: u64| {
            value.parse::<u64>().ok().filter(|n| (least..=most).contains(n)).ok_or(setting.values)
        };
        match key {
            "initial-window" => self.initial_window = number(1, 1000)? as u32,
            "receive-window" => self.receive_window = number(1, 1_000_000)? as u32,
            "rto-floor-ms" => self.rto.min = number(1, 60_000)? * MS,
            "rto-tick-ms" => self.rto.tick = (number(0, 1000)? * MS).max(1),
            "delayed-ack-ms" => self.ack.delay = Some(number(0, 500)? * MS).filter(|&delay| delay > 0),
            "hz" => {
                let hz = number(1, 10_000)? as u32;
                let kernel = self.kernel.as_mut().filter(|_| HZ.contains(&hz)).ok_or(setting.values)?;
                kernel.hz = hz;
            }
            "ecn" => {
                let kernel = self.kernel.as_mut().ok_or(setting.values)?;
                kernel.ecn = flag(value, "on", "off").ok_or(setting.values)?;
            }
            "bursts" => {
                let kernel = self.kernel.as_mut().ok_or(setting.values)?;
                kernel.bursts = flag(value, "on", "off").ok_or(setting.values)?;
            }
            "writer" => {
                let kernel = self.kernel.as_mut().ok_or(setting.values)?;
                kernel.writer = Writer::named(value).ok_or(setting.values)?;
            }
            "time-stamps" => {
                let on = flag(value, "on", "off").filter(|_| self.header == HeaderSize::Ns2);
                self.rtt = match on.ok_or(setting.values)? {
                    true => RttSampling::Ns2Timestamps,
                    false => RttSampling::OneAtATime,
                };
            }
            "notice-sample" => self.notice_sample = flag(value, "on", "off").ok_or(setting.values)?,
            "newreno-guard" => self.guards_recovery = flag(value, "on", "off").ok_or(setting.values)?,
            "newreno-timer" => self.slow_but_steady = flag(value, "every", "first").ok_or(setting.values)?,
            _ => self.congestion = CongestionRules::named(value).ok_or(setting.values)?,
        }
        Ok(())
    }

    /// The profile of that name; a kernel's name alone stands for its default congestion control.
    pub fn named(name: &str) -> Option<Self> {
        let by_default = |profile: &Self| {
            profile
                .kernel
                .is_some_and(|kernel| kernel.control == CcName::Cubic && kernel.release.name() == name)
        };
        stacks().find(|profile| profile.name == name || by_default(profile))
    }

    /// The same kernel with another congestion control; `None` for stacks that have no choice.
    pub fn with_control(&self, control: CcName) -> Option<Self> {
        let release = self.kernel?.release;
        let is_it = |other: &LinuxSettings| other.release == release && other.control == control;
        KERNELS.into_iter().find(|profile| profile.kernel.as_ref().is_some_and(is_it))
    }

    /// The same with the clock and the lots of `seed`, where a kernel has them.
    pub fn seeded(mut self, seed: u64) -> Self {
        self.kernel = self.kernel.map(|kernel| kernel.seeded(seed));
        self
    }

    /// The part of it that a congestion control has to know.
    pub(crate) fn start(&self) -> Start {
        let Self { mss, receive_window, initial_ssthresh, .. } = *self;
        Start { mss, receive_window, initial_ssthresh }
    }

    /// Bytes that links charge for a full data segment.
    pub fn data_bytes(&self) -> u32 {
        let options = match (self.header, self.rtt) {
            (HeaderSize::Encoded, RttSampling::Timestamps(_)) => 12,
            (HeaderSize::Ns2, RttSampling::Ns2Timestamps) => NS2_STAMP_BYTES,
            _ => 0,
        };
        u32::from(self.mss) + BARE_HEADERS + options
    }
}
