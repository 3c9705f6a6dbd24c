//! `rtt-jump`: a sender with BBR that sees by its round trips alone that the path has become longer. It then takes the
//! new round trip for the path's smallest. It hears no notice. It cannot see that a path has become shorter or slower.
//!
//! Source: the two detectors of quiche's BBR (`bbr2/rtt_jump_detector`, off by default), which only count. The use that
//! is made of them here, to replace `min_rtt`, is ours. algorithms.md, 11.5.

mod global_min;
mod hidden_markov;

use crate::mobile::MobileRule;
use crate::notice::Notice;
use crate::scheme::{Entry, HandoffScheme, Needs, SchemeError, SettingInfo, Settings, described, set_all};
use global_min::GlobalMin;
use hidden_markov::HiddenMarkov;
use segue_tcp::advice::KernelAdvice;
use segue_tcp::linux::cc::CcName;
use segue_tcp::{Advice, Advisor, Nanos, View};

/// A round trip as a detector hears it.
#[derive(Clone, Copy, Debug)]
struct Sample {
    now: Nanos,
    rtt: Nanos,
    /// The sender has found the path's rate: before that its own queue makes round trips long.
    is_full: bool,
}

#[derive(Clone, Debug)]
enum Detector {
    GlobalMin(GlobalMin),
    HiddenMarkov(HiddenMarkov),
}

/// One flow's detector.
#[derive(Clone, Debug)]
pub struct RttJump {
    detector: Detector,
    /// The multiple of the smallest round trip that is elevated, in 1/256.
    factor: u64,
    /// Since when round trips are longer than they were, and the smallest of them.
    rise: Option<Nanos>,
}

impl Default for RttJump {
    fn default() -> Self {
        Self { detector: Detector::GlobalMin(GlobalMin::default()), factor: 3 * 256, rise: None }
    }
}

impl RttJump {
    const SETTINGS: Settings<2> = [
        (
            "detector",
            "global-min",
            "global-min: a multiple of the smallest round trip; hmm: a hidden Markov model",
        ),
        ("jump-factor", "3", "that multiple, 1 to 100, for global-min"),
    ];

    fn set(&mut self, key: &str, value: &str) -> Option<Result<(), &'static str>> {
        Some(match key {
            "detector" => {
                let detector = match value {
                    "global-min" => Some(Detector::GlobalMin(GlobalMin::default())),
                    "hmm" => Some(Detector::HiddenMarkov(HiddenMarkov::default())),
                    _ => None,
                };
                detector.map(|detector| self.detector = detector).ok_or("global-min or hmm")
            }
            "jump-factor" => {
                let number = value.parse::<f64>().ok().filter(|number| (1.0..=100.0).contains(number));
                number.map(|number| self.factor = (number * 256.0).round() as u64).ok_or("1 to 100")
            }
            _ => return None,
        })
    }

    /// Whether this sample shows that the path has become longer, and whether it may belong to such a path.
    fn hears(&mut self, sample: Sample) -> (bool, bool) {
        match &mut self.detector {
            Detector::GlobalMin(global) => global.hears(sample, self.factor),
            Detector::HiddenMarkov(hidden) => hidden.hears(sample),
        }
    }
}

impl Advisor for RttJump {
    #[inline]
    fn listening(&self) -> bool {
        true
    }

    fn on_rtt_sample(&mut self, view: &View, _seq: u32, rtt: Nanos) -> Advice {
        let Some(tp) = view.kernel else { return Advice::default() };
        let (jumped, is_elevated) = self.hears(Sample { now: tp.now, rtt, is_full: tp.is_full });
        self.rise = is_elevated.then(|| self.rise.map_or(rtt, |least| least.min(rtt)));
        KernelAdvice { min_rtt: self.rise.filter(|_| jumped), ..KernelAdvice::default() }.into()
    }
}

impl HandoffScheme for RttJump {
    const ENTRIES: &'static [Entry] = &[Entry {
        name: "rtt-jump",
        stack: "linux-6.12/bbr",
        summary: "BBR that takes a lasting longer round trip for the path's smallest",
        source: "detectors of quiche's BBR; segue explain 11",
    }];
    const NEEDS: Needs = Needs::Control(CcName::Bbr);

    fn build(name: &str, settings: &[(String, String)]) -> Result<Self, SchemeError> {
        let mut made = Self::default();
        set_all((name, &Self::SETTINGS), settings, |key, value| made.set(key, value))?;
        let has_factor = settings.iter().any(|(key, _)| key == "jump-factor");
        if has_factor && matches!(made.detector, Detector::HiddenMarkov(_)) {
            let problem =
                "jump-factor has no meaning with detector=hmm; expected detector=global-min".to_string();
            return Err(SchemeError::Setting { scheme: name.to_string(), problem });
        }
        Ok(made)
    }

    fn settings(_name: &str) -> Vec<SettingInfo> {
        described(&Self::SETTINGS, "11.5")
    }

    /// Nobody would listen.
    fn mobile(&self) -> MobileRule {
        MobileRule { announces: false, ..MobileRule::default() }
    }

    fn remembers(&self) -> bool {
        true
    }

    fn remembers_as(&self, other: &Self) -> bool {
        std::mem::discriminant(&self.detector) == std::mem::discriminant(&other.detector)
            && self.factor == other.factor
    }

    /// It learns the path's round trips before the handoff.
    fn attends(&self) -> bool {
        true
    }

    fn on_notice(&mut self, _view: &View, _notice: &Notice) -> Advice {
        Advice::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use segue_tcp::linux::LinuxSender;
    use segue_tcp::profile::LINUX_6_12_BBR;

    const MS: Nanos = 1_000_000;

    /// The smallest round trip of the longer path is the new one, not that of the last sample.
    #[test]
    fn the_new_round_trip_is_the_smallest_since_the_rise() {
        let profile = LINUX_6_12_BBR;
        let view = LinuxSender::new(&profile, profile.kernel.expect("a kernel"), ()).view();
        let mut scheme = RttJump::default();
        let mut at = |ms: u64, rtt: u64| {
            let tp =
                view.kernel.map(|tp| segue_tcp::advice::KernelView { now: ms * MS, is_full: true, ..tp });
            scheme.on_rtt_sample(&View { kernel: tp, ..view }, 0, rtt * MS).kernel.min_rtt
        };
        assert_eq!([at(0, 50), at(10, 210), at(60, 50)], [None; 3], "one that is not elevated clears it");
        assert_eq!([at(100, 250), at(200, 220), at(240, 230)], [None; 3]);
        assert_eq!(at(260, 240), Some(220 * MS));
        assert_eq!([at(300, 240), at(900, 400)], [None; 2], "once");
    }

    #[test]
    fn bad_settings_are_refused() {
        for (key, value) in [("detector", "min"), ("jump-factor", "0.5"), ("jump-factor", "x")] {
            assert!(RttJump::build("rtt-jump", &[(key.into(), value.into())]).is_err(), "{key}={value}");
        }
    }

    /// In either order.
    #[test]
    fn the_model_has_no_factor() {
        let factor = ("jump-factor".to_string(), "4".to_string());
        for (detector, fits) in [("hmm", false), ("global-min", true)] {
            let detector = ("detector".to_string(), detector.to_string());
            for settings in [[detector.clone(), factor.clone()], [factor.clone(), detector]] {
                assert_eq!(RttJump::build("rtt-jump", &settings).is_ok(), fits, "{settings:?}");
            }
        }
    }
}
