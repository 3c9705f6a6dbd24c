//! Data that the mobile writes while its device has no carrier: it is refused, and leaves with the next link.

use super::rto_max::RtoMaxMs;
use super::uploads::{Seen, backed_off, connect, grow, has_arrived, peer_loses_its_route};
use super::world::{World, address};
use super::{carry, stream};
use nix::sys::socket::sockopt::TcpUserTimeout;
use nix::sys::socket::{getsockopt, setsockopt};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// The peer's end of this link goes: the mobile's device has no carrier.
fn carrier(world: &World, link: usize, present: bool) {
    let device = format!("link{link}");
    let state = if present { "up" } else { "down" };
    world.hosts.peer.run(|| super::hosts::ip(&["link", "set", &device, state])).expect("the peer's device");
    if present && link == 0 {
        // Its routes have gone with it.
        let route =
            ["route", "replace", "198.51.100.1", "via", "10.77.0.1", "dev", "link0", "src", "192.0.2.1"];
        world.hosts.peer.run(|| super::hosts::ip(&route)).expect("a route");
    }
}

/// A command of traffic control at the mobile.
fn tc(world: &World, words: &[&str]) {
    let done = world.hosts.mobile.run(|| Command::new("tc").args(words).status());
    assert!(done.expect("iproute2").success());
}

/// New data that found no carrier were never sent, and leave with the new link.
#[test]
#[ignore = "needs kernel"]
fn what_was_written_without_a_link_leaves_with_the_next_one() {
    let world = World::new();
    world.with_agent(&world.config(""), || {
        let (near, far) = connect(&world, &world.listen(false));
        near.set_nodelay(false).expect("ours");
        carrier(&world, 0, false);
        (&near).write_all(b"typed").expect("the socket's buffer takes it");
        backed_off(&world, &near);
        let seen = Seen::of(&world, &near);
        assert_eq!((seen.number("unacked"), seen.number("notsent")), (0, 5), "{}", seen.0);
        world.peer_moves(1);
        world.move_to(1);
        let rounds = world.rounds(1);
        assert_eq!(has_arrived(&far), 5, "the timer's time is more than a second away");
        let mut received = [0; 5];
        (&far).read_exact(&mut received).expect("it arrives");
        assert_eq!(&received, b"typed");
        let round = rounds.iter().find(|round| round["watch"] == "0.0.0.0/0").expect("a round");
        assert_eq!(round["resent"], 1, "{round}");
        assert!(!near.nodelay().expect("an option"), "its program had not asked for it");
        carry(&near, &far, 0, 100_000);
    });
}

/// Queued data leaves by the window of the new link, not of the old one.
#[test]
#[ignore = "needs kernel"]
fn what_is_queued_leaves_by_the_policys_window() {
    let world = World::new();
    // The timer of what could not be sent would be another sender.
    world.patient_timers(Duration::from_secs(10));
    for uploads in ["etcp-v1", "off"] {
        let rules = "[[link]]\ndevice = \"link0\"\nrate = \"20mbit\"\ndelay = \"9ms\"\n\
                     [[link]]\ndevice = \"link1\"\nrate = \"300kbit\"\ndelay = \"9ms\"";
        let config = world.config(&format!("uploads = \"{uploads}\"\n{rules}"));
        world.with_agent(&config, || {
            world.move_to(0);
            let (near, far) = connect(&world, &world.listen(false));
            grow(&near, &far, 2_000_000);
            let before = Seen::of(&world, &near).number("cwnd");
            assert!(before >= 40, "{before}");
            carrier(&world, 0, false);
            near.set_nonblocking(true).expect("ours");
            let length = (&near).write(&stream(2_000_000, 80_000)).expect("the socket's buffer takes some");
            thread::sleep(Duration::from_millis(1200));
            // Its ACKs do not come: what is under way is what has left at once.
            peer_loses_its_route(&world, true);
            let rounds = world.status()["rounds"].as_array().expect("a list").len();
            world.move_to(1);
            world.rounds(rounds + 1);
            let after = Seen::of(&world, &near);
            let left = after.number("unacked");
            if uploads == "off" {
                assert!(left >= 40, "{}", after.0);
            } else {
                assert!((1..=10).contains(&left), "{}", after.0);
            }
            peer_loses_its_route(&world, false);
            world.peer_moves(1);
            let mut received = vec![0; length];
            (&far).read_exact(&mut received).expect("it arrives");
            assert!(received == stream(2_000_000, length), "other octets");
        });
        carrier(&world, 0, true);
    }
}

