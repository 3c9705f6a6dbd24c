//! The network: links, timers, packets, and the loop that runs them.

use crate::buffer::Buffer;
use crate::events::{Event, EventQueue, Source};
use crate::link::loss::LossCause;
use crate::link::queue::{Codepoint, Waiting};
use crate::link::{Link, LinkConfig, Passage, Turn};
use crate::{LinkId, Nanos, NodeId, PacketId, Payload, Slab, TimerId};

/// A node at the end of links: a host or a router.
///
/// A world has one enum of its node kinds, so that calls are dispatched statically.
pub trait Node<P, O>: Clone {
    /// A packet has come out of `link`. The node owns it now: it sends it on or removes it.
    fn on_packet(&mut self, net: &mut Net<P, O>, link: LinkId, packet: PacketId);
    /// A timer has fired. Timers are lazy: the node compares its own deadline with the clock.
    fn on_timer(&mut self, net: &mut Net<P, O>, timer: TimerId);
}

/// Somebody who watches packets on links and in buffers.
pub trait Observer<P>: Clone {
    /// The clock moves on to `now`; nothing has changed since the last call but what others have told.
    #[inline]
    fn clock(&mut self, _now: Nanos) {}
    /// A packet is put on `link`, whose queue may drop it.
    #[inline]
    fn entered(&mut self, _now: Nanos, _link: LinkId, _packet: &P) {}
    /// `link` takes a packet that is put on it, and will send it so: both of these at once.
    #[inline]
    fn admitted(&mut self, link: LinkId, passage: &Passage, packet: &P) {
        self.entered(passage.arrival, link, packet);
        self.accepted(link, passage, packet);
    }
    /// The clock moves on to `now`, when a packet comes out of `link`. It is asked for only by those who want to know.
    #[inline]
    fn left<'a>(&mut self, now: Nanos, _link: LinkId, _packet: impl FnOnce() -> &'a P)
    where
        P: 'a,
    {
        self.clock(now);
    }
    /// A node puts a packet into a buffer, which may overflow.
    fn held(&mut self, _packet: &P) {}
    /// A node takes a packet out of a buffer.
    fn released(&mut self, _packet: &P) {}
    /// `link` will send a packet so. A drop-tail queue knows that at its arrival, a managed one when its transmission
    /// begins.
    fn accepted(&mut self, link: LinkId, passage: &Passage, packet: &P);
    /// A packet was lost before or on `link`.
    fn lost(&mut self, now: Nanos, link: LinkId, packet: &P, cause: LossCause);
    /// `link` took a packet that it will not send after all: a node has taken it back.
    fn withdrawn(&mut self, link: LinkId, packet: &P);
    /// A buffer of node `at` was full.
    fn overflowed(&mut self, now: Nanos, at: NodeId, packet: &P);
}

/// Nobody watches: for speed measurements.
impl<P> Observer<P> for () {
    fn accepted(&mut self, _: LinkId, _: &Passage, _: &P) {}
    fn lost(&mut self, _: Nanos, _: LinkId, _: &P, _: LossCause) {}
    fn withdrawn(&mut self, _: LinkId, _: &P) {}
    fn overflowed(&mut self, _: Nanos, _: NodeId, _: &P) {}
}

#[derive(Clone, Debug)]
struct Wire {
    link: Link,
    to: NodeId,
}

#[derive(Clone, Debug)]
struct Timer {
    owner: NodeId,
    /// When it fires, if it is set.
    fires: Nanos,
}

/// The number of the next of so many `things`.
fn number(count: usize, things: &str) -> u16 {
    u16::try_from(count).unwrap_or_else(|_| panic!("too many {things} in one network"))
}

/// Time at which an unset timer "fires".
const NEVER: Nanos = Nanos::MAX;

/// Links, timers and packets of one network, and its clock.
#[derive(Clone, Debug)]
pub struct Net<P, O> {
    /// The present event, with the clock's time: all before it has happened.
    happening: Event,
    /// When the transmission began that brought the packet being handled.
    sent: Nanos,
    events: EventQueue,
    wires: Vec<Wire>,
    timers: Vec<Timer>,
    timers_first: bool,
    /// Packets that a managed queue drops at present; kept for its memory.
    dropped: Vec<PacketId>,
    /// Packets under way.
    pub packets: Slab<P>,
    /// The observer of all passages.
    pub observer: O,
}

impl<P: Payload, O: Observer<P>> Net<P, O> {
    /// An empty network at time zero.
    pub fn new(observer: O) -> Self {
        Self {
            happening: Event::start_of(0),
            sent: 0,
            events: EventQueue::default(),
            wires: Vec::new(),
            timers: Vec::new(),
            timers_first: false,
            dropped: Vec::new(),
            packets: Slab::default(),
            observer,
        }
    }

