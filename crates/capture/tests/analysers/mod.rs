//! Findings of tshark and tcptrace in a capture, beside those of the trace.
#![allow(dead_code)] // each test file uses its part

use segue_tcp::encode::{byte_number, window_field};
use segue_world::Nanos;
use segue_world::trace::{Trace, What};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

/// Port of flow 0 at the correspondent node.
pub const FIRST_CN_PORT: u16 = 40_000;

/// A data packet at the correspondent node: time, flow, first byte.
pub type Sent = (Nanos, u16, u32);

/// Findings in the events of the correspondent node.
#[derive(Debug, Default)]
pub struct Told {
    /// Packets sent again.
    pub retransmissions: BTreeSet<Sent>,
    /// Duplicate ACKs (RFC 5681, section 2), notices apart, as the sender counts them.
    pub duplicates: usize,
    /// ACKs that repeat the ACK heard before, and carry a notice.
    pub repeated_notices: usize,
    /// ACKs that repeat the ACK heard before: what tshark calls a duplicate ACK.
    pub repeats: usize,
    /// ACKs that report a duplicate.
    pub dsacks: usize,
    /// No ACK was overtaken by another.
    pub in_order: bool,
}

pub fn told(trace: &Trace) -> Told {
    let mut told = Told { in_order: true, ..Told::default() };
    let stack = &trace.experiment.stack;
    // State of each flow: greatest ACK, one beyond the highest packet, and the last ACK with its window.
    let mut flows = vec![(0, 0, None); trace.experiment.flows];
    for event in &trace.events {
        match &event.what {
            What::Sent(packet) if packet.data => {
                let segment = &packet.segment;
                let max = &mut flows[usize::from(packet.flow)].1;
                *max = segment.seq.max(*max - u32::from(*max > 0)) + 1;
                if packet.retransmission {
                    let sent = (event.at, packet.flow, byte_number(stack, segment.seq));
                    told.retransmissions.insert(sent);
                }
            }
            What::Received { packet, .. } if !packet.data => {
                let segment = &packet.segment;
                let (una, max, last) = &mut flows[usize::from(packet.flow)];
                let window = window_field(stack, segment);
                let repeats = !segment.syn && *last == Some((segment.ack, window));
                let notice = !segment.option.is_empty();
                let same_window = last.is_some_and(|(_, before)| before == window);
                let duplicate = !segment.syn && segment.ack == *una && *max > *una && same_window && !notice;
                told.repeats += usize::from(repeats);
                told.repeated_notices += usize::from(repeats && notice);
                told.duplicates += usize::from(duplicate);
                told.dsacks += usize::from(segment.sack.dsack(segment.ack).is_some());
                told.in_order &= segment.ack >= *una;
                *una = segment.ack.max(*una);
                *last = Some((segment.ack, window));
            }
            _ => {}
        }
    }
    told
}

/// Runs a program to its end; settings of the user's do not count.
pub fn run(program: &str, arguments: &[&str], file: &Path) -> Output {
    let nowhere = env!("CARGO_TARGET_TMPDIR");
    let output = Command::new(program)
        .args(arguments)
        .arg(file)
        .env("WIRESHARK_CONFIG_DIR", nowhere)
        .env("LC_ALL", "C")
        .output()
        .unwrap_or_else(|error| panic!("{program}: {error}"));
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// tshark's findings about the packets at the correspondent node, and about all.
#[derive(Debug, Default)]
pub struct Tshark {
    /// `tcp.analysis.retransmission`.
    pub retransmissions: BTreeSet<Sent>,
    /// `tcp.analysis.out_of_order`.
    pub out_of_order: BTreeSet<Sent>,
    /// `tcp.analysis.duplicate_ack`.
    pub duplicates: usize,
    /// `tcp.options.sack.dsack_le`.
    pub dsacks: usize,
    /// `tcp.analysis.retransmission` at any interface.
    pub retransmissions_anywhere: usize,
}

/// Fields asked of tshark, in this order.
const FIELDS: [&str; 11] = [
    "frame.interface_name",
    "frame.time_epoch",
    "tcp.srcport",
    "tcp.seq_raw",
    "tcp.analysis.retransmission",
    "tcp.analysis.out_of_order",
    "tcp.analysis.duplicate_ack",
    "tcp.options.sack.dsack_le",
    "ip.checksum.status",
    "tcp.checksum.status",
    "_ws.malformed",
];

pub fn tshark(file: &Path) -> Tshark {
    let mut arguments = vec!["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE", "-T", "fields"];
    FIELDS.iter().for_each(|field| arguments.extend(["-e", field]));
    arguments.push("-r");
    let output = run("tshark", &arguments, file);
    let mut told = Tshark::default();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        assert_eq!(fields.len(), FIELDS.len(), "{line}");
        assert_eq!(fields[8..], ["1", "1", ""], "checksums and form: {line}");
        let has = |index: usize| usize::from(!fields[index].is_empty());
        told.retransmissions_anywhere += has(4);
        if fields[0] != "CN" {
            continue;
        }
        let port: u16 = fields[2].parse().expect("a port");
        // The mobile sends something again, too: it answers a repeated SYN with another SYN and ACK.
        if let Some(flow) = port.checked_sub(FIRST_CN_PORT) {
            let at = fields[1].replace('.', "").parse().expect("a time in ns");
            let sent = (at, flow, fields[3].parse().expect("a sequence number"));
            told.retransmissions.extend((has(4) > 0).then_some(sent));
            told.out_of_order.extend((has(5) > 0).then_some(sent));
        }
        told.duplicates += has(6);
        told.dsacks += has(7);
    }
    told
}

/// tcptrace's findings about the connections at the correspondent node: data packets sent again, D-SACKs.
pub fn tcptrace(file: &Path) -> (usize, usize) {
    let output = run("tcptrace", &["-l", "-n"], file);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (mut at_cn, mut connections, mut found) = (false, 0, (0, 0));
    for line in text.lines().map(str::trim) {
        if let Some(host) = line.strip_prefix("host ") {
            at_cn = host.contains("198.51.100.1:");
            connections += usize::from(at_cn);
        }
        let numbers = |line: &str| -> Vec<usize> {
            line.split_whitespace().filter_map(|word| word.parse().ok()).collect()
        };
        if at_cn && line.starts_with("rexmt data pkts:") {
            found.0 += numbers(line)[0];
        }
        // Absent where no side agreed to SACK.
        if at_cn && line.starts_with("dsack pkts sent:") {
            found.1 += numbers(line)[1];
        }
    }
    assert!(connections > 0, "tcptrace found no connection: {text}");
    found
}
