//! `segue schema`: the JSON schemas of outputs. Those of files that the program reads are `--schema` of the command
//! that reads them.

use crate::args::choice;
use crate::{Failure, print};
use clap::Args;
use segue_export::schema::OutputWord;
use segue_export::schema::schema;

/// `segue schema`.
#[derive(Debug, Args)]
pub struct SchemaArgs {
    /// Output whose schema is printed
    #[arg(value_parser = choice::<OutputWord>())]
    pub output: OutputWord,
}

/// Runs the command.
pub fn run(args: &SchemaArgs) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(&schema(args.output)).map_err(Failure::ours)?;
    print(&format!("{text}\n"))
}
