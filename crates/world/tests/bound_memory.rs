//! The bound of a very long transfer, alone in its process, whose memory it looks at.

mod support;

use segue_world::{Definition, Experiment};
use support::*;

/// A hundred flows of a million packets each, all over the new link. The SYN is one of them and carried for nothing, so
/// 99,999,900 packets of 60 ms remain. The first can be there after two wired hops of 2 ms. The last one's delay and
/// last hop, and its ACK's way back come on top. Eight bytes a packet would be 800 MB.
#[test]
#[cfg(target_os = "linux")]
fn the_bound_of_a_hundred_million_packets_takes_little_memory() {
    let long = Experiment {
        flows: 100,
        packets: 1_000_000,
        definition: Definition::AfterAck,
        ..experiment("200kbit/300ms", "200kbit/300ms")
    };
    let before = peak_mb();
    let record = run(&long, 0, &scheme("sack"));
    let carried = 4 * MS + 99_999_900 * 60 * MS;
    let (there, back) = (ms(300.0 + 0.024), ms(0.00064 + 1.6 + 300.0 + 2.0 * (2.0 + 0.0032)));
    assert_eq!((record.transfer, record.bound), (None, carried + there + back));
    assert!(peak_mb() < before + 100, "{before} MB, then {} MB", peak_mb());
}
