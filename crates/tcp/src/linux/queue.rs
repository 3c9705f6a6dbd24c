//! The retransmission queue: one record per packet in a ring, a list through it in order of transmission.
//!
//! Source: `tcp_rtx_queue` and `tsorted_sent_queue` (include/linux/tcp.h, include/net/tcp.h, struct `tcp_skb_cb`).
//! Linux merges neighbours that are SACKed into one buffer (`collapse.rs`). Here each packet keeps its record, and those
//! behind the first of a buffer are marked. How many they are is counted, for that frees memory of the send buffer.

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
/// In one buffer with the packet before it, both being SACKed (`tcp_shift_skb_data`).
const MERGED: u8 = 64;
/// Flags that must not be set beside [`SACKED`] in a buffer that others are merged with (`TCPCB_TAGBITS`).
const TAG_BITS: u8 = SACKED | RETRANS | LOST;
/// In the list by time of transmission.
const LISTED: u8 = 16;
/// Sent in one buffer with the packet before it (TSO).
const BURST: u8 = 128;

/// No packet.
const NONE: u32 = u32::MAX;

/// A packet that was sent and is not yet acknowledged cumulatively.
#[derive(Clone, Copy, Debug, Default)]
pub struct Packet {
    /// When it was last sent, ns since boot (`skb_mstamp_ns`).
    pub sent_ns: u64,
    /// Start of its rate sample (`tcp_skb_cb.tx`).
    pub stamp: TxStamp,
    /// Neighbours in the list by time of transmission (`tcp_tsorted_anchor`). In the first packet of a buffer of
    /// several, `next` is the end of the buffer. In the others `prev` is a packet of it that comes before.
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

    /// Whether packet `seq` is SACKed and no more, so that others can be merged with its buffer.
    #[inline]
    pub fn is_plainly_sacked(&self, seq: u32) -> bool {
        self.get(seq).flags & TAG_BITS == SACKED
    }

    /// First packet of the buffer that `seq` is in.
    #[inline]
    pub fn buffer_of(&self, seq: u32) -> u32 {
        let mut at = seq;
        while at > self.head && self.get(at).has(MERGED) {
            at = self.get(at).prev.max(self.head);
        }
        at
    }

    /// One beyond the last packet of the buffer that begins with `first`.
    #[inline]
    pub fn buffer_end(&self, first: u32) -> u32 {
        let second = first + 1;
        if second < self.end && self.get(second).has(MERGED) { self.get(first).next } else { second }
    }

    /// Packets of the buffer that begins with `first`.
    #[inline]
    pub fn buffer_packets(&self, first: u32) -> u32 {
        self.buffer_end(first) - first
    }

    /// The buffer `second` becomes a part of the one before it, `first`; both are SACKed. If one of them
    /// was ever sent again, all counts as sent again (`tcp_shifted_skb`).
    pub fn join(&mut self, first: u32, second: u32) {
        let end = self.buffer_end(second);
        debug_assert_eq!(self.buffer_end(first), second, "neighbours");
        // Advice may have had either sent again although it was SACKed.
        self.unlist(first);
        self.unlist(second);
        let (one, other) = (self.get(first).flags & EVER_RETRANS, self.get(second).flags & EVER_RETRANS);
        let lacking = match (one > 0, other > 0) {
            (true, false) => second..end,
            (false, true) => first..second,
            _ => 0..0,
        };
        for seq in lacking {
            self.get_mut(seq).flags |= EVER_RETRANS;
        }
        let packet = self.get_mut(second);
        packet.flags |= MERGED;
        packet.prev = first;
        self.get_mut(first).next = end;
        self.merged += 1;
    }

    /// The buffer that begins with `first` ends before `second` from now on, which begins another (`tcp_fragment`).
    pub fn split(&mut self, first: u32, second: u32) {
        let end = self.buffer_end(first);
        debug_assert!(first < second && second < end, "within the buffer");
        self.get_mut(first).next = second;
        let packet = self.get_mut(second);
        packet.flags &= !MERGED;
        packet.next = end;
        for seq in second + 1..end {
            self.get_mut(seq).prev = second;
        }
        self.merged -= 1;
    }

    /// Packet `seq` is about to be sent again: it gets a buffer of its own (`__tcp_retransmit_skb`). Advice may ask for the
    /// first one although it is SACKed, and a loss probe for the last one (`tcp_send_loss_probe`).
    pub fn isolate(&mut self, seq: u32) {
        let first = self.buffer_of(seq);
        if first < seq {
            self.split(first, seq);
        }
        if self.buffer_packets(seq) > 1 {
            self.split(seq, seq + 1);
        }
    }

    /// Packets `first..end` leave in one buffer, which is theirs alone.
    pub fn bind(&mut self, first: u32, end: u32) {
        for seq in first + 1..end {
            self.get_mut(seq).flags |= BURST;
        }
        self.cut(first);
        self.cut(end);
    }

