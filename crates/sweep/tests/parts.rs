//! The file is the same whoever computes the parts, in whatever order; and its rows are those of `segue compare`.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use proptest::prelude::*;
use segue_export::{comparison_csv, handoffs_csv};
use segue_files::ScenarioFile;
use segue_program::PROGRAM;
use segue_study::Comparison;
use segue_sweep::merge::MergeError;
use segue_sweep::{PieceError, Plan, Shard, Store, StoreError, VERSION, merge, run};
use segue_tables::{ParquetReader, ParquetWriter};
use segue_world::access::LinkNames;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

const SWEEP: &str = "pairs = [['wlan', 'egprs'], ['wlan', '6400kbit/9ms']]\nboth_ways = true\nkind = ['mbb', 'bbm']\n\
    flows = [1, 2]\nschemes = ['sack', 'etcp-v1', 'freeze']\nat = '1s..9s/4s'";

fn plan(sweep: &str) -> Plan {
    Plan::read(sweep, "s.toml", &LinkNames::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn part(plan: &Plan, index: usize) -> RecordBatch {
    plan.run(index, &|_| ControlFlow::Continue(())).expect("nobody breaks it off")
}

/// A folder, and a file in it.
fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out.parquet");
    (folder, out)
}

fn bytes(path: &Path) -> Vec<u8> {
    std::fs::read(path).expect("a file")
}

/// The parts in this order, each kept as it comes, on this many threads.
fn computed(plan: &Plan, shard: Shard, out: &Path, threads: usize) -> Vec<u8> {
    let _ = std::fs::remove_file(out);
    let store = Store::open(plan, shard, out).unwrap_or_else(|error| panic!("{error}"));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    pool.install(|| run(plan, &store, &|_| ())).unwrap_or_else(|error| panic!("{error}"));
    assert!(!out.exists(), "nothing appears before it is whole");
    let handoffs: u64 = shard.parts(plan).map(|part| plan.handoffs_of(part)).sum();
    assert_eq!(store.finish().unwrap_or_else(|error| panic!("{error}")), handoffs);
    let parts = out.with_extension("parquet.parts");
    assert!(!parts.exists(), "the parts are gone");
    bytes(out)
}

#[test]
fn the_file_does_not_depend_on_who_computes_it() {
    let plan = plan(SWEEP);
    assert_eq!(plan.parts(), 12, "3 old links, 2 numbers of flows, 2 stacks");
    let (folder, out) = place();
    let whole = computed(&plan, Shard::WHOLE, &out, 1);
    assert_eq!(computed(&plan, Shard::WHOLE, &out, 2), whole);
    // One by one, backwards, as somebody else's results come in.
    let store = Store::open(&plan, Shard::WHOLE, &out).expect("a store");
    assert_eq!(store.missing(), (0..12).collect::<Vec<_>>());
    for index in (0..12).rev() {
        store.keep(index, &part(&plan, index)).expect("kept");
    }
    store.finish().expect("finished");
    assert_eq!(bytes(&out), whole);
    // Shards, merged in any order.
    for of in 1..=3 {
        let mut shards: Vec<PathBuf> = (1..=of).map(|index| folder.path().join(format!("{index}"))).collect();
        for (index, path) in shards.iter().enumerate() {
            let shard: Shard = format!("{}/{of}", index + 1).parse().expect("a shard");
            let store = Store::open(&plan, shard, path).expect("a store");
            run(&plan, &store, &|_| ()).expect("run");
            store.finish().expect("finished");
        }
        for _ in 0..of {
            shards.rotate_left(1);
            assert_eq!(merge(&out, &shards).expect("merged"), plan.handoffs());
            assert_eq!(bytes(&out), whole, "{of} shards");
        }
    }
}

#[test]
fn a_row_group_is_a_part_in_order() {
    let plan = plan(SWEEP);
    let (_folder, out) = place();
    computed(&plan, Shard::WHOLE, &out, 2);
    let reader = ParquetReader::open(&out).expect("a good file");
    assert_eq!(reader.row_groups(), plan.parts());
    assert_eq!(
        (reader.says("segue.version"), reader.says("segue.sweep")),
        (Some(VERSION), Some(plan.fingerprint()))
    );
    for index in 0..plan.parts() {
        let batch = reader.row_group(index).expect("a row group");
        assert_eq!(texts(&batch), texts(&part(&plan, index)), "{}", plan.describe(index));
        assert_eq!(batch.num_rows() as u64, plan.handoffs_of(index));
    }
}

#[test]
fn work_can_be_broken_off() {
    let plan = plan(SWEEP);
    let seen = std::cell::Cell::new(0);
    let broken = plan.run(0, &|more| {
        seen.set(seen.get() + more);
        ControlFlow::Break(())
    });
    assert!(broken.is_none() && seen.get() < plan.handoffs_of(0));
}

#[test]
fn a_later_run_goes_on_and_damage_is_repaired() {
    let plan = plan(SWEEP);
    let (_folder, out) = place();
    let whole = computed(&plan, Shard::WHOLE, &out, 2);
    let store = Store::open(&plan, Shard::WHOLE, &out).expect("a store");
    for index in 0..6 {
        store.keep(index, &part(&plan, index)).expect("kept");
    }
    assert!(matches!(Store::open(&plan, Shard::WHOLE, &out), Err(StoreError::Busy { .. })));
    drop(store);
    let file = |index: usize| out.with_extension("parquet.parts").join(format!("part-{index:06}.parquet"));
    // Nothing, half, one bit in the rows, one in what it says of itself, another part's rows.
    std::fs::write(file(0), "").expect("written");
    let half = bytes(&file(1));
    std::fs::write(file(1), &half[..half.len() / 2]).expect("written");
    for (index, from_end) in [(2, None), (3, Some(300))] {
        let mut damaged = bytes(&file(index));
        let at = from_end.map_or(100, |from_end| damaged.len() - from_end);
        damaged[at] ^= 1;
        std::fs::write(file(index), damaged).expect("written");
    }
    std::fs::copy(file(5), file(4)).expect("copied");
    let store = Store::open(&plan, Shard::WHOLE, &out).expect("a store");
    assert_eq!(store.kept().collect::<Vec<_>>(), [5]);
    run(&plan, &store, &|_| ()).expect("run");
    // Damage that comes later does not pass for a result, and costs nothing but its part.
    let mut damaged = bytes(&file(7));
    damaged[50] ^= 0x80;
    std::fs::write(file(7), damaged).expect("written");
    std::fs::remove_file(&out).expect("removed");
    let error = store.finish().expect_err("damaged").to_string();
    assert!(error.contains("part-000007.parquet is damaged"), "{error}");
    assert!(!out.exists());
    let store = Store::open(&plan, Shard::WHOLE, &out).expect("a store");
    assert_eq!(store.missing(), [7]);
    store.keep(7, &part(&plan, 7)).expect("kept");
    store.finish().expect("finished");
    assert_eq!(bytes(&out), whole);
}

/// A link in the place of the lock leads to somebody else's file.
#[test]
fn a_lock_that_is_a_link_is_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let (out, theirs) = (folder.path().join("out.parquet"), folder.path().join("theirs"));
    let parts = folder.path().join("out.parquet.parts");
    std::fs::create_dir(&parts).expect("a folder");
    std::fs::write(&theirs, "precious").expect("a file");
    std::os::unix::fs::symlink(&theirs, parts.join("lock")).expect("a link");
    let plan = Plan::read(
        "old = 'wlan'\nnew = 'egprs'\nat = '1s'\nschemes = 'sack'",
        "s.toml",
        &LinkNames::default(),
    )
    .expect("a sweep");
    let error = Store::open(&plan, Shard::WHOLE, &out).expect_err("a link").to_string();
    assert!(error.contains("out.parquet.parts"), "{error}");
    assert_eq!(std::fs::read(&theirs).expect("a file"), b"precious");
}

