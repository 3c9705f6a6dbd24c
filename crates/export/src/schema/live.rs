//! Schemas of what was measured on Linux: the laboratory's results, and reports about a machine.

use super::{boolean, command, count, list, may_be_null, named, number, object, text, with, words_of};
use segue_study::measure::FIELDS;
use segue_world::KindWord;
use serde_json::{Value, json};

fn quartiles(about: &str) -> Value {
    let mut quartiles =
        object(["q1", "median", "q3"].map(|name| (name, may_be_null(number("null is infinite.")))));
    quartiles["description"] = json!(about);
    quartiles
}

fn bytes(within: &str) -> Value {
    may_be_null(number(&format!(
        "Bytes of new data that reached the mobile within {within} of link-up, median."
    )))
}

/// Measures of a sender's runs.
fn measures<const N: usize>(more: [(&str, Value); N]) -> Value {
    let measures = object([
        (
            "first_send_after_link_up_s",
            quartiles("From link-up until the first data packet leaves the sender, s."),
        ),
        ("bytes_1s", bytes("1 s")),
        ("bytes_5s", bytes("5 s")),
        ("bytes_10s", bytes("10 s")),
        ("drops", number("Packets that found a queue full, mean per run.")),
        ("retransmissions", number("Packets sent again, mean per run.")),
        ("runs", count("Runs.")),
        ("bytes_1s_quartiles", quartiles("Bytes within 1 s.")),
        ("bytes_10s_quartiles", quartiles("Bytes within 10 s.")),
        (
            "first_retransmission_after_link_up_s",
            may_be_null(quartiles("From link-up until a packet is sent again, s; null if simulated.")),
        ),
        (
            "first_data_after_link_up_s",
            may_be_null(quartiles("From link-up until new data in order arrive, s; null if simulated.")),
        ),
        (
            "share_1s_after_round_trip",
            may_be_null(quartiles(
                "Share of the new link used in the second after a round trip; null if simulated.",
            )),
        ),
        ("gave_up", count("Runs in which a kernel held a connection for dead.")),
    ]);
    let mut all = measures;
    for (name, schema) in more {
        all["properties"][name] = schema;
        if let Some(required) = all["required"].as_array_mut() {
            required.push(json!(name));
        }
    }
    all
}

fn ratio() -> Value {
    may_be_null(object([
        ("median", number("Median of the ratios of neighbouring runs.")),
        ("mean", number("Their mean.")),
        ("low", may_be_null(number("Lower end of its 95 % confidence interval; null with one run."))),
        ("high", may_be_null(number("Upper end."))),
    ]))
}

/// A sender in a laboratory: the fields of a comparison, those that cannot be measured null.
pub(super) fn lab_row() -> Value {
    let mut row = object([
        ("old", text("Link before.")),
        ("new", text("Link after.")),
        ("kind", words_of::<KindWord>()),
        ("disconnect_s", number("Time without a link, s; 0 for mbb.")),
        ("flows", count("Flows to the mobile.")),
        ("scheme", text("The sender.")),
        ("stack", text("The kernel that sent.")),
        ("notice", text("How senders learn of the handoff.")),
        ("definition", json!({ "type": "null" })),
        ("seed", count("Seed of the instants.")),
        ("settings", named(json!({ "type": "string" }), "Settings by name.")),
        ("packets", json!({ "type": "null" })),
        ("points", count("Runs.")),
        ("incomplete", count("Runs in which nothing was sent while it was observed.")),
    ]);
    let measured = ["incomplete", "drops", "lost_in_disconnection", "retransmissions"];
    for (field, about) in FIELDS.iter().filter(|(field, _)| *field != "incomplete") {
        let schema = if measured.contains(field) { number(about.trim()) } else { json!({ "type": "null" }) };
        row["properties"][*field] = schema;
        if let Some(required) = row["required"].as_array_mut() {
            required.push(json!(field));
        }
    }
    let against = object([("bytes_1s", ratio()), ("bytes_10s", ratio())]);
    row["properties"]["live"] = measures([("against_first", against)]);
    row["properties"]["simulated"] = may_be_null(measures([]));
    if let Some(required) = row["required"].as_array_mut() {
        required.extend(["live", "simulated", "conditions", "program"].map(|name| json!(name)));
    }
    row["properties"]["conditions"] =
        text("Conditions of the path, as the plan says them; empty: the usual ones.");
    row["properties"]["program"] = text("The program whose flows they are.");
    row["properties"]["simulated_noise_s"] = may_be_null(number(
        "Jitter that simulated links have as the laboratory's noise, s; null if nothing is simulated or no link gets any. \
         Files of before lack it.",
    ));
    row
}

