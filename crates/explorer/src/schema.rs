//! The JSON schemas of queries, for programs: one for each kind of question.

use crate::question::{
    BETWEEN, DELAYS, DISCONNECTIONS, Endpoint, FAST_TIMES, KEYS, LARGEST_QUEUE, LATEST, MOST_FLOWS,
    MOST_IN_A_RUN, MOST_NEIGHBOURS, MOST_PACKETS, MOST_POINTS, MOST_SCHEMES, RATES, USUAL_SCHEMES,
    USUAL_TIMES, controls, own_links, presets, words_of,
};
use crate::traces::Traces;
use segue_handoff::Scheme;
use segue_tcp::profile::stack_names;
use segue_words::Choice;
use segue_world::access::WORDS;
use segue_world::{Address, Definition, NoticeWord, SimulatedKind, SoftWord};
use serde_json::{Map, Value, json};

/// `/api/compare`, `/api/trace` and `/api/pcapng`: the keys of their query strings.
pub fn schema(traces: &Traces) -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Questions to segue explore, as query strings",
        "/api/compare": question(Endpoint::Compare, traces),
        "/api/trace": question(Endpoint::Trace, traces),
        "/api/pcapng": question(Endpoint::Capture, traces),
    })
}

fn question(endpoint: Endpoint, traces: &Traces) -> Value {
    let keys = KEYS.iter().filter(|(_, of_single)| *of_single || !endpoint.is_single());
    let properties: Map<String, Value> =
        keys.map(|&(key, _)| (key.to_string(), property(key, endpoint, traces))).collect();
    let required = match endpoint {
        Endpoint::Compare | Endpoint::Page => json!(["old", "new"]),
        Endpoint::Trace => json!(["old", "new", "at"]),
        Endpoint::Capture => json!(["old", "new", "at", "schemes"]),
    };
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn property(key: &str, endpoint: Endpoint, traces: &Traces) -> Value {
    let time = r"^[0-9]+(\.[0-9]+)?(us|ms|s)$";
    let ms = |[least, most]: [u64; 2]| json!({ "minimum": least / 1_000_000, "maximum": most / 1_000_000 });
    match key {
        "old" | "new" => json!({
            "description": format!("Link {}; its bandwidth-delay product of a round trip is at most {LARGEST_QUEUE} packets", if key == "old" { "before" } else { "after" }),
            "anyOf": [
                { "enum": presets().into_iter().map(|(name, _)| name.to_string()).chain(own_links(traces).into_iter().map(|(name, _)| name)).collect::<Vec<_>>() },
                {
                    "type": "string",
                    "pattern": r"^[0-9]+(\.[0-9]+)?(kbit|mbit)/[0-9]+(\.[0-9]+)?(us|ms|s)$",
                    "rate_kbit": { "minimum": RATES[0] / 1_000, "maximum": RATES[1] / 1_000 },
                    "delay_ms": ms(DELAYS),
                    "most_queued": LARGEST_QUEUE,
                },
                {
                    "description": "Either of them with words behind it, such as 6400kbit/9ms,loss=1%,queue=codel",
                    "words": WORDS.map(|(_, form)| form),
                },
                {
                    "description": "A measured link, such as trace:NAME,delay=25ms, of the folder given by --traces",
                    "traces": traces.names(),
                },
            ],
        }),
        "kind" => choice::<SimulatedKind>(),
        "overlap" | "return" => {
            json!({ "type": "string", "pattern": time, "time_ms": ms(DISCONNECTIONS), "default": "1s" })
        }
        "soft" => choice::<SoftWord>(),
        "address" => choice::<Address>(),
        "disconnect" => {
            json!({ "type": "string", "pattern": time, "time_ms": ms(DISCONNECTIONS), "default": "1s" })
        }
        "flows" => json!({ "type": "integer", "minimum": 1, "maximum": MOST_FLOWS, "default": 1 }),
        "schemes" => json!({
            "description": "Names with commas between them, or a sum of single algorithms such as etcp:a1+a3",
            "type": "array",
            "items": { "enum": Scheme::entries().iter().map(|entry| entry.name).collect::<Vec<_>>() },
            "uniqueItems": true,
            "minItems": 1,
            "maxItems": if endpoint == Endpoint::Capture { 1 } else { MOST_SCHEMES },
            "default": USUAL_SCHEMES.split(',').collect::<Vec<_>>(),
        }),
        "notice" => choice::<NoticeWord>(),
        "notice-loss" => {
            json!({ "description": "0 with an instant notice", "type": "integer", "minimum": 0, "maximum": 2, "default": 0 })
        }
        "notice-error" => json!({
            "description": "How far a notice may be wrong and late, each part up to that and drawn for each handoff",
            "type": "string",
            "examples": ["rate=2x,delay=30ms,late=100ms", "late=50ms"],
        }),
        "handoffs" => json!({
            "description": "Handoffs of a run, to the new link, back, and so on; more than one with `every`",
            "type": "integer",
            "minimum": 1,
            "maximum": MOST_IN_A_RUN,
            "default": 1,
        }),
        "every" => json!({
            "description": "From the beginning of a handoff to that of the next; with `handoffs`",
            "type": "string",
            "pattern": time,
            "time_ms": ms(BETWEEN),
        }),
        "packets" => json!({ "type": "integer", "minimum": 1, "maximum": MOST_PACKETS, "default": 100 }),
        "definition" => choice::<Definition>(),
        "stack" => json!({ "enum": stack_names() }),
        "cc" => json!({
            "description": "Congestion control of a stack that has a choice, such as linux-6.12",
            "enum": controls(),
        }),
        "traffic" => json!({
            "description": "A list of download, upload, both, request(14kB,200ms), video(4mbit,30fps), page",
            "type": "string",
            "examples": ["download,page"],
        }),
        "neighbours" => json!({
            "description": format!("Long downloads of others on each link: a number up to {MOST_NEIGHBOURS}, and a congestion control if another"),
            "type": "string",
            "examples": ["3", "3 cubic"],
        }),
        "seed" => json!({ "type": "integer", "minimum": 0, "maximum": u32::MAX, "default": 1 }),
        "at" if endpoint == Endpoint::Compare => json!({
            "description": format!("A time, FIRST..LAST/STEP, or several of these behind commas: at most {MOST_POINTS} times, at most {} s; unless given, {FAST_TIMES} if the old link has more than 100 Mbit/s, from 0.1s on with neighbours", LATEST / 1_000_000_000),
            "type": "string",
            "pattern": r"^[0-9]+(\.[0-9]+)?(us|ms|s)((\.\.|/|, ?)[0-9]+(\.[0-9]+)?(us|ms|s))*$",
            "time_ms": ms([0, LATEST]),
            "default": USUAL_TIMES,
        }),
        "at" => json!({ "type": "string", "pattern": time, "time_ms": ms([0, LATEST]) }),
        _ => json!({
            "description": "At most so many of the handoff times, evenly spread",
            "type": "integer",
            "minimum": 1,
            "maximum": MOST_POINTS,
            "default": MOST_POINTS,
        }),
    }
}

/// One of the words of `T`, usually the first.
fn choice<T: Choice>() -> Value {
    json!({ "enum": words_of::<T>(), "default": T::ALL[0].word() })
}
