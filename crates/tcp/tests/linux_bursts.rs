//! Packets that leave as one, where the device takes several (TSO).

use crate::ack::ack_of;
use segue_tcp::linux::{LinuxSender, LinuxSettings};
use segue_tcp::profile::{LINUX_6_12, LINUX_6_12_BBR};
use segue_tcp::{Advice, Detail, Nanos, SackList, Segment, StackProfile};

const MS: Nanos = 1_000_000;
const RTT: Nanos = 50 * MS;

fn sender(stack: &StackProfile, bursts: bool) -> LinuxSender<()> {
    let settings = LinuxSettings { bursts, ..stack.kernel.expect("a kernel") };
    let mut sender = LinuxSender::new(stack, settings, ());
    sender.open(1_000);
    assert_eq!(packets(&mut sender, 0), 1, "the SYN");
    sender.on_segment(RTT, &ack_of(1, 1_000, None));
    assert_eq!(packets(&mut sender, RTT), 1 + 10, "an ACK and the initial window");
    sender
}

fn packets(sender: &mut LinuxSender<()>, now: Nanos) -> usize {
    std::iter::from_fn(|| sender.poll_transmit(now)).count()
}

/// Instants at which the second window leaves, and packets of each.
fn second_window(bursts: bool) -> (Vec<(Nanos, usize)>, u64) {
    let mut sender = sender(&LINUX_6_12_BBR, bursts);
    sender.on_segment(2 * RTT, &ack_of(11, 1_000, None));
    let rate = sender.sock().pacing_rate;
    let mut left = vec![(2 * RTT, packets(&mut sender, 2 * RTT))];
    while let Some(now) = sender.deadline().filter(|&now| now < 3 * RTT) {
        sender.on_timer(now);
        left.push((now, packets(&mut sender, now)));
    }
    (left.into_iter().filter(|&(_, packets)| packets > 0).collect(), rate)
}

/// `bbr_min_tso_segs`: two segments from 1.2 Mbit/s on. Pacing lets a burst go when the one before would have left.
#[test]
fn bbr_paces_two_packets_at_a_time() {
    let (left, rate) = second_window(true);
    assert!(rate > 150_000);
    assert_eq!(left.iter().map(|&(_, packets)| packets).collect::<Vec<_>>(), [2; 10]);
    let gap = 2 * 1448 * 1_000_000_000 / rate;
    // The first ones use up what pacing was late, so they leave sooner.
    assert!(left[2..].windows(2).all(|pair| pair[1].0 - pair[0].0 == gap), "{left:?}, {gap}");
    let (left, rate) = second_window(false);
    assert_eq!(left.len(), 20);
    let gap = 1448 * 1_000_000_000 / rate;
    assert!(left[2..].windows(2).all(|pair| pair[1].0 - pair[0].0 == gap), "{left:?}, {gap}");
}

/// `__tcp_transmit_skb`, `skb_segment`: the last packet of a burst has PSH, and all of them are told to be cut from one. A
/// packet that leaves alone is neither.
#[test]
fn the_last_packet_of_a_burst_is_pushed() {
    let cut = |bursts| {
        let mut sender = sender(&LINUX_6_12, bursts);
        let mut cut = Vec::new();
        for (now, ack) in [(2 * RTT, 3), (3 * RTT, 4)] {
            sender.on_segment(now, &ack_of(ack, 1_000, None));
            let sent = std::iter::from_fn(|| sender.poll_transmit(now)).map(|sent| sent.segment);
            cut.extend(sent.map(|sent| (sent.seq, sent.detail == Detail::Cut, sent.push)));
        }
        cut
    };
    let pair = |first| [(first, true, false), (first + 1, true, true)];
    assert_eq!(cut(true), [pair(11), pair(13), pair(15)].concat());
    assert_eq!(cut(false), [11, 12, 13, 14, 15, 16].map(|seq| (seq, false, false)));
}

/// Packets that each ACK of one packet lets out in congestion avoidance. The window has room for one more each time.
fn after_each_ack(bursts: bool) -> Vec<usize> {
    let mut sender = sender(&LINUX_6_12, bursts);
    sender.enact(RTT, &Advice { ssthresh: Some(10 * 256), ..Advice::default() });
    let acks = (0..5).map(|n| (2 * RTT + n * MS / 10, 2 + n as u32));
    acks.map(|(now, packet)| {
        sender.on_segment(now, &ack_of(packet, 1_000, None));
        packets(&mut sender, now)
    })
    .collect()
}

/// `tcp_tso_should_defer`: a single packet waits for the next ACK, which is due, unless the last burst is a
/// millisecond old.
#[test]
fn a_short_burst_waits_for_the_next_ack() {
    assert_eq!(after_each_ack(true), [1, 0, 2, 0, 2]);
    assert_eq!(after_each_ack(false), [1; 5]);
}

