//! Any sequence of ACKs, SACKs, D-SACKs and expiries leaves Linux's sender with counters that add up.

use proptest::prelude::*;
use segue_tcp::advice::{KernelAdvice, NewPath};
use segue_tcp::linux::LinuxSender;
use segue_tcp::linux::receiver::LinuxReceiver;
use segue_tcp::profile::KERNELS;
use segue_tcp::segment::{SackList, Timestamps};
use segue_tcp::{Advice, Nanos, Segment, StackProfile};

const MS: Nanos = 1_000_000;

/// Events that reach the sender. Numbers are taken modulo what is outstanding.
#[derive(Clone, Debug)]
enum Event {
    /// An ACK that moves so far, with SACK blocks beyond it (distance, length), after a time, echoing one so old, ms.
    Ack { moves: u32, sacks: Vec<(u32, u32)>, after_us: u64, echo_ms: u32 },
    /// The same below `snd_una`.
    Old { below: u32, sacks: Vec<(u32, u32)> },
    /// A block below the ACK.
    Duplicate { below: u32, length: u32 },
    /// The next timer.
    Timer,
    /// RFC 6069.
    Unreachable,
    /// The receiver's window.
    Window(u32),
    /// Advice of a handoff's schemes.
    Told(Advice),
}

/// Requests of schemes for a kernel's stack at a handoff.
fn told() -> impl Strategy<Value = Event> {
    let path = (any::<bool>(), 1u64..2_000).prop_map(|(lost, ms)| NewPath { rto: ms * MS, lost });
    let path = prop_oneof![Just(None), path.prop_map(Some)];
    (path, prop::option::of(any::<bool>()), any::<bool>(), any::<bool>(), prop::option::of(1u32..200))
        .prop_map(|(path, hold_window, probe_head, clear_backoff, cwnd)| {
            let cwnd = cwnd.map(|packets| packets * 256);
            let rearm_timer = probe_head;
            let kernel = KernelAdvice { path, hold_window, probe_head, ..KernelAdvice::default() };
            Event::Told(Advice { clear_backoff, cwnd, rearm_timer, kernel, ..Advice::default() })
        })
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let sacks = || prop::collection::vec((1u32..40, 1u32..20), 0..3);
    let event = prop_oneof![
        6 => (0u32..8, sacks(), 1u64..60_000, 0u32..400)
            .prop_map(|(moves, sacks, after_us, echo_ms)| Event::Ack { moves, sacks, after_us, echo_ms }),
        1 => (1u32..10, sacks()).prop_map(|(below, sacks)| Event::Old { below, sacks }),
        1 => (1u32..10, 1u32..4).prop_map(|(below, length)| Event::Duplicate { below, length }),
        3 => Just(Event::Timer),
        1 => Just(Event::Unreachable),
        1 => prop_oneof![Just(0), 1u32..50, Just(10_000)].prop_map(Event::Window),
    ];
    prop::collection::vec(event, 1..120)
}

struct Run {
    sender: LinuxSender<()>,
    now: Nanos,
    window: u32,
    /// The numbers of the packets that were sent, and when.
    sent: Vec<(Nanos, u32)>,
}

impl Run {
    /// An established connection with endless data.
    fn new(stack: &StackProfile) -> Self {
        let sender = LinuxSender::new(stack, stack.kernel.expect("a kernel"), ());
        let mut run = Self { sender, now: 0, window: 10_000, sent: Vec::new() };
        run.sender.open(1_000_000);
        run.drain();
        run.now = 50 * MS;
        let syn_ack = Segment { syn: true, seq: 0, ..run.ack(1, &[], 0) };
        run.sender.on_segment(run.now, &syn_ack);
        run.drain();
        run
    }

    fn stamp(&self) -> u32 {
        ((self.now + 16_384 * MS) / MS) as u32
    }

