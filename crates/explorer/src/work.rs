//! How much is done at once, for how long, and for whom.

use crate::refusal::Refusal;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Longest that one answer is worked on while a user waits.
pub const LONGEST: Duration = Duration::from_secs(20);
/// Between two looks whether an answer that waits for a place is still wanted.
const LOOK: Duration = Duration::from_millis(50);
/// Most answers that are waited for.
const MOST_WAITING: usize = 256;

/// Threads for one answer: the end of what others have asked is not waited for.
pub fn cores() -> Result<ThreadPool, Refusal> {
    ThreadPoolBuilder::new().build().map_err(Refusal::ours)
}

/// How much is worked on at once.
pub struct Workers {
    /// One per core: each run already uses all cores.
    runs: Arc<Semaphore>,
    /// As many answers again that have said something and go on.
    rests: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
    /// The program is about to end.
    closing: Arc<AtomicBool>,
    longest: Duration,
}

/// Whether somebody still wants the answer.
pub struct Cancellation {
    gone: Arc<AtomicBool>,
    closing: Arc<AtomicBool>,
    until: Instant,
}

impl Cancellation {
    /// Whether to go on.
    pub fn goes_on(&self) -> bool {
        !self.gone.load(Ordering::Relaxed)
            && !self.closing.load(Ordering::Relaxed)
            && Instant::now() < self.until
    }

    /// Waits for an outcome, however long it takes; `None` once nobody wants it any more.
    async fn unless_unwanted<T>(&self, waited: impl Future<Output = T>) -> Option<T> {
        let mut waited = pin!(waited);
        loop {
            if let Ok(outcome) = timeout(LOOK, waited.as_mut()).await {
                return Some(outcome);
            }
            if self.gone.load(Ordering::Relaxed) || self.closing.load(Ordering::Relaxed) {
                return None;
            }
        }
    }

    /// Why the work has ended before its end.
    fn reason(&self, longest: Duration) -> Refusal {
        match self.closing.load(Ordering::Relaxed) {
            true => Refusal::busy("the explorer has been ended; expected one that runs"),
            false => too_long(longest),
        }
    }
}

/// Tells the work when the request is dropped, as it is when its client goes away.
struct Client(Arc<AtomicBool>);

impl Drop for Client {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Workers {
    /// So many runs at once, none of them for longer than that.
    pub fn new(runs: usize, longest: Duration) -> Self {
        Self {
            runs: Arc::new(Semaphore::new(runs)),
            rests: Arc::new(Semaphore::new(runs)),
            waiting: Arc::new(Semaphore::new(MOST_WAITING)),
            closing: Arc::default(),
            longest,
        }
    }

    /// Ends all work.
    pub fn close(&self) {
        self.closing.store(true, Ordering::Relaxed);
    }

    /// Runs `work` once there is a place; the place is free again when the work has really ended. The work says
    /// `None` if it was ended before.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Cancellation) -> Result<Option<T>, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let gone = Arc::new(AtomicBool::new(false));
        let _client = Client(gone.clone());
        let _waiting = self.wait()?;
        let place = self.runs.clone().acquire_owned().await.map_err(Refusal::ours)?;
        let cancellation =
            Cancellation { gone, closing: self.closing.clone(), until: Instant::now() + self.longest };
        let longest = self.longest;
        let worker = tokio::task::spawn_blocking(move || {
            let _place = place;
            work(&cancellation)?.ok_or_else(|| cancellation.reason(longest))
        });
        worker.await.map_err(Refusal::ours)?
    }

