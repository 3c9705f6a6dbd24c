//! When which connection is helped after an outage.
//!
//! A peer that has heard nothing waits for a timer that has doubled with each expiry. Each message about the first
//! octet that it knows no ACK for takes one doubling back, and it resends once the timer's time has passed (RFC
//! 6069). Which octet that is this host does not know: its last ACKs may have died with the link.
//!
//! * At once: messages about each of the last ACK numbers, three of each, the newest first; then the last ACK in three
//!   copies. An ACK that came before would be taken for the end of the timeouts, and no message would act any more.
//! * Before these ACKs, if the peer had better begin anew ([`begins_anew`]): an ACK of the first octet behind each of the
//!   older numbers, the oldest first. An ACK of whole packets that were not resent has F-RTO take the timeouts for
//!   spurious (RFC 5682). Then nothing is lost any more for the peer, and it waits a round trip or for a loss probe. An
//!   ACK within the resent packet, with no room in the window, ends F-RTO (tcp_process_loss, tcp_xmit_recovery of Linux).
//! * No new data after a round trip: single messages about the number that the ACK has told, first close to each other,
//!   then further and further apart, no more than take back the doublings of the outage and two.
//! * A peer that was told a window of zero before a foreseen break ([`Flow::closed`]) gets the last ACK first: it has
//!   nothing under way that a message could be about, and waits for a window.
//! * A peer that has negotiated is told of the handoff by a notice, which says more than these packets ([`Flow::told`]).
//!   Its packets may be lost then. So single messages follow if nothing at all comes, but two round trips after its
//!   notice. A timer that a message brings forward costs it the window of the notice.
//! * A handoff without an outage that this host knows of may have lost packets, too ([`Resumes::doubt`]). If nothing at
//!   all comes within two round trips, its connections are helped like those of an outage.
//! * At the end an ACK, which clears the error that a peer's program might ask for (RFC 1122, 4.2.3.9).
//!
//! New data in order ends all of it. Connections have their turns so that half of the uplink is enough.

use super::window::Path;

/// Nanoseconds of a millisecond.
const MS: u64 = 1_000_000;
/// Copies of what is sent at once.
const COPIES: u32 = 3;
/// Packets without a pause: all at once would overflow the queue of a short uplink.
const BURST: usize = 3;
/// Beyond a round trip: for the peer, and for this host's own delayed ACK.
const PATIENCE: u64 = 20 * MS;
/// Between single messages, so often; then twice as long each time.
const APART: u64 = 75 * MS;
const CLOSE: u32 = 4;
/// The least RTO of Linux: the timer doubles from there on.
const LEAST_RTO: u64 = 200 * MS;
/// Connections of one handoff: a bound for the network.
pub const MOST: usize = 1000;
/// The largest packet of these: an IPv6 header, TCP's with time stamps, an option.
pub const ACK_OCTETS: u64 = 84;

/// How long the uplink takes for such a packet, ns, if it may use half of it.
fn time_of(up_kbps: u32) -> u64 {
    // kbit/s are bits per ms.
    let half = (u64::from(up_kbps) / 2).max(1);
    ACK_OCTETS * 8 * MS / half
}

/// One packet to a connection's peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Say {
    /// A message about this one of the last ACK numbers, 0 being the newest.
    About(usize),
    /// A message about the number that the ACK tells.
    AboutNext,
    /// An ACK of the first octet behind this one of the last ACK numbers.
    Octet(usize),
    /// The last ACK.
    Ack,
}

/// A connection as the schedule sees it.
#[derive(Clone, Debug)]
pub struct Flow<W> {
    /// Which.
    pub waiting: W,
    /// How many of its ACK numbers are known.
    pub acks: usize,
    /// A round trip over the new link, ns.
    pub round_trip: u64,
    /// Its peer was told a window of zero.
    pub closed: bool,
    /// Its peer had better begin anew ([`begins_anew`]).
    pub anew: bool,
    /// Its peer has negotiated, and its notice has left so long after the link is back, ns.
    pub told: Option<u64>,
}

