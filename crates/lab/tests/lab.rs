//! Laboratories with real programs, one after the other: each looks for what is left of this process.

mod laboratory;

use laboratory::{in_laboratory, link};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use segue_agent::links::Links;
use segue_agent::netlink::{MAIN_TABLE, Watcher};
use segue_kernel::sender::{Around, Policy};
use segue_lab::access_link::AccessLink;
use segue_lab::ends::{Aware, MobileEnd, Notice, ServerEnd};
use segue_lab::packet::Packet;
use segue_lab::path::{Direction, Fate, Which};
use segue_lab::{Error, Family, Kind, Laboratory, NoticeBy, Plan, Program, RunRecord, Segue, SenderKind};
use segue_lab::{cgroup, run, run_with, sweep};
use segue_netsim::queue::codel::{Codel, CodelConfig};
use segue_policy::Link;
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// One short run over equal links.
fn short(link: &AccessLink, senders: &[&str]) -> Plan {
    let senders = senders.iter().map(|name| SenderKind::builtin(name, None)).collect();
    let mut plan = Plan::new(link.clone(), link.clone(), senders);
    plan.runs = 1;
    plan.warm_up = Some(Duration::from_secs(1));
    plan.observe = Duration::from_secs(2);
    plan
}

fn records(plan: &Plan) -> Vec<RunRecord> {
    let records = run(plan, &mut |_| {}).unwrap();
    assert_nothing_left(std::process::id());
    records
}

/// Cgroups and folders of laboratories of `process`.
fn left_by(process: u32) -> Vec<String> {
    let prefix = format!("segue-lab-{process}-");
    let names = [cgroup::mount().unwrap(), std::env::temp_dir()]
        .map(|folder| fs::read_dir(folder).unwrap().flatten());
    names
        .into_iter()
        .flatten()
        .map(|entry| entry.file_name().into_string().unwrap())
        .filter(|name| name.starts_with(&prefix))
        .collect()
}

/// No cgroup, folder or program of `process`; of this process no namespace and no device.
fn assert_nothing_left(process: u32) {
    assert_eq!(left_by(process), Vec::<String>::new());
    let held: Vec<_> = fs::read_dir("/proc/self/fd")
        .unwrap()
        .flatten()
        .filter_map(|entry| fs::read_link(entry.path()).ok())
        .map(|path| path.display().to_string())
        .filter(|path| path.starts_with("net:[") || path.contains("net/tun"))
        .collect();
    assert_eq!(held, Vec::<String>::new());
}

#[test]
#[ignore = "a measurement: make measure"]
fn round_trip_and_goodput_are_the_link_s() {
    in_laboratory(|| {
        // A queue of four times the bandwidth-delay product: reno halves and the link stays busy.
        for (kbps, delay_ms, queue) in [(54_000, 2, 72), (6400, 9, 40)] {
            let mut plan = short(&link(kbps, delay_ms, Some(queue)), &["reno", "cubic"]);
            plan.warm_up = Some(Duration::from_millis(1500));
            plan.observe = Duration::from_secs(1);
            plan.parallel = 2;
            for record in records(&plan) {
                let round_trip = 2.0 * f64::from(delay_ms);
                // Both packets of the handshake: 60 octets.
                let serialised = 2.0 * 60.0 * 8.0 / f64::from(kbps);
                let handshake = record.emulator.handshake.unwrap().as_secs_f64() * 1000.0;
                assert!((0.0..1.5).contains(&(handshake - round_trip - serialised)), "{handshake} ms");
                let share = record.old_link_share;
                assert!((share - 1.0).abs() < 0.005, "{} {share} {:?}", record.sender, record.emulator);
                // iperf3 ends a moment after the observation.
                let more = record.programs.received as f64 / record.bytes_total as f64;
                assert!((0.99..1.15).contains(&more), "{more}");
            }
        }
    });
}

#[test]
#[ignore = "a measurement: make measure"]
fn one_alone_and_one_among_sixteen_agree() {
    in_laboratory(|| {
        let mut plan = short(&link(6400, 9, None), &["cubic"]);
        plan.warm_up = Some(Duration::from_secs(2));
        plan.observe = Duration::from_secs(5);
        let alone = records(&plan)[0].bytes_5s.unwrap() as f64;
        (plan.runs, plan.parallel) = (16, 16);
        let mut among: Vec<_> = records(&plan).iter().map(|record| record.bytes_5s.unwrap() as f64).collect();
        among.sort_by(f64::total_cmp);
        let ratios = [among[0], among[8], among[15]].map(|bytes| bytes / alone);
        assert!((ratios[1] - 1.0).abs() < 0.02, "least, median, most of 16 against one alone: {ratios:?}");
    });
}

