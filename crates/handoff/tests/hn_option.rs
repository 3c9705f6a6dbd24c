//! The Handoff Notification option against the table of algorithms.md, 5.1, over its whole range, and against noise.

use proptest::prelude::*;
use segue_handoff::hn_option::{
    Announced, Announcement, EHD_UNIT, Encoding, LARGEST_PBS, LONGEST_EHD, PBS_UNIT, Start, ehd_field,
    ehd_of, pbs_field, pbs_of,
};
use segue_policy::wire::{OptionError, Report, ReportType};
use segue_tcp::Nanos;

const MS: Nanos = 1_000_000;
const KB: u64 = 1000;

/// 5.1: real EHD in ms, field, decoded ms.
const EHD: [(u64, u8, u64); 13] = [
    (0, 0, 10),
    (10, 0, 10),
    (11, 1, 20),
    (20, 1, 20),
    (250, 5, 320),
    (500, 6, 640),
    (750, 7, 1280),
    (1000, 7, 1280),
    (1500, 8, 2560),
    (3000, 9, 5120),
    (320_000, 15, 327_680),
    (327_680, 15, 327_680),
    (163_840, 14, 163_840),
];

/// 5.1: real PBS in bytes, field, decoded kB.
const PBS: [(u64, u8, u64); 11] = [
    (KB, 0, 1),
    (1999, 0, 1),
    (2 * KB, 1, 2),
    (3990, 1, 2),
    (64 * KB, 6, 64),
    (100 * KB, 6, 64),
    (1000 * KB, 9, 512),
    (1024 * KB, 10, 1024),
    (8192 * KB, 13, 8192),
    (32_768 * KB, 15, 32_768),
    (999_999 * KB, 15, 32_768),
];

#[test]
fn fmip_ehd_formula() {
    for (real, field, decoded) in EHD {
        assert_eq!((ehd_field(real * MS), ehd_of(field)), (field, decoded * MS), "{real} ms");
    }
    assert_eq!(ehd_field(10 * MS + 1), 1, "above 10 ms by the least");
}

#[test]
fn fmip_pbs_formula() {
    for (real, field, decoded) in PBS {
        assert_eq!((pbs_field(real, KB), pbs_of(field, KB)), (Some(field), decoded * KB), "{real} bytes");
    }
    assert_eq!(pbs_field(999, KB), None, "less than a kB cannot be told");
    // 9.24: a kB of 1024 bytes.
    assert_eq!([1 << 20, 100_000].map(|pbs| pbs_field(pbs, 1024)), [Some(10), Some(6)]);
    assert_eq!(pbs_of(15, 1024), 32 << 20);
}

#[test]
fn fmip_spans() {
    assert_eq!((ehd_of(15), LONGEST_EHD), (327_680 * MS, 327_680 * MS));
    assert_eq!((pbs_of(15, KB), LARGEST_PBS), (32_768 * KB, 32_768 * KB));
}

#[test]
fn fmip_opt_format() {
    let start = Announcement::Start(Start { ehd: 500 * MS, pbs: 100 * KB });
    assert_eq!(start.encode_paper(), Some([29, 3, 0x66]));
    assert_eq!(Announcement::Finish.encode_paper(), Some([29, 3, 0]));
    let told = Start { ehd: 640 * MS, pbs: 64 * KB };
    assert_eq!(Announcement::decode_paper(&[29, 3, 0x66]), Ok(Announcement::Start(told)));
    assert_eq!(Announcement::decode_paper(&[29, 3, 0]), Ok(Announcement::Finish));
    // A Start that would read as a Finish is not sent.
    assert_eq!(Announcement::Start(Start { ehd: 0, pbs: KB }).encode_paper(), None);
    for (octets, why) in [
        (&[29_u8][..], OptionError::Length),
        (&[29, 3], OptionError::Length),
        (&[29, 4, 0x66], OptionError::Length),
        (&[29, 3, 0x66, 0], OptionError::Length),
        (&[253, 3, 0x66], OptionError::Kind),
        (&[], OptionError::Length),
    ] {
        assert_eq!(Announcement::decode_paper(octets), Err(why), "{octets:?}");
    }
}

/// Sec. III speaks of 100 kB and 1 MB; quantised they are 64 and 512 kB.
#[test]
fn fmip_quantisation_vs_results() {
    let told = |pbs, encoding| Start { ehd: 0, pbs }.as_told(encoding).map(|told| told.pbs / KB);
    assert_eq!([100 * KB, 1000 * KB].map(|pbs| told(pbs, Encoding::Quantised)), [Some(64), Some(512)]);
    assert_eq!([100 * KB, 1000 * KB].map(|pbs| told(pbs, Encoding::Exact)), [Some(100), Some(1000)]);
}

