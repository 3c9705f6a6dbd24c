//! Segments written by hand from the layout in RFC 9293, 3.1; their checksums summed by hand as the
//! comments say.

use super::*;
use crate::wire::{SackBlock, SackBlocks, Timestamps};
use std::net::Ipv4Addr;

/// Words c000 0201 and c633 6407.
const ADDRESSES: Ipv4Addresses =
    Ipv4Addresses { source: Ipv4Addr::new(192, 0, 2, 1), destination: Ipv4Addr::new(198, 51, 100, 7) };

fn syn() -> Header {
    Header {
        source_port: 49152,
        destination_port: 80,
        sequence: 0x01020304,
        acknowledgment: 0,
        flags: Flags::SYN,
        window: 64240,
        urgent: 0,
        options: Options {
            mss: Some(1460),
            window_scale: Some(7),
            sack_permitted: true,
            timestamps: Some(Timestamps { value: 0x11223344, echo: 0 }),
            ..Options::default()
        },
    }
}

/// Pseudo header c000 0201 c633 6407 0006 0028 = 1ec69; header and options = 2bb7c; together 4a7e5
/// = a7e9; its complement is 5816.
const SYN: [u8; 40] = [
    0xc0, 0x00, 0x00, 0x50, // ports
    0x01, 0x02, 0x03, 0x04, // sequence number
    0x00, 0x00, 0x00, 0x00, // acknowledgment number
    0xa0, 0x02, 0xfa, 0xf0, // ten words, SYN, window
    0x58, 0x16, 0x00, 0x00, // checksum, urgent pointer
    0x02, 0x04, 0x05, 0xb4, // MSS
    0x04, 0x02, 0x08, 0x0a, 0x11, 0x22, 0x33, 0x44, 0x00, 0x00, 0x00,
    0x00, // SACK permitted, time stamps
    0x01, 0x03, 0x03, 0x07, // window scale
];

/// Pseudo header c000 0201 c633 6407 0006 0017 = 1ec58. Header c000 0050 0102 0305 1111 2222 5018 01f6 and payload 6869
/// 2100 = 1d301. Together 3bf59 = bf5c; its complement is 40a3.
const DATA: [u8; 23] = [
    0xc0, 0x00, 0x00, 0x50, // ports
    0x01, 0x02, 0x03, 0x05, // sequence number
    0x11, 0x11, 0x22, 0x22, // acknowledgment number
    0x50, 0x18, 0x01, 0xf6, // five words, ACK and PSH, window
    0x40, 0xa3, 0x00, 0x00, // checksum, urgent pointer
    b'h', b'i', b'!',
];

fn data() -> Header {
    Header {
        source_port: 49152,
        destination_port: 80,
        sequence: 0x01020305,
        acknowledgment: 0x11112222,
        flags: Flags::ACK | Flags::PSH,
        window: 502,
        ..Header::default()
    }
}

#[test]
fn a_syn_byte_by_byte() {
    let mut out = [0xee; MAX_HEADER];
    assert_eq!(syn().encode(ADDRESSES, Payload::NONE, &mut out), Ok(40));
    assert_eq!(syn().encoded_len(), 40);
    assert_eq!(out[..40], SYN);
    assert_eq!(out[40..], [0xee; 20], "what is behind the header is left alone");
    assert_eq!(Header::decode_checked(ADDRESSES, &SYN), Ok((syn(), &[][..])));
}

#[test]
fn a_payload_of_odd_length() {
    let mut out = [0; MAX_HEADER];
    assert_eq!(data().encode(ADDRESSES, Payload::Bytes(b"hi!"), &mut out), Ok(20));
    assert_eq!(out[..20], DATA[..20]);
    assert_eq!(Header::decode_checked(ADDRESSES, &DATA), Ok((data(), &b"hi!"[..])));
}

#[test]
fn zeros_that_do_not_exist_sum_as_those_that_do() {
    for length in [0, 1, 2, 1447, 1448, 60000] {
        let (mut virtually, mut really) = ([0; MAX_HEADER], [0; MAX_HEADER]);
        let header = syn().encode(ADDRESSES, Payload::Zeros(length), &mut virtually).unwrap();
        let zeros = vec![0; length];
        syn().encode(ADDRESSES, zeros.as_slice().into(), &mut really).unwrap();
        assert_eq!(virtually, really);
        let segment = [&virtually[..header], &zeros].concat();
        assert_eq!(Header::decode_checked(ADDRESSES, &segment), Ok((syn(), zeros.as_slice())));
    }
}

#[test]
fn every_field_in_its_place() {
    let header = Header {
        source_port: 0x0102,
        destination_port: 0x0304,
        sequence: 0x05060708,
        acknowledgment: 0x090a0b0c,
        flags: Flags(0xa5),
        window: 0x0d0e,
        urgent: 0x0f10,
        options: Options::default(),
    };
    let mut out = [0; MAX_HEADER];
    header.encode(ADDRESSES, Payload::NONE, &mut out).unwrap();
    assert_eq!(out[..16], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0x50, 0xa5, 13, 14]);
    assert_eq!(out[18..20], [15, 16]);
    assert_eq!(Header::decode(&out[..20]), Ok((header, &[][..])));
}

