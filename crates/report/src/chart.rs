//! The chart of quartiles of a comparison: along a parameter that varies, or block by block.

use crate::{headline_of, looks};
use segue_draw::{About, Across, Group, QuartileChart, Quartiles, Series, Spacing};
use segue_study::presentation::Scale;
use segue_study::{Comparison, GroupResult, Parameter, Presentation, Row};
use segue_world::{Experiment, Kind, SECOND};

/// Medians further apart than this are drawn on a log axis: handoffs in both directions differ by orders of
/// magnitude.
const WIDE_RANGE: f64 = 8.0;

/// The chart; its id is `quartiles`.
pub fn quartiles(comparison: &Comparison, presentation: &Presentation) -> QuartileChart {
    let asked = presentation.chart;
    let (series, groups, across) = match asked.across {
        None => (
            looks::series(schemes(comparison).map(|scheme| (scheme, scheme.to_string()))),
            blocks(comparison),
            Across::Categories { label: String::new() },
        ),
        Some(parameter) => {
            let (series, groups) = along(comparison, parameter);
            let label = match asked.horizontal {
                Scale::Linear => parameter.label().to_string(),
                Scale::Log => format!("{} (log)", parameter.label()),
            };
            (series, groups, Across::Numbers { label, spacing: spacing(asked.horizontal) })
        }
    };
    let vertical = asked.vertical.map_or_else(|| fitting(&groups), spacing);
    QuartileChart {
        about: About {
            id: "quartiles".into(),
            title: "Transfer time by scheme".into(),
            description: "Quartiles of the transfer time of each scheme, beside the physical bound.".into(),
            heading: presentation.title.clone().unwrap_or_default(),
        },
        across,
        measure: "transfer time, s".into(),
        spacing: vertical,
        series,
        groups,
    }
}

fn spacing(scale: Scale) -> Spacing {
    match scale {
        Scale::Linear => Spacing::Linear,
        Scale::Log => Spacing::Log,
    }
}

/// The spacing that suits the range of the medians.
fn fitting(groups: &[Group]) -> Spacing {
    let bars = groups.iter().flat_map(|group| group.bars.iter().flatten());
    let medians = bars.map(|bar| bar.median).filter(|median| median.is_finite() && *median > 0.0);
    let (low, high) = medians.fold((f64::INFINITY, 0.0_f64), |(low, high), t| (low.min(t), high.max(t)));
    if high > WIDE_RANGE * low { Spacing::Log } else { Spacing::Linear }
}

fn schemes(comparison: &Comparison) -> impl Iterator<Item = &str> + Clone {
    comparison.groups.iter().take(1).flat_map(|group| group.rows.iter().map(|row| row.scheme.as_str()))
}

fn bar(row: &Row) -> Quartiles {
    let infinite = |value: Option<f64>| value.unwrap_or(f64::INFINITY);
    Quartiles {
        q1: infinite(row.transfer_s.q1),
        median: infinite(row.transfer_s.median),
        q3: infinite(row.transfer_s.q3),
    }
}

/// The bound of all bars of a group; on different stacks there is none.
fn bound(group: &GroupResult) -> Option<f64> {
    group.rows.first().and_then(|row| row.bound_s).filter(|_| group.same_bounds())
}

/// The bound of each bar where there is none of all.
fn bounds(group: &GroupResult) -> Vec<Option<f64>> {
    if group.same_bounds() { Vec::new() } else { group.rows.iter().map(|row| row.bound_s).collect() }
}

/// One group of bars per block of the table.
fn blocks(comparison: &Comparison) -> Vec<Group> {
    let group = |group: &GroupResult| Group {
        label: label(comparison, group),
        position: 0.0,
        bound: bound(group),
        bounds: bounds(group),
        bars: group.rows.iter().map(|row| Some(bar(row))).collect(),
    };
    comparison.groups.iter().map(group).collect()
}

/// Words by which a group differs from the others: links, kind, flows.
fn label(comparison: &Comparison, group: &GroupResult) -> String {
    let experiment = &group.experiment;
    let mut words = links(comparison, experiment);
    words.extend(kind(comparison, experiment));
    words.extend(flows(comparison, experiment));
    words.extend(group.handoff.map(|nth| format!("handoff {nth}")));
    if words.is_empty() { headline_of(group) } else { words.join(", ") }
}

