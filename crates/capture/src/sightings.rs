//! Which packet was seen where and when, and what is to be said of it.
//!
//! A trace names data by flow and copy; an ACK has no number of its own. But each link is a queue, first
//! in, first out, so that ACKs leave it in the order in which they entered.

use super::seconds;
use super::vantage::Vantage;
use segue_handoff::{Act, Decision, Occasion};
use segue_study::decision_words::decision_in_words;
use segue_world::Nanos;
use segue_world::packet::Packet;
use segue_world::trace::{LossCause, Side, Trace, What};
use std::collections::{HashMap, VecDeque};

/// A packet at a vantage point.
#[derive(Clone, Debug)]
pub(super) struct Sighting {
    /// Time, ns.
    pub at: Nanos,
    /// Place at which it was seen.
    pub vantage: Vantage,
    /// The packet.
    pub packet: Packet,
    /// Counts the packets that its host has sent, modulo 2^16: the same wherever it is seen.
    pub identification: u16,
    /// Comments about it.
    pub comments: Vec<String>,
}

/// All sightings up to the end of the trace, in the order of time.
pub(super) fn sightings(trace: &Trace) -> Vec<Sighting> {
    let mut writer = Writer::new(trace);
    for event in &trace.events {
        writer.event(event.at, &event.what);
    }
    writer.finish(trace.end)
}

/// A packet under way, as its host numbered it, and where it was last seen.
#[derive(Clone, Copy)]
struct Traveller {
    identification: u16,
    last_seen: usize,
}

/// An ACK on the way from the mobile to the correspondent node over one link.
struct Ascending {
    packet: Packet,
    traveller: Traveller,
    /// When it reaches the access router.
    delivery: Nanos,
}

/// ACKs on one side, each queue in the order of travel.
#[derive(Default)]
struct Ascent {
    /// Sent by the mobile, not yet at the access link.
    to_link: VecDeque<Traveller>,
    /// In the access link, or beyond it on the way to the correspondent node.
    to_cn: VecDeque<Ascending>,
}

/// A flow at the correspondent node.
#[derive(Clone, Default)]
struct FlowAtCn {
    /// When an ACK was heard last, and where its sighting stands.
    heard: Option<(Nanos, usize)>,
    /// Where its last sighting stands.
    last: Option<usize>,
    /// To be said of the next packet sent: since when, and what.
    pending: Vec<(Nanos, String)>,
}

struct Writer {
    completion: Nanos,
    seen: Vec<Sighting>,
    /// Packets sent so far by the correspondent node and by the mobile.
    sent: [u16; 2],
    /// Data under way, by flow and copy.
    data: HashMap<(u16, u32), Traveller>,
    ascents: [Ascent; 2],
    flows: Vec<FlowAtCn>,
}

fn index(side: Side) -> usize {
    match side {
        Side::Old => 0,
        Side::New => 1,
    }
}

fn name(side: Side) -> &'static str {
    Vantage::Link(side).name()
}

impl Writer {
    fn new(trace: &Trace) -> Self {
        Self {
            completion: trace.record.completion,
            seen: Vec::new(),
            sent: [0; 2],
            data: HashMap::new(),
            ascents: Default::default(),
            flows: vec![FlowAtCn::default(); trace.experiment.flows],
        }
    }

    fn event(&mut self, at: Nanos, what: &What) {
        match what {
            What::Sent(packet) if packet.data => self.data_sent(at, packet),
            What::Sent(packet) => self.ack_sent(at, packet),
            What::Received { packet, .. } if packet.data => {
                if let Some(traveller) = self.data.remove(&(packet.flow, packet.copy)) {
                    self.see(at, Vantage::Mn, packet, traveller.identification);
                }
            }
            What::Received { packet, .. } => self.ack_received(at, packet),
            What::Queued { side, packet, departure, delivery, .. } => {
                self.queued(*side, packet, *departure, *delivery);
            }
            What::Dropped { side, packet } => {
                let lost = if packet.data {
                    self.data.remove(&(packet.flow, packet.copy))
                } else {
                    self.ascents[index(*side)].to_link.pop_front()
                };
                self.say_last(lost, || format!("dropped: queue of the {} full", name(*side)));
            }
            What::Lost { side, packet, cause } => {
                let lost = if packet.data {
                    self.data.remove(&(packet.flow, packet.copy))
                } else {
                    self.ack_lost(at, *side)
                };
                self.say_last(lost, || match cause {
                    LossCause::Link => format!("lost on the {}", name(*side)),
                    _ => "lost in the disconnection".to_string(),
                });
            }
            What::Overflowed { packet, .. } => {
                let lost = self.data.remove(&(packet.flow, packet.copy));
                self.say_last(lost, || "dropped: buffer of the router full".to_string());
            }
            What::Timeout { flow, head, .. } => {
                self.say_next(at, *flow, format!("retransmission timeout of packet {head}"));
            }
            What::FastRetransmit { flow, head, .. } => {
                self.say_heard(at, *flow, format!("fast retransmit of packet {head}"));
            }
            What::HyStart { flow, .. } => {
                self.say_heard(at, *flow, "HyStart ends slow start".to_string());
            }
            What::Decided { flow, decision } => self.decided(at, *flow, decision),
            // The mobile's message is in no capture: what the sender makes of it stands at its next packet.
            What::Acted { flow, act: act @ Act::MessageHeard { heeded: true, .. } } => {
                self.say_next(at, *flow, format!("the sender {act} [{}]", act.rule()));
            }
            What::State { .. } | What::Acted { .. } => {}
        }
    }

    fn see(&mut self, at: Nanos, vantage: Vantage, packet: &Packet, identification: u16) -> usize {
        self.seen.push(Sighting { at, vantage, packet: *packet, identification, comments: Vec::new() });
        self.seen.len() - 1
    }

