//! policy/notice.h: round trips, every refusal, and what counts as news.

use crate::common::link;
use proptest::prelude::*;
use segue_policy::Link;
use segue_policy::wire::{
    Acceptance, Capability, OptionError, ReplayWindow, Report, ReportType, decode_rate, encode_rate,
};

fn report() -> Report {
    Report { kind: ReportType::Completed, seq: 7, nonce: 0xbeef, link: link("6400/9") }
}

/// docs/reference/wire.md, octet by octet: 6400 = 1600 << 2 is 0x1640; 9 ms are 90 units.
#[test]
fn a_report_on_the_wire() {
    assert_eq!(report().encode(), Ok([253, 12, 0x5e, 0x9e, 0x12, 7, 0xbe, 0xef, 0x16, 0x40, 0x00, 0x5a]));
}

#[test]
fn a_capability_on_the_wire() {
    let capability = Capability { flags: 0x81, nonce: 0x1234 };
    assert_eq!(capability.encode(), [253, 8, 0x5e, 0x9e, 0x10, 0x81, 0x12, 0x34]);
}

/// The octets of a sound report with one of them changed.
fn spoilt(at: usize, octet: u8) -> Result<Report, OptionError> {
    let mut octets = report().encode().expect("sound");
    octets[at] = octet;
    Report::decode(&octets)
}

#[test]
fn a_report_of_the_wrong_length_is_refused() {
    let octets = report().encode().expect("sound");
    assert_eq!(Report::decode(&[]), Err(OptionError::Length));
    assert_eq!(Report::decode(&octets[..11]), Err(OptionError::Length));
    assert_eq!(Report::decode(&[octets.as_slice(), &[0]].concat()), Err(OptionError::Length));
    assert_eq!(spoilt(1, 11), Err(OptionError::Length));
}

#[test]
fn a_report_of_another_kind_is_refused() {
    assert_eq!(spoilt(0, 254), Err(OptionError::Kind));
}

#[test]
fn a_report_of_another_experiment_is_refused() {
    assert_eq!(spoilt(2, 0x5f), Err(OptionError::ExId));
    assert_eq!(spoilt(3, 0x9f), Err(OptionError::ExId));
}

#[test]
fn a_report_of_another_version_is_refused() {
    assert_eq!(spoilt(4, 0x02), Err(OptionError::Version));
    assert_eq!(spoilt(4, 0x22), Err(OptionError::Version));
}

#[test]
fn a_report_of_an_unknown_type_is_refused() {
    for low in [0, 4, 15] {
        assert_eq!(spoilt(4, 0x10 | low), Err(OptionError::Type));
    }
}

#[test]
fn a_report_of_a_link_without_a_rate_is_refused() {
    let mut octets = report().encode().expect("sound");
    octets[8] = 0x10; // the exponent alone is no rate
    octets[9] = 0;
    assert_eq!(Report::decode(&octets), Err(OptionError::ZeroRate));
    let silent = Report { link: Link { rate_kbps: 0, delay_us: 9000 }, ..report() };
    assert_eq!(silent.encode(), Err(OptionError::ZeroRate));
}

