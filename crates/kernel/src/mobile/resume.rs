//! Connections whose peer runs nothing of ours. Here is what an agent needs to have the peer send again after an outage
//! (`bpf/mobile/resume.h`), and the messages by which it does.
//!
//! A filter at the egress of devices ([`Mobile::follow`]) remembers the last ACK numbers of each connection. From an
//! outage on ([`Mobile::treat_others`]) it echoes no time stamp from before. [`Mobile::waiting`] lists the connections
//! that may be helped, [`Mobile::send_unreachable`] and [`Mobile::send_ack`] help one, [`Mobile::progress`] tells
//! whether its peer sends again.

use super::craft;
use super::exit::Exit;
use super::notify::{each_record, give};
use super::records::{Counters, Ends};
use super::{Error, Mobile, Scope};
use crate::egress::{Device, TcSlot};
use crate::layouts::{segue_others, segue_sent, segue_tuple, segue_waiting};
use crate::sender::namespace::Namespace;
use crate::skeleton::mobile::MobileSkel;
use libbpf_rs::{Link as Attached, MapCore, MapFlags};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::time::Duration;
use zerocopy::{FromBytes, IntoBytes};

/// Beside that of [`crate::receiver`], and behind it.
const PLACE: TcSlot = TcSlot { priority: 0x5e61, handle: 1, program: "mobile_echo" };
/// The same where clsact came with the filter, for who finds it when its owner was killed.
const PLACE_AND_CLSACT: TcSlot = TcSlot { handle: 2, ..PLACE };

/// A smaller MTU is smaller by so much, octets.
const STEP: u16 = 8;
/// And no more than so much below this host's own MSS: eight steps.
const MOST_BELOW: u16 = 8 * STEP;
/// The MTU of each IPv6 path at least (RFC 8200, 5).
const LEAST_MTU: u16 = 1280;

/// Peers that have not negotiated, by prefix; of several the longest decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Treatment {
    /// First address of the prefix, and its length.
    pub to: Scope,
    /// Whether connections with them are helped.
    pub resume: bool,
    /// Whether the windows that they are told may be bounded.
    pub window: bool,
    /// Whether they may be closed before a break ([`Mobile::send_closed`]).
    pub freeze: bool,
    /// Each segment to them that leaves by this device tells a window of zero until then (CLOCK_MONOTONIC).
    pub closed: Option<(u32, Duration)>,
    /// By CLOCK_MONOTONIC: stamps that were first echoed before are from before an outage, and are not echoed.
    pub stale: Duration,
}

/// A connection whose peer may be waiting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    pub(super) ends: Ends,
    pub(super) seq: u32,
    pub(super) ack: u32,
    pub(super) stamp: Option<u32>,
    pub(super) window: u16,
    /// This host forwards it: the near end is another's.
    pub forwarded: bool,
    /// The peer was told a window of zero last, which is not the socket's.
    pub closed: bool,
    /// It may be helped after an outage.
    pub resumes: bool,
    /// Its peer has negotiated: it is sent notices, and none of its ACK numbers is known but [`Waiting::next`].
    pub negotiated: bool,
    /// Data packets that have come on it.
    pub(super) packets: u32,
    /// The first number of this host's that the peer has not acknowledged.
    pub(super) una: u32,
    /// Octets of data in the peer's largest packets; 0: unknown.
    pub(super) mss: u16,
    /// The same, by the MSS that this host has announced.
    pub(super) own_mss: u16,
    /// There is a hole in what has come, or data of this host are not acknowledged.
    pub under_way: bool,
    /// When something was last at work on it, by CLOCK_MONOTONIC.
    pub heard: Duration,
    /// The last ACK numbers that the peer has been sent, each once, the newest first: up to four.
    pub acks: Vec<u32>,
    /// The smallest round trip of the last minutes, as this host has measured it.
    pub rtt: Option<Duration>,
}

/// The peer's answer so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Nothing new has come.
    None,
    /// New data in order; from a peer that has negotiated, any data.
    Resumed,
    /// The connection is at its end, or is not known any more.
    Gone,
}

impl Waiting {
    /// The peer.
    pub fn remote(&self) -> SocketAddr {
        self.ends.remote
    }

    /// The sequence number that this host expects next, which [`Mobile::send_ack`] tells.
    pub fn next(&self) -> u32 {
        self.ack
    }

