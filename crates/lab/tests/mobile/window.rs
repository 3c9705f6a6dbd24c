//! Bounds of the windows that peers are told which run nothing of ours.

use super::capture::{Capture, Segment};
use super::hosts::Hosts;
use super::resume::following;
use super::sack::send_beyond;
use super::world::{World, address};
use super::{carry, complaints, connect, sent_by};
use nix::time::{ClockId, clock_gettime};
use segue_kernel::mobile::{Bounding, Mobile, Receiving};
use serde_json::Value;
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(600);

/// The only connection.
fn receiving(mobile: &Mobile) -> Receiving {
    let all = mobile.receiving().expect("a map");
    assert_eq!(all.len(), 1, "{all:?}");
    all[0]
}

/// ACKs of new data that this end has sent meanwhile: (number, window).
fn told(capture: &Capture, near: &TcpStream) -> Vec<(u32, u16)> {
    let own = near.local_addr().expect("an address");
    let seen = capture.settled();
    let told: Vec<_> = sent_by(&seen, own)
        .iter()
        .filter(|ack| ack.pure_ack())
        .map(|ack: &&Segment| (ack.ack, ack.window))
        .collect();
    assert!(!told.is_empty(), "something is acknowledged");
    told
}

#[test]
#[ignore = "needs kernel"]
fn windows_are_bounded_where_and_from_when_it_is_asked_for() {
    let hosts = Hosts::new();
    let mobile = following(&hosts);
    for ipv6 in [false, true] {
        let capture = Capture::on(&hosts.peer);
        let (near, far) = connect(&hosts, ipv6);
        carry(&far, &near, 0, 100_000);
        let usual = told(&capture, &near);
        let known = receiving(&mobile);
        assert_eq!(known.remote, far.local_addr().expect("an address"));
        let last = usual.last().expect("an ACK");
        assert_eq!(known.ack, last.0);
        // veth hands over large segments, which count as those that they are made of.
        assert!(known.packets >= 100_000 / known.mss, "{known:?}");
        // The first period is that of the handshake.
        assert!(known.lately <= known.packets && known.lately >= known.packets - 1, "{known:?}");
        let forever = Duration::from_secs(1 << 32);
        let bound = Bounding { window: 14_480, from: known.ack, device: known.device, until: forever };
        let most = 14_480u32.div_ceil(1 << known.scale) as u16;
        assert!(most > 1 && usual.iter().all(|(_, window)| *window > most), "{usual:?}");

        let mut offset = 100_000;
        let mut carried = |bounding: Option<Bounding>| {
            match bounding {
                Some(bounding) => mobile.bound(&receiving(&mobile), &bounding).expect("a map"),
                None => mobile.unbound(known.local, known.remote),
            }
            capture.clear();
            carry(&far, &near, offset, 100_000);
            offset += 100_000;
            told(&capture, &near)
        };
        let before = mobile.narrowed().expect("a counter");
        let seen = carried(Some(bound));
        assert!(seen.iter().all(|(_, window)| *window == most), "{most}: {seen:?}");
        assert_eq!(mobile.narrowed().expect("a counter") - before, seen.len() as u32);
        let wide = |seen: &[(u32, u16)]| seen.iter().all(|(_, window)| *window > most);
        let seen = carried(Some(Bounding { device: known.device + 1, ..bound }));
        assert!(wide(&seen), "by another device: {seen:?}");
        let now = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("always");
        let seen = carried(Some(Bounding { until: now.into(), ..bound }));
        assert!(wide(&seen), "its time is over: {seen:?}");
        // Half of what comes the second time.
        let from = receiving(&mobile).ack.wrapping_add(150_000);
        let begun = |ack: u32| (ack.wrapping_sub(from) as i32) >= 0;
        let bound = Bounding { from, ..bound };
        let seen = [carried(Some(bound)), carried(Some(bound))].concat();
        assert!(seen.iter().all(|(ack, window)| (*window == most) == begun(*ack)), "{from}: {seen:?}");
        assert!(begun(seen[seen.len() - 1].0) && !begun(seen[0].0), "{from}: {seen:?}");
        let seen = carried(None);
        assert!(wide(&seen), "{seen:?}");
        drop((near, far));
        // The next family's is alone.
        let limit = Instant::now() + LIMIT;
        while !mobile.receiving().expect("a map").is_empty() {
            assert!(Instant::now() < limit, "the connection does not end");
            thread::sleep(Duration::from_millis(5));
        }
    }
    assert_eq!(complaints(&hosts.peer), [0; 6], "{:?}", super::COMPLAINTS);
}

