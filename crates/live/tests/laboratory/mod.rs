//! What tests with laboratories share.

#![allow(dead_code, reason = "each test file uses its part")]

use nix::unistd::geteuid;
use segue_live::lab::cgroup;
use segue_live::lab::link::OneWay;
use segue_live::lab::path::AccessLink;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// One at a time: the time of one is what another measures. `None` where laboratories cannot run, with a word why.
pub fn laboratory() -> Option<MutexGuard<'static, ()>> {
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
