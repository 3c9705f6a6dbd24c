//! The retransmission queue: one record per packet in a ring, a list through it in order of transmission.
//!
//! Source: `tcp_rtx_queue` and `tsorted_sent_queue` (include/linux/tcp.h, include/net/tcp.h, struct `tcp_skb_cb`).
//! Linux merges neighbours that are SACKed; here a SACKed packet remembers how far such a run reaches. How many have
//! been merged is counted, for that frees memory of the send buffer.

use super::cc::TxStamp;

/// SACKed (`TCPCB_SACKED_ACKED`).
pub const SACKED: u8 = 1;
/// A retransmission is under way (`TCPCB_SACKED_RETRANS`).
pub const RETRANS: u8 = 2;
/// Lost (`TCPCB_LOST`).
pub const LOST: u8 = 4;
/// Retransmitted once or more (`TCPCB_EVER_RETRANS`).
pub const EVER_RETRANS: u8 = 8;
/// `TCPCB_RETRANS`: either of the two.
pub const ANY_RETRANS: u8 = RETRANS | EVER_RETRANS;
/// Sent with PSH.
pub const PUSH: u8 = 32;
/// Merged with the packet before it, both being SACKed (`tcp_shift_skb_data`).
pub const MERGED: u8 = 64;
/// In the list by time of transmission.
const LISTED: u8 = 16;

/// No packet.
const NONE: u32 = u32::MAX;

/// A packet that was sent and is not yet acknowledged cumulatively.
#[derive(Clone, Copy, Debug, Default)]
pub struct Packet {
    /// When it was last sent, ns since boot (`skb_mstamp_ns`).
    pub sent_ns: u64,
    /// Start of its rate sample (`tcp_skb_cb.tx`).
    pub stamp: TxStamp,
    /// Neighbours in the list by time of transmission (`tcp_tsorted_anchor`). In a SACKed packet `next` is the end of
    /// a run of SACKed packets that starts with it.
    prev: u32,
    next: u32,
    /// Number of its last transmission.
    pub copy: u32,
    /// `tcp_skb_cb.sacked`.
    pub flags: u8,
}

impl Packet {
    /// `tcp_skb_timestamp_us`.
    #[inline]
    pub fn sent_us(&self) -> u64 {
        self.sent_ns / 1_000
    }

    /// Whether any of `flags` is set.
    #[inline]
    pub fn has(&self, flags: u8) -> bool {
        self.flags & flags != 0
    }
}

/// Packets `head..end`.
#[derive(Clone, Debug)]
pub struct Queue {
    ring: Vec<Packet>,
    mask: usize,
    head: u32,
    end: u32,
    /// Ends of the list by time of transmission.
    oldest: u32,
    newest: u32,
    /// Packets that have been merged with the one before.
    merged: u32,
    /// Where a search for losses begins: packets before it in the list are lost and wait to be sent again.
    open: u32,
}

impl Queue {
    /// Nothing sent.
    pub fn new() -> Self {
        const ROOM: usize = 64;
        Self {
            ring: vec![Packet::default(); ROOM],
            mask: ROOM - 1,
            head: 0,
            end: 0,
            oldest: NONE,
            newest: NONE,
            merged: 0,
            open: NONE,
        }
    }

    /// Packets that have been merged with the one before (`tcp_shift_skb_data`).
    #[inline]
    pub fn merged(&self) -> u32 {
        self.merged
    }

    /// Packet `seq` has just been SACKed: it is merged with the one before and that with the one behind, if these are
    /// SACKed and no more.
    pub fn merge(&mut self, seq: u32) {
        let sacked = |packet: &Packet| packet.flags & (SACKED | RETRANS | LOST) == SACKED;
        if seq == self.head || !sacked(self.get(seq - 1)) {
            return;
        }
        for seq in [seq, seq + 1] {
            if seq < self.end && sacked(self.get(seq)) && !self.get(seq).has(MERGED) {
                self.get_mut(seq).flags |= MERGED;
                self.merged += 1;
            }
        }
    }

    /// First packet that is queued.
    #[inline]
    pub fn head(&self) -> u32 {
        self.head
    }

    /// One beyond the last.
    #[inline]
    pub fn end(&self) -> u32 {
        self.end
    }

