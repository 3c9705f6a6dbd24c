//! `policy/notice.h` in Rust: the handoff notice and the capability as TCP options.

pub mod tcp_ho;

use crate::Link;
use crate::ffi;
pub use crate::replay_window::{CAPABILITY_LENGTH, REPORT_LENGTH, ReplayWindow};
use std::fmt;

/// Option kind: experiment (RFC 4727).
pub const KIND: u8 = 253;
/// Experiment identifier (RFC 6994).
pub const EXID: u16 = 0x5e9e;
/// The subject of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReportType {
    /// The link at the start of the connection.
    First = 1,
    /// A handoff to this link has completed.
    Completed = 2,
    /// A handoff to this link is foreseen.
    Expected = 3,
}

/// One report: the option of 12 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Report {
    /// Its subject.
    pub kind: ReportType,
    /// Its number, modulo 256.
    pub seq: u8,
    /// As exchanged in the handshake.
    pub nonce: u16,
    /// The link. On the wire the rate has 11 significant bits, the delay 0.1 ms.
    pub link: Link,
}

/// The option of 8 bytes on SYN and SYN-ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Capability {
    /// For later use.
    pub flags: u8,
    /// Reports must repeat it.
    pub nonce: u16,
}

/// Why octets are no option of ours, or a report cannot be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OptionError {
    /// The octets are too few or too many, or the length octet is wrong.
    Length = 1,
    /// Another option's kind.
    Kind = 2,
    /// Another experiment.
    ExId = 3,
    /// A version not known here.
    Version = 4,
    /// Not a type of this option.
    Type = 5,
    /// A link without a rate.
    ZeroRate = 6,
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Length => "wrong length",
            Self::Kind => "another option kind",
            Self::ExId => "another experiment's identifier",
            Self::Version => "unknown version",
            Self::Type => "unknown type",
            Self::ZeroRate => "rate is zero",
        })
    }
}

impl std::error::Error for OptionError {}

/// The fate of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Acceptance {
    /// It is news.
    Accepted,
    /// Forged, or of another connection.
    WrongNonce,
    /// A copy, or overtaken by a newer one.
    Repeated,
}

fn checked(code: u32) -> Result<(), OptionError> {
    Err(match code {
        0 => return Ok(()),
        1 => OptionError::Length,
        2 => OptionError::Kind,
        3 => OptionError::ExId,
        4 => OptionError::Version,
        5 => OptionError::Type,
        6 => OptionError::ZeroRate,
        other => unreachable!("notice.h has no answer {other}"),
    })
}

impl Report {
    /// The octets of the option.
    pub fn encode(&self) -> Result<[u8; REPORT_LENGTH], OptionError> {
        let mut octets = [0; REPORT_LENGTH];
        checked(ffi::segue_shim_encode_report(&self.raw(), &mut octets))?;
        Ok(octets)
    }

    /// The report that these octets, kind to end, are.
    pub fn decode(octets: &[u8]) -> Result<Self, OptionError> {
        let mut raw = ffi::RawReport::default();
        checked(ffi::decode_report(octets, &mut raw))?;
        Ok(Self {
            kind: match raw.kind {
                1 => ReportType::First,
                2 => ReportType::Completed,
                _ => ReportType::Expected,
            },
            seq: raw.seq,
            nonce: raw.nonce,
            link: raw.link,
        })
    }

    pub(crate) fn raw(&self) -> ffi::RawReport {
        ffi::RawReport { link: self.link, nonce: self.nonce, seq: self.seq, kind: self.kind as u8 }
    }
}

impl Capability {
    /// The octets of the option.
    pub fn encode(&self) -> [u8; CAPABILITY_LENGTH] {
        let mut octets = [0; CAPABILITY_LENGTH];
        let raw = ffi::RawCapability { nonce: self.nonce, flags: self.flags, pad: 0 };
        ffi::segue_shim_encode_capability(&raw, &mut octets);
        octets
    }

    /// The capability that these octets, kind to end, are.
    pub fn decode(octets: &[u8]) -> Result<Self, OptionError> {
        let mut raw = ffi::RawCapability::default();
        checked(ffi::decode_capability(octets, &mut raw))?;
        Ok(Self { flags: raw.flags, nonce: raw.nonce })
    }
}

impl ReplayWindow {
    /// Whether a report has this connection's nonce.
    pub fn is_of(&self, report: &Report) -> bool {
        report.nonce == self.nonce
    }

    /// Nothing has been accepted yet.
    pub const fn new(nonce: u16) -> Self {
        Self { nonce, last_seq: 0, heard: 0 }
    }

    /// Whether this report counts; if so it is remembered.
    pub fn accept(&mut self, report: &Report) -> Acceptance {
        match ffi::segue_shim_accept_report(self, &report.raw()) {
            0 => Acceptance::Accepted,
            1 => Acceptance::WrongNonce,
            _ => Acceptance::Repeated,
        }
    }
}

/// The 16 bits that stand for a rate: 5-bit exponent, 11-bit mantissa, kbit/s.
pub fn encode_rate(rate_kbps: u32) -> u16 {
    // The C function returns at most 5 + 11 bits.
    ffi::segue_shim_encode_rate(rate_kbps) as u16
}

/// The rate that these 16 bits stand for; saturates at `u32::MAX`.
pub fn decode_rate(code: u16) -> u32 {
    ffi::segue_shim_decode_rate(u32::from(code))
}
