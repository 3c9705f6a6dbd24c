//! A forked run equals one that never shared anything, and a scheme that hears nothing is plain TCP.

use crate::support::*;
use segue_handoff::Scheme;
use segue_netsim::Nanos;
use segue_tcp::profile::{
    FREEBSD5_NEWRENO, LINUX, LINUX_6_12, LINUX_6_12_BBR, LINUX_6_12_LEOCC, NS2_SACK1, StackProfile,
};
use segue_world::{Definition, Experiment, Kind, NoticeMode, RunRecord, WarmRun};

const SCHEMES: [&str; 13] = [
    "near",
    "etcp",
    "etcp-a5",
    "etcp-v0",
    "etcp-v1",
    "etcp:a1",
    "etcp:a2",
    "etcp:a3",
    "etcp:a4",
    "etcp:a5",
    "etcp:fig1",
    "etcp:fig2",
    "etcp:fig3",
];

fn handoffs() -> Vec<Experiment> {
    let second = Kind::Bbm(1000 * MS);
    vec![
        experiment("6400kbit/9ms", "200kbit/300ms"),
        Experiment { flows: 4, ..experiment("6400kbit/9ms", "200kbit/300ms") },
        Experiment { kind: second, flows: 2, ..experiment("6400kbit/9ms", "200kbit/300ms") },
        Experiment { kind: second, ..experiment("6400kbit/9ms", "6400kbit/300ms") },
        Experiment { flows: 2, ..experiment("200kbit/300ms", "6400kbit/9ms") },
        Experiment {
            flows: 4,
            seed: 7,
            kind: Kind::Bbm(300 * MS),
            ..experiment("700kbit/75ms", "11mbit/10ms")
        },
        Experiment { definition: Definition::AfterAck, ..experiment("1600kbit/300ms", "1600kbit/1ms") },
    ]
}

/// Every 0.7 s from 0.1 s on.
fn times() -> impl Iterator<Item = Nanos> {
    (0..12).map(|i| (100 + 700 * i) * MS)
}

#[test]
fn a_forked_run_equals_an_unforked_one() {
    for experiment in handoffs() {
        let mut warm = WarmRun::new(experiment.clone());
        for at in times() {
            let shared = warm.fork(at).complete();
            for name in ["sack", "etcp", "etcp-v1"] {
                let scheme = scheme(name);
                assert_eq!(shared.run(&scheme), run(&experiment, at, &scheme), "{name} at {at}");
            }
        }
    }
}

/// A scheme that acts before T: forked before it does, or run from the beginning; and its fork is nobody else's.
#[test]
fn a_run_with_a_lead_equals_an_unforked_one() {
    let freeze = |warn| scheme_with("freeze", &[("warn", warn)]);
    let schemes = [
        scheme("newreno"),
        freeze("rtt"),
        freeze("0"),
        freeze("10ms"),
        freeze("1s"),
        freeze("10s"), // before the beginning
        scheme_with("freeze", &[("missed", "1")]),
    ];
    let delays = file("falling.delay", "600\n20\n300\n5\n");
    let rates = file("steady.rate", "10\n20\n30\n40\n");
    let mut experiments = handoffs();
    experiments.push(Experiment {
        kind: Kind::Bbm(700 * MS),
        ..experiment(&format!("trace:{rates},delay-trace={delays}"), "6400kbit/9ms")
    });
    experiments.push(Experiment { stack: stack("freebsd5-newreno"), ..experiments[2].clone() });
    for experiment in experiments {
        let (mut with, mut without) = (WarmRun::new(experiment.clone()), WarmRun::new(experiment.clone()));
        with.follow(&schemes);
        for at in times().flat_map(|at| [at, at + 10 * MS]) {
            let (with, without) = (with.fork(at).complete(), without.fork(at).complete());
            for scheme in &schemes {
                let record = with.run(scheme);
                assert_eq!(record, without.run(scheme), "{scheme:?} at {at}");
                assert_eq!(record, run(&experiment, at, scheme), "{scheme:?} at {at}");
                assert_eq!(record.bound, with.run(&schemes[0]).bound);
            }
        }
    }
}

