//! Back-off reset: on the word that there is a network again the sender forgets its back-off and sends one packet.
//! Window, threshold and round trips stay.
//!
//! Source: the QUIC implementations noq and quinn. On a change of network noq (`handle_network_change`) sets
//! `pto_count` to 0 and arms the loss timer anew. It sends a ping that asks for an ACK at once. On a change of the
//! local address quinn sends a ping. TCP has no ping: the first unacknowledged packet is sent again, also if it is
//! under way. algorithms.md, 11.1.

use crate::notice::Notice;
use crate::scheme::{
    self, Entry, HandoffScheme, Needs, SchemeError, SettingInfo, Settings, described, set_all,
};
use segue_tcp::advice::KernelAdvice;
use segue_tcp::{Advice, Advisor, Nanos, View};

/// One flow's timer, reset on a notice.
#[derive(Clone, Debug, Default)]
pub struct BackoffReset {
    /// How long after the notice.
    delay: Nanos,
    /// The delay is to begin.
    asked: bool,
    due: Option<Nanos>,
}

/// The whole answer.
fn answer() -> Advice {
    let kernel = KernelAdvice { probe_head: true, ..KernelAdvice::default() };
    Advice { clear_backoff: true, rearm_timer: true, kernel, ..Advice::default() }
}

impl BackoffReset {
    const SETTINGS: Settings<1> = [(
        "reset-delay",
        "0s",
        "how long after the notice the back-off is reset: the mobile's system takes its time",
    )];
}

impl Advisor for BackoffReset {
    #[inline]
    fn deadline(&self) -> Option<Nanos> {
        self.due
    }

    fn on_deadline(&mut self, now: Nanos, _view: &View) -> Advice {
        self.due = std::mem::take(&mut self.asked).then_some(now + self.delay);
        if self.due.is_some() { Advice::default() } else { answer() }
    }
}

impl HandoffScheme for BackoffReset {
    const ENTRIES: &'static [Entry] = &[Entry {
        name: "backoff-reset",
        stack: "linux-6.12",
        summary: "forgets the back-off of the timer and sends one packet; keeps all else",
        source: "QUIC of noq and quinn on a change of the local network; segue explain 11",
    }];
    const NEEDS: Needs = Needs::Kernel;

    fn build(name: &str, settings: &[(String, String)]) -> Result<Self, SchemeError> {
        let mut made = Self::default();
        set_all((name, &Self::SETTINGS), settings, |key, value| match key {
            "reset-delay" => Some(scheme::time(value).map(|delay| made.delay = delay).ok_or(scheme::TIME)),
            _ => None,
        })?;
        Ok(made)
    }

    fn settings(_name: &str) -> Vec<SettingInfo> {
        described(&Self::SETTINGS, "11.1")
    }

    fn on_notice(&mut self, _view: &View, _notice: &Notice) -> Advice {
        self.asked = self.delay > 0;
        match self.asked {
            true => KernelAdvice { ask_again: true, ..KernelAdvice::default() }.into(),
            false => answer(),
        }
    }
}
