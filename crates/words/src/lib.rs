//! Words as users write them.

extern crate self as segue_words; // for `choices!`

mod choice;
pub mod lab;
pub mod quantity;
pub mod text;

pub use choice::Choice;
#[doc(hidden)]
pub use serde; // for `choices!`

/// A word, or several with commas, as it was meant: its case and blanks are forgiven.
pub fn forgiven(word: &str) -> String {
    word.to_lowercase().split(',').map(str::trim).collect::<Vec<_>>().join(",")
}

/// The valid word that was probably meant. A wrong guess is worse than none, so that there is one only if
/// * the words are equal but for upper and lower case, or
/// * one letter in three was changed, left out, added or swapped with the next, up to three, or
/// * the word, of three letters or more, is the beginning of a single valid one.
///
/// Among equally near ones it is the one with the longest beginning in common, then the first.
pub fn nearest<'a>(word: &str, valid: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let letters = word.chars().count();
    // A single letter is as near to each other one: only its case can be wrong.
    let most = if letters < 2 { 0 } else { (letters / 3).clamp(1, 3) };
    let valid: Vec<(&str, String)> = valid.into_iter().map(|valid| (valid, valid.to_lowercase())).collect();
    // As many steps at least as one has more letters than the other: a word of a thousand is not compared.
    let alike = valid.iter().filter(|(_, lower)| lower.chars().count().abs_diff(letters) <= most);
    let apart = alike.map(|(valid, lower)| (strsim::damerau_levenshtein(&word, lower), *valid));
    let in_common = |valid: &str| {
        word.chars().zip(valid.chars().flat_map(char::to_lowercase)).take_while(|(a, b)| a == b).count()
    };
    let near = apart
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, valid)| (*distance, letters - in_common(valid)));
    let mut longer = valid.iter().filter(|(_, lower)| letters >= 3 && lower.starts_with(&word));
    match (near, longer.next(), longer.next()) {
        (Some((_, near)), _, _) => Some(near),
        (None, Some((only, _)), None) => Some(only),
        _ => None,
    }
}

/// How a message about an unknown word ends: "; did you mean `sack`?", or nothing.
pub fn did_you_mean<'a>(word: &str, valid: impl IntoIterator<Item = &'a str>) -> String {
    let valid = nearest(word, valid);
    valid.map(|valid| format!("; did you mean `{valid}`?")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMES: [&str; 6] = ["sack", "newreno", "etcp-v0", "etcp-v1", "tcp-ho", "buffer-lcfd"];
    const STACKS: [&str; 3] = ["linux", "rfc", "inet-reno"];

    #[test]
    fn misspelt_words_are_recognised() {
        for (word, meant) in [
            ("sak", "sack"),         // left out
            ("sackk", "sack"),       // added
            ("sacl", "sack"),        // changed
            ("scak", "sack"),        // swapped
            ("newrno", "newreno"),   // left out
            ("nwerneo", "newreno"),  // two swapped pairs of seven letters
            ("SACK", "sack"),        // upper case
            ("etcp-v9", "etcp-v0"),  // the first of two
            ("etcp-v01", "etcp-v0"), // as near to both
            ("buffer-", "buffer-lcfd"),
            ("bufer-lcdf", "buffer-lcfd"),
        ] {
            assert_eq!(nearest(word, SCHEMES), Some(meant), "{word}");
        }
        assert_eq!(nearest("linuks", STACKS), Some("linux"), "two of six letters");
        assert_eq!(nearest("rcf", STACKS), Some("rfc"));
        let commands = ["explore", "explain"];
        assert_eq!(
            nearest("explane", commands),
            Some("explain"),
            "two letters from both, five of them in common"
        );
    }

    #[test]
    fn other_words_are_not_guessed() {
        assert_eq!(nearest("cubic", STACKS), None);
        assert_eq!(nearest("bbr", SCHEMES), None);
        assert_eq!(nearest("wifi", ["wimax", "wlan"]), None);
        assert_eq!(nearest("tcsh", ["bash", "fish", "zsh"]), None);
        assert_eq!(nearest("", ["a", "be"]), None);
        assert_eq!(nearest("b", ["a", "be"]), None);
        assert_eq!(nearest("etcp-v", ["x"]), None);
    }

    #[test]
    fn a_beginning_counts_if_it_has_one_end() {
        let papers = ["daniel-kojo-2008-crosslayer", "daniel-kojo-2009-multiflow", "wu-2009-tcp-ho"];
        assert_eq!(nearest("daniel-kojo-2009", papers), Some(papers[1]));
        assert_eq!(nearest("daniel", papers), None, "two papers");
        assert_eq!(nearest("wu", papers), None, "two letters");
    }

    #[test]
    fn letters_are_counted_not_octets() {
        assert_eq!(nearest("über", ["uber"]), Some("uber"));
        assert_eq!(nearest("äöü", ["abc"]), None);
    }

    #[test]
    fn the_end_of_a_message() {
        assert_eq!(did_you_mean("sak", SCHEMES), "; did you mean `sack`?");
        assert_eq!(did_you_mean("cubic", STACKS), "");
    }
}
