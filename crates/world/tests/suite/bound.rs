//! The bound of docs/reference/bench.md, against times worked out by hand as in [`super::bench`].

use super::bench::{LAST_ACK, LAST_DATA, WIRED_ACK, WIRED_DATA};
use crate::support::*;
use segue_world::{Definition, Experiment, Kind, NoticeMode, WarmRun};

/// The ACK's way over 200kbit/300ms.
const ACK_WAY_SLOW: f64 = LAST_ACK + 1.6 + 300.0 + WIRED_ACK;

/// At 127 ms three packets are on their way to R (the connection stands since 126.11408 ms). The new link can be busy
/// at once and carries those and a hundred more.
#[test]
fn bound_towards_a_slow_link_with_packets_at_the_router() {
    let record = run(&experiment("6400kbit/9ms", "200kbit/300ms"), 127 * MS, &scheme("sack"));
    let bound = 103.0 * 60.0 + 300.0 + LAST_DATA + ACK_WAY_SLOW;
    assert_eq!(record.bound, ms(bound));
}

/// At 150 ms those three have been delivered and nobody has more to send: the link must first be
/// reached, 4 ms.
#[test]
fn bound_towards_a_slow_link_when_nothing_is_under_way() {
    let e = experiment("6400kbit/9ms", "200kbit/300ms");
    let record = run(&e, 150 * MS, &scheme("sack"));
    let bound = 4.0 + 100.0 * 60.0 + 300.0 + LAST_DATA + ACK_WAY_SLOW;
    assert_eq!(record.bound, ms(bound));
    // Two flows, 200 packets.
    let record = run(&Experiment { flows: 2, ..e.clone() }, 150 * MS, &scheme("sack"));
    assert_eq!(record.bound, ms(bound + 100.0 * 60.0));
    // In BBM the same from completion on, as nothing was under way.
    let record = run(&Experiment { kind: Kind::Bbm(10 * MS), ..e }, 150 * MS, &scheme("sack"));
    assert_eq!((record.completion, record.bound), (160 * MS, ms(bound)));
}

/// BBM: what the old link loses must go over the new one. Nothing reaches R before the sender's
/// next packet.
#[test]
fn bound_counts_what_a_disconnection_loses() {
    let e = Experiment { kind: Kind::Bbm(500 * MS), ..experiment("200kbit/300ms", "6400kbit/9ms") };
    let record = run(&e, 800 * MS, &scheme("sack"));
    let bound = 4.0 + 103.0 * 1.875 + 9.0 + LAST_DATA + (LAST_ACK + 0.05 + 9.0 + WIRED_ACK);
    assert_eq!(record.bound, ms(bound));
}

/// 200kbit/300ms to 6400kbit/9ms at 0.8 s: three packets arrive over the old link at 1075.478,
/// 1135.478 and 1195.478 ms. Design: the later of the last of them plus its ACK's way, 408.5 ms, and of
/// a hundred packets, 213.6 ms. But nobody is bound to wait. With all three sent again over the new link it is 219.2 ms
/// (bound.rs says why that is the bound).
#[test]
fn bound_towards_a_fast_link_may_bypass_the_old_one() {
    let e = experiment("200kbit/300ms", "6400kbit/9ms");
    let ack_way = LAST_ACK + 0.05 + 9.0 + WIRED_ACK;
    let bypass = 4.0 + 103.0 * 1.875 + 9.0 + LAST_DATA + ack_way;
    let record = run(&e, 800 * MS, &scheme("sack"));
    assert_eq!(record.bound, ms(bypass));
    // With 500 packets the old link no longer matters.
    let record = run(&Experiment { packets: 500, ..e.clone() }, 800 * MS, &scheme("sack"));
    assert_eq!(record.bound, ms(4.0 + 500.0 * 1.875 + 9.0 + LAST_DATA + ack_way));
    // after-ack: the three count towards the hundred.
    let record = run(&Experiment { definition: Definition::AfterAck, ..e }, 800 * MS, &scheme("sack"));
    assert_eq!(record.bound, ms(4.0 + 100.0 * 1.875 + 9.0 + LAST_DATA + ack_way));
}