    fn ack(&self, ack: u32, sacks: &[(u32, u32)], echo_ms: u32) -> Segment {
        let mut sack = SackList::default();
        let reports = self.sender.profile().sack_blocks > 0;
        for &(left, right) in sacks.iter().filter(|_| reports) {
            sack.push(left, right);
        }
        let stamp = self.stamp();
        Segment {
            seq: 1,
            ack,
            window: self.window,
            payload: 0,
            syn: false,
            push: false,
            has_ack: true,
            detail: Default::default(),
            ecn: Default::default(),
            sack,
            timestamps: Some(Timestamps { value: stamp, echo: stamp - echo_ms }),
            option: Default::default(),
        }
    }

    /// Blocks inside what is outstanding.
    fn blocks(&self, sacks: &[(u32, u32)]) -> Vec<(u32, u32)> {
        let (una, next) = (self.sender.snd_una(), self.sender.snd_max());
        sacks
            .iter()
            .map(|&(distance, length)| (una + distance, (una + distance + length).min(next)))
            .filter(|(left, right)| left < right)
            .collect()
    }

    fn handle(&mut self, event: &Event) {
        let (una, next) = (self.sender.snd_una(), self.sender.snd_max());
        match event {
            Event::Ack { moves, sacks, after_us, echo_ms } => {
                self.now += after_us * 1_000;
                let ack = (una + moves).min(next);
                let blocks: Vec<_> = self.blocks(sacks).into_iter().filter(|block| block.0 > ack).collect();
                let segment = self.ack(ack, &blocks, *echo_ms);
                self.sender.on_segment(self.now, &segment);
            }
            Event::Old { below, sacks } => {
                let segment = self.ack(una.saturating_sub(*below).max(1), &self.blocks(sacks), 10);
                self.sender.on_segment(self.now, &segment);
            }
            Event::Duplicate { below, length } => {
                let left = una.saturating_sub(*below).max(1);
                let segment = self.ack(una, &[(left, left + length)], 10);
                self.sender.on_segment(self.now, &segment);
            }
            Event::Timer => {
                if let Some(at) = self.sender.deadline() {
                    self.now = self.now.max(at);
                    self.sender.on_timer(self.now);
                }
            }
            Event::Unreachable => {
                self.sender.on_unreachable(self.now, una);
            }
            Event::Told(advice) => self.sender.enact(self.now, advice),
            Event::Window(window) => {
                self.window = *window;
                let segment = self.ack(una, &[], 10);
                self.sender.on_segment(self.now, &segment);
            }
        }
        self.drain();
    }

    fn drain(&mut self) {
        while let Some(packet) = self.sender.poll_transmit(self.now) {
            self.sent.push((self.now, packet.segment.seq));
        }
    }

    fn check(&self) -> Result<(), TestCaseError> {
        let sk = self.sender.sock();
        let (counted, recounted) = self.sender.pipes().expect("it counts");
        // Without SACK no packet is known to have arrived, duplicate ACKs only tell how many.
        let guessed = if self.sender.profile().sack_blocks > 0 { 0 } else { sk.sacked_out };
        prop_assert_eq!(counted + guessed, recounted, "packets in flight, counted anew");
        prop_assert_eq!(sk.packets_out, sk.snd_nxt - sk.snd_una);
        prop_assert!(sk.sacked_out + sk.lost_out <= sk.packets_out);
        prop_assert!(sk.snd_cwnd >= 1);
        if sk.packets_out > 0 && !self.sender.has_given_up_for_good() {
            prop_assert!(self.sender.deadline().is_some(), "a timer runs while data is outstanding");
        }
        Ok(())
    }
}

