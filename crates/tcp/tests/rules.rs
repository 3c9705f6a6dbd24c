//! Runs the rule scripts of `tests/scripts/` (their notation: `README.md` there).

mod runner;

use runner::{Hooks, Verdict, Words, run, run_folder};
use segue_tcp::{Advice, Nanos, Sender};

/// No scheme advises. `dupthresh N` is advice to change the threshold.
#[derive(Default)]
struct Plain;

impl Hooks for Plain {
    type Advisor = ();

    fn advisor(&self) -> Verdict<()> {
        Ok(())
    }

    fn event(&mut self, sender: &mut Sender<()>, now: Nanos, verb: &str, words: &mut Words) -> Verdict<bool> {
        if verb != "dupthresh" {
            return Ok(false);
        }
        sender.enact(now, &Advice { dupthresh: Some(words.number()?), ..Advice::default() });
        Ok(true)
    }
}

#[test]
fn every_script_holds() {
    if let Err(failures) = run_folder::<Plain>(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/scripts"), 67) {
        panic!("\n{failures}");
    }
}

/// The runner itself notices what is missing, what is too much and what is wrong.
#[test]
fn scripts_can_fail() {
    let start = "stack ns2-sack1\n0.0 open 9\n0.0 > syn\n0.1 < ack 1\n";
    run::<Plain>(&format!("{start}> data 1..3\nexpect cwnd 3")).unwrap();
    for (rest, why) in [
        ("> data 1..2", "it has sent more"),
        ("> data 1..4", "it has sent nothing more"),
        ("> data 1..3\nexpect cwnd 4", "expected 4, found 3"),
        ("> data 1..3 again", "sent again"),
        ("> data 1..3\n9.0 timer", "timer, s"),
        ("> data 1..3\n9.0 < ack 2", "a timer was due"),
        ("> data 1..3\nexpect speed 4", "no `speed`"),
        ("> data 1..3\nexspect cwnd 4", "no such line"),
    ] {
        let found = run::<Plain>(&format!("{start}{rest}")).unwrap_err();
        assert!(found.contains(why), "{rest}: {found}");
    }
}
