//! PHAS behind a sender (algorithms.md, 6.1 to 6.3): one handoff, after which any ACKs and the notice that ends the
//! forwarding are lost.

use proptest::prelude::*;
use segue_handoff::Phas;
use segue_netsim::{Overflow, SECOND};
use segue_tcp::profile::NS2_NEWRENO;
use segue_tcp::{Nanos, Receiver, Segment, Sender, StackProfile};
use std::collections::{BTreeMap, VecDeque};

const MS: Nanos = 1_000_000;
/// From the sender to the router.
const WIRED: Nanos = 48 * MS;
/// From the router to the mobile; what is forwarded needs as long once more.
const AIR: Nanos = 2 * MS;

#[derive(Clone, Debug)]
struct Plan {
    packets: u32,
    down: Nanos,
    up: Nanos,
    buffer: usize,
    overflow: Overflow,
    extra_dup: bool,
    notice_lost: bool,
    /// Which ACKs that leave the mobile from link-up on are lost; those beyond the list arrive.
    acks_lost: Vec<bool>,
}

enum Event {
    AtRouter(Segment),
    LinkUp,
    AtMobile { packet: Segment, forwarded: bool },
    EndOfForwarding,
    AtSender(Segment),
}

struct Path {
    plan: Plan,
    now: Nanos,
    sender: Sender<()>,
    receiver: Receiver,
    filter: Phas,
    events: BTreeMap<(Nanos, u32), Event>,
    scheduled: u32,
    held: VecDeque<Segment>,
    /// ACKs that have left since link-up.
    acks: usize,
    /// Last expiry of the timer with the link up: the first unacknowledged packet, and whether an ACK was lost since.
    expiry: Option<(u32, bool)>,
}

impl Path {
    fn new(plan: Plan) -> Self {
        let mut stack = StackProfile { receive_window: 40, ..NS2_NEWRENO };
        stack.rto.min = SECOND;
        let receiver = Receiver::new(&stack);
        let mut path = Self {
            now: 0,
            sender: Sender::new(&stack, 0, ()),
            filter: Phas::new(plan.extra_dup, receiver.last_ack()),
            receiver,
            events: BTreeMap::new(),
            scheduled: 0,
            held: VecDeque::new(),
            acks: 0,
            expiry: None,
            plan,
        };
        path.sender.open(path.plan.packets);
        path.at(path.plan.up, Event::LinkUp);
        path
    }

    fn at(&mut self, time: Nanos, event: Event) {
        self.scheduled += 1;
        self.events.insert((time, self.scheduled), event);
    }

    /// Runs until all is acknowledged.
    fn run(&mut self) {
        self.transmit();
        while self.sender.has_data() {
            assert!(self.receiver.deadline().is_none(), "every packet is acknowledged at once");
            let timer = self.sender.deadline().expect("it never waits without a timer");
            match self.events.first_key_value().map(|(&key, _)| key).filter(|key| key.0 <= timer) {
                Some(key) => {
                    self.now = key.0;
                    let event = self.events.remove(&key).expect("it is there");
                    self.handle(event);
                }
                None => {
                    self.now = timer;
                    self.expire();
                }
            }
            self.transmit();
        }
        assert_eq!(self.receiver.rcv_nxt(), self.plan.packets + 1, "all is delivered");
    }

