//! Mistakes on the command line: each has one line, which says what was expected, and status 2.

use super::cli::segue;

/// Each mistake, and a part of the one line that must be said about it.
#[test]
fn mistakes_end_with_status_2_and_one_line() {
    let bad = [
        ("compare wlam wlan", "did you mean `wlan`"),
        ("compare Cubic wlan", "; `cubic` is a scheme: --schemes cubic"),
        ("compare quic wlan", "quic-reset does what QUIC does"),
        ("compare wlan egprs --schemes wlan", "; `wlan` is a link"),
        ("compare 6400kbit 200kbit/300ms", "expected RATE/DELAY"),
        ("compare 0kbit/9ms wlan", "bad rate `0kbit`"),
        ("compare -5kbit/9ms wlan", "'-5' found; expected a link, RATE/DELAY, with a rate above 0"),
        ("trace wlan -0.5kbit/9ms --at 5s", "'-0' found; expected a link, RATE/DELAY, with a rate above 0"),
        ("compare 6400kbit/-9ms wlan", "bad delay `-9ms`"),
        ("compare 6400parsec/9ms wlan", "bad rate `6400parsec`"),
        ("compare nankbit/9ms wlan", "bad rate `nankbit`"),
        ("compare 1e99kbit/9ms wlan", "bad rate `1e99kbit`"),
        ("compare trace: wlan", "cannot read"),
        ("compare trace:/nowhere/x wlan", "cannot read /nowhere/x"),
        ("compare trace:/dev/null wlan", "trace is empty"),
        ("compare trace:/dev/null,queue=-1 wlan", "bad queue `-1`"),
        ("compare trace:/dev/null,delay=1ms,delay=2ms wlan", "`delay=` is given twice"),
        ("compare wlan", "<NEW>"),
        ("comparison wlan", "--help lists the commands"),
        ("comapre wlan egprs", "did you mean `compare`"),
        ("compare wlan egprs --schemes sak", "did you mean `sack`"),
        ("compare wlan egprs --schemes etcp:a9", "a9"),
        ("compare wlan egprs --schemes sack,sack", "twice"),
        ("compare wlan egprs --schemes ,", "unknown scheme"),
        ("compare wlan egprs --stack rcf", "did you mean `rfc`"),
        ("compare wlan egprs --kind mbx", "did you mean `mbb`"),
        ("compare wlan egprs --kind mbb,bbm,mbb", "--kind: `mbb` is given twice"),
        ("compare wlan egprs --flows 0", "1 to 1000"),
        ("compare wlan egprs --flows -1", "whole numbers"),
        ("compare wlan egprs --packets -1", "invalid value '-1' for '--packets <P>'"),
        ("compare wlan egprs --seed -1", "invalid value '-1' for '--seed <SEED>'"),
        ("compare wlan egprs --flows two", "whole numbers"),
        ("compare wlan egprs --at 20s..1s/1s", "comes after the last"),
        ("compare wlan egprs --at 4000s", "at most 3600 s"),
        ("compare wlan egprs --packets 0", "1 to 1000000"),
        ("compare wlan egprs --packets 999999999999", "1 to 1000000"),
        ("compare wlan trace:", "cannot read ``: there is no such file"),
        (
            "sweep ../../examples/sweep-small.toml --out /",
            "cannot write rows to /; expected the name of a file",
        ),
        ("compare wlan egprs --disconnect 0s --kind bbm", "above 0"),
        ("compare wlan egprs --disconnect 2s", "expected --kind bbm"),
        ("compare wlan egprs --disconnect 1s --kind mbb", "expected --kind bbm"),
        ("trace wlan egprs --at 5s --disconnect 2s", "expected --kind bbm"),
        ("compare wlan egprs --kind bbm --disconnect 2s,2s", "--disconnect: 2 s is given twice"),
        (
            "compare wlan egprs --kind bbm --disconnect 2s,",
            "'--disconnect <TIME,...>' has an empty value; expected one or more, with a comma between two",
        ),
        (
            "compare wlan egprs --at 0.0001us",
            "`0.0001us` is below the resolution; expected 0s, or 1ns or more",
        ),
        (
            "compare wlan egprs --notice-error late=0.0001us",
            "bad late `0.0001us`; expected 0s, or 1ns or more",
        ),
        ("compare wlan egprs --set notice-delay=0.1ns", "expected 0s, or 1ns or more"),
        (
            "compare wlan trace:/proc/nowhere",
            "link `trace:/proc/nowhere`: cannot read /proc/nowhere: there is no such file; expected a file in mahimahi's",
        ),
        ("compare wlan egprs --json /proc/nowhere/x.json", "cannot write /proc/nowhere/x.json: "),
        ("man --out /proc/nowhere", "cannot write manual pages to /proc/nowhere: "),
        (
            "schemes linux-6.12/bbr2",
            "stack `linux-6.12` has no congestion control `bbr2`; expected one of cubic, reno, bbr, bbr3, leocc; did you mean",
        ),
        ("schemes rfc/bbr", "stack `rfc` has no choice of congestion control; expected rfc alone"),
        ("schemes linux-6.21", "unknown scheme or stack `linux-6.21`; did you mean `linux-6.1"),
        ("trace wlan egprs --at 5s --kind bbm --disconnect 1s,2s", "expected one time"),
        (
            "compare --shcemes sack,etcp wlan hsdpa",
            "unexpected argument '--shcemes' found; did you mean `--schemes`?",
        ),
        (
            "compare wlan --shcemes sack,etcp hsdpa",
            "unexpected argument '--shcemes' found; did you mean `--schemes`?",
        ),
        (
            "compare wlan hsdpa --shcemes sack,etcp",
            "unexpected argument '--shcemes' found; did you mean `--schemes`?",
        ),
        (
            "compare wlan hsdpa --neighbours 3 cubik",
            "--neighbours: unknown congestion control `cubik`; expected one of bbr, bbr3, cubic, leocc, reno; did you mean `cubic`?",
        ),
        ("trace --ta 5s wlan hsdpa", "unexpected argument '--ta' found"),
        ("compare --verbose wlan hsdpa", "unexpected argument '--verbose' found"),
        ("compare -v wlan hsdpa", "unexpected argument '-v' found"),
        ("trace wlan hsdpa --both-ways", "expected one of the options that `segue trace --help` lists"),
        ("trace wlan hsdpa -x", "expected one of the options that `segue trace --help` lists"),
        ("compare wlan egprs --columns foo", ", or a heading of the table"),
        ("compare wlan wlam-low", "wifi6 to train also with -low or -high"),
        ("compare wlan egprs --set a1-in-bbm=perhaps", "expected on or off"),
        ("compare wlan egprs --set a1-in-bbm=on --set a1-in-bbm=off", "--set: `a1-in-bbm` is given twice"),
        ("trace wlan egprs --at 5s --story --json -", "expected a file for that, or no --story"),
        ("trace wlan egprs --at 5s --all --json -", "expected a file for that, or no --all"),
        ("compare wlan egprs --set a1-in-bb=on", "did you mean `a1-in-bbm`"),
        ("compare wlan egprs --set initial-window=x", "1 to 1000 packets"),
        ("compare wlan egprs --set novalue", "KEY=VALUE"),
        ("compare wlan egprs --stack linux-6.12 --set rto-tick-ms=10", "no meaning on linux-6.12/cubic"),
        (
            "compare wlan egprs --set hz=1000",
            "no meaning on ns2-sack1; expected a stack such as linux-6.12/cubic",
        ),
        ("compare wlan egprs --stack linux-6.12/cubic --cc bbr", "beside the stack `linux-6.12/cubic`"),
        ("compare leo 5g --schemes satcp --cc bbr", "`satcp` does not run on `linux-6.12/bbr` with bbr"),
        (
            "compare leo 5g --schemes rtt-jump --set detector=hmm --set jump-factor=4",
            "jump-factor has no meaning with detector=hmm",
        ),
        ("man --out=", "expected a folder"),
        ("compare wlan egprs --notice-loss 1", "in-band"),
        ("compare wlan egprs --notice in-band --notice-loss 3", "expected 0 to 2"),
        ("compare wlan egprs --seeds 0", "1 to 100000"),
        ("compare wlan egprs --threads 0", "expected 1 to 1024"),
        ("compare wlan egprs --json - --csv -", "at most one -"),
        ("compare wlan egprs --json /proc/nowhere/a.json", "cannot write /proc/nowhere/a.json"),
        ("compare wlan egprs --seed 18446744073709551615", "2^64"),
        ("compare wlan egprs --seed 18446744073709551613 --seeds 5", "2^64"),
        ("compare wlan egprs --flows 1,1", "twice"),
        ("compare wlan egprs --json same.json --rows ./same.json", "one file twice"),
        ("compare wlan egprs --stack RFD", "did you mean `rfc`"),
        ("compare wlan egprs --set foo=1", "segue schemes NAME lists"),
        ("compare wlan egprs --notice in-band --set notice-delay=1s", "instant notices"),
        ("compare wlan egprs --color blue", "expected one of auto, always, never"),
        ("compare wlan egprs --threads -1", "invalid value '-1' for '--threads <N>': expected 1 to 1024"),
        (
            "compare wlan egprs --notice-loss -1",
            "invalid value '-1' for '--notice-loss <K>': expected 0 to 2",
        ),
        ("run a.toml --points -1", "invalid value '-1' for '--points <N>': expected 1 to 4294967295"),
        (
            "compare wlan egprs --schemes cubic --cc bbr",
            "--cc: `bbr` reaches no scheme: each is a congestion",
        ),
        (
            "compare wlan egprs --set router-buffer=new-lcfd",
            "`router-buffer` has nothing to act on; expected --kind",
        ),
        (
            "compare wlan egprs --kind bbm --set tunnel=1mbit/1ms",
            "`tunnel` has nothing to act on; expected router-",
        ),
        (
            "trace-links leo --out /proc/nowhere/leo",
            "--out /proc/nowhere/leo: cannot write /proc/nowhere/leo.down: there is no such folder; expected names in a",
        ),
        ("schemes sak", "did you mean `sack`"),
        ("reproduce 001 --check --out x", "--out: --check draws nothing"),
        (
            "reproduce 17a",
            "; a figure stands behind its paper, with all its panels; did you mean `001 fig17` or `000 fig17`",
        ),
        (
            "compare wlan hsdpa --set told-rate=0.5",
            "unknown setting `told-rate`; none of the chosen schemes nor their stacks has it; expected one that segue schemes NAME lists; `near` has it",
        ),
        (
            "compare wlan hsdpa --schemes near --stack linux-6.12 --set announce=auto",
            "`announce` is for notices in band; expected --notice in-band beside it",
        ),
        (
            "compare wlan hsdpa --schemes near --stack linux-6.12 --notice in-band --kind bbm --set announce=auto",
            "`announce` is for handoffs without an outage; expected --kind mbb beside it",
        ),
        (
            "compare wlan hsdpa --schemes near --notice in-band --kind mbb --set announce=auto",
            "announce needs enact=linux, as on linux-6.12; expected that, or off",
        ),
        (
            "compare wlan hsdpa --schemes near --stack linux-6.12 --notice in-band --kind mbb --set announce=2s",
            "`2s` is no value of announce; expected off, auto, or a time up to 1s",
        ),
        ("reproduce Daniel-Kojo-2009-Multiflow fig99", "unknown figure `fig99`"),
        ("completions basch", "did you mean `bash`"),
        ("compare wlan hsdpa --columns mediam", "did you mean `median`"),
        ("compare wlan hsdpa --columns q1,q1", "`q1` is given twice"),
        ("compare wlan hsdpa --columns q1 --wide", "cannot be used with '--wide'"),
        ("explain A99", "nothing is called `A99`"),
    ];
    for (line, part) in bad {
        let args: Vec<&str> = line.split_whitespace().collect();
        let output = segue(&args);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{line}: {message}");
        assert_eq!(message.lines().count(), 1, "{line}: {message}");
        assert!(message.contains(part), "{line}: {message}");
        assert!(output.stdout.is_empty(), "{line}");
    }
}

#[test]
fn bad_traces_name_file_and_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        path.display().to_string()
    };
    for (name, text, part) in [
        ("unsorted", "5\n3\n", "line 2"),
        ("words", "1\ntwo\n", "line 2: `two`"),
        ("zero", "0\n0\n", "lasts 0 ms"),
    ] {
        let link = format!("trace:{}", write(name, text));
        let output = segue(&["compare", &link, "wlan"]);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2));
        assert!(message.contains(part) && message.contains(name), "{message}");
    }
}

/// A table in Parquet is no text, but what it is can be told.
#[test]
fn a_result_in_parquet_is_recognised() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("rows.parquet").display().to_string();
    std::fs::write(&file, b"PAR1\x15\xff").expect("written");
    let out = folder.path().join("new.parquet").display().to_string();
    for command in [&["run", &file][..], &["sweep", &file, "--out", &out]] {
        let output = segue(command);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains("this is Parquet, perhaps a result; expected a s"), "{message}");
    }
}
