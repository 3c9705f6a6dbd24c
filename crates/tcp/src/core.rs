//! The state that every sender has, whatever its loss recovery: sequence numbers, window, timer and
//! round-trip timing.

mod advice;
mod usage;

use self::usage::Usage;
use crate::advice::Advisor;
use crate::congestion::{Ack, AnyControl, CongestionControl, State};
use crate::profile::{BARE_HEADERS, HeaderSize, NS2_STAMP, NS2_STAMP_BYTES, RttSampling, StackProfile};
use crate::rto::RtoEstimator;
use crate::segment::{CarriedOption, Segment};
use crate::{Nanos, encode};

/// A packet that must be sent before any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Forced {
    /// `snd_una`.
    Head,
    /// The next new packet, if the receiver's window has room.
    New,
    /// The next new packet, whatever the window.
    Beyond,
    /// A window probe.
    Probe,
}

/// Meaning of the timer's expiry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimerKind {
    Retransmission,
    /// RFC 9293, 3.8.6.1: the receiver's window is closed and nothing is outstanding, or the stack
    /// [forgets what is](StackProfile::persist_with_outstanding).
    Persist,
}

/// Events a sender has counted since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Expiries of the retransmission timer.
    pub timeouts: u32,
    /// Entries into fast recovery.
    pub fast_retransmits: u32,
    /// Packets sent again.
    pub retransmissions: u32,
    /// Packets sent, window probes among them.
    pub transmissions: u32,
}

/// The last transmission of a packet.
#[derive(Clone, Copy, Debug, Default)]
struct LastCopy {
    /// Its number.
    number: u32,
    /// When, in 1024 ns of a clock of 32 bits.
    at: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Core<A> {
    pub profile: StackProfile,
    /// First unacknowledged packet.
    pub snd_una: u32,
    /// Next packet to send; falls back after a timeout.
    pub snd_nxt: u32,
    /// One beyond the highest packet ever sent.
    pub snd_max: u32,
    /// One beyond the last packet that the application has.
    pub end: u32,
    /// Packets the receiver can take from `snd_una` on.
    pub rwnd: u32,
    pub congestion: AnyControl,
    pub rto: RtoEstimator,
    /// Deadline of the timer.
    pub timer: Option<Nanos>,
    pub timer_kind: TimerKind,
    /// When it was last started.
    pub timer_started: Nanos,
    pub dup_acks: u32,
    pub forced: Option<Forced>,
    /// The last event allows sending as far as the window reaches.
    pub sending: bool,
    /// Advice forbids the retransmission of SACK holes.
    pub holding: bool,
    /// Advice has stopped timers, window and sending.
    pub suspended: bool,
    /// The packet being timed and when it was sent.
    pub timed: Option<(u32, Nanos)>,
    /// RTO recovery lasts until `snd_una` reaches this.
    pub rto_recovery: Option<u32>,
    /// Expiries since `snd_una` advanced.
    pub expiries: u32,
    /// ssthresh after the first of them (algorithms.md, 2.4), 1/256 packet.
    pub ssthresh_saved: u32,
    /// SRTT at the first of them (algorithms.md, 4.3); 0 = none.
    pub srtt_before: Nanos,
    /// The last transmission of each outstanding packet, by `seq & mask`.
    copies: Vec<LastCopy>,
    pub counters: Counters,
    /// Round trip that the last ACK measured which advanced `snd_una`.
    rtt: Option<Nanos>,
    /// Shortest of all.
    min_rtt: Option<Nanos>,
    /// Packets that ACKs have reported, cumulatively or by SACK.
    delivered: u32,
    /// Round trips so far; the present one ends when `snd_una` goes beyond `round_end`.
    round: u32,
    round_end: u32,
    usage: Usage,
    /// When the last packet was sent.
    last_sent: Nanos,
    /// Last time stamp received (RFC 7323).
    pub ts_recent: u32,
    pub advisor: A,
}

impl<A: Advisor> Core<A> {
    pub fn new(profile: &StackProfile, clock_phase: Nanos, advisor: A) -> Self {
        Self {
            profile: *profile,
            snd_una: 0,
            snd_nxt: 0,
            snd_max: 0,
            end: 0,
            rwnd: profile.receive_window,
            congestion: AnyControl::new(profile.congestion, &profile.start()),
            rto: RtoEstimator::new(profile.rto, clock_phase),
            timer: None,
            timer_kind: TimerKind::Retransmission,
            timer_started: 0,
            dup_acks: 0,
            forced: None,
            sending: false,
            holding: false,
            suspended: false,
            timed: None,
            rto_recovery: None,
            expiries: 0,
            ssthresh_saved: 0,
            srtt_before: 0,
            copies: vec![LastCopy::default(); 64],
            counters: Counters::default(),
            rtt: None,
            min_rtt: None,
            delivered: 0,
            round: 0,
            round_end: 0,
            usage: Usage::default(),
            last_sent: 0,
            ts_recent: 0,
            advisor,
        }
    }

