//! The seven handoffs that Daniel and Kojo (2008) narrate, as ns-2 tells them in `examples.txt`,
//! against ours, event by event.

use crate::Error;
use crate::measure::{record, seconds};
use crate::scenario::{FixedLink, Scenario};
use segue_world::{Nanos, RunRecord, SECOND, WarmRun};
use std::path::Path;

/// Events are the same up to here.
const SAME: f64 = 0.001;
/// Disconnection of the break-before-make one among them.
const DISCONNECTION_MS: u32 = 500;

/// One of the seven.
#[derive(Clone, Debug)]
pub struct Narrated {
    /// The paper's figure.
    pub name: String,
    /// Links and kind.
    pub scenario: Scenario,
    /// T.
    pub at: Nanos,
    /// The events by ns-2.
    pub story: Story,
}

/// Events of a handoff; times in s.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Story {
    /// Timeouts from T on.
    pub timeouts: Vec<f64>,
    /// Those of them that are spurious.
    pub spurious: Vec<f64>,
    /// Fast retransmits from T on.
    pub fast_retransmits: Vec<f64>,
    /// Data packets dropped from completion on; ns-2 lists no more than 41.
    pub lost: Vec<(f64, u32)>,
    /// How many there are.
    pub data_drops: u32,
    /// ACKs dropped from completion on.
    pub ack_drops: u32,
    /// Packets lost in the disconnection.
    pub disconnection_losses: u32,
    /// Packets sent again from completion on.
    pub retransmissions: u32,
    /// Transfer times.
    pub a: f64,
    /// By the other definition.
    pub b: f64,
}

/// Reads `examples.txt`.
pub fn read(folder: &Path) -> Result<Vec<Narrated>, Error> {
    let path = folder.join("examples.txt");
    let text = std::fs::read_to_string(&path).map_err(|e| Error::file(&path, e))?;
    let mut all: Vec<Narrated> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let read = match line.strip_prefix("== ") {
            Some(heading) => parse_heading(heading).map(|narrated| all.push(narrated)),
            None => all.last_mut().and_then(|narrated| parse_event(&mut narrated.story, line)),
        };
        read.ok_or_else(|| Error::Content {
            path: path.clone(),
            line: index as u64 + 1,
            problem: "neither a heading nor what handoff.tcl prints".to_string(),
        })?;
    }
    Ok(all)
}

/// `Fig8  6400/9->200/300 MBB 8.2  [...]`
fn parse_heading(line: &str) -> Option<Narrated> {
    let mut words = line.split_whitespace();
    let name = words.next()?.to_string();
    let (old, new) = words.next()?.split_once("->")?;
    let link = |text: &str| {
        let (kbps, ms) = text.split_once('/')?;
        Some(FixedLink { kbps: kbps.parse().ok()?, ms: ms.parse().ok()? })
    };
    let disconnection_ms = match words.next()? {
        "MBB" => None,
        "BBM" => Some(DISCONNECTION_MS),
        _ => return None,
    };
    let scenario = Scenario { paper: 1, old: link(old)?, new: link(new)?, disconnection_ms, flows: 1 };
    let at: f64 = words.next()?.parse().ok()?;
    let at = (at * 10.0).round() as u64 * (SECOND / 10);
    Some(Narrated { name, scenario, at, story: Story::default() })
}

/// One line of what `handoff.tcl` prints with `verbose=1`.
fn parse_event(story: &mut Story, line: &str) -> Option<()> {
    let times = |text: &str| text.split_whitespace().map(|t| t.parse().ok()).collect::<Option<Vec<f64>>>();
    if let Some(rest) = line.strip_prefix("RTO:") {
        let (timeouts, rest) = rest.split_once("FR:")?;
        let (fast_retransmits, spurious) = rest.split_once("spurious:")?;
        story.timeouts = times(timeouts)?;
        story.fast_retransmits = times(fast_retransmits)?;
        story.spurious = times(spurious)?;
    } else if let Some(rest) = line.strip_prefix("drops(after completion) ") {
        let (counts, list) = rest.split_once(" : ")?;
        story.data_drops = number(counts, "data")?;
        story.ack_drops = number(counts, "ack")?;
        story.disconnection_losses = number(counts, "err")?;
        let lost = list.split_whitespace().map(|word| {
            let (time, seq) = word.split_once(':')?;
            Some((time.parse().ok()?, seq.parse().ok()?))
        });
        story.lost = lost.collect::<Option<_>>()?;
    } else if line.starts_with("defA=") {
        story.a = number(line, "defA")?;
        story.b = number(line, "defB")?;
        story.retransmissions = number(line, "rexmit")?;
    } else if !line.starts_with("flow 0 at T:") && !line.starts_with("at completion:") {
        return None;
    }
    Some(())
}

