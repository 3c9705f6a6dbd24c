//! The words of the command line and how they are read.

use crate::screen::ColourWord;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue};
use clap::{Args, Parser, Subcommand, ValueEnum};
#[cfg(feature = "live")]
use segue_agent::cli::AgentArgs;
use segue_console::Failure;
use segue_study::measure::Column;
use segue_study::times::{Times, time};
use segue_words::{Choice, did_you_mean};
use segue_world::{Definition, KindWord, Nanos, NoticeWord, SECOND};

pub use segue_console::printable;

/// The program's version and the commit that it was built from, where that is known.
pub const VERSION: &str = env!("SEGUE_VERSION");

/// Where the pages are that schemes, tables and stories name.
const PAGES: &str = concat!("Documentation: ", env!("CARGO_PKG_REPOSITORY"), "/tree/main/docs");

/// Simulate TCP across changes of the access link (handoffs), and run it on Linux
#[derive(Debug, Parser)]
#[command(name = "segue", version = VERSION, after_help = PAGES)]
pub struct Cli {
    /// When to colour tables and help
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t)]
    pub color: ColourWord,
    /// Show no progress
    #[arg(long, global = true)]
    pub quiet: bool,
    /// The subcommand.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Compare schemes over many handoffs between two links
    Compare(Box<CompareArgs>),
    /// Run a comparison that a file describes
    #[cfg(feature = "files")]
    Run(Box<crate::run::RunArgs>),
    /// Compute very many handoffs, in parts, on all cores or as one of several shards
    #[cfg(feature = "tables")]
    Sweep(crate::sweep::SweepArgs),
    /// Merge the shards of a sweep
    #[cfg(feature = "tables")]
    Merge(crate::sweep::MergeArgs),
    /// Trace one handoff, packet by packet
    Trace(Box<TraceArgs>),
    /// Compare two results of `segue compare --json`; differences beyond noise come first
    Diff(DiffArgs),
    /// Ask the question of a result again, and compare the answers
    Repeat(RepeatArgs),
    /// Redraw the papers' figures and check their claims
    #[cfg(feature = "papers")]
    Reproduce(crate::reproduce::ReproduceArgs),
    /// Compute what a paper's analytic model states
    #[cfg(feature = "papers")]
    Model(crate::model::ModelArgs),
    /// Attach a scheme to this machine's kernel, as a congestion control that answers notices of handoffs
    #[cfg(feature = "live")]
    Kernel(crate::kernel::KernelArgs),
    /// Run the mobile agent, which watches this host's links and notifies peers of handoffs
    #[cfg(feature = "live")]
    Agent(AgentArgs),
    /// Show what this machine can do, and what is missing
    #[cfg(feature = "live")]
    Doctor(crate::doctor::DoctorArgs),
    /// Run real senders on this machine, over a link that changes
    #[cfg(feature = "live")]
    Lab(crate::lab::LabArgs),
    /// One end of the connections that `lab cost` counts; it starts them itself
    #[cfg(feature = "live")]
    #[command(hide = true)]
    LabEnd(crate::lab_end::LabEndArgs),
    /// Serve a page on this machine that compares schemes while a slider changes the links
    #[cfg(feature = "explore")]
    Explore(crate::explore::ExploreArgs),
    /// List schemes, stacks, settings, link presets and their sources
    Schemes(SchemesArgs),
    /// Explain a rule, a section of the specification, a scheme, a setting or a measure by its name
    Explain(crate::explain::ExplainArgs),
    /// List links that have a name, and the words of links
    Links,
    /// Write what a link carries over time as two traces in mahimahi's format
    TraceLinks(TraceLinksArgs),
    /// Print what every measure means and how outputs name it, as Markdown
    Measures,
    /// Write the manual pages
    Man(ManArgs),
    /// Print the completions of a shell
    Completions(CompletionsArgs),
}

/// Reads a length of a trace.
fn trace_length(word: &str) -> Result<Nanos, String> {
    let length = time(word)?;
    match (SECOND / 10..=3600 * SECOND).contains(&length) {
        true => Ok(length),
        false => Err("expected 0.1s to 3600s".into()),
    }
}

/// Reads one of a few words.
fn choice<T: Choice + Send + Sync>() -> impl TypedValueParser<Value = T> {
    let help = |choice: &T| PossibleValue::new(choice.word()).help(choice.meaning().trim_end_matches('.'));
    PossibleValuesParser::new(T::ALL.iter().map(help))
        .try_map(|word| T::of(&word).ok_or_else(|| format!("`{word}` is none of the words")))
}

