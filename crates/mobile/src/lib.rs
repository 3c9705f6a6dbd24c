//! Rules of a mobile alone at a handoff, beside senders that know nothing of it (docs/reference/mobile.md). They say
//! when it says what after an outage ([`resume`]), and which time stamps it does not echo ([`echo`]). They say how far
//! it bounds its windows on a slower link ([`window`]), and how it tells of that over the old one ([`early`]). And how
//! fast it tells those who do know ([`notices`]).
//!
//! No sockets, no clock, no packets: times and counts go in, what is to be done comes out. The agent and the simulator
//! run the same code. Times are ns.

pub mod early;
pub mod echo;
pub mod notices;
pub mod resume;
pub mod window;
