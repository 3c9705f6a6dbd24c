//! A reader of the JSON lines, who knows nothing but docs/guide/trace.md, counts what the simulator counted.

use proptest::prelude::*;
use segue_handoff::Scheme;
use segue_study::explain::SchemeTrace;
use segue_tcp::profile::PROFILES;
use segue_world::trace::trace;
use segue_world::{AccessLink, Experiment, Kind, NoticeMode};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const MS: u64 = 1_000_000;

fn experiment(old: &str, new: &str) -> Experiment {
    let [old, new] = [old, new].map(|link| AccessLink::parse(link).expect("a link"));
    Experiment { packets: 60, ..Experiment::usual(old, new, PROFILES[0]) }
}

fn lines(experiment: &Experiment, at: u64, name: &str) -> Vec<Value> {
    let scheme = Scheme::build(name, &[]).expect("a scheme");
    let trace = trace(experiment, at, &[&scheme]).remove(0);
    let stack = experiment.stack.name;
    let told = SchemeTrace { scheme: name.into(), settings: Vec::new(), stack, trace };
    let text = segue_export::trace_lines(&told, None).expect("lines");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// Recounts what the last line says; `lines` are all of one scheme.
fn recount(lines: &[Value]) -> Value {
    let run = &lines[0];
    let number = |value: &Value, key: &str| value[key].as_u64().expect("a number");
    let (at, completion, end) = (number(run, "at_ns"), number(run, "completion_ns"), number(run, "end_ns"));
    let flows = number(run, "flows") as usize;
    let (mut timeouts, mut spurious, mut in_disconnection, mut fast) = (0, 0, 0, 0);
    let (mut drops, mut lost, mut resent, mut needless) = (0, 0, 0, 0);
    let mut copies = BTreeSet::new();
    let mut gone = BTreeSet::new();
    let (mut before, mut una) = (vec![0; flows], vec![0; flows]);
    let mut last = 0;
    for line in &lines[1..lines.len() - 1] {
        let ns = number(line, "ns");
        assert!(last <= ns && ns <= end, "in order: {line}");
        last = ns;
        let since = ns >= completion;
        let copy = || (number(line, "flow"), number(line, "copy"));
        match line["event"].as_str().expect("an event") {
            "timeout" if since => {
                timeouts += 1;
                spurious += u32::from(line["spurious"] == true);
            }
            "timeout" if ns >= at => in_disconnection += 1,
            "fast_retransmit" if since => fast += 1,
            "drop" | "lose" => {
                match line["event"] == "drop" {
                    true => drops += u32::from(since),
                    false => lost += u32::from(ns >= at),
                }
                if line.get("copy").is_some() {
                    gone.insert(copy());
                }
            }
            "send" if line["resent"] == true && since => {
                resent += 1;
                copies.insert(copy());
            }
            "receive" if line["duplicate"] == true => needless += u32::from(copies.contains(&copy())),
            "state" => {
                let flow = number(line, "flow") as usize;
                let seen = if since { &mut una } else { &mut before };
                seen[flow] = number(line, "snd_una");
            }
            _ => {}
        }
    }
    // A timeout is not spurious if the copy was lost.
    for line in lines.iter().filter(|line| line["event"] == "timeout" && line["spurious"] == true) {
        assert!(!gone.contains(&(number(line, "flow"), number(line, "copy"))), "{line}");
    }
    let acknowledged: Vec<u64> =
        una.iter().zip(&before).map(|(una, before)| una.max(before) - before).collect();
    let done = (0..flows)
        .all(|flow| una[flow].max(before[flow]) >= run["targets"][flow].as_u64().expect("a target"));
    json!({
        "ns": end, "scheme": run["scheme"], "event": "counts",
        "transfer_ns": done.then_some(end - completion),
        "bound_ns": lines[lines.len() - 1]["bound_ns"],
        "timeouts": timeouts, "spurious_timeouts": spurious, "timeouts_in_disconnection": in_disconnection,
        "fast_retransmits": fast, "drops": drops, "lost_in_disconnection": lost,
        "retransmissions": resent, "needless_retransmissions": needless, "acknowledged": acknowledged,
    })
}

#[test]
fn the_lines_of_a_narrated_handoff() {
    let lines = lines(&experiment("6400kbit/9ms", "200kbit/300ms"), 8_200 * MS, "etcp");
    assert_eq!(lines[0]["event"], "run");
    assert_eq!(recount(&lines), lines[lines.len() - 1]);
    let decided: Vec<&Value> = lines.iter().filter(|line| line["event"] == "decide").collect();
    assert_eq!(decided[0]["on"], "notice");
    assert_eq!(decided[0]["rules"], json!([{ "name": "A1, case 1", "section": "2.1" }]));
    assert_eq!(decided[0]["advice"]["also"], json!(["rearm_timer"]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 24))]

    #[test]
    fn events_replayed_give_the_same_counts(
        rates in (2.3f64..4.0, 2.3f64..4.0),
        delays in (1u32..300, 1u32..300),
        outage in proptest::option::of(50u64..3000),
        flows in 1usize..4,
        stack in 0..PROFILES.len(),
        in_band in any::<bool>(),
        at in 1u64..120,
        scheme in prop_oneof![Just("sack"), Just("etcp"), Just("etcp-v1")],
    ) {
        let link = |rate: f64, delay| format!("{}kbit/{delay}ms", 10f64.powf(rate).round());
        let experiment = Experiment {
            kind: outage.map_or(Kind::Mbb, |ms| Kind::Bbm(ms * MS)),
            notice: if in_band { NoticeMode::InBand { lost: 0 } } else { NoticeMode::Instant },
            flows,
            stack: PROFILES[stack],
            ..experiment(&link(rates.0, delays.0), &link(rates.1, delays.1))
        };
        let lines = lines(&experiment, at * 100 * MS, scheme);
        prop_assert_eq!(recount(&lines), lines[lines.len() - 1].clone());
    }
}
