//! `segue sweep` and `segue merge`.

use crate::screen::Screen;
use crate::{Failure, outputs, print, progress, warn};
use clap::Args;
use segue_export::Output;
use segue_files::sweep as sweep_file;
use segue_study::warnings::stack_warnings;
use segue_sweep::merge::MergeError;
use segue_sweep::{Plan, Shard, Store, StoreError};
use segue_world::access::LinkNames;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// `segue sweep`.
#[derive(Debug, Args)]
pub struct SweepArgs {
    /// Sweep file (TOML)
    #[arg(required_unless_present = "schema")]
    pub sweep: Option<String>,
    /// Print the JSON schema of sweep files
    #[arg(long, exclusive = true)]
    pub schema: bool,
    /// Write one row per handoff and scheme (Parquet); until all are done, finished parts stay in FILE.parts
    #[arg(long, value_name = "FILE", required_unless_present_any = ["schema", "list"])]
    pub out: Option<String>,
    /// List the parts and compute nothing
    #[arg(long, conflicts_with = "out")]
    pub list: bool,
    /// Compute only the I-th of N shares, for `segue merge`
    #[arg(long, value_name = "I/N", value_parser = Shard::from_str, allow_hyphen_values = true)]
    pub shard: Option<Shard>,
    /// Worker threads; all cores unless given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024), allow_negative_numbers = true)]
    pub threads: Option<u16>,
    /// Names of the user's own links.
    #[arg(skip)]
    pub names: LinkNames,
}

/// `segue merge`.
#[derive(Debug, Args)]
pub struct MergeArgs {
    /// File to write (Parquet)
    pub out: String,
    /// All files of `segue sweep --shard`, in any order
    #[arg(required = true)]
    pub shards: Vec<String>,
}

/// Runs `segue sweep`.
pub fn sweep(args: &SweepArgs, screen: &Screen) -> Result<(), Failure> {
    let (Some(path), false) = (args.sweep.as_deref(), args.schema) else {
        let schema = serde_json::to_string_pretty(&sweep_file::schema()).map_err(Failure::ours)?;
        return print(&format!("{schema}\n"));
    };
    let plan = Plan::open(path, &args.names).map_err(Failure::user)?;
    warn(stack_warnings(plan.stacks().map(|stack| stack.name)));
    let shard = args.shard.unwrap_or(Shard::WHOLE);
    let Some(out) = args.out.as_deref() else { return list(&plan, shard) };
    let store = store(&plan, path, shard, out)?;
    let kept: Vec<usize> = store.kept().collect();
    let all: u64 = shard.parts(&plan).map(|part| plan.handoffs_of(part)).sum();
    let before = kept.iter().map(|&part| plan.handoffs_of(part)).sum();
    let progress = progress::continued(screen, all, "rows", before);
    let computed =
        outputs::with_threads(args.threads, || segue_sweep::run(&plan, &store, &|done| progress.inc(done)))?;
    drop(progress);
    computed.map_err(Failure::ours)?;
    let rows = store.finish().map_err(Failure::ours)?;
    let earlier = match kept.len() {
        0 => String::new(),
        kept => format!(", {kept} of {} parts from an earlier run", shard.parts(&plan).count()),
    };
    let empty = match (shard.parts(&plan).count(), plan.parts()) {
        (0, parts) => format!(", as the sweep has {}: fewer than shares", count(parts as u64, "part")),
        _ => String::new(),
    };
    print(&format!("{out}: {}{earlier}{empty}\n", count(rows, "row")))
}

/// Opens what a share of a sweep is kept in until its file `out` is made; `path` is the file that was read.
pub fn store(plan: &Plan, path: &str, shard: Shard, out: &str) -> Result<Store, Failure> {
    let output = file(out)?;
    outputs::spare(path.as_ref(), [&Some(Output::File(output.clone()))])?;
    plan.files().try_for_each(|file| outputs::spare(file, [&Some(Output::File(output.clone()))]))?;
    Store::open(plan, shard, &output).map_err(begin)
}

/// Runs `segue merge`.
pub fn merge(args: &MergeArgs) -> Result<(), Failure> {
    let output = file(&args.out)?;
    let shards: Vec<PathBuf> = args.shards.iter().map(PathBuf::from).collect();
    shards.iter().try_for_each(|shard| outputs::spare(shard, [&Some(Output::File(output.clone()))]))?;
    let rows = segue_sweep::merge(&output, &shards).map_err(|error| match error {
        // The disk may be full; all else is about the files that were named.
        MergeError::Piece(error) if error.is_about_writing() => Failure::ours(error),
        error => Failure::user(error),
    })?;
    let (rows, shards) = (count(rows, "row"), count(shards.len() as u64, "shard"));
    print(&format!("{}: {rows} from {shards}\n", args.out))
}

fn count(number: u64, of: &str) -> String {
    format!("{number} {of}{}", if number == 1 { "" } else { "s" })
}

/// The parts, a line each.
fn list(plan: &Plan, shard: Shard) -> Result<(), Failure> {
    let lines: String =
        shard.parts(plan).map(|part| format!("{}: {}\n", part + 1, plan.describe(part))).collect();
    let (rows, parts) = (count(plan.handoffs(), "row"), count(plan.parts() as u64, "part"));
    print(&format!("{lines}{rows} in {parts}\n"))
}

/// The place of a result that is made of parts kept beside it.
fn file(path: &str) -> Result<PathBuf, Failure> {
    let no_file = || Failure::User(format!("cannot write rows to {path}; expected the name of a file"));
    // A folder is none, and opening a pipe waits for its reader.
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(no_file());
    }
    Output::open(path)?.file().map(Path::to_path_buf).ok_or_else(no_file)
}

/// Why nothing was begun.
fn begin(error: StoreError) -> Failure {
    match error {
        StoreError::Piece(_) => Failure::ours(error),
        _ => Failure::user(error),
    }
}
