//! Every name is explained, and lines fit.

use super::markdown::flowing;
use super::schemes::page_of;
use super::*;
use crate::screen::Watched;
use segue_study::bench_words::BenchWord;
use segue_study::measure::FIELDS;
use segue_study::specification::{PLACE, Section, sections};
use segue_tcp::StackProfile;

const SCREEN: Screen = Screen { colour: false, width: 80, terminal: None, progress: Watched::Nothing };

fn told(name: &str) -> String {
    answers(name, &SCREEN).join("\n")
}

#[test]
fn a_rule_comes_with_its_section() {
    let a2 = told("a2");
    assert!(a2.contains("Rules of Enhanced TCP") && a2.contains("cwnd = ssthresh = BDP"), "{a2}");
    assert!(a2.contains("2.2 A2: avoid congestion loss"), "{a2}");
    assert!(a2.contains("    if flight > 2*bdp_new:"), "{a2}");
    assert_eq!(a2.matches("  Paper 001: L. Daniel, M. Kojo, Employing").count(), 1, "{a2}");
    assert!(a2.contains("min-window"), "{a2}");
    let a1 = told("A1");
    // One that names the section, one that names an open point which the section cites; none of A2's or the stack's.
    let settings =
        a1.split("  Settings: ").nth(1).and_then(|rest| rest.split("\n2.1 A1").next()).expect("a list");
    for (name, there) in
        [("rest-us", true), ("a1-in-bbm", true), ("min-window", false), ("packet-bytes", false)]
    {
        assert_eq!(settings.contains(name), there, "{name}: {settings}");
    }
    // Stories cite them so.
    for cited in [
        "1",
        "2.4",
        "2.1, 2.5",
        "9.19, 4.3",
        "mobile 1.2, 1.4",
        "guard",
        "trial",
        "doubt",
        "notice",
        "notice-error",
        "near",
        "mobile",
    ] {
        assert!(!told(cited).is_empty(), "{cited}");
    }
    assert!(told("2.1, 99").is_empty() && told("2.1,").is_empty());
    // A rule of several flows is of the other paper, and divides by their number.
    let several = told("Fig. 1");
    assert!(several.contains("  Paper 000: ") && several.contains("  Settings: use-n"), "{several}");
    assert!(told("re-probe").contains("  Source: S. Schuetz et al."));
    for case in ["A1, case 1", "A1, case 2", "A1, case 3"] {
        assert!(a1.contains(case), "{a1}");
    }
    assert!(!told("A").contains("A1, case"), "a letter is no name");
}

#[test]
fn whatever_a_rule_a_setting_or_a_measure_is_called_is_explained() {
    for name in names() {
        assert!(!told(&name).is_empty(), "{name}");
    }
    for number in (0..=11).map(|number| number.to_string()) {
        let section = told(&number);
        assert!(section.starts_with(&format!("{number}. ")) && section.contains(PLACE), "{section}");
    }
    for number in 1..=39 {
        assert!(told(&format!("9.{number}")).contains("Choice: "), "9.{number}");
    }
    for number in 0..=4 {
        let paper = told(&format!("00{number}"));
        assert!(
            paper.contains("Cited in sections") && paper.contains(&format!("segue reproduce 00{number}"))
        );
    }
    assert!(told("001 Sec. 5.5").starts_with("Paper 001: L. Daniel, M. Kojo, Employing"));
    for cited in ["algorithms.md 2.4", "algorithms.md, section 2.4", "section 2.4"] {
        assert_eq!(told(cited), told("2.4"), "{cited}");
    }
    let last = sections().last().map(|section| section.heading.split(' ').next().unwrap_or_default());
    assert!(last.is_some_and(|last| overview(&SCREEN).contains(&format!("0 to {last}, "))), "{last:?}");
}

