//! An ACK as a receiver without data of its own sends it.

use segue_tcp::segment::Timestamps;
use segue_tcp::{SackList, Segment};

/// All packets before `packet` have arrived; the one that says so of the SYN alone is a SYN. `echo`: the time stamp that
/// it echoes, where there are time stamps.
pub fn ack_of(packet: u32, window: u32, echo: Option<u32>) -> Segment {
    Segment {
        seq: 1,
        ack: packet,
        window,
        timestamps: echo.map(|echo| Timestamps { value: 1, echo }),
        payload: 0,
        syn: packet == 1,
        push: false,
        has_ack: true,
        detail: Default::default(),
        ecn: Default::default(),
        option: Default::default(),
        sack: SackList::default(),
    }
}
