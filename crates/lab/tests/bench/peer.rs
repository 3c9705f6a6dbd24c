//! A TCP peer made by hand: it sends what a test says, true or not.

use segue_policy::Link;
use segue_policy::wire::{Capability, Report, ReportType};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::thread;
use std::time::{Duration, Instant};
use tun_rs::SyncDevice;

pub const SYN: u8 = 2;
pub const ACK: u8 = 16;
pub const FIN: u8 = 1;
pub const RST: u8 = 4;

/// A segment that arrived.
#[derive(Clone, Debug)]
pub struct Segment {
    pub from: u16,
    pub port: u16,
    pub seq: u32,
    pub ack: u32,
    pub flags: u8,
    /// As it stands in the header.
    pub window: u16,
    pub options: Vec<u8>,
    pub payload: usize,
    /// Whether the checksum is right.
    pub intact: bool,
    pub at: Instant,
}

impl Segment {
    /// The option of this kind, kind to end.
    pub fn option(&self, kind: u8) -> Option<&[u8]> {
        let mut rest = &self.options[..];
        while let [first, tail @ ..] = rest {
            match first {
                0 => return None,
                1 => rest = tail,
                _ => {
                    let length = usize::from(*tail.first()?);
                    if *first == kind {
                        return rest.get(..length);
                    }
                    rest = rest.get(length..)?;
                }
            }
        }
        None
    }

    /// Our capability, if it carries one.
    pub fn capability(&self) -> Option<Capability> {
        Capability::decode(self.option(segue_policy::wire::KIND)?).ok()
    }
}

/// One connection of the peer's host with the host of the bench.
pub struct Peer<'a> {
    device: &'a SyncDevice,
    pub local: SocketAddr,
    pub remote: SocketAddr,
    /// Next to send.
    pub seq: u32,
    /// Next expected: what a true ACK says.
    pub ack: u32,
    /// The nonce of the SYN-ACK.
    pub nonce: Option<u16>,
    pub window: u16,
}

pub const CAPABILITY: Capability = Capability { flags: 0, nonce: 0x1234 };

impl<'a> Peer<'a> {
    pub fn new(device: &'a SyncDevice, local: SocketAddr, remote: SocketAddr) -> Self {
        Self { device, local, remote, seq: 7_000_000, ack: 0, nonce: None, window: 60_000 }
    }

    pub fn v4(device: &'a SyncDevice, port: u16) -> Self {
        Self::new(device, SocketAddr::new(super::PEER_V4, port), SocketAddr::new(super::HOST_V4, 80))
    }

    pub fn v6(device: &'a SyncDevice, port: u16) -> Self {
        let address = |last| IpAddr::V6(Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, last));
        Self::new(device, SocketAddr::new(address(2), port), SocketAddr::new(address(1), 80))
    }

    /// The SYN with the capability or without, and the SYN-ACK; not the third segment.
    pub fn open(&mut self, capable: bool) -> Segment {
        // MSS 1460, SACK permitted, window scale 7
        let mut options = vec![2, 4, 5, 180, 4, 2, 1, 3, 3, 7, 1, 1];
        if capable {
            options.extend(CAPABILITY.encode());
        }
        // Once a second, as any host does.
        let mut answers = (0..60).filter_map(|_| {
            self.send(SYN, self.seq, 0, &options);
            self.receive_within(Duration::from_secs(1))
        });
        let answer = answers.next().expect("a SYN-ACK");
        assert_eq!(answer.flags & (SYN | ACK), SYN | ACK, "{answer:?}");
        self.seq = self.seq.wrapping_add(1);
        self.ack = answer.seq.wrapping_add(1);
        self.nonce = answer.capability().map(|capability| capability.nonce);
        answer
    }

    /// The whole handshake; the link at the start is reported with its last segment. Its round trip is that of an access
    /// link: below some 4 ms Linux sends up to 64 kB at once whatever the pace (tcp_tso_autosize).
    pub fn connect(&mut self, link: Link) {
        self.open(true);
        thread::sleep(Duration::from_millis(5));
        let first = self.report(ReportType::First, 0, link);
        self.acknowledge(&first);
    }

    /// The octets of a report with the right nonce.
    pub fn report(&self, kind: ReportType, seq: u8, link: Link) -> Vec<u8> {
        let nonce = self.nonce.expect("negotiated");
        Report { kind, seq, nonce, link }.encode().expect("a report").to_vec()
    }

    /// A pure ACK of all that was received.
    pub fn acknowledge(&mut self, options: &[u8]) {
        self.send(ACK, self.seq, self.ack, options);
    }

    /// The next segment within this time; data moves the next ACK if it is in order.
    pub fn receive_within(&mut self, time: Duration) -> Option<Segment> {
        let until = Instant::now() + time;
        let mut packet = [0; 2048];
        loop {
            if let Ok(size) = self.device.recv(&mut packet) {
                if let Some(segment) = parse(&packet[..size])
                    && segment.port == self.local.port()
                {
                    if segment.seq == self.ack && segment.flags & SYN == 0 {
                        self.ack = self.ack.wrapping_add(segment.payload as u32);
                    }
                    return Some(segment);
                }
                continue;
            }
            if Instant::now() >= until {
                return None;
            }
            thread::sleep(Duration::from_micros(200));
        }
    }

    pub fn receive(&mut self) -> Option<Segment> {
        self.receive_within(Duration::from_secs(600))
    }

    /// An outage: nothing is heard of what comes, until this octet has been sent again so many times.
    pub fn outage(&mut self, una: u32, times: usize) {
        let mut left = times;
        while left > 0 {
            let segment = self.receive().expect("the timer expires");
            left -= usize::from(segment.seq == una && segment.payload > 0);
        }
    }

    /// Takes in what comes until it is quiet for this long.
    pub fn drain(&mut self, quiet: Duration) -> Vec<Segment> {
        std::iter::from_fn(|| self.receive_within(quiet)).collect()
    }

    /// A segment with these octets, of which `self.seq` does not know.
    pub fn send_data(&mut self, seq: u32, payload: &[u8]) {
        self.send_with(ACK, seq, self.ack, &[], payload);
    }

    pub fn send(&mut self, flags: u8, seq: u32, ack: u32, options: &[u8]) {
        self.send_with(flags, seq, ack, options, &[]);
    }

    fn send_with(&mut self, flags: u8, seq: u32, ack: u32, options: &[u8], payload: &[u8]) {
        let mut options = options.to_vec();
        options.resize(options.len().next_multiple_of(4), 1);
        let mut tcp = Vec::new();
        tcp.extend(self.local.port().to_be_bytes());
        tcp.extend(self.remote.port().to_be_bytes());
        tcp.extend(seq.to_be_bytes());
        tcp.extend(ack.to_be_bytes());
        tcp.extend([((20 + options.len()) / 4 * 16) as u8, flags]);
        tcp.extend(self.window.to_be_bytes());
        tcp.extend([0; 4]);
        tcp.extend(&options);
        tcp.extend(payload);
        let packet = match (self.local.ip(), self.remote.ip()) {
            (IpAddr::V4(from), IpAddr::V4(to)) => v4(from, to, tcp),
            (IpAddr::V6(from), IpAddr::V6(to)) => v6(from, to, tcp),
            _ => panic!("one family"),
        };
        self.device.send(&packet).expect("the device takes it");
    }
}

