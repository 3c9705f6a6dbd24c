//! The schema of one line of a trace: what each kind of event has.

use super::comparison::{handoffs, origin};
use super::{boolean, count, list, may_be_null, named, number, object, text, with, words_of};
use segue_world::SimulatedKind;
use serde_json::{Value, json};

/// Any line.
pub(super) fn line() -> Value {
    let kinds = [run(), send("send"), send("receive"), queue(), drop("drop"), lose(), drop("overflow")];
    let more = [timeout(), fast_retransmit(), hystart(), decide(), help(), state(), counts()];
    json!({ "type": "object", "oneOf": kinds.into_iter().chain(more).collect::<Vec<_>>() })
}

/// An event of this name with these fields of its own.
fn event<const N: usize>(name: &str, fields: [(&str, Value); N]) -> Value {
    let mut event = object(fields);
    for (field, schema) in [
        ("ns", count("Simulated time, ns.")),
        ("scheme", text("Scheme of the run.")),
        ("event", json!({ "const": name })),
    ] {
        event["properties"][field] = schema;
        if let Some(required) = event["required"].as_array_mut() {
            required.push(json!(field));
        }
    }
    event
}

/// Fields that any packet may have: data have `seq` and `copy`, ACKs have `ack`.
fn packet(event: Value) -> Value {
    let block = json!({ "type": "array", "items": { "type": "integer" }, "minItems": 2, "maxItems": 2 });
    with(
        event,
        [
            ("seq", count("Number of a data packet.")),
            ("copy", count("Number of this transmission among the flow's.")),
            ("resent", boolean("Its bytes were sent before.")),
            ("duplicate", boolean("On arrival: its bytes had all been received.")),
            ("refused", boolean("On arrival: thrown away, for its time stamp is too old (PAWS).")),
            ("probe", boolean("A window probe.")),
            ("ack", count("Cumulative ACK, packets.")),
            ("window_closed", boolean("It advertises a window of zero.")),
            ("sack", list(block)),
            ("dsack", boolean("The first SACK block reports a duplicate.")),
            ("option", boolean("It carries an option of Segue.")),
            ("syn", boolean("It opens a connection.")),
        ],
    )
}

fn flow() -> (&'static str, Value) {
    ("flow", count("Number of the flow."))
}

fn bytes() -> (&'static str, Value) {
    ("bytes", count("Bytes that links charge."))
}

fn side() -> (&'static str, Value) {
    ("link", json!({ "enum": ["old", "new"] }))
}

fn run() -> Value {
    let run = event(
        "run",
        [
            ("version", json!({ "const": 1 })),
            ("old", text("Link before.")),
            ("new", text("Link after.")),
            ("kind", words_of::<SimulatedKind>()),
            ("disconnect_ns", count("Time without a link, ns.")),
            ("flows", count("Flows to the mobile.")),
            ("queues", list(count("Packets that the queues of the old and the new link hold."))),
            ("notice", text("How senders learn of the handoff.")),
            ("notice_delay_ns", count("Delay of an instant notice, ns.")),
            ("notice_loss", count("Copies of an in-band notice that are lost.")),
            ("definition", text("When the transfer counts as complete.")),
            ("stack", text("Stack.")),
            ("settings", named(json!({ "type": "string" }), "Settings by name.")),
            ("seed", count("Seed.")),
            ("packets", count("Packets of a transfer.")),
            ("at_ns", count("Start of the handoff, ns.")),
            ("completion_ns", count("Its completion, ns.")),
            ("end_ns", count("End of the run, ns.")),
            ("targets", list(count("The packet that a flow's cumulative ACK has to reach."))),
        ],
    );
    let told = object([
        ("rate_kbps", count("Rate, kbit/s.")),
        ("delay_us", count("One-way delay, us.")),
        ("late_ns", count("So much later than notices come otherwise, ns.")),
    ]);
    let notes = list(text("The stack was not validated against a kernel."));
    with(run, [("notes", notes), ("told", told), ("origin", origin(handoffs()))])
}

fn send(name: &str) -> Value {
    packet(event(name, [flow(), bytes()]))
}

