//! The sender's state that congestion controls read and write.

use super::MinMax;

/// ssthresh before any cut (`TCP_INFINITE_SSTHRESH`).
pub const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;
/// Initial window, packets (`TCP_INIT_CWND`, RFC 6928).
pub const INIT_CWND: u32 = 10;
/// Largest burst, bytes: `sk_gso_max_size` of a veth, without headers (`sk_dst_gso_max_size`).
const GSO_MAX_SIZE: u32 = 65_536 - 1 - 320;

/// State of recovery (`icsk_ca_state`), in the kernel's order, which comparisons rely on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum CaState {
    /// No doubt.
    #[default]
    Open,
    /// Duplicate ACKs or SACKs have come.
    Disorder,
    /// cwnd shrinks without a retransmission.
    Cwr,
    /// Fast recovery.
    Recovery,
    /// The retransmission timer has expired.
    Loss,
}

/// Pacing, and by whom (`sk_pacing_status`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PacingStatus {
    /// Nobody: `SK_PACING_NONE`.
    #[default]
    None,
    /// TCP's own timer: `SK_PACING_NEEDED`.
    Needed,
    /// The `fq` qdisc: `SK_PACING_FQ`.
    Fq,
}

/// The part of `struct sock` and `struct tcp_sock` that congestion controls use.
///
/// Packet numbers are the sender's; counters wrap at 2^32 and are compared by difference.
#[derive(Clone, Debug)]
pub struct Sock {
    /// `tcp_mstamp`: time of the present event, us since boot. Never 0, which stands for "no time".
    pub tcp_mstamp: u64,
    /// `tcp_clock_cache`: the same in ns.
    pub tcp_clock_cache: u64,
    /// `tcp_wstamp_ns`: earliest departure of the next packet, ns since boot; paced senders only.
    pub tcp_wstamp_ns: u64,
    /// `tcp_jiffies32`, of the present event.
    pub jiffies: u32,
    /// Jiffies per second (`HZ`).
    pub hz: u32,
    /// `lsndtime`: when data was last sent, jiffies.
    pub lsndtime: u32,

    /// cwnd, packets; at least 1.
    pub snd_cwnd: u32,
    /// ACKed packets that have not yet opened cwnd.
    pub snd_cwnd_cnt: u32,
    /// Largest cwnd.
    pub snd_cwnd_clamp: u32,
    /// Slow start below it, packets.
    pub snd_ssthresh: u32,
    /// cwnd before the last cut, for undo.
    pub prior_cwnd: u32,
    /// cwnd was what held the sender back in this window (`tcp_cwnd_validate`).
    pub is_cwnd_limited: bool,
    /// Most packets outstanding in this window (`tcp_cwnd_validate`).
    pub max_packets_out: u32,

    /// First packet not acknowledged.
    pub snd_una: u32,
    /// Next packet to send.
    pub snd_nxt: u32,
    /// Packets between the two.
    pub packets_out: u32,
    /// SACKed ones of these.
    pub sacked_out: u32,
    /// Those marked lost.
    pub lost_out: u32,
    /// Those retransmitted, and that retransmission not lost.
    pub retrans_out: u32,
    /// Those under way that were sent over a path which is no longer the flow's; no kernel counts them.
    pub elsewhere: u32,
    /// `icsk_ca_state`.
    pub ca_state: CaState,

    /// Smoothed RTT, 1/8 us; 0 = none yet.
    pub srtt_us: u32,
    /// Smallest RTT of the last minutes (`rtt_min`), us; `u32::MAX` = none yet.
    pub rtt_min: MinMax,
    /// Payload of a full segment, bytes (`mss_cache`).
    pub mss_cache: u32,

    /// Packets delivered so far, D-SACKed ones included.
    pub delivered: u32,
    /// When the last of them was.
    pub delivered_mstamp: u64,
    /// Send time of the packet that was (s)acked last.
    pub first_tx_mstamp: u64,
    /// Packets marked lost so far.
    pub lost: u32,
    /// 0, or: samples of packets sent before `delivered` passes this are limited by the application.
    pub app_limited: u32,
    /// Best rate for `tcpi_delivery_rate`: packets...
    pub rate_delivered: u32,
    /// ...in so many us...
    pub rate_interval_us: u32,
    /// ...and whether the application limited them.
    pub rate_app_limited: bool,

    /// `sk_pacing_rate`, bytes of payload per second; `u64::MAX` before the first estimate.
    pub pacing_rate: u64,
    /// `sk_max_pacing_rate` (`SO_MAX_PACING_RATE`).
    pub max_pacing_rate: u64,
    /// `sk_pacing_shift`: a burst is 2^-shift s.
    pub pacing_shift: u32,
    /// `sk_pacing_status`.
    pub pacing_status: PacingStatus,
    /// `sk_gso_max_size`, bytes.
    pub gso_max_size: u32,
}

