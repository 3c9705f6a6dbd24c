//! The program `segue-agent`: the mobile agent, and the commands that notify it and ask for its status.

mod ask;
mod serve;

use clap::Parser;
use segue_agent::Config;
use segue_agent::cli::{AgentCommand, Cli, ConfigArgs};
use segue_console::{Failure, exit_status, one_line, print_help};
use std::io::IsTerminal;
use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(exit_status("segue-agent", run()))
}

fn run() -> Result<(), Failure> {
    match Cli::try_parse() {
        Err(error) if error.use_stderr() => Err(Failure::User(one_line(&error))),
        Err(help) => print_help(&help, std::io::stdout().is_terminal()),
        Ok(cli) => match cli.command {
            AgentCommand::Run(args) => serve::serve(&args),
            AgentCommand::Notify(args) => ask::notify(&args),
            AgentCommand::Status(args) => ask::status(&args),
        },
    }
}

fn config(args: &ConfigArgs) -> Result<Config, Failure> {
    Ok(match &args.config {
        Some(path) => Config::read(path)?,
        None => Config::usual()?,
    })
}
