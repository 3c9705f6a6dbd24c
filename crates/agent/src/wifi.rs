//! nl80211: the rates of a Wi-Fi station's radio, and roaming between access points (linux/nl80211.h), by generic
//! netlink. A kernel without Wi-Fi has no such family; then there is nothing to hear.

use super::Error;
use super::event::Event;
use netlink_packet_core::{NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST, NlasIterator};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_GENERIC};
use nix::libc::MSG_DONTWAIT;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// Generic netlink's own family (linux/genetlink.h).
const CONTROLLER: u16 = 0x10;
const GET_FAMILY: u8 = 3;
const FAMILY_ID: u16 = 1;
const FAMILY_NAME: u16 = 2;
const MULTICAST_GROUPS: u16 = 7;
const GROUP_NAME: u16 = 1;
const GROUP_ID: u16 = 2;
const NAME: &[u8] = b"nl80211\0";
/// Of the events of associations.
const GROUP: &[u8] = b"mlme\0";

const GET_STATION: u8 = 17;
const CONNECT: u8 = 46;
const ROAM: u8 = 47;
const DEVICE: u16 = 3;
const STATION_INFO: u16 = 21;
const TX_BITRATE: u16 = 8;
const RX_BITRATE: u16 = 14;
const BITRATE_32: u16 = 5;
const BITRATE: u16 = 1;

const DONE: u16 = 3;
const ERROR: u16 = 2;
/// Netlink's header and generic netlink's.
const HEADERS: usize = 20;

/// Stations of the network namespace in which it was opened.
pub struct Wifi {
    events: Socket,
    kernel: Socket,
    family: u16,
}

impl Wifi {
    /// `None`: this kernel has no Wi-Fi.
    ///
    /// # Errors
    /// The kernel has no such sockets to give.
    pub fn open() -> Result<Option<Self>, Error> {
        let failed = || Error::system("listen to Wi-Fi");
        let open = || -> io::Result<Socket> {
            let mut socket = Socket::new(NETLINK_GENERIC)?;
            socket.bind_auto()?;
            socket.connect(&SocketAddr::new(0, 0))?;
            Ok(socket)
        };
        // A kernel without generic netlink has no Wi-Fi.
        let Ok(kernel) = open() else { return Ok(None) };
        let mut attribute = Vec::new();
        put(&mut attribute, FAMILY_NAME, NAME);
        let question = message(CONTROLLER, NLM_F_REQUEST | NLM_F_ACK, GET_FAMILY, &attribute);
        kernel.send(&question, 0).map_err(failed())?;
        let (answer, _) = kernel.recv_from_full().map_err(failed())?;
        let Some((family, group)) = messages(&answer).find_map(family) else { return Ok(None) };
        // The acknowledgement.
        kernel.recv_from_full().map_err(failed())?;
        let events = open().map_err(failed())?;
        events.add_membership(group).map_err(failed())?;
        Ok(Some(Self { events, kernel, family }))
    }

    /// Who has roamed since.
    pub fn read(&self) -> Vec<Event> {
        let mut events = Vec::new();
        let mut octets = Vec::with_capacity(1 << 13);
        while self.events.recv(&mut octets, MSG_DONTWAIT).is_ok() {
            events.extend(messages(&octets).filter(|one| one.kind == self.family).filter_map(roamed));
            octets.clear();
        }
        events
    }

    /// The rates of a device's radio now; nothing where it is no station, or not associated.
    ///
    /// # Errors
    /// The socket fails.
    pub fn station(&self, device: u32) -> Result<Option<Event>, Error> {
        let failed = || Error::system("ask for a Wi-Fi station's rates");
        let mut attribute = Vec::new();
        put(&mut attribute, DEVICE, &device.to_ne_bytes());
        let question = message(self.family, NLM_F_REQUEST | NLM_F_DUMP, GET_STATION, &attribute);
        self.kernel.send(&question, 0).map_err(failed())?;
        let mut found = None;
        loop {
            let (octets, _) = self.kernel.recv_from_full().map_err(failed())?;
            for one in messages(&octets) {
                if one.kind == DONE || one.kind == ERROR {
                    return Ok(found);
                }
                found = found.or_else(|| {
                    rates(&one).map(|(down_kbps, up_kbps)| Event::Station { device, down_kbps, up_kbps })
                });
            }
        }
    }
}

impl AsFd for Wifi {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.events.as_fd()
    }
}

/// A message of generic netlink.
struct Message<'a> {
    kind: u16,
    command: u8,
    attributes: &'a [u8],
}

/// Whole messages of a datagram.
fn messages(octets: &[u8]) -> impl Iterator<Item = Message<'_>> {
    let mut rest = octets;
    std::iter::from_fn(move || {
        let length = u32::from_ne_bytes(*rest.first_chunk()?) as usize;
        let one = rest.get(..length).filter(|one| one.len() >= 16)?;
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        let kind = u16::from_ne_bytes([one[4], one[5]]);
        let command = one.get(16).copied().unwrap_or(0);
        Some(Message { kind, command, attributes: one.get(HEADERS..).unwrap_or_default() })
    })
}

fn message(kind: u16, flags: u16, command: u8, attributes: &[u8]) -> Vec<u8> {
    let mut octets = Vec::with_capacity(HEADERS + attributes.len());
    octets.extend(((HEADERS + attributes.len()) as u32).to_ne_bytes());
    octets.extend(kind.to_ne_bytes());
    octets.extend(flags.to_ne_bytes());
    octets.extend([0; 8]);
    octets.extend([command, 1, 0, 0]);
    octets.extend(attributes);
    octets
}

