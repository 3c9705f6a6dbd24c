//! Measures of hand-made packets.

use super::MS;
use super::measures::{BULK, Frame, measure};
use super::packet::Packet;
use super::path::{Direction, Fate};
use super::record::{Exactness, RunRecord};
use etherparse::PacketBuilder;
use segue_netsim::{Rate, Service};
use segue_policy::Link;
use segue_policy::wire::{Report, ReportType};
use std::time::Duration;

/// Data of the server's, 1000 octets a piece; `piece` 0 begins with octet 1 of the stream.
fn data(port: u16, piece: u32, entered_ms: u64, fate: Fate) -> Packet {
    // Close to the end of the sequence space: offsets must not care.
    let sequence = 0xffff_f000_u32.wrapping_add(piece * 1000);
    let mut octets = Vec::new();
    PacketBuilder::ipv4([192, 0, 2, 1], [192, 0, 2, 2], 64)
        .tcp(5201, port, sequence, 1000)
        .ack(1)
        .write(&mut octets, &[0; 1000])
        .unwrap();
    let mut packet = Packet::new(Direction::Down, entered_ms * MS, &octets);
    packet.fate = fate;
    packet
}

fn ack(entered_ms: u64, fate: Fate) -> Packet {
    let mut octets = Vec::new();
    PacketBuilder::ipv4([192, 0, 2, 2], [192, 0, 2, 1], 64)
        .tcp(4000, 5201, 1, 1000)
        .ack(1)
        .write(&mut octets, &[])
        .unwrap();
    let mut packet = Packet::new(Direction::Up, entered_ms * MS, &octets);
    packet.fate = fate;
    packet
}

fn at(ms: u64) -> Fate {
    Fate::Delivered(ms * MS)
}

fn lost(ms: u64) -> Fate {
    Fate::Disconnected(ms * MS)
}

fn measured(packets: &[Packet]) -> RunRecord {
    let service = Service::Fixed(Rate::new(12_000_000)); // 1500 octets a ms
    let frame = Frame {
        start: 0,
        down: 2000 * MS,
        up: 3000 * MS,
        end: 9000 * MS,
        round_trip: 100 * MS,
        segment: 1500,
        least: BULK,
        service: [&service, &service],
    };
    let mut record =
        RunRecord { emulator: Exactness { cpu: 0.25, ..Exactness::default() }, ..RunRecord::default() };
    measure(packets, &frame, &mut record);
    record
}

#[test]
fn a_disconnection_is_measured_from_both_ends() {
    let mut packets: Vec<_> = (0..12).map(|piece| data(4000, piece, 1500, at(1600))).collect();
    packets.push(ack(1990, lost(2000)));
    packets.push(data(4000, 12, 1990, lost(2000)));
    packets.push(data(4000, 13, 1991, lost(2000)));
    packets.push(data(4000, 11, 2500, lost(2500))); // A timeout while there is no link.
    packets.push(data(4000, 11, 3200, at(3210))); // The mobile had it: needless.
    packets.push(data(4000, 12, 3230, at(3240)));
    packets.push(data(4000, 14, 3231, at(3241)));
    packets.push(data(4000, 13, 3300, at(4150)));
    packets.push(data(4000, 15, 3301, Fate::Dropped(3301 * MS)));
    packets.push(data(4000, 15, 8000, at(8100)));
    packets.push(ack(8100, Fate::Dropped(8100 * MS)));
    let record = measured(&packets);
    let ms = |ms| Some(Duration::from_millis(ms));
    assert_eq!(record.handoff_at, Duration::from_secs(2));
    assert_eq!(record.first_send_after_link_up, ms(200));
    assert_eq!(record.first_retransmission_after_link_up, ms(200));
    assert_eq!(record.head_after_link_up, ms(230));
    // The needless copy at 3210 brought nothing.
    assert_eq!(record.first_data_after_link_up, ms(240));
    assert_eq!(record.first_from_mobile_after_link_up, ms(5100));
    assert_eq!((record.bytes_1s, record.bytes_5s, record.bytes_10s), (Some(2000), Some(3000), None));
    // From 3.1 to 4.1 s.
    assert_eq!((record.bytes_1s_after_round_trip, record.bytes_observed), (Some(2000), 4000));
    assert_eq!((record.capacity_1s, record.capacity_10s), (1_500_000, 15_000_000));
    assert_eq!(record.old_link_share, 12_000.0 / 1_500_000.0);
    assert_eq!((record.after.drops, record.after.data_drops), (2, 1));
    assert_eq!(record.after.lost_in_disconnection, 4);
    assert_eq!((record.after.retransmissions, record.after.needless_retransmissions), (5, 1));
    assert_eq!(record.before.retransmissions, 0);
    assert_eq!((record.flows.len(), record.flows[0].bytes_observed), (1, 4000));
    assert_eq!(record.emulator.cpu, 0.25);
}

