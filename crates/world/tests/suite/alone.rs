//! The mobile alone on the bench (docs/reference/mobile.md). It shows what the mobile sends after an outage and what a
//! sender makes of it. It also shows how the mobile bounds its windows, and that it harms nobody.

use crate::support::*;
use proptest::prelude::*;
use segue_handoff::Act;
use segue_netsim::{Nanos, SECOND};
use segue_tcp::Detail;
use segue_tcp::profile::PROFILES;
use segue_world::drive::mobility::{Drive, Stay};
use segue_world::drive::run::{DriveExperiment, WideArea};
use segue_world::packet::Packet;
use segue_world::trace::{Trace, What, trace};
use segue_world::{AccessLink, Experiment, Kind, NoticeMode, Routers, WarmRun};
use std::sync::Arc;

const SCHEMES: [&str; 3] = ["mobile", "mobile-resume", "mobile-window"];

/// The link of the laboratory, gone for so long.
fn outage(stack_name: &str, seconds: u64) -> Experiment {
    let kind = Kind::Bbm(seconds * SECOND);
    Experiment { kind, stack: stack(stack_name), ..experiment("6400kbit/9ms", "6400kbit/9ms") }
}

fn traced(experiment: &Experiment, at: Nanos, scheme: &segue_handoff::Scheme) -> Trace {
    let Ok([trace]) = <[_; 1]>::try_from(trace(experiment, at, &[scheme])) else { panic!("one scheme") };
    trace
}

/// Acts of the mobile, and their times.
fn acts(trace: &Trace) -> Vec<(Nanos, Act)> {
    let act = |event: &segue_world::trace::Event| match &event.what {
        What::Acted { act, .. } => Some((event.at, *act)),
        _ => None,
    };
    trace.events.iter().filter_map(act).collect()
}

fn sent_by_mobile(trace: &Trace) -> impl Iterator<Item = (Nanos, &Packet)> {
    trace.events.iter().filter_map(|event| match &event.what {
        What::Sent(packet) if !packet.data => Some((event.at, packet)),
        _ => None,
    })
}

/// Messages about the last four ACK numbers, three each, the newest first. Then come ACKs of one octet behind the older
/// numbers, the oldest first, and three ACKs. All ACKs echo nothing. The sender sends again as soon as the message
/// about its first packet is there.
#[test]
fn a_sender_of_linux_resumes_at_once() {
    let (at, down) = (8 * SECOND, 10 * SECOND);
    let trace = traced(&outage("linux-6.12", 10), at, &scheme("mobile-resume"));
    let up = at + down;
    let mut numbers: Vec<u32> =
        sent_by_mobile(&trace).filter(|sent| sent.0 < up).map(|sent| sent.1.segment.ack).collect();
    numbers.dedup();
    let last: Vec<u32> = numbers.into_iter().rev().take(4).collect();
    let said: Vec<Act> = acts(&trace).into_iter().map(|act| act.1).filter(|act| !act.at_sender()).collect();
    let three = |act: Act| [act; 3];
    let messages = last.iter().flat_map(|&seq| three(Act::Message { seq, lost: false }));
    let octets = last[1..].iter().rev().map(|&seq| Act::Octet { seq, lost: false });
    let expected: Vec<Act> =
        messages.chain(octets).chain(three(Act::LastAck { ack: last[0], lost: false })).collect();
    assert_eq!(said[..18], expected);
    let sent: Vec<_> = sent_by_mobile(&trace).filter(|sent| sent.0 >= up).take(6).collect();
    let numbers: Vec<_> = sent.iter().map(|sent| (sent.1.segment.ack, sent.1.segment.detail)).collect();
    let octets = last[1..].iter().rev().map(|&seq| (seq, Detail::Octet));
    assert_eq!(numbers, octets.chain([(last[0], Detail::None); 3]).collect::<Vec<_>>());
    for (_, packet) in sent {
        assert_eq!(packet.segment.timestamps.map(|stamps| stamps.echo), Some(0));
    }

    // Which number it is that the sender lacks: the last three ACKs died with the link.
    let heeded = |act: &&(Nanos, Act)| matches!(act.1, Act::MessageHeard { heeded: true, .. });
    let all = acts(&trace);
    let first = all.iter().find(heeded).expect("a message is heeded");
    assert_eq!(first.1, Act::MessageHeard { seq: last[3], heeded: true });
    let resent = trace.events.iter().find(|event| {
        event.at >= up && matches!(&event.what, What::Sent(packet) if packet.data && !packet.is_probe())
    });
    let resent = resent.expect("the sender sends");
    // Two back-offs are left after the first three, and the timer of before has long passed.
    assert!(resent.at - up < 18 * MS, "within a round trip: {}", resent.at - up);
    assert!(trace.record.transfer.expect("done") < SECOND / 2);
    let plain = run(&outage("linux-6.12", 10), at, &scheme("sack"));
    assert!(plain.transfer.expect("done") > 5 * SECOND, "its timer has backed off");
}

