//! The control socket: one line of JSON each way.
//!
//! Its file belongs to root and the configured group (0660, or 0600). Everybody who comes in is asked for his
//! credentials all the same (SO_PEERCRED), for files can be given away.

use super::Error;
use super::quantity::{self, rate_kbps, time_us};
use super::round::Round;
use super::socket::{Group, check_place};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
use nix::unistd::{Gid, Uid, chown};
use serde::{Deserialize, Serialize};
use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Longest question, octets.
const LONGEST: usize = 4096;
/// A client that connects and asks nothing for so long is sent away.
const PATIENCE: Duration = Duration::from_secs(5);
/// A client that waits for a round waits no longer; a little more than the longest interval and limit together.
const ANSWER_WITHIN: Duration = Duration::from_secs(130);
/// Clients that may ask at once.
const MOST: usize = 16;
/// The questions, for messages.
const QUESTIONS: &str = r#"expected {"command":"status"} or {"command":"notify","device":"wwan0","rate_kbps":2000,"up_kbps":2000,"delay_us":50000,"expect":false} on one line"#;

/// Requests to an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Request {
    /// How it is.
    Status,
    /// The link of a device is like this from now on, or will be.
    Notify(Notify),
}

/// A link that is told by hand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Notify {
    /// Its device.
    pub device: String,
    /// kbit/s towards this host.
    pub rate_kbps: u32,
    /// kbit/s from it.
    pub up_kbps: u32,
    /// One way, us.
    pub delay_us: u32,
    /// The handoff is foreseen, and told over the present link.
    pub expect: bool,
    /// About how long a foreseen handoff is without a link, us. None: it is not said.
    #[serde(default)]
    pub gap_us: Option<u32>,
}

impl Notify {
    /// Reads `dev=wwan0,rate=2mbit,delay=50ms[,up=1mbit][,gap=300ms]`.
    ///
    /// # Errors
    /// The mistake, in a line.
    pub fn parse(words: &str, expect: bool) -> Result<Self, String> {
        const FORM: &str = "expected dev=NAME,rate=RATE,delay=TIME[,up=RATE][,gap=TIME] such as dev=wwan0,rate=2mbit,delay=50ms";
        let (mut device, mut rate, mut delay, mut up, mut gap) = (None, None, None, None, None);
        for word in words.split(',') {
            let Some((key, value)) = word.split_once('=') else {
                return Err(format!("`{word}` in `{words}`; {FORM}"));
            };
            let twice = match key {
                "dev" => device.replace(value.to_owned()).is_some(),
                "rate" => rate.replace(rate_kbps(value)?).is_some(),
                "delay" => delay.replace(time_us(value)?).is_some(),
                "up" => up.replace(rate_kbps(value)?).is_some(),
                "gap" if expect => gap.replace(time_us(value)?).is_some(),
                "gap" => {
                    return Err(format!("`{word}` in `{words}`: a gap to come; expected --expect beside it"));
                }
                _ => return Err(format!("unknown word `{key}` in `{words}`; {FORM}")),
            };
            if twice {
                return Err(format!("`{key}` stands twice in `{words}`; {FORM}"));
            }
        }
        let missing = |what: &str| format!("no {what} in `{words}`; {FORM}");
        let rate_kbps = rate.ok_or_else(|| missing("rate"))?;
        Ok(Self {
            device: device.filter(|name| !name.is_empty()).ok_or_else(|| missing("dev"))?,
            rate_kbps,
            up_kbps: up.unwrap_or(rate_kbps),
            delay_us: delay.ok_or_else(|| missing("delay"))?,
            expect,
            gap_us: gap,
        })
    }

    /// Refuses a link that no agent tells.
    fn check(&self) -> Result<(), String> {
        if self.rate_kbps == 0 || self.up_kbps == 0 {
            return Err("a rate of zero; expected at least 1 kbit/s".into());
        }
        let rate = self.rate_kbps.max(self.up_kbps);
        if rate > quantity::MOST_KBPS {
            return Err(format!("a rate of {rate} kbit/s; expected at most 100 Gbit/s"));
        }
        let time = self.delay_us.max(self.gap_us.unwrap_or(0));
        if time > quantity::MOST_US {
            return Err(format!("a time of {time} us; expected at most an hour"));
        }
        Ok(())
    }
}

