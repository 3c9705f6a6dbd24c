//! Regular TCP: a sender that receives no notice. The baselines of the papers, one per stack.

use crate::mobile::MobileRule;
use crate::notice::Notice;
use crate::scheme::{Entry, HandoffScheme, SchemeError, SettingInfo};
use segue_tcp::linux::cc::CcName;
use segue_tcp::{Advice, Advisor, View};

/// No scheme.
#[derive(Clone, Debug, Default)]
pub struct Regular;

/// The congestion control that a name of regular TCP stands for, on stacks that have a choice.
pub fn control(name: &str) -> Option<CcName> {
    CcName::named(name).filter(|_| Regular::matches(name))
}

impl Advisor for Regular {}

impl HandoffScheme for Regular {
    const IS_REGULAR: bool = true;
    const ENTRIES: &'static [Entry] = &[
        Entry {
            name: "sack",
            stack: "ns2-sack1",
            summary: "regular TCP with SACK",
            source: "Daniel and Kojo 2008, 2009",
        },
        Entry {
            name: "newreno",
            stack: "freebsd5-newreno",
            summary: "regular NewReno",
            source: "Wu, Chan and Ananda 2008",
        },
        Entry { name: "reno", stack: "inet-reno", summary: "regular Reno", source: "Espi and others 2010" },
        Entry {
            name: "cubic",
            stack: "linux-6.12/cubic",
            summary: "regular TCP of Linux with CUBIC",
            source: "Linux 6.12; RFC 9438",
        },
        Entry {
            name: "bbr",
            stack: "linux-6.12/bbr",
            summary: "regular TCP of Linux with BBR version 1",
            source: "Linux 6.12",
        },
        Entry {
            name: "bbr3",
            stack: "linux-6.12/bbr3",
            summary: "regular TCP of Linux with BBR version 3, not validated against a kernel",
            source: "draft-ietf-ccwg-bbr",
        },
    ];

    fn build(name: &str, settings: &[(String, String)]) -> Result<Self, SchemeError> {
        match settings.first() {
            Some((key, _)) => Err(SchemeError::no_such_setting(name, key, &[])),
            None => Ok(Self),
        }
    }

    fn settings(_name: &str) -> Vec<SettingInfo> {
        Vec::new()
    }

    /// Nobody would listen.
    fn mobile(&self) -> MobileRule {
        MobileRule { announces: false, ..MobileRule::default() }
    }

    fn on_notice(&mut self, _view: &View, _notice: &Notice) -> Advice {
        Advice::default()
    }
}
