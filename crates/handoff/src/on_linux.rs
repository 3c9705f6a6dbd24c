//! Programs of a sender on Linux (bpf/sender/) and their work at a notice beside asking the policy. They decide how far
//! it is believed, what leaves at once, and the trial of what it has granted. They also guard against the kernel's own
//! undo. The bounds are those of `policy/grant.h` and `policy/base_rtt.h`, which the programs compile, too.
//!
//! Only on stacks that are a kernel's: others tell nothing of what a trial counts.
//!
//! Source: bpf/sender/react.h, enact.h, trial.h, events.h; docs/internals/kernel.md.

mod advisor;
mod claim;

pub(crate) use advisor::{follows_programs, hears_notices, tells_programs};

use crate::group::{Group, Member, Part};
use crate::kernel::{micros, on_linux, sender};
use crate::notice::Notice;
use segue_policy::{Action, Grant, Link, PACKET, Sender, What, believe, grant, window_before};
use segue_tcp::advice::{Anew, KernelAdvice, KernelView, Pace};
use segue_tcp::linux::cc::INFINITE_SSTHRESH;
use segue_tcp::{Advice, Nanos, View};

const MS: Nanos = 1_000_000;

/// A policy's answer to a notice about the path, and the window that the link alone holds, 1/256 packet, if it
/// computes one.
pub(crate) trait Decides {
    /// `path`: the notice with what lies beyond the link; `link`: as it came.
    fn decide(&mut self, tcp: &Sender, path: &Notice, link: &Notice) -> (Action, Option<u32>);

    /// The stack is about to cut its window for a fast retransmit.
    fn at_fast_retransmit(&mut self, tcp: &Sender) -> Action;

    /// A handoff without an outage is expected.
    fn at_expected(&mut self, _tcp: &Sender, _link: &Notice) -> Action {
        Action::NOTHING
    }
}

/// A connection's part of `struct segue_connection`.
#[derive(Clone, Debug, Default)]
pub(crate) struct OnLinux {
    /// On the segment that is being processed.
    pending: Option<Notice>,
    /// The same of a handoff that is expected.
    expected: Option<Notice>,
    /// Packets: the window after an outage, and the segment at which it was granted; none: outside any.
    resumed: u32,
    resumed_at: Option<Nanos>,
    /// The two packets of a loss probe have just left (policy/grant.h).
    loss_probe: bool,
    /// No cut has come since.
    awaits_loss: bool,
    guard: u32,
    guard_seq: u32,
    guard_rounds: u32,
    trial: Option<Trial>,
    /// The trial is of a window that was raised without an outage.
    raised: bool,
    /// When such a window was refuted, unless another notice has been accepted since.
    refuted_at: Option<Nanos>,
    /// A claim lasts.
    claims: bool,
    /// Not yet a claim: a handoff is expected, and the pace alone is the policy's.
    expects: bool,
    /// The link that it is of, and the flow's part of its group.
    claimed_link: Link,
    part: Part,
    /// More than a packet waits to be sent.
    has_backlog: bool,
    member: Member,
    /// The timer has expired, and no ACK has come since.
    expired: bool,
    /// The answer to the present ACK requests an ICMP (RFC 6069), which makes the timer expire.
    icmp_requested: bool,
    /// Packets: a notice raises the window no further; 0: nothing is known.
    proven: u32,
    /// The last notice's rate as far as it is this flow's, and when that came; 0: not to be checked.
    notified_kbps: u32,
    notified_at: Nanos,
    /// A notice has been accepted.
    notified: bool,
    /// The RTO is to be bounded once that is safe; it is; by so much, ms.
    bounds_rto: bool,
    rto_is_bounded: bool,
    rto_bound_ms: u32,
    /// The rules behind the last answer, as bits.
    pub(crate) applied: u32,
}

#[derive(Clone, Copy, Debug)]
struct Trial {
    rounds: u32,
    since: Nanos,
    seq: u32,
    lost: u32,
    delivered: u32,
    allowed: u32,
    /// The window that the notice found.
    before: u32,
}

