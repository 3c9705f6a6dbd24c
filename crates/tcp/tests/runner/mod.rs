//! Runs rule scripts (their notation: `scripts/README.md`). A crate explains its own lines in a [`Hooks`].

use segue_tcp::advice::{Advisor, View};
use segue_tcp::profile::RttSampling;
use segue_tcp::segment::{CarriedOption, Timestamps};
use segue_tcp::wire::Options;
use segue_tcp::{Nanos, Receiver, SackList, Segment, Sender, StackProfile, Transmit, encode};
use std::collections::VecDeque;

/// Why a line fails.
pub type Verdict<T = ()> = Result<T, String>;

const SECOND: f64 = 1e9;

/// Extensions of the notation by a crate.
pub trait Hooks: Default {
    /// The senders' advisor.
    type Advisor: Advisor;

    /// A heading that is not the runner's; whether it is known.
    fn heading(&mut self, _verb: &str, _words: &mut Words) -> Verdict<bool> {
        Ok(false)
    }

    /// The advisor of the sender, after the headings.
    fn advisor(&self) -> Verdict<Self::Advisor>;

    /// An event that is not the runner's; whether it is known.
    fn event(
        &mut self,
        _sender: &mut Sender<Self::Advisor>,
        _now: Nanos,
        _verb: &str,
        _words: &mut Words,
    ) -> Verdict<bool> {
        Ok(false)
    }
}

enum Endpoint<A> {
    Sender(Box<Sender<A>>),
    Receiver(Box<Receiver>),
}

/// A script at some line.
struct Run<H: Hooks> {
    hooks: H,
    profile: StackProfile,
    endpoint: Option<Endpoint<H::Advisor>>,
    is_receiver: bool,
    now: Nanos,
    /// Window that the script, as the receiver, last advertised.
    window: u32,
    /// Sent, and not yet mentioned by the script.
    sent: VecDeque<Transmit>,
    last: Option<Segment>,
}

/// Words of a line, taken from the left.
pub struct Words<'a>(VecDeque<&'a str>);

impl<'a> Words<'a> {
    pub fn next(&mut self) -> Verdict<&'a str> {
        self.0.pop_front().ok_or_else(|| "the line ends too early".into())
    }

    pub fn number<T: std::str::FromStr>(&mut self) -> Verdict<T> {
        let word = self.next()?;
        word.parse().map_err(|_| format!("`{word}` is not a number"))
    }

    /// The word, if it comes next.
    pub fn take(&mut self, word: &str) -> bool {
        let here = self.0.front() == Some(&word);
        if here {
            self.0.pop_front();
        }
        here
    }

    /// `7` or `4..6`, as 7..8 or 4..7, if that comes next.
    fn range(&mut self) -> Option<(u32, u32)> {
        let word = self.0.front()?;
        let (first, last) = word.split_once("..").unwrap_or((word, word));
        let range = (first.parse().ok()?, last.parse::<u32>().ok()? + 1);
        self.0.pop_front();
        Some(range)
    }

    fn end(&self) -> Verdict {
        match self.0.front() {
            Some(word) => Err(format!("`{word}`: not understood here")),
            None => Ok(()),
        }
    }
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, expected: T, found: T) -> Verdict {
    match expected == found {
        true => Ok(()),
        false => Err(format!("{what}: expected {expected:?}, found {found:?}")),
    }
}

fn seconds(time: Nanos) -> f64 {
    time as f64 / SECOND
}

fn nanos(word: &str) -> Option<Nanos> {
    word.parse::<f64>().ok().filter(|s| *s >= 0.0).map(|s| (s * SECOND).round() as Nanos)
}

impl<H: Hooks> Run<H> {
    fn new() -> Self {
        let profile = StackProfile::named("rfc").unwrap();
        Self {
            hooks: H::default(),
            profile,
            endpoint: None,
            is_receiver: false,
            now: 0,
            window: 1_000,
            sent: VecDeque::new(),
            last: None,
        }
    }

