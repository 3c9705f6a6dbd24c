//! The orders and records of the mobile's programs (`bpf/mobile/intf.h`).

use crate::layouts::{segue_mobile_ack, segue_mobile_counter, segue_mobile_orders, unmapped};
use segue_policy::Link;
use segue_policy::wire::ReportType;
use std::net::SocketAddr;

/// `SEGUE_MOBILE_COPIES`
pub(super) const COPIES: u8 = 8;
/// `SEGUE_SCOPE_PREFIXES`
pub(super) const PREFIXES: usize = 1024;

/// Elements of the map `counters`: numbers of connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counters {
    pub(super) triggered: u32,
    pub(super) unrestored: u32,
    pub(super) acked: u32,
    pub(super) unwritten: u32,
    pub(super) unnegotiated: u32,
    pub(super) closing: u32,
    pub(super) later: u32,
    pub(super) unpaid: u32,
    pub(super) marked: u32,
    pub(super) negotiated: u32,
    pub(super) uploads: u32,
    pub(super) pushed: u32,
    /// Segments whose TSecr became 0.
    pub(super) unechoed: u32,
    /// Segments whose window became smaller.
    pub(super) narrowed: u32,
    /// Segments whose window became zero.
    pub(super) closed: u32,
}

impl Counters {
    pub(super) const LENGTH: usize = segue_mobile_counter::SEGUE_MOBILE_COUNT_LENGTH.0 as usize;

    pub(super) fn read(counts: [u32; Self::LENGTH]) -> Self {
        let of = |element: segue_mobile_counter| counts[element.0 as usize];
        Self {
            triggered: of(segue_mobile_counter::SEGUE_MOBILE_COUNT_TRIGGERED),
            unrestored: of(segue_mobile_counter::SEGUE_MOBILE_COUNT_UNRESTORED),
            acked: of(segue_mobile_counter::SEGUE_MOBILE_COUNT_ACKED),
            unwritten: of(segue_mobile_counter::SEGUE_MOBILE_COUNT_UNWRITTEN),
            unnegotiated: of(segue_mobile_counter::SEGUE_MOBILE_COUNT_UNNEGOTIATED),
            closing: of(segue_mobile_counter::SEGUE_MOBILE_COUNT_CLOSING),
            later: of(segue_mobile_counter::SEGUE_MOBILE_COUNT_LATER),
            unpaid: of(segue_mobile_counter::SEGUE_MOBILE_COUNT_UNPAID),
            marked: of(segue_mobile_counter::SEGUE_MOBILE_COUNT_MARKED),
            negotiated: of(segue_mobile_counter::SEGUE_MOBILE_COUNT_NEGOTIATED),
            uploads: of(segue_mobile_counter::SEGUE_MOBILE_COUNT_UPLOADS),
            pushed: of(segue_mobile_counter::SEGUE_MOBILE_COUNT_PUSHED),
            unechoed: of(segue_mobile_counter::SEGUE_MOBILE_COUNT_UNECHOED),
            narrowed: of(segue_mobile_counter::SEGUE_MOBILE_COUNT_NARROWED),
            closed: of(segue_mobile_counter::SEGUE_MOBILE_COUNT_CLOSED),
        }
    }
}

/// `SEGUE_OTHERS_*`: the treatment of connections that a pass does not notify at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Others {
    Wait = 0,
    Notified = 1,
    Marked = 2,
}

/// The orders for a pass.
#[derive(Clone, Copy)]
pub(super) struct Orders {
    pub(super) since: u64,
    pub(super) link: Link,
    pub(super) first: Link,
    /// The link of first reports that go ahead of a notice.
    pub(super) before: Link,
    pub(super) round: u32,
    pub(super) budget: u32,
    pub(super) kind: ReportType,
    pub(super) copies: u8,
    pub(super) way: super::Way,
    pub(super) others: Others,
    /// Whether flows of this host that wait for their timers are listed, too.
    pub(super) uploads: bool,
    /// And what they have queued, with nothing under way, is sent.
    pub(super) pushes: bool,
    /// Connections that this host forwards are followed.
    pub(super) forwarded: bool,
    /// Whether one more copy of each notice goes over the old link.
    pub(super) also: bool,
}

impl Orders {
    pub(super) fn written(&self) -> segue_mobile_orders {
        segue_mobile_orders {
            since: self.since,
            link: self.link.into(),
            first: self.first.into(),
            before: self.before.into(),
            round: self.round,
            budget: self.budget,
            r#type: self.kind as u8,
            copies: self.copies,
            way: self.way as u8,
            others: self.others as u8,
            uploads: self.uploads.into(),
            pushes: self.pushes.into(),
            forwarded: self.forwarded.into(),
            also: self.also.into(),
        }
    }
}

/// A connection of this host, and how its packets find their route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ends {
    pub(super) remote: SocketAddr,
    pub(super) local: SocketAddr,
    pub(super) mark: u32,
    /// Interface that the socket is bound to; 0: none.
    pub(super) device: u32,
}

/// A connection whose ACKs are to be crafted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ack {
    pub(super) ends: Ends,
    pub(super) seq: u32,
    pub(super) ack: u32,
    /// TSval and TSecr (RFC 7323), if negotiated.
    pub(super) stamps: Option<(u32, u32)>,
    pub(super) window: u16,
    pub(super) nonce: u16,
    pub(super) report: u8,
    pub(super) copies: u8,
    /// Whether one more is to go over the old link.
    pub(super) also: bool,
    /// Whether the first of the copies is the first report.
    pub(super) ahead: bool,
    /// A flow of this host that waits: how often its timer has backed off, and the first octet that is not
    /// acknowledged.
    pub(super) waits: Option<(u8, u32)>,
}

impl From<segue_mobile_ack> for Ack {
    fn from(ack: segue_mobile_ack) -> Self {
        Self {
            ends: Ends {
                remote: SocketAddr::new(unmapped(ack.remote), ack.remote_port),
                local: SocketAddr::new(unmapped(ack.local), ack.local_port),
                mark: ack.mark,
                device: ack.device,
            },
            seq: ack.seq,
            ack: ack.ack,
            stamps: (ack.stamped != 0).then_some((ack.tsval, ack.tsecr)),
            window: ack.window,
            nonce: ack.nonce,
            report: ack.report,
            copies: ack.copies,
            also: ack.also != 0,
            ahead: ack.ahead != 0,
            waits: (ack.backoffs != 0).then_some((ack.backoffs, ack.una)),
        }
    }
}
