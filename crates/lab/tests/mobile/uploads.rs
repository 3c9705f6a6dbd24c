//! The mobile as the bulk sender: at a handoff the policy acts on its own flows, without a notice.

use super::world::{World, address};
use super::{carry, stream};
use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::{IpTransparent, Ipv4RecvErr, TcpCongestion};
use segue_agent::control::{Notify, Reply, Request, ask};
use segue_policy::{Etcp, Link, Notice, PACKET, Sender, Settings, believe};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

const OLD: Link = Link { rate_kbps: 20_000, delay_us: 9_000 };
const NEW: Link = Link { rate_kbps: 2_000, delay_us: 9_000 };
const RULE: &str = "[[link]]\ndevice = \"link0\"\nrate = \"20mbit\"\ndelay = \"9ms\"";

/// The mobile's end as `ss` shows it.
pub(super) struct Seen(pub(super) String);

impl Seen {
    pub(super) fn of(world: &World, near: &TcpStream) -> Self {
        let port = near.local_addr().expect("an address").port();
        let filter = format!("sport = :{port}");
        let output = world.hosts.mobile.run(|| Command::new("ss").args(["-tinH", &filter]).output());
        Self(String::from_utf8(output.expect("iproute2").stdout).expect("text"))
    }

    /// A number; 0 where `ss` leaves it out.
    pub(super) fn number(&self, name: &str) -> u32 {
        let mut words = self.0.split_whitespace();
        let found = words.find_map(|word| word.strip_prefix(name)?.strip_prefix(':'));
        found.map_or(0, |word| word.split('/').next().and_then(|word| word.parse().ok()).expect("a number"))
    }

    pub(super) fn congestion_control(&self) -> &str {
        self.0.lines().nth(1).and_then(|line| line.split_whitespace().next()).expect("its name")
    }
}

/// A connection of cubic's, whatever this machine prefers.
pub(super) fn connect(world: &World, listener: &TcpListener) -> (TcpStream, TcpStream) {
    let pair = world.connect(listener);
    setsockopt(&pair.0, TcpCongestion, &"cubic".into()).expect("every kernel has cubic");
    pair
}

/// Carries so many octets, in parts that the sockets' buffers take.
pub(super) fn grow(near: &TcpStream, far: &TcpStream, length: usize) {
    (0..length).step_by(100_000).for_each(|offset| carry(near, far, offset, 100_000));
}

/// Waits until the flow's timer has expired for the third time: after 0.2, 0.6 and 1.4 s. The next time is at 3 s.
pub(super) fn backed_off(world: &World, near: &TcpStream) {
    let limit = Instant::now() + Duration::from_secs(600);
    while Seen::of(world, near).number("backoff") < 3 {
        assert!(Instant::now() < limit, "its timer does not expire: {}", Seen::of(world, near).0);
        thread::sleep(Duration::from_millis(10));
    }
}

/// Octets that its program could read now, as far as one looks.
pub(super) fn has_arrived(far: &TcpStream) -> usize {
    far.set_nonblocking(true).expect("ours");
    let there = far.peek(&mut [0; 1000]).unwrap_or(0);
    far.set_nonblocking(false).expect("ours");
    there
}

fn told(world: &World, link: Link) -> Value {
    let Link { rate_kbps, delay_us } = link;
    let device = "link0".to_owned();
    let question = Notify { device, rate_kbps, up_kbps: rate_kbps, delay_us, expect: false, gap_us: None };
    match ask(&world.control(), &Request::Notify(question)).expect("an answer") {
        Reply::Rounds(rounds) => {
            rounds.into_iter().find(|round| round["watch"] == "0.0.0.0/0").expect("a round")
        }
        other => panic!("{other:?}"),
    }
}

pub(super) fn peer_loses_its_route(world: &World, lost: bool) {
    let verb = if lost { "replace" } else { "del" };
    let route = ["route", verb, "blackhole", "198.51.100.1"];
    world.hosts.peer.run(|| super::hosts::ip(&route)).expect("a route");
}

