//! Careful Resume: after a reset the sender jumps to half of the window that the path is remembered to have carried. It
//! paces the jump over a round trip. It retreats if packets of the jump are lost.
//!
//! Source: RFC 9959 (read as draft-ietf-tsvwg-careful-resume-24, section 3 and appendix A); algorithms.md, 11.3. The
//! reset at the handoff is that of a new connection ([`NewPath`]). The saved parameters are those of the new link as it
//! is told, times what the settings say. So memories that are wrong can be studied.

use crate::notice::Notice;
use crate::quic_reset::{PACKET_BITS, round_trip_us};
use crate::scheme::{Entry, HandoffScheme, Needs, SchemeError, SettingInfo, Settings, described, set_all};
use segue_policy::PACKET;
use segue_tcp::advice::{KernelAdvice, KernelView, NewPath, Pace};
use segue_tcp::{Advice, Advisor, Nanos, View};

/// RTO of a new connection (RFC 6298, 2.1).
const INITIAL_RTO: Nanos = 1_000_000_000;
/// Parameters of fewer initial windows than this are not saved.
const LEAST_SAVED: u32 = 4;
/// The path is another one if its round trip is longer than so many saved ones.
const MOST_RTTS: u64 = 10;

/// Parameters of a path that was used before.
#[derive(Clone, Copy, Debug)]
struct Saved {
    /// Packets.
    window: u32,
    rtt_us: u32,
}

/// Packets that were sent in the Unvalidated Phase, and those before them.
#[derive(Clone, Copy, Debug)]
struct Jump {
    /// Flight when it began, and what had been delivered over the path until then.
    flight: u32,
    delivered: u32,
}

impl Jump {
    /// PipeSize: the flight before the jump, and what of the jump has arrived.
    fn pipe(&self, tp: &KernelView) -> u32 {
        self.flight.max(tp.path_delivered.wrapping_sub(self.delivered))
    }
}

#[derive(Clone, Copy, Debug, Default)]
enum Phase {
    /// Normal.
    #[default]
    Normal,
    Reconnaissance(Saved),
    /// Since when; what had been delivered at the last ACK.
    Unvalidated {
        jump: Jump,
        since: Nanos,
        heard: u32,
    },
    /// Until so much has been delivered over the path; one beyond the last packet of the jump.
    Validating {
        jump: Jump,
        until: u32,
        mark: u32,
    },
    /// Until everything before `mark` is acknowledged and the recovery is over.
    SafeRetreat {
        jump: Jump,
        mark: u32,
    },
}

/// One flow's memory and phase.
#[derive(Clone, Debug)]
pub struct CarefulResume {
    /// Saved window and round trip in 1/256 of the true ones.
    window_ratio: u32,
    rtt_ratio: u32,
    /// Packets; 0: no bound.
    max_jump: u32,
    /// Share of PipeSize that becomes ssthresh, in 1/256.
    beta: u32,
    phase: Phase,
    /// Packets are paced by the jump.
    paces: bool,
}

/// RFC 9959 with a true memory.
impl Default for CarefulResume {
    fn default() -> Self {
        Self { window_ratio: 256, rtt_ratio: 256, max_jump: 0, beta: 128, phase: Phase::Normal, paces: false }
    }
}

/// A window that cwnd is to be, and is to stay.
fn held(packets: u32) -> Advice {
    let kernel = KernelAdvice { hold_window: Some(true), ..KernelAdvice::default() };
    Advice { cwnd: Some(packets * PACKET), kernel, ..Advice::default() }
}

fn paced(pace: Option<Pace>, advice: Advice) -> Advice {
    Advice { kernel: KernelAdvice { pace, ..advice.kernel }, ..advice }
}

impl CarefulResume {
    const SETTINGS: Settings<4> = [
        ("saved-window", "1", "the remembered window, times the new path's BDP: 0.01 to 100"),
        ("saved-rtt", "1", "the remembered round trip, times the new path's: 0.01 to 100"),
        ("max-jump", "0", "largest window after the jump, packets; 0: no bound"),
        (
            "retreat-beta",
            "0.5",
            "share of PipeSize that becomes ssthresh after a retreat: 0.5 to 1; CUBIC's is 0.7",
        ),
    ];

