//! Rates, times and numbers of packets as users write them: `6400kbit`, `9ms`, `100p`. No signs, no exponents, no spaces;
//! units in upper or lower case.

/// The form of a rate, for messages.
pub const RATE: &str = "a number with unit bit, kbit, mbit or gbit";
/// The form of a time, for messages.
pub const TIME: &str = "a number with unit ns, us, ms or s";
/// The form of a share, for messages.
pub const SHARE: &str = "a percentage such as 0.5%";

/// Nanoseconds in a second.
const SECOND: u64 = 1_000_000_000;

/// A rate such as `6400kbit`, in bit/s; `None` if it is none.
pub fn rate(word: &str) -> Option<u64> {
    with_unit(word, &[("bit", 1), ("kbit", 1_000), ("mbit", 1_000_000), ("gbit", 1_000_000_000)])
}

/// A time such as `9ms` or `0.1s`, in ns; `None` if it is none.
pub fn time(word: &str) -> Option<u64> {
    with_unit(word, &[("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", SECOND)])
}

/// A time that a setting has: a [`time`], or `0`, which needs no unit.
pub fn setting_time(word: &str) -> Option<u64> {
    if word == "0" { Some(0) } else { time(word) }
}

/// Whether a time is above 0 and below the resolution of 1 ns, so that [`time`] would take it for 0.
pub fn is_below_resolution(word: &str) -> bool {
    time(word) == Some(0) && word.contains(|letter: char| matches!(letter, '1'..='9'))
}

/// A number of packets such as `100p` or `100`; `None` if it is none.
pub fn packets(word: &str) -> Option<u32> {
    let digits = word.strip_suffix(['p', 'P']).unwrap_or(word);
    digits.bytes().all(|octet| octet.is_ascii_digit()).then(|| digits.parse().ok())?
}

/// A share such as `0.5%`, in parts per million, at most all; `None` if it is none.
pub fn share(word: &str) -> Option<u32> {
    let share = decimal(word.strip_suffix('%')?, 10_000)?;
    u32::try_from(share).ok().filter(|share| *share <= 1_000_000)
}

/// A size such as `64kB`, in bytes of 1000 to the kB; `None` if it is none.
pub fn size(word: &str) -> Option<u64> {
    with_unit(word, &[("b", 1), ("kb", 1_000), ("mb", 1_000_000), ("gb", 1_000_000_000)])
}

/// A decimal number as an integer multiple of 1/`scale`; `None` if it is none or too large.
pub fn decimal(word: &str, scale: u64) -> Option<u64> {
    if !word.bytes().all(|octet| octet.is_ascii_digit() || octet == b'.') {
        return None;
    }
    let scaled = word.parse::<f64>().ok()? * scale as f64;
    (scaled < 9e18).then(|| scaled.round() as u64)
}

/// A number followed by one of `units`, in the smallest of them.
fn with_unit(word: &str, units: &[(&str, u64)]) -> Option<u64> {
    let (number, unit) = word.split_at(word.find(|letter: char| letter.is_ascii_alphabetic())?);
    let (_, scale) = units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit))?;
    decimal(number, *scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates() {
        for (word, bits) in [
            ("6400kbit", 6_400_000),
            ("54Mbit", 54_000_000),
            ("1.5mbit", 1_500_000),
            ("100gbit", 100_000_000_000),
            ("7bit", 7),
            ("0kbit", 0),
        ] {
            assert_eq!(rate(word), Some(bits), "{word}");
        }
        let bad = [
            "",
            "2",
            "mbit",
            "-1mbit",
            "+1mbit",
            "1e3mbit",
            "2 mbit",
            "infmbit",
            "2mbits",
            "1.2.3mbit",
            ".mbit",
        ];
        for word in bad.into_iter().chain(["9999999999gbit", "2ms", "２mbit"]) {
            assert_eq!(rate(word), None, "{word}");
        }
    }

    #[test]
    fn times_of_settings() {
        assert_eq!(setting_time("0"), Some(0));
        assert_eq!(setting_time("9ms"), time("9ms"));
        assert_eq!((setting_time("9"), time("0")), (None, None));
    }

    #[test]
    fn times() {
        for (word, ns) in [
            ("9ms", 9_000_000),
            ("0.1s", 100_000_000),
            ("1s", SECOND),
            ("20us", 20_000),
            ("3ns", 3),
            ("0s", 0),
        ] {
            assert_eq!(time(word), Some(ns), "{word}");
        }
        for (word, below) in
            [("0.0001us", true), ("0.4ns", true), ("0.5ns", false), ("0.000s", false), ("1", false)]
        {
            assert_eq!(is_below_resolution(word), below, "{word}");
        }
        for word in ["", "50", "-1ms", "1h", "NaNs", "1 s", "1.5e3s", "s", "2mbit", "99999999999s"] {
            assert_eq!(time(word), None, "{word}");
        }
    }

    #[test]
    fn shares_and_sizes() {
        for (word, parts) in
            [("0.5%", Some(5_000)), ("100%", Some(1_000_000)), ("0%", Some(0)), ("0.0503%", Some(503))]
        {
            assert_eq!(share(word), parts, "{word}");
        }
        for word in ["", "%", "5", "-1%", "101%", "1 %", "0.5", "NaN%"] {
            assert_eq!(share(word), None, "{word}");
        }
        assert_eq!((size("64kB"), size("1.5MB"), size("3000B")), (Some(64_000), Some(1_500_000), Some(3000)));
        assert_eq!((size("64"), size("-1kB"), size("64kbit")), (None, None, None));
    }

    #[test]
    fn packet_counts() {
        assert_eq!((packets("100p"), packets("100"), packets("0p")), (Some(100), Some(100), Some(0)));
        for word in ["", "p", "-1p", "+1", "1.5p", "4294967296", "100pp", "100 p"] {
            assert_eq!(packets(word), None, "{word}");
        }
    }
}
