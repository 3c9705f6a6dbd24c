//! Fast handovers for Mobile IPv6 (RFC 5568): messages and the three parties' state machines, sans-IO.
//!
//! ```text
//!   MN            PAR            NAR            HA
//!    |-- RtSolPr ->|              |              |     L2 hint
//!    |<- PrRtAdv --|              |              |     with the buffer that NAR grants (algorithms.md, 5.2)
//!    |---- FBU --->|----- HI ---->|              |
//!    |             |<--- HAck ----|              |     NAR holds what comes for the MN
//!    |<-- FBack ---|--- FBack --->|              |     PAR tunnels to NAR; the MN leaves
//!    |-------------- UNA -------->|              |     the MN has come; NAR releases what it holds
//!    |------------------------- BU ------------->|     RFC 6275; HA sends to NAR
//! ```
//!
//! Without FBack on the old link the MN sends UNA and FBU over the new one (RFC 5568, 3.3: reactive). Without PrRtAdv
//! it configures an address and updates its binding as any mobile node does. Each machine takes messages and the time,
//! and gives messages; [`Retry`] is what all of them repeat by.

mod mobile;
mod new_router;
mod previous_router;
#[cfg(test)]
mod tests;

pub use mobile::{FastMobile, MobileEvent, Mode};
pub use new_router::NewRouter;
pub use previous_router::PreviousRouter;

use segue_tcp::Nanos;

const MS: Nanos = 1_000_000;

/// RFC 5568, 6.1.1 and 6.2.1: where the round trip is not known, a message without an answer is sent again after this.
/// Each further wait is twice as long.
const FIRST_WAIT: Nanos = 100 * MS;
/// RTSOLPR_RETRIES (RFC 5568, 9).
const RTSOLPR_RETRIES: u32 = 3;
/// FBU_RETRIES (RFC 5568, 9).
const FBU_RETRIES: u32 = 3;
/// HI_RETRIES (RFC 5568, 9).
const HI_RETRIES: u32 = 7;
/// INITIAL_BINDACK_TIMEOUT (RFC 6275, 12).
const FIRST_BINDING_WAIT: Nanos = 1000 * MS;
/// MAX_BINDACK_TIMEOUT (RFC 6275, 12).
const LONGEST_BINDING_WAIT: Nanos = 32_000 * MS;

/// A message. Sizes are those of the IPv6 packet: fixed header of 40 bytes, message, the options named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Message {
    /// Router Solicitation for Proxy Advertisement: the MN asks PAR about the access point that it has heard.
    RtSolPr,
    /// Proxy Router Advertisement, with the bytes that NAR keeps for the MN (algorithms.md, 5.2).
    PrRtAdv {
        /// Bytes.
        buffer: u64,
    },
    /// Fast Binding Update: PAR is to forward to the new address.
    Fbu,
    /// Handover Initiate: PAR tells NAR who comes.
    Hi,
    /// Handover Acknowledge.
    HAck,
    /// Fast Binding Acknowledgement.
    FBack,
    /// Unsolicited Neighbour Advertisement: the MN is on NAR's link.
    Una,
    /// Binding Update (RFC 6275): HA is to send to the new address.
    Bu,
    /// Binding Acknowledgement (RFC 6275).
    BAck,
}

impl Message {
    /// Bytes of the packet.
    pub fn bytes(self) -> u32 {
        match self {
            Self::RtSolPr => 40 + 8 + 8 + 8, // link-layer addresses of the MN and of the access point
            Self::PrRtAdv { .. } => 40 + 8 + 8 + 8 + 8 + 32 + 8, // of access point and NAR, prefix, buffer
            Self::Fbu => 40 + 24 + 12 + 20 + 16, // home address, binding update, new address, authorisation
            Self::Hi | Self::HAck => 40 + 8 + 20 + 20 + 8, // mobility header, both addresses, link-layer address
            Self::FBack => 40 + 12 + 20 + 16,
            Self::Una => 40 + 24 + 8,
            Self::Bu => 40 + 24 + 12 + 20,
            Self::BAck => 40 + 24 + 12 + 4,
        }
    }

    /// As the RFCs abbreviate it.
    pub fn name(self) -> &'static str {
        match self {
            Self::RtSolPr => "RtSolPr",
            Self::PrRtAdv { .. } => "PrRtAdv",
            Self::Fbu => "FBU",
            Self::Hi => "HI",
            Self::HAck => "HAck",
            Self::FBack => "FBack",
            Self::Una => "UNA",
            Self::Bu => "BU",
            Self::BAck => "BAck",
        }
    }
}

/// Receivers of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Party {
    /// The mobile node on PAR's link.
    MobileAtPrevious,
    /// The mobile node on NAR's link.
    MobileAtNew,
    /// The previous access router.
    Previous,
    /// The new access router.
    New,
    /// The home agent.
    HomeAgent,
}

/// A message that waits for its answer: sent again, each time after twice the wait, so many times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    message: Message,
    due: Nanos,
    wait: Nanos,
    longest: Nanos,
    left: u32,
}

impl Retry {
    /// `message`, just sent, of a fast handover (RFC 5568, 6.2.1).
    fn fast(now: Nanos, message: Message, retries: u32) -> Self {
        Self { message, due: now + FIRST_WAIT, wait: FIRST_WAIT, longest: Nanos::MAX, left: retries }
    }

    /// A Binding Update, just sent, which is repeated until it is answered (RFC 6275, 11.8).
    fn binding(now: Nanos) -> Self {
        let wait = FIRST_BINDING_WAIT;
        Self { message: Message::Bu, due: now + wait, wait, longest: LONGEST_BINDING_WAIT, left: u32::MAX }
    }

    /// When it is to be sent again.
    fn deadline(&self) -> Option<Nanos> {
        (self.left > 0).then_some(self.due)
    }

    /// The message, if it is to be sent again now.
    fn again(&mut self, now: Nanos) -> Option<Message> {
        if self.deadline().is_none_or(|due| due > now) {
            return None;
        }
        self.left = self.left.saturating_sub(1);
        self.wait = self.wait.saturating_mul(2).min(self.longest);
        self.due = now + self.wait;
        Some(self.message)
    }
}

/// Messages that a machine has to send, in order.
#[derive(Clone, Debug, Default)]
struct Outbox(std::collections::VecDeque<(Party, Message)>);

impl Outbox {
    fn put(&mut self, to: Party, message: Message) {
        self.0.push_back((to, message));
    }
}
