//! Questions as results hold them, so that they can be asked again.

use segue_study::{Request, Times};
use segue_world::access::LinkNames;
use segue_world::{AccessLink, Definition, LinkError, Nanos, NoticeMode, NoticeWord, SECOND, SimulatedKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// A question that a result answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// Handoffs, each by itself.
    Handoffs(Box<Handoffs>),
    /// Whole drives.
    Drives(Drives),
    /// Real senders.
    Lab(Lab),
}

/// A comparison of handoffs, with everything that has a default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Handoffs {
    /// Folder that the paths of traces start from; absent for the current one, and without traces.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub folder: String,
    /// Link before and link after.
    pub pairs: Vec<[String; 2]>,
    /// Kinds of handoff.
    pub kind: Vec<SimulatedKind>,
    /// Disconnection of each break-before-make among them, s.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disconnect_s: Vec<f64>,
    /// Numbers of flows.
    pub flows: Vec<usize>,
    /// Schemes; the others are compared with the first.
    pub schemes: Vec<String>,
    /// Handoff times, each one or `FIRST..LAST/STEP`.
    pub at: Vec<String>,
    /// Packets of a transfer.
    pub packets: u32,
    /// Until when a transfer lasts.
    pub definition: Definition,
    /// How senders learn of a handoff.
    pub notice: NoticeWord,
    /// Copies of an in-band notice that are lost.
    pub notice_loss: u32,
    /// A stack for all schemes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
    /// Congestion control of the stack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cc: Option<String>,
    /// Settings by name.
    pub settings: BTreeMap<String, String>,
    /// First seed.
    pub seed: u64,
    /// Number of seeds.
    pub seeds: u64,
}

/// Drives that a file describes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drives {
    /// The file.
    pub file: String,
    /// Most seeds of a drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points: Option<u32>,
}

/// A laboratory's plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lab {
    /// The file.
    pub file: String,
    /// Runs of each sender, in place of the file's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<u32>,
}

/// A question that cannot be asked.
#[derive(Debug, thiserror::Error)]
pub enum QuestionError {
    /// A link.
    #[error("{0}")]
    Link(#[from] LinkError),
    /// A time.
    #[error("{0}")]
    Time(String),
    /// Disconnections that are none, or not one for each break-before-make.
    #[error("disconnect_s: {0}; expected one time above 0 s, at most 300 s, for each `bbm`")]
    Disconnections(String),
    /// An instant notice is not lost.
    #[error("notice_loss: {0}; expected 0 with an instant notice, at most 2 with one in band")]
    NoticeLoss(u32),
}

impl Handoffs {
    /// The question of a request whose links' paths start from `folder`.
    pub fn of(request: &Request, folder: &Path) -> Self {
        // Named one by one, so that a new part of a request is not forgotten here.
        let Request {
            pairs,
            kinds,
            flows,
            schemes,
            at,
            packets,
            definition,
            notice,
            stack,
            cc,
            settings,
            seed,
            seeds,
        } = request;
        let is_in_band = matches!(notice, NoticeMode::InBand { .. });
        let of_files = pairs.iter().any(|(old, new)| !old.files.is_empty() || !new.files.is_empty());
        let outages = kinds.iter().filter(|kind| kind.breaks());
        Self {
            folder: if of_files { folder.to_string_lossy().into_owned() } else { String::new() },
            pairs: pairs.iter().map(|(old, new)| [old.text.clone(), new.text.clone()]).collect(),
            kind: kinds.iter().map(|kind| kind.simulated()).collect(),
            disconnect_s: outages.map(|kind| kind.disconnection() as f64 / SECOND as f64).collect(),
            flows: flows.clone(),
            schemes: schemes.clone(),
            at: in_ranges(at),
            packets: *packets,
            definition: *definition,
            notice: if is_in_band { NoticeWord::InBand } else { NoticeWord::Instant },
            notice_loss: notice.lost(),
            stack: stack.clone(),
            cc: cc.clone(),
            settings: settings.iter().cloned().collect(),
            seed: *seed,
            seeds: *seeds,
        }
    }

