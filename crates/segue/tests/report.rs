//! The pages as a reader meets them: in a browser, at three widths, in light and dark.

mod browser;

use browser::Browser;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, Weak};

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

/// Two networks for a minute.
fn drive(folder: &Path) -> PathBuf {
    let file = folder.join("drive.toml");
    let words =
        "schemes = ['newreno', 'tcp-ho', 'etcp-v1']\nseeds = 1\n[drive]\nof = 'wcdma+wlan'\nlength = '60s'\n";
    std::fs::write(&file, words).expect("written");
    make(folder, "drive.html", &["run", file.to_str().expect("a path")])
}

/// Pages of every kind, and the folder that goes with the last test that has them.
struct Pages {
    files: Vec<PathBuf>,
    _folder: tempfile::TempDir,
}

/// Made once for the tests that run at the same time.
fn pages() -> Arc<Pages> {
    static MADE: Mutex<Weak<Pages>> = Mutex::new(Weak::new());
    let mut made = MADE.lock().expect("no test fails while it makes them");
    made.upgrade().unwrap_or_else(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let pages = Arc::new(Pages { files: pages_in(folder.path()), _folder: folder });
        *made = Arc::downgrade(&pages);
        pages
    })
}

fn pages_in(folder: &Path) -> Vec<PathBuf> {
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
        "1,2",
        "--at",
        "1s..10s/1s",
        "--schemes",
        "sack,etcp,etcp-v1",
    ];
    let pages = [
        make(folder, "handoff.html", &handoff),
        make(folder, "outage.html", &outage),
        make(folder, "compared.html", &compared),
        make(folder, "many.html", &many),
        drive(folder),
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
    // A large one has a page of its own.
    let page = out.join(format!("{}.html", words[0]));
    if page.exists() { page } else { out.join("index.html") }
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
    let pages = pages();
    for page in &pages.files {
        let bytes = std::fs::metadata(page).expect("a page").len();
        assert!(bytes < 3_000_000, "{}: {bytes} bytes", page.display());
    }
    let mut browser = Browser::start();
    for page in &pages.files {
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
#[ignore = "needs chromium axe"]
fn pages_have_no_barriers() {
    let pages = pages();
    let mut browser = Browser::start();
    for page in &pages.files {
        browser.open(page, 390, false);
        assert_eq!(browser.barriers(), [""; 0], "{} at 390 px", page.display());
        browser.resize(1280, false);
        assert_eq!(browser.barriers(), [""; 0], "{} at 1280 px", page.display());
        browser.resize(1280, true);
        assert_eq!(browser.faint_text(), [""; 0], "{} in dark", page.display());
    }
}

/// The rules that the other tests lean on do find something.
#[test]
#[ignore = "needs chromium axe"]
fn barriers_are_found_where_there_are_some() {
    let page = "<!doctype html><html><head></head><body><h1>One</h1><h3>Three</h3><main>\
        <p style='color:#999;background:#fff'>faint</p><input type=text><button></button><img src='data:,'>\
        <li>alone</li><table><tr><th></th></tr></table>\
        <div style='width:90px;overflow-x:auto'><div style='width:900px'>wide</div></div></main></body></html>";
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("bad.html");
    std::fs::write(&file, page).expect("written");
    let mut browser = Browser::start();
    browser.open(&file, 1280, false);
    let found = browser.barriers();
    for rule in [
        "html-has-lang",
        "document-title",
        "color-contrast",
        "label",
        "button-name",
        "image-alt",
        "listitem",
        "heading-order",
        "empty-table-header",
        "region",
        "target-size",
    ] {
        let rule = format!("{rule}: ");
        assert!(found.iter().any(|one| one.starts_with(&rule)), "{rule} is not among:\n{found:#?}");
    }
    let faint = browser.faint_text();
    assert!(!faint.is_empty() && faint.iter().all(|one| one.starts_with("color-contrast: ")), "{faint:#?}");
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

/// Time, cwnd and cumulative ACK of flow 0 from each change on, of one scheme, as `segue trace --json` tells them.
fn states(lines: &str, scheme: &str) -> Vec<(f64, f64, f64)> {
    let events = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let own = events.filter(|event| event["scheme"] == scheme && event["event"] == "state");
    let number = |event: &Value, key: &str| event[key].as_f64().expect("a number");
    own.map(|event| (number(&event, "ns") / 1e9, number(&event, "cwnd"), number(&event, "snd_una"))).collect()
}

/// The number behind a name in the words under a graph.
fn told(words: &str, name: &str) -> f64 {
    let rest = words.split(&format!("{name} ")).nth(1).unwrap_or_else(|| panic!("no {name}: {words}"));
    let number = rest.trim_start_matches("about ").split([',', ' ', '"']).next().expect("a number");
    number.parse().unwrap_or_else(|_| panic!("{name}: {words}"))
}

/// The words under the graphs that are shown and whose titles begin so.
fn under(browser: &mut Browser, title: &str) -> Vec<String> {
    let words = format!(
        "[...document.querySelectorAll('.timed svg')].filter(svg => svg.querySelector('title').textContent\
         .startsWith('{title}')).map(svg => svg.closest('figure').querySelector('.readout').textContent)"
    );
    list(&browser.evaluate(&words))
}

#[test]
#[ignore = "needs chromium"]
fn graphs_share_a_cursor_with_values_and_can_be_looked_at_closer() {
    let handoff = ["trace", "6400kbit/9ms", "200kbit/300ms", "--at", "8.2s", "--schemes", "sack,etcp"];
    let folder = tempfile::tempdir().expect("a folder");
    let page = make(folder.path(), "handoff.html", &handoff);
    let source = std::fs::read_to_string(&page).expect("the page");
    assert!(
        !source.contains("class=\"times\"") && !source.contains("class=\"readout\""),
        "it needs a script"
    );
    let lines = Command::new(env!("CARGO_BIN_EXE_segue")).args(handoff).args(["--json", "-"]).output();
    let lines = String::from_utf8(lines.expect("segue starts").stdout).expect("text");
    let mut browser = Browser::start();
    for width in [390, 1280] {
        browser.open(&page, width, false);
        assert_eq!(browser.evaluate("document.querySelectorAll('.times').length"), 1, "one for all graphs");
        let paths =
            "[...document.querySelectorAll('.timed path[data-p]')].map(path => path.getAttribute('d'))";
        let drawn = browser.evaluate(paths);
        let ticks = "[...document.querySelectorAll('.timed svg')].map(svg => [...svg.querySelectorAll('text')]\
             .filter(text => text.style.display !== 'none' && text.getAttribute('text-anchor') === 'middle' \
             && /^[0-9.]+$/.test(text.textContent)).map(text => Number(text.textContent)))";
        let whole = browser.evaluate(ticks);

        // By keys.
        browser.evaluate("document.querySelector('.times input').focus()");
        for _ in 0..3 {
            browser.press("PageUp", 33);
        }
        let said = browser.evaluate("document.querySelector('.times output').textContent");
        let said = said.as_str().expect("text").to_string();
        let time: f64 = said.split(' ').next().and_then(|word| word.parse().ok()).expect("a time");
        let after = format!("T + {:.0} ms", (time - 8.2) * 1000.0);
        assert!(said.contains(&after), "{said}: not {after}");
        assert_eq!(browser.evaluate("document.querySelector('.times input').ariaValueText"), said.as_str());
        let check = |browser: &mut Browser, time: f64| {
            for (index, scheme) in ["sack", "etcp"].into_iter().enumerate() {
                let states = states(&lines, scheme);
                // The time shown has three decimals: it may be either side of a change.
                let around = |of: fn(&(f64, f64, f64)) -> f64, told: f64, least: f64| {
                    let known = states.iter().filter(|state| state.0 <= time + 0.01);
                    let last = known.clone().rev().find(|state| state.0 < time - 0.01);
                    let mut near = known.filter(|state| state.0 >= time - 0.01).chain(last);
                    assert!(
                        near.any(|state| (of(state) - told).abs() <= least),
                        "{scheme} at {time}: {told}"
                    );
                };
                let windows = under(browser, "Windows");
                around(|state| state.1, told(&windows[index], "cwnd"), 0.3);
                let packets = under(browser, &format!("Time-sequence graph, {scheme}"));
                around(|state| state.2, told(&packets[0], "cumulative ACK"), 1.0);
                let queues = under(browser, "Queues");
                assert!((0.0..=10.0).contains(&told(&queues[index], "new queue")), "{}", queues[index]);
            }
        };
        check(&mut browser, time);
        // The value does not depend on how close one looks.
        for _ in 0..2 {
            browser.press("+", 187);
        }
        assert_ne!(browser.evaluate(ticks), whole, "the numbers of the axes");
        assert_ne!(browser.evaluate(paths), drawn);
        check(&mut browser, time);
        browser.press("Escape", 27);
        assert_eq!((browser.evaluate(ticks), browser.evaluate(paths)), (whole.clone(), drawn.clone()));

        // By mouse: the window graph's second quarter.
        let place = browser.evaluate(
            "(() => { const svg = [...document.querySelectorAll('.timed svg')].find(svg => \
             svg.querySelector('title').textContent.startsWith('Windows')); svg.scrollIntoView({ block: 'center' }); \
             const box = svg.getBoundingClientRect(); const [left, , right] = \
             svg.querySelector('[data-plot]').dataset.plot.split(' ').map(Number); \
             const scale = box.width / svg.viewBox.baseVal.width; \
             return [box.left + left * scale, box.left + right * scale, (box.top + box.bottom) / 2]; })()",
        );
        let [left, right, y] = [0, 1, 2].map(|index| place[index].as_f64().expect("px"));
        let at = |part: f64| (left + (right - left) * part, y);
        browser.drag(&[at(0.25), at(0.4), at(0.5)], true);
        let shown = browser.evaluate(ticks);
        let shown: Vec<f64> = shown
            .as_array()
            .expect("graphs")
            .iter()
            .flat_map(|all| {
                all.as_array()
                    .expect("numbers")
                    .iter()
                    .map(|tick| tick.as_f64().expect("a number"))
                    .collect::<Vec<_>>()
            })
            .collect();
        let axis = browser.evaluate(
            "[...document.querySelectorAll('.timed svg')].find(svg => svg.querySelector('title').textContent\
             .startsWith('Windows')).querySelector('[data-plot]').dataset.plot.split(' ').slice(4, 6).map(Number)",
        );
        let [from, to] = [0, 1].map(|index| axis[index].as_f64().expect("s"));
        let (low, high) = (from + (to - from) * 0.24, from + (to - from) * 0.51);
        let times: Vec<&f64> = shown.iter().filter(|tick| **tick > 5.0 && **tick < 30.0).collect();
        assert!(
            times.len() > 6 && times.iter().all(|tick| (low..=high).contains(*tick)),
            "{low} to {high}: {shown:?}"
        );
        browser.drag(&[at(0.5)], false);
        let said = browser.evaluate("document.querySelector('.times output').textContent");
        let said = said.as_str().expect("text").to_string();
        let time: f64 = said.split(' ').next().and_then(|word| word.parse().ok()).expect("a time");
        check(&mut browser, time);
        assert_eq!(browser.complaints, [""; 0]);
    }
}

/// The stall of an outage of 8 s is as long under the cursor as in its bar's title. A page without a managed queue
/// shows no queueing delay.
#[test]
#[ignore = "needs chromium"]
fn stalls_and_queueing_delays_stand_above_the_schemes() {
    let folder = tempfile::tempdir().expect("a folder");
    let outage =
        ["trace", "6400kbit/9ms", "6400kbit/9ms", "--at", "5s", "--kind", "bbm", "--disconnect", "8s"];
    let managed = ["trace", "8mbit/20ms,queue=codel", "4mbit/20ms,queue=fq_codel", "--at", "5s"];
    let pages = [make(folder.path(), "outage.html", &outage), make(folder.path(), "managed.html", &managed)];
    let mut browser = Browser::start();
    browser.open(&pages[0], 1280, false);
    let titled = |title: &str| {
        format!(
            "[...document.querySelectorAll('.timed svg')].filter(svg => svg.querySelector('title').textContent\
             .startsWith('{title}'))"
        )
    };
    let place = browser.evaluate(&format!(
        "(() => {{ const [svg] = {}; svg.scrollIntoView({{ block: 'center' }}); \
         const bars = [...svg.querySelectorAll('[data-name=\"sack stall\"]')]; \
         const [bar] = bars.sort((a, b) => b.getBoundingClientRect().width - a.getBoundingClientRect().width); \
         const box = bar.getBoundingClientRect(); \
         return [(box.left + box.right) / 2, (box.top + box.bottom) / 2, \
         bar.closest('g').querySelector('title').textContent]; }})()",
        titled("Stalls")
    ));
    let [x, y] = [0, 1].map(|index| place[index].as_f64().expect("px"));
    browser.drag(&[(x, y)], false);
    let title = place[2].as_str().expect("a title").to_string();
    let lasts: f64 = title.split(' ').nth(4).and_then(|word| word.parse().ok()).expect("a time");
    assert!(title.starts_with("sack: nothing new for ") && lasts > 8.0, "{title}");
    let said = under(&mut browser, "Stalls");
    assert!((told(&said[0], "sack stall of") - lasts).abs() < 0.05, "{said:?}: {title}");
    assert_eq!(browser.evaluate(&format!("{}.length", titled("Queueing delay"))), 0);
    browser.open(&pages[1], 390, false);
    assert_eq!(browser.evaluate(&format!("{}.length", titled("Queueing delay"))), 1);
    assert_eq!(list(&browser.evaluate(BAD_PICTURES)), [""; 0]);
    assert_eq!(list(&browser.evaluate(SMALL_TEXT)), [""; 0]);
    assert_eq!(browser.complaints, [""; 0]);
}
