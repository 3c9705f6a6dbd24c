//! Handoff Notification under any order of events: the buffer's size is kept, nothing ends for ever, and without a
//! Start it is its stack.

use proptest::prelude::*;
use segue_handoff::hn::{HandoffNotification, State};
use segue_handoff::hn_option::{LARGEST_PBS, LONGEST_EHD, PBS_UNIT};
use segue_handoff::{Announcement, Announcer, Encoding, HandoffScheme, Listener, News, Start};
use segue_tcp::profile::{INET_RENO, PROFILES};
use segue_tcp::segment::{CarriedOption, SackList, Timestamps};
use segue_tcp::{Advisor, Nanos, Segment, Sender, StackProfile};

const MS: Nanos = 1_000_000;

fn ack(next: u32, now: Nanos, window: u32) -> Segment {
    Segment {
        seq: 1,
        ack: next,
        window,
        payload: 0,
        syn: false,
        push: false,
        has_ack: true,
        detail: Default::default(),
        ecn: Default::default(),
        sack: SackList::default(),
        timestamps: Some(Timestamps {
            value: (now / MS) as u32,
            echo: (now / MS).saturating_sub(50).max(1) as u32,
        }),
        option: CarriedOption::default(),
    }
}

#[derive(Clone, Copy, Debug)]
enum Event {
    /// Acknowledges part of what is outstanding, in 1/255.
    Ack(u8),
    Duplicate,
    /// So many packets from here on.
    Window(u32),
    Start(Start),
    Finish,
    Wait(Nanos),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let start =
        (0..=LONGEST_EHD, PBS_UNIT..LARGEST_PBS / 64).prop_map(|(ehd, pbs)| Event::Start(Start { ehd, pbs }));
    let short = (0..1000 * MS, PBS_UNIT..200_000).prop_map(|(ehd, pbs)| Event::Start(Start { ehd, pbs }));
    let event = prop_oneof![
        8 => any::<u8>().prop_map(Event::Ack),
        2 => Just(Event::Duplicate),
        1 => (0u32..100).prop_map(Event::Window),
        1 => start,
        2 => short,
        1 => Just(Event::Finish),
        6 => (0..800 * MS).prop_map(Event::Wait),
    ];
    proptest::collection::vec(event, 1..120)
}

/// A sender whose connection has just been opened; packets go nowhere.
fn open<A: Advisor>(profile: &StackProfile, advisor: A) -> Sender<A> {
    let mut sender = Sender::new(profile, 0, advisor);
    sender.open(1_000_000);
    while sender.poll_transmit(0).is_some() {}
    sender.on_segment(100 * MS, &ack(1, 100 * MS, profile.receive_window));
    while sender.poll_transmit(100 * MS).is_some() {}
    sender
}

/// Bytes sent, or the packet with which it never stopped.
fn drain<A: Advisor>(sender: &mut Sender<A>, now: Nanos) -> u64 {
    let sent = std::iter::from_fn(|| sender.poll_transmit(now)).take(100_000).count();
    assert!(sent < 100_000, "it never stops");
    sent as u64 * u64::from(sender.profile().mss)
}

