//! A running explorer, and commands beside it.

#![allow(dead_code, reason = "each test file uses its part")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

pub fn segue(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_segue")).args(arguments).output().expect("segue starts")
}

/// A running explorer.
pub struct Server {
    pub process: Child,
    /// `http://127.0.0.1:PORT`
    pub address: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Server {
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    pub fn start_with(more: &[&str]) -> Self {
        Self::start_by(&mut Command::new(env!("CARGO_BIN_EXE_segue")), more)
    }

    /// The same by a program that becomes it, such as env(1) with its path.
    pub fn start_by(program: &mut Command, more: &[&str]) -> Self {
        let mut process = program
            .args(["explore", "--port", "0"])
            .args(more)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("segue starts");
        let mut line = String::new();
        BufReader::new(process.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
        let words: Vec<&str> = line.split_whitespace().collect();
        let address = words.iter().find(|word| word.starts_with("http://")).expect("an address");
        Self { address: address.trim_end_matches('/').to_string(), process }
    }

    pub fn host(&self) -> &str {
        self.address.trim_start_matches("http://")
    }

    /// Status and content of an answer.
    pub fn get(&self, path: &str) -> (u16, Vec<u8>) {
        let mut stream = self.send(path);
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("an answer");
        let end = answer.windows(4).position(|part| part == b"\r\n\r\n").expect("headers");
        let head = String::from_utf8_lossy(&answer[..end]).to_string();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        (status, answer.split_off(end + 4))
    }

    /// When the page wants to have what is done, as its script says.
    pub fn soon(&self) -> String {
        let script = String::from_utf8(self.get("/explorer.js").1).expect("text");
        let word = script.split_once("SOON = \"").and_then(|(_, rest)| rest.split_once('"'));
        word.expect("a time").0.to_string()
    }

    /// A request that has been made and not been answered.
    pub fn send(&self, path: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.host()).expect("a connection");
        // HTTP 1.0: no chunks, and the connection ends with the answer.
        write!(stream, "GET {path} HTTP/1.0\r\nHost: {}\r\n\r\n", self.host()).expect("sent");
        stream
    }

    pub fn signal(&self, name: &str) {
        let id = self.process.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &id]).status().expect("kill starts").success());
    }

    /// The exit status.
    pub fn ends(&mut self) -> Option<i32> {
        let limit = Instant::now() + Duration::from_secs(600);
        loop {
            if let Some(status) = self.process.try_wait().expect("a status") {
                return status.code();
            }
            assert!(Instant::now() < limit, "it does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// The time of processors that it has used.
    pub fn used(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.process.id())).expect("a process");
        let after: Vec<&str> = stat.rsplit_once(") ").expect("a name").1.split(' ').collect();
        let ticks: u64 = after[11..13].iter().map(|ticks| ticks.parse::<u64>().expect("ticks")).sum();
        Duration::from_millis(10 * ticks)
    }
}

/// Runs a command line that a user would paste into a shell.
pub fn run(command: &str, more: &[&str]) -> Vec<u8> {
    let words = shell_words::split(command).expect("a command line");
    assert_eq!(words[0], "segue");
    let words: Vec<&str> = words[1..].iter().map(String::as_str).chain(more.iter().copied()).collect();
    let output = segue(&words);
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}
