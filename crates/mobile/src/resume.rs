//! When which connection is helped after an outage.
//!
//! A peer that has heard nothing waits for a timer that has doubled with each expiry. Each message about the first
//! octet that it knows no ACK for takes one doubling back, and it resends once the timer's time has passed (RFC
//! 6069). Which octet that is this host does not know: its last ACKs may have died with the link.
//!
//! * At once: messages about each of the last ACK numbers, three of each, the newest first; then the last ACK in three
//!   copies. An ACK that came before would be taken for the end of the timeouts, and no message would act any more.
//! * Before these ACKs, if the peer had better begin anew ([`begins_anew`]): an ACK of the first octet behind each
//!   older number. The oldest comes first. An ACK of whole packets that were not resent has F-RTO take the timeouts for
//!   spurious (RFC 5682). Then nothing is lost any more for the peer, and it waits a round trip or for a loss probe. An
//!   ACK within the resent packet, with no room in the window, ends F-RTO (tcp_process_loss, tcp_xmit_recovery of
//!   Linux).
//! * No new data after a round trip: single messages about the number that the ACK has told. They are first close to
//!   each other, then further and further apart. They are no more than take back the doublings of the outage and two.
//! * If the connection may be told a smaller MTU ([`Flow::mtu`]), and its peer had better begin anew, the first three
//!   single messages tell it, too. RFC 6069 acts no earlier than a base RTO behind the peer's last retransmission. A
//!   smaller MTU has the peer resend at once. On a path longer than its RTO it would do so in vain.
//! * A peer that was told a window of zero before a foreseen break ([`Flow::closed`]) gets the last ACK first. It has
//!   nothing under way that a message could be about, and waits for a window.
//! * A peer that has negotiated is told of the handoff by a notice, which says more than these packets ([`Flow::told`]).
//!   Its packets may be lost then. So single messages follow if nothing at all comes, but two round trips after its
//!   notice. A timer that a message brings forward costs it the window of the notice.
//! * A handoff without an outage that this host knows of may have lost packets, too ([`Resumes::doubt`]). If nothing at
//!   all comes within two round trips, its connections are helped like those of an outage. Where nothing but a late
//!   word speaks for a peer that waits ([`Flow::idle`]), mostly it has nothing to send. Then it hears one ACK, and no
//!   more messages than its own silence can have doubled the timer.
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
/// The longest time for which Linux delays an ACK.
const LONGEST_DELAY: u64 = 200 * MS;
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
    /// The packet of the number that the ACK tells was larger than this MTU. For a peer of which nothing has come at
    /// all: another would resend again what is on its way.
    TooBig(u16),
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
    /// Its peer may be told this MTU after an outage, which is smaller than its packets. That is done only if it had
    /// better begin anew.
    pub mtu: Option<u16>,
    /// Its peer has negotiated, and its notice has left so long after the link is back, ns.
    pub told: Option<u64>,
    /// Neither a hole nor data of this host under way show that its peer waits. For so long nothing has come, ns.
    pub idle: Option<u64>,
}

impl<W> Flow<W> {
    /// When the first packet is due that is sent only if nothing comes meanwhile, ns after that of before.
    fn patience(&self) -> u64 {
        2 * self.round_trip + PATIENCE
    }
}

/// Whether a peer had better begin anew than take its timeouts back, after an outage between these paths. F-RTO takes
/// them back (RFC 5682), and a window with them. That costs a round trip. It pays if slow start takes long to be as
/// far, and if the new path can use what the old one has filled. No round trip is shorter than a packet.
pub fn begins_anew(old: &Path, new: &Path) -> bool {
    let (before, now) = (old.full().max(1), new.full().max(1));
    let rounds = u32::BITS - (before.min(now) - 1).leading_zeros();
    let round = u128::from(new.round_trip).max(new.slot());
    now / 2 >= before || u128::from(rounds) * round <= u128::from(LEAST_RTO)
}

/// Packets to send now, unless new data has come.
#[derive(Debug)]
pub struct Due<'a, K, W> {
    /// For [`Resumes::end`].
    pub id: u64,
    /// Its prefix.
    pub watch: &'a K,
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

/// Why a connection is helped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    /// An outage is over.
    Outage,
    /// There may have been one.
    Doubt,
    /// Its window is open again.
    Opened,
}

