//! A scheme's decisions in words: the same ones in traces, reports and captures.

use crate::numbers::packets;
use segue_handoff::{Decision, Link, Occasion, Rule, Start};
use segue_tcp::Advice;
use segue_tcp::advice::{Anew, KernelAdvice, MinRto, Pace};

/// A decision's requests, such as `minrto 0.552 s, timer restarted`; empty if it has none.
pub fn advice_in_words(decision: &Decision) -> String {
    // Taken apart whole, so that a new field cannot be forgotten here.
    let Advice {
        retransmit_head,
        room_for_one,
        cwnd,
        ssthresh,
        min_rto,
        dupthresh,
        rearm_timer,
        extend_timer,
        clear_backoff,
        reinit_rtt,
        keep_window,
        keep_cwnd,
        keep_ssthresh,
        hold_holes,
        send_new,
        beyond_window,
        suspend,
        resume,
        resume_recovery,
        ignore_sample,
        kernel,
    } = decision.advice;
    let KernelAdvice {
        pace,
        anew,
        path,
        hold_window,
        probe_head,
        keep_w_max,
        path_changes_soon,
        min_rtt,
        ask_again: _,
    } = kernel;
    let view = &decision.view;
    let values = [
        path.map(|path| format!("new path with a RTO of {:.3} s", path.rto as f64 / 1e9)),
        min_rtt.map(|rtt| format!("smallest round trip {:.3} s", rtt as f64 / 1e9)),
        retransmit_head.then(|| "first unacknowledged packet sent now".to_string()),
        cwnd.map(|cwnd| format!("cwnd {} to {}", packets(view.cwnd), packets(cwnd))),
        ssthresh.map(|ssthresh| format!("ssthresh {} to {}", packets(view.ssthresh), packets(ssthresh))),
        min_rto.map(|floor| match floor {
            MinRto::AtLeast(floor) => format!("minrto {:.3} s", floor as f64 / 1e9),
            MinRto::Own => "minrto of the stack".to_string(),
        }),
        dupthresh.map(|dupthresh| format!("dupthresh {dupthresh}")),
        pace.map(|pace| match pace {
            Pace::Begins => "packets paced".to_string(),
            Pace::At(rate) => format!("paced at {} kbit/s", rate * 8 / 1000),
            Pace::NoFasterThan(rate) => format!("paced at no more than {} kbit/s", rate * 8 / 1000),
            Pace::AtMost(rate) => format!("paced at {} kbit/s or less", rate * 8 / 1000),
            Pace::Ends => "pace of its own".to_string(),
        }),
    ];
    let acts = [
        (room_for_one, "cwnd at least one packet above what is in flight"),
        (reinit_rtt, "SRTT and RTTVAR forgotten"),
        (clear_backoff, "back-off undone"),
        (rearm_timer, "timer restarted"),
        (extend_timer, "timer extended"),
        (keep_window, "cwnd and ssthresh kept"),
        (keep_cwnd, "cwnd kept"),
        (keep_ssthresh, "ssthresh kept"),
        (hold_holes, "SACK holes wait"),
        (suspend, "TCP suspended"),
        (resume, "TCP resumed"),
        (send_new && !beyond_window, "one new packet sent"),
        (send_new && beyond_window, "one new packet sent whatever the window"),
        (resume_recovery, "SACK recovery resumed"),
        (ignore_sample, "RTT sample not used"),
        (anew.is_some(), "congestion control started anew"),
        (hold_window == Some(true), "cwnd held"),
        (hold_window == Some(false), "cwnd free"),
        (keep_w_max == Some(true), "CUBIC in a hurry"),
        (keep_w_max == Some(false), "CUBIC as usual"),
        (path_changes_soon == Some(true), "LeoCC awaits another path"),
        (path_changes_soon == Some(false), "LeoCC awaits no other path"),
        (probe_head, "first unacknowledged packet sent whatever is known of it"),
    ];
    let acts = acts.into_iter().filter(|act| act.0).map(|act| act.1.to_string());
    values.into_iter().flatten().chain(acts).collect::<Vec<_>>().join(", ")
}

