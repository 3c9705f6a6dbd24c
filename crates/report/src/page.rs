//! The page around its content: style, and the script that chooses what is shown.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use segue_draw::palette::HUES;

/// Colours of the pictures, and the look of everything else.
pub fn style_sheet() -> String {
    let spots = HUES.map(|hue| format!(".spot.{}{{background:{}}}\n", hue.name, hue.css())).concat();
    segue_draw::style_sheet() + include_str!("page.css") + &spots
}

/// Chooses between the forms of pictures, again whenever the document hears `segue-shown`; then the cursor, values and
/// zoom of graphs over time.
pub const SCRIPT: &str = concat!(include_str!("page.js"), include_str!("time.js"));

/// The part that every page needs.
const FORMS: &str = include_str!("page.js");
/// The mark of graphs over time, which `time.js` looks for.
const OVER_TIME: &str = "data-plot=";

/// The heads of all pages, but for style and script.
pub fn head(title: &str) -> Markup {
    html! {
        meta charset="utf-8";
        meta name="viewport" content="width=device-width, initial-scale=1";
        meta name="color-scheme" content="light dark";
        title { (title) }
        // Without it a browser asks the server for one.
        link rel="icon" href="data:,";
    }
}

/// Links to the parts of a page: place and words of each.
pub fn contents(parts: &[(String, String)]) -> Markup {
    html! {
        nav.contents aria-label="Contents" {
            ul { @for (place, words) in parts { li { a href=(format!("#{place}")) { (words) } } } }
        }
    }
}

/// A text in which backticks enclose code, or several words that are quoted.
pub fn prose(text: &str) -> Markup {
    prose_with(text, |part| html! { (part) })
}

/// The same; `plain` sets what stands between them.
pub fn prose_with(text: &str, plain: impl Fn(&str) -> Markup) -> Markup {
    html! {
        @for (index, part) in text.split('`').enumerate() {
            @if index % 2 == 0 { (plain(part)) }
            @else if part.contains(' ') { "\u{201c}" (part) "\u{201d}" }
            @else { code { (part) } }
        }
    }
}

/// A line beside a figure: its numbers, and the command that makes it again.
pub fn again(numbers: Option<Markup>, command: &str) -> Markup {
    html! {
        p.again {
            @if let Some(numbers) = numbers { (numbers) " " }
            @if !command.is_empty() { code.command { (command) } }
        }
    }
}

/// A table as CSV: its header, and rows of as many words.
pub fn csv(header: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let header = header.iter().map(|word| word.to_string()).collect();
    // Writing to memory does not fail.
    segue_export::csv_text(std::iter::once(header).chain(rows)).unwrap_or_default()
}

/// A link that saves `text`, which the page itself holds, as a file of that name.
pub fn saved(words: &str, name: &str, kind: &str, text: &str) -> Markup {
    let mut address = format!("data:{kind};charset=utf-8,");
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b',' | b'.' | b'-' | b'_' | b'/' => {
                address.push(byte.into())
            }
            // RFC 3986, 2.1.
            _ => address.push_str(&format!("%{byte:02X}")),
        }
    }
    html! { a href=(address) download=(name) { (words) } }
}

/// Text in which the names of options stay whole at the end of a line.
pub fn with_options(text: &str) -> Markup {
    let pieces = text.split_inclusive(' ').map(|word| {
        let name = word.trim_end().trim_end_matches(['.', ',', ';', ':', ')']);
        let rest = &word[name.len()..];
        match name.starts_with("--") {
            true => html! { span.option { (name) } (rest) },
            false => html! { (word) },
        }
    });
    html! { @for piece in pieces { (piece) } }
}

/// A whole document.
pub fn page(title: &str, content: Markup) -> String {
    let script = if content.0.contains(OVER_TIME) { SCRIPT } else { FORMS };
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                (head(title))
                style { (PreEscaped(style_sheet())) }
            }
            body {
                main { (content) }
                script { (PreEscaped(script)) }
            }
        }
    }
    .into_string()
}

#[cfg(test)]
mod tests {
    #[test]
    fn words_in_backticks_are_code_or_quoted() {
        let page = |text| super::prose(text).into_string();
        assert_eq!(page("Long downloads (`--traffic`)"), "Long downloads (<code>--traffic</code>)");
        assert_eq!(page("`a timer expires`, it says"), "\u{201c}a timer expires\u{201d}, it says");
        assert_eq!(page("a < b"), "a &lt; b");
    }

    #[test]
    fn options_stay_whole() {
        let page = |text| super::with_options(text).into_string();
        assert_eq!(page("one: --stack puts"), "one: <span class=\"option\">--stack</span> puts");
        assert_eq!(
            page("see --every, -- or a"),
            "see <span class=\"option\">--every</span>, <span class=\"option\">--</span> or a"
        );
        assert_eq!(page("a < b"), "a &lt; b");
    }
}
