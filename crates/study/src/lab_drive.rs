//! A drive in a laboratory: stays at two links in turn under one program, and the row of each sender
//! (docs/guide/lab.md).

use crate::lab_plan::{LabPlan, LabSender};
use crate::live::{LiveMeasures, LiveRun, measures};
use crate::measure::{Quartiles, seconds};
use crate::quantile::{quartiles, sorted};
use segue_words::lab::Load;
use segue_world::{Kind, Nanos};
use serde::{Deserialize, Serialize};

/// A checked plan of a drive.
#[derive(Clone, Debug, PartialEq)]
pub struct LabDrive {
    /// Links, senders, handoffs and the rest; its warm-up, observation and program are not used.
    pub plan: LabPlan,
    /// At the old link, the new one, the old one, ..., ns.
    pub stays: Vec<Nanos>,
    /// Traffic over the links.
    pub load: Load,
}

/// One run of one sender.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DriveRun {
    /// Each handoff, as of a plan with one; without bulk data (ssh) empty.
    pub handoffs: Vec<LiveRun>,
    /// Octets of data new to the mobile.
    pub octets: u64,
    /// Until the file was complete, s; `None`: there is none, or it was not completed.
    pub completed_s: Option<f64>,
    /// Whether every octet of the file was the right one.
    pub intact: Option<bool>,
    /// From each keystroke to its echo, s; `None`: it never came.
    pub echoes_s: Vec<Option<f64>>,
    /// From each link-up to the first echo after it, s; `None`: there was none.
    pub first_echoes_s: Vec<Option<f64>>,
    /// Whether a kernel held a connection for dead.
    pub gave_up: bool,
}

/// One sender over all its runs. Quartiles of what never happened are `None` (infinite); a measure that the program
/// does not have is `None` as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DriveRow {
    /// The link of the first stay.
    pub old: String,
    /// The link of the second.
    pub new: String,
    /// "mbb" or "bbm".
    pub kind: String,
    /// Length of each disconnection.
    pub disconnect_s: f64,
    /// The stays.
    pub stays_s: Vec<f64>,
    /// The program whose traffic crossed the links.
    pub program: String,
    /// Flows.
    pub flows: usize,
    /// The sender.
    pub scheme: String,
    /// How long before each handoff the mobile's window closed; `None`: never.
    pub freeze_before_s: Option<f64>,
    /// The kernel that sent.
    pub stack: String,
    /// Seed of the instants.
    pub seed: u64,
    /// Runs.
    pub runs: usize,
    /// All handoffs of all runs; its `runs` are handoffs.
    pub handoffs: Option<LiveMeasures>,
    /// Octets of data that the mobile received in a run.
    pub octets: Quartiles,
    /// Until the file was complete.
    pub completed_s: Option<Quartiles>,
    /// Runs whose file was complete, every octet the right one.
    pub intact: Option<usize>,
    /// From a keystroke to its echo, all of all runs.
    pub echo_s: Option<Quartiles>,
    /// From a link-up to the first echo after it.
    pub first_echo_s: Option<Quartiles>,
    /// The longest of these.
    pub worst_first_echo_s: Option<f64>,
    /// Runs in which a kernel held a connection for dead.
    pub gave_up: usize,
}

impl DriveRow {
    /// The row of a sender, whose handoffs were of this kind.
    pub fn new(drive: &LabDrive, kind: Kind, stack: &str, sender: &LabSender, runs: &[DriveRun]) -> Self {
        let plan = &drive.plan;
        let all = |values: Vec<Option<f64>>| {
            sorted(values.into_iter().map(|value| value.unwrap_or(f64::INFINITY)).collect())
        };
        let each =
            |values: fn(&DriveRun) -> &Vec<Option<f64>>| all(runs.iter().flat_map(values).copied().collect());
        let file = matches!(drive.load, Load::File(_) | Load::Page(_));
        let typing = matches!(drive.load, Load::Typing | Load::Watching);
        let first_echoes = each(|run| &run.first_echoes_s);
        let handoffs: Vec<LiveRun> = runs.iter().flat_map(|run| &run.handoffs).copied().collect();
        Self {
            old: plan.old.text.clone(),
            new: plan.new.text.clone(),
            kind: kind.word().into(),
            disconnect_s: seconds(kind.disconnection()),
            stays_s: drive.stays.iter().map(|&stay| seconds(stay)).collect(),
            program: drive.load.program().into(),
            flows: plan.flows,
            scheme: sender.name.clone(),
            freeze_before_s: sender.freezes().then(|| seconds(plan.freeze_before)),
            stack: stack.into(),
            seed: plan.seed,
            runs: runs.len(),
            handoffs: (!typing).then(|| measures(&handoffs)),
            octets: three(&all(runs.iter().map(|run| Some(run.octets as f64)).collect())),
            completed_s: file.then(|| three(&all(runs.iter().map(|run| run.completed_s).collect()))),
            intact: file.then(|| runs.iter().filter(|run| run.intact == Some(true)).count()),
            echo_s: typing.then(|| three(&each(|run| &run.echoes_s))),
            first_echo_s: typing.then(|| three(&first_echoes)),
            worst_first_echo_s: first_echoes.last().copied().filter(|worst| worst.is_finite()),
            gave_up: runs.iter().filter(|run| run.gave_up).count(),
        }
    }
}

fn three(sorted: &[f64]) -> Quartiles {
    let [q1, median, q3] = quartiles(sorted).map(|value| value.filter(|value| value.is_finite()));
    Quartiles { q1, median, q3 }
}
