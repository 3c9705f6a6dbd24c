//! A link: a queue, a server, a propagation delay and losses on the way, each a file here.
//!
//! A FIFO server needs no event when a transmission ends: a packet that arrives at `t` leaves at
//! `max(t, last departure) + service`, which is known at once. So the only event of a link with a drop-tail queue is
//! the delivery of its head. The queue's length is a count of departures that lie ahead. A managed queue decides when a
//! transmission ends. Where packets wait then, that end is an event more, the departure.

pub mod delay;
pub mod loss;
pub mod queue;
mod ring;
pub mod service;

pub use delay::Delay;
pub use service::{Aggregates, Rate, Service};

use crate::events::Event;
use crate::{Nanos, PacketId};
use loss::{LossCause, LossModel};
use queue::drop_tail::DropTail;
use queue::{AnyDiscipline, Codepoint, Discipline, Queue, Waiting};
use ring::Ring;
use std::collections::VecDeque;

/// Settings of a link.
#[derive(Clone, Debug)]
pub struct LinkConfig {
    /// Rate or opportunities.
    pub service: Service,
    /// One-way propagation delay.
    pub delay: Delay,
    /// Which packets that it has transmitted do not come out; `None`: all do.
    pub loss: Option<Box<dyn LossModel>>,
    /// Which packets wait before it.
    pub queue: Queue,
    /// Whether a departure comes before an arrival at a full drop-tail queue in the same instant, as in netem.
    /// Otherwise they come in the order in which they were scheduled, as in ns-2.
    pub departs_first: bool,
}

impl LinkConfig {
    /// A link that loses nothing and drops nothing.
    pub fn new(service: Service, delay: Delay) -> Self {
        Self { service, delay, loss: None, queue: Queue::DropTail(None), departs_first: false }
    }

    /// Whether its capacity or delay depends on the time, or is drawn.
    pub fn varies(&self) -> bool {
        !(matches!(self.service, Service::Fixed(_)) && matches!(self.delay, Delay::Fixed(_)))
    }

    /// The same with a drop-tail queue of `limit` packets, the one being sent included.
    #[must_use]
    pub fn drop_tail(self, limit: u32) -> Self {
        Self { queue: Queue::DropTail(Some(limit)), ..self }
    }

    /// The same with a managed queue.
    #[must_use]
    pub fn managed(self, discipline: impl Discipline + 'static) -> Self {
        Self { queue: Queue::Managed(Box::new(discipline)), ..self }
    }

    /// The same with losses.
    #[must_use]
    pub fn lossy(self, model: impl LossModel + 'static) -> Self {
        Self { loss: Some(Box::new(model)), ..self }
    }
}

/// One packet's way through a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The packet.
    pub packet: PacketId,
    /// When it entered the queue.
    pub arrival: Nanos,
    /// When it came to the head of the queue and its transmission began.
    pub start: Nanos,
    /// When its last bit was sent.
    pub departure: Nanos,
    /// When it reaches the far end, unless the link loses it.
    pub delivery: Nanos,
    /// Whether it reaches the far end, unless the link is cut from now on.
    pub comes_out: bool,
}

/// A link's record of a packet: half a cache line, since a long link holds thousands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InTransit {
    departure: Nanos,
    pub(crate) delivery: Nanos,
    /// Insertion number of its delivery event.
    pub(crate) order: u64,
    pub(crate) packet: PacketId,
    /// Twice the time of its transmission, in ns; more than 2.1 s count as that. One more if the link loses it.
    service_and_loss: u32,
}

impl InTransit {
    /// When its transmission began.
    #[inline]
    pub(crate) fn start(&self) -> Nanos {
        self.departure - Nanos::from(self.service_and_loss >> 1)
    }

    /// Whether chance has it lost.
    #[inline]
    fn is_lost(&self) -> bool {
        self.service_and_loss & 1 == 1
    }
}

/// The queue of a link that does not drop at its tail.
#[derive(Clone, Debug)]
struct Managed {
    discipline: AnyDiscipline,
    server: Server,
    /// The departure of the last transmission.
    end: Event,
    /// Packets that wait.
    waiting: usize,
    /// The rest of an aggregate that has not been booked, and the end of the aggregate.
    batch: VecDeque<Waiting>,
    batch_end: Nanos,
}

