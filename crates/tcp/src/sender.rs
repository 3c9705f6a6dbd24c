//! The sending half of a connection: opens it and sends a stream of full segments.

use crate::Nanos;
use crate::advice::{Advice, Advisor, View};
use crate::congestion::CongestionControl;
use crate::core::{Core, Counters, Forced, TimerKind, charged_header};
use crate::profile::StackProfile;
use crate::recovery::{AnyRecovery, Recovery};
use crate::segment::{CarriedOption, SackList, Segment, Timestamps};

/// Most between two window probes (algorithms.md, 4.5).
const PERSIST_MAX: Nanos = 60_000_000_000;

/// A packet that a sender puts on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// The segment.
    pub segment: Segment,
    /// Bytes that links charge for it.
    pub bytes: u32,
    /// Number of this transmission among all of this sender's, from 0.
    pub copy: u32,
    /// Whether the packet had been sent before.
    pub retransmission: bool,
}

/// The packet that is sent next.
struct Due {
    seq: u32,
    copy: u32,
    retransmission: bool,
    /// It carries no data.
    probe: bool,
}

/// A sender of full segments, sans-IO.
///
/// After each call of [`open`](Self::open), [`on_segment`](Self::on_segment),
/// [`on_timer`](Self::on_timer) or [`enact`](Self::enact) the host drains
/// [`poll_transmit`](Self::poll_transmit) and looks at [`deadline`](Self::deadline).
#[derive(Clone, Debug)]
pub struct Sender<A> {
    core: Core<A>,
    recovery: AnyRecovery,
    /// Rides on the SYN.
    capability: CarriedOption,
}

impl<A: Advisor> Sender<A> {
    /// A closed sender. `clock_phase`: where in its tick the stack's clock stands at time zero.
    pub fn new(profile: &StackProfile, clock_phase: Nanos, advisor: A) -> Self {
        Self {
            core: Core::new(profile, clock_phase, advisor),
            recovery: AnyRecovery::new(profile.recovery),
            capability: CarriedOption::default(),
        }
    }

    /// Lets `option` ride on the SYN.
    pub fn carry_on_syn(&mut self, option: CarriedOption) {
        self.capability = option;
    }

    /// Opens the connection; the application has `packets` full segments to send.
    pub fn open(&mut self, packets: u32) {
        self.core.end = packets.saturating_add(1); // the SYN is packet 0
        self.core.sending = true;
    }

    /// A segment has arrived.
    pub fn on_segment(&mut self, now: Nanos, segment: &Segment) {
        // RFC 9293, 3.10.7.3 and 3.10.7.4: not even the SYN, or something not yet sent. Single octets do not count here.
        if !segment.has_ack || segment.has_octet() || segment.ack == 0 || segment.ack > self.core.snd_max {
            return;
        }
        let core = &mut self.core;
        if let Some(stamps) = segment.timestamps
            && stamps.is_not_before(core.ts_recent)
        {
            core.ts_recent = stamps.value;
        }
        if segment.ack >= core.snd_una {
            core.rwnd = segment.window;
        }
        if let Some((left, right)) = segment.sack.dsack(segment.ack) {
            core.advisor.on_dsack(left, right);
        }
        // As in BSD, duplicate ACKs mean nothing while the retransmission timer does not run.
        let frozen = core.is_frozen();
        if frozen && core.rwnd > 0 {
            // The window is open: on from `snd_una`, with the cwnd of before.
            core.rto.clear_backoff();
            core.timer_kind = TimerKind::Retransmission;
            core.timer = None; // the first packet starts it
        }
        // Only an ACK without news of its own may be a duplicate; a notice is not (docs/reference/wire.md).
        let counts = segment.option.is_empty() && !frozen;
        if core.suspended {
            return self.acknowledge_alone(now, segment);
        }
        self.recovery.on_ack(core, now, segment, counts);
        self.watch_window(now);
    }

