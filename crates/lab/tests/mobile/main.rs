//! The mobile host's programs on real connections between two network namespaces. Needs root.

mod agent;
mod busy;
mod capture;
mod carrier;
mod doubts;
mod first_slow_start;
mod forwarded;
mod freeze;
mod hosts;
mod mptcp;
mod mtu;
mod nat;
mod remind;
mod resume;
#[path = "../rto_max/mod.rs"]
mod rto_max;
mod sack;
mod signed;
mod stranger;
mod uploads;
mod window;
mod world;

use capture::{Capture, Segment};
use hosts::Hosts;
use segue_kernel::mobile::{Mobile, Options, Way, attach};
use segue_policy::Link;
use segue_policy::wire::{Capability, Report, ReportType};
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

const OLD: Link = Link { rate_kbps: 6400, delay_us: 9_000 };
const NEW: Link = Link { rate_kbps: 200, delay_us: 300_000 };

/// Octet of the test's byte stream at this offset.
fn octet(offset: usize) -> u8 {
    (offset * 31 % 251) as u8
}

fn stream(from: usize, length: usize) -> Vec<u8> {
    (from..from + length).map(octet).collect()
}

fn attached(host: &hosts::Host, link: Link) -> Mobile {
    attach(&Options { cgroup: host.cgroup().to_owned(), link }).expect("the programs attach")
}

/// Listens on the peer and connects from the mobile host.
fn connect(hosts: &Hosts, ipv6: bool) -> (TcpStream, TcpStream) {
    let listener = hosts.peer.run(|| TcpListener::bind((hosts.peer.address(ipv6), 0))).expect("it listens");
    connect_to(hosts, &listener)
}

fn connect_to(hosts: &Hosts, listener: &TcpListener) -> (TcpStream, TcpStream) {
    let to = listener.local_addr().expect("an address");
    let near =
        hosts.mobile.run(|| TcpStream::connect_timeout(&to, Duration::from_secs(60))).expect("it connects");
    let (far, _) = listener.accept().expect("it is accepted");
    for socket in [&near, &far] {
        socket.set_nodelay(true).expect("no Nagle");
        socket.set_read_timeout(Some(Duration::from_secs(600))).expect("a time limit");
        socket.set_write_timeout(Some(Duration::from_secs(600))).expect("a time limit");
    }
    (near, far)
}

/// Sends these octets of the stream and checks them at the other end.
fn carry(mut from: &TcpStream, mut to: &TcpStream, offset: usize, length: usize) {
    let sent = stream(offset, length);
    from.write_all(&sent).expect("it is sent");
    let mut received = vec![0; length];
    to.read_exact(&mut received).expect("it arrives");
    assert!(sent == received, "octets {offset} to {} differ", offset + length);
}

fn sent_by(segments: &[Segment], from: SocketAddr) -> Vec<&Segment> {
    segments.iter().filter(|segment| segment.from == from).collect()
}

fn told(segments: &[Segment]) -> Vec<Report> {
    segments.iter().filter_map(Segment::report).collect()
}

fn completed(seq: u8, nonce: u16, link: Link) -> Report {
    Report { kind: ReportType::Completed, seq, nonce, link }
}

/// Counters of a peer that does not like a segment.
const COMPLAINTS: [(&str, &str); 6] = [
    ("Tcp", "InErrs"),
    ("Tcp", "InCsumErrors"),
    ("Tcp", "OutRsts"),
    ("TcpExt", "TCPChallengeACK"),
    ("TcpExt", "PAWSEstab"),
    ("TcpExt", "TCPACKSkippedSeq"),
];

fn complaints(host: &hosts::Host) -> [u64; 6] {
    COMPLAINTS.map(|(group, name)| host.counter(group, name))
}

