//! `segue kernel` and `segue doctor` as a user meets them. Tests that need rights over the machine are in
//! crates/kernel; here nothing is attached.

#![cfg(feature = "live")]

use std::process::{Command, Output, Stdio};

fn segue(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_segue")).args(args).output().expect("segue starts")
}

fn refused(args: &[&str], status: i32) -> String {
    let output = segue(args);
    let text = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(status), "{args:?}: {text}");
    assert_eq!(text.lines().count(), 1, "one line: {text}");
    assert!(output.stdout.is_empty(), "{args:?}");
    text
}

#[test]
fn the_doctor_names_what_is_there_and_what_is_missing() {
    let output = segue(&["doctor", "--json", "-"]);
    assert!(output.status.success());
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON and nothing else");
    assert_eq!(document["version"], 1);
    let features = document["features"].as_array().expect("a list");
    for name in ["rights", "kernel", "btf", "cubic", "bbr", "cgroup2", "bpffs", "mark-listeners"] {
        let feature = features.iter().find(|feature| feature["name"] == name);
        let feature = feature.unwrap_or_else(|| panic!("no {name}"));
        assert!(feature["present"].is_boolean());
        for key in ["found", "needed_for", "without"] {
            assert!(!feature[key].as_str().expect("text").is_empty(), "{name}: {key}");
        }
    }
    let text = String::from_utf8(segue(&["doctor"]).stdout).expect("UTF-8");
    let listed = |feature: &serde_json::Value| text.contains(feature["name"].as_str().expect("text"));
    assert!(features.iter().all(listed), "{text}");
}

/// Root has a kernel without the iterator in a mount namespace of its own: libbpf takes names from a file.
#[test]
#[ignore = "needs kernel"]
fn the_doctor_misses_the_iterator() {
    const BTF: &str = "/sys/kernel/btf/vmlinux";
    let mut btf = std::fs::read(BTF).expect("BTF");
    let name = b"\0bpf_iter_tcp\0";
    let at = btf.windows(name.len()).position(|window| window == name).expect("the name");
    btf[at + 1] = b'X';
    let copy = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(copy.path(), btf).expect("a file");
    let line = format!("mount --bind {} {BTF} && COLUMNS=300 exec \"$0\" doctor", copy.path().display());
    let doctor =
        Command::new("unshare").args(["--mount", "sh", "-c", &line, env!("CARGO_BIN_EXE_segue")]).output();
    let text = String::from_utf8(doctor.expect("it starts").stdout).expect("UTF-8");
    let line = text.lines().find(|line| line.contains("bpf-iter")).expect("a line");
    assert!(line.contains("bpf_iter_tcp not found in BTF"), "{text}");
}

#[test]
fn wrong_words_are_named() {
    assert!(refused(&["kernel"], 2).contains("expected one of attach, detach, status, run"));
    let text = refused(&["kernel", "attach", "--scheme", "etcp-v9"], 2);
    assert!(
        text.contains("unknown scheme `etcp-v9`; expected one of ") && text.contains("did you mean `etcp-v"),
        "{text}"
    );
    let text = refused(&["kernel", "attach", "--scheme", "tcp-hoo"], 2);
    assert!(text.contains("did you mean `tcp-ho`?"), "{text}");
    let text = refused(&["kernel", "attach", "--scheme", "cubic"], 2);
    assert!(text.contains("`cubic` is a congestion control: --around cubic"), "{text}");
    let text = refused(&["kernel", "attach", "--scheme", "sack"], 2);
    assert!(text.contains("unknown scheme `sack`; expected one of etcp, "), "{text}");
    assert!(
        text.contains("`sack` is TCP without a scheme, which the kernel has without a program"),
        "{text}"
    );
    let text = refused(&["kernel", "attach", "--scheme", "freeze"], 2);
    assert!(text.contains("`freeze` is a scheme of the simulator alone"), "{text}");
    let text = refused(&["kernel", "attach", "--set", "resume=1"], 2);
    assert!(text.contains("unknown setting `resume`; expected one of "), "{text}");
    let text = refused(&["kernel", "attach", "--around", "reno"], 2);
    assert!(text.contains("cubic, bbr"), "{text}");
    let text = refused(&["kernel", "attach", "--icmp"], 2);
    assert!(text.contains("segue kernel run"), "{text}");
}

#[test]
fn names_are_checked_before_they_become_paths() {
    for name in ["..", "no/slash", "no-dash", "sixteen_letters_"] {
        for command in ["attach", "detach", "status", "run"] {
            let text = refused(&["kernel", command, "--name", name], 2);
            assert!(text.contains(&format!("'{name}' is no name")), "{command}: {text}");
        }
    }
}

