//! Keys of files, from the tables of the guide that list them.

use super::markdown::{hanging, without_links};

/// A page of the guide, and what it calls the files that have its keys.
struct Page {
    text: &'static str,
    place: &'static str,
    files: &'static str,
}

const PAGES: [Page; 5] = [
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
    Page {
        text: include_str!("../../../../docs/guide/agent.md"),
        place: "docs/guide/agent.md",
        files: "the agent's configuration",
    },
];

/// Heads of tables of keys end so.
const HEADS: [&str; 2] = [" | default | meaning |", " | default | values |"];

/// The section of a file that a table of keys is about: empty at its head, and `[chart] of ` for `key of [chart]`.
fn section(head: &str) -> Option<String> {
    let first = HEADS.iter().find_map(|end| head.strip_suffix(end))?.strip_prefix("| key")?;
    match first.strip_prefix(" of ") {
        Some(section) => Some(format!("{} of ", section.replace('`', ""))),
        None => first.is_empty().then(String::new),
    }
}

/// A row of a table of keys.
struct Row {
    keys: &'static str,
    /// As of [`section`].
    section: String,
    default: &'static str,
    meaning: &'static str,
}

impl Page {
    /// The rows of its tables.
    fn rows(&self) -> impl Iterator<Item = Row> + use<> {
        let mut inside = None;
        self.text.lines().filter_map(move |line| {
            inside = section(line).or(inside.take().filter(|_| line.starts_with('|')));
            let section = inside.clone().filter(|_| line.starts_with("| `"))?;
            let (keys, rest) = line.strip_prefix("| ")?.split_once(" | ")?;
            let (default, meaning) = rest.trim_end_matches(" |").split_once(" | ")?;
            Some(Row { keys, section, default, meaning })
        })
    }
}

impl Row {
    /// Its table without brackets; empty at the head of a file.
    fn table(&self) -> &str {
        self.section.trim_end_matches(" of ").trim_matches(['[', ']'])
    }
}

impl Page {
    /// The keys of the table of that name.
    fn table(&self, name: &str, width: usize) -> Option<String> {
        let rows: Vec<Row> = self.rows().filter(|row| !name.is_empty() && row.table() == name).collect();
        let section = &rows.first()?.section;
        let keys: Vec<&str> = rows.iter().flat_map(|row| names_of(row.keys)).collect();
        let head = format!("Keys of {section}{}: ", self.files);
        Some(hanging(&head, &keys.join(", "), 2, width) + &format!("  {}\n", self.place))
    }
}

/// The keys of a row: `seed` and `seeds`, and `settings` of `[settings]`.
fn names_of(keys: &str) -> impl Iterator<Item = &str> {
    keys.split(", ").map(|key| key.trim_matches(|c| "`[]".contains(c)))
}

/// A key of files, with or without its table (`wan.rate`): its default and meaning, in each kind of file that has it.
/// A table (`wan`) also has the names of its keys. `-` and `_` are the same.
pub fn key(name: &str, width: usize) -> Vec<String> {
    let meant = name.replace('-', "_");
    let is_it = |key: &str, table: &str| {
        let key = key.replace('-', "_");
        key == meant || !table.is_empty() && format!("{table}.{key}") == meant
    };
    let of_page = |page: &'static Page| {
        let rows = page.rows().filter(|row| names_of(row.keys).any(|key| is_it(key, row.table())));
        let keys = rows.map(move |Row { keys, section, default, meaning }| {
            let text = format!("default {default}; {meaning}").replace('`', "");
            let head = format!("Key {} of {section}{}: ", keys.replace('`', ""), page.files);
            hanging(&head, &without_links(&text, "docs/guide"), 2, width) + &format!("  {}\n", page.place)
        });
        keys.chain(page.table(&meant, width))
    };
    PAGES.iter().flat_map(of_page).collect()
}

