//! The physical bound: what no scheme can beat (docs/reference/bounds.md).
//!
//! It is the later of (a) and (b). (a) is the last delivery over the old link plus its ACK's way over the faster one. (b)
//! is the time at which the new link has carried what it must, plus the way of the last packet and of its ACK. The new
//! link is busy from the first instant at which a packet can reach it.
//!
//! A scheme need not wait for the old link. It may send the last `k` packets that are still on it over the new link as
//! well. Every fast retransmit after a move from a slow to a fast link does so. So the bound is the least over `k` of
//! the later of (a) for the packets before those and (b) with `k` packets more. Where the new link is the slower one,
//! `k` is 0 and this is the formula of the design to the letter.

use segue_netsim::Nanos;

/// The bound in ns from completion.
///
/// * `old`: when needed packets reach the mobile over the old link.
/// * `must_carry`: needed packets that only the new link can bring.
/// * `brought(n)`: when the mobile has n packets over the new link at the earliest, asked for growing n only.
/// * `acknowledged(t)`: when the sender can have the ACK of a packet that reached the mobile at `t`.
/// * `old_acknowledged(t)`: the same of a packet that came over the old link, not later than by `acknowledged`.
pub fn bound(
    completion: Nanos,
    old: &[Nanos],
    must_carry: u64,
    mut brought: impl FnMut(u64) -> Nanos,
    acknowledged: impl Fn(Nanos) -> Nanos,
    old_acknowledged: impl Fn(Nanos) -> Nanos,
) -> Nanos {
    let mut old = old.to_vec();
    old.sort_unstable();
    let mut best = Nanos::MAX;
    for resent in 0..=old.len() {
        let waited = old[..old.len() - resent].last().copied();
        let packets = must_carry + resent as u64;
        let carried = (packets > 0).then(|| brought(packets));
        let last = waited.map(&old_acknowledged).max(carried.map(&acknowledged));
        best = best.min(last.unwrap_or(completion));
        if carried >= waited {
            break; // resending more only takes longer
        }
    }
    best - completion
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each packet takes 100 on the new link.
    fn brought(n: u64) -> Nanos {
        n * 100 + 10
    }

    fn acknowledged(t: Nanos) -> Nanos {
        t + 40
    }

    #[test]
    fn a_slow_new_link_decides_alone() {
        assert_eq!(bound(0, &[100, 200], 10, brought, acknowledged, acknowledged), 1_050);
    }

    #[test]
    fn a_slow_old_link_is_waited_for_or_bypassed() {
        // Waiting: 5000 + 40. Resending the last: max(3000 + 40, 350). Both: 450.
        assert_eq!(bound(0, &[3_000, 5_000], 2, brought, acknowledged, acknowledged), 450);
        // Resending is no help for what arrives before the new link could bring it.
        assert_eq!(bound(0, &[300, 5_000], 2, brought, acknowledged, acknowledged), 350);
    }

    /// The mobile acknowledges over the old link, 30 sooner, what that brings.
    #[test]
    fn an_ack_takes_the_faster_link() {
        let over_old = |t| t + 10;
        assert_eq!(bound(0, &[100, 120], 0, brought, acknowledged, over_old), 130);
        assert_eq!(bound(0, &[100, 120], 10, brought, acknowledged, over_old), 1_050);
    }

    #[test]
    fn nothing_needed_takes_no_time() {
        assert_eq!(bound(7, &[], 0, brought, acknowledged, acknowledged), 0);
    }
}
