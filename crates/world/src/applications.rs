//! Applications at a server: each puts data into a connection of its own ([`crate::traffic::source`]).

use crate::host_observer::HostObserver;
use crate::hosts::Correspondent;
use crate::packet::Packet;
use crate::traffic::source::{Item, Source};
use segue_netsim::{Net, PacketId, TimerId};
use std::collections::VecDeque;

/// An application, and what of it is not acknowledged.
#[derive(Clone, Debug)]
struct Application {
    source: Source,
    items: VecDeque<Item>,
}

/// The server.
#[derive(Clone, Debug)]
pub struct Applications {
    /// The TCP of their connections, in order.
    pub senders: Correspondent,
    applications: Vec<Application>,
    /// When some application gives something.
    timer: TimerId,
}

impl Applications {
    /// One for each of the senders' flows, which no timer opens; `timer` must go off when the first begins.
    pub(crate) fn new(senders: Correspondent, sources: Vec<Source>, timer: TimerId) -> Self {
        let applications = sources.into_iter().map(|source| Application { source, items: VecDeque::new() });
        Self { senders, applications: applications.collect(), timer }
    }

    /// The items that the user of each flow waits for, or has but has not acknowledged.
    pub(crate) fn items(&self) -> impl Iterator<Item = &VecDeque<Item>> {
        self.applications.iter().map(|application| &application.items)
    }

    pub(crate) fn on_ack<O: HostObserver>(&mut self, net: &mut Net<Packet, O>, id: PacketId) {
        self.senders.on_ack(net, id);
        self.feed(net);
    }

    pub(crate) fn on_timer<O: HostObserver>(&mut self, net: &mut Net<Packet, O>, timer: TimerId) {
        if timer != self.timer {
            self.senders.on_timer(net, timer);
        }
        self.feed(net);
    }

    fn feed<O: HostObserver>(&mut self, net: &mut Net<Packet, O>) {
        let now = net.now();
        for (index, Application { source, items }) in self.applications.iter_mut().enumerate() {
            let flow = &self.senders.flows[index];
            let (id, una) = (flow.id, flow.sender.snd_una());
            let waited = !items.is_empty();
            while items.front().is_some_and(|item| item.end <= una) {
                items.pop_front();
            }
            if waited && items.is_empty() {
                source.acknowledged(now);
            }
            let before = source.given();
            while let Some(item) = source.give(now) {
                items.push_back(item);
                net.observer.asked(now, id, item);
            }
            if source.given() > before {
                self.senders.supply(net, index, source.given());
            }
        }
        if let Some(due) = self.applications.iter().filter_map(|application| application.source.due()).min() {
            net.arm(self.timer, due);
        }
    }
}
