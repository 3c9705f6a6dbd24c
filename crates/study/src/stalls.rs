//! Stalls of a flow in a trace: the times in which nothing new comes in order for more than 200 ms
//! (docs/reference/traffic.md). As a user of the transfer sees them: at the receiver.

use segue_tcp::receiver::Arrival;
use segue_world::Nanos;
use segue_world::trace::{Trace, What};
use segue_world::traffic::STALL;
use std::collections::BTreeSet;

/// Waits of `flow` for data in order that were longer than [`STALL`], from the first event of the trace to its end.
pub fn stalls(trace: &Trace, flow: u16) -> Vec<(Nanos, Nanos)> {
    let mut progress = Progress::default();
    let mut waits = Waits::default();
    for event in &trace.events {
        let moved = match &event.what {
            What::Received { packet, arrival: Some(Arrival::New) }
                if packet.flow == flow && !packet.is_probe() =>
            {
                progress.arrived(packet.segment.seq)
            }
            // Tells what had come before the trace begins.
            What::Sent(packet) if packet.flow == flow && !packet.data => {
                progress.acknowledged(packet.segment.ack)
            }
            _ => false,
        };
        if moved {
            waits.until(event.at);
        }
    }
    waits.end(trace.end)
}

/// The receiver's share of the stream so far.
#[derive(Default)]
struct Progress {
    /// All below has come.
    next: u32,
    /// Packets beyond it that have come.
    beyond: BTreeSet<u32>,
}

impl Progress {
    /// Whether a new packet was the next in order.
    fn arrived(&mut self, seq: u32) -> bool {
        let before = self.next;
        self.beyond.insert(seq);
        self.fill();
        self.next > before
    }

    /// The receiver says so itself.
    fn acknowledged(&mut self, ack: u32) -> bool {
        let before = self.next;
        self.next = before.max(ack);
        self.beyond = self.beyond.split_off(&self.next);
        self.fill();
        self.next > before
    }

    fn fill(&mut self) {
        while self.beyond.remove(&self.next) {
            self.next += 1;
        }
    }
}

/// Waits between moments of progress.
#[derive(Default)]
struct Waits {
    last: Option<Nanos>,
    stalls: Vec<(Nanos, Nanos)>,
}

impl Waits {
    fn until(&mut self, now: Nanos) {
        if let Some(last) = self.last.replace(now).filter(|last| now - last > STALL) {
            self.stalls.push((last, now));
        }
    }

    fn end(mut self, now: Nanos) -> Vec<(Nanos, Nanos)> {
        if self.last.is_some() {
            self.until(now);
        }
        self.stalls
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;

    /// By hand: 200 ms are no stall, 201 are; the wait that the end ends counts; before any progress nobody waits.
    #[test]
    fn waits_of_more_than_200_ms_are_stalls() {
        let mut waits = Waits::default();
        for at in [100, 300, 501, 502] {
            waits.until(at * MS);
        }
        assert_eq!(waits.end(900 * MS), [(300 * MS, 501 * MS), (502 * MS, 900 * MS)]);
        assert_eq!(Waits::default().end(900 * MS), []);
    }

    /// Packets 5 and 6 have come before the trace begins, 8 as well; the first ACK tells of 5 and 6 alone. 9 waits for 7
    /// and 8, and the ACK after 7 tells that 8 is there.
    #[test]
    fn progress_is_what_comes_in_order() {
        let mut progress = Progress::default();
        assert!(progress.acknowledged(7));
        assert!(!progress.acknowledged(7));
        assert!(!progress.arrived(9));
        assert!(progress.arrived(7));
        assert!(progress.acknowledged(9), "8 had come, and 9 with it");
        assert_eq!((progress.next, progress.beyond.len()), (10, 0));
        assert!(progress.arrived(10));
    }
}
