//! The same losses in both programs (`reference/ns2/same_weather.csv.gz`): ns-2's `ErrorModel/List` loses the packets
//! that our links drew. So handoffs can be compared one by one, and chance parts no medians.

use crate::Error;
use crate::measure::quartiles;
use crate::table::Table;
use crate::weather::{self, FIRST_SEED, TENTHS, Weather};
use segue_world::Experiment;
use segue_world::access::LinkSeed;
use std::fmt::Write;
use std::ops::Range;
use std::path::Path;

/// Seeds of each line.
const SEEDS: u64 = 200;
/// Packets of each direction of a link whose losses are told. A run sends fewer.
const PACKETS: u32 = 50_000;
/// Handoffs are alike if A differs by at most so many seconds.
pub const ALIKE: f64 = 0.001;

/// The handoffs of a line of `weather.csv`, in the order of seeds and times.
#[derive(Clone, Debug)]
pub struct SameWeather {
    /// Links, kind, flows, losses.
    pub line: Weather,
    /// A in ns-2, s; infinite if it is not done.
    pub ns2: Vec<f64>,
}

/// Both programs in the same weather.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// Median of A in ours, s.
    pub ours: f64,
    /// In ns-2, s.
    pub ns2: f64,
    /// Share of the handoffs that are alike.
    pub alike: f64,
}

impl Outcome {
    /// How far our median is from ns-2's.
    pub fn error(&self) -> f64 {
        self.ours / self.ns2 - 1.0
    }

    /// Whether it is near enough.
    pub fn is_met(&self) -> bool {
        self.error().abs() <= weather::TARGET
    }
}

impl SameWeather {
    /// Simulates the same handoffs.
    pub fn outcome(&self) -> Result<Outcome, Error> {
        let ours = weather::times(seeds(), |seed| experiment(&self.line, seed))?;
        let alike = |(ours, ns2): &(&f64, &f64)| ours == ns2 || (*ours - *ns2).abs() <= ALIKE;
        let alike = ours.iter().zip(&self.ns2).filter(alike).count() as f64 / self.ns2.len() as f64;
        Ok(Outcome { ours: quartiles(ours).median, ns2: quartiles(self.ns2.clone()).median, alike })
    }
}

fn seeds() -> Range<u64> {
    FIRST_SEED..FIRST_SEED + SEEDS
}

/// ns-2's clocks stand as with seed 1 of ours, whatever the weather.
fn experiment(line: &Weather, seed: u64) -> Result<Experiment, Error> {
    Ok(Experiment { seed: 1, weather: Some(seed), ..line.experiment(seed)? })
}

/// Lines of `weather.csv`, from 1, whose losses are all that is drawn: RED draws in either program for itself.
fn lines(folder: &Path) -> Result<Vec<(usize, Weather)>, Error> {
    let lines = weather::read(folder)?.into_iter().enumerate();
    Ok(lines.map(|(index, line)| (index + 1, line)).filter(|(_, line)| line.red == [false; 2]).collect())
}

/// The losses of links in each line with each seed, as CSV for `weather.py same`. For each link there is a list for data and
/// one for ACKs, behind a stroke, of numbers of packets from 0.
pub fn losses(folder: &Path) -> Result<String, Error> {
    let mut csv = String::from("line,seed,olist,nlist\n");
    for (number, line) in lines(folder)? {
        for seed in seeds() {
            let experiment = experiment(&line, seed)?;
            let ends = [&experiment.old, &experiment.new];
            let lists = [0, 1].map(|end| {
                let place: LinkSeed = experiment.link_seed(end);
                [ends[end].down_config(place).loss, ends[end].up_config(place).loss]
                    .map(|model| {
                        let Some(mut model) = model else { return String::new() };
                        let lost: Vec<String> = (0..PACKETS)
                            .filter(|_| model.loses(0))
                            .map(|packet| packet.to_string())
                            .collect();
                        lost.join(",")
                    })
                    .join("/")
            });
            writeln!(csv, "{number},{seed},\"{}\",\"{}\"", lists[0], lists[1]).expect("into text");
        }
    }
    Ok(csv)
}

/// The lines that ns-2 has run in our weather.
pub fn read(folder: &Path) -> Result<Vec<SameWeather>, Error> {
    let table = Table::read(&folder.join("same_weather.csv.gz"))?;
    let mut all: Vec<(usize, SameWeather)> = lines(folder)?
        .into_iter()
        .map(|(number, line)| (number, SameWeather { line, ns2: Vec::new() }))
        .collect();
    for row in table.rows() {
        let number: usize = row.value("line")?;
        let of = all.iter_mut().find(|(known, _)| *known == number);
        let (_, of) = of.ok_or_else(|| row.wrong("expected a line of weather.csv without RED".into()))?;
        let (seed, tenths) = (row.value::<u64>("seed")?, (row.value::<f64>("T")? * 10.0).round() as u64);
        let place = of.ns2.len();
        if (seed, tenths) != (FIRST_SEED + (place / TENTHS.len()) as u64, TENTHS[place % TENTHS.len()]) {
            return Err(row.wrong("expected the seeds from 2 on, with the handoff times in order".into()));
        }
        of.ns2.push(row.value("A")?);
    }
    Ok(all.into_iter().map(|(_, line)| line).filter(|line| !line.ns2.is_empty()).collect())
}
