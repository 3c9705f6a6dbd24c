//! `--traffic`: what the mobile's user does, in words.

use crate::planned::PlannedScheme;
use crate::request_error::RequestError;
use segue_words::{did_you_mean, quantity};
use segue_world::Traffic;
use segue_world::traffic::{Application, FPS, PAUSES, SIZES, VIDEO_RATES};

/// A response and a video, where no numbers are given.
const RESPONSE: (&str, &str) = ("14kB", "200ms");
const VIDEO: (&str, &str) = ("4mbit", "30fps");
/// All words.
const WORDS: [&str; 6] = ["download", "upload", "both", "request", "video", "page"];

fn refused(problem: String) -> RequestError {
    RequestError::List { what: "--traffic", problem }
}

/// The traffic that these words ask for, and the words as results have them.
pub(crate) fn parse(text: &str) -> Result<(Traffic, String), RequestError> {
    let mut traffic = Traffic::default();
    let mut written: Vec<String> = Vec::new();
    for piece in pieces(text) {
        let (name, numbers) = match piece.split_once('(') {
            None => (piece, None),
            Some((name, rest)) => (name, Some(rest.strip_suffix(')').ok_or_else(|| unclosed(piece))?)),
        };
        let (name, numbers) = (name.trim().to_ascii_lowercase(), numbers.map(|numbers| numbers.trim()));
        let word = match (name.as_str(), numbers) {
            ("download", None) => bulk(&mut traffic.download, "download")?,
            ("upload", None) => bulk(&mut traffic.upload, "upload")?,
            ("both", None) => {
                bulk(&mut traffic.download, "download")?;
                bulk(&mut traffic.upload, "upload")?;
                "download,upload".to_string()
            }
            ("page", None) => application(&mut traffic, Application::Page)?,
            ("request", numbers) => {
                let (size, pause) = two(piece, numbers, RESPONSE)?;
                let bytes = quantity::size(size).filter(|bytes| SIZES.contains(bytes));
                let bytes = bytes.ok_or_else(|| wrong(piece, size, "a size of 1B to 1000000kB"))?;
                let time = quantity::time(pause).filter(|time| PAUSES.contains(time));
                let time = time.ok_or_else(|| wrong(piece, pause, "a time of 0s to 60s"))?;
                application(&mut traffic, Application::Request { bytes, pause: time })?
            }
            ("video", numbers) => {
                let (rate, frames) = two(piece, numbers, VIDEO)?;
                let bits = quantity::rate(rate).filter(|bits| VIDEO_RATES.contains(bits));
                let bits = bits.ok_or_else(|| wrong(piece, rate, "a rate of 1kbit to 1gbit"))?;
                let frames = frames.to_ascii_lowercase();
                let fps = frames.strip_suffix("fps").and_then(|fps| fps.parse().ok());
                let fps = fps.filter(|fps| FPS.contains(fps));
                let fps = fps.ok_or_else(|| wrong(piece, &frames, "1fps to 240fps"))?;
                application(&mut traffic, Application::Video { rate: bits, fps })?
            }
            (known, Some(_)) if WORDS.contains(&known) => {
                return Err(refused(format!("`{piece}`: expected `{known}` without numbers")));
            }
            (unknown, _) => {
                return Err(refused(format!(
                    "unknown `{piece}`; expected some of download, upload, both, request(14kB,200ms), \
                     video(4mbit,30fps), page{}",
                    did_you_mean(unknown, WORDS)
                )));
            }
        };
        written.push(word);
    }
    Ok((traffic, written.join(",")))
}

