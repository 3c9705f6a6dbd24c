//! Enhanced TCP: algorithms A1 to A5 (Daniel and Kojo 2008; algorithms.md, section 2) and its
//! multi-flow versions v0 and v1 (Daniel and Kojo 2009; section 3).
//!
//! The decisions are `policy/etcp.h`, written so that a kernel sender can run them, too; here they meet the
//! simulator's sender: its view goes in, its advice comes out.

use crate::notice::Notice;
use crate::scheme::{Entry, HandoffScheme, SchemeError, SettingInfo};
use segue_policy::rules::{ETCP_RULES, Rule};
use segue_policy::{
    Action, Algorithms, Etcp as Policy, SETTINGS, Sender, Setting, SettingError, Settings, What,
};
use segue_tcp::advice::MinRto;
use segue_tcp::{Advice, Advisor, View};

/// One flow's Enhanced TCP.
#[derive(Clone, Debug)]
pub struct Etcp {
    settings: Settings,
    policy: Policy,
    /// The rules behind the last answer, as bits.
    applied: u32,
}

impl Etcp {
    fn answer(&mut self, action: &Action) -> Advice {
        self.applied = action.rules;
        advice(action)
    }
}

/// The sender as the policy sees it.
fn sender(view: &View) -> Sender {
    Sender {
        snd_una: view.snd_una,
        snd_max: view.snd_max,
        flight: view.flight,
        cwnd: view.cwnd,
        ssthresh: view.ssthresh,
        rto_us: (view.rto / 1000) as u32,
        ssthresh_saved: view.ssthresh_saved,
        in_fast_recovery: u8::from(view.in_fast_recovery),
        in_rto_recovery: u8::from(view.in_rto_recovery),
        pad: [0; 2],
    }
}

/// The policy's action as advice to the simulator's sender.
fn advice(action: &Action) -> Advice {
    let asked = |what| action.has(what);
    Advice {
        reinit_rtt: asked(What::REINIT_RTT),
        min_rto: asked(What::SET_MIN_RTO).then(|| match action.min_rto_us {
            0 => MinRto::Own,
            us => MinRto::AtLeast(u64::from(us) * 1000),
        }),
        cwnd: asked(What::SET_CWND).then_some(action.cwnd),
        ssthresh: asked(What::SET_SSTHRESH).then_some(action.ssthresh),
        dupthresh: asked(What::SET_DUPTHRESH).then_some(action.dupthresh),
        clear_backoff: asked(What::CLEAR_BACKOFF),
        rearm_timer: asked(What::REARM_TIMER),
        extend_timer: asked(What::EXTEND_TIMER),
        retransmit_head: asked(What::RETRANSMIT_HEAD),
        keep_window: asked(What::KEEP_WINDOW),
        keep_cwnd: asked(What::KEEP_CWND),
        keep_ssthresh: asked(What::KEEP_SSTHRESH),
        hold_holes: asked(What::HOLD_HOLES),
        resume_recovery: asked(What::RESUME_RECOVERY),
        send_new: asked(What::SEND_NEW),
        ignore_sample: asked(What::IGNORE_SAMPLE),
    }
}

impl Advisor for Etcp {
    #[inline]
    fn listening(&self) -> bool {
        self.policy.is_active()
    }

    fn on_dsack(&mut self, left: u32, right: u32) {
        if self.policy.is_active() {
            self.policy.on_dsack(left, right);
        }
    }

    fn on_new_ack(&mut self, view: &View) -> Advice {
        let action = self.policy.on_new_ack(&self.settings, &sender(view), false);
        self.answer(&action)
    }

    fn on_dup_ack(&mut self, view: &View) -> Advice {
        let action = self.policy.on_dup_ack(&self.settings, &sender(view));
        self.answer(&action)
    }

    fn on_fast_retransmit(&mut self, view: &View) -> Advice {
        let action = self.policy.on_fast_retransmit(&self.settings, &sender(view), view.snd_una);
        self.answer(&action)
    }

    fn on_timeout(&mut self, view: &View) -> Advice {
        let action = self.policy.on_timeout(&self.settings, &sender(view));
        self.answer(&action)
    }

    fn on_rtt_sample(&mut self, view: &View, seq: u32) -> Advice {
        let action = self.policy.on_rtt_sample(&self.settings, &sender(view), seq);
        self.answer(&action)
    }
}

/// Where both papers start from.
const STACK: &str = "ns2-sack1";
const PAPER_2008: &str = "Daniel and Kojo 2008; algorithms.md, section 2";
const PAPER_2009: &str = "Daniel and Kojo 2009; algorithms.md, section 3";

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
            SettingError::Unknown { word, expected, nearest } => SchemeError::Unknown {
                name: word.to_string(),
                expected: expected.to_string(),
                nearest: Some(nearest.to_string()),
            },
            other => SchemeError::Setting { scheme: name.to_string(), problem: other.to_string() },
        })?;
        for (key, value) in settings {
            made.set(key, value).map_err(|error| SchemeError::Setting {
                scheme: name.to_string(),
                problem: error.to_string(),
            })?;
        }
        Ok(Self { settings: made, policy: Policy::default(), applied: 0 })
    }

    fn settings(name: &str) -> Vec<SettingInfo> {
        let own = Settings::adopted(name).ok();
        let default = |setting: &Setting| own.as_ref().and_then(|own| own.get(setting.name).ok());
        SETTINGS
            .iter()
            .map(|s| SettingInfo {
                name: s.name,
                default: default(s).unwrap_or_else(|| s.default_text()),
                section: s.section,
                meaning: s.meaning,
            })
            .collect()
    }

    /// Figure 3 needs to learn that its retransmission was needless (3.3 (d)).
    fn needs_dsack(&self) -> bool {
        self.settings.algorithms.has(Algorithms::FIG3)
    }

    fn applied(&self) -> Vec<Rule> {
        ETCP_RULES.iter().filter(|rule| self.applied & rule.bit != 0).copied().collect()
    }

    fn on_notice(&mut self, view: &View, notice: &Notice) -> Advice {
        let action = self.policy.on_notice(&self.settings, &sender(view), notice);
        self.answer(&action)
    }
}
