//! Where a result comes from: the program, the question and the files behind it. JSON results carry it as
//! `origin`.

use crate::question::{Drives, Handoffs, Lab, Question};
use segue_study::explain::Moment;
use segue_study::{Plan, Request};
use segue_world::access::{Capacity, LinkDelay};
use segue_world::{AccessLink, Nanos, SECOND};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

/// The command and the program that made a result, for pages.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The command line that makes it again.
    pub command: String,
    /// Version of Segue.
    pub version: &'static str,
}

impl Origin {
    /// Takes a command line, the program's name first. Leaves out options that only say how the work is done and shown.
    /// Pages print the rest, and are the same on any number of threads.
    pub fn of(words: Vec<String>, version: &'static str) -> Self {
        Self { command: shell_words::join(without(words, &MANNER)), version }
    }

    /// As the `origin` of results that no simulation made: `program` and `command`. It leaves out what only says where
    /// results go and how the work is shown, which no result depends on.
    pub fn json(&self) -> Value {
        json!({"program": self.version, "command": question(&self.command)})
    }

    /// The same as lines before a table.
    pub fn comments(&self) -> String {
        comments(self.version, Some(&question(&self.command)))
    }
}

/// The first lines of a table that say where it comes from.
fn comments(program: &str, command: Option<&str>) -> String {
    let mut text = format!("# program: {program}\n");
    if let Some(command) = command {
        // A name may hold a line feed, which JSON writes as two letters.
        let has_control = command.contains(char::is_control);
        let command = if has_control { json!(command).to_string() } else { command.to_string() };
        text.push_str(&format!("# command: {command}\n"));
    }
    text
}

/// Options that no result depends on, and whether a value follows.
const NO_PART: [(&str, bool); 7] = [
    ("--json", true),
    ("--csv", true),
    ("--svg", true),
    ("--out", true),
    ("--cache", true),
    ("--no-cache", false),
    ("--check", false),
];

/// Those among them that say how the work is done and shown.
const MANNER: [(&str, bool); 4] =
    [("--threads", true), ("--progress", true), ("--color", true), ("--quiet", false)];

/// A command line without them.
fn question(command: &str) -> String {
    let Ok(words) = shell_words::split(command) else { return command.to_string() };
    shell_words::join(without(without(words, &MANNER), &NO_PART))
}

/// Words of a command line without those options, and without their values where one follows.
fn without(words: Vec<String>, options: &[(&str, bool)]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let name = word.split_once('=').map_or(word.as_str(), |(name, _)| name);
        match options.iter().find(|(option, _)| *option == name) {
            Some((_, true)) if !word.contains('=') => drop(words.next()),
            Some(_) => {}
            None => kept.push(word),
        }
    }
    kept
}

/// Everything that a result depends on, as its JSON holds it. Equal questions have equal ones, whatever asked them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// Version of Segue, with the commit where it is known.
    pub program: String,
    /// The command line that asks the same, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The question, which `segue repeat` asks again.
    pub question: Question,
    /// Links by their text.
    pub links: BTreeMap<String, LinkRecord>,
    /// SHA-256 of every file that was read, in hexadecimal, by its path.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
}

/// An access link as it was simulated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkRecord {
    /// The words that a preset stands for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meaning: Option<String>,
    /// Towards the mobile.
    pub down: DirectionRecord,
    /// From the mobile.
    pub up: DirectionRecord,
}

/// One direction of an access link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DirectionRecord {
    /// Nominal rate, bit/s; of a trace its mean.
    pub rate_bps: u64,
    /// One-way delay, s; the least where it changes.
    pub delay_s: f64,
    /// Queueing discipline.
    pub queue: String,
    /// Packets that the queue holds.
    pub queue_packets: u32,
}

impl Provenance {
    /// The same with this command, where no single one asks the question by itself: a file and what limits it.
    #[must_use]
    pub fn or_command(self, origin: &Origin) -> Self {
        Self { command: self.command.or_else(|| Some(question(&origin.command))), ..self }
    }

    /// The origin of a comparison of handoffs; the paths of its links start from `folder`.
    ///
    /// Errors: a file cannot be read again.
    pub fn of_plan(program: &str, plan: &Plan, folder: &Path) -> io::Result<Self> {
        let question = Handoffs::of(&plan.request, folder);
        let links = plan.request.pairs.iter().flat_map(|(old, new)| [old, new]);
        let command = question.command();
        Self::new(program, command, Question::Handoffs(Box::new(question)), links, &[])
    }

    /// The same of the events of one of its handoffs, whose links, kind and flows are the plan's only ones.
    ///
    /// Errors: a file cannot be read again.
    pub fn of_trace(program: &str, plan: &Plan, moment: Moment, folder: &Path) -> io::Result<Self> {
        let request = Request { at: vec![moment.at], seed: moment.seed, seeds: 1, ..plan.request.clone() };
        let question = Handoffs::of(&request, folder);
        let links = request.pairs.iter().flat_map(|(old, new)| [old, new]);
        let command = question.trace_command();
        Self::new(program, command, Question::Handoffs(Box::new(question)), links, &[])
    }

