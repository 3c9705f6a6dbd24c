//! Text in columns and lines: tables whose rows stay whole, and paragraphs that wrap.

/// Blanks between two columns of a table.
pub const GAP: usize = 2;

/// How a cell looks on a terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Paint {
    #[default]
    Plain,
    Bold,
    Red,
    Green,
    Yellow,
}

impl Paint {
    /// Parameter of the escape sequence (ECMA-48, SGR).
    fn code(self) -> Option<u8> {
        match self {
            Self::Plain => None,
            Self::Bold => Some(1),
            Self::Red => Some(31),
            Self::Green => Some(32),
            Self::Yellow => Some(33),
        }
    }
}

/// The side on which a column is flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Left,
    Right,
}

/// A cell of a table.
#[derive(Clone, Debug)]
pub struct Cell {
    pub text: String,
    pub paint: Paint,
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self { text, paint: Paint::Plain }
    }
}

/// Columns that each of these rows fits.
pub fn widths<'a>(rows: impl IntoIterator<Item = &'a Vec<Cell>>) -> Vec<usize> {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows {
        widths.resize(widths.len().max(row.len()), 0);
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(length(&cell.text));
        }
    }
    widths
}

/// Rows as lines, without blanks at their end.
pub fn table(rows: &[Vec<Cell>], widths: &[usize], sides: &[Side], colour: bool) -> String {
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        let mut blanks = 0;
        for ((cell, &width), side) in row.iter().zip(widths).zip(sides) {
            let spare = width.saturating_sub(length(&cell.text));
            let (before, after) = if *side == Side::Left { (0, spare) } else { (spare, 0) };
            if !cell.text.is_empty() {
                line.push_str(&" ".repeat(blanks + before));
                match cell.paint.code().filter(|_| colour) {
                    Some(code) => line.push_str(&format!("\u{1b}[{code}m{}\u{1b}[0m", cell.text)),
                    None => line.push_str(&cell.text),
                }
                blanks = 0;
            } else {
                blanks += before;
            }
            blanks += after + GAP;
        }
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// Units, which stay with their number.
const UNITS: [&str; 6] = ["%", "s", "ms", "us", "kbit/s", "Mbit/s"];

/// The words of a text; a number and its unit are one.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let is_unit = UNITS.contains(&word.trim_end_matches(['.', ',', ';', ':', ')']));
        let number = words.last_mut().filter(|last| is_unit && last.ends_with(|c: char| c.is_ascii_digit()));
        match number {
            Some(number) => number.push_str(&format!(" {word}")),
            None => words.push(word.into()),
        }
    }
    words
}

/// `head` and `text` in lines of at most `width` columns; what follows the first line stands below `text`. A word
/// that is longer than a line stays whole.
pub fn wrapped(head: &str, text: &str, width: usize) -> String {
    wrapped_words(head, &words(text), width)
}

/// The same without a head, of words that may be links: one that is longer than a line breaks behind commas.
pub fn wrapped_links(text: &str, width: usize) -> String {
    let mut parts: Vec<String> = Vec::new();
    for word in words(text) {
        let mut line = String::new();
        for part in word.split_inclusive(',') {
            if !line.is_empty() && length(&line) + length(part) > width {
                parts.push(std::mem::take(&mut line));
            }
            line.push_str(part);
        }
        parts.push(line);
    }
    wrapped_words("", &parts, width)
}

fn wrapped_words(head: &str, words: &[String], width: usize) -> String {
    let indent = length(head);
    let mut lines = head.to_string();
    let mut column = indent;
    let mut blanks = 0;
    for word in words {
        if word.is_empty() {
            blanks += 1;
            continue;
        }
        let fits = column + blanks + length(word) <= width;
        if fits || column == indent {
            lines.push_str(&" ".repeat(blanks));
            column += blanks;
        } else {
            lines.push('\n');
            lines.push_str(&" ".repeat(indent));
            column = indent;
        }
        lines.push_str(word);
        column += length(word);
        blanks = 1;
    }
    lines.push('\n');
    lines
}

/// Lines that are longer than `width` break; what follows stands below their beginning.
pub fn fitted(text: &str, width: usize) -> String {
    let fit = |line: &str| {
        let words = line.trim_start();
        match length(line) <= width {
            true => format!("{line}\n"),
            false => wrapped(&line[..line.len() - words.len()], words, width),
        }
    };
    text.lines().map(fit).collect()
}

fn length(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_flush_and_lines_end_with_text() {
        let row = |cells: [&str; 3]| cells.map(|text| Cell::from(text.to_string())).to_vec();
        let rows = [row(["scheme", "RTO", "link"]), row(["a", "10", ""]), row(["b", "", "##"])];
        let sides = [Side::Left, Side::Right, Side::Left];
        assert_eq!(
            table(&rows, &widths(&rows), &sides, true),
            "scheme  RTO  link\na        10\nb            ##\n"
        );
        let painted = [vec![Cell { text: "x".into(), paint: Paint::Red }]];
        assert_eq!(table(&painted, &[3], &[Side::Right], true), "  \u{1b}[31mx\u{1b}[0m\n");
        assert_eq!(table(&painted, &[3], &[Side::Right], false), "  x\n");
    }

    #[test]
    fn only_long_lines_break() {
        assert_eq!(fitted("one\n\n  two three four\n", 11), "one\n\n  two three\n  four\n");
        assert_eq!(fitted("one  two\n", 8), "one  two\n");
        assert_eq!(fitted("", 8), "");
    }

    #[test]
    fn a_paragraph_hangs_below_its_head() {
        assert_eq!(wrapped("RTO  ", "one two three", 12), "RTO  one two\n     three\n");
        assert_eq!(wrapped("", "one two  three", 14), "one two  three\n");
        assert_eq!(wrapped("", "one two  three", 13), "one two\nthree\n", "no blanks at an end");
        assert_eq!(wrapped("> ", "muchlonger x", 4), "> muchlonger\n  x\n");
        assert_eq!(
            wrapped("", "up to 12 %; so 3.5 s, say", 8),
            "up to\n12 %; so\n3.5 s,\nsay\n",
            "units stay"
        );
        assert_eq!(wrapped("", "12  % of it", 5), "12  %\nof it\n");
    }

    #[test]
    fn long_links_break_behind_commas() {
        assert_eq!(
            wrapped_links("1mbit/9ms,loss=1%,up=1kbit -> wlan", 18),
            "1mbit/9ms,loss=1%,\nup=1kbit -> wlan\n"
        );
        assert_eq!(
            wrapped_links("wlan -> 1mbit/9ms,ecn", 15),
            "wlan ->\n1mbit/9ms,ecn\n",
            "one that fits stays"
        );
        assert_eq!(wrapped_links("a,b  c", 10), "a,b  c\n");
    }
}