fn put(octets: &mut Vec<u8>, kind: u16, value: &[u8]) {
    octets.extend((4 + value.len() as u16).to_ne_bytes());
    octets.extend(kind.to_ne_bytes());
    octets.extend(value);
    octets.resize(octets.len().next_multiple_of(4), 0);
}

/// The value of an attribute.
fn attribute(attributes: &[u8], kind: u16) -> Option<&[u8]> {
    NlasIterator::new(attributes)
        .map_while(Result::ok)
        .find(|nla| nla.kind() == kind)
        .map(|nla| nla.into_inner())
        .and_then(|octets| {
            let length = usize::from(u16::from_ne_bytes([octets[0], octets[1]]));
            octets.get(4..length)
        })
}

fn word(attributes: &[u8], kind: u16) -> Option<u32> {
    attribute(attributes, kind)?.first_chunk().map(|four| u32::from_ne_bytes(*four))
}

fn half(attributes: &[u8], kind: u16) -> Option<u16> {
    attribute(attributes, kind)?.first_chunk().map(|two| u16::from_ne_bytes(*two))
}

/// The number of nl80211 and of its group for associations.
fn family(message: Message<'_>) -> Option<(u16, u32)> {
    if message.kind != CONTROLLER {
        return None;
    }
    let id = half(message.attributes, FAMILY_ID)?;
    let groups = attribute(message.attributes, MULTICAST_GROUPS)?;
    let mut named = NlasIterator::new(groups).map_while(Result::ok).map(|nla| nla.into_inner());
    named.find_map(|group| {
        let inside = group.get(4..)?;
        (attribute(inside, GROUP_NAME)? == GROUP)
            .then(|| word(inside, GROUP_ID))
            .flatten()
            .map(|group| (id, group))
    })
}

fn roamed(message: Message<'_>) -> Option<Event> {
    let known = message.command == ROAM || message.command == CONNECT;
    known.then(|| word(message.attributes, DEVICE)).flatten().map(Event::Roamed)
}

/// kbit/s of the radio, received and sent.
fn rates(message: &Message<'_>) -> Option<(u32, u32)> {
    let station = attribute(message.attributes, STATION_INFO)?;
    let rate = |kind| {
        let rate = attribute(station, kind)?;
        // 100 kbit/s, in 32 bits or, from old kernels, 16
        let hundreds = word(rate, BITRATE_32).or_else(|| half(rate, BITRATE).map(u32::from))?;
        Some(hundreds.saturating_mul(100)).filter(|rate| *rate > 0)
    };
    let up = rate(TX_BITRATE)?;
    // Nothing has been received yet.
    Some((rate(RX_BITRATE).unwrap_or(up), up))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn nested(parts: &[(u16, &[u8])]) -> Vec<u8> {
        let mut octets = Vec::new();
        parts.iter().for_each(|(kind, value)| put(&mut octets, *kind, value));
        octets
    }

    fn station() -> Vec<u8> {
        let rx = nested(&[(BITRATE, &540u16.to_ne_bytes()), (BITRATE_32, &8667u32.to_ne_bytes())]);
        let tx = nested(&[(BITRATE, &240u16.to_ne_bytes())]);
        let info = nested(&[(1, &[0; 4]), (TX_BITRATE, &tx), (RX_BITRATE, &rx)]);
        nested(&[(DEVICE, &3u32.to_ne_bytes()), (STATION_INFO, &info)])
    }

    #[test]
    fn a_radios_rates() {
        let octets = message(28, 0, 19, &station());
        let one = messages(&octets).next().expect("a message");
        assert_eq!(rates(&one), Some((866_700, 24_000)));
    }

    #[test]
    fn the_family_and_its_group() {
        let group = |name: &[u8], id: u32| nested(&[(GROUP_NAME, name), (GROUP_ID, &id.to_ne_bytes())]);
        let groups = nested(&[(1, &group(b"scan\0", 6)), (2, &group(GROUP, 8))]);
        let octets = message(
            CONTROLLER,
            0,
            1,
            &nested(&[(FAMILY_ID, &28u16.to_ne_bytes()), (MULTICAST_GROUPS, &groups)]),
        );
        assert_eq!(messages(&octets).find_map(family), Some((28, 8)));
    }

    #[test]
    fn who_roams_or_connects_is_told_and_nothing_else() {
        let told = |command| {
            let octets = message(28, 0, command, &nested(&[(DEVICE, &3u32.to_ne_bytes())]));
            messages(&octets).find_map(roamed)
        };
        assert_eq!(
            (told(ROAM), told(CONNECT), told(34)),
            (Some(Event::Roamed(3)), Some(Event::Roamed(3)), None)
        );
    }

    #[test]
    fn a_kernel_without_wifi_is_no_error() {
        assert!(Wifi::open().is_ok());
    }

    proptest! {
        #[test]
        fn no_octets_make_it_panic(
            octets in proptest::collection::vec(any::<u8>(), 0..300),
            damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        ) {
            let mut whole = message(28, 0, ROAM, &station());
            for (at, octet) in damage {
                let length = whole.len();
                whole[at.index(length)] = octet;
            }
            for octets in [octets, whole] {
                for one in messages(&octets) {
                    rates(&one);
                    family(Message { ..one });
                }
                messages(&octets).for_each(|one| drop(roamed(one)));
            }
        }
    }
}
