//! `segue explore`.

use crate::{Failure, print};
use clap::Args;
use segue_explorer::Explorer;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// `segue explore`.
#[derive(Debug, Args)]
pub struct ExploreArgs {
    /// Port of the page; 0 takes any that is free
    #[arg(long, default_value_t = 8080)]
    pub port: u16,
    /// Address to listen at; other machines reach the page at one that is not of the loopback
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    pub listen: IpAddr,
}

/// Runs the command; answers tell this version of the program.
pub fn run(args: &ExploreArgs, program: &'static str) -> Result<(), Failure> {
    let wanted = SocketAddr::new(args.listen, args.port);
    let explorer = Explorer::bind(wanted, program).map_err(|error| {
        Failure::User(format!(
            "cannot listen at {wanted}: {}; expected a free port (--port 0 takes any) of an address of this machine",
            error.kind()
        ))
    })?;
    let address = explorer.address().map_err(Failure::ours)?;
    print(&format!("Segue's explorer is at http://{address}/ - Ctrl-C ends it\n"))?;
    explorer.serve().map_err(|error| Failure::ours(format!("the explorer ended: {error}")))
}
