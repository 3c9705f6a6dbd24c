//! The record of a drive.

use super::course::Course;
use super::link_ids::LinkIds;
use super::mobility::Class;
use crate::delays::Delays;
use crate::nodes::HostObserver;
use crate::packet::Packet;
use segue_handoff::LoggedScheme;
use segue_netsim::{LinkId, LossCause, Nanos, NodeId, Observer, Passage, SECOND};
use segue_tcp::AnySender;
use segue_tcp::receiver::Arrival;

/// How long after the first packet over a new link its use and its drops are looked at.
pub const RAMP: Nanos = 5 * SECOND;

/// One handoff of a drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriveHandoff {
    /// By the BDPs of the two paths.
    pub class: Class,
    /// The old link is gone.
    pub down: Nanos,
    /// The new link is up.
    pub up: Nanos,
    /// Data packets lost on the old link.
    pub lost: u32,
    /// Data packets that the router's buffer dropped for want of room.
    pub buffer_drops: u32,
    /// From link-up until a data packet reaches the new link; `None` if none does before the next handoff.
    pub idle: Option<Nanos>,
    /// From the first packet on, for [`RAMP`] or until the next handoff. It is how long that was, and how long the new
    /// link sent data in it.
    pub ramp: (Nanos, Nanos),
    /// Data packets that its queue dropped in that time.
    pub overshoot: u32,
}

/// Notices as the sender took them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Notices {
    /// Copies that the mobile sent.
    pub sent: u32,
    /// Reports that the server took.
    pub accepted: u32,
    /// Second copies.
    pub repeated: u32,
    /// Malformed, out of order, of another connection, or of a link without a rate.
    pub refused: u32,
}

/// One drive.
#[derive(Clone, Debug, PartialEq)]
pub struct DriveRecord {
    /// How long it was.
    pub length: Nanos,
    /// Bytes of data that came in order, by flow of the mobile.
    pub mobile_bytes: Vec<u64>,
    /// The same, by flow of the cross traffic.
    pub cross_bytes: Vec<u64>,
    /// Handoffs, in order.
    pub handoffs: Vec<DriveHandoff>,
    /// Timeouts of the mobile's flows.
    pub timeouts: u32,
    /// Their retransmissions.
    pub retransmissions: u32,
    /// Entries into fast recovery.
    pub fast_retransmits: u32,
    /// Queueing delay of data at the access link.
    pub access_delay: Delays,
    /// Queueing delay of data at the wide area.
    pub wan_delay: Delays,
    /// Data packets that the wide area's queue dropped.
    pub wan_drops: u64,
    /// Notices.
    pub notices: Notices,
    /// Web objects that came.
    pub web: Vec<super::hosts::Fetched>,
}

/// Keeps what the record needs.
#[derive(Clone, Debug, Default)]
pub struct DriveObserver {
    link_ids: Option<LinkIds>,
    /// Flows of the mobile.
    pub(super) flows: u16,
    pub(super) handoffs: Vec<DriveHandoff>,
    pub(super) timeouts: u32,
    pub(super) access_delay: Delays,
    pub(super) wan_delay: Delays,
    pub(super) wan_drops: u64,
    /// When the cumulative ACK of flow 0 moved, and where to; kept if asked for.
    pub(super) progress: Option<Vec<(Nanos, u32)>>,
    /// Arrivals at the mobile over time; kept if asked for.
    pub(super) course: Option<Course>,
}

impl DriveObserver {
    pub(super) fn watch(&mut self, link_ids: LinkIds) {
        self.link_ids = Some(link_ids);
    }

    fn is(&self, link: LinkId, of: impl Fn(&LinkIds) -> LinkId) -> bool {
        self.link_ids.as_ref().is_some_and(|link_ids| of(link_ids) == link)
    }

