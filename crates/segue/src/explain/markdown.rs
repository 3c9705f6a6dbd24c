//! Markdown of the documentation as lines of a screen.

use crate::layout::wrapped;
use comfy_table::{ColumnConstraint, Width};
use segue_console::{lines, plain_table};

/// `head` and `text` in lines of `width`, all but the first indented.
pub fn hanging(head: &str, text: &str, indent: usize, width: usize) -> String {
    let whole = format!("{head}{text}");
    let lines = wrapped("", &whole, width.saturating_sub(indent).max(20));
    lines.trim_end().replace('\n', &format!("\n{}", " ".repeat(indent))) + "\n"
}

/// Paragraphs, items, listings and tables in lines of `width`.
pub fn flowing(body: &str, width: usize) -> String {
    let mut text = String::new();
    let mut open = String::new();
    let mut table: Vec<Vec<&str>> = Vec::new();
    for line in body.lines().chain([""]) {
        let is_listing = line.starts_with("    ");
        if is_listing || line.starts_with('|') || line.is_empty() || is_item(line) {
            close(&mut open, &mut text, width);
        }
        match cells(line) {
            Some(row) => table.push(row),
            None if !table.is_empty() => text.push_str(&columns(&std::mem::take(&mut table), width)),
            None => {}
        }
        match line {
            _ if is_listing => text.push_str(&listing(line, width)),
            "" => text.push('\n'),
            _ if line.starts_with('|') => {}
            _ if open.is_empty() => open.push_str(line),
            _ => open = open + " " + line.trim(),
        }
    }
    text.truncate(text.len() - 1);
    text
}

fn is_item(line: &str) -> bool {
    line.starts_with("* ") || line.starts_with("- ")
}

/// Ends a paragraph or an item.
fn close(open: &mut String, text: &mut String, width: usize) {
    if !open.is_empty() {
        text.push_str(&hanging("", open, if is_item(open) { 2 } else { 0 }, width));
        open.clear();
    }
}

/// A line of a listing. The part that does not fit stands below, further in.
fn listing(line: &str, width: usize) -> String {
    match line.chars().count() <= width {
        true => format!("{line}\n"),
        false => {
            let code = line.trim_start();
            let head = &line[..line.len() - code.len()];
            hanging(head, code, head.len() + 4, width)
        }
    }
}

/// The cells of a table's row.
fn cells(line: &str) -> Option<Vec<&str>> {
    Some(line.strip_prefix('|')?.strip_suffix('|')?.split(" | ").map(str::trim).collect())
}

/// A table, without the line below its headings.
fn columns(rows: &[Vec<&str>], width: usize) -> String {
    let Some((head, rows)) = rows.split_first() else { return String::new() };
    let mut table = plain_table(head, width);
    let names = rows.iter().map(|row| row[0].chars().count()).max().unwrap_or(0);
    rows.iter().filter(|row| !row[0].starts_with("---")).for_each(|row| {
        table.add_row(row);
    });
    // A column of names stays whole; one of sentences wraps as the others do.
    if let Some(first) = table.column_mut(0)
        && names > width / 3
    {
        first.set_constraint(ColumnConstraint::LowerBoundary(Width::Percentage(25)));
    }
    lines(&table)
}

/// A text without its links: `[bench.md](bench.md)` names a page of `folder`, `[bounds](bench.md#bounds)` is its text.
pub fn without_links(text: &str, folder: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, label, place, after)) = link(rest) {
        out.push_str(before);
        match label.strip_suffix(".md") {
            Some(_) if place.starts_with("../") => {
                out.push_str(&format!("docs/{}", place.trim_start_matches("../")))
            }
            Some(_) => out.push_str(&format!("{folder}/{place}")),
            None => out.push_str(label),
        }
        rest = after;
    }
    out + rest
}

/// The text before the first link, the link's text, its place, and the text behind it.
fn link(text: &str) -> Option<(&str, &str, &str, &str)> {
    let (head, tail) = text.split_once("](")?;
    let (before, label) = head.rsplit_once('[')?;
    let (place, after) = tail.split_once(')')?;
    Some((before, label, place, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_items_listings_and_tables_fit() {
        let body = "One two three\nfour five six seven eight.\n\n* an item\n  of two lines that wraps\n    \
                    if a: b            # of a listing that is long\n\n\
                    | name | meaning |\n|---|---|\n| a | one two three four five six |\n";
        let told = "One two three four five six\nseven eight.\n\n* an item of two lines that\n  wraps\n    if a: b\n        \
                    # of a listing that is\n        long\n\n\
                    \x20name  meaning\n a     one two three four\n       five six\n";
        assert_eq!(flowing(body, 30), told);
        assert_eq!(flowing("One\n", 30), "One\n");
    }

    /// A first column of sentences leaves room for the others.
    #[test]
    fn a_wide_first_column_wraps() {
        let body = "| what stays open | choice |\n|---|---|\n| whether a window of one packet grows | it does not |\n";
        let told = flowing(body, 30);
        assert!(told.lines().all(|line| line.chars().count() <= 30), "{told}");
        assert!(told.contains("it does not") && told.lines().count() <= 5, "{told}");
    }

    #[test]
    fn links_become_places_or_text() {
        let text = "a drive ([drives.md](../guide/drives.md)), [bench.md](bench.md) or [this](x.md#y).";
        let told = "a drive (docs/guide/drives.md), docs/reference/bench.md or this.";
        assert_eq!(without_links(text, "docs/reference"), told);
    }
}