/// The server of a managed queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Server {
    /// It is free, and has asked for a packet in vain.
    Free,
    /// A packet, or an aggregate, is being sent; its departure is an event.
    Sending,
    /// It sends a packet, or has sent it, and nothing has come to wait: the departure is no event. From then on it is
    /// free, and asks in vain.
    Alone,
}

/// When a packet that has come to a managed queue can be sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Turn {
    /// Now, unless it has been dropped.
    Now,
    /// When others have gone.
    Later,
    /// After the departure of the only one, which is an event from now on.
    AfterOne(Event),
}

/// The packets that leave as one aggregate from `now` on, and its end.
fn gather(
    discipline: &mut dyn Discipline,
    mut line: Aggregates,
    now: Nanos,
    dropped: &mut Vec<PacketId>,
) -> (VecDeque<Waiting>, Nanos) {
    let (mut batch, mut end) = (VecDeque::new(), now);
    line.begin();
    // A packet that has left its queue goes: only full ones are sure to fit.
    while line.fits(FULL_PACKET) {
        let Some(next) = discipline.dequeue(now, dropped) else { break };
        end = line.departure(end, next.bytes);
        batch.push_back(next);
    }
    (batch, end)
}

/// Bytes of a full packet.
const FULL_PACKET: u32 = 1500;

/// Time at which a link without faults begins to lose packets.
const NEVER: Nanos = Nanos::MAX;

/// A one-way link.
#[derive(Clone, Debug)]
pub struct Link {
    service: Service,
    delay: Delay,
    /// Limit of the drop-tail queue; beyond all counts where there is none. It is 0 before a managed one, so that no
    /// packet takes the short way past it.
    limit: usize,
    /// Packets being sent and in flight, and those in a drop-tail queue; oldest first.
    ring: Ring,
    /// How many packets of the ring are known to have departed, with those that have come out.
    departed: usize,
    last_departure: Nanos,
    last_delivery: Nanos,
    departs_first: bool,
    /// Packets that come out before this instant are not lost.
    faultless_until: Nanos,
    /// Packets that come out from this instant on are lost.
    cut_at: Nanos,
    loss: Option<Box<dyn LossModel>>,
    managed: Option<Box<Managed>>,
    /// Packets overtake: the queue is managed, and the ring is in the order of the deliveries.
    overtaking: bool,
}

impl Link {
    pub(crate) fn new(config: LinkConfig) -> Self {
        let LinkConfig { service, delay, loss, queue, departs_first } = config;
        let overtaking = delay.reorders();
        // Where the closed form cannot foresee departures or deliveries, each is an event.
        let queue = match queue {
            Queue::DropTail(limit) if overtaking || service.decides_late() => {
                let limit = limit.unwrap_or(u32::MAX);
                let aggregates = matches!(service, Service::Aggregates(_));
                let drop_tail = if aggregates { DropTail::of_waiting(limit) } else { DropTail::new(limit) };
                Queue::Managed(Box::new(drop_tail))
            }
            queue => queue,
        };
        let (limit, managed) = match queue {
            Queue::DropTail(limit) => (limit.map_or(usize::MAX, |limit| limit as usize), None),
            Queue::Managed(discipline) => {
                let discipline = AnyDiscipline::new(discipline);
                let (server, end, batch) = (Server::Free, Event::start_of(0), VecDeque::new());
                (0, Some(Box::new(Managed { discipline, server, end, waiting: 0, batch, batch_end: 0 })))
            }
        };
        Self {
            service,
            delay,
            limit,
            ring: Ring::default(),
            departed: 0,
            last_departure: 0,
            last_delivery: 0,
            departs_first,
            faultless_until: if loss.is_some() { 0 } else { NEVER },
            cut_at: NEVER,
            loss,
            managed,
            overtaking,
        }
    }

    /// Whether a discipline manages its queue.
    pub(crate) fn is_managed(&self) -> bool {
        self.managed.is_some()
    }

    /// Packets of a drop-tail queue at `now`, the one being sent included. A transmission that ends at `now` has ended.
    #[inline]
    fn queued(&mut self, now: Nanos) -> usize {
        self.departed = self.departed.max(self.ring.come_out());
        while self.ring.get(self.departed).is_some_and(|p| p.departure <= now) {
            self.departed += 1;
        }
        self.ring.come_in() - self.departed
    }