#[test]
fn strangers_are_refused_by_name() {
    let (ours, theirs) = (plan(SWEEP), plan(&format!("{SWEEP}\nseed = 2")));
    let (folder, out) = place();
    let store = Store::open(&theirs, Shard::WHOLE, &out).expect("a store");
    store.keep(0, &part(&theirs, 0)).expect("kept");
    drop(store);
    let error = Store::open(&ours, Shard::WHOLE, &out).expect_err("another sweep").to_string();
    for words in ["out.parquet.parts holds parts of another run", "part-000000.parquet", "remove the folder"]
    {
        assert!(error.contains(words) && !error.contains('\n'), "{error}");
    }
    // Another version's.
    let other = folder.path().join("other.parquet");
    let write = |says: &[(&str, String)]| {
        let mut writer = ParquetWriter::create(&other).expect("a draft");
        writer.row_group(&part(&ours, 0)).expect("a row group");
        writer.finish(says).expect("written");
    };
    let says_of = |version: &str, program: &str, holds: &str| {
        [
            ("segue.version", version.to_string()),
            ("segue.program", program.to_string()),
            ("segue.sweep", ours.fingerprint().to_string()),
            ("segue.parts", "1".to_string()),
            ("segue.holds", holds.to_string()),
        ]
    };
    let says = |version: &str, holds: &str| says_of(version, PROGRAM, holds);
    write(&says("0.0.9", "0"));
    let error = merge(&out, std::slice::from_ref(&other)).expect_err("another version").to_string();
    assert!(error.contains("other.parquet was made by segue 0.0.9"), "{error}");
    // Another program of this version, as after a mend in the simulator, in a merge and in the folder of parts.
    let stranger = PROGRAM.chars().rev().collect::<String>();
    write(&says_of(VERSION, &stranger, "0"));
    let words = ["was made by another build of segue", &stranger[..12], &PROGRAM[..12]];
    let error = merge(&out, std::slice::from_ref(&other)).expect_err("another program").to_string();
    assert!(words.iter().all(|word| error.contains(word)) && !error.contains('\n'), "{error}");
    let (_folder, out) = place();
    drop(Store::open(&ours, Shard::WHOLE, &out).expect("a store"));
    std::fs::copy(&other, out.with_file_name("out.parquet.parts/part-000000.parquet")).expect("copied");
    let error = Store::open(&ours, Shard::WHOLE, &out).expect_err("another program").to_string();
    assert!(words.iter().all(|word| error.contains(word)) && !error.contains('\n'), "{error}");
    assert!(error.contains("remove the folder to begin anew"), "{error}");
    for holds in ["1", "0 0", "x", "", "0 1"] {
        write(&says(VERSION, holds));
        let error = merge(&out, std::slice::from_ref(&other));
        assert!(matches!(error, Err(MergeError::Piece(PieceError::Nameless { .. }))), "{holds}: {error:?}");
    }
    write(&[]);
    assert!(merge(&out, std::slice::from_ref(&other)).is_err());
    write(&says(VERSION, "0"));
    assert_eq!(merge(&out, &[other]).expect("a whole of one part"), ours.handoffs_of(0));
}

