//! `satcp` (algorithms.md, 11.4): when its flag is up. The curve is vector 53, in `segue-tcp`.

use crate::line::{Line, MS};
use segue_handoff::{MobileRule, Scheme};
use segue_tcp::advice::KernelAdvice;
use segue_tcp::{Advice, Advisor};

fn scheme(error: &str) -> Scheme {
    Scheme::build("satcp", &[("schedule-error".into(), error.into())]).expect("a scheme")
}

/// The handover is at 11.5 s. The schedule is read when the flag goes up, or at the handover. It is up for 2.3 s.
#[test]
fn the_flag_is_up_from_half_a_second_before() {
    for (error, up, lead) in [
        ("0s", 11_000, 500),
        ("500ms", 11_500, 0),
        ("1s", 12_000, 0),
        ("-0.2s", 10_800, 700),
        ("-1s", 10_000, 1_500),
    ] {
        let mut scheme = scheme(error);
        assert_eq!(scheme.deadline(), None);
        assert_eq!(scheme.schedule(), Some(lead * MS), "{error}");
        scheme.on_schedule(11_500 * MS);
        assert_eq!(scheme.deadline(), Some(up * MS), "{error}");
        let view = Line::new("linux-6.12", "cubic", &[], 50 * MS).sender.view();
        let told = scheme.on_deadline(up * MS, &view);
        assert_eq!(told, Advice::from(KernelAdvice { keep_w_max: Some(true), ..KernelAdvice::default() }));
        assert_eq!(scheme.deadline(), Some((up + 2_300) * MS));
        assert_eq!(scheme.on_deadline((up + 2_300) * MS, &view).kernel.keep_w_max, Some(false));
        assert_eq!(scheme.deadline(), None);
    }
    for beyond in ["1.1s", "-1.1s", "-60s"] {
        assert!(Scheme::build("satcp", &[("schedule-error".into(), beyond.into())]).is_err(), "{beyond}");
    }
}

#[test]
fn an_error_of_the_schedule_has_a_unit() {
    for (error, is_one) in [("200", false), ("-200", false), ("200ms", true), ("-0.2s", true), ("0", true)] {
        assert_eq!(
            Scheme::build("satcp", &[("schedule-error".into(), error.into())]).is_ok(),
            is_one,
            "{error}"
        );
    }
}

/// A handover that follows soon puts it up anew for its whole time.
#[test]
fn the_next_handover_keeps_it_up() {
    let mut scheme = scheme("0s");
    let view = Line::new("linux-6.12", "cubic", &[], 50 * MS).sender.view();
    scheme.on_schedule(2_000 * MS);
    assert_eq!(scheme.on_deadline(1_500 * MS, &view).kernel.keep_w_max, Some(true));
    scheme.on_schedule(3_000 * MS);
    assert_eq!(scheme.deadline(), Some(2_500 * MS));
    assert_eq!(scheme.on_deadline(2_500 * MS, &view).kernel.keep_w_max, Some(true));
    assert_eq!(scheme.deadline(), Some(4_800 * MS));
    // One that comes later does not.
    scheme.on_schedule(10_000 * MS);
    assert_eq!(scheme.on_deadline(4_800 * MS, &view).kernel.keep_w_max, Some(false));
    assert_eq!(scheme.deadline(), Some(9_500 * MS));
}

/// Nobody tells it of handoffs.
#[test]
fn no_notice_is_sent() {
    let rule = scheme("0s").mobile();
    assert_eq!(rule, MobileRule { announces: false, ..MobileRule::default() });
}
