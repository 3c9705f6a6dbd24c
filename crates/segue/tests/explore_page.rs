//! The page of `segue explore` in a browser, at four widths, in light and dark.

mod browser;
mod explorer;

use browser::Browser;
use explorer::{Server, run, segue};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const WIDTHS: [u32; 4] = [390, 768, 1280, 2560];

/// Waits until the page has shown what it asked for.
fn settle(browser: &mut Browser) {
    let begun = Instant::now();
    let quiet = "['result', 'handoff'].every(id => document.getElementById(id).getAttribute('aria-busy') === 'false')";
    // Changes are asked for a moment later.
    std::thread::sleep(Duration::from_millis(150));
    while browser.evaluate(quiet) != Value::Bool(true) {
        assert!(begun.elapsed() < Duration::from_secs(600), "no answer");
        std::thread::sleep(Duration::from_millis(30));
    }
}

const PICTURES: &str =
    "document.getElementById('result').innerHTML + document.getElementById('handoff').innerHTML";
const QUERY: &str = "decodeURIComponent(location.search)";

/// Changes a control as its user would, and says so to the page.
fn change(browser: &mut Browser, id: &str, value: &str) {
    browser.evaluate(&format!(
        "(() => {{ const control = document.getElementById('{id}'); control.focus(); control.value = '{value}'; \
         for (const kind of ['input', 'change']) control.dispatchEvent(new Event(kind, {{ bubbles: true }})); }})()"
    ));
    settle(browser);
}

fn click(browser: &mut Browser, selector: &str) {
    browser.evaluate(&format!("document.querySelector(\"{selector}\").click()"));
    settle(browser);
}

