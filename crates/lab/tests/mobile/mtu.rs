//! Servers that are told a smaller MTU after an outage (`mtu` of `[others]`), and so resend at once.

use super::hosts::{Host, Hosts, ip, nft};
use super::nat::{PEERS, behind, silence};
use super::resume::{LIMIT, backed_off, downlink, following, resends_in_time, timer, waiting};
use super::world::{World, address};
use super::{COMPLAINTS, carry, complaints, connect, stream};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{IpAddr, TcpListener, TcpStream};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// Lost octets: more than one full packet.
const LOST: usize = 20_000;

/// The MTU that this host believes to be that of the path to this address.
fn path_mtu(host: &Host, to: IpAddr) -> Option<u32> {
    let done = host.run(|| Command::new("ip").args(["route", "get", &to.to_string()]).output());
    let text = String::from_utf8(done.expect("iproute2").stdout).expect("text");
    text.split_once(" mtu ").and_then(|(_, rest)| rest.split_whitespace().next()?.parse().ok())
}

fn reads(mut near: &TcpStream, offset: usize) {
    let mut received = vec![0; LOST];
    near.read_exact(&mut received).expect("it arrives");
    assert!(received == stream(offset, LOST), "other octets");
}

/// RFC 1191, RFC 8201: whatever the timer's time is. One that tells nothing is followed by one of a still smaller MTU.
#[test]
#[ignore = "needs kernel"]
fn a_smaller_mtu_has_the_peer_resend_at_once() {
    for ipv6 in [false, true] {
        let hosts = Hosts::new();
        let in_time = resends_in_time(&hosts, ipv6, 100_000, 5000, |mobile, waiting| {
            // After eight rounds there is none.
            if let Some(mtu) = waiting.smaller_mtu() {
                mobile.send_too_big(waiting, waiting.next(), mtu).expect("it is sent");
            }
        });
        assert!(in_time, "it always took the peer's timer");
        assert!(path_mtu(&hosts.peer, hosts.mobile.address(ipv6)).is_some(), "it has believed it");
        let [errors, sums, resets, challenges, ..] = complaints(&hosts.peer);
        assert_eq!([errors, sums, resets, challenges], [0; 4], "{COMPLAINTS:?}");
    }
}

/// Outage after outage, each within the time for which the peer believes the one before.
#[test]
#[ignore = "needs kernel"]
fn a_peer_is_told_no_more_than_eight_steps() {
    for ipv6 in [false, true] {
        let hosts = Hosts::new();
        let mut mobile = following(&hosts);
        let (near, far) = connect(&hosts, ipv6);
        let (mut told, mut at) = (Vec::new(), 0);
        loop {
            carry(&far, &near, at, 100_000);
            at += 100_000;
            let all = waiting(&hosts, &mut mobile);
            let Some(mtu) = all[0].smaller_mtu() else { break };
            told.push(mtu);
            assert!(told.len() < 20, "{told:?}");
            downlink(&hosts, true);
            (&far).write_all(&stream(at, LOST)).expect("the socket's buffer takes it");
            hosts.mobile.run(|| mobile.send_too_big(&all[0], all[0].next(), mtu)).expect("it is sent");
            downlink(&hosts, false);
            reads(&near, at);
            at += LOST;
        }
        assert_eq!(told, [1492, 1484, 1476, 1468, 1460, 1452, 1444, 1436]);
        assert_eq!(path_mtu(&hosts.peer, hosts.mobile.address(ipv6)), Some(1436));
    }
}

#[test]
#[ignore = "needs kernel nftables"]
fn a_smaller_mtu_passes_a_nat_and_a_firewall() {
    for ipv6 in [false, true] {
        let (hosts, _router) = behind("");
        let mut mobile = following(&hosts);
        let (near, far) = connect(&hosts, ipv6);
        carry(&far, &near, 0, 100_000);
        let all = waiting(&hosts, &mut mobile);
        let mtu = all[0].smaller_mtu().expect("whole packets have come");
        silence(&hosts.peer, PEERS, true);
        (&far).write_all(&stream(100_000, LOST)).expect("the socket's buffer takes it");
        hosts.mobile.run(|| mobile.send_too_big(&all[0], all[0].next(), mtu)).expect("it is sent");
        silence(&hosts.peer, PEERS, false);
        reads(&near, 100_000);
        let to = far.peer_addr().expect("an address").ip();
        assert_eq!(path_mtu(&hosts.peer, to), Some(1492), "{to}");
    }
}

