//! `near`: one clock of the new link for all flows of a mobile (docs/reference/near.md).
//!
//! A flow's scheme does nothing by itself: all flows of a host send together, by a [`Claim`]. On Linux nobody can choose
//! the packet. There each flow has its part of the path as its window, and its part of the link's rate as its pace
//! (section 8).

use crate::claim::{Claim, Distortion};
use crate::group::Group;
use crate::kernel::{self, ENACT, Enactment, sender};
use crate::mobile::{Lead, MobileRule};
use crate::notice::Notice;
use crate::on_linux::{Decides, OnLinux, follows_programs};
use crate::scheme::{Entry, HandoffScheme, SchemeError, SettingInfo};
use segue_policy::headers::{self, Flow};
use segue_policy::rules::{NEAR_RULES, Rule};
use segue_policy::{Action, PACKET, Sender};
use segue_tcp::{Advice, Advisor, Nanos, View};

/// One flow's part in `near`.
#[derive(Clone, Debug)]
pub struct Near {
    distortion: Distortion,
    /// How long before a handoff without an outage the mobile announces it.
    announce: Option<Lead>,
    enactment: Enactment,
    /// `policy/near_flow.h`: the rules for one flow alone.
    flow: Flow,
    linux: OnLinux,
    /// The rules behind the last answer, as bits.
    applied: u32,
}

impl Near {
    fn answer(&mut self, action: &Action) -> Advice {
        self.applied = action.rules;
        self.enactment.advice(action)
    }
}

impl Decides for Near {
    fn decide(&mut self, tcp: &Sender, path: &Notice, _link: &Notice) -> (Action, Option<u32>) {
        (self.flow.on_notice(tcp, &self.distortion.of(path)), None)
    }

    fn at_fast_retransmit(&mut self, tcp: &Sender) -> Action {
        self.flow.on_fast_retransmit(tcp)
    }

    fn at_expected(&mut self, tcp: &Sender, link: &Notice) -> Action {
        self.flow.on_expected(tcp, &self.distortion.of(link))
    }
}

impl Advisor for Near {
    #[inline]
    fn listening(&self) -> bool {
        self.flow.listens()
    }

    fn on_new_ack(&mut self, view: &View) -> Advice {
        let action = self.flow.on_new_ack(&sender(view));
        self.answer(&action)
    }

    /// No rule is behind it.
    fn on_dup_ack(&mut self, _view: &View) -> Advice {
        self.answer(&Action::NOTHING)
    }

    /// No rule is behind it.
    fn on_rtt_sample(&mut self, _view: &View, _seq: u32, _rtt: Nanos) -> Advice {
        self.answer(&Action::NOTHING)
    }

    fn on_fast_retransmit(&mut self, view: &View) -> Advice {
        let action = self.at_fast_retransmit(&sender(view));
        self.answer(&action)
    }

    fn on_timeout(&mut self, view: &View) -> Advice {
        let action = self.flow.on_timeout(&sender(view));
        self.answer(&action)
    }

    fn on_cut(&mut self, view: &View) -> Advice {
        self.linux.on_cut(view, self.flow.listens())
    }

    #[inline]
    fn claims(&self) -> bool {
        self.linux.claims()
    }

    fn before_sending(&mut self, view: &View) -> Advice {
        self.linux.before_sending(view, &mut self.flow)
    }

    follows_programs!();
}

/// Settings that make notices err: name, and what of the notice.
const ERRS: [(&str, &str); 3] = [
    ("told-rate", "what a notice says of the new link's rate, times this"),
    ("told-delay", "what a notice says of the new link's delay, times this"),
    ("told-flows", "what a notice says of N, times this"),
];

/// Setting of the mobile's announcement.
const ANNOUNCE: &str = "announce";
/// Longest time from an announcement to the handoff, as the policy expects it (8.13).
const LONGEST: Nanos = 1_000_000_000;

impl Near {
    fn announcement(name: &str, value: &str, enactment: Enactment) -> Result<Option<Lead>, SchemeError> {
        let error = |problem| Err(SchemeError::Setting { scheme: name.to_string(), problem });
        if value == "off" {
            return Ok(None);
        }
        let time = segue_words::quantity::setting_time(value).filter(|&time| time <= LONGEST).map(Lead::Time);
        let Some(lead) = time.or_else(|| (value == "auto").then_some(Lead::HalfPathRtt)) else {
            let problem =
                format!("`{value}` is no value of {ANNOUNCE}; expected off, auto, or a time up to 1s");
            return error(problem);
        };
        if enactment == Enactment::Paper {
            return error(format!("{ANNOUNCE} needs {ENACT}=linux, as on linux-6.12; expected that, or off"));
        }
        Ok(Some(lead))
    }
}