    /// Whether the queue is full for an arrival at `now` that was put on its way at `sent`.
    ///
    /// Where a transmission ends at the same instant, the two are events at one time. They happen in the order in which
    /// they were scheduled: each when its transmission began. Unless departures come first.
    #[inline]
    fn is_full(&mut self, now: Nanos, sent: Nanos) -> bool {
        // All that has not been counted as departed: mostly there is room even so. One branch for links with and
        // without a limit, since a processor cannot foresee which of them comes.
        self.ring.come_in() - self.departed + 1 >= self.limit && self.is_full_now(now, sent)
    }

    #[inline(never)] // or its registers would be saved for every packet
    fn is_full_now(&mut self, now: Nanos, sent: Nanos) -> bool {
        if self.limit == 0 {
            return true;
        }
        let queued = self.queued(now);
        queued >= self.limit
            || (queued + 1 == self.limit && !self.departs_first && self.leaves_after(now, sent))
    }

    /// Whether a packet leaves at `now`, but after an arrival that was scheduled at `sent`.
    fn leaves_after(&self, now: Nanos, sent: Nanos) -> bool {
        let last = self.departed.checked_sub(1).and_then(|number| self.ring.get(number));
        last.is_some_and(|p| p.departure == now && p.start() >= sent)
    }

    /// Takes a packet into a drop-tail queue. `None`: the queue is full, or it is a managed one, which takes packets by
    /// [`Self::wait`]. `sent`: when the transmission began that brought the packet here.
    #[inline(always)] // one caller, on the path of every packet
    pub(crate) fn enqueue(
        &mut self,
        packet: PacketId,
        bytes: u32,
        now: Nanos,
        order: u64,
        sent: Nanos,
    ) -> Option<Passage> {
        if self.is_full(now, sent) {
            return None;
        }
        let start = now.max(self.last_departure);
        Some(self.transmit(packet, bytes, now, start, order))
    }

    /// Books the transmission of a packet that came at `arrival`, from `start` on.
    #[inline(always)]
    fn transmit(
        &mut self,
        packet: PacketId,
        bytes: u32,
        arrival: Nanos,
        start: Nanos,
        order: u64,
    ) -> Passage {
        let departure = self.service.departure(start, bytes);
        self.book(packet, arrival, start, departure, departure, order)
    }

    /// Books a transmission until `departure`, whose packet is passed on at `end`.
    #[inline(always)]
    fn book(
        &mut self,
        packet: PacketId,
        arrival: Nanos,
        start: Nanos,
        departure: Nanos,
        end: Nanos,
        order: u64,
    ) -> Passage {
        let delivery = self.delay.delivery(end, self.last_delivery);
        self.last_departure = departure;
        self.last_delivery = delivery;
        let (lost, comes_out) = match self.faultless_until {
            NEVER => (false, true),
            _ => self.foresee(departure, delivery),
        };
        let service = (departure - start).min(Nanos::from(u32::MAX >> 1)) as u32;
        let service_and_loss = service << 1 | u32::from(lost);
        self.ring.push_back(InTransit { departure, delivery, order, packet, service_and_loss });
        Passage { packet, arrival, start, departure, delivery, comes_out }
    }

    /// Whether a packet that leaves and comes out then is lost by chance, and whether it comes out.
    #[cold]
    fn foresee(&mut self, departure: Nanos, delivery: Nanos) -> (bool, bool) {
        let lost = self.loss.as_mut().is_some_and(|model| model.loses(departure));
        (lost, !lost && !self.is_cut(delivery))
    }

    /// Takes a packet into a managed queue, unless the server is free; what is dropped goes onto `dropped`. `happening`:
    /// what is, all before it has.
    #[inline(always)] // one caller
    pub(crate) fn wait(&mut self, packet: Waiting, happening: Event, dropped: &mut Vec<PacketId>) -> Turn {
        let Some(managed) = &mut self.managed else { return Turn::Later };
        let turn = match managed.server {
            Server::Free => return Turn::Now,
            Server::Alone if managed.end < happening => return Turn::Now,
            Server::Sending => Turn::Later,
            Server::Alone => {
                managed.server = Server::Sending;
                Turn::AfterOne(managed.end)
            }
        };
        managed.discipline.enqueue(packet, dropped);
        managed.waiting = managed.waiting + 1 - dropped.len();
        turn
    }

