//! Words of links on the command line and in scenario files, `segue links`, `segue trace-links`.

use crate::folder::{segue, stdout};
use std::path::Path;
use std::process::Command;

fn here() -> &'static Path {
    Path::new(".")
}

/// The same bytes on any number of threads, from a command line and from a scenario file, and others with another seed.
#[test]
fn words_work_in_commands_and_files() {
    let folder = tempfile::tempdir().unwrap();
    let [old, new] = ["20mbit/5ms,loss=ge(0.5%,30%),queue=fq_codel", "lte,up=5mbit,jitter=8ms,reorder=1%"];
    let rest = "--at 1s..3s/0.5s --kind mbb,bbm --seeds 2 --json -";
    let one = stdout(&segue(folder.path(), &format!("compare {old} {new} {rest} --threads 1")));
    assert_eq!(one, stdout(&segue(folder.path(), &format!("compare {old} {new} {rest} --threads 3"))));
    assert_ne!(one, stdout(&segue(folder.path(), &format!("compare {old} {new} {rest} --seed 7"))));
    let scenario = format!(
        "old = \"{old}\"\nnew = \"{new}\"\nat = \"1s..3s/0.5s\"\nkind = [\"mbb\", \"bbm\"]\nseeds = 2\n\
         schemes = [\"sack\", \"etcp-v1\"]\n"
    );
    std::fs::write(folder.path().join("words.toml"), scenario).unwrap();
    assert_eq!(one, stdout(&segue(folder.path(), "run words.toml --json -")));
}

/// Losses of a link are told apart from those of a queue.
#[test]
fn losses_have_their_cause() {
    let trace = "trace wlan 6400kbit/9ms,loss=10% --at 2s --schemes sack";
    let story = stdout(&segue(here(), &format!("{trace} --story")));
    assert!(story.contains("lost on the new link") && story.contains("on links that were up: "), "{story}");
    let lines = stdout(&segue(here(), &format!("{trace} --json -")));
    let lost = lines.lines().filter(|line| line.contains("\"lose\""));
    let on_links = lost.filter(|line| line.contains("\"while_up\":true")).count();
    assert!(on_links > 3, "{on_links} losses");
    let clean = stdout(&segue(here(), "trace wlan 6400kbit/9ms --at 2s --schemes sack --json -"));
    assert!(!clean.contains("while_up") && !clean.contains("link_losses"), "nothing new without a word");
}

/// A burst of 15 losses, counted in packets, swallows 15 lone ACKs of a sender that waits for its timer: 2^15 s. The
/// heading says so. Bursts of 3.3 ms, as the preset has them, end before the next timeout.
#[test]
fn bursts_that_outlast_the_transfer_are_told() {
    let rest = "5g --kind bbm --disconnect 300ms --handoffs 2 --every 15s --at 3s..7s/2s --schemes sack";
    let told = |link: &str| {
        let text = stdout(&segue(here(), &format!("compare {link} {rest}")));
        let heading = text.replace('\n', " ");
        (heading.contains("bursts of losses here last while nobody sends"), heading.contains(" inf "), text)
    };
    let (said, incomplete, text) = told("leo,loss=ge(0.15%,30%)");
    assert!(said && incomplete, "{text}");
    let (said, incomplete, text) = told("leo");
    assert!(!said && !incomplete, "{text}");
}

#[test]
fn mistakes_end_with_status_2_and_one_line() {
    let bad = [
        ("compare wlan,loss=100% wlan", "bad loss `100%`; expected 0% to less than 100%"),
        ("compare wlan,jitter=-5ms wlan", "bad jitter `-5ms`"),
        ("compare queue=codel wlan", "expected RATE/DELAY"),
        ("compare wlan,queue=cdel wlan", "did you mean `codel`?"),
        ("compare wlan,lss=1% wlan", "did you mean `loss`?"),
        ("compare wifi7 wlan", "did you mean `wifi6`?"),
        ("compare wlan,ecn wlan", "`ecn` marks where a queue would drop early"),
        ("trace-links leo --out x --length 0s", "expected 0.1s to 3600s"),
        ("trace-links 10bit/5ms --out x", "no packet of 1500 bytes gets through within 60 s"),
        (
            "trace-links 100gbit/1ms --out x --length 600s",
            "more than 100000000 packets of 1500 bytes within 600 s, which is the limit of a trace; expected a \
             --length of less than 12.001 s",
        ),
        ("trace-links leo --out /dev/full", "--out /dev/full: it is there, and nothing is written to it"),
        ("trace-links leoo --out x", "did you mean `leo`?"),
        ("compare trace:holes,loss=1% wlan", "line 3: `` is not a number"),
        ("compare trace:back,loss=1% wlan", "line 2: 3 ms comes after 5 ms"),
    ];
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("back"), "5\n3\n").unwrap();
    std::fs::write(folder.path().join("holes"), "5\n6\n-\n8\n").unwrap();
    for (words, part) in bad {
        let output = segue(folder.path(), words);
        let line = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), line.lines().count()), (Some(2), 1), "{words}: {line}");
        let part = part.replace("``", "`-`");
        assert!(line.contains(&part), "{words}: {line}");
        assert!(!folder.path().join("x.down").exists() && !folder.path().join("x.up").exists(), "{words}");
    }
}

