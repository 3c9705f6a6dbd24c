//! A kernel that lacks a type of program: one line, and the part that works goes on.

mod host;

use host::{AGENT, Agent, Flows, Host, without_programs};
use std::path::Path;

/// linux/bpf.h: BPF_PROG_TYPE_*.
const SCHED_CLS: u32 = 3;
const CGROUP_SKB: u32 = 8;
const SOCK_OPS: u32 = 13;
const STRUCT_OPS: u32 = 27;

/// An agent on a kernel without programs of this type, and its warnings.
fn agent(host: &Host, library: &Path, refused: u32) -> (Agent, Vec<String>) {
    let mut command = host.command("env");
    command.arg(format!("LD_PRELOAD={}", library.display())).arg(format!("REFUSED_TYPE={refused}"));
    command.args([AGENT, "run", "--log", "json", "--config"]).arg(host.config());
    let agent = host.agent_of(command);
    let log = agent.log();
    let severe = |line: &&str| line.contains("\"WARN\"") || line.contains("\"ERROR\"");
    let warnings = log.lines().filter(severe).map(str::to_owned).collect();
    (agent, warnings)
}

#[test]
#[ignore = "needs kernel python3 gcc"]
fn what_a_kernel_lacks_is_one_line_and_the_rest_goes_on() {
    let host = Host::with_two_cables();
    let library = without_programs(host.folder.path());
    for (refused, said, negotiates, devices) in [
        (SCHED_CLS, "type sched_cls: peers that have not negotiated are not helped", true, false),
        (CGROUP_SKB, "type cgroup_skb: data written without a link wait for their timers", true, true),
        (SOCK_OPS, "type sock_ops: connections do not negotiate, and no peer is notified", false, true),
        (STRUCT_OPS, "this kernel cannot send notices in its own ACKs", true, true),
    ] {
        host.move_to(0);
        let (mut agent, warnings) = agent(&host, &library, refused);
        let about: Vec<_> = warnings.iter().filter(|line| line.contains(said)).collect();
        assert_eq!(about.len(), 1, "{said}: {warnings:?}");
        // Its own flows are another part, with programs of the last type.
        let others = warnings.iter().filter(|line| !line.contains(said));
        let uploads = |line: &String| line.contains("flows of this host keep their windows");
        assert!(others.clone().all(uploads), "{warnings:?}");
        assert_eq!(others.count() > 0, refused == STRUCT_OPS, "{warnings:?}");
        let mut flows = Flows::start(&host, 3);
        host.move_to(1);
        flows.speak(2);
        let notices = || host.status()["notices"].clone();
        agent.until("the handoff is noticed", || notices()["rounds"].as_u64() > Some(0));
        let status = host.status();
        assert_eq!(status["connections"]["negotiated"].as_u64() > Some(0), negotiates, "{status}");
        let seen = status["others"]["devices"].as_array().expect("a list").len();
        assert_eq!((seen > 0, &status["others"]["resume"]), (devices, &devices.into()), "{status}");
        println!("{said}: {}", flows.end());
        assert_eq!(agent.signal("-TERM"), Some(0), "{}", agent.log());
    }
}
