//! Freeze-TCP and PHAS at the egress of a device, beside peers that know nothing of it. Needs root.

#[path = "../bench/mod.rs"]
mod bench;
mod ethernet;
mod freeze;
mod killed;
#[path = "../laboratory/mod.rs"]
mod laboratory;
mod lasting;
mod persist;
mod phas;

use bench::Bench;
use bench::peer::{Peer, Segment};
use segue_kernel::receiver::{Options, Peers, Receiver, attach};
use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

const DEVICE: &str = "bench";
/// Octets of each data segment: full ones, so that every second is acknowledged at once.
const DATA: usize = 1000;
/// An open window has more, as it stands in the header: 64 KB in units of 1024 octets.
const OPEN: u16 = 40;

fn options() -> Options {
    Options { device: DEVICE.into(), peers: Peers::All, phas: true }
}

fn attached() -> Receiver {
    attach(&options()).expect("it attaches")
}

/// A peer of each family, and what the host has accepted from it.
fn connections<'a>(bench: &'a Bench, listener: &TcpListener) -> [(Peer<'a>, TcpStream); 2] {
    let peers = [Peer::v4(&bench.device, 4001), Peer::v6(&bench.device, 4002)];
    peers.map(|mut peer| {
        peer.open(false);
        peer.acknowledge(&[]);
        let (stream, _) = listener.accept().expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(600))).expect("a time limit");
        (peer, stream)
    })
}

/// Has the host receive the next segment in order, and its program read it.
fn give(peer: &mut Peer<'_>, stream: &mut TcpStream) {
    peer.send_data(peer.seq, &[7; DATA]);
    peer.seq = peer.seq.wrapping_add(DATA as u32);
    stream.read_exact(&mut [0; DATA]).expect("it arrives");
}

/// All that the host says until it is quiet.
fn said(peer: &mut Peer<'_>) -> Vec<Segment> {
    let all = peer.drain(Duration::from_millis(80));
    assert!(all.iter().all(|segment| segment.intact), "a checksum is wrong: {all:?}");
    all
}
