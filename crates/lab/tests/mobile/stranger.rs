//! A server whose TCP is not Linux's: smoltcp, in user space, behind a TUN device of the peer's. It ignores ICMP, and
//! counts its round trips without time stamps.

use super::hosts::ip;
use super::world::World;
use super::{octet, stream};
use segue_lab::punctual::{Rank, become_punctual};
use serde_json::Value;
use smoltcp::iface::{Config, Interface, SocketSet};
use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::tcp;
use smoltcp::time::Instant as Time;
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr};
use std::io::Read;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tun_rs::{DeviceBuilder, SyncDevice};

const LIMIT: Duration = Duration::from_secs(120);
const PORT: u16 = 7;
/// Octets that it may have under way: some packets.
const BUFFER: usize = 16_000;
/// Its data, each time.
const PART: usize = 100_000;

fn server(ipv6: bool) -> IpAddr {
    if ipv6 { [0xfd99, 0, 0, 0, 0, 0, 0, 7].into() } else { [203, 0, 113, 7].into() }
}

/// A device of the kernel's as smoltcp sees it. It counts the packets with data that leave.
struct Tun<'a> {
    device: &'a SyncDevice,
    sent: &'a AtomicUsize,
}

struct Received(Vec<u8>);

impl RxToken for Received {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, take: F) -> R {
        take(&self.0)
    }
}

struct Leaving<'a>(&'a SyncDevice, &'a AtomicUsize);

impl TxToken for Leaving<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, fill: F) -> R {
        let mut octets = vec![0; length];
        let result = fill(&mut octets);
        self.1.fetch_add(usize::from(length > 200), Ordering::Relaxed);
        // A full device loses it, as a link would.
        let _ = self.0.send(&octets);
        result
    }
}

impl Device for Tun<'_> {
    type RxToken<'b>
        = Received
    where
        Self: 'b;
    type TxToken<'b>
        = Leaving<'b>
    where
        Self: 'b;

    fn receive(&mut self, _: Time) -> Option<(Received, Leaving<'_>)> {
        let mut octets = vec![0; 1500];
        let length = self.device.recv(&mut octets).ok()?;
        octets.truncate(length);
        Some((Received(octets), Leaving(self.device, self.sent)))
    }

    fn transmit(&mut self, _: Time) -> Option<Leaving<'_>> {
        Some(Leaving(self.device, self.sent))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        (capabilities.medium, capabilities.max_transmission_unit) = (Medium::Ip, 1500);
        capabilities
    }
}