    fn set(&mut self, key: &str, value: &str) -> Option<Result<(), &'static str>> {
        let ratio = |least: f64, most: f64, expected| {
            let number = value.parse::<f64>().ok().filter(|number| (least..=most).contains(number));
            number.map(|number| (number * 256.0).round() as u32).ok_or(expected)
        };
        Some(match key {
            "saved-window" => ratio(0.01, 100.0, "0.01 to 100").map(|ratio| self.window_ratio = ratio),
            "saved-rtt" => ratio(0.01, 100.0, "0.01 to 100").map(|ratio| self.rtt_ratio = ratio),
            "retreat-beta" => ratio(0.5, 1.0, "0.5 to 1").map(|ratio| self.beta = ratio),
            "max-jump" => {
                let packets = value.parse().ok().filter(|&packets: &u32| packets <= 1 << 20);
                packets.map(|packets| self.max_jump = packets).ok_or("packets, 0 to 1048576")
            }
            _ => return None,
        })
    }

    /// The parameters that were saved when the path was used before, if they were.
    fn saved(&self, view: &View, notice: &Notice) -> Option<Saved> {
        let rtt_us = u64::from(round_trip_us(view, notice));
        let share = u64::from(notice.new_link.rate_kbps) / u64::from(notice.flows.max(1));
        let window = share * rtt_us / (PACKET_BITS * 1000) * u64::from(self.window_ratio) / 256;
        let least = view.kernel.map_or(0, |tp| LEAST_SAVED * tp.initial_window);
        let rtt_us = u32::try_from(rtt_us * u64::from(self.rtt_ratio) / 256).unwrap_or(u32::MAX);
        let window = u32::try_from(window).unwrap_or(u32::MAX / PACKET);
        (window >= least).then_some(Saved { window, rtt_us })
    }

    /// Back to normal congestion control.
    fn leaves(&mut self, advice: Advice) -> Advice {
        self.phase = Phase::Normal;
        let pace = self.unpaced();
        Advice { kernel: KernelAdvice { hold_window: Some(false), pace, ..advice.kernel }, ..advice }
    }

    fn unpaced(&mut self) -> Option<Pace> {
        std::mem::take(&mut self.paces).then_some(Pace::Ends)
    }

    /// Reconnaissance: the initial window has arrived without a loss, and the round trip is the remembered path's.
    fn reconnoitre(&mut self, view: &View, tp: &KernelView, saved: Saved) -> Advice {
        if tp.path_lost > 0 {
            self.phase = Phase::Normal;
        }
        if tp.path_lost > 0 || tp.path_delivered < tp.initial_window || tp.min_rtt_us == u32::MAX {
            return Advice::default();
        }
        self.phase = Phase::Normal;
        let (rtt, saved_rtt) = (u64::from(tp.min_rtt_us), u64::from(saved.rtt_us));
        if 2 * rtt <= saved_rtt || rtt > MOST_RTTS * saved_rtt {
            return Advice::default();
        }
        let window = match self.max_jump {
            0 => saved.window / 2,
            most => most.min(saved.window / 2),
        };
        if window <= tp.cwnd.max(tp.in_flight) {
            return Advice::default();
        }
        let jump = Jump { flight: tp.in_flight, delivered: tp.path_delivered };
        self.phase = Phase::Unvalidated { jump, since: tp.now, heard: tp.path_delivered };
        self.paces = true;
        let pace = u64::from(window) * u64::from(tp.mss) * 1_000_000_000 / view.srtt.max(1);
        paced(Some(Pace::AtMost(pace.max(1))), held(window))
    }

    /// Unvalidated: until the jump is used up, one of its packets has arrived, or a round trip is over.
    fn jump(&mut self, view: &View, tp: &KernelView, jump: Jump, since: Nanos, heard: u32) -> Advice {
        let (pipe, new) = (jump.pipe(tp), tp.path_delivered.wrapping_sub(heard));
        let is_over = tp.in_flight + new >= tp.cwnd || pipe > jump.flight || tp.now > since + view.srtt;
        if !is_over {
            self.phase = Phase::Unvalidated { jump, since, heard: tp.path_delivered };
            return Advice::default();
        }
        if tp.in_flight < tp.initial_window || tp.in_flight <= pipe {
            let window = pipe.max(tp.initial_window);
            return self.leaves(Advice { cwnd: Some(window * PACKET), ..Advice::default() });
        }
        let until = tp.path_delivered.wrapping_add(tp.in_flight);
        self.phase = Phase::Validating { jump, until, mark: view.snd_max };
        let pace = self.unpaced();
        let kernel = KernelAdvice { hold_window: Some(false), pace, ..KernelAdvice::default() };
        Advice { cwnd: Some(tp.in_flight * PACKET), kernel, ..Advice::default() }
    }

    /// A loss, or a mark (RFC 9959 treats both alike).
    fn on_congestion(&mut self, view: &View) -> Advice {
        match self.phase {
            Phase::Unvalidated { jump, .. } => self.retreat(view, jump, view.snd_max),
            Phase::Validating { jump, mark, .. } => self.retreat(view, jump, mark),
            Phase::Reconnaissance(_) => {
                self.phase = Phase::Normal;
                Advice::default()
            }
            Phase::SafeRetreat { .. } | Phase::Normal => Advice::default(),
        }
    }

    /// The jump has met congestion.
    fn retreat(&mut self, view: &View, jump: Jump, mark: u32) -> Advice {
        let Some(tp) = view.kernel else { return Advice::default() };
        self.phase = Phase::SafeRetreat { jump, mark };
        paced(self.unpaced(), held((jump.pipe(&tp) / 2).max(tp.initial_window)))
    }
}

