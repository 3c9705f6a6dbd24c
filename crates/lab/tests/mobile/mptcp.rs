//! Multipath TCP (RFC 8684): each subflow is a connection of its own to the programs. Its options leave no room for
//! ours on the first segments.

use super::hosts::{Hosts, ip};
use super::{NEW, OLD, attached, stream};
use rustix::net::{AddressFamily, SocketFlags, SocketType, ipproto};
use segue_kernel::sender::{self, Around, Policy};
use segue_policy::wire::ReportType;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// The mobile's address of the second subflow.
const SECOND: &str = "10.77.0.11";

/// A socket of Multipath TCP; `None`: this kernel has none.
fn socket() -> Option<std::os::fd::OwnedFd> {
    let enabled = std::fs::read_to_string("/proc/sys/net/mptcp/enabled").ok()?;
    (enabled.trim() == "1").then_some(())?;
    rustix::net::socket_with(
        AddressFamily::INET,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        Some(ipproto::MPTCP),
    )
    .ok()
}

/// More than one subflow's window, so that both are used.
fn download(mut from: &TcpStream, mut to: &TcpStream) {
    const LENGTH: usize = 4_000_000;
    thread::scope(|scope| {
        scope.spawn(|| from.write_all(&stream(0, LENGTH)).expect("it is sent"));
        let mut received = vec![0; LENGTH];
        to.read_exact(&mut received).expect("it arrives");
        assert!(received == stream(0, LENGTH), "other octets");
    });
}

/// Connects, waits until both subflows are there and `reported` of them have told their link, and tells a handoff.
fn told_of(reported: usize, time_stamps: &str) {
    let hosts = Hosts::new();
    for host in [&hosts.peer, &hosts.mobile] {
        host.run(|| {
            std::fs::write("/proc/sys/net/ipv4/tcp_timestamps", time_stamps).expect("the namespace's own");
            ip(&["mptcp", "limits", "set", "subflow", "2"]).expect("limits");
        });
    }
    let options = sender::Options {
        cgroup: hosts.peer.cgroup().to_owned(),
        name: format!("mp{}", std::process::id()),
        around: Around::Cubic,
        policy: Policy::named("etcp-v1", &[]).expect("a scheme"),
        icmp: false,
        listeners: true,
        pin: None,
    };
    let sender = hosts.peer.run(|| sender::attach(&options).expect("it attaches"));
    let mut mobile = attached(&hosts.mobile, OLD);
    let listener = hosts.peer.run(|| {
        let socket = socket().expect("MPTCP");
        rustix::net::bind(&socket, &SocketAddr::new(hosts.peer.ipv4, 0)).expect("an address");
        rustix::net::listen(&socket, 1).expect("it listens");
        TcpListener::from(socket)
    });
    let to = listener.local_addr().expect("an address");
    let near = hosts.mobile.run(|| {
        ip(&["address", "add", &format!("{SECOND}/24"), "dev", "link0"]).expect("a second address");
        ip(&["mptcp", "endpoint", "add", SECOND, "dev", "link0", "subflow"]).expect("an endpoint");
        let socket = socket().expect("MPTCP");
        rustix::net::connect(&socket, &to).expect("it connects");
        TcpStream::from(socket)
    });
    let (far, _) = listener.accept().expect("a connection");
    for socket in [&near, &far] {
        socket.set_read_timeout(Some(Duration::from_secs(600))).expect("a time limit");
    }
    let status = || hosts.peer.run(|| sender.status().expect("a status"));
    let limit = Instant::now() + Duration::from_secs(600);
    loop {
        download(&far, &near);
        let flows = status().flows;
        if flows.len() == 2 && flows.iter().filter(|flow| flow.link.is_some()).count() == reported {
            break;
        }
        assert!(Instant::now() < limit, "{:?}", status());
    }
    let told = hosts.mobile.run(|| mobile.notify(NEW, ReportType::Completed, 2)).expect("it tells");
    assert_eq!(told.connections as usize, reported, "{told:?}");
    download(&far, &near);
    let status = status();
    let accepted: Vec<_> = status.flows.iter().map(|flow| flow.accepted).collect();
    assert_eq!(accepted.iter().sum::<u32>() as usize, reported, "{status:?}");
    // The second copy of each notice is a repetition.
    let refused = status.refused() - status.count("repeated").expect("a counter");
    assert_eq!(refused, 0, "{status:?}");
}

/// The first report waits until there is room for it, so that notices have an old link to be compared with.
#[test]
#[ignore = "needs kernel mptcp"]
fn subflows_hear_notices() {
    told_of(2, "0");
    // With time stamps the SYN-ACK of a further subflow (MP_JOIN, 16 octets) has no room for the capability.
    told_of(1, "1");
}
