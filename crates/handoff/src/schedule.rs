//! A schedule of handoffs at the sender, as `satcp` and `leocc` have it. A flag goes up some time before each handoff,
//! and comes down some time later. The schedule may be wrong. That of `leocc` also has the regular reconfigurations of
//! the link, its own clock: the link's, unless the user gives one.

use crate::clock::Clock;
use crate::mobile::MobileRule;
use crate::notice::Notice;
use crate::scheme::{
    Entry, HandoffScheme, Needs, SchemeError, SettingInfo, Settings, described, set_all, time,
};
use segue_tcp::linux::cc::CcName;
use segue_tcp::{Advice, Advisor, Nanos, View};
use std::marker::PhantomData;

pub(crate) const MS: Nanos = 1_000_000;
/// The schedule may err by so much.
const MOST_ERROR: Nanos = 1_000 * MS;

/// The setting of its error: key, default, meaning.
const ERROR: (&str, &str, &str) =
    ("schedule-error", "0s", "how late the schedule has a handover, up to 1s; with a minus: how early");

/// The setting of its clock.
const CLOCK: (&str, &str, &str) = (
    "reconfigurations",
    "link",
    "the clock beside the handoffs: that of the link, as `reconfigure` has it; `off`; or EVERY@FIRST such as 15s@12s",
);
/// Between two reconfigurations, as for links.
const EVERY: std::ops::RangeInclusive<Nanos> = 1_000 * MS..=3_600_000 * MS;

/// The clock that a schedule goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClockOf {
    Link,
    User(Option<Clock>),
}

impl ClockOf {
    fn parse(text: &str) -> Result<Self, &'static str> {
        match text {
            "link" => Ok(Self::Link),
            "off" => Ok(Self::User(None)),
            _ => {
                let clock = text.split_once('@').and_then(|(every, first)| {
                    let every = time(every).filter(|every| EVERY.contains(every))?;
                    Some(Clock { every, first: time(first).filter(|first| *first <= *EVERY.end())? })
                });
                let expected = "link, off, or EVERY@FIRST such as 15s@12s with 1s to 1h between two";
                clock.map(|clock| Self::User(Some(clock))).ok_or(expected)
            }
        }
    }
}

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

    /// Whether its schedule has the link's regular reconfigurations, too.
    const HAS_CLOCK: bool;

    /// Advice to the control when the flag goes up or down.
    fn advice(up: bool) -> Advice;
}

/// One flow's scheme.
#[derive(Clone, Debug)]
pub struct Scheduled<F> {
    schedule: Schedule,
    which: PhantomData<F>,
}

const SETTINGS: Settings<1> = [ERROR];
const WITH_CLOCK: Settings<2> = [ERROR, CLOCK];

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
        let set = |key: &str, value: &str| match key {
            key if key == ERROR.0 => Some(schedule.set_error(value)),
            key if key == CLOCK.0 && F::HAS_CLOCK => {
                Some(ClockOf::parse(value).map(|clock| schedule.clock_of = clock))
            }
            _ => None,
        };
        match F::HAS_CLOCK {
            true => set_all((name, &WITH_CLOCK), settings, set)?,
            false => set_all((name, &SETTINGS), settings, set)?,
        }
        Ok(Self { schedule, which: PhantomData })
    }

    fn settings(_name: &str) -> Vec<SettingInfo> {
        match F::HAS_CLOCK {
            true => described(&WITH_CLOCK, F::SECTION),
            false => described(&SETTINGS, F::SECTION),
        }
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

    fn on_link(&mut self, now: Nanos, clock: Option<Clock>) {
        if F::HAS_CLOCK {
            self.schedule.go_by(now, clock);
        }
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
    clock_of: ClockOf,
    /// When the flag goes up next by the clock, and how long it is from there to the next.
    ticks: Option<(Nanos, Nanos)>,
}

impl Schedule {
    const fn new(lead: Nanos, duration: Nanos) -> Self {
        Self { lead, duration, error: MOST_ERROR, up: None, down: None, clock_of: ClockOf::Link, ticks: None }
    }

    /// Takes the error, `200ms`, `-0.2s`; what was expected if it is none.
    fn set_error(&mut self, text: &str) -> Result<(), &'static str> {
        let (early, lateness) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let error = time(lateness).filter(|&error| error <= MOST_ERROR);
        let error = error.ok_or("a time up to 1s such as 200ms or -0.5s")?;
        self.error = if early { MOST_ERROR - error } else { MOST_ERROR + error };
        Ok(())
    }

    fn errs_as(&self, other: &Self) -> bool {
        self.error == other.error && self.clock_of == other.clock_of
    }

    /// How long before each handoff it is read: when the flag goes up. Where the schedule is late by more than the
    /// flag's lead, it is read at the handoff.
    fn read_before(&self) -> Nanos {
        (self.lead + MOST_ERROR).saturating_sub(self.error)
    }

    /// It has a handoff that begins at `at`, give or take the error.
    fn read(&mut self, at: Nanos) {
        self.up = Some((at + self.error).saturating_sub(self.lead + MOST_ERROR));
    }

    /// From `now` on it goes by the clock of a link, or by the user's. Ticks that have begun by then are past.
    fn go_by(&mut self, now: Nanos, link: Option<Clock>) {
        let clock = match self.clock_of {
            ClockOf::Link => link,
            ClockOf::User(clock) => clock,
        };
        self.ticks = clock.map(|Clock { every, first }| {
            let every = every.max(1);
            let up = i128::from(first + self.error) - i128::from(self.lead + MOST_ERROR);
            // The first of its times after `now`.
            let to_next = i128::from(every) - (i128::from(now) - up).rem_euclid(i128::from(every));
            (now + to_next as Nanos, every)
        });
    }

    #[inline]
    fn deadline(&self) -> Option<Nanos> {
        let tick = self.ticks.map(|(at, _)| at);
        [self.up, self.down, tick].into_iter().flatten().min()
    }

    /// The deadline has come: whether the flag goes up.
    fn rises(&mut self, now: Nanos) -> bool {
        let mut rises = self.up.take_if(|up| *up <= now).is_some();
        if let Some((at, every)) = self.ticks.as_mut().filter(|(at, _)| *at <= now) {
            *at += *every;
            rises = true;
        }
        self.down = rises.then_some(now + self.duration);
        rises
    }
}
