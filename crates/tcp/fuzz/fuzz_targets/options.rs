//! Any bytes as an option list and as a segment: nothing panics, and what is decoded is encoded and
//! decoded again to the same. `tests/wire_roundtrip.rs` asks the same of lists made by proptest.

#![no_main]

use libfuzzer_sys::fuzz_target;
use segue_tcp::wire::{
    EncodeError, Header, Ipv4Addresses, Layout, MAX_HEADER, MAX_OPTIONS, MIN_HEADER, Options,
    Payload,
};
use std::net::Ipv4Addr;

const ADDRESSES: Ipv4Addresses = Ipv4Addresses {
    source: Ipv4Addr::new(192, 0, 2, 1),
    destination: Ipv4Addr::new(198, 51, 100, 7),
};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(options) = Options::decode(bytes) {
        let mut out = [0; MAX_OPTIONS];
        let length = options
            .encode_as(Layout::Packed, &mut out)
            .expect("what was decoded fits packed");
        assert!(length <= bytes.len().next_multiple_of(4));
        assert_eq!(Options::decode(&out[..length]), Ok(options));
        match options.encode(&mut out) {
            Ok(length) => assert_eq!(Options::decode(&out[..length]), Ok(options)),
            Err(error) => assert_eq!(
                error,
                EncodeError::OptionsTooLong {
                    asked: options.encoded_len()
                }
            ),
        }
    }
    if let Ok((header, payload)) = Header::decode(bytes) {
        let mut out = [0; MAX_HEADER];
        let length = header
            .encode_as(Layout::Packed, ADDRESSES, Payload::Bytes(payload), &mut out)
            .expect("what was decoded fits packed");
        assert!(length >= MIN_HEADER && length <= bytes.len() - payload.len());
        let segment = [&out[..length], payload].concat();
        assert_eq!(
            Header::decode_checked(ADDRESSES, &segment),
            Ok((header, payload))
        );
    }
});
