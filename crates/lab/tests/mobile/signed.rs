//! Signed connections (RFC 2385): their peer throws away whatever is changed on the way, so they are left alone.

use super::carry;
use super::hosts::Hosts;
use super::resume::following;
use nix::sys::socket::{
    AddressFamily, Backlog, SockFlag, SockType, SockaddrStorage, bind, connect, listen, setsockopt, socket,
};
use nix::{libc, setsockopt_impl, sockopt_impl};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

/// `struct tcp_md5sig` of linux/tcp.h.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Key {
    peer: SockaddrStorage,
    flags: u8,
    prefix: u8,
    length: u16,
    device: i32,
    key: [u8; 80],
}

sockopt_impl!(
    /// TCP_MD5SIG
    Md5Key,
    SetOnly,
    libc::IPPROTO_TCP,
    MD5SIG,
    Key
);
const MD5SIG: i32 = 14;

/// A socket whose segments to and from this peer are signed.
fn signed(peer: IpAddr) -> OwnedFd {
    let family = if peer.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 };
    let made = socket(family, SockType::Stream, SockFlag::SOCK_CLOEXEC, None).expect("a socket");
    let mut key = [0; 80];
    key[..6].copy_from_slice(b"secret");
    let key =
        Key { peer: SocketAddr::from((peer, 0)).into(), flags: 0, prefix: 0, length: 6, device: 0, key };
    setsockopt(&made, Md5Key, &key).expect("a key");
    made
}

fn connected(hosts: &Hosts, ipv6: bool) -> (TcpStream, TcpStream) {
    let [near, far] = [&hosts.mobile, &hosts.peer].map(|host| host.address(ipv6));
    let server = hosts.peer.run(|| signed(near));
    bind(server.as_raw_fd(), &SockaddrStorage::from(SocketAddr::from((far, 0)))).expect("an address");
    listen(&server, Backlog::new(1).expect("one")).expect("it listens");
    let server = TcpListener::from(server);
    let to = SockaddrStorage::from(server.local_addr().expect("its address"));
    let client = hosts.mobile.run(|| signed(far));
    connect(client.as_raw_fd(), &to).expect("it connects");
    (TcpStream::from(client), server.accept().expect("it is accepted").0)
}

#[test]
#[ignore = "needs kernel tcp-md5"]
fn a_signed_connection_is_left_alone() {
    let hosts = Hosts::new();
    let mut mobile = following(&hosts);
    for ipv6 in [false, true] {
        let (near, far) = connected(&hosts, ipv6);
        carry(&far, &near, 0, 100_000);
        carry(&near, &far, 0, 1000);
        assert_eq!(mobile.receiving().expect("a map"), [], "no window is bounded");
        assert_eq!(mobile.waiting(Duration::ZERO).expect("a list"), [], "nobody is helped");
    }
}