#[test]
fn shards_must_be_complete_and_of_one_sweep() {
    let (plan, other) = (plan(SWEEP), plan(&format!("{SWEEP}\nseed = 2")));
    let (folder, out) = place();
    let shard = |plan: &Plan, word: &str| {
        let path = folder.path().join(format!("{}-{}", plan.fingerprint(), word.replace('/', "-")));
        let store = Store::open(plan, word.parse().expect("a shard"), &path).expect("a store");
        run(plan, &store, &|_| ()).expect("run");
        store.finish().expect("finished");
        path
    };
    let [one, two, half] = ["1/3", "2/3", "1/2"].map(|word| shard(&plan, word));
    let stranger = shard(&other, "3/3");
    for (shards, words) in [
        (vec![], "no shards"),
        (vec![one.clone(), two.clone()], "4 of 12 parts are missing, the first is part 3"),
        (vec![one.clone(), two.clone(), half], "hold the same part"),
        (vec![one.clone(), one.clone()], "expected every shard once"),
        (vec![one, two, stranger], "belongs to another sweep"),
        (vec![folder.path().join("none")], "there is no such file"),
        (vec![folder.path().to_path_buf()], "cannot read"),
    ] {
        let error = merge(&out, &shards).expect_err(words).to_string();
        assert!(error.contains(words) && !error.contains('\n'), "{words}: {error}");
        assert!(!out.exists());
    }
}