    /// The next number of a host's packets.
    fn number(&mut self, data: bool) -> u16 {
        let count = &mut self.sent[usize::from(!data)];
        *count = count.wrapping_add(1);
        *count
    }

    fn data_sent(&mut self, at: Nanos, packet: &Packet) {
        let identification = self.number(true);
        let last_seen = self.see(at, Vantage::Cn, packet, identification);
        self.data.insert((packet.flow, packet.copy), Traveller { identification, last_seen });
        let flow = &mut self.flows[usize::from(packet.flow)];
        flow.last = Some(last_seen);
        for (since, text) in std::mem::take(&mut flow.pending) {
            self.seen[last_seen].comments.push(dated(since, at, text));
        }
    }

    fn ack_sent(&mut self, at: Nanos, packet: &Packet) {
        let identification = self.number(false);
        let last_seen = self.see(at, Vantage::Mn, packet, identification);
        let side = if at < self.completion { Side::Old } else { Side::New };
        self.ascents[index(side)].to_link.push_back(Traveller { identification, last_seen });
    }

    fn queued(&mut self, side: Side, packet: &Packet, departure: Nanos, delivery: Nanos) {
        if packet.data {
            let key = (packet.flow, packet.copy);
            if let Some(&Traveller { identification, .. }) = self.data.get(&key) {
                let last_seen = self.see(departure, Vantage::Link(side), packet, identification);
                self.data.insert(key, Traveller { identification, last_seen });
            }
        } else if let Some(traveller) = self.ascents[index(side)].to_link.pop_front() {
            let packet = *packet;
            self.ascents[index(side)].to_cn.push_back(Ascending { packet, traveller, delivery });
        }
    }

    /// The ACK that comes out of the cut link now.
    fn ack_lost(&mut self, at: Nanos, side: Side) -> Option<Traveller> {
        let ascent = &mut self.ascents[index(side)].to_cn;
        let place = ascent.iter().position(|ack| ack.delivery == at)?;
        ascent.remove(place).map(|ack| ack.traveller)
    }

    fn ack_received(&mut self, at: Nanos, packet: &Packet) {
        // It is the first of one of the two sides; of equal ones, that which came first.
        let first = |ascent: &Ascent| {
            let ack = ascent.to_cn.front()?;
            (ack.packet.flow == packet.flow && ack.packet.segment == packet.segment).then_some(ack.delivery)
        };
        let sides = [Side::Old, Side::New].into_iter();
        let candidates = sides.filter_map(|side| Some((first(&self.ascents[index(side)])?, side)));
        let Some((_, side)) = candidates.min_by_key(|candidate| candidate.0) else { return };
        let Some(ack) = self.ascents[index(side)].to_cn.pop_front() else { return };
        let identification = ack.traveller.identification;
        self.see(ack.delivery, Vantage::Link(side), packet, identification);
        let place = self.see(at, Vantage::Cn, packet, identification);
        let flow = &mut self.flows[usize::from(packet.flow)];
        flow.heard = Some((at, place));
        flow.last = Some(place);
    }

    fn decided(&mut self, at: Nanos, flow: u16, decision: &Decision) {
        let text = decision_in_words(decision);
        match decision.occasion {
            Occasion::Notice(_) | Occasion::Start(_) | Occasion::Finish => {
                let in_band = self.flows[usize::from(flow)].heard.is_some_and(|(heard, place)| {
                    heard == at && !self.seen[place].packet.segment.option.is_empty()
                });
                if in_band { self.say_heard(at, flow, text) } else { self.say_next(at, flow, text) }
            }
            Occasion::Timeout | Occasion::Deadline => self.say_next(at, flow, text),
            _ => self.say_heard(at, flow, text),
        }
    }

    /// Says it of the ACK that the flow has just heard.
    fn say_heard(&mut self, at: Nanos, flow: u16, text: String) {
        match self.flows[usize::from(flow)].heard {
            Some((heard, place)) if heard == at => self.seen[place].comments.push(text),
            _ => self.say_next(at, flow, text),
        }
    }

    /// Says it of the packet that the flow sends next.
    fn say_next(&mut self, at: Nanos, flow: u16, text: String) {
        self.flows[usize::from(flow)].pending.push((at, text));
    }

    /// Says it of a packet where it was seen last.
    fn say_last(&mut self, traveller: Option<Traveller>, text: impl FnOnce() -> String) {
        if let Some(traveller) = traveller {
            self.seen[traveller.last_seen].comments.push(text());
        }
    }

    fn finish(mut self, end: Nanos) -> Vec<Sighting> {
        for flow in std::mem::take(&mut self.flows) {
            // The flow sends nothing more: its last packet has to do.
            if let Some(last) = flow.last {
                let texts =
                    flow.pending.into_iter().map(|(since, text)| dated(since, self.seen[last].at, text));
                let texts: Vec<String> = texts.collect();
                self.seen[last].comments.extend(texts);
            }
        }
        // ACKs that have reached the access router and not yet the correspondent node.
        for side in [Side::Old, Side::New] {
            for ack in std::mem::take(&mut self.ascents[index(side)].to_cn) {
                self.see(ack.delivery, Vantage::Link(side), &ack.packet, ack.traveller.identification);
            }
        }
        self.seen.retain(|sighting| sighting.at <= end);
        self.seen.sort_by_key(|sighting| sighting.at);
        self.seen
    }
}

/// A text with the time it belongs to, if that is not the packet's own.
fn dated(since: Nanos, at: Nanos, text: String) -> String {
    if since == at { text } else { format!("at {} s: {text}", seconds(since)) }
}
