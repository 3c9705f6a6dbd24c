//! Drives with real programs: several handoffs in a row. Needs root.

mod laboratory;

use laboratory::{in_laboratory, link};
use segue_kernel::sender::{Around, Policy};
use segue_lab::drive::{Drive, DriveRecord, drive};
use segue_lab::shell::Keystroke;
use segue_lab::{Error, Kind, Load, NoticeBy, Plan, Segue, SenderKind, cgroup, sweep};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn etcp() -> SenderKind {
    let policy = Policy::named("etcp-v1", &[]).expect("a scheme");
    SenderKind::Aware {
        name: "etcp-v1".into(),
        segue: Segue { policy, around: Around::Cubic, icmp: false },
        notice_by: NoticeBy::Laboratory,
    }
}

/// Two links of one rate and different delays, a second without a link between stays of `stays` seconds.
fn plan(stays: &[u64], load: Load) -> Drive {
    let senders = vec![SenderKind::builtin("cubic", None), etcp()];
    let mut plan = Plan::new(link(6400, 9, None), link(6400, 40, None), senders);
    (plan.kind, plan.disconnect) = (Kind::Bbm, Duration::from_secs(1));
    (plan.runs, plan.parallel) = (1, 2);
    Drive { plan, stays: stays.iter().map(|&stay| Duration::from_secs(stay)).collect(), load }
}

fn records(plan: &Drive) -> Vec<DriveRecord> {
    let records = drive(plan, &mut |_| {}).expect("a drive");
    let prefix = format!("segue-lab-{}-", std::process::id());
    let cgroups = std::fs::read_dir(cgroup::mount().expect("cgroup2")).expect("a folder").flatten();
    let left: Vec<_> = cgroups.map(|entry| entry.file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with(&prefix)), "{left:?}");
    assert_eq!(records.iter().map(|record| &record.sender).collect::<Vec<_>>(), ["cubic", "etcp-v1"]);
    assert!(records.iter().all(|record| !record.gave_up));
    records
}

#[test]
#[ignore = "needs lab"]
fn bulk_data_crosses_every_handoff() {
    in_laboratory(|| {
        let stays = [4, 3, 3];
        let plan = plan(&stays, Load::Bulk);
        for record in records(&plan) {
            assert_eq!(record.handoffs.len(), 2);
            let [first, second] = [&record.handoffs[0], &record.handoffs[1]];
            assert_eq!(second.link_down - first.link_up, Duration::from_secs(3));
            for (handoff, delay_ms) in [(first, 40), (second, 9)] {
                assert_eq!(handoff.link_up - handoff.link_down, Duration::from_secs(1));
                assert!(handoff.after.lost_in_disconnection > 0, "{:?}", handoff.after);
                let sent = handoff.first_send_after_link_up.expect("the flow goes on");
                // The notice's way.
                assert!(record.sender != "etcp-v1" || sent >= Duration::from_millis(delay_ms), "{sent:?}");
            }
            // At most 6400 kbit/s for 10 s.
            assert!((1..8_500_000).contains(&record.octets), "{}", record.octets);
            assert!(record.completed.is_none() && record.keystrokes.is_empty());
        }
    });
}

#[test]
#[ignore = "a measurement: make measure"]
fn bulk_data_goes_on_at_once_and_fills_the_link() {
    in_laboratory(|| {
        for record in records(&plan(&[4, 3, 3], Load::Bulk)) {
            for (handoff, delay_ms) in record.handoffs.iter().zip([40, 9]) {
                let sent = handoff.first_send_after_link_up.expect("the flow goes on");
                println!("{}: {sent:?} after link-up", record.sender);
                if record.sender == "etcp-v1" {
                    assert!(sent < Duration::from_millis(delay_ms + 40), "{sent:?}");
                }
            }
            // 6400 kbit/s for 10 s less what the handoffs cost; more than half of it.
            assert!(record.octets >= 4_000_000, "{}", record.octets);
        }
    });
}

#[test]
#[ignore = "needs lab"]
fn a_file_arrives_whole_across_handoffs() {
    in_laboratory(|| {
        let size = 3_000_000;
        for record in records(&plan(&[2, 2, 2], Load::File(size))) {
            assert_eq!(record.intact, Some(true));
            assert_eq!(
                record.octets.checked_sub(size).map(|head| head < 1000),
                Some(true),
                "{}",
                record.octets
            );
            let took = record.completed.expect("it is complete").as_secs_f64();
            // 3.75 s at the full rate.
            assert!(took > 3.7, "{took} s");
            assert!(!record.handoffs.is_empty());
        }
    });
}

/// A connection for each file: more than 70 handshakes in place of one.
#[test]
#[ignore = "needs lab"]
fn a_page_arrives_whole_across_a_handoff() {
    in_laboratory(|| {
        let size = 1_500_000;
        for record in records(&plan(&[1, 2], Load::Page(size))) {
            assert_eq!(record.intact, Some(true));
            // 70 files and the heads of as many answers.
            let heads = record.octets.checked_sub(size);
            assert!(heads.is_some_and(|heads| (70 * 100..70 * 1000).contains(&heads)), "{}", record.octets);
            let took = record.completed.expect("it is complete").as_secs_f64();
            // 1.9 s at the full rate, and a second without a link.
            assert!(took > 2.8, "{took} s");
            assert_eq!(record.handoffs.len(), 1);
        }
    });
}

