//! Option kinds, as IANA's registry "TCP Option Kind Numbers" has them.

/// End of option list (RFC 9293, 3.2).
pub const END: u8 = 0;
/// No operation (RFC 9293, 3.2).
pub const NOP: u8 = 1;
/// Maximum segment size (RFC 9293, 3.2).
pub const MSS: u8 = 2;
/// Window scale (RFC 7323, 2.2).
pub const WINDOW_SCALE: u8 = 3;
/// SACK permitted (RFC 2018, 2).
pub const SACK_PERMITTED: u8 = 4;
/// SACK (RFC 2018, 3).
pub const SACK: u8 = 5;
/// Time stamps (RFC 7323, 3.2).
pub const TIMESTAMPS: u8 = 8;
/// RFC 3692-style experiment 1 (RFC 4727, RFC 6994).
pub const EXPERIMENT_1: u8 = 253;
/// RFC 3692-style experiment 2 (RFC 4727, RFC 6994).
pub const EXPERIMENT_2: u8 = 254;
