//! A schedule of handoffs at the sender, as `satcp` and `leocc` have it: a flag goes up some time before each handoff,
//! and comes down some time later. The schedule may be wrong.

use segue_policy::Kind;
use segue_tcp::Nanos;

pub(crate) const MS: Nanos = 1_000_000;
/// The schedule may err by so much.
const MOST_ERROR: Nanos = 1_000 * MS;

/// The setting of its error: key, default, meaning.
pub(crate) const ERROR: (&str, &str, &str) =
    ("schedule-error", "0s", "how late the schedule has a handover, up to 1s; with a minus: how early");

/// One flow's flag.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    /// The flag is up so long before a handoff, and for so long.
    lead: Nanos,
    duration: Nanos,
    /// How late the schedule has a handoff, less [`MOST_ERROR`], so that it is not negative.
    error: Nanos,
    /// When the flag goes up, and when it goes down.
    up: Option<Nanos>,
    down: Option<Nanos>,
}

impl Schedule {
    pub(crate) const fn new(lead: Nanos, duration: Nanos) -> Self {
        Self { lead, duration, error: MOST_ERROR, up: None, down: None }
    }

    /// Takes the error, `200ms`, `-0.2s`; what was expected if it is none.
    pub(crate) fn set_error(&mut self, text: &str) -> Result<(), &'static str> {
        let (early, time) = text.strip_prefix('-').map_or((false, text), |time| (true, time));
        let error =
            Kind::Us.parse(time).map(|us| Nanos::from(us) * 1000).filter(|&error| error <= MOST_ERROR);
        let error = error.ok_or("a time up to 1s such as 200ms or -0.5s")?;
        self.error = if early { MOST_ERROR - error } else { MOST_ERROR + error };
        Ok(())
    }

    pub(crate) fn errs_as(&self, other: &Self) -> bool {
        self.error == other.error
    }

    /// How long before each handoff it is read: when the flag goes up; where the schedule is late by more than the
    /// flag's lead, at the handoff.
    pub(crate) fn read_before(&self) -> Nanos {
        (self.lead + MOST_ERROR).saturating_sub(self.error)
    }

    /// It has a handoff that begins at `at`, give or take the error.
    pub(crate) fn read(&mut self, at: Nanos) {
        self.up = Some((at + self.error).saturating_sub(self.lead + MOST_ERROR));
    }

    #[inline]
    pub(crate) fn deadline(&self) -> Option<Nanos> {
        match (self.up, self.down) {
            (Some(up), Some(down)) => Some(up.min(down)),
            (up, down) => up.or(down),
        }
    }

    /// The deadline has come: whether the flag goes up.
    pub(crate) fn rises(&mut self, now: Nanos) -> bool {
        let rises = self.up.is_some_and(|up| up <= now);
        if rises {
            self.up = None;
        }
        self.down = rises.then_some(now + self.duration);
        rises
    }
}
