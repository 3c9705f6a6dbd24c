//! The receiving half: reassembly, delayed ACKs (RFC 5681, 4.2), SACK (RFC 2018), D-SACK (RFC 2883).

use crate::Nanos;
use crate::encode::sack_room;
use crate::profile::{HeaderSize, StackProfile};
use crate::ranges::Ranges;
use crate::segment::{CarriedOption, MAX_SACK_BLOCKS, SackList, Segment, Timestamps};

/// Kind of an arriving data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Its bytes had not been received before.
    New,
    /// Its bytes had all been received.
    Duplicate,
    /// Its bytes had not been received, and are thrown away: its time stamp is too old (PAWS; RFC 7323, 5.3).
    Refused,
}

/// How SACK history is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SackHistory {
    /// Blocks are reported with their present extent; those below the cumulative ACK are dropped.
    Rfc2018,
    /// ns-2's `SackStack`: blocks stay as they were reported until a newer one covers them.
    Ns2,
}

/// A receiver that reads at once whatever is in order.
#[derive(Clone, Debug)]
pub struct Receiver {
    profile: StackProfile,
    history_rules: SackHistory,
    rcv_nxt: u32,
    /// Packets above `rcv_nxt`.
    ranges: Ranges,
    /// Blocks reported recently, newest first.
    history: Vec<(u32, u32)>,
    dsack: bool,
    /// Deadline of the delayed ACK.
    delayed: Option<Nanos>,
    /// ACKs to be sent now.
    pending: Option<Segment>,
    window: u32,
    bound: Option<u32>,
    /// Time stamp to echo (RFC 7323, 4.3) and the ACK last sent.
    ts_recent: u32,
    last_ack_sent: u32,
    /// Rides on the next ACK.
    carried: CarriedOption,
}

impl Receiver {
    /// A receiver that waits for the SYN.
    pub fn new(profile: &StackProfile) -> Self {
        let ns2 = profile.header == HeaderSize::Ns2;
        Self {
            profile: *profile,
            history_rules: if ns2 { SackHistory::Ns2 } else { SackHistory::Rfc2018 },
            rcv_nxt: 0,
            ranges: Ranges::default(),
            history: Vec::new(),
            dsack: profile.dsack,
            delayed: None,
            pending: None,
            window: profile.receive_window,
            bound: None,
            ts_recent: 0,
            last_ack_sent: 0,
            carried: CarriedOption::default(),
        }
    }

    /// Next packet expected.
    #[inline]
    pub fn rcv_nxt(&self) -> u32 {
        self.rcv_nxt
    }

    /// The cumulative ACK that was made last, sent or not.
    #[inline]
    pub fn last_ack(&self) -> u32 {
        self.last_ack_sent
    }

    /// Packets that have arrived, in order or not, the SYN included.
    pub fn received(&self) -> u32 {
        self.rcv_nxt + self.ranges.packets()
    }

    /// Whether packet `seq` has arrived.
    pub fn has(&self, seq: u32) -> bool {
        seq < self.rcv_nxt || self.ranges.around(seq).is_some()
    }

    /// Turns reporting of duplicates on or off from now on (RFC 2883).
    pub fn set_dsack(&mut self, on: bool) {
        self.dsack = on;
    }

    /// Changes the advertised window: packets beyond the cumulative ACK.
    pub fn set_window(&mut self, window: u32) {
        self.window = window;
    }

    /// The advertised window.
    pub fn window(&self) -> u32 {
        self.window
    }

    /// Lets at most so many packets be under way. Packets held behind a hole are not: they come on top of the bound.
    pub fn set_bound(&mut self, bound: Option<u32>) {
        self.bound = bound;
    }

    /// The bound of what may be under way.
    pub fn bound(&self) -> Option<u32> {
        self.bound
    }

    fn offered(&self) -> u32 {
        let bounded = self.bound.map(|bound| bound.saturating_add(self.ranges.packets()));
        bounded.map_or(self.window, |bounded| bounded.min(self.window))
    }

    /// Announces the window by an ACK, if there is a connection.
    pub fn announce_window(&mut self, now: Nanos) {
        if self.rcv_nxt > 0 {
            self.pending = Some(self.acknowledge(now, None, false));
        }
    }

    /// Lets `option` ride on the next ACK.
    pub fn carry(&mut self, option: CarriedOption) {
        self.carried = option;
    }