    /// The request; `names`: those that links have beside the presets'.
    ///
    /// Errors: a link or a time that is none.
    pub fn request(&self, names: &LinkNames) -> Result<Request, QuestionError> {
        let folder = Path::new(&self.folder);
        let link = |text: &String| AccessLink::parse_in(text, folder, names);
        let pairs: Result<Vec<_>, LinkError> =
            self.pairs.iter().map(|[old, new]| Ok((link(old)?, link(new)?))).collect();
        let at: Result<Vec<_>, String> = self.at.iter().map(|word| Times::parse(word)).collect();
        let breaks = self.kind.iter().filter(|kind| **kind == SimulatedKind::Bbm).count();
        let is_outage = |time: &f64| (1e-9..=300.0).contains(time);
        if breaks != self.disconnect_s.len() || !self.disconnect_s.iter().all(is_outage) {
            return Err(QuestionError::Disconnections(format!("{:?}", self.disconnect_s)));
        }
        let most_lost = if self.notice == NoticeWord::InBand { 2 } else { 0 };
        if self.notice_loss > most_lost {
            return Err(QuestionError::NoticeLoss(self.notice_loss));
        }
        let mut outages = self.disconnect_s.iter().map(|time| (time * SECOND as f64).round() as Nanos);
        let mut kind = |kind: &SimulatedKind| {
            let outage = if *kind == SimulatedKind::Bbm { outages.next() } else { None };
            kind.with(outage.unwrap_or(SECOND))
        };
        Ok(Request {
            pairs: pairs?,
            kinds: self.kind.iter().map(&mut kind).collect(),
            flows: self.flows.clone(),
            schemes: self.schemes.clone(),
            at: at.map_err(QuestionError::Time)?.into_iter().flat_map(|times| times.0).collect(),
            packets: self.packets,
            definition: self.definition,
            notice: NoticeMode::of(self.notice, self.notice_loss),
            stack: self.stack.clone(),
            cc: self.cc.clone(),
            settings: self.settings.clone().into_iter().collect(),
            seed: self.seed,
            seeds: self.seeds,
        })
    }

    /// The command line that asks it, unless it needs several: it has one pair of links, also both ways.
    pub fn command(&self) -> Option<String> {
        let mut words = self.words("compare")?;
        words.extend(["--seeds".into(), self.seeds.to_string()]);
        Some(shell_words::join(words))
    }

    /// The command line that tells its one handoff packet by packet.
    pub fn trace_command(&self) -> Option<String> {
        self.words("trace").map(shell_words::join)
    }

