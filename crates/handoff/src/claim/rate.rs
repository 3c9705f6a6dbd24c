//! Round trips of the new link: its rate (near.md, section 6), and the queues before it (7.5).

use super::{Claim, NEVER};
use segue_policy::Near;
use segue_tcp::Nanos;

/// Round trips from a queue to the next rate probe (6.4).
pub(super) const PROBE_PAUSE: u32 = 8;

/// A copy that has come back: its number, when it left, and its round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sample {
    pub number: u32,
    pub sent: Nanos,
    pub rtt: Nanos,
}

/// The rate probe: a packet train that shows whether the link is faster than reported (section 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RateProbe {
    /// So many of its packets are still to leave. `last` is the number of the last one, once it has left.
    Sending { left: u32, last: u32, first: Option<Sample> },
    /// The next one follows after so many round trips.
    Paused(u32),
}

/// Packets that wait for the new link (7.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Queue {
    /// No more than two.
    None,
    /// Those of this host explain it. Copies after this one leave when it has drained.
    Own { until: u32 },
    /// Others wait there, too.
    Shared,
}

/// It begins with the next packet.
pub(super) const START: RateProbe = RateProbe::Sending { left: Near::PROBE_PACKETS, last: 0, first: None };

impl Claim {
    /// A copy has come back, before which so many packets were in flight: is there a queue, and is the link faster than
    /// reported? (section 6)
    pub(super) fn watch_queue(&mut self, sample: Sample, in_flight: u32) {
        let Sample { number, rtt, .. } = sample;
        let longer = self.least_rtt == NEVER
            && rtt > self.near.rtt_ns + self.near.slot_ns // which the probe may have waited
            && !self.near.competing_traffic(rtt);
        self.least_rtt = self.least_rtt.min(rtt);
        if rtt < self.reported.rtt_ns || longer {
            self.reported = self.reported.with_rtt(rtt);
            self.run_at(self.steps);
        }
        let queued = self.near.queued(rtt);
        // The packets of a rate probe wait for each other.
        if number <= self.round || matches!(self.probe, RateProbe::Paused(_)) {
            self.judge_queue(queued, sample, in_flight);
        }
        if number <= self.round {
            return;
        }
        match self.probe {
            // None of its packets was measured.
            RateProbe::Sending { left: 0, last, first: None } if number >= last => {
                self.pause_probe(0, self.steps)
            }
            RateProbe::Sending { left, last, first: None } => {
                self.probe = RateProbe::Sending { left, last, first: Some(sample) };
            }
            RateProbe::Sending { left: 0, last, first: Some(first) } if number + 1 >= last => {
                let (packets, apart) = (number - first.number, sample.sent - first.sent);
                if self.near.probe_passes(packets, apart, first.rtt, rtt) && !queued {
                    self.run_at(Near::steps_after_probe(self.steps));
                    (self.probe, self.round, self.raised) = (START, self.copies, true);
                } else {
                    self.pause_probe(PROBE_PAUSE, self.steps);
                }
            }
            RateProbe::Sending { .. } => {}
            RateProbe::Paused(_) if queued => {
                self.pause_probe(PROBE_PAUSE, Near::steps_after_queue(self.steps))
            }
            RateProbe::Paused(0) => (self.probe, self.round) = (START, self.copies),
            RateProbe::Paused(rounds) => self.pause_probe(rounds - 1, self.steps),
        }
    }

    /// Whose queue is it? (7.5)
    fn judge_queue(&mut self, queued: bool, sample: Sample, in_flight: u32) {
        self.queue = match self.queue {
            _ if self.near.queue_of_others(sample.rtt, in_flight) => Queue::Shared,
            _ if !queued => Queue::None,
            // It had drained when that copy left: it is not theirs alone.
            Queue::Own { until } if sample.number > until => Queue::Shared,
            Queue::None => Queue::Own { until: u32::MAX },
            same => same,
        };
        if let Queue::Own { until: until @ u32::MAX } = &mut self.queue
            && u64::from(in_flight) <= self.near.drain_limit(u64::MAX, self.own)
        {
            *until = self.copies;
        }
    }

    /// No rate probe for so many round trips, and these steps.
    pub(super) fn pause_probe(&mut self, rounds: u32, steps: u32) {
        (self.probe, self.round) = (RateProbe::Paused(rounds), self.copies);
        self.slot += std::mem::take(&mut self.probe_saved);
        self.run_at(steps);
    }

    /// The clock and the window with so many steps.
    pub(super) fn run_at(&mut self, steps: u32) {
        let (before, full) = (self.near.window, self.window >= self.near.window);
        self.steps = steps;
        self.near = self.reported.with_steps(steps);
        let now = self.near.window;
        if (full && now > before) || (now < before && self.window > now) {
            (self.window, self.threshold) = (now, now);
        }
    }
}
