//! The page: controls on one side, the result and one handoff on the other. `explorer.js` keeps controls, address and
//! pictures in step; nothing is decided there.

use crate::question::{
    BETWEEN, DELAYS, MOST_FLOWS, MOST_IN_A_RUN, MOST_PACKETS, RATES, USUAL_SCHEMES,
    controls as controls_of_stacks, own_links, presets, words_of,
};
use crate::traces::Traces;
use maud::{DOCTYPE, Markup, html};
use segue_handoff::{Entry, Scheme};
use segue_report::looks::named;
use segue_report::{SCRIPT, style_sheet};
use segue_tcp::profile::stack_names;
use segue_world::{Address, Definition, SimulatedKind, SoftWord};

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

/// Traffic to choose from; an address may have other numbers.
const TRAFFIC: [&str; 6] = [
    "download",
    "upload",
    "both",
    "download,page",
    "download,request(14kB,200ms)",
    "download,video(4mbit,30fps)",
];

/// The kinds of handoffs, as [`SimulatedKind`] has them.
const KINDS: [&str; 4] = ["make-before-break", "break-before-make", "soft", "ping-pong"];
/// Times that belong to one kind each: break-before-make, soft, ping-pong.
const TIMES_OF_KINDS: [(&str, &str); 3] =
    [("disconnect", "Disconnection"), ("overlap", "Both links carry for"), ("return", "Back after")];

/// Everything that the page looks like.
pub fn style() -> String {
    style_sheet() + include_str!("explorer.css")
}

/// Everything that the page does.
pub fn script() -> String {
    SCRIPT.to_string() + include_str!("explorer.js")
}

/// The document; the same for every question.
pub fn page(traces: &Traces) -> String {
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
                p #address role="alert" hidden {}
                main {
                    (controls(traces))
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

fn controls(traces: &Traces) -> Markup {
    html! {
        form #question autocomplete="off" aria-label="Question" {
            div.row {
                label for="paper" { "Handoff in the papers" }
                select #paper {
                    option value="" { "none of these" }
                    @for (old, new) in PAPER_HANDOFFS { option value=(format!("{old} {new}")) { (old) " \u{2192} " (new) } }
                }
            }
            (schemes())
            (link("old", "Old link", ["6.4", "9"], traces))
            (link("new", "New link", ["0.2", "300"], traces))
            (more())
            button #swap type="button" { "Swap the links" }
            fieldset {
                legend { "Handoff" }
                div.choices {
                    @for (word, meaning) in words_of::<SimulatedKind>().into_iter().zip(KINDS) {
                        label { input type="radio" name="kind" value=(word) checked[word == SimulatedKind::Mbb.word()]; " " (meaning) }
                    }
                }
                @for (id, name) in TIMES_OF_KINDS {
                    div.quantity hidden[id != "disconnect"] {
                        label for=(id) { (name) ", ms" }
                        input id=(format!("{id}-slider")) type="range" min="0" max="1000" step="5" aria-label=(name) disabled;
                        input id=(id) type="number" min="1" max="60000" step="any" value="1000" disabled required;
                    }
                }
                div.row hidden {
                    label for="soft" { "Each packet" }
                    select #soft {
                        @for (word, meaning) in words_of::<SoftWord>().into_iter().zip(["over both links", "over one, by rates"]) {
                            option value=(word) { (meaning) }
                        }
                    }
                }
                div.row {
                    label for="own-address" { "Address" }
                    select #own-address {
                        @for (word, meaning) in words_of::<Address>().into_iter().zip(["the same", "another: connections end"]) {
                            option value=(word) { (meaning) }
                        }
                    }
                }
                div.quantity {
                    label for="flows" { "Flows" }
                    input #flows-slider type="range" min="1" max=(MOST_FLOWS) step="1" value="1" aria-label="Flows";
                    input #flows type="number" min="1" max=(MOST_FLOWS) step="1" value="1" required;
                }
                div.row {
                    label for="notice" { "Notice" }
                    select #notice {
                        option value="instant 0" { "instant, all senders" }
                        option value="in-band 0" { "in band, on two ACKs" }
                        option value="in-band 1" { "in band, first copy lost" }
                        option value="in-band 2" { "in band, both copies lost" }
                    }
                }
            }
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
                    @for name in stack_names() { option value=(name) { (name) } }
                }
                label for="cc" { "Congestion control" }
                select #cc {
                    option value="" { "the stack's own" }
                    @for control in controls_of_stacks() { option value=(control) { (control) } }
                }
                label for="seed" { "Seed" }
                input #seed type="number" min="0" max=(u32::MAX) step="1" value="1" required;
            }
        }
    }
}

