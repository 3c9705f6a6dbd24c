//! The receiving half as Linux has it: quick and delayed ACKs, SACK and D-SACK, compressed ACKs, PAWS.
//!
//! Source: net/ipv4/tcp_input.c (`tcp_event_data_recv`, `tcp_grow_window`, `__tcp_ack_snd_check`, `tcp_data_queue`,
//! `tcp_sack_new_ofo_skb`, `tcp_sequence`, `tcp_send_dupack`), tcp_output.c (`tcp_send_delayed_ack`,
//! `tcp_event_ack_sent`), tcp_timer.c (`tcp_delack_timer_handler`), tcp.c (`__tcp_cleanup_rbuf`).
//! The application reads at once whatever is in order.

use std::collections::VecDeque;

use super::LinuxSettings;
use super::wheel::{Clock, Place, WheelTimer};
use crate::Nanos;
use crate::core::charged_header;
use crate::encode::sack_room;
use crate::profile::StackProfile;
use crate::receiver::Arrival;
use crate::segment::{CarriedOption, SackList, Segment, Timestamps};

/// Repetitions of the SYN/ACK before the connection is given up (`tcp_synack_retries`).
const SYN_ACK_RETRIES: u32 = 5;
/// RTO without a round trip of the handshake, us (`TCP_TIMEOUT_FALLBACK`).
const FALLBACK_US: u64 = 3_000_000;
/// ACKs sent at once at the start and after trouble (`TCP_MAX_QUICKACKS`).
const MAX_QUICKACKS: u32 = 16;
/// Duplicate ACKs before they are compressed (`TCP_FASTRETRANS_THRESH`).
const DUP_ACKS: u32 = 3;
/// Most ACKs that one compressed ACK stands for (`tcp_comp_sack_nr`).
const COMPRESSED_MOST: u32 = 44;
/// Longest wait of a compressed ACK and what the timer may add (`tcp_comp_sack_delay_ns`, `_slack_ns`).
const COMPRESSED_WAIT: Nanos = 1_000_000;
const COMPRESSED_SLACK: Nanos = 100_000;
/// SACK blocks that are remembered (`TCP_NUM_SACKS`), and those beyond which nothing is compressed.
const NUM_SACKS: usize = 4;
const BLOCKS_EXPECTED: usize = 2;
/// By how much a time stamp may lag (`TCP_PAWS_WINDOW`).
const PAWS_WINDOW: i32 = 1;
/// Receive buffer, bytes (`tcp_rmem` of the reference), and what a segment takes of it on a veth.
const BUFFER: u32 = 4 << 20;
const TRUESIZE: u32 = 2280;
/// The same of a segment out of order, whose data move into its head (`skb_condense`), and how many segments that
/// follow one another fit in there (`skb_try_coalesce`).
const TRUESIZE_OUT_OF_ORDER: u32 = 4352;
const SEGMENTS_OUT_OF_ORDER: u32 = 2;
/// Share of the buffer that may be payload, in 1/256 (`scaling_ratio`).
const RATIO: u32 = MSS * 256 / TRUESIZE;
/// Payload of a segment, bytes.
const MSS: u32 = 1448;
/// The window of the handshake: half of the buffer (`TCP_DEFAULT_SCALING_RATIO`), but for one segment
/// (`tcp_init_buffer_space`).
const FIRST_WINDOW: u32 = BUFFER / 2 - MSS;

/// A receiver that reads at once whatever is in order; used like [`Receiver`](crate::Receiver).
#[derive(Clone, Debug)]
pub struct LinuxReceiver {
    profile: StackProfile,
    clock: Clock,
    now: Nanos,
    jiffies: u64,
    in_timer: bool,
    rcv_nxt: u32,
    /// `rcv_nxt` of the last ACK.
    rcv_wup: u32,
    window: u32,
    ts_recent: u32,
    /// Out-of-order packets as disjoint, ascending ranges above `rcv_nxt`.
    ranges: Vec<(u32, u32)>,
    /// `selective_acks`, most recent first.
    sacks: Vec<(u32, u32)>,
    /// `duplicate_sack`, for the next ACK.
    dsack: Option<(u32, u32)>,
    reports_duplicates: bool,
    /// ACKs to be sent now.
    pending: VecDeque<Segment>,
    carried: CarriedOption,

