//! `segue explore` as it is met from a shell and by a program.

use crate::explorer::{Server, run, segue};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

// -------------------------------------------------------------------------------------- from a shell

/// An answer of 30 MB, more than fits on the way.
const MEGABYTES: &str =
    "/api/trace?old=6400kbit/9ms&new=6400kbit/9ms&flows=8&packets=1000&schemes=sack,etcp,etcp-v0&at=3s";

/// Neither keeps its connection, nor what was computed for it, for long.
#[test]
fn clients_that_say_or_read_nothing_are_sent_away() {
    let server = Server::start();
    let begun = Instant::now();
    let mut half = TcpStream::connect(server.host()).expect("a connection");
    write!(half, "GET / HTTP/1.1\r\nHost: {}\r\n", server.host()).expect("sent");
    let silent = TcpStream::connect(server.host()).expect("a connection");
    let deaf = server.send(MEGABYTES);
    // A client that reads slowly, and goes on, is no such client.
    let mut slow = server.send(MEGABYTES);
    let slow = std::thread::spawn(move || {
        let (begun, mut buffer) = (Instant::now(), [0; 25_000]);
        while begun.elapsed() < Duration::from_secs(15) {
            let got = slow.read(&mut buffer).expect("it is not sent away");
            assert!(got > 0, "it is sent away");
            std::thread::sleep(Duration::from_millis(250));
        }
    });
    for mut stream in [half, silent] {
        stream.set_read_timeout(Some(Duration::from_secs(600))).expect("a time limit");
        loop {
            match stream.read(&mut [0; 1000]) {
                Ok(0) => break,
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => break,
                // With a time limit a signal ends the call (signal(7)).
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                other => panic!("{other:?}"),
            }
        }
        assert!(begun.elapsed() >= Duration::from_secs(9), "{:?}", begun.elapsed());
    }
    let local = deaf.local_addr().expect("an address").port();
    let established = || {
        let rows = std::fs::read_to_string("/proc/net/tcp").expect("connections");
        // The server's end of the connection: its peer is our port, state 01.
        rows.lines().any(|row| {
            row.split_whitespace().nth(2).is_some_and(|peer| peer.ends_with(&format!(":{local:04X}")))
                && row.split_whitespace().nth(3) == Some("01")
        })
    };
    assert!(established(), "it was not answered at all, or read");
    while established() {
        assert!(begun.elapsed() < Duration::from_secs(600), "it is still waited for");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(server.get("/").0, 200);
    slow.join().expect("who reads slowly stays");
}

/// An explorer with this option of env(1), whatever these tests themselves do about hangups.
fn with_hangups(option: &str) -> Server {
    Server::start_by(Command::new("env").args([option, env!("CARGO_BIN_EXE_segue")]), &[])
}

/// As nohup(1) starts it.
#[test]
fn it_outlives_its_terminal_if_it_is_told_to() {
    let mut server = with_hangups("--ignore-signal=HUP");
    server.signal("HUP");
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(server.get("/").0, 200);
    server.signal("TERM");
    assert_eq!(server.ends(), Some(0));
}

#[test]
fn signals_end_it_cleanly_even_with_a_client_that_waits() {
    for name in ["INT", "TERM", "HUP"] {
        let mut server = with_hangups("--default-signal=HUP");
        assert_eq!(server.get("/").0, 200);
        let _waits = server.send("/api/compare?old=100mbit/200ms&new=100mbit/200ms&flows=8&schemes=sack,etcp,etcp-a5,etcp-v0,etcp-v1");
        let _silent = TcpStream::connect(server.host()).expect("a connection");
        std::thread::sleep(Duration::from_millis(300));
        server.signal(name);
        assert_eq!(server.ends(), Some(0), "{name}");
        let mut said = String::new();
        server.process.stderr.take().expect("piped").read_to_string(&mut said).expect("text");
        assert_eq!(said, "", "{name}");
    }
}

#[test]
fn a_place_that_cannot_be_had_is_named() {
    let server = Server::start();
    let port = server.host().split(':').nth(1).expect("a port");
    for (arguments, part) in [
        (&["explore", "--port", port][..], "address in use"),
        (&["explore", "--port", "0", "--listen", "203.0.113.9"], "203.0.113.9"),
        (&["explore", "--port", "65536"], "65536"),
        (&["explore", "--listen", "nowhere"], "nowhere"),
    ] {
        let output = segue(arguments);
        let said = String::from_utf8_lossy(&output.stderr).to_string();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(part) && said.lines().count() == 1, "{arguments:?}: {said}");
    }
}

