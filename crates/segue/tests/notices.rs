//! Notices that err, `--notice-error`, as a user meets them.

use crate::folder::{segue, stdout};

const HANDOFFS: &str = "compare 2mbit/30ms 6mbit/60ms --at 1s..4s/0.5s --seeds 2 --schemes sack,near";
const ERROR: &str = "--notice-error rate=4x,delay=30ms,late=200ms";

/// A command, a scenario file and a sweep say the same; regular TCP hears nothing of it.
#[test]
fn commands_and_files_agree() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let wrong = stdout(&segue(here, &format!("{HANDOFFS} {ERROR} --json -")));
    let right = stdout(&segue(here, &format!("{HANDOFFS} --json -")));
    let row = |text: &str, scheme: &str| -> serde_json::Value {
        let document: serde_json::Value = serde_json::from_str(text).expect("JSON");
        let rows = document["rows"].as_array().expect("rows").clone();
        rows.into_iter().find(|row| row["scheme"] == scheme).expect("a row")
    };
    let said = &row(&wrong, "near")["settings"]["notice-error"];
    assert_eq!(said, "rate=4x,delay=30ms,late=200ms");
    assert!(!right.contains("notice-error"));
    assert_eq!(row(&wrong, "sack")["transfer_s"], row(&right, "sack")["transfer_s"]);
    let median = |text| row(text, "near")["transfer_s"]["median"].as_f64().expect("a time");
    assert!(median(&wrong) > median(&right), "{} {}", median(&wrong), median(&right));
    assert_eq!(wrong, stdout(&segue(here, &format!("{HANDOFFS} {ERROR} --json - --threads 1"))));

    let scenario = "old = '2mbit/30ms'\nnew = '6mbit/60ms'\nat = '1s..4s/0.5s'\nseeds = 2\n\
                    schemes = ['sack', 'near']\nnotice_error = ";
    std::fs::write(here.join("one.toml"), format!("{scenario}'rate=4x,delay=30ms,late=200ms'\n")).unwrap();
    assert_eq!(wrong, stdout(&segue(here, "run one.toml --json -")));
    let sweep = format!("{scenario}['rate=1x', 'rate=4x,delay=30ms,late=200ms']\n");
    std::fs::write(here.join("many.toml"), sweep).unwrap();
    stdout(&segue(here, "sweep many.toml --out many.parquet"));
    assert!(std::fs::metadata(here.join("many.parquet")).unwrap().len() > 1000);
}

/// A table says on which TCP, and how senders were told, unless that is as usual.
#[test]
fn a_heading_names_the_stack_and_the_notice() {
    let folder = tempfile::tempdir().unwrap();
    let heading = |more: &str| {
        let question = "compare 2mbit/30ms 6mbit/60ms --at 3s --schemes";
        let table = stdout(&segue(folder.path(), &format!("{question} {more}")));
        let (heading, _) = table.split_once("\nscheme").expect("a table");
        let heading = heading.split_whitespace().collect::<Vec<_>>().join(" ");
        let (_, after) = heading.split_once("make-before-break, 1 flow; ").expect("a heading");
        after.split("bound ").next().unwrap_or_default().to_string()
    };
    for (more, said) in [
        ("sack", ""),
        ("cubic", ""),
        ("sack --stack rfc", "rfc; "),
        ("sack --stack linux-6.12", "linux-6.12/cubic; "),
        ("sack,etcp-v1 --stack linux-6.12 --cc bbr", "linux-6.12/bbr; "),
        ("cubic,bbr,sack --stack linux-6.12", "linux-6.12/cubic and linux-6.12/bbr; "),
        ("sack,etcp --notice in-band", "notice in-band; "),
        ("sack,etcp --notice in-band --notice-loss 1", "notice in-band, first copy lost; "),
        ("sack,etcp --notice in-band --notice-loss 2", "notice in-band, both copies lost; "),
        (
            "sack,near --notice in-band --notice-error rate=2x --stack linux-6.12",
            "linux-6.12/cubic; notice in-band; notice errs by rate=2x; ",
        ),
    ] {
        assert_eq!(heading(more), said, "{more}");
    }
}

