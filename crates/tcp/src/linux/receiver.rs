//! The receiving half as Linux has it: quick and delayed ACKs, SACK and D-SACK, compressed ACKs, PAWS.
//!
//! Source: net/ipv4/tcp_input.c (`tcp_validate_incoming`, `tcp_sequence`, `tcp_send_dupack`), tcp_output.c
//! (`tcp_send_ack`, `tcp_event_ack_sent`), tcp_timer.c (`tcp_delack_timer_handler`); the files of
//! receiver/ cite theirs.
//! The application reads at once whatever is in order.

mod buffer;
mod delayed_ack;
mod ecn;
mod handshake;
mod reassembly;

use std::collections::VecDeque;

use self::buffer::Buffer;
use self::delayed_ack::{AckSchedule, Compression, MAX_QUICKACKS};
use self::ecn::EcnState;
use self::handshake::Handshake;
use self::reassembly::Reassembly;
use super::LinuxSettings;
use super::wheel::{Clock, TimerSlot, WheelTimer};
use crate::Nanos;
use crate::core::charged_header;
use crate::encode::sack_room;
use crate::profile::StackProfile;
use crate::receiver::Arrival;
use crate::segment::{CarriedOption, Ecn, SackList, Segment, Timestamps};

/// By how much a time stamp may lag (`TCP_PAWS_WINDOW`).
const PAWS_WINDOW: i32 = 1;

/// A receiver that reads at once whatever is in order; used like [`Receiver`](crate::Receiver).
#[derive(Clone, Debug)]
pub struct LinuxReceiver {
    profile: StackProfile,
    clock: Clock,
    now: Nanos,
    jiffies: u64,
    in_timer: bool,
    wheel_timer: WheelTimer,
    handshake: Handshake,
    rcv_nxt: u32,
    /// `rcv_nxt` of the last ACK.
    rcv_wup: u32,
    /// Packets beyond the cumulative ACK that may come, and those that may be under way.
    window: u32,
    bound: Option<u32>,
    ts_recent: u32,
    last_oow_ack: Option<u64>,
    reassembly: Reassembly,
    buffer: Buffer,
    ack: AckSchedule,
    compression: Compression,
    ecn: EcnState,
    /// ACKs to be sent now.
    pending: VecDeque<Segment>,
    carried: CarriedOption,
}