// ------------------------------------------------------------------------------------ from a program

const QUESTION: &str = "old=1600kbit/75ms&new=400kbit/150ms&kind=bbm&disconnect=500ms&flows=2&schemes=etcp,sack&notice=in-band&notice-loss=1&packets=50&definition=after-ack&seed=3";
const OPTIONS: [&str; 18] = [
    "1600kbit/75ms",
    "400kbit/150ms",
    "--kind",
    "bbm",
    "--disconnect",
    "500ms",
    "--flows",
    "2",
    "--schemes",
    "etcp,sack",
    "--notice",
    "in-band",
    "--notice-loss",
    "1",
    "--packets",
    "50",
    "--definition",
    "after-ack",
];

#[test]
fn answers_are_those_of_the_command_line() {
    let server = Server::start();
    let same = |path: &str, arguments: &[&str]| {
        let output = segue(&[arguments, &OPTIONS[..], &["--seed", "3"]].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let (status, answer) = server.get(&format!("{path}?{QUESTION}"));
        assert!(status == 200 && answer == output.stdout, "{path}: {status}");
    };
    same("/api/compare", &["compare", "--json", "-"]);
    let (status, lines) = server.get(&format!("/api/trace?{QUESTION}&at=8.2s"));
    let told = segue(&[&["trace", "--at", "8.2s", "--json", "-"], &OPTIONS[..], &["--seed", "3"]].concat());
    assert!(status == 200 && lines == told.stdout);
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().display().to_string();
    let captured =
        segue(&[&["trace", "--at", "8.2s", "--pcap", &out], &OPTIONS[..], &["--seed", "3"]].concat());
    assert!(captured.status.success());
    for scheme in ["etcp", "sack"] {
        let alone = QUESTION.replace("etcp,sack", scheme);
        let (status, packets) = server.get(&format!("/api/pcapng?{alone}&at=8.2s"));
        assert!(
            status == 200
                && packets
                    == std::fs::read(folder.path().join(format!("{scheme}.pcapng"))).expect("a capture")
        );
    }
}

#[test]
fn its_words_run_and_give_the_same_numbers() {
    let server = Server::start();
    for question in [
        QUESTION,
        "old=wlan&new=hsdpa",
        "old=200kbit/300ms&new=6400kbit/9ms&at=1s..5s/0.5s&stack=linux",
        "old=wlan&new=hsdpa&at=2s&schemes=sack&stack=linux-6.12&cc=bbr",
    ] {
        let (_, rows) = server.get(&format!("/api/compare?{question}"));
        let (_, view) = server.get(&format!("/view/compare?{question}"));
        let view: Value = serde_json::from_slice(&view).expect("JSON");
        let word = |key: &str| view[key].as_str().expect("words").to_string();
        assert_eq!(run(&word("command"), &["--json", "-"]), rows, "{question}");
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("scenario.toml");
        std::fs::write(&file, word("toml")).expect("written");
        let output = segue(&["run", file.to_str().expect("a path"), "--json", "-"]);
        assert!(output.stdout == rows, "{question}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// One link for each form of each word (docs/reference/links.md).
const WORDS: [&str; 24] = [
    "up=5mbit/30ms",
    "loss=1%",
    "up-loss=2%",
    "loss=ge(0.5%,30%)",
    "loss=ge(0.5%,30%,70%,1%)",
    "loss=ge(0.5%,30%)/1ms",
    "jitter=5ms",
    "jitter=pareto(5ms),reorder=1%",
    "jitter=5ms,reorder=all",
    "arq=10%/8ms",
    "vary=walk(30%)",
    "vary=markov(20%,2%,10%)",
    "reconfigure=15s@12s(80ms,10ms)",
    "queue=codel,ecn",
    "queue=fq_codel",
    "queue=pie",
    "queue=red,50p",
    "queue=droptail,100ms",
    "queue=2bdp",
    "shape=5mbit/64kB",
    "police=5mbit/64kB",
    "aggregate=64/200us",
    "grant=10ms/4ms",
    "up-queue=codel,up-jitter=3ms",
];

/// A word of a link means the same on the command line, in a file and to the explorer. Here are all words.
#[test]
fn every_word_of_links_means_the_same_everywhere() {
    for (word, _) in segue_world::access::WORDS {
        let is_there = |link: &&str| link.split(',').any(|one| one.split('=').next() == Some(word));
        assert!(WORDS.iter().any(is_there), "`{word}` is not tried here");
    }
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("words.toml");
    let path = file.to_str().expect("a path");
    for words in WORDS {
        let link = format!("10mbit/20ms,{words}");
        let how = ["8mbit/20ms", "--at", "2s", "--schemes", "sack", "--json", "-"];
        let told = segue(&[&["compare", &link], &how[..]].concat());
        assert!(told.status.success(), "{words}: {}", String::from_utf8_lossy(&told.stderr));
        let text = format!("old = '{link}'\nnew = '8mbit/20ms'\nat = '2s'\nschemes = ['sack']\n");
        std::fs::write(&file, text).expect("written");
        assert!(segue(&["run", path, "--json", "-"]).stdout == told.stdout, "{words}: a file");
        let coded = link.replace('%', "%25");
        let (status, rows) =
            server.get(&format!("/api/compare?old={coded}&new=8mbit/20ms&at=2s&schemes=sack"));
        assert!(status == 200 && rows == told.stdout, "{words}: {}", String::from_utf8_lossy(&rows));
    }
}

#[test]
fn twenty_at_once_are_all_answered() {
    let server = Server::start();
    let questions: Vec<String> = (0..20)
        .map(|k| format!("/view/compare?old={}kbit/9ms&new=200kbit/300ms&at=1s..10s/0.5s", 6400 + 100 * k))
        .collect();
    let streams: Vec<TcpStream> = questions.iter().map(|question| server.send(question)).collect();
    for (question, mut stream) in questions.iter().zip(streams) {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        assert!(answer.starts_with("HTTP/1.0 200"), "{question}: {}", &answer[..answer.len().min(300)]);
    }
}

/// Work for those who have gone would keep later ones waiting for many seconds.
#[test]
fn who_goes_away_stops_counting() {
    let server = Server::start();
    let heavy = |k: u32| {
        format!(
            "/api/compare?old=100mbit/200ms&new={}kbit/200ms&flows=8&schemes=sack,etcp,etcp-a5,etcp-v0,etcp-v1,etcp:a1,etcp:a2,etcp:a3",
            99_000 + k
        )
    };
    let streams: Vec<TcpStream> = (0..40).map(|k| server.send(&heavy(k))).collect();
    std::thread::sleep(Duration::from_millis(500));
    drop(streams);
    let before = server.used();
    assert_eq!(server.get("/api/compare?old=wlan&new=hsdpa&at=5s").0, 200);
    let used = server.used() - before;
    // Forty of them, each of which takes more than five seconds.
    assert!(used < Duration::from_secs(40), "{used:?}");
}

/// The links of Daniel and Kojo (2009), there and back.
const PAPER_LINKS: [(&str, &str); 8] = [
    ("6400kbit/9ms", "200kbit/300ms"),
    ("200kbit/300ms", "6400kbit/9ms"),
    ("54mbit/2ms", "2000kbit/50ms"),
    ("2000kbit/50ms", "54mbit/2ms"),
    ("11000kbit/10ms", "700kbit/75ms"),
    ("700kbit/75ms", "11000kbit/10ms"),
    ("54mbit/4ms", "6000kbit/50ms"),
    ("6000kbit/50ms", "54mbit/4ms"),
];

/// How long the page waits for what it shows of a question.
struct Waited {
    /// Until it shows a comparison of some handoffs: heading, medians and pictures.
    first: Duration,
    /// Until it shows one handoff.
    handoff: Duration,
    /// Until it shows the comparison of all; nothing if that takes too long.
    whole: Option<Duration>,
}

/// Asks as the page does: for a comparison that grows, with one handoff beside.
fn page(server: &Server, question: &str, soon: &str, at: &str) -> Waited {
    let comparison = format!("/view/compare?{question}&within={soon}&drawn={at}");
    let begun = Instant::now();
    let mut lines = BufReader::new(server.send(&comparison)).lines().map(|line| line.expect("an answer"));
    let status = lines.next().expect("a status");
    assert!(status.starts_with("HTTP/1.0 200"), "{comparison}: {status}");
    let (mut first, mut handoff, mut last) = (None, None, String::new());
    for line in lines.skip_while(|line| !line.starts_with('{')) {
        if line.starts_with("{\"handoff\"") {
            handoff = Some(begun.elapsed());
            assert!(line.contains("<svg"), "{comparison}: {}", &line[..line.len().min(300)]);
        } else {
            first.get_or_insert_with(|| begun.elapsed());
            last = line;
        }
    }
    let whole = begun.elapsed();
    let view: Value = serde_json::from_str(&last).expect("JSON");
    let is_whole = view["points"].is_u64() && view["points"] == view["of"];
    assert!(is_whole || view["error"].to_string().contains("takes longer"), "{comparison}");
    let [first, handoff] = [first, handoff].map(|time| time.expect("it came"));
    Waited { first, handoff, whole: is_whole.then_some(whole) }
}

fn tell_both(what: &str, waited: &[Waited]) {
    tell(&format!("{what}, something new"), waited.iter().map(|one| one.first).collect());
    tell(&format!("{what}, one handoff"), waited.iter().map(|one| one.handoff).collect());
    tell(&format!("{what}, the comparison of all"), waited.iter().filter_map(|one| one.whole).collect());
}

fn tell(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let part = |percent: usize| times[(times.len() - 1) * percent / 100].as_millis();
    println!(
        "{what}: {} pages, median {} ms, 95th percentile {} ms, longest {} ms",
        times.len(),
        part(50),
        part(95),
        part(100)
    );
}

/// Links of today, there and back.
const LINKS_OF_TODAY: [(&str, &str); 8] = [
    ("wifi6", "lte"),
    ("lte", "5g"),
    ("leo", "5g"),
    ("geo", "wifi6"),
    ("dsl", "5g"),
    ("train", "lte-edge"),
    ("fibre", "wifi5-busy"),
    ("5g", "5g-mmwave"),
];

/// The same as below for links of today, one page at a time.
#[test]
#[ignore = "a measurement: make measure"]
fn answers_over_links_of_today() {
    let server = Server::start();
    let soon = server.soon();
    let ways = LINKS_OF_TODAY.into_iter().flat_map(|(old, new)| [(old, new), (new, old)]);
    let mut waited = Vec::new();
    for (old, new) in ways {
        for more in ["kind=mbb", "kind=bbm", "kind=bbm&disconnect=300ms&traffic=download,page", "kind=soft"] {
            waited.push(page(&server, &format!("old={old}&new={new}&{more}"), &soon, "usual"));
        }
    }
    tell_both("one at a time", &waited);
}

/// How long the page waits until it shows something new, and all; and what twenty such pages do at once
/// (docs/reference/explorer.md has the figures).
#[test]
#[ignore = "a measurement: make measure"]
fn answers_over_the_paper_links() {
    let server = Server::start();
    let soon = server.soon();
    let mut questions = Vec::new();
    for (old, new) in PAPER_LINKS {
        for kind in ["mbb", "bbm"] {
            for flows in [1, 2, 4] {
                for schemes in ["sack,etcp-v1", "sack,etcp,etcp-v1"] {
                    questions
                        .push(format!("old={old}&new={new}&kind={kind}&flows={flows}&schemes={schemes}"));
                }
            }
        }
    }
    let waited: Vec<Waited> =
        questions.iter().map(|question| page(&server, question, &soon, "usual")).collect();
    tell_both("one at a time", &waited);
    let others: Vec<String> = questions.iter().map(|question| format!("{question}&seed=2")).collect();
    let (server, soon) = (&server, soon.as_str());
    let waited: Vec<Waited> = std::thread::scope(|scope| {
        let clients: Vec<_> = others
            .chunks(others.len().div_ceil(20))
            .map(|own| {
                let pages = own.iter().map(|question| page(server, question, soon, "usual"));
                scope.spawn(move || pages.collect::<Vec<_>>())
            })
            .collect();
        clients.into_iter().flat_map(|client| client.join().expect("no panic")).collect()
    });
    tell_both("twenty at once", &waited);
}
