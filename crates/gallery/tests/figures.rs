//! Small figures as numbers: packets and counts, not pixels. A change of these snapshots is a change of results.

use segue_gallery::figure_csv;
use segue_reproduce::ledger::{Figure, Paper};
use segue_reproduce::papers::papers;
use segue_reproduce::run::{Needs, run};
use std::collections::BTreeMap;

fn csv_of(paper: &str, figure: &str, points: usize) -> String {
    let papers = papers().expect("the ledger");
    let paper: &Paper = papers.iter().find(|known| known.id == paper).expect("a paper");
    let figure: &Figure = paper.figures.iter().find(|known| known.id == figure).expect("a figure");
    let mut needs = Needs::default();
    needs.add_figure(paper, figure);
    let results = run(paper, &needs, points, None, &|_| {}).expect("results");
    figure_csv(paper, figure, &results).expect("CSV")
}

/// Figure 4 of paper 000 over four handoffs.
#[test]
fn quartiles() {
    insta::assert_snapshot!(csv_of("daniel-kojo-2009-multiflow", "fig4", 4));
}

/// Figure 12 of paper 001: events of both panels, counted; and the first packet that is dropped after the handoff.
#[test]
fn sequences() {
    let text = csv_of("daniel-kojo-2008-crosslayer", "fig12", 1);
    let mut counts: BTreeMap<(String, String), u32> = BTreeMap::new();
    let mut first_dropped: BTreeMap<String, String> = BTreeMap::new();
    for row in csv::Reader::from_reader(text.as_bytes()).records() {
        let row = row.expect("a row");
        *counts.entry((row[0].to_string(), row[2].to_string())).or_default() += 1;
        if &row[2] == "dropped" && row[1].parse::<f64>().expect("a time") >= 6.5 {
            first_dropped.entry(row[0].to_string()).or_insert_with(|| row[3].to_string());
        }
    }
    insta::assert_snapshot!(format!("{counts:#?}\nfirst dropped from 6.5 s on: {first_dropped:?}"));
}