impl HandoffScheme for Near {
    const ENTRIES: &'static [Entry] = &[Entry {
        name: "near",
        stack: "ns2-sack1",
        summary: "one clock of the new link for all flows of a mobile",
        source: "Segue; segue explain near",
    }];

    fn build(name: &str, settings: &[(String, String)]) -> Result<Self, SchemeError> {
        let enactment = Enactment::chosen(name, settings)?;
        let mut distortion = Distortion::default();
        let mut announce = None;
        for (key, value) in kernel::knobs(settings) {
            if key == ANNOUNCE {
                announce = Self::announcement(name, value, enactment)?;
                continue;
            }
            let field = match key.as_str() {
                "told-rate" => &mut distortion.rate,
                "told-delay" => &mut distortion.delay,
                "told-flows" => &mut distortion.flows,
                _ => {
                    let names = [ERRS[0].0, ERRS[1].0, ERRS[2].0, ANNOUNCE, ENACT];
                    return Err(SchemeError::no_such_setting(name, key, &names));
                }
            };
            let factor = value.parse::<f64>().ok().filter(|factor| (0.01..=100.0).contains(factor));
            let Some(factor) = factor else {
                let problem = format!("`{value}` is no value of {key}; expected 0.01 to 100");
                return Err(SchemeError::Setting { scheme: name.to_string(), problem });
            };
            *field = (factor * 1000.0).round() as u32;
        }
        Ok(Self {
            distortion,
            announce,
            enactment,
            flow: headers::near().start(),
            linux: OnLinux::default(),
            applied: 0,
        })
    }

    fn settings(_name: &str) -> Vec<SettingInfo> {
        let info = |(name, meaning)| SettingInfo { name, default: "1".into(), section: "near.md", meaning };
        let announced = SettingInfo {
            name: ANNOUNCE,
            default: "off".into(),
            section: "near.md",
            meaning: "off, or how long before a make-before-break handoff the mobile announces it over the old link, with enact=linux",
        };
        ERRS.map(info).into_iter().chain([announced, Enactment::info()]).collect()
    }

    fn claim(&self) -> Option<Claim> {
        (self.enactment == Enactment::Paper).then(|| Claim::distorted(self.distortion))
    }

    fn meet(&mut self, group: &mut Group) {
        self.linux.meet(group);
    }

    fn asks_icmp(&self) -> bool {
        self.linux.asks_icmp()
    }

    /// 8.6
    fn mobile(&self) -> MobileRule {
        MobileRule {
            spaces: self.enactment == Enactment::Linux,
            expects: self.announce,
            ..MobileRule::default()
        }
    }

    /// On paper all flows' claim hears it.
    fn on_notice(&mut self, view: &View, notice: &Notice) -> Advice {
        if self.enactment == Enactment::Paper {
            return Advice::default();
        }
        if view.kernel.is_some() {
            let mut linux = std::mem::take(&mut self.linux);
            let advice = linux.on_notice(view, notice, self);
            self.applied = linux.applied;
            self.linux = linux;
            return advice;
        }
        // Nobody asks such a stack before packets leave: its cwnd holds what the old link does, too.
        let tcp = sender(view);
        let (mut action, _) = self.decide(&tcp, notice, notice);
        if tcp.in_rto_recovery == 0 {
            action.cwnd = action.cwnd.saturating_add(tcp.flight * PACKET);
        }
        self.answer(&self.enactment.believed(&tcp, notice, action))
    }

    /// 8.13
    fn expect(&mut self, view: &View, notice: &Notice) {
        if self.enactment == Enactment::Linux {
            self.linux.expect(view, notice);
        }
    }

    fn pend(&mut self, view: &View, notice: &Notice) -> bool {
        self.enactment == Enactment::Linux && self.linux.pend(view, notice)
    }

    fn pending(&self) -> Option<Notice> {
        self.linux.pending()
    }

    fn applied(&self) -> Vec<Rule> {
        kernel::named(NEAR_RULES, self.applied)
    }
}