impl Trial {
    /// The window that it has found.
    fn found(&self, view: &View, tp: &KernelView) -> u32 {
        let arrived = tp.delivered.wrapping_sub(self.delivered);
        grant::delivered_window(arrived, micros(view.srtt), micros(tp.now - self.since))
    }
}

/// `segue_now_ms`.
fn millis(now: Nanos) -> u32 {
    (now / MS) as u32
}

/// `segue_whole_packets`: rounded; a window beyond 32 bits stands for the initial ssthresh of Linux.
fn whole_packets(window: u32) -> u32 {
    match window {
        u32::MAX => INFINITE_SSTHRESH,
        _ => window / PACKET + u32::from(window % PACKET >= PACKET / 2),
    }
}

/// A window of so many packets as advice has it.
fn window(packets: u32) -> u32 {
    packets.saturating_mul(PACKET)
}

/// `TCP_CA_Recovery` or beyond.
fn recovers(view: &View) -> bool {
    view.in_fast_recovery || view.in_rto_recovery
}

fn before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

impl OnLinux {
    /// A notice has come with the segment that is about to be processed.
    pub fn pend(&mut self, view: &View, notice: &Notice) -> bool {
        if view.kernel.is_some() {
            self.pending = Some(*notice);
        }
        view.kernel.is_some()
    }

    /// A handoff is expected, as the segment tells that is about to be processed.
    pub fn expect(&mut self, view: &View, notice: &Notice) {
        if view.kernel.is_some() {
            self.expected = Some(*notice);
        }
    }

    /// The notice that is to be answered.
    pub fn pending(&self) -> Option<Notice> {
        self.pending
    }

    /// Other flows learn how far this one is behind, and it learns how far they are. A flow that could not use its share
    /// is in no group.
    pub fn meet(&mut self, group: &mut Group) {
        let sends = self.has_claim() && self.has_backlog && !self.expired;
        self.member.meet(group, sends.then_some((self.claimed_link, self.part)));
    }

    /// Whether ACKs and undos are to be told.
    #[inline]
    pub fn is_watching(&self) -> bool {
        self.guard_rounds > 0
            || self.trial.is_some()
            || self.pending.is_some()
            || self.expected.is_some()
            || self.notified_kbps > 0
            || self.resumed > 0
            || self.bounds_rto
            || self.rto_is_bounded
            || self.claims
            || self.loss_probe
    }

    /// `segue_on_ack`: an ACK, as far as the policy is not told of it.
    pub fn on_ack(&mut self, view: &View, policy: &mut impl Decides) -> Advice {
        let Some(tp) = view.kernel else { return Advice::default() };
        self.icmp_requested = false;
        let advice = self.answer(view, tp, policy);
        self.look_at_rto(view, &tp);
        self.expired = false;
        advice
    }

    fn answer(&mut self, view: &View, mut tp: KernelView, policy: &mut impl Decides) -> Advice {
        let found = tp.ssthresh;
        self.applied = 0;
        self.awaits_loss &= !recovers(view);
        let back = std::mem::take(&mut self.loss_probe).then(|| {
            grant::window_after_loss_probe(tp.cwnd, if self.guard_rounds > 0 { self.guard } else { 0 })
        });
        tp.cwnd = back.unwrap_or(tp.cwnd);
        if self.guard_rounds > 0 {
            self.guard_on_ack(view, &mut tp);
        } else if self.notified_kbps > 0 && !self.has_claim() {
            self.check_rate(view, &mut tp);
        }
        if let Some((notice, lately)) =
            self.pending.take().and_then(|notice| self.consumed(view, &tp, notice))
        {
            let view = View { ssthresh: window(tp.ssthresh), kernel: Some(tp), ..*view };
            let guarded = (tp.ssthresh != found).then(|| window(tp.ssthresh));
            let advice = self.respond(&view, &notice, lately, policy);
            self.resumed_at = (self.resumed > 0).then_some(tp.now);
            let cwnd = advice.cwnd.or(back.map(window));
            return Advice { cwnd, ssthresh: advice.ssthresh.or(guarded), ..advice };
        }
        // A trial goes on: it is no notice.
        let expected = self.expected.take();
        let kernel = expected.map(|notice| self.on_expected(view, &notice, policy)).unwrap_or_default();
        let before = self.before_raise();
        if let Some(left) = self.trial_on_ack(view, &tp) {
            tp.ssthresh = tp.ssthresh.min(left);
            self.start_guard(view, tp.ssthresh);
            let paced = if self.raised { self.guard } else { self.proven };
            return Advice {
                cwnd: Some(window(tp.cwnd.min(left))),
                ssthresh: Some(window(tp.ssthresh)),
                kernel: KernelAdvice { anew: Some(Anew::Retreat { found: paced, before }), ..kernel },
                ..Advice::default()
            };
        }
        let ssthresh = (tp.ssthresh != found).then(|| window(tp.ssthresh));
        Advice { cwnd: back.map(window), ssthresh, kernel, ..Advice::default() }
    }

