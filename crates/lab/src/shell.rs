//! An ssh session over the link: sshd on the server, ssh on the mobile, on keys that are made for it and thrown away.
//!
//! On the server a terminal shows what is typed, as it does before any program sees it. The echo of each keystroke goes
//! the whole way there and back. Or nobody types, and the server prints letters.

use super::Error;
use super::child::Child;
use super::emulator::Clock;
use super::host::Role;
use super::hosts::Hosts;
use super::interrupt;
use super::{Nanos, child::Place};
use segue_words::lab::Family;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

const PORT: u16 = 2222;
/// Between two keystrokes.
const TYPING: Duration = Duration::from_millis(200);
/// How often the typist looks at the screen.
const LOOK: Duration = Duration::from_millis(1);
/// More than a busy machine takes to make a pair of keys.
const KEY_GENERATION: Duration = Duration::from_secs(300);
/// The key that is typed: nothing that a terminal takes for a command.
const KEY: u8 = b'x';
/// Prints the same, as often.
const PRINTER: &str = "while printf x; do sleep 0.2; done";
/// sshd begins as root and leaves its rights in /run/sshd, which many machines lack. So it gets a /run of its own.
const OWN_RUN: &str = "mount -t tmpfs tmpfs /run && mkdir -m 755 /run/sshd && exec \"$0\" \"$@\"";

/// A keystroke and its echo, ns of the laboratory's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keystroke {
    /// The key was pressed; `None`: the server printed it by itself.
    pub typed: Option<Nanos>,
    /// It was on the mobile's screen; `None`: not before the session ended.
    pub echoed: Option<Nanos>,
}

/// A session in which somebody types, a key each 200 ms.
pub struct Shell {
    server: Child,
    client: Child,
    typist: Option<JoinHandle<Vec<Keystroke>>>,
    stop: Arc<AtomicBool>,
    /// Processes of sshd's own leave its process group: they are ended with their cgroup.
    cgroup: PathBuf,
}

/// Programs that a session needs.
pub const PROGRAMS: [&str; 5] = ["sshd", "ssh", "ssh-keygen", "setpriv", "unshare"];

impl Shell {
    /// Starts sshd and logs in. `types`: somebody types; else the server prints.
    ///
    /// # Errors
    /// A program is missing, or does not start.
    pub fn start(hosts: Hosts<'_>, family: Family, clock: Clock, types: bool) -> Result<Self, Error> {
        let folder = hosts.folder;
        let place = Place { cgroup: &hosts.cgroups.server, folder };
        for name in ["host", "user"] {
            key(place, name)?;
        }
        let config = write(folder, "sshd_config", &server_config(folder, types))?;
        write(
            folder,
            "authorized_keys",
            &fs::read_to_string(folder.join("user.pub")).map_err(unread(folder))?,
        )?;
        // By its whole path, as it wants to be called: it starts itself anew for each session.
        let sshd = whole_path("sshd")?;
        let words = ["--mount", "sh", "-c", OWN_RUN, &sshd, "-D", "-e", "-f", &config];
        let server = hosts.serve("sshd", "unshare", &words, &[PORT])?;
        let (address, port) = (Role::Server.address(family).to_string(), PORT.to_string());
        let identity = folder.join("user").display().to_string();
        let mut args = vec!["-F", "none", "-tt", "-p", &port, "-i", &identity, "-l", "root", "-e", "none"];
        for option in [
            "BatchMode=yes",
            "IdentitiesOnly=yes",
            "StrictHostKeyChecking=no",
            "UserKnownHostsFile=/dev/null",
            "LogLevel=ERROR",
        ] {
            args.extend(["-o", option]);
        }
        args.push(&address);
        let mut client = hosts.start_hearing(Role::Mobile, "ssh", "ssh", &args, Stdio::piped())?;
        let keyboard = client.input().ok_or_else(|| Error::Fault("ssh has no input".into()))?;
        let stop = Arc::new(AtomicBool::new(false));
        let (screen, end) = (client.output().to_owned(), Arc::clone(&stop));
        let typist = std::thread::Builder::new()
            .name("segue-typist".into())
            .spawn(move || type_and_look(types.then_some(keyboard), &screen, clock, &end))
            .map_err(Error::system("a thread that types"))?;
        Ok(Self { server, client, typist: Some(typist), stop, cgroup: hosts.cgroups.server.clone() })
    }

