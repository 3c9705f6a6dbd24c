//! The claim of `near` on a real connection.

use super::bench::peer::{ACK, Peer};
use super::bench::{self, Bench, count, patient_timers};
use super::{FAST, OLD, bulk, cwnd, grow, pacing, ss};
use segue_kernel::sender::{Around, Options, attach};
use segue_policy::Link;
use segue_policy::wire::ReportType;
use std::thread;
use std::time::Duration;

/// Four times OLD's rate, at its delay: W is (2 * 75 + 1.94) / 1.875 + 1 = 82 packets.
const WIDE: Link = Link { rate_kbps: 6400, ..OLD };

/// The rate at which packets of 1460 octets leave that fill 6400 kbit/s with their headers.
const PACE: f64 = 6400e3 * 1460.0 / (1460.0 + 52.0);

/// docs/reference/near.md, section 8: without an outage, too, the window is raised, and packets leave one by one.
#[test]
#[ignore = "needs kernel bbr"]
fn near_claims_its_part_of_a_faster_link() {
    let bench = Bench::new();
    patient_timers(Duration::from_secs(60));
    for (around, port) in [(Around::Cubic, 4001), (Around::Bbr, 4002)] {
        let sender = attach(&Options { around, ..bench.options("near") }).expect("it attaches");
        let listener = bench.listen();
        let mut peer = Peer::v4(&bench.device, port);
        peer.connect(OLD);
        let stream = bulk(&listener);
        grow(&sender, &mut peer, 20);
        let sent = peer.drain(Duration::from_millis(20)).len() as u32;
        let una = peer.ack - 1460 * sent;
        let before = cwnd(&sender, &peer);
        // On a slow machine some are still on their way.
        let sent = sent.max(before.0);
        let notice = peer.report(ReportType::Completed, 1, WIDE);
        peer.send(ACK, peer.seq, una, &notice);
        bench::eventually("it is accepted", || count(&sender, "accepted") == 1);
        // 32 at first (8.11), and two.
        let most = 34..=34 + sent;
        // If nothing is heard for long, the claim ends (8.5): pace and window are seen together.
        let raised = || most.contains(&cwnd(&sender, &peer).0);
        let paced = || (pacing(&stream) / PACE - 1.0).abs() < 0.01;
        bench::eventually("it is raised and paced", || raised() && paced() && raised());
        // Nothing is acknowledged: what is under way is what the claim lets out. Around BBR the socket's buffer, which
        // no ACK enlarges, may hold less.
        while around == Around::Cubic && peer.ack.wrapping_sub(una) / 1460 < 34 {
            let expected = peer.ack;
            let segment = peer.receive().unwrap_or_else(|| panic!("{around:?}: {:?}", cwnd(&sender, &peer)));
            assert_eq!(segment.seq, expected, "{around:?} sends again: {}", ss(&stream));
        }
        peer.drain(Duration::from_millis(50));
        let out = peer.ack.wrapping_sub(una) / 1460;
        assert!(out <= 34 + sent, "{around:?}: {out} of {before:?} with {sent}");
        assert_eq!(sender.status().expect("a status").refused(), 0);
    }
}

/// After an outage the window leaves packet by packet.
#[test]
#[ignore = "needs kernel"]
fn near_resumes_at_the_pace_of_the_link() {
    let bench = Bench::new();
    let sender = bench.attach("near");
    let listener = bench.listen();
    let mut peer = Peer::v4(&bench.device, 4001);
    peer.connect(FAST);
    let stream = bulk(&listener);
    grow(&sender, &mut peer, 40);
    peer.acknowledge(&[]);
    let (una, lost) = (peer.ack, peer.drain(Duration::from_millis(30)).len());
    assert!(lost >= 20, "{lost} under way");
    peer.outage(una, 3);
    let notice = peer.report(ReportType::Completed, 1, FAST);
    peer.send(ACK, peer.seq, una, &notice);
    // (2 * 9 + 1.94) / 1.875 + 1 = 11 packets and two; the head has been resent by the timer.
    let mut resent = std::collections::BTreeSet::from([una]);
    while resent.len() < 13 {
        resent.insert(peer.receive().expect("it goes on").seq);
    }
    let more: Vec<_> = peer.drain(Duration::from_millis(50)).iter().map(|segment| segment.seq).collect();
    assert!(more.iter().all(|seq| resent.contains(seq)), "{more:?} beside {resent:?}");
    let pace = pacing(&stream);
    assert!((pace / PACE - 1.0).abs() < 0.01, "{pace} bit/s");
}

