//! Random sequences of events, of which no path and no receiver need be capable: every recovery with every
//! congestion control, and every congestion control alone.

use proptest::prelude::*;
use proptest::sample::select;
use segue_tcp::congestion::{Ack, AnyControl, Congestion, CongestionControl, CongestionRules, Start, State};
use segue_tcp::profile::PROFILES;
use segue_tcp::rules::RecoveryRules;
use segue_tcp::segment::{CarriedOption, Timestamps};
use segue_tcp::{Advice, Advisor, Nanos, SackList, Segment, Sender, StackProfile, View};
use std::collections::BTreeMap;

const MS: Nanos = 1_000_000;
const PACKET: u32 = 256;

/// An event at a sender. Numbers are reduced to what the sender has sent.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// An ACK that advances by so many packets; below zero it is one that others have overtaken. It has SACK blocks
    /// (start beyond the ACK, length), the age of its time stamp, and whether it carries a notice.
    Ack { advance: i32, blocks: [Option<(u32, u32)>; 3], age: u64, notice: bool },
    /// The receiver offers another window, in a duplicate ACK.
    Window(u32),
    /// Time passes, ms.
    Wait(u64),
    /// The next timer expires.
    Timer,
    /// Advice from outside.
    Advise(Advice),
}

/// Gives the next of these at every event; silent when they are used up.
#[derive(Clone, Debug)]
struct Script(std::vec::IntoIter<Advice>);

impl Advisor for Script {
    fn listening(&self) -> bool {
        true
    }
    fn on_new_ack(&mut self, _: &View) -> Advice {
        self.0.next().unwrap_or_default()
    }
    fn on_dup_ack(&mut self, _: &View) -> Advice {
        self.0.next().unwrap_or_default()
    }
    fn on_fast_retransmit(&mut self, _: &View) -> Advice {
        self.0.next().unwrap_or_default()
    }
    fn on_timeout(&mut self, _: &View) -> Advice {
        self.0.next().unwrap_or_default()
    }
}

/// A sender, and beside it every packet that it has outstanding.
struct Model<A> {
    profile: StackProfile,
    sender: Sender<A>,
    now: Nanos,
    una: u32,
    max: u32,
    rwnd: u32,
    /// Bytes of each.
    outstanding: BTreeMap<u32, u16>,
    /// Fast retransmits when the timer last expired.
    fast_retransmits: u32,
}

impl<A: Advisor + std::fmt::Debug> Model<A> {
    fn open(profile: StackProfile, packets: u32, advisor: A) -> Self {
        let mut sender = Sender::new(&profile, 0, advisor);
        sender.open(packets);
        let rwnd = profile.receive_window;
        let outstanding = BTreeMap::new();
        let mut model =
            Self { profile, sender, now: 0, una: 0, max: 0, rwnd, outstanding, fast_retransmits: 0 };
        model.send();
        model.check();
        model
    }

    fn play(&mut self, event: Event) {
        match event {
            Event::Ack { advance, blocks, age, notice } => {
                let advance = advance.min((self.max - self.una) as i32);
                let ack = self.una.saturating_add_signed(advance);
                let mut sack = SackList::default();
                for (beyond, length) in blocks.into_iter().flatten() {
                    let (left, right) = (ack + beyond, (ack + beyond + length).min(self.max));
                    if left < right && self.profile.sack_blocks > 0 {
                        sack.push(left, right);
                    }
                }
                self.hear(ack, self.rwnd, sack, age, notice);
            }
            Event::Window(window) => self.hear(self.una, window, SackList::default(), 0, false),
            Event::Wait(ms) => self.pass(self.now + ms * MS),
            Event::Timer => {
                if let Some(deadline) = self.sender.deadline() {
                    self.pass(deadline.max(self.now));
                }
            }
            Event::Advise(advice) => self.sender.enact(self.now, &advice),
        }
        self.send();
        self.check();
    }

    fn hear(&mut self, ack: u32, window: u32, sack: SackList, age: u64, notice: bool) {
        let clock = |time: Nanos| (time / MS) as u32 + 1;
        let stamps = Timestamps { value: clock(self.now), echo: clock(self.now.saturating_sub(age * MS)) };
        let option =
            if notice { CarriedOption::new(&[253, 4, 0, 1]).unwrap() } else { CarriedOption::default() };
        let segment = Segment {
            seq: 1,
            ack,
            window,
            payload: 0,
            syn: false,
            push: false,
            has_ack: true,
            detail: Default::default(),
            ecn: Default::default(),
            sack,
            timestamps: Some(stamps),
            option,
        };
        if ack > 0 && ack >= self.una {
            self.una = ack;
            self.rwnd = window;
            self.outstanding = self.outstanding.split_off(&ack);
        }
        self.sender.on_segment(self.now, &segment);
    }

    fn pass(&mut self, until: Nanos) {
        while let Some(deadline) = self.sender.deadline().filter(|&deadline| deadline <= until) {
            self.now = self.now.max(deadline);
            if self.sender.on_timer(self.now) {
                self.fast_retransmits = self.sender.counters().fast_retransmits;
            }
            self.send();
            self.check();
        }
        self.now = until;
    }