impl<W> Flow<W> {
    /// When the first packet is due that is sent only if nothing comes meanwhile, ns after that of before.
    fn patience(&self) -> u64 {
        2 * self.round_trip + PATIENCE
    }
}

/// Whether a peer had better begin anew than take its timeouts back, after an outage between these paths. F-RTO takes
/// them back (RFC 5682), and a window with them. That is worth a round trip if slow start takes long to be as far, and
/// if the new path can use what the old one has filled. No round trip is shorter than a packet.
pub fn begins_anew(old: &Path, new: &Path) -> bool {
    let (before, now) = (old.full().max(1), new.full().max(1));
    let rounds = u32::BITS - (before.min(now) - 1).leading_zeros();
    let round = u128::from(new.round_trip).max(new.slot());
    now / 2 >= before || u128::from(rounds) * round <= u128::from(LEAST_RTO)
}

/// Packets to send now, unless new data has come.
#[derive(Debug)]
pub struct Due<'a, W> {
    /// For [`Resumes::end`].
    pub id: u64,
    /// Which connection.
    pub waiting: &'a W,
    /// In this order.
    pub says: Vec<Say>,
    /// They are the first.
    pub begins: bool,
    /// It is not known whether there was an outage: they are sent only if nothing at all has come.
    pub doubted: bool,
    /// Nothing follows.
    pub last: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// So many of the packets at once have been sent.
    All(usize),
    /// So many single messages have been sent.
    Single(u32),
}

#[derive(Clone, Debug)]
struct Helped<K, W> {
    id: u64,
    watch: K,
    flow: Flow<W>,
    stage: Stage,
    doubted: bool,
    /// In all.
    singles: u32,
    due: u64,
    /// Time of a packet on the uplink, ns.
    packet: u64,
}

/// All connections that are being helped.
#[derive(Clone, Debug)]
pub struct Resumes<K, W> {
    all: Vec<Helped<K, W>>,
    ids: u64,
    /// When the uplink may take the next.
    free: u64,
}

/// How often a timer has doubled in an outage of so long.
fn doublings(outage: u64) -> u32 {
    // The expiries are at 1, 3, 7, ... times the first RTO.
    (outage / LEAST_RTO + 1).ilog2()
}

impl<K, W> Default for Resumes<K, W> {
    fn default() -> Self {
        Self { all: Vec::new(), ids: 0, free: 0 }
    }
}

impl<K: Clone + PartialEq, W> Resumes<K, W> {
    /// None so far.
    pub fn new() -> Self {
        Self::default()
    }

    /// The link is back after `outage` ns: these connections of a prefix are helped, and none of before. How many
    /// they are.
    pub fn begin(
        &mut self,
        now: u64,
        watch: K,
        outage: u64,
        up_kbps: u32,
        flows: impl IntoIterator<Item = Flow<W>>,
    ) -> usize {
        self.stop(&watch);
        let before = self.all.len();
        let most = doublings(outage) + 2;
        for flow in flows.into_iter().take(MOST) {
            self.ids += 1;
            let (stage, singles, due) = match flow.told {
                Some(told) => (Stage::Single(0), most, now + told + flow.patience()),
                None => (Stage::All(0), most.saturating_sub(COPIES).max(1), now),
            };
            let (id, watch, packet) = (self.ids, watch.clone(), time_of(up_kbps));
            self.all.push(Helped { id, watch, flow, stage, doubted: false, singles, due, packet });
        }
        self.all.len() - before
    }

    /// There was a handoff without an outage that this host knows of. These connections of a prefix are helped as after one
    /// of `silence` ns if no data at all come on them within two round trips and 20 ms. While others of the prefix are
    /// being helped, it is only one more change.
    pub fn doubt(
        &mut self,
        now: u64,
        watch: K,
        silence: u64,
        up_kbps: u32,
        flows: impl IntoIterator<Item = Flow<W>>,
    ) {
        if self.all.iter().any(|helped| helped.watch == watch && !helped.doubted) {
            return;
        }
        let begun = self.begin(now, watch, silence, up_kbps, flows);
        for helped in self.all.iter_mut().rev().take(begun) {
            helped.doubted = true;
            helped.due = now + helped.flow.patience();
        }
    }

