//! Bounds of the windows that peers are told which run nothing of ours (`bpf/mobile/window.h`). Here is what an agent
//! needs to divide a window among connections, and how it has their ACKs tell it.

use super::craft;
use super::records::{Counters, Ends};
use super::{Error, Mobile};
use crate::layouts::{segue_bound, segue_sent, segue_tuple};
use libbpf_rs::{MapCore, MapFlags};
use std::net::SocketAddr;
use std::time::Duration;
use zerocopy::{FromBytes, IntoBytes};

/// Connections of one question to the kernel (`SENT_FLOWS`).
const AT_ONCE: u32 = 4096;

/// A connection whose peer may be told smaller windows, as its last segment has left it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receiving {
    /// This host's end.
    pub local: SocketAddr,
    /// The peer.
    pub remote: SocketAddr,
    /// Index of the device by which that segment has left.
    pub device: u32,
    /// The highest number that has been acknowledged.
    pub ack: u32,
    /// Data packets that have come so far, modulo 2^32.
    pub packets: u32,
    /// Those of this period of a second and the one before.
    pub lately: u32,
    /// By CLOCK_MONOTONIC: when that period ends, or has ended.
    pub counted_until: Duration,
    /// Octets of data in the peer's packets.
    pub mss: u32,
    /// The smallest round trip of the last minutes, as this host has measured it.
    pub rtt: Option<Duration>,
    /// Shift count of this host's windows (RFC 7323).
    pub scale: u8,
    /// The window that the socket itself has told last, as it stood in the header.
    pub window: u16,
    /// This host's next sequence number.
    pub seq: u32,
    /// The highest number of which SACK blocks have told; one that is not beyond `ack` tells nothing.
    pub sacked: u32,
    /// The last time stamp.
    pub stamp: Option<u32>,
    /// The highest number that was acknowledged by devices before this one, and the last time stamp there.
    pub left: (u32, Option<u32>),
    /// The mark of its packets.
    pub mark: u32,
}

/// The bound of a connection's windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounding {
    /// Octets.
    pub window: u64,
    /// The first ACK number that it holds for.
    pub from: u32,
    /// Index: what leaves by another device is not bounded.
    pub device: u32,
    /// By CLOCK_MONOTONIC: when it ends, unless it is set again.
    pub until: Duration,
}

impl Bounding {
    /// For a connection that scales its windows so. Rounded up: a peer sends whole packets, and one that lacks an octet
    /// of room waits. A window of zero would stop it.
    fn written(&self, scale: u8) -> segue_bound {
        let most = self.window.div_ceil(1 << scale.min(14)).clamp(1, u64::from(u16::MAX));
        segue_bound {
            until: u64::try_from(self.until.as_nanos()).unwrap_or(u64::MAX),
            from: self.from,
            device: self.device,
            most: most as u32,
            pad: 0,
        }
    }
}

impl From<(segue_tuple, segue_sent)> for Receiving {
    fn from((tuple, sent): (segue_tuple, segue_sent)) -> Self {
        let (local, remote) = tuple.into();
        let stamp = |value: u32| (sent.stamped != 0).then_some(value);
        Self {
            local,
            remote,
            device: sent.device,
            ack: sent.acks[0],
            packets: sent.packets,
            lately: sent.packets.wrapping_sub(sent.before[1]),
            counted_until: Duration::from_nanos(sent.until),
            mss: sent.mss.into(),
            rtt: (sent.rtt_us != 0).then(|| Duration::from_micros(sent.rtt_us.into())),
            scale: sent.scale,
            window: sent.window,
            seq: sent.seq,
            sacked: sent.sacked,
            stamp: stamp(sent.stamp),
            left: (sent.left_ack, stamp(sent.left_stamp)),
            mark: sent.mark,
        }
    }
}

impl Receiving {
    fn ends(&self) -> Ends {
        Ends { remote: self.remote, local: self.local, mark: self.mark, device: self.device }
    }

    fn bounded_ack(&self, number: u32, stamp: Option<u32>, bounding: &Bounding) -> Result<Vec<u8>, Error> {
        let most = u16::try_from(bounding.written(self.scale).most).unwrap_or(u16::MAX);
        let stamps = stamp.map(|value| (value, 0));
        craft::pure_ack(&self.ends(), (self.seq, number), most.min(self.window), stamps, &[])
    }
}

impl Mobile {
    /// Connections whose peers have not negotiated, of prefixes that [`Mobile::treat_others`] has named, as far as
    /// their segments leave by devices that [`Mobile::follow`] follows. Closed ones may be among them.
    ///
    /// # Errors
    /// The programs are gone.
    pub fn receiving(&self) -> Result<Vec<Receiving>, Error> {
        let all = self.skel.maps.sent.lookup_batch(AT_ONCE, MapFlags::ANY, MapFlags::ANY);
        let all = all.map_err(Error::kernel("list what connections have sent"))?;
        let read = |(key, value): (Vec<u8>, Vec<u8>)| {
            let sent = segue_sent::read_from_bytes(&value).ok().filter(|sent| sent.negotiated == 0)?;
            Some((segue_tuple::read_from_bytes(&key).ok()?, sent).into())
        };
        Ok(all.filter_map(read).collect())
    }

