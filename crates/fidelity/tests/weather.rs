//! Losses and RED beside ns-2's: a fifth of the table, over all seeds. `make fidelity ARGS='--only weather'` has all of it.

use segue_fidelity::{reference_folder, weather};

#[test]
fn medians_over_many_seeds_are_those_of_ns2() {
    let lines = weather::read(&reference_folder()).unwrap();
    assert!(lines.len() >= 16, "{}", lines.len());
    assert!(lines.iter().any(|line| line.lost[1] > 0) && lines.iter().any(|line| line.red[1]));
    for line in lines.iter().step_by(5) {
        let ours = line.ours().unwrap();
        let error = line.error(&ours);
        assert!(error.abs() <= weather::TARGET, "{line}: {ours:?}, ns-2 {:?}", line.ns2);
    }
}
