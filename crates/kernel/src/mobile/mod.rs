//! The mobile host: capability, reports, notices (docs/reference/wire.md).
//!
//! The host keeps its kernel and its programs. [`attach`] is for every connection that a process of the cgroup opens
//! (or accepts, on listeners opened later). It lets the connection negotiate and report the link on its first ACK.
//! [`Mobile::notify`] tells all negotiated peers of a handoff.
//!
//! A notice leaves in the kernel's own ACKs, which are *triggered*: for a moment the socket gets another congestion
//! control, whose `init` sends them. cwnd stays, but the socket's congestion control starts anew. reno and cubic keep
//! ssthresh, and cubic forgets W_max; bbr forgets its model, and ssthresh is infinite. An undo of a running recovery is
//! given up (`prior_ssthresh` is cleared). It matters only to a connection that sends in bulk itself, and what is
//! forgotten was learnt on the old link.
//!
//! Before Linux 6.12 the ACKs are crafted here and sent through a raw socket. So they are where the kernel's ACK has no
//! room for the option (time stamps and two SACK blocks). If new data of the connection overtakes such an ACK, the peer
//! may refuse it as old, and the notice is lost. A trigger, under the socket's lock, cannot be overtaken.

mod craft;
mod error;
mod exit;
mod forwarded;
mod kept;
mod notify;
mod parts;
mod records;
mod resume;
mod window;

pub use error::Error;
pub use exit::Exit;
pub use notify::{ConnectionCounts, Notice, Pass, Scope};
pub use resume::{Progress, Treatment, Waiting};
pub use window::{Bounding, Receiving};

use crate::sender::icmp::Icmp;
use crate::sender::{free_name, kernel_name};
use crate::skeleton::mobile::{MobileSkel, MobileSkelBuilder};
use kept::Kept;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{Link as Attached, OpenObject};
use nix::fcntl::Flock;
use parts::Parts;
use records::{Orders, Others};
use segue_policy::Link;
use segue_policy::wire::{OptionError, ReportType};
use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::path::{Path, PathBuf};

/// Where, and which link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// A folder of cgroup2: the programs see connections of processes below it.
    pub cgroup: PathBuf,
    /// The link of first reports until the first notice.
    pub link: Link,
}

/// How a notice leaves the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Way {
    /// By the kernel's own ACKs, crafted ones where they have no room.
    #[default]
    Auto = 0,
    /// By the kernel's own ACKs only.
    Trigger = 1,
    /// By crafted ACKs only: the congestion control is left alone.
    Crafted = 2,
}

/// The result of a notice: numbers of connections.
#[derive(Debug, Default)]
pub struct Notified {
    /// Negotiated and established; the sum of `triggered`, `crafted`, `skipped.unwritten` and `skipped.unsent`.
    pub connections: u32,
    /// Every copy left in an ACK of the kernel's.
    pub triggered: u32,
    /// At least one copy was crafted.
    pub crafted: u32,
    /// Notified over the old link, too.
    pub doubled: u32,
    /// Connections that were not notified.
    pub skipped: Skipped,
    /// Connections that have kept the trigger's congestion control (which acts as NewReno), because their own cannot be
    /// set again. Only a congestion control that vanishes in that very moment causes it.
    pub unrestored: u32,
}

/// Connections to which a notice was not sent, by reason.
#[derive(Debug, Default)]
pub struct Skipped {
    /// The peer has no capability, or the connection is older than the programs or of another cgroup.
    pub unnegotiated: u32,
    /// The peer has sent its FIN: it will send nothing more.
    pub closing: u32,
    /// [`Way::Trigger`] only: not every copy could be written. No room beside the other options; a congestion control that
    /// is no more registered and could not be set again; or Linux before 6.12.
    pub unwritten: u32,
    /// A crafted ACK was refused by this host, most often for want of a route.
    pub unsent: u32,
    /// The first of these refusals.
    pub refusal: Option<Error>,
}

