//! How each scheme looks: one hue and one marker for ever, in every picture and table, whichever others are beside it.
//! Schemes that are often compared have different hues. Two that share one have different markers.

use maud::{Markup, html};
use segue_draw::Hue::{Blue, Brown, Gold, Green, Grey, Orange, Rose, Violet};
use segue_draw::Marker::{Diamond, Dot, Down, OpenDiamond, OpenDown, OpenSquare, Square, Up};
use segue_draw::{Hue, Look, Marker, Series};

/// Names of the registry (`segue schemes`), and at last a sender of the laboratory that reacts to nothing.
const SCHEMES: [(&str, Hue, Marker); 40] = [
    ("sack", Grey, Dot),
    ("newreno", Grey, Square),
    ("reno", Grey, Up),
    ("cubic", Grey, Diamond),
    ("bbr", Brown, Down),
    ("bbr3", Brown, OpenDown),
    ("etcp", Orange, Diamond),
    ("etcp-a5", Rose, Up),
    ("etcp-v0", Green, Down),
    ("etcp-v1", Blue, Square),
    ("etcp:a1", Violet, OpenSquare),
    ("etcp:a2", Gold, OpenSquare),
    ("etcp:a3", Brown, OpenSquare),
    ("etcp:a4", Green, OpenSquare),
    ("etcp:a5", Rose, OpenSquare),
    ("etcp:fig1", Orange, OpenSquare),
    ("etcp:fig2", Blue, OpenSquare),
    ("etcp:fig3", Grey, OpenSquare),
    ("etcp:convergence", Gold, Diamond),
    ("tcp-ho", Violet, Up),
    ("tcp-ho-immediate", Gold, Down),
    ("tcp-ho-aggressive", Rose, Dot),
    ("freeze", Green, Dot),
    ("mobile", Orange, Dot),
    ("mobile-resume", Gold, Up),
    ("mobile-window", Violet, OpenDown),
    ("hn", Brown, Square),
    ("buffer-fcfd", Gold, OpenDiamond),
    ("buffer-fcfd+phas", Rose, OpenDiamond),
    ("buffer-lcfd", Green, OpenDiamond),
    ("buffer-lcfd+phas", Blue, OpenDiamond),
    ("rlci", Gold, Dot),
    ("near", Green, Up),
    ("backoff-reset", Blue, Dot),
    ("quic-reset", Rose, Diamond),
    ("careful-resume", Green, Diamond),
    ("satcp", Orange, Up),
    ("leocc", Blue, Up),
    ("rtt-jump", Brown, Diamond),
    ("unaware", Violet, Diamond),
];

/// A name of nobody's.
const OTHER: Look = Look::new(Brown, OpenDiamond);

/// The look of a scheme, a sum of schemes or a variant (`etcp:a1+a3`, `cubic-rto1s`, `etcp-v1@laboratory`): that of the
/// longest name which the word begins with.
pub fn look(name: &str) -> Look {
    let begins = |known: &str| {
        let rest = name.strip_prefix(known);
        rest.is_some_and(|rest| !rest.starts_with(|next: char| next.is_ascii_alphanumeric()))
    };
    let known = SCHEMES.iter().filter(|(known, ..)| begins(known)).max_by_key(|(known, ..)| known.len());
    known.map_or(OTHER, |&(_, hue, marker)| Look::new(hue, marker))
}

/// Looks of the series of one picture, given the scheme of each: those of one scheme differ in their hatching.
pub fn looks<'a>(schemes: impl IntoIterator<Item = &'a str>) -> Vec<Look> {
    let mut given: Vec<Look> = Vec::new();
    for scheme in schemes {
        let own = look(scheme);
        let before = given.iter().filter(|other| other.shaded(0) == own).count();
        given.push(own.shaded(u8::try_from(before).unwrap_or(u8::MAX)));
    }
    given
}

