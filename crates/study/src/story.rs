//! A handoff as a story: the sender's inputs and decisions, and their times.

mod repair;

use crate::compare::GroupResult;
use crate::decision_words::{advice_in_words, effect_in_words, program_in_words};
use crate::explain::SchemeTrace;
use crate::numbers::packets;
use crate::story::repair::Repair;
use crate::tcp_rules::{
    HYSTART_RULE, cited, fast_retransmit_in_words, fast_retransmit_rule, hystart_in_words, recovery_end_rule,
    timeout_end_rule, timeout_rule,
};
use segue_handoff::{Act, Decision, Occasion, Scheme};
use segue_tcp::receiver::Arrival;
use segue_tcp::{Advice, StackProfile, Window256};
use segue_world::notice_error::Told;
use segue_world::packet::Packet;
use segue_world::trace::{Event, LossCause, SenderState, Side, What};
use segue_world::{Address, Experiment, Kind, Nanos, Neighbours, NoticeMode, Overlap, SECOND, SoftWord};
use std::collections::BTreeSet;

/// Links, kind and flows: `6400kbit/9ms -> 200kbit/300ms, make-before-break, 1 flow`.
pub fn headline(experiment: &Experiment) -> String {
    let kind = match experiment.kind {
        Kind::Mbb => "make-before-break".to_string(),
        Kind::Bbm(time) => format!("break-before-make {} s", time as f64 / SECOND as f64),
        Kind::Soft(Overlap { length, way }) => format!("soft {} s, {way}", length as f64 / SECOND as f64),
        Kind::PingPong(stay) => format!("ping-pong {} s", stay as f64 / SECOND as f64),
    };
    let address = if experiment.address == Address::New { ", new address" } else { "" };
    let plural = if experiment.flows == 1 { "" } else { "s" };
    let (old, new) = (&experiment.old.text, &experiment.new.text);
    let neighbours = experiment.neighbours.map(|Neighbours { count, stack, .. }| {
        let plural = if count == 1 { "" } else { "s" };
        format!(", {count} neighbour{plural} on each link ({})", stack.name)
    });
    let flows = match experiment.flows {
        0 => String::new(),
        flows => format!(", {flows} flow{plural}"),
    };
    let classes = experiment.traffic.as_ref().map(|traffic| traffic.classes()).unwrap_or_default();
    let classes: Vec<&str> = classes.into_iter().map(|class| class.word()).collect();
    let traffic =
        if classes.is_empty() { String::new() } else { format!(", traffic {}", classes.join(", ")) };
    format!("{old} -> {new}, {kind}{address}{flows}{traffic}{}", neighbours.unwrap_or_default())
}

/// The same of a comparison's group, and which handoff of its run it is.
pub fn headline_of(group: &GroupResult) -> String {
    let which = group.handoff.map(|nth| format!(", handoff {nth}"));
    headline(&group.experiment) + &which.unwrap_or_default()
}

/// One sentence of the story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// Time, ns.
    pub at: Nanos,
    /// The flow, if it is about one.
    pub flow: Option<u16>,
    /// The sentence.
    pub text: String,
    /// The rule behind it and where it stands.
    pub rule: Option<String>,
}

/// Losses at one place that are told as one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Queue(Side, bool),
    Disconnection(bool),
    Link(Side, bool),
    Buffer(Side),
    /// Not lost, but too old for the receiver.
    Receiver,
}

struct Losses {
    place: Place,
    flows: BTreeSet<u16>,
    first: Nanos,
    last: Nanos,
    count: u32,
    sentence: usize,
}

/// Losses further apart than this and four round trips of the new link are told apart.
const SAME_BURST: Nanos = SECOND / 20;
/// A silence is told from this length on, and if it is longer than 1.5 round trips of the new link. A small window
/// pauses every round trip.
const SILENCE: Nanos = SECOND / 2;
/// Silences that are told, the longest ones.
const MOST_SILENCES: usize = 4;
/// Flows that a burst of losses names one by one.
const MOST_NAMES: usize = 4;

