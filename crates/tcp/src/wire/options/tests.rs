//! Byte strings here are written by hand from the layouts in the RFCs, or are the RFCs' own
//! examples.

use super::*;

fn encode(options: &Options) -> Vec<u8> {
    encode_as(options, Layout::Aligned)
}

fn encode_as(options: &Options, layout: Layout) -> Vec<u8> {
    let mut out = [0xee; MAX_OPTIONS];
    let length = options.encode_as(layout, &mut out).unwrap();
    assert_eq!(length, options.encoded_len_as(layout));
    assert!(out[length..].iter().all(|&byte| byte == 0xee), "what is behind the options is left alone");
    out[..length].to_vec()
}

fn block(left: u32, right: u32) -> SackBlock {
    SackBlock { left, right }
}

fn blocks(blocks: &[SackBlock]) -> SackBlocks {
    SackBlocks::from_slice(blocks).unwrap()
}

fn stamps() -> Option<Timestamps> {
    Some(Timestamps { value: 0x11223344, echo: 0x55667788 })
}

/// Length 12, as the handoff notice of docs/reference/wire.md.
fn notice() -> Option<Experimental> {
    Some(Experimental::new(Experiment::One, 0x5e60, &[1, 2, 3, 4, 5, 6, 7, 8]).unwrap())
}

const NO_OPTIONS: Options = Options {
    mss: None,
    window_scale: None,
    sack_permitted: false,
    timestamps: None,
    sack: SackBlocks::EMPTY,
    experimental: None,
};

// --- one option at a time: encoded, and decoded again ---

#[track_caller]
fn both_ways(options: Options, bytes: &[u8]) {
    assert_eq!(encode(&options), bytes);
    assert_eq!(Options::decode(bytes), Ok(options));
}

#[test]
fn nothing_is_no_bytes() {
    both_ways(NO_OPTIONS, &[]);
    assert_eq!(Options::default(), NO_OPTIONS);
}

#[test]
fn mss_rfc_9293_section_3_2() {
    both_ways(Options { mss: Some(1460), ..NO_OPTIONS }, &[0b0000_0010, 0b0000_0100, 0x05, 0xb4]);
}

#[test]
fn window_scale_rfc_7323_section_2_2() {
    both_ways(Options { window_scale: Some(7), ..NO_OPTIONS }, &[1, 3, 3, 7]);
    both_ways(Options { window_scale: Some(0), ..NO_OPTIONS }, &[1, 3, 3, 0]);
    both_ways(Options { window_scale: Some(14), ..NO_OPTIONS }, &[1, 3, 3, 14]);
}

#[test]
fn sack_permitted_rfc_2018_section_2() {
    both_ways(Options { sack_permitted: true, ..NO_OPTIONS }, &[1, 1, 4, 2]);
}

#[test]
fn time_stamps_rfc_7323_appendix_a() {
    both_ways(
        Options { timestamps: stamps(), ..NO_OPTIONS },
        &[1, 1, 8, 10, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88],
    );
}

/// RFC 2018, 4, case 2: the first segment is lost, the seven after it arrive; ACK 5000, SACK
/// 5500-9000.
#[test]
fn sack_rfc_2018_section_4_case_2() {
    both_ways(
        Options { sack: blocks(&[block(5500, 9000)]), ..NO_OPTIONS },
        &[1, 1, 5, 10, 0, 0, 0x15, 0x7c, 0, 0, 0x23, 0x28],
    );
}

