//! `leocc` (algorithms.md, 11.6): when its flag is up. The control and its filter (vector 54) are in `segue-tcp`.

mod line;

use line::{Line, MS};
use segue_handoff::Scheme;
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
            assert_eq!(told, Advice { reconfigures: Some(is_near), ..Advice::default() });
        }
        assert_eq!(scheme.deadline(), None);
    }
    for beyond in ["1.1s", "-1.1s", "soon"] {
        let error =
            Scheme::build("leocc", &[("schedule-error".into(), beyond.into())]).unwrap_err().to_string();
        assert!(error.contains("expected a time up to 1s"), "{beyond}: {error}");
    }
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