    /// The words of both, which understand the same ones but for the number of seeds.
    fn words(&self, command: &str) -> Option<Vec<String>> {
        let both_ways = match &self.pairs[..] {
            [_] => false,
            [[a, b], [c, d]] if (a, b) == (d, c) => true,
            _ => return None,
        };
        let at = self.at.join(",");
        if !self.folder.is_empty() {
            return None;
        }
        let words = |list: Vec<String>| list.join(",");
        let mut command: Vec<String> = ["segue", command].map(String::from).to_vec();
        command.extend(self.pairs[0].iter().cloned());
        if both_ways {
            command.push("--both-ways".into());
        }
        let mut option = |name: &str, value: String| command.extend([format!("--{name}"), value]);
        let mut kinds = self.kind.clone();
        kinds.dedup();
        option("kind", words(kinds.iter().map(ToString::to_string).collect()));
        if !self.disconnect_s.is_empty() {
            option(
                "disconnect",
                words(self.disconnect_s.iter().map(|outage| format!("{outage}s")).collect()),
            );
        }
        option("flows", words(self.flows.iter().map(ToString::to_string).collect()));
        option("schemes", words(self.schemes.clone()));
        option("at", at);
        option("packets", self.packets.to_string());
        option("definition", self.definition.to_string());
        option("notice", self.notice.to_string());
        if self.notice_loss > 0 {
            option("notice-loss", self.notice_loss.to_string());
        }
        for (name, value) in [("stack", &self.stack), ("cc", &self.cc)] {
            if let Some(value) = value {
                option(name, value.clone());
            }
        }
        for (key, value) in &self.settings {
            option("set", format!("{key}={value}"));
        }
        option("seed", self.seed.to_string());
        Some(command)
    }
}

impl Drives {
    /// The command line that asks it.
    pub fn command(&self) -> String {
        let points = self.points.into_iter().flat_map(|points| ["--points".to_string(), points.to_string()]);
        shell_words::join(["segue", "run", &self.file].map(str::to_string).into_iter().chain(points))
    }
}

/// Times as few words: one range where the steps are equal, or each by itself.
fn in_ranges(at: &[Nanos]) -> Vec<String> {
    let word = |time: Nanos| format!("{}s", time as f64 / SECOND as f64);
    match at {
        [first, second, ..] if at.windows(2).all(|pair| pair[1] - pair[0] == second - first) => {
            let last = first + (at.len() as u64 - 1) * (second - first);
            vec![format!("{}..{}/{}", word(*first), word(last), word(second - first))]
        }
        _ => at.iter().map(|&time| word(time)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use segue_world::Kind;

    fn request(at: Vec<Nanos>, kinds: Vec<Kind>, notice: NoticeMode, both_ways: bool) -> Request {
        let pair = || {
            (
                AccessLink::parse("wifi6,loss=ge(0.5%,30%)").unwrap(),
                AccessLink::parse("200kbit/300ms").unwrap(),
            )
        };
        let mut pairs = vec![pair()];
        if both_ways {
            pairs.push((pair().1, pair().0));
        }
        Request {
            pairs,
            kinds,
            flows: vec![1, 4],
            schemes: vec!["sack".into(), "etcp-v1".into()],
            at,
            packets: 70,
            definition: Definition::AfterAck,
            notice,
            stack: Some("linux-6.12".into()),
            cc: Some("bbr".into()),
            settings: vec![("hz".into(), "1000".into())],
            seed: 3,
            seeds: 2,
        }
    }

    proptest! {
        /// Times go through decimal fractions of a second, and come back to the nanosecond.
        #[test]
        fn a_question_is_the_request(
            first in 0..3600 * SECOND, step in 1..SECOND, count in 1u64..5, odd: bool,
            outages in prop::collection::vec(1..300 * SECOND, 0..3), lost in prop::option::of(0u32..3), both_ways: bool,
        ) {
            let mut at: Vec<Nanos> = (0..count).map(|k| first + k * step).collect();
            if odd {
                at.push(first + 7 * SECOND + 1);
            }
            let kinds = std::iter::once(Kind::Mbb).chain(outages.into_iter().map(Kind::Bbm)).collect();
            let notice = lost.map_or(NoticeMode::Instant, |lost| NoticeMode::InBand { lost });
            let asked = request(at, kinds, notice, both_ways);
            let question = Handoffs::of(&asked, Path::new(""));
            let text = serde_json::to_string(&question).unwrap();
            let again: Handoffs = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(format!("{:?}", again.request(&LinkNames::default()).unwrap()), format!("{asked:?}"));
        }
    }

    #[test]
    fn a_command_has_every_word() {
        let asked = request(
            vec![SECOND, 2 * SECOND, 3 * SECOND],
            vec![Kind::Bbm(SECOND / 2), Kind::Bbm(SECOND)],
            NoticeMode::InBand { lost: 1 },
            true,
        );
        assert_eq!(
            Handoffs::of(&asked, Path::new("")).command().unwrap(),
            "segue compare 'wifi6,loss=ge(0.5%,30%)' 200kbit/300ms --both-ways --kind bbm --disconnect 0.5s,1s --flows 1,4 \
             --schemes sack,etcp-v1 --at 1s..3s/1s --packets 70 --definition after-ack --notice in-band --notice-loss 1 \
             --stack linux-6.12 --cc bbr --set 'hz=1000' --seed 3 --seeds 2"
        );
        let measured = Handoffs { folder: "examples".into(), ..Handoffs::of(&asked, Path::new("examples")) };
        assert_eq!(measured.command(), None);
        let drives = Drives { file: "it's.toml".into(), points: Some(3) };
        assert_eq!(drives.command(), "segue run 'it'\\''s.toml' --points 3");
    }
}
