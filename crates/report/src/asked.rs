//! The question of a page: links, handoff, schemes and settings in a list.

use crate::Origin;
use maud::{Markup, html};
use segue_study::Plan;
use segue_study::planned::PlannedScheme;
use segue_world::access::{AccessLink, Capacity, LinkDelay, QueueWord};
use segue_world::{Address, Definition, Kind, Nanos, Neighbours, NoticeMode, SECOND};

fn seconds(time: Nanos) -> String {
    format!("{} s", time as f64 / SECOND as f64)
}

/// A rate in bit/s, in the unit that a reader expects of it.
fn rate(bits: u64) -> String {
    match (bits + 500) / 1000 {
        kbit if kbit >= 10_000 => format!("{} Mbit/s", kbit as f64 / 1000.0),
        kbit => format!("{kbit} kbit/s"),
    }
}

/// Settings that all of several schemes have.
fn shared(schemes: &[PlannedScheme]) -> Vec<(String, String)> {
    let [first, others @ ..] = schemes else { return Vec::new() };
    let in_all = |setting: &&(String, String)| others.iter().all(|other| other.settings.contains(setting));
    if others.is_empty() { Vec::new() } else { first.settings.iter().filter(in_all).cloned().collect() }
}

/// Rate, delay and queue of a link.
fn link(link: &AccessLink) -> String {
    let mean = |capacity: &Capacity| rate(capacity.mean_rate());
    let rate = match (&link.down, &link.up) {
        (Capacity::Fixed(down), Capacity::Fixed(up)) if down != up => {
            format!("{} down and {} up", mean(&link.down), mean(&link.up))
        }
        (Capacity::Fixed(_), _) => mean(&link.down),
        (down, up) if down == up => format!("measured, {} on average", mean(down)),
        (down, up) => format!("measured, {} down and {} up on average", mean(down), mean(up)),
    };
    let milliseconds = |delay: &LinkDelay| match delay {
        LinkDelay::Fixed(delay) => format!("{} ms", *delay as f64 / 1e6),
        LinkDelay::Trace(_) => "measured delay".to_string(),
    };
    let delay = match &link.up_delay {
        None => format!("{} one way", milliseconds(&link.delay)),
        Some(up) => format!("{} one way down and {} up", milliseconds(&link.delay), milliseconds(up)),
    };
    let queue = match (link.up_queue, link.features.map(|features| features.queue)) {
        (None, [QueueWord::DropTail, QueueWord::DropTail]) => format!("queue of {} packets", link.queue),
        (up, [down_word, up_word]) => {
            format!(
                "queues {down_word} of {} and {up_word} of {} packets",
                link.queue,
                up.unwrap_or(link.queue)
            )
        }
    };
    // A preset of today says nothing of what it is.
    let meaning = link.meaning.as_ref().map(|meaning| format!(" ({meaning})")).unwrap_or_default();
    format!("{}{meaning}: {rate}, {delay}, {queue}", link.text)
}

/// Whether there are two pairs, the second of which is the way back.
pub fn is_the_way_back(pairs: &[(AccessLink, AccessLink)]) -> bool {
    matches!(pairs, [(old, new), (from, to)] if from == new && to == old)
}

/// The old and the new link of one pair; of several pairs, each link once and then the pairs by name.
fn links(pairs: &[(AccessLink, AccessLink)]) -> Markup {
    let both = if is_the_way_back(pairs) { "; and back" } else { "" };
    if let [(old, new), rest @ ..] = pairs
        && (rest.is_empty() || !both.is_empty())
    {
        return html! {
            dt { "Old link" } dd { (link(old)) }
            dt { "New link" } dd { (link(new)) (both) }
        };
    }
    let mut each: Vec<&AccessLink> = Vec::new();
    for one in pairs.iter().flat_map(|(old, new)| [old, new]) {
        if !each.iter().any(|other| other.text == one.text) {
            each.push(one);
        }
    }
    let named = pairs.iter().map(|(old, new)| format!("{} \u{2192} {}", old.text, new.text));
    html! {
        dt { "Links" } dd { (each.into_iter().map(link).collect::<Vec<_>>().join("; ")) }
        dt { "From, to" } dd { (named.collect::<Vec<_>>().join("; ")) }
    }
}