    /// A segment has arrived; says what it was if it carried data.
    pub fn on_segment(&mut self, now: Nanos, segment: &Segment) -> Option<Arrival> {
        if !segment.is_data() {
            // A window probe lies below the window and carries nothing (RFC 9293, 3.8.6.1):
            // unacceptable, so it is answered with an ACK (3.10.7.4).
            if segment.seq < self.rcv_nxt {
                self.pending = Some(self.acknowledge(now, None, false));
            }
            return None;
        }
        // RFC 7323, 4.3
        if let Some(stamps) = segment.timestamps
            && stamps.is_not_before(self.ts_recent)
            && segment.seq <= self.last_ack_sent
        {
            self.ts_recent = stamps.value;
        }
        let seq = segment.seq;
        let arrival = self.insert(seq);
        // ns-2 takes a copy of the last in-order packet for the packet itself and may delay its ACK.
        let counts_as_new = arrival == Arrival::New || self.history_rules == SackHistory::Ns2;
        let in_sequence = counts_as_new && self.rcv_nxt == seq + 1;
        let fills_gap = !self.ranges.is_empty();
        if let (Some(delay), true, false, None) =
            (self.profile.ack.delay, in_sequence, fills_gap, self.delayed)
            && (!segment.syn || self.profile.ack.delays_syn)
        {
            self.delayed = Some(now + delay);
            return Some(arrival);
        }
        self.delayed = None;
        self.pending = Some(self.acknowledge(now, Some(seq), arrival == Arrival::Duplicate));
        Some(arrival)
    }

    /// The clock has reached [`Self::deadline`].
    pub fn on_timer(&mut self, now: Nanos) {
        if self.delayed.is_some_and(|deadline| deadline <= now) {
            self.delayed = None;
            self.pending = Some(self.acknowledge(now, Some(self.rcv_nxt - 1), false));
        }
    }

    /// When [`Self::on_timer`] wants to be called.
    #[inline]
    pub fn deadline(&self) -> Option<Nanos> {
        self.delayed
    }

    /// The ACK to send now, and the bytes that links charge for it.
    #[inline]
    pub fn poll_transmit(&mut self) -> Option<(Segment, u32)> {
        self.transmit_with(|ack| ack)
    }

    /// Whether there is one.
    #[inline]
    pub fn may_transmit(&self) -> bool {
        self.pending.is_some()
    }

    /// The same, given to `put`, which reads it where it lies.
    #[inline(always)]
    pub fn transmit_with<R>(&mut self, put: impl FnOnce((Segment, u32)) -> R) -> Option<R> {
        if !self.carried.is_empty() {
            self.load();
        }
        let ack = self.pending.as_ref()?;
        let result = put((*ack, self.charged(ack)));
        self.pending = None;
        Some(result)
    }

    /// Puts the carried option onto the ACK, if one is to be sent.
    #[cold]
    fn load(&mut self) {
        if let Some(mut ack) = self.pending {
            let option = std::mem::take(&mut self.carried);
            self.add_option(&mut ack, option);
            self.pending = Some(ack);
        }
    }

    /// A pure ACK of the present state that carries `option`, outside the acknowledgement policy,
    /// and the bytes that links charge for it. Without SACK blocks where they would not fit.
    pub fn notify(&mut self, now: Nanos, option: CarriedOption) -> (Segment, u32) {
        let mut ack = self.acknowledge(now, None, false);
        self.add_option(&mut ack, option);
        (ack, self.charged(&ack))
    }

    /// `ack` as somebody beside TCP writes it: no stamp is echoed, no block reported. And the bytes that links charge.
    pub fn as_crafted(&self, ack: &Segment) -> (Segment, u32) {
        let timestamps = ack.timestamps.map(|stamps| Timestamps { echo: 0, ..stamps });
        let ack = Segment { timestamps, sack: SackList::default(), ..*ack };
        (ack, self.charged(&ack))
    }

    /// The last ACK as somebody beside TCP writes it: no stamp is echoed, no block reported, and nothing here
    /// changes. And the bytes that links charge for it.
    pub fn plain_ack(&self, now: Nanos) -> (Segment, u32) {
        let ack = self.segment(now, false, SackList::default());
        let timestamps = ack.timestamps.map(|stamps| Timestamps { echo: 0, ..stamps });
        let ack = Segment { timestamps, ..ack };
        (ack, self.charged(&ack))
    }

