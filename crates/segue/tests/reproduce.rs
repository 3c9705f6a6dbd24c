//! `segue reproduce` as a user meets it: files, contract, cache, errors. Few handoffs: numbers are not judged here.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn segue(cache: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_segue"));
    command.env("XDG_CACHE_HOME", cache).arg("reproduce").args(arguments).output().expect("segue starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

const FIGURE: [&str; 4] = ["daniel-kojo-2009-multiflow", "fig4", "--points", "8"];

/// Figure 4 of paper 000 over eight handoffs: links, flows and schemes as the paper has them. The numbers for
/// regular TCP with one flow are those of ns-2 at these eight times (reference/ns2/results.csv.gz).
#[test]
fn a_figure_its_numbers_and_the_gallery() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    let run = |threads: &str| {
        let more = ["--no-cache", "--threads", threads, "--out", out.to_str().expect("UTF-8")];
        let output = segue(folder.path(), &[&FIGURE[..], &more].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        let mut files: Vec<(String, Vec<u8>)> = std::fs::read_dir(&out)
            .expect("a folder")
            .map(|entry| entry.expect("an entry"))
            .map(|entry| {
                (entry.file_name().into_string().expect("UTF-8"), std::fs::read(entry.path()).expect("read"))
            })
            .filter(|(name, _)| name != "index.html")
            .collect();
        files.sort();
        files
    };
    let files = run("1");
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        ["csv-metadata.json", "daniel-kojo-2009-multiflow-fig4.csv", "daniel-kojo-2009-multiflow-fig4.svg"]
    );
    let metadata: Value = serde_json::from_slice(&files[0].1).expect("JSON");
    assert_eq!(metadata["tables"][0]["url"], names[1]);
    let command = &metadata["notes"][0]["origin"]["command"];
    assert_eq!(command, "segue reproduce daniel-kojo-2009-multiflow fig4 --points 8");
    assert!(files == run("2"), "the same bytes on any number of threads");
    let page = std::fs::read_to_string(out.join("index.html")).expect("a gallery");
    assert!(page.contains("<svg"));
    // A statement can be linked to.
    assert!(page.contains("<li id=\"mflow-fig4-1flow\"") && page.contains("<a href=\"#mflow-fig4-1flow\">"));
    // The contents lead to the figure; its numbers and its command stand beside it.
    for part in [
        "href=\"#fig4\"",
        "<section id=\"fig4\">",
        "href=\"daniel-kojo-2009-multiflow-fig4.csv\"",
        "segue reproduce daniel-kojo-2009-multiflow fig4 --points 8<",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let mut csv = csv::Reader::from_reader(&files[1].1[..]);
    let rows: Vec<csv::StringRecord> = csv.records().map(|row| row.expect("a row")).collect();
    assert_eq!(rows.len(), 9, "three numbers of flows, three schemes");
    let bar = |flows: &str, scheme: &str| {
        let of = |row: &&csv::StringRecord| &row[1] == flows && &row[3] == scheme;
        let row = rows.iter().find(of).unwrap_or_else(|| panic!("{flows} {scheme} in {rows:?}"));
        [9, 10, 11].map(|column| row[column].parse::<f64>().expect("a number"))
    };
    assert!(bar("1", "sack").is_sorted() && bar("4", "etcp-v1").is_sorted());
    let expected = ns2_quartiles();
    for (ours, theirs) in bar("1", "sack").iter().zip(expected) {
        assert!((ours - theirs).abs() <= 0.02 * theirs, "{ours} and ns-2's {theirs}");
    }
}

/// Other benches stand beside the verdicts on the page, in JSON and in the summary. With queues of 50 packets two flows
/// lose packets at the handoff of Figure 6, as the paper says.
#[test]
fn verdicts_on_other_benches_stand_beside() {
    let folder = tempfile::tempdir().expect("a folder");
    let (out, json) = (folder.path().join("out"), folder.path().join("claims.json"));
    let place = |path: &std::path::Path| path.to_str().expect("UTF-8").to_string();
    let words = ["daniel-kojo-2009-multiflow", "fig6", "--points", "8", "--out"];
    let words = words.map(String::from).into_iter().chain([place(&out), "--json".into(), place(&json)]);
    let words: Vec<String> = words.collect();
    let output = segue(folder.path(), &words.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    let benches = ["queues of twice the BDP", "and 100 packets of all flows", "50 packets", "time stamps"];
    for bench in benches {
        assert_eq!(said.lines().filter(|line| line.starts_with(&format!("{bench} ("))).count(), 1, "{said}");
    }
    let claims: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&json).expect("a file")).expect("JSON");
    let claims = claims["claims"].as_array().expect("claims");
    assert!(claims.len() > 3);
    for claim in claims {
        let beside = claim["beside"].as_array().expect("benches");
        assert_eq!(beside.len(), 5, "{claim}");
        assert!(beside.iter().all(|other| other["verdict"] != "beyond the bound"), "{claim}");
        assert_eq!(beside[0]["settings"], serde_json::json!(["link-queue=2bdp"]));
    }
    let losses = claims.iter().find(|claim| claim["id"] == "mflow-fig6-2flows-losses").expect("the claim");
    assert_eq!((&losses["verdict"], &losses["beside"][2]["verdict"]), (&"differs".into(), &"holds".into()));
    let page = std::fs::read_to_string(out.join("index.html")).expect("a page");
    assert!(page.contains("Other benches") && page.contains("on another bench, 50 packets: "));
    assert!(page.contains("fig6 --points 8<"));
}

