//! SaTCP: a sender that knows the schedule of its satellite's handovers. From half a second before one on CUBIC is in a
//! hurry: a timeout leaves W_max, and the curve climbs back to it in a ninth of its time. ssthresh is cut as ever.
//!
//! Source: Cao and Zhang, SaTCP, INFOCOM 2023, by its published kernel module (LeoEM, `satcp.patch`, with
//! `status_report_delayed_shift` -0.5 s and `SATCP_DURATION` 2.3 s); the paper was not read. There the flag is the host's;
//! here each flow has one. algorithms.md, 11.4.

use crate::mobile::MobileRule;
use crate::notice::Notice;
use crate::schedule::{self, MS, Schedule};
use crate::scheme::{Entry, HandoffScheme, Needs, SchemeError, SettingInfo, Settings, described, set_all};
use segue_tcp::linux::cc::CcName;
use segue_tcp::{Advice, Advisor, Nanos, View};

/// The flag is up so long before a handover, and for so long.
const LEAD: Nanos = 500 * MS;
const DURATION: Nanos = 2_300 * MS;

/// One flow's flag.
#[derive(Clone, Debug)]
pub struct Satcp(Schedule);

impl Satcp {
    const SETTINGS: Settings<1> = [schedule::ERROR];
}

impl Advisor for Satcp {
    #[inline]
    fn deadline(&self) -> Option<Nanos> {
        self.0.deadline()
    }

    fn on_deadline(&mut self, now: Nanos, _view: &View) -> Advice {
        Advice { hurry: Some(self.0.rises(now)), ..Advice::default() }
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
        let mut schedule = Schedule::new(LEAD, DURATION);
        set_all((name, &Self::SETTINGS), settings, |key, value| {
            (key == schedule::ERROR.0).then(|| schedule.set_error(value))
        })?;
        Ok(Self(schedule))
    }

    fn settings(_name: &str) -> Vec<SettingInfo> {
        described(&Self::SETTINGS, "11.4")
    }

    /// No notice: the sender has a schedule.
    fn mobile(&self) -> MobileRule {
        MobileRule { announces: false, ..MobileRule::default() }
    }

    fn schedule(&self) -> Option<Nanos> {
        Some(self.0.read_before())
    }

    fn on_schedule(&mut self, at: Nanos) {
        self.0.read(at);
    }

    /// The flag rises on the way to the handover.
    fn remembers(&self) -> bool {
        true
    }

    fn remembers_as(&self, other: &Self) -> bool {
        self.0.errs_as(&other.0)
    }

    fn on_notice(&mut self, _view: &View, _notice: &Notice) -> Advice {
        Advice::default()
    }
}
