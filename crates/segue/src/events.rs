//! The events of a trace as text: time, who, what, the sender's state, the rule that acted.

use crate::layout::{wrapped, wrapped_links};
use crate::screen::COLUMNS;
use segue_handoff::Occasion;
use segue_study::decision_words::{advice_in_words, program_in_words};
use segue_study::explain::SchemeTrace;
use segue_study::numbers::packets;
use segue_study::warnings::warnings;
use segue_study::{story, tcp_rules};
use segue_tcp::StackProfile;
use segue_tcp::receiver::Arrival;
use segue_world::packet::Packet;
use segue_world::trace::{Event, LossCause, SenderState, Side, What};
use segue_world::{Nanos, SECOND};
use std::fmt::Write;

/// One line.
struct Line {
    at: Nanos,
    who: &'static str,
    flow: Option<u16>,
    what: String,
    state: Option<SenderState>,
    rule: String,
}

/// Widths of the columns for who (less the flow's number), what and state.
const WIDTHS: (usize, usize, usize) = (8, 58, 62);

/// Events from T on, or all: one a line, with the sender and the rule in columns. Where a terminal is too narrow for that,
/// they stand below the event, so that no row breaks.
pub fn render(told: &SchemeTrace, all: bool, several_stacks: bool, terminal: Option<usize>) -> String {
    let rows = table(told, all);
    let longest = rows.lines().map(|row| row.chars().count()).max().unwrap_or(0);
    match terminal.filter(|width| *width < longest) {
        Some(width) => {
            wrapped_links(&heading(told, several_stacks), width)
                + &below_one_another(told, all, width)
                + &summary(told, width)
        }
        None => format!("{}\n{rows}{}", heading(told, several_stacks), summary(told, COLUMNS)),
    }
}

/// When, who, what; below it the sender and the rule.
fn below_one_another(told: &SchemeTrace, all: bool, width: usize) -> String {
    let mut text = String::new();
    let several = told.trace.experiment.flows > 1;
    let who = WIDTHS.0 + if several { format!(" {}", told.trace.experiment.flows - 1).len() } else { 0 };
    for line in lines(told, if all { 0 } else { told.trace.record.at }) {
        let flow = line.flow.filter(|_| several).map(|flow| format!(" {flow}")).unwrap_or_default();
        let head = format!("{:>13}  {:who$}  ", seconds(line.at), format!("{}{flow}", line.who));
        text.push_str(&wrapped(&head, &line.what, width));
        let rule = (!line.rule.is_empty()).then(|| format!("[{}]", line.rule));
        let beside: Vec<String> = line.state.as_ref().map(state_text).into_iter().chain(rule).collect();
        if !beside.is_empty() {
            text.push_str(&wrapped(&" ".repeat(17), &beside.join("  "), width));
        }
    }
    text
}

/// The events in columns, below their heads.
fn table(told: &SchemeTrace, all: bool) -> String {
    let mut text = String::new();
    let several = told.trace.experiment.flows > 1;
    let from = if all { 0 } else { told.trace.record.at };
    let (who, what, state) = WIDTHS;
    let who = who + if several { format!(" {}", told.trace.experiment.flows - 1).len() } else { 0 };
    let _ = writeln!(
        text,
        "{:>13}  {:who$}  {:what$}  {:state$}  rule (segue explain 2.1)",
        "time, s", "who", "what", "sender"
    );
    for line in lines(told, from) {
        let flow = line.flow.filter(|_| several).map(|flow| format!(" {flow}")).unwrap_or_default();
        let sender = line.state.as_ref().map(state_text).unwrap_or_default();
        let row = format!(
            "{:>13}  {:who$}  {:what$}  {sender:state$}  {}",
            seconds(line.at),
            format!("{}{flow}", line.who),
            line.what,
            line.rule
        );
        text.push_str(row.trim_end());
        text.push('\n');
    }
    text
}

/// The events of a trace in words.
pub fn story(told: &SchemeTrace, several_stacks: bool, width: usize) -> String {
    let mut text = wrapped_links(&heading(told, several_stacks), width);
    let several = told.trace.experiment.flows > 1;
    for sentence in story::story(told) {
        let flow = sentence.flow.filter(|_| several).map(|flow| format!("flow {flow}: ")).unwrap_or_default();
        let rule = sentence.rule.map(|rule| format!("  [{rule}]")).unwrap_or_default();
        let words = format!("{flow}{}{rule}", sentence.text);
        text.push_str(&wrapped(&format!("{:>8}  ", short(sentence.at)), &words, width));
    }
    text.push_str(&summary(told, width));
    text
}

