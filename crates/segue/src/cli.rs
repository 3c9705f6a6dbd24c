//! The words of the command line and how they are read.

use crate::model::Percents;
use crate::screen::ColourWord;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, Parser, Subcommand, ValueEnum};
use segue_study::times::{Times, time};
use segue_world::{Definition, Nanos};
use std::ffi::OsString;

/// The program's version and the commit that it was built from, where that is known.
pub const VERSION: &str = env!("SEGUE_VERSION");

/// Simulate TCP across changes of the access link (handoffs), and run it on Linux
#[derive(Debug, Parser)]
#[command(name = "segue", version = VERSION, disable_help_subcommand = true)]
pub struct Cli {
    /// When to colour tables and help
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t)]
    pub color: ColourWord,
    /// Show no progress
    #[arg(long, global = true)]
    pub quiet: bool,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Compare schemes over many handoffs between two links
    Compare(Box<CompareArgs>),
    /// Run a comparison that a file describes
    Run(Box<RunArgs>),
    /// Compute very many handoffs, in parts, on all cores or as one of several shards
    Sweep(crate::sweep::SweepArgs),
    /// Merge the shards of a sweep
    Merge(crate::sweep::MergeArgs),
    /// Trace one handoff, packet by packet
    Trace(Box<TraceArgs>),
    /// Compare two results of `segue compare --json`; differences beyond noise come first
    Diff(DiffArgs),
    /// Redraw the papers' figures and check their claims
    Reproduce(ReproduceArgs),
    /// Compute what a paper's analytic model states
    Model(ModelArgs),
    /// Attach a scheme to this machine's kernel, as a congestion control that hears of handoffs
    #[cfg(feature = "live")]
    Kernel(crate::kernel::KernelArgs),
    /// Run the mobile agent, which watches this host's links and tells peers of handoffs
    #[cfg(feature = "live")]
    Agent(crate::agent::AgentArgs),
    /// Show what this machine can do, and what is missing
    #[cfg(feature = "live")]
    Doctor(crate::doctor::DoctorArgs),
    /// Run real senders on this machine, over a link that changes
    #[cfg(feature = "live")]
    Lab(LabArgs),
    /// One end of the connections that `lab cost` counts; it starts them itself
    #[cfg(feature = "live")]
    #[command(hide = true)]
    LabEnd(crate::lab_end::LabEndArgs),
    /// Serve a page on this machine that compares schemes while a slider changes the links
    #[cfg(feature = "explore")]
    Explore(crate::explore::ExploreArgs),
    /// List schemes, stacks, settings, link presets and their sources
    Schemes(SchemesArgs),
    /// Write the manual pages
    Man(ManArgs),
    /// Print the completions of a shell
    Completions(CompletionsArgs),
}

/// Kinds of handoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum KindWord {
    /// Make-before-break
    Mbb,
    /// Break-before-make
    Bbm,
}

/// Ways of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum NoticeWord {
    /// At every sender at completion
    Instant,
    /// An option on two ACKs over the new link
    InBand,
}

/// Definitions of the transfer time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DefinitionWord {
    /// Until P packets beyond the highest sent before completion are acknowledged
    AfterHighest,
    /// Until P packets beyond the cumulative ACK at completion are acknowledged
    AfterAck,
}

impl From<DefinitionWord> for Definition {
    fn from(word: DefinitionWord) -> Self {
        match word {
            DefinitionWord::AfterHighest => Self::AfterHighest,
            DefinitionWord::AfterAck => Self::AfterAck,
        }
    }
}

