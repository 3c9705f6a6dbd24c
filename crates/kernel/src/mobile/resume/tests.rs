use super::*;
use crate::layouts::mapped;
use etherparse::{NetSlice, SlicedPacket, TransportSlice};
use proptest::prelude::{prop_assert, proptest};

fn waiting(local: &str, remote: &str) -> Waiting {
    let [local, remote] = [local, remote].map(|text| text.parse::<SocketAddr>().expect("an address"));
    let raw = segue_waiting {
        tuple: (local, remote).into(),
        acks: [0x0102_0304, 0xfffe_fdfc, 0, 0],
        known: 2,
        seq: 77,
        ack: 0x0102_0304,
        tsval: 1234,
        window: 501,
        stamped: 1,
        ..segue_waiting::default()
    };
    Waiting::from(raw)
}

#[test]
fn a_record_is_read() {
    let waiting = waiting("10.1.2.3:4000", "10.1.2.4:443");
    assert_eq!(waiting.acks, [0x0102_0304, 0xfffe_fdfc], "as many as are known");
    assert_eq!((waiting.rtt, waiting.remote().to_string()), (None, "10.1.2.4:443".into()));
    assert_eq!((waiting.tuple().local_port.to_be(), waiting.tuple().remote_port.to_be()), (4000, 443));
    for (ack, progress) in [
        (0x0102_0304, Progress::None),
        (0x0102_0303, Progress::None),
        (0x0102_0305, Progress::Resumed),
        (0xfffe_fdfc, Progress::None),
    ] {
        assert_eq!(waiting.progress(ack), progress, "{ack:#x}");
    }
}

#[test]
fn numbers_that_are_out_of_order_or_ahead_are_left_out() {
    let kept = |acks: [u32; 4], known, ack| newest_first(&acks, known, ack);
    assert_eq!(kept([40, 30, 20, 10], 4, 40), [40, 30, 20, 10]);
    assert_eq!(kept([40, 30, 20, 10], 4, 45), [40, 30, 20, 10], "an ACK that was not seen");
    assert_eq!(kept([40, 30, 20, 10], 2, 40), [40, 30]);
    assert_eq!(kept([40, 30, 20, 10], 9, 40), [40, 30, 20, 10]);
    // two processors
    assert_eq!(kept([11, 12, 10, 9], 4, 12), [11, 10, 9]);
    assert_eq!(kept([11, 12, 12, 9], 4, 11), [11, 9]);
    assert_eq!(kept([11, 11, 10, 10], 4, 11), [11, 10]);
    // a connection of before
    assert_eq!(kept([9000, 8000, 30, 20], 4, 40), [30, 20]);
    assert_eq!(kept([2, u32::MAX, u32::MAX - 9, 3], 4, 2), [2, u32::MAX, u32::MAX - 9], "modulo 2^32");
}

proptest! {
    /// An octet that is acknowledged has been acknowledged before, whatever stands in the map.
    #[test]
    fn an_octet_is_of_what_has_come(acks: [u32; 4], near: [u8; 4], known in 0u32..6, ack: u32) {
        for acks in [acks, near.map(|behind| ack.wrapping_add(8).wrapping_sub(behind.into()))] {
            for pair in newest_first(&acks, known, ack).windows(2) {
                let octet = pair[1].wrapping_add(1);
                prop_assert!(pair[0].wrapping_sub(octet) < 1 << 31 && ack.wrapping_sub(octet) < 1 << 31);
            }
        }
    }
}

/// RFC 9293, 3.4: modulo 2^32.
#[test]
fn an_ack_of_an_octet_tells_no_more() {
    let waiting = waiting("10.1.2.3:4000", "10.1.2.4:443");
    let acknowledged = |packet: &[u8]| match SlicedPacket::from_ip(packet).expect("a packet").transport {
        Some(TransportSlice::Tcp(tcp)) => (tcp.sequence_number(), tcp.acknowledgment_number()),
        other => panic!("{other:?}"),
    };
    for number in [0xfffe_fdfc, u32::MAX] {
        let packet = waiting.ack_of(number.wrapping_add(1), waiting.window).expect("it can be built");
        assert_eq!(acknowledged(&packet), (77, number.wrapping_add(1)));
    }
    assert_eq!(acknowledged(&waiting.last_ack().expect("it can be built")), (77, 0x0102_0304));
}