    /// The same of an answer in parts, which come while `work` goes on.
    pub async fn parts(
        &self,
        work: impl FnOnce(&mut Turn) -> Result<Option<()>, Refusal> + Send + 'static,
    ) -> Result<Parts, Refusal> {
        let gone = Arc::new(AtomicBool::new(false));
        let client = Client(gone.clone());
        let waiting = self.wait()?;
        let place = self.runs.clone().acquire_owned().await.map_err(Refusal::ours)?;
        let (say, said) = unbounded_channel();
        let until = Instant::now() + self.longest;
        let cancellation = Cancellation { gone, closing: self.closing.clone(), until };
        let (longest, rests) = (self.longest, self.rests.clone());
        let mut turn =
            Turn { cancellation, say, place: Some(place), rests, longest, handle: Handle::current() };
        tokio::task::spawn_blocking(move || {
            let _waiting = waiting;
            let outcome = work(&mut turn);
            let outcome = outcome.and_then(|end| end.ok_or_else(|| turn.cancellation.reason(longest)));
            if let Err(refusal) = outcome {
                // Nobody listens if the client has gone.
                let _ = turn.say.send(Err(refusal));
            }
        });
        Ok(Parts { said, _client: client })
    }

    fn wait(&self) -> Result<OwnedSemaphorePermit, Refusal> {
        let waiting = self.waiting.clone().try_acquire_owned();
        waiting.map_err(|_| Refusal::busy("too many questions at once; expected at most 256"))
    }
}

fn too_long(longest: Duration) -> Refusal {
    let what = format!("the answer takes longer than {} s", longest.as_secs());
    Refusal::busy(&format!("{what}; expected fewer flows, neighbours, schemes or packets, or slower links"))
}

/// The parts of an answer, as they come. Its work ends when they are dropped.
pub struct Parts {
    said: UnboundedReceiver<Result<String, Refusal>>,
    _client: Client,
}

impl Parts {
    /// The next; nothing after the last.
    pub async fn next(&mut self) -> Option<Result<String, Refusal>> {
        self.said.recv().await
    }

    /// The same, for a body.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<String, Refusal>>> {
        self.said.poll_recv(context)
    }
}

/// The work on an answer in parts.
pub struct Turn {
    pub cancellation: Cancellation,
    say: UnboundedSender<Result<String, Refusal>>,
    place: Option<OwnedSemaphorePermit>,
    rests: Arc<Semaphore>,
    longest: Duration,
    handle: Handle,
}

impl Turn {
    /// Says a part.
    pub fn say(&self, part: String) {
        // Nobody listens if the client has gone.
        let _ = self.say.send(Ok(part));
    }

    /// Leaves the place to somebody who has heard nothing yet, and goes on when there is one for the rest. If that may
    /// take long, `meanwhile` says what there is.
    pub fn give_way(&mut self, meanwhile: impl FnOnce(&Self) -> Result<(), Refusal>) -> Result<(), Refusal> {
        let rests = self.rests.clone();
        let place = match rests.clone().try_acquire_owned() {
            Ok(place) => place,
            Err(_) => {
                meanwhile(self)?;
                self.place = None;
                match self.handle.block_on(self.cancellation.unless_unwanted(rests.acquire_owned())) {
                    Some(place) => place.map_err(Refusal::ours)?,
                    // The work ends at once.
                    None => return Ok(()),
                }
            }
        };
        self.place = Some(place);
        self.cancellation.until = Instant::now() + self.longest;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A client that has gone leaves its place to others, although the place that its work waits for never comes.
    #[test]
    fn nobody_waits_for_those_who_have_gone() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let workers = Workers::new(1, Duration::from_secs(3600));
            let rest = workers.rests.clone().acquire_owned().await.expect("a place");
            let mut parts = workers
                .parts(|turn| {
                    turn.give_way(|turn| {
                        turn.say("what there is".into());
                        Ok(())
                    })?;
                    assert!(!turn.cancellation.goes_on());
                    Ok(None)
                })
                .await
                .expect("a place");
            assert_eq!(parts.next().await.and_then(Result::ok).as_deref(), Some("what there is"));
            drop(parts);
            // The work ends: its place, and the one among those who wait, are free again.
            let places = MOST_WAITING as u32;
            let waiting = workers.waiting.clone().acquire_many_owned(places).await.expect("places");
            drop((waiting, rest));
        });
    }
}
