//! The vectors of algorithms.md, section 7, in user space.

use crate::common::hear;
use crate::common::vectors::{beliefs, vectors};
use segue_policy::{Action, Grant, believe};

#[test]
fn every_vector_is_met() {
    for vector in vectors() {
        println!("{}", vector.name);
        (vector.check)(&hear(&vector.settings, &vector.tcp, &vector.notice).0);
    }
}

#[test]
fn notices_are_believed_so_far() {
    for belief in beliefs() {
        let found = believe(
            &belief.tcp,
            &belief.notice,
            crate::common::packets(belief.proven),
            belief.action(belief.asked),
        );
        assert_eq!(found, (belief.action(belief.believed), belief.grant), "{}", belief.name);
        // A policy that asks for no window gets none, and is not on trial.
        let nothing = believe(&belief.tcp, &belief.notice, 0, Action::NOTHING);
        assert_eq!(nothing, (Action::NOTHING, Grant::Nothing), "{}", belief.name);
    }
}
