//! `segue repeat`: the question of a result, asked again; and what results say of where they come from.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn segue(folder: &Path, words: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_segue"));
    command.current_dir(folder).args(words.split_whitespace());
    // Nothing of the user's own.
    command.env("XDG_CONFIG_HOME", folder.join("config")).env_remove("COLUMNS");
    command.output().expect("segue starts")
}

fn done(folder: &Path, words: &str) -> String {
    let output = segue(folder, words);
    assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn refused(folder: &Path, words: &str, status: i32) -> String {
    let output = segue(folder, words);
    let line = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), line.lines().count()), (Some(status), 1), "{words}: {line}");
    line
}

fn read(folder: &Path, name: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(folder.join(name)).unwrap()).unwrap()
}

const SMALL: &str = "compare lte,loss=1% dsl --at 2s..4s/1s --seeds 2 --set notice-delay=10ms";

#[test]
fn a_result_says_where_it_comes_from() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    done(folder, &format!("{SMALL} --json a.json --threads 1 --wide"));
    done(folder, &format!("{SMALL} --threads=2 --json b.json --quiet"));
    assert_eq!(
        read(folder, "a.json"),
        read(folder, "b.json"),
        "neither threads nor files are part of a question"
    );
    let origin = &read(folder, "a.json")["origin"];
    assert_eq!(
        origin["command"],
        "segue compare 'lte,loss=1%' dsl --kind mbb --flows 1 --schemes sack,etcp-v1 --at 2s..4s/1s --packets 100 \
         --definition after-highest --notice instant --set 'notice-delay=10ms' --seed 1 --seeds 2"
    );
    assert_eq!(origin["question"]["handoffs"]["settings"], serde_json::json!({"notice-delay": "10ms"}));
    // The command asks the same.
    let words = shell_words::split(origin["command"].as_str().unwrap()).unwrap();
    done(folder, &format!("{} --json c.json", words[1..].join(" ")));
    assert_eq!(read(folder, "a.json"), read(folder, "c.json"));
    assert!(origin["program"].as_str().unwrap().starts_with(env!("CARGO_PKG_VERSION")), "{origin}");
    let lte = &origin["links"]["lte,loss=1%"];
    assert!(lte["meaning"].as_str().unwrap().contains("arq="), "{lte}");
    assert!(lte["down"]["rate_bps"].as_u64() > lte["up"]["rate_bps"].as_u64(), "{lte}");
    assert_eq!(origin["files"], serde_json::json!({}));
}

#[test]
fn the_same_question_has_the_same_answer() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    done(folder, &format!("{SMALL} --json a.json"));
    assert!(done(folder, "repeat a.json").starts_with("the same: 2 rows, equal in every field"));
    let scenario = "old = \"wlan\"\nnew = \"hsdpa\"\n[output]\ncsv = \"x.csv\"\n";
    std::fs::write(folder.join("s.toml"), scenario).unwrap();
    done(folder, "run s.toml --points 3 --json s.json");
    std::fs::remove_file(folder.join("x.csv")).unwrap();
    assert!(done(folder, "repeat s.json --threads 1").starts_with("the same: "));
    assert!(!folder.join("x.csv").exists(), "what a scenario writes is not written again");
    // Drives, and links whose paths start from the scenario's folder.
    std::fs::write(folder.join("d.toml"), "[drive]\nof = 'wlan'\nlength = '60s'\n").unwrap();
    done(folder, "run d.toml --points 2 --json d.json");
    assert!(done(folder, "repeat d.json").starts_with("the same: "));
    std::fs::create_dir(folder.join("sub")).unwrap();
    std::fs::write(folder.join("sub/t"), "1\n2\n3\n").unwrap();
    std::fs::write(folder.join("sub/s.toml"), "old = 'trace:t,delay=5ms'\nnew = 'wlan'\nat = '1s'\n")
        .unwrap();
    done(folder, "run sub/s.toml --json s.json");
    assert!(done(folder, "repeat s.json").starts_with("the same: 2 rows"));
}

#[test]
fn another_answer_is_shown_and_fails() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    done(folder, "compare wlan hsdpa --at 2s..6s/0.5s --json a.json");
    let text = std::fs::read_to_string(folder.join("a.json")).unwrap();
    std::fs::write(folder.join("b.json"), text.replacen("\"timeouts\":", "\"timeouts\":1", 1)).unwrap();
    let output = segue(folder, "repeat b.json --progress never");
    let line = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), line.lines().count()), (Some(1), 1), "{line}");
    assert!(line.contains("1 of 2 rows differ"), "{line}");
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.contains("timeouts"), "{table}");
}

