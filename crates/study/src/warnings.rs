//! Words of warning that stand beside results.

use segue_tcp::StackProfile;
use segue_tcp::profile::LINUX;
use segue_world::Experiment;

/// Facts that a reader must know before comparing numbers. `several_stacks`: schemes stand on stacks that meet the
/// handoff in different states.
pub fn warnings(experiment: &Experiment, several_stacks: bool) -> Vec<String> {
    let mut warnings = Vec::new();
    if several_stacks {
        // The mark of a transfer is what regular TCP of the same stack had sent.
        warnings.push("each stack has its own mark and bound".to_string());
    }
    let hops = experiment.fixed_hops();
    if hops.wired != WIRED_RATE {
        warnings.push(format!("wired hops raised to {} Mbit/s", hops.wired / 1_000_000));
    }
    warnings.extend(stack_warning(&experiment.stack).map(String::from));
    warnings
}

/// Facts that a reader must know of a stack.
pub fn stack_warning(stack: &StackProfile) -> Option<&'static str> {
    let warning = "stack `linux` is an old approximation; linux-6.12 is held against the kernel";
    (stack.name == LINUX.name).then_some(warning)
}

/// Rate of the wired hops unless an access link is fast, bit/s.
const WIRED_RATE: u64 = 100_000_000;