    /// Packets outstanding: sent and not cumulatively acknowledged.
    #[inline]
    pub fn flight(&self) -> u32 {
        self.snd_max - self.snd_una
    }

    /// (Re)starts the retransmission timer.
    #[inline]
    pub fn start_timer(&mut self, now: Nanos) {
        if self.suspended {
            return;
        }
        self.timer_kind = TimerKind::Retransmission;
        self.timer_started = now;
        self.timer = Some(now + self.rto.rto());
    }

    /// Starts the persist timer, whose first interval is an RTO without back-off. Where something is outstanding it
    /// stands in for the retransmission timer. cwnd, ssthresh and SRTT wait as they are, and all from `snd_una` on is
    /// to be sent again (BSD's `tcp_output`, "window shrank").
    pub fn start_persist(&mut self, now: Nanos) {
        if self.flight() > 0 {
            self.rto.clear_backoff();
            self.snd_nxt = self.snd_una;
            self.timed = None; // it will be sent twice (Karn)
            self.dup_acks = 0;
            self.forced = None;
        }
        self.start_timer(now);
        self.timer_kind = TimerKind::Persist;
    }

    /// Whether the persist timer runs in place of the retransmission timer.
    #[inline]
    pub fn is_frozen(&self) -> bool {
        self.timer_kind == TimerKind::Persist && self.flight() > 0
    }

    /// The cumulative ACK has moved to `ack`: what every stack does then, advice and RTT sample.
    #[inline]
    pub fn advance(&mut self, now: Nanos, ack: &Segment, in_fast_recovery: bool) {
        let opening = self.snd_una == 0;
        self.move_una(now, ack, in_fast_recovery);
        self.sample_rtt(now, ack, in_fast_recovery);
        if opening && self.counters.timeouts > 0 {
            self.rto.on_established_after_timeout();
        }
    }

    /// The same without an RTT sample (ns-2 takes none from partial ACKs).
    #[inline]
    pub fn move_una(&mut self, now: Nanos, ack: &Segment, in_fast_recovery: bool) {
        self.snd_una = ack.ack;
        self.rtt = None;
        self.expiries = 0;
        self.srtt_before = 0;
        if self.rto_recovery.is_some_and(|end| self.snd_una >= end) {
            self.rto_recovery = None;
            self.ssthresh_saved = 0;
        }
        if self.advisor.listening() {
            let view = self.view(in_fast_recovery);
            let advice = self.advisor.on_new_ack(&view);
            self.enact(&advice, now);
        }
    }

