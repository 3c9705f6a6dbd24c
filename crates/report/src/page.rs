//! The page around its content: style, and the script that chooses what is shown.

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// A whole document.
pub fn page(title: &str, content: Markup) -> String {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                // Without it a browser asks the server for one.
                link rel="icon" href="data:,";
                style { (PreEscaped(segue_draw::style_sheet())) (PreEscaped(include_str!("page.css"))) }
            }
            body {
                main { (content) }
                script { (PreEscaped(include_str!("page.js"))) }
            }
        }
    }
    .into_string()
}
