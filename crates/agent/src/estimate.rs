//! Estimates of a link's rate and delay, before anything has been sent over it.
//!
//! Sources in this order. First come the values that somebody gave for the device by hand. Next comes the rate of a
//! Wi-Fi station's radio, a share of which becomes goodput. Last comes the first rule of the configuration for the
//! device. The rate that the same link (device and router) has lately delivered is a floor below both the radio's and
//! the rule's rate. The link can certainly carry that.

use super::event::{Device, Event, Kind};
use super::links::Path;
use segue_policy::Link;
use serde::Serialize;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Nanoseconds of a second.
const SECOND: u64 = 1_000_000_000;
/// A radio's rate changes with every step; older ones are of no use.
const STATION_LASTS: u64 = 15 * SECOND;
/// The rate that a link has delivered is remembered for so long, ns.
const REMEMBERED: u64 = 600 * SECOND;
/// A rate is the mean of at least so long.
const LEAST_WINDOW: u64 = SECOND / 2;
/// Links that are remembered.
const MOST_REMEMBERED: usize = 64;

/// A rule of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Name of the device; `*` at its end stands for any letters. None: any.
    pub device: Option<String>,
    /// None: any.
    pub kind: Option<Kind>,
    /// The link of such a device, towards this host.
    pub link: Link,
    /// kbit/s from this host.
    pub up_kbps: u32,
}

impl Rule {
    fn fits(&self, device: &Device) -> bool {
        self.names(&device.name) && self.kind.is_none_or(|kind| kind == device.kind)
    }

    fn names(&self, name: &str) -> bool {
        self.device.as_ref().is_none_or(|pattern| match pattern.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == *pattern,
        })
    }

    /// The device that it names, if it is none of these.
    pub fn lacks<'a>(&self, mut names: impl Iterator<Item = &'a str>) -> Option<&str> {
        self.device.as_deref().filter(|_| !names.any(|name| self.names(name)))
    }
}

/// Where an estimate comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// Somebody told it.
    Told,
    /// The radio's rate.
    Station,
    /// The rate of what has been delivered.
    Delivered,
    /// A rule.
    Rule,
}

/// A link as it is thought to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Estimate {
    /// kbit/s towards this host.
    pub rate_kbps: u32,
    /// One way, us.
    pub delay_us: u32,
    /// kbit/s from this host.
    pub up_kbps: u32,
    /// Source of the rate.
    pub source: Source,
}

impl Estimate {
    /// As notices tell it.
    pub fn link(&self) -> Link {
        Link { rate_kbps: self.rate_kbps, delay_us: self.delay_us }
    }

    /// As flows of this host find it.
    pub fn uplink(&self) -> Link {
        Link { rate_kbps: self.up_kbps, delay_us: self.delay_us }
    }
}

/// A link told by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// Towards this host.
    pub link: Link,
    /// kbit/s from this host.
    pub up_kbps: u32,
}

#[derive(Clone, Copy, Debug)]
struct Station {
    down_kbps: u32,
    up_kbps: u32,
    at: u64,
}

/// Octets that a device has delivered while it carried the same link.
#[derive(Clone, Copy, Debug)]
struct Meter {
    octets: u64,
    since: u64,
}

/// All that estimates are made of.
#[derive(Clone, Debug)]
pub struct Estimates {
    rules: Vec<Rule>,
    /// Share of a radio's rate, percent.
    station_share: u32,
    told: BTreeMap<u32, Told>,
    stations: BTreeMap<u32, Station>,
    meters: BTreeMap<u32, Meter>,
    /// By device and router: the most in kbit/s, and when.
    delivered: BTreeMap<(u32, Option<IpAddr>), (u32, u64)>,
}

impl Estimates {
    /// Knows rules, and nothing else yet.
    pub fn new(rules: Vec<Rule>, station_share: u32) -> Self {
        Self {
            rules,
            station_share,
            told: BTreeMap::new(),
            stations: BTreeMap::new(),
            meters: BTreeMap::new(),
            delivered: BTreeMap::new(),
        }
    }