fn times(at: &[Nanos]) -> String {
    match at {
        [] => "none".into(),
        [one] => seconds(*one),
        [first, .., last] => format!("{} times from {} to {}", at.len(), seconds(*first), seconds(*last)),
    }
}

/// The list.
pub fn asked(plan: &Plan, origin: &Origin) -> Markup {
    let request = &plan.request;
    let kinds: Vec<String> = request
        .kinds
        .iter()
        .map(|kind| match kind {
            Kind::Mbb => "make-before-break".to_string(),
            Kind::Bbm(time) => format!("break-before-make, {} without a link", seconds(*time)),
            Kind::Soft(overlap) => {
                format!("soft, {} with both links, {}", seconds(overlap.length), overlap.way)
            }
            Kind::PingPong(stay) => format!("ping-pong, back after {}", seconds(*stay)),
        })
        .collect();
    let flows: Vec<String> = request.flows.iter().map(usize::to_string).collect();
    let notice = match request.notice {
        NoticeMode::Instant if plan.notice_delay > 0 => {
            format!("at every sender {} after completion", seconds(plan.notice_delay))
        }
        NoticeMode::Instant => "at every sender at completion".into(),
        NoticeMode::InBand { lost: 0 } => "in band: an option on two ACKs over the new link".into(),
        NoticeMode::InBand { lost } => format!("in band; the first {lost} of two copies lost"),
        NoticeMode::Withheld => "withheld".into(),
    };
    let notice = match plan.notice_error {
        error if error.is_none() => notice,
        error => format!("{notice}; wrong by up to {error}, drawn for each handoff"),
    };
    let shared = shared(&plan.schemes);
    let target = match request.definition {
        Definition::AfterHighest => {
            "until packets beyond the highest that regular TCP had sent before completion are acknowledged"
        }
        Definition::AfterAck => "until packets beyond the cumulative ACK at completion are acknowledged",
    };
    html! {
        dl.asked {
            (links(&request.pairs))
            dt { "Handoff" } dd { (kinds.join("; ")) }
            @if plan.address == Address::New {
                dt { "Address" } dd { "new: connections end, and others begin" }
            }
            dt { "Flows" } dd { (flows.join(", ")) }
            @if let Some(Neighbours { count, stack, .. }) = plan.neighbours {
                dt { "Neighbours" }
                dd { (count) " long downloads of others on each link, " (stack.name) }
            }
            dt { "Schemes" }
            dd {
                @for (index, scheme) in plan.schemes.iter().enumerate() {
                    @if index > 0 { "; " }
                    b { (scheme.name) } " on " (scheme.stack.name)
                    @for setting @ (key, value) in &scheme.settings {
                        @if !shared.contains(setting) { ", " code { (key) "=" (value) } }
                    }
                }
            }
            @if !shared.is_empty() {
                dt { "All of them" }
                dd {
                    @for (index, (key, value)) in shared.iter().enumerate() {
                        @if index > 0 { ", " }
                        code { (key) "=" (value) }
                    }
                }
            }
            @if plan.is_of_2008_unasked() {
                dt { "TCP" } dd { "that of 2008; " code { "--stack linux-6.12" } " is today's" }
            }
            dt { "Handoff times" } dd { (times(&request.at)) }
            dt { "Transfer" } dd { (request.packets) " packets " (plan.counted()) ": " (target) }
            dt { "Notice" } dd { (notice) }
            dt { @if request.seeds > 1 { "Seeds" } @else { "Seed" } }
            dd {
                (request.seed)
                @if request.seeds > 1 { " to " (request.seed + request.seeds - 1) }
            }
            dt { "Repeat it" } dd { code.command { @for word in origin.command.split(' ') { span { (word) } " " } } }
            dt { "Made by" } dd { "Segue " (origin.version) }
        }
    }
}
