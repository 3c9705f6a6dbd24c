//! `policy/near.h` in Rust: the numbers of `near` (docs/reference/near.md).

use crate::{Notice, ffi};

/// Bytes of an ACK, as links charge it.
const ACK_BYTES: u32 = 40;

/// The new path as a notice describes it. Times are in ns, the window in 1/256 packet.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Near {
    /// One way, of the path beyond the access link.
    pub delay_beyond_ns: u64,
    /// A packet on the old link.
    pub old_slot_ns: u64,
    /// A packet on this host's part of the new link.
    pub slot_ns: u64,
    /// One-way delay from the mobile to the sender, over the new link.
    pub ack_owd_ns: u64,
    /// One-way delay from the sender to the mobile, over the new link.
    pub data_owd_ns: u64,
    /// One-way delay from the sender to the mobile, over the old link.
    pub old_data_owd_ns: u64,
    /// Round trip of the new path, its queues empty.
    pub rtt_ns: u64,
    /// Packets that fill the path.
    pub window: u64,
}

impl Near {
    /// Made from a notice, and the least round trip of any flow on the old path (0: none was measured). Also given are
    /// the bytes of a packet, and the number of flows that this host has.
    pub fn new(notice: &Notice, min_rtt_ns: u64, packet_bytes: u32, own: u32) -> Self {
        let mut near = Self::default();
        ffi::segue_shim_near_of(&mut near, notice, min_rtt_ns, packet_bytes, ACK_BYTES, own);
        near
    }

    /// When the handoff completed whose notice arrives with an ACK at `now`.
    pub fn completion(&self, now: u64) -> u64 {
        ffi::segue_shim_near_completion(self, now)
    }

    /// Whether what was sent at `sent` went to the old link.
    pub fn on_old_link(&self, completion: u64, sent: u64) -> bool {
        ffi::segue_shim_near_on_old_link(self, completion, sent) != 0
    }

    /// Whether what left at `sent` found the queue of the new link full, which is free from `free_at` on.
    pub fn overflows(&self, free_at: u64, sent: u64) -> bool {
        ffi::segue_shim_near_overflows(self, free_at, sent) != 0
    }

    /// Packets that `own` flows may have in flight with this window.
    pub fn flight_limit(window: u64, own: u32) -> u64 {
        ffi::segue_shim_near_flight_limit(window, own)
    }

    /// When a packet reaches the mobile over the old link, sent at `sent`, behind one that does at `before`.
    pub fn old_arrival(&self, sent: u64, before: u64) -> u64 {
        ffi::segue_shim_near_old_arrival(self, sent, before)
    }

    /// Whether `arrival` over the old link is later than that of `packets` over the new one, free from `begins` on.
    pub fn too_late(&self, begins: u64, packets: u32, arrival: u64) -> bool {
        ffi::segue_shim_near_too_late(self, begins, packets, arrival) != 0
    }

    /// New packets that a retransmission of an old one has to wait for.
    pub fn horizon(&self, old_flight: u32) -> u32 {
        ffi::segue_shim_near_horizon(self, old_flight)
    }

    /// A packet that reaches the mobile at `arrival` is lost if no ACK has come by then.
    pub fn loss_deadline(&self, arrival: u64) -> u64 {
        ffi::segue_shim_near_loss_deadline(self, arrival)
    }

    /// How long after a notice the flows join that have received none.
    pub fn join_delay_ns(notice: &Notice, own: u32) -> u64 {
        ffi::segue_shim_near_join_delay_ns(notice, ACK_BYTES, own)
    }

    /// Whether an ACK so long after a retransmission must be that of an earlier transmission.
    pub fn acks_original(&self, elapsed_ns: u64) -> bool {
        ffi::segue_shim_near_acks_original(self, elapsed_ns) != 0
    }

    /// The window after a loss on the new link.
    pub fn after_loss(window: u64, own: u32) -> u64 {
        ffi::segue_shim_near_after_loss(window, own)
    }

    /// The window after `acked` packets are acknowledged.
    pub fn after_acks(window: u64, acked: u32, own: u32) -> u64 {
        ffi::segue_shim_near_after_acks(window, acked, own)
    }

    /// Whether the least round trip of the claim shows competing traffic.
    pub fn competing_traffic(&self, least_rtt_ns: u64) -> bool {
        ffi::segue_shim_near_competing_traffic(self, least_rtt_ns) != 0
    }

    /// After so long without an ACK of a flow all that it has in flight is lost.
    pub fn rto_ns(&self, backoff: u32) -> u64 {
        ffi::segue_shim_near_rto_ns(self, backoff)
    }

    /// The same with a measured round trip.
    #[must_use]
    pub fn with_rtt(&self, rtt_ns: u64) -> Self {
        let mut near = *self;
        ffi::segue_shim_near_set_rtt(&mut near, rtt_ns);
        near
    }

    /// Whether a round trip of the new path is longer than without a queue.
    pub fn queued(&self, rtt_ns: u64) -> bool {
        ffi::segue_shim_near_queued(self, rtt_ns) != 0
    }

    /// The same with a clock that is so many steps faster.
    #[must_use]
    pub fn with_steps(&self, steps: u32) -> Self {
        let mut near = *self;
        ffi::segue_shim_near_apply_steps(&mut near, self, steps);
        near
    }

    /// Whether a packet that left at `sent` and came at `arrival` cannot have come over the old link.
    pub fn too_early(&self, sent: u64, arrival: u64) -> bool {
        ffi::segue_shim_near_too_early(self, sent, arrival) != 0
    }

    /// Whether a round trip shows that others wait in the queue, too, with so many packets of this host in flight.
    pub fn queue_of_others(&self, rtt_ns: u64, in_flight: u32) -> bool {
        ffi::segue_shim_near_queue_of_others(self, rtt_ns, in_flight) != 0
    }

    /// Packets that may be in flight while a queue of this host's own drains; `window` is in 1/256 packet.
    pub fn drain_limit(&self, window: u64, own: u32) -> u64 {
        ffi::segue_shim_near_drain_limit(self, window, own)
    }

    /// The slot beside competing traffic.
    pub fn shared_slot_ns(&self) -> u64 {
        ffi::segue_shim_near_shared_slot_ns(self)
    }

    /// Packets of a rate probe.
    pub const PROBE_PACKETS: u32 = 6;

    /// N, and flows of this host: more count as so many.
    pub const FLOWS_LIMIT: u32 = 2047;

    /// Whether a rate probe passes: of two of its packets, so many apart, the time between them and the round trips.
    pub fn probe_passes(&self, packets: u32, apart_ns: u64, first_rtt_ns: u64, rtt_ns: u64) -> bool {
        ffi::segue_shim_near_probe_passes(self, packets, apart_ns, first_rtt_ns, rtt_ns) != 0
    }

    /// How many steps there are after a rate probe that has passed.
    pub fn steps_after_probe(steps: u32) -> u32 {
        ffi::segue_shim_near_steps_after_probe(steps)
    }

    /// A flow's share of the path in whole packets, from which its own control goes on.
    pub fn share(&self, own: u32) -> u32 {
        ffi::segue_shim_near_share(self, own)
    }

    /// How many steps are left after a queue.
    pub fn steps_after_queue(steps: u32) -> u32 {
        ffi::segue_shim_near_steps_after_queue(steps)
    }
}