    /// Takes a packet to a server that is free, and begins the next transmission; what the discipline drops goes onto
    /// `dropped`. Also whether the packet that is sent has been marked.
    #[inline(always)] // one caller
    pub(crate) fn pass(
        &mut self,
        packet: Waiting,
        order: u64,
        dropped: &mut Vec<PacketId>,
    ) -> Option<(Passage, Codepoint)> {
        let managed = self.managed.as_mut()?;
        let idle = (managed.server == Server::Alone).then(|| managed.end.time());
        managed.server = Server::Free;
        managed.waiting += 1;
        if let Service::Aggregates(_) = self.service {
            managed.discipline.enqueue(packet, dropped);
            managed.waiting -= dropped.len();
            return self.serve_aggregate(packet.arrival, order, dropped);
        }
        let head = managed.discipline.pass(packet, idle, dropped);
        self.send(head, packet.arrival, order, dropped)
    }

    /// A transmission of a managed queue has ended: begins the next one, as [`Self::pass`] does, if a packet waits.
    #[inline(always)] // on the path of every packet of a managed queue
    pub(crate) fn serve(
        &mut self,
        now: Nanos,
        order: u64,
        dropped: &mut Vec<PacketId>,
    ) -> Option<(Passage, Codepoint)> {
        let managed = self.managed.as_mut()?;
        managed.server = Server::Free;
        if let Service::Aggregates(_) = self.service {
            return self.serve_aggregate(now, order, dropped);
        }
        let head = managed.discipline.dequeue(now, dropped);
        self.send(head, now, order, dropped)
    }

    /// Begins the transmission of a packet that has left its queue, with others that were dropped.
    #[inline(always)]
    fn send(
        &mut self,
        head: Option<Waiting>,
        now: Nanos,
        order: u64,
        dropped: &[PacketId],
    ) -> Option<(Passage, Codepoint)> {
        let managed = self.managed.as_mut()?;
        managed.waiting -= dropped.len();
        let Waiting { packet, bytes, arrival, ecn, .. } = head?;
        managed.waiting -= 1;
        let passage = self.transmit(packet, bytes, arrival, now, order);
        if self.overtaking {
            self.overtake();
        }
        Some((passage, ecn))
    }

    /// The transmission that has been begun ends with `end`. Says whether that is to happen as an event.
    #[inline]
    pub(crate) fn sends_until(&mut self, end: Event) -> bool {
        let Some(managed) = &mut self.managed else { return false };
        // At the end of an aggregate the next one begins, or the channel is given up.
        let is_event = managed.waiting > 0 || matches!(self.service, Service::Aggregates(_));
        managed.server = if is_event { Server::Sending } else { Server::Alone };
        managed.end = end;
        is_event
    }

    /// Begins an aggregate, or books its next packet: asked until it has none left ([`Self::books_more`]).
    #[cold]
    fn serve_aggregate(
        &mut self,
        now: Nanos,
        order: u64,
        dropped: &mut Vec<PacketId>,
    ) -> Option<(Passage, Codepoint)> {
        let (Some(managed), Service::Aggregates(line)) = (&mut self.managed, &mut self.service) else {
            return None;
        };
        let mut start = self.last_departure;
        if managed.batch.is_empty() {
            let dropped_before = dropped.len();
            (managed.batch, managed.batch_end) =
                gather(managed.discipline.get_mut(), line.clone(), now, dropped);
            managed.waiting -= dropped.len() - dropped_before + managed.batch.len();
            line.begin();
            start = now;
        }
        let Waiting { packet, bytes, arrival, ecn, .. } = managed.batch.pop_front()?;
        let end = managed.batch_end;
        let departure = self.service.departure(start, bytes);
        let passage = self.book(packet, arrival, start, departure, end, order);
        if self.overtaking {
            self.overtake();
        }
        Some((passage, ecn))
    }

    /// Whether packets of the aggregate that has begun are still to be booked.
    #[inline]
    pub(crate) fn books_more(&self) -> bool {
        self.managed.as_ref().is_some_and(|managed| !managed.batch.is_empty())
    }