#[test]
fn on_the_wire() {
    let start = Announcement::Start(Start { ehd: 500 * MS, pbs: 100 * KB });
    let announced = Announced { what: start, seq: 7, nonce: 0x1234 };
    let (octets, length) = announced.encode(Encoding::Quantised).unwrap();
    assert_eq!(octets[..length], [253, 9, 0x5e, 0x9e, 0x14, 7, 0x12, 0x34, 0x66]);
    let (octets, length) = announced.encode(Encoding::Exact).unwrap();
    assert_eq!(octets[..length], [253, 12, 0x5e, 0x9e, 0x14, 7, 0x12, 0x34, 0, 50, 0, 100]);
    let finish = Announced { what: Announcement::Finish, ..announced };
    let (octets, length) = finish.encode(Encoding::Exact).unwrap();
    assert_eq!(octets[..length], [253, 8, 0x5e, 0x9e, 0x15, 7, 0x12, 0x34]);
}

/// The notice's own reports are none of this option's business, and the other way round.
#[test]
fn reports_are_not_announcements() {
    let link = segue_policy::Link { rate_kbps: 200, delay_us: 300_000 };
    let report = Report { kind: ReportType::Completed, seq: 1, nonce: 2, link }.encode().unwrap();
    assert_eq!(Announced::decode(&report), Err(OptionError::Type));
    let start = Announcement::Start(Start { ehd: 500 * MS, pbs: 100 * KB });
    let (octets, length) = Announced { what: start, seq: 7, nonce: 2 }.encode(Encoding::Exact).unwrap();
    assert!(Report::decode(&octets[..length]).is_err());
}

proptest! {
    /// fmip-rounding-conservative, over the whole range: never a shorter delay, never a larger buffer, and no more than
    /// a factor of two away.
    #[test]
    fn fmip_rounding_conservative(ehd in 0..=LONGEST_EHD, pbs in PBS_UNIT..=LARGEST_PBS) {
        let told = Start { ehd, pbs }.as_told(Encoding::Quantised).unwrap();
        prop_assert!(told.ehd >= ehd && (told.ehd < 2 * ehd || told.ehd == EHD_UNIT));
        prop_assert!(told.pbs <= pbs && 2 * told.pbs > pbs);
        prop_assert_eq!((ehd_field(told.ehd), pbs_field(told.pbs, PBS_UNIT)), (ehd_field(ehd), pbs_field(pbs, PBS_UNIT)));
        let exact = Start { ehd, pbs }.as_told(Encoding::Exact).unwrap();
        prop_assert!(exact.ehd >= ehd && exact.ehd < ehd + EHD_UNIT);
        prop_assert!(exact.pbs <= pbs && exact.pbs + PBS_UNIT > pbs);
    }

    /// An option is read as it was written, in every form; the paper's only where it is no Finish.
    #[test]
    fn written_and_read(ehd in 0..=LONGEST_EHD, pbs in PBS_UNIT..=LARGEST_PBS, seq in any::<u8>(), nonce in any::<u16>()) {
        let start = Start { ehd, pbs };
        for encoding in [Encoding::Quantised, Encoding::Exact] {
            let told = Announcement::Start(start.as_told(encoding).unwrap());
            let announced = Announced { what: Announcement::Start(start), seq, nonce };
            let (octets, length) = announced.encode(encoding).unwrap();
            prop_assert_eq!(Announced::decode(&octets[..length]), Ok(Announced { what: told, seq, nonce }));
            for cut in 0..length {
                prop_assert!(Announced::decode(&octets[..cut]).is_err(), "cut to {}", cut);
            }
        }
        match start.encode_paper() {
            Some(octets) => {
                let told = start.as_told(Encoding::Quantised).unwrap();
                prop_assert_eq!(Announcement::decode_paper(&octets), Ok(Announcement::Start(told)));
            }
            None => prop_assert!(ehd <= EHD_UNIT && pbs < 2 * PBS_UNIT),
        }
    }

    /// Noise is refused or read; nothing else.
    #[test]
    fn noise(octets in proptest::collection::vec(any::<u8>(), 0..16)) {
        let _ = Announcement::decode_paper(&octets);
        if let Ok(announced) = Announced::decode(&octets) {
            prop_assert_eq!(octets[0], 253);
            prop_assert_eq!(usize::from(octets[1]), octets.len());
            if let Announcement::Start(Start { ehd, pbs }) = announced.what {
                prop_assert!(ehd <= 65_535 * EHD_UNIT && pbs <= 65_535 * PBS_UNIT);
            }
        }
    }
}
