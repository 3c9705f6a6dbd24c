//! The receive buffer: how far the window that it allows has grown, and how the buffer follows what the application
//! reads. Its name is "dynamic right-sizing" (Fisk and Feng, 2001).
//!
//! Source: net/ipv4/tcp_input.c (`tcp_init_buffer_space`, `tcp_grow_window`, `tcp_rcv_space_adjust`,
//! `tcp_rcv_rtt_measure_ts`, `tcp_rcv_rtt_update`), tcp_output.c (`__tcp_select_window`, `tcp_select_window`). While the
//! window grows, every packet is acknowledged at once. Time stamps measure the round trip; `tcp_rcv_rtt_measure` is left
//! out, since a window lasts longer than that.

/// Receive buffer at most, bytes (`tcp_rmem`), and what a segment takes of it on a veth.
const MOST: u32 = 16 << 20;
pub(super) const TRUESIZE: u32 = 2280;
/// The same of one or two segments out of order, whose data move into one head (`skb_condense`, `skb_try_coalesce`).
pub(super) const TRUESIZE_OUT_OF_ORDER: u32 = 4352;
/// The same of one that its host cut from a longer one, in order or not (`skb_segment`). Its head has room for no other.
pub(super) const TRUESIZE_CUT: u32 = 2304;
/// Payload of a segment, bytes.
const MSS: u32 = 1448;
/// Bytes that the application is taken to read in a round trip at first (`TCP_INIT_CWND` segments).
const FIRST_SPACE: u32 = 10 * MSS;
/// Bytes that are added to a window that follows the application.
const CUSHION: u64 = 16 * MSS as u64;
/// Unit in which windows are told (`rcv_wscale` 9, for 16 MB).
const WINDOW_UNIT: u32 = 512;

/// Payload of a segment that takes so much memory, in 1/256.
const fn ratio(truesize: u32) -> u32 {
    MSS * 256 / truesize
}

/// The buffer of a connection.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    /// `sk_rcvbuf`, bytes.
    size: u32,
    /// Share of it that may be payload, in 1/256 (`scaling_ratio`).
    ratio: u32,
    /// Window that the kernel would offer at most, bytes (`rcv_ssthresh`).
    window: u32,
    /// Window that was offered with the last ACK, bytes (`rcv_wnd`).
    offered: u32,
    /// `rcvq_space`: the most that was read in a round trip, bytes; what was read and when it was measured last, us.
    space: u32,
    read: u32,
    measured_us: u64,
    /// Eight times the round trip, us; 0: none measured (`rcv_rtt_est`).
    rtt_us: u64,
    /// The time stamp that measured it last (`rcv_rtt_last_tsecr`).
    echo: u32,
    /// Memory of what is in order and not yet read, bytes; one beyond the last packet of its first buffer.
    pub(super) unread: u32,
    pub(super) first_unread: u32,
}

impl Buffer {
    /// One of `size` bytes at first. The window of the handshake is half of it (`TCP_DEFAULT_SCALING_RATIO`) but for one
    /// segment, and its offer whole segments of that half (`tcp_select_initial_window`).
    pub(super) fn new(size: u32) -> Self {
        let space = FIRST_SPACE;
        let (window, offered) = (size / 2 - MSS, size / 2 / MSS * MSS);
        Self {
            size,
            ratio: ratio(TRUESIZE),
            window,
            offered,
            space,
            read: 0,
            measured_us: 0,
            rtt_us: 0,
            echo: 0,
            unread: 0,
            first_unread: 0,
        }
    }

    /// The connection begins with packet `next` (`tcp_init_buffer_space`).
    pub(super) fn begin(&mut self, now_us: u64, next: u32) {
        self.measured_us = now_us;
        self.read = next;
    }

    /// The first data segment takes so much memory (`tcp_measure_rcv_mss`).
    pub(super) fn see_first(&mut self, truesize: u32) {
        self.ratio = ratio(truesize);
    }

    /// Window that all of the buffer allows (`window_clamp`, `tcp_full_space`).
    fn clamp(&self) -> u32 {
        self.space_beside(0)
    }

