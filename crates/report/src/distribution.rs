//! The distribution of the transfer times of a block, beside its quartiles.

use crate::pictures::Picture;
use crate::{headline_of, looks, page};
use segue_draw::{About, Line, LineChart, LinePlot, Look};
use segue_study::{GroupResult, Row};

/// Parts of the handoffs that a curve tells apart.
const PARTS: usize = 40;

/// The curve of a scheme in a block.
fn curve(group: &GroupResult, row: &Row) -> Vec<(f64, f64)> {
    let own = group.handoffs.iter().filter(|handoff| handoff.scheme == row.scheme);
    shares(own.map(|handoff| handoff.transfer_s.unwrap_or(f64::INFINITY)).collect())
}

/// The points of the curves as CSV.
pub fn distribution_csv(group: &GroupResult) -> String {
    let points = group.rows.iter().flat_map(|row| {
        let points = curve(group, row).into_iter();
        points.map(|(time, share)| vec![row.scheme.clone(), time.to_string(), share.to_string()])
    });
    page::csv(&["scheme", "transfer_s", "share"], points)
}

/// Shares of the handoffs that are done within each time, and what the picture shows. `group` must have kept its
/// handoffs.
pub fn distribution(index: usize, group: &GroupResult) -> (Picture, String) {
    let line = |(row, look): (&Row, Look)| Line {
        label: row.scheme.clone(),
        look,
        steps: false,
        points: curve(group, row),
    };
    let headline = headline_of(group);
    let looks = looks::looks(group.rows.iter().map(|row| row.scheme.as_str()));
    let chart = LineChart {
        about: About {
            id: format!("distribution-{index}"),
            title: format!("Distribution of the transfer time, {headline}"),
            description: "One curve per scheme: the share of the handoffs that are done within a time."
                .into(),
            heading: String::new(),
        },
        across: "transfer time, s".into(),
        plots: vec![LinePlot {
            measure: "share of handoffs".into(),
            lines: group.rows.iter().zip(looks).map(line).collect(),
        }],
    };
    let picture = Picture::draw((300, 300), |size, suffix| {
        let mut chart = chart.clone();
        chart.about.id.push_str(suffix);
        chart.svg(size)
    });
    let caption = match index {
        0 => format!(
            "{headline}: share of the handoffs that are done within a time. A curve that ends below 1 belongs to a \
             scheme with handoffs that are not done."
        ),
        _ => format!("{headline}: share of the handoffs that are done within a time."),
    };
    (picture, caption)
}

/// Times and the shares of `times` that are no longer, in equal steps of the share; infinite ones have no place.
fn shares(mut times: Vec<f64>) -> Vec<(f64, f64)> {
    times.sort_by(f64::total_cmp);
    let all = times.len();
    let parts = PARTS.min(all);
    let ranks = (0..=parts).map(|part| (part * all).div_ceil(parts.max(1)));
    let place = |rank: usize| {
        let time = *times.get(rank.saturating_sub(1))?;
        time.is_finite().then_some((time, rank as f64 / all as f64))
    };
    ranks.map_while(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: of four times the k-th is the least with a share of k/4 below or at it.
    #[test]
    fn a_curve_rises_by_the_share_of_each_time() {
        let curve = shares(vec![3.0, 1.0, f64::INFINITY, 2.0]);
        assert_eq!(curve, vec![(1.0, 0.0), (1.0, 0.25), (2.0, 0.5), (3.0, 0.75)]);
        assert!(shares(Vec::new()).is_empty());
        let many = shares((1..=200).map(f64::from).collect());
        assert_eq!((many.len(), many[1], many[40]), (41, (5.0, 0.025), (200.0, 1.0)));
    }
}
