//! Two comparisons side by side: which rows answer the same question, and how they differ
//! (docs/guide/diff.md).

use crate::measure::Row;
use crate::verdict::{Measured, Verdict, judge};
use serde::Serialize;
use std::collections::BTreeMap;

/// Two comparisons side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Rows that belong together, in the order of A.
    pub pairs: Vec<Pair>,
    /// Rows of A without a counterpart in B.
    pub only_in_a: Vec<Row>,
    /// Rows of B without a counterpart in A.
    pub only_in_b: Vec<Row>,
}

/// Two rows of the same handoff and scheme.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// In A.
    pub a: Row,
    /// In B.
    pub b: Row,
    /// Where the two answer different questions; empty if they answer the same.
    pub question: Vec<Changed>,
    /// Every measure, in a fixed order.
    pub measures: Vec<Measured>,
}

/// A field that describes the question and differs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Changed {
    /// The field.
    pub field: &'static str,
    /// In A.
    pub a: String,
    /// In B.
    pub b: String,
}

impl Pair {
    fn new(a: &Row, b: &Row) -> Self {
        let question = question(a)
            .into_iter()
            .zip(question(b))
            .filter(|(a, b)| a != b)
            .map(|((field, a), (_, b))| Changed { field, a, b })
            .collect();
        Self { a: a.clone(), b: b.clone(), question, measures: judge(a, b) }
    }

    /// Whether the rows are equal in every field.
    pub fn identical(&self) -> bool {
        self.a == self.b
    }
}

impl Difference {
    /// Matches the rows and judges every measure.
    pub fn new(a: &[Row], b: &[Row]) -> Self {
        let mut matched = Matched { of_a: vec![None; a.len()], of_b: vec![None; b.len()] };
        let mut groups: BTreeMap<Key, [Vec<usize>; 2]> = BTreeMap::new();
        for (side, rows) in [a, b].into_iter().enumerate() {
            for (index, row) in rows.iter().enumerate() {
                groups.entry(key(row)).or_default()[side].push(index);
            }
        }
        let questions = |rows: &[Row]| rows.iter().map(question).collect::<Vec<_>>();
        let (in_a, in_b) = (questions(a), questions(b));
        for [left, right] in groups.into_values() {
            matched
                .equal_questions(left.iter().map(|&i| (i, &in_a[i])), right.iter().map(|&k| (k, &in_b[k])));
            matched.most_alike(&left, &right, |i, k| {
                in_a[i].iter().zip(&in_b[k]).filter(|(a, b)| a == b).count()
            });
        }
        let without = |rows: &[Row], of: &[Option<usize>]| {
            rows.iter().zip(of).filter(|(_, other)| other.is_none()).map(|(row, _)| row.clone()).collect()
        };
        Self {
            pairs: a.iter().zip(&matched.of_a).filter_map(|(a, k)| Some(Pair::new(a, &b[(*k)?]))).collect(),
            only_in_a: without(a, &matched.of_a),
            only_in_b: without(b, &matched.of_b),
        }
    }

    /// Whether both hold the same rows, equal in every field.
    pub fn identical(&self) -> bool {
        self.only_in_a.is_empty() && self.only_in_b.is_empty() && self.pairs.iter().all(Pair::identical)
    }

    /// Every measure of every pair: beyond noise first, then by size of the effect, then transfer
    /// time before counts.
    pub fn ranked(&self) -> Vec<(&Pair, &Measured)> {
        let mut all = Vec::new();
        for pair in &self.pairs {
            all.extend(pair.measures.iter().enumerate().map(|(place, measured)| (place, pair, measured)));
        }
        all.sort_by(|(place, _, a), (other_place, _, b)| {
            a.verdict.cmp(&b.verdict).then(b.effect.total_cmp(&a.effect)).then(place.cmp(other_place))
        });
        all.into_iter().map(|(_, pair, measured)| (pair, measured)).collect()
    }

    /// How many measures have a verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.pairs.iter().flat_map(|pair| &pair.measures).filter(|m| m.verdict == verdict).count()
    }
}

/// Fields by which two rows belong together.
type Key = (String, String, String, u64, (usize, Option<u32>), String);

fn key(row: &Row) -> Key {
    let disconnect = row.disconnect_s.to_bits();
    (
        row.old.clone(),
        row.new.clone(),
        row.kind.clone(),
        disconnect,
        (row.flows, row.handoff),
        row.scheme.clone(),
    )
}

/// The further fields that describe what was asked, as text.
type Question = [(&'static str, String); 8];

/// The question behind a row, apart from links, kind, flows and scheme.
pub fn question(row: &Row) -> Question {
    let settings: Vec<String> = row.settings.iter().map(|(key, value)| format!("{key}={value}")).collect();
    [
        ("stack", row.stack.clone()),
        ("settings", settings.join(" ")),
        ("notice", row.notice.clone()),
        ("definition", row.definition.clone()),
        ("packets", row.packets.to_string()),
        ("seed", row.seed.to_string()),
        ("seeds", row.seeds.to_string()),
        ("points", row.points.to_string()),
    ]
}

/// For each row its counterpart.
struct Matched {
    of_a: Vec<Option<usize>>,
    of_b: Vec<Option<usize>>,
}

impl Matched {
    fn pair(&mut self, i: usize, k: usize) {
        self.of_a[i] = Some(k);
        self.of_b[k] = Some(i);
    }

    /// Rows with the very same question; several of them in one file in their order.
    fn equal_questions<'q>(
        &mut self,
        left: impl Iterator<Item = (usize, &'q Question)>,
        right: impl Iterator<Item = (usize, &'q Question)>,
    ) {
        let mut waiting: BTreeMap<&Question, std::collections::VecDeque<usize>> = BTreeMap::new();
        for (k, question) in right {
            waiting.entry(question).or_default().push_back(k);
        }
        for (i, question) in left {
            if let Some(k) = waiting.get_mut(question).and_then(|rows| rows.pop_front()) {
                self.pair(i, k);
            }
        }
    }

    /// Pairs of the rows that are left and are each other's one best counterpart, until there are none. Where several
    /// would do equally well, none is taken: a guess would compare rows that do not belong together.
    fn most_alike(&mut self, left: &[usize], right: &[usize], alike: impl Fn(usize, usize) -> usize) {
        loop {
            let free_a: Vec<usize> = left.iter().copied().filter(|&i| self.of_a[i].is_none()).collect();
            let free_b: Vec<usize> = right.iter().copied().filter(|&k| self.of_b[k].is_none()).collect();
            let best_of_b: BTreeMap<usize, usize> =
                free_b.iter().filter_map(|&k| Some((k, only_best(&free_a, |i| alike(i, k))?))).collect();
            let mut found = false;
            for &i in &free_a {
                if let Some(k) = only_best(&free_b, |k| alike(i, k))
                    && best_of_b.get(&k) == Some(&i)
                {
                    self.pair(i, k);
                    found = true;
                }
            }
            if !found {
                return;
            }
        }
    }
}

/// The candidate with the highest score, if it is the only one.
fn only_best(candidates: &[usize], score: impl Fn(usize) -> usize) -> Option<usize> {
    let mut best: Option<(usize, usize, bool)> = None;
    for &candidate in candidates {
        let score = score(candidate);
        best = match best {
            Some((_, highest, _)) if score > highest => Some((candidate, score, true)),
            Some((holder, highest, _)) if score == highest => Some((holder, highest, false)),
            None => Some((candidate, score, true)),
            worse => worse,
        };
    }
    best.filter(|&(_, _, only)| only).map(|(candidate, ..)| candidate)
}