#[test]
#[ignore = "needs kernel"]
fn negotiates_reports_and_notifies() {
    let hosts = Hosts::new();
    let mut mobile = attached(&hosts.mobile, OLD);
    let _peer = attached(&hosts.peer, OLD);
    assert!(mobile.triggers());
    for ipv6 in [false, true] {
        let capture = Capture::on(&hosts.peer);
        let (near, far) = connect(&hosts, ipv6);
        let local = near.local_addr().expect("an address");
        let handshake = capture.settled();
        let sent = sent_by(&handshake, local);
        assert!(sent[0].syn && sent[0].capability().is_some(), "{sent:?}");
        let answer = handshake.iter().find(|segment| segment.to == local).expect("a SYN-ACK");
        let nonce = answer.capability().expect("a capability").nonce;
        let first = Report { kind: ReportType::First, seq: 0, nonce, link: if ipv6 { NEW } else { OLD } };
        assert!(sent[1].pure_ack(), "{:?}", sent[1]);
        assert_eq!(sent[1].report(), Some(first));

        carry(&far, &near, 0, 100_000);
        carry(&near, &far, 0, 100_000);
        let after = capture.settled();
        // the peer's first segment carries its own first report; then nobody writes
        let own: Vec<_> =
            after.iter().filter(|segment| segment.from == local && segment.ours().is_some()).collect();
        assert_eq!(own.len(), 2, "{own:?}");

        capture.clear();
        let notified = hosts.mobile.run(|| mobile.notify(NEW, ReportType::Completed, 2)).expect("it is told");
        assert_eq!((notified.connections, notified.triggered, notified.crafted), (1, 1, 0), "{notified:?}");
        let seen = capture.settled();
        let seen = sent_by(&seen, local);
        assert_eq!(seen.len(), 2, "{seen:?}");
        for ack in seen {
            assert!(ack.pure_ack());
            assert_eq!(ack.report(), Some(completed(1, nonce, NEW)));
        }
        carry(&far, &near, 100_000, 100_000);
        assert!(told(&capture.settled()).len() == 2, "nothing is written after the notice");
        drop((near, far));
    }
}

#[test]
#[ignore = "needs kernel"]
fn a_peer_without_capability_never_gets_an_option_again() {
    let hosts = Hosts::new();
    let mut mobile = attached(&hosts.mobile, OLD);
    for ipv6 in [false, true] {
        let capture = Capture::on(&hosts.peer);
        let (near, far) = connect(&hosts, ipv6);
        carry(&far, &near, 0, 100_000);
        let notified = hosts.mobile.run(|| mobile.notify(NEW, ReportType::Completed, 2)).expect("it runs");
        assert_eq!((notified.connections, notified.skipped.unnegotiated), (0, 1), "{notified:?}");
        carry(&near, &far, 0, 100_000);
        let local = near.local_addr().expect("an address");
        let seen = capture.settled();
        let with_option: Vec<_> = seen.iter().filter(|segment| segment.ours().is_some()).collect();
        assert_eq!(with_option.len(), 1, "{with_option:?}");
        assert!(with_option[0].syn && with_option[0].from == local && with_option[0].capability().is_some());
    }
}

#[test]
#[ignore = "needs kernel"]
fn an_accepted_connection_is_told_too() {
    let hosts = Hosts::new();
    let mut mobile = attached(&hosts.mobile, OLD);
    let _peer = attached(&hosts.peer, OLD);
    let capture = Capture::on(&hosts.peer);
    let listener = hosts.mobile.run(|| TcpListener::bind((hosts.mobile.ipv4, 0))).expect("it listens");
    let to = listener.local_addr().expect("an address");
    let far = hosts.peer.run(|| TcpStream::connect(to)).expect("it connects");
    let (near, _) = listener.accept().expect("it is accepted");
    carry(&far, &near, 0, 1000);
    let notified = hosts.mobile.run(|| mobile.notify(NEW, ReportType::Expected, 1)).expect("it runs");
    assert_eq!((notified.connections, notified.triggered), (1, 1), "{notified:?}");
    let seen = capture.settled();
    let syn = seen.iter().find(|segment| segment.syn && segment.to == to).expect("a SYN");
    let Some(Capability { nonce, .. }) = syn.capability() else { panic!("{syn:?}") };
    let reports: Vec<_> = sent_by(&seen, to).iter().filter_map(|segment| segment.report()).collect();
    let report = |kind, seq, link| Report { kind, seq, nonce, link };
    assert_eq!(reports, [report(ReportType::First, 0, OLD), report(ReportType::Expected, 1, NEW)]);
}