#[test]
fn other_files_and_other_commands_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("t"), "1\n2\n3\n").unwrap();
    done(folder, "compare trace:t,delay=5ms wlan --at 1s --json t.json");
    let digest = read(folder, "t.json")["origin"]["files"]["t"].clone();
    // printf '1\n2\n3\n' | sha256sum
    assert_eq!(digest, "14c5e74c4b96ccef41cd94db73a9ec3348038ac094feca4fd897cecffa07cdae");
    std::fs::write(folder.join("t"), "1\n2\n4\n").unwrap();
    assert!(refused(folder, "repeat t.json", 2).contains("t has changed: its SHA-256 is"));
    std::fs::remove_file(folder.join("t")).unwrap();
    assert!(refused(folder, "repeat t.json", 2).contains("cannot read t"));

    done(folder, "compare wlan hsdpa --at 2s --json a.json");
    let whole = read(folder, "a.json");
    let changed = |name: &str, change: &dyn Fn(&mut Value)| {
        let mut document = whole.clone();
        change(&mut document);
        std::fs::write(folder.join(name), document.to_string()).unwrap();
    };
    changed("old.json", &|document| drop(document.as_object_mut().unwrap().remove("origin")));
    assert!(refused(folder, "repeat old.json", 2).contains("does not say which question it answers"));
    done(folder, "compare wlan hsdpa --at 2s --origin=none --csv bare.csv");
    assert!(refused(folder, "repeat bare.csv", 2).contains("as with --origin=none; expected lines"));
    for (words, name) in [
        ("trace wlan hsdpa --at 2s --json log.jsonl", "log.jsonl"),
        ("model tcp-ho --json model.json", "model.json"),
    ] {
        done(folder, words);
        let said = refused(folder, &format!("repeat {name}"), 2);
        let command = words.split(" --").next().unwrap();
        assert!(said.contains(&format!("the output of `segue {command}")), "{said}");
        assert!(said.contains("run that command again"), "{said}");
    }
    std::fs::write(folder.join("plan.toml"), "title = \"none\"\n").unwrap();
    assert!(
        refused(folder, "repeat plan.toml", 2).contains("expected a result of segue compare or segue run")
    );
    for (field, value, part) in [
        ("schemes", Value::from(vec!["sakk"]), "did you mean `sack`?"),
        ("pairs", Value::from(vec![vec!["wlam", "wlan"]]), "did you mean `wlan`?"),
        ("at", Value::from(vec!["soon"]), "`soon` is not a time"),
        ("flows", Value::from(Vec::<u32>::new()), "the list is empty"),
        ("flows", Value::from("1"), "not a comparison: found the text \"1\" in place of"),
        ("packets", Value::from(0), "1 to 1000000"),
        ("packs", Value::from(1), "not a comparison: unknown field `packs`"),
        ("notice_loss", Value::from(1), "notice_loss: 1; expected 0"),
        ("disconnect_s", Value::from(vec![1.0]), "disconnect_s: [1.0]; expected one time"),
        ("kind", Value::from(vec!["bbm"]), "disconnect_s: []; expected one time"),
        ("pairs", Value::from(vec![vec!["lte", "wlan"]]), "link `lte` is `"),
    ] {
        changed("c.json", &|document| document["origin"]["question"]["handoffs"][field] = value.clone());
        assert!(refused(folder, "repeat c.json", 2).contains(part), "{field}");
    }
}

#[test]
fn odd_documents_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    done(folder, "compare wlan hsdpa --at 2s --json a.json");
    let whole = read(folder, "a.json");
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut document = whole.clone();
        change(&mut document);
        std::fs::write(folder.join("c.json"), document.to_string()).unwrap();
    };
    changed(&|document| document["origin"]["question"] = Value::Null);
    assert!(refused(folder, "repeat c.json", 2).contains("not a comparison"));
    changed(&|document| document["origin"]["files"]["/dev/zero"] = "0".into());
    assert!(refused(folder, "repeat c.json", 2).contains("cannot read /dev/zero: it is not a file"));
    changed(&|document| document["rows"].as_array_mut().unwrap().reverse());
    let output = segue(folder, "repeat c.json");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "the order of rows is no measure");
}

