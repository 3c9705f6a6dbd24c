//! Names of a paper's senders, and the settings of its readings.

use crate::ledger::Paper;
use segue_handoff::Scheme;
use segue_study::bench_words::{LINK_QUEUE, STARTS, TARGET};
use segue_tcp::profile::STACK_SETTINGS;
use segue_world::fmip::DOWNLOAD_SETTINGS;
use std::collections::BTreeSet;

/// Settings of the bench that a paper's handoffs may have otherwise.
pub const BENCH: [&str; 3] = [LINK_QUEUE, STARTS, TARGET];

/// A sender's name without its buffer.
pub fn scheme_of(name: &str) -> &str {
    name.split_once('@').map_or(name, |(scheme, _)| scheme)
}

/// Settings of a paper's readings, for stacks and for those of its schemes that know them.
pub fn settings(paper: &Paper, schemes: &BTreeSet<String>) -> Vec<(String, String)> {
    let known: BTreeSet<String> = schemes
        .iter()
        .flat_map(|scheme| Scheme::settings_of(scheme_of(scheme)))
        .map(|setting| setting.name.to_string())
        .chain(STACK_SETTINGS.iter().map(|setting| setting.name.to_string()))
        .chain(BENCH.map(String::from))
        .chain(DOWNLOAD_SETTINGS.iter().map(|setting| setting.name.to_string()))
        .collect();
    let pairs = paper.readings.iter().filter_map(|reading| reading.set.split_once('='));
    pairs.filter(|(key, _)| known.contains(*key)).map(|(key, value)| (key.into(), value.into())).collect()
}
