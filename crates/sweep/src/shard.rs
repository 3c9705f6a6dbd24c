//! One process's share of a sweep: every n-th part.

use crate::Plan;
use std::str::FromStr;

/// The i-th of n shares, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: usize,
    of: usize,
}

impl Shard {
    /// All of it.
    pub const WHOLE: Self = Self { index: 1, of: 1 };

    /// The parts of this share, ascending.
    pub fn parts(self, plan: &Plan) -> impl Iterator<Item = usize> {
        (self.index - 1..plan.parts()).step_by(self.of)
    }
}

impl FromStr for Shard {
    type Err = &'static str;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let numbers =
            word.split_once('/').and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
        match numbers {
            Some((index, of)) if 1 <= index && index <= of => Ok(Self { index, of }),
            _ => Err("expected I/N with I from 1 to N, such as 3/16"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use segue_world::access::LinkNames;

    #[test]
    fn shares_are_numbered_from_one() {
        assert_eq!("1/1".parse(), Ok(Shard::WHOLE));
        assert_eq!("3/16".parse(), Ok(Shard { index: 3, of: 16 }));
        for word in ["", "3", "0/2", "3/2", "-1/2", "1/0", "a/b", "1/2/3"] {
            let expected = word.parse::<Shard>().expect_err(word);
            assert!(expected.contains("I from 1 to N"), "{word}: {expected}");
        }
    }

    #[test]
    fn every_part_is_in_one_share() {
        let sweep = "old = 'wlan'\nnew = 'egprs'\nflows = [1, 2, 3, 4, 5]\nschemes = 'sack'";
        let plan =
            Plan::read(sweep, "s.toml", &LinkNames::default()).unwrap_or_else(|error| panic!("{error}"));
        let shares =
            ["1/2", "2/2"].map(|word| word.parse::<Shard>().unwrap().parts(&plan).collect::<Vec<_>>());
        assert_eq!(shares, [vec![0, 2, 4], vec![1, 3]]);
        assert_eq!("7/9".parse::<Shard>().unwrap().parts(&plan).count(), 0);
    }
}
