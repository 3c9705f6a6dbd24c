//! The request to a laboratory, and the simulator's results for it.

pub use crate::lab_conditions::Conditions;
pub use crate::lab_sender::{Around, LabSenderKind, NoticeBy};
use crate::live_run::{LiveRun, Moment};
use crate::measure::seconds;
use rayon::prelude::*;
use segue_handoff::Scheme;
use segue_tcp::StackProfile;
use segue_tcp::linux::Writer;
use segue_tcp::linux::cc::CcName;
use segue_words::lab::{Family, Program};
use segue_world::{AccessLink, Experiment, Kind, Nanos, NoticeMode, SECOND, WarmRun};

/// A sender of the laboratory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabSender {
    /// As the plan has it.
    pub name: String,
    /// Its kind.
    pub kind: LabSenderKind,
    /// The part of the mobile that tells it, if it hears notices.
    pub notice_by: NoticeBy,
    /// Settings of the plan that its scheme has.
    pub settings: Vec<(String, String)>,
}

impl LabSender {
    /// A sender by its word: `cubic`, `reno-rto1s`, `cubic+freeze`, `bbr+agent`, `bbr+agent+freeze`, `etcp-v1`, `etcp-v1+icmp`,
    /// `tcp-ho/bbr`, `unaware`, `etcp-v1@laboratory`.
    ///
    /// # Errors
    /// The fault, in one line.
    pub fn named(word: &str) -> Result<Self, String> {
        let (kind, notice_by) = crate::lab_sender::read(word)?;
        Ok(Self { name: word.into(), kind, notice_by, settings: Vec::new() })
    }

    /// Whether the mobile freezes it before handoffs.
    pub fn freezes(&self) -> bool {
        matches!(self.kind, LabSenderKind::BuiltIn { freeze: true, .. })
    }

    /// Whether it hears notices.
    pub fn hears(&self) -> bool {
        matches!(self.kind, LabSenderKind::Scheme { .. })
    }

    /// Whether the mobile's agent alone helps it.
    pub fn has_agent(&self) -> bool {
        matches!(self.kind, LabSenderKind::BuiltIn { agent: true, .. })
    }

    /// Scheme and stack of the simulator that come nearest; `None` if it has none.
    fn in_simulator(&self, announce: Option<Nanos>) -> Option<(Scheme, StackProfile)> {
        match &self.kind {
            LabSenderKind::Scheme { name, around, icmp: false } => {
                let mut settings = vec![("enact".to_string(), "linux".to_string())];
                settings.extend(self.settings.iter().cloned());
                // A scheme without that setting has no such mobile.
                settings.extend(announce.map(|ns| ("announce".to_string(), format!("{ns}ns"))));
                Some((Scheme::build(name, &settings).ok()?, stack_around(*around)?))
            }
            LabSenderKind::Unaware { around } => {
                Some((Scheme::build("sack", &[]).ok()?, stack_around(*around)?))
            }
            LabSenderKind::BuiltIn { congestion_control, rto_max_ms, freeze: false, agent } => {
                let mut stack = kernel(CcName::named(congestion_control)?)?;
                if let Some(ms) = rto_max_ms {
                    stack.rto.max = Nanos::from(*ms) * 1_000_000;
                }
                let scheme = if *agent { "mobile" } else { "sack" };
                Some((Scheme::build(scheme, &[]).ok()?, stack))
            }
            _ => None,
        }
    }
}

/// The simulator's stack with what a scheme wraps.
fn stack_around(around: Around) -> Option<StackProfile> {
    kernel(match around {
        Around::Cubic => CcName::Cubic,
        Around::Bbr => CcName::Bbr,
    })
}

/// Stack of the simulated senders. Programs of this kernel can do all that senders of the laboratory do: the RTO's bound
/// needs Linux 6.15.
pub const KERNEL: &str = "linux-6.18";

/// As on the laboratory's devices, which take bursts.
fn kernel(control: CcName) -> Option<StackProfile> {
    let mut stack = StackProfile::named(KERNEL)?.with_control(control)?;
    stack.kernel.as_mut()?.bursts = true;
    Some(stack)
}

/// A checked plan.
#[derive(Clone, Debug, PartialEq)]
pub struct LabPlan {
    /// Stands above table and page.
    pub title: Option<String>,
    /// Link before.
    pub old: AccessLink,
    /// Link after.
    pub new: AccessLink,
    /// Make-before-break, or break-before-make with each length of the outage, in order.
    pub kinds: Vec<Kind>,
    /// Number of flows.
    pub flows: usize,
    /// The senders; the first is what the others are held against.
    pub senders: Vec<LabSender>,
    /// Runs of each sender and kind.
    pub runs: u32,
    /// From the start of the flows to the second in which the handoff comes.
    pub warm_up: Nanos,
    /// From link-up to the end of a run.
    pub observe: Nanos,
    /// One-way delay between server and access router.
    pub wired: Nanos,
    /// By how much delays of the simulated links change, as those of the laboratory do.
    pub noise: Nanos,
    /// The program that moves the data.
    pub program: Program,
    /// IPv4 or IPv6.
    pub ip: Family,
    /// Seed of what is random.
    pub seed: u64,
    /// The rate that notices tell, as a multiple of the new link's.
    pub told_rate: f64,
    /// How long before each handoff a mobile that freezes closes its window, ns.
    pub freeze_before: Nanos,
    /// Conditions that the simulator does not have.
    pub conditions: Conditions,
}

/// One-way delay between server and access router on the simulator's bench (docs/reference/bench.md): two hops of 2 ms.
pub const WIRED: Nanos = 4_000_000;

