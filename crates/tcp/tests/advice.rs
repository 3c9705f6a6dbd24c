//! Effects of advice on a sender, where no scheme is needed to show them.

use segue_tcp::advice::{KernelAdvice, MinRto};
use segue_tcp::linux::LinuxSender;
use segue_tcp::linux::wheel::{Clock, fires};
use segue_tcp::profile::{LINUX_6_12, PROFILES, RFC};
use segue_tcp::segment::{CarriedOption, SackList, Timestamps};
use segue_tcp::{Advice, Advisor, Nanos, Segment, Sender, View};

const MS: Nanos = 1_000_000;

/// Ignores every RTT sample once told to.
#[derive(Clone, Default)]
struct Deaf(bool);

impl Advisor for Deaf {
    fn listening(&self) -> bool {
        self.0
    }
    fn on_rtt_sample(&mut self, _view: &View, _seq: u32, _rtt: Nanos) -> Advice {
        Advice { ignore_sample: true, ..Advice::default() }
    }
}

fn ack(next: u32, now: Nanos, echo_ms: u32) -> Segment {
    Segment {
        seq: 1,
        ack: next,
        window: 1000,
        payload: 0,
        syn: false,
        push: false,
        has_ack: true,
        detail: Default::default(),
        ecn: Default::default(),
        sack: SackList::default(),
        timestamps: Some(Timestamps { value: (now / MS) as u32, echo: echo_ms }),
        option: CarriedOption::default(),
    }
}

fn drain(sender: &mut Sender<Deaf>, now: Nanos) -> u32 {
    std::iter::from_fn(|| sender.poll_transmit(now)).count() as u32
}

/// Karn and RFC 6298, section 5: only a sample that counts ends the back-off. A sender whose
/// samples are ignored must not fall back to its short RTO at each ACK.
#[test]
fn an_ignored_sample_does_not_end_the_back_off() {
    for ignores in [false, true] {
        let mut sender = Sender::new(&RFC, 0, Deaf::default());
        sender.open(100);
        drain(&mut sender, 0);
        sender.on_segment(100 * MS, &ack(1, 100 * MS, 1));
        let sent = drain(&mut sender, 100 * MS);
        assert_eq!(sent, RFC.initial_window);
        let expiry = sender.deadline().expect("a running timer");
        assert!(sender.on_timer(expiry));
        drain(&mut sender, expiry);
        let (_, backed_off, floor) = sender.timing();
        assert_eq!(backed_off, 2 * floor, "doubled, RFC 6298, 5.5");

        sender.advisor().0 = ignores;
        let now = expiry + 500 * MS;
        sender.on_segment(now, &ack(2, now, (expiry / MS) as u32));
        let (_, rto, floor) = sender.timing();
        if ignores {
            assert_eq!(rto, backed_off);
        } else {
            assert!(rto < backed_off && rto >= floor);
        }
    }
}

/// Counts the duplicate ACKs that it is told of.
#[derive(Clone, Default)]
struct Counting(u32);

impl Advisor for Counting {
    fn listening(&self) -> bool {
        true
    }
    fn on_dup_ack(&mut self, _view: &View) -> Advice {
        self.0 += 1;
        Advice::default()
    }
}

/// RFC 5681, section 2: a duplicate ACK repeats the greatest one. An older one that was overtaken on its way
/// over the old link is none.
#[test]
fn an_overtaken_ack_is_no_duplicate() {
    for profile in PROFILES {
        let mut sender = Sender::new(&profile, 0, Counting::default());
        sender.open(100);
        let drain = |sender: &mut Sender<Counting>| while sender.poll_transmit(0).is_some() {};
        drain(&mut sender);
        for next in 1..=8 {
            sender.on_segment(0, &ack(next, 0, 1));
            drain(&mut sender);
        }
        let duplicate = |last: u32| {
            let mut repeated = ack(8, 0, 1);
            if profile.sack_blocks > 0 {
                repeated.sack.push(9, last + 1);
            }
            repeated
        };
        for last in 9..=12 {
            sender.on_segment(0, &duplicate(last));
            drain(&mut sender);
        }
        assert!(sender.view().in_fast_recovery, "{}", profile.name);
        let told = sender.advisor().0;
        sender.on_segment(0, &ack(5, 0, 1));
        assert_eq!(sender.advisor().0, told, "{}: ACK 5 after ACK 8", profile.name);
        sender.on_segment(0, &duplicate(13));
        assert_eq!(sender.advisor().0, told + 1, "{}", profile.name);
    }
}

