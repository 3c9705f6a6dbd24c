//! The pages as a reader meets them: in a browser, at three widths, in light and dark.

mod browser;

use browser::Browser;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

const WIDTHS: [u32; 3] = [390, 1280, 2560];

fn make(folder: &Path, name: &str, arguments: &[&str]) -> PathBuf {
    let file = folder.join(name);
    let output = Command::new(env!("CARGO_BIN_EXE_segue"))
        .args(arguments)
        .arg("--report")
        .arg(&file)
        .output()
        .expect("segue starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    file
}

fn pages(folder: &Path) -> Vec<PathBuf> {
    let handoff = ["trace", "6400kbit/9ms", "200kbit/300ms", "--at", "8.2s", "--schemes", "sack,etcp"];
    let outage = ["trace", "200kbit/300ms", "1mbit/20ms", "--at", "5s", "--kind", "bbm", "--flows", "3"];
    let compared =
        ["compare", "1600kbit/75ms", "400kbit/150ms", "--schemes", "sack,etcp,etcp-v1", "--flows", "1,4"];
    let many = [
        "compare",
        "egprs",
        "hsdpa",
        "--both-ways",
        "--kind",
        "mbb,bbm",
        "--flows",
        "1,2,4",
        "--at",
        "1s..10s/1s",
        "--schemes",
        "sack,etcp,etcp-a5,etcp-v0,etcp-v1",
    ];
    let pages = [
        make(folder, "handoff.html", &handoff),
        make(folder, "outage.html", &outage),
        make(folder, "compared.html", &compared),
        make(folder, "many.html", &many),
    ];
    pages.into_iter().chain(FIGURES.iter().map(|words| gallery(folder, words))).collect()
}

/// Papers and figures with pictures of every kind. The other figures of 2009 simulate hours.
const FIGURES: [&[&str]; 7] = [
    &["daniel-kojo-2008-crosslayer"],
    &["daniel-kojo-2009-multiflow"],
    &["espi-2010-fmipv6"],
    &["chou-shin-2004-lcfd"],
    &["wu-2009-tcp-ho", "fig4"],
    &["wu-2009-tcp-ho", "fig14"],
    &["wu-2009-tcp-ho", "fig15"],
];

/// The gallery of these figures, with the fewest handoffs.
fn gallery(folder: &Path, words: &[&str]) -> PathBuf {
    let out = folder.join(words.join("-"));
    let output = Command::new(env!("CARGO_BIN_EXE_segue"))
        .arg("reproduce")
        .args(words)
        .args(["--no-cache", "--points", "1", "--out"])
        .arg(&out)
        .output()
        .expect("segue starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    out.join("index.html")
}

/// Pictures that are not drawn, have no title, or hang out of the page.
const BAD_PICTURES: &str = "[...document.querySelectorAll('svg')].filter(svg => {
    const box = svg.getBoundingClientRect();
    const shapes = svg.querySelectorAll('path, rect, circle, line, polyline').length;
    const title = svg.querySelector('title')?.textContent ?? '';
    return !(svg.checkVisibility() && box.width >= 300 && box.height >= 80 && box.left >= 0 && shapes > 0 && title);
}).map(svg => svg.outerHTML.slice(0, 200))";

/// Text of pictures smaller than 9 px on the screen.
const SMALL_TEXT: &str = "[...document.querySelectorAll('svg text')].filter(text => {
    const svg = text.ownerSVGElement;
    const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
    return parseFloat(getComputedStyle(text).fontSize) * scale < 9;
}).map(text => text.textContent)";

fn list(value: &Value) -> Vec<String> {
    value.as_array().expect("a list").iter().map(|item| item.to_string()).collect()
}

#[test]
#[ignore = "needs chromium"]
fn pages_open_at_every_width_in_light_and_dark() {
    let folder = tempfile::tempdir().expect("a folder");
    let pages = pages(folder.path());
    for page in &pages {
        let bytes = std::fs::metadata(page).expect("a page").len();
        assert!(bytes < 3_000_000, "{}: {bytes} bytes", page.display());
    }
    let mut browser = Browser::start();
    for page in &pages {
        let mut grounds = BTreeSet::new();
        browser.open(page, WIDTHS[0], false);
        for (width, dark) in WIDTHS.iter().map(|&width| (width, false)).chain([(WIDTHS[1], true)]) {
            browser.resize(width, dark);
            let place = format!("{} at {width} px, dark: {dark}", page.display());
            assert!(
                browser.evaluate("document.querySelectorAll('svg').length").as_u64() > Some(0),
                "{place}"
            );
            assert_eq!(list(&browser.evaluate(BAD_PICTURES)), [""; 0], "{place}");
            assert_eq!(list(&browser.evaluate(SMALL_TEXT)), [""; 0], "{place}");
            let overflow = browser.evaluate("document.documentElement.scrollWidth - innerWidth");
            assert!(overflow.as_i64() <= Some(0), "{place}: {overflow} px too wide");
            let ids = "[...document.querySelectorAll('[id]')].map(e => e.id)";
            let ids = list(&browser.evaluate(ids));
            assert_eq!(ids.len(), ids.iter().collect::<BTreeSet<_>>().len(), "{place}: an id stands twice");
            grounds.insert(browser.evaluate("getComputedStyle(document.body).backgroundColor").to_string());
            assert_eq!(browser.complaints, [""; 0], "{place}");
        }
        assert_eq!(grounds.len(), 2, "light and dark");
    }
}

#[test]
#[ignore = "needs chromium"]
fn another_handoff_can_be_chosen() {
    let folder = tempfile::tempdir().expect("a folder");
    let compared =
        ["compare", "1600kbit/75ms", "400kbit/150ms", "--schemes", "sack,etcp", "--at", "1s..12s/0.5s"];
    let page = make(folder.path(), "compared.html", &compared);
    let mut browser = Browser::start();
    for width in [390, 1280] {
        browser.open(&page, width, false);
        let told = "document.querySelector('#handoff-of-0 ol.story').textContent";
        let choose = |index: usize| {
            format!(
                "(() => {{ const choice = document.querySelector('select'); choice.selectedIndex = {index}; \
                 choice.dispatchEvent(new Event('change')); return {told}; }})()"
            )
        };
        let choices = browser.evaluate("document.querySelector('select').length").as_u64().expect("a number");
        assert_eq!(choices, 4, "median, quartiles, longest");
        let first = browser.evaluate(told);
        let stories: Vec<Value> = (0..4).map(|index| browser.evaluate(&choose(index))).collect();
        assert_eq!(stories[0], first, "back to where it was");
        assert!(stories[1..].iter().all(|story| *story != first), "another handoff, another story");
        browser.evaluate(&choose(2));
        assert_eq!(list(&browser.evaluate(BAD_PICTURES)), [""; 0]);
        assert_eq!(list(&browser.evaluate(SMALL_TEXT)), [""; 0]);
        assert_eq!(browser.complaints, [""; 0]);
    }
}
