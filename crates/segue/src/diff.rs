//! `segue diff`: two results side by side, differences beyond noise first.

use crate::layout::{self, Cell, GAP, Paint, Side, wrapped};
use crate::screen::Screen;
use crate::{Failure, print};
use clap::Args;
use segue_export::{
    Document, Origin, Output, Provenance, Question, command_of_another, difference_json, digest_of,
    read_document,
};
use segue_study::difference::{Changed, Pair, question};
use segue_study::verdict::{FEWEST, Measured, Verdict};
use segue_study::{Difference, Row};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// `segue diff`.
#[derive(Debug, Args)]
pub struct DiffArgs {
    /// A result of `segue compare --json` (- for standard input)
    pub a: String,
    /// Another result (- for standard input)
    pub b: String,
    /// List every measure, even those that are equal
    #[arg(long)]
    pub all: bool,
    /// Write all measures as JSON (- for standard output)
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
}

/// Runs the command.
pub fn run(args: &DiffArgs, origin: &Origin, screen: &Screen) -> Result<(), Failure> {
    if args.a == "-" && args.b == "-" {
        return Err(Failure::User("both results from standard input; expected at most one -".into()));
    }
    let output = args.json.as_deref().map(Output::open).transpose()?;
    if let Some(file) = output.as_ref().and_then(Output::file)
        && [&args.a, &args.b].into_iter().any(|input| std::fs::canonicalize(input).is_ok_and(|i| i == file))
    {
        return Err(Failure::User("--json names one of the two results; expected another file".into()));
    }
    // Read once: a pipe has nothing to read again.
    let mut files = BTreeMap::new();
    let mut read = |path: &String| -> Result<Document, Failure> {
        let name = if path == "-" { "standard input" } else { path };
        let bytes = read_document(path).map_err(Failure::user)?;
        files.insert(name.to_string(), digest_of(&bytes));
        Document::parse(&bytes, name).map_err(|error| {
            match command_of_another(&bytes).or_else(|| question_of(&bytes)) {
                Some(command) => Failure::User(format!(
                    "{name}: the output of `{}`; expected a result of segue compare --json",
                    segue_console::printable(&command)
                )),
                None => Failure::user(error),
            }
        })
    };
    let (of_a, of_b) = (read(&args.a)?, read(&args.b)?);
    let unlike = unlike(of_a.origin.as_ref(), of_b.origin.as_ref());
    let (a, b) = (of_a.rows, of_b.rows);
    let difference = Difference::new(&a, &b);
    let on_stdout = output.as_ref().is_some_and(Output::is_stdout);
    if let Some(output) = output {
        output
            .finish(&difference_json(&difference, origin, &files).map_err(Failure::ours)?)
            .map_err(Failure::writing)?;
    }
    if on_stdout {
        return Ok(());
    }
    let names = [(&args.a, a.len()), (&args.b, b.len())].map(|(name, rows)| {
        let name = if name == "-" { "standard input" } else { name };
        format!("{}, {rows} row{}", segue_console::printable(name), plural(rows))
    });
    print(&render(&difference, names, unlike.as_deref(), args.all, screen))
}

/// The command behind rows that are of drives or of the laboratory, and no comparison's.
fn question_of(bytes: &[u8]) -> Option<String> {
    let origin = Document::<Value>::parse(bytes, "").ok()?.origin?;
    let command = match &origin.question {
        Question::Handoffs(_) => return None,
        Question::Drives(drives) => format!("segue run {}", drives.file),
        Question::Lab(lab) => format!("segue lab run {}", lab.file),
    };
    Some(origin.command.unwrap_or(command))
}

/// In which parts of their origins two results differ, with a comma between them; `None` if one does not say.
fn unlike(a: Option<&Provenance>, b: Option<&Provenance>) -> Option<String> {
    let parts = |origin: &Provenance| {
        let Ok(Value::Object(mut all)) = serde_json::to_value(origin) else { return Map::new() };
        // The command says what the question says; the meaning of links stands in their words.
        all.remove("command");
        match all.remove("question") {
            Some(Value::Object(question)) => {
                all.extend(question.into_iter().flat_map(|(kind, of)| match of {
                    Value::Object(of) => of,
                    other => Map::from_iter([(kind, other)]),
                }))
            }
            other => all.extend(other.map(|other| ("question".to_string(), other))),
        }
        all
    };
    let (a, b) = (parts(a?), parts(b?));
    let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let unlike = keys.into_iter().filter(|&key| a.get(key) != b.get(key));
    Some(unlike.map(String::as_str).collect::<Vec<_>>().join(", "))
}

