//! Enhanced TCP: algorithms A1 to A5 (Daniel and Kojo 2008; algorithms.md, section 2) and its
//! multi-flow versions v0 and v1 (Daniel and Kojo 2009; section 3).
//!
//! The decisions are `policy/etcp.h`, written so that a kernel sender can run them, too; here they meet the
//! simulator's sender.

use crate::kernel::{self, Enactment, bad_setting, sender};
use crate::notice::Notice;
use crate::on_linux::{Decides, OnLinux, hears_notices, tells_programs};
use crate::scheme::{Entry, HandoffScheme, SchemeError, SettingInfo};
use segue_policy::rules::{ETCP_RULES, Rule};
use segue_policy::{Action, Algorithms, Etcp as Policy, SETTINGS, Sender, SettingError, Settings};
use segue_tcp::{Advice, Advisor, Nanos, View};

/// One flow's Enhanced TCP.
#[derive(Clone, Debug)]
pub struct Etcp {
    settings: Settings,
    enactment: Enactment,
    policy: Policy,
    linux: OnLinux,
    /// The rules behind the last answer, as bits.
    applied: u32,
}

impl Etcp {
    fn answer(&mut self, action: &Action) -> Advice {
        self.applied = action.rules;
        self.enactment.advice(action)
    }
}

impl Decides for Etcp {
    fn decide(&mut self, tcp: &Sender, path: &Notice, link: &Notice) -> (Action, Option<u32>) {
        let act = self.policy.on_notice(&self.settings, tcp, path);
        (act, Some(Policy::link_window(&self.settings, link)))
    }

    fn at_fast_retransmit(&mut self, tcp: &Sender) -> Action {
        self.policy.on_fast_retransmit(&self.settings, tcp)
    }
}

impl Advisor for Etcp {
    #[inline]
    fn listening(&self) -> bool {
        self.policy.is_active()
    }

    fn on_dsack(&mut self, left: u32, right: u32) {
        if self.policy.is_active() {
            self.policy.on_dsack(&self.settings, left, right);
        }
    }

    fn on_new_ack(&mut self, view: &View) -> Advice {
        let action = self.policy.on_new_ack(&self.settings, &sender(view));
        self.answer(&action)
    }

    fn on_dup_ack(&mut self, view: &View) -> Advice {
        let action = self.policy.on_dup_ack(&self.settings, &sender(view));
        self.answer(&action)
    }

    fn on_timeout(&mut self, view: &View) -> Advice {
        let action = self.policy.on_timeout(&self.settings, &sender(view));
        self.answer(&action)
    }

    fn on_rtt_sample(&mut self, view: &View, seq: u32, _rtt: Nanos) -> Advice {
        let action = self.policy.on_rtt_sample(&self.settings, &sender(view), seq);
        self.answer(&action)
    }

    tells_programs!();
}

/// Where both papers start from.
const STACK: &str = "ns2-sack1";
const PAPER_2008: &str = "Daniel and Kojo 2008; segue explain 2";
const PAPER_2009: &str = "Daniel and Kojo 2009; segue explain 3";

impl HandoffScheme for Etcp {
    const ENTRIES: &'static [Entry] = &[
        Entry { name: "etcp", stack: STACK, summary: "Enhanced TCP: A1 + A2 + A3 + A4", source: PAPER_2008 },
        Entry {
            name: "etcp-a5",
            stack: STACK,
            summary: "Enhanced TCP with A5 in place of A2",
            source: PAPER_2008,
        },
        Entry {
            name: "etcp-v0",
            stack: STACK,
            summary: "multi-flow Enhanced TCP with N = 1",
            source: PAPER_2009,
        },
        Entry { name: "etcp-v1", stack: STACK, summary: "multi-flow Enhanced TCP", source: PAPER_2009 },
        Entry { name: "etcp:a1", stack: STACK, summary: "A1 alone; any sum: etcp:a1+a3", source: PAPER_2008 },
        Entry { name: "etcp:a2", stack: STACK, summary: "A2 alone", source: PAPER_2008 },
        Entry { name: "etcp:a3", stack: STACK, summary: "A3 alone", source: PAPER_2008 },
        Entry { name: "etcp:a4", stack: STACK, summary: "A4 alone", source: PAPER_2008 },
        Entry { name: "etcp:a5", stack: STACK, summary: "A5 alone", source: PAPER_2008 },
        Entry { name: "etcp:fig1", stack: STACK, summary: "Figure 1 alone, with N", source: PAPER_2009 },
        Entry { name: "etcp:fig2", stack: STACK, summary: "Figure 2 alone, with N", source: PAPER_2009 },
        Entry { name: "etcp:fig3", stack: STACK, summary: "Figure 3 alone, with N", source: PAPER_2009 },
        Entry {
            name: "etcp:convergence",
            stack: STACK,
            summary: "RTO convergence alone (3.5)",
            source: PAPER_2009,
        },
    ];

    fn matches(name: &str) -> bool {
        name.starts_with("etcp")
    }

    fn build(name: &str, settings: &[(String, String)]) -> Result<Self, SchemeError> {
        let mut made = Settings::adopted(name).map_err(|error| match error {
            SettingError::Unknown { word, expected, hint, .. } => {
                SchemeError::Unknown { name: word, expected, hint }
            }
            other => bad_setting(name, &other),
        })?;
        let enactment = Enactment::chosen(name, settings)?;
        if enactment == Enactment::Linux {
            made = made.on_linux();
        }
        for (key, value) in kernel::knobs(settings) {
            made.set(key, value).map_err(|error| bad_setting(name, &error))?;
        }
        Ok(Self {
            settings: made,
            enactment,
            policy: Policy::default(),
            linux: OnLinux::default(),
            applied: 0,
        })
    }

    fn settings(name: &str) -> Vec<SettingInfo> {
        let own = Settings::adopted(name).ok();
        kernel::infos(SETTINGS, |key| own.as_ref()?.get(key).ok())
    }

    /// Figure 3 needs to learn that its retransmission was needless (3.3 (d)).
    fn needs_dsack(&self) -> bool {
        self.settings.algorithms.has(Algorithms::FIG3)
    }

    fn applied(&self) -> Vec<Rule> {
        kernel::named(ETCP_RULES, self.applied)
    }

    hears_notices!();
}
