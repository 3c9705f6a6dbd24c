//! A program on a host: started in its namespace and cgroup, ended with the laboratory.

use super::{Error, interrupt};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

/// Most octets of a program's last words.
const WORDS: usize = 200;
/// Time for a program to print what it measured after it was asked to end.
const END: Duration = Duration::from_secs(300);
/// How often a waiting thread looks whether a program has ended, or listens.
const LOOK: Duration = Duration::from_millis(2);

/// A running program. Dropped: killed.
#[derive(Debug)]
pub struct Child {
    name: String,
    process: std::process::Child,
    output: PathBuf,
    errors: PathBuf,
}

/// Where a host's programs run and write.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// Their cgroup.
    pub cgroup: &'a Path,
    /// Folder for what they print.
    pub folder: &'a Path,
}

impl Child {
    /// Starts `program` in the namespace that this thread is in. It is killed when this thread ends, however that
    /// happens.
    ///
    /// # Errors
    /// It is not installed, or cannot be started.
    pub fn start(place: Place<'_>, label: &str, program: &str, args: &[&str]) -> Result<Self, Error> {
        Self::start_hearing(place, label, program, args, Stdio::null())
    }

    /// The same of a program that reads `input`.
    ///
    /// # Errors
    /// As of [`start`](Self::start).
    pub fn start_hearing(
        place: Place<'_>,
        label: &str,
        program: &str,
        args: &[&str],
        input: Stdio,
    ) -> Result<Self, Error> {
        for name in [program, "setpriv"] {
            installed(name)?;
        }
        let [output, errors] = ["out", "err"].map(|kind| place.folder.join(format!("{label}.{kind}")));
        let create = |path: &Path| File::create(path).map_err(Error::system(path.display().to_string()));
        // The shell moves itself to the cgroup before the program exists: a socket of it is never anywhere else.
        let process = Command::new("setpriv")
            .args(["--pdeathsig", "KILL", "sh", "-c", "echo $$ >\"$0\" && exec \"$@\""])
            .arg(place.cgroup.join("cgroup.procs"))
            .arg(program)
            .args(args)
            // A terminal's Ctrl-C is for the laboratory alone, which ends its programs in order.
            .process_group(0)
            .stdin(input)
            .stdout(create(&output)?)
            .stderr(create(&errors)?)
            .spawn()
            .map_err(Error::system(program))?;
        Ok(Self { name: label.into(), process, output, errors })
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// The pipe that a program started with one reads from; once.
    pub fn input(&mut self) -> Option<ChildStdin> {
        self.process.stdin.take()
    }

    /// File of what it prints.
    pub fn output(&self) -> &Path {
        &self.output
    }

    /// It must be running still.
    ///
    /// # Errors
    /// It has ended: with what status and words.
    pub fn check(&mut self) -> Result<(), Error> {
        match self.process.try_wait() {
            Ok(None) => Ok(()),
            Ok(Some(status)) => Err(self.failed(format!("ended too early ({status})"))),
            Err(error) => Err(Error::system(self.name.clone())(error)),
        }
    }

    /// Waits until it listens on a TCP port.
    ///
    /// # Errors
    /// It ends first, or `limit` passes.
    pub fn listening(&mut self, port: u16, limit: Duration) -> Result<(), Error> {
        // local_address is ADDRESS:PORT in hexadecimal; state 0A is LISTEN.
        let port = format!(":{port:04X}");
        let listens = |text: String| {
            text.lines().any(|line| {
                let fields: Vec<_> = line.split_whitespace().collect();
                fields.len() > 3 && fields[1].ends_with(&port) && fields[3] == "0A"
            })
        };
        let heard = interrupt::wait(limit, LOOK, || {
            self.check()?;
            // These tables are of the program's own namespace.
            let mut tables =
                ["tcp", "tcp6"].map(|table| format!("/proc/{}/net/{table}", self.id())).into_iter();
            Ok(tables.any(|path| fs::read_to_string(path).is_ok_and(&listens)).then_some(()))
        })?;
        heard.ok_or_else(|| self.late(limit, "to listen"))
    }

    /// Whether it has ended; if not well, that is an error.
    ///
    /// # Errors
    /// With what status and words it ended.
    pub fn ended(&mut self) -> Result<bool, Error> {
        match self.process.try_wait() {
            Ok(None) => Ok(false),
            Ok(Some(status)) if status.success() => Ok(true),
            Ok(Some(status)) => Err(self.failed(format!("failed ({status})"))),
            Err(error) => Err(Error::system(self.name.clone())(error)),
        }
    }

    /// Text that it has printed so far.
    ///
    /// # Errors
    /// The file is gone.
    pub fn printed(&self) -> Result<String, Error> {
        fs::read_to_string(&self.output).map_err(Error::system(self.output.display().to_string()))
    }

    /// Waits `patience` for it to end, then asks it to, and returns the file of what it printed.
    ///
    /// # Errors
    /// It does not end.
    pub fn finish(mut self, patience: Duration) -> Result<PathBuf, Error> {
        let over =
            |process: &mut std::process::Child| (!matches!(process.try_wait(), Ok(None))).then_some(());
        if interrupt::wait(patience, LOOK, || Ok(over(&mut self.process)))?.is_none() {
            self.ask_to_end();
            let ended = interrupt::wait(END, LOOK, || Ok(over(&mut self.process)))?;
            ended.ok_or_else(|| self.late(END, "to end"))?;
        }
        Ok(self.output.clone())
    }

    /// Asks it to end, and gives it the time to put everything away, also after a signal.
    pub(super) fn end_in_order(mut self) {
        self.ask_to_end();
        let started = Instant::now();
        while matches!(self.process.try_wait(), Ok(None)) && started.elapsed() < END {
            std::thread::sleep(LOOK);
        }
    }

    fn ask_to_end(&mut self) {
        // Not waited for yet, so that its id cannot be another's.
        if let (Ok(None), Ok(id)) = (self.process.try_wait(), i32::try_from(self.process.id())) {
            let _ = kill(Pid::from_raw(id), Signal::SIGTERM);
        }
    }

    fn late(&self, limit: Duration, what: &str) -> Error {
        Error::Timeout { seconds: limit.as_secs_f64(), what: format!("{} {what}", self.name) }
    }

    /// An error of this program, with its last words.
    pub fn failed(&self, what: String) -> Error {
        let read = |path: &Path| {
            let mut text = Vec::new();
            let _ = File::open(path).and_then(|mut file| file.read_to_end(&mut text));
            String::from_utf8_lossy(&text).into_owned()
        };
        let said = [read(&self.errors), read(&self.output)]
            .iter()
            .find_map(|text| {
                text.lines().rev().find(|line| line.chars().any(char::is_alphanumeric)).map(str::to_owned)
            })
            .unwrap_or_else(|| "it said nothing".into());
        Error::Program { program: self.name.clone(), what, said: said.trim().chars().take(WORDS).collect() }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Whether a program is in PATH.
///
/// # Errors
/// It is not.
pub fn installed(program: &str) -> Result<(), Error> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    if std::env::split_paths(&path).any(|folder| folder.join(program).is_file()) {
        Ok(())
    } else {
        Err(Error::NoProgram { program: program.into() })
    }
}
