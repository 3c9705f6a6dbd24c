//! Barriers of a page for readers who use no mouse, no sight, or little contrast. They are the rules of WCAG 2.2 (A and
//! AA), and the good practice, that axe-core can check.

use super::Browser;
use std::path::{Path, PathBuf};

/// The elements that break a rule: its name, what axe-core says about it, and where.
const RUN: &str = r##"axe.run(document, {
  preload: false,
  resultTypes: ["violations"],
  runOnly: RULES,
}).then(({ violations }) => violations.flatMap(({ id, nodes }) =>
  nodes.map(({ html, failureSummary }) => `${id}: ${failureSummary.replace(/\s+/g, " ")}: ${html.slice(0, 120)}`)))"##;

/// The program, where `scripts/setup axe` puts it.
fn axe() -> String {
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target"), PathBuf::from);
    let file = target.join("tools/axe/axe.min.js");
    std::fs::read_to_string(&file)
        .unwrap_or_else(|error| panic!("{}: {error}; expected it from scripts/setup axe", file.display()))
}

impl Browser {
    /// All barriers of the page that is shown.
    pub fn barriers(&mut self) -> Vec<String> {
        self.broken(r#"["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]"#)
    }

    /// Text with too little contrast: the only rule that depends on light and dark.
    pub fn faint_text(&mut self) -> Vec<String> {
        self.broken(r#"["color-contrast"]"#)
    }

    fn broken(&mut self, rules: &str) -> Vec<String> {
        if self.evaluate("typeof axe") == "undefined" {
            self.evaluate(&format!("{};0", axe()));
        }
        let found = self.evaluate(&RUN.replace("RULES", rules));
        found.as_array().expect("a list").iter().map(|one| one.as_str().expect("text").to_string()).collect()
    }
}
