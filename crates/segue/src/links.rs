//! `segue links`: presets and words of links; `segue trace-links`: a link as traces of mahimahi's.

use crate::args::word;
use crate::layout::wrapped;
use crate::screen::Screen;
use crate::{Failure, outputs, print};
use clap::Args;
use segue_console::{lines, plain_table};
use segue_export::{Output, in_words};
use segue_study::times::time;
use segue_words::did_you_mean;
use segue_world::access::{LinkNames, LinkSeed, PRESETS, WORDS, opportunities_ms, variants};
use segue_world::{AccessLink, Nanos, SECOND};
use std::io::{BufWriter, Write};

/// `segue links`.
#[derive(Debug, Args)]
pub struct LinksArgs {
    /// The presets to show; all of them and the words of links unless given
    #[arg(value_name = "NAME", value_parser = word)]
    pub name: Vec<String>,
    /// Names of the user's own links.
    #[arg(skip)]
    pub names: LinkNames,
}

/// `segue trace-links`.
#[derive(Debug, Args)]
pub struct TraceLinksArgs {
    /// The link: a preset, RATE/DELAY with words, or trace:PATH
    pub link: String,
    /// Beginning of the two names: OUT.down and OUT.up are written
    #[arg(long, value_name = "OUT")]
    pub out: String,
    /// Length of the traces
    #[arg(long, value_name = "TIME", value_parser = trace_length, default_value = "60s", allow_hyphen_values = true)]
    pub length: Nanos,
    /// Seed of random events
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
    pub seed: u64,
    /// Its place in a comparison, old link (1) or new link (2): their random events differ
    #[arg(long, value_name = "1|2", value_parser = clap::value_parser!(u8).range(1..=2), default_value_t = 1, allow_negative_numbers = true)]
    pub place: u8,
    /// Names of the user's own links.
    #[arg(skip)]
    pub names: LinkNames,
}

/// Reads a length of a trace.
fn trace_length(word: &str) -> Result<Nanos, String> {
    let length = time(word)?;
    match (SECOND / 10..=3600 * SECOND).contains(&length) {
        true => Ok(length),
        false => Err("expected 0.1s to 3600s".into()),
    }
}

/// Prints the list, or the links of these names.
pub fn run(args: &LinksArgs, screen: &Screen) -> Result<(), Failure> {
    let width = screen.width;
    if !args.name.is_empty() {
        let told: Vec<String> =
            args.name.iter().map(|name| named(name, &args.names, width)).collect::<Result<_, _>>()?;
        return print(&told.concat());
    }
    let row = |name: &str, names: usize, text: &str| wrapped_link(&format!("  {name:names$} "), text, width);
    let mut old = plain_table(&["PRESET", "MEANS"], width);
    for (name, link) in PRESETS {
        old.add_row([name, link]);
    }
    let mut text = lines(&old);
    let mut last = "";
    for (name, link, preset) in variants() {
        if preset.name != last {
            last = preset.name;
            text.push_str(&format!(
                "\n{}",
                wrapped("", &format!("{}: {}", preset.name, preset.about), width)
            ));
        }
        text.push_str(&row(&name, 15, link));
    }
    if !args.names.own().is_empty() {
        text.push_str("\nYour own:\n");
        for (name, link) in args.names.own() {
            text.push_str(&row(name, 15, link));
        }
    }
    text.push_str("\nWords after a preset or after RATE/DELAY, such as lte,up=5mbit,queue=codel:\n");
    let up = ("up", "up=5mbit or up=5mbit/20ms");
    for (name, form) in [up].into_iter().chain(WORDS) {
        text.push_str(&row(name, 12, form));
    }
    let more = "up- before a word means the direction from the mobile alone: up-loss=2%. docs/reference/links.md says what \
                each means, and where the presets' numbers come from.";
    text.push_str(&wrapped("", more, width));
    print(&text)
}

