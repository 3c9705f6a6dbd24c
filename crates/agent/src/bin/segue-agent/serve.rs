//! `segue-agent run`.

use crate::config;
use segue_agent::cli::RunArgs;
use segue_agent::{Agent, Error, log};
use segue_console::Failure;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

/// Works until SIGINT or SIGTERM.
pub fn serve(args: &RunArgs) -> Result<(), Failure> {
    #[cfg(target_env = "gnu")]
    fix_allocator_thresholds();
    let mut config = config(&args.config)?;
    if let Some(before) = args.freeze_before {
        config.receivers.freeze(before).map_err(Error::from)?;
    }
    let (stop, ended) = UnixStream::pair().map_err(Failure::ours)?;
    for signal in [SIGINT, SIGTERM] {
        let end = ended.try_clone().map_err(Failure::ours)?;
        signal_hook::low_level::pipe::register(signal, end).map_err(Failure::ours)?;
    }
    log::start(args.log, args.log_level);
    let mut agent = Agent::start(&config)?;
    agent.drop_rights()?;
    agent.serve(stop.as_fd())?;
    tracing::info!("the agent ends");
    Ok(())
}

/// Loading a program takes a table of all the kernel's types, which nothing needs afterwards. The allocator's
/// thresholds grow with what is freed (mallopt(3)), so that it would keep the room of these tables; one that is set
/// stays.
#[cfg(target_env = "gnu")]
#[allow(unsafe_code, reason = "no library lends mallopt")]
fn fix_allocator_thresholds() {
    const THRESHOLD: i32 = 64 << 10;
    // SAFETY: it takes no pointers, and this program has one thread.
    unsafe { nix::libc::mallopt(nix::libc::M_MMAP_THRESHOLD, THRESHOLD) };
}