    /// A buffer that was sent begins with packet `seq` (`tcp_fragment`).
    pub fn cut(&mut self, seq: u32) {
        if (self.head..self.end).contains(&seq) {
            self.get_mut(seq).flags &= !BURST;
        }
    }

    /// One beyond the last packet of the buffer in which `first` was sent, which begins it. A SACK block that ends
    /// within a buffer cuts it (`tcp_match_skb_to_sack`).
    pub fn burst_end(&self, first: u32) -> u32 {
        let mut end = first + 1;
        while end < self.end && self.get(end).flags & (BURST | SACKED) == BURST {
            end += 1;
        }
        end
    }

    /// Buffers of what is queued.
    pub fn buffers(&self) -> u32 {
        let next = (self.head + 1).min(self.end)..self.end;
        (next.start - self.head) + next.filter(|&seq| !self.get(seq).has(BURST | MERGED)).count() as u32
    }

    /// Every packet has a buffer of its own again: the receiver has dropped what it had SACKed.
    pub fn split_all(&mut self) {
        for seq in self.head..self.end {
            self.get_mut(seq).flags &= !MERGED;
        }
        self.merged = 0;
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
        let end = self.buffer_end(self.head);
        self.unlist(self.head);
        self.head += 1;
        // The rest of its buffer begins with the next packet.
        if end > self.head {
            let packet = self.get_mut(self.head);
            packet.flags &= !MERGED;
            packet.next = end;
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

    /// Where each buffer begins and ends.
    fn buffers(queue: &Queue) -> Vec<(u32, u32)> {
        let mut at = queue.head();
        std::iter::from_fn(|| {
            let first = (at < queue.end()).then_some(at)?;
            at = queue.buffer_end(first);
            assert!((first..at).all(|seq| queue.buffer_of(seq) == first), "{first}..{at}");
            Some((first, at))
        })
        .collect()
    }

    #[test]
    fn buffers_are_joined_and_split() {
        let mut queue = Queue::new();
        for _ in 0..8 {
            queue.push();
        }
        (1..8).for_each(|seq| queue.get_mut(seq).flags |= SACKED);
        queue.get_mut(5).flags |= EVER_RETRANS;
        for (first, second) in [(1, 2), (3, 4), (1, 3), (5, 6), (5, 7)] {
            queue.join(first, second);
        }
        assert_eq!((buffers(&queue), queue.merged()), (vec![(0, 1), (1, 5), (5, 8)], 5));
        assert!((5..8).all(|seq| queue.get(seq).has(EVER_RETRANS)));
        assert!((1..5).all(|seq| !queue.get(seq).has(EVER_RETRANS)));
        queue.join(1, 5);
        assert!((1..8).all(|seq| queue.get(seq).has(EVER_RETRANS)), "one flag for the buffer");
        queue.split(1, 4);
        queue.split(4, 7);
        assert_eq!((buffers(&queue), queue.merged()), (vec![(0, 1), (1, 4), (4, 7), (7, 8)], 4));
        queue.join(4, 7);
        // An ACK ends within a buffer.
        (0..6).for_each(|_| queue.pop());
        assert_eq!((buffers(&queue), queue.merged()), (vec![(6, 8)], 1));
        queue.split(6, 7);
        assert_eq!((buffers(&queue), queue.merged()), (vec![(6, 7), (7, 8)], 0));
    }

    /// A handoff's advice has the head sent again although it is SACKed, and a D-SACK tells that it came twice.
    #[test]
    fn a_packet_of_a_buffer_that_is_sent_again() {
        let mut queue = Queue::new();
        for _ in 0..5 {
            let seq = queue.push();
            queue.list_last(seq);
        }
        for seq in 0..4 {
            queue.get_mut(seq).flags |= SACKED;
            queue.unlist(seq);
        }
        (1..4).for_each(|seq| queue.join(0, seq));
        assert_eq!(buffers(&queue), [(0, 4), (4, 5)]);
        queue.isolate(0);
        queue.list_last(0);
        assert_eq!((buffers(&queue), queue.merged()), (vec![(0, 1), (1, 4), (4, 5)], 2));
        assert_eq!(open(&mut queue), [4, 0]);
        queue.join(0, 1);
        assert_eq!((buffers(&queue), queue.merged()), (vec![(0, 4), (4, 5)], 3));
        assert_eq!(open(&mut queue), [4]);
        // A loss probe sends the last one of a buffer, or one within it.
        queue.isolate(3);
        assert_eq!((buffers(&queue), queue.merged()), (vec![(0, 3), (3, 4), (4, 5)], 2));
        queue.isolate(1);
        assert_eq!((buffers(&queue), queue.merged()), (vec![(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)], 0));
    }
}
