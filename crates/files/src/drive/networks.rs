//! A drive through networks of one's own, at random.

use super::written::DriveWords;
use super::{DriveFile, LONGEST};
use crate::FileError;
use segue_words::quantity;
use segue_world::Nanos;
use segue_world::access::parse_rate;
use segue_world::drive::mobility::{Dwelling, Load, Mobility, Network, Transition};

impl DriveFile {
    /// Networks of one's own.
    pub(super) fn mobility(&self, words: &DriveWords, length: Nanos) -> Result<Mobility, FileError> {
        let mut networks = Vec::new();
        for network in &words.network {
            let (words, span) = (network.get_ref(), network.span());
            let time = |word: &str| quantity::time(word).filter(|&time| time <= LONGEST);
            let problem = |what: &str, word: &str, such: &str| {
                let name = &words.name;
                self.bad(
                    span.clone(),
                    format!("network `{name}`: bad {what} `{word}`; expected one such as {such}"),
                )
            };
            networks.push(Network {
                name: words.name.clone(),
                channel_rate: parse_rate(&words.rate).ok_or_else(|| problem("rate", &words.rate, "2mbit"))?,
                delay: time(&words.delay).ok_or_else(|| problem("delay", &words.delay, "150ms"))?,
                queue: words.queue.unwrap_or(20),
                attached: time(&words.stay).ok_or_else(|| problem("stay", &words.stay, "50s"))?,
                dwelling: Dwelling::Exponential,
                load: match &words.users[..] {
                    [] => vec![Load { users: 1..=1, probability: 1.0 }],
                    users => users
                        .iter()
                        .map(|users| Load { users: users.from..=users.to, probability: users.probability })
                        .collect(),
                },
            });
        }
        let never = Transition { probability: 0.0, disconnection: 0 };
        let mut transitions = vec![vec![never; networks.len()]; networks.len()];
        for step in &words.moves {
            let (words, span) = (step.get_ref(), step.span());
            let index = |name: &str| {
                networks.iter().position(|network| network.name == name).ok_or_else(|| {
                    let known: Vec<&str> = networks.iter().map(|network| network.name.as_str()).collect();
                    let known = known.join(", ");
                    self.bad(span.clone(), format!("unknown network `{name}`; expected one of {known}"))
                })
            };
            let time = quantity::time(&words.disconnect).filter(|&time| time <= LONGEST);
            let (from, to) = (index(&words.from)?, index(&words.to)?);
            if transitions[from][to] != never {
                let problem = format!(
                    "a move from `{}` to `{}` is given twice; expected it once",
                    words.from, words.to
                );
                return Err(self.bad(span, problem));
            }
            transitions[from][to] = Transition {
                probability: words.probability,
                disconnection: time.ok_or_else(|| {
                    let word = &words.disconnect;
                    self.bad(span.clone(), format!("bad disconnect `{word}`; expected a time such as 3s"))
                })?,
            };
        }
        Mobility::new(length, networks, transitions)
            .map_err(|error| self.bad(self.scenario.drive.span(), error))
    }
}
