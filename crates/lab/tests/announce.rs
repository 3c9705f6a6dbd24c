//! A make-before-break handoff that the laboratory announces: over which links its reports go, and that they count once.

mod laboratory;

use laboratory::{in_laboratory, link};
use segue_kernel::sender::{Around, Policy};
use segue_lab::packet::Packet;
use segue_lab::path::{Direction, Which};
use segue_lab::{NoticeBy, Plan, RunRecord, Segue, SenderKind, run};
use segue_policy::wire::ReportType;
use std::time::{Duration, Instant};

/// Both connections of iperf3: of its control, and of the data.
const CONNECTIONS: u64 = 2;

/// One run whose handoff is announced so long before.
fn announced(before: Option<Duration>) -> RunRecord {
    let segue =
        Segue { policy: Policy::named("near", &[]).expect("a scheme"), around: Around::Cubic, icmp: false };
    let sender = SenderKind::Aware { name: "near".into(), segue, notice_by: NoticeBy::Laboratory };
    let mut plan = Plan::new(link(6400, 9, None), link(1600, 75, None), vec![sender]);
    (plan.runs, plan.packets, plan.announce) = (1, true, before);
    plan.warm_up = Some(Duration::from_secs(1));
    plan.observe = Duration::from_secs(2);
    run(&plan, &mut |_| {}).expect("it runs").remove(0)
}

/// The packets of the mobile that carry a report of this kind.
fn reports(record: &RunRecord, kind: ReportType) -> Vec<&Packet> {
    let from_mobile = record.packets.iter().filter(|packet| packet.direction == Direction::Up);
    from_mobile.filter(|packet| packet.carries(kind)).collect()
}

/// How many of these packets went over the old link.
fn over_old(packets: &[&Packet]) -> u64 {
    let old = |packet: &&&Packet| packet.queued.is_some_and(|(link, ..)| link == Which::Old);
    packets.iter().filter(old).count() as u64
}

#[test]
#[ignore = "needs lab"]
fn it_is_foreseen_once_and_accepted_once() {
    in_laboratory(|| {
        let limit = Instant::now() + Duration::from_secs(600);
        loop {
            let record = announced(Some(Duration::from_millis(30)));
            let (told, heard) = (&record.notified, &record.sender_counters);
            let counts = ["connections", "announced", "doubled"].map(|name| told[name]);
            assert_eq!(counts, [CONNECTIONS; 3], "{told:?}");
            assert_eq!([heard["foreseen"], heard["accepted"]], [CONNECTIONS; 2], "{heard:?}");
            let notices = reports(&record, ReportType::Completed);
            assert_eq!(over_old(&notices), CONNECTIONS, "one copy of each notice");
            let announcements = reports(&record, ReportType::Expected);
            let down = record.link_down.as_nanos() as u64;
            // On a busy machine they may be late. Nothing waits for them.
            if announcements.iter().all(|packet| packet.entered < down) {
                assert_eq!(over_old(&announcements), 2 * CONNECTIONS, "both copies");
                break;
            }
            assert!(Instant::now() < limit, "announcements are late time and again");
        }
    });
}

#[test]
#[ignore = "needs lab"]
fn at_once_there_is_a_copy_alone_and_else_nothing() {
    in_laboratory(|| {
        for (before, copies) in [(Some(Duration::ZERO), CONNECTIONS), (None, 0)] {
            let record = announced(before);
            let (told, heard) = (&record.notified, &record.sender_counters);
            assert_eq!(told.get("doubled"), before.map(|_| &copies), "{told:?}");
            assert!(!told.contains_key("announced"), "{told:?}");
            assert_eq!([heard["foreseen"], heard["accepted"]], [0, CONNECTIONS], "{heard:?}");
            assert!(reports(&record, ReportType::Expected).is_empty());
            assert_eq!(over_old(&reports(&record, ReportType::Completed)), copies, "{before:?}");
        }
    });
}