    /// An ACK while advice has suspended the rest of TCP: the scoreboard hears it, the window does not.
    #[cold]
    fn acknowledge_alone(&mut self, now: Nanos, segment: &Segment) {
        let core = &mut self.core;
        let congestion = core.congestion.clone();
        self.recovery.on_ack(core, now, segment, false);
        core.congestion = congestion;
        core.forced = None;
        core.timer = None;
        core.sending = false;
    }

    /// Starts or ends the persist timer (RFC 9293, 3.8.6.1).
    #[inline]
    fn watch_window(&mut self, now: Nanos) {
        let core = &mut self.core;
        let outstanding = core.flight() > 0;
        if outstanding && (core.rwnd > 0 || !core.profile.persist_with_outstanding) {
            return;
        }
        let closed = core.rwnd == 0 && (outstanding || core.snd_nxt < core.end);
        match (closed, core.timer_kind) {
            (true, TimerKind::Retransmission) => core.start_persist(now),
            // The ACK of all that was outstanding has stopped it.
            (true, TimerKind::Persist) if core.timer.is_none() => core.start_persist(now),
            // Nor does a partial ACK send anything into a closed window.
            (true, TimerKind::Persist) => core.forced = None,
            (false, TimerKind::Persist) => {
                core.rto.clear_backoff();
                core.timer_kind = TimerKind::Retransmission;
                core.timer = None;
                core.sending = true;
            }
            (false, TimerKind::Retransmission) if core.snd_nxt >= core.end => core.timer = None,
            _ => {}
        }
    }

    /// The clock has reached [`Self::deadline`]. Says whether the retransmission timer expired.
    pub fn on_timer(&mut self, now: Nanos) -> bool {
        let core = &mut self.core;
        if core.advisor.deadline().is_some_and(|deadline| deadline <= now) {
            let view = core.view(self.recovery.in_fast_recovery());
            let advice = core.advisor.on_deadline(now, &view);
            core.enact(&advice, now);
            if advice.resume {
                self.watch_window(now);
            }
        }
        let core = &mut self.core;
        if core.timer.is_none_or(|deadline| deadline > now) {
            return false;
        }
        if core.timer_kind == TimerKind::Persist {
            core.rto.back_off_probe();
            core.timer = Some(now + core.rto.rto().min(PERSIST_MAX));
            core.forced = Some(Forced::Probe);
            return false;
        }
        if core.flight() == 0 {
            core.timer = None;
            return false;
        }
        core.counters.timeouts += 1;
        core.snd_nxt = core.snd_una;
        self.recovery.on_timeout(core);
        core.cut_after_timeout(now);
        core.rto.back_off();
        core.timed = None;
        core.start_timer(now);
        if core.snd_una == 0 {
            core.profile.initial_window = 1; // the SYN was lost (RFC 5681, 3.1)
        }
        core.holding = false;
        core.sending = true;
        if core.rwnd == 0 {
            // The retransmission probes the window, too (RFC 9293, 3.8.6.1): if it has opened
            // unheard, nothing else would ever find out.
            core.forced = Some(Forced::Head);
        }
        true
    }

    /// When [`Self::on_timer`] wants to be called.
    #[inline]
    pub fn deadline(&self) -> Option<Nanos> {
        match (self.core.timer, self.core.advisor.deadline()) {
            (Some(own), Some(advisor)) => Some(own.min(advisor)),
            (own, advisor) => own.or(advisor),
        }
    }

    /// Advice from outside, such as a handoff scheme's answer to a notice.
    pub fn enact(&mut self, now: Nanos, advice: &Advice) {
        let core = &mut self.core;
        if advice.retransmit_head && core.rto_recovery.is_some() && core.flight() > 0 {
            // Packets sent since the expiry shared the head's fate: go on from there, as an expiry does.
            core.snd_nxt = core.snd_una;
            self.recovery.on_timeout(core);
        }
        self.core.enact(advice, now);
        if advice.room_for_one {
            let least = (self.recovery.in_flight(&self.core) + 1).saturating_mul(256);
            if self.core.congestion.cwnd() < least {
                self.core.congestion.set_window(Some(least), None);
            }
        }
        self.core.sending = !self.core.suspended;
        if advice.resume {
            self.watch_window(now);
        }
    }

