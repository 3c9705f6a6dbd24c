//! ACKs of a mobile over its old link after a handoff without an outage, to a slower link that takes longer
//! (docs/reference/mobile.md, 2.7).
//!
//! From the handoff on a mobile's ACKs take the new link's way, and tell of the bounded window. Until the first of them
//! is there, ACKs of before let the peer send, and the peer fills the window of before. It overflows the new link's
//! queue. The old uplink is faster, and may still carry. So the mobile tells the bound there, too:
//!
//! * A first ACK of each connection, when something has come in order. It is of one packet beyond the last ACK that went
//!   by the old link. A window that shrinks is heeded in an ACK that advances (`tcp_may_update_window` of Linux).
//! * Then ACKs of one packet more, in turn, one in the time of a packet on the new link.
//! * None while a packet is missing, and none within what SACKs have told of: Linux takes that for reneging, and its
//!   timeout for due (RFC 2018, 8; `tcp_check_sack_reneging`). The first ACK behind a hole is of all that.
//! * None from when it would come later than the first ACK by the new link.
//!
//! Each is of what the mobile has acknowledged anyway, and less. Its stamp is that of the handoff. An ACK with a newer
//! stamp would be there first. It would make those look old that are on their way by the new link (RFC 7323, 5: PAWS).

use super::window::Path;

/// ACKs of one handoff at most: a bound for the network.
pub const MOST: u32 = 256;

/// No ACK is told over the old link so long after the handoff, ns.
const LONGEST: u64 = 1_000_000_000;

/// A connection.
#[derive(Clone, Copy, Debug)]
struct Flow {
    /// The highest number that was told by the old link.
    told: u32,
    /// The highest number that has been acknowledged by any.
    came: u32,
    /// The highest number that SACKs have told of.
    sacked: u32,
    /// A packet, in these numbers; positive.
    packet: u32,
    /// Its first ACK has left.
    began: bool,
    /// Its ACKs cannot leave.
    refused: bool,
}

/// By how much the first number is beyond the second (RFC 9293, 3.4: modulo 2^32).
fn beyond(number: u32, other: u32) -> u32 {
    let beyond = number.wrapping_sub(other);
    if beyond < 1 << 31 { beyond } else { 0 }
}

impl Flow {
    /// How far it can still advance.
    fn ahead(&self) -> u32 {
        if self.refused || beyond(self.sacked, self.came) > 0 { 0 } else { beyond(self.came, self.told) }
    }

    /// Tells so many packets more; the number.
    fn tell(&mut self, packets: u32) -> u32 {
        let wanted = packets.saturating_mul(self.packet).max(beyond(self.sacked, self.told));
        self.told = self.told.wrapping_add(self.ahead().min(wanted));
        self.told
    }
}

/// The ACKs that one mobile sends by its old link.
#[derive(Clone, Debug)]
pub struct Early {
    flows: Vec<Flow>,
    /// Time of a packet on the new link, ns.
    slot: u64,
    /// From then on an ACK by the old link would come too late.
    until: u64,
    /// When the next packet may be told, once one has been.
    next: Option<u64>,
    /// The flow whose turn it is.
    turn: usize,
    /// How many may still leave.
    left: u32,
}

impl Early {
    /// From now on. `ways`: how long an ACK takes by the old and by the new uplink, ns. None: an ACK by the new one is
    /// there as soon.
    pub fn new(now: u64, new: &Path, ways: [u64; 2]) -> Option<Self> {
        let [old, late] = ways;
        let gain = late.checked_sub(old).filter(|gain| *gain > 0)?;
        let slot = u64::try_from(new.slot()).unwrap_or(u64::MAX).max(1);
        Some(Self {
            flows: Vec::new(),
            slot,
            until: now.saturating_add(gain.min(LONGEST)),
            next: None,
            turn: 0,
            left: MOST,
        })
    }

    /// One more connection; its number. `told`: what has been acknowledged by the old link.
    pub fn add(&mut self, told: u32, packet: u32) -> usize {
        self.flows.push(Flow {
            told,
            came: told,
            sacked: told,
            packet: packet.max(1),
            began: false,
            refused: false,
        });
        self.flows.len() - 1
    }