/// A flow that was closed meanwhile sends its last octets with the new link, too.
#[test]
#[ignore = "needs kernel"]
fn the_last_octets_of_a_closed_flow_leave_with_the_next_link() {
    let world = World::new();
    for uploads in ["etcp-v1", "off"] {
        world.move_to(0);
        world.with_agent(&world.config(&format!("uploads = \"{uploads}\"")), || {
            let (near, far) = connect(&world, &world.listen(false));
            far.shutdown(Shutdown::Write).expect("its end");
            assert_eq!((&near).read(&mut [0; 1]).expect("the other end"), 0);
            carrier(&world, 0, false);
            (&near).write_all(b"last").expect("the socket's buffer takes it");
            let rounds = world.status()["rounds"].as_array().expect("a list").len();
            drop(near);
            // The kernel's timer: 0.2, 0.6, 1.4, 3.0, and then 6.2 s.
            thread::sleep(Duration::from_millis(3500));
            world.peer_moves(1);
            world.move_to(1);
            world.rounds(rounds + 1);
            assert_eq!(has_arrived(&far), 4, "{uploads}: the timer's time is more than two seconds away");
            let mut received = Vec::new();
            (&far).read_to_end(&mut received).expect("it arrives");
            assert_eq!(received, b"last");
        });
        carrier(&world, 0, true);
    }
}

/// The bound of the RTO after one outage does not make the kernel give up in the next. In that one the typed data waits
/// for the timer of a closed window.
#[test]
#[ignore = "needs kernel linux-6.15"]
fn a_second_outage_is_waited_for_as_long_as_the_first() {
    let world = World::new();
    // Six probes last 12 s and more, and 5 s if the RTO is bounded.
    world.hosts.mobile.run(|| {
        std::fs::write("/proc/sys/net/ipv4/tcp_retries2", "6").expect("the namespace's own");
    });
    world.with_agent(&world.config(""), || {
        let (near, far) = connect(&world, &world.listen(false));
        let own = getsockopt(&near, RtoMaxMs).expect("TCP_RTO_MAX_MS");
        let mut received = [0; 5];
        // So soon after another event the kernel tells of this carrier's loss up to a second late.
        for words in ["add near type veth peer name far", "set near up", "set far up"] {
            let words: Vec<&str> = ["link"].into_iter().chain(words.split(' ')).collect();
            world.hosts.mobile.run(|| super::hosts::ip(&words)).expect("another device");
        }
        thread::sleep(Duration::from_millis(50));
        carrier(&world, 0, false);
        (&near).write_all(b"typed").expect("the socket's buffer takes it");
        // The kernel's timer: 0.2, 0.6, and then 1.4 s.
        thread::sleep(Duration::from_millis(500));
        world.peer_moves(1);
        world.move_to(1);
        (&far).read_exact(&mut received).expect("it arrives");
        thread::sleep(Duration::from_millis(300));
        assert!(getsockopt(&near, RtoMaxMs).expect("an option") < own, "not bounded: nothing to be seen");
        carrier(&world, 0, true);
        carrier(&world, 1, false);
        (&near).write_all(b"again").expect("the socket's buffer takes it");
        thread::sleep(Duration::from_secs(8));
        world.move_to(0);
        (&far).read_exact(&mut received).expect("the connection lives");
        assert_eq!(&received, b"again");
    });
}

/// TCP_USER_TIMEOUT, ms. A busy machine must not take as long to end an outage.
const USER_TIMEOUT: u32 = 6000;

/// Data written during an outage arrives, and the flow goes on for longer than TCP_USER_TIMEOUT allows for one outage.
fn lives_on(near: &TcpStream, mut far: &TcpStream) {
    far.set_read_timeout(Some(Duration::from_secs(600))).expect("ours");
    far.read_exact(&mut [0; 1000]).expect("the connection lives");
    (0..13).for_each(|_| {
        carry(near, far, 0, 100);
        thread::sleep(Duration::from_millis(500));
    });
}

/// The kernel measures from the beginning of a closed window how long it lasts (TCP_USER_TIMEOUT). It takes data that
/// could not be sent for a closed window, and does not forget it when they have left.
#[test]
#[ignore = "needs kernel"]
fn a_user_timeout_is_not_counted_from_an_outage_that_is_over() {
    let world = World::new();
    world.with_agent(&world.config(""), || {
        let (near, far) = connect(&world, &world.listen(false));
        setsockopt(&near, TcpUserTimeout, &USER_TIMEOUT).expect("an option");
        carry(&near, &far, 0, 1000);
        for _ in 0..2 {
            carrier(&world, 0, false);
            (&near).write_all(&stream(0, 1000)).expect("the socket's buffer takes it");
            thread::sleep(Duration::from_millis(800));
            carrier(&world, 0, true);
            lives_on(&near, &far);
        }
    });
}

