//! Windows of connections whose peers run nothing of ours. On a slower link the agent bounds what their ACKs tell
//! ([`segue_mobile::window`]), through the programs of [`segue_kernel::mobile`].

use super::order::Moved;
use super::over_old::OverOld;
use ipnet::IpNet;
use segue_kernel::mobile::{Bounding, Mobile, Receiving};
use segue_mobile::window::{Bound, Change, Path, begins_after, narrows, timers_expire, usual_queue};
use segue_policy::Link;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// Nanoseconds of a second.
const SECOND: u64 = 1_000_000_000;
/// Octets of a packet that links and queues are counted in, and of the data in it (RFC 7323: time stamps).
const PACKET: u64 = 1500;
const DATA: u64 = 1448;
/// Arrivals count for the first division if they came so long before the old link's end, ns.
const RECENT: u64 = SECOND;
/// A bound ends by itself so long after the end of its round, ns, if nobody sets it again.
const SPARE: u64 = 5 * SECOND;
/// Between looks while nothing comes, ns.
const IDLE_LOOK: u64 = SECOND;
/// A bound ends if nothing has come for so long, ns: an idle agent sleeps.
const IDLE: u64 = 60 * SECOND;

/// This host's end, and the peer's.
type Ends = (SocketAddr, SocketAddr);

fn ends(receiving: &Receiving) -> Ends {
    (receiving.local, receiving.remote)
}

/// A connection that is bounded.
#[derive(Clone, Copy, Debug)]
struct Connection {
    /// In the bound.
    index: usize,
    /// As of the last round.
    packets: u32,
    /// Octets that have come beyond whole packets of full size.
    octets: u64,
    /// The bound holds from this ACK number on.
    from: u32,
}

impl Connection {
    /// Packets of full size that have come since the last time.
    fn count(&mut self, receiving: &Receiving, came: u32) -> u32 {
        self.packets = receiving.packets;
        self.octets += u64::from(came) * (u64::from(receiving.mss) + PACKET - DATA);
        let whole = self.octets / PACKET;
        self.octets %= PACKET;
        u32::try_from(whole).unwrap_or(u32::MAX)
    }
}

/// The bound of a prefix.
#[derive(Debug)]
struct Bounded {
    bound: Bound,
    device: u32,
    connections: BTreeMap<Ends, Connection>,
    /// Places in the bound of connections that have ended.
    free: Vec<usize>,
    /// When something came last, and when to look again.
    heard: u64,
    next: u64,
    /// The old link may still deliver: what comes tells nothing of the new one.
    drains: bool,
    /// ACKs by the old link, too.
    over_old: Option<OverOld>,
}

/// The whole path by the old link and by the new one. The part beyond the access link is a mean over recent packets.
fn paths(moved: &Moved, recent: &[(Receiving, u32)]) -> [Path; 2] {
    let us = |delay_us: u32| u64::from(delay_us) * 1000;
    let known = recent.iter().filter_map(|(receiving, packets)| {
        let rtt = u64::try_from(receiving.rtt?.as_nanos()).ok()?;
        Some((u128::from(rtt.saturating_sub(2 * us(moved.links[0].delay_us))), u128::from(*packets)))
    });
    let (sum, weight) =
        known.fold((0, 0), |(sum, weight), (beyond, packets)| (sum + beyond * packets, weight + packets));
    let beyond = u64::try_from(sum.checked_div(weight).unwrap_or(0)).unwrap_or(0);
    moved.links.map(|link| path(link, beyond))
}

/// The whole path by this link. `beyond`: the round trip behind it, ns.
pub(super) fn path(link: Link, beyond: u64) -> Path {
    let (rate, packet_bits) = (u64::from(link.rate_kbps.max(1)) * 1000, 8 * PACKET);
    let delay = u64::from(link.delay_us) * 1000;
    Path { rate, round_trip: 2 * delay + beyond, queue: usual_queue(rate, delay, packet_bits), packet_bits }
}