    /// Whether nothing is queued.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.head == self.end
    }

    /// Packet `seq`, which is queued.
    #[inline]
    pub fn get(&self, seq: u32) -> &Packet {
        debug_assert!((self.head..self.end).contains(&seq), "packet {seq} is queued");
        &self.ring[seq as usize & self.mask]
    }

    /// The same, to change it.
    #[inline]
    pub fn get_mut(&mut self, seq: u32) -> &mut Packet {
        debug_assert!((self.head..self.end).contains(&seq), "packet {seq} is queued");
        &mut self.ring[seq as usize & self.mask]
    }

    /// Appends packet `end`, not yet in the list.
    #[inline]
    pub fn push(&mut self) -> u32 {
        if (self.end - self.head) as usize > self.mask {
            self.grow();
        }
        let seq = self.end;
        self.end += 1;
        *self.get_mut(seq) = Packet { prev: NONE, next: NONE, ..Packet::default() };
        seq
    }

    #[cold]
    fn grow(&mut self) {
        let old = std::mem::take(&mut self.ring);
        let old_mask = self.mask;
        self.ring = vec![Packet::default(); old.len() * 2];
        self.mask = self.ring.len() - 1;
        for seq in self.head..self.end {
            self.ring[seq as usize & self.mask] = old[seq as usize & old_mask];
        }
    }

    /// Takes the first packet off (`tcp_rtx_queue_unlink_and_free`).
    #[inline]
    pub fn pop(&mut self) {
        self.unlist(self.head);
        self.head += 1;
        // A packet merged with it now stands for itself.
        if self.merged > 0 && self.head < self.end && self.get(self.head).has(MERGED) {
            self.get_mut(self.head).flags &= !MERGED;
            self.merged -= 1;
        }
    }

    /// Moves a packet to the end of the list by time of transmission (`list_move_tail`).
    #[inline]
    pub fn list_last(&mut self, seq: u32) {
        self.unlist(seq);
        let newest = self.newest;
        let packet = self.get_mut(seq);
        packet.flags |= LISTED;
        packet.prev = newest;
        packet.next = NONE;
        match newest {
            NONE => self.oldest = seq,
            _ => self.get_mut(newest).next = seq,
        }
        self.newest = seq;
        if self.open == NONE {
            self.open = seq;
        }
    }

    /// Takes a packet out of that list if it is in it (`list_del_init`).
    #[inline]
    pub fn unlist(&mut self, seq: u32) {
        let packet = self.get_mut(seq);
        if packet.flags & LISTED == 0 {
            return;
        }
        packet.flags &= !LISTED;
        let (prev, next) = (packet.prev, packet.next);
        packet.next = NONE; // no run of SACKed packets is known
        if self.open == seq {
            self.open = next;
        }
        match prev {
            NONE => self.oldest = next,
            _ => self.get_mut(prev).next = next,
        }
        match next {
            NONE => self.newest = prev,
            _ => self.get_mut(next).prev = prev,
        }
    }

    /// First of the list by time of transmission, but for those that are lost and were not yet sent again. After a
    /// timeout these are many, and every ACK asks.
    #[inline]
    pub fn oldest_open(&mut self) -> Option<u32> {
        while self.open != NONE {
            let packet = self.get(self.open);
            if !packet.has(LOST) || packet.has(RETRANS) {
                return Some(self.open);
            }
            self.open = packet.next;
        }
        None
    }

    /// Packets have been found not to be lost.
    pub fn reopen(&mut self) {
        self.open = self.oldest;
    }

    /// The packet sent after `seq`, which is in the list.
    #[inline]
    pub fn sent_next(&self, seq: u32) -> Option<u32> {
        let next = self.get(seq).next;
        (next != NONE).then_some(next)
    }

    /// Notes that `from..to` are all SACKed.
    #[inline]
    pub fn note_run(&mut self, from: u32, to: u32) {
        self.get_mut(from).next = to;
    }

    /// Forgets what [`note_run`](Self::note_run) was told of `seq`: the receiver has dropped what it had SACKed.
    pub fn forget_run(&mut self, seq: u32) {
        let packet = self.get_mut(seq);
        if !packet.has(LISTED) {
            packet.next = NONE;
        }
    }

    /// End of the run of SACKed packets that is known to start with `seq`, a SACKed packet.
    #[inline]
    pub fn run_end(&self, seq: u32) -> u32 {
        let next = self.get(seq).next;
        if next == NONE || next <= seq { seq + 1 } else { next.min(self.end) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The list from [`Queue::oldest_open`] on.
    fn open(queue: &mut Queue) -> Vec<u32> {
        let mut list: Vec<u32> = queue.oldest_open().into_iter().collect();
        while let Some(next) = list.last().and_then(|&last| queue.sent_next(last)) {
            list.push(next);
        }
        list
    }

    #[test]
    fn a_search_for_losses_begins_behind_what_is_known_to_be_lost() {
        let mut queue = Queue::new();
        for _ in 0..6 {
            let seq = queue.push();
            queue.list_last(seq);
        }
        assert_eq!(open(&mut queue), [0, 1, 2, 3, 4, 5]);
        (0..6).for_each(|seq| queue.get_mut(seq).flags |= LOST);
        assert_eq!(open(&mut queue), []);
        // Two are sent again, and a new one.
        for seq in [0, 1] {
            queue.list_last(seq);
            queue.get_mut(seq).flags |= RETRANS;
        }
        let new = queue.push();
        queue.list_last(new);
        assert_eq!(open(&mut queue), [0, 1, 6]);
        queue.pop();
        assert_eq!(open(&mut queue), [1, 6]);
        // That one is lost again, and 3 arrives.
        queue.get_mut(1).flags &= !RETRANS;
        queue.unlist(3);
        assert_eq!(open(&mut queue), [6]);
        (1..7).for_each(|seq| queue.get_mut(seq).flags &= !LOST);
        queue.reopen();
        assert_eq!(open(&mut queue), [2, 4, 5, 1, 6]);
    }
}
