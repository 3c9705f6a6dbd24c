//! Two hosts: network namespaces joined by a veth pair, each with a cgroup of its own. Namespaces go with their last
//! descriptor, however the test ends; cgroups are removed when dropped.

use nix::sched::{CloneFlags, setns, unshare};
use nix::unistd::gettid;
use std::fs::{self, File};
use std::io::{self, Write};
use std::net::IpAddr;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

/// A network namespace and a cgroup.
pub struct Host {
    namespace: File,
    cgroup: PathBuf,
    pub ipv4: IpAddr,
    pub ipv6: IpAddr,
}

/// The mobile host and its peer.
pub struct Hosts {
    pub mobile: Host,
    pub peer: Host,
}

impl Hosts {
    pub fn new() -> Self {
        let parent = own_cgroup().expect("cgroup2 is mounted");
        Self::build(&parent).unwrap_or_else(|error| panic!("two hosts: {error}"))
    }

    fn build(parent: &Path) -> io::Result<Self> {
        let mobile = Host::new(parent, "mobile", 1)?;
        let peer = Host::new(parent, "peer", 2)?;
        let namespace = peer.namespace();
        mobile.run(|| {
            ip(&["link", "add", "link0", "type", "veth", "peer", "name", "link0", "netns", &namespace])
        })?;
        for host in [&mobile, &peer] {
            host.run(|| {
                ip(&["link", "set", "lo", "up"])?;
                ip(&["address", "add", &format!("{}/24", host.ipv4), "dev", "link0"])?;
                ip(&["address", "add", &format!("{}/64", host.ipv6), "dev", "link0", "nodad"])?;
                ip(&["link", "set", "link0", "up"])
            })?;
        }
        Ok(Self { mobile, peer })
    }
}

impl Hosts {
    /// With a router between them. These rules of nftables are at work there, which know the mobile's side as `near`
    /// and the peer's as `far`.
    pub fn behind(rules: &str) -> (Self, Host) {
        let parent = own_cgroup().expect("cgroup2 is mounted");
        Self::build_behind(&parent, rules).unwrap_or_else(|error| panic!("two hosts and a router: {error}"))
    }

    fn build_behind(parent: &Path, rules: &str) -> io::Result<(Self, Host)> {
        let mobile = Host::new(parent, "mobile", 1)?;
        let router = Host::new(parent, "router", 254)?;
        let mut peer = Host::new(parent, "peer", 2)?;
        peer.ipv4 = [192, 0, 2, 2].into();
        peer.ipv6 = [0x2001, 0xdb8, 0, 0, 0, 0, 0, 2].into();
        let ends =
            [(&mobile, "near", ["10.77.0.254", "fd77::254"]), (&peer, "far", ["192.0.2.1", "2001:db8::1"])];
        for (host, link, gateways) in ends {
            let namespace = host.namespace();
            router.run(|| {
                ip(&["link", "add", link, "type", "veth", "peer", "name", "link0", "netns", &namespace])?;
                for (gateway, bits) in gateways.iter().zip([24, 64]) {
                    ip(&["address", "add", &format!("{gateway}/{bits}"), "dev", link, "nodad"])?;
                }
                ip(&["link", "set", link, "up"])
            })?;
            host.run(|| {
                ip(&["link", "set", "lo", "up"])?;
                ip(&["address", "add", &format!("{}/24", host.ipv4), "dev", "link0"])?;
                ip(&["address", "add", &format!("{}/64", host.ipv6), "dev", "link0", "nodad"])?;
                ip(&["link", "set", "link0", "up"])?;
                ip(&["route", "add", "default", "via", gateways[0]])?;
                ip(&["route", "add", "default", "via", gateways[1]])
            })?;
        }
        router.run(|| {
            fs::write("/proc/sys/net/ipv4/ip_forward", "1")?;
            fs::write("/proc/sys/net/ipv6/conf/all/forwarding", "1")?;
            nft(rules)
        })?;
        Ok((Self { mobile, peer }, router))
    }
}