    fn line(&mut self, line: &str) -> Verdict {
        let mut words = Words(line.split_whitespace().collect());
        let time = match words.0.front().copied() {
            Some(word) if word.starts_with('+') => nanos(&word[1..]).map(|later| self.now + later),
            Some(word) => nanos(word),
            None => None,
        };
        if time.is_some() {
            words.next()?;
        }
        let verb = words.next()?;
        let of_scheme = words.0.front().is_some_and(|word| word.contains('='));
        let own = matches!(verb, "stack" | "receiver") || (verb == "set" && !of_scheme);
        if own || self.hooks.heading(verb, &mut words)? {
            if self.endpoint.is_some() {
                return Err(format!("`{verb}` belongs to the top"));
            }
            if own {
                self.heading(verb, &mut words)?;
            }
            return words.end();
        }
        if verb != ">" && !matches!(verb, "expect" | "wire") {
            self.nothing_more()?;
        }
        if verb == "timer" {
            self.timer(time)?;
        } else {
            if let Some(time) = time {
                self.advance(time)?;
            }
            match verb {
                "open" => {
                    let packets = words.number()?;
                    self.sender()?.open(packets);
                }
                "window" => {
                    let (now, window) = (self.now, words.number()?);
                    let receiver = self.receiver()?;
                    receiver.set_window(window);
                    receiver.announce_window(now);
                }
                "<" => self.arrives(&mut words)?,
                ">" => self.leaves(&mut words)?,
                "expect" => self.expect(&mut words)?,
                "wire" => self.wire(&mut words)?,
                _ => self.other(verb, &mut words)?,
            }
        }
        words.end()?;
        self.drain()
    }

    fn other(&mut self, verb: &str, words: &mut Words) -> Verdict {
        self.endpoint()?;
        let known = match &mut self.endpoint {
            Some(Endpoint::Sender(sender)) => self.hooks.event(sender, self.now, verb, words)?,
            _ => false,
        };
        if known { Ok(()) } else { Err(format!("`{verb}`: no such line")) }
    }

    fn heading(&mut self, verb: &str, words: &mut Words) -> Verdict {
        match verb {
            "stack" => {
                let name = words.next()?;
                self.profile = StackProfile::named(name).ok_or(format!("no stack `{name}`"))?;
            }
            "receiver" => self.is_receiver = true,
            _ => match words.next()? {
                "initial_window" => self.profile.initial_window = words.number()?,
                "receive_window" => self.profile.receive_window = words.number()?,
                "slow_but_steady" => self.profile.slow_but_steady = words.next()? == "on",
                "limited_transmit" => self.profile.limited_transmit = words.next()? == "on",
                "dsack" => self.profile.dsack = words.next()? == "on",
                "timestamps" if words.take("off") => self.profile.rtt = RttSampling::OneAtATime,
                "dupthresh" => self.profile.dupthresh = words.number()?,
                "rto_floor" => {
                    self.profile.rto.min = nanos(words.next()?).ok_or("not a time")?;
                }
                key => return Err(format!("no setting `{key}`")),
            },
        }
        Ok(())
    }

    fn endpoint(&mut self) -> Verdict<&mut Endpoint<H::Advisor>> {
        let made = match self.endpoint.take() {
            Some(made) => made,
            None if self.is_receiver => Endpoint::Receiver(Box::new(Receiver::new(&self.profile))),
            None => {
                let advisor = self.hooks.advisor()?;
                Endpoint::Sender(Box::new(Sender::new(&self.profile, 0, advisor)))
            }
        };
        Ok(self.endpoint.insert(made))
    }

    fn sender(&mut self) -> Verdict<&mut Sender<H::Advisor>> {
        match self.endpoint()? {
            Endpoint::Sender(sender) => Ok(sender),
            Endpoint::Receiver(_) => Err("this is a script for a receiver".into()),
        }
    }

    fn receiver(&mut self) -> Verdict<&mut Receiver> {
        match self.endpoint()? {
            Endpoint::Receiver(receiver) => Ok(receiver),
            Endpoint::Sender(_) => Err("this is a script for a sender".into()),
        }
    }

    fn deadline(&self) -> Option<Nanos> {
        match self.endpoint.as_ref()? {
            Endpoint::Sender(sender) => sender.deadline(),
            Endpoint::Receiver(receiver) => receiver.deadline(),
        }
    }

    fn nothing_more(&self) -> Verdict {
        match self.sent.front() {
            Some(more) => {
                let Segment { seq, ack, sack, .. } = &more.segment;
                Err(format!("it has sent more: packet {seq}, ack {ack}, sack {:?}", sack.as_slice()))
            }
            None => Ok(()),
        }
    }

    fn advance(&mut self, time: Nanos) -> Verdict {
        if time < self.now {
            return Err(format!("time runs backwards from {} s", seconds(self.now)));
        }
        if time > self.now {
            self.nothing_more()?;
        }
        if let Some(deadline) = self.deadline().filter(|deadline| *deadline < time) {
            return Err(format!("a timer was due at {} s", seconds(deadline)));
        }
        self.now = time;
        Ok(())
    }

    fn timer(&mut self, time: Option<Nanos>) -> Verdict {
        let deadline = self.deadline().ok_or("no timer is running")?;
        same("timer, s", seconds(time.unwrap_or(deadline)), seconds(deadline))?;
        self.now = deadline;
        match self.endpoint()? {
            Endpoint::Sender(sender) => {
                sender.on_timer(deadline);
            }
            Endpoint::Receiver(receiver) => receiver.on_timer(deadline),
        }
        Ok(())
    }

