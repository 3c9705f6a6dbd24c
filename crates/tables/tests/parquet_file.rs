//! Parquet files of handoffs: what goes in comes out, equal rows are equal bytes, and no damage passes for a result.

use arrow_array::RecordBatch;
use proptest::prelude::*;
use segue_study::HandoffRow;
use segue_tables::{
    Layout, ParquetFileError, ParquetReader, ParquetWriter, Question, SweptHandoff, handoff_batch,
};
use std::path::Path;
use std::sync::Arc;

fn handoff(scheme: &str, at_s: f64, transfer_s: Option<f64>, count: u32) -> SweptHandoff {
    let asked = Question {
        notice: "in-band",
        notice_loss: 1,
        definition: "after-ack",
        settings: "a1-in-bbm=off".into(),
        packets: 100,
    };
    let row = HandoffRow {
        old: "wlan".into(),
        new: "egprs".into(),
        kind: "bbm",
        disconnect_s: 0.5,
        flows: 3,
        scheme: scheme.into(),
        stack: "ns2-sack1",
        seed: u64::MAX,
        at_s,
        transfer_s,
        bound_s: 1.5,
        timeouts: count as usize,
        spurious_timeouts: 0,
        timeouts_in_disconnection: 2,
        fast_retransmits: 1,
        drops: u32::MAX,
        lost_in_disconnection: count,
        retransmissions: 4,
        needless_retransmissions: 0,
        ..HandoffRow::default()
    };
    SweptHandoff { asked: Arc::new(asked), row, classes: Vec::new() }
}

fn write(path: &Path, batches: &[RecordBatch], says: &[(&str, String)]) -> Vec<u8> {
    let mut writer = ParquetWriter::create(path).expect("a draft");
    for batch in batches {
        writer.row_group(batch).expect("a row group");
        assert!(!path.exists(), "nothing appears before it is whole");
    }
    writer.finish(says).expect("written");
    std::fs::read(path).expect("a file")
}

#[test]
fn no_damage_passes_for_a_result() {
    let folder = tempfile::tempdir().expect("a folder");
    let (good, bad) = (folder.path().join("good"), folder.path().join("bad"));
    let rows = ["sack", "etcp"].map(|scheme| handoff(scheme, 0.1, None, 1));
    let bytes =
        write(&good, &[handoff_batch(&rows, &Layout::default()).expect("a batch")], &[("holds", "0".into())]);
    let damaged = |bytes: &[u8], what: &str| {
        // A new file each time: some file systems wait for the disk when one is replaced.
        let _ = std::fs::remove_file(&bad);
        std::fs::write(&bad, bytes).expect("written");
        match ParquetReader::open(&bad) {
            Err(ParquetFileError::Damaged { .. }) => {}
            other => panic!("{what}: {other:?}"),
        }
    };
    for at in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        damaged(&flipped, &format!("a bit of byte {at} of {}", bytes.len()));
    }
    for length in (0..bytes.len()).step_by(7) {
        damaged(&bytes[..length], &format!("{length} bytes of {}", bytes.len()));
    }
    damaged(&[&bytes[..], b"x"].concat(), "a byte more");
    damaged(&[&bytes[..4], &bytes[..]].concat(), "bytes before");
    damaged(&[0; 4096], "zeros");
    damaged(&[0xff; 4096], "ones");
    assert!(ParquetReader::open(&good).is_ok());
    assert!(matches!(ParquetReader::open(folder.path()), Err(ParquetFileError::Read { .. })));
    assert!(matches!(ParquetReader::open(&folder.path().join("none")), Err(ParquetFileError::Read { .. })));
}

#[test]
fn a_file_without_rows_is_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("empty");
    write(&path, &[], &[("holds", String::new())]);
    let reader = ParquetReader::open(&path).expect("a good file");
    assert_eq!((reader.row_groups(), reader.says("holds"), reader.says("other")), (0, Some(""), None));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 16))]

    /// Also when rows have been read from one file and are written to another, as parts are.
    #[test]
    fn what_goes_in_comes_out(
        groups in prop::collection::vec(
            prop::collection::vec(
                ("[a-d]{1,3}", 0.0..20.0, prop::option::of(0.0..400.0), any::<u32>()),
                1..60,
            ),
            1..4,
        ),
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let rows = |group: &Vec<(String, f64, Option<f64>, u32)>| {
            let rows: Vec<_> = group.iter().map(|(scheme, at, time, count)| handoff(scheme, *at, *time, *count)).collect();
            handoff_batch(&rows, &Layout::default()).expect("a batch")
        };
        let batches: Vec<RecordBatch> = groups.iter().map(rows).collect();
        let says = [("key", "value".to_string())];
        let (first, second) = (folder.path().join("first"), folder.path().join("second"));
        let bytes = write(&first, &batches, &says);
        let reader = ParquetReader::open(&first).expect("a good file");
        prop_assert_eq!(reader.says("key"), Some("value"));
        prop_assert_eq!(reader.row_groups(), batches.len());
        let back: Vec<RecordBatch> =
            (0..batches.len()).map(|index| reader.row_group(index).expect("a row group")).collect();
        prop_assert_eq!(&back, &batches);
        prop_assert!(write(&second, &back, &says) == bytes);
    }
}