    /// Takes note. `router`: of the path over the device, if there is one.
    pub fn apply(&mut self, now: u64, event: &Event, router: impl FnOnce(u32) -> Option<Option<IpAddr>>) {
        match *event {
            Event::Station { device, down_kbps, up_kbps } => {
                self.stations.insert(device, Station { down_kbps, up_kbps, at: now });
            }
            Event::Roamed(device) => {
                self.stations.remove(&device);
                self.leave(device);
            }
            Event::DeviceGone(device) => {
                self.told.remove(&device);
                self.stations.remove(&device);
                self.meters.remove(&device);
                self.delivered.retain(|(of, _), _| *of != device);
            }
            Event::Received { device, octets } => {
                let Some(router) = router(device) else { return self.leave(device) };
                let meter = self.meters.entry(device).or_insert(Meter { octets, since: now });
                let time = now.saturating_sub(meter.since);
                if time < LEAST_WINDOW {
                    return;
                }
                let bits = u128::from(octets.saturating_sub(meter.octets)) * 8;
                let kbps = bits * u128::from(SECOND) / u128::from(time) / 1000;
                *meter = Meter { octets, since: now };
                // No device is faster than can be told: a counter has jumped.
                if let Ok(kbps) = u32::try_from(kbps) {
                    self.deliver(now, (device, router), kbps);
                }
            }
            _ => {}
        }
    }

    fn deliver(&mut self, now: u64, link: (u32, Option<IpAddr>), kbps: u32) {
        self.delivered.retain(|_, (_, at)| now.saturating_sub(*at) <= REMEMBERED);
        if kbps == 0 || (self.delivered.len() >= MOST_REMEMBERED && !self.delivered.contains_key(&link)) {
            return;
        }
        let most = self.delivered.entry(link).or_insert((kbps, now));
        if kbps >= most.0 {
            *most = (kbps, now);
        }
    }

    /// The device carries another link from now on, or none: what it receives is counted anew.
    pub fn leave(&mut self, device: u32) {
        self.meters.remove(&device);
    }

    /// Forgets what was told by hand.
    pub fn forget(&mut self, device: u32) {
        self.told.remove(&device);
    }

    /// Somebody tells it.
    pub fn tell(&mut self, device: u32, told: Told) {
        self.told.insert(device, told);
    }

