//! Notices, given out by passes over the kernel's table of connections: all at once, or a part of them at a time.

use super::records::{Ack, Counters, Orders, Others, PREFIXES};
use super::{Error, Mobile, Notified, Way, craft, records};
use crate::layouts::{mapped, segue_mobile_ack, segue_prefix};
use crate::sender::Governed;
use crate::sender::icmp::{Icmp, Request};
use crate::skeleton::mobile::MobileSkel;
use libbpf_rs::{Iter, Link as Attached, MapCore, MapFlags};
use segue_policy::Link;
use segue_policy::wire::{OptionError, ReportType};
use std::io::Read;
use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;
use zerocopy::IntoBytes;

/// A notice that is given out at once by [`Mobile::notify_all`], or in parts: [`Mobile::begin`], then
/// [`Mobile::notify_busy`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The link that it tells.
    pub link: Link,
    /// Whether the handoff is foreseen or has completed.
    pub kind: ReportType,
    /// ACKs that carry it, of each connection: 1 to 8.
    pub copies: u8,
    /// How it leaves.
    pub way: Way,
    /// The device of the old link, if that still carries: one more copy goes over it, which may be there sooner.
    pub also: Option<u32>,
    /// The link before, which goes ahead where a first report has no answer. None: that of first reports so far.
    pub before: Option<Link>,
    /// By CLOCK_MONOTONIC: connections on which something has come since, or something is under way, are notified
    /// first.
    pub since: Duration,
}

/// The result of a pass: numbers of connections.
#[derive(Debug, Default)]
pub struct Pass {
    /// Told in ACKs of the kernel's.
    pub triggered: u32,
    /// Told, at least once, in an ACK crafted here.
    pub crafted: u32,
    /// Told over the old link, too.
    pub doubled: u32,
    /// Those that waited, and have been notified since the pass before in ACKs of their own.
    pub acked: u32,
    /// Not notified, because the budget was spent.
    pub unpaid: u32,
    /// Wait for an ACK of their own that carries the notice, those `unpaid` among them where the kernel is of 6.12.
    pub marked: u32,
    /// Flows of this host with data under way or queued.
    pub uploads: u32,
    /// Flows of this host that waited for their timers and were made to send.
    pub resent: u32,
    /// Flows of this host on which a policy has decided ([`crate::sender::LocalPolicy`]); none by the pass alone.
    pub governed: Governed,
    /// As in [`Notified::unrestored`].
    pub unrestored: u32,
    /// As in [`Notified::skipped`].
    pub skipped: super::Skipped,
}

/// Connections of the network namespace that are in scope, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionCounts {
    /// Can be notified.
    pub negotiated: u32,
    /// Established, and cannot be notified.
    pub unnegotiated: u32,
    /// Negotiated, and their peers will send nothing more.
    pub closing: u32,
    /// Will tell their peers with their next ACKs.
    pub waiting: u32,
}

/// Remote addresses, and whether notices are for them; the longest prefix decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    /// First of the prefix.
    pub address: IpAddr,
    /// Length of the prefix.
    pub bits: u8,
    /// Whether its hosts are notified.
    pub notified: bool,
}

impl Scope {
    /// All hosts.
    pub const EVERYBODY: Self = Self { address: IpAddr::V6(Ipv6Addr::UNSPECIFIED), bits: 0, notified: true };
    /// Most prefixes that [`Mobile::tell_only`] takes.
    pub const MOST: usize = PREFIXES;

    pub(super) fn key(&self) -> segue_prefix {
        let bits = match self.address {
            IpAddr::V4(_) => 96 + self.bits.min(32),
            IpAddr::V6(_) => self.bits.min(128),
        };
        segue_prefix { bits: bits.into(), address: mapped(self.address) }
    }
}

pub(super) fn give(skel: &MobileSkel<'_>, orders: &Orders) -> Result<(), Error> {
    skel.maps
        .orders
        .update(&0u32.to_ne_bytes(), orders.written().as_bytes(), MapFlags::ANY)
        .map_err(Error::kernel("set the link that is reported"))
}

pub(super) fn set_scope(skel: &MobileSkel<'_>, scope: &[Scope]) -> Result<(), Error> {
    let refused = || Error::kernel("set whom notices are for");
    let map = &skel.maps.scope;
    for key in map.keys().collect::<Vec<_>>() {
        map.delete(&key).map_err(refused())?;
    }
    for prefix in scope {
        map.update(prefix.key().as_bytes(), &[u8::from(prefix.notified)], MapFlags::ANY).map_err(refused())?;
    }
    Ok(())
}