/// Words between commas that stand outside brackets.
fn pieces(text: &str) -> Vec<&str> {
    let mut depth = 0_u32;
    let split = text.split(move |c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    split.map(str::trim).collect()
}

fn unclosed(piece: &str) -> RequestError {
    refused(format!("`{piece}` has no closing bracket; expected one at its end"))
}

fn wrong(piece: &str, word: &str, expected: &str) -> RequestError {
    refused(format!("`{piece}`: bad `{word}`; expected {expected}"))
}

fn twice(word: &str) -> RequestError {
    refused(format!("`{word}` is given twice; expected it once"))
}

fn bulk(asked: &mut bool, word: &str) -> Result<String, RequestError> {
    if std::mem::replace(asked, true) {
        return Err(twice(word));
    }
    Ok(word.to_string())
}

fn application(traffic: &mut Traffic, new: Application) -> Result<String, RequestError> {
    if traffic.applications.iter().any(|other| other.class() == new.class()) {
        return Err(twice(new.class().word()));
    }
    traffic.applications.push(new);
    Ok(written(new))
}

/// The word that stands for an application.
fn written(application: Application) -> String {
    match application {
        Application::Request { bytes, pause } => {
            let size = in_unit(bytes, [(1000, "kB"), (1, "B")]);
            format!("request({size},{})", in_unit(pause, [(1_000_000, "ms"), (1, "ns")]))
        }
        Application::Video { rate, fps } => {
            let rate = in_unit(rate, [(1_000_000, "mbit"), (1_000, "kbit")]);
            format!("video({rate},{fps}fps)")
        }
        Application::Page => "page".to_string(),
    }
}

/// A number in the larger unit if it is a whole number of it; the smaller may have decimals.
fn in_unit(value: u64, [large, small]: [(u64, &str); 2]) -> String {
    match value.is_multiple_of(large.0) {
        true => format!("{}{}", value / large.0, large.1),
        false => format!("{}{}", value as f64 / small.0 as f64, small.1),
    }
}

/// The two numbers of a word, or those that it has without any.
fn two<'a>(
    piece: &str,
    numbers: Option<&'a str>,
    usual: (&'a str, &'a str),
) -> Result<(&'a str, &'a str), RequestError> {
    let Some(numbers) = numbers else { return Ok(usual) };
    let parts: Vec<&str> = numbers.split(',').map(str::trim).collect();
    match parts[..] {
        [first, second] => Ok((first, second)),
        _ => Err(refused(format!(
            "`{piece}` has {} number{} in brackets; expected two, such as {},{}",
            parts.len(),
            if parts.len() == 1 { "" } else { "s" },
            usual.0,
            usual.1
        ))),
    }
}

/// Refuses requests that have not been built beside traffic.
pub(crate) fn check(
    traffic: &Traffic,
    flows: &[usize],
    schemes: &[PlannedScheme],
) -> Result<(), RequestError> {
    if !traffic.has_bulk() && flows != [1] {
        return Err(refused(
            "there is no long transfer, so --flows has no meaning; expected download or upload beside it"
                .into(),
        ));
    }
    let only_download = !traffic.upload && traffic.applications.is_empty();
    match schemes.iter().find(|planned| planned.scheme.claim().is_some()) {
        Some(planned) if !only_download => Err(refused(format!(
            "`{}` sends for all flows of one server, which only long downloads have; expected --set enact=linux, by which \
             each flow acts for itself, or no such scheme",
            planned.name
        ))),
        _ => Ok(()),
    }
}

/// Without a long transfer nothing is counted of it, so none of what was `given` about it has a meaning.
pub(crate) fn check_transfers(traffic: &Traffic, given: &[(bool, &str)]) -> Result<(), RequestError> {
    match given.iter().find(|(given, _)| *given && !traffic.has_bulk()) {
        Some((_, what)) => Err(refused(format!(
            "there is no long transfer, so `{what}` has no meaning; expected download or upload beside it"
        ))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_and_written() {
        for (words, written, classes) in [
            ("download", "download", 1),
            ("both", "download,upload", 2),
            (" Upload , page", "upload,page", 2),
            ("request", "request(14kB,200ms)", 1),
            ("video( 1mbit , 25fps ),download", "video(1mbit,25fps),download", 2),
            ("request(0.5kb,1.5ms),video(1.5mbit,24FPS)", "request(500B,1500000ns),video(1500kbit,24fps)", 2),
        ] {
            let (traffic, text) = parse(words).unwrap();
            assert_eq!(text, written);
            assert_eq!(traffic.classes().len(), classes);
            assert_eq!(parse(&text).unwrap(), (traffic, text));
        }
        let (traffic, _) = parse("request(2kB,50ms),video(4mbit,30fps)").unwrap();
        let request = Application::Request { bytes: 2000, pause: 50_000_000 };
        assert_eq!(traffic.applications, [request, Application::Video { rate: 4_000_000, fps: 30 }]);
    }

    #[test]
    fn bad_words_are_refused() {
        for (words, said) in [
            ("", "--traffic: unknown ``; expected some of download, upload"),
            ("vidoe", "did you mean `video`?"),
            ("download,both", "`download` is given twice; expected it once"),
            ("page,page", "`page` is given twice"),
            ("video(1mbit,25fps),video", "`video` is given twice"),
            ("video(4mbit", "`video(4mbit` has no closing bracket"),
            ("video(4mbit)", "`video(4mbit)` has 1 number in brackets; expected two, such as 4mbit,30fps"),
            ("video(0mbit,30fps)", "bad `0mbit`; expected a rate of 1kbit to 1gbit"),
            ("video(4mbit,0fps)", "bad `0fps`; expected 1fps to 240fps"),
            ("request(0kB,200ms)", "bad `0kB`; expected a size"),
            ("request(14kB,-1ms)", "bad `-1ms`; expected a time of 0s to 60s"),
            ("page(3)", "`page(3)`: expected `page` without numbers"),
        ] {
            let error = parse(words).unwrap_err().to_string();
            assert!(error.contains(said), "{words}: {error}");
        }
    }
}
