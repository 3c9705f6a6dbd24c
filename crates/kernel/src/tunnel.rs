//! The link inside a tunnel: notices travel inside, and carry the rate that inner connections get.
//!
//! The inner path changes with the outer route, and only the tunnel's headers matter. The notice has the share of the
//! outer link's rate that is left for inner packets. The delay is the same.

use segue_policy::Link;

/// Octets that WireGuard adds to a packet beside the outer IP header: UDP (8), its own header (16) and the
/// authenticator (16).
const WIREGUARD: u32 = 8 + 16 + 16;

/// The IP that carries a tunnel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outer {
    /// 20 octets of header.
    Ipv4,
    /// 40 octets.
    Ipv6,
}

/// A WireGuard tunnel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireGuard {
    /// The protocol that carries it.
    pub outer: Outer,
    /// MTU of its device, octets of inner IP packets; 1420 as a rule.
    pub mtu: u32,
}

impl WireGuard {
    /// Octets that it adds to a full packet: 60 over IPv4, 80 over IPv6. (It pads smaller ones to a multiple of 16.)
    pub const fn overhead(self) -> u32 {
        WIREGUARD
            + match self.outer {
                Outer::Ipv4 => 20,
                Outer::Ipv6 => 40,
            }
    }

    /// The outer link as full inner packets find it.
    pub fn inside(self, outer: Link) -> Link {
        let (mtu, whole) = (u64::from(self.mtu), u64::from(self.mtu + self.overhead()));
        let rate = u64::from(outer.rate_kbps) * mtu / whole.max(1);
        // It was less before; and a rate of 0 is no rate.
        Link { rate_kbps: u32::try_from(rate).unwrap_or(u32::MAX).max(1), ..outer }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_inside() {
        let link = Link { rate_kbps: 6400, delay_us: 9000 };
        let four = WireGuard { outer: Outer::Ipv4, mtu: 1420 };
        let six = WireGuard { outer: Outer::Ipv6, ..four };
        assert_eq!((four.overhead(), six.overhead()), (60, 80));
        // 6400 * 1420 / 1480, 6400 * 1420 / 1500
        assert_eq!(four.inside(link), Link { rate_kbps: 6140, delay_us: 9000 });
        assert_eq!(six.inside(link), Link { rate_kbps: 6058, delay_us: 9000 });
        assert_eq!(four.inside(Link { rate_kbps: 1, delay_us: 0 }).rate_kbps, 1);
    }
}
