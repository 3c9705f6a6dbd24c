//! The TCP header (RFC 9293, 3.1), with its options and its checksum.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! |          source port          |       destination port        |
//! |                        sequence number                        |
//! |                     acknowledgment number                     |
//! | offset| rsrvd |C E U A P R S F|            window             |
//! |           checksum            |        urgent pointer         |
//! |                          options ...                          |
//! ```
//!
//! A simulated payload has a length and no bytes. As zeros it adds nothing to the checksum but its length, so the
//! header is encoded without the payload ever existing ([`Payload::Zeros`]).

use super::addresses::Ipv4Addresses;
use super::checksum::{self, Sum};
use super::error::{DecodeError, EncodeError};
use super::ipv4::IPV4_HEADER;
use super::options::{Layout, MAX_OPTIONS, Options};
use std::fmt;
use std::ops::{BitAnd, BitOr, BitOrAssign, Not};

/// Length of a TCP header without options, in bytes.
pub const MIN_HEADER: usize = 20;

/// Length of a TCP header with all the options it can have, in bytes.
pub const MAX_HEADER: usize = MIN_HEADER + MAX_OPTIONS;

/// The eight control bits (RFC 9293, 3.1), bit for bit as in byte 13 of the header.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Flags(pub u8);

impl Flags {
    /// No flag.
    pub const NONE: Flags = Flags(0);
    /// No more data from sender.
    pub const FIN: Flags = Flags(1);
    /// Synchronize sequence numbers.
    pub const SYN: Flags = Flags(1 << 1);
    /// Reset the connection.
    pub const RST: Flags = Flags(1 << 2);
    /// Push function.
    pub const PSH: Flags = Flags(1 << 3);
    /// The acknowledgment number counts.
    pub const ACK: Flags = Flags(1 << 4);
    /// The urgent pointer counts.
    pub const URG: Flags = Flags(1 << 5);
    /// ECN echo (RFC 3168, 6.1).
    pub const ECE: Flags = Flags(1 << 6);
    /// Congestion window reduced (RFC 3168, 6.1).
    pub const CWR: Flags = Flags(1 << 7);

    /// Whether all flags of `other` are set here.
    pub fn contains(self, other: Flags) -> bool {
        self & other == other
    }
}

impl BitOr for Flags {
    type Output = Flags;
    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

impl BitOrAssign for Flags {
    fn bitor_assign(&mut self, other: Flags) {
        self.0 |= other.0;
    }
}

impl BitAnd for Flags {
    type Output = Flags;
    fn bitand(self, other: Flags) -> Flags {
        Flags(self.0 & other.0)
    }
}

impl Not for Flags {
    type Output = Flags;
    fn not(self) -> Flags {
        Flags(!self.0)
    }
}

impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = ["FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR"];
        let mut set =
            names.iter().enumerate().filter(|(bit, _)| self.0 >> bit & 1 == 1).map(|(_, name)| name);
        f.write_str(set.next().unwrap_or(&"NONE"))?;
        set.try_for_each(|name| write!(f, "|{name}"))
    }
}

/// Bytes behind the header: they count in the checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload<'a> {
    /// These bytes.
    Bytes(&'a [u8]),
    /// So many bytes of zero: what the simulator's data is in a capture.
    Zeros(usize),
}

impl Payload<'_> {
    /// Nothing.
    pub const NONE: Payload<'static> = Payload::Zeros(0);

    /// Length in bytes.
    pub fn len(&self) -> usize {
        match self {
            Payload::Bytes(bytes) => bytes.len(),
            Payload::Zeros(length) => *length,
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<'a> From<&'a [u8]> for Payload<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Payload::Bytes(bytes)
    }
}

/// A TCP header (RFC 9293, 3.1). Data offset and checksum are not here: encoding works them out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Sequence number of the first byte of payload, or of the SYN.
    pub sequence: u32,
    /// Next sequence number expected; counts if [`Flags::ACK`] is set.
    pub acknowledgment: u32,
    /// Control bits.
    pub flags: Flags,
    /// Receive window as it stands in the header: in units of 2^shift bytes once window scaling is
    /// agreed, in bytes on a SYN (RFC 7323, 2.2 and 2.3).
    pub window: u16,
    /// Urgent pointer, in bytes from `sequence`; counts if [`Flags::URG`] is set.
    pub urgent: u16,
    /// Options.
    pub options: Options,
}

impl Header {
    /// Length of the header on the wire in bytes, options in [`Layout::Aligned`] included; above 60
    /// if they do not fit.
    pub fn encoded_len(&self) -> usize {
        MIN_HEADER + self.options.encoded_len()
    }

