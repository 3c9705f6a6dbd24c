//! Gain of an upload from the policy on the mobile's own flows: the agent with it and without, over the laboratory's
//! link. Needs root.

mod laboratory;

use laboratory::{in_laboratory, link};
use segue_agent::control::{Notify, Reply, Request, ask};
use segue_agent::{Agent, Config};
use segue_lab::access_link::AccessLink;
use segue_lab::host::{DEVICE, Role};
use segue_lab::packet::Packet;
use segue_lab::path::{Direction, Fate, Switch};
use segue_lab::{Family, Kind, Laboratory, MS, Plan, SenderKind};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::mpsc;
use std::thread::{self, sleep};
use std::time::Duration;

/// Runs of each setting.
const RUNS: u64 = 5;
/// kbit/s, ms.
const LINKS: [(u32, u32); 2] = [(6400, 9), (200, 300)];

#[derive(Clone, Copy, Debug)]
struct Setting {
    /// Which of the links it comes from.
    from: usize,
    kind: Kind,
    uploads: &'static str,
}

/// After the new link came up.
#[derive(Clone, Copy, Debug)]
struct Measured {
    first_ms: f64,
    /// Delivered within 10 s, kB; lost in queues, packets; retransmitted.
    delivered: f64,
    drops: usize,
    again: usize,
}

fn measure(setting: Setting, run: u64) -> Measured {
    let ends = [LINKS[setting.from], LINKS[1 - setting.from]];
    let [old, new]: [AccessLink; 2] = ends.map(|(kbps, ms)| link(kbps, ms, None));
    let cubic = SenderKind::builtin("cubic", None);
    let mut plan = Plan::new(old, new, vec![cubic.clone()]);
    plan.kind = setting.kind;
    let lab = Laboratory::create(&plan, &cubic, Duration::from_secs(30)).expect("a laboratory");
    let folder = tempfile::tempdir().expect("a folder");
    let control = folder.path().join("segue").join("agent.sock");
    let text = format!(
        "watch = [\"{}/32\"]\nuploads = \"{}\"\ncgroup = \"{}\"\ncontrol = \"{}\"\n[[link]]\nrate = \"{}kbit\"\ndelay = \"{}ms\"\n",
        Role::Server.address(Family::Ipv4),
        setting.uploads,
        lab.cgroups().mobile.display(),
        control.display(),
        ends[0].0,
        ends[0].1,
    );
    let config = Config { pin: None, ..Config::parse(&text, "a laboratory").expect("a configuration") };
    let (stop, end) = UnixStream::pair().expect("a pair");
    let up = thread::scope(|scope| {
        let (tell, started) = mpsc::channel();
        let mobile = lab.mobile();
        scope.spawn(move || {
            let served = mobile.namespace.within(|| {
                let mut agent = Agent::start(&config).expect("it starts");
                tell.send(()).expect("somebody waits");
                agent.serve(end.as_fd()).expect("it serves");
                Ok(())
            });
            served.expect("a namespace");
        });
        started.recv_timeout(Duration::from_secs(60)).expect("the agent starts");
        let stop = stop;
        let words = ["-s", "-1", "-p", "5201"];
        let server = lab.hosts().serve("iperf3-server", "iperf3", &words, &[5201]).expect("it listens");
        let address = Role::Server.address(Family::Ipv4).to_string();
        let words = ["-c", &address, "-p", "5201", "-t", "60", "-l", "8k", "-C", "cubic"];
        let client = lab.hosts().start(Role::Mobile, "iperf3-client", "iperf3", &words).expect("it starts");
        // In slow start, in its end, and after it.
        let down = lab.clock.now() + (6000 + 370 * run) * MS;
        let up = if setting.kind == Kind::Bbm { down + 3000 * MS } else { down };
        lab.emulator().schedule(Switch::new(down, up, setting.kind == Kind::Bbm));
        sleep(lab.clock.until(up));
        let (rate_kbps, delay_ms) = ends[1];
        let device = DEVICE.to_owned();
        let notify = Notify {
            device,
            rate_kbps,
            up_kbps: rate_kbps,
            delay_us: delay_ms * 1000,
            expect: false,
            gap_us: None,
        };
        let answer = ask(&control, &Request::Notify(notify)).expect("an answer");
        let Reply::Rounds(rounds) = answer else { panic!("{answer:?}") };
        // iperf3's control connection has never sent much.
        let governed = rounds[0]["governed"].as_u64().expect("a number");
        assert_eq!(governed >= 1, setting.uploads != "off", "{rounds:?}");
        sleep(lab.clock.until(up + 10_500 * MS));
        drop((client, server, stop));
        up
    });
    let emulator = lab.close();
    let packets = emulator.stop().expect("a record").packets;
    let data: Vec<(&Packet, _)> = packets
        .iter()
        .filter(|packet| {
            packet.direction == Direction::Up && packet.entered >= up && packet.entered < up + 10_000 * MS
        })
        .filter_map(|packet| Some((packet, packet.segment().filter(|segment| segment.payload > 100)?)))
        .collect();
    let highest = packets
        .iter()
        .filter(|packet| packet.direction == Direction::Up && packet.entered < up)
        .filter_map(|packet| packet.segment().filter(|segment| segment.payload > 100))
        .map(|segment| segment.sequence.wrapping_add(segment.payload))
        .reduce(|most, end| if (end.wrapping_sub(most) as i32) > 0 { end } else { most })
        .expect("an upload");
    let mut next = highest;
    let mut again = 0;
    for (_, segment) in &data {
        let end = segment.sequence.wrapping_add(segment.payload);
        if (end.wrapping_sub(next) as i32) > 0 { next = end } else { again += 1 }
    }
    let delivered: u32 = data
        .iter()
        .filter(|(packet, _)| packet.delivered().is_some_and(|at| at <= up + 10_000 * MS))
        .map(|(_, segment)| segment.payload)
        .sum();
    Measured {
        first_ms: data.first().map_or(f64::INFINITY, |(packet, _)| (packet.entered - up) as f64 / MS as f64),
        delivered: f64::from(delivered) / 1000.0,
        drops: data.iter().filter(|(packet, _)| matches!(packet.fate, Fate::Dropped(_))).count(),
        again,
    }
}

#[test]
#[ignore = "three minutes, for docs/guide/agent-alone.md"]
fn an_upload_with_the_policy_and_without() {
    in_laboratory(|| {
        for kind in [Kind::Mbb, Kind::Bbm] {
            for from in [0, 1] {
                for uploads in ["off", "etcp-v1"] {
                    let setting = Setting { from, kind, uploads };
                    let runs: Vec<Measured> = thread::scope(|scope| {
                        let all: Vec<_> =
                            (0..RUNS).map(|run| scope.spawn(move || measure(setting, run))).collect();
                        all.into_iter().map(|run| run.join().expect("a run")).collect()
                    });
                    let median = |of: fn(&Measured) -> f64| {
                        let mut all: Vec<_> = runs.iter().map(of).collect();
                        all.sort_by(f64::total_cmp);
                        (all[all.len() / 2], all[0], all[all.len() - 1])
                    };
                    println!(
                        "{kind:?} {:?} -> {:?}, {uploads} (median, least, most): first {:?} ms, {:?} kB in 10 s, {:?} dropped, \
                     {:?} sent again",
                        LINKS[from],
                        LINKS[1 - from],
                        median(|run| run.first_ms),
                        median(|run| run.delivered),
                        median(|run| run.drops as f64),
                        median(|run| run.again as f64),
                    );
                }
            }
        }
    });
}