#[test]
fn links_of_ones_own_have_names_everywhere() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::create_dir_all(folder.join("config/segue")).unwrap();
    let file = folder.join("config/segue/links.toml");
    std::fs::write(&file, "[links]\nhome = \"80mbit/5ms,queue=fq_codel\"\ncar = \"lte,loss=0.5%\"\n")
        .unwrap();
    let listed = done(folder, "links");
    assert!(listed.contains("Your own:") && listed.contains("car             lte,loss=0.5%"), "{listed}");
    done(folder, "compare home car --at 2s --json own.json");
    done(folder, "compare 80mbit/5ms,queue=fq_codel lte,loss=0.5% --at 2s --json written.json");
    let [own, written] = ["own.json", "written.json"].map(|name| read(folder, name));
    assert_eq!(own["rows"][0]["transfer_s"], written["rows"][0]["transfer_s"]);
    assert_eq!(own["origin"]["links"]["car"]["meaning"], "lte,loss=0.5%");
    assert!(refused(folder, "compare hom car", 2).contains("did you mean `home`?"));
    std::fs::write(&file, "[links]\nhome = \"8mbit/5ms\"\ncar = \"lte,loss=0.5%\"\n").unwrap();
    assert!(
        refused(folder, "repeat own.json", 2)
            .contains("link `home` is `8mbit/5ms` now; expected `80mbit/5ms")
    );
    std::fs::write(&file, "[links]\nhome = \"80mbit\"\n").unwrap();
    assert!(
        refused(folder, "compare home wlan", 2)
            .contains("links.toml, line 2, column 8: unknown link `80mbit`")
    );
    // It tells what it can, and what it cannot.
    let explained = segue(folder, "explain A2");
    let said = String::from_utf8_lossy(&explained.stderr).into_owned();
    assert!(explained.status.success() && !explained.stdout.is_empty(), "{said}");
    assert!(said.starts_with("segue: warning: ") && said.contains("line 2, column 8"), "{said}");
}

/// A result of links that only its maker has named carries what they stand for.
#[test]
fn names_that_nobody_has_here_are_those_of_the_result() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::create_dir_all(folder.join("config/segue")).unwrap();
    let file = folder.join("config/segue/links.toml");
    std::fs::write(&file, "[links]\nhome = \"80mbit/5ms\"\ncar = \"lte,loss=0.5%\"\n").unwrap();
    done(folder, "compare HOME car,jitter=1ms --both-ways --at 2s --json a.json --rows a.csv");
    std::fs::remove_file(&file).unwrap();
    for (result, rows) in [("a.json", 4), ("a.csv", 4)] {
        let output = segue(folder, &format!("repeat {result}"));
        let [told, said] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        assert!(
            output.status.success() && told.starts_with(&format!("the same: {rows} rows")),
            "{said}{told}"
        );
        assert_eq!(
            said,
            format!(
                "segue: warning: no link is called `car` here; it is `lte,loss=0.5%`, as {result} says\n\
                 segue: warning: no link is called `home` here; it is `80mbit/5ms`, as {result} says\n"
            )
        );
    }
    // The same link may have other capitals here.
    std::fs::write(&file, "[links]\nHome = \"80mbit/5ms\"\ncar = \"lte,loss=0.5%\"\n").unwrap();
    assert!(done(folder, "repeat a.json").starts_with("the same: 4 rows"));
    assert_eq!(done(folder, "explain home"), "Link Home, your own: 80mbit/5ms\n");
    assert!(done(folder, "completions bash").contains(" Home"));
    std::fs::write(&file, "[links]\nHome = \"8mbit/5ms\"\n").unwrap();
    assert!(refused(folder, "repeat a.json", 2).contains("link `home`: the name is taken"));
    // A name that is given here is not another one for a result's sake.
    std::fs::write(&file, "[links]\nhome = \"8mbit/5ms\"\n").unwrap();
    assert!(refused(folder, "repeat a.json", 2).contains("link `home` is `8mbit/5ms` now"));
    std::fs::remove_file(&file).unwrap();
    let whole = read(folder, "a.json");
    for (meaning, part) in [
        ("trace:/dev/zero", "link `home`: a trace has no name"),
        ("home,loss=1%", "link `home`: stands for a name of your own"),
        ("80mbit", "unknown link `80mbit`"),
        ("90mbit/5ms", "80000000"),
    ] {
        let mut document = whole.clone();
        document["origin"]["links"]["home"]["meaning"] = meaning.into();
        std::fs::write(folder.join("c.json"), document.to_string()).unwrap();
        let output = segue(folder, "repeat c.json");
        let said = String::from_utf8(output.stderr).unwrap();
        let line = said.lines().last().unwrap_or_default();
        assert_eq!(output.status.code(), Some(2), "{meaning}: {said}");
        assert!(line.contains("c.json: ") && line.contains(part), "{meaning}: {said}");
    }
}

