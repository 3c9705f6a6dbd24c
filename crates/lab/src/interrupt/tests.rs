//! Signals under waits, each in a process of its own.

use super::Guard;
use crate::Error;
use crate::bulk::write_bulk;
use crate::child::{Child, Place};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

const WAIT: &str = "SEGUE_TEST_WAIT";
/// More than a machine takes that is many times overloaded.
const LIMIT: Duration = Duration::from_secs(600);
const READY: &str = "it waits";

/// Not a test by itself: a process that waits for something that never comes.
#[test]
#[ignore = "a part of other tests"]
fn victim() {
    let Ok(what) = std::env::var(WAIT) else { return };
    let _signals = Guard::new().expect("handlers");
    println!("{READY}");
    let ended = match what.as_str() {
        "deaf" => {
            std::thread::sleep(LIMIT);
            Ok(())
        }
        "file" => write_bulk(Path::new("/dev/null"), u64::MAX),
        "port" => never_listens(),
        other => panic!("{other}"),
    };
    println!("{}", ended.expect_err("what it waits for never comes"));
}

fn never_listens() -> Result<(), Error> {
    let folder = tempfile::tempdir().expect("a folder");
    let place = Place { cgroup: folder.path(), folder: folder.path() };
    Child::start(place, "sleep", "sleep", &["1000"])?.listening(1, LIMIT)
}

struct Victim {
    process: std::process::Child,
    output: BufReader<ChildStdout>,
}

impl Victim {
    /// It waits by now.
    fn of(what: &str) -> Self {
        Self::start(Command::new(std::env::current_exe().expect("a test")), what)
    }

    /// The same of a command that starts this program.
    fn start(mut command: Command, what: &str) -> Self {
        command.args(["--ignored", "--exact", "interrupt::tests::victim", "--nocapture"]).env(WAIT, what);
        let mut process = command.stdout(Stdio::piped()).spawn().expect("it starts");
        let mut output = BufReader::new(process.stdout.take().expect("a pipe"));
        let mut line = String::new();
        while line.trim() != READY {
            line.clear();
            assert!(output.read_line(&mut line).expect("text") > 0, "it has ended");
        }
        Self { process, output }
    }

    /// proc_pid_status(5): the signals that it ignores, and those that it has handlers of; bit 0 is signal 1.
    fn mask(&self, field: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).expect("it runs");
        let mask = status.lines().find_map(|line| line.strip_prefix(field)).expect("a field");
        u64::from_str_radix(mask.trim_start_matches(':').trim(), 16).expect("a mask")
    }

    fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.process.id() as i32), signal).expect("it is ours");
    }

    /// Its words from now on.
    fn said(mut self) -> String {
        let mut text = String::new();
        self.output.read_to_string(&mut text).expect("text");
        text
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_signal_ends_every_wait() {
    for (what, signal) in [("file", Signal::SIGINT), ("port", Signal::SIGTERM), ("port", Signal::SIGHUP)] {
        let mut victim = Victim::of(what);
        victim.signal(signal);
        let until = Instant::now() + LIMIT / 10;
        while victim.process.try_wait().expect("it is ours").is_none() {
            assert!(Instant::now() < until, "{what}: it goes on waiting");
            std::thread::sleep(Duration::from_millis(10));
        }
        let text = victim.said();
        assert!(text.starts_with("interrupted\n"), "{what}: {text}");
    }
}

/// nohup(1) starts programs so.
#[test]
fn a_run_that_outlives_its_terminal_ignores_hangups() {
    const HANGUP: u64 = 1 << (Signal::SIGHUP as u32 - 1);
    let me = std::env::current_exe().expect("a test");
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP; exec \"$0\" \"$@\""]).arg(me);
    let victim = Victim::start(command, "port");
    assert_eq!((victim.mask("SigIgn") & HANGUP, victim.mask("SigCgt") & HANGUP), (HANGUP, 0));
    let victim = Victim::of("port");
    assert_eq!((victim.mask("SigIgn") & HANGUP, victim.mask("SigCgt") & HANGUP), (0, HANGUP));
}

#[test]
fn who_goes_on_asking_ends_what_does_not_hear() {
    let mut victim = Victim::of("deaf");
    let until = Instant::now() + LIMIT / 10;
    let status = loop {
        victim.signal(Signal::SIGINT);
        std::thread::sleep(Duration::from_millis(50));
        match victim.process.try_wait().expect("it is ours") {
            Some(status) => break status,
            None => assert!(Instant::now() < until, "it goes on waiting"),
        }
    };
    assert_eq!(status.signal(), Some(Signal::SIGINT as i32));
}
