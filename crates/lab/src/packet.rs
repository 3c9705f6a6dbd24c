//! The record of each packet that entered the emulator: its way, and its headers as they were sent.

use super::Nanos;
use super::path::{Direction, Fate, Which};
use etherparse::{LaxNetSlice, LaxSlicedPacket, TransportSlice};
use segue_netsim::Codepoint;
use segue_policy::wire::{Report, ReportType};
use std::net::{IpAddr, SocketAddr};

/// Octets kept of each packet: IPv6 (40) and TCP with all its options (60) fit.
pub const SNAPLEN: usize = 128;

/// One packet. Times are ns since the laboratory's time zero.
#[derive(Clone, Debug)]
pub struct Packet {
    /// Which way.
    pub direction: Direction,
    /// Octets of the IP packet.
    pub length: u16,
    /// A host sent it.
    pub entered: Nanos,
    /// It came to the queue of this access link, then, and was to leave the queue at the second time.
    pub queued: Option<(Which, Nanos, Nanos)>,
    /// Its fate.
    pub fate: Fate,
    /// How much later than due it was handed over.
    pub late: u32,
    head: [u8; SNAPLEN],
}

/// The TCP of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Its sender.
    pub source: SocketAddr,
    /// Its receiver.
    pub destination: SocketAddr,
    /// Number of its first octet.
    pub sequence: u32,
    /// Next octet expected from the other side.
    pub acknowledgment: u32,
    /// Octets of data.
    pub payload: u32,
    /// SYN.
    pub syn: bool,
    /// FIN.
    pub fin: bool,
    /// RST.
    pub rst: bool,
}

impl Packet {
    /// A packet that enters now.
    pub(super) fn new(direction: Direction, entered: Nanos, octets: &[u8]) -> Self {
        let mut head = [0; SNAPLEN];
        let kept = octets.len().min(SNAPLEN);
        head[..kept].copy_from_slice(&octets[..kept]);
        let length = u16::try_from(octets.len()).unwrap_or(u16::MAX);
        Self { direction, length, entered, queued: None, fate: Fate::UnderWay, late: 0, head }
    }

    /// The first octets of the IP packet, at most [`SNAPLEN`].
    pub fn head(&self) -> &[u8] {
        &self.head[..usize::from(self.length).min(SNAPLEN)]
    }

    /// Its TCP; `None` if it is none.
    pub fn segment(&self) -> Option<Segment> {
        // The headers alone: lengths inside them speak of the whole packet.
        let sliced = LaxSlicedPacket::from_ip(self.head()).ok()?;
        let (source, destination, header) = match &sliced.net? {
            LaxNetSlice::Ipv4(ip) => {
                let header = ip.header();
                (
                    IpAddr::V4(header.source_addr()),
                    IpAddr::V4(header.destination_addr()),
                    header.slice().len(),
                )
            }
            LaxNetSlice::Ipv6(ip) => {
                let header = ip.header();
                (
                    IpAddr::V6(header.source_addr()),
                    IpAddr::V6(header.destination_addr()),
                    header.slice().len(),
                )
            }
            _ => return None,
        };
        let Some(TransportSlice::Tcp(tcp)) = sliced.transport else { return None };
        let headers = header + usize::from(tcp.data_offset()) * 4;
        Some(Segment {
            source: SocketAddr::new(source, tcp.source_port()),
            destination: SocketAddr::new(destination, tcp.destination_port()),
            sequence: tcp.sequence_number(),
            acknowledgment: tcp.acknowledgment_number(),
            payload: u32::from(self.length).saturating_sub(headers as u32),
            syn: tcp.syn(),
            fin: tcp.fin(),
            rst: tcp.rst(),
        })
    }

    /// Whether it carries a notice: an option of ours that says that a handoff has completed.
    pub fn is_notice(&self) -> bool {
        self.carries(ReportType::Completed)
    }

    /// Whether it carries a report of this kind.
    pub fn carries(&self, kind: ReportType) -> bool {
        let sliced = LaxSlicedPacket::from_ip(self.head()).ok();
        let Some(TransportSlice::Tcp(tcp)) = sliced.and_then(|sliced| sliced.transport) else { return false };
        let mut rest = tcp.options();
        loop {
            // End of the list, padding, and options with a length (RFC 9293, 3.1).
            let length = match rest {
                [] | [0, ..] | [_] => return false,
                [1, ..] => 1,
                [_, length, ..] => usize::from(*length).max(2),
            };
            let Some((option, others)) = rest.split_at_checked(length) else { return false };
            if Report::decode(option).is_ok_and(|report| report.kind == kind) {
                return true;
            }
            rest = others;
        }
    }

    /// Whether it is a message of ICMP, of either version.
    pub fn is_icmp(&self) -> bool {
        let sliced = LaxSlicedPacket::from_ip(self.head()).ok();
        let transport = sliced.and_then(|sliced| sliced.transport);
        matches!(transport, Some(TransportSlice::Icmpv4(_) | TransportSlice::Icmpv6(_)))
    }