/// A fingerprint is of the simulation, not of the way it is written down.
#[test]
fn a_fingerprint_is_of_the_meaning() {
    let first = plan("old = 'wlan'\nnew = 'egprs'");
    let same = "# a comment\ntitle = 'x'\npairs = [['wlan', 'egprs']]\nkind = ['mbb']\nflows = [1]\nat = '0.1s..20s/100ms'";
    assert_eq!(first.fingerprint(), plan(same).fingerprint());
    for more in [
        "seed = 2",
        "seeds = 2",
        "packets = 99",
        "definition = 'after-ack'",
        "notice = 'in-band'",
        "notice = 'in-band'\nnotice_loss = 1",
        "at = '1s'",
        "flows = 2",
        "kind = 'bbm'",
        "schemes = 'sack'",
        "stack = 'linux'",
        "both_ways = true",
        "address = 'new'",
        "traffic = 'download,page'",
        "notice_error = 'rate=2x'",
        "neighbours = 2",
        "[settings]\ninitial-window = 4",
        "[settings]\nnotice-delay = '1ms'",
    ] {
        let other = plan(&format!("old = 'wlan'\nnew = 'egprs'\n{more}"));
        assert_ne!(first.fingerprint(), other.fingerprint(), "{more}");
    }
    // A measured link is its content, wherever it lies.
    let folders = ["10\n20\n", "10\n20\n", "10\n30\n"].map(|trace| {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("t"), trace).expect("written");
        folder
    });
    let [a, b, c] = folders.each_ref().map(|folder| {
        let path = folder.path().join("s.toml");
        let plan =
            Plan::read("old = 'trace:t'\nnew = 'egprs'", &path.display().to_string(), &LinkNames::default());
        plan.unwrap_or_else(|error| panic!("{error}")).fingerprint().to_string()
    });
    assert_eq!(a, b);
    assert_ne!(a, c);
}

/// A variant of the settings that does not concern a scheme gives it no second row.
#[test]
fn no_handoff_is_there_twice() {
    let text =
        format!("{SWEEP}\n[[settings]]\n[[settings]]\na1-in-bbm = false\n[[settings]]\ninitial-window = 4");
    let plan = plan(&text);
    let mut keys: Vec<Vec<String>> = Vec::new();
    for index in 0..plan.parts() {
        keys.extend(texts(&part(&plan, index)).into_iter().map(|row| row[..14].to_vec()));
    }
    assert_eq!(keys.len() as u64, plan.handoffs());
    // 4 pairs, 2 kinds, 2 numbers of flows, 3 times; sack and freeze of two variants, etcp-v1 of three.
    assert_eq!(keys.len(), 4 * 2 * 2 * 3 * (2 + 3 + 2));
    keys.sort();
    assert!(keys.windows(2).all(|pair| pair[0] != pair[1]));
}

/// Every row as text.
fn texts(batch: &RecordBatch) -> Vec<Vec<String>> {
    let cell = |column: &dyn Array, row: usize| match column.data_type() {
        _ if column.is_null(row) => String::new(),
        DataType::Dictionary(..) => {
            let words = column.as_dictionary::<Int32Type>();
            words.values().as_string::<i32>().value(words.key(row).expect("a word")).to_string()
        }
        DataType::UInt32 => column.as_primitive::<UInt32Type>().value(row).to_string(),
        DataType::UInt64 => column.as_primitive::<UInt64Type>().value(row).to_string(),
        DataType::Float64 => column.as_primitive::<Float64Type>().value(row).to_string(),
        other => panic!("a column of {other}"),
    };
    (0..batch.num_rows())
        .map(|row| batch.columns().iter().map(|column| cell(column, row)).collect())
        .collect()
}

