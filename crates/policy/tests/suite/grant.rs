//! The window that a notice has granted, by hand; `crates/kernel/tests/vectors.rs` plays the same list in a program.

use crate::common::vectors::{GrantEvent, NEAR, grants};
use segue_policy::{Action, Link, Notice, Sender, What, grant};

fn ask(event: GrantEvent, [a, b, c, d]: [u32; 4]) -> u32 {
    match event {
        GrantEvent::BurstWindow => grant::burst_window(a, b),
        GrantEvent::LossProbeWindow => grant::loss_probe_window(a, b),
        GrantEvent::WindowAfterLossProbe => grant::window_after_loss_probe(a, b),
        GrantEvent::TrialAllows => grant::trial_allows(a),
        GrantEvent::TrialFails => grant::trial_fails(a, b, c).into(),
        GrantEvent::DeliveredWindow => grant::delivered_window(a, b, c),
        GrantEvent::RefutedWindow => grant::refuted_window(a, b),
        GrantEvent::ProvenTwice => grant::proven_twice(a),
        GrantEvent::RateCheckFails => grant::rate_check_fails(a, b, c, d).into(),
        GrantEvent::RejectsNotice => grant::rejects_notice(a != 0, b != 0, c).into(),
        GrantEvent::KeptWindow => grant::kept_window(a, b, c, d != 0),
        GrantEvent::TimeoutProvesNothing => grant::timeout_proves_nothing(a, b != 0).into(),
        GrantEvent::HidesSlowStart => grant::hides_slow_start(a, b != 0).into(),
        GrantEvent::UndoneWindow => grant::undone_window(a, b, c),
        GrantEvent::RtoBound => grant::rto_bound_ms(&Link { rate_kbps: a, delay_us: b }),
        GrantEvent::WasSilent => grant::was_silent(a, b, &NEAR).into(),
        GrantEvent::DelayBeyond => grant::delay_beyond_us(a, b, &NEAR),
    }
}

/// Ten seconds, and never after an outage.
#[test]
fn a_notice_that_follows_another_one() {
    let lately =
        |disconnected, notified| [9_999, 10_000].map(|ms| grant::notified_lately(disconnected, notified, ms));
    assert_eq!(lately(false, true), [true, false]);
    assert_eq!([lately(false, false), lately(true, true)], [[false; 2]; 2]);
}

#[test]
fn bounds_by_hand() {
    for (event, arguments, answer) in grants() {
        assert_eq!(ask(event, arguments), answer, "{event:?} {arguments:?}");
    }
}

/// cwnd is the link's own window; ssthresh is no more than that, or what the flow had before.
#[test]
fn after_an_outage_the_link_s_queue_is_not_flooded() {
    let asked = Action {
        what: What::SET_CWND | What::SET_SSTHRESH,
        cwnd: 40 * 256,
        ssthresh: 40 * 256,
        ..Action::NOTHING
    };
    for (saved, ssthresh) in [(0, 11), (5, 11), (20, 20), (90, 40)] {
        let tcp = Sender { ssthresh_saved: saved * 256, ..Sender::default() };
        let act = grant::fit_into_queue(11 * 256, &tcp, asked);
        assert_eq!((act.cwnd, act.ssthresh), (11 * 256, ssthresh * 256), "{saved}");
    }
    let nothing = grant::fit_into_queue(11 * 256, &Sender::default(), Action::NOTHING);
    assert_eq!(nothing, Action::NOTHING);
}

#[test]
fn what_lies_beyond_is_added_to_both_links() {
    let link = |delay_us| Link { rate_kbps: 200, delay_us };
    let notice = Notice { old_link: link(9000), new_link: link(300_000), flows: 2, disconnected: 1 };
    let path = grant::of_path(&notice, 5025);
    assert_eq!((path.old_link.delay_us, path.new_link.delay_us), (14_025, 305_025));
    assert_eq!((path.flows, path.disconnected, path.old_link.rate_kbps), (2, 1, 200));
}
