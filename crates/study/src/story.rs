//! What happened in a handoff, in words: what the sender heard and decided, and when.

use crate::decision_words::advice_in_words;
use crate::explain::SchemeTrace;
use segue_handoff::{Decision, Occasion};
use segue_world::trace::{SenderState, Side, What};
use segue_world::{Experiment, Kind, Nanos, SECOND};

/// Links, kind and flows: `6400kbit/9ms -> 200kbit/300ms, make-before-break, 1 flow`.
pub fn headline(experiment: &Experiment) -> String {
    let kind = match experiment.kind {
        Kind::Mbb => "make-before-break".to_string(),
        Kind::Bbm(time) => format!("break-before-make {} s", time as f64 / SECOND as f64),
    };
    let plural = if experiment.flows == 1 { "" } else { "s" };
    let (old, new) = (&experiment.old.text, &experiment.new.text);
    format!("{old} -> {new}, {kind}, {} flow{plural}", experiment.flows)
}

/// One sentence of the story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// When.
    pub at: Nanos,
    /// Whose, if it is one flow's.
    pub flow: Option<u16>,
    /// What.
    pub text: String,
    /// The rule behind it and where it stands.
    pub rule: Option<String>,
}

/// Losses at one place that are told as one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Queue(Side, bool),
    Disconnection(bool),
}

struct Losses {
    place: Place,
    first: Nanos,
    last: Nanos,
    count: u32,
    sentence: usize,
}

/// Losses further apart are told apart.
const SAME_BURST: Nanos = SECOND;
/// A silence is told from this length on, and if it is longer than half as much again as the round trip of
/// the new link: a small window pauses every round trip.
const SILENCE: Nanos = SECOND / 2;

/// The story from T to the end, in order.
pub fn story(told: &SchemeTrace) -> Vec<Sentence> {
    let trace = &told.trace;
    let record = &trace.record;
    let mut teller = Teller { sentences: Vec::new(), losses: Vec::new() };
    let mut states: Vec<Option<SenderState>> = vec![None; trace.experiment.flows];
    let mut heard_over_new = false;
    let mut last_sent: Option<Nanos> = None;
    let silence = SILENCE.max(3 * trace.experiment.new.delay.min());
    let mut begun = false;
    let mut completed = false;
    for event in &trace.events {
        if event.at >= record.at && !begun {
            begun = true;
            teller.begin(told, &states);
        }
        if event.at >= record.completion && !completed {
            completed = true;
            if record.completion > record.at {
                teller.say(record.completion, None, "the new link is up".into(), None);
            }
        }
        match &event.what {
            What::State { flow, state } => {
                let slot = &mut states[usize::from(*flow)];
                if begun && let Some(before) = slot {
                    teller.change(event.at, *flow, before, state);
                }
                *slot = Some(*state);
            }
            _ if !begun => {}
            What::Timeout { flow, head, .. } => {
                let timeout = record.timeouts.iter().find(|t| (t.at, t.flow) == (event.at, *flow));
                let spurious = timeout.is_some_and(|timeout| timeout.spurious);
                let why = if spurious { "; spurious: it was not lost" } else { "" };
                let text = format!("the timer expires: packet {head} is sent again{why}");
                teller.say(event.at, Some(*flow), text, Some("RFC 6298, 5.4 to 5.6; algorithms.md 1".into()));
            }
            What::FastRetransmit { flow, head } => {
                let text = format!("third duplicate ACK: fast retransmit of packet {head}");
                teller.say(event.at, Some(*flow), text, Some("RFC 5681, 3.2; algorithms.md 1".into()));
            }
            What::Decided { flow, decision } => teller.decision(event.at, *flow, decision),
            What::Dropped { side, packet } => teller.loss(event.at, Place::Queue(*side, packet.data)),
            What::Lost { packet, .. } => teller.loss(event.at, Place::Disconnection(packet.data)),
            What::Queued { side: Side::New, packet, delivery, .. } if packet.data && !heard_over_new => {
                heard_over_new = true;
                if *delivery <= trace.end {
                    let text = "the first data packet of the new link reaches the mobile".to_string();
                    teller.say(*delivery, None, text, None);
                }
            }
            What::Sent(packet) if packet.data => {
                if let Some(last) = last_sent
                    && event.at - last >= silence
                {
                    let text = format!("nothing is sent until {} s", seconds(event.at));
                    teller.say(last, None, text, None);
                }
                last_sent = Some(event.at);
            }
            _ => {}
        }
    }
    teller.end(told);
    teller.sentences.sort_by_key(|sentence| sentence.at);
    teller.sentences
}

