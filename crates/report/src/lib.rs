//! One page that explains a comparison or a single handoff: self-contained HTML that opens offline.
//!
//! [`comparison_page`] is `segue compare --report`, [`handoff_page`] is `segue trace --report`, [`live_page`] is
//! `segue lab run --report`, [`drive_page`] is `segue run --report` of a drive.
//!
//! * `page` is the frame around the content.
//! * [`graphs`] turns traces into pictures, `beside` into pictures of all schemes. [`pictures`] puts pictures into a
//!   page and keeps it small.
//! * `handoff` explains one handoff, `shown` those of a comparison, `asked` repeats the question, `rules` has what stories cite.
//! * `chart` is the chart of quartiles, `distribution` the shares of handoffs beside it, `traffic` the tables by class.
//! * [`looks`] gives each scheme its colour.

mod asked;
mod beside;
mod chart;
mod comparison;
mod distribution;
mod drive;
pub mod fmip;
pub mod graphs;
mod handoff;
mod live;
pub mod looks;
mod page;
pub mod pictures;
pub mod rules;
mod shown;
mod traffic;

pub use chart::quartiles;
pub use comparison::{comparison_page, comparison_part};
pub use drive::drive_page;
pub use handoff::{handoff_page, handoff_part};
pub use live::live_page;
pub use page::{SCRIPT, head, page, prose, style_sheet};
pub use segue_export::Origin;

/// Links, kind and flows, with an arrow.
fn headline(experiment: &segue_world::Experiment) -> String {
    with_arrow(&segue_study::story::headline(experiment))
}

/// The same of one group of a comparison.
fn headline_of(group: &segue_study::GroupResult) -> String {
    with_arrow(&segue_study::story::headline_of(group))
}

fn with_arrow(headline: &str) -> String {
    headline.replacen(" -> ", " \u{2192} ", 1)
}

#[cfg(test)]
mod tests {
    use segue_study::{Plan, Request};
    use segue_world::{AccessLink, Definition, Kind, NoticeMode, SECOND};

    /// Two handoffs with two schemes.
    pub fn plan(settings: &[(&str, &str)]) -> Plan {
        let link = |text: &str| AccessLink::parse(text).expect("a link");
        let request = Request {
            pairs: vec![(link("6400kbit/9ms"), link("400kbit/150ms"))],
            kinds: vec![Kind::Mbb],
            flows: vec![1],
            schemes: vec!["sack".into(), "etcp-v1".into()],
            at: vec![5 * SECOND, 6 * SECOND],
            packets: 20,
            definition: Definition::AfterHighest,
            notice: NoticeMode::Instant,
            stack: None,
            cc: None,
            settings: settings.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect(),
            seed: 7,
            seeds: 1,
        };
        request.plan().expect("a plan")
    }
}