    /// When the SYN/ACK was sent, ns; and the round trip to the ACK that completed the handshake, us.
    syn_ack_sent: Option<Nanos>,
    /// When it is sent again (`rsk_timer`), and how often it has been (`num_timeout`).
    syn_ack_timer: Option<Nanos>,
    syn_ack_timeouts: u32,
    srtt_us: u64,
    /// `icsk_rto`, jiffies.
    rto: u64,
    /// The handshake is complete.
    established: bool,

    /// `icsk_ack`: ACKs to send at once, expected gap (jiffies; 0 = nothing received), time of the last data.
    quick: u32,
    ato: u64,
    last_data: u64,
    /// `ICSK_ACK_SCHED`, `ICSK_ACK_NOW`, `ICSK_ACK_PUSHED`, `ICSK_ACK_TIMER`.
    scheduled: bool,
    ack_now: bool,
    pushed: bool,
    delayed: Option<u64>,
    /// When the wheel calls, whether an ACK still waits or not: a timer that is cleared stays in it.
    delack_timer: Option<Nanos>,
    wheel_timer: WheelTimer,
    /// Window that the kernel would offer at most, bytes (`rcv_ssthresh`).
    rcv_ssthresh: u32,
    /// Buffers of packets out of order, first and one beyond the last, ascending (`out_of_order_queue`).
    out_of_order: Vec<(u32, u32)>,

    compressed: u32,
    compressed_at: Option<Nanos>,
    compressed_rcv_nxt: u32,
    dup_acks: u32,
    last_oow_ack: Option<u64>,
}

impl LinuxReceiver {
    /// A receiver that waits for the SYN.
    pub fn new(profile: &StackProfile, settings: LinuxSettings) -> Self {
        let LinuxSettings { hz, phase, .. } = settings;
        let clock = Clock::new(hz, phase);
        Self {
            profile: *profile,
            clock,
            now: 0,
            jiffies: 0,
            in_timer: false,
            rcv_nxt: 0,
            rcv_wup: 0,
            window: profile.receive_window,
            ts_recent: 0,
            ranges: Vec::new(),
            sacks: Vec::with_capacity(NUM_SACKS),
            dsack: None,
            reports_duplicates: profile.dsack,
            pending: VecDeque::with_capacity(4),
            carried: CarriedOption::default(),
            syn_ack_sent: None,
            syn_ack_timer: None,
            syn_ack_timeouts: 0,
            srtt_us: 0,
            rto: u64::from(hz),
            established: false,
            quick: 0,
            ato: 0,
            last_data: 0,
            scheduled: false,
            ack_now: false,
            pushed: false,
            delayed: None,
            delack_timer: None,
            wheel_timer: WheelTimer::default(),
            rcv_ssthresh: FIRST_WINDOW,
            out_of_order: Vec::new(),
            compressed: 0,
            compressed_at: None,
            compressed_rcv_nxt: 0,
            dup_acks: 0,
            last_oow_ack: None,
        }
    }

    /// Next packet expected.
    #[inline]
    pub fn rcv_nxt(&self) -> u32 {
        self.rcv_nxt
    }

    /// The cumulative ACK that was made last, sent or not.
    #[inline]
    pub fn last_ack(&self) -> u32 {
        self.rcv_wup
    }

    /// Packets that have arrived, in order or not, the SYN included.
    pub fn received(&self) -> u32 {
        self.rcv_nxt + self.ranges.iter().map(|(left, right)| right - left).sum::<u32>()
    }

    /// Whether packet `seq` has arrived.
    pub fn has(&self, seq: u32) -> bool {
        seq < self.rcv_nxt || {
            let index = self.ranges.partition_point(|range| range.1 <= seq);
            self.ranges.get(index).is_some_and(|range| range.0 <= seq)
        }
    }