/// A warm-up that others share: other new links, kinds, notices, definitions, routers; with and without followers.
#[test]
fn a_run_from_a_shared_warm_up_equals_an_unforked_one() {
    let delays = file("shared.delay", "40\n20\n30\n25\n");
    let rates = file("shared.rate", "3\n4\n9\n30\n");
    let measured = format!("trace:{rates},delay-trace={delays}");
    let warm_on = ["6400kbit/9ms", &measured].map(|old| Experiment {
        flows: 2,
        stack: stack("ns2-newreno"),
        ..experiment(old, "200kbit/300ms")
    });
    let schemes =
        ["newreno", "etcp-v1", "freeze", "mobile", "hn", "buffer-fcfd", "buffer-lcfd+phas"].map(scheme);
    for first in warm_on {
        let bbm = Kind::Bbm(700 * MS);
        let mut early = first.routers;
        early.hint = 250 * MS;
        let others = [
            Experiment { new: link("11mbit/20ms"), kind: bbm, ..first.clone() },
            Experiment { new: link("54mbit/2ms"), packets: 500, ..first.clone() },
            Experiment { kind: bbm, notice: NoticeMode::InBand { lost: 1 }, ..first.clone() },
            Experiment { new: link(&measured), kind: bbm, routers: early, ..first.clone() },
            Experiment { definition: Definition::AfterAck, notice_delay: 50 * MS, ..first.clone() },
        ];
        let (mut with, mut without) = (WarmRun::new(first.clone()), WarmRun::new(first.clone()));
        others.iter().for_each(|other| with.follow_towards(other, &schemes));
        for at in times().step_by(2) {
            let forks = [with.fork(at), without.fork(at)];
            for other in others.iter().cloned().map(std::sync::Arc::new) {
                assert!(first.shares_warm_up(&other));
                let shared = forks.each_ref().map(|fork| fork.towards(&other).complete());
                for scheme in &schemes {
                    let alone = run(&other, at, scheme);
                    for shared in &shared {
                        assert_eq!(shared.run(scheme), alone, "{scheme:?} at {at} to {}", other.new.text);
                    }
                }
            }
        }
    }
}

/// The same of a kernel's stack, where a packet leaves a full queue before another arrives at that instant. The links are
/// so slow and short that packets meet all the time.
#[test]
fn a_shared_warm_up_keeps_the_order_of_a_kernels_links() {
    let near = Scheme::build("near", &[("enact".into(), "linux".into())]).expect("a scheme");
    let experiment = Experiment {
        flows: 8,
        notice: NoticeMode::InBand { lost: 0 },
        stack: stack("linux-6.12"),
        ..experiment("800kbit/1ms", "6400kbit/1ms")
    };
    let mut warm = WarmRun::new(experiment.clone());
    let other = std::sync::Arc::new(experiment.clone());
    for at in [12_550 * MS, 17_550 * MS] {
        let shared = warm.fork(at).towards(&other).complete().run(&near);
        assert_eq!(shared, run(&experiment, at, &near), "{at}");
    }
}

/// Experiments that differ before the handoff share no warm-up.
#[test]
fn another_old_link_is_another_warm_up() {
    let first = experiment("6400kbit/9ms", "200kbit/300ms");
    for other in [
        experiment("6400kbit/10ms", "200kbit/300ms"),
        // An access link beyond 80 Mbit/s raises the wired hops.
        experiment("6400kbit/9ms", "100mbit/2ms"),
        Experiment { flows: 2, ..first.clone() },
        Experiment { seed: 2, ..first.clone() },
        Experiment { stack: stack("ns2-newreno"), ..first.clone() },
    ] {
        assert!(!first.shares_warm_up(&other), "{other:?}");
    }
}

