//! Rates and times as users write them, within the agent's ranges: `2mbit`, `50ms`.

use segue_words::quantity;

/// The fastest link, kbit/s.
pub const MOST_KBPS: u32 = 100_000_000;
/// The longest delay, us.
pub const MOST_US: u32 = 3_600_000_000;

/// A rate in kbit/s, 1 kbit/s to 100 Gbit/s.
pub fn rate_kbps(word: &str) -> Result<u32, String> {
    let bits = quantity::rate(word).filter(|bits| (1_000..=u64::from(MOST_KBPS) * 1_000).contains(bits));
    let kbps = bits.and_then(|bits| u32::try_from((bits + 500) / 1_000).ok());
    kbps.ok_or_else(|| format!("`{word}` is not a rate; expected one such as 2mbit, 1kbit to 100gbit"))
}

/// A time in microseconds, up to 1 h.
pub fn time_us(word: &str) -> Result<u32, String> {
    let ns = quantity::time(word).filter(|ns| *ns <= u64::from(MOST_US) * 1_000);
    let us = ns.and_then(|ns| u32::try_from((ns + 500) / 1_000).ok());
    us.ok_or_else(|| format!("`{word}` is not a time; expected one such as 50ms, up to 3600s"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        assert_eq!(
            (rate_kbps("2mbit"), rate_kbps("1.5Mbit"), rate_kbps("100gbit"), rate_kbps("1499bit")),
            (Ok(2000), Ok(1500), Ok(100_000_000), Ok(1))
        );
        assert_eq!((time_us("50ms"), time_us("0.1ms"), time_us("0s")), (Ok(50_000), Ok(100), Ok(0)));
        assert_eq!((time_us("3600s"), time_us("1.5us")), (Ok(3_600_000_000), Ok(2)));
        for word in ["", "2", "mbit", "0mbit", "-1mbit", "1e3mbit", "999bit", "101gbit", "2 mbit", "infmbit"]
        {
            let said = rate_kbps(word).expect_err(word);
            assert!(said.contains(&format!("`{word}` is not a rate; expected")), "{said}");
        }
        for word in ["50", "-1ms", "3601s", "1h", "NaNs"] {
            assert!(time_us(word).is_err(), "{word}");
        }
    }
}
