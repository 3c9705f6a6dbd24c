//! Rows of drives in a laboratory, from what was measured.

use segue_files::LabFile;
use segue_study::lab_plan::LabSender;
use segue_study::{DriveRow, DriveRun, LabDrive, LiveRun};

fn drive(program: &str) -> LabDrive {
    let text = format!(
        "old = \"6400kbit/9ms\"\nnew = \"200kbit/300ms\"\nstays = [\"8s\", \"4s\"]\nprogram = \"{program}\"\n"
    );
    LabFile::parse(&text, "p.toml").and_then(|file| file.drive(None)).unwrap()
}

fn row(program: &str, runs: &[DriveRun]) -> DriveRow {
    let drive = drive(program);
    DriveRow::new(&drive, drive.plan.kinds[0], "linux", &drive.plan.senders[0], runs)
}

#[test]
fn handoffs_of_all_runs_are_one_sample() {
    let handoff = |first_send_s| LiveRun { first_send_s, bytes_1s: Some(1000), ..LiveRun::default() };
    let run = |times: [f64; 2], octets| DriveRun {
        handoffs: times.map(|time| handoff(Some(time))).into(),
        octets,
        ..DriveRun::default()
    };
    let row = row("iperf3", &[run([0.1, 0.2], 5), run([0.3, 0.4], 7)]);
    let measured = row.handoffs.unwrap();
    assert_eq!((measured.runs, measured.first_send_after_link_up_s.median), (4, Some(0.25)));
    assert_eq!((row.octets.median, row.stays_s, row.completed_s), (Some(6.0), vec![8.0, 4.0], None));
    assert!(row.echo_s.is_none() && row.first_echo_s.is_none() && row.worst_first_echo_s.is_none());
}

#[test]
fn what_never_comes_is_infinite() {
    let file = |completed_s: Option<f64>| DriveRun {
        completed_s,
        intact: Some(completed_s.is_some()),
        ..DriveRun::default()
    };
    let files = row("nginx", &[file(Some(10.0)), file(None), file(None)]);
    let completed = files.completed_s.unwrap();
    assert_eq!((completed.q1, completed.median, files.intact), (None, None, Some(1)));
    let pages = row("page", &[file(Some(3.0)), file(Some(5.0))]);
    assert_eq!((pages.completed_s.unwrap().median, pages.intact), (Some(4.0), Some(2)));
    let typed = |first| DriveRun {
        echoes_s: vec![Some(0.02), None, Some(0.04)],
        first_echoes_s: vec![first],
        ..DriveRun::default()
    };
    let typed = row("ssh", &[typed(Some(0.5)), typed(Some(0.7))]);
    assert_eq!(typed.echo_s.unwrap().median, Some(0.04));
    assert_eq!((typed.first_echo_s.unwrap().median, typed.worst_first_echo_s), (Some(0.6), Some(0.7)));
    assert!(typed.handoffs.is_none() && typed.completed_s.is_none());
}

#[test]
fn a_row_tells_when_the_window_closed() {
    let mut drive = drive("iperf3");
    drive.plan.freeze_before = 200_000_000;
    let row = |word: &str| {
        let sender = LabSender::named(word).unwrap();
        DriveRow::new(&drive, drive.plan.kinds[0], "linux", &sender, &[]).freeze_before_s
    };
    assert_eq!((row("cubic+freeze"), row("cubic")), (Some(0.2), None));
}
