//! Attach and detach: what is left at the device, and what was there before.

use super::bench::Bench;
use super::{DEVICE, attached, options};
use libbpf_rs::query::ProgInfoIter;
use segue_kernel::receiver::{Options, attach, detach};
use std::fs;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// What `tc` shows of the device.
pub fn tc(words: &str) -> String {
    let done = Command::new("tc").args(words.split(' ')).output().expect("iproute2");
    assert!(done.status.success(), "tc {words}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).expect("UTF-8")
}

/// No program of ours, no congestion control. The kernel lets go of programs a moment later, on a busy machine seconds.
pub fn nothing_runs() {
    let until = Instant::now() + Duration::from_secs(15);
    loop {
        let known =
            fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").expect("always");
        let names = ProgInfoIter::default().map(|program| program.name.to_string_lossy().into_owned());
        let mut left: Vec<_> = names.filter(|name| name.starts_with("receiver_")).collect();
        left.extend(known.split_whitespace().filter(|name| name.starts_with("sgack_")).map(str::to_owned));
        if left.is_empty() {
            return;
        }
        assert!(Instant::now() < until, "{left:?}");
        sleep(Duration::from_millis(5));
    }
}

#[test]
fn nothing_is_left_behind() {
    let Some(_bench) = Bench::new() else { return };
    let receiver = attached();
    assert!(tc("filter show dev bench egress").contains("receiver_egress"));
    assert!(tc("qdisc show dev bench").contains("clsact"));
    // From another thread, which is in another namespace.
    std::thread::spawn(move || drop(receiver)).join().expect("it ends");
    assert_eq!(tc("filter show dev bench egress"), "");
    assert!(!tc("qdisc show dev bench").contains("clsact"));
    nothing_runs();
    assert!(!detach(DEVICE).expect("nothing to detach"));
}

#[test]
fn what_others_have_there_stays() {
    let Some(_bench) = Bench::new() else { return };
    // A qdisc of theirs, though nothing is attached to it.
    tc("qdisc add dev bench clsact");
    drop(attached());
    assert!(tc("qdisc show dev bench").contains("clsact"));
    tc("qdisc del dev bench clsact");
    // A filter of theirs at a qdisc of ours.
    let receiver = attached();
    tc("filter add dev bench ingress protocol ip pref 7 u32 match u32 0 0 classid 1:1");
    drop(receiver);
    assert_eq!(tc("filter show dev bench egress"), "");
    assert!(tc("filter show dev bench ingress").contains("pref 7"));
    nothing_runs();
}

#[test]
fn mistakes_are_named() {
    let Some(_bench) = Bench::new() else { return };
    let refused = |device: &str| {
        let error = attach(&Options { device: device.into(), ..options() }).err().expect("a mistake");
        assert!(error.is_user(), "{error}");
        error.to_string()
    };
    assert_eq!(refused("nobody0"), "device nobody0: there is none in this network namespace");
    let _receiver = attached();
    assert_eq!(refused(DEVICE), "device bench: a receiver is attached to it already");
}

/// Whose priority ours would have, is left alone.
#[test]
fn a_place_that_is_taken_is_told() {
    let Some(_bench) = Bench::new() else { return };
    tc("qdisc add dev bench clsact");
    tc("filter add dev bench egress protocol all pref 24160 u32 match u32 0 0 classid 1:1");
    let error = attach(&options()).err().expect("it is taken");
    assert!(!error.to_string().is_empty() && error.to_string().lines().count() == 1, "{error}");
    assert!(tc("filter show dev bench egress").contains("pref 24160 u32"));
    nothing_runs();
}
