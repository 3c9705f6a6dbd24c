//! Rates and times as users write them: `2mbit`, `50ms`.

/// A rate in kbit/s, 1 kbit/s to 100 Gbit/s.
pub fn rate_kbps(word: &str) -> Result<u32, String> {
    let expected = || format!("`{word}` is no rate; expected one such as 2mbit, 1kbit to 100gbit");
    let bits = with_unit(word, &[("kbit", 1e3), ("mbit", 1e6), ("gbit", 1e9)]).ok_or_else(expected)?;
    if (1e3..=1e11).contains(&bits) { Ok((bits / 1e3).round() as u32) } else { Err(expected()) }
}

/// A time in microseconds, up to 1 h.
pub fn time_us(word: &str) -> Result<u32, String> {
    let expected = || format!("`{word}` is no time; expected one such as 50ms, up to 3600s");
    let micros = with_unit(word, &[("us", 1.0), ("ms", 1e3), ("s", 1e6)]).ok_or_else(expected)?;
    if (0.0..=3.6e9).contains(&micros) { Ok(micros.round() as u32) } else { Err(expected()) }
}

fn with_unit(word: &str, units: &[(&str, f64)]) -> Option<f64> {
    let split = word.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = word.split_at(split);
    // No signs, no exponents, no names of numbers.
    if !number.bytes().all(|octet| octet.is_ascii_digit() || octet == b'.') {
        return None;
    }
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    Some(number.parse::<f64>().ok()? * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        assert_eq!(
            (rate_kbps("2mbit"), rate_kbps("1.5mbit"), rate_kbps("100gbit")),
            (Ok(2000), Ok(1500), Ok(100_000_000))
        );
        assert_eq!((time_us("50ms"), time_us("0.1ms"), time_us("0s")), (Ok(50_000), Ok(100), Ok(0)));
        for word in ["", "2", "mbit", "0mbit", "-1mbit", "1e3mbit", "2Mbit", "101gbit", "2 mbit", "infmbit"] {
            let said = rate_kbps(word).expect_err(word);
            assert!(said.contains(&format!("`{word}` is no rate; expected")), "{said}");
        }
        for word in ["50", "-1ms", "3601s", "1h", "NaNs"] {
            assert!(time_us(word).is_err(), "{word}");
        }
    }
}
