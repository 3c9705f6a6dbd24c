//! The real ns-2 as a source: regular TCP over the scenarios of both papers, handoff by handoff
//! (reference/ns2/README.md).

use crate::judge::Source;
use crate::ledger::Measure;
use crate::points::{Handoffs, Point, Single, nanos};
use crate::sample::{Sample, window_resent};
use segue_study::explain::SchemeTrace;
use segue_words::Choice;
use segue_world::KindWord;
use std::collections::BTreeMap;
use std::io::Read;

const RESULTS: &[u8] = include_bytes!("../../../reference/ns2/results.csv.gz");
/// P of these results.
const PACKETS: u32 = 100;

/// Samples of ns-2 by point.
#[derive(Clone, Debug)]
pub struct Ns2 {
    samples: BTreeMap<Point, Sample>,
}

/// Columns that are measures of ours.
const COLUMNS: [(&str, Measure); 9] = [
    ("defA_s", Measure::Transfer),
    ("rto_after", Measure::Timeouts),
    ("spur_rto_after", Measure::SpuriousTimeouts),
    ("rto_disc", Measure::TimeoutsInDisconnection),
    ("fr_after", Measure::FastRetransmits),
    ("drops_after", Measure::Drops),
    ("linkerr_drops", Measure::LostInDisconnection),
    ("rexmit_after", Measure::Retransmissions),
    ("flight_T", Measure::FlightAtT),
];

impl Ns2 {
    /// Reads the results that come with the program.
    pub fn read() -> Result<Self, csv::Error> {
        let mut text = String::new();
        flate2::read::GzDecoder::new(RESULTS).read_to_string(&mut text)?;
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let header = reader.headers()?.clone();
        let column = |name: &str| header.iter().position(|column| column == name).unwrap_or(usize::MAX);
        let mut samples: BTreeMap<Point, Sample> = BTreeMap::new();
        for row in reader.records() {
            let row = row?;
            let text = |name: &str| row.get(column(name)).unwrap_or_default();
            let number = |name: &str| text(name).parse::<f64>().unwrap_or(f64::NAN);
            let kind = KindWord::of(text("kind")).unwrap_or(KindWord::Bbm);
            let flows = number("flows") as usize;
            let point = Point::Handoffs(Handoffs {
                kind,
                disconnect: if kind == KindWord::Mbb { 0 } else { nanos(number("disc_s")) },
                links: format!(
                    "{}/{} {}/{}",
                    text("old_kbps"),
                    text("old_ms"),
                    text("new_kbps"),
                    text("new_ms")
                ),
                flows,
                packets: PACKETS,
            });
            let sample = samples.entry(point).or_default();
            for (name, measure) in COLUMNS {
                let value = match measure {
                    Measure::Transfer if text("incomplete") == "1" => f64::INFINITY,
                    _ => number(name),
                };
                sample.add(measure, value);
            }
            sample.add(Measure::TimeoutsFromT, number("rto_after") + number("rto_disc"));
            // Empty where no timer expires.
            let first_timeout = text("first_rto_s").parse().unwrap_or(f64::INFINITY);
            sample.add(Measure::FirstTimeout, first_timeout);
            if kind == KindWord::Bbm && flows == 1 {
                // A break leaves no ACK under way: what is sent first, a timer sends.
                sample.add(Measure::Unused, first_timeout);
            }
            // Where nothing is dropped every copy is needless.
            let count = |name: &str| number(name) as usize;
            if count("drops_after") == 0
                && let Some(value) = window_resent(
                    count("rto_after"),
                    count("spur_rto_after"),
                    number("rexmit_after"),
                    number("flight_T"),
                )
            {
                sample.add(Measure::WindowResent, value);
            }
        }
        Ok(Self { samples })
    }
}

impl Source for Ns2 {
    fn sample(&self, point: &Point, scheme: &str) -> Option<&Sample> {
        if scheme == "sack" { self.samples.get(point) } else { None }
    }

    fn trace(&self, _single: &Single, _scheme: &str) -> Option<&SchemeTrace> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::Stat;

    /// summary.csv: 200/300 to 6400/9, bbm 1 s, 1 flow: 0.705, 0.808, 0.965; 1.000 timeouts.
    #[test]
    fn the_summary_of_the_readme() {
        let ns2 = Ns2::read().expect("the results");
        let point = Point::Handoffs(Handoffs {
            kind: KindWord::Bbm,
            disconnect: 1_000_000_000,
            links: "200/300 6400/9".into(),
            flows: 1,
            packets: 100,
        });
        let sample = ns2.sample(&point, "sack").expect("there");
        let number = |measure, stat| (sample.number(measure, stat).expect("a number") * 1000.0).round();
        assert_eq!(
            [Stat::Q1, Stat::Median, Stat::Q3].map(|s| number(Measure::Transfer, s)),
            [705.0, 808.0, 965.0]
        );
        assert_eq!(number(Measure::SpuriousTimeouts, Stat::Share), 815.0);
        assert_eq!(number(Measure::Retransmissions, Stat::Mean), 13_195.0);
        assert!(ns2.sample(&point, "etcp").is_none());
    }
}