/// The whole report as text, for results of these names. `unlike`: in which parts of their origins they differ.
pub(crate) fn render(
    difference: &Difference,
    [a, b]: [String; 2],
    unlike: Option<&str>,
    all: bool,
    screen: &Screen,
) -> String {
    let fitted = |text: String| layout::fitted(&text, screen.width);
    let [a, b] = [&a, &b].map(|name| shortened(name, screen.width));
    let mut text = fitted(format!("A: {a}\nB: {b}\n"));
    if difference.identical() {
        let rows = difference.pairs.len();
        text.push_str(&format!("identical: {rows} row{}, equal in every field\n", plural(rows)));
        if !all {
            return text;
        }
    } else {
        text.push_str(&fitted(questions(difference, unlike, screen.width)));
    }
    let shown: Vec<_> =
        difference.ranked().into_iter().filter(|(pair, measured)| all || is_shown(pair, measured)).collect();
    if !shown.is_empty() {
        text.push_str(&format!("\n{}", table(&shown, screen)));
    } else if !difference.pairs.is_empty() {
        text.push_str("\nNo measure differs beyond noise.\n");
    }
    text.push_str(&fitted(rest(difference, &shown)));
    text.push_str(&fitted(only("A", &difference.only_in_a)));
    text.push_str(&fitted(only("B", &difference.only_in_b)));
    if !shown.is_empty() {
        text.push_str(&format!("\n{}", legend(screen.width)));
    }
    text
}

/// A name that is too long for its line, without its beginning: files of a folder differ at their ends.
fn shortened(name: &str, width: usize) -> String {
    const MORE: &str = "...";
    let most = width.saturating_sub("A: ".len());
    let letters = name.chars().count();
    match letters.checked_sub(most) {
        None | Some(0) => name.to_string(),
        Some(over) => MORE.to_string() + &name.chars().skip(over + MORE.len()).collect::<String>(),
    }
}

/// Whether a measure is listed without `--all`. Equal questions have equal answers unless the program changed, so there
/// even the smallest difference counts. Where handoffs are too few to tell noise from a change, the reader must tell.
fn is_shown(pair: &Pair, measured: &Measured) -> bool {
    match measured.verdict {
        Verdict::Beyond => true,
        Verdict::Unknown => measured.has_criterion || pair.question.is_empty(),
        Verdict::Within => pair.question.is_empty(),
        Verdict::Equal => false,
    }
}

/// The rows' questions: where A and B answer different ones, and in how many pairs they answer the same.
fn questions(difference: &Difference, unlike: Option<&str>, width: usize) -> String {
    let pairs = difference.pairs.len();
    if pairs == 0 {
        return "No row of A has a counterpart in B.\n".into();
    }
    let mut changes: BTreeMap<&Changed, usize> = BTreeMap::new();
    for changed in difference.pairs.iter().flat_map(|pair| &pair.question) {
        *changes.entry(changed).or_default() += 1;
    }
    let of_pairs = |count| if count == pairs { "all".into() } else { format!("{count} of {pairs}") };
    let mut text = format!("{pairs} pair{} of rows", plural(pairs));
    text.push_str(if changes.is_empty() { "\n" } else { "; A and B answer different questions:\n" });
    for (changed, &count) in changes.iter().take(MOST_CHANGES) {
        let value = |text: &str| segue_console::printable(if text.is_empty() { "none" } else { text });
        let (a, b) = (value(&changed.a), value(&changed.b));
        text.push_str(&format!("  {}: {a} | {b} ({})\n", changed.field, of_pairs(count)));
    }
    if changes.len() > MOST_CHANGES {
        text.push_str(&format!("  and {} more\n", changes.len() - MOST_CHANGES));
    }
    let identical = difference.pairs.iter().filter(|pair| pair.identical()).count();
    if identical > 0 {
        text.push_str(&format!("Identical, that is equal in every field: {}\n", of_pairs(identical)));
    }
    let changed =
        difference.pairs.iter().filter(|pair| pair.question.is_empty() && !pair.identical()).count();
    if changed > 0 {
        let cause = match unlike {
            None => "The program changed, or something that rows do not hold: --at, --notice-loss, the content of a \
                     trace, the scheme that against_first refers to"
                .to_string(),
            Some("") => "Their origins are the same, so a program or a file was changed".to_string(),
            Some(unlike) => format!("Their origins differ in: {unlike}"),
        };
        let told = format!("Same question, another answer: {}. {cause}.", of_pairs(changed));
        text.push_str(&wrapped("", &told, width));
    }
    text
}

