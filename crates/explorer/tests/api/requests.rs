//! Single questions, and what their answers say.

use crate::{GOOD, ask, ask_with, ask_within, query};
use std::time::Duration;

#[test]
fn an_answer_that_takes_too_long_says_what_would_be_shorter() {
    for path in ["/api/compare", "/view/compare"] {
        let query = format!("{path}?{}", query(GOOD));
        let answer = ask_within(Duration::ZERO, &query, &[("host", "127.0.0.1:8080")]);
        let said = String::from_utf8_lossy(&answer.body).into_owned();
        assert_eq!(answer.status, 503, "{path}: {said}");
        assert!(said.contains("takes longer than 0 s; expected fewer flows"), "{path}: {said}");
    }
}

/// Thousands of packets are missing while thousands are under way, all the time.
#[test]
fn much_that_is_lost_and_much_that_waits_is_answered() {
    for (links, how) in [
        (
            "old=46580kbit/339ms&new=55kbit/102ms&kind=bbm&disconnect=42901ms&flows=4",
            "schemes=freeze,etcp:a4&notice=in-band&definition=after-ack&at=4s..8s/2s&points=116",
        ),
        (
            "old=48035kbit/238ms&new=17756kbit/255ms&flows=3",
            "schemes=buffer-lcfd%2Bphas&packets=444&seed=1847563668&at=4s..8s/2s",
        ),
    ] {
        let answer = ask(&format!("/api/compare?{links}&{how}"));
        assert_eq!(answer.status, 200, "{links}: {}", String::from_utf8_lossy(&answer.body));
    }
}

#[test]
fn a_bad_word_is_named_with_the_nearest_valid_one() {
    let links = "old=wlan&new=hsdpa";
    for (query, parts) in [
        ("new=hsdpa", &["`old` is missing", "6400kbit/9ms"][..]),
        ("old=wlam&new=hsdpa", &["`wlam`", "did you mean `wlan`"]),
        ("old=trace:/etc/passwd&new=hsdpa", &["old", "segue explore --traces DIR"]),
        ("old=1kbit/9ms&new=hsdpa", &["rate", "16kbit to 2gbit", "nearest is 16kbit"]),
        ("old=wlan&new=100mbit/1s", &["new", "16667 packets", "at most 8000"]),
        (&format!("{links}&kinds=mbb"), &["unknown key `kinds`", "did you mean `kind`"]),
        (&format!("{links}&kind=mbbb"), &["`mbbb`", "mbb, bbm", "did you mean `mbb`"]),
        (&format!("{links}&flows=9"), &["bad flows `9`", "from 1 to 8", "nearest is 8"]),
        (&format!("{links}&flows=%2B3"), &["bad flows `+3`"]),
        (&format!("{links}&seed=4294967296"), &["bad seed", "nearest is 4294967295"]),
        (&format!("{links}&seed=99999999999999999999"), &["bad seed", "nearest is 4294967295"]),
        (&format!("{links}&schemes=etpc"), &["`etpc`", "did you mean `etcp`"]),
        (&format!("{links}&schemes=sack,sack"), &["`sack` is given twice"]),
        (&format!("{links}&schemes="), &["unknown scheme ``"]),
        (&format!("{links}&stack=linuks"), &["`linuks`", "did you mean `linux`"]),
        (
            &format!("{links}&stack=linux-6.13"),
            &["linux-6.12, linux-6.12/cubic", "did you mean `linux-6.12`"],
        ),
        (&format!("{links}&notice-loss=1"), &["instant notice is never lost"]),
        (&format!("{links}&at=0.1s..20s/0.01s"), &["1991 handoff times", "at most 200"]),
        (&format!("{links}&at=61s"), &["at most 60s"]),
        (
            &format!("{links}&kind=bbm&disconnect=0s"),
            &["disconnect `0s`", "0.001s to 60s", "nearest is 0.001s"],
        ),
        (&format!("{links}&old=egprs"), &["`old` is given twice"]),
        (&format!("{links}&overlap=0s"), &["overlap `0s`", "nearest is 0.001s"]),
        (&format!("{links}&kind=soft&soft=twice"), &["unknown soft `twice`", "duplicate, split"]),
        (&format!("{links}&kind=ping-pong&return=soon"), &["bad return `soon`"]),
    ] {
        let answer = ask(&format!("/api/compare?{query}"));
        let said = answer.json()["error"].as_str().expect("a sentence").to_string();
        assert_eq!(answer.status, 400, "{query}: {said}");
        assert!(parts.iter().all(|part| said.contains(part)), "{query}: {said}");
    }
}

