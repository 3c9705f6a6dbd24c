//! nl80211: the rates of a Wi-Fi station's radio, and roaming between access points (linux/nl80211.h), by generic
//! netlink. A kernel without Wi-Fi has no such family; then there is nothing to hear.

use super::Error;
use super::event::Event;
use nix::libc;
use segue_netlink::{
    Client, Listener, Message, attribute, attributes, half, protocols::NETLINK_GENERIC, put_attribute, word,
};
use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd};

const NAME: &[u8] = b"nl80211\0";
/// Multicast group of the events of associations.
const GROUP: &[u8] = b"mlme\0";
/// Octets of events that may wait.
const ROOM: usize = 1 << 16;

const CONTROLLER: u16 = libc::GENL_ID_CTRL as u16;
const GET_FAMILY: u8 = libc::CTRL_CMD_GETFAMILY as u8;
const FAMILY_ID: u16 = libc::CTRL_ATTR_FAMILY_ID as u16;
const FAMILY_NAME: u16 = libc::CTRL_ATTR_FAMILY_NAME as u16;
const MULTICAST_GROUPS: u16 = libc::CTRL_ATTR_MCAST_GROUPS as u16;
const GROUP_NAME: u16 = libc::CTRL_ATTR_MCAST_GRP_NAME as u16;
const GROUP_ID: u16 = libc::CTRL_ATTR_MCAST_GRP_ID as u16;

const GET_STATION: u8 = 17;
const CONNECT: u8 = 46;
const ROAM: u8 = 47;
const DEVICE: u16 = 3;
/// Address of a station's own station: its access point.
const HARDWARE_ADDRESS: u16 = 6;
const STATION_INFO: u16 = 21;
const TX_BITRATE: u16 = 8;
const RX_BITRATE: u16 = 14;
const BITRATE_32: u16 = 5;
const BITRATE: u16 = 1;

/// Octets of generic netlink's header (`struct genlmsghdr`).
const GENLMSGHDR: usize = 4;

/// Stations of the network namespace in which it was opened.
pub struct Wifi {
    events: Listener,
    kernel: Client,
    family: u16,
    access_points: AccessPoints,
}

impl Wifi {
    /// `None`: this kernel has no Wi-Fi.
    ///
    /// # Errors
    /// The kernel has no such sockets to give.
    pub fn open() -> Result<Option<Self>, Error> {
        let failed = || Error::system("listen to Wi-Fi");
        // A kernel without generic netlink has no Wi-Fi.
        let Ok(mut kernel) = Client::open(NETLINK_GENERIC) else { return Ok(None) };
        let answer = match kernel.ask(CONTROLLER, &question(GET_FAMILY, FAMILY_NAME, NAME)) {
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) => return Ok(None),
            answer => answer.map_err(failed())?,
        };
        let Some((family, group)) = answer.messages().find_map(family) else { return Ok(None) };
        let events = Listener::open(NETLINK_GENERIC, &[group], ROOM).map_err(failed())?;
        Ok(Some(Self { events, kernel, family, access_points: AccessPoints::default() }))
    }

    /// Devices that have roamed since.
    ///
    /// # Errors
    /// The kernel does not tell of events any more.
    pub fn read(&mut self) -> Result<Vec<Event>, Error> {
        let news = self.events.read().map_err(Error::system("read what the kernel says of Wi-Fi"))?;
        let messages = news.datagrams.iter().flat_map(|datagram| Message::all(datagram));
        let mut events: Vec<_> = messages.filter(|one| one.kind == self.family).filter_map(roamed).collect();
        if news.lost {
            tracing::warn!("events of Wi-Fi were lost; access points are asked for again");
            for device in self.access_points.devices() {
                let before = self.access_points.of(device);
                self.station(device);
                let moved = self.access_points.of(device) != before;
                events.extend(moved.then_some(Event::Roamed(device)));
            }
        }
        Ok(events)
    }

    /// The rates of a device's radio now; nothing where it is no station, or not associated.
    pub fn station(&mut self, device: u32) -> Option<Event> {
        let question = question(GET_STATION, DEVICE, &device.to_ne_bytes());
        // An error: the device is none of nl80211's, or has gone.
        let answer = self.kernel.list(self.family, &question).ok()?;
        let stations = answer.messages();
        let rates = stations
            .inspect(|station| self.access_points.hear(device, station))
            .filter_map(|station| rates(&station));
        let (down_kbps, up_kbps) = rates.last()?;
        Some(Event::Station { device, down_kbps, up_kbps })
    }
}

impl AsFd for Wifi {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.events.as_fd()
    }
}

/// Which access point a device was last seen with.
#[derive(Debug, Default)]
struct AccessPoints(BTreeMap<u32, Vec<u8>>);

impl AccessPoints {
    fn hear(&mut self, device: u32, message: &Message<'_>) {
        if let Some(address) = attribute(parts(message), HARDWARE_ADDRESS) {
            self.0.insert(device, address.to_vec());
        }
    }