/// Counts messages of a smaller MTU that come to this host. `verdict`: what becomes of them, and of host unreachable.
fn count_told(host: &Host, verdict: &str) {
    let rules = format!(
        "table inet told {{\n\
            counter told {{ }}\n\
            chain input {{\n\
                type filter hook input priority 0;\n\
                icmp type destination-unreachable icmp code frag-needed counter name told\n\
                icmpv6 type packet-too-big counter name told\n\
                icmp type destination-unreachable {verdict}\n\
                icmpv6 type {{ destination-unreachable, packet-too-big }} {verdict}\n\
            }}\n\
        }}\n"
    );
    host.run(|| nft(&rules)).expect("nftables");
}

fn told(host: &Host) -> u32 {
    let done = host.run(|| Command::new("nft").args(["list", "counter", "inet", "told", "told"]).output());
    let text = String::from_utf8(done.expect("nftables").stdout).expect("text");
    let count =
        text.split_once("packets ").and_then(|(_, rest)| rest.split_whitespace().next()?.parse().ok());
    count.unwrap_or_else(|| panic!("no counter: {text}"))
}

/// The packets of the server by the second link go to nobody.
fn second_downlink(server: &Host, dead: bool) {
    server.run(|| {
        for to in ["10.78.0.1", "fd78::1"] {
            let nobody = ["lladdr", "02:00:00:00:00:99", "nud", "permanent"];
            let done = match dead {
                true => ip(&[&["neigh", "replace", to, "dev", "link1"][..], &nobody].concat()),
                false => ip(&["neigh", "del", to, "dev", "link1"]),
            };
            done.expect("a neighbour");
        }
    });
}

/// How long the new downlink is dead.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dead {
    /// Until the agent's link is back.
    Link,
    /// Until the agent has sent all that it sends to a silent server.
    Help,
}

/// An outage.
struct Case<'a> {
    /// Lines of the agent's configuration.
    more: &'a str,
    ipv6: bool,
    dead: Dead,
    /// The verdict on messages at the server.
    messages: &'a str,
}

const USUAL: Case<'_> = Case { more: "", ipv6: false, dead: Dead::Link, messages: "accept" };

/// Its result.
#[derive(Debug)]
struct Seen {
    /// So often the server's timer expired from link-up until new data came.
    timeouts: u64,
    /// The agent's status.
    others: Value,
    /// Messages of a smaller MTU.
    told: u32,
    /// The MTU that the server believes its path to have.
    mtu: Option<u32>,
}