#[test]
#[ignore = "needs chromium"]
fn every_control_changes_the_picture_and_the_address_restores_it() {
    let mut browser = Browser::start();
    let server = Server::start();
    browser.ask(&server.address, "/?old=6400kbit/9ms&new=200kbit/300ms", 1280, false);
    settle(&mut browser);
    type Step = (&'static str, Box<dyn Fn(&mut Browser)>);
    let set = |id: &'static str, value: &'static str| -> Step {
        (id, Box::new(move |browser| change(browser, id, value)))
    };
    let press =
        |selector: &'static str| -> Step { (selector, Box::new(move |browser| click(browser, selector))) };
    let steps = [
        set("old-rate", "3.2"),
        set("old-rate-slider", "700"),
        set("old-delay", "20"),
        set("old-delay-slider", "500"),
        set("new-rate", "0.4"),
        set("new-rate-slider", "400"),
        set("new-delay", "120"),
        set("new-delay-slider", "650"),
        set("old-preset", "wimax"),
        set("new-preset", "egprs"),
        press("#swap"),
        set("paper", "6400kbit/9ms 200kbit/300ms"),
        set("at", "4.7"),
        set("at-slider", "6.1"),
        set("flows", "2"),
        set("flows-slider", "3"),
        press("input[name=kind][value=bbm]"),
        set("disconnect", "700"),
        set("disconnect-slider", "500"),
        press("input[name=kind][value=soft]"),
        set("overlap", "300"),
        set("soft", "split"),
        press("input[name=kind][value=ping-pong]"),
        set("return", "400"),
        press("input[name=kind][value=mbb]"),
        set("own-address", "new"),
        set("own-address", "keep"),
        set("notice", "in-band 0"),
        set("notice", "in-band 1"),
        press("input[name=scheme][value=etcp]"),
        press("input[name=scheme][value='etcp:a1']"),
        set("first", "etcp-v1"),
        set("packets", "60"),
        set("definition", "after-ack"),
        set("stack", "linux"),
        // As users write it, without a congestion control.
        set("stack", "linux-6.12"),
        set("seed", "5"),
        press("#typical button"),
    ];
    let mut seen: Vec<(String, String)> = Vec::new();
    let look =
        |browser: &mut Browser| (browser.evaluate(QUERY).to_string(), browser.evaluate(PICTURES).to_string());
    seen.push(look(&mut browser));
    for (name, step) in &steps {
        step(&mut browser);
        let now = look(&mut browser);
        let (query, pictures) = seen.last().expect("a beginning");
        assert_ne!(now.0, *query, "{name}: the address says nothing of it");
        assert_ne!(now.1, *pictures, "{name}: the picture does not change");
        assert_eq!(
            browser.evaluate("document.querySelectorAll('[role=alert]:not([hidden])').length"),
            0,
            "{name}"
        );
        seen.push(now);
    }
    // Back, step by step, as far as a click has one.
    for (query, pictures) in seen.iter().rev().skip(1).take(5) {
        browser.evaluate("history.back()");
        settle(&mut browser);
        assert_eq!(look(&mut browser), (query.clone(), pictures.clone()));
    }
    // The address alone, as if somebody had sent it.
    let (query, pictures) = &seen[seen.len() - 1];
    let address: String = serde_json::from_str(query).expect("text");
    browser.ask(&server.address, &format!("/{address}"), 1280, false);
    settle(&mut browser);
    assert_eq!(look(&mut browser), (query.clone(), pictures.clone()));
    assert_eq!(browser.complaints, [""; 0]);
}

#[test]
#[ignore = "needs chromium"]
fn the_handoff_time_moves_by_keys_and_words_can_be_taken_away() {
    let mut browser = Browser::start();
    let server = Server::start();
    browser.ask(&server.address, "/?old=1600kbit/75ms&new=400kbit/150ms&at=8.2s", 1280, false);
    settle(&mut browser);
    browser.evaluate("document.getElementById('at-slider').focus()");
    browser.press("ArrowRight", 39);
    settle(&mut browser);
    assert_eq!(browser.evaluate("new URLSearchParams(location.search).get('at')"), "8.3s");
    // Every control can be reached and has a name.
    let unnamed = "[...document.querySelectorAll('input, select, button, a')].filter(one => \
        !(one.labels?.length || one.ariaLabel || one.textContent.trim()) || one.tabIndex < 0).map(one => one.outerHTML)";
    assert_eq!(browser.evaluate(unnamed).as_array().map(Vec::len), Some(0));
    for button in ["#show-command", "#show-toml"] {
        click(&mut browser, button);
        assert_eq!(browser.evaluate("document.getElementById('words').open"), true);
        let words = browser.evaluate("document.getElementById('words-text').textContent");
        let words = words.as_str().expect("words").to_string();
        let medians = |rows: &[u8]| {
            let document: Value = serde_json::from_slice(rows).expect("JSON");
            let rows = document["rows"].as_array().expect("rows").clone();
            rows.iter()
                .map(|row| format!("{:.3}", row["transfer_s"]["median"].as_f64().expect("s")))
                .collect::<Vec<_>>()
        };
        let rows = if button == "#show-command" {
            let lines: Vec<&str> = words.lines().collect();
            assert!(lines[1].contains("segue trace") && !run(lines[1], &["--story"]).is_empty());
            run(lines[0], &["--json", "-"])
        } else {
            let folder = tempfile::tempdir().expect("a folder");
            let file = folder.path().join("scenario.toml");
            std::fs::write(&file, words).expect("written");
            segue(&["run", file.to_str().expect("a path"), "--json", "-"]).stdout
        };
        let shown = browser.evaluate(
            "[...document.querySelectorAll('#result tbody td:nth-child(2)')].map(cell => cell.textContent)",
        );
        let shown: Vec<String> = shown
            .as_array()
            .expect("cells")
            .iter()
            .map(|cell| cell.as_str().expect("text").to_string())
            .collect();
        assert_eq!(shown, medians(&rows), "{button}");
        click(&mut browser, "#close-words");
    }
    let captures = browser
        .evaluate("[...document.querySelectorAll('#captures a')].map(link => link.getAttribute('href'))");
    for path in captures.as_array().expect("links") {
        let (status, packets) = server.get(&format!("/{}", path.as_str().expect("an address")));
        assert!(status == 200 && packets.starts_with(&[0x0a, 0x0d, 0x0d, 0x0a]), "{path}");
    }
    assert_eq!(browser.complaints, [""; 0]);
}

#[test]
#[ignore = "needs chromium"]
fn a_bad_address_is_explained_on_the_page() {
    let mut browser = Browser::start();
    let server = Server::start();
    browser.ask(&server.address, "/?old=6400kbit/9ms&new=200kbit/300ms&schemes=sack,etpc", 1280, false);
    settle(&mut browser);
    let said = browser.evaluate("document.getElementById('address').textContent");
    assert!(
        said.as_str().is_some_and(|said| said.contains("`etpc`") && said.contains("did you mean `etcp`")),
        "{said}"
    );
    // The words, the result, the controls and the address now agree on the value in its place.
    assert!(
        said.as_str()
            .is_some_and(|said| said.contains("The page shows sack in place of `schemes=sack,etpc`.")),
        "{said}"
    );
    let shown = "[document.querySelector('#result tbody td').textContent, \
         document.querySelectorAll('#result tbody tr').length, new URLSearchParams(location.search).get('schemes')]";
    assert_eq!(browser.evaluate(shown), serde_json::json!(["sack", 1, "sack"]));
    for (query, part, key, value) in [
        ("old=foo&new=hsdpa", "shows 6400kbit/9ms in place of `old=foo`", "old", "6400kbit/9ms"),
        ("old=wlan&new=hsdpa&flows=99", "shows 1 in place of `flows=99`", "flows", "null"),
        ("old=wlan&new=hsdpa&speed=9", "leaves out `speed=9`", "speed", "null"),
        ("schemes=sack,etpc", "did you mean `etcp`? The page shows sack in place", "schemes", "sack"),
    ] {
        browser.ask(&server.address, &format!("/?{query}"), 1280, false);
        settle(&mut browser);
        let said = browser.evaluate("document.getElementById('address').textContent");
        assert!(said.as_str().is_some_and(|said| said.contains(part)), "{query}: {said}");
        let now = browser.evaluate(&format!("String(new URLSearchParams(location.search).get('{key}'))"));
        assert_eq!(now, value, "{query}");
        assert!(browser.evaluate("document.querySelectorAll('#result tbody tr').length").as_u64() > Some(0));
        change(&mut browser, "packets", "50");
        assert_eq!(browser.evaluate("document.getElementById('address').hidden"), true);
    }
    // The refusal itself is the only thing that the console has.
    assert!(browser.complaints.iter().all(|complaint| complaint.contains("400")), "{:?}", browser.complaints);
}

/// How much of a comparison is shown meanwhile depends on the machine. In the end it is the whole of the last question.
#[test]
#[ignore = "needs chromium"]
fn a_comparison_grows_until_it_is_whole() {
    let mut browser = Browser::start();
    let server = Server::start();
    let is_whole = |browser: &mut Browser, question: &str| {
        let (status, view) = server.get(&format!("/view/compare?{question}"));
        let view: Value = serde_json::from_slice(&view).expect("JSON");
        assert!(status == 200 && view["points"] == view["of"], "{question}: {view}");
        let text = |id: &str| format!("document.getElementById('{id}').textContent");
        assert_eq!(browser.evaluate(&text("said")), view["said"], "{question}");
        let heading = view["headline"].as_str().expect("text").replace("->", "\u{2192}");
        assert!(
            browser.evaluate(&text("headline")).as_str().is_some_and(|shown| shown.starts_with(&heading)),
            "{question}"
        );
        let buttons =
            browser.evaluate("[...document.querySelectorAll('#typical button')].map(one => one.textContent)");
        let typical = view["typical"].as_array().expect("a list").iter().map(|one| {
            let [at, why] = ["at", "why"].map(|key| one[key].as_str().expect("text"));
            format!("handoff at {} s ({why})", at.trim_end_matches('s'))
        });
        assert_eq!(buttons, typical.collect::<Value>(), "{question}");
    };
    let first = "old=80mbit/5ms&new=20mbit/20ms&flows=4";
    browser.ask(&server.address, &format!("/?{first}"), 1280, false);
    settle(&mut browser);
    is_whole(&mut browser, first);
    // Each question ends the one before it, the last of them by what is on the screen already.
    for rates in [&["10", "5"][..], &["40", "5", "10", "5"], &["30", "5"]] {
        for rate in rates {
            browser.evaluate(&format!(
                "(() => {{ const control = document.getElementById('new-rate'); control.value = '{rate}'; \
                 control.dispatchEvent(new Event('change', {{ bubbles: true }})); }})()"
            ));
        }
        settle(&mut browser);
        let rate = rates[rates.len() - 1].parse::<u32>().expect("a number");
        let rate = if rate < 10 { format!("{}kbit", rate * 1000) } else { format!("{rate}mbit") };
        is_whole(&mut browser, &format!("old=80mbit/5ms&new={rate}/20ms&flows=4"));
    }
    assert_eq!(browser.complaints, [""; 0]);
}

/// Measured links of the folder, words of links and users: what the controls say is what is computed.
#[test]
#[ignore = "needs chromium"]
fn measured_links_and_the_panel_of_words_are_used() {
    let folder = tempfile::tempdir().expect("a folder");
    let opportunities: String = (1..=1000).map(|at| format!("{}\n", at * 3)).collect();
    std::fs::write(folder.path().join("slow.down"), opportunities).expect("written");
    let path = folder.path().to_str().expect("a path").to_string();
    let mut browser = Browser::start();
    let server = Server::start_with(&["--traces", &path]);
    browser.ask(&server.address, "/?old=6400kbit/9ms&new=200kbit/300ms&schemes=sack", 1280, false);
    settle(&mut browser);
    change(&mut browser, "new-preset", "trace:slow.down");
    change(&mut browser, "new-delay", "40");
    change(&mut browser, "old-loss", "0.5");
    change(&mut browser, "old-queue", "codel");
    change(&mut browser, "neighbours", "2");
    let query = browser.evaluate(QUERY).as_str().expect("text").to_string();
    for part in ["old=6400kbit/9ms,loss=0.5%,queue=codel", "new=trace:slow.down,delay=40ms", "neighbours=2"] {
        assert!(query.contains(part), "{query}: {part}");
    }
    // The command line prints the same number.
    click(&mut browser, "#show-command");
    let words = browser.evaluate("document.getElementById('words-text').textContent");
    let words = words.as_str().expect("words").lines().next().expect("a line").to_string();
    let command = words.strip_prefix(&format!("cd {path} && segue ")).expect("its folder").to_string();
    let words = shell_words::split(&command).expect("words");
    let output = Command::new(env!("CARGO_BIN_EXE_segue"))
        .current_dir(folder.path())
        .args(words)
        .args(["--json", "-"])
        .output()
        .expect("segue starts");
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let median = document["rows"][0]["transfer_s"]["median"].as_f64().expect("s");
    let shown = browser.evaluate("document.querySelector('#result tbody td:nth-child(2)').textContent");
    assert_eq!(shown, format!("{median:.3}").as_str(), "{command}");
    // The address alone, as if somebody had sent it.
    browser.ask(&server.address, &format!("/?{}", &query[1..].replace('%', "%25")), 1280, false);
    settle(&mut browser);
    assert_eq!(browser.evaluate(QUERY), query.as_str());
    assert_eq!(browser.evaluate("document.getElementById('address').hidden"), true);
    assert_eq!(browser.complaints, [""; 0]);
    let refused = segue(&["explore", "--port", "0", "--traces", "/nowhere"]);
    assert_eq!(refused.status.code(), Some(2));
}

/// The panel shows what a preset has, and a fast old link has a handoff that is drawn among its own times.
#[test]
#[ignore = "needs chromium"]
fn a_preset_shows_what_it_has_and_one_of_its_handoffs() {
    let mut browser = Browser::start();
    let server = Server::start();
    browser.ask(&server.address, "/?old=wifi6&new=leo&schemes=sack", 1280, false);
    settle(&mut browser);
    let panel = |browser: &mut Browser, side: &str| {
        browser.evaluate(&format!(
            "[...['up', 'loss', 'jitter'].map(name => document.getElementById(`{side}-${{name}}`).placeholder), \
             document.getElementById('{side}-queue').selectedOptions[0].textContent]"
        ))
    };
    let fq_codel = "FQ-CoDel (the preset's)";
    assert_eq!(panel(&mut browser, "old"), serde_json::json!(["the same", "0", "2 (pareto)", fq_codel]));
    let leo = serde_json::json!(["15", "0.5 in bursts", "4", "drop-tail (the preset's)"]);
    assert_eq!(panel(&mut browser, "new"), leo);
    let drawn = "[document.getElementById('at').value, document.getElementById('handoff-said').textContent, \
                 new URLSearchParams(location.search).get('at')]";
    let at = |time: &str, own: Option<&str>| {
        serde_json::json!([time, format!("The handoff at {time} s is shown."), own])
    };
    assert_eq!(browser.evaluate(drawn), at("2.05", None));
    let captured = "document.querySelector('#captures a').getAttribute('href').includes('at=2.05s')";
    assert_eq!(browser.evaluate(captured), true);
    // The preset loses; the user lets it lose nothing.
    change(&mut browser, "new-loss", "0");
    let query = browser.evaluate(QUERY).to_string();
    assert!(query.contains("new=leo,loss=0%&"), "{query}");
    // It moves with the links until the user chooses it.
    change(&mut browser, "old-preset", "wlan");
    assert_eq!(browser.evaluate(drawn), at("8.2", None));
    change(&mut browser, "at", "3");
    change(&mut browser, "old-preset", "wifi6");
    assert_eq!(browser.evaluate(drawn), at("3", Some("3s")));
    // Own numbers have what they had.
    change(&mut browser, "old-rate", "20");
    let [up, loss, jitter] = ["the same", "0", "0"];
    assert_eq!(panel(&mut browser, "old"), serde_json::json!([up, loss, jitter, "FQ-CoDel"]));
    assert_eq!(browser.complaints, [""; 0]);
}

/// Pictures that are not drawn, have no title, or hang out of the page.
const BAD_PICTURES: &str = "[...document.querySelectorAll('svg')].filter(svg => {
    const box = svg.getBoundingClientRect();
    const title = svg.querySelector('title')?.textContent ?? '';
    return !(svg.checkVisibility() && box.width >= 300 && box.height >= 80 && box.left >= 0 && title);
}).map(svg => svg.outerHTML.slice(0, 200))";