/// RFC 2018, 4, case 3: the 2nd, 4th, 6th and 8th are lost; the last ACK names 8000-8500, 7000-7500
/// and 6000-6500. Beside time stamps these three blocks fill the 40 bytes.
#[test]
fn sack_rfc_2018_section_4_case_3_beside_time_stamps_is_full() {
    let options = Options {
        timestamps: stamps(),
        sack: blocks(&[block(8000, 8500), block(7000, 7500), block(6000, 6500)]),
        ..NO_OPTIONS
    };
    let bytes = [
        1, 1, 8, 10, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, // time stamps
        1, 1, 5, 26, 0, 0, 0x1f, 0x40, 0, 0, 0x21, 0x34, // 8000-8500
        0, 0, 0x1b, 0x58, 0, 0, 0x1d, 0x4c, // 7000-7500
        0, 0, 0x17, 0x70, 0, 0, 0x19, 0x64, // 6000-6500
    ];
    assert_eq!(bytes.len(), MAX_OPTIONS);
    both_ways(options, &bytes);
}

#[test]
fn four_blocks_without_time_stamps() {
    let sack = blocks(&[block(1, 2), block(3, 4), block(5, 6), block(u32::MAX, 8)]);
    both_ways(
        Options { sack, ..NO_OPTIONS },
        &[
            1, 1, 5, 34, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0, 6, 255, 255,
            255, 255, 0, 0, 0, 8,
        ],
    );
}

/// The experimental form of TCP Fast Open (RFC 7413): kind 254, ExID f989, here with a cookie of 6
/// bytes.
#[test]
fn experimental_rfc_6994_section_3() {
    let option = Experimental::new(Experiment::Two, 0xf989, &[0xa, 0xb, 0xc, 0xd, 0xe, 0xf]).unwrap();
    assert_eq!((option.wire_length(), option.experiment.kind()), (10, 254));
    both_ways(
        Options { experimental: Some(option), ..NO_OPTIONS },
        &[254, 10, 0xf9, 0x89, 0xa, 0xb, 0xc, 0xd, 0xe, 0xf, 1, 1],
    );
}

#[test]
fn experimental_smallest_and_largest() {
    let smallest = Experimental::new(Experiment::One, 0x0102, &[]).unwrap();
    both_ways(Options { experimental: Some(smallest), ..NO_OPTIONS }, &[253, 4, 1, 2]);
    let largest = Experimental::new(Experiment::One, 0x0102, &[9; 36]).unwrap();
    let mut bytes = vec![253, 40, 1, 2];
    bytes.extend([9; 36]);
    both_ways(Options { experimental: Some(largest), ..NO_OPTIONS }, &bytes);
}

// --- several together ---

/// The SYN that Linux sends: SACK permitted stands where the two NOPs before time stamps would.
#[test]
fn syn_as_linux_lays_it_out() {
    let options = Options {
        mss: Some(1460),
        window_scale: Some(7),
        sack_permitted: true,
        timestamps: Some(Timestamps { value: 0x01020304, echo: 0 }),
        ..NO_OPTIONS
    };
    both_ways(options, &[2, 4, 0x05, 0xb4, 4, 2, 8, 10, 1, 2, 3, 4, 0, 0, 0, 0, 1, 3, 3, 7]);
    // With net.ipv4.tcp_timestamps = 0.
    let options = Options { timestamps: None, ..options };
    both_ways(options, &[2, 4, 0x05, 0xb4, 1, 1, 4, 2, 1, 3, 3, 7]);
}

/// An 8-byte capability option (docs/reference/wire.md) on that SYN: 28 bytes in all.
#[test]
fn syn_with_a_capability() {
    let options = Options {
        mss: Some(1460),
        window_scale: Some(7),
        sack_permitted: true,
        timestamps: stamps(),
        experimental: Some(Experimental::new(Experiment::One, 0x5e60, &[1, 2, 3, 4]).unwrap()),
        ..NO_OPTIONS
    };
    let bytes = encode(&options);
    assert_eq!(bytes.len(), 28);
    assert_eq!(bytes[20..], [253, 8, 0x5e, 0x60, 1, 2, 3, 4]);
}

