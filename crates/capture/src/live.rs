//! A capture of packets that were really sent: raw IP, as a link emulator saw them.

use super::{CaptureError, NANOSECONDS};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::{DataLink, Endianness};
use std::time::Duration;

/// A packet as it was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LivePacket {
    /// When, from any instant that all packets of a capture share.
    pub at: Duration,
    /// Bytes of the whole packet.
    pub length: u32,
    /// The packet from its IP header on, of either version, or its beginning.
    pub bytes: Vec<u8>,
    /// A comment for readers of the capture.
    pub comment: Option<String>,
}

/// One pcapng file with time stamps in ns: `place` is where all packets were seen. They are written in the order of
/// their times. One interface only: analysers ignore interfaces, and would take a packet that is seen twice for its
/// own retransmission. At most `snap` bytes of each packet are written.
pub fn live_capture(
    title: &str,
    place: &str,
    packets: &[LivePacket],
    snap: u32,
) -> Result<Vec<u8>, CaptureError> {
    let section = SectionHeaderBlock {
        endianness: Endianness::Little,
        options: vec![
            SectionHeaderOption::Comment(title.to_string().into()),
            SectionHeaderOption::UserApplication(concat!("Segue ", env!("CARGO_PKG_VERSION")).into()),
        ],
        ..Default::default()
    };
    let mut file = PcapNgWriter::with_section_header(Vec::new(), section)?;
    file.write_pcapng_block(InterfaceDescriptionBlock {
        linktype: DataLink::RAW,
        snaplen: snap,
        options: vec![
            InterfaceDescriptionOption::IfName(place.to_string().into()),
            InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
        ],
    })?;
    let mut sorted: Vec<&LivePacket> = packets.iter().collect();
    sorted.sort_by_key(|packet| packet.at);
    for packet in sorted {
        let comment = packet.comment.iter();
        file.write_pcapng_block(EnhancedPacketBlock {
            interface_id: 0,
            timestamp: packet.at,
            original_len: packet.length,
            data: packet.bytes[..packet.bytes.len().min(snap as usize)].into(),
            options: comment.map(|text| EnhancedPacketOption::Comment(text.as_str().into())).collect(),
        })?;
    }
    Ok(file.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SNAPLEN;
    use pcap_file::pcapng::{Block, PcapNgReader};

    fn packet(ns: u64, bytes: &[u8], comment: Option<&str>) -> LivePacket {
        let comment = comment.map(String::from);
        LivePacket { at: Duration::from_nanos(ns), length: 1500, bytes: bytes.to_vec(), comment }
    }

    #[test]
    fn packets_are_read_again_in_order_with_their_nanoseconds() {
        let packets =
            [packet(2_000_000_007, &[0x60; 41], None), packet(1_999_999_999, &[0x45; 40], Some("dropped"))];
        let bytes = live_capture("two packets", "server", &packets, SNAPLEN).unwrap();
        let mut reader = PcapNgReader::new(&bytes[..]).unwrap();
        let mut seen = Vec::new();
        while let Some(block) = reader.next_block() {
            match block.unwrap() {
                Block::InterfaceDescription(block) => assert_eq!(block.linktype, DataLink::RAW),
                Block::EnhancedPacket(block) => {
                    assert_eq!(block.original_len, 1500);
                    let comment = matches!(&block.options[..], [EnhancedPacketOption::Comment(_)]);
                    seen.push((block.timestamp.as_nanos() as u64, block.data.to_vec(), comment));
                }
                _ => {}
            }
        }
        assert_eq!(seen, [(1_999_999_999, vec![0x45; 40], true), (2_000_000_007, vec![0x60; 41], false)]);
    }
}
