//! RLCI: after a handoff the sender starts on the path as a new connection does. Source: Schuetz and others 2008, as
//! Daniel and Kojo 2008 describe it; algorithms.md, section 10. The decisions are `policy/rlci.h`.

use crate::header::Header;
use crate::scheme::Entry;
use segue_policy::headers::{self, Policy};
use segue_policy::rules::{RLCI_RULES, Rule};

/// The scheme of docs/guide/tutorial.md.
#[derive(Clone, Debug)]
pub struct Rlci;

impl Header for Rlci {
    const ENTRY: Entry = Entry {
        name: "rlci",
        stack: "ns2-sack1",
        summary: "starts on the new path as a new connection does",
        source: "Schuetz and others 2008; segue explain 10",
    };
    const RULES: &'static [Rule] = RLCI_RULES;

    fn policy() -> Policy {
        headers::rlci()
    }
}
