//! All TCP segments that a host sends and receives, as they are on the wire.

use super::hosts::Host;
use etherparse::{LaxNetSlice, LaxSlicedPacket, TransportSlice};
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, setsockopt, socket, sockopt,
};
use nix::sys::time::{TimeVal, TimeValLike};
use segue_policy::wire::{Capability, Report};
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// One segment.
#[derive(Clone, Debug)]
pub struct Segment {
    pub from: SocketAddr,
    pub to: SocketAddr,
    pub seq: u32,
    pub ack: u32,
    pub syn: bool,
    pub has_ack: bool,
    pub rst: bool,
    pub fin: bool,
    pub payload: usize,
    /// As it stands in the header.
    pub window: u16,
    options: Vec<u8>,
    /// When the capture had it.
    pub at: Instant,
}

impl Segment {
    /// Options of this kind, kind and length included.
    fn option(&self, kind: u8) -> Option<&[u8]> {
        let mut rest = &self.options[..];
        while let Some(&first) = rest.first() {
            let length = match first {
                0 => return None,
                1 => 1,
                _ => usize::from(*rest.get(1)?),
            };
            if first == kind {
                return rest.get(..length);
            }
            rest = rest.get(length.max(1)..)?;
        }
        None
    }

    pub fn ours(&self) -> Option<&[u8]> {
        self.option(segue_policy::wire::KIND)
    }

    pub fn capability(&self) -> Option<Capability> {
        self.ours().and_then(|octets| Capability::decode(octets).ok())
    }

    pub fn report(&self) -> Option<Report> {
        self.ours().and_then(|octets| Report::decode(octets).ok())
    }

    pub fn sack_blocks(&self) -> usize {
        self.option(5).map_or(0, |octets| (octets.len() - 2) / 8)
    }

    /// TSval and TSecr.
    pub fn stamps(&self) -> Option<(u32, u32)> {
        let octets = self.option(8)?;
        let word = |at: usize| u32::from_be_bytes(octets[at..at + 4].try_into().expect("four octets"));
        Some((word(2), word(6)))
    }

    pub fn pure_ack(&self) -> bool {
        self.has_ack && !self.syn && !self.fin && !self.rst && self.payload == 0
    }
}

pub struct Capture {
    seen: Arc<Mutex<Vec<Segment>>>,
    /// How often nothing has come for 20 ms.
    quiet: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
    reader: Option<JoinHandle<()>>,
}

impl Capture {
    pub fn on(host: &Host) -> Self {
        let socket = host.run(|| {
            socket(AddressFamily::Packet, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::EthAll)
                .expect("a packet socket")
        });
        setsockopt(&socket, sockopt::RcvBufForce, &(64 << 20)).expect("a large buffer");
        setsockopt(&socket, sockopt::ReceiveTimeout, &TimeVal::milliseconds(20)).expect("a time limit");
        let seen = Arc::new(Mutex::new(Vec::new()));
        let quiet = Arc::new(AtomicUsize::new(0));
        let stop = Arc::new(AtomicBool::new(false));
        let (list, lulls, end) = (Arc::clone(&seen), Arc::clone(&quiet), Arc::clone(&stop));
        let reader = thread::spawn(move || {
            // headers are enough
            let mut buffer = [0; 192];
            while !end.load(Ordering::Relaxed) {
                let Ok(length) = recv(socket.as_raw_fd(), &mut buffer, MsgFlags::empty()) else {
                    lulls.fetch_add(1, Ordering::Relaxed);
                    continue;
                };
                if let Some(segment) = parse(&buffer[..length]) {
                    list.lock().expect("no reader panics").push(segment);
                }
            }
        });
        Self { seen, quiet, stop, reader: Some(reader) }
    }

    /// Segments seen so far, once nothing has come for 40 ms; by what the reader finds, however late that is.
    pub fn settled(&self) -> Vec<Segment> {
        let state = || {
            let seen = self.seen.lock().expect("no reader panics");
            (seen.len(), self.quiet.load(Ordering::Relaxed))
        };
        let (mut count, mut quiet) = state();
        let limit = Instant::now() + Duration::from_secs(600);
        loop {
            thread::sleep(Duration::from_millis(5));
            let now = state();
            assert!(Instant::now() < limit, "it never rests");
            if now.0 != count {
                (count, quiet) = now;
            } else if now.1 >= quiet + 3 {
                return self.seen.lock().expect("no reader panics").clone();
            }
        }
    }

    /// Forgets what has been seen.
    pub fn clear(&self) {
        self.settled();
        self.seen.lock().expect("no reader panics").clear();
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

fn parse(frame: &[u8]) -> Option<Segment> {
    let packet = LaxSlicedPacket::from_ethernet(frame).ok()?;
    let Some(TransportSlice::Tcp(tcp)) = &packet.transport else { return None };
    let (from, to, ip_length, ip_header) = match packet.net.as_ref()? {
        LaxNetSlice::Ipv4(ip) => {
            let header = ip.header();
            let (from, to) = (header.source_addr().into(), header.destination_addr().into());
            (from, to, usize::from(header.total_len()), header.slice().len())
        }
        LaxNetSlice::Ipv6(ip) => {
            let header = ip.header();
            let (from, to) = (header.source_addr().into(), header.destination_addr().into());
            (from, to, usize::from(header.payload_length()), 0)
        }
        _ => return None,
    };
    let header = tcp.to_header();
    Some(Segment {
        from: SocketAddr::new(from, header.source_port),
        to: SocketAddr::new(to, header.destination_port),
        seq: header.sequence_number,
        ack: header.acknowledgment_number,
        syn: header.syn,
        has_ack: header.ack,
        rst: header.rst,
        fin: header.fin,
        payload: ip_length.saturating_sub(ip_header + header.header_len()),
        window: header.window_size,
        options: header.options.as_slice().to_vec(),
        at: Instant::now(),
    })
}