/// Nor from one in which the device's queue took nothing, so that data waited as for a closed window.
#[test]
#[ignore = "needs kernel"]
fn a_user_timeout_is_not_counted_from_a_full_queue_that_is_past() {
    let world = World::new();
    world.with_agent(&world.config(""), || {
        let (near, far) = connect(&world, &world.listen(false));
        setsockopt(&near, TcpUserTimeout, &USER_TIMEOUT).expect("an option");
        carry(&near, &far, 0, 1000);
        for turn in 0..2 {
            let (device, next) = (format!("link{turn}"), 1 - turn);
            let rule = ["tbf", "rate", "1mbit", "burst", "1600", "limit", "1"];
            tc(&world, &[&["qdisc", "add", "dev", &device, "root"][..], &rule].concat());
            (&near).write_all(&stream(0, 1000)).expect("the socket's buffer takes it");
            // The timer of a closed window: 0.2, 0.6, and then 1.4 s.
            thread::sleep(Duration::from_millis(800));
            let seen = Seen::of(&world, &near);
            assert!(!seen.0.is_empty(), "the connection is gone");
            assert_eq!((seen.number("unacked"), seen.number("notsent")), (0, 1000), "{}", seen.0);
            world.peer_moves(next);
            world.move_to(next);
            tc(&world, &["qdisc", "del", "dev", &device, "root"]);
            lives_on(&near, &far);
        }
    });
}

/// The kernel forgets a connection whose SYN-ACK cannot be sent; its peer may have it by now.
#[test]
#[ignore = "needs kernel"]
fn connections_that_peers_open_outlive_an_outage() {
    let world = World::new();
    world.with_agent(&world.config(""), || {
        let mobile = address(true, false);
        let listener = world.hosts.mobile.run(|| TcpListener::bind((mobile, 0))).expect("it listens");
        let to = listener.local_addr().expect("an address");
        let rule = [
            "qdisc", "add", "dev", "link0", "root", "tbf", "rate", "40kbit", "burst", "1600", "limit",
            "100000",
        ];
        tc(&world, &rule);
        // The SYN-ACK waits behind this.
        let filler = world.hosts.mobile.run(|| std::net::UdpSocket::bind((mobile, 0))).expect("a socket");
        (0..3).for_each(|_| {
            filler.send_to(&[0; 1400], (address(false, false), 9)).expect("it is queued");
        });
        let connecting = thread::scope(|scope| {
            let connecting = scope
                .spawn(|| world.hosts.peer.run(|| TcpStream::connect_timeout(&to, Duration::from_secs(60))));
            // Its SYN is through; the ACK of the SYN-ACK will be lost.
            thread::sleep(Duration::from_millis(100));
            peer_loses_its_route(&world, true);
            connecting.join().expect("a thread").expect("it connects")
        });
        // The kernel also forgets it if address resolution fails, after three seconds.
        let neighbour = ["neigh", "change", "10.77.0.2", "dev", "link0", "nud", "permanent"];
        world.hosts.mobile.run(|| super::hosts::ip(&neighbour)).expect("a neighbour");
        carrier(&world, 0, false);
        tc(&world, &["qdisc", "del", "dev", "link0", "root"]);
        // SYN-ACKs: 1, 3 s.
        thread::sleep(Duration::from_millis(3300));
        peer_loses_its_route(&world, false);
        carrier(&world, 0, true);
        (&connecting).write_all(b"GET").expect("the socket's buffer takes it");
        listener.set_nonblocking(true).expect("ours");
        let limit = Instant::now() + Duration::from_secs(600);
        let accepted = loop {
            match listener.accept() {
                Ok((accepted, _)) => break accepted,
                Err(error) => assert!(Instant::now() < limit, "nobody comes: {error}"),
            }
            thread::sleep(Duration::from_millis(10));
        };
        accepted.set_nonblocking(false).expect("ours");
        let mut received = [0; 3];
        (&accepted).read_exact(&mut received).expect("it arrives");
    });
}

/// Programs with raw sockets are told what became of their packets, and shall be told nothing else than before.
#[test]
#[ignore = "needs kernel"]
fn raw_sockets_send_as_before() {
    let world = World::new();
    world.with_agent(&world.config(""), || {
        carrier(&world, 0, false);
        let raw = world.hosts.mobile.run(|| {
            nix::sys::socket::socket(
                nix::sys::socket::AddressFamily::Inet,
                nix::sys::socket::SockType::Raw,
                nix::sys::socket::SockFlag::empty(),
                nix::sys::socket::SockProtocol::Tcp,
            )
        });
        let to = nix::sys::socket::SockaddrIn::new(192, 0, 2, 1, 0);
        let sent = nix::sys::socket::sendto(
            std::os::fd::AsRawFd::as_raw_fd(&raw.expect("a raw socket")),
            &[0; 20],
            &to,
            nix::sys::socket::MsgFlags::empty(),
        );
        assert_eq!(sent, Ok(20));
    });
}