/// A file that `trace-links` writes can be read as `trace:`: the mean rates agree, and each seed is another day.
#[test]
fn a_written_trace_can_be_compared() {
    let folder = tempfile::tempdir().unwrap();
    let told = stdout(&segue(folder.path(), "trace-links lte --out day1 --length 30s"));
    assert!(told.starts_with("day1.down: ") && told.lines().count() == 2, "{told}");
    let text =
        stdout(&segue(folder.path(), "compare trace:day1.down,up=day1.up,delay=30ms wlan --at 2s --csv -"));
    assert!(text.lines().count() > 1, "{text}");
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    let first = read("day1.down");
    stdout(&segue(folder.path(), "trace-links lte --out day1 --length 30s"));
    assert_eq!(first, read("day1.down"));
    stdout(&segue(folder.path(), "trace-links lte --out day2 --length 30s --seed 2"));
    assert_ne!(first, read("day2.down"));
}

/// A fast link's trace goes into its file as it comes: its opportunities alone would need 40 MB here.
#[test]
fn a_trace_is_never_in_memory_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let limited = |megabytes: u64, words: &str| {
        let line = format!("ulimit -v {}; exec \"$0\" {words}", megabytes << 10);
        let mut shell = Command::new("sh");
        shell.current_dir(folder.path()).args(["-c", &line, env!("CARGO_BIN_EXE_segue")]).output().unwrap()
    };
    // The memory that the program needs for a trace of no size.
    let fits = |megabytes: &u64| limited(*megabytes, "trace-links 1mbit/1ms --out small").status.success();
    let needs = (1..64).map(|step| step * 8).find(fits).expect("some memory");
    let told = stdout(&limited(needs + 8, "trace-links 1gbit/1ms,up=1mbit --out big"));
    assert!(told.starts_with("big.down: 5000000 opportunities, 1000000 kbit/s\n"), "{told}");
    let lines = std::fs::read_to_string(folder.path().join("big.down")).unwrap();
    assert!(lines.lines().count() == 5_000_000 && lines.ends_with("\n60000\n"));
}

/// A name alone shows its link, and its variants.
#[test]
fn a_link_is_shown_by_its_name() {
    let told = |words: &str| stdout(&segue(here(), words));
    assert_eq!(told("links hsdpa"), "  hsdpa           2000kbit/50ms\n");
    let of_today = told("links 5g");
    assert!(["5g: ", "5g-low", "5g-high"].iter().all(|part| of_today.contains(part)), "{of_today}");
    assert!(!of_today.contains("mmwave") && told("links 5G-high") == of_today);
    for (words, part) in [
        ("links 5f", "did you mean `5g`"),
        ("links loss", "`segue explain loss` tells"),
        ("links x y", "`x`"),
    ] {
        let line = String::from_utf8(segue(here(), words).stderr).expect("UTF-8");
        assert!(line.contains(part) && line.lines().count() == 1, "{words}: {line}");
    }
}

/// The list can be typed in again, each of it.
#[test]
fn links_are_listed() {
    let text = stdout(&segue(here(), "links"));
    for name in [
        "egprs",
        "wifi6",
        "wifi5-busy",
        "5g",
        "5g-mmwave",
        "lte",
        "lte-edge",
        "leo",
        "geo",
        "dsl",
        "fibre",
        "train",
    ] {
        assert!(text.lines().any(|line| line.split_whitespace().next() == Some(name)), "{name}: {text}");
    }
    let page = include_str!("../../../docs/reference/links.md");
    for line in text.lines().skip_while(|line| !line.starts_with("Words")).skip(1).take(10) {
        let word = line.split_whitespace().next().expect("a word");
        assert!(page.contains(&format!("| `{word}=")), "docs/reference/links.md lacks {word}");
    }
}
