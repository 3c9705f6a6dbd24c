//! A receiver that lies about its link must not live on it: it gets no more than with honest notices, plus 5 %.

mod laboratory;

use laboratory::{in_laboratory, link};
use rustix::net::sockopt::set_tcp_congestion;
use segue_kernel::mobile::{Mobile, Options, attach};
use segue_kernel::sender::{Around, Policy};
use segue_lab::ends::{Aware, MobileEnd, Notice, ServerEnd};
use segue_lab::host::Role;
use segue_lab::{Family, Kind, NoticeBy, Plan, RunRecord, Segue, SenderKind, run_with};
use segue_policy::Link;
use segue_policy::wire::ReportType;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The link that is told again and again.
const LIE: Link = Link { rate_kbps: 10_000_000, delay_us: 9_000 };
const EVERY: Duration = Duration::from_millis(50);
/// The first lie follows the attachment by so much: before the flow has grown, or when it has its share.
const AT_ONCE: Duration = Duration::ZERO;
const LATER: Duration = Duration::from_millis(3500);

/// The congestion control of the flow beside, if there is one. It is named, or it would be the machine's default.
type Neighbour = Option<&'static str>;

/// A mobile that tells what it likes, beside an honest flow of another program of the same hosts, which has
/// negotiated nothing.
#[derive(Debug)]
struct Host {
    sender: Segue,
    lies: Option<Link>,
    from: Duration,
    beside: Neighbour,
}

const PORT: u16 = 7000;

impl Aware for Host {
    fn server(&self, cgroup: &Path) -> Result<Box<dyn ServerEnd>, String> {
        let beside = self.beside.map(Beside::serve);
        Ok(Box::new(Server { sender: self.sender.server(cgroup)?, _beside: beside }))
    }

    fn mobile(&self, cgroup: &Path, first: Link) -> Result<Box<dyn MobileEnd>, String> {
        let beside = self.beside.map(|_| Beside::fetch());
        let (orders, inbox) = channel::<Order>();
        let (ready, attached) = channel();
        let options = Options { cgroup: cgroup.into(), link: first };
        let (lies, from) = (self.lies, self.from);
        // In the namespace of the thread that starts it.
        let thread = thread::spawn(move || {
            let mut mobile = attach(&options).expect("it attaches");
            ready.send(()).expect("somebody waits");
            let since = Instant::now();
            let tell = |mobile: &mut Mobile, link| {
                let told = mobile.notify(link, ReportType::Completed, 2).expect("it tells");
                BTreeMap::from([("connections".to_owned(), u64::from(told.connections))])
            };
            loop {
                match (inbox.recv_timeout(EVERY), lies) {
                    (Ok((link, answer)), None) => drop(answer.send(tell(&mut mobile, link))),
                    (Ok((_, answer)), Some(lie)) => drop(answer.send(tell(&mut mobile, lie))),
                    (Err(mpsc::RecvTimeoutError::Timeout), Some(lie)) if since.elapsed() >= from => {
                        drop(tell(&mut mobile, lie));
                    }
                    (Err(mpsc::RecvTimeoutError::Timeout), _) => {}
                    (Err(mpsc::RecvTimeoutError::Disconnected), _) => return,
                }
            }
        });
        attached.recv().map_err(|_| "the mobile's thread is gone".to_owned())?;
        Ok(Box::new(Teller { orders: Some(orders), thread: Some(thread), _beside: beside }))
    }
}

struct Server {
    sender: Box<dyn ServerEnd>,
    _beside: Option<Beside>,
}

impl ServerEnd for Server {
    fn serve(&mut self, limit: Duration) -> Result<(), String> {
        self.sender.serve(limit)
    }
    fn counters(&self) -> Result<BTreeMap<String, u64>, String> {
        self.sender.counters()
    }
}

/// A link to be told of, and where the counts go.
type Order = (Link, Sender<BTreeMap<String, u64>>);

struct Teller {
    orders: Option<Sender<Order>>,
    thread: Option<JoinHandle<()>>,
    _beside: Option<Beside>,
}

impl MobileEnd for Teller {
    fn notify(&mut self, notice: &Notice) -> Result<BTreeMap<String, u64>, String> {
        let (answer, told) = channel();
        let orders = self.orders.as_ref().ok_or("it is over")?;
        orders.send((notice.link, answer)).map_err(|_| "the mobile's thread is gone")?;
        told.recv().map_err(|_| "the mobile's thread is gone".to_owned())
    }
}