    /// From now on timers that are set fire before all packets of their instant, as in Linux (`handle_softirqs`).
    /// Unless this is asked for, all happens in the order in which it was scheduled.
    pub fn serve_timers_first(&mut self) {
        self.timers_first = true;
    }

    /// The clock.
    #[inline]
    pub fn now(&self) -> Nanos {
        self.happening.time()
    }

    /// Adds a one-way link that leads to `to`.
    ///
    /// # Panics
    /// If a network has more than 65,536 links.
    pub fn add_link(&mut self, to: NodeId, config: LinkConfig) -> LinkId {
        let id = LinkId(number(self.wires.len(), "links"));
        self.wires.push(Wire { link: Link::new(config), to });
        id
    }

    /// Puts another line in a link's place: what the old one holds is lost, a cut ends.
    pub fn replace_link(&mut self, id: LinkId, config: LinkConfig) {
        let wire = &mut self.wires[usize::from(id.0)];
        let old = std::mem::replace(&mut wire.link, Link::new(config));
        let now = self.now();
        self.events.remove(Source::Link(id));
        self.events.remove(Source::Departure(id));
        for packet in old.packets() {
            self.observer.lost(now, id, &self.packets[packet], LossCause::Disconnection);
            self.packets.remove(packet);
        }
    }

    /// From now on, packets that come out of a link go to another node.
    pub fn lead(&mut self, id: LinkId, to: NodeId) {
        self.wires[usize::from(id.0)].to = to;
    }

    /// Adds a timer of `owner`.
    ///
    /// # Panics
    /// If a network has more than 65,536 timers.
    pub fn add_timer(&mut self, owner: NodeId) -> TimerId {
        let id = TimerId(number(self.timers.len(), "timers"));
        self.timers.push(Timer { owner, fires: NEVER });
        id
    }

    /// A link, to look at.
    #[inline]
    pub fn link(&self, id: LinkId) -> &Link {
        &self.wires[usize::from(id.0)].link
    }

    /// Cuts a link ([`Link::cut`]).
    pub fn cut(&mut self, id: LinkId, at: Nanos) {
        self.wires[usize::from(id.0)].link.cut(at);
    }

    /// All links, by number.
    pub fn links(&self) -> impl Iterator<Item = (LinkId, &Link)> {
        (0u16..).map(LinkId).zip(self.wires.iter().map(|wire| &wire.link))
    }

    /// Packets on all links, in the order of the links.
    pub fn on_links(&self) -> impl Iterator<Item = PacketId> {
        self.wires.iter().flat_map(|wire| wire.link.packets())
    }

    /// Packets on all links that will not come out.
    pub fn doomed(&self) -> impl Iterator<Item = PacketId> {
        let faulty = self.wires.iter().filter(|wire| wire.link.has_faults());
        let fates = faulty.flat_map(|wire| wire.link.fates());
        fates.filter(|(_, arrives)| !arrives).map(|(packet, _)| packet)
    }

    /// Puts a new packet on a link.
    #[inline(always)] // so that a packet is made where it will lie
    pub fn originate(&mut self, link: LinkId, packet: P) {
        let id = self.packets.insert(packet);
        self.send(link, id);
    }

    /// Puts a packet on a link that comes from outside the network at this instant. A transmission that ends now has
    /// ended before it came.
    pub fn inject(&mut self, link: LinkId, packet: P) {
        self.sent = self.now();
        self.happening = Event::end_of(self.now());
        self.originate(link, packet);
    }

    /// Sends a packet over a link; its queue may drop it.
    #[inline(always)] // on the path of every packet
    pub fn send(&mut self, id: LinkId, packet: PacketId) {
        let now = self.now();
        let wire = &mut self.wires[usize::from(id.0)];
        let order = self.events.next_order();
        let content = &self.packets[packet];
        match wire.link.enqueue(packet, content.size(), now, order, self.sent) {
            Some(passage) => {
                self.observer.admitted(id, &passage, content);
                if wire.link.is_only() {
                    self.events.add(Source::Link(id), passage.delivery, order);
                }
            }
            None => self.wait_or_drop(id, packet),
        }
    }

