//! Measures of one run of a laboratory, or the simulator's of the same.

use segue_world::Nanos;

/// When the handoff of a run came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// Since the first data packet.
    pub age: Nanos,
    /// By the clock that links follow whose capacity or delay changes.
    pub clock: Nanos,
    /// How long after link-up the mobile sent its notice, if it sent one.
    pub notice: Option<Nanos>,
}

/// One run of one sender: one handoff of the laboratory, or one simulated.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LiveRun {
    /// When its handoff came.
    pub moment: Moment,
    /// From link-up until the first data packet leaves the sender, s; `None` if none did while it was observed.
    pub first_send_s: Option<f64>,
    /// The same of the first packet that had been sent before; `None` also in the simulator, which does not tell.
    pub first_retransmission_s: Option<f64>,
    /// From link-up until new data in order reach the mobile, s; `None` also in the simulator.
    pub first_data_s: Option<f64>,
    /// Bytes that reached the mobile in the second that begins one round trip after link-up. They are a share of what
    /// the new link carries in it; `None` in the simulator.
    pub share_after_round_trip: Option<f64>,
    /// Bytes of data new to the mobile that reached it within 1 s of link-up, all flows. `None` if it was not observed
    /// for so long.
    pub bytes_1s: Option<u64>,
    /// Within 5 s.
    pub bytes_5s: Option<u64>,
    /// Within 10 s.
    pub bytes_10s: Option<u64>,
    /// Packets that found a queue full since the handoff began, data and ACKs.
    pub drops: u32,
    /// Packets of both directions that the disconnection swallowed.
    pub lost_in_disconnection: u32,
    /// Packets sent again since the handoff began.
    pub retransmissions: u32,
    /// Whether the sender's kernel held the connection for dead.
    pub gave_up: bool,
}
