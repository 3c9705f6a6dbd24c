//! States of policies that have a type of their own here: made by `build.rs` of the structures in `policy/`.

include!(concat!(env!("OUT_DIR"), "/states.rs"));
