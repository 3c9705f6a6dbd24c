//! A TCP segment as the endpoints see it: numbers in packets, options decoded.

/// Most SACK blocks that fit into 40 bytes of options.
pub const MAX_SACK_BLOCKS: usize = 4;

/// SACK blocks (RFC 2018), most recent first: packets `left..right` have arrived.
#[derive(Clone, Copy, Default)]
#[repr(C)] // the number before the blocks: see [`Segment`]
pub struct SackList {
    len: u8,
    /// Blocks; those beyond `len` mean nothing.
    blocks: [(u32, u32); MAX_SACK_BLOCKS],
}

impl PartialEq for SackList {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Eq for SackList {}

impl std::fmt::Debug for SackList {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.as_slice()).finish()
    }
}

impl SackList {
    /// Adds a block if there is room, and says whether there was.
    pub fn push(&mut self, left: u32, right: u32) -> bool {
        let room = usize::from(self.len) < MAX_SACK_BLOCKS;
        if room {
            self.blocks[usize::from(self.len)] = (left, right);
            self.len += 1;
        }
        room
    }

    /// The blocks.
    #[inline]
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.len)]
    }

    /// Number of blocks.
    #[inline]
    pub fn len(&self) -> usize {
        usize::from(self.len)
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Overwrites `place`, no more of it than must be.
    #[inline]
    fn write(self, place: &mut Self) {
        place.len = self.len;
        if self.len > 0 {
            place.blocks = self.blocks;
        }
    }

    /// The duplicate that the first block reports, if it is a D-SACK (RFC 2883, section 4). That is a block that starts
    /// below the cumulative ACK, or one inside the second block.
    pub fn dsack(&self, ack: u32) -> Option<(u32, u32)> {
        let &[first, ref rest @ ..] = self.as_slice() else { return None };
        let inside = rest.first().is_some_and(|&(left, right)| left <= first.0 && first.1 <= right);
        (first.0 < ack || inside).then_some(first)
    }
}

/// An option that TCP carries for somebody else, opaque here (kind 253, RFC 6994).
#[derive(Clone, Copy, Default)]
pub struct CarriedOption {
    /// Bytes; those beyond `len` mean nothing.
    bytes: [u8; 12],
    len: u8,
}

impl PartialEq for CarriedOption {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Eq for CarriedOption {}

impl std::fmt::Debug for CarriedOption {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.as_slice()).finish()
    }
}

impl CarriedOption {
    /// An option of at most 12 bytes, kind and length included; `None` if it is longer.
    pub fn new(option: &[u8]) -> Option<Self> {
        let mut bytes = [0; 12];
        bytes.get_mut(..option.len())?.copy_from_slice(option);
        Some(Self { bytes, len: option.len() as u8 })
    }

    /// Overwrites `place`, no more of it than must be.
    #[inline]
    fn write(self, place: &mut Self) {
        place.len = self.len;
        if self.len > 0 {
            place.bytes = self.bytes;
        }
    }

    /// The whole option, kind and length included; empty if there is none.
    #[inline]
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// RFC 7323 time stamps, in the stack's units.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timestamps {
    /// Clock of the one who sends.
    pub value: u32,
    /// Last value received from the other side.
    pub echo: u32,
}

impl Timestamps {
    /// Whether the clock does not stand before `recent`, modulo 2^32 (RFC 7323, 4.3 and 5.2).
    #[inline]
    pub fn is_not_before(&self, recent: u32) -> bool {
        self.value.wrapping_sub(recent) as i32 >= 0
    }
}

/// A segment's words on congestion without loss (RFC 3168): the field of its IP header, and two flags of TCP.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Ecn(u8);

impl Ecn {
    /// IP: its sender understands marks (ECT(0)).
    pub const ECT: Self = Self(1);
    /// IP: a queue has marked it (CE).
    pub const CE: Self = Self(2);
    /// TCP: a mark has come (ECE); on a SYN with CWR, marks are understood.
    pub const ECE: Self = Self(4);
    /// TCP: the window has been cut (CWR).
    pub const CWR: Self = Self(8);

    /// Whether it says all that `other` does.
    #[inline]
    pub fn says(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether it says nothing.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// Something that numbers of packets do not say.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub enum Detail {
    /// Nothing.
    #[default]
    None,
    /// An ACK: the first octet of packet `ack` is acknowledged, too.
    Octet,
    /// Data: its host has cut several packets from one that TCP handed over (GSO).
    Cut,
}

/// A segment.
///
/// The SACK blocks come last in memory: what most segments carry, up to the number of blocks, takes 48 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Segment {
    /// Number of the packet it carries (0 = SYN); without payload, the next to be sent.
    pub seq: u32,
    /// Next packet expected from the other side.
    pub ack: u32,
    /// Packets that the other side may send beyond `ack`.
    pub window: u32,
    /// Time stamps, if negotiated.
    pub timestamps: Option<Timestamps>,
    /// Bytes carried.
    pub payload: u16,
    /// It opens the connection and takes packet number 0.
    pub syn: bool,
    /// The sender's application has written no further for now (PSH).
    pub push: bool,
    /// `ack`, `window` and `sack` are valid.
    pub has_ack: bool,
    /// Something beside numbers.
    pub detail: Detail,
    /// Marks, and what is said of them.
    pub ecn: Ecn,
    /// An option carried for somebody else.
    pub option: CarriedOption,
    /// SACK blocks.
    pub sack: SackList,
}

impl Segment {
    /// Whether it takes a sequence number.
    #[inline]
    pub fn is_data(&self) -> bool {
        self.syn || self.payload > 0
    }

    /// Whether the first octet of packet `ack` is acknowledged, too.
    #[inline]
    pub fn has_octet(&self) -> bool {
        self.detail == Detail::Octet
    }

    /// Overwrites `place`; of SACK blocks and option only what there is, and a data segment mostly has none.
    #[inline(always)] // so that a segment is made where it will lie
    pub fn write(self, place: &mut Self) {
        let Self { seq, ack, window, payload, syn, push, has_ack, detail, ecn, sack, timestamps, option } =
            self;
        place.seq = seq;
        place.ack = ack;
        place.window = window;
        place.payload = payload;
        place.syn = syn;
        place.push = push;
        place.has_ack = has_ack;
        place.detail = detail;
        place.ecn = ecn;
        place.timestamps = timestamps;
        sack.write(&mut place.sack);
        option.write(&mut place.option);
    }
}
