//! A file of another kind, given where a laboratory's plan is expected.

use crate::drive::DriveScenario;
use crate::lab::LabFile;
use crate::place::{FileError, Source};
use crate::scenario::{Scenario, is_of_agent, of_agent};
use crate::sweep::Sweep;
use segue_world::access::LinkNames;

/// Reads a laboratory's plan, where links have these names, too. A scenario, a sweep, a drive or a configuration of the
/// agent is told what it is.
pub fn plan(path: &str, names: &LinkNames) -> Result<LabFile, FileError> {
    LabFile::read(path, names).map_err(|error| match &error {
        FileError::Content { .. } => recognised(path).unwrap_or(error),
        FileError::Unreadable { .. } => error,
    })
}

/// The error for a file that is no plan, but of another known kind.
fn recognised(path: &str) -> Option<FileError> {
    let source = Source::read(path, "").ok()?;
    let problem = match kind(&source.text) {
        Some((what, command)) => format!("this is {what}; expected a laboratory's plan, or {command}"),
        None if is_of_agent(&source.text) => of_agent("a laboratory's plan"),
        None => return None,
    };
    Some(source.at(0..0, problem))
}

/// A kind of file with its article, and the command that takes it. It is known by its format and what it cannot do
/// without: links, or a drive. A sweep's format is a scenario's, with more.
fn kind(text: &str) -> Option<(&'static str, &'static str)> {
    let is_scenario = |file: Scenario| file.pairs.is_some() || file.old.is_some() && file.new.is_some();
    let is_sweep = |file: Sweep| file.pairs.is_some() || file.old.is_some() && file.new.is_some();
    if toml::from_str(text).is_ok_and(is_scenario) {
        Some(("a scenario", "segue run"))
    } else if toml::from_str(text).is_ok_and(is_sweep) {
        Some(("a sweep", "segue sweep"))
    } else {
        toml::from_str::<DriveScenario>(text).is_ok().then_some(("a drive", "segue run"))
    }
}

#[cfg(test)]
mod tests {
    use super::{kind, plan};
    use crate::scenario::{OF_AGENT, ScenarioFile};
    use crate::sweep::SweepFile;
    use segue_world::access::LinkNames;

    #[test]
    fn a_file_of_another_kind_is_recognised() {
        let links = "old = 'wlan'\nnew = 'egprs'\n";
        let named = |more: &str| kind(&format!("{links}{more}")).map(|(what, _)| what);
        assert_eq!(named("at = '2s'\n"), Some("a scenario"));
        assert_eq!(named("notice = ['instant', 'in-band']\n"), Some("a sweep"));
        assert_eq!(kind("[drive]\nlength = '60s'\n"), Some(("a drive", "segue run")));
        // A mistake is told by itself, and so is what is missing.
        assert_eq!(named("obsreve = '5s'\n"), None);
        assert_eq!(kind("old = 'wlan'"), None);
    }

    /// Its keys stand in its example, some behind a #. Only `freeze-before` is a plan's, too.
    #[test]
    fn each_key_of_the_agent_shows_its_file() {
        let example = include_str!("../../../examples/agent.toml");
        let lines = || example.lines().map(|line| line.trim_start_matches("# "));
        let keys =
            lines().take_while(|line| !line.starts_with('[')).filter_map(|line| line.split_once(" = "));
        let keys: Vec<&str> = keys.map(|(key, _)| key).filter(|key| !key.contains(' ')).collect();
        assert!(keys.len() > 10, "{keys:?}");
        for key in keys.into_iter().filter(|key| *key != "freeze-before") {
            assert!(OF_AGENT.contains(&key), "{key}");
        }
        let file = std::env::temp_dir().join(format!("segue-agent-{}.toml", std::process::id()));
        let path = file.to_str().expect("a path");
        for key in OF_AGENT {
            let text = format!("{key} = 1\n");
            std::fs::write(&file, &text).expect("a file");
            let said = [
                ScenarioFile::parse(&text, "a.toml").map(drop).expect_err(key).to_string(),
                SweepFile::parse(&text, "a.toml").map(drop).expect_err(key).to_string(),
                plan(path, &LinkNames::default()).map(drop).expect_err(key).to_string(),
            ];
            for (said, expected) in said.iter().zip(["a scenario", "a sweep", "a laboratory's plan"]) {
                let end = format!(
                    ", line 1, column 1: this is a configuration of the agent; expected {expected}, or segue agent run \
                     --config FILE"
                );
                assert!(said.ends_with(&end), "{key}: {said}");
            }
        }
        std::fs::remove_file(&file).expect("ours");
        // With links it is a file of theirs, and the key a mistake.
        let said = SweepFile::parse("old = 'wlan'\nnew = 'lte'\nlimit = '1s'\n", "a.toml").map(drop);
        assert!(said.expect_err("a mistake").to_string().contains("unknown key `limit`"));
    }
}