    /// The origin of drives that a file describes; `files` are all that were read beside those of links, the
    /// description first.
    ///
    /// Errors: a file cannot be read again.
    pub fn of_drives<'a>(
        program: &str,
        drives: Drives,
        links: impl Iterator<Item = &'a AccessLink> + Clone,
        files: &[&Path],
    ) -> io::Result<Self> {
        let command = drives.command();
        Self::new(program, Some(command), Question::Drives(drives), links, files)
    }

    /// The origin of what a laboratory measured: its command line, its plan and its links.
    ///
    /// Errors: a file cannot be read again.
    pub fn of_lab(origin: &Origin, lab: Lab, links: [&AccessLink; 2]) -> io::Result<Self> {
        let file = lab.file.clone();
        let command = Some(origin.command.clone());
        Self::new(origin.version, command, Question::Lab(lab), links.into_iter(), &[Path::new(&file)])
    }

    /// The same as lines that begin a CSV file, `# KEY: VALUE`: `read_csv(..., comment = "#")` of pandas and
    /// `read.csv(..., comment.char = "#")` of R pass over them. A value that is no single word is JSON. `notes`: what a
    /// reader of the table must know; a line more, unless there are none.
    ///
    /// Errors: of the JSON writer.
    pub fn comments(&self, notes: &[String]) -> Result<String, serde_json::Error> {
        let mut text = comments(&self.program, self.command.as_deref());
        for (key, json) in [
            ("question", serde_json::to_string(&self.question)?),
            ("links", serde_json::to_string(&self.links)?),
            ("files", serde_json::to_string(&self.files)?),
        ] {
            text.push_str(&format!("# {key}: {json}\n"));
        }
        if !notes.is_empty() {
            text.push_str(&format!("# notes: {}\n", serde_json::to_string(notes)?));
        }
        Ok(text)
    }

    fn new<'a>(
        program: &str,
        command: Option<String>,
        question: Question,
        links: impl Iterator<Item = &'a AccessLink> + Clone,
        files: &[&Path],
    ) -> io::Result<Self> {
        let of_links = links.clone().flat_map(|link| link.files.iter().map(|file| file.as_path()));
        let mut digests = BTreeMap::new();
        for path in files.iter().copied().chain(of_links) {
            let name = path.to_string_lossy().into_owned();
            if let Entry::Vacant(place) = digests.entry(name) {
                place.insert(digest(path)?);
            }
        }
        Ok(Self {
            program: program.to_string(),
            command,
            question,
            links: links.map(|link| (link.text.clone(), LinkRecord::of(link))).collect(),
            files: digests,
        })
    }
}

impl LinkRecord {
    fn of(link: &AccessLink) -> Self {
        let direction = |capacity: &Capacity, delay: &LinkDelay, packets, up| DirectionRecord {
            rate_bps: capacity.mean_rate(),
            delay_s: seconds(delay.min()),
            queue: link.features[usize::from(up)].queue.to_string(),
            queue_packets: packets,
        };
        Self {
            meaning: link.meaning.clone(),
            down: direction(&link.down, &link.delay, link.queue, false),
            up: direction(&link.up, link.up_delay(), link.up_queue.unwrap_or(link.queue), true),
        }
    }
}

/// SHA-256 of a file, in hexadecimal.
///
/// Errors: the file cannot be read.
pub fn digest(path: &Path) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut file = BufReader::with_capacity(1 << 16, File::open(path)?);
    loop {
        let piece = file.fill_buf()?;
        if piece.is_empty() {
            break;
        }
        hash.update(piece);
        let read = piece.len();
        file.consume(read);
    }
    Ok(hexadecimal(hash))
}

/// The same of what was read already.
pub fn digest_of(bytes: &[u8]) -> String {
    hexadecimal(Sha256::new_with_prefix(bytes))
}

fn hexadecimal(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn seconds(time: Nanos) -> f64 {
    time as f64 / SECOND as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 180-2, appendix B.1.
    #[test]
    fn a_digest_is_that_of_the_standard() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("abc");
        std::fs::write(&path, "abc").unwrap();
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest(&path).unwrap(), expected);
    }

    #[test]
    fn a_command_is_told_without_its_outputs() {
        let told = |command: &str| Origin { command: command.into(), version: "1" }.json()["command"].clone();
        let command = "segue model lcfd --json 'a b.json' --figure 3 --csv=- --quiet --progress never";
        assert_eq!(told(command), "segue model lcfd --figure 3");
        assert_eq!(told("segue diff 'a b' c --json -"), "segue diff 'a b' c");
    }

    #[test]
    fn directions_are_told_apart() {
        let record = LinkRecord::of(&AccessLink::parse("10mbit/20ms,up=1mbit/30ms,queue=codel,50p").unwrap());
        assert_eq!((record.down.rate_bps, record.up.rate_bps), (10_000_000, 1_000_000));
        assert_eq!((record.down.delay_s, record.up.delay_s), (0.02, 0.03));
        assert_eq!((record.down.queue.as_str(), record.down.queue_packets), ("codel", 50));
        assert_eq!(record.meaning, None);
    }
}
