//! From a segment to its options on the wire.

use crate::profile::StackProfile;
use crate::segment::Segment;
use crate::wire::{Options, SackBlock, SackBlocks, Timestamps};

/// Byte number of packet `seq` with an initial sequence number of 0: the SYN takes one number.
pub fn byte_number(profile: &StackProfile, seq: u32) -> u32 {
    match seq {
        0 => 0,
        _ => (seq - 1).wrapping_mul(u32::from(profile.mss)).wrapping_add(1),
    }
}

/// The options of `segment`, SACK apart.
fn without_sack(profile: &StackProfile, segment: &Segment) -> Options {
    let carried = Options::decode(segment.option.as_slice()).unwrap_or_default().experimental;
    let mut options = Options {
        timestamps: segment.timestamps.map(|t| Timestamps { value: t.value, echo: t.echo }),
        experimental: carried,
        ..Options::default()
    };
    if segment.syn {
        let timestamps = if profile.rtt.stamp().is_some() { 12 } else { 0 };
        options.mss = Some(profile.mss + timestamps);
        options.window_scale = Some(profile.window_scale);
        options.sack_permitted = profile.sack_blocks > 0;
    }
    options
}

/// How many SACK blocks fit beside the other options of `segment`.
pub(crate) fn sack_room(profile: &StackProfile, segment: &Segment) -> usize {
    without_sack(profile, segment).sack_room()
}

/// The options of `segment`, sent by a host of `profile`.
///
/// SACK blocks that do not fit beside the rest are left out, the oldest first.
pub fn options(profile: &StackProfile, segment: &Segment) -> Options {
    let mut options = without_sack(profile, segment);
    let mut sack = SackBlocks::EMPTY;
    for &(left, right) in segment.sack.as_slice().iter().take(options.sack_room()) {
        let block = SackBlock { left: byte_number(profile, left), right: byte_number(profile, right) };
        if sack.push(block).is_err() {
            break;
        }
    }
    options.sack = sack;
    options
}

/// Bytes of the options of `segment`, padding included.
#[inline]
pub(crate) fn options_len(profile: &StackProfile, segment: &Segment) -> usize {
    // The common case, a data segment or a pure ACK without blocks, needs no encoder.
    if !segment.syn && segment.sack.is_empty() && segment.option.is_empty() {
        return if segment.timestamps.is_some() { 12 } else { 0 };
    }
    encoded_len(profile, *segment)
}

#[cold] // takes a copy, so that the segment itself need not lie in memory
fn encoded_len(profile: &StackProfile, segment: Segment) -> usize {
    options(profile, &segment).encoded_len()
}

/// The window field of `segment`: bytes, shifted except on a SYN (RFC 7323, section 2.2).
pub fn window_field(profile: &StackProfile, segment: &Segment) -> u16 {
    let bytes = u64::from(segment.window) * u64::from(profile.mss);
    let shift = if segment.syn { 0 } else { profile.window_scale };
    u16::try_from(bytes >> shift).unwrap_or(u16::MAX)
}
