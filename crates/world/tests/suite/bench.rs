//! The bench of docs/reference/bench.md, against times worked out by hand.
//!
//! The bench is looked at from outside. A handoff at T = 0 puts everything on the new link. `after-ack` with P packets
//! tells when the cumulative ACK of packet P reaches the sender. The SYN is packet 0. Times are in ms; the comments add
//! them up hop by hop. A packet of 1500 bytes takes 0.12 ms on a wired hop and 0.024 ms on the last one, one of 40
//! bytes 0.0032 and 0.00064 ms.

use crate::support::*;
use segue_netsim::{Nanos, SECOND};
use segue_world::{Definition, Experiment, Kind};

/// Two wired hops for 40 bytes.
pub const WIRED_ACK: f64 = 2.0 * (2.0 + 0.0032);
/// Two wired hops for 1500 bytes.
pub const WIRED_DATA: f64 = 2.0 * (2.0 + 0.12);
pub const LAST_ACK: f64 = 0.00064;
pub const LAST_DATA: f64 = 0.024;
/// The ACK of the SYN is delayed like any other.
const DELAYED: f64 = 100.0;

/// When the cumulative ACK covers `packets` packets, the SYN among them, if all goes over `new`.
pub fn acked(new: &str, flows: usize, packets: u32) -> Nanos {
    let all_new =
        Experiment { definition: Definition::AfterAck, packets, flows, ..experiment("300kbit/7ms", new) };
    run(&all_new, 0, &scheme("sack")).transfer.expect("it ends")
}

/// From T to the cumulative ACK of `packets` more packets.
fn more(experiment: &Experiment, at: f64, packets: u32) -> Nanos {
    let experiment = Experiment { definition: Definition::AfterAck, packets, ..experiment.clone() };
    run(&experiment, ms(at), &scheme("sack")).transfer.expect("it ends")
}

// ------------------------------------------------------------------------- hops, delayed ACK

/// 200 kbit/s, 300 ms: 60 ms a packet, 1.6 ms an ACK.
#[test]
fn first_packets_on_a_slow_link() {
    let new = "200kbit/300ms";
    let way = WIRED_ACK + 1.6 + 300.0 + LAST_ACK; // 305.60704, either way
    let established = way + DELAYED + way;
    assert_eq!(ms(established), 711_214_080);
    assert_eq!(acked(new, 1, 1), ms(established));

    // Three packets at once, an ACK for the first two when the second arrives 60 ms after the first.
    let first = established + WIRED_DATA + 60.0 + 300.0 + LAST_DATA;
    let second = first + 60.0;
    assert_eq!(acked(new, 1, 2), ms(second + way));
    assert_eq!(acked(new, 1, 3), ms(second + way));
    // The third waits for a fourth that is not yet sent.
    let third = second + 60.0;
    assert_eq!(acked(new, 1, 4), ms(third + DELAYED + way));
    // The first ACK has opened the window to four: packets 4, 5 and 6 leave when it arrives.
    let second_round = second + way;
    let fifth = second_round + WIRED_DATA + 2.0 * 60.0 + 300.0 + LAST_DATA;
    assert_eq!(acked(new, 1, 5), ms(fifth + way));
    assert_eq!(acked(new, 1, 6), ms(fifth + way));
}

/// 6400 kbit/s, 9 ms: 1.875 ms a packet, 0.05 ms an ACK.
#[test]
fn first_packets_on_a_fast_link() {
    let new = "6400kbit/9ms";
    let way = WIRED_ACK + 0.05 + 9.0 + LAST_ACK; // 13.05704
    let established = way + DELAYED + way;
    assert_eq!(acked(new, 1, 1), ms(established));
    let second = established + WIRED_DATA + 2.0 * 1.875 + 9.0 + LAST_DATA;
    assert_eq!(acked(new, 1, 2), ms(second + way));
    assert_eq!(acked(new, 1, 3), ms(second + way));
}

#[test]
fn flows_start_a_millisecond_apart() {
    let new = "6400kbit/9ms";
    let established = 2.0 * (WIRED_ACK + 0.05 + 9.0 + LAST_ACK) + DELAYED;
    for flows in 1..=4 {
        // 1 ms is more than a SYN takes anywhere, so nobody waits.
        assert_eq!(acked(new, flows, 1), ms(established + (flows - 1) as f64));
    }
}

