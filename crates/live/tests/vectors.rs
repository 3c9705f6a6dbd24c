//! What was simulated is what the kernel runs: `policy/` inside a loaded program answers like the same text in user
//! space, to the vectors of algorithms.md and to whatever else may come. Needs root, and skips elsewhere.

#[path = "../../policy/tests/common/mod.rs"]
mod common;

use bytemuck::Zeroable;
use common::vectors::vectors;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use segue_live::vectors::{Call, KernelPolicy, Vector};
use segue_policy::wire::{Acceptance, Ear, Report, ReportType};
use segue_policy::{Action, Algorithms, Etcp, Link, Notice, SETTINGS, Sender, Settings};
use segue_policy::{TCP_HO_SETTINGS, TcpHo, TcpHoSettings, Variant};
use std::mem::MaybeUninit;

/// Runs `test` on the loaded program; without the right to load one it says so.
fn in_the_kernel(test: impl FnOnce(&KernelPolicy<'_>)) {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: loading a kernel program needs root");
        return;
    }
    let mut object = MaybeUninit::uninit();
    test(&KernelPolicy::load(&mut object).expect("bpf/vectors.bpf.c loads"));
}

fn blank() -> Vector {
    Vector { set: Settings::new(Algorithms::NONE), ..Vector::zeroed() }
}

#[test]
fn every_vector_is_met_in_the_kernel() {
    in_the_kernel(|kernel| {
        for vector in vectors() {
            println!("{}", vector.name);
            let given = Vector { set: vector.settings, tcp: vector.tcp, notice: vector.notice, ..blank() };
            let left = kernel.call(Call::Notice, &given).expect("it runs");
            (vector.check)(&left.act);
            let mut flow = Etcp::default();
            let here = flow.on_notice(&vector.settings, &vector.tcp, &vector.notice);
            assert_eq!((left.act, left.flow), (here, flow));
        }
    });
}

/// Flags of the settings, and what they are turned to.
type Turned = Vec<(prop::sample::Index, u32)>;

/// One event of a sender, with its arguments.
#[derive(Clone, Copy, Debug)]
enum Event {
    Notice(Notice),
    NewAck(u32, bool),
    Dsack(u32, u32),
    DupAck,
    FastRetransmit(u32),
    Timeout,
    RttSample(u32),
}

fn any_link() -> impl Strategy<Value = Link> {
    prop_oneof![(1u32..100_000, 0u32..1_000_000), (any::<u32>(), any::<u32>())]
        .prop_map(|(rate_kbps, delay_us)| Link { rate_kbps, delay_us })
}

fn any_event() -> impl Strategy<Value = Event> {
    let notice =
        (any_link(), any_link(), 0u32..9, 0u32..2).prop_map(|(old_link, new_link, flows, disconnected)| {
            Event::Notice(Notice { old_link, new_link, flows, disconnected })
        });
    prop_oneof![
        notice,
        (0u32..20, any::<bool>()).prop_map(|(advance, dsack)| Event::NewAck(advance, dsack)),
        (0u32..20, 0u32..20).prop_map(|(from, length)| Event::Dsack(from, length)),
        Just(Event::DupAck),
        (0u32..20).prop_map(Event::FastRetransmit),
        Just(Event::Timeout),
        any::<u32>().prop_map(Event::RttSample),
    ]
}

fn any_sender() -> impl Strategy<Value = Sender> {
    let windows = (any::<u32>(), 0u32..60, any::<u32>(), any::<u32>());
    (windows, any::<u32>(), any::<u32>(), 0u32..3, 0u8..2, 0u8..2).prop_map(
        |((snd_una, flight, cwnd, ssthresh), rto_us, srtt_before_us, expiries, fast, rto)| Sender {
            snd_una,
            snd_max: snd_una.wrapping_add(flight),
            flight,
            cwnd,
            ssthresh,
            rto_us,
            ssthresh_saved: ssthresh / 2,
            srtt_before_us,
            timeouts_since_ack: expiries,
            in_fast_recovery: fast,
            in_rto_recovery: rto,
            pad: [0; 2],
        },
    )
}

/// A number of kernel runs that takes a few seconds.
fn cases(count: u32) -> TestRunner {
    TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(count) })
}

