//! A trace as a time-sequence graph for xplot and what reads its files (jPlot, xpl2gpl). Marks are tcptrace's: a white
//! arrow for data, a red one with R for data sent again. The cumulative ACK is green, with a tick for each duplicate.
//! SACK blocks are purple, the advertised window yellow. As tcptrace does at a sender, it shows what leaves and reaches
//! that host.

use segue_study::explain::SchemeTrace;
use segue_study::story::headline;
use segue_tcp::encode::byte_number;
use segue_world::Nanos;
use segue_world::packet::Packet;
use segue_world::trace::What;
use std::fmt::Write;

/// The graph of a flow.
pub fn xplot(told: &SchemeTrace, flow: u16) -> String {
    let trace = &told.trace;
    let mut graph = Graph { told, text: String::new(), heard: None };
    let title = format!("{}, {}, flow {flow}", headline(&trace.experiment), told.scheme);
    for line in ["timeval unsigned", "title", &title, "xlabel", "time", "ylabel", "sequence number"] {
        graph.line(line);
    }
    for (at, mark) in [(trace.record.at, "handoff"), (trace.record.completion, "new link")] {
        graph.line("blue");
        graph.label("btext", at, 0, mark);
    }
    for event in &trace.events {
        match &event.what {
            What::Sent(packet) if packet.data && packet.flow == flow => graph.sent(event.at, packet),
            What::Received { packet, .. } if !packet.data && packet.flow == flow => {
                graph.heard(event.at, packet)
            }
            What::Timeout { flow: of, head, .. } if *of == flow => {
                let place = graph.byte(*head);
                graph.line("orange");
                graph.label("ltext", event.at, place, "RTO");
            }
            _ => {}
        }
    }
    graph.line("go");
    graph.text
}

struct Graph<'a> {
    told: &'a SchemeTrace,
    text: String,
    /// Time, number and window's end of the last ACK.
    heard: Option<(Nanos, u32, u32)>,
}

impl Graph<'_> {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// A command with its point.
    fn point(&mut self, command: &str, at: Nanos, place: u32) {
        let _ = writeln!(self.text, "{command} {} {place}", seconds(at));
    }

    fn label(&mut self, command: &str, at: Nanos, place: u32, text: &str) {
        self.point(command, at, place);
        self.line(text);
    }

    /// From one point to another.
    fn stroke(&mut self, from: (Nanos, u32), to: (Nanos, u32)) {
        let _ = writeln!(self.text, "line {} {} {} {}", seconds(from.0), from.1, seconds(to.0), to.1);
    }

    fn byte(&self, seq: u32) -> u32 {
        byte_number(&self.told.trace.experiment.stack, seq)
    }

    fn sent(&mut self, at: Nanos, packet: &Packet) {
        let segment = &packet.segment;
        let from = self.byte(segment.seq);
        let to = from + if segment.syn { 1 } else { u32::from(segment.payload) };
        self.line(if packet.retransmission { "red" } else { "white" });
        self.point("darrow", at, from);
        self.point("uarrow", at, to);
        self.stroke((at, from), (at, to));
        if packet.retransmission {
            self.label("atext", at, to, "R");
        }
    }

    fn heard(&mut self, at: Nanos, packet: &Packet) {
        let segment = &packet.segment;
        let ack = self.byte(segment.ack);
        let window = self.byte(segment.ack.saturating_add(segment.window));
        if let Some((before, last, end)) = self.heard {
            self.line("green");
            self.stroke((before, last), (at, last));
            match ack > last {
                true => self.stroke((at, last), (at, ack)),
                false => self.point("dtick", at, ack),
            }
            self.line("yellow");
            self.stroke((before, end), (at, end));
            if end != window {
                self.stroke((at, end), (at, window));
            }
        }
        for &(first, last) in segment.sack.as_slice() {
            let (from, to) = (self.byte(first), self.byte(last.saturating_add(1)));
            self.line("purple");
            self.stroke((at, from), (at, to));
            self.label("ltext", at, to, "S");
        }
        self.heard = Some((at, ack.max(self.heard.map_or(0, |(_, last, _)| last)), window));
    }
}

/// Seconds and microseconds, as `timeval` has them.
fn seconds(time: Nanos) -> String {
    let micros = (time + 500) / 1000;
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}
