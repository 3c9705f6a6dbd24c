//! Deaths under a flow: of the process that attached the sender, and of the hosts themselves.

mod laboratory;
mod left;

use laboratory::{in_laboratory, link};
use left::{LIMIT, Pin, left_of, nothing_left_of, registered};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rand_core::{RngCore, SeedableRng};
use segue_kernel::mobile::{self, Mobile};
use segue_kernel::sender::{Around, Options, Policy, attach, detach, status};
use segue_lab::bulk::write_bulk;
use segue_lab::programs::Download;
use segue_lab::{Error, Family, Laboratory, Plan, Program, SenderKind};
use segue_policy::Link;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// So slow that a file of 64 MB lasts for minutes: a busy machine needs them to kill, detach and attach.
const LINK: Link = Link { rate_kbps: 2_000, delay_us: 2_000 };

fn options(name: &str, cgroup: &Path, pin: Option<&Pin>) -> Options {
    Options {
        cgroup: cgroup.into(),
        name: name.into(),
        around: Around::Cubic,
        policy: Policy::named("etcp-v1", &[]).expect("a scheme"),
        icmp: false,
        listeners: true,
        pin: pin.map(|pin| pin.0.clone()),
    }
}

/// Not a test by itself: the process that is killed, as `segue kernel` attaches, detaches or runs.
#[test]
#[ignore = "a part of other tests"]
fn daemon() {
    let Ok(words) = std::env::var("SEGUE_TEST_DAEMON") else { return };
    let [mode, name, cgroup] = words.split(' ').collect::<Vec<_>>()[..] else { panic!("{words}") };
    let pin = Pin::named(name);
    match mode {
        "attach" => drop(attach(&options(name, cgroup.as_ref(), Some(&pin)))),
        "detach" => drop(detach(&pin.0)),
        "run" => {
            let mut sender = attach(&options(name, cgroup.as_ref(), None)).expect("it attaches");
            loop {
                sender.serve(Duration::from_millis(200)).expect("it serves");
            }
        }
        _ => panic!("{mode}"),
    }
    // Its pins stay.
    std::mem::forget(pin);
}

/// Two hosts with a mobile that negotiates, and a sender's name of its own.
struct Stage {
    lab: Laboratory,
    mobile: Mobile,
    name: String,
    pin: Pin,
}

impl Stage {
    fn new(word: &str) -> Self {
        let name = format!("k{}{word}", std::process::id());
        let pin = Pin::named(&name);
        assert_eq!(left_of(&name), Vec::<String>::new(), "before");
        let plan = Plan::new(link(2_000, 2, Some(10)), link(2_000, 2, Some(10)), Vec::new());
        let sender = SenderKind::builtin("cubic", None);
        let lab = Laboratory::create(&plan, &sender, Duration::from_secs(240)).expect("a laboratory");
        let options = mobile::Options { cgroup: lab.cgroups().mobile.clone(), link: LINK };
        let mobile = lab
            .mobile()
            .namespace
            .within(|| mobile::attach(&options).map_err(|error| Error::Fault(error.to_string())))
            .expect("it attaches");
        Self { lab, mobile, name, pin }
    }

    /// On the server's host.
    fn there<T>(&self, work: impl FnOnce() -> T) -> T {
        self.lab.server().namespace.within(|| Ok(work())).expect("the namespace is there")
    }

    fn daemon(&self, mode: &str) -> Child {
        let words = format!("{mode} {} {}", self.name, self.lab.cgroups().server.display());
        self.there(|| {
            let mut command = Command::new(std::env::current_exe().expect("a test"));
            command.args(["--ignored", "--exact", "daemon"]).env("SEGUE_TEST_DAEMON", words);
            command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts")
        })
    }

    fn attach(&self) {
        let options = options(&self.name, &self.lab.cgroups().server, Some(&self.pin));
        drop(self.there(|| attach(&options)).expect("it attaches"));
    }

    fn got(&self) -> u64 {
        fs::metadata(self.lab.hosts().folder.join("curl-0.out")).map_or(0, |file| file.len())
    }

    /// More than what was on its way.
    fn lives(&self, what: &str) {
        let (begin, before) = (Instant::now(), self.got());
        while self.got() < before + 60_000 {
            assert!(begin.elapsed() < LIMIT, "{what}: {before}, then {}", self.got());
            thread::sleep(Duration::from_millis(5));
        }
    }
}

