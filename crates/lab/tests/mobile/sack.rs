//! Where SACK blocks leave no room for a report.

use super::capture::{Capture, Segment};
use super::hosts::{Host, Hosts};
use super::resume::{following, outage};
use super::{NEW, OLD, attached, carry, complaints, completed, connect, sent_by, stream};
use etherparse::PacketBuilder;
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrStorage, sendto, socket,
};
use segue_kernel::mobile::{Notified, Way};
use segue_policy::wire::ReportType;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd;

/// Sends, in the peer's name, octets of its stream beyond the next that it will send: a hole stays before them.
pub fn send_beyond(peer: &Host, last: &Segment, offset: usize, beyond: usize, length: usize) {
    let (echo, _) = last.stamps().expect("time stamps");
    let (own_time, seq) = (last.stamps().expect("time stamps").1, last.ack.wrapping_add(beyond as u32));
    let ip = match (last.to.ip(), last.from.ip()) {
        (IpAddr::V4(from), IpAddr::V4(to)) => PacketBuilder::ipv4(from.octets(), to.octets(), 64),
        (IpAddr::V6(from), IpAddr::V6(to)) => PacketBuilder::ipv6(from.octets(), to.octets(), 64),
        _ => unreachable!("one family"),
    };
    let mut options = vec![1, 1, 8, 10];
    options.extend(own_time.wrapping_add(1).to_be_bytes());
    options.extend(echo.to_be_bytes());
    let tcp = ip.tcp(last.to.port(), last.from.port(), seq, 500).ack(last.seq);
    let mut packet = Vec::new();
    tcp.options_raw(&options)
        .expect("they fit")
        .write(&mut packet, &stream(offset + beyond, length))
        .expect("it fits");
    let family = if last.to.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 };
    peer.run(|| {
        let raw =
            socket(family, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::Raw).expect("a raw socket");
        let to = SockaddrStorage::from(SocketAddr::new(last.from.ip(), 0));
        sendto(raw.as_raw_fd(), &packet, &to, MsgFlags::empty()).expect("it is sent");
    });
}

#[test]
#[ignore = "needs kernel"]
fn auto_crafts_what_finds_no_room_beside_sack_blocks() {
    let hosts = Hosts::new();
    let mut mobile = attached(&hosts.mobile, OLD);
    let _peer = attached(&hosts.peer, OLD);
    let before = complaints(&hosts.peer);
    for ipv6 in [false, true] {
        let capture = Capture::on(&hosts.peer);
        let (near, far) = connect(&hosts, ipv6);
        let local = near.local_addr().expect("an address");
        carry(&far, &near, 0, 10_000);
        let mut notify = |way| -> (Notified, Vec<Segment>) {
            capture.clear();
            let told =
                hosts.mobile.run(|| mobile.notify_by(way, NEW, ReportType::Completed, 2)).expect("it runs");
            let seen = capture.settled();
            (told, sent_by(&seen, local).into_iter().cloned().collect())
        };
        let (told, acks) = notify(Way::Auto);
        assert_eq!(told.triggered, 1, "{told:?}");
        let (last, nonce) = (acks[1].clone(), acks[1].report().expect("a report").nonce);

        // one block: 12 octets of time stamps, 12 of the block, 12 of the report
        send_beyond(&hosts.peer, &last, 10_000, 100, 1);
        let (told, acks) = notify(Way::Auto);
        assert_eq!((told.triggered, told.crafted), (1, 0), "{told:?}");
        assert_eq!(acks.len(), 2, "{acks:?}");
        for ack in &acks {
            assert_eq!((ack.report(), ack.sack_blocks()), (Some(completed(2, nonce, NEW)), 1));
        }

        for (blocks, seq) in [(2, 3), (3, 4)] {
            send_beyond(&hosts.peer, &last, 10_000, 100 * (2 * blocks - 1), 1);
            // the kernel's own ACKs leave the option out, and it is known that they did
            let (told, acks) = notify(Way::Trigger);
            assert_eq!((told.triggered, told.crafted, told.skipped.unwritten), (0, 0, 1), "{told:?}");
            assert_eq!(acks.len(), 2, "{acks:?}");
            for ack in &acks {
                assert_eq!((ack.ours(), ack.sack_blocks()), (None, blocks));
            }
            // a number that was not used is used by the next
            let (told, acks) = notify(Way::Auto);
            assert_eq!((told.triggered, told.crafted), (0, 1), "{told:?}");
            assert_eq!(acks.len(), 2, "{acks:?}");
            for ack in &acks {
                assert_eq!((ack.report(), ack.sack_blocks()), (Some(completed(seq, nonce, NEW)), 0));
                assert_eq!((ack.seq, ack.ack), (last.seq, last.ack));
            }
        }
        // the peer fills the holes with the same octets
        carry(&far, &near, 10_000, 100_000);
        carry(&near, &far, 0, 100_000);
    }
    assert_eq!(complaints(&hosts.peer), before);
}

/// The kernel's own ACK would report what came before the outage (docs/reference/mobile.md, 1.1).
#[test]
#[ignore = "needs kernel"]
fn after_an_outage_auto_crafts_what_would_report_a_block() {
    let hosts = Hosts::new();
    let mut mobile = following(&hosts);
    let _peer = attached(&hosts.peer, OLD);
    let capture = Capture::on(&hosts.peer);
    let (near, far) = connect(&hosts, false);
    let local = near.local_addr().expect("an address");
    carry(&far, &near, 0, 10_000);
    // Without a hole the kernel's ACK has nothing to report; with one, only after the outage another must be made.
    for (lacks, ended, triggered, blocks) in [(false, false, 1, 0), (true, false, 1, 1), (true, true, 0, 0)] {
        if lacks && !ended {
            let seen = capture.settled();
            let last = sent_by(&seen, local).into_iter().next_back().expect("an ACK").clone();
            send_beyond(&hosts.peer, &last, 10_000, 100, 1);
        }
        if ended {
            outage(&mut mobile);
        }
        capture.clear();
        let told = hosts.mobile.run(|| mobile.notify_by(Way::Auto, NEW, ReportType::Completed, 2));
        let told = told.expect("it runs");
        assert_eq!((told.triggered, told.crafted), (triggered, 1 - triggered), "{told:?}");
        let seen = capture.settled();
        let acks = sent_by(&seen, local);
        assert_eq!(acks.len(), 2, "{acks:?}");
        assert!(acks.iter().all(|ack| ack.report().is_some() && ack.sack_blocks() == blocks), "{acks:?}");
    }
    // The peer fills the hole with the same octets.
    carry(&far, &near, 10_000, 100_000);
}
