//! Handoff Notification (Espi and others 2010; algorithms.md, section 5). Before the link goes the mobile tells the
//! sender how long it will be away, and how much the next access router keeps for it. The sender fills that buffer in
//! the meantime.
//!
//! ```text
//!                    HO Start                        Handoff Delay timer
//!   NORMAL ------------------------------> HANDOFF -----------------------> WAIT
//!     ^                                       |                               |
//!     |                HO Finish              |                               |
//!     +---------------------------------------+                               |
//!     |    HO Finish, retransmission timeout, all of the handoff acknowledged |
//!     +-----------------------------------------------------------------------+
//! ```
//!
//! In HANDOFF no timer of TCP runs and no ACK moves the window. The sender sends at a mean of the rate of before,
//! paced, until the buffer would be full. No kernel runs this sender, so it is not in `policy/`.

use crate::hn_option::{Encoding, LARGEST_PBS, LONGEST_EHD, PBS_UNIT, Start};
use crate::mobile::{MobileRule, StartRule};
use crate::notice::Notice;
use crate::router::{Holder, RouterRule};
use crate::scheme::{self, Entry, HandoffScheme, SchemeError, SettingInfo};
use segue_netsim::Overflow;
use segue_policy::{PACKET, Rule};
use segue_tcp::{Advice, Advisor, Nanos, View};

/// Over which V is measured (5.3).
const INTERVAL: Nanos = 500_000_000;
/// Floor of ssthresh, packets (RFC 5681, equation 4).
const LEAST_SSTHRESH: u32 = 2;

/// Rules of the sender (5.3), as [`HandoffScheme::applied`] names them.
pub const HN_RULES: &[Rule] = &[
    rule(
        0,
        "HO Start",
        "timers stop, RTT and cwnd are frozen; the mean rate of before goes on until the buffer would be full",
    ),
    rule(1, "HO Start", "a second one in HANDOFF or WAIT is ignored"),
    rule(2, "HO Finish", "the retransmission timer starts from the frozen RTT, cwnd is what it was"),
    rule(3, "HO Finish", "without a Start it is ignored"),
    rule(
        4,
        "Handoff Delay timer",
        "no Finish has come: the retransmission timer starts, and nothing extra is sent",
    ),
    rule(
        5,
        "handoff failure",
        "the retransmission timer has expired: what was outstanding at HO Start is cut",
    ),
    rule(6, "fast retransmit", "what was outstanding at HO Start is cut, not what the buffer took beside"),
    rule(7, "frozen RTT", "a sample of a packet sent before the end of the handoff is not used"),
    rule(
        8,
        "acknowledged",
        "all that was sent in the handoff is acknowledged: it is over although no Finish was heard",
    ),
];

const fn rule(bit: u32, name: &'static str, says: &'static str) -> Rule {
    Rule { bit: 1 << bit, name, section: "5.3", says }
}

/// Where the sender is (5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No handoff.
    Normal,
    /// Between HO Start and HO Finish.
    Handoff {
        /// Handoff Delay timer.
        ends: Nanos,
        /// Permissible buffer size, bytes.
        pbs: u64,
        /// Between two packets; `None`: the sender has measured neither RTT nor rate, and sends nothing.
        pace: Option<Nanos>,
        /// When the next packet goes.
        next: Nanos,
        /// Packets ever sent, at HO Start.
        sent_before: u32,
    },
    /// The handoff lasts longer than expected, or HO Finish was lost.
    Wait {
        /// One beyond the last packet that was sent in HANDOFF.
        sent: u32,
    },
}

/// One flow's Handoff Notification.
#[derive(Clone, Debug)]
pub struct HandoffNotification {
    rule: StartRule,
    state: State,
    /// V: bytes per RTT, of the last interval in which anything was sent.
    v_bar: u64,
    /// When the present interval ends.
    interval_ends: Nanos,
    /// Packets ever sent when it began; `None`: it is not whole.
    interval_from: Option<u32>,
    /// FlightSize at HO Start, until a sample of the time after the handoff.
    flight_before: Option<u32>,
    /// Packets below this give no RTT sample.
    unsampled: u32,
    /// The rules behind the last answer, as bits.
    applied: u32,
}

impl Default for HandoffNotification {
    fn default() -> Self {
        Self {
            rule: StartRule { ehd: None, encoding: Encoding::Quantised },
            state: State::Normal,
            v_bar: 0,
            interval_ends: INTERVAL,
            interval_from: Some(0),
            flight_before: None,
            unsampled: 0,
            applied: 0,
        }
    }
}

/// Bytes of so many packets.
fn bytes(packets: u32, view: &View) -> u64 {
    u64::from(packets) * u64::from(view.mss)
}

