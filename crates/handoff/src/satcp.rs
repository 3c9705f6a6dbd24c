//! SaTCP: a sender that knows the schedule of its satellite's handovers. From half a second before one on CUBIC is in a
//! hurry: a timeout leaves W_max, and the curve climbs back to it in a ninth of its time. ssthresh is cut as ever.
//!
//! Source: Cao and Zhang, SaTCP, INFOCOM 2023, by its published kernel module (LeoEM, `satcp.patch`, with
//! `status_report_delayed_shift` -0.5 s and `SATCP_DURATION` 2.3 s); the paper was not read. There the flag is the host's;
//! here each flow has one. algorithms.md, 11.4.

use crate::mobile::MobileRule;
use crate::notice::Notice;
use crate::scheme::{Entry, HandoffScheme, Needs, SchemeError, SettingInfo, Settings, described, set_all};
use segue_policy::Kind;
use segue_tcp::linux::cc::CcName;
use segue_tcp::{Advice, Advisor, Nanos, View};

const MS: Nanos = 1_000_000;
/// The flag is up so long before a handover, and for so long.
const LEAD: Nanos = 500 * MS;
const DURATION: Nanos = 2_300 * MS;
/// The schedule may err by so much.
const MOST_ERROR: Nanos = 1_000 * MS;

/// One flow's flag.
#[derive(Clone, Debug, Default)]
pub struct Satcp {
    /// How late the schedule has a handover, less [`MOST_ERROR`], so that it is not negative.
    error: Nanos,
    /// When the flag goes up, and when it goes down.
    up: Option<Nanos>,
    down: Option<Nanos>,
}

impl Satcp {
    const SETTINGS: Settings<1> =
        [("schedule-error", "0s", "how late the schedule has a handover, up to 1s; with a minus: how early")];

    /// `200ms`, `-0.2s`: ns from `-MOST_ERROR` on.
    fn error(text: &str) -> Option<Nanos> {
        let (early, time) = text.strip_prefix('-').map_or((false, text), |time| (true, time));
        let error = Nanos::from(Kind::Us.parse(time)?) * 1000;
        (error <= MOST_ERROR).then(|| if early { MOST_ERROR - error } else { MOST_ERROR + error })
    }
}

impl Advisor for Satcp {
    #[inline]
    fn deadline(&self) -> Option<Nanos> {
        match (self.up, self.down) {
            (Some(up), Some(down)) => Some(up.min(down)),
            (up, down) => up.or(down),
        }
    }

    fn on_deadline(&mut self, now: Nanos, _view: &View) -> Advice {
        let rises = self.up.is_some_and(|up| up <= now);
        if rises {
            self.up = None;
        }
        self.down = rises.then_some(now + DURATION);
        Advice { hurry: Some(rises), ..Advice::default() }
    }
}

impl HandoffScheme for Satcp {
    const ENTRIES: &'static [Entry] = &[Entry {
        name: "satcp",
        stack: "linux-6.12/cubic",
        summary: "CUBIC that climbs back in a ninth of the time around a handover of its schedule",
        source: "Cao and Zhang 2023, by its kernel module; algorithms.md, section 11",
    }];
    const NEEDS: Needs = Needs::Control(CcName::Cubic);

    fn build(name: &str, settings: &[(String, String)]) -> Result<Self, SchemeError> {
        let mut made = Self { error: MOST_ERROR, ..Self::default() };
        set_all((name, &Self::SETTINGS), settings, |key, value| match key {
            "schedule-error" => {
                let error = Self::error(value).ok_or("a time up to 1s such as 200ms or -0.5s");
                Some(error.map(|error| made.error = error))
            }
            _ => None,
        })?;
        Ok(made)
    }

    fn settings(_name: &str) -> Vec<SettingInfo> {
        described(&Self::SETTINGS, "11.4")
    }

    /// No notice: the sender has a schedule.
    fn mobile(&self) -> MobileRule {
        MobileRule { announces: false, ..MobileRule::default() }
    }

    /// When the flag goes up; where the schedule is late by more than the flag's lead, at the handover.
    fn schedule(&self) -> Option<Nanos> {
        Some((LEAD + MOST_ERROR).saturating_sub(self.error))
    }

    fn on_schedule(&mut self, at: Nanos) {
        self.up = Some((at + self.error).saturating_sub(LEAD + MOST_ERROR));
    }

    /// The flag rises on the way to the handover.
    fn remembers(&self) -> bool {
        true
    }

    fn remembers_as(&self, other: &Self) -> bool {
        self.error == other.error
    }

    fn on_notice(&mut self, _view: &View, _notice: &Notice) -> Advice {
        Advice::default()
    }
}
