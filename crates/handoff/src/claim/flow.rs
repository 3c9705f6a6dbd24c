//! The requests and news of a claim to a flow.

use segue_tcp::Nanos;

/// A flow as its TCP has it.
pub trait FlowState {
    /// Whether it takes part: it is established, and its TCP can be silenced.
    fn is_open(&self) -> bool;
    /// First unacknowledged packet.
    fn snd_una(&self) -> u32;
    /// One beyond the highest packet ever sent.
    fn snd_max(&self) -> u32;
    /// When an outstanding packet was sent last.
    fn sent_at(&self, now: Nanos, seq: u32) -> Nanos;
    /// Whether a SACK block has reported an outstanding packet.
    fn is_sacked(&self, seq: u32) -> bool;
    /// Shortest round trip so far.
    fn min_rtt(&self) -> Option<Nanos>;
    /// Whether it has a new packet.
    fn has_new(&self) -> bool;
    /// Whether its packets have time stamps (RFC 7323).
    fn has_timestamps(&self) -> bool;
    /// Bytes that links charge for a packet.
    fn packet_bytes(&self) -> u32;
    /// Its TCP sends nothing of its own from now on.
    fn silence(&mut self, now: Nanos);
    /// Its TCP's own control goes on from so many packets; in its part of the path a packet takes `packet`, a round
    /// trip `rtt`. False: it has none that goes on while it is silent.
    fn goes_on(&mut self, now: Nanos, packets: u32, packet: Nanos, rtt: Nanos) -> bool;
    /// Packets that its control lets be out.
    fn window(&self) -> u32;
    /// How fast its control paces, if it does by itself.
    fn packets_per_second(&self) -> Option<u64>;
    /// Its TCP is in a recovery, which reduces that window.
    fn reduces(&self) -> bool;
    /// A packet that it had out is lost.
    fn loses_one(&mut self, now: Nanos);
    /// All that it has out is lost.
    fn loses_all(&mut self, now: Nanos);
}