    /// `segue_consume`: whether it comes too soon, and whether there was an outage, which the option does not tell. Also
    /// whether another notice came less than ten seconds before.
    fn consumed(&self, view: &View, tp: &KernelView, notice: Notice) -> Option<(Notice, bool)> {
        if self.notified && tp.now - self.notified_at < grant::NOTICES_APART_MS * MS {
            return None;
        }
        let silence = micros(tp.now - tp.quiet_since);
        let disconnected = grant::was_silent(silence, micros(view.srtt), &notice.new_link);
        let since = millis(tp.now).wrapping_sub(millis(self.notified_at));
        let lately = grant::notified_lately(disconnected, self.notified, since);
        Some((Notice { disconnected: disconnected.into(), ..notice }, lately))
    }

    /// A notice that came with no segment: the sender's own host gives it, which does not lie to itself
    /// (bpf/sender/events.h).
    pub fn on_notice(&mut self, view: &View, notice: &Notice, policy: &mut impl Decides) -> Advice {
        self.respond(view, notice, false, policy)
    }

    /// `segue_on_notice`, with `segue_decide` and `segue_enact`. `lately`: another one came less than ten seconds before.
    fn respond(&mut self, view: &View, notice: &Notice, lately: bool, policy: &mut impl Decides) -> Advice {
        let Some(tp) = view.kernel else { return Advice::default() };
        if self.rejects_notice(&tp, notice) {
            return Advice::default();
        }
        self.refuted_at = None;
        let mut tcp = sender(view);
        tcp.notified_lately = lately.into();
        if tcp.timeouts_since_ack == 0 {
            // `segue_view`: this ACK may have ended the timeouts, and Linux forgets them first.
            (tcp.ssthresh_saved, tcp.srtt_before_us) = (0, 0);
        }
        let beyond = grant::delay_beyond_us(tp.min_rtt_us, micros(view.srtt), &notice.old_link);
        let (mut act, link_window) = policy.decide(&tcp, &grant::of_path(notice, beyond), notice);
        if let Some(link_window) = link_window.filter(|_| act.has(What::RETRANSMIT_HEAD)) {
            act = grant::fit_into_queue(link_window, &tcp, act);
        }
        let (act, granted) = believe(&tcp, notice, window(self.proven), act);
        if granted == Grant::Unproven {
            // If another raise is still on trial, the window before that one counts.
            let earlier = self.trial.filter(|_| self.raised).map_or(u32::MAX, |trial| trial.before);
            self.raised = notice.disconnected == 0;
            self.trial = Some(Trial {
                rounds: grant::TRIAL_ROUNDS,
                since: tp.now,
                seq: view.snd_max,
                lost: tp.lost,
                delivered: tp.delivered,
                allowed: grant::trial_allows(view.flight),
                before: whole_packets(window_before(&tcp)).min(earlier).min(grant::BEFORE_LIMIT),
            });
        }
        (self.notified, self.notified_at) = (true, tp.now);
        self.rto_bound_ms = grant::rto_bound_ms(&notice.new_link);
        self.bounds_rto |= tp.has_rto_max && notice.disconnected != 0;
        self.notified_kbps = match act.has(What::SET_CWND) {
            _ if lately => 0,
            // A claim's slots are this flow's alone only until it is over.
            true if act.has(What::CLAIM) => notice.new_link.rate_kbps,
            true => notice.new_link.rate_kbps / notice.flows.max(1),
            false => self.notified_kbps,
        };
        self.resumed_at = None;
        self.applied = act.rules;
        self.enact(view, &tp, notice, &act)
    }

