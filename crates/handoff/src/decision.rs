//! Decisions of a scheme and their times: an advisor whose answers are written down.

use crate::clock::Clock;
use crate::group::Group;
use crate::hn_option::Start;
use crate::notice::Notice;
use crate::registry::Scheme;
use segue_policy::Rule;
use segue_tcp::{Advice, Advisor, Nanos, View};

/// The event that a scheme answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occasion {
    /// A handoff has completed.
    Notice(Notice),
    /// A handoff is about to begin.
    Start(Start),
    /// The handoff that was announced is over.
    Finish,
    /// A timer of the scheme has expired.
    Deadline,
    /// An ACK advanced `snd_una`.
    NewAck,
    /// A duplicate ACK.
    DupAck,
    /// A fast retransmit is about to cut the window.
    FastRetransmit,
    /// A mark of congestion is about to cut the window.
    Mark,
    /// The timer has expired.
    Timeout,
    /// An RTT sample of this packet.
    RttSample(u32),
}

/// One answer that asked for something or that a rule is behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The question.
    pub occasion: Occasion,
    /// The sender before the answer.
    pub view: View,
    /// The answer.
    pub advice: Advice,
    /// The rules behind it.
    pub rules: Vec<Rule>,
}

/// A scheme at work. Its answers are the scheme's own; they are written down if somebody asked.
#[derive(Clone, Debug)]
pub struct LoggedScheme {
    scheme: Scheme,
    log: Option<Vec<Decision>>,
}

impl LoggedScheme {
    /// A scheme whose answers nobody writes down.
    pub fn new(scheme: Scheme) -> Self {
        Self { scheme, log: None }
    }

    /// The scheme.
    pub fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    /// Another scheme from now on.
    pub fn replace(&mut self, scheme: Scheme) {
        self.scheme = scheme;
    }

    /// Writes down every answer from now on.
    pub fn keep_log(&mut self) {
        self.log.get_or_insert_default();
    }

    /// Whether answers are written down.
    pub fn keeps_log(&self) -> bool {
        self.log.is_some()
    }

    /// Decisions since the last call.
    pub fn take_log(&mut self) -> Vec<Decision> {
        self.log.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// A handoff has completed.
    pub fn on_notice(&mut self, view: &View, notice: &Notice) -> Advice {
        let advice = self.scheme.on_notice(view, notice);
        self.note(Occasion::Notice(*notice), view, advice)
    }

    /// A handoff is expected, as the segment tells that is about to be processed.
    pub fn expect(&mut self, view: &View, notice: &Notice) {
        self.scheme.expect(view, notice);
    }

    /// A notice has come with the segment that is about to be processed; whether it is answered there.
    pub fn pend(&mut self, view: &View, notice: &Notice) -> bool {
        self.scheme.pend(view, notice)
    }

    /// The flow is about to act, or has acted: what flows of one host tell each other.
    pub fn meet(&mut self, group: &mut Group) {
        self.scheme.meet(group);
    }

    /// The sender's schedule has a handoff that begins at `at`.
    pub fn on_schedule(&mut self, at: Nanos) {
        self.scheme.on_schedule(at);
    }

    /// From `now` on packets go over a link that is reconfigured by this clock, if it is.
    pub fn on_link(&mut self, now: Nanos, clock: Option<Clock>) {
        self.scheme.on_link(now, clock);
    }

    /// A handoff is about to begin.
    pub fn on_start(&mut self, now: Nanos, view: &View, start: &Start) -> Advice {
        let advice = self.scheme.on_start(now, view, start);
        self.note(Occasion::Start(*start), view, advice)
    }

    /// It is over.
    pub fn on_finish(&mut self, view: &View) -> Advice {
        let advice = self.scheme.on_finish(view);
        self.note(Occasion::Finish, view, advice)
    }

    fn note(&mut self, occasion: Occasion, view: &View, advice: Advice) -> Advice {
        if let Some(log) = &mut self.log {
            let rules = self.scheme.applied();
            let heard = matches!(occasion, Occasion::Notice(_) | Occasion::Start(_) | Occasion::Finish);
            if heard || !rules.is_empty() || advice != Advice::default() {
                log.push(Decision { occasion, view: *view, advice, rules });
            }
        }
        advice
    }
}

impl Advisor for LoggedScheme {
    #[inline]
    fn listening(&self) -> bool {
        self.scheme.listening()
    }

    #[inline]
    fn on_dsack(&mut self, left: u32, right: u32) {
        self.scheme.on_dsack(left, right);
    }

    fn on_new_ack(&mut self, view: &View) -> Advice {
        let advice = self.scheme.on_new_ack(view);
        self.note(Occasion::NewAck, view, advice)
    }

    fn on_dup_ack(&mut self, view: &View) -> Advice {
        let advice = self.scheme.on_dup_ack(view);
        self.note(Occasion::DupAck, view, advice)
    }

    fn on_fast_retransmit(&mut self, view: &View) -> Advice {
        let advice = self.scheme.on_fast_retransmit(view);
        self.note(Occasion::FastRetransmit, view, advice)
    }

    fn on_mark(&mut self, view: &View) -> Advice {
        let advice = self.scheme.on_mark(view);
        self.note(Occasion::Mark, view, advice)
    }

    fn on_timeout(&mut self, view: &View) -> Advice {
        let advice = self.scheme.on_timeout(view);
        self.note(Occasion::Timeout, view, advice)
    }

    #[inline]
    fn deadline(&self) -> Option<Nanos> {
        self.scheme.deadline()
    }

    fn on_deadline(&mut self, now: Nanos, view: &View) -> Advice {
        let advice = self.scheme.on_deadline(now, view);
        self.note(Occasion::Deadline, view, advice)
    }

    fn on_rtt_sample(&mut self, view: &View, seq: u32, rtt: Nanos) -> Advice {
        let advice = self.scheme.on_rtt_sample(view, seq, rtt);
        self.note(Occasion::RttSample(seq), view, advice)
    }

    #[inline]
    fn watching(&self) -> bool {
        self.scheme.watching()
    }

    fn on_ack(&mut self, view: &View) -> Advice {
        let occasion = self.scheme.pending().map_or(Occasion::NewAck, Occasion::Notice);
        let advice = self.scheme.on_ack(view);
        self.note(occasion, view, advice)
    }

    fn hides_slow_start(&self, recovers: bool) -> bool {
        self.scheme.hides_slow_start(recovers)
    }

    fn on_undo(&mut self, view: &View, cwnd: u32) -> u32 {
        self.scheme.on_undo(view, cwnd)
    }

    fn on_open(&mut self, view: &View) -> Option<u32> {
        self.scheme.on_open(view)
    }

    fn on_loss(&mut self) {
        self.scheme.on_loss();
    }

    fn on_cut(&mut self, view: &View) -> Advice {
        self.scheme.on_cut(view)
    }

    #[inline]
    fn claims(&self) -> bool {
        self.scheme.claims()
    }

    fn before_sending(&mut self, view: &View) -> Advice {
        self.scheme.before_sending(view)
    }

    fn rto_bound_ms(&self) -> Option<u32> {
        self.scheme.rto_bound_ms()
    }

    fn kept(&self, before: u32, cut: u32, prior_cwnd: u32) -> u32 {
        self.scheme.kept(before, cut, prior_cwnd)
    }
}