impl Host {
    fn new(parent: &Path, name: &str, number: u8) -> io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let cgroup = parent.join(format!("segue-test-{}-{count}-{name}", std::process::id()));
        let namespace = thread::spawn(|| {
            unshare(CloneFlags::CLONE_NEWNET)?;
            File::open("/proc/thread-self/ns/net")
        });
        let namespace = namespace.join().expect("the thread ends")?;
        fs::create_dir(&cgroup)?;
        let host = Self {
            namespace,
            cgroup,
            ipv4: [10, 77, 0, number].into(),
            ipv6: [0xfd77, 0, 0, 0, 0, 0, 0, number.into()].into(),
        };
        // so that single threads of this process can be there
        fs::write(host.cgroup.join("cgroup.type"), "threaded")?;
        Ok(host)
    }

    /// A path to its namespace, for `ip`.
    pub fn namespace(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.namespace.as_raw_fd())
    }

    pub fn cgroup(&self) -> &Path {
        &self.cgroup
    }

    pub fn address(&self, ipv6: bool) -> IpAddr {
        if ipv6 { self.ipv6 } else { self.ipv4 }
    }

    /// Runs it on this host: in a thread of its own, as a process of this host would.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.run_outside(|| {
            fs::write(self.cgroup.join("cgroup.threads"), gettid().to_string())
                .expect("the cgroup can be entered");
            work()
        })
    }

    /// The same, but not in the host's cgroup.
    pub fn run_outside<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        thread::scope(|scope| {
            let thread = scope.spawn(|| {
                setns(&self.namespace, CloneFlags::CLONE_NEWNET).expect("the namespace can be entered");
                work()
            });
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// A counter of /proc/net/snmp or netstat, as `TcpExt`, `TCPChallengeACK`.
    pub fn counter(&self, group: &str, name: &str) -> u64 {
        let file = if group.ends_with("Ext") { "netstat" } else { "snmp" };
        let text =
            self.run(|| fs::read_to_string(format!("/proc/thread-self/net/{file}"))).expect("counters");
        let prefix = format!("{group}: ");
        let mut rows = text.lines().filter_map(|line| line.strip_prefix(&prefix));
        let names = rows.next().expect("a row of names").split(' ');
        let mut both = names.zip(rows.next().expect("a row of values").split(' '));
        let (_, value) =
            both.find(|(found, _)| *found == name).unwrap_or_else(|| panic!("no counter {name}"));
        value.parse().expect("a number")
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // A thread that has just ended may still be listed.
        for _ in 0..3000 {
            if fs::remove_dir(&self.cgroup).is_ok() {
                return;
            }
            thread::sleep(std::time::Duration::from_millis(10));
        }
        eprintln!("cannot remove {}", self.cgroup.display());
    }
}

/// Runs `ip` where the caller is.
pub fn ip(arguments: &[&str]) -> io::Result<()> {
    let output = Command::new("ip").args(arguments).output()?;
    if output.status.success() {
        return Ok(());
    }
    let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(io::Error::other(format!("ip {}: {why}", arguments.join(" "))))
}

/// Gives nftables these rules where the caller is.
pub fn nft(rules: &str) -> io::Result<()> {
    let mut nft =
        Command::new("nft").args(["-f", "-"]).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    nft.stdin.take().expect("a pipe").write_all(rules.as_bytes())?;
    let output = nft.wait_with_output()?;
    let why = String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(()) } else { Err(io::Error::other(format!("nft: {why}"))) }
}

/// This process' folder of cgroup2.
fn own_cgroup() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/mounts").ok()?;
    let mount = mounts.lines().find_map(|line| {
        let mut fields = line.split(' ').skip(1);
        let folder = fields.next()?;
        (fields.next()? == "cgroup2").then_some(folder)
    })?;
    let own = fs::read_to_string("/proc/self/cgroup").ok()?;
    let path = own.lines().find_map(|line| line.strip_prefix("0::/"))?;
    Some(Path::new(mount).join(path))
}
