//! As long as a claim lasts, its policy says before packets leave how many may be out, and how fast they leave.
//!
//! Source: bpf/sender/claim.h.

use super::{OnLinux, millis, window};
use crate::group::Part;
use segue_policy::headers::{ClaimEnd, Flow};
use segue_policy::{Out, PACKET, grant};
use segue_tcp::advice::{Anew, KernelAdvice, KernelView, Pace};
use segue_tcp::{Advice, Nanos, View};

/// `tcp_mstamp`, its low half.
fn clock_us(time: Nanos) -> u32 {
    (time / 1_000) as u32
}

fn paced(pace: Pace) -> Advice {
    KernelAdvice { pace: Some(pace), ..KernelAdvice::default() }.into()
}

impl OnLinux {
    /// Whether a claim lasts.
    #[inline]
    pub fn claims(&self) -> bool {
        self.claims
    }

    /// `segue_has_claim`: one that is not only expected.
    pub(super) fn has_claim(&self) -> bool {
        self.claims && !self.expects
    }

    /// Whether an ICMP is requested, so that the kernel tries the head at once (`segue_request_icmp`).
    pub fn asks_icmp(&self) -> bool {
        self.icmp_requested
    }

    /// `segue_before_sending`.
    pub fn before_sending(&mut self, view: &View, flow: &mut Flow) -> Advice {
        let Some(tp) = view.kernel.filter(|_| self.claims) else { return Advice::default() };
        let elapsed_ms = millis(tp.now).wrapping_sub(millis(self.notified_at));
        let age_ms = millis(tp.now - tp.last_sent);
        let out = Out {
            snd_una: view.snd_una,
            unit: 1,
            marked: tp.marked,
            lost: tp.lost_out,
            snd_max: view.snd_max,
            others: self.member.others,
            others_behind: self.member.others_part.behind,
            others_weight: self.member.others_part.weight,
            granted: self.guard,
            sacks: tp.sacks.map(|(start, end)| [start, end]),
            elapsed_ms,
            sent_us: clock_us(tp.last_sent),
            now_us: clock_us(tp.now),
            sent: view.transmissions,
            rtt_us: if age_ms < elapsed_ms { tp.last_rtt_us } else { 0 },
        };
        match flow.claim(&out) {
            Ok(claim) if self.expects => paced(Pace::NoFasterThan(grant::payload_rate(claim.kbps, tp.mss))),
            Ok(claim) => {
                self.part = Part { behind: claim.behind, weight: claim.weight };
                self.has_backlog = tp.has_backlog;
                let all = grant::claim_window(self.guard) + claim.extra_packets;
                let all = all.saturating_sub(claim.withheld_packets).max(1);
                Advice {
                    cwnd: (!self.expired).then(|| window(all)),
                    ..paced(Pace::At(grant::payload_rate(claim.kbps, tp.mss)))
                }
            }
            Err(_) if self.expects => {
                (self.claims, self.expects) = (false, false);
                paced(Pace::Ends)
            }
            Err(end) => {
                let over = self.end_claim(&tp, end, false);
                if end.competing_traffic { self.met_competing_traffic(view, &tp, over) } else { over }
            }
        }
    }

    /// `segue_end_claim`.
    fn end_claim(&mut self, tp: &KernelView, end: ClaimEnd, cut: bool) -> Advice {
        (self.claims, self.part) = (false, Part::default());
        let ClaimEnd { competing_traffic, extra_packets } = end;
        let cwnd = grant::window_after_claim(tp.cwnd, self.guard, competing_traffic, extra_packets);
        Advice {
            cwnd: Some(window(cwnd)),
            ssthresh: competing_traffic.then(|| window(tp.ssthresh.min(cwnd.max(2)))),
            kernel: KernelAdvice {
                anew: Some(Anew::ClaimOver { cut, refuted: self.refuted_at.is_some(), before: None }),
                pace: Some(Pace::Ends),
                ..KernelAdvice::default()
            },
            ..Advice::default()
        }
    }

    /// `segue_on_state` and `segue_on_cut`, as far as they are the host's; whether the policy expected the cut.
    pub fn on_cut(&mut self, view: &View, expected: bool) -> Advice {
        let Some(tp) = view.kernel else { return Advice::default() };
        self.on_marks(view);
        if self.has_claim() && view.in_rto_recovery {
            self.expired = !self.icmp_requested;
        }
        if expected {
            return Advice::default();
        }
        let left = if self.raised { self.refuted(view, &tp) } else { None };
        let mut over =
            if self.has_claim() { self.end_claim(&tp, ClaimEnd::default(), true) } else { Advice::default() };
        if let Some((ssthresh, before)) = left {
            over.ssthresh = Some(ssthresh);
            over.kernel.anew = Some(match over.kernel.anew {
                Some(_) => Anew::ClaimOver { cut: true, refuted: true, before: Some(before) },
                None => Anew::Refuted { before },
            });
        }
        over
    }

    /// `segue_met_competing_traffic`, after the advice of the claim's end.
    fn met_competing_traffic(&mut self, view: &View, tp: &KernelView, mut over: Advice) -> Advice {
        let Some(trial) = self.trial.filter(|_| self.raised) else { return over };
        let cwnd = over.cwnd.map_or(tp.cwnd, |cwnd| cwnd / PACKET);
        let left = self.end_trial(trial, tp, cwnd);
        self.start_guard(view, self.guard.min(left));
        over.cwnd = Some(window(left));
        over.ssthresh = over.ssthresh.map(|ssthresh| ssthresh.min(window(left.max(2))));
        over.kernel.anew = Some(Anew::ClaimOver { cut: false, refuted: true, before: Some(trial.before) });
        over
    }

    /// `segue_refuted`: a raise without an outage has met a loss that the policy did not expect. The ssthresh that this
    /// leaves, and the window before it in packets.
    fn refuted(&mut self, view: &View, tp: &KernelView) -> Option<(u32, u32)> {
        let trial = self.trial?;
        let left = self.trial_failed(trial, view, tp);
        self.start_guard(view, self.guard.min(left));
        Some((window(tp.ssthresh.min(left)), trial.before))
    }
}
