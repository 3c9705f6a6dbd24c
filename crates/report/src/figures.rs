//! The papers' figures, from what was run.

use crate::graphs;
use crate::pictures::Picture;
use segue_draw::{About, Across, Group, QuartileChart, Quartiles, Spacing};
use segue_reproduce::judge::Source;
use segue_reproduce::ledger::{Figure, Form, Measure, Panel, Paper, Stat};
use segue_reproduce::run::Results;

/// One figure, drawn.
pub struct DrawnFigure {
    /// Its panels, in order.
    pub panels: Vec<DrawnPanel>,
}

/// One panel, drawn.
pub struct DrawnPanel {
    /// Its title.
    pub title: String,
    /// Title of the horizontal axis of quartile bars.
    pub x: Option<String>,
    /// The picture.
    pub(crate) picture: Picture,
}

impl DrawnPanel {
    /// Title and horizontal axis.
    pub(crate) fn caption(&self) -> String {
        match &self.x {
            Some(x) => format!("{}, over {x}", self.title),
            None => self.title.clone(),
        }
    }

    /// The picture as a file of its own.
    pub fn standalone(&self) -> String {
        segue_draw::standalone(self.picture.wide())
    }
}

/// Draws a figure; a bar without a result is left out.
pub fn figure(paper: &Paper, figure: &Figure, results: &Results) -> DrawnFigure {
    let panels = figure.panels.iter().enumerate().filter_map(|(index, panel)| {
        let id = format!("{}-{}-{index}", paper.id, figure.id);
        let picture = match figure.form {
            Form::Quartiles => quartiles(paper, figure, panel, results, &id),
            Form::Sequence => sequence(paper, panel, results, &id)?,
        };
        Some(DrawnPanel { title: panel.title.clone(), x: panel.x.clone(), picture })
    });
    DrawnFigure { panels: panels.collect() }
}

fn quartiles(paper: &Paper, figure: &Figure, panel: &Panel, results: &Results, id: &str) -> Picture {
    let of = panel.of.unwrap_or(Measure::Transfer);
    let bar = |series: usize, position: usize| {
        let point = panel.point(paper, series, position)?;
        let sample = results.sample(&point, &paper.own(&panel.series[series].scheme))?;
        let number = |stat| sample.number(of, stat);
        Some(Quartiles { q1: number(Stat::Q1)?, median: number(Stat::Median)?, q3: number(Stat::Q3)? })
    };
    let groups: Vec<Group> = panel
        .labels
        .iter()
        .enumerate()
        .map(|(position, label)| Group {
            label: label.clone(),
            position: position as f64,
            bars: (0..panel.series.len()).map(|series| bar(series, position)).collect(),
            ..Group::default()
        })
        .collect();
    let title = format!("{}, {}", figure.place, panel.title);
    let description = format!("{} Horizontal axis: {}.", figure.title, panel.x.as_deref().unwrap_or("-"));
    Picture::draw((360, 380), |size, suffix| {
        let chart = QuartileChart {
            about: About {
                id: format!("{id}{suffix}"),
                title: title.clone(),
                description: description.clone(),
                heading: String::new(),
            },
            across: Across::Categories,
            measure: measure_title(of, panel.packets.unwrap_or(paper.defaults.packets)),
            spacing: Spacing::Linear,
            schemes: panel.series.iter().map(|series| series.label.clone()).collect(),
            groups: groups.clone(),
        };
        chart.svg(size)
    })
}

fn measure_title(of: Measure, packets: u32) -> String {
    match of {
        Measure::Transfer => format!("transfer of {packets} packets, s"),
        Measure::Drops => "drops per handoff".into(),
        Measure::DataDrops => "data packets dropped per handoff".into(),
        Measure::Timeouts => "timeouts per handoff".into(),
        Measure::NeedlessRetransmissions => "needless retransmissions per handoff".into(),
        Measure::Unused => "unused connection time, s".into(),
        other => format!("{other:?}"),
    }
}

fn sequence(paper: &Paper, panel: &Panel, results: &Results, id: &str) -> Option<Picture> {
    let handoff = panel.handoff.as_ref()?;
    let told = results.trace(&handoff.single(paper), &paper.own(&handoff.scheme))?;
    let graph = graphs::graphs(told, id).sequence;
    Some(Picture::draw((400, 360), |size, suffix| {
        let mut graph = graph.clone();
        graph.about.id.push_str(suffix);
        graph.svg(size)
    }))
}
