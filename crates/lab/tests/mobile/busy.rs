//! Notices on connections that are at work, and many of them.

use super::capture::Capture;
use super::hosts::{Host, Hosts};
use super::{COMPLAINTS, NEW, OLD, attached, carry, complaints, connect, connect_to, sent_by, stream};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::socket::{getsockopt, setsockopt, sockopt};
use segue_kernel::mobile::Way;
use segue_policy::wire::ReportType;
use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Rounds of the measurement of time.
const ROUNDS: usize = 11;
/// The stream repeats after this many octets.
const PERIOD: usize = 251;

/// Sets it, however the work ends.
struct AtEnd<'a>(&'a AtomicBool);

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Sends the stream until told to stop; the number of octets.
fn send_until(mut to: &TcpStream, stop: &AtomicBool) -> usize {
    let block = stream(0, PERIOD * 256);
    let mut sent = 0;
    while !stop.load(Ordering::Relaxed) {
        to.write_all(&block).expect("it is sent");
        sent += block.len();
    }
    to.shutdown(Shutdown::Write).expect("it ends");
    sent
}

/// Receives the stream to its end and checks every octet; their number.
fn receive_all(mut from: &TcpStream) -> usize {
    let right = stream(0, PERIOD + (1 << 16));
    let mut buffer = vec![0; 1 << 16];
    let mut received = 0;
    loop {
        let length = from.read(&mut buffer).expect("no reset, no stop");
        if length == 0 {
            return received;
        }
        let at = received % PERIOD;
        assert!(buffer[..length] == right[at..at + length], "a wrong octet after {received}");
        received += length;
    }
}

fn congestion_control(socket: &TcpStream) -> String {
    let name = getsockopt(socket, sockopt::TcpCongestion).expect("a name");
    name.to_string_lossy().trim_end_matches('\0').to_owned()
}

#[test]
#[ignore = "needs kernel"]
fn a_hundred_notices_on_a_busy_host_lose_nothing() {
    let hosts = Hosts::new();
    let mut mobile = attached(&hosts.mobile, OLD);
    let _peer = attached(&hosts.peer, OLD);
    for ipv6 in [false, true] {
        let capture = Capture::on(&hosts.peer);
        let down = connect(&hosts, ipv6);
        let up = connect(&hosts, ipv6);
        let stop = AtomicBool::new(false);
        let (mut triggered, mut crafted) = (0, 0);
        thread::scope(|scope| {
            let stop = &stop;
            let end = AtEnd(stop);
            // the mobile host is `.0` of both
            let sent = [scope.spawn(|| send_until(&down.1, stop)), scope.spawn(|| send_until(&up.0, stop))];
            let received = [scope.spawn(|| receive_all(&down.0)), scope.spawn(|| receive_all(&up.1))];
            for round in 0..100 {
                let way = [Way::Auto, Way::Trigger, Way::Crafted][round % 3];
                let told = hosts.mobile.run(|| mobile.notify_by(way, NEW, ReportType::Completed, 2));
                let told = told.expect("it is told");
                assert_eq!((told.connections, told.skipped.unsent), (2, 0), "{told:?}");
                assert_eq!(told.unrestored, 0);
                triggered += told.triggered;
                crafted += told.crafted;
                thread::sleep(Duration::from_millis(5));
            }
            drop(end);
            for (sent, received) in sent.into_iter().zip(received) {
                let [sent, received] =
                    [sent, received].map(|thread| thread.join().expect("every octet is right"));
                assert_eq!(sent, received);
                assert!(sent > 1_000_000, "{sent} octets: not busy");
            }
        });
        assert!(triggered > 50 && crafted > 50, "{triggered} triggered, {crafted} crafted");
        for socket in [&down.0, &up.0] {
            assert_eq!(congestion_control(socket), congestion_control(&down.1));
        }
        let seen = capture.settled();
        assert!(seen.iter().all(|segment| !segment.rst));
        let numbers = |socket: &TcpStream| {
            let from = socket.local_addr().expect("an address");
            // A crafted ACK may overtake the next one's, so that a number comes again.
            let sent = sent_by(&seen, from);
            let reports = sent.iter().filter_map(|segment| segment.report());
            reports.map(|report| report.seq).collect::<BTreeSet<_>>().len()
        };
        // The first report's and every notice's; at this rate the veth's backlog and the capture drop a few.
        let numbers = [numbers(&down.0), numbers(&up.0)];
        assert!(numbers.iter().all(|&seen| (90..=101).contains(&seen)), "{numbers:?} of 101 numbers");
        // No segment is wrong or answered by a reset. A crafted ACK may be overtaken by the mobile's own data. It is
        // then refused as old (RFC 7323, PAWS). Where a whole window has overtaken it, it is answered by a challenge
        // ACK (RFC 5961, 5.2), which changes nothing. That takes a processor that is kept from the sender for long.
        for host in [&hosts.peer, &hosts.mobile] {
            let found = complaints(host);
            assert_eq!(found[..3], [0; 3], "{:?}", &COMPLAINTS[..3]);
            assert!(found[3] <= u64::from(crafted) / 10, "{} {}", found[3], COMPLAINTS[3].1);
        }
    }
}

/// The socket's sender as `ss` shows it: `cwnd:10`, `ssthresh:7`.
fn sender_state(host: &Host, socket: &TcpStream) -> Vec<String> {
    let from = socket.local_addr().expect("an address").to_string();
    let output = host.run(|| Command::new("ss").args(["-tinH", "src", &from]).output()).expect("ss runs");
    let text = String::from_utf8(output.stdout).expect("text");
    let fields =
        text.split_whitespace().filter(|field| field.starts_with("cwnd:") || field.starts_with("ssthresh:"));
    fields.map(str::to_owned).collect()
}

