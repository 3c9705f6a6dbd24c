//! Symbols of the specification and of the rules of `near`, with the row of their table or their definition.

use super::glossary;
use super::markdown::{hanging, without_links};
use segue_study::specification::{PLACE, Section, sections};

/// The rules of `near`, whose terms stand in a table.
const NEAR: &str = include_str!("../../../../docs/reference/near.md");

/// A row: the cell with names, what is said of them, and the place.
struct Row {
    names: String,
    says: String,
    place: String,
}

impl Row {
    /// Names of the cell: `sd_pkt` and `sd_ack` of two definitions, `P` and `A` of a list.
    fn names(&self) -> impl Iterator<Item = &str> {
        let in_quotes = self.names.contains('`');
        let parts = self.names.split(if in_quotes { '`' } else { ',' }).enumerate();
        let parts = parts.filter(move |(index, _)| !in_quotes || index % 2 == 1).map(|(_, part)| part.trim());
        parts.filter_map(|part| part.split([' ', '(', '=']).next()).filter(|name| !name.is_empty())
    }
}

/// The cells of a table's row, three or two.
fn cells(line: &str) -> Option<Vec<&str>> {
    Some(line.strip_prefix('|')?.strip_suffix('|')?.split(" | ").map(str::trim).collect())
}

/// Rows of the tables of symbols and variables.
fn of_tables(Section { heading, body }: &Section) -> Vec<Row> {
    let mut head: Option<Vec<&str>> = None;
    let mut rows = Vec::new();
    for line in body.lines() {
        let row = cells(line);
        match (&head, row) {
            (None, Some(row)) => head = Some(row),
            (Some(head), Some(row)) if ["symbol", "variable"].contains(&head[0]) && row.len() == 3 => {
                let meaning = if row[2].is_empty() { String::new() } else { format!("; {}", row[2]) };
                rows.push(Row {
                    names: row[0].to_string(),
                    // A column of units has values, too.
                    says: format!("{} {}{meaning}", head[1].replace("unit", ""), row[1]).trim().to_string(),
                    place: place(heading),
                });
            }
            (_, Some(_)) => {}
            (_, None) => head = None,
        }
    }
    rows
}

/// Definitions of section 0 that stand in a listing.
fn of_listing(Section { heading, body }: &Section) -> Vec<Row> {
    let definition = |line: &'static str| {
        let (name, rest) = line.strip_prefix("    ")?.split_once(" = ")?;
        let (value, remark) = rest.split_once('#').unwrap_or((rest, ""));
        Some(Row {
            names: format!("{} = {}", name.trim(), value.trim()),
            says: remark.trim().to_string(),
            place: place(heading),
        })
    };
    body.lines().filter_map(definition).collect()
}

fn place(heading: &str) -> String {
    format!("{PLACE}, section {}", heading.split(' ').next().unwrap_or_default().trim_end_matches('.'))
}

/// Terms of `near` that the glossary does not have.
fn of_near() -> impl Iterator<Item = Row> {
    let table = NEAR.lines().skip_while(|line| *line != "| term | meaning |").skip(2);
    let rows = table.take_while(|line| line.starts_with('|')).filter_map(cells);
    let row = |row: Vec<&str>| Row {
        names: row[0].to_string(),
        says: row[1].to_string(),
        place: "docs/reference/near.md".to_string(),
    };
    rows.map(row).filter(|row| row.names().all(|name| glossary::word(name, 80).is_none()))
}

fn all() -> impl Iterator<Item = Row> {
    let conventions = sections().take(1).flat_map(|section| of_listing(&section));
    sections().flat_map(|section| of_tables(&section)).chain(conventions).chain(of_near())
}

/// Where a symbol is defined, and how. Case matters where it is a letter.
pub fn symbol(name: &str, width: usize) -> Option<String> {
    let is_it = |known: &str| match known.len() {
        1 => known == name,
        _ => known.eq_ignore_ascii_case(name),
    };
    let row = all().find(|row| row.names().any(is_it))?;
    let says = without_links(&row.says.replace('`', ""), "docs/reference");
    let head = format!("Symbol {}: ", row.names.replace('`', ""));
    Some(hanging(&head, &says, 2, width) + &format!("  {}\n", row.place))
}

/// All symbols, for hints. One letter is no hint.
pub fn names() -> impl Iterator<Item = String> {
    let names = |row: Row| row.names().map(str::to_string).collect::<Vec<_>>();
    all().flat_map(names).filter(|name| name.len() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_are_told_with_their_place() {
        for (name, begin) in [
            ("REST", "Symbol REST: 0.200 s; stand-in for the rest of the path; equals the default minrto"),
            ("rest", "Symbol REST: "),
            ("sd_pkt", "Symbol sd_pkt(l) = 8P/bw_l, sd_ack(l) = 8A/bw_l: s; serialisation delay"),
            ("new_rtt", "Symbol new_rtt = 2*d_new + sd_pkt(new) + sd_ack(new): both on new link"),
            ("bdp_quoted", "Symbol bdp_quoted = bw * 2*d / (8P): the value the papers quote"),
            ("P", "Symbol P: 1500 bytes; data packet"),
            ("rto_count", "Symbol rto_count: initial 0; expiries for the current first"),
            ("W", "Symbol W: packets that fill the path\n  docs/reference/near.md\n"),
        ] {
            let told = symbol(name, 200).unwrap_or_default();
            assert!(told.starts_with(begin) && told.contains("\n  docs/reference/"), "{name}: {told}");
        }
        assert!(symbol("REST", 80).is_some_and(|told| told.ends_with("algorithms.md, section 0\n")));
        assert!(symbol("p", 80).is_none() && symbol("", 80).is_none() && symbol("slot", 80).is_none());
        names().for_each(|name| assert!(symbol(&name, 80).is_some(), "{name}"));
    }
}