#[test]
#[ignore = "needs kernel"]
fn what_cannot_be_attached_is_one_line() {
    // A name of this process alone; and everything below is refused before anything is attached.
    let name = format!("t{}", std::process::id());
    let folder = tempfile::tempdir().expect("a folder");
    let missing = folder.path().join("missing").display().to_string();
    for command in ["attach", "run"] {
        let text = refused(&["kernel", command, "--name", "cubic"], 2);
        assert!(text.contains("'cubic' is registered already"), "{command}: {text}");
        let text = refused(&["kernel", command, "--name", &name, "--cgroup", &missing], 2);
        assert!(text.contains(&format!("cgroup {missing}: No such file")), "{command}: {text}");
        let text = refused(&["kernel", command, "--name", &name, "--cgroup", "/proc"], 2);
        assert!(text.contains("not in cgroup2, which is mounted at"), "{command}: {text}");
        let text = refused(&["kernel", command, "--name", &name, "--cgroup", "/proc/version"], 2);
        assert!(text.contains("not in cgroup2"), "{command}: {text}");
    }
    for command in ["detach", "status"] {
        let text = refused(&["kernel", command, "--name", &name], 2);
        assert!(text.contains("no sender is attached"), "{command}: {text}");
    }
}

/// A folder of cgroup2 and a sender's name, both of which go also when a test fails.
struct Own {
    name: String,
    cgroup: std::path::PathBuf,
}

impl Own {
    fn new(start: &str) -> Self {
        let name = format!("{start}{}", std::process::id());
        let cgroup = segue_kernel::host::cgroup2().expect("cgroup2 is mounted").join(&name);
        std::fs::create_dir(&cgroup).expect("a cgroup");
        Self { name, cgroup }
    }

    /// An attach in a network namespace of its own, whose listeners are marked.
    fn attach(&self, name: &str) -> Command {
        let mut command = Command::new("unshare");
        command.args(["--net", env!("CARGO_BIN_EXE_segue"), "kernel", "attach", "--name", name, "--cgroup"]);
        command.arg(&self.cgroup).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        for name in [&self.name, &format!("{}b", self.name)] {
            segue(&["kernel", "detach", "--name", name]);
        }
        let _ = std::fs::remove_dir(&self.cgroup);
    }
}

/// The others are told, and take nothing of the one that is attached away.
#[test]
#[ignore = "needs kernel"]
fn of_several_attaches_at_once_one_succeeds() {
    let own = Own::new("tr");
    for round in 0..3 {
        let all: Vec<_> = (0..3).map(|_| own.attach(&own.name).spawn().expect("it starts")).collect();
        let all: Vec<_> = all.into_iter().map(|one| one.wait_with_output().expect("it ends")).collect();
        assert_eq!(all.iter().filter(|one| one.status.success()).count(), 1, "{round}: {all:?}");
        for other in all.iter().filter(|one| !one.status.success()) {
            let text = String::from_utf8_lossy(&other.stderr);
            assert_eq!((other.status.code(), text.lines().count()), (Some(2), 1), "{text}");
            assert!(text.contains(&format!("'{}' is registered already", own.name)), "{text}");
        }
        for command in ["status", "detach"] {
            let output = segue(&["kernel", command, "--name", &own.name]);
            assert!(output.status.success(), "{round}: {command}: {output:?}");
        }
    }
}

#[test]
#[ignore = "needs kernel"]
fn a_second_sender_on_a_cgroup_is_told() {
    let own = Own::new("ts");
    let attach = |name: &str| own.attach(name).output().expect("it starts");
    let (first, second) = (attach(&own.name), attach(&format!("{}b", own.name)));
    assert!(first.status.success() && first.stderr.is_empty(), "{first:?}");
    let text = String::from_utf8_lossy(&second.stderr);
    assert!(second.status.success() && text.lines().count() == 1, "{second:?}");
    let warning = format!("segue: warning: a sender is attached to {} already", own.cgroup.display());
    assert!(text.starts_with(&warning), "{text}");
    // One that is refused says that alone.
    let again = attach(&own.name);
    let text = String::from_utf8_lossy(&again.stderr);
    assert_eq!((again.status.code(), text.lines().count()), (Some(2), 1), "{text}");
}

#[test]
#[ignore = "needs kernel"]
fn without_root_it_is_one_line() {
    let nobody = ["--reuid", "65534", "--regid", "65534", "--clear-groups"];
    // A copy that anybody may run.
    let folder = tempfile::tempdir().expect("a folder");
    let copy = folder.path().join("segue");
    // By another program: a child of another test would have a file that we write open, too, and nobody could run it.
    let program = env!("CARGO_BIN_EXE_segue");
    assert!(Command::new("cp").arg(program).arg(&copy).status().expect("cp").success());
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("ours");
    let run = |args: &[&str]| Command::new("setpriv").args(nobody).arg(&copy).args(args).output();
    let reached = run(&["--version"]).expect("setpriv");
    assert!(reached.status.success(), "another user cannot run {}: {reached:?}", copy.display());
    for command in ["attach", "run", "status", "detach"] {
        let output = run(&["kernel", command, "--name", "nobody_s"]).expect("it starts");
        let text = String::from_utf8(output.stderr).expect("UTF-8");
        assert_eq!(text.lines().count(), 1, "{command}: {text}");
        assert!(output.stdout.is_empty(), "{command}");
        if ["attach", "run"].contains(&command) {
            assert_eq!(output.status.code(), Some(1), "{command}: {text}");
            assert!(text.contains("CAP_BPF") && text.contains("run as root"), "{command}: {text}");
        } else {
            assert!(matches!(output.status.code(), Some(1 | 2)), "{command}: {text}");
        }
    }
}