#[test]
fn words_of_tables_links_and_options_are_told() {
    for (name, parts) in [
        ("stalled", &["Column stalled of segue compare --traffic: seconds of waiting"][..]),
        ("late", &["Column late of segue compare --traffic: frames later than 100 ms"]),
        ("kept", &["Measure neighbours.kept (times that without the handoff): "]),
        ("useful", &["Measure new_link_s.useful (s): it carried bytes"]),
        ("stall", &["Measure download.stall_s", "Measure page.stall_s"]),
        ("loss", &["Word of links loss", "loses each packet"]),
        ("jitter", &["Word of links jitter"]),
        ("in-band", &["Word in-band of --notice:"]),
        ("Wired hops", &["Word wired hop: "]),
        ("kind", &["Option --kind:"]),
        ("lab run", &["Command segue lab run: "]),
        ("schemes", &["Option --schemes: ", "Command segue schemes: ", "Key schemes of scenario files"]),
        ("lost_icmp", &["Key lost-icmp of plans of the laboratory: "]),
        ("new_rtt", &["Symbol new_rtt = "]),
        ("RTTVAR", &["Word RTT, SRTT, RTTVAR: "]),
        ("in flight", &["Word in flight: "]),
        ("shares", &["Word share: "]),
        ("Congestion avoidance", &["Word congestion avoidance: "]),
        ("median", &["Measure transfer_s.median", "Column median of segue compare --traffic"]),
    ] {
        let told = told(name).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(parts.iter().all(|part| told.contains(part)), "{name}: {told}");
    }
}

/// Options of the program itself keep their meaning.
#[test]
fn options_are_names_behind_explain_alone() {
    for (typed, meant) in [
        ("segue explain --notice", "segue explain notice"),
        ("segue explain --color never --kind", "segue explain --color never kind"),
        ("segue --color never explain --kind --quiet", "segue --color never explain kind --quiet"),
        ("segue --color=never explain --kind", "segue --color=never explain kind"),
        ("segue explain --progress=bar --help", "segue explain --progress=bar --help"),
        ("segue explain vs --first", "segue explain vs first"),
        ("segue explain --color", "segue explain color"),
        ("segue explain --kind --progress", "segue explain kind progress"),
        ("segue explain --kind --color auto", "segue explain kind --color auto"),
        ("segue explain --kind --quiet", "segue explain kind --quiet"),
        ("segue compare --kind", "segue compare --kind"),
        ("segue compare explain --kind", "segue compare explain --kind"),
        ("segue --color explain --kind", "segue --color explain --kind"),
        ("segue explain", "segue explain"),
        ("segue", "segue"),
    ] {
        let words = typed.split(' ').map(OsString::from).collect();
        let told: Vec<String> =
            with_options_as_names(words).into_iter().filter_map(|word| word.into_string().ok()).collect();
        assert_eq!(told.join(" "), meant, "{typed}");
    }
}

#[test]
fn letters_of_the_bar_are_told() {
    for (letter, meaning) in [("w", "idle: a window is full"), ("#", "useful"), (".", "slow start")] {
        let told = told(letter);
        assert!(
            told.starts_with(&format!("Letter {letter} of the column new link: ")) && told.contains(meaning),
            "{told}"
        );
    }
    assert_eq!(told("n").matches("packets of").count(), 2, "{}", told("n"));
    assert!(told("ww").is_empty() && told("").is_empty());
}

#[test]
fn marks_are_told() {
    for (mark, meaning) in
        [("[T]", "stated in the text"), ("[r]", "worked numbers"), ("[C]", "where the text is silent")]
    {
        let told = told(mark);
        assert!(told.contains(meaning) && told.lines().count() == 2 && !told.contains("**"), "{told}");
    }
    assert!(told("[X]").is_empty() && told("[]").is_empty() && told("[").is_empty());
}

