//! The course of a drive as the mobile's user sees it: what comes from moment to moment, and the waits between.

use crate::traffic::STALL;
use segue_netsim::Nanos;

/// Arrivals at the mobile over time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Course {
    /// Length of a bin.
    pub bin: Nanos,
    /// Data packets new to the mobile, of all its flows, by bin. The last bin ends with the drive.
    pub packets: Vec<u32>,
    /// The longest wait of a data packet in the queue of the access link, by bin of the time at which it was sent on.
    /// `None`: none was.
    pub waits: Vec<Option<Nanos>>,
    /// Payload of a packet, bytes.
    pub payload: u32,
    /// Waits for the next new packet that were longer than [`STALL`], each from the last before it.
    pub stalls: Vec<(Nanos, Nanos)>,
    /// When the last new packet came.
    pub last: Option<Nanos>,
}

impl Course {
    /// A drive of this length in at most `bins` bins; `payload` bytes are in each packet.
    pub(super) fn new(length: Nanos, bins: u32, payload: u32) -> Self {
        let bin = length.div_ceil(Nanos::from(bins.max(1))).max(1);
        let count = usize::try_from(length.div_ceil(bin)).unwrap_or(0);
        let (packets, waits) = (vec![0; count], vec![None; count]);
        Self { bin, packets, waits, payload, stalls: Vec::new(), last: None }
    }

    fn bin_of(&self, now: Nanos) -> usize {
        usize::try_from(now / self.bin).unwrap_or(usize::MAX)
    }

    /// The access link begins to send a packet that has waited so long.
    pub(super) fn waited(&mut self, now: Nanos, wait: Nanos) {
        let bin = self.bin_of(now);
        if let Some(longest) = self.waits.get_mut(bin) {
            *longest = (*longest).max(Some(wait));
        }
    }

    /// A new packet has come.
    pub(super) fn arrived(&mut self, now: Nanos) {
        let bin = self.bin_of(now);
        if let Some(packets) = self.packets.get_mut(bin) {
            *packets += 1;
        }
        self.wait_until(now);
        self.last = Some(now);
    }

    /// The drive has ended.
    pub(super) fn end(&mut self, now: Nanos) {
        self.wait_until(now);
    }

    fn wait_until(&mut self, now: Nanos) {
        if let Some(last) = self.last.filter(|last| now - last > STALL) {
            self.stalls.push((last, now));
        }
    }

    /// Time in stalls.
    pub fn stalled(&self) -> Nanos {
        self.stalls.iter().map(|(from, until)| until - from).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;

    /// By hand: 200 ms are no stall, 201 are; before the first packet nobody waits; the end ends the last one.
    #[test]
    fn waits_of_more_than_200_ms_are_stalls() {
        let mut course = Course::new(2000 * MS, 4, 1000);
        for at in [450, 650, 851, 851, 1999] {
            course.arrived(at * MS);
        }
        course.end(2500 * MS);
        assert_eq!((course.bin, course.packets.clone()), (500 * MS, vec![1, 3, 0, 1]));
        assert_eq!(course.stalls, [(650, 851), (851, 1999), (1999, 2500)].map(|(a, b)| (a * MS, b * MS)));
        assert_eq!(course.stalled(), (201 + 1148 + 501) * MS);
    }

    /// The packet of a bin counts that has waited longest; one that is sent on after the end is in none.
    #[test]
    fn the_longest_wait_of_each_bin_is_kept() {
        let mut course = Course::new(1500 * MS, 3, 1000);
        for (at, wait) in [(100, 7), (499, 9), (300, 0), (1100, 0), (1500, 40)] {
            course.waited(at * MS, wait * MS);
        }
        assert_eq!(course.waits, [Some(9 * MS), None, Some(0)]);
    }
}
