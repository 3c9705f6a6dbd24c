//! Between a laboratory's plan and the machine that runs it.

use crate::Failure;
use segue_export::capture::LivePacket;
use segue_study::{LabPlan, LiveRun};
use segue_world::Kind;

/// One run of one sender.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Its name.
    pub sender: String,
    /// The handoff.
    pub kind: Kind,
    /// Number of the run, from 0.
    pub run: u32,
    /// What was measured.
    pub measures: LiveRun,
    /// What the emulator saw, if it was asked to keep it.
    pub packets: Vec<LivePacket>,
}

/// How the machine is to be used.
#[derive(Clone, Copy, Debug)]
#[expect(dead_code, reason = "the laboratory reads them")]
pub struct Use {
    /// Laboratories at once.
    pub jobs: u16,
    /// Whether packets are kept.
    pub keep_packets: bool,
}

/// Makes all runs of a plan over one kind of handoff: in each round every sender once. They come back by round, then
/// by sender; `done` hears how many more are finished.
pub fn laboratory(
    _plan: &LabPlan,
    _kind: Kind,
    _how: Use,
    _done: &mut dyn FnMut(u64),
) -> Result<Vec<Measured>, Failure> {
    Err(Failure::Ours("this build has no laboratory; expected segue_live::lab::run".into()))
}

/// The kernel that sends, as rows name it: `linux-6.18.5`.
pub fn kernel() -> String {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    match release.trim() {
        "" => "linux".into(),
        release => format!("linux-{release}"),
    }
}