impl Bounded {
    /// The bound after this handoff; none: windows stay as they are. `all`: connections of the prefix.
    fn new(now: u64, moved: &Moved, all: &[Receiving]) -> Option<Self> {
        let here = all.iter().filter(|receiving| moved.devices.contains(&receiving.device));
        let lately = |receiving: &Receiving| {
            let until = receiving.counted_until + Duration::from_nanos(RECENT);
            if until < Duration::from_nanos(moved.until) { 0 } else { receiving.lately }
        };
        let recent: Vec<_> = here.map(|receiving| (*receiving, lately(receiving))).collect();
        let [old, new] = paths(moved, &recent);
        let came: Vec<u32> = recent.iter().map(|(_, packets)| *packets).collect();
        if !narrows(&old, &new) || came.iter().all(|packets| *packets == 0) {
            return None;
        }
        let drains = if moved.disconnected { 0 } else { old.drains().min(IDLE) };
        let after = u64::from(begins_after(&old, &new, moved.disconnected)) * DATA;
        let expire = timers_expire(&old, &new, moved.disconnected);
        let bound = Bound::new(now.saturating_add(drains), new, &came, expire);
        let over_old = OverOld::new(now, moved, &new, &recent).filter(|_| after == 0);
        let after = u32::try_from(after).unwrap_or(u32::MAX / 4);
        let connection = |(index, (receiving, _)): (usize, &(Receiving, u32))| {
            let from = receiving.ack.wrapping_add(after);
            (ends(receiving), Connection { index, packets: receiving.packets, octets: 0, from })
        };
        Some(Self {
            next: if drains > 0 { now.saturating_add(drains) } else { bound.deadline() },
            drains: drains > 0,
            bound,
            device: moved.devices[1],
            connections: recent.iter().enumerate().map(connection).collect(),
            free: Vec::new(),
            heard: now,
            over_old,
        })
    }

    /// The old link holds nothing any more: the first round begins, and nothing counts that came before. Connections
    /// that have begun meanwhile are known from now on.
    fn on_drained(&mut self, now: u64, all: &[Receiving]) {
        for receiving in all {
            if let Some(connection) = self.connections.get_mut(&ends(receiving)) {
                connection.packets = receiving.packets;
            } else if receiving.device == self.device {
                let connection = self.join(receiving, receiving.packets);
                self.connections.insert(ends(receiving), connection);
            }
        }
        (self.drains, self.heard, self.next) = (false, now, self.bound.deadline());
    }

    /// One more connection, of which so many packets are counted.
    fn join(&mut self, receiving: &Receiving, packets: u32) -> Connection {
        let index = self.free.pop().unwrap_or_else(|| self.bound.join());
        Connection { index, packets, octets: 0, from: receiving.ack }
    }

    /// A round has ended. Whether the bound goes on.
    fn on_round(&mut self, now: u64, all: &[Receiving]) -> bool {
        if self.drains {
            self.on_drained(now, all);
            return true;
        }
        let there: BTreeSet<Ends> = all.iter().map(ends).collect();
        let free = &mut self.free;
        self.connections.retain(|ends, connection| {
            let stays = there.contains(ends);
            free.extend((!stays).then_some(connection.index));
            stays
        });
        let mut came: u64 = 0;
        for receiving in all {
            let known = self.connections.get(&ends(receiving)).copied();
            let arrived =
                known.map_or(receiving.lately, |known| receiving.packets.wrapping_sub(known.packets));
            let here = receiving.device == self.device;
            let mut connection = match known {
                Some(known) => known,
                None if here => self.join(receiving, 0),
                None => continue,
            };
            let packets = connection.count(receiving, arrived);
            if here {
                self.bound.on_packets(connection.index, packets);
                came += u64::from(arrived);
            }
            // RFC 9293, 3.4: later modulo 2^32. It began, and never ends by itself.
            if (receiving.ack.wrapping_sub(connection.from) as i32) > 0 {
                connection.from = receiving.ack;
            }
            self.connections.insert(ends(receiving), connection);
        }
        let change = self.bound.on_round(now);
        if came > 0 {
            self.heard = now;
        }
        self.next = if came > 0 { self.bound.deadline() } else { now + IDLE_LOOK };
        change != Change::Ended && now < self.heard + IDLE
    }

    /// The bound of this connection from now on.
    fn bounding(&self, receiving: &Receiving) -> Option<Bounding> {
        let connection = self.connections.get(&ends(receiving))?;
        Some(Bounding {
            // A sender waits for room for a whole packet of its own, and a receiver delays the ACK of one.
            window: (u64::from(self.bound.part(connection.index)) * DATA).max(2 * u64::from(receiving.mss)),
            from: connection.from,
            device: self.device,
            until: Duration::from_nanos(self.next + SPARE),
        })
    }

