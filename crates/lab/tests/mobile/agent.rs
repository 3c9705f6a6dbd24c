//! The agent on a host with two links: what it tells, whom, when, and whom not.

use super::capture::Segment;
use super::hosts::ip;
use super::uploads::{backed_off, has_arrived};
use super::world::{LINKS, World, address};
use super::{carry, connect_to, sent_by};
use netlink_packet_core::{NLM_F_ACK, NLM_F_CREATE, NLM_F_REPLACE, NLM_F_REQUEST, NetlinkMessage};
use netlink_packet_route::route::{RouteAttribute, RouteHeader, RouteMessage, RouteProtocol, RouteType};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use rustix::process::{Gid, Uid};
use rustix::thread::{set_thread_res_gid, set_thread_res_uid};
use segue_agent::Agent;
use segue_agent::control::{Notify, Reply, Request, ask};
use segue_policy::Link;
use segue_policy::wire::{Report, ReportType};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{IpAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::{Duration, Instant};
use thread_priority::unix::{
    RealtimeThreadSchedulePolicy, ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id,
};
use thread_priority::{ThreadPriority, ThreadPriorityValue};

/// Reports of handoffs that the mobile's end has sent.
fn reports(segments: &[Segment], near: &TcpStream) -> Vec<Report> {
    let from = near.local_addr().expect("an address");
    let all = sent_by(segments, from).into_iter().filter_map(Segment::report);
    all.filter(|report| report.kind != ReportType::First).collect()
}

fn notify(world: &World, device: &str, link: Link, expect: bool) -> Reply {
    let Link { rate_kbps, delay_us } = link;
    let question =
        Notify { device: device.into(), rate_kbps, up_kbps: rate_kbps, delay_us, expect, gap_us: None };
    ask(&world.control(), &Request::Notify(question)).expect("an answer")
}

fn of_ipv4(rounds: &[Value]) -> &Value {
    rounds.iter().find(|round| round["watch"] == "0.0.0.0/0").expect("a round")
}

#[test]
#[ignore = "needs kernel"]
fn a_route_that_moves_is_told_and_what_is_idle_tells_it_later() {
    let world = World::new();
    world.with_agent(&world.config(""), || {
        for ipv6 in [false, true] {
            let capture = world.capture();
            let listener = world.listen(ipv6);
            let [busy, idle] = [(); 2].map(|()| world.connect(&listener));
            carry(&busy.1, &busy.0, 0, 100_000);
            let seen = capture.settled();
            let first = sent_by(&seen, busy.0.local_addr().expect("an address"));
            let first = first.iter().find_map(|segment| segment.report()).expect("a first report");
            assert_eq!((first.kind, first.link), (ReportType::First, LINKS[0]));
            capture.clear();

            world.peer_moves(1);
            world.until_told(|| world.move_to(1));
            let seen = capture.settled();
            let told = reports(&seen, &busy.0);
            assert_eq!(told.len(), 3, "one of them over the old link, which still carries: {told:?}");
            assert!(
                told.iter().all(|report| (report.kind, report.link) == (ReportType::Completed, LINKS[1]))
            );
            assert_eq!(reports(&seen, &idle.0), [], "nothing has ever come on it");

            carry(&idle.1, &idle.0, 0, 1000);
            carry(&idle.1, &idle.0, 1000, 1000);
            let told = reports(&capture.settled(), &idle.0);
            assert_eq!(told.len(), 2, "its next two ACKs: {told:?}");
            assert!(told.iter().all(|report| report.link == LINKS[1] && report.seq == told[0].seq));
            carry(&idle.1, &idle.0, 2000, 100_000);
            assert_eq!(reports(&capture.settled(), &idle.0).len(), 2, "and no more");
            // connections from now on tell this link
            capture.clear();
            let late = world.connect(&listener);
            carry(&late.1, &late.0, 0, 10);
            let seen = capture.settled();
            let from = late.0.local_addr().expect("an address");
            let first = sent_by(&seen, from).into_iter().find_map(Segment::report).expect("a first report");
            assert_eq!((first.kind, first.link), (ReportType::First, LINKS[1]));
            world.peer_moves(0);
            world.until_told(|| world.move_to(0));
            thread::sleep(Duration::from_millis(1200));
        }
        let status = world.status();
        assert_eq!(status["notices"]["unsent"], 0, "{status}");
        assert!(status["notices"]["acked"].as_u64() >= Some(2), "{status}");
    });
}

#[test]
#[ignore = "needs kernel"]
fn a_carrier_that_comes_back_is_told() {
    let world = World::new();
    world.with_agent(&world.config(""), || {
        let capture = world.capture();
        let (near, far) = world.connect(&world.listen(false));
        carry(&far, &near, 0, 100_000);
        let peer = |state| world.hosts.peer.run(|| ip(&["link", "set", "link0", state])).expect("it is set");
        peer("down");
        thread::sleep(Duration::from_millis(300));
        capture.clear();
        peer("up");
        // Its routes have gone with the device; those of IPv6 its addresses, too.
        world.hosts.peer.run(|| {
            ip(&["route", "replace", "198.51.100.1", "via", "10.77.0.1", "src", "192.0.2.1"])
                .expect("a route");
        });
        let rounds = world.rounds(2);
        let round = of_ipv4(&rounds);
        assert_eq!(
            (round["cause"].as_str(), round["device"].as_str()),
            (Some("returned"), Some("link0")),
            "{round}"
        );
        assert_eq!(
            (round["triggered"].as_u64(), round["refused"]["unsent"].as_u64()),
            (Some(1), Some(0)),
            "{round}"
        );
        carry(&far, &near, 100_000, 100_000);
    });
}

/// The mobile sends in bulk, and hears no ACK for so long that its timer has backed off to seconds.
#[test]
#[ignore = "needs kernel"]
fn an_upload_goes_on_at_once_after_an_outage() {
    let world = World::new();
    // One whose peer has negotiated, and one whose peer has not.
    for negotiated in [true, false] {
        world.with_agent(&world.config(""), || {
            let listener = world.listen(false);
            let to = listener.local_addr().expect("an address");
            let (near, far) = if negotiated {
                world.connect(&listener)
            } else {
                let near = world.hosts.mobile.run_outside(|| TcpStream::connect(to).expect("it connects"));
                (near, listener.accept().expect("it is accepted").0)
            };
            carry(&near, &far, 0, 300_000);
            let peer = |route: &[&str]| {
                let words = [&["route", "replace"], route].concat();
                world.hosts.peer.run(|| ip(&words)).expect("a route");
            };
            peer(&["blackhole", "198.51.100.1"]);
            near.set_nonblocking(true).expect("ours");
            (&near).write_all(&super::stream(300_000, 20_000)).expect("the socket's buffer takes it");
            backed_off(&world, &near);
            world.hosts.peer.run(|| ip(&["route", "del", "blackhole", "198.51.100.1"])).expect("a route");
            world.peer_moves(1);
            world.move_to(1);
            let rounds = world.rounds(1);
            assert_eq!(of_ipv4(&rounds)["resent"], 1, "{rounds:?}");
            assert!(has_arrived(&far) > 0, "the timer's time is more than a second away");
            let mut received = vec![0; 20_000];
            (&far).read_exact(&mut received).expect("it arrives");
            assert!(received == super::stream(300_000, 20_000), "other octets");
            world.peer_moves(0);
            world.move_to(0);
        });
    }
}

#[test]
#[ignore = "needs kernel"]
fn a_route_that_flaps_ten_times_a_second_costs_few_notices() {
    let world = World::new();
    world.with_agent(&world.config(""), || {
        let capture = world.capture();
        let (near, far) = world.connect(&world.listen(false));
        carry(&far, &near, 0, 100_000);
        let begin = Instant::now();
        for step in 1..=30 {
            // A connection on which nothing has come for two seconds tells with its next ACK.
            carry(&far, &near, 100_000 + 100 * (step - 1), 100);
            world.move_to(step % 2);
            thread::sleep(
                (begin + Duration::from_millis(100) * step as u32).saturating_duration_since(Instant::now()),
            );
        }
        let took = begin.elapsed();
        let limit = Instant::now() + Duration::from_secs(600);
        let told = loop {
            let told = reports(&capture.settled(), &near);
            if told.last().map(|report| report.link) == Some(LINKS[0]) {
                break told;
            }
            assert!(Instant::now() < limit, "the link of the end is not told: {told:?}");
        };
        let notices: BTreeSet<u8> = told.iter().map(|report| report.seq).collect();
        // Two at once, then one a second.
        let most = 2 + took.as_secs() as usize + 2;
        assert!((2..=most).contains(&notices.len()), "{notices:?} in {took:?}");
        world.peer_moves(0);
        carry(&far, &near, 103_000, 100_000);
    });
}

#[test]
#[ignore = "needs kernel"]
fn what_is_told_by_hand_is_told_to_peers() {
    let world = World::new();
    world.with_agent(&world.config(""), || {
        let capture = world.capture();
        let (near, far) = world.connect(&world.listen(false));
        carry(&far, &near, 0, 100_000);
        capture.clear();
        let link = Link { rate_kbps: 2000, delay_us: 50_000 };
        let Reply::Rounds(rounds) = notify(&world, "link1", link, true) else { panic!("a round") };
        let round = of_ipv4(&rounds);
        assert_eq!(
            (round["cause"].as_str(), round["triggered"].as_u64()),
            (Some("foreseen"), Some(1)),
            "{round}"
        );
        let told = reports(&capture.settled(), &near);
        assert!(
            told.len() == 2
                && told.iter().all(|report| (report.kind, report.link) == (ReportType::Expected, link)),
            "{told:?}"
        );
        // It does not change what new connections report.
        let (other, end) = world.connect(&world.listen(false));
        carry(&end, &other, 0, 10);
        let seen = capture.settled();
        let first = sent_by(&seen, other.local_addr().expect("an address"));
        assert_eq!(
            first.iter().find_map(|segment| segment.report()).map(|report| report.link),
            Some(LINKS[0])
        );

        assert!(matches!(notify(&world, "link1", link, false), Reply::Noted));
        capture.clear();
        world.peer_moves(1);
        world.until_told(|| world.move_to(1));
        let told = reports(&capture.settled(), &near);
        assert!(
            told.len() == 3
                && told.iter().all(|report| (report.kind, report.link) == (ReportType::Completed, link)),
            "one of them over the old link: {told:?}"
        );
        let Reply::Refused(said) = notify(&world, "link7", link, false) else { panic!("a refusal") };
        assert!(
            said.starts_with("no device `link7` on this host; expected one of ") && said.contains("link1"),
            "{said}"
        );
        let Reply::Refused(said) = notify(&world, "link1", Link { rate_kbps: 0, ..link }, false) else {
            panic!("a refusal")
        };
        assert!(said.contains("rate of zero"), "{said}");
    });
}

#[test]
#[ignore = "needs kernel"]
fn packets_go_to_peers_of_connections_only() {
    let world = World::new();
    for way in ["auto", "crafted"] {
        world.with_agent(&world.config(&format!("way = \"{way}\"")), || {
            let listener = world.listen(false);
            let pairs: Vec<_> = (0..5).map(|_| world.connect(&listener)).collect();
            pairs.iter().for_each(|(near, far)| carry(far, near, 0, 1000));
            // one that has ended, and one that has not negotiated
            drop(world.connect(&listener));
            let to = listener.local_addr().expect("an address");
            let outside = world.hosts.mobile.run_outside(|| TcpStream::connect(to).expect("it connects"));
            let (_far, _) = listener.accept().expect("it is accepted");
            // over a device whose route does not move
            let near_only = world
                .hosts
                .peer
                .run(|| std::net::TcpListener::bind((world.hosts.peer.ipv4, 0)).expect("it listens"));
            let unmoved = connect_to(&world.hosts, &near_only);
            carry(&unmoved.1, &unmoved.0, 0, 1000);
            let capture = world.capture();
            capture.clear();
            world.peer_moves(1);
            world.move_to(1);
            let rounds = world.rounds(2);
            let round = of_ipv4(&rounds);
            let seen = capture.settled();
            let told: Vec<_> = seen.iter().filter(|segment| segment.report().is_some()).collect();
            assert_eq!(told.len(), 15, "two each, and one over the old link: {round}");
            for segment in told {
                let pair = pairs.iter().find(|(near, _)| near.local_addr().ok() == Some(segment.from));
                let (near, _) = pair.unwrap_or_else(|| panic!("{segment:?}"));
                assert_eq!(near.peer_addr().ok(), Some(segment.to));
            }
            let own = seen.iter().filter(|segment| segment.from.ip() == address(true, false));
            assert!(own.clone().all(|segment| segment.to == listener.local_addr().expect("an address")));
            let expected = if way == "auto" { (5, 0) } else { (0, 5) };
            let counted = (round["triggered"].as_u64().unwrap_or(9), round["crafted"].as_u64().unwrap_or(9));
            assert_eq!(counted, expected, "{round}");
            assert_eq!(round["refused"]["unnegotiated"], 1, "{round}");
            drop(outside);
            world.peer_moves(0);
            world.move_to(0);
        });
    }
}

#[test]
#[ignore = "needs kernel"]
fn two_agents_are_one_too_many_and_what_a_killed_one_left_is_cleared() {
    let world = World::new();
    let config = world.config("");
    // A socket that nobody serves, and a lock file without a lock, which names the folder that its agent made.
    let folder = world.control().parent().expect("a folder").to_owned();
    std::fs::create_dir(&folder).expect("a folder");
    drop(std::os::unix::net::UnixListener::bind(world.control()).expect("a socket"));
    let lock = format!("{}.lock", world.control().display());
    std::fs::write(&lock, format!("1\n{}\n", folder.display())).expect("a file");
    world.with_agent(&config, || {
        let error = world.hosts.mobile.run(|| Agent::start(&config).err()).expect("a second is refused");
        assert!(error.is_users(), "{error}");
        let expected = format!(
            "another agent (process {}) is at work with the control socket {}; `segue agent status` asks it; expected \
             `control`, `cgroup` and `pin` of its own for each",
            std::process::id(),
            world.control().display()
        );
        assert_eq!(error.to_string(), expected);
        assert_eq!(world.status()["version"], 1);
    });
    assert!(!folder.exists(), "nothing stays");
    let error = ask(&world.control(), &Request::Status).expect_err("nobody is there");
    assert!(error.to_string().contains("no agent is at work; expected `segue agent run`"), "{error}");
    std::fs::create_dir(&folder).expect("a folder");
    std::fs::write(world.control(), "mine").expect("a file");
    let error = world.hosts.mobile.run(|| Agent::start(&config).err()).expect("a file is in the way");
    assert!(error.is_users() && error.to_string().contains("something else is there"), "{error}");
    assert_eq!(std::fs::read(world.control()).expect("the file"), b"mine");
}

#[test]
#[ignore = "needs kernel"]
fn who_says_nothing_or_nonsense_does_not_keep_it_from_work() {
    let world = World::new();
    world.with_agent(&world.config(""), || {
        let silent: Vec<_> =
            (0..3).map(|_| UnixStream::connect(world.control()).expect("it connects")).collect();
        let mut loud = UnixStream::connect(world.control()).expect("it connects");
        loud.write_all(&[b'x'; 4200]).expect("it is taken");
        let mut said = String::new();
        loud.read_to_string(&mut said).expect("an answer");
        assert!(said.contains("more than 4096 octets"), "{said}");
        let mut wrong = UnixStream::connect(world.control()).expect("it connects");
        wrong.write_all(b"{\"command\":\"format\"}\n").expect("it is taken");
        said.clear();
        wrong.read_to_string(&mut said).expect("an answer");
        assert!(said.contains("no question that is known here"), "{said}");
        world.move_to(1);
        assert_eq!(world.rounds(1)[0]["cause"], "moved");
        drop(silent);
    });
}

#[test]
#[ignore = "needs kernel"]
fn a_socket_given_away_still_asks_who_comes() {
    let world = World::new();
    world.with_agent(&world.config(""), || {
        use std::os::unix::fs::PermissionsExt;
        let mode = |mode| std::fs::Permissions::from_mode(mode);
        assert_eq!(std::fs::metadata(world.control()).expect("a socket").permissions().mode() & 0o777, 0o600);
        std::fs::set_permissions(world.control(), mode(0o666)).expect("ours");
        let folders = world.control();
        folders.ancestors().skip(1).take(2).for_each(|folder| {
            std::fs::set_permissions(folder, mode(0o755)).expect("ours");
        });
        // Another user is one thread of ours.
        let control = world.control();
        let asked = thread::spawn(move || {
            let (user, group) = (Uid::from_raw(65534), Gid::from_raw(65534));
            set_thread_res_gid(group, group, group).expect("root may");
            set_thread_res_uid(user, user, user).expect("root may");
            ask(&control, &Request::Status)
        });
        let Ok(Reply::Refused(said)) = asked.join().expect("it asks") else { panic!("no refusal") };
        assert!(said.contains("only root and the configured group may ask the agent"), "{said}");
        assert_eq!(world.status()["denied"], 1);
    });
}

/// One message, so that no program's start is measured.
fn replace_default(via: IpAddr, device: u32) -> Instant {
    let mut message = RouteMessage::default();
    message.header.address_family = AddressFamily::Inet;
    message.header.table = RouteHeader::RT_TABLE_MAIN;
    message.header.protocol = RouteProtocol::Static;
    message.header.kind = RouteType::Unicast;
    message.attributes = vec![
        RouteAttribute::Gateway(via.into()),
        RouteAttribute::Oif(device),
        RouteAttribute::PrefSource(address(true, false).into()),
    ];
    let mut request = NetlinkMessage::from(RouteNetlinkMessage::NewRoute(message));
    request.header.flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE;
    request.finalize();
    let mut octets = vec![0; request.buffer_len()];
    request.serialize(&mut octets);
    let mut socket = Socket::new(NETLINK_ROUTE).expect("a socket");
    socket.bind_auto().expect("a socket");
    socket.connect(&SocketAddr::new(0, 0)).expect("the kernel");
    let at = Instant::now();
    socket.send(&octets, 0).expect("it is sent");
    let (answer, _) = socket.recv_from_full().expect("an answer");
    assert_eq!(answer[16..20], [0; 4], "no error");
    at
}

/// So that what else runs on the machine is not measured.
fn undisturbed() {
    let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::RoundRobin);
    let value = ThreadPriorityValue::try_from(10).expect("a priority");
    let _ = set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Crossplatform(value), policy);
}

