//! The first report of a connection (docs/reference/wire.md, "Sending"): which ACK carries it, and how long it is taken
//! to be without an answer. As long, each ACK of a kernel's stack carries it; on other stacks one does.

use super::ReceivingFlow;
use segue_tcp::segment::CarriedOption;
use segue_tcp::{AnyReceiver, Segment};

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
    /// An ACK leaves, with the bytes that links charge for it. The one after that of the SYN carries the report, and those
    /// that follow repeat it where they have room.
    #[cold]
    #[inline(never)] // on the path of every packet
    pub(super) fn count_ack(&mut self, ack: (Segment, u32)) -> (Segment, u32) {
        let Some(report) = &mut self.first_report else { return ack };
        let left = report.left;
        report.left += 1;
        let option = report.option;
        if left == 1 {
            report.stamp = ack.0.timestamps.map(|stamps| stamps.value);
        }
        if report.left > ACKS {
            self.first_report = None;
        }
        match &self.receiver {
            AnyReceiver::Linux(tcp) if left > 1 => tcp.beside(&ack.0, option).unwrap_or(ack),
            _ => {
                if left == 0 {
                    self.receiver.carry(option);
                }
                ack
            }
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
