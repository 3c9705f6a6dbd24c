//! A kernel's stack whose sender does what the papers ask for (`enact=paper`): the timer, by hand.

use crate::line::{Line, MS, link};
use segue_tcp::Nanos;
use segue_tcp::linux::wheel::{Clock, fires};
use segue_tcp::profile::LINUX_6_12;

/// A jiffy of the stack, 250 a second.
const JIFFY: Nanos = 4 * MS;

/// The ten packets of the initial window left at 100 ms, a round trip after the SYN. At 150 ms the path becomes slow.
/// algorithms.md 2.1, case 1. From one link to the other a round trip is 9 + 1.875 + 300 + 1.6 ms, more than the RTO of
/// 100 + 200 ms. So the RTO is to be at least 312.475 + 10 * 1.875 + 200 = 531.225 ms, rounded up 133 jiffies.
fn hears_of_a_slow_path(settings: &[(&str, &str)]) -> Line {
    let settings = [&[("enact", "paper")], settings].concat();
    let mut line = Line::new("linux-6.12", "etcp:a1", &settings, 100 * MS);
    assert_eq!(line.drain().len(), 11, "the handshake's ACK, too");
    assert_eq!(line.sender.timing(), (Some(100 * MS), 300 * MS, 200 * MS));
    line.now = 150 * MS;
    assert_eq!(line.notice(link(6400, 9), link(200, 300), false), []);
    assert_eq!(line.sender.timing(), (Some(100 * MS), 133 * JIFFY, 133 * JIFFY));
    line
}

/// When a timer fires that is set at `now` for so many jiffies later.
fn fires_at(now: Nanos, jiffies: u64) -> Nanos {
    let settings = LINUX_6_12.kernel.expect("a kernel");
    let clock = Clock::new(settings.hz, settings.phase);
    let now = clock.jiffies(now);
    clock.at(fires(now + jiffies, now))
}

/// algorithms.md 9.4: the timer expires an RTO after the notice.
#[test]
fn a1_restarts_the_timer_with_the_raised_rto() {
    let line = hears_of_a_slow_path(&[]);
    assert_eq!(line.sender.deadline(), Some(fires_at(150 * MS, 133)));
}

/// algorithms.md 9.37: it expires 532 ms after the head left at 100 ms. That is 482 ms after the notice, rounded up 121
/// jiffies.
#[test]
fn a1_extends_the_timer_from_its_last_start() {
    let line = hears_of_a_slow_path(&[("a1-from-last-start", "on")]);
    assert_eq!(line.sender.deadline(), Some(fires_at(150 * MS, 121)));
}

/// algorithms.md 2.1: the floor holds while ACKs of the old path arrive. Once all that was sent before the notice is
/// acknowledged, the timer is that of a new connection, 3 s. The first sample of the new path ends that.
#[test]
fn a1_holds_the_floor_until_the_new_path_is_measured() {
    let mut line = hears_of_a_slow_path(&[]);
    line.ack(50 * MS, 2, &[], 100 * MS);
    assert_eq!(line.sender.timing().1, 133 * JIFFY);
    let left = line.ack(0, 11, &[], 100 * MS);
    assert!(left.iter().any(|&(seq, _)| seq == 13), "{left:?}");
    assert_eq!(line.sender.timing(), (None, 3_000 * MS, 3_000 * MS));
    // The notice came before packet 11 left: R = 500 ms, and RTO = R + 4 * R/2.
    line.ack(500 * MS, 14, &[], 500 * MS);
    assert_eq!(line.sender.timing(), (Some(500 * MS), 1_500 * MS, 200 * MS));
}