#[test]
fn other_seeds_start_within_20_ms() {
    let established = ms(2.0 * (WIRED_ACK + 0.05 + 9.0 + LAST_ACK) + DELAYED);
    let mut starts: Vec<Nanos> = (2..12)
        .map(|seed| {
            let e = Experiment {
                definition: Definition::AfterAck,
                packets: 1,
                seed,
                ..experiment("wlan", "6400kbit/9ms")
            };
            run(&e, 0, &scheme("sack")).transfer.expect("it ends") - established
        })
        .collect();
    assert!(starts.iter().all(|&start| start < 20 * MS));
    starts.sort_unstable();
    starts.dedup();
    assert!(starts.len() == 10 && starts[9] - starts[0] > 5 * MS, "{starts:?}");
}

#[test]
fn fast_access_raises_the_wired_hops() {
    let hops = |old: &str, new: &str| experiment(old, new).fixed_hops();
    assert_eq!(
        (hops("80mbit/1ms", "wlan").wired, hops("80mbit/1ms", "wlan").last),
        (100_000_000, 500_000_000)
    );
    // Either link counts, before and after the handoff.
    for (old, new) in [("100mbit/1ms", "wlan"), ("wlan", "100mbit/1ms")] {
        assert_eq!(hops(old, new).wired, 1_000_000_000);
    }
    // 40 bytes: 0.00032 ms on a hop of 1 Gbit/s, 0.0032 on the access link.
    let fast = experiment("wlan", "100mbit/1ms");
    let last = 40.0 * 8.0 / (fast.fixed_hops().last as f64 / 1000.0);
    let way = 2.0 * (2.0 + 0.00032) + 0.0032 + 1.0 + last;
    assert_eq!(acked("100mbit/1ms", 1, 1), ms(2.0 * way + DELAYED));
}

// ----------------------------------------------------------------------------------- queues

/// Ten packets in the queue of 200kbit/300ms, the one being sent included: the last that gets in waits
/// for what is left of nine.
#[test]
fn the_queue_holds_its_limit_with_the_packet_being_sent() {
    let record = run(&experiment("6400kbit/9ms", "200kbit/300ms"), 8200 * MS, &scheme("sack"));
    assert!(!record.data_drops.is_empty());
    let longest = record.queue_delays.iter().max().copied().expect("data went over it");
    assert!(8 * 60 * MS < longest && longest <= 9 * 60 * MS, "{longest}");
}

/// Each flow sends three packets at once; three flows fit into ten link_ids, four do not. At T = 0.
#[test]
fn what_finds_the_queue_full_is_dropped() {
    for (flows, drops) in [(3, 0), (4, 2)] {
        let e = Experiment {
            flows,
            definition: Definition::AfterAck,
            packets: 2,
            ..experiment("wlan", "200kbit/300ms")
        };
        let mut twin = Twin::hand_over(&e, 0);
        twin.run_until(ms(711.21408 + 50.0)); // before anything is sent again
        let dropped = twin.drops();
        assert_eq!(dropped.len(), drops, "{flows} flows: {dropped:?}");
        for (at, flow, seq) in dropped {
            // The first of all is being sent since 4.24 ms after it left, and the next eleven came within 60 ms. So
            // only the last flow's last two find ten there.
            assert_eq!(flow, 3);
            assert!(seq == 2 || seq == 3);
            assert!(at < ms(711.21408 + 60.0));
        }
    }
}

#[test]
fn delays_behind_a_burst_grow_packet_by_packet() {
    let e =
        Experiment { definition: Definition::AfterAck, packets: 3, ..experiment("wlan", "200kbit/300ms") };
    let record = run(&e, 0, &scheme("sack"));
    // SYN, then three packets that come 0.12 ms apart.
    assert_eq!(record.queue_delays[..4], [0, 0, ms(60.0 - 0.12), ms(120.0 - 0.24)]);
}

// -------------------------------------------------------------------------------- handoffs

