//! What `getsockopt(TCP_INFO)` and `ss -ti` show, under the kernel's names.
//!
//! Source: net/ipv4/tcp.c (`tcp_get_info`), include/uapi/linux/tcp.h (`struct tcp_info`).

use super::LinuxSender;
use super::cc::CaState;
use crate::advice::Advisor;

/// `struct tcp_info`, as far as a sender of full segments has it. Times are in us, the rest counts packets.
#[allow(missing_docs)] // the kernel's fields
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpInfo {
    pub ca_state: CaState,
    pub retransmits: u32,
    pub backoff: u32,
    pub rto: u32,
    pub snd_mss: u32,
    pub unacked: u32,
    pub sacked: u32,
    pub lost: u32,
    pub retrans: u32,
    pub rtt: u32,
    pub rttvar: u32,
    pub snd_ssthresh: u32,
    pub snd_cwnd: u32,
    pub reordering: u32,
    pub total_retrans: u32,
    pub min_rtt: u32,
    pub delivered: u32,
    pub dsack_dups: u32,
    pub reord_seen: u32,
}

impl<A: Advisor> LinuxSender<A> {
    /// The state of the connection (`tcp_get_info`).
    pub fn info(&self) -> TcpInfo {
        let sk = &self.sk;
        TcpInfo {
            ca_state: sk.ca_state,
            retransmits: self.retransmits,
            backoff: self.backoff,
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
            reordering: self.reordering,
            total_retrans: self.total_retrans,
            min_rtt: sk.min_rtt_us(),
            delivered: sk.delivered,
            dsack_dups: self.dsack_dups,
            reord_seen: self.reord_seen,
        }
    }
}
