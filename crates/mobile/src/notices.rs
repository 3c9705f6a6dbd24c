//! How fast a mobile tells its connections of a handoff: a pass over them tells so many, and the next one waits for so
//! long. Notices take half of the uplink (docs/internals/agent.md, "Recipients and times of notices"). After an outage
//! the first connections are told one by one (docs/reference/near.md, 8.6).

use crate::resume::ACK_OCTETS;
use std::ops::RangeInclusive;

/// Nanoseconds of a millisecond.
const MS: u64 = 1_000_000;
/// Between passes: at least, so that a pass costs little of a processor, and at most.
const TICK: RangeInclusive<u64> = MS..=50 * MS;
/// ACKs that leave at once even over a slow uplink, whose queue may hold five packets.
pub const AT_ONCE: u64 = 4;
/// Connections that are told one by one after an outage.
pub const ONE_BY_ONE: u32 = 16;
/// Octets of a packet.
const PACKET_OCTETS: u64 = 1500;

/// The passes that are still to come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Time between passes, ns, and the connections of each.
    tick: u64,
    budget: u32,
    /// So many connections are told one by one before, and the time between them, ns.
    singly: u32,
    apart: u64,
}

impl Pace {
    /// The pace of notices in so many `copies` over an uplink of `up_kbps`.
    pub fn over(up_kbps: u32, copies: u32) -> Self {
        let copies = u64::from(copies.max(1));
        let bits = copies * ACK_OCTETS * 8;
        // kbit/s are bits per ms.
        let half = (u64::from(up_kbps) / 2).max(1);
        let few = (AT_ONCE / copies).max(1);
        let tick = (few * bits * MS / half).clamp(*TICK.start(), *TICK.end());
        let budget = (u128::from(half) * u128::from(tick) / u128::from(bits * MS)).max(1);
        Self { tick, budget: u32::try_from(budget).unwrap_or(u32::MAX), singly: 0, apart: 0 }
    }

    /// After an outage the first connections are told one by one, a packet of the new link's `down_kbps` apart. So
    /// their peers' first packets do not meet in its queue. No connection is told faster than the uplink takes the
    /// copies.
    pub fn after_outage(self, down_kbps: u32) -> Self {
        let packet = (PACKET_OCTETS * 8 * MS / u64::from(down_kbps.max(1))).clamp(*TICK.start(), *TICK.end());
        Self { singly: ONE_BY_ONE, apart: packet.max(self.tick / u64::from(self.budget)), ..self }
    }

    /// When the last of so many connections is told, ns after the first one.
    pub fn time_of(self, connections: u32) -> u64 {
        let (mut told, mut at) = (0, 0);
        for (budget, tick) in self {
            told += u64::from(budget);
            if told >= u64::from(connections) {
                break;
            }
            at += tick;
        }
        at
    }
}

/// How many connections the next pass tells, and how long the one after it waits, ns. There is always one more.
impl Iterator for Pace {
    type Item = (u32, u64);

    fn next(&mut self) -> Option<Self::Item> {
        let pass = if self.singly > 0 { (1, self.apart) } else { (self.budget, self.tick) };
        self.singly = self.singly.saturating_sub(1);
        Some(pass)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 12,000 bits; a pass costs a millisecond, and nobody waits for longer than the longest one. A fast uplink.
    #[test]
    fn packets_follow_each_other() {
        let apart = |down_kbps| Pace::over(1_000_000, 2).after_outage(down_kbps).apart;
        assert_eq!([6400, 200, 54_000, 0].map(apart), [1_875_000, 50 * MS, MS, 50 * MS]);
    }

    /// 16 one by one, then as many as half of the uplink carries. A slow uplink sets the time between the first ones,
    /// too. On its half two copies of 84 octets take 1344 bits / 100 kbit/s = 13.44 ms.
    #[test]
    fn the_first_are_told_one_by_one_after_an_outage() {
        let passes: Vec<_> = Pace::over(200, 2).after_outage(6400).take(18).collect();
        assert_eq!(passes[..16], [(1, 13_440_000); 16]);
        assert_eq!(passes[16..], [(2, 26_880_000); 2]);
        let passes: Vec<_> = Pace::over(54_000, 2).after_outage(200).take(18).collect();
        assert_eq!(passes[..16], [(1, 50 * MS); 16]);
        assert_eq!(passes[16..], [(20, MS); 2], "27,000 bits in a millisecond");
    }

    /// As in the test before: 13.44 ms between the first 16; then two in 26.88 ms.
    #[test]
    fn the_last_of_many_is_told_after_all_before_it() {
        let time_of = |connections| Pace::over(200, 2).after_outage(6400).time_of(connections);
        assert_eq!([0, 1, 2, 16].map(time_of), [0, 0, 13_440_000, 15 * 13_440_000]);
        assert_eq!([17, 18, 19].map(time_of), [16 * 13_440_000, 16 * 13_440_000, 18 * 13_440_000]);
    }

    /// The bench's router holds five packets and the one that it sends.
    #[test]
    fn sixteen_flows_lose_no_notice_in_a_queue_of_five() {
        for up_kbps in [50, 200, 400, 1600, 6400] {
            let packet = ACK_OCTETS * 8 * MS / u64::from(up_kbps);
            let (mut free_at, mut left, mut now) = (0, 16, 0);
            for (budget, tick) in Pace::over(up_kbps, 2) {
                let told = budget.min(left);
                for _ in 0..2 * told {
                    let waiting = (u64::max(free_at, now) - now).div_ceil(packet);
                    assert!(waiting <= 5, "{up_kbps} kbit/s: {waiting} wait");
                    free_at = u64::max(free_at, now) + packet;
                }
                left -= told;
                now += tick;
                if left == 0 {
                    break;
                }
            }
            // Half of the uplink; a pass has whole connections, so two of them where 2.9 would be due.
            assert!(free_at <= 3 * 16 * 2 * packet, "{up_kbps} kbit/s: {free_at} ns");
        }
    }
}
