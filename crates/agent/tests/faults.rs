//! Faults around `segue-agent run`: one clear line each, flows live, and nothing stays.

mod host;

use host::{AGENT, Host, Talker};
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// A peer that answers each octet with some more, told to listen on its own cable's address.
const SERVER: &str = "import socket
server=socket.socket(); server.bind(('192.0.2.2',7777)); server.listen(); print('ready',flush=True)
far,_=server.accept()
while far.recv(1): far.sendall(b'0123456789'*300)
";
const CLIENT: &str = "import socket,sys
near=socket.create_connection(('192.0.2.2',7777)); near.settimeout(600)
right=b'0123456789'*300
for line in sys.stdin:
    near.sendall(b'x')
    got=b''
    while len(got)<len(right): got+=near.recv(65536)
    print('ok' if got==right else 'wrong',flush=True)
";

fn connection(host: &Host) -> (Talker, Talker) {
    let mut server = Talker::new(host.python(&host.peer), SERVER);
    assert_eq!(server.hear(), "ready");
    (server, Talker::new(host.python(&host.holder), CLIENT))
}

#[test]
#[ignore = "needs kernel"]
fn mistakes_in_the_configuration_are_one_line_each() {
    let host = Host::new();
    let gap = |more: &str| format!("[[gaps]]\ndevice = \"cable0\"\nat = \"every 15s from 12s\"\n{more}");
    for (more, said) in [
        (
            "freeze-before = \"150ms\"",
            "line 1, column 17: freeze-before: no gaps are announced; expected [[gaps]]",
        ),
        ("phas-for = \"2s\"", "line 1, column 12: phas-for: no device holds back; expected phas"),
        ("uploads = \"vegas\"", "line 1, column 11: uploads: "),
        ("table = 0", "table 0 is out of range; expected 1 to"),
        ("phas = [\"a\", \"a\"]", "`a` stands twice"),
    ] {
        let text = host.refuses(more, 2);
        assert!(text.contains(said) && text.contains("expected"), "{text}");
    }
    for (more, said) in [
        ("length = \"9s\"", "closed for 9150 ms every 15000 ms; expected at most half of the time"),
        (&gap(""), "`cable0` has gaps already; expected each device once"),
    ] {
        std::fs::write(host.config(), format!("{}{}", host.text(), gap(more))).expect("a file");
        let output = host.ask(&["run"]);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), text.lines().count()), (Some(2), 1), "{text}");
        assert!(text.contains(said), "{text}");
    }
    assert!(!host.state().exists() && !host.shell(&format!("test -e {}", host.pins())).status.success());
    std::fs::write(host.config(), host.text()).expect("a file");
    let output = host.ask(&["run", "--freeze-before", "150ms"]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("--freeze-before: no gaps are announced; expected [[gaps]]"), "{text}");
}

#[test]
fn a_path_that_no_socket_can_have_is_named() {
    let long = format!("/run/{}/agent.sock", "x".repeat(120));
    let text = host::refused(&["status", "--control", &long], 2);
    assert!(text.contains("a path of 136 octets; expected at most 107"), "{text}");
}

/// Agents with different sockets, on one cgroup or one folder of pins.
#[test]
#[ignore = "needs kernel python3"]
fn two_agents_that_would_share_their_state_are_kept_apart() {
    let host = Host::new();
    let agent = host.agent();
    let (mut server, mut client) = connection(&host);
    client.speaks("beside the first");
    let second = host.folder.path().join("second.toml");
    let within = host.cgroup.join("within");
    let elsewhere = host.cgroup.with_extension("other");
    [&within, &elsewhere].into_iter().for_each(|folder| std::fs::create_dir(folder).expect("a cgroup"));
    let socket = |text: String| text.replace("/segue/agent.sock", "/second/agent.sock");
    let same_pins = socket(host.text())
        .replace(&format!("\"{}\"", host.cgroup.display()), &format!("\"{}\"", elsewhere.display()));
    let same_cgroup = socket(host.text()).replace(&host.pins(), &format!("{}b", host.pins()));
    let inner =
        same_cgroup.replace(&format!("\"{}\"", host.cgroup.display()), &format!("\"{}\"", within.display()));
    let taken = host.cgroup.display().to_string();
    let pins = ("folder of pins", "pin", host.pins());
    let cgroup = ("cgroup", "cgroup", taken);
    for (text, (what, key, taken)) in [(same_pins, pins), (same_cgroup, cgroup.clone()), (inner, cgroup)] {
        std::fs::write(&second, text).expect("a file");
        let mut command = host.command(AGENT);
        let output = command.args(["run", "--config"]).arg(&second).output().expect("it starts");
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), text.lines().count()), (Some(2), 1), "{text}");
        let said = format!(
            "another agent (process {}) is at work with the {what} {taken}; expected a {what} of its own for each \
             (`{key}` in the configuration)",
            agent.child.id()
        );
        assert!(text.contains(&said), "{text}");
        assert!(!host.folder.path().join("second").exists(), "the folder that was made for its socket");
    }
    [&within, &elsewhere]
        .into_iter()
        .for_each(|folder| std::fs::remove_dir(folder).expect("nobody is in it"));
    assert!(
        host.shell(&format!("test -e {}/connections-2", host.pins())).status.success(),
        "the first's pins"
    );
    assert_eq!(host.status()["connections"]["negotiated"], 1);
    client.speaks("still");
    drop((&mut server, client));
}

