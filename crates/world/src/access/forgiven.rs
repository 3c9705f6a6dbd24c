//! Links as users write them.

use super::AccessLink;
use super::error::LinkError;
use super::presets::LinkNames;
use segue_words::forgiven;
use std::path::Path;

impl AccessLink {
    /// Reads a link as [`Self::parse_in`] does. Case and blanks are forgiven, but not those of a path.
    pub fn parse_forgiving(text: &str, folder: &Path, names: &LinkNames) -> Result<Self, LinkError> {
        let parse = |text: &str| Self::parse_in(text, folder, names);
        parse(text).or_else(|as_written| match meant_trace(text) {
            // A fault of the file counts more than a blank.
            Some(trace) => parse(&trace),
            None => parse(&meant_link(text, names)).map_err(|_| as_written),
        })
    }
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
