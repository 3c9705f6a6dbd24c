//! A NAT and a stateful firewall between the mobile and a server that knows nothing of us.

use super::hosts::{Host, Hosts, ip};
use super::resume::{LIMIT, backed_off, following, outage, timer, waiting};
use super::{carry, complaints, connect, stream};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

/// The private side may open connections; what belongs to one may pass, ICMP about it included. IPv4 is masqueraded.
const RULES: &str = "\
    table ip nat {\n\
        chain after { type nat hook postrouting priority 100; oifname \"far\" masquerade; }\n\
    }\n\
    table inet wall {\n\
        chain through {\n\
            type filter hook forward priority 0; policy drop;\n\
            ICMP\n\
            ct state invalid drop\n\
            ct state established,related accept\n\
            iifname \"near\" ct state new accept\n\
        }\n\
    }\n";

/// Hosts with such a router between them. `icmp`: a rule for it.
pub fn behind(icmp: &str) -> (Hosts, Host) {
    Hosts::behind(&RULES.replace("ICMP", icmp))
}

/// The packets of this host go to nobody.
pub fn silence(host: &Host, gateways: [&str; 2], silent: bool) {
    host.run(|| {
        for gateway in gateways {
            let nobody = [
                "neigh",
                "replace",
                gateway,
                "lladdr",
                "02:00:00:00:00:99",
                "nud",
                "permanent",
                "dev",
                "link0",
            ];
            let done = if silent { ip(&nobody) } else { ip(&["neigh", "del", gateway, "dev", "link0"]) };
            done.expect("a neighbour");
        }
    });
}

pub const PEERS: [&str; 2] = ["192.0.2.1", "2001:db8::1"];
pub const MOBILES: [&str; 2] = ["10.77.0.254", "fd77::254"];

/// After 2,000 octets from the peer, both directions work and nobody complains.
pub fn goes_on(hosts: &Hosts, near: &TcpStream, far: &TcpStream) {
    carry(far, near, 2000, 100_000);
    carry(near, far, 0, 1000);
    let [errors, sums, resets, ..] = complaints(&hosts.peer);
    assert_eq!([errors, sums, resets], [0; 3], "{:?}", super::COMPLAINTS);
}

/// Data of the peer were lost with the link. Whether they come before its timer's time, if the mobile says so.
fn resends((hosts, _router): &(Hosts, Host), ipv6: bool) -> bool {
    let mut mobile = following(hosts);
    let (near, far) = connect(hosts, ipv6);
    carry(&far, &near, 0, 1000);
    silence(&hosts.peer, PEERS, true);
    (&far).write_all(&stream(1000, 1000)).expect("the socket's buffer takes it");
    let due = backed_off(&hosts.peer, &far);
    outage(&mut mobile);
    silence(&hosts.peer, PEERS, false);
    let all = waiting(hosts, &mut mobile);
    assert_eq!(all.len(), 1, "{all:?}");
    hosts.mobile.run(|| {
        for _ in 0..3 {
            mobile.send_unreachable(&all[0], all[0].acks[0]).expect("it is sent");
        }
        mobile.send_ack(&all[0]).expect("it is sent");
    });
    let mut received = [0; 1000];
    (&near).read_exact(&mut received).expect("it arrives");
    let in_time = Instant::now() < due;
    assert!(received[..] == stream(1000, 1000), "other octets");
    goes_on(hosts, &near, &far);
    in_time
}

#[test]
#[ignore = "needs kernel nftables"]
fn messages_pass_a_nat_and_a_firewall() {
    for ipv6 in [false, true] {
        // A machine on which nothing happens in time tells nothing: again.
        assert!((0..20).any(|_| resends(&behind(""), ipv6)), "it always took the peer's timer");
    }
}

/// The ACKs of data were lost with the link. Whether the last ACK ends the peer's wait before its timer's time.
fn the_ack_is_enough((hosts, _router): &(Hosts, Host), ipv6: bool) -> bool {
    let mut mobile = following(hosts);
    let (near, far) = connect(hosts, ipv6);
    carry(&far, &near, 0, 1000);
    silence(&hosts.mobile, MOBILES, true);
    carry(&far, &near, 1000, 1000);
    let due = backed_off(&hosts.peer, &far);
    outage(&mut mobile);
    silence(&hosts.mobile, MOBILES, false);
    let all = waiting(hosts, &mut mobile);
    assert_eq!(all.len(), 1, "{all:?}");
    let (backoffs, _) = timer(&hosts.peer, &far);
    hosts.mobile.run(|| {
        for number in &all[0].acks {
            mobile.send_unreachable(&all[0], *number).expect("it is sent");
        }
    });
    let after = timer(&hosts.peer, &far).0;
    if Instant::now() >= due {
        // Its timer may have expired, and its data been acknowledged.
        goes_on(hosts, &near, &far);
        return false;
    }
    assert!(after >= backoffs, "a message has come");
    hosts.mobile.run(|| mobile.send_ack(&all[0]).expect("it is sent"));
    // Without anything under way there is no timer.
    let limit = Instant::now() + LIMIT;
    while timer(&hosts.peer, &far).1.is_some() {
        assert!(Instant::now() < limit, "its data are never acknowledged");
        thread::sleep(Duration::from_millis(5));
    }
    let in_time = Instant::now() < due;
    goes_on(hosts, &near, &far);
    in_time
}

#[test]
#[ignore = "needs kernel nftables"]
fn where_a_firewall_drops_icmp_the_ack_remains() {
    for ipv6 in [false, true] {
        let drops = "meta l4proto { icmp, ipv6-icmp } drop";
        assert!((0..20).any(|_| the_ack_is_enough(&behind(drops), ipv6)), "it always took the peer's timer");
    }
}