fn differs(comparison: &Comparison, differs: impl Fn(&Experiment) -> bool) -> bool {
    comparison.groups.iter().any(|group| differs(&group.experiment))
}

fn links(comparison: &Comparison, experiment: &Experiment) -> Vec<String> {
    let (old, new) = (&experiment.old.text, &experiment.new.text);
    match differs(comparison, |other| other.old.text != *old || other.new.text != *new) {
        true => vec![format!("{old} \u{2192} {new}")],
        false => Vec::new(),
    }
}

fn kind(comparison: &Comparison, experiment: &Experiment) -> Option<String> {
    let is_bbm = |kind: Kind| kind.breaks();
    let other_length = |other: &Experiment| is_bbm(other.kind) && other.kind != experiment.kind;
    match experiment.kind {
        kind if !differs(comparison, |other| other.kind != kind) => None,
        Kind::Bbm(length) if differs(comparison, other_length) => {
            Some(format!("bbm {} s", length as f64 / SECOND as f64))
        }
        kind => Some(kind.word().into()),
    }
}

fn flows(comparison: &Comparison, experiment: &Experiment) -> Option<String> {
    let flows = experiment.flows;
    let plural = if flows == 1 { "" } else { "s" };
    differs(comparison, |other| other.flows != flows).then(|| format!("{flows} flow{plural}"))
}

/// The series, and the groups at their positions: a series is a scheme with whatever else varies.
fn along(comparison: &Comparison, parameter: Parameter) -> (Vec<Series>, Vec<Group>) {
    let rest: Vec<String> =
        comparison.groups.iter().map(|group| rest(comparison, &group.experiment, parameter)).collect();
    let mut kinds_of_rest: Vec<&String> = Vec::new();
    for words in &rest {
        if !kinds_of_rest.contains(&words) {
            kinds_of_rest.push(words);
        }
    }
    let schemes: Vec<&str> = schemes(comparison).collect();
    let named = kinds_of_rest.iter().flat_map(|words| {
        schemes.iter().map(move |&scheme| match words.is_empty() {
            true => (scheme, scheme.to_string()),
            false => (scheme, format!("{scheme}, {words}")),
        })
    });
    let series = looks::series(named);
    let groups = comparison.groups.iter().zip(&rest).map(|(group, words)| {
        let place = kinds_of_rest.iter().position(|other| *other == words).unwrap_or(0) * schemes.len();
        let mut bars = vec![None; series.len()];
        let mut own_bounds = vec![None; series.len()];
        for (index, bound) in bounds(group).into_iter().enumerate() {
            own_bounds[place + index] = bound;
        }
        for (index, row) in group.rows.iter().enumerate() {
            bars[place + index] = Some(bar(row));
        }
        let position = parameter.of(&group.experiment).unwrap_or(f64::NAN);
        Group { label: words.clone(), position, bound: bound(group), bounds: own_bounds, bars }
    });
    let groups = groups.collect();
    (series, groups)
}

/// Words by which a group differs from others at the same position, for the legend.
fn rest(comparison: &Comparison, experiment: &Experiment, across: Parameter) -> String {
    use Parameter::{Disconnect, NewDelay, NewRate, OldDelay, OldRate};
    let all = || comparison.groups.iter().map(|group| &group.experiment);
    let measured = |parameter: Parameter| all().any(|other| parameter.of(other).is_none());
    let mut words = Vec::new();
    if [OldRate, OldDelay, NewRate, NewDelay].into_iter().any(measured) {
        words.extend(links(comparison, experiment));
    } else {
        for (old, new, unit) in [(OldRate, NewRate, "kbit/s"), (OldDelay, NewDelay, "ms")] {
            let value = |parameter: Parameter| parameter.of(experiment).unwrap_or(f64::NAN);
            let varies = |parameter: Parameter| parameter != across && parameter.varies(all());
            // Where both links have the same, once is enough.
            if varies(old) && varies(new) && all().all(|other| old.of(other) == new.of(other)) {
                words.push(format!("{} {unit}", value(old)));
                continue;
            }
            words.extend(varies(old).then(|| format!("old {} {unit}", value(old))));
            words.extend(varies(new).then(|| format!("new {} {unit}", value(new))));
        }
    }
    if across != Disconnect {
        words.extend(kind(comparison, experiment));
    }
    if across != Parameter::Flows {
        words.extend(flows(comparison, experiment));
    }
    words.join(", ")
}
