//! Which ACKs PHAS drops, and when it ends (algorithms.md, 6.2).

use super::bench::Bench;
use super::bench::peer::Peer;
use super::{DATA, attached, connections, give, options, said};
use segue_kernel::receiver::{Options, attach};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread::sleep;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(60);
const NONE: [u32; 0] = [];

/// The ACKs that the peer sees of two more segments, the second of which asks for an ACK at once.
fn two_more(peer: &mut Peer<'_>, stream: &mut TcpStream) -> Vec<u32> {
    give(peer, stream);
    give(peer, stream);
    said(peer).iter().map(|segment| segment.ack).collect()
}

#[test]
#[ignore = "needs kernel"]
fn new_acks_are_dropped_until_one_covers_the_last_forwarded_packet() {
    let bench = Bench::new();
    let mut receiver = attached();
    let listener = bench.listen();
    for (mut peer, mut stream) in connections(&bench, &listener) {
        assert!(!two_more(&mut peer, &mut stream).is_empty());
        receiver.hold(LONG).expect("it holds");
        assert_eq!(two_more(&mut peer, &mut stream), NONE);
        // L: the second of these four.
        let last = peer.seq.wrapping_add(2 * DATA as u32);
        assert!(receiver.last(peer.remote, peer.local, last).expect("it hears"));
        give(&mut peer, &mut stream);
        let none = said(&mut peer);
        assert!(none.is_empty(), "covers only what came before L: {none:?}");
        give(&mut peer, &mut stream);
        let covering = said(&mut peer);
        assert_eq!(covering.last().expect("the covering ACK").ack, last);
        assert!(!two_more(&mut peer, &mut stream).is_empty(), "the filter has ended for this connection");
        // The same again: L of the last handoff is of no concern to this one.
        receiver.hold(LONG).expect("it holds");
        assert_eq!(two_more(&mut peer, &mut stream), NONE);
        assert_eq!(receiver.release().expect("it releases"), 1, "the held one");
        assert_eq!(said(&mut peer).iter().map(|segment| segment.ack).collect::<Vec<_>>(), [peer.seq]);
    }
    let unknown = "10.77.0.9:1".parse().expect("an address");
    assert!(!receiver.last(unknown, unknown, 1).expect("it hears"));
}

#[test]
#[ignore = "needs kernel"]
fn the_end_of_forwarding_sends_what_is_held_and_nothing_else() {
    let bench = Bench::new();
    let mut receiver = attached();
    let listener = bench.listen();
    let [(mut four, mut stream), (mut six, mut quiet)] = connections(&bench, &listener);
    give(&mut six, &mut quiet);
    two_more(&mut four, &mut stream);
    said(&mut six);
    receiver.hold(LONG).expect("it holds");
    assert_eq!(two_more(&mut four, &mut stream), NONE);
    let dropped = receiver.counts().expect("counters").dropped;
    assert!(dropped >= 1, "{dropped}");
    assert_eq!(receiver.release().expect("it releases"), 1);
    let released = said(&mut four);
    assert_eq!(released.iter().map(|segment| segment.ack).collect::<Vec<_>>(), [four.seq]);
    assert!(said(&mut six).is_empty(), "nothing was held for it");
    assert_eq!(receiver.release().expect("once more"), 0);
    assert!(!two_more(&mut four, &mut stream).is_empty());
    assert_eq!(receiver.counts().expect("counters").dropped, dropped);
}

/// Duplicates of the last ACK pass (the peer may need three), data passes, and so does a window that opens.
#[test]
#[ignore = "needs kernel"]
fn duplicates_data_and_windows_that_open_pass() {
    let bench = Bench::new();
    let mut receiver = attached();
    let listener = bench.listen();
    let [(mut peer, mut stream), _] = connections(&bench, &listener);
    two_more(&mut peer, &mut stream);
    receiver.hold(LONG).expect("it holds");
    // A hole: what comes behind it makes duplicates.
    let hole = peer.seq;
    for ahead in 1..=3 {
        peer.send_data(hole.wrapping_add(ahead * DATA as u32), &[7; DATA]);
    }
    let duplicates = said(&mut peer);
    assert_eq!(duplicates.iter().map(|segment| segment.ack).collect::<Vec<_>>(), [hole; 3]);
    // Filled: an ACK of new data.
    peer.send_data(hole, &[7; DATA]);
    peer.seq = hole.wrapping_add(4 * DATA as u32);
    assert!(said(&mut peer).is_empty());
    stream.read_exact(&mut [0; 4 * DATA]).expect("it arrives");
    // Data of the host carries the same ACK, and is never dropped.
    stream.write_all(b"hello").expect("it can be written");
    let data = said(&mut peer);
    assert_eq!((data[0].payload, data[0].ack), (5, peer.seq), "{data:?}");
    // The peer knows that number by then: an ACK of the same, with another window, passes.
    peer.acknowledge(&[]);
    let before = receiver.counts().expect("counters").dropped;
    peer.send_data(peer.seq.wrapping_sub(DATA as u32), &[7; DATA]);
    let again = said(&mut peer);
    assert_eq!(again.iter().map(|segment| segment.ack).collect::<Vec<_>>(), [peer.seq], "{again:?}");
    assert_eq!(receiver.counts().expect("counters").dropped, before);
}

/// A full buffer that the program empties: the update of the window would tell the ACK that is held.
#[test]
#[ignore = "needs kernel"]
fn an_update_of_the_window_is_no_duplicate() {
    let bench = Bench::new();
    let mut receiver = attached();
    let listener = bench.listen();
    let [(mut peer, mut stream), _] = connections(&bench, &listener);
    two_more(&mut peer, &mut stream);
    receiver.hold(LONG).expect("it holds");
    // More than half of the buffer, unread, then read at once.
    let mut sent = 0;
    while sent < 60 * DATA {
        peer.send_data(peer.seq, &[7; DATA]);
        peer.seq = peer.seq.wrapping_add(DATA as u32);
        sent += DATA;
    }
    let held = said(&mut peer);
    assert!(held.is_empty(), "{held:?}");
    let mut rest = vec![0; sent];
    stream.read_exact(&mut rest).expect("it arrives");
    let update = said(&mut peer);
    assert!(update.is_empty(), "{update:?}");
    assert_eq!(receiver.release().expect("it releases"), 1);
    assert_eq!(said(&mut peer).last().expect("the held one").ack, peer.seq);
}

#[test]
#[ignore = "needs kernel"]
fn it_ends_by_itself() {
    let bench = Bench::new();
    let mut receiver = attached();
    let listener = bench.listen();
    let [(mut peer, mut stream), _] = connections(&bench, &listener);
    two_more(&mut peer, &mut stream);
    receiver.hold(Duration::from_secs(2)).expect("it holds");
    assert_eq!(two_more(&mut peer, &mut stream), NONE);
    sleep(Duration::from_secs(2));
    assert_eq!(two_more(&mut peer, &mut stream).last(), Some(&peer.seq));
    assert!(receiver.hold(Duration::from_secs(301)).expect_err("too long").is_user());
}

#[test]
#[ignore = "needs kernel"]
fn a_receiver_without_it_says_so() {
    let _bench = Bench::new();
    let mut receiver = attach(&Options { phas: false, ..options() }).expect("it attaches");
    let error = receiver.hold(LONG).expect_err("no filter");
    assert!(error.is_user() && error.to_string() == "the receiver was attached without PHAS", "{error}");
}