#[test]
#[ignore = "needs kernel"]
fn idle_clients_keep_nobody_away_for_long() {
    let host = Host::new();
    let agent = host.agent();
    let socket = host.state().join("agent.sock");
    let mut idle: Vec<_> = (0..16).map(|_| UnixStream::connect(&socket).expect("it connects")).collect();
    let output = host.ask(&["status"]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), text.lines().count()), (Some(1), 1), "{text}");
    assert!(text.contains("busy: 16 others ask; expected fewer at a time"), "{text}");
    agent.until("the idle are sent away", || host.ask(&["status"]).status.success());
    idle.iter_mut().for_each(|stream| {
        stream.set_read_timeout(Some(Duration::from_secs(600))).expect("ours");
        assert_eq!(stream.read(&mut [0; 1]).expect("its end"), 0);
    });
}

/// To this host a path that strips options is a peer that has none.
#[test]
#[ignore = "needs kernel python3"]
fn a_peer_that_strips_options_is_left_alone() {
    let host = Host::new();
    let agent = host.agent();
    let mut outside = Command::new("nsenter");
    outside.args(["--target", &host.peer.id().to_string(), "--net", "python3"]);
    let mut server = Talker::new(outside, SERVER);
    assert_eq!(server.hear(), "ready");
    let mut client = Talker::new(host.python(&host.holder), CLIENT);
    client.speaks("before");
    let said = host.ask(&["notify", "dev=cable0,rate=2mbit,delay=50ms"]);
    assert!(String::from_utf8_lossy(&said.stdout).contains("1 have not negotiated"), "{said:?}");
    let connections = host.status()["connections"].clone();
    assert_eq!((&connections["negotiated"], &connections["unnegotiated"]), (&0.into(), &1.into()));
    client.speaks("after a notice that is not for it");
    assert!(!agent.log().contains("ERROR"), "{}", agent.log());
}

