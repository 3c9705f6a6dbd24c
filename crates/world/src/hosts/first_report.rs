//! The first report of a connection (docs/reference/wire.md, "Sending"): which ACK carries it, and how long it is taken
//! to be without an answer. A kernel repeats it as long; here one ACK carries it.

use super::ReceivingFlow;
use segue_tcp::Segment;
use segue_tcp::segment::CarriedOption;

/// After so many ACKs it is given up (`FIRST_REPORTS` of bpf/mobile).
const ACKS: u8 = 8;

/// A first report that may not have arrived.
#[derive(Clone, Copy, Debug)]
pub struct FirstReport {
    option: CarriedOption,
    /// ACKs that have left, that of the SYN among them.
    left: u8,
    /// Time stamp of the one that carried it, if it has left and connections have stamps.
    stamp: Option<u32>,
}

impl FirstReport {
    /// No ACK has left.
    pub(super) fn new(option: CarriedOption) -> Self {
        Self { option, left: 0, stamp: None }
    }

    pub(super) fn option(self) -> CarriedOption {
        self.option
    }
}

impl ReceivingFlow {
    /// An ACK leaves. The one after that of the SYN carries the report.
    #[cold]
    #[inline(never)] // on the path of every packet
    pub(super) fn count_ack(&mut self, ack: &Segment) {
        let Some(report) = &mut self.first_report else { return };
        match report.left {
            0 => self.receiver.carry(report.option),
            1 => report.stamp = ack.timestamps.map(|stamps| stamps.value),
            _ => {}
        }
        report.left += 1;
        if report.left > ACKS {
            self.first_report = None;
        }
    }

    /// A segment comes. One that echoes the stamp of the report, or a later one, left when the ACK had arrived.
    #[cold]
    #[inline(never)] // on the path of every packet
    pub(super) fn hear_answer(&mut self, segment: &Segment) {
        let echo = segment.timestamps.map(|stamps| stamps.echo);
        let answers = |report: &mut FirstReport| report.stamp.is_some_and(|stamp| echo >= Some(stamp));
        self.first_report.take_if(answers);
    }
}