struct Measured {
    /// From the route's change to the first notice that the peer's capture had, sorted.
    first: Vec<Duration>,
    /// To the first notice of the last connection, sorted.
    last: Vec<Duration>,
    /// Connections that were told within 100 ms, of each handoff; the fewest.
    least: usize,
}

/// Handoffs of so many connections, all of which have received data.
fn measure(world: &World, count: usize, handoffs: usize) -> Measured {
    // Threads that are started from here, as that of the capture, inherit it.
    undisturbed();
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).expect("limits");
    setrlimit(Resource::RLIMIT_NOFILE, soft.max(hard.min(4096)), hard).expect("more files");
    let listener = world.listen(false);
    let pairs: Vec<_> = (0..count).map(|_| world.connect(&listener)).collect();
    let index = |name: &str| {
        world.hosts.mobile.run(|| {
            let text = std::process::Command::new("ip")
                .args(["-o", "link", "show", name])
                .output()
                .expect("ip runs");
            let text = String::from_utf8(text.stdout).expect("text");
            text.split(':').next().and_then(|word| word.trim().parse::<u32>().ok()).expect("a number")
        })
    };
    let devices = ["link0", "link1"].map(index);
    let mut measured = Measured { first: Vec::new(), last: Vec::new(), least: count };
    for handoff in 0..handoffs {
        // So that nothing waits for the handoffs before.
        thread::sleep(Duration::from_millis(2100));
        pairs.iter().for_each(|(near, far)| carry(far, near, handoff * 100, 100));
        let capture = world.capture();
        capture.clear();
        let link = (handoff + 1) % 2;
        world.peer_moves(link);
        let via = if link == 0 { [10, 77, 0, 2] } else { [10, 78, 0, 2] };
        let at = world.hosts.mobile.run(|| {
            undisturbed();
            replace_default(via.into(), devices[link])
        });
        world.rounds(handoff + 1);
        let seen = capture.settled();
        let told: Vec<_> = seen.iter().filter(|segment| segment.report().is_some()).collect();
        let first = told.iter().map(|segment| segment.at).min().expect("a notice");
        measured.first.push(first.saturating_duration_since(at));
        let last = pairs.iter().map(|(near, _)| {
            let from = near.local_addr().expect("an address");
            told.iter().find(|segment| segment.from == from).expect("everybody is told").at
        });
        measured.last.push(last.max().expect("a connection").saturating_duration_since(at));
        let soon = told.iter().filter(|segment| segment.at <= at + Duration::from_millis(100));
        let soon: BTreeSet<_> = soon.map(|segment| segment.from).collect();
        measured.least = measured.least.min(soon.len());
    }
    measured.first.sort();
    measured.last.sort();
    measured
}

