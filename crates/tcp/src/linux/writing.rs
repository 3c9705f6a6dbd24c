//! The application's writing: packets that end with PSH and, where packets leave in bursts, the pieces from which these
//! are taken.
//!
//! Source: net/ipv4/tcp.c (`tcp_sendmsg_locked`, `tcp_xmit_size_goal`, `tcp_push`), tcp_output.c
//! (`tcp_bound_to_half_wnd`, `tcp_grow_skb`, `tso_fragment`), core/stream.c (`sk_stream_write_space`). The application
//! writes so much at a time ([`Writer`]), and again when a third of the buffer is free. A write that found it full goes
//! on then.

use super::LinuxSender;
use super::settings::Writer;
use crate::advice::Advisor;
use std::collections::VecDeque;

/// Memory that a segment takes of the send buffer, and how much of it is free when it is merged with its neighbour.
pub(super) const TRUESIZE: u32 = 2280;
pub(super) const OVERHEAD: u32 = 832;
/// Payload of a segment, bytes.
pub(super) const MSS: u32 = TRUESIZE - OVERHEAD;
/// Send buffer at most, bytes (`tcp_wmem`), and the part of it for each packet of cwnd (`tcp_sndbuf_expand`).
const MOST: u64 = 16 << 20;
const PER_MSS: u32 = 2304;
/// Packets that cwnd has at least there (`TCP_INIT_CWND`).
const INIT_CWND: u32 = 10;
/// Bytes of the largest power of two in a segment of 1448.
const COMMON: u32 = 8;
/// The widest window that a SYN/ACK can offer, bytes.
const UNSCALED: u64 = 65_535;

/// Packets of one buffer that wait to be sent.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// One beyond the last of them.
    end: u32,
    /// That one has PSH.
    push: bool,
}

/// All pieces that wait, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Pieces(VecDeque<Piece>);

impl Pieces {
    /// The first piece gets packets of those behind it, so that from `next` on it has `quota` (`tcp_grow_skb`).
    pub(super) fn grow(&mut self, next: u32, quota: u32) {
        let end = next + quota;
        while let [first, second, ..] = self.0.make_contiguous() {
            if first.end >= end {
                return;
            }
            if second.end > end {
                first.end = end;
                return;
            }
            second.push |= first.push;
            self.0.pop_front();
        }
    }

    /// Packets up to `end` leave. Says whether the last one ends a piece that has PSH.
    #[inline]
    pub(super) fn leave(&mut self, end: u32) -> bool {
        let mut pushes = false;
        while let Some(first) = self.0.front().filter(|first| first.end <= end) {
            pushes = first.end == end && first.push;
            self.0.pop_front();
        }
        pushes
    }
}

/// Packets that the application has written.
#[derive(Clone, Debug)]
pub(super) struct Written {
    /// One beyond the last of them.
    pub end: u32,
    /// One beyond the last that the send buffer has held.
    pub buffered: u32,
    /// First packet of the message that is being written, and of those after it.
    message: u32,
    later: VecDeque<u32>,
    /// The program that writes.
    writer: Writer,
    /// Send buffer, bytes (`sk_sndbuf`).
    room: u64,
    /// Those in it that end a piece of writing, where packets leave one by one.
    pub pushes: VecDeque<u32>,
    /// Pieces of writing, where they leave in bursts.
    pub pieces: Pieces,
}

impl Written {
    pub(super) fn new(writer: Writer) -> Self {
        let pushes = VecDeque::with_capacity(4);
        let room = writer.buffer().into();
        let later = VecDeque::new();
        Self { end: 0, buffered: 1, message: 1, later, writer, room, pushes, pieces: Pieces::default() }
    }

    /// The application has another message, which ends before packet `end`.
    pub(super) fn add_message(&mut self, end: u32) {
        if self.end > self.message {
            self.later.push_back(self.end);
        }
        self.end = end;
    }

    /// The message of packet `next`, the first that is not buffered, and one beyond its last packet.
    fn message_of(&mut self, next: u32) -> (u32, u32) {
        while let Some(message) = self.later.front().copied().filter(|first| *first <= next) {
            self.message = message;
            self.later.pop_front();
        }
        (self.message, self.later.front().copied().unwrap_or(self.end))
    }

    /// Segments until one ends with a write: both have only powers of two in common.
    fn writes_and_segments(&self) -> u32 {
        self.writer.write() / COMMON
    }

    /// Whether the application has no more than it writes at a time.
    pub(super) fn is_one_write(&self) -> bool {
        u64::from(self.end.saturating_sub(1)) * u64::from(MSS) <= u64::from(self.writer.write())
    }

    /// Packets of the piece that begins with `next`, and whether it may become longer: it is the last one, and the
    /// application goes on.
    pub(super) fn piece(&self, next: u32) -> (u32, bool) {
        let end = self.pieces.0.front().map_or(self.end, |first| first.end);
        (end - next, self.pieces.0.len() < 2 && end < self.end)
    }
}

