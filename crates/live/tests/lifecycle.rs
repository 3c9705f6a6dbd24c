//! Attach, pin, kill, detach: flows live, nothing is left.

mod bench;

use bench::peer::Peer;
use bench::{Bench, count, flow};
use libbpf_rs::query::MapInfoIter;
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use segue_live::host;
use segue_live::sender::{Options, attach, detach, status};
use segue_policy::Link;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::time::Duration;

const OLD: Link = Link { rate_kbps: 1600, delay_us: 75_000 };

/// What the machine still holds of the sender of this name. Other senders come and go beside us, so its maps are
/// found by their content, which names it. A program keeps the maps that it uses, and a link its program: where no
/// map is left, nothing is.
fn left_of(name: &str) -> Vec<String> {
    let names_it = |id| {
        let value = MapHandle::from_map_id(id).ok()?.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).ok()??;
        value.windows(name.len()).any(|part| part == name.as_bytes()).then_some(())
    };
    let maps = MapInfoIter::default().filter(|map| map.key_size == 4);
    let maps = maps.filter(|map| names_it(map.id).is_some()).map(|map| (map.id, map.name));
    let mut left: Vec<_> = maps.map(|(id, name)| format!("map {id} {}", name.to_string_lossy())).collect();
    let known =
        std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").expect("always");
    left.extend(known.split_whitespace().filter(|other| *other == name).map(str::to_owned));
    left
}

fn congestion_control(stream: &TcpStream) -> String {
    rustix::net::sockopt::tcp_congestion(stream.as_fd()).expect("an option").to_string()
}

/// The kernel lets go of programs a moment later.
fn nothing_left_of(name: &str) {
    bench::eventually("what was ours is gone", || left_of(name).is_empty());
}

/// A folder of bpffs that goes also when a test fails.
struct Pin(PathBuf);

impl Drop for Pin {
    fn drop(&mut self) {
        if let Ok(all) = std::fs::read_dir(&self.0) {
            all.flatten().for_each(|entry| drop(std::fs::remove_file(entry.path())));
        }
        let _ = std::fs::remove_dir(&self.0);
    }
}

fn pin(bench: &Bench) -> Option<Pin> {
    match host::bpffs() {
        Some(root) => Some(Pin(root.join(bench.name()))),
        None => {
            println!("skipped: no bpf file system is mounted");
            None
        }
    }
}

/// What is written on one side comes out of the other.
fn lives(peer: &mut Peer, stream: &mut TcpStream) {
    stream.write_all(b"hello").expect("it can be written");
    let segment = peer.receive().expect("it arrives");
    assert_eq!(segment.payload, 5);
    peer.acknowledge(&[]);
}

#[test]
fn pins_outlive_their_maker_and_detach_leaves_cubic() {
    let Some(bench) = Bench::new() else { return };
    let Some(pin) = pin(&bench) else { return };
    // The one who attaches is gone at once, as after SIGKILL: nothing of it remains open.
    let sender =
        attach(&Options { pin: Some(pin.0.clone()), ..bench.options("etcp-v1") }).expect("it attaches");
    let listener = bench.listen();
    let mut peer = Peer::v4(&bench.device, 4001);
    peer.connect(OLD);
    let (mut stream, _) = listener.accept().expect("a connection");
    drop(sender);
    assert!(
        left_of(&bench.name()).len() >= 3,
        "constants, what it says of itself, a name: {:?}",
        left_of(&bench.name())
    );
    lives(&mut peer, &mut stream);
    // It still negotiates, hears and counts.
    let mut second = Peer::v4(&bench.device, 4002);
    second.connect(OLD);
    let (other, _) = listener.accept().expect("a connection");
    assert_eq!(congestion_control(&other), bench.name());
    let now = status(&pin.0).expect("a status");
    assert_eq!(now.count("negotiated"), Some(2));
    assert!(flow(&now, peer.local).enrolled && flow(&now, second.local).negotiated);
    let twice = attach(&Options { pin: Some(pin.0.clone()), ..bench.options("etcp-v1") });
    assert!(twice.expect_err("it is there").is_user());

    detach(&pin.0).expect("it detaches");
    assert_eq!(congestion_control(&stream), "cubic");
    assert_eq!(congestion_control(&other), "cubic");
    lives(&mut peer, &mut stream);
    assert!(!pin.0.exists());
    nothing_left_of(&bench.name());
    assert!(status(&pin.0).expect_err("it is gone").is_user());
    // The listener answers as if we had never been.
    let mut third = Peer::v4(&bench.device, 4003);
    third.open(true);
    assert_eq!(third.nonce, None);
}

