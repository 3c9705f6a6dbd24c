//! A peer that offers the capability is answered and enrolled; nobody else notices anything.

mod bench;

use bench::peer::{ACK, Peer, SYN};
use bench::{Bench, count, eventually, flow};
use segue_kernel::sender::LinkStatus;
use segue_policy::Link;
use segue_policy::wire::{KIND, ReportType};

const OLD: Link = Link { rate_kbps: 1600, delay_us: 75_000 };

#[test]
#[ignore = "needs kernel"]
fn an_offer_is_answered_and_the_first_report_remembered() {
    let bench = Bench::new();
    let sender = bench.attach("etcp-v1");
    let listener = bench.listen();
    for mut peer in [Peer::v4(&bench.device, 4001), Peer::v6(&bench.device, 4002)] {
        peer.connect(OLD);
        let _accepted = listener.accept().expect("a connection");
        let status = sender.status().expect("a status");
        let flow = flow(&status, peer.local);
        assert!(flow.negotiated && flow.enrolled, "{flow:?}");
        assert_eq!(flow.link, Some(LinkStatus { rate_kbps: 1600, delay_us: 75_000 }));
        assert_eq!(flow.local, peer.remote);
    }
    assert_eq!(count(&sender, "negotiated"), 2);
    assert_eq!(count(&sender, "first-reports"), 2);
    assert_eq!(sender.status().expect("a status").refused(), 0);
}

#[test]
#[ignore = "needs kernel"]
fn listeners_from_before_are_marked_if_asked() {
    let bench = Bench::new();
    let listener = bench.listen();
    for (marked, port) in [(false, 4001), (true, 4002)] {
        let options = segue_kernel::sender::Options { listeners: marked, ..bench.options("etcp-v1") };
        let sender = segue_kernel::sender::attach(&options).expect("it attaches");
        let mut peer = Peer::v4(&bench.device, port);
        peer.open(true);
        assert_eq!(peer.nonce.is_some(), marked);
        peer.acknowledge(&[]);
        let _accepted = listener.accept().expect("a connection");
        assert_eq!(count(&sender, "negotiated"), u64::from(marked));
    }
    // The listener that was marked is unmarked.
    let mut peer = Peer::v4(&bench.device, 4003);
    assert_eq!(peer.open(true).option(KIND), None);
}

#[test]
#[ignore = "needs kernel"]
fn who_never_offered_gets_nothing() {
    let bench = Bench::new();
    let sender = bench.attach("etcp-v1");
    let listener = bench.listen();
    let mut peer = Peer::v4(&bench.device, 4001);
    let answer = peer.open(false);
    assert_eq!(answer.option(KIND), None, "no option in the SYN-ACK");
    peer.nonce = Some(1);
    let first = peer.report(ReportType::First, 0, OLD);
    peer.acknowledge(&first);
    let _accepted = listener.accept().expect("a connection");
    let notice = peer.report(ReportType::Completed, 1, OLD);
    peer.acknowledge(&notice);
    let status = sender.status().expect("a status");
    let flow = flow(&status, peer.local);
    assert!(!flow.negotiated && !flow.enrolled && flow.link.is_none(), "{flow:?}");
    eventually("it is counted", || count(&sender, "not-negotiated") > 0);
    assert_eq!((count(&sender, "negotiated"), count(&sender, "accepted")), (0, 0));
}

/// With SYN cookies nothing is kept of a SYN; the nonce alone shows that the peer has seen our capability.
#[test]
#[ignore = "needs kernel"]
fn syn_cookies_do_not_hinder() {
    let bench = Bench::new();
    std::fs::write("/proc/sys/net/ipv4/tcp_syncookies", "2").expect("always");
    let sender = bench.attach("etcp-v1");
    let listener = bench.listen();
    let mut peer = Peer::v4(&bench.device, 4001);
    peer.connect(OLD);
    let _accepted = listener.accept().expect("a connection");
    let flow = flow(&sender.status().expect("a status"), peer.local);
    assert!(flow.negotiated && flow.enrolled, "{flow:?}");
    // A peer that guesses is not believed.
    let mut peer = Peer::v4(&bench.device, 4002);
    peer.open(true);
    peer.nonce = peer.nonce.map(|nonce| nonce ^ 1);
    let first = peer.report(ReportType::First, 0, OLD);
    peer.acknowledge(&first);
    let _accepted = listener.accept().expect("a connection");
    assert_eq!(count(&sender, "negotiated"), 1);
    assert_eq!(count(&sender, "not-negotiated"), 1);
}

/// Nonces differ from connection to connection, and from one attachment to the next.
#[test]
#[ignore = "needs kernel"]
fn nonces_are_not_to_be_guessed() {
    let bench = Bench::new();
    let listener = bench.listen();
    let mut seen = std::collections::HashSet::new();
    for round in 0..2 {
        let _sender = bench.attach("etcp-v1");
        for port in 0..32 {
            let mut peer = Peer::v4(&bench.device, 5000 + 100 * round + port);
            peer.open(true);
            seen.insert(peer.nonce.expect("negotiated"));
            peer.acknowledge(&[]);
            drop(listener.accept());
        }
    }
    assert!(seen.len() > 60, "{} of 64 differ", seen.len());
}

/// A host that connects out offers as well, on its first SYN alone.
#[test]
#[ignore = "needs kernel"]
fn who_connects_out_offers() {
    let bench = Bench::new();
    let sender = bench.attach("etcp-v1");
    let device = &bench.device;
    let connect = || {
        let there = std::net::SocketAddr::new(bench::PEER_V4, 7000);
        // A socket of this thread, which is in the namespace, and not waited for.
        let socket = rustix::net::socket_with(
            rustix::net::AddressFamily::INET,
            rustix::net::SocketType::STREAM,
            rustix::net::SocketFlags::NONBLOCK,
            None,
        );
        let socket = socket.expect("a socket");
        let answer = rustix::net::connect(&socket, &there);
        assert_eq!(answer.err(), Some(rustix::io::Errno::INPROGRESS));
        socket
    };
    for answers in [true, false] {
        let _socket = connect();
        let mut peer = Peer::v4(device, 7000);
        let syn = peer.receive().expect("a SYN");
        let capability = syn.capability().expect("it offers");
        peer.remote.set_port(syn.from);
        peer.ack = syn.seq.wrapping_add(1);
        peer.nonce = Some(capability.nonce);
        if !answers {
            // Sent again, it goes without: the option may have been in the way.
            let again = peer.receive().expect("a SYN");
            assert_eq!((again.seq, again.option(KIND)), (syn.seq, None));
        }
        let mut options = vec![2, 4, 5, 180, 4, 2, 1, 1];
        if answers {
            options.extend(bench::peer::CAPABILITY.encode());
        }
        peer.send(SYN | ACK, peer.seq, peer.ack, &options);
        peer.seq = peer.seq.wrapping_add(1);
        peer.receive().expect("an ACK");
        let first = peer.report(ReportType::First, 0, OLD);
        peer.acknowledge(&first);
        let flow = flow(&sender.status().expect("a status"), peer.local);
        assert_eq!((flow.negotiated, flow.enrolled, flow.link.is_some()), (answers, answers, answers));
        peer.send(bench::peer::RST | ACK, peer.seq, peer.ack, &[]);
    }
    assert_eq!(count(&sender, "negotiated"), 1);
}