fn sum(octets: &[u8]) -> u32 {
    octets.chunks(2).map(|two| u32::from(u16::from_be_bytes([two[0], *two.get(1).unwrap_or(&0)]))).sum()
}

fn fold(mut sum: u32) -> [u8; 2] {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    (!(sum as u16)).to_be_bytes()
}

fn v4(from: Ipv4Addr, to: Ipv4Addr, mut tcp: Vec<u8>) -> Vec<u8> {
    let addresses = [from.octets(), to.octets()].concat();
    let check = fold(sum(&addresses) + 6 + tcp.len() as u32 + sum(&tcp));
    tcp[16..18].copy_from_slice(&check);
    let mut ip = vec![0x45, 0];
    ip.extend(((20 + tcp.len()) as u16).to_be_bytes());
    ip.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
    ip.extend(addresses);
    let check = fold(sum(&ip));
    ip[10..12].copy_from_slice(&check);
    [ip, tcp].concat()
}

fn v6(from: Ipv6Addr, to: Ipv6Addr, mut tcp: Vec<u8>) -> Vec<u8> {
    let addresses = [from.octets(), to.octets()].concat();
    let check = fold(sum(&addresses) + 6 + tcp.len() as u32 + sum(&tcp));
    tcp[16..18].copy_from_slice(&check);
    let mut ip = vec![0x60, 0, 0, 0];
    ip.extend((tcp.len() as u16).to_be_bytes());
    ip.extend([6, 64]);
    ip.extend(addresses);
    [ip, tcp].concat()
}

/// TCP in IPv4 or IPv6; anything else is not for us.
fn parse(packet: &[u8]) -> Option<Segment> {
    let (protocol, header, length) = match packet.first()? >> 4 {
        4 => (
            packet[9],
            usize::from(packet[0] & 15) * 4,
            usize::from(u16::from_be_bytes([packet[2], packet[3]])),
        ),
        6 => (packet[6], 40, 40 + usize::from(u16::from_be_bytes([packet[4], packet[5]]))),
        _ => return None,
    };
    let tcp = packet.get(header..length)?;
    if protocol != 6 || tcp.len() < 20 {
        return None;
    }
    let long = |at: usize| u32::from_be_bytes([tcp[at], tcp[at + 1], tcp[at + 2], tcp[at + 3]]);
    let data = usize::from(tcp[12] >> 4) * 4;
    // Both addresses, which the pseudo-header has, end where the IP header does.
    let addresses = if header == 40 { &packet[8..40] } else { &packet[12..20] };
    let intact = fold(sum(addresses) + 6 + tcp.len() as u32 + sum(tcp)) == [0, 0];
    Some(Segment {
        from: u16::from_be_bytes([tcp[0], tcp[1]]),
        port: u16::from_be_bytes([tcp[2], tcp[3]]),
        seq: long(4),
        ack: long(8),
        flags: tcp[13],
        window: u16::from_be_bytes([tcp[14], tcp[15]]),
        intact,
        options: tcp[20..data].to_vec(),
        payload: tcp.len() - data,
        at: Instant::now(),
    })
}