#[test]
#[ignore = "needs kernel"]
fn who_may_still_send_is_told() {
    let hosts = Hosts::new();
    let mut mobile = attached(&hosts.mobile, OLD);
    let _peer = attached(&hosts.peer, OLD);
    let [half_closed, finished] = [connect(&hosts, false), connect(&hosts, true)];
    half_closed.0.shutdown(Shutdown::Write).expect("half of it ends");
    finished.1.shutdown(Shutdown::Write).expect("half of it ends");
    assert_eq!((&finished.0).read(&mut [0]).expect("the end"), 0);
    let told = hosts.mobile.run(|| mobile.notify(NEW, ReportType::Completed, 2)).expect("it runs");
    assert_eq!((told.connections, told.triggered, told.skipped.closing), (1, 1, 1), "{told:?}");
    carry(&half_closed.1, &half_closed.0, 0, 100_000);
    carry(&finished.0, &finished.1, 0, 100_000);
}

#[test]
#[ignore = "needs kernel"]
fn other_namespaces_and_what_comes_after_a_detach_are_left_alone() {
    let hosts = Hosts::new();
    let mut mobile = attached(&hosts.mobile, OLD);
    let _peer = attached(&hosts.peer, OLD);
    let (near, far) = connect(&hosts, false);
    let told = hosts.peer.run(|| mobile.notify(NEW, ReportType::Completed, 2)).expect("it runs");
    // the other end of the connection, which is not of the mobile's cgroup
    assert_eq!((told.connections, told.skipped.unnegotiated), (0, 1), "{told:?}");
    drop(mobile);
    let capture = Capture::on(&hosts.peer);
    carry(&near, &far, 0, 100_000);
    let after = connect(&hosts, false);
    carry(&after.0, &after.1, 0, 100_000);
    let seen = capture.settled();
    assert!(seen.iter().all(|segment| segment.from.ip() != hosts.mobile.ipv4 || segment.ours().is_none()));
}

#[test]
#[ignore = "needs kernel"]
fn a_third_syn_goes_without_the_option() {
    let hosts = Hosts::new();
    let _mobile = attached(&hosts.mobile, OLD);
    let capture = Capture::on(&hosts.peer);
    let nobody = "10.77.0.9:9".parse().expect("an address");
    hosts.mobile.run(|| {
        hosts::ip(&["neighbour", "add", "10.77.0.9", "lladdr", "02:00:00:00:00:09", "dev", "link0"])
            .expect("frames leave");
        // SYNs leave after 0, 1 and 3 s, and the fourth after 7.
        TcpStream::connect_timeout(&nobody, Duration::from_secs(6)).expect_err("nobody answers");
    });
    let seen = capture.settled();
    let with: Vec<_> = seen.iter().filter(|segment| segment.to == nobody).map(Segment::capability).collect();
    assert!(with.len() >= 3 && with[0].is_some() && with[0] == with[1], "{with:?}");
    assert!(with[2..].iter().all(Option::is_none), "{with:?}");
}

/// Nothing of the SYN is kept: the capability would be forgotten, so it is not answered.
#[test]
#[ignore = "needs kernel"]
fn a_syn_cookie_negotiates_nothing() {
    let hosts = Hosts::new();
    let mut mobile = attached(&hosts.mobile, OLD);
    let _peer = attached(&hosts.peer, OLD);
    hosts.peer.run(|| std::fs::write("/proc/sys/net/ipv4/tcp_syncookies", "2")).expect("always cookies");
    let capture = Capture::on(&hosts.peer);
    let (near, far) = connect(&hosts, true);
    carry(&far, &near, 0, 10_000);
    assert!(hosts.peer.counter("TcpExt", "SyncookiesRecv") == 1);
    let seen = capture.settled();
    assert_eq!(seen.iter().filter(|segment| segment.ours().is_some()).count(), 1, "the SYN alone");
    let told = hosts.mobile.run(|| mobile.notify(NEW, ReportType::Completed, 2)).expect("it runs");
    assert_eq!((told.connections, told.skipped.unnegotiated), (0, 1), "{told:?}");
}