/// Options that `compare` and `trace` share: the links, the schemes, and how they are measured.
#[derive(Debug, Args)]
pub struct BenchArgs {
    /// Link before: RATE/DELAY such as 6400kbit/9ms or a preset, with words such as lte,loss=1% (`segue links` lists both), or trace:PATH[,up=PATH][,start=300s][,delay=20ms|delay-trace=PATH][,queue=100p]
    pub old: String,
    /// Link after
    pub new: String,
    /// Schemes; the others are compared with the first
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', default_value = "sack,etcp-v1")]
    pub schemes: Vec<String>,
    /// Disconnection of break-before-make; 1s unless given; `compare` takes several
    #[arg(long, value_name = "TIME,...", value_delimiter = ',', value_parser = time, allow_hyphen_values = true)]
    pub disconnect: Vec<Nanos>,
    /// Packets per transfer
    #[arg(long, value_name = "P", default_value_t = 100, allow_negative_numbers = true)]
    pub packets: u32,
    /// When the transfer counts as complete
    #[arg(long, value_parser = choice::<Definition>(), default_value = "after-highest")]
    pub definition: Definition,
    /// How senders learn of the handoff
    #[arg(long, value_parser = choice::<NoticeWord>(), default_value = "instant")]
    pub notice: NoticeWord,
    /// Lose the first K of the two copies of an in-band notice
    #[arg(long, value_name = "K", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=2))]
    pub notice_loss: u32,
    /// Notices err, by a draw for each handoff: the told rate of the new link by up to that factor, the delay by up to that much, and they come late
    #[arg(long, value_name = "rate=2x,delay=30ms,late=100ms", allow_hyphen_values = true)]
    pub notice_error: Option<String>,
    /// Long downloads of other users on each access link; their TCP is the regular one, or Linux with that congestion control
    #[arg(long, value_name = "N [CONTROL]", allow_hyphen_values = true)]
    pub neighbours: Option<String>,
    /// One stack for all schemes, in place of their own
    #[arg(long, value_name = "STACK")]
    pub stack: Option<String>,
    /// Congestion control of a stack that has a choice, as linux-6.12 (bbr3: not held against a kernel)
    #[arg(long, value_name = "CONTROL")]
    pub cc: Option<String>,
    /// A setting of a scheme or stack (see `segue schemes`); may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    pub set: Vec<(String, String)>,
    /// Seed of start times and clock phases; 1 repeats the ns-2 reference
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
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

/// Which columns a table has.
#[derive(Debug, Args)]
pub struct TableArgs {
    /// Print all usual columns of the table, also beyond 80 characters
    #[arg(long, conflicts_with = "columns")]
    pub wide: bool,
    /// Columns of the table after the scheme's name (segue measures lists them)
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',', value_parser = column)]
    pub columns: Vec<Column>,
}

impl TableArgs {
    /// The columns that are asked for, if any.
    ///
    /// Errors: a column stands there twice.
    pub fn columns(&self) -> Result<Option<Vec<Column>>, Failure> {
        let twice =
            self.columns.iter().enumerate().find(|(index, column)| self.columns[..*index].contains(column));
        match twice {
            Some((_, column)) => Err(Failure::User(format!(
                "--columns: `{}` stands there twice; expected it once",
                column.word()
            ))),
            None if self.wide => Ok(Some(Column::WIDE.to_vec())),
            None => Ok((!self.columns.is_empty()).then(|| self.columns.clone())),
        }
    }
}

/// Reads a column of the table.
fn column(word: &str) -> Result<Column, String> {
    let word = word.trim();
    Column::ALL.iter().copied().find(|column| column.word() == word).ok_or_else(|| {
        let words = || Column::ALL.iter().map(|column| column.word());
        let all = words().collect::<Vec<_>>().join(", ");
        format!("expected one of {all}{}", did_you_mean(word, words()))
    })
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
    #[arg(long, value_parser = choice::<KindWord>(), value_delimiter = ',', default_value = "mbb")]
    pub kind: Vec<KindWord>,
    /// Numbers of flows
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = flow_count, default_value = "1", allow_negative_numbers = true)]
    pub flows: Vec<usize>,
    /// Handoff times: one, or FIRST..LAST/STEP
    #[arg(long, value_name = "TIMES", value_parser = Times::parse, default_value = "0.1s..20s/0.1s", allow_hyphen_values = true)]
    pub at: Times,
    /// Begin so much later: all handoff times are counted from the end of the warm-up
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "0s", hide_default_value = true, allow_hyphen_values = true)]
    pub warm_up: Nanos,
    /// Pool the handoffs of K seeds
    #[arg(long, value_name = "K", default_value_t = 1, allow_negative_numbers = true)]
    pub seeds: u64,
    /// Where results go.
    #[command(flatten)]
    pub results: ResultArgs,
    /// Columns of the table.
    #[command(flatten)]
    pub table: TableArgs,
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
    #[arg(long, value_parser = choice::<KindWord>(), default_value = "mbb")]
    pub kind: KindWord,
    /// Number of flows
    #[arg(long, value_name = "N", value_parser = one_flow_count, default_value = "1", allow_negative_numbers = true)]
    pub flows: usize,
    /// Print all events since the flows began, not only those since the handoff
    #[arg(long, conflicts_with = "story")]
    pub all: bool,
    /// Tell the handoff in words instead of events
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