/// Few handoffs give no verdicts, and the last words say so; badges, too. A model's claims need no handoff.
#[test]
fn a_quick_look_gives_no_verdicts() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    let told = |words: &[&str]| {
        let output = segue(folder.path(), words);
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let quick =
        told(&["daniel-kojo-2009-multiflow", "fig6", "--points", "2", "--out", out.to_str().expect("UTF-8")]);
    let (_, last) = quick.split_once("\nA quick look: ").expect("a warning");
    let last = last.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(last.ends_with("rest on 2 of 200 handoff times, or on fewer seeds. These are no verdicts; --points 200 gives them."), "{last}");
    let said = quick.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains(" claims have too few handoffs for a verdict; so far ") && !said.contains(" claims: "),
        "{quick}"
    );
    assert!(!said.contains(" 0 cannot be judged"), "verdicts that do not occur are not counted: {quick}");
    assert!(quick.contains(": differs so far\n") && !quick.contains("differs\n"), "{quick}");
    let page = std::fs::read_to_string(out.join("index.html")).expect("a page");
    assert!(
        page.contains("A quick look: ")
            && page.contains("<span class=\"verdict unjudged\">differs so far</span>")
    );
    assert!(
        !page.contains("<span class=\"verdict differs\">")
            && !page.contains("<span class=\"verdict holds\">")
    );

    let some =
        told(&["000", "fig4", "--points", "2", "--check"]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        some.contains("3 claims that hold are not listed here; --json - lists all claims. 5 claims have "),
        "{some}"
    );

    let model = told(&["wu-2009-tcp-ho", "fig15", "--points", "2", "--out", out.to_str().expect("UTF-8")]);
    assert!(
        model.contains("claims: ") && !model.contains("quick look") && !model.contains("so far"),
        "{model}"
    );
    let page = std::fs::read_to_string(out.join("index.html")).expect("a page");
    assert!(page.contains("<span class=\"verdict holds\">") && !page.contains("A quick look: "));
}

/// A paper or a figure that is asked for alone does not take the place of the gallery of all. Papers go by numbers, too.
#[test]
fn a_figure_alone_has_a_folder_of_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    for words in ["003 fig15", "wu-2009-tcp-ho FIG15"] {
        let output = Command::new(env!("CARGO_BIN_EXE_segue"))
            .current_dir(folder.path())
            .args(["reproduce", "--no-cache", "--points", "1"])
            .args(words.split(' '))
            .output()
            .expect("segue starts");
        assert!(output.status.success(), "{}", text(&output.stderr));
        let place = "reproduction/wu-2009-tcp-ho/fig15";
        let said = text(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(&format!("are in {place}.")), "{said}");
        let inside = |of: &str| std::fs::read_dir(folder.path().join(of)).expect("a folder").count();
        assert_eq!((inside("reproduction"), inside("reproduction/wu-2009-tcp-ho")), (1, 1));
        std::fs::remove_file(folder.path().join(place).join("index.html")).expect("a gallery");
    }
}