/// Least round trip over the new access link: propagation both ways, and a delayed ACK's two packets.
pub fn round_trip(experiment: &Experiment) -> Nanos {
    let link = &experiment.new;
    let bits = 8 * 2 * u128::from(experiment.stack.data_bytes()) * u128::from(SECOND);
    let sending = bits / u128::from(link.down.mean_rate().max(1));
    link.least_round_trip() + sending.min(u128::from(u64::MAX / 8)) as Nanos
}

/// The story from T to the end, in order; before T only that the mobile closes its window.
pub fn story(told: &SchemeTrace) -> Vec<Sentence> {
    let mut teller = Teller::new(told);
    for event in &told.trace.events {
        teller.reach(event.at);
        teller.tell(event);
    }
    teller.end_silences();
    teller.end();
    teller.sentences.sort_by_key(|sentence| sentence.at);
    teller.sentences
}

/// Whether an ACK reports a handoff.
fn is_notice(packet: &Packet) -> bool {
    !packet.data && !packet.segment.syn && !packet.segment.option.is_empty()
}

/// Whether no notice is sent to the senders of a scheme.
fn is_told_nothing(scheme: &str) -> bool {
    Scheme::build(scheme, &[]).is_ok_and(|scheme| {
        let mobile = scheme.mobile();
        !(mobile.announces || mobile.foretells.is_some())
    })
}

/// A notice, and the windows that its answer asked for.
#[derive(Clone, Copy)]
struct Noticed {
    at: Nanos,
    cwnd: Option<Window256>,
    ssthresh: Option<Window256>,
}

/// A story so far.
struct Teller<'a> {
    told: &'a SchemeTrace,
    sentences: Vec<Sentence>,
    /// T, and completion, are over.
    begun: bool,
    completed: bool,
    /// Each flow's dupthresh, and its sender's state once it is known.
    dupthresh: Vec<u32>,
    states: Vec<Option<SenderState>>,
    /// Each flow's recovery.
    repairs: Vec<Repair>,
    /// Each flow's last notice.
    noticed: Vec<Option<Noticed>>,
    /// The mobile has closed its window.
    closed: bool,
    heard_over_new: bool,
    /// When a data packet left last, and the silences so far.
    last_sent: Option<Nanos>,
    silences: Vec<(Nanos, Nanos)>,
    /// Bursts that may still grow.
    losses: Vec<Losses>,
    /// Acts of the mobile: for which flow, in which sentence, how often.
    acts: Vec<(u16, Act, usize, u32)>,
    /// Losses further apart are told apart, and a shorter pause is no silence.
    same_burst: Nanos,
    silence: Nanos,
}

impl<'a> Teller<'a> {
    fn new(told: &'a SchemeTrace) -> Self {
        let experiment = &told.trace.experiment;
        let round_trip = round_trip(experiment);
        Self {
            told,
            sentences: Vec::new(),
            begun: false,
            completed: false,
            dupthresh: vec![experiment.stack.dupthresh; experiment.flows],
            states: vec![None; experiment.flows],
            repairs: vec![Repair::default(); experiment.flows],
            noticed: vec![None; experiment.flows],
            closed: false,
            heard_over_new: false,
            last_sent: None,
            silences: Vec::new(),
            losses: Vec::new(),
            acts: Vec::new(),
            same_burst: SAME_BURST.max(4 * round_trip),
            silence: SILENCE.max(round_trip + round_trip / 2),
        }
    }

