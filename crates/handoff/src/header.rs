//! A scheme whose sender is one header of `policy/` (docs/guide/tutorial.md): what such a scheme's own file need not
//! repeat.

use crate::kernel::{self, Enactment, micros, sender};
use crate::notice::Notice;
use crate::on_linux::{Decides, OnLinux, hears_notices, tells_programs};
use crate::scheme::{Entry, HandoffScheme, SchemeError, SettingInfo};
use segue_policy::headers::{Flow, Policy};
use segue_policy::{Action, Rule, Sender};
use segue_tcp::{Advice, Advisor, Nanos, View};
use std::marker::PhantomData;

/// Differences between the schemes that have one header each.
pub trait Header: Clone {
    /// Its name, stack and source.
    const ENTRY: Entry;
    /// Meanings of the bits of `segue_action.rules`.
    const RULES: &'static [Rule];

    /// Its header.
    fn policy() -> Policy;
}

/// One flow's scheme.
#[derive(Clone, Debug)]
pub struct OneHeader<H> {
    enactment: Enactment,
    flow: Flow,
    linux: OnLinux,
    /// The rules behind the last answer, as bits.
    applied: u32,
    which: PhantomData<H>,
}

impl<H: Header> OneHeader<H> {
    fn answer(&mut self, action: &Action) -> Advice {
        self.applied = action.rules;
        self.enactment.advice(action)
    }
}

impl<H: Header> Decides for OneHeader<H> {
    fn decide(&mut self, tcp: &Sender, path: &Notice, _link: &Notice) -> (Action, Option<u32>) {
        (self.flow.on_notice(tcp, path), None)
    }

    fn at_fast_retransmit(&mut self, tcp: &Sender) -> Action {
        self.flow.on_fast_retransmit(tcp)
    }
}

impl<H: Header> Advisor for OneHeader<H> {
    #[inline]
    fn listening(&self) -> bool {
        self.flow.is_listening()
    }

    fn on_new_ack(&mut self, view: &View) -> Advice {
        let action = self.flow.on_new_ack(&sender(view));
        self.answer(&action)
    }

    fn on_dup_ack(&mut self, view: &View) -> Advice {
        let action = self.flow.on_dup_ack(&sender(view));
        self.answer(&action)
    }

    fn on_timeout(&mut self, view: &View) -> Advice {
        let action = self.flow.on_timeout(&sender(view));
        self.answer(&action)
    }

    fn on_rtt_sample(&mut self, view: &View, seq: u32, rtt: Nanos) -> Advice {
        let action = self.flow.on_rtt_sample(&sender(view), seq, micros(rtt));
        self.answer(&action)
    }

    tells_programs!();
}

impl<H: Header> HandoffScheme for OneHeader<H> {
    const ENTRIES: &'static [Entry] = &[H::ENTRY];

    fn build(name: &str, settings: &[(String, String)]) -> Result<Self, SchemeError> {
        let enactment = Enactment::chosen(name, settings)?;
        match kernel::knobs(settings).next() {
            Some((key, _)) => Err(SchemeError::no_such_setting(name, key, &[kernel::ENACT])),
            None => Ok(Self {
                enactment,
                flow: H::policy().start(),
                linux: OnLinux::default(),
                applied: 0,
                which: PhantomData,
            }),
        }
    }

    fn settings(_name: &str) -> Vec<SettingInfo> {
        kernel::infos(&[], |_| None)
    }

    fn applied(&self) -> Vec<Rule> {
        kernel::named(H::RULES, self.applied)
    }

    hears_notices!();
}
