//! A schedule of handoffs at the sender, as `satcp` and `leocc` have it: a flag goes up some time before each handoff,
//! and comes down some time later. The schedule may be wrong.

use crate::mobile::MobileRule;
use crate::notice::Notice;
use crate::scheme::{Entry, HandoffScheme, Needs, SchemeError, SettingInfo, Settings, described, set_all};
use segue_policy::Kind;
use segue_tcp::linux::cc::CcName;
use segue_tcp::{Advice, Advisor, Nanos, View};
use std::marker::PhantomData;

pub(crate) const MS: Nanos = 1_000_000;
/// The schedule may err by so much.
const MOST_ERROR: Nanos = 1_000 * MS;

/// The setting of its error: key, default, meaning.
const ERROR: (&str, &str, &str) =
    ("schedule-error", "0s", "how late the schedule has a handover, up to 1s; with a minus: how early");

/// Differences between the schemes that have a schedule.
pub trait Flag: Clone {
    /// Its name, stack and source.
    const ENTRY: Entry;
    /// The control that heeds the flag.
    const CONTROL: CcName;
    /// Section of algorithms.md.
    const SECTION: &'static str;
    /// The flag is up so long before a handoff, and for so long.
    const LEAD: Nanos;
    /// See `LEAD`.
    const DURATION: Nanos;

    /// What the control is told when the flag goes up or down.
    fn advice(up: bool) -> Advice;
}

/// One flow's scheme.
#[derive(Clone, Debug)]
pub struct Scheduled<F> {
    schedule: Schedule,
    which: PhantomData<F>,
}

const SETTINGS: Settings<1> = [ERROR];

impl<F: Flag> Advisor for Scheduled<F> {
    #[inline]
    fn deadline(&self) -> Option<Nanos> {
        self.schedule.deadline()
    }

    fn on_deadline(&mut self, now: Nanos, _view: &View) -> Advice {
        F::advice(self.schedule.rises(now))
    }
}

impl<F: Flag> HandoffScheme for Scheduled<F> {
    const ENTRIES: &'static [Entry] = &[F::ENTRY];
    const NEEDS: Needs = Needs::Control(F::CONTROL);

    fn build(name: &str, settings: &[(String, String)]) -> Result<Self, SchemeError> {
        let mut schedule = Schedule::new(F::LEAD, F::DURATION);
        set_all((name, &SETTINGS), settings, |key, value| {
            (key == ERROR.0).then(|| schedule.set_error(value))
        })?;
        Ok(Self { schedule, which: PhantomData })
    }

    fn settings(_name: &str) -> Vec<SettingInfo> {
        described(&SETTINGS, F::SECTION)
    }

    /// No notice: the sender has a schedule.
    fn mobile(&self) -> MobileRule {
        MobileRule { announces: false, ..MobileRule::default() }
    }

    fn schedule(&self) -> Option<Nanos> {
        Some(self.schedule.read_before())
    }

    fn on_schedule(&mut self, at: Nanos) {
        self.schedule.read(at);
    }

    /// The flag rises on the way to the handoff.
    fn remembers(&self) -> bool {
        true
    }

    fn remembers_as(&self, other: &Self) -> bool {
        self.schedule.errs_as(&other.schedule)
    }

    fn on_notice(&mut self, _view: &View, _notice: &Notice) -> Advice {
        Advice::default()
    }
}

/// One flow's flag.
#[derive(Clone, Debug)]
struct Schedule {
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
    const fn new(lead: Nanos, duration: Nanos) -> Self {
        Self { lead, duration, error: MOST_ERROR, up: None, down: None }
    }

    /// Takes the error, `200ms`, `-0.2s`; what was expected if it is none.
    fn set_error(&mut self, text: &str) -> Result<(), &'static str> {
        let (early, time) = text.strip_prefix('-').map_or((false, text), |time| (true, time));
        let error =
            Kind::Us.parse(time).map(|us| Nanos::from(us) * 1000).filter(|&error| error <= MOST_ERROR);
        let error = error.ok_or("a time up to 1s such as 200ms or -0.5s")?;
        self.error = if early { MOST_ERROR - error } else { MOST_ERROR + error };
        Ok(())
    }

    fn errs_as(&self, other: &Self) -> bool {
        self.error == other.error
    }

    /// How long before each handoff it is read: when the flag goes up; where the schedule is late by more than the
    /// flag's lead, at the handoff.
    fn read_before(&self) -> Nanos {
        (self.lead + MOST_ERROR).saturating_sub(self.error)
    }

    /// It has a handoff that begins at `at`, give or take the error.
    fn read(&mut self, at: Nanos) {
        self.up = Some((at + self.error).saturating_sub(self.lead + MOST_ERROR));
    }

    #[inline]
    fn deadline(&self) -> Option<Nanos> {
        match (self.up, self.down) {
            (Some(up), Some(down)) => Some(up.min(down)),
            (up, down) => up.or(down),
        }
    }

    /// The deadline has come: whether the flag goes up.
    fn rises(&mut self, now: Nanos) -> bool {
        let rises = self.up.is_some_and(|up| up <= now);
        if rises {
            self.up = None;
        }
        self.down = rises.then_some(now + self.duration);
        rises
    }
}
