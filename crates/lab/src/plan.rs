//! The plan of a laboratory: one handoff between two links under real flows, by several senders, several times.

use super::Error;
use super::access_link::{AccessLink, mean_kbps};
use super::sender_kind::SenderKind;
use super::unheard::Unheard;
use segue_netsim::queue::Queue;
use segue_netsim::{LinkConfig, Service};
use segue_policy::Link;
use segue_words::lab::{self, Dead, Family, Gateway, Program};
use std::time::Duration;

/// The longest time for which Linux delays an ACK.
const DELAYED_ACK: Duration = Duration::from_millis(200);

/// A laboratory's plan.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The access link before the handoff.
    pub old: AccessLink,
    /// The access link after it.
    pub new: AccessLink,
    /// With or without a disconnection.
    pub kind: Kind,
    /// Its length, for break before make.
    pub disconnect: Duration,
    /// Which direction of the old link goes first, for break before make.
    pub dead: Dead,
    /// Loss of what the mobile says.
    pub unheard: Unheard,
    /// A router before the server.
    pub gateway: Gateway,
    /// Flows from the server to the mobile.
    pub flows: u32,
    /// The senders; each once in every round, in rotated order.
    pub senders: Vec<SenderKind>,
    /// Rounds.
    pub runs: u32,
    /// The program whose flows they are.
    pub program: Program,
    /// The words of `segue lab-end`, which plays both ends of [`Program::Thin`].
    pub end: Vec<String>,
    /// From the first data packet to the second in which the handoff is drawn; default [`Plan::warm_up`].
    pub warm_up: Option<Duration>,
    /// From the new link's start to the end of the run.
    pub observe: Duration,
    /// IPv4 or IPv6.
    pub family: Family,
    /// Draws the instants of the handoffs: run i of every sender has the same.
    pub seed: u64,
    /// Laboratories at once.
    pub parallel: u32,
    /// One-way delay of a wired part of 100 Mbit/s between the server and the access link; 0: none.
    pub wired: Duration,
    /// The rate in the notice, as a multiple of the true one.
    pub told_rate: f64,
    /// Whether agents may tell a smaller MTU (`mtu` of the agent's `[others]`).
    pub agent_mtu: bool,
    /// Whether the laboratory's test sender tells of handoffs at all.
    pub notices: bool,
    /// How long before a make-before-break handoff the mobile announces it to senders that are told. Some, 0 as well:
    /// one copy of the notice goes over the old link, too. Agents always send that copy.
    pub announce: Option<Duration>,
    /// Whether senders ask for ECN.
    pub ecn: bool,
    /// Whether records keep their packets, for captures.
    pub packets: bool,
}

/// Kinds of handoff.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Make before break: what is on the old link is still delivered.
    #[default]
    Mbb,
    /// Break before make: what is on the old link is lost, and for a while there is none.
    Bbm,
}

impl Plan {
    /// A plan of five runs of one flow, whose handoff is make-before-break; 10 s are observed.
    pub fn new(old: AccessLink, new: AccessLink, senders: Vec<SenderKind>) -> Self {
        Self {
            old,
            new,
            kind: Kind::Mbb,
            disconnect: Duration::from_secs(1),
            dead: Dead::Both,
            unheard: Unheard::default(),
            gateway: Gateway::None,
            flows: 1,
            senders,
            runs: 5,
            program: Program::Iperf3,
            end: Vec::new(),
            warm_up: None,
            observe: Duration::from_secs(10),
            family: Family::Ipv4,
            seed: 1,
            parallel: 1,
            wired: Duration::ZERO,
            told_rate: 1.0,
            agent_mtu: true,
            notices: true,
            announce: None,
            ecn: false,
            packets: false,
        }
    }

    /// 5 s, and on slow links the time of 100 packets and ten round trips more: the flow fills the old link.
    pub fn warm_up(&self) -> Duration {
        self.warm_up.unwrap_or_else(|| {
            let packets = Duration::from_millis(100 * 12_000 / mean_kbps(&self.old.down));
            Duration::from_secs(5) + packets + 10 * self.round_trip(&self.old)
        })
    }