/// Verdicts fit a pipe's 80 columns, where a table of one line per claim does not.
#[test]
fn verdicts_fit_80_columns() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = segue(folder.path(), &["daniel-kojo-2009-multiflow", "fig6", "--points", "2", "--check"]);
    let told = text(&output.stdout);
    assert!(told.lines().all(|line| line.chars().count() <= 80), "{told}");
    assert!(
        told.contains("\n  measured  [") && told.contains("A claim may expect several things: | stands"),
        "{told}"
    );
    let mut command = Command::new(env!("CARGO_BIN_EXE_segue"));
    command.env("XDG_CACHE_HOME", folder.path()).env("COLUMNS", "300");
    let words = ["reproduce", "daniel-kojo-2009-multiflow", "fig6", "--points", "2", "--check"];
    let wide = text(&command.args(words).output().expect("segue starts").stdout);
    assert!(
        wide.starts_with(" CLAIM ") && wide.lines().next().is_some_and(|line| line.ends_with("MEASURED")),
        "{wide}"
    );
}

/// The other papers say what bench they had.
#[test]
fn no_other_bench_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = segue(folder.path(), &["wu-2009-tcp-ho", "--check", "--points", "2", "--sensitivity"]);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(
        said.contains("lists no other bench for this paper; expected daniel-kojo-2009-multiflow"),
        "{said}"
    );
}

/// A figure of drives: bars with means and, of several seeds, intervals; the model's figures need no run.
#[test]
fn figures_of_drives_and_of_a_model() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    let csv_of = |figure: &str| {
        let place = out.to_str().expect("UTF-8");
        let output = segue(folder.path(), &["wu-2009-tcp-ho", figure, "--points", "2", "--out", place]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let mut csv =
            csv::Reader::from_path(out.join(format!("wu-2009-tcp-ho-{figure}.csv"))).expect("a CSV");
        csv.records().map(|row| row.expect("a row")).collect::<Vec<_>>()
    };
    let bars = csv_of("fig10");
    assert_eq!(bars.len(), 20, "four delays, five senders");
    for bar in &bars {
        let [mean, half] = [9, 10].map(|column| bar[column].parse::<f64>().expect("a number"));
        // A WLAN of 11 Mbit/s; two seeds give an interval.
        assert!((500.0..11_000.0).contains(&mean) && half > 0.0, "{bar:?}");
    }
    assert_eq!(csv_of("fig15").len(), 40, "four handoffs, ten errors");
    for picture in ["fig10", "fig15"] {
        let svg = std::fs::read_to_string(out.join(format!("wu-2009-tcp-ho-{picture}.svg"))).expect("an SVG");
        assert!(svg.starts_with("<svg"), "{picture}");
    }
}

/// Quartiles of ns-2 for 6400/9 to 200/300, mbb, 1 flow, over T = 2.5, 5, ..., 20 s.
fn ns2_quartiles() -> [f64; 3] {
    use std::io::Read;
    let results = include_bytes!("../../../reference/ns2/results.csv.gz");
    let mut table = String::new();
    flate2::read::GzDecoder::new(&results[..]).read_to_string(&mut table).expect("gzip");
    let mut times: Vec<f64> = table
        .lines()
        .map(|line| line.split(',').collect::<Vec<_>>())
        .filter(|c| {
            c[1..8] == ["6400", "9", "200", "300", "mbb", "0.0", "1"]
                || c[1..8] == ["6400", "9", "200", "300", "mbb", "0", "1"]
        })
        .filter(|c| {
            c[0] == "2" && ((c[8].parse::<f64>().expect("T") * 10.0).round() as u32).is_multiple_of(25)
        })
        .map(|c| c[9].parse().expect("a time"))
        .collect();
    assert_eq!(times.len(), 8);
    times.sort_by(f64::total_cmp);
    let at = |p: f64| {
        let place = p * 7.0;
        let below = place.floor() as usize;
        times[below] + (place - below as f64) * (times[(below + 1).min(7)] - times[below])
    };
    [at(0.25), at(0.5), at(0.75)]
}