/// The programs at work; detached when dropped.
pub struct Mobile {
    skel: MobileSkel<'static>,
    links: Links,
    /// As given to the programs last.
    orders: Orders,
    /// The same.
    scope: Vec<Scope>,
    /// By which one more copy of each notice leaves.
    old_device: Option<u32>,
    /// To this host itself (RFC 6069); opened with the first need.
    icmp: Option<Icmp>,
    /// For an agent, which helps connections whose peers run nothing of ours.
    resume: Option<resume::Resume>,
    kept: Option<Kept>,
    /// Features that this kernel has no programs for.
    lacks: Vec<&'static str>,
    /// For an agent; dropped last.
    _locks: Vec<Flock<File>>,
}

/// Dropped before the programs.
struct Links {
    /// In the order of dropping: no new connection, no trigger, no congestion control. None: the kernel has no such
    /// programs.
    _connections: Option<Attached>,
    /// For an agent, which lets flows go on that had no link.
    _egress: Option<Attached>,
    notify: Attached,
    /// None: the kernel cannot trigger ACKs.
    trigger: Option<Attached>,
}

/// Starts to negotiate.
pub fn attach(options: &Options) -> Result<Mobile, Error> {
    if options.link.rate_kbps == 0 {
        return Err(Error::Report(OptionError::ZeroRate));
    }
    attach_and_keep(options, cgroup(&options.cgroup)?, Agent::default())
}

/// The same; first reports wait until the link is known ([`Mobile::report_first`], or a notice). The connections'
/// negotiations are pinned in this folder of bpffs, which is made. Should this process be killed, the next one that
/// attaches with it still knows them. Dropped in order, nothing stays. The cgroup with all in it and the folder are its
/// own meanwhile.
pub fn attach_kept(cgroup: &Path, folder: Option<&Path>) -> Result<Mobile, Error> {
    let link = Link { rate_kbps: 0, delay_us: 0 };
    let file = self::cgroup(cgroup)?;
    let locks = kept::lock_cgroup(self::cgroup(cgroup)?, cgroup)?;
    let agent = Agent { folder, locks, helps_others: true };
    attach_and_keep(&Options { cgroup: cgroup.to_owned(), link }, file, agent)
}

/// Parts that an agent has, and a test sender has not.
#[derive(Default)]
struct Agent<'a> {
    /// Folder of its pins.
    folder: Option<&'a Path>,
    locks: Vec<Flock<File>>,
    /// `bpf/mobile/unsent.h` and `bpf/mobile/resume.h` beside [`Mobile::notify_busy`].
    helps_others: bool,
}

/// A folder of cgroup2.
fn cgroup(path: &Path) -> Result<File, Error> {
    let no_cgroup = |_| io::Error::other("it is none");
    File::open(path)
        .and_then(|folder| path.join(kept::CONTROLLERS).metadata().map_err(no_cgroup).map(|_| folder))
        .map_err(|source| Error::Cgroup { path: path.to_owned(), source })
}

fn attach_and_keep(options: &Options, cgroup: File, agent: Agent<'_>) -> Result<Mobile, Error> {
    // Linked struct_ops are younger (6.4) than everything that crafted ACKs need.
    let kept = agent.folder.map(Kept::make).transpose()?;
    let all = Parts::all(agent.helps_others);
    let (parts, mut skel, trigger) = load_some(all, kept.as_ref())?;
    if let Some(kept) = &kept {
        kept.keep(&mut skel.maps.connections)?;
    }
    let orders = Orders {
        since: 0,
        link: options.link,
        first: options.link,
        before: options.link,
        // Connections that are known from before remember the rounds of then.
        round: RandomState::new().build_hasher().finish() as u32,
        budget: 0,
        kind: ReportType::First,
        copies: 0,
        way: Way::Auto,
        others: Others::Wait,
        uploads: false,
        pushes: true,
        forwarded: false,
        also: false,
    };
    notify::give(&skel, &orders)?;
    notify::set_scope(&skel, &[Scope::EVERYBODY])?;
    let notify = skel.progs.mobile_notify.attach().map_err(Error::kernel("iterate over TCP connections"))?;
    let connections = parts.negotiates.then(|| skel.progs.mobile_sockops.attach_cgroup(cgroup.as_raw_fd()));
    let connections = connections.transpose().map_err(Error::kernel("attach to the cgroup"))?;
    let egress = parts.refuses.then(|| skel.progs.mobile_egress.attach_cgroup(cgroup.as_raw_fd()));
    let resume = parts.follows.then(|| resume::Resume::attach(&skel)).transpose()?;
    let egress = egress.transpose().map_err(Error::kernel("attach to what leaves the cgroup"))?;
    Ok(Mobile {
        skel,
        links: Links { _connections: connections, _egress: egress, notify, trigger },
        orders,
        scope: vec![Scope::EVERYBODY],
        old_device: None,
        icmp: None,
        resume,
        kept,
        lacks: parts.lacking(all),
        _locks: agent.locks,
    })
}

