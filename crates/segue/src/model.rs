//! `segue model`: what the papers' analytic models compute (docs/papers/models.md).

use crate::layout::{fitted, wrapped};
use crate::model_lcfd::LcfdArgs;
use crate::model_output::{CHART, table};
use crate::reproduce::unknown;
use crate::screen::Screen;
use crate::{Failure, model_lcfd, outputs, print};
use clap::{Args, Subcommand};
use segue_console::lines;
use segue_draw::standalone;
use segue_export::Origin;
use segue_gallery::tcp_ho::{gains_chart, name};
use segue_gallery::{tcp_ho_csv, tcp_ho_json};
use segue_model::tcp_ho::{Curve, Handoff, LIMIT_OF_SAVING, LONGEST_RTO_S, PAPER_HANDOFFS, Wait, waits};
use segue_study::times::time;
use segue_world::Nanos;
use segue_world::SECOND;
use std::ffi::OsString;

/// `segue model`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = false)]
pub struct ModelArgs {
    /// Which model.
    #[command(subcommand)]
    pub model: Model,
}

/// The models.
#[derive(Debug, Subcommand)]
pub enum Model {
    /// TCP-HO: the cost of an error of its bandwidth estimate, and the gain of an immediate transmission
    TcpHo(TcpHoArgs),
    /// LCFD and PHAS: TCP throughput over frequent handoffs with buffers, a Markov chain
    Lcfd(LcfdArgs),
    /// None of them.
    #[command(external_subcommand)]
    Unknown(Vec<OsString>),
}

/// `segue model tcp-ho`.
#[derive(Debug, Args)]
pub struct TcpHoArgs {
    /// BDP of the new path, with --c; may be repeated; the paper's four handoffs unless given
    #[arg(long, value_name = "SEGMENTS", value_parser = segments, allow_hyphen_values = true)]
    pub b: Vec<f64>,
    /// TCP's threshold from before the handoff
    #[arg(long, value_name = "SEGMENTS", value_parser = segments, allow_hyphen_values = true)]
    pub c: Vec<f64>,
    /// Standard deviations of the estimate, % of b: one, or FIRST..LAST/STEP
    #[arg(long, value_name = "PERCENTS", value_parser = Percents::parse, default_value = "5..50/5", allow_hyphen_values = true)]
    pub sigma: Percents,
    /// Retransmission timeout when the link breaks
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "1s", allow_hyphen_values = true)]
    pub rto: Nanos,
    /// Write the mean gains as CSV (- for standard output)
    #[arg(long, value_name = "FILE")]
    pub csv: Option<String>,
    /// Write gains and savings as JSON (- for standard output)
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
    /// Write the chart of the mean gains (SVG; - for standard output)
    #[arg(long, value_name = "FILE")]
    pub svg: Option<String>,
}

fn segments(word: &str) -> Result<f64, String> {
    word.parse().map_err(|_| "expected a number of segments".to_string())
}

/// Waits that are told; with an RTO of 1 s the last two are at the cap.
const WAITS: usize = 8;

/// Runs the command.
pub fn run(model: &Model, origin: &Origin, screen: &Screen) -> Result<(), Failure> {
    match model {
        Model::TcpHo(args) => tcp_ho(args, origin, screen.width),
        Model::Lcfd(args) => model_lcfd::run(args, origin, screen.width),
        Model::Unknown(words) => {
            let word = words.first().map(|word| word.to_string_lossy()).unwrap_or_default();
            Err(unknown("model", &word, ["tcp-ho", "lcfd"].into_iter()))
        }
    }
}

/// Gains of TCP-HO over a range of errors, and what an immediate transmission saves.
pub fn gains_and_savings(args: &TcpHoArgs) -> Result<(Vec<Curve>, Vec<Wait>), Failure> {
    let Percents(percents) = &args.sigma;
    let curve = |handoff| Curve::over(handoff, percents).map_err(Failure::user);
    let curves = handoffs(args)?.into_iter().map(curve).collect::<Result<_, _>>()?;
    let waits = waits(args.rto as f64 / SECOND as f64).map_err(Failure::user)?.take(WAITS).collect();
    Ok((curves, waits))
}

fn tcp_ho(args: &TcpHoArgs, origin: &Origin, width: usize) -> Result<(), Failure> {
    let (curves, waits) = gains_and_savings(args)?;
    let ([csv, json, svg], on_stdout) =
        outputs::open([("--csv", &args.csv), ("--json", &args.json), ("--svg", &args.svg)])?;
    outputs::write_plain_table(csv, origin, || tcp_ho_csv(&curves))?;
    outputs::write(json, || tcp_ho_json(&curves, &waits, origin))?;
    outputs::write(svg, || Ok::<_, Failure>(standalone(&gains_chart(&curves, "tcp-ho").svg(CHART))))?;
    if on_stdout { Ok(()) } else { print(&tables(&curves, &args.sigma.0, &waits, width)) }
}

