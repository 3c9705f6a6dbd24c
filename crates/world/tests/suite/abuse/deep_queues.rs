//! Lies to `near` over queues so long that losses refute nothing soon (docs/reference/near.md, 8.5 and 8.6).

use super::*;

/// Next to one other flow of the same congestion control, over a bottleneck of 10 Mbit/s and a queue of so many packets.
struct Bottleneck {
    kernel: &'static str,
    queue: u32,
}

/// The first notice comes after 3 to 20 s: into the slow start's recovery, behind it, and when the queue is full. Each link
/// is told once a second, or as soon as another claim is possible (near.md, 8.6).
const FIRST_TICKS: [u64; 6] = [60, 100, 140, 200, 260, 400];
const PERIODS: [u64; 2] = [21, 201];

impl Bottleneck {
    /// Data that the mobile and the other flow have from minutes in which `link` is told: once a second, then every ten.
    /// Without a link there is a single row.
    fn brought(&self, link: Option<Link>) -> Vec<[f64; 2]> {
        let minutes = |period: Option<u64>| {
            let mut all = [0.0, 0.0];
            for (first, seed) in FIRST_TICKS.iter().flat_map(|&first| [1, 2].map(|seed| (first, seed))) {
                let cell = parked(50_000, 1);
                let wan = WideArea { queue: self.queue, ..cell.wan };
                let experiment = DriveExperiment { stack: stack(self.kernel), seed, wan, ..cell };
                let tell = |sim: &mut DriveSim, tick: u64| {
                    let due = |period| tick >= first && (tick - first).is_multiple_of(period);
                    let Some(link) = link.filter(|_| period.is_some_and(due)) else { return };
                    sim.with_node(MN, |node, net| {
                        let DriveNode::Bench(BenchNode::Mobile(mobile)) = node else { return };
                        mobile.announce(net, link, 2, None, &[]);
                    });
                };
                let scheme = if link.is_some() { on_linux("near") } else { scheme("sack") };
                let brought = minute(&experiment, &scheme, tell).0;
                all = [all[0] + f64::from(brought.mobile), all[1] + f64::from(brought.cross)];
            }
            all
        };
        match link {
            Some(_) => PERIODS.map(|period| minutes(Some(period))).into(),
            None => vec![minutes(None)],
        }
    }

    /// The mobile's data with these notices over what silence has, and the other's, each the worse of the two periods.
    fn against_silence(&self, silent: [f64; 2], link: Link, name: &str) -> [f64; 2] {
        let rows = self.brought(Some(link)).into_iter();
        let [gain, left] = rows
            .map(|row| [row[0] / silent[0], row[1] / silent[1]])
            .fold([0.0, f64::INFINITY], |[most, least], [gain, left]| [gain.max(most), left.min(least)]);
        println!("{}, queue {}, {name}: {gain:.2}, other {left:.2}", self.kernel, self.queue);
        [gain, left]
    }
}

/// Lies about the rate, and about the delay, which hides queues.
const LIES: [(&str, Link); 7] = [
    ("5 Mbit/s", Link { rate_kbps: 5_000, delay_us: 10_000 }),
    ("2 Mbit/s, 100 ms", Link { rate_kbps: 2_000, delay_us: 100_000 }),
    ("40 Mbit/s, 200 ms", Link { rate_kbps: 40_000, delay_us: 200_000 }),
    ("10 Gbit/s", LIE),
    ("500 ms", Link { rate_kbps: 10_000, delay_us: 500_000 }),
    ("200 ms", Link { rate_kbps: 12_000, delay_us: 200_000 }),
    ("20 Mbit/s, 300 ms", Link { rate_kbps: 20_000, delay_us: 300_000 }),
];

/// Over a deep queue a raise without an outage meets no loss for long. There its round trips refute it. A lie about the
/// rate brings no more than 5 %, and one about the delay 10 % around cubic and 20 % around bbr. Around reno silence has
/// a quarter of the link and less. Any notice may bring more there, and half of the link at most.
fn a_liar_gains_little(kernel: &'static str) {
    for queue in [500, 1000] {
        let bottleneck = Bottleneck { kernel, queue };
        let silent = bottleneck.brought(None)[0];
        let has = silent[0] / (silent[0] + silent[1]);
        println!("{kernel}, queue {queue}, silence: {has:.2} of the link");
        bottleneck.against_silence(silent, truth(50_000), "true notices");
        for (name, link) in LIES {
            let [gain, left] = bottleneck.against_silence(silent, link, name);
            let label = format!("{kernel}, queue {queue}, {name}: {gain}, {left}");
            if has < 0.3 {
                assert!(gain * has <= 0.5, "{label}");
            } else {
                let delay = if kernel == "linux-6.12" { 0.1 } else { 0.2 };
                let more = if link == LIE { 0.05 } else { delay };
                assert!(gain <= 1.0 + more && left >= 1.0 - more, "{label}");
            }
        }
    }
}

#[test]
fn around_cubic_a_liar_over_deep_queues_gains_little() {
    a_liar_gains_little("linux-6.12");
}

#[test]
fn around_reno_a_liar_over_deep_queues_gains_little() {
    a_liar_gains_little("linux-6.12/reno");
}

#[test]
fn around_bbr_a_liar_over_deep_queues_gains_little() {
    a_liar_gains_little("linux-6.12/bbr");
}
