//! The speed runs: our engine and the real ns-2 over the same hops, one after the other. They include what that ns-2
//! does not have: Linux's sender, and handoffs between two cells.

use crate::Error;
use rayon::prelude::*;
use segue_world::check_scheme;
use segue_world::speed::{self, Case};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// One measurement and what is asked of it.
#[derive(Clone, Copy, Debug)]
pub struct Course {
    /// Which network.
    pub case: Case,
    /// Its letter, ns-2's argument, too, where ns-2 has it.
    pub letter: char,
    /// The case in words.
    pub what: &'static str,
    /// Simulated seconds that deliver ten million packets (`reference/ns2/README.md`).
    pub seconds: u64,
    /// Our packets per wall second must be these at least, in millions.
    pub pace: Option<f64>,
    /// ns-2 runs the same.
    pub beside_ns2: bool,
    /// Another case of which a packet may cost so much less: its run is beside each of these.
    pub over: Option<(Case, f64)>,
}

/// Ours over ns-2's pace, at least.
pub const RATIO: f64 = 4.5;
/// Delivered packets of a run, at least.
pub const PACKETS: u64 = 10_000_000;
/// The two may differ by this share of the delivered packets.
pub const SAME: f64 = 0.01;

/// All of them.
pub const COURSES: [Course; 7] = [
    Course {
        case: Case::OneFlow,
        letter: 'a',
        what: "one flow, 5 Mbit/s, 50 ms",
        seconds: 24_200,
        pace: Some(4.0),
        beside_ns2: true,
        over: None,
    },
    Course {
        case: Case::TenFlows,
        letter: 'b',
        what: "ten flows, 1 Gbit/s, 10 ms",
        seconds: 124,
        pace: Some(4.0),
        beside_ns2: true,
        over: None,
    },
    Course {
        case: Case::FourHops,
        letter: 'c',
        what: "four hops, 80 Mbit/s, 10 ms",
        seconds: 1_525,
        pace: None,
        beside_ns2: true,
        over: None,
    },
    Course {
        case: Case::LinuxCubic,
        letter: 'e',
        what: "the same, linux-6.12/cubic",
        seconds: 1_540,
        pace: Some(3.0),
        beside_ns2: false,
        over: None,
    },
    Course {
        case: Case::LinuxBbr,
        letter: 'f',
        what: "the same, linux-6.12/bbr",
        seconds: 1_600,
        pace: Some(2.0),
        beside_ns2: false,
        over: None,
    },
    Course {
        case: Case::Codel,
        letter: 'g',
        what: "four hops, queue=codel",
        seconds: 1_800,
        pace: None,
        beside_ns2: false,
        over: Some((Case::FourHops, MANAGED)),
    },
    Course {
        case: Case::FqCodel,
        letter: 'h',
        what: "four hops, queue=fq_codel",
        seconds: 1_800,
        pace: None,
        beside_ns2: false,
        over: Some((Case::FourHops, MANAGED)),
    },
];

/// A packet may cost so many times as much with a managed queue as with a drop-tail queue.
const MANAGED: f64 = 1.4;

/// One run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lap {
    /// Sum of the cumulative ACKs.
    pub delivered: u64,
    /// Wall clock, s.
    pub wall: f64,
}

impl Lap {
    /// Delivered packets per wall second.
    pub fn pace(&self) -> f64 {
        self.delivered as f64 / self.wall
    }
}

/// One run of ours.
pub fn ours(course: &Course, seconds: u64) -> Result<Lap, Error> {
    let start = Instant::now();
    let delivered = speed::run(course.case, seconds)?;
    Ok(Lap { delivered, wall: start.elapsed().as_secs_f64() })
}

/// Handoffs of a run between the two cells of Chou and Shin.
pub const HANDOFFS: u32 = 10_000;
/// They may take so long, s.
pub const HANDOFFS_WALL: f64 = 5.0;
/// The paper's conventional scheme and its proposal.
pub const HANDOFF_SCHEMES: [&str; 2] = ["buffer-fcfd", "buffer-lcfd+phas"];