impl LinuxReceiver {
    /// A receiver that waits for the SYN.
    pub fn new(profile: &StackProfile, settings: LinuxSettings) -> Self {
        let LinuxSettings { hz, phase, writer, .. } = settings;
        Self {
            profile: *profile,
            clock: Clock::new(hz, phase),
            now: 0,
            jiffies: 0,
            in_timer: false,
            wheel_timer: WheelTimer::default(),
            handshake: Handshake::new(hz.into()),
            rcv_nxt: 0,
            rcv_wup: 0,
            window: profile.receive_window,
            bound: None,
            ts_recent: 0,
            last_oow_ack: None,
            reassembly: Reassembly::new(profile.dsack),
            buffer: Buffer::new(writer.buffer()),
            ack: AckSchedule::default(),
            compression: Compression::default(),
            ecn: EcnState::new(settings.ecn),
            pending: VecDeque::with_capacity(4),
            carried: CarriedOption::default(),
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
        self.rcv_nxt + self.reassembly.ranges.packets()
    }

    /// Whether packet `seq` has arrived.
    pub fn has(&self, seq: u32) -> bool {
        seq < self.rcv_nxt || self.reassembly.ranges.around(seq).is_some()
    }

    /// Turns reporting of duplicates on or off from now on (RFC 2883).
    pub fn set_dsack(&mut self, on: bool) {
        self.reassembly.reports_duplicates = on;
    }

    /// Changes the advertised window: packets beyond the cumulative ACK.
    pub fn set_window(&mut self, window: u32) {
        self.window = window;
    }

    /// The advertised window.
    pub fn window(&self) -> u32 {
        self.window
    }

    /// Lets at most so many packets be under way. Packets held behind a hole are not: they come on top of the bound.
    pub fn set_bound(&mut self, bound: Option<u32>) {
        self.bound = bound;
    }

    /// The bound of what may be under way.
    pub fn bound(&self) -> Option<u32> {
        self.bound
    }

    fn offered(&self) -> u32 {
        let bounded = self.bound.map(|bound| bound.saturating_add(self.reassembly.ranges.packets()));
        bounded.map_or(self.window, |bounded| bounded.min(self.window))
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
        if !self.handshake.complete {
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
            let thrown_away = too_old && arrival == Arrival::New;
            return data.then_some(if thrown_away { Arrival::Refused } else { arrival });
        }
        // `tcp_replace_ts_recent`
        if segment.timestamps.is_some()
            && segment.seq <= self.rcv_wup
            && self.ts_recent.wrapping_sub(stamp) as i32 <= 0
        {
            self.ts_recent = stamp;
        }
        if data {
            if let Some(stamps) = segment.timestamps {
                self.buffer.measure(stamps.echo, self.time_stamp().wrapping_sub(stamps.echo));
            }
            self.accept_cwr(segment);
            self.queue(segment);
        }
        if self.ack.scheduled {
            self.ack_snd_check();
        }
        if self.buffer.unread > 0 {
            self.read();
        }
        data.then_some(arrival)
    }

    /// The application reads what is in order, buffer by buffer, in the same instant (`tcp_recvmsg_locked`).
    fn read(&mut self) {
        self.buffer.adjust(self.now / 1_000, self.buffer.first_unread, self.rcv_nxt);
        self.buffer.unread = 0;
        self.cleanup_rbuf();
    }

    /// An answer to what lies outside the window (`tcp_send_dupack`).
    fn send_dupack(&mut self, data: Option<u32>) {
        if let Some(seq) = data.filter(|&seq| seq < self.rcv_nxt) {
            self.enter_quickack_mode(MAX_QUICKACKS);
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
            let blocks =
                self.reassembly.dsack.take().into_iter().chain(self.reassembly.sacks.iter().copied());
            for (left, right) in blocks.take(self.profile.sack_blocks) {
                sack.push(left, right);
            }
        }
        let ack = self.segment(false, sack);
        self.pending.push_back(ack);
        let window = self.select_window();
        self.buffer.offer(window, self.rcv_nxt - self.rcv_wup);
        self.rcv_wup = self.rcv_nxt;
        self.compression.count = 0;
        self.compression.at = None;
        // `tcp_dec_quickack_mode`
        if self.ack.quick > 0 {
            let one = u32::from(self.ack.scheduled);
            if one >= self.ack.quick {
                self.ack.quick = 0;
                self.ack.ato = self.ato_min();
            } else {
                self.ack.quick -= one;
            }
        }
        self.ack.scheduled = false;
        self.ack.now = false;
        self.ack.pushed = false;
        self.ack.timeout = None;
    }

    fn segment(&self, syn: bool, sack: SackList) -> Segment {
        Segment {
            seq: u32::from(!syn),
            ack: self.rcv_nxt,
            window: self.offered(),
            payload: 0,
            syn,
            push: false,
            has_ack: true,
            detail: Default::default(),
            ecn: self.ecn.says(syn),
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
        // `tcp_compressed_ack_kick` does not look at the clock: its ACK has the time stamp of the last arrival.
        if self.compression.at.is_some_and(|deadline| deadline <= now) {
            self.compression.at = None;
            self.send_compressed();
        }
        self.refresh(now);
        if self.handshake.timer.is_some_and(|deadline| deadline <= now) {
            self.on_syn_ack_timer();
        }
        if self.ack.timer.is_none_or(|deadline| deadline > now) {
            return;
        }
        // `tcp_delack_timer_handler`
        self.ack.timer = None;
        self.in_timer = true;
        if self.compression.count > 0 {
            self.send_compressed();
        } else if let Some(timeout) = self.ack.timeout.take() {
            if timeout > self.jiffies {
                self.set_delack_timer(timeout);
            } else if self.ack.scheduled {
                self.ack.ato = (self.ack.ato * 2).min(self.handshake.rto).min(self.delack_max());
                self.send_ack();
            }
        }
        self.in_timer = false;
    }

    /// When [`Self::on_timer`] wants to be called.
    #[inline]
    pub fn deadline(&self) -> Option<Nanos> {
        match (self.ack.timer.or(self.handshake.timer), self.compression.at) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Where the timer of delayed ACKs lies in the host's wheel; until the handshake is complete, that of the SYN/ACK.
    #[inline]
    pub fn place(&self) -> TimerSlot {
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

    /// `ack` as somebody beside TCP writes it: no stamp is echoed, no block reported. And the bytes that links charge.
    pub fn as_crafted(&self, ack: &Segment) -> (Segment, u32) {
        let timestamps = ack.timestamps.map(|stamps| Timestamps { echo: 0, ..stamps });
        let ack = Segment { timestamps, sack: SackList::default(), ..*ack };
        (ack, charged_header(&self.profile, &ack))
    }

    /// The last ACK as somebody beside TCP writes it: no stamp is echoed, no block reported, and nothing here
    /// changes. And the bytes that links charge for it.
    pub fn plain_ack(&self, now: Nanos) -> (Segment, u32) {
        let value = (self.clock.since_boot(now) / 1_000_000) as u32;
        let timestamps = Some(Timestamps { value, echo: 0 });
        let ack = Segment { timestamps, ecn: Ecn::default(), ..self.segment(false, SackList::default()) };
        (ack, charged_header(&self.profile, &ack))
    }

    /// `ack`, which carries nothing, with `option` if that fits beside its SACK blocks, and the bytes that links charge.
    pub fn beside(&self, ack: &Segment, option: CarriedOption) -> Option<(Segment, u32)> {
        let mut with = *ack;
        self.add_option(&mut with, option);
        (ack.option.is_empty() && with.sack == ack.sack).then(|| (with, charged_header(&self.profile, &with)))
    }

    /// Adds a carried option, in place of the SACK blocks if they do not all fit beside it.
    fn add_option(&self, ack: &mut Segment, option: CarriedOption) {
        ack.option = option;
        if ack.sack.len() > sack_room(&self.profile, ack) {
            ack.sack = SackList::default();
        }
    }
}
