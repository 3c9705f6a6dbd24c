//! Runs the rule scripts of `tests/scripts/`: what each algorithm does to a sender at a notice and
//! after it. Notation: `README.md` there.

#[path = "../../tcp/tests/runner/mod.rs"]
mod runner;

use runner::{Hooks, Verdict, Words, run, run_folder};
use segue_handoff::Scheme;
use segue_handoff::Start;
use segue_handoff::notice::Notice;
use segue_policy::Link;
use segue_tcp::{Nanos, Sender};

/// `scheme`, `set KEY=VALUE`, `notice`, `start` and `finish`.
#[derive(Default)]
struct Handoffs {
    name: Option<String>,
    settings: Vec<(String, String)>,
}

/// `6400/9`: kbit/s and ms one way.
fn link(word: &str) -> Verdict<Link> {
    let parsed = word.split_once('/').and_then(|(rate, delay)| {
        let delay_ms: f64 = delay.parse().ok()?;
        Some(Link { rate_kbps: rate.parse().ok()?, delay_us: (delay_ms * 1000.0).round() as u32 })
    });
    parsed.ok_or_else(|| format!("`{word}` is not a link, such as 6400/9"))
}

/// `640ms 64kB`: EHD and PBS of a Handoff Notification.
fn start(ehd: &str, pbs: &str) -> Verdict<Start> {
    let number =
        |word: &str, unit: &str| word.strip_suffix(unit).and_then(|number| number.parse::<u64>().ok());
    let parsed = number(ehd, "ms").zip(number(pbs, "kB"));
    let (ehd, pbs) = parsed.ok_or_else(|| format!("`{ehd} {pbs}` is no EHD and PBS, such as 640ms 64kB"))?;
    Ok(Start { ehd: ehd * 1_000_000, pbs: pbs * 1000 })
}

impl Hooks for Handoffs {
    type Advisor = Scheme;

    fn heading(&mut self, verb: &str, words: &mut Words) -> Verdict<bool> {
        match verb {
            "scheme" => self.name = Some(words.next()?.to_string()),
            "set" => {
                let word = words.next()?;
                let (key, value) = word.split_once('=').ok_or("KEY=VALUE?")?;
                self.settings.push((key.to_string(), value.to_string()));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn advisor(&self) -> Verdict<Scheme> {
        let name = self.name.as_deref().ok_or("which scheme?")?;
        Scheme::build(name, &self.settings).map_err(|error| error.to_string())
    }

    fn event(
        &mut self,
        sender: &mut Sender<Scheme>,
        now: Nanos,
        verb: &str,
        words: &mut Words,
    ) -> Verdict<bool> {
        match verb {
            "notice" => {}
            "start" => {
                let start = start(words.next()?, words.next()?)?;
                let view = sender.view();
                let advice = sender.advisor().on_start(now, &view, &start);
                sender.enact(now, &advice);
                return Ok(true);
            }
            "finish" => {
                let view = sender.view();
                let advice = sender.advisor().on_finish(&view);
                sender.enact(now, &advice);
                return Ok(true);
            }
            _ => return Ok(false),
        }
        let (old_link, new_link) = (link(words.next()?)?, link(words.next()?)?);
        let flows = if words.take("flows") { words.number()? } else { 1 };
        let disconnected = u32::from(words.take("bbm"));
        let view = sender.view();
        let notice = Notice { old_link, new_link, flows, disconnected };
        let advice = sender.advisor().on_notice(&view, &notice);
        sender.enact(now, &advice);
        Ok(true)
    }
}

#[test]
fn every_script_holds() {
    if let Err(failures) = run_folder::<Handoffs>(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/scripts"), 75) {
        panic!("\n{failures}");
    }
}

/// The lines that are new here are checked, too.
#[test]
fn scripts_can_fail() {
    let start =
        "stack ns2-sack1\nset initial_window 39\nscheme etcp:a2\n0.0 open 99\n0.0 > syn\n0.1 < ack 1\n";
    let handoff = "> data 1..39\n0.2 notice 1600/75 400/150\n";
    run::<Handoffs>(&format!("{start}{handoff}expect cwnd 11.0267")).unwrap();
    for (script, why) in [
        (format!("{start}{handoff}expect cwnd 39"), "expected 39"),
        (format!("{start}0.2 notice 1600/75 400/150"), "it has sent more"),
        (format!("{start}> data 1..39\n0.2 notice 1600/75 400"), "not a link"),
        (format!("{start}> data 1..39\n0.2 notice 1600/75 400/150 flow 2"), "not understood"),
        (format!("{start}> data 1..39\nset rest-us=0"), "belongs to the top"),
        (format!("{start}> data 1..39\n0.2 handoff 1600/75 400/150"), "no such line"),
        (format!("{start}> data 1..39\n0.2 start 10ms 10"), "no EHD and PBS"),
        (format!("set rest-ms=1\n{start}"), "rest-ms"),
        ("stack ns2-sack1\n0.0 open 9".to_string(), "which scheme"),
    ] {
        let found = run::<Handoffs>(&script).unwrap_err();
        assert!(found.contains(why), "{script}: {found}");
    }
}
