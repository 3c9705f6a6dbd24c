//! Notices inside a WireGuard tunnel whose outer path changes. Needs root, and wireguard-go with wg.

mod laboratory;

use laboratory::{in_laboratory, link};
use segue_kernel::sender::{Around, Policy};
use segue_kernel::tunnel::{Outer, WireGuard};
use segue_lab::child::Child;
use segue_lab::host::Role;
use segue_lab::path::{Direction, Switch};
use segue_lab::{Error, Family, Kind, Laboratory, MS, Nanos, NoticeBy, Plan, Segue, SenderKind};
use std::io::Write;
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const PORT: u16 = 51820;
const INNER: [&str; 2] = ["10.99.0.1", "10.99.0.2"];

/// Runs a program here; what it prints.
fn said(program: &str, words: &[&str], input: &str) -> Result<String, Error> {
    let fault = |why: String| Error::Fault(format!("{program} {}: {why}", words.join(" ")));
    let mut child = Command::new(program)
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| fault(error.to_string()))?;
    child
        .stdin
        .take()
        .expect("a pipe")
        .write_all(input.as_bytes())
        .map_err(|error| fault(error.to_string()))?;
    let output = child.wait_with_output().map_err(|error| fault(error.to_string()))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
        false => Err(fault(String::from_utf8_lossy(&output.stderr).trim().to_owned())),
    }
}

/// One end of a tunnel: its program, and the socket by which it is set.
struct End {
    _program: Child,
    device: String,
}

impl Drop for End {
    fn drop(&mut self) {
        // A program that is killed leaves it.
        let _ = std::fs::remove_file(format!("/var/run/wireguard/{}.sock", self.device));
    }
}

/// A tunnel between the hosts, over the laboratory's link; ends with its programs.
fn tunnel(lab: &Laboratory, family: Family, wire_guard: WireGuard) -> Result<Vec<End>, Error> {
    let private = [said("wg", &["genkey"], "")?, said("wg", &["genkey"], "")?];
    let public = [said("wg", &["pubkey"], &private[0])?, said("wg", &["pubkey"], &private[1])?];
    let mut programs = Vec::new();
    for (place, (role, host)) in
        [(Role::Server, lab.server()), (Role::Mobile, lab.mobile())].into_iter().enumerate()
    {
        // Its socket is in a folder of the whole machine.
        let device = format!("sgw{}_{place}{}", std::process::id(), family);
        let program = lab.hosts().start(role, &device, "wireguard-go", &["-f", &device])?;
        programs.push(End { _program: program, device: device.clone() });
        let (mtu, other) = (wire_guard.mtu.to_string(), 1 - place);
        let endpoint = SocketAddr::new(role.other().address(family), PORT).to_string();
        host.namespace.within(|| {
            let known = || said("wg", &["show", &device], "").is_ok();
            // `wg` asks the kernel, which has no WireGuard, as long as the program has no socket yet.
            let limit = Instant::now() + Duration::from_secs(120);
            while !known() && Instant::now() < limit {
                sleep(Duration::from_millis(20));
            }
            let words = [
                "set",
                &device,
                "private-key",
                "/dev/stdin",
                "listen-port",
                &PORT.to_string(),
                "peer",
                &public[other],
            ];
            let words = [&words[..], &["allowed-ips", "10.99.0.0/24", "endpoint", &endpoint]].concat();
            said("wg", &words, &private[place])?;
            said("ip", &["address", "add", &format!("{}/24", INNER[place]), "dev", &device], "")?;
            said("ip", &["link", "set", &device, "mtu", &mtu, "up"], "").map(drop)
        })?;
    }
    Ok(programs)
}

#[test]
#[ignore = "needs lab wireguard"]
fn a_notice_inside_tells_of_the_outer_link() {
    in_laboratory(|| {
        for (family, outer) in [(Family::Ipv4, Outer::Ipv4), (Family::Ipv6, Outer::Ipv6)] {
            let (first, octets) = outage(family, WireGuard { outer, mtu: 1420 });
            eprintln!("{outer:?}: first data {} us after link-up, {octets} octets in a second", first / 1000);
        }
    });
}

