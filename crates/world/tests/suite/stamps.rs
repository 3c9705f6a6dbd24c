//! Time stamps from before an outage, beside notices in band: on a kernel's stack the mobile echoes none, as the agent
//! does it. Nor has a notice SACK blocks then.
//!
//! Source: docs/reference/mobile.md, 1.1; bpf/mobile/stamps.h, notice_tx.h.

use crate::support::*;
use segue_netsim::{Nanos, SECOND};
use segue_world::trace::{Trace, What, trace};
use segue_world::{Experiment, Kind, NoticeMode};

const AT: Nanos = 7 * SECOND;
const UP: Nanos = 17 * SECOND;

fn traced(stack_name: &str, flows: usize, notice: NoticeMode, scheme_name: &str) -> Trace {
    let kind = Kind::Bbm(UP - AT);
    let e = Experiment {
        kind,
        flows,
        notice,
        stack: stack(stack_name),
        ..experiment("6400kbit/9ms", "6400kbit/9ms")
    };
    trace(&e, AT, &[&scheme(scheme_name)]).remove(0)
}

/// Stamps that flow `flow`'s ACKs echo: the last stamp before the link was back, and all since then.
fn echoes(trace: &Trace, flow: u16) -> (u32, Vec<u32>) {
    let mut all: Vec<(Nanos, u32)> = Vec::new();
    for event in &trace.events {
        if let What::Sent(packet) = &event.what
            && !packet.data
            && packet.flow == flow
        {
            all.push((event.at, packet.segment.timestamps.expect("stamps").echo));
        }
    }
    let since = all.iter().position(|sent| sent.0 >= UP).expect("a notice");
    (all[since - 1].1, all[since..].iter().map(|sent| sent.1).collect())
}

/// Both copies of the notice echo nothing, nor does anything else until a stamp of the new link has come.
#[test]
fn a_kernel_s_mobile_echoes_no_stamp_from_before_the_outage() {
    for (stack_name, scheme_name) in [
        ("linux-6.12", "etcp-v1"),
        ("linux-6.18", "etcp-v1"),
        ("linux-6.12/bbr", "tcp-ho"),
        ("linux-6.12", "near"),
    ] {
        let trace = traced(stack_name, 2, NoticeMode::InBand { lost: 0 }, scheme_name);
        for flow in 0..2 {
            let (old, since) = echoes(&trace, flow);
            assert!(old > 0);
            assert_eq!(since[..2], [0, 0], "{scheme_name} on {stack_name}");
            let new = since.iter().position(|&echo| echo > 0).expect("a stamp of the new link");
            assert!(since[new..].iter().all(|&echo| echo > old), "{scheme_name} on {stack_name}: {since:?}");
        }
    }
}

/// Some flows lack a packet when the old link goes. They report blocks before the outage and after the notice, and none
/// with it: on these Linux would undo its timeouts.
#[test]
fn a_notice_after_an_outage_reports_no_block() {
    let (at, up) = (2_550_000_000, 12_550_000_000);
    let e = Experiment {
        kind: Kind::Bbm(up - at),
        flows: 8,
        notice: NoticeMode::InBand { lost: 0 },
        stack: stack("linux-6.12"),
        ..experiment("1600kbit/75ms", "6400kbit/75ms")
    };
    let trace = trace(&e, at, &[&scheme("near")]).remove(0);
    let reports = |flow: u16| -> Vec<(Nanos, bool)> {
        let acks = trace.events.iter().filter_map(|event| match &event.what {
            What::Sent(packet) if !packet.data && packet.flow == flow => {
                Some((event.at, !packet.segment.sack.as_slice().is_empty()))
            }
            _ => None,
        });
        acks.collect()
    };
    let mut lacking = 0;
    for flow in 0..8 {
        let reports = reports(flow);
        let since = reports.iter().position(|ack| ack.0 >= up).expect("a notice");
        assert!(reports[since..since + 2].iter().all(|ack| !ack.1), "flow {flow}");
        lacking += u32::from(reports[since - 1].1 && reports[since + 2..].iter().any(|ack| ack.1));
    }
    assert!(lacking > 0);
}

/// No notice leaves a mobile without a scheme, or one whose sender is told otherwise. Other stacks have a sender that
/// takes no sample from a notice (algorithms.md, 9.20).
#[test]
fn who_sends_no_notice_and_other_stacks_echo_what_they_have() {
    let in_band = NoticeMode::InBand { lost: 0 };
    for (stack_name, notice, scheme_name) in [
        ("linux-6.12", in_band, "sack"),
        ("linux-6.12", NoticeMode::Instant, "etcp-v1"),
        ("rfc", in_band, "etcp-v1"),
        ("freebsd5-newreno", in_band, "tcp-ho"),
    ] {
        let (_, since) = echoes(&traced(stack_name, 1, notice, scheme_name), 0);
        assert!(since.iter().all(|&echo| echo > 0), "{scheme_name} on {stack_name}: {since:?}");
    }
}
