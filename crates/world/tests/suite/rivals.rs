//! Rival policies at work (algorithms.md, section 11), where physics says what must come of them.

use crate::support::*;
use segue_tcp::profile::LINUX_6_12_BBR;
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
