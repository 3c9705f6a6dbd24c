//! One page that explains a comparison or a single handoff: self-contained HTML that opens offline.
//!
//! [`comparison_page`] is `segue compare --report`, [`handoff_page`] is `segue trace --report`, [`live_page`] is `segue lab run --report`, [`gallery`] is
//! `segue reproduce`, whose figures [`figures`] and [`model`] draw. [`page`]
//! is what both have around their content, [`graphs`] turns traces into pictures, [`pictures`] puts
//! pictures into the page and keeps it small, [`handoff`] explains one handoff, [`asked`] repeats the
//! question, [`chart`] is the chart of quartiles.

mod asked;
mod buffers;
mod chart;
mod comparison;
pub mod figures;
mod fmip;
pub mod gallery;
mod graphs;
mod handoff;
pub mod lcfd;
mod live;
pub mod model;
mod page;
mod pictures;

pub use chart::quartiles;
pub use comparison::{comparison_page, comparison_part};
pub use handoff::{handoff_page, handoff_part};
pub use live::live_page;
pub use page::{SCRIPT, head, style_sheet};

/// Where a page comes from.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The command line that makes it again.
    pub command: String,
    /// Version of Segue.
    pub version: &'static str,
}

/// Links, kind and flows, with an arrow.
fn headline(experiment: &segue_world::Experiment) -> String {
    segue_study::story::headline(experiment).replacen(" -> ", " \u{2192} ", 1)
}