/// The times of docs/guide/agent-alone.md; on a machine that does nothing else.
#[test]
#[ignore = "a measurement: make measure"]
fn notices_leave_within_five_milliseconds_and_a_thousand_within_a_tenth_of_a_second() {
    let world = World::new();
    let fast = "[[link]]\ndevice = \"link*\"\nrate = \"54mbit\"\ndelay = \"2ms\"";
    let mut results = Vec::new();
    for (count, handoffs) in [(1, 5), (100, 7), (1000, 7)] {
        world.peer_moves(0);
        world.move_to(0);
        let measured =
            world.with_agent_as(undisturbed, &world.config(fast), || measure(&world, count, handoffs));
        let Measured { first, last, least } = &measured;
        let median = |times: &[Duration]| (times[times.len() / 2], times[0], times[times.len() - 1]);
        eprintln!(
            "{count} connections, {handoffs} handoffs (median, least, most): first notice after {:?}, last connection's \
             after {:?}; at least {least} told within 100 ms",
            median(first),
            median(last),
        );
        results.push((count, measured));
    }
    for (count, Measured { first, last, least }) in results {
        assert!(first[first.len() / 2] <= Duration::from_millis(5), "{count}: {first:?}");
        assert!(count > 100 || last[last.len() / 2] <= Duration::from_millis(5), "{count}: {last:?}");
        assert!(least * 100 >= count * 99, "{least} of {count}");
    }
}
