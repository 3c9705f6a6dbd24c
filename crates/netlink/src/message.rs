//! Messages of a datagram, and attributes of a message. Parts that are cut off are left out.

/// Octets of the header of a message (`struct nlmsghdr`).
pub(crate) const HEADER: usize = 16;

/// A message: its header's words, and what follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// `nlmsg_type`.
    pub kind: u16,
    /// `nlmsg_flags`.
    pub flags: u16,
    /// `nlmsg_seq`: that of the question.
    pub sequence: u32,
    /// The family's own header, and attributes.
    pub payload: &'a [u8],
}

impl<'a> Message<'a> {
    /// Whole messages of a datagram.
    pub fn all(datagram: &'a [u8]) -> impl Iterator<Item = Self> {
        let mut rest = datagram;
        std::iter::from_fn(move || {
            let length = word(rest)? as usize;
            let one = rest.get(..length).filter(|one| one.len() >= HEADER)?;
            rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
            let [kind, flags] = [4, 6].map(|at| u16::from_ne_bytes([one[at], one[at + 1]]));
            Some(Self { kind, flags, sequence: word(&one[8..])?, payload: &one[HEADER..] })
        })
    }

    /// The attributes after a family's header of so many octets.
    pub fn attributes(&self, header: usize) -> impl Iterator<Item = (u16, &'a [u8])> {
        attributes(self.payload.get(header..).unwrap_or_default())
    }

    /// The octets of the message as it is sent; the kernel fills in the sender.
    pub fn octets(&self) -> Vec<u8> {
        let length = HEADER + self.payload.len();
        let mut octets = Vec::with_capacity(length);
        octets.extend((length as u32).to_ne_bytes());
        octets.extend(self.kind.to_ne_bytes());
        octets.extend(self.flags.to_ne_bytes());
        octets.extend(self.sequence.to_ne_bytes());
        octets.extend([0; 4]);
        octets.extend(self.payload);
        octets
    }
}

/// Kinds and values of attributes. `NLA_F_NESTED` and `NLA_F_NET_BYTEORDER` are no part of a kind.
pub fn attributes(octets: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    const FLAGS: u16 = 0xc000;
    let mut rest = octets;
    std::iter::from_fn(move || {
        let length = usize::from(half(rest)?);
        let value = rest.get(4..length)?;
        let kind = half(&rest[2..])? & !FLAGS;
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, value))
    })
}

/// The value of the first attribute of this kind.
pub fn attribute(octets: &[u8], kind: u16) -> Option<&[u8]> {
    attributes(octets).find(|(found, _)| *found == kind).map(|(_, value)| value)
}

/// Appends an attribute.
pub fn put_attribute(octets: &mut Vec<u8>, kind: u16, value: &[u8]) {
    octets.extend((4 + value.len() as u16).to_ne_bytes());
    octets.extend(kind.to_ne_bytes());
    octets.extend(value);
    octets.resize(octets.len().next_multiple_of(4), 0);
}

/// The first 32 bits.
pub fn word(octets: &[u8]) -> Option<u32> {
    octets.first_chunk().map(|four| u32::from_ne_bytes(*four))
}

/// The first 16 bits.
pub fn half(octets: &[u8]) -> Option<u16> {
    octets.first_chunk().map(|two| u16::from_ne_bytes(*two))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn messages_are_aligned_and_one_that_is_cut_off_is_none() {
        let message = |kind, payload| Message { kind, flags: 2, sequence: 7, payload };
        let (first, second) = (message(20, &[1, 2, 3]), message(21, &[4]));
        let mut datagram = first.octets();
        assert_eq!(datagram.len(), 19);
        datagram.push(0);
        datagram.extend(second.octets());
        assert_eq!(Message::all(&datagram).collect::<Vec<_>>(), [first, second]);
        assert_eq!(Message::all(&datagram[..36]).collect::<Vec<_>>(), [first]);
        assert_eq!(Message::all(&[8, 0, 0, 0, 1, 0, 0, 0]).count(), 0, "shorter than its header");
    }

    #[test]
    fn attributes_are_read_as_they_were_put() {
        let mut octets = Vec::new();
        put_attribute(&mut octets, 3, b"wlan0\0");
        put_attribute(&mut octets, 0x8000 | 18, &[1, 2, 3, 4]);
        assert_eq!(attributes(&octets).collect::<Vec<_>>(), [(3, &b"wlan0\0"[..]), (18, &[1, 2, 3, 4])]);
        assert_eq!(attribute(&octets, 18).and_then(word), Some(u32::from_ne_bytes([1, 2, 3, 4])));
        assert_eq!((attribute(&octets, 4), attribute(&octets[..15], 18)), (None, None));
        assert_eq!(attributes(&[3, 0, 1, 0]).count(), 0, "shorter than its header");
    }

    proptest! {
        #[test]
        fn no_octets_make_it_panic(octets in proptest::collection::vec(any::<u8>(), 0..200)) {
            for message in Message::all(&octets) {
                let _ = message.attributes(8).count();
            }
            let _ = attributes(&octets).count();
        }
    }
}
