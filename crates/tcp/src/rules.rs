//! The rule sets of loss recovery by name, apart from the rules, so that a profile can name one.
//! Those of the window are made from a list in [`crate::congestion`].

/// Loss detection and recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryRules {
    /// ns-2 2.35 `Sack1TcpAgent`.
    Ns2Sack1,
    /// RFC 6675.
    Rfc6675,
    /// RFC 6582.
    NewReno,
    /// RFC 5681, section 3.2, without the NewReno rule.
    Reno,
}
