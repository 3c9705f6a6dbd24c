//! The words of the agent's command line: those of `segue-agent`, and of `segue agent`, which starts that program.

use super::quantity::time_us;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// The program's version and the commit that it was built from, where that is known.
pub const VERSION: &str = env!("SEGUE_VERSION");

/// Watch the links of a mobile host, and notify the peers of its connections of handoffs
#[derive(Debug, Parser)]
#[command(
    name = "segue-agent",
    version = VERSION,
    disable_help_subcommand = true,
    arg_required_else_help = false,
    max_term_width = 80,
    after_help = "Examples:\n  sudo segue-agent run\n  sudo segue-agent status"
)]
pub struct Cli {
    /// The subcommand.
    #[command(subcommand)]
    pub command: AgentCommand,
}

/// `segue agent`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = false)]
pub struct AgentArgs {
    /// The subcommand.
    #[command(subcommand)]
    pub command: AgentCommand,
}

/// Commands for an agent.
#[derive(Debug, Subcommand)]
pub enum AgentCommand {
    /// Watch this host's links and notify peers of handoffs, until SIGINT or SIGTERM
    Run(RunArgs),
    /// Give the agent the rate and delay of a device's link, or announce a handoff to it
    Notify(NotifyArgs),
    /// Show the links that the agent watches, and the notices that it has sent
    Status(StatusArgs),
}

/// Which configuration.
#[derive(Debug, Args)]
pub struct ConfigArgs {
    /// Configuration file (TOML); /etc/segue/agent.toml unless given, if it exists
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// `segue agent run`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  sudo segue-agent run\n  sudo segue-agent run --config agent.toml --log json"
)]
pub struct RunArgs {
    /// Which configuration.
    #[command(flatten)]
    pub config: ConfigArgs,
    /// Close windows this long before the gaps in the configuration (Freeze-TCP); overrides its time
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub freeze_before: Option<Duration>,
    /// Form of the log on standard error
    #[arg(long, value_enum, default_value = "text")]
    pub log: LogForm,
    /// Least severe messages in the log
    #[arg(long, value_enum, default_value = "info")]
    pub log_level: LogLevel,
}

/// Forms of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogForm {
    /// A line of words and values
    Text,
    /// An object per line
    Json,
}

/// Levels of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogLevel {
    /// Failures
    Error,
    /// Also what works less well
    Warn,
    /// Also every handoff
    Info,
}

/// The agent to ask.
#[derive(Debug, Args)]
pub struct ControlArgs {
    /// Which configuration.
    #[command(flatten)]
    pub config: ConfigArgs,
    /// The agent's control socket, in place of the configuration's
    #[arg(long, value_name = "PATH")]
    pub control: Option<PathBuf>,
}

/// `segue agent notify`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sudo segue-agent notify dev=wwan0,rate=2mbit,delay=50ms")]
pub struct NotifyArgs {
    /// The link: dev=NAME,rate=RATE,delay=TIME[,up=RATE][,gap=TIME], such as
    /// dev=wwan0,rate=2mbit,delay=50ms. With --expect, gap is how long there is no link before it
    #[arg(value_name = "LINK")]
    pub link: String,
    /// Announce, over the present link, a handoff to this one that is still to come. It is for senders
    /// that run near, half a round trip before
    #[arg(long)]
    pub expect: bool,
    /// The agent to ask.
    #[command(flatten)]
    pub control: ControlArgs,
}

/// `segue agent status`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sudo segue-agent status\n  sudo segue-agent status --json -")]
pub struct StatusArgs {
    /// Write the status as JSON (- for standard output)
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
    /// The agent to ask.
    #[command(flatten)]
    pub control: ControlArgs,
}

fn time(word: &str) -> Result<Duration, String> {
    time_us(word).map(|us| Duration::from_micros(us.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    /// Help is for a terminal of 80 columns, and ends with examples.
    #[test]
    fn help_fits_and_ends_with_examples() {
        let mut program = Cli::command();
        program.build();
        let names: Vec<String> = program.get_subcommands().map(|command| command.get_name().into()).collect();
        let mut pages = vec![program.render_long_help().to_string()];
        let page = |name: &String| {
            program.find_subcommand_mut(name).expect("it is there").render_long_help().to_string()
        };
        pages.extend(names.iter().map(page));
        assert_eq!(pages.len(), 4);
        for page in pages {
            assert!(page.lines().all(|line| line.chars().count() <= 80), "{page}");
            let (_, examples) = page.split_once("Examples:\n").expect("examples");
            assert!(examples.lines().all(|line| line.trim_start().starts_with("sudo segue-agent")), "{page}");
        }
    }
}
