//! Access routers with buffers on the bench (algorithms.md, 6.1): who holds what, how it gets to the mobile, and that
//! packets are conserved.

use crate::support::*;
use proptest::prelude::*;
use segue_handoff::Scheme;
use segue_netsim::{Capacity, Nanos, Overflow, SECOND};
use segue_tcp::profile::PROFILES;
use segue_world::trace::{Side, Trace, What, trace};
use segue_world::{Definition, Experiment, Kind, Routers};

const SCHEMES: [&str; 6] =
    ["buffer-fcfd", "buffer-fcfd+phas", "buffer-lcfd", "buffer-lcfd+phas", "sack", "freeze"];

/// An outage without a timeout: the RTO is a second at least.
fn short(old: &str, new: &str) -> Experiment {
    let mut stack = stack("ns2-newreno");
    stack.rto.min = SECOND;
    Experiment { kind: Kind::Bbm(300 * MS), stack, ..experiment(old, new) }
}

fn routers(settings: &[(&str, &str)]) -> Routers {
    let mut routers = Routers::default();
    for (key, value) in settings {
        routers.set(key, value).expect("a setting of routers").unwrap_or_else(|error| panic!("{error}"));
    }
    routers
}

fn one(experiment: &Experiment, at: Nanos, scheme: &Scheme) -> Trace {
    trace(experiment, at, &[scheme]).pop().expect("one scheme")
}

/// Sequence numbers of the data that reach the mobile from `from` on, in order.
fn reached(trace: &Trace, from: Nanos) -> Vec<u32> {
    let data = trace.events.iter().filter(|event| event.at >= from);
    data.filter_map(|event| match &event.what {
        What::Received { packet, .. } if packet.data => Some(packet.segment.seq),
        _ => None,
    })
    .collect()
}

/// With room for all, what waited at the old router and what came later reaches the mobile in FIFO order over the new
/// link. Only what was already on the air is lost, and the sender times out on nothing.
#[test]
fn the_previous_router_forwards_what_it_holds() {
    let e = short("2mbit/20ms", "2mbit/20ms");
    let at = 2 * SECOND;
    let bare = run(&e, at, &scheme("newreno"));
    let told = one(&e, at, &scheme("buffer-lcfd"));
    let on_air = told.record.lost_in_disconnection;
    assert!(
        bare.lost_in_disconnection > on_air,
        "the bare bench loses more: {} > {on_air}",
        bare.lost_in_disconnection
    );
    assert_eq!((told.record.buffer_drops, told.record.timeouts.len()), (0, 0));
    let came = reached(&told, told.record.completion);
    let forwarded: Vec<u32> =
        came.windows(2).take_while(|pair| pair[1] == pair[0] + 1).map(|pair| pair[1]).collect();
    assert!(forwarded.len() >= 5, "in order: {came:?}");
    // Request: last hop, 2 Mbit/s and 20 ms, tunnel of 2 ms; back: tunnel, 6 ms of serialisation and 20 ms.
    let first = told.events.iter().find(|e| {
        e.at >= told.record.completion && matches!(&e.what, What::Received { packet, .. } if packet.data)
    });
    let way = first.expect("something came").at - told.record.completion;
    let sent = |bytes: u64, rate: u64| (bytes * 8 * SECOND + rate / 2) / rate;
    let up = sent(40, 500_000_000) + sent(40, 2_000_000) + 20 * MS + sent(40, 100_000_000) + 2 * MS;
    let down = sent(1500, 100_000_000) + 2 * MS + sent(1500, 2_000_000) + 20 * MS + sent(1500, 500_000_000);
    assert_eq!(way, up + down);
}

/// The same window into a buffer of five: first come, first dropped leaves the last five, last come the first five.
#[test]
fn a_full_buffer_drops_by_its_policy() {
    let e =
        Experiment { routers: routers(&[("router-buffer-size", "5p")]), ..short("2mbit/20ms", "2mbit/20ms") };
    let at = 2 * SECOND;
    let dropped = |name: &str| -> (Vec<u32>, Vec<u32>) {
        let told = one(&e, at, &scheme(name));
        let dropped: Vec<u32> = told
            .events
            .iter()
            .filter_map(|event| match &event.what {
                What::Overflowed { side: Side::Old, packet } => Some(packet.segment.seq),
                _ => None,
            })
            .collect();
        assert_eq!(told.record.buffer_drops as usize, dropped.len());
        let came = reached(&told, told.record.completion);
        (dropped, came[..5].to_vec())
    };
    let (by_fcfd, came_fcfd) = dropped("buffer-fcfd");
    let (by_lcfd, came_lcfd) = dropped("buffer-lcfd");
    assert_eq!(by_fcfd.len(), by_lcfd.len());
    let held: Vec<u32> = (by_fcfd[0]..=*by_lcfd.last().unwrap()).collect();
    assert_eq!(held.len(), by_fcfd.len() + 5);
    assert_eq!((by_fcfd.as_slice(), came_fcfd.as_slice()), held.split_at(held.len() - 5));
    assert_eq!((came_lcfd.as_slice(), by_lcfd.as_slice()), held.split_at(5));
}