/// A preset with its variants, or a link of the user's own.
fn named(name: &str, names: &LinkNames, width: usize) -> Result<String, Failure> {
    let row = |name: &str, link: &str| wrapped_link(&format!("  {name:15} "), link, width);
    let old = PRESETS.iter().find(|(preset, _)| *preset == name).map(|(name, link)| row(name, link));
    let own =
        || names.own().iter().find(|(own, _)| own.to_lowercase() == name).map(|(name, link)| row(name, link));
    let preset = variants().find(|(variant, ..)| variant == name).map(|(.., preset)| preset);
    let of_today = || {
        let preset = preset?;
        let rows =
            variants().filter(|(.., of)| of.name == preset.name).map(|(name, link, _)| row(&name, link));
        Some(wrapped("", &format!("{}: {}", preset.name, preset.about), width) + &rows.collect::<String>())
    };
    old.or_else(own).or_else(of_today).ok_or_else(|| {
        let today = variants().map(|(name, ..)| name);
        let all = PRESETS
            .iter()
            .map(|(name, _)| name.to_string())
            .chain(names.own().iter().map(|(name, _)| name.clone()));
        let all: Vec<String> = all.chain(today).collect();
        let word = WORDS.iter().any(|(word, _)| *word == name);
        let hint = match word {
            true => format!("; `segue explain {name}` tells of this word of links"),
            false => did_you_mean(name, all.iter().map(String::as_str)),
        };
        Failure::User(format!(
            "no link is called `{name}`; expected a preset such as lte, or no name for all of them{hint}"
        ))
    })
}

/// A link in lines of at most `width` columns, which break behind a comma.
fn wrapped_link(head: &str, link: &str, width: usize) -> String {
    let mut text = head.to_string();
    let mut column = head.len();
    for piece in link.split_inclusive(',') {
        if column + piece.len() > width && column > head.len() {
            text.push_str(&format!("\n{:1$}", "", head.len()));
            column = head.len();
        }
        text.push_str(piece);
        column += piece.len();
    }
    text + "\n"
}

/// Opportunities of a direction at most: files of more would have gigabytes.
const MOST: u64 = 100_000_000;

/// How many opportunities a direction has, and the last one, ms.
fn count(link: &AccessLink, place: LinkSeed, up: bool, length: Nanos) -> Result<(u64, u64), Failure> {
    let seconds = |time: Nanos| time as f64 / SECOND as f64;
    let (mut opportunities, mut last) = (0, 0);
    for stamp in opportunities_ms(link, place, up, length) {
        if opportunities == MOST {
            return Err(Failure::User(format!(
                "link `{}`: more than {MOST} packets of 1500 bytes within {} s, which is the limit of a trace; \
                 expected a --length of less than {} s, after which it repeats",
                link.text,
                seconds(length),
                stamp as f64 / 1000.0
            )));
        }
        (opportunities, last) = (opportunities + 1, stamp);
    }
    match opportunities {
        0 => Err(Failure::User(format!(
            "link `{}`: no packet of 1500 bytes gets through within {} s; expected a longer --length",
            link.text,
            seconds(length)
        ))),
        _ => Ok((opportunities, last)),
    }
}

/// Writes both directions.
pub fn trace(args: &TraceLinksArgs) -> Result<(), Failure> {
    let link = crate::request::link(&args.link, &args.names)?;
    if ["", "-"].contains(&args.out.as_str()) || args.out.ends_with('/') {
        return Err(Failure::User(format!(
            "--out `{}`: it names no file; expected the beginning of two names, such as out/leo",
            args.out
        )));
    }
    // Such as a device: two files beside it would be news.
    if std::fs::metadata(&args.out).is_ok_and(|found| !found.is_dir()) {
        return Err(Failure::User(format!(
            "--out {}: it is there, and nothing is written to it; expected the beginning of two names, such as out/leo",
            args.out
        )));
    }
    let place = LinkSeed { seed: args.seed, link: args.place.into() };
    let [down, up] = ["down", "up"].map(|ending| format!("{}.{ending}", args.out));
    // Standard output, which other outputs may be, has no place for two traces.
    let open = |path: &String| {
        Output::open(path).map_err(|error| {
            let problem = in_words(&error.problem);
            Failure::User(format!(
                "--out {}: cannot write {path}: {problem}; expected names in a writable folder",
                args.out
            ))
        })
    };
    let outputs = [Some(open(&down)?), Some(open(&up)?)];
    outputs::spare_links(std::iter::once(&link), outputs.each_ref())?;
    // Both are counted before one is written.
    let counts = [count(&link, place, false, args.length)?, count(&link, place, true, args.length)?];
    let mut told = String::new();
    let directions = [(false, down), (true, up)].into_iter().zip(counts);
    for (output, ((up, path), (opportunities, last))) in outputs.into_iter().flatten().zip(directions) {
        let write = |out: &mut dyn Write| {
            let mut out = BufWriter::new(out);
            opportunities_ms(&link, place, up, args.length).try_for_each(|stamp| writeln!(out, "{stamp}"))?;
            out.flush()
        };
        output.finish_with(write).map_err(Failure::writing)?;
        let kbps = opportunities * 12_000 / last.max(1);
        told.push_str(&format!("{path}: {opportunities} opportunities, {kbps} kbit/s\n"));
    }
    print(&told)
}
