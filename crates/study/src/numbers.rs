//! Numbers as tables show them.

/// Seconds with three or four significant digits; `None` is infinite.
pub fn time(seconds: Option<f64>) -> String {
    match seconds {
        None => "inf".into(),
        Some(s) if s < 9.9995 => format!("{s:.3}"),
        Some(s) if s < 99.995 => format!("{s:.2}"),
        Some(s) => format!("{s:.1}"),
    }
}

/// A mean count.
pub fn count(mean: f64) -> String {
    if mean == 0.0 {
        "0".into()
    } else if mean < 99.95 {
        format!("{mean:.2}")
    } else {
        format!("{mean:.0}")
    }
}

/// A ratio; `None` is infinite.
pub fn ratio(value: Option<f64>) -> String {
    value.map_or("inf".to_string(), |v| format!("{v:.2}"))
}

/// Bytes in kB; a dash where there are none to tell of.
pub fn kilobytes(bytes: Option<f64>) -> String {
    bytes.map_or("-".to_string(), |bytes| match bytes / 1000.0 {
        kilo if kilo < 99.95 => format!("{kilo:.1}"),
        kilo => format!("{kilo:.0}"),
    })
}

/// A window in packets, at most two decimals. An ssthresh from half of all values on limits nothing.
pub fn packets(window: u32) -> String {
    if window > u32::MAX / 2 {
        return "no limit".into();
    }
    let text = format!("{:.2}", f64::from(window) / 256.0);
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_columns() {
        assert_eq!(
            [time(Some(0.05)), time(Some(9.9999)), time(Some(123.456)), time(None)],
            ["0.050", "10.00", "123.5", "inf"]
        );
        assert_eq!([count(0.0), count(0.005), count(1234.5)], ["0", "0.01", "1234"]);
        assert_eq!([ratio(Some(1.005)), ratio(None)], ["1.00", "inf"]);
        assert_eq!([0, 128, 2560, 1 << 30].map(packets), ["0", "0.5", "10", "4194304"]);
        assert_eq!([1 << 31, u32::MAX].map(packets), ["no limit"; 2]);
        let bytes = [Some(0.0), Some(1448.0), Some(99_950.0), None].map(kilobytes);
        assert_eq!(bytes, ["0.0", "1.4", "100", "-"]);
    }
}
