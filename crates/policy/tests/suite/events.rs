//! The promises of `policy/etcp.h` hold whatever events come, in whatever order.

use proptest::prelude::*;
use segue_policy::{Action, Algorithms, Etcp, Link, Notice, Sender, Settings, What};

#[derive(Clone, Copy, Debug)]
enum Event {
    Notice(Notice),
    NewAck(u32),
    Dsack(u32, u32),
    DupAck,
    FastRetransmit,
    Timeout,
    RttSample(u32),
}

fn any_link() -> impl Strategy<Value = Link> {
    prop_oneof![(1u32..100_000, 0u32..1_000_000), (any::<u32>(), any::<u32>()),]
        .prop_map(|(rate_kbps, delay_us)| Link { rate_kbps, delay_us })
}

fn any_event() -> impl Strategy<Value = Event> {
    prop_oneof![
        (any_link(), any_link(), any::<u32>(), 0u32..2).prop_map(
            |(old_link, new_link, flows, disconnected)| Event::Notice(Notice {
                old_link,
                new_link,
                flows: flows % 9,
                disconnected,
            })
        ),
        (0u32..20).prop_map(Event::NewAck),
        (0u32..20, 0u32..20).prop_map(|(from, len)| Event::Dsack(from, len)),
        Just(Event::DupAck),
        Just(Event::FastRetransmit),
        Just(Event::Timeout),
        (0u32..40).prop_map(Event::RttSample),
    ]
}

fn any_sender() -> impl Strategy<Value = Sender> {
    (any::<u32>(), 0u32..60, any::<u32>(), 0u32..5_000_000, 0u8..2, 0u8..2).prop_map(
        |(snd_una, flight, cwnd, rto_us, in_fast_recovery, in_rto_recovery)| Sender {
            snd_una,
            snd_max: snd_una.wrapping_add(flight),
            flight,
            cwnd,
            ssthresh: cwnd,
            rto_us,
            ssthresh_saved: cwnd / 2,
            srtt_before_us: rto_us / 2,
            timeouts_since_ack: u32::from(in_rto_recovery),
            in_fast_recovery,
            in_rto_recovery,
            notified_lately: 0,
            pad: 0,
        },
    )
}

/// Requests that each kind of event may bring.
fn allowed(event: Event) -> What {
    let end_of_reordering = What::RESUME_RECOVERY | What::SET_DUPTHRESH;
    let windows = What::SET_CWND | What::SET_SSTHRESH;
    let rtt = What::REINIT_RTT | What::SET_MIN_RTO;
    match event {
        Event::Notice(_) => {
            let timer = What::REARM_TIMER | What::EXTEND_TIMER | What::CLEAR_BACKOFF;
            windows | rtt | timer | end_of_reordering | What::RETRANSMIT_HEAD
        }
        Event::NewAck(_) => windows | rtt | end_of_reordering | What::HOLD_HOLES,
        Event::Dsack(..) => What::NOTHING,
        Event::DupAck => What::SEND_NEW | What::HOLD_HOLES | What::RESUME_RECOVERY,
        Event::FastRetransmit => What::KEEP_WINDOW | What::KEEP_CWND | What::HOLD_HOLES,
        Event::Timeout => What::KEEP_SSTHRESH | What::RESUME_RECOVERY,
        Event::RttSample(_) => What::IGNORE_SAMPLE | What::SET_MIN_RTO,
    }
}

fn play(flow: &mut Etcp, settings: &Settings, tcp: &mut Sender, event: Event) -> Action {
    match event {
        Event::Notice(notice) => flow.on_notice(settings, tcp, &notice),
        Event::NewAck(advance) => {
            tcp.snd_una = tcp.snd_una.wrapping_add(advance);
            flow.on_new_ack(settings, tcp)
        }
        Event::Dsack(from, len) => {
            let left = tcp.snd_una.wrapping_sub(from);
            flow.on_dsack(settings, left, left.wrapping_add(len));
            Action::NOTHING
        }
        Event::DupAck => flow.on_dup_ack(settings, tcp),
        Event::FastRetransmit => flow.on_fast_retransmit(settings, tcp),
        Event::Timeout => flow.on_timeout(settings, tcp),
        Event::RttSample(from) => flow.on_rtt_sample(settings, tcp, tcp.snd_una.wrapping_add(from)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 3))]

    #[test]
    fn promises_hold(
        algorithms in 0u32..512,
        turned in prop::collection::vec((any::<prop::sample::Index>(), 0u32..2), 0..6),
        tcp in any_sender(),
        events in prop::collection::vec(any_event(), 1..60),
    ) {
        let mut settings = Settings::new(Algorithms(algorithms));
        for (index, value) in turned {
            let flags: Vec<_> = segue_policy::SETTINGS
                .iter().filter(|s| s.kind == segue_policy::Kind::Flag).collect();
            let knob = flags[index.index(flags.len())];
            settings.set(knob.name, &value.to_string()).expect("a flag");
        }
        let (mut flow, mut tcp) = (Etcp::default(), tcp);
        let mut holding = false;
        for event in events {
            let heard_before = flow.is_active();
            let act = play(&mut flow, &settings, &mut tcp, event);

            prop_assert_eq!(act.what.0 & !allowed(event).0, 0, "{:?} to {:?}", act, event);
            if !heard_before && !matches!(event, Event::Notice(_)) {
                prop_assert_eq!(act, Action::NOTHING);
            }
            // windows never fall below one packet, ssthresh (but for the host's own that
            // A3 restores) never below two
            if act.has(What::SET_CWND) && !matches!(event, Event::NewAck(_)) {
                prop_assert!(act.cwnd >= 256);
            }
            if act.has(What::SET_SSTHRESH) && tcp.in_rto_recovery == 0 {
                prop_assert!(act.ssthresh >= 512);
            }
            // holes are held from the fast retransmit on, and let go exactly once
            if act.has(What::RESUME_RECOVERY) {
                prop_assert!(holding && !act.has(What::HOLD_HOLES));
                holding = false;
            }
            if act.has(What::HOLD_HOLES) {
                prop_assert!(holding || matches!(event, Event::FastRetransmit));
                holding = true;
            }
            prop_assert_eq!(holding, flow.in_reordering_phase());
            // what the old path's end clears stays cleared
            if flow.old_path_drained() {
                prop_assert!(!flow.cwnd_reduced() && !flow.cwnd_reduction());
                prop_assert!(!flow.expects_reordering());
            }
        }
    }

    /// A C struct copied is a C struct: equal states and events give equal answers.
    #[test]
    fn a_copy_goes_the_same_way(
        tcp in any_sender(), events in prop::collection::vec(any_event(), 1..40),
    ) {
        let settings = Settings::scheme("etcp-v1").expect("a scheme");
        let (mut one, mut tcp_one) = (Etcp::default(), tcp);
        for event in events {
            let (mut two, mut tcp_two) = (one, tcp_one);
            prop_assert_eq!(
                play(&mut one, &settings, &mut tcp_one, event),
                play(&mut two, &settings, &mut tcp_two, event)
            );
            prop_assert_eq!(one, two);
        }
    }
}
