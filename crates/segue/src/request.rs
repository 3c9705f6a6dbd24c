//! From words to what the bench is asked for.

use crate::Failure;
use crate::args::{BenchArgs, forgiven};
use segue_study::Request;
use segue_study::bench_words::{ADDRESS, NEIGHBOURS, NOTICE_ERROR, OVERLAP, RETURN, SOFT};
use segue_world::access::LinkNames;
use segue_world::{AccessLink, Kind, NoticeMode, NoticeWord, SECOND, SimulatedKind};
use std::path::Path;

/// Reads a link. Case and blanks are forgiven, but not those of a path.
pub(crate) fn link(word: &str, names: &LinkNames) -> Result<AccessLink, Failure> {
    let parse = |text: &str| AccessLink::parse_in(text, Path::new(""), names);
    parse(word)
        .or_else(|as_written| match meant_trace(word) {
            // A fault of the file counts more than a blank.
            Some(trace) => parse(&trace),
            None => parse(&meant_link(word, names)).map_err(|_| as_written),
        })
        .map_err(Failure::user)
}

/// A link that is no trace, with the name of a preset or of an own link as it is kept.
fn meant_link(word: &str, names: &LinkNames) -> String {
    let meant = forgiven(word);
    let (name, words) = meant.split_at(meant.find(',').unwrap_or(meant.len()));
    match names.own().iter().find(|(own, _)| own.to_lowercase() == name) {
        Some((own, _)) => format!("{own}{words}"),
        None => meant,
    }
}

/// A trace: its words in lower case, its paths as they are.
fn meant_trace(word: &str) -> Option<String> {
    const TRACE: &str = "trace:";
    let word = word.trim();
    let rest = word.get(TRACE.len()..).filter(|_| word[..TRACE.len()].eq_ignore_ascii_case(TRACE))?;
    let mut parts = rest.split(',').map(str::trim);
    let path = parts.next().unwrap_or_default();
    Some(parts.fold(format!("{TRACE}{path}"), |link, part| {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        let key = key.trim().to_lowercase();
        match key.as_str() {
            "up" | "delay-trace" => format!("{link},{key}={}", value.trim()),
            _ => format!("{link},{}", part.to_lowercase()),
        }
    }))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_a_trace_keep_their_case() {
        for (word, meant) in [
            ("TRACE:Lte.down", Some("trace:Lte.down")),
            (" Trace: Lte.down , UP= Lte.up, START=3s", Some("trace:Lte.down,up=Lte.up,start=3s")),
            ("trace:a,Delay-Trace=B,LOSS=1%", Some("trace:a,delay-trace=B,loss=1%")),
            ("WLAN", None),
            ("trä", None),
        ] {
            assert_eq!(meant_trace(word).as_deref(), meant, "{word}");
        }
        assert_eq!(meant_link("WLAN, Loss=GE(0.5%, 30%)", &LinkNames::default()), "wlan,loss=ge(0.5%,30%)");
    }
}
