//! Replays the ACKs of a narrated run to the sender alone.
use segue_tcp::linux::cc::CcName;
use segue_tcp::linux::{LinuxSender, LinuxSettings};
use segue_tcp::{Nanos, Segment, StackProfile};
use segue_tcp::segment::{SackList, Timestamps};
use std::collections::{BTreeSet, HashMap};

struct Line { t: Nanos, what: String, words: Vec<String> }

#[test]
#[ignore]
fn replay() {
    let path = std::env::var("RUN").unwrap();
    let cc = std::env::var("CC").unwrap();
    let show: usize = std::env::var("SHOW").ok().and_then(|s| s.parse().ok()).unwrap_or(30);
    let text = std::fs::read_to_string(&path).unwrap();
    let mut lines = vec![];
    for l in text.lines().filter(|l| !l.starts_with('#')) {
        let w: Vec<String> = l.split_whitespace().map(String::from).collect();
        let t = (w[0].parse::<f64>().unwrap() * 1e6).round() as u64 * 1000;
        lines.push(Line { t, what: w[2].clone(), words: w[3..].to_vec() });
    }
    const BOOT: u64 = 16384;
    let ms = |t: Nanos| (t / 1_000_000 + BOOT) as u32;
    // MN
    let mut sent: HashMap<String, Nanos> = HashMap::new();
    let mut echo: HashMap<String, (u32, u32)> = HashMap::new();
    let (mut rcv_nxt, mut wup, mut recent) = (0u32, 0u32, 0u32);
    let mut ooo: BTreeSet<u32> = BTreeSet::new();
    let id = |w: &Vec<String>| { let k = w.iter().position(|x| x == "id").unwrap(); w[k + 1].clone() };
    let seg = |w: &Vec<String>| -> Option<u32> {
        if !w.iter().any(|x| x == "data") { return None; }
        let k = w.iter().position(|x| x == "seg").unwrap();
        Some(w[k + 1].trim_end_matches('R').parse::<f64>().unwrap().round() as u32 + 1)
    };
    let t_break = if path.contains("-bbm") {
        let t = path.rsplit_once("-T").unwrap().1.trim_end_matches(".txt");
        (t.parse::<f64>().unwrap() * 1e9) as u64
    } else { u64::MAX };
    for l in &lines {
        if l.what == "M1<" && l.t >= t_break { continue; }
        match l.what.as_str() {
            "CN>" => { sent.insert(id(&l.words), l.t); }
            "M1<" | "M2<" => {
                let ts = sent.get(&id(&l.words)).map(|&t| ms(t)).unwrap_or(0);
                if l.words.iter().any(|x| x == "SYN") { rcv_nxt = 1; wup = 1; recent = ts; continue; }
                let Some(s) = seg(&l.words) else { continue };
                if ts < recent.wrapping_sub(1) { continue; }
                if s + 1 < wup { continue; } // tcp_sequence: old, dropped before tcp_ack
                if s <= wup && ts >= recent { recent = ts; }
                if s >= rcv_nxt { ooo.insert(s); }
                while ooo.remove(&rcv_nxt) { rcv_nxt += 1; }
            }
            "M1>" | "M2>" => { wup = rcv_nxt; echo.insert(id(&l.words), (ms(l.t), recent)); }
            _ => {}
        }
    }
    let mut profile = StackProfile::named("linux").unwrap();
    profile.receive_window = 1_000_000;
    let settings = LinuxSettings { control: CcName::named(&cc).unwrap(), hz: 250, seed: 1 };
    let mut s = LinuxSender::new(&profile, settings, 0, ());
    s.open(100_000_000);
    // what ours sends, with the state
    let mut ours: Vec<(Nanos, u32, bool)> = vec![];
    let mut wrong = 0;
    let mut theirs: Vec<(Nanos, u32, bool)> = vec![];
    for l in lines.iter().filter(|l| l.what == "CN>") {
        if let Some(k) = seg(&l.words) { theirs.push((l.t, k, l.words.iter().any(|w| w.ends_with('R') && w.len() > 1))); }
    }
    let mut at = 0;
    let check = |s: &mut LinuxSender<()>, now: Nanos, ours: &mut Vec<(Nanos, u32, bool)>, at: &mut usize, wrong: &mut usize| {
        while let Some(x) = s.poll_transmit(now) {
            if x.segment.payload == 0 { continue; }
            ours.push((now, x.segment.seq, x.retransmission));
            let mine = *ours.last().unwrap();
            let their = theirs.get(*at).copied().unwrap_or_default();
            if mine.1 != their.1 || mine.0.abs_diff(their.0) > 3_000 {
                println!("DIFF #{at}: ours {:.6} seg {} rtx {} | theirs {:.6} seg {} rtx {}", mine.0 as f64 / 1e9, mine.1 - 1, mine.2, their.0 as f64 / 1e9, their.1.wrapping_sub(1), their.2);
                *wrong += 1;
            }
            *at += 1;
        }
    };
    check(&mut s, 0, &mut ours, &mut at, &mut wrong);
    for l in &lines {
        while let Some(d) = s.deadline().filter(|&d| d < l.t.saturating_sub(1000) || (d <= l.t + 1000 && l.what == "I")) {
            s.on_timer(d);
            check(&mut s, d, &mut ours, &mut at, &mut wrong);
        }
        if wrong >= show { break; }
        match l.what.as_str() {
            "CN<" => {
                let syn = l.words.iter().any(|w| w == "SYN");
                let k = l.words.iter().position(|w| w == "ack").unwrap();
                let num = |x: &str| x.parse::<f64>().unwrap().round() as u32 + 1;
                let ack = num(&l.words[k + 1]);
                let mut sack = SackList::default();
                if let Some(k) = l.words.iter().position(|w| w == "sack") {
                    for b in l.words[k + 1].split(',') { let (a, c) = b.split_once('-').unwrap(); sack.push(num(a), num(c)); }
                }
                let (value, e) = if syn { (ms(l.t), BOOT as u32) } else { echo[&id(&l.words)] };
                let segment = Segment { seq: if syn { 0 } else { 1 }, ack, window: 1_000_000, payload: 0, syn, push: false, has_ack: true, sack,
                    timestamps: Some(Timestamps { value, echo: e }), option: Default::default() };
                s.on_segment(l.t, &segment);
                check(&mut s, l.t, &mut ours, &mut at, &mut wrong);
            }
            "I" => {
                let w = &l.words;
                let get = |n: &str| { let k = w.iter().position(|x| x == n).unwrap(); w[k + 1].clone() };
                let sk = s.sock();
                let theirs = (get("cwnd").parse::<u32>().unwrap(), get("ssth").parse::<u32>().unwrap(), get("una").parse::<u32>().unwrap(), get("sack").parse::<u32>().unwrap(), get("lost").parse::<u32>().unwrap(), get("rtr").parse::<u32>().unwrap());
                let mine = (sk.snd_cwnd, sk.snd_ssthresh, sk.packets_out, sk.sacked_out, sk.lost_out, sk.retrans_out);
                let rto: u64 = get("rto").parse().unwrap();
                let rto_mine = s.timing().1 / 1_000_000;
                let state = format!("{:?}", sk.ca_state);
                let st = w[11].clone();
                if theirs != mine || rto.abs_diff(rto_mine) > 4 || state.to_lowercase() != st.to_lowercase() {
                    println!("INFO {:.6}: ours {:?} {state} rto {rto_mine} srtt {} | theirs {:?} {} rto {} srtt {}", l.t as f64 / 1e9, mine, sk.srtt_us / 8, theirs, st, rto, get("srtt"));
                    wrong += 1;
                }
            }
            _ => {}
        }
    }
    println!("{path}: {} sent, {} theirs, wrong {wrong}", ours.len(), theirs.len());
}
