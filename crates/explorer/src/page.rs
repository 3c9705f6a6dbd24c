//! The page: controls on one side, the result and one handoff on the other. `explorer.js` keeps controls, address and
//! pictures in step; nothing is decided there.

use crate::question::{DELAYS, MOST_FLOWS, MOST_PACKETS, RATES, USUAL_SCHEMES, words_of};
use maud::{DOCTYPE, Markup, html};
use segue_handoff::{Entry, Scheme};
use segue_report::looks::named;
use segue_report::{SCRIPT, style_sheet};
use segue_tcp::profile::stacks;
use segue_world::access::PRESETS;
use segue_world::{Definition, SimulatedKind};

/// Handoffs of the papers that Segue reproduces: old link and new link (papers/daniel-kojo-*.toml).
const PAPER_HANDOFFS: [(&str, &str); 8] = [
    ("6400kbit/9ms", "200kbit/300ms"),
    ("200kbit/300ms", "6400kbit/9ms"),
    ("54mbit/2ms", "2000kbit/50ms"),
    ("2000kbit/50ms", "54mbit/2ms"),
    ("11000kbit/10ms", "700kbit/75ms"),
    ("700kbit/75ms", "11000kbit/10ms"),
    ("54mbit/4ms", "6000kbit/50ms"),
    ("6000kbit/50ms", "54mbit/4ms"),
];

/// Everything that the page looks like.
pub fn style() -> String {
    style_sheet() + include_str!("explorer.css")
}

/// Everything that the page does.
pub fn script() -> String {
    SCRIPT.to_string() + include_str!("explorer.js")
}

/// The document; the same for every question.
pub fn page() -> String {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                (segue_report::head("Segue: explorer"))
                link rel="stylesheet" href="explorer.css";
                script src="explorer.js" defer {}
            }
            body.explorer {
                a.skip href="#result" { "Skip to the result" }
                header { h1 { "Segue" } p.lead { "A change of the access link, and what it does to TCP." } }
                main {
                    (controls())
                    section #comparison aria-labelledby="result-heading" {
                        h2 #result-heading tabindex="-1" { "Result" }
                        p #headline .lead {}
                        p #said role="status" aria-live="polite" { noscript { "This page needs JavaScript." } }
                        p #problem role="alert" hidden {}
                        (takeaways())
                        div #result {}
                    }
                    section #single aria-labelledby="handoff-heading" {
                        h2 #handoff-heading { "One handoff" }
                        (handoff_time())
                        p #handoff-said .spoken role="status" aria-live="polite" {}
                        p #handoff-problem role="alert" hidden {}
                        div #captures .buttons {}
                        div #handoff {}
                    }
                }
                (dialog())
            }
        }
    }
    .into_string()
}

fn controls() -> Markup {
    html! {
        form #question autocomplete="off" aria-label="Question" {
            div.row {
                label for="paper" { "Papers" }
                select #paper {
                    option value="" { "their handoffs" }
                    @for (old, new) in PAPER_HANDOFFS { option value=(format!("{old} {new}")) { (old) " \u{2192} " (new) } }
                }
            }
            (link("old", "Old link", "6400", "9"))
            (link("new", "New link", "200", "300"))
            button #swap type="button" { "Swap the links" }
            fieldset {
                legend { "Handoff" }
                div.choices {
                    @for (word, meaning) in words_of::<SimulatedKind>().into_iter().zip(["make-before-break", "break-before-make"]) {
                        label { input type="radio" name="kind" value=(word) checked[word == SimulatedKind::Mbb.word()]; " " (meaning) }
                    }
                }
                div.quantity {
                    label for="disconnect" { "Disconnection, ms" }
                    input #disconnect-slider type="range" min="0" max="1000" step="5" aria-label="Disconnection" disabled;
                    input #disconnect type="number" min="1" max="60000" step="any" value="1000" disabled required;
                }
                div.quantity {
                    label for="flows" { "Flows" }
                    input #flows-slider type="range" min="1" max=(MOST_FLOWS) step="1" value="1" aria-label="Flows";
                    input #flows type="number" min="1" max=(MOST_FLOWS) step="1" value="1" required;
                }
                div.row {
                    label for="notice" { "Notice" }
                    select #notice {
                        option value="instant 0" { "instant, to every sender" }
                        option value="in-band 0" { "in band, on two ACKs" }
                        option value="in-band 1" { "in band, first copy lost" }
                        option value="in-band 2" { "in band, both copies lost" }
                    }
                }
            }
            (schemes())
            details {
                summary { "Transfer and TCP" }
                label for="packets" { "Packets of a transfer" }
                input #packets type="number" min="1" max=(MOST_PACKETS) step="1" value="100" required;
                label for="definition" { "Counted from" }
                select #definition {
                    @for (word, meaning) in words_of::<Definition>().into_iter().zip(["the highest packet sent", "the cumulative ACK"]) {
                        option value=(word) { (meaning) }
                    }
                }
                label for="stack" { "TCP" }
                select #stack {
                    option value="" { "each scheme's own" }
                    @for profile in stacks() { option value=(profile.name) { (profile.name) } }
                }
                label for="seed" { "Seed" }
                input #seed type="number" min="0" max=(u32::MAX) step="1" value="1" required;
            }
        }
    }
}