/// A sender over a drive in a laboratory.
pub(super) fn lab_drive_row() -> Value {
    let times = |about: &str| may_be_null(quartiles(about));
    object([
        ("old", text("Link of the first stay.")),
        ("new", text("Link of the second.")),
        ("kind", words_of::<KindWord>()),
        ("disconnect_s", number("Length of each disconnection, s.")),
        ("stays_s", list(number("Length of a stay, s."))),
        ("program", text("The program whose traffic crossed the links.")),
        ("flows", count("Flows.")),
        ("scheme", text("The sender.")),
        (
            "freeze_before_s",
            may_be_null(number("Time before a handoff at which the mobile's window closed; null: never.")),
        ),
        ("stack", text("The kernel that sent.")),
        ("seed", count("Seed of the instants.")),
        ("runs", count("Runs.")),
        ("handoffs", may_be_null(measures([]))),
        ("octets", quartiles("Octets that the mobile received in a run.")),
        ("completed_s", times("Until the file was complete, s.")),
        ("intact", may_be_null(count("Runs whose file was complete, every octet the right one."))),
        ("echo_s", times("From a keystroke to its echo, s.")),
        ("first_echo_s", times("From a link-up to the first echo after it, s.")),
        ("worst_first_echo_s", may_be_null(number("The longest of these."))),
        ("gave_up", count("Runs in which a kernel held a connection for dead.")),
    ])
}

/// `segue lab cost`.
pub(super) fn lab_cost() -> Value {
    let interval = |about: &str| {
        let ends = [
            ("mean", "Mean."),
            ("low", "Lower end of its 95 % confidence interval."),
            ("high", "Upper end."),
        ];
        let mut interval = object(ends.map(|(name, about)| (name, may_be_null(number(about)))));
        interval["description"] = json!(about);
        interval
    };
    let measure = |value: &'static str, cubic: &'static str, attached: &'static str| {
        object([
            (value, may_be_null(number("Mean."))),
            (cubic, interval("Against plain cubic in the same rounds.")),
            (attached, interval("Against cubic towards a mobile with its programs attached.")),
            ("runs", list(number("One round."))),
        ])
    };
    let ratio = |value| measure(value, "ratio_to_cubic", "ratio_to_cubic_mobile_attached");
    let charged = object([
        ("server", number("Octets charged to a socket of the server.")),
        ("mobile", number("Octets charged to a socket of the mobile.")),
    ]);
    let memory = object([
        ("connections", count("Idle connections.")),
        ("slab_octets", measure("per_connection", "more_than_cubic", "more_than_cubic_mobile_attached")),
        ("charged_octets", may_be_null(charged)),
    ]);
    let row = object([
        ("scheme", text("The sender.")),
        ("mobile_attached", boolean("Whether the mobile's programs were attached.")),
        ("stack", text("The kernel that sent.")),
        ("runs", count("Rounds.")),
        ("negotiated", count("Connections that negotiated.")),
        ("throughput", ratio("bits_per_second")),
        ("connections", ratio("per_second")),
        ("throughput_by_processor", ratio("bits_per_processor_second")),
        ("connections_by_processor", ratio("per_processor_second")),
        ("memory", memory),
    ]);
    object([
        ("version", json!({ "const": 1 })),
        ("seconds", number("Time of a measure, s.")),
        ("rows", list(row)),
        ("origin", command()),
    ])
}

/// `segue doctor`.
pub(super) fn doctor() -> Value {
    let feature = object([
        ("name", text("Feature.")),
        ("present", boolean("Whether it is there.")),
        ("found", text("The finding.")),
        ("needed_for", text("Its purpose.")),
        ("without", text("What works without it.")),
    ]);
    object([("version", json!({ "const": 1 })), ("features", list(feature)), ("origin", command())])
}

/// `segue kernel status`.
pub(super) fn kernel_status() -> Value {
    let link = object([
        ("rate_kbps", count("Rate last reported, kbit/s.")),
        ("delay_us", count("One-way delay, us.")),
    ]);
    let flow = object([
        ("local", text("Address and port here.")),
        ("remote", text("Those of the peer.")),
        ("negotiated", boolean("Whether the handshake exchanged the capability.")),
        ("enrolled", boolean("Whether it runs on our congestion control.")),
        ("state", count("Number of the TCP state.")),
        ("link", may_be_null(link)),
        ("flows", count("N: flows of the peer's host with data under way or queued.")),
        ("accepted", count("Notices that reached the policy.")),
        ("refused", count("Reports that were refused.")),
        ("cwnd", count("Packets.")),
        ("ssthresh", count("Packets; 2147483647 stands for none.")),
    ]);
    object([
        ("version", json!({ "const": 1 })),
        ("name", text("Name of the congestion control.")),
        ("scheme", text("The scheme that decides.")),
        ("around", text("The congestion control that is wrapped.")),
        ("cgroup", text("Where it is attached.")),
        ("icmp", boolean("Whether the head is resent by RFC 6069.")),
        ("counters", named(count("Number of times."), "What was counted since attach, by name.")),
        ("flows", list(flow)),
        ("origin", command()),
    ])
}

/// The question of a laboratory.
pub(super) fn lab_question() -> Value {
    let lab = object([("file", text("The plan."))]);
    object([("lab", with(lab, [("runs", count("Runs of each sender, in place of the plan's."))]))])
}
