//! Pages show what is printed: README.md, the tutorial, and the gains that pages state.

use std::process::{Command, Output};

fn segue(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_segue")).args(args).output().expect("segue starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn json_rows(args: &[&str]) -> Vec<serde_json::Value> {
    let text = stdout(&segue(&[args, &["--json", "-"]].concat()));
    let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    document["rows"].as_array().expect("rows").clone()
}

/// README.md has blocks of the demo as they are printed.
#[test]
fn the_readme_shows_the_demo() {
    let readme = include_str!("../../../README.md");
    let makefile = include_str!("../../../Makefile").replace("\\\n", " ");
    let demo = makefile.lines().find_map(|line| line.strip_prefix("DEMO := ")).expect("the demo's words");
    let printed = stdout(&segue(&demo.split_whitespace().collect::<Vec<_>>()));
    let (_, shown) = readme.split_once("```text\n").expect("a listing");
    let (shown, _) = shown.split_once("\n```").expect("its end");
    assert!(shown.lines().count() >= 10);
    for block in shown.split("\n\n") {
        assert!(printed.contains(block), "{block}\nis not among\n{printed}");
    }
}

/// README.md and docs/reference/schemes.md say which TCP gains what.
#[test]
fn the_gains_that_pages_state_are_measured() {
    let readme = include_str!("../../../README.md");
    let schemes = include_str!("../../../docs/reference/schemes.md");
    let (slow, fast) = ("200kbit/300ms", "6400kbit/9ms");
    let (mbb, second, ten) = ("make-before-break", "break-before-make 1 s", "break-before-make 10 s");
    let rows = [
        (fast, slow, mbb, true),
        (fast, slow, second, true),
        (fast, slow, ten, true),
        (slow, fast, mbb, true),
        (slow, fast, second, true),
        (fast, fast, ten, true),
        ("50mbit/20ms", "10mbit/30ms", mbb, false),
        ("50mbit/20ms", "10mbit/30ms", second, false),
        ("10mbit/30ms", "50mbit/20ms", mbb, false),
        ("10mbit/30ms", "50mbit/20ms", second, false),
    ];
    let stacks: [&[&str]; 5] = [
        &["--stack", "ns2-sack1"],
        &["--stack", "rfc"],
        &["--stack", "linux", "--set", "enact=linux"],
        &["--stack", "linux-6.12"],
        &["--stack", "linux-6.12/bbr"],
    ];
    let mut links = (String::new(), String::new());
    for (old, new, kind, in_readme) in rows {
        let kind_words: &[&str] = match kind {
            "make-before-break" => &["--kind", "mbb"],
            "break-before-make 1 s" => &["--kind", "bbm"],
            _ => &["--kind", "bbm", "--disconnect", "10s"],
        };
        let ratios = stacks.map(|stack| {
            let rows = json_rows(&[&["compare", old, new], kind_words, stack].concat());
            format!("{:.2}", rows[1]["against_first"]["ratio_median"].as_f64().expect("a ratio"))
        });
        let first = match links == (old.into(), new.into()) {
            true => String::new(),
            false => format!(" {old} -> {new}"),
        };
        links = (old.into(), new.into());
        let line = format!("|{first} | {kind} | {} |\n", ratios.join(" | "));
        assert!(schemes.contains(&line), "docs/reference/schemes.md lacks: {line}");
        assert!(!in_readme || readme.contains(&line), "README.md lacks: {line}");
    }
}

/// The first table of the tutorial, which docs/guide/compare.md explains, is what its command prints.
#[test]
fn the_guide_shows_what_is_printed() {
    let printed = stdout(&segue(&["compare", "6400kbit/9ms", "200kbit/300ms", "--schemes", "sack,etcp-v1"]));
    let (block, _) = printed.split_once("\n\n").expect("a block");
    let tutorial = include_str!("../../../docs/guide/tutorial.md");
    assert!(tutorial.contains(block), "docs/guide/tutorial.md lacks\n{block}");
    let compare = include_str!("../../../docs/guide/compare.md");
    assert!(compare.contains(block), "docs/guide/compare.md lacks\n{block}");
}

/// The picture of README.md (scripts/readme-picture) is of the handoff that it names.
#[test]
fn the_picture_of_the_readme_is_current() {
    let picture = include_str!("../../../docs/guide/outage.svg");
    let (_, command) = picture.split_once("segue trace ").expect("its command");
    let (command, _) = command.split_once("</desc>").expect("its end");
    // The caption leaves out what is the default, and asks for the story.
    let caption = format!("    segue trace {} --story\n", command.replace(" --schemes sack,etcp-v1", ""));
    assert!(include_str!("../../../README.md").contains(&caption), "README.md lacks {caption}");
    let words: Vec<&str> = ["trace"].into_iter().chain(command.split(' ')).chain(["--story"]).collect();
    let told = stdout(&segue(&words)).split_whitespace().collect::<Vec<_>>().join(" ");
    let seconds = |after: &str| -> Vec<f64> {
        let parts = told.split(after).skip(1);
        parts.map(|part| part.split(' ').next().and_then(|n| n.parse().ok()).expect("seconds")).collect()
    };
    let (transfers, bounds) = (seconds("to the end: transfer "), seconds(", bound "));
    // Both are rounded: to hundredths and to thousandths.
    for (label, told) in [("regular TCP: ", transfers[0]), ("etcp-v1: ", transfers[1]), ("bound ", bounds[0])]
    {
        let (_, drawn) = picture.split_once(&format!(">{label}")).expect("a label");
        let drawn: f64 = drawn.split(' ').next().and_then(|n| n.parse().ok()).expect("seconds");
        assert!((drawn - told).abs() < 0.0056, "{label}{told}: draw it again with scripts/readme-picture");
    }
}
