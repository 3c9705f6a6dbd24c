//! The mobile's agent in a laboratory: the program that an operator runs, in the mobile's namespace. It has a
//! configuration, a control socket and pins of its own. Nobody notifies it: it finds out by itself when the default
//! route moves.

use super::Error;
use super::access_link::{AccessLink, mean_kbps};
use super::child::Child;
use super::host::{DEVICES, Role};
use super::hosts::Hosts;
use super::interrupt;
use super::path::Which;
use super::plan::Plan;
use super::prefix::prefix;
use super::punctual::{Rank, rank_of_program};
use segue_agent::control::{Notify, Reply, Request, ask};
use segue_kernel::host;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Loading and verifying programs takes a moment, more on a busy machine.
const START: Duration = Duration::from_secs(600);
/// Between two looks whether it is at work.
const LOOK: Duration = Duration::from_millis(5);
const END: &str = "agent";

/// An agent at work. Dropped: ended in order, so that nothing of it stays.
pub(super) struct LabAgent {
    /// Some, until it is ended.
    process: Option<Child>,
    control: PathBuf,
    pin: Option<PathBuf>,
    /// The two links, as they are announced.
    links: [Notify; 2],
    /// Announcements under way: the agent answers when it has told its peers.
    announced: Vec<JoinHandle<Result<Reply, segue_agent::Error>>>,
}

impl LabAgent {
    /// Starts it and waits until it is at work: connections from then on negotiate. `command`: `segue agent run`, as
    /// words.
    pub(super) fn start(hosts: Hosts<'_>, command: &[String], plan: &Plan) -> Result<Self, Error> {
        let control = hosts.folder.join("agent.sock");
        let config = hosts.folder.join("agent.toml");
        let pin = pin();
        let text = configuration(plan, &hosts.cgroups.mobile, &control, pin.as_deref());
        fs::write(&config, text).map_err(Error::system(config.display().to_string()))?;
        let [program, args @ ..] = command else {
            return Err(Error::Plan("an agent without a command; expected its words".into()));
        };
        let config = config.display().to_string();
        let args: Vec<&str> = args.iter().map(String::as_str).chain(["--config", &config]).collect();
        let process = hosts.start(Role::Mobile, END, program, &args)?;
        let id = process.id();
        let links = [announced(0, &plan.old, 1.0), announced(1, &plan.new, plan.told_rate)];
        let mut agent = Self { process: Some(process), control, pin, links, announced: Vec::new() };
        let at_work = interrupt::wait(START, LOOK, || {
            agent.check()?;
            Ok(agent.ask().ok())
        })?;
        if at_work.is_none() {
            return Err(Error::Timeout { seconds: START.as_secs_f64(), what: "the agent to start".into() });
        }
        // The agent has attached its programs by now.
        rank_of_program(id, Some(Rank::End));
        Ok(agent)
    }

    /// Announces that in a moment there will be no link for so long, and then this one. The agent answers later.
    pub(super) fn announce(&mut self, link: Which, gap: Duration) {
        let gap_us = Some(u32::try_from(gap.as_micros()).unwrap_or(u32::MAX));
        self.expect(Notify { gap_us, ..self.links[link as usize].clone() });
    }

    /// Announces a handoff to this link without a break. The agent answers later.
    pub(super) fn foresee(&mut self, link: Which) {
        self.expect(self.links[link as usize].clone());
    }

    fn expect(&mut self, notify: Notify) {
        let control = self.control.clone();
        self.announced.push(std::thread::spawn(move || ask(&control, &Request::Notify(notify))));
    }

    fn check(&mut self) -> Result<(), Error> {
        self.process.as_mut().map_or(Ok(()), Child::check)
    }

    fn ask(&self) -> Result<Reply, Error> {
        ask(&self.control, &Request::Status)
            .map_err(|error| Error::Agent { end: END, said: error.to_string() })
    }

