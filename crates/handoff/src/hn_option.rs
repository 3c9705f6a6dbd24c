//! The Handoff Notification as a TCP option (Espi and others 2010; algorithms.md, 5.1).
//!
//! Two forms. The paper's has three octets; its kind 29 has become TCP-AO, and it cannot tell Start from Finish, so
//! it stays off the wire. On the wire the option shares kind, identifier, numbers and nonce with the notice
//! (docs/reference/wire.md):
//!
//! ```text
//!     0        1        2        3        4        5        6        7        8        9        10       11
//!    +--------+--------+--------+--------+--------+--------+--------+--------+--------+
//!    |kind 253|length 9|   ExID 0x5e9e   | 1 | 4  |   seq  |      nonce      |EHD|PBS |   Start, quantised
//!    +--------+--------+--------+--------+--------+--------+--------+--------+--------+--------+--------+--------+
//!    |kind 253|length12|   ExID 0x5e9e   | 1 | 4  |   seq  |      nonce      |   EHD, 10 ms    |    PBS, kB      |   Start, exact
//!    +--------+--------+--------+--------+--------+--------+--------+--------+--------+--------+--------+--------+
//!    |kind 253|length 8|   ExID 0x5e9e   | 1 | 5  |   seq  |      nonce      |   Finish
//!    +--------+--------+--------+--------+--------+--------+--------+--------+
//! ```

use segue_policy::wire::{EXID, KIND, OptionError};
use segue_tcp::Nanos;

/// Kind of the paper's option: the first that was free in 2010.
pub const PAPER_KIND: u8 = 29;
/// Octets of the paper's option.
pub const PAPER_LENGTH: usize = 3;
/// Unit of the expected handoff delay.
pub const EHD_UNIT: Nanos = 10_000_000;
/// Unit of the permissible buffer size, bytes: 1 kB = 1000 bytes (9.24).
pub const PBS_UNIT: u64 = 1000;
/// Largest exponent of either.
const LARGEST: u8 = 15;
/// Longest EHD that is not shortened.
pub const LONGEST_EHD: Nanos = EHD_UNIT << LARGEST;
/// Largest PBS, bytes.
pub const LARGEST_PBS: u64 = PBS_UNIT << LARGEST;

const VERSION: u8 = 1;
const START: u8 = 4;
const FINISH: u8 = 5;
const FINISH_LENGTH: usize = 8;
const QUANTISED_LENGTH: usize = 9;
const EXACT_LENGTH: usize = 12;

/// How EHD and PBS are written (9.24: 100 kB quantise to 64 kB, and the paper's results speak of 100).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// An order of magnitude each, four bits: the paper's.
    #[default]
    Quantised,
    /// Whole multiples of 10 ms and of 1 kB, 16 bits each.
    Exact,
}

/// HO Start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// Expected handoff delay.
    pub ehd: Nanos,
    /// Permissible buffer size, bytes.
    pub pbs: u64,
}

/// Contents of the mobile's option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Announcement {
    /// A handoff is about to begin.
    Start(Start),
    /// It is over.
    Finish,
}

/// An announcement as it stands on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Announced {
    /// The content.
    pub what: Announcement,
    /// Its number among the connection's reports, modulo 256.
    pub seq: u8,
    /// As exchanged in the handshake.
    pub nonce: u16,
}

/// EHD field: the least exponent that is not too short, at most 15 (5.1, Eq. 1a).
pub fn ehd_field(ehd: Nanos) -> u8 {
    (0..LARGEST).find(|&field| EHD_UNIT << field >= ehd).unwrap_or(LARGEST)
}

/// PBS field: the greatest exponent that is not too large, at most 15 (5.1, Eq. 1b); `None` below one `unit`, which
/// cannot be told. `unit`: bytes of a kB.
pub fn pbs_field(pbs: u64, unit: u64) -> Option<u8> {
    (0..=LARGEST).rev().find(|&field| unit << field <= pbs)
}

/// Delay that an EHD field stands for, ns.
pub fn ehd_of(field: u8) -> Nanos {
    EHD_UNIT << field.min(LARGEST)
}

/// Buffer that a PBS field stands for, bytes.
pub fn pbs_of(field: u8, unit: u64) -> u64 {
    unit << field.min(LARGEST)
}

impl Start {
    /// The values that a sender reads: never a shorter delay, never a larger buffer. `None`: the buffer is too small
    /// to be told.
    pub fn as_told(self, encoding: Encoding) -> Option<Self> {
        Some(match encoding {
            Encoding::Quantised => {
                let pbs = pbs_of(pbs_field(self.pbs, PBS_UNIT)?, PBS_UNIT);
                Self { ehd: ehd_of(ehd_field(self.ehd)), pbs }
            }
            Encoding::Exact => {
                let (ehd, pbs) = self.units()?;
                Self { ehd: Nanos::from(ehd) * EHD_UNIT, pbs: u64::from(pbs) * PBS_UNIT }
            }
        })
    }