/// RFC 792, RFC 4443: our message, from us to the peer, about the peer's segment to us.
#[test]
fn a_message_quotes_the_peers_segment() {
    for (local, remote, expected, header) in
        [("10.1.2.3:4000", "10.1.2.4:443", [3, 1], 20), ("[fd00::1]:4000", "[fd00::2]:443", [1, 0], 40)]
    {
        let waiting = waiting(local, remote);
        let packet = craft::unreachable(&waiting.ends, 0xfffe_fdfc).expect("it can be built");
        let sliced = SlicedPacket::from_ip(&packet).expect("a packet");
        let (kind, quoted) = match (sliced.net.expect("IP"), sliced.transport.expect("ICMP")) {
            (NetSlice::Ipv4(ip), TransportSlice::Icmpv4(icmp)) => {
                let addresses = (ip.header().source_addr(), ip.header().destination_addr());
                assert_eq!(
                    (addresses.0.into(), addresses.1.into()),
                    (waiting.ends.local.ip(), waiting.ends.remote.ip())
                );
                assert_eq!(icmp.checksum(), icmp.icmp_type().calc_checksum(icmp.payload()));
                ([icmp.type_u8(), icmp.code_u8()], icmp.payload().to_vec())
            }
            (NetSlice::Ipv6(ip), TransportSlice::Icmpv6(icmp)) => {
                let (source, destination) = (ip.header().source(), ip.header().destination());
                assert_eq!(ip.header().destination_addr(), waiting.ends.remote.ip());
                assert!(icmp.is_checksum_valid(source, destination));
                ([icmp.type_u8(), icmp.code_u8()], icmp.payload().to_vec())
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(kind, expected);
        assert_eq!(quoted.len(), header + 8);
        assert_eq!(quoted[header..], [1, 187, 0x0f, 0xa0, 0xff, 0xfe, 0xfd, 0xfc]);
        // The quoted addresses are those of the peer's packet.
        let addresses = match header {
            20 => ([10, 1, 2, 4].to_vec(), [10, 1, 2, 3].to_vec(), 12),
            _ => (mapped(waiting.ends.remote.ip()).to_vec(), mapped(waiting.ends.local.ip()).to_vec(), 8),
        };
        let (source, destination, at) = addresses;
        let length = source.len();
        assert_eq!(quoted[at..at + length], source);
        assert_eq!(quoted[at + length..at + 2 * length], destination);
    }
}

/// RFC 1191, section 4; RFC 4443, 3.2.
#[test]
fn a_smaller_mtu_is_told_of_the_peers_segment() {
    for (local, remote, kind, mtu) in [
        ("10.1.2.3:4000", "10.1.2.4:443", [3, 4], [0, 0, 5, 0xd4]),
        ("[fd00::1]:4000", "[fd00::2]:443", [2, 0], [0, 0, 5, 0xd4]),
    ] {
        let waiting = waiting(local, remote);
        let [packet, other] = [craft::too_big(&waiting.ends, 9, 1492), craft::unreachable(&waiting.ends, 9)]
            .map(|packet| packet.expect("it can be built"));
        let header = if waiting.remote().is_ipv4() { 20 } else { 40 };
        assert_eq!((&packet[header..header + 2], &packet[header + 4..header + 8]), (&kind[..], &mtu[..]));
        assert_eq!(packet[header + 8..], other[header + 8..], "the same is quoted");
        match SlicedPacket::from_ip(&packet).expect("a packet").transport.expect("ICMP") {
            TransportSlice::Icmpv4(icmp) => {
                assert_eq!(icmp.checksum(), icmp.icmp_type().calc_checksum(icmp.payload()));
            }
            TransportSlice::Icmpv6(icmp) => {
                let [from, to] =
                    [&packet[8..24], &packet[24..40]].map(|ip| ip.try_into().expect("16 octets"));
                assert!(icmp.is_checksum_valid(from, to));
            }
            other => panic!("{other:?}"),
        }
    }
}

/// 1448 octets of data, 12 of time stamps, 20 of TCP's header and 20 of IPv4's are 1500.
#[test]
fn a_smaller_mtu_is_below_the_peers_packets() {
    let of = |remote: &str, mss, stamp| {
        let local = if remote.starts_with('[') { "[fd00::1]:4000" } else { "10.1.2.3:4000" };
        Waiting { mss, own_mss: mss, stamp, ..waiting(local, remote) }.smaller_mtu()
    };
    assert_eq!(of("10.1.2.4:443", 1448, Some(1)), Some(1492));
    assert_eq!(of("10.1.2.4:443", 1460, None), Some(1492));
    assert_eq!(of("[fd00::2]:443", 1428, Some(1)), Some(1492));
    assert_eq!(of("10.1.2.4:443", 1236, Some(1)), Some(1280), "no smaller one");
    assert_eq!(of("10.1.2.4:443", 1235, Some(1)), None);
    assert_eq!(of("10.1.2.4:443", 0, Some(1)), None, "unknown");
    assert_eq!(of("10.1.2.4:443", u16::MAX, Some(1)), None, "no packet");
}

/// Outage after outage, on a link of 1500 octets.
#[test]
fn a_smaller_mtu_is_at_most_eight_steps_below_what_this_host_announces() {
    for (local, remote, own_mss) in
        [("10.1.2.3:4000", "10.1.2.4:443", 1448), ("[fd00::1]:4000", "[fd00::2]:443", 1428)]
    {
        let mut peer = Waiting { mss: own_mss, own_mss, stamp: Some(1), ..waiting(local, remote) };
        let mut told = Vec::new();
        while let Some(mtu) = peer.smaller_mtu() {
            told.push(mtu);
            peer.mss = mtu - (1500 - own_mss);
        }
        assert_eq!(told, [1492, 1484, 1476, 1468, 1460, 1452, 1444, 1436]);
        // Its own link or another host makes the peer's packets so small.
        assert_eq!(Waiting { own_mss: 8948, ..peer }.smaller_mtu(), None);
    }
}

#[test]
fn the_last_ack_echoes_nothing() {
    let packet = waiting("10.1.2.3:4000", "10.1.2.4:443").last_ack().expect("it can be built");
    let sliced = SlicedPacket::from_ip(&packet).expect("a packet");
    let Some(TransportSlice::Tcp(tcp)) = sliced.transport else { panic!("no TCP") };
    assert_eq!((tcp.sequence_number(), tcp.acknowledgment_number()), (77, 0x0102_0304));
    assert_eq!((tcp.window_size(), tcp.ack(), tcp.payload().len()), (501, true, 0));
    assert_eq!(tcp.options(), [1, 1, 8, 10, 0, 0, 4, 210, 0, 0, 0, 0]);
}

#[test]
fn a_closed_window_stands_in_the_same_ack() {
    let waiting = waiting("10.1.2.3:4000", "10.1.2.4:443");
    let [open, closed] = [waiting.last_ack(), waiting.last_ack_with(0)].map(|packet| packet.expect("an ACK"));
    let sliced = SlicedPacket::from_ip(&closed).expect("a packet");
    let Some(TransportSlice::Tcp(tcp)) = sliced.transport else { panic!("no TCP") };
    assert_eq!((tcp.sequence_number(), tcp.acknowledgment_number()), (77, 0x0102_0304));
    assert_eq!((tcp.window_size(), open.len()), (0, closed.len()));
}