fn heading(told: &SchemeTrace, several_stacks: bool) -> String {
    let headline = story::headline(&told.trace.experiment);
    let warnings = warnings(&told.trace.experiment, [told.stack], several_stacks);
    let warnings: String = warnings.iter().map(|warning| format!("; {warning}")).collect();
    let at = short(told.trace.record.at);
    format!("{} on {}: {headline}, at {at} s{warnings}", told.scheme, told.stack)
}

/// The counts of docs/reference/bench.md, and those of the whole capture.
fn summary(told: &SchemeTrace, width: usize) -> String {
    let record = &told.trace.record;
    let transfer = record.transfer.map_or("not done".into(), |time| format!("{} s", short(time)));
    let events = &told.trace.events;
    let count = |of: &dyn Fn(&What) -> bool| events.iter().filter(|event| of(&event.what)).count();
    let kept = count(&|what| matches!(what, What::Sent(packet) if packet.retransmission));
    let resent = told.trace.resent_before as usize + kept;
    // Most links lose nothing.
    let on_links = match record.link_losses {
        0 => String::new(),
        losses => format!("; on links that were up: {losses}"),
    };
    let counts = format!(
        "From completion to the end: transfer {transfer}, bound {} s; timeouts {}, spurious {}; fast retransmits {}; \
         drops {}; retransmissions {}, needless {}. Lost in the disconnection: {}{on_links}. Retransmissions since the \
         flows began: {resent}.",
        short(record.bound),
        record.timeouts_after().count(),
        record.timeouts_after().filter(|timeout| timeout.spurious).count(),
        record.fast_retransmits.iter().filter(|f| f.0 >= record.completion).count(),
        record.drops,
        record.retransmissions,
        record.needless_retransmissions,
        record.lost_in_disconnection,
    );
    wrapped("", &counts, width) + "\n"
}

fn lines(told: &SchemeTrace, from: Nanos) -> Vec<Line> {
    let record = &told.trace.record;
    let mut lines: Vec<Line> = Vec::new();
    let mut marks = vec![(record.at, "the handoff begins"), (record.completion, "the new link is up")];
    if record.at == record.completion {
        marks = vec![(record.at, "the handoff: the new link takes over")];
    }
    let mut marks = marks.into_iter().peekable();
    for event in &told.trace.events {
        while let Some((at, what)) = marks.next_if(|(at, _)| event.at >= *at) {
            lines.push(Line {
                at,
                who: "-",
                flow: None,
                what: what.into(),
                state: None,
                rule: String::new(),
            });
        }
        if let What::State { flow, state } = &event.what {
            // It belongs to what the sender has just heard, decided or sent.
            let same = |line: &&mut Line| line.at == event.at && line.flow == Some(*flow) && line.who == "CN";
            match lines.last_mut().filter(same) {
                Some(line) => line.state = Some(*state),
                None => lines.push(Line {
                    at: event.at,
                    who: "CN",
                    flow: Some(*flow),
                    what: "sender".into(),
                    state: Some(*state),
                    rule: String::new(),
                }),
            }
            continue;
        }
        lines.extend(line(told, event));
    }
    lines.retain(|line| line.at >= from);
    lines
}

/// A rule of TCP itself, and the section of algorithms.md about its stack.
fn cited(rule: &str, stack: &StackProfile) -> String {
    match tcp_rules::section(stack) {
        Some(section) => format!("{rule} ({section})"),
        None => rule.to_string(),
    }
}

