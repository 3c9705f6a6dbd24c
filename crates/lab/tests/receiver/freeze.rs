//! Segments of Freeze-TCP, one by one.

use super::bench::{Bench, PEER_V4};
use super::{OPEN, attached, connections, give, options, said};
use segue_kernel::receiver::{Options, Peers, attach};
use std::io::Write;
use std::thread::sleep;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(60);

#[test]
#[ignore = "needs kernel"]
fn the_window_closes_at_once_and_opens_with_three_acks() {
    let bench = Bench::new();
    let mut receiver = attached();
    let listener = bench.listen();
    for (mut peer, mut stream) in connections(&bench, &listener) {
        give(&mut peer, &mut stream);
        let before = said(&mut peer);
        assert!(!before.is_empty() && before.iter().all(|segment| segment.window > OPEN), "{before:?}");

        // One connection of each family, and the other one is asked as well.
        assert_eq!(receiver.close(LONG).expect("it closes"), 2);
        let closed = said(&mut peer);
        assert_eq!(closed.len(), 1, "{closed:?}");
        assert_eq!((closed[0].window, closed[0].ack, closed[0].payload), (0, peer.seq, 0));
        // Packets under way arrive, and are acknowledged with the window closed; so is what the host sends.
        give(&mut peer, &mut stream);
        stream.write_all(b"hello").expect("it can be written");
        let meanwhile = said(&mut peer);
        assert!(meanwhile.iter().any(|segment| segment.payload == 5), "{meanwhile:?}");
        assert!(meanwhile.iter().all(|segment| segment.window == 0), "{meanwhile:?}");
        assert_eq!(meanwhile.last().expect("some").ack, peer.seq);
        peer.acknowledge(&[]);

        assert_eq!(receiver.open().expect("it opens"), 2);
        let open = said(&mut peer);
        assert_eq!(open.len(), 3, "{open:?}");
        assert!(
            open.iter().all(|ack| ack.window > OPEN && ack.ack == peer.seq && ack.payload == 0),
            "{open:?}"
        );
        give(&mut peer, &mut stream);
        assert!(said(&mut peer).iter().all(|segment| segment.window > OPEN));
    }
    let counts = receiver.counts().expect("counters");
    assert_eq!((counts.triggered, counts.unrestored, counts.dropped), (8, 0, 0), "{counts:?}");
    assert!(counts.closed >= 6, "{counts:?}");
}

#[test]
#[ignore = "needs kernel"]
fn other_peers_are_left_alone() {
    let bench = Bench::new();
    let chosen = Peers::Only(vec![PEER_V4]);
    let mut receiver = attach(&Options { peers: chosen, ..options() }).expect("it attaches");
    let listener = bench.listen();
    let [(mut four, _four), (mut six, mut stream)] = connections(&bench, &listener);
    said(&mut four);
    assert_eq!(receiver.close(LONG).expect("it closes"), 1);
    assert!(said(&mut four).iter().all(|segment| segment.window == 0));
    give(&mut six, &mut stream);
    let said = said(&mut six);
    assert!(!said.is_empty() && said.iter().all(|segment| segment.window > OPEN), "{said:?}");
}

#[test]
#[ignore = "needs kernel"]
fn it_ends_by_itself() {
    let bench = Bench::new();
    let mut receiver = attached();
    let listener = bench.listen();
    let [(mut peer, mut stream), _] = connections(&bench, &listener);
    receiver.close(Duration::from_secs(2)).expect("it closes");
    give(&mut peer, &mut stream);
    assert!(said(&mut peer).iter().all(|segment| segment.window == 0));
    sleep(Duration::from_secs(2));
    give(&mut peer, &mut stream);
    let after = said(&mut peer);
    assert!(!after.is_empty() && after.iter().all(|segment| segment.window > OPEN), "{after:?}");
    assert!(receiver.close(Duration::from_secs(301)).expect_err("too long").is_user());
}

/// A handshake and a reset are no ACKs of a receiver.
#[test]
#[ignore = "needs kernel"]
fn connections_can_be_opened_meanwhile() {
    let bench = Bench::new();
    let mut receiver = attached();
    let listener = bench.listen();
    receiver.close(LONG).expect("it closes");
    let mut peer = super::Peer::v4(&bench.device, 4001);
    let answer = peer.open(false);
    assert!(answer.window > OPEN && answer.intact, "{answer:?}");
    drop(listener);
}
