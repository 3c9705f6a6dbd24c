//! `segue sweep` and `segue merge` as a user meets them: the examples, killed, on a full disk, in shards, bad words.

use segue_tables::ParquetReader;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

fn segue_in(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_segue")).args(args).current_dir(folder).output().expect("segue starts")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

const SWEEP: &str = "pairs = [['wlan', 'egprs'], ['wlan', '6400kbit/9ms']]\nboth_ways = true\nkind = ['mbb', 'bbm']\n\
    flows = [1, 2, 4]\nschemes = ['sack', 'etcp-v1', 'freeze']\nat = '1s..9s/2s'\n";

/// A folder with a sweep in `s.toml`.
fn folder_with(sweep: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("s.toml"), sweep).expect("written");
    folder
}

/// The names in a folder, sorted; none if there is no folder.
fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// The whole sweep, computed at once.
fn whole(folder: &Path) -> Vec<u8> {
    let output = segue_in(folder, &["sweep", "s.toml", "--out", "whole.parquet"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    std::fs::read(folder.join("whole.parquet")).expect("a file")
}

#[test]
fn examples_are_sweeps() {
    let folder = tempfile::tempdir().expect("a folder");
    let example = |name: &str| root().join("examples").join(name).display().to_string();
    let output = segue_in(folder.path(), &["sweep", &example("sweep-small.toml"), "--out", "small.parquet"]);
    assert_eq!(text(&output.stdout), "small.parquet: 1440 rows\n", "{}", text(&output.stderr));
    assert_eq!(files(folder.path()), ["small.parquet"]);
    let reader = ParquetReader::open(&folder.path().join("small.parquet")).expect("a good file");
    let rows = |index| reader.row_group(index).expect("a row group").num_rows();
    assert_eq!((0..reader.row_groups()).map(rows).sum::<usize>(), 1440);
    let output = segue_in(folder.path(), &["sweep", &example("sweep-million.toml"), "--list"]);
    let lines = text(&output.stdout);
    assert!(lines.ends_with("1036800 rows in 128 parts\n"), "{lines}{}", text(&output.stderr));
    // 16 schemes on that stack, 3 new links, 2 kinds, 200 handoff times.
    assert!(lines.starts_with("1: egprs, 1 flow, ns2-sack1, seed 1: 19200 rows\n"), "{lines}");
    // 100 pairs, make-before-break and four outages, 4 numbers of flows, 20 handoff times, two schemes.
    let output = segue_in(folder.path(), &["sweep", &example("near-all.toml"), "--list"]);
    assert!(text(&output.stdout).contains("\n80000 rows in "), "{}", text(&output.stderr));
}

#[test]
fn the_schema_in_docs_is_current() {
    let made = text(&segue_in(&root(), &["sweep", "--schema"]).stdout);
    let kept = std::fs::read_to_string(root().join("docs/reference/sweep.schema.json")).expect("the schema");
    assert!(made == kept, "make it again: segue sweep --schema > docs/reference/sweep.schema.json");
}

#[test]
fn threads_and_shards_do_not_change_a_byte() {
    let folder = folder_with(SWEEP);
    let whole = whole(folder.path());
    let read = |name: &str| std::fs::read(folder.path().join(name)).expect("a file");
    for threads in ["1", "2", "5"] {
        let args = ["sweep", "s.toml", "--out", "t.parquet", "--threads", threads];
        assert!(segue_in(folder.path(), &args).status.success());
        assert!(read("t.parquet") == whole, "{threads} threads");
    }
    for index in ["1", "2", "3"] {
        let (shard, out) = (format!("{index}/3"), format!("{index}.parquet"));
        let output = segue_in(folder.path(), &["sweep", "s.toml", "--shard", &shard, "--out", &out]);
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    let output = segue_in(folder.path(), &["merge", "m.parquet", "3.parquet", "1.parquet", "2.parquet"]);
    assert_eq!(text(&output.stdout), "m.parquet: 360 rows from 3 shards\n", "{}", text(&output.stderr));
    assert!(read("m.parquet") == whole);
    let output = segue_in(folder.path(), &["sweep", "s.toml", "--shard", "19/19", "--out", "none.parquet"]);
    let told = "none.parquet: 0 rows, as the sweep has 18 parts: fewer than shares\n";
    assert_eq!(text(&output.stdout), told, "{}", text(&output.stderr));
}

/// Killed at any time, a sweep leaves parts and nothing else, and goes on from there.
#[test]
fn a_killed_sweep_goes_on() {
    let folder = folder_with(SWEEP);
    let whole = whole(folder.path());
    let parts = folder.path().join("out.parquet.parts");
    let kept = || files(&parts).iter().filter(|name| name.starts_with("part-")).count();
    let out = folder.path().join("out.parquet");
    let killed_with = |most: usize| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_segue"))
            .args(["sweep", "s.toml", "--out", "out.parquet", "--threads", "1"])
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .spawn()
            .expect("segue starts");
        while kept() < most && child.try_wait().expect("a status").is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().expect("killed");
        child.wait().expect("ended");
        let done = std::fs::remove_file(&out).is_ok();
        !done && kept() >= most
    };
    for most in [1, 4] {
        // On a busy machine a sweep may be done before anybody looks: again.
        assert!((0..20).any(|_| killed_with(most)), "it is always done before it has {most} parts");
    }
    let left = kept();
    let output = segue_in(folder.path(), &["sweep", "s.toml", "--out", "out.parquet"]);
    let told = text(&output.stdout);
    assert_eq!(told, format!("out.parquet: 360 rows, {left} of 18 parts from an earlier run\n"));
    assert!(std::fs::read(folder.path().join("out.parquet")).expect("a file") == whole);
    assert_eq!(files(folder.path()), ["out.parquet", "s.toml", "whole.parquet"]);
}

/// A disk that fills up costs one line and no part; with room again the sweep goes on.
#[test]
#[ignore = "needs user-namespaces"]
fn a_full_disk_keeps_the_parts() {
    let folder = folder_with(SWEEP);
    let whole = whole(folder.path());
    let script = "mkdir disk && mount -t tmpfs -o size=100k tmpfs disk \n\
        $SEGUE sweep s.toml --threads 1 --progress never --out disk/out.parquet 2> first; echo $? > status\n\
        ls disk > there; ls disk/out.parquet.parts > parts\n\
        mount -o remount,size=10m disk\n\
        $SEGUE sweep s.toml --out disk/out.parquet > second && cp disk/out.parquet .";
    let output = Command::new("unshare")
        .args(["--mount", "--map-root-user", "sh", "-c", script])
        .env("SEGUE", env!("CARGO_BIN_EXE_segue"))
        .current_dir(folder.path())
        .output()
        .expect("unshare starts");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("a file");
    let (line, parts) = (read("first"), read("parts"));
    assert_eq!(read("status"), "1\n", "{line}");
    assert!(line.contains("cannot write disk/out.parquet") || line.contains("cannot write /"), "{line}");
    assert!(line.ends_with("no storage space\n") && line.lines().count() == 1, "{line}");
    assert_eq!(read("there"), "out.parquet.parts\n");
    let parts = parts.lines().filter(|name| name.starts_with("part-")).count();
    assert!(parts >= 2, "{parts}");
    assert_eq!(
        read("second"),
        format!("disk/out.parquet: 360 rows, {parts} of 18 parts from an earlier run\n")
    );
    assert!(std::fs::read(folder.path().join("out.parquet")).expect("a file") == whole);
}

#[test]
fn mistakes_are_told_in_one_line() {
    let folder = folder_with("old = 'wlan'\nnew = 'egprs'\nat = '1s'\nschemes = 'sack'\n");
    std::fs::write(folder.path().join("bad.toml"), "old = 'wlan'\nnew = 'egprs'\nscheme = 'sack'\n")
        .expect("written");
    std::fs::write(folder.path().join("text"), "no Parquet").expect("written");
    std::fs::create_dir(folder.path().join("dir")).expect("made");
    let made = Command::new("mkfifo").arg(folder.path().join("pipe")).status().expect("mkfifo starts");
    assert!(made.success());
    for (args, words) in [
        (&["sweep"][..], "--schema|SWEEP|required"),
        (&["sweep", "s.toml"], "--out"),
        (&["sweep", "none.toml", "--out", "x"], "there is no such file; expected a sweep"),
        (&["sweep", "bad.toml", "--out", "x"], "bad.toml, line 3, column 1: unknown key `scheme`"),
        (&["sweep", "s.toml", "--out", "-"], "expected the name of a file"),
        (&["sweep", "s.toml", "--out", "/dev/null"], "expected the name of a file"),
        (&["sweep", "s.toml", "--out", "pipe"], "expected the name of a file"),
        (&["sweep", "s.toml", "--out", "dir"], "cannot write rows to dir; expected the name of a file"),
        (&["sweep", "s.toml", "--out", "/proc/nowhere/x"], "there is no such folder"),
        (&["sweep", "s.toml", "--out", "s.toml"], "would replace"),
        (&["sweep", "s.toml", "--out", "x", "--shard", "3/2"], "expected I/N"),
        (&["sweep", "s.toml", "--out", "x", "--shard", "-1/2"], "expected I/N"),
        (&["sweep", "s.toml", "--list", "--out", "x"], "cannot be used with"),
        (&["sweep", "s.toml", "--out", "x", "--threads", "0"], "--threads"),
        (&["merge", "x"], "SHARDS"),
        (&["merge", "x", "none"], "cannot read none: there is no such file"),
        (&["merge", "x", "text"], "text is damaged or no file of segue sweep"),
        (&["merge", "x", "dir"], "dir"),
        (&["merge", "text", "text"], "would replace"),
    ] {
        let output = segue_in(folder.path(), args);
        let line = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {line}");
        assert!(words.split('|').any(|word| line.contains(word)), "{args:?}: {line}");
        assert!(line.starts_with("segue: ") && line.lines().count() == 1, "{args:?}: {line}");
    }
    assert_eq!(files(folder.path()), ["bad.toml", "dir", "pipe", "s.toml", "text"], "nothing is left behind");
}