    /// Turns reporting of duplicates on or off from now on (RFC 2883).
    pub fn set_dsack(&mut self, on: bool) {
        self.reports_duplicates = on;
    }

    /// Changes the advertised window: packets beyond the cumulative ACK.
    pub fn set_window(&mut self, window: u32) {
        self.window = window;
    }

    /// The advertised window.
    pub fn window(&self) -> u32 {
        self.window
    }

    /// Announces the window by an ACK, if there is a connection.
    pub fn announce_window(&mut self, now: Nanos) {
        if self.rcv_nxt > 0 {
            self.refresh(now);
            self.send_ack();
        }
    }

    /// Lets `option` ride on the next ACK.
    pub fn carry(&mut self, option: CarriedOption) {
        self.carried = option;
    }

    /// A segment has arrived; says what it was if it carried data.
    pub fn on_segment(&mut self, now: Nanos, segment: &Segment) -> Option<Arrival> {
        self.refresh(now);
        if segment.syn {
            return Some(self.on_syn(segment));
        }
        if self.rcv_nxt == 0 {
            return None;
        }
        if !self.established {
            self.establish(segment);
        }
        let data = segment.is_data();
        let end = segment.seq + u32::from(data);
        let arrival = if self.has(segment.seq) { Arrival::Duplicate } else { Arrival::New };
        // `tcp_validate_incoming`: PAWS, then the window.
        let stamp = segment.timestamps.map_or(self.ts_recent, |stamps| stamps.value);
        let too_old = segment.timestamps.is_some()
            && self.ts_recent != 0
            && self.ts_recent.wrapping_sub(stamp) as i32 > PAWS_WINDOW;
        if too_old || end < self.rcv_wup {
            if data || !self.oow_rate_limited() {
                self.send_dupack(data.then_some(segment.seq));
            }
            return data.then_some(if too_old { Arrival::Duplicate } else { arrival });
        }
        // `tcp_replace_ts_recent`
        if segment.timestamps.is_some()
            && segment.seq <= self.rcv_wup
            && self.ts_recent.wrapping_sub(stamp) as i32 <= 0
        {
            self.ts_recent = stamp;
        }
        if data {
            self.queue(segment.seq, segment.push);
        }
        if self.scheduled {
            self.ack_snd_check();
        }
        data.then_some(arrival)
    }

    /// `tcp_conn_request`.
    fn on_syn(&mut self, segment: &Segment) -> Arrival {
        let arrival = if self.rcv_nxt == 0 { Arrival::New } else { Arrival::Duplicate };
        if let Some(stamps) = segment.timestamps
            && self.rcv_nxt <= 1
        {
            self.ts_recent = stamps.value;
        }
        self.rcv_nxt = self.rcv_nxt.max(1);
        self.rcv_wup = self.rcv_wup.max(1);
        if self.established {
            self.send_ack(); // a challenge ACK
        } else {
            // No round trip is measured by a SYN/ACK that was sent twice.
            self.syn_ack_sent = Some(self.now).filter(|_| arrival == Arrival::New);
            let syn_ack = self.segment(true, SackList::default());
            self.pending.push_back(syn_ack);
            if arrival == Arrival::New {
                self.set_syn_ack_timer();
            }
        }
        arrival
    }

    /// `inet_csk_reqsk_queue_hash_add`, `reqsk_timeout`.
    fn set_syn_ack_timer(&mut self) {
        let wait = self.clock.from_us(self.profile.rto.initial / 1_000) << self.syn_ack_timeouts;
        let clk = self.jiffies + u64::from(self.in_timer);
        let fires = self.wheel_timer.set(self.jiffies + wait, self.jiffies, clk);
        self.syn_ack_timer = Some(self.clock.at(fires));
    }

    /// Nothing has answered the SYN/ACK (`reqsk_timer_handler`).
    fn on_syn_ack_timer(&mut self) {
        self.syn_ack_timer = None;
        if self.syn_ack_timeouts >= SYN_ACK_RETRIES {
            return;
        }
        self.syn_ack_sent = None; // no round trip is measured by a SYN/ACK that was sent twice
        let syn_ack = self.segment(true, SackList::default());
        self.pending.push_back(syn_ack);
        self.syn_ack_timeouts += 1;
        self.in_timer = true;
        self.set_syn_ack_timer();
        self.in_timer = false;
    }