/// 6400kbit/9ms to 200kbit/300ms at 150 ms: the ACK of the first two packets is on the old link. The sender hears it at
/// 156.18512 ms and sends three packets. The first ACK over the new link finds that link idle, with 97 packets to go.
#[test]
fn bound_given_the_notice_counts_what_is_sent_before_it() {
    let notice = NoticeMode::InBand { lost: 0 };
    let e = Experiment { notice, ..experiment("6400kbit/9ms", "200kbit/300ms") };
    let behind = 300.0 + LAST_DATA + ACK_WAY_SLOW;
    let (physical, told) = (4.0 + 100.0 * 60.0 + behind, ACK_WAY_SLOW + 4.0 + 97.0 * 60.0 + behind);
    let record = run(&e, 150 * MS, &scheme("sack"));
    assert_eq!((record.bound, record.bound_told), (ms(physical), ms(told)));
    // A copy that is lost makes no difference to what could be; without a notice there is but the physical bound.
    let lost = Experiment { notice: NoticeMode::InBand { lost: 1 }, ..e.clone() };
    assert_eq!(run(&lost, 150 * MS, &scheme("sack")).bound_told, ms(told));
    let withheld = Experiment { notice: NoticeMode::Withheld, ..e.clone() };
    assert_eq!(run(&withheld, 150 * MS, &scheme("sack")).bound_told, ms(physical));
    // An instant notice that is 20 ms late comes when those three keep the link busy.
    let late = Experiment { notice: NoticeMode::Instant, notice_delay: 20 * MS, ..e };
    let heard = 126.11408 + WIRED_DATA + 2.0 * 1.875 + 9.0 + LAST_DATA + LAST_ACK + 0.05 + 9.0 + WIRED_ACK;
    assert_eq!(ms(heard), 156_185_120);
    let told = heard - 150.0 + WIRED_DATA + 100.0 * 60.0 + behind;
    assert_eq!(run(&late, 150 * MS, &scheme("sack")).bound_told, ms(told));
}

/// At 127 ms three packets are on their way to the router. The new link has sent them long before the notice is there,
/// and carries the hundred that follow.
#[test]
fn bound_given_the_notice_counts_what_is_under_way() {
    let notice = NoticeMode::InBand { lost: 0 };
    let e = Experiment { notice, ..experiment("6400kbit/9ms", "200kbit/300ms") };
    let record = run(&e, 127 * MS, &scheme("sack"));
    let bound = 4.0 + 100.0 * 60.0 + 300.0 + LAST_DATA + ACK_WAY_SLOW;
    assert_eq!(record.bound_told, ms(ACK_WAY_SLOW + bound));
}

/// BBM from 200kbit/300ms: the notice over 6400kbit/9ms is there after 13.06 ms, and nothing has been sent meanwhile.
/// Packets that the old link has lost are sent then.
#[test]
fn bound_given_the_notice_counts_what_a_disconnection_loses() {
    let notice = NoticeMode::InBand { lost: 0 };
    let e = Experiment { kind: Kind::Bbm(500 * MS), notice, ..experiment("200kbit/300ms", "6400kbit/9ms") };
    let record = run(&e, 800 * MS, &scheme("sack"));
    let ack_way = LAST_ACK + 0.05 + 9.0 + WIRED_ACK;
    assert_eq!(record.bound_told, ms(ack_way + 4.0 + 103.0 * 1.875 + 9.0 + LAST_DATA + ack_way));
    assert!(record.transfer.is_some_and(|time| time >= record.bound_told));
}

fn outage_on_linux() -> Experiment {
    let stack = segue_tcp::StackProfile::named("linux-6.12").expect("a stack");
    Experiment { kind: Kind::Bbm(10_000 * MS), stack, ..experiment("6400kbit/9ms", "6400kbit/9ms") }
}

/// A scheme that acts before completion needs no notice: Freeze-TCP's bound is the physical one.
#[test]
fn bound_given_the_notice_is_for_those_who_wait_for_it() {
    let notice = NoticeMode::InBand { lost: 0 };
    let e = Experiment { kind: Kind::Bbm(500 * MS), notice, ..experiment("200kbit/300ms", "6400kbit/9ms") };
    let handoff = WarmRun::new(e).fork(3000 * MS).complete();
    let (freeze, sack) = (handoff.run(&scheme("freeze")), handoff.run(&scheme("sack")));
    assert_eq!(freeze.bound_told, freeze.bound);
    assert!(sack.bound_told > sack.bound);
    // A mobile alone waits for no notice, however late.
    let e = Experiment { notice: NoticeMode::Instant, notice_delay: 2000 * MS, ..outage_on_linux() };
    let mobile = WarmRun::new(e).fork(3000 * MS).complete().run(&scheme("mobile"));
    assert!(mobile.transfer.is_some_and(|time| time >= mobile.bound_told), "{mobile:?}");
}
