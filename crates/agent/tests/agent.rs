//! `segue-agent` as a user meets it: the program in a network namespace of its own.

mod host;

use host::{AGENT, Host, Talker, refused};
use serde_json::Value;
use std::process::{Command, Stdio};
use std::time::Duration;

#[test]
fn wrong_words_are_named() {
    assert!(refused(&[], 2).contains("expected one of run, notify, status"));
    for (words, said) in [
        ("wwan0", "expected dev=NAME,rate=RATE,delay=TIME"),
        ("dev=wwan0,rate=0mbit,delay=1ms", "`0mbit` is not a rate"),
        ("dev=wwan0,rate=1mbit,delay=1", "`1` is not a time"),
    ] {
        let text = refused(&["notify", words], 2);
        assert!(text.contains(said), "{text}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("agent.toml");
    let name = file.display().to_string();
    for command in [&["run"][..], &["status"], &["notify", "dev=a,rate=1mbit,delay=1ms"]] {
        std::fs::write(&file, "copies = 2\ncopys = 3\n").expect("a file");
        let args = [command, &["--config", &name]].concat();
        let text = refused(&args, 2);
        assert!(
            text.contains(&format!("{name}, line 2, column 1: unknown key `copys`, expected one of")),
            "{text}"
        );
        std::fs::remove_file(&file).expect("ours");
        assert!(refused(&args, 2).contains("there is no such file; expected the agent's configuration"));
    }
    let nobody = folder.path().join("agent.sock").display().to_string();
    let text = refused(&["status", "--control", &nobody], 2);
    assert!(text.contains("no agent is at work; expected `segue agent run`"), "{text}");
}

#[test]
#[ignore = "needs kernel"]
fn three_capabilities_are_enough_for_its_work_and_only_root_has_its_files() {
    let host = Host::new();
    let mut agent = host.agent();
    host.status(); // it answers once it has given up its rights
    let status = agent.proc("status");
    let field = |name: &str| {
        let line =
            status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("{name}"));
        line.trim_start_matches(':').trim().to_owned()
    };
    // CAP_NET_ADMIN 12, CAP_NET_RAW 13, CAP_BPF 39
    for set in ["CapEff", "CapPrm", "CapBnd"] {
        assert_eq!(u64::from_str_radix(&field(set), 16), Ok(1 << 12 | 1 << 13 | 1 << 39), "{set}");
    }
    assert_eq!((field("CapInh"), field("CapAmb")), ("0".repeat(16), "0".repeat(16)));
    assert_eq!(field("NoNewPrivs"), "1");
    let modes = host.shell(&format!(
        "stat -c %a {0} {0}/agent.sock {0}/agent.sock.lock {1} {1}/connections-2 | tr '\\n' ' '",
        host.state().display(),
        host.pins()
    ));
    assert_eq!(String::from_utf8_lossy(&modes.stdout), "711 600 600 700 600 ");
    let said = host.ask(&["notify", "dev=cable0,rate=2mbit,delay=50ms"]);
    assert!(said.status.success(), "{said:?}");
    assert!(
        String::from_utf8_lossy(&said.stdout).starts_with("cable0, 0.0.0.0/0: told 0 in the kernel's ACKs")
    );
    let said = host.ask(&["notify", "dev=wwan7,rate=2mbit,delay=50ms"]);
    assert_eq!(said.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&said.stderr).contains("no device `wwan7` on this host; expected one of")
    );
    let link = &host.status()["watch"][0]["estimate"];
    assert_eq!((&link["rate_kbps"], &link["source"]), (&2000.into(), &"told".into()));
    let json = host.ask(&["status", "--json", "-"]);
    let json: Value = serde_json::from_slice(&json.stdout).expect("JSON and nothing else");
    assert_eq!(json["watch"], host.status()["watch"]);
    let text = host.ask(&["status"]);
    let text = String::from_utf8_lossy(&text.stdout);
    let others = ["OTHER PEERS", "resume", "helped", "octets", "narrowed", "closed"];
    for word in
        ["cable0", "2000kbit/50ms", "negotiated", "triggered", "told 0.0.0.0/0 cable0"].iter().chain(&others)
    {
        assert!(text.contains(word), "{word}: {text}");
    }
    assert_eq!(agent.signal("-TERM"), Some(0));
    assert!(!host.state().exists());
    assert!(!host.shell(&format!("test -e {}", host.pins())).status.success(), "pins stay");
}

const SERVER: &str = "import socket
server=socket.socket(); server.bind(('192.0.2.2',7777)); server.listen(); print('ready',flush=True)
far,_=server.accept()
while far.recv(1): far.sendall(b'PAYLOAD-THAT-NO-LOG-MUST-HAVE'*100)
";
const CLIENT: &str = "import socket,sys
near=socket.create_connection(('192.0.2.2',7777)); near.settimeout(600)
right=b'PAYLOAD-THAT-NO-LOG-MUST-HAVE'*100
for line in sys.stdin:
    near.sendall(b'x')
    got=b''
    while len(got)<len(right): got+=near.recv(65536)
    print('ok' if got==right else 'wrong',flush=True)
";