impl Advisor for CarefulResume {
    #[inline]
    fn listening(&self) -> bool {
        !matches!(self.phase, Phase::Normal)
    }

    #[inline]
    fn watching(&self) -> bool {
        self.listening()
    }

    fn on_ack(&mut self, view: &View) -> Advice {
        let Some(tp) = view.kernel else { return Advice::default() };
        match self.phase {
            Phase::Normal => Advice::default(),
            Phase::Reconnaissance(saved) => self.reconnoitre(view, &tp, saved),
            Phase::Unvalidated { jump, since, heard } => self.jump(view, &tp, jump, since, heard),
            Phase::Validating { until, .. } => {
                if (tp.path_delivered.wrapping_sub(until) as i32) >= 0 {
                    self.phase = Phase::Normal;
                }
                Advice::default()
            }
            Phase::SafeRetreat { jump, mark } => {
                if view.snd_una < mark || tp.reduces {
                    return Advice::default();
                }
                let ssthresh = u64::from(jump.pipe(&tp)) * u64::from(self.beta);
                let ssthresh = u32::try_from(ssthresh).unwrap_or(u32::MAX - 1).max(2 * PACKET);
                self.leaves(Advice { ssthresh: Some(ssthresh), ..Advice::default() })
            }
        }
    }

    fn on_fast_retransmit(&mut self, view: &View) -> Advice {
        self.on_congestion(view)
    }

    fn on_mark(&mut self, view: &View) -> Advice {
        self.on_congestion(view)
    }

    /// A retreat that was needless leaves the window where it is: nothing raises it in that phase.
    fn on_undo(&mut self, view: &View, cwnd: u32) -> u32 {
        match (self.phase, view.kernel) {
            (Phase::SafeRetreat { .. }, Some(tp)) => tp.cwnd,
            _ => cwnd,
        }
    }

    /// Ends it, whatever the phase; the timeout is one like any other.
    fn on_timeout(&mut self, _view: &View) -> Advice {
        self.leaves(Advice::default())
    }
}

impl HandoffScheme for CarefulResume {
    const ENTRIES: &'static [Entry] = &[Entry {
        name: "careful-resume",
        stack: "linux-6.12/cubic",
        summary: "starts anew, and jumps to half of the window that the new path carried before",
        source: "RFC 9959; segue explain 11",
    }];
    const NEEDS: Needs = Needs::Window;

    fn build(name: &str, settings: &[(String, String)]) -> Result<Self, SchemeError> {
        let mut made = Self::default();
        set_all((name, &Self::SETTINGS), settings, |key, value| made.set(key, value))?;
        Ok(made)
    }

    fn settings(_name: &str) -> Vec<SettingInfo> {
        described(&Self::SETTINGS, "11.3")
    }

    fn on_notice(&mut self, view: &View, notice: &Notice) -> Advice {
        let saved = self.saved(view, notice);
        let path = Some(NewPath { rto: INITIAL_RTO, lost: false });
        let advice = self.leaves(KernelAdvice { path, ..KernelAdvice::default() }.into());
        self.phase = saved.map_or(Phase::Normal, Phase::Reconnaissance);
        advice
    }
}