    /// The handshake is complete (`tcp_create_openreq_child`). The SYN/ACK measures the round trip if it was sent once,
    /// else the time stamp that `segment` echoes does (`tcp_synack_rtt_meas`).
    fn establish(&mut self, segment: &Segment) {
        self.established = true;
        self.last_data = self.jiffies;
        self.syn_ack_timer = None;
        let echoed = segment.timestamps.map(|stamps| {
            let ms = self.time_stamp().wrapping_sub(stamps.echo);
            u64::from(ms.max(1)) * 1_000
        });
        let rtt_us = self.syn_ack_sent.map(|sent| (self.now - sent) / 1_000).or(echoed);
        if let Some(rtt_us) = rtt_us {
            self.srtt_us = rtt_us.max(1);
            self.rto = self.clock.from_us(rtt_us + (2 * rtt_us).max(self.profile.rto.min / 1_000));
        } else {
            self.rto = self.clock.from_us(FALLBACK_US); // `tcp_init_metrics`
        }
    }

    /// `tcp_data_queue`.
    fn queue(&mut self, seq: u32, push: bool) {
        if seq == self.rcv_nxt {
            self.rcv_nxt += 1;
            self.pushed |= push; // `tcp_measure_rcv_mss`
            self.event_data_recv();
            if !self.ranges.is_empty() {
                if self.ranges[0].0 == self.rcv_nxt {
                    self.rcv_nxt = self.ranges.remove(0).1;
                    let read = self.out_of_order.partition_point(|held| held.0 < self.rcv_nxt);
                    self.out_of_order.drain(..read);
                }
                self.ack_now |= self.ranges.is_empty(); // the gap is filled (RFC 5681, 4.2)
            }
            self.sack_remove();
        } else if seq < self.rcv_nxt {
            self.set_duplicate(seq);
            self.enter_quickack_mode();
            self.scheduled = true;
        } else {
            self.queue_out_of_order(seq);
        }
    }

    /// `tcp_data_queue_ofo`.
    fn queue_out_of_order(&mut self, seq: u32) {
        self.scheduled = true;
        if self.ranges.is_empty() {
            self.ranges.push((seq, seq + 1));
            self.sacks.clear();
            self.sacks.push((seq, seq + 1));
            self.grow_window(0);
            self.hold(seq);
            return;
        }
        let index = self.ranges.partition_point(|range| range.1 < seq);
        let duplicate = match self.ranges.get(index).copied() {
            Some((left, right)) if left <= seq && seq < right => true,
            Some((_, right)) if right == seq => {
                self.ranges[index].1 += 1;
                if self.ranges.get(index + 1).is_some_and(|next| next.0 == seq + 1) {
                    self.ranges[index].1 = self.ranges.remove(index + 1).1;
                }
                false
            }
            Some((left, _)) if left == seq + 1 => {
                self.ranges[index].0 = seq;
                false
            }
            _ => {
                self.ranges.insert(index, (seq, seq + 1));
                false
            }
        };
        if duplicate {
            self.set_duplicate(seq);
        }
        self.sack_new(seq);
        if !duplicate {
            self.grow_window(0);
            self.hold(seq);
        }
    }

    /// Keeps a packet out of order, with the one before it if there is room (`tcp_ooo_try_coalesce`).
    fn hold(&mut self, seq: u32) {
        let index = self.out_of_order.partition_point(|held| held.0 < seq);
        let before = index.checked_sub(1).map(|before| &mut self.out_of_order[before]);
        match before.filter(|held| held.1 == seq && held.1 - held.0 < SEGMENTS_OUT_OF_ORDER) {
            Some(held) => held.1 += 1,
            None => self.out_of_order.insert(index, (seq, seq + 1)),
        }
    }

