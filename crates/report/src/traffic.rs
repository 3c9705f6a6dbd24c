//! The fate of the user's traffic, as a table of a page (docs/reference/traffic.md).

use crate::looks;
use crate::page::prose;
use maud::{Markup, html};
use segue_study::GroupResult;
use segue_study::measure::{Measure, OPTIONAL, OPTIONAL_FIELDS, has};

/// A field that is no class of traffic, and has words of its own elsewhere.
const NO_CLASS: &str = "neighbours";

/// A table for each class that the rows have, a line for each scheme.
pub fn tables(group: &GroupResult) -> Markup {
    let classes = OPTIONAL_FIELDS
        .iter()
        .filter(|(field, _)| *field != NO_CLASS && group.rows.iter().any(|row| has(row, field)));
    html! {
        @for (class, definition) in classes {
            (table(group, class, definition))
        }
    }
}

fn table(group: &GroupResult, class: &str, definition: &str) -> Markup {
    let measures: Vec<&Measure> = OPTIONAL.iter().filter(|measure| measure.field == class).collect();
    html! {
        h4 { (prose(definition.trim().trim_end_matches('.'))) }
        div.table {
            table {
                thead { tr {
                    th title="" { "scheme" }
                    @for measure in &measures {
                        th title=(measure.about("the first scheme")) { (heading(measure)) }
                    }
                } }
                tbody {
                    @for row in &group.rows {
                        tr { td { (looks::named(&row.scheme)) } @for measure in &measures { td { (measure.text(row)) } } }
                    }
                }
            }
        }
    }
}

/// The part's name in words: `completion_p95_s` is `completion p95, s`.
fn heading(measure: &Measure) -> String {
    let part = measure.name.rsplit('.').next().unwrap_or_default();
    match part.strip_suffix("_s") {
        Some(part) => format!("{}, s", part.replace('_', " ")),
        None => part.replace('_', " "),
    }
}