/// The policy's window for a link that is ten times slower, reckoned in user space.
fn expected(before: &Seen) -> u32 {
    let windows = |packets: u32| packets.saturating_mul(PACKET);
    let tcp = Sender {
        flight: before.number("unacked"),
        cwnd: windows(before.number("cwnd")),
        ssthresh: match before.number("ssthresh") {
            0 => u32::MAX,
            packets => windows(packets),
        },
        snd_max: 1,
        ..Sender::default()
    };
    let notice = Notice { old_link: OLD, new_link: NEW, flows: 1, disconnected: 0 };
    let set = Settings::adopted("etcp-v1").expect("a scheme").on_linux();
    let act = Etcp::default().on_notice(&set, &tcp, &notice);
    let (act, _) = believe(&tcp, &notice, 0, act);
    (act.cwnd + PACKET / 2) / PACKET
}

#[test]
#[ignore = "needs kernel"]
fn over_a_slower_link_the_window_is_the_policys_at_once() {
    let world = World::new();
    // An expiry of the timer would make it another handoff.
    world.patient_timers(Duration::from_secs(10));
    for (uploads, scheme) in [("etcp-v1", Some("etcp-v1")), ("near", Some("near")), ("off", None)] {
        let config = world.config(&format!("uploads = \"{uploads}\"\n{RULE}"));
        world.with_agent(&config, || {
            assert_eq!(world.status()["uploads"].as_str(), scheme);
            let (near, far) = connect(&world, &world.listen(false));
            grow(&near, &far, 1_000_000);
            assert_eq!(Seen::of(&world, &near).congestion_control(), "cubic");
            peer_loses_its_route(&world, true);
            near.set_nonblocking(true).expect("ours");
            let _ = (&near).write(&stream(1_000_000, 60_000)).expect("the socket's buffer takes some");
            let before = Seen::of(&world, &near);
            let round = told(&world, NEW);
            let after = Seen::of(&world, &near);
            peer_loses_its_route(&world, false);
            world.peer_moves(0);
            let (flight, cwnd) = (before.number("unacked"), before.number("cwnd"));
            assert!(flight >= 20 && cwnd >= flight, "{}", before.0);
            if let Some(scheme) = scheme {
                if scheme == "near" {
                    // near.md, 8.4: (2 * 9 + 6.208 ms) / 6 ms + 1 = 5 packets. 8.3: two more, and what the link before
                    // holds, as soon as packets leave.
                    assert_eq!(after.number("ssthresh"), 5, "{}", after.0);
                    assert!((5..=7 + flight).contains(&after.number("cwnd")), "{}", after.0);
                } else {
                    let window = expected(&before);
                    assert!(window < flight, "{window} of {flight}: nothing to be seen");
                    let windows = (after.number("cwnd"), after.number("ssthresh"));
                    assert_eq!(windows, (window, window), "{}", after.0);
                }
                assert!(after.congestion_control().starts_with("sgup_"), "{}", after.0);
                assert_eq!((&round["governed"], &round["left"]), (&1.into(), &0.into()), "{round}");
            } else {
                assert_eq!(after.number("cwnd"), cwnd, "{}", after.0);
                assert_eq!((&round["governed"], &round["left"]), (&0.into(), &0.into()), "{round}");
            }
            // Every octet arrives.
            let mut received = vec![0; 20_000];
            (&far).read_exact(&mut received).expect("it goes on");
            assert!(received == stream(1_000_000, 20_000), "other octets");
        });
    }
}