    /// `segue_on_expected`.
    fn on_expected(&mut self, view: &View, notice: &Notice, policy: &mut impl Decides) -> KernelAdvice {
        if self.has_claim() {
            return KernelAdvice::default();
        }
        let act = policy.at_expected(&sender(view), notice);
        self.applied = act.rules;
        if !act.has(What::CLAIM) {
            return KernelAdvice::default();
        }
        (self.claims, self.expects) = (true, true);
        KernelAdvice { pace: Some(Pace::Begins), ..KernelAdvice::default() }
    }

    /// `segue_notice_rejected`. It counts as received nevertheless (`segue_consume`).
    fn rejects_notice(&mut self, tp: &KernelView, notice: &Notice) -> bool {
        let since = self.refuted_at.map_or(0, |at| millis(tp.now).wrapping_sub(millis(at)));
        let rejects = grant::rejects_notice(notice.disconnected != 0, self.refuted_at.is_some(), since);
        if rejects {
            (self.notified, self.notified_at) = (true, tp.now);
        }
        rejects
    }

    fn enact(&mut self, view: &View, tp: &KernelView, notice: &Notice, act: &Action) -> Advice {
        let packets = |window| whole_packets(window).max(1);
        let (mut cwnd, mut ssthresh) = (None, None);
        if act.has(What::SET_SSTHRESH) {
            ssthresh = Some(packets(act.ssthresh).max(2));
        }
        if act.has(What::SET_CWND) && !view.in_fast_recovery {
            cwnd = Some(grant::burst_window(packets(act.cwnd), tp.most_room));
        }
        if act.has(What::RETRANSMIT_HEAD) {
            let raised = cwnd.unwrap_or(tp.cwnd).max(tp.in_flight + 1);
            cwnd = Some(raised);
            if notice.disconnected != 0 {
                self.resumed = raised;
            }
        }
        let probes = notice.disconnected != 0
            && !recovers(view)
            && !act.has(What::RETRANSMIT_HEAD)
            && !act.has(What::CLAIM);
        let granted = cwnd.unwrap_or(tp.cwnd);
        let probing = grant::loss_probe_window(granted, tp.in_flight);
        if probes && probing > granted {
            (self.loss_probe, self.awaits_loss) = (true, true);
            // The timer may expire before the answer comes: F-RTO then takes its marks back, and RACK sets them.
            if let Some(trial) = &mut self.trial {
                trial.allowed = trial.allowed.saturating_add(view.flight);
            }
            cwnd = Some(probing);
        }
        if act.has(What::CLAIM) {
            (self.claims, self.expects) = (true, false);
            self.claimed_link = notice.new_link;
            self.icmp_requested = act.has(What::RETRANSMIT_HEAD);
        }
        if act.has(What::SET_CWND | What::SET_SSTHRESH) {
            self.start_guard(view, ssthresh.unwrap_or(tp.ssthresh));
        }
        let kbps = notice.new_link.rate_kbps / notice.flows.max(1);
        Advice {
            cwnd: cwnd.map(window),
            ssthresh: ssthresh.map(window),
            room_for_one: false,
            kernel: KernelAdvice {
                anew: act.has(What::SET_CWND).then_some(Anew::WindowSet { kbps }),
                pace: act.has(What::CLAIM).then_some(Pace::Begins),
                ..KernelAdvice::default()
            },
            ..on_linux(act)
        }
    }

    fn start_guard(&mut self, view: &View, packets: u32) {
        self.guard = packets;
        self.guard_seq = view.snd_max;
        self.guard_rounds = grant::GUARD_ROUNDS;
    }

    /// `segue_guard_on_ack`: the kernel's undo also gives back ssthresh, and asks nobody.
    fn guard_on_ack(&mut self, view: &View, tp: &mut KernelView) {
        if tp.ssthresh > self.guard && !recovers(view) {
            tp.ssthresh = self.guard;
        }
        if !before(view.snd_una, self.guard_seq) {
            self.guard_rounds -= 1;
            self.guard_seq = view.snd_max;
        }
    }

