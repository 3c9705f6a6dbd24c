//! Capabilities of this machine for the programs of `bpf/`, and what is missing.

use crate::lent::Lent;
use crate::running::{btf_has, in_btf, parse_version, release};
use crate::sender::{Around, Error};
use libbpf_rs::btf::Btf;
use libbpf_rs::{PrintLevel, set_print};
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, Once};

/// `CGROUP2_SUPER_MAGIC`, `BPF_FS_MAGIC` of linux/magic.h.
pub(crate) const CGROUP2_MAGIC: u64 = 0x6367_7270;
pub(crate) const BPFFS_MAGIC: u64 = 0xcafe_4a11;

/// The oldest kernel whose struct_ops are attached as links, which a daemon may outlive.
const LEAST_KERNEL: (u32, u32) = (6, 4);
const BTF: &str = "/sys/kernel/btf/vmlinux";
const TUN: &str = "/dev/net/tun";
const ITERATOR: &str = "bpf_iter_tcp";

/// One thing that a machine has or lacks.
#[derive(Clone, Debug, Serialize)]
pub struct Feature {
    /// Its name.
    pub name: &'static str,
    /// Whether it is there.
    pub present: bool,
    /// The finding.
    pub found: String,
    /// Its purpose.
    pub needed_for: &'static str,
    /// The rest that works without it.
    pub without: &'static str,
}

/// How to mount it; /sys/fs/cgroup may hold the controllers of another version.
pub(crate) const MOUNT_CGROUP2: &str = "mkdir /run/cgroup2 && mount -t cgroup2 none /run/cgroup2";

/// Nothing can be heard of without it.
pub const NO_CGROUP2: &str = "cgroup2 is not mounted here: mkdir /run/cgroup2 && mount -t cgroup2 none /run/cgroup2; below `ip netns exec`, \
     use `nsenter --net=` in its place";

/// All that Segue on Linux makes use of.
pub fn probe() -> Vec<Feature> {
    // The table tells what libbpf misses.
    drop(quiet_libbpf());
    let kernel = release();
    let version = parse_version(&kernel);
    let at_least = |major, minor| version >= (major, minor);
    let btf = Btf::from_vmlinux().ok();
    let kfunc = |name| btf.as_ref().is_some_and(|btf| btf_has(btf, name));
    let mount = |root: Option<PathBuf>, how: &str| {
        root.map_or_else(|| format!("not mounted: {how}"), |path| path.display().to_string())
    };
    let yes = |present: bool| if present { "yes" } else { "no" }.to_owned();
    let missing = missing_capabilities();
    let cgroup = cgroup2();
    let bpffs = bpffs();
    let tun = Path::new(TUN).exists();
    let feature =
        |name, present, found, needed_for, without| Feature { name, present, found, needed_for, without };
    const OUTSIDE_THE_LAB: &str = "`segue kernel` and `segue agent`";
    let iperf3 = in_path("iperf3");
    const NOTHING: &str = "the simulator alone: not `segue kernel`, `segue agent`, `segue lab`";
    let from_kernel = |present: bool, kfuncs: &str| {
        if present { kfuncs.to_owned() } else { format!("{kfuncs} not found in BTF") }
    };
    vec![
        feature(
            "rights",
            missing.is_empty(),
            if missing.is_empty() {
                "CAP_BPF, CAP_NET_ADMIN, CAP_PERFMON".into()
            } else {
                format!("without {}: run as root", missing.join(", "))
            },
            "loading programs and attaching them",
            NOTHING,
        ),
        feature(
            "kernel",
            version >= LEAST_KERNEL,
            kernel.clone(),
            "a congestion control of eBPF that outlives its daemon (6.4)",
            NOTHING,
        ),
        feature(
            "btf",
            btf.is_some(),
            BTF.to_owned(),
            "programs that find the fields of this kernel's structures",
            NOTHING,
        ),
        congestion_control(Around::Cubic, "`segue kernel --around cubic`", "--around bbr"),
        congestion_control(Around::Bbr, "`segue kernel --around bbr` (6.10)", "--around cubic"),
        feature(
            "cgroup2",
            cgroup.is_some(),
            mount(cgroup.clone(), MOUNT_CGROUP2),
            "hearing the notices of the sockets of some processes, or of all",
            NOTHING,
        ),
        feature(
            "bpffs",
            bpffs.is_some(),
            mount(bpffs, "mount -t bpf bpf /sys/fs/bpf"),
            "`segue kernel attach`, which pins",
            "`segue kernel run`, which stays",
        ),
        feature(
            "mark-listeners",
            at_least(6, 12),
            yes(at_least(6, 12)),
            "programs that listened before attach (6.12)",
            "programs that are started after attach",
        ),
        feature(
            "bpf-iter",
            kfunc(ITERATOR),
            from_kernel(kfunc(ITERATOR), ITERATOR),
            "`segue agent`, which goes through all connections",
            "`segue kernel`; the simulator",
        ),
        feature(
            "trigger",
            at_least(6, 12),
            yes(at_least(6, 12)),
            "notices on acknowledgements of the mobile's own kernel (6.12)",
            "notices on crafted acknowledgements",
        ),
        feature(
            "ack-order",
            at_least(6, 15),
            if at_least(6, 15) {
                "pkts_acked, then in_ack_event".to_owned()
            } else {
                "in_ack_event, then pkts_acked, but for stable kernels with the change of 6.15".to_owned()
            },
            "answering an acknowledgement in in_ack_event (6.15)",
            "all: each is answered in the later call, of which the first one tells",
        ),
        feature(
            "rto-max",
            at_least(6, 15),
            yes(at_least(6, 15)),
            "cubic with `tcp_rto_max_ms` beside the other senders of the laboratory (6.15)",
            "the other senders",
        ),
        feature(
            "tun",
            tun,
            if tun { TUN.to_owned() } else { format!("no {TUN}: modprobe tun") },
            "the link emulator of `segue lab`",
            OUTSIDE_THE_LAB,
        ),
        feature(
            "namespaces",
            may(SYS_ADMIN),
            if may(SYS_ADMIN) { "CAP_SYS_ADMIN".to_owned() } else { "without CAP_SYS_ADMIN".to_owned() },
            "the hosts of `segue lab`",
            OUTSIDE_THE_LAB,
        ),
        feature(
            "iperf3",
            iperf3.is_some(),
            iperf3.map_or("not in PATH".to_owned(), |path| path.display().to_string()),
            "the downloads of `segue lab`",
            OUTSIDE_THE_LAB,
        ),
    ]
}