/// Soft handoffs, ping-pongs and another address are asked for with the words of the command line, and told with them.
#[test]
fn other_handoffs_have_their_words() {
    for (words, option, key) in [
        (
            "kind=soft&overlap=300ms&soft=split",
            "--kind soft --overlap 300ms --soft split",
            "overlap = \"300ms\"",
        ),
        ("kind=ping-pong&return=2s", "--kind ping-pong --return 2s", "return = \"2s\""),
        ("address=new", "--address new", "address = \"new\""),
    ] {
        let answer = ask(&format!("/view/compare?old=wlan&new=hsdpa&at=5s&{words}"));
        assert_eq!(answer.status, 200, "{words}");
        let answer = answer.json();
        let said = |key: &str| answer[key].as_str().expect("text");
        assert!(said("command").contains(option) && said("toml").contains(key), "{words}: {answer}");
    }
}

#[test]
fn strangers_are_refused() {
    let from = |headers: &[(&str, &str)]| ask_with("/api/schema", headers);
    assert_eq!(from(&[("host", "localhost:8080")]).status, 200);
    for headers in [
        &[("host", "evil.example:8080")][..],
        &[],
        &[("host", "127.0.0.1"), ("sec-fetch-site", "cross-site")],
        // Another port of this machine.
        &[("host", "127.0.0.1:80"), ("sec-fetch-site", "same-site")],
        &[("host", "127.0.0.1:80"), ("origin", "http://127.0.0.1:81")],
        &[("host", "127.0.0.1:80"), ("origin", "https://evil.example")],
        &[("host", "127.0.0.1:80"), ("origin", "null")],
    ] {
        let answer = from(headers);
        assert_eq!(answer.status, 403, "{headers:?}");
        assert!(answer.json()["error"].is_string());
    }
    for site in ["same-origin", "none"] {
        let headers = [("host", "127.0.0.1:80"), ("sec-fetch-site", site), ("origin", "http://127.0.0.1:80")];
        assert_eq!(from(&headers).status, 200, "{site}");
    }
    let twice = from(&[("host", "127.0.0.1:80"), ("host", "127.0.0.1:80")]);
    assert_eq!(twice.status, 400);
    assert_eq!(twice.json()["error"], "2 headers `Host`; expected one");
    // A link from elsewhere may lead here.
    assert_eq!(ask_with("/", &[("host", "127.0.0.1"), ("sec-fetch-site", "cross-site")]).status, 200);
}

/// Once its address can be printed, Ctrl-C ends it in order.
#[test]
fn a_signal_before_it_answers_ends_it() {
    let here = "127.0.0.1:0".parse().expect("an address");
    let explorer =
        segue_explorer::Explorer::bind(here, "test", segue_explorer::Traces::none()).expect("a port");
    let own = std::process::id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &own]).status().expect("kill").success());
    explorer.serve().expect("it ends");
}

#[test]
fn browsers_are_told_what_they_may_do() {
    for path in ["/", "/explorer.js", "/explorer.css", "/api/schema", "/api/compare", "/nothing"] {
        let headers = ask(path).headers;
        for part in ["default-src 'self'", "nosniff", "frame-ancestors 'none'", "no-store"] {
            assert!(headers.contains(part), "{path}: {headers}");
        }
    }
    let answer = ask("/api/compar");
    assert_eq!(answer.status, 404);
    assert!(answer.json()["error"].as_str().is_some_and(|said| said.contains("`/api/compar`")));
}

#[test]
fn too_many_packets_are_refused_before_they_are_traced() {
    let fast = "old=100mbit/10ms&new=100mbit/10ms&schemes=sack&at=60s";
    for path in ["/api/trace", "/api/pcapng"] {
        let answer = ask(&format!("{path}?{fast}"));
        let said = answer.json()["error"].as_str().unwrap_or_default().to_string();
        assert!(answer.status == 400 && said.contains("packets are too many"), "{path}: {said}");
    }
}

/// A fast link that waits most of the time carries few packets: they are counted, not taken from its rate.
#[test]
fn few_packets_of_a_fast_link_are_drawn() {
    let view = ask("/view/handoff?old=5g&new=5g-mmwave&kind=bbm&at=2s&seed=1");
    assert_eq!(view.status, 200, "{}", String::from_utf8_lossy(&view.body));
}

