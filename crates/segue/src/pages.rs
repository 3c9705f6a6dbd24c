//! Manual pages and shell completions, made from the command line's own definition.

use crate::cli::{Cli, CompletionsArgs, ManArgs};
use crate::{Failure, print};
use clap::CommandFactory;
use std::path::Path;

/// `segue man --out DIR`: one page for the program and one per command.
pub fn man(args: &ManArgs) -> Result<(), Failure> {
    let folder = Path::new(&args.out);
    let refuse = |error: std::io::Error| {
        Failure::User(format!(
            "cannot write manual pages to {}: {error}; expected a writable folder",
            folder.display()
        ))
    };
    std::fs::create_dir_all(folder).map_err(refuse)?;
    clap_mangen::generate_to(Cli::command().version(env!("CARGO_PKG_VERSION")), folder).map_err(refuse)
}

/// `segue completions SHELL`.
pub fn completions(args: &CompletionsArgs) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "segue", &mut script);
    print(&String::from_utf8_lossy(&script))
}