#[test]
#[ignore = "needs lab bbr"]
fn a_break_loses_packets_and_the_flow_comes_back() {
    in_laboratory(|| {
        let mut plan = short(&link(6400, 9, None), &["cubic", "bbr"]);
        plan.senders.insert(1, SenderKind::builtin("cubic", Some(1000)));
        (plan.kind, plan.parallel, plan.packets) = (Kind::Bbm, 3, true);
        for record in records(&plan) {
            let first = record.first_send_after_link_up.expect("the flow never came back");
            assert!(first > Duration::ZERO, "{first:?}");
            assert!(record.after.lost_in_disconnection > 5, "{:?}", record.after);
            assert!(
                record.after.retransmissions > 0 && record.kernel["TCPTimeouts"] > 0,
                "{:?}",
                record.kernel
            );
            assert!(record.bytes_observed > 0 && record.bytes_observed < record.capacity_1s * 2);
            assert_eq!(record.link_up - record.link_down, Duration::from_secs(1));
            let [down, up] = [record.link_down, record.link_up].map(|at| at.as_nanos() as u64);
            let delivered = |packet: &segue_lab::packet::Packet| {
                packet.delivered().is_some_and(|at| down < at && at < up)
            };
            assert!(!record.packets.iter().any(delivered), "something crossed a link that was not there");
            assert!(record.packets.iter().filter(|packet| packet.segment().is_some()).count() > 500);
        }
    });
}

#[test]
#[ignore = "needs lab"]
fn make_before_break_drops_on_the_slower_link() {
    in_laboratory(|| {
        let mut plan = short(&link(1600, 75, None), &["cubic"]);
        plan.new = link(400, 150, Some(10));
        plan.warm_up = Some(Duration::from_secs(3));
        let records = records(&plan);
        assert_eq!(records[0].programs.congestion_control.as_deref(), Some("cubic"));
        assert!(records[0].after.data_drops > 3, "{:?}", records[0].after);
        assert_eq!(records[0].after.lost_in_disconnection, 0);
    });
}

/// The fields of ECN: that of the IPv4 header, and whether the TCP header echoes a mark (RFC 3168, 6.1).
fn ecn_and_echo(head: &[u8]) -> (u8, bool) {
    let tcp = usize::from(head[0] & 15) * 4;
    (head[1] & 3, head[tcp + 13] & 0x40 != 0)
}

/// Where a link marks, senders ask for ECN, and what the emulator marks is echoed. So it drops nothing that it can mark.
#[test]
#[ignore = "needs lab"]
fn a_mark_is_heard() {
    in_laboratory(|| {
        let codel = |ecn| {
            let mut access = link(3200, 20, None);
            access.down = access.down.managed(Codel::new(CodelConfig { ecn, ..CodelConfig::default() }));
            access
        };
        for ecn in [true, false] {
            let mut plan = short(&codel(ecn), &["cubic"]);
            (plan.ecn, plan.packets) = (ecn, true);
            let record = &records(&plan)[0];
            let sent = |way| record.packets.iter().filter(move |packet| packet.direction == way);
            let data = sent(Direction::Down).filter(|packet| packet.length > 1000);
            let (can_be_marked, others): (Vec<_>, Vec<_>) =
                data.partition(|packet| ecn_and_echo(packet.head()).0 == 2);
            // The SYN asks with the same bits.
            let acks = sent(Direction::Up).filter(|packet| packet.segment().is_some_and(|one| !one.syn));
            let echoes = acks.filter(|packet| ecn_and_echo(packet.head()).1).count();
            let drops = |packets: &[&Packet]| {
                packets.iter().filter(|packet| matches!(packet.fate, Fate::Dropped(_))).count()
            };
            assert_eq!((can_be_marked.len() > 100, echoes > 0), (ecn, ecn), "{echoes}");
            assert_eq!(drops(&can_be_marked), 0);
            assert!(ecn || drops(&others) > 0, "CoDel drops what it cannot mark");
        }
    });
}

