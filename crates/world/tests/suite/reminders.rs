//! Senders that a notice in band has send, and of which nothing comes: the mobile reminds them, as the agent does it
//! (docs/reference/mobile.md, 1.9).

use crate::support::*;
use segue_handoff::Act;
use segue_netsim::{Nanos, SECOND};
use segue_world::trace::{Trace, What, trace};
use segue_world::{Experiment, Kind, NoticeMode};

const MS: Nanos = SECOND / 1000;
const OUTAGE: Nanos = 10 * SECOND;
/// The first packets over this link often are lost: for 100 ms in the mean it loses all, and for 200 none.
const LOSSY: &str = "6400kbit/9ms,loss=ge(0.5%,1%)/1ms";
const IN_BAND: NoticeMode = NoticeMode::InBand { lost: 0 };

fn traced(stack_name: &str, notice: NoticeMode, at: Nanos, scheme_name: &str) -> Trace {
    let (kind, stack) = (Kind::Bbm(OUTAGE), stack(stack_name));
    let e = Experiment { kind, notice, stack, ..experiment("6400kbit/9ms", LOSSY) };
    trace(&e, at, &[&scheme(scheme_name)]).remove(0)
}

/// Times of messages, and of the first data packet that the mobile receives, since the link is back.
fn messages(trace: &Trace, up: Nanos) -> (Vec<Nanos>, Nanos) {
    let (mut sent, mut heard) = (Vec::new(), Nanos::MAX);
    for event in &trace.events {
        match &event.what {
            What::Acted { act: Act::Message { .. }, .. } => sent.push(event.at - up),
            What::Received { packet, .. } if packet.data && event.at > up => heard = heard.min(event.at - up),
            _ => {}
        }
    }
    (sent, heard)
}

/// They come two round trips of 26 ms and 20 ms after the notice, then 75 ms apart, and none once something has come.
/// Seven take back the five doublings of ten seconds and two.
#[test]
fn a_sender_of_which_nothing_comes_is_reminded() {
    let due = [72, 147, 222, 297, 372, 522, 822].map(|ms| ms * MS);
    let mut reminded = 0;
    for at in 5..13 {
        for scheme_name in ["etcp-v1", "tcp-ho", "near"] {
            let at = at * SECOND;
            let (sent, heard) = messages(&traced("linux-6.12", IN_BAND, at, scheme_name), at + OUTAGE);
            let expected: Vec<_> = due.iter().copied().filter(|due| *due < heard).collect();
            assert_eq!(sent, expected, "{scheme_name} at {at}: something has come at {heard}");
            reminded += usize::from(!sent.is_empty());
        }
    }
    assert!(reminded > 0, "the link loses too little");
}

/// No notice leaves a mobile whose sender is told otherwise, and senders of other stacks ignore messages.
#[test]
fn who_sends_no_notice_reminds_nobody() {
    let cases = [
        ("linux-6.12", IN_BAND, "sack"),
        ("linux-6.12", NoticeMode::Instant, "etcp-v1"),
        ("rfc", IN_BAND, "etcp-v1"),
    ];
    for (stack_name, notice, scheme_name) in cases {
        for at in 5..13 {
            let at = at * SECOND;
            let (sent, _) = messages(&traced(stack_name, notice, at, scheme_name), at + OUTAGE);
            assert_eq!(sent, [], "{scheme_name} on {stack_name} at {at}");
        }
    }
}
