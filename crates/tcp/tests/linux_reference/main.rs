//! The Linux sender and receiver against the real kernel's packets.
mod bench;
use bench::*;
use segue_tcp::linux::cc::CcName;
use segue_tcp::StackProfile;

fn narrated(path: &str) -> (Scenario, Vec<Sent>, Vec<(u64, String)>) {
    let text = std::fs::read_to_string(path).unwrap();
    let head: Vec<&str> = text.lines().next().unwrap().split_whitespace().collect();
    let n = |i: usize| head[i].parse::<f64>().unwrap();
    // # SCEN 6400 9 10 200 300 10 | RUN 9000 cubic 1 mbb 0 8.2 1 0 10.2
    let scenario = Scenario {
        control: CcName::named(head[11]).unwrap(), flows: n(12) as usize,
        old: (n(2) as u64, n(3) as u64, n(4) as usize), new: (n(5) as u64, n(6) as u64, n(7) as usize),
        outage: (head[13] == "bbm").then(|| (n(14) * 1e9) as u64), at: (n(15) * 1e9).round() as u64, phase: (n(17) * 1e6) as u64, seed: 1,
    };
    let mut sent = vec![];
    let mut acks = vec![];
    for l in text.lines().filter(|l| !l.starts_with('#')) {
        let w: Vec<&str> = l.split_whitespace().collect();
        let t = (w[0].parse::<f64>().unwrap() * 1e6).round() as u64 * 1000;
        if w[2] == "CN>" && w.contains(&"data") && w[3] == "f0" {
            let k = w.iter().position(|x| *x == "seg").unwrap();
            sent.push(Sent { at: t, seq: w[k + 1].trim_end_matches('R').parse::<f64>().unwrap().round() as u32 + 1, again: w[k + 1].ends_with('R') });
        }
        if (w[2] == "M1>" || w[2] == "M2>") && w[3] == "f0" {
            let k = w.iter().position(|x| *x == "ack").unwrap();
            let s = w.iter().position(|x| *x == "sack").map(|s| w[s + 1]).unwrap_or("");
            acks.push((t, format!("{} {s}", w[k + 1])));
        }
    }
    (scenario, sent, acks)
}

#[test]
#[ignore]
fn dev() {
    let path = std::env::var("RUN").unwrap();
    let show: usize = std::env::var("SHOW").ok().and_then(|s| s.parse().ok()).unwrap_or(5);
    let (scenario, sent, acks) = narrated(&path);
    let mut profile = StackProfile::named("linux").unwrap();
    profile.receive_window = 1_000_000;
    let mut bench = Bench::new(scenario, &profile);
    let end = sent.last().unwrap().at;
    bench.run(end, u32::MAX / 2, end);
    let f = &bench.flows[0];
    let mut wrong = 0;
    for (i, (a, b)) in f.sent.iter().zip(&sent).enumerate() {
        if a.seq != b.seq || a.again != b.again || a.at.abs_diff(b.at) > 2000 {
            println!("SEND #{i}: ours {:.6} {} {} | theirs {:.6} {} {}", a.at as f64 / 1e9, a.seq - 1, a.again, b.at as f64 / 1e9, b.seq - 1, b.again);
            wrong += 1;
            if wrong >= show { break; }
        }
    }
    let mut wrong = 0;
    for (i, (a, b)) in f.acks.iter().zip(&acks).enumerate() {
        let s: Vec<String> = a.1.sack.as_slice().iter().map(|x| format!("{}-{}", x.0 - 1, x.1 - 1)).collect();
        let mine = format!("{} {}", a.1.ack - 1, s.join(","));
        if mine != b.1 || a.0.abs_diff(b.0) > 2000 {
            println!("ACK #{i}: ours {:.6} {} | theirs {:.6} {}", a.0 as f64 / 1e9, mine, b.0 as f64 / 1e9, b.1);
            wrong += 1;
            if wrong >= show { break; }
        }
    }
    println!("{path}: sent {} {} acks {} {}", f.sent.len(), sent.len(), f.acks.len(), acks.len());
}