    /// An MTU a step below the size of the peer's largest packets ([`Mobile::send_too_big`]). None: their size is not
    /// known, or they are no larger than each path must take (RFC 8200, 5). It is no more than eight steps below the
    /// packets that this host's MSS allows, however many outages there are.
    pub fn smaller_mtu(&self) -> Option<u16> {
        // TCP's header, and time stamps with their padding (RFC 7323, appendix A).
        let tcp = 20 + if self.stamp.is_some() { 12 } else { 0 };
        let ip = if self.ends.remote.is_ipv4() { 20 } else { 40 };
        let data =
            self.mss.checked_sub(STEP).filter(|data| *data >= self.own_mss.saturating_sub(MOST_BELOW))?;
        u16::try_from(u32::from(data) + tcp + ip).ok().filter(|mtu| *mtu >= LEAST_MTU)
    }

    /// Whether it is the same connection.
    pub fn is(&self, other: &Self) -> bool {
        (self.ends.local, self.ends.remote) == (other.ends.local, other.ends.remote)
    }

    /// Whether its peer has been heard by `now`, when it is listed again. That is so if data have come, in order or
    /// not, or an ACK of something new.
    pub fn has_heard(&self, now: &Self) -> bool {
        (self.packets, self.una) != (now.packets, now.una)
    }

    fn tuple(&self) -> segue_tuple {
        (self.ends.local, self.ends.remote).into()
    }
}

/// The first `known` of these ACK numbers, as far as each is before the one ahead of it and none is after `ack`
/// (RFC 9293, 3.4). Two processors that write at once can leave others, and so can a pair of addresses used again. An
/// ACK of an octet behind such a number ([`Mobile::send_octet`]) might be of data that has not come.
pub(super) fn newest_first(acks: &[u32], known: u32, ack: u32) -> Vec<u32> {
    let mut kept: Vec<u32> = Vec::with_capacity(acks.len());
    for number in acks.iter().take(known as usize).copied() {
        let behind = |number: u32| ack.wrapping_sub(number);
        let newer = kept.last().map(|newer| behind(*newer));
        if behind(number) < 1 << 31 && newer.is_none_or(|newer| newer < behind(number)) {
            kept.push(number);
        }
    }
    kept
}

impl From<segue_waiting> for Waiting {
    fn from(waiting: segue_waiting) -> Self {
        let (local, remote) = waiting.tuple.into();
        Self {
            ends: Ends { remote, local, mark: waiting.mark, device: waiting.device },
            seq: waiting.seq,
            ack: waiting.ack,
            stamp: (waiting.stamped != 0).then_some(waiting.tsval),
            window: waiting.window,
            forwarded: false,
            closed: waiting.closed != 0,
            resumes: waiting.resumes != 0,
            negotiated: waiting.negotiated != 0,
            packets: waiting.packets,
            una: waiting.una,
            mss: waiting.mss,
            own_mss: waiting.own_mss,
            under_way: waiting.under_way != 0,
            heard: Duration::from_nanos(waiting.heard),
            acks: newest_first(&waiting.acks, waiting.known, waiting.ack),
            rtt: (waiting.rtt_us != 0).then(|| Duration::from_micros(waiting.rtt_us.into())),
        }
    }
}

/// A device with the filter. Dropped: without it.
struct Followed {
    device: Device,
    place: TcSlot,
    namespace: Namespace,
}

impl Drop for Followed {
    fn drop(&mut self) {
        // With its device the filter is gone, too.
        let _ = self.namespace.run(|| self.place.remove(self.device, false));
    }
}

/// The programs at work; detached when dropped.
pub(super) struct Resume {
    waiting: Attached,
    /// By index: where the filter is.
    devices: BTreeMap<u32, Followed>,
    pub(super) sender: craft::Sender,
    /// The way of packets about connections that this host forwards.
    pub(super) exit: Option<Exit>,
}

impl Resume {
    pub(super) fn attach(skel: &MobileSkel<'_>) -> Result<Self, Error> {
        let waiting = skel.progs.mobile_waiting.attach();
        Ok(Self {
            waiting: waiting.map_err(Error::kernel("iterate over TCP connections"))?,
            devices: BTreeMap::new(),
            sender: craft::Sender::default(),
            exit: None,
        })
    }
}

impl Mobile {
    pub(super) fn resume(&mut self) -> Result<&mut Resume, Error> {
        self.resume.as_mut().ok_or(Error::NoResume)
    }