/// Loads as many parts of the programs as this kernel takes.
fn load_some(
    all: Parts,
    kept: Option<&Kept>,
) -> Result<(Parts, MobileSkel<'static>, Option<Attached>), Error> {
    let load = |parts: Parts| load(parts, kept).map(|(skel, trigger)| (parts, skel, trigger));
    let first = match load(all).or_else(|_| load(Parts { triggers: false, ..all })) {
        Ok(loaded) => return Ok(loaded),
        Err(error) => error,
    };
    let some = all.supported();
    if some == all {
        return Err(first);
    }
    load(some).or_else(|_| load(Parts { triggers: false, ..some })).map_err(|_| first)
}

/// Loads these parts of the programs.
fn load(parts: Parts, kept: Option<&Kept>) -> Result<(MobileSkel<'static>, Option<Attached>), Error> {
    // A few bytes, for as long as the process lives: a skeleton cannot own its object.
    let object: &'static mut MaybeUninit<OpenObject> = Box::leak(Box::new(MaybeUninit::uninit()));
    let mut open =
        MobileSkelBuilder::default().open(object).map_err(Error::kernel("open the mobile's programs"))?;
    if parts.triggers {
        let name = kernel_name(&free_name("segue_"));
        open.struct_ops.segue_trigger_mut().name = name;
        if let Some(constants) = open.maps.rodata_data.as_mut() {
            constants.trigger_name = name;
        }
    } else {
        let progs = &mut open.progs;
        for prog in [
            &mut progs.trigger_init,
            &mut progs.trigger_ssthresh,
            &mut progs.trigger_cong_avoid,
            &mut progs.trigger_undo_cwnd,
        ] {
            prog.set_autoload(false);
        }
        open.maps.segue_trigger.set_autocreate(false).map_err(Error::kernel("leave the trigger out"))?;
    }
    let progs = &mut open.progs;
    progs.mobile_sockops.set_autoload(parts.negotiates);
    progs.mobile_egress.set_autoload(parts.refuses);
    for prog in [&mut progs.mobile_echo, &mut progs.mobile_waiting] {
        prog.set_autoload(parts.follows);
    }
    if let Some(kept) = kept {
        kept.find(&mut open.maps.connections);
    }
    let mut skel = open.load().map_err(Error::kernel("load the mobile's programs"))?;
    let link = if parts.triggers {
        let attach = skel.maps.segue_trigger.attach_struct_ops();
        Some(attach.map_err(Error::kernel("register the trigger's congestion control"))?)
    } else {
        None
    };
    Ok((skel, link))
}

impl Mobile {
    /// Whether this kernel can send notices in its own ACKs.
    pub fn triggers(&self) -> bool {
        self.links.trigger.is_some()
    }

    /// Features that do not work because this kernel has no programs of the type: a line each.
    pub fn lacks(&self) -> &[&'static str] {
        &self.lacks
    }

    /// The map of remote prefixes that notices are for ([`Mobile::tell_only`]).
    pub fn scope(&self) -> BorrowedFd<'_> {
        self.skel.maps.scope.as_fd()
    }

    /// Whether connections are known that a process before this one has negotiated: it was killed.
    pub fn inherits(&self) -> bool {
        self.kept.as_ref().is_some_and(Kept::was_there)
    }
}

#[cfg(test)]
mod tests;