/// Jitter that makes simulated ACKs as irregular as those of the laboratory (docs/internals/fidelity.md). At 6400 kbit/s
/// ACKs are 3,750 us apart. Their standard deviation is 46 to 64 us there, and 59 to 62 us with this jitter.
pub const NOISE: Nanos = 50_000;

/// Times after link-up within which bytes are counted, ns.
const HORIZONS: [Nanos; 3] = [SECOND, 5 * SECOND, 10 * SECOND];

impl LabPlan {
    /// Number of runs.
    pub fn count(&self) -> u64 {
        (self.kinds.len() * self.senders.len()) as u64 * u64::from(self.runs)
    }

    /// Whether queues mark packets, so that senders ask for ECN.
    pub fn ecn(&self) -> bool {
        [&self.old, &self.new].into_iter().flat_map(|link| &link.features).any(|way| way.ecn)
    }

    /// Differences from the usual, as headings and files say them.
    pub fn conditions_in_words(&self) -> String {
        let mut words = self.conditions.words();
        if self.wired != WIRED {
            let separator = if words.is_empty() { "" } else { ", " };
            let [wired, bench] = [self.wired, WIRED].map(seconds);
            words.push_str(&format!("{separator}wired = {wired} s"));
            if self.is_simulated() {
                words.push_str(&format!(" (simulator: {bench} s)"));
            }
        }
        words
    }

    /// Whether the simulator has such flows and conditions.
    fn is_simulated(&self) -> bool {
        // It has no message of a smaller MTU, and agents of the laboratory may do without. An announcement is for senders
        // that hear notices alone.
        let told = Conditions { agent_mtu: true, announce: None, ..self.conditions };
        told == Conditions::default() && self.program != Program::Thin
    }

    /// The jitter that simulated links have as the laboratory's noise, ns; `None` if no link gets any.
    pub fn simulated_noise(&self) -> Option<Nanos> {
        let mut ways = [&self.old, &self.new].into_iter().flat_map(|link| &link.features);
        Some(self.noise).filter(|&noise| noise > 0 && ways.any(|way| way.jitter.is_none()))
    }

    /// The laboratory's runs of `sender` simulated, one for each of `moments`, each with a seed of its own. The flows
    /// are as old at T as in the laboratory, and a notice leaves the mobile as late. Over links that vary by the plan, T
    /// is the same by their clock. The links have the plan's noise, drawn from the seed. `None` if the simulator does
    /// not have such a sender, such flows or conditions, or a notice that errs. The same holds for announcements.
    pub fn simulated(&self, sender: &LabSender, kind: Kind, moments: &[Moment]) -> Option<Vec<LiveRun>> {
        if self.told_rate != 1.0 && (sender.hears() || sender.has_agent()) {
            return None;
        }
        if !self.is_simulated() {
            return None;
        }
        let (scheme, mut stack) = sender.in_simulator(self.conditions.announce)?;
        if let Some(kernel) = &mut stack.kernel {
            kernel.ecn = self.ecn();
            if self.program == Program::Iperf3 {
                kernel.writer = Writer::Iperf3;
            }
        }
        let varies = [&self.old, &self.new].into_iter().any(AccessLink::varies);
        let [old, new] = [&self.old, &self.new].map(|link| link.clone().with_jitter(self.noise));
        let run = |(index, &moment): (usize, &Moment)| {
            // Seed 1 starts all flows at fixed times, as the reference of ns-2 does.
            let seed = self.seed + index as u64;
            let experiment = Experiment {
                kind,
                flows: self.flows,
                notice: NoticeMode::InBand { lost: 0 },
                notice_delay: moment.notice.filter(|_| sender.hears()).unwrap_or(0),
                packets: 1,
                seed,
                ..Experiment::usual(old.clone(), new.clone(), stack)
            };
            let horizons: Vec<Nanos> = HORIZONS
                .into_iter()
                .filter(|&horizon| horizon < self.observe)
                .chain([self.observe])
                .collect();
            let mut warm = WarmRun::new(experiment);
            let first_data = warm.run_to_data();
            let at = if varies { moment.clock.max(first_data) } else { first_data + moment.age };
            let handoff = warm.fork(at).complete();
            let found = handoff.after_link_up(&scheme, &horizons);
            let bytes = |horizon: Nanos| {
                let index = horizons.iter().position(|&other| other == horizon)?;
                found.delivered.get(index).copied()
            };
            LiveRun {
                moment,
                first_send_s: found.first_sent.map(seconds),
                first_retransmission_s: None,
                first_data_s: None,
                share_after_round_trip: None,
                bytes_1s: bytes(HORIZONS[0]),
                bytes_5s: bytes(HORIZONS[1]),
                bytes_10s: bytes(HORIZONS[2]),
                drops: found.drops,
                lost_in_disconnection: found.lost_in_disconnection,
                retransmissions: found.retransmissions,
                gave_up: false,
            }
        };
        Some(moments.par_iter().enumerate().map(run).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The agent beside a kernel as it is: in the simulator the mobile alone, on the same stack.
    #[test]
    fn the_agent_alone_is_simulated() {
        let simulated =
            |word| LabSender::named(word).expect("a sender").in_simulator(None).expect("a scheme");
        let (plain, stack) = simulated("bbr");
        let (alone, same) = simulated("bbr+agent");
        assert!(plain.is_regular() && stack == same);
        assert!(alone.mobile().alone.is_some_and(|rule| rule.resumes && rule.bounds));
        for word in ["cubic+freeze", "cubic+agent+freeze"] {
            assert!(LabSender::named(word).expect("a sender").in_simulator(None).is_none());
        }
    }
}