    /// In multiples of the units.
    fn units(self) -> Option<(u16, u16)> {
        let ehd = u16::try_from(self.ehd.div_ceil(EHD_UNIT)).unwrap_or(u16::MAX);
        let pbs = u16::try_from(self.pbs / PBS_UNIT).unwrap_or(u16::MAX);
        (pbs > 0).then_some((ehd, pbs))
    }

    /// The paper's option (5.1); `None` if the buffer is too small to be told, or if it would read as a Finish.
    pub fn encode_paper(self) -> Option<[u8; PAPER_LENGTH]> {
        let octet = ehd_field(self.ehd) << 4 | pbs_field(self.pbs, PBS_UNIT)?;
        (octet != 0).then_some([PAPER_KIND, PAPER_LENGTH as u8, octet])
    }
}

impl Announcement {
    /// The paper's option; both fields at zero are a Finish (5.1, 9.24).
    pub fn encode_paper(self) -> Option<[u8; PAPER_LENGTH]> {
        match self {
            Self::Start(start) => start.encode_paper(),
            Self::Finish => Some([PAPER_KIND, PAPER_LENGTH as u8, 0]),
        }
    }

    /// The announcement in the octets of the paper's option, kind to end.
    pub fn decode_paper(octets: &[u8]) -> Result<Self, OptionError> {
        match *octets {
            [kind, ..] if kind != PAPER_KIND => Err(OptionError::Kind),
            [_, 3, 0] => Ok(Self::Finish),
            [_, 3, fields] => {
                Ok(Self::Start(Start { ehd: ehd_of(fields >> 4), pbs: pbs_of(fields & 15, PBS_UNIT) }))
            }
            _ => Err(OptionError::Length),
        }
    }
}

impl Announced {
    /// The option on the wire, and how many of its octets are used; `None` if the buffer is too small to be told.
    pub fn encode(&self, encoding: Encoding) -> Option<([u8; EXACT_LENGTH], usize)> {
        let mut octets = [0; EXACT_LENGTH];
        let (kind, length) = match (self.what, encoding) {
            (Announcement::Finish, _) => (FINISH, FINISH_LENGTH),
            (Announcement::Start(start), Encoding::Quantised) => {
                octets[8] = ehd_field(start.ehd) << 4 | pbs_field(start.pbs, PBS_UNIT)?;
                (START, QUANTISED_LENGTH)
            }
            (Announcement::Start(start), Encoding::Exact) => {
                let (ehd, pbs) = start.units()?;
                octets[8..10].copy_from_slice(&ehd.to_be_bytes());
                octets[10..12].copy_from_slice(&pbs.to_be_bytes());
                (START, EXACT_LENGTH)
            }
        };
        (octets[0], octets[1]) = (KIND, length as u8);
        octets[2..4].copy_from_slice(&EXID.to_be_bytes());
        (octets[4], octets[5]) = (VERSION << 4 | kind, self.seq);
        octets[6..8].copy_from_slice(&self.nonce.to_be_bytes());
        Some((octets, length))
    }

    /// The announcement in these octets, kind to end.
    pub fn decode(octets: &[u8]) -> Result<Self, OptionError> {
        let &[kind, length, exid_high, exid_low, of, seq, nonce_high, nonce_low, ref rest @ ..] = octets
        else {
            return Err(OptionError::Length);
        };
        if kind != KIND {
            return Err(OptionError::Kind);
        }
        if usize::from(length) != octets.len() {
            return Err(OptionError::Length);
        }
        if u16::from_be_bytes([exid_high, exid_low]) != EXID {
            return Err(OptionError::ExId);
        }
        if of >> 4 != VERSION {
            return Err(OptionError::Version);
        }
        let what = match (of & 15, rest) {
            (START, &[fields]) => {
                Announcement::Start(Start { ehd: ehd_of(fields >> 4), pbs: pbs_of(fields & 15, PBS_UNIT) })
            }
            (START, &[ehd_high, ehd_low, pbs_high, pbs_low]) => Announcement::Start(Start {
                ehd: Nanos::from(u16::from_be_bytes([ehd_high, ehd_low])) * EHD_UNIT,
                pbs: u64::from(u16::from_be_bytes([pbs_high, pbs_low])) * PBS_UNIT,
            }),
            (FINISH, []) => Announcement::Finish,
            (START | FINISH, _) => return Err(OptionError::Length),
            _ => return Err(OptionError::Type),
        };
        Ok(Self { what, seq, nonce: u16::from_be_bytes([nonce_high, nonce_low]) })
    }
}