    /// Sees what leaves by this device of the current network namespace from now on, in place of an agent that was
    /// killed.
    ///
    /// # Errors
    /// There is no such device, its packets are not IP's, or the kernel refuses.
    pub fn follow(&mut self, name: &str) -> Result<(), Error> {
        let device = Device::named(name)?;
        if self.resume()?.devices.contains_key(&device.index) {
            return Ok(());
        }
        for place in [PLACE, PLACE_AND_CLSACT] {
            if place.attached(device)?.is_some() {
                place.remove(device, place == PLACE_AND_CLSACT)?;
            }
        }
        let place = if device.lacks_clsact()? { PLACE_AND_CLSACT } else { PLACE };
        let program = self.skel.progs.mobile_echo.as_fd();
        place.attach(device, program, || {
            crate::sender::Error::User(format!(
                "device {name}: our place at its egress is taken; expected none there: tc filter del dev {name} egress pref {}",
                PLACE.priority
            ))
        })?;
        let namespace = Namespace::current()?;
        self.resume()?.devices.insert(device.index, Followed { device, place, namespace });
        Ok(())
    }

    /// Whether it can see what leaves by devices; a kernel without such programs cannot.
    pub fn can_follow(&self) -> bool {
        self.resume.is_some()
    }

    /// Whether it sees what leaves by the device of this index.
    pub fn follows(&self, index: u32) -> bool {
        self.resume.as_ref().is_some_and(|resume| resume.devices.contains_key(&index))
    }

    /// Whether the packets of a device that it follows begin with IP: they need no hardware address.
    pub fn is_bare(&self, index: u32) -> bool {
        let followed = self.resume.as_ref().and_then(|resume| resume.devices.get(&index));
        followed.is_some_and(|followed| followed.device.link_header == 0)
    }

    /// The device of this index has gone, and the filter with it.
    pub fn forget(&mut self, index: u32) {
        if let Some(followed) = self.resume.as_mut().and_then(|resume| resume.devices.remove(&index)) {
            followed.device.forget();
        }
    }

    /// How connections are treated whose peers have not negotiated; those with peers of no prefix are left alone.
    /// Prefixes of before stay.
    ///
    /// # Errors
    /// More than 128 prefixes.
    pub fn treat_others(&mut self, others: &[Treatment]) -> Result<(), Error> {
        let ns = |time: &Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        for Treatment { to, resume, window, freeze, stale, closed } in others {
            let (closes, until) = closed.unwrap_or_default();
            let value = segue_others {
                stale: ns(stale),
                closed_until: ns(&until),
                resume: u32::from(*resume),
                window: u32::from(*window),
                freeze: u32::from(*freeze),
                closes,
            };
            let set = self.skel.maps.others.update(to.key().as_bytes(), value.as_bytes(), MapFlags::ANY);
            set.map_err(Error::kernel("set how other peers are treated"))?;
        }
        Ok(())
    }

    /// The connections of the notice's scope ([`Mobile::tell_only`]) that may be helped: established ones on which
    /// something has come since then or something is under way. And those whose peer has been told a window of zero.
    /// Each once.
    ///
    /// # Errors
    /// The kernel's list of connections broke off.
    pub fn waiting(&mut self, since: Duration) -> Result<Vec<Waiting>, Error> {
        let scope = self.scope.clone();
        self.waiting_of(&scope, since)
    }

    /// The same of another scope.
    ///
    /// # Errors
    /// As of [`Mobile::waiting`] and [`Mobile::tell_only`].
    pub fn waiting_of(&mut self, scope: &[Scope], since: Duration) -> Result<Vec<Waiting>, Error> {
        let before = self.scope.clone();
        if scope != before {
            self.tell_only(scope)?;
        }
        let all = self.list_waiting(since);
        if scope != before {
            self.tell_only(&before)?;
        }
        all
    }

    fn list_waiting(&mut self, since: Duration) -> Result<Vec<Waiting>, Error> {
        self.orders.since = u64::try_from(since.as_nanos()).unwrap_or(u64::MAX);
        give(&self.skel, &self.orders)?;
        let mut all = BTreeMap::new();
        each_record(&self.resume()?.waiting, |octets: [u8; size_of::<segue_waiting>()]| {
            let waiting: segue_waiting = zerocopy::transmute!(octets);
            let waiting = Waiting::from(waiting);
            // A socket may be shown again.
            all.insert((waiting.ends.remote, waiting.ends.local), waiting);
        })?;
        Ok(all.into_values().collect())
    }

    /// Progress of such a connection since then.
    ///
    /// # Errors
    /// The programs are gone.
    pub fn progress(&self, waiting: &Waiting) -> Result<Progress, Error> {
        let tuple = waiting.tuple();
        if waiting.forwarded {
            let newest = self.newest_forwarded(&tuple)?;
            return Ok(newest.map_or(Progress::Gone, |ack| waiting.progress(ack)));
        }
        Ok(match self.sent(&tuple)? {
            None => Progress::Gone,
            Some(sent) if !waiting.negotiated => waiting.progress(sent.acks[0]),
            Some(sent) if sent.packets == waiting.packets => Progress::None,
            Some(_) => Progress::Resumed,
        })
    }