#[test]
#[ignore]
fn table() {
    let text = std::fs::read_to_string("/tmp/results.csv").unwrap();
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let col = |n: &str| names.iter().position(|x| *x == n).unwrap();
    let only = std::env::var("CC").unwrap_or("cubic".into());
    let flows: usize = std::env::var("FLOWS").ok().and_then(|x| x.parse().ok()).unwrap_or(1);
    let verbose = std::env::var("V").is_ok();
    let mut profile = StackProfile::named("linux").unwrap();
    profile.receive_window = 1_000_000;
    use std::collections::BTreeMap;
    let mut by: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    let (mut n, mut fd, mut fr, mut a5, mut to, mut tlp, mut und) = (0, 0, 0, 0, 0.0, 0.0, 0.0);
    for line in lines {
        let w: Vec<&str> = line.split(',').collect();
        if w[0] != "6.12.117-uml" || w[col("cc")] != only || w[col("flows")].parse::<usize>().unwrap() != flows { continue; }
        let f = |n: &str| w[col(n)].parse::<f64>().unwrap_or(f64::NAN);
        let s = Scenario { control: CcName::named(&only).unwrap(), flows,
            old: (f("old_kbps") as u64, f("old_ms") as u64, f("old_q") as usize), new: (f("new_kbps") as u64, f("new_ms") as u64, f("new_q") as usize),
            outage: (w[col("kind")] == "bbm").then(|| (f("disc_s") * 1e9).round() as u64), at: (f("T") * 1e9).round() as u64, phase: (f("phase_ms") * 1e6) as u64, seed: 1 };
        let mut b = Bench::new(s, &profile);
        let tc = b.completion();
        b.run(tc + 150_000_000_000, 100, tc);
        let rel = |t: u64| (t as f64 - tc as f64) / 1e9;
        let first = |again: Option<bool>| b.flows.iter().flat_map(|fl| fl.sent.iter().filter(|x| x.at >= tc && again.is_none_or(|g| x.again == g)).map(|x| x.at)).min().map_or(-1.0, rel);
        let mut last = f64::MIN;
        for fl in &b.flows { let goal = fl.hi + 100; last = last.max(fl.una.iter().find(|u| u.1 >= goal).map_or(f64::NAN, |u| rel(u.0))); }
        let a = f("A");
        let (d, r) = (first(None), first(Some(true)));
        n += 1;
        let okd = (d - f("t_first_data")).abs() < 1e-3;
        let okr = (r - f("t_first_rtx")).abs() < 1e-3 || f("t_first_rtx") > last;
        let oka = (last - a).abs() / a < 0.05;
        fd += okd as u32; fr += okr as u32; a5 += oka as u32;
        let (mut t0, mut p0, mut u0) = (0, 0, 0);
        for fl in &b.flows { t0 += fl.tally.timeouts - fl.before.timeouts; p0 += fl.tally.probes - fl.before.probes; u0 += fl.tally.undos - fl.before.undos; }
        let ku = f("TCPLossUndo_A") + f("TCPFullUndo_A") + f("TCPPartialUndo_A") + f("TCPDSACKUndo_A");
        to += (t0 as f64 - f("TCPTimeouts_A")).abs(); tlp += (p0 as f64 - f("TCPLossProbes_A")).abs(); und += (u0 as f64 - ku).abs();
        if verbose && !(okd && okr && oka) { println!("{} {}/{}->{}/{} {} {} T {} : A {last:.4} ({a}) fd {d:.4} ({}) fr {r:.4} ({}) to {t0} ({}) tlp {p0} ({}) undo {u0} ({ku})", w[1], s.old.0, s.old.1, s.new.0, s.new.1, w[col("kind")], w[col("disc_s")], w[col("T")], w[col("t_first_data")], w[col("t_first_rtx")], w[col("TCPTimeouts_A")], w[col("TCPLossProbes_A")]); }
        by.entry(format!("{}/{}->{}/{} {} {}", s.old.0, s.old.1, s.new.0, s.new.1, w[col("kind")], w[col("disc_s")])).or_default().push((last, a));
    }
    let med = |mut v: Vec<f64>| { v.sort_by(f64::total_cmp); (v[v.len() / 2] + v[(v.len() - 1) / 2]) / 2.0 };
    let (mut m5, mut worst) = (0, 0.0f64);
    for (k, v) in &by {
        let (o, t) = (med(v.iter().map(|x| x.0).collect()), med(v.iter().map(|x| x.1).collect()));
        let e = (o - t).abs() / t;
        if e < 0.05 { m5 += 1; } else { println!("MEDIAN {k}: ours {o:.4} theirs {t:.4}"); }
        worst = worst.max(e);
    }
    let n_ = n as f64;
    println!("{only} flows {flows}: runs {n}, first data {:.3}, first rtx {:.3}, A within 5% {:.3}; medians {m5}/{} worst {worst:.3}; mean abs err timeouts {:.3} tlp {:.3} undo {:.3}", fd as f64 / n_, fr as f64 / n_, a5 as f64 / n_, by.len(), to / n_, tlp / n_, und / n_);
}
