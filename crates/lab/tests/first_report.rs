//! The first report rides on the ACK that completes the handshake, which nobody resends by itself when it is lost.

mod bench;

use bench::peer::{ACK, CAPABILITY, Peer, SYN, Segment};
use bench::{Bench, HOST_V4, PEER_V4, count, flow};
use segue_kernel::mobile::{self, Notice, Scope, Way};
use segue_kernel::sender::{LinkStatus, Sender};
use segue_policy::Link;
use segue_policy::wire::{KIND, Report, ReportType};
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::thread;
use std::time::Duration;

const LINK: Link = Link { rate_kbps: 1600, delay_us: 75_000 };
/// Other peers' route.
const ELSEWHERE: Scope =
    Scope { address: IpAddr::V4(Ipv4Addr::new(203, 0, 113, 0)), bits: 24, notified: true };
const NEW: Link = Link { rate_kbps: 400, delay_us: 150_000 };

fn report(segment: &Segment) -> Option<Report> {
    segment.option(KIND).and_then(|octets| Report::decode(octets).ok())
}

/// Connects the kernel, which is the mobile, to a peer that answers nothing but the SYN, as if it had lost all that
/// follows. The options of its SYN-ACK, and the ACK of that.
fn connect(bench: &Bench) -> (TcpStream, Peer<'_>, Vec<u8>, Segment) {
    connect_while(bench, || ())
}

/// The same; `meanwhile` happens between SYN and SYN-ACK.
fn connect_while(bench: &Bench, meanwhile: impl FnOnce()) -> (TcpStream, Peer<'_>, Vec<u8>, Segment) {
    let address = SocketAddr::new(PEER_V4, 7000);
    thread::scope(|scope| {
        let stream = scope.spawn(move || TcpStream::connect(address));
        let mut peer = Peer::new(&bench.device, address, SocketAddr::new(HOST_V4, 0));
        let syn = peer.receive().expect("a SYN");
        assert!(syn.capability().is_some(), "{syn:?}");
        peer.remote.set_port(syn.from);
        peer.ack = syn.seq.wrapping_add(1);
        let options = [&[2, 4, 5, 180, 4, 2, 1, 1][..], &CAPABILITY.encode()].concat();
        meanwhile();
        peer.send(SYN | ACK, peer.seq, peer.ack, &options);
        let first = peer.receive().expect("an ACK");
        (stream.join().expect("no panic").expect("it connects"), peer, options, first)
    })
}

/// The kernel is the mobile; the peer answers nothing but the SYN at first, as if it had lost all that follows.
#[test]
#[ignore = "needs kernel"]
fn the_mobile_repeats_it_until_it_is_answered() {
    let bench = Bench::new();
    let _mobile =
        mobile::attach(&mobile::Options { cgroup: bench.cgroup.clone(), link: LINK }).expect("it attaches");
    let (mut stream, mut peer, options, first) = connect(&bench);
    let told = Report { kind: ReportType::First, seq: 0, nonce: CAPABILITY.nonce, link: LINK };
    assert_eq!((report(&first), first.payload), (Some(told), 0));
    // A peer that has lost it repeats its SYN-ACK.
    peer.send(SYN | ACK, peer.seq, peer.ack, &options);
    let again = peer.receive().expect("an ACK");
    assert_eq!((report(&again), again.payload), (Some(told), 0));
    // Or data completes the handshake.
    peer.seq = peer.seq.wrapping_add(1);
    stream.write_all(&[7; 100]).expect("data");
    let data = peer.receive().expect("data");
    assert_eq!((report(&data), data.payload), (Some(told), 100));
    // Once that is answered, nothing more is said.
    peer.acknowledge(&[]);
    stream.write_all(&[7; 100]).expect("data");
    let after = peer.receive().expect("data");
    assert_eq!((after.option(KIND), after.payload), (None, 100));
}

