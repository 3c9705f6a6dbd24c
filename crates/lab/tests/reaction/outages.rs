//! Outages on a real connection: what leaves at once after them, and what becomes of the timer.

use super::*;

/// After an outage no more leaves at once than the link itself holds. Slow start leads to what the flow has had before,
/// though the path holds more.
#[test]
#[ignore = "needs kernel"]
fn after_an_outage_what_lies_beyond_is_not_sent_at_once() {
    let bench = Bench::new();
    let sender = bench.attach("etcp-v1");
    let listener = bench.listen();
    let mut peer = Peer::v4(&bench.device, 4001);
    connect_from_afar(&mut peer);
    let _stream = bulk(&listener);
    grow_slowly(&sender, &mut peer, 40, FAR, Instant::now());
    let una = peer.ack;
    peer.outage(una, 2);
    let (timed_out, saved) = cwnd(&sender, &peer);
    assert!(timed_out == 1 && saved > 20, "{timed_out}, {saved}");
    let notice = peer.report(ReportType::Completed, 1, FAST);
    peer.send(ACK, peer.seq, una, &notice);
    bench::eventually("it is accepted", || count(&sender, "accepted") == 1);
    // bdp_new = 10.63 packets of the link; of the path 80
    assert_eq!(cwnd(&sender, &peer), (11, saved));
}

/// algorithms.md 3.2 with `resume-at-window`: after an outage of several timeouts, the ACK with the notice
/// brings a whole window at once.
#[test]
#[ignore = "needs kernel bbr"]
fn after_an_outage_a_window_leaves_at_once() {
    windows_after_an_outage();
}

#[test]
#[ignore = "a measurement: make measure"]
fn after_an_outage_a_window_leaves_within_five_milliseconds() {
    let first = windows_after_an_outage();
    println!("first packet after the notice: {first:?}");
    assert!(first.iter().all(|first| *first < Duration::from_millis(5)), "{first:?}");
}

/// How long after the notice its first packet left, around each congestion control.
fn windows_after_an_outage() -> Vec<Duration> {
    let bench = Bench::new();
    let mut first = Vec::new();
    for (around, port) in [(Around::Cubic, 4001), (Around::Bbr, 4002)] {
        let sender = attach(&Options { around, ..bench.options("etcp-v1") }).expect("it attaches");
        let (mut peer, una, _stream) = forty_under_way(&bench, &sender, port);
        let lost = peer.drain(Duration::from_millis(30)).len();
        assert!(lost >= 20, "{lost} under way");
        peer.outage(una, 3);
        let timed_out = cwnd(&sender, &peer);
        let notice = peer.report(ReportType::Completed, 1, FAST);
        let told = Instant::now();
        peer.send(ACK, peer.seq, una, &notice);
        let mut burst = vec![peer.receive().expect("something is sent")];
        first.push(burst[0].at - told);
        burst.extend(peer.drain(Duration::from_millis(15)));
        // The timer, whose next turn is more than a second away, would send one. bdp_new = 10.63 packets, rounded;
        // one of them had been resent by the timer and counts as under way
        assert!((9..=11).contains(&burst.len()), "{around:?}: {} resent at once", burst.len());
        assert!(burst.iter().all(|segment| segment.seq.wrapping_sub(una) < 1460 * lost as u32));
        let now = cwnd(&sender, &peer);
        assert_eq!(now.0, 11, "{around:?}: {timed_out:?} -> {now:?}");
    }
    first
}

/// An outage that ends before any timeout: 11 packets are granted, and more count as under way. Two new ones leave all
/// the same, and the next ACK brings the window.
#[test]
#[ignore = "needs kernel"]
fn before_any_timeout_two_packets_ask_what_was_lost() {
    let bench = Bench::new();
    patient_timers(Duration::from_secs(60));
    let sender = bench.attach("etcp-v1");
    let (mut peer, una, _stream) = forty_under_way(&bench, &sender, 4001);
    // Longer than an outage has to be, and than a loss probe waits.
    let sent = peer.drain(Duration::from_millis(200));
    let end = sent.iter().map(|segment| segment.seq.wrapping_sub(una) + segment.payload as u32).max();
    assert!(sent.len() > 20, "{} under way", sent.len());
    let notice = peer.report(ReportType::Completed, 1, FAST);
    peer.send(ACK, peer.seq, una, &notice);
    for _ in 0..2 {
        let segment = peer.receive().expect("a new packet");
        assert!(Some(segment.seq.wrapping_sub(una)) >= end, "{segment:?}");
    }
    assert!(cwnd(&sender, &peer).0 > 20);
    peer.send(ACK, peer.seq, una, &[]);
    bench::eventually("the window is back", || cwnd(&sender, &peer).0 <= 11);
    assert_eq!(count(&sender, "accepted"), 1);
}

/// The same without a notice: nothing happens until the timer's next turn.
#[test]
#[ignore = "needs kernel"]
fn a_copy_of_the_ack_without_a_notice_does_nothing() {
    let bench = Bench::new();
    let sender = bench.attach("etcp-v1");
    let (mut peer, una, _stream) = forty_under_way(&bench, &sender, 4001);
    peer.outage(una, 3);
    peer.send(ACK, peer.seq, una, &[]);
    let burst: Vec<_> = std::iter::from_fn(|| peer.receive_within(Duration::from_millis(15))).collect();
    assert!(burst.len() <= 1, "{} resent", burst.len());
}

