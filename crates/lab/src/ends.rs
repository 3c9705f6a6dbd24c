//! Ours, at the two ends of a laboratory: each in its host's namespace, on a thread of its own. Where the agent tells
//! of handoffs ([`super::agent`]) there is the server's end alone.

use super::host::Host;
use super::punctual::{Punctual, Rank};
use super::sender_kind::Segue;
use super::{Error, interrupt};
use segue_policy::Link;
use segue_policy::wire::ReportType;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A sender that hears notices, and the mobile that sends them.
pub trait Aware: Debug + Send + Sync {
    /// Attaches the sender to the server's cgroup; called inside the server's namespace, before any program runs.
    ///
    /// # Errors
    /// One line why it cannot.
    fn server(&self, cgroup: &Path) -> Result<Box<dyn ServerEnd>, String>;

    /// Attaches the mobile's side to its cgroup, inside its namespace; `first`: the link of its first report.
    ///
    /// # Errors
    /// One line why it cannot.
    fn mobile(&self, cgroup: &Path, first: Link) -> Result<Box<dyn MobileEnd>, String>;
}

/// From a plan's sender, its name and how it is set, to what attaches it.
pub type Attach<'a> = dyn Fn(&str, &Segue) -> Arc<dyn Aware> + Sync + 'a;

/// An attached sender. Dropped: detached.
pub trait ServerEnd {
    /// Does what the kernel's programs ask of user space, for about `limit`.
    ///
    /// # Errors
    /// One line what failed.
    fn serve(&mut self, limit: Duration) -> Result<(), String>;

    /// Its counters by name, for the record.
    ///
    /// # Errors
    /// One line why they cannot be read.
    fn counters(&self) -> Result<BTreeMap<String, u64>, String>;
}

/// A report of a handoff, as the mobile is to send it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The new link.
    pub link: Link,
    /// Whether the handoff is foreseen or has completed.
    pub kind: ReportType,
    /// The device of the old link, if one more copy goes over it.
    pub also: Option<u32>,
}

/// The handoff has completed, and nothing goes over the old link.
impl From<Link> for Notice {
    fn from(link: Link) -> Self {
        Self { link, kind: ReportType::Completed, also: None }
    }
}

/// An attached mobile. Dropped: detached.
pub trait MobileEnd {
    /// Tells all peers of the current namespace's connections.
    ///
    /// # Errors
    /// One line what failed.
    fn notify(&mut self, notice: &Notice) -> Result<BTreeMap<String, u64>, String>;
}

/// Loading and verifying programs takes a moment, and minutes on a machine that is many times overloaded.
const ATTACH: Duration = Duration::from_secs(600);
const NOTIFY: Duration = Duration::from_secs(120);
const DETACH: Duration = Duration::from_secs(120);
const SERVE: Duration = Duration::from_millis(20);
/// How often who waits for an answer looks for a signal.
const LOOK: Duration = Duration::from_millis(20);

type Counters = BTreeMap<String, u64>;
type Answer = Result<Counters, String>;

/// Both ends at work. Dropped: detached.
pub struct Ends {
    server: End<()>,
    mobile: Option<End<Notice>>,
    /// The announcement since the last notice.
    announced: Cell<Announced>,
}

/// An announcement.
#[derive(Default)]
enum Announced {
    /// There was none.
    #[default]
    Nothing,
    /// Its order has not been answered yet.
    Ordered,
    /// It has left; its counts.
    Left(Counters),
}

struct End<Order> {
    name: &'static str,
    orders: Option<Sender<Order>>,
    answers: Receiver<Answer>,
    thread: Option<JoinHandle<()>>,
}

impl Ends {
    /// Attaches the server's, and the mobile's if it is to tell of handoffs; its link is that of its first report.
    ///
    /// # Errors
    /// The fault of one of them.
    pub fn attach(
        aware: &Arc<dyn Aware>,
        server: (Arc<Host>, PathBuf),
        mobile: Option<(Arc<Host>, PathBuf, Link)>,
    ) -> Result<Self, Error> {
        let (host, cgroup) = server;
        let ours = Arc::clone(aware);
        let server = End::start("sender", host, move |orders: &Receiver<()>, answers: &Sender<Answer>| {
            let mut end = ours.server(&cgroup)?;
            // A notice is taken and sent at once, also on a busy machine; attaching and detaching can wait.
            let _punctual = Punctual::of(Rank::End);
            let _ = answers.send(Ok(Counters::new()));
            while let Err(TryRecvError::Empty) = orders.try_recv() {
                end.serve(SERVE)?;
            }
            let _ = answers.send(Ok(end.counters()?));
            Ok(())
        })?;
        let mobile = mobile.map(|(host, cgroup, first)| {
            let ours = Arc::clone(aware);
            End::start("mobile", host, move |orders: &Receiver<Notice>, answers: &Sender<Answer>| {
                let mut end = ours.mobile(&cgroup, first)?;
                let _punctual = Punctual::of(Rank::End);
                let _ = answers.send(Ok(Counters::new()));
                while let Ok(notice) = orders.recv() {
                    let _ = answers.send(Ok(end.notify(&notice)?));
                }
                Ok(())
            })
        });
        Ok(Self { server, mobile: mobile.transpose()?, announced: Cell::default() })
    }