    /// `tcp_dsack_set`.
    fn set_duplicate(&mut self, seq: u32) {
        if self.reports_duplicates && self.profile.sack_blocks > 0 {
            self.dsack = Some((seq, seq + 1));
        }
    }

    /// `tcp_sack_new_ofo_skb`: the block of packet `seq` comes first.
    fn sack_new(&mut self, seq: u32) {
        let touching = |&(left, right): &(u32, u32)| seq <= right && left <= seq + 1;
        if let Some(at) = self.sacks.iter().position(touching) {
            let block = &mut self.sacks[at];
            *block = (block.0.min(seq), block.1.max(seq + 1));
            if at >= BLOCKS_EXPECTED {
                self.send_compressed();
            }
            self.sacks[..=at].rotate_right(1);
            // `tcp_sack_maybe_coalesce`
            let mut k = 1;
            while k < self.sacks.len() {
                let (first, other) = (self.sacks[0], self.sacks[k]);
                if other.0 <= first.1 && first.0 <= other.1 {
                    self.sacks[0] = (first.0.min(other.0), first.1.max(other.1));
                    self.sacks.remove(k);
                } else {
                    k += 1;
                }
            }
            return;
        }
        if self.sacks.len() >= BLOCKS_EXPECTED {
            self.send_compressed();
        }
        self.sacks.truncate(NUM_SACKS - 1);
        self.sacks.insert(0, (seq, seq + 1));
    }

    /// `tcp_sack_remove`.
    fn sack_remove(&mut self) {
        if self.ranges.is_empty() {
            self.sacks.clear();
        }
        let rcv_nxt = self.rcv_nxt;
        self.sacks.retain(|block| block.0 > rcv_nxt);
    }

    /// In-order data (`tcp_event_data_recv`).
    fn event_data_recv(&mut self) {
        self.scheduled = true;
        let least = self.ato_min();
        if self.ato == 0 {
            self.incr_quickack();
            self.ato = least;
        } else {
            let gap = self.jiffies - self.last_data;
            if gap <= least / 2 {
                self.ato = self.ato / 2 + least / 2;
            } else if gap < self.ato {
                self.ato = (self.ato / 2 + gap).min(self.rto).min(self.delack_max());
            } else if gap > self.rto {
                self.incr_quickack(); // the sender has paused
            }
        }
        self.last_data = self.jiffies;
        self.grow_window(TRUESIZE);
    }

    /// `tcp_grow_window`: while the window widens, ACKs are sent at once. Of the packet at hand the buffer holds
    /// `own` bytes already.
    fn grow_window(&mut self, own: u32) {
        let held = own + self.out_of_order.len() as u32 * TRUESIZE_OUT_OF_ORDER;
        let space = u64::from(BUFFER.saturating_sub(held)) * u64::from(RATIO) / 256;
        let room = (space as u32).saturating_sub(self.rcv_ssthresh);
        if room > 0 {
            self.rcv_ssthresh += room.min(2 * MSS);
            self.quick |= 1;
        }
    }

    /// `tcp_incr_quickack`. The window is never so small that it counts.
    fn incr_quickack(&mut self) {
        let most = (self.window / 2).clamp(2, MAX_QUICKACKS);
        self.quick = self.quick.max(most);
    }

    /// `tcp_enter_quickack_mode`.
    fn enter_quickack_mode(&mut self) {
        self.incr_quickack();
        self.ato = self.ato_min();
    }

    /// `TCP_ATO_MIN`, `TCP_DELACK_MIN`: 40 ms in jiffies.
    fn ato_min(&self) -> u64 {
        u64::from(self.clock.hz() / 25).max(1)
    }

    /// `TCP_DELACK_MAX`: 200 ms in jiffies.
    fn delack_max(&self) -> u64 {
        u64::from(self.clock.hz() / 5)
    }

