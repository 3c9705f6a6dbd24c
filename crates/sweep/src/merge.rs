//! Shards of one sweep put together: the very bytes of a sweep that was never split.

use crate::piece::{Piece, PieceError};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Shards do not make a whole.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// A file is no piece of the sweep.
    #[error(transparent)]
    Piece(#[from] PieceError),
    /// There is nothing to merge.
    #[error("no shards; expected the files of segue sweep --shard")]
    None,
    /// A part is there twice.
    #[error("{} and {} hold the same part ({part} of {parts}); expected every shard once", first.display(), second.display())]
    Twice {
        /// One file.
        first: PathBuf,
        /// The other.
        second: PathBuf,
        /// The part, from 1.
        part: usize,
        /// Parts in all.
        parts: usize,
    },
    /// Parts are not there.
    #[error("{missing} of {parts} parts are missing, the first is part {first}; expected every shard")]
    Missing {
        /// Missing parts.
        missing: usize,
        /// Parts in all.
        parts: usize,
        /// The first, from 1.
        first: usize,
    },
}

/// Puts shards, in any order, together into `out`, which must be none of them; says how many rows there are.
///
/// # Errors
///
/// Shards of several sweeps or versions, a part that is missing or there twice, a full disk.
pub fn merge(out: &Path, shards: &[PathBuf]) -> Result<u64, MergeError> {
    let (first, others) = shards.split_first().ok_or(MergeError::None)?;
    let mut pieces = vec![Piece::open(first)?];
    let whole = pieces[0].whole.clone();
    for shard in others {
        pieces.push(Piece::open_of(shard, &whole)?);
    }
    // Piece and row group of each part.
    let mut places: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    for (piece, Piece { holds, .. }) in pieces.iter().enumerate() {
        for (index, &part) in holds.iter().enumerate() {
            if let Some((other, _)) = places.insert(part, (piece, index)) {
                let [first, second] = [other, piece].map(|piece| pieces[piece].path.clone());
                return Err(MergeError::Twice { first, second, part: part + 1, parts: whole.parts });
            }
        }
    }
    if places.len() < whole.parts {
        let first = (0..).zip(places.keys()).take_while(|(part, there)| part == *there).count() + 1;
        return Err(MergeError::Missing { missing: whole.parts - places.len(), parts: whole.parts, first });
    }
    let mut rows = 0;
    whole.write(out, 0..whole.parts, |part| {
        let (piece, index) = places[&part];
        let batch = pieces[piece].batch(index)?;
        rows += batch.num_rows() as u64;
        Ok(batch)
    })?;
    Ok(rows)
}
