//! The gallery of several papers: an index, and a page for each.

use segue_gallery::page::{Exhibit, Making, gallery_pages};
use segue_report::Origin;
use segue_reproduce::ledger::Reading;
use segue_reproduce::papers::papers;

#[test]
fn every_page_is_reached_and_leads_back() {
    let papers = papers().expect("the ledger");
    let exhibit = |paper| Exhibit { paper, figures: Vec::new(), claims: Vec::new() };
    let exhibits: Vec<Exhibit> = papers.iter().map(exhibit).collect();
    let origin = Origin { command: "segue reproduce".into(), version: "0" };
    let making = Making { points: 200, options: String::new(), origin: &origin };
    let pages = gallery_pages(&exhibits, None, &making);
    assert_eq!(pages.len(), 1 + papers.len());
    let (name, index) = &pages[0];
    assert!(name == "index.html" && index.len() < 300_000, "{name}: {} bytes", index.len());
    for ((name, page), paper) in pages[1..].iter().zip(&papers) {
        assert_eq!(*name, format!("{}.html", paper.id));
        assert!(index.contains(&format!("href=\"{name}\"")), "{name}");
        assert!(page.contains("href=\"index.html\"") && page.contains("id=\"differing\""), "{name}");
    }
    // Readings of open points lead to their rows.
    let told =
        &pages[1..].iter().zip(&papers).find(|(_, paper)| !paper.readings.is_empty()).expect("readings").0.1;
    let cited: Vec<&str> =
        told.split("href=\"#rule-").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(!cited.is_empty() && cited.iter().all(|number| told.contains(&format!("id=\"rule-{number}\""))));
    assert!(index.contains("200 handoffs for each bar"));
    let one = Making { points: 1, options: String::new(), origin: &origin };
    assert!(gallery_pages(&exhibits, None, &one)[0].1.contains("1 handoff for each bar"));
    let alone = gallery_pages(&exhibits[..1], None, &making);
    assert!(alone.len() == 1 && alone[0].0 == "index.html" && !alone[0].1.contains("href=\"index.html\""));
    // One that is too large for a first page has a page of its own.
    let mut large = papers[0].clone();
    let why = "long ".repeat(60_000);
    large.readings.push(Reading { set: "a1-in-bbm=off".into(), section: "9.37".into(), why });
    let pages = gallery_pages(&[exhibit(&large)], None, &making);
    let (index, page) = (&pages[0].1, &pages[1]);
    assert!(pages.len() == 2 && index.len() < 300_000 && page.1.len() > 300_000);
    assert!(index.contains(&format!("href=\"{}\"", page.0)) && page.1.contains("href=\"index.html\""));
}