    /// Ends it; returns its notices' counters.
    ///
    /// # Errors
    /// It has ended before, or has told of no handoff although there was one (`handoffs`).
    pub(super) fn finish(mut self, handoffs: bool) -> Result<BTreeMap<String, u64>, Error> {
        self.check()?;
        for asked in std::mem::take(&mut self.announced) {
            let answer =
                asked.join().map_err(|_| Error::Fault("a thread that asked the agent panicked".into()))?;
            match answer {
                Ok(Reply::Rounds(_) | Reply::Noted) => {}
                Ok(other) => return Err(Error::Agent { end: END, said: format!("{other:?}") }),
                Err(error) => return Err(Error::Agent { end: END, said: error.to_string() }),
            }
        }
        let Reply::Status(status) = self.ask()? else {
            return Err(Error::Agent { end: END, said: "it did not say how it is".into() });
        };
        let rounds = status["rounds"].as_array().cloned().unwrap_or_default();
        let foreseen = |round: &serde_json::Value| round["cause"] == "foreseen";
        let (announced, rounds): (Vec<_>, Vec<_>) = rounds.into_iter().partition(foreseen);
        if handoffs && rounds.is_empty() {
            return Err(Error::Agent { end: END, said: "it has not noticed any handoff".into() });
        }
        Ok(counters(&announced, &rounds, &status["others"]))
    }
}

impl Drop for LabAgent {
    fn drop(&mut self) {
        if let Some(process) = self.process.take() {
            rank_of_program(process.id(), None);
            process.end_in_order();
            // One that did not end in time is killed, and leaves its pins.
            if let Some(pin) = &self.pin {
                let _ = fs::remove_dir_all(pin);
            }
        }
    }
}

/// Sums over rounds, and the longest wait; and what was done for peers that run nothing of ours. `announced`: the rounds
/// of handoffs to come, if any, of which the connections alone count.
fn counters(
    announced: &[serde_json::Value],
    rounds: &[serde_json::Value],
    others: &serde_json::Value,
) -> BTreeMap<String, u64> {
    let number = |value: &serde_json::Value| value.as_u64().unwrap_or(0);
    let sum_of =
        |rounds: &[serde_json::Value], name: &str| rounds.iter().map(|round| number(&round[name])).sum();
    let sum = |name: &str| -> u64 { sum_of(rounds, name) };
    let refused = |name: &str| rounds.iter().map(|round| number(&round["refused"][name])).sum();
    let mut counters = BTreeMap::from([("rounds".to_owned(), rounds.len() as u64)]);
    for name in ["triggered", "crafted", "acked", "resent"] {
        counters.insert(name.to_owned(), sum(name));
    }
    for name in ["unwritten", "unsent"] {
        counters.insert(name.to_owned(), refused(name));
    }
    for name in
        ["helped", "resumed", "messages", "acks", "octets", "unechoed", "narrowed", "opened", "closed"]
    {
        counters.insert(format!("others_{name}"), number(&others[name]));
    }
    if !announced.is_empty() {
        let told = |name: &str| -> u64 { sum_of(announced, name) };
        counters.insert("announced".to_owned(), ["triggered", "crafted", "acked"].map(told).iter().sum());
    }
    let longest = rounds.iter().map(|round| number(&round["waited_ns"])).max();
    counters.insert("waited_us".to_owned(), longest.unwrap_or(0) / 1000);
    counters
}

/// Agents of one machine must not share pins. None: there is no file system for them, and nothing is pinned.
fn pin() -> Option<PathBuf> {
    static SERIAL: AtomicU32 = AtomicU32::new(0);
    let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
    host::bpffs().map(|root| root.join(format!("{}{serial}", prefix())))
}

/// A link as an operator announces it, whose rate is this factor off.
fn announced(number: usize, link: &AccessLink, factor: f64) -> Notify {
    let kbps = |kbps: u64| u32::try_from(kbps).unwrap_or(u32::MAX);
    Notify {
        device: DEVICES[number].into(),
        rate_kbps: kbps(told_kbps(link, factor)),
        up_kbps: kbps(mean_kbps(&link.up)),
        delay_us: link.delay_us(),
        expect: true,
        gap_us: None,
    }
}