    /// `segue_check_rate`: if far more arrives than the notice said, slow start probes the path.
    fn check_rate(&mut self, view: &View, tp: &mut KernelView) {
        if tp.now - self.notified_at > grant::RATE_CHECK_MS * MS {
            self.notified_kbps = 0;
        } else if !recovers(view)
            && grant::rate_check_fails(tp.rate_delivered, tp.mss, tp.rate_interval_us, self.notified_kbps)
        {
            self.notified_kbps = 0;
            tp.ssthresh = INFINITE_SSTHRESH;
        }
    }

    /// `segue_slow_start_is_hidden`.
    pub fn hides_slow_start(&self, recovers: bool) -> bool {
        grant::hides_slow_start(self.guard_rounds, recovers)
    }

    /// `segue_before_raise`: the window before a raise without an outage that is on trial.
    fn before_raise(&self) -> Option<u32> {
        self.trial.filter(|_| self.raised).map(|trial| trial.before)
    }

    /// `segue_end_trial`: the window that it leaves, of one of `left` packets.
    fn end_trial(&mut self, trial: Trial, tp: &KernelView, left: u32) -> u32 {
        self.trial = None;
        self.refuted_at = self.raised.then_some(tp.now);
        if self.raised { grant::refuted_window(left, trial.before) } else { left }
    }

    /// `segue_trial_failed`: the same after too many losses.
    fn trial_failed(&mut self, trial: Trial, view: &View, tp: &KernelView) -> u32 {
        self.proven = trial.found(view, tp);
        self.end_trial(trial, tp, self.proven)
    }

    /// `segue_trial_on_ack`; the window that is left if the trial has failed.
    fn trial_on_ack(&mut self, view: &View, tp: &KernelView) -> Option<u32> {
        let mut trial = self.trial?;
        let arrived = tp.delivered.wrapping_sub(trial.delivered);
        if grant::trial_fails(tp.lost.wrapping_sub(trial.lost), arrived, trial.allowed) {
            self.resumed = 0;
            return Some(self.trial_failed(trial, view, tp));
        }
        if before(view.snd_una, trial.seq) || recovers(view) {
            return None;
        }
        trial.seq = view.snd_max;
        trial.rounds -= 1;
        self.trial = (trial.rounds > 0).then_some(trial);
        if trial.rounds == 0 {
            self.proven = grant::proven_twice(self.proven);
        }
        None
    }

    /// `segue_look_at_rto`: the bound holds from the first quiet moment on, until the estimate is below it by itself.
    fn look_at_rto(&mut self, view: &View, tp: &KernelView) {
        let estimate_us = u64::from(micros(view.srtt)) + u64::from(tp.rttvar_us);
        let is_below = self.trial.is_none() && estimate_us <= 1_000 * u64::from(self.rto_bound_ms);
        if self.bounds_rto && tp.is_calm {
            (self.bounds_rto, self.rto_is_bounded) = (false, true);
        } else if self.rto_is_bounded && (!tp.is_calm || is_below) {
            self.rto_is_bounded = false;
        }
    }

    /// `segue_on_state`: the kernel would give up sooner, counting from its first retry.
    pub fn on_loss(&mut self) {
        self.rto_is_bounded = false;
    }

    /// `segue_on_state`: what a timeout marks as lost may refute nothing.
    pub fn on_marks(&mut self, view: &View) {
        let has_claim = self.has_claim();
        if let (Some(tp), Some(trial), true) = (view.kernel, &mut self.trial, view.in_rto_recovery)
            && grant::timeout_proves_nothing(tp.delivered.wrapping_sub(trial.delivered), has_claim)
        {
            trial.lost = tp.lost;
        }
    }

    /// The bound, if there is one.
    pub fn rto_bound_ms(&self) -> Option<u32> {
        self.rto_is_bounded.then_some(self.rto_bound_ms)
    }