/// algorithms.md, 2.4: in RTO recovery the head is sent again because the path was down, and with it whatever had
/// been sent after the timeout. Recovery then goes on from the head, as after an expiry.
#[test]
fn a_head_resent_in_rto_recovery_goes_back_to_it() {
    for profile in PROFILES {
        let mut sender = Sender::new(&profile, 0, ());
        sender.open(1000);
        let drain = |sender: &mut Sender<()>, now| {
            std::iter::from_fn(|| sender.poll_transmit(now)).map(|sent| sent.segment.seq).collect::<Vec<_>>()
        };
        drain(&mut sender, 0);
        for next in 1..=16 {
            sender.on_segment(0, &ack(next, 0, 1));
            drain(&mut sender, 0);
        }
        let expiry = sender.deadline().expect("a running timer");
        assert!(sender.on_timer(expiry));
        assert_eq!(drain(&mut sender, expiry), [16], "{}", profile.name);
        // The resends go on to 18 and are lost.
        sender.on_segment(expiry, &ack(17, expiry, 1));
        assert_eq!(drain(&mut sender, expiry), [17, 18], "{}", profile.name);
        let advice =
            Advice { retransmit_head: true, rearm_timer: true, cwnd: Some(256), ..Advice::default() };
        sender.enact(expiry, &advice);
        assert_eq!(drain(&mut sender, expiry), [17], "{}", profile.name);
        sender.on_segment(expiry, &ack(18, expiry, 1));
        assert_eq!(drain(&mut sender, expiry), [18, 19], "{}: not from 19", profile.name);
    }
}

/// Suspends when told to, resumes, asks for packets beyond the window; its own deadline is the sender's, too.
#[derive(Clone, Default)]
struct Conductor {
    wakes: Option<Nanos>,
    woken: u32,
}

impl Advisor for Conductor {
    fn deadline(&self) -> Option<Nanos> {
        self.wakes
    }
    fn on_deadline(&mut self, _now: Nanos, _view: &View) -> Advice {
        self.wakes = None;
        self.woken += 1;
        Advice { send_new: true, beyond_window: true, ..Advice::default() }
    }
}

/// On every stack a suspended sender has no timer, ACKs neither move its window nor let anything out, and duplicates
/// count for nothing. Advice that asks for packets sends them beyond cwnd and rwnd. Once resumed the sender is as it
/// was, its timer running.
#[test]
fn a_suspended_sender_does_what_it_is_told_and_nothing_else() {
    for profile in PROFILES {
        let mut sender = Sender::new(&profile, 0, Conductor::default());
        let drain = |sender: &mut Sender<Conductor>, now| {
            std::iter::from_fn(|| sender.poll_transmit(now)).map(|sent| sent.segment.seq).collect::<Vec<_>>()
        };
        sender.open(1000);
        drain(&mut sender, 0);
        sender.on_segment(100 * MS, &ack(1, 100 * MS, 1));
        let sent = drain(&mut sender, 100 * MS);
        let before = sender.view();
        sender.enact(110 * MS, &Advice { suspend: true, ..Advice::default() });
        assert_eq!((sender.deadline(), drain(&mut sender, 110 * MS)), (None, vec![]), "{}", profile.name);

        let closed = Segment { window: 0, ..ack(2, 200 * MS, 100) };
        sender.on_segment(200 * MS, &closed);
        for _ in 0..5 {
            sender.on_segment(210 * MS, &closed);
        }
        let after = sender.view();
        assert_eq!(
            (after.snd_una, after.cwnd, after.ssthresh),
            (2, before.cwnd, before.ssthresh),
            "{}",
            profile.name
        );
        assert_eq!((sender.deadline(), drain(&mut sender, 210 * MS)), (None, vec![]), "{}", profile.name);
        assert!(!after.in_fast_recovery && sender.counters().fast_retransmits == 0, "{}", profile.name);

        sender.advisor().wakes = Some(300 * MS);
        assert_eq!(sender.deadline(), Some(300 * MS));
        assert!(!sender.on_timer(300 * MS), "no retransmission timer");
        let next = *sent.last().unwrap() + 1;
        assert_eq!(
            (drain(&mut sender, 300 * MS), sender.advisor().woken),
            (vec![next], 1),
            "{}",
            profile.name
        );
        assert_eq!(sender.deadline(), None);

        sender.enact(400 * MS, &Advice { resume: true, ..Advice::default() });
        assert!(sender.deadline().is_some_and(|deadline| deadline > 400 * MS), "{}", profile.name);
        sender.on_segment(500 * MS, &ack(next, 500 * MS, 300));
        assert!(
            !drain(&mut sender, 500 * MS).is_empty() && sender.view().cwnd > before.cwnd,
            "{}",
            profile.name
        );
    }
}

