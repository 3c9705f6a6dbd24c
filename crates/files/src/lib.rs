//! Questions written down as files, in TOML: a comparison ([`scenario`]), very many handoffs ([`sweep`]), drives
//! ([`drive`]), laboratories ([`lab`]), names of links
//! ([`links`]). A file that is wrong is refused with line and column (`place`).

pub mod drive;
mod forgiven;
pub mod kind;
pub mod lab;
pub mod links;
mod place;
pub mod scenario;
pub mod sweep;

pub use drive::DriveFile;
pub use lab::LabFile;
pub use place::FileError;
pub use scenario::ScenarioFile;
pub use sweep::SweepFile;
