//! Measures, fields and columns of tables, and the letters of the bar.

use super::markdown::hanging;
use crate::screen::Screen;
use crate::table::meanings_of_letter;
use segue_study::measure::{Column, FIELDS, MEASURES, OPTIONAL, OPTIONAL_FIELDS};

/// A field, a column or a measure; by the last part of its name also those of several fields.
pub(super) fn measure(name: &str, screen: &Screen) -> Vec<String> {
    if let Some(found) = measure_called(name, screen) {
        return vec![found];
    }
    let parts = MEASURES.iter().chain(OPTIONAL).filter(|measure| {
        measure
            .name
            .split_once('.')
            .is_some_and(|(_, part)| part == name || part.trim_end_matches("_s") == name)
    });
    parts.filter_map(|measure| measure_called(measure.name, screen)).collect()
}

/// A character of the bar in tables.
pub(super) fn letter(name: &str, screen: &Screen) -> Option<String> {
    let meanings = meanings_of_letter(name).join("; or ");
    let head = format!("Letter {name} of the column {}: ", Column::NewLink.heading());
    (!meanings.is_empty()).then(|| hanging(&head, &meanings, 2, screen.width))
}

fn measure_called(name: &str, screen: &Screen) -> Option<String> {
    if let Some((_, meaning)) = FIELDS.iter().chain(OPTIONAL_FIELDS).find(|(field, _)| *field == name) {
        return Some(hanging(&format!("Field {name}: "), meaning.trim(), 2, screen.width));
    }
    // The bar is no number.
    if [Column::NewLink.heading(), Column::NewLink.word()].contains(&name) {
        let text =
            format!("{}; its letters stand below every table", Column::NewLink.meaning("the first scheme"));
        return Some(hanging(&format!("Column {name}: "), &text, 2, screen.width));
    }
    let found = MEASURES.iter().chain(OPTIONAL).find(|measure| {
        let shown = measure.shown;
        let names = [
            shown.map(|shown| shown.word),
            shown.map(|shown| shown.heading),
            shown.and_then(|shown| shown.title),
        ];
        names.into_iter().flatten().chain([measure.name, measure.csv]).any(|known| known == name)
    })?;
    let head = format!("Measure {} ({}): ", found.name, found.unit.words());
    Some(hanging(&head, &found.about("the first scheme"), 2, screen.width))
}