/// A congestion control that ours stand around.
fn congestion_control(around: Around, needed_for: &'static str, without: &'static str) -> Feature {
    let lent = around.lent();
    let (name, module) = (around.name(), around.module());
    let found = match lent {
        Lent::Now => format!("{name}'s functions"),
        Lent::OnceLoaded => format!("module not loaded; attach and the agent load it, or: modprobe {module}"),
        Lent::Never => format!("{name}'s functions not found in BTF, and no module {module}"),
    };
    Feature { name, present: lent != Lent::Never, found, needed_for, without }
}

/// Required by everything that goes through all connections.
pub fn require_iterator() -> Result<(), Error> {
    require()?;
    if !in_btf(ITERATOR) {
        return Err(Error::Machine(format!(
            "this kernel has no eBPF iterator over TCP connections: {ITERATOR} not found in {BTF}"
        )));
    }
    Ok(())
}

/// Required by everything.
pub fn require() -> Result<(), Error> {
    enough(&missing_capabilities(), Path::new(BTF).exists(), &release())
}

/// The first thing that is missing.
fn enough(missing: &[&str], btf: bool, kernel: &str) -> Result<(), Error> {
    if !missing.is_empty() {
        return Err(Error::Machine(format!(
            "no right to load kernel programs: {} missing; run as root or grant them",
            missing.join(", ")
        )));
    }
    if !btf {
        return Err(Error::Machine(format!(
            "{BTF} is not there: a kernel with CONFIG_DEBUG_INFO_BTF is needed"
        )));
    }
    if parse_version(kernel) < LEAST_KERNEL {
        let (major, minor) = LEAST_KERNEL;
        return Err(Error::Machine(format!("Linux {kernel} is too old; {major}.{minor} or newer is needed")));
    }
    Ok(())
}

/// Numbers of linux/capability.h.
const SYS_ADMIN: u32 = 21;
const CAPABILITIES: [(u32, &str); 3] = [(39, "CAP_BPF"), (12, "CAP_NET_ADMIN"), (38, "CAP_PERFMON")];