#[test]
#[ignore = "needs lab"]
fn several_files_from_nginx_over_ipv6_and_a_wired_part() {
    in_laboratory(|| {
        let mut plan = short(&link(6400, 9, None), &["cubic"]);
        (plan.program, plan.family, plan.flows) = (Program::Nginx, Family::Ipv6, 3);
        plan.wired = Duration::from_millis(4);
        let records = records(&plan);
        assert_eq!(records[0].programs.intact, Some(true));
        assert_eq!(records[0].flows.len(), 3);
        // Both ways over both parts.
        let handshake = records[0].emulator.handshake.unwrap();
        assert!(handshake > Duration::from_millis(26), "{handshake:?}");
    });
}

#[test]
#[ignore = "a measurement: make measure"]
fn several_files_fill_the_link_beside_a_wired_part() {
    in_laboratory(|| {
        let mut plan = short(&link(6400, 9, None), &["cubic"]);
        (plan.program, plan.family, plan.flows) = (Program::Nginx, Family::Ipv6, 3);
        plan.wired = Duration::from_millis(4);
        let record = &records(&plan)[0];
        assert!(record.old_link_share > 0.95, "{}", record.old_link_share);
        let handshake = record.emulator.handshake.unwrap();
        assert!(handshake < Duration::from_millis(28), "{handshake:?}");
    });
}

/// Carriers and default routes are all that an agent on the mobile can know of a handoff.
#[test]
#[ignore = "needs lab"]
fn the_mobile_s_host_sees_a_handoff() {
    in_laboratory(|| {
        let plan = short(&link(6400, 9, None), &["cubic"]);
        let mut lab = Laboratory::create(&plan, &plan.senders[0], Duration::from_secs(5)).unwrap();
        let mut mobile = lab.mobile().namespace.within(|| Ok(Watcher::open(MAIN_TABLE).unwrap())).unwrap();
        // The devices of the ways that are alive, of IPv4 and of IPv6.
        let mut ways = || {
            let mut links = Links::default();
            mobile.everything().unwrap().iter().for_each(|event| links.apply(event));
            ["0.0.0.0/0", "::/0"].map(|everywhere| {
                let path = links.path(&everywhere.parse().unwrap())?;
                links.device(path.device).map(|device| device.name.clone())
            })
        };
        let mut wait_for = |expected: Option<&str>| {
            let limit = Instant::now() + Duration::from_secs(600);
            while ways() != [expected; 2].map(|name| name.map(str::to_owned)) {
                assert!(Instant::now() < limit, "{:?}, not {expected:?}", ways());
                std::thread::sleep(Duration::from_millis(10));
            }
        };
        wait_for(Some("segue0"));
        lab.lose(Which::Old).unwrap();
        wait_for(None);
        lab.complete(Which::New, None).unwrap();
        wait_for(Some("segue1"));
        lab.lose(Which::New).unwrap();
        wait_for(None);
        lab.complete(Which::Old, None).unwrap();
        wait_for(Some("segue0"));
        let drops = lab.device_drops().unwrap();
        lab.close().stop().unwrap();
        assert_eq!(drops, 0, "what had no carrier is no fault of the emulator's");
    });
}

/// In place of ours: notes where and with what it is called.
#[derive(Debug)]
struct Witness {
    calls: Arc<Mutex<Vec<String>>>,
    panics: bool,
}

impl Witness {
    fn note(&self, what: &str) {
        let inside = fs::read_to_string("/proc/thread-self/net/dev").unwrap().contains("segue0");
        self.calls.lock().unwrap().push(format!("{what}, in a laboratory: {inside}"));
    }
}

impl Aware for Witness {
    fn server(&self, cgroup: &Path) -> Result<Box<dyn ServerEnd>, String> {
        assert_eq!(fs::read_to_string(cgroup.join("cgroup.procs")).unwrap(), "");
        self.note("server");
        Ok(Box::new(Silent))
    }
    fn mobile(&self, _cgroup: &Path, first: Link) -> Result<Box<dyn MobileEnd>, String> {
        self.note(&format!("mobile on {}/{}", first.rate_kbps, first.delay_us));
        Ok(Box::new(Teller(Self { calls: Arc::clone(&self.calls), panics: self.panics })))
    }
}

/// In whose place the witness is.
fn told() -> SenderKind {
    let policy = Policy::named("etcp-v1", &[]).expect("a scheme");
    let segue = Segue { policy, around: Around::Cubic, icmp: false };
    SenderKind::Aware { name: "witness".into(), segue, notice_by: NoticeBy::Laboratory }
}

struct Silent;

