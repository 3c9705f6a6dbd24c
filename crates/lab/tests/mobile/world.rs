//! A mobile host with two links to its peer, whose addresses do not depend on the link in use; and an agent on it.

use super::capture::Capture;
use super::hosts::{Hosts, ip};
use super::resume::LIMIT;
use segue_agent::control::{Reply, Request, ask};
use segue_agent::{Agent, Config};
use segue_kernel::mobile;
use segue_lab::punctual::{Rank, become_punctual};
use segue_policy::Link;
use serde_json::Value;
use std::any::Any;
use std::net::{IpAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// Links of the two devices, as the configuration has them.
pub const LINKS: [Link; 2] =
    [Link { rate_kbps: 51_200, delay_us: 2_000 }, Link { rate_kbps: 6400, delay_us: 9_000 }];

/// Programs of the peer's, detached when dropped.
pub type Peer = Box<dyn Any + Send + Sync>;

pub struct World {
    pub hosts: Hosts,
    /// Answers capabilities.
    _peer: Peer,
    folder: tempfile::TempDir,
}

pub fn address(mobile: bool, ipv6: bool) -> IpAddr {
    match (mobile, ipv6) {
        (true, false) => [198, 51, 100, 1].into(),
        (false, false) => [192, 0, 2, 1].into(),
        (true, true) => [0x2001, 0xdb8, 0, 0, 0, 0, 0, 1].into(),
        (false, true) => [0x2001, 0xdb8, 0, 0, 0, 0, 0, 2].into(),
    }
}

impl World {
    pub fn new() -> Self {
        Self::beside(|hosts| {
            let options = mobile::Options { cgroup: hosts.peer.cgroup().to_owned(), link: LINKS[0] };
            Box::new(mobile::attach(&options).expect("the peer's programs attach"))
        })
    }

    /// The peer is one that this attaches.
    pub fn beside(peer: impl FnOnce(&Hosts) -> Peer) -> Self {
        let hosts = Hosts::new();
        let to = hosts.peer.namespace();
        let done = hosts
            .mobile
            .run(|| ip(&["link", "add", "link1", "type", "veth", "peer", "name", "link1", "netns", &to]));
        done.expect("a second link");
        for (host, number) in [(&hosts.mobile, 1), (&hosts.peer, 2)] {
            let mobile = number == 1;
            host.run(|| {
                for all in ["all", "link0", "link1"] {
                    let _ = std::fs::write(format!("/proc/sys/net/ipv4/conf/{all}/rp_filter"), "0");
                }
                ip(&["address", "add", &format!("10.78.0.{number}/24"), "dev", "link1"])?;
                ip(&["address", "add", &format!("fd78::{number}/64"), "dev", "link1", "nodad"])?;
                for ipv6 in [false, true] {
                    let bits = if ipv6 { 128 } else { 32 };
                    let own = format!("{}/{bits}", address(mobile, ipv6));
                    ip(&["address", "add", &own, "dev", "lo", "nodad"])?;
                }
                ip(&["link", "set", "link1", "up"])
            })
            .expect("addresses");
        }
        let world = Self { _peer: peer(&hosts), hosts, folder: tempfile::tempdir().expect("a folder") };
        world.peer_moves(0);
        world.move_to(0);
        // The threads here go before everything ordinary on the machine, as in a laboratory: timers are its rivals.
        become_punctual(Rank::Program);
        world
    }

    pub fn control(&self) -> PathBuf {
        self.folder.path().join("segue").join("agent.sock")
    }

    /// A configuration with this added.
    pub fn config(&self, more: &str) -> Config {
        let cgroup = self.hosts.mobile.cgroup().display();
        let mut text = format!("cgroup = \"{cgroup}\"\ncontrol = \"{}\"\n{more}\n", self.control().display());
        for (index, link) in LINKS.iter().enumerate() {
            let Link { rate_kbps, delay_us } = link;
            text.push_str(&format!(
                "[[link]]\ndevice = \"link{index}\"\nrate = \"{rate_kbps}kbit\"\ndelay = \"{delay_us}us\"\n"
            ));
        }
        // Tests beside this one would find the same pins.
        Config { pin: None, ..Config::parse(&text, "test.toml").expect("a configuration") }
    }

    fn routes(to: [IpAddr; 2], via: [String; 2], link: usize, default: bool) {
        for ipv6 in [false, true] {
            let net = match (default, ipv6) {
                (true, false) => "0.0.0.0/0".to_owned(),
                (true, true) => "::/0".to_owned(),
                (false, _) => to[usize::from(ipv6)].to_string(),
            };
            let device = format!("link{link}");
            let via = &via[usize::from(ipv6)];
            let own = address(default, ipv6).to_string();
            ip(&["route", "replace", &net, "via", via, "dev", &device, "src", &own]).expect("a route");
        }
    }

    /// No RTO of a connection that the mobile makes from now on is shorter: for what a timer would spoil.
    pub fn patient_timers(&self, rto: Duration) {
        let rto = rto.as_micros().to_string();
        let file = "/proc/sys/net/ipv4/tcp_rto_min_us";
        self.hosts.mobile.run(|| std::fs::write(file, rto).expect("the namespace's own, since Linux 6.11"));
    }

    /// The mobile's default routes lead over this link.
    pub fn move_to(&self, link: usize) {
        let via = [format!("10.7{}.0.2", 7 + link), format!("fd7{}::2", 7 + link)];
        self.hosts.mobile.run(|| Self::routes([false, true].map(|six| address(false, six)), via, link, true));
    }

    /// The peer's routes to the mobile do.
    pub fn peer_moves(&self, link: usize) {
        let via = [format!("10.7{}.0.1", 7 + link), format!("fd7{}::1", 7 + link)];
        self.hosts.peer.run(|| Self::routes([false, true].map(|six| address(true, six)), via, link, false));
    }

    pub fn listen(&self, ipv6: bool) -> TcpListener {
        self.hosts.peer.run(|| TcpListener::bind((address(false, ipv6), 0))).expect("it listens")
    }

    /// From the mobile to the peer: (mobile's end, peer's end).
    pub fn connect(&self, listener: &TcpListener) -> (TcpStream, TcpStream) {
        super::connect_to(&self.hosts, listener)
    }

    /// Works while an agent is there.
    pub fn with_agent<T>(&self, config: &Config, work: impl FnOnce() -> T) -> T {
        self.with_agent_as(|| {}, config, work)
    }

    /// The agent's thread does something before.
    pub fn with_agent_as<T>(
        &self,
        before: impl FnOnce() + Send,
        config: &Config,
        work: impl FnOnce() -> T,
    ) -> T {
        let (stop, end) = UnixStream::pair().expect("a pair");
        thread::scope(|scope| {
            let (tell, started) = mpsc::channel();
            let agent = scope.spawn(move || {
                self.hosts.mobile.run(|| {
                    before();
                    let mut agent = Agent::start(config).expect("it starts");
                    tell.send(()).expect("somebody waits");
                    agent.serve(end.as_fd()).expect("it serves");
                })
            });
            started.recv_timeout(Duration::from_secs(600)).expect("the agent starts");
            // Also when the work panics.
            let stop = stop;
            let result = work();
            drop(stop);
            agent.join().expect("it ends");
            result
        })
    }

    pub fn status(&self) -> Value {
        match ask(&self.control(), &Request::Status) {
            Ok(Reply::Status(status)) => status,
            other => panic!("no status: {other:?}"),
        }
    }

    /// The status after an outage, once the agent has looked for connections that wait and found no more to be done.
    pub fn all_helped(&self) -> Value {
        let limit = Instant::now() + LIMIT;
        loop {
            let status = self.status();
            let rounds = status["rounds"].as_array().expect("a list").len();
            if rounds >= 2 && status["others"]["helping"] == 0 {
                return status;
            }
            assert!(Instant::now() < limit, "{status}");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// The rounds so far, once there are so many.
    pub fn rounds(&self, count: usize) -> Vec<Value> {
        let limit = Instant::now() + Duration::from_secs(600);
        loop {
            let status = self.status();
            let rounds = status["rounds"].as_array().expect("a list").clone();
            if rounds.len() >= count {
                return rounds;
            }
            assert!(Instant::now() < limit, "{count} rounds, and only: {status}");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Does this, and waits until the agent has told of it: a round of each family.
    pub fn until_told(&self, work: impl FnOnce()) {
        let rounds = || self.status()["notices"]["rounds"].as_u64().expect("a number");
        let (before, limit) = (rounds(), Instant::now() + Duration::from_secs(600));
        work();
        while rounds() < before + 2 {
            assert!(Instant::now() < limit, "nothing is told: {}", self.status());
            thread::sleep(Duration::from_millis(5));
        }
    }

    pub fn capture(&self) -> Capture {
        Capture::on(&self.hosts.peer)
    }
}
