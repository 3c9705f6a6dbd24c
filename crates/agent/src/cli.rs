//! The words of the agent's command line: those of `segue-agent`, and of `segue agent`, which starts that program.

use super::quantity::time_us;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// The mobile host: it watches its links and tells the peers of its connections of handoffs.
#[derive(Debug, Parser)]
#[command(name = "segue-agent", version, disable_help_subcommand = true, arg_required_else_help = false)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: AgentCommand,
}

/// `segue agent`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = false)]
pub struct AgentArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: AgentCommand,
}

/// What can be done with an agent.
#[derive(Debug, Subcommand)]
pub enum AgentCommand {
    /// Watch this host's links and tell peers of handoffs, until SIGINT or SIGTERM
    Run(RunArgs),
    /// Tell the agent what the link of a device is like, or that a handoff to it is foreseen
    Notify(NotifyArgs),
    /// What the agent watches, and whom it has told
    Status(StatusArgs),
}

/// Which configuration.
#[derive(Debug, Args)]
pub struct ConfigArgs {
    /// Configuration (docs/guide/agent.md); /etc/segue/agent.toml, if it is there, unless given
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// `segue agent run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Which configuration.
    #[command(flatten)]
    pub config: ConfigArgs,
    /// Close windows so long before the gaps that the configuration announces (Freeze-TCP), in place of its time
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub freeze_before: Option<Duration>,
    /// How the log on standard error is written
    #[arg(long, value_enum, default_value = "text")]
    pub log: LogForm,
    /// What it tells at least
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
    /// What does not work
    Error,
    /// And what works less well
    Warn,
    /// And every handoff
    Info,
}

/// Where the agent is asked.
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
pub struct NotifyArgs {
    /// The link: dev=NAME,rate=RATE,delay=TIME[,up=RATE], as dev=wwan0,rate=2mbit,delay=50ms
    #[arg(value_name = "LINK")]
    pub link: String,
    /// The handoff to it is still to come; it is announced over the present link
    #[arg(long)]
    pub expect: bool,
    /// Whom.
    #[command(flatten)]
    pub control: ControlArgs,
}

/// `segue agent status`.
#[derive(Debug, Args)]
pub struct StatusArgs {
    /// Write it as JSON (- for standard output)
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
    /// Whom.
    #[command(flatten)]
    pub control: ControlArgs,
}

fn time(word: &str) -> Result<Duration, String> {
    time_us(word).map(|us| Duration::from_micros(us.into()))
}