/// The messages are packets of 56 bytes that the uplink carries before anything else: 28 ms each on 16 kbit/s.
#[test]
fn messages_take_the_uplinks_time() {
    let slow = Experiment { new: link("6400kbit/9ms,up=16kbit"), ..outage("linux-6.12", 10) };
    let trace = traced(&slow, 8 * SECOND, &scheme("mobile-resume"));
    let up = trace.record.completion;
    let heard: Vec<Nanos> = acts(&trace).iter().filter(|act| act.1.at_sender()).map(|act| act.0).collect();
    let wired = 2 * (2 * MS + 56 * 8 * SECOND / 100_000_000);
    let first = 56 * 8 * SECOND / 16_000 + 9 * MS + wired;
    for (index, at) in heard.iter().take(3).enumerate() {
        let expected = up + first + index as Nanos * 28 * MS;
        assert!(at.abs_diff(expected) < 1000, "message {index} after {} ns, not {}", at - up, expected - up);
    }
    // Three, then a pause of as long as three of 84 bytes take on half of the uplink.
    let sent: Vec<Nanos> = acts(&trace).iter().filter(|act| !act.1.at_sender()).map(|act| act.0).collect();
    assert_eq!(sent[3] - sent[0], 3 * 84 * 8 * SECOND / 8_000);
}

/// A stack by rules ignores ICMP; the ACKs are what it gets.
#[test]
fn other_stacks_ignore_messages() {
    for name in ["ns2-sack1", "rfc", "linux", "freebsd5-newreno"] {
        let trace = traced(&outage(name, 10), 8 * SECOND, &scheme("mobile-resume"));
        let heard: Vec<_> = acts(&trace).into_iter().map(|act| act.1).filter(Act::at_sender).collect();
        assert!(!heard.is_empty(), "{name}");
        assert!(heard.iter().all(|act| matches!(act, Act::MessageHeard { heeded: false, .. })), "{name}");
    }
}

/// RFC 6069 acts on connections whose timer has expired. Without an outage, nobody says anything.
#[test]
fn without_an_outage_nothing_is_sent() {
    for name in ["ns2-sack1", "linux-6.12"] {
        let experiment = Experiment { stack: stack(name), ..experiment("6400kbit/9ms", "6400kbit/9ms") };
        let handoff = WarmRun::new(experiment).fork(8 * SECOND).complete();
        for scheme_name in SCHEMES {
            assert_eq!(handoff.run(&scheme(scheme_name)), handoff.run(&scheme("sack")), "{scheme_name}");
        }
    }
}

/// From the first ACK of the new link on, the sender has no more under way than W, until the end.
#[test]
fn a_slower_link_has_no_more_than_its_window_under_way() {
    let stack = stack("linux-6.12");
    let slow = Experiment { stack, ..experiment("6400kbit/9ms", "200kbit/300ms") };
    let usual = slow.stack.receive_window;
    // 10.1 packets are on the path of 608 ms, and half of the queue of ten.
    let window = 10 + 5;
    let (mut dropped, mut plainly) = (0, 0);
    for at in (50..=80).map(|tenths| tenths * 100 * MS) {
        let trace = traced(&slow, at, &scheme("mobile-window"));
        let (early, acts): (Vec<_>, Vec<_>) =
            acts(&trace).into_iter().partition(|act| matches!(act.1, Act::EarlyAck { .. }));
        // The timer expires before 608 ms: two packets are resent in the first round, in which 15 packets take 900 ms.
        let bounded = |window| Act::Bounded { window, raised: false };
        assert_eq!(acts, [(at, bounded(window - 2)), (at + 900 * MS, bounded(window))]);
        // 291 ms, after which an ACK is there no sooner, and one packet in 60 ms.
        assert!((1..=5).contains(&early.len()), "{early:?}");
        assert!(early.iter().all(|act| act.0 < at + 291 * MS), "{early:?}");
        let mut edge = None;
        for event in &trace.events {
            match &event.what {
                // Wider by what is held behind a hole.
                What::Received { packet, .. } if !packet.data && packet.segment.window < usual => {
                    let segment = &packet.segment;
                    assert!(
                        [window - 2, window].contains(&segment.window)
                            || (segment.window > window - 2 && !segment.sack.is_empty())
                    );
                    edge = Some(packet.segment.ack + packet.segment.window).max(edge);
                }
                What::Sent(packet) if packet.data && !packet.is_probe() && !packet.retransmission => {
                    let seq = packet.segment.seq;
                    assert!(edge.is_none_or(|edge| seq < edge), "{seq} at {}, {edge:?}", event.at);
                }
                _ => {}
            }
        }
        assert!(edge.is_some());
        dropped += trace.record.drops;
        plainly += run(&slow, at, &scheme("sack")).drops;
    }
    assert!(10 * dropped < plainly, "{dropped} drops, and {plainly} of plain TCP");
}