fn handoffs(args: &TcpHoArgs) -> Result<Vec<Handoff>, Failure> {
    if args.b.len() != args.c.len() {
        return Err(Failure::User(format!(
            "{} of --b and {} of --c; expected pairs such as --b 58 --c 50",
            args.b.len(),
            args.c.len()
        )));
    }
    let pairs: Vec<(f64, f64)> = if args.b.is_empty() {
        PAPER_HANDOFFS.iter().map(|&(_, b, c)| (b, c)).collect()
    } else {
        args.b.iter().copied().zip(args.c.iter().copied()).collect()
    };
    pairs.into_iter().map(|(b, c)| Handoff::new(b, c).map_err(Failure::user)).collect()
}

fn tables(curves: &[Curve], percents: &[f64], waits: &[Wait], width: usize) -> String {
    let mut gains = table(
        std::iter::once("sigma, % of b".to_string())
            .chain(curves.iter().map(|curve| name(&curve.handoff, "\n"))),
    );
    let cells = |head: String, of: &dyn Fn(&Curve) -> f64| {
        std::iter::once(head)
            .chain(curves.iter().map(|curve| format!("{:.2}", of(curve))))
            .collect::<Vec<_>>()
    };
    gains.add_row(cells("no error".into(), &|curve| curve.handoff.gain(curve.handoff.b())));
    for (index, percent) in percents.iter().enumerate() {
        gains.add_row(cells(percent.to_string(), &|curve| curve.gains[index].1));
    }
    gains.add_row(cells("TCP itself".into(), &|curve| curve.handoff.tcp_segments(curve.handoff.b())));
    let heads = ["timeouts", "link back after, s", "ratio", "mean saving", "at most, s"];
    let mut savings = table(heads.into_iter().map(String::from));
    for wait in waits {
        savings.add_row([
            wait.timeouts.to_string(),
            format!("{} to {}", seconds(wait.from_s), seconds(wait.to_s)),
            format!("{:.4}", wait.ratio()),
            format!("{:.4}", wait.mean_saving()),
            seconds(wait.longest_saving_s()).to_string(),
        ]);
    }
    let letters = "b: bandwidth-delay product of the new path, c: TCP's threshold from before, segments; sigma: \
                   standard deviation of TCP-HO's estimate of b. TCP itself: what TCP sends in that time if the \
                   estimate is right.";
    let limits = format!(
        "Many timeouts, no cap: ratio 2, {LIMIT_OF_SAVING:.4}. At most: until the next timeout, {LONGEST_RTO_S} s once \
         the RTO is capped."
    );
    [
        fitted("Mean gain of TCP-HO over TCP, segments sent until both fill the new path\n", width),
        lines(&gains),
        wrapped("", letters, width),
        fitted(
            "\nPart of a disconnection that sending at once saves, by timeouts before the link is back\n",
            width,
        ),
        lines(&savings),
        wrapped("", &limits, width),
    ]
    .concat()
}

/// Sums of binary fractions as the decimals that they stand for.
fn seconds(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// Percentages as users write them: one, or `FIRST..LAST/STEP`.
#[derive(Clone, Debug, PartialEq)]
pub struct Percents(pub Vec<f64>);

/// Most percentages of one range.
const MOST_PERCENTS: f64 = 1000.0;

impl Percents {
    /// Reads one percentage, or a range of them.
    pub fn parse(word: &str) -> Result<Self, String> {
        let number = |word: &str| match word.trim_end_matches('%').parse::<f64>() {
            Ok(value) if value > 0.0 && value <= 1000.0 => Ok(value),
            _ => Err(format!("`{word}`: expected a percentage above 0 and at most 1000")),
        };
        let Some((first, rest)) = word.split_once("..") else {
            return Ok(Self(vec![number(word)?]));
        };
        let Some((last, step)) = rest.split_once('/') else {
            return Err("expected FIRST..LAST/STEP such as 5..50/5".into());
        };
        let (first, last, step) = (number(first)?, number(last)?, number(step)?);
        if first > last {
            return Err("the first percentage is above the last; expected FIRST..LAST/STEP".into());
        }
        // Decimal steps are no binary ones: the last may be missed by a hair.
        let count = ((last - first) / step + 1e-9).floor() + 1.0;
        if count > MOST_PERCENTS {
            return Err(format!("{count} percentages are too many; expected at most {MOST_PERCENTS}"));
        }
        let at = |k: u32| ((first + f64::from(k) * step) * 1e9).round() / 1e9;
        Ok(Self((0..count as u32).map(at).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_are_decimal() {
        assert_eq!(Percents::parse("25").unwrap(), Percents(vec![25.0]));
        assert_eq!(Percents::parse("0.1..0.3/0.1").unwrap(), Percents(vec![0.1, 0.2, 0.3]));
        assert_eq!(Percents::parse("5..50/5").unwrap().0.len(), 10);
        for (word, part) in [
            ("0", "above 0"),
            ("x..2/1", "`x`: expected a percentage"),
            ("5..50", "FIRST..LAST/STEP"),
            ("50..5/5", "above the last"),
            ("1..1000/0.1", "too many"),
        ] {
            let message = Percents::parse(word).unwrap_err();
            assert!(message.contains(part), "{word}: {message}");
        }
    }
}