    /// A connection has acknowledged everything before this number. `sacked`: the highest number of which its SACKs have
    /// told so far; one that is not beyond tells nothing.
    #[inline]
    pub fn came(&mut self, connection: usize, number: u32, sacked: u32) {
        if let Some(flow) = self.flows.get_mut(connection) {
            flow.came = number;
            flow.sacked = flow.sacked.wrapping_add(beyond(sacked, flow.sacked));
        }
    }

    /// The host does not send this connection's ACKs: none follows. Those of others may take another route.
    pub fn refused(&mut self, connection: usize) {
        if let Some(flow) = self.flows.get_mut(connection) {
            flow.refused = true;
        }
    }

    /// Whether no more will leave.
    pub fn is_over(&self, now: u64) -> bool {
        let none_is_left = !self.flows.is_empty() && self.flows.iter().all(|flow| flow.refused);
        now >= self.until || self.left == 0 || none_is_left
    }

    /// When [`Early::next`] is to be asked again if nothing comes meanwhile; `None`: not before something does.
    pub fn deadline(&self) -> Option<u64> {
        let waits = |began: bool| self.flows.iter().any(|flow| flow.began == began && flow.ahead() > 0);
        if self.left == 0 {
            return None;
        }
        if waits(false) {
            return Some(0);
        }
        self.next.filter(|next| *next < self.until && waits(true))
    }

    /// The next ACK to send now: of which connection, and its number.
    pub fn next(&mut self, now: u64) -> Option<(usize, u32)> {
        if self.is_over(now) {
            return None;
        }
        if let Some(index) = self.flows.iter().position(|flow| !flow.began && flow.ahead() > 0) {
            self.flows[index].began = true;
            self.next.get_or_insert(now.saturating_add(self.slot));
            return Some(self.says(index, 1));
        }
        let due = self.next.filter(|due| *due <= now)?;
        let count = self.flows.len();
        let Some(index) =
            (0..count).map(|ahead| (self.turn + ahead) % count).find(|index| self.flows[*index].ahead() > 0)
        else {
            // Packets that were not told in time are not told at once later.
            self.next = Some(now);
            return None;
        };
        let packets = 1 + (now - due) / self.slot;
        self.next = Some(due.saturating_add(packets.saturating_mul(self.slot)));
        self.turn = index + 1;
        Some(self.says(index, u32::try_from(packets).unwrap_or(u32::MAX)))
    }

