//! The wire format, for all values and all bytes: what is encoded is decoded, and nothing panics.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use segue_tcp::wire::{
    DecodeError, EncodeError, Experiment, Experimental, Flags, Header, Ipv4Addresses, Ipv4Header, Layout,
    MAX_HEADER, MAX_OPTIONS, MIN_HEADER, Options, Payload, RawOptions, SackBlock, SackBlocks, Timestamps,
    checksum,
};

prop_compose! {
    fn experimental()(two: bool, exid: u16, data in vec(any::<u8>(), 0..=36)) -> Experimental {
        let experiment = if two { Experiment::Two } else { Experiment::One };
        Experimental::new(experiment, exid, &data).unwrap()
    }
}

prop_compose! {
    fn sack_blocks()(edges in vec(any::<(u32, u32)>(), 0..=4)) -> SackBlocks {
        let block = |(left, right)| SackBlock { left, right };
        let blocks: Vec<_> = edges.into_iter().map(block).collect();
        SackBlocks::from_slice(&blocks).unwrap()
    }
}

prop_compose! {
    /// All options with a meaning, whether they fit or not.
    fn options()(
        mss in option::of(any::<u16>()),
        window_scale in option::of(0..=14u8),
        sack_permitted: bool,
        stamps in option::of(any::<(u32, u32)>()),
        sack in sack_blocks(),
        experimental in option::of(experimental()),
    ) -> Options {
        let timestamps = stamps.map(|(value, echo)| Timestamps { value, echo });
        Options { mss, window_scale, sack_permitted, timestamps, sack, experimental }
    }
}

/// Bytes that look like an option list: NOPs, ends, whole options of known and unknown kinds, and
/// now and then rubbish.
fn option_list() -> impl Strategy<Value = Vec<u8>> {
    let option = |kind: u8, data: usize| {
        vec(any::<u8>(), data).prop_map(move |data| [vec![kind, data.len() as u8 + 2], data].concat())
    };
    let piece = prop_oneof![
        4 => Just(vec![1]),
        1 => Just(vec![0]),
        4 => option(2, 2),
        4 => option(3, 1),
        4 => option(4, 0),
        4 => option(5, 8),
        4 => option(5, 16),
        4 => option(8, 8),
        4 => (253..=254u8, 0..12usize).prop_flat_map(move |(kind, data)| option(kind, data)),
        4 => (any::<u8>(), 0..12usize).prop_flat_map(move |(kind, data)| option(kind, data)),
        1 => vec(any::<u8>(), 0..4),
    ];
    (vec(piece, 0..10), 0..=44usize).prop_map(|(pieces, longest)| {
        let mut bytes = pieces.concat();
        bytes.truncate(longest);
        bytes
    })
}

fn layout() -> impl Strategy<Value = Layout> {
    prop_oneof![Just(Layout::Aligned), Just(Layout::Packed)]
}