#[test]
#[ignore = "needs kernel"]
fn over_a_faster_link_after_an_outage_it_sends_at_once() {
    let world = World::new();
    let faster = "[[link]]\ndevice = \"link0\"\nrate = \"2mbit\"\ndelay = \"9ms\"\n\
                  [[link]]\ndevice = \"link1\"\nrate = \"20mbit\"\ndelay = \"9ms\"";
    world.with_agent(&world.config(faster), || {
        let (near, far) = connect(&world, &world.listen(false));
        grow(&near, &far, 300_000);
        peer_loses_its_route(&world, true);
        near.set_nonblocking(true).expect("ours");
        (&near).write_all(&stream(300_000, 60_000)).expect("the socket's buffer takes it");
        backed_off(&world, &near);
        peer_loses_its_route(&world, false);
        world.peer_moves(1);
        world.move_to(1);
        let rounds = world.rounds(1);
        assert!(has_arrived(&far) > 0, "the timer's time is more than a second away");
        let mut received = vec![0; 60_000];
        (&far).read_exact(&mut received).expect("it arrives");
        assert!(received == stream(300_000, 60_000), "other octets");
        let round = rounds.iter().find(|round| round["watch"] == "0.0.0.0/0").expect("a round");
        assert_eq!((&round["resent"], &round["governed"]), (&1.into(), &1.into()), "{round}");
        // 2 * BDP of 20 Mbit/s and some 18 ms, or what the policy says beside that; not cubic's slow start from 1.
        let seen = Seen::of(&world, &near);
        assert!(seen.number("cwnd") >= 20, "{}", seen.0);
        assert_eq!(near.peer_addr().expect("an address").ip(), address(false, false));
    });
}

/// Another congestion control keeps its window, and is counted; a host that does not move keeps all.
#[test]
#[ignore = "needs kernel"]
fn what_is_not_cubic_or_does_not_move_is_left_alone() {
    let world = World::new();
    world.with_agent(&world.config(RULE), || {
        let listener = world.listen(false);
        let (near, far) = connect(&world, &listener);
        setsockopt(&near, TcpCongestion, &"reno".into()).expect("every kernel has reno");
        grow(&near, &far, 300_000);
        let before = Seen::of(&world, &near);
        let round = told(&world, NEW);
        assert_eq!((&round["governed"], &round["left"]), (&0.into(), &1.into()), "{round}");
        let after = Seen::of(&world, &near);
        assert_eq!((after.congestion_control(), after.number("cwnd")), ("reno", before.number("cwnd")));
        // Within the host.
        let own = world.hosts.mobile.run(|| {
            let listener = TcpListener::bind("127.0.0.1:0").expect("it listens");
            let near = TcpStream::connect(listener.local_addr().expect("an address")).expect("it connects");
            setsockopt(&near, TcpCongestion, &"cubic".into()).expect("every kernel has cubic");
            (near, listener.accept().expect("it is accepted").0)
        });
        grow(&own.0, &own.1, 300_000);
        thread::sleep(Duration::from_millis(2200));
        let round = told(&world, OLD);
        assert_eq!((&round["governed"], &round["left"]), (&0.into(), &1.into()), "{round}");
        assert_eq!(Seen::of(&world, &own.0).congestion_control(), "cubic");
    });
}

/// IPv6 as IPv4, bbr as cubic; and all have their own congestion control again when the agent has ended.
#[test]
#[ignore = "needs kernel bbr"]
fn flows_of_both_families_and_congestion_controls_are_governed() {
    let world = World::new();
    for ipv6 in [false, true] {
        for (name, ours) in [("cubic", "sgup_"), ("bbr", "sgub_")] {
            let pair = world.with_agent(&world.config(RULE), || {
                let pair = connect(&world, &world.listen(ipv6));
                let set = || setsockopt(&pair.0, TcpCongestion, &name.into());
                world.hosts.mobile.run(set).unwrap_or_else(|error| panic!("{name}: {error}"));
                grow(&pair.0, &pair.1, 300_000);
                told(&world, NEW);
                let rounds = world.rounds(2);
                let watch = if ipv6 { "::/0" } else { "0.0.0.0/0" };
                let round = rounds.iter().find(|round| round["watch"] == watch).expect("a round");
                assert_eq!((&round["governed"], &round["left"]), (&1.into(), &0.into()), "{name}: {round}");
                let seen = Seen::of(&world, &pair.0);
                assert!(seen.congestion_control().starts_with(ours), "{}", seen.0);
                carry(&pair.0, &pair.1, 300_000, 100_000);
                pair
            });
            assert_eq!(Seen::of(&world, &pair.0).congestion_control(), name);
            carry(&pair.0, &pair.1, 400_000, 100_000);
        }
    }
}

