//! `segue measures`: what numbers mean, from the table of measures; as Markdown it is docs/reference/measures.md.

use crate::layout::wrapped;
use crate::screen::Screen;
use crate::{Failure, print};
use clap::Args;
use segue_study::measure::{EACH, EachKind, FIELDS, MEASURES, Measure, OPTIONAL, OPTIONAL_FIELDS};

const HEAD: &str = "\
# Measures

This page is for readers of a table, CSV or JSON file who ask what a number means:

    segue compare wlan hsdpa --json - | jq '.rows[0].transfer_s.median'

`segue measures --markdown` writes it from the table in `crates/study/src/measure/table.rs`. [bench.md](bench.md)
describes the bench on which they are measured.
";

/// `segue measures`.
#[derive(Debug, Args)]
pub struct MeasuresArgs {
    /// Print the page docs/reference/measures.md, which also has the measures of one handoff
    #[arg(long)]
    pub markdown: bool,
}

/// Prints the page, or a list for the screen.
pub fn run(args: &MeasuresArgs, screen: &Screen) -> Result<(), Failure> {
    print(&if args.markdown { page() } else { listed(screen.width) })
}

/// Every measure: its name in JSON, unit, word of `--columns` and heading, and what it means.
fn listed(width: usize) -> String {
    let mut text = "Measures by their names in JSON, and in CSV where they differ.\n".to_string();
    list(&mut text, FIELDS, MEASURES, width);
    text.push_str("\nRows have these where the question asks for them (--neighbours, --traffic):\n");
    list(&mut text, OPTIONAL_FIELDS, OPTIONAL, width);
    let each: Vec<&str> = EACH.iter().map(|measure| measure.name).collect();
    text.push_str(&wrapped(
        "",
        &format!("\n--rows and segue sweep have of each handoff: {}.", each.join(", ")),
        width,
    ));
    text
}

/// These fields, each with its measures.
fn list(text: &mut String, fields: &[(&str, &str)], measures: &[Measure], width: usize) {
    for (field, definition) in fields {
        text.push_str(&wrapped("", &format!("\n{field}: {}", definition.trim()), width));
        for measure in measures.iter().filter(|measure| measure.field == *field) {
            let column = measure.shown.map(|shown| format!("; column {}, \"{}\"", shown.word, shown.heading));
            let csv = (measure.csv != measure.name).then(|| format!("; {} in CSV", measure.csv));
            let unit = measure.unit.words();
            let more = [csv, column].into_iter().flatten().collect::<String>();
            text.push_str(&wrapped("  ", &format!("{} ({unit}{more})", measure.name), width));
            text.push_str(&wrapped("      ", &measure.about("the first scheme"), width));
        }
    }
}

fn page() -> String {
    let mut text = HEAD.to_string();
    text.push_str("\n## Definitions\n\nBy field of a row of `--json`. Counts run from completion to the end of the slowest transfer.\n\n");
    text.push_str("| field | |\n|---|---|\n");
    for (field, definition) in FIELDS {
        text.push_str(&format!("| `{field}` | {} |\n", definition.trim()));
    }
    text.push_str(
        "\n## Numbers\n\n\
         An infinite number is `null` in JSON and empty in CSV. So is the wait at a queue where no packet was.\n\
         `columns` of a scenario file chooses what the table shows.\n\n\
         Each measure has one row here, with all its names. Pages are those of `--report`; they lack some. Tables of drives\n\
         and of the laboratory have the same headings, such as RTO and rexmit. There they count over a drive or a run.\n\n\
         | JSON | CSV, Arrow | in | word of `columns` | heading | in pages | |\n|---|---|---|---|---|---|---|\n",
    );
    for measure in MEASURES {
        let (word, heading, title) = measure.shown.map_or_else(Default::default, |shown| {
            (format!("`{}`", shown.word), shown.heading, shown.title.unwrap_or_default())
        });
        text.push_str(&format!(
            "| `{}` | `{}` | {} | {word} | {heading} | {title} | {} |\n",
            measure.name,
            measure.csv,
            measure.unit.words(),
            measure.about("the first scheme")
        ));
    }
    text.push_str(
        "\nThe column `new_link` is a bar of the classes of `new_link_s`.\n\n## Neighbours and traffic\n\n\
         Rows have these where the question asks for them.\n\n| field | |\n|---|---|\n",
    );
    for (field, definition) in OPTIONAL_FIELDS {
        text.push_str(&format!("| `{field}` | {} |\n", definition.trim()));
    }
    text.push_str("\n| JSON | CSV, Arrow | in | |\n|---|---|---|---|\n");
    for measure in OPTIONAL {
        let (name, csv, unit) = (measure.name, measure.csv, measure.unit.words());
        text.push_str(&format!("| `{name}` | `{csv}` | {unit} | {} |\n", measure.about("the first scheme")));
    }
    text.push_str(
        "\n## One handoff\n\n\
         `--rows` and `segue sweep` have these measures of each handoff.\n\n| column | type |\n|---|---|\n",
    );
    for measure in EACH {
        let kind = match measure.kind {
            EachKind::Count => "number of events",
            EachKind::Seconds => "s",
            EachKind::MaybeInfinite => "s; empty or null if infinite",
        };
        text.push_str(&format!("| `{}` | {kind} |\n", measure.name));
    }
    text
}