/// One run of ours between the two cells.
pub fn handoffs(scheme: &str, count: u32) -> Result<Lap, Error> {
    let scheme = check_scheme(scheme, &[]).map_err(|error| Error::Scheme(error.to_string()))?;
    let start = Instant::now();
    let delivered = speed::handoffs(&scheme, count)?;
    Ok(Lap { delivered, wall: start.elapsed().as_secs_f64() })
}

/// Days of the run through weather: 10,000 handoffs.
pub const DAYS: u32 = HANDOFFS / speed::HANDOFFS_A_DAY;
/// Its threads, and the wall clock that it may take on as many cores, s.
pub const WEATHER_THREADS: usize = 2;
/// Likewise.
pub const WEATHER_WALL: f64 = 20.0;

/// One run of so many days from `leo` to `5g` with losses and jitter.
pub fn weather(days: u32) -> Result<Lap, Error> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(WEATHER_THREADS).build();
    let pool = pool.map_err(|error| Error::Scheme(format!("no threads: {error}")))?;
    let start = Instant::now();
    let days: Result<Vec<u64>, _> =
        pool.install(|| (1..=u64::from(days)).into_par_iter().map(speed::weather).collect());
    let delivered = days?.iter().sum();
    Ok(Lap { delivered, wall: start.elapsed().as_secs_f64() })
}

/// One run of ns-2, whose script reads the clock around the simulation alone.
pub fn ns2(course: &Course, seconds: u64, folder: &Path) -> Result<Lap, Error> {
    let script = folder.join("speed.tcl");
    let output = Command::new("ns")
        .arg(&script)
        .arg(course.letter.to_string())
        .arg(seconds.to_string())
        .output()
        .map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => Error::Ns2(
                "ns-2 is missing: there is no program `ns`; install it with: apt-get install ns2".to_string(),
            ),
            _ => Error::Ns2(format!("cannot run `ns`: {e}")),
        })?;
    let text = String::from_utf8_lossy(&output.stdout);
    parse(&text).filter(|_| output.status.success()).ok_or_else(|| {
        let problem = String::from_utf8_lossy(&output.stderr);
        Error::Ns2(format!(
            "ns {} failed: {}",
            script.display(),
            problem.lines().next().unwrap_or("no output")
        ))
    })
}

/// `case delivered wall_seconds packets_per_second`
fn parse(text: &str) -> Option<Lap> {
    let mut words = text.lines().last()?.split_whitespace().skip(1);
    Some(Lap { delivered: words.next()?.parse().ok()?, wall: words.next()?.parse().ok()? })
}

/// The median pace of some laps, of which there must be one at least.
pub fn median_pace(laps: &[Lap]) -> f64 {
    crate::measure::quartiles(laps.iter().map(Lap::pace).collect()).median
}

/// How many times as fast each lap is as the one that ran beside it: the median. A machine that is slow for a while slows
/// both.
pub fn median_ratio(laps: &[Lap], beside: &[Lap]) -> f64 {
    let ratios = laps.iter().zip(beside).map(|(lap, other)| lap.pace() / other.pace());
    crate::measure::quartiles(ratios.collect()).median
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine that is slow for one lap, both sides of it, changes nothing.
    #[test]
    fn a_ratio_is_that_of_laps_beside_each_other() {
        let laps = |walls: [f64; 3]| walls.map(|wall| Lap { delivered: 600, wall });
        assert_eq!(median_ratio(&laps([1.0, 9.0, 3.0]), &laps([2.0, 18.0, 6.0])), 2.0);
        assert_eq!(median_ratio(&laps([1.0, 2.0, 3.0]), &laps([3.0, 2.0, 6.0])), 2.0);
    }

    #[test]
    fn reads_what_the_script_prints() {
        let lap = parse("a 832943 1.098 758648\n");
        assert_eq!(lap, Some(Lap { delivered: 832_943, wall: 1.098 }));
        assert_eq!(parse(""), None);
    }
}