/// A head that was lost before the outage, and whose resends the outage took, waits for the timer. Packets that had
/// arrived before it are acknowledged after it, a sample of three seconds: the RTO must not follow.
#[test]
#[ignore = "needs kernel bbr linux-6.15"]
fn the_length_of_an_outage_is_no_round_trip() {
    let bench = Bench::new();
    for (around, port) in [(Around::Cubic, 4001), (Around::Bbr, 4002)] {
        let sender = attach(&Options { around, ..bench.options("etcp-v1") }).expect("it attaches");
        let (mut peer, una, stream) = forty_under_way(&bench, &sender, port);
        let end = |segment: &Segment| segment.seq.wrapping_add(segment.payload as u32);
        // A probe of the tail may be among them.
        let under_way = peer.drain(Duration::from_millis(30));
        let arrived =
            under_way.iter().map(end).max_by_key(|end| end.wrapping_sub(una)).expect("some are under way");
        peer.outage(una, 4);
        let notice = peer.report(ReportType::Completed, 1, FAST);
        // All but the first is there.
        let told = |last: u32| {
            let block = [(una + 1460).to_be_bytes(), last.to_be_bytes()].concat();
            [&[1, 1, 5, 10][..], &block].concat()
        };
        peer.send(ACK, peer.seq, una, &[notice, told(arrived)].concat());
        // New arrivals are reported at once; the head is not acknowledged. The bound holds from the moment on at
        // which the kernel has taken its timeouts back, and until the timer of the head expires.
        let mut last = arrived;
        loop {
            let segment = peer.receive().expect("it goes on");
            if segment.seq != una {
                last = end(&segment);
            }
            peer.send(ACK, peer.seq, una, &told(last));
            let now = ss(&stream);
            if number(&now, "backoff:").is_none() {
                assert!(number(&now, "rto:") < Some(1500.0), "{around:?}: {now}");
                break;
            }
        }
        assert_eq!(sender.status().expect("a status").refused(), 0);
    }
}

/// A head of which nothing is known waits for the timer after a notice as before it. The time without a link does not
/// count against the connection. The kernel gives up by how long the largest RTO makes its retries last (tcp_retries2).
#[test]
#[ignore = "needs kernel bbr"]
fn a_notice_does_not_shorten_the_patience_of_the_kernel() {
    let bench = Bench::new();
    // Six retries last 25 s, and 5.4 s if no RTO is longer than a second.
    std::fs::write("/proc/sys/net/ipv4/tcp_retries2", "6").expect("a setting");
    for (around, port) in [(Around::Cubic, 4001), (Around::Bbr, 4002)] {
        let _sender = attach(&Options { around, ..bench.options("etcp-v1") }).expect("it attaches");
        let listener = bench.listen();
        let mut peer = Peer::v4(&bench.device, port);
        peer.connect(FAST);
        let (mut stream, _) = listener.accept().expect("a connection");
        stream.write_all(&[7; 100]).expect("a segment");
        let una = peer.ack;
        // Resent after 0.2, 0.6, 1.4 and 3 s; the next is due after 6.2 s.
        thread::sleep(Duration::from_millis(3500));
        peer.drain(Duration::from_millis(1));
        let notice = peer.report(ReportType::Completed, 1, FAST);
        peer.send(ACK, peer.seq, una, &notice);
        let resent = peer.receive().expect("the connection lives");
        assert_eq!((resent.seq, resent.payload), (una, 100), "{around:?}");
    }
}

/// The bound of the RTO is the sender's: it goes with it.
#[test]
#[ignore = "needs kernel bbr linux-6.15"]
fn who_is_let_go_has_his_own_largest_rto_again() {
    let bench = Bench::new();
    for (around, port) in [(Around::Cubic, 4001), (Around::Bbr, 4002)] {
        let sender = attach(&Options { around, ..bench.options("etcp-v1") }).expect("it attaches");
        let (mut peer, una, stream) = forty_under_way(&bench, &sender, port);
        let own = getsockopt(&stream, RtoMaxMs).expect("an option");
        let arrived = una + 1460 * peer.drain(Duration::from_millis(30)).len() as u32;
        peer.outage(una, 4);
        let notice = peer.report(ReportType::Completed, 1, FAST);
        peer.send(ACK, peer.seq, arrived, &notice);
        peer.receive().expect("it goes on");
        assert!(getsockopt(&stream, RtoMaxMs).expect("an option") < own, "{around:?}: no bound");
        drop(sender);
        assert_eq!(getsockopt(&stream, RtoMaxMs).expect("an option"), own, "{around:?}");
    }
}

/// A peer on the fast link to which a window of more than 40 packets has left. With it come the first octet of these,
/// and the server's end.
fn forty_under_way<'a>(bench: &'a Bench, sender: &Sender, port: u16) -> (Peer<'a>, u32, TcpStream) {
    let listener = bench.listen();
    let mut peer = Peer::v4(&bench.device, port);
    peer.connect(FAST);
    let stream = bulk(&listener);
    grow(sender, &mut peer, 40);
    peer.acknowledge(&[]);
    let una = peer.ack;
    (peer, una, stream)
}
