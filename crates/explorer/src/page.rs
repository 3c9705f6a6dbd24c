//! The page: controls on one side, the result and one handoff on the other. `explorer.js` keeps controls, address and
//! pictures in step; nothing is decided there.

use crate::question::{
    BETWEEN, DELAYS, MOST_FLOWS, MOST_IN_A_RUN, MOST_NEIGHBOURS, MOST_PACKETS, RATES, USUAL_DRAWN,
    USUAL_SCHEMES, controls as controls_of_stacks, own_links, presets, words_of,
};
use crate::traces::Traces;
use maud::{DOCTYPE, Markup, html};
use segue_handoff::{Entry, Scheme};
use segue_report::looks::named;
use segue_report::{SCRIPT, style_sheet};
use segue_tcp::profile::stack_names;
use segue_world::access::{JitterShape, Loss};
use segue_world::{AccessLink, Address, Definition, SimulatedKind, SoftWord};

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
                    (option("", None, None, &Usual::of_own_numbers(), "own numbers"))
                    @for (name, link) in presets() {
                        (option(name, Some(link), None, &Usual::of_preset(name, traces), name))
                    }
                    @let own = own_links(traces);
                    @if !own.is_empty() {
                        optgroup label="Your own" {
                            @for (name, link) in own {
                                (option(&name, Some(&link), None, &Usual::of_preset(&name, traces), &name))
                            }
                        }
                    }
                    @if !traces.names().is_empty() {
                        optgroup label="Measured" {
                            @for (name, up) in traces.links() {
                                @let usual = Usual::of_trace(up.as_deref());
                                (option(&format!("trace:{name}"), None, up.as_deref(), &usual, name))
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

/// A link to choose, and what it has where the panel "More" has nothing; `up` is the uplink of a trace.
fn option(value: &str, link: Option<&str>, up: Option<&str>, usual: &Usual, name: &str) -> Markup {
    html! {
        option value=(value) data-link=[link] data-up=[up] data-usual-up=(usual.up) data-usual-loss=(usual.loss)
            data-usual-jitter=(usual.jitter) data-usual-queue=(usual.queue) { (name) }
    }
}

/// A link's own parameters, in the units of the panel "More": they hold where its fields are empty.
#[derive(Debug, PartialEq, Eq)]
struct Usual {
    up: String,
    loss: String,
    jitter: String,
    queue: String,
}

impl Usual {
    fn of_own_numbers() -> Self {
        let [up, loss, jitter, queue] = ["the same", "0", "0", QUEUES[0].1].map(String::from);
        Self { up, loss, jitter, queue }
    }

    fn of_trace(up: Option<&str>) -> Self {
        let usual = Self::of_own_numbers();
        Self { up: up.map_or(usual.up, String::from), ..usual }
    }

    /// The parameters of a preset, or of a link that the user has named. A field has one value for both directions: here
    /// it is the one towards the mobile.
    fn of_preset(name: &str, traces: &Traces) -> Self {
        let none = Self::of_own_numbers();
        // Only links that can be read are offered.
        let Ok(link) = AccessLink::parse_in(name, traces.folder(), traces.own()) else { return none };
        let [down, _] = link.features;
        let (rate, up) = (link.down.mean_rate(), link.up.mean_rate());
        Self {
            up: if up == rate { none.up } else { (up as f64 / 1e6).to_string() },
            loss: match down.loss {
                None => none.loss,
                Some(Loss::Random(share)) => percent(f64::from(share) / 1e6),
                Some(Loss::GilbertElliott(channel) | Loss::Timed(channel, _)) => {
                    format!("{} in bursts", percent(channel.mean_loss()))
                }
            },
            jitter: match down.jitter {
                None => none.jitter,
                Some((JitterShape::Normal, size)) => (size as f64 / 1e6).to_string(),
                Some((JitterShape::Pareto, size)) => format!("{} (pareto)", size as f64 / 1e6),
            },
            queue: format!("{} (the preset's)", queue_name(down.queue.word())),
        }
    }
}

/// Queues that can be chosen, by their words, and their names.
const QUEUES: [(&str, &str); 5] =
    [("", "drop-tail"), ("codel", "CoDel"), ("fq_codel", "FQ-CoDel"), ("pie", "PIE"), ("red", "RED")];

/// The name of a queue; the first one has no word of its own here.
fn queue_name(word: &str) -> &'static str {
    QUEUES.iter().find(|(own, _)| *own == word).unwrap_or(&QUEUES[0]).1
}

/// A share in per cent, to a hundredth.
fn percent(share: f64) -> String {
    ((share * 10_000.0).round() / 100.0).to_string()
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
                            @for (word, name) in QUEUES { option value=(word) { (name) } }
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
                    input #neighbours type="number" min="1" max=(MOST_NEIGHBOURS) step="1" placeholder="none";
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
    let usual = USUAL_DRAWN.trim_end_matches('s');
    html! {
        div.quantity.time {
            label for="at" { "Handoff time T, s" }
            input #at-slider type="range" min="0.1" max="20" step="0.1" value=(usual) aria-label="Handoff time";
            input #at type="number" min="0.1" max="60" step="any" value=(usual) form="question" required;
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

#[cfg(test)]
mod tests {
    use super::*;
    use segue_world::access::LinkNames;

    /// The presets' own words: docs/reference/links.md. 0.15 % / (0.15 % + 30 %) of a time is bad.
    #[test]
    fn a_preset_tells_what_holds_where_nothing_is_written() {
        let own = ("car".to_string(), "leo,loss=0.25%,queue=pie,up=2500kbit".to_string());
        let traces = Traces::none().with(LinkNames::of(vec![own]).expect("a name"));
        let page = page(&traces);
        for (name, up, loss, jitter, queue) in [
            ("", "the same", "0", "0", "drop-tail"),
            ("wlan", "the same", "0", "0", "drop-tail (the preset's)"),
            ("wifi6", "the same", "0", "2 (pareto)", "FQ-CoDel (the preset's)"),
            ("leo", "15", "0.5 in bursts", "4", "drop-tail (the preset's)"),
            ("geo", "3", "0.05", "10", "drop-tail (the preset's)"),
            ("fibre", "250", "0", "0.3", "FQ-CoDel (the preset's)"),
            ("car", "2.5", "0.25", "4", "PIE (the preset's)"),
        ] {
            let begin = format!("<option value=\"{name}\"");
            let options =
                page.split(&begin).skip(1).filter_map(|rest| rest.split_once('>').map(|(tag, _)| tag));
            let options: Vec<&str> = options.filter(|tag| tag.contains("data-usual-")).collect();
            assert_eq!(options.len(), 2, "{name}: one of each link");
            let told = format!(
                "data-usual-up=\"{up}\" data-usual-loss=\"{loss}\" data-usual-jitter=\"{jitter}\" data-usual-queue=\"{queue}\""
            );
            for option in options {
                assert!(option.ends_with(&told), "{name}: {option}");
            }
        }
    }

    #[test]
    fn a_trace_tells_its_uplink() {
        assert_eq!(Usual::of_trace(None), Usual::of_own_numbers());
        assert_eq!(Usual::of_trace(Some("a.up")).up, "a.up");
    }
}
