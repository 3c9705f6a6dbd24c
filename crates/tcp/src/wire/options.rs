//! The option list of a TCP header: at most 40 bytes (RFC 9293, 3.1 and 3.2).
//!
//! ```text
//! kind  length  option
//!    0       -  end of list                                             RFC 9293, 3.2
//!    1       -  no operation                                            RFC 9293, 3.2
//!    2       4  maximum segment size(16)                                RFC 9293, 3.2
//!    3       3  window scale shift(8)                                   RFC 7323, 2.2
//!    4       2  SACK permitted                                          RFC 2018, 2
//!    5    2+8n  SACK: n times left(32) right(32)                        RFC 2018, 3; RFC 2883, 4
//!    8      10  time stamp value(32), echo reply(32)                    RFC 7323, 3.2
//!  253     4+d  ExID(16), d bytes                                       RFC 6994, 3
//!  254     4+d  ExID(16), d bytes                                       RFC 6994, 3
//! ```
//!
//! Two layouts are written. [`Layout::Aligned`] is Linux's, word by word. Each option starts so that its numbers lie on
//! four-byte boundaries, and SACK permitted takes the place of the two NOPs before time stamps. [`Layout::Packed`] has
//! the same order without NOPs between options. Options that fit beside each other:
//!
//! | beside | SACK blocks, aligned | SACK blocks, packed |
//! |---|---|---|
//! | nothing | 4 | 4 |
//! | time stamps | 3 (full) | 3 |
//! | a 12-byte experimental option | 3 (full) | 3 |
//! | time stamps and a 12-byte experimental option | 1 (2 would take 44 bytes) | 2 (full) |
//!
//! Both layouts end on a multiple of four, padded with NOPs. Any list that [`Options::decode`]
//! accepts can be written again in the packed layout; in the aligned one it may not fit.

use super::error::{DecodeError, EncodeError};
use super::kind;
use super::raw_options::{RawOption, RawOptions};
use super::sack_blocks::{MAX_SACK_BLOCKS, SackBlock, SackBlocks};
use std::fmt;

/// Most bytes an option list can have: a data offset of 15 words less the fixed header (RFC 9293,
/// 3.1).
pub const MAX_OPTIONS: usize = 40;

/// Most bytes of data in an experimental option, beside its kind, length and ExID (RFC 6994, 3).
pub const MAX_EXPERIMENT_DATA: usize = 36;

/// Largest shift count of the window scale option, in bits (RFC 7323, 2.3).
pub const MAX_WINDOW_SCALE: u8 = 14;

const MSS_LENGTH: usize = 4;
const WINDOW_SCALE_LENGTH: usize = 3;
const SACK_PERMITTED_LENGTH: usize = 2;
const SACK_BASE: usize = 2;
const SACK_PER_BLOCK: usize = 8;
const TIMESTAMPS_LENGTH: usize = 10;
const EXPERIMENT_BASE: usize = 4;

/// The time stamps option (RFC 7323, 3.2), in ticks of each sender's own clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timestamps {
    /// TSval: the sender's clock.
    pub value: u32,
    /// TSecr: the TSval echoed; means something only with ACK set.
    pub echo: u32,
}

/// The two option kinds set aside for experiments (RFC 4727, RFC 6994).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Experiment {
    /// Kind 253.
    One,
    /// Kind 254.
    Two,
}

impl Experiment {
    /// The option kind.
    pub fn kind(self) -> u8 {
        match self {
            Experiment::One => kind::EXPERIMENT_1,
            Experiment::Two => kind::EXPERIMENT_2,
        }
    }
}

/// An experimental option (RFC 6994, 3): one of two kinds, an experiment identifier and up to 36
/// bytes, held in place. A 32-bit identifier has its lower half in the first two bytes of data.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Experimental {
    /// Which of the two kinds.
    pub experiment: Experiment,
    /// ExID.
    pub exid: u16,
    // Beyond `length` all bytes are zero, so that the derived equality holds.
    data: [u8; MAX_EXPERIMENT_DATA],
    length: u8,
}