#[test]
#[ignore = "needs lab ssh"]
fn keystrokes_are_echoed_across_handoffs() {
    typing(|_, _| ());
}

#[test]
#[ignore = "a measurement: make measure"]
fn keystrokes_are_echoed_within_a_round_trip() {
    typing(|before, first| {
        assert!(
            before.len() >= 8 && before.iter().all(|echo| *echo < Duration::from_millis(60)),
            "{before:?}"
        );
        assert!(first < Duration::from_secs(3), "{first:?}");
    });
}

/// Types across a handoff, and gives to `measured` how long echoes took before it and after link-up.
fn typing(measured: impl Fn(&[Duration], Duration)) {
    in_laboratory(|| {
        for record in records(&plan(&[5, 4], Load::Typing)) {
            let keys = &record.keystrokes;
            let (down, up) = (record.handoffs[0].link_down, record.handoffs[0].link_up);
            let nanos = |time: Duration| time.as_nanos() as u64;
            let typed = |key: &Keystroke| key.typed.expect("somebody types");
            // After the login each echo takes a round trip of 18 ms.
            let before = keys
                .iter()
                .filter(|key| (nanos(down) - 2_000_000_000..nanos(down) - 100_000_000).contains(&typed(key)));
            let echoes = before.map(|key| key.echoed.expect("an echo") - typed(key));
            let echoes: Vec<Duration> = echoes.map(Duration::from_nanos).collect();
            assert!(echoes.iter().all(|&echo| echo >= Duration::from_millis(18)), "{echoes:?}");
            let lost = keys.iter().filter(|key| (nanos(down)..nanos(up)).contains(&typed(key)));
            assert!(
                lost.clone().count() >= 1
                    && lost.clone().all(|key| key.echoed.is_some_and(|at| at > nanos(up)))
            );
            let first = record.first_echoes()[0].expect("it goes on");
            assert!(first >= Duration::from_millis(40), "{first:?}");
            eprintln!("{}: first echo {first:?} after link-up", record.sender);
            measured(&echoes, first);
        }
    });
}

/// Nobody types: what the server has printed without a link is shown when there is one again.
#[test]
#[ignore = "needs lab ssh"]
fn what_a_server_prints_is_shown_across_handoffs() {
    in_laboratory(|| {
        for record in records(&plan(&[5, 4], Load::Watching)) {
            let keys = &record.keystrokes;
            assert!(keys.len() >= 8 && keys.iter().all(|key| key.typed.is_none()), "{keys:?}");
            // The way by the new link.
            assert!(record.first_echoes()[0].is_some_and(|first| first >= Duration::from_millis(40)));
        }
    });
}

/// Not a test by itself: the process that is killed under a session.
#[test]
#[ignore = "a part of other tests"]
fn typist() {
    if std::env::var_os("SEGUE_TEST_TYPIST").is_some() {
        let mut plan = plan(&[600, 1], Load::Typing);
        plan.plan.senders.truncate(1);
        drop(drive(&plan, &mut |_| {}));
    }
}

/// Processes on the server of a laboratory of `owner`.
fn on_the_server(owner: u32) -> Vec<String> {
    let server =
        format!("{}/segue-lab-{owner}-0/server/cgroup.procs", cgroup::mount().expect("cgroup2").display());
    let all = std::fs::read_to_string(server).unwrap_or_default();
    all.lines().map(str::to_owned).collect()
}

/// sshd's sessions outlive it, and it wants a folder in /run.
#[test]
#[ignore = "needs lab ssh"]
fn a_killed_session_leaves_nothing_after_a_sweep() {
    in_laboratory(|| {
        let folder = Path::new("/run/sshd");
        let before = folder.exists();
        let mut command = Command::new(std::env::current_exe().expect("a test"));
        command.args(["--ignored", "--exact", "typist"]).env("SEGUE_TEST_TYPIST", "1").stdout(Stdio::null());
        let mut process = command.spawn().expect("it starts");
        let (owner, limit) = (process.id(), Instant::now() + Duration::from_secs(600));
        // The last to start shows the keys.
        let shows = |process: &String| {
            std::fs::read_to_string(format!("/proc/{process}/comm")).is_ok_and(|name| name == "cat\n")
        };
        while !on_the_server(owner).iter().any(shows) {
            assert!(Instant::now() < limit, "no session: {:?}", on_the_server(owner));
            std::thread::sleep(Duration::from_millis(10));
        }
        process.kill().expect("it is ours");
        process.wait().expect("it is ours");
        // sshd itself gives a dead session up after six minutes.
        let limit = Instant::now() + Duration::from_secs(180);
        while !on_the_server(owner).is_empty() {
            sweep::sweep();
            assert!(Instant::now() < limit, "left on the server: {:?}", on_the_server(owner));
        }
        assert_eq!(folder.exists(), before, "{}", folder.display());
    });
}

#[test]
fn what_cannot_be_driven_is_refused() {
    for (stays, load, part) in [
        (&[5][..], Load::Bulk, "stays: expected two or more"),
        (&[5, 0], Load::Bulk, "none of them 0 s"),
        (&[5, 5], Load::File(0), "a file of 0 octets"),
        (&[5, 5], Load::Page(0), "a file of 0 octets"),
    ] {
        let error = drive(&plan(stays, load), &mut |_| {}).expect_err("a mistake");
        assert!(matches!(&error, Error::Plan(why) if why.contains(part)), "{error}");
    }
}