/// A sender of a kernel's with 1000 packets. The answer to its SYN came at `at`, and its first window has left.
fn established<A: Advisor>(advisor: A, at: Nanos) -> LinuxSender<A> {
    let mut sender = LinuxSender::new(&LINUX_6_12, LINUX_6_12.kernel.expect("a kernel"), advisor);
    sender.open(1000);
    transmitted(&mut sender, 0);
    sender.on_segment(at, &Segment { syn: true, ..ack(1, at, 0) });
    transmitted(&mut sender, at);
    sender
}

/// All that may leave now.
fn transmitted<A: Advisor>(sender: &mut LinuxSender<A>, now: Nanos) -> Vec<u32> {
    std::iter::from_fn(|| sender.poll_transmit(now)).map(|sent| sent.segment.seq).collect()
}

fn until_timeout<A: Advisor>(sender: &mut LinuxSender<A>) {
    while !sender.in_rto_recovery() {
        let now = sender.deadline().expect("a timer runs");
        sender.on_timer(now);
        transmitted(sender, now);
    }
}

/// Answers each duplicate ACK in fast recovery by a new packet, and lets nothing else leave; or not.
#[derive(Clone, Default)]
struct Generous(bool);

impl Advisor for Generous {
    fn listening(&self) -> bool {
        true
    }
    fn on_dup_ack(&mut self, _view: &View) -> Advice {
        Advice { send_new: self.0, cwnd: Some(256), ..Advice::default() }
    }
}

/// algorithms.md, 3.3 (c): a kernel's stack, too, sends one new packet for a duplicate ACK, whatever cwnd says.
#[test]
fn a_kernel_answers_a_duplicate_by_a_new_packet() {
    for sends in [false, true] {
        let mut sender = established(Generous(sends), 100 * MS);
        let duplicate = |sender: &mut LinuxSender<Generous>, now, last: u32| {
            let mut repeated = ack(1, now, 100);
            repeated.sack.push(2, last + 1);
            sender.on_segment(now, &repeated);
            transmitted(sender, now)
        };
        for last in 2..=6 {
            duplicate(&mut sender, 250 * MS, last);
        }
        assert!(sender.view().in_fast_recovery);
        sender.enact(250 * MS, &KernelAdvice { hold_window: Some(true), ..KernelAdvice::default() }.into());
        transmitted(&mut sender, 250 * MS);
        let next = sender.snd_max();
        let expected = if sends { vec![next] } else { vec![] };
        assert_eq!(duplicate(&mut sender, 251 * MS, 7), expected);
    }
}

/// In recovery from a timeout Linux starts the timer when packet 1 is acknowledged, at 2 s; its jiffy is 4 ms. A later
/// RTO counts from there, whenever it becomes known, and never ends in the past.
#[test]
fn a_kernel_extends_its_timer_from_the_last_start() {
    let settings = LINUX_6_12.kernel.expect("a kernel");
    let clock = Clock::new(settings.hz, settings.phase);
    let fires_at = |now: Nanos, wait: u64| clock.at(fires(clock.jiffies(now) + wait, clock.jiffies(now)));
    for (least, heard, expected) in [
        (5_000, 2_100, fires_at(2_100 * MS, 1_225)), // 5 s after 2 s
        (400, 2_100, fires_at(2_100 * MS, 75)),
        (210, 2_240, fires_at(2_240 * MS, 0)),
    ] {
        let mut sender = established((), MS);
        until_timeout(&mut sender);
        // The head was sent twice, so that its ACK is no sample: the back-off of RTO 201 ms stays.
        sender.on_segment(2_000 * MS, &Segment { timestamps: None, ..ack(2, 2_000 * MS, 0) });
        transmitted(&mut sender, 2_000 * MS);
        assert!(sender.in_rto_recovery());
        let advice = Advice {
            min_rto: Some(MinRto::AtLeast(least * MS)),
            clear_backoff: true,
            extend_timer: true,
            ..Advice::default()
        };
        sender.enact(heard * MS, &advice);
        assert_eq!(sender.timing().1, (least * MS).next_multiple_of(4 * MS));
        assert_eq!(sender.deadline(), Some(expected), "{least} ms");
    }
}

/// policy.h: the back-off ends before the estimator forgets, or a RTO without samples would stay doubled.
#[test]
fn a_back_off_ends_before_the_estimator_forgets() {
    let mut sender = established((), 100 * MS);
    until_timeout(&mut sender);
    assert_eq!(sender.timing().1, 600 * MS, "100 + 200 ms, doubled");
    let advice = Advice { reinit_rtt: true, clear_backoff: true, ..Advice::default() };
    sender.enact(2_000 * MS, &advice);
    assert_eq!(sender.timing(), (None, 300 * MS, 200 * MS));
}
