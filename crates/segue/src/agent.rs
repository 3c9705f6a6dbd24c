//! `segue agent`: the mobile host's agent, started, told and asked.

use crate::table::plain_table;
use crate::{Failure, outputs, print};
use clap::{Args, Subcommand, ValueEnum};
use segue_agent::control::{Notify, Reply, Request, ask};
use segue_agent::quantity::time_us;
use segue_agent::{Agent, Config, Error};
use serde_json::Value;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;
use tracing::Level;

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
    /// Configuration (docs/agent.md); /etc/segue/agent.toml, if it is there, unless given
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

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        if error.is_users() { Self::user(error) } else { Self::ours(error) }
    }
}

/// Runs the command.
pub fn run(command: &AgentCommand) -> Result<(), Failure> {
    match command {
        AgentCommand::Run(args) => serve(args),
        AgentCommand::Notify(args) => notify(args),
        AgentCommand::Status(args) => status(args),
    }
}

fn time(word: &str) -> Result<Duration, String> {
    time_us(word).map(|us| Duration::from_micros(us.into()))
}

fn config(args: &ConfigArgs) -> Result<Config, Failure> {
    Ok(match &args.config {
        Some(path) => Config::read(path)?,
        None => Config::usual()?,
    })
}

fn control(args: &ControlArgs) -> Result<PathBuf, Failure> {
    match &args.control {
        Some(path) => Ok(path.clone()),
        None => Ok(config(&args.config)?.control),
    }
}

fn serve(args: &RunArgs) -> Result<(), Failure> {
    let mut config = config(&args.config)?;
    if let Some(before) = args.freeze_before {
        config.receivers.freeze(before).map_err(Error::from)?;
    }
    let (stop, ended) = UnixStream::pair().map_err(Failure::ours)?;
    for signal in [SIGINT, SIGTERM] {
        let end = ended.try_clone().map_err(Failure::ours)?;
        signal_hook::low_level::pipe::register(signal, end).map_err(Failure::ours)?;
    }
    log(args);
    let mut agent = Agent::start(&config)?;
    agent.drop_rights()?;
    agent.serve(stop.as_fd())?;
    tracing::info!("the agent ends");
    Ok(())
}

fn log(args: &RunArgs) {
    let level = match args.log_level {
        LogLevel::Error => Level::ERROR,
        LogLevel::Warn => Level::WARN,
        LogLevel::Info => Level::INFO,
    };
    let log = tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr).with_target(false);
    match args.log {
        LogForm::Text => log.with_ansi(false).init(),
        LogForm::Json => log.json().flatten_event(true).init(),
    }
}

/// The answer, or what the agent has against the question.
fn answer(args: &ControlArgs, request: &Request) -> Result<Reply, Failure> {
    match ask(&control(args)?, request)? {
        Reply::Refused(problem) => Err(Failure::user(problem)),
        Reply::Failed(problem) => Err(Failure::ours(problem)),
        reply => Ok(reply),
    }
}

fn unexpected() -> Failure {
    Failure::ours("the agent answers another question; is it of another version?")
}

fn notify(args: &NotifyArgs) -> Result<(), Failure> {
    let notify = Notify::parse(&args.link, args.expect).map_err(Failure::user)?;
    let device = notify.device.clone();
    match answer(&args.control, &Request::Notify(notify))? {
        Reply::Noted => print(&format!(
            "{device}: noted; no watched route leads over it now, and once one does its peers are told\n"
        )),
        Reply::Rounds(rounds) => {
            let line = |round: &Value| format!("{device}, {}: {}\n", word(&round["watch"]), told(round));
            print(&rounds.iter().map(line).collect::<String>())
        }
        _ => Err(unexpected()),
    }
}

/// What a round has come to, in a line.
fn told(round: &Value) -> String {
    let number = |name: &str| round[name].as_u64().unwrap_or(0);
    let refused = |name: &str| round["refused"][name].as_u64().unwrap_or(0);
    let mut text = format!(
        "told {} in the kernel's ACKs, {} in crafted ones; {} wait for their next ACK",
        number("poked"),
        number("crafted"),
        number("waiting"),
    );
    for (count, why) in [
        (refused("unnegotiated"), "have not negotiated"),
        (refused("closing"), "are closing"),
        (refused("unwritten"), "had no room"),
        (refused("unsent"), "could not be sent"),
    ] {
        if count > 0 {
            text.push_str(&format!("; {count} {why}"));
        }
    }
    if number("governed") > 0 {
        text.push_str(&format!("; {} of this host's own flows have the policy's window", number("governed")));
    }
    if number("resent") > 0 {
        text.push_str(&format!("; {} of this host's own flows resend", number("resent")));
    }
    if let Some(reason) = round["refused"]["reason"].as_str() {
        text.push_str(&format!(" ({reason})"));
    }
    if round["superseded"].as_bool() == Some(true) {
        text.push_str("; a newer handoff came before its end");
    }
    text
}

fn status(args: &StatusArgs) -> Result<(), Failure> {
    let ([json], on_stdout) = outputs::open([("--json", &args.json)])?;
    let Reply::Status(status) = answer(&args.control, &Request::Status)? else { return Err(unexpected()) };
    outputs::write(json, || serde_json::to_string(&status).map(|text| text + "\n").map_err(Failure::ours))?;
    if on_stdout { Ok(()) } else { print(&text(&status)) }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn word(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "-".to_owned(),
        other => other.to_string(),
    }
}

fn link(estimate: &Value) -> [String; 2] {
    let Some(rate) = estimate["rate_kbps"].as_u64() else { return ["-".to_owned(), "-".to_owned()] };
    let delay = estimate["delay_us"].as_f64().unwrap_or(0.0) / 1000.0;
    [format!("{rate}kbit/{delay}ms"), word(&estimate["source"])]
}

fn text(status: &Value) -> String {
    let up = status["up_s"].as_u64().unwrap_or(0);
    let mut text = format!("process {}, at work for {up} s\n\n", word(&status["process"]));
    let mut watch = plain_table(&["WATCHED", "OVER", "LINK", "FROM"]);
    for path in list(&status["watch"]) {
        let [link, source] = link(&path["estimate"]);
        watch.add_row([word(&path["to"]), word(&path["device"]), link, source]);
    }
    text.push_str(&format!("{watch}\n\n"));
    for (title, counts) in [("CONNECTIONS NOW", &status["connections"]), ("TOLD SINCE", &status["notices"])] {
        let mut table = plain_table(&[title, ""]);
        for (name, count) in counts.as_object().into_iter().flatten() {
            table.add_row([name.clone(), word(count)]);
        }
        text.push_str(&format!("{table}\n\n"));
    }
    for round in list(&status["rounds"]) {
        let [link, _] = link(&round["estimate"]);
        let head = ["number", "cause", "watch", "device"].map(|name| word(&round[name])).join(" ");
        text.push_str(&format!("{head} {link}: {}\n", told(round)));
    }
    text
}
