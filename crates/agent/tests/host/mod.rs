//! A host in a network namespace of its own, and the program at work on it.

#![allow(dead_code, reason = "each test file uses its part")]

use segue_agent::control;
use segue_kernel::host::cgroup2;
use serde_json::Value;
use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::time::{Duration, Instant};

pub const AGENT: &str = env!("CARGO_BIN_EXE_segue-agent");

pub fn refused(args: &[&str], status: i32) -> String {
    let output = Command::new(AGENT).args(args).output().expect("it starts");
    let text = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(status), "{args:?}: {text}");
    assert_eq!(text.lines().count(), 1, "one line: {text}");
    assert!(output.stdout.is_empty(), "{args:?}");
    text
}

/// A host with a bpf file system of its own, and a cable to another one, its default route.
pub struct Host {
    pub holder: Child,
    pub peer: Child,
    pub folder: tempfile::TempDir,
    /// The cgroup of both: agents beside this one's are attached elsewhere.
    pub cgroup: PathBuf,
}

const PEER: &str = "ip link set lo up && echo ready && exec cat";
const HOST: &str = "mount -t bpf bpf /sys/fs/bpf && ip link set lo up && \
    ip link add cable0 type veth peer name cable1 && ip addr add 192.0.2.1/24 dev cable0 && \
    ip link set cable1 netns $1 && nsenter --target $1 --net ip addr add 192.0.2.2/24 dev cable1 && \
    nsenter --target $1 --net ip link set cable1 up && ip link set cable0 up && \
    ip route add default via 192.0.2.2 && echo ready && exec cat";

/// A process in namespaces of its own, which has made them ready. It ends with its input, at the latest with this test.
fn namespaces(args: &[&str]) -> Child {
    let mut command = Command::new("unshare");
    let command = command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("unshare starts");
    let mut said = [0; 6];
    child.stdout.take().expect("piped").read_exact(&mut said).expect("a host");
    assert_eq!(&said, b"ready\n");
    child
}

impl Host {
    pub fn new() -> Self {
        let peer = namespaces(&["--net", "sh", "-c", PEER]);
        let id = peer.id().to_string();
        let holder = namespaces(&["--net", "--mount", "sh", "-c", HOST, "host", &id]);
        let cgroup = cgroup2().expect("cgroup2").join(format!("segue-agent-test-{id}"));
        std::fs::create_dir(&cgroup).expect("a cgroup");
        let host = Self { holder, peer, folder: tempfile::tempdir().expect("a folder"), cgroup };
        std::fs::write(host.config(), host.text()).expect("a file");
        host
    }

    /// Another cable, and addresses at both ends that no cable has: those of flows that outlive a change of cables.
    pub fn with_two_cables() -> Self {
        let host = Self::new();
        let done = host.shell(&format!(
            "sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.cable0.rp_filter=0 && \
             ip link add cable2 type veth peer name cable3 && sysctl -qw net.ipv4.conf.cable2.rp_filter=0 && \
             ip addr add 198.51.100.1/24 dev cable2 && ip addr add 203.0.113.1/32 dev lo && \
             ip link set cable3 netns {0} && ip link set cable2 up && \
             nsenter --target {0} --net sh -c 'ip addr add 198.51.100.2/24 dev cable3 && ip link set cable3 up && \
             ip addr add 203.0.113.2/32 dev lo && \
             for i in all cable1 cable3; do echo 0 > /proc/sys/net/ipv4/conf/$i/rp_filter; done'",
            host.peer.id()
        ));
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        host.move_to(0);
        host
    }

    /// The default route leads over this cable, 0 or 1, and the peer's way back.
    pub fn move_to(&self, cable: usize) {
        let net = ["192.0.2", "198.51.100"][cable];
        let done = self.shell(&format!(
            "nsenter --target {} --net ip route replace 203.0.113.1 via {net}.1 src 203.0.113.2 && \
             ip route replace default via {net}.2 src 203.0.113.1",
            self.peer.id()
        ));
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }

    /// Filters of what leaves by a device of the holder.
    pub fn filters_of(&self, device: &str) -> String {
        let of = format!("tc qdisc show dev {device} clsact; tc filter show dev {device} egress");
        String::from_utf8_lossy(&self.shell(&format!("({of}) 2>/dev/null")).stdout).trim().to_owned()
    }

    /// Output of the program when it runs with this added to its configuration, and ends at once.
    pub fn refuses(&self, more: &str, status: i32) -> String {
        std::fs::write(self.config(), format!("{more}\n{}", self.text())).expect("a file");
        let output = self.ask(&["run"]);
        let text = String::from_utf8(output.stderr).expect("UTF-8");
        assert_eq!((output.status.code(), text.lines().count()), (Some(status), 1), "{text}");
        text
    }