/// When the agent ends its flows go on with cubic.
#[test]
#[ignore = "needs kernel"]
fn flows_are_cubics_again_when_the_agent_has_ended() {
    let world = World::new();
    let pair = world.with_agent(&world.config(RULE), || {
        let pair = connect(&world, &world.listen(false));
        grow(&pair.0, &pair.1, 300_000);
        assert_eq!(told(&world, NEW)["governed"], 1);
        assert!(Seen::of(&world, &pair.0).congestion_control().starts_with("sgup_"));
        carry(&pair.0, &pair.1, 300_000, 100_000);
        pair
    });
    assert_eq!(Seen::of(&world, &pair.0).congestion_control(), "cubic");
    carry(&pair.0, &pair.1, 400_000, 100_000);
}

/// A bulk upload whose timer has tried lately: RFC 6069 waits for an RTO from then, but what is queued may leave.
#[test]
#[ignore = "needs kernel"]
fn a_flow_with_more_to_send_does_not_wait_for_its_timer() {
    let world = World::new();
    world.with_agent(&world.config(""), || {
        let own = address(true, false).to_string();
        let route =
            ["route", "change", "default", "via", "10.77.0.2", "dev", "link0", "src", &own, "rto_min", "2s"];
        world.hosts.mobile.run(|| {
            super::hosts::ip(&route).expect("a route");
            // No probe of the tail, which would put the timer off by another RTO.
            std::fs::write("/proc/sys/net/ipv4/tcp_early_retrans", "0").expect("the namespace's own");
        });
        let (near, far) = connect(&world, &world.listen(false));
        carry(&near, &far, 0, 20_000);
        peer_loses_its_route(&world, true);
        let rounds = world.status()["rounds"].as_array().expect("a list").len();
        near.set_nonblocking(true).expect("ours");
        let length = (&near).write(&stream(20_000, 200_000)).expect("the socket's buffer takes some");
        // The timer expires after 2.0 s, and then after 6.0.
        let limit = Instant::now() + Duration::from_secs(600);
        let seen = loop {
            let seen = Seen::of(&world, &near);
            if seen.number("backoff") > 0 {
                break seen;
            }
            assert!(Instant::now() < limit, "{}", seen.0);
            thread::sleep(Duration::from_millis(10));
        };
        let (under_way, backoff) = (seen.number("unacked"), seen.number("backoff"));
        assert!(under_way > 0 && backoff == 1 && seen.number("notsent") > 0, "{}", seen.0);
        peer_loses_its_route(&world, false);
        world.peer_moves(1);
        world.move_to(1);
        world.rounds(rounds + 1);
        assert!(has_arrived(&far) > 0, "by RFC 6069 alone another two seconds");
        let mut received = vec![0; length];
        (&far).read_exact(&mut received).expect("it arrives");
        assert!(received == stream(20_000, length), "other octets");
    });
}

/// To a socket that still connects an ICMP message is the end (RFC 1122, 4.2.3.9).
#[test]
#[ignore = "needs kernel"]
fn a_connection_that_is_being_opened_is_left_alone() {
    let world = World::new();
    world.hosts.mobile.run(|| {
        // Back-offs from the second SYN on.
        let _ = std::fs::write("/proc/sys/net/ipv4/tcp_syn_linear_timeouts", "0");
    });
    world.with_agent(&world.config(""), || {
        let listener = world.listen(false);
        let to = listener.local_addr().expect("an address");
        peer_loses_its_route(&world, true);
        thread::scope(|scope| {
            let connecting = scope.spawn(|| {
                world.hosts.mobile.run(|| TcpStream::connect_timeout(&to, Duration::from_secs(60)))
            });
            thread::sleep(Duration::from_millis(1500));
            world.move_to(1);
            world.rounds(1);
            peer_loses_its_route(&world, false);
            world.peer_moves(1);
            connecting.join().expect("a thread").expect("it connects");
        });
    });
}

