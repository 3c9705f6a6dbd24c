//! Connections whose peer runs nothing of ours. The tests show what the mobile remembers of them, what it echoes after
//! an outage, and how a message has the peer send again.

use super::capture::{Capture, Segment};
use super::hosts::{Host, Hosts, ip};
use super::nat::silence;
use super::world::{World, address};
use super::{attached, carry, connect, sent_by, stream};
use nix::time::{ClockId, clock_gettime};
use segue_kernel::mobile::{Mobile, Progress, Scope, Treatment, Waiting, Way, attach_kept};
use segue_kernel::receiver::{Options, Peers, attach};
use segue_policy::wire::ReportType;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

pub const LIMIT: Duration = Duration::from_secs(600);

/// An agent's programs on the mobile host, which see what leaves by its device.
pub fn following(hosts: &Hosts) -> Mobile {
    let mut mobile = attach_kept(hosts.mobile.cgroup(), None).expect("the programs attach");
    hosts.mobile.run(|| mobile.follow("link0")).expect("the device's egress is free");
    treat(&mut mobile, true, Duration::ZERO);
    mobile
}

fn treatment(to: Scope, resume: bool, stale: Duration) -> Treatment {
    Treatment { to, resume, window: true, freeze: true, stale, closed: None }
}

pub fn treat(mobile: &mut Mobile, resume: bool, stale: Duration) {
    mobile.treat_others(&[treatment(Scope::EVERYBODY, resume, stale)]).expect("a map");
}

/// As if there had been an outage until now.
pub fn outage(mobile: &mut Mobile) {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("always");
    treat(mobile, true, now.into());
}

pub fn waiting(hosts: &Hosts, mobile: &mut Mobile) -> Vec<Waiting> {
    hosts.mobile.run(|| mobile.waiting(Duration::ZERO)).expect("a list")
}

/// Output of `tc` for the mobile's device.
fn tc(hosts: &Hosts, what: &str) -> String {
    let words = [what, "show", "dev", "link0"];
    let egress = if what == "filter" { &["egress"][..] } else { &[] };
    let done = hosts.mobile.run(|| Command::new("tc").args(words).args(egress).output()).expect("iproute2");
    assert!(done.status.success(), "{done:?}");
    String::from_utf8(done.stdout).expect("text")
}

#[test]
#[ignore = "needs kernel"]
fn nothing_is_left_at_the_device() {
    let hosts = Hosts::new();
    let mobile = following(&hosts);
    assert!(tc(&hosts, "filter").contains("mobile_echo"));
    // From this thread, which is in another namespace.
    drop(mobile);
    assert_eq!(tc(&hosts, "filter"), "");
    assert!(!tc(&hosts, "qdisc").contains("clsact"));
    // A qdisc of somebody else's stays.
    hosts.mobile.run(|| {
        let done = Command::new("tc").args(["qdisc", "add", "dev", "link0", "clsact"]).status();
        assert!(done.expect("iproute2").success());
    });
    drop(following(&hosts));
    assert_eq!(tc(&hosts, "filter"), "");
    assert!(tc(&hosts, "qdisc").contains("clsact"));
}

#[test]
#[ignore = "needs kernel"]
fn an_agent_takes_the_place_of_one_that_was_killed() {
    let hosts = Hosts::new();
    std::mem::forget(following(&hosts));
    // The cgroup is still the other's.
    let mut mobile = attach_kept(hosts.peer.cgroup(), None).expect("the programs attach");
    hosts.mobile.run(|| mobile.follow("link0")).expect("what is there is an agent's");
    treat(&mut mobile, true, Duration::ZERO);
    assert_eq!(tc(&hosts, "filter").matches("direct-action").count(), 1, "{}", tc(&hosts, "filter"));
    let (near, far) = connect(&hosts, false);
    carry(&far, &near, 0, 1000);
    assert_eq!(waiting(&hosts, &mut mobile).len(), 1, "it is the new one that sees");
    drop(mobile);
    assert_eq!(tc(&hosts, "filter"), "");
    assert!(!tc(&hosts, "qdisc").contains("clsact"), "the one that was killed had added it");
}

