//! How far a mobile bounds the windows of its ACKs when its new link is slower, or its path holds less, than before.
//!
//! * All connections together may have W packets under way: what the whole path holds, and half of the new link's queue.
//!   With less the link would idle between two ACKs, with more its queue would overflow.
//! * Half of W is divided evenly among the connections on which something came in the last round, and half by what came
//!   on each. A round is a round trip.
//! * Where the new path takes longer than timers of senders ([`timers_expire`]), each of them resends packets that are
//!   still under way. Parts of the first round leave room for these.
//! * A round in which more comes than the link was taken to carry raises that rate, and W.
//! * The bound of a connection begins at once on a slower link. After an outage, and on a link that is no slower, it
//!   begins when all has come that the old path can have held ([`begins_after`]). Lost data is resent, and what the old
//!   link still holds comes later than what the new one could bring. A window that ends there would hold that up.
//! * The bound holds for as long as it limits. If sixteen rounds in a row, and two seconds at least, bring less than half
//!   of that rate, something else limits, and the bound ends. A round that brings nothing tells nothing.
//!
//! Packets are of one size. The caller takes the least of this bound and the window that it would offer anyhow.

/// Nanoseconds of a second.
const SECOND: u128 = 1_000_000_000;
/// Least window of a connection: an ACK for every second packet still comes at once.
const LEAST: u32 = 2;
/// Shortest round: shorter ones count too few packets.
const SHORTEST_ROUND: u64 = 20_000_000;
/// Linux's TCP_RTO_MIN, ns: a timer has it beyond a steady round trip.
const RTO_MIN: u64 = 200_000_000;
/// Packets that a sender resends if its timer expires before the first ACK over the new path. It resends the first
/// unacknowledged one, and by slow start one more with that ACK.
const RESENT: u32 = 2;
/// Packets of the shortest queue that [`usual_queue`] expects.
const SHORTEST_QUEUE: u64 = 5;
/// Rounds in a row with less than half of the rate, and how long they take at least, ns. On a short path sixteen may be
/// over before a sender has resent what it lost, or a program has asked for its next file.
const SLACK_ROUNDS: u32 = 16;
const SLACK_TIME: u64 = 2_000_000_000;

/// A path by one of the mobile's links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// Towards the mobile, bit/s; positive.
    pub rate: u64,
    /// Least round trip of the whole path, ns.
    pub round_trip: u64,
    /// The link's queue, packets.
    pub queue: u32,
    /// A packet, bit; positive.
    pub packet_bits: u64,
}

impl Path {
    /// Bits that it holds.
    fn holds(&self) -> u128 {
        u128::from(self.rate) * u128::from(self.round_trip) / SECOND
    }

    /// W, packets.
    pub fn window(&self) -> u32 {
        let packet = u128::from(self.packet_bits.max(1));
        let twice = 2 * self.holds() + u128::from(self.queue) * packet;
        u32::try_from(twice / (2 * packet)).unwrap_or(u32::MAX).max(1)
    }

    /// Packets that it holds with its queue full.
    pub fn full(&self) -> u32 {
        let held = self.holds().div_ceil(u128::from(self.packet_bits.max(1)));
        u32::try_from(held).unwrap_or(u32::MAX).saturating_add(self.queue)
    }

    /// Until it has delivered all that it may hold, ns.
    pub fn drains(&self) -> u64 {
        u64::try_from(u128::from(self.full()) * self.slot()).unwrap_or(u64::MAX / 4)
    }

    /// Time of a packet, ns.
    pub fn slot(&self) -> u128 {
        u128::from(self.packet_bits) * SECOND / u128::from(self.rate.max(1))
    }

    /// A round trip in which W packets are under way, ns.
    fn round(&self) -> u64 {
        let carried = u64::try_from(u128::from(self.window()) * self.slot()).unwrap_or(u64::MAX / 4);
        carried.max(self.round_trip).max(SHORTEST_ROUND)
    }
}

