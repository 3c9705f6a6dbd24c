//! Where packets are seen, and under which addresses.

use segue_tcp::wire::Ipv4Addresses;
use segue_world::trace::Side;
use std::net::Ipv4Addr;

/// The correspondent node (RFC 5737, TEST-NET-1).
pub(super) const CN_ADDRESS: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);

/// A vantage point; one interface of the capture each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Vantage {
    /// The correspondent node.
    Cn,
    /// The access router of a link.
    Link(Side),
    /// The mobile node.
    Mn,
}

impl Vantage {
    /// All, in the order of the interfaces.
    pub(super) const ALL: [Self; 4] = [Self::Cn, Self::Link(Side::Old), Self::Link(Side::New), Self::Mn];

    /// Number of the interface.
    pub(super) fn interface(self) -> u32 {
        match self {
            Self::Cn => 0,
            Self::Link(Side::Old) => 1,
            Self::Link(Side::New) => 2,
            Self::Mn => 3,
        }
    }

    /// Name of the interface.
    pub(super) fn name(self) -> &'static str {
        ["CN", "old link", "new link", "MN"][self.interface() as usize]
    }

    /// The packets seen here, and at which instant.
    pub(super) fn description(self) -> &'static str {
        match self {
            Self::Cn => "correspondent node: data when sent, ACKs when received",
            Self::Link(Side::Old) => {
                "access router of the old link: data when their transmission over it ends, \
                 ACKs when they arrive over it"
            }
            Self::Link(Side::New) => {
                "access router of the new link: data when their transmission over it ends, \
                 ACKs when they arrive over it"
            }
            Self::Mn => "mobile node: ACKs when sent, data when received",
        }
    }

    /// The mobile's address here (RFC 5737, TEST-NET-2). Each vantage point has one of its own:
    /// analysers that ignore interfaces would take a packet seen twice for a retransmission.
    pub(super) fn mobile(self) -> Ipv4Addr {
        Ipv4Addr::new(198, 51, 100, self.interface() as u8 + 1)
    }

    /// Name of that address.
    pub(super) fn mobile_name(self) -> &'static str {
        ["mn.at-cn", "mn.at-old-link", "mn.at-new-link", "mn.at-mn"][self.interface() as usize]
    }

    /// Addresses of data (from the correspondent node) or ACKs.
    pub(super) fn addresses(self, data: bool) -> Ipv4Addresses {
        let down = Ipv4Addresses { source: CN_ADDRESS, destination: self.mobile() };
        if data { down } else { down.reversed() }
    }
}
