//! A drive: to which network the mobile is attached, when, and what it gets there (algorithms.md, 4.8).
//!
//! Drives are generated ([`Mobility`]), read from a file ([`Drive::read`]), or made of measured links
//! that take turns ([`Drive::of_traces`]). Between two stays the mobile is disconnected: all that is on
//! the old link or in its queue is lost.

mod generated;
mod recorded;
#[cfg(test)]
mod tests;

pub use generated::{Dwelling, Load, Mobility, MobilityError, Network, Transition};
pub use recorded::RecordedError;

use crate::access::{AccessLink, LinkSeed};
use segue_handoff::Link;
use segue_netsim::{Nanos, SECOND};

/// Longest drive.
const LONGEST_DRIVE: Nanos = 100_000 * SECOND;
/// Shortest mean time in a cell, which keeps the number of stays below a million.
const SHORTEST_DWELLING: Nanos = SECOND / 10;
/// Time without coverage at the end of a drive that counts as a handoff under way `[C]`.
const LONGEST_DISCONNECTION: Nanos = 60 * SECOND;

/// The mobile is attached to one cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stay {
    /// Which of the drive's networks.
    pub network: usize,
    /// The link comes up, ns from the drive's beginning.
    pub from: Nanos,
    /// The link is gone, ns.
    pub until: Nanos,
    /// The link of one user there; a measured link's time is the drive's.
    pub link: AccessLink,
}

/// Where the mobile is, from beginning to end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drive {
    /// ns.
    pub length: Nanos,
    /// Names.
    pub networks: Vec<String>,
    /// In order; the first begins at 0.
    pub stays: Vec<Stay>,
}

/// Faults of a drive.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DriveError {
    /// Nothing in it.
    #[error("a drive without stays; expected at least one")]
    NoStays,
    /// Too short or too long.
    #[error("a drive of {} s; expected more than 0, at most {} s", seconds(*.0), seconds(LONGEST_DRIVE))]
    Length(Nanos),
    /// One stay is wrong.
    #[error("stay {stay}: {problem}")]
    Stay {
        /// Which, from 1.
        stay: usize,
        /// The column of a file in which this stands.
        column: &'static str,
        /// The fault, and what was expected.
        problem: String,
    },
    /// The mobile never comes back.
    #[error(
        "no coverage from {} s to the end at {} s, longer than any disconnection before and than {} s; \
         expected another stay or an earlier end",
        seconds(*.from), seconds(*.length), seconds(LONGEST_DISCONNECTION)
    )]
    NoCoverage {
        /// End of the last stay, ns.
        from: Nanos,
        /// End of the drive, ns.
        length: Nanos,
    },
    /// Two networks of one name.
    #[error("two networks are called `{0}`; expected different names")]
    SameName(String),
    /// Nothing to take turns.
    #[error("links: {links}, attached times: {dwellings}; expected at least two links and one time")]
    NoTurns {
        /// Links given.
        links: usize,
        /// Attached times given.
        dwellings: usize,
    },
    /// An attached time out of range.
    #[error("an attached time of {} s; expected at least {} s", seconds(*.0), seconds(SHORTEST_DWELLING))]
    Dwelling(Nanos),
}

impl Drive {
    /// A drive whose stays follow one another and that does not end in a void.
    pub fn new(length: Nanos, networks: Vec<String>, stays: Vec<Stay>) -> Result<Self, DriveError> {
        if length == 0 || length > LONGEST_DRIVE {
            return Err(DriveError::Length(length));
        }
        if let Some(name) = twice(networks.iter().map(String::as_str)) {
            return Err(DriveError::SameName(name));
        }
        let last = stays.last().ok_or(DriveError::NoStays)?;
        in_order(stays.iter().map(|stay| (stay.from, stay.until)))?;
        let wrong = |stay, column, problem| Err(DriveError::Stay { stay, column, problem });
        if stays[0].from > 0 {
            return wrong(1, "from_s", format!("it begins at {} s; expected 0", seconds(stays[0].from)));
        }
        if last.until > length {
            let (until, length) = (seconds(last.until), seconds(length));
            let problem =
                format!("it ends at {until} s, after the drive; expected at most the drive's {length} s");
            return wrong(stays.len(), "until_s", problem);
        }
        if let Some(index) = stays.iter().position(|stay| stay.network >= networks.len()) {
            let (network, count) = (stays[index].network, networks.len());
            let problem = format!("network {network} of {count}; expected a number below {count}");
            return wrong(index + 1, "network", problem);
        }
        let longest = stays.windows(2).map(|pair| pair[1].from - pair[0].until).max().unwrap_or(0);
        if length - last.until > longest.max(LONGEST_DISCONNECTION) {
            return Err(DriveError::NoCoverage { from: last.until, length });
        }
        Ok(Self { length, networks, stays })
    }