/// A peer that has answered nothing may not know the old link. The first report takes the place of the first copy of a
/// notice, and the connection's own segments repeat both.
#[test]
#[ignore = "needs kernel"]
fn without_an_answer_it_goes_ahead_of_a_notice() {
    for (way, copies) in [(Way::Auto, 2), (Way::Crafted, 2), (Way::Auto, 1), (Way::Crafted, 1)] {
        let bench = Bench::new();
        let mut mobile = mobile::attach(&mobile::Options { cgroup: bench.cgroup.clone(), link: LINK })
            .expect("it attaches");
        let (mut stream, mut peer, _, first) = connect(&bench);
        let old = Report { kind: ReportType::First, seq: 0, nonce: CAPABILITY.nonce, link: LINK };
        assert_eq!(report(&first), Some(old));
        mobile.notify_by(way, NEW, ReportType::Completed, copies).expect("it tells");
        let notice = Report { kind: ReportType::Completed, seq: 1, link: NEW, ..old };
        for expected in [old].into_iter().chain([notice].repeat(usize::from(copies).max(2) - 1)) {
            assert_eq!(report(&peer.receive().expect("an ACK")), Some(expected), "{way:?}, {copies}");
        }
        let mut repeated = vec![];
        match (way, copies) {
            // The next notice ends that, and needs no help.
            (_, 1) => {
                mobile.notify_by(way, LINK, ReportType::Completed, 2).expect("it tells");
                let next = Report { seq: 2, link: LINK, ..notice };
                for _ in 0..2 {
                    assert_eq!(report(&peer.receive().expect("an ACK")), Some(next), "{way:?}");
                }
            }
            (Way::Auto, _) => repeated = vec![old, notice, notice],
            _ => {}
        }
        peer.seq = peer.seq.wrapping_add(1);
        for expected in repeated.into_iter().map(Some).chain([None]) {
            stream.write_all(&[7; 100]).expect("data");
            let data = peer.receive().expect("data");
            assert_eq!((report(&data), data.payload), (expected, 100), "{way:?}, {copies}");
            peer.acknowledge(&[]); // Nagle's algorithm holds what comes next until then
        }
    }
}

/// The connection was one of the old link when a handoff completed, though it could not be notified yet. So its own
/// segments tell of both links.
#[test]
#[ignore = "needs kernel"]
fn a_handoff_between_syn_and_syn_ack_is_told() {
    let bench = Bench::new();
    let mut mobile =
        mobile::attach(&mobile::Options { cgroup: bench.cgroup.clone(), link: LINK }).expect("it attaches");
    let tell = || {
        mobile.notify_by(Way::Auto, NEW, ReportType::Completed, 2).expect("it tells");
    };
    let (mut stream, mut peer, _, first) = connect_while(&bench, tell);
    let old = Report { kind: ReportType::First, seq: 0, nonce: CAPABILITY.nonce, link: LINK };
    let notice = Report { kind: ReportType::Completed, seq: 1, link: NEW, ..old };
    assert_eq!(report(&first), Some(old));
    peer.seq = peer.seq.wrapping_add(1);
    for expected in [Some(notice), Some(notice), None] {
        stream.write_all(&[7; 100]).expect("data");
        assert_eq!(report(&peer.receive().expect("data")), expected);
        peer.acknowledge(&[]);
    }
}

/// A handoff of other peers' route is none of the connection's.
#[test]
#[ignore = "needs kernel"]
fn a_handoff_of_another_route_is_not_told() {
    let bench = Bench::new();
    let mut mobile =
        mobile::attach(&mobile::Options { cgroup: bench.cgroup.clone(), link: LINK }).expect("it attaches");
    mobile.tell_only(&[ELSEWHERE]).expect("a scope");
    let (_stream, _peer, _, first) = connect_while(&bench, || {
        mobile.notify_by(Way::Auto, NEW, ReportType::Completed, 2).expect("it tells");
    });
    assert_eq!(report(&first).map(|report| (report.kind, report.link)), Some((ReportType::First, NEW)));
}

/// Two routes move, one after the other, and the second round has begun when this connection writes. It still tells of its
/// own route, whose link before goes ahead.
#[test]
#[ignore = "needs kernel"]
fn each_route_has_a_link_before() {
    let bench = Bench::new();
    let mut mobile =
        mobile::attach(&mobile::Options { cgroup: bench.cgroup.clone(), link: LINK }).expect("it attaches");
    let (mut stream, mut peer, _, first) = connect(&bench);
    let old = report(&first).expect("a first report");
    let tell = |mobile: &mut mobile::Mobile, link, before| {
        let (kind, way, since) = (ReportType::Completed, Way::Auto, Duration::ZERO);
        let notice = Notice { link, kind, copies: 2, way, also: None, before: Some(before), since };
        mobile.begin(&notice).expect("it begins");
        mobile.notify_busy(0).expect("its own segments are to tell");
    };
    tell(&mut mobile, NEW, LINK);
    mobile.tell_only(&[ELSEWHERE]).expect("a scope");
    tell(&mut mobile, LINK, NEW);
    peer.seq = peer.seq.wrapping_add(1);
    let notice = Report { kind: ReportType::Completed, seq: 1, link: NEW, ..old };
    for expected in [old, notice, notice] {
        stream.write_all(&[7; 100]).expect("data");
        assert_eq!(report(&peer.receive().expect("data")), Some(expected));
        peer.acknowledge(&[]);
    }
}

