//! The interfaces between the programs of `bpf/` and this crate, as the build writes them from the C headers
//! (`bpf/layouts.bpf.c`). Octets of a map, of a ring or of an iterator are these types and nothing else.

use segue_policy::Link;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

#[allow(
    dead_code,
    missing_docs,
    non_camel_case_types,
    unreachable_pub,
    unsafe_code,
    clippy::all,
    clippy::pedantic,
    reason = "generated"
)]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/layouts.rs"));
}

pub(crate) use generated::*;

impl From<Link> for segue_link {
    fn from(link: Link) -> Self {
        let Link { rate_kbps, delay_us } = link;
        Self { rate_kbps, delay_us }
    }
}

/// Local and remote end.
impl From<(SocketAddr, SocketAddr)> for segue_tuple {
    fn from((local, remote): (SocketAddr, SocketAddr)) -> Self {
        Self {
            remote: mapped(remote.ip()),
            local: mapped(local.ip()),
            remote_port: remote.port().to_be(),
            local_port: local.port().to_be(),
        }
    }
}

impl From<segue_tuple> for (SocketAddr, SocketAddr) {
    fn from(tuple: segue_tuple) -> Self {
        let segue_tuple { remote, local, remote_port, local_port } = tuple;
        (
            SocketAddr::new(unmapped(local), u16::from_be(local_port)),
            SocketAddr::new(unmapped(remote), u16::from_be(remote_port)),
        )
    }
}

/// IPv4 as IPv6 maps it (RFC 4291, 2.5.5.2).
pub(crate) fn mapped(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(four) => four.to_ipv6_mapped().octets(),
        IpAddr::V6(six) => six.octets(),
    }
}

/// The same back.
pub(crate) fn unmapped(octets: [u8; 16]) -> IpAddr {
    Ipv6Addr::from(octets).to_canonical()
}
