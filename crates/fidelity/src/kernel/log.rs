//! Events at the sender's host, instant by instant.
//!
//! As text: a scenario, then a line per instant. It begins with the us since the instant before; then, by flow:
//!
//! | word | stands for |
//! |---|---|
//! | `0>31-32` | flow 0 sends packets 31 and 32; packet 1 is the first with data |
//! | `0*30` | it sends packet 30 again |
//! | `0<30,33-34` | it hears an ACK of all before 30, with SACK blocks, a D-SACK among them, as they come |
//! | `0w12/8` | its cwnd is 12 and ssthresh 8 after this instant (`-`: infinite); left out if both are as before |

use super::scenario::Scenario;
use crate::Error;
use segue_tcp::Nanos;
use segue_tcp::segment::{MAX_SACK_BLOCKS, SackList};
use std::fmt;
use std::io::Read;
use std::path::Path;

/// Infinite ssthresh.
pub const INFINITE: u32 = 0x7fff_ffff;

/// Something happens to a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A data packet is sent, perhaps again.
    Sent {
        /// Its number.
        seq: u32,
        /// Not for the first time.
        again: bool,
    },
    /// An ACK arrives.
    Acked {
        /// The next packet that the receiver waits for.
        ack: u32,
        /// SACK blocks, first and last packet.
        blocks: Vec<(u32, u32)>,
    },
    /// Windows after the instant, in packets.
    Windows {
        /// cwnd.
        cwnd: u32,
        /// ssthresh.
        ssthresh: u32,
    },
}

/// All that happens at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instant {
    /// When, ns.
    pub at: Nanos,
    /// Flow and event.
    pub events: Vec<(usize, Event)>,
}

impl Instant {
    /// Data packets that are sent.
    pub fn packets(&self) -> usize {
        self.events.iter().filter(|(_, event)| matches!(event, Event::Sent { .. })).count()
    }
}

/// A run.
#[derive(Clone, Debug)]
pub struct Log {
    /// The scenario of the run.
    pub scenario: Scenario,
    /// The events, by instant.
    pub instants: Vec<Instant>,
}

/// SACK blocks as first and last packet.
pub fn blocks(sack: &SackList) -> Vec<(u32, u32)> {
    sack.as_slice().iter().map(|&(left, right)| (left, right - 1)).collect()
}

impl Log {
    /// Reads a file; `.gz` is unpacked.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let packed = std::fs::read(path).map_err(|e| Error::file(path, e))?;
        let mut text = String::new();
        let read = match path.extension().is_some_and(|e| e == "gz") {
            true => flate2::read::GzDecoder::new(&packed[..]).read_to_string(&mut text),
            false => (&packed[..]).read_to_string(&mut text),
        };
        read.map_err(|e| Error::file(path, e))?;
        Self::parse(&text).map_err(|(line, problem)| Error::Content {
            path: path.to_path_buf(),
            line,
            problem,
        })
    }

    /// Reads text; an error has its line.
    pub fn parse(text: &str) -> Result<Self, (u64, String)> {
        let mut lines = text.lines().zip(1..).filter(|(line, _)| !line.starts_with('#'));
        let (head, first) = lines.next().unwrap_or(("", 1));
        let scenario = Scenario::parse(head).ok_or((first, format!("`{head}` is no scenario")))?;
        let mut us = 0;
        let mut instants = Vec::new();
        for (line, number) in lines {
            let mut words = line.split(' ');
            let wait = words.next().and_then(|word| word.parse::<Nanos>().ok());
            us += wait.ok_or_else(|| (number, format!("`{line}` does not begin with a time")))?;
            let mut instant = Instant { at: us * 1000, events: Vec::new() };
            for word in words {
                read_word(word, &mut instant.events)
                    .filter(|flow| *flow < scenario.flows)
                    .ok_or_else(|| (number, format!("`{word}` is no event of a flow")))?;
            }
            instants.push(instant);
        }
        Ok(Self { scenario, instants })
    }
}

