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

/// The output of a command that has to succeed.
fn said(command: &mut Command) -> String {
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// SHA-256 as `sha256sum` prints it.
fn digest(file: &Path) -> String {
    let text = said(Command::new("sha256sum").arg(file));
    text.split(' ').next().unwrap_or_default().to_string()
}

/// A Debian package has what is installed and a note of what its operator may change, and always the same bytes.
#[test]
#[ignore = "needs dpkg-deb"]
fn a_debian_package_has_what_is_installed() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let made = |name: &str| {
        let (tree, out) = (at(&format!("{name}-tree")), at(name));
        for file in
            ["usr/bin/segue", "usr/bin/segue-agent", "usr/share/man/man1/segue.1", "etc/segue/agent.toml"]
        {
            let file = tree.join(file);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("ours");
            std::fs::write(file, "a file\n").expect("ours");
        }
        std::fs::create_dir(&out).expect("ours");
        let mut command = Command::new(root().join("packaging/deb"));
        said(command.args([&tree, &out]).env("SOURCE_DATE_EPOCH", "1700000000"));
        let package = std::fs::read_dir(&out).expect("ours").next().expect("a package").expect("ours").path();
        (std::fs::read(&package).expect("a package"), package)
    };
    let (first, package) = made("a");
    assert!(first == made("b").0, "the same bytes");
    let field = |name: &str| said(Command::new("dpkg-deb").arg("--field").arg(&package).arg(name));
    assert_eq!(field("Package").trim(), "segue");
    assert_eq!(field("Version").trim(), env!("CARGO_PKG_VERSION"));
    assert_eq!(field("Depends").trim(), "", "scripts need no library");
    let opened = at("opened");
    said(Command::new("dpkg-deb").arg("--raw-extract").arg(&package).arg(&opened));
    let read = |name: &str| std::fs::read_to_string(opened.join(name)).expect("a file");
    assert_eq!(read("DEBIAN/conffiles"), "/etc/segue/agent.toml\n");
    for file in ["DEBIAN/postinst", "DEBIAN/prerm", "DEBIAN/postrm", "usr/share/doc/segue/copyright"] {
        assert!(!read(file).is_empty(), "{file}");
    }
    assert!(opened.join("usr/share/man/man1/segue.1.gz").exists());
    said(Command::new("md5sum").arg("--check").arg("DEBIAN/md5sums").current_dir(&opened));
}

/// Every part of a container image is what the part that names it says, down to the programs.
#[test]
#[ignore = "needs python3"]
fn a_container_image_is_an_oci_layout() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("segue"), "a program").expect("a file");
    let made = |name: &str| {
        let mut command = Command::new(root().join("packaging/oci-image"));
        said(command.args(["--version", "1.2.3", "--out"]).arg(at(name)).arg(at("segue")));
        std::fs::read(at(name)).expect("an image")
    };
    assert_eq!(made("a.tar"), made("b.tar"), "the same bytes");
    said(Command::new("tar").arg("-xf").arg(at("a.tar")).arg("-C").arg(folder.path()));
    let json = |path: &Path| -> serde_json::Value {
        serde_json::from_slice(&std::fs::read(path).expect("a file")).expect("JSON")
    };
    let blob = |named: &serde_json::Value| {
        let name =
            named["digest"].as_str().and_then(|digest| digest.strip_prefix("sha256:")).expect("a digest");
        let path = at("blobs/sha256").join(name);
        assert_eq!(digest(&path), name);
        assert_eq!(Some(std::fs::metadata(&path).expect("a blob").len()), named["size"].as_u64());
        path
    };
    assert_eq!(json(&at("oci-layout"))["imageLayoutVersion"], "1.0.0");
    let index = json(&at("index.json"));
    assert_eq!(index["manifests"][0]["annotations"]["org.opencontainers.image.ref.name"], "1.2.3");
    let manifest = json(&blob(&index["manifests"][0]));
    let config = json(&blob(&manifest["config"]));
    assert_eq!(config["config"]["Entrypoint"][0], "/usr/bin/segue");
    let layer = blob(&manifest["layers"][0]);
    let unpacked = at("layer.tar");
    let gzip = Command::new("gzip").arg("-dc").arg(&layer).output().expect("gzip starts");
    std::fs::write(&unpacked, gzip.stdout).expect("a file");
    assert_eq!(config["rootfs"]["diff_ids"][0], format!("sha256:{}", digest(&unpacked)));
    said(Command::new("tar").arg("-xf").arg(&unpacked).arg("-C").arg(folder.path()));
    assert_eq!(std::fs::read_to_string(at("usr/bin/segue")).expect("the program"), "a program");
    assert!(at("usr/share/licenses/segue/LICENSE-MIT").exists());
}

/// The bill of materials has every library with its digest, and no library of tests.
#[test]
#[ignore = "needs python3"]
fn a_bill_of_materials_lists_what_is_in_the_programs() {
    let folder = tempfile::tempdir().expect("a folder");
    let graph = folder.path().join("metadata.json");
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(root()).args(["metadata", "--locked", "--offline", "--format-version", "1"]);
    std::fs::write(&graph, said(cargo.args(["--filter-platform", &target]))).expect("a file");
    let mut sbom = Command::new(root().join("packaging/sbom"));
    let bill = said(sbom.arg("segue-agent").stdin(std::fs::File::open(&graph).expect("a file")));
    let bill: serde_json::Value = serde_json::from_str(&bill).expect("JSON");
    assert_eq!((&bill["bomFormat"], &bill["specVersion"]), (&"CycloneDX".into(), &"1.5".into()));
    let components = bill["components"].as_array().expect("components");
    let named = |name: &str| components.iter().find(|component| component["name"] == name);
    assert!(named("segue-agent").is_some() && named("libbpf-rs").is_some());
    assert!(named("proptest").is_none() && named("segue-netsim").is_none(), "the agent has neither");
    for component in components {
        let own = component["name"].as_str().is_some_and(|name| name.starts_with("segue-"));
        let content = component["hashes"][0]["content"].as_str().unwrap_or_default();
        assert!(own || content.len() == 64, "{component}");
        assert!(component["licenses"][0]["expression"].is_string(), "{component}");
    }
}