    fn stack(&self) -> &'a StackProfile {
        &self.told.trace.experiment.stack
    }

    /// Nothing before this time is still to be told.
    fn reach(&mut self, at: Nanos) {
        let record = &self.told.trace.record;
        if at >= record.at && !self.begun {
            self.begun = true;
            self.begin();
        }
        if at >= record.completion && !self.completed {
            self.completed = true;
            if record.completion > record.at {
                self.say(record.completion, None, "the new link is up".into(), None);
            }
            self.copies_lost();
            self.notice_errs();
        }
    }

    fn tell(&mut self, event: &Event) {
        let at = event.at;
        // Recoveries that began before T are counted, too.
        if let What::Sent(packet) = &event.what
            && packet.data
            && packet.retransmission
            && !packet.is_probe()
        {
            self.repairs[usize::from(packet.flow)].resend();
        }
        match &event.what {
            What::State { flow, state } => {
                let before = self.states[usize::from(*flow)].replace(*state);
                let repaired = self.repairs[usize::from(*flow)].follow(at, state);
                if let Some(before) = before.filter(|_| self.begun) {
                    self.change(at, *flow, &before, state, &repaired);
                }
            }
            What::Sent(packet) if !packet.data && packet.segment.window == 0 && !self.closed => {
                self.closed = true;
                let text = "the mobile closes its window: it foresees the disconnection".to_string();
                self.say(at, None, text, Some("segue explain 4.5".into()));
            }
            _ if !self.begun => {}
            What::Timeout { flow, head, .. } => {
                let mut timeouts = self.told.trace.record.timeouts.iter();
                let spurious = timeouts.find(|t| (t.at, t.flow) == (at, *flow)).is_some_and(|t| t.spurious);
                let why = if spurious { "; spurious: the packet was not lost" } else { "" };
                let text = format!("the timer expires: packet {head} is sent again{why}");
                let rule = cited(timeout_rule(self.stack()), self.stack());
                self.say(at, Some(*flow), text, Some(rule));
            }
            What::FastRetransmit { flow, head, dup_acks } => {
                let threshold = self.dupthresh[usize::from(*flow)];
                let text = fast_retransmit_in_words(self.stack(), threshold, *head, *dup_acks);
                let rule = cited(fast_retransmit_rule(self.stack()), self.stack());
                self.say(at, Some(*flow), text, Some(rule));
            }
            What::HyStart { flow, sign, before, ssthresh } => {
                let text = hystart_in_words(*sign, *before, *ssthresh);
                self.say(at, Some(*flow), text, Some(HYSTART_RULE.into()));
            }
            What::Acted { flow, act } => self.act(at, *flow, act),
            What::Decided { flow, decision } => {
                if let Some(threshold) = decision.advice.dupthresh {
                    self.dupthresh[usize::from(*flow)] = threshold;
                }
                if matches!(decision.occasion, Occasion::Notice(_)) {
                    let Advice { cwnd, ssthresh, .. } = decision.advice;
                    self.noticed[usize::from(*flow)] = Some(Noticed { at, cwnd, ssthresh });
                }
                self.decision(at, *flow, decision);
            }
            What::Dropped { packet, .. } | What::Lost { packet, .. } | What::Overflowed { packet, .. } => {
                self.never_arrives(event, packet);
            }
            What::Queued { side: Side::New, packet, delivery, .. }
                if packet.data && !packet.is_probe() && !self.heard_over_new =>
            {
                self.heard_over_new = true;
                if *delivery <= self.told.trace.end {
                    let text = "the first data packet of the new link reaches the mobile".to_string();
                    self.say(*delivery, None, text, None);
                }
            }
            What::Received { packet, arrival: Some(Arrival::Refused) } => {
                self.loss(at, Place::Receiver, packet.flow);
            }
            What::Sent(packet) if packet.data && !packet.is_probe() => {
                let last = self.last_sent.replace(at);
                self.silences.extend(last.filter(|last| at - last >= self.silence).map(|last| (last, at)));
            }
            _ => {}
        }
    }

    /// A packet is dropped or lost.
    fn never_arrives(&mut self, event: &Event, packet: &Packet) {
        let place = match &event.what {
            What::Overflowed { side, .. } => Place::Buffer(*side),
            What::Dropped { side, .. } | What::Lost { side, .. } if is_notice(packet) => {
                let link = if *side == Side::Old { "old" } else { "new" };
                let text = match &event.what {
                    What::Lost { cause: LossCause::Link, .. } => {
                        format!("a copy of the notice is lost on the {link} link")
                    }
                    _ => format!("a copy of the notice is lost: the queue of the {link} link is full"),
                };
                return self.say(event.at, Some(packet.flow), text, Some("segue explain notice".into()));
            }
            // It will be repeated.
            _ if packet.is_probe() => return,
            What::Dropped { side, .. } => Place::Queue(*side, packet.data),
            What::Lost { side, cause: LossCause::Link, .. } => Place::Link(*side, packet.data),
            _ => Place::Disconnection(packet.data),
        };
        self.loss(event.at, place, packet.flow);
    }

    fn say(&mut self, at: Nanos, flow: Option<u16>, text: String, rule: Option<String>) {
        self.sentences.push(Sentence { at, flow, text, rule });
    }

    fn begin(&mut self) {
        let trace = &self.told.trace;
        let text = match trace.experiment.kind {
            Kind::Mbb if trace.experiment.address == Address::New => "the handoff".into(),
            Kind::Mbb => {
                "the handoff: new packets take the new link, the old one delivers what it holds".into()
            }
            Kind::Bbm(_) => "the handoff begins: whatever comes out of the old link is lost".to_string(),
            Kind::Soft(Overlap { length, way: SoftWord::Duplicate }) => format!(
                "the handoff: for {} s new packets take both links, a copy each; then the new one alone",
                length as f64 / SECOND as f64
            ),
            Kind::Soft(Overlap { length, way: SoftWord::Split }) => format!(
                "the handoff: for {} s new packets take one of both links each; then the new one alone",
                length as f64 / SECOND as f64
            ),
            Kind::PingPong(stay) => format!(
                "the handoff: new packets take the new link, and after {} s the old one again",
                stay as f64 / SECOND as f64
            ),
        };
        self.say(trace.record.at, None, text, None);
        if trace.experiment.address == Address::New {
            let text =
                "the mobile's address is another: its connections end, and it opens others over the new link";
            self.say(trace.record.completion, None, text.into(), None);
        }
        for (flow, state) in self.states.clone().iter().enumerate() {
            let Some(state) = state else { continue };
            let text = format!("the sender stands at {}", state_in_words(state));
            self.say(trace.record.at, Some(flow as u16), text, None);
        }
    }

    /// The sender's state is another; `repaired` says of the end of a recovery how long it took.
    fn change(&mut self, at: Nanos, flow: u16, before: &SenderState, now: &SenderState, repaired: &str) {
        let stack = self.stack();
        if now.undos > before.undos {
            self.undone(at, flow, before, now);
        }
        if before.in_rto_recovery && !now.in_rto_recovery {
            let text = format!("RTO recovery is over{repaired}: {}", state_in_words(now));
            self.say(at, Some(flow), text, Some(timeout_end_rule(stack).into()));
        }
        if before.in_fast_recovery && !now.in_fast_recovery && !now.in_rto_recovery {
            let text = format!("fast recovery is over{repaired}: {}", state_in_words(now));
            self.say(at, Some(flow), text, Some(cited(recovery_end_rule(stack), stack)));
        }
    }

    /// A kernel has taken back a cut; a notice may have come in the same instant, before it.
    fn undone(&mut self, at: Nanos, flow: u16, before: &SenderState, now: &SenderState) {
        let asked = self.noticed[usize::from(flow)].filter(|asked| asked.at == at);
        let granted = asked.and_then(|asked| asked.cwnd);
        let cwnd = granted.unwrap_or(before.cwnd);
        let ssthresh = asked.and_then(|asked| asked.ssthresh).unwrap_or(before.ssthresh);
        let mut text = match before.in_rto_recovery {
            true => "the kernel takes back the timeout (undo): no packet counts as lost any more".to_string(),
            false => "the kernel takes back the cut of its window (undo)".to_string(),
        };
        for (name, old, new) in [("cwnd", cwnd, now.cwnd), ("ssthresh", ssthresh, now.ssthresh)] {
            if old != new {
                text.push_str(&format!(", {name} {} to {}", packets(old), packets(new)));
            }
        }
        let under_way = before.snd_max.saturating_sub(now.snd_una);
        if let Some(granted) = granted.filter(|&granted| granted.saturating_add(256 * under_way) == now.cwnd)
        {
            text.push_str(&format!(": the {} of the notice beside {under_way} under way", packets(granted)));
        }
        let rule = match before.in_rto_recovery {
            true => "RFC 5682; tcp_undo_cwnd_reduction",
            false => "tcp_undo_cwnd_reduction",
        };
        self.say(at, Some(flow), text, Some(rule.into()));
    }

    fn decision(&mut self, at: Nanos, flow: u16, decision: &Decision) {
        let mut rules: Vec<String> = decision
            .rules
            .iter()
            .map(|rule| format!("{}: segue explain {}", rule.name, rule.section))
            .collect();
        let effect = |rule| effect_in_words(rule, &decision.advice);
        let mut says: Vec<String> = decision.rules.iter().map(effect).collect();
        if let Some((name, cause)) = program_in_words(decision) {
            rules.push(format!("{name}: segue explain {name}"));
            says.push(cause.into());
        }
        let asked = advice_in_words(decision);
        let text = match (decision.occasion, says.is_empty(), asked.is_empty()) {
            (Occasion::Notice(_), true, true) => "the notice is heard; no rule applies".to_string(),
            (Occasion::Notice(_), true, false) => format!("the notice is heard: {asked}"),
            (_, false, true) => says.join("; "),
            (_, false, false) => format!("{}: {asked}", says.join("; ")),
            (_, true, _) => asked,
        };
        let rule = (!rules.is_empty()).then(|| rules.join(", "));
        // A rule that answers every duplicate ACK alike is told once.
        let repeats = self.sentences.iter().rev().find(|other| other.flow == Some(flow));
        if !repeats.is_some_and(|other| other.text == text && other.rule == rule) {
            self.say(at, Some(flow), text, rule);
        }
    }

    /// The mobile has helped, or its message has come. Repetitions in a row are told once.
    fn act(&mut self, at: Nanos, flow: u16, act: &Act) {
        let who = if act.at_sender() { "the sender" } else { "the mobile" };
        let text = format!("{who} {act}");
        let same = |other: &&mut (u16, Act, usize, u32)| (other.0, other.1) == (flow, *act);
        if let Some((_, _, sentence, times)) = self.acts.last_mut().filter(same) {
            *times += 1;
            self.sentences[*sentence].text = format!("{text}, {times} times");
            return;
        }
        self.acts.push((flow, *act, self.sentences.len(), 1));
        self.say(at, Some(flow), text, Some(act.rule().to_string()));
    }

    /// A notice that may be wrong.
    fn notice_errs(&mut self) {
        let SchemeTrace { scheme, trace, .. } = self.told;
        let experiment = &trace.experiment;
        let Some(Told { new_link, late }) = trace.told else { return };
        if is_told_nothing(scheme) || experiment.notice.copies() == 0 {
            return;
        }
        let text = format!(
            "the notice errs: {} s late it tells {} kbit/s and {} ms of the new link",
            seconds(late),
            new_link.rate_kbps,
            f64::from(new_link.delay_us) / 1e3
        );
        self.say(trace.record.completion, None, text, Some("segue explain notice-error".into()));
    }

    /// The fate of the copies of an in-band notice at the mobile.
    fn copies_lost(&mut self) {
        let SchemeTrace { scheme, trace, .. } = self.told;
        let text = match trace.experiment.notice {
            NoticeMode::InBand { lost: 1 } => "the first of the two copies of the notice is lost",
            NoticeMode::InBand { lost } if lost > 1 => {
                "the notice is lost, both copies of it: no sender hears"
            }
            _ => return,
        };
        if !is_told_nothing(scheme) {
            self.say(trace.record.completion, None, text.into(), None);
        }
    }

    /// The longest silences; of the others how many, unless it is one, which takes no more room itself.
    fn end_silences(&mut self) {
        let mut silences = std::mem::take(&mut self.silences);
        silences.sort_by_key(|(from, to)| (std::cmp::Reverse(to - from), *from));
        let told = if silences.len() == MOST_SILENCES + 1 { silences.len() } else { MOST_SILENCES };
        let others = silences.split_off(silences.len().min(told));
        for (from, to) in silences {
            self.say(from, None, format!("nothing is sent until {} s", seconds(to)), None);
        }
        if let (Some(first), Some(longest)) = (others.iter().map(|other| other.0).min(), others.first()) {
            let count = others.len();
            let length = seconds(longest.1 - longest.0);
            self.say(
                first,
                None,
                format!("from here on nothing is sent {count} more times, for at most {length} s each"),
                None,
            );
        }
    }

    fn loss(&mut self, at: Nanos, place: Place, flow: u16) {
        let burst = self.losses.iter().position(|l| l.place == place && at - l.last < self.same_burst);
        let index = burst.unwrap_or_else(|| {
            let sentence = self.sentences.len();
            self.say(at, None, String::new(), None);
            self.losses.push(Losses {
                place,
                flows: BTreeSet::new(),
                first: at,
                last: at,
                count: 0,
                sentence,
            });
            self.losses.len() - 1
        });
        let losses = &mut self.losses[index];
        losses.last = at;
        losses.count += 1;
        losses.flows.insert(flow);
        let names: Vec<String> = losses.flows.iter().take(MOST_NAMES).map(u16::to_string).collect();
        let of = match losses.flows.len() {
            _ if self.told.trace.experiment.flows <= 1 => String::new(),
            1 => format!(" of flow {}", names[0]),
            few if few <= MOST_NAMES => format!(" of flows {}", names.join(", ")),
            many => format!(" of {many} flows"),
        };
        let kind = |data| match (data, losses.count) {
            (true, 1) => format!("data packet{of} is"),
            (true, _) => format!("data packets{of} are"),
            (false, 1) => format!("ACK{of} is"),
            (false, _) => format!("ACKs{of} are"),
        };
        let until = match losses.last - losses.first {
            0 => String::new(),
            _ => format!(", the last at {} s", seconds(losses.last)),
        };
        let count = losses.count;
        self.sentences[losses.sentence].text = match losses.place {
            Place::Queue(side, data) => {
                let link = if side == Side::Old { "old" } else { "new" };
                format!("{count} {} dropped: the queue of the {link} link is full{until}", kind(data))
            }
            Place::Buffer(side) => {
                let router = if side == Side::Old { "old" } else { "new" };
                format!("{count} {} dropped: the buffer of the {router} router is full{until}", kind(true))
            }
            Place::Link(side, data) => {
                let link = if side == Side::Old { "old" } else { "new" };
                format!("{count} {} lost on the {link} link{until}", kind(data))
            }
            Place::Disconnection(data) => format!("{count} {} lost in the disconnection{until}", kind(data)),
            Place::Receiver => {
                format!("{count} {} refused by the mobile: older time stamps (PAWS){until}", kind(true))
            }
        };
    }

    fn end(&mut self) {
        let trace = &self.told.trace;
        let text = match trace.record.transfer {
            Some(transfer) => format!(
                "the transfer is done, {} s after completion ({} times the bound)",
                seconds(transfer),
                ratio(transfer, trace.record.bound)
            ),
            None => "given up: the transfer is not done".to_string(),
        };
        self.say(trace.end, None, text, None);
    }
}

/// A sender's state in words: FlightSize, window, timer, phase.
pub fn state_in_words(state: &SenderState) -> String {
    let phase = match (state.in_rto_recovery, state.in_fast_recovery) {
        (true, _) => "RTO recovery",
        (_, true) => "fast recovery",
        _ if state.cwnd < state.ssthresh => "slow start",
        _ => "congestion avoidance",
    };
    format!(
        "FlightSize {}, cwnd {}, ssthresh {}, RTO {} s, {phase}",
        state.flight(),
        packets(state.cwnd),
        packets(state.ssthresh),
        seconds(state.rto),
    )
}

/// Seconds to the millisecond.
fn seconds(time: Nanos) -> String {
    format!("{:.3}", time as f64 / SECOND as f64)
}

fn ratio(time: Nanos, bound: Nanos) -> String {
    if bound == 0 { "many".into() } else { format!("{:.2}", time as f64 / bound as f64) }
}