    /// Window that the buffer allows beside `held` bytes (`tcp_space`).
    fn space_beside(&self, held: u32) -> u32 {
        (u64::from(self.size.saturating_sub(held)) * u64::from(self.ratio) / 256) as u32
    }

    /// Whether the window widens by a packet that has just come (`tcp_grow_window`). The buffer holds `held` bytes, the
    /// packet itself among them unless it is out of order.
    pub(super) fn grows(&mut self, held: u32) -> bool {
        let room = self.space_beside(held).saturating_sub(self.window);
        self.window += room.min(2 * MSS);
        room > 0
    }

    /// Whether less than half of the window is left beside `held` bytes.
    pub(super) fn is_half_full(&self, held: u32) -> bool {
        self.space_beside(held) < self.clamp() / 2
    }

    /// Window beside `held` bytes (`__tcp_select_window`).
    pub(super) fn select_window(&self, held: u32) -> u32 {
        let mut free = self.space_beside(held);
        if self.is_half_full(held) {
            free = free / WINDOW_UNIT * WINDOW_UNIT;
            if free < self.clamp() / 16 || free < MSS {
                return 0;
            }
        }
        free.min(self.window).next_multiple_of(WINDOW_UNIT)
    }

    /// Window that the last ACK offered (`rcv_wnd`).
    pub(super) fn offered(&self) -> u32 {
        self.offered
    }

    /// An ACK of `packets` more than the last one offers `window`, and takes nothing back (`tcp_select_window`,
    /// `tcp_receive_window`).
    pub(super) fn offer(&mut self, window: u32, packets: u32) {
        let left = self.offered.saturating_sub(packets * MSS);
        self.offered = if window < left { left.next_multiple_of(WINDOW_UNIT) } else { window };
    }

    /// A data packet echoes the time stamp of an ACK that was sent `elapsed_ms` ago (`tcp_rcv_rtt_measure_ts`).
    pub(super) fn measure(&mut self, echo: u32, elapsed_ms: u32) {
        if echo == self.echo {
            return;
        }
        self.echo = echo;
        let sample = u64::from(elapsed_ms) * 1_000;
        if elapsed_ms == 0 || elapsed_ms > i32::MAX as u32 {
            return;
        }
        // `tcp_rcv_rtt_update`
        self.rtt_us = match self.rtt_us {
            old if old == 0 || 8 * sample < old => 8 * sample,
            old => old - old / 8 + sample,
        };
    }

