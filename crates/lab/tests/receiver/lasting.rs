//! Attach and detach: what is left at the device, and what was there before.

use super::bench::Bench;
use super::{DEVICE, attached, options};
use libbpf_rs::query::{ProgInfoIter, ProgInfoQueryOptions, ProgramInfo};
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use segue_kernel::receiver::{Options, attach, detach};
use std::fs;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Output of `tc` for the device.
pub fn tc(words: &str) -> String {
    let done = Command::new("tc").args(words.split(' ')).output().expect("iproute2");
    assert!(done.status.success(), "tc {words}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).expect("UTF-8")
}

/// Parts of the receiver that is attached here, in the kernel: its programs, and a congestion control. Other
/// processes have others.
pub struct Running {
    programs: Vec<u32>,
    congestion_control: String,
}

impl Running {
    pub fn now() -> Self {
        let filter = tc("filter show dev bench egress");
        let id = filter.split_once(" id ").and_then(|(_, rest)| rest.split(' ').next());
        let id: u32 = id.and_then(|id| id.parse().ok()).unwrap_or_else(|| panic!("no id in {filter}"));
        let programs: Vec<_> =
            ProgInfoIter::with_query_opts(ProgInfoQueryOptions::default().include_map_ids(true)).collect();
        let maps = &programs.iter().find(|program| program.id == id).expect("it runs").map_ids;
        let shares = |program: &&ProgramInfo| program.map_ids.iter().any(|map| maps.contains(map));
        // Its constants have the name.
        let named = |id: &u32| {
            let map = MapHandle::from_map_id(*id).ok()?;
            let value = map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).ok()??;
            let at = value.windows(6).position(|part| part == b"sgack_")?;
            Some(String::from_utf8_lossy(&value[at..at + 15]).into_owned())
        };
        Self {
            congestion_control: maps.iter().find_map(named).expect("a name"),
            programs: programs.iter().filter(shares).map(|program| program.id).collect(),
        }
    }

    /// The kernel lets go of programs a moment later, on a busy machine seconds.
    pub fn ends(&self) {
        let until = Instant::now() + Duration::from_secs(600);
        let known = || fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
        loop {
            let mut left: Vec<_> = ProgInfoIter::default()
                .filter(|program| self.programs.contains(&program.id))
                .map(|program| program.name.to_string_lossy().into_owned())
                .collect();
            left.extend(
                known()
                    .expect("always")
                    .split_whitespace()
                    .filter(|name| *name == self.congestion_control)
                    .map(str::to_owned),
            );
            if left.is_empty() {
                return;
            }
            assert!(Instant::now() < until, "{left:?}");
            sleep(Duration::from_millis(200));
        }
    }
}

/// Nothing of the kernel's that this process holds open.
fn nothing_is_held() {
    let all = fs::read_dir("/proc/self/fd").expect("always").flatten();
    let held: Vec<_> = all.filter_map(|entry| fs::read_link(entry.path()).ok()).collect();
    assert!(!held.iter().any(|path| path.to_string_lossy().contains("bpf")), "{held:?}");
}

#[test]
#[ignore = "needs kernel"]
fn nothing_is_left_behind() {
    let _bench = Bench::new();
    let receiver = attached();
    let running = Running::now();
    assert!(tc("filter show dev bench egress").contains("receiver_egress"));
    assert!(tc("qdisc show dev bench").contains("clsact"));
    // From another thread, which is in another namespace.
    std::thread::spawn(move || drop(receiver)).join().expect("it ends");
    assert_eq!(tc("filter show dev bench egress"), "");
    assert!(!tc("qdisc show dev bench").contains("clsact"));
    running.ends();
    nothing_is_held();
    assert!(!detach(DEVICE).expect("nothing to detach"));
}

#[test]
#[ignore = "needs kernel"]
fn what_others_have_there_stays() {
    let _bench = Bench::new();
    // A qdisc of theirs, though nothing is attached to it.
    tc("qdisc add dev bench clsact");
    drop(attached());
    assert!(tc("qdisc show dev bench").contains("clsact"));
    tc("qdisc del dev bench clsact");
    // A filter of theirs at a qdisc of ours.
    let receiver = attached();
    let running = Running::now();
    tc("filter add dev bench ingress protocol ip pref 7 u32 match u32 0 0 classid 1:1");
    drop(receiver);
    assert_eq!(tc("filter show dev bench egress"), "");
    assert!(tc("filter show dev bench ingress").contains("pref 7"));
    running.ends();
}

#[test]
#[ignore = "needs kernel"]
fn mistakes_are_named() {
    let _bench = Bench::new();
    let refused = |device: &str| {
        let error = attach(&Options { device: device.into(), ..options() }).err().expect("a mistake");
        assert!(error.is_user(), "{error}");
        error.to_string()
    };
    assert_eq!(refused("nobody0"), "device nobody0: there is none in this network namespace");
    let _receiver = attached();
    assert_eq!(refused(DEVICE), "device bench: a receiver is attached to it already");
}

/// A filter that has our priority is left alone.
#[test]
#[ignore = "needs kernel"]
fn a_place_that_is_taken_is_told() {
    let _bench = Bench::new();
    tc("qdisc add dev bench clsact");
    tc("filter add dev bench egress protocol all pref 24160 u32 match u32 0 0 classid 1:1");
    let error = attach(&options()).err().expect("it is taken");
    let said = "device bench: our place at its egress is taken; expected none there: tc filter del dev bench egress pref ";
    assert!(error.is_user() && error.to_string().starts_with(said), "{error}");
    assert!(tc("filter show dev bench egress").contains("pref 24160 u32"));
    nothing_is_held();
}
