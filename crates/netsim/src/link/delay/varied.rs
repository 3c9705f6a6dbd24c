//! A delay with what is added to it, and the order of packets.

use super::{Arq, Delay, Jitter};
use crate::Nanos;
use crate::random::{Drawn, Weather, happens, uniform};

/// Whether packets keep their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// They do: what is held up holds up those behind.
    Kept,
    /// Each has the delay of its own time.
    Free,
    /// So many of a million have nothing added, and overtake (netem's `reorder`); the others keep theirs.
    Skips(u32),
}

/// A path that changes at regular times. Each change takes the link away for a while and draws a delay that is added
/// until the next (a satellite's successor).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shift {
    /// From one change to the next, ns.
    pub every: Nanos,
    /// The first change, ns.
    pub first: Nanos,
    /// Without a link, ns.
    pub gap: Nanos,
    /// At most so much is added, ns; each value is as likely.
    pub most: Nanos,
}

/// The sum.
#[derive(Clone, Debug)]
pub struct Varied {
    /// The least delay, to which the rest is added.
    pub(super) base: Delay,
    pub(super) order: Order,
    jitter: Option<Jitter>,
    arq: Option<Arq>,
    shift: Option<(Shift, Drawn)>,
    /// One draw for each ns: for each packet.
    own: Weather,
}

impl Varied {
    /// A delay to which nothing is added yet. `number` is the link's own.
    pub fn new(base: Delay, order: Order, seed: u64, number: u64) -> Self {
        Self { base, order, jitter: None, arq: None, shift: None, own: Weather::new(1, seed, number) }
    }

    /// The same with jitter.
    #[must_use]
    pub fn jitter(self, jitter: Jitter) -> Self {
        Self { jitter: Some(jitter), ..self }
    }

    /// The same with retransmissions by the link.
    #[must_use]
    pub fn arq(self, arq: Arq) -> Self {
        Self { arq: Some(arq), ..self }
    }

    /// The same with regular changes. `number` is the link's own.
    #[must_use]
    pub fn shift(self, shift: Shift, seed: u64, number: u64) -> Self {
        let drawn = Drawn::new(Weather::new(shift.every, seed, number));
        Self { shift: Some((shift, drawn)), ..self }
    }

    /// The delay added at `time`, ns.
    fn added(&mut self, time: Nanos) -> Nanos {
        let jitter = self.jitter.as_mut().map_or(0, |jitter| jitter.at(time));
        let arq = self.arq.as_mut().map_or(0, |arq| arq.at(time));
        let shift = self.shift.as_mut().map_or(0, |(Shift { every, first, most, .. }, drawn)| {
            // Slots of the weather begin at multiples of `every`.
            drawn.at(time + *every - *first % *every, |random| {
                (uniform(random) * *most as f64).round() as Nanos
            })
        });
        jitter + arq + shift
    }

    #[inline(never)] // or its registers would be saved for every packet of a constant delay
    pub(super) fn delivery(&mut self, departure: Nanos, last: Nanos) -> Nanos {
        let least = self.base.delivery(departure, 0);
        match self.order {
            Order::Kept => (least + self.added(departure)).max(last),
            Order::Free => least + self.added(departure),
            Order::Skips(share) if happens(&mut self.own.at(departure), share) => least,
            Order::Skips(_) => (least + self.added(departure)).max(last),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::delay::JitterShape;

    const MS: Nanos = 1_000_000;

    /// Delays of 10,000 packets, one each 100 us, over the least of 20 ms, and how many come before one that left
    /// earlier.
    fn drawn(order: Order) -> (Vec<Nanos>, usize) {
        let jitter = Jitter::new(JitterShape::Normal, 5 * MS, 1, 0);
        let mut delay = Varied::new(Delay::Fixed(20 * MS), order, 1, 1).jitter(jitter);
        let (mut last, mut overtaking) = (0, 0);
        let delays = (0..10_000).map(|packet| {
            let departure = packet * MS / 10;
            let delivery = delay.delivery(departure, last);
            overtaking += usize::from(delivery < last);
            last = last.max(delivery);
            delivery - departure - 20 * MS
        });
        (delays.collect(), overtaking)
    }

    #[test]
    fn order_is_kept_or_not() {
        let (kept, overtaking) = drawn(Order::Kept);
        assert_eq!(overtaking, 0);
        assert!(kept.iter().any(|&delay| delay > 5 * MS));
        let (free, overtaking) = drawn(Order::Free);
        assert!(overtaking > 500, "{overtaking}");
        assert!(kept.iter().zip(&free).all(|(kept, free)| kept >= free));
        // Most that skip the added delay come before one ahead of them, and nobody else does.
        let (skips, overtaking) = drawn(Order::Skips(20_000));
        assert!((120..=260).contains(&overtaking), "{overtaking}");
        assert!(skips.iter().zip(&kept).all(|(skips, kept)| skips <= kept));
        assert_eq!(drawn(Order::Skips(0)), drawn(Order::Kept));
    }

    /// Changes at 12, 27, 42 s: the delay is constant in between.
    #[test]
    fn shifts_come_at_their_times() {
        let shift = Shift { every: 15_000 * MS, first: 12_000 * MS, gap: 0, most: 10 * MS };
        let mut delay = Varied::new(Delay::Fixed(0), Order::Kept, 1, 0).shift(shift, 1, 1);
        let mut at = |ms: u64| delay.added(ms * MS);
        assert_eq!((at(12_000), at(27_000)), (at(26_999), at(41_999)));
        assert_ne!(at(11_999), at(12_000));
        assert_ne!(at(26_999), at(27_000));
        assert_eq!(at(0), at(11_999));
    }
}