    /// Windows that were closed before a break are open again, and there was none: each of these peers is told by the
    /// last ACK, in three copies, and once more if nothing comes.
    pub fn open(&mut self, now: u64, watch: K, up_kbps: u32, flows: impl IntoIterator<Item = Flow<W>>) {
        let before = self.all.len();
        for flow in flows {
            self.ids += 1;
            let flow = Flow { acks: 0, ..flow };
            let (id, watch, packet) = (self.ids, watch.clone(), time_of(up_kbps));
            let stage = Stage::All(0);
            self.all.push(Helped { id, watch, flow, stage, doubted: false, singles: 0, due: now, packet });
        }
        self.all.truncate(before.max(MOST).min(self.all.len()));
    }

    /// The link of this prefix is gone again.
    pub fn stop(&mut self, watch: &K) {
        self.all.retain(|helped| helped.watch != *watch);
    }

    /// This connection needs no more.
    pub fn end(&mut self, id: u64) {
        self.all.retain(|helped| helped.id != id);
    }

    /// The packets that [`Resumes::next`] has named at `now` do not leave: the uplink is free for others.
    pub fn unsent(&mut self, now: u64) {
        self.free = now;
    }

    /// How many connections are being helped.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether nobody is.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// When [`Resumes::next`] is to be asked again; `None`: nobody is being helped.
    pub fn deadline(&self) -> Option<u64> {
        self.all.iter().map(|helped| helped.due.max(self.free)).min()
    }

    /// The next packets to send now. A connection that gets its last packet by this is forgotten with
    /// [`Resumes::end`].
    pub fn next(&mut self, now: u64) -> Option<Due<'_, W>> {
        if self.free > now {
            return None;
        }
        let first = self.all.iter_mut().filter(|helped| helped.due <= now).min_by_key(|helped| helped.due)?;
        let begins = first.stage == if first.flow.told.is_some() { Stage::Single(0) } else { Stage::All(0) };
        let says = first.step(now);
        self.free = now + first.packet * says.len() as u64;
        let (id, doubted, last) = (first.id, first.doubted, first.due == u64::MAX);
        Some(Due { id, waiting: &first.flow.waiting, says, begins, doubted, last })
    }
}

