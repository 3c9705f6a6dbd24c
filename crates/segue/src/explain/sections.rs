//! Sections of the specification, its open points, papers and marks.

use super::markdown::{flowing, hanging};
use crate::layout::wrapped;
use crate::screen::Screen;
use segue_study::specification::{PLACE, SPECIFICATION, Section, open_point, section, sections};

/// A mark of the specification, which says where a statement comes from: `[T]`.
pub(super) fn mark(name: &str, screen: &Screen) -> Option<String> {
    let letters = name.strip_prefix('[')?.strip_suffix(']')?;
    let text = SPECIFICATION.split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, told) = text.split_once(&format!("**[{}]** ", letters.to_uppercase()))?;
    let told = told.split([';', '.']).next()?;
    let head = format!("Mark [{}]: ", letters.to_uppercase());
    Some(hanging(&head, told, 2, screen.width) + &format!("  {PLACE}\n"))
}

/// A section, an open point or a paper.
pub(super) fn numbered(name: &str, screen: &Screen) -> Option<String> {
    // As results and messages cite it: `algorithms.md, section 9.17`.
    let number = name.trim_start_matches("algorithms.md").trim_start_matches(',').trim_start();
    let number = number.trim_start_matches("Sec.").trim_start_matches("section").trim();
    if let Some(text) = paper(number.split(' ').next()?, screen) {
        return Some(text);
    }
    // Stories cite several at once: `2.1, 2.5`.
    let told: Option<Vec<String>> = number
        .split(',')
        .map(|number| open_point_text(number.trim(), screen).or_else(|| section_text(number.trim(), screen)))
        .collect();
    told.map(|told| told.join("\n"))
}

fn paper(number: &str, screen: &Screen) -> Option<String> {
    if number.len() != 3 || !number.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let mut text = hanging(&format!("Paper {number}: "), &reference(number)?, 2, screen.width);
    let cited = format!("{number} ");
    let citing = |body: &str| body.contains(&cited) || body.contains(&format!("({number})"));
    let sections = sections().filter(|section| citing(section.body));
    let sections: Vec<&str> =
        sections.map(|section| section.heading.split(' ').next().unwrap_or("")).collect();
    if !sections.is_empty() {
        let list = sections.iter().map(|number| number.trim_end_matches('.')).collect::<Vec<_>>().join(", ");
        text.push_str(&hanging("  Cited in sections ", &list, 4, screen.width));
    }
    text.push_str(&format!("  Run again: segue reproduce {number}\n"));
    Some(text)
}

/// The citation of this paper.
pub(super) fn reference(number: &str) -> Option<String> {
    list_item(&format!("* {number}: ")).map(|item| item.replace('*', ""))
}

/// The item of a list that begins so, as one line without its beginning.
fn list_item(begin: &str) -> Option<String> {
    let mut lines = SPECIFICATION.lines().skip_while(|line| !line.starts_with(begin));
    let first = lines.next()?.strip_prefix(begin)?.to_string();
    Some(lines.take_while(|line| line.starts_with("  ")).fold(first, |text, line| text + " " + line.trim()))
}

/// A row of section 9: what the papers leave open, and the choice.
fn open_point_text(number: &str, screen: &Screen) -> Option<String> {
    let (point, choice) = open_point(number)?;
    Some(
        hanging(&format!("Open point {number}: "), point, 2, screen.width)
            + &hanging("  Choice: ", choice, 4, screen.width)
            + &format!("  {PLACE}, section 9\n"),
    )
}

pub(super) fn section_text(number: &str, screen: &Screen) -> Option<String> {
    let Section { heading, body } = section(number)?;
    let text = format!("{}\n{}", wrapped("", heading, screen.width), flowing(body, screen.width));
    Some(format!("{text}  {PLACE}, section {number}\n"))
}
