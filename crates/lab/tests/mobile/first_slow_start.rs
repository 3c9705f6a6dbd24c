//! An upload that no loss has ever slowed down: its ssthresh is infinite, and a handoff must not make a small one of
//! it.

use super::stream;
use super::uploads::{Seen, connect, peer_loses_its_route};
use super::world::World;
use std::io::{Read, Write};
use std::thread;
use std::time::{Duration, Instant};

/// algorithms.md 2.4 [T]: after an outage ssthresh is as the first expiry left it. Data that found no link have had no
/// expiry, so that it stays infinite, and slow start goes on.
#[test]
#[ignore = "needs kernel"]
fn an_outage_leaves_the_first_slow_start_as_it_is() {
    let world = World::new();
    let rules = "uploads = \"etcp\"\n[[link]]\ndevice = \"link0\"\nrate = \"20mbit\"\ndelay = \"9ms\"\n\
                 [[link]]\ndevice = \"link1\"\nrate = \"20mbit\"\ndelay = \"9ms\"";
    world.with_agent(&world.config(rules), || {
        let (near, far) = connect(&world, &world.listen(false));
        // `ss` leaves ssthresh out while it is infinite.
        let before = Seen::of(&world, &near);
        assert_eq!(before.number("ssthresh"), 0, "{}", before.0);
        world
            .hosts
            .peer
            .run(|| super::hosts::ip(&["link", "set", "link0", "down"]))
            .expect("the peer's device");
        near.set_nonblocking(true).expect("ours");
        let length = (&near).write(&stream(0, 60_000)).expect("the socket's buffer takes some");
        // The timer of a closed window has tried twice.
        let limit = Instant::now() + Duration::from_secs(600);
        while Seen::of(&world, &near).number("backoff") < 2 {
            assert!(Instant::now() < limit, "{}", Seen::of(&world, &near).0);
            thread::sleep(Duration::from_millis(20));
        }
        peer_loses_its_route(&world, true);
        let rounds = world.status()["rounds"].as_array().expect("a list").len();
        world.move_to(1);
        world.rounds(rounds + 1);
        let after = Seen::of(&world, &near);
        assert!(
            after.congestion_control().starts_with("sgup_") && after.number("unacked") > 0,
            "{}",
            after.0
        );
        assert_eq!(after.number("ssthresh"), 0, "{}", after.0);
        peer_loses_its_route(&world, false);
        world.peer_moves(1);
        let mut received = vec![0; length];
        far.set_read_timeout(Some(Duration::from_secs(600))).expect("ours");
        (&far).read_exact(&mut received).expect("it arrives");
        assert!(received == stream(0, length), "other octets");
    });
}