/// RFC 9293, 3.1: FIN is the lowest bit, then SYN, RST, PSH, ACK, URG; RFC 3168: ECE, CWR.
#[test]
fn flags_by_their_bits() {
    let all =
        [Flags::FIN, Flags::SYN, Flags::RST, Flags::PSH, Flags::ACK, Flags::URG, Flags::ECE, Flags::CWR];
    assert_eq!(all.map(|flag| flag.0), [1, 2, 4, 8, 16, 32, 64, 128]);
    assert_eq!(all.into_iter().fold(Flags::NONE, |set, flag| set | flag), !Flags::NONE);
    let mut flags = Flags::SYN;
    flags |= Flags::ACK;
    assert!(flags.contains(Flags::SYN | Flags::ACK) && flags.contains(Flags::NONE));
    assert!(!flags.contains(Flags::SYN | Flags::FIN));
    assert_eq!(flags & !Flags::SYN, Flags::ACK);
    assert_eq!(format!("{flags:?} {:?}", Flags::NONE), "SYN|ACK NONE");
}

#[test]
fn reserved_bits_are_ignored() {
    let mut bytes = DATA;
    bytes[12] |= 0x0f;
    assert_eq!(Header::decode(&bytes), Ok((data(), &b"hi!"[..])));
}

#[test]
fn a_capture_cut_behind_the_header() {
    let (header, payload) = Header::decode(&DATA[..21]).unwrap();
    assert_eq!((header, payload), (data(), &b"h"[..]));
}

#[test]
fn the_largest_header() {
    let block = SackBlock { left: 1, right: 2 };
    let options = Options {
        timestamps: Some(Timestamps::default()),
        sack: SackBlocks::from_slice(&[block; 3]).unwrap(),
        ..Options::default()
    };
    let header = Header { options, ..data() };
    let mut out = [0; MAX_HEADER];
    assert_eq!(header.encode(ADDRESSES, Payload::NONE, &mut out), Ok(60));
    assert_eq!(out[12], 0xf0);
    assert_eq!(Header::decode_checked(ADDRESSES, &out), Ok((header, &[][..])));
}

// --- every error ---

#[test]
fn options_that_do_not_fit() {
    let sack = SackBlocks::from_slice(&[SackBlock { left: 1, right: 2 }; 4]).unwrap();
    let header = Header { options: Options { sack, ..syn().options }, ..syn() };
    let mut out = [0xee; MAX_HEADER];
    let result = header.encode(ADDRESSES, Payload::NONE, &mut out);
    assert_eq!(result, Err(EncodeError::OptionsTooLong { asked: 56 }));
    assert_eq!(out, [0xee; MAX_HEADER]);
    assert_eq!(header.encoded_len(), 76);
}

#[test]
fn a_packet_ends_at_65535_bytes() {
    let mut out = [0; MAX_HEADER];
    assert_eq!(data().encode(ADDRESSES, Payload::Zeros(65535 - 40), &mut out), Ok(20));
    for (payload, asked) in [(65536 - 40, 65536), (usize::MAX, usize::MAX)] {
        assert_eq!(
            data().encode(ADDRESSES, Payload::Zeros(payload), &mut out),
            Err(EncodeError::PacketTooLong { asked })
        );
    }
    let length = 65536;
    assert_eq!(
        Header::decode_checked(ADDRESSES, &vec![0; length]),
        Err(DecodeError::SegmentTooLong { length })
    );
}

#[test]
fn fewer_than_20_bytes() {
    for length in [0, 1, 17, 19] {
        let expected = Err(DecodeError::ShortHeader { length });
        assert_eq!(Header::decode(&DATA[..length]), expected);
        assert_eq!(Header::decode_checked(ADDRESSES, &DATA[..length]), expected);
    }
}

#[test]
fn a_data_offset_below_five_words() {
    for words in 0..5 {
        let mut bytes = DATA;
        bytes[12] = words << 4;
        assert_eq!(Header::decode(&bytes), Err(DecodeError::DataOffset { words }));
    }
}

#[test]
fn a_data_offset_beyond_the_segment() {
    let mut bytes = DATA;
    bytes[12] = 0x60;
    assert_eq!(Header::decode(&bytes), Err(DecodeError::HeaderOverrun { header: 24, length: 23 }));
    assert_eq!(Header::decode(&SYN[..39]), Err(DecodeError::HeaderOverrun { header: 40, length: 39 }));
}

#[test]
fn malformed_options() {
    let mut bytes = SYN;
    bytes[21] = 0;
    assert_eq!(Header::decode(&bytes), Err(DecodeError::BadLength { kind: 2, offset: 0, length: 0 }));
}

#[test]
fn a_wrong_checksum() {
    let mut bytes = DATA;
    bytes[22] = b'?'; // 21 becomes 3f, in the high half of its word
    let expected = 0x40a3 - 0x1e00;
    assert_eq!(
        Header::decode_checked(ADDRESSES, &bytes),
        Err(DecodeError::Checksum { found: 0x40a3, expected })
    );
    assert_eq!(Header::decode(&bytes), Ok((data(), &b"hi?"[..])));
    // The same segment between other addresses.
    let elsewhere = Ipv4Addresses { source: Ipv4Addr::new(192, 0, 2, 2), ..ADDRESSES };
    assert!(matches!(Header::decode_checked(elsewhere, &DATA), Err(DecodeError::Checksum { .. })));
    // Addresses the other way round sum to the same.
    assert!(Header::decode_checked(ADDRESSES.reversed(), &DATA).is_ok());
}
