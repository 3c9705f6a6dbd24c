//! The mobile host: capability, reports, notices (docs/wire.md).
//!
//! The host keeps its kernel and its programs. [`attach`] lets every connection that a process of the cgroup opens (or
//! accepts, on listeners opened later) negotiate and report the link on its first ACK; [`Mobile::notify`] tells all
//! negotiated peers of a handoff.
//!
//! A notice leaves in the kernel's own ACKs (a *poke*): for a moment the socket gets another congestion control, whose
//! `init` sends them. cwnd stays, but the socket's congestion control starts anew: reno and cubic keep ssthresh, and
//! cubic forgets W_max; bbr forgets its model, and ssthresh is infinite; an undo of a running recovery is given up
//! (`prior_ssthresh` is cleared). It matters only to a connection that sends in bulk itself, and what is forgotten was
//! learnt on the old link.
//!
//! Where the kernel's ACK has no room for the option (time stamps and two SACK blocks), and before Linux 6.12, the ACKs
//! are crafted here and sent through a raw socket. One that is overtaken by new data of the connection may be refused
//! by the peer as old, and the notice is lost: a poke, under the socket's lock, cannot be overtaken.

mod craft;
mod error;
mod records;

pub use error::Error;

use crate::skeleton::mobile::{MobileSkel, MobileSkelBuilder};
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{Iter, Link as Attached, MapCore, MapFlags, OpenObject};
use records::{Ack, Orders};
use segue_policy::Link;
use segue_policy::wire::{OptionError, ReportType};
use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::Read;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::path::PathBuf;

/// Where, and which link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// A folder of cgroup2: the programs see connections of processes below it.
    pub cgroup: PathBuf,
    /// What first reports tell until the first notice.
    pub link: Link,
}

/// How a notice leaves the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Way {
    /// By the kernel's own ACKs, crafted ones where they have no room.
    #[default]
    Auto = 0,
    /// By the kernel's own ACKs only.
    Poke = 1,
    /// By crafted ACKs only: the congestion control is left alone.
    Crafted = 2,
}

/// What became of a notice: numbers of connections.
#[derive(Debug, Default)]
pub struct Notified {
    /// Negotiated and established; the sum of `poked`, `crafted`, `skipped.unwritten` and `skipped.unsent`.
    pub connections: u32,
    /// Every copy left in an ACK of the kernel's.
    pub poked: u32,
    /// At least one copy was crafted.
    pub crafted: u32,
    /// To whom nothing was told.
    pub skipped: Skipped,
    /// Connections that have kept the poke's congestion control (which acts as NewReno), because their own cannot be
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
    /// [`Way::Poke`] only: not every copy could be written. No room beside the other options; a congestion control that
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
    round: u32,
}

/// Dropped before the programs.
struct Links {
    /// In the order of dropping: no new connection, no poke, no congestion control.
    _connections: Attached,
    notify: Attached,
    /// None: the kernel cannot poke.
    poke: Option<Attached>,
}

/// What a notice tells.
struct NoticeLink {
    link: Link,
    kind: ReportType,
}

/// Starts to negotiate.
pub fn attach(options: &Options) -> Result<Mobile, Error> {
    if options.link.rate_kbps == 0 {
        return Err(Error::Report(OptionError::ZeroRate));
    }
    // Every folder of cgroup2 has this file, and nothing else has.
    let cgroup = File::open(options.cgroup.join("cgroup.controllers"))
        .and_then(|_| File::open(&options.cgroup))
        .map_err(|source| Error::Cgroup { path: options.cgroup.clone(), source })?;
    // Linked struct_ops are younger (6.4) than everything that crafted ACKs need.
    let (skel, poke) = load(true).or_else(|_| load(false))?;
    let orders = Orders {
        link: options.link,
        round: 0,
        kind: ReportType::First,
        copies: 0,
        way: Way::Auto,
        all: false,
    };
    give(&skel, &orders)?;
    let notify = skel.progs.mobile_notify.attach().map_err(Error::kernel("iterate over TCP connections"))?;
    let connections = skel
        .progs
        .mobile_sockops
        .attach_cgroup(cgroup.as_raw_fd())
        .map_err(Error::kernel("attach to the cgroup"))?;
    Ok(Mobile { skel, links: Links { _connections: connections, notify, poke }, round: 0 })
}

/// Loads the programs, with those of the poke or without.
fn load(poke: bool) -> Result<(MobileSkel<'static>, Option<Attached>), Error> {
    // A few bytes, for as long as the process lives: a skeleton cannot own its object.
    let object: &'static mut MaybeUninit<OpenObject> = Box::leak(Box::new(MaybeUninit::uninit()));
    let mut open =
        MobileSkelBuilder::default().open(object).map_err(Error::kernel("open the mobile's programs"))?;
    if poke {
        let name = congestion_control_name();
        open.struct_ops.segue_poke_mut().name = name;
        if let Some(constants) = open.maps.rodata_data.as_mut() {
            constants.poke_name = name;
        }
    } else {
        let progs = &mut open.progs;
        for prog in [
            &mut progs.poke_init,
            &mut progs.poke_ssthresh,
            &mut progs.poke_cong_avoid,
            &mut progs.poke_undo_cwnd,
        ] {
            prog.set_autoload(false);
        }
        open.maps.segue_poke.set_autocreate(false).map_err(Error::kernel("leave the poke out"))?;
    }
    let mut skel = open.load().map_err(Error::kernel("load the mobile's programs"))?;
    let link = if poke {
        let attach = skel.maps.segue_poke.attach_struct_ops();
        Some(attach.map_err(Error::kernel("register the poke's congestion control"))?)
    } else {
        None
    };
    Ok((skel, link))
}

