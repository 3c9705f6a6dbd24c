//! A scenario of the reference: two access chains, a handoff, a congestion control, flows.

use segue_tcp::Nanos;
use segue_tcp::linux::cc::CcName;
use std::fmt;

const MS: Nanos = 1_000_000;
const US: Nanos = 1_000;

/// An access chain, both directions alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chain {
    /// kbit/s.
    pub kbps: u64,
    /// One-way delay, ms.
    pub ms: u64,
    /// Places in the queue, that of the packet in service among them.
    pub queue: usize,
}

impl Chain {
    /// With the queue of the reference: twice bandwidth times delay in packets of 1500 bytes, 5 at least.
    pub fn new(kbps: u64, ms: u64) -> Self {
        let queue = (2 * kbps * ms + 6_000) / 12_000; // rounded
        Self { kbps, ms, queue: (queue as usize).max(5) }
    }
}

/// A scenario and when its handoff begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// Chain before the handoff.
    pub old: Chain,
    /// Chain after it.
    pub new: Chain,
    /// Congestion control of the sender.
    pub control: CcName,
    /// Flows; each starts 1 ms after the one before.
    pub flows: usize,
    /// Outage, ns; none: make-before-break.
    pub outage: Option<Nanos>,
    /// Start of the handoff, ns.
    pub at: Nanos,
    /// The delay of each packet on an access chain is longer or shorter by up to so much, ns.
    pub jitter: Nanos,
    /// The sender's device takes bursts of packets.
    pub bursts: bool,
}

impl Scenario {
    /// When the handoff is complete.
    pub fn completion(&self) -> Nanos {
        self.at + self.outage.unwrap_or(0)
    }

    /// Reads what [`Display`](fmt::Display) prints.
    pub fn parse(line: &str) -> Option<Self> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (words, more) = words.split_at_checked(11)?;
        let [old_kbps, old_ms, old_queue, new_kbps, new_ms, new_queue, control, flows, kind, outage, at] =
            words[..]
        else {
            return None;
        };
        let (jitter, bursts) = match more {
            [jitter @ .., "bursts"] => (jitter, true),
            jitter => (jitter, false),
        };
        let jitter = match jitter {
            [] => 0,
            [us] => us.parse::<Nanos>().ok()? * US,
            _ => return None,
        };
        let chain = |kbps: &str, ms: &str, queue: &str| {
            Some(Chain { kbps: kbps.parse().ok()?, ms: ms.parse().ok()?, queue: queue.parse().ok()? })
        };
        let ns = |seconds: &str| Some((seconds.parse::<f64>().ok()? * 1000.0).round() as Nanos * MS);
        Some(Self {
            old: chain(old_kbps, old_ms, old_queue)?,
            new: chain(new_kbps, new_ms, new_queue)?,
            control: CcName::named(control)?,
            flows: flows.parse().ok()?,
            outage: match kind {
                "mbb" => None,
                "bbm" => Some(ns(outage)?),
                _ => return None,
            },
            at: ns(at)?,
            jitter,
            bursts,
        })
    }
}

/// As the heads of the reference's files: chains with queues, control, flows, kind, outage and T in s. The jitter in us
/// and `bursts` follow, if there are any.
impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { old, new, control, flows, outage, at, jitter, bursts } = self;
        let kind = if outage.is_some() { "bbm" } else { "mbb" };
        let s = |ns: Nanos| (ns / MS) as f64 / 1e3;
        write!(f, "{} {} {} {} {} {}", old.kbps, old.ms, old.queue, new.kbps, new.ms, new.queue)?;
        write!(f, " {} {flows} {kind} {} {}", control.name(), s(outage.unwrap_or(0)), s(*at))?;
        if *jitter > 0 {
            write!(f, " {}", jitter / US)?;
        }
        if *bursts { write!(f, " bursts") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_read_and_printed() {
        let line = "6400 9 10 1600 75 20 cubic 4 bbm 0.5 8.9";
        let scenario = Scenario::parse(line).unwrap();
        assert_eq!((scenario.outage, scenario.at), (Some(500 * MS), 8_900 * MS));
        assert_eq!(scenario.to_string(), line);
        assert_eq!(Scenario::parse("6400 9 10 1600 75 20 cubic 4 mmb 0 8.9"), None);
        let with_jitter = format!("{line} 200");
        let scenario = Scenario::parse(&with_jitter).unwrap();
        assert_eq!((scenario.jitter, scenario.to_string()), (200 * US, with_jitter.clone()));
        for line in [format!("{line} bursts"), format!("{with_jitter} bursts")] {
            let scenario = Scenario::parse(&line).unwrap();
            assert_eq!((scenario.bursts, scenario.to_string()), (true, line));
        }
        assert_eq!(Scenario::parse(&format!("{line} bursts 200")), None);
    }

    /// The queues of the reference's eight pairs.
    #[test]
    fn queues() {
        let of = |(kbps, ms)| Chain::new(kbps, ms).queue;
        let links = [(6400, 9), (200, 300), (1600, 75), (400, 150), (54_000, 5), (24_000, 30), (200, 10)];
        assert_eq!(links.map(of), [10, 10, 20, 10, 45, 120, 5]);
    }
}
