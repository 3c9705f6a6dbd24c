//! The two options of TCP-HO as its paper has them (Wu, Chan and Ananda 2008, Figure 2;
//! algorithms.md 4.1). Segue's own notice is another one ([`Report`](super::Report)).
//!
//! The paper's option kinds are not known: the two experimental ones (RFC 4727) stand in.

use super::OptionError;

/// Kind of [`CapabilityMask`].
pub const CAPABILITY_KIND: u8 = 253;
/// Octets of [`CapabilityMask`].
pub const CAPABILITY_LENGTH: usize = 4;
/// Kind of [`Bandwidth`].
pub const BANDWIDTH_KIND: u8 = 254;
/// Octets of [`Bandwidth`].
pub const BANDWIDTH_LENGTH: usize = 6;

/// "TCP capability option", on SYN and SYN-ACK: kind, length, mask of 16 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CapabilityMask(pub u16);

impl CapabilityMask {
    /// The last bit: TCP-HO.
    pub const TCP_HO: Self = Self(1);

    /// Whether both ends have TCP-HO.
    pub const fn agree_on_tcp_ho(self, other: Self) -> bool {
        self.0 & other.0 & Self::TCP_HO.0 != 0
    }

    /// The octets of the option.
    pub const fn encode(self) -> [u8; CAPABILITY_LENGTH] {
        let [high, low] = self.0.to_be_bytes();
        [CAPABILITY_KIND, CAPABILITY_LENGTH as u8, high, low]
    }

    /// The mask that these octets, kind to end, are.
    pub fn decode(octets: &[u8]) -> Result<Self, OptionError> {
        body::<2>(octets, CAPABILITY_KIND).map(|mask| Self(u16::from_be_bytes(mask)))
    }
}

/// "TCP bandwidth option", on the ACKs that notify: kind, length, kbit/s in 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bandwidth {
    /// Rate of the new wireless link, kbit/s.
    pub kbps: u32,
}

impl Bandwidth {
    /// The octets of the option.
    pub const fn encode(self) -> [u8; BANDWIDTH_LENGTH] {
        let [a, b, c, d] = self.kbps.to_be_bytes();
        [BANDWIDTH_KIND, BANDWIDTH_LENGTH as u8, a, b, c, d]
    }

    /// The bandwidth that these octets, kind to end, are.
    pub fn decode(octets: &[u8]) -> Result<Self, OptionError> {
        body::<4>(octets, BANDWIDTH_KIND).map(|kbps| Self { kbps: u32::from_be_bytes(kbps) })
    }
}

/// The octets after kind and length, if both are right; the first fault is the answer.
fn body<const N: usize>(octets: &[u8], kind: u8) -> Result<[u8; N], OptionError> {
    let &[of_kind, length, ref rest @ ..] = octets else { return Err(OptionError::Length) };
    if of_kind != kind {
        return Err(OptionError::Kind);
    }
    if usize::from(length) != octets.len() {
        return Err(OptionError::Length);
    }
    rest.try_into().map_err(|_| OptionError::Length)
}