    /// The one with these ends; none: it is not known any more.
    ///
    /// # Errors
    /// The programs are gone.
    pub fn receiving_of(&self, local: SocketAddr, remote: SocketAddr) -> Result<Option<Receiving>, Error> {
        let tuple = segue_tuple::from((local, remote));
        let octets = self.skel.maps.sent.lookup(tuple.as_bytes(), MapFlags::ANY);
        let octets = octets.map_err(Error::kernel("read what connections have sent"))?;
        let sent = octets.and_then(|octets| segue_sent::read_from_bytes(&octets).ok());
        Ok(sent.map(|sent| (tuple, sent).into()))
    }

    /// Tells the peer, by this device, of this ACK number and of the bounded window, with this time stamp. No stamp is
    /// echoed, and no SACK block told.
    ///
    /// # Errors
    /// This host does not send it: the device has gone, or leads nowhere.
    pub fn send_bounded(
        &mut self,
        connection: &Receiving,
        device: u32,
        (number, stamp): (u32, Option<u32>),
        bounding: &Bounding,
    ) -> Result<(), Error> {
        let ends = Ends { device, ..connection.ends() };
        let packet = connection.bounded_ack(number, stamp, bounding)?;
        self.resume()?.sender.send_packet(&ends, &packet)
    }

    /// From now on the connection tells windows of so many octets at most.
    ///
    /// # Errors
    /// The programs are gone.
    pub fn bound(&self, connection: &Receiving, bounding: &Bounding) -> Result<(), Error> {
        let key = segue_tuple::from((connection.local, connection.remote));
        let value = bounding.written(connection.scale);
        let set = self.skel.maps.bounds.update(key.as_bytes(), value.as_bytes(), MapFlags::ANY);
        set.map_err(Error::kernel("bound a window"))
    }

    /// From its next segment on the connection with these ends tells its own window again.
    pub fn unbound(&self, local: SocketAddr, remote: SocketAddr) {
        // Unless it has been forgotten, which is the same.
        let _ = self.skel.maps.bounds.delete(segue_tuple::from((local, remote)).as_bytes());
    }

    /// Segments, since the programs were attached, whose window became smaller.
    ///
    /// # Errors
    /// The programs are gone.
    pub fn narrowed(&self) -> Result<u32, Error> {
        Ok(Counters::read(self.counts()?).narrowed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::{SlicedPacket, TransportSlice};

    #[test]
    fn a_bound_stands_in_the_header_by_the_scale() {
        let bounding = |window| Bounding { window, from: 7, device: 3, until: Duration::from_nanos(9) };
        let most = |window, scale| bounding(window).written(scale).most;
        // 15 packets of 1448 octets: 169.7 times 128, 1.3 times 16384. Three are 33.9 times 128.
        assert_eq!((most(21_720, 0), most(21_720, 7), most(21_720, 14)), (21_720, 170, 2));
        assert!(3 * 1448 <= u64::from(most(3 * 1448, 7)) << 7);
        assert_eq!((most(2896, 14), most(0, 0)), (1, 1), "never closed");
        assert_eq!((most(u64::MAX, 0), most(u64::MAX, 14)), (65_535, 65_535));
        assert_eq!(most(16_384, 200), 1, "RFC 7323, 2.3: 14 at most");
        let written = bounding(1).written(0);
        assert_eq!((written.from, written.device, written.until), (7, 3, 9));
    }

    #[test]
    fn packets_of_the_last_two_periods_are_late_ones() {
        let ends: (SocketAddr, SocketAddr) =
            ("10.0.0.1:5".parse().expect("an address"), "[fd00::1]:6".parse().expect("an address"));
        let sent = segue_sent { packets: 3, before: [1, u32::MAX], ..segue_sent::default() };
        let read = Receiving::from((ends.into(), sent));
        assert_eq!((read.local, read.remote), ends);
        assert_eq!((read.lately, read.rtt), (4, None), "modulo 2^32");
        assert_eq!((read.stamp, read.left), (None, (0, None)), "it has no stamps");
    }

    #[test]
    fn an_ack_by_another_device_has_the_bounded_window_and_the_stamp_of_before() {
        let ends: (SocketAddr, SocketAddr) =
            ("10.0.0.1:5".parse().expect("an address"), "10.0.0.2:6".parse().expect("an address"));
        let sent = segue_sent {
            acks: [5000, 0, 0, 0],
            seq: 77,
            window: 501,
            stamped: 1,
            stamp: 1236,
            left_ack: 3000,
            left_stamp: 1234,
            scale: 7,
            ..segue_sent::default()
        };
        let read = Receiving::from((ends.into(), sent));
        assert_eq!((read.ack, read.stamp, read.left), (5000, Some(1236), (3000, Some(1234))));
        let ack = |window| {
            let bounding = Bounding { window, from: 0, device: 3, until: Duration::ZERO };
            let packet = read.bounded_ack(4448, read.left.1, &bounding).expect("it can be built");
            let Some(TransportSlice::Tcp(tcp)) = SlicedPacket::from_ip(&packet).expect("a packet").transport
            else {
                panic!("no TCP")
            };
            assert_eq!((tcp.sequence_number(), tcp.acknowledgment_number(), tcp.ack()), (77, 4448, true));
            assert_eq!(tcp.options(), [1, 1, 8, 10, 0, 0, 4, 210, 0, 0, 0, 0]);
            tcp.window_size()
        };
        // 14,480 octets are 113.1 times 128, rounded up; never more than the socket's own.
        assert_eq!((ack(14_480), ack(1 << 20)), (114, 501));
    }
}