impl HandoffNotification {
    /// Where the sender is.
    pub fn state(&self) -> State {
        self.state
    }

    /// Bytes per RTT that it goes on sending in a handoff.
    pub fn v_bar(&self) -> u64 {
        self.v_bar
    }

    fn answer(&mut self, rule: u32, advice: Advice) -> Advice {
        self.applied = 1 << rule;
        advice
    }

    fn silence(&mut self) -> Advice {
        self.applied = 0;
        Advice::default()
    }

    /// "average amount of bytes sent each RTT in 500 ms intervals" (5.3): of the last whole interval in which
    /// anything was sent (9.25).
    fn measure(&mut self, now: Nanos, view: &View) {
        let normal = self.state == State::Normal;
        if let Some(from) = self.interval_from.filter(|_| normal) {
            let sent = u128::from(bytes(view.transmissions - from, view));
            let v_bar = sent * u128::from(view.srtt) / u128::from(INTERVAL);
            if v_bar > 0 {
                self.v_bar = v_bar as u64;
            }
        }
        self.interval_from = normal.then_some(view.transmissions);
        self.interval_ends += (now - self.interval_ends) / INTERVAL * INTERVAL + INTERVAL;
    }

    /// Back to NORMAL; the interval under way saw another sender.
    fn normal(&mut self) {
        self.state = State::Normal;
        self.interval_from = None;
    }

    /// Half of what was outstanding before the handoff, if more is outstanding now (RFC 5681, equation 4): what went
    /// into the buffer is no FlightSize that the window allowed.
    fn cut(&self, view: &View) -> Option<u32> {
        let before = self.flight_before.filter(|&before| before < view.flight)?;
        Some((before * PACKET / 2).max(LEAST_SSTHRESH * PACKET))
    }
}

impl Advisor for HandoffNotification {
    #[inline]
    fn listening(&self) -> bool {
        self.state != State::Normal || self.flight_before.is_some()
    }

    fn deadline(&self) -> Option<Nanos> {
        Some(match self.state {
            State::Handoff { ends, pace, next, .. } if pace.is_some() => {
                self.interval_ends.min(ends).min(next)
            }
            State::Handoff { ends, .. } => self.interval_ends.min(ends),
            State::Normal | State::Wait { .. } => self.interval_ends,
        })
    }

    fn on_deadline(&mut self, now: Nanos, view: &View) -> Advice {
        if now >= self.interval_ends {
            self.measure(now, view);
        }
        let State::Handoff { ends, pbs, pace, next, sent_before } = &mut self.state else {
            return self.silence();
        };
        if now >= *ends {
            self.state = State::Wait { sent: view.snd_max };
            self.unsampled = view.snd_max;
            return self.answer(4, Advice { resume: true, ..Advice::default() });
        }
        match *pace {
            Some(gap) if now >= *next => {
                *next = now + gap;
                if bytes(view.transmissions - *sent_before + 1, view) > *pbs {
                    *pace = None; // the buffer is full
                    return self.silence();
                }
                self.silence();
                Advice { send_new: true, beyond_window: true, ..Advice::default() }
            }
            _ => self.silence(),
        }
    }

    fn on_new_ack(&mut self, view: &View) -> Advice {
        match self.state {
            // A Finish that was lost must not make the next Start a second one.
            State::Wait { sent } if view.snd_una >= sent => {
                self.normal();
                self.answer(8, Advice::default())
            }
            _ => self.silence(),
        }
    }

    fn on_dup_ack(&mut self, _view: &View) -> Advice {
        self.silence()
    }

    fn on_fast_retransmit(&mut self, view: &View) -> Advice {
        match self.cut(view) {
            Some(half) => {
                let advice =
                    Advice { cwnd: Some(half), ssthresh: Some(half), keep_window: true, ..Advice::default() };
                self.answer(6, advice)
            }
            None => self.silence(),
        }
    }

    fn on_timeout(&mut self, view: &View) -> Advice {
        let ssthresh = self.cut(view);
        if self.state == State::Normal && ssthresh.is_none() {
            return self.silence();
        }
        self.normal();
        self.answer(5, Advice { ssthresh, ..Advice::default() })
    }

    fn on_rtt_sample(&mut self, _view: &View, seq: u32, _rtt: Nanos) -> Advice {
        if matches!(self.state, State::Handoff { .. }) || seq < self.unsampled {
            return self.answer(7, Advice { ignore_sample: true, ..Advice::default() });
        }
        self.flight_before = None;
        self.silence()
    }
}