/// What `compare` and `trace` have in common: the links, the schemes, and how they are measured.
#[derive(Debug, Args)]
pub struct BenchArgs {
    /// Link before: RATE/DELAY such as 6400kbit/9ms, a preset, or trace:PATH[,up=PATH][,start=300s][,delay=20ms|delay-trace=PATH][,queue=100p]
    #[arg(allow_hyphen_values = true)]
    pub old: String,
    /// Link after
    #[arg(allow_hyphen_values = true)]
    pub new: String,
    /// Schemes; the others are compared with the first
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', default_value = "sack,etcp-v1")]
    pub schemes: Vec<String>,
    /// Disconnection of break-before-make
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "1s", allow_hyphen_values = true)]
    pub disconnect: Nanos,
    /// Packets per transfer
    #[arg(long, value_name = "P", default_value_t = 100)]
    pub packets: u32,
    /// When the transfer counts as complete
    #[arg(long, value_enum, default_value = "after-highest")]
    pub definition: DefinitionWord,
    /// How senders learn of the handoff
    #[arg(long, value_enum, default_value = "instant")]
    pub notice: NoticeWord,
    /// Lose the first K of the two copies of an in-band notice
    #[arg(long, value_name = "K", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=2))]
    pub notice_loss: u32,
    /// One stack for all schemes in place of their own
    #[arg(long, value_name = "STACK")]
    pub stack: Option<String>,
    /// A setting of a scheme or stack (see `segue schemes`); may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    pub set: Vec<(String, String)>,
    /// Seed of start times and clock phases; 1 repeats the ns-2 reference
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// Where the results of a comparison go.
#[derive(Debug, Args)]
pub struct ResultArgs {
    /// Write the rows as JSON (- for standard output)
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
    /// Write the rows as CSV (- for standard output)
    #[arg(long, value_name = "FILE")]
    pub csv: Option<String>,
    /// Write one CSV line per handoff and scheme (- for standard output)
    #[arg(long, value_name = "FILE")]
    pub rows: Option<String>,
    /// Write one page that explains the comparison (HTML; - for standard output)
    #[arg(long, value_name = "FILE")]
    pub report: Option<String>,
}

/// `segue compare`.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Links and schemes.
    #[command(flatten)]
    pub bench: BenchArgs,
    /// Also compare from NEW to OLD
    #[arg(long)]
    pub both_ways: bool,
    /// Kinds of handoff
    #[arg(long, value_enum, value_delimiter = ',', default_value = "mbb")]
    pub kind: Vec<KindWord>,
    /// Numbers of flows
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = flow_count, default_value = "1")]
    pub flows: Vec<usize>,
    /// Handoff times: one, or FIRST..LAST/STEP
    #[arg(long, value_name = "TIMES", value_parser = Times::parse, default_value = "0.1s..20s/0.1s", allow_hyphen_values = true)]
    pub at: Times,
    /// Pool the handoffs of K seeds
    #[arg(long, value_name = "K", default_value_t = 1)]
    pub seeds: u64,
    /// Where results go.
    #[command(flatten)]
    pub results: ResultArgs,
    /// Print all usual columns of the table, also beyond 80 characters
    #[arg(long)]
    pub wide: bool,
    /// Worker threads; all cores unless given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

/// `segue run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Scenario file (docs/run.md), or drive (docs/drives.md)
    #[arg(required_unless_present_any = ["schema", "drive_schema"])]
    pub scenario: Option<String>,
    /// Print the JSON schema of scenario files
    #[arg(long, exclusive = true)]
    pub schema: bool,
    /// Print the JSON schema of drives
    #[arg(long, exclusive = true)]
    pub drive_schema: bool,
    /// Where results go.
    #[command(flatten)]
    pub results: ResultArgs,
    /// Print all usual columns of the table, also beyond 80 characters
    #[arg(long)]
    pub wide: bool,
    /// Write the chart of quartiles (SVG; - for standard output)
    #[arg(long, value_name = "FILE")]
    pub svg: Option<String>,
    /// At most N handoff times per seed, evenly spread over those of the file; for drives at most N seeds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub points: Option<u32>,
    /// Worker threads; all cores unless given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

/// `segue trace`.
#[derive(Debug, Args)]
pub struct TraceArgs {
    /// Links and schemes.
    #[command(flatten)]
    pub bench: BenchArgs,
    /// Time at which the handoff begins
    #[arg(long, value_name = "TIME", value_parser = time, allow_hyphen_values = true)]
    pub at: Nanos,
    /// Kind of handoff
    #[arg(long, value_enum, default_value = "mbb")]
    pub kind: KindWord,
    /// Number of flows
    #[arg(long, value_name = "N", value_parser = one_flow_count, default_value = "1")]
    pub flows: usize,
    /// Print every event since the flows began, not only those since the handoff
    #[arg(long, conflicts_with = "story")]
    pub all: bool,
    /// Print what happened in words, not every event
    #[arg(long)]
    pub story: bool,
    /// Write every event as JSON lines (- for standard output)
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
    /// Write a capture per scheme into a folder (pcapng)
    #[arg(long, value_name = "DIR")]
    pub pcap: Option<String>,
    /// Write one page that explains the handoff (HTML; - for standard output)
    #[arg(long, value_name = "FILE")]
    pub report: Option<String>,
}

