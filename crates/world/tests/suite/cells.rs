//! The two cells of Chou and Shin: the four cases of algorithms.md 6.3, and conservation of packets.

use crate::support::*;
use proptest::prelude::*;
use segue_netsim::{Capacity, Nanos, SECOND};
use segue_world::drive::cells::{CellHandoff, Cells, CellsRecord, Step};

/// W_max 40 (section V), RTT 0.2 s, RTO floor 1 s; a quick handoff leaves the timer alone, a slow one lets it expire
/// once.
fn cells(buffer: u32, slow_ppm: u32) -> Cells {
    let mut stack = stack("ns2-newreno");
    stack.receive_window = 40;
    stack.rto.min = SECOND;
    Cells {
        stack,
        capacity: Capacity::Packets(buffer),
        rtt: 200 * MS,
        sojourn: (8 * SECOND, 12 * SECOND),
        quick: (300 * MS, 500 * MS),
        slow: (1_300 * MS, 2_000 * MS),
        slow_ppm,
        first_window: None,
        handoffs: 20,
        seed: 1,
    }
}

fn record(cells: &Cells, name: &str) -> CellsRecord {
    cells.run(&scheme(name), true).unwrap_or_else(|error| panic!("{error}"))
}

/// The first handoff: W 40, as the connection has long been at W_max.
fn first(cells: &Cells, name: &str) -> CellHandoff {
    let record = record(cells, name);
    assert_eq!(record.handoffs[0].window, 40, "{name}");
    record.handoffs[0].clone()
}

/// ssthresh after the handoff, false or true timeouts, fast retransmits and when the first came, after link-up.
fn case(buffer: u32, slow: bool, name: &str) -> (u32, u32, u32, Option<Nanos>) {
    let handoff = first(&cells(buffer, if slow { 1_000_000 } else { 0 }), name);
    (handoff.ssthresh, handoff.timeouts, handoff.fast_retransmits, handoff.fast_after)
}

/// Room for a window of 40 and the packet that the timer resends.
const ROOM: u32 = 41;
const TOO_SMALL: u32 = 32;

/// Row 1 of 6.3: neither timeout nor overflow. Without PHAS nothing happens at all. With it one round trip is lost, as
/// all ACKs but one are: the window of 40 then opens at once.
#[test]
fn no_timeout_no_overflow() {
    for name in ["buffer-fcfd", "buffer-fcfd+phas", "buffer-lcfd+phas"] {
        assert_eq!(case(ROOM, false, name), (40, 0, 0, None), "{name}");
    }
}

/// Row 1, below W_max: a window of ACKs doubles cwnd in slow start. The one ACK of PHAS adds a packet, so that every
/// window beyond is reached one round trip later.
#[test]
fn suppression_costs_one_round_trip_of_growth() {
    let mut cells = Cells { first_window: Some(30), ..cells(201, 0) };
    cells.stack.receive_window = 200;
    let first_time = |name: &str, window: u32| {
        let record = record(&cells, name);
        let handoff = &record.handoffs[0];
        assert_eq!((handoff.window, handoff.timeouts, handoff.retransmissions), (30, 0, 0), "{name}");
        let reached =
            record.steps.iter().find(|(_, step)| matches!(step, Step::Window(packets) if *packets >= window));
        reached.expect("a window so large").0 - handoff.up
    };
    for window in [120, 160, 200] {
        let [plain, fcfd, lcfd] =
            ["buffer-fcfd", "buffer-fcfd+phas", "buffer-lcfd+phas"].map(|name| first_time(name, window));
        assert_eq!(fcfd, lcfd, "nothing overflows");
        let later = fcfd - plain;
        assert!((200 * MS..=210 * MS).contains(&later), "a window of {window} comes {later} ns later");
    }
}

/// Packets that were sent again in each round trip from the first that was after link-up.
fn repair(buffer: u32, slow: bool, name: &str) -> Vec<u32> {
    let record = record(&cells(buffer, if slow { 1_000_000 } else { 0 }), name);
    let CellHandoff { up, sojourn, .. } = record.handoffs[0];
    let mut rounds: Vec<(Nanos, u32)> = Vec::new();
    for &(at, step) in &record.steps {
        if !(up..up + sojourn).contains(&at) || !matches!(step, Step::Sent(_, true)) {
            continue;
        }
        match rounds.last_mut() {
            Some((began, packets)) if at < *began + 150 * MS => *packets += 1,
            _ => rounds.push((at, 1)),
        }
    }
    for pair in rounds.windows(2) {
        let apart = pair[1].0 - pair[0].0;
        assert!((200 * MS..=210 * MS).contains(&apart), "{name}: {apart} ns between rounds");
    }
    rounds.into_iter().map(|(_, packets)| packets).collect()
}

/// How long the repair takes in each row, in round trips.
#[test]
fn round_trips_of_repair() {
    for name in ["buffer-fcfd", "buffer-fcfd+phas", "buffer-lcfd+phas"] {
        assert_eq!(repair(ROOM, false, name), [0; 0], "row 1, {name}");
        // W - B = 8 holes, one by each partial ACK.
        assert_eq!(repair(TOO_SMALL, false, name), [1; 8], "row 2, {name}");
    }
    // The timer has resent the head of a window of 40; slow start resends all behind it, then the false fast
    // retransmit more.
    let conventional = repair(ROOM, true, "buffer-fcfd");
    assert_eq!((conventional[0], conventional.len()), (39, 2), "row 3");
    for name in ["buffer-fcfd+phas", "buffer-lcfd+phas"] {
        assert_eq!(repair(ROOM, true, name), [0; 0], "row 3, {name}");
    }
    // FCFD has dropped the heads: duplicates pass the filter, which changes nothing.
    assert_eq!(repair(TOO_SMALL, true, "buffer-fcfd+phas"), repair(TOO_SMALL, true, "buffer-fcfd"), "row 4");
    // The 8 packets at the end of the window, by slow start from 2.
    assert_eq!(repair(TOO_SMALL, true, "buffer-lcfd+phas"), [2, 4, 2], "row 4");
}

