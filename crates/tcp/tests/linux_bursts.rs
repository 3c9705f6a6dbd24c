//! Packets that leave as one, where the device takes several (TSO).

use crate::ack::ack_of;
use segue_tcp::linux::{LinuxSender, LinuxSettings};
use segue_tcp::profile::{LINUX_6_12, LINUX_6_12_BBR};
use segue_tcp::{Advice, Nanos, StackProfile};

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