/// All of them, and their tables, for hints.
pub fn names() -> impl Iterator<Item = String> {
    let of_row = |row: Row| {
        let table = row.table().to_string();
        let within = |key: &str| (!table.is_empty()).then(|| format!("{table}.{key}"));
        let keys = names_of(row.keys).flat_map(|key| [Some(key.to_string()), within(key)]);
        let names: Vec<String> =
            keys.flatten().chain(Some(table.clone()).filter(|t| !t.is_empty())).collect();
        names
    };
    PAGES.iter().flat_map(Page::rows).flat_map(of_row)
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
            (
                "cc",
                &["Key cc of sweeps: default the stack's own; each congestion control", "Key cc of drives"],
            ),
            ("across", &["Key across of [chart] of scenario files"]),
            ("file", &["Key file of [drive] of drives: default none; "]),
            ("stay", &["Key stay of [drive] of drives", "Key stay of [[drive.network]] of drives"]),
            ("watch", &["Key watch of the agent's configuration: default [\"default\"]; "]),
            ("others", &["Key [others] of the agent's configuration"]),
            ("freeze_before", &["Key freeze-before of the agent's configuration"]),
            ("mtu", &["Key mtu of [others] of the agent's configuration"]),
            (
                "chart",
                &[
                    "Key [chart] of scenario files and sweeps: default none; axes of the chart",
                    "Keys of [chart] of scenario files and sweeps: across, horizontal, vertical",
                ],
            ),
            ("wan.rate", &["Key rate of [wan] of drives: default \"10mbit\"; its rate"]),
            ("wan", &["Keys of [wan] of drives: rate, delay, queue\n  docs/guide/drives.md"]),
            ("drive.network.stay", &["Key stay of [[drive.network]] of drives: default none; mean time"]),
            ("others.freeze", &["Key freeze of [others] of the agent's"]),
            (
                "link",
                &[
                    "Key [[link]] of the agent's",
                    "Keys of [[link]] of the agent's configuration: device, type",
                ],
            ),
        ] {
            let told = key(name, 200).concat();
            assert!(parts.iter().all(|part| told.contains(part)), "{name}: {told}");
        }
        names().for_each(|name| assert!(!key(&name, 80).is_empty(), "{name}"));
        assert!(names().count() > 50);
        assert!(!key("wan.rate", 200).concat().contains("[[drive.network]]"));
        assert!(key("", 80).is_empty() && key("default", 80).is_empty() && key("segue.sweep", 80).is_empty());
    }

    /// The agent's keys stand in its example, some behind a #, and those of drives in their schema.
    #[test]
    fn no_key_of_the_agent_or_of_drives_is_missing() {
        let lines = include_str!("../../../../examples/agent.toml").lines();
        let keys =
            lines.filter_map(|line| line.trim_start_matches("# ").split_once(" = ")).map(|(key, _)| key);
        let agents: Vec<&str> = keys.filter(|key| !key.contains(' ')).collect();
        let schema: serde_json::Value =
            serde_json::from_str(include_str!("../../../../docs/reference/drive.schema.json")).expect("JSON");
        let of = |table: &serde_json::Value| {
            let properties = table["properties"].as_object().into_iter().flatten();
            properties.map(|(key, _)| key.clone()).collect::<Vec<_>>()
        };
        let parts = ["DriveWords", "NetworkWords", "MoveWords", "WanWords", "TrafficWords"];
        let drives: Vec<String> = parts.into_iter().flat_map(|part| of(&schema["$defs"][part])).collect();
        assert!(agents.len() > 20 && drives.len() > 20, "{agents:?} {drives:?}");
        for (key, files) in agents
            .into_iter()
            .map(|key| (key, "the agent's configuration: "))
            .chain(drives.iter().map(|key| (key.as_str(), " of drives: ")))
        {
            let told = self::key(key, 1000).concat();
            assert!(told.contains(files), "{key}: {told}");
        }
    }
}
