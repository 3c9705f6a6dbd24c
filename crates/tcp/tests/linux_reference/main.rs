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
