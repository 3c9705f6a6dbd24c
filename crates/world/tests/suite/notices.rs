//! The ways of notices, against times worked out by hand as in [`super::bench`].

use super::bench::{LAST_ACK, WIRED_ACK};
use crate::support::*;
use segue_handoff::Scheme;
use segue_netsim::SECOND;
use segue_world::{Experiment, Kind, NoticeMode};

/// When the mobile has sent its first report and waits for nothing, and no ACK is on its way.
const IDLE: f64 = 1700.0;

fn idle_moment() -> Experiment {
    Experiment { notice: NoticeMode::InBand { lost: 0 }, ..experiment("200kbit/300ms", "6400kbit/9ms") }
}

/// Two bare ACKs of 40 bytes: last hop 0.00064, access link 0.05 + 9, wired hops.
#[test]
fn an_in_band_notice_takes_its_way_over_the_new_link() {
    let heard = ms(IDLE + LAST_ACK + 0.05 + 9.0 + WIRED_ACK);
    for copies in [2, 1] {
        let mut twin = Twin::hand_over(&idle_moment(), ms(IDLE)).equip(&scheme("etcp")).announce(copies);
        twin.finish();
        assert_eq!(twin.picked(|what| (what == What::Notice).then_some(())), [(heard, 0, ())]);
        let notice = NoticeMode::InBand { lost: 2 - copies };
        let record = run(&Experiment { notice, ..idle_moment() }, ms(IDLE), &scheme("etcp"));
        twin.agrees_with(&record);
        assert_eq!(Some(twin.sim.net.now() - twin.completion), record.transfer);
    }
}

/// The second copy repeats the first, for every flow.
#[test]
fn both_copies_of_a_notice_are_one() {
    let e = Experiment { flows: 3, ..experiment("1600kbit/37ms", "200kbit/300ms") };
    let mut twin = Twin::hand_over(&e, 4000 * MS).equip(&scheme("etcp-v1")).announce(2);
    twin.finish();
    let heard = twin.picked(|what| (what == What::Notice).then_some(()));
    assert_eq!(heard.iter().map(|h| h.1).collect::<Vec<_>>(), [0, 1, 2]);
    // Six ACKs of 40 bytes or more share the new uplink, two of each flow in a row.
    let least = ms(4000.0 + LAST_ACK + 300.0 + WIRED_ACK);
    for (flow, heard) in heard.iter().enumerate() {
        assert!(heard.0 >= least + ms(1.6 * (2 * flow + 1) as f64), "{heard:?}");
    }
}

/// The new uplink's queue of five holds four notices and the one being sent: a third flow's are lost.
#[test]
fn a_notice_is_subject_to_the_queue() {
    let e = Experiment { flows: 4, ..experiment("1600kbit/37ms", "200kbit/10ms") };
    let mut twin = Twin::hand_over(&e, 4000 * MS).equip(&scheme("etcp")).announce(2);
    twin.run_until(4200 * MS);
    let dropped = twin.picked(|what| matches!(what, What::AckDropped { on_new: true, .. }).then_some(()));
    assert!(dropped.len() >= 3, "eight ACKs, five link_ids: {dropped:?}");
    let heard = twin.picked(|what| (what == What::Notice).then_some(()));
    assert_eq!(
        heard.iter().map(|h| h.1).collect::<Vec<_>>(),
        [0, 1, 2],
        "the third flow's first copy is the fifth"
    );
}