    fn devices(&self) -> Vec<u32> {
        self.0.keys().copied().collect()
    }

    fn of(&self, device: u32) -> Option<Vec<u8>> {
        self.0.get(&device).cloned()
    }
}

/// A message's payload: a command with one attribute.
fn question(command: u8, kind: u16, value: &[u8]) -> Vec<u8> {
    let mut octets = vec![command, 1, 0, 0];
    put_attribute(&mut octets, kind, value);
    octets
}

/// The attributes of a message.
fn parts<'a>(message: &Message<'a>) -> &'a [u8] {
    message.payload.get(GENLMSGHDR..).unwrap_or_default()
}

/// The number of nl80211 and of its group for associations.
fn family(message: Message<'_>) -> Option<(u16, u32)> {
    if message.kind != CONTROLLER {
        return None;
    }
    let id = half(attribute(parts(&message), FAMILY_ID)?)?;
    let groups = attribute(parts(&message), MULTICAST_GROUPS)?;
    let named = |group: &[u8]| attribute(group, GROUP_NAME) == Some(GROUP);
    let (_, group) = attributes(groups).find(|(_, group)| named(group))?;
    Some((id, word(attribute(group, GROUP_ID)?)?))
}

fn roamed(message: Message<'_>) -> Option<Event> {
    let known = [ROAM, CONNECT].contains(message.payload.first()?);
    known.then(|| attribute(parts(&message), DEVICE)).flatten().and_then(word).map(Event::Roamed)
}

/// kbit/s of the radio, received and sent.
fn rates(message: &Message<'_>) -> Option<(u32, u32)> {
    let station = attribute(parts(message), STATION_INFO)?;
    let rate = |kind| {
        let rate = attribute(station, kind)?;
        // 100 kbit/s, in 32 bits or, from old kernels, 16
        let wide = attribute(rate, BITRATE_32).and_then(word);
        let hundreds = wide.or_else(|| attribute(rate, BITRATE).and_then(half).map(u32::from))?;
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
        parts.iter().for_each(|(kind, value)| put_attribute(&mut octets, *kind, value));
        octets
    }

    fn payload(command: u8, parts: &[(u16, &[u8])]) -> Vec<u8> {
        [vec![command, 1, 0, 0], nested(parts)].concat()
    }

    fn message(kind: u16, payload: &[u8]) -> Message<'_> {
        Message { kind, flags: 0, sequence: 0, payload }
    }

    fn station(access_point: u8) -> Vec<u8> {
        let rx = nested(&[(BITRATE, &540u16.to_ne_bytes()), (BITRATE_32, &8667u32.to_ne_bytes())]);
        let tx = nested(&[(BITRATE, &240u16.to_ne_bytes())]);
        let info = nested(&[(1, &[0; 4]), (TX_BITRATE, &tx), (RX_BITRATE, &rx)]);
        let address = [2, 0, 0, 0, 0, access_point];
        payload(19, &[(DEVICE, &3u32.to_ne_bytes()), (HARDWARE_ADDRESS, &address), (STATION_INFO, &info)])
    }

    #[test]
    fn a_radios_rates() {
        assert_eq!(rates(&message(28, &station(1))), Some((866_700, 24_000)));
    }

    /// A changed access point tells of a roaming whose event was lost.
    #[test]
    fn another_access_point_is_known_by_its_address() {
        let mut access_points = AccessPoints::default();
        let mut seen = |access_point| {
            let before = access_points.of(3);
            access_points.hear(3, &message(28, &station(access_point)));
            access_points.of(3) != before
        };
        assert_eq!([seen(1), seen(1), seen(2), seen(2)], [true, false, true, false]);
        assert_eq!(access_points.devices(), [3]);
    }

    #[test]
    fn the_family_and_its_group() {
        let group = |name: &[u8], id: u32| nested(&[(GROUP_NAME, name), (GROUP_ID, &id.to_ne_bytes())]);
        let groups = nested(&[(1, &group(b"scan\0", 6)), (2, &group(GROUP, 8))]);
        let octets = payload(1, &[(FAMILY_ID, &28u16.to_ne_bytes()), (MULTICAST_GROUPS, &groups)]);
        assert_eq!(family(message(CONTROLLER, &octets)), Some((28, 8)));
        assert_eq!(family(message(CONTROLLER + 1, &octets)), None);
    }

    #[test]
    fn who_roams_or_connects_is_told_and_nothing_else() {
        let told = |command| roamed(message(28, &payload(command, &[(DEVICE, &3u32.to_ne_bytes())])));
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
            let mut whole = station(1);
            for (at, octet) in damage {
                let length = whole.len();
                whole[at.index(length)] = octet;
            }
            for octets in [octets, whole] {
                rates(&message(28, &octets));
                family(message(CONTROLLER, &octets));
                roamed(message(28, &octets));
                AccessPoints::default().hear(3, &message(28, &octets));
            }
        }
    }
}