/// Time stamps 12, notice 12: 16 of the 40 bytes are left, one block of 4 + 8. Two blocks would
/// make 44 bytes.
#[test]
fn a_notice_beside_time_stamps_leaves_one_aligned_block() {
    let mut options = Options { timestamps: stamps(), experimental: notice(), ..NO_OPTIONS };
    assert_eq!((options.encoded_len(), options.sack_room()), (24, 1));
    options.sack = blocks(&[block(1, 2)]);
    both_ways(
        options,
        &[
            1, 1, 8, 10, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, // time stamps
            1, 1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 2, // SACK
            253, 12, 0x5e, 0x60, 1, 2, 3, 4, 5, 6, 7, 8, // notice
        ],
    );
    options.sack = blocks(&[block(1, 2), block(3, 4)]);
    assert_eq!(options.sack_room(), 1, "the blocks already there do not matter");
    assert_eq!(options.encode(&mut [0; MAX_OPTIONS]), Err(EncodeError::OptionsTooLong { asked: 44 }));
    options.sack.truncate(options.sack_room());
    assert_eq!(encode(&options).len(), 36);
}

/// Without NOPs the same two blocks fit: 10 + 18 + 12 = 40.
#[test]
fn a_notice_beside_time_stamps_and_two_packed_blocks_is_full() {
    let options = Options {
        timestamps: stamps(),
        experimental: notice(),
        sack: blocks(&[block(1, 2), block(3, 4)]),
        ..NO_OPTIONS
    };
    assert_eq!(options.sack_room_as(Layout::Packed), 2);
    let bytes = [
        8, 10, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, // time stamps
        5, 18, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, // SACK
        253, 12, 0x5e, 0x60, 1, 2, 3, 4, 5, 6, 7, 8, // notice
    ];
    assert_eq!(bytes.len(), MAX_OPTIONS);
    assert_eq!(encode_as(&options, Layout::Packed), bytes);
    assert_eq!(Options::decode(&bytes), Ok(options));
}

#[test]
fn packed_pads_at_its_end_only() {
    let options = Options {
        mss: Some(536),
        window_scale: Some(2),
        sack_permitted: true,
        timestamps: stamps(),
        ..NO_OPTIONS
    };
    assert_eq!(
        encode_as(&options, Layout::Packed),
        [2, 4, 2, 0x18, 4, 2, 8, 10, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 3, 3, 2, 1]
    );
    let scale = Options { window_scale: Some(2), sack_permitted: true, ..NO_OPTIONS };
    assert_eq!(encode_as(&scale, Layout::Packed), [4, 2, 3, 3, 2, 1, 1, 1]);
}

#[test]
fn room_for_blocks() {
    let cases = [
        (NO_OPTIONS, 4, 4),
        (Options { timestamps: stamps(), ..NO_OPTIONS }, 3, 3),
        (Options { experimental: notice(), ..NO_OPTIONS }, 3, 3),
        (Options { timestamps: stamps(), experimental: notice(), ..NO_OPTIONS }, 1, 2),
    ];
    for (options, aligned, packed) in cases {
        assert_eq!(
            (options.sack_room(), options.sack_room_as(Layout::Packed)),
            (aligned, packed),
            "{options:?}"
        );
    }
    let data = |length| Experimental::new(Experiment::One, 0, &[0; 36][..length]).ok();
    let beside = |length| Options { experimental: data(length), ..NO_OPTIONS };
    assert_eq!([24, 25, 36].map(|length| beside(length).sack_room()), [1, 0, 0]);
    let too_much = Options { timestamps: stamps(), ..beside(36) };
    assert_eq!((too_much.sack_room(), too_much.encoded_len()), (0, 52));
}

// --- reading what others send ---

#[test]
fn unknown_kinds_are_skipped_by_their_length() {
    // MD5 signature (19, length 18), MPTCP (30, length 4), then window scale.
    let mut bytes = vec![19, 18];
    bytes.extend([3; 16]); // would be window scales if they were looked into
    bytes.extend([30, 4, 0x20, 0, 3, 3, 5, 0]);
    assert_eq!(Options::decode(&bytes), Ok(Options { window_scale: Some(5), ..NO_OPTIONS }));
    // Kind 255, no data.
    assert_eq!(Options::decode(&[255, 2]), Ok(NO_OPTIONS));
}