    fn drain(&mut self) -> Verdict {
        let now = self.now;
        let mut sent = Vec::new();
        match self.endpoint()? {
            Endpoint::Sender(sender) => {
                while let Some(transmit) = sender.poll_transmit(now) {
                    sent.push(transmit);
                    if sent.len() > 100_000 {
                        return Err("it never stops sending".into());
                    }
                }
            }
            Endpoint::Receiver(receiver) => {
                while let Some((segment, bytes)) = receiver.poll_transmit() {
                    sent.push(Transmit { segment, bytes, copy: 0, retransmission: false });
                }
            }
        }
        self.sent.extend(sent);
        Ok(())
    }

    /// `ts`, `echo`, `win`, `sack` in any order.
    fn fields(&mut self, words: &mut Words, segment: &mut Segment) -> Verdict {
        let mut stamps = Timestamps { value: 0, echo: 0 };
        loop {
            if words.take("ts") {
                stamps.value = words.number()?;
            } else if words.take("echo") {
                stamps.echo = words.number()?;
            } else if words.take("win") {
                segment.window = words.number()?;
                self.window = segment.window;
            } else if words.take("sack") {
                while let Some((left, right)) = words.range() {
                    segment.sack.push(left, right);
                }
            } else {
                if stamps.value != 0 || stamps.echo != 0 {
                    segment.timestamps = Some(stamps);
                }
                return Ok(());
            }
        }
    }

    fn arrives(&mut self, words: &mut Words) -> Verdict {
        let mut segment = Segment {
            seq: 1,
            ack: 1,
            window: self.window,
            payload: 0,
            syn: false,
            push: false,
            has_ack: true,
            detail: Default::default(),
            ecn: Default::default(),
            sack: SackList::default(),
            timestamps: None,
            option: CarriedOption::default(),
        };
        let mut seqs = (1, 2);
        if words.take("notice") {
            segment.option = CarriedOption::new(&[253, 4, 0, 0]).unwrap();
        }
        match words.next()? {
            "ack" => segment.ack = words.number()?,
            "syn" => {
                (segment.syn, segment.has_ack) = (true, false);
                seqs = (0, 1);
            }
            "data" => {
                segment.payload = self.profile.mss;
                seqs = words.range().ok_or("which packets?")?;
            }
            "probe" => seqs = (words.number()?, 0),
            word => return Err(format!("`{word}`: no such segment")),
        }
        self.fields(words, &mut segment)?;
        let now = self.now;
        for seq in seqs.0..seqs.1.max(seqs.0 + 1) {
            segment.seq = seq;
            match self.endpoint()? {
                Endpoint::Sender(sender) => sender.on_segment(now, &segment),
                Endpoint::Receiver(receiver) => {
                    receiver.on_segment(now, &segment);
                }
            }
            self.drain()?;
        }
        Ok(())
    }

    fn leaves(&mut self, words: &mut Words) -> Verdict {
        let what = words.next()?;
        if what == "nothing" {
            return self.nothing_more();
        }
        let (first, end) = match what {
            "syn" => (0, 1),
            "data" => words.range().ok_or("which packets?")?,
            "probe" | "ack" => (0, 1),
            word => return Err(format!("`{word}`: no such segment")),
        };
        let ack = if what == "ack" { Some(words.number::<u32>()?) } else { None };
        let again = words.take("again");
        let keep = self.window;
        for seq in first..end {
            let Some(Transmit { segment, retransmission, .. }) = self.sent.pop_front() else {
                return Err(format!("{what} {seq}: it has sent nothing more"));
            };
            let mut words = Words(words.0.clone());
            let mut wanted = Segment { sack: SackList::default(), timestamps: None, ..segment };
            self.fields(&mut words, &mut wanted)?;
            words.end()?;
            match ack {
                Some(ack) => {
                    same("ack", ack, segment.ack)?;
                    same("sack", wanted.sack, segment.sack)?;
                }
                None if what == "probe" => same("payload of a probe", 0, segment.payload)?,
                None => {
                    same("packet", seq, segment.seq)?;
                    same("SYN", what == "syn", segment.syn)?;
                    same(&format!("packet {seq} sent again"), again, retransmission)?;
                }
            }
            same("window", wanted.window, segment.window)?;
            if let Some(stamps) = wanted.timestamps {
                let found = segment.timestamps.unwrap_or(Timestamps { value: 0, echo: 0 });
                if stamps.value != 0 {
                    same("time stamp", stamps.value, found.value)?;
                }
                same("time stamp echo", stamps.echo, found.echo)?;
            }
            self.last = Some(segment);
        }
        words.0.clear();
        self.window = keep;
        Ok(())
    }