    /// A packet that a link does not take in closed form: it waits in a managed queue, or a drop-tail queue is full.
    #[inline(never)] // or its registers would be saved for every packet
    fn wait_or_drop(&mut self, id: LinkId, packet: PacketId) {
        let now = self.now();
        let wire = &mut self.wires[usize::from(id.0)];
        let content = &self.packets[packet];
        self.observer.entered(now, id, content);
        if !wire.link.is_managed() {
            self.observer.lost(now, id, content, LossCause::Queue);
            self.packets.remove(packet);
            return;
        }
        let (bytes, flow, ecn) = (content.size(), content.flow(), content.ecn());
        let waiting = Waiting { packet, bytes, flow, arrival: now, ecn };
        match wire.link.wait(waiting, self.happening, &mut self.dropped) {
            Turn::Now => {
                let order = self.events.next_order();
                let passage = wire.link.pass(waiting, order, &mut self.dropped);
                if let Some(departure) = self.begin(id, passage, order) {
                    self.events.put(departure);
                }
            }
            Turn::Later => {
                if !self.dropped.is_empty() {
                    self.remove_dropped(id);
                }
            }
            Turn::AfterOne(departure) => {
                if !self.dropped.is_empty() {
                    self.remove_dropped(id);
                }
                self.events.put(departure);
            }
        }
    }

    /// Removes what a managed queue has dropped.
    #[cold]
    fn remove_dropped(&mut self, id: LinkId) {
        let now = self.now();
        for packet in self.dropped.drain(..) {
            self.observer.lost(now, id, &self.packets[packet], LossCause::Queue);
            self.packets.remove(packet);
        }
    }

    /// A transmission of a managed queue ends; the next one begins, if a packet waits.
    #[inline(never)] // all that it calls is inlined: an event more for each packet
    fn depart(&mut self, id: LinkId) {
        let now = self.now();
        let link = &mut self.wires[usize::from(id.0)].link;
        let order = self.events.next_order();
        let passage = link.serve(now, order, &mut self.dropped);
        match self.begin(id, passage, order) {
            Some(departure) => self.events.replace_first_by(departure),
            None => self.events.remove_first(),
        }
    }

    /// A transmission of a managed queue has been booked, with insertion number `order`, unless none was there. The
    /// event that its departure is, if it is one.
    #[inline(always)] // on the path of every packet of a managed queue
    fn begin(&mut self, id: LinkId, passage: Option<(Passage, Codepoint)>, order: u64) -> Option<Event> {
        if !self.dropped.is_empty() {
            self.remove_dropped(id);
        }
        let (passage, ecn) = passage?;
        self.accept(id, &passage, ecn, order);
        let mut link = &mut self.wires[usize::from(id.0)].link;
        if link.books_more() {
            self.book_more(id);
            link = &mut self.wires[usize::from(id.0)].link;
        }
        let order = self.events.next_order();
        let departure = Event::new(Source::Departure(id), link.busy_until(), order);
        link.sends_until(departure).then_some(departure)
    }

    /// Books the further packets of an aggregate.
    #[cold]
    #[inline(never)]
    fn book_more(&mut self, id: LinkId) {
        let now = self.now();
        while self.wires[usize::from(id.0)].link.books_more() {
            let link = &mut self.wires[usize::from(id.0)].link;
            let order = self.events.next_order();
            if let Some((passage, ecn)) = link.serve(now, order, &mut self.dropped) {
                self.accept(id, &passage, ecn, order);
            }
        }
    }

    /// A packet of a managed queue will be sent so.
    #[inline(always)] // on the path of every packet of a managed queue
    fn accept(&mut self, id: LinkId, passage: &Passage, ecn: Codepoint, order: u64) {
        let content = &mut self.packets[passage.packet];
        if ecn == Codepoint::Ce {
            content.mark();
        }
        self.observer.accepted(id, passage, content);
        let link = &self.wires[usize::from(id.0)].link;
        if link.head().is_some_and(|head| head.order == order) {
            if !link.is_only() {
                // It overtakes all that is in flight.
                self.events.remove(Source::Link(id));
            }
            self.events.add(Source::Link(id), passage.delivery, order);
        }
    }

    /// Puts a packet into a buffer of node `at`; a full one drops it, or another.
    pub fn hold(&mut self, at: NodeId, buffer: &mut Buffer, packet: PacketId) {
        let now = self.now();
        let Self { packets, observer, .. } = self;
        observer.held(&packets[packet]);
        buffer.hold(packet, packets[packet].size(), |victim| {
            observer.overflowed(now, at, &packets[victim]);
            packets.remove(victim);
        });
    }

    /// Takes the next packet out of a buffer.
    pub fn release(&mut self, buffer: &mut Buffer) -> Option<PacketId> {
        let packet = buffer.pop()?;
        self.observer.released(&self.packets[packet]);
        Some(packet)
    }

