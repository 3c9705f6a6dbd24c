//! Freeze-TCP (Goff and others 2000, as Wu, Chan and Ananda 2008 describe it; algorithms.md, 4.5).
//!
//! The mobile closes its window before the link goes and opens it when the new one is there. The sender is regular TCP.
//! A closed window makes it wait with the cwnd that it has, if its stack does what BSD does (`persist_with_outstanding`
//! of the stack profile).

use crate::mobile::{Lead, MobileRule, WindowRule};
use crate::notice::Notice;
use crate::scheme::{Entry, HandoffScheme, SchemeError, SettingInfo, Settings, described, set_all, time};
use segue_policy::Kind;
use segue_tcp::{Advice, Advisor, View};

/// Freeze-TCP: a rule for the mobile.
#[derive(Clone, Debug)]
pub struct Freeze {
    rule: WindowRule,
}

/// One round trip, none missed, three ACKs (9.22).
impl Default for Freeze {
    fn default() -> Self {
        Self { rule: WindowRule { closes: Lead::PathRtt, missed: 0, reopen_acks: 3 } }
    }
}

/// Nobody advises the sender.
impl Advisor for Freeze {}

/// `rtt`, or a time.
fn lead(value: &str) -> Option<Lead> {
    match value {
        "rtt" => Some(Lead::PathRtt),
        _ => time(value).map(Lead::Time),
    }
}

impl Freeze {
    const SETTINGS: Settings<3> = [
        (
            "warn",
            "rtt",
            "how long before a disconnection the window closes: a time, or rtt, that of the path",
        ),
        ("missed", "0", "every so many handoffs one is not foreseen, and the window stays open; 0: all are"),
        ("reopen-acks", "3", "copies of the last ACK that open the window on completion"),
    ];

    fn set(&mut self, key: &str, value: &str) -> Option<Result<(), &'static str>> {
        let count = || Kind::Count.parse(value).ok_or(Kind::Count.expected());
        let rule = &mut self.rule;
        Some(match key {
            "warn" => {
                lead(value).map(|lead| rule.closes = lead).ok_or("rtt, or a time such as 100ms or 0.1s")
            }
            "missed" => count().map(|n| rule.missed = n),
            "reopen-acks" => count().map(|n| rule.reopen_acks = n),
            _ => return None,
        })
    }
}

impl HandoffScheme for Freeze {
    const ENTRIES: &'static [Entry] = &[Entry {
        name: "freeze",
        stack: "freebsd5-newreno",
        summary: "Freeze-TCP: the mobile closes its window before the link goes",
        source: "Goff and others 2000; Wu, Chan and Ananda 2008; segue explain 4",
    }];

    fn build(name: &str, settings: &[(String, String)]) -> Result<Self, SchemeError> {
        let mut made = Self::default();
        set_all((name, &Self::SETTINGS), settings, |key, value| made.set(key, value))?;
        Ok(made)
    }

    fn settings(_name: &str) -> Vec<SettingInfo> {
        described(&Self::SETTINGS, "4.5, 9.22")
    }

    fn mobile(&self) -> MobileRule {
        MobileRule { announces: false, window: Some(self.rule), ..MobileRule::default() }
    }

    fn on_notice(&mut self, _view: &View, _notice: &Notice) -> Advice {
        Advice::default()
    }
}