/// Packets of a link's usual queue: `max(round(rate * 2 * delay / packet), 5)` (Daniel and Kojo), for who knows rate
/// (bit/s) and delay (one way, ns) only.
pub fn usual_queue(rate: u64, delay: u64, packet_bits: u64) -> u32 {
    let packet = u128::from(packet_bits.max(1)) * SECOND;
    let held = u128::from(rate).saturating_mul(2 * u128::from(delay));
    let packets = held.saturating_add(packet / 2) / packet;
    u32::try_from(packets.max(u128::from(SHORTEST_QUEUE))).unwrap_or(u32::MAX)
}

/// Whether the mobile bounds its windows at a handoff from one path to the other.
pub fn narrows(old: &Path, new: &Path) -> bool {
    new.rate < old.rate || new.holds() < old.holds()
}

/// Whether timers of senders expire before the first ACK over the new path arrives, for packets that are under way. An
/// outage has lost those, and a faster link brings them first ([`begins_after`]).
pub fn timers_expire(old: &Path, new: &Path, outage: bool) -> bool {
    begins_after(old, new, outage) == 0 && new.round_trip > old.round_trip.saturating_add(RTO_MIN)
}

/// How many packets must come in order before the bound begins, after an outage or without one.
pub fn begins_after(old: &Path, new: &Path, outage: bool) -> u32 {
    if outage || new.rate >= old.rate { old.full() } else { 0 }
}

/// The change that a round has made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The parts at most.
    Divided,
    /// W.
    Raised,
    /// There is no bound any more.
    Ended,
}

/// The bound of one mobile, from a handoff on.
#[derive(Clone, Debug)]
pub struct Bound {
    path: Path,
    parts: Vec<u32>,
    /// Packets that came on each connection over the new link in this round.
    came: Vec<u32>,
    began: u64,
    /// Rounds in a row with less than half of the rate, and when the first of them began.
    slack: u32,
    slack_since: u64,
}

impl Bound {
    /// From now on. `recent`: packets that came lately on each connection, by which W is divided at first. With
    /// `timers_expire` ([`timers_expire`]) the parts of the first round leave room for the packets that are resent.
    pub fn new(now: u64, path: Path, recent: &[u32], timers_expire: bool) -> Self {
        let busy = recent.iter().filter(|packets| **packets > 0).count();
        let resent = if timers_expire { RESENT.saturating_mul(busy as u32) } else { 0 };
        let parts = divided(path.window().saturating_sub(resent), recent);
        Self { path, parts, came: vec![0; recent.len()], began: now, slack: 0, slack_since: now }
    }

    /// W, packets.
    pub fn all(&self) -> u32 {
        self.path.window()
    }

    /// A connection's window, packets.
    pub fn part(&self, connection: usize) -> u32 {
        self.parts.get(connection).copied().unwrap_or(LEAST)
    }

    /// One more connection; its number. Nothing bounds it until a round has ended in which something came on it.
    pub fn join(&mut self) -> usize {
        self.parts.push(u32::MAX);
        self.came.push(0);
        self.came.len() - 1
    }

    /// So many data packets have come over the new link.
    #[inline]
    pub fn on_packets(&mut self, connection: usize, packets: u32) {
        if let Some(came) = self.came.get_mut(connection) {
            *came = came.saturating_add(packets);
        }
    }

    /// When this round ends.
    pub fn deadline(&self) -> u64 {
        self.began.saturating_add(self.path.round())
    }

    /// A round has ended, at or after its deadline.
    pub fn on_round(&mut self, now: u64) -> Change {
        let began = std::mem::replace(&mut self.began, now);
        let time = u128::from(now.saturating_sub(began).max(1));
        let came: u64 = self.came.iter().map(|came| u64::from(*came)).sum();
        if came == 0 {
            return Change::Divided;
        }
        let bits = u128::from(came * self.path.packet_bits);
        let carried = u128::from(self.path.rate) * time / SECOND;
        // A packet more or less is chance.
        let spare = 2 * u128::from(self.path.packet_bits);
        if self.slack == 0 {
            self.slack_since = began;
        }
        self.slack = if 2 * bits < carried { self.slack.saturating_add(1) } else { 0 };
        if self.slack >= SLACK_ROUNDS && now.saturating_sub(self.slack_since) >= SLACK_TIME {
            return Change::Ended;
        }
        let before = self.path.window();
        if bits > carried + (carried / 8).max(spare) {
            self.path.rate = u64::try_from(bits * SECOND / time).unwrap_or(u64::MAX);
        }
        self.parts = divided(self.path.window(), &self.came);
        self.came.fill(0);
        if self.path.window() > before { Change::Raised } else { Change::Divided }
    }
}