    /// Puts what has been booked last to its place among the deliveries.
    #[cold]
    fn overtake(&mut self) {
        self.ring.sort_in_last(|other, entry| other.delivery > entry.delivery);
        // Later packets keep their order with all that have not overtaken.
        self.last_delivery = self.ring.back().map_or(0, |last| last.delivery);
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<InTransit> {
        self.ring.pop_front()
    }

    /// Removes what has not departed by now, oldest first. `happening`: what is, all before it has.
    pub(crate) fn withdraw(&mut self, now: Nanos, happening: Event) -> Vec<PacketId> {
        if self.overtaking {
            // Packets that have not departed go to the ring's end.
            self.ring.sort_by_key(|entry| entry.departure > now);
        }
        let mut withdrawn = Vec::new();
        while self.ring.back().is_some_and(|entry| entry.departure > now) {
            withdrawn.extend(self.ring.pop_back().map(|entry| entry.packet));
        }
        withdrawn.reverse();
        if !withdrawn.is_empty() {
            self.last_departure = self.last_departure.min(now);
            // Packets delivered already are no later than `now`, before any packet to come.
            self.last_delivery = self.ring.back().map_or(0, |last| last.delivery);
            self.service.rewind(now);
        }
        if let Some(managed) = &mut self.managed {
            if managed.server == Server::Alone && managed.end < happening {
                managed.discipline.dequeue(managed.end.time(), &mut Vec::new());
            }
            withdrawn.extend(managed.discipline.get().waiting());
            managed.discipline.get_mut().clear();
            (managed.server, managed.waiting) = (Server::Free, 0);
        }
        withdrawn
    }

    /// Whether one packet alone is being sent and in flight.
    #[inline]
    pub(crate) fn is_only(&self) -> bool {
        self.ring.len() == 1
    }

    #[inline]
    pub(crate) fn head(&self) -> Option<&InTransit> {
        self.ring.front()
    }

    /// Packets in the queue and in flight, oldest first.
    pub fn packets(&self) -> impl Iterator<Item = PacketId> {
        let waiting = self.managed.iter().flat_map(|managed| managed.discipline.get().waiting());
        self.ring.iter().map(|entry| entry.packet).chain(waiting)
    }

    /// Whether nothing is in the queue or in flight.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ring.is_empty()
            && self.managed.as_ref().is_none_or(|m| m.discipline.get().waiting().next().is_none())
    }

    /// When the transmission of all that has entered so far is over; of a managed queue, that of the packet being sent.
    #[inline]
    pub fn busy_until(&self) -> Nanos {
        self.last_departure
    }

    /// From `at` on, whatever comes out of the link is lost.
    pub(crate) fn cut(&mut self, at: Nanos) {
        self.cut_at = at;
        self.faultless_until = self.faultless_until.min(at);
    }

    /// Whether what comes out at `time` is lost because the link has been cut.
    #[inline]
    pub fn is_cut(&self, time: Nanos) -> bool {
        time >= self.cut_at
    }

    /// Whether it loses packets, now or later.
    pub(crate) fn has_faults(&self) -> bool {
        self.faultless_until != NEVER
    }

    /// Why the packet that comes out at `now` is lost, if it is.
    #[inline]
    pub(crate) fn loss(&mut self, packet: &InTransit, now: Nanos) -> Option<LossCause> {
        if now < self.faultless_until {
            return None;
        }
        self.fault(packet, now)
    }

    #[cold]
    fn fault(&mut self, packet: &InTransit, now: Nanos) -> Option<LossCause> {
        if self.is_cut(now) {
            return Some(LossCause::Disconnection);
        }
        packet.is_lost().then_some(LossCause::Link)
    }

    /// The fates of the packets that it will transmit, while nothing waits: whether each comes out. Where that depends
    /// on the time, a sender may wait until each does.
    pub fn coming_fates(&self) -> impl FnMut() -> bool + use<> {
        let mut model = self.loss.clone().filter(|model| !model.goes_by_time());
        move || !model.as_mut().is_some_and(|model| model.loses(0))
    }

    /// Packets in the queue and in flight, oldest first, and whether each will come out. Nobody knows that yet of what
    /// waits in a managed queue: it counts as coming out.
    pub fn fates(&self) -> impl Iterator<Item = (PacketId, bool)> {
        let fate = |entry: &InTransit| (entry.packet, !self.is_cut(entry.delivery) && !entry.is_lost());
        let waiting = self.managed.iter().flat_map(|managed| managed.discipline.get().waiting());
        let waiting = waiting.map(|packet| (packet, self.cut_at == NEVER));
        self.ring.iter().map(fate).chain(waiting)
    }
}

#[cfg(test)]
mod tests;
