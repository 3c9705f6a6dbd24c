//! Schemas of documents with rows: comparisons of handoffs, and drives.

use super::{count, list, may_be_null, measures, named, number, object, text, with, words_of};
use segue_study::measure::{FIELDS, MEASURES, OPTIONAL, OPTIONAL_FIELDS};
use segue_world::{Definition, NoticeWord, SimulatedKind};
use serde_json::{Value, json};

/// A document of these rows, which answer that question.
pub(super) fn document(row: Value, question: Value) -> Value {
    let document = object([("version", json!({ "const": 1 })), ("rows", list(row))]);
    let notes = list(text("A stack that was not validated against a kernel."));
    with(document, [("notes", notes), ("origin", origin(question))])
}

/// Where a result comes from that answers this question.
pub(super) fn origin(question: Value) -> Value {
    let direction = || {
        object([
            ("rate_bps", count("Nominal rate, bit/s; of a trace its mean.")),
            ("delay_s", number("One-way delay, s; the least where it changes.")),
            ("queue", text("Queueing discipline.")),
            ("queue_packets", count("Packets that the queue holds.")),
        ])
    };
    let link = object([("down", direction()), ("up", direction())]);
    let link = with(link, [("meaning", text("The words that a preset stands for."))]);
    let origin = object([
        ("program", text("Version of Segue, with the commit where it is known.")),
        ("question", question),
        ("links", named(link, "Access links as they were simulated, by their text.")),
        ("files", named(json!({ "type": "string" }), "SHA-256 of every file that was read, by its path.")),
    ]);
    with(origin, [("command", text("The command line that asks the same, if there is one."))])
}

fn settings() -> Value {
    named(json!({ "type": "string" }), "Settings by name.")
}

/// One scheme over the handoffs of one block.
pub(super) fn row() -> Value {
    let mut row = object([
        ("old", text("Link before, as asked for.")),
        ("new", text("Link after.")),
        ("kind", words_of::<SimulatedKind>()),
        ("disconnect_s", number("Time without a link, s; 0 for mbb.")),
        ("flows", count("Flows to the mobile.")),
        ("scheme", text("Scheme.")),
        ("stack", text("Its stack.")),
        ("notice", words_of::<NoticeWord>()),
        ("definition", words_of::<Definition>()),
        ("seed", count("First seed.")),
        ("settings", settings()),
        ("packets", count("Packets of a transfer.")),
        ("points", count("Handoffs.")),
    ]);
    for (field, schema) in measures(FIELDS, MEASURES) {
        row["properties"][&field] = schema;
        if let Some(required) = row["required"].as_array_mut() {
            required.push(json!(field));
        }
    }
    row["properties"]["new_link_s"]["properties"]["neighbours"] =
        number("It carried packets of neighbours; absent without them (s)");
    for (field, schema) in measures(OPTIONAL_FIELDS, OPTIONAL) {
        row["properties"][&field] = schema;
    }
    row["properties"]["neighbours"]["properties"]["least_bytes"] =
        number("Bytes of the one that received least, where a time was asked for.");
    with(
        row,
        [
            ("handoff", count("Which handoff of its run, from 1, if there are several.")),
            ("seeds", count("Seeds, if there are several.")),
        ],
    )
}

/// The question of a comparison.
pub(super) fn handoffs() -> Value {
    let words = || list(json!({ "type": "string" }));
    let pair = json!({ "type": "array", "items": { "type": "string" }, "minItems": 2, "maxItems": 2 });
    let question = object([
        ("pairs", list(pair)),
        ("kind", list(words_of::<SimulatedKind>())),
        ("flows", list(count("Flows to the mobile."))),
        ("schemes", words()),
        ("at", words()),
        ("packets", count("Packets of a transfer.")),
        ("definition", words_of::<Definition>()),
        ("notice", words_of::<NoticeWord>()),
        ("notice_loss", count("Copies of an in-band notice that are lost.")),
        ("settings", settings()),
        ("seed", count("First seed.")),
        ("seeds", count("Number of seeds.")),
    ]);
    let question = with(
        question,
        [
            ("folder", text("Folder that the paths of traces start from.")),
            ("disconnect_s", list(number("Time without a link of each bbm, s."))),
            ("stack", text("A stack for all schemes.")),
            ("cc", text("Congestion control of the stack.")),
        ],
    );
    object([("handoffs", question)])
}

/// The question of drives.
pub(super) fn drives() -> Value {
    let drives = object([("file", text("The file that describes them."))]);
    object([("drives", with(drives, [("points", count("Most seeds of a drive."))]))])
}

/// One scheme over one drive.
pub(super) fn drive_row() -> Value {
    let mean = |about: &str| {
        let mut mean = object([
            ("mean", number("Mean over the seeds.")),
            ("ci95", may_be_null(number("Half the 95 % confidence interval; null with one seed."))),
        ]);
        mean["description"] = json!(about);
        mean
    };
    let none = |about: &str| may_be_null(number(about));
    let class = object([
        ("handoffs", count("Handoffs.")),
        ("lost", number("Data packets lost with the old link, mean.")),
        ("idle_s", none("From link-up until data reaches the new link, s, mean; null if none ever does.")),
        ("never_used", number("Share of handoffs without any data until the next.")),
        ("unused_share", none("In the first 5 s of data over the new link: share of the time without any.")),
        ("overshoot", number("Data packets that its queue dropped meanwhile, mean.")),
    ]);
    let web = object([
        ("objects", number("Objects that came, mean per drive.")),
        ("completion_median_s", none("From the opening of a connection to the last ACK, s, median.")),
        ("completion_p95_s", none("The same, 95th percentile.")),
    ]);
    object([
        ("drive", text("The drive.")),
        ("length_s", number("Its length, s.")),
        ("wan_delay_s", number("One-way delay of the wide area, s.")),
        ("bandwidth_error", number("Largest error of the reported bandwidth, a share.")),
        ("scheme", text("Scheme.")),
        ("stack", text("Its stack, which all other traffic has, too.")),
        ("notice", words_of::<NoticeWord>()),
        ("seed", count("First seed of the traffic.")),
        ("seeds", count("Number of seeds.")),
        ("settings", settings()),
        ("mobile_kbps", mean("Throughput of all flows to the mobile, kbit/s.")),
        ("cross_kbps", may_be_null(mean("Throughput of all cross traffic, kbit/s; null without any."))),
        ("jain", mean("Jain's index of the throughputs of all bulk flows.")),
        ("timeouts", number("Timeouts of the mobile's flows, mean per drive.")),
        ("retransmissions", number("Packets sent again, mean per drive.")),
        ("fast_retransmits", number("Entries into fast recovery, mean per drive.")),
        ("idle_s", none("From link-up until data reaches the new link, s, mean.")),
        ("classes", named(class, "Handoffs by class (L-HH, H-HH, U-VH, D-VH), those that occur.")),
        ("queue_delay_median_s", none("Queueing delay of data at the access link, s, median.")),
        ("queue_delay_p95_s", none("The same, 95th percentile.")),
        ("wan_drops", number("Data packets that the wide area's queue dropped, mean per drive.")),
        ("notices_accepted", number("Notices that the server took, mean per drive.")),
        ("notices_refused", number("Notices refused, mean per drive.")),
        ("web", may_be_null(web)),
    ])
}