/// A trace tells what was told; a diff and a report tell that notices erred.
#[test]
fn everything_that_shows_a_result_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    stdout(&segue(here, &format!("{HANDOFFS} {ERROR} --json wrong.json --report wrong.html")));
    stdout(&segue(here, &format!("{HANDOFFS} --json right.json")));
    let diff = stdout(&segue(here, "diff right.json wrong.json"));
    assert!(diff.contains("settings: none | notice-error=rate=4x,delay=30ms,late=200ms"), "{diff}");
    let page = std::fs::read_to_string(here.join("wrong.html")).unwrap();
    assert!(page.contains("wrong by up to rate=4x,delay=30ms,late=200ms, drawn for each handoff"));

    let trace = "trace 2mbit/30ms 6mbit/60ms --at 3s --schemes sack,near";
    let lines = stdout(&segue(here, &format!("{trace} {ERROR} --json -")));
    let runs: Vec<serde_json::Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .filter(|line: &serde_json::Value| line["event"] == "run")
        .collect();
    let told = |key: &str| runs[1]["told"][key].as_u64().expect("a number");
    assert_eq!(runs[0]["told"], runs[1]["told"], "the same for both schemes");
    assert!((1500..=24_000).contains(&told("rate_kbps")) && told("rate_kbps") != 6000);
    assert!((30_000..=90_000).contains(&told("delay_us")) && told("late_ns") <= 200_000_000);
    let story = stdout(&segue(here, &format!("{trace} {ERROR} --story")));
    let said = format!(
        "the notice errs: {:.3} s late it tells {} kbit/s and {} ms of the new link",
        told("late_ns") as f64 / 1e9,
        told("rate_kbps"),
        told("delay_us") as f64 / 1e3
    );
    let unwrapped = story.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(unwrapped.matches(&said).count(), 1, "{said}\n{story}");
    let plain = stdout(&segue(here, &format!("{trace} --json -")));
    assert!(!plain.contains("\"told\""), "nothing new without the option");
}

#[test]
fn mistakes_end_with_status_2_and_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let scenario = "old = 'wlan'\nnew = 'egprs'\n";
    for (name, line) in [
        ("a.toml", "notice_error = 'rat=2x'"),
        ("b.toml", "notice_error = 'late=1s'\n[settings]\nnotice-error = 'late=2s'"),
        ("c.toml", "[settings]\nnotice-error = 'rate=0x'"),
    ] {
        std::fs::write(here.join(name), format!("{scenario}{line}\n")).unwrap();
    }
    std::fs::write(here.join("sweep.toml"), format!("{scenario}notice_error = ['late=1s', 'late=1s']\n"))
        .unwrap();
    let bad = [
        (
            "compare wlan egprs --notice-error rate=0.5x",
            "--notice-error: bad rate `0.5x`; expected rate=2x, a",
        ),
        ("compare wlan egprs --notice-error lat=1s", "did you mean `late`?"),
        ("compare wlan egprs --notice-error late=1s,late=1s", "`late=` is given twice"),
        ("compare wlan egprs --notice-error=", "unknown part ``"),
        ("trace wlan egprs --at 5s --notice-error delay=-1ms", "--notice-error: bad delay `-1ms`"),
        (
            "compare wlan egprs --notice-error late=1s --set notice-error=late=1s",
            "`notice-error` is given twice",
        ),
        ("run a.toml", "a.toml, line 3, column 16: notice_error: unknown part `rat`"),
        (
            "run b.toml",
            "b.toml, line 3, column 16: `notice_error` stands in `settings`, too; expected it once",
        ),
        ("run c.toml", "c.toml, line 4, column 16: notice_error: bad rate `0x`"),
        ("sweep sweep.toml --out x.parquet", "notice_error: the value is given twice"),
    ];
    for (words, part) in bad {
        let output = segue(here, words);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{words}: {message}");
        assert_eq!(message.lines().count(), 1, "{words}: {message}");
        assert!(message.contains(part), "{words}: {message}");
        assert!(output.stdout.is_empty(), "{words}");
    }
}

/// Regular TCP hears of no link: only the bound given the notice, which comes later, changes.
#[test]
fn an_error_that_nobody_hears_is_said_to_be_so() {
    let folder = tempfile::tempdir().unwrap();
    let said = |schemes: &str| {
        let asked = format!("compare wlan egprs --at 5s --schemes {schemes} {ERROR}");
        let told = stdout(&segue(folder.path(), &asked));
        told.split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .contains("no scheme here is told of the new link")
    };
    assert!(said("sack,satcp") && !said("sack,etcp-v1") && !said("sack,mobile"));
}
