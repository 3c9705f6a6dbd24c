//! The blocks of a SACK option (RFC 2018, 3), and the duplicate that the first may report (RFC 2883, 4).

use super::error::EncodeError;
use std::fmt;

/// Most SACK blocks in one option (RFC 2018, 3).
pub const MAX_SACK_BLOCKS: usize = 4;

/// One block of a SACK option (RFC 2018, 3): bytes `left` to `right - 1`, sequence numbers modulo
/// 2^32.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct SackBlock {
    /// First sequence number of the block.
    pub left: u32,
    /// Sequence number after the last one of the block.
    pub right: u32,
}

impl fmt::Debug for SackBlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.left, self.right)
    }
}

/// Whether `a` comes before `b` in sequence space (RFC 9293, 3.4).
fn before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

/// The blocks of a SACK option in the order of the wire, at most four, held in place. Empty: no
/// SACK option.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct SackBlocks {
    // Beyond `count` all blocks are zero, so that the derived equality holds.
    blocks: [SackBlock; MAX_SACK_BLOCKS],
    count: u8,
}

impl SackBlocks {
    /// No blocks.
    pub const EMPTY: SackBlocks =
        SackBlocks { blocks: [SackBlock { left: 0, right: 0 }; MAX_SACK_BLOCKS], count: 0 };

    /// These blocks, in this order.
    ///
    /// # Errors
    /// [`EncodeError::TooManySackBlocks`] for more than four.
    pub fn from_slice(blocks: &[SackBlock]) -> Result<Self, EncodeError> {
        let mut these = SackBlocks::EMPTY;
        these
            .blocks
            .get_mut(..blocks.len())
            .ok_or(EncodeError::TooManySackBlocks { asked: blocks.len() })?
            .copy_from_slice(blocks);
        these.count = blocks.len() as u8;
        Ok(these)
    }

    /// Adds a block at the end.
    ///
    /// # Errors
    /// [`EncodeError::TooManySackBlocks`] if there are four already.
    pub fn push(&mut self, block: SackBlock) -> Result<(), EncodeError> {
        let count = self.len();
        *self.blocks.get_mut(count).ok_or(EncodeError::TooManySackBlocks { asked: count + 1 })? = block;
        self.count += 1;
        Ok(())
    }

    /// Keeps the first `count` blocks: the newest, if the receiver reports as RFC 2018, 4 wants.
    pub fn truncate(&mut self, count: usize) {
        if count < self.len() {
            self.blocks[count..].fill(SackBlock::default());
            self.count = count as u8;
        }
    }

    /// The blocks.
    pub fn as_slice(&self) -> &[SackBlock] {
        &self.blocks[..self.len()]
    }

    /// The blocks, one by one.
    pub fn iter(&self) -> std::slice::Iter<'_, SackBlock> {
        self.as_slice().iter()
    }

    /// Number of blocks, 0 to 4.
    pub fn len(&self) -> usize {
        usize::from(self.count)
    }

    /// Whether there is no block, and so no SACK option.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The first block, if it reports a duplicate (RFC 2883, 4). It then starts below the cumulative acknowledgment
    /// `ack` of the same segment, or it lies inside the second block.
    pub fn dsack(&self, ack: u32) -> Option<SackBlock> {
        let first = *self.as_slice().first()?;
        let inside =
            |second: &SackBlock| !before(first.left, second.left) && !before(second.right, first.right);
        (before(first.left, ack) || self.as_slice().get(1).is_some_and(inside)).then_some(first)
    }
}

impl<'a> IntoIterator for &'a SackBlocks {
    type Item = &'a SackBlock;
    type IntoIter = std::slice::Iter<'a, SackBlock>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Debug for SackBlocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}
