//! The installed files, and the program that `segue agent` starts. Where the agent's own program is not needed
//! another one stands in for it: `cargo test -p segue` does not build it.

#![cfg(feature = "live")]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A copy of the program beside an agent that says its words and ends with status 7.
fn programs(folder: &Path) -> [PathBuf; 2] {
    let [segue, agent] = ["segue", "segue-agent"].map(|name| folder.join(name));
    std::fs::copy(env!("CARGO_BIN_EXE_segue"), &segue).expect("a copy");
    std::fs::write(&agent, "#!/bin/sh\necho \"$@\"\nexit 7\n").expect("a file");
    std::fs::set_permissions(&agent, PermissionsExt::from_mode(0o755)).expect("ours");
    [segue, agent]
}

#[test]
fn the_agents_program_gets_the_same_words() {
    let folder = tempfile::tempdir().expect("a folder");
    let [segue, agent] = programs(folder.path());
    let words = ["notify", "dev=a,rate=1mbit,delay=1ms", "--expect", "--config", "two words"];
    let said = |path: &Path| {
        loop {
            match Command::new(&segue).arg("agent").args(words).env("PATH", path).output() {
                // Another test has just forked: the copy is open for writing until its child runs its program.
                Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                    std::thread::yield_now()
                }
                output => break output.expect("it starts"),
            }
        }
    };
    let output = said(Path::new("/nowhere"));
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{}\n", words.join(" ")));
    let elsewhere = tempfile::tempdir().expect("a folder");
    std::fs::rename(&agent, elsewhere.path().join("segue-agent")).expect("ours");
    assert_eq!(said(elsewhere.path()).status.code(), Some(7), "that of PATH");
    let output = said(Path::new("/nowhere"));
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), text.lines().count()), (Some(1), 1), "{text}");
    assert!(text.contains("no program `segue-agent` beside this one or in PATH; expected"), "{text}");
}

#[test]
fn wrong_words_need_no_agent() {
    let output = Command::new(env!("CARGO_BIN_EXE_segue")).arg("agent").output().expect("segue starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("expected one of run, notify, status"));
}

/// Where the repository is.
fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

#[test]
fn what_is_installed_is_removed() {
    let folder = tempfile::tempdir().expect("a folder");
    let destination = format!("DESTDIR={}", folder.path().display());
    let make = |target: &str| {
        let from = tempfile::tempdir().expect("a folder");
        let [segue, _] = programs(from.path());
        let built = format!("PROGRAM={}", segue.display());
        let output = Command::new("make")
            .current_dir(root())
            .args([target, &destination, "PREFIX=/usr", &built])
            .output()
            .expect("make starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let files = || {
        let output =
            Command::new("find").arg(folder.path()).args(["-type", "f", "-printf", "%P %m\\n"]).output();
        let mut files: Vec<_> = String::from_utf8(output.expect("find").stdout)
            .expect("text")
            .lines()
            .map(str::to_owned)
            .collect();
        files.sort();
        files
    };
    make("install");
    let installed = files();
    for file in [
        "etc/segue/agent.toml 644",
        "usr/bin/segue 755",
        "usr/bin/segue-agent 755",
        "usr/lib/systemd/system/segue-agent.service 644",
        "usr/lib/systemd/system/segue-sender.service 644",
        "usr/share/bash-completion/completions/segue 644",
        "usr/share/bash-completion/completions/segue-agent 644",
        "usr/share/man/man1/segue-agent-run.1 644",
        "usr/share/man/man1/segue.1 644",
        "usr/share/zsh/vendor-completions/_segue 644",
    ] {
        assert!(installed.iter().any(|found| found == file), "no {file} in {installed:?}");
    }
    // Changes of the user stay through a second installation.
    let own = folder.path().join("etc/segue/agent.toml");
    std::fs::write(&own, "copies = 3\n").expect("ours");
    make("install");
    assert_eq!(std::fs::read_to_string(&own).expect("a file"), "copies = 3\n");
    make("uninstall");
    assert_eq!(files(), ["etc/segue/agent.toml 644"], "what the user has changed is his");
    std::fs::copy(root().join("examples/agent.toml"), &own).expect("a copy");
    make("uninstall");
    assert_eq!(files(), Vec::<String>::new());
    let folders = Command::new("find").arg(folder.path()).args(["-name", "*segue*"]).output().expect("find");
    assert!(folders.stdout.is_empty(), "{}", String::from_utf8_lossy(&folders.stdout));
}

#[test]
#[ignore = "needs systemd"]
fn units_are_units() {
    let units: Vec<_> = ["segue-agent.service", "segue-sender.service"]
        .iter()
        .map(|name| root().join("packaging").join(name))
        .collect();
    // The programs' places must exist for systemd-analyze.
    let folder = tempfile::tempdir().expect("a folder");
    let [segue, _] = programs(folder.path());
    for unit in units {
        let text = std::fs::read_to_string(&unit).expect("a unit");
        let text = text.replace("/usr/bin/segue", &segue.display().to_string());
        let copy = folder.path().join(unit.file_name().expect("a name"));
        std::fs::write(&copy, text).expect("a copy");
        let verify = Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(&copy).output();
        let output = verify.expect("systemd-analyze");
        let said = String::from_utf8_lossy(&output.stderr);
        let about = said.lines().filter(|line| line.contains("segue-"));
        assert_eq!(about.collect::<Vec<_>>(), Vec::<&str>::new());
    }
}