/// Serves one connection: so many octets of the stream as are allowed by then.
fn serve(device: &SyncDevice, ipv6: bool, allowed: &AtomicUsize, sent: &AtomicUsize, stop: &AtomicBool) {
    let mut tun = Tun { device, sent };
    let mut config = Config::new(HardwareAddress::Ip);
    config.random_seed = 1;
    let mut interface = Interface::new(config, &mut tun, Time::now());
    let bits = if ipv6 { 128 } else { 32 };
    interface.update_ip_addrs(|all| {
        all.push(IpCidr::new(IpAddress::from(server(ipv6)), bits)).expect("room");
    });
    // Any gateway will do: the device has no hardware addresses.
    let done = match server(ipv6) {
        IpAddr::V4(own) => interface.routes_mut().add_default_ipv4_route(own).map(drop),
        IpAddr::V6(own) => interface.routes_mut().add_default_ipv6_route(own).map(drop),
    };
    done.expect("a route");
    let buffer = || tcp::SocketBuffer::new(vec![0; BUFFER]);
    let mut sockets = SocketSet::new(Vec::new());
    let handle = sockets.add(tcp::Socket::new(buffer(), buffer()));
    sockets.get_mut::<tcp::Socket>(handle).listen(PORT).expect("it listens");
    let mut offset = 0;
    while !stop.load(Ordering::Acquire) {
        interface.poll(Time::now(), &mut tun, &mut sockets);
        let socket = sockets.get_mut::<tcp::Socket>(handle);
        let left = allowed.load(Ordering::Acquire) - offset;
        if socket.may_send() && left > 0 && socket.can_send() {
            offset += socket.send_slice(&stream(offset, left.min(BUFFER))).expect("it is open");
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// Octets that the mobile lacks come in order.
fn reads(mut near: &TcpStream, offset: usize, length: usize) {
    let mut received = vec![0; length];
    near.read_exact(&mut received).expect("it arrives, and nobody resets");
    let other = received.iter().enumerate().find(|(at, found)| **found != octet(offset + at));
    assert!(other.is_none(), "another octet at {}", offset + other.map_or(0, |(at, _)| at));
}

/// Two outages, after each of which the other link takes over. How long after link-up the first data came, and what the
/// agent says of it.
fn outages(ipv6: bool, more: &str) -> ([Duration; 2], Value) {
    let world = World::new();
    let (address, bits) = (server(ipv6).to_string(), if ipv6 { 128 } else { 32 });
    let device = world.hosts.peer.run(|| {
        let device = DeviceBuilder::new().name("stack0").mtu(1500).build_sync().expect("a TUN device");
        device.set_nonblocking(true).expect("ours");
        for file in ["ipv4/ip_forward", "ipv6/conf/all/forwarding"] {
            std::fs::write(format!("/proc/sys/net/{file}"), "1").expect("the namespace's own");
        }
        let _ = std::fs::write("/proc/sys/net/ipv4/conf/stack0/rp_filter", "0");
        // A cable that is out takes no address with it.
        for link in ["link0", "link1"] {
            let file = format!("/proc/sys/net/ipv6/conf/{link}/keep_addr_on_down");
            std::fs::write(file, "1").expect("the namespace's own");
        }
        ip(&["route", "add", &format!("{address}/{bits}"), "dev", "stack0"]).expect("a route");
        device
    });
    let (allowed, sent, stop) = (AtomicUsize::new(PART), AtomicUsize::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            become_punctual(Rank::Program);
            serve(&device, ipv6, &allowed, &sent, &stop);
        });
        // Also when something fails.
        let _stop = Stop(&stop);
        world.with_agent(&world.config(more), || {
            let to = SocketAddr::new(server(ipv6), PORT);
            let near =
                world.hosts.mobile.run(|| TcpStream::connect_timeout(&to, LIMIT)).expect("it connects");
            near.set_read_timeout(Some(LIMIT)).expect("a time limit");
            reads(&near, 0, PART);
            let mut offset = PART;
            let waits = [(0, "link0"), (1, "link1")].map(|(link, device)| {
                world.hosts.peer.run(|| ip(&["link", "set", device, "down"])).expect("the peer's device");
                let before = sent.load(Ordering::Relaxed);
                allowed.fetch_add(PART, Ordering::Release);
                // All that may be under way, and twice again: its timer has expired twice.
                let limit = Instant::now() + LIMIT;
                while sent.load(Ordering::Relaxed) < before + 3 * BUFFER / 1460 {
                    assert!(Instant::now() < limit, "its timer does not expire");
                    thread::sleep(Duration::from_millis(5));
                }
                let other = 1 - link;
                let up = format!("link{other}");
                world.hosts.peer.run(|| ip(&["link", "set", &up, "up"])).expect("the peer's device");
                world.peer_moves(other);
                let begin = Instant::now();
                world.move_to(other);
                reads(&near, offset, 1);
                let first = begin.elapsed();
                reads(&near, offset + 1, PART - 1);
                offset += PART;
                first
            });
            let limit = Instant::now() + LIMIT;
            loop {
                let others = world.status()["others"].clone();
                if others["helping"] == 0 {
                    return (waits, others);
                }
                assert!(Instant::now() < limit, "{others}");
                thread::sleep(Duration::from_millis(5));
            }
        })
    })
}

struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

#[test]
#[ignore = "needs kernel"]
fn a_server_in_user_space_is_not_harmed() {
    let mut octets = 0;
    for ipv6 in [false, true] {
        for (more, helped) in [("", true), ("[others]\nresume = false\n", false)] {
            let (waits, others) = outages(ipv6, more);
            println!("IPv6 {ipv6}, resume {helped}: first data after {waits:?}; {others}");
            let number = |name: &str| others[name].as_u64().expect("a number");
            assert_eq!(number("helped") > 0, helped, "{others}");
            assert_eq!(number("messages") + number("acks") > 0, helped, "{others}");
            assert_eq!(number("unsent"), 0, "{others}");
            assert!(number("octets") <= 2 * 3 && (helped || number("octets") == 0), "{others}");
            octets += number("octets");
        }
    }
    // It ignores ICMP: in four outages its own timer is not each time sooner than these ACKs.
    assert!(octets > 0, "no ACK of a single octet has left");
}
