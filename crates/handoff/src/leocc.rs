//! LeoCC: a sender that knows the schedule of its satellite's reconfigurations. From 100 ms before a reconfiguration
//! on, the first ACK has the sender's congestion control, a BBR, measure the path anew. That is ProbeRtt, and then
//! Startup without a memory.
//!
//! Source: SpaceNetLab/LeoCC (SIGCOMM 2025), by its published kernel module (`leocc/simulation/leocc.c`, `magic_offet` 100
//! ms); the paper was not read. The module takes a handover each 15 s of the clock (`offset` 12 s). Here the clock is that
//! of the link, and the schedule has the handoffs, too.
//! The control is `crates/tcp/src/linux/cc/leocc.rs`. algorithms.md, 11.6.

use crate::schedule::{Flag, MS, Scheduled};
use crate::scheme::Entry;
use segue_tcp::advice::KernelAdvice;
use segue_tcp::linux::cc::CcName;
use segue_tcp::{Advice, Nanos};

/// The path is about to be another one.
#[derive(Clone, Debug)]
pub enum Reconfigures {}

/// One flow's flag.
pub type Leocc = Scheduled<Reconfigures>;

impl Flag for Reconfigures {
    const ENTRY: Entry = Entry {
        name: "leocc",
        stack: "linux-6.12/leocc",
        summary: "LeoCC: a BBR that measures the path anew at a handover of its schedule",
        source: "SpaceNetLab/LeoCC 2025, by its kernel module; segue explain 11",
    };
    const CONTROL: CcName = CcName::Leocc;
    const SECTION: &'static str = "11.6";
    const LEAD: Nanos = 100 * MS;
    const DURATION: Nanos = Self::LEAD;
    const HAS_CLOCK: bool = true;

    fn advice(up: bool) -> Advice {
        KernelAdvice { path_changes_soon: Some(up), ..KernelAdvice::default() }.into()
    }
}