/// `segue diff`.
#[derive(Debug, Args)]
pub struct DiffArgs {
    /// A result of `segue compare --json` (- for standard input)
    pub a: String,
    /// Another result (- for standard input)
    pub b: String,
    /// List every measure, also equal ones
    #[arg(long)]
    pub all: bool,
    /// Write all measures as JSON (- for standard output)
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
}

/// `segue reproduce`.
#[derive(Debug, Args)]
pub struct ReproduceArgs {
    /// Only this paper
    pub paper: Option<String>,
    /// Only this figure of it, and the claims that it supports
    pub figure: Option<String>,
    /// Judge the claims, draw nothing
    #[arg(long)]
    pub check: bool,
    /// Write the verdicts as JSON (- for standard output)
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
    /// Folder for figures, their numbers and the gallery
    #[arg(long, value_name = "DIR", default_value = "reproduction")]
    pub out: String,
    /// Handoff times of each bar, and most seeds of a drive, for a quick look; verdicts are meant for 200
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u8).range(1..=200))]
    pub points: u8,
    /// Try another reading: a setting of a scheme or stack, beside those of the ledger; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    pub set: Vec<(String, String)>,
    /// Run everything again, keep nothing
    #[arg(long)]
    pub no_cache: bool,
    /// Worker threads; all cores unless given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

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
    /// TCP-HO: what an error of its bandwidth estimate costs, and what an immediate transmission saves
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
    /// BDP of the new path; with --c, may be repeated; the paper's four handoffs unless given
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

/// `segue lab`.
#[cfg(feature = "live")]
#[derive(Debug, Args)]
#[command(arg_required_else_help = false)]
pub struct LabArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: LabCommand,
}

/// What a laboratory can do.
#[cfg(feature = "live")]
#[derive(Debug, Subcommand)]
pub enum LabCommand {
    /// Run a plan: senders side by side, with the simulator's results beside them
    Run(LabRunArgs),
    /// Run a drive: several handoffs in a row under a real program, over measured links if you have any
    Drive(LabDriveArgs),
    /// Measure what senders cost without a handoff: throughput, connections per second, memory
    Cost(crate::lab_cost::LabCostArgs),
}

/// `segue lab run`.
#[cfg(feature = "live")]
#[derive(Debug, Args)]
pub struct LabRunArgs {
    /// Plan (docs/lab.md)
    pub plan: String,
    /// Write the rows as JSON (- for standard output)
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
    /// Write the rows as CSV (- for standard output)
    #[arg(long, value_name = "FILE")]
    pub csv: Option<String>,
    /// Write one page with tables and charts (HTML; - for standard output)
    #[arg(long, value_name = "FILE")]
    pub report: Option<String>,
    /// Write a capture of the first run of each sender into a folder (pcapng)
    #[arg(long, value_name = "DIR")]
    pub pcap: Option<String>,
    /// Runs of each sender, in place of the plan's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: Option<u32>,
    /// Laboratories at once
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub jobs: u16,
}

/// `segue lab drive`.
#[cfg(feature = "live")]
#[derive(Debug, Args)]
pub struct LabDriveArgs {
    /// Plan (docs/lab.md)
    pub plan: String,
    /// Write the rows as JSON (- for standard output)
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
    /// Runs of each sender, in place of the plan's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: Option<u32>,
    /// Laboratories at once
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub jobs: u16,
}

/// `segue schemes`.
#[derive(Debug, Args)]
pub struct SchemesArgs {
    /// Only this scheme or stack, with its settings
    pub name: Option<String>,
}

/// `segue man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// Folder to write into
    #[arg(long, value_name = "DIR")]
    pub out: String,
}