/// A table that is made again has no words of the older one beside it, and stays where they cannot be replaced.
/// A page tells of its numbers, and does not hold them for another program.
#[test]
fn a_page_is_no_result_and_long_names_fit() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    done(folder, "compare wlan hsdpa --at 2s --report why.html");
    assert!(refused(folder, "repeat why.html", 2).starts_with("segue: why.html: a page, "));
    let name = format!("{}-end.json", "long-".repeat(20));
    done(folder, &format!("{SMALL} --json {name}"));
    let mut document = read(folder, &name);
    document["rows"][0]["timeouts"] = 9.5.into();
    std::fs::write(folder.join(&name), document.to_string()).unwrap();
    let told = String::from_utf8(segue(folder, &format!("repeat {name}")).stdout).unwrap();
    assert!(told.starts_with("A: ...") && told.contains("-end.json, then\nB: now\n"), "{told}");
    assert!(told.lines().all(|line| line.chars().count() <= 80), "{told}");
}

#[test]
fn a_table_never_has_an_older_one_s_origin() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let beside = folder.join("a.csv-metadata.json");
    done(folder, &format!("{SMALL} --csv a.csv"));
    assert!(beside.is_file());
    done(folder, &format!("{SMALL} --seed 7 --csv a.csv --origin"));
    assert!(!beside.exists(), "it told of seed 1");
    let table = std::fs::read(folder.join("a.csv")).unwrap();
    std::fs::create_dir(&beside).unwrap();
    for inside in ["", " --origin"] {
        let line = refused(folder, &format!("{SMALL} --csv a.csv{inside}"), 2);
        assert!(line.contains("a.csv-metadata.json is in the way"), "{line}");
        assert!(std::fs::read(folder.join("a.csv")).unwrap() == table);
    }
}

#[test]
fn a_table_says_where_it_comes_from_beside_it_or_inside() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    done(folder, &format!("{SMALL} --csv a.csv --rows one.csv --json a.json"));
    let origin = read(folder, "a.json")["origin"].clone();
    for name in ["a.csv", "one.csv"] {
        let beside = read(folder, &format!("{name}-metadata.json"));
        assert_eq!(beside["@context"], "http://www.w3.org/ns/csvw");
        assert_eq!((&beside["url"], &beside["notes"][0]["origin"]), (&name.into(), &origin));
        let told = done(folder, &format!("repeat {name}"));
        let rows = std::fs::read_to_string(folder.join(name)).unwrap().lines().count() - 1;
        assert!(told.starts_with(&format!("the same: {rows} rows")), "{told}");
    }
    // Inside, there is nothing beside it.
    done(folder, &format!("{SMALL} --csv b.csv --origin"));
    assert!(!folder.join("b.csv-metadata.json").exists());
    assert!(done(folder, "repeat b.csv").starts_with("the same: 2 rows"));
    // Another answer, no origin, and a file in the way.
    let table = std::fs::read_to_string(folder.join("a.csv")).unwrap();
    let (rest, last) = table.trim_end().rsplit_once(',').unwrap();
    std::fs::write(folder.join("a.csv"), format!("{rest},{last}1\n")).unwrap();
    let line = refused(folder, "repeat a.csv", 1);
    assert!(line.contains("a.csv: 1 of 2 rows differ"), "{line}");
    std::fs::rename(folder.join("a.csv"), folder.join("alone.csv")).unwrap();
    let line = refused(folder, "repeat alone.csv", 2);
    assert!(
        line.contains("alone.csv-metadata.json beside it, which cannot be read: there is no such"),
        "{line}"
    );
    std::fs::write(folder.join("c.csv-metadata.json"), "{}").unwrap();
    let line = refused(folder, &format!("{SMALL} --csv c.csv"), 2);
    assert!(line.contains("c.csv-metadata.json is in the way"), "{line}");
    let line = refused(folder, &format!("{SMALL} --csv d.csv --json d.csv-metadata.json"), 2);
    assert!(line.contains("name one file twice"), "{line}");
    assert!(!folder.join("c.csv").exists() && !folder.join("d.csv").exists());
}