    /// Both ways over a link and the wired part, without serialisation.
    pub fn round_trip(&self, link: &AccessLink) -> Duration {
        link.round_trip() + 2 * self.wired
    }

    /// From the end of the old link to the new one.
    pub fn outage(&self) -> Duration {
        match self.kind {
            Kind::Mbb => Duration::ZERO,
            Kind::Bbm => self.disconnect,
        }
    }

    /// How long the uplink outlives the downlink: what is in its queue and on its way arrives, delayed ACKs too.
    pub fn uplink_outlives(&self) -> Duration {
        match (self.kind, self.dead) {
            (Kind::Bbm, Dead::DownFirst) => DELAYED_ACK + 2 * self.round_trip(&self.old),
            _ => Duration::ZERO,
        }
    }

    /// Octets of TCP data in a full packet of 1500: with time stamps, without SACK blocks.
    pub fn segment(&self) -> u32 {
        match self.family {
            Family::Ipv4 => 1500 - 20 - 32,
            Family::Ipv6 => 1500 - 40 - 32,
        }
    }

    /// The new link as the notice reports it; it came at `up` (ns).
    pub fn notice(&self, up: super::Nanos) -> Link {
        self.new.reported(up, self.told_rate)
    }

    /// The old link as the first report has it; it carries since the laboratory's time zero.
    pub fn first_report(&self) -> Link {
        self.old.reported(0, 1.0)
    }

    /// Refuses a plan that no laboratory can run.
    ///
    /// # Errors
    /// The first fault.
    pub fn check(&self) -> Result<(), Error> {
        let wrong = |what: String| Err(Error::Plan(what));
        for (name, link) in [("old", &self.old), ("new", &self.new)] {
            for way in [&link.down, &link.up] {
                check_link(way).map_err(|problem| Error::Plan(format!("{name}: {problem}")))?;
            }
        }
        for (name, value, range) in [
            ("warm-up", self.warm_up(), lab::WARM_UP),
            ("observe", self.observe, lab::OBSERVE),
            ("disconnect", self.disconnect, lab::DISCONNECT),
            ("wired", self.wired, lab::WIRED),
        ] {
            let [value, most] = [value, Duration::from_nanos(*range.end())].map(|time| time.as_secs_f64());
            if value > most {
                return wrong(format!("{name}: {value} s; expected at most {most} s"));
            }
        }
        if let Some(before) = self.announce {
            if self.kind != Kind::Mbb {
                return wrong("announce: a break before make; expected make before break".into());
            }
            if before > self.warm_up() {
                let [before, most] = [before, self.warm_up()].map(|time| time.as_secs_f64());
                return wrong(format!("announce: {before} s; expected at most {most} s, the warm-up"));
            }
        }
        if self.uplink_outlives() > Duration::ZERO && self.uplink_outlives() >= self.disconnect {
            return wrong(format!(
                "the uplink goes {} s after the downlink; expected a longer disconnection",
                self.uplink_outlives().as_secs_f64()
            ));
        }
        if self.gateway == Gateway::Nat && self.family == Family::Ipv6 {
            return wrong("a NAT of IPv6; expected IPv4".into());
        }
        for (name, share) in [("lost-icmp", self.unheard.icmp), ("lost-messages", self.unheard.first)] {
            if !lab::LOST.contains(&share) {
                return wrong(format!("{name} = {share}; expected a share from 0 to 1"));
            }
        }
        if self.senders.is_empty() {
            return wrong("no senders; expected at least one".into());
        }
        for (name, value, range) in [
            ("flows", self.flows, lab::FLOWS),
            ("runs", self.runs, lab::RUNS),
            ("parallel", self.parallel, 1..=64),
        ] {
            if !range.contains(&value) {
                return wrong(format!("{name} = {value}; expected {} to {}", range.start(), range.end()));
            }
        }
        if !lab::TOLD_RATE.contains(&self.told_rate) {
            let (rate, range) = (self.told_rate, lab::TOLD_RATE);
            return wrong(format!("told-rate = {rate}; expected {} to {}", range.start(), range.end()));
        }
        Ok(())
    }
}