/// Lines of changed questions that are printed; JSON has them all.
const MOST_CHANGES: usize = 12;

/// Where a line is too narrow, columns whose rows are all alike give way: what they say stands above. Where that is not
/// enough, rows with the same question stand below it.
fn table(shown: &[(&Pair, &Measured)], screen: &Screen) -> String {
    let bold = |name: &&str| Cell { text: (*name).into(), paint: Paint::Bold };
    let mut rows = vec![HEADER.iter().map(bold).collect::<Vec<_>>()];
    rows.extend(shown.iter().map(|(pair, measured)| cells(pair, measured)));
    let mut sides: Vec<Side> = (0..HEADER.len()).map(side).collect();
    let mut widths = layout::widths(&rows);
    let mut above = String::new();
    let length = widths.iter().sum::<usize>() + GAP * (widths.len() - 1);
    let width = screen.width;
    let mut questions = 0;
    if length > width {
        let alike = |&column: &usize| rows[2..].iter().all(|row| row[column].text == rows[1][column].text);
        let shared: Vec<usize> = (0..QUESTION).filter(alike).collect();
        let said = shared.iter().map(|&column| format!("{} {}", HEADER[column], rows[1][column].text));
        let said = said.collect::<Vec<_>>().join(", ");
        if !said.is_empty() {
            above = wrapped("", &format!("All rows: {said}"), width);
        }
        let left: Vec<usize> = (0..HEADER.len()).filter(|column| !shared.contains(column)).collect();
        rows = rows.iter().map(|row| left.iter().map(|&column| row[column].clone()).collect()).collect();
        (widths, sides) = left.iter().map(|&column| (widths[column], sides[column])).unzip();
        if widths.iter().sum::<usize>() + GAP * (widths.len() - 1) > width {
            questions = QUESTION - shared.len();
        }
    }
    match questions {
        0 => above + &layout::table(&rows, &widths, &sides, screen.colour),
        _ => {
            above + "\n" + &by_question(&rows, questions, (&widths[questions..], &sides[questions..]), screen)
        }
    }
}

/// One table for each question, which the first `columns` cells of its rows say, in the order of their first rows.
fn by_question(
    rows: &[Vec<Cell>],
    columns: usize,
    (widths, sides): (&[usize], &[Side]),
    screen: &Screen,
) -> String {
    let question = |row: &[Cell]| {
        let said = rows[0].iter().zip(row).take(columns).map(|(head, cell)| match head.text.as_str() {
            "flows" => format!("flows {}", cell.text),
            _ => cell.text.clone(),
        });
        said.collect::<Vec<_>>().join(", ")
    };
    let mut blocks: Vec<(String, Vec<Vec<Cell>>)> = Vec::new();
    for row in &rows[1..] {
        let asked = question(row);
        let at = blocks.iter().position(|(other, _)| *other == asked).unwrap_or_else(|| {
            blocks.push((asked, vec![rows[0][columns..].to_vec()]));
            blocks.len() - 1
        });
        blocks[at].1.push(row[columns..].to_vec());
    }
    let block = |(asked, rows): &(String, Vec<Vec<Cell>>)| {
        wrapped("", asked, screen.width) + &layout::table(rows, widths, sides, screen.colour)
    };
    blocks.iter().map(block).collect::<Vec<_>>().join("\n")
}

/// So many columns, the first ones, say what was asked.
const QUESTION: usize = 4;

const HEADER: [&str; 10] =
    ["handoff", "kind", "flows", "scheme", "measure", "A", "B", "B / A", "noise", "verdict"];

fn side(column: usize) -> Side {
    if column == 2 || (5..9).contains(&column) { Side::Right } else { Side::Left }
}

fn cells(pair: &Pair, measured: &Measured) -> Vec<Cell> {
    let row = &pair.a;
    let [a, b] = values(measured.a, measured.b);
    let ratio = measured.ratio.map_or("inf".to_string(), |ratio| significant(ratio, 3));
    let noise = measured.noise.map_or("-".to_string(), |noise| significant(noise, 2));
    let texts = [
        format!("{} -> {}", row.old, row.new),
        kind(row),
        row.flows.to_string(),
        row.scheme.clone(),
        measured.measure.to_string(),
        a,
        b,
        ratio,
        noise,
        measured.verdict.words().to_string(),
    ];
    let paint = match measured.verdict {
        Verdict::Beyond if measured.measure == "transfer_s.median" => match measured.ratio {
            Some(ratio) if ratio < 1.0 => Paint::Green,
            _ => Paint::Red,
        },
        Verdict::Beyond => Paint::Yellow,
        _ => Paint::Plain,
    };
    let cell = |(column, text): (usize, String)| Cell {
        text: segue_console::printable(&text),
        paint: if column == 7 || column == 9 { paint } else { Paint::Plain },
    };
    texts.into_iter().enumerate().map(cell).collect()
}