/// An acknowledgment with the option of a report.
fn report(entered_ms: u64, kind: ReportType) -> Packet {
    let link = Link { rate_kbps: 6400, delay_us: 9000 };
    let option = Report { kind, seq: 1, nonce: 7, link }.encode().unwrap();
    let mut octets = Vec::new();
    PacketBuilder::ipv4([192, 0, 2, 2], [192, 0, 2, 1], 64)
        .tcp(4000, 5201, 1, 1000)
        .options_raw(&[&[1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2], &option[..]].concat())
        .unwrap()
        .write(&mut octets, &[])
        .unwrap();
    Packet::new(Direction::Up, entered_ms * MS, &octets)
}

/// The first packet of the mobile's may be any acknowledgment; one that says what is foreseen is no notice, either.
#[test]
fn a_notice_is_known_by_its_option() {
    let mut packets = vec![report(2900, ReportType::Completed), ack(3001, at(3010))];
    assert_eq!(measured(&packets).notice_after_link_up, None);
    packets.push(report(3002, ReportType::Expected));
    packets.push(report(3004, ReportType::Completed));
    packets.push(report(3005, ReportType::Completed));
    let record = measured(&packets);
    assert_eq!(record.first_from_mobile_after_link_up, Some(Duration::from_millis(1)));
    assert_eq!(record.notice_after_link_up, Some(Duration::from_millis(4)));
}

#[test]
fn nothing_after_link_up_is_nothing_and_not_zero_time() {
    let packets: Vec<_> = (0..12).map(|piece| data(4000, piece, 1500, at(1600))).collect();
    let record = measured(&packets);
    assert_eq!((record.first_send_after_link_up, record.head_after_link_up), (None, None));
    assert_eq!(record.first_data_after_link_up, None);
    assert_eq!((record.bytes_1s, record.bytes_observed), (Some(0), 0));
}

#[test]
fn flows_are_told_apart_and_small_ones_are_not_counted() {
    let mut packets = Vec::new();
    for piece in 0..12 {
        packets.push(data(4000, piece, 1500, at(1600)));
        packets.push(data(4001, piece, 1500, at(1601)));
    }
    packets.push(data(4001, 12, 3500, at(3600)));
    packets.push(data(4000, 12, 3700, at(3800)));
    packets.push(data(4002, 0, 3001, at(3010))); // iperf3's control connection
    let record = measured(&packets);
    let firsts: Vec<_> =
        record.flows.iter().map(|flow| flow.first_send_after_link_up.unwrap().as_millis()).collect();
    assert_eq!(firsts, [700, 500]);
    assert_eq!(record.first_send_after_link_up, Some(Duration::from_millis(500)));
    assert_eq!(record.first_retransmission_after_link_up, None);
    assert_eq!(record.bytes_1s, Some(2000));
}

#[test]
fn overlapping_retransmissions_count_what_is_new() {
    let mut packets: Vec<_> = (0..12).map(|piece| data(4000, piece, 1500, at(1600))).collect();
    // Octets 12 500 to 13 500, then 12 000 to 13 000, then 13 000 to 14 000.
    let mut odd = data(4000, 12, 3100, at(3110));
    for (at_ms, shift) in [(3100, 500), (3200, 0), (3300, 1000)] {
        let mut octets = Vec::new();
        PacketBuilder::ipv4([192, 0, 2, 1], [192, 0, 2, 2], 64)
            .tcp(5201, 4000, 0xffff_f000_u32.wrapping_add(12_000 + shift), 1000)
            .ack(1)
            .write(&mut octets, &[0; 1000])
            .unwrap();
        odd = Packet::new(Direction::Down, at_ms * MS, &octets);
        odd.fate = at(at_ms + 10);
        packets.push(odd.clone());
    }
    (odd.entered, odd.fate) = (3400 * MS, at(3410));
    packets.push(odd);
    let record = measured(&packets);
    assert_eq!(record.bytes_observed, 2000);
    assert_eq!(record.after.retransmissions, 3);
    assert_eq!(record.after.needless_retransmissions, 1);
}
