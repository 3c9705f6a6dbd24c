//! TCP as it stands on the wire: what captures show and what the charged size of a segment is taken
//! from.
//!
//! | file | holds | source |
//! |---|---|---|
//! | [`options`] | options: MSS, SACK, time stamps, experiments and so on | named there |
//! | [`kind`] | option kinds | IANA |
//! | [`raw_options`] | the options of a list one by one, known or not | RFC 9293 3.1 |
//! | [`sack_blocks`] | the blocks of a SACK option | RFC 2018 3, RFC 2883 4 |
//! | [`header`] | the TCP header, with its options and its checksum over a payload | RFC 9293 3.1 |
//! | [`ipv4`] | the IPv4 header that a capture puts before it | RFC 791 3.1 |
//! | [`checksum`] | the Internet checksum, alone and for TCP | RFC 1071, RFC 9293 3.1 |
//! | [`error`] | everything that can be wrong with bytes or with values | |
//!
//! All numbers on the wire are big-endian. Sequence numbers are bare `u32` modulo 2^32. Nothing here allocates, and
//! nothing here knows a connection. The endpoint must say whether an option is allowed on a SYN only, or a time stamp
//! is old.

mod addresses;
pub mod checksum;
pub mod error;
pub mod header;
pub mod ipv4;
pub mod kind;
pub mod options;
pub mod raw_options;
pub mod sack_blocks;

pub use addresses::Ipv4Addresses;
pub use error::{DecodeError, EncodeError};
pub use header::{Flags, Header, MAX_HEADER, MIN_HEADER, Payload};
pub use ipv4::{IPV4_HEADER, Ipv4Header};
pub use options::{Experiment, Experimental, Layout, MAX_OPTIONS, MAX_WINDOW_SCALE, Options, Timestamps};
pub use raw_options::{RawOption, RawOptions};
pub use sack_blocks::{SackBlock, SackBlocks};