/// Names of congestion controls are the whole machine's: each mobile host needs its own.
fn congestion_control_name() -> [i8; 16] {
    let random = RandomState::new().build_hasher().finish() >> 28;
    let mut name = [0; 16];
    for (to, from) in name.iter_mut().zip(format!("segue_{random:09x}").bytes()) {
        *to = from as i8;
    }
    name
}

fn give(skel: &MobileSkel<'_>, orders: &Orders) -> Result<(), Error> {
    skel.maps
        .orders
        .update(&0u32.to_ne_bytes(), &orders.bytes(), MapFlags::ANY)
        .map_err(Error::kernel("set the link that is reported"))
}

impl Mobile {
    /// Whether this kernel can send notices in its own ACKs.
    pub fn pokes(&self) -> bool {
        self.links.poke.is_some()
    }

    /// Tells the peers of all negotiated, established connections of the *current network namespace* of this link, in
    /// `copies` equal pure ACKs each (2 as a rule; at most 8): connections that have received data first. Connections
    /// established from now on report this link.
    pub fn notify(&mut self, link: Link, kind: ReportType, copies: u8) -> Result<Notified, Error> {
        self.notify_by(Way::Auto, link, kind, copies)
    }

    /// The same, in one way only.
    pub fn notify_by(
        &mut self,
        way: Way,
        link: Link,
        kind: ReportType,
        copies: u8,
    ) -> Result<Notified, Error> {
        if copies == 0 || copies > records::COPIES {
            return Err(Error::Copies(copies));
        }
        if kind == ReportType::First {
            return Err(Error::FirstReport);
        }
        if link.rate_kbps == 0 {
            return Err(Error::Report(OptionError::ZeroRate));
        }
        let way = if self.pokes() || way == Way::Poke { way } else { Way::Crafted };
        self.round = self.round.wrapping_add(1).max(1);
        let notice = NoticeLink { link, kind };
        let before = self.tally()?;
        let mut told = Notified::default();
        let mut sender = craft::Sender::default();
        // Each pass walks the kernel's whole table of connections.
        for all in [false, true] {
            if all && self.tally_since(&before)?[records::LATER] == 0 {
                break;
            }
            give(&self.skel, &Orders { link, round: self.round, kind, copies, way, all })?;
            self.iterate(|ack| match sender.send(&ack, &notice) {
                Ok(()) => told.crafted += 1,
                Err(error) => {
                    told.skipped.unsent += 1;
                    told.skipped.refusal.get_or_insert(error);
                }
            })?;
        }
        let [poked, unnegotiated, closing, unwritten, unrestored, _] = self.tally_since(&before)?;
        told.poked = poked;
        told.skipped.unnegotiated = unnegotiated;
        told.skipped.closing = closing;
        told.skipped.unwritten = unwritten;
        told.unrestored = unrestored;
        told.connections = told.poked + told.crafted + unwritten + told.skipped.unsent;
        Ok(told)
    }

    /// Runs the iterator once: what it pokes it pokes; each connection to be crafted for is given to `craft`.
    fn iterate(&self, mut craft: impl FnMut(Ack)) -> Result<(), Error> {
        // The namespace is that of the thread which opens the iterator.
        let mut records = Iter::new(&self.links.notify).map_err(Error::kernel("list TCP connections"))?;
        let mut buffer = vec![0; 1 << 16];
        let mut filled = 0;
        loop {
            let read = records.read(&mut buffer[filled..]).map_err(Error::Connections)?;
            filled += read;
            let (whole, rest) = buffer[..filled].as_chunks::<{ Ack::SIZE }>();
            whole.iter().for_each(|bytes| craft(Ack::read(bytes)));
            let kept = rest.len();
            buffer.copy_within(filled - kept..filled, 0);
            filled = kept;
            if read == 0 {
                return Ok(());
            }
        }
    }

    fn tally_since(&self, before: &[u32; records::TALLY]) -> Result<[u32; records::TALLY], Error> {
        let now = self.tally()?;
        Ok(std::array::from_fn(|i| now[i].wrapping_sub(before[i])))
    }

    fn tally(&self) -> Result<[u32; records::TALLY], Error> {
        let mut counts = [0; records::TALLY];
        for (index, count) in (0u32..).zip(&mut counts) {
            let value = self.skel.maps.tally.lookup(&index.to_ne_bytes(), MapFlags::ANY);
            let value = value.map_err(Error::kernel("read what a notice came to"))?;
            *count = value.and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_ne_bytes);
        }
        Ok(counts)
    }
}

#[cfg(test)]
mod tests;