/// The series of a picture: each scheme, and its name in the legend.
pub fn series<'a>(named: impl IntoIterator<Item = (&'a str, String)>) -> Vec<Series> {
    let (schemes, labels): (Vec<&str>, Vec<String>) = named.into_iter().unzip();
    labels.into_iter().zip(looks(schemes)).map(|(label, look)| Series { label, look }).collect()
}

/// The name of a scheme behind a spot of its colour, for tables and headings.
pub fn named(scheme: &str) -> Markup {
    html! { span class=(format!("spot {}", look(scheme).hue.role().name)) {} (scheme) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use segue_handoff::Scheme;
    use std::collections::BTreeSet;

    #[test]
    fn every_scheme_has_a_look_of_its_own() {
        let names: BTreeSet<&str> = SCHEMES.iter().map(|(name, ..)| *name).collect();
        let mut expected: BTreeSet<&str> = Scheme::entries().iter().map(|entry| entry.name).collect();
        expected.insert("unaware");
        assert_eq!(names, expected);
        let looks: BTreeSet<(Hue, Marker)> = SCHEMES.iter().map(|&(_, hue, marker)| (hue, marker)).collect();
        assert_eq!(looks.len(), SCHEMES.len());
        assert!(SCHEMES.iter().all(|&(_, hue, marker)| Look::new(hue, marker) != OTHER));
    }

    /// Schemes that pages and examples compare: the default, the papers' senders, the explorer's families, the laboratory.
    #[test]
    fn schemes_that_stand_side_by_side_differ_in_hue() {
        for beside in [
            "sack etcp etcp-a5 etcp-v0 etcp-v1",
            "newreno freeze tcp-ho tcp-ho-immediate tcp-ho-aggressive etcp-v1 hn",
            "sack etcp tcp-ho freeze hn rlci etcp-v1",
            "buffer-fcfd buffer-fcfd+phas buffer-lcfd buffer-lcfd+phas",
            "cubic bbr unaware etcp-v1 near mobile",
            "sack mobile mobile-resume mobile-window etcp-v1",
            "etcp:a1 etcp:a2 etcp:a3 etcp:a4 etcp:a5",
        ] {
            let hues: Vec<Hue> = beside.split(' ').map(|name| look(name).hue).collect();
            assert_eq!(hues.iter().collect::<BTreeSet<_>>().len(), hues.len(), "{beside}: {hues:?}");
        }
    }

    #[test]
    fn variants_have_the_hue_of_their_scheme_and_a_hatching_of_their_own() {
        for (word, scheme) in [
            ("etcp-v1@laboratory", "etcp-v1"),
            ("etcp-v1/bbr", "etcp-v1"),
            ("etcp:a1+a3", "etcp:a1"),
            ("cubic-rto1s", "cubic"),
            ("bbr+agent", "bbr"),
            ("hn@100kB", "hn"),
            ("buffer-lcfd+phas", "buffer-lcfd+phas"),
        ] {
            assert_eq!(look(word), look(scheme), "{word}");
        }
        assert_ne!(look("bbr3"), look("bbr"));
        assert_eq!(look("etcpx"), OTHER);
        let looks = looks(["cubic", "etcp-v1", "cubic-rto1s", "etcp-v1", "cubic"]);
        let shades: Vec<u8> = looks.iter().map(|look| look.shade).collect();
        assert_eq!(shades, [0, 0, 1, 1, 2]);
    }

    /// Drawn by scripts/readme-picture, which does not know the palette.
    #[test]
    fn the_picture_of_readme_has_these_colours_too() {
        let picture = include_str!("../../../docs/guide/outage.svg");
        for (class, scheme) in [("regular", "sack"), ("told", "etcp-v1")] {
            let role = look(scheme).hue.role();
            for colour in [role.light, role.dark] {
                assert!(
                    picture.contains(&format!(".{class} {{ stroke: {colour}; fill: {colour} }}")),
                    "{scheme}"
                );
            }
        }
    }

    /// Whichever others are ticked.
    #[test]
    fn a_look_does_not_depend_on_the_others() {
        let with = looks(["sack", "etcp-v1"]);
        assert_eq!(with[1..], looks(["etcp-v1"]));
    }
}