/// One transfer, under which a daemon is killed `after` its start.
fn trial(stage: &mut Stage, mode: &str, after: Duration, bulk: &Path) {
    let what = format!("{mode} killed after {after:?}");
    if mode == "detach" {
        stage.attach();
    }
    let mut running = (mode == "run").then(|| {
        let daemon = stage.daemon("run");
        let begin = Instant::now();
        while left_of(&stage.name).last().is_none_or(|last| !last.starts_with(&stage.name)) {
            assert!(begin.elapsed() < LIMIT, "{what}: it does not attach");
            thread::sleep(Duration::from_millis(10));
        }
        daemon
    });
    let download = Download::start(stage.lab.hosts(), Program::Nginx, 1, Family::Ipv4, None, Some(bulk))
        .expect("programs");
    stage.lives(&what);
    let mut daemon = running.take().unwrap_or_else(|| stage.daemon(mode));
    thread::sleep(after);
    daemon.kill().expect("it is ours");
    daemon.wait().expect("it is ours");
    stage.lives(&what);
    // The flow hears on, or it does not; it must bear a notice.
    let mobile = &mut stage.mobile;
    let told = stage.lab.mobile().namespace.within(|| {
        mobile
            .notify(LINK, segue_policy::wire::ReportType::Completed, 2)
            .map_err(|e| Error::Fault(e.to_string()))
    });
    told.expect("it tells");
    // Detach and attach work, whatever the kill has left.
    let clear = |when: &str| {
        let detached = stage.there(|| detach(&stage.pin.0));
        assert!(
            detached.as_ref().is_ok_and(|()| !stage.pin.0.exists())
                || detached.as_ref().is_err_and(segue_kernel::sender::Error::is_user),
            "{what}, {when}: {detached:?}"
        );
    };
    clear("after the kill");
    // On a busy machine the kernel takes longer to give the name back than an attach waits.
    let begin = Instant::now();
    while registered().contains(&stage.name) {
        assert!(begin.elapsed() < LIMIT, "{what}: it stays registered");
        thread::sleep(Duration::from_millis(5));
    }
    stage.attach();
    let now = stage.there(|| status(&stage.pin.0)).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(now.flows.iter().filter(|flow| flow.state == 1).count(), 1, "{what}: {now:?}");
    clear("after another attach");
    assert!(!stage.pin.0.exists(), "{what}");
    stage.lives(&what);
    assert_eq!(download.finish().expect("they end").intact, Some(true), "{what}");
    nothing_left_of(&stage.name);
}

#[test]
#[ignore = "needs lab"]
fn the_flow_outlives_its_daemon_whenever_it_is_killed() {
    in_laboratory(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let bulk = folder.path().join("bulk");
        write_bulk(&bulk, 64 << 20).expect("a file");
        // Attaching takes some 200 ms, detaching some 20.
        let modes: [(&str, &str, u32, u64); 3] =
            [("attach", "a", 3, 400), ("detach", "d", 2, 60), ("run", "r", 2, 500)];
        thread::scope(|scope| {
            for (mode, word, times, most) in modes {
                let bulk = &bulk;
                scope.spawn(move || {
                    let mut stage = Stage::new(word);
                    let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(most);
                    for _ in 0..times {
                        let after = Duration::from_micros(random.next_u64() % (most * 1000));
                        trial(&mut stage, mode, after, bulk);
                    }
                });
            }
        });
    });
}

/// The server's program is killed, then both hosts and the cgroup go, under a sender that is pinned.
#[test]
#[ignore = "needs lab"]
fn hosts_that_disappear_under_an_attached_sender() {
    in_laboratory(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let bulk = folder.path().join("bulk");
        write_bulk(&bulk, 64 << 20).expect("a file");
        let stage = Stage::new("n");
        stage.attach();
        let download = Download::start(stage.lab.hosts(), Program::Nginx, 1, Family::Ipv4, None, Some(&bulk))
            .expect("programs");
        stage.lives("attached");
        kill(Pid::from_raw(download.server_id() as i32), Signal::SIGKILL).expect("it is ours");
        drop(download);
        let Stage { lab, mobile, name, pin } = stage;
        drop((mobile, lab));
        let now = status(&pin.0).expect("the counters are there");
        assert!(now.count("negotiated") >= Some(1) && now.flows.is_empty(), "{now:?}");
        detach(&pin.0).expect("it detaches");
        for error in [status(&pin.0).expect_err("it is gone"), detach(&pin.0).expect_err("it is gone")] {
            assert!(error.is_user() && error.to_string().lines().count() == 1, "{error}");
        }
        nothing_left_of(&name);
    });
}
