//! Two logs of the same scenario side by side.

use super::bench::Bench;
use super::log::{Instant, Log};
use segue_tcp::Nanos;
use segue_tcp::profile::LINUX_6_12;
use std::fmt;

/// Logs have us; netem adds some ns on the way, or 490 where packets meet.
pub const TOLERANCE: Nanos = 1_490;

/// How far two logs agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agreement {
    /// Instants that are alike from the start on.
    pub instants: usize,
    /// Instants of the kernel's log.
    pub of_instants: usize,
    /// Data packets sent in those that are alike.
    pub packets: usize,
    /// Data packets of the kernel's log.
    pub of_packets: usize,
}

/// Whether the same happens at the same time.
pub fn alike(ours: &Instant, theirs: &Instant) -> bool {
    ours.at.abs_diff(theirs.at) <= TOLERANCE && ours.events == theirs.events
}

/// How far `ours` is like `theirs`.
pub fn agreement(ours: &Log, theirs: &Log) -> Agreement {
    let pairs = ours.instants.iter().zip(&theirs.instants);
    let same = pairs.take_while(|(ours, theirs)| alike(ours, theirs)).count();
    let count = |instants: &[Instant]| instants.iter().map(Instant::packets).sum();
    Agreement {
        instants: same,
        of_instants: theirs.instants.len(),
        packets: count(&theirs.instants[..same]),
        of_packets: count(&theirs.instants),
    }
}

impl fmt::Display for Agreement {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { instants, of_instants, packets, of_packets } = self;
        if instants == of_instants {
            return write!(f, "no difference in {instants} instants with {packets} packets");
        }
        write!(f, "alike: {instants} of {of_instants} instants, with {packets} of {of_packets} packets")
    }
}

/// The log of our sender in the scenario of `theirs`, for as long.
pub fn ours(theirs: &Log, seed: u64) -> Log {
    let end = theirs.instants.last().map_or(0, |instant| instant.at + TOLERANCE);
    Bench::new(theirs.scenario, &LINUX_6_12, seed).run(end, u32::MAX / 2)
}

/// The first of `seeds` with which ours is like `theirs` for longest: bbr draws by lot.
pub fn best_seed(theirs: &Log, seeds: std::ops::Range<u64>) -> u64 {
    let mut best = (seeds.start, 0);
    for seed in seeds {
        // A run that does not go beyond what the best one has in common is not finished.
        let Some(next) = theirs.instants.get(best.1) else { break };
        let until = |end| Bench::new(theirs.scenario, &LINUX_6_12, seed).run(end, u32::MAX / 2);
        if agreement(&until(next.at + TOLERANCE), theirs).instants > best.1 {
            best = (seed, agreement(&ours(theirs, seed), theirs).instants);
        }
    }
    best.0
}

/// Prints two logs instant by instant: ours on the left, the kernel's on the right.
pub struct SideBySide<'a> {
    /// Our sender's.
    pub ours: &'a Log,
    /// The kernel's.
    pub theirs: &'a Log,
    /// Instants before and after the first difference; 0: all.
    pub around: usize,
}

impl fmt::Display for SideBySide<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let same = agreement(self.ours, self.theirs).instants;
        let (from, most) = match self.around {
            0 => (0, usize::MAX),
            around => (same.saturating_sub(around), same.saturating_add(around)),
        };
        let rest = |log: &Log| log.instants.len().min(most).max(same);
        let (mut ours, mut theirs) = (
            self.ours.instants[from..rest(self.ours)].iter().peekable(),
            self.theirs.instants[from..rest(self.theirs)].iter().peekable(),
        );
        writeln!(f, "{:>12}  {:44}  kernel", "s", "linux-6.12")?;
        let mut differed = false;
        while let Some(at) = [ours.peek(), theirs.peek()].into_iter().flatten().map(|i| i.at).min() {
            let now = |instant: &&Instant| instant.at.abs_diff(at) <= TOLERANCE;
            let (left, right) = (ours.next_if(now), theirs.next_if(now));
            let alike = left.zip(right).is_some_and(|(left, right)| alike(left, right));
            let mark = match (alike, differed) {
                (true, _) => "",
                (false, false) => "  <- first difference",
                (false, true) => "  <-",
            };
            differed |= !alike;
            let text = |instant: Option<&Instant>| instant.map_or("-".to_string(), Instant::to_string);
            let at = at as f64 / 1e9;
            writeln!(f, "{at:12.6}  {:44}  {}{mark}", text(left), text(right))?;
        }
        Ok(())
    }
}
