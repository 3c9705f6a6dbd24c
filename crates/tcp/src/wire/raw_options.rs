//! The options of a list one by one, known or not (RFC 9293, 3.1).

use super::error::DecodeError;
use super::kind;

/// One option as it stands in a list: its kind and what is behind its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawOption<'a> {
    /// Option kind, never END or NOP.
    pub kind: u8,
    /// Where the option starts, in bytes from the start of the list.
    pub offset: usize,
    /// The bytes behind kind and length, at most 253.
    pub data: &'a [u8],
}

impl RawOption<'_> {
    pub(super) fn bad_length(&self) -> DecodeError {
        DecodeError::BadLength { kind: self.kind, offset: self.offset, length: self.data.len() as u8 + 2 }
    }

    pub(super) fn exactly<const N: usize>(&self) -> Result<[u8; N], DecodeError> {
        self.data.try_into().map_err(|_| self.bad_length())
    }
}

/// Walks over an option list and hands out each option, known or not; END and NOP are passed over.
/// After an error or END it is at its end. For those who look for what [`Options`] does not hold.
#[derive(Clone, Debug)]
pub struct RawOptions<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> RawOptions<'a> {
    /// The options of this list.
    pub fn new(bytes: &'a [u8]) -> Self {
        RawOptions { bytes, offset: 0 }
    }
}

impl<'a> Iterator for RawOptions<'a> {
    /// [`DecodeError::MissingLength`], [`DecodeError::BadLength`] (below 2) or
    /// [`DecodeError::Overrun`].
    type Item = Result<RawOption<'a>, DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.bytes.get(self.offset) == Some(&kind::NOP) {
            self.offset += 1;
        }
        let offset = self.offset;
        let rest = &self.bytes[offset..];
        self.offset = self.bytes.len(); // where END and errors leave it
        Some(match *rest {
            [] | [kind::END, ..] => return None,
            [kind] => Err(DecodeError::MissingLength { kind, offset }),
            [kind, length @ 0..2, ..] => Err(DecodeError::BadLength { kind, offset, length }),
            [kind, length, ..] => match rest.get(2..usize::from(length)) {
                Some(data) => {
                    self.offset = offset + usize::from(length);
                    Ok(RawOption { kind, offset, data })
                }
                None => Err(DecodeError::Overrun { kind, offset, length, left: rest.len() }),
            },
        })
    }
}

impl std::iter::FusedIterator for RawOptions<'_> {}