    /// An agent with this added to its configuration.
    pub fn agent_with(&self, more: &str) -> Agent {
        std::fs::write(self.config(), format!("{more}\n{}", self.text())).expect("a file");
        self.agent()
    }

    pub fn config(&self) -> PathBuf {
        self.folder.path().join("agent.toml")
    }

    pub fn state(&self) -> PathBuf {
        self.folder.path().join("segue")
    }

    pub fn text(&self) -> String {
        let control = self.state().join("agent.sock");
        format!(
            "cgroup = \"{}\"\ncontrol = \"{}\"\npin = \"{}\"\n[[link]]\nrate = \"10mbit\"\ndelay = \"10ms\"\n",
            self.cgroup.display(),
            control.display(),
            self.pins()
        )
    }

    pub fn pins(&self) -> String {
        format!("/sys/fs/bpf/segue/test{}", self.holder.id())
    }

    /// A command on the host.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["--target", &self.holder.id().to_string(), "--net", "--mount", "--", program]);
        command
    }

    /// A program of python's on the host or its peer, in their cgroup.
    pub fn python(&self, host: &Child) -> Command {
        let mut command = Command::new("nsenter");
        let line = format!("echo $$ > {}/cgroup.procs && exec python3 \"$@\"", self.cgroup.display());
        command.args(["--target", &host.id().to_string(), "--net", "--", "sh", "-c", &line, "python3"]);
        command
    }

    pub fn shell(&self, line: &str) -> Output {
        self.command("sh").args(["-c", line]).output().expect("a shell")
    }

    pub fn agent(&self) -> Agent {
        let mut command = self.command(AGENT);
        command.args(["run", "--log", "json", "--config"]).arg(self.config());
        self.agent_of(command)
    }

    /// The agent that this command starts.
    pub fn agent_of(&self, mut command: Command) -> Agent {
        let log = self.folder.path().join("log");
        let file = std::fs::File::create(&log).expect("a log");
        // nsenter without --fork becomes the program
        let child = command.stdout(Stdio::null()).stderr(file).spawn().expect("it starts");
        let agent = Agent { child, log };
        agent.until("it is at work", || agent.log().contains("the agent is at work"));
        agent
    }

    pub fn ask(&self, args: &[&str]) -> Output {
        let mut command = self.command(AGENT);
        command.args(args).arg("--config").arg(self.config()).output().expect("it starts")
    }

    /// Asked without a program, which a busy machine would start too late.
    pub fn status(&self) -> Value {
        match control::ask(&self.state().join("agent.sock"), &control::Request::Status) {
            Ok(control::Reply::Status(status)) => status,
            other => panic!("no status: {other:?}"),
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        for process in [&mut self.holder, &mut self.peer] {
            let _ = process.kill();
            let _ = process.wait();
        }
        for _ in 0..3000 {
            if std::fs::remove_dir(&self.cgroup).is_ok() {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

pub struct Agent {
    pub child: Child,
    log: PathBuf,
}

impl Agent {
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).expect("a log")
    }

    pub fn until(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let limit = Instant::now() + Duration::from_secs(600);
        while !holds() {
            assert!(Instant::now() < limit, "{what}: {}", self.log());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub fn proc(&self, file: &str) -> String {
        std::fs::read_to_string(format!("/proc/{}/{file}", self.child.id())).expect("a process")
    }

    pub fn signal(&mut self, signal: &str) -> Option<i32> {
        let done = Command::new("kill").args([signal, &self.child.id().to_string()]).status();
        assert!(done.is_ok_and(|status| status.success()));
        self.child.wait().expect("it ends").code()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A program that is told and answers in lines.
pub struct Talker {
    child: Child,
    to: ChildStdin,
    from: Lines<BufReader<ChildStdout>>,
}

impl Talker {
    pub fn new(command: Command, script: &str) -> Self {
        Self::with_words(command, script, &[])
    }

    pub fn with_words(mut command: Command, script: &str, words: &[&str]) -> Self {
        let command = command.args(["-c", script]).args(words).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("python3 starts");
        let (to, from) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        Self { child, to, from: BufReader::new(from).lines() }
    }

    pub fn hear(&mut self) -> String {
        self.from.next().expect("a line").expect("text")
    }

    pub fn speaks(&mut self, when: &str) {
        writeln!(self.to, "go").expect("it listens");
        assert_eq!(self.hear(), "ok", "{when}");
    }
}

impl Drop for Talker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Flows between the host's address that no cable has and its peer's. Each asks again and again, and both ends compare
/// every octet with what it must be.
pub struct Flows {
    _server: Talker,
    client: Talker,
}

const ANSWER: &str = "import asyncio,resource
resource.setrlimit(resource.RLIMIT_NOFILE,(8192,8192))
pattern=bytes(range(251))*20
async def flow(reader,writer):
    asked=said=0
    try:
        while True:
            got=await reader.readexactly(600)
            if got!=pattern[asked%251:asked%251+600]: break
            asked+=600
            writer.write(pattern[said%251:said%251+3000]); said+=3000
            await writer.drain()
    except asyncio.IncompleteReadError: pass
    writer.close()
async def main():
    server=await asyncio.start_server(flow,'203.0.113.2',7778,backlog=4096)
    print('ready',flush=True)
    await server.serve_forever()
asyncio.run(main())
";
const ASK: &str = "import asyncio,resource,sys,time
resource.setrlimit(resource.RLIMIT_NOFILE,(8192,8192))
count=int(sys.argv[1]); pause=max(0.1,count/1000)
pattern=bytes(range(251))*20
done=[0]*count; longest=[0.0]; faults=[]
async def flow(number):
    asked=said=0
    try:
        reader,writer=await asyncio.open_connection('203.0.113.2',7778)
        while True:
            begin=time.monotonic()
            writer.write(pattern[asked%251:asked%251+600]); asked+=600
            got=await asyncio.wait_for(reader.readexactly(3000),600)
            if got!=pattern[said%251:said%251+3000]: raise ValueError('other octets')
            said+=3000; done[number]+=1
            longest[0]=max(longest[0],time.monotonic()-begin)
            await asyncio.sleep(pause)
    except asyncio.CancelledError: raise
    except BaseException as fault: faults.append(repr(fault))
async def all_have(rounds):
    goal=[before+rounds for before in done]
    while not faults and any(have<want for have,want in zip(done,goal)): await asyncio.sleep(0.02)
    return 'ok' if not faults else f'{len(faults)} flows failed: {faults[0]}'
async def main():
    flows=[asyncio.create_task(flow(number)) for number in range(count)]
    print(await all_have(1),flush=True)
    loop=asyncio.get_running_loop()
    while True:
        line=await loop.run_in_executor(None,sys.stdin.readline)
        if not line.strip().isdigit(): break
        print(await all_have(int(line)),flush=True)
    said=f'{sum(done)*3600} octets, every one right; longest exchange {longest[0]:.2f} s'
    print(said if not faults else faults[0],flush=True)
    for one in flows: one.cancel()
asyncio.run(main())
";

impl Flows {
    /// So many, each of which has been answered once.
    pub fn start(host: &Host, count: usize) -> Self {
        Self::with(host, host.python(&host.peer), count)
    }

    /// The same with a server that runs nothing of ours: it answers no capability.
    pub fn with_stranger(host: &Host, count: usize) -> Self {
        let mut outside = Command::new("nsenter");
        outside.args(["--target", &host.peer.id().to_string(), "--net", "python3"]);
        Self::with(host, outside, count)
    }

    fn with(host: &Host, python: Command, count: usize) -> Self {
        let mut server = Talker::new(python, ANSWER);
        assert_eq!(server.hear(), "ready");
        let client = Talker::with_words(host.python(&host.holder), ASK, &[&count.to_string()]);
        let mut flows = Self { _server: server, client };
        assert_eq!(flows.client.hear(), "ok", "{count} flows");
        flows
    }

    /// Each of them is answered so many times more, and none is reset or silent for ten minutes.
    pub fn speak(&mut self, times: usize) {
        writeln!(self.client.to, "{times}").expect("it listens");
        assert_eq!(self.client.hear(), "ok");
    }

    /// The client's last line: all that it has received is right.
    pub fn end(mut self) -> String {
        writeln!(self.client.to, "end").expect("it listens");
        let said = self.client.hear();
        assert!(said.contains("every one right"), "{said}");
        said
    }
}

/// A library that refuses programs of one type, as a kernel without them does: to be loaded before the C library. It
/// stands in `folder`.
pub fn without_programs(folder: &std::path::Path) -> PathBuf {
    let [source, library] = ["refuse.c", "refuse.so"].map(|name| folder.join(name));
    std::fs::write(&source, REFUSE).expect("a file");
    let done = Command::new("gcc").args(["-shared", "-fPIC", "-O1", "-o"]).args([&library, &source]).output();
    let done = done.expect("gcc starts");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    library
}

/// bpf(BPF_PROG_LOAD) of the type that REFUSED_TYPE names fails, as bpf_prog_load() does whose find_prog_type() finds none.
const REFUSE: &str = r#"#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
long syscall(long number, ...)
{
	static long (*next)(long, ...);
	const char *type = getenv("REFUSED_TYPE");
	long word[6];
	va_list words;

	va_start(words, number);
	for (int i = 0; i < 6; i++)
		word[i] = va_arg(words, long);
	va_end(words);
	if (number == SYS_bpf && word[0] == BPF_PROG_LOAD && type &&
	    ((union bpf_attr *)word[1])->prog_type == (unsigned)atoi(type)) {
		errno = EINVAL;
		return -1;
	}
	if (!next)
		next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	return next(number, word[0], word[1], word[2], word[3], word[4], word[5]);
}
"#;
