//! Recoveries of one flow, and whether one was long enough to tell how long it took.

use segue_world::trace::SenderState;
use segue_world::{Nanos, SECOND};

/// A recovery is told with its length and its packets from this length on,
const LONG: Nanos = 2 * SECOND;
/// and from so many packets sent again. With fewer it was an outage that lasted.
const MANY: u32 = 20;

/// A recovery that goes on.
#[derive(Clone, Copy)]
struct Running {
    since: Nanos,
    resent: u32,
}

/// The recovery of one flow, if it is in one.
#[derive(Clone, Copy, Default)]
pub struct Repair(Option<Running>);

/// Whether a sender is in a recovery.
fn recovers(state: &SenderState) -> bool {
    state.in_fast_recovery || state.in_rto_recovery
}

impl Repair {
    /// The sender's state is another. The end of a recovery returns its length and packets, if they are worth telling.
    pub fn follow(&mut self, at: Nanos, now: &SenderState) -> String {
        if recovers(now) {
            self.0.get_or_insert(Running { since: at, resent: 0 });
            return String::new();
        }
        match self.0.take() {
            Some(Running { since, resent }) if at - since >= LONG && resent >= MANY => {
                format!(" after {:.1} s, {resent} packets sent again", (at - since) as f64 / SECOND as f64)
            }
            _ => String::new(),
        }
    }

    /// A packet is sent again.
    pub fn resend(&mut self) {
        if let Some(running) = &mut self.0 {
            running.resent += 1;
        }
    }
}