    /// Adds a carried option, in place of the SACK blocks if they do not all fit beside it.
    fn add_option(&self, ack: &mut Segment, option: CarriedOption) {
        ack.option = option;
        if self.profile.header == HeaderSize::Encoded && ack.sack.len() > sack_room(&self.profile, ack) {
            ack.sack = SackList::default();
        }
    }

    /// `ack`, which carries nothing, with `option` if that fits beside its SACK blocks, and the bytes that links charge.
    pub fn beside(&self, ack: &Segment, option: CarriedOption) -> Option<(Segment, u32)> {
        let mut with = *ack;
        self.add_option(&mut with, option);
        (ack.option.is_empty() && with.sack == ack.sack).then(|| (with, self.charged(&with)))
    }

    /// Adds a packet to what has been received.
    fn insert(&mut self, seq: u32) -> Arrival {
        if seq < self.rcv_nxt {
            return Arrival::Duplicate;
        }
        if seq == self.rcv_nxt {
            self.rcv_nxt += 1;
            self.rcv_nxt = self.ranges.take_from(self.rcv_nxt).unwrap_or(self.rcv_nxt);
            return Arrival::New;
        }
        if self.ranges.insert(seq) { Arrival::New } else { Arrival::Duplicate }
    }

    /// The ACK that packet `cause` calls for.
    fn acknowledge(&mut self, now: Nanos, cause: Option<u32>, duplicate: bool) -> Segment {
        let mut sack = SackList::default();
        // RFC 9293, 3.10.7.2: a SYN, again if need be, is answered with SYN and ACK until data come.
        let syn = cause == Some(0) && self.rcv_nxt == 1 && self.ranges.is_empty();
        if self.profile.sack_blocks > 0 && !syn {
            if let Some(seq) = cause {
                if duplicate && self.dsack {
                    sack.push(seq, seq + 1);
                }
                if self.ranges.is_empty() {
                    self.history.clear();
                } else {
                    self.sack_blocks(seq, &mut sack);
                }
            } else {
                for &(left, right) in &self.history {
                    if right > self.rcv_nxt && sack.len() < self.profile.sack_blocks {
                        sack.push(left, right);
                    }
                }
            }
        }
        self.last_ack_sent = self.rcv_nxt;
        self.segment(now, syn, sack)
    }

    fn segment(&self, now: Nanos, syn: bool, sack: SackList) -> Segment {
        let stamp = self.profile.rtt.stamp();
        let timestamps = stamp.map(|tick| Timestamps { value: (now / tick) as u32, echo: self.ts_recent });
        Segment {
            seq: u32::from(!syn),
            ack: self.rcv_nxt,
            window: self.offered(),
            payload: 0,
            syn,
            push: false,
            has_ack: true,
            detail: Default::default(),
            ecn: Default::default(),
            sack,
            timestamps,
            option: CarriedOption::default(),
        }
    }

    /// SACK blocks after packet `seq` (RFC 2018, section 4; ns-2 `Sacker::append_ack`).
    fn sack_blocks(&mut self, seq: u32, sack: &mut SackList) {
        let most = self.profile.sack_blocks;
        // The block that holds the packet comes first, unless it is acknowledged cumulatively.
        let recent = if seq < self.rcv_nxt {
            (0, self.rcv_nxt)
        } else {
            let block = self.ranges.around(seq).unwrap_or((seq, seq + 1));
            if sack.len() < most {
                sack.push(block.0, block.1);
            }
            block
        };
        let mut k = 0;
        while sack.len() < most && k < self.history.len() {
            let mut block = self.history[k];
            if self.history_rules == SackHistory::Rfc2018 {
                // If it is gone, it is acknowledged by now.
                block = self.ranges.around(block.0).unwrap_or(recent);
            }
            let covered = recent.0 <= block.0 && recent.1 >= block.1;
            let listed = || sack.as_slice().contains(&block);
            if covered || (self.history_rules == SackHistory::Rfc2018 && listed()) {
                self.history.remove(k);
                continue;
            }
            self.history[k] = block;
            sack.push(block.0, block.1);
            k += 1;
        }
        if seq >= self.rcv_nxt {
            // RFC 2018, 4: "as many distinct SACK blocks as possible", so more are remembered than
            // one ACK holds. ns-2 remembers what it reports.
            let remembered = match self.history_rules {
                SackHistory::Rfc2018 => 2 * MAX_SACK_BLOCKS,
                SackHistory::Ns2 => most,
            };
            self.history.truncate(remembered - 1);
            self.history.insert(0, recent);
        }
    }

