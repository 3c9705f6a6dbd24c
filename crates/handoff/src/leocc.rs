//! LeoCC: a sender that knows the schedule of its satellite's reconfigurations. From 100 ms before one on the first ACK
//! has its congestion control, a BBR, measure the path anew: ProbeRtt, and then Startup without a memory.
//!
//! Source: SpaceNetLab/LeoCC (SIGCOMM 2025), by its published kernel module (`leocc/simulation/leocc.c`, `magic_offet` 100
//! ms); the paper was not read. The module takes a handover each 15 s of the clock; here the schedule has the handoffs.
//! The control is `crates/tcp/src/linux/cc/leocc.rs`. algorithms.md, 11.6.

use crate::mobile::MobileRule;
use crate::notice::Notice;
use crate::schedule::{self, MS, Schedule};
use crate::scheme::{Entry, HandoffScheme, Needs, SchemeError, SettingInfo, Settings, described, set_all};
use segue_tcp::linux::cc::CcName;
use segue_tcp::{Advice, Advisor, Nanos, View};

/// The flag is up so long before a reconfiguration, and until then.
const LEAD: Nanos = 100 * MS;

/// One flow's flag.
#[derive(Clone, Debug)]
pub struct Leocc(Schedule);

impl Leocc {
    const SETTINGS: Settings<1> = [schedule::ERROR];
}

impl Advisor for Leocc {
    #[inline]
    fn deadline(&self) -> Option<Nanos> {
        self.0.deadline()
    }

    fn on_deadline(&mut self, now: Nanos, _view: &View) -> Advice {
        Advice { reconfigures: Some(self.0.rises(now)), ..Advice::default() }
    }
}

impl HandoffScheme for Leocc {
    const ENTRIES: &'static [Entry] = &[Entry {
        name: "leocc",
        stack: "linux-6.12/leocc",
        summary: "LeoCC: a BBR that measures the path anew at a handover of its schedule",
        source: "SpaceNetLab/LeoCC 2025, by its kernel module; algorithms.md, section 11",
    }];
    const NEEDS: Needs = Needs::Control(CcName::Leocc);

    fn build(name: &str, settings: &[(String, String)]) -> Result<Self, SchemeError> {
        let mut schedule = Schedule::new(LEAD, LEAD);
        set_all((name, &Self::SETTINGS), settings, |key, value| {
            (key == schedule::ERROR.0).then(|| schedule.set_error(value))
        })?;
        Ok(Self(schedule))
    }

    fn settings(_name: &str) -> Vec<SettingInfo> {
        described(&Self::SETTINGS, "11.6")
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

    /// The flag rises on the way to the reconfiguration.
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