proptest! {
    /// Packets sent between HO Start and the end of HANDOFF are at most PBS, whatever comes. HANDOFF ends. Whenever
    /// something is outstanding, a timer runs that will do something about it.
    #[test]
    fn never_beyond_the_buffer_and_never_for_ever(stack in 0..PROFILES.len(), events in events()) {
        let profile = PROFILES[stack];
        let mut sender = open(&profile, HandoffNotification::default());
        let mut now = 100 * MS;
        let mut window = profile.receive_window;
        // The receiver's window as the sender knows it.
        let mut told = window;
        let mut allowed = None;
        for event in events {
            match event {
                Event::Ack(part) => {
                    let outstanding = sender.snd_max() - sender.snd_una();
                    let next = sender.snd_una() + (u64::from(outstanding) * u64::from(part) / 255) as u32;
                    sender.on_segment(now, &ack(next, now, window));
                    told = window;
                }
                Event::Duplicate => {
                    sender.on_segment(now, &ack(sender.snd_una(), now, window));
                    told = window;
                }
                Event::Window(packets) => window = packets,
                Event::Start(start) => {
                    let view = sender.view();
                    let before = sender.advisor().state();
                    let advice = sender.advisor().on_start(now, &view, &start);
                    sender.enact(now, &advice);
                    if before == State::Normal {
                        allowed = Some(start.pbs);
                    }
                }
                Event::Finish => {
                    let view = sender.view();
                    let advice = sender.advisor().on_finish(&view);
                    sender.enact(now, &advice);
                }
                Event::Wait(time) => {
                    let until = now + time;
                    while let Some(due) = sender.deadline().filter(|&due| due <= until) {
                        prop_assert!(due >= now);
                        now = due;
                        sender.on_timer(now);
                        let handoff = matches!(sender.advisor().state(), State::Handoff { .. });
                        let sent = drain(&mut sender, now);
                        if handoff {
                            let left = allowed.unwrap();
                            prop_assert!(sent <= left, "{} bytes where {} fit", sent, left);
                            allowed = Some(left - sent);
                        }
                    }
                    now = until;
                }
            }
            let handoff = matches!(sender.advisor().state(), State::Handoff { .. });
            let sent = drain(&mut sender, now);
            prop_assert!(!handoff || sent == 0, "in HANDOFF only the pace sends");
        }
        // HANDOFF ends by its own timer, and what is outstanding is sent again sooner or later.
        let limit = now + LONGEST_EHD + 200_000 * MS;
        let timeouts = sender.counters().timeouts;
        let outstanding = sender.snd_max() > sender.snd_una();
        while let Some(due) = sender.deadline().filter(|&due| due <= limit) {
            sender.on_timer(due);
            drain(&mut sender, due);
        }
        let in_handoff = matches!(sender.advisor().state(), State::Handoff { .. });
        prop_assert!(!in_handoff);
        if outstanding && told > 0 && sender.view().flight > 0 {
            prop_assert!(sender.counters().timeouts > timeouts);
        }
    }

    /// Without a Start: the stack, bit by bit.
    #[test]
    fn without_a_start_it_is_its_stack(stack in 0..PROFILES.len(), events in events()) {
        let profile = PROFILES[stack];
        let mut with = open(&profile, HandoffNotification::default());
        let mut without = open(&profile, ());
        let mut now = 100 * MS;
        let mut window = profile.receive_window;
        for event in events {
            match event {
                Event::Ack(part) => {
                    let outstanding = without.snd_max() - without.snd_una();
                    let next = without.snd_una() + (u64::from(outstanding) * u64::from(part) / 255) as u32;
                    with.on_segment(now, &ack(next, now, window));
                    without.on_segment(now, &ack(next, now, window));
                }
                Event::Duplicate => {
                    with.on_segment(now, &ack(with.snd_una(), now, window));
                    without.on_segment(now, &ack(without.snd_una(), now, window));
                }
                Event::Window(packets) => window = packets,
                Event::Start(_) => {}
                Event::Finish => {
                    let view = with.view();
                    let advice = with.advisor().on_finish(&view);
                    prop_assert_eq!(advice, segue_tcp::Advice::default());
                }
                Event::Wait(time) => {
                    let until = now + time;
                    while let Some(due) = with.deadline().filter(|&due| due <= until) {
                        let expired = with.on_timer(due);
                        let own = without.deadline().is_some_and(|own| own <= due);
                        prop_assert_eq!(expired, own && without.on_timer(due));
                        prop_assert_eq!(drain(&mut with, due), drain(&mut without, due));
                    }
                    now = until;
                }
            }
            prop_assert_eq!(drain(&mut with, now), drain(&mut without, now));
            prop_assert_eq!(with.view(), without.view());
        }
    }
}

/// Options that are copied, cut short, of a stranger, or in the wrong order.
#[test]
fn announcements_count_once_and_only_from_this_connection() {
    let start = Announcement::Start(Start { ehd: 640 * MS, pbs: 64_000 });
    let (mut mobile, mut ear) = (Announcer::new(7), Listener::new(7));
    let option = mobile.announce(start, Encoding::Quantised);
    assert_eq!(ear.listen(option.as_slice(), 1, true), Some(News::Announcement(start)));
    assert_eq!(ear.listen(option.as_slice(), 1, true), None, "the second copy");
    let finish = mobile.announce(Announcement::Finish, Encoding::Quantised);
    for cut in 0..finish.as_slice().len() {
        assert_eq!(ear.listen(&finish.as_slice()[..cut], 1, true), None, "cut to {cut}");
    }
    let stranger = Announcer::new(8).announce(start, Encoding::Exact);
    assert_eq!(ear.listen(stranger.as_slice(), 1, true), None);
    assert_eq!(ear.listen(finish.as_slice(), 1, true), Some(News::Announcement(Announcement::Finish)));
    assert_eq!(ear.listen(option.as_slice(), 1, true), None, "a Start that comes after its Finish");
    let heard = ear.heard();
    assert_eq!((heard.accepted, heard.repeated, heard.refused), (2, 2, 1 + finish.as_slice().len() as u32));
}

/// 5.1: what cannot be told is not sent.
#[test]
fn a_buffer_below_a_kilobyte_is_not_told() {
    let start = Announcement::Start(Start { ehd: 0, pbs: 999 });
    for encoding in [Encoding::Quantised, Encoding::Exact] {
        assert!(Announcer::new(7).announce(start, encoding).is_empty());
    }
}

/// fmip-vbar (5.3): of the last interval of 0.5 s in which anything was sent.
#[test]
fn fmip_vbar() {
    let mut sender = open(&INET_RENO, HandoffNotification::default());
    let (mss, rtt) = (1024, 100 * MS);
    let mut now = 100 * MS;
    let mut sent = 1 + sender.view().transmissions as u64 - 1;
    for _ in 0..3 {
        now += rtt;
        sender.on_segment(now, &ack(sender.snd_max(), now, 64));
        sent += drain(&mut sender, now) / mss;
    }
    let tick = sender.deadline().unwrap();
    assert_eq!(tick, 500 * MS);
    sender.on_timer(tick);
    assert_eq!(sender.advisor().v_bar(), sent * mss * 100 / 500);
    sender.on_timer(1000 * MS); // idle: the mean of before counts
    assert_eq!(sender.advisor().v_bar(), sent * mss * 100 / 500);
}