/// Where the receiver's window holds a burst back, cwnd does not. So it stands still once the windows that cwnd has
/// limited are acknowledged (`tcp_cwnd_validate`, `tcp_is_cwnd_limited`).
#[test]
fn a_burst_that_waits_for_the_receiver_does_not_open_cwnd() {
    const WINDOW: u32 = 12;
    for bursts in [false, true] {
        let mut sender = sender(&LINUX_6_12, bursts);
        let after_round: Vec<u32> = (2..20)
            .map(|round| {
                let (first, end) = (sender.snd_una() + 1, sender.snd_max());
                for packet in first..=end {
                    let now = round * RTT + Nanos::from(packet - first) * MS / 10;
                    sender.on_segment(now, &ack_of(packet, WINDOW, None));
                    packets(&mut sender, now);
                }
                sender.sock().snd_cwnd
            })
            .collect();
        let standing = &after_round[2..];
        assert!(standing[0] > WINDOW, "{bursts}: {after_round:?}");
        assert!(standing.iter().all(|&cwnd| cwnd == standing[0]), "{bursts}: {after_round:?}");
    }
}

/// An ACK of all before `ack`, with a SACK block.
fn sack_of(ack: u32, block: (u32, u32)) -> Segment {
    let mut sack = SackList::default();
    sack.push(block.0, block.1);
    Segment { sack, syn: false, ..ack_of(ack, 1_000, None) }
}

/// Instants from `from` to `to` at which packets leave, and the packets: number, and whether it was sent before.
fn script(sender: &mut LinuxSender<()>, from: Nanos, to: Nanos) -> Vec<(Nanos, Vec<(u32, bool)>)> {
    let mut left = Vec::new();
    let mut now = from;
    loop {
        let packets: Vec<_> = std::iter::from_fn(|| sender.poll_transmit(now))
            .filter(|sent| sent.segment.payload > 0)
            .map(|sent| (sent.segment.seq, sent.retransmission))
            .collect();
        if !packets.is_empty() {
            left.push((now, packets));
        }
        match sender.deadline().filter(|&next| next < to) {
            Some(next) => now = next,
            None => return left,
        }
        sender.on_timer(now);
    }
}

/// Bursts after an ACK of nothing new whose SACK block begins at `from` and ends with the initial window.
fn after_losses(from: u32, bursts: bool) -> Vec<Vec<(u32, bool)>> {
    let mut sender = sender(&LINUX_6_12_BBR, bursts);
    sender.on_segment(2 * RTT, &sack_of(1, (from, 11)));
    script(&mut sender, 2 * RTT, 3 * RTT).into_iter().map(|(_, packets)| packets).collect()
}

/// `tcp_xmit_retransmit_queue`: packets that left as one leave again as one.
#[test]
fn lost_bursts_leave_again_as_they_left() {
    let again = |packets: &[u32]| packets.iter().map(|&seq| (seq, true)).collect::<Vec<_>>();
    let new = |packets: &[u32]| packets.iter().map(|&seq| (seq, false)).collect::<Vec<_>>();
    assert_eq!(after_losses(5, true), [again(&[1, 2]), again(&[3, 4]), new(&[11, 12])]);
    // A SACK block cuts a burst.
    assert_eq!(after_losses(4, true), [again(&[1, 2]), again(&[3]), new(&[11, 12]), new(&[13, 14])]);
    assert_eq!(after_losses(5, false)[..4], [again(&[1]), again(&[2]), again(&[3]), again(&[4])]);
}

/// `__tcp_transmit_skb` marks the copy that leaves. The end of a burst that was lost alone leaves again without PSH.
#[test]
fn the_end_of_a_burst_is_not_pushed_when_it_leaves_alone() {
    let mut sender = sender(&LINUX_6_12_BBR, true);
    let mut ack = sack_of(1, (3, 4));
    ack.sack.push(5, 11);
    sender.on_segment(2 * RTT, &ack);
    let mut again = Vec::new();
    let mut now = 2 * RTT;
    loop {
        let sent = std::iter::from_fn(|| sender.poll_transmit(now)).filter(|sent| sent.retransmission);
        again.extend(sent.map(|sent| (sent.segment.seq, sent.segment.push)));
        match sender.deadline().filter(|&next| next < 3 * RTT) {
            Some(next) => now = next,
            None => break,
        }
        sender.on_timer(now);
    }
    assert_eq!(again, [(1, false), (2, true), (4, false)]);
}

/// `tcp_retransmit_timer` sends one packet of its burst. The other one is sent when that is acknowledged.
#[test]
fn a_timeout_sends_one_packet() {
    let mut sender = sender(&LINUX_6_12, true);
    let left = script(&mut sender, RTT, RTT + 600 * MS);
    let sizes: Vec<_> = left.iter().map(|(_, packets)| &packets[..]).collect();
    assert_eq!(sizes, [&[(11, false)][..], &[(1, true)]]);
}
