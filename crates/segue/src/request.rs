//! From words to what the bench is asked for.

use crate::Failure;
use crate::args::BenchArgs;
use segue_study::Request;
use segue_study::bench_words::{ADDRESS, NEIGHBOURS, NOTICE_ERROR, OVERLAP, RETURN, SOFT};
use segue_study::planned::where_it_belongs;
use segue_words::forgiven;
use segue_world::access::{LinkError, LinkNames};
use segue_world::{AccessLink, Kind, NoticeMode, NoticeWord, SECOND, SimulatedKind};
use std::path::Path;

/// Reads a link.
pub(crate) fn link(word: &str, names: &LinkNames) -> Result<AccessLink, Failure> {
    AccessLink::parse_forgiving(word, Path::new(""), names).map_err(|error| {
        Failure::user(match (error, where_it_belongs(&forgiven(word))) {
            (LinkError::Unknown { text, presets, .. }, Some(hint)) => {
                LinkError::Unknown { text, presets, hint }
            }
            (error, _) => error,
        })
    })
}

impl BenchArgs {
    /// Kinds of handoff, in order.
    pub fn kinds(&self, words: &[SimulatedKind]) -> Result<Vec<Kind>, Failure> {
        if !self.disconnect.is_empty() && !words.contains(&SimulatedKind::Bbm) {
            return Err(Failure::User(
                "--disconnect is for break-before-make; expected --kind bbm beside it".into(),
            ));
        }
        for (index, time) in self.disconnect.iter().enumerate() {
            if self.disconnect[..index].contains(time) {
                let time = *time as f64 / SECOND as f64;
                return Err(Failure::User(format!(
                    "--disconnect: {time} s is given twice; expected it once"
                )));
            }
        }
        let outages = if self.disconnect.is_empty() { &[SECOND][..] } else { &self.disconnect };
        let mut kinds = Vec::new();
        for (index, word) in words.iter().enumerate() {
            if words[..index].contains(word) {
                return Err(Failure::User(format!("--kind: `{word}` is given twice; expected it once")));
            }
            match word {
                SimulatedKind::Bbm => kinds.extend(outages.iter().map(|outage| Kind::Bbm(*outage))),
                other => kinds.push(other.with(SECOND)),
            }
        }
        Ok(kinds)
    }

    /// One flow, make-before-break, at no time yet.
    pub fn request(&self) -> Result<Request, Failure> {
        if self.notice == NoticeWord::Instant && self.notice_loss > 0 {
            return Err(Failure::User(
                "--notice-loss goes with --notice in-band; an instant notice is never lost".into(),
            ));
        }
        let mut settings = self.set.clone();
        for (key, words) in [
            (NOTICE_ERROR, &self.notice_error),
            (NEIGHBOURS, &self.neighbours),
            (OVERLAP, &self.overlap),
            (SOFT, &self.soft.map(|way| way.to_string())),
            (RETURN, &self.return_after),
            (ADDRESS, &self.address.map(|address| address.to_string())),
        ] {
            settings.extend(words.iter().map(|words| (key.to_string(), words.clone())));
        }
        crate::settings::only_once(&settings)?;
        Ok(Request {
            pairs: vec![(link(&self.old, &self.names)?, link(&self.new, &self.names)?)],
            kinds: vec![Kind::Mbb],
            flows: vec![1],
            schemes: self.schemes.clone(),
            at: Vec::new(),
            packets: self.packets,
            definition: self.definition,
            notice: NoticeMode::of(self.notice, self.notice_loss),
            stack: self.stack.clone(),
            cc: self.cc.clone(),
            settings,
            seed: self.seed,
            seeds: 1,
        })
    }
}
