//! A capture holds what the trace tells: read back packet by packet, and as tshark and tcptrace see it.

mod analysers;

use analysers::{run, tcptrace, told, tshark};
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketOption;
use pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionOption;
use pcap_file::pcapng::blocks::name_resolution::Record;
use pcap_file::pcapng::{Block, PcapNgReader};
use proptest::prelude::*;
use segue_capture::{SNAPLEN, capture};
use segue_fidelity::narrated;
use segue_tcp::StackProfile;
use segue_tcp::profile::PROFILES;
use segue_tcp::wire::{Flags, Header, Ipv4Addresses, checksum};
use segue_world::trace::{Trace, What, trace};
use segue_world::{AccessLink, Experiment, Kind, Nanos, NoticeMode, check_scheme};
use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

const MS: Nanos = 1_000_000;
const CN: u32 = 0;
const MN: u32 = 3;
/// Bytes before the IPv4 header.
const ETHERNET: usize = 14;

/// One flow of `ns2-sack1`, make-before-break, 100 packets, instant notice.
fn experiment(old: &str, new: &str) -> Experiment {
    let link = |text| AccessLink::parse(text).unwrap();
    Experiment::usual(link(old), link(new), StackProfile::named("ns2-sack1").unwrap())
}

fn traces(experiment: &Experiment, at: Nanos, names: &[&str]) -> Vec<Trace> {
    let schemes: Vec<_> = names.iter().map(|name| check_scheme(name, &[]).unwrap()).collect();
    trace(experiment, at, &schemes.iter().collect::<Vec<_>>())
}

/// The seven handoffs of `examples.txt`.
fn seven() -> Vec<(String, Experiment, Nanos)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../reference/ns2");
    let all = narrated::read(folder.as_ref()).unwrap();
    assert_eq!(all.len(), 7);
    all.into_iter().map(|n| (n.name, n.scenario.experiment(100).unwrap(), n.at)).collect()
}

// ------------------------------------------------------------------------- without other programs

/// A packet read back.
struct Seen {
    interface: u32,
    at: Nanos,
    identification: u16,
    addresses: Ipv4Addresses,
    header: Header,
    payload: usize,
    comments: Vec<String>,
}

impl Seen {
    fn data(&self) -> bool {
        self.addresses.source == Ipv4Addr::new(192, 0, 2, 1)
    }
}

