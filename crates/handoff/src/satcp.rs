//! SaTCP: a sender that knows the schedule of its satellite's handovers. From half a second before a handover on, CUBIC
//! is in a hurry. A timeout leaves W_max, and the curve climbs back to it in a ninth of its time. ssthresh is cut as
//! ever.
//!
//! Source: Cao and Zhang, SaTCP, INFOCOM 2023, by its published kernel module; the paper was not read. The module is
//! LeoEM, `satcp.patch`, with `status_report_delayed_shift` -0.5 s and `SATCP_DURATION` 2.3 s. There the flag is the
//! host's; here each flow has one. algorithms.md, 11.4.

use crate::schedule::{Flag, MS, Scheduled};
use crate::scheme::Entry;
use segue_tcp::advice::KernelAdvice;
use segue_tcp::linux::cc::CcName;
use segue_tcp::{Advice, Nanos};

/// CUBIC is in a hurry.
#[derive(Clone, Debug)]
pub enum Hurry {}

/// One flow's flag.
pub type Satcp = Scheduled<Hurry>;

impl Flag for Hurry {
    const ENTRY: Entry = Entry {
        name: "satcp",
        stack: "linux-6.12/cubic",
        summary: "CUBIC that climbs back in a ninth of the time around a handover of its schedule",
        source: "Cao and Zhang 2023, by its kernel module; segue explain 11",
    };
    const CONTROL: CcName = CcName::Cubic;
    const SECTION: &'static str = "11.4";
    const LEAD: Nanos = 500 * MS;
    const DURATION: Nanos = 2_300 * MS;
    const HAS_CLOCK: bool = false;

    fn advice(up: bool) -> Advice {
        KernelAdvice { keep_w_max: Some(up), ..KernelAdvice::default() }.into()
    }
}
