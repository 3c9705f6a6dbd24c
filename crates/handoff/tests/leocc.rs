//! `leocc` (algorithms.md, 11.6): when its flag is up. The control and its filter (vector 54) are in `segue-tcp`.

use crate::line::{Line, MS};
use segue_handoff::{Clock, Scheme};
use segue_tcp::advice::KernelAdvice;
use segue_tcp::{Advice, Advisor};

/// The handoff is at 11.5 s. The flag goes up 100 ms before the schedule has it, and comes down then. It is read when
/// the flag goes up, or at the handoff.
#[test]
fn the_flag_is_up_for_the_last_100_ms() {
    for (error, up, lead) in
        [("0s", 11_400, 100), ("100ms", 11_500, 0), ("1s", 12_400, 0), ("-1s", 10_400, 1_100)]
    {
        let mut scheme =
            Scheme::build("leocc", &[("schedule-error".into(), error.into())]).expect("a scheme");
        assert_eq!((scheme.deadline(), scheme.schedule()), (None, Some(lead * MS)), "{error}");
        scheme.on_schedule(11_500 * MS);
        let view = Line::new("linux-6.12/leocc", "leocc", &[], 50 * MS).sender.view();
        for (at, is_near) in [(up, true), (up + 100, false)] {
            assert_eq!(scheme.deadline(), Some(at * MS), "{error}");
            let told = scheme.on_deadline(at * MS, &view);
            assert_eq!(
                told,
                Advice::from(KernelAdvice { path_changes_soon: Some(is_near), ..KernelAdvice::default() })
            );
        }
        assert_eq!(scheme.deadline(), None);
    }
    for beyond in ["1.1s", "-1.1s", "soon"] {
        let error =
            Scheme::build("leocc", &[("schedule-error".into(), beyond.into())]).unwrap_err().to_string();
        assert!(error.contains("expected a time up to 1s"), "{beyond}: {error}");
    }
}

/// On a link that is reconfigured at 12 s, 27 s and so on the flag goes up 100 ms before each. It goes up at a handoff
/// as well. The user's clock goes before the link's. `satcp` has handoffs alone.
#[test]
fn the_clock_is_that_of_the_link_unless_one_is_given() {
    let view = Line::new("linux-6.12/leocc", "leocc", &[], 50 * MS).sender.view();
    let leo = Some(Clock { every: 15_000 * MS, first: 12_000 * MS });
    let told = |near| Advice::from(KernelAdvice { path_changes_soon: Some(near), ..KernelAdvice::default() });
    let mut scheme = Scheme::build("leocc", &[]).expect("a scheme");
    scheme.on_link(0, leo);
    scheme.on_schedule(20_000 * MS);
    for (at, near) in [(11_900, true), (12_000, false), (19_900, true), (20_000, false), (26_900, true)] {
        assert_eq!(scheme.deadline(), Some(at * MS));
        assert_eq!(scheme.on_deadline(at * MS, &view), told(near), "{at}");
    }
    // The flag that is up comes down on a link without a clock; on one with another, what has begun is past.
    scheme.on_link(26_950 * MS, None);
    assert_eq!(scheme.deadline(), Some(27_000 * MS));
    scheme.on_deadline(27_000 * MS, &view);
    assert_eq!(scheme.deadline(), None);
    scheme.on_link(41_900 * MS, leo);
    assert_eq!(scheme.deadline(), Some(56_900 * MS));

    let with = |key: &str, value: &str| Scheme::build("leocc", &[(key.into(), value.into())]);
    for (key, value, up) in [
        ("reconfigurations", "10s@3s", Some(2_900)),
        ("reconfigurations", "off", None),
        ("reconfigurations", "link", Some(11_900)),
        ("schedule-error", "-0.2s", Some(11_700)),
        ("schedule-error", "1s", Some(12_900)),
    ] {
        let mut scheme = with(key, value).expect("a scheme");
        scheme.on_link(0, leo);
        assert_eq!(scheme.deadline(), up.map(|up| up * MS), "{key} {value}");
    }
    for bad in ["15s", "15s@", "0s@1s", "0.5s@1s", "15s@-1s", "2h@1s", "sometimes"] {
        let error = with("reconfigurations", bad).unwrap_err().to_string();
        assert!(error.contains("expected link, off, or EVERY@FIRST such as 15s@12s"), "{bad}: {error}");
    }
    let mut satcp = Scheme::build("satcp", &[]).expect("a scheme");
    satcp.on_link(0, leo);
    assert_eq!(satcp.deadline(), None);
    assert!(Scheme::build("satcp", &[("reconfigurations".into(), "off".into())]).is_err());
}

/// The whole sender on a path of 50 ms, with the flag in Startup, which goes on: nothing leaves that would not.
#[test]
fn startup_does_not_heed_the_flag() {
    let [mut told, mut untold] = [(); 2].map(|()| Line::new("linux-6.12/leocc", "leocc", &[], 50 * MS));
    told.sender.advisor().on_schedule(170 * MS);
    assert_eq!(told.sender.advisor().deadline(), Some(70 * MS));
    let mut sent = 0;
    for (until, ack) in [(80, 2), (100, 4), (160, 8), (200, 12)] {
        let left = [&mut told, &mut untold].map(|line| {
            let by_timer = line.wait(until * MS);
            let by_ack = line.ack(0, ack, &[], 50 * MS);
            (by_timer, by_ack, line.sender.view().cwnd)
        });
        assert_eq!(left[0], left[1], "until {until} ms");
        sent += left[0].0.len() + left[0].1.len();
    }
    assert_eq!(told.sender.advisor().deadline(), None);
    assert!(sent > 10, "{sent}");
}
