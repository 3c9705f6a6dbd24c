//! The same events and octets through `policy/` in user space and in a loaded program: every answer is equal.

#[allow(missing_docs, clippy::all, unsafe_code, unused_imports)]
mod skeleton {
    include!(concat!(env!("OUT_DIR"), "/vectors.skel.rs"));
}

#[path = "../../../policy/tests/common/mod.rs"]
mod common;
mod program;

use common::close;
use common::near_vectors::{
    NearAnswer, NearEvent, near_expected, near_flow, near_rate_probe, near_sender, near_shares, near_spare,
};
use common::vectors::{HoEvent, NEAR, beliefs, grants, ho_sender, ho_trial, vectors};
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use program::{Draw, ETCP, Event, NEAR_FLOW, Program, TCP_HO};
use segue_policy::wire::{Acceptance, Capability, ReplayWindow, Report, ReportType};
use segue_policy::{
    Action, Algorithms, Etcp, Link, Notice, Out, SETTINGS, Sender, Settings, TCP_HO_SETTINGS, TcpHo,
    TcpHoSettings, Variant, believe, headers,
};
use skeleton::VectorsSkelBuilder;
use std::mem::MaybeUninit;

/// The verifier takes a second for the program: all parts share it, and find it as it is when it has just been loaded.
#[test]
#[ignore = "needs kernel"]
fn in_the_kernel_as_in_user_space() {
    type Part = fn(&mut Program<'_>);
    let parts: [(&str, Part); 11] = [
        ("granted_windows", granted_windows),
        ("the_vectors_of_the_papers", the_vectors_of_the_papers),
        ("enhanced_tcp", enhanced_tcp),
        ("a_reordering_by_hand", a_reordering_by_hand),
        ("tcp_ho", tcp_ho),
        ("a_report_that_congestion_refutes", a_report_that_congestion_refutes),
        ("near_in_one_flow", near_in_one_flow),
        ("what_is_believed", what_is_believed),
        ("the_codec_and_acceptance", the_codec_and_acceptance),
        ("windows_of_the_policy_and_of_linux", windows_of_the_policy_and_of_linux),
        ("an_ack_is_answered_when_the_queue_is_clean", an_ack_is_answered_when_the_queue_is_clean),
    ];
    let mut storage = MaybeUninit::uninit();
    let open = VectorsSkelBuilder::default().open(&mut storage).expect("it opens");
    let mut program = Program(open.load().expect("the verifier takes it"));
    let fresh = *program.globals();
    for (name, part) in parts {
        println!("{name}");
        *program.globals() = fresh;
        part(&mut program);
    }
}

/// The list that `crates/policy/tests/suite/grant.rs` plays in user space.
fn granted_windows(program: &mut Program<'_>) {
    program.tell(&Notice { old_link: NEAR, ..Notice::default() });
    for (event, arguments, answer) in grants() {
        assert_eq!(program.grant(event, arguments), answer, "{event:?} {arguments:?}");
    }
}

/// The list that `crates/policy/tests/suite/vectors.rs` plays in user space.
fn the_vectors_of_the_papers(program: &mut Program<'_>) {
    for vector in vectors() {
        println!("{}", vector.name);
        program.choose(ETCP, &vector.settings.words());
        program.run(Event::Forget);
        program.tell(&vector.notice);
        (vector.check)(&program.ask(Event::Notice, &vector.tcp, [0; 2]));
    }
}

fn enhanced_tcp(program: &mut Program<'_>) {
    let mut draw = Draw(0x5e9e);
    let mut answered = 0u32;
    for round in 0..400 {
        let mut settings =
            Settings::new([Algorithms::ETCP, Algorithms::ETCP_A5, Algorithms::ETCP_V][round % 3]);
        for setting in SETTINGS.iter().filter(|_| round % 2 == 1) {
            // Any knob the other way, some of them.
            if draw.below(4) == 0 && setting.kind == segue_policy::Kind::Flag {
                let other = if setting.default == 0 { "on" } else { "off" };
                settings.set(setting.name, other).expect("a flag");
            }
        }
        program.choose(ETCP, &settings.words());
        program.run(Event::Forget);
        let mut flow = Etcp::default();
        for step in 0..60 {
            let tcp = draw.sender();
            let near = flow.ho_point().wrapping_add(draw.below(8)).wrapping_sub(4);
            let (event, ours, theirs) = match draw.below(if step == 0 { 1 } else { 14 }) {
                0 | 1 => {
                    let notice = Notice {
                        old_link: draw.link(),
                        new_link: draw.link(),
                        flows: draw.value(6),
                        disconnected: draw.below(2),
                    };
                    program.tell(&notice);
                    let ours = flow.on_notice(&settings, &tcp, &notice);
                    (Event::Notice, ours, program.ask(Event::Notice, &tcp, [0; 2]))
                }
                2 => {
                    flow.on_dsack(&settings, near, near.wrapping_add(3));
                    program.ask(Event::Dsack, &tcp, [near, near.wrapping_add(3)]);
                    continue;
                }
                // The wrapper in Rust asks nothing of a flow that has heard nothing.
                _ if !flow.is_active() => continue,
                3..=5 => {
                    let tcp = Sender { snd_una: near, ..tcp };
                    let ours = flow.on_new_ack(&settings, &tcp);
                    (Event::NewAck, ours, program.ask(Event::NewAck, &tcp, [0; 2]))
                }
                6..=9 => {
                    let ours = flow.on_dup_ack(&settings, &tcp);
                    (Event::DupAck, ours, program.ask(Event::DupAck, &tcp, [0; 2]))
                }
                10 | 11 => {
                    let tcp = Sender { snd_una: near, ..tcp };
                    let ours = flow.on_fast_retransmit(&settings, &tcp);
                    (Event::FastRetransmit, ours, program.ask(Event::FastRetransmit, &tcp, [0; 2]))
                }
                12 => {
                    let ours = flow.on_timeout(&settings, &tcp);
                    (Event::Timeout, ours, program.ask(Event::Timeout, &tcp, [0; 2]))
                }
                _ => {
                    let ours = flow.on_rtt_sample(&settings, &tcp, near);
                    (Event::Sample, ours, program.ask(Event::Sample, &tcp, [near, 0]))
                }
            };
            answered += u32::from(ours.what.0 != 0);
            assert_eq!(ours, theirs, "round {round}, step {step}: {event:?} of {tcp:?} with {settings:?}");
        }
    }
    assert!(answered > 3000, "only {answered} events asked for something");
}

/// By hand, algorithms.md 3.3: 2000/50 to 54000/2 with 12 under way. Then come the fast retransmit, duplicate ACKs
/// beyond dupthresh_ho = 27, the DSACK of the segment that was resent, and the ACK that ends the handoff.
fn a_reordering_by_hand(program: &mut Program<'_>) {
    let settings = Settings::new(Algorithms::ETCP_V);
    program.choose(ETCP, &settings.words());
    program.run(Event::Forget);
    let mut flow = Etcp::default();
    let tcp = Sender {
        snd_una: 100,
        snd_max: 112,
        flight: 12,
        cwnd: 12 * 256,
        ssthresh: 1000 * 256,
        rto_us: 200_000,
        ..Sender::default()
    };
    let notice = Notice {
        old_link: Link { rate_kbps: 2000, delay_us: 50_000 },
        new_link: Link { rate_kbps: 54_000, delay_us: 2000 },
        flows: 1,
        disconnected: 0,
    };
    program.tell(&notice);
    let told = flow.on_notice(&settings, &tcp, &notice);
    assert_eq!(told, program.ask(Event::Notice, &tcp, [0; 2]));
    let held = flow.on_fast_retransmit(&settings, &Sender { snd_una: 100, ..tcp });
    assert!(held.has(segue_policy::What::HOLD_HOLES), "{held:?}");
    assert_eq!(held, program.ask(Event::FastRetransmit, &tcp, [0; 2]));
    let tcp = Sender { in_fast_recovery: 1, cwnd: 6 * 256, ..tcp };
    let mut returned = 0;
    for _ in 0..30 {
        let act = flow.on_dup_ack(&settings, &tcp);
        returned += u32::from(act.has(segue_policy::What::RESUME_RECOVERY));
        assert_eq!(act, program.ask(Event::DupAck, &tcp, [0; 2]));
    }
    assert_eq!(returned, 1, "(c) ends once");
    flow.on_dsack(&settings, 100, 101);
    program.ask(Event::Dsack, &tcp, [100, 101]);
    let tcp = Sender { snd_una: 112, ..tcp };
    assert_eq!(flow.on_new_ack(&settings, &tcp), program.ask(Event::NewAck, &tcp, [0; 2]));
}

fn tcp_ho(program: &mut Program<'_>) {
    let mut draw = Draw(0x7c9);
    let mut answered = 0u32;
    for round in 0..300 {
        let mut settings =
            TcpHoSettings::new([Variant::TCP_HO, Variant::IMMEDIATE, Variant::AGGRESSIVE][round % 3]);
        for setting in TCP_HO_SETTINGS {
            if draw.below(3) == 0 && setting.kind == segue_policy::Kind::Flag {
                let other = if setting.default == 0 { "on" } else { "off" };
                settings.set(setting.name, other).expect("a flag");
            }
        }
        program.choose(TCP_HO, &settings.words());
        program.run(Event::Forget);
        let mut flow = TcpHo::default();
        for step in 0..40 {
            let tcp = draw.sender();
            let rtt = draw.value(2_000_000);
            let (ours, theirs) = match draw.below(8) {
                0 | 1 => {
                    let notice =
                        Notice { old_link: draw.link(), new_link: draw.link(), flows: 1, disconnected: 1 };
                    program.tell(&notice);
                    (flow.on_notice(&settings, &tcp, &notice), program.ask(Event::Notice, &tcp, [0; 2]))
                }
                2 => {
                    let ours = flow.on_timeout(&settings, &tcp);
                    (ours, program.ask(Event::Timeout, &tcp, [0; 2]))
                }
                3 => {
                    let ours = flow.on_fast_retransmit(&settings, &tcp);
                    (ours, program.ask(Event::FastRetransmit, &tcp, [0; 2]))
                }
                _ => (flow.on_rtt_sample(&settings, rtt), program.ask(Event::Sample, &tcp, [0, rtt])),
            };
            answered += u32::from(ours.what.0 != 0);
            assert_eq!(ours, theirs, "round {round}, step {step}");
        }
    }
    assert!(answered > 1000, "only {answered} events asked for something");
}

/// The list that `crates/policy/tests/suite/tcp_ho.rs` plays in user space.
fn a_report_that_congestion_refutes(program: &mut Program<'_>) {
    program.choose(TCP_HO, &TcpHoSettings::new(Variant::TCP_HO).words());
    program.run(Event::Forget);
    for (index, step) in ho_trial().into_iter().enumerate() {
        let tcp = ho_sender(step.cwnd);
        let act = match step.event {
            HoEvent::Notice(rate_kbps) => {
                program.tell(&Notice { new_link: Link { rate_kbps, delay_us: 0 }, ..Notice::default() });
                program.ask(Event::Notice, &tcp, [0; 2])
            }
            HoEvent::Sample(us) => program.ask(Event::Sample, &tcp, [0, us]),
            HoEvent::FastRetransmit => program.ask(Event::FastRetransmit, &tcp, [0; 2]),
            HoEvent::Timeout => program.ask(Event::Timeout, &tcp, [0; 2]),
        };
        let bits = step.rules.iter().map(|rule| 1 << rule).sum::<u32>();
        assert_eq!(act.rules, bits, "step {index}, {:?}", step.event);
        assert_eq!(act.has(segue_policy::What::SET_SSTHRESH), step.ssthresh.is_some(), "step {index}");
        close(f64::from(act.ssthresh) / 256.0, step.ssthresh.unwrap_or(0.0), 1.0 / 256.0);
    }
}

/// The lists that `crates/policy/tests/suite/near.rs` plays in user space, and events at random.
fn near_in_one_flow(program: &mut Program<'_>) {
    program.choose(NEAR_FLOW, &[]);
    program.run(Event::Forget);
    let all = [near_flow(), near_rate_probe(), near_shares(), near_spare(), near_expected()].concat();
    for (step, (event, answer)) in all.into_iter().enumerate() {
        let mut ask = |event, una| NearAnswer::of(&program.ask(event, &near_sender(una, 5), [0; 2]));
        let found = match event {
            NearEvent::NewAck(una) => ask(Event::NewAck, una),
            NearEvent::FastRetransmit(una) => ask(Event::FastRetransmit, una),
            NearEvent::Timeout(una) => ask(Event::Timeout, una),
            NearEvent::Send(out) => program.claim(&out).map_or_else(NearAnswer::Ends, NearAnswer::Lasts),
            NearEvent::Expected(notice, flight) => {
                program.tell(&notice);
                NearAnswer::of(&program.ask(Event::Expected, &near_sender(100, flight), [0; 2]))
            }
            NearEvent::Notice(notice, flight) => {
                program.tell(&notice);
                NearAnswer::of(&program.ask(Event::Notice, &near_sender(100, flight), [0; 2]))
            }
        };
        assert_eq!(found, answer, "step {step}: {event:?}");
    }
    let mut draw = Draw(0x4ea5);
    let mut lasted = 0u32;
    for round in 0..200 {
        program.run(Event::Forget);
        let mut flow = headers::near().start();
        for step in 0..40 {
            let tcp = draw.sender();
            if step == 0 || draw.below(10) == 0 {
                let notice = Notice {
                    old_link: draw.link(),
                    new_link: draw.link(),
                    flows: draw.value(6),
                    disconnected: draw.below(2),
                };
                program.tell(&notice);
                let (ours, theirs) = match draw.below(4) {
                    0 => (flow.on_expected(&tcp, &notice), program.ask(Event::Expected, &tcp, [0; 2])),
                    _ => (flow.on_notice(&tcp, &notice), program.ask(Event::Notice, &tcp, [0; 2])),
                };
                assert_eq!(ours, theirs, "round {round}: {notice:?}");
                continue;
            }
            match draw.below(5) {
                0 => assert_eq!(flow.on_new_ack(&tcp), program.ask(Event::NewAck, &tcp, [0; 2])),
                1 => {
                    let ours = flow.on_fast_retransmit(&tcp);
                    assert_eq!(ours, program.ask(Event::FastRetransmit, &tcp, [0; 2]));
                }
                2 => assert_eq!(flow.on_timeout(&tcp), program.ask(Event::Timeout, &tcp, [0; 2])),
                _ => {
                    let out = Out {
                        snd_una: draw.value(1 << 20),
                        unit: draw.value(1500),
                        marked: draw.value(200),
                        lost: draw.value(200),
                        others: draw.value(6),
                        others_behind: draw.value(400) as i32 - 200,
                        others_weight: draw.value(2000),
                        granted: draw.value(600),
                        snd_max: draw.value(1 << 20),
                        sacks: std::array::from_fn(|_| [draw.value(1 << 20), draw.value(1 << 20)]),
                        elapsed_ms: draw.value(1000),
                        rtt_us: draw.value(100_000),
                        sent_us: draw.value(100_000),
                        now_us: draw.value(100_000),
                        sent: draw.value(20),
                    };
                    let ours = flow.claim(&out);
                    assert_eq!(ours, program.claim(&out), "round {round}, step {step}: {out:?}");
                    lasted += u32::from(ours.is_ok());
                }
            }
        }
    }
    assert!(lasted > 300, "only {lasted} claims lasted");
}

fn what_is_believed(program: &mut Program<'_>) {
    for belief in beliefs() {
        let (proven, asked) = (common::packets(belief.proven), belief.action(belief.asked));
        let theirs = program.believe(&belief.tcp, belief.notice.disconnected, proven, asked);
        assert_eq!(theirs, (belief.action(belief.believed), belief.grant), "{}", belief.name);
    }
    let mut draw = Draw(0xbe1);
    for step in 0..2000 {
        let tcp = draw.sender();
        let notice = Notice { disconnected: draw.below(2), ..Notice::default() };
        let asked = Action {
            what: segue_policy::What(draw.below(1 << 17)),
            cwnd: draw.value(400 * 256),
            ssthresh: draw.value(400 * 256),
            ..Action::NOTHING
        };
        let proven = draw.value(100 * 256);
        let theirs = program.believe(&tcp, notice.disconnected, proven, asked);
        assert_eq!(believe(&tcp, &notice, proven, asked), theirs, "step {step}");
    }
}

fn the_codec_and_acceptance(program: &mut Program<'_>) {
    let mut draw = Draw(0x1d);
    let (mut good, mut bad) = (0, 0);
    for _ in 0..4000 {
        // A true report with some octets changed, cut or grown.
        let kind = [ReportType::First, ReportType::Completed, ReportType::Expected][draw.below(3) as usize];
        let report = Report { kind, seq: draw.next() as u8, nonce: draw.next() as u16, link: draw.link() };
        {
            let to = &mut program.globals().report;
            to.link.rate_kbps = report.link.rate_kbps;
            to.link.delay_us = report.link.delay_us;
            to.nonce = report.nonce;
            to.seq = report.seq;
            to.r#type = report.kind as u8;
        }
        program.run(Event::EncodeReport);
        let theirs = (program.globals().answer, program.globals().octets[..12].to_vec());
        let mut octets = match report.encode() {
            Ok(octets) => {
                assert_eq!(theirs, (0, octets.to_vec()), "{report:?}");
                octets.to_vec()
            }
            Err(error) => {
                assert_eq!(theirs.0, error as u32, "{report:?}");
                continue;
            }
        };
        for _ in 0..draw.below(3) {
            let at = draw.below(12) as usize;
            octets[at] = draw.next() as u8;
        }
        octets.resize([12, 12, 12, 8, 0, 40][draw.below(6) as usize], 0);
        program.globals().octets[..octets.len()].copy_from_slice(&octets);
        program.globals().argument[0] = octets.len() as u32;

        program.run(Event::DecodeReport);
        let globals = program.globals();
        match Report::decode(&octets) {
            Ok(report) => {
                good += 1;
                assert_eq!(globals.answer, 0);
                let read = &globals.report;
                assert_eq!(
                    (read.seq, read.nonce, read.r#type),
                    (report.seq, report.nonce, report.kind as u8)
                );
                assert_eq!(read.link.rate_kbps, report.link.rate_kbps);
                assert_eq!(read.link.delay_us, report.link.delay_us);
            }
            Err(error) => {
                bad += 1;
                assert_eq!(globals.answer, error as u32, "{octets:?}");
            }
        }
        program.run(Event::DecodeCapability);
        let globals = program.globals();
        let theirs = (globals.answer, globals.capability.nonce, globals.capability.flags);
        match Capability::decode(&octets) {
            Ok(capability) => assert_eq!(theirs, (0, capability.nonce, capability.flags)),
            Err(error) => assert_eq!(theirs.0, error as u32),
        }
        let capability = Capability { flags: draw.next() as u8, nonce: draw.next() as u16 };
        globals.capability.flags = capability.flags;
        globals.capability.nonce = capability.nonce;
        program.run(Event::EncodeCapability);
        assert_eq!(program.globals().octets[..8], capability.encode());
    }
    assert!(good > 300 && bad > 300, "{good} good, {bad} bad");

    let mut window = ReplayWindow::new(7);
    program.globals().replay.nonce = 7;
    for _ in 0..2000 {
        let report = Report {
            kind: ReportType::Completed,
            seq: draw.next() as u8,
            nonce: if draw.below(4) == 0 { 8 } else { 7 },
            link: Link { rate_kbps: 1, delay_us: 1 },
        };
        let to = &mut program.globals().report;
        to.seq = report.seq;
        to.nonce = report.nonce;
        program.run(Event::Accept);
        let ours = match window.accept(&report) {
            Acceptance::Accepted => 0,
            Acceptance::WrongNonce => 1,
            Acceptance::Repeated => 2,
        };
        assert_eq!(program.globals().answer, ours);
    }
}

/// bpf/sender/units.h: 1/256 packet is rounded to whole packets, without running over at the end of 32 bits. The value
/// for Linux's infinite ssthresh (0x7fffffff packets are beyond 32 bits) comes back as such.
fn windows_of_the_policy_and_of_linux(program: &mut Program<'_>) {
    let mut ask = |event, value| {
        program.globals().argument = [value, 0, 0, 0];
        program.run(event);
        program.globals().answer
    };
    for (window, packets) in [
        (0, 0),
        (127, 0),
        (128, 1),
        (256, 1),
        (383, 1),
        (384, 2),
        (0xffff_ff7f, 0xff_ffff),
        // 0.5 packets below 2^24 of them
        (0xffff_ff80, 0x100_0000),
        (0xffff_fffe, 0x100_0000),
        (0xffff_ffff, 0x7fff_ffff),
    ] {
        assert_eq!(ask(Event::WholePackets, window), packets, "{window:#x}");
    }
    for packets in [1, 2, 10, 0xff_ffff, 0x7fff_ffff] {
        let window = ask(Event::Windows, packets);
        assert_eq!(ask(Event::WholePackets, window), packets, "{window:#x}");
    }
}

/// `enum segue_ack_call`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    InAckEvent,
    PktsAcked,
}

/// The calls that tcp_ack() makes for an ACK that leaves `after` of `before` packets under way, each with the
/// packets_out that it sees. They are those of Linux 6.15, and of kernels without its change.
fn calls(cleaned_first: bool, before: u32, after: u32) -> Vec<(Call, u32)> {
    let cleaned = (before > 0).then_some((Call::PktsAcked, after));
    if cleaned_first {
        cleaned.into_iter().chain([(Call::InAckEvent, after)]).collect()
    } else {
        [(Call::InAckEvent, before)].into_iter().chain(cleaned).collect()
    }
}

/// bpf/sender/ack_order.h: on both kinds of kernels each ACK is answered once, when the retransmit queue is as the
/// ACK leaves it.
fn an_ack_is_answered_when_the_queue_is_clean(program: &mut Program<'_>) {
    for cleaned_first in [true, false] {
        program.globals().ack_cleaned_first = 0;
        program.globals().ack_half = 0;
        // Nothing under way, a plain ACK, a duplicate, the last ACK, and many at random.
        let mut draw = Draw(0xac6);
        let random = (0..200).map(|_| {
            let before = draw.below(4);
            (before, draw.below(before + 1))
        });
        let acks: Vec<_> = [(0, 0), (10, 8), (8, 8), (1, 0), (0, 0)].into_iter().chain(random).collect();
        for (index, (before, after)) in acks.into_iter().enumerate() {
            let mut seen = Vec::new();
            for (call, packets_out) in calls(cleaned_first, before, after) {
                // The caller asks no more about pkts_acked, once it is known to come first.
                if call == Call::PktsAcked && program.globals().ack_cleaned_first != 0 {
                    continue;
                }
                program.globals().argument = [call as u32, packets_out, 0, 0];
                program.run(Event::AnswerNow);
                if program.globals().answer != 0 {
                    seen.push(packets_out);
                }
            }
            assert_eq!(seen, [after], "ACK {index}, {before} -> {after}, cleaned first: {cleaned_first}");
        }
        assert_eq!(program.globals().ack_cleaned_first != 0, cleaned_first, "what is known of the kernel");
    }
}