/// Row 2: overflow alone. Fast retransmit, ssthresh W/2 = 20, one repair per round trip; LCFD hears of it a round
/// trip later.
#[test]
fn overflow_without_timeout() {
    let after = ["buffer-fcfd", "buffer-fcfd+phas", "buffer-lcfd+phas"].map(|name| {
        let (ssthresh, timeouts, fast, after) = case(TOO_SMALL, false, name);
        assert_eq!((ssthresh, timeouts, fast), (20, 0, 1), "{name}");
        let handoff = first(&cells(TOO_SMALL, 0), name);
        assert_eq!((handoff.buffer_drops, handoff.retransmissions, handoff.needless), (8, 8, 0), "{name}");
        after.expect("a fast retransmit")
    });
    assert_eq!(after[0], after[1], "duplicates pass the filter");
    let later = after[2] - after[0];
    assert!((200 * MS..=210 * MS).contains(&later), "{later} ns later");
}

/// Row 3: timeout alone. The conventional scheme halves twice, 40 to 20 to 10; PHAS leaves it at W/2.
#[test]
fn timeout_without_overflow() {
    let (ssthresh, timeouts, fast, _) = case(ROOM, true, "buffer-fcfd");
    assert_eq!((ssthresh, timeouts, fast), (10, 1, 1));
    for name in ["buffer-fcfd+phas", "buffer-lcfd+phas"] {
        assert_eq!(case(ROOM, true, name), (20, 1, 0, None), "{name}");
    }
}

/// Row 4: both. FCFD ends with ssthresh 2, with the filter and without; LCFD and PHAS with W/2.
#[test]
fn timeout_and_overflow() {
    for name in ["buffer-fcfd", "buffer-fcfd+phas"] {
        let (ssthresh, timeouts, fast, _) = case(TOO_SMALL, true, name);
        assert_eq!((ssthresh, timeouts), (2, 1), "{name}");
        assert!(fast >= 1, "{name}");
    }
    assert_eq!(case(TOO_SMALL, true, "buffer-lcfd+phas"), (20, 1, 0, None));
}

/// A buffer of W_max is one too small for the packet that the timer resends: FCFD drops the head for it.
#[test]
fn the_resent_packet_needs_room_too() {
    assert_eq!(first(&cells(40, 1_000_000), "buffer-fcfd").buffer_drops, 1);
    let room = first(&cells(ROOM, 1_000_000), "buffer-fcfd");
    assert_eq!(room.buffer_drops, 0);
    // With room for it the whole window is sent again, more than at any smaller buffer: the paper's exception (Fig.
    // 12).
    for buffer in [24, 28, 32, 36, 40] {
        let smaller = first(&cells(buffer, 1_000_000), "buffer-fcfd");
        assert!(smaller.retransmissions < room.retransmissions, "{buffer}");
    }
}

#[test]
fn what_cannot_be_simulated_says_so() {
    let good = cells(32, 0);
    let mut small = good.stack;
    small.receive_window = 1;
    for (bad, part) in [
        (Cells { stack: small, ..good.clone() }, "W_max = 1: expected 2"),
        (Cells { capacity: Capacity::Packets(0), ..good.clone() }, "a buffer of 0"),
        (Cells { slow_ppm: 1_000_001, ..good.clone() }, "p = 1.000001: expected a number from 0 to 1"),
        (
            Cells { sojourn: (SECOND, 9 * SECOND), ..good.clone() },
            "a sojourn of 1000 ms is shorter than a handoff",
        ),
        (Cells { quick: (2, 1), ..good.clone() }, "latency: the shortest"),
        (Cells { rtt: MS, ..good.clone() }, "a round trip of 1 ms"),
    ] {
        let message = bad.run(&scheme("buffer-lcfd"), false).expect_err(part).to_string();
        assert!(message.starts_with(part), "{message}");
    }
}

proptest! {
    #![proptest_config(cases(4))]

    /// Every data packet is delivered, dropped by a buffer, or under way. The same seed gives the same record, watched
    /// or not. Every handoff ends with a sender that sends.
    #[test]
    fn packets_are_conserved(
        buffer in 1u32..60, slow_ppm in 0u32..=1_000_000, window in 2u32..60, seed: u64, floor in 200u64..1500,
        name in prop::sample::select(vec!["buffer-fcfd", "buffer-fcfd+phas", "buffer-lcfd", "buffer-lcfd+phas", "sack"]),
    ) {
        let mut cells = Cells { seed, sojourn: (3 * SECOND, 9 * SECOND), ..cells(buffer, slow_ppm) };
        cells.stack.receive_window = window;
        cells.stack.rto.min = floor * MS;
        let scheme = scheme(name);
        let told = record(&cells, name);
        let [sent, delivered, dropped, under_way] = told.counts;
        prop_assert_eq!(sent, delivered + dropped + under_way);
        let again = cells.run(&scheme, false).unwrap();
        prop_assert_eq!(&again.handoffs, &told.handoffs);
        prop_assert!(told.handoffs.iter().all(|handoff| handoff.acknowledged > 0), "a stall: {:?}", told.handoffs);
        prop_assert!(told.steps.iter().any(|(_, step)| matches!(step, Step::Heard(_))));
    }
}
