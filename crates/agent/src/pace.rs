//! How many connections a round tells of a closed window at once.

use segue_mobile::notices::AT_ONCE;
use segue_mobile::resume::ACK_OCTETS;

/// Nanoseconds of a millisecond.
const MS: u64 = 1_000_000;
/// A break that is foreseen leaves so much time, ns.
const CLOSING: u64 = 20 * MS;

/// How many connections may be told of a closed window at once, by an ACK each. They are as many as half of the uplink
/// carries in [`CLOSING`].
pub(super) fn closing(up_kbps: u32) -> usize {
    let half = u64::from(up_kbps) / 2;
    usize::try_from((half * CLOSING / (ACK_OCTETS * 8 * MS)).max(AT_ONCE)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_uplink_is_not_filled_by_closed_windows() {
        // 1 Mbit/s carries 14.9 ACKs in 20 ms on its half; 64 kbit/s less than one.
        assert_eq!([1000, 64, 54_000].map(closing), [14, 4, 803]);
    }
}