/// Rules that hold for any bytes at all; the fuzz target `options` asks the same.
fn decode_and_again(bytes: &[u8]) -> Result<(), TestCaseError> {
    let Ok(options) = Options::decode(bytes) else {
        return Ok(());
    };
    prop_assert!(bytes.len() <= MAX_OPTIONS);
    prop_assert!(options.encoded_len_as(Layout::Packed) <= bytes.len().next_multiple_of(4));
    let mut out = [0; MAX_OPTIONS];
    let length = options.encode_as(Layout::Packed, &mut out).expect("what was decoded fits packed");
    prop_assert_eq!(Options::decode(&out[..length]), Ok(options));
    match options.encode(&mut out) {
        Ok(length) => prop_assert_eq!(Options::decode(&out[..length]), Ok(options)),
        Err(error) => prop_assert_eq!(error, EncodeError::OptionsTooLong { asked: options.encoded_len() }),
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 4096,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn options_there_and_back(options in options(), layout in layout()) {
        let mut out = [0; MAX_OPTIONS];
        let asked = options.encoded_len_as(layout);
        match options.encode_as(layout, &mut out) {
            Ok(length) => {
                prop_assert!(length == asked && length <= MAX_OPTIONS && length % 4 == 0);
                prop_assert_eq!(Options::decode(&out[..length]), Ok(options));
            }
            Err(error) => {
                prop_assert!(asked > MAX_OPTIONS);
                prop_assert_eq!(error, EncodeError::OptionsTooLong { asked });
            }
        }
    }

    #[test]
    fn packed_is_never_longer(options in options()) {
        prop_assert!(options.encoded_len_as(Layout::Packed) <= options.encoded_len());
        prop_assert!(options.sack_room_as(Layout::Packed) >= options.sack_room());
    }

    /// `sack_room` blocks fit and one more does not, unless the rest alone does not fit.
    #[test]
    fn sack_room_is_what_fits(options in options(), layout in layout()) {
        let with = |count: usize| {
            let sack = SackBlocks::from_slice(&[SackBlock::default(); 4][..count]).unwrap();
            Options { sack, ..options }.encoded_len_as(layout) <= MAX_OPTIONS
        };
        let room = options.sack_room_as(layout);
        prop_assert_eq!(room, (1..=4).rev().find(|&count| with(count)).unwrap_or(0));
    }

    /// `Layout::Aligned` promises that numbers stand on four-byte boundaries, an ExID behind one with its kind on it.
    #[test]
    fn aligned_numbers_are_aligned(options in options()) {
        let mut out = [0; MAX_OPTIONS];
        if let Ok(length) = options.encode(&mut out) {
            for option in RawOptions::new(&out[..length]) {
                let option = option.unwrap();
                match option.kind {
                    5 | 8 => prop_assert_eq!(option.offset % 4, 2),
                    2 | 253 | 254 => prop_assert_eq!(option.offset % 4, 0),
                    _ => {}
                }
            }
        }
    }

    #[test]
    fn any_bytes_decode_or_not(bytes in vec(any::<u8>(), 0..=44)) {
        decode_and_again(&bytes)?;
    }

    #[test]
    fn any_option_list_decodes_or_not(bytes in option_list()) {
        decode_and_again(&bytes)?;
        for experiment in [Experiment::One, Experiment::Two] {
            if let Some(option) = Experimental::find(&bytes, experiment, 0) {
                prop_assert_eq!((option.experiment, option.exid), (experiment, 0));
            }
        }
    }

    /// An error names an option that is there.
    #[test]
    fn errors_name_kind_and_place(bytes in option_list()) {
        match Options::decode(&bytes) {
            Ok(_) => {}
            Err(DecodeError::OptionsTooLong { length }) => {
                prop_assert!(length == bytes.len() && length > MAX_OPTIONS);
            }
            Err(DecodeError::MissingLength { kind, offset }) => {
                prop_assert_eq!(&bytes[offset..], &[kind]);
            }
            Err(DecodeError::BadLength { kind, offset, length }) => {
                prop_assert_eq!(&bytes[offset..offset + 2], &[kind, length]);
            }
            Err(DecodeError::Overrun { kind, offset, length, left }) => {
                prop_assert_eq!(&bytes[offset..offset + 2], &[kind, length]);
                prop_assert!(offset + left == bytes.len() && left < usize::from(length));
            }
            Err(error) => prop_assert!(false, "{error}"),
        }
    }

    #[test]
    fn segments_there_and_back(
        (source_port, destination_port, sequence, acknowledgment) in any::<(u16, u16, u32, u32)>(),
        (flags, window, urgent) in any::<(u8, u16, u16)>(),
        options in options(),
        layout in layout(),
        (source, destination) in any::<(std::net::Ipv4Addr, std::net::Ipv4Addr)>(),
        payload in vec(any::<u8>(), 0..64),
        (flipped, bit) in (any::<prop::sample::Index>(), 0..8u8),
    ) {
        let header = Header {
            source_port, destination_port, sequence, acknowledgment,
            flags: Flags(flags), window, urgent, options,
        };
        let addresses = Ipv4Addresses { source, destination };
        let mut out = [0; MAX_HEADER];
        let bytes = Payload::Bytes(&payload);
        let Ok(length) = header.encode_as(layout, addresses, bytes, &mut out) else {
            prop_assert!(options.encoded_len_as(layout) > MAX_OPTIONS);
            return Ok(());
        };
        prop_assert_eq!(length, MIN_HEADER + options.encoded_len_as(layout));
        let mut segment = [&out[..length], &payload].concat();
        let decoded = Header::decode_checked(addresses, &segment);
        prop_assert_eq!(decoded, Ok((header, payload.as_slice())));
        let field = u16::from_be_bytes([segment[16], segment[17]]);
        prop_assert_eq!(checksum::tcp(addresses, &segment), Some(field));
        // Any single bit that is turned over is noticed.
        segment[flipped.index(length)] ^= 1 << bit;
        let decoded = Header::decode_checked(addresses, &segment);
        let noticed = matches!(decoded, Err(DecodeError::Checksum { .. }));
        prop_assert!(noticed);
    }

    #[test]
    fn any_bytes_are_a_segment_or_not(bytes in vec(any::<u8>(), 0..80)) {
        if let Ok((_, payload)) = Header::decode(&bytes) {
            prop_assert!(bytes.len() - payload.len() >= MIN_HEADER);
        }
    }

    #[test]
    fn ipv4_headers_sum_to_nothing(
        (source, destination) in any::<(std::net::Ipv4Addr, std::net::Ipv4Addr)>(),
        (traffic_class, time_to_live) in any::<(u8, u8)>(),
        (identification, dont_fragment) in any::<(u16, bool)>(),
        length in 0..=65515usize,
    ) {
        let addresses = Ipv4Addresses { source, destination };
        let header = Ipv4Header {
            addresses, traffic_class, identification, dont_fragment, time_to_live,
        };
        prop_assert_eq!(checksum::internet(&header.encode(length).unwrap()), 0);
    }
}
