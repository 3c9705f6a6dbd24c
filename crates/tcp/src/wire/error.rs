//! Errors in received bytes, and in values that are to be sent.

use thiserror::Error;

/// Values that have no encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum EncodeError {
    /// The options need more than the 40 bytes that a data offset of 15 words leaves (RFC 9293,
    /// 3.1).
    #[error("options need {asked} bytes, a TCP header has room for 40")]
    OptionsTooLong {
        /// Bytes the options would take in the layout asked for, padding included.
        asked: usize,
    },
    /// A window scale shift above 14 (RFC 7323, 2.3).
    #[error("window scale shift {shift} is above 14")]
    WindowScale {
        /// The shift count asked for, in bits.
        shift: u8,
    },
    /// More SACK blocks than any option list can carry (RFC 2018, 3).
    #[error("{asked} SACK blocks, an option holds at most 4")]
    TooManySackBlocks {
        /// Number of blocks asked for.
        asked: usize,
    },
    /// More data than an experimental option can carry beside its kind, length and ExID (RFC 6994,
    /// 3).
    #[error("{asked} bytes of experimental data, an option holds at most 36")]
    ExperimentTooLong {
        /// Bytes of data asked for.
        asked: usize,
    },
    /// The packet's length does not fit IPv4's 16-bit total length (RFC 791, 3.1).
    #[error("a packet of {asked} bytes, IPv4 ends at 65535")]
    PacketTooLong {
        /// Bytes of the packet, both headers included.
        asked: usize,
    },
}

/// Bytes that are not TCP. Offsets are in bytes from the start of the option list, lengths in
/// bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// An option list of more than 40 bytes.
    #[error("option list of {length} bytes, a TCP header has room for 40")]
    OptionsTooLong {
        /// Bytes given.
        length: usize,
    },
    /// The list ends where an option's length should stand.
    #[error("option kind {kind} at byte {offset}: the list ends before its length")]
    MissingLength {
        /// Option kind.
        kind: u8,
        /// Where the option starts.
        offset: usize,
    },
    /// A length that the kind forbids: below 2 for any kind (RFC 9293, MUST-7), not the kind's own
    /// for a known one.
    #[error("option kind {kind} at byte {offset}: length {length} is not one of this kind's")]
    BadLength {
        /// Option kind.
        kind: u8,
        /// Where the option starts.
        offset: usize,
        /// The length field.
        length: u8,
    },
    /// An option that reaches beyond the end of the list.
    #[error("option kind {kind} at byte {offset}: length {length}, but the list ends after {left} bytes")]
    Overrun {
        /// Option kind.
        kind: u8,
        /// Where the option starts.
        offset: usize,
        /// The length field.
        length: u8,
        /// Bytes from the option's start to the end of the list.
        left: usize,
    },
    /// Fewer bytes than the smallest TCP header.
    #[error("{length} bytes, a TCP header has at least 20")]
    ShortHeader {
        /// Bytes given.
        length: usize,
    },
    /// A data offset below 5 words.
    #[error("data offset of {words} words, the smallest is 5")]
    DataOffset {
        /// The data offset field, in words of 4 bytes.
        words: u8,
    },
    /// A data offset beyond the end of the bytes given.
    #[error("header of {header} bytes in {length} bytes")]
    HeaderOverrun {
        /// Header length that the data offset states, in bytes.
        header: usize,
        /// Bytes given.
        length: usize,
    },
    /// More bytes than an IPv4 packet can hold, so that there is no checksum over them.
    #[error("a segment of {length} bytes, IPv4 ends at 65535")]
    SegmentTooLong {
        /// Bytes given.
        length: usize,
    },
    /// The checksum does not fit the segment and its addresses.
    #[error("checksum {found:#06x}, the segment sums to {expected:#06x}")]
    Checksum {
        /// The checksum field.
        found: u16,
        /// The sum that it should hold.
        expected: u16,
    },
}