fn kind(row: &Row) -> String {
    let which = row.handoff.map_or(String::new(), |nth| format!(" #{nth}"));
    if row.disconnect_s == 0.0 {
        row.kind.clone() + &which
    } else {
        format!("{} {} s{which}", row.kind, row.disconnect_s)
    }
}

/// Two values with four digits, or with as many as it takes to tell them apart.
fn values(a: Option<f64>, b: Option<f64>) -> [String; 2] {
    let text = |value: Option<f64>, digits| value.map_or("inf".to_string(), |v| significant(v, digits));
    (4..=17)
        .map(|digits| [text(a, digits), text(b, digits)])
        .find(|[x, y]| a == b || x != y)
        .unwrap_or_else(|| [text(a, 17), text(b, 17)])
}

/// A number with so many significant digits, without zeros behind; very large or small ones with
/// a power of ten.
fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let scientific = format!("{value:.*e}", digits - 1);
    let exponent: i32 = scientific.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    if !(-4..9).contains(&exponent) {
        return scientific;
    }
    let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

/// How many measures the table leaves out, by verdict.
fn rest(difference: &Difference, shown: &[(&Pair, &Measured)]) -> String {
    let left = |verdict| {
        let listed = shown.iter().filter(|(_, measured)| measured.verdict == verdict).count();
        difference.count(verdict) - listed
    };
    let counts: Vec<String> = Verdict::ALL
        .into_iter()
        .map(|verdict| (verdict, left(verdict)))
        .filter(|&(_, count)| count > 0)
        .map(|(verdict, count)| format!("{count} {}", verdict.words()))
        .collect();
    if counts.is_empty() {
        return String::new();
    }
    format!("\nNot listed: {} (--all lists them).\n", counts.join(", "))
}

/// The rows that one file alone has.
fn only(name: &str, rows: &[Row]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut text = format!("\nOnly in {name}: {} row{}\n", rows.len(), plural(rows.len()));
    for row in rows {
        let asked: Vec<String> = question(row)
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(field, value)| format!("{field} {value}"))
            .collect();
        let line = format!(
            "{} -> {}, {}, {} flow{}, {} ({})",
            row.old,
            row.new,
            kind(row),
            row.flows,
            plural(row.flows),
            row.scheme,
            asked.join(", ")
        );
        text.push_str(&format!("  {}\n", segue_console::printable(&line)));
    }
    text
}

fn legend(width: usize) -> String {
    let text = format!(
        "Beyond noise first, then by size of the effect. A, B: times in s (inf = incomplete), counts per handoff, shares \
         of the handoffs (`segue measures`). Noise: the largest difference that a sample of handoff \
         times explains. Median transfer time: the notches of two box plots, 1.57 IQR / sqrt(n) each (McGill, Tukey and \
         Larsen 1978). Counts: 1.96 standard errors if the variance is four times the mean, and 5 % at least. Shares: \
         1.96 binomial standard errors. -: unknown, with fewer than {FEWEST} handoffs or without a criterion. Another \
         seed may move results with several flows further."
    );
    wrapped("", &text, width)
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_keeps_its_end() {
        assert_eq!(shortened("results/day-1.json", 80), "results/day-1.json");
        assert_eq!(shortened("results/day-1.json", 18), "...s/day-1.json");
        assert_eq!(shortened("results/day-1.json", 21), "results/day-1.json");
        assert_eq!(shortened("é".repeat(30).as_str(), 23), format!("...{}", "é".repeat(17)));
    }

    #[test]
    fn numbers_are_short_and_differ_where_values_do() {
        let text = |value| significant(value, 4);
        assert_eq!(
            [text(0.0), text(12.0), text(0.05), text(9.99996), text(123456.0)],
            ["0", "12", "0.05", "10", "123456"]
        );
        assert_eq!([text(1e-9), text(1e300), text(-2.5)], ["1.000e-9", "1.000e300", "-2.5"]);
        assert_eq!(values(Some(6.8350001), Some(6.8350002)), ["6.8350001", "6.8350002"]);
        assert_eq!(values(Some(1.0), None), ["1", "inf"]);
        assert_eq!(values(None, None), ["inf", "inf"]);
    }
}