impl<K, W> Helped<K, W> {
    fn step(&mut self, now: u64) -> Vec<Say> {
        match self.stage {
            Stage::All(sent) => {
                let copies = |say: Say| std::iter::repeat_n(say, COPIES as usize);
                let messages = (0..self.flow.acks).flat_map(|number| copies(Say::About(number)));
                let (first, last) = if self.flow.closed { (COPIES, 0) } else { (0, COPIES) };
                let acks = |count: u32| std::iter::repeat_n(Say::Ack, count as usize);
                let octets = if self.flow.anew && !self.flow.closed { 1..self.flow.acks } else { 0..0 };
                let octets = octets.rev().map(Say::Octet);
                let mut left = acks(first).chain(messages).chain(octets).chain(acks(last)).skip(sent);
                let says: Vec<Say> = left.by_ref().take(BURST).collect();
                // It stays due meanwhile, and so before those behind it.
                self.stage = Stage::All(sent + says.len());
                if left.next().is_none() {
                    self.stage = Stage::Single(0);
                    self.due = now + self.flow.round_trip + PATIENCE;
                }
                says
            }
            Stage::Single(sent) if sent < self.singles => {
                self.stage = Stage::Single(sent + 1);
                self.due = now + (APART << (sent + 1).saturating_sub(CLOSE).min(8));
                vec![Say::AboutNext]
            }
            Stage::Single(_) => {
                self.due = u64::MAX;
                vec![Say::Ack]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1000 * MS;

    fn watch() -> &'static str {
        "0.0.0.0/0"
    }

    fn flow(waiting: u32, acks: usize) -> Flow<u32> {
        Flow { waiting, acks, round_trip: 18 * MS, closed: false, anew: false, told: None }
    }

    /// All that a connection is sent which gets no answer: when, and what.
    fn script(outage: u64, acks: usize) -> Vec<(u64, Vec<Say>)> {
        let mut resumes = Resumes::new();
        assert_eq!(resumes.begin(0, watch(), outage, 100_000, [flow(1, acks)]), 1);
        let mut said = Vec::new();
        while let Some(at) = resumes.deadline() {
            let Due { id, says, last, .. } = resumes.next(at).expect("it is due");
            assert!(says.len() <= BURST);
            said.push((at / MS, says));
            if last {
                resumes.end(id);
            }
        }
        said
    }

    #[test]
    fn a_silent_peer_is_told_in_this_order() {
        // 0.2, 0.6, 1.4, 3, 6.2 s: five doublings in 10 s; seven messages about a number, three of them at once
        let said = script(10 * SECOND, 2);
        let at_once = [Say::About(0), Say::About(1), Say::Ack].map(|say| (0, vec![say; 3]));
        assert_eq!(said[..3], at_once);
        let single = |at| (at, vec![Say::AboutNext]);
        assert_eq!(said[3..7], [38, 113, 188, 263].map(single));
        assert_eq!(said[7..], [(338, vec![Say::Ack])], "the end");
    }

    #[test]
    fn a_peer_that_was_told_hears_single_messages_two_round_trips_later() {
        let mut resumes = Resumes::new();
        let told = Flow { told: Some(5 * MS), anew: true, ..flow(1, 4) };
        assert_eq!(resumes.begin(0, watch(), 3 * SECOND, 100_000, [told, flow(2, 1)]), 2);
        let mut said = Vec::new();
        while let Some(at) = resumes.deadline() {
            let Due { id, waiting, says, begins, last, .. } = resumes.next(at).expect("it is due");
            assert_eq!(
                begins,
                (*waiting, at / MS) == (1, 61) || (*waiting, at) == (2, 0),
                "{waiting} at {at}"
            );
            said.extend((*waiting == 1).then_some((at / MS, says)));
            if last {
                resumes.end(id);
            }
        }
        // 5 + 2 * 18 + 20 ms; four doublings and two
        let messages = [61, 136, 211, 286, 361, 511].map(|at| (at, vec![Say::AboutNext]));
        assert_eq!(said[..6], messages);
        assert_eq!(said[6..], [(811, vec![Say::Ack])], "the end");
    }

    #[test]
    fn after_a_handoff_that_may_have_lost_packets_the_same_begins_two_round_trips_later() {
        let mut resumes = Resumes::new();
        resumes.doubt(0, watch(), 2 * SECOND, 100_000, [flow(1, 2)]);
        let mut said = Vec::new();
        while let Some(at) = resumes.deadline() {
            let Due { id, says, begins, doubted, last, .. } = resumes.next(at).expect("it is due");
            assert!(doubted && begins == said.is_empty());
            said.push((at / MS, says));
            if last {
                resumes.end(id);
            }
        }
        // 2 * 18 + 20 ms; then as after 2 s: three doublings, and two messages more
        let at_once = [Say::About(0), Say::About(1), Say::Ack].map(|say| (56, vec![say; 3]));
        assert_eq!(said[..3], at_once);
        let single = |at| (at, vec![Say::AboutNext]);
        assert_eq!(said[3..], [single(94), single(169), (244, vec![Say::Ack])]);
    }

    /// A packet takes 6.7 ms at 100 kbit/s. One who is well takes no time from one who waits.
    #[test]
    fn whoever_needs_no_help_takes_no_turn() {
        let mut resumes = Resumes::new();
        resumes.doubt(0, watch(), 2 * SECOND, 100, [flow(1, 2), flow(2, 2)]);
        let at = resumes.deadline().expect("they are listed");
        let well = resumes.next(at).expect("it is due").id;
        assert!(resumes.deadline() > Some(at), "its packets take time");
        resumes.end(well);
        resumes.unsent(at);
        assert_eq!(resumes.deadline(), Some(at));
        assert!(resumes.next(at).is_some());
    }

    /// The link is back, and a word about it follows: the help goes on.
    #[test]
    fn a_further_change_does_not_put_off_the_help() {
        let mut resumes = Resumes::new();
        resumes.begin(0, watch(), SECOND, 100_000, [flow(1, 2)]);
        resumes.doubt(0, watch(), 2 * SECOND, 100_000, [flow(1, 2), flow(2, 2)]);
        assert_eq!((resumes.len(), resumes.deadline()), (1, Some(0)));
        resumes.stop(&watch());
        for _ in 0..2 {
            resumes.doubt(MS, watch(), 2 * SECOND, 100_000, [flow(1, 2), flow(2, 2)]);
            assert_eq!((resumes.len(), resumes.deadline()), (2, Some(57 * MS)), "the last one counts");
        }
        assert_eq!(resumes.begin(2 * MS, watch(), SECOND, 100_000, [flow(1, 2)]), 1);
        assert_eq!((resumes.len(), resumes.deadline()), (1, Some(2 * MS)), "an outage is known now");
    }

    #[test]
    fn a_peer_that_begins_anew_hears_of_single_octets_before_the_ack() {
        let at_once = |flow: Flow<u32>| {
            let mut resumes = Resumes::new();
            resumes.begin(0, watch(), 10 * SECOND, 100_000, [flow]);
            let mut said = Vec::new();
            while let Some(at) = resumes.deadline().filter(|at| *at < 30 * MS) {
                said.extend(resumes.next(at).expect("it is due").says);
            }
            said.retain(|say| !matches!(say, Say::About(_)));
            said
        };
        let anew = |acks| Flow { anew: true, ..flow(1, acks) };
        let acks = [Say::Ack; 3];
        assert_eq!(at_once(anew(4)), [&[3, 2, 1].map(Say::Octet)[..], &acks[..]].concat());
        assert_eq!(at_once(anew(1)), acks, "whoever has heard it has heard all");
        assert_eq!(at_once(Flow { closed: true, ..anew(4) }), acks, "nothing is under way");
    }

    #[test]
    fn a_peer_begins_anew_where_its_window_is_soon_back_or_of_little_use() {
        let path = |kbps: u64, delay: u64, queue| Path {
            rate: kbps * 1000,
            round_trip: 2 * delay * MS,
            queue,
            packet_bits: 12_000,
        };
        // 25, 9, 112 and 20 packets
        let (fast, slow) = (path(6400, 9, 15), path(200, 100, 5));
        let (long, far) = (path(6400, 100, 5), path(200, 300, 10));
        assert!(begins_anew(&fast, &fast), "five round trips of 18 ms");
        assert!(begins_anew(&slow, &long), "it holds more than twice as much");
        assert!(!begins_anew(&fast, &far), "five of 600 ms");
        assert!(!begins_anew(&long, &long));
        // 7 packets: three round trips of 18 ms, but a packet takes 120 ms.
        let narrow = path(100, 9, 5);
        assert!(!begins_anew(&fast, &narrow));
        let vast = Path { rate: 100_000_000_000, round_trip: 7200 * SECOND, queue: 9, packet_bits: 12_000 };
        assert_eq!(vast.full(), u32::MAX);
        assert!(!begins_anew(&vast, &vast));
        let nothing = Path { rate: 1, round_trip: 0, queue: 0, packet_bits: 12_000 };
        assert!(begins_anew(&nothing, &nothing));
    }

    #[test]
    fn a_peer_whose_window_was_closed_hears_the_ack_first() {
        let mut resumes = Resumes::new();
        resumes.begin(0, watch(), 10 * SECOND, 100_000, [Flow { closed: true, ..flow(1, 1) }]);
        let says = |resumes: &mut Resumes<_, _>| {
            let now = resumes.deadline().expect("more");
            resumes.next(now).map(|due| due.says).expect("due")
        };
        assert_eq!(says(&mut resumes), [Say::Ack; 3]);
        assert_eq!(says(&mut resumes), [Say::About(0); 3]);
        assert_eq!(says(&mut resumes), [Say::AboutNext]);
    }

    /// Without an outage there is nothing that a message could be about.
    #[test]
    fn a_window_that_opens_without_an_outage_is_told_in_acks_alone() {
        let mut resumes = Resumes::new();
        resumes.begin(0, "::/0", SECOND, 100_000, [flow(7, 4)]);
        resumes.open(0, watch(), 100_000, [Flow { closed: true, ..flow(1, 4) }]);
        assert_eq!(resumes.len(), 2, "the other prefix keeps its help");
        resumes.stop(&"::/0");
        let mut said = Vec::new();
        while let Some(at) = resumes.deadline() {
            let Due { id, says, last, .. } = resumes.next(at).expect("it is due");
            said.push((at / MS, says));
            if last {
                resumes.end(id);
            }
        }
        assert_eq!(said, [(0, vec![Say::Ack; 3]), (38, vec![Say::Ack])]);
        // A bound here, too.
        resumes.open(0, watch(), 100_000, (0..5000).map(|number| flow(number, 4)));
        assert_eq!(resumes.len(), MOST);
    }

    #[test]
    fn messages_are_no_more_than_the_doublings_and_two() {
        for (outage, doublings) in
            [(100 * MS, 0), (SECOND, 2), (3 * SECOND, 4), (10 * SECOND, 5), (30 * SECOND, 7)]
        {
            assert_eq!(super::doublings(outage), doublings, "{outage}");
            let said = script(outage, 4);
            let about = |say: &Say| matches!(say, Say::About(0) | Say::AboutNext);
            let messages: usize =
                said.iter().map(|(_, says)| says.iter().filter(|say| about(say)).count()).sum();
            assert_eq!(messages as u32, (doublings + 2).max(4), "{outage}");
        }
        // 30 s: six of them; after the fourth 75, 150 and 300 ms follow
        let times: Vec<_> = script(30 * SECOND, 1).iter().map(|(at, _)| *at).collect();
        assert_eq!(times, [0, 0, 38, 113, 188, 263, 338, 488, 788]);
    }

    #[test]
    fn connections_have_their_turns() {
        let mut resumes = Resumes::new();
        // 1 Mbit/s up, half of it for this: 500 bits a ms
        let packet = ACK_OCTETS * 8 * MS / 500;
        assert_eq!(resumes.begin(0, watch(), SECOND, 1000, [flow(1, 1), flow(2, 4)]), 2);
        let mut now = 0;
        for (waiting, bursts) in [(1, 2), (2, 5)] {
            for _ in 0..bursts {
                assert_eq!(resumes.deadline(), Some(now));
                let due = resumes.next(now).expect("its turn");
                assert_eq!((*due.waiting, due.says.len(), due.last), (waiting, 3, false));
                assert!(resumes.next(now + 3 * packet - 1).is_none(), "half of the uplink");
                now += 3 * packet;
            }
        }
    }

    #[test]
    fn who_has_new_data_is_told_nothing_more() {
        let mut resumes = Resumes::new();
        resumes.begin(0, watch(), SECOND, 100_000, [flow(1, 4)]);
        let id = resumes.next(0).expect("due").id;
        resumes.end(id);
        assert_eq!((resumes.len(), resumes.deadline()), (0, None));
        // The link goes again; another prefix has its own.
        let other = "::/0";
        resumes.begin(SECOND, watch(), SECOND, 100_000, [flow(1, 4)]);
        resumes.begin(SECOND, other, SECOND, 100_000, [flow(2, 4), flow(3, 4)]);
        resumes.stop(&watch());
        assert_eq!(resumes.len(), 2);
        // One more outage: from the beginning.
        assert_eq!(resumes.begin(2 * SECOND, other, SECOND, 100_000, [flow(4, 4)]), 1);
        assert_eq!(resumes.next(2 * SECOND).map(|due| *due.waiting), Some(4));
    }

    #[test]
    fn there_is_a_bound() {
        let mut resumes = Resumes::new();
        let flows = (0..5000).map(|number| flow(number, 4));
        assert_eq!(resumes.begin(0, watch(), SECOND, 100_000, flows), MOST);
    }
}