/// Five senders, four buffers and four blocks: what `segue run` of the four scenarios gives, in the page and as CSV. A
/// figure alone has no table.
#[test]
fn senders_and_buffers_stand_in_the_gallery() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    let place = out.to_str().expect("UTF-8");
    let figure = segue(folder.path(), &["espi-2010-fmipv6", "fig6", "--points", "2", "--out", place]);
    assert!(figure.status.success(), "{}", text(&figure.stderr));
    assert!(!out.join("senders-and-buffers.csv").exists(), "a table belongs to the whole paper");

    let whole = segue(folder.path(), &["espi-2010-fmipv6", "--points", "2", "--out", place]);
    assert!(whole.status.success(), "{}", text(&whole.stderr));
    let index = std::fs::read_to_string(out.join("index.html")).expect("a gallery");
    assert!(index.len() <= 300_000 && index.contains("href=\"senders-and-buffers.html\""), "{}", index.len());
    let page = std::fs::read_to_string(out.join("senders-and-buffers.html")).expect("a page");
    let table = page.split("id=\"senders-and-buffers\"").nth(1).expect("the table");
    let cells: Vec<&str> = table
        .split("<td class=\"cell\">")
        .skip(1)
        .map(|rest| rest.split('<').next().expect("a cell"))
        .collect();
    assert_eq!(cells.len(), 4 * 5 * 4, "blocks, senders, buffers");

    let mut csv = csv::Reader::from_path(out.join("senders-and-buffers.csv")).expect("CSV");
    let rows: Vec<csv::StringRecord> = csv.records().map(|row| row.expect("a row")).collect();
    assert_eq!(rows.len(), cells.len());
    for (column, buffer) in ["off", "previous-fcfd", "previous-lcfd", "new-lcfd"].iter().enumerate() {
        let file = format!("{}/../../examples/buffers/{buffer}.toml", env!("CARGO_MANIFEST_DIR"));
        let run = Command::new(env!("CARGO_BIN_EXE_segue"))
            .args(["run", &file, "--points", "2", "--json", "-"])
            .output()
            .expect("segue starts");
        let document: Value = serde_json::from_slice(&run.stdout).expect("JSON");
        let ours = document["rows"].as_array().expect("rows");
        assert_eq!(ours.len(), 20, "{buffer}");
        for (index, row) in ours.iter().enumerate() {
            let line = &rows[20 * column + index];
            assert_eq!((&line[0], &line[4]), (*buffer, row["scheme"].as_str().expect("a name")));
            let median = row["transfer_s"]["median"].as_f64().expect("a transfer time");
            let written: f64 = line[10].parse().expect("a number");
            // serde_json may read the last digit of a double differently.
            assert!((written - median).abs() < 1e-9, "{line:?} and {median}");
            let shown = cells[4 * index + column].split(" / ").next().expect("a time");
            let shown: f64 = shown.parse().expect("a number");
            assert!((shown - median).abs() <= 0.0005 * median.max(1.0), "{shown} and {median}: {line:?}");
        }
    }
}

/// The papers whose claims are judged in seconds: those of Wu, Chan and Ananda are drives of half an hour.
const QUICK: [&str; 4] =
    ["daniel-kojo-2008-crosslayer", "daniel-kojo-2009-multiflow", "chou-shin-2004-lcfd", "espi-2010-fmipv6"];

/// The names that a mistake is answered with.
#[test]
fn the_help_names_all_papers() {
    let folder = tempfile::tempdir().expect("a folder");
    let refused = text(&segue(folder.path(), &["nobody"]).stderr).to_string();
    let names = refused.split("expected one of ").nth(1).expect("names").trim_end();
    let help = text(&segue(folder.path(), &["--help"]).stdout).to_string();
    let words: Vec<&str> = help.split_whitespace().map(|word| word.trim_end_matches([',', ';'])).collect();
    assert_eq!(names.split(", ").count(), 5, "{names}");
    for name in names.split(", ") {
        let (name, number) = name.trim_end_matches(')').split_once(" (").expect("a number");
        assert!(words.contains(&name) && help.contains(number), "{name} in {help}");
    }
}

/// A figure may be named by its number alone.
#[test]
fn a_figure_has_a_number() {
    let folder = tempfile::tempdir().expect("a folder");
    let [name, number] = ["fig5", "5"]
        .map(|figure| segue(folder.path(), &["000", figure, "--check", "--json", "-", "--points", "1"]));
    assert!(number.status.success(), "{}", text(&number.stderr));
    let claims = |output: &Output| -> Value {
        serde_json::from_slice::<Value>(&output.stdout).expect("JSON")["claims"].clone()
    };
    assert_eq!(claims(&name), claims(&number));
}

#[test]
fn verdicts_as_json() {
    let folder = tempfile::tempdir().expect("a folder");
    let claims: usize = QUICK.iter().map(|paper| verdicts(folder.path(), &[paper])).sum();
    assert!(claims > 160, "{claims}");
    for part in [["daniel-kojo-2009-multiflow", "fig5"], ["wu-2009-tcp-ho", "fig15"]] {
        let of = |more: &[&str]| {
            segue(folder.path(), &[&part[..], &["--check", "--json", "-", "--points", "1"], more].concat())
                .stdout
        };
        assert_eq!(of(&["--no-cache"]), of(&[]), "{part:?}");
    }
}