#[test]
fn enhanced_tcp_answers_alike() {
    let turned = prop::collection::vec((any::<prop::sample::Index>(), 0u32..2), 0..6);
    let sequences = (0u32..512, turned, any_sender(), prop::collection::vec(any_event(), 1..30));
    in_the_kernel(|kernel| {
        let compare = |(algorithms, turned, mut tcp, events): (u32, Turned, Sender, Vec<Event>)| {
            let mut set = Settings::new(Algorithms(algorithms));
            for (index, value) in turned {
                let flags: Vec<_> = SETTINGS.iter().filter(|s| s.kind == segue_policy::Kind::Flag).collect();
                set.set(flags[index.index(flags.len())].name, &value.to_string()).expect("a flag");
            }
            let (mut here, mut there) = (Etcp::default(), Etcp::default());
            for event in events {
                let (call, first, second) = match event {
                    Event::Notice(_) => (Call::Notice, 0, 0),
                    Event::NewAck(advance, dsack) => {
                        tcp.snd_una = tcp.snd_una.wrapping_add(advance);
                        (Call::NewAck, u32::from(dsack), 0)
                    }
                    Event::Dsack(from, length) => {
                        let left = tcp.snd_una.wrapping_sub(from);
                        (Call::Dsack, left, left.wrapping_add(length))
                    }
                    Event::DupAck => (Call::DupAck, 0, 0),
                    Event::FastRetransmit(from) => (Call::FastRetransmit, tcp.snd_una.wrapping_add(from), 0),
                    Event::Timeout => (Call::Timeout, 0, 0),
                    Event::RttSample(from) => (Call::RttSample, tcp.snd_una.wrapping_add(from), 0),
                };
                let act = match event {
                    Event::Notice(notice) => here.on_notice(&set, &tcp, &notice),
                    Event::NewAck(_, dsack) => here.on_new_ack(&set, &tcp, dsack),
                    Event::Dsack(..) => {
                        here.on_dsack(first, second);
                        Action::NOTHING
                    }
                    Event::DupAck => here.on_dup_ack(&set, &tcp),
                    Event::FastRetransmit(_) => here.on_fast_retransmit(&set, &tcp, first),
                    Event::Timeout => here.on_timeout(&set, &tcp),
                    Event::RttSample(_) => here.on_rtt_sample(&set, &tcp, first),
                };
                let notice = if let Event::Notice(notice) = event { notice } else { Notice::default() };
                let given = Vector { first, second, set, tcp, notice, flow: there, ..blank() };
                let left = kernel.call(call, &given).expect("it runs");
                prop_assert_eq!((left.act, left.flow), (act, here), "{:?}", event);
                there = left.flow;
            }
            Ok(())
        };
        cases(500).run(&sequences, compare).expect("alike");
    });
}

#[test]
fn tcp_ho_answers_alike() {
    let turned = prop::collection::vec((any::<prop::sample::Index>(), 0u32..2), 0..4);
    let sequences = (0u32..3, turned, any_sender(), prop::collection::vec(any_event(), 1..30));
    in_the_kernel(|kernel| {
        let compare = |(variant, turned, tcp, events): (u32, Turned, Sender, Vec<Event>)| {
            let mut ho_set = TcpHoSettings::new(Variant(variant));
            for (index, value) in turned {
                let flags: Vec<_> =
                    TCP_HO_SETTINGS.iter().filter(|s| s.kind == segue_policy::Kind::Flag).collect();
                ho_set.set(flags[index.index(flags.len())].name, &value.to_string()).expect("a flag");
            }
            let (mut here, mut there) = (TcpHo::default(), TcpHo::default());
            for event in events {
                let mut notice = Notice::default();
                let (call, first, act) = match event {
                    Event::Notice(heard) => {
                        notice = heard;
                        (Call::HoNotice, 0, here.on_notice(&ho_set, &tcp, &notice))
                    }
                    Event::FastRetransmit(_) => (Call::HoFastRetransmit, 0, here.on_fast_retransmit()),
                    Event::Timeout => (Call::HoTimeout, 0, here.on_timeout()),
                    Event::RttSample(rtt_us) => {
                        (Call::HoRttSample, rtt_us, here.on_rtt_sample(&ho_set, rtt_us))
                    }
                    _ => continue,
                };
                let given = Vector { first, ho_set, tcp, notice, ho: there, ..blank() };
                let left = kernel.call(call, &given).expect("it runs");
                prop_assert_eq!((left.act, left.ho), (act, here), "{:?}", event);
                there = left.ho;
            }
            Ok(())
        };
        cases(300).run(&sequences, compare).expect("alike");
    });
}

#[test]
fn reports_are_read_and_counted_alike() {
    let octets = prop::collection::vec(any::<u8>(), 12);
    let sequences = prop::collection::vec((octets, 0usize..=12, 0u32..=12), 1..20);
    in_the_kernel(|kernel| {
        let compare = |reports: Vec<(Vec<u8>, usize, u32)>| {
            let (mut here, mut there) = (Ear::new(0xbeef), Ear::new(0xbeef));
            for (number, (mut octets, sound, length)) in reports.into_iter().enumerate() {
                // A report that begins as it should; a third of them to the end.
                let good = Report {
                    kind: ReportType::Completed,
                    seq: number as u8,
                    nonce: 0xbeef,
                    link: Link { rate_kbps: 6400, delay_us: 9000 },
                }
                .encode()
                .expect("a rate");
                let (sound, length) = if number % 3 == 0 { (12, 12) } else { (sound, length) };
                octets[..sound].copy_from_slice(&good[..sound]);
                let read = Report::decode(&octets[..length as usize]);
                let given = Vector {
                    first: length,
                    second: u32::MAX,
                    ear: there,
                    octets: octets.as_slice().try_into().expect("12 octets"),
                    ..blank()
                };
                let left = kernel.call(Call::Report, &given).expect("it runs");
                match read {
                    Err(error) => prop_assert_eq!(left.answer, error as u32),
                    Ok(report) => {
                        prop_assert_eq!(left.answer, 0);
                        let counts = match here.accept(&report) {
                            Acceptance::Accepted => 0,
                            Acceptance::WrongNonce => 1,
                            Acceptance::Repeated => 2,
                        };
                        prop_assert_eq!(left.second, counts);
                        prop_assert_eq!(left.report_link, report.link);
                    }
                }
                there = left.ear;
                prop_assert_eq!(there, here);
            }
            Ok(())
        };
        cases(500).run(&sequences, compare).expect("alike");
    });
}
