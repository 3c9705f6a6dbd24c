//! `segue model lcfd`: TCP throughput over frequent handoffs with buffers (docs/papers/models.md).

use crate::layout::wrapped;
use crate::model_output::{CHART, table};
use crate::reproduce::unknown;
use crate::{Failure, outputs, print};
use clap::{Args, ValueEnum};
use segue_console::lines;
use segue_draw::standalone;
use segue_export::Origin;
use segue_gallery::lcfd::{lcfd_chart, lcfd_windows_chart};
use segue_gallery::{lcfd_csv, lcfd_json, lcfd_windows_csv, mode_name};
use segue_model::lcfd::figures::{Compared, FIGURE_3, Figure, RTT_S, fitted_sojourn};
use segue_model::lcfd::{BadInput, Equation7, Scheme, Setting, timeout_probability};
use segue_study::times::time;
use segue_world::Nanos;
use segue_world::SECOND;

/// `segue model lcfd`.
#[derive(Debug, Args)]
pub struct LcfdArgs {
    /// Equation 7 with the area below the climb, or as it is printed
    #[arg(long, value_enum, default_value_t = ModeWord::Corrected)]
    pub mode: ModeWord,
    /// A figure of the paper: 3, 5, 6, 8 or 11; 5, 6, 8 and 11 unless given
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["w_max", "buffer", "p", "sojourn", "latency"])]
    pub figure: Option<u8>,
    /// W_max, packets; 32 unless given
    #[arg(long, value_name = "PACKETS", allow_hyphen_values = true)]
    pub w_max: Option<u32>,
    /// B, packets; 24 unless given
    #[arg(long, value_name = "PACKETS", allow_hyphen_values = true)]
    pub buffer: Option<u32>,
    /// Probability that a handoff lets the timer expire; 0.9 unless given
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true, conflicts_with = "latency")]
    pub p: Option<f64>,
    /// Sojourn in a cell, uniform, round trips: FROM..TO
    #[arg(long, value_name = "FROM..TO", value_parser = range, allow_hyphen_values = true)]
    pub sojourn: Option<(f64, f64)>,
    /// Latency of a handoff, uniform, s, which gives p by Equation 1: 0.3..0.5 for a fast handoff
    #[arg(long, value_name = "FROM..TO", value_parser = range, allow_hyphen_values = true)]
    pub latency: Option<(f64, f64)>,
    /// RTO for --latency; 1s unless given
    #[arg(long, value_name = "TIME", value_parser = time, allow_hyphen_values = true, requires = "latency",
        conflicts_with = "p")]
    pub rto: Option<Nanos>,
    /// Write the throughputs and gains as CSV (- for standard output)
    #[arg(long, value_name = "FILE")]
    pub csv: Option<String>,
    /// Write them as JSON (- for standard output)
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
    /// Write the chart of one --figure (SVG; - for standard output)
    #[arg(long, value_name = "FILE", requires = "figure",
        conflicts_with_all = ["w_max", "buffer", "p", "sojourn", "latency"])]
    pub svg: Option<String>,
}

/// How Equation 7 is read.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ModeWord {
    /// With the area below the climb.
    Corrected,
    /// As it is printed.
    Printed,
}

/// `FROM..TO`.
fn range(word: &str) -> Result<(f64, f64), String> {
    let numbers = word.split_once("..").and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)));
    numbers.ok_or_else(|| "expected FROM..TO such as 20..35".into())
}

/// A figure of the paper or a setting of the user's, and its points.
pub type Block = (Option<Figure>, Vec<Compared>);

/// Runs the command.
pub fn run(args: &LcfdArgs, origin: &Origin, width: usize) -> Result<(), Failure> {
    let equation = args.mode.equation();
    if args.figure == Some(3) {
        return figure_3(args, origin, width);
    }
    let blocks = blocks(args, equation)?;
    let ([csv, json, svg], on_stdout) =
        outputs::open([("--csv", &args.csv), ("--json", &args.json), ("--svg", &args.svg)])?;
    outputs::write_plain_table(csv, origin, || lcfd_csv(&blocks, equation))?;
    outputs::write(json, || lcfd_json(&blocks, equation, origin))?;
    if let [(Some(figure), all)] = &blocks[..] {
        outputs::write(svg, || Ok::<_, Failure>(standalone(&lcfd_chart(*figure, all, "lcfd").svg(CHART))))?;
    }
    if on_stdout { Ok(()) } else { print(&tables(&blocks, equation, width)) }
}

impl ModeWord {
    /// Equation 7 as it is read.
    pub fn equation(self) -> Equation7 {
        match self {
            Self::Corrected => Equation7::Corrected,
            Self::Printed => Equation7::Printed,
        }
    }
}