    /// Whether no data packet has come on this connection of this host's since then, in order or not.
    ///
    /// # Errors
    /// The programs are gone.
    pub fn is_silent(&self, waiting: &Waiting) -> Result<bool, Error> {
        Ok(self.sent(&waiting.tuple())?.is_some_and(|sent| sent.packets == waiting.packets))
    }

    fn sent(&self, tuple: &segue_tuple) -> Result<Option<segue_sent>, Error> {
        let octets = self.skel.maps.sent.lookup(tuple.as_bytes(), MapFlags::ANY);
        let octets = octets.map_err(Error::kernel("read what connections have sent"))?;
        Ok(octets.and_then(|octets| segue_sent::read_from_bytes(&octets).ok()))
    }

    /// Tells the peer that its segment of this sequence number has not arrived: ICMP host unreachable (RFC 6069).
    ///
    /// # Errors
    /// This host does not send it.
    pub fn send_unreachable(&mut self, waiting: &Waiting, number: u32) -> Result<(), Error> {
        self.send(waiting, &craft::unreachable(&waiting.ends, number)?)
    }

    /// Tells the peer that its segment of this sequence number was larger than `mtu`: fragmentation needed (RFC 1191), or
    /// packet too big (RFC 8201). Linux resends all larger packets at once if its own MTU was larger.
    ///
    /// # Errors
    /// This host does not send it.
    pub fn send_too_big(&mut self, waiting: &Waiting, number: u32, mtu: u16) -> Result<(), Error> {
        self.send(waiting, &craft::too_big(&waiting.ends, number, mtu)?)
    }

    /// Sends the connection's last ACK again, with no stamp echoed.
    ///
    /// # Errors
    /// This host does not send it.
    pub fn send_ack(&mut self, waiting: &Waiting) -> Result<(), Error> {
        self.send(waiting, &waiting.last_ack()?)
    }

    /// Acknowledges the first octet behind this one of the last ACK numbers but the newest, with no stamp echoed. The
    /// octet has come: a later number has acknowledged it. The window is that of the last ACK, and so ends earlier until
    /// that ACK is sent again.
    ///
    /// # Errors
    /// This host does not send it.
    pub fn send_octet(&mut self, waiting: &Waiting, number: u32) -> Result<(), Error> {
        self.send(waiting, &waiting.ack_of(number.wrapping_add(1), waiting.window)?)
    }

    /// Tells the peer a window of zero, in the connection's last ACK.
    ///
    /// # Errors
    /// This host does not send it.
    pub fn send_closed(&mut self, waiting: &Waiting) -> Result<(), Error> {
        self.send(waiting, &waiting.last_ack_with(0)?)
    }

    fn send(&mut self, waiting: &Waiting, packet: &[u8]) -> Result<(), Error> {
        let resume = self.resume()?;
        match resume.exit.as_ref().filter(|_| waiting.forwarded) {
            Some(exit) => exit.send(&waiting.ends, packet),
            None => resume.sender.send_packet(&waiting.ends, packet),
        }
    }

    /// Segments, since the programs were attached, whose stamp was from before an outage and was not echoed.
    ///
    /// # Errors
    /// The programs are gone.
    pub fn unechoed(&self) -> Result<u32, Error> {
        Ok(Counters::read(self.counts()?).unechoed)
    }

    /// Segments, since the programs were attached, whose window became zero.
    ///
    /// # Errors
    /// The programs are gone.
    pub fn closed(&self) -> Result<u32, Error> {
        Ok(Counters::read(self.counts()?).closed)
    }
}

impl Waiting {
    /// `ack`: the highest number that has been acknowledged.
    fn progress(&self, ack: u32) -> Progress {
        // RFC 9293, 3.4
        if (ack.wrapping_sub(self.ack) as i32) > 0 { Progress::Resumed } else { Progress::None }
    }

    fn last_ack(&self) -> Result<Vec<u8>, Error> {
        self.last_ack_with(self.window)
    }

    fn last_ack_with(&self, window: u16) -> Result<Vec<u8>, Error> {
        self.ack_of(self.ack, window)
    }

    fn ack_of(&self, number: u32, window: u16) -> Result<Vec<u8>, Error> {
        craft::pure_ack(&self.ends, (self.seq, number), window, self.stamp.map(|value| (value, 0)), &[])
    }
}

#[cfg(test)]
mod tests;