impl Experimental {
    /// The option with these bytes behind its ExID; its length on the wire is 4 more.
    ///
    /// # Errors
    /// [`EncodeError::ExperimentTooLong`] for more than 36 bytes.
    pub fn new(experiment: Experiment, exid: u16, data: &[u8]) -> Result<Self, EncodeError> {
        let mut this =
            Experimental { experiment, exid, data: [0; MAX_EXPERIMENT_DATA], length: data.len() as u8 };
        this.data
            .get_mut(..data.len())
            .ok_or(EncodeError::ExperimentTooLong { asked: data.len() })?
            .copy_from_slice(data);
        Ok(this)
    }

    /// The bytes behind the ExID.
    pub fn data(&self) -> &[u8] {
        &self.data[..usize::from(self.length)]
    }

    /// Length on the wire in bytes: kind, length, ExID and data.
    pub fn wire_length(&self) -> usize {
        EXPERIMENT_BASE + usize::from(self.length)
    }

    /// The first option of the list `bytes` with this kind and this ExID. It is found also behind options of other
    /// experiments, which [`Options`] has no place for. `None` as well if the list is malformed before it.
    pub fn find(bytes: &[u8], experiment: Experiment, exid: u16) -> Option<Experimental> {
        RawOptions::new(bytes)
            .map_while(Result::ok)
            .filter_map(|option| Experimental::from_raw(&option))
            .find(|option| option.experiment == experiment && option.exid == exid)
    }

    /// `None` for other kinds, and for kinds 253 and 254 used without an ExID.
    fn from_raw(option: &RawOption<'_>) -> Option<Experimental> {
        let experiment = match option.kind {
            kind::EXPERIMENT_1 => Experiment::One,
            kind::EXPERIMENT_2 => Experiment::Two,
            _ => return None,
        };
        let (exid, data) = option.data.split_first_chunk::<2>()?;
        Experimental::new(experiment, u16::from_be_bytes(*exid), data).ok()
    }
}

impl fmt::Debug for Experimental {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Experimental {{ kind: {}, exid: {:#06x}, data: ", self.experiment.kind(), self.exid)?;
        self.data().iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str(" }")
    }
}

/// How options are laid out; see the table at the top of this file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// As Linux does (`tcp_options_write`): numbers on four-byte boundaries, NOPs before short
    /// options.
    #[default]
    Aligned,
    /// No NOPs between options: shorter, and what some middleboxes and stacks send.
    Packed,
}

/// The options of one segment. `None`, `false` and empty mean that the option is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Maximum segment size the sender can receive, in bytes without headers (RFC 9293, 3.7.1); SYN
    /// only.
    pub mss: Option<u16>,
    /// Window scale shift count, 0 to 14 bits (RFC 7323, 2.2); SYN only.
    pub window_scale: Option<u8>,
    /// SACK permitted (RFC 2018, 2); SYN only.
    pub sack_permitted: bool,
    /// Time stamps (RFC 7323, 3.2).
    pub timestamps: Option<Timestamps>,
    /// SACK blocks (RFC 2018, 3), the first of which may be a D-SACK (RFC 2883, 4).
    pub sack: SackBlocks,
    /// An experimental option with an ExID (RFC 6994, 3).
    pub experimental: Option<Experimental>,
}

impl Options {
    /// Length of the options on the wire in bytes, [`Layout::Aligned`], padding included: a
    /// multiple of 4, and above 40 if they do not fit.
    pub fn encoded_len(&self) -> usize {
        self.encoded_len_as(Layout::Aligned)
    }

    /// The same in either layout.
    pub fn encoded_len_as(&self, layout: Layout) -> usize {
        let sack =
            if self.sack.is_empty() { 0 } else { sack_start(layout) + self.sack.len() * SACK_PER_BLOCK };
        (self.length_without_sack(layout) + sack).next_multiple_of(4)
    }