    /// With the link up one expiry mends all that the filter has left unsaid, unless the path has lost an ACK since.
    fn expire(&mut self) {
        let una = self.sender.snd_una();
        if self.now >= self.plan.up
            && let Some((before, lost)) = self.expiry.replace((una, false))
        {
            assert!(lost, "one expiry at packet {before} was not enough: another at {una}");
        }
        self.sender.on_timer(self.now);
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::AtRouter(packet) if (self.plan.down..self.plan.up).contains(&self.now) => {
                self.hold(packet)
            }
            Event::AtRouter(packet) => {
                self.at(self.now + AIR, Event::AtMobile { packet, forwarded: false });
            }
            Event::LinkUp => {
                while let Some(packet) = self.held.pop_front() {
                    self.at(self.now + 2 * AIR, Event::AtMobile { packet, forwarded: true });
                }
                if !self.plan.notice_lost {
                    self.at(self.now + 2 * AIR, Event::EndOfForwarding);
                }
            }
            Event::AtMobile { packet, forwarded } => self.receive(&packet, forwarded),
            Event::EndOfForwarding => {
                for _ in 0..self.filter.on_end() {
                    self.receiver.announce_window(self.now);
                    let (ack, _) = self.receiver.poll_transmit().expect("an ACK");
                    self.acknowledge(ack);
                }
            }
            Event::AtSender(ack) => self.sender.on_segment(self.now, &ack),
        }
    }

    fn hold(&mut self, packet: Segment) {
        let full = self.held.len() == self.plan.buffer;
        if full && self.plan.overflow == Overflow::DropTail {
            return;
        }
        if full {
            self.held.pop_front();
        }
        self.held.push_back(packet);
    }

    fn receive(&mut self, packet: &Segment, forwarded: bool) {
        let before = self.receiver.last_ack();
        self.filter.on_packet(forwarded);
        self.receiver.on_segment(self.now, packet);
        let (ack, _) = self.receiver.poll_transmit().expect("an ACK of every packet");
        let passes = self.filter.on_ack(ack.ack);
        assert_eq!(
            passes,
            !forwarded || ack.ack == before,
            "of forwarded packets' ACKs only duplicates pass"
        );
        if passes {
            self.acknowledge(ack);
        }
    }

    /// An ACK leaves the mobile.
    fn acknowledge(&mut self, ack: Segment) {
        if self.now >= self.plan.up {
            self.acks += 1;
            if self.plan.acks_lost.get(self.acks - 1) == Some(&true) {
                if let Some((_, lost)) = &mut self.expiry {
                    *lost = true;
                }
                return;
            }
        }
        self.at(self.now + AIR + WIRED, Event::AtSender(ack));
    }

    fn transmit(&mut self) {
        while let Some(transmit) = self.sender.poll_transmit(self.now) {
            self.at(self.now + WIRED, Event::AtRouter(transmit.segment));
        }
    }
}

fn any_plan() -> impl Strategy<Value = Plan> {
    let handoff = (150u64..2_000, 1u64..4_000, 1usize..60, any::<bool>());
    let losses = (any::<bool>(), any::<bool>(), prop::collection::vec(any::<bool>(), 0..60));
    (1u32..600, handoff, losses).prop_map(|(packets, (down, away, buffer, head), losses)| Plan {
        packets,
        down: down * MS,
        up: (down + away) * MS,
        buffer,
        overflow: if head { Overflow::DropHead } else { Overflow::DropTail },
        extra_dup: losses.0,
        notice_lost: losses.1,
        acks_lost: losses.2,
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases * 4,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Every packet is delivered and acknowledged in the end; there is a timer whenever the sender waits, and one
    /// expiry is enough.
    #[test]
    fn lost_acks_and_a_lost_notice_never_stall(plan in any_plan()) {
        Path::new(plan).run();
    }
}

/// Room for all and no timeout: the sender needs its timer only if what the notice releases is lost, or the notice is.
#[test]
fn one_expiry_is_the_price_of_a_lost_notice() {
    let expiries = |notice_lost, extra_dup, acks_lost: &[bool]| {
        let mut path = Path::new(Plan {
            packets: 400,
            down: 1_000 * MS,
            up: 1_300 * MS,
            buffer: 60,
            overflow: Overflow::DropTail,
            extra_dup,
            notice_lost,
            acks_lost: acks_lost.to_vec(),
        });
        path.run();
        path.sender.counters().timeouts
    };
    assert_eq!(expiries(false, false, &[]), 0);
    assert_eq!(expiries(false, false, &[true]), 1, "the one ACK is lost");
    assert_eq!(expiries(false, true, &[true]), 0, "its copy is not");
    assert_eq!(expiries(true, true, &[]), 1, "nothing releases it");
}
