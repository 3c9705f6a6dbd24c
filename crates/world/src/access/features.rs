//! Features of a direction of an access link beside carrying packets in order: losses, added delays, changes of the
//! rate, managed queues. Each is a word of the link ([`super::words`]).

use segue_netsim::delay::{Arq, Jitter, JitterShape, Order, Shift, Varied};
use segue_netsim::loss::gilbert_elliott::{GilbertElliott, GilbertElliottConfig};
use segue_netsim::loss::random::RandomLoss;
use segue_netsim::loss::timed::TimedGilbertElliott;
use segue_netsim::queue::codel::{Codel, CodelConfig};
use segue_netsim::queue::drop_tail::DropTail;
use segue_netsim::queue::fq_codel::{FqCodel, FqCodelConfig};
use segue_netsim::queue::pie::{Pie, PieConfig};
use segue_netsim::queue::policer::Policer;
use segue_netsim::queue::red::{Red, RedConfig};
use segue_netsim::queue::{Discipline, Queue};
use segue_netsim::service::{Aggregates, Bucket, Changes, Gaps, Granted, VaryingRate};
use segue_netsim::{Delay, LinkConfig, Nanos, Rate, Service};

/// Bytes of a full packet.
const PACKET_BYTES: u32 = super::PACKET_BYTES as u32;

/// Which link of which run: its random numbers depend on these, and on nothing that passes over it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkSeed {
    /// Seed of the run.
    pub seed: u64,
    /// Number of the link within the run, from 1.
    pub link: u64,
}

/// Purposes of a direction's random numbers.
#[derive(Clone, Copy)]
enum Purpose {
    Loss,
    Jitter,
    Arq,
    Skip,
    Shift,
    Rate,
    Queue,
    Grant,
}

/// A direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Direction {
    /// The link.
    pub place: LinkSeed,
    /// From the mobile.
    pub up: bool,
}

impl Direction {
    /// Number of the stream for a purpose; 0 to 15 belong to no link.
    fn stream(self, purpose: Purpose) -> u64 {
        16 * self.place.link + 8 * u64::from(self.up) + purpose as u64
    }
}

segue_words::choices! {
    /// Queueing disciplines.
    pub enum QueueWord {
        /// Drops what finds it full.
        DropTail = "droptail",
        /// Controlled delay (RFC 8289): target 5 ms, interval 100 ms.
        Codel = "codel",
        /// A CoDel queue for each flow, in turn (RFC 8290).
        FqCodel = "fq_codel",
        /// Proportional integral controller (RFC 8033): target 15 ms.
        Pie = "pie",
        /// Random early detection, gentle, with ns-2's automatic thresholds.
        Red = "red",
    }
}

impl QueueWord {
    /// The delay that it aims at, if it does.
    pub fn target(self) -> Option<Nanos> {
        match self {
            Self::DropTail | Self::Red => None,
            Self::Codel => Some(CodelConfig::default().target),
            Self::FqCodel => Some(FqCodelConfig::default().codel.target),
            Self::Pie => Some(PieConfig::default().target),
        }
    }

    /// Packets that a managed queue holds unless it is told: those of the RFCs and of Linux.
    pub(super) fn usual_limit(self, rate: u64) -> Option<u32> {
        match self {
            Self::DropTail => None,
            Self::Codel => Some(CodelConfig::default().limit),
            Self::FqCodel => Some(FqCodelConfig::default().codel.limit),
            Self::Pie => Some(PieConfig::default().limit),
            Self::Red => Some(RedConfig::for_rate(rate, PACKET_BYTES).limit),
        }
    }
}

/// Which packets are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Each with the same probability, parts per million.
    Random(u32),
    /// In bursts of packets.
    GilbertElliott(GilbertElliottConfig),
    /// In bursts of time: the channel may change once in so many ns.
    Timed(GilbertElliottConfig, Nanos),
}

/// Tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tokens {
    /// bit/s.
    pub rate: u64,
    /// Bytes.
    pub burst: u32,
}

impl Tokens {
    fn bucket(self) -> Bucket {
        Bucket::new(self.rate, self.burst)
    }
}

/// Aggregates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aggregation {
    /// Most packets of one.
    pub most: u32,
    /// Time that each costs, ns.
    pub overhead: Nanos,
}

/// Grants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// From one scheduling request to the next, ns.
    pub cycle: Nanos,
    /// From a request to the first transmission, ns.
    pub answer: Nanos,
}

/// One direction's features; none by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// Losses.
    pub loss: Option<Loss>,
    /// Added delay.
    pub jitter: Option<(JitterShape, Nanos)>,
    /// Whether packets keep their order.
    pub order: Order,
    /// Share of blocks that the link has to repeat, parts per million, and the delay of a repetition.
    pub arq: Option<(u32, Nanos)>,
    /// Regular changes of the path.
    pub shift: Option<Shift>,
    /// Changes of the rate.
    pub changes: Option<Changes>,
    /// A shaper.
    pub shaper: Option<Tokens>,
    /// A policer.
    pub policer: Option<Tokens>,
    /// Aggregates in place of single packets.
    pub aggregation: Option<Aggregation>,
    /// Grants that it sends by.
    pub grant: Option<Grant>,
    /// The queueing discipline.
    pub queue: QueueWord,
    /// Whether it marks packets whose transport understands that.
    pub ecn: bool,
}

