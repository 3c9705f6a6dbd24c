//! Schemas of what is computed about papers, and of a row of a sweep.

use super::{boolean, command, count, list, may_be_null, named, number, object, text, with_files, words_of};
use segue_study::measure::{EACH, EachKind};
use segue_world::{Definition, KindWord, NoticeWord};
use serde_json::{Value, json};

/// `segue reproduce --json`.
pub(super) fn reproduce() -> Value {
    let beside = object([
        ("bench", text("Name of the bench.")),
        ("settings", list(text("KEY=VALUE."))),
        ("verdict", text("Whether it holds there.")),
        ("measured", text("What was measured.")),
    ]);
    let mut claim = object([
        ("id", text("Name of the claim.")),
        ("place", text("Where the paper states it.")),
        ("kind", text("Whether it is a number, an order and so on.")),
        ("check", text("How it is judged.")),
        ("verdict", text("Whether it holds.")),
        ("few", boolean("Whether it rests on too few handoff times or seeds for a verdict.")),
        ("stated", text("What the paper states.")),
        ("measured", text("What was measured.")),
        ("why", text("Why it differs, as far as that is known.")),
    ]);
    claim["properties"]["beside"] = list(beside);
    claim["properties"]["beside"]["description"] =
        json!("The same on other benches; with --check only if --sensitivity is given, too.");
    object([
        ("version", json!({ "const": 1 })),
        ("points", count("Handoff times of each bar.")),
        ("claims", list(claim)),
        ("summary", named(count("Claims."), "Number of claims by verdict.")),
        ("origin", with_files("Digests of the papers' ledgers.")),
    ])
}

/// `segue model tcp-ho --json`.
pub(super) fn tcp_ho() -> Value {
    let gain = object([
        ("sigma_percent", number("Standard deviation of the estimate, % of b.")),
        ("sigma", number("The same in segments.")),
        ("gain", number("Mean gain, segments.")),
    ]);
    let curve = object([
        ("class", may_be_null(text("Class of the paper's handoff; null for others."))),
        ("b", number("BDP of the new path, segments.")),
        ("c", number("TCP's threshold from before the handoff, segments.")),
        ("equation", count("Number of the paper's equation.")),
        ("tcp_segments", number("Segments that TCP itself sends.")),
        ("gain_without_error", number("Gain with the true bandwidth, segments.")),
        ("mean_gain", list(gain)),
    ]);
    let wait = object([
        ("timeouts", count("Timeouts before the link is back.")),
        ("from_s", number("Earliest time at which it is back, s.")),
        ("to_s", number("Latest time, s.")),
        ("ratio", number("Longest wait over the time without a link.")),
        ("mean_saving", number("Part of the disconnection that sending at once saves, mean.")),
        ("longest_saving_s", number("The longest saving, s.")),
    ]);
    object([
        ("version", json!({ "const": 1 })),
        ("model", json!({ "const": "tcp-ho" })),
        ("curves", list(curve)),
        ("limit_of_saving", number("What the mean saving tends to.")),
        ("waits", list(wait)),
        ("origin", command()),
    ])
}

/// `segue model lcfd --json`.
pub(super) fn lcfd() -> Value {
    let mode = || json!({ "enum": ["corrected", "printed"] });
    let row = object([
        ("figure", may_be_null(count("Figure of the paper; null for a setting of one's own."))),
        ("mode", mode()),
        ("w_max", count("Largest window, packets.")),
        ("buffer", count("Buffer of the router, packets.")),
        ("p", number("Probability that a handoff lets the timer expire.")),
        ("sojourn_from_rtt", number("Shortest sojourn in a cell, round trips.")),
        ("sojourn_to_rtt", number("Longest.")),
        ("mean_sojourn_s", number("Mean sojourn, s.")),
        ("scheme", text("Scheme.")),
        ("against", text("The scheme it is held against.")),
        ("packets_per_rtt", number("Throughput of the scheme, packets per round trip.")),
        ("against_packets_per_rtt", number("That of the other.")),
        ("packets_per_s", number("Throughput of the scheme, packets/s.")),
        ("against_packets_per_s", number("That of the other.")),
        ("gain_percent", number("How much more the scheme has, %.")),
    ]);
    object([
        ("version", json!({ "const": 1 })),
        ("model", json!({ "const": "lcfd" })),
        ("mode", mode()),
        ("rows", list(row)),
        ("origin", command()),
    ])
}

/// A row of the Parquet file of `segue sweep`, as its columns.
pub(super) fn sweep() -> Value {
    let mut row = object([
        ("old", text("Link before, as the file has it.")),
        ("new", text("Link after.")),
        ("kind", words_of::<KindWord>()),
        ("disconnect_s", number("Time without a link, s; 0 for mbb.")),
        ("flows", count("Flows to the mobile.")),
        ("scheme", text("Scheme.")),
        ("stack", text("Its stack.")),
        ("notice", words_of::<NoticeWord>()),
        ("notice_loss", count("Copies of an in-band notice that are lost.")),
        ("definition", words_of::<Definition>()),
        ("settings", text("Settings that concern the scheme, KEY=VALUE with spaces between.")),
        ("packets", count("Packets of a transfer.")),
        ("seed", count("Seed.")),
        ("at_s", number("T, s.")),
    ]);
    for measure in EACH {
        let schema = match measure.kind {
            EachKind::Count => count("Number of events."),
            EachKind::Seconds => number("s"),
            EachKind::MaybeInfinite => may_be_null(number("s; null is infinite.")),
        };
        row["properties"][measure.name] = schema;
        if let Some(required) = row["required"].as_array_mut() {
            required.push(json!(measure.name));
        }
    }
    row["properties"]["handoff"] = count("Which handoff of its run, from 1, if there are several.");
    row
}