/// The value of `name=value` among words.
fn number<T: std::str::FromStr>(line: &str, name: &str) -> Option<T> {
    let mut words = line.split_whitespace();
    words.find_map(|word| word.strip_prefix(name)?.strip_prefix('=')?.parse().ok())
}

/// Our story of the same handoff.
pub fn ours(narrated: &Narrated) -> Result<Story, Error> {
    let mut warm = WarmRun::new(narrated.scenario.experiment(100)?);
    Ok(tell(&record(&mut warm, narrated.at)?))
}

fn tell(record: &RunRecord) -> Story {
    let at = |time: Nanos| seconds(Some(time));
    Story {
        timeouts: record.timeouts.iter().map(|t| at(t.at)).collect(),
        spurious: record.timeouts.iter().filter(|t| t.spurious).map(|t| at(t.at)).collect(),
        fast_retransmits: record.fast_retransmits.iter().map(|f| at(f.0)).collect(),
        lost: record.data_drops.iter().map(|d| (at(d.at), d.seq)).collect(),
        data_drops: record.data_drops.len() as u32,
        ack_drops: record.drops - record.data_drops.len() as u32,
        disconnection_losses: record.lost_in_disconnection,
        retransmissions: record.retransmissions,
        a: seconds(record.after_highest),
        b: seconds(record.after_ack),
    }
}

/// In what two stories differ, in words; empty if they agree.
pub fn differences(ours: &Story, ns2: &Story) -> Vec<String> {
    let mut found = Vec::new();
    let mut differ = |what: &str, same: bool, ours: String, ns2: String| {
        if !same {
            found.push(format!("{what}: ours {ours}, ns-2 {ns2}"));
        }
    };
    let times = [
        ("timeouts", &ours.timeouts, &ns2.timeouts),
        ("spurious timeouts", &ours.spurious, &ns2.spurious),
        ("fast retransmits", &ours.fast_retransmits, &ns2.fast_retransmits),
    ];
    for (what, ours, ns2) in times {
        differ(what, same_times(ours, ns2), format!("{ours:?}"), format!("{ns2:?}"));
    }
    let listed =
        |story: &Story| -> (Vec<f64>, Vec<u32>) { story.lost.iter().take(ns2.lost.len()).copied().unzip() };
    let (our_lost, ns2_lost) = (listed(ours), listed(ns2));
    let same = our_lost.1 == ns2_lost.1 && same_times(&our_lost.0, &ns2_lost.0);
    differ("lost segments", same, format!("{our_lost:?}"), format!("{ns2_lost:?}"));
    let counts = [
        ("data packets dropped", ours.data_drops, ns2.data_drops),
        ("ACKs dropped", ours.ack_drops, ns2.ack_drops),
        ("packets lost in the disconnection", ours.disconnection_losses, ns2.disconnection_losses),
        ("retransmissions", ours.retransmissions, ns2.retransmissions),
    ];
    for (what, ours, ns2) in counts {
        differ(what, ours == ns2, ours.to_string(), ns2.to_string());
    }
    for (what, ours, ns2) in [("A", ours.a, ns2.a), ("B", ours.b, ns2.b)] {
        differ(what, (ours - ns2).abs() <= SAME, ours.to_string(), ns2.to_string());
    }
    found
}

fn same_times(ours: &[f64], ns2: &[f64]) -> bool {
    ours.len() == ns2.len() && ours.iter().zip(ns2).all(|(ours, ns2)| (ours - ns2).abs() <= SAME)
}
