//! The options of TCP-HO's paper (algorithms.md 4.1): octet by octet, every refusal, noise.

use proptest::prelude::*;
use segue_policy::wire::OptionError;
use segue_policy::wire::tcp_ho::{Bandwidth, CapabilityMask};

#[test]
fn on_the_wire() {
    assert_eq!(CapabilityMask::TCP_HO.encode(), [253, 4, 0, 1], "the last bit");
    assert_eq!(CapabilityMask(0x8001).encode(), [253, 4, 0x80, 1]);
    // 7000 = 0x1b58; 100 Mbit/s do not fit into 16 bits
    assert_eq!(Bandwidth { kbps: 7000 }.encode(), [254, 6, 0, 0, 0x1b, 0x58]);
    assert_eq!(Bandwidth { kbps: 100_000 }.encode(), [254, 6, 0, 1, 0x86, 0xa0]);
}

#[test]
fn both_ends_must_have_it() {
    let (with, without) = (CapabilityMask(0x8001), CapabilityMask(0xfffe));
    assert!(with.agree_on_tcp_ho(CapabilityMask::TCP_HO));
    assert!(!with.agree_on_tcp_ho(without) && !without.agree_on_tcp_ho(with));
    assert!(!with.agree_on_tcp_ho(CapabilityMask::default()), "no option");
}

#[test]
fn the_first_fault_is_the_answer() {
    for (octets, fault) in [
        (&[][..], OptionError::Length),
        (&[253], OptionError::Length),
        (&[253, 4, 0], OptionError::Length),
        (&[253, 4, 0, 1, 0], OptionError::Length),
        (&[253, 5, 0, 1, 0], OptionError::Length),
        (&[253, 2], OptionError::Length),
        (&[253, 0, 0, 1], OptionError::Length),
        (&[254, 4, 0, 1], OptionError::Kind),
        (&[254, 9, 0, 1], OptionError::Kind),
    ] {
        assert_eq!(CapabilityMask::decode(octets), Err(fault), "{octets:?}");
    }
    for (octets, fault) in [
        (&[][..], OptionError::Length),
        (&[254, 6, 0, 0, 1], OptionError::Length),
        (&[254, 4, 0, 1], OptionError::Length),
        (&[254, 255, 0, 0, 0, 1], OptionError::Length),
        (&[253, 6, 0, 0, 0, 1], OptionError::Kind),
    ] {
        assert_eq!(Bandwidth::decode(octets), Err(fault), "{octets:?}");
    }
}

proptest! {
    #[test]
    fn what_is_sent_is_heard(mask: u16, kbps: u32) {
        prop_assert_eq!(CapabilityMask::decode(&CapabilityMask(mask).encode()), Ok(CapabilityMask(mask)));
        prop_assert_eq!(Bandwidth::decode(&Bandwidth { kbps }.encode()), Ok(Bandwidth { kbps }));
    }

    /// An option that is decoded is one that could have been sent.
    #[test]
    fn noise_is_decoded_or_refused(
        kind in prop_oneof![Just(253u8), Just(254), any::<u8>()],
        length in prop_oneof![Just(4u8), Just(6), any::<u8>()],
        rest in prop::collection::vec(any::<u8>(), 0..8),
    ) {
        let octets = [&[kind, length][..], &rest].concat();
        for cut in 0..=octets.len() {
            let octets = &octets[..cut];
            if let Ok(mask) = CapabilityMask::decode(octets) {
                prop_assert_eq!(mask.encode(), octets);
            }
            if let Ok(bandwidth) = Bandwidth::decode(octets) {
                prop_assert_eq!(bandwidth.encode(), octets);
            }
        }
    }
}