/// Acts of the programs of a sender on Linux that are no rule of a scheme: the name in
/// docs/internals/kernel.md, and the cause. `None`: there is a rule, or nobody names the cause.
pub fn program_in_words(decision: &Decision) -> Option<(&'static str, &'static str)> {
    let Decision { advice, view, rules, .. } = decision;
    if !rules.is_empty() || view.kernel.is_none() {
        return None;
    }
    if let Some(Anew::Retreat { .. }) = advice.kernel.anew {
        return Some((
            "trial",
            "the window that the notice granted fails its trial, too much of it is lost: half of what arrives in a round \
             trip is left",
        ));
    }
    match advice
        .ssthresh
        .filter(|&ssthresh| *advice == Advice { ssthresh: Some(ssthresh), ..Advice::default() })?
    {
        u32::MAX => Some(("doubt", "far more arrives than the notice told: slow start probes the path")),
        less if less < view.ssthresh => Some((
            "guard",
            "the kernel has given back the ssthresh of the old path: that of the notice holds",
        )),
        _ => None,
    }
}

/// Effects of rules that a kernel cannot be made to have (`enact=linux`): the words, whether the answer asks for it, and
/// what happens instead.
type Effect = (&'static str, fn(&Advice) -> bool, &'static str);
const EFFECTS: [Effect; 10] = [
    ("the head is sent at once", |asked| asked.retransmit_head, "a lost packet may leave at once"),
    ("the timer starts again without back-off", |asked| asked.rearm_timer, "the timer stays as it is"),
    (
        "RTT variables and timer start anew",
        |asked| asked.reinit_rtt,
        "RTT variables and timer stay as they are",
    ),
    ("RTT variables start anew", has_new_rtt, "RTT variables stay as they are"),
    ("minrto grows by the old link's queue", |asked| asked.min_rto.is_some(), AS_IT_IS),
    ("minrto covers the new round trip and the old link's queue", |asked| asked.min_rto.is_some(), AS_IT_IS),
    (
        "minrto covers the new round trip and what is under way, queued at the new link",
        |asked| asked.min_rto.is_some(),
        AS_IT_IS,
    ),
    ("SACK holes wait", |asked| asked.hold_holes, "SACK holes do not wait"),
    (
        "a duplicate ACK lets one new packet out, and no hole is resent",
        |asked| asked.send_new,
        "a duplicate ACK changes nothing",
    ),
    ("is not used", |asked| asked.ignore_sample, "is used all the same"),
];
const AS_IT_IS: &str = "minrto stays as it is";

fn has_new_rtt(asked: &Advice) -> bool {
    asked.reinit_rtt || asked.kernel.path.is_some()
}

/// A rule's effect in this answer.
pub fn effect_in_words(rule: &Rule, asked: &Advice) -> String {
    let absent = EFFECTS.iter().filter(|(_, is_asked, _)| !is_asked(asked));
    absent.fold(rule.says.to_string(), |told, (words, _, instead)| told.replace(words, instead))
}