/// A link by preset, or by sliders with a field for exact numbers beside each.
fn link(side: &str, name: &str, [rate, delay]: [&str; 2], traces: &Traces) -> Markup {
    html! {
        fieldset.link data-side=(side) {
            legend { (name) }
            div.row {
                label for=(format!("{side}-preset")) { "Technology" }
                select id=(format!("{side}-preset")) {
                    option value="" { "own numbers" }
                    @for (name, link) in presets() { option value=(name) data-link=(link) { (name) } }
                    @let own = own_links(traces);
                    @if !own.is_empty() {
                        optgroup label="Your own" {
                            @for (name, link) in own { option value=(name) data-link=(link) { (name) } }
                        }
                    }
                    @if !traces.names().is_empty() {
                        optgroup label="Measured" {
                            @for (name, up) in traces.links() {
                                option value=(format!("trace:{name}")) data-up=[up] { (name) }
                            }
                        }
                    }
                }
            }
            (quantity(&format!("{side}-rate"), "Rate, Mbit/s", rate, RATES.map(|rate| rate as f64 / 1e6)))
            (quantity(&format!("{side}-delay"), "One-way delay, ms", delay, DELAYS.map(|delay| delay as f64 / 1e6)))
        }
    }
}

fn quantity(id: &str, name: &str, value: &str, [least, most]: [f64; 2]) -> Markup {
    html! {
        div.quantity {
            label for=(id) { (name) }
            input id=(format!("{id}-slider")) type="range" min="0" max="1000" step="5" aria-label=(name);
            input id=(id) type="number" min=(least) max=(most) step="any" value=(value) required;
        }
    }
}

/// Further choices of links and users, in one panel.
fn more() -> Markup {
    let queues =
        [("", "drop-tail"), ("codel", "CoDel"), ("fq_codel", "FQ-CoDel"), ("pie", "PIE"), ("red", "RED")];
    html! {
        details #more {
            summary { "More: losses, jitter, queues, traffic, series" }
            @for (side, name) in [("old", "Old link"), ("new", "New link")] {
                fieldset data-side=(side) {
                    legend { (name) }
                    div.row {
                        label for=(format!("{side}-up")) { "Uplink, Mbit/s" }
                        input id=(format!("{side}-up")) type="number" min="0.016" max=(RATES[1] / 1_000_000) step="any" placeholder="the same";
                        label for=(format!("{side}-loss")) { "Loss, %" }
                        input id=(format!("{side}-loss")) type="number" min="0" max="99" step="any" placeholder="0";
                        label for=(format!("{side}-jitter")) { "Jitter, ms" }
                        input id=(format!("{side}-jitter")) type="number" min="0" max="1000" step="any" placeholder="0";
                        label for=(format!("{side}-queue")) { "Queue" }
                        select id=(format!("{side}-queue")) {
                            @for (word, name) in queues { option value=(word) { (name) } }
                        }
                        label for=(format!("{side}-words")) { "Other words" }
                        input id=(format!("{side}-words")) type="text" placeholder="arq=10%/8ms" spellcheck="false";
                    }
                }
            }
            fieldset {
                legend { "Users" }
                div.row {
                    label for="traffic" { "Traffic" }
                    select #traffic {
                        option value="" { "long downloads" }
                        @for word in TRAFFIC { option value=(word) { (word) } }
                    }
                    label for="neighbours" { "Neighbours" }
                    input #neighbours type="number" min="1" max="20" step="1" placeholder="none";
                }
            }
            fieldset {
                legend { "Handoffs of a run" }
                div.row {
                    label for="handoffs" { "Handoffs, to and fro" }
                    input #handoffs type="number" min="1" max=(MOST_IN_A_RUN) step="1" value="1" required;
                    label for="every" { "One every, s" }
                    input #every type="number" min=(BETWEEN[0] as f64 / 1e9) max=(BETWEEN[1] / 1_000_000_000) step="any" value="15" required;
                    label for="notice-error" { "Notices err by" }
                    input #notice-error type="text" placeholder="rate=2x,delay=30ms,late=100ms" spellcheck="false";
                }
            }
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
            // Folded: the list is longer than the screen. The summary says what is chosen.
            details #all-schemes {
                summary #chosen-schemes { (USUAL_SCHEMES.replace(',', ", ")) }
                div.choices { (boxes(&whole)) }
                details {
                    summary { "Single algorithms" }
                    div #single-schemes .choices { (boxes(&single)) }
                }
            }
            div.row {
                label for="first" { "Compared with" }
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
