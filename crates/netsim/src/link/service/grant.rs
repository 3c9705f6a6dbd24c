//! Uplink grants of LTE and 5G (3GPP TS 36.321 and 38.321, 5.4.4 and 5.4.5): a device that has nothing to send has no
//! grant. It asks at the next of its scheduling requests, and sends when the grant has come. While more waits, its
//! buffer reports keep the grants coming.

use super::Rate;
use crate::Nanos;
use crate::random::stream;
use rand_core::RngCore;

/// A line that is granted.
#[derive(Clone, Debug)]
pub struct Granted {
    line: Rate,
    /// From one scheduling request to the next.
    cycle: Nanos,
    /// The first of them.
    phase: Nanos,
    /// From a request to the first transmission.
    answer: Nanos,
    /// When the last transmission ends.
    last: Option<Nanos>,
}

impl Granted {
    /// A line of `rate` (bit/s) with a request each `cycle` and a grant `answer` later. When the requests are, is drawn.
    pub fn new(rate: u64, cycle: Nanos, answer: Nanos, seed: u64, number: u64) -> Self {
        let phase = stream(seed, number).next_u64() % cycle.max(1);
        Self { line: Rate::new(rate), cycle: cycle.max(1), phase, answer, last: None }
    }

    /// The rate, bit/s.
    pub fn rate(&self) -> u64 {
        self.line.bits_per_s()
    }

    /// When a packet has left that reaches the server at `start`.
    pub(super) fn departure(&mut self, start: Nanos, bytes: u32) -> Nanos {
        let has_grant = self.last.is_some_and(|last| start <= last);
        let begins = if has_grant { start } else { self.request(start) + self.answer };
        let departure = begins + self.line.time(bytes);
        self.last = Some(departure);
        departure
    }

    /// The first scheduling request from `now` on.
    fn request(&self, now: Nanos) -> Nanos {
        self.phase + now.saturating_sub(self.phase).div_ceil(self.cycle) * self.cycle
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;

    /// A request each 10 ms and 4 ms to the grant. The wait is between 4 and 14 ms and falls by as much as a packet
    /// comes later. So its mean over a cycle is 9 ms.
    #[test]
    fn a_packet_alone_waits_nine_milliseconds_in_the_mean() {
        let (mut sum, mut least, mut most) = (0, Nanos::MAX, 0);
        for seed in 0..5 {
            for step in 0..10_000 {
                let mut line = Granted::new(12_000_000, 10 * MS, 4 * MS, seed, 0);
                let start = 30 * MS + step * 1_000;
                let wait = line.departure(start, 1500) - MS - start;
                (sum, least, most) = (sum + wait, least.min(wait), most.max(wait));
            }
        }
        assert!((4 * MS..4 * MS + 1_000).contains(&least) && (14 * MS - 1_000..14 * MS).contains(&most));
        assert!((sum / 50_000).abs_diff(9 * MS) < 1_000, "{}", sum / 50_000);
    }

    /// A packet that comes while something is sent needs no request; a later one does.
    #[test]
    fn a_queue_keeps_its_grant() {
        let mut line = Granted::new(12_000_000, 10 * MS, 4 * MS, 1, 0);
        let first = line.departure(0, 1500);
        assert!((5 * MS..15 * MS).contains(&first));
        assert_eq!(line.departure(first, 1500), first + MS);
        let third = line.departure(first + MS + 1, 1500);
        assert_eq!((third - first) % (10 * MS), 0, "the request is one of the same row");
        assert!(third >= first + 5 * MS);
    }

    #[test]
    fn requests_of_other_devices_are_at_other_times() {
        let first = |seed, number| Granted::new(12_000_000, 10 * MS, 4 * MS, seed, number).departure(0, 1500);
        assert_eq!(first(1, 2), first(1, 2));
        assert!(first(1, 2) != first(2, 2) && first(1, 2) != first(1, 3));
    }
}
