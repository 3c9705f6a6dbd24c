//! Regular TCP: a sender that receives no notice. The baselines of the papers, one per stack.

use crate::mobile::MobileRule;
use crate::notice::Notice;
use crate::scheme::{Entry, HandoffScheme, SchemeError, SettingInfo};
use segue_tcp::{Advice, Advisor, View};

/// No scheme.
#[derive(Clone, Debug, Default)]
pub struct Regular;

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
