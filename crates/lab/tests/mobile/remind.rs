//! A server that a notice has send again, and whose first packets over the new link are lost: the agent reminds it.

use super::hosts::{Hosts, ip};
use super::resume::{LIMIT, backed_off, timer};
use super::world::{Peer, World};
use super::{carry, stream};
use segue_kernel::sender::{self, Around, Policy};
use serde_json::Value;
use std::io::{Read, Write};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// `segue kernel attach` on the peer.
fn sender(hosts: &Hosts) -> Peer {
    static SENDERS: AtomicU32 = AtomicU32::new(0);
    let number = SENDERS.fetch_add(1, Ordering::Relaxed);
    let options = sender::Options {
        cgroup: hosts.peer.cgroup().to_owned(),
        name: format!("rm{}_{number}", std::process::id()),
        around: Around::Cubic,
        policy: Policy::named("etcp-v1", &[]).expect("a scheme"),
        icmp: false,
        listeners: true,
        pin: None,
    };
    Box::new(hosts.peer.run(|| sender::attach(&options).expect("it attaches")))
}

/// Packets of the peer over this link go to nobody; those of the mobile arrive.
fn downlink(world: &World, link: usize, dead: bool) {
    let (to, device) = (format!("10.7{}.0.1", 7 + link), format!("link{link}"));
    let done = world.hosts.peer.run(|| {
        if dead {
            let nobody = "02:00:00:00:00:99";
            ip(&["neigh", "replace", &to, "lladdr", nobody, "nud", "permanent", "dev", &device])
        } else {
            ip(&["neigh", "del", &to, "dev", &device])
        }
    });
    done.expect("a neighbour");
}

/// The link goes while the server sends, and another takes its place once its timer has backed off. The first packets
/// that the notice has it send are lost. Whether something has come before the timer's time, and what the agent says.
fn answer_lost(more: &str) -> (bool, Value) {
    let world = World::beside(sender);
    let peer = &world.hosts.peer;
    world.with_agent(&world.config(more), || {
        let (near, far) = world.connect(&world.listen(false));
        carry(&far, &near, 0, 100_000);
        downlink(&world, 0, true);
        (&far).write_all(&stream(100_000, 20_000)).expect("the socket's buffer takes it");
        peer.run(|| ip(&["link", "set", "link0", "down"])).expect("the peer's device");
        backed_off(peer, &far);
        world.peer_moves(1);
        downlink(&world, 1, true);
        let resent = || peer.counter("Tcp", "RetransSegs");
        let before = resent();
        world.move_to(1);
        let limit = Instant::now() + LIMIT;
        while resent() == before {
            assert!(Instant::now() < limit, "the server does not answer: {}", world.status());
            thread::sleep(Duration::from_millis(1));
        }
        let (_, due) = timer(peer, &far);
        downlink(&world, 1, false);
        let mut received = [0; 20_000];
        (&near).read_exact(&mut received).expect("it arrives");
        let in_time = due.is_some_and(|due| Instant::now() < due);
        assert!(received[..] == stream(100_000, 20_000), "other octets");
        carry(&far, &near, 120_000, 100_000);
        carry(&near, &far, 0, 1000);
        (in_time, world.all_helped())
    })
}

#[test]
#[ignore = "needs kernel"]
fn a_server_whose_answer_to_a_notice_is_lost_is_reminded() {
    // A machine on which nothing happens in time tells nothing: again.
    for _ in 0..20 {
        let (in_time, status) = answer_lost("");
        let others = &status["others"];
        assert_eq!((&others["helped"], &others["unsent"]), (&0.into(), &0.into()), "{status}");
        if in_time {
            // 1.4 to 3 s are three doublings: five messages, and an ACK.
            let number = |name: &str| others[name].as_u64().expect("a number");
            assert_eq!(number("reminded"), 1, "{others}");
            assert!((1..=6).contains(&number("reminders")), "{others}");
            assert_eq!((number("messages"), number("acks"), number("resumed")), (0, 0, 0), "{others}");
            return;
        }
    }
    panic!("it always took the server's timer");
}

#[test]
#[ignore = "needs kernel"]
fn a_server_that_is_not_to_be_helped_is_not_reminded() {
    let (_, status) = answer_lost("[others]\nresume = false\n");
    let others = &status["others"];
    assert_eq!((&others["reminded"], &others["reminders"]), (&0.into(), &0.into()), "{others}");
}

/// Packets that the mobile sends over the first link go to nobody.
fn uplink_dies(world: &World) {
    let nobody = ["lladdr", "02:00:00:00:00:99", "nud", "permanent", "dev", "link0"];
    let words = [&["neigh", "replace", "10.77.0.2"][..], &nobody].concat();
    world.hosts.mobile.run(|| ip(&words)).expect("a neighbour");
}

/// A server lacks the last ACKs and has nothing new to send. The notice takes its timeouts back and has it send nothing that
/// was lost. No round trip can be measured: what the notice acknowledges was sent twice, and it echoes no stamp. So the
/// timer stays as the timeouts have left it, bounded to a second, and a message is for timeouts alone.
#[test]
#[ignore = "a measurement: make measure"]
fn how_long_a_server_waits_that_lacks_an_ack() {
    for lacks in [true, false] {
        for _ in 0..5 {
            let world = World::beside(sender);
            let peer = &world.hosts.peer;
            world.with_agent(&world.config(""), || {
                let (near, far) = world.connect(&world.listen(false));
                carry(&far, &near, 0, 100_000);
                thread::sleep(Duration::from_millis(300));
                if lacks {
                    uplink_dies(&world);
                }
                carry(&far, &near, 100_000, 5000);
                // Its timer is no rival: the least RTO is 200 ms.
                thread::sleep(Duration::from_millis(50));
                downlink(&world, 0, true);
                (&far).write_all(&stream(105_000, 10_000)).expect("the socket's buffer takes it");
                peer.run(|| ip(&["link", "set", "link0", "down"])).expect("the peer's device");
                backed_off(peer, &far);
                world.peer_moves(1);
                downlink(&world, 1, true);
                let up = Instant::now();
                world.move_to(1);
                // Longer than the notice takes, and the messages behind it.
                thread::sleep(Duration::from_millis(90));
                downlink(&world, 1, false);
                let (backoff, due) = timer(peer, &far);
                let due = due.map(|due| due.duration_since(up));
                let mut received = [0; 10_000];
                (&near).read_exact(&mut received).expect("it arrives");
                println!(
                    "the server lacks ACKs: {lacks}. 90 ms after link-up it has backed off {backoff} times, its timer is due \
                     at {due:?}; all had come {:?} after link-up",
                    up.elapsed()
                );
            });
        }
    }
}
