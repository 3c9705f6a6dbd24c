//! From outcomes to verdicts.

use crate::judge::{Outcome, REGULAR, Source, judge, schemes};
use crate::ledger::{Check, Claim, Paper, Sensitivity};
use crate::points::{Point, Single};
use crate::reach::beyond_the_bound;
use crate::sample::Sample;
use segue_study::explain::SchemeTrace;

/// Verdicts on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// All that it expects is true within the tolerances.
    Holds,
    /// Something is not.
    Differs,
    /// It differs, and states a gain over regular TCP that is more than the bound leaves beside that of ns-2.
    BeyondTheBound,
    /// A claim about regular TCP alone that the real ns-2 contradicts.
    RefutedByNs2,
    /// A parameter is missing, or the text is ambiguous.
    CannotBeJudged,
}

impl Verdict {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Holds, Self::Differs, Self::BeyondTheBound, Self::RefutedByNs2, Self::CannotBeJudged];

    /// As tables and JSON have it.
    pub fn words(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Differs => "differs",
            Self::BeyondTheBound => "beyond the bound",
            Self::RefutedByNs2 => "refuted by ns-2",
            Self::CannotBeJudged => "cannot be judged",
        }
    }

    /// So many claims of this verdict: `1 holds`, `3 hold`.
    pub fn counted(self, number: usize) -> String {
        let words = match self {
            Self::Holds if number != 1 => "hold",
            Self::Differs if number != 1 => "differ",
            _ => self.words(),
        };
        format!("{number} {words}")
    }
}

/// A claim, judged.
#[derive(Clone, Debug)]
pub struct Judged<'a> {
    /// The paper that states it.
    pub paper: &'a Paper,
    /// The claim.
    pub claim: &'a Claim,
    /// Its verdict.
    pub verdict: Verdict,
    /// The measured value, by ns-2 if that decided.
    pub measured: String,
    /// Why it differs or cannot be judged.
    pub why: String,
    /// It rests on fewer handoff times or seeds than verdicts are meant for.
    pub few: bool,
    /// The same claim on other benches, in the order of the paper's list; empty if they were not run.
    pub beside: Vec<Beside<'a>>,
}

impl Judged<'_> {
    /// The verdict, if it rests on enough.
    pub fn settled(&self) -> Option<Verdict> {
        (!self.few).then_some(self.verdict)
    }

    /// The verdict in words, or how the claim stands so far.
    pub fn words(&self) -> String {
        let so_far = if self.few { " so far" } else { "" };
        format!("{}{so_far}", self.verdict.words())
    }
}

/// A claim on another bench.
#[derive(Clone, Debug)]
pub struct Beside<'a> {
    /// The bench.
    pub bench: &'a Sensitivity,
    /// Whether it holds there. ns-2's results are of the usual bench, so that none is beyond the bound or refuted.
    pub verdict: Verdict,
    /// The measured value.
    pub measured: String,
}

/// ns-2 has no results of another bench.
struct NoResults;

impl Source for NoResults {
    fn sample(&self, _: &Point, _: &str) -> Option<&Sample> {
        None
    }

    fn trace(&self, _: &Single, _: &str) -> Option<&SchemeTrace> {
        None
    }
}

/// Judges a claim on runs on another bench.
pub fn beside<'a>(
    paper: &'a Paper,
    claim: &'a Claim,
    bench: &'a Sensitivity,
    results: &dyn Source,
) -> Beside<'a> {
    let Judged { verdict, measured, .. } = verdict(paper, claim, results, &NoResults);
    Beside { bench, verdict, measured }
}

/// Judges a claim on our runs, or first on ns-2's where it is about regular TCP alone.
pub fn verdict<'a>(paper: &'a Paper, claim: &'a Claim, ours: &dyn Source, ns2: &dyn Source) -> Judged<'a> {
    let done = |verdict, measured, why| Judged {
        paper,
        claim,
        verdict,
        measured,
        why,
        few: false,
        beside: Vec::new(),
    };
    if let Some(why) = &claim.cannot {
        return done(Verdict::CannotBeJudged, String::new(), why.clone());
    }
    if claim.check != Check::Sim {
        let by = claim.by.clone().unwrap_or_default();
        return match by.is_empty() {
            false => done(Verdict::Holds, format!("shown by {by}"), String::new()),
            true => done(Verdict::CannotBeJudged, String::new(), "nothing shows it".into()),
        };
    }
    let regular =
        schemes(claim).iter().all(|name| paper.defaults.schemes.get(*name).is_some_and(|own| own == REGULAR));
    if regular
        && let Some(outcomes) = judge(claim, &paper.defaults, ns2)
        && !outcomes.iter().all(|outcome| outcome.holds)
    {
        let why = claim.why.clone().unwrap_or_default();
        return done(Verdict::RefutedByNs2, format!("ns-2: {}", told(&outcomes)), why);
    }
    match judge(claim, &paper.defaults, ours) {
        None => done(Verdict::CannotBeJudged, String::new(), "a measurement is missing".into()),
        Some(outcomes) if outcomes.iter().all(|outcome| outcome.holds) => {
            done(Verdict::Holds, told(&outcomes), String::new())
        }
        Some(outcomes) => {
            let verdict = match beyond_the_bound(claim, &paper.defaults, ours, ns2) {
                true => Verdict::BeyondTheBound,
                false => Verdict::Differs,
            };
            done(verdict, told(&outcomes), claim.why.clone().unwrap_or_default())
        }
    }
}

/// All outcomes; those that failed are marked.
fn told(outcomes: &[Outcome]) -> String {
    let texts: Vec<String> = outcomes
        .iter()
        .map(|outcome| match outcome.holds {
            true => outcome.measured.clone(),
            false => format!("[{}]", outcome.measured),
        })
        .collect();
    texts.join(" | ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_counted_in_words() {
        let told = |number| Verdict::ALL.map(|verdict| verdict.counted(number)).join(", ");
        assert_eq!(told(1), "1 holds, 1 differs, 1 beyond the bound, 1 refuted by ns-2, 1 cannot be judged");
        assert_eq!(told(3), "3 hold, 3 differ, 3 beyond the bound, 3 refuted by ns-2, 3 cannot be judged");
    }
}
