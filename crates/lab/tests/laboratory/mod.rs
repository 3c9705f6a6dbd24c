//! What tests with laboratories share.

#![allow(dead_code, reason = "each test file uses its part")]

use nix::unistd::geteuid;
use segue_lab::cgroup;
use segue_lab::link::OneWay;
use segue_lab::path::AccessLink;
use segue_lab::punctual::{Rank, become_punctual};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Nothing ran for so long, of any priority: no load does that, but the host of a virtual machine that stops it does.
const STANDSTILL: Duration = Duration::from_secs(1);
/// How often a test that failed over a standstill is tried.
const TRIES: u32 = 3;

/// Runs `test` where laboratories can run. If it fails and the machine stood still meanwhile, its times say nothing, and
/// it is tried again.
pub fn in_laboratory(test: impl Fn()) {
    let Some(_one) = laboratory() else { return };
    for left in (0..TRIES).rev() {
        let (result, longest) = watched(&test);
        match result {
            Ok(()) => return,
            Err(_) if longest >= STANDSTILL && left > 0 => {
                println!("again: the machine stood still for {longest:?}");
            }
            Err(panic) => resume_unwind(panic),
        }
    }
}

/// What `test` came to, and the longest time in which a thread of the highest rank did not run.
fn watched(test: &impl Fn()) -> (thread::Result<()>, Duration) {
    const STEP: Duration = Duration::from_millis(50);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let watch = scope.spawn(|| {
            become_punctual(Rank::Link);
            let mut longest = Duration::ZERO;
            while !done.load(Ordering::Acquire) {
                let before = Instant::now();
                thread::sleep(STEP);
                longest = longest.max(before.elapsed());
            }
            longest
        });
        let result = catch_unwind(AssertUnwindSafe(test));
        done.store(true, Ordering::Release);
        (result, watch.join().unwrap_or_default())
    })
}

/// One at a time: the time of one is what another measures. `None` where laboratories cannot run, with a word why.
fn laboratory() -> Option<MutexGuard<'static, ()>> {
    static ONE: Mutex<()> = Mutex::new(());
    let path = std::env::var_os("PATH").unwrap_or_default();
    let has = |program: &str| std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
    let why = if !geteuid().is_root() {
        "not root"
    } else if !Path::new("/dev/net/tun").exists() {
        "no /dev/net/tun"
    } else if cgroup::mount().is_err() {
        "no cgroup2"
    } else if !["iperf3", "nginx", "curl", "setpriv"].iter().all(|program| has(program)) {
        "iperf3, nginx, curl and setpriv are not all installed"
    } else {
        return Some(ONE.lock().unwrap_or_else(PoisonError::into_inner));
    };
    println!("skipped: {why}");
    None
}

/// The same both ways.
pub fn link(kbps: u32, delay_ms: u32, queue: Option<u32>) -> AccessLink {
    let way = OneWay { queue, ..OneWay::constant(kbps, delay_ms * 1000) };
    AccessLink { down: way.clone(), up: way }
}