/// A program that has asked for errors (IP_RECVERR) hears of none that its own host makes. A transparent proxy's socket
/// has an address of another host: a message to it would leave.
#[test]
#[ignore = "needs kernel"]
fn who_is_not_to_be_sent_icmp_waits_for_his_timer() {
    let world = World::new();
    world.with_agent(&world.config(""), || {
        let listener = world.listen(false);
        let [hears, foreign, other] = [(); 3].map(|()| connect(&world, &listener));
        setsockopt(&hears.0, Ipv4RecvErr, &true).expect("an option");
        world.hosts.mobile.run(|| setsockopt(&foreign.0, IpTransparent, &true)).expect("an option");
        let all = [&hears, &foreign, &other];
        peer_loses_its_route(&world, true);
        all.iter().for_each(|(near, _)| (&*near).write_all(b"heard").expect("the socket's buffer takes it"));
        all.iter().for_each(|(near, _)| backed_off(&world, near));
        peer_loses_its_route(&world, false);
        world.peer_moves(1);
        world.move_to(1);
        let rounds = world.rounds(1);
        let round = rounds.iter().find(|round| round["watch"] == "0.0.0.0/0").expect("a round");
        assert_eq!(round["resent"], 1, "{round}");
        for (near, far) in all {
            let mut received = [0; 5];
            (&*far).read_exact(&mut received).expect("it arrives");
            carry(near, far, 0, 10_000);
        }
    });
}

/// An address that has gone with its link may be another host's by now: no message goes there.
#[test]
#[ignore = "needs kernel"]
fn no_message_leaves_for_an_address_that_is_gone() {
    let world = World::new();
    const GONE: &str = "198.51.100.9/32";
    let on_mobile = |words: &[&str]| world.hosts.mobile.run(|| super::hosts::ip(words)).expect("iproute2");
    let on_peer = |words: &[&str]| world.hosts.peer.run(|| super::hosts::ip(words)).expect("iproute2");
    let heard = || {
        let text =
            world.hosts.peer.run(|| std::fs::read_to_string("/proc/thread-self/net/snmp")).expect("a file");
        let mut lines = text.lines().filter(|line| line.starts_with("Icmp:")).map(str::split_whitespace);
        let (names, values) = (lines.next().expect("names"), lines.next().expect("values"));
        let (_, value) = names.zip(values).find(|(name, _)| *name == "InDestUnreachs").expect("a counter");
        value.parse::<u32>().expect("a number")
    };
    on_mobile(&["address", "add", GONE, "dev", "lo"]);
    on_peer(&["route", "add", GONE, "via", "10.77.0.1"]);
    on_mobile(&["route", "replace", "default", "via", "10.77.0.2", "dev", "link0", "src", "198.51.100.9"]);
    let (near, far) = connect(&world, &world.listen(false));
    world.move_to(0);
    world.with_agent(&world.config(""), || {
        carry(&near, &far, 0, 1000);
        peer_loses_its_route(&world, true);
        on_peer(&["route", "del", GONE]);
        (&near).write_all(b"typed").expect("the socket's buffer takes it");
        backed_off(&world, &near);
        on_mobile(&["address", "del", GONE, "dev", "lo"]);
        on_peer(&["address", "add", GONE, "dev", "lo"]);
        let before = heard();
        world.move_to(1);
        world.rounds(1);
        thread::sleep(Duration::from_millis(200));
        assert_eq!(heard(), before, "messages have left");
    });
}