    /// `segue_on_undo`.
    pub fn on_undo(&mut self, view: &View, cwnd: u32) -> u32 {
        let Some(tp) = view.kernel else { return cwnd };
        self.rto_is_bounded |= std::mem::take(&mut self.bounds_rto);
        if self.resumed > 0 && self.resumed_at == Some(tp.now) {
            return tp.in_flight + self.resumed;
        }
        match self.guard_rounds {
            0 => cwnd,
            _ => grant::undone_window(cwnd, self.guard, tp.cwnd),
        }
    }

    /// `segue_on_open`: only an undo leads to Open before everything of the loss is acknowledged.
    pub fn on_open(&mut self, view: &View) -> Option<u32> {
        let tp = view.kernel.filter(|_| self.resumed > 0 && self.resumed_at.is_none())?;
        let resumed = std::mem::take(&mut self.resumed);
        before(view.snd_una, tp.high_seq).then_some(tp.in_flight + resumed)
    }

    /// `segue_on_cut` for a fast retransmit: losses that a loss probe has shown are those of the outage.
    pub fn on_recovery(&mut self, advice: Advice) -> Advice {
        Advice { keep_window: advice.keep_window || (self.awaits_loss && self.guard_rounds > 0), ..advice }
    }

    /// `segue_kept`.
    pub fn kept(&self, before: u32, cut: u32, prior_cwnd: u32) -> u32 {
        let kept = grant::kept_window(before, cut, prior_cwnd, self.trial.is_some());
        if self.guard_rounds > 0 { kept.min(self.guard) } else { kept }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK: Link = Link { rate_kbps: 6_400, delay_us: 9_000 };

    fn view(in_rto_recovery: bool) -> View {
        View {
            snd_una: 100,
            snd_max: 120,
            flight: 20,
            cwnd: 10 * PACKET,
            ssthresh: 10 * PACKET,
            rto: 1_000 * MS,
            srtt: 700 * MS,
            mss: 1448,
            transmissions: 120,
            ssthresh_saved: 0,
            srtt_before: 0,
            timeouts_since_ack: u32::from(in_rto_recovery),
            in_fast_recovery: false,
            in_rto_recovery,
            kernel: Some(KernelView { now: 5_000 * MS, cwnd: 10, ssthresh: 10, ..KernelView::default() }),
        }
    }

    fn claiming() -> OnLinux {
        let part = Part { behind: 0, weight: 256 };
        OnLinux { claims: true, has_backlog: true, claimed_link: LINK, part, ..OnLinux::default() }
    }

    /// A policy that nobody asks.
    struct Indifferent;

    impl Decides for Indifferent {
        fn decide(&mut self, _: &Sender, _: &Notice, _: &Notice) -> (Action, Option<u32>) {
            unreachable!("there is no notice")
        }

        fn at_fast_retransmit(&mut self, _: &Sender) -> Action {
            unreachable!("there is no fast retransmit")
        }
    }

    /// near.md, 8.9: a flow leaves its group with its timer, and comes back with the next ACK, which may be of all that
    /// was out. One with no more than a packet to send leaves, too.
    #[test]
    fn a_flow_is_in_its_group_while_it_can_use_its_share() {
        let mut group = Group::default();
        let (mut one, mut two) = (claiming(), claiming());
        let mut others = |two: &mut OnLinux| {
            two.meet(&mut group);
            one.meet(&mut group);
            one.member.others
        };
        assert_eq!(others(&mut two), 1);
        two.on_cut(&view(true), true);
        assert_eq!(others(&mut two), 0, "the timer has expired");
        two.on_cut(&view(true), true);
        assert_eq!(others(&mut two), 0, "and again");
        two.on_ack(&View { snd_una: 120, flight: 0, ..view(false) }, &mut Indifferent);
        assert_eq!(others(&mut two), 1, "an ACK has come since");
        two.has_backlog = false;
        assert_eq!(others(&mut two), 0);
        // A message that was asked for makes the timer expire, and says nothing of the path.
        two.has_backlog = true;
        two.icmp_requested = true;
        two.on_cut(&view(true), true);
        assert_eq!(others(&mut two), 1);
    }
}
