mod support;
use segue_world::*;
use support::*;
fn medians(old: &str, new: &str, kind: Kind, flows: usize, list: &[(&str, &[(&str, &str)])]) {
    let e = Experiment { kind, flows, ..experiment(old, new) };
    let mut warm = WarmRun::new(e);
    let hs: Vec<_> = (1..=200).map(|i| warm.fork(i * 100 * MS).complete()).collect();
    for (name, set) in list {
        let s = scheme_with(name, set);
        let rs: Vec<_> = hs.iter().map(|h| h.run(&s)).collect();
        let mut t: Vec<f64> = rs.iter().map(|r| r.transfer.unwrap() as f64 / 1e9).collect();
        t.sort_by(f64::total_cmp);
        let to = rs.iter().map(|r| r.timeouts_after().count()).sum::<usize>() as f64 / 200.;
        let sp =
            rs.iter().map(|r| r.timeouts_after().filter(|t| t.spurious).count()).sum::<usize>() as f64 / 200.;
        println!(
            "{old}->{new} {kind:?} x{flows} {name} {set:?}: q1 {:.2} med {:.2} q3 {:.2} timeouts {:.2} spurious {:.2} drops {:.1}",
            t[50],
            t[100],
            t[150],
            to,
            sp,
            rs.iter().map(|r| r.drops as f64).sum::<f64>() / 200.
        );
    }
}
#[test]
fn explore() {
    let three: &[(&str, &str)] = &[("reinit-rto", "3s")];
    println!(
        "{:?}",
        segue_handoff::Scheme::settings_of("etcp")
            .iter()
            .map(|s| (s.name, s.default.clone()))
            .collect::<Vec<_>>()
    );
    let three = if true { &[("reinit-rto-us", "3000000")][..] } else { three };
    for (o, n, k) in [
        ("6400kbit/9ms", "6400kbit/300ms", Kind::Bbm(500 * MS)),
        ("6400kbit/9ms", "200kbit/300ms", Kind::Bbm(500 * MS)),
        ("6400kbit/9ms", "200kbit/300ms", Kind::Bbm(1000 * MS)),
        ("6400kbit/9ms", "200kbit/300ms", Kind::Mbb),
        ("1600kbit/37ms", "200kbit/300ms", Kind::Mbb),
        ("1600kbit/37ms", "1600kbit/300ms", Kind::Bbm(500 * MS)),
    ] {
        medians(
            o,
            n,
            k,
            1,
            &[
                ("sack", &[]),
                ("etcp:a1", &[]),
                ("etcp:a3", &[]),
                ("etcp", &[]),
                ("etcp", three),
                ("etcp-v1", &[]),
                ("etcp-v1", three),
            ],
        );
    }
    medians(
        "6400kbit/9ms",
        "200kbit/300ms",
        Kind::Bbm(1000 * MS),
        4,
        &[("sack", &[]), ("etcp-v0", &[]), ("etcp-v0", three), ("etcp-v1", &[]), ("etcp-v1", three)],
    );
    medians(
        "6400kbit/9ms",
        "200kbit/300ms",
        Kind::Mbb,
        4,
        &[("sack", &[]), ("etcp-v0", &[]), ("etcp-v0", three), ("etcp-v1", &[]), ("etcp-v1", three)],
    );
}
