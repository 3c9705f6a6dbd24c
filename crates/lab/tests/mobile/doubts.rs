//! A handoff without an outage that the agent knows of. The tests show who is left alone, and how little is said to a
//! peer that mostly has nothing to send.

use super::world::{World, address};
use super::{carry, stream};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// A listener of another cgroup: it answers no capability.
fn stranger(world: &World) -> TcpListener {
    world.hosts.peer.run_outside(|| TcpListener::bind((address(false, false), 0))).expect("it listens")
}

fn number(others: &Value, name: &str) -> u64 {
    others[name].as_u64().unwrap_or_else(|| panic!("no {name}: {others}"))
}

/// Sends 1000 octets each millisecond until told to stop; how many.
fn upload(mut near: &TcpStream, stop: &AtomicBool) -> usize {
    let mut sent = 0;
    while !stop.load(Ordering::Acquire) {
        near.write_all(&stream(sent, 1000)).expect("it is sent");
        sent += 1000;
        thread::sleep(Duration::from_millis(1));
    }
    near.shutdown(Shutdown::Write).expect("it ends");
    sent
}

/// Its peer sends nothing but ACKs.
#[test]
#[ignore = "needs kernel"]
fn an_upload_that_goes_on_is_left_alone() {
    let world = World::new();
    world.with_agent(&world.config(""), || {
        let (near, far) = world.connect(&stranger(&world));
        carry(&far, &near, 0, 1000);
        let stop = AtomicBool::new(false);
        let (others, sent, received) = thread::scope(|scope| {
            let sends = scope.spawn(|| upload(&near, &stop));
            let receives = scope.spawn(|| {
                let mut received = Vec::new();
                (&far).read_to_end(&mut received).expect("it arrives");
                received
            });
            world.peer_moves(1);
            world.move_to(1);
            let others = world.all_helped()["others"].clone();
            stop.store(true, Ordering::Release);
            (others, sends.join().expect("it sends"), receives.join().expect("it receives"))
        });
        assert!(received == stream(0, sent), "other octets");
        let said = ["helped", "messages", "acks", "octets"].map(|name| number(&others, name));
        assert_eq!(said, [0; 4], "{others}");
    });
}

#[test]
#[ignore = "needs kernel"]
fn an_idle_peer_hears_a_few_words() {
    let world = World::new();
    world.with_agent(&world.config(""), || {
        let (near, far) = world.connect(&stranger(&world));
        let (mut link, mut offset) = (0, 0);
        // A machine on which two seconds pass between the words and the handoff tells nothing: again.
        for _ in 0..20 {
            carry(&far, &near, offset, 100_000);
            offset += 100_000;
            link = 1 - link;
            world.until_told(|| {
                world.peer_moves(link);
                world.move_to(link);
            });
            let others = world.all_helped()["others"].clone();
            if number(&others, "helped") > 0 {
                // Three doublings are 1.4 s and more.
                assert!(number(&others, "messages") <= 3, "{others}");
                assert_eq!(
                    ["acks", "octets", "unsent"].map(|name| number(&others, name)),
                    [1, 0, 0],
                    "{others}"
                );
                carry(&far, &near, offset, 100_000);
                carry(&near, &far, 0, 1000);
                return;
            }
        }
        panic!("the agent never took it for one that may wait: {}", world.status());
    });
}
