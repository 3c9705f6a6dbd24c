//! The two hosts: a namespace with loopback, TUN devices, an address, routes to the other, and stated settings. The
//! server has one device, the mobile one for each access link.

use super::Error;
use super::namespace::Namespace;
use super::netlink::{LOOPBACK, Netlink};
use super::punctual::is_ordinary;
use super::uplinks::Uplinks;
use segue_words::lab::Family;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;
use tun_rs::{DeviceBuilder, SyncDevice};

/// Largest packet of the devices, octets.
pub const MTU: u16 = 1500;
/// The mobile's devices: of the old link, and of the new one.
pub const DEVICES: [&str; 2] = ["segue0", "segue1"];
/// A host's device that has but one.
pub const DEVICE: &str = DEVICES[0];
/// Packets that a device holds for the emulator. Far more than any window: drops happen in the emulated queue only.
pub(super) const DEVICE_QUEUE: u32 = 20_000;

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The correspondent node: it sends the bulk data.
    Server,
    /// The mobile node.
    Mobile,
}

impl Role {
    /// Its address: documentation prefixes (RFC 5737, RFC 3849).
    pub fn address(self, family: Family) -> IpAddr {
        let last = match self {
            Self::Server => 1,
            Self::Mobile => 2,
        };
        match family {
            Family::Ipv4 => IpAddr::V4(Ipv4Addr::new(192, 0, 2, last as u8)),
            Family::Ipv6 => IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, last)),
        }
    }

    /// Connects a device of the current namespace to the other one: an address, and a route to that host alone.
    pub(super) fn connect(
        self,
        device: u32,
        queue: Option<u32>,
        settings: &SenderSettings<'_>,
    ) -> Result<(), Error> {
        let netlink = Netlink::open()?;
        netlink.up(LOOPBACK, None)?;
        netlink.up(device, queue)?;
        for family in [Family::Ipv4, Family::Ipv6] {
            netlink.address(device, self.address(family))?;
            netlink.route(device, self.other().address(family), settings.congestion_control)?;
        }
        Ok(())
    }

    /// The one at the other end.
    pub fn other(self) -> Self {
        match self {
            Self::Server => Self::Mobile,
            Self::Mobile => Self::Server,
        }
    }
}

/// Settings of both hosts below `/proc/sys/net`: the kernel's defaults stated, and what makes runs independent.
///
/// * `tcp_no_metrics_save`: a run does not learn from the one before.
/// * `tcp_wmem`, `tcp_rmem`: middle values of 1 MiB, so that a program which waits for the processor neither starves
///   the sender nor closes the window. The emulated links' bandwidth-delay products are far below.
/// * `rp_filter`: a packet that was on the old link when the mobile's route moved is heard all the same.
const SETTINGS: [(&str, &str); 18] = [
    ("ipv4/tcp_timestamps", "1"),
    ("ipv4/tcp_sack", "1"),
    ("ipv4/tcp_dsack", "1"),
    ("ipv4/tcp_window_scaling", "1"),
    ("ipv4/tcp_frto", "2"),
    ("ipv4/tcp_recovery", "1"),
    ("ipv4/tcp_early_retrans", "3"),
    ("ipv4/tcp_slow_start_after_idle", "1"),
    ("ipv4/tcp_mtu_probing", "0"),
    ("ipv4/tcp_no_metrics_save", "1"),
    ("ipv4/tcp_wmem", "4096 1048576 16777216"),
    ("ipv4/tcp_rmem", "4096 1048576 16777216"),
    ("ipv4/conf/all/rp_filter", "0"),
    ("ipv4/conf/default/rp_filter", "0"),
    // No packets that no program asked for.
    ("ipv6/conf/all/accept_ra", "0"),
    ("ipv6/conf/default/accept_ra", "0"),
    ("ipv6/conf/default/router_solicitations", "0"),
    ("ipv6/conf/default/addr_gen_mode", "1"),
];

/// A host without programs.
#[derive(Debug)]
pub struct Host {
    /// Its network.
    pub namespace: Namespace,
    /// Which of the two it is.
    pub role: Role,
    /// A router before it, which is there for as long.
    pub(super) _router: Option<Namespace>,
}

/// Settings of a sender's host.
#[derive(Clone, Debug, Default)]
pub struct SenderSettings<'a> {
    /// The control of its connections; `None`: something else sets it for each.
    pub congestion_control: Option<&'a str>,
    /// `tcp_rto_max_ms`; `None`: the kernel's.
    pub rto_max_ms: Option<u32>,
    /// Whether it asks for ECN (`tcp_ecn`); else it agrees where it is asked, as kernels do.
    pub ecn: bool,
}