impl<A: Advisor> LinuxSender<A> {
    /// An ACK may have made room (`tcp_check_space`). Packets that a full buffer held back are sent (`tcp_push`).
    pub(super) fn write(&mut self) {
        let had = self.has_send_head();
        self.fill_buffer();
        if self.bursts && !had && self.has_send_head() {
            self.sk.rate_check_app_limited();
            self.push_pending();
            self.leave_host();
        }
    }

    /// The send buffer follows cwnd while that has room (`tcp_new_space`, `tcp_sndbuf_expand`, `bbr_sndbuf_expand`).
    fn widen_buffer(&mut self) {
        if self.sk.packets_in_flight() < self.sk.snd_cwnd {
            let packets = self.sk.snd_cwnd.max(self.reorder.degree + 1).max(INIT_CWND);
            let factor = if self.has_cong_control() { 3 } else { 2 };
            let wanted = factor * u64::from(packets) * u64::from(PER_MSS);
            self.written.room = self.written.room.max(wanted.min(MOST));
        }
    }

    /// The application fills the send buffer when a third of it is free (`sk_stream_write_space`,
    /// `tcp_sendmsg_locked`). The packet with which it is full is pushed (`tcp_push`), and so is one that ends both a
    /// write and a segment. The buffer itself holds nothing back: the kernel widens it with cwnd. Where packets leave in
    /// bursts, it does.
    pub(super) fn fill_buffer(&mut self) {
        if self.bursts {
            return self.fill_pieces();
        }
        // A wide cwnd sends what the buffer would not have held.
        let written = self.written.buffered.max(self.sk.snd_nxt);
        let freed = u64::from(OVERHEAD * self.queue.merged());
        let held = u64::from(TRUESIZE) * u64::from(written - self.sk.snd_una) - freed;
        let buffer = self.written.room;
        if held + held / 2 > buffer || written >= self.written.end {
            return;
        }
        let room = (buffer + freed).div_ceil(u64::from(TRUESIZE)) as u32;
        let filled = self.sk.snd_una.saturating_add(room).min(self.written.end);
        let period = self.written.writes_and_segments();
        let mut next = written;
        while next < filled {
            let (message, end) = self.written.message_of(next);
            let end = end.min(filled);
            // Packet `message + period - 1` ends a write.
            let mut aligned = message - 1 + (next - message + 1).next_multiple_of(period);
            while aligned < end - 1 {
                self.written.pushes.push_back(aligned);
                aligned += period;
            }
            self.written.pushes.push_back(end - 1);
            next = end;
        }
        self.written.buffered = filled;
    }