    #[inline]
    fn charged(&self, ack: &Segment) -> u32 {
        crate::core::charged_header(&self.profile, ack)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{NS2_SACK1, RFC};

    /// An ACK with a 12-byte option, of a receiver that holds three blocks beyond a hole.
    fn notice(profile: &StackProfile, carried: bool) -> (Segment, u32) {
        let mut receiver = Receiver::new(profile);
        let mut sender = crate::Sender::new(profile, 0, ());
        sender.open(10);
        let mut packet = sender.poll_transmit(0).unwrap().segment;
        receiver.on_segment(0, &packet);
        (packet.syn, packet.payload) = (false, profile.mss);
        for seq in [3, 5, 7] {
            packet.seq = seq;
            receiver.on_segment(0, &packet);
        }
        let option = CarriedOption::new(&[253, 12, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9]).unwrap();
        if carried {
            receiver.carry(option);
            return receiver.poll_transmit().unwrap();
        }
        receiver.notify(0, option)
    }

    /// Design, section 5: "that ACK goes without SACK blocks" where the notice does not fit beside
    /// them and time stamps.
    #[test]
    fn a_notice_displaces_the_sack_blocks_that_do_not_fit() {
        for carried in [false, true] {
            let (ack, bytes) = notice(&RFC, carried);
            assert_eq!((ack.sack.len(), bytes), (0, 40 + 12 + 12));
            let (ack, bytes) = notice(&NS2_SACK1, carried); // no time stamps, and options are free
            assert_eq!((ack.sack.len(), bytes), (3, 40 + 3 * 8));
        }
    }

    /// As the kernel asks for options of programs after it has written its SACK blocks (`tcp_established_options`). 40
    /// octets hold time stamps, 12, these 12, and one block, 4 + 8, and no second one. Links charge a kernel's stack
    /// nothing for it (`charged_header`).
    #[test]
    fn an_ack_of_its_own_carries_what_fits_beside_its_blocks() {
        for (profile, charged) in [(&RFC, 12), (&crate::profile::LINUX_6_12, 0)] {
            let mut receiver = crate::AnyReceiver::new(profile);
            let mut sender = crate::Sender::new(profile, 0, ());
            sender.open(10);
            let mut packet = sender.poll_transmit(0).unwrap().segment;
            receiver.on_segment(0, &packet);
            receiver.poll_transmit();
            (packet.syn, packet.payload) = (false, profile.mss);
            let option = CarriedOption::new(&[253, 12, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9]).unwrap();
            let mut carry = |seq| {
                packet.seq = seq;
                receiver.on_segment(0, &packet);
                let (ack, bytes) = receiver.poll_transmit().unwrap();
                receiver.beside(&ack, option).map(|(with, more)| (with.option == option, more - bytes))
            };
            assert_eq!(carry(3), Some((true, charged)), "{}", profile.name);
            assert_eq!(carry(5), None, "{}", profile.name);
        }
    }

    /// A bound is one of what may be under way, whichever receiver it is.
    #[test]
    fn what_is_held_is_not_under_way() {
        for profile in [&RFC, &crate::profile::LINUX_6_12] {
            let mut receiver = crate::AnyReceiver::new(profile);
            let segment = |seq: u32| {
                let mut sender = crate::Sender::new(&RFC, 0, ());
                sender.open(10);
                let first = sender.poll_transmit(0).unwrap().segment;
                let payload = if seq == 0 { first.payload } else { profile.mss };
                Segment { seq, payload, syn: seq == 0, ..first }
            };
            let mut offered = |seq: u32, bound: Option<u32>| {
                receiver.set_bound(bound);
                receiver.on_segment(0, &segment(seq));
                std::iter::from_fn(|| receiver.poll_transmit()).last().map(|ack| ack.0.window)
            };
            let usual = profile.receive_window;
            assert_eq!(offered(0, None), Some(usual), "{}", profile.name);
            // Packets 1 and 2 are missing, then 4.
            assert_eq!(offered(3, Some(5)), Some(5 + 1), "{}", profile.name);
            assert_eq!(offered(5, Some(5)), Some(5 + 2), "{}", profile.name);
            assert_eq!(offered(6, Some(usual)), Some(usual), "{}: never more", profile.name);
            offered(2, Some(5));
            offered(1, Some(5));
            assert_eq!(offered(4, Some(5)), Some(5), "{}: all is in order", profile.name);
            assert_eq!(offered(8, None), Some(usual), "{}", profile.name);
        }
    }
}