    /// Now or later (`__tcp_ack_snd_check`, and the application's read).
    fn ack_snd_check(&mut self) {
        // With packets out of order in the buffer the window does not advance (`__tcp_select_window`).
        let second = self.rcv_nxt - self.rcv_wup > 1 && self.ranges.is_empty();
        if second || self.quick > 0 || self.ack_now {
            return self.send_ack();
        }
        if self.ranges.is_empty() {
            self.send_delayed_ack();
            if self.pushed && self.scheduled {
                self.send_ack(); // `__tcp_cleanup_rbuf`
            }
            return;
        }
        if self.compressed >= COMPRESSED_MOST {
            return self.send_ack();
        }
        if self.compressed_rcv_nxt != self.rcv_nxt {
            self.compressed_rcv_nxt = self.rcv_nxt;
            self.dup_acks = 0;
        }
        if self.dup_acks < DUP_ACKS {
            self.dup_acks += 1;
            return self.send_ack();
        }
        self.compressed += 1;
        if self.compressed_at.is_none() {
            // Without a round trip of the handshake, that of the first data counts, which is no shorter than a SYN/ACK's.
            let rtt = if self.srtt_us == 0 { u64::MAX } else { self.srtt_us * 1_000 };
            let wait = COMPRESSED_WAIT.min(rtt / 20);
            self.compressed_at = Some(self.now + wait + COMPRESSED_SLACK);
        }
    }

    /// `tcp_sack_compress_send_ack`.
    fn send_compressed(&mut self) {
        if self.compressed > 0 {
            self.send_ack();
        }
    }

    /// `tcp_send_delayed_ack`.
    fn send_delayed_ack(&mut self) {
        let least = self.ato_min();
        let mut ato = self.ato;
        if ato > least {
            let mut most = if self.pushed { self.delack_max() } else { u64::from(self.clock.hz() / 2) };
            if self.srtt_us > 0 {
                most = most.min(self.clock.from_us(self.srtt_us).max(least));
            }
            ato = ato.min(most);
        }
        // `tcp_delack_max`: before the sender's shortest RTO.
        let rto_min = self.clock.from_us(self.profile.rto.min / 1_000);
        ato = ato.min(self.delack_max()).min(rto_min.max(2) - 1);
        let mut timeout = self.jiffies + ato;
        if let Some(running) = self.delayed {
            if running <= self.jiffies + (ato >> 2) {
                return self.send_ack(); // about to expire
            }
            timeout = timeout.min(running);
        }
        self.scheduled = true;
        self.set_delack_timer(timeout);
    }

    fn set_delack_timer(&mut self, timeout: u64) {
        self.delayed = Some(timeout);
        let clk = self.jiffies + u64::from(self.in_timer);
        let fires = self.wheel_timer.set(timeout, self.jiffies, clk);
        self.delack_timer = Some(self.clock.at(fires));
    }

    /// An answer to what lies outside the window (`tcp_send_dupack`).
    fn send_dupack(&mut self, data: Option<u32>) {
        if let Some(seq) = data.filter(|&seq| seq < self.rcv_nxt) {
            self.enter_quickack_mode();
            self.set_duplicate(seq);
        }
        self.send_ack();
    }

    /// `tcp_oow_rate_limited`: half a second.
    fn oow_rate_limited(&mut self) -> bool {
        let limit = u64::from(self.clock.hz() / 2);
        if self.last_oow_ack.is_some_and(|last| self.jiffies - last < limit) {
            return true;
        }
        self.last_oow_ack = Some(self.jiffies);
        false
    }

    /// `tcp_send_ack`, `tcp_event_ack_sent`.
    fn send_ack(&mut self) {
        let mut sack = SackList::default();
        if self.profile.sack_blocks > 0 {
            let blocks = self.dsack.take().into_iter().chain(self.sacks.iter().copied());
            for (left, right) in blocks.take(self.profile.sack_blocks) {
                sack.push(left, right);
            }
        }
        let ack = self.segment(false, sack);
        self.pending.push_back(ack);
        self.rcv_wup = self.rcv_nxt;
        self.compressed = 0;
        self.compressed_at = None;
        // `tcp_dec_quickack_mode`
        if self.quick > 0 {
            let one = u32::from(self.scheduled);
            if one >= self.quick {
                self.quick = 0;
                self.ato = self.ato_min();
            } else {
                self.quick -= one;
            }
        }
        self.scheduled = false;
        self.ack_now = false;
        self.pushed = false;
        self.delayed = None;
    }

