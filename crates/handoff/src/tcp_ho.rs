//! TCP-HO (Wu, Chan and Ananda 2008; algorithms.md, section 4) and the two variants that its paper
//! compares with it (4.5).
//!
//! The decisions are `policy/tcp_ho.h`, written so that a kernel sender can run them, too; here they meet the
//! simulator's sender.

use crate::kernel::{self, Enactment, bad_setting, micros, sender};
use crate::notice::Notice;
use crate::on_linux::{Decides, OnLinux, hears_notices, tells_programs};
use crate::scheme::{Entry, HandoffScheme, SchemeError, SettingInfo};
use segue_policy::rules::{Rule, TCP_HO_RULES};
use segue_policy::{Action, Sender, TCP_HO_SETTINGS, TcpHo as Policy, TcpHoSettings, Variant};
use segue_tcp::{Advice, Advisor, Nanos, View};

/// One flow's TCP-HO.
#[derive(Clone, Debug)]
pub struct TcpHo {
    settings: TcpHoSettings,
    enactment: Enactment,
    policy: Policy,
    linux: OnLinux,
    /// The rules behind the last answer, as bits.
    applied: u32,
}

impl TcpHo {
    fn answer(&mut self, action: &Action) -> Advice {
        self.applied = action.rules;
        self.enactment.advice(action)
    }
}

impl Decides for TcpHo {
    fn decide(&mut self, tcp: &Sender, path: &Notice, _link: &Notice) -> (Action, Option<u32>) {
        (self.policy.on_notice(&self.settings, tcp, path), None)
    }

    fn at_fast_retransmit(&mut self, tcp: &Sender) -> Action {
        self.policy.on_fast_retransmit(&self.settings, tcp)
    }
}

/// From a notice to the first congestion after it; before and beyond the stack is on its own.
impl Advisor for TcpHo {
    #[inline]
    fn listening(&self) -> bool {
        self.policy.is_listening()
    }

    fn on_new_ack(&mut self, _view: &View) -> Advice {
        self.answer(&Action::NOTHING)
    }

    fn on_dup_ack(&mut self, _view: &View) -> Advice {
        self.answer(&Action::NOTHING)
    }

    fn on_timeout(&mut self, view: &View) -> Advice {
        let action = self.policy.on_timeout(&self.settings, &sender(view));
        self.answer(&action)
    }

    fn on_rtt_sample(&mut self, _view: &View, _seq: u32, rtt: Nanos) -> Advice {
        let action = self.policy.on_rtt_sample(&self.settings, micros(rtt));
        self.answer(&action)
    }

    tells_programs!();
}

const STACK: &str = "freebsd5-newreno";
const SOURCE: &str = "Wu, Chan and Ananda 2008; segue explain 4";

impl HandoffScheme for TcpHo {
    const ENTRIES: &'static [Entry] = &[
        Entry {
            name: "tcp-ho",
            stack: STACK,
            summary: "after a timeout: sends at once, ssthresh = new bandwidth x RTT",
            source: SOURCE,
        },
        Entry {
            name: "tcp-ho-immediate",
            stack: STACK,
            summary: "TCP-HO that sends at once and leaves ssthresh alone",
            source: SOURCE,
        },
        Entry {
            name: "tcp-ho-aggressive",
            stack: STACK,
            summary: "TCP-HO that sends a whole window at once",
            source: SOURCE,
        },
    ];

    fn build(name: &str, settings: &[(String, String)]) -> Result<Self, SchemeError> {
        let mut made = TcpHoSettings::new(match name {
            "tcp-ho-immediate" => Variant::IMMEDIATE,
            "tcp-ho-aggressive" => Variant::AGGRESSIVE,
            _ => Variant::TCP_HO,
        });
        let enactment = Enactment::chosen(name, settings)?;
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

    fn settings(_name: &str) -> Vec<SettingInfo> {
        kernel::infos(TCP_HO_SETTINGS, |_| None)
    }

    fn applied(&self) -> Vec<Rule> {
        kernel::named(TCP_HO_RULES, self.applied)
    }

    hears_notices!();
}
