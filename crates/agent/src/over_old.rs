//! ACKs by the device of the old link, which peers that run nothing of ours have before those by the new one
//! ([`segue_mobile::early`]). They tell of the bounded window, and of what has come in order.

use super::order::Moved;
use segue_kernel::mobile::{Bounding, Mobile, Receiving};
use segue_mobile::early::Early;
use segue_mobile::window::Path;
use std::net::SocketAddr;

/// Between looks at what has come, ns.
const LOOK: u64 = 1_000_000;
/// Connections, the busiest first: a bound for the time that a look takes.
const CONNECTIONS: usize = 64;
/// ACKs of one look: all at once would overflow the queue of a short uplink.
const BURST: usize = 4;

/// A connection whose peer is told.
#[derive(Clone, Copy, Debug)]
struct Told {
    local: SocketAddr,
    remote: SocketAddr,
    /// The last time stamp by the old device.
    stamp: Option<u32>,
}

/// The ACKs of one handoff.
#[derive(Debug)]
pub(super) struct OverOld {
    early: Early,
    device: u32,
    all: Vec<Told>,
    next: u64,
}

impl OverOld {
    /// From now on; none: the old link does not carry, or an ACK by the new one is there as soon. `recent`: connections
    /// by the old device, and what came on them lately.
    pub(super) fn new(now: u64, moved: &Moved, new: &Path, recent: &[(Receiving, u32)]) -> Option<Self> {
        let device = moved.also?;
        let mut early = Early::new(now, new, moved.links.map(|link| u64::from(link.delay_us) * 1000))?;
        let mut busy: Vec<_> = recent.iter().filter(|(_, packets)| *packets > 0).collect();
        busy.sort_by_key(|(_, packets)| std::cmp::Reverse(*packets));
        let all = busy.into_iter().take(CONNECTIONS).map(|(receiving, _)| {
            let here = receiving.device == device;
            let (ack, stamp) = if here { (receiving.ack, receiving.stamp) } else { receiving.left };
            early.add(ack, receiving.mss.max(1));
            Told { local: receiving.local, remote: receiving.remote, stamp }
        });
        let all: Vec<_> = all.collect();
        Some(Self { early, device, all, next: now })
    }

    /// When [`OverOld::act`] is to be asked again.
    pub(super) fn deadline(&self) -> u64 {
        self.next
    }

    /// Sends what is due. `bounding`: the bound of a connection now. How many have left; none: it is over, in time or
    /// because the host refuses them all, as without the device.
    pub(super) fn act(
        &mut self,
        now: u64,
        bounding: impl Fn(&Receiving) -> Option<Bounding>,
        mobile: &mut Mobile,
    ) -> Option<u64> {
        if self.early.is_over(now) {
            return None;
        }
        let known: Vec<Option<Receiving>> =
            self.all.iter().map(|told| mobile.receiving_of(told.local, told.remote).ok()?).collect();
        for (index, receiving) in known.iter().enumerate() {
            if let Some(receiving) = receiving {
                self.early.came(index, receiving.ack, receiving.sacked);
            }
        }
        let mut sent = 0;
        for _ in 0..BURST {
            let Some((index, number)) = self.early.next(now) else { break };
            let Some(receiving) = known[index] else { continue };
            let Some(bounding) = bounding(&receiving) else { continue };
            let stamp = self.all[index].stamp;
            match mobile.send_bounded(&receiving, self.device, (number, stamp), &bounding) {
                Ok(()) => sent += 1,
                // A later one tells more, anyway.
                Err(error) if error.is_for_now() => {}
                Err(_) => self.early.refused(index),
            }
        }
        self.next = self.early.deadline().unwrap_or(0).max(now + LOOK);
        Some(sent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use segue_policy::Link;
    use std::time::Duration;

    const OLD: u32 = 3;
    const NEW: u32 = 4;

    fn moved(also: Option<u32>, delays: [u32; 2]) -> Moved {
        let links = [(6400, delays[0]), (200, delays[1])];
        Moved {
            watch: "0.0.0.0/0".parse().expect("a prefix"),
            devices: [OLD, NEW],
            links: links.map(|(rate_kbps, delay_us)| Link { rate_kbps, delay_us }),
            until: 0,
            disconnected: false,
            also,
        }
    }

    fn receiving(port: u16, device: u32) -> Receiving {
        Receiving {
            local: SocketAddr::from(([10, 0, 0, 1], port)),
            remote: SocketAddr::from(([10, 0, 0, 2], 80)),
            device,
            ack: 9000,
            packets: 100,
            lately: 20,
            counted_until: Duration::from_secs(1),
            mss: 1448,
            rtt: None,
            scale: 7,
            window: 501,
            seq: 1,
            sacked: 9000,
            stamp: Some(77),
            left: (7000, Some(75)),
            mark: 0,
        }
    }

    #[test]
    fn only_an_old_link_that_carries_and_is_the_faster_way_is_used() {
        let path = Path { rate: 200_000, round_trip: 608_000_000, queue: 10, packet_bits: 12_000 };
        let all = [(receiving(1, OLD), 20)];
        let any = |moved: &Moved| OverOld::new(5, moved, &path, &all).is_some();
        assert!(any(&moved(Some(OLD), [9_000, 300_000])));
        assert!(!any(&moved(None, [9_000, 300_000])), "it has gone");
        assert!(!any(&moved(Some(OLD), [300_000, 300_000])), "an ACK by the new link is there as soon");
    }

    #[test]
    fn the_stamp_is_that_of_the_old_device_and_the_busiest_are_told() {
        let path = Path { rate: 200_000, round_trip: 608_000_000, queue: 10, packet_bits: 12_000 };
        // The second has sent an ACK by the new device already, the third is silent.
        let mut all = vec![(receiving(1, OLD), 20), (receiving(2, NEW), 30), (receiving(3, OLD), 0)];
        let over = OverOld::new(5, &moved(Some(OLD), [9_000, 300_000]), &path, &all).expect("it carries");
        let told: Vec<_> = over.all.iter().map(|told| (told.local.port(), told.stamp)).collect();
        assert_eq!(told, [(2, Some(75)), (1, Some(77))]);
        assert_eq!(over.deadline(), 5);
        all.extend((10..200).map(|port| (receiving(port, OLD), 1)));
        let over = OverOld::new(5, &moved(Some(OLD), [9_000, 300_000]), &path, &all).expect("it carries");
        assert_eq!(over.all.len(), CONNECTIONS);
    }
}