    /// The link over this path; `None`: nothing is known.
    pub fn of(&self, now: u64, device: &Device, path: &Path) -> Option<Estimate> {
        if let Some(told) = self.told.get(&device.index) {
            let Link { rate_kbps, delay_us } = told.link;
            return Some(Estimate { rate_kbps, delay_us, up_kbps: told.up_kbps, source: Source::Told });
        }
        let rule = self.rules.iter().find(|rule| rule.fits(device))?;
        let Link { rate_kbps, delay_us } = rule.link;
        let mut estimate = Estimate { rate_kbps, delay_us, up_kbps: rule.up_kbps, source: Source::Rule };
        let station = self
            .stations
            .get(&device.index)
            .filter(|station| now.saturating_sub(station.at) <= STATION_LASTS);
        if let Some(station) = station {
            let share = |kbps: u32| (u64::from(kbps) * u64::from(self.station_share) / 100).max(1) as u32;
            estimate.rate_kbps = share(station.down_kbps);
            estimate.up_kbps = share(station.up_kbps);
            estimate.source = Source::Station;
        }
        let delivered = self.delivered.get(&(device.index, path.gateway));
        let delivered = delivered.filter(|(_, at)| now.saturating_sub(*at) <= REMEMBERED);
        if let Some((kbps, _)) = delivered.filter(|(kbps, _)| *kbps > estimate.rate_kbps) {
            estimate.rate_kbps = *kbps;
            estimate.source = Source::Delivered;
        }
        Some(estimate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wifi() -> Device {
        Device { index: 3, name: "wlan0".into(), alive: true, carriers: 1, kind: Kind::Wifi }
    }

    fn path(last: u8) -> Path {
        Path { device: 3, gateway: Some([10, 0, 0, last].into()), hardware: None, roams: 0, carriers: 1 }
    }

    fn rule(device: Option<&str>, kind: Option<Kind>, rate_kbps: u32) -> Rule {
        let link = Link { rate_kbps, delay_us: 2000 };
        Rule { device: device.map(str::to_owned), kind, link, up_kbps: rate_kbps / 2 }
    }

    fn said(estimates: &Estimates, now: u64, last: u8) -> Option<(u32, u32, Source)> {
        let estimate = estimates.of(now, &wifi(), &path(last))?;
        Some((estimate.rate_kbps, estimate.up_kbps, estimate.source))
    }

    #[test]
    fn the_first_rule_that_fits_tells() {
        let rules = |rules: &[Rule]| Estimates::new(rules.to_vec(), 60).of(0, &wifi(), &path(1));
        assert_eq!(rules(&[rule(Some("wwan*"), None, 1), rule(None, Some(Kind::Wwan), 2)]), None);
        let found = rules(&[rule(Some("wl*"), None, 3), rule(Some("wlan0"), None, 4)]).expect("a rule");
        assert_eq!((found.rate_kbps, found.delay_us, found.source), (3, 2000, Source::Rule));
        assert_eq!(rules(&[rule(None, Some(Kind::Wifi), 5)]).map(|found| found.rate_kbps), Some(5));
    }

    #[test]
    fn a_rule_whose_device_is_not_there_is_found() {
        let there = || ["lo", "wlan0"].into_iter();
        assert_eq!(rule(Some("wlan1"), None, 1).lacks(there()), Some("wlan1"));
        assert_eq!(rule(Some("wwan*"), None, 1).lacks(there()), Some("wwan*"));
        for fits in [Some("wlan0"), Some("wl*"), Some("*"), None] {
            assert_eq!(rule(fits, Some(Kind::Wwan), 1).lacks(there()), None, "{fits:?}");
        }
    }

    #[test]
    fn a_radio_counts_while_it_is_fresh_and_what_was_told_before_all() {
        let mut estimates = Estimates::new(vec![rule(None, None, 1000)], 60);
        estimates.apply(0, &Event::Station { device: 3, down_kbps: 54_000, up_kbps: 24_000 }, |_| None);
        assert_eq!(said(&estimates, STATION_LASTS, 1), Some((32_400, 14_400, Source::Station)));
        assert_eq!(said(&estimates, STATION_LASTS + 1, 1), Some((1000, 500, Source::Rule)));
        let told = Told { link: Link { rate_kbps: 7, delay_us: 9 }, up_kbps: 8 };
        estimates.tell(3, told);
        assert_eq!(said(&estimates, 0, 1), Some((7, 8, Source::Told)));
        estimates.apply(0, &Event::Roamed(3), |_| None);
        estimates.forget(3);
        assert_eq!(said(&estimates, 0, 1), Some((1000, 500, Source::Rule)));
    }

    #[test]
    fn what_a_link_delivers_is_a_floor_of_that_link_and_is_forgotten() {
        let mut estimates = Estimates::new(vec![rule(None, None, 1000)], 60);
        let mut received = |now, octets| {
            estimates.apply(now, &Event::Received { device: 3, octets }, |_| Some(path(1).gateway));
        };
        received(0, 5000);
        received(SECOND, 5000 + 1_000_000);
        received(2 * SECOND, 5000 + 1_001_000);
        assert_eq!(said(&estimates, 2 * SECOND, 1), Some((8000, 500, Source::Delivered)));
        assert_eq!(said(&estimates, 2 * SECOND, 2), Some((1000, 500, Source::Rule)), "another router");
        assert_eq!(said(&estimates, 2 * REMEMBERED, 1), Some((1000, 500, Source::Rule)));
    }

    #[test]
    fn a_counter_that_begins_anew_delivers_nothing_and_one_that_jumps_neither() {
        let mut estimates = Estimates::new(vec![rule(None, None, 1000)], 60);
        let mut after = |now, octets| {
            estimates.apply(now, &Event::Received { device: 3, octets }, |_| Some(path(1).gateway));
            said(&estimates, now, 1).expect("an estimate")
        };
        let by_rule = (1000, 500, Source::Rule);
        assert_eq!(after(0, u64::MAX), by_rule);
        assert_eq!(after(SECOND, 0), by_rule, "begins anew");
        assert_eq!(after(2 * SECOND, u64::MAX), by_rule, "jumps");
        // 8 Mbit in the second after that.
        assert_eq!(after(3 * SECOND, 0), by_rule, "begins anew");
        assert_eq!(after(4 * SECOND, 1_000_000), (8000, 500, Source::Delivered));
    }
}
