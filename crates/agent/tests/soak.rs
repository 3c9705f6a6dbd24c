//! Many handoffs of many flows: every octet arrives, and is right.

mod host;

use host::Host;
use std::thread;
use std::time::Duration;

/// Five handoffs with a hundred flows; `make agent-soak`: a hundred with a thousand.
#[test]
#[ignore = "needs kernel"]
fn handoffs_lose_nothing() {
    soak(5, 100);
}

#[test]
#[ignore = "five minutes: make agent-soak"]
fn a_hundred_handoffs_with_a_thousand_flows_lose_nothing() {
    soak(100, 1000);
}

/// The same with a server that runs nothing of ours, which is sent messages after each gap.
#[test]
#[ignore = "needs kernel python3"]
fn handoffs_of_flows_with_a_stranger_lose_nothing() {
    soak_of_strangers(6, 100);
}

#[test]
#[ignore = "five minutes: make agent-soak"]
fn a_hundred_handoffs_with_a_thousand_flows_of_a_stranger_lose_nothing() {
    soak_of_strangers(100, 1000);
}

fn soak_of_strangers(handoffs: usize, count: usize) {
    let host = Host::with_two_cables();
    let mut agent = host.agent();
    let mut flows = host::Flows::with_stranger(&host, count);
    change_cables(&host, &mut flows, handoffs);
    let status = host.status();
    assert_eq!(status["connections"]["negotiated"], 0, "{status}");
    // A gap in every other handoff. After the others, those of which nothing comes may have lost packets. A connection
    // that was not busy before is left alone, and so is one with new data before its turn.
    let number = |name: &str| status["others"][name].as_u64().expect("a number");
    let most = (handoffs * count) as u64;
    assert!((1..=most).contains(&number("helped")) && number("resumed") <= number("helped"), "{status}");
    assert_eq!(number("unsent"), 0, "{status}");
    // Three about each of four numbers, and of single ones no more than an outage of minutes would have.
    assert!(number("messages") <= 24 * number("helped"), "{status}");
    println!("{handoffs} handoffs, {count} flows: {}; {}", flows.end(), status["others"]);
    assert_eq!(agent.signal("-TERM"), Some(0));
    for device in ["cable0", "cable2"] {
        assert_eq!(host.filters_of(device), "", "{}", agent.log());
    }
}

fn soak(handoffs: usize, count: usize) {
    let host = Host::with_two_cables();
    let mut agent = host.agent();
    let mut flows = host::Flows::start(&host, count);
    change_cables(&host, &mut flows, handoffs);
    let status = host.status();
    let rounds = status["notices"]["rounds"].as_u64().unwrap_or(0);
    assert!(rounds >= handoffs as u64, "{status}");
    assert_eq!(status["connections"]["negotiated"], count, "{status}");
    flows.speak(1);
    let report = flows.end();
    println!("{handoffs} handoffs, {count} flows: {report}; notices: {}", status["notices"]);
    assert_eq!(agent.signal("-TERM"), Some(0));
}

/// So many handoffs. Every other one has a gap of 300 ms without any link.
fn change_cables(host: &Host, flows: &mut host::Flows, handoffs: usize) {
    for handoff in 1..=handoffs {
        if handoff % 2 == 0 {
            let cables = ["cable0", "cable2"].map(|name| format!("ip link set {name} down")).join(";");
            host.shell(&cables);
            thread::sleep(Duration::from_millis(300));
            host.shell("ip link set cable0 up; ip link set cable2 up");
        }
        host.move_to(handoff % 2);
        flows.speak(1);
        thread::sleep(Duration::from_millis(1500));
    }
}
