//! A host in a network namespace and a cgroup of its own. A peer made by hand is at the other end of a TUN device.

#![allow(dead_code, reason = "each test file uses its part")]

pub mod peer;

use nix::sched::{CloneFlags, setns, unshare};
use segue_kernel::host;
use segue_kernel::sender::{Around, Options, Policy, Sender, Status, attach};
use segue_lab::punctual::{Rank, become_punctual};
use std::fs::{self, File};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};
use tun_rs::{DeviceBuilder, SyncDevice};

/// The process has one cgroup; tests that need it take turns.
static TURN: Mutex<()> = Mutex::new(());
static NUMBER: AtomicU32 = AtomicU32::new(0);

/// A namespace with a TUN device, a cgroup with this process in it, and what was there before. The peer's thread goes
/// before everything ordinary on the machine, as the laboratory's links do: it is the network.
pub struct Bench {
    pub device: SyncDevice,
    pub cgroup: PathBuf,
    number: u32,
    home_cgroup: PathBuf,
    home: File,
    _turn: MutexGuard<'static, ()>,
}

fn namespace() -> File {
    File::open("/proc/thread-self/ns/net").expect("namespaces")
}

fn ip(words: &str) {
    let done = Command::new("ip").args(words.split(' ')).output().expect("iproute2");
    assert!(done.status.success(), "ip {words}: {}", String::from_utf8_lossy(&done.stderr));
}

/// A turn without a bench: for tests whose hosts are set up by ordinary threads, and which others must not meet.
pub fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Bench {
    pub fn new() -> Self {
        for feature in host::probe() {
            let needed = ["rights", "kernel", "btf", "cgroup2", "cubic", "tun"].contains(&feature.name);
            assert!(feature.present || !needed, "{}: {}", feature.name, feature.found);
        }
        let turn = turn();
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let root = host::cgroup2().expect("probed");
        let own = fs::read_to_string("/proc/self/cgroup").expect("a process has cgroups");
        let own = own.lines().find_map(|line| line.strip_prefix("0::/")).expect("of cgroup2");
        let home_cgroup = root.join(own);
        let cgroup = root.join(format!("segue-test-{}-{number}", std::process::id()));
        fs::create_dir(&cgroup).expect("a cgroup");
        fs::write(cgroup.join("cgroup.procs"), "0").expect("a process changes its cgroup");
        let home = namespace();
        unshare(CloneFlags::CLONE_NEWNET).expect("a namespace");
        ip("link set lo up");
        let device = DeviceBuilder::new().name("bench").mtu(1500).build_sync().expect("a TUN device");
        device.set_nonblocking(true).expect("a file");
        ip("addr add 10.77.0.1/24 dev bench");
        fs::write("/proc/sys/net/ipv6/conf/bench/accept_dad", "0").expect("IPv6");
        ip("-6 addr add fd77::1/64 dev bench nodad");
        ip("link set bench up");
        // The kernel makes an address of IPv6 usable a moment later, on a busy machine seconds.
        eventually("its address", || TcpListener::bind((HOST_V6, 0)).is_ok());
        // No surprises from what the kernel remembers of earlier connections.
        fs::write("/proc/sys/net/ipv4/tcp_no_metrics_save", "1").expect("a setting");
        // Not before: kernel threads set up the namespace, too.
        become_punctual(Rank::Link);
        Self { device, cgroup, number, home_cgroup, home, _turn: turn }
    }

    /// A name that no other test of the machine has.
    pub fn name(&self) -> String {
        format!("sgt{}_{}", std::process::id(), self.number)
    }

    pub fn options(&self, scheme: &str) -> Options {
        Options {
            cgroup: self.cgroup.clone(),
            name: self.name(),
            around: Around::Cubic,
            policy: Policy::named(scheme, &[]).expect("a scheme"),
            icmp: false,
            listeners: true,
            pin: None,
        }
    }

    pub fn attach(&self, scheme: &str) -> Sender {
        attach(&self.options(scheme)).expect("it attaches")
    }

    pub fn listen(&self) -> TcpListener {
        TcpListener::bind("[::]:80").expect("both families")
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = setns(&self.home, CloneFlags::CLONE_NEWNET);
        let _ = fs::write(self.home_cgroup.join("cgroup.procs"), "0");
        // A socket that has just been closed may still hold it for a moment.
        for _ in 0..3000 {
            if fs::remove_dir(&self.cgroup).is_ok() {
                break;
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
}

pub const HOST_V4: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 77, 0, 1));
pub const HOST_V6: &str = "fd77::1";
pub const PEER_V4: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 77, 0, 2));

/// No RTO of a connection that is made from now on in this thread's namespace is shorter: for what a timer would spoil.
pub fn patient_timers(rto: Duration) {
    let rto = rto.as_micros().to_string();
    fs::write("/proc/sys/net/ipv4/tcp_rto_min_us", rto).expect("the namespace's own, since Linux 6.11");
}

/// The flow with this peer.
pub fn flow(status: &Status, remote: SocketAddr) -> segue_kernel::sender::FlowStatus {
    let found = status.flows.iter().find(|flow| flow.remote == remote);
    found.unwrap_or_else(|| panic!("no {remote} in {:?}", status.flows)).clone()
}

/// Value of a counter.
pub fn count(sender: &Sender, name: &str) -> u64 {
    let status = sender.status().expect("a status");
    status.count(name).unwrap_or_else(|| panic!("no counter {name}"))
}

/// Waits until it holds, ten minutes at most.
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(600);
    while !holds() {
        assert!(Instant::now() < until, "{what}: not within ten minutes");
        thread::sleep(Duration::from_millis(2));
    }
}