#[test]
#[ignore = "needs kernel"]
fn what_cannot_be_told_is_refused() {
    let hosts = Hosts::new();
    let mut mobile = attached(&hosts.mobile, OLD);
    for (link, kind, copies, message) in [
        (NEW, ReportType::Completed, 0, "0 copies of a notice; expected 1 to 8"),
        (NEW, ReportType::Completed, 9, "9 copies of a notice; expected 1 to 8"),
        (
            NEW,
            ReportType::First,
            2,
            "a first report is no notice; expected a completed or a foreseen handoff",
        ),
        (Link { rate_kbps: 0, delay_us: 1 }, ReportType::Completed, 2, "link in a report: rate is zero"),
    ] {
        let error = mobile.notify(link, kind, copies).expect_err("a mistake");
        assert!(error.is_users());
        assert_eq!(error.to_string(), message);
    }
    // a notice that finds no way out
    let _peer = attached(&hosts.peer, OLD);
    let connection = connect(&hosts, false);
    hosts.mobile.run(|| hosts::ip(&["address", "flush", "dev", "link0"])).expect("the address goes");
    let told =
        hosts.mobile.run(|| mobile.notify_by(Way::Crafted, NEW, ReportType::Completed, 2)).expect("it runs");
    assert_eq!((told.connections, told.crafted, told.skipped.unsent), (1, 0, 1), "{told:?}");
    let refusal = told.skipped.refusal.expect("a reason").to_string();
    assert!(
        refusal.starts_with("crafted packet to 10.77.0.2:") && refusal.contains("(os error"),
        "{refusal}"
    );
    drop(connection);
}

#[test]
#[ignore = "needs kernel"]
fn a_peers_kernel_takes_crafted_acks() {
    let hosts = Hosts::new();
    let mut mobile = attached(&hosts.mobile, OLD);
    let _peer = attached(&hosts.peer, OLD);
    let before = complaints(&hosts.peer);
    for ipv6 in [false, true] {
        let capture = Capture::on(&hosts.peer);
        let (near, far) = connect(&hosts, ipv6);
        carry(&far, &near, 0, 300_000);
        let local = near.local_addr().expect("an address");
        // A trigger after it must not look old (PAWS): the kernel's ACKs carry the clock of the last event.
        for (seq, way) in [(1, Way::Crafted), (2, Way::Trigger), (3, Way::Crafted), (4, Way::Auto)] {
            std::thread::sleep(Duration::from_millis(60));
            capture.clear();
            let accepted = hosts.peer.counter("TcpExt", "TCPPureAcks");
            let told = hosts
                .mobile
                .run(|| mobile.notify_by(way, NEW, ReportType::Completed, 2))
                .expect("it is told");
            assert_eq!(
                (told.crafted, told.triggered),
                if way == Way::Crafted { (1, 0) } else { (0, 1) },
                "{told:?}"
            );
            let acks = capture.settled();
            assert_eq!(acks.len(), 2, "the peer has nothing to answer: {acks:?}");
            assert!(acks.iter().all(|ack| ack.from == local && ack.pure_ack()));
            assert_eq!(acks[0].report().map(|report| (report.seq, report.link)), Some((seq, NEW)));
            assert_eq!(acks[0].report(), acks[1].report());
            // counted after all checks of a segment (tcp_ack)
            assert_eq!(hosts.peer.counter("TcpExt", "TCPPureAcks") - accepted, 2);
        }
        carry(&far, &near, 300_000, 300_000);
        carry(&near, &far, 0, 300_000);
    }
    assert_eq!(complaints(&hosts.peer), before, "{COMPLAINTS:?}");
}