/// The rows by the names of the columns that `--rows` has, numbers as they are printed, sorted.
fn as_compare_has_them(plan: &Plan, names: &csv::StringRecord) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for index in 0..plan.parts() {
        let batch = part(plan, index);
        let places: Vec<usize> =
            names.iter().map(|name| batch.schema().index_of(name).expect("a column of that name")).collect();
        rows.extend(
            texts(&batch).into_iter().map(|row| places.iter().map(|&at| row[at].clone()).collect::<Vec<_>>()),
        );
    }
    rows.sort();
    rows
}

/// The rows that `segue compare --rows` has of a scenario, numbers as they are printed, sorted, with their columns.
fn compared(text: &str) -> (csv::StringRecord, Vec<Vec<String>>) {
    let plan = ScenarioFile::parse(text, "s.toml").and_then(|file| file.plan(None)).expect("a scenario").0;
    let rows = handoffs_csv(&Comparison::run(&plan, true, &|_| ())).expect("CSV");
    let mut reader = csv::Reader::from_reader(rows.as_bytes());
    let names = reader.headers().expect("names").clone();
    let number = |text: &str| text.parse::<f64>().map_or(text.to_string(), |number| number.to_string());
    let records = reader.records().map(|record| record.expect("a record").iter().map(number).collect());
    let mut rows: Vec<Vec<String>> = records.collect();
    rows.sort();
    (names, rows)
}

/// The user's traffic is measured by class. A row has what a comparison of that handoff alone has, in columns of the
/// same names. It has nothing of classes that its user has not.
#[test]
fn classes_are_those_of_a_comparison_of_one_handoff() {
    let base = "old = '4mbit/20ms'\nnew = '2mbit/30ms'\nkind = 'bbm'\ndisconnect = '300ms'\nschemes = ['sack', 'etcp-v1']\n";
    let traffics = ["download,video(2mbit,30fps)", "upload", "request,page", "download"];
    let plan = plan(&format!("{base}traffic = {traffics:?}\nat = ['2s', '3.5s']\nseeds = 2\n"));
    assert_eq!(plan.parts(), 2 * traffics.len(), "each has a warm-up of its own");
    let classes = ["download", "upload", "request", "video", "page"];
    let mut seen = 0;
    for index in 0..plan.parts() {
        let batch = part(&plan, index);
        let names: Vec<String> = batch.schema().fields().iter().map(|field| field.name().clone()).collect();
        let place = |name: &str| names.iter().position(|own| own == name).expect("a column");
        let own: Vec<&String> = names
            .iter()
            .filter(|name| classes.iter().any(|class| name.starts_with(&format!("{class}_"))))
            .collect();
        assert_eq!(own.len(), 5 * 5 + 1, "{own:?}");
        for row in texts(&batch) {
            let [settings, at, seed, scheme] =
                ["settings", "at_s", "seed", "scheme"].map(|name| row[place(name)].clone());
            let traffic = settings.strip_prefix("traffic=").expect("the traffic");
            let text = format!("{base}traffic = '{traffic}'\nat = '{at}s'\nseed = {seed}\n");
            let plan =
                ScenarioFile::parse(&text, "s.toml").and_then(|file| file.plan(None)).expect("a scenario").0;
            let csv = comparison_csv(&Comparison::run(&plan, false, &|_| ())).expect("CSV");
            let mut reader = csv::Reader::from_reader(csv.as_bytes());
            let heads = reader.headers().expect("names").clone();
            let cells = reader.records().map(|record| record.expect("a record"));
            let cells: Vec<_> = cells.filter(|cells| cells.iter().any(|cell| *cell == *scheme)).collect();
            let [cells] = &cells[..] else { panic!("one row of {scheme}") };
            for name in &own {
                let expected = heads.iter().position(|head| head == **name).map_or("", |at| &cells[at]);
                let expected = expected.parse::<f64>().map_or(String::new(), |number| number.to_string());
                assert_eq!(row[place(name)], expected, "{name} of {scheme}, {traffic} at {at} s");
                seen += usize::from(!expected.is_empty());
            }
        }
    }
    assert!(seen > 100, "{seen}");
}