/// Reads a capture, and holds what is fixed about it: interfaces, names, lengths, checksums.
fn read(bytes: &[u8]) -> Vec<Seen> {
    let mut reader = PcapNgReader::new(bytes).unwrap();
    let (mut interfaces, mut names, mut packets) = (Vec::new(), Vec::new(), Vec::new());
    while let Some(block) = reader.next_block() {
        match block.unwrap() {
            Block::InterfaceDescription(block) => {
                assert!(block.options.contains(&InterfaceDescriptionOption::IfTsResol(9)));
                for option in &block.options {
                    if let InterfaceDescriptionOption::IfName(name) = option {
                        interfaces.push(name.to_string());
                    }
                }
            }
            Block::NameResolution(block) => {
                names.extend(block.records.iter().filter_map(|record| match record {
                    Record::Ipv4(record) => Some(record.names[0].to_string()),
                    _ => None,
                }));
            }
            Block::EnhancedPacket(block) => {
                assert_eq!(block.data.len(), block.original_len as usize, "captured in full");
                let ip = &block.data[ETHERNET..];
                assert_eq!(block.data[12..ETHERNET], [0x08, 0x00]);
                assert_eq!(checksum::internet(&ip[..20]), 0, "IPv4 checksum");
                assert_eq!(usize::from(u16::from_be_bytes([ip[2], ip[3]])), ip.len());
                let address = |at: usize| Ipv4Addr::new(ip[at], ip[at + 1], ip[at + 2], ip[at + 3]);
                let addresses = Ipv4Addresses { source: address(12), destination: address(16) };
                let (header, payload) = Header::decode_checked(addresses, &ip[20..]).unwrap();
                assert!(payload.iter().all(|&byte| byte == 0));
                let comments = block.options.iter().filter_map(|option| match option {
                    EnhancedPacketOption::Comment(text) => Some(text.to_string()),
                    _ => None,
                });
                packets.push(Seen {
                    interface: block.interface_id,
                    at: block.timestamp.as_nanos() as Nanos,
                    identification: u16::from_be_bytes([ip[4], ip[5]]),
                    addresses,
                    header,
                    payload: payload.len(),
                    comments: comments.collect(),
                });
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(interfaces, ["CN", "old link", "new link", "MN"]);
    assert_eq!(names, ["cn", "mn.at-cn", "mn.at-old-link", "mn.at-new-link", "mn.at-mn"]);
    packets
}

fn comments_like(packets: &[Seen], text: &str) -> usize {
    packets.iter().flat_map(|packet| &packet.comments).filter(|comment| comment.contains(text)).count()
}

fn check_contents(scheme: &str, trace: &Trace) {
    let packets = read(&capture(scheme, trace, SNAPLEN).unwrap());
    assert!(packets.is_sorted_by_key(|packet| packet.at));
    assert!(packets.last().unwrap().at <= trace.end);

    // Everything that a host sends or hears is there, once.
    let count = |pick: &dyn Fn(&What) -> bool| trace.events.iter().filter(|e| pick(&e.what)).count();
    let at =
        |interface, data| packets.iter().filter(|p| p.interface == interface && p.data() == data).count();
    assert_eq!(at(CN, true), count(&|what| matches!(what, What::Sent(p) if p.data)));
    assert_eq!(at(CN, false), count(&|what| matches!(what, What::Received { packet, .. } if !packet.data)));
    assert_eq!(at(MN, true), count(&|what| matches!(what, What::Received { packet, .. } if packet.data)));
    assert_eq!(at(MN, false), count(&|what| matches!(what, What::Sent(p) if !p.data)));

    // A packet keeps its number and its segment from one vantage point to the next, and takes time.
    let mut journeys: BTreeMap<(bool, u16), Vec<&Seen>> = BTreeMap::new();
    assert!(at(CN, true) < 65_536 && at(MN, false) < 65_536, "numbers would come again");
    for packet in &packets {
        journeys.entry((packet.data(), packet.identification)).or_default().push(packet);
    }
    for journey in journeys.values() {
        let first = journey[0];
        assert_eq!(first.interface, if first.data() { CN } else { MN });
        assert!(journey.len() <= 3, "two hosts and one of the links");
        assert!(journey.windows(2).all(|pair| pair[0].at < pair[1].at));
        for seen in journey {
            assert_eq!((seen.header, seen.payload), (first.header, first.payload));
        }
        let ends: BTreeSet<u32> = journey.iter().map(|seen| seen.interface).collect();
        assert_eq!(ends.len(), journey.len());
        assert!(journey.iter().any(|seen| [1, 2].contains(&seen.interface)) || journey.len() == 1);
    }

    // The handshake.
    let syns: Vec<_> = packets.iter().filter(|p| p.header.flags.contains(Flags::SYN)).collect();
    assert!(syns.iter().all(|p| p.header.sequence == 0 && p.header.options.mss.is_some()));
    assert!(syns.iter().any(|p| p.header.flags.contains(Flags::ACK)));

    // Events that are no packets stand in comments.
    let dropped = count(&|what| matches!(what, What::Dropped { .. }));
    assert_eq!(comments_like(&packets, "dropped: queue of the"), dropped);
    let lost = count(&|what| matches!(what, What::Lost { .. }));
    assert_eq!(comments_like(&packets, "lost in the disconnection"), lost);
    for packet in packets.iter().filter(|p| p.comments.iter().any(|c| c.starts_with("dropped"))) {
        assert_eq!(packet.interface, if packet.data() { CN } else { MN });
    }
    let timeouts = count(&|what| matches!(what, What::Timeout { .. }));
    assert_eq!(comments_like(&packets, "retransmission timeout of packet"), timeouts);
    let fast = count(&|what| matches!(what, What::FastRetransmit { .. }));
    assert_eq!(comments_like(&packets, "fast retransmit of packet"), fast);
    let decided = count(&|what| matches!(what, What::Decided { .. }));
    let all = packets.iter().map(|packet| packet.comments.len()).sum::<usize>();
    assert_eq!(all, dropped + lost + timeouts + fast + decided);
}

#[test]
fn a_capture_holds_the_trace() {
    let bbm =
        Experiment { kind: Kind::Bbm(500 * MS), flows: 2, ..experiment("800kbit/75ms", "200kbit/300ms") };
    let up = experiment("200kbit/300ms", "6400kbit/9ms");
    let in_band = Experiment { notice: NoticeMode::InBand { lost: 0 }, ..up.clone() };
    let rfc = Experiment { stack: StackProfile::named("rfc").unwrap(), flows: 3, ..up.clone() };
    for (experiment, at) in [(bbm, 3000), (up, 8900), (in_band, 4000), (rfc, 6000)] {
        for trace in traces(&experiment, at * MS, &["sack", "etcp-v1"]) {
            check_contents("some", &trace);
        }
    }
}

/// Figure 8 of the paper: minrto rises at the notice (to 552 ms there), and returns with the first sample.
#[test]
fn decisions_stand_on_the_packets_that_caused_them() {
    let trace = &traces(&experiment("6400kbit/9ms", "200kbit/300ms"), 8_200 * MS, &["etcp"])[0];
    let packets = read(&capture("etcp", trace, SNAPLEN).unwrap());
    let commented = |text: &str| {
        let mut found = packets.iter().filter(|p| p.comments.iter().any(|c| c.contains(text)));
        let packet = found.next().unwrap_or_else(|| panic!("nobody says {text}"));
        assert_eq!((packet.interface, found.count()), (CN, 0), "{text}");
        packet
    };
    let notice = commented("A1, case 1 (segue explain 2.1)");
    let text = notice.comments.iter().find(|c| c.contains("A1, case 1")).unwrap();
    assert!(
        text.starts_with("at 8.2 s: notice of 200 kbit/s, 300 ms after 6400 kbit/s, 9 ms, 1 flow: "),
        "{text}"
    );
    assert!(text.ends_with("minrto 0.554 s, timer restarted"), "{text}");
    assert!(notice.data() && notice.at >= 8_200 * MS, "no packet came with it: the next one sent has it");
    assert!(!commented("first sample").data(), "the ACK that brought the sample");
}

/// HO Start comes over the old link and HO Finish over the new one, two copies each, with what they say written beside
/// the first. The packets that wait at the new router come through to the mobile.
#[test]
fn a_handoff_notification_in_a_capture() {
    let handoff = Experiment {
        kind: Kind::Bbm(500 * MS),
        stack: StackProfile::named("inet-reno").unwrap(),
        notice: NoticeMode::InBand { lost: 0 },
        ..experiment("2mbit/20ms", "6mbit/20ms")
    };
    let trace = &traces(&handoff, 4_000 * MS, &["hn"])[0];
    check_contents("hn", trace);
    let packets = read(&capture("hn", trace, SNAPLEN).unwrap());
    let told = |interface, length| {
        let option = |p: &&Seen| {
            let experiment = p.header.options.experimental;
            let told = experiment.is_some_and(|e| e.data().len() == length && e.data()[0] >> 4 == 1);
            told && p.interface == interface && !p.header.flags.contains(Flags::SYN)
        };
        packets.iter().filter(option).map(|p| p.at).collect::<Vec<_>>()
    };
    // Kind, length and identifier apart: five octets of HO Start, four of HO Finish.
    let (starts, finishes) = (told(CN, 5), told(CN, 4));
    assert!(starts.len() == 2 && starts.iter().all(|&at| at > 3_900 * MS && at < 4_000 * MS), "{starts:?}");
    assert!(finishes.len() == 2 && finishes.iter().all(|&at| at > 4_500 * MS), "{finishes:?}");
    assert_eq!((told(1, 5).len(), told(2, 5).len(), told(1, 4).len(), told(2, 4).len()), (2, 0, 0, 2));
    assert_eq!(comments_like(&packets, "HO Start with an expected delay of 0.64 s and a buffer of 64 kB"), 1);
    assert_eq!(comments_like(&packets, "HO Finish: HO Finish (segue explain 5.3)"), 1);
}

// ----------------------------------------------------------------------- tshark and tcptrace

/// Holds a capture against the analysers; says whether tshark gives all retransmissions that name.
fn analyse(name: &str, scheme: &str, trace: &Trace) -> bool {
    let file = tempfile::Builder::new().suffix(".pcapng").tempfile_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    std::fs::write(file.path(), capture(scheme, trace, SNAPLEN).unwrap()).unwrap();
    let told = told(trace);
    let (retransmissions, dsacks) = tcptrace(file.path());
    assert_eq!(retransmissions, told.retransmissions.len(), "tcptrace: {name} {scheme}");
    assert_eq!(dsacks, told.dsacks, "tcptrace, D-SACK: {name} {scheme}");
    let seen = tshark(file.path());
    println!(
        "{name:6} {} {:16} {scheme:8} sent again {:3}: retransmission {:3} out of order {:3} (any interface {:3}); \
         duplicate ACKs {:4}: tshark {:4}; D-SACK {:2}",
        trace.experiment.flows,
        trace.experiment.stack.name,
        told.retransmissions.len(),
        seen.retransmissions.len(),
        seen.out_of_order.len(),
        seen.retransmissions_anywhere,
        told.duplicates,
        seen.duplicates,
        seen.dsacks,
    );
    // The very packets, not only their number. Nothing can be out of order where it is sent.
    let again: BTreeSet<_> = seen.retransmissions.union(&seen.out_of_order).copied().collect();
    assert_eq!(again, told.retransmissions, "{name} {scheme}");
    assert_eq!(seen.dsacks, told.dsacks, "D-SACK: {name} {scheme}");
    assert_eq!(seen.duplicates, told.repeats, "repeated ACKs: {name} {scheme}");
    if told.in_order {
        assert_eq!(seen.duplicates, told.duplicates + told.repeated_notices, "{name} {scheme}");
    }
    seen.out_of_order.is_empty()
}

/// Every retransmission of the simulator is one for tshark and for tcptrace, and nothing else is.
#[test]
#[ignore = "needs tshark tcptrace"]
fn the_narrated_handoffs_in_tshark_and_tcptrace() {
    let schemes = ["sack", "etcp-v1"];
    for (name, experiment, at) in seven() {
        for (scheme, trace) in schemes.iter().zip(traces(&experiment, at, &schemes)) {
            assert!(analyse(&name, scheme, &trace), "{name} {scheme}: a retransmission under another name");
        }
    }
}

/// The same where tshark calls some of them out of order: several flows, other stacks (docs/guide/captures.md). Each
/// handoff has one of the three, because each capture starts two programs.
#[test]
#[ignore = "needs tshark tcptrace"]
fn more_flows_and_other_stacks_in_tshark_and_tcptrace() {
    let others = [(2, "ns2-sack1", "etcp-v1"), (1, "rfc", "etcp-v1"), (1, "freebsd5-newreno", "newreno")];
    for ((name, experiment, at), (flows, stack, scheme)) in
        seven().into_iter().zip(others.into_iter().cycle())
    {
        let stack = StackProfile::named(stack).unwrap();
        let experiment = Experiment { flows, stack, ..experiment };
        analyse(&name, scheme, &traces(&experiment, at, &[scheme])[0]);
    }
}

/// From a slow link to a fast one packets overtake each other; notices in band repeat an ACK.
#[test]
#[ignore = "needs tshark tcptrace"]
fn reordering_and_notices_in_tshark_and_tcptrace() {
    for notice in [NoticeMode::Instant, NoticeMode::InBand { lost: 0 }] {
        for flows in [1, 4] {
            let up = Experiment { notice, flows, ..experiment("200kbit/300ms", "6400kbit/9ms") };
            let trace = &traces(&up, 8_900 * MS, &["etcp-v1"])[0];
            assert!(told(trace).dsacks > 0, "the mobile reports what came twice");
            analyse("up", "etcp-v1", trace);
        }
    }
    let down =
        Experiment { notice: NoticeMode::InBand { lost: 0 }, ..experiment("6400kbit/9ms", "200kbit/300ms") };
    let trace = &traces(&down, 8_200 * MS, &["etcp"])[0];
    assert!(told(trace).repeated_notices > 0);
    analyse("down", "etcp", trace);
}

#[test]
#[ignore = "needs tshark"]
fn tshark_finds_nothing_malformed() {
    let up = Experiment { flows: 2, ..experiment("200kbit/300ms", "6400kbit/9ms") };
    let trace = &traces(&up, 8_900 * MS, &["etcp-v1"])[0];
    let file = tempfile::Builder::new().suffix(".pcapng").tempfile_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    std::fs::write(file.path(), capture("etcp-v1", trace, SNAPLEN).unwrap()).unwrap();
    let check = ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE", "-q", "-z", "expert", "-r"];
    let text = String::from_utf8_lossy(&run("tshark", &check, file.path()).stdout).to_lowercase();
    assert!(text.contains("sequence") && text.contains("comment"), "{text}");
    assert!(
        !text.contains("errors (") && !text.contains("malformed") && !text.contains("checksum"),
        "{text}"
    );
}

prop_compose! {
    /// Any handoff, in 30 packets, and when.
    fn any_handoff()(
        rates in (2.3f64..3.6, 2.3f64..3.6),
        delays in (1u32..300, 1u32..300),
        outage in proptest::option::of(50u64..2000),
        flows in 1usize..4,
        stack in 0..PROFILES.len(),
        in_band in any::<bool>(),
        at in 1u64..60,
        seed in 1u64..9,
    ) -> (Experiment, Nanos) {
        let link = |rate: f64, delay| format!("{}kbit/{delay}ms", 10f64.powf(rate).round());
        let kind = outage.map_or(Kind::Mbb, |ms| Kind::Bbm(ms * MS));
        let notice = if in_band { NoticeMode::InBand { lost: 0 } } else { NoticeMode::Instant };
        let plain = experiment(&link(rates.0, delays.0), &link(rates.1, delays.1));
        let stack = PROFILES[stack];
        (Experiment { kind, flows, notice, seed, stack, packets: 30, ..plain }, at * 100 * MS)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 64))]

    #[test]
    fn any_capture_holds_its_trace((experiment, at) in any_handoff()) {
        check_contents("etcp-v1", &traces(&experiment, at, &["etcp-v1"])[0]);
    }

    #[test]
    #[ignore = "needs tshark tcptrace"]
    fn any_capture_in_tshark_and_tcptrace((experiment, at) in any_handoff()) {
        analyse("any", "etcp-v1", &traces(&experiment, at, &["etcp-v1"])[0]);
    }
}
