//! `segue lab-end`: the small server and client whose connections `segue lab cost` counts, and both ends of thin flows.
//! They are processes of their own, since a cgroup has whole processes.

use crate::{Failure, print};
use clap::{Args, ValueEnum};
use segue_lab::cost::{Connected, Opened};
use segue_lab::traffic;
use std::net::IpAddr;
use std::time::Duration;

/// `segue lab-end`.
#[derive(Debug, Args)]
pub struct LabEndArgs {
    /// Part to play at this end
    #[arg(value_enum)]
    pub what: EndWord,
    /// The server's address
    pub address: IpAddr,
    /// Connections to be kept of each port, seconds, or connections
    #[arg(value_parser = number)]
    pub number: f64,
}

/// Ends of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EndWord {
    /// Answer connections for ever
    Serve,
    /// Open, use and close connections for a while
    Connect,
    /// Open connections and keep them
    Open,
    /// Send thin flows for ever
    Tick,
    /// Open connections and read for ever
    Hear,
}

fn number(word: &str) -> Result<f64, String> {
    let number = word.parse().ok().filter(|number| (0.0..=1e6).contains(number));
    number.ok_or_else(|| "expected a number from 0 to 1000000".into())
}

/// Does what was asked.
pub fn run(args: &LabEndArgs) -> Result<(), Failure> {
    let count = args.number as usize;
    match args.what {
        EndWord::Serve => traffic::serve(args.address, count).map_err(Failure::ours),
        EndWord::Connect => {
            let time = Duration::from_secs_f64(args.number);
            let (connections, took) = traffic::connect(args.address, time).map_err(Failure::ours)?;
            tell(serde_json::to_string(&Connected { connections, seconds: took.as_secs_f64() }))
        }
        EndWord::Open => {
            let open = traffic::open(args.address, count).map_err(Failure::ours)?;
            tell(serde_json::to_string(&Opened { open: open.len() as u64 }))?;
            // Until it is killed.
            loop {
                std::thread::park();
            }
        }
        EndWord::Tick => traffic::tick(args.address).map_err(Failure::ours),
        EndWord::Hear => traffic::hear(args.address, count).map_err(Failure::ours),
    }
}

fn tell(line: serde_json::Result<String>) -> Result<(), Failure> {
    print(&(line.map_err(Failure::ours)? + "\n"))
}
