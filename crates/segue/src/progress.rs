//! How far a long run is: a bar where somebody watches, otherwise a line now and then. All of it goes to standard
//! error, and a run that is soon over says nothing.

use crate::screen::{Screen, Watched};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A run that takes longer is announced.
const LONG: Duration = Duration::from_secs(10);
/// From one look to the next, until it is announced.
const FIRST_LOOK: Duration = Duration::from_secs(1);
/// One part in so many has to be done for an estimate before [`LONG`]: the first handoffs also wait for their warm-up.
const ENOUGH: u64 = 20;
/// From one line to the next.
const EACH: Duration = Duration::from_secs(30);

/// The progress of one piece of work. It is over when this is dropped.
pub struct Progress {
    bar: ProgressBar,
    done: Arc<AtomicU64>,
    account: Account,
    since: Instant,
    shown: Watched,
    /// Tells lines until its end of the channel is closed.
    teller: Option<(Sender<()>, JoinHandle<()>)>,
}

/// So many handoffs, drives or runs.
pub fn of(screen: &Screen, count: u64, of: &str) -> Progress {
    Progress::begin(screen.progress, Account::new(count, of), 0)
}

/// The same, where so many were done before.
#[cfg(feature = "tables")]
pub fn continued(screen: &Screen, count: u64, of: &str, before: u64) -> Progress {
    Progress::begin(screen.progress, Account { before, ..Account::new(count, of) }, before)
}

/// The same, where the work takes so long on any machine.
#[cfg(feature = "live")]
pub fn lasting(screen: &Screen, count: u64, of: &str, time: Duration) -> Progress {
    Progress::begin(screen.progress, Account { known: Some(time), ..Account::new(count, of) }, 0)
}

impl Progress {
    fn begin(shown: Watched, account: Account, before: u64) -> Self {
        let target = match shown {
            Watched::Bar => ProgressDrawTarget::stderr(),
            _ => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(Some(account.count), target)
            .with_finish(ProgressFinish::AndClear)
            .with_position(before);
        let template = format!("{{bar:40}} {{pos}}/{{len}} {}, {{eta}} left", account.of);
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style);
        }
        let done = Arc::new(AtomicU64::new(before));
        let since = Instant::now();
        let teller = (shown == Watched::Lines).then(|| teller(account.clone(), done.clone(), since));
        Self { bar, done, account, since, shown, teller }
    }

    /// So many more are done. Runs tell of nothing often.
    pub fn inc(&self, more: u64) {
        if more == 0 {
            return;
        }
        self.done.fetch_add(more, Ordering::Relaxed);
        self.bar.inc(more);
    }

    /// So many are done in all.
    #[cfg(feature = "live")]
    pub fn set(&self, done: u64) {
        self.done.store(done, Ordering::Relaxed);
        self.bar.set_position(done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
        if let Some((open, thread)) = self.teller.take() {
            drop(open);
            // It only waits and prints.
            let _ = thread.join();
        }
        if self.shown != Watched::Nothing
            && let Some(line) = self.account.last(self.since.elapsed(), self.done.load(Ordering::Relaxed))
        {
            tell(&line);
        }
    }
}

/// A thread that tells lines: one run of the work may take longer than the time between two.
fn teller(mut account: Account, done: Arc<AtomicU64>, since: Instant) -> (Sender<()>, JoinHandle<()>) {
    let (open, closed) = channel();
    let thread = std::thread::spawn(move || {
        while closed.recv_timeout(account.wait(since.elapsed())) == Err(RecvTimeoutError::Timeout) {
            if let Some(line) = account.line(since.elapsed(), done.load(Ordering::Relaxed)) {
                tell(&line);
            }
        }
    });
    (open, thread)
}

/// Nobody may be left to read it.
fn tell(line: &str) {
    let _ = writeln!(std::io::stderr(), "segue: {line}");
}

/// The lines about a run, and when they are due. It knows no clock: it is told how long the run has lasted.
#[derive(Clone, Debug)]
struct Account {
    count: u64,
    of: String,
    /// Done before this run.
    before: u64,
    /// How long it takes, where that does not depend on the machine.
    known: Option<Duration>,
    announced: bool,
    /// When to look next.
    next: Duration,
}

impl Account {
    fn new(count: u64, of: &str) -> Self {
        Self { count, of: of.to_string(), before: 0, known: None, announced: false, next: FIRST_LOOK }
    }

    /// Time until the next look.
    fn wait(&self, elapsed: Duration) -> Duration {
        if self.known.is_some() && !self.announced {
            Duration::ZERO
        } else {
            self.next.saturating_sub(elapsed)
        }
    }

    /// So many of them in words.
    fn counted(&self, number: u64) -> String {
        let of = if number == 1 { self.of.trim_end_matches('s') } else { &self.of };
        format!("{number} {of}")
    }

    /// Whether so much is done that its pace is that of the whole.
    fn is_enough(&self, done: u64) -> bool {
        let [fresh, all] = [done, self.count].map(|number| number.saturating_sub(self.before));
        self.known.is_some() || fresh.saturating_mul(ENOUGH) >= all
    }

    /// The time that remains, at the pace so far.
    fn left(&self, elapsed: Duration, done: u64) -> Option<Duration> {
        let (fresh, left) = (done.saturating_sub(self.before), self.count.saturating_sub(done));
        let whole = || self.known.map(|known| known.saturating_sub(elapsed));
        match fresh {
            0 => whole(),
            _ => Some(elapsed.mul_f64(left as f64 / fresh as f64)),
        }
    }

