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
    // It is stated if some link has it.
    let stated = |link: &str, more: &str| {
        let text = format!("old = \"{link}\"\nnew = \"{link}\"\nsenders = [\"bbr\"]\n{more}");
        LabFile::parse(&text, "p.toml").and_then(|file| file.plan(None)).expect("a plan").simulated_noise()
    };
    assert_eq!(
        (stated(plain, ""), stated(plain, "noise = \"0s\""), stated(own, "")),
        (Some(50_000), None, None)
    );
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

/// Drops of a plan's sender, mean and standard error, and medians of first data (s) and of data in 10 s. The handoffs lie
/// evenly in the second of the plan; notices leave 1.5 ms after link-up, as in the laboratory.
fn twins(plan: &LabPlan, index: usize, runs: u64) -> ([f64; 2], f64, f64) {
    let moment = |run: u64| {
        let age = plan.warm_up + (2 * (run * 13 % runs) + 1) * 1_000_000_000 / (2 * runs);
        Moment { age, clock: age, notice: Some(1_500_000) }
    };
    let moments: Vec<Moment> = (0..runs).map(moment).collect();
    let found = plan.simulated(&plan.senders[index], plan.kinds[0], &moments).expect("it has the sender");
    let measures = segue_study::live::measures(&found);
    let square = |run: &LiveRun| (f64::from(run.drops) - measures.drops).powi(2);
    let error = (found.iter().map(square).sum::<f64>() / (runs * (runs - 1)) as f64).sqrt();
    let first = measures.first_send_after_link_up_s.median.expect("it sends");
    ([measures.drops, error], first, measures.bytes_10s.expect("it is observed"))
}

/// The simulator's numbers for the 24 rows of docs/internals/fidelity.md, without noise and with it. First data stay within
/// a granule of the timer wheel. Data stay within 1 %, those of bbr within 3 %.
#[test]
#[ignore = "takes a minute"]
fn noise_moves_drops_alone() {
    for (old, new) in [
        ("6400kbit/9ms", "200kbit/300ms"),
        ("1600kbit/75ms", "400kbit/150ms"),
        ("6400kbit/9ms", "6400kbit/9ms"),
    ] {
        for kind in ["bbm", "mbb"] {
            let plans = ["0s", "0.05ms"].map(|noise| {
                let text = format!(
                    "old = \"{old}\"\nnew = \"{new}\"\nkind = \"{kind}\"\nnoise = \"{noise}\"\n\
                     senders = [\"cubic\", \"bbr\", \"etcp-v1\", \"tcp-ho\"]"
                );
                LabFile::parse(&text, "p.toml").and_then(|file| file.plan(None)).expect("a plan")
            });
            for (index, sender) in plans[0].senders.iter().enumerate() {
                let [plain, noisy] = [0, 1].map(|which| twins(&plans[which], index, 160));
                println!("{old} -> {new}, {kind}, {}: {plain:.3?}, with noise {noisy:.3?}", sender.name);
                assert!((plain.1 - noisy.1).abs() < 0.032, "{}: {plain:?}, {noisy:?}", sender.name);
                let share = if sender.name == "bbr" { 0.03 } else { 0.01 };
                assert!((noisy.2 / plain.2 - 1.0).abs() < share, "{}: {plain:?}, {noisy:?}", sender.name);
            }
        }
    }
}