#[test]
fn end_ends_whatever_follows() {
    assert_eq!(Options::decode(&[4, 2, 0, 3, 0, 0xff]), Ok(Options { sack_permitted: true, ..NO_OPTIONS }));
    assert_eq!(Options::decode(&[0]), Ok(NO_OPTIONS));
    assert_eq!(Options::decode(&[1, 1, 1]), Ok(NO_OPTIONS));
}

#[test]
fn options_need_no_alignment() {
    let options =
        Options::decode(&[1, 8, 10, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 2, 4, 1, 2]).unwrap();
    assert_eq!(options, Options { mss: Some(0x0102), timestamps: stamps(), ..NO_OPTIONS });
}

#[test]
fn of_a_repeated_option_the_first_counts() {
    let bytes = [2, 4, 0, 1, 2, 4, 0, 2, 3, 3, 1, 3, 3, 2, 4, 2, 4, 2, 253, 4, 0, 1, 254, 4, 0, 2];
    let experimental = Experimental::new(Experiment::One, 1, &[]).ok();
    assert_eq!(
        Options::decode(&bytes),
        Ok(Options { mss: Some(1), window_scale: Some(1), sack_permitted: true, experimental, ..NO_OPTIONS })
    );
    let stamps_twice = [8, 10, 0, 0, 0, 1, 0, 0, 0, 2, 8, 10, 0, 0, 0, 3, 0, 0, 0, 4];
    assert_eq!(
        Options::decode(&stamps_twice),
        Ok(Options { timestamps: Some(Timestamps { value: 1, echo: 2 }), ..NO_OPTIONS })
    );
    let sack_twice = [5, 10, 0, 0, 0, 1, 0, 0, 0, 2, 5, 10, 0, 0, 0, 3, 0, 0, 0, 4];
    assert_eq!(Options::decode(&sack_twice), Ok(Options { sack: blocks(&[block(1, 2)]), ..NO_OPTIONS }));
    // The second one counts for nothing, but it must be one.
    assert_eq!(
        Options::decode(&[2, 4, 0, 1, 2, 3, 0]),
        Err(DecodeError::BadLength { kind: 2, offset: 4, length: 3 })
    );
}

#[test]
fn a_window_scale_above_14_is_14() {
    for shift in [14, 15, 255] {
        assert_eq!(Options::decode(&[3, 3, shift]).unwrap().window_scale, Some(14));
    }
}

#[test]
fn experiments_without_an_exid_are_unknown_options() {
    assert_eq!(
        Options::decode(&[253, 2, 254, 3, 9, 4, 2]),
        Ok(Options { sack_permitted: true, ..NO_OPTIONS })
    );
    // They do not take the place of one with an ExID.
    let experimental = Experimental::new(Experiment::Two, 7, &[]).ok();
    assert_eq!(Options::decode(&[253, 2, 254, 4, 0, 7]), Ok(Options { experimental, ..NO_OPTIONS }));
}

#[test]
fn an_experiment_behind_others_is_found() {
    let bytes =
        [254, 4, 0xf9, 0x89, 253, 3, 1, 253, 4, 0, 1, 1, 253, 5, 0x5e, 0x60, 42, 253, 5, 0x5e, 0x60, 43];
    let found = Experimental::find(&bytes, Experiment::One, 0x5e60).unwrap();
    assert_eq!(found.data(), [42]);
    assert_eq!(Experimental::find(&bytes, Experiment::Two, 0x5e60), None, "another kind");
    assert_eq!(Experimental::find(&bytes, Experiment::One, 0x5e61), None, "another ExID");
    assert_eq!(
        Experimental::find(&[8, 0, 253, 4, 0, 1], Experiment::One, 1),
        None,
        "behind a malformed option"
    );
}