    /// Both must be running still.
    ///
    /// # Errors
    /// One has ended.
    pub fn check(&mut self) -> Result<(), Error> {
        self.server.check()?;
        self.client.check()
    }

    /// Ends the session; all keystrokes in order.
    ///
    /// # Errors
    /// The thread that types panicked.
    pub fn finish(mut self) -> Result<Vec<Keystroke>, Error> {
        self.stop.store(true, Ordering::Release);
        let typist = self.typist.take().map(JoinHandle::join);
        typist.and_then(Result::ok).ok_or_else(|| Error::Fault("the thread that types panicked".into()))
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        // Since Linux 5.14; before that they end with their connections.
        let _ = fs::write(self.cgroup.join("cgroup.kill"), "1");
        if let Some(typist) = self.typist.take() {
            let _ = typist.join();
        }
    }
}

/// The session's terminal echoes each key once: the n-th octet on the screen answers the n-th key. Without a keyboard all
/// that is shown is the server's own.
fn type_and_look(
    mut keyboard: Option<ChildStdin>,
    screen: &Path,
    clock: Clock,
    stop: &AtomicBool,
) -> Vec<Keystroke> {
    let mut typed: Vec<Keystroke> = Vec::new();
    let Ok(mut screen) = File::open(screen) else { return typed };
    let mut answered = 0;
    let mut next = 0;
    let mut buffer = [0; 256];
    while !stop.load(Ordering::Acquire) {
        let shown = screen.read(&mut buffer).unwrap_or(0);
        let now = clock.now();
        let keys = buffer[..shown].iter().filter(|&&octet| octet == KEY).count();
        for keystroke in typed.iter_mut().skip(answered).take(keys) {
            keystroke.echoed = Some(now);
        }
        answered += keys;
        let Some(keyboard) = &mut keyboard else {
            typed.extend((0..keys).map(|_| Keystroke { typed: None, echoed: Some(now) }));
            std::thread::sleep(LOOK);
            continue;
        };
        if now >= next {
            if keyboard.write_all(&[KEY]).and_then(|()| keyboard.flush()).is_err() {
                break;
            }
            typed.push(Keystroke { typed: Some(now), echoed: None });
            next = now + TYPING.as_nanos() as Nanos;
        }
        std::thread::sleep(LOOK);
    }
    typed
}

/// bash reads the user's .bashrc in a session of ssh, unless another shell runs it (SHLVL). That may take long, and must
/// not be killed half-way.
fn server_config(folder: &Path, types: bool) -> String {
    let folder = folder.display();
    let program = if types { "exec cat >/dev/null" } else { PRINTER };
    format!(
        "Port {PORT}\nHostKey {folder}/host\nAuthorizedKeysFile {folder}/authorized_keys\nPidFile none\nStrictModes no\n\
         UsePAM no\nUseDNS no\nPermitRootLogin yes\nPasswordAuthentication no\nPrintMotd no\nPrintLastLog no\n\
         ClientAliveInterval 120\nSetEnv SHLVL=2\nForceCommand {program}\n"
    )
}

/// Makes a pair of keys.
fn key(place: Place<'_>, name: &str) -> Result<(), Error> {
    let path = place.folder.join(name).display().to_string();
    let args = ["-q", "-t", "ed25519", "-N", "", "-f", &path];
    let mut made = Child::start(place, &format!("ssh-keygen-{name}"), "ssh-keygen", &args)?;
    let ended = interrupt::wait(KEY_GENERATION, LOOK, || Ok(made.ended()?.then_some(())))?;
    ended.ok_or_else(|| Error::Timeout {
        seconds: KEY_GENERATION.as_secs_f64(),
        what: "ssh-keygen to end".into(),
    })
}

fn write(folder: &Path, name: &str, text: &str) -> Result<String, Error> {
    let path = folder.join(name);
    let private = fs::Permissions::from_mode(0o600);
    fs::write(&path, text)
        .and_then(|()| fs::set_permissions(&path, private))
        .map_err(Error::system(path.display().to_string()))?;
    Ok(path.display().to_string())
}

fn unread(folder: &Path) -> impl FnOnce(std::io::Error) -> Error {
    Error::system(folder.join("user.pub").display().to_string())
}

/// Where in PATH a program is.
fn whole_path(program: &str) -> Result<String, Error> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(program)).find(|path| path.is_file());
    found.map(|path| path.display().to_string()).ok_or_else(|| Error::NoProgram { program: program.into() })
}