    /// Has the mobile's end announce a handoff to this link now, if there is one. Waits until that has left, for so
    /// long at most: the handoff itself does not wait.
    ///
    /// # Errors
    /// Its fault.
    pub fn announce(&self, link: Link, at_most: Duration) -> Result<(), Error> {
        let Some(mobile) = &self.mobile else { return Ok(()) };
        mobile.order(Notice { kind: ReportType::Expected, ..link.into() });
        let answer = mobile.answer_within(at_most)?;
        self.announced.set(answer.map_or(Announced::Ordered, Announced::Left));
        Ok(())
    }

    /// Has the mobile's end send its notice now, if there is one. Its counts, with those of the announcement before it.
    ///
    /// # Errors
    /// Its fault.
    pub fn notify(&self, notice: impl Into<Notice>) -> Result<Counters, Error> {
        let Some(mobile) = &self.mobile else { return Ok(Counters::new()) };
        mobile.order(notice.into());
        // Answers come in the order of the orders.
        let announced = match self.announced.take() {
            Announced::Nothing => Counters::new(),
            Announced::Ordered => mobile.answer(NOTIFY)?,
            Announced::Left(counters) => counters,
        };
        let mut counters = mobile.answer(NOTIFY)?;
        counters.extend(announced);
        Ok(counters)
    }

    /// Whether the sender's side still serves.
    ///
    /// # Errors
    /// The fault that ended it.
    pub fn check(&self) -> Result<(), Error> {
        match self.server.answers.try_recv() {
            Ok(Err(said)) => Err(Error::Agent { end: self.server.name, said }),
            _ => Ok(()),
        }
    }

    /// Detaches them and returns the sender's counters.
    ///
    /// # Errors
    /// The fault of the sender's side.
    pub fn finish(mut self) -> Result<Counters, Error> {
        self.server.orders = None;
        self.server.answer(NOTIFY)
    }
}

impl<Order: Send + 'static> End<Order> {
    fn start(
        name: &'static str,
        host: Arc<Host>,
        work: impl FnOnce(&Receiver<Order>, &Sender<Answer>) -> Result<(), String> + Send + 'static,
    ) -> Result<Self, Error> {
        let (orders, inbox) = channel();
        let (outbox, answers) = channel();
        let body = move || {
            let done = host
                .namespace
                .within(|| work(&inbox, &outbox).map_err(|said| Error::Agent { end: name, said }));
            if let Err(error) = done {
                let said = match error {
                    Error::Agent { said, .. } => said,
                    other => other.to_string(),
                };
                let _ = outbox.send(Err(said));
            }
        };
        let thread = std::thread::Builder::new()
            .name(format!("segue-{name}"))
            .spawn(body)
            .map_err(Error::system(format!("a thread for the {name}")))?;
        let end = Self { name, orders: Some(orders), answers, thread: Some(thread) };
        end.answer(ATTACH)?;
        Ok(end)
    }
}

impl<Order> End<Order> {
    fn order(&self, order: Order) {
        if let Some(orders) = &self.orders {
            let _ = orders.send(order);
        }
    }

    fn answer(&self, limit: Duration) -> Result<Counters, Error> {
        let late =
            || Error::Timeout { seconds: limit.as_secs_f64(), what: format!("the {}'s side", self.name) };
        self.answer_within(limit)?.ok_or_else(late)
    }

    /// `None`: it has not answered yet.
    fn answer_within(&self, limit: Duration) -> Result<Option<Counters>, Error> {
        let until = Instant::now() + limit;
        let left = || until.saturating_duration_since(Instant::now());
        let answer = || match self.answers.recv_timeout(left().min(LOOK)) {
            Ok(Ok(counters)) => Ok(Some(counters)),
            Ok(Err(said)) => Err(Error::Agent { end: self.name, said }),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                Err(Error::Fault(format!("the thread of the {}'s side is gone", self.name)))
            }
        };
        interrupt::wait(limit, Duration::ZERO, answer)
    }
}

impl<Order> Drop for End<Order> {
    fn drop(&mut self) {
        self.orders = None;
        let limit = Instant::now() + DETACH;
        if let Some(thread) = self.thread.take() {
            // One that hangs is left to the end of the process, which detaches as well.
            while !thread.is_finished() && Instant::now() < limit {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
}