    /// The bounds of these connections from now on.
    fn bounds<'a>(&self, all: &'a [Receiving]) -> impl Iterator<Item = (&'a Receiving, Bounding)> {
        all.iter().filter_map(|receiving| Some((receiving, self.bounding(receiving)?)))
    }

    /// Sends by the old link what is due there. How much it was.
    fn act_over_old(&mut self, now: u64, mobile: &mut Mobile) -> u64 {
        let Some(mut over_old) = self.over_old.take() else { return 0 };
        if over_old.deadline() > now {
            self.over_old = Some(over_old);
            return 0;
        }
        let sent = over_old.act(now, |receiving| self.bounding(receiving), mobile);
        self.over_old = sent.map(|_| over_old);
        sent.unwrap_or(0)
    }

    /// When there is something to be done.
    fn deadline(&self) -> u64 {
        self.over_old.as_ref().map_or(self.next, |over_old| over_old.deadline().min(self.next))
    }
}

/// The bounds of all watched prefixes.
#[derive(Debug, Default)]
pub(super) struct Windows {
    all: BTreeMap<IpNet, Bounded>,
    /// ACKs by old links so far.
    early: u64,
}

/// The connections with peers that `bounds` says yes to.
fn receiving(mobile: &Mobile, bounds: impl Fn(IpAddr) -> bool) -> Vec<Receiving> {
    let mut all = mobile.receiving().unwrap_or_else(|error| {
        tracing::error!(%error, "windows are not bounded");
        Vec::new()
    });
    all.retain(|receiving| bounds(receiving.remote.ip()));
    all
}

fn set(bounded: &Bounded, all: &[Receiving], mobile: &Mobile) {
    for (receiving, bounding) in bounded.bounds(all) {
        if let Err(error) = mobile.bound(receiving, &bounding) {
            tracing::error!(%error, "a window is not bounded");
        }
    }
}

impl Windows {
    /// A handoff of this prefix has completed. `bounds`: the peers whose windows may be bounded.
    pub(super) fn begin(
        &mut self,
        now: u64,
        moved: &Moved,
        bounds: impl Fn(IpAddr) -> bool,
        mobile: &Mobile,
    ) {
        if let Some(before) = self.all.remove(&moved.watch) {
            end(&before, mobile);
        }
        let all = receiving(mobile, |remote| moved.watch.contains(&remote) && bounds(remote));
        let Some(bounded) = Bounded::new(now, moved, &all) else { return };
        set(&bounded, &all, mobile);
        tracing::info!(
            watch = %moved.watch,
            packets = bounded.bound.all(),
            connections = bounded.connections.len(),
            "windows are bounded on the slower link"
        );
        self.all.insert(moved.watch, bounded);
    }

    /// When [`Windows::act`] is to be asked again.
    pub(super) fn deadline(&self) -> Option<u64> {
        self.all.values().map(Bounded::deadline).min()
    }

    /// Divides anew what is due.
    pub(super) fn act(&mut self, now: u64, bounds: impl Fn(IpAddr) -> bool, mobile: &mut Mobile) {
        self.early += self.all.values_mut().map(|bounded| bounded.act_over_old(now, mobile)).sum::<u64>();
        self.all.retain(|watch, bounded| {
            if bounded.next > now {
                return true;
            }
            let all = receiving(mobile, |remote| watch.contains(&remote) && bounds(remote));
            let goes_on = bounded.on_round(now, &all);
            if goes_on {
                set(bounded, &all, mobile);
            } else {
                end(bounded, mobile);
                tracing::info!(%watch, "windows are bounded no more: something else limits");
            }
            goes_on
        });
    }

    /// ACKs that have left by old links.
    pub(super) fn early(&self) -> u64 {
        self.early
    }

    /// Connections that are bounded.
    pub(super) fn connections(&self) -> usize {
        self.all.values().map(|bounded| bounded.connections.len()).sum()
    }
}

