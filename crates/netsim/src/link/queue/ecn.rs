//! Explicit congestion notification (RFC 3168): a queue marks a packet where it would have dropped it.

/// The field of a packet's IP header, as queues see it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Codepoint {
    /// Its transport does not understand marks (Not-ECT).
    #[default]
    NotEct,
    /// Its transport does (ECT).
    Ect,
    /// It is marked (CE).
    Ce,
}

impl Codepoint {
    /// Marks it, if that is understood, and says whether it is marked (`INET_ECN_set_ce`).
    pub(super) fn mark(&mut self) -> bool {
        if *self == Self::Ect {
            *self = Self::Ce;
        }
        *self == Self::Ce
    }
}