/// The rate of a link that this factor is off, kbit/s.
fn told_kbps(link: &AccessLink, factor: f64) -> u64 {
    (mean_kbps(&link.down) as f64 * factor).round().max(1.0) as u64
}

/// As an operator would write it who knows the plan's links; of measured ones their mean rates. Before each break that
/// is announced windows are to close, however long it is.
fn configuration(plan: &Plan, cgroup: &Path, control: &Path, pin: Option<&Path>) -> String {
    let path = |path: &Path| path.display().to_string();
    let mut text = format!("cgroup = {:?}\ncontrol = {:?}\n", path(cgroup), path(control));
    text.extend(pin.map(|pin| format!("pin = {:?}\n", path(pin))));
    text.push_str(&format!("[others]\nfreeze = \"60s\"\nmtu = {}\n", plan.agent_mtu));
    for ((device, link), factor) in DEVICES.into_iter().zip([&plan.old, &plan.new]).zip([1.0, plan.told_rate])
    {
        let rate = told_kbps(link, factor);
        let up = mean_kbps(&link.up);
        text.push_str(&format!(
            "[[link]]\ndevice = {device:?}\nrate = \"{rate}kbit\"\nup = \"{up}kbit\"\ndelay = \"{}us\"\n",
            link.delay_us()
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use segue_agent::Config;
    use segue_policy::Link;

    #[test]
    fn the_agent_understands_its_configuration() {
        let link = |kbps, delay_us| AccessLink {
            up: AccessLink::constant(kbps / 2, delay_us, None).up,
            ..AccessLink::constant(kbps, delay_us, None)
        };
        let mut plan = Plan::new(link(6400, 9_500), link(200, 300_000), Vec::new());
        plan.told_rate = 10.0;
        let text =
            configuration(&plan, Path::new("/c/mobile"), Path::new("/tmp/a.sock"), Some(Path::new("/p")));
        let config = Config::parse(&text, "agent.toml").expect("a configuration");
        assert_eq!(config.cgroup.as_deref(), Some(Path::new("/c/mobile")));
        assert_eq!((config.control, config.pin), ("/tmp/a.sock".into(), Some("/p".into())));
        assert!(config.others.all.resume && config.others.all.window);
        let rules: Vec<_> = config.settings.rules.iter().map(|rule| (rule.link, rule.up_kbps)).collect();
        let told = |rate_kbps, delay_us| Link { rate_kbps, delay_us };
        assert_eq!(rules, [(told(6400, 9_500), 3200), (told(2000, 300_000), 100)]);
        // Nor does an announcement tell another link.
        let foreseen = announced(1, &plan.new, plan.told_rate);
        assert_eq!((foreseen.rate_kbps, foreseen.up_kbps, foreseen.delay_us), (2000, 100, 300_000));
    }

    #[test]
    fn rounds_are_summed_up() {
        let round = |triggered: u64, waited_ns: u64| serde_json::json!({"triggered": triggered, "crafted": 1, "waited_ns": waited_ns, "refused": {"unsent": 2}});
        let others = serde_json::json!({"helped": 3, "messages": 12});
        let (rounds, announced) = ([round(1, 40_000), round(2, 70_000)], [round(4, 90_000)]);
        assert!(!counters(&[], &rounds, &others).contains_key("announced"));
        let counters = counters(&announced, &rounds, &others);
        assert_eq!(counters["announced"], 5);
        assert_eq!((counters["rounds"], counters["triggered"], counters["crafted"]), (2, 3, 2));
        assert_eq!((counters["unsent"], counters["waited_us"], counters["resent"]), (4, 70, 0));
        assert_eq!(
            (counters["others_helped"], counters["others_messages"], counters["others_acks"]),
            (3, 12, 0)
        );
    }
}