/// Throughputs and gains, but for Figure 3, which has windows.
pub fn blocks(args: &LcfdArgs, equation: Equation7) -> Result<Vec<Block>, Failure> {
    let asked = args.w_max.is_some() || args.buffer.is_some() || args.p.is_some();
    if asked || args.sojourn.is_some() || args.latency.is_some() {
        return Ok(vec![(None, own_setting(args, equation)?)]);
    }
    let figures: Vec<Figure> = match args.figure {
        None => Figure::ALL.to_vec(),
        Some(number) => {
            let figure = Figure::ALL.into_iter().find(|figure| figure.number() == number);
            let known = ["3", "5", "6", "8", "11"].into_iter();
            vec![figure.ok_or_else(|| unknown("figure", &number.to_string(), known))?]
        }
    };
    let block = |figure: Figure| -> Result<Block, BadInput> {
        let compare = |setting| Compared::new(setting, figure.schemes(), equation);
        let all = figure.settings(equation)?.into_iter().map(compare).collect::<Result<_, _>>()?;
        Ok((Some(figure), all))
    };
    figures.into_iter().map(block).collect::<Result<_, _>>().map_err(Failure::user)
}

/// One setting: every scheme against the conventional one.
fn own_setting(args: &LcfdArgs, equation: Equation7) -> Result<Vec<Compared>, Failure> {
    let p = match args.latency {
        Some(latency) => {
            let rto = args.rto.unwrap_or(SECOND) as f64 / SECOND as f64;
            timeout_probability(rto, RTT_S, latency).map_err(Failure::user)?
        }
        None => args.p.unwrap_or(0.9),
    };
    let sojourn = args.sojourn.unwrap_or_else(|| fitted_sojourn(equation));
    if let Some((_, longest)) = args.latency
        && sojourn.0 * RTT_S < longest
    {
        return Err(Failure::User(format!(
            "a sojourn of {} s is shorter than a handoff, which takes up to {longest} s; expected a longer --sojourn",
            sojourn.0 * RTT_S
        )));
    }
    let setting = Setting::new(args.w_max.unwrap_or(32), args.buffer.unwrap_or(24), p, sojourn);
    let setting = setting.map_err(Failure::user)?;
    let others = Scheme::ALL.into_iter().filter(|scheme| *scheme != Scheme::Conventional);
    let compare =
        |scheme| Compared::new(setting, (scheme, Scheme::Conventional), equation).map_err(Failure::user);
    others.map(compare).collect()
}

/// Two windows over time.
fn figure_3(args: &LcfdArgs, origin: &Origin, width: usize) -> Result<(), Failure> {
    if args.json.is_some() {
        return Err(Failure::User(
            "--json: figure 3 has two windows, no settings; expected --csv or --svg".into(),
        ));
    }
    let ([csv, svg], on_stdout) = outputs::open([("--csv", &args.csv), ("--svg", &args.svg)])?;
    outputs::write_plain_table(csv, origin, || lcfd_windows_csv(FIGURE_3))?;
    outputs::write(svg, || Ok::<_, Failure>(standalone(&lcfd_windows_chart("lcfd").svg(CHART))))?;
    if on_stdout {
        return Ok(());
    }
    let sent = FIGURE_3
        .comebacks
        .map(|comeback| comeback.windows(FIGURE_3.largest).take(FIGURE_3.round_trips).sum::<u32>());
    let told = format!(
        "Figure 3: W 24, B 20, W_max 32, a handoff from 0 to 3 s with a timeout, the next at 10 s: {} packets proposed, \
         {} conventional.",
        sent[1], sent[0]
    );
    print(&wrapped("", &told, width))
}

fn tables(blocks: &[Block], equation: Equation7, width: usize) -> String {
    let heading = format!(
        "Equation 7 {}; sojourns in round trips, throughputs in packets per round trip of the sojourn",
        mode_name(equation)
    );
    let mut text = wrapped("", &heading, width);
    for (figure, all) in blocks {
        let name =
            figure.map_or("The setting asked for".into(), |figure| format!("Figure {}", figure.number()));
        let heads = ["B", "p", "sojourn", "scheme", "throughput", "against", "its value", "gain, %"];
        let mut rows = table(heads.into_iter().map(String::from));
        // A figure has more points than a table needs.
        let step = if figure.is_some_and(|figure| !figure.over_sojourn()) { 5 } else { 1 };
        for compared in shown(all, step) {
            let (setting, (scheme, against)) = (compared.setting, compared.schemes);
            rows.add_row([
                setting.buffer().to_string(),
                format!("{:.2}", setting.p()),
                format!("{:.1}..{:.1}", setting.sojourn().0, setting.sojourn().1),
                scheme.name().to_string(),
                format!("{:.2}", compared.throughputs.0),
                against.name().to_string(),
                format!("{:.2}", compared.throughputs.1),
                format!("{:.1}", compared.gain_percent()),
            ]);
        }
        text.push_str(&format!("\n{name}, W_max {}\n", all[0].setting.largest()));
        text.push_str(&lines(&rows));
    }
    text
}

/// Every so-many-th point.
fn shown(all: &[Compared], step: usize) -> impl Iterator<Item = &Compared> {
    all.iter()
        .enumerate()
        .filter(move |(index, _)| (index % 21).is_multiple_of(step))
        .map(|(_, compared)| compared)
}