#[test]
fn raw_options_hands_out_all_kinds() {
    let bytes = [1, 30, 4, 0x20, 0, 4, 2, 1, 0, 2];
    let all: Vec<_> = RawOptions::new(&bytes).collect();
    assert_eq!(
        all,
        [
            Ok(RawOption { kind: 30, offset: 1, data: &[0x20, 0] }),
            Ok(RawOption { kind: 4, offset: 5, data: &[] }),
        ]
    );
    let mut malformed = RawOptions::new(&[4, 1, 4, 2]);
    assert_eq!(malformed.next(), Some(Err(DecodeError::BadLength { kind: 4, offset: 0, length: 1 })));
    assert_eq!(malformed.next(), None, "an error is the end");
}

// --- every error ---

#[test]
fn more_than_40_bytes_are_no_option_list() {
    assert_eq!(Options::decode(&[1; 40]), Ok(NO_OPTIONS));
    assert_eq!(Options::decode(&[1; 41]), Err(DecodeError::OptionsTooLong { length: 41 }));
}

#[test]
fn a_kind_without_a_length() {
    assert_eq!(Options::decode(&[1, 1, 8]), Err(DecodeError::MissingLength { kind: 8, offset: 2 }));
    assert_eq!(Options::decode(&[77]), Err(DecodeError::MissingLength { kind: 77, offset: 0 }));
}

/// RFC 9293, MUST-7: "illegal option length (e.g., zero)".
#[test]
fn lengths_below_two() {
    for length in [0, 1] {
        for kind in [2, 5, 77, 253] {
            let bytes = [1, kind, length, 1, 1];
            assert_eq!(Options::decode(&bytes), Err(DecodeError::BadLength { kind, offset: 1, length }));
        }
    }
}

#[test]
fn lengths_that_are_not_the_kinds_own() {
    for (kind, right) in [(2, 4), (3, 3), (4, 2), (8, 10)] {
        for length in (2..38).filter(|&length| length != right) {
            let mut bytes = [1; 40];
            (bytes[2], bytes[3]) = (kind, length);
            assert_eq!(Options::decode(&bytes), Err(DecodeError::BadLength { kind, offset: 2, length }));
        }
    }
}

/// RFC 2018, 3: length 8n + 2, n from 1 to 4.
#[test]
fn sack_of_anything_but_whole_blocks() {
    for length in 2..=40 {
        let mut bytes = [1; 40];
        (bytes[0], bytes[1]) = (5, length);
        let expected = Err(DecodeError::BadLength { kind: 5, offset: 0, length });
        let decoded = Options::decode(&bytes).map(|options| options.sack.len());
        match length {
            10 | 18 | 26 | 34 => assert_eq!(decoded, Ok(usize::from(length) / 8)),
            _ => assert_eq!(decoded, expected),
        }
    }
}

#[test]
fn an_option_beyond_the_end() {
    assert_eq!(
        Options::decode(&[1, 1, 8, 10, 0, 0, 0, 0]),
        Err(DecodeError::Overrun { kind: 8, offset: 2, length: 10, left: 6 })
    );
    assert_eq!(
        Options::decode(&[77, 3]),
        Err(DecodeError::Overrun { kind: 77, offset: 0, length: 3, left: 2 })
    );
    assert_eq!(
        Options::decode(&[77, 255]),
        Err(DecodeError::Overrun { kind: 77, offset: 0, length: 255, left: 2 })
    );
}

#[test]
fn a_window_scale_above_14_is_not_sent_and_nothing_is_written() {
    let mut out = [0xee; MAX_OPTIONS];
    let options = Options { mss: Some(1), window_scale: Some(15), ..NO_OPTIONS };
    assert_eq!(options.encode(&mut out), Err(EncodeError::WindowScale { shift: 15 }));
    assert_eq!(out, [0xee; MAX_OPTIONS]);
}