    /// Puts on the wire what may go. At most one packet may go that the window does not allow: a retransmission of the
    /// head, limited transmit or a window probe.
    fn send(&mut self) {
        let mut beyond_cwnd = 0;
        let ns2 = self.profile.recovery == RecoveryRules::Ns2Sack1;
        loop {
            let in_flight = self.sender.in_flight();
            // In ns-2's fast recovery the receiver's window does not clip cwnd.
            let window = if ns2 { self.sender.view().cwnd / PACKET } else { self.sender.window() };
            let Some(transmit) = self.sender.poll_transmit(self.now) else { break };
            let seq = transmit.segment.seq;
            if !transmit.segment.is_data() {
                assert_eq!(seq, self.una.wrapping_sub(1), "a window probe");
                continue;
            }
            // ns-2's partial ACK moves highest_ack_ alone: after a go-back-N t_seqno_ may lie below it.
            let from = if ns2 { 0 } else { self.una };
            assert!((from..=self.max).contains(&seq), "packet {seq} of {}..{}", self.una, self.max);
            assert_eq!(transmit.retransmission, seq < self.max);
            let inside = seq <= self.una || seq < self.una + self.rwnd;
            assert!(inside, "packet {seq} into {} from {}", self.rwnd, self.una);
            // A window of zero (ns-2, see `check`) may have been inflated by duplicate ACKs.
            beyond_cwnd += u32::from(in_flight >= window.max(1));
            if seq >= self.una {
                self.outstanding.insert(seq, transmit.segment.payload);
            }
            self.max = self.max.max(seq + 1);
        }
        assert!(beyond_cwnd <= 1, "{beyond_cwnd} packets beyond a cwnd of {}", self.sender.window());
    }

    fn check(&self) {
        let (sender, view) = (&self.sender, self.sender.view());
        assert_eq!((view.snd_una, view.snd_max), (self.una, self.max));
        let bytes: u32 = self.outstanding.values().map(|&bytes| u32::from(bytes)).sum();
        let syn = u32::from(self.una == 0 && self.max > 0);
        assert_eq!(bytes, (view.flight - syn) * view.mss, "bytes in flight");
        if let Some((counted, recomputed)) = sender.pipes() {
            assert_eq!(counted, recomputed, "Pipe");
        }
        // ns-2 halves the integer part of one packet, and only its timer leads out.
        let halved = sender.counters().fast_retransmits > self.fast_retransmits;
        let may_be_zero = self.profile.congestion == CongestionRules::Ns2 && halved;
        assert!(view.cwnd >= PACKET || may_be_zero, "cwnd {}", view.cwnd);
        assert!(view.ssthresh >= 2 * PACKET, "ssthresh {}", view.ssthresh);
        assert!(!sender.has_data() || sender.deadline().is_some(), "nothing to wait for");
    }
}

fn profiles() -> impl Strategy<Value = StackProfile> {
    let windows = select(vec![4, 64, 10_000]);
    (select(PROFILES.to_vec()), select(CongestionRules::ALL.to_vec()), windows).prop_map(
        |(profile, congestion, receive_window)| StackProfile { congestion, receive_window, ..profile },
    )
}

fn advice() -> impl Strategy<Value = Advice> {
    let cwnd = prop::option::of(0..100 * PACKET);
    let ssthresh = prop::option::of(2 * PACKET..100 * PACKET);
    (cwnd, ssthresh, prop::collection::vec(prop::bool::weighted(0.25), 9)).prop_map(|(cwnd, ssthresh, on)| {
        Advice {
            cwnd,
            ssthresh,
            retransmit_head: on[0],
            room_for_one: on[1],
            clear_backoff: on[2],
            keep_window: on[3],
            keep_cwnd: on[4],
            keep_ssthresh: on[5],
            hold_holes: on[6],
            resume_recovery: on[7],
            send_new: on[8],
            ..Advice::default()
        }
    })
}

fn ack() -> impl Strategy<Value = Event> {
    let block = || prop::option::of((0..30u32, 1..10u32));
    let advance = prop_oneof![3 => Just(0), 4 => 1..4i32, 1 => 4..60i32, 1 => -3..0i32];
    (advance, [block(), block(), block()], 0..400u64, prop::bool::weighted(0.05))
        .prop_map(|(advance, blocks, age, notice)| Event::Ack { advance, blocks, age, notice })
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        20 => ack(),
        1 => select(vec![0, 1, 7, 64, 1_000]).prop_map(Event::Window),
        3 => (0..300u64).prop_map(Event::Wait),
        2 => Just(Event::Timer),
        1 => advice().prop_map(Event::Advise),
    ]
}

/// Events of a control alone, of which recovery need not be capable.
#[derive(Clone, Copy, Debug)]
enum Call {
    Established(u32),
    Ack(Ack),
    Congestion(Congestion, u32),
    RecoveryExit(u32, u32),
    Spurious,
    Start(Nanos),
    Window(Option<u32>, Option<u32>),
}