fn queue() -> Value {
    packet(event(
        "queue",
        [
            side(),
            flow(),
            bytes(),
            ("start_ns", count("When its transmission begins, ns.")),
            ("departure_ns", count("When it ends, ns.")),
            ("delivery_ns", count("When it reaches the far end, ns.")),
        ],
    ))
}

fn drop(name: &str) -> Value {
    packet(event(name, [side(), flow(), bytes()]))
}

fn lose() -> Value {
    with(drop("lose"), [("while_up", boolean("The link was up."))])
}

fn timeout() -> Value {
    let spurious = boolean("That transmission is delivered after all; null before the handoff.");
    event(
        "timeout",
        [
            flow(),
            ("seq", count("First unacknowledged packet.")),
            ("copy", count("Its last transmission.")),
            ("spurious", may_be_null(spurious)),
        ],
    )
}

fn fast_retransmit() -> Value {
    event(
        "fast_retransmit",
        [
            flow(),
            ("seq", count("First unacknowledged packet.")),
            ("dup_acks", count("Duplicate ACKs heard since it is the first.")),
        ],
    )
}

fn hystart() -> Value {
    event(
        "hystart",
        [
            flow(),
            ("sign", json!({ "enum": ["ack_train", "round_trips"] })),
            ("ssthresh_before", number("Packets.")),
            ("ssthresh", number("Packets.")),
        ],
    )
}

fn decide() -> Value {
    let rule = object([("name", text("Rule.")), ("section", text("Section, for segue explain."))]);
    let advice = with(
        object([]),
        [
            ("cwnd", number("Congestion window, packets.")),
            ("ssthresh", number("Slow start threshold, packets.")),
            ("min_rto_ns", count("Least RTO, ns; 0 is the stack's own again.")),
            ("dupthresh", count("Duplicate ACKs that start fast retransmit.")),
            ("also", list(text("Any other request, by name."))),
        ],
    );
    event(
        "decide",
        [flow(), ("on", text("The event that it answers.")), ("rules", list(rule)), ("advice", advice)],
    )
}

fn help() -> Value {
    let help = event("help", [flow(), ("act", text("The act.")), ("rule", text("The rule behind it."))]);
    with(
        help,
        [
            ("seq", count("The packet that a message quotes.")),
            ("ack", count("The number of an ACK.")),
            ("window", count("The bound of the window, packets.")),
            ("lost", boolean("Lost before the uplink.")),
            ("heeded", boolean("The sender takes a back-off back.")),
        ],
    )
}

fn state() -> Value {
    event(
        "state",
        [
            flow(),
            ("snd_una", count("First unacknowledged packet.")),
            ("snd_max", count("One beyond the highest packet ever sent.")),
            ("cwnd", number("Packets.")),
            ("ssthresh", number("Packets.")),
            ("srtt_ns", may_be_null(count("Smoothed round-trip time, ns."))),
            ("rto_ns", count("RTO with back-off, ns.")),
            ("timer_ns", may_be_null(count("When the timer expires, ns."))),
            ("fast_recovery", boolean("In fast recovery.")),
            ("rto_recovery", boolean("In RTO recovery.")),
        ],
    )
}

fn counts() -> Value {
    let counts = event(
        "counts",
        [
            ("transfer_ns", may_be_null(count("Transfer time, ns; null is infinite."))),
            ("bound_ns", count("The physical bound, ns.")),
            ("timeouts", count("Timeouts.")),
            ("spurious_timeouts", count("Spurious ones.")),
            ("timeouts_in_disconnection", count("Timeouts during the disconnection.")),
            ("fast_retransmits", count("Fast retransmits.")),
            ("drops", count("Packets that found a queue full.")),
            ("lost_in_disconnection", count("Packets lost in the disconnection.")),
            ("retransmissions", count("Packets sent again.")),
            ("needless_retransmissions", count("Those that brought nothing new.")),
            ("acknowledged", list(count("Packets that a flow newly acknowledged."))),
        ],
    );
    with(counts, [("link_losses", count("Packets that links lost while they were up."))])
}