#[test]
fn a_thinned_comparison_says_so() {
    let view = ask("/view/compare?old=wlan&new=hsdpa&points=5").json();
    assert_eq!((view["points"].as_u64(), view["of"].as_u64()), (Some(5), Some(200)));
}

/// However soon the page wants something, it gets at least one handoff. How many there are depends on the machine; the
/// last line is the whole.
#[test]
fn a_growing_comparison_ends_with_the_whole() {
    let question = "/view/compare?old=20mbit/20ms&new=2mbit/50ms&flows=2";
    let whole = ask(question).json();
    for within in ["0s", "1ms", "60s"] {
        let answer = ask(&format!("{question}&within={within}"));
        assert_eq!(answer.status, 200, "{within}");
        assert!(answer.headers.contains("application/x-ndjson"), "{}", answer.headers);
        let lines = answer.lines();
        let points: Vec<u64> = lines.iter().map(|line| line["points"].as_u64().expect("a number")).collect();
        assert!(points[0] > 0 && points.is_sorted_by(|a, b| a < b), "{within}: {points:?}");
        assert_eq!(lines.last(), Some(&whole), "{within}");
        for line in &lines {
            for key in ["headline", "notes", "of", "command", "toml"] {
                assert_eq!(line[key], whole[key], "{within}: {key}");
            }
        }
    }
    // The whole alone is one line, and only the page grows.
    assert_eq!(ask(question).lines().len(), 1);
    let refused = ask("/api/compare?old=wlan&new=hsdpa&within=0s");
    assert!(refused.status == 400 && refused.json()["error"].to_string().contains("`within`"));
    let refused = ask("/view/compare?old=wlan&new=hsdpa&within=61s");
    assert!(refused.status == 400 && refused.json()["error"].to_string().contains("within `61s`"));
}

/// It comes in a line of its own, and is the one that can be asked for alone. The comparison is the same as without it.
#[test]
fn the_handoff_that_is_drawn_comes_with_the_comparison() {
    let links = "old=20mbit/20ms&new=2mbit/50ms&flows=2&schemes=sack,freeze,etcp-v1&handoffs=";
    for (handoffs, drawn, at) in [("1", "usual", "8.2s"), ("1", "4.56s", "4.56s"), ("2&every=5s", "3s", "3s")]
    {
        let question = format!("/view/compare?{links}{handoffs}");
        let alone = ask(&format!("/view/handoff?{}&at={at}", links.trim_end_matches("&handoffs=")));
        let whole = ask(&question);
        assert_eq!((alone.status, whole.status), (200, 200), "{drawn}");
        for within in ["0s", "60s"] {
            let answer = ask(&format!("{question}&within={within}&drawn={drawn}"));
            let (handoffs, views): (Vec<serde_json::Value>, Vec<_>) =
                answer.lines().into_iter().partition(|line| line.get("handoff").is_some());
            assert_eq!(handoffs, [serde_json::json!({ "handoff": alone.json() })], "{drawn} {within}");
            assert_eq!(handoffs[0]["handoff"]["at"], at, "{drawn}");
            assert_eq!(views.last(), Some(&whole.json()), "{drawn} {within}");
        }
    }
}

/// The comparison comes all the same.
#[test]
fn a_handoff_that_cannot_be_drawn_says_why() {
    let question = "/view/compare?old=8mbit/20ms&new=4mbit/30ms&schemes=sack&points=2&drawn=usual";
    for (more, part) in [("&traffic=upload", "download"), ("&old=", "given twice")] {
        let answer = ask(&format!("{question}{more}"));
        let said = String::from_utf8_lossy(&answer.body).to_string();
        assert!(said.contains(part), "{more}: {said}");
    }
    let answer = ask(&format!("{question}&traffic=upload"));
    assert!(answer.headers.contains("application/x-ndjson"), "several lines: {}", answer.headers);
    let lines = answer.lines();
    assert!(lines[0]["handoff"]["error"].is_string() && lines[1]["points"].is_u64(), "{lines:?}");
    for refused in ["/view/compare?old=wlan&new=hsdpa&drawn=61s", "/api/compare?old=wlan&new=hsdpa&drawn=5s"]
    {
        let answer = ask(refused);
        assert!(answer.status == 400 && answer.json()["error"].to_string().contains("drawn"), "{refused}");
    }
}

