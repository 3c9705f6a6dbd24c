//! A link as a trace of mahimahi's: when packets of 1500 bytes may leave.

use super::{AccessLink, LinkSeed, PACKET_BYTES};
use segue_netsim::Nanos;

/// Nanoseconds per ms, the unit of such traces.
const MS: Nanos = 1_000_000;

/// Opportunities of a direction within `length` (ns), whole ms in order: the ends of transmissions of 1500 bytes, one
/// after the other, rounded up. They are not kept: a fast link has millions of them a second.
pub fn opportunities_ms(
    link: &AccessLink,
    place: LinkSeed,
    up: bool,
    length: Nanos,
) -> impl Iterator<Item = u64> + use<> {
    let mut service = link.service(place, up);
    let mut departure = 0;
    let stamps = std::iter::repeat_with(move || {
        departure = service.departure(departure, PACKET_BYTES as u32);
        departure.div_ceil(MS)
    });
    stamps.take_while(move |stamp| *stamp <= length / MS)
}
