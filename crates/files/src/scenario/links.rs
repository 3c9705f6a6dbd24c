//! The pairs of links that a scenario names.

use super::written::{Grid, LinkWords, Several};
use super::{FileError, ScenarioFile};
use segue_words::quantity;
use segue_world::access::{AccessLink, parse_rate};
use std::ops::Range;
use toml::Spanned;

/// Most pairs of one scenario.
const MOST_PAIRS: usize = 10_000;
/// In place of a rate or a delay of the new link: that of the old one.
const SAME: &str = "same";

/// A link and its place in the file.
struct Placed {
    link: AccessLink,
    span: Range<usize>,
}

impl ScenarioFile {
    /// Link before and link after, in order.
    pub(super) fn pairs(&self) -> Result<Vec<(AccessLink, AccessLink)>, FileError> {
        let scenario = &self.scenario;
        let one_way = match (&scenario.pairs, &scenario.old, &scenario.new) {
            (Some(pairs), None, None) => self.listed(pairs)?,
            (Some(pairs), ..) => {
                let problem = "`pairs` and `old` or `new`; expected one or the other";
                return Err(self.source.at(pairs.span.clone(), problem.into()));
            }
            (None, Some(old), Some(new)) => self.combined(old, new)?,
            (None, old, _) => {
                let missing = if old.is_some() { "new" } else { "old" };
                let problem =
                    format!("`{missing}` is missing; expected links in `old` and `new`, or in `pairs`");
                return Err(self.source.at(0..0, problem));
            }
        };
        let Some(both_ways) = scenario.both_ways.as_ref().filter(|both_ways| *both_ways.get_ref()) else {
            return Ok(one_way);
        };
        let mut pairs = Vec::new();
        for (old, new) in &one_way {
            let there = |(from, to): &(AccessLink, AccessLink)| from.text == new.text && to.text == old.text;
            if old.text != new.text && one_way.iter().any(there) {
                let problem = format!(
                    "{} -> {} is among the links already; expected each way once",
                    new.text, old.text
                );
                return Err(self.source.at(both_ways.span(), problem));
            }
            pairs.push((old.clone(), new.clone()));
            pairs.push((new.clone(), old.clone()));
        }
        Ok(pairs)
    }

    fn listed(
        &self,
        pairs: &Several<Vec<Spanned<String>>>,
    ) -> Result<Vec<(AccessLink, AccessLink)>, FileError> {
        self.filled("pairs", pairs)?;
        let mut links: Vec<(AccessLink, AccessLink)> = Vec::new();
        for pair in &pairs.values {
            let [old, new] = pair.get_ref().as_slice() else {
                let problem = format!("{} links in one pair; expected [OLD, NEW]", pair.get_ref().len());
                return Err(self.source.at(pair.span(), problem));
            };
            let pair_of_links = (self.source.link(old)?, self.source.link(new)?);
            if links.contains(&pair_of_links) {
                let problem =
                    format!("{} -> {} is given twice; expected each pair once", old.get_ref(), new.get_ref());
                return Err(self.source.at(pair.span(), problem));
            }
            links.push(pair_of_links);
        }
        Ok(links)
    }

    fn combined(
        &self,
        old: &Several<LinkWords>,
        new: &Several<LinkWords>,
    ) -> Result<Vec<(AccessLink, AccessLink)>, FileError> {
        let mut pairs = Vec::new();
        for before in self.side("old", old, None)? {
            for after in self.side("new", new, Some(&before.link))? {
                if pairs.len() == MOST_PAIRS {
                    let problem =
                        format!("the links make more than {MOST_PAIRS} pairs; expected fewer values");
                    return Err(self.source.at(after.span, problem));
                }
                pairs.push((before.link.clone(), after.link));
            }
        }
        Ok(pairs)
    }

    /// The links of one side; `old` if it is the new one.
    fn side(
        &self,
        key: &str,
        side: &Several<LinkWords>,
        old: Option<&AccessLink>,
    ) -> Result<Vec<Placed>, FileError> {
        self.filled(key, side)?;
        let mut links: Vec<Placed> = Vec::new();
        for words in &side.values {
            let more = match words.get_ref() {
                LinkWords::Written(text) => {
                    let link = self.source.link(&Spanned::new(words.span(), text.clone()))?;
                    vec![Placed { link, span: words.span() }]
                }
                LinkWords::Grid(grid) => self.grid(grid, old)?,
            };
            for placed in more {
                if links.iter().any(|other| other.link.text == placed.link.text) {
                    let problem = format!("{} is given twice; expected each link once", placed.link.text);
                    return Err(self.source.at(placed.span, problem));
                }
                links.push(placed);
                if links.len() > MOST_PAIRS {
                    let problem = format!("more than {MOST_PAIRS} links; expected fewer values");
                    return Err(self.source.at(words.span(), problem));
                }
            }
        }
        Ok(links)
    }

    fn grid(&self, grid: &Grid, old: Option<&AccessLink>) -> Result<Vec<Placed>, FileError> {
        self.filled("rate", &grid.rate)?;
        self.filled("delay", &grid.delay)?;
        let mut links = Vec::new();
        for rate in &grid.rate.values {
            for delay in &grid.delay.values {
                let rate_word = self.part(rate, old, 0)?;
                let delay_word = self.part(delay, old, 1)?;
                if parse_rate(&rate_word).is_none() {
                    let problem = format!(
                        "bad rate `{rate_word}`; expected a positive number with unit bit, kbit, mbit or gbit, at most 100 Gbit/s"
                    );
                    return Err(self.source.at(rate.span(), problem));
                }
                if quantity::time(&delay_word).is_none() {
                    let problem =
                        format!("bad delay `{delay_word}`; expected a positive number with unit us, ms or s");
                    return Err(self.source.at(delay.span(), problem));
                }
                let text = format!("{rate_word}/{delay_word}");
                let link = self.source.link(&Spanned::new(delay.span(), text))?;
                // Two equal delays, or two equal rates: the later word is the one too many.
                let span = if grid.delay.values.len() > 1 { delay.span() } else { rate.span() };
                links.push(Placed { link, span });
            }
        }
        Ok(links)
    }

    /// A rate (`index` 0) or a delay (1) as the link's text has it.
    fn part(
        &self,
        word: &Spanned<String>,
        old: Option<&AccessLink>,
        index: usize,
    ) -> Result<String, FileError> {
        if word.get_ref() != SAME {
            return Ok(word.get_ref().clone());
        }
        let fail = |problem: String| Err(self.source.at(word.span(), problem));
        let Some(old) = old else {
            return fail(format!("`{SAME}` means that of the old link; expected it in `new` only"));
        };
        let Some((rate, delay)) = &old.rate_and_delay else {
            return fail(format!(
                "`{SAME}`: the old link {} is measured; expected one of fixed rate",
                old.text
            ));
        };
        Ok([rate, delay][index].to_string())
    }

    /// A list must not be empty.
    pub(super) fn filled<T>(&self, key: &str, list: &Several<T>) -> Result<(), FileError> {
        if list.values.is_empty() {
            let problem = format!("{key}: the list is empty; expected at least one value");
            return Err(self.source.at(list.span.clone(), problem));
        }
        Ok(())
    }
}
