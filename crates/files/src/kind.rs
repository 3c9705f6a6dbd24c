//! A file of another kind, given where a laboratory's plan is expected.

use crate::drive::DriveScenario;
use crate::lab::LabFile;
use crate::place::{FileError, Source};
use crate::scenario::{Scenario, is_of_agent};
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
    let (what, command) = kind(&source.text)?;
    Some(source.at(0..0, format!("this is {what}; expected a laboratory's plan, or {command}")))
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
    } else if toml::from_str::<DriveScenario>(text).is_ok() {
        Some(("a drive", "segue run"))
    } else {
        is_of_agent(text).then_some(("a configuration of the agent", "segue agent run --config FILE"))
    }
}

#[cfg(test)]
mod tests {
    use super::kind;

    #[test]
    fn a_file_of_another_kind_is_recognised() {
        let links = "old = 'wlan'\nnew = 'egprs'\n";
        let named = |more: &str| kind(&format!("{links}{more}")).map(|(what, _)| what);
        assert_eq!(named("at = '2s'\n"), Some("a scenario"));
        assert_eq!(named("notice = ['instant', 'in-band']\n"), Some("a sweep"));
        assert_eq!(kind("[drive]\nlength = '60s'\n"), Some(("a drive", "segue run")));
        let agents = Some(("a configuration of the agent", "segue agent run --config FILE"));
        assert_eq!(kind("[[link]]\nrate = '1mbit'\ndelay = '1ms'\n"), agents);
        // A mistake is told by itself, and so is what is missing.
        assert_eq!(named("obsreve = '5s'\n"), None);
        assert_eq!(kind("old = 'wlan'"), None);
    }
}
