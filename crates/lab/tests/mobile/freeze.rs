//! Windows that are closed before a foreseen break, towards peers that run nothing of ours; and that they open again in
//! every case.

use super::capture::Capture;
use super::hosts::{Hosts, ip};
use super::resume::{LIMIT, following, waiting};
use super::world::{LINKS, World, address};
use super::{connect, sent_by, stream};
use nix::time::{ClockId, clock_gettime};
use segue_agent::control::{Notify, Reply, Request, ask};
use segue_kernel::mobile::{Mobile, Scope, Treatment};
use serde_json::Value;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// Segments that leave by this device tell a window of zero for so long.
fn close(mobile: &mut Mobile, device: u32, length: Duration) {
    let now: Duration = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("always").into();
    let closed = Some((device, now + length));
    let treatment = Treatment {
        to: Scope::EVERYBODY,
        resume: true,
        window: true,
        freeze: true,
        stale: Duration::ZERO,
        closed,
    };
    mobile.treat_others(&[treatment]).expect("a map");
}

/// Windows that this end has told, newest last.
fn windows(capture: &Capture, near: &TcpStream) -> Vec<u16> {
    let own = near.local_addr().expect("an address");
    sent_by(&capture.settled(), own)
        .iter()
        .filter(|segment| !segment.syn)
        .map(|segment| segment.window)
        .collect()
}

/// The next octets of the stream come.
fn come(mut near: &TcpStream, offset: usize, length: usize) {
    let mut received = vec![0; length];
    near.read_exact(&mut received).expect("it arrives");
    assert!(received == stream(offset, length), "other octets at {offset}");
}

/// Nothing has come.
fn silent(mut near: &TcpStream) {
    near.set_nonblocking(true).expect("ours");
    let error = near.read(&mut [0]).expect_err("the window is closed");
    assert_eq!(error.kind(), ErrorKind::WouldBlock);
    near.set_nonblocking(false).expect("ours");
}

/// The peer sends, is told of a closed window, and has more to send.
fn stop(capture: &Capture, near: &TcpStream, mut far: &TcpStream, offset: usize) {
    far.write_all(&stream(offset, 1000)).expect("the window was open");
    come(near, offset, 1000);
    let limit = Instant::now() + LIMIT;
    while windows(capture, near).last() != Some(&0) {
        assert!(Instant::now() < limit, "no ACK tells a window of zero");
    }
    far.write_all(&stream(offset + 1000, 1000)).expect("the socket's buffer takes it");
    capture.settled();
    silent(near);
}

/// A busy machine takes its time to send the ACK that must be sent before this is over.
const CLOSED: Duration = Duration::from_secs(8);

/// Nobody opens the window: whoever closed it was killed. The peer probes (RFC 9293, 3.8.6.1).
#[test]
#[ignore = "needs kernel"]
fn a_closed_window_opens_by_itself() {
    let hosts = Hosts::new();
    let mut mobile = following(&hosts);
    for ipv6 in [false, true] {
        let capture = Capture::on(&hosts.peer);
        let (near, far) = connect(&hosts, ipv6);
        (&far).write_all(&stream(0, 1000)).expect("it is sent");
        come(&near, 0, 1000);
        assert!(windows(&capture, &near).iter().all(|window| *window > 0));
        let device = mobile.receiving().expect("a map")[0].device;
        // By another device nothing changes.
        close(&mut mobile, device + 1, LIMIT);
        (&far).write_all(&stream(1000, 1000)).expect("it is sent");
        come(&near, 1000, 1000);
        assert!(windows(&capture, &near).iter().all(|window| *window > 0));

        let before = mobile.closed().expect("a counter");
        close(&mut mobile, device, LIMIT);
        stop(&capture, &near, &far, 2000);
        assert!(mobile.closed().expect("a counter") > before);
        let all = waiting(&hosts, &mut mobile);
        assert_eq!(all.iter().filter(|waiting| waiting.closed).count(), 1, "{all:?}");
        close(&mut mobile, device, Duration::ZERO);
        come(&near, 3000, 1000);
        let limit = Instant::now() + LIMIT;
        while waiting(&hosts, &mut mobile).iter().any(|waiting| waiting.closed) {
            assert!(Instant::now() < limit, "the true window has been told");
        }
        // Its time is over while nobody acts.
        close(&mut mobile, device, CLOSED);
        stop(&capture, &near, &far, 4000);
        come(&near, 5000, 1000);
        drop((near, far));
        let limit = Instant::now() + LIMIT;
        while !mobile.receiving().expect("a map").is_empty() {
            assert!(Instant::now() < limit, "the connection does not end");
            thread::sleep(Duration::from_millis(5));
        }
    }
    assert_eq!(super::complaints(&hosts.peer), [0; 6], "{:?}", super::COMPLAINTS);
}