#[test]
fn a_fifth_block() {
    let five = [block(1, 2); 5];
    assert_eq!(SackBlocks::from_slice(&five), Err(EncodeError::TooManySackBlocks { asked: 5 }));
    let mut four = blocks(&five[..4]);
    assert_eq!(four.push(block(3, 4)), Err(EncodeError::TooManySackBlocks { asked: 5 }));
    assert_eq!(four, blocks(&five[..4]));
}

#[test]
fn a_thirty_seventh_byte_of_experiment() {
    for asked in [37, 256, 300] {
        assert_eq!(
            Experimental::new(Experiment::One, 0, &vec![0; asked]),
            Err(EncodeError::ExperimentTooLong { asked })
        );
    }
}

#[test]
fn errors_in_words() {
    let words = [
        EncodeError::OptionsTooLong { asked: 44 }.to_string(),
        DecodeError::BadLength { kind: 5, offset: 2, length: 9 }.to_string(),
        DecodeError::Overrun { kind: 8, offset: 2, length: 10, left: 6 }.to_string(),
    ];
    assert_eq!(
        words,
        [
            "options need 44 bytes, a TCP header has room for 40",
            "option kind 5 at byte 2: length 9 is not one of this kind's",
            "option kind 8 at byte 2: length 10, but the list ends after 6 bytes",
        ]
    );
}

// --- blocks ---

#[test]
fn blocks_that_were_there_leave_no_trace() {
    let mut sack = blocks(&[block(1, 2), block(3, 4), block(5, 6)]);
    sack.truncate(5);
    assert_eq!(sack.len(), 3);
    sack.truncate(1);
    assert_eq!(sack, blocks(&[block(1, 2)]));
    sack.push(block(7, 8)).unwrap();
    assert_eq!(format!("{sack:?}"), "[1..2, 7..8]");
    sack.truncate(0);
    assert_eq!(sack, SackBlocks::EMPTY);
    assert!(sack.is_empty());
}

/// RFC 2883, 4.1: an ACK of 4000 with these blocks.
#[test]
fn dsack_rfc_2883_section_4_1() {
    // The segment 3000-3499 came twice.
    assert_eq!(blocks(&[block(3000, 3500)]).dsack(4000), Some(block(3000, 3500)));
    // The same, with 4500-4999 out of order.
    assert_eq!(blocks(&[block(3000, 3500), block(4500, 5000)]).dsack(4000), Some(block(3000, 3500)));
    // 5000-5499 came twice, above the cumulative acknowledgment.
    assert_eq!(blocks(&[block(5000, 5500), block(4500, 5500)]).dsack(4000), Some(block(5000, 5500)));
    // It starts below the cumulative acknowledgment and ends above it.
    assert_eq!(blocks(&[block(3500, 4500)]).dsack(4000), Some(block(3500, 4500)));
    // No duplicate: plain SACK.
    assert_eq!(blocks(&[block(5000, 5500)]).dsack(4000), None);
    assert_eq!(blocks(&[block(6000, 6500), block(4500, 5500)]).dsack(4000), None);
    assert_eq!(blocks(&[block(4000, 6500), block(4500, 5500)]).dsack(4000), None);
    assert_eq!(SackBlocks::EMPTY.dsack(4000), None);
}

#[test]
fn dsack_across_the_end_of_sequence_space() {
    assert_eq!(blocks(&[block(u32::MAX - 9, 20)]).dsack(100), Some(block(u32::MAX - 9, 20)));
    assert_eq!(blocks(&[block(50, 100)]).dsack(u32::MAX - 9), None);
    assert_eq!(blocks(&[block(5, 10), block(u32::MAX, 10)]).dsack(u32::MAX - 9), Some(block(5, 10)));
}

#[test]
fn an_experiment_in_words() {
    let option = Experimental::new(Experiment::One, 0x5e60, &[1, 0xab]).unwrap();
    assert_eq!(format!("{option:?}"), "Experimental { kind: 253, exid: 0x5e60, data: 01ab }");
}