/// Two notices in a row repeat an ACK. A scheme that has nothing to do at this handoff shows that they count as no
/// duplicate ACKs. Otherwise limited transmit would send two packets more.
#[test]
fn a_notice_is_no_duplicate_ack() {
    let mut compared = 0;
    for at in (1700..9000).step_by(20) {
        // A notice is a cumulative ACK all the same, so only where it brings no news.
        let mut twin = Twin::hand_over(&idle_moment(), at * MS);
        let received = twin.mn().flows[0].receiver.rcv_nxt();
        if twin.sender(0).snd_una() != received || twin.view(0).in_fast_recovery {
            continue;
        }
        compared += 1;
        let [plain, told] = ["sack", "etcp:a3"].map(|name| run(&idle_moment(), at * MS, &scheme(name)));
        let heads =
            |record: &segue_world::RunRecord| record.fast_retransmits.iter().map(|f| f.2).collect::<Vec<_>>();
        assert_eq!((told.timeouts.len(), heads(&told)), (plain.timeouts.len(), heads(&plain)), "{at}");
        assert_eq!(told.retransmissions, plain.retransmissions, "{at}");
        // 0.1 ms of the uplink is all it costs.
        assert!(
            told.transfer.expect("it ends").abs_diff(plain.transfer.expect("it ends")) <= ms(0.1),
            "{at}"
        );
    }
    assert!(compared > 5, "{compared}");
    // On an idle way back not even a time changes.
    let plain = run(&idle_moment(), ms(IDLE), &scheme("sack"));
    assert_eq!(run(&idle_moment(), ms(IDLE), &scheme("etcp:a3")), plain);
}

/// The option that opens a connection's conversation about links changes nothing for anybody.
#[test]
fn the_first_report_changes_nothing() {
    for flows in 1..=6 {
        for at in [1, 3, 5] {
            for new in ["200kbit/300ms", "300kbit/20ms", "6400kbit/9ms"] {
                let e = Experiment { flows, ..experiment("250kbit/100ms", new) };
                let mut with = Twin::new(&e);
                let mut without = Twin::new(&e);
                without.mn().flows.iter_mut().for_each(|flow| flow.first_report = None);
                with.run_until(at * SECOND);
                without.run_until(at * SECOND);
                let events = |twin: &Twin| twin.events().collect::<Vec<_>>();
                assert_eq!(events(&with), events(&without), "{flows} flows to {at} s");
            }
        }
    }
}

/// An instant notice may be told later (algorithms.md, 9.15).
#[test]
fn an_instant_notice_may_be_late() {
    let e = Experiment {
        notice_delay: 304 * MS,
        kind: Kind::Bbm(500 * MS),
        ..experiment("6400kbit/9ms", "6400kbit/300ms")
    };
    let scheme = scheme("etcp:a3");
    let record = run(&e, 7000 * MS, &scheme);
    let mut twin = Twin::hand_over(&e, 7000 * MS).equip(&scheme);
    twin.run_until(7804 * MS);
    let mut twin = twin.notify();
    assert_eq!(Some(twin.finish()), record.transfer);
    twin.agrees_with(&record);
}

/// All is lost in the outage, and the timer is that of a round trip of 700 ms. Nothing has come to the sender for a
/// second when an instant notice does. A claim lets new packets out at once (docs/reference/near.md, 8.3), and a notice in
/// band cannot be sooner.
#[test]
fn an_instant_notice_finds_the_clock_of_a_kernel_at_the_present() {
    let near = Scheme::build("near", &[("enact".into(), "linux".into())]).expect("a scheme");
    for at in [7_600, 8_200, 10_600, 18_400].map(|ms| ms * MS) {
        let instant = Experiment {
            kind: Kind::Bbm(SECOND),
            stack: stack("linux-6.12"),
            ..experiment("200kbit/300ms", "6400kbit/9ms")
        };
        let in_band = Experiment { notice: NoticeMode::InBand { lost: 0 }, ..instant.clone() };
        let [instant, in_band] = [&instant, &in_band].map(|e| run(e, at, &near).transfer.expect("it ends"));
        assert!(instant <= in_band + 10 * MS, "{at}: {instant} and {in_band}");
    }
}

/// The ACK with the notice has overtaken forty others. It lets no packets out at once (docs/reference/near.md, 3.2), of which
/// the new link's queue would drop most.
#[test]
fn the_ack_with_a_notice_lets_the_clock_alone_send() {
    let near = Scheme::build("near", &[("enact".into(), "paper".into())]).expect("a scheme");
    for stack_name in ["linux-6.12", "ns2-sack1"] {
        let e = Experiment {
            stack: stack(stack_name),
            notice: NoticeMode::InBand { lost: 0 },
            ..experiment("1600kbit/300ms", "1600kbit/9ms")
        };
        let record = run(&e, 9_550 * MS, &near);
        assert_eq!((record.drops, record.transfer.is_some()), (0, true), "{stack_name}");
    }
}
