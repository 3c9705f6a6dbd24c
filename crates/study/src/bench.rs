//! Settings of the bench that papers leave open: queues of the access links, starts of the flows, and whose packets are
//! counted (docs/reference/bench.md).

use crate::bench_words::{LINK_QUEUE, STARTS, TARGET};
use crate::request_error::RequestError;
use segue_world::access::{AccessLink, QueueRule};
use segue_world::clock_phase::APART;
use segue_world::{Nanos, SECOND};

/// Longest time between the starts of two flows.
const LONGEST: Nanos = 100 * SECOND;

/// Open points of the bench.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bench {
    /// Queues of links whose words name none.
    pub link_queue: Option<QueueRule>,
    /// Time between the starts of flows.
    pub starts: Nanos,
    /// Whether all flows together are to bring P packets.
    pub in_all: bool,
}

/// Whether the settings of the bench among these have values that they take.
pub fn check(settings: &[(String, String)]) -> Result<(), RequestError> {
    read(settings).map(|_| ())
}

/// Whether there is a link that the queue rule is for.
pub(crate) fn check_links(bench: &Bench, pairs: &[(AccessLink, AccessLink)]) -> Result<(), RequestError> {
    let named = |(old, new): &(AccessLink, AccessLink)| old.names_queue() && new.names_queue();
    if bench.link_queue.is_some() && pairs.iter().all(named) {
        let problem = "every link names a queue of its own; expected one that names none".into();
        return Err(RequestError::List { what: "--set link-queue", problem });
    }
    Ok(())
}

/// The bench that these settings ask for.
pub(crate) fn read(settings: &[(String, String)]) -> Result<Bench, RequestError> {
    let mut bench = Bench { link_queue: None, starts: APART, in_all: false };
    for (key, value) in settings {
        let refused = |expected: &str| RequestError::Value {
            key: key.clone(),
            value: value.clone(),
            expected: expected.into(),
        };
        match key.as_str() {
            LINK_QUEUE => {
                let rule = QueueRule::parse(value);
                let rule =
                    rule.ok_or_else(|| refused("a length such as 2bdp, 50p, 100ms or max(2bdp,20p)"))?;
                bench.link_queue = Some(rule);
            }
            STARTS => {
                let time = segue_words::quantity::setting_time(value).filter(|&time| time <= LONGEST);
                bench.starts = time.ok_or_else(|| refused("a time up to 100s"))?;
            }
            TARGET => {
                bench.in_all = match value.as_str() {
                    "in-all" => true,
                    "per-flow" => false,
                    _ => return Err(refused("per-flow or in-all")),
                };
            }
            _ => {}
        }
    }
    Ok(bench)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[(&str, &str)]) -> Result<Bench, String> {
        let words: Vec<_> = words.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        read(&words).map_err(|error| error.to_string())
    }

    #[test]
    fn words_are_read() {
        let usual = of(&[("hz", "1000")]).unwrap();
        assert_eq!((usual.link_queue, usual.starts, usual.in_all), (None, 1_000_000, false));
        let all = of(&[("link-queue", "2bdp"), ("starts", "500ms"), ("target", "in-all")]).unwrap();
        assert_eq!((all.link_queue, all.starts, all.in_all), (QueueRule::parse("2bdp"), SECOND / 2, true));
        assert!(!of(&[("target", "per-flow")]).unwrap().in_all);
        assert_eq!(["0s", "0"].map(|word| of(&[("starts", word)]).unwrap().starts), [0, 0]);
    }

    #[test]
    fn bad_words_are_refused() {
        for (key, value, expected) in [
            ("link-queue", "2x", "expected a length such as 2bdp, 50p, 100ms or max(2bdp,20p)"),
            ("link-queue", "codel", "expected a length"),
            ("starts", "101s", "expected a time up to 100s"),
            ("starts", "-1ms", "expected a time up to 100s"),
            ("target", "all", "expected per-flow or in-all"),
        ] {
            let error = of(&[(key, value)]).unwrap_err();
            assert_eq!(
                error.split(';').next(),
                Some(&*format!("setting `{key}`: bad value `{value}`")),
                "{error}"
            );
            assert!(error.contains(expected), "{error}");
        }
    }
}
