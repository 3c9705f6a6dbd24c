//! `segue explore`.

use crate::{Failure, print};
use clap::Args;
use segue_explorer::{Explorer, Traces};
use segue_world::access::LinkNames;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

/// `segue explore`.
#[derive(Debug, Args)]
pub struct ExploreArgs {
    /// Port of the page; 0 for any free port
    #[arg(long, default_value_t = 8080)]
    pub port: u16,
    /// Address to listen on; for other machines to reach the page, one outside the loopback
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    pub listen: IpAddr,
    /// Folder of measured links in mahimahi's format, which the page then offers
    #[arg(long, value_name = "DIR")]
    pub traces: Option<PathBuf>,
    /// Names of the user's own links.
    #[arg(skip)]
    pub names: LinkNames,
}

/// Runs the command; answers tell this version of the program.
pub fn run(args: &ExploreArgs, program: &'static str) -> Result<(), Failure> {
    let traces = args.traces.as_deref().map_or_else(
        || Ok(Traces::none()),
        |folder| {
            Traces::of(folder).map_err(|error| {
                Failure::User(format!(
                    "--traces {}: {}; expected a folder of traces such as UMTS.down",
                    folder.display(),
                    segue_export::in_words(&error)
                ))
            })
        },
    )?;
    if traces.left_out() > 0 {
        crate::warn([format!(
            "--traces: {} files cannot be named; expected at most 500, with letters, digits, `.`, `_`, `-` and `+` in \
             their names",
            traces.left_out()
        )]);
    }
    let wanted = SocketAddr::new(args.listen, args.port);
    let explorer = Explorer::bind(wanted, program, traces.with(args.names.clone())).map_err(|error| {
        Failure::User(format!(
            "cannot listen at {wanted}: {}; expected a free port (--port 0 takes any) of an address of this machine",
            error.kind()
        ))
    })?;
    let address = explorer.address().map_err(Failure::ours)?;
    print(&format!("Segue's explorer is at http://{address}/ - Ctrl-C ends it\n"))?;
    explorer.serve().map_err(|error| Failure::ours(format!("the explorer ended: {error}")))
}