    /// Measured links that take turns, each for the next of `attached` (from the first again after the last).
    /// `disconnection` lies between them, and every link has a name.
    pub fn of_traces(
        length: Nanos,
        links: &[(String, AccessLink)],
        attached: &[Nanos],
        disconnection: Nanos,
    ) -> Result<Self, DriveError> {
        if links.len() < 2 || attached.is_empty() {
            return Err(DriveError::NoTurns { links: links.len(), dwellings: attached.len() });
        }
        if let Some(short) = attached.iter().find(|time| **time < SHORTEST_DWELLING) {
            return Err(DriveError::Dwelling(*short));
        }
        if length > LONGEST_DRIVE {
            return Err(DriveError::Length(length));
        }
        let (mut stays, mut from) = (Vec::new(), 0);
        for ((network, (_, link)), &time) in links.iter().enumerate().cycle().zip(attached.iter().cycle()) {
            if from >= length {
                break;
            }
            let until = length.min(from.saturating_add(time));
            stays.push(Stay { network, from, until, link: link.clone() });
            from = until.saturating_add(disconnection);
        }
        Self::new(length, links.iter().map(|(name, _)| name.clone()).collect(), stays)
    }

    /// The class of the handoff between stay `index` and the next, where the wired way has this one-way
    /// delay. The links count as a notice would report them. That is the mean rate of the last second of the old one
    /// and of the first second of the new one. Where chance has a part, the rates are those of seed 1.
    pub fn class(&self, index: usize, wan_delay: Nanos) -> Option<Class> {
        let (old, new) = (self.stays.get(index)?, self.stays.get(index + 1)?);
        let place = |index: usize| LinkSeed { seed: 1, link: 1 + index as u64 };
        let before = old.link.reported(place(index), old.until.saturating_sub(SECOND), old.until, old.until);
        let after = new.link.reported(place(index + 1), new.from, new.from + SECOND, new.from);
        Some(Class::of(before, after, wan_delay))
    }
}

/// Kinds of handoff (Wu et al., Section 2; algorithms.md, 4.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// Horizontal, a small BDP before or after.
    LHh,
    /// Horizontal, a large BDP before and after.
    HHh,
    /// Vertical, to a larger BDP.
    UVh,
    /// Vertical, to a smaller BDP.
    DVh,
}

impl Class {
    /// The class by the BDP of the path before and after (rate times `2 * (wan_delay + link delay)`).
    ///
    /// `[C]`, because the paper has no numbers. Vertical: one BDP is more than twice the other; one user
    /// or two in a WLAN cell stay alike. Large: at least [`LARGE_BDP`].
    pub fn of(old: Link, new: Link, wan_delay: Nanos) -> Self {
        let (old, new) = (bdp(old, wan_delay), bdp(new, wan_delay));
        if new > 2 * old {
            Self::UVh
        } else if old > 2 * new {
            Self::DVh
        } else if old.min(new) >= LARGE_BDP * PACKET {
            Self::HHh
        } else {
            Self::LHh
        }
    }

    /// The paper's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::LHh => "L-HH",
            Self::HHh => "H-HH",
            Self::UVh => "U-VH",
            Self::DVh => "D-VH",
        }
    }
}

/// Smallest BDP that counts as large, packets `[C]`.
///
/// With the paper's WAN delays (10 to 100 ms) a WCDMA path has 5.3 to 8.3 packets, always small. A WLAN cell of one or
/// two users has 11.7 to 128, always large. One of nine or ten has 2.3 to 7.8 up to 50 ms, below WCDMA's, and 12.8 or
/// more at 100 ms. So the class of crowded to crowded depends on the WAN.
pub const LARGE_BDP: u128 = 10;

/// A packet in units of 1e-6 bit: kbit/s times ns.
const PACKET: u128 = 8 * crate::access::PACKET_BYTES as u128 * 1_000_000;

/// Rate times path RTT in kbit/s times ns.
fn bdp(link: Link, wan_delay: Nanos) -> u128 {
    let delay = u128::from(link.delay_us) * 1_000 + u128::from(wan_delay);
    u128::from(link.rate_kbps) * 2 * delay
}

/// Each span has a length and begins after the one before it.
fn in_order(spans: impl Iterator<Item = (Nanos, Nanos)>) -> Result<(), DriveError> {
    let mut end = 0;
    for (index, (from, until)) in spans.enumerate() {
        let wrong = |column, problem| Err(DriveError::Stay { stay: index + 1, column, problem });
        if until <= from {
            let (begins, ends) = (seconds(from), seconds(until));
            let problem = format!("it ends at {ends} s; expected more than its beginning, {begins} s");
            return wrong("until_s", problem);
        }
        if from < end {
            let (begins, end) = (seconds(from), seconds(end));
            let problem =
                format!("it begins at {begins} s, before the one above has ended; expected {end} s or later");
            return wrong("from_s", problem);
        }
        end = until;
    }
    Ok(())
}

/// The first name that occurs a second time.
fn twice<'a>(mut names: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut seen = std::collections::BTreeSet::new();
    names.find(|name| !seen.insert(*name)).map(str::to_string)
}

/// A time in seconds, exact, without trailing zeros.
fn seconds(time: Nanos) -> String {
    let text = format!("{}.{:09}", time / SECOND, time % SECOND);
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}
