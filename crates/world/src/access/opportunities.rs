//! A link as a trace of mahimahi's: when packets of 1500 bytes may leave.

use super::{AccessLink, PACKET_BYTES, Place};
use segue_netsim::Nanos;

/// Nanoseconds per ms, the unit of such traces.
const MS: Nanos = 1_000_000;

/// Opportunities of a direction within `length` (ns), whole ms in order: the ends of transmissions of 1500 bytes, one
/// after the other, rounded up. `None`: there is none.
pub fn opportunities_ms(link: &AccessLink, place: Place, up: bool, length: Nanos) -> Option<Vec<u64>> {
    let mut service = link.service(place, up);
    let mut departure = 0;
    let mut stamps = Vec::new();
    loop {
        departure = service.departure(departure, PACKET_BYTES as u32);
        let stamp = departure.div_ceil(MS);
        if stamp > length / MS {
            return (!stamps.is_empty()).then_some(stamps);
        }
        stamps.push(stamp);
    }
}