/// Has the host's programs see a kernel that lacks this function or structure: libbpf takes names from a file.
fn without(host: &Host, name: &str) {
    const BTF: &str = "/sys/kernel/btf/vmlinux";
    let mut btf = std::fs::read(BTF).expect("the kernel's types");
    let name = format!("\0{name}\0").into_bytes();
    let at = btf.windows(name.len()).position(|window| window == name).expect("the name");
    btf[at + 1] = b'X';
    let copy = host.config().with_file_name("vmlinux");
    std::fs::write(&copy, btf).expect("a file");
    let done = host.shell(&format!("mount --bind {} {BTF}", copy.display()));
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
#[ignore = "needs kernel"]
fn a_kernel_without_the_iterator_is_one_line() {
    let host = Host::new();
    without(&host, "bpf_iter_tcp");
    for more in ["", "phas = [\"cable0\"]"] {
        let text = host.refuses(more, 1);
        assert!(text.contains("no eBPF iterator over TCP connections: bpf_iter_tcp not found in"), "{text}");
    }
    assert!(!host.state().exists() && !host.shell(&format!("test -e {}", host.pins())).status.success());
}

/// Debian's kernels have bbr as a module. Here the kernel's types lack bbr's functions until the module has come, for
/// its types stand in a file of their own. A file of the module is there.
#[test]
#[ignore = "needs kernel bbr-built-in"]
fn an_agent_helps_flows_of_bbr_once_its_module_is_there() {
    let host = Host::new();
    let run = |line: &str| {
        let done = host.shell(line);
        assert!(done.status.success(), "{line}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).into_owned()
    };
    without(&host, "bbr_main");
    let over = host.folder.path().join("over").display().to_string();
    run(&format!(
        "mkdir {over} && mount -t tmpfs tmpfs {over} && mkdir {over}/upper {over}/work && \
         mount -t overlay -o lowerdir=/lib,upperdir={over}/upper,workdir={over}/work overlay /lib && \
         modules=/lib/modules/$(uname -r) && mkdir -p $modules && \
         echo kernel/net/ipv4/tcp_bbr.ko.xz: >$modules/modules.dep"
    ));
    let agent = host.agent();
    assert!(agent.log().contains("modprobe tcp_bbr"), "{}", agent.log());
    const PERFMON: u64 = 1 << 38;
    let effective = || {
        let status = agent.proc("status");
        let set = status.lines().find_map(|line| line.strip_prefix("CapEff:")).expect("capabilities");
        u64::from_str_radix(set.trim(), 16).expect("a number")
    };
    agent.until("it has given up other rights", || effective().count_ones() == 4);
    assert_eq!(effective() & PERFMON, PERFMON, "programs are still to be loaded");
    // modprobe tcp_bbr
    run(&format!(
        "umount /sys/kernel/btf/vmlinux && cp /sys/kernel/btf/vmlinux {over} && \
         mount -t tmpfs tmpfs /sys/kernel/btf && cp {over}/vmlinux /sys/kernel/btf && \
         touch /sys/kernel/btf/tcp_bbr"
    ));
    agent.until("it has taken bbr", || agent.log().contains("bbr has been loaded"));
    agent.until("it needs nothing more", || effective() & PERFMON == 0);
    assert!(!agent.log().contains("cannot be helped"), "{}", agent.log());
    let all = run("cat /proc/sys/net/ipv4/tcp_available_congestion_control");
    assert!(all.contains("sgub_"), "a congestion control around bbr: {all}");
}

#[test]
#[ignore = "needs kernel python3"]
fn a_kernel_that_cannot_trigger_has_its_notices_crafted() {
    let host = Host::new();
    // Nor anything else that a congestion control of eBPF does.
    without(&host, "bpf_struct_ops_tcp_congestion_ops");
    let agent = host.agent();
    assert!(agent.log().contains("they are crafted"), "{}", agent.log());
    let (_server, mut client) = connection(&host);
    client.speaks("before");
    let said = host.ask(&["notify", "dev=cable0,rate=2mbit,delay=50ms"]);
    let text = String::from_utf8_lossy(&said.stdout);
    assert!(text.contains("told 0 in the kernel's ACKs, 1 in crafted ones"), "{text} {}", agent.log());
    client.speaks("after");
}

/// Root, and who is of the configured group; nobody else, whatever the socket's mode says.
#[test]
#[ignore = "needs kernel"]
fn the_configured_group_may_ask() {
    let host = Host::new();
    let _agent = host.agent_with("group = 64321");
    let socket = host.state().join("agent.sock");
    let mode = host.shell(&format!("stat -c '%a %g' {}", socket.display()));
    assert_eq!(String::from_utf8_lossy(&mode.stdout), "660 64321\n");
    host.shell(&format!("chmod 755 {}", host.folder.path().display()));
    let copy = host.folder.path().join("a-copy");
    // By another program: a child of another test would have a file that we write open, too, and nobody could run it.
    assert!(std::process::Command::new("cp").arg(AGENT).arg(&copy).status().expect("cp").success());
    let ask = |group: &str| {
        let mut command = host.command("setpriv");
        command.args(["--reuid", "65534", "--regid", group, "--clear-groups"]).arg(&copy);
        let output = command.args(["status", "--control"]).arg(&socket).output().expect("setpriv");
        (output.status.code(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
    };
    let (status, said) = ask("64321");
    assert!(status == Some(0) && said.contains("at work for"), "{said}");
    let (status, said) = ask("64322");
    assert!(status == Some(2) && said.contains("permission denied; expected root or a member"), "{said}");
    host.shell(&format!("chmod 666 {}", socket.display()));
    let (status, said) = ask("64322");
    assert!(
        status == Some(2) && said.contains("only root and the configured group may ask the agent"),
        "{said}"
    );
    assert_eq!(host.status()["denied"], 1);
}

/// Thousands of events while the agent does not run: what it has missed it asks for.
#[test]
#[ignore = "needs kernel"]
fn events_that_were_lost_are_asked_for_again() {
    let host = Host::with_two_cables();
    let agent = host.agent();
    host.shell(&format!("kill -STOP {}", agent.child.id()));
    // Each thread stops when it runs next.
    agent.until("it stands still", || {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", agent.child.id())).expect("threads");
        tasks.flatten().all(|task| {
            let stat = std::fs::read_to_string(task.path().join("stat")).unwrap_or_default();
            stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('T'))
        })
    });
    let flood = "for i in $(seq 0 8000); do \
                 echo route add 10.$((i / 256)).$((i % 256)).0/24 dev cable0; done | ip -batch -; \
                 ip link add gone type veth peer name gone1 && ip addr add 192.0.2.77/32 dev gone && ip link del gone";
    let done = host.shell(flood);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    host.move_to(1);
    host.shell(&format!("kill -CONT {}", agent.child.id()));
    agent.until("the handoff is seen", || {
        host.status()["rounds"].as_array().is_some_and(|rounds| {
            rounds.iter().any(|round| round["device"] == "cable2" && round["cause"] == "moved")
        })
    });
    assert!(agent.log().contains("events of the host's links were lost"), "{}", agent.log());
    assert_eq!(host.status()["watch"][0]["device"], "cable2");
}

#[test]
#[ignore = "needs kernel"]
fn routes_of_another_table_are_watched_if_told() {
    let host = Host::with_two_cables();
    let route = |net: &str| {
        let done = host.shell(&format!("ip route replace default via {net}.2 table 100"));
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    route("192.0.2");
    let agent = host.agent_with("table = 100");
    assert_eq!(host.status()["watch"][0]["device"], "cable0");
    host.move_to(1);
    thread::sleep(Duration::from_millis(300));
    assert_eq!(host.status()["rounds"].as_array().map(Vec::len), Some(0), "of the main table");
    route("198.51.100");
    agent.until("the other table's", || host.status()["watch"][0]["device"] == "cable2");
    assert_eq!(host.status()["rounds"][0]["cause"], "moved");
}

/// Freeze-TCP: the peer, which has data to send and runs nothing of ours, persists before each gap.
#[test]
#[ignore = "needs kernel python3"]
fn windows_close_before_announced_gaps() {
    let host = Host::new();
    let gaps = "[[gaps]]\ndevice = \"cable0\"\nat = \"every 2s from 1s\"\nlength = \"500ms\"\n";
    std::fs::write(host.config(), host.text() + gaps).expect("a file");
    let mut command = host.command(AGENT);
    command.args(["run", "--log", "json", "--freeze-before", "400ms", "--config"]).arg(host.config());
    let mut agent = host.agent_of(command);
    let mut server = Talker::new(host.python(&host.peer), FLOOD);
    assert_eq!(server.hear(), "ready");
    let mut client = Talker::new(host.python(&host.holder), DRAIN);
    let persists = || {
        let mut ss = Command::new("nsenter");
        ss.args(["--target", &host.peer.id().to_string(), "--net", "ss", "-tonH", "sport = :7777"]);
        let output = ss.output().expect("iproute2");
        String::from_utf8_lossy(&output.stdout).contains("timer:(persist")
    };
    // A reader that is slow closes its window, too: what the agent has closed is counted.
    let closed = || host.status()["receivers"][0]["closed"].as_u64().unwrap_or(0);
    for _ in 0..2 {
        let before = closed();
        agent.until("the peer persists in a gap", || closed() > before && persists());
        agent.until("and sends again", || !persists());
    }
    let status = host.status();
    let receiver = &status["receivers"][0];
    assert_eq!((&receiver["device"], &receiver["freeze"]), (&"cable0".into(), &true.into()), "{status}");
    assert!(receiver["closed"].as_u64() >= Some(2) && receiver["triggered"].as_u64() >= Some(2), "{status}");
    client.speaks("every octet is right");
    assert_eq!(agent.signal("-TERM"), Some(0));
    assert_eq!(filters(&host), "", "{}", agent.log());
    drop(server);
}

/// Sends a pattern for ever.
const FLOOD: &str = "import socket
server=socket.socket(); server.bind(('192.0.2.2',7777)); server.listen(); print('ready',flush=True)
far,_=server.accept()
while True: far.sendall(bytes(range(251))*260)
";
/// Takes it in, checks it, and says so when asked.
const DRAIN: &str = "import socket,sys,threading
near=socket.create_connection(('192.0.2.2',7777)); near.settimeout(600)
right=bytes(range(251))*600
state={'at':0,'ok':True}
def drain():
    while True:
        got=near.recv(65536); at=state['at']%251
        state['ok']&=bool(got) and got==right[at:at+len(got)]
        state['at']+=len(got)
threading.Thread(target=drain,daemon=True).start()
for line in sys.stdin: print('ok' if state['ok'] and state['at'] else 'wrong',flush=True)
";

fn filters(host: &Host) -> String {
    host.filters_of("cable0")
}

/// A modem is plugged in after the agent has started, and again; its new device has another name, and the old one back.
#[test]
#[ignore = "needs kernel"]
fn a_device_may_come_later_and_come_again() {
    let host = Host::new();
    let gaps = "[[gaps]]\ndevice = \"sat0\"\nat = \"every 2s from 1s\"\nlength = \"500ms\"\n";
    let text = format!("phas = [\"sat0\"]\n{}{gaps}", host.text());
    std::fs::write(host.config(), text).expect("a file");
    let mut agent = host.agent();
    assert!(
        agent.log().contains("there is no such device; its ACKs are ours when it comes"),
        "{}",
        agent.log()
    );
    let attached = || host.status()["receivers"][0]["attached"] == true;
    assert!(!attached());
    let [comes, goes] = ["ip link add sat0 type veth peer sat1", "ip link del sat0"];
    let [away, back] = ["ip link set sat0 name sat7", "ip link set sat7 name sat0"];
    for (change, present) in [
        (comes, true),
        (goes, false),
        (comes, true),
        (away, false),
        (back, true),
        (goes, false),
        (comes, true),
    ] {
        let done = host.shell(change);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        agent.until(change, || attached() == present);
        assert_eq!(host.filters_of("sat0").contains("receiver_egress"), present, "{change}");
        assert_eq!(host.filters_of("sat7"), "", "{change}");
    }
    // A device that comes in its place in one step, with its number.
    let number = host.shell("cat /sys/class/net/sat0/ifindex; ip -o link show sat0 | cut -d: -f1");
    let number = String::from_utf8_lossy(&number.stdout).lines().last().expect("a number").to_owned();
    let seen = || agent.log().matches("the device has come: its ACKs are ours").count();
    let before = seen();
    let again = format!("ip link del sat0; ip link add sat0 index {number} type veth peer sat1");
    assert!(host.shell(&again).status.success());
    agent.until(&again, || seen() > before && attached());
    assert!(host.filters_of("sat0").contains("receiver_egress"), "{}", agent.log());
    assert_eq!(agent.signal("-TERM"), Some(0));
    assert_eq!(host.filters_of("sat0"), "", "{}", agent.log());
}

/// Two devices exchange their names in one step; somebody has our place at a device, for a while.
#[test]
#[ignore = "needs kernel"]
fn devices_may_exchange_names_and_places_may_be_taken() {
    let host = Host::new();
    assert!(host.shell("ip link add da type veth peer db").status.success());
    let mut agent = host.agent_with("phas = [\"da\", \"db\", \"dc\"]");
    let attached = || {
        let status = host.status();
        let all = status["receivers"].as_array().expect("a list").clone();
        all.iter().map(|one| one["attached"] == true).collect::<Vec<_>>()
    };
    let steps = "link set da name tmpx\nlink set db name da\nlink set tmpx name db\n";
    let batch = host.folder.path().join("batch");
    std::fs::write(&batch, steps).expect("a file");
    for _ in 0..3 {
        let done = host.shell(&format!("ip -batch {}", batch.display()));
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        agent.until("both are served", || {
            attached() == [true, true, false]
                && ["da", "db"].iter().all(|name| host.filters_of(name).contains("receiver_egress"))
        });
    }
    let done = host.shell(
        "ip link add name dx type veth peer name dy && tc qdisc add dev dx clsact && \
         tc filter add dev dx egress protocol all pref 24160 u32 match u32 0 0 classid 1:1 && ip link set dx name dc",
    );
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    agent.until("it says so", || agent.log().contains("device dc: our place at its egress is taken"));
    assert!(host.shell("tc filter del dev dc egress pref 24160").status.success());
    agent.until("it is served as soon as it can be", || attached() == [true; 3]);
    assert_eq!(agent.signal("-TERM"), Some(0));
    for name in ["da", "db"] {
        assert_eq!(host.filters_of(name), "", "{}", agent.log());
    }
}

/// PHAS: from `--expect` to `notify` ACKs of new data stay here; then they leave at once.
#[test]
#[ignore = "needs kernel python3"]
fn acks_of_forwarded_packets_are_held_back() {
    let host = Host::new();
    let mut agent = host.agent_with("phas = [\"cable0\"]\nphas-for = \"15s\"");
    let (server, mut client) = connection(&host);
    client.speaks("before");
    let receiver = |name: &str| host.status()["receivers"][0][name].as_u64().expect("a number");
    assert_eq!(receiver("dropped"), 0);
    assert!(host.ask(&["notify", "dev=cable0,rate=2mbit,delay=50ms", "--expect"]).status.success());
    // The peer's data comes; it hears of it with data of this host's only, which is held back as well.
    client.speaks("while it is held");
    agent.until("ACKs are dropped", || receiver("dropped") > 0);
    // A copy of what was not acknowledged makes a duplicate ACK, which passes. So there may be no connection left that
    // waits for a last ACK.
    let ends = || agent.log().matches("ACKs are held back no more").count();
    assert_eq!(ends(), 0);
    assert!(host.ask(&["notify", "dev=cable0,rate=2mbit,delay=50ms"]).status.success());
    assert_eq!(ends(), 1);
    let dropped = receiver("dropped");
    client.speaks("after");
    assert_eq!(receiver("dropped"), dropped, "nothing is held any more");
    // Nobody tells of the end: it ends by itself.
    assert!(host.ask(&["notify", "dev=cable0,rate=2mbit,delay=50ms", "--expect"]).status.success());
    client.speaks("while it is held again");
    let at = Instant::now();
    agent.until("it ends", || ends() == 2);
    assert!(at.elapsed() >= Duration::from_secs(1), "{:?}", at.elapsed());
    // A killed agent leaves its filter, without effect once its time has passed; the next one takes it away.
    assert_eq!(agent.signal("-KILL"), None);
    assert_ne!(filters(&host), "");
    let mut next = host.agent();
    assert!(
        next.log().contains("an agent that was killed had left its programs at the device"),
        "{}",
        next.log()
    );
    client.speaks("beside the next");
    assert_eq!(next.signal("-TERM"), Some(0));
    assert_eq!(filters(&host), "");
    drop(server);
}

/// The uplink is so slow that telling takes 25 seconds; the agent dies within it. The next one may tell at once.
#[test]
#[ignore = "needs kernel python3"]
fn an_agent_killed_while_it_tells_a_thousand_leaves_every_flow_alive() {
    let host = Host::with_two_cables();
    let slow = host.text().replace("rate = \"10mbit\"", "rate = \"10mbit\"\nup = \"20kbit\"");
    std::fs::write(host.config(), format!("limit = \"60s\"\n{slow}")).expect("a file");
    let mut agent = host.agent();
    let mut flows = host::Flows::start(&host, 1000);
    assert_eq!(host.status()["connections"]["negotiated"], 1000);
    host.move_to(1);
    agent.until("it is telling", || {
        let status = host.status();
        let over = status["rounds"].as_array().is_none_or(|rounds| !rounds.is_empty());
        assert!(!over, "nobody has seen the middle: {status}");
        status["connections"]["waiting"].as_u64() > Some(0)
    });
    assert_eq!(agent.signal("-KILL"), None);
    flows.speak(2);
    drop(agent);
    std::fs::write(host.config(), host.text()).expect("a file");
    let mut agent = host.agent();
    agent.until("all are told again", || host.status()["rounds"][0]["cause"] == "restarted");
    assert_eq!(host.status()["connections"]["negotiated"], 1000);
    flows.speak(2);
    assert_eq!(agent.signal("-TERM"), Some(0));
    flows.speak(1);
    flows.end();
    assert!(!host.state().exists());
    assert!(!host.shell(&format!("test -e {}", host.pins())).status.success(), "pins stay");
}

/// Nobody opens them, and the peers probe.
#[test]
#[ignore = "needs kernel python3"]
fn windows_that_a_killed_agent_has_closed_open_by_themselves() {
    let host = Host::with_two_cables();
    let mut agent = host.agent_with("others = { freeze = \"2s\" }");
    let mut flows = host::Flows::with_stranger(&host, 20);
    flows.speak(1);
    let told = host.ask(&["notify", "dev=cable2,rate=10mbit,delay=10ms,gap=2s", "--expect"]);
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    agent.until("windows are closed", || host.status()["others"]["closed"].as_u64() > Some(0));
    agent.signal("-KILL");
    flows.speak(3);
    println!("{}", flows.end());
}