/// `segue repeat`.
#[derive(Debug, Args)]
pub struct RepeatArgs {
    /// A result of `segue compare --json` or `segue run --json` (- for standard input)
    pub result: String,
    /// Worker threads; all cores unless given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

/// `segue schemes`.
#[derive(Debug, Args)]
pub struct SchemesArgs {
    /// Only this scheme or stack, with its settings
    pub name: Option<String>,
}

/// `segue trace-links`.
#[derive(Debug, Args)]
pub struct TraceLinksArgs {
    /// The link: a preset, RATE/DELAY with words, or trace:PATH
    pub link: String,
    /// Write OUT.down and OUT.up
    #[arg(long, value_name = "OUT")]
    pub out: String,
    /// How much of it
    #[arg(long, value_name = "TIME", value_parser = trace_length, default_value = "60s", allow_hyphen_values = true)]
    pub length: Nanos,
    /// Seed of what is random
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
    pub seed: u64,
    /// As the old link of a comparison (1) or as the new one (2), which differ in what is random
    #[arg(long, value_name = "1|2", value_parser = clap::value_parser!(u8).range(1..=2), default_value_t = 1)]
    pub place: u8,
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
    /// Program whose words are completed
    #[arg(value_enum, default_value = "segue")]
    pub program: ProgramWord,
}

/// Programs of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProgramWord {
    /// This one
    Segue,
    /// The mobile agent
    #[cfg(feature = "live")]
    SegueAgent,
}

fn flow_count(word: &str) -> Result<usize, String> {
    word.parse().map_err(|_| "expected whole numbers such as 1,2,4".to_string())
}

fn one_flow_count(word: &str) -> Result<usize, String> {
    word.parse().map_err(|_| "expected one whole number".to_string())
}

pub(crate) fn key_value(word: &str) -> Result<(String, String), String> {
    match word.split_once('=') {
        Some((key, value)) if !key.is_empty() && !value.is_empty() => Ok((key.into(), value.into())),
        _ => Err("expected KEY=VALUE".into()),
    }
}

/// The fault in the words of a command line, in one line.
pub(crate) fn one_line(error: &clap::Error) -> String {
    if let Some(word) = left_out(error) {
        return format!(
            "`segue {word}`: this program was built without it; `make build` or `make install` builds all of it"
        );
    }
    let line = segue_console::one_line(error);
    // Read as short options, for a link that began with a hyphen would take in misspelt options, too.
    let negative = |word: &str| {
        word.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(word))
            if negative(word) && error.render().to_string().contains("<OLD> <NEW>") =>
        {
            format!("{line}; expected a link, RATE/DELAY, with a rate above 0")
        }
        _ => line,
    }
}

/// The commands that a build can do without, and whether this one does.
const OPTIONAL: [(&str, bool); 10] = [
    ("run", cfg!(feature = "files")),
    ("sweep", cfg!(feature = "tables")),
    ("merge", cfg!(feature = "tables")),
    ("reproduce", cfg!(feature = "papers")),
    ("model", cfg!(feature = "papers")),
    ("explore", cfg!(feature = "explore")),
    ("kernel", cfg!(feature = "live")),
    ("agent", cfg!(feature = "live")),
    ("lab", cfg!(feature = "live")),
    ("doctor", cfg!(feature = "live")),
];

/// The command that this build does without.
fn left_out(error: &clap::Error) -> Option<&'static str> {
    match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(word)) => {
            OPTIONAL.into_iter().find(|(known, built)| known == word && !built).map(|(known, _)| known)
        }
        _ => None,
    }
}