    /// How many SACK blocks fit beside the other options, 0 to 4, in [`Layout::Aligned`]; blocks
    /// already in `sack` do not matter. A receiver truncates its blocks to this (RFC 2018, 3 and
    /// 4), as Linux does.
    pub fn sack_room(&self) -> usize {
        self.sack_room_as(Layout::Aligned)
    }

    /// The same in either layout.
    pub fn sack_room_as(&self, layout: Layout) -> usize {
        let taken = self.length_without_sack(layout) + sack_start(layout);
        (MAX_OPTIONS.saturating_sub(taken) / SACK_PER_BLOCK).min(MAX_SACK_BLOCKS)
    }

    /// Bytes of all options but SACK, NOPs between them included, final padding not.
    fn length_without_sack(&self, layout: Layout) -> usize {
        let mut length = self.experimental.map_or(0, |option| option.wire_length());
        if self.mss.is_some() {
            length += MSS_LENGTH;
        }
        match layout {
            Layout::Aligned => {
                if self.timestamps.is_some() {
                    length += 2 + TIMESTAMPS_LENGTH;
                } else if self.sack_permitted {
                    length += 2 + SACK_PERMITTED_LENGTH;
                }
                if self.window_scale.is_some() {
                    length += 1 + WINDOW_SCALE_LENGTH;
                }
            }
            Layout::Packed => {
                if self.sack_permitted {
                    length += SACK_PERMITTED_LENGTH;
                }
                if self.timestamps.is_some() {
                    length += TIMESTAMPS_LENGTH;
                }
                if self.window_scale.is_some() {
                    length += WINDOW_SCALE_LENGTH;
                }
            }
        }
        length
    }

    /// Writes the options in [`Layout::Aligned`] and returns how many bytes of `out` they take, a
    /// multiple of 4. The rest of `out` is left as it was.
    ///
    /// # Errors
    /// [`EncodeError::OptionsTooLong`] if they take more than 40 bytes,
    /// [`EncodeError::WindowScale`] for a shift above 14. In both cases `out` is untouched.
    pub fn encode(&self, out: &mut [u8; MAX_OPTIONS]) -> Result<usize, EncodeError> {
        self.encode_as(Layout::Aligned, out)
    }

    /// The same in either layout.
    ///
    /// # Errors
    /// As [`Options::encode`].
    pub fn encode_as(&self, layout: Layout, out: &mut [u8; MAX_OPTIONS]) -> Result<usize, EncodeError> {
        let asked = self.encoded_len_as(layout);
        if asked > MAX_OPTIONS {
            return Err(EncodeError::OptionsTooLong { asked });
        }
        if let Some(shift) = self.window_scale.filter(|&shift| shift > MAX_WINDOW_SCALE) {
            return Err(EncodeError::WindowScale { shift });
        }
        let aligned = layout == Layout::Aligned;
        let mut out = Writer { out, length: 0 };
        if let Some(mss) = self.mss {
            out.head(kind::MSS, MSS_LENGTH);
            out.bytes(&mss.to_be_bytes());
        }
        if self.sack_permitted {
            if aligned && self.timestamps.is_none() {
                out.nops(2);
            }
            out.head(kind::SACK_PERMITTED, SACK_PERMITTED_LENGTH);
        }
        if let Some(timestamps) = self.timestamps {
            if aligned && !self.sack_permitted {
                out.nops(2);
            }
            out.head(kind::TIMESTAMPS, TIMESTAMPS_LENGTH);
            out.bytes(&timestamps.value.to_be_bytes());
            out.bytes(&timestamps.echo.to_be_bytes());
        }
        if let Some(shift) = self.window_scale {
            if aligned {
                out.nops(1);
            }
            out.head(kind::WINDOW_SCALE, WINDOW_SCALE_LENGTH);
            out.bytes(&[shift]);
        }
        if !self.sack.is_empty() {
            if aligned {
                out.nops(2);
            }
            out.head(kind::SACK, SACK_BASE + self.sack.len() * SACK_PER_BLOCK);
            for block in &self.sack {
                out.bytes(&block.left.to_be_bytes());
                out.bytes(&block.right.to_be_bytes());
            }
        }
        if let Some(option) = &self.experimental {
            out.head(option.experiment.kind(), option.wire_length());
            out.bytes(&option.exid.to_be_bytes());
            out.bytes(option.data());
        }
        out.nops(asked - out.length);
        Ok(asked)
    }