/// The timer expires twice, a SACK of an original shows that to have been needless, and the timer expires again. The
/// head then counts twice as sent again ("retrans_out leaked"). With the last packet the kernel forgets it
/// (`tcp_clean_rtx_queue`).
#[test]
fn what_has_leaked_is_forgotten_with_the_last_packet() {
    for stack in &KERNELS {
        let mut run = Run::new(stack);
        let expire = |run: &mut Run| {
            let before = run.sender.tally().timeouts;
            while run.sender.tally().timeouts == before {
                run.handle(&Event::Timer);
            }
        };
        let out = |run: &Run| run.sender.snd_max() - run.sender.snd_una();
        expire(&mut run);
        expire(&mut run);
        run.handle(&Event::Ack { moves: 0, sacks: vec![(4, 1)], after_us: 1_000, echo_ms: 0 });
        assert_eq!(run.sender.tally().undos, 1, "{}", stack.name);
        expire(&mut run);
        let sk = run.sender.sock();
        assert_eq!(sk.lost_out + sk.sacked_out, sk.packets_out, "{}: all that is out is lost", stack.name);
        assert_eq!(run.sender.in_flight(), 2, "{}: the head was sent again once", stack.name);
        let all = out(&run);
        run.handle(&Event::Ack { moves: all, sacks: Vec::new(), after_us: 1_000, echo_ms: 0 });
        assert_eq!(run.sender.in_flight(), out(&run), "{}: new packets alone", stack.name);
    }
}

/// Packets of a transfer over two paths.
const TRANSFER: u32 = 300;

/// A sender and a receiver. Data and ACKs take one path or another, so that they overtake one another, or are lost.
struct TwoPaths {
    sender: LinuxSender<()>,
    receiver: LinuxReceiver,
    now: Nanos,
    /// Packets under way: when it arrives, and whether at the receiver.
    on_the_way: Vec<(Nanos, bool, Segment)>,
    /// Delay, and whether a packet is lost: for the next, and round and round. At most one of three in a row is lost, so
    /// that no timer expires twice for the same.
    fates: Vec<(Nanos, bool)>,
    sent: usize,
}

impl TwoPaths {
    fn new(stack: &StackProfile, fates: Vec<(Nanos, bool)>) -> Self {
        let kernel = stack.kernel.expect("a kernel");
        let sender = LinuxSender::new(stack, kernel, ());
        let receiver = LinuxReceiver::new(stack, kernel);
        let mut host = Self { sender, receiver, now: 0, on_the_way: Vec::new(), fates, sent: 0 };
        host.sender.open(TRANSFER);
        host.send();
        host
    }

    fn send(&mut self) {
        while let Some(packet) = self.sender.poll_transmit(self.now) {
            self.leave(true, packet.segment);
        }
        while let Some((ack, _)) = self.receiver.poll_transmit() {
            self.leave(false, ack);
        }
    }

    fn leave(&mut self, to_receiver: bool, segment: Segment) {
        let (delay, lost) = self.fates[self.sent % self.fates.len()];
        let may_be_lost = !segment.syn && self.sent.is_multiple_of(3);
        self.sent += 1;
        if !(lost && may_be_lost) {
            self.on_the_way.push((self.now + delay, to_receiver, segment));
        }
    }

    /// The next event: an arrival or a timer. False if nothing does.
    fn step(&mut self) -> bool {
        let arrival = self.on_the_way.iter().enumerate().min_by_key(|(_, packet)| packet.0);
        let arrival = arrival.map(|(index, packet)| (packet.0, index));
        let timers = [self.sender.deadline(), self.receiver.deadline()];
        let timer = timers.into_iter().flatten().min();
        let Some(next) = timer.into_iter().chain(arrival.map(|(at, _)| at)).min() else { return false };
        self.now = self.now.max(next);
        match arrival.filter(|&(at, _)| at <= next) {
            Some((_, index)) => match self.on_the_way.remove(index) {
                (_, true, segment) => drop(self.receiver.on_segment(self.now, &segment)),
                (_, false, segment) => self.sender.on_segment(self.now, &segment),
            },
            None if timers[0] == timer => drop(self.sender.on_timer(self.now)),
            None => self.receiver.on_timer(self.now),
        }
        self.send();
        true
    }

    fn check(&self) -> Result<(), TestCaseError> {
        let (counted, recounted) = self.sender.pipes().expect("it counts");
        prop_assert_eq!(counted, recounted, "packets in flight, counted anew");
        for seq in self.sender.snd_una()..self.sender.snd_max() {
            prop_assert!(!self.sender.is_sacked(seq) || self.receiver.has(seq), "{seq} has not arrived");
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::default())]