/// Whether a notice can be sent at all.
fn check(link: Link, kind: ReportType, copies: u8) -> Result<(), Error> {
    if copies == 0 || copies > records::COPIES {
        return Err(Error::Copies(copies));
    }
    if kind == ReportType::First {
        return Err(Error::FirstReport);
    }
    if link.rate_kbps == 0 {
        return Err(Error::Report(OptionError::ZeroRate));
    }
    Ok(())
}

impl Mobile {
    /// Tells the peers of all negotiated, established connections of the *current network namespace* of this link. Each
    /// is told in `copies` equal pure ACKs (2 as a rule; at most 8), connections that have received data first. Where
    /// the handoff has completed, connections established from now on report this link.
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
        self.notify_all(&Notice { link, kind, copies, way, also: None, before: None, since: Duration::ZERO })
    }

    /// The same by a notice with all its parts.
    pub fn notify_all(&mut self, notice: &Notice) -> Result<Notified, Error> {
        self.begin(notice)?;
        self.orders.uploads = false;
        let mut notified = Notified::default();
        // Each pass is over the kernel's whole table of connections.
        for others in [Others::Wait, Others::Notified] {
            let (pass, counters) = self.pass_with(u32::MAX, others)?;
            notified.triggered += pass.triggered;
            notified.crafted += pass.crafted;
            notified.doubled += pass.doubled;
            notified.unrestored += pass.unrestored;
            let before = std::mem::replace(&mut notified.skipped, pass.skipped);
            notified.skipped.unwritten += before.unwritten;
            notified.skipped.unsent += before.unsent;
            notified.skipped.refusal = before.refusal.or(notified.skipped.refusal.take());
            if counters.later == 0 {
                break;
            }
        }
        notified.connections =
            notified.triggered + notified.crafted + notified.skipped.unwritten + notified.skipped.unsent;
        Ok(notified)
    }

    /// The peers that notices are for, from now on; all by default.
    ///
    /// # Errors
    /// More than [`Scope::MOST`] prefixes.
    pub fn tell_only(&mut self, scope: &[Scope]) -> Result<(), Error> {
        if scope.len() > Scope::MOST {
            return Err(Error::Scope(scope.len()));
        }
        set_scope(&self.skel, scope)?;
        self.scope = scope.to_vec();
        Ok(())
    }

    /// Whether passes send what this host's flows have queued with nothing under way, by their windows of before. They
    /// do not where a policy decides on those after the pass ([`crate::sender::LocalPolicy`]).
    pub fn push_queues(&mut self, yes: bool) {
        self.orders.pushes = yes;
    }

    /// The link that connections report which are established from now on.
    ///
    /// # Errors
    /// A rate of zero.
    pub fn report_first(&mut self, link: Link) -> Result<(), Error> {
        if link.rate_kbps == 0 {
            return Err(Error::Report(OptionError::ZeroRate));
        }
        self.orders.first = link;
        give(&self.skel, &self.orders)
    }

    /// A new notice; [`Mobile::notify_busy`] sends it. Connections that wait for the one before never get that.
    ///
    /// # Errors
    /// A notice that cannot be sent.
    pub fn begin(&mut self, notice: &Notice) -> Result<(), Error> {
        let Notice { link, kind, copies, way, also, before, since } = *notice;
        self.old_device = also;
        check(link, kind, copies)?;
        let way = if self.triggers() || way == Way::Trigger { way } else { Way::Crafted };
        let round = self.orders.round.wrapping_add(1).max(1);
        let first = if kind == ReportType::Completed { link } else { self.orders.first };
        let since = u64::try_from(since.as_nanos()).unwrap_or(u64::MAX);
        let others = Others::Wait;
        // A foreseen handoff changes nothing yet.
        let uploads = kind == ReportType::Completed;
        let Orders { pushes, forwarded, .. } = self.orders;
        // Each route has one of its own.
        let before = before.unwrap_or(self.orders.first);
        self.orders = Orders {
            since,
            link,
            first,
            before,
            round,
            budget: 0,
            kind,
            copies,
            way,
            others,
            uploads,
            pushes,
            forwarded,
            also: also.is_some(),
        };
        give(&self.skel, &self.orders)
    }

    /// Notifies at most `budget` of the busy connections that have not been notified. All others carry the notice on
    /// their next ACKs.
    pub fn notify_busy(&mut self, budget: u32) -> Result<Pass, Error> {
        let (pass, _) = self.pass_with(budget, Others::Marked)?;
        // Once is enough.
        self.orders.uploads = false;
        Ok(pass)
    }

    fn pass_with(&mut self, budget: u32, others: Others) -> Result<(Pass, Counters), Error> {
        let before = self.counts()?;
        let mut pass = Pass::default();
        self.orders.budget = budget;
        self.orders.others = others;
        give(&self.skel, &self.orders)?;
        let mut sender = craft::Sender::default();
        let mut waiting = Vec::new();
        self.iterate(|ack| match ack.waits {
            Some((backoffs, una)) => waiting.push(Request {
                local: mapped(ack.ends.local.ip()).into(),
                remote: mapped(ack.ends.remote.ip()).into(),
                local_port: ack.ends.local.port(),
                remote_port: ack.ends.remote.port(),
                snd_una: una,
                copies: u32::from(backoffs) + 1,
            }),
            None => {
                let Orders { link, kind, before, .. } = self.orders;
                if let Some(device) = self.old_device.filter(|_| ack.also)
                    && sender.send_over(device, &ack, link, kind).is_ok()
                {
                    // If it has gone meanwhile, or leads nowhere, the others are on their way.
                    pass.doubled += 1;
                }
                if ack.copies == 0 {
                    return;
                }
                match sender.send(&ack, link, kind, before) {
                    Ok(()) => pass.crafted += 1,
                    Err(error) => {
                        pass.skipped.unsent += 1;
                        pass.skipped.refusal.get_or_insert(error);
                    }
                }
            }
        })?;
        pass.resent = self.resend(&waiting);
        let now = self.counts()?;
        let counters = Counters::read(std::array::from_fn(|i| now[i].wrapping_sub(before[i])));
        pass.resent += counters.pushed;
        pass.triggered = counters.triggered;
        pass.acked = counters.acked;
        pass.unpaid = counters.unpaid;
        pass.marked = counters.marked;
        pass.uploads = counters.uploads;
        pass.unrestored = counters.unrestored;
        pass.skipped.unnegotiated = counters.unnegotiated;
        pass.skipped.closing = counters.closing;
        pass.skipped.unwritten = counters.unwritten;
        Ok((pass, counters))
    }

    /// Makes these flows resend at once; their number. Without raw sockets for ICMP they wait for their timers.
    fn resend(&mut self, waiting: &[Request]) -> u32 {
        if waiting.is_empty() {
            return 0;
        }
        if self.icmp.is_none() {
            self.icmp = Icmp::open().ok();
        }
        let Some(icmp) = &self.icmp else { return 0 };
        waiting.iter().for_each(|request| icmp.send(request));
        u32::try_from(waiting.len()).unwrap_or(u32::MAX)
    }

    /// Runs the iterator once, which triggers ACKs; each connection to be crafted for is given to `craft`.
    fn iterate(&self, mut craft: impl FnMut(Ack)) -> Result<(), Error> {
        each_record(&self.links.notify, |octets: [u8; size_of::<segue_mobile_ack>()]| {
            let ack: segue_mobile_ack = zerocopy::transmute!(octets);
            craft(Ack::from(ack));
        })
    }

    /// The connections that it could notify now.
    ///
    /// # Errors
    /// The kernel's list of connections broke off.
    pub fn count_connections(&mut self) -> Result<ConnectionCounts, Error> {
        let (_, counters) = self.pass_with(0, Others::Wait)?;
        Ok(ConnectionCounts {
            negotiated: counters.negotiated,
            unnegotiated: counters.unnegotiated,
            closing: counters.closing,
            waiting: counters.marked,
        })
    }

    /// Connections, since the programs were attached, whose own ACKs have carried a notice.
    ///
    /// # Errors
    /// The programs are gone.
    pub fn acked(&self) -> Result<u32, Error> {
        Ok(Counters::read(self.counts()?).acked)
    }

    pub(super) fn counts(&self) -> Result<[u32; Counters::LENGTH], Error> {
        let mut counts = [0; Counters::LENGTH];
        for (index, count) in (0u32..).zip(&mut counts) {
            let value = self.skel.maps.counters.lookup(&index.to_ne_bytes(), MapFlags::ANY);
            let value = value.map_err(Error::kernel("read what a notice came to"))?;
            *count = value.and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_ne_bytes);
        }
        Ok(counts)
    }
}

/// Runs an iterator over the connections of the calling thread's network namespace once; what it writes, piece by
/// piece.
pub(super) fn each_record<const LENGTH: usize>(
    iterator: &Attached,
    mut each: impl FnMut([u8; LENGTH]),
) -> Result<(), Error> {
    let mut records = Iter::new(iterator).map_err(Error::kernel("list TCP connections"))?;
    let mut buffer = vec![0; 1 << 16];
    let mut filled = 0;
    loop {
        let read = records.read(&mut buffer[filled..]).map_err(Error::Connections)?;
        filled += read;
        let (whole, rest) = buffer[..filled].as_chunks::<LENGTH>();
        whole.iter().for_each(|octets| each(*octets));
        let kept = rest.len();
        buffer.copy_within(filled - kept..filled, 0);
        filled = kept;
        if read == 0 {
            return Ok(());
        }
    }
}