#[test]
#[ignore = "a measurement: make measure"]
fn verdicts_of_all_papers_as_json() {
    let folder = tempfile::tempdir().expect("a folder");
    assert!(verdicts(folder.path(), &[]) > 220);
}

/// Judges these papers' claims twice, and returns how many there are.
fn verdicts(cache: &Path, papers: &[&str]) -> usize {
    let check = [papers, &["--check", "--json", "-", "--points", "1"]].concat();
    let first = segue(cache, &check);
    assert!(first.status.success(), "{}", text(&first.stderr));
    let document: Value = serde_json::from_slice(&first.stdout).expect("JSON");
    assert_eq!((&document["version"], &document["points"]), (&Value::from(1), &Value::from(1)));
    let ledgers = document["origin"]["files"].as_object().expect("digests");
    assert_eq!(ledgers.len(), if papers.is_empty() { 5 } else { papers.len() });
    let claims = document["claims"].as_array().expect("claims");
    let mut counts = std::collections::BTreeMap::new();
    for claim in claims {
        for key in ["id", "place", "kind", "check", "verdict", "stated", "measured", "why"] {
            assert!(claim[key].is_string(), "{key}: {claim}");
        }
        let verdict = claim["verdict"].as_str().expect("a word");
        let few = claim["few"].as_bool().expect("a boolean");
        *counts.entry(if few { "no verdict yet" } else { verdict }).or_insert(0) += 1;
    }
    for (verdict, count) in counts {
        assert_eq!(document["summary"][verdict], count, "{verdict}");
    }
    // A second run finds what the first has kept, and says the same.
    let kept = std::fs::read_dir(cache.join("segue")).expect("a cache").count();
    assert_eq!(kept, 1, "one program, one ledger");
    assert_eq!(segue(cache, &check).stdout, first.stdout);
    claims.len()
}

#[test]
fn mistakes_end_with_status_2_and_one_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    std::fs::write(&file, "x").expect("written");
    let gallery = folder.path().join("gallery");
    std::fs::create_dir(&gallery).expect("made");
    let (gallery, inside) = (gallery.display().to_string(), gallery.join("index.html").display().to_string());
    let bad: [(&[&str], &[&str]); 17] = [
        (&["--points", "1", "--out", &gallery, "--json", &inside], &["--json", "--out", "another folder"]),
        (&["daniel-kojo-2009"], &["daniel-kojo-2009", "did you mean `daniel-kojo-2009-multiflow`"]),
        (&["daniel-kojo-2009-multiflow", "fig99"], &["fig99", "expected one of fig4"]),
        (&["005"], &["unknown paper `005`", "wu-2009-tcp-ho (003)"]),
        (&["1"], &["did you mean `daniel-kojo-2008-crosslayer`?"]),
        (
            &["17"],
            &["a figure stands behind its paper; did you mean `001 fig17` or `000 fig17` or `003 fig17`?"],
        ),
        (&["fig17"], &["did you mean `001 fig17` or `000 fig17` or `003 fig17`?"]),
        (&["multiflow"], &["did you mean `daniel-kojo-2009-multiflow`?"]),
        (&["001", "17a"], &["unknown figure `17a`", "`fig17`"]),
        (&["001", "fig17a"], &["unknown figure `fig17a`", "`fig17`"]),
        (&["001", "99"], &["expected one of fig2"]),
        (&["--check", "--set", "reinit-rto=3s"], &["reinit-rto", "segue schemes etcp"]),
        (&["wu-2009-tcp-ho", "--check", "--set", "a3-cwnd=1"], &["a3-cwnd", "segue schemes tcp-ho"]),
        (&["--check", "--set", "a3-cwnd=much"], &["a3-cwnd", "much"]),
        (&["--check", "--set", "receive-window=0"], &["receive-window", "`0`", "1 to 1000000"]),
        (&["--points", "201"], &["201", "1 to 200"]),
        (&["--out", file.to_str().expect("UTF-8")], &["--out", "folder"]),
    ];
    for (arguments, parts) in bad {
        let output = segue(folder.path(), arguments);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(output.stdout.is_empty() && error.lines().count() == 1, "{error}");
        for part in parts {
            assert!(error.contains(part), "{arguments:?}: {part}: {error}");
        }
    }
}
