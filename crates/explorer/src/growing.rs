//! A comparison that the page shows while it grows, and the handoff that it draws beside.

use crate::answer::{comparison_view, go_on, handoff_view};
use crate::question::Question;
use crate::refusal::Refusal;
use crate::work::{Turn, cores};
use rayon::ThreadPool;
use segue_study::Gradual;
use segue_study::stop::stoppable;
use std::cell::Cell;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A view comes so many times as late as the one before it.
const LATER: u32 = 3;

/// Views that are there already, and the place for new ones.
pub struct Shelf<'a> {
    /// Where the measured links are.
    pub folder: &'a Path,
    /// The view of a handoff, if it is kept.
    pub handoff: &'a (dyn Fn(&Question) -> Option<Arc<str>> + Sync),
    /// Keeps a view of a kind, `comparison` or `handoff`.
    pub keep: &'a (dyn Fn(&str, &Question, &str) + Sync),
}

/// Says the page's views of a comparison. The first has all that is done by the time that the question names. The last
/// is the whole, which is kept. The view of the handoff that is drawn comes once it is done, in a line of its own.
/// `None` once nobody wants it.
pub fn comparison(question: &Question, turn: &mut Turn, shelf: &Shelf) -> Result<Option<()>, Refusal> {
    let Some(mut gradual) = Gradual::new(&question.plan) else {
        return Err(Refusal::ours("a question of several groups"));
    };
    let drawn = match &question.drawn {
        None => None,
        Some(Err(refusal)) => {
            turn.say(line_of_handoff(&refusal.json()));
            None
        }
        Some(Ok(drawn)) => match (shelf.handoff)(drawn) {
            Some(kept) => {
                turn.say(line_of_handoff(&kept));
                None
            }
            None => Some(&**drawn),
        },
    };
    if let Some(&at) = drawn.and_then(|drawn| drawn.plan.request.at.first()) {
        gradual = gradual.except(at);
    }
    let cores = cores()?;
    let drawing = drawn.map(Drawing::new).transpose()?;
    let begun = Instant::now();
    let due = question.within.map(|within| begun + Duration::from_nanos(within));
    let growing = Growing { question, shelf, gradual, cores, begun, due: Cell::new(due), said: Cell::new(0) };
    let wait = || drawing.iter().for_each(Drawing::wait);
    if !growing.run(turn, |gradual, done| gradual.run_first(done, &wait), drawing.as_ref())? {
        return Ok(None);
    }
    turn.give_way(|turn| growing.say(turn))?;
    if !growing.run(turn, Gradual::run_rest, None)? {
        return Ok(None);
    }
    let Some((of, whole)) = growing.gradual.so_far() else { return Ok(None) };
    let view = comparison_view(question, &of, &whole, shelf.folder)?;
    (shelf.keep)("comparison", question, &view);
    turn.say(view);
    Ok(Some(()))
}

fn line_of_handoff(view: &str) -> String {
    format!("{{\"handoff\":{view}}}")
}

struct Growing<'a> {
    question: &'a Question,
    shelf: &'a Shelf<'a>,
    gradual: Gradual<'a>,
    cores: ThreadPool,
    begun: Instant,
    /// When the next view is due; never if the whole is wanted alone.
    due: Cell<Option<Instant>>,
    /// Handoffs of the last view.
    said: Cell<usize>,
}