/// Replies of an agent.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reply {
    /// To `status`: a [`super::status::Status`].
    Status(serde_json::Value),
    /// To `notify`: the rounds that told it, one of each watched prefix, each a [`Round`].
    Rounds(Vec<serde_json::Value>),
    /// To `notify`: no watched prefix leads over the device; it will be told once one does.
    Noted,
    /// A mistake of the asker's.
    Refused(String),
    /// A failure of the agent's or the host's.
    Failed(String),
}

/// Somebody who asks.
struct Client {
    stream: UnixStream,
    said: Vec<u8>,
    since: Instant,
    /// The rounds that he waits for.
    awaits: Vec<u64>,
    /// Those that are over.
    rounds: Vec<serde_json::Value>,
}

/// The agent's end.
pub struct Control {
    listener: UnixListener,
    path: PathBuf,
    group: Option<Group>,
    clients: Vec<Client>,
    denied: u64,
}

/// The answer to a request, now or later.
pub enum Answer {
    /// At once.
    Now(Reply),
    /// When these rounds are over.
    Later(Vec<u64>),
}

impl Control {
    /// Makes the socket, in place of one that nobody serves (the caller has the lock).
    ///
    /// # Errors
    /// Something else is in its place, or the folder cannot be written.
    pub fn open(path: &Path, group: Option<Group>) -> Result<Self, Error> {
        let failed = |problem: String, user| Error::Control { path: path.to_owned(), problem, user };
        let io = |error: std::io::Error| failed(error.to_string(), true);
        match fs::symlink_metadata(path) {
            Ok(there) if std::os::unix::fs::FileTypeExt::is_socket(&there.file_type()) => {
                fs::remove_file(path).map_err(io)?;
            }
            Ok(_) => {
                return Err(failed("something else is there; expected a place for a socket".into(), true));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(io(error)),
        }
        let listener = UnixListener::bind(path).map_err(io)?;
        let control = Self { listener, path: path.to_owned(), group, clients: Vec::new(), denied: 0 };
        // Nobody but root until its group is set.
        fs::set_permissions(path, Permissions::from_mode(0o600)).map_err(io)?;
        if let Some(group) = group {
            chown(path, None, Some(group.id())).map_err(|error| io(error.into()))?;
            fs::set_permissions(path, Permissions::from_mode(0o660)).map_err(io)?;
        }
        control.listener.set_nonblocking(true).map_err(io)?;
        Ok(control)
    }

    /// How many were sent away.
    pub fn denied(&self) -> u64 {
        self.denied
    }

    /// Sockets to wait for.
    pub fn sources(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let waiting = self.clients.iter().filter(|client| client.awaits.is_empty());
        [self.listener.as_fd()].into_iter().chain(waiting.map(|client| client.stream.as_fd()))
    }

    /// Accepts clients and answers requests, without waiting. Clients that have gone make room first.
    pub fn serve(&mut self, mut answer: impl FnMut(Request, u64) -> Answer) {
        self.hear(&mut answer);
        self.take_in();
        self.hear(&mut answer);
    }

    fn hear(&mut self, answer: &mut impl FnMut(Request, u64) -> Answer) {
        let (mut kept, denied) = (Vec::new(), self.denied);
        for mut client in std::mem::take(&mut self.clients) {
            if !client.awaits.is_empty() {
                if client.since.elapsed() < ANSWER_WITHIN && !client.has_gone() {
                    kept.push(client);
                }
                continue;
            }
            match client.hear() {
                Heard::Nothing if client.since.elapsed() < PATIENCE => kept.push(client),
                Heard::Nothing | Heard::End => {}
                Heard::Question(question) => {
                    let answer = question.map_or_else(
                        |wrong| Answer::Now(Reply::Refused(wrong)),
                        |question| answer(question, denied),
                    );
                    match answer {
                        Answer::Now(reply) => client.say(&reply),
                        Answer::Later(rounds) => {
                            client.awaits = rounds;
                            client.since = Instant::now();
                            kept.push(client);
                        }
                    }
                }
            }
        }
        self.clients = kept;
    }

    /// Tells who waits for this round, and for no other any more, that it is over.
    pub fn over(&mut self, round: &Round) {
        let Ok(value) = serde_json::to_value(round) else { return };
        for client in &mut self.clients {
            if client.awaits.contains(&round.number) {
                client.awaits.retain(|number| *number != round.number);
                client.rounds.push(value.clone());
                if client.awaits.is_empty() {
                    let rounds = std::mem::take(&mut client.rounds);
                    client.say(&Reply::Rounds(rounds));
                    // He has his answer; the next turn sees that he is gone.
                    let _ = client.stream.shutdown(std::net::Shutdown::Both);
                }
            }
        }
    }

    fn take_in(&mut self) {
        while let Ok((stream, _)) = self.listener.accept() {
            let mut client = Client {
                stream,
                said: Vec::new(),
                since: Instant::now(),
                awaits: Vec::new(),
                rounds: Vec::new(),
            };
            let allowed = getsockopt(&client.stream, PeerCredentials).is_ok_and(|credentials| {
                let (user, group) = (Uid::from_raw(credentials.uid()), Gid::from_raw(credentials.gid()));
                user.is_root() || self.group.is_some_and(|allowed| allowed.has(user, group))
            });
            if client.stream.set_nonblocking(true).is_err() {
                continue;
            }
            if !allowed {
                self.denied += 1;
                tracing::warn!("a question to the control socket was refused: neither root nor of its group");
                client.say(&Reply::Refused(
                    "only root and the configured group may ask the agent; expected one of these users"
                        .into(),
                ));
            } else if self.clients.len() >= MOST {
                client.say(&Reply::Failed(format!("busy: {MOST} others ask; expected fewer at a time")));
            } else {
                self.clients.push(client);
            }
        }
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

enum Heard {
    /// Not all of it yet.
    Nothing,
    /// He has gone.
    End,
    /// A line, or what is wrong with it.
    Question(Result<Request, String>),
}

impl Client {
    /// Whether nobody is there to hear an answer. A client that has only stopped writing may still read.
    fn has_gone(&self) -> bool {
        let mut end = [PollFd::new(self.stream.as_fd(), PollFlags::empty())];
        poll(&mut end, PollTimeout::ZERO).is_ok()
            && end[0].revents().is_some_and(|seen| seen.contains(PollFlags::POLLHUP))
    }

    fn hear(&mut self) -> Heard {
        let mut octets = [0; 512];
        let mut over = false;
        loop {
            match self.stream.read(&mut octets) {
                // He has said all, but may still listen.
                Ok(0) if self.said.is_empty() => return Heard::End,
                Ok(0) => {
                    over = true;
                    break;
                }
                Ok(count) => self.said.extend(&octets[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Heard::End,
            }
            if self.said.len() > LONGEST {
                return Heard::Question(Err(format!(
                    "a question of more than {LONGEST} octets; {QUESTIONS}"
                )));
            }
        }
        let end = self.said.iter().position(|octet| *octet == b'\n');
        match end.or(over.then_some(self.said.len())) {
            // It is heard once: the end that the answer puts to the connection would repeat it.
            Some(end) => Heard::Question(understand(&std::mem::take(&mut self.said)[..end])),
            None => Heard::Nothing,
        }
    }

    /// A reply is short enough for the socket's buffer; who does not read it has lost it.
    fn say(&mut self, reply: &Reply) {
        if let Ok(mut line) = serde_json::to_vec(reply) {
            line.push(b'\n');
            let _ = self.stream.write_all(&line);
        }
    }
}

fn understand(line: &[u8]) -> Result<Request, String> {
    let request: Request = serde_json::from_slice(line)
        .map_err(|error| format!("no question that is known here: {error}; {QUESTIONS}"))?;
    if let Request::Notify(notify) = &request {
        notify.check()?;
    }
    Ok(request)
}

/// Asks the agent with this socket.
///
/// # Errors
/// None is there, or it does not let us; that it refused is no error but its answer.
pub fn ask(path: &Path, request: &Request) -> Result<Reply, Error> {
    let failed = |problem: String, user| Error::Control { path: path.to_owned(), problem, user };
    check_place(path).map_err(|problem| failed(problem, true))?;
    let stream = UnixStream::connect(path).map_err(|error| {
        match Errno::from_raw(error.raw_os_error().unwrap_or(0)) {
            Errno::ENOENT | Errno::ECONNREFUSED => {
                failed("no agent is at work; expected `segue agent run` with the same socket".into(), true)
            }
            Errno::EACCES => {
                failed("permission denied; expected root or a member of the configured group".into(), true)
            }
            _ => failed(error.to_string(), false),
        }
    })?;
    let broken = |error: std::io::Error| failed(format!("the agent does not answer: {error}"), false);
    stream.set_read_timeout(Some(ANSWER_WITHIN)).map_err(broken)?;
    let mut line = serde_json::to_vec(request).map_err(|error| failed(error.to_string(), false))?;
    line.push(b'\n');
    // An asker that is sent away hears why, although it could not ask.
    let written = (&stream).write_all(&line);
    let mut answer = String::new();
    let read = BufReader::new(&stream).read_line(&mut answer);
    if answer.is_empty() {
        read.and(written).map_err(broken)?;
    }
    serde_json::from_str(&answer).map_err(|_| failed("the agent has ended without an answer".into(), false))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_of_a_link() {
        let notify = Notify::parse("dev=wwan0,rate=2mbit,delay=50ms", true).expect("a link");
        let expected = Notify {
            device: "wwan0".into(),
            rate_kbps: 2000,
            up_kbps: 2000,
            delay_us: 50_000,
            expect: true,
            gap_us: None,
        };
        assert_eq!(notify, expected);
        let gap = |words, expect| Notify::parse(words, expect).map(|notify| notify.gap_us);
        assert_eq!(gap("dev=x,rate=2mbit,delay=1ms,gap=300ms", true), Ok(Some(300_000)));
        let said = gap("dev=x,rate=2mbit,delay=1ms,gap=300ms", false).expect_err("nothing is to come");
        assert!(said.contains("a gap to come; expected --expect beside it"), "{said}");
        assert_eq!(Notify::parse("up=1mbit,delay=1ms,rate=2mbit,dev=x", false).map(|n| n.up_kbps), Ok(1000));
        for (words, said) in [
            ("wwan0", "`wwan0` in `wwan0`; expected dev=NAME"),
            ("dev=a,rate=0kbit,delay=1ms", "`0kbit` is not a rate; expected"),
            ("dev=a,delay=1ms", "no rate in"),
            ("rate=1mbit,delay=1ms", "no dev in"),
            ("dev=,rate=1mbit,delay=1ms", "no dev in"),
            ("dev=a,dev=b,rate=1mbit,delay=1ms", "`dev` stands twice"),
            ("dev=a,loss=1,rate=1mbit,delay=1ms", "unknown word `loss`"),
        ] {
            let message = Notify::parse(words, false).expect_err(words);
            assert!(message.contains(said) && message.contains("expected"), "{message}");
        }
    }

    #[test]
    fn a_link_that_no_word_tells_is_refused_also_from_who_writes_the_question_himself() {
        let notify = |rate| Notify {
            device: "a".into(),
            rate_kbps: rate,
            up_kbps: 1,
            delay_us: 1,
            expect: false,
            gap_us: None,
        };
        let line = |rate| serde_json::to_vec(&Request::Notify(notify(rate))).expect("JSON");
        assert_eq!(understand(&line(1)), Ok(Request::Notify(notify(1))));
        assert!(understand(&line(0)).is_err_and(|said| said.contains("rate of zero")));
        let too_fast = line(quantity::MOST_KBPS + 1);
        assert!(understand(&too_fast).is_err_and(|said| said.contains("at most 100 Gbit/s")));
        let too_long = Request::Notify(Notify { delay_us: quantity::MOST_US + 1, ..notify(1) });
        let too_long = serde_json::to_vec(&too_long).expect("JSON");
        assert!(understand(&too_long).is_err_and(|said| said.contains("at most an hour")));
    }

    /// Answers of an agent to clients that write this and nothing after it.
    fn answers(writes: &[&str]) -> Vec<String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("agent.sock");
        let mut control = Control::open(&path, None).expect("a socket");
        let ask = |words: &&str| {
            let mut stream = UnixStream::connect(&path).expect("it connects");
            stream.write_all(words.as_bytes()).expect("it is taken");
            stream.shutdown(std::net::Shutdown::Write).expect("half of it");
            stream
        };
        let streams: Vec<_> = writes.iter().map(ask).collect();
        // Everything has been written: it comes in with them.
        control.serve(|_, _| Answer::Now(Reply::Noted));
        let read = |mut stream: UnixStream| {
            let mut text = String::new();
            stream.read_to_string(&mut text).map(|_| text).expect("text")
        };
        streams.into_iter().map(read).collect()
    }

    #[test]
    fn a_client_that_has_said_all_may_stop_writing() {
        let said = answers(&["{\"command\":\"status\"}\n", "{\"command\":\"status\"}", "", "{\"comm"]);
        assert_eq!(said[..3], ["\"noted\"\n", "\"noted\"\n", ""]);
        assert!(said[3].contains("no question that is known here"), "{}", said[3]);
        let unknown = answers(&["{\"command\":\"sing\"}\n", &"x".repeat(LONGEST + 1)]);
        for (said, what) in unknown.iter().zip([
            "unknown variant `sing`, expected `status` or `notify` at line 1",
            "of more than 4096 octets",
        ]) {
            let refused: Reply = serde_json::from_str(said).expect("a reply");
            let Reply::Refused(problem) = refused else { panic!("{said}") };
            assert!(
                problem.contains(what) && problem.contains("; expected {\"command\":\"status\"} or "),
                "{problem}"
            );
        }
    }

    /// A question whose answer comes later is asked once, though the connection ends with the answer.
    #[test]
    fn a_question_is_heard_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("agent.sock");
        let mut control = Control::open(&path, None).expect("a socket");
        let mut stream = UnixStream::connect(&path).expect("it connects");
        stream.write_all(b"{\"command\":\"status\"}\n").expect("it is taken");
        control.serve(|_, _| Answer::Later(vec![1]));
        control.clients[0].awaits.clear();
        stream.shutdown(std::net::Shutdown::Write).expect("it ends");
        control.serve(|_, _| panic!("it is asked again"));
        assert!(control.clients.is_empty());
    }

    /// Sixteen wait for rounds and go; the next one is heard at once. One that has only stopped writing still waits.
    #[test]
    fn who_waits_and_has_gone_gives_his_place_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("agent.sock");
        let mut control = Control::open(&path, None).expect("a socket");
        let ask = || {
            let mut stream = UnixStream::connect(&path).expect("it connects");
            stream.write_all(b"{\"command\":\"status\"}\n").expect("it is taken");
            stream.shutdown(std::net::Shutdown::Write).expect("half of it");
            stream
        };
        let mut all: Vec<_> = (0..MOST).map(|_| ask()).collect();
        control.serve(|_, _| Answer::Later(vec![1]));
        let heard = |control: &mut Control| {
            let mut last = ask();
            control.serve(|_, _| Answer::Now(Reply::Noted));
            let mut answer = [0; 200];
            let length = last.read(&mut answer).expect("an answer");
            String::from_utf8_lossy(&answer[..length]).into_owned()
        };
        assert!(heard(&mut control).contains("busy: 16 others ask"), "all of them wait");
        all.truncate(1);
        assert_eq!(heard(&mut control), "\"noted\"\n");
        assert_eq!(control.clients.len(), 1, "one still waits");
    }

    proptest! {
        #[test]
        fn no_octets_make_it_panic(octets in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = understand(&octets);
        }
    }
}