/// `segue completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// Shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

fn flow_count(word: &str) -> Result<usize, String> {
    word.parse().map_err(|_| "expected whole numbers such as 1,2,4".to_string())
}

fn one_flow_count(word: &str) -> Result<usize, String> {
    word.parse().map_err(|_| "expected one whole number".to_string())
}

fn segments(word: &str) -> Result<f64, String> {
    word.parse().map_err(|_| "expected a number of segments".to_string())
}

pub(crate) fn key_value(word: &str) -> Result<(String, String), String> {
    match word.split_once('=') {
        Some((key, value)) if !key.is_empty() && !value.is_empty() => Ok((key.into(), value.into())),
        _ => Err("expected KEY=VALUE".into()),
    }
}

/// clap's message as one line: what was wrong, where, what was expected, the nearest valid word.
pub(crate) fn one_line(error: &clap::Error) -> String {
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let lab = if cfg!(feature = "live") { " kernel, agent, lab, doctor," } else { "" };
        let explore = if cfg!(feature = "explore") { " explore," } else { "" };
        return format!(
            "no command; expected one of compare, run, sweep, merge, trace, reproduce, diff, model,{lab}{explore} schemes, man, completions (see segue --help)"
        );
    }
    if let (false, Some(word)) = (cfg!(feature = "live"), live_word(error)) {
        return format!(
            "`segue {word}`: this build has no live part; expected a build of the program with it (make install, make deb)"
        );
    }
    let text = error.render().to_string();
    let mut line = text.lines().next().unwrap_or_default().trim_start_matches("error: ").trim().to_string();
    // Lists that clap puts on further lines.
    let listed: Vec<&str> = text
        .lines()
        .skip(1)
        .take_while(|l| !l.trim_start().starts_with("Usage"))
        .map(str::trim)
        .filter(|l| !l.is_empty() && !l.starts_with("tip:") && !l.starts_with("For more"))
        .collect();
    for more in listed {
        line.push(' ');
        line.push_str(more);
    }
    // As our own messages have it.
    for list in [" [possible values: ", " [subcommands: "] {
        if let Some((before, values)) = line.split_once(list) {
            line = format!("{before}; expected one of {}", values.trim_end_matches(']'));
        }
    }
    let suggested =
        [ContextKind::SuggestedArg, ContextKind::SuggestedValue, ContextKind::SuggestedSubcommand];
    for kind in suggested {
        let word = match error.get(kind) {
            Some(ContextValue::String(word)) => Some(word.clone()),
            Some(ContextValue::Strings(words)) => nearest(error, words),
            _ => None,
        };
        if let Some(word) = word {
            line.push_str(&format!("; did you mean `{word}`?"));
        }
    }
    line
}

/// Commands of the live part.
const LIVE: [&str; 4] = ["kernel", "agent", "lab", "doctor"];

/// The command that a build without the live part does not have.
fn live_word(error: &clap::Error) -> Option<&'static str> {
    match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(word)) => LIVE.into_iter().find(|known| known == word),
        _ => None,
    }
}

/// Longest message, characters.
const LONGEST_MESSAGE: usize = 1000;

/// A message that quotes the user's words: one line, no control characters, not endless.
pub fn printable(message: &str) -> String {
    let mut text = String::new();
    for (index, c) in message.chars().enumerate() {
        if index == LONGEST_MESSAGE {
            text.push_str("...");
            break;
        }
        match c {
            c if c.is_control() || c == '\u{feff}' => text.extend(c.escape_unicode()),
            c => text.push(c),
        }
    }
    text
}

/// Of several suggestions the one most similar to the bad word.
fn nearest(error: &clap::Error, words: &[String]) -> Option<String> {
    let bad = [ContextKind::InvalidSubcommand, ContextKind::InvalidArg, ContextKind::InvalidValue]
        .into_iter()
        .find_map(|kind| match error.get(kind) {
            Some(ContextValue::String(word)) => Some(word.clone()),
            _ => None,
        })
        .unwrap_or_default();
    let similarity = |word: &String| strsim::damerau_levenshtein(&bad, word);
    words.iter().min_by_key(|word| similarity(word)).cloned()
}