    /// Writes the header of a segment with this payload between these addresses, options in
    /// [`Layout::Aligned`], and returns how many bytes of `out` it takes. The payload goes into the
    /// checksum and is not copied. The reserved bits are zero.
    ///
    /// # Errors
    /// Those of [`Options::encode`], and [`EncodeError::PacketTooLong`] if IPv4 header, TCP header
    /// and payload exceed 65535 bytes. In these cases `out` is untouched.
    pub fn encode(
        &self,
        addresses: Ipv4Addresses,
        payload: Payload<'_>,
        out: &mut [u8; MAX_HEADER],
    ) -> Result<usize, EncodeError> {
        self.encode_as(Layout::Aligned, addresses, payload, out)
    }

    /// The same with options in either layout.
    ///
    /// # Errors
    /// As [`Header::encode`].
    pub fn encode_as(
        &self,
        layout: Layout,
        addresses: Ipv4Addresses,
        payload: Payload<'_>,
        out: &mut [u8; MAX_HEADER],
    ) -> Result<usize, EncodeError> {
        let mut options = [0; MAX_OPTIONS];
        let options = {
            let length = self.options.encode_as(layout, &mut options)?;
            &options[..length]
        };
        let header = MIN_HEADER + options.len();
        let segment = payload.len().saturating_add(header);
        let asked = segment.saturating_add(IPV4_HEADER);
        if asked > usize::from(u16::MAX) {
            return Err(EncodeError::PacketTooLong { asked });
        }
        let out = &mut out[..header];
        out[0..2].copy_from_slice(&self.source_port.to_be_bytes());
        out[2..4].copy_from_slice(&self.destination_port.to_be_bytes());
        out[4..8].copy_from_slice(&self.sequence.to_be_bytes());
        out[8..12].copy_from_slice(&self.acknowledgment.to_be_bytes());
        out[12] = ((header / 4) as u8) << 4;
        out[13] = self.flags.0;
        out[14..16].copy_from_slice(&self.window.to_be_bytes());
        out[16..18].fill(0);
        out[18..20].copy_from_slice(&self.urgent.to_be_bytes());
        out[MIN_HEADER..].copy_from_slice(options);
        let mut sum = Sum::pseudo_header(addresses, segment as u16).bytes(out);
        if let Payload::Bytes(payload) = payload {
            sum = sum.bytes(payload);
        }
        out[16..18].copy_from_slice(&sum.checksum().to_be_bytes());
        Ok(header)
    }

    /// Reads a segment: its header and the payload behind it. The checksum is not looked at, so
    /// that captures cut short can be read; the reserved bits are ignored (RFC 9293, 3.1).
    ///
    /// # Errors
    /// [`DecodeError::ShortHeader`], [`DecodeError::DataOffset`] or [`DecodeError::HeaderOverrun`]
    /// for bytes that hold no whole header, and those of [`Options::decode`].
    pub fn decode(segment: &[u8]) -> Result<(Header, &[u8]), DecodeError> {
        let fixed: &[u8; MIN_HEADER] =
            segment.first_chunk().ok_or(DecodeError::ShortHeader { length: segment.len() })?;
        let words = fixed[12] >> 4;
        if usize::from(words) * 4 < MIN_HEADER {
            return Err(DecodeError::DataOffset { words });
        }
        let header = usize::from(words) * 4;
        let (_, payload) = segment
            .split_at_checked(header)
            .ok_or(DecodeError::HeaderOverrun { header, length: segment.len() })?;
        let u16_at = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
        let u32_at = |at: usize| u32::from_be_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
        let this = Header {
            source_port: u16_at(0),
            destination_port: u16_at(2),
            sequence: u32_at(4),
            acknowledgment: u32_at(8),
            flags: Flags(fixed[13]),
            window: u16_at(14),
            urgent: u16_at(18),
            options: Options::decode(&segment[MIN_HEADER..header])?,
        };
        Ok((this, payload))
    }

    /// Reads a whole segment that came between these addresses, and checks its checksum first (RFC
    /// 9293, MUST-3).
    ///
    /// # Errors
    /// [`DecodeError::Checksum`], [`DecodeError::SegmentTooLong`] for more than 65535 bytes, and
    /// those of [`Header::decode`].
    pub fn decode_checked(addresses: Ipv4Addresses, segment: &[u8]) -> Result<(Header, &[u8]), DecodeError> {
        let length = segment.len();
        if length < MIN_HEADER {
            return Err(DecodeError::ShortHeader { length });
        }
        let expected = checksum::tcp(addresses, segment).ok_or(DecodeError::SegmentTooLong { length })?;
        if !checksum::tcp_is_valid(addresses, segment) {
            return Err(DecodeError::Checksum {
                found: u16::from_be_bytes([segment[16], segment[17]]),
                expected,
            });
        }
        Header::decode(segment)
    }
}

#[cfg(test)]
mod tests;
