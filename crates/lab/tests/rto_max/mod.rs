//! The largest RTO of a socket, which no crate has an option for.

use nix::{getsockopt_impl, libc, sockopt_impl};

sockopt_impl!(
    /// TCP_RTO_MAX_MS, Linux 6.15
    RtoMaxMs,
    GetOnly,
    libc::IPPROTO_TCP,
    RTO_MAX_MS,
    u32
);
const RTO_MAX_MS: i32 = 44;
