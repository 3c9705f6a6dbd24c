//! Our own scripts, on a host of 250 jiffies per second as the one that they were recorded on.

use std::path::Path;

use crate::run::{self, Host};
use crate::script;

const HOST: Host = Host { hz: 250, tolerance: 15_000_000 };

fn holds(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/packetdrill").join(format!("{name}.pkt"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    if let Err(what) = script::parse(&text).and_then(|script| run::play(&script, HOST)) {
        panic!("{name}.pkt: {what}");
    }
}

#[test]
fn tv_07_rack_waits_a_quarter_of_a_round_trip() {
    holds("rack-last-of-four");
}

#[test]
fn tv_07_part_of_a_packet_is_no_packet() {
    holds("rack-last-byte-of-four");
}

#[test]
fn tv_08_late_packets_are_reordering() {
    holds("reordering");
}

#[test]
fn tv_09_prr_of_one_lost_packet() {
    holds("prr-1-lost");
}

#[test]
fn tv_10_prr_of_four_lost_packets() {
    holds("prr-4-lost");
}

#[test]
fn tv_11_prr_of_twelve_lost_packets() {
    holds("prr-12-lost");
}

#[test]
fn tv_12_an_outage() {
    holds("outage");
}

#[test]
fn tv_13_a_buffered_outage() {
    holds("buffered-outage");
}

#[test]
fn tv_14_undo_by_time_stamps() {
    holds("eifel");
}

/// The ninth round trip of the second round ends slow start, all of them being above the threshold. TV-30 says 48,
/// which is the HyStart of before 2025.
#[test]
fn tv_30_hystart_by_delay() {
    holds("hystart");
}

#[test]
fn tv_15_idle_time_shrinks_cwnd() {
    holds("idle");
}

/// cwnd after each ACK of two packets, by how many of a cwnd of 10 were sent (`tcp_is_cwnd_limited`).
#[test]
fn tv_15_growth_by_what_was_sent() {
    for (sent, windows) in [(9, &[12, 14, 16, 18, 18][..]), (6, &[12, 12, 12]), (5, &[10, 10, 10])] {
        let mut text = format!(
            "0 socket(...) = 3\n+0 < S 0:0(0) win 65535 <mss 1000,sackOK>\n+0 > S. 0:0(0) ack 1 <...>\n\
             +.1 < . 1:1(0) ack 1 win 65535\n+0 write(4, ..., {sent}000) = {sent}000\n"
        );
        for (k, cwnd) in windows.iter().enumerate() {
            let acked = sent.min(2 * k + 2);
            text += &format!(
                "+.005 < . 1:1(0) ack {acked}001 win 65535\n+0 %{{ assert tcpi_snd_cwnd == {cwnd} }}%\n"
            );
        }
        if let Err(what) = script::parse(&text).and_then(|script| run::play(&script, HOST)) {
            panic!("{sent} sent, {what} of\n{text}");
        }
    }
}

#[test]
fn tv_28_cubic_with_one_ack_per_window() {
    holds("cubic-one-ack-per-window");
}

#[test]
fn tv_37_an_outage_with_bbr() {
    holds("outage-bbr");
}

#[test]
fn unreachable_takes_back_off_back() {
    holds("unreachable");
}

#[test]
fn a_receiver_without_sack() {
    holds("no-sack");
}

/// A script that does not hold says where.
#[test]
fn a_fault_names_its_line() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/packetdrill/prr-1-lost.pkt");
    let text = std::fs::read_to_string(path).unwrap();
    let wrong = text.replacen("assert tcpi_snd_cwnd == 9,", "assert tcpi_snd_cwnd == 8,", 1);
    let line = 1 + wrong.lines().position(|line| line.contains("cwnd == 8,")).unwrap();
    let fault = run::play(&script::parse(&wrong).unwrap(), HOST).unwrap_err();
    assert_eq!(fault, format!("line {line}: tcpi_snd_cwnd == 8: tcpi_snd_cwnd is 9, 8 is 8"));
    let early = text.replacen(
        "+.002 < . 1:1(0) ack 1 win",
        "+0 > . 90001:91001(1000) ack 1\n+.002 < . 1:1(0) ack 1 win",
        1,
    );
    let fault = run::play(&script::parse(&early).unwrap(), HOST).unwrap_err();
    assert!(fault.contains("sent is 1000 bytes from 1 on at 0.100200 s"), "{fault}");
}

#[test]
fn a_mark_cuts_once() {
    holds("ecn");
}
