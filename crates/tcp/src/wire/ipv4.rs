//! The IPv4 header that captures put before a segment: 20 bytes, no options (RFC 791, 3.1).

use super::addresses::{Ipv4Addresses, PROTOCOL_TCP};
use super::checksum;
use super::error::EncodeError;

/// Length of an IPv4 header without options, in bytes.
pub const IPV4_HEADER: usize = 20;

/// Fields that vary in the IPv4 header of an unfragmented TCP packet (RFC 791, 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ipv4Header {
    /// Source and destination.
    pub addresses: Ipv4Addresses,
    /// Differentiated services code point (RFC 2474) in the high six bits, ECN field (RFC 3168) in
    /// the low two.
    pub traffic_class: u8,
    /// Identification; free where the packet must not be fragmented (RFC 6864, 4.1).
    pub identification: u16,
    /// The flag "don't fragment", which every TCP with path MTU discovery sets (RFC 1191, 3).
    pub dont_fragment: bool,
    /// Time to live, in hops.
    pub time_to_live: u8,
}

impl Ipv4Header {
    /// A packet as Linux sends it: best effort, not to be fragmented, identification 0, 64 hops.
    pub fn new(addresses: Ipv4Addresses) -> Self {
        Ipv4Header { addresses, traffic_class: 0, identification: 0, dont_fragment: true, time_to_live: 64 }
    }

    /// The header before `segment_length` bytes of TCP header, options and payload, with its
    /// checksum.
    ///
    /// # Errors
    /// [`EncodeError::PacketTooLong`] if header and segment exceed 65535 bytes.
    pub fn encode(&self, segment_length: usize) -> Result<[u8; IPV4_HEADER], EncodeError> {
        let asked = segment_length.saturating_add(IPV4_HEADER);
        let total_length = u16::try_from(asked).map_err(|_| EncodeError::PacketTooLong { asked })?;
        let mut out = [0; IPV4_HEADER];
        out[0] = 0x45; // version 4, header of 5 words
        out[1] = self.traffic_class;
        out[2..4].copy_from_slice(&total_length.to_be_bytes());
        out[4..6].copy_from_slice(&self.identification.to_be_bytes());
        out[6] = if self.dont_fragment { 0x40 } else { 0 };
        out[8] = self.time_to_live;
        out[9] = PROTOCOL_TCP;
        out[12..16].copy_from_slice(&self.addresses.source.octets());
        out[16..20].copy_from_slice(&self.addresses.destination.octets());
        let sum = checksum::internet(&out);
        out[10..12].copy_from_slice(&sum.to_be_bytes());
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn header() -> Ipv4Header {
        Ipv4Header::new(Ipv4Addresses {
            source: Ipv4Addr::new(192, 168, 0, 1),
            destination: Ipv4Addr::new(192, 168, 0, 199),
        })
    }

    /// The textbook header 4500 0073 0000 4000 4011 b861 c0a8 0001 c0a8 00c7 (UDP). Here it has protocol 6 for 17, so
    /// that the checksum grows by 11 to b86c.
    #[test]
    fn textbook_header() {
        let expected = [
            0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x06, 0xb8, 0x6c, 0xc0, 0xa8, 0x00, 0x01,
            0xc0, 0xa8, 0x00, 0xc7,
        ];
        assert_eq!(header().encode(0x73 - 20), Ok(expected));
    }

    #[test]
    fn every_field_in_its_place() {
        let header = Ipv4Header {
            traffic_class: 0xb9, // expedited forwarding, ECT(1)
            identification: 0x1234,
            dont_fragment: false,
            time_to_live: 3,
            ..header()
        };
        let bytes = header.encode(1480).unwrap();
        assert_eq!(bytes[..10], [0x45, 0xb9, 0x05, 0xdc, 0x12, 0x34, 0x00, 0x00, 0x03, 0x06]);
        assert_eq!(checksum::internet(&bytes), 0);
    }

    #[test]
    fn total_length_ends_at_65535() {
        assert_eq!(header().encode(65515).unwrap()[2..4], [0xff, 0xff]);
        assert_eq!(header().encode(65516), Err(EncodeError::PacketTooLong { asked: 65536 }));
        assert_eq!(header().encode(usize::MAX), Err(EncodeError::PacketTooLong { asked: usize::MAX }));
    }

    #[test]
    fn reversed_twice_is_the_same() {
        let there = header().addresses;
        assert_eq!(there.reversed().source, there.destination);
        assert_eq!(there.reversed().reversed(), there);
    }
}
