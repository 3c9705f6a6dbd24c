//! The vectors of algorithms.md, section 7, in user space.

mod common;
use common::hear;
use common::vectors::vectors;

#[test]
fn every_vector_is_met() {
    for vector in vectors() {
        println!("{}", vector.name);
        (vector.check)(&hear(&vector.settings, &vector.tcp, &vector.notice).0);
    }
}