    /// The next packet to put on the wire now.
    #[inline(always)] // the packet is made where it will lie
    pub fn poll_transmit(&mut self, now: Nanos) -> Option<Transmit> {
        let due = self.next_due(now)?;
        Some(self.packet(now, due))
    }

    /// Sends packet `seq` now, whatever window and recovery say: for who has [suspended](Advice::suspend) them. `None`: the
    /// application or the receiver's window has no such packet.
    pub fn send(&mut self, now: Nanos, seq: u32) -> Option<Transmit> {
        let core = &mut self.core;
        if seq < core.snd_una || seq > core.snd_max || seq >= core.end.min(core.snd_una + core.rwnd) {
            return None;
        }
        let retransmission = seq < core.snd_max;
        if retransmission {
            core.timed = core.timed.filter(|&(timed, _)| timed < seq); // Karn
        }
        let copy = core.note_transmission(now, seq);
        core.snd_nxt = core.snd_max;
        Some(self.packet(now, Due { seq, copy, retransmission, probe: false }))
    }

    /// The same, given to `put`, which is called apart for the SYN: its option would have every packet lie in memory.
    #[inline(always)] // the packet is made where it will lie
    pub fn transmit_with<R>(&mut self, now: Nanos, put: impl FnOnce(Transmit) -> R) -> Option<R> {
        let due = self.next_due(now)?;
        Some(match due.seq == 0 && !due.probe {
            true => self.put_syn(now, due, put),
            false => put(self.packet_of(now, due, false)),
        })
    }

    #[cold]
    #[inline(never)]
    fn put_syn<R>(&self, now: Nanos, due: Due, put: impl FnOnce(Transmit) -> R) -> R {
        put(self.packet_of(now, due, true))
    }

    #[inline(always)]
    fn packet(&self, now: Nanos, due: Due) -> Transmit {
        let syn = due.seq == 0 && !due.probe;
        self.packet_of(now, due, syn)
    }

    #[inline(always)]
    fn packet_of(&self, now: Nanos, due: Due, syn: bool) -> Transmit {
        let Due { seq, copy, retransmission, probe } = due;
        let payload = if syn || probe { 0 } else { self.core.profile.mss };
        let segment = self.segment(now, seq, payload, syn);
        let bytes = charged_header(&self.core.profile, &segment);
        Transmit { segment, bytes, copy, retransmission }
    }

    /// Chooses the packet to be sent now and notes that it is sent.
    #[inline(always)]
    fn next_due(&mut self, now: Nanos) -> Option<Due> {
        let core = &mut self.core;
        let watched = core.congestion.watches_use();
        let starts = watched && self.recovery.in_flight(core) == 0;
        let seq = match core.forced {
            None => None,
            Some(Forced::Probe) => {
                core.forced = None;
                // No data, a number below the window, so that it must be acknowledged.
                let (seq, copy) = (core.snd_una - 1, core.next_copy());
                return Some(Due { seq, copy, retransmission: false, probe: true });
            }
            Some(_) => core.take_forced(),
        };
        let seq = match seq {
            Some(seq) => {
                self.recovery.on_forced(core, seq);
                seq
            }
            None if core.sending => match self.recovery.next(core) {
                Some(seq) => seq,
                None => {
                    core.sending = false;
                    if watched {
                        core.note_usage(self.recovery.in_flight(core));
                    }
                    return None;
                }
            },
            None => return None,
        };
        if starts {
            core.note_start(now);
        }
        core.snd_nxt = core.snd_nxt.max(seq + 1);
        let retransmission = seq < core.snd_max;
        let copy = core.note_transmission(now, seq);
        Some(Due { seq, copy, retransmission, probe: false })
    }