fn missing_capabilities() -> Vec<&'static str> {
    CAPABILITIES.iter().filter(|(bit, _)| !may(*bit)).map(|(_, name)| *name).collect()
}

/// Whether this thread has a capability (linux/capability.h).
fn may(bit: u32) -> bool {
    let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let effective = status
        .lines()
        .find_map(|line| line.strip_prefix("CapEff:"))
        .and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok())
        .unwrap_or(0);
    effective >> bit & 1 == 1
}

/// Where PATH has a program.
fn in_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|place| place.is_file())
}

/// Where cgroup2 is mounted.
pub fn cgroup2() -> Option<PathBuf> {
    mounted("cgroup2")
}

/// Where a bpf file system is mounted.
pub fn bpffs() -> Option<PathBuf> {
    mounted("bpf")
}

fn mounted(kind: &str) -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/mounts").ok()?;
    mounts.lines().find_map(|line| {
        let mut words = line.split(' ');
        let (_, path, found) = (words.next()?, words.next()?, words.next()?);
        (found == kind).then(|| PathBuf::from(path.replace("\\040", " ")))
    })
}

/// libbpf's messages since; otherwise it prints them to standard error.
static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// One load at a time: libbpf has one place for what it says.
static LOADING: Mutex<()> = Mutex::new(());

/// While it lives nobody else loads, and libbpf's words are kept.
pub(crate) struct Quiet(#[allow(dead_code, reason = "held, not read")] MutexGuard<'static, ()>);

pub(crate) fn quiet_libbpf() -> Quiet {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        set_print(Some((PrintLevel::Warn, |_, text| {
            if let Ok(mut said) = SAID.lock() {
                said.extend(text.lines().map(str::to_owned));
            }
        })));
    });
    let guard = LOADING.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if let Ok(mut said) = SAID.lock() {
        said.clear();
    }
    Quiet(guard)
}

impl Quiet {
    /// The error with libbpf's own reason, in a line; with all that it has said, where `SEGUE_VERIFIER_LOG` is set.
    pub(crate) fn explain(&self, error: &libbpf_rs::Error) -> String {
        let said = SAID.lock().map(|said| said.clone()).unwrap_or_default();
        if std::env::var_os("SEGUE_VERIFIER_LOG").is_some() {
            return format!("{error}\n{}", said.join("\n"));
        }
        // The verifier's last word comes before its statistics.
        let telling = |line: &&String| {
            !line.is_empty() && !line.starts_with("processed ") && !line.contains("-- END PROG LOAD LOG --")
        };
        match said
            .iter()
            .rev()
            .find(|line| line.contains("failed") || line.contains("error"))
            .or(said.iter().rfind(telling))
        {
            Some(line) => format!("{error}; {}", line.trim_start_matches("libbpf: ")),
            None => error.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        assert_eq!(parse_version("6.18.44-fc-v669"), (6, 18));
        assert_eq!(parse_version("5.15"), (5, 15));
        assert!(parse_version("6.4.0") >= LEAST_KERNEL && parse_version("6.3.13") < LEAST_KERNEL);
        assert_eq!(parse_version("nonsense"), (0, 0));
    }

    #[test]
    fn what_is_missing_is_one_line() {
        let said = |missing: &[&str], btf, kernel| {
            let error = enough(missing, btf, kernel).expect_err("something is missing");
            assert!(!error.is_user(), "{error}");
            assert_eq!(error.to_string().lines().count(), 1, "{error}");
            error.to_string()
        };
        assert!(enough(&[], true, "6.4.0").is_ok());
        assert_eq!(
            said(&["CAP_BPF", "CAP_PERFMON"], false, "5.4"),
            "no right to load kernel programs: CAP_BPF, CAP_PERFMON missing; run as root or grant them"
        );
        assert_eq!(
            said(&[], false, "6.18"),
            "/sys/kernel/btf/vmlinux is not there: a kernel with CONFIG_DEBUG_INFO_BTF is needed"
        );
        assert_eq!(said(&[], true, "6.3.9-x"), "Linux 6.3.9-x is too old; 6.4 or newer is needed");
    }

    #[test]
    fn the_probe_agrees_with_what_is_required() {
        let all = probe();
        let has = |name: &str| all.iter().find(|feature| feature.name == name).expect("probed").present;
        let enough = ["rights", "kernel", "btf"].into_iter().all(has);
        assert_eq!(require().is_ok(), enough);
    }
}