#[test]
fn without_pins_all_goes_with_its_owner() {
    let Some(bench) = Bench::new() else { return };
    let sender = bench.attach("etcp-v1");
    let listener = bench.listen();
    let mut peer = Peer::v4(&bench.device, 4001);
    peer.connect(OLD);
    let (mut stream, _) = listener.accept().expect("a connection");
    assert_eq!(congestion_control(&stream), bench.name());
    // From another thread, which is in another namespace.
    std::thread::spawn(move || drop(sender)).join().expect("it ends");
    assert_eq!(congestion_control(&stream), "cubic");
    lives(&mut peer, &mut stream);
    drop(stream);
    nothing_left_of(&bench.name());
}

/// The namespace and its sockets disappear under an attached sender.
#[test]
fn a_namespace_that_disappears() {
    let Some(bench) = Bench::new() else { return };
    let name = bench.name();
    let sender = bench.attach("etcp-v1");
    let listener = bench.listen();
    let mut peer = Peer::v4(&bench.device, 4001);
    peer.connect(OLD);
    let accepted = listener.accept().expect("a connection");
    drop((accepted, listener));
    drop(bench);
    assert!(sender.status().is_ok());
    drop(sender);
    nothing_left_of(&name);
}

#[test]
fn several_at_once_in_one_process() {
    let Some(bench) = Bench::new() else { return };
    let names =
        ["one", "two", "three"].map(|word| format!("{}{word}", &bench.name()[..8.min(bench.name().len())]));
    let all: Vec<_> = names
        .iter()
        .map(|name| {
            let cgroup = bench.cgroup.join(name);
            std::fs::create_dir(&cgroup).expect("a cgroup");
            let options = Options { name: name.clone(), cgroup, ..bench.options("etcp-v1") };
            attach(&options).expect("it attaches")
        })
        .collect();
    let taken = attach(&Options { name: names[0].clone(), ..bench.options("etcp-v1") }).expect_err("taken");
    assert!(taken.is_user() && taken.to_string().contains(&names[0]), "{taken}");
    for sender in &all {
        assert_eq!(count(sender, "negotiated"), 0);
    }
    drop(all);
    for name in &names {
        std::fs::remove_dir(bench.cgroup.join(name)).expect("empty");
    }
}

/// One clear line each.
#[test]
fn mistakes_are_named() {
    let Some(bench) = Bench::new() else { return };
    let refused = |options: Options| {
        let error = attach(&options).expect_err("a mistake");
        assert!(error.is_user(), "{error}");
        let text = error.to_string();
        assert_eq!(text.lines().count(), 1, "{text}");
        text
    };
    let plain = || bench.options("etcp-v1");
    let missing = bench.cgroup.join("missing");
    assert!(refused(Options { cgroup: missing.clone(), ..plain() }).contains("missing: No such file"));
    assert!(refused(Options { cgroup: "/tmp".into(), ..plain() }).contains("not in cgroup2"));
    assert!(refused(Options { name: "sixteen_letters_".into(), ..plain() }).contains("1 to 15"));
    assert!(refused(Options { name: "no-dash".into(), ..plain() }).contains("'no-dash'"));
    assert!(refused(Options { name: String::new(), ..plain() }).contains("1 to 15"));
    assert!(refused(Options { name: "cubic".into(), ..plain() }).contains("registered already"));
    assert!(refused(Options { pin: Some("/tmp/segue-pin".into()), ..plain() }).contains("bpf file system"));
}

/// Connections that were there before are listed, and left alone.
#[test]
fn older_connections_are_unnegotiated() {
    let Some(bench) = Bench::new() else { return };
    let listener = bench.listen();
    let mut peer = Peer::v4(&bench.device, 4001);
    peer.open(true);
    peer.acknowledge(&[]);
    let (mut stream, _) = listener.accept().expect("a connection");
    let was = congestion_control(&stream);
    let sender = bench.attach("etcp-v1");
    let older = flow(&sender.status().expect("a status"), peer.local);
    assert!(!older.negotiated && !older.enrolled, "{older:?}");
    lives(&mut peer, &mut stream);
    drop(sender);
    assert_eq!(congestion_control(&stream), was);
    drop(stream.set_read_timeout(Some(Duration::from_millis(1))));
    assert!(stream.read(&mut [0]).is_err(), "it is open and quiet");
}