/// Presets of links: each is told with what it stands for, and the hint of a slip knows it.
#[test]
fn presets_of_links_are_told() {
    let all = variants().map(|(name, link, _)| (name, link));
    for (name, link) in all.chain(PRESETS.iter().map(|(name, link)| (name.to_string(), *link))) {
        let (told, squeezed) =
            (answers(&name, &SCREEN).concat(), |text: &str| text.split_whitespace().collect::<String>());
        assert!(told.contains(&format!("Link {name}: ")), "{told}");
        assert!(squeezed(&told).contains(&squeezed(link)), "{told}");
        assert!(names().contains(&name), "{name}");
    }
}

/// Every scheme that has a setting is named, and the page is there.
#[test]
fn a_setting_names_all_its_schemes_and_its_page() {
    let enact = told("enact");
    let default = enact.split_once(" unless set").expect("a default").0;
    for stack in stack_names().into_iter().filter(|name| name.starts_with("linux-") && !name.contains('/')) {
        let is_kernel = StackProfile::named(stack).is_some_and(|stack| stack.kernel.is_some());
        assert_eq!(default.contains(stack), is_kernel, "{stack}: {enact}");
    }
    for entry in Scheme::entries() {
        let has = Scheme::settings_of(entry.name).iter().any(|setting| setting.name == "enact");
        let of = enact.split_once("\n  of ").expect("schemes").1.split_once(';').expect("an end").0;
        let named = of.split([',', '\n']).any(|word| word.trim() == entry.name);
        assert_eq!(named, has, "{}: {enact}", entry.name);
    }
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for entry in Scheme::entries() {
        for setting in Scheme::settings_of(entry.name) {
            let page = page_of(setting.section);
            assert!(!page.ends_with(".md") || root.join(&page).exists(), "{}: {page}", setting.name);
        }
    }
}

#[test]
fn what_is_told_fits_the_screen() {
    // An address and an equation have no blanks to break at.
    for name in Scheme::entries().iter().map(|entry| entry.name).chain(stack_names()).chain(["enact", "BDP"])
    {
        let text = told(name);
        let longest = text.lines().map(|line| line.chars().count()).max();
        assert!(longest <= Some(SCREEN.width), "{name}: {text}");
    }
}

#[test]
fn headings_of_tables_are_explained() {
    for column in Column::ALL {
        let heading = column.heading();
        let words: Vec<String> = told(heading).split_whitespace().map(String::from).collect();
        // A heading may be the name of a field as well, which has a definition of its own.
        let is_field = FIELDS.iter().any(|(field, _)| *field == heading);
        assert!(
            is_field || words.join(" ").contains(&column.meaning("the first scheme")),
            "{heading}: {words:?}"
        );
    }
    assert!(told("vs first").starts_with("Measure against_first.ratio_median (times the first scheme's): "));
    assert!(told("new link").contains("how the new link spent that time"));
    for BenchWord { key, values, .. } in BENCH_WORDS {
        let words: Vec<String> = told(key).split_whitespace().map(String::from).collect();
        assert!(words.join(" ").contains(values), "{key}: {words:?}");
    }
}

#[test]
fn lines_fit() {
    for Section { heading, body } in sections() {
        for line in flowing(body, 80).lines() {
            let fits = line.chars().count() <= 80 || !line.contains(' ');
            assert!(fits, "{heading}: {line}");
        }
    }
}

/// A story cites programs of a sender on Linux by names that rules and settings of schemes have as well.
#[test]
fn the_meaning_that_stories_cite_comes_first() {
    for (name, begin) in [
        ("guard", "Word guard: Segue: for three round trips after a notice, a sender on Linux"),
        ("trial", "Word trial: Segue: for three round trips after a notice, a sender on Linux"),
        ("doubt", "Word rate check (doubt): Segue: for ten seconds after a notice, a sender on Linux"),
    ] {
        let told = told(name).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.starts_with(begin), "{name}: {told}");
    }
    assert!(told("guard").contains("Rules of TCP-HO") && told("guard").contains("Setting guard: "));
}