/// Refuses one direction of a link that cannot be emulated.
fn check_link(way: &LinkConfig) -> Result<(), String> {
    if let Service::Fixed(rate) = &way.service
        && rate.bits_per_s() < 1000
    {
        return Err(format!("a rate of {} bit/s; expected 1 kbit/s or more", rate.bits_per_s()));
    }
    let delay = Duration::from_nanos(way.delay.least());
    if delay > Duration::from_secs(10) {
        return Err(format!("a delay of {} s; expected at most 10 s", delay.as_secs_f64()));
    }
    if let Queue::DropTail(Some(0)) = way.queue {
        return Err("a queue of 0 packets; it counts the one being sent, so at least 1".into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(kbps: u32, delay_us: u32) -> AccessLink {
        AccessLink::constant(kbps, delay_us, None)
    }

    #[test]
    fn reports_tell_the_links() {
        let mut plan = Plan::new(link(6400, 9000), link(200, 300_000), Vec::new());
        assert_eq!(plan.first_report(), Link { rate_kbps: 6400, delay_us: 9000 });
        assert_eq!(plan.notice(0), Link { rate_kbps: 200, delay_us: 300_000 });
        plan.told_rate = 10.0;
        assert_eq!(plan.notice(0), Link { rate_kbps: 2000, delay_us: 300_000 });
        assert_eq!(plan.outage(), Duration::ZERO);
        plan.kind = Kind::Bbm;
        assert_eq!(plan.outage(), Duration::from_secs(1));
    }

    #[test]
    fn the_warm_up_fills_slow_links() {
        let plan = Plan::new(link(200, 300_000), link(6400, 9000), Vec::new());
        assert_eq!(plan.warm_up(), Duration::from_secs(5 + 6 + 6));
    }

    #[test]
    fn what_cannot_run_is_refused() {
        let cubic = SenderKind::builtin("cubic", None);
        let error = |change: &dyn Fn(&mut Plan)| {
            let mut plan = Plan::new(link(6400, 9000), link(6400, 9000), vec![cubic.clone()]);
            plan.check().unwrap();
            change(&mut plan);
            plan.check().unwrap_err().to_string()
        };
        assert!(error(&|plan| plan.flows = 0).contains("flows = 0"));
        assert!(error(&|plan| plan.flows = 65).contains("flows = 65; expected 1 to 64"));
        assert!(error(&|plan| plan.runs = 1001).contains("runs = 1001; expected 1 to 1000"));
        assert!(error(&|plan| plan.disconnect = Duration::from_secs(301)).contains("disconnect: 301 s"));
        assert!(
            error(&|plan| plan.wired = Duration::from_secs(2)).contains("wired: 2 s; expected at most 1 s")
        );
        assert!(error(&|plan| plan.told_rate = 1001.0).contains("told-rate = 1001; expected 0.001 to 1000"));
        assert!(error(&|plan| plan.new = link(0, 1)).contains("new: a rate of 0"));
        assert!(error(&|plan| plan.old.up.queue = Queue::DropTail(Some(0))).contains("old: a queue of 0"));
        assert!(error(&|plan| plan.old = link(6400, 10_000_001)).contains("old: a delay of 10.000001 s"));
        assert!(error(&|plan| plan.senders.clear()).contains("no senders"));
        let announced = |kind, seconds| {
            error(&|plan| (plan.kind, plan.announce) = (kind, Some(Duration::from_secs(seconds))))
        };
        assert!(
            announced(Kind::Bbm, 0).contains("announce: a break before make; expected make before break")
        );
        // 5 s, 100 packets of 1.875 ms and ten round trips of 18 ms.
        assert!(announced(Kind::Mbb, 6).contains("announce: 6 s; expected at most 5.367 s, the warm-up"));
        assert!(error(&|plan| plan.told_rate = f64::NAN).contains("told-rate"));
        assert!(error(&|plan| plan.observe = Duration::from_secs(601)).contains("observe: 601 s"));
    }
}
