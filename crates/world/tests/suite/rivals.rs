//! Rival policies at work (algorithms.md, section 11), where physics says what must come of them.

use crate::support::*;
use segue_tcp::profile::{LINUX_6_12_BBR, LINUX_6_12_LEOCC};
use segue_world::{Experiment, NoticeMode};

/// The round trip grows sixteenfold at an equal rate. BBR's window is two of the old path's BDP, an eighth of the new
/// one, until ten seconds are over. The jump is seen within four round trips, and then the window is that of the new
/// path. Nobody needs to tell.
#[test]
fn a_longer_path_is_seen_by_its_round_trips() {
    let longer =
        Experiment { stack: LINUX_6_12_BBR, packets: 1_000, ..experiment("20mbit/9ms", "20mbit/200ms") };
    let untold = Experiment { notice: NoticeMode::Withheld, ..longer.clone() };
    for at in [4_000, 5_300, 7_100].map(|at| at * MS) {
        let [plain, sees] = ["sack", "rtt-jump"].map(|name| run(&longer, at, &scheme(name)).transfer);
        let (plain, sees) = (plain.expect("an end"), sees.expect("an end"));
        assert!(2 * sees < plain, "{sees} and {plain} at {at}");
        assert_eq!(run(&untold, at, &scheme("rtt-jump")).transfer, Some(sees));
    }
}

/// A path that is not longer shows no jump: the sender is BBR, bit by bit.
#[test]
fn a_path_that_is_not_longer_shows_no_jump() {
    let alike = Experiment { stack: LINUX_6_12_BBR, ..experiment("20mbit/60ms", "20mbit/60ms") };
    for at in [4_000, 5_300, 7_100].map(|at| at * MS) {
        let [plain, sees] = ["sack", "rtt-jump"].map(|name| run(&alike, at, &scheme(name)));
        assert_eq!(sees, plain, "at {at}");
    }
}

/// The same longer path with LeoCC. A sender that has the schedule measures it around the handoff, and Startup fills
/// it. One without keeps the round trip of the old path for up to 20 s and takes the new one for a queue. It goes by a
/// bandwidth that it holds down itself.
#[test]
fn a_schedule_has_the_longer_path_measured_at_once() {
    let longer =
        Experiment { stack: LINUX_6_12_LEOCC, packets: 1_000, ..experiment("20mbit/9ms", "20mbit/200ms") };
    let untold = Experiment { notice: NoticeMode::Withheld, ..longer.clone() };
    for at in [4_000, 5_300, 7_100].map(|at| at * MS) {
        let [plain, knows] = ["sack", "leocc"].map(|name| run(&longer, at, &scheme(name)));
        assert_eq!(run(&untold, at, &scheme("leocc")), plain, "no schedule at {at}");
        let (plain, knows) = (plain.transfer.expect("an end"), knows.transfer.expect("an end"));
        assert!(2 * knows < plain, "{knows} and {plain} at {at}");
    }
}

/// Links that are reconfigured by a clock, here without any change. The schedule has it from the link, as if the user
/// had given it, before the handoff and after. Without the clock, or where nothing is known, it is another run.
#[test]
fn a_schedule_has_the_clock_of_the_link() {
    let link = "20mbit/30ms,reconfigure=5s@2s(0ms,0ms)";
    let to = |new: &str| Experiment { stack: LINUX_6_12_LEOCC, packets: 5_000, ..experiment(link, new) };
    let set = |value: &str| scheme_with("leocc", &[("reconfigurations", value)]);
    let at = 8_500 * MS;
    let alike = to(link);
    let [of_link, of_user, off] = ["link", "5s@2s", "off"].map(|clock| run(&alike, at, &set(clock)));
    assert_eq!(of_link, of_user);
    assert_ne!(of_link, off);
    // A link without a clock: that of the old one ends with the handoff.
    let away = to("20mbit/30ms");
    let [of_link, of_user] = ["link", "5s@2s"].map(|clock| run(&away, at, &set(clock)));
    assert_ne!(of_link, of_user);
    let untold = Experiment { notice: NoticeMode::Withheld, ..alike };
    let [of_link, off] = ["link", "off"].map(|clock| run(&untold, at, &set(clock)));
    assert_eq!(of_link, off);
}
