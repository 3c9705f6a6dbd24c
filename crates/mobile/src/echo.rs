//! Memory of the ACKs of one connection, as `mobile_echo` keeps it (`bpf/mobile/resume.h`): the last ACK numbers, and
//! since when the last time stamp has been echoed. A stamp that was first echoed before an outage's end is not echoed
//! after it: TSecr = 0 (RFC 7323; RFC 3522).

/// ACK numbers that are remembered (`SEGUE_SENT_ACKS`).
pub const ACKS: usize = 4;

/// ACK numbers and time stamp that one connection has sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    acks: [u32; ACKS],
    known: u8,
    tsecr: u32,
    echoed: u64,
}

impl Sent {
    /// The last ACK numbers, each once, the newest first.
    pub fn acks(&self) -> &[u32] {
        &self.acks[..usize::from(self.known)]
    }

    /// The newest; 0 if there is none.
    pub fn newest(&self) -> u32 {
        self.acks[0]
    }

    /// A segment leaves at `now` with this ACK number and this stamp (0: none). Whether the stamp must not be echoed:
    /// it has been echoed since before `stale`.
    #[inline]
    pub fn leaves(&mut self, now: u64, ack: u32, echo: u32, stale: u64) -> bool {
        if ack != self.acks[0] || self.known == 0 {
            self.remember(ack);
        }
        if echo != self.tsecr {
            (self.tsecr, self.echoed) = (echo, now);
        }
        echo != 0 && self.echoed < stale
    }

    fn remember(&mut self, ack: u32) {
        // RFC 9293, 3.4: later modulo 2^32
        let behind = self.acks[0].wrapping_sub(ack);
        if self.known > 0 && (behind as i32) >= 0 {
            // Much has left by a device that nobody watches: it must not look as if it were ahead.
            if behind > 1 << 30 {
                (self.acks[0], self.known) = (ack, 1);
            }
            return;
        }
        self.acks.copy_within(..ACKS - 1, 1);
        self.acks[0] = ack;
        self.known = (self.known + 1).min(ACKS as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_four_numbers_are_known_the_newest_first() {
        let mut sent = Sent::default();
        assert_eq!(sent.acks(), []);
        for (ack, known) in [
            (5, vec![5]),
            (5, vec![5]),
            (7, vec![7, 5]),
            (6, vec![7, 5]),
            (9, vec![9, 7, 5]),
            (11, vec![11, 9, 7, 5]),
            (12, vec![12, 11, 9, 7]),
        ] {
            sent.leaves(0, ack, 0, 0);
            assert_eq!(sent.acks(), known, "after {ack}");
        }
        let mut wraps = Sent::default();
        wraps.leaves(0, u32::MAX, 0, 0);
        wraps.leaves(0, 3, 0, 0);
        assert_eq!(wraps.acks(), [3, u32::MAX]);
        // An old ACK is late; one from 2 GiB before is of a connection that has been elsewhere meanwhile.
        wraps.leaves(0, 3u32.wrapping_sub(1 << 30), 0, 0);
        assert_eq!(wraps.acks(), [3, u32::MAX]);
        let elsewhere = 3u32.wrapping_sub((1 << 30) + 1);
        wraps.leaves(0, elsewhere, 0, 0);
        assert_eq!(wraps.acks(), [elsewhere]);
    }

    #[test]
    fn a_stamp_from_before_the_outage_is_not_echoed() {
        let mut sent = Sent::default();
        assert!(!sent.leaves(10, 1, 100, 0), "no outage so far");
        // The outage ended at 50.
        assert!(sent.leaves(60, 1, 100, 50));
        assert!(sent.leaves(70, 2, 100, 50), "a later ACK of the same stamp");
        assert!(!sent.leaves(80, 3, 101, 50), "a stamp of the new link");
        assert!(!sent.leaves(90, 4, 101, 50));
        assert!(!sent.leaves(95, 4, 0, 50), "there is nothing to echo");
        // It came before the outage, and its ACK was delayed until after it.
        let mut late = Sent::default();
        late.leaves(10, 1, 100, 0);
        assert!(!late.leaves(60, 2, 101, 50));
    }
}