/// At 0.8 s three packets are on 200kbit/300ms. They are delivered, and acknowledged over the new link.
#[test]
fn mbb_delivers_what_is_on_the_old_link() {
    let e = experiment("200kbit/300ms", "6400kbit/9ms");
    let way = WIRED_ACK + 0.05 + 9.0 + LAST_ACK;
    let sent = 711.21408;
    let second = sent + WIRED_DATA + 2.0 * 60.0 + 300.0 + LAST_DATA;
    assert_eq!(more(&e, 800.0, 2), ms(second + way - 800.0));
    let record = run(&e, 800 * MS, &scheme("sack"));
    assert_eq!((record.completion, record.lost_in_disconnection, record.drops), (800 * MS, 0, 0));
    assert_eq!(record.timeouts.len(), 0);
    // A packet that the first ACK releases overtakes the third packet, which is therefore sent again.
    let resent: Vec<_> = record.fast_retransmits.iter().map(|f| f.2).collect();
    assert_eq!((resent, record.retransmissions), (vec![3], 1));
}

/// MBB: an ACK that is on the old link arrives over it; one made after T goes over the new link.
#[test]
fn mbb_delivers_acks_of_the_old_link_too() {
    // The ACK of the SYN leaves the mobile at 405.60704 ms.
    let e = experiment("200kbit/300ms", "6400kbit/9ms");
    assert_eq!(more(&e, 405.7, 1), ms(711.21408 - 405.7), "over the old link");
    let new_way = WIRED_ACK + 0.05 + 9.0 + LAST_ACK;
    assert_eq!(more(&e, 405.6, 1), ms(405.60704 + new_way - 405.6), "over the new link");
}

/// At 0.8 s three packets are on the old link: all come out after T and are lost. The RTO after one
/// sample of 71 ticks is 71 + 4 * 35.5 = 213 ticks; the timer has run since 0.711 s.
#[test]
fn bbm_loses_what_comes_out_afterwards() {
    let e = Experiment { kind: Kind::Bbm(500 * MS), ..experiment("200kbit/300ms", "6400kbit/9ms") };
    let record = run(&e, 800 * MS, &scheme("sack"));
    assert_eq!((record.completion, record.lost_in_disconnection), (1300 * MS, 3));
    let first = record.timeouts[0];
    assert_eq!((first.at, first.head, first.spurious), (ms(711.21408) + 2130 * MS, 1, false));
    let mut twin = Twin::hand_over(&e, 800 * MS);
    twin.finish();
    let lost: Vec<_> = twin.events().filter(|e| matches!(e.2, What::Lost { .. })).collect();
    let out = |n: f64| ms(711.21408 + WIRED_DATA + n * 60.0 + 300.0);
    let data = |seq| What::Lost { seq, data: true };
    assert_eq!(lost, [(out(1.0), 0, data(1)), (out(2.0), 0, data(2)), (out(3.0), 0, data(3))]);
}

/// The ACK of the SYN comes out of the old link at 707.20768 ms.
#[test]
fn bbm_loses_acks_too_and_only_what_comes_out_after_t() {
    let e = Experiment { kind: Kind::Bbm(500 * MS), ..experiment("200kbit/300ms", "6400kbit/9ms") };
    let record = run(&e, ms(707.2), &scheme("sack"));
    assert_eq!(record.lost_in_disconnection, 1, "the ACK");
    // The SYN's timer is 3 s; the SYN had arrived, so the timeout is spurious.
    let first = record.timeouts[0];
    assert_eq!((first.at, first.head, first.spurious), (3 * SECOND, 0, true));

    let record = run(&e, ms(707.21), &scheme("sack"));
    assert_eq!(record.lost_in_disconnection, 3, "the ACK gets through, three packets follow it in vain");
    assert_eq!(record.timeouts[0].head, 1);
}

/// Nothing moves to the new link before T + D, everything after.
#[test]
fn bbm_moves_to_the_new_link_at_completion() {
    let e =
        Experiment { kind: Kind::Bbm(1000 * MS), flows: 2, ..experiment("6400kbit/9ms", "1600kbit/20ms") };
    let mut twin = Twin::hand_over(&e, 3000 * MS);
    twin.finish();
    for (at, _, what) in twin.events() {
        if let What::Arrived { over_new, .. } = what {
            assert!(at < ms(3000.0 + 0.1) || at > 4000 * MS, "arrived at {at}");
            assert_eq!(over_new, at > 4000 * MS);
        }
    }
}
