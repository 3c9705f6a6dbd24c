//! State that a sender shows: `getsockopt(TCP_INFO)` and `ss -ti` under the kernel's names, and the simulator's
//! counters.
//!
//! Source: net/ipv4/tcp.c (`tcp_get_info`), include/uapi/linux/tcp.h (`struct tcp_info`).

use super::LinuxSender;
use super::cc::{CaState, CongestionOps, HyStartEnd, Sock};
use super::queue::{LOST, RETRANS, SACKED};
use crate::Nanos;
use crate::advice::Advisor;
use crate::core::Counters;
use crate::profile::StackProfile;

/// `struct tcp_info`, as far as a sender of full segments has it. Fields without a unit count packets or events.
#[allow(missing_docs)] // the kernel's fields
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpInfo {
    pub ca_state: CaState,
    pub retransmits: u32,
    pub backoff: u32,
    /// us.
    pub rto: u32,
    /// Bytes.
    pub snd_mss: u32,
    pub unacked: u32,
    pub sacked: u32,
    pub lost: u32,
    pub retrans: u32,
    /// Smoothed, us.
    pub rtt: u32,
    /// us.
    pub rttvar: u32,
    /// Packets.
    pub snd_ssthresh: u32,
    /// Packets.
    pub snd_cwnd: u32,
    pub reordering: u32,
    pub total_retrans: u32,
    /// us.
    pub min_rtt: u32,
    pub delivered: u32,
    pub dsack_dups: u32,
    pub reord_seen: u32,
}

/// Events counted since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Expiries of the retransmission timer.
    pub timeouts: u32,
    /// Entries into fast recovery.
    pub recoveries: u32,
    /// Packets sent again.
    pub retransmissions: u32,
    /// Packets sent, pure ACKs and window probes among them.
    pub transmissions: u32,
    /// Tail loss probes.
    pub probes: u32,
    /// Cuts taken back.
    pub undos: u32,
}

impl<A: Advisor> LinuxSender<A> {
    /// The state of the connection (`tcp_get_info`).
    pub fn info(&self) -> TcpInfo {
        let sk = &self.sk;
        TcpInfo {
            ca_state: sk.ca_state,
            retransmits: self.retries.retransmits,
            backoff: self.retries.backoff,
            rto: self.clock.to_us(self.rtt.rto) as u32,
            snd_mss: sk.mss_cache,
            unacked: sk.packets_out,
            sacked: sk.sacked_out,
            lost: sk.lost_out,
            retrans: sk.retrans_out,
            rtt: sk.srtt_us >> 3,
            rttvar: self.rtt.mdev_us >> 2,
            snd_ssthresh: sk.snd_ssthresh,
            snd_cwnd: sk.snd_cwnd,
            reordering: self.reorder.degree,
            total_retrans: self.total_retrans,
            min_rtt: sk.min_rtt_us(),
            delivered: sk.delivered,
            dsack_dups: self.reorder.dsacks,
            reord_seen: self.reorder.seen,
        }
    }

    /// The stack.
    pub fn profile(&self) -> &StackProfile {
        &self.profile
    }

    /// The socket as its congestion control sees it.
    pub fn sock(&self) -> &Sock {
        &self.sk
    }

    /// Events so far.
    #[inline]
    pub fn counters(&self) -> Counters {
        let Tally { timeouts, recoveries, retransmissions, transmissions, .. } = self.counters;
        Counters { timeouts, fast_retransmits: recoveries, retransmissions, transmissions }
    }

    /// Events so far, as the kernel tells them apart.
    pub fn tally(&self) -> Tally {
        self.counters
    }

    /// How HyStart ended slow start last.
    pub fn hystart_end(&self) -> Option<HyStartEnd> {
        self.control.hystart_end()
    }

    /// First unacknowledged packet.
    #[inline]
    pub fn snd_una(&self) -> u32 {
        self.sk.snd_una
    }

    /// One beyond the highest packet ever sent.
    #[inline]
    pub fn snd_max(&self) -> u32 {
        self.sk.snd_nxt
    }

    /// Copy number of the last transmission of `snd_una`.
    pub fn head_copy(&self) -> u32 {
        if self.queue.is_empty() { 0 } else { self.queue.get(self.queue.head()).copy }
    }

    /// Whether the connection is established: its SYN is acknowledged.
    pub fn is_established(&self) -> bool {
        self.established
    }

    /// Whether data is outstanding or waits to be sent.
    pub fn has_data(&self) -> bool {
        self.sk.snd_una < self.written.end
    }

    /// Whether there is data that has not been sent.
    pub fn has_unsent_data(&self) -> bool {
        self.sk.snd_nxt < self.written.end
    }

    /// Packets held against the window (`tcp_packets_in_flight`).
    pub fn in_flight(&self) -> u32 {
        self.sk.packets_in_flight()
    }

    /// The same, and counted anew packet by packet; for tests.
    pub fn pipes(&self) -> Option<(u32, u32)> {
        let counted = (self.queue.head()..self.queue.end()).map(|seq| {
            let packet = self.queue.get(seq);
            let out = u32::from(!packet.has(SACKED | LOST));
            if self.is_old(packet) { 0 } else { out + u32::from(packet.has(RETRANS)) }
        });
        Some((self.sk.packets_in_flight(), counted.sum::<u32>() + self.leaked))
    }

    /// In the Loss state.
    pub fn in_rto_recovery(&self) -> bool {
        self.sk.ca_state == CaState::Loss
    }

    /// The connection has been given up (`tcp_retries2`).
    pub fn has_given_up_for_good(&self) -> bool {
        self.retries.given_up
    }

    /// Smoothed round-trip time, RTO and its floor, ns.
    pub fn timing(&self) -> (Option<Nanos>, Nanos, Nanos) {
        let srtt = (self.sk.srtt_us > 0).then(|| u64::from(self.sk.srtt_us) * 125);
        let floor = u64::from(self.rtt.rto_min_us).max(self.clock.to_us(self.rtt.floor));
        (srtt, self.clock.to_us(self.rtt.rto) * 1_000, floor * 1_000)
    }

    /// cwnd in whole packets.
    pub fn window(&self) -> u32 {
        self.sk.snd_cwnd
    }
}