impl<'a> Growing<'a> {
    /// Runs a part of the work and, if there is one, the handoff that is drawn. Says views meanwhile; false once nobody
    /// wants them.
    fn run(
        &self,
        turn: &Turn,
        part: impl FnOnce(&Gradual<'a>, &(dyn Fn(u64) + Sync)) + Send,
        drawing: Option<&Drawing>,
    ) -> Result<bool, Refusal> {
        let (tell, heard) = channel();
        let (gradual, shelf, cancellation) = (&self.gradual, self.shelf, &turn.cancellation);
        let both = || {
            std::thread::scope(|threads| {
                if let Some(drawing) = drawing {
                    let tell = tell.clone();
                    threads.spawn(move || drawing.draw(gradual, shelf, turn, &|| _ = tell.send(())));
                }
                self.cores.in_place_scope(|scope| {
                    scope.spawn(move |_| {
                        part(gradual, &|more| {
                            go_on(cancellation);
                            if more > 0 {
                                // Where no views are due nobody listens.
                                let _ = tell.send(());
                            }
                        });
                    });
                    self.look_on(turn, &heard)
                })
            })
        };
        match stoppable(both) {
            Ok(outcome) => outcome.map(|()| true),
            Err(_) => Ok(false),
        }
    }

    /// Says views until the part of the work has ended.
    fn look_on(&self, turn: &Turn, heard: &Receiver<()>) -> Result<(), Refusal> {
        while let Some(due) = self.due.get() {
            // The first handoff is waited for, however long it takes.
            let news = match self.gradual.done() {
                0 => heard.recv().map_err(|_| RecvTimeoutError::Disconnected),
                _ => heard.recv_timeout(due.saturating_duration_since(Instant::now())),
            };
            if news == Err(RecvTimeoutError::Disconnected) {
                break;
            }
            if Instant::now() >= due {
                self.say(turn)?;
                self.due.set(Some(self.begun + LATER * self.begun.elapsed()));
            }
        }
        Ok(())
    }

    /// A view of what is done, if it is more than before and not all.
    fn say(&self, turn: &Turn) -> Result<(), Refusal> {
        let all = self.question.plan.request.at.len();
        let new = |points: usize| points > self.said.get() && points < all;
        if self.due.get().is_none() || !new(self.gradual.done()) {
            return Ok(());
        }
        let Some((of, part)) = self.gradual.so_far().filter(|(of, _)| new(of.request.at.len())) else {
            return Ok(());
        };
        turn.say(comparison_view(self.question, &of, &part, self.shelf.folder)?);
        self.said.set(of.request.at.len());
        Ok(())
    }
}

/// The handoff that is drawn beside a comparison.
struct Drawing<'a> {
    question: &'a Question,
    cores: ThreadPool,
    /// Whether it needs all cores: one for each scheme, and as many for the comparison, are more than there are.
    is_large: bool,
    run: Mutex<bool>,
    now_run: Condvar,
}

impl<'a> Drawing<'a> {
    fn new(question: &'a Question) -> Result<Self, Refusal> {
        let cores = cores()?;
        let is_large = cores.current_num_threads() < 2 * question.plan.schemes.len();
        Ok(Self { question, cores, is_large, run: Mutex::new(false), now_run: Condvar::new() })
    }

    /// Waits until it has been run, where it needs all cores.
    fn wait(&self) {
        let run = self.run.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_large {
            drop(self.now_run.wait_while(run, |run| !*run));
        }
    }

    fn end(&self) {
        *self.run.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.now_run.notify_all();
    }

    /// Runs it and says its view. Its records are those of the comparison, which has them, and hears of them by `tell`,
    /// before they are drawn.
    fn draw(&self, gradual: &Gradual, shelf: &Shelf, turn: &Turn, tell: &(dyn Fn() + Sync)) {
        let _ends = Ends(self);
        let view = handoff_view(self.question, &turn.cancellation, &self.cores, shelf.folder, |traces| {
            gradual.put(traces.iter().map(|told| told.trace.record.clone()));
            tell();
            self.end();
        });
        match view {
            Ok(Some(view)) => {
                (shelf.keep)("handoff", self.question, &view);
                turn.say(line_of_handoff(&view));
            }
            // Nobody wants it.
            Ok(None) => {}
            Err(refusal) => turn.say(line_of_handoff(&refusal.json())),
        }
    }
}

/// Nobody waits for a handoff that has ended, however it has.
struct Ends<'a>(&'a Drawing<'a>);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}