    /// The same where packets leave in bursts. A last piece that is not full gets more first. The piece with which the
    /// buffer is full is pushed, and so is one that ends with a write. A write that begins in a piece takes that back.
    fn fill_pieces(&mut self) {
        self.widen_buffer();
        let filled = self.written.buffered.max(self.sk.snd_nxt);
        let payload = |packets: u32| u64::from(packets) * u64::from(MSS);
        let mut held = payload(filled - self.sk.snd_una);
        let buffer = self.written.room;
        if held + held / 2 > buffer || filled >= self.written.end {
            return;
        }
        held += u64::from(OVERHEAD) * (u64::from(self.queue.buffers()) + self.written.pieces.0.len() as u64);
        if held + held / 2 > buffer {
            return;
        }
        let writer = self.written.writer;
        let (mut message, mut message_end) = self.written.message_of(filled);
        let (write, period) = (u64::from(writer.write()), self.written.writes_and_segments());
        // `tcp_xmit_size_goal`: half of the widest window at most. That of the SYN/ACK is not scaled.
        let widest = u64::from(self.max_window) * u64::from(MSS);
        let is_scaled = self.written.buffered > 1 || writer.accepts();
        let widest = if is_scaled { widest } else { widest.min(UNSCALED) };
        let goal = (u64::from(self.sk.gso_max_size).min(widest / 2) / u64::from(MSS)).max(1) as u32;
        let mut end = filled;
        let mut first = self.sk.snd_nxt; // of the last piece
        if let [.., last_but_one, _] = *self.written.pieces.0.make_contiguous() {
            first = last_but_one.end;
        }
        while end < self.written.end {
            if end == message_end {
                (message, message_end) = self.written.message_of(end);
            }
            let pieces = &mut self.written.pieces.0;
            let room = goal.saturating_sub(end - first);
            if room == 0 || pieces.is_empty() {
                if held >= buffer {
                    break;
                }
                held += u64::from(OVERHEAD);
                first = end;
                pieces.push_back(Piece { end, push: false });
            }
            let more = goal.saturating_sub(end - first).min(message_end - end);
            end += more;
            held += payload(more);
            if let Some(last) = pieces.back_mut() {
                last.end = end;
                let begins = payload(end - more - message).next_multiple_of(write) < payload(end - message);
                last.push &= !begins && !writer.begins_anew();
                last.push |= end == message_end || (end - message).is_multiple_of(period);
            }
        }
        self.written.pieces.0.iter_mut().last().into_iter().for_each(|last| last.push = true);
        self.written.buffered = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::LinuxSettings;
    use crate::linux::receiver::LinuxReceiver;
    use crate::profile::LINUX_6_12;

    const RTT: u64 = 50_000_000;

    fn ends(pieces: &Pieces) -> Vec<(u32, bool)> {
        pieces.0.iter().map(|piece| (piece.end, piece.push)).collect()
    }

    fn pieces(ends: &[(u32, bool)]) -> Pieces {
        Pieces(ends.iter().map(|&(end, push)| Piece { end, push }).collect())
    }

    /// `tcp_grow_skb`, `skb_shift`: a piece that is shorter than a burst takes from the next one, and all of a short one.
    #[test]
    fn a_short_piece_grows() {
        let grown = |next, quota| {
            let mut pieces = pieces(&[(33, true), (55, false), (56, true), (78, false)]);
            pieces.grow(next, quota);
            ends(&pieces)
        };
        assert_eq!(grown(31, 2), [(33, true), (55, false), (56, true), (78, false)]);
        assert_eq!(grown(31, 3), [(34, true), (55, false), (56, true), (78, false)]);
        assert_eq!(grown(31, 26), [(57, true), (78, false)]);
        assert_eq!(grown(31, 90), [(78, true)]);
    }

    /// PSH is that of the last packet of a piece, whose end a burst may not reach (`tso_fragment`).
    #[test]
    fn the_end_of_a_piece_leaves() {
        let mut pieces = pieces(&[(33, true), (55, false), (78, true)]);
        assert!(!pieces.leave(32));
        assert!(pieces.leave(33) && !pieces.leave(55) && !pieces.leave(77) && pieces.leave(78));
        assert!(ends(&pieces).is_empty() && !pieces.leave(79));
    }

    /// A sender after the handshake and `rounds` round trips without losses. Each packet is acknowledged.
    fn sender(rounds: u64, writer: Writer) -> LinuxSender<()> {
        let settings = LinuxSettings { bursts: true, writer, ..LINUX_6_12.kernel.expect("a kernel") };
        let mut sender = LinuxSender::new(&LINUX_6_12, settings, ());
        let mut receiver = LinuxReceiver::new(&LINUX_6_12, settings);
        sender.open(1_000_000);
        for now in (0..=rounds).map(|round| round * RTT) {
            while let Some(sent) = sender.poll_transmit(now) {
                receiver.on_segment(now + RTT / 2, &sent.segment);
            }
            while let Some((ack, _)) = receiver.poll_transmit() {
                sender.on_segment(now + RTT, &ack);
            }
        }
        sender
    }

    /// `tcp_push`, `tcp_mark_push`: each write of an application that was idle ends with PSH. In bursts each second packet
    /// has it, too: two leave as one (`tcp_tso_autosize`, `__tcp_transmit_skb`). The receiver reads what has PSH, and
    /// acknowledges at once: no third packet waits for the next one (`__tcp_cleanup_rbuf`).
    #[test]
    fn each_write_ends_with_push() {
        for bursts in [false, true] {
            let settings = LinuxSettings { bursts, ..LINUX_6_12.kernel.expect("a kernel") };
            let mut sender = LinuxSender::new(&LINUX_6_12, settings, ());
            let mut receiver = LinuxReceiver::new(&LINUX_6_12, settings);
            let (mut pushed, mut now) = (Vec::new(), 0);
            for written in [3, 6, 9] {
                sender.open(written);
                for _ in 0..4 {
                    while let Some(sent) = sender.poll_transmit(now) {
                        pushed.extend(sent.segment.push.then_some(sent.segment.seq));
                        receiver.on_segment(now + RTT / 2, &sent.segment);
                    }
                    while let Some((ack, _)) = receiver.poll_transmit() {
                        sender.on_segment(now + RTT, &ack);
                    }
                    now += RTT;
                }
                assert_eq!((sender.sk.snd_una, receiver.last_ack()), (written + 1, written + 1));
            }
            let expected = if bursts { &[2, 3, 5, 6, 8, 9][..] } else { &[3, 6, 9] };
            assert_eq!(pushed, expected, "bursts: {bursts}");
        }
    }

    /// A write of 32 KiB lets 10 packets out. Then the first piece has 22 packets, as half of 65,535 bytes, the widest
    /// window of a SYN/ACK, has room for. Each buffer takes 832 bytes more than its data. The ten that were sent take
    /// 18,640 bytes, a piece 32,688, and 128 pieces fill 4,194,304.
    #[test]
    fn the_first_pieces_are_half_of_an_unscaled_window() {
        let sender = sender(0, Writer::Reference);
        let expected: Vec<_> = (0..128).map(|piece| (33 + 22 * piece, piece == 127)).collect();
        assert_eq!((sender.sk.snd_nxt, ends(&sender.written.pieces)), (11, expected));
    }

    /// The last piece becomes longer: 45 packets are what a burst of 64 KiB has room for. It loses PSH, for it had
    /// 2,826 packets before it, 4,092,048 bytes, and gets 33,304 more, among which the next write begins after 3,952. Two
    /// have PSH, with which the buffer was full: cwnd of 1,280 widens it to 5.9 MB. A write of 32 KiB ends with none.
    #[test]
    fn later_pieces_are_the_longest_bursts() {
        let mut first = sender(0, Writer::Reference).written.pieces;
        let last = first.0.pop_back().map(|last| last.end).expect("a piece");
        let sender = sender(7, Writer::Reference);
        let later: Vec<_> =
            ends(&sender.written.pieces).into_iter().filter(|piece| piece.0 >= last).collect();
        let (end, _) = *later.last().expect("pieces");
        let ends: Vec<_> = later.iter().map(|piece| piece.0).collect();
        assert_eq!(ends, (last + 23..=end).step_by(45).collect::<Vec<_>>());
        assert!(!later[0].1 && later[later.len() - 1].1, "{later:?}");
        assert_eq!(later.iter().filter(|piece| piece.1).count(), 2, "{later:?}");
        // A third of the buffer is more than 20 pieces.
        assert!(later.len() > 20, "{later:?}");
    }

    /// iperf3 3.12 in the laboratory, as strace shows it: eight writes of 131,072 bytes, then 8,464 of the next one. That
    /// is 730 packets: ten that leave, and sixteen pieces of 45.
    #[test]
    fn iperf3_fills_a_buffer_of_a_mebibyte() {
        let first = ends(&sender(0, Writer::Iperf3).written.pieces);
        let expected: Vec<_> = (1..=16).map(|piece| (11 + 45 * piece, piece == 16)).collect();
        assert_eq!(first, expected);
        assert_eq!(730 * u64::from(MSS), 8 * 131_072 + 8_464);
    }

    /// A write that goes on in an unsent piece takes its PSH (`tcp_sendmsg_locked`), and ends with one. A message of 170 packets
    /// leaves room for ten in its last piece. They are of the next message, which ends later. A message that ends with a
    /// piece keeps its PSH.
    #[test]
    fn a_message_goes_on_in_the_piece_before_it() {
        let held = |messages: &[u32]| {
            let settings = LinuxSettings { bursts: true, ..LINUX_6_12.kernel.expect("a kernel") };
            let mut sender = LinuxSender::new(&LINUX_6_12, settings, ());
            let mut receiver = LinuxReceiver::new(&LINUX_6_12, settings);
            sender.open(1);
            for now in [0, RTT] {
                while let Some(sent) = sender.poll_transmit(now) {
                    receiver.on_segment(now + RTT / 2, &sent.segment);
                }
                while let Some((ack, _)) = receiver.poll_transmit() {
                    sender.on_segment(now + RTT, &ack);
                }
            }
            let mut written = 1;
            for packets in messages {
                written += packets;
                sender.open(written);
                while sender.poll_transmit(2 * RTT).is_some() {}
            }
            ends(&sender.written.pieces)
        };
        let whole = [(47, false), (92, false), (137, false)];
        assert_eq!(held(&[170]), [&whole[..], &[(172, true)]].concat());
        assert_eq!(held(&[170, 100]), [&whole[..], &[(182, false), (227, false), (272, true)]].concat());
        assert_eq!(held(&[15, 40, 60]), [(57, true), (102, false), (117, true)]);
    }

    /// The buffer of 730 packets holds back what cwnd would let go. It follows cwnd, with two times 2,304 bytes for
    /// each of its packets, but not while cwnd is full.
    #[test]
    fn a_full_buffer_holds_packets_back() {
        let sent = |cwnd| {
            let mut sender = sender(0, Writer::Iperf3);
            sender.sk.set_cwnd(cwnd);
            sender.push_pending();
            sender.leave_host();
            let held = sender.sk.snd_nxt;
            assert!(sender.has_unsent_data());
            sender.write();
            (held, sender.sk.snd_nxt, sender.written.room)
        };
        assert_eq!(sent(2_000), (731, 2_001, 2_000 * 2 * 2_304));
        assert_eq!(sent(730), (731, 731, 1 << 20));
        assert_eq!(sent(500), (501, 501, 1 << 20));
    }
}