/// There is neither a transfer time nor a bound.
#[test]
fn traffic_without_a_download_has_its_own_table() {
    let view = ask("/view/compare?old=8mbit/20ms&new=4mbit/30ms&at=4s&schemes=sack&traffic=video").json();
    let html = view["html"].as_str().expect("a page");
    assert!(html.contains("video") && html.contains("there is no transfer time"), "{html}");
    assert!(!html.contains("<svg") && !html.contains(">inf<"), "{html}");
    assert!(view["said"].as_str().is_some_and(|said| !said.contains("transfer")), "{view}");
}

/// As on the command line.
#[test]
fn words_are_forgiven_their_case() {
    let links = "/api/compare?old=WLAN&new=Hsdpa&at=5s";
    let plain = ask(&format!("{links}&kind=mbb&schemes=sack,etcp-v1&stack=linux-6.12&notice=in-band"));
    let other = ask(&format!("{links}&kind=MBB&schemes=SACK,%20Etcp-V1&stack=LINUX-6.12&notice=In-Band"));
    assert_eq!((plain.status, other.status), (200, 200), "{}", String::from_utf8_lossy(&other.body));
    assert_eq!(plain.json()["rows"], other.json()["rows"]);
}

/// The page's heading must say it, as the result depends on it.
#[test]
fn the_heading_says_what_is_not_usual() {
    let question = "/view/compare?old=wlan&new=hsdpa&at=5s&schemes=sack";
    let heading = |more: &str| {
        ask(&format!("{question}{more}")).json()["headline"].as_str().expect("a heading").to_string()
    };
    assert_eq!(
        heading(""),
        "wlan -> hsdpa, make-before-break, 1 flow; handoff at 5s; TCP: ns2-sack1, that of 2008"
    );
    let times = |links: &str| {
        ask(&format!("/view/compare?{links}&schemes=sack&points=1")).json()["headline"].to_string()
    };
    assert!(
        times("old=wlan&new=hsdpa").contains("; handoffs at 0.1s..20s/0.1s; "),
        "{}",
        times("old=wlan&new=hsdpa")
    );
    let fast = times("old=wifi6&new=5g");
    assert!(fast.contains("; handoffs at 0.025s..5s/0.025s; "), "not those of segue compare: {fast}");
    let own = heading("&notice=in-band&notice-loss=1&packets=50&definition=after-ack&seed=3");
    let said =
        "notice in band, its first copy lost; 50 packets; counted from the cumulative ACK; seed 3; TCP";
    assert!(own.contains(said), "{own}");
    assert!(heading("&notice=in-band").contains("; notice in band; TCP"));
    assert!(heading("&notice-error=late=50ms").contains("; notices err by late=50ms; TCP"));
    // A user who chooses the stack knows it.
    assert!(heading("&stack=ns2-sack1").ends_with("TCP: ns2-sack1"));
}

/// The page has one seed, and no field for more.
#[test]
fn notes_say_where_an_option_is() {
    let view = ask("/view/compare?old=5g&new=leo&schemes=sack&points=2").json();
    let notes = view["notes"].to_string();
    assert!(notes.contains("one seed") && notes.contains("see segue compare --seeds"), "{notes}");
}

