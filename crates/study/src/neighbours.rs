//! `--neighbours`: users who share the access links, in words.

use crate::planned::{PlannedScheme, adjust, control_named};
use crate::request_error::RequestError;
use segue_tcp::StackProfile;
use segue_tcp::linux::cc::CcName;
use segue_words::quantity;
use segue_world::neighbours::{COUNTED, STARTS};
use segue_world::{Kind, Nanos, Neighbours, NoticeMode, Routers};
use std::fmt;

/// Longest time that is counted: a run gives up soon after it.
const MOST_COUNTED: Nanos = 300_000_000_000;
/// Most on each link.
const MOST: u16 = 100;
/// The kernel whose congestion control they have where the schemes' stack is none.
const KERNEL: &str = "linux-6.12";

/// `3`, `3 cubic`, `3 cubic 30s` or, as results have it, `3/cubic/30s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NeighbourWords {
    count: u16,
    control: Option<CcName>,
    /// Their data are counted for so long.
    counted: Option<Nanos>,
}

impl fmt::Display for NeighbourWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.count)?;
        if let Some(control) = self.control {
            write!(f, "/{}", control.name())?;
        }
        self.counted.map_or(Ok(()), |counted| write!(f, "/{}s", counted as f64 / 1e9))
    }
}

fn refused(problem: String) -> RequestError {
    RequestError::List { what: "--neighbours", problem }
}

impl NeighbourWords {
    pub(crate) fn parse(words: &str) -> Result<Self, RequestError> {
        let bad = || {
            refused(format!(
                "bad `{words}`; expected a number of 1 to {MOST}, and a congestion control if another: 3 cubic; or a \
                 time that is counted, up to 300s: 3 cubic 30s"
            ))
        };
        let mut parts = words.split(['/', ' ']).filter(|part| !part.is_empty()).peekable();
        let is_time =
            |part: &&str| part.ends_with('s') && part.starts_with(|digit: char| digit.is_ascii_digit());
        let count = parts.next();
        let control = parts.next_if(|part| !is_time(part));
        let (counted, more) = (parts.next(), parts.next());
        let time =
            |word| quantity::time(word).filter(|&time| (1..=MOST_COUNTED).contains(&time)).ok_or_else(bad);
        let counted = counted.map(time).transpose()?;
        let count = count.filter(|count| count.bytes().all(|digit| digit.is_ascii_digit()));
        let count = count.and_then(|count| count.parse().ok()).filter(|count| (1..=MOST).contains(count));
        let control = control.map(control_named).transpose().map_err(|error| refused(error.to_string()))?;
        match (count, more) {
            (Some(count), None) => Ok(Self { count, control, counted }),
            _ => Err(bad()),
        }
    }

    /// The neighbours, beside these schemes: on the stack of the first regular TCP, or of the first scheme.
    pub(crate) fn beside(
        self,
        schemes: &[PlannedScheme],
        settings: &[(String, String)],
    ) -> Result<Neighbours, RequestError> {
        let regular = schemes.iter().find(|planned| planned.scheme.is_regular());
        let Some(first) = regular.or(schemes.first()) else { return Err(refused("no scheme".into())) };
        let stack = match self.control {
            None => first.stack,
            Some(control) => {
                let of_kernel = StackProfile::named(KERNEL).and_then(|stack| stack.with_control(control));
                let own = first.stack.with_control(control).or(of_kernel);
                let mut stack = own.ok_or_else(|| refused(format!("no stack has `{}`", control.name())))?;
                adjust(&mut stack, settings)?;
                stack
            }
        };
        Ok(Neighbours { count: self.count, stack, counted: self.counted.unwrap_or(COUNTED) })
    }
}

/// They have begun before a handoff, and no router holds packets for one of several mobiles.
pub(crate) fn check(
    at: &[Nanos],
    kinds: &[Kind],
    notice: NoticeMode,
    schemes: &[PlannedScheme],
    routers: &Routers,
) -> Result<(), RequestError> {
    if let Some(&early) = at.iter().find(|&&at| at < STARTS) {
        return Err(refused(format!(
            "they begin in the first {} s; expected no handoff before that, not at {} s",
            STARTS as f64 / 1e9,
            early as f64 / 1e9
        )));
    }
    let breaks = kinds.iter().any(|kind| kind.breaks());
    let buffered = schemes.iter().find(|planned| routers.rule_for(&planned.scheme, notice).is_some());
    match buffered.filter(|_| breaks) {
        Some(planned) => Err(refused(format!(
            "access routers do not buffer for one of several mobiles, as `{}` needs here; expected schemes and settings \
             without router buffers",
            planned.name
        ))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planned::{StackWords, planned};

    #[test]
    fn words_are_read_and_written() {
        for (words, written) in [
            ("3", "3"),
            ("2 cubic", "2/cubic"),
            ("100/bbr3", "100/bbr3"),
            (" 1  reno ", "1/reno"),
            ("1 30s", "1/30s"),
        ] {
            let read = NeighbourWords::parse(words).unwrap();
            assert_eq!(read.to_string(), written);
            assert_eq!(NeighbourWords::parse(written).unwrap(), read);
        }
        for (words, said) in [
            ("", "--neighbours: bad ``; expected a number of 1 to 100, and a"),
            ("0", "bad `0`"),
            ("101", "bad `101`"),
            ("+3", "bad `+3`"),
            ("3 cubic bbr", "bad `3 cubic bbr`"),
            ("cubic", "bad `cubic`"),
            ("3 cubik", "did you mean `cubic`?"),
        ] {
            let error = NeighbourWords::parse(words).unwrap_err().to_string();
            assert!(error.contains(said), "{words}: {error}");
        }
    }

    /// Unless a control is named, they are regular TCP as the comparison has it.
    #[test]
    fn their_stack_is_that_of_regular_tcp() {
        let stack = |names: &[&str], stack, words: &str| {
            let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
            let schemes = planned(&names, StackWords { stack, cc: None }, &[]).unwrap().0;
            NeighbourWords::parse(words).unwrap().beside(&schemes, &[]).unwrap().stack.name
        };
        assert_eq!(stack(&["etcp-v1", "sack"], None, "2"), "ns2-sack1");
        assert_eq!(stack(&["near", "newreno"], None, "2"), "freebsd5-newreno");
        assert_eq!(stack(&["sack"], Some("linux-6.18"), "2"), "linux-6.18/cubic");
        assert_eq!(stack(&["sack"], Some("linux-6.18"), "2 bbr"), "linux-6.18/bbr");
        assert_eq!(stack(&["sack"], None, "2 reno"), "linux-6.12/reno");
    }
}
