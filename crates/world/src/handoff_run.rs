//! One handoff: a warm network ([`WarmRun`]) forked at T ([`Fork`]), taken to completion ([`Handoff`]), then run with
//! one scheme.

mod bound;
mod carriers;
mod completed;
mod follower;
mod fork;
mod new_address;
mod run;
mod series;
mod shared;
mod steps;
mod traffic;
mod warm;

use segue_handoff::{Scheme, SchemeError};

pub use fork::Fork;
pub(crate) use run::Ended;
pub use run::Handoff;
pub use series::Series;
pub use warm::WarmRun;

/// Says whether there is a scheme of that name that takes these settings.
pub fn check_scheme(name: &str, settings: &[(String, String)]) -> Result<Scheme, SchemeError> {
    Scheme::build(name, settings)
}