/// Octets held behind a hole are not under way: the window reaches further by that.
#[test]
#[ignore = "needs kernel"]
fn what_is_held_behind_a_hole_widens_the_window() {
    let hosts = Hosts::new();
    let mobile = following(&hosts);
    let capture = Capture::on(&hosts.peer);
    let (near, far) = connect(&hosts, false);
    carry(&far, &near, 0, 10_000);
    let forever = Duration::from_secs(1 << 32);
    let known = receiving(&mobile);
    let bound = Bounding { window: 14_480, from: known.ack, device: known.device, until: forever };
    mobile.bound(&known, &bound).expect("a map");
    let own = near.local_addr().expect("an address");
    let seen = capture.settled();
    let last = sent_by(&seen, own).into_iter().next_back().expect("an ACK").clone();
    let written = |octets: u32| octets.div_ceil(1 << known.scale) as u16;
    let mut held = 0;
    for (beyond, length) in [(2000, 1000), (4000, 1400), (6000, 700)] {
        capture.clear();
        send_beyond(&hosts.peer, &last, 10_000, beyond, length);
        held += length as u32;
        let seen = told(&capture, &near);
        let window = written(14_480) + written(held);
        assert!(seen.iter().all(|ack| *ack == (last.ack, window)), "{held}: {window}, {seen:?}");
    }
    // The peer fills the holes with the same octets.
    capture.clear();
    carry(&far, &near, 10_000, 100_000);
    let seen = told(&capture, &near);
    assert_eq!(seen.last().map(|ack| ack.1), Some(written(14_480)), "{seen:?}");
}

/// A server that knows nothing of us sends before a handoff to the slower link and after it, and after one back.
/// Returns the agent's status in between, and at the end.
fn there_and_back(more: &str) -> [Value; 2] {
    let world = World::new();
    world.with_agent(&world.config(more), || {
        // A listener of another cgroup: it answers no capability.
        let listener = world.hosts.peer.run_outside(|| TcpListener::bind((address(false, false), 0)));
        let (near, far) = world.connect(&listener.expect("it listens"));
        carry(&far, &near, 0, 100_000);
        [(1, 100_000), (0, 200_000)].map(|(link, offset)| {
            world.peer_moves(link);
            world.until_told(|| world.move_to(link));
            carry(&far, &near, offset, 100_000);
            world.status()["others"].clone()
        })
    })
}

#[test]
#[ignore = "needs kernel"]
fn the_agent_bounds_windows_while_the_link_is_slower() {
    let [slower, back] = there_and_back("");
    assert_eq!((&slower["window"], &slower["bounded"]), (&true.into(), &1.into()), "{slower}");
    assert!(slower["narrowed"].as_u64() > Some(0), "{slower}");
    assert_eq!(back["bounded"], 0, "{back}");
}

#[test]
#[ignore = "needs kernel"]
fn who_is_not_to_be_bounded_is_told_the_windows_of_ever() {
    let prefix = "[[others.prefix]]\nto = \"192.0.2.1/32\"\nwindow = false\n";
    for (more, window) in [("[others]\nwindow = false\n", false), (prefix, true)] {
        let [slower, _] = there_and_back(more);
        assert_eq!(slower["window"], window, "{slower}");
        assert_eq!((&slower["bounded"], &slower["narrowed"]), (&0.into(), &0.into()), "{slower}");
    }
}

/// The bound and what has come are told over the old link, too, with a stamp of before. That ends when the ACKs of the
/// new one can be there. Data that has not come is never told.
#[test]
#[ignore = "needs kernel"]
fn the_bound_is_told_over_the_old_link_too() {
    let world = World::new();
    // A second until then: far longer than a look of the agent's takes.
    let slow = "[[link]]\ndevice = \"link1\"\nrate = \"2mbit\"\ndelay = \"1s\"\n";
    world.with_agent(&world.config(slow), || {
        let listener = world.hosts.peer.run_outside(|| TcpListener::bind((address(false, false), 0)));
        let (near, far) = world.connect(&listener.expect("it listens"));
        let capture = world.capture();
        let mut offset = 0;
        let mut carried = |octets: usize| {
            carry(&far, &near, offset, octets);
            offset += octets;
        };
        let limit = Instant::now() + LIMIT;
        let told = || world.status()["others"]["early"].as_u64().expect("a number");
        carried(100_000);
        // Should this machine be so slow that the second passes: once more.
        while told() == 0 {
            assert!(Instant::now() < limit, "nothing is told: {}", world.status());
            for link in [1, 0] {
                world.peer_moves(link);
                world.until_told(|| world.move_to(link));
                carried(100_000);
            }
        }
        let seen = capture.settled();
        let own = near.local_addr().expect("an address");
        let mut newest: Option<&Segment> = None;
        let mut early = Vec::new();
        for ack in sent_by(&seen, own).into_iter().filter(|segment| segment.has_ack && !segment.syn) {
            let (value, echo) = ack.stamps().expect("time stamps");
            let before = *newest.get_or_insert(ack);
            if echo == 0 {
                assert!((ack.ack.wrapping_sub(before.ack) as i32) <= 0, "it has come: {ack:?}, {before:?}");
                assert!(
                    (value.wrapping_sub(before.stamps().expect("stamps").0) as i32) <= 0,
                    "no newer stamp"
                );
                early.push(ack);
            } else if (ack.ack.wrapping_sub(before.ack) as i32) >= 0 {
                newest = Some(ack); // a duplicate of a slow machine has a newer stamp, too
            }
        }
        assert_eq!(early.len() as u64, told(), "{early:?}");
        // It goes on as before.
        carried(100_000);
    });
    // On these links they come behind the newer ones of the new link, and are refused as old.
    assert_eq!(complaints(&world.hosts.peer)[..3], [0; 3], "{:?}", super::COMPLAINTS);
}