fn end(bounded: &Bounded, mobile: &Mobile) {
    bounded.connections.keys().for_each(|(local, remote)| mobile.unbound(*local, *remote));
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const OLD: u32 = 3;
    const NEW: u32 = 4;

    /// 6400 kbit/s and 9 ms to 200 kbit/s and 300 ms.
    fn moved(disconnected: bool) -> Moved {
        Moved {
            watch: "0.0.0.0/0".parse().expect("a prefix"),
            devices: [OLD, NEW],
            links: [(6400, 9_000), (200, 300_000)].map(|(rate_kbps, delay_us)| Link { rate_kbps, delay_us }),
            until: 10 * SECOND,
            disconnected,
            also: (!disconnected).then_some(OLD),
        }
    }

    /// A connection that counts its arrivals until 0.5 s after the handoff.
    fn connection(port: u16, device: u32, packets: u32, lately: u32) -> Receiving {
        Receiving {
            local: SocketAddr::from(([10, 0, 0, 1], port)),
            remote: SocketAddr::from(([10, 0, 0, 2], 80)),
            device,
            ack: u32::MAX - 1000,
            packets,
            lately,
            counted_until: Duration::from_nanos(10 * SECOND + 500 * MS),
            mss: 1448,
            rtt: Some(Duration::from_millis(26)),
            scale: 7,
            window: 501,
            seq: 1,
            sacked: 0,
            stamp: None,
            left: (0, None),
            mark: 0,
        }
    }

    fn bounds(bounded: &Bounded, all: &[Receiving]) -> Vec<(u16, u64, u32)> {
        let said = bounded.bounds(all);
        said.map(|(receiving, bounding)| (receiving.local.port(), bounding.window / DATA, bounding.from))
            .collect()
    }

    #[test]
    fn the_whole_path_and_half_of_the_usual_queue_are_divided() {
        let all = [connection(1, OLD, 900, 20), connection(2, OLD, 10, 10), connection(3, 9, 99, 99)];
        let bounded = Bounded::new(0, &moved(false), &all).expect("it is slower");
        // 8 ms beyond: 608 ms hold 10.1 packets, and half of ten. The third leaves by another device.
        assert_eq!(bounded.bound.all(), 15);
        let at_once = u32::MAX - 1000;
        // 226 ms are over before 608 ms, so the first parts leave two packets for each: 2.75, and 3.67 and 1.83 by what
        // came, are 6.42 and 4.58, in whole packets.
        assert_eq!(bounds(&bounded, &all), [(1, 6, at_once), (2, 5, at_once)]);
    }

    #[test]
    fn after_an_outage_it_begins_behind_what_the_old_path_held() {
        let all = [connection(1, OLD, 900, 20)];
        let bounded = Bounded::new(0, &moved(true), &all).expect("it is slower");
        // 14 packets and ten of the queue, modulo 2^32
        let from = (u32::MAX - 1000).wrapping_add(24 * 1448);
        assert_eq!(bounds(&bounded, &all), [(1, 15, from)]);
        // Its first ACK beyond that is where it holds from then on.
        let mut bounded = bounded;
        let later = Receiving { device: NEW, ack: from.wrapping_add(5), packets: 930, ..all[0] };
        assert!(bounded.on_round(SECOND, &[later]));
        assert_eq!(bounds(&bounded, &[later])[0].2, from.wrapping_add(5));
    }

    #[test]
    fn what_was_silent_or_is_no_slower_stays_as_it_is() {
        let all = [connection(1, OLD, 900, 20)];
        let [old, new] = moved(false).links;
        let back = Moved { links: [new, old], ..moved(false) };
        let slow = Receiving { rtt: Some(Duration::from_millis(608)), ..all[0] };
        // 121,600 bits and 166,400
        assert!(Bounded::new(0, &back, &[slow]).is_none());
        assert!(Bounded::new(0, &moved(false), &[]).is_none());
        assert!(Bounded::new(0, &moved(false), &[connection(1, OLD, 900, 0)]).is_none());
        let long_ago = Receiving { counted_until: Duration::from_secs(8), ..all[0] };
        assert!(Bounded::new(0, &moved(false), &[long_ago]).is_none());
    }

    #[test]
    fn rounds_count_what_comes_by_the_new_device() {
        let first = [connection(1, OLD, 900, 20)];
        let mut bounded = Bounded::new(0, &moved(true), &first).expect("it is slower");
        assert_eq!(bounded.next, 900 * MS);
        // 10 packets, and 5 of a connection that is new. Another one leaves by another device.
        let all = [connection(1, NEW, 910, 10), connection(2, NEW, 5, 5), connection(3, 9, 50, 50)];
        assert!(bounded.on_round(900 * MS, &all));
        let parts = |bounded: &Bounded, all: &[Receiving]| {
            bounds(bounded, all).iter().map(|(port, window, _)| (*port, *window)).collect::<Vec<_>>()
        };
        assert_eq!(parts(&bounded, &all), [(1, 9), (2, 6)]);
        // The second has gone, a third takes its place.
        let all = [connection(1, NEW, 920, 10), connection(4, NEW, 5, 5)];
        assert!(bounded.on_round(1800 * MS, &all));
        assert_eq!(parts(&bounded, &all), [(1, 9), (4, 6)]);
        assert_eq!((bounded.connections.len(), bounded.free.len()), (2, 0), "the place was taken again");
        // A part of six packets of 1448 octets would hold none of this peer's, which would wait for room.
        let large = Receiving { mss: 8948, ..all[1] };
        assert_eq!(bounded.bounding(&large).map(|bounding| bounding.window), Some(2 * 8948));
        // Small packets are parts of one of full size: 7 of 200 octets and 52 of headers are 1764 octets.
        let small = [Receiving { mss: 200, ..connection(4, NEW, 12, 7) }];
        let mut counted = bounded.connections[&ends(&small[0])];
        assert_eq!((counted.count(&small[0], 7), counted.octets), (1, 264));
    }

    /// 1600 kbit/s and 75 ms to 400 kbit/s and 150 ms. The old link holds 20 packets and 20 in its queue, which take
    /// 300 ms. The new one carries 15 in 450 ms, and W is 15.
    #[test]
    fn what_the_old_link_still_brings_raises_nothing() {
        let links = [(1600, 75_000), (400, 150_000)];
        let moved =
            Moved { links: links.map(|(rate_kbps, delay_us)| Link { rate_kbps, delay_us }), ..moved(false) };
        let receiving = |packets, lately| Receiving {
            rtt: Some(Duration::from_millis(150)),
            ..connection(1, NEW, packets, lately)
        };
        let mut bounded = Bounded::new(0, &moved, &[receiving(900, 130)]).expect("it is slower");
        assert_eq!((bounded.bound.all(), bounded.next), (15, 300 * MS));
        // All 40 come.
        let mut packets = 940;
        assert!(bounded.on_round(300 * MS, &[receiving(packets, 40)]));
        assert_eq!((bounded.bound.all(), bounded.next), (15, 750 * MS));
        for _ in 0..3 {
            packets += 15;
            let now = bounded.next;
            assert!(bounded.on_round(now, &[receiving(packets, 33)]));
            assert_eq!((bounded.bound.all(), bounded.next), (15, now + 450 * MS));
        }
    }

    /// 200 kbit/s and 300 ms to 6400 kbit/s and 5 ms: the old link needs 1.3 s for what it may hold. W is 7, a round 20 ms.
    #[test]
    fn a_connection_that_begins_while_the_old_link_drains_raises_nothing() {
        let links = [(200, 300_000), (6400, 5_000)];
        let moved =
            Moved { links: links.map(|(rate_kbps, delay_us)| Link { rate_kbps, delay_us }), ..moved(false) };
        let first = Receiving { rtt: Some(Duration::from_millis(600)), ..connection(1, NEW, 900, 20) };
        let mut bounded = Bounded::new(0, &moved, &[first]).expect("it holds less");
        let window = bounded.bound.all();
        // It has brought 100 packets by then.
        let second = connection(2, NEW, 100, 100);
        assert!(bounded.on_round(bounded.next, &[first, second]));
        assert_eq!(bounded.connections.len(), 2);
        // A round of what the link carries: 10 packets in 20 ms
        let now = bounded.next;
        assert!(bounded.on_round(now, &[first, connection(2, NEW, 110, 110)]));
        assert_eq!(bounded.bound.all(), window);
        assert_eq!(bounds(&bounded, &[second])[0].1, u64::from(window), "its part is all");
    }

    #[test]
    fn it_ends_after_a_minute_of_silence() {
        let all = [connection(1, OLD, 900, 20)];
        let mut bounded = Bounded::new(0, &moved(true), &all).expect("it is slower");
        let mut now = bounded.next;
        while bounded.on_round(now, &all) {
            assert!(bounded.next >= now + IDLE_LOOK, "nothing comes");
            now = bounded.next;
        }
        assert_eq!(now, 60 * SECOND + 900 * MS);
    }
}