/// Settings of the bench that a warm-up depends on: each variant has a network of its own.
#[test]
fn variants_of_the_bench_share_no_network() {
    let base = "old = '6400kbit/9ms'\nnew = 'egprs'\nflows = 4\nschemes = ['sack', 'etcp-v1']\nat = ['1.5s', '4s']\n";
    let variants = ["", "link-queue = '2bdp'", "starts = '400ms'", "target = 'in-all'"];
    let each: Vec<_> =
        variants.iter().map(|variant| compared(&format!("{base}[settings]\n{variant}\n"))).collect();
    assert!(each.windows(2).all(|pair| pair[0].1 != pair[1].1), "the settings matter");
    let mut expected: Vec<Vec<String>> = each.iter().flat_map(|(_, rows)| rows.clone()).collect();
    expected.sort();
    let tables: String = variants.iter().map(|variant| format!("[[settings]]\n{variant}\n")).collect();
    assert_eq!(as_compare_has_them(&plan(&format!("{base}{tables}")), &each[0].0), expected);
}

/// Handoffs that connections survive, and others, begin with one warm-up.
#[test]
fn a_list_of_addresses_has_the_rows_of_both() {
    let base = "old = '4mbit/20ms'\nnew = '2mbit/30ms'\nkind = ['mbb', 'bbm']\nat = ['2s', '3s']\n";
    let [keep, new] = ["keep", "new"].map(|word| compared(&format!("{base}address = '{word}'\n")));
    assert_ne!(keep.1, new.1);
    let mut expected = [keep.1, new.1].concat();
    expected.sort();
    let plan = plan(&format!("{base}address = ['keep', 'new']\n"));
    assert_eq!(plan.parts(), 1);
    assert_eq!(as_compare_has_them(&plan, &keep.0), expected);
}

fn picked(words: &'static [&'static str], most: usize) -> impl Strategy<Value = String> {
    proptest::sample::subsequence(words, 1..=most).prop_shuffle().prop_map(|words| format!("{words:?}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 40))]

    #[test]
    fn rows_are_those_of_compare(
        old in picked(&["wlan", "hsdpa", "6400kbit/9ms"], 2),
        new in picked(&["egprs", "200mbit/1ms", "1600kbit/75ms"], 3),
        kind in picked(&["mbb", "bbm"], 2),
        schemes in picked(&["sack", "etcp-a5", "etcp-v1", "tcp-ho", "freeze", "hn", "buffer-lcfd+phas"], 4),
        flows in 1..4_u32,
        notice in prop_oneof![Just("'instant'"), Just("'in-band'")],
        definition in prop_oneof![Just("'after-highest'"), Just("'after-ack'")],
        packets in 1..150_u32,
        at in 1..8000_u32,
        seed in 1..4_u64,
        seeds in 1..3_u64,
        stack in prop_oneof![Just(""), Just("stack = 'linux'\n")],
    ) {
        let text = format!(
            "old = {old}\nnew = {new}\nkind = {kind}\nflows = [{flows}, 5]\nschemes = {schemes}\nnotice = {notice}\n\
            definition = {definition}\npackets = {packets}\nat = ['{at}ms', '9.1s']\nseed = {seed}\nseeds = {seeds}\n{stack}"
        );
        let (names, expected) = compared(&text);
        prop_assert_eq!(as_compare_has_them(&plan(&text), &names), expected);
    }
}
