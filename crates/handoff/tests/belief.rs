//! A lie outside an outage: with `enact=linux` it raises neither cwnd nor ssthresh (docs/internals/kernel.md).

use segue_handoff::{Notice, Scheme};
use segue_policy::Link;
use segue_tcp::View;

const PACKET: u32 = 256;
const SLOW: Link = Link { rate_kbps: 200, delay_us: 300_000 };
const LIE: Link = Link { rate_kbps: 10_000_000, delay_us: 9_000 };
const SCHEMES: [&str; 6] = ["etcp", "etcp-a5", "etcp-v1", "tcp-ho", "tcp-ho-immediate", "tcp-ho-aggressive"];

/// Open, in fast recovery, in RTO recovery with the timer expired once or more, and after it.
fn views() -> Vec<View> {
    let open = View {
        snd_una: 100,
        snd_max: 120,
        flight: 20,
        transmissions: 120,
        mss: 1460,
        cwnd: 20 * PACKET,
        ssthresh: 10 * PACKET,
        rto: 1_000_000_000,
        srtt: 600_000_000,
        ssthresh_saved: 0,
        srtt_before: 0,
        timeouts_since_ack: 0,
        in_fast_recovery: false,
        in_rto_recovery: false,
        kernel: None,
    };
    let expired = |timeouts| View {
        cwnd: PACKET,
        ssthresh: 2 * PACKET,
        ssthresh_saved: 10 * PACKET,
        srtt_before: 600_000_000,
        timeouts_since_ack: timeouts,
        in_rto_recovery: true,
        ..open
    };
    let acked = View { timeouts_since_ack: 0, ssthresh_saved: 0, cwnd: 2 * PACKET, ..expired(1) };
    vec![open, View { in_fast_recovery: true, ..open }, expired(1), expired(4), acked]
}

/// How often cwnd or ssthresh becomes larger than it was, or than ssthresh was after the first timeout.
fn raised(enact: &str) -> usize {
    let told = |name: &&str, view: &View, disconnected| {
        let mut scheme = Scheme::build(name, &[("enact".into(), enact.into())]).expect("a scheme");
        let notice = Notice { old_link: SLOW, new_link: LIE, flows: 1, disconnected };
        let advice = scheme.on_notice(view, &notice);
        let least = view.ssthresh.max(view.ssthresh_saved);
        let bound = if view.in_rto_recovery { least } else { view.cwnd.max(view.ssthresh) };
        advice.cwnd.is_some_and(|cwnd| cwnd > view.cwnd)
            || advice.ssthresh.is_some_and(|ssthresh| ssthresh > bound)
    };
    let all = SCHEMES.iter().flat_map(|name| views().into_iter().map(move |view| (name, view)));
    all.filter(|(name, view)| told(name, view, 0)).count()
}

#[test]
fn a_lie_outside_an_outage_raises_nothing() {
    assert!(raised("paper") > 0, "nobody would believe it");
    assert_eq!(raised("linux"), 0);
}

/// After one the new link may be what it is said to be, but not all leaves at once.
#[test]
fn after_an_outage_no_more_than_64_packets_leave_at_once() {
    let most = |enact: &str| {
        let notice = Notice { old_link: SLOW, new_link: LIE, flows: 1, disconnected: 1 };
        let cwnd = |(name, view): (&&str, View)| {
            let mut scheme = Scheme::build(name, &[("enact".into(), enact.into())]).expect("a scheme");
            scheme.on_notice(&view, &notice).cwnd
        };
        let all = SCHEMES.iter().flat_map(|name| views().into_iter().map(move |view| (name, view)));
        all.filter_map(cwnd).max().expect("a window")
    };
    assert!(most("paper") > 64 * PACKET);
    assert_eq!(most("linux"), 64 * PACKET);
}
