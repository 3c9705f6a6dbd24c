//! Results of the simulator beside the senders of a laboratory.

use segue_files::LabFile;
use segue_study::{LabPlan, LiveRun};

fn plan(senders: &str, more: &str) -> LabPlan {
    let text =
        format!("old = \"6400kbit/9ms\"\nnew = \"6400kbit/9ms\"\nsenders = {senders}\nruns = 3\n{more}");
    LabFile::parse(&text, "p.toml").and_then(|file| file.plan(None)).unwrap_or_else(|error| panic!("{error}"))
}

fn simulated(plan: &LabPlan, index: usize) -> Option<Vec<LiveRun>> {
    plan.simulated(&plan.senders[index], plan.kinds[0])
}

#[test]
fn the_simulator_has_all_senders_but_those_with_icmp() {
    let plan = plan(
        "[\"cubic\", \"bbr\", \"reno\", \"cubic-rto1s\", \"etcp-v1\", \"tcp-ho\", \"etcp-v1/bbr\", \"unaware\", \
         \"cubic+agent\", \"etcp-v1+icmp\"]",
        "",
    );
    let has: Vec<bool> = (0..plan.senders.len()).map(|index| simulated(&plan, index).is_some()).collect();
    assert_eq!(has, [true, true, true, true, true, true, true, true, true, false]);
}

/// 10 s without a link. The longest RTO bounds the wait, and a timer of a second fires up to 32 ms late; a notice
/// ends it.
#[test]
fn senders_differ_as_they_should() {
    let plan = plan("[\"reno\", \"reno-rto1s\", \"etcp-v1\"]", "disconnect = \"10s\"");
    let runs: Vec<Vec<LiveRun>> = (0..3).map(|index| simulated(&plan, index).unwrap_or_default()).collect();
    assert!(runs.iter().all(|runs| runs.len() == 3));
    let first = |runs: &[LiveRun]| {
        runs.iter().map(|run| run.first_send_s.unwrap_or(f64::INFINITY)).fold(0.0, f64::max)
    };
    let (reno, capped, etcp) = (first(&runs[0]), first(&runs[1]), first(&runs[2]));
    assert!(etcp < 0.02 && capped <= 1.032 && reno > 1.0, "{etcp} {capped} {reno}");
    for run in &runs[2] {
        assert!(run.bytes_1s > Some(400_000) && run.bytes_10s > Some(7_000_000), "{run:?}");
        assert!(run.bytes_1s < run.bytes_5s && run.bytes_5s < run.bytes_10s && run.lost_in_disconnection > 0);
    }
}

#[test]
fn what_is_not_observed_is_not_told() {
    let plan = plan("[\"reno\"]", "observe = \"5s\"\ndisconnect = \"1s\"");
    for run in simulated(&plan, 0).unwrap_or_default() {
        assert!(run.bytes_1s.is_some() && run.bytes_5s.is_some() && run.bytes_10s.is_none());
    }
}