/// Beside Freeze-TCP and PHAS, which came first, clsact goes with the last.
#[test]
#[ignore = "needs kernel"]
fn a_receiver_at_the_same_device_shares_its_qdisc() {
    let hosts = Hosts::new();
    let options = Options { device: "link0".into(), peers: Peers::All, phas: false };
    for receiver_first in [true, false] {
        let receiver = hosts.mobile.run(|| attach(&options)).expect("it attaches");
        let mobile = following(&hosts);
        assert!(tc(&hosts, "filter").contains("receiver_egress"), "{}", tc(&hosts, "filter"));
        assert!(tc(&hosts, "filter").contains("mobile_echo"));
        if receiver_first {
            drop(receiver);
            assert!(tc(&hosts, "filter").contains("mobile_echo"));
            drop(mobile);
        } else {
            drop(mobile);
            assert!(tc(&hosts, "filter").contains("receiver_egress"));
            drop(receiver);
        }
        assert_eq!(tc(&hosts, "filter"), "");
        assert!(!tc(&hosts, "qdisc").contains("clsact"));
    }
}

/// Time stamps that this end has echoed, newest last.
fn echoed(capture: &Capture, near: &TcpStream) -> Vec<u32> {
    let own = near.local_addr().expect("an address");
    let seen = capture.settled();
    let stamps = |segment: &&Segment| segment.stamps().expect("time stamps have been negotiated").1;
    sent_by(&seen, own).iter().map(stamps).collect()
}

#[test]
#[ignore = "needs kernel"]
fn a_stamp_from_before_an_outage_is_not_echoed() {
    let hosts = Hosts::new();
    let mut mobile = following(&hosts);
    for ipv6 in [false, true] {
        let capture = Capture::on(&hosts.peer);
        let (near, far) = connect(&hosts, ipv6);
        carry(&far, &near, 0, 100_000);
        assert!(echoed(&capture, &near)[1..].iter().all(|&echo| echo != 0), "no outage yet");

        outage(&mut mobile);
        capture.clear();
        // More than one segment, which the device cuts and whose checksum it computes.
        carry(&near, &far, 0, 10);
        assert_eq!(echoed(&capture, &near)[0], 0);
        assert!(mobile.unechoed().expect("a counter") > 0);
        // The peer's ACK of that carries a new stamp.
        capture.clear();
        carry(&near, &far, 10, 20_000);
        carry(&far, &near, 100_000, 100_000);
        let seen = echoed(&capture, &near);
        assert!(!seen.is_empty() && seen.iter().all(|&echo| echo != 0), "{seen:?}");
    }
    assert_eq!(super::complaints(&hosts.peer), [0; 6], "{:?}", super::COMPLAINTS);
}

#[test]
#[ignore = "needs kernel"]
fn who_is_left_alone_is_echoed_as_ever() {
    let hosts = Hosts::new();
    let mut mobile = following(&hosts);
    let (near, far) = connect(&hosts, false);
    carry(&far, &near, 0, 100_000);
    assert_eq!(waiting(&hosts, &mut mobile).len(), 1);
    outage(&mut mobile);
    // A longer prefix decides.
    let to = Scope { address: hosts.peer.ipv4, bits: 32, notified: true };
    mobile
        .treat_others(&[Treatment { window: false, ..treatment(to, false, Duration::MAX) }])
        .expect("a map");
    let capture = Capture::on(&hosts.peer);
    carry(&near, &far, 0, 10);
    assert!(echoed(&capture, &near).iter().all(|&echo| echo != 0));
    assert_eq!(waiting(&hosts, &mut mobile), []);
}

