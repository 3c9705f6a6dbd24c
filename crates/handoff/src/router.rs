//! The access routers' acts at a handoff: the part of a scheme that is neither at the sender nor at the mobile.
//! It holds only the rule; the bench that runs the routers enacts it.

use segue_netsim::Overflow;

/// Which router holds packets while the mobile is between two links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// The previous access router, from link-down until the mobile asks for what it holds. Then all goes over the
    /// tunnel in FIFO order, followed by a notice "end of forwarding" (Chou and Shin 2004; algorithms.md, 6.1).
    Previous,
    /// The new one. The previous router tunnels what comes from the hint on, and the new one holds it until the mobile
    /// has attached to it. Source: FMIPv6 as Espi and others 2010 use it; algorithms.md, 5.2.
    New,
}

/// The access routers' part at every handoff with a disconnection; without one there is nothing to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouterRule {
    /// The router that holds packets.
    pub holder: Holder,
    /// The packet that goes when the buffer is full.
    pub overflow: Overflow,
}
