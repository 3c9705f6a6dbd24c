//! A router between a host and a server, neither of which runs anything of ours: the router has the server send again.

use super::hosts::{Host, Hosts, ip};
use super::nat::{PEERS, behind, goes_on, silence};
use super::resume::{LIMIT, backed_off, outage, timer, treat};
use super::{carry, connect, stream};
use segue_agent::control::{Reply, Request, ask};
use segue_agent::{Agent, Config};
use segue_kernel::mobile::{Exit, Mobile, Progress, Waiting, attach_kept};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// The hardware address of this host's device.
fn hardware(host: &Host) -> Vec<u8> {
    let shown = host.run(|| std::process::Command::new("ip").args(["-o", "link", "show", "link0"]).output());
    let text = String::from_utf8(shown.expect("iproute2").stdout).expect("text");
    let address = text.split_once("link/ether ").expect("Ethernet").1.split(' ').next().expect("an address");
    address.split(':').map(|octet| u8::from_str_radix(octet, 16).expect("an octet")).collect()
}

/// The agent's programs on the router, at the device towards the peer.
fn following(hosts: &Hosts, router: &Host) -> Mobile {
    let mut mobile = attach_kept(router.cgroup(), None).expect("the programs attach");
    router.run(|| {
        mobile.follow("far").expect("the device's egress is free");
        let index = nix::net::if_::if_nametoindex("far").expect("a device");
        let exit = Exit::new(index, &hardware(&hosts.peer)).expect("a packet socket");
        mobile.forward_by(Some(exit)).expect("they are loaded");
    });
    treat(&mut mobile, true, Duration::ZERO);
    mobile.follow_forwarded(true).expect("a map");
    mobile
}

fn only(mobile: &Mobile) -> Waiting {
    let all = mobile.forwarded_waiting(Duration::ZERO).expect("a map");
    let [waiting] = all.as_slice() else { panic!("one connection: {all:?}") };
    waiting.clone()
}

/// Data of the peer were lost with its link. Whether they come before its timer's time, if the router says so.
fn resends((hosts, router): &(Hosts, Host), ipv6: bool) -> bool {
    let mut mobile = following(hosts, router);
    let (near, far) = connect(hosts, ipv6);
    assert_eq!(mobile.forwarded_waiting(Duration::ZERO).expect("a map"), [], "nothing has come yet");
    carry(&far, &near, 0, 500);
    carry(&near, &far, 0, 10);
    carry(&far, &near, 500, 500);
    silence(&hosts.peer, PEERS, true);
    (&far).write_all(&stream(1000, 1000)).expect("the socket's buffer takes it");
    let due = backed_off(&hosts.peer, &far);
    outage(&mut mobile);
    silence(&hosts.peer, PEERS, false);
    let waiting = only(&mobile);
    // As the peer knows it: IPv4 is masqueraded.
    let known: IpAddr = if ipv6 { hosts.mobile.ipv6 } else { [192, 0, 2, 1].into() };
    assert_eq!(far.peer_addr().expect("an address").ip(), known);
    router.run(|| {
        for _ in 0..3 {
            mobile.send_unreachable(&waiting, waiting.acks[0]).expect("it is sent");
        }
        mobile.send_ack(&waiting).expect("it is sent");
    });
    let mut received = [0; 1000];
    (&near).read_exact(&mut received).expect("it arrives");
    let in_time = Instant::now() < due;
    assert!(received[..] == stream(1000, 1000), "other octets");
    carry(&near, &far, 10, 1000);
    let limit = Instant::now() + LIMIT;
    while mobile.progress(&waiting).expect("a map") != Progress::Resumed {
        assert!(Instant::now() < limit, "it is not seen");
        thread::sleep(Duration::from_millis(5));
    }
    carry(&far, &near, 2000, 100_000);
    drop(near);
    while mobile.progress(&waiting).expect("a map") != Progress::Gone {
        assert!(Instant::now() < limit, "its end is not seen");
        thread::sleep(Duration::from_millis(5));
    }
    in_time
}

#[test]
#[ignore = "needs kernel nftables"]
fn a_router_has_the_peer_of_a_forwarded_connection_resend() {
    for ipv6 in [false, true] {
        // A machine on which nothing happens in time tells nothing: again.
        assert!((0..5).any(|_| resends(&behind(""), ipv6)), "it always took the peer's timer");
    }
}

