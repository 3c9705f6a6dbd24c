//! Text without fonts: estimated widths, line breaks, escapes. Which font a reader has is unknown, so the
//! estimate is on the wide side of common sans-serif fonts.

/// Estimated width of `text` in px.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(character).sum::<f64>() * size
}

/// Width of a character in ems.
fn character(character: char) -> f64 {
    match character {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' | '\u{a0}' => 0.31,
        'f' | 't' | 'r' | 'I' | '(' | ')' | '[' | ']' | '/' | '-' | '"' => 0.42,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.92,
        'A'..='Z' | '&' => 0.71,
        '0'..='9' => 0.6,
        ' '..='~' => 0.59,
        '\u{a0}'..='\u{24f}' => 0.65,
        _ => 1.05,
    }
}

/// `text` as it is if it is at most `limit` px wide, else cut, with an ellipsis.
pub(crate) fn shorten(text: &str, size: f64, limit: f64) -> String {
    if width(text, size) <= limit {
        return text.to_string();
    }
    let mut used = character('…') * size;
    let mut short = String::new();
    for next in text.chars() {
        used += character(next) * size;
        if used > limit {
            break;
        }
        short.push(next);
    }
    if short.is_empty() { short } else { short.trim_end().to_string() + "…" }
}

/// Lines of at most `limit` px, broken at spaces, but not at no-break spaces and not before an arrow;
/// `None` if a word is wider.
pub(crate) fn wrap(text: &str, size: f64, limit: f64) -> Option<Vec<String>> {
    let mut lines: Vec<String> = Vec::new();
    let glued = text.replace(" →", "\u{a0}→").replace(" ->", "\u{a0}->");
    for word in glued.split(' ').filter(|word| !word.is_empty()) {
        if width(word, size) > limit {
            return None;
        }
        match lines.last_mut() {
            Some(line) if width(line, size) + width(" ", size) + width(word, size) <= limit => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    Some(lines)
}

/// As many lines as [`wrap`] makes of it, as equally long as can be.
pub(crate) fn wrap_evenly(text: &str, size: f64, limit: f64) -> Option<Vec<String>> {
    let mut best = wrap(text, size, limit)?;
    let count = best.len();
    let mut narrower = limit;
    while narrower > size {
        narrower -= size / 2.0;
        match wrap(text, size, narrower) {
            Some(lines) if lines.len() == count => best = lines,
            _ => break,
        }
    }
    Some(best)
}

/// `text` for XML content and attributes. Characters that XML 1.0 forbids become a replacement character.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for next in text.chars() {
        match next {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push(' '),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(next),
        }
    }
    out
}

/// A number as people write it: up to four significant digits, `inf` for what never ends.
pub(crate) fn number(value: f64) -> String {
    if value.is_nan() {
        return "?".to_string();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf".to_string() } else { "-inf".to_string() };
    }
    let size = value.abs();
    if size >= 1e6 || (size > 0.0 && size < 1e-3) {
        return format!("{value:.2e}");
    }
    let decimals = match size {
        0.0 => 0,
        _ if size < 10.0 => 3,
        _ if size < 100.0 => 2,
        _ if size < 1000.0 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}