    /// Reads an option list: the bytes between the fixed header and the data offset.
    ///
    /// * Unknown kinds are skipped by their length (RFC 9293, MUST-6). So are kinds 253 and 254
    ///   with a length of 2 or 3: an experiment that does not use ExIDs (RFC 4727).
    /// * An end of list ends it; what follows is padding and is not looked at (RFC 9293, 3.2).
    /// * The first one of an option that is repeated counts; the others must still be well-formed.
    ///   The first experimental option counts whatever its ExID; [`Experimental::find`]
    ///   finds the others.
    /// * A window scale above 14 is read as 14 (RFC 7323, 2.3).
    ///
    /// # Errors
    /// [`DecodeError::OptionsTooLong`] for more than 40 bytes. [`DecodeError::MissingLength`],
    /// [`DecodeError::BadLength`] or [`DecodeError::Overrun`] for an option whose length is impossible (RFC 9293,
    /// MUST-7). That includes SACK with anything else than one to four whole blocks.
    pub fn decode(bytes: &[u8]) -> Result<Options, DecodeError> {
        if bytes.len() > MAX_OPTIONS {
            return Err(DecodeError::OptionsTooLong { length: bytes.len() });
        }
        let mut options = Options::default();
        for option in RawOptions::new(bytes) {
            let option = option?;
            match option.kind {
                kind::MSS => {
                    let mss = u16::from_be_bytes(option.exactly()?);
                    options.mss.get_or_insert(mss);
                }
                kind::WINDOW_SCALE => {
                    let [shift] = option.exactly()?;
                    options.window_scale.get_or_insert(shift.min(MAX_WINDOW_SCALE));
                }
                kind::SACK_PERMITTED => {
                    let [] = option.exactly()?;
                    options.sack_permitted = true;
                }
                kind::TIMESTAMPS => {
                    let data: [u8; 8] = option.exactly()?;
                    let (value, echo) = halves(data);
                    options.timestamps.get_or_insert(Timestamps { value, echo });
                }
                kind::SACK => {
                    let (blocks, []) = option.data.as_chunks::<SACK_PER_BLOCK>() else {
                        return Err(option.bad_length());
                    };
                    let mut sack = SackBlocks::EMPTY;
                    for &block in blocks {
                        let (left, right) = halves(block);
                        sack.push(SackBlock { left, right }).map_err(|_| option.bad_length())?;
                    }
                    if sack.is_empty() {
                        return Err(option.bad_length());
                    }
                    if options.sack.is_empty() {
                        options.sack = sack;
                    }
                }
                kind::EXPERIMENT_1 | kind::EXPERIMENT_2 if options.experimental.is_none() => {
                    options.experimental = Experimental::from_raw(&option);
                }
                _ => {}
            }
        }
        Ok(options)
    }
}

/// Bytes before the first SACK block.
fn sack_start(layout: Layout) -> usize {
    match layout {
        Layout::Aligned => 2 + SACK_BASE,
        Layout::Packed => SACK_BASE,
    }
}

fn halves(bytes: [u8; 8]) -> (u32, u32) {
    let both = u64::from_be_bytes(bytes);
    ((both >> 32) as u32, both as u32)
}

/// Writes behind what is there. Its user has checked that all of it fits.
struct Writer<'a> {
    out: &'a mut [u8; MAX_OPTIONS],
    length: usize,
}

impl Writer<'_> {
    fn bytes(&mut self, bytes: &[u8]) {
        self.out[self.length..][..bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    fn head(&mut self, kind: u8, length: usize) {
        self.bytes(&[kind, length as u8]);
    }

    fn nops(&mut self, count: usize) {
        self.bytes(&[kind::NOP; 4][..count]);
    }
}

#[cfg(test)]
mod tests;
