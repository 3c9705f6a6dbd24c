//! Rules behind what TCP does by itself in a story: the RFC's on stacks of the papers, the kernel's on its own.

use crate::numbers::packets;
use segue_tcp::linux::cc::HyStartSign;
use segue_tcp::rules::RecoveryRules;
use segue_tcp::{StackProfile, Window256};

/// Section of algorithms.md about this stack: none of it is a kernel's.
pub fn section(stack: &StackProfile) -> Option<&'static str> {
    stack.kernel.is_none().then_some("1")
}

/// The rule, with that section.
pub(crate) fn cited(rule: &str, stack: &StackProfile) -> String {
    match section(stack) {
        Some(section) => format!("{rule}; segue explain {section}"),
        None => rule.to_string(),
    }
}

/// Reason why a sender sent `head` again at once: duplicate ACKs, or what SACK reported.
pub fn fast_retransmit_in_words(stack: &StackProfile, dupthresh: u32, head: u32, dup_acks: u32) -> String {
    let plural = if dup_acks == 1 { "" } else { "s" };
    let by = match stack.recovery {
        _ if finds_by_time(stack) => Some("RACK"),
        RecoveryRules::Rfc6675 if dup_acks < dupthresh => Some("SACK"),
        _ => None,
    };
    match (by, dup_acks) {
        (Some("RACK"), 0) => format!("by RACK: fast retransmit of packet {head}"),
        (Some(by), _) => {
            format!("by {by}, after {dup_acks} duplicate ACK{plural}: fast retransmit of packet {head}")
        }
        (None, 0) => format!("fast retransmit of packet {head}"),
        (None, _) => format!("{dup_acks} duplicate ACK{plural}: fast retransmit of packet {head}"),
    }
}

/// The rule of a fast retransmit on this stack.
pub fn fast_retransmit_rule(stack: &StackProfile) -> &'static str {
    match stack.recovery {
        _ if finds_by_time(stack) => "RFC 8985, 6.2; tcp_rack_detect_loss",
        RecoveryRules::Rfc6675 => "RFC 6675, 5 and IsLost of 4",
        RecoveryRules::NewReno => "RFC 6582, 3.2",
        RecoveryRules::Ns2Sack1 | RecoveryRules::Reno => "RFC 5681, 3.2",
    }
}

/// The rule by which HyStart ends slow start.
pub const HYSTART_RULE: &str = "tcp_cubic.c, hystart_update";

/// The end of slow start by HyStart, and what ssthresh was and is.
pub fn hystart_in_words(sign: HyStartSign, before: Window256, ssthresh: Window256) -> String {
    let why = match sign {
        HyStartSign::AckTrain => "ACK train",
        HyStartSign::RoundTrips => "round trips rise",
    };
    format!("slow start is over by HyStart ({why}): ssthresh {} to {}", packets(before), packets(ssthresh))
}

/// The rule that ends fast recovery.
pub(crate) fn recovery_end_rule(stack: &StackProfile) -> &'static str {
    match stack.recovery {
        _ if stack.kernel.is_some() => "RFC 9937; tcp_end_cwnd_reduction",
        RecoveryRules::Rfc6675 | RecoveryRules::Ns2Sack1 => "RFC 6675, 5",
        RecoveryRules::NewReno => "RFC 6582, 3.2",
        RecoveryRules::Reno => "RFC 5681, 3.2",
    }
}

/// The rule of an expiry of the retransmission timer.
pub fn timeout_rule(stack: &StackProfile) -> &'static str {
    match stack.kernel {
        Some(_) => "RFC 6298, 5.4 to 5.6; tcp_retransmit_timer",
        None => "RFC 6298, 5.4 to 5.6",
    }
}

/// The rule that ends the recovery from an expiry.
pub(crate) fn timeout_end_rule(stack: &StackProfile) -> &'static str {
    match stack.kernel {
        Some(_) => "RFC 5682; tcp_process_loss",
        None => "segue explain 1",
    }
}

/// Whether losses are found by RACK, which needs SACK.
fn finds_by_time(stack: &StackProfile) -> bool {
    stack.kernel.is_some() && stack.sack_blocks > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_slow_start_names_its_sign_and_both_thresholds() {
        assert_eq!(
            [(HyStartSign::RoundTrips, 488 * 256), (HyStartSign::AckTrain, u32::MAX)]
                .map(|(sign, before)| hystart_in_words(sign, before, 24 * 256)),
            [
                "slow start is over by HyStart (round trips rise): ssthresh 488 to 24",
                "slow start is over by HyStart (ACK train): ssthresh no limit to 24",
            ]
        );
    }
}
