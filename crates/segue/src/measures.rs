//! `segue measures`: docs/reference/measures.md, from the table of measures.

use crate::{Failure, print};
use segue_study::measure::{EACH, EachKind, FIELDS, MEASURES};

const HEAD: &str = "\
# Measures

This page is for readers of a table, CSV or JSON file who ask what a number means:

    segue compare wlan hsdpa --json - | jq '.rows[0].transfer_s.median'

`segue measures` writes it from the table in `crates/study/src/measure/table.rs`. [bench.md](bench.md) describes the
bench on which they are measured.
";

/// Prints the page.
pub fn run() -> Result<(), Failure> {
    print(&page())
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
         | JSON | CSV, Arrow | in | word of `columns` | heading | |\n|---|---|---|---|---|---|\n",
    );
    for measure in MEASURES {
        let (word, heading) =
            measure.shown.map_or_else(Default::default, |shown| (format!("`{}`", shown.word), shown.heading));
        text.push_str(&format!(
            "| `{}` | `{}` | {} | {word} | {heading} | {} |\n",
            measure.name,
            measure.csv,
            measure.unit.words(),
            measure.about("the first scheme")
        ));
    }
    text.push_str(
        "\nThe column `new_link` is a bar of the classes of `new_link_s`.\n\n## One handoff\n\n\
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
