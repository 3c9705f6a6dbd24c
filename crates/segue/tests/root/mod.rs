//! What laboratories need of the machine.

use std::process::Command;

/// Whether a laboratory can be made here.
pub fn able() -> bool {
    let root = std::fs::read_to_string("/proc/self/status")
        .is_ok_and(|text| text.lines().any(|line| line.starts_with("Uid:\t0\t0")));
    let iperf3 = Command::new("iperf3").arg("--version").output().is_ok();
    if !root || !iperf3 {
        eprintln!("skipped: {}", if root { "iperf3 is not installed" } else { "not root" });
    }
    root && iperf3
}
