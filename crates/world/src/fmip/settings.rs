//! Settings of a download: what the paper leaves open (algorithms.md, 9.24 to 9.28).

use super::download::Download;
use crate::access::parse_rate;
use segue_netsim::gamma::LARGEST_SHAPE;
use segue_netsim::{Nanos, SECOND};
use segue_words::quantity;

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DownloadSetting {
    /// Key.
    pub name: &'static str,
    /// Values it takes.
    pub values: &'static str,
    /// Value unless set.
    pub default: &'static str,
    /// One line.
    pub meaning: &'static str,
}

const TIME: &str = "a time up to 100s";

/// All of them.
pub const DOWNLOAD_SETTINGS: &[DownloadSetting] = &[
    setting("fmip-hint", TIME, "5s", "when the L2 hint comes"),
    setting("fmip-lead", TIME, "100ms", "how long after the hint the old link lasts at most"),
    setting(
        "fmip-core-delay",
        TIME,
        "75ms",
        "mean one-way delay of each of the links CN - R and R - HA (9.27)",
    ),
    setting("fmip-edge-delay", TIME, "5ms", "mean one-way delay between HA and the access routers (9.27)"),
    setting("fmip-tunnel-delay", TIME, "5ms", "mean one-way delay between PAR and NAR (9.27, 9.28)"),
    setting(
        "fmip-delay-shape",
        "1 to 300",
        "100",
        "Gamma shape of wired delays: (mean / standard deviation)^2 (9.27)",
    ),
    setting("fmip-access-delay", TIME, "5ms", "one-way delay of the wireless links c and d (9.27)"),
    setting(
        "fmip-wireless-rate",
        "a rate such as 24mbit",
        "24mbit",
        "effective rate of 802.11g at 54 Mbit/s",
    ),
    setting(
        "fmip-configuration",
        TIME,
        "1s",
        "time to configure an address where PAR has told nothing (RFC 4862)",
    ),
    setting(
        "fmip-room-in-flight",
        "on or off",
        "off",
        "on: NAR has room for what was under way at HO Start beside the buffer that it grants (9.26)",
    ),
];

const fn setting(
    name: &'static str,
    values: &'static str,
    default: &'static str,
    meaning: &'static str,
) -> DownloadSetting {
    DownloadSetting { name, values, default, meaning }
}

impl Download {
    /// Changes a setting; `None` if there is none of that name, else the error says what was expected.
    pub fn set(&mut self, key: &str, value: &str) -> Option<Result<(), &'static str>> {
        let setting = DOWNLOAD_SETTINGS.iter().find(|setting| setting.name == key)?;
        let time = || quantity::setting_time(value).filter(|&time| time <= 100 * SECOND);
        let put = |place: &mut Nanos| time().map(|time| *place = time);
        let set = match key {
            "fmip-hint" => time().map(|time| self.hint = Some(time)),
            "fmip-lead" => put(&mut self.lead),
            "fmip-core-delay" => time().map(|time| self.core = [time; 2]),
            "fmip-edge-delay" => put(&mut self.edge),
            "fmip-tunnel-delay" => put(&mut self.tunnel),
            "fmip-access-delay" => time().map(|time| self.access = [time; 2]),
            "fmip-configuration" => put(&mut self.configuration),
            "fmip-wireless-rate" => parse_rate(value).map(|rate| self.wireless_rate = rate),
            "fmip-room-in-flight" => {
                let on = ["off", "on"].iter().position(|&word| word == value);
                on.map(|on| self.room_in_flight = on == 1)
            }
            _ => {
                let shape = value.parse().ok().filter(|shape| (1..=LARGEST_SHAPE).contains(shape));
                shape.map(|shape| self.shape = shape)
            }
        };
        Some(set.ok_or(setting.values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use segue_tcp::profile::INET_RENO;

    #[test]
    fn the_defaults_shown_are_the_defaults() {
        for setting in DOWNLOAD_SETTINGS {
            let mut download = Download::new(INET_RENO);
            let before = format!("{download:?}");
            assert_eq!(download.set(setting.name, setting.default), Some(Ok(())), "{}", setting.name);
            assert_eq!(format!("{download:?}"), before, "{}", setting.name);
            assert_eq!(download.set(setting.name, "much"), Some(Err(setting.values)), "{}", setting.name);
        }
        assert_eq!(Download::new(INET_RENO).set("fmip-hints", "5s"), None);
    }
}