    /// The application has read all before packet `read`, and those before `next` wait for it
    /// (`tcp_rcv_space_adjust`).
    pub(super) fn adjust(&mut self, now_us: u64, read: u32, next: u32) {
        if self.rtt_us == 0 || now_us - self.measured_us < self.rtt_us / 8 {
            return;
        }
        let copied = (read - self.read).saturating_sub(next - read) * MSS;
        if copied > self.space {
            // Twice as much for losses, and again for a sender that doubles its rate.
            let (copied, space) = (u64::from(copied), u64::from(self.space));
            let window = 2 * copied + CUSHION;
            let window = window + 2 * (window * (copied - space) / space);
            let size = (window * 256 / u64::from(self.ratio)).min(u64::from(MOST)) as u32;
            self.size = self.size.max(size);
            self.space = copied as u32;
        }
        self.read = read;
        self.measured_us = now_us;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reference's.
    const BUFFER: u32 = 4 << 20;

    /// A buffer whose round trip is 100 ms, from packet 1 on.
    fn buffer() -> Buffer {
        let mut buffer = Buffer::new(BUFFER);
        buffer.begin(0, 1);
        buffer.measure(7, 100);
        buffer
    }

    /// Packets in order until the window grows no more.
    fn widen(buffer: &mut Buffer) -> u32 {
        (0..).find(|_| !buffer.grows(TRUESIZE)).unwrap()
    }

    /// From 2 MB to 162/256 of 4 MB but for the packet at hand, by two segments for each.
    #[test]
    fn the_first_window_grows_by_two_segments_a_packet() {
        let room = (BUFFER - TRUESIZE) as u64 * 162 / 256 - u64::from(BUFFER / 2 - MSS);
        assert_eq!(u64::from(widen(&mut buffer())), room.div_ceil(2 * u64::from(MSS)));
    }

    /// A sender that doubles its rate from 10 packets on. A round of 160 packets wants (2 * 160 + 16) * 3 segments of
    /// window, for which 4 MB have room. One of 320 wants (2 * 320 + 16) * 3, which take 256/162 as many bytes of
    /// buffer.
    #[test]
    fn the_buffer_follows_what_is_read_in_a_round_trip() {
        let mut buffer = buffer();
        let (mut now, mut read) = (0, 1);
        for packets in [20, 40, 80, 160] {
            now += 100_000;
            read += packets;
            buffer.adjust(now, read, read);
            assert_eq!((buffer.size, buffer.space), (BUFFER, packets * MSS));
        }
        widen(&mut buffer);
        read += 320;
        buffer.adjust(now + 99_999, read, read); // within the round trip
        assert_eq!(buffer.space, 160 * MSS);
        buffer.adjust(now + 100_000, read, read);
        assert_eq!(buffer.size, 656 * 3 * MSS * 64 / 81 * 2);
        assert!(widen(&mut buffer) > 50);
        // Less in a round trip changes nothing.
        let size = buffer.size;
        buffer.adjust(now + 200_000, read + 10, read + 10);
        assert_eq!((buffer.size, buffer.space), (size, 320 * MSS));
    }

    /// Data that is held takes 162/256 of its memory off the window. An offer stands; what it leaves is rounded up to 512.
    #[test]
    fn what_is_held_shrinks_the_window_and_an_offer_stands() {
        let mut buffer = buffer();
        widen(&mut buffer);
        let widest = buffer.select_window(0);
        // The packet at hand has no room; 4,194,304 - 2,280 bytes give 2,652,765, and 512 * 5,182 is the next.
        assert_eq!(widest, 2_653_184);
        buffer.offer(widest, 0);
        assert_eq!((buffer.select_window(TRUESIZE), buffer.offered()), (widest, widest));
        // 50 buffers out of order, 217,600 bytes: 2,516,508 are left, and 512 * 4,916 is the next.
        let held = 50 * TRUESIZE_OUT_OF_ORDER;
        let smaller = buffer.select_window(held);
        assert_eq!(smaller, 2_516_992);
        buffer.offer(smaller, 0);
        assert_eq!(buffer.offered(), widest, "nothing is taken back");
        // 60 packets of 1,448 bytes are read: 2,566,304 are left of the offer, rounded up to 512 * 5,013.
        buffer.offer(smaller, 60);
        assert_eq!(buffer.offered(), 2_566_656);
        // 40 more leave 2,508,736, less than is free.
        buffer.offer(smaller, 40);
        assert_eq!(buffer.offered(), smaller);
    }

    /// Beyond half of the window, 1,327,104 bytes, it is rounded down; below a sixteenth, 165,888 bytes, it is 0.
    #[test]
    fn a_full_buffer_closes_the_window() {
        let buffer = buffer();
        assert_eq!(buffer.clamp(), 2_654_208);
        // 2,097,152 bytes: half of it.
        assert!(!buffer.is_half_full(BUFFER / 2) && buffer.is_half_full(BUFFER / 2 + 2));
        assert_eq!(buffer.select_window(BUFFER / 2 + 2), 2_591 * WINDOW_UNIT);
        assert_eq!(buffer.select_window(BUFFER / 16 * 15), 324 * WINDOW_UNIT);
        assert_eq!(buffer.select_window(BUFFER / 16 * 15 + 2), 0);
    }

    /// Data that still waits counts against what was read.
    #[test]
    fn packets_that_wait_do_not_count() {
        let mut buffer = buffer();
        buffer.adjust(100_000, 102, 203);
        assert_eq!((buffer.space, buffer.read), (FIRST_SPACE, 102));
    }

    /// `tcp_rcv_rtt_update`: a smaller sample counts at once, a larger one by an eighth; each stamp once.
    #[test]
    fn the_round_trip_from_time_stamps() {
        let mut buffer = buffer();
        buffer.measure(7, 10);
        assert_eq!(buffer.rtt_us, 800_000);
        buffer.measure(8, 180);
        assert_eq!(buffer.rtt_us, 880_000);
        buffer.measure(9, 50);
        assert_eq!(buffer.rtt_us, 400_000);
    }
}