#[test]
#[ignore = "needs kernel"]
fn a_window_that_a_killed_agent_has_closed_opens_by_itself() {
    let hosts = Hosts::new();
    let mut mobile = following(&hosts);
    let capture = Capture::on(&hosts.peer);
    let (near, far) = connect(&hosts, false);
    (&far).write_all(&stream(0, 1000)).expect("it is sent");
    come(&near, 0, 1000);
    let device = mobile.receiving().expect("a map")[0].device;
    close(&mut mobile, device, CLOSED);
    stop(&capture, &near, &far, 1000);
    // Its filter stays at the device.
    std::mem::forget(mobile);
    come(&near, 2000, 1000);
}

/// One ACK tells the peer at once, one opens the window at once: both are taken.
#[test]
#[ignore = "needs kernel"]
fn a_peer_takes_the_acks_that_close_and_open() {
    let hosts = Hosts::new();
    let mut mobile = following(&hosts);
    for ipv6 in [false, true] {
        let capture = Capture::on(&hosts.peer);
        let (near, far) = connect(&hosts, ipv6);
        (&far).write_all(&stream(0, 1000)).expect("it is sent");
        come(&near, 0, 1000);
        let known = mobile.receiving().expect("a map");
        let near_end = near.local_addr().expect("an address");
        let device = known.iter().find(|receiving| receiving.local == near_end).expect("known").device;
        capture.settled();
        close(&mut mobile, device, LIMIT);
        let all = waiting(&hosts, &mut mobile);
        let own = all.iter().find(|waiting| waiting.remote() == far.local_addr().expect("an address"));
        let own = own.expect("something has come lately");
        assert!(own.closed, "{own:?}");
        hosts.mobile.run(|| mobile.send_closed(own)).expect("it is sent");
        assert_eq!(windows(&capture, &near).last(), Some(&0));
        (&far).write_all(&stream(1000, 1000)).expect("the socket's buffer takes it");
        capture.settled();
        silent(&near);
        // The filter leaves packets alone that are not the socket's.
        hosts.mobile.run(|| mobile.send_ack(own)).expect("it is sent");
        come(&near, 1000, 1000);
        close(&mut mobile, device, Duration::ZERO);
        (&far).write_all(&stream(2000, 1000)).expect("it is sent");
        come(&near, 2000, 1000);
    }
    assert_eq!(super::complaints(&hosts.peer)[..4], [0; 4], "{:?}", super::COMPLAINTS);
}

/// `segue agent notify --expect` for the other link, or without a break any more.
fn tell(world: &World, link: usize, gap: Option<Duration>) {
    let notify = Notify {
        device: format!("link{link}"),
        rate_kbps: LINKS[link].rate_kbps,
        up_kbps: LINKS[link].rate_kbps,
        delay_us: LINKS[link].delay_us,
        expect: gap.is_some(),
        gap_us: gap.map(|gap| gap.as_micros() as u32),
    };
    match ask(&world.control(), &Request::Notify(notify)) {
        Ok(Reply::Rounds(_) | Reply::Noted) => {}
        other => panic!("it is not told: {other:?}"),
    }
}

