//! The Internet checksum (RFC 1071) and TCP's use of it (RFC 9293, 3.1).
//!
//! The checksum is the ones' complement of the ones' complement sum of all 16-bit words. An odd last byte counts as the
//! high half of a word. A whole that contains its own checksum sums to 0xffff.

use super::addresses::{Ipv4Addresses, PROTOCOL_TCP};

/// Where the checksum stands in a TCP header, in bytes.
const TCP_FIELD: usize = 16;

/// A running ones' complement sum. Only the last piece added may have an odd length.
#[derive(Clone, Copy, Default)]
pub(super) struct Sum(u64);

impl Sum {
    pub(super) fn word(self, word: u16) -> Self {
        Sum(self.0 + u64::from(word))
    }

    pub(super) fn bytes(self, bytes: &[u8]) -> Self {
        let (words, odd) = bytes.as_chunks::<2>();
        let sum = words.iter().fold(self.0, |sum, word| sum + u64::from(u16::from_be_bytes(*word)));
        Sum(sum + odd.first().map_or(0, |&last| u64::from(last) << 8))
    }

    /// TCP's pseudo header: addresses, protocol and the length of header and payload in bytes.
    pub(super) fn pseudo_header(addresses: Ipv4Addresses, length: u16) -> Self {
        Sum::default()
            .bytes(&addresses.source.octets())
            .bytes(&addresses.destination.octets())
            .word(u16::from(PROTOCOL_TCP))
            .word(length)
    }

    pub(super) fn checksum(self) -> u16 {
        let mut sum = self.0;
        for _ in 0..4 {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        !(sum as u16)
    }
}

/// The Internet checksum of `bytes` (RFC 1071, 1), as a number in host order; its field in the
/// bytes, if they hold one, must be zero. Over bytes that hold their correct checksum the result is
/// 0.
pub fn internet(bytes: &[u8]) -> u16 {
    Sum::default().bytes(bytes).checksum()
}

/// The checksum that a TCP segment should carry between these addresses (RFC 9293, 3.1). `segment`
/// is header, options and payload; what its checksum field holds now does not matter.
///
/// `None` if the segment is too short to have the field (18 bytes) or longer than 65535 bytes.
pub fn tcp(addresses: Ipv4Addresses, segment: &[u8]) -> Option<u16> {
    let length = u16::try_from(segment.len()).ok()?;
    let before = segment.get(..TCP_FIELD)?;
    let after = segment.get(TCP_FIELD + 2..)?;
    Some(Sum::pseudo_header(addresses, length).bytes(before).bytes(after).checksum())
}

/// Whether a TCP segment (header, options and payload) carries the right checksum for these
/// addresses (RFC 9293, MUST-3). A segment too short to have one does not.
pub fn tcp_is_valid(addresses: Ipv4Addresses, segment: &[u8]) -> bool {
    segment.len() >= TCP_FIELD + 2
        && u16::try_from(segment.len())
            .is_ok_and(|length| Sum::pseudo_header(addresses, length).bytes(segment).checksum() == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    const ADDRESSES: Ipv4Addresses =
        Ipv4Addresses { source: Ipv4Addr::new(10, 0, 0, 1), destination: Ipv4Addr::new(10, 0, 0, 2) };

    #[test]
    fn rfc_1071_section_3_example() {
        // Words 0001 f203 f4f5 f6f7 sum to ddf2.
        assert_eq!(internet(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
    }

    #[test]
    fn an_odd_last_byte_is_the_high_half_of_a_word() {
        assert_eq!(internet(&[0x00, 0x01, 0xf2]), !0xf201);
        assert_eq!(internet(&[]), 0xffff);
    }

    #[test]
    fn carries_fold_more_than_once() {
        // ffff + ffff + 0001 = 1ffff, then 10000, then 1.
        assert_eq!(internet(&[0xff, 0xff, 0xff, 0xff, 0x00, 0x01]), !1);
        assert_eq!(internet(&[0xff; 65536]), 0);
    }

    /// Sum by hand. Pseudo header: 0a00 + 0001 + 0a00 + 0002 + 0006 + 0014 = 141d. Header words:
    /// 1388 1389 0000 0001 0000 0002 5010 ffff 0000, together 17723 = 7724. 141d + 7724 = 8b41; its
    /// complement is 74be.
    #[test]
    fn tcp_over_the_pseudo_header() {
        let mut segment =
            [0x13, 0x88, 0x13, 0x89, 0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x10, 0xff, 0xff, 0, 0, 0, 0];
        assert_eq!(tcp(ADDRESSES, &segment), Some(0x74be));
        assert!(!tcp_is_valid(ADDRESSES, &segment));
        segment[16..18].copy_from_slice(&[0x74, 0xbe]);
        assert!(tcp_is_valid(ADDRESSES, &segment));
        assert_eq!(tcp(ADDRESSES, &segment), Some(0x74be), "the field itself does not count");
        segment[7] ^= 1;
        assert!(!tcp_is_valid(ADDRESSES, &segment));
    }

    #[test]
    fn lengths_without_a_checksum() {
        assert_eq!(tcp(ADDRESSES, &[0; 17]), None);
        assert_eq!(tcp(ADDRESSES, &vec![0; 65536]), None);
        assert!(!tcp_is_valid(ADDRESSES, &[0; 17]));
        assert!(!tcp_is_valid(ADDRESSES, &vec![0; 65536]));
    }
}
