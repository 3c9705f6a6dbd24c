//! Words of warning that stand beside results.

use segue_tcp::profile::{self, LINUX};
use segue_world::Experiment;
use std::collections::BTreeSet;

/// Facts that a reader must know before comparing numbers. `stacks`: those of the results. `several_stacks`: schemes
/// stand on stacks that meet the handoff in different states.
pub fn warnings<'a>(
    experiment: &Experiment,
    stacks: impl IntoIterator<Item = &'a str>,
    several_stacks: bool,
) -> Vec<String> {
    let mut warnings = Vec::new();
    let stacks: Vec<&str> = stacks.into_iter().collect();
    if several_stacks {
        let each = distinct(stacks.iter().copied());
        // The target of a transfer is above what regular TCP of the same stack had sent.
        // A story has one of them alone.
        let which = if each.len() > 1 { format!(" ({})", each.join(", ")) } else { String::new() };
        warnings.push(format!(
            "schemes on different TCPs{which}, each with its own target and bound: --stack puts all on one"
        ));
    }
    let hops = experiment.fixed_hops();
    if hops.wired != WIRED_RATE {
        warnings.push(format!(
            "wired hops of {} Mbit/s instead of {}, for the fast access link",
            hops.wired / 1_000_000,
            WIRED_RATE / 1_000_000
        ));
    }
    let neighbours = experiment.neighbours.iter().map(|neighbours| -> &'a str { neighbours.stack.name });
    warnings.extend(stack_warnings(stacks.into_iter().chain(neighbours)));
    warnings
}

/// Names of stacks, each once, in their order.
pub fn distinct<'a>(stacks: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut each = Vec::new();
    for stack in stacks {
        if !each.contains(&stack) {
            each.push(stack);
        }
    }
    each
}

/// Facts that a reader must know of stacks, each once.
pub fn stack_warnings<'a>(stacks: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let stacks: BTreeSet<&str> = stacks.into_iter().collect();
    let old = stacks.contains(LINUX.name).then(|| {
        "stack `linux` is an old approximation; linux-6.12 is validated against the kernel".to_string()
    });
    old.into_iter().chain(unproven(stacks)).collect()
}

/// Those of `stacks` whose congestion control no released kernel has.
pub fn unproven<'a>(stacks: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let is_unproven = |name: &&str| {
        let stack = profile::stacks().find(|stack| stack.name == *name);
        stack.and_then(|stack| stack.kernel).is_some_and(|kernel| !kernel.control.is_released())
    };
    let stacks: BTreeSet<&str> = stacks.into_iter().filter(is_unproven).collect();
    stacks.into_iter().map(|name| format!("stack `{name}` was not validated against a kernel")).collect()
}

/// Rate of the wired hops unless an access link is fast, bit/s.
const WIRED_RATE: u64 = 100_000_000;
