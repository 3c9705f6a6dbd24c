//! How much is done at once, for how long, and for whom.

use crate::refusal::Refusal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;

/// Longest that one answer is worked on while a user waits.
pub const LONGEST: Duration = Duration::from_secs(20);
/// Most answers that are waited for.
const MOST_WAITING: usize = 256;

/// How much is worked on at once.
pub struct Workers {
    /// One per core: each run already uses all cores.
    runs: Arc<Semaphore>,
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
        let _waiting = self
            .waiting
            .clone()
            .try_acquire_owned()
            .map_err(|_| Refusal::busy("too many questions at once; expected at most 256"))?;
        let place = self.runs.clone().acquire_owned().await.map_err(Refusal::ours)?;
        let cancellation =
            Cancellation { gone, closing: self.closing.clone(), until: Instant::now() + self.longest };
        let worker = tokio::task::spawn_blocking(move || {
            let _place = place;
            work(&cancellation)
        });
        worker.await.map_err(Refusal::ours)??.ok_or_else(|| {
            let longest = self.longest.as_secs();
            let what = format!("the answer takes longer than {longest} s");
            Refusal::busy(&format!("{what}; expected fewer flows, schemes or packets, or slower links"))
        })
    }
}