#[test]
#[ignore = "a measurement: make measure"]
fn a_flow_inside_goes_on_at_once_and_fills_the_new_link() {
    in_laboratory(|| {
        for (family, outer) in [(Family::Ipv4, Outer::Ipv4), (Family::Ipv6, Outer::Ipv6)] {
            let (first, octets) = outage(family, WireGuard { outer, mtu: 1420 });
            assert!(first < 60 * MS, "{} us", first / 1000);
            // In the second after a round trip the new link is nearly full: 800 kB, of the old one's rate it would be 200.
            assert!(octets > 500_000, "{octets}");
        }
    });
}

/// Octets that the connection with the most data has received through the tunnel.
fn received(lab: &Laboratory) -> u64 {
    let sockets = lab.mobile().namespace.within(|| said("ss", &["-tniHO", "dst", INNER[0]], ""));
    let sockets = sockets.expect("iproute2");
    let counts = sockets.split_whitespace().filter_map(|word| word.strip_prefix("bytes_received:"));
    counts.filter_map(|count| count.parse().ok()).max().unwrap_or(0)
}

/// How long after link-up data come, and how many octets arrive in the second after the round trip.
fn outage(family: Family, wire_guard: WireGuard) -> (Nanos, usize) {
    let policy = Policy::named("etcp-v1", &[]).expect("a scheme");
    let segue = Segue { policy, around: Around::Cubic, icmp: false };
    let sender = SenderKind::Aware { name: "etcp-v1".into(), segue, notice_by: NoticeBy::Laboratory };
    let mut plan = Plan::new(link(1600, 40, None), link(6400, 9, None), vec![sender.clone()]);
    plan.kind = Kind::Bbm;
    let mut lab = Laboratory::create(&plan, &sender, Duration::from_secs(15)).expect("a laboratory");
    let _tunnel = tunnel(&lab, family, wire_guard).expect("a tunnel");
    let words = ["-s", "-1", "-p", "5201"];
    let server = lab.hosts().serve("iperf3-server", "iperf3", &words, &[5201]).expect("it listens");
    let words = ["-c", INNER[0], "-p", "5201", "-R", "-t", "86400"];
    let client = lab.hosts().start(Role::Mobile, "iperf3-client", "iperf3", &words).expect("it starts");

    // A second's data at least: then its slow start is over.
    let limit = Instant::now() + Duration::from_secs(600);
    while received(&lab) < 200_000 {
        assert!(Instant::now() < limit, "no data come through the tunnel");
        sleep(Duration::from_millis(50));
    }
    // Three seconds without any link: an unaided sender waits for its timer, some 0.4 to 3 s more.
    let down = lab.clock.now() + 1000 * MS;
    let up = down + 3000 * MS;
    lab.emulator().schedule(Switch::new(down, up, true));
    sleep(lab.clock.until(up));
    let ends = lab.ends.take().expect("told");
    let told = ends.notify(wire_guard.inside(plan.notice(up))).expect("it is told");
    // The data of iperf3 and its control connection, both through the tunnel.
    assert_eq!((told["connections"], told["unnegotiated"]), (2, 0), "{told:?}");
    sleep(lab.clock.until(up + 2000 * MS));
    let counters = ends.finish().expect("counters");
    assert!(counters["negotiated"] >= 2, "{counters:?}");
    drop((server, client));
    let emulator = lab.close();
    let packets = emulator.stop().expect("a record").packets;
    assert!(packets.iter().all(|packet| packet.segment().is_none()), "all of it is WireGuard's UDP");
    let full = (wire_guard.mtu + wire_guard.overhead()) as u16;
    let data = |from: Nanos| {
        packets.iter().filter(move |packet| {
            packet.direction == Direction::Down && packet.length == full && packet.entered >= from
        })
    };
    let first = data(up).next().expect("data after the outage");
    // The notice's way is 9 ms.
    let late = first.entered - up;
    assert!(late >= 9 * MS, "{} us", late / 1000);
    // Packets that leave before the first can be answered are a window; the timer would send one packet.
    let answered = first.delivered().expect("the link is there");
    let window = data(up).take_while(|packet| packet.entered < answered).count();
    assert!(window >= 2, "{window} packets at once");
    let second = data(up + 18 * MS).take_while(|packet| packet.entered < up + 1018 * MS);
    let octets: usize =
        second.filter(|packet| packet.delivered().is_some()).map(|packet| usize::from(packet.length)).sum();
    (late, octets)
}