fn told() -> impl Strategy<Value = Call> {
    let state = select(vec![State::Open, State::Recovery, State::Loss]);
    let congestion = select(vec![
        Congestion::FastRetransmit,
        Congestion::Timeout { repeated: false },
        Congestion::Timeout { repeated: true },
        Congestion::Ecn,
    ]);
    let flight = || prop_oneof![0..8u32, 0..1_000_000u32];
    let ack = (flight(), 0..70u32, 0..70u32, state, any::<(bool, bool)>(), prop::option::of(1..900 * MS));
    prop_oneof![
        1 => (1..1_000u32).prop_map(Call::Established),
        12 => ack.prop_map(|(flight, acked, newly_delivered, state, (cwnd_limited, app_limited), rtt)| {
            let (now, delivered, min_rtt, round) = (0, 0, None, 0); // `tell` counts them
            Call::Ack(Ack {
                now, acked, newly_delivered, delivered, rtt, min_rtt, flight, round, cwnd_limited, app_limited, state
            })
        }),
        4 => (congestion, flight()).prop_map(|(congestion, flight)| Call::Congestion(congestion, flight)),
        2 => (flight(), prop_oneof![1..80u32, Just(u32::MAX)])
            .prop_map(|(flight, most)| Call::RecoveryExit(flight, most)),
        1 => Just(Call::Spurious),
        1 => (0..60_000 * MS).prop_map(Call::Start),
        1 => (prop::option::of(PACKET..), prop::option::of(2 * PACKET..))
            .prop_map(|(cwnd, ssthresh)| Call::Window(cwnd, ssthresh)),
    ]
}

/// Tells a control one thing and checks what each of them owes whoever sends by it.
fn tell(control: &mut AnyControl, sum: &mut Ack, told: Call) {
    let (cwnd, ssthresh) = (control.cwnd(), control.ssthresh());
    sum.now += MS;
    match told {
        Call::Established(initial) => {
            control.on_established(initial, sum.min_rtt);
            assert_eq!(control.cwnd(), initial * PACKET);
        }
        Call::Ack(ack) => {
            sum.delivered += ack.newly_delivered;
            sum.round += 1;
            sum.min_rtt = sum.min_rtt.into_iter().chain(ack.rtt).min();
            let Ack { now, delivered, round, min_rtt, .. } = *sum;
            control.on_ack(&Ack { now, delivered, round, min_rtt, ..ack });
            if !control.sets_cwnd_in_recovery() {
                let most = ack.acked.max(ack.newly_delivered) + 1;
                assert!(control.cwnd() >= cwnd, "an ACK closes the window");
                assert!(control.cwnd() - cwnd <= most * PACKET, "an ACK opens the window by a burst");
                assert!(ack.state != State::Recovery || control.cwnd() == cwnd, "growth in recovery");
            }
        }
        Call::Congestion(event, flight) => {
            control.on_congestion(event, flight, sum.now);
            if matches!(event, Congestion::Timeout { .. }) {
                assert_eq!(control.cwnd(), PACKET, "the loss window (RFC 5681, 3.1)");
            }
        }
        Call::RecoveryExit(flight, most) => control.on_recovery_exit(flight, most),
        Call::Spurious => {
            control.on_spurious();
            assert!(control.cwnd() >= cwnd && control.ssthresh() >= ssthresh, "undo makes it worse");
        }
        Call::Start(idle) => control.on_start(sum.now, idle),
        Call::Window(cwnd, ssthresh) => control.set_window(cwnd, ssthresh),
    }
    assert!(control.window() <= control.cwnd() / PACKET);
    assert!(control.cwnd() >= PACKET || matches!(control, AnyControl::Ns2(_)), "{control:?}");
    assert!(control.ssthresh() >= 2 * PACKET, "{control:?}");
    assert!(control.pacing_rate() != Some(0), "{control:?}");
}

fn config() -> ProptestConfig {
    let usual = ProptestConfig::default();
    ProptestConfig { cases: 3 * usual.cases, failure_persistence: None, ..usual }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn no_sequence_of_events_breaks_a_sender(
        profile in profiles(),
        packets in 1..200u32,
        events in prop::collection::vec(event(), 1..120),
        answers in prop::collection::vec(advice(), 0..20),
    ) {
        let mut model = Model::open(profile, packets, Script(answers.into_iter()));
        for event in events {
            model.play(event);
        }
    }

    #[test]
    fn no_sequence_of_events_breaks_a_congestion_control(
        rules in select(CongestionRules::ALL.to_vec()),
        events in prop::collection::vec(told(), 1..120),
    ) {
        let start = Start { mss: 1448, receive_window: 1_000_000, initial_ssthresh: 64 };
        let mut control = AnyControl::new(rules, &start);
        let mut sum = Ack {
            now: 0,
            acked: 0,
            newly_delivered: 0,
            delivered: 0,
            rtt: None,
            min_rtt: None,
            flight: 0,
            round: 0,
            cwnd_limited: false,
            app_limited: false,
            state: State::Open,
        };
        for event in events {
            tell(&mut control, &mut sum, event);
        }
    }
}
