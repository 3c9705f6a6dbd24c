//! Manual pages and shell completions, made from the command line's own definition.

use crate::cli::{Cli, CompletionsArgs, ManArgs, ProgramWord};
use crate::{Failure, print};
use clap::CommandFactory;
use std::path::Path;

/// `segue man --out DIR`: one page for each program and one per command.
pub fn man(args: &ManArgs) -> Result<(), Failure> {
    let folder = Path::new(&args.out);
    let refuse = |error: std::io::Error| {
        Failure::User(format!(
            "cannot write manual pages to {}: {error}; expected a writable folder",
            folder.display()
        ))
    };
    std::fs::create_dir_all(folder).map_err(refuse)?;
    clap_mangen::generate_to(Cli::command().version(env!("CARGO_PKG_VERSION")), folder).map_err(refuse)?;
    // In place of the pages of `segue agent`, which are those of this program.
    #[cfg(feature = "live")]
    clap_mangen::generate_to(segue_agent::cli::Cli::command(), folder).map_err(refuse)?;
    Ok(())
}

/// `segue completions SHELL [PROGRAM]`.
pub fn completions(args: &CompletionsArgs) -> Result<(), Failure> {
    let mut command = match args.program {
        ProgramWord::Segue => Cli::command(),
        #[cfg(feature = "live")]
        ProgramWord::SegueAgent => segue_agent::cli::Cli::command(),
    };
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, name, &mut script);
    print(&String::from_utf8_lossy(&script))
}
