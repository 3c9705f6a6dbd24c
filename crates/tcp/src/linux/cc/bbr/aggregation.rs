//! Aggregated ACKs: packets ACKed beyond what bandwidth and time explain (`bbr_update_ack_aggregation`).

use super::{BW_SCALE, RateSample, Sock, stamp_delta};

/// Packets after which an epoch ends.
const EPOCH_MOST: u32 = 1 << 20;
/// Most time of the bandwidth that they may widen the window by, us.
const EXTRA_MOST_US: u64 = 100_000;

/// The largest excess of the last rounds, in two slots.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Aggregation {
    slots: [u16; 2],
    slot: usize,
    /// Rounds of the present slot.
    rounds: u32,
    /// The epoch's start, us, and the packets ACKed in it.
    epoch_mstamp: u64,
    epoch_acked: u32,
}

impl Aggregation {
    /// An epoch begins.
    pub(in super::super) fn restart(&mut self, now: u64) {
        (self.epoch_mstamp, self.epoch_acked) = (now, 0);
    }

    /// An ACK, with bandwidth `bw`. A slot takes `rounds` round trips.
    pub(in super::super) fn update(
        &mut self,
        sk: &Sock,
        rs: &RateSample,
        bw: u32,
        round_start: bool,
        rounds: u32,
    ) {
        if rs.acked_sacked == 0 || !rs.is_valid() {
            return;
        }
        if round_start {
            self.rounds += 1;
            if self.rounds >= rounds {
                self.rounds = 0;
                self.slot ^= 1;
                self.slots[self.slot] = 0;
            }
        }
        let epoch_us = stamp_delta(sk.delivered_mstamp, self.epoch_mstamp);
        let mut expected = ((u64::from(bw) * u64::from(epoch_us)) >> BW_SCALE) as u32;
        if self.epoch_acked <= expected || self.epoch_acked.saturating_add(rs.acked_sacked) >= EPOCH_MOST {
            self.restart(sk.delivered_mstamp);
            expected = 0;
        }
        self.epoch_acked = self.epoch_acked.saturating_add(rs.acked_sacked).min(EPOCH_MOST - 1);
        let extra = self.epoch_acked.wrapping_sub(expected).min(sk.snd_cwnd);
        if extra > u32::from(self.slots[self.slot]) {
            self.slots[self.slot] = extra as u16;
        }
    }

    /// Packets by which the window is wider (`bbr_ack_aggregation_cwnd`).
    pub(in super::super) fn extra(&self, bw: u32) -> u32 {
        let most = ((u64::from(bw) * EXTRA_MOST_US) >> BW_SCALE) as u32;
        u32::from(self.slots[0].max(self.slots[1])).min(most)
    }
}
