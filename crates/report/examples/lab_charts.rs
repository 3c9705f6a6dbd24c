//! Draws the charts of docs/guide/lab-results.md and docs/guide/agent-alone.md from the CSV files beside them:
//! `cargo run -p segue-report --example lab_charts [FOLDER]`.

use segue_draw::{About, Across, Group, QuartileChart, Quartiles, Size, Spacing, standalone};
use segue_report::looks;
use std::path::Path;

/// A file of medians, its arrangement, and the charts that are drawn of it.
type Drawn = (&'static str, By, [Measure; 2]);
/// Name, column, title of the axis, factor of its unit, and where bars of an axis of ratios begin; none: a linear axis.
type Measure = (&'static str, &'static str, &'static str, f64, Option<f64>);

const CHARTS: [Drawn; 4] = [
    ("outages", By::Links, [FIRST, BYTES]),
    ("agent", By::Links, [FIRST, BYTES]),
    ("alone", By::Dead, [NEW, BYTES]),
    ("near", By::Flows, [SECOND, DROPS]),
];
const FIRST: Measure =
    ("first", "first_send_ms", "time from link-up to the first packet, s", 1e-3, Some(0.001));
const NEW: Measure = ("first", "new_ms", "time from link-up to new data, s", 1e-3, Some(0.001));
const BYTES: Measure = ("bytes", "mb_10s", "data in 10 s, MB", 1.0, None);
const SECOND: Measure = ("second", "kb_1s", "data in the first second, kB", 1.0, Some(10.0));
const DROPS: Measure = ("drops", "drops", "packets that the new link's queue dropped", 1.0, None);
/// Size of one chart.
const SIZE: Size = Size { width: 860, height: 230 };

/// The column whose values have a chart each, from top to bottom.
#[derive(Clone, Copy)]
pub enum By {
    /// Pairs of links; a group for each outage.
    Links,
    /// The directions that die first; a group for each outage.
    Dead,
    /// Numbers of flows; a group for each pair of links.
    Flows,
}

impl By {
    /// The columns of charts and of groups.
    fn columns(self) -> [&'static str; 2] {
        match self {
            Self::Links => ["links", "outage_s"],
            Self::Dead => ["dead", "outage_s"],
            Self::Flows => ["flows", "links"],
        }
    }

    /// The name of a chart, by its value.
    fn name(self, value: &str) -> String {
        match (self, value) {
            (Self::Links, links) => links.into(),
            (Self::Dead, "both") => "both directions die at once".into(),
            (Self::Dead, _) => "the downlink dies first".into(),
            (Self::Flows, count) => format!("flows: {count}"),
        }
    }

    /// Its heading, by its name.
    fn heading(self, name: &str) -> String {
        match self {
            Self::Links => format!("{} (kbit/s, ms one way)", arrowed(name)),
            Self::Dead | Self::Flows => name.into(),
        }
    }

    /// The label of a group.
    fn label(self, group: &str) -> String {
        match self {
            Self::Links | Self::Dead => format!("{group} s"),
            Self::Flows => arrowed(group),
        }
    }

    /// The title of the axis below.
    fn across(self) -> &'static str {
        match self {
            Self::Links | Self::Dead => "outage",
            Self::Flows => "links (kbit/s, ms one way)",
        }
    }

    fn description(self) -> &'static str {
        match self {
            Self::Links | Self::Dead => "Medians by the length of the outage, a bar for each sender.",
            Self::Flows => "Medians by pair of links, a bar for each sender.",
        }
    }
}

/// Links as people write them.
fn arrowed(links: &str) -> String {
    links.replace("->", "\u{2192}")
}

fn main() -> Result<(), String> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/lab");
    let folder = std::env::args().nth(1).map_or(beside.clone(), Into::into);
    for (file, by, charts) in CHARTS {
        let table =
            std::fs::read_to_string(beside.join(format!("{file}.csv"))).map_err(|error| error.to_string())?;
        for chart in charts {
            let picture = drawn(&table, file, by, chart)?;
            let path = folder.join(format!("{file}-{}.svg", chart.0));
            std::fs::write(&path, picture).map_err(|error| format!("{}: {error}", path.display()))?;
        }
    }
    Ok(())
}

/// The charts of a file, from top to bottom.
///
/// # Errors
/// The table lacks a column.
pub fn drawn(
    table: &str,
    file: &str,
    by: By,
    (name, column, measure, factor, begin): Measure,
) -> Result<String, String> {
    let mut lines = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().ok_or("an empty table")?;
    let place = |name: &str| head.iter().position(|own| *own == name).ok_or(format!("no column {name}"));
    let [parted, grouped] = by.columns();
    let (part, group, sender, value) = (place(parted)?, place(grouped)?, place("sender")?, place(column)?);
    let rows: Vec<Vec<&str>> = lines.collect();
    let senders = each(rows.iter().map(|row| row[sender]));
    let series = looks::series(senders.iter().map(|name| (*name, name.to_string())));
    let all = each(rows.iter().map(|row| row[part]));
    let mut parts = String::new();
    for (index, own_part) in all.iter().enumerate() {
        let own = || rows.iter().filter(|row| row[part] == *own_part);
        let bar = |own_group: &str, name: &str| {
            let row = own().find(|row| row[group] == own_group && row[sender] == name)?;
            // Nothing was sent.
            let median = match row[value] {
                "" => f64::INFINITY,
                number => number.parse::<f64>().ok()? * factor,
            };
            // From the foot of the axis to the median, so that hatchings tell senders of one hue apart.
            Some(Quartiles { q1: median.min(begin.unwrap_or(0.0)), median, q3: median })
        };
        let groups = each(own().map(|row| row[group])).into_iter().map(|own_group| Group {
            label: by.label(own_group),
            bars: senders.iter().map(|name| bar(own_group, name)).collect(),
            ..Group::default()
        });
        let title = by.name(own_part);
        let chart = QuartileChart {
            about: About {
                id: format!("{file}-{name}-{index}"),
                title: format!("{measure}, {title}"),
                description: by.description().into(),
                heading: by.heading(&title),
            },
            across: Across::Categories { label: by.across().into() },
            measure: measure.into(),
            spacing: if begin.is_some() { Spacing::Log } else { Spacing::Linear },
            series: series.clone(),
            groups: groups.collect(),
        };
        let top = u32::try_from(index).unwrap_or(0) * SIZE.height;
        parts.push_str(&chart.svg(SIZE).replacen("<svg ", &format!("<svg y=\"{top}\" "), 1));
    }
    let height = SIZE.height * u32::try_from(all.len()).unwrap_or(1);
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
        for (file, by, charts) in CHARTS {
            let table = std::fs::read_to_string(beside.join(format!("{file}.csv"))).expect("a table");
            for chart in charts {
                let kept =
                    std::fs::read_to_string(beside.join(format!("{file}-{}.svg", chart.0))).expect("a chart");
                let current = drawn(&table, file, by, chart).expect("a table");
                assert!(
                    kept == current,
                    "{file}-{}: cargo run -p segue-report --example lab_charts",
                    chart.0
                );
            }
        }
    }
}
