//! How fast a round tells its connections.

use segue_mobile::resume::ACK_OCTETS;
use std::ops::RangeInclusive;

/// Nanoseconds of a millisecond.
const MS: u64 = 1_000_000;
/// Between passes: at least, so that a pass costs little of a processor, and at most.
const TICK: RangeInclusive<u64> = MS..=50 * MS;
/// ACKs that leave at once even over a slow uplink, whose queue may hold five packets.
const AT_ONCE: u64 = 4;
/// Connections that are told one by one after an outage.
pub(super) const ONE_BY_ONE: u32 = 16;
/// Octets of a packet.
const PACKET_OCTETS: u64 = 1500;
/// A break that is foreseen leaves so much time, ns.
const CLOSING: u64 = 20 * MS;

/// The time between passes, ns, and the connections of each, so that notices take half of the uplink.
pub(super) fn pace(up_kbps: u32, copies: u8) -> (u64, u32) {
    let copies = u64::from(copies.max(1));
    let bits = copies * ACK_OCTETS * 8;
    // kbit/s are bits per ms.
    let half = (u64::from(up_kbps) / 2).max(1);
    let few = (AT_ONCE / copies).max(1);
    let tick = (few * bits * MS / half).clamp(*TICK.start(), *TICK.end());
    let budget = (u128::from(half) * u128::from(tick) / u128::from(bits * MS)).max(1);
    (tick, u32::try_from(budget).unwrap_or(u32::MAX))
}

/// The time of a packet on a link towards this host, ns: after an outage, so long between two of the first connections,
/// whose first packets then do not meet in its queue.
pub(super) fn packet(down_kbps: u32) -> u64 {
    (PACKET_OCTETS * 8 * MS / u64::from(down_kbps.max(1))).clamp(*TICK.start(), *TICK.end())
}

/// How many connections may be told of a closed window at once, by an ACK each: as many as half of the uplink carries
/// in [`CLOSING`].
pub(super) fn closing(up_kbps: u32) -> usize {
    let half = u64::from(up_kbps) / 2;
    usize::try_from((half * CLOSING / (ACK_OCTETS * 8 * MS)).max(AT_ONCE)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 12,000 bits; a pass costs a millisecond, and nobody waits for longer than the longest one.
    #[test]
    fn packets_follow_each_other() {
        assert_eq!([6400, 200, 54_000, 0].map(packet), [1_875_000, 50 * MS, MS, 50 * MS]);
    }

    #[test]
    fn a_short_uplink_is_not_filled_by_closed_windows() {
        // 1 Mbit/s carries 14.9 ACKs in 20 ms on its half; 64 kbit/s less than one.
        assert_eq!([1000, 64, 54_000].map(closing), [14, 4, 803]);
    }

    /// The bench's router holds five packets and the one that it sends.
    #[test]
    fn sixteen_flows_lose_no_notice_in_a_queue_of_five() {
        for up_kbps in [50, 200, 400, 1600, 6400] {
            let (tick, budget) = pace(up_kbps, 2);
            let packet = ACK_OCTETS * 8 * MS / u64::from(up_kbps);
            let (mut free_at, mut left, mut now) = (0, 16, 0);
            while left > 0 {
                let told = budget.min(left);
                for _ in 0..2 * told {
                    let waiting = (u64::max(free_at, now) - now).div_ceil(packet);
                    assert!(waiting <= 5, "{up_kbps} kbit/s: {waiting} wait");
                    free_at = u64::max(free_at, now) + packet;
                }
                left -= told;
                now += tick;
            }
            // Half of the uplink; a pass has whole connections, so two of them where 2.9 would be due.
            assert!(free_at <= 3 * 16 * 2 * packet, "{up_kbps} kbit/s: {free_at} ns");
        }
    }
}