struct Teller {
    sentences: Vec<Sentence>,
    /// Bursts that may still grow.
    losses: Vec<Losses>,
}

impl Teller {
    fn say(&mut self, at: Nanos, flow: Option<u16>, text: String, rule: Option<String>) {
        self.sentences.push(Sentence { at, flow, text, rule });
    }

    fn begin(&mut self, told: &SchemeTrace, states: &[Option<SenderState>]) {
        let trace = &told.trace;
        let text = match trace.experiment.kind {
            Kind::Mbb => {
                "the handoff: new packets take the new link, the old one delivers what it holds".into()
            }
            Kind::Bbm(_) => "the handoff begins: whatever comes out of the old link is lost".to_string(),
        };
        self.say(trace.record.at, None, text, None);
        for (flow, state) in states.iter().enumerate() {
            let Some(state) = state else { continue };
            let text = format!("the sender stands at {}", state_in_words(state));
            self.say(trace.record.at, Some(flow as u16), text, None);
        }
    }

    fn change(&mut self, at: Nanos, flow: u16, before: &SenderState, now: &SenderState) {
        if before.in_rto_recovery && !now.in_rto_recovery {
            let text = format!("RTO recovery is over: {}", state_in_words(now));
            self.say(at, Some(flow), text, Some("algorithms.md 1".into()));
        }
        if before.in_fast_recovery && !now.in_fast_recovery && !now.in_rto_recovery {
            let text = format!("fast recovery is over: {}", state_in_words(now));
            self.say(at, Some(flow), text, Some("RFC 6675, 5; algorithms.md 1".into()));
        }
    }

    fn decision(&mut self, at: Nanos, flow: u16, decision: &Decision) {
        let rules: Vec<String> = decision
            .rules
            .iter()
            .map(|rule| format!("{}: algorithms.md {}", rule.name, rule.section))
            .collect();
        let says: Vec<&str> = decision.rules.iter().map(|rule| rule.says).collect();
        let asked = advice_in_words(decision);
        let text = match (decision.occasion, says.is_empty(), asked.is_empty()) {
            (Occasion::Notice(_), true, _) => "the notice is heard; no rule applies".to_string(),
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

    fn loss(&mut self, at: Nanos, place: Place) {
        let burst = self.losses.iter().position(|l| l.place == place && at - l.last < SAME_BURST);
        let index = burst.unwrap_or_else(|| {
            let sentence = self.sentences.len();
            self.say(at, None, String::new(), None);
            self.losses.push(Losses { place, first: at, last: at, count: 0, sentence });
            self.losses.len() - 1
        });
        let losses = &mut self.losses[index];
        losses.last = at;
        losses.count += 1;
        let kind = |data| match (data, losses.count) {
            (true, 1) => "data packet is",
            (true, _) => "data packets are",
            (false, 1) => "ACK is",
            (false, _) => "ACKs are",
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
            Place::Disconnection(data) => format!("{count} {} lost in the disconnection{until}", kind(data)),
        };
    }

    fn end(&mut self, told: &SchemeTrace) {
        let trace = &told.trace;
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

/// A window in packets, at most two decimals.
pub fn packets(window: u32) -> String {
    let text = format!("{:.2}", f64::from(window) / 256.0);
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// Seconds to the millisecond.
fn seconds(time: Nanos) -> String {
    format!("{:.3}", time as f64 / SECOND as f64)
}

fn ratio(time: Nanos, bound: Nanos) -> String {
    if bound == 0 { "many".into() } else { format!("{:.2}", time as f64 / bound as f64) }
}
