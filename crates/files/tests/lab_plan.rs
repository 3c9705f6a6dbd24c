//! Results of the simulator beside the senders of a laboratory.

use segue_files::LabFile;
use segue_study::{LabPlan, LiveRun, Moment};

fn plan(senders: &str, more: &str) -> LabPlan {
    let text =
        format!("old = \"6400kbit/9ms\"\nnew = \"6400kbit/9ms\"\nsenders = {senders}\nruns = 3\n{more}");
    LabFile::parse(&text, "p.toml").and_then(|file| file.plan(None)).unwrap_or_else(|error| panic!("{error}"))
}

/// Three handoffs, after the plan's warm-up; the laboratory's clock began 0.7 s before the data.
fn simulated(plan: &LabPlan, index: usize) -> Option<Vec<LiveRun>> {
    let moments = [0.2, 0.5, 0.8].map(|part| {
        let age = plan.warm_up + (part * 1e9) as u64;
        Moment { age, clock: age + 700_000_000, notice: None }
    });
    plan.simulated(&plan.senders[index], plan.kinds[0], &moments)
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

/// The simulator's handoffs come when the laboratory's did. That is at the same age of the flows, and over links that
/// vary at the same time of the links.
#[test]
fn the_handoff_comes_when_it_did() {
    let found = |old: &str, age: u64, clock: u64| {
        let text = format!("old = \"{old}\"\nnew = \"6400kbit/9ms\"\nsenders = [\"reno\"]\nruns = 1");
        let plan = LabFile::parse(&text, "p.toml").and_then(|file| file.plan(None)).expect("a plan");
        let moment = Moment { age: age * 1_000_000, clock: clock * 1_000_000, notice: None };
        let runs = plan.simulated(&plan.senders[0], plan.kinds[0], &[moment]).expect("it has reno");
        LiveRun { moment: Moment::default(), ..runs[0] }
    };
    let constant = "6400kbit/9ms";
    assert_eq!(found(constant, 5_100, 5_900), found(constant, 5_100, 9_000));
    assert_ne!(found(constant, 5_100, 5_900), found(constant, 5_400, 5_900));
    let varies = "6400kbit/9ms,reconfigure=15s@6s(80ms,10ms)";
    assert_eq!(found(varies, 5_100, 5_900), found(varies, 5_400, 5_900));
    assert_ne!(found(varies, 5_100, 5_900), found(varies, 5_100, 9_000));
}

/// The simulated mobile sends its notice as long after link-up as the laboratory's did. Senders that hear none do not
/// care.
#[test]
fn the_notice_comes_when_it_did() {
    let plan = plan("[\"etcp-v1\", \"cubic\"]", "disconnect = \"3s\"\nnoise = \"0s\"");
    let first = |index: usize, notice: Option<u64>| {
        let moment = Moment { age: 5_300_000_000, clock: 0, notice };
        plan.simulated(&plan.senders[index], plan.kinds[0], &[moment]).expect("it has both")[0].first_send_s
    };
    let (prompt, late) = (first(0, None).expect("it sends"), first(0, Some(200_000_000)).expect("it sends"));
    assert!((late - prompt - 0.2).abs() < 1e-6, "{prompt} {late}");
    assert_eq!(first(1, None), first(1, Some(200_000_000)));
}

/// The simulated links have the laboratory's noise unless it is switched off. It is drawn from the seed, and the same each
/// time. A link with jitter of its own has that alone.
#[test]
fn simulated_links_are_as_noisy_as_the_laboratory() {
    let found = |link: &str, more: &str| {
        let text = format!("old = \"{link}\"\nnew = \"{link}\"\nsenders = [\"bbr\"]\nruns = 3\n{more}");
        let plan = LabFile::parse(&text, "p.toml").and_then(|file| file.plan(None)).expect("a plan");
        simulated(&plan, 0).expect("it has bbr")
    };
    let plain = "6400kbit/9ms";
    let usual = found(plain, "");
    assert_eq!(usual, found(plain, "noise = \"0.05ms\""));
    assert_ne!(usual, found(plain, "noise = \"0s\""));
    assert_ne!(usual, found(plain, "seed = 2"));
    let own = "6400kbit/9ms,jitter=1ms";
    assert_eq!(found(own, ""), found(own, "noise = \"0s\""));
    // A direction that has none gets it.
    let down = "6400kbit/9ms,jitter=1ms,up-jitter=0ms";
    assert_ne!(found(down, ""), found(down, "noise = \"0s\""));
}

/// The simulator's wired part is the bench's, and what differs is said; without the simulator there is nothing to
/// compare.
#[test]
fn a_wired_part_of_its_own_is_told() {
    let told = |more: &str| plan("[\"cubic\"]", more).conditions_in_words();
    assert_eq!(told(""), "");
    assert_eq!(told("wired = \"4ms\""), "");
    assert_eq!(told("wired = \"0s\""), "wired = 0 s (simulator: 0.004 s)");
    assert_eq!(
        told("wired = \"20ms\"\nkind = \"bbm\"\ndead = \"down-first\""),
        "dead = down-first, wired = 0.02 s"
    );
    assert_eq!(told("wired = \"0s\"\nprogram = \"thin\""), "wired = 0 s");
}