    /// In any order of arrival, and with any advice of schemes at handoffs: the scoreboard is that of the receiver, and
    /// all data arrive.
    #[test]
    fn a_transfer_over_two_paths_ends(
        fates in prop::collection::vec((prop_oneof![2u64..6, 90u64..120], prop::bool::weighted(0.3)), 1..60),
        handoffs in prop::collection::vec((1u32..TRANSFER, told()), 0..4),
        stack in 0..KERNELS.len(),
    ) {
        let fates = fates.into_iter().map(|(ms, lost)| (ms * MS, lost)).collect();
        let mut host = TwoPaths::new(&KERNELS[stack], fates);
        let mut handoffs = handoffs;
        handoffs.sort_by_key(|handoff| handoff.0);
        let mut handoffs = handoffs.into_iter().peekable();
        let (mut una, mut since) = (0, 0);
        while host.sender.snd_una() <= TRANSFER {
            // With a third of all packets lost the whole transfer may take a quarter of an hour. Each ACK comes sooner.
            prop_assert!(host.now < since + 600_000 * MS && host.step(), "{una} at {} ms", host.now / MS);
            if host.sender.snd_una() != una {
                (una, since) = (host.sender.snd_una(), host.now);
            }
            host.check()?;
            while let Some((_, told)) = handoffs.next_if(|handoff| handoff.0 < host.sender.snd_una()) {
                let Event::Told(advice) = told else { unreachable!() };
                host.sender.enact(host.now, &advice);
                host.send();
                host.check()?;
            }
        }
    }

    #[test]
    fn counters_add_up(events in events(), stack in 0..KERNELS.len()) {
        let mut run = Run::new(&KERNELS[stack]);
        run.check()?;
        for event in &events {
            run.handle(event);
            run.check()?;
        }
    }

    /// A forged message is about another packet than the first that is not acknowledged (RFC 5927). A late one comes
    /// after an ACK that advances. Beside both the sender does what it does without them.
    #[test]
    fn forged_and_late_messages_are_ignored(
        events in events(), stack in 0..KERNELS.len(), far in 1u32..10_000,
    ) {
        let (mut plain, mut told) = (Run::new(&KERNELS[stack]), Run::new(&KERNELS[stack]));
        for event in &events {
            let una = told.sender.snd_una();
            for forged in [una.wrapping_add(far), una.wrapping_sub(far)] {
                prop_assert!(!told.sender.on_unreachable(told.now, forged));
            }
            plain.handle(event);
            told.handle(event);
            if told.sender.snd_una() != una {
                prop_assert!(!told.sender.on_unreachable(told.now, told.sender.snd_una()), "late");
                told.drain();
            }
            prop_assert_eq!(&plain.sent, &told.sent);
            prop_assert_eq!(plain.sender.deadline(), told.sender.deadline());
        }
    }

    /// A sender of repeated messages takes back no more than the timer has backed off.
    #[test]
    fn repeated_messages_end(events in events(), stack in 0..KERNELS.len()) {
        let mut run = Run::new(&KERNELS[stack]);
        for event in &events {
            run.handle(event);
        }
        let una = run.sender.snd_una();
        let heeded = (0..100).filter(|_| run.sender.on_unreachable(run.now, una)).count();
        // The kernel gives a connection up after fifteen.
        prop_assert!(heeded <= 16, "{heeded}");
        run.drain();
        run.check()?;
    }

    /// A flow is on two paths, and its packets are on two accounts.
    #[test]
    fn counters_add_up_on_two_paths(
        before in events(), handoffs in prop::collection::vec((told(), events()), 1..4), stack in 0..KERNELS.len(),
    ) {
        let mut run = Run::new(&KERNELS[stack]);
        before.iter().for_each(|event| run.handle(event));
        for (told, events) in &handoffs {
            run.handle(told);
            run.check()?;
            for event in events {
                run.handle(event);
                run.check()?;
            }
        }
    }

    #[test]
    fn counters_add_up_without_sack(events in events(), stack in 0..KERNELS.len()) {
        let mut run = Run::new(&StackProfile { sack_blocks: 0, ..KERNELS[stack] });
        run.check()?;
        for event in &events {
            run.handle(event);
            run.check()?;
        }
    }
}