    /// When it was handed to the other host.
    pub fn delivered(&self) -> Option<Nanos> {
        match self.fate {
            Fate::Delivered(at) => Some(at),
            _ => None,
        }
    }
}

/// The ECN field of an IP packet (RFC 3168, 5).
pub(super) fn ecn(octets: &[u8]) -> Codepoint {
    let field = match octets {
        [first, second, ..] if first >> 4 == 4 => second & 3,
        [first, second, ..] if first >> 4 == 6 => second >> 4 & 3,
        _ => 0,
    };
    match field {
        0 => Codepoint::NotEct,
        3 => Codepoint::Ce,
        _ => Codepoint::Ect,
    }
}

/// Marks an IP packet: CE. The checksum of IPv4's header follows (RFC 1624, equation 3).
pub(super) fn mark(octets: &mut [u8]) {
    match octets {
        [first, second, _, _, _, _, _, _, _, _, high, low, ..] if *first >> 4 == 4 => {
            let before = u16::from_be_bytes([*first, *second]);
            *second |= 3;
            let after = u16::from_be_bytes([*first, *second]);
            let sum = u32::from(!u16::from_be_bytes([*high, *low])) + u32::from(!before) + u32::from(after);
            let sum = (sum & 0xffff) + (sum >> 16);
            let sum = (sum & 0xffff) + (sum >> 16);
            [*high, *low] = (!(sum as u16)).to_be_bytes();
        }
        [first, second, ..] if *first >> 4 == 6 => *second |= 0x30,
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::{Ipv4Header, PacketBuilder};

    #[test]
    fn headers_of_both_families_are_read_with_the_payload_s_length() {
        let payload = [7; 1400];
        let mut four = Vec::new();
        PacketBuilder::ipv4([192, 0, 2, 1], [192, 0, 2, 2], 64)
            .tcp(5201, 4000, 17, 1000)
            .ack(99)
            .write(&mut four, &payload)
            .unwrap();
        let packet = Packet::new(Direction::Down, 5, &four);
        let segment = packet.segment().unwrap();
        assert_eq!((packet.length, packet.head().len()), (1440, SNAPLEN));
        assert_eq!((segment.sequence, segment.acknowledgment, segment.payload), (17, 99, 1400));
        assert_eq!(segment.source, "192.0.2.1:5201".parse().unwrap());

        let mut six = Vec::new();
        PacketBuilder::ipv6([1; 16], [2; 16], 64).tcp(1, 2, 3, 4).syn().write(&mut six, &[]).unwrap();
        let segment = Packet::new(Direction::Up, 5, &six).segment().unwrap();
        assert_eq!((segment.payload, segment.syn, segment.destination.port()), (0, true, 2));
    }

    /// A marked packet has the checksum that a router computes anew.
    #[test]
    fn a_mark_keeps_the_checksum_right() {
        for (identification, field) in [(0_u16, 1), (0xffff, 2), (0x1234, 2), (0xe8a1, 1)] {
            let mut octets = Vec::new();
            let mut header =
                Ipv4Header::new(20, 64, etherparse::IpNumber::TCP, [192, 0, 2, 1], [192, 0, 2, 2])
                    .expect("a header");
            header.identification = identification;
            header.ecn = etherparse::IpEcn::try_new(field).expect("a field");
            header.header_checksum = header.calc_header_checksum();
            header.write(&mut octets).expect("room");
            assert_eq!(ecn(&octets), Codepoint::Ect);
            mark(&mut octets);
            assert_eq!(ecn(&octets), Codepoint::Ce);
            let (marked, _) = Ipv4Header::from_slice(&octets).expect("a header");
            assert_eq!(marked.header_checksum, marked.calc_header_checksum(), "{identification:x}");
        }
        let mut six = Vec::new();
        PacketBuilder::ipv6([1; 16], [2; 16], 64).tcp(1, 2, 3, 4).write(&mut six, &[]).unwrap();
        assert_eq!(ecn(&six), Codepoint::NotEct);
        six[1] |= 0x20;
        assert_eq!(ecn(&six), Codepoint::Ect);
        mark(&mut six);
        assert_eq!((ecn(&six), six[0], six[1]), (Codepoint::Ce, 0x60, 0x30));
    }

    #[test]
    fn what_is_no_tcp_has_no_segment() {
        let mut udp = Vec::new();
        PacketBuilder::ipv4([1; 4], [2; 4], 64).udp(1, 2).write(&mut udp, &[0; 10]).unwrap();
        assert_eq!(Packet::new(Direction::Up, 0, &udp).segment(), None);
        assert_eq!(Packet::new(Direction::Up, 0, &[0x45, 0]).segment(), None);
    }
}