/// Text of pictures smaller than 9 px on the screen.
const SMALL_TEXT: &str = "[...document.querySelectorAll('svg text')].filter(text => {
    const svg = text.ownerSVGElement;
    const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
    return parseFloat(getComputedStyle(text).fontSize) * scale < 9;
}).map(text => text.textContent)";

#[test]
#[ignore = "needs chromium"]
fn the_page_fits_every_width_in_light_and_dark() {
    let mut browser = Browser::start();
    let server = Server::start();
    let mut grounds = BTreeSet::new();
    for (width, dark) in WIDTHS.iter().flat_map(|&width| [(width, false), (width, true)]) {
        let place = format!("{width} px, dark: {dark}");
        browser.ask(
            &server.address,
            "/?old=6400kbit/9ms&new=200kbit/300ms&schemes=sack,etcp,etcp-v1&flows=2",
            width,
            dark,
        );
        settle(&mut browser);
        let list =
            |value: Value| value.as_array().expect("a list").iter().map(Value::to_string).collect::<Vec<_>>();
        assert!(browser.evaluate("document.querySelectorAll('svg').length").as_u64() > Some(6), "{place}");
        assert_eq!(list(browser.evaluate(BAD_PICTURES)), [""; 0], "{place}");
        assert_eq!(list(browser.evaluate(SMALL_TEXT)), [""; 0], "{place}");
        let overflow = browser.evaluate("document.documentElement.scrollWidth - innerWidth");
        assert!(overflow.as_i64() <= Some(0), "{place}: {overflow} px too wide");
        // A user who moves a slider sees the answer; on a narrow screen it stands below the controls.
        let in_sight = "(() => { const box = document.getElementById('said').getBoundingClientRect();
            return box.height > 0 && box.top >= 0 && box.bottom <= innerHeight; })()";
        assert_eq!(browser.evaluate(in_sight), true, "{place}: the answer is out of sight");
        // The list of schemes is longer than a screen: it is folded, and what is chosen is in sight.
        let schemes = "[document.getElementById('all-schemes').open, document.getElementById('chosen-schemes').textContent]";
        let folded = serde_json::json!([false, "sack, etcp, etcp-v1"]);
        assert_eq!(browser.evaluate(schemes), folded, "{place}");
        let bottom =
            "document.getElementById('chosen-schemes').getBoundingClientRect().bottom <= innerHeight";
        assert_eq!(browser.evaluate(bottom), true, "{place}: the schemes are out of sight");
        let cut = "[...document.querySelectorAll('#handoff .table')].filter(one => one.scrollWidth > one.clientWidth).length";
        assert!(width < 1280 || browser.evaluate(cut) == 0, "{place}: a table is cut");
        let ids = list(browser.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)"));
        assert_eq!(ids.len(), ids.iter().collect::<BTreeSet<_>>().len(), "{place}: an id stands twice");
        grounds.insert(browser.evaluate("getComputedStyle(document.body).backgroundColor").to_string());
        let height = if width < 900 { 4000 } else { 2200 };
        let picture = browser.screenshot(height);
        assert!(picture.len() > 20_000, "{place}: an empty picture");
        if let Some(folder) = std::env::var_os("SEGUE_SCREENSHOTS") {
            let name = format!("explore-{width}-{}.png", if dark { "dark" } else { "light" });
            std::fs::write(Path::new(&folder).join(name), picture).expect("written");
        }
        assert_eq!(browser.complaints, [""; 0], "{place}");
    }
    assert_eq!(grounds.len(), 2, "light and dark");
}

#[test]
#[ignore = "needs chromium axe"]
fn the_page_has_no_barriers() {
    let mut browser = Browser::start();
    let server = Server::start();
    for (width, dark) in [(390, false), (768, false), (1280, false), (1280, true)] {
        let place = format!("{width} px, dark: {dark}");
        for query in
            ["old=6400kbit/9ms&new=200kbit/300ms&schemes=sack,etcp,etcp-v1&flows=2", "old=foo&kind=soft"]
        {
            browser.ask(&server.address, &format!("/?{query}"), width, dark);
            settle(&mut browser);
            browser.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
            let barriers = if dark { browser.faint_text() } else { browser.barriers() };
            assert_eq!(barriers, [""; 0], "{query}, {place}");
        }
        click(&mut browser, "#show-command");
        assert_eq!(browser.barriers(), [""; 0], "words to take away, {place}");
    }
}
