//! `near`: one clock of the new link for all flows of a mobile (docs/reference/near.md).
//!
//! A flow's scheme does nothing by itself: all flows of a host send together, by a [`Claim`].

use crate::claim::{Claim, Distortion};
use crate::notice::Notice;
use crate::scheme::{Entry, HandoffScheme, SchemeError, SettingInfo};
use segue_tcp::{Advice, Advisor, View};

/// One flow's part in `near`.
#[derive(Clone, Debug, Default)]
pub struct Near {
    distortion: Distortion,
}

impl Advisor for Near {}

/// Settings that make notices err: name, and what of the notice.
const ERRS: [(&str, &str); 3] = [
    ("told-rate", "what a notice says of the new link's rate, times this"),
    ("told-delay", "what a notice says of the new link's delay, times this"),
    ("told-flows", "what a notice says of N, times this"),
];

impl HandoffScheme for Near {
    const ENTRIES: &'static [Entry] = &[Entry {
        name: "near",
        stack: "ns2-sack1",
        summary: "one clock of the new link for all flows of a mobile",
        source: "Segue; near.md",
    }];

    fn build(name: &str, settings: &[(String, String)]) -> Result<Self, SchemeError> {
        let mut distortion = Distortion::default();
        for (key, value) in settings {
            let field = match key.as_str() {
                "told-rate" => &mut distortion.rate,
                "told-delay" => &mut distortion.delay,
                "told-flows" => &mut distortion.flows,
                _ => return Err(SchemeError::no_such_setting(name, key, &ERRS.map(|(key, _)| key))),
            };
            let factor = value.parse::<f64>().ok().filter(|factor| (0.01..=100.0).contains(factor));
            let Some(factor) = factor else {
                let problem = format!("'{value}' is no value of {key}; expected 0.01 to 100");
                return Err(SchemeError::Setting { scheme: name.to_string(), problem });
            };
            *field = (factor * 1000.0).round() as u32;
        }
        Ok(Self { distortion })
    }

    fn settings(_name: &str) -> Vec<SettingInfo> {
        let info = |(name, meaning)| SettingInfo { name, default: "1".into(), section: "near.md", meaning };
        ERRS.map(info).into()
    }

    fn claim(&self) -> Option<Claim> {
        Some(Claim::distorted(self.distortion))
    }

    /// The claim hears it, too, and silences the flow's TCP.
    fn on_notice(&mut self, _view: &View, _notice: &Notice) -> Advice {
        Advice::default()
    }
}