    fn says(&mut self, index: usize, packets: u32) -> (usize, u32) {
        self.left -= 1;
        (index, self.flows[index].tell(packets))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// 200 kbit/s: 60 ms for a packet of 1500 octets.
    fn slow() -> Path {
        Path { rate: 200_000, round_trip: 608 * MS, queue: 10, packet_bits: 12_000 }
    }

    fn early(ways: [u64; 2]) -> Early {
        Early::new(0, &slow(), ways).expect("the new way is longer")
    }

    /// All ACKs until the end, in ms, if the agent looks each millisecond.
    fn all(early: &mut Early, from: u64) -> Vec<(u64, usize, u32)> {
        let look = |ms: u64| (ms, early.next(ms * MS));
        let looks: Vec<_> = (from..1000).map(look).collect();
        looks.into_iter().filter_map(|(ms, ack)| ack.map(|(index, number)| (ms, index, number))).collect()
    }

    #[test]
    fn only_a_longer_way_has_any() {
        assert!(Early::new(0, &slow(), [9 * MS, 9 * MS]).is_none());
        assert!(Early::new(0, &slow(), [300 * MS, 9 * MS]).is_none());
        assert!(!early([9 * MS, 300 * MS]).is_over(291 * MS - 1));
        assert!(early([9 * MS, 300 * MS]).is_over(291 * MS));
    }

    #[test]
    fn a_packet_at_once_and_one_more_in_each_packets_time() {
        let mut early = early([9 * MS, 300 * MS]);
        early.add(u32::MAX - 2000, 1448);
        assert_eq!((early.next(0), early.deadline()), (None, None), "nothing has come");
        early.came(0, (u32::MAX - 2000).wrapping_add(20 * 1448), u32::MAX - 2000);
        assert_eq!(early.deadline(), Some(0));
        let number = |packets: u32| (u32::MAX - 2000).wrapping_add(packets * 1448);
        // From 3 ms on, until 291 ms.
        let expected = [(3, 0, number(1)), (63, 0, number(2)), (123, 0, number(3)), (183, 0, number(4))];
        assert_eq!(all(&mut early, 3), [&expected[..], &[(243, 0, number(5))]].concat());
        assert_eq!(early.deadline(), None);
    }

    #[test]
    fn nothing_is_acknowledged_that_has_not_come() {
        let mut early = early([9 * MS, 300 * MS]);
        early.add(100, 10);
        early.came(0, 104, 0);
        assert_eq!((early.next(0), early.next(200 * MS)), (Some((0, 104)), None));
        early.came(0, 90, 0);
        assert_eq!(early.next(210 * MS), None, "an ACK of before");
        // The 200 ms without anything to tell are not made up for.
        early.came(0, 200, 0);
        assert_eq!((early.next(215 * MS), early.next(216 * MS)), (Some((0, 114)), None));
        assert_eq!((early.next(269 * MS), early.next(270 * MS)), (None, Some((0, 124))));
    }

    /// tcp_check_sack_reneging: the first packet without an ACK must not be one that a SACK has told of.
    #[test]
    fn nothing_ends_within_what_sacks_have_told_of() {
        let mut early = early([9 * MS, 300 * MS]);
        early.add(u32::MAX - 9, 10);
        let number = |packets: u32| (u32::MAX - 9).wrapping_add(packets * 10);
        // The second is missing, the third to sixth are there.
        early.came(0, number(1), number(6));
        assert_eq!((early.next(0), early.deadline()), (None, None));
        early.came(0, number(9), number(6));
        assert_eq!((early.next(10 * MS), early.next(70 * MS)), (Some((0, number(6))), Some((0, number(7)))));
        // Once more, behind the first ACK.
        early.came(0, number(9), number(12));
        assert_eq!(early.next(130 * MS), None);
        early.came(0, number(13), number(12));
        assert_eq!(
            (early.next(130 * MS), early.next(190 * MS)),
            (Some((0, number(12))), Some((0, number(13))))
        );
    }

    #[test]
    fn who_looks_late_tells_more_at_once() {
        let mut early = early([9 * MS, 300 * MS]);
        early.add(0, 10);
        early.came(0, 1000, 0);
        assert_eq!((early.next(0), early.next(185 * MS)), (Some((0, 10)), Some((0, 40))));
        assert_eq!((early.next(239 * MS), early.next(240 * MS)), (None, Some((0, 50))));
    }

    #[test]
    fn a_connection_whose_ack_is_refused_is_told_nothing_more() {
        let mut early = early([9 * MS, 300 * MS]);
        for connection in 0..2 {
            early.add(0, 10);
            early.came(connection, 1000, 0);
        }
        assert_eq!(early.next(0), Some((0, 10)));
        early.refused(0);
        assert_eq!(all(&mut early, 1), [(1, 1, 10), (60, 1, 20), (120, 1, 30), (180, 1, 40), (240, 1, 50)]);
        assert!(!early.is_over(250 * MS));
        early.refused(1);
        assert!(early.is_over(250 * MS), "nobody is left");
        early.refused(7);
    }

    #[test]
    fn connections_begin_at_once_and_then_take_turns() {
        let mut early = early([9 * MS, 300 * MS]);
        for connection in 0..3 {
            early.add(0, 1);
            early.came(connection, if connection == 1 { 0 } else { 9 }, 0);
        }
        let said = all(&mut early, 0);
        assert_eq!(said, [(0, 0, 1), (1, 2, 1), (60, 0, 2), (120, 2, 2), (180, 0, 3), (240, 2, 3)]);
    }

    #[test]
    fn there_is_a_bound() {
        let path = Path { rate: 1_000_000_000, ..slow() };
        let mut early = Early::new(0, &path, [0, 1000 * MS]).expect("it is longer");
        early.add(0, 1);
        early.came(0, 1 << 30, 0);
        assert_eq!(all(&mut early, 0).len(), MOST as usize);
        assert!(early.is_over(500 * MS) && early.deadline().is_none());
    }
}