    /// A line, if it is time for one.
    fn line(&mut self, elapsed: Duration, done: u64) -> Option<String> {
        let left = self.left(elapsed, done);
        if !self.announced {
            self.next = elapsed + FIRST_LOOK;
            let whole = left.filter(|_| self.is_enough(done)).map(|left| elapsed + left);
            if whole.is_none_or(|whole| whole < LONG) && elapsed < LONG {
                return None;
            }
            self.announced = true;
            self.next = elapsed + EACH;
            let (all, take) = (self.counted(self.count), if self.count == 1 { "takes" } else { "take" });
            return Some(match left {
                Some(left) => format!("{all} {take} about {}", words(elapsed + left)),
                None => format!("{all}; none is done after {}", words(elapsed)),
            });
        }
        self.next = elapsed + EACH;
        let left = left.map(|left| format!(", about {} left", words(left))).unwrap_or_default();
        Some(format!("{done} of {} {} after {}{left}", self.count, self.of, words(elapsed)))
    }

    /// The line when all is done.
    fn last(&self, elapsed: Duration, done: u64) -> Option<String> {
        let long = elapsed >= LONG && done >= self.count;
        long.then(|| format!("{} took {}", self.counted(self.count - self.before), words(elapsed)))
    }
}

/// A time of people: no more than two units.
fn words(time: Duration) -> String {
    let s = time.as_secs_f64().round() as u64;
    match s {
        0..=119 => format!("{s} s"),
        120..=7199 => format!("{} min {} s", s / 60, s % 60),
        _ => format!("{} h {} min", s / 3600, s % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// 240 drives, one in half a second: 120 s in all.
    #[test]
    fn a_long_run_is_announced_and_told_of_each_half_minute() {
        let mut account = Account::new(240, "drives");
        assert_eq!(account.wait(s(0)), s(1));
        assert_eq!(account.line(s(6), 12).as_deref(), Some("240 drives take about 2 min 0 s"));
        assert_eq!(account.wait(s(6)), s(30));
        let told = account.line(s(36), 72);
        assert_eq!(told.as_deref(), Some("72 of 240 drives after 36 s, about 84 s left"));
        assert_eq!(account.wait(s(36)), s(30));
        assert_eq!(account.last(s(120), 240).as_deref(), Some("240 drives took 2 min 0 s"));
        assert_eq!(account.last(s(120), 239), None, "it failed");
    }

    /// The first handoffs wait for a warm-up that the others share.
    #[test]
    fn a_slow_beginning_is_no_estimate() {
        let mut account = Account::new(400, "handoffs");
        assert_eq!(account.line(s(4), 8), None, "it would be 200 s");
        assert_eq!(account.line(s(5), 50).as_deref(), Some("400 handoffs take about 40 s"));
        let mut slow = Account::new(4000, "handoffs");
        assert_eq!(slow.line(s(9), 8), None);
        assert_eq!(slow.line(s(10), 40).as_deref(), Some("4000 handoffs take about 16 min 40 s"));
    }

    #[test]
    fn one_of_them_is_told_as_one() {
        let mut account = Account { known: Some(s(81)), ..Account::new(1, "runs") };
        assert_eq!(account.line(s(0), 0).as_deref(), Some("1 run takes about 81 s"));
        assert_eq!(account.last(s(81), 1).as_deref(), Some("1 run took 81 s"));
    }

    #[test]
    fn a_short_run_says_nothing() {
        let mut account = Account::new(20, "handoffs");
        for second in 1..5 {
            assert_eq!(account.line(s(second), 4 * second), None);
            assert_eq!(account.wait(s(second)), s(1), "it may become slower");
        }
        assert_eq!(account.last(s(5), 20), None);
        // Ten in 6 s: it has become slower.
        assert_eq!(account.line(s(6), 10).as_deref(), Some("20 handoffs take about 12 s"));
    }

    #[test]
    fn nothing_done_is_no_estimate() {
        let mut account = Account::new(3, "drives");
        assert_eq!(account.line(s(9), 0), None);
        assert_eq!(account.line(s(10), 0).as_deref(), Some("3 drives; none is done after 10 s"));
        assert_eq!(account.line(s(40), 0).as_deref(), Some("0 of 3 drives after 40 s"));
        assert_eq!(
            account.line(s(70), 1).as_deref(),
            Some("1 of 3 drives after 70 s, about 2 min 20 s left")
        );
    }

    #[test]
    fn an_earlier_part_does_not_count_for_the_pace() {
        let mut account = Account { before: 100, ..Account::new(200, "handoffs") };
        // 10 in 2 s: 90 more take 18 s.
        assert_eq!(account.line(s(2), 110).as_deref(), Some("200 handoffs take about 20 s"));
        assert_eq!(account.last(s(20), 200).as_deref(), Some("100 handoffs took 20 s"));
    }

    #[test]
    fn a_laboratory_knows_its_time_beforehand() {
        let mut account = Account { known: Some(s(8000)), ..Account::new(540, "runs") };
        assert_eq!(account.wait(s(0)), s(0));
        assert_eq!(account.line(s(0), 0).as_deref(), Some("540 runs take about 2 h 13 min"));
        assert_eq!(
            account.line(s(30), 0).as_deref(),
            Some("0 of 540 runs after 30 s, about 2 h 12 min left")
        );
        let mut short = Account { known: Some(s(3)), ..Account::new(1, "runs") };
        assert_eq!(short.line(s(0), 0), None);
    }
}