/// `window` divided among connections, in whole packets: half of it evenly among those on which something came, half by
/// what came.
fn divided(window: u32, came: &[u32]) -> Vec<u32> {
    let all: u64 = came.iter().map(|came| u64::from(*came)).sum();
    let busy = came.iter().filter(|came| **came > 0).count() as u64;
    if busy == 0 && !came.is_empty() {
        return divided(window, &vec![1; came.len()]);
    }
    let whole = 2 * busy * all;
    let share = |came: u32| if came == 0 { 0 } else { u64::from(window) * (all + busy * u64::from(came)) };
    let mut parts: Vec<u32> = came.iter().map(|came| (share(*came) / whole) as u32).collect();
    // A sender fills whole packets only: what is over of all parts together goes to those that lack least of one.
    let mut order: Vec<usize> = (0..came.len()).collect();
    order.sort_by_key(|index| std::cmp::Reverse(share(came[*index]) % whole));
    let over = window.saturating_sub(parts.iter().sum());
    order.into_iter().take(over as usize).for_each(|index| parts[index] += 1);
    parts.into_iter().map(|part| part.max(LEAST)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// 200 kbit/s, 300 ms one way, 4 ms beyond, a queue of 10: 10.1 packets of 1500 octets and half of ten.
    fn slow() -> Path {
        Path { rate: 200_000, round_trip: 608 * MS, queue: 10, packet_bits: 12_000 }
    }

    fn fast() -> Path {
        Path { rate: 6_400_000, round_trip: 26 * MS, queue: 15, packet_bits: 12_000 }
    }

    /// So many packets come in each of so many rounds; what the rounds have changed.
    fn rounds(bound: &mut Bound, count: u32, packets: &[u32]) -> Vec<Change> {
        let round = |_| {
            for (connection, packets) in packets.iter().enumerate() {
                bound.on_packets(connection, *packets);
            }
            bound.on_round(bound.deadline())
        };
        (0..count).map(round).collect()
    }

    /// Rounded down, four parts of 3.75 were twelve packets of fifteen, and the link idled.
    #[test]
    fn the_parts_are_all_of_the_window() {
        assert_eq!(divided(15, &[5, 5, 5, 5]), [4, 4, 4, 3]);
        // 9.75, 5.25; a third on which nothing came has the least beside them.
        assert_eq!(divided(15, &[4, 1, 0]), [10, 5, LEAST]);
        for came in [&[1, 1, 1][..], &[9, 1], &[3, 5, 7, 11], &[100, 1, 1]] {
            assert_eq!(divided(23, came).iter().sum::<u32>(), 23, "{came:?}");
        }
        assert_eq!(divided(3, &[1, 1, 1, 1]), [LEAST; 4], "nobody has less");
    }

    #[test]
    fn the_window_is_the_path_and_half_of_the_queue() {
        assert_eq!(slow().window(), 10 + 5);
        assert_eq!(slow().full(), 11 + 10);
        // 13.9 packets and half of 15
        assert_eq!(fast().window(), 21);
        // 14 and 15 packets of 1.875 ms
        assert_eq!((fast().full(), fast().drains()), (29, 54_375_000));
        // 0.7 packets and half of 5
        let short = Path { rate: 100_000, round_trip: 82 * MS, queue: 5, packet_bits: 12_000 };
        assert_eq!(short.window(), 3);
        let nothing = Path { rate: 1, round_trip: 0, queue: 0, packet_bits: 12_000 };
        assert_eq!(nothing.window(), 1);
    }

    #[test]
    fn only_a_path_that_holds_less_or_is_slower_is_bounded() {
        assert!(narrows(&fast(), &slow()));
        assert!(!narrows(&slow(), &fast()), "121,600 bits and 166,400");
        assert!(!narrows(&fast(), &fast()));
        assert!(narrows(&fast(), &Path { round_trip: 25 * MS, ..fast() }));
        assert!(narrows(&fast(), &Path { rate: 6_399_999, round_trip: 260 * MS, ..fast() }), "slower");
        assert_eq!(begins_after(&fast(), &slow(), false), 0);
        assert_eq!(begins_after(&fast(), &slow(), true), 14 + 15, "they are resent");
        assert_eq!(begins_after(&slow(), &fast(), false), 11 + 10, "they still come");
    }

    #[test]
    fn a_new_bound_is_divided_by_what_came_lately() {
        let parts = |recent: &[u32]| {
            let bound = Bound::new(0, slow(), recent, false);
            (0..recent.len()).map(|connection| bound.part(connection)).collect::<Vec<_>>()
        };
        assert_eq!(parts(&[100]), [15]);
        assert_eq!(parts(&[50, 50]), [8, 7]);
        // Half of 15 evenly, half in thirds: 3.75 + 5, 3.75 + 2.5; the first lacks less of a whole packet
        assert_eq!(parts(&[20, 10]), [9, 6]);
        assert_eq!(parts(&[20, 0]), [15, LEAST], "nothing came on the second");
        assert_eq!(parts(&[0, 0]), [8, 7], "nor on either");
        assert_eq!(parts(&[1; 100]), [LEAST; 100]);
    }

    /// A timer of 26 + 200 ms is over before 608 ms.
    #[test]
    fn the_first_parts_leave_room_for_what_timers_resend() {
        assert!(timers_expire(&fast(), &slow(), false));
        assert!(
            !timers_expire(&Path { round_trip: 408 * MS, ..fast() }, &slow(), false),
            "200 ms more are no more than the timer"
        );
        assert!(timers_expire(&Path { round_trip: 408 * MS - 1, ..fast() }, &slow(), false));
        assert!(!timers_expire(&fast(), &slow(), true), "an outage has lost them");
        assert!(
            !timers_expire(&slow(), &Path { round_trip: 900 * MS, ..fast() }, false),
            "they still come first"
        );
        let bound = Bound::new(0, slow(), &[5, 5, 5, 0], true);
        // 15 - 3 * 2 packets; the fourth resends nothing.
        assert_eq!([0, 1, 2, 3].map(|connection| bound.part(connection)), [3, 3, 3, LEAST]);
        let mut bound = Bound::new(0, slow(), &[1; 100], true);
        assert_eq!(bound.part(0), LEAST);
        // From the second round on all of W is divided.
        let came: Vec<u32> = (0..100).map(|connection| if connection < 3 { 5 } else { 0 }).collect();
        rounds(&mut bound, 1, &came);
        assert_eq!([0, 1, 2].map(|connection| bound.part(connection)), [5; 3]);
    }

    #[test]
    fn it_holds_while_the_link_is_busy() {
        let mut bound = Bound::new(0, slow(), &[9], false);
        // W takes 900 ms on the link.
        assert_eq!(bound.deadline(), 900 * MS);
        assert!(rounds(&mut bound, 1000, &[15]).iter().all(|change| *change == Change::Divided));
        assert_eq!((bound.all(), bound.part(0)), (15, 15));
    }

    #[test]
    fn more_than_the_link_was_said_to_carry_raises_it() {
        let mut bound = Bound::new(0, slow(), &[9], false);
        // Two more are chance.
        assert_eq!(rounds(&mut bound, 1, &[17]), [Change::Divided]);
        // 20 packets in 900 ms: 266 kbit/s
        assert_eq!(rounds(&mut bound, 1, &[20]), [Change::Raised]);
        assert_eq!(bound.all(), 13 + 5);
        // A link of twice the rate: the window limits until it has grown to that.
        let mut bound = Bound::new(0, slow(), &[9], false);
        for _ in 0..20 {
            let time = u128::from(bound.deadline() - bound.began);
            let carried = 400_000 * time / SECOND / 12_000;
            let window = u128::from(bound.part(0)) * time / u128::from(608 * MS);
            rounds(&mut bound, 1, &[carried.min(window) as u32]);
        }
        assert!((20..=25).contains(&bound.all()), "{}: 20 packets are on the path", bound.all());
    }

    #[test]
    fn it_ends_where_something_else_limits() {
        let mut bound = Bound::new(0, slow(), &[9], false);
        let changes = rounds(&mut bound, SLACK_ROUNDS, &[7]);
        assert_eq!(changes.last(), Some(&Change::Ended));
        assert!(changes[..15].iter().all(|change| *change == Change::Divided));
        // Silence tells nothing, and a busy round begins the count anew.
        let mut bound = Bound::new(0, slow(), &[9], false);
        assert!(!rounds(&mut bound, 1000, &[0]).contains(&Change::Ended));
        for _ in 0..100 {
            assert!(!rounds(&mut bound, SLACK_ROUNDS - 1, &[7]).contains(&Change::Ended));
            assert_eq!(rounds(&mut bound, 1, &[8]), [Change::Divided]);
        }
    }

    /// 6400 kbit/s and 26 ms: W is 21 packets, a round 39.4 ms. 51 of them are 2 s.
    #[test]
    fn on_a_short_path_two_seconds_must_be_slack() {
        let mut bound = Bound::new(0, fast(), &[9], false);
        assert_eq!(bound.deadline(), 39_375_000);
        let changes = rounds(&mut bound, 51, &[10]);
        assert_eq!(changes.iter().position(|change| *change == Change::Ended), Some(50));
        // A busy round in between begins both anew.
        let mut bound = Bound::new(0, fast(), &[9], false);
        for _ in 0..3 {
            assert!(!rounds(&mut bound, 50, &[10]).contains(&Change::Ended));
            assert_eq!(rounds(&mut bound, 1, &[21]), [Change::Divided]);
        }
    }

    #[test]
    fn a_connection_that_wants_less_leaves_the_rest_to_the_other() {
        let mut bound = Bound::new(0, slow(), &[9, 9], false);
        assert_eq!((bound.part(0), bound.part(1)), (8, 7));
        rounds(&mut bound, 3, &[13, 2]);
        // 3.75 + 6.5, 3.75 + 1
        assert_eq!((bound.part(0), bound.part(1)), (10, 5));
        rounds(&mut bound, 1, &[15, 0]);
        assert_eq!((bound.part(0), bound.part(1)), (15, LEAST));
        // Both again.
        rounds(&mut bound, 1, &[13, 2]);
        rounds(&mut bound, 20, &[8, 7]);
        // 3.75 + 4, 3.75 + 3.5
        assert_eq!((bound.part(0), bound.part(1)), (8, 7));
    }

    #[test]
    fn a_connection_that_joins_has_its_part_after_the_first_round() {
        let mut bound = Bound::new(0, slow(), &[9], false);
        assert_eq!(bound.join(), 1);
        assert_eq!((bound.part(0), bound.part(1)), (15, u32::MAX));
        rounds(&mut bound, 1, &[10, 5]);
        // 3.75 + 5, 3.75 + 2.5
        assert_eq!((bound.part(0), bound.part(1)), (9, 6));
    }

    /// The queues of the bench's links (`usual_limit` of segue-netsim).
    #[test]
    fn a_usual_queue_holds_what_the_link_holds() {
        let queue = |kbps: u64, ms: u64| usual_queue(kbps * 1000, ms * MS, 12_000);
        // 120,000 bits; 10,000 of 12,000; 115,200
        assert_eq!((queue(200, 300), queue(100, 50), queue(6400, 9)), (10, 5, 10));
        assert_eq!(usual_queue(u64::MAX, u64::MAX, 0), u32::MAX);
    }
}