/// The agent cannot know whether its copies arrive. So two segments of the connection's own carry the notice once more.
#[test]
#[ignore = "needs kernel"]
fn own_segments_repeat_the_agents_notice() {
    for way in [Way::Auto, Way::Crafted] {
        let bench = Bench::new();
        let mut mobile = mobile::attach(&mobile::Options { cgroup: bench.cgroup.clone(), link: LINK })
            .expect("it attaches");
        let (mut stream, mut peer, _, _) = connect(&bench);
        peer.seq = peer.seq.wrapping_add(1);
        let mut write = |peer: &mut Peer<'_>| {
            stream.write_all(&[7; 100]).expect("data");
            report(&peer.receive().expect("data"))
        };
        write(&mut peer);
        peer.acknowledge(&[]);
        assert_eq!(write(&mut peer), None, "the first report has an answer");
        let since = Duration::ZERO;
        let notice = Notice {
            link: NEW,
            kind: ReportType::Completed,
            copies: 2,
            way,
            also: None,
            before: None,
            since,
        };
        mobile.begin(&notice).expect("it begins");
        mobile.notify_busy(1).expect("it tells"); // for data are under way
        let told = Report { kind: ReportType::Completed, seq: 1, nonce: CAPABILITY.nonce, link: NEW };
        for _ in 0..2 {
            assert_eq!(report(&peer.receive().expect("an ACK")), Some(told), "{way:?}");
        }
        // Crafted ACKs are for kernels that cannot mark a connection.
        let again = if way == Way::Auto { Some(told) } else { None };
        for expected in [again, again, None] {
            peer.acknowledge(&[]);
            assert_eq!(write(&mut peer), expected, "{way:?}");
        }
    }
}

/// The kernel is the sender, and hears a notice before any first report, which then means nothing. The last part holds the
/// connection open.
fn notice_first(bench: &Bench) -> (Sender, Peer<'_>, impl Sized) {
    let sender = bench.attach("etcp-v1");
    let listener = bench.listen();
    let mut peer = Peer::v4(&bench.device, 4001);
    peer.open(true);
    peer.acknowledge(&[]);
    let accepted = listener.accept().expect("a connection");
    let notice = peer.report(ReportType::Completed, 1, NEW);
    peer.acknowledge(&notice);
    assert_eq!((count(&sender, "accepted"), count(&sender, "no-old-link")), (0, 1));
    (sender, peer, (listener, accepted))
}

/// A notice over a new link that is sooner overtakes the first report, and is taken when that has come.
#[test]
#[ignore = "needs kernel"]
fn the_sender_takes_a_notice_that_overtakes_it() {
    let bench = Bench::new();
    let (sender, mut peer, _open) = notice_first(&bench);
    let [first, notice] = [(ReportType::First, 0, LINK), (ReportType::Completed, 1, NEW)]
        .map(|(kind, seq, link)| peer.report(kind, seq, link));
    for _ in 0..2 {
        peer.acknowledge(&first);
        peer.acknowledge(&notice);
    }
    let heard = flow(&sender.status().expect("a status"), peer.local);
    assert_eq!(heard.link, Some(LinkStatus { rate_kbps: NEW.rate_kbps, delay_us: NEW.delay_us }));
    assert_eq!((count(&sender, "accepted"), count(&sender, "first-reports")), (1, 1));
}

/// Without one, the link of the notice is the one before the next.
#[test]
#[ignore = "needs kernel"]
fn a_notice_without_a_first_report_is_the_link_before_the_next() {
    let bench = Bench::new();
    let (sender, mut peer, _open) = notice_first(&bench);
    thread::sleep(Duration::from_millis(10));
    let next = peer.report(ReportType::Completed, 2, LINK);
    peer.acknowledge(&next);
    assert_eq!(count(&sender, "accepted"), 1);
}

/// The kernel is the sender; the first ACK is lost, and what comes next completes the handshake.
#[test]
#[ignore = "needs kernel"]
fn the_sender_takes_it_from_whatever_arrives_first() {
    let bench = Bench::new();
    let sender = bench.attach("etcp-v1");
    let listener = bench.listen();
    let mut peer = Peer::v4(&bench.device, 4001);
    peer.open(true);
    let first = peer.report(ReportType::First, 0, LINK);
    for _ in 0..3 {
        peer.acknowledge(&first);
    }
    let _accepted = listener.accept().expect("a connection");
    let heard = flow(&sender.status().expect("a status"), peer.local);
    assert_eq!(heard.link, Some(LinkStatus { rate_kbps: LINK.rate_kbps, delay_us: LINK.delay_us }));
    assert_eq!((count(&sender, "first-reports"), heard.refused), (1, 0), "copies are no fault");
    thread::sleep(Duration::from_millis(10));
    let notice = peer.report(ReportType::Completed, 1, NEW);
    peer.acknowledge(&notice);
    assert_eq!((count(&sender, "accepted"), count(&sender, "no-old-link")), (1, 0));
}
