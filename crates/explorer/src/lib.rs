//! `segue explore`: a page on this machine that compares schemes while links are being changed, and the answers behind
//! it for programs.
//!
//! * [`question`] reads a query string and knows the limits, [`schema`] tells them.
//! * [`work`] says how much is done at once and for how long, [`answer`] computes, [`growing`]
//!   shows a comparison meanwhile.
//! * [`words`] gives the command line and the scenario file of a question, [`page`] is the page.
//! * [`connections`] lets clients in, [`large`] bounds what waits for slow readers,
//!   [`lines`] are answers that come in parts.
//! * [`guard`] says who may ask, [`traces`] which files a question may name.
//! * [`server`] brings them together.

mod answer;
mod connections;
mod growing;
mod guard;
mod large;
mod lines;
mod page;
mod question;
mod refusal;
mod schema;
mod server;
mod traces;
mod words;
mod work;

pub use server::{Explorer, router};
pub use traces::Traces;
