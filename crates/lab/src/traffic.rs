//! Many short connections, or many that stay, or thin flows: what a small server and a small client do, each a process
//! of its own.

use super::Error;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use std::convert::Infallible;
use std::io::{Read, Write};
use std::net::{IpAddr, TcpListener, TcpStream};
use std::sync::Barrier;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// Where the server listens, a thread on each. So many clients ask at once, which keeps both processors busy: what is
/// measured is work, not how fast an idle one wakes up.
pub const PORTS: [u16; 4] = [7001, 7002, 7003, 7004];
/// Files beside connections.
const FILES: u64 = 64;

/// Accepts connections for ever: one octet comes, one goes, and the connection is closed, or kept open, `keep` of
/// each port.
///
/// # Errors
/// It cannot listen or accept.
pub fn serve(address: IpAddr, keep: usize) -> Result<(), Error> {
    allow_files(keep)?;
    let listeners: Vec<_> = PORTS
        .iter()
        .map(|&port| TcpListener::bind((address, port)))
        .collect::<Result<_, _>>()
        .map_err(Error::system(format!("listening at {address}")))?;
    let (failed, failures) = channel();
    for listener in listeners {
        let failed = failed.clone();
        std::thread::spawn(move || {
            let Err(error) = answer(&listener, keep);
            let _ = failed.send(error);
        });
    }
    // One that fails ends all: its clients would wait for ever.
    match failures.recv() {
        Ok(error) => Err(Error::system("accepting a connection")(error)),
        Err(_) => Err(Error::Fault("no thread accepts connections".into())),
    }
}

fn answer(listener: &TcpListener, keep: usize) -> std::io::Result<Infallible> {
    let mut kept = Vec::new();
    loop {
        let (mut stream, _) = listener.accept()?;
        let mut octet = [0];
        // A client that is killed meanwhile is none of the server's faults.
        let answered = stream.read_exact(&mut octet).and_then(|()| stream.write_all(&octet));
        if answered.is_ok() && kept.len() < keep {
            kept.push(stream);
        }
    }
}

/// One connection after the other from each of the clients, for so long. How many there were, and in what time.
///
/// # Errors
/// A connection is refused or breaks.
pub fn connect(address: IpAddr, time: Duration) -> Result<(u64, Duration), Error> {
    let together = Barrier::new(PORTS.len());
    let done = each_port(|port| {
        together.wait();
        let started = Instant::now();
        let mut count = 0;
        while started.elapsed() < time {
            let mut stream = ask(address, port)?;
            // The server closes first, as servers of HTTP do.
            stream.read_to_end(&mut Vec::new())?;
            count += 1;
        }
        Ok((count, started.elapsed()))
    })?;
    let longest = done.iter().map(|(_, took)| *took).max().unwrap_or_default();
    Ok((done.iter().map(|(count, _)| count).sum(), longest))
}

/// Opens so many connections.
///
/// # Errors
/// A connection is refused or breaks.
pub fn open(address: IpAddr, count: usize) -> Result<Vec<TcpStream>, Error> {
    allow_files(count)?;
    let ports = PORTS.iter().cycle();
    let open = ports.take(count).map(|&port| ask(address, port)).collect::<Result<_, _>>();
    open.map_err(Error::system("a connection to the server"))
}

/// A thin flow begins with a full packet, by which the laboratory knows that it has begun.
const OPENING: usize = 1448;
/// Then it has so many octets, each time after so long: state of a game, a ticker, speech.
const WORD: usize = 200;
const BETWEEN: Duration = Duration::from_millis(100);

/// Accepts connections for ever, and sends thin flows on each.
///
/// # Errors
/// It cannot listen or accept.
pub fn tick(address: IpAddr) -> Result<(), Error> {
    let listening = || Error::system(format!("listening at {address}"));
    let listener = TcpListener::bind((address, PORTS[0])).map_err(listening())?;
    loop {
        let (mut stream, _) = listener.accept().map_err(Error::system("accepting a connection"))?;
        std::thread::spawn(move || {
            // A client that leaves ends it.
            stream.set_nodelay(true).and_then(|()| stream.write_all(&[0; OPENING]))?;
            loop {
                std::thread::sleep(BETWEEN);
                stream.write_all(&[0; WORD])?;
            }
            #[allow(unreachable_code, reason = "the type of the errors above")]
            std::io::Result::Ok(())
        });
    }
}

/// Opens so many connections and reads what comes, for ever.
///
/// # Errors
/// A connection is refused, breaks or ends.
pub fn hear(address: IpAddr, count: usize) -> Result<(), Error> {
    let connection = || Error::system("a connection to the server");
    let connect = |_| TcpStream::connect((address, PORTS[0])).map_err(connection());
    let streams: Vec<TcpStream> = (0..count).map(connect).collect::<Result<_, _>>()?;
    let (failed, failures) = channel();
    for mut stream in streams {
        let failed = failed.clone();
        std::thread::spawn(move || {
            let ended = std::io::copy(&mut stream, &mut std::io::sink());
            let _ = failed.send(ended.err().unwrap_or(std::io::ErrorKind::UnexpectedEof.into()));
        });
    }
    match failures.recv() {
        Ok(error) => Err(connection()(error)),
        Err(_) => Err(Error::Fault("no thread reads".into())),
    }
}

fn ask(address: IpAddr, port: u16) -> std::io::Result<TcpStream> {
    let mut stream = TcpStream::connect((address, port))?;
    stream.write_all(&[1])?;
    stream.read_exact(&mut [0])?;
    Ok(stream)
}

/// Does `work` for each port on a thread of its own.
fn each_port<T: Send>(work: impl Fn(u16) -> std::io::Result<T> + Sync) -> Result<Vec<T>, Error> {
    std::thread::scope(|scope| {
        let threads = PORTS.map(|port| {
            scope.spawn({
                let work = &work;
                move || work(port)
            })
        });
        let joined = threads.into_iter().map(|thread| match thread.join() {
            Ok(done) => done.map_err(Error::system("connections")),
            Err(_) => Err(Error::Fault("a thread with connections panicked".into())),
        });
        joined.collect()
    })
}

/// Every connection is an open file.
fn allow_files(connections: usize) -> Result<(), Error> {
    let needed = connections as u64 + FILES;
    let what = || Error::system(format!("{needed} open files"));
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).map_err(what())?;
    if soft >= needed {
        return Ok(());
    }
    setrlimit(Resource::RLIMIT_NOFILE, needed, hard.max(needed)).map_err(what())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    /// The server never ends: it is left to the end of the process.
    #[test]
    fn connections_are_answered_and_kept() {
        // Not 127.0.0.1, where somebody else may listen.
        let address = IpAddr::V4(Ipv4Addr::new(127, 7, 7, 1));
        std::thread::spawn(move || serve(address, 10));
        let limit = Instant::now() + Duration::from_secs(300);
        while PORTS.iter().any(|&port| TcpStream::connect((address, port)).is_err()) {
            assert!(Instant::now() < limit, "nobody listens");
            std::thread::sleep(Duration::from_millis(5));
        }
        // The server keeps 10 of each port; the others are closed, or `connect` would wait for ever.
        let open = open(address, 8).expect("open");
        assert_eq!(open.len(), 8);
        open[7].set_nonblocking(true).expect("set");
        let waiting = (&open[7]).read(&mut [0]).expect_err("not closed");
        assert_eq!(waiting.kind(), std::io::ErrorKind::WouldBlock);
    }
}