/// The agent's status of other peers, once this holds.
fn others(world: &World, holds: impl Fn(&Value) -> bool) -> Value {
    let limit = Instant::now() + LIMIT;
    loop {
        let others = world.status()["others"].clone();
        if holds(&others) {
            return others;
        }
        assert!(Instant::now() < limit, "{others}");
        thread::sleep(Duration::from_millis(5));
    }
}

const GAP: Duration = Duration::from_millis(300);

/// A server that knows nothing of us is stopped by an announced break. Then this happens, and the rest arrives.
fn frozen(more: &str, gap: Duration, then: impl FnOnce(&World)) -> Value {
    let world = World::new();
    world.with_agent(&world.config(more), || {
        // A listener of another cgroup: it answers no capability.
        let listener = world.hosts.peer.run_outside(|| TcpListener::bind((address(false, false), 0)));
        let (near, far) = world.connect(&listener.expect("it listens"));
        (&far).write_all(&stream(0, 1000)).expect("it is sent");
        come(&near, 0, 1000);
        tell(&world, 1, Some(gap));
        (&far).write_all(&stream(1000, 1000)).expect("the socket's buffer takes it");
        then(&world);
        come(&near, 1000, 1000);
        (&far).write_all(&stream(2000, 100_000)).expect("it is sent");
        come(&near, 2000, 100_000);
        let said = others(&world, |others| others["frozen"] == 0 && others["helping"] == 0);
        (&near).write_all(&stream(0, 1000)).expect("it is sent");
        come(&far, 0, 1000);
        said
    })
}

fn number(others: &Value, name: &str) -> u64 {
    others[name].as_u64().unwrap_or_else(|| panic!("no {name}: {others}"))
}

#[test]
#[ignore = "needs kernel"]
fn a_break_that_does_not_come_opens_the_window() {
    let said = frozen("", GAP, |_| {});
    assert_eq!(number(&said, "opened"), 1, "{said}");
    assert!(number(&said, "acks") >= 1 && number(&said, "messages") == 0, "{said}");
}

#[test]
#[ignore = "needs kernel"]
fn a_break_that_is_cancelled_opens_the_window() {
    // Long enough that its time does not pass meanwhile.
    let said = frozen("[others]\nfreeze = \"60s\"\n", Duration::from_secs(60), |world| {
        assert!(others(world, |_| true)["frozen"].as_u64() > Some(0));
        tell(world, 0, None);
    });
    assert_eq!(number(&said, "opened"), 1, "{said}");
}

/// The break comes, and another link after it.
#[test]
#[ignore = "needs kernel"]
fn a_link_that_is_back_opens_the_window() {
    for resume in [true, false] {
        let more = format!("[others]\nfreeze = \"60s\"\nresume = {resume}\n");
        let said = frozen(&more, Duration::from_secs(60), |world| {
            world.hosts.peer.run(|| ip(&["link", "set", "link0", "down"])).expect("the peer's device");
            world.peer_moves(1);
            world.move_to(1);
        });
        assert_eq!((number(&said, "opened"), number(&said, "helped")), (1, u64::from(resume)), "{said}");
    }
}

/// The new link is there without a break.
#[test]
#[ignore = "needs kernel"]
fn a_handoff_without_a_break_opens_the_window() {
    let said = frozen("[others]\nfreeze = \"60s\"\n", Duration::from_secs(60), |world| {
        world.peer_moves(1);
        world.move_to(1);
    });
    assert_eq!(number(&said, "opened"), 1, "{said}");
}

#[test]
#[ignore = "needs kernel"]
fn who_is_not_to_be_frozen_is_told_the_windows_of_ever() {
    let prefix = "[[others.prefix]]\nto = \"192.0.2.1/32\"\nfreeze = \"0s\"\n";
    for (more, gap) in [("[others]\nfreeze = \"0s\"\n", GAP), (prefix, GAP), ("", Duration::from_secs(61))] {
        let said = frozen(more, gap, |_| {});
        assert_eq!((number(&said, "closed"), number(&said, "opened")), (0, 0), "{said}");
    }
}
