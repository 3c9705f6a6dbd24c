//! Tests that need no second host.

use super::records::{Ack, Ends};
use super::*;
use crate::layouts::segue_mobile_ack;
use etherparse::{NetSlice, SlicedPacket, TransportSlice};
use segue_policy::wire::Report;
use std::net::{Ipv4Addr, SocketAddr};

fn ack(local: &str, remote: &str) -> Ack {
    let [local, remote] = [local, remote].map(|text| text.parse::<SocketAddr>().expect("an address"));
    Ack {
        ends: Ends { remote, local, mark: 0, device: 0 },
        seq: 0x0102_0304,
        ack: 0xfffe_fdfc,
        stamps: Some((77, 78)),
        window: 501,
        nonce: 0xbeef,
        report: 9,
        copies: 2,
        also: false,
        ahead: false,
        waits: None,
    }
}

#[test]
fn a_crafted_ack_is_what_was_asked_for_and_its_checksums_are_right() {
    let (link, kind) = (Link { rate_kbps: 200, delay_us: 300_000 }, ReportType::Completed);
    for (local, remote) in [("10.1.2.3:4000", "10.1.2.4:443"), ("[fd00::1]:4000", "[fd00::2]:443")] {
        let ack = ack(local, remote);
        let packet = craft::packet(&ack, link, kind).expect("it can be built");
        let sliced = SlicedPacket::from_ip(&packet).expect("a packet");
        let Some(TransportSlice::Tcp(tcp)) = sliced.transport else { panic!("no TCP") };
        let right = match sliced.net.expect("an IP header") {
            NetSlice::Ipv4(ip) => {
                assert_eq!(ip.header().header_checksum(), ip.header().to_header().calc_header_checksum());
                assert_eq!(ip.header().source_addr(), ack.ends.local.ip());
                tcp.calc_checksum_ipv4(ip.header().source(), ip.header().destination())
            }
            NetSlice::Ipv6(ip) => {
                assert_eq!(ip.header().destination_addr(), ack.ends.remote.ip());
                tcp.calc_checksum_ipv6(ip.header().source(), ip.header().destination())
            }
            _ => panic!("no IP"),
        };
        assert_eq!(Ok(tcp.checksum()), right.map_err(|_| ()));
        assert_eq!(
            (tcp.source_port(), tcp.destination_port(), tcp.sequence_number(), tcp.acknowledgment_number()),
            (4000, 443, ack.seq, ack.ack)
        );
        assert_eq!((tcp.window_size(), tcp.ack(), tcp.syn(), tcp.psh()), (501, true, false, false));
        assert!(tcp.payload().is_empty());
        assert_eq!(tcp.options()[..12], [1, 1, 8, 10, 0, 0, 0, 77, 0, 0, 0, 78]);
        let report = Report::decode(&tcp.options()[12..]).expect("a report");
        assert_eq!(report, Report { kind, seq: 9, nonce: 0xbeef, link });
    }
}

#[test]
fn an_ipv4_connection_of_an_ipv6_socket_is_crafted_as_ipv4() {
    let mapped = |last| Ipv4Addr::new(10, 0, 0, last).to_ipv6_mapped().octets();
    let ack = segue_mobile_ack { remote: mapped(2), local: mapped(1), ..segue_mobile_ack::default() };
    let ack = Ack::from(ack);
    assert_eq!(
        (ack.ends.remote.to_string(), ack.ends.local.to_string()),
        ("10.0.0.2:0".into(), "10.0.0.1:0".into())
    );
}

#[test]
fn a_folder_that_is_no_cgroup_is_the_users_mistake() {
    let link = Link { rate_kbps: 1, delay_us: 0 };
    let absent = "No such file or directory (os error 2)";
    for (folder, why) in [("/nonexistent/cgroup", absent), ("/", "it is none")] {
        let error = attach(&Options { cgroup: folder.into(), link }).err().expect("an error");
        assert!(error.is_users(), "{error}");
        assert_eq!(
            error.to_string(),
            format!("cgroup {folder}: {why}; expected a folder of a mounted cgroup2")
        );
    }
    let error = attach(&Options { cgroup: "/".into(), link: Link { rate_kbps: 0, delay_us: 0 } }).err();
    assert_eq!(error.expect("an error").to_string(), "link in a report: rate is zero");
}

#[test]
#[ignore = "needs kernel"]
fn a_kernel_that_cannot_trigger_still_takes_the_other_programs() {
    let (_skel, trigger) = load(Parts { triggers: false, ..Parts::all(true) }, None).expect("they load");
    assert!(trigger.is_none());
}