/// Words of links, traffic and neighbours mean what they mean to `segue compare`.
#[test]
fn words_of_links_and_users_are_taken() {
    let link = "6400kbit/9ms,up=1mbit,loss=1%25,jitter=5ms,queue=codel";
    let query = |more: &str| format!("old={link}&new=200kbit/300ms&at=4s&schemes=sack{more}");
    let rows = |more: &str| {
        let answer = ask(&format!("/api/compare?{}", query(more)));
        assert_eq!(answer.status, 200, "{more}: {}", String::from_utf8_lossy(&answer.body));
        answer.json()["rows"].clone()
    };
    let plain = rows("");
    assert_eq!(plain[0]["old"], "6400kbit/9ms,up=1mbit,loss=1%,jitter=5ms,queue=codel");
    assert_ne!(rows("&neighbours=2")[0]["transfer_s"], plain[0]["transfer_s"]);
    assert!(rows("&traffic=download,page")[0]["page"].is_object());
    assert!(rows("&traffic=download,page&neighbours=2")[0]["page"].is_object());
    let limit = "bad neighbours `100`; expected a whole number from 1 to 20; the nearest is 20";
    for (bad, part) in [
        ("&neighbours=many", "neighbours"),
        ("&neighbours=100", limit),
        ("&neighbours=100+cubic", limit),
        ("&neighbours=-1", "bad neighbours `-1`; expected a whole number from 1 to 20; the nearest is 1"),
        ("&neighbours=2+cubci", "did you mean `cubic`?"),
        ("&traffic=gopher", "gopher"),
    ] {
        let answer = ask(&format!("/api/compare?{}", query(bad)));
        let said = answer.json()["error"].as_str().unwrap_or_default().to_string();
        assert!(answer.status == 400 && said.contains(part) && !said.contains("--"), "{bad}: {said}");
    }
    let upload = ask(&format!("/view/handoff?{}", query("&traffic=upload")));
    assert!(
        upload.status == 400 && upload.json()["error"].as_str().is_some_and(|said| said.contains("download"))
    );
}

/// Wrong notices and several handoffs mean what they mean to `segue compare`, and the words to take away say them.
#[test]
fn notices_that_err_and_series_are_taken() {
    let good = "old=8mbit/20ms&new=4mbit/30ms&at=4s&schemes=sack,etcp-v1";
    let rows = |more: &str| {
        let answer = ask(&format!("/api/compare?{good}{more}"));
        assert_eq!(answer.status, 200, "{more}: {}", String::from_utf8_lossy(&answer.body));
        answer.json()["rows"].as_array().expect("rows").clone()
    };
    let told = rows("&notice-error=rate=2x,delay=30ms");
    assert_eq!(told[0]["settings"]["notice-error"], "rate=2x,delay=30ms");
    let series = rows("&handoffs=3&every=5s");
    let numbers: Vec<u64> = series.iter().filter_map(|row| row["handoff"].as_u64()).collect();
    assert_eq!(numbers, [1, 1, 2, 2, 3, 3]);
    let view = ask(&format!("/view/compare?{good}&handoffs=3&every=5s&notice-error=late=50ms")).json();
    let said =
        |key: &str, part: &str| assert!(view[key].as_str().is_some_and(|all| all.contains(part)), "{view}");
    said("command", "--notice-error 'late=50ms' --handoffs 3 --every 5s");
    said("toml", "notice_error = \"late=50ms\"");
    said("toml", "handoffs = \"3\"");
    for (bad, part) in [
        ("&handoffs=11&every=5s", "whole number from 1 to 10"),
        ("&handoffs=3", "every"),
        ("&every=5s", "handoffs"),
        ("&handoffs=2&every=61s", "out of range"),
        ("&notice-error=rate=0.5x", "notice-error"),
    ] {
        let answer = ask(&format!("/api/compare?{good}{bad}"));
        let said = answer.json()["error"].as_str().unwrap_or_default().to_string();
        assert!(answer.status == 400 && said.contains(part) && !said.contains("--"), "{bad}: {said}");
    }
    // One handoff is drawn.
    assert_eq!(ask(&format!("/api/trace?{good}&handoffs=2&every=5s")).status, 400);
}

/// A fast old link has as many handoff times as others, in a shorter time; the command says them.
#[test]
fn a_gigabit_is_answered() {
    let answer = ask("/view/compare?old=1gbit/5ms&new=100mbit/20ms&schemes=sack&points=4");
    assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
    let view = answer.json();
    assert_eq!((view["points"].clone(), view["of"].clone()), (4.into(), 200.into()));
    assert!(
        view["command"].as_str().is_some_and(|words| words.ends_with("--at 0.025s..5s/0.025s")),
        "{view}"
    );
    assert_eq!(ask("/view/handoff?old=1gbit/5ms&new=100mbit/20ms&schemes=sack&at=4s").status, 200);
    // Neighbours begin in the first 0.1 s.
    let beside = ask("/view/compare?old=leo&new=5g&schemes=sack&neighbours=2&points=1");
    assert_eq!(beside.status, 200, "{}", String::from_utf8_lossy(&beside.body));
    assert_eq!(beside.json()["of"], 197);
    let said = ask("/api/compare?old=2.1gbit/5ms&new=hsdpa").json()["error"].to_string();
    assert!(said.contains("16kbit to 2gbit"), "{said}");
}