#[test]
#[ignore = "needs kernel bbr"]
fn a_trigger_keeps_the_window_and_the_congestion_control() {
    let hosts = Hosts::new();
    let mut mobile = attached(&hosts.mobile, OLD);
    let _peer = attached(&hosts.peer, OLD);
    for name in ["reno", "cubic", "bbr"] {
        let (near, far) = connect(&hosts, false);
        setsockopt(&near, sockopt::TcpCongestion, &name.into()).expect("it can be set");
        // Each block is acknowledged before the next: cwnd rests afterwards.
        for block in 0..10 {
            carry(&near, &far, block * 200_000, 200_000);
        }
        let before = sender_state(&hosts.mobile, &near);
        assert!(before[0].starts_with("cwnd:") && before[0] != "cwnd:10", "{before:?}");
        for _ in 0..10 {
            let told = hosts.mobile.run(|| mobile.notify_by(Way::Trigger, NEW, ReportType::Completed, 2));
            assert!(told.is_ok_and(|told| told.triggered == 1));
        }
        let after = sender_state(&hosts.mobile, &near);
        assert_eq!(congestion_control(&near), name);
        if name == "bbr" {
            // bbr_init() sets ssthresh to infinity, which `ss` does not show
            assert_eq!(after, before[..1]);
        } else {
            assert_eq!(after, before, "{name}");
        }
        drop((near, far));
        // so that the next notice is for the next connection alone
        thread::sleep(Duration::from_millis(50));
    }
}

fn registered() -> Vec<String> {
    let list = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").expect("a list");
    list.split_whitespace().map(str::to_owned).collect()
}

/// A congestion control of eBPF lives on in its sockets when it is detached, and could not be set again.
#[test]
#[ignore = "needs kernel"]
fn a_congestion_control_that_is_gone_is_not_taken_away() {
    let hosts = Hosts::new();
    let mut mobile = attached(&hosts.mobile, OLD);
    let _peer = attached(&hosts.peer, OLD);
    let (near, far) = connect(&hosts, false);
    // Another mobile's trigger is one; other tests may attach theirs at the same time.
    let (other, name) = loop {
        let before = registered();
        let other = attached(&hosts.peer, OLD);
        let new: Vec<_> = registered().into_iter().filter(|name| !before.contains(name)).collect();
        if let [name] = &new[..] {
            break (other, name.clone());
        }
    };
    setsockopt(&near, sockopt::TcpCongestion, &name.clone().into()).expect("it can be set");
    drop(other);
    while registered().contains(&name) {
        thread::sleep(Duration::from_millis(10));
    }
    for (way, expected) in [(Way::Trigger, (0, 0, 1)), (Way::Auto, (0, 1, 0))] {
        let told =
            hosts.mobile.run(|| mobile.notify_by(way, NEW, ReportType::Completed, 2)).expect("it runs");
        assert_eq!((told.triggered, told.crafted, told.skipped.unwritten), expected, "{told:?}");
        assert_eq!((congestion_control(&near), told.unrestored), (name.clone(), 0));
    }
    carry(&near, &far, 0, 100_000);
    carry(&far, &near, 0, 100_000);
}

#[test]
#[ignore = "needs kernel"]
fn a_thousand_connections_are_told_at_once() {
    let hosts = Hosts::new();
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).expect("limits");
    setrlimit(Resource::RLIMIT_NOFILE, soft.max(4096), hard.max(4096)).expect("more files");
    let mut mobile = attached(&hosts.mobile, OLD);
    let _peer = attached(&hosts.peer, OLD);
    let listener = hosts.peer.run(|| TcpListener::bind((hosts.peer.ipv4, 0))).expect("it listens");
    let mut connections = Vec::new();
    for count in [1, 100, 1000] {
        while connections.len() < count {
            let (near, far) = connect_to(&hosts, &listener);
            // half of them have received data
            if connections.len() % 2 == 0 {
                carry(&far, &near, 0, 10);
            }
            connections.push((near, far));
        }
        for way in [Way::Trigger, Way::Crafted] {
            let mut times = Vec::new();
            for round in 0..ROUNDS {
                let capture = (round == 0).then(|| Capture::on(&hosts.peer));
                if let Some(capture) = &capture {
                    capture.clear(); // what the round before has left on the way
                }
                let (told, time) = hosts.mobile.run(|| {
                    let start = Instant::now();
                    let told = mobile.notify_by(way, NEW, ReportType::Completed, 2).expect("it is told");
                    (told, start.elapsed())
                });
                assert_eq!(told.connections as usize, count, "{told:?}");
                assert_eq!((told.triggered + told.crafted) as usize, count, "{told:?}");
                times.push(time);
                let Some(capture) = capture else { continue };
                let seen = capture.settled();
                let told: Vec<_> = seen.iter().filter(|segment| segment.report().is_some()).collect();
                assert_eq!(told.len(), 2 * count);
                // who has received data comes first
                let order = told.iter().map(|segment| {
                    connections.iter().position(|(near, _)| near.local_addr().ok() == Some(segment.from))
                });
                let received: Vec<_> = order.map(|at| at.is_some_and(|at| at % 2 == 0)).collect();
                assert!(received.is_sorted_by_key(|first| !first));
            }
            times.sort();
            eprintln!(
                "{count} connections, {way:?}: median {:?}, {:?} to {:?}",
                times[ROUNDS / 2],
                times[0],
                times[ROUNDS - 1]
            );
        }
    }
}