    #[inline(always)]
    fn segment(&self, now: Nanos, seq: u32, payload: u16, syn: bool) -> Segment {
        let core = &self.core;
        let timestamps = core.profile.rtt.stamp().map(|tick| {
            // Zero means "no echo" (RFC 7323, 3.2), so the clock starts at one.
            Timestamps { value: ((now / tick) as u32).max(1), echo: core.ts_recent }
        });
        Segment {
            seq,
            ack: u32::from(!syn),
            window: core.profile.receive_window,
            payload,
            syn,
            push: false,
            has_ack: !syn,
            detail: Default::default(),
            ecn: Default::default(),
            sack: SackList::default(),
            timestamps,
            option: if syn { self.capability } else { CarriedOption::default() },
        }
    }

    /// The advisor.
    pub fn advisor(&mut self) -> &mut A {
        &mut self.core.advisor
    }

    /// The stack.
    pub fn profile(&self) -> &StackProfile {
        &self.core.profile
    }

    /// The sender as an advisor sees it.
    pub fn view(&self) -> View {
        self.core.view(self.recovery.in_fast_recovery())
    }

    /// Events so far.
    #[inline]
    pub fn counters(&self) -> Counters {
        self.core.counters
    }

    /// First unacknowledged packet.
    #[inline]
    pub fn snd_una(&self) -> u32 {
        self.core.snd_una
    }

    /// One beyond the highest packet ever sent.
    #[inline]
    pub fn snd_max(&self) -> u32 {
        self.core.snd_max
    }

    /// Copy number of the last transmission of `snd_una`.
    pub fn head_copy(&self) -> u32 {
        self.core.last_copy(self.core.snd_una)
    }

    /// When an outstanding packet was sent last, to the microsecond.
    pub fn sent_at(&self, now: Nanos, seq: u32) -> Nanos {
        self.core.sent_at(now, seq)
    }

    /// Whether a SACK block has reported an outstanding packet.
    pub fn is_sacked(&self, seq: u32) -> bool {
        self.recovery.is_sacked(seq)
    }

    /// Shortest round trip so far.
    pub fn min_rtt(&self) -> Option<Nanos> {
        self.core.min_rtt()
    }

    /// Whether application and receiver have room for one more new packet.
    pub fn has_new(&self) -> bool {
        self.core.snd_max < self.core.end.min(self.core.snd_una + self.core.rwnd)
    }

    /// Whether the connection is established: its SYN is acknowledged.
    pub fn is_established(&self) -> bool {
        self.core.snd_una > 0
    }

    /// Whether data is outstanding or waits to be sent.
    pub fn has_data(&self) -> bool {
        self.core.snd_una < self.core.end
    }

    /// Whether there is data that has not been sent, or is to be sent again from `snd_una` on.
    pub fn has_unsent_data(&self) -> bool {
        self.core.snd_nxt < self.core.end
    }

    /// Packets that recovery holds against the window.
    pub fn in_flight(&self) -> u32 {
        self.recovery.in_flight(&self.core)
    }

    /// Packets under way as the scoreboard's counters have it, and as RFC 6675's SetPipe() counts it
    /// packet by packet; for tests. `None` with other recovery rules.
    pub fn pipes(&self) -> Option<(u32, u32)> {
        self.recovery.pipes(self.core.snd_max)
    }

    /// In RTO recovery.
    pub fn in_rto_recovery(&self) -> bool {
        self.core.rto_recovery.is_some()
    }

    /// Smoothed round-trip time, RTO and its floor, ns.
    pub fn timing(&self) -> (Option<Nanos>, Nanos, Nanos) {
        (self.core.rto.srtt(), self.core.rto.rto(), self.core.rto.min())
    }

    /// cwnd in whole packets.
    pub fn window(&self) -> u32 {
        self.core.congestion.window()
    }
}
