//! Between the simulator's sender and the headers of `policy/`, which a kernel sender can run, too. The sender's view
//! goes in, and the headers' advice comes out. Their knobs are here as the user sees them.

use crate::scheme::{SchemeError, SettingInfo};
use segue_policy::{Action, Notice, Rule, Sender, Setting, SettingError, What, believe};
use segue_tcp::advice::MinRto;
use segue_tcp::{Advice, Nanos, View};

/// Whole microseconds; what does not fit is as long as can be told.
pub(crate) fn micros(time: Nanos) -> u32 {
    u32::try_from(time / 1000).unwrap_or(u32::MAX)
}

/// The sender as a policy sees it.
pub(crate) fn sender(view: &View) -> Sender {
    Sender {
        snd_una: view.snd_una,
        snd_max: view.snd_max,
        flight: view.flight,
        cwnd: view.cwnd,
        ssthresh: view.ssthresh,
        rto_us: micros(view.rto),
        ssthresh_saved: view.ssthresh_saved,
        srtt_before_us: micros(view.srtt_before),
        timeouts_since_ack: view.timeouts_since_ack,
        in_fast_recovery: u8::from(view.in_fast_recovery),
        in_rto_recovery: u8::from(view.in_rto_recovery),
        notified_lately: 0,
        pad: 0,
    }
}

/// The kind of sender that carries out a policy's action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Enactment {
    /// A sender that does it all, as the papers' did.
    #[default]
    Paper,
    /// An unmodified Linux kernel, whose timer and recovery are not to be written to (docs/internals/kernel.md).
    Linux,
}

/// Key of `--set` beside the knobs of the headers.
pub(crate) const ENACT: &str = "enact";

impl Enactment {
    /// The enactment that the settings choose; the last one counts, as of knobs.
    pub(crate) fn chosen(scheme: &str, settings: &[(String, String)]) -> Result<Self, SchemeError> {
        let Some((_, value)) = settings.iter().rfind(|(key, _)| key == ENACT) else {
            return Ok(Self::default());
        };
        match value.as_str() {
            "paper" => Ok(Self::Paper),
            "linux" => Ok(Self::Linux),
            _ => {
                let problem = format!("`{value}` is no value of {ENACT}; expected paper or linux");
                Err(SchemeError::Setting { scheme: scheme.to_string(), problem })
            }
        }
    }

    /// The setting as the user sees it.
    pub fn info() -> SettingInfo {
        SettingInfo {
            name: ENACT,
            // As the study chooses it by the stack; a test holds this against the stacks.
            default: "paper; linux on linux-6.12 and linux-6.18".into(),
            section: "kernel.md",
            meaning: "paper: all that is asked for is done; linux: as an unmodified Linux kernel does it",
        }
    }

    /// The part of a policy's answer to a notice that is believed: all on paper. The trial of what was granted and
    /// the rest of the kernel's work is only in a kernel's stack ([`crate::on_linux`]): here `proven` is nothing.
    pub(crate) fn believed(self, tcp: &Sender, notice: &Notice, asked: Action) -> Action {
        match self {
            Self::Paper => asked,
            Self::Linux => believe(tcp, notice, 0, asked).0,
        }
    }

    /// A policy's action as advice to the simulator's sender.
    pub(crate) fn advice(self, action: &Action) -> Advice {
        match self {
            Self::Paper => on_paper(action),
            Self::Linux => on_linux(action),
        }
    }
}

/// The part of an action that a kernel can be made to do; the table in docs/internals/kernel.md. At a fast retransmit
/// and a timeout programs put ssthresh back (`set_state`). SRTT, RTTVAR, RTO and its floor, back-off, timer, dupthresh
/// and the choice of what recovery sends are the kernel's own.
pub(crate) fn on_linux(action: &Action) -> Advice {
    let all = on_paper(action);
    Advice {
        room_for_one: all.retransmit_head,
        cwnd: all.cwnd,
        ssthresh: all.ssthresh,
        keep_window: all.keep_window,
        keep_cwnd: all.keep_cwnd,
        keep_ssthresh: all.keep_ssthresh,
        ..Advice::default()
    }
}

fn on_paper(action: &Action) -> Advice {
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
        ..Advice::default()
    }
}

/// The settings that are knobs of the headers.
pub(crate) fn knobs(settings: &[(String, String)]) -> impl Iterator<Item = &(String, String)> {
    settings.iter().filter(|(key, _)| key != ENACT)
}

/// The rules whose bits are set.
pub(crate) fn named(table: &[Rule], bits: u32) -> Vec<Rule> {
    table.iter().filter(|rule| bits & rule.bit != 0).copied().collect()
}

/// A knob that cannot be turned so.
pub(crate) fn bad_setting(scheme: &str, error: &SettingError) -> SchemeError {
    SchemeError::Setting { scheme: scheme.to_string(), problem: error.to_string() }
}

/// Knobs with their values in a scheme, `None`: as recommended; and who carries out what is asked for.
pub(crate) fn infos(list: &[Setting], value: impl Fn(&str) -> Option<String>) -> Vec<SettingInfo> {
    let info = |s: &Setting| SettingInfo {
        name: s.name,
        default: value(s.name).unwrap_or_else(|| s.default_text()),
        section: s.section,
        meaning: s.meaning,
    };
    list.iter().map(info).chain([Enactment::info()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2^32 us are 4,295 s.
    #[test]
    fn what_does_not_fit_is_as_long_as_can_be_told() {
        let seconds = |s: u64| s * 1_000_000_000;
        for (time, told) in [(0, 0), (1_999, 1), (seconds(60), 60_000_000), (seconds(4_295), u32::MAX)] {
            let fresh = segue_tcp::Sender::new(&segue_tcp::profile::RFC, 0, ()).view();
            let view = View { rto: time, srtt_before: time, ..fresh };
            let sender = sender(&view);
            assert_eq!((sender.rto_us, sender.srtt_before_us), (told, told));
        }
    }
}