impl SenderSettings<'_> {
    /// Sets the current namespace, but for its routes.
    pub(super) fn apply(&self) -> Result<(), Error> {
        for (name, value) in SETTINGS {
            set(name, value)?;
        }
        set("ipv4/tcp_ecn", if self.ecn { "1" } else { "2" })?;
        if let Some(ms) = self.rto_max_ms {
            if !sysctl("ipv4/tcp_rto_max_ms").exists() {
                return Err(Error::OldKernel { sysctl: "net.ipv4.tcp_rto_max_ms".into(), since: "6.15" });
            }
            set("ipv4/tcp_rto_max_ms", &ms.to_string())?;
        }
        self.congestion_control.map_or(Ok(()), known)
    }
}

impl Host {
    /// Makes the server and its device.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn server(settings: &SenderSettings<'_>) -> Result<(Self, SyncDevice), Error> {
        let namespace = Namespace::create()?;
        let device = namespace.within(|| {
            settings.apply()?;
            let device = device(DEVICE)?;
            Role::Server.connect(index(&device)?, Some(DEVICE_QUEUE), settings)?;
            Ok(device)
        })?;
        Ok((Self { namespace, role: Role::Server, _router: None }, device))
    }

    /// Makes the mobile, the devices of its two links, and what leads its packets over the old one. Its addresses are
    /// the host's (RFC 1122, 3.3.4.2): no link's end takes them away.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn mobile(settings: &SenderSettings<'_>) -> Result<(Self, [SyncDevice; 2], Uplinks), Error> {
        let namespace = Namespace::create()?;
        let (devices, uplinks) = namespace.within(|| {
            settings.apply()?;
            let netlink = Netlink::open()?;
            netlink.up(LOOPBACK, None)?;
            for family in [Family::Ipv4, Family::Ipv6] {
                netlink.address(LOOPBACK, Role::Mobile.address(family))?;
            }
            let devices = [device(DEVICES[0])?, device(DEVICES[1])?];
            let numbers = [index(&devices[0])?, index(&devices[1])?];
            for number in numbers {
                netlink.up(number, Some(DEVICE_QUEUE))?;
            }
            Ok((devices, Uplinks::over_old(netlink, numbers)?))
        })?;
        Ok((Self { namespace, role: Role::Mobile, _router: None }, devices, uplinks))
    }

    /// Packets that its devices threw away because the emulator did not come for them: 0 in a sound run.
    ///
    /// # Errors
    /// The devices are gone.
    pub fn device_drops(&self) -> Result<u64, Error> {
        let text = self.namespace.within(|| {
            fs::read_to_string("/proc/thread-self/net/dev")
                .map_err(Error::system("/proc/thread-self/net/dev"))
        })?;
        let of = |device: &str| {
            text.lines().find_map(|line| line.trim().strip_prefix(device)?.strip_prefix(':')).and_then(drops)
        };
        let first = of(DEVICES[0]).ok_or_else(|| Error::System {
            what: format!("{DEVICE} in /proc/net/dev"),
            source: std::io::ErrorKind::NotFound.into(),
        })?;
        Ok(first + of(DEVICES[1]).unwrap_or(0))
    }
}

/// Dropped packets sent, from a device's columns in /proc/net/dev: the fourth of those behind the eight for
/// receiving.
fn drops(columns: &str) -> Option<u64> {
    columns.split_whitespace().nth(11)?.parse().ok()
}

pub(super) fn index(device: &SyncDevice) -> Result<u32, Error> {
    device.if_index().map_err(Error::system("index of a TUN device"))
}

pub(super) fn device(name: &str) -> Result<SyncDevice, Error> {
    if !Path::new("/dev/net/tun").exists() {
        return Err(Error::NoTun);
    }
    let device = DeviceBuilder::new()
        .name(name)
        .mtu(MTU)
        .enable(false)
        .build_sync()
        .map_err(Error::system("a TUN device"))?;
    device.set_nonblocking(true).map_err(Error::system("a TUN device"))?;
    Ok(device)
}

fn sysctl(name: &str) -> std::path::PathBuf {
    Path::new("/proc/sys/net").join(name)
}

/// Sets one in the current namespace.
pub(super) fn set(name: &str, value: &str) -> Result<(), Error> {
    // The kernel has the caller try again and again while another thread holds a lock (rtnl_trylock, restart_syscall).
    // With PREEMPT_RT an ordinary thread does not give the lock back while a real-time one spins.
    debug_assert!(is_ordinary(), "net.{name} set by a real-time thread");
    fs::write(sysctl(name), value)
        .map_err(Error::system(format!("net.{} = {value} in a laboratory", name.replace('/', "."))))
}

fn known(name: &str) -> Result<(), Error> {
    let path = "ipv4/tcp_available_congestion_control";
    let known = fs::read_to_string(sysctl(path)).map_err(Error::system(path))?;
    if known.split_whitespace().any(|word| word == name) {
        return Ok(());
    }
    Err(Error::CongestionControl { name: name.into(), known: known.trim().into() })
}
