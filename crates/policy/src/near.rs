//! `policy/near.h` in Rust: the numbers of `near` (docs/reference/near.md).

use crate::{Notice, ffi};

/// Bytes of an ACK, as links charge it.
const ACK_BYTES: u32 = 40;

/// The new path as a notice describes it. Times are in ns, the window in 1/256 packet.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Near {
    /// One way, what the path has besides the access link.
    pub beyond_ns: u64,
    /// A packet on the old link.
    pub old_slot_ns: u64,
    /// A packet on this host's part of the new link.
    pub slot_ns: u64,
    /// From the mobile to the sender, over the new link.
    pub ack_way_ns: u64,
    /// From the sender to the mobile, over the new link.
    pub data_way_ns: u64,
    /// From the sender to the mobile, over the old link.
    pub old_data_way_ns: u64,
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

    /// When the handoff completed of which an ACK tells at `now`.
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

    /// Packets that `own` flows may have out with this window.
    pub fn most_out(window: u64, own: u32) -> u64 {
        ffi::segue_shim_near_most_out(window, own)
    }

    /// When a packet reaches the mobile over the old link, sent at `sent`, behind one that does at `before`.
    pub fn old_arrival(&self, sent: u64, before: u64) -> u64 {
        ffi::segue_shim_near_old_arrival(self, sent, before)
    }

    /// Whether `arrival` over the old link is later than that of `packets` over the new one, free from `begins` on.
    pub fn too_late(&self, begins: u64, packets: u32, arrival: u64) -> bool {
        ffi::segue_shim_near_too_late(self, begins, packets, arrival) != 0
    }

    /// New packets that a copy of an old one has to wait for.
    pub fn horizon(&self, old_flight: u32) -> u32 {
        ffi::segue_shim_near_horizon(self, old_flight)
    }

    /// Until when the ACK of a packet is waited for that reaches the mobile at `arrival`.
    pub fn waits(&self, arrival: u64) -> u64 {
        ffi::segue_shim_near_waits(self, arrival)
    }

    /// How long after a notice the flows are told that have heard none.
    pub fn tells_all_ns(notice: &Notice, own: u32) -> u64 {
        ffi::segue_shim_near_tells_all_ns(notice, ACK_BYTES, own)
    }

    /// Whether an ACK after so long cannot be that of a copy on the new link.
    pub fn too_soon(&self, elapsed_ns: u64) -> bool {
        ffi::segue_shim_near_too_soon(self, elapsed_ns) != 0
    }

    /// The window after a loss on the new link.
    pub fn after_loss(window: u64, own: u32) -> u64 {
        ffi::segue_shim_near_after_loss(window, own)
    }

    /// The window after `acked` packets are acknowledged.
    pub fn after_acks(window: u64, acked: u32, own: u32) -> u64 {
        ffi::segue_shim_near_after_acks(window, acked, own)
    }

    /// Whether the least round trip of the claim shows that others fill the link.
    pub fn is_shared(&self, least_rtt_ns: u64) -> bool {
        ffi::segue_shim_near_is_shared(self, least_rtt_ns) != 0
    }

    /// How long nothing has to be heard of a flow until all that it has out is lost.
    pub fn rto_ns(&self, backoff: u32) -> u64 {
        ffi::segue_shim_near_rto_ns(self, backoff)
    }

    /// The same with a measured round trip.
    #[must_use]
    pub fn measured(&self, rtt_ns: u64) -> Self {
        let mut near = *self;
        ffi::segue_shim_near_measured(&mut near, rtt_ns);
        near
    }

    /// Whether a round trip of the new path is longer than without a queue.
    pub fn queued(&self, rtt_ns: u64) -> bool {
        ffi::segue_shim_near_queued(self, rtt_ns) != 0
    }

    /// The same with a clock that is so many steps faster.
    #[must_use]
    pub fn raised(&self, steps: u32) -> Self {
        let mut near = *self;
        ffi::segue_shim_near_raise(&mut near, self, steps);
        near
    }

    /// Packets of a train, which asks whether the link is faster.
    pub const TRAIN: u32 = 6;

    /// Whether the link keeps up with a train: of two of its packets, so many apart, the round trips.
    pub fn keeps_up(&self, packets: u32, first_rtt_ns: u64, rtt_ns: u64) -> bool {
        ffi::segue_shim_near_keeps_up(self, packets, first_rtt_ns, rtt_ns) != 0
    }

    /// How many steps there are after a train with which the link keeps up.
    pub fn steps_more(steps: u32) -> u32 {
        ffi::segue_shim_near_steps_more(steps)
    }

    /// A flow's part of the path in whole packets, from which its own control goes on.
    pub fn share(&self, own: u32) -> u32 {
        ffi::segue_shim_near_share(self, own)
    }

    /// How many steps are left when a queue shows.
    pub fn steps_left(steps: u32) -> u32 {
        ffi::segue_shim_near_steps_left(steps)
    }
}