/// ACKs over the old link tell of packets that have come, once in the time of a packet, with the stamp of the handoff.
/// They are there before the first ACK by the new link.
#[test]
fn the_bound_is_told_over_the_old_link_too() {
    let mut heard = 0;
    for (name, flows) in [("linux-6.12", 1), ("linux-6.12/bbr", 1), ("linux-6.12/bbr", 4), ("rfc", 2)] {
        let slow = Experiment { flows, stack: stack(name), ..experiment("6400kbit/9ms", "200kbit/300ms") };
        for at in [4, 6, 8].map(|at| at * SECOND) {
            let trace = traced(&slow, at, &scheme("mobile-window"));
            let (mut newest, mut times) = (vec![0; flows], Vec::new());
            let early = |event: &segue_world::trace::Event| match event.what {
                What::Acted { act: Act::EarlyAck { ack, lost: false }, .. } => Some(ack),
                _ => None,
            };
            let mut told = None;
            for event in &trace.events {
                if let Some(ack) = early(event) {
                    times.push(event.at);
                    told = Some(ack);
                }
                let What::Sent(packet) = &event.what else { continue };
                if packet.data {
                    continue;
                }
                let flow = usize::from(packet.flow);
                let (ack, value) =
                    (packet.segment.ack, packet.segment.timestamps.map_or(0, |stamps| stamps.value));
                if told.take() == Some(ack) {
                    assert!(ack <= newest[flow], "{ack} has not come on flow {flow}");
                    assert!(packet.segment.sack.is_empty());
                    // RFC 7323, 5: no stamp by the new link may look old behind it.
                    let later =
                        sent_by_mobile(&trace).filter(|sent| sent.0 >= at && sent.1.flow == packet.flow);
                    let stamps = later.filter_map(|sent| sent.1.segment.timestamps);
                    assert!(stamps.map(|stamps| stamps.value).all(|later| later >= value));
                    heard += 1;
                } else {
                    newest[flow] = newest[flow].max(ack);
                }
            }
            // One of each as soon as it can be, the others 60 ms apart.
            assert!(times.len() <= flows + 4, "{times:?}");
            assert!(times.iter().all(|time| *time < at + 291 * MS));
        }
    }
    assert!(heard > 30, "{heard}");
}

/// A mobile whose old link is gone, or whose ACKs there are lost, has the bound alone.
#[test]
fn without_the_old_link_the_bound_is_told_over_the_new_one() {
    let mbb = Experiment { stack: stack("linux-6.12/bbr"), ..experiment("6400kbit/9ms", "200kbit/300ms") };
    let at = 8 * SECOND;
    let early = |experiment: &Experiment, lost: &str| {
        let scheme = scheme_with("mobile-window", &[("alone-lost", lost)]);
        let all = acts(&traced(experiment, at, &scheme));
        all.iter().filter(|act| matches!(act.1, Act::EarlyAck { lost: false, .. })).count()
    };
    assert!(early(&mbb, "0") > 2);
    assert_eq!(early(&mbb, "all"), 0);
    assert_eq!(early(&Experiment { kind: Kind::Bbm(100 * MS), ..mbb.clone() }, "0"), 0);
    // Over a new link that is as fast a way ACKs have no need of the old one.
    assert_eq!(early(&Experiment { new: link("200kbit/9ms"), ..mbb }, "0"), 0);
}