/// A buffer at the new router: with a hint in time nothing is on the air when the link goes, so nothing is lost.
#[test]
fn the_new_router_holds_what_was_tunnelled() {
    let set = |hint: &str| routers(&[("router-buffer", "new-lcfd"), ("handoff-hint", hint)]);
    let lost = |hint: &str| {
        let e = Experiment { routers: set(hint), ..short("2mbit/20ms", "2mbit/20ms") };
        let told = one(&e, 2 * SECOND, &scheme("sack"));
        let data = told.events.iter().filter(|e| matches!(&e.what, What::Lost { packet, .. } if packet.data));
        assert_eq!(told.record.buffer_drops, 0);
        data.count()
    };
    assert!(lost("1ms") > 0);
    // A queue of seven packets of 6 ms, and the delay.
    assert_eq!(lost("100ms"), 0);
}

/// Make-before-break leaves nothing to hold: a buffer changes nothing at all.
#[test]
fn without_a_disconnection_nothing_is_held() {
    let e = Experiment { kind: Kind::Mbb, ..short("2mbit/20ms", "800kbit/60ms") };
    let with = run(&e, 2 * SECOND, &scheme("buffer-lcfd"));
    assert_eq!(with, run(&e, 2 * SECOND, &scheme("newreno")));
}

fn any_routers() -> impl Strategy<Value = Routers> {
    let rule = prop::sample::select(vec!["off", "previous-fcfd", "previous-lcfd", "new-fcfd", "new-lcfd"]);
    let size =
        prop_oneof![(1u32..60).prop_map(|n| format!("{n}p")), (1u32..100).prop_map(|n| format!("{n}kB"))];
    (rule, size, 0u32..300, 0u32..50).prop_map(|(rule, size, hint, delay)| {
        routers(&[
            ("router-buffer", rule),
            ("router-buffer-size", &size),
            ("handoff-hint", &format!("{hint}ms")),
            ("tunnel", &format!("100mbit/{delay}ms")),
        ])
    })
}

fn any_experiment() -> impl Strategy<Value = Experiment> {
    let link = || {
        (2.0f64..5.0, 1u32..=200).prop_map(|(d, delay)| format!("{}kbit/{delay}ms", 10f64.powf(d).round()))
    };
    let how = (100u64..=3000, 1usize..=3, any::<bool>(), 0..PROFILES.len(), any_routers());
    (link(), link(), how).prop_map(|(old, new, (outage, flows, after_ack, stack, routers))| {
        let definition = if after_ack { Definition::AfterAck } else { Definition::AfterHighest };
        let (kind, stack) = (Kind::Bbm(outage * MS), PROFILES[stack]);
        Experiment { kind, flows, definition, stack, routers, packets: 50, ..experiment(&old, &new) }
    })
}

proptest! {
    #![proptest_config(cases(8))]

    /// It holds at every moment of a run, for every packet that a host has sent since the beginning. The packet has
    /// come, was dropped by a queue, overflowed a buffer, was lost with the link, or is under way.
    #[test]
    fn packets_are_conserved(
        experiment in any_experiment(),
        at in 100u64..=6_000,
        name in prop::sample::select(SCHEMES.to_vec()),
    ) {
        let scheme = scheme(name);
        let told = one(&experiment, at * MS, &scheme);
        let mut sent = std::collections::BTreeMap::new();
        for event in &told.events {
            let (packet, ends) = match &event.what {
                What::Sent(packet) => (packet, false),
                What::Received { packet, .. } | What::Dropped { packet, .. } => (packet, true),
                What::Lost { packet, .. } | What::Overflowed { packet, .. } => (packet, true),
                _ => continue,
            };
            if !packet.data {
                continue;
            }
            let key = (packet.flow, packet.copy);
            if ends {
                prop_assert!(sent.remove(&key).is_some(), "{:?} ends twice at {}", key, event.at);
            } else {
                prop_assert!(sent.insert(key, event.at).is_none(), "{:?} is sent twice", key);
            }
        }
        prop_assert_eq!(sent.keys().copied().collect::<Vec<_>>(), told.under_way.as_slice());
        let record = &told.record;
        prop_assert!(record.transfer.is_none_or(|time| time >= record.bound), "{} beats the bound", name);
        let length = record.transfer.unwrap_or(400 * SECOND);
        prop_assert_eq!(record.link_time.total(), length);
        prop_assert_eq!(record, &run(&experiment, at * MS, &scheme), "watched or not");
    }
}

#[test]
fn settings_out_of_range_say_what_was_expected() {
    let mut routers = Routers::default();
    for (key, value) in [
        ("router-buffer", "old"),
        ("router-buffer-size", "0p"),
        ("router-buffer-size", "0kB"),
        ("router-buffer-size", "12"),
        ("router-buffer-size", "999B"),
        ("tunnel", "fast"),
        ("handoff-hint", "soon"),
    ] {
        assert!(routers.set(key, value).expect("a setting").is_err(), "{key}={value}");
    }
    assert_eq!(routers, Routers::default());
    assert!(routers.set("buffer", "1p").is_none());
    routers.set("router-buffer-size", "32p").expect("a setting").expect("a value");
    assert_eq!(routers.capacity, Capacity::Packets(32));
    routers.set("router-buffer-size", "1.5MB").expect("a setting").expect("a value");
    assert_eq!(routers.capacity, Capacity::Bytes(1_500_000));
    routers.set("router-buffer", "new-fcfd").expect("a setting").expect("a value");
    assert_eq!(routers.rule.map(|rule| rule.overflow), Some(Overflow::DropHead));
}