/// Neither does it matter how often one forks, nor in which order the schemes run.
#[test]
fn forks_leave_no_trace() {
    let experiment = Experiment { flows: 2, ..experiment("6400kbit/9ms", "200kbit/300ms") };
    let mut coarse = WarmRun::new(experiment.clone());
    let mut fine = WarmRun::new(experiment);
    for step in 0..800 {
        fine.fork(step * 10 * MS + 3);
    }
    let (coarse, fine) = (coarse.fork(8200 * MS).complete(), fine.fork(8200 * MS).complete());
    let forwards: Vec<_> = SCHEMES.map(|name| coarse.run(&scheme(name))).into();
    let mut backwards: Vec<_> = SCHEMES.iter().rev().map(|name| fine.run(&scheme(name))).collect();
    backwards.reverse();
    assert_eq!(forwards, backwards);
}

#[test]
fn a_withheld_notice_leaves_plain_tcp() {
    for experiment in handoffs() {
        for notice in [NoticeMode::Withheld, NoticeMode::InBand { lost: 2 }] {
            let mut warm = WarmRun::new(Experiment { notice, ..experiment.clone() });
            for at in times() {
                let handoff = warm.fork(at).complete();
                let plain = handoff.run(&scheme("sack"));
                for name in SCHEMES {
                    assert_eq!(handoff.run(&scheme(name)), plain, "{name}, {notice:?} at {at}");
                }
            }
        }
    }
}

/// The enactment makes no difference to a sender that gets no advice; nor does the stack.
#[test]
fn a_withheld_notice_leaves_plain_tcp_whoever_enacts() {
    let names = ["etcp", "etcp-v1", "etcp:fig3", "tcp-ho", "tcp-ho-aggressive"];
    for stack in [NS2_SACK1, LINUX, LINUX_6_12, LINUX_6_12_BBR, FREEBSD5_NEWRENO] {
        for experiment in handoffs() {
            for notice in [NoticeMode::Withheld, NoticeMode::InBand { lost: 2 }] {
                let mut warm = WarmRun::new(Experiment { notice, stack, ..experiment.clone() });
                for at in times().step_by(3) {
                    let handoff = warm.fork(at).complete();
                    let plain = handoff.run(&scheme("sack"));
                    for name in names {
                        for enact in ["paper", "linux"] {
                            let enacted = handoff.run(&scheme_with(name, &[("enact", enact)]));
                            assert_eq!(enacted, plain, "{name}, {enact}, {notice:?} at {at}");
                        }
                    }
                }
            }
        }
    }
}

/// Schemes that need a kernel's stack.
#[test]
fn a_withheld_notice_leaves_plain_tcp_of_linux() {
    for stack in [LINUX_6_12, LINUX_6_12_BBR] {
        for experiment in handoffs() {
            for notice in [NoticeMode::Withheld, NoticeMode::InBand { lost: 2 }] {
                let mut warm = WarmRun::new(Experiment { notice, stack, ..experiment.clone() });
                for at in times().step_by(3) {
                    let handoff = warm.fork(at).complete();
                    let plain = handoff.run(&scheme("sack"));
                    for name in ["backoff-reset", "quic-reset", "careful-resume"] {
                        assert_eq!(handoff.run(&scheme(name)), plain, "{name}, {notice:?} at {at}");
                    }
                    // It has a schedule in place of a notice.
                    if notice == NoticeMode::Withheld {
                        assert_eq!(handoff.run(&scheme("satcp")), plain, "satcp at {at}");
                    }
                }
            }
        }
    }
}

/// A schedule read before T is the same from a follower, from the start and in a run that shares nothing. It
/// makes a difference.
#[test]
fn a_schedule_is_read_before_the_handoff() {
    for (name, stack) in [("satcp", LINUX_6_12), ("leocc", LINUX_6_12_LEOCC)] {
        a_schedule_of(name, stack);
    }
}