/// W is that of all connections together.
#[test]
fn connections_share_the_window() {
    for flows in [2, 3, 5] {
        let shared =
            Experiment { flows, stack: stack("linux-6.12"), ..experiment("6400kbit/9ms", "1mbit/100ms") };
        // A path of 208 ms: 17.3 packets of 1500 bytes, and half of the queue of 17.
        let window = 17 + 8;
        let trace = traced(&shared, 8 * SECOND, &scheme("mobile-window"));
        let first = acts(&trace).into_iter().take_while(|act| act.0 == 8 * SECOND);
        let parts = first.map(|act| match act.1 {
            Act::Bounded { window, raised: false } => window,
            other => panic!("{other:?}"),
        });
        let parts: Vec<u32> = parts.collect();
        assert_eq!(parts.len(), flows);
        let all: u32 = parts.iter().sum();
        assert!(all <= window && all + flows as u32 > window, "{parts:?} of {window}");
    }
}

/// A link towards something faster, or to the same, is not bounded.
#[test]
fn a_faster_link_is_not_bounded() {
    for stack_name in ["ns2-sack1", "linux-6.12"] {
        let up = Experiment { stack: stack(stack_name), ..experiment("200kbit/300ms", "6400kbit/9ms") };
        let handoff = WarmRun::new(up).fork(8 * SECOND).complete();
        assert_eq!(handoff.run(&scheme("mobile-window")), handoff.run(&scheme("sack")));
    }
}

fn any_link() -> impl Strategy<Value = String> {
    (2.0f64..4.5, 1u32..=300)
        .prop_map(|(decade, delay)| format!("{}kbit/{delay}ms", 10f64.powf(decade).round()))
}

fn any_stack() -> impl Strategy<Value = &'static str> {
    let rules = PROFILES.iter().map(|profile| profile.name);
    prop::sample::select(rules.chain(["linux-6.12", "linux-6.12/bbr", "linux-6.12/reno"]).collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(cases(4))]

    /// If all that it sends is lost, the sender is plain TCP, bit by bit, unless a stamp was not echoed.
    #[test]
    fn lost_packets_leave_plain_tcp(
        old in any_link(), new in any_link(), outage in 1u64..=20_000, name in any_stack(), flows in 1usize..=3,
        at in 1_000u64..=12_000,
    ) {
        let kind = Kind::Bbm(outage * MS);
        let experiment = Experiment { kind, flows, stack: stack(name), ..experiment(&old, &new) };
        let silent = scheme_with("mobile-resume", &[("alone-lost", "all")]);
        let handoff = WarmRun::new(experiment.clone()).fork(at * MS).complete();
        let (alone, plain) = (handoff.run(&silent), handoff.run(&scheme("sack")));
        let withheld = |act: &(Nanos, Act)| matches!(act.1, Act::NotEchoed { .. });
        if alone != plain {
            prop_assert!(acts(&traced(&experiment, at * MS, &silent)).iter().any(withheld));
        }
    }

    /// The same handoff, the same record; whoever ran before.
    #[test]
    fn a_handoff_has_one_outcome(
        old in any_link(), new in any_link(), outage in 0u64..=5_000, name in any_stack(), flows in 1usize..=3,
        at in 1_000u64..=12_000,
    ) {
        let kind = if outage == 0 { Kind::Mbb } else { Kind::Bbm(outage * MS) };
        let experiment = Experiment { kind, flows, stack: stack(name), ..experiment(&old, &new) };
        let handoff = WarmRun::new(experiment.clone()).fork(at * MS).complete();
        for scheme_name in SCHEMES {
            let first = handoff.run(&scheme(scheme_name));
            prop_assert_eq!(&first, &run(&experiment, at * MS, &scheme(scheme_name)));
            prop_assert!(first.transfer.is_none_or(|time| time >= first.bound));
        }
    }
}

/// Rates of links.
const KBPS: [u32; 8] = [100, 200, 400, 1000, 2000, 6400, 20_000, 50_000];