/// The ACKs of data were lost behind the router. Whether its copy of the last one ends the peer's wait before its timer.
fn the_ack_is_enough((hosts, router): &(Hosts, Host)) -> bool {
    let mut mobile = following(hosts, router);
    let (near, far) = connect(hosts, false);
    carry(&far, &near, 0, 500);
    carry(&far, &near, 500, 500);
    let nobody = ["192.0.2.2", "lladdr", "02:00:00:00:00:99", "nud", "permanent", "dev", "far"];
    router.run(|| ip(&[&["neigh", "replace"][..], &nobody].concat())).expect("a neighbour");
    carry(&far, &near, 1000, 1000);
    let due = backed_off(&hosts.peer, &far);
    outage(&mut mobile);
    let waiting = only(&mobile);
    router.run(|| mobile.send_ack(&waiting)).expect("it is sent");
    let limit = Instant::now() + LIMIT;
    while timer(&hosts.peer, &far).1.is_some() {
        assert!(Instant::now() < limit, "its data are never acknowledged");
        thread::sleep(Duration::from_millis(5));
    }
    let in_time = Instant::now() < due;
    router.run(|| ip(&["neigh", "del", "192.0.2.2", "dev", "far"])).expect("a neighbour");
    goes_on(hosts, &near, &far);
    in_time
}

/// A NAT would give the router's own packets another port.
#[test]
#[ignore = "needs kernel nftables"]
fn the_last_ack_of_a_forwarded_connection_passes_by_the_nat() {
    assert!((0..5).any(|_| the_ack_is_enough(&behind(""))), "it always took the peer's timer");
}

/// The router's uplink goes and comes back while a server sends. Returns its agent's status, and whether new data came
/// before the server's timer.
fn outage_of((hosts, router): &(Hosts, Host), scope: &str) -> (Value, bool) {
    let folder = tempfile::tempdir().expect("a folder");
    let control = folder.path().join("agent.sock");
    let text = format!(
        "cgroup = {:?}\ncontrol = {:?}\nwatch = [\"192.0.2.0/24\", \"2001:db8::/64\"]\n{scope}\
         [[link]]\ndevice = \"far\"\nrate = \"6400kbit\"\ndelay = \"9ms\"\n",
        router.cgroup().display().to_string(),
        control.display().to_string()
    );
    // Tests beside this one would find the same pins.
    let config = Config { pin: None, ..Config::parse(&text, "test.toml").expect("a configuration") };
    let status = || match ask(&control, &Request::Status) {
        Ok(Reply::Status(status)) => status,
        other => panic!("no status: {other:?}"),
    };
    let (stop, end) = UnixStream::pair().expect("a pair");
    thread::scope(|scope| {
        let (tell, started) = mpsc::channel();
        let agent = scope.spawn(move || {
            router.run(|| {
                let mut agent = Agent::start(&config).expect("it starts");
                tell.send(()).expect("somebody waits");
                agent.serve(end.as_fd()).expect("it serves");
            })
        });
        started.recv_timeout(Duration::from_secs(120)).expect("the agent starts");
        // Also when the work panics.
        let stop = stop;
        let (near, far) = connect(hosts, false);
        carry(&far, &near, 0, 500);
        carry(&far, &near, 500, 500);
        silence(&hosts.peer, PEERS, true);
        (&far).write_all(&stream(1000, 1000)).expect("the socket's buffer takes it");
        hosts.peer.run(|| ip(&["link", "set", "link0", "down"])).expect("the peer's device");
        let limit = Instant::now() + LIMIT;
        while !status()["watch"][0]["device"].is_null() {
            assert!(Instant::now() < limit, "the outage is not seen");
            thread::sleep(Duration::from_millis(5));
        }
        let due = backed_off(&hosts.peer, &far);
        hosts.peer.run(|| {
            ip(&["link", "set", "link0", "up"]).expect("the peer's device");
            ip(&["address", "replace", "2001:db8::2/64", "dev", "link0", "nodad"]).expect("an address");
            let _ = ip(&["route", "replace", "default", "via", PEERS[0]]);
        });
        let mut received = [0; 1000];
        (&near).read_exact(&mut received).expect("it arrives");
        let in_time = Instant::now() < due;
        assert!(received[..] == stream(1000, 1000), "other octets");
        carry(&near, &far, 0, 1000);
        while status()["others"]["helping"] != 0 {
            assert!(Instant::now() < limit, "{}", status());
            thread::sleep(Duration::from_millis(5));
        }
        let said = status()["others"].clone();
        drop(stop);
        agent.join().expect("it ends");
        (said, in_time)
    })
}

#[test]
#[ignore = "needs kernel nftables"]
fn an_agent_on_a_router_helps_what_it_forwards() {
    let mut in_time = false;
    for _ in 0..5 {
        let (others, soon) = outage_of(&behind(""), "[others]\nscope = \"forwarded\"\n");
        assert_eq!(others["forwarded"], true, "{others}");
        let number = |name: &str| others[name].as_u64().expect("a number");
        assert!(number("helped") == 1 && number("messages") >= 3, "{others}");
        in_time |= soon;
        if in_time {
            break;
        }
    }
    assert!(in_time, "it always took the server's timer");
    let (others, _) = outage_of(&behind(""), "");
    assert_eq!((&others["forwarded"], &others["helped"]), (&false.into(), &0.into()), "{others}");
}