#[test]
#[ignore = "needs kernel python3"]
fn flows_outlive_a_killed_agent_and_the_next_one_knows_them() {
    let host = Host::new();
    // It is attached to the cgroup of both ends, and so gives also the peer its capability.
    let mut agent = host.agent();
    let mut server = Talker::new(host.python(&host.peer), SERVER);
    assert_eq!(server.hear(), "ready");
    let mut client = Talker::new(host.python(&host.holder), CLIENT);
    client.speaks("before");
    assert_eq!(host.status()["connections"]["negotiated"], 1, "{}", host.status());
    for round in 0..5 {
        let mut notify = host.command(AGENT);
        notify.args(["notify", "dev=cable0,rate=2mbit,delay=50ms", "--config"]).arg(host.config());
        let mut notify = notify.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        std::thread::sleep(Duration::from_millis(round * 7));
        assert_eq!(agent.signal("-KILL"), None);
        let _ = notify.wait();
        client.speaks("after a kill");
        assert!(host.state().join("agent.sock").exists());
        assert!(host.shell(&format!("test -e {}", host.pins())).status.success());
        drop(agent);
        agent = host.agent();
        agent.until("peers are told", || {
            let rounds = host.status()["rounds"].clone();
            let first = &rounds[0];
            // The peer is told at once, in a crafted ACK where the killed agent has governed the flow, whose congestion
            // control cannot be set again. It is told with its next ACK where the start has taken so long that nothing
            // has come on it lately.
            let told = ["triggered", "crafted", "waiting"].map(|name| first[name].as_u64().unwrap_or(0));
            first["cause"] == "restarted" && told.iter().sum::<u64>() == 1
        });
        assert_eq!(host.status()["connections"]["negotiated"], 1, "{}", host.status());
        agent.until("flows have their own congestion control again", || {
            let seen = host.shell("ss -tinH");
            assert!(seen.status.success(), "{seen:?}");
            !String::from_utf8_lossy(&seen.stdout).contains(" sgu")
        });
        client.speaks("after a restart");
    }
    assert!(!agent.log().contains("PAYLOAD"), "{}", agent.log());
    assert!(agent.log().lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{}", agent.log());
    assert_eq!(agent.signal("-TERM"), Some(0));
    client.speaks("after the end");
    assert!(!host.state().exists());
}

/// A device that the configuration names and the host has not, a link in use that it leaves out, a handoff to such a one.
#[test]
#[ignore = "needs kernel"]
fn links_that_do_not_fit_are_warned_of() {
    let host = Host::with_two_cables();
    let text = host.text().replace("[[link]]\n", "[[link]]\ndevice = \"cable9\"\n");
    std::fs::write(host.config(), text).expect("a file");
    let mut agent = host.agent();
    let warnings = || -> Vec<Value> {
        let lines = agent.log();
        let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        lines.filter(|line| line["level"] == "WARN").collect()
    };
    let with = |message: &str| {
        warnings()
            .into_iter()
            .find(|line| line["message"].as_str().is_some_and(|said| said.contains(message)))
    };
    let absent = with("a [[link]] names a device that is not there").expect("a warning");
    assert_eq!(absent["device"], "cable9");
    assert!(absent["devices"].as_str().is_some_and(|names| names.contains("cable0")), "{absent}");
    let unfit = with("no [[link]] fits the device: nobody is told").expect("a warning");
    assert_eq!(unfit["device"], "cable0");
    host.move_to(1);
    agent.until("the handoff is logged", || with("a handoff to a link of which nothing is known").is_some());
    let handoff = with("a handoff to a link of which nothing is known").expect("there");
    assert_eq!(handoff["device"], "cable2");
    assert_eq!(agent.signal("-TERM"), Some(0));
}

#[test]
#[ignore = "needs kernel"]
fn a_second_agent_is_refused() {
    let host = Host::new();
    let agent = host.agent();
    let second = host.ask(&["run"]);
    assert_eq!(second.status.code(), Some(2), "{second:?}");
    let text = String::from_utf8_lossy(&second.stderr);
    assert!(text.contains(&format!("(process {})", agent.child.id())), "{text}");
    assert_eq!(text.lines().count(), 1);
}

#[test]
#[ignore = "needs kernel"]
fn an_idle_agent_is_small_and_sleeps() {
    let host = Host::new();
    let agent = host.agent();
    let ticks = || {
        let stat = agent.proc("stat");
        let after = stat.rsplit_once(") ").expect("a name").1.split(' ').collect::<Vec<_>>();
        after[11].parse::<u64>().expect("ticks") + after[12].parse::<u64>().expect("ticks")
    };
    let before = ticks();
    std::thread::sleep(Duration::from_secs(5));
    // Hundredths of a second, that is, less than one percent.
    assert!(ticks() - before <= 2, "{} of 500 ticks", ticks() - before);
    let status = agent.proc("status");
    let size = |what: &str| {
        let size = status.lines().find_map(|line| line.strip_prefix(what)).expect("its size");
        size.trim().trim_end_matches(" kB").parse::<u64>().expect("a number")
    };
    // How much of its program is resident beside that depends on what the page cache has.
    let (own, resident) = (size("RssAnon:"), size("VmRSS:"));
    println!("its own: {own} kB, resident: {resident} kB");
    assert!(own <= 2_000, "{own} kB");
}

#[test]
#[ignore = "needs kernel"]
fn without_root_it_is_one_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let copy = folder.path().join("segue-agent");
    // Another program writes it. If this process had it open for writing, a child of another test would have it, too,
    // and nobody could run it ("text file busy").
    let copied = Command::new("cp").arg(AGENT).arg(&copy).status().expect("cp");
    assert!(copied.success(), "{copied}");
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("ours");
    let nobody = ["--reuid", "65534", "--regid", "65534", "--clear-groups"];
    let run = |args: &[&str]| Command::new("setpriv").args(nobody).arg(&copy).args(args).output();
    let reached = run(&["--version"]).expect("setpriv");
    assert!(reached.status.success(), "another user cannot run {}: {reached:?}", copy.display());
    let output = run(&["run"]).expect("it starts");
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), text.lines().count()), (Some(1), 1), "{text}");
    assert!(text.contains("CAP_BPF") && text.contains("run as root"), "{text}");
}
