//! How long a link's signal is under way.

mod arq;
mod jitter;
mod varied;

pub use arq::Arq;
pub use jitter::{Jitter, JitterShape};
pub use varied::{Order, Shift, Varied};

use crate::{DelayTrace, GammaDelay, Nanos};

/// How long a link's signal is under way.
#[derive(Clone, Debug)]
#[repr(u8)] // the variant in a byte of its own, read for every packet
pub enum Delay {
    /// Always the same.
    Fixed(Nanos),
    /// Measured; later packets never overtake earlier ones.
    Trace(DelayTrace),
    /// Random; later packets never overtake earlier ones.
    Gamma(GammaDelay),
    /// One of these and what is added to it.
    Varied(Box<Varied>),
}

impl Delay {
    /// The least, which a random one comes close to.
    pub fn least(&self) -> Nanos {
        match self {
            Self::Fixed(delay) => *delay,
            Self::Trace(trace) => trace.min(),
            Self::Gamma(_) => 0,
            Self::Varied(varied) => varied.base.least(),
        }
    }

    /// Whether later packets may overtake earlier ones.
    pub fn reorders(&self) -> bool {
        matches!(self, Self::Varied(varied) if varied.order != Order::Kept)
    }

    /// When a packet that leaves at `departure` reaches the far end; `last`: when the packet before it does.
    #[inline(always)] // on the path of every packet
    pub(super) fn delivery(&mut self, departure: Nanos, last: Nanos) -> Nanos {
        match self {
            Self::Fixed(delay) => departure + *delay,
            _ => self.delivery_of_another(departure, last),
        }
    }

    /// The same where the delay is not constant.
    #[inline(never)] // or its registers would be saved for every packet of a constant delay
    fn delivery_of_another(&mut self, departure: Nanos, last: Nanos) -> Nanos {
        match self {
            Self::Fixed(delay) => departure + *delay,
            Self::Trace(trace) => (departure + trace.at(departure)).max(last),
            Self::Gamma(random) => (departure + random.draw()).max(last),
            Self::Varied(varied) => varied.delivery(departure, last),
        }
    }
}
