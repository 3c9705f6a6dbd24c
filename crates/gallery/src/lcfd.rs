//! Pictures of the Markov chain of Chou and Shin (docs/papers/models.md): Figures 3, 5, 6, 8 and 11 of paper 004.

use segue_draw::{About, Line, LineChart, LinePlot};
use segue_model::lcfd::Scheme;
use segue_model::lcfd::figures::{Compared, FIGURE_3, Figure, RTT_S};
use segue_report::looks::look;
use std::collections::BTreeMap;

/// The simulator's scheme that the chain models.
fn modelled(scheme: Scheme) -> &'static str {
    match scheme {
        Scheme::Conventional => "buffer-fcfd",
        Scheme::FcfdPhas => "buffer-fcfd+phas",
        Scheme::LcfdPhas => "buffer-lcfd+phas",
    }
}

/// A figure of gains, or of throughputs (Figure 11), from its settings.
pub fn lcfd_chart(figure: Figure, all: &[Compared], id: &str) -> LineChart {
    let (scheme, against) = figure.schemes();
    let across = |compared: &Compared| match figure.over_sojourn() {
        true => compared.mean_sojourn_s(),
        false => compared.setting.p(),
    };
    let mut lines: Vec<Line> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut add = |label: String, of: Scheme, point: (f64, f64)| {
        let place = *places.entry(label.clone()).or_insert_with(|| {
            let own = look(modelled(of));
            let before = lines.iter().filter(|line: &&Line| line.look.shaded(0) == own).count();
            let look = own.shaded(u8::try_from(before).unwrap_or(u8::MAX));
            lines.push(Line { label, look, steps: false, points: Vec::new() });
            lines.len() - 1
        });
        lines[place].points.push(point);
    };
    for compared in all {
        let x = across(compared);
        match figure {
            Figure::Five | Figure::Six => {
                add(format!("B = {}", compared.setting.buffer()), scheme, (x, compared.gain_percent()));
            }
            Figure::Eight => {
                add(format!("p = {}", compared.setting.p()), scheme, (x, compared.gain_percent()))
            }
            Figure::Eleven => {
                add(scheme.name().into(), scheme, (x, compared.throughputs.0 / RTT_S));
                add(against.name().into(), against, (x, compared.throughputs.1 / RTT_S));
            }
        }
    }
    let measure = match figure {
        Figure::Eleven => "throughput, packets/s".to_string(),
        _ => format!("gain of {} over {}, %", scheme.name(), against.name()),
    };
    LineChart {
        about: About {
            id: id.into(),
            title: format!("Figure {} of Chou and Shin, computed", figure.number()),
            description: "What the Markov chain of the congestion window before handoffs computes.".into(),
            heading: String::new(),
        },
        across: if figure.over_sojourn() { "mean sojourn, s" } else { "probability of a timeout p" }.into(),
        plots: vec![LinePlot { measure, lines }],
    }
}

/// Figure 3: the two windows after a handoff of three seconds.
pub fn lcfd_windows_chart(id: &str) -> LineChart {
    let line = |label: &str, of: Scheme, windows: Vec<u32>| {
        let point =
            |(index, window): (usize, u32)| (FIGURE_3.resumes_s + RTT_S * index as f64, f64::from(window));
        Line {
            label: label.into(),
            look: look(modelled(of)),
            steps: true,
            points: windows.into_iter().enumerate().map(point).collect(),
        }
    };
    let [conventional, proposed] = FIGURE_3.comebacks;
    let windows = |comeback: segue_model::lcfd::Comeback| {
        comeback.windows(FIGURE_3.largest).take(FIGURE_3.round_trips).collect::<Vec<_>>()
    };
    LineChart {
        about: About {
            id: id.into(),
            title: "Windows after a handoff with a timeout and an overflow".into(),
            description:
                "W = 24, B = 20, W_max = 32: slow start to 12 and congestion avoidance, or congestion \
                          avoidance from 2."
                    .into(),
            heading: String::new(),
        },
        across: "time, s".into(),
        plots: vec![LinePlot {
            measure: "cwnd, packets".into(),
            lines: vec![
                line("conventional", Scheme::Conventional, windows(conventional)),
                line("proposed", Scheme::LcfdPhas, windows(proposed)),
            ],
        }],
    }
}