fn a_schedule_of(name: &str, stack: StackProfile) {
    let errs = |error| scheme_with(name, &[("schedule-error", error)]);
    let schemes = [scheme(name), errs("-1s"), errs("1s")];
    let mut differ = 0;
    for experiment in handoffs() {
        let experiment = Experiment { stack, ..experiment };
        let (mut with, mut without) = (WarmRun::new(experiment.clone()), WarmRun::new(experiment.clone()));
        with.follow(&schemes);
        for at in times() {
            let (with, without) = (with.fork(at).complete(), without.fork(at).complete());
            let plain = with.run(&scheme("sack"));
            for scheme in &schemes {
                let record = with.run(scheme);
                assert_eq!(record, without.run(scheme), "{scheme:?} at {at}");
                assert_eq!(record, run(&experiment, at, scheme), "{scheme:?} at {at}");
                differ += u32::from(record != plain);
            }
        }
    }
    assert!(differ > 0);
}

/// With a notice it does make one, or the tests above say nothing.
#[test]
fn who_enacts_makes_a_difference_to_those_who_hear() {
    let outage = Experiment {
        kind: Kind::Bbm(3000 * MS),
        stack: LINUX,
        ..experiment("6400kbit/9ms", "200kbit/300ms")
    };
    for name in ["etcp", "etcp-v1", "tcp-ho"] {
        let [paper, linux] =
            ["paper", "linux"].map(|enact| run(&outage, 3000 * MS, &scheme_with(name, &[("enact", enact)])));
        assert_eq!(paper, run(&outage, 3000 * MS, &scheme(name)), "{name}: the default");
        assert_ne!(paper, linux, "{name}");
    }
}

/// Plain TCP does not care how others are told.
#[test]
fn plain_tcp_hears_nothing() {
    for experiment in handoffs() {
        for at in times() {
            let plain = run(&experiment, at, &scheme("sack"));
            for notice in [NoticeMode::Withheld, NoticeMode::InBand { lost: 0 }] {
                let other = Experiment { notice, ..experiment.clone() };
                // The bound of a told sender depends on the way of the notice.
                let record = RunRecord { bound_told: plain.bound_told, ..run(&other, at, &scheme("sack")) };
                assert_eq!(record, plain, "{notice:?} at {at}");
            }
        }
    }
}

/// On 200kbit/300ms the ACK of the SYN arrives at 0.711 s.
#[test]
fn a_notice_before_established_is_ignored() {
    let before = [100, 300, 500, 700].map(|at| at * MS);
    for kind in [Kind::Mbb, Kind::Bbm(10 * MS)] {
        for new in ["6400kbit/9ms", "200kbit/300ms", "400kbit/150ms"] {
            for notice in [NoticeMode::Instant, NoticeMode::Withheld] {
                let experiment = Experiment { kind, notice, flows: 2, ..experiment("200kbit/300ms", new) };
                let mut warm = WarmRun::new(experiment.clone());
                for at in before {
                    let handoff = warm.fork(at).complete();
                    let plain = handoff.run(&scheme("sack"));
                    for name in SCHEMES {
                        let record = handoff.run(&scheme(name));
                        assert_eq!(record, plain, "{name} {kind:?} to {new} at {at}");
                    }
                }
            }
        }
    }
}

/// An in-band notice that early tells of a link before which none was reported, or reaches a sender
/// that is not there yet. The ACKs it comes on may stand in for the delayed one of the SYN, no more.
/// From 500 ms on an ACK of the first data may bring the first report. The old link is known then, and the
/// notice counts.
#[test]
fn an_in_band_notice_before_established_is_ignored() {
    let experiment =
        Experiment { notice: NoticeMode::InBand { lost: 0 }, ..experiment("200kbit/300ms", "6400kbit/9ms") };
    for name in SCHEMES {
        for at in [100, 300, 350, 500, 700, 800, 1000] {
            let mut twin = Twin::hand_over(&experiment, at * MS).equip(&scheme(name)).announce(2);
            twin.finish();
            let heard = twin.picked(|what| (what == What::Notice).then_some(()));
            // A claim is no notice to a flow's own scheme.
            let most = usize::from(at >= 500 && name != "near");
            assert!(heard.len() <= most, "{name} at {at} ms: {heard:?}");
            assert!(at != 500 || heard.len() == most, "{name}: {heard:?}");
            let record = run(&experiment, at * MS, &scheme(name));
            twin.agrees_with(&record);
        }
    }
}
