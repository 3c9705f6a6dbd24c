//! The command line: its commands, and its faults in one line. Each command's options stand with the command.

use crate::args::{LONG_VERSION, VERSION};
use crate::compare::CompareArgs;
use crate::diff::DiffArgs;
use crate::links::{LinksArgs, TraceLinksArgs};
use crate::measures::MeasuresArgs;
use crate::repeat::RepeatArgs;
use crate::schema::SchemaArgs;
use crate::schemes::SchemesArgs;
use crate::screen::{ColourWord, ProgressWord};
use crate::trace::TraceArgs;
use clap::error::{ContextKind, ContextValue};
use clap::{Args, Parser, Subcommand, ValueEnum};
#[cfg(feature = "live")]
use segue_agent::cli::AgentArgs;

/// Where the pages are that schemes, tables and stories name.
const PAGES: &str = concat!("Documentation: ", env!("CARGO_PKG_REPOSITORY"), "/tree/main/docs");

/// Simulate TCP across changes of the access link (handoffs), and run it on Linux
#[derive(Debug, Parser)]
#[command(name = "segue", version = VERSION, long_version = LONG_VERSION, after_help = PAGES)]
pub struct Cli {
    /// When to colour tables and help
    #[arg(
        long,
        global = true,
        help_heading = "Display",
        value_name = "WHEN",
        value_enum,
        ignore_case = true,
        default_value_t
    )]
    pub color: ColourWord,
    /// Show no progress
    #[arg(long, global = true, help_heading = "Display", conflicts_with = "progress")]
    pub quiet: bool,
    /// How to show progress
    #[arg(
        long,
        global = true,
        help_heading = "Display",
        value_name = "HOW",
        value_enum,
        ignore_case = true,
        default_value_t
    )]
    pub progress: ProgressWord,
    /// The subcommand.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Compare schemes over many handoffs between two links
    Compare(Box<CompareArgs>),
    /// Run the comparison or the drives that a file describes
    #[cfg(feature = "files")]
    Run(Box<crate::args::RunArgs>),
    /// Compute thousands to millions of handoffs, on all cores or as one of several shards
    #[cfg(feature = "tables")]
    Sweep(crate::sweep::SweepArgs),
    /// Merge the shards of a sweep
    #[cfg(feature = "tables")]
    Merge(crate::sweep::MergeArgs),
    /// Trace one handoff, packet by packet
    Trace(Box<TraceArgs>),
    /// Compare two results of `segue compare --json`; differences beyond noise come first
    Diff(DiffArgs),
    /// Ask the question of a result again, and compare the two answers
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
    /// Run real TCP senders on this machine, over a link that changes
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
    /// Explain a name: a rule, a section of the specification, a scheme, a setting, a measure or a word
    Explain(crate::explain::ExplainArgs),
    /// List the links that have a name, and the words that change a link
    Links(LinksArgs),
    /// Write what a link can carry over time as two traces in mahimahi's format
    TraceLinks(TraceLinksArgs),
    /// Print what every measure means and how outputs name it
    Measures(MeasuresArgs),
    /// Print the JSON schema of an output
    Schema(SchemaArgs),
    /// Write the manual pages
    Man(ManArgs),
    /// Print the completions of a shell
    Completions(CompletionsArgs),
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
    #[arg(value_enum, ignore_case = true)]
    pub shell: clap_complete::Shell,
    /// Program whose words are completed
    #[arg(value_enum, ignore_case = true, default_value = "segue")]
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