    /// Takes back what a link has not sent yet, oldest first: a transmission that has not ended counts as not begun.
    pub fn withdraw(&mut self, id: LinkId) -> Vec<PacketId> {
        let now = self.now();
        let wire = &mut self.wires[usize::from(id.0)];
        let head = |link: &Link| link.head().map(|head| (head.order, head.delivery));
        let before = head(&wire.link);
        let waiting = wire.link.withdraw(now, self.happening);
        let after = head(&wire.link);
        if after != before {
            self.events.remove(Source::Link(id));
            if let Some((order, delivery)) = after {
                self.events.add(Source::Link(id), delivery, order);
            }
        }
        self.events.remove(Source::Departure(id));
        waiting.iter().for_each(|&packet| self.observer.withdrawn(id, &self.packets[packet]));
        waiting
    }

    /// Makes sure that a timer fires at `deadline` or before. It is not moved later: a node that
    /// is woken early looks at its own deadline and arms the timer again.
    #[inline]
    pub fn arm(&mut self, id: TimerId, deadline: Nanos) {
        if deadline < self.timers[usize::from(id.0)].fires {
            self.set_timer(id, deadline);
        }
    }

    #[inline(never)] // most deadlines lie beyond the pending one
    fn set_timer(&mut self, id: TimerId, deadline: Nanos) {
        let timer = &mut self.timers[usize::from(id.0)];
        if timer.fires != NEVER {
            self.events.remove(Source::Timer(id));
        }
        timer.fires = deadline;
        let order = if self.timers_first { 0 } else { self.events.next_order() };
        self.events.add(Source::Timer(id), deadline.max(self.now()), order);
    }

    /// Time of the next event.
    #[inline]
    pub fn next_event(&self) -> Option<Nanos> {
        self.events.first().map(Event::time)
    }
}

/// A network with its nodes.
#[derive(Clone, Debug)]
pub struct Sim<N, P, O> {
    /// Links, timers, packets, clock.
    pub net: Net<P, O>,
    /// The nodes, by [`NodeId`].
    pub nodes: Vec<N>,
}

impl<N: Node<P, O>, P: Payload, O: Observer<P>> Sim<N, P, O> {
    /// Handles the next event if it lies before `limit`, and says whether it did.
    #[inline(always)] // on the path of every packet
    pub fn step(&mut self, limit: Nanos) -> bool {
        let Some(event) = self.net.events.first() else { return false };
        if event.time() >= limit {
            return false;
        }
        self.net.happening = event;
        match event.link() {
            Some(id) => self.deliver(id),
            None => {
                self.net.observer.clock(event.time());
                match event.source() {
                    Source::Link(_) => {} // it is delivered without coming here
                    Source::Departure(id) => self.net.depart(id),
                    Source::Timer(id) => self.fire(id),
                }
            }
        }
        true
    }

    #[cold] // off the way of a packet
    #[inline(never)]
    fn fire(&mut self, id: TimerId) {
        self.net.events.remove_first();
        let timer = &mut self.net.timers[usize::from(id.0)];
        timer.fires = NEVER;
        let owner = timer.owner;
        self.net.sent = self.net.now();
        self.nodes[usize::from(owner.0)].on_timer(&mut self.net, id);
    }

    #[inline(always)] // on the path of every packet
    fn deliver(&mut self, id: LinkId) {
        let now = self.net.now();
        let wire = &mut self.net.wires[usize::from(id.0)];
        let Some(passage) = wire.link.pop() else { return };
        self.net.sent = passage.start();
        match wire.link.head() {
            Some(head) => self.net.events.replace_first(Source::Link(id), head.delivery, head.order),
            None => self.net.events.remove_first(),
        }
        if let Some(cause) = wire.link.loss(&passage, now) {
            self.net.observer.clock(now);
            self.net.observer.lost(now, id, &self.net.packets[passage.packet], cause);
            self.net.packets.remove(passage.packet);
            return;
        }
        let to = wire.to;
        let packets = &self.net.packets;
        self.net.observer.left(now, id, || &packets[passage.packet]);
        self.nodes[usize::from(to.0)].on_packet(&mut self.net, id, passage.packet);
    }

    /// Handles all events before `limit` and sets the clock to it.
    pub fn run_until(&mut self, limit: Nanos) {
        while self.step(limit) {}
        self.net.happening = self.net.happening.max(Event::start_of(limit));
        self.net.observer.clock(self.net.now());
    }

    /// Lets a node act now, outside any event.
    pub fn with_node<R>(&mut self, id: NodeId, act: impl FnOnce(&mut N, &mut Net<P, O>) -> R) -> R {
        act(&mut self.nodes[usize::from(id.0)], &mut self.net)
    }
}
