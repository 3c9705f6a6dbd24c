//! Draws the charts of docs/guide/lab.md from the CSV files beside them:
//! `cargo run -p segue-report --example lab_charts [FOLDER]`.

use segue_draw::{About, Across, Group, QuartileChart, Quartiles, Size, Spacing, standalone};
use segue_report::looks;
use std::path::Path;

/// A file of medians, and the charts that are drawn of it: name, column, title of the axis, spacing, factor of its unit.
type Drawn = (&'static str, [(&'static str, &'static str, &'static str, Spacing, f64); 2]);

const CHARTS: [Drawn; 2] = [("outages", [FIRST, BYTES]), ("agent", [FIRST, BYTES])];
const FIRST: (&str, &str, &str, Spacing, f64) =
    ("first", "first_send_ms", "time from link-up to the first packet, s", Spacing::Log, 1e-3);
const BYTES: (&str, &str, &str, Spacing, f64) = ("bytes", "mb_10s", "data in 10 s, MB", Spacing::Linear, 1.0);
/// Where an axis of ratios begins, s.
const SHORTEST: f64 = 0.01;
/// Size of the chart of one pair of links.
const SIZE: Size = Size { width: 860, height: 230 };

fn main() -> Result<(), String> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/lab");
    let folder = std::env::args().nth(1).map_or(beside.clone(), Into::into);
    for (file, charts) in CHARTS {
        let table =
            std::fs::read_to_string(beside.join(format!("{file}.csv"))).map_err(|error| error.to_string())?;
        for chart in charts {
            let picture = drawn(&table, file, chart)?;
            let path = folder.join(format!("{file}-{}.svg", chart.0));
            std::fs::write(&path, picture).map_err(|error| format!("{}: {error}", path.display()))?;
        }
    }
    Ok(())
}

/// A chart for each pair of links, from top to bottom.
pub fn drawn(
    table: &str,
    file: &str,
    (name, column, measure, spacing, factor): (&str, &str, &str, Spacing, f64),
) -> Result<String, String> {
    let mut lines = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().ok_or("an empty table")?;
    let place = |name: &str| head.iter().position(|own| *own == name).ok_or(format!("no column {name}"));
    let (links, outage, sender, value) =
        (place("links")?, place("outage_s")?, place("sender")?, place(column)?);
    let rows: Vec<Vec<&str>> = lines.collect();
    let senders = each(rows.iter().map(|row| row[sender]));
    let series = looks::series(senders.iter().map(|name| (*name, name.to_string())));
    let pairs = each(rows.iter().map(|row| row[links]));
    let mut parts = String::new();
    for (index, pair) in pairs.iter().enumerate() {
        let own = || rows.iter().filter(|row| row[links] == *pair);
        let bar = |outage_s: &str, name: &str| {
            let row = own().find(|row| row[outage] == outage_s && row[sender] == name)?;
            // Nothing was sent.
            let median = match row[value] {
                "" => f64::INFINITY,
                number => number.parse::<f64>().ok()? * factor,
            };
            // From the foot of the axis to the median, so that hatchings tell senders of one hue apart.
            let foot = if spacing == Spacing::Log { SHORTEST } else { 0.0 };
            Some(Quartiles { q1: median.min(foot), median, q3: median })
        };
        let groups = each(own().map(|row| row[outage])).into_iter().map(|outage_s| Group {
            label: format!("{outage_s} s"),
            bars: senders.iter().map(|name| bar(outage_s, name)).collect(),
            ..Group::default()
        });
        let chart = QuartileChart {
            about: About {
                id: format!("{file}-{name}-{index}"),
                title: format!("{measure}, {pair}"),
                description: "Medians by the length of the outage, a bar for each sender.".into(),
                heading: format!("{} (kbit/s, ms one way)", pair.replace("->", "\u{2192}")),
            },
            across: Across::Categories { label: "outage".into() },
            measure: measure.into(),
            spacing,
            series: series.clone(),
            groups: groups.collect(),
        };
        let top = u32::try_from(index).unwrap_or(0) * SIZE.height;
        parts.push_str(&chart.svg(SIZE).replacen("<svg ", &format!("<svg y=\"{top}\" "), 1));
    }
    let height = SIZE.height * u32::try_from(pairs.len()).unwrap_or(1);
    let whole = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         role=\"img\"><title>{measure}</title>\n{parts}</svg>\n",
        width = SIZE.width
    );
    Ok(standalone(&whole))
}

/// Each word once, in order.
fn each<'a>(words: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut all: Vec<&str> = Vec::new();
    words.for_each(|word| {
        if !all.contains(&word) {
            all.push(word);
        }
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The charts in docs/guide/lab are those of the tables beside them.
    #[test]
    fn the_charts_are_current() {
        let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/lab");
        for (file, charts) in CHARTS {
            let table = std::fs::read_to_string(beside.join(format!("{file}.csv"))).expect("a table");
            for chart in charts {
                let kept =
                    std::fs::read_to_string(beside.join(format!("{file}-{}.svg", chart.0))).expect("a chart");
                let current = drawn(&table, file, chart).expect("a table");
                assert!(
                    kept == current,
                    "{file}-{}: cargo run -p segue-report --example lab_charts",
                    chart.0
                );
            }
        }
    }
}