impl Default for Features {
    fn default() -> Self {
        Self {
            loss: None,
            jitter: None,
            order: Order::Kept,
            arq: None,
            shift: None,
            changes: None,
            shaper: None,
            policer: None,
            aggregation: None,
            grant: None,
            queue: QueueWord::DropTail,
            ecn: false,
        }
    }
}

impl Features {
    /// Whether losses, delays or rates are drawn from the seed.
    pub fn has_chance(&self) -> bool {
        let moves = self.shift.is_some_and(|shift| shift.most > 0) || self.grant.is_some();
        self.loss.is_some() || self.jitter.is_some() || self.arq.is_some() || self.changes.is_some() || moves
    }

    /// Whether packets leave its queue in the order in which they came, and none is dropped that waits.
    pub fn is_first_in_first_out(&self) -> bool {
        matches!(self.queue, QueueWord::DropTail | QueueWord::Pie | QueueWord::Red)
    }

    /// How it carries bytes where a plain link does so at a constant `rate`.
    pub(super) fn service(&self, rate: u64, direction: Direction) -> Service {
        let seed = direction.place.seed;
        let gaps = self.shift.filter(|shift| shift.gap > 0);
        let gaps = gaps.map(|Shift { every, first, gap, .. }| Gaps { every, first, length: gap });
        if self.changes.is_some() || gaps.is_some() {
            let changes = self.changes.unwrap_or(Changes::Constant);
            let number = direction.stream(Purpose::Rate);
            return Service::Varying(VaryingRate::new(rate, changes, gaps, seed, number));
        }
        if let Some(Aggregation { most, overhead }) = self.aggregation {
            return Service::Aggregates(Aggregates::new(rate, most, overhead));
        }
        if let Some(Grant { cycle, answer }) = self.grant {
            let number = direction.stream(Purpose::Grant);
            return Service::Granted(Granted::new(rate, cycle, answer, seed, number));
        }
        match self.shaper {
            Some(tokens) => Service::Shaped { line: Rate::new(rate), bucket: tokens.bucket() },
            None => Service::Fixed(Rate::new(rate)),
        }
    }

    /// A link of this service and delay, with a queue of `limit` packets.
    pub(super) fn config(
        &self,
        service: Service,
        delay: Delay,
        limit: u32,
        direction: Direction,
    ) -> LinkConfig {
        let rate = service.mean_rate();
        let config = LinkConfig::new(service, self.delay(delay, direction));
        let config = LinkConfig { queue: self.queue(rate, limit, direction), ..config };
        let (seed, number) = (direction.place.seed, direction.stream(Purpose::Loss));
        match self.loss {
            None => config,
            Some(Loss::Random(share)) => config.lossy(RandomLoss::new(share, seed, number)),
            Some(Loss::GilbertElliott(channel)) => config.lossy(GilbertElliott::new(channel, seed, number)),
            Some(Loss::Timed(channel, slot)) => {
                config.lossy(TimedGilbertElliott::new(channel, slot, seed, number))
            }
        }
    }

    fn delay(&self, base: Delay, direction: Direction) -> Delay {
        let seed = direction.place.seed;
        if self.jitter.is_none() && self.arq.is_none() && self.shift.is_none() {
            return base;
        }
        let mut varied = Varied::new(base, self.order, seed, direction.stream(Purpose::Skip));
        if let Some((shape, size)) = self.jitter {
            varied = varied.jitter(Jitter::new(shape, size, seed, direction.stream(Purpose::Jitter)));
        }
        if let Some((share, wait)) = self.arq {
            varied = varied.arq(Arq::new(share, wait, seed, direction.stream(Purpose::Arq)));
        }
        if let Some(shift) = self.shift {
            // The path of both directions is one.
            let both = Direction { up: false, ..direction };
            varied = varied.shift(shift, seed, both.stream(Purpose::Shift));
        }
        Delay::Varied(Box::new(varied))
    }

    fn queue(&self, rate: u64, limit: u32, direction: Direction) -> Queue {
        let (seed, number) = (direction.place.seed, direction.stream(Purpose::Queue));
        let ecn = self.ecn;
        let discipline: Box<dyn Discipline> = match self.queue {
            QueueWord::DropTail if self.policer.is_none() => return Queue::DropTail(Some(limit)),
            QueueWord::DropTail => Box::new(DropTail::new(limit)),
            QueueWord::Codel => Box::new(Codel::new(CodelConfig { limit, ecn, ..CodelConfig::default() })),
            QueueWord::FqCodel => {
                let codel = CodelConfig { limit, ecn, ..CodelConfig::default() };
                Box::new(FqCodel::new(FqCodelConfig { codel, ..FqCodelConfig::default() }))
            }
            QueueWord::Pie => {
                Box::new(Pie::new(PieConfig { limit, ecn, ..PieConfig::default() }, seed, number))
            }
            QueueWord::Red => {
                let config = RedConfig { limit, ecn, ..RedConfig::for_rate(rate, PACKET_BYTES) };
                Box::new(Red::new(config, seed, number))
            }
        };
        Queue::Managed(match self.policer {
            None => discipline,
            Some(tokens) => Box::new(Policer::new(tokens.bucket(), discipline)),
        })
    }
}