impl HandoffNotification {
    const SETTINGS: [(&'static str, &'static str, &'static str, &'static str); 2] = [
        (
            "ehd",
            "disconnection",
            "5.1",
            "handoff delay that the mobile expects: a time up to 327.68s, or disconnection, what it will be",
        ),
        (
            "encoding",
            "quantised",
            "9.24",
            "EHD and PBS in four bits each as the paper has it, or exact: in steps of 10 ms and 1 kB",
        ),
    ];

    fn set(&mut self, key: &str, value: &str) -> Option<Result<(), &'static str>> {
        let rule = &mut self.rule;
        Some(match (key, value) {
            ("ehd", "disconnection") => {
                rule.ehd = None;
                Ok(())
            }
            ("ehd", time) => scheme::time(time)
                .filter(|&ehd| ehd <= LONGEST_EHD)
                .map(|ehd| rule.ehd = Some(ehd))
                .ok_or("disconnection, or a time up to 327.68s"),
            ("encoding", "quantised") => {
                rule.encoding = Encoding::Quantised;
                Ok(())
            }
            ("encoding", "exact") => {
                rule.encoding = Encoding::Exact;
                Ok(())
            }
            ("encoding", _) => Err("quantised or exact"),
            _ => return None,
        })
    }
}

/// Buffer sizes that can be told, bytes.
pub const TELLABLE_PBS: std::ops::RangeInclusive<u64> = PBS_UNIT..=LARGEST_PBS;

impl HandoffScheme for HandoffNotification {
    const ENTRIES: &'static [Entry] = &[Entry {
        name: "hn",
        stack: "inet-reno",
        summary: "FMIPv6 Handoff Notification: goes on sending into the new access router's buffer",
        source: "Espi and others 2010; segue explain 5",
    }];

    fn build(name: &str, settings: &[(String, String)]) -> Result<Self, SchemeError> {
        let mut made = Self::default();
        for (key, value) in settings {
            let keys = Self::SETTINGS.map(|(key, ..)| key);
            match made.set(key, value) {
                None => return Err(SchemeError::no_such_setting(name, key, &keys)),
                Some(Err(expected)) => {
                    let problem = format!("`{value}` is no value of {key}; expected {expected}");
                    return Err(SchemeError::Setting { scheme: name.to_string(), problem });
                }
                Some(Ok(())) => {}
            }
        }
        Ok(made)
    }

    fn settings(_name: &str) -> Vec<SettingInfo> {
        let info = |(name, default, section, meaning): (_, &str, _, _)| SettingInfo {
            name,
            default: default.to_string(),
            section,
            meaning,
        };
        Self::SETTINGS.map(info).into()
    }

    fn mobile(&self) -> MobileRule {
        MobileRule { announces: false, foretells: Some(self.rule), ..MobileRule::default() }
    }

    /// The new access router holds what comes, and drops what it has no room for (5.2, step 4).
    fn router(&self) -> Option<RouterRule> {
        Some(RouterRule { holder: Holder::New, overflow: Overflow::DropTail })
    }

    /// V is of the time before the handoff.
    fn remembers(&self) -> bool {
        true
    }

    /// Nobody sends one.
    fn on_notice(&mut self, _view: &View, _notice: &Notice) -> Advice {
        self.silence()
    }

    fn on_start(&mut self, now: Nanos, view: &View, start: &Start) -> Advice {
        if self.state != State::Normal {
            return self.answer(1, Advice::default());
        }
        let pace = (u128::from(view.srtt) * u128::from(view.mss)).checked_div(u128::from(self.v_bar));
        let pace = pace.filter(|_| view.srtt > 0).map(|gap| (gap as Nanos).max(1));
        self.state = State::Handoff {
            ends: now + start.ehd,
            pbs: start.pbs,
            pace,
            next: now + pace.unwrap_or(0),
            sent_before: view.transmissions,
        };
        self.flight_before = Some(view.flight);
        self.answer(0, Advice { suspend: true, ..Advice::default() })
    }

    fn on_finish(&mut self, view: &View) -> Advice {
        match self.state {
            State::Normal => self.answer(3, Advice::default()),
            State::Handoff { .. } | State::Wait { .. } => {
                self.normal();
                self.unsampled = view.snd_max;
                self.answer(2, Advice { resume: true, rearm_timer: true, ..Advice::default() })
            }
        }
    }

    fn applied(&self) -> Vec<Rule> {
        HN_RULES.iter().filter(|rule| self.applied & rule.bit != 0).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_a_bit_of_its_own_and_cites_a_section_that_exists() {
        let text = include_str!("../../../docs/reference/algorithms.md");
        for (index, rule) in HN_RULES.iter().enumerate() {
            assert_eq!(rule.bit, 1 << index, "{}", rule.name);
            assert!(text.contains(&format!("### {} ", rule.section)), "{}: {}", rule.name, rule.section);
        }
    }
}