/// A server that has all ACKs sends data that are lost. Its link moves once its timer has backed off. Every octet is
/// compared.
fn outage(case: &Case<'_>) -> Seen {
    let world = World::new();
    let server = &world.hosts.peer;
    world.with_agent(&world.config(case.more), || {
        // A listener of another cgroup: it answers no capability.
        let listener = server.run_outside(|| TcpListener::bind((address(false, case.ipv6), 0)));
        let (near, far) = world.connect(&listener.expect("it listens"));
        // The SYN's round trip has the search for neighbours in it: a shorter one.
        carry(&near, &far, 0, 1000);
        carry(&far, &near, 0, 100_000);
        count_told(server, case.messages);
        // It has no timer when all is acknowledged.
        let limit = Instant::now() + LIMIT;
        while timer(server, &far).1.is_some() {
            assert!(Instant::now() < limit, "its data are never acknowledged");
            thread::sleep(Duration::from_millis(5));
        }
        // The old link is down. By the new one its packets leave, but go to nobody: without a route none would leave,
        // and a message would act at once.
        second_downlink(server, true);
        world.peer_moves(1);
        server.run(|| ip(&["link", "set", "link0", "down"])).expect("the server's device");
        (&far).write_all(&stream(100_000, LOST)).expect("the socket's buffer takes it");
        backed_off(server, &far);
        if case.dead == Dead::Link {
            second_downlink(server, false);
        }
        let timeouts = || server.counter("TcpExt", "TCPTimeouts");
        let before = timeouts();
        world.move_to(1);
        if case.dead == Dead::Help {
            world.all_helped();
            second_downlink(server, false);
        }
        reads(&near, 100_000);
        let timeouts = timeouts() - before;
        carry(&far, &near, 100_000 + LOST, 100_000);
        carry(&near, &far, 0, 1000);
        let [errors, sums, resets, ..] = complaints(server);
        assert_eq!([errors, sums, resets], [0; 3], "{COMPLAINTS:?}");
        let others = world.all_helped()["others"].clone();
        assert_eq!((&others["helped"], &others["unsent"]), (&1.into(), &0.into()), "{others}");
        Seen { timeouts, others, told: told(server), mtu: path_mtu(server, address(true, case.ipv6)) }
    })
}

/// The agent has sent all that it sends to a silent server: three ACKs at once, and one at the end.
fn whole_help(more: &str, ipv6: bool) -> Seen {
    let seen = outage(&Case { more, ipv6, dead: Dead::Help, ..USUAL });
    assert_eq!((&seen.others["resumed"], &seen.others["acks"]), (&0.into(), &4.into()), "{seen:?}");
    seen
}

#[test]
#[ignore = "needs kernel nftables"]
fn a_server_that_is_told_a_smaller_mtu_resends_in_time() {
    for ipv6 in [false, true] {
        let in_time = (0..20).any(|_| {
            let seen = outage(&Case { ipv6, ..USUAL });
            // Otherwise the server's timer was sooner than the agent, or than the message.
            let in_time = seen.told > 0 && seen.timeouts == 0;
            assert!(!in_time || seen.mtu == Some(1492), "{seen:?}");
            in_time
        });
        assert!(in_time, "it always took the server's timer");
    }
}

#[test]
#[ignore = "needs kernel nftables"]
fn a_silent_server_is_told_a_smaller_mtu_unless_it_is_switched_off() {
    for ipv6 in [false, true] {
        let seen = whole_help("", ipv6);
        assert!((1..=3).contains(&seen.told) && seen.mtu == Some(1492), "{seen:?}");
        let prefix = if ipv6 { "2001:db8::2/128" } else { "192.0.2.1/32" };
        let prefix = format!("[[others.prefix]]\nto = \"{prefix}\"\nmtu = false\n");
        for more in ["[others]\nmtu = false\n", &prefix] {
            let seen = whole_help(more, ipv6);
            assert_eq!((seen.told, seen.mtu), (0, None), "{seen:?}");
        }
    }
}

/// The new path is longer than the server's RTO: it would resend all at once, and again.
#[test]
#[ignore = "needs kernel nftables"]
fn a_server_that_had_better_not_begin_anew_is_told_no_mtu() {
    let slow = "[[link]]\ndevice = \"link1\"\nrate = \"200kbit\"\ndelay = \"300ms\"\n";
    let seen = whole_help(slow, false);
    assert_eq!((seen.told, seen.mtu, &seen.others["octets"]), (0, None, &0.into()), "{seen:?}");
}

/// As without the option: the server's own timer has it go on.
#[test]
#[ignore = "needs kernel nftables"]
fn a_server_that_gets_no_icmp_is_not_worse_off() {
    for ipv6 in [false, true] {
        let was_told = (0..20).any(|_| {
            let seen = outage(&Case { ipv6, messages: "drop", ..USUAL });
            assert!(seen.mtu.is_none() && seen.timeouts <= 1, "{seen:?}");
            seen.told > 0
        });
        assert!(was_told, "the agent has never told an MTU");
    }
}