#[test]
fn the_first_fault_is_the_answer() {
    assert_eq!(Report::decode(&[254, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), Err(OptionError::Kind));
    assert_eq!(Report::decode(&[253, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), Err(OptionError::ExId));
}

#[test]
fn a_capability_is_refused_for_each_fault() {
    let sound = Capability { flags: 1, nonce: 2 }.encode();
    for (at, octet, fault) in [
        (0, 254, OptionError::Kind),
        (1, 12, OptionError::Length),
        (2, 0, OptionError::ExId),
        (4, 0x20, OptionError::Version),
        (4, 0x11, OptionError::Type),
    ] {
        let mut octets = sound;
        octets[at] = octet;
        assert_eq!(Capability::decode(&octets), Err(fault));
    }
    assert_eq!(Capability::decode(&sound[..7]), Err(OptionError::Length));
    assert_eq!(Capability::decode(&report().encode().expect("sound")), Err(OptionError::Length));
}

#[test]
fn rates_below_2048_are_exact_and_others_are_normalised() {
    for rate in [1, 200, 700, 2000, 2047] {
        assert_eq!(encode_rate(rate), rate as u16);
    }
    for rate in [2048, 6400, 11_000, 54_000, 1_000_000, u32::MAX] {
        assert!(encode_rate(rate) & 0x7ff >= 1024, "{rate}");
    }
    assert_eq!(decode_rate(encode_rate(54_000)), 54_016, "1688 << 5 is nearest, ties up");
    assert_eq!(decode_rate(encode_rate(11_000)), 11_000);
    assert_eq!(decode_rate(encode_rate(4095)), 4096, "the carry moves to the exponent");
    assert_eq!(decode_rate(0xffff), u32::MAX, "saturates");
}

#[test]
fn delays_saturate() {
    let far = Report { link: Link { rate_kbps: 1, delay_us: u32::MAX }, ..report() };
    let heard = Report::decode(&far.encode().expect("sound")).expect("sound");
    assert_eq!(heard.link.delay_us, 6_553_500);
}

#[test]
fn a_report_counts_once() {
    let mut window = ReplayWindow::new(0xbeef);
    assert_eq!(window.accept(&report()), Acceptance::Accepted);
    assert_eq!(window.accept(&report()), Acceptance::Repeated);
    assert_eq!(window.accept(&Report { seq: 6, ..report() }), Acceptance::Repeated);
    assert_eq!(window.accept(&Report { seq: 8, ..report() }), Acceptance::Accepted);
}

#[test]
fn a_wrong_nonce_is_refused_and_moves_nothing() {
    let mut window = ReplayWindow::new(0xbeef);
    let forged = Report { nonce: 0xbeee, seq: 90, ..report() };
    assert_eq!(window.accept(&forged), Acceptance::WrongNonce);
    assert_eq!(window, ReplayWindow::new(0xbeef));
    assert_eq!(window.accept(&report()), Acceptance::Accepted);
}

#[test]
fn newer_is_counted_modulo_256() {
    let mut window = ReplayWindow::new(0xbeef);
    for (seq, answer) in [
        (0, Acceptance::Accepted),
        (127, Acceptance::Accepted),
        (255, Acceptance::Repeated), // as far ahead as behind: not newer
        (254, Acceptance::Accepted),
        (1, Acceptance::Accepted),
        (254, Acceptance::Repeated),
    ] {
        assert_eq!(window.accept(&Report { seq, ..report() }), answer, "{seq}");
    }
}

fn any_type() -> impl Strategy<Value = ReportType> {
    prop::sample::select(vec![ReportType::First, ReportType::Completed, ReportType::Expected])
}

proptest! {
    #[test]
    fn reports_come_back(
        kind in any_type(), seq: u8, nonce: u16, rate_kbps in 1u32.., delay_us in 0u32..6_553_500,
    ) {
        let sent = Report { kind, seq, nonce, link: Link { rate_kbps, delay_us } };
        let heard = Report::decode(&sent.encode().unwrap()).unwrap();
        prop_assert_eq!((heard.kind, heard.seq, heard.nonce), (kind, seq, nonce));
        // 11 significant bits: half of one part in 1024; the decoder saturates
        let error = u64::from(heard.link.rate_kbps).abs_diff(u64::from(rate_kbps));
        prop_assert!(error * 2048 <= u64::from(rate_kbps));
        prop_assert!(heard.link.delay_us.abs_diff(delay_us) <= 50);
        // what has been on the wire once goes through unchanged
        prop_assert_eq!(Report::decode(&heard.encode().unwrap()), Ok(heard));
    }

    /// No code is nearer, and a tie goes up.
    #[test]
    fn rates_are_rounded_to_nearest(rate in 1u32..1 << 31) {
        let code = encode_rate(rate);
        let error = decode_rate(code).abs_diff(rate);
        for other in [code.wrapping_sub(1), code.wrapping_add(1)] {
            prop_assert!(decode_rate(other).abs_diff(rate) >= error);
        }
        prop_assert!(code >> 11 == 0 || code & 0x7ff >= 1024);
    }

    #[test]
    fn capabilities_come_back(flags: u8, nonce: u16) {
        let sent = Capability { flags, nonce };
        prop_assert_eq!(Capability::decode(&sent.encode()), Ok(sent));
    }

    #[test]
    fn noise_is_decoded_or_refused(octets in prop::collection::vec(any::<u8>(), 0..20)) {
        if let Ok(heard) = Report::decode(&octets) {
            prop_assert_eq!(heard.nonce, u16::from_be_bytes([octets[6], octets[7]]));
        }
        let _ = Capability::decode(&octets);
    }
}