impl ServerEnd for Silent {
    fn serve(&mut self, limit: Duration) -> Result<(), String> {
        std::thread::sleep(limit);
        Ok(())
    }
    fn counters(&self) -> Result<BTreeMap<String, u64>, String> {
        Ok(BTreeMap::from([("heard".into(), 0)]))
    }
}

struct Teller(Witness);

impl MobileEnd for Teller {
    fn notify(&mut self, notice: &Notice) -> Result<BTreeMap<String, u64>, String> {
        let Notice { link, .. } = notice;
        assert!(!self.0.panics, "as the test wants");
        self.0.note(&format!("notice of {}/{}", link.rate_kbps, link.delay_us));
        Ok(BTreeMap::from([("told".into(), 1)]))
    }
}

#[test]
#[ignore = "needs lab"]
fn a_sender_that_is_told_is_attached_before_programs_and_told_at_link_up() {
    in_laboratory(|| {
        let calls = Arc::new(Mutex::new(Vec::new()));
        let witness: Arc<dyn Aware> = Arc::new(Witness { calls: Arc::clone(&calls), panics: false });
        let mut plan = short(&link(6400, 9, None), &[]);
        plan.new = link(3200, 20, None);
        plan.told_rate = 0.1;
        plan.senders = vec![told()];
        let records = run_with(&plan, &|_, _| Arc::clone(&witness), &mut |_| {}).expect("it runs");
        assert_nothing_left(std::process::id());
        assert_eq!(records[0].sender, "witness");
        assert_eq!((records[0].notified["told"], records[0].sender_counters["heard"]), (1, 0));
        let expected = ["server", "mobile on 6400/9000", "notice of 320/20000"];
        assert_eq!(*calls.lock().unwrap(), expected.map(|what| format!("{what}, in a laboratory: true")));
    });
}

#[test]
#[ignore = "needs lab"]
fn a_panic_leaves_nothing_behind() {
    in_laboratory(|| {
        let witness: Arc<dyn Aware> = Arc::new(Witness { calls: Arc::default(), panics: true });
        let mut plan = short(&link(6400, 9, None), &[]);
        plan.senders = vec![told()];
        let error = run_with(&plan, &|_, _| Arc::clone(&witness), &mut |_| {}).unwrap_err();
        assert!(matches!(error, Error::Fault(_)), "{error}");
        assert_nothing_left(std::process::id());
    });
}

#[test]
#[ignore = "needs lab"]
fn an_unknown_congestion_control_is_one_line() {
    in_laboratory(|| {
        let error = run(&short(&link(6400, 9, None), &["cubik"]), &mut |_| {}).unwrap_err().to_string();
        assert!(error.starts_with("the kernel has no congestion control `cubik`; it has: "), "{error}");
        assert!(error.contains("cubic"), "{error}");
        assert_nothing_left(std::process::id());
    });
}

/// Does `harm` to the server's program of a run once it is under way, and returns how the run ended.
fn harmed(harm: impl FnOnce(u32)) -> String {
    let mut plan = short(&link(6400, 9, None), &["cubic"]);
    plan.warm_up = Some(Duration::from_secs(20));
    let running = std::thread::spawn(move || run(&plan, &mut |_| {}));
    let id = server_program(std::process::id());
    std::thread::sleep(Duration::from_millis(300));
    harm(id);
    let error = running.join().unwrap().unwrap_err().to_string();
    assert_nothing_left(std::process::id());
    error
}