/// A peer that has negotiated gets notices. No stamp of before the outage is echoed to it either, by the notice's own
/// ACKs or by what follows.
#[test]
#[ignore = "needs kernel"]
fn a_notice_echoes_no_stamp_from_before_the_outage() {
    for way in [Way::Trigger, Way::Crafted] {
        let hosts = Hosts::new();
        let mut mobile = following(&hosts);
        let _peer = attached(&hosts.peer, super::OLD);
        let capture = Capture::on(&hosts.peer);
        let (near, far) = connect(&hosts, false);
        carry(&far, &near, 0, 100_000);
        for ended in [false, true] {
            if ended {
                outage(&mut mobile);
            }
            capture.clear();
            let told = hosts.mobile.run(|| mobile.notify_by(way, super::NEW, ReportType::Completed, 2));
            assert_eq!(told.expect("it is sent").connections, 1, "{way:?}");
            let seen = echoed(&capture, &near);
            assert!(seen.len() >= 2 && seen.iter().all(|&echo| (echo == 0) == ended), "{way:?}: {seen:?}");
        }
        let all = waiting(&hosts, &mut mobile);
        assert!(all.len() == 1 && all[0].negotiated && all[0].acks.is_empty(), "{all:?}");
        assert_eq!(mobile.progress(&all[0]).expect("a map"), Progress::None);
        assert_eq!(mobile.receiving().expect("a map"), [], "its notice tells of the window");
        capture.clear();
        carry(&near, &far, 0, 10);
        assert_eq!(echoed(&capture, &near)[0], 0);
        // The peer's ACK of that carries a new stamp.
        capture.clear();
        carry(&near, &far, 10, 20_000);
        carry(&far, &near, 100_000, 100_000);
        let seen = echoed(&capture, &near);
        assert!(!seen.is_empty() && seen.iter().all(|&echo| echo != 0), "{seen:?}");
        assert_eq!(mobile.progress(&all[0]).expect("a map"), Progress::Resumed);
        treat(&mut mobile, false, Duration::ZERO);
        assert_eq!(waiting(&hosts, &mut mobile), [], "it is not to be helped");
        let [errors, sums, resets, challenges, paws, _] = super::complaints(&hosts.peer);
        assert_eq!([errors, sums, resets, challenges, paws], [0; 5], "{:?}", super::COMPLAINTS);
    }
}

#[test]
#[ignore = "needs kernel"]
fn the_last_ack_numbers_are_remembered() {
    let hosts = Hosts::new();
    let mut mobile = following(&hosts);
    for ipv6 in [false, true] {
        let capture = Capture::on(&hosts.peer);
        let (near, far) = connect(&hosts, ipv6);
        for part in 0..6 {
            carry(&far, &near, part * 1000, 1000);
            // So that each part is acknowledged by itself.
            capture.settled();
        }
        let own = near.local_addr().expect("an address");
        let seen = capture.settled();
        let mut acks: Vec<u32> =
            sent_by(&seen, own).iter().filter(|ack| !ack.syn).map(|ack| ack.ack).collect();
        acks.dedup();
        acks.reverse();
        assert!(acks.len() >= 6, "{acks:?}");
        let all = waiting(&hosts, &mut mobile);
        assert_eq!(all.len(), 1, "{all:?}");
        assert_eq!(all[0].acks, acks[..4]);
        assert_eq!(all[0].remote(), far.local_addr().expect("an address"));
        assert_eq!(mobile.progress(&all[0]).expect("a map"), Progress::None);
        carry(&far, &near, 6000, 1000);
        capture.settled();
        assert_eq!(mobile.progress(&all[0]).expect("a map"), Progress::Resumed);
        near.shutdown(Shutdown::Write).expect("half of it ends");
        capture.settled();
        assert_eq!(mobile.progress(&all[0]).expect("a map"), Progress::Gone);
        assert_eq!(waiting(&hosts, &mut mobile), [], "only established ones");
    }
}

/// A program that does not read may have closed the window: the peer has nothing under way.
#[test]
#[ignore = "needs kernel"]
fn a_closed_window_is_no_outage() {
    let hosts = Hosts::new();
    let mut mobile = following(&hosts);
    let (near, far) = connect(&hosts, false);
    assert_eq!(waiting(&hosts, &mut mobile), [], "nothing has come yet");
    far.set_nonblocking(true).expect("ours");
    let limit = Instant::now() + LIMIT;
    while (&far).write(&stream(0, 100_000)).is_ok() || !waiting(&hosts, &mut mobile).is_empty() {
        assert!(Instant::now() < limit, "the window does not close");
        thread::sleep(Duration::from_millis(5));
    }
    drop(near);
}

/// The peer's packets go to nobody; what the mobile sends arrives.
pub fn downlink(hosts: &Hosts, dead: bool) {
    let [ipv4, ipv6] = [hosts.mobile.ipv4, hosts.mobile.ipv6].map(|address| address.to_string());
    silence(&hosts.peer, [&ipv4, &ipv6], dead);
}