impl Sock {
    /// As `tcp_init_sock` leaves it.
    pub fn new(hz: u32, mss: u32) -> Self {
        Self {
            tcp_mstamp: 1,
            tcp_clock_cache: 1_000,
            tcp_wstamp_ns: 0,
            jiffies: 0,
            hz,
            lsndtime: 0,
            snd_cwnd: INIT_CWND,
            snd_cwnd_cnt: 0,
            snd_cwnd_clamp: u32::MAX,
            snd_ssthresh: INFINITE_SSTHRESH,
            prior_cwnd: 0,
            is_cwnd_limited: false,
            max_packets_out: 0,
            snd_una: 0,
            snd_nxt: 0,
            packets_out: 0,
            sacked_out: 0,
            lost_out: 0,
            retrans_out: 0,
            elsewhere: 0,
            ca_state: CaState::Open,
            srtt_us: 0,
            rtt_min: MinMax::new(0, u32::MAX),
            mss_cache: mss,
            delivered: 0,
            delivered_mstamp: 0,
            first_tx_mstamp: 0,
            lost: 0,
            app_limited: u32::MAX,
            rate_delivered: 0,
            rate_interval_us: 0,
            rate_app_limited: true,
            pacing_rate: u64::MAX,
            max_pacing_rate: u64::MAX,
            pacing_shift: 10,
            pacing_status: PacingStatus::None,
            gso_max_size: GSO_MAX_SIZE,
        }
    }

    /// Takes the time, ns since boot and in jiffies (`tcp_mstamp_refresh`).
    #[inline]
    pub fn refresh(&mut self, now_ns: u64, jiffies: u32) {
        debug_assert!(now_ns >= 1_000, "the clock stands at no time");
        self.tcp_clock_cache = now_ns;
        self.tcp_mstamp = now_ns / 1_000;
        self.jiffies = jiffies;
    }

    /// `tcp_packets_in_flight`, on the flow's path.
    #[inline]
    pub fn packets_in_flight(&self) -> u32 {
        let all =
            self.packets_out.wrapping_sub(self.sacked_out + self.lost_out).wrapping_add(self.retrans_out);
        all.saturating_sub(self.elsewhere)
    }

    /// `tcp_snd_cwnd_set`, after the clamp.
    #[inline]
    pub fn set_cwnd(&mut self, cwnd: u32) {
        debug_assert!(cwnd > 0, "a window of nothing sends nothing");
        self.snd_cwnd = cwnd.min(self.snd_cwnd_clamp);
    }

    /// `tcp_in_slow_start`.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.snd_cwnd < self.snd_ssthresh
    }

    /// `tcp_in_cwnd_reduction`.
    #[inline]
    pub fn in_cwnd_reduction(&self) -> bool {
        matches!(self.ca_state, CaState::Cwr | CaState::Recovery)
    }

    /// `tcp_current_ssthresh`: three quarters of cwnd, if that is more, unless cwnd is on its way down.
    pub fn current_ssthresh(&self) -> u32 {
        if self.in_cwnd_reduction() {
            return self.snd_ssthresh;
        }
        self.snd_ssthresh.max((self.snd_cwnd >> 1) + (self.snd_cwnd >> 2))
    }

    /// `tcp_is_cwnd_limited`: whether cwnd may grow. Slow start may use half of it.
    #[inline]
    pub fn cwnd_limited(&self) -> bool {
        self.is_cwnd_limited || (self.in_slow_start() && self.snd_cwnd < 2 * self.max_packets_out)
    }

    /// `tcp_slow_start`: what is left of `acked` packets once ssthresh is reached.
    #[inline]
    pub fn slow_start(&mut self, acked: u32) -> u32 {
        let cwnd = self.snd_cwnd.saturating_add(acked).min(self.snd_ssthresh);
        let left = acked - (cwnd - self.snd_cwnd);
        self.set_cwnd(cwnd);
        left
    }

    /// `tcp_cong_avoid_ai`: one packet more for every `w` ACKed ones.
    #[inline]
    pub fn cong_avoid_ai(&mut self, w: u32, acked: u32) {
        let mut cwnd = self.snd_cwnd;
        // Credit of a time when a packet cost more is worth one packet.
        if self.snd_cwnd_cnt >= w {
            self.snd_cwnd_cnt = 0;
            cwnd += 1;
        }
        self.snd_cwnd_cnt += acked;
        if self.snd_cwnd_cnt >= w {
            let more = self.snd_cwnd_cnt / w;
            self.snd_cwnd_cnt -= more * w;
            cwnd += more;
        }
        self.set_cwnd(cwnd);
    }

    /// `tcp_min_rtt`, us.
    #[inline]
    pub fn min_rtt_us(&self) -> u32 {
        self.rtt_min.get()
    }

    /// `tcp_update_pacing_rate`, for controls without `cong_control`: 2 cwnd / srtt, 1.2 from half of ssthresh on.
    #[inline]
    pub fn update_pacing_rate(&mut self, ss_percent: u32, ca_percent: u32) {
        let percent = if self.snd_cwnd < self.snd_ssthresh / 2 { ss_percent } else { ca_percent };
        let window = u64::from(self.snd_cwnd.max(self.packets_out));
        let mut rate = u64::from(self.mss_cache) * (1_000_000 / 100 * 8) * u64::from(percent) * window;
        if self.srtt_us > 0 {
            rate /= u64::from(self.srtt_us);
        }
        self.pacing_rate = rate.min(self.max_pacing_rate);
    }
}

/// Whether sequence number or time `a` lies after `b`, modulo 2^32 (`after`).
#[inline]
pub(crate) fn after(a: u32, b: u32) -> bool {
    (b.wrapping_sub(a) as i32) < 0
}