/// A link by preset, or by sliders with a field for exact numbers beside each.
fn link(side: &str, name: &str, rate: &str, delay: &str) -> Markup {
    html! {
        fieldset.link data-side=(side) {
            legend { (name) }
            div.row {
                label for=(format!("{side}-preset")) { "Technology" }
                select id=(format!("{side}-preset")) {
                    option value="" { "own numbers" }
                    @for (name, link) in PRESETS { option value=(name) data-link=(link) { (name.to_uppercase()) " " (link) } }
                }
            }
            (quantity(&format!("{side}-rate"), "Rate, kbit/s", rate, RATES.map(|rate| rate / 1_000)))
            (quantity(&format!("{side}-delay"), "One-way delay, ms", delay, DELAYS.map(|delay| delay / 1_000_000)))
        }
    }
}

fn quantity(id: &str, name: &str, value: &str, [least, most]: [u64; 2]) -> Markup {
    html! {
        div.quantity {
            label for=(id) { (name) }
            input id=(format!("{id}-slider")) type="range" min="0" max="1000" step="5" aria-label=(name);
            input id=(id) type="number" min=(least) max=(most) step="any" value=(value) required;
        }
    }
}

/// Check boxes by family, single algorithms folded.
fn schemes() -> Markup {
    let entries = Scheme::entries();
    let (single, whole): (Vec<Entry>, Vec<Entry>) =
        entries.into_iter().partition(|entry| entry.name.contains(':'));
    let usual = |name: &str| USUAL_SCHEMES.split(',').any(|usual| usual == name);
    let boxes = |entries: &[Entry]| {
        html! {
            @for entry in entries {
                label title=(format!("{}; stack {}", entry.summary, entry.stack)) {
                    input type="checkbox" name="scheme" value=(entry.name) checked[usual(entry.name)]; " " (named(entry.name))
                }
            }
        }
    };
    html! {
        fieldset #schemes {
            legend { "Schemes" }
            div.choices { (boxes(&whole)) }
            details {
                summary { "Single algorithms" }
                div #single-schemes .choices { (boxes(&single)) }
            }
            div.row {
                label for="first" { "Held against" }
                select #first {}
            }
        }
    }
}

/// Buttons that give the result in other forms.
fn takeaways() -> Markup {
    html! {
        div.buttons {
            button #show-command type="button" data-shows="command" { "Command line" }
            button #show-toml type="button" data-shows="toml" { "Scenario file (TOML)" }
        }
    }
}

fn handoff_time() -> Markup {
    html! {
        div.quantity.time {
            label for="at" { "Handoff time T, s" }
            input #at-slider type="range" min="0.1" max="20" step="0.1" value="8.2" aria-label="Handoff time";
            input #at type="number" min="0.1" max="60" step="any" value="8.2" form="question" required;
        }
        div #typical .buttons role="group" aria-label="Typical handoffs" {}
    }
}

/// Where words to take away are shown.
fn dialog() -> Markup {
    html! {
        dialog #words aria-labelledby="words-heading" {
            h2 #words-heading {}
            pre { code #words-text tabindex="0" {} }
            div.buttons {
                button #copy type="button" { "Copy" }
                button #close-words type="button" { "Close" }
                span #copied role="status" aria-live="polite" {}
            }
        }
    }
}