    fn expect(&mut self, words: &mut Words) -> Verdict {
        let deadline = self.deadline();
        while let Ok(key) = words.next() {
            let wanted = words.next()?;
            let found = match self.endpoint()? {
                Endpoint::Receiver(receiver) => match key {
                    "next" => receiver.rcv_nxt().to_string(),
                    _ => return Err(format!("no `{key}`")),
                },
                Endpoint::Sender(sender) => of_sender(key, sender, deadline)?,
            };
            let equal = match (wanted.parse::<f64>(), found.parse::<f64>()) {
                (Ok(wanted), Ok(found)) => {
                    // Windows come in 1/256 packet, times in ns; scripts write few digits.
                    let digits = if matches!(key, "cwnd" | "ssthresh") { 1.0 / 256.0 } else { 1e-6 };
                    (wanted - found).abs() <= digits
                }
                _ => wanted == found,
            };
            if !equal {
                return Err(format!("{key}: expected {wanted}, found {found}"));
            }
        }
        Ok(())
    }

    fn wire(&mut self, words: &mut Words) -> Verdict {
        let segment = self.last.as_ref().ok_or("nothing has been sent")?;
        let options = encode::options(&self.profile, segment);
        let Options { mss, window_scale, sack_permitted, timestamps, sack, .. } = options;
        let none = || "none".to_string();
        while let Ok(key) = words.next() {
            let wanted = words.next()?;
            let found = match key {
                "mss" => mss.map_or_else(none, |mss| mss.to_string()),
                "wscale" => window_scale.map_or_else(none, |shift| shift.to_string()),
                "sackok" => if sack_permitted { "yes" } else { "no" }.into(),
                "ts" => timestamps.map_or_else(none, |t| format!("{},{}", t.value, t.echo)),
                "blocks" => sack.len().to_string(),
                "options" => options.encoded_len().to_string(),
                "window" => encode::window_field(&self.profile, segment).to_string(),
                _ => return Err(format!("no `{key}`")),
            };
            same(key, wanted, found.as_str())?;
        }
        Ok(())
    }
}

fn of_sender<A: Advisor>(key: &str, sender: &Sender<A>, deadline: Option<Nanos>) -> Verdict<String> {
    let View {
        flight,
        cwnd,
        ssthresh,
        in_fast_recovery,
        in_rto_recovery,
        srtt_before,
        timeouts_since_ack,
        ..
    } = sender.view();
    let (counters, (srtt, rto, floor)) = (sender.counters(), sender.timing());
    let time = |time: Option<Nanos>| time.map_or("none".into(), |time| seconds(time).to_string());
    Ok(match key {
        "cwnd" => (f64::from(cwnd) / 256.0).to_string(),
        "ssthresh" if ssthresh == u32::MAX => "infinite".into(),
        "ssthresh" => (f64::from(ssthresh) / 256.0).to_string(),
        "flight" => flight.to_string(),
        "pipe" => sender.pipes().map_or("none".into(), |(pipe, _)| pipe.to_string()),
        "rto" => time(Some(rto)),
        "floor" => time(Some(floor)),
        "srtt" => time(srtt),
        "srtt_before" => time(Some(srtt_before)),
        "timer" => time(deadline),
        "timeouts_since_ack" => timeouts_since_ack.to_string(),
        "timeouts" => counters.timeouts.to_string(),
        "fast_retransmits" => counters.fast_retransmits.to_string(),
        "retransmissions" => counters.retransmissions.to_string(),
        "recovery" if in_fast_recovery => "fast".into(),
        "recovery" if in_rto_recovery => "timeout".into(),
        "recovery" => "none".into(),
        _ => return Err(format!("no `{key}`")),
    })
}

/// Runs a script; says which line fails and why.
pub fn run<H: Hooks>(script: &str) -> Verdict {
    let mut run = Run::<H>::new();
    for (k, line) in script.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if !line.is_empty() {
            run.line(line).map_err(|why| format!("line {}: {line}\n    {why}", k + 1))?;
        }
    }
    run.nothing_more()
}

/// Runs all scripts of a folder, at least so many; what is wrong with them, a line each.
pub fn run_folder<H: Hooks>(folder: &str, at_least: usize) -> Verdict {
    let mut scripts: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "script"))
        .collect();
    scripts.sort();
    assert!(scripts.len() >= at_least, "only {} scripts in {folder}", scripts.len());
    let mut failures = String::new();
    for path in &scripts {
        let script = std::fs::read_to_string(path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy();
        if !script.starts_with("# verify ") {
            failures += &format!("{name}: does not begin with `# verify`\n");
        }
        if let Err(why) = run::<H>(&script) {
            failures += &format!("{name}, {why}\n");
        }
    }
    if failures.is_empty() { Ok(()) } else { Err(failures) }
}
