//! Pictures of TCP-HO's model (docs/papers/models.md): its gain over the error of the estimate, and the windows behind
//! it.

use segue_draw::{About, Line, LineChart, LinePlot};
use segue_model::tcp_ho::{Curve, Handoff, LIMIT_OF_SAVING, saving_at};
use segue_report::looks::{look, looks};

/// The scheme whose gain it is.
const TCP_HO: &str = "tcp-ho";
/// Curves that stay below this part of the greatest gain would lie on the axis: they get a plot of their own.
const SMALL: f64 = 0.1;

/// Such as `b = 117, c = 8`, and after a separator its class, if it has one.
pub fn name(handoff: &Handoff, separator: &str) -> String {
    let class = handoff.class().map(|class| format!("{separator}{class}")).unwrap_or_default();
    format!("b = {}, c = {}{class}", handoff.b(), handoff.c())
}

/// Description of the chart for screen readers.
const DESCRIPTION: &str = "Segments that TCP-HO sends more than TCP until both fill the new path, over the standard \
                           deviation of its estimate of the bandwidth-delay product b; c is TCP's threshold.";

/// Figure 15 of the paper: mean gains over the error of the estimate.
pub fn gains_chart(curves: &[Curve], id: &str) -> LineChart {
    let height = |curve: &Curve| curve.gains.iter().map(|(_, gain)| gain.abs()).fold(0.0, f64::max);
    let highest = curves.iter().map(height).fold(0.0, f64::max);
    let (small, large): (Vec<&Curve>, Vec<&Curve>) =
        curves.iter().partition(|curve| height(curve) < highest * SMALL);
    let all = looks(curves.iter().map(|_| TCP_HO));
    let line = |curve: &&Curve| Line {
        label: name(&curve.handoff, ", "),
        look: curves
            .iter()
            .zip(&all)
            .find(|(other, _)| other == curve)
            .map_or(look(TCP_HO), |(_, look)| *look),
        steps: false,
        points: curve.gains.clone(),
    };
    let plots = [
        (large, "mean gain of TCP-HO, segments"),
        (small, "the smaller gains on a scale of their own, segments"),
    ];
    let plots = plots.into_iter().filter(|(curves, _)| !curves.is_empty());
    let plots = plots.map(|(curves, measure)| LinePlot {
        measure: measure.into(),
        lines: curves.iter().map(line).collect(),
    });
    LineChart {
        about: About {
            id: id.into(),
            title: "Mean gain of TCP-HO over the error of its estimate".into(),
            description: DESCRIPTION.into(),
            heading: String::new(),
        },
        across: "standard deviation of the estimate, % of b".into(),
        plots: plots.collect(),
    }
}

/// Points of a curve of windows.
const STEPS: u32 = 200;

/// Figures 13 and 14 of the paper: the windows of TCP and of TCP-HO with an estimate of `x` segments.
pub fn windows_chart(handoff: &Handoff, x: f64, id: &str) -> LineChart {
    let full = handoff.full_after(handoff.c()).max(handoff.full_after(x)) * 1.05;
    let line = |label: &str, scheme: &str, threshold: f64| {
        let times = (0..=STEPS).map(|step| full * f64::from(step) / f64::from(STEPS));
        Line {
            label: label.into(),
            look: look(scheme),
            steps: false,
            points: times.map(|t| (t, handoff.window(threshold, t))).collect(),
        }
    };
    let words = format!("b = {}, c = {}, x = {x}", handoff.b(), handoff.c());
    LineChart {
        about: About {
            id: id.into(),
            title: format!("Windows of TCP and TCP-HO, {words}"),
            description:
                "Windows after a handoff until both fill the new path; below its threshold a window \
                          doubles every round trip, above it grows by a segment."
                    .into(),
            heading: words,
        },
        across: "time, round trips".into(),
        plots: vec![LinePlot {
            measure: "cwnd, segments".into(),
            lines: vec![line("TCP", "newreno", handoff.c()), line("TCP-HO", TCP_HO, x)],
        }],
    }
}

/// Figure 5 of the paper: what sending at once saves of a disconnection that ends between two timeouts, at T and 2T.
pub fn saving_chart(id: &str) -> LineChart {
    let ends = (0..=STEPS).map(|step| 1.0 + f64::from(step) / f64::from(STEPS));
    let saving = Line {
        label: "(2T - x) / x".into(),
        look: look(TCP_HO),
        steps: false,
        points: ends.map(|x| (x, saving_at(x, 2.0))).collect(),
    };
    let mean = Line {
        label: format!("mean, 2 ln 2 - 1 = {LIMIT_OF_SAVING:.4}"),
        look: look(TCP_HO).shaded(1),
        steps: false,
        points: vec![(1.0, LIMIT_OF_SAVING), (2.0, LIMIT_OF_SAVING)],
    };
    LineChart {
        about: About {
            id: id.into(),
            title: "Part of a disconnection that sending at once saves".into(),
            description:
                "The timers expire at T and at 2T after the break; the link is back at x between them, and a \
                          sender that is not told waits until 2T."
                    .into(),
            heading: String::new(),
        },
        across: "end of the disconnection x, in units of T".into(),
        plots: vec![LinePlot {
            measure: "saving, part of the disconnection".into(),
            lines: vec![saving, mean],
        }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use segue_model::tcp_ho::PAPER_HANDOFFS;

    /// The paper's figure has two plots; what lies close together stays in one.
    #[test]
    fn small_curves_have_a_plot_of_their_own() {
        let curve = |b, c| Curve::over(Handoff::new(b, c).unwrap(), &[5.0, 50.0]).unwrap();
        let lines = |curves: &[Curve]| {
            gains_chart(curves, "id").plots.iter().map(|plot| plot.lines.len()).collect::<Vec<_>>()
        };
        assert_eq!(lines(&PAPER_HANDOFFS.map(|(_, b, c)| curve(b, c))), [2, 2]);
        assert_eq!(lines(&[curve(58.0, 50.0), curve(58.0, 66.0)]), [2]);
    }
}
