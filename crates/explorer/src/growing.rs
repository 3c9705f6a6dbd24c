//! A comparison that the page shows while it grows.

use crate::answer::{comparison_view, go_on};
use crate::question::Question;
use crate::refusal::Refusal;
use crate::work::{Turn, cores};
use rayon::ThreadPool;
use segue_study::Gradual;
use segue_study::stop::stoppable;
use std::cell::Cell;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// A view comes so many times as late as the one before it.
const LATER: u32 = 3;

/// Says the page's views of a comparison. The first has all that is done by the time that the question names. The last
/// is the whole, which is kept. `None` once nobody wants it.
pub fn comparison(
    question: &Question,
    turn: &mut Turn,
    folder: &Path,
    keep: impl FnOnce(&str),
) -> Result<Option<()>, Refusal> {
    let Some(gradual) = Gradual::new(&question.plan) else {
        return Err(Refusal::ours("a question of several groups"));
    };
    let cores = cores()?;
    let begun = Instant::now();
    let due = question.within.map(|within| begun + Duration::from_nanos(within));
    let growing =
        Growing { question, folder, gradual, cores, begun, due: Cell::new(due), said: Cell::new(0) };
    if !growing.run(turn, Gradual::run_first)? {
        return Ok(None);
    }
    turn.give_way(|turn| growing.say(turn))?;
    if !growing.run(turn, Gradual::run_rest)? {
        return Ok(None);
    }
    let Some((of, whole)) = growing.gradual.so_far() else { return Ok(None) };
    let view = comparison_view(question, &of, &whole, folder)?;
    keep(&view);
    turn.say(view);
    Ok(Some(()))
}

/// A part of the work, which tells how many more runs are done.
type Part<'a> = fn(&Gradual<'a>, &(dyn Fn(u64) + Sync));

struct Growing<'a> {
    question: &'a Question,
    folder: &'a Path,
    gradual: Gradual<'a>,
    cores: ThreadPool,
    begun: Instant,
    /// When the next view is due; never if the whole is wanted alone.
    due: Cell<Option<Instant>>,
    /// Handoffs of the last view.
    said: Cell<usize>,
}

impl<'a> Growing<'a> {
    /// Runs a part of the work, and says views meanwhile; false once nobody wants it.
    fn run(&self, turn: &Turn, part: Part<'a>) -> Result<bool, Refusal> {
        let (tell, heard) = channel();
        let (gradual, cancellation) = (&self.gradual, &turn.cancellation);
        let both = || {
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
        turn.say(comparison_view(self.question, &of, &part, self.folder)?);
        self.said.set(of.request.at.len());
        Ok(())
    }
}