/// Process id of the server's program in a laboratory of `owner`, once the mobile's runs as well.
fn server_program(owner: u32) -> u32 {
    let prefix = format!("segue-lab-{owner}-");
    let limit = Instant::now() + Duration::from_secs(600);
    while Instant::now() < limit {
        for entry in fs::read_dir(cgroup::mount().unwrap()).unwrap().flatten() {
            if entry.file_name().to_string_lossy().starts_with(&prefix) {
                let [server, mobile] = ["server", "mobile"].map(|host| {
                    fs::read_to_string(entry.path().join(host).join("cgroup.procs")).unwrap_or_default()
                });
                if let (Some(id), false) = (server.lines().next(), mobile.is_empty()) {
                    return id.parse().unwrap();
                }
            }
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("no program of {owner} within a minute");
}

#[test]
#[ignore = "needs lab"]
fn a_program_that_dies_ends_the_run() {
    in_laboratory(|| {
        let error = harmed(|id| kill(Pid::from_raw(id as i32), Signal::SIGKILL).unwrap());
        assert!(error.contains("iperf3") && error.contains("ended too early"), "{error}");
    });
}

#[test]
#[ignore = "needs lab"]
fn a_device_that_disappears_ends_the_run() {
    in_laboratory(|| {
        let error = harmed(|id| {
            let status = Command::new("nsenter")
                .args(["-t", &id.to_string(), "-n", "ip", "link", "delete", "segue0"])
                .status();
            assert!(status.expect("nsenter of util-linux").success());
        });
        assert!(error.contains("the link emulator lost the server's device"), "{error}");
    });
}

/// Not a test by itself: the process that others kill. It runs for long and prints how that ended.
#[test]
#[ignore = "a part of other tests"]
fn victim() {
    if std::env::var_os("SEGUE_TEST_VICTIM").is_none() {
        return;
    }
    let mut plan = short(&link(6400, 9, None), &["cubic"]);
    plan.warm_up = Some(Duration::from_secs(60));
    match run(&plan, &mut |_| {}) {
        Ok(_) => println!("it went well"),
        Err(error) => println!("error: {error}"),
    }
}

/// `victim`, started by another program's words, or by none.
fn victim_command(me: &Path, through: &[&str]) -> Command {
    let mut words = through.iter().map(|&word| word.into()).chain([me.as_os_str().to_owned()]);
    let mut command = Command::new(words.next().unwrap());
    command.args(words).args(["--ignored", "--exact", "victim", "--nocapture"]).env("SEGUE_TEST_VICTIM", "1");
    command.stdout(Stdio::piped());
    command
}

/// proc_pid_stat(5): state, parent and process group follow the name in brackets.
fn process_group(process: &str) -> String {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).expect("it runs");
    let (_, numbers) = stat.rsplit_once(") ").expect("a name");
    numbers.split(' ').nth(2).expect("a process group").to_owned()
}

#[test]
#[ignore = "needs lab"]
fn signals_end_a_run_in_order_and_a_kill_leaves_no_program() {
    in_laboratory(|| {
        for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGKILL] {
            let mut process = victim_command(&std::env::current_exe().unwrap(), &[]).spawn().unwrap();
            let owner = process.id();
            let program = server_program(owner);
            // Ctrl-C is for the process group of the laboratory.
            assert_ne!(process_group(&program.to_string()), process_group(&owner.to_string()));
            std::thread::sleep(Duration::from_millis(300));
            kill(Pid::from_raw(owner as i32), signal).unwrap();
            process.wait().unwrap();
            if signal == Signal::SIGKILL {
                let limit = Instant::now() + Duration::from_secs(600);
                let path = format!("/proc/{program}/cgroup");
                while fs::read_to_string(&path).is_ok_and(|text| text.contains("segue-lab-")) {
                    assert!(Instant::now() < limit, "a program outlives its laboratory");
                    std::thread::sleep(Duration::from_millis(10));
                }
                // The next run removes the empty cgroups and the folders; other programs may still be about to end.
                while !left_by(owner).is_empty() {
                    assert!(Instant::now() < limit, "{:?}", left_by(owner));
                    std::thread::sleep(Duration::from_millis(10));
                    sweep::sweep();
                }
            } else {
                let mut text = String::new();
                process.stdout.take().unwrap().read_to_string(&mut text).unwrap();
                assert!(text.contains("error: interrupted"), "{text}");
            }
            assert_nothing_left(owner);
        }
    });
}

#[test]
#[ignore = "needs lab"]
fn what_is_missing_is_named() {
    in_laboratory(|| {
        let said = |command: &mut Command| String::from_utf8(command.output().unwrap().stdout).unwrap();
        let me = std::env::current_exe().unwrap();
        let text = said(victim_command(&me, &[]).env("PATH", "/nonexistent"));
        assert!(text.contains("error: `iperf3` is not in PATH"), "{text}");
        // A copy that anybody may run.
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("victim");
        // By another program: a child of another test would have a file that we write open, too, and nobody could run it.
        assert!(Command::new("cp").arg(me).arg(&copy).status().unwrap().success());
        fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let nobody = ["setpriv", "--reuid", "65534", "--clear-groups"];
        let reachable = Command::new(nobody[0])
            .args(&nobody[1..])
            .args(["sh", "-c", "test -x \"$0\""])
            .arg(&copy)
            .status();
        assert!(reachable.unwrap().success(), "another user cannot run {}", copy.display());
        let text = said(&mut victim_command(&copy, &nobody));
        assert!(text.contains("error: a laboratory needs root"), "{text}");
    });
}