    /// RFC 6298, section 3 (Karn), or RFC 7323, section 4.1; ns-2's `newack`.
    #[inline]
    fn sample_rtt(&mut self, now: Nanos, ack: &Segment, in_fast_recovery: bool) {
        let stamped = |tick: Nanos| {
            let echo = ack.timestamps.map(|stamps| stamps.echo).filter(|echo| *echo != 0)?;
            // A clock of 32 bits goes round.
            let passed = ((now / tick) as u32).wrapping_sub(echo);
            // One that is ahead of it has been sent now: the stamp of time zero is 1.
            let sent = (now / tick).saturating_sub(passed.into()) * tick;
            let sent = if passed > u32::MAX / 2 { now } else { sent };
            Some((ack.ack - 1, sent))
        };
        let timed = self.timed.filter(|(seq, _)| ack.ack > *seq);
        let (sample, ends_backoff) = match self.profile.rtt {
            RttSampling::OneAtATime => (timed, true),
            RttSampling::Timestamps(tick) => (stamped(tick), true),
            RttSampling::Ns2Timestamps => (stamped(NS2_STAMP), timed.is_some()),
        };
        if timed.is_some() && !matches!(self.profile.rtt, RttSampling::Timestamps(_)) {
            self.timed = None;
        }
        let Some((seq, sent)) = sample else { return };
        let sent = sent.min(now);
        if self.advisor.listening() {
            let view = self.view(in_fast_recovery);
            let advice = self.advisor.on_rtt_sample(&view, seq, now - sent);
            self.enact(&advice, now);
            if advice.ignore_sample {
                return;
            }
        }
        // Only a sample that counts ends the back-off (Karn; RFC 6298, section 5).
        if ends_backoff {
            self.rto.clear_backoff();
        }
        match self.profile.rtt {
            RttSampling::Ns2Timestamps => self.rto.on_stamp(now - sent),
            _ => self.rto.on_sample(sent, now),
        }
        let rtt = now - sent;
        self.rtt = Some(rtt);
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |min| min.min(rtt)));
    }

    /// The SYN is acknowledged.
    pub fn establish(&mut self) {
        self.delivered = self.snd_una;
        self.congestion.on_established(self.profile.initial_window, self.rtt);
    }

    /// Tells the congestion control of an ACK. `acked` packets are newly acknowledged; `sacked` are held beyond.
    #[inline]
    pub fn report_ack(&mut self, now: Nanos, acked: u32, sacked: u32, in_fast_recovery: bool) {
        // A receiver that drops what it had reported (RFC 2018, section 8) delivers it again, not anew.
        let delivered = self.delivered.max(self.snd_una + sacked);
        let newly_delivered = delivered - self.delivered;
        self.delivered = delivered;
        if self.snd_una > self.round_end {
            self.round += 1;
            self.round_end = self.snd_max;
        }
        let cwnd_limited = self.is_cwnd_limited();
        let ack = Ack {
            now,
            acked,
            newly_delivered,
            delivered,
            rtt: if acked > 0 { self.rtt } else { None },
            min_rtt: self.min_rtt,
            flight: self.flight(),
            round: self.round,
            cwnd_limited,
            app_limited: self.snd_nxt >= self.end && !cwnd_limited,
            state: match self.rto_recovery {
                _ if in_fast_recovery => State::Recovery,
                Some(_) => State::Loss,
                None => State::Open,
            },
        };
        self.congestion.on_ack(&ack);
    }

    /// Copy number of the last transmission of an outstanding packet.
    pub fn last_copy(&self, seq: u32) -> u32 {
        self.copies[seq as usize & (self.copies.len() - 1)].number
    }

    /// When an outstanding packet was sent last, in units of 1024 ns; less than 73 minutes before `now`.
    pub fn sent_at(&self, now: Nanos, seq: u32) -> Nanos {
        let at = self.copies[seq as usize & (self.copies.len() - 1)].at;
        let units = now >> 10;
        units.saturating_sub(Nanos::from((units as u32).wrapping_sub(at))) << 10
    }

    /// Shortest round trip of the connection.
    pub fn min_rtt(&self) -> Option<Nanos> {
        self.min_rtt
    }

    /// The number of the transmission that is due.
    #[inline]
    pub fn next_copy(&mut self) -> u32 {
        self.counters.transmissions += 1;
        self.counters.transmissions - 1
    }

    /// A packet is about to be sent with nothing in flight.
    #[inline]
    pub fn note_start(&mut self, now: Nanos) {
        self.congestion.on_start(now, now - self.last_sent);
    }

    /// Notes that `seq` is being sent and returns the number of this copy.
    #[inline]
    pub fn note_transmission(&mut self, now: Nanos, seq: u32) -> u32 {
        let copy = self.next_copy();
        self.usage.sent = true;
        self.last_sent = now;
        let nothing_outstanding = self.snd_una == self.snd_max;
        if seq >= self.snd_max {
            self.snd_max = seq + 1;
            if self.flight() as usize > self.copies.len() {
                self.grow_copies();
            }
            if self.timed.is_none() {
                self.timed = Some((seq, now));
            }
        } else {
            self.counters.retransmissions += 1;
        }
        let mask = self.copies.len() - 1;
        self.copies[seq as usize & mask] = LastCopy { number: copy, at: (now >> 10) as u32 };
        if self.timer.is_none() || nothing_outstanding {
            self.start_timer(now);
        }
        copy
    }

    #[cold]
    fn grow_copies(&mut self) {
        let old = std::mem::take(&mut self.copies);
        self.copies = vec![LastCopy::default(); old.len() * 2];
        let (old_mask, mask) = (old.len() - 1, self.copies.len() - 1);
        for seq in self.snd_una..self.snd_max {
            self.copies[seq as usize & mask] = old[seq as usize & old_mask];
        }
    }

    /// The packet that must be sent before any other, if it may be sent.
    #[cold]
    pub fn take_forced(&mut self) -> Option<u32> {
        let new = self.snd_nxt.max(self.snd_una);
        match self.forced.take()? {
            Forced::Head => Some(self.snd_una),
            Forced::New => self.may_send_new().then_some(new),
            Forced::Beyond => (self.snd_nxt < self.end).then_some(new),
            Forced::Probe => None, // it is no packet
        }
    }

    /// Whether new data may be sent as far as the receiver and the application are concerned.
    #[inline]
    pub fn may_send_new(&self) -> bool {
        self.snd_nxt < self.end && self.snd_nxt < self.snd_una + self.rwnd
    }
}

/// Bytes that links charge for a segment (its headers, options and payload). As in ns-2, options that a kernel carries
/// for us are free. Until the handoff, which all schemes share, packets are those of the kernel alone.
#[inline(always)]
pub(crate) fn charged_header(profile: &StackProfile, segment: &Segment) -> u32 {
    let options = match profile.header {
        HeaderSize::Ns2 => {
            let stamped = segment.timestamps.is_some() && segment.payload > 0;
            8 * segment.sack.len() as u32 + if stamped { NS2_STAMP_BYTES } else { 0 }
        }
        HeaderSize::Encoded if profile.kernel.is_some() && !segment.option.is_empty() => {
            encode::options_len(profile, &Segment { option: CarriedOption::default(), ..*segment }) as u32
        }
        HeaderSize::Encoded => encode::options_len(profile, segment) as u32,
    };
    BARE_HEADERS + options + u32::from(segment.payload)
}