/// Appends what `word` says, and returns its flow.
fn read_word(word: &str, events: &mut Vec<(usize, Event)>) -> Option<usize> {
    let place = word.find(|letter: char| !letter.is_ascii_digit())?;
    let (flow, rest) = word.split_at(place);
    let flow = flow.parse().ok()?;
    let (kind, rest) = rest.split_at(rest.chars().next()?.len_utf8());
    let range = |text: &str| -> Option<(u32, u32)> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        Some((first.parse().ok()?, last.parse().ok()?))
    };
    match kind {
        ">" | "*" => {
            let (first, last) = range(rest)?;
            events.extend((first..=last).map(|seq| (flow, Event::Sent { seq, again: kind == "*" })));
        }
        "<" => {
            let mut parts = rest.split(',');
            let ack = parts.next()?.parse().ok()?;
            let blocks: Vec<_> = parts.map(range).collect::<Option<_>>()?;
            if blocks.len() > MAX_SACK_BLOCKS {
                return None;
            }
            events.push((flow, Event::Acked { ack, blocks }));
        }
        "w" => {
            let (cwnd, ssthresh) = rest.split_once('/')?;
            let ssthresh = if ssthresh == "-" { INFINITE } else { ssthresh.parse().ok()? };
            events.push((flow, Event::Windows { cwnd: cwnd.parse().ok()?, ssthresh }));
        }
        _ => return None,
    }
    Some(flow)
}

impl fmt::Display for Instant {
    /// Its words.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let mut events = self.events.iter().peekable();
        let mut space = "";
        while let Some((flow, event)) = events.next() {
            write!(f, "{space}{flow}")?;
            space = " ";
            match event {
                &Event::Sent { seq, again } => {
                    let mut last = seq;
                    let next = |last: u32| (*flow, Event::Sent { seq: last + 1, again });
                    while events.next_if(|event| **event == next(last)).is_some() {
                        last += 1;
                    }
                    let sign = if again { '*' } else { '>' };
                    match last == seq {
                        true => write!(f, "{sign}{seq}")?,
                        false => write!(f, "{sign}{seq}-{last}")?,
                    }
                }
                Event::Acked { ack, blocks } => {
                    write!(f, "<{ack}")?;
                    for (first, last) in blocks {
                        match first == last {
                            true => write!(f, ",{first}")?,
                            false => write!(f, ",{first}-{last}")?,
                        }
                    }
                }
                Event::Windows { cwnd, ssthresh: INFINITE } => write!(f, "w{cwnd}/-")?,
                Event::Windows { cwnd, ssthresh } => write!(f, "w{cwnd}/{ssthresh}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Log {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        writeln!(f, "{}", self.scenario)?;
        let mut before = 0;
        for instant in &self.instants {
            let us = (instant.at + 500) / 1000;
            writeln!(f, "{} {instant}", us - before)?;
            before = us;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "6400 9 10 200 300 10 cubic 2 mbb 0 8.2
26169 0>1-10 0w10/-
28193 0<3,5-6,9 1*30 1>31-32 1w12/8
";

    #[test]
    fn text_read_and_printed() {
        let log = Log::parse(TEXT).unwrap();
        assert_eq!(log.instants[1].at, 54_362_000);
        assert_eq!(log.instants[1].events[0], (0, Event::Acked { ack: 3, blocks: vec![(5, 6), (9, 9)] }));
        assert_eq!(log.to_string(), TEXT);
    }

    #[test]
    fn an_error_has_its_line() {
        let wrong = TEXT.replace("1*30", "2*30");
        assert_eq!(Log::parse(&wrong).unwrap_err(), (3, "`2*30` is no event of a flow".to_string()));
        let wrong = TEXT.replace("6400 9 10 ", "");
        assert_eq!(Log::parse(&wrong).unwrap_err().0, 1);
    }
}