/// The peer's timer as `ss` shows it: how often it has backed off, and before when it does not expire, if it runs.
pub fn timer(peer: &Host, far: &TcpStream) -> (u32, Option<Instant>) {
    let asked = Instant::now();
    let filter = format!("dport = :{}", far.peer_addr().expect("an address").port());
    let output = peer.run(|| Command::new("ss").args(["-tionH", &filter]).output()).expect("iproute2");
    let text = String::from_utf8(output.stdout).expect("text");
    let backoff = text.split_whitespace().find_map(|word| word.strip_prefix("backoff:")?.parse().ok());
    let left = text.split_once("timer:(on,").and_then(|(_, rest)| rest.split(',').next()).unwrap_or("");
    // 396ms, 2sec, 1.024ms (which is more than a second)
    let number = left.trim_end_matches(char::is_alphabetic);
    let unit = if left.ends_with("ms") && !number.contains('.') { 0.001 } else { 1.0 };
    let left = number.parse().map_or(0.0, |number: f64| number * unit);
    (backoff.unwrap_or(0), (left > 0.0).then(|| asked + Duration::from_secs_f64(left)))
}

/// The timer of the peer's end has expired for the third time, 1.4 s after the first loss. The next time is at 3 s, and
/// not before the instant returned.
pub fn backed_off(peer: &Host, far: &TcpStream) -> Instant {
    let limit = Instant::now() + LIMIT;
    loop {
        if let (3.., Some(due)) = timer(peer, far) {
            return due;
        }
        assert!(Instant::now() < limit, "its timer does not expire");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Whether the peer resends lost data of this length before its timer, which has backed off, once `say` has spoken. On
/// a machine on which nothing happens in time that tells nothing: again.
pub fn resends_in_time(
    hosts: &Hosts,
    ipv6: bool,
    before: usize,
    length: usize,
    say: impl Fn(&mut Mobile, &Waiting) + Sync,
) -> bool {
    let mut mobile = following(hosts);
    let (near, far) = connect(hosts, ipv6);
    carry(&far, &near, 0, before);
    (0..20).any(|round| {
        let lost = stream(before + round * length, length);
        downlink(hosts, true);
        (&far).write_all(&lost).expect("the socket's buffer takes it");
        let due = backed_off(&hosts.peer, &far);
        downlink(hosts, false);
        let all = waiting(hosts, &mut mobile);
        assert_eq!(all.len(), 1, "{all:?}");
        let is_silent = |mobile: &Mobile| mobile.is_silent(&all[0]).expect("the programs are there");
        assert!(is_silent(&mobile));
        hosts.mobile.run(|| say(&mut mobile, &all[0]));
        let mut received = vec![0; length];
        (&near).read_exact(&mut received).expect("it arrives");
        let in_time = Instant::now() < due;
        assert!(received == lost, "other octets");
        // It is seen when an ACK leaves.
        let limit = Instant::now() + LIMIT;
        while is_silent(&mobile) {
            assert!(Instant::now() < limit, "no ACK of what has come");
            thread::sleep(Duration::from_millis(10));
        }
        in_time
    })
}

/// RFC 6069: the peer resends what a message is about that quotes the first octet not acknowledged.
#[test]
#[ignore = "needs kernel"]
fn a_message_has_the_peer_resend_before_its_timer() {
    let hosts = Hosts::new();
    let in_time = resends_in_time(&hosts, false, 1000, 1000, |mobile, waiting| {
        // About another segment first, which changes nothing.
        mobile.send_unreachable(waiting, waiting.acks[0].wrapping_add(500)).expect("it is sent");
        for _ in 0..3 {
            mobile.send_unreachable(waiting, waiting.acks[0]).expect("it is sent");
        }
        mobile.send_ack(waiting).expect("it is sent");
    });
    assert!(in_time, "it always took the peer's timer");
    // Behind the kernel's own ACK of what was sent again, ours is an old one: PAWS drops it.
    let [errors, sums, resets, challenges, _, skipped] = super::complaints(&hosts.peer);
    assert_eq!([errors, sums, resets, challenges, skipped], [0; 5], "{:?}", super::COMPLAINTS);
}

/// A server that knows nothing of us sends data that is lost; then `breaks` does something to the old link. The route moves
/// to another link once the server's timer has backed off. Whether new data has come before that timer's time, and what
/// the agent says.
fn route_moves(more: &str, breaks: impl FnOnce(&World)) -> (bool, Value) {
    let world = World::new();
    world.with_agent(&world.config(more), || {
        // A listener of another cgroup: it answers no capability.
        let listener = world.hosts.peer.run_outside(|| TcpListener::bind((address(false, false), 0)));
        let (near, far) = world.connect(&listener.expect("it listens"));
        carry(&far, &near, 0, 100_000);
        downlink(&world.hosts, true);
        (&far).write_all(&stream(100_000, 1000)).expect("the socket's buffer takes it");
        breaks(&world);
        let due = backed_off(&world.hosts.peer, &far);
        world.peer_moves(1);
        world.move_to(1);
        let mut received = [0; 1000];
        (&near).read_exact(&mut received).expect("it arrives");
        let in_time = Instant::now() < due;
        assert!(received[..] == stream(100_000, 1000), "other octets");
        carry(&far, &near, 101_000, 100_000);
        carry(&near, &far, 0, 1000);
        (in_time, world.all_helped())
    })
}

/// The old link dies, and the agent sees it.
fn outage_of(more: &str) -> (bool, Value) {
    route_moves(more, |world| {
        world.hosts.peer.run(|| ip(&["link", "set", "link0", "down"])).expect("the peer's device");
    })
}

#[test]
#[ignore = "needs kernel"]
fn the_agent_has_a_server_that_knows_nothing_go_on() {
    // A machine on which nothing happens in time tells nothing: again.
    for _ in 0..20 {
        let (in_time, status) = outage_of("");
        let others = &status["others"];
        assert_eq!(others["devices"], serde_json::json!(["link0", "link1"]), "{others}");
        let round = status["rounds"].as_array().expect("a list").iter().find(|round| round["helped"] == 1);
        assert!(round.is_some() && others["helped"] == 1 && others["unsent"] == 0, "{status}");
        if in_time {
            // Three about each of at most four numbers; 1.4 s are two doublings, and one message more. One of a smaller
            // MTU follows it. An octet of each older number and three ACKs follow, unless new data have come
            // meanwhile, and one ends it.
            let number = |name: &str| others[name].as_u64().expect("a number");
            assert!((3..=14).contains(&number("messages")), "{others}");
            assert!(number("octets") <= 3 && number("acks") <= 4, "{others}");
            assert_eq!(number("resumed"), 1, "{others}");
            return;
        }
    }
    panic!("it always took the server's timer");
}

#[test]
#[ignore = "needs kernel"]
fn a_handoff_that_has_lost_packets_is_found_out() {
    // A machine on which nothing happens in time tells nothing: again.
    for _ in 0..20 {
        let (in_time, status) = route_moves("", |_| ());
        let others = &status["others"];
        let number = |name: &str| others[name].as_u64().expect("a number");
        assert_eq!(others["unsent"], 0, "{status}");
        if in_time {
            assert_eq!((number("helped"), number("resumed")), (1, 1), "{others}");
            // No hole and nothing of ours under way: as often as its own silence of 1.4 s may have doubled the timer.
            assert!((2..=3).contains(&number("messages")), "{others}");
            assert_eq!(number("octets"), 0, "{others}");
            return;
        }
    }
    panic!("it always took the server's timer");
}

#[test]
#[ignore = "needs kernel"]
fn a_handoff_that_has_lost_nothing_is_left_alone() {
    let world = World::new();
    world.with_agent(&world.config(""), || {
        let listener = world.hosts.peer.run_outside(|| TcpListener::bind((address(false, false), 0)));
        let (near, far) = world.connect(&listener.expect("it listens"));
        carry(&far, &near, 0, 100_000);
        world.peer_moves(1);
        world.move_to(1);
        // More than two round trips of 18 ms, and 20 ms.
        for part in 0..20 {
            carry(&far, &near, 100_000 + part * 1000, 1000);
            thread::sleep(Duration::from_millis(10));
        }
        let others = world.all_helped()["others"].clone();
        assert_eq!((&others["helped"], &others["messages"]), (&0.into(), &0.into()), "{others}");
    });
}

#[test]
#[ignore = "needs kernel"]
fn who_is_not_to_be_helped_waits_for_its_timer() {
    for more in ["[others]\nresume = false\n", "[[others.prefix]]\nto = \"192.0.2.1/32\"\nresume = false\n"] {
        let (_, status) = outage_of(more);
        let others = &status["others"];
        assert_eq!((&others["helped"], &others["messages"]), (&0.into(), &0.into()), "{others}");
        assert_eq!(others["unechoed"], 0, "{others}");
        // It is there for the notices.
        assert_eq!(others["devices"], serde_json::json!(["link0", "link1"]), "{others}");
    }
}
