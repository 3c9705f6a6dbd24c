//! Captures (pcapng) of one traced handoff, for Wireshark, tshark and tcptrace. They have every packet at up to four
//! vantage points, with the sender's decisions as packet comments. docs/guide/captures.md.
//!
//! `sightings` is who saw which packet when, `vantage` where and under which addresses, and `encode` its
//! bytes. [`live_capture`] is for packets that were really sent.

mod encode;
mod live;
mod sightings;
mod vantage;

pub use live::{LivePacket, live_capture};

use crate::vantage::{CN_ADDRESS, Vantage};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::name_resolution::{Ipv4Record, NameResolutionBlock, Record};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::{DataLink, Endianness, PcapError};
use segue_study::story::headline;
use segue_tcp::wire::EncodeError;
use segue_world::Nanos;
use segue_world::trace::Trace;
use std::time::Duration;

/// Ten to the minus ninth of a second.
const NANOSECONDS: u8 = 9;
/// Longer than any packet here: all are there in full.
pub const SNAPLEN: u32 = 65_535;

/// A capture cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// A segment does not fit its headers.
    #[error("a packet has no encoding: {0}")]
    Segment(#[from] EncodeError),
    /// The container refuses.
    #[error("the capture cannot be written: {0}")]
    File(#[from] PcapError),
}

/// One pcapng file: `trace`, run with `scheme`, at most `snap` bytes of each packet.
pub fn capture(scheme: &str, trace: &Trace, snap: u32) -> Result<Vec<u8>, CaptureError> {
    let section = SectionHeaderBlock {
        endianness: Endianness::Little,
        options: vec![
            SectionHeaderOption::Comment(title(scheme, trace).into()),
            SectionHeaderOption::UserApplication(concat!("Segue ", env!("CARGO_PKG_VERSION")).into()),
        ],
        ..Default::default()
    };
    let mut file = PcapNgWriter::with_section_header(Vec::new(), section)?;
    for vantage in Vantage::ALL {
        file.write_pcapng_block(InterfaceDescriptionBlock {
            linktype: DataLink::ETHERNET,
            snaplen: snap,
            options: vec![
                InterfaceDescriptionOption::IfName(vantage.name().into()),
                InterfaceDescriptionOption::IfDescription(vantage.description().into()),
                InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
            ],
        })?;
    }
    file.write_pcapng_block(names())?;
    for sighting in sightings::sightings(trace) {
        let (bytes, original_len) = encode::packet(&trace.experiment.stack, &sighting, snap)?;
        file.write_pcapng_block(EnhancedPacketBlock {
            interface_id: sighting.vantage.interface(),
            timestamp: Duration::from_nanos(sighting.at),
            original_len,
            data: bytes.into(),
            options: sighting
                .comments
                .into_iter()
                .map(|text| EnhancedPacketOption::Comment(text.into()))
                .collect(),
        })?;
    }
    Ok(file.into_inner())
}

/// The simulated handoff, in a line.
fn title(scheme: &str, trace: &Trace) -> String {
    let experiment = &trace.experiment;
    format!(
        "{}, stack {}, scheme {scheme}, seed {}; the handoff begins at {} s and completes at {} s",
        headline(experiment),
        experiment.stack.name,
        experiment.seed,
        seconds(trace.record.at),
        seconds(trace.record.completion),
    )
}

/// A time in s, six decimals at most.
fn seconds(time: Nanos) -> String {
    let text = format!("{:.6}", time as f64 / 1e9);
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// Names of the addresses.
fn names() -> NameResolutionBlock<'static> {
    let name = |address: std::net::Ipv4Addr, name: &'static str| {
        Record::Ipv4(Ipv4Record { ip_addr: address.octets().to_vec().into(), names: vec![name.into()] })
    };
    let mobiles = Vantage::ALL.map(|vantage| name(vantage.mobile(), vantage.mobile_name()));
    let records = std::iter::once(name(CN_ADDRESS, "cn")).chain(mobiles).collect();
    NameResolutionBlock { records, options: Vec::new() }
}
