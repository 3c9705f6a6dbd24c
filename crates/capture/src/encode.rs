//! The bytes of a packet: IPv4 and TCP as they would stand on the wire, payload of zeros, behind an
//! Ethernet header.
//!
//! The simulated links are not Ethernet. But libpcap 1.10.3, which tcptrace reads with, takes no second
//! interface of link type RAW, and tcptrace knows no link type IPV4.

use super::sightings::Sighting;
use segue_tcp::StackProfile;
use segue_tcp::encode::{byte_number, options, window_field};
use segue_tcp::segment::Ecn;
use segue_tcp::wire::{EncodeError, Flags, Header, IPV4_HEADER, Ipv4Header, MAX_HEADER, Payload};

/// Port of flow 0 at the correspondent node; flow i has the i-th after it.
const FIRST_CN_PORT: u16 = 40_000;
/// Port at the mobile.
const MN_PORT: u16 = 5_001;

/// Ethernet header: addresses that nobody owns (locally administered), then the type of IPv4.
const TO_MOBILE: [u8; 14] = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x08, 0x00];
/// The same on the way back.
const FROM_MOBILE: [u8; 14] = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x08, 0x00];

/// At most `snap` bytes of the frame, and how long it is.
pub(super) fn packet(
    profile: &StackProfile,
    sighting: &Sighting,
    snap: u32,
) -> Result<(Vec<u8>, u32), EncodeError> {
    let packet = &sighting.packet;
    let segment = &packet.segment;
    let mut flags = Flags::NONE;
    if segment.syn {
        flags |= Flags::SYN;
    }
    if segment.has_ack {
        flags |= Flags::ACK;
    }
    for (said, flag) in [(Ecn::ECE, Flags::ECE), (Ecn::CWR, Flags::CWR)] {
        if segment.ecn.says(said) {
            flags |= flag;
        }
    }
    let cn = FIRST_CN_PORT.wrapping_add(packet.flow);
    let (source_port, destination_port) = if packet.data { (cn, MN_PORT) } else { (MN_PORT, cn) };
    let header = Header {
        source_port,
        destination_port,
        sequence: byte_number(profile, segment.seq),
        acknowledgment: byte_number(profile, segment.ack).wrapping_add(u32::from(segment.has_octet())),
        flags,
        window: window_field(profile, segment),
        urgent: 0,
        options: options(profile, segment),
    };
    let addresses = sighting.vantage.addresses(packet.data);
    let payload = usize::from(segment.payload);
    let mut tcp = [0; MAX_HEADER];
    let length = header.encode(addresses, Payload::Zeros(payload), &mut tcp)?;
    // RFC 3168, 5: ECT(0) is 10, CE 11.
    let traffic_class = match segment.ecn {
        ecn if ecn.says(Ecn::CE) => 0b11,
        ecn if ecn.says(Ecn::ECT) => 0b10,
        _ => 0,
    };
    let identification = sighting.identification;
    let ip = Ipv4Header { identification, traffic_class, ..Ipv4Header::new(addresses) };
    let ip = ip.encode(length + payload)?;
    let ethernet = if packet.data { TO_MOBILE } else { FROM_MOBILE };
    let whole = ethernet.len() + IPV4_HEADER + length + payload;
    let kept = whole.min(snap as usize);
    let mut bytes = Vec::with_capacity(kept.max(ethernet.len() + IPV4_HEADER + length));
    bytes.extend_from_slice(&ethernet);
    bytes.extend_from_slice(&ip);
    bytes.extend_from_slice(&tcp[..length]);
    bytes.resize(kept, 0);
    Ok((bytes, whole as u32))
}