#[derive(Clone, Debug)]
struct Helped<K, W> {
    id: u64,
    watch: K,
    flow: Flow<W>,
    stage: Stage,
    why: Why,
    /// Its peer hears no more than so many messages and one ACK.
    few: Option<u32>,
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
            let (stage, singles, due) = match flow.told {
                Some(told) => (Stage::Single(0), most, now + told + flow.patience()),
                None => (Stage::All(0), most.saturating_sub(COPIES).max(1), now),
            };
            let helped = self.helped(&watch, up_kbps, flow, Why::Outage);
            self.all.push(Helped { stage, singles, due, ..helped });
        }
        self.all.len() - before
    }

    /// A connection of which nothing is due yet.
    fn helped(&mut self, watch: &K, up_kbps: u32, flow: Flow<W>, why: Why) -> Helped<K, W> {
        self.ids += 1;
        let (id, watch, packet) = (self.ids, watch.clone(), time_of(up_kbps));
        let stage = Stage::All(0);
        Helped { id, watch, flow, stage, why, few: None, singles: 0, due: u64::MAX, packet }
    }

    /// There was a handoff without an outage that this host knows of. These connections of a prefix are helped as after
    /// an outage of `silence` ns. The condition is that nothing at all comes on them within two round trips and 20 ms.
    /// While others of the prefix are being helped after an outage, it is only one more change. A flow that is told of
    /// an open window goes on being told.
    pub fn doubt(
        &mut self,
        now: u64,
        watch: K,
        silence: u64,
        up_kbps: u32,
        flows: impl IntoIterator<Item = Flow<W>>,
    ) {
        let of_it = |helped: &Helped<K, W>| helped.watch == watch;
        if self.all.iter().any(|helped| of_it(helped) && helped.why == Why::Outage) {
            return;
        }
        self.all.retain(|helped| !of_it(helped) || helped.why == Why::Opened);
        for flow in flows.into_iter().take(MOST) {
            let patience = flow.patience();
            let few = flow.idle.map(|idle| doublings(idle + patience).min(COPIES));
            let singles = few.map_or((doublings(silence) + 2).saturating_sub(COPIES).max(1), |_| 0);
            let helped = self.helped(&watch, up_kbps, flow, Why::Doubt);
            self.all.push(Helped { few, singles, due: now + patience, ..helped });
        }
    }

    /// Windows that were closed before a break are open again, and there was no break. Each of these peers is told by
    /// the last ACK, in three copies, and once more if nothing comes.
    pub fn open(&mut self, now: u64, watch: K, up_kbps: u32, flows: impl IntoIterator<Item = Flow<W>>) {
        let before = self.all.len();
        for flow in flows {
            let helped = self.helped(&watch, up_kbps, Flow { acks: 0, ..flow }, Why::Opened);
            self.all.push(Helped { due: now, ..helped });
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
    pub fn next(&mut self, now: u64) -> Option<Due<'_, K, W>> {
        if self.free > now {
            return None;
        }
        let first = self.all.iter_mut().filter(|helped| helped.due <= now).min_by_key(|helped| helped.due)?;
        let begins = first.stage == if first.flow.told.is_some() { Stage::Single(0) } else { Stage::All(0) };
        let says = first.step(now);
        self.free = now + first.packet * says.len() as u64;
        let (id, doubted, last) = (first.id, first.why == Why::Doubt, first.due == u64::MAX);
        Some(Due { id, watch: &first.watch, waiting: &first.flow.waiting, says, begins, doubted, last })
    }
}

impl<K, W> Helped<K, W> {
    /// All that leaves at once, in this order.
    fn at_once(&self) -> Vec<Say> {
        let Flow { acks, closed, anew, .. } = self.flow;
        let copies = |say: Say, count: u32| std::iter::repeat_n(say, count as usize);
        if let Some(few) = self.few {
            return copies(Say::About(0), if acks > 0 { few } else { 0 }).chain([Say::Ack]).collect();
        }
        let messages = (0..acks).flat_map(|number| copies(Say::About(number), COPIES));
        let (first, last) = if closed { (COPIES, 0) } else { (0, COPIES) };
        let octets = if anew && !closed { 1..acks } else { 0..0 };
        let octets = octets.rev().map(Say::Octet);
        copies(Say::Ack, first).chain(messages).chain(octets).chain(copies(Say::Ack, last)).collect()
    }

    fn step(&mut self, now: u64) -> Vec<Say> {
        match self.stage {
            Stage::All(sent) => {
                let all = self.at_once();
                let says: Vec<Say> = all.iter().copied().skip(sent).take(BURST).collect();
                // It stays due meanwhile, and so before those behind it.
                self.stage = Stage::All(sent + says.len());
                if sent + says.len() >= all.len() {
                    self.stage = Stage::Single(0);
                    // An ACK of the answer may be delayed. A peer that hears few hears nothing more meanwhile.
                    let delayed = if self.few.is_some() { LONGEST_DELAY } else { 0 };
                    self.due = now + self.flow.round_trip + PATIENCE + delayed;
                }
                says
            }
            Stage::Single(sent) if sent < self.singles => {
                self.stage = Stage::Single(sent + 1);
                self.due = now + (APART << (sent + 1).saturating_sub(CLOSE).min(8));
                let too_big = self.why == Why::Outage && self.flow.anew && sent < COPIES;
                let mtu = self.flow.mtu.filter(|_| too_big);
                std::iter::once(Say::AboutNext).chain(mtu.map(Say::TooBig)).collect()
            }
            Stage::Single(_) => {
                self.due = u64::MAX;
                // A peer that hears few has had its ACK: only the answer was waited for.
                if self.few.is_some() { Vec::new() } else { vec![Say::Ack] }
            }
        }
    }
}

#[cfg(test)]
mod tests;
