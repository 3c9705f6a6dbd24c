//! Schemas of the agent's outputs: `segue agent status --json` (docs/reference/agent-status.md), and a line of its log.

use super::{boolean, command, count, list, may_be_null, number, object, text};
use serde_json::{Value, json};

fn estimate() -> Value {
    may_be_null(object([
        ("rate_kbps", count("Rate towards this host, kbit/s.")),
        ("delay_us", count("One-way delay, us.")),
        ("up_kbps", count("Rate from this host, kbit/s.")),
        ("source", json!({ "enum": ["told", "station", "delivered", "rule"] })),
    ]))
}

/// Numbers of these names, each with its meaning.
fn counts<const N: usize>(fields: [(&str, &str); N]) -> Value {
    object(fields.map(|(name, about)| (name, count(about))))
}

/// One line. Most messages have values, each under a name of its own.
pub(super) fn log() -> Value {
    let mut line = object([
        ("timestamp", text("When, in UTC (RFC 3339).")),
        ("level", json!({ "enum": ["ERROR", "WARN", "INFO"] })),
        ("message", text("What happened, in words.")),
    ]);
    line["additionalProperties"] = json!({ "type": ["string", "integer", "boolean"] });
    line
}

/// The document.
pub(super) fn status() -> Value {
    let watch = object([
        ("to", text("The watched prefix.")),
        ("device", may_be_null(text("The device of its route; null without a route."))),
        ("estimate", estimate()),
    ]);
    let connections = counts([
        ("negotiated", "Can be told."),
        ("unnegotiated", "Cannot be told."),
        ("closing", "Their peers will send nothing more."),
        ("waiting", "Will tell their peers with their next ACKs."),
    ]);
    let notices = counts([
        ("rounds", "Rounds that have ended."),
        ("triggered", "Connections told in the kernel's ACKs."),
        ("crafted", "Connections told in crafted ACKs."),
        ("acked", "Connections told in ACKs of their own."),
        ("resent", "Flows of this host that were made to resend."),
        ("governed", "Flows of this host on which the policy has acted."),
        ("unwritten", "Connections without room for the option."),
        ("unsent", "Connections whose ACK this host could not send."),
        ("unknown", "Handoffs to links of which nothing is known."),
    ]);
    object([
        ("version", json!({ "const": 1 })),
        ("process", count("The agent's process.")),
        ("up_s", count("Time at work, s.")),
        ("triggers", boolean("Whether this kernel lets notices leave in its own ACKs.")),
        ("stations", boolean("Whether a Wi-Fi radio's rates can be asked for.")),
        ("uploads", may_be_null(text("The scheme of this host's own flows; null: they keep their windows."))),
        ("receivers", list(receiver())),
        ("others", others()),
        ("watch", list(watch)),
        ("connections", connections),
        ("notices", notices),
        ("rounds", list(round())),
        ("denied", count("Questions that were refused.")),
        ("origin", command()),
    ])
}

fn receiver() -> Value {
    object([
        ("device", text("The device.")),
        ("attached", boolean("Whether it is there, with our filter.")),
        ("freeze", boolean("Whether windows close before announced gaps.")),
        ("phas", boolean("Whether ACKs of forwarded packets are dropped.")),
        ("closed", count("Segments whose window became zero.")),
        ("dropped", count("ACKs that were dropped.")),
        ("triggered", count("Connections that were made to send ACKs, each time.")),
    ])
}

fn others() -> Value {
    object([
        ("resume", boolean("Whether connections are helped.")),
        ("window", boolean("Whether windows are bounded on a slower link.")),
        ("freeze", boolean("Whether windows are closed before a foreseen break.")),
        ("forwarded", boolean("Whether connections that this host forwards are helped, too.")),
        ("devices", list(text("A device whose segments are seen."))),
        ("helping", count("Connections that are being helped.")),
        ("helped", count("Connections that have been helped, each time.")),
        ("resumed", count("Helped connections on which new data came meanwhile.")),
        ("messages", count("ICMP messages.")),
        ("acks", count("ACKs of all that has come.")),
        ("octets", count("ACKs of a single octet.")),
        ("reminded", count("Negotiated connections to which a notice brought nothing, each time.")),
        ("reminders", count("Packets that reminded them.")),
        ("unsent", count("Packets that this host could not send.")),
        ("unechoed", count("Segments that did not echo a stamp from before an outage.")),
        ("bounded", count("Connections whose windows are bounded.")),
        ("narrowed", count("Segments whose window became smaller.")),
        ("early", count("ACKs over the old link of a handoff to a slower one.")),
        ("frozen", count("Prefixes whose windows are closed now.")),
        ("opened", count("Connections that were told of an open window after a closed one.")),
        ("closed", count("Segments whose window became zero.")),
    ])
}

fn round() -> Value {
    let refused = object([
        ("unnegotiated", count("Connections that cannot be told.")),
        ("closing", count("Connections whose peers will send nothing more.")),
        ("unwritten", count("Connections without room for the option.")),
        ("unsent", count("Connections whose ACK this host could not send.")),
        ("reason", may_be_null(text("The first reason why."))),
    ]);
    object([
        ("number", count("Number of the round, from 1.")),
        ("cause", json!({ "enum": ["moved", "returned", "resumed", "restarted", "told", "foreseen"] })),
        ("watch", text("The watched prefix.")),
        ("device", text("The device of its route.")),
        ("estimate", estimate()),
        ("waited_ns", number("From the handoff to the first ACKs, ns.")),
        ("took_ns", number("From there to the end of the round, ns.")),
        ("triggered", count("Connections told in the kernel's ACKs.")),
        ("crafted", count("Connections told in crafted ACKs.")),
        ("acked", count("Connections told in ACKs of their own, until the end of the round.")),
        ("waiting", count("Connections that will be told in ACKs of their own.")),
        ("resent", count("Flows of this host that were made to resend.")),
        ("governed", count("Flows of this host on which the policy has acted.")),
        ("left", count("Flows of this host whose congestion control it does not know.")),
        ("helped", count("Connections of peers without the capability that are helped.")),
        ("refused", refused),
        ("superseded", boolean("Whether a newer handoff has ended it.")),
    ])
}
