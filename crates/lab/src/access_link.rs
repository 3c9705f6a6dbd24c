//! An access link of a plan: each direction a link of the simulator's.

use super::Nanos;
use segue_netsim::queue::usual_limit;
use segue_netsim::{Delay, LinkConfig, Rate, Service};
use segue_policy::Link;
use std::time::Duration;

const SECOND: Nanos = 1_000_000_000;

/// Both directions of an access link.
#[derive(Clone, Debug)]
pub struct AccessLink {
    /// To the mobile.
    pub down: LinkConfig,
    /// To the server.
    pub up: LinkConfig,
}

impl AccessLink {
    /// A link of constant rate (kbit/s) and delay (us), the same both ways. `queue`: packets, the one being sent
    /// included; `None`: as on the simulator's bench.
    pub fn constant(rate_kbps: u32, delay_us: u32, queue: Option<u32>) -> Self {
        let (rate, delay) = (u64::from(rate_kbps) * 1000, Nanos::from(delay_us) * 1000);
        let way = LinkConfig::new(Service::Fixed(Rate::new(rate)), Delay::Fixed(delay));
        let way = way.drop_tail(queue.unwrap_or_else(|| usual_limit(rate, delay)));
        Self { down: way.clone(), up: way }
    }

    /// Whether its rate or its delay changes, so that it is another one at another time.
    pub fn varies(&self) -> bool {
        self.down.varies() || self.up.varies()
    }

    /// Both ways, without serialisation; of delays that change the least.
    pub fn round_trip(&self) -> Duration {
        Duration::from_nanos(self.down.delay.least() + self.up.delay.least())
    }

    /// Delay that reports name, us.
    pub fn delay_us(&self) -> u32 {
        u32::try_from(self.down.delay.least() / 1000).unwrap_or(u32::MAX)
    }

    /// A report of the link; of a measured one the mean rate of the second from `since`. `factor`: of the true rate.
    pub fn reported(&self, since: Nanos, factor: f64) -> Link {
        let rate = match &self.down.service {
            Service::Fixed(rate) => rate.bits_per_s(),
            measured => measured.bytes_between(since, since + SECOND) * 8,
        };
        let rate_kbps = (rate as f64 / 1000.0 * factor).round().clamp(1.0, f64::from(u32::MAX)) as u32;
        Link { rate_kbps, delay_us: self.delay_us() }
    }
}

/// Mean rate of a direction, kbit/s, at least 1.
pub fn mean_kbps(way: &LinkConfig) -> u64 {
    (way.service.mean_rate() / 1000).max(1)
}