/// Transfer times of each scheme over those of plain TCP in the same handoffs, ascending.
fn ratios(
    stack_name: &str,
    kind: impl Fn(&mut Lot) -> Kind,
    schemes: &[segue_handoff::Scheme],
) -> Vec<Vec<f64>> {
    let mut lot = Lot(7);
    let mut all = vec![Vec::new(); schemes.len()];
    let plain = scheme("sack");
    for _ in 0..HANDOFFS {
        let (old, new) = (lot.link(&KBPS), lot.link(&KBPS));
        let (kind, at) = (kind(&mut lot), 2000 + lot.below(8000));
        let flows = 1 + lot.below(3) as usize;
        let experiment = Experiment { kind, flows, stack: stack(stack_name), ..experiment(&old, &new) };
        let handoff = WarmRun::new(experiment).fork(at * MS).complete();
        // Not done within 400 s
        let time = |scheme| handoff.run(scheme).transfer.map_or(400.0, |time| time as f64 / 1e9);
        let plain = time(&plain);
        all.iter_mut().zip(schemes).for_each(|(all, scheme)| all.push(time(scheme) / plain));
    }
    all.iter_mut().for_each(|ratios| ratios.sort_by(f64::total_cmp));
    all
}

/// Handoffs of a class.
const HANDOFFS: usize = 40;

/// Three of four handoffs of each class are no slower than plain TCP's, whether messages come through or are lost. Single
/// ones may be: whoever sends at another time meets another queue.
#[test]
fn no_class_of_handoffs_is_harmed() {
    let outage = |lot: &mut Lot| Kind::Bbm((100 + lot.below(20_000)) * MS);
    let settings = [
        ("mobile", "0"),
        ("mobile-window", "0"),
        ("mobile-resume", "0"),
        ("mobile-resume", "3"),
        ("mobile-resume", "12"),
    ];
    let schemes = settings.map(|(name, lost)| scheme_with(name, &[("alone-lost", lost)]));
    for stack_name in ["ns2-sack1", "rfc", "freebsd5-newreno", "linux-6.12", "linux-6.12/bbr"] {
        let after_outages = ratios(stack_name, outage, &schemes);
        let without = ratios(stack_name, |_| Kind::Mbb, &schemes[..1]);
        for (index, ratios) in after_outages.iter().chain(&without).enumerate() {
            let (name, lost) = settings[index % settings.len()];
            let kind = if index < settings.len() { "outage" } else { "none" };
            let quarters = [0, 1, 2, 3, 4].map(|quarter| ratios[(HANDOFFS * quarter / 4).min(HANDOFFS - 1)]);
            println!("{stack_name}, {name}, {lost} lost, {kind}: {quarters:.2?}");
            assert!(ratios[HANDOFFS * 3 / 4] <= 1.02, "{name}, {lost} lost, on {stack_name}: {ratios:.2?}");
        }
    }
}

/// Twenty stays of 6 s on one link, one second apart.
fn drive(stack_name: &str) -> DriveExperiment {
    let link = AccessLink::parse("6400kbit/9ms").expect("a link");
    let stays = (0..20).map(|index| {
        let from = index * 7 * SECOND;
        Stay { network: 0, from, until: from + 6 * SECOND, link: link.clone() }
    });
    let drive = Drive::new(140 * SECOND, vec!["cell".into()], stays.collect()).expect("a drive");
    DriveExperiment {
        drive: Arc::new(drive),
        flows: 2,
        cross: 0,
        web: None,
        wan: WideArea { rate: 100_000_000, delay: 10 * MS, queue: 100 },
        stack: stack(stack_name),
        notice: NoticeMode::Withheld,
        bandwidth_error: 0.0,
        routers: Routers::default(),
        seed: 1,
    }
}

/// In drives, too: after each outage of a second the sender of Linux goes on at once.
#[test]
fn a_drive_resumes_after_each_outage() {
    let drive = drive("linux-6.12");
    let idle = |name: &str| {
        let record = drive.run(&scheme(name));
        let mut idle: Vec<Nanos> =
            record.handoffs.iter().map(|handoff| handoff.idle.unwrap_or(6 * SECOND)).collect();
        idle.sort_unstable();
        (idle[idle.len() / 2], record.mobile_bytes.iter().sum::<u64>())
    };
    let ((alone, bytes), (plain, plain_bytes)) = (idle("mobile"), idle("cubic"));
    assert!(alone < 60 * MS, "{alone}: a round trip is 38 ms");
    assert!(plain > 2 * alone && bytes > plain_bytes, "{plain}; {bytes} and {plain_bytes}");
}
