//! `near`: one clock of the new link for all flows of a mobile (docs/reference/near.md).
//!
//! A flow's scheme does nothing by itself: all flows of a host send together, by a [`Claim`]. On Linux nobody can choose
//! the packet. There each flow has its part of the path as its window, and its part of the link's rate as its pace
//! (section 8).

use crate::claim::{Claim, Distortion};
use crate::kernel::{self, ENACT, Enactment, micros, sender};
use crate::notice::Notice;
use crate::on_linux::{Decides, OnLinux, follows_programs};
use crate::scheme::{Entry, HandoffScheme, SchemeError, SettingInfo};
use segue_policy::{Action, Near as Path, PACKET, Sender, What};
use segue_tcp::advice::Anew;
use segue_tcp::{Advice, Advisor, Nanos, View};

/// Bytes that links charge for a packet of Linux: 1448 of payload.
const LINUX_PACKET: u32 = 1500;

/// One flow's part in `near`.
#[derive(Clone, Debug, Default)]
pub struct Near {
    distortion: Distortion,
    enactment: Enactment,
    linux: OnLinux,
    held: Option<Held>,
}

/// The claim of one flow on Linux.
#[derive(Clone, Copy, Debug)]
struct Held {
    path: Path,
    disconnected: bool,
    /// What was sent before the notice, and the packets lost until then.
    mark: u32,
    lost: u32,
    /// Set with the first ACK.
    until: Option<Nanos>,
}

impl Held {
    /// What an ACK changes; `None`: the claim is over.
    fn on_ack(&mut self, view: &View, advice: Advice) -> Option<Advice> {
        let tp = view.kernel?;
        let until = match self.until {
            Some(until) => until,
            None => {
                self.lost = tp.lost;
                *self.until.insert(tp.now + 2 * self.path.rtt_ns)
            }
        };
        if view.snd_una >= self.mark && until <= tp.now {
            return None;
        }
        let before = self.mark.saturating_sub(view.snd_una);
        let old = match self.disconnected && view.in_rto_recovery {
            true => 0,
            false => before.saturating_sub(tp.lost.wrapping_sub(self.lost)).min(tp.in_flight),
        };
        // In fast recovery PRR sets it.
        let cwnd = (!view.in_fast_recovery).then(|| self.path.cwnd(micros(view.srtt), old) * PACKET);
        Some(Advice { cwnd: cwnd.or(advice.cwnd), most_pace: Some(self.path.pace(tp.mss)), ..advice })
    }
}

impl Decides for Near {
    fn decide(&mut self, tcp: &Sender, path: &Notice, _link: &Notice) -> (Action, Option<u32>) {
        let path_told = self.distortion.of(path);
        let near = Path::new(&path_told, 0, LINUX_PACKET, 1);
        let disconnected = path.disconnected != 0;
        self.held = Some(Held { path: near, disconnected, mark: tcp.snd_max, lost: 0, until: None });
        let window = near.flow_window();
        let old = if disconnected && tcp.in_rto_recovery != 0 { 0 } else { tcp.flight };
        let mut act = Action::NOTHING;
        act.what = What::SET_CWND | What::SET_SSTHRESH;
        if disconnected {
            act.what |= What::RETRANSMIT_HEAD;
        }
        (act.cwnd, act.ssthresh) = ((window + old) * PACKET, window * PACKET);
        (act, None)
    }

    fn is_paced(&self) -> bool {
        true
    }
}

impl Near {
    /// The programs' work, and the claim's.
    fn hears_ack(&mut self, view: &View) -> Advice {
        let mut linux = std::mem::take(&mut self.linux);
        let advice = linux.on_ack(view, self);
        self.linux = linux;
        let refuted = matches!(advice.anew, Some(Anew::Retreat(_)));
        let Some(mut held) = self.held.take() else { return advice };
        match held.on_ack(view, advice).filter(|_| !refuted) {
            Some(held_to) => {
                self.held = Some(held);
                held_to
            }
            // From here on the control is alone.
            None => Advice { most_pace: Some(u64::MAX), ..advice },
        }
    }
}

impl Advisor for Near {
    #[inline]
    fn listening(&self) -> bool {
        self.held.is_some()
    }

    /// What RACK finds is the old link's loss.
    fn on_fast_retransmit(&mut self, _view: &View) -> Advice {
        Advice { keep_window: true, ..Advice::default() }
    }

    fn on_timeout(&mut self, _view: &View) -> Advice {
        Advice { keep_ssthresh: true, ..Advice::default() }
    }

    #[inline]
    fn watching(&self) -> bool {
        self.held.is_some() || self.linux.is_watching()
    }

    fn on_ack(&mut self, view: &View) -> Advice {
        self.hears_ack(view)
    }

    follows_programs!();
}

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
        let enactment = Enactment::chosen(name, settings)?;
        let mut distortion = Distortion::default();
        for (key, value) in kernel::knobs(settings) {
            let field = match key.as_str() {
                "told-rate" => &mut distortion.rate,
                "told-delay" => &mut distortion.delay,
                "told-flows" => &mut distortion.flows,
                _ => {
                    let names = [ERRS[0].0, ERRS[1].0, ERRS[2].0, ENACT];
                    return Err(SchemeError::no_such_setting(name, key, &names));
                }
            };
            let factor = value.parse::<f64>().ok().filter(|factor| (0.01..=100.0).contains(factor));
            let Some(factor) = factor else {
                let problem = format!("'{value}' is no value of {key}; expected 0.01 to 100");
                return Err(SchemeError::Setting { scheme: name.to_string(), problem });
            };
            *field = (factor * 1000.0).round() as u32;
        }
        Ok(Self { distortion, enactment, ..Self::default() })
    }

    fn settings(_name: &str) -> Vec<SettingInfo> {
        let info = |(name, meaning)| SettingInfo { name, default: "1".into(), section: "near.md", meaning };
        ERRS.map(info).into_iter().chain([Enactment::info()]).collect()
    }

    fn claim(&self) -> Option<Claim> {
        (self.enactment == Enactment::Paper).then(|| Claim::distorted(self.distortion))
    }

    /// Unless a kernel enacts, the claim hears it, and silences the flow's TCP.
    fn on_notice(&mut self, view: &View, notice: &Notice) -> Advice {
        if self.enactment == Enactment::Paper {
            return Advice::default();
        }
        if view.kernel.is_some() {
            let mut linux = std::mem::take(&mut self.linux);
            let advice = linux.on_notice(view, notice, self);
            self.linux = linux;
            return advice;
        }
        let (action, _) = self.decide(&sender(view), notice, notice);
        self.held = None; // nobody would tell it of ACKs
        self.enactment.advice(&action)
    }

    fn pend(&mut self, view: &View, notice: &Notice) -> bool {
        self.enactment == Enactment::Linux && self.linux.pend(view, notice)
    }

    /// 8.6
    fn tells_all(&self) -> bool {
        true
    }

    fn pending(&self) -> Option<Notice> {
        self.linux.pending()
    }
}