    /// The handoff that a packet now on the new link belongs to, and the end of its ramp.
    fn ramp(&mut self) -> Option<(&mut DriveHandoff, Nanos)> {
        let handoff = self.handoffs.last_mut()?;
        let begun = handoff.up + handoff.idle?;
        Some((handoff, begun + RAMP))
    }

    /// The last handoff's ramp ends at `at`, if it has not before.
    pub(super) fn close_ramp(&mut self, at: Nanos) {
        if let Some((handoff, end)) = self.ramp() {
            let begun = end - RAMP;
            handoff.ramp.0 = at.min(end).saturating_sub(begun);
            handoff.ramp.1 = handoff.ramp.1.min(handoff.ramp.0);
        }
    }

    fn on_new_link(&mut self, passage: &Passage) {
        if let Some(handoff) = self.handoffs.last_mut()
            && handoff.idle.is_none()
            && passage.arrival >= handoff.up
        {
            handoff.idle = Some(passage.arrival - handoff.up);
        }
        if let Some((handoff, end)) = self.ramp() {
            handoff.ramp.1 += passage.departure.min(end).saturating_sub(passage.start);
        }
    }
}

impl Observer<Packet> for DriveObserver {
    #[inline]
    fn accepted(&mut self, link: LinkId, passage: &Passage, packet: &Packet) {
        if !packet.data || packet.is_probe() {
            return;
        }
        if self.is(link, |link_ids| link_ids.wan_down) {
            self.wan_delay.add(passage.start - passage.arrival);
        } else if self.is(link, |link_ids| link_ids.access_down) {
            self.access_delay.add(passage.start - passage.arrival);
            if let Some(course) = &mut self.course {
                course.waited(passage.start, passage.start - passage.arrival);
            }
            self.on_new_link(passage);
        }
    }

    fn lost(&mut self, now: Nanos, link: LinkId, packet: &Packet, cause: LossCause) {
        if !packet.data || packet.is_probe() {
            return;
        }
        let on_access = self.is(link, |link_ids| link_ids.access_down);
        match cause {
            LossCause::Queue if self.is(link, |link_ids| link_ids.wan_down) => self.wan_drops += 1,
            LossCause::Queue if on_access => {
                if let Some((handoff, end)) = self.ramp()
                    && now < end
                {
                    handoff.overshoot += 1;
                }
            }
            LossCause::Disconnection if on_access => {
                if let Some(handoff) = self.handoffs.last_mut() {
                    handoff.lost += 1;
                }
            }
            _ => {}
        }
    }

    fn withdrawn(&mut self, _: LinkId, _: &Packet) {}

    fn overflowed(&mut self, _: Nanos, _: NodeId, packet: &Packet) {
        if let Some(handoff) = self.handoffs.last_mut()
            && packet.data
        {
            handoff.buffer_drops += 1;
        }
    }
}

impl HostObserver for DriveObserver {
    fn timeout(&mut self, _: Nanos, flow: u16, _: u32, _: u32) {
        self.timeouts += u32::from(flow < self.flows);
    }

    fn fast_retransmit(&mut self, _: Nanos, _: u16, _: u32, _: u32) {}

    #[inline]
    fn sent(&mut self, _: Nanos, _: &Packet) {}

    #[inline]
    fn heard(&mut self, _: Nanos, _: &Packet) {}

    #[inline]
    fn changed(&mut self, _: Nanos, _: u16, _: &mut AnySender<LoggedScheme>) {}

    #[inline]
    fn acknowledged(&mut self, now: Nanos, flow: u16, una: u32) {
        if let Some(progress) = &mut self.progress
            && flow == 0
        {
            progress.push((now, una));
        }
    }

    #[inline]
    fn arrived(&mut self, now: Nanos, _: LinkId, packet: &Packet, news: Arrival) {
        if let Some(course) = &mut self.course
            && packet.flow < self.flows
            && packet.data
            && !packet.is_probe()
            && news == Arrival::New
        {
            course.arrived(now);
        }
    }
}