/// A decision that stands by itself: what was heard if it was a notice, the rules with their sections, and
/// what they ask for. `A1, case 1 (segue explain 2.1): the timer would not ...; minrto 0.552 s, timer restarted`
pub fn decision_in_words(decision: &Decision) -> String {
    let rules = decision.rules.iter();
    let told = |rule: &Rule| {
        let effect = effect_in_words(rule, &decision.advice);
        format!("{} (segue explain {}): {effect}", rule.name, rule.section)
    };
    let mut parts: Vec<String> = rules.map(told).collect();
    parts.extend(
        program_in_words(decision).map(|(name, says)| format!("{name} (segue explain {name}): {says}")),
    );
    let asked = advice_in_words(decision);
    if !asked.is_empty() {
        parts.push(asked);
    }
    let decided = if parts.is_empty() { "no rule applies".to_string() } else { parts.join("; ") };
    let notice = match &decision.occasion {
        Occasion::Notice(notice) => notice,
        Occasion::Start(Start { ehd, pbs }) => {
            let (ehd, pbs) = (*ehd as f64 / 1e9, *pbs as f64 / 1e3);
            return format!("HO Start with an expected delay of {ehd} s and a buffer of {pbs} kB: {decided}");
        }
        Occasion::Finish => return format!("HO Finish: {decided}"),
        _ => return decided,
    };
    let link = |link: &Link| format!("{} kbit/s, {} ms", link.rate_kbps, f64::from(link.delay_us) / 1e3);
    let flows = match notice.flows {
        0 | 1 => "1 flow".to_string(),
        several => format!("{several} flows"),
    };
    let kind = if notice.disconnected != 0 { ", after a disconnection" } else { "" };
    let (old, new) = (link(&notice.old_link), link(&notice.new_link));
    format!("notice of {new} after {old}, {flows}{kind}: {decided}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use segue_handoff::Notice;
    use segue_tcp::View;
    use segue_tcp::advice::{KernelView, NewPath};

    fn a_kernel() -> KernelView {
        KernelView {
            is_calm: true,
            cwnd: 22,
            ssthresh: 85,
            in_flight: 22,
            mss: 1460,
            ..KernelView::default()
        }
    }

    fn decision(advice: Advice, rules: &[Rule]) -> Decision {
        let view = View {
            snd_una: 4036,
            snd_max: 4058,
            flight: 22,
            cwnd: 22 * 256 + 64,
            ssthresh: 85,
            rto: 0,
            srtt: 0,
            mss: 1460,
            transmissions: 0,
            ssthresh_saved: 0,
            srtt_before: 0,
            timeouts_since_ack: 0,
            in_fast_recovery: false,
            in_rto_recovery: false,
            kernel: None,
        };
        Decision { occasion: Occasion::NewAck, view, advice, rules: rules.to_vec() }
    }

    #[test]
    fn rules_first_then_what_they_ask_for() {
        let a1 = Rule { bit: 1, name: "A1, case 1", section: "2.1", says: "minrto grows" };
        let floor = Some(MinRto::AtLeast(552_000_000));
        let mut decided = decision(Advice { min_rto: floor, rearm_timer: true, ..Advice::default() }, &[a1]);
        let words = "A1, case 1 (segue explain 2.1): minrto grows; minrto 0.552 s, timer restarted";
        assert_eq!(decision_in_words(&decided), words);
        let link = |rate_kbps, delay_us| Link { rate_kbps, delay_us };
        decided.occasion = Occasion::Notice(Notice {
            old_link: link(6400, 9_000),
            new_link: link(200, 300_500),
            flows: 2,
            disconnected: 1,
        });
        let heard =
            "notice of 200 kbit/s, 300.5 ms after 6400 kbit/s, 9 ms, 2 flows, after a disconnection: ";
        assert_eq!(decision_in_words(&decided), format!("{heard}{words}"));
    }

    /// The rules' own words, so that none of them is out of date.
    #[test]
    fn effects_that_nobody_asks_for_are_not_told() {
        use segue_policy::rules::{ETCP_RULES, NEAR_RULES, RLCI_RULES, TCP_HO_RULES};
        let rules = || [ETCP_RULES, TCP_HO_RULES, RLCI_RULES, NEAR_RULES].concat();
        for (words, _, instead) in EFFECTS {
            let found: Vec<Rule> = rules().into_iter().filter(|rule| rule.says.contains(words)).collect();
            assert!(!found.is_empty(), "{words}");
            for rule in found {
                let told = effect_in_words(&rule, &Advice::default());
                assert!(told.contains(instead) && !told.contains(words), "{told}");
            }
        }
        let all = Advice {
            retransmit_head: true,
            rearm_timer: true,
            reinit_rtt: true,
            min_rto: Some(MinRto::Own),
            hold_holes: true,
            send_new: true,
            ignore_sample: true,
            ..Advice::default()
        };
        rules().iter().for_each(|rule| assert_eq!(effect_in_words(rule, &all), rule.says));
    }

    #[test]
    fn without_a_rule() {
        let waits = Advice { hold_holes: true, ..Advice::default() };
        assert_eq!(decision_in_words(&decision(waits, &[])), "SACK holes wait");
        assert_eq!(advice_in_words(&decision(Advice::default(), &[])), "");
        assert_eq!(decision_in_words(&decision(Advice::default(), &[])), "no rule applies");
    }

    /// On a kernel's stack, the programs' own acts have a cause where no rule has one.
    #[test]
    fn acts_of_the_programs_have_their_cause() {
        let ssthresh = |packets: u32| Advice { ssthresh: Some(packets), ..Advice::default() };
        let kernel =
            KernelAdvice { anew: Some(Anew::Retreat { found: 1, before: None }), ..KernelAdvice::default() };
        let retreat = Advice { cwnd: Some(256), kernel, ..ssthresh(16 * 256) };
        let a1 = Rule { bit: 1, name: "A1", section: "2.1", says: "minrto grows" };
        for (advice, rules, kernel, said) in [
            (retreat, &[][..], true, Some("trial")),
            (ssthresh(u32::MAX), &[], true, Some("doubt")),
            (ssthresh(84), &[], true, Some("guard")),
            // The decision before had 85 of it.
            (ssthresh(86), &[], true, None),
            (Advice { hold_holes: true, ..ssthresh(84) }, &[], true, None),
            (ssthresh(84), &[a1], true, None),
            (ssthresh(84), &[], false, None),
        ] {
            let mut decision = decision(advice, rules);
            decision.view.kernel = kernel.then_some(a_kernel());
            let found = program_in_words(&decision);
            assert_eq!(found.map(|(name, _)| name), said, "{advice:?}");
            if let Some((name, says)) = found {
                let words = decision_in_words(&decision);
                assert!(words.starts_with(&format!("{name} (segue explain {name}): {says}; ")), "{words}");
            }
        }
    }

    #[test]
    fn every_field_has_its_words() {
        let all = Advice {
            retransmit_head: true,
            room_for_one: true,
            cwnd: Some(256 * 12 + 128),
            ssthresh: Some(256),
            min_rto: Some(MinRto::Own),
            dupthresh: Some(7),
            rearm_timer: true,
            extend_timer: true,
            clear_backoff: true,
            reinit_rtt: true,
            keep_window: true,
            keep_cwnd: true,
            keep_ssthresh: true,
            hold_holes: true,
            send_new: true,
            beyond_window: false,
            suspend: true,
            resume: true,
            resume_recovery: true,
            ignore_sample: true,
            kernel: KernelAdvice {
                pace: Some(Pace::At(25_000)),
                anew: Some(Anew::Retreat { found: 5, before: None }),
                path: Some(NewPath { rto: 1_024_000_000, lost: false }),
                hold_window: Some(true),
                probe_head: true,
                keep_w_max: Some(true),
                path_changes_soon: Some(true),
                min_rtt: Some(220_000_000),
                ask_again: true,
            },
        };
        let words = advice_in_words(&decision(all, &[]));
        assert_eq!(words.split(", ").count(), 27);
        assert!(words.contains("paced at 200 kbit/s"), "{words}");
        let beyond = Advice { send_new: true, beyond_window: true, ..Advice::default() };
        assert_eq!(decision_in_words(&decision(beyond, &[])), "one new packet sent whatever the window");
        assert!(words.contains("cwnd 22.25 to 12.5, ssthresh 0.33 to 1, "), "{words}");
    }
}
