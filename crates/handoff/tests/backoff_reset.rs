//! `backoff-reset` (algorithms.md, 11.1) on the kernel's sender, by hand.

use crate::line::{Line, MS, link};

/// A round trip of 50 ms; ten packets are out when the network goes. The RTO is 250 ms, and the probe and two or three
/// timeouts come in 3 s. The timer is then at 2 s or more.
fn silent(settings: &[(&str, &str)]) -> Line {
    let mut line = Line::new("linux-6.12", "backoff-reset", settings, 50 * MS);
    line.drain();
    line.wait(line.now + 3_000 * MS);
    line
}

fn rto(line: &Line) -> u64 {
    line.sender.timing().1 / MS
}

#[test]
fn the_head_leaves_at_once_and_the_timer_is_short_again() {
    let mut line = silent(&[]);
    assert!(rto(&line) >= 1_000, "backed off: {} ms", rto(&line));
    let before = line.sender.view();
    assert_eq!(line.notice(link(50_000, 10), link(50_000, 10), true), [(1, true)], "the head, and it alone");
    let after = line.sender.view();
    assert_eq!((after.cwnd, after.ssthresh, after.srtt), (before.cwnd, before.ssthresh, before.srtt));
    // SRTT 50 ms and the floor of 200 ms under its variance.
    assert_eq!(rto(&line), 252, "250 ms in jiffies of 4 ms");
    let next = line.sender.deadline().expect("the timer runs");
    assert!(next >= line.now + 252 * MS && next <= line.now + 288 * MS, "and one granule of 32 ms");
    // A copy that is under way counts as lost, so that nothing is counted twice.
    let (counted, recounted) = line.sender.pipes().expect("it counts");
    assert_eq!(counted, recounted);
}

#[test]
fn the_answer_waits_for_the_mobiles_system() {
    let mut line = silent(&[("reset-delay", "100ms")]);
    assert_eq!(line.notice(link(50_000, 10), link(50_000, 10), true), []);
    let due = line.now + 100 * MS;
    let left = line.wait(due);
    assert_eq!(left.last(), Some(&(due, 1)), "{left:?}");
}

/// Without an outage the head is under way: QUIC's ping costs a small packet, here it is one sent twice.
#[test]
fn a_flow_in_good_order_sends_one_packet_twice() {
    let mut line = Line::new("linux-6.12", "backoff-reset", &[], 50 * MS);
    line.drain();
    assert_eq!(line.notice(link(50_000, 10), link(50_000, 10), false), [(1, true)]);
    assert_eq!(line.sender.view().cwnd / 256, 10);
    // The ACK of the first copies: nothing is lost, nothing is cut.
    line.ack(40 * MS, 11, &[], 40 * MS);
    let view = line.sender.view();
    assert!(view.cwnd / 256 >= 10 && !view.in_fast_recovery, "{view:?}");
}
