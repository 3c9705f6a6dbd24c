//! `segue doctor`: what this machine can do, and what is missing.

use crate::layout::wrapped;
use crate::screen::Screen;
use crate::{Failure, outputs, print};
use clap::Args;
use segue_export::Origin;
use segue_kernel::host::{Feature, probe};
use serde_json::json;

/// `segue doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Write the report as JSON (- for standard output)
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
}

/// Runs the command.
pub fn run(args: &DoctorArgs, origin: &Origin, screen: &Screen) -> Result<(), Failure> {
    let ([json], on_stdout) = outputs::open([("--json", &args.json)])?;
    let features = probe();
    outputs::write(json, || {
        let text =
            serde_json::to_string(&json!({ "version": 1, "features": features, "origin": origin.json() }));
        text.map(|text| text + "\n").map_err(Failure::ours)
    })?;
    if on_stdout { Ok(()) } else { print(&text(&features, screen.width)) }
}

/// A summary of what runs here, what is missing and how to mend it; then every feature.
fn text(features: &[Feature], width: usize) -> String {
    let (there, missing): (Vec<&Feature>, Vec<&Feature>) =
        features.iter().partition(|feature| feature.present);
    let told = |feature: &&Feature| format!("{} ({})", feature.name, feature.found);
    let lacks = match missing.is_empty() {
        true => "Nothing is missing.".to_string(),
        false => format!("Missing: {}.", missing.iter().map(told).collect::<Vec<_>>().join("; ")),
    };
    let mut text = wrapped("", &format!("This machine runs {}.", abilities(features).join(", ")), width);
    text.push_str(&wrapped("", &lacks, width));
    text.push('\n');
    let longest = features.iter().map(|feature| feature.name.chars().count()).max().unwrap_or(0);
    let head = |feature: &Feature, word: &str| format!("{:longest$}  {word}  ", feature.name);
    for feature in missing {
        let needed_for = format!("needed for {}", feature.needed_for);
        text.push_str(&wrapped(&head(feature, "missing"), &needed_for, width));
        let without = format!("works without it: {}", feature.without);
        text.push_str(&wrapped(&" ".repeat(head(feature, "missing").chars().count()), &without, width));
    }
    for feature in there {
        // Where nothing was found but a version, the use tells more.
        let told = if feature.found == "yes" {
            format!("for {}", feature.needed_for)
        } else {
            feature.found.clone()
        };
        text.push_str(&wrapped(&head(feature, "present"), &told, width));
    }
    text
}

/// Programs that run on a machine with these features.
fn abilities(features: &[Feature]) -> Vec<&'static str> {
    let has = |name: &str| features.iter().any(|feature| feature.name == name && feature.present);
    let programs =
        ["rights", "kernel", "btf", "cgroup2"].into_iter().all(has) && (has("cubic") || has("bbr"));
    let all = [
        ("the simulator", true),
        ("`segue kernel run`", programs),
        ("`segue kernel attach`", programs && has("bpffs")),
        ("`segue agent`", programs && has("bpf-iter")),
        ("`segue lab`", programs && ["tun", "namespaces", "iperf3"].into_iter().all(has)),
    ];
    all.into_iter().filter(|(_, can)| *can).map(|(name, _)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 10] =
        ["rights", "kernel", "btf", "cubic", "bbr", "cgroup2", "bpf-iter", "tun", "namespaces", "iperf3"];

    fn without(missing: &[&str]) -> Vec<Feature> {
        let feature = |name: &'static str| Feature {
            name,
            present: !missing.contains(&name),
            found: format!("found {name}"),
            needed_for: "this",
            without: "that",
        };
        NAMES.into_iter().chain(["bpffs"]).map(feature).collect()
    }

    #[test]
    fn abilities_and_needs_come_first() {
        let all = text(&without(&[]), 300);
        let mut lines = all.lines();
        let first = "This machine runs the simulator, `segue kernel run`, `segue kernel attach`, `segue agent`, `segue lab`.";
        assert_eq!((lines.next(), lines.next()), (Some(first), Some("Nothing is missing.")), "{all}");
        assert!(!all.contains("needed for") && all.contains("tun         present  found tun\n"), "{all}");

        let some = text(&without(&["bpffs", "tun"]), 300);
        let first = "This machine runs the simulator, `segue kernel run`, `segue agent`.\nMissing: tun (found tun); bpffs (found bpffs).\n";
        assert!(some.starts_with(first), "{some}");
        assert!(
            some.contains(
                "\ntun         missing  needed for this\n                     works without it: that\n"
            ),
            "{some}"
        );
    }

    /// Some features are those of a version, in which nothing else is found.
    #[test]
    fn a_feature_that_is_only_there_is_told_by_its_use() {
        let mut all = without(&[]);
        let trigger = all.iter_mut().find(|feature| feature.name == "tun").expect("a feature");
        trigger.found = "yes".into();
        let told = text(&all, 300);
        assert!(told.contains("tun         present  for this\n"), "{told}");
    }

    #[test]
    fn the_simulator_runs_everywhere() {
        for (missing, count) in [
            (&["cubic"][..], 5),
            (&["cubic", "bbr"], 1),
            (&["rights"], 1),
            (&["cgroup2"], 1),
            (&["bpf-iter"], 4),
            (&["namespaces"], 4),
            (&["iperf3"], 4),
            (&NAMES, 1),
        ] {
            let can = abilities(&without(missing));
            assert_eq!((can.len(), can[0]), (count, "the simulator"), "{missing:?}");
        }
    }
}