impl Drop for Teller {
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// One end of the honest flow. It begins before the program's own flows.
struct Beside {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Beside {
    fn start(work: impl FnOnce(&AtomicBool) + Send + 'static) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&over);
        Self { over, thread: Some(thread::spawn(move || work(&seen))) }
    }

    fn serve(congestion_control: &str) -> Self {
        let listener = TcpListener::bind(("0.0.0.0", PORT)).expect("it listens");
        set_tcp_congestion(&listener, congestion_control).expect("the kernel has it");
        Self::start(move |over| {
            listener.set_nonblocking(true).expect("a socket");
            let mut stream = loop {
                match listener.accept() {
                    Ok((stream, _)) => break stream,
                    Err(_) if over.load(Ordering::Relaxed) => return,
                    Err(_) => thread::sleep(Duration::from_millis(10)),
                }
            };
            stream.set_nonblocking(false).expect("a socket");
            stream.set_write_timeout(Some(Duration::from_millis(100))).expect("a socket");
            let block = [0; 1 << 14];
            while !over.load(Ordering::Relaxed) {
                let _ = stream.write(&block);
            }
            let _ = stream.shutdown(Shutdown::Both);
        })
    }

    fn fetch() -> Self {
        Self::start(|over| {
            let to = SocketAddr::new(Role::Server.address(Family::Ipv4), PORT);
            // The link begins to carry only when both ends are attached.
            let mut stream = TcpStream::connect_timeout(&to, Duration::from_secs(20)).expect("it connects");
            stream.set_read_timeout(Some(Duration::from_millis(100))).expect("a socket");
            let mut block = [0; 1 << 16];
            while !over.load(Ordering::Relaxed) {
                let _ = stream.read(&mut block);
            }
        })
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A scheme, and what it is built around.
type Scheme = (&'static str, Around);

const LIAR: &str = "liar";

fn sender(scheme: Scheme, name: &str) -> SenderKind {
    let policy = Policy::named(scheme.0, &[]).expect("a scheme");
    let segue = Segue { policy, around: scheme.1, icmp: false };
    SenderKind::Aware { name: name.into(), segue, notice_by: NoticeBy::Laboratory }
}

fn host(name: &str, segue: &Segue, from: Duration, beside: Neighbour) -> Arc<dyn Aware> {
    Arc::new(Host { sender: segue.clone(), lies: (name == LIAR).then_some(LIE), from, beside })
}

/// Octets of the program's own flow.
fn own(record: &RunRecord) -> f64 {
    record.flows.last().expect("a flow").bytes_observed as f64
}

/// As many of each at a time.
const RUNS: u32 = 6;
const ETCP: Scheme = ("etcp-v1", Around::Cubic);
const NEAR: Scheme = ("near", Around::Cubic);
const BBR: [Scheme; 2] = [("etcp-v1", Around::Bbr), ("tcp-ho", Around::Bbr)];
/// Packets of a queue that holds a second: losses are rare, and do not refute a lie soon.
const DEEP: Option<u32> = Some(533);

/// Over which link, beside whom, and since when the liar lies.
#[derive(Clone, Copy, Debug)]
struct Case {
    kind: Kind,
    /// Packets, or that of the bench.
    queue: Option<u32>,
    beside: Neighbour,
    from: Duration,
}

impl Case {
    const fn beside(neighbour: &'static str, kind: Kind) -> Self {
        Self { kind, queue: None, beside: Some(neighbour), from: AT_ONCE }
    }
}

/// A two-second start, then ten seconds over 6400 kbit/s and 9 ms.
fn runs(scheme: Scheme, case: Case, runs: u32) -> [Vec<f64>; 2] {
    let link = link(6400, 9, case.queue);
    let senders = ["honest", LIAR].map(|name| sender(scheme, name)).into();
    let mut plan = Plan::new(link.clone(), link, senders);
    plan.kind = case.kind;
    // Where nothing happens an honest mobile says nothing.
    plan.notices = case.kind == Kind::Bbm;
    (plan.runs, plan.parallel) = (runs, 2 * runs.min(RUNS));
    plan.wired = Duration::from_millis(4);
    plan.warm_up = Some(Duration::from_secs(2));
    let records = run_with(&plan, &|name, segue| host(name, segue, case.from, case.beside), &mut |_| {});
    let records = records.expect("it runs");
    let least = if case.kind == Kind::Bbm { 1 } else { 0 };
    ["honest", LIAR].map(|name| {
        let of = records.iter().filter(|record| record.sender == name);
        of.map(|record| {
            // The control connection and the one of the data hear each notice.
            let accepted = record.sender_counters["accepted"];
            let fit = if name == LIAR { 10..=40 } else { least..=2 };
            assert!(fit.contains(&accepted), "{name}: {:?}", record.sender_counters);
            assert_eq!(
                record.flows.len(),
                1 + usize::from(case.beside.is_some()),
                "{name}: {:?}",
                record.flows
            );
            own(record)
        })
        .collect()
    })
}

/// A flow's share beside another one scatters, so ranks are compared (Mann and Whitney, one-sided, 2.5 %). 5 % are
/// taken off the liar's. It must not be the larger one in 31 of the 36 pairs of six runs each, or 106 of 144.
fn no_more(scheme: Scheme, case: Case, count: u32) {
    let [honest, liar] = runs(scheme, case, count);
    let pairs = liar.iter().flat_map(|liar| honest.iter().map(move |honest| *liar > honest * 1.05));
    let (won, all) = (pairs.filter(|won| *won).count(), (count * count) as usize);
    // 1.96 standard deviations beyond one half.
    let spread = (f64::from(count * count * (2 * count + 1)) / 12.0).sqrt();
    let most = all as f64 / 2.0 + 1.96 * spread;
    let found = format!("{scheme:?}, {case:?}: {won} of {all} pairs; liar {liar:?}, honest {honest:?}");
    println!("{found}");
    assert!((won as f64) < most, "{found}");
}

#[test]
#[ignore = "minutes of statistics, for a machine that does nothing else: make liar"]
fn without_an_outage() {
    in_laboratory(|| {
        ["cubic", "bbr"].into_iter().for_each(|other| no_more(ETCP, Case::beside(other, Kind::Mbb), RUNS));
    });
}

/// A claim may raise the window without an outage. A flow that has little gains most by a lie, as beside bbr.
#[test]
#[ignore = "minutes of statistics, for a machine that does nothing else: make liar"]
fn raises_without_an_outage() {
    in_laboratory(|| {
        for case in ["cubic", "bbr"].map(|neighbour| Case::beside(neighbour, Kind::Mbb)) {
            [AT_ONCE, LATER].into_iter().for_each(|from| no_more(NEAR, Case { from, ..case }, 2 * RUNS));
        }
    });
}

/// Over a deep queue losses refute nothing for long, and round trips do.
#[test]
#[ignore = "minutes of statistics, for a machine that does nothing else: make liar"]
fn raises_over_a_deep_queue() {
    in_laboratory(|| {
        for case in ["cubic", "bbr"].map(|other| Case { queue: DEEP, ..Case::beside(other, Kind::Mbb) }) {
            [AT_ONCE, LATER].into_iter().for_each(|from| no_more(NEAR, Case { from, ..case }, 2 * RUNS));
        }
    });
}

#[test]
#[ignore = "minutes of statistics, for a machine that does nothing else: make liar"]
fn around_an_outage() {
    in_laboratory(|| {
        for case in ["cubic", "bbr"].map(|other| Case::beside(other, Kind::Bbm)) {
            no_more(ETCP, case, RUNS);
            no_more(NEAR, case, 2 * RUNS);
        }
    });
}

/// A notice gives BBR a pacing rate besides, and a startup.
#[test]
#[ignore = "minutes of statistics, for a machine that does nothing else: make liar"]
fn without_an_outage_around_bbr() {
    in_laboratory(|| {
        BBR.into_iter().for_each(|scheme| no_more(scheme, Case::beside("bbr", Kind::Mbb), RUNS));
    });
}

#[test]
#[ignore = "minutes of statistics, for a machine that does nothing else: make liar"]
fn around_an_outage_with_bbr() {
    in_laboratory(|| {
        BBR.into_iter().for_each(|scheme| no_more(scheme, Case::beside("bbr", Kind::Bbm), RUNS));
    });
}

/// Alone it has nobody to take from. The best runs are compared, for a busy machine makes worse ones.
#[test]
#[ignore = "minutes of statistics, for a machine that does nothing else: make liar"]
fn alone() {
    in_laboratory(|| {
        thread::scope(|scope| {
            for (scheme, kind) in
                [ETCP, NEAR].into_iter().flat_map(|scheme| [(scheme, Kind::Mbb), (scheme, Kind::Bbm)])
            {
                scope.spawn(move || {
                    let case = Case { kind, queue: None, beside: None, from: AT_ONCE };
                    let [honest, liar] = runs(scheme, case, 3);
                    let best = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
                    let what = format!("{scheme:?}, {kind:?}: liar {liar:?}, honest {honest:?}");
                    println!("{what}");
                    assert!(best(&liar) < 1.05 * best(&honest), "{what}");
                });
            }
        });
    });
}