    fn segment(&self, syn: bool, sack: SackList) -> Segment {
        Segment {
            seq: u32::from(!syn),
            ack: self.rcv_nxt,
            window: self.window,
            payload: 0,
            syn,
            push: false,
            has_ack: true,
            sack,
            timestamps: Some(Timestamps { value: self.time_stamp(), echo: self.ts_recent }),
            option: CarriedOption::default(),
        }
    }

    /// `tcp_time_stamp_ms`.
    fn time_stamp(&self) -> u32 {
        (self.clock.since_boot(self.now) / 1_000_000) as u32
    }

    fn refresh(&mut self, now: Nanos) {
        self.now = now;
        self.jiffies = self.clock.jiffies(now);
    }

    /// The clock has reached [`Self::deadline`].
    pub fn on_timer(&mut self, now: Nanos) {
        self.refresh(now);
        if self.syn_ack_timer.is_some_and(|deadline| deadline <= now) {
            self.on_syn_ack_timer();
        }
        if self.compressed_at.is_some_and(|deadline| deadline <= now) {
            self.compressed_at = None;
            self.send_compressed();
        }
        if self.delack_timer.is_none_or(|deadline| deadline > now) {
            return;
        }
        // `tcp_delack_timer_handler`
        self.delack_timer = None;
        self.in_timer = true;
        if self.compressed > 0 {
            self.send_compressed();
        } else if let Some(timeout) = self.delayed.take() {
            if timeout > self.jiffies {
                self.set_delack_timer(timeout);
            } else if self.scheduled {
                self.ato = (self.ato * 2).min(self.rto).min(self.delack_max());
                self.send_ack();
            }
        }
        self.in_timer = false;
    }

    /// When [`Self::on_timer`] wants to be called.
    #[inline]
    pub fn deadline(&self) -> Option<Nanos> {
        match (self.delack_timer.or(self.syn_ack_timer), self.compressed_at) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Where the timer of delayed ACKs lies in the host's wheel; until the handshake is complete, that of the SYN/ACK.
    #[inline]
    pub fn place(&self) -> Place {
        self.wheel_timer.place()
    }

    /// The ACK to send now, and the bytes that links charge for it.
    #[inline]
    pub fn poll_transmit(&mut self) -> Option<(Segment, u32)> {
        let mut ack = self.pending.pop_front()?;
        if !self.carried.is_empty() {
            let option = std::mem::take(&mut self.carried);
            self.add_option(&mut ack, option);
        }
        Some((ack, charged_header(&self.profile, &ack)))
    }

    /// A pure ACK of the present state that carries `option`, outside the acknowledgement policy,
    /// and the bytes that links charge for it. Without SACK blocks where they would not fit.
    pub fn notify(&mut self, now: Nanos, option: CarriedOption) -> (Segment, u32) {
        self.refresh(now);
        self.send_ack();
        let mut ack = self.pending.pop_back().expect("it was just made");
        self.add_option(&mut ack, option);
        (ack, charged_header(&self.profile, &ack))
    }

    /// The last ACK as somebody beside TCP writes it: no stamp is echoed, no block reported, and nothing here changes. And
    /// the bytes that links charge for it.
    pub fn plain_ack(&self, now: Nanos) -> (Segment, u32) {
        let value = (self.clock.since_boot(now) / 1_000_000) as u32;
        let timestamps = Some(Timestamps { value, echo: 0 });
        let ack = Segment { timestamps, ..self.segment(false, SackList::default()) };
        (ack, charged_header(&self.profile, &ack))
    }

    /// Adds a carried option, in place of the SACK blocks if they do not all fit beside it.
    fn add_option(&self, ack: &mut Segment, option: CarriedOption) {
        ack.option = option;
        if ack.sack.len() > sack_room(&self.profile, ack) {
            ack.sack = SackList::default();
        }
    }
}
