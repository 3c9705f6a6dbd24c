//! The same over Ethernet between two kernels: a device that is given large packets and checksums to compute.

use super::bench;
use super::options;
use segue_kernel::receiver::{Options, attach};
use segue_lab::host::{DEVICE, Role, SenderSettings};
use segue_lab::veth;
use segue_lab::{Error, Family};
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::sleep;
use std::time::Duration;

const BULK: usize = 1 << 20;

fn fault(error: impl std::fmt::Display) -> Error {
    Error::Fault(error.to_string())
}

fn octets(length: usize) -> Vec<u8> {
    (0..length).map(|index| (index * 31 % 251) as u8).collect()
}

#[test]
#[ignore = "needs kernel"]
fn a_closed_window_stops_one_direction_and_spoils_neither() {
    // Others look for what this process still holds: they wait.
    let _turn = bench::turn();
    let [server, mobile] = veth::hosts(&SenderSettings::default()).expect("two hosts");
    let options = Options { device: DEVICE.into(), ..options() };
    let mut receiver = mobile.namespace.within(|| attach(&options).map_err(fault)).expect("it attaches");
    for family in [Family::Ipv4, Family::Ipv6] {
        let address = Role::Server.address(family);
        let listen = || TcpListener::bind((address, 0)).map_err(fault);
        let listener = server.namespace.within(listen).expect("it listens");
        let to = listener.local_addr().expect("an address");
        let mut near =
            mobile.namespace.within(|| TcpStream::connect(to).map_err(fault)).expect("it connects");
        let (mut far, _) = listener.accept().expect("a connection");
        for stream in [&near, &far] {
            stream.set_read_timeout(Some(Duration::from_millis(300))).expect("a time limit");
        }
        let data = octets(BULK);
        let mut got = vec![0; BULK];
        far.write_all(&data[..1000]).expect("it is sent");
        near.read_exact(&mut got[..1000]).expect("it arrives");

        assert_eq!(receiver.close(Duration::from_secs(60)).expect("it closes"), 1);
        sleep(Duration::from_millis(20));
        // Towards the mobile nothing comes; it is a checksum that is right which says so.
        far.write_all(&data[..100_000]).expect("it waits in the buffer");
        let nothing = near.read(&mut got).expect_err("the window is closed");
        assert!(matches!(nothing.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{nothing}");
        // From the mobile all comes, in large packets.
        std::thread::scope(|scope| {
            scope.spawn(|| (&near).write_all(&data).expect("it is sent"));
            far.read_exact(&mut got).expect("it arrives");
        });
        assert!(got == data, "what the mobile sends is spoilt");

        assert_eq!(receiver.open().expect("it opens"), 1);
        near.read_exact(&mut got[..100_000]).expect("it comes at once");
        assert!(got[..100_000] == data[..100_000], "what the mobile receives is spoilt");
        drop((near, far));
    }
}