fn line(told: &SchemeTrace, event: &Event) -> Option<Line> {
    let stack = &told.trace.experiment.stack;
    let (who, flow, what, rule) = match &event.what {
        What::Sent(packet) => (host(packet.data), packet.flow, sends(packet), String::new()),
        What::Received { packet, arrival } => {
            let news = match arrival {
                Some(Arrival::Duplicate) if !packet.is_probe() => ", which it has",
                Some(Arrival::Refused) => " and refuses it: the time stamp is too old (PAWS)",
                _ => "",
            };
            let what = format!("receives {}{news}", packet_text(packet));
            (host(!packet.data), packet.flow, what, String::new())
        }
        What::Queued { .. } | What::State { .. } => return None,
        What::Dropped { side, packet } => {
            (link(*side), packet.flow, format!("drops {}: queue full", packet_text(packet)), String::new())
        }
        What::Lost { side, packet, cause } => {
            let why = if *cause == LossCause::Link { "on its way" } else { "no link" };
            (link(*side), packet.flow, format!("loses {}: {why}", packet_text(packet)), String::new())
        }
        What::Overflowed { side, packet } => {
            let what = format!("has no room for {} in the buffer of its router", packet_text(packet));
            (link(*side), packet.flow, what, String::new())
        }
        What::Timeout { flow, head, .. } => {
            let known = told.trace.record.timeouts.iter().find(|t| (t.at, t.flow) == (event.at, *flow));
            let spurious = known.is_some_and(|timeout| timeout.spurious);
            let why = if spurious { " (spurious: the packet was not lost)" } else { "" };
            ("CN", *flow, format!("timeout of {head}{why}"), cited(tcp_rules::timeout_rule(stack), stack))
        }
        What::FastRetransmit { flow, head, dup_acks } => {
            let rule = tcp_rules::fast_retransmit_rule(stack);
            let plural = if *dup_acks == 1 { "" } else { "s" };
            let what = format!("fast retransmit of {head} ({dup_acks} duplicate ACK{plural})");
            ("CN", *flow, what, cited(rule, stack))
        }
        What::HyStart { flow, sign, before, ssthresh } => {
            let what = tcp_rules::hystart_in_words(*sign, *before, *ssthresh);
            ("CN", *flow, what, tcp_rules::HYSTART_RULE.into())
        }
        What::Acted { flow, act } => {
            let who = if act.at_sender() { "CN" } else { "MN" };
            (who, *flow, act.to_string(), act.rule().to_string())
        }
        What::Decided { flow, decision } => {
            let asked = advice_in_words(decision);
            let heard = match decision.occasion {
                Occasion::Notice(_) => "receives the notice: ",
                Occasion::Start(_) => "receives HO Start: ",
                Occasion::Finish => "receives HO Finish: ",
                _ => "",
            };
            let asked = if asked.is_empty() { "nothing to do".to_string() } else { asked };
            let mut rules: Vec<String> =
                decision.rules.iter().map(|rule| format!("{} ({})", rule.name, rule.section)).collect();
            rules
                .extend(program_in_words(decision).map(|(name, _)| format!("{name} (segue explain {name})")));
            ("CN", *flow, format!("{heard}{asked}"), rules.join(", "))
        }
    };
    Some(Line { at: event.at, who, flow: Some(flow), what, state: None, rule })
}

fn host(correspondent: bool) -> &'static str {
    if correspondent { "CN" } else { "MN" }
}

fn link(side: Side) -> &'static str {
    match side {
        Side::Old => "old link",
        Side::New => "new link",
    }
}

fn sends(packet: &Packet) -> String {
    let again = if packet.retransmission { "resends" } else { "sends" };
    format!("{again} {}", packet_text(packet))
}

/// `2131`, or `ACK 2110, SACK 2112-2115`: SACK blocks name their first and last packet.
fn packet_text(packet: &Packet) -> String {
    let segment = &packet.segment;
    let report = if segment.option.is_empty() { "" } else { ", option" };
    if packet.is_probe() {
        return "window probe".to_string();
    }
    if packet.data {
        let syn = if segment.syn { "SYN " } else { "" };
        return format!("{syn}{}{report}", segment.seq);
    }
    let mut text = format!("{}ACK {}", if segment.syn { "SYN-" } else { "" }, segment.ack);
    if segment.sack.dsack(segment.ack).is_some() {
        text.push_str(", D-SACK");
    } else if !segment.sack.is_empty() {
        text.push_str(", SACK");
    }
    for (index, (left, right)) in segment.sack.as_slice().iter().enumerate() {
        let between = if index == 0 { " " } else { "," };
        let _ = if right - left == 1 {
            write!(text, "{between}{left}")
        } else {
            write!(text, "{between}{left}-{}", right - 1)
        };
    }
    if segment.window == 0 {
        text.push_str(", window 0");
    }
    text + report
}

fn state_text(state: &SenderState) -> String {
    let phase = match (state.in_rto_recovery, state.in_fast_recovery) {
        (true, _) => " RTO recovery",
        (_, true) => " fast recovery",
        _ => "",
    };
    format!(
        "una {} flight {} cwnd {} ssthresh {} RTO {}{phase}",
        state.snd_una,
        state.flight(),
        packets(state.cwnd),
        packets(state.ssthresh),
        short(state.rto),
    )
}

/// Seconds, all nine decimals.
fn seconds(time: Nanos) -> String {
    format!("{}.{:09}", time / SECOND, time % SECOND)
}

/// Seconds, three decimals.
fn short(time: Nanos) -> String {
    format!("{:.3}", time as f64 / SECOND as f64)
}
