//! The rules that an action can name: where each stands in docs/reference, and what it says.

/// One rule of a scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its bit in [`Action::rules`](crate::Action::rules).
    pub bit: u32,
    /// Its name in the papers.
    pub name: &'static str,
    /// Section of docs/reference/algorithms.md, or `near 8.1` of docs/reference/near.md.
    pub section: &'static str,
    /// Its effect, in one clause.
    pub says: &'static str,
}

macro_rules! rules {
    ($(#[$doc:meta])* $table:ident: $($bit:literal $name:literal $section:literal $says:literal;)*) => {
        $(#[$doc])*
        pub const $table: &[Rule] =
            &[$(Rule { bit: 1 << $bit, name: $name, section: $section, says: $says },)*];
    };
}

rules! {
    /// The rules of Enhanced TCP, as `policy/etcp_rules.h` numbers them.
    ETCP_RULES:
    0 "A1, case 1" "2.1" "the timer would not outlast the ACKs on their way: minrto grows by the old link's queue";
    1 "A1, case 2" "2.1" "in fast recovery: minrto covers the new round trip and the old link's queue";
    2 "A1, case 3" "2.1" "minrto covers the new round trip and what is under way, queued at the new link";
    3 "A1" "2.1" "all that was sent before the handoff is acknowledged: RTT variables start anew";
    4 "first sample" "2.1, 2.5" "first valid RTT sample of the new path: RTT variables and minrto are the stack's again";
    5 "old sample" "2.5" "an RTT sample of a packet sent before the handoff is not used";
    6 "A2" "2.2" "more is in flight than twice the new BDP: cwnd = ssthresh = BDP";
    7 "A5" "2.3" "more is in flight than 1.5 or 2 times the new BDP: cwnd = ssthresh = BDP";
    8 "no second cut" "2.3" "fast retransmit of a packet sent before the handoff leaves the reduced window alone";
    9 "no second cut" "2.3" "the timeout leaves the reduced ssthresh alone";
    10 "A3" "2.4" "in RTO recovery: the head is sent at once, ssthresh is what the first timeout left";
    11 "A4" "2.5" "the RTT changes by a factor of two: RTT variables start anew";
    12 "Fig. 1" "3.1" "more is in flight than this flow's share can hold: cwnd = ssthresh = share";
    13 "Fig. 2" "3.2" "in RTO recovery: the head is sent at once, ssthresh is this flow's share";
    14 "Fig. 3 (a)" "3.3" "the BDP falls: cwnd = ssthresh = share";
    15 "Fig. 3 (a)" "3.3" "the bandwidth more than triples: packets that overtake others are expected";
    16 "Fig. 3 (b)" "3.3" "fast retransmit while reordering is expected: SACK holes wait";
    17 "Fig. 3 (c)" "3.3" "a duplicate ACK lets one new packet out, and no hole is resent";
    18 "Fig. 3 (c)" "3.3" "more duplicate ACKs than reordering explains: normal SACK recovery";
    19 "Fig. 3 (d)" "3.3" "a D-SACK showed that nothing had been lost: the window is given back";
    20 "Fig. 3 (d)" "3.3" "all that was sent before the handoff is acknowledged: RTT variables start anew";
    21 "convergence" "3.5" "the RTT changes by a factor of two: RTT variables start anew";
}

rules! {
    /// The rules of TCP-HO, as `policy/tcp_ho.h` numbers them.
    TCP_HO_RULES:
    0 "resume" "4.3" "just after a timeout: the head is sent at once, the timer starts again without back-off";
    1 "HO_ADJUST" "4.3" "ssthresh = the new bandwidth times the SRTT before the timeout";
    2 "aggressive" "4.5" "cwnd = ssthresh at once";
    3 "guard" "4.3" "no timeout since snd_una advanced: the notice is ignored";
    4 "second copy" "4.3" "the notice has been heard: it is ignored";
    5 "HO_ADJUST" "4.3" "an RTT sample of the new path: ssthresh = the new bandwidth times their average";
    6 "NORMAL" "4.3" "enough RTT samples of the new path: HO_ADJUST is over";
    7 "NORMAL" "4.3" "congestion: HO_ADJUST is over, and the bandwidth is forgotten";
    8 "guard" "4.5" "too few timeouts for an outage: no burst, slow start to ssthresh";
    9 "trial" "4.3" "congestion before cwnd reached the reported ssthresh: the report is refuted";
    10 "trial" "4.3" "a report was refuted before: ssthresh no larger than the window that was found then";
}

rules! {
    /// The rules of RLCI, as `policy/rlci.h` numbers them.
    RLCI_RULES:
    0 "re-probe" "10.1" "the path is taken for a new one: cwnd = initial window, RTT variables and timer start anew";
    1 "resume" "10.2" "just after a timeout: the head is sent at once";
    2 "old ACK" "10.3" "an ACK of what was sent before the handoff leaves cwnd at the initial window";
    3 "old sample" "10.4" "an RTT sample of a packet sent before the handoff is not used";
    4 "first sample" "10.4" "first RTT sample of the new path: the RTO follows it";
}

rules! {
    /// The rules of `near` for one flow alone, as `policy/near_flow.h` numbers them. Sections are of
    /// docs/reference/near.md.
    NEAR_RULES:
    0 "claim" "near 8.1" "the claim begins: this flow's part of the new path is its window, and its packets are paced";
    1 "old loss" "near 8.4" "a loss of what was sent before the notice is the old link's: the window stays";
    2 "expected" "near 8.13" "a handoff is expected: packets leave no faster than this flow's part of the new link";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_cites_a_section_that_exists() {
        let text = include_str!("../../../docs/reference/algorithms.md");
        for rule in ETCP_RULES.iter().chain(TCP_HO_RULES).chain(RLCI_RULES) {
            for section in rule.section.split(", ") {
                assert!(text.contains(&format!("### {section} ")), "{}: {section}", rule.name);
            }
        }
    }

    #[test]
    fn every_rule_of_near_cites_one_that_exists() {
        let text = include_str!("../../../docs/reference/near.md");
        for rule in NEAR_RULES {
            let number = rule.section.strip_prefix("near ").expect("of near.md");
            assert!(text.contains(&format!("\n{number} ")), "{}: {number}", rule.name);
        }
    }
}
