//! Attach, pin, kill, detach: flows live, nothing is left.

mod bench;
mod left;

use bench::peer::Peer;
use bench::{Bench, count, flow};
use left::{Pin, left_of, nothing_left_of};
use nix::{getsockopt_impl, libc, sockopt_impl};
use segue_kernel::sender::{Options, attach, detach, is_attached, status};
use segue_policy::Link;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

const OLD: Link = Link { rate_kbps: 1600, delay_us: 75_000 };

fn congestion_control(stream: &TcpStream) -> String {
    rustix::net::sockopt::tcp_congestion(stream.as_fd()).expect("an option").to_string()
}

fn pin(bench: &Bench) -> Pin {
    Pin::named(&bench.name())
}

sockopt_impl!(
    /// Whether a listener keeps SYNs.
    SaveSyn,
    GetOnly,
    libc::IPPROTO_TCP,
    libc::TCP_SAVE_SYN,
    bool
);

/// Octets written on one side come out of the other.
fn lives(peer: &mut Peer, stream: &mut TcpStream) {
    stream.write_all(b"hello").expect("it can be written");
    let segment = peer.receive().expect("it arrives");
    assert_eq!(segment.payload, 5);
    peer.acknowledge(&[]);
}

#[test]
#[ignore = "needs kernel"]
fn pins_outlive_their_maker_and_detach_leaves_cubic() {
    let bench = Bench::new();
    let pin = pin(&bench);
    // The one who attaches is gone at once, as after SIGKILL: nothing of it remains open.
    let sender =
        attach(&Options { pin: Some(pin.0.clone()), ..bench.options("etcp-v1") }).expect("it attaches");
    let listener = bench.listen();
    let mut peer = Peer::v4(&bench.device, 4001);
    peer.connect(OLD);
    let (mut stream, _) = listener.accept().expect("a connection");
    drop(sender);
    let attached = |cgroup: &Path| is_attached(cgroup).expect("it is of cgroup2");
    let above = bench.cgroup.parent().expect("a cgroup");
    assert!(attached(&bench.cgroup) && !attached(above), "to this one alone");
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
    assert!(!pin.0.exists() && !attached(&bench.cgroup));
    nothing_left_of(&bench.name());
    assert!(status(&pin.0).expect_err("it is gone").is_user());
    // The listener answers as if we had never been.
    let mut third = Peer::v4(&bench.device, 4003);
    third.open(true);
    assert_eq!(third.nonce, None);
}

#[test]
#[ignore = "needs kernel"]
fn without_pins_all_goes_with_its_owner() {
    let bench = Bench::new();
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

/// Listeners of before and of after the attach keep SYNs while it lasts.
#[test]
#[ignore = "needs kernel"]
fn listeners_are_as_they_were() {
    let bench = Bench::new();
    let keeps = |listener: &TcpListener| nix::sys::socket::getsockopt(listener, SaveSyn).expect("an option");
    let before = bench.listen();
    assert!(!keeps(&before));
    let sender = bench.attach("etcp-v1");
    let after = TcpListener::bind("[::]:81").expect("a listener");
    assert!(keeps(&before) && keeps(&after));
    let other = attach(&Options { name: format!("{}b", bench.name()), ..bench.options("etcp-v1") });
    drop(other.expect("it attaches"));
    assert!(keeps(&before) && keeps(&after), "another sender's");
    drop(sender);
    assert!(!keeps(&before) && !keeps(&after));
}

/// The namespace and its sockets disappear under an attached sender.
#[test]
#[ignore = "needs kernel"]
fn a_namespace_that_disappears() {
    let bench = Bench::new();
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

/// A kill may leave some of the pins: a detach takes them away, wherever it hit an attach or another detach.
#[test]
#[ignore = "needs kernel"]
fn a_detach_clears_what_a_kill_has_left() {
    let bench = Bench::new();
    let pin = pin(&bench);
    let options = Options { pin: Some(pin.0.clone()), ..bench.options("etcp-v1") };
    let listener = bench.listen();
    let all = ["hear", "congestion_control", "flows", "about", "counters", "let_go"];
    for (port, first) in (4001..).zip(1..=all.len()) {
        drop(attach(&options).expect("it attaches"));
        let mut peer = Peer::v4(&bench.device, port);
        peer.connect(OLD);
        let (mut stream, _) = listener.accept().expect("a connection");
        for name in &all[..first] {
            std::fs::remove_file(pin.0.join(name)).expect("it was pinned");
        }
        let said = status(&pin.0).expect_err("it is not whole");
        assert!(said.is_user() && said.to_string().lines().count() == 1, "{said}");
        lives(&mut peer, &mut stream);
        if first < all.len() {
            assert!(said.to_string().contains("cut short"), "{said}");
            detach(&pin.0).expect("it detaches");
            assert_eq!(congestion_control(&stream), "cubic");
        }
        lives(&mut peer, &mut stream);
    }
    // The last one left an empty folder, as an attach does that is killed before it pins.
    assert!(pin.0.exists());
    detach(&pin.0).expect("it removes the folder");
    assert!(!pin.0.exists());
    assert!(detach(&pin.0).expect_err("nothing is there").is_user());
    // Such a folder is in nobody's way; and an attach that fails takes it with it.
    std::fs::create_dir(&pin.0).expect("a folder");
    let taken = Options { name: "cubic".into(), ..options.clone() };
    assert!(attach(&taken).expect_err("a name that is taken").is_user());
    drop(attach(&options).expect("it attaches"));
    detach(&pin.0).expect("it detaches");
    assert!(!pin.0.exists());
    nothing_left_of(&bench.name());
}

#[test]
#[ignore = "needs kernel"]
fn several_at_once_in_one_process() {
    let bench = Bench::new();
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
#[ignore = "needs kernel"]
fn mistakes_are_named() {
    let bench = Bench::new();
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
    assert!(refused(Options { name: "..".into(), ..plain() }).contains("'..'"));
    assert!(refused(Options { name: "cubic".into(), ..plain() }).contains("registered already"));
    assert!(refused(Options { pin: Some("/tmp/segue-pin".into()), ..plain() }).contains("bpf file system"));
}

/// Connections that were there before are listed, and left alone.
#[test]
#[ignore = "needs kernel"]
fn older_connections_are_unnegotiated() {
    let bench = Bench::new();
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
