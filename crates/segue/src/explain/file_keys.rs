//! Keys of files, from the tables of the guide that list them.

use super::markdown::{hanging, without_links};

/// A page of the guide, and what it calls the files that have its keys.
struct Page {
    text: &'static str,
    place: &'static str,
    files: &'static str,
}

const PAGES: [Page; 4] = [
    Page {
        text: include_str!("../../../../docs/guide/run.md"),
        place: "docs/guide/run.md",
        files: "scenario files and sweeps",
    },
    Page {
        text: include_str!("../../../../docs/guide/sweep.md"),
        place: "docs/guide/sweep.md",
        files: "sweeps",
    },
    Page {
        text: include_str!("../../../../docs/guide/drives.md"),
        place: "docs/guide/drives.md",
        files: "drives",
    },
    Page {
        text: include_str!("../../../../docs/guide/lab.md"),
        place: "docs/guide/lab.md",
        files: "plans of the laboratory",
    },
];

/// Tables of keys begin so.
const HEADS: [&str; 2] = ["| key | default | meaning |", "| key | default | values |"];

impl Page {
    /// The rows of its tables: names, default and meaning.
    fn rows(&self) -> impl Iterator<Item = [&'static str; 3]> + use<> {
        let mut inside = false;
        self.text.lines().filter_map(move |line| {
            inside = HEADS.contains(&line) || (inside && line.starts_with('|'));
            let is_row = inside && line.starts_with("| `");
            let (keys, rest) = line.strip_prefix("| ").filter(|_| is_row)?.split_once(" | ")?;
            let (default, meaning) = rest.trim_end_matches(" |").split_once(" | ")?;
            Some([keys, default, meaning])
        })
    }
}

/// The keys of a row: `seed` and `seeds`, and `settings` of `[settings]`.
fn names_of(keys: &str) -> impl Iterator<Item = &str> {
    keys.split(", ").map(|key| key.trim_matches(|c| "`[]".contains(c)))
}

/// A key of files: its default and meaning, in each kind of file that has it. `-` and `_` are the same.
pub fn key(name: &str, width: usize) -> Vec<String> {
    let meant = name.replace('-', "_");
    let is_it = |key: &str| key.replace('-', "_") == meant;
    let of_page = |page: &'static Page| {
        let rows = page.rows().filter(|[keys, ..]| names_of(keys).any(is_it));
        rows.map(move |[keys, default, meaning]| {
            let text = format!("default {default}; {meaning}").replace('`', "");
            let head = format!("Key {} of {}: ", keys.replace('`', ""), page.files);
            hanging(&head, &without_links(&text, "docs/guide"), 2, width) + &format!("  {}\n", page.place)
        })
    };
    PAGES.iter().flat_map(of_page).collect()
}

/// All of them, for hints.
pub fn names() -> impl Iterator<Item = String> {
    PAGES.iter().flat_map(Page::rows).flat_map(|[keys, ..]| names_of(keys)).map(str::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_all_files_are_told() {
        for (name, parts) in [
            ("noise", &["Key noise of plans of the laboratory: default \"0.05ms\"; jitter of"][..]),
            ("stays", &["Key stays of plans of the laboratory: default none; times at the old link"]),
            ("lost_icmp", &["Key lost-icmp of plans", "docs/guide/lab.md"]),
            ("warm-up", &["Key warm_up of scenario files and sweeps: ", "Key warm-up of plans"]),
            ("seeds", &["Key seed, seeds of scenario files"]),
            ("settings", &["Key [settings] of scenario files", "Key [settings] of plans"]),
            ("cc", &["Key cc of sweeps: default the stack's own; each congestion control"]),
        ] {
            let told = key(name, 200).concat();
            assert!(parts.iter().all(|part| told.contains(part)), "{name}: {told}");
        }
        names().for_each(|name| assert!(!key(&name, 80).is_empty(), "{name}"));
        assert!(names().count() > 50);
        assert!(key("", 80).is_empty() && key("default", 80).is_empty() && key("segue.sweep", 80).is_empty());
    }
}