/// A loss of what was sent since the notice shows what the mobile's word is worth. Arrivals decide the window that is
/// left, and the next notice is heard and changes nothing.
#[test]
#[ignore = "needs kernel"]
fn a_claim_that_a_loss_refutes_is_not_believed_again() {
    let bench = Bench::new();
    patient_timers(Duration::from_secs(60));
    let sender = bench.attach("near");
    let listener = bench.listen();
    let mut peer = Peer::v4(&bench.device, 4001);
    peer.connect(OLD);
    let _stream = bulk(&listener);
    grow(&sender, &mut peer, 20);
    let notice = peer.report(ReportType::Completed, 1, WIDE);
    peer.acknowledge(&notice);
    bench::eventually("it is accepted", || count(&sender, "accepted") == 1);
    peer.drain(Duration::from_millis(50));
    peer.acknowledge(&[]);
    let una = peer.ack;
    let mut last = una;
    // The first is lost, the others arrive. If it comes again early, the recovery has begun: no more need arrive.
    while last.wrapping_sub(una) < 12 * 1460 {
        let segment = peer.receive().expect("it goes on");
        if segment.seq == una && last != una {
            break;
        }
        last = segment.seq.wrapping_add(segment.payload as u32);
        let block = [(una + 1460).to_be_bytes(), last.to_be_bytes()].concat();
        if last.wrapping_sub(una) > 1460 {
            peer.send(ACK, peer.seq, una, &[&[1, 1, 5, 10][..], &block].concat());
        }
    }
    // To less than half of what it was: cubic's own cut would leave 57 of 82.
    bench::eventually("it is cut", || cwnd(&sender, &peer).1 < 41);
    peer.drain(Duration::from_millis(50));
    peer.acknowledge(&[]);
    let refuted = cwnd(&sender, &peer);
    thread::sleep(Duration::from_millis(1100));
    let lie = peer.report(ReportType::Completed, 2, Link { rate_kbps: 10_000_000, ..OLD });
    peer.drain(Duration::from_millis(50));
    let before = cwnd(&sender, &peer);
    peer.acknowledge(&lie);
    bench::eventually("it is accepted, too", || count(&sender, "accepted") == 2);
    let now = cwnd(&sender, &peer);
    assert_eq!(now.1, before.1, "{before:?} -> {now:?}, refuted at {refuted:?}");
}

/// docs/reference/near.md, 8.13: an announcement bounds the pace for a second, and nothing else. The claim begins with
/// the notice.
#[test]
#[ignore = "needs kernel"]
fn near_is_paced_before_a_handoff_that_is_expected() {
    let bench = Bench::new();
    patient_timers(Duration::from_secs(60));
    let sender = bench.attach("near");
    let listener = bench.listen();
    let mut peer = Peer::v4(&bench.device, 4001);
    peer.connect(WIDE);
    let stream = bulk(&listener);
    grow(&sender, &mut peer, 20);
    peer.acknowledge(&[]);
    let before = cwnd(&sender, &peer);
    let mut told = 0;
    // A busy machine may look later than in the second for which one announcement lasts.
    bench::eventually("packets leave in its slots", || {
        told += 1;
        let expected = peer.report(ReportType::Expected, told, OLD);
        peer.acknowledge(&expected);
        peer.receive();
        (4.0 * pacing(&stream) / PACE - 1.0).abs() < 0.01
    });
    bench::eventually("all are counted", || count(&sender, "foreseen") == u64::from(told));
    let now = cwnd(&sender, &peer);
    assert!(now.0 >= before.0 && now.1 == before.1, "{before:?} -> {now:?}");
    // Packets that wait at the peer would make the round trip longer, and the pace slower.
    let mut later = || {
        peer.drain(Duration::from_millis(5));
        peer.acknowledge(&[]);
        pacing(&stream)
    };
    bench::eventually("nothing has come of it", || later() > PACE);
    assert_eq!((count(&sender, "accepted"), sender.status().expect("a status").refused()), (0, 0));
    let again = peer.report(ReportType::Expected, told + 1, OLD);
    peer.acknowledge(&again);
    bench::eventually("it is expected again", || count(&sender, "foreseen") == u64::from(told) + 1);
    let notice = peer.report(ReportType::Completed, told + 2, OLD);
    peer.acknowledge(&notice);
    bench::eventually("it comes", || count(&sender, "accepted") == 1);
    // (2 * 75 + 7.5 + 0.26) / 7.5 + 1 = 22 packets.
    bench::eventually("the window is that of the link", || cwnd(&sender, &peer).1 == 22);
}
