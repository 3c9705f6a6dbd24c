//! `quic-reset` (algorithms.md, 11.2) on the kernel's sender, by hand: vectors 50 and 51.

use crate::line::{Line, MS, link};

const NO_WAIT: [(&str, &str); 1] = [("validation", "off")];

/// Vector 50: 333 + 4 x 166.5 + 25 ms. With what it knows TCP would have waited for 250 ms.
#[test]
fn the_timer_is_that_of_an_unknown_path() {
    let mut line = Line::new("linux-6.12/reno", "quic-reset", &NO_WAIT, 50 * MS);
    line.drain();
    assert_eq!(line.sender.timing().1, 252 * MS);
    line.notice(link(50_000, 10), link(50_000, 10), true);
    let (srtt, rto, _) = line.sender.timing();
    assert_eq!((srtt, rto), (None, 1_024 * MS));
    // A jiffy more, and at most a granule of 32 ms.
    let wait = line.sender.deadline().expect("the timer runs") - line.now;
    assert!((1_024 * MS..=1_060 * MS).contains(&wait), "{wait}");
    let mut short =
        Line::new("linux-6.12/reno", "quic-reset", &[("initial-rtt", "100ms"), NO_WAIT[0]], 50 * MS);
    short.drain();
    short.notice(link(50_000, 10), link(50_000, 10), true);
    assert_eq!(short.sender.timing().1, 328 * MS, "3 x 100 + 25, in jiffies of 4 ms");
}

/// Vector 51: rounds of slow start from ten packets on until the BDP is reached.
#[test]
fn slow_start_begins_with_the_initial_window() {
    for (bdp, rtt, rounds) in [(83, 50, 4), (250, 30, 5), (2_500, 600, 8), (33, 40, 2)] {
        let mut line = Line::new("linux-6.12/reno", "quic-reset", &NO_WAIT, rtt * MS);
        line.drain();
        // A window of its own before.
        line.rounds_until(200, rtt * MS);
        line.ack(rtt * MS, line.sender.snd_max(), &[], rtt * MS);
        line.notice(link(50_000, 10), link(50_000, 10), false);
        let view = line.sender.view();
        assert_eq!((view.cwnd / 256, view.ssthresh / 256), (10, u32::MAX / 256));
        // The old path's packets bring no growth.
        let old = line.sender.snd_max() - 10;
        line.ack(rtt * MS, old, &[], 2 * rtt * MS);
        assert_eq!(line.sender.view().cwnd / 256, 10, "nothing of the new path has arrived");
        line.ack(0, line.sender.snd_max() - 10, &[], rtt * MS);
        assert_eq!(line.rounds_until(bdp, rtt * MS), rounds, "{bdp}");
    }
}

/// Packets of the old path do not fill the window of the new one, and their loss cuts nothing.
#[test]
fn the_old_paths_packets_are_on_another_account() {
    let mut line = Line::new("linux-6.12/reno", "quic-reset", &NO_WAIT, 50 * MS);
    line.drain();
    line.rounds_until(80, 50 * MS);
    let (una, mark) = (line.una, line.sender.snd_max());
    assert!(mark - una >= 80, "a window is out");
    let left = line.notice(link(50_000, 10), link(50_000, 10), true);
    assert_eq!(left, (mark..mark + 10).map(|seq| (seq, false)).collect::<Vec<_>>(), "ten new ones");
    assert_eq!(line.sender.in_flight(), 10);
    // All ten arrive; of the old ones none. They are lost, and are sent again in slow start's window.
    let left = line.ack(50 * MS, una, &[(mark, mark + 10)], 50 * MS);
    let view = line.sender.view();
    assert_eq!((view.cwnd / 256, view.ssthresh >= 0x7fff_ff00), (20, true), "no cut, and growth by ten");
    assert_eq!(left.first(), Some(&(una, true)));
    assert_eq!(line.sender.in_flight(), 20, "{left:?}");
    let (counted, recounted) = line.sender.pipes().expect("it counts");
    assert_eq!(counted, recounted);
    // One of the new path is lost: a cut like any other.
    let lost = left[0].0;
    let rest: Vec<u32> = left[1..].iter().map(|packet| packet.0).collect();
    line.ack(50 * MS, una, &[(rest[0], rest[rest.len() - 1] + 1), (mark, mark + 10)], 50 * MS);
    let view = line.sender.view();
    assert_eq!(lost, una);
    assert!(view.in_fast_recovery && view.ssthresh / 256 <= 20, "{view:?}");
}

/// As quic-go does: everything outstanding is declared lost and leaves again.
#[test]
fn declared_losses_leave_first() {
    let settings = [("outstanding", "lost"), NO_WAIT[0]];
    let mut line = Line::new("linux-6.12/reno", "quic-reset", &settings, 50 * MS);
    line.drain();
    line.rounds_until(80, 50 * MS);
    let una = line.una;
    let left = line.notice(link(50_000, 10), link(50_000, 10), true);
    assert_eq!(left, (una..una + 10).map(|seq| (seq, true)).collect::<Vec<_>>());
}

/// One round trip of the new path: twice 30 ms and a packet at 10 Mbit/s, 1.2 ms. The old link's 22 ms leave nothing
/// beyond it but what the first round trip shows: 50 ms less 20 ms and 0.24 ms.
#[test]
fn the_path_is_validated_first() {
    let mut line = Line::new("linux-6.12/reno", "quic-reset", &[], 50 * MS);
    line.drain();
    let start = line.now;
    assert_eq!(line.notice(link(50_000, 10), link(10_000, 30), true), []);
    // ACKs that come meanwhile let nothing out.
    assert_eq!(line.ack(10 * MS, 11, &[], 60 * MS), []);
    let left = line.wait(start + 200 * MS);
    let at = left.first().expect("it sends").0 - start;
    assert!((90 * MS..=92 * MS).contains(&at), "{at}");
    assert_eq!(left.len(), 10);
}
