//! How fast a round tells its connections.

use segue_mobile::resume::ACK_OCTETS;

/// Nanoseconds of a millisecond.
const MS: u64 = 1_000_000;
/// Between passes: at least, so that a pass costs little of a processor, and at most.
const TICK: std::ops::RangeInclusive<u64> = 5 * MS..=50 * MS;
/// Connections of a pass, if a tick between these bounds allows it.
const PER_PASS: u64 = 8;

/// The time between passes, ns, and the connections of each, so that notices take half of the uplink.
pub(super) fn pace(up_kbps: u32, copies: u8) -> (u64, u32) {
    let bits = u64::from(copies.max(1)) * ACK_OCTETS * 8;
    // kbit/s are bits per ms.
    let half = (u64::from(up_kbps) / 2).max(1);
    let tick = (PER_PASS * bits * MS / half).clamp(*TICK.start(), *TICK.end());
    let budget = (u128::from(half) * u128::from(tick) / u128::from(bits * MS)).max(1);
    (tick, u32::try_from(budget).unwrap_or(u32::MAX))
}
