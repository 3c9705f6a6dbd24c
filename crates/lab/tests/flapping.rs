//! A link that flaps at 10 Hz, and a mobile that tells of every change.

mod laboratory;
mod left;

use laboratory::{in_laboratory, link};
use segue_kernel::sender::{Around, Policy};
use segue_lab::bulk::write_bulk;
use segue_lab::path::Switch;
use segue_lab::programs::Download;
use segue_lab::{Family, Laboratory, MS, NoticeBy, Plan, Program, Segue, SenderKind};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

fn flap(scheme: &str, bulk: &Path) {
    let segue =
        Segue { policy: Policy::named(scheme, &[]).expect("a scheme"), around: Around::Cubic, icmp: false };
    let sender = SenderKind::Aware { name: scheme.into(), segue, notice_by: NoticeBy::Laboratory };
    let plan = Plan::new(link(6400, 9, None), link(3200, 20, None), vec![sender.clone()]);
    let mut lab = Laboratory::create(&plan, &sender, Duration::from_secs(15)).expect("a laboratory");
    let mut download = Download::start(lab.hosts(), Program::Nginx, 1, Family::Ipv4, None, Some(bulk))
        .expect("the programs start");
    let until = Instant::now() + Duration::from_secs(600);
    while lab.emulator().first_bulk().is_none() {
        assert!(Instant::now() < until, "{scheme}: nothing is sent");
        thread::sleep(Duration::from_millis(5));
    }
    let start = lab.clock.now() + 500 * MS;
    let mut told = BTreeMap::new();
    let begin = Instant::now();
    // 100 ms without, 100 ms with the other link.
    for turn in 0..15 {
        let down = start + turn * 200 * MS;
        let up = down + 100 * MS;
        lab.emulator().schedule(Switch::new(down, up, true));
        thread::sleep(lab.clock.until(up));
        let link = if turn % 2 == 0 { &plan.new } else { &plan.old };
        let counts = lab.ends.as_ref().expect("it is told").notify(link.reported(up, 1.0)).expect("it tells");
        counts.into_iter().for_each(|(name, count)| *told.entry(name).or_insert(0) += count);
    }
    let took = begin.elapsed();
    let got = || fs::metadata(lab.hosts().folder.join("curl-0.out")).expect("curl writes").len();
    // More than could be on its way.
    let (before, until) = (got(), Instant::now() + Duration::from_secs(600));
    while got() < before + 400_000 {
        assert!(Instant::now() < until, "{scheme}: {before}, then {}", got());
        thread::sleep(Duration::from_millis(5));
    }
    lab.check().expect("all is well");
    download.check().expect("the programs run");
    let said = download.finish().expect("they end");
    assert_eq!(said.intact, Some(true), "{scheme}");
    assert_eq!(told["connections"], 15, "{scheme}: {told:?}");
    let drops = lab.device_drops().expect("the devices are there");
    let heard = lab.ends.take().expect("it is told").finish().expect("it detaches");
    // One a second. On a busy machine most are late, and meet no link.
    let most = took.as_secs() + 1;
    assert!((1..=most).contains(&heard["accepted"]), "{scheme}: {heard:?} in {took:?}");
    let packets = lab.close().stop().expect("it ran").packets;
    let lost = packets.iter().filter(|packet| matches!(packet.fate, segue_lab::path::Fate::Disconnected(_)));
    assert!(lost.count() > 15, "it has flapped");
    assert_eq!(drops, 0, "{scheme}");
}

#[test]
#[ignore = "needs lab"]
fn flows_live_and_nothing_is_left() {
    in_laboratory(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let bulk = folder.path().join("bulk");
        write_bulk(&bulk, 16 << 20).expect("a file");
        thread::scope(|scope| {
            for scheme in ["etcp-v1", "tcp-ho", "tcp-ho-aggressive"] {
                let bulk = &bulk;
                scope.spawn(move || flap(scheme, bulk));
            }
        });
        left::nothing_left_of(&format!("sg{}_", std::process::id()));
    });
}
