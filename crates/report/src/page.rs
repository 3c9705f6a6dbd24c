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

/// A whole document.
pub fn page(title: &str, content: Markup) -> String {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                (head(title))
                style { (PreEscaped(style_sheet())) }
            }
            body {
                main { (content) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
    .into_string()
}
