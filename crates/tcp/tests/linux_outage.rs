//! Linux's sender in an outage: the probe, then the timeouts, each as late as the timer wheel makes it. It also
//! shows how the sender begins when the outage hits the handshake.

use crate::ack::ack_of;
use segue_tcp::linux::{LinuxSender, LinuxSettings};
use segue_tcp::profile::LINUX_6_12;
use segue_tcp::{Detail, Nanos, Segment};

const MS: Nanos = 1_000_000;
const RTT: Nanos = 50 * MS;

/// Times, ms after the last ACK, at which something is sent; a round trip of 50 ms was measured thirty times before.
/// At that ACK the host's jiffies are a multiple of 4096.
fn outage(hz: u32, packets: usize) -> Vec<u64> {
    const ROUNDS: Nanos = 30;
    let last = ROUNDS * RTT;
    let jiffy = 1_000_000_000 / Nanos::from(hz);
    // 2824 and 4096 jiffies have passed at time zero (wheel.rs).
    let phase = (2 * 4096 * jiffy).checked_sub((2824 * jiffy + last) % (4096 * jiffy)).expect("a phase");
    let settings = LinuxSettings { hz, phase, ..LINUX_6_12.kernel.expect("a kernel") };
    let mut sender = LinuxSender::new(&LINUX_6_12, settings, ());
    sender.open(100_000);
    let mut echo = sender.poll_transmit(0).expect("a SYN").segment.timestamps.expect("a time stamp").value;
    for round in 1..=ROUNDS {
        let now = round * RTT;
        sender.on_segment(now, &ack_of(sender.snd_max(), 10, Some(echo)));
        while let Some(transmit) = sender.poll_transmit(now) {
            echo = transmit.segment.timestamps.expect("a time stamp").value;
        }
    }
    let (srtt, rto, _) = sender.timing();
    assert_eq!(srtt, Some(RTT), "{hz} Hz");
    assert_eq!(rto, (250 * MS).next_multiple_of(jiffy), "{hz} Hz");
    let mut sent = Vec::new();
    while sent.len() < packets {
        let now = sender.deadline().expect("a timer runs");
        sender.on_timer(now);
        while sender.poll_transmit(now).is_some() {
            sent.push((now - last) / MS);
        }
    }
    sent
}

/// With 1000 jiffies per second: PTO 102 in granules of 8, then RTOs of 250, 500 ms and so on.
#[test]
fn tv_06_an_outage_at_1000_hz() {
    assert_eq!(outage(1000, 8), [104, 360, 864, 1920, 3968, 8000, 16384, 32768]);
}

/// With 250. Two rules count here that a formula in milliseconds (384, 3936 and 32512 in place of three of these)
/// leaves out. A timer that a timer's function sets counts from the next jiffy (`forward_timer_base`), so the first
/// RTO of 63 jiffies waits in the wheel's finest level. And back-off doubles jiffies, 63 of them, not 250 ms
/// (`icsk_rto << 1`).
#[test]
fn tv_06_an_outage_at_250_hz() {
    assert_eq!(outage(250, 9), [108, 364, 896, 1920, 3968, 8192, 16384, 32768, 65536]);
}

/// cwnd and ssthresh when the connection stands, after so many timeouts of the SYN. The other host answers the first
/// copy or the last one.
fn begins(timeouts: usize, answers_first: bool) -> (u32, u32) {
    let settings = LINUX_6_12.kernel.expect("a kernel");
    let mut sender = LinuxSender::new(&LINUX_6_12, settings, ());
    sender.open(100_000);
    let mut now = 0;
    let stamp = |sender: &mut LinuxSender<()>, now: Nanos| {
        let syn = sender.poll_transmit(now).expect("a SYN").segment;
        assert!(syn.syn && sender.poll_transmit(now).is_none());
        syn.timestamps.expect("a time stamp").value
    };
    let mut echoes = vec![stamp(&mut sender, now)];
    for _ in 0..timeouts {
        now = sender.deadline().expect("a timer runs");
        sender.on_timer(now);
        echoes.push(stamp(&mut sender, now));
    }
    let echo = echoes[if answers_first { 0 } else { timeouts }];
    sender.on_segment(now + RTT, &ack_of(1, 10, Some(echo)));
    (sender.sock().snd_cwnd, sender.sock().snd_ssthresh)
}

/// `tcp_init_metrics`: ssthresh may have been reduced needlessly in the handshake, so it is infinite again
/// (`TCP_INFINITE_SSTHRESH`). `tcp_init_transfer`: cwnd is 1 if the SYN was lost twice.
#[test]
fn an_outage_in_the_handshake_leaves_slow_start() {
    const INFINITE: u32 = 0x7fff_ffff;
    assert_eq!([0, 1, 2].map(|lost| begins(lost, false)), [(10, INFINITE), (10, INFINITE), (1, INFINITE)]);
}

/// `tcp_try_undo_spurious_syn`: the SYN was late, not lost, if its first copy is answered.
#[test]
fn a_late_handshake_begins_as_any() {
    assert_eq!([1, 2, 3].map(|late| begins(late, true).0), [10; 3]);
}

/// Packets that leave when the ACKs of the other host come after an outage, counted from the first of which the sender
/// knows no ACK. Three have arrived before the link was gone, whose ACKs died with it; the window is ten. `octets`:
/// ACKs of one octet of these packets come before the ACK of all three.
fn leaves_after(octets: &[u32]) -> Vec<u32> {
    let settings = LINUX_6_12.kernel.expect("a kernel");
    let mut sender = LinuxSender::new(&LINUX_6_12, settings, ());
    sender.open(100_000);
    let mut echo = sender.poll_transmit(0).expect("a SYN").segment.timestamps.expect("a time stamp").value;
    for now in [RTT, 2 * RTT] {
        sender.on_segment(now, &ack_of(sender.snd_max(), 10, Some(echo)));
        while let Some(transmit) = sender.poll_transmit(now) {
            echo = transmit.segment.timestamps.expect("a time stamp").value;
        }
    }
    let (una, mut now) = (sender.snd_una(), 0);
    for _ in 0..4 {
        now = sender.deadline().expect("a timer runs");
        sender.on_timer(now);
        while sender.poll_transmit(now).is_some() {}
    }
    let octets = octets.iter().map(|packet| (*packet, Detail::Octet));
    let mut left = Vec::new();
    for (packet, detail) in octets.chain([(3, Detail::None)]) {
        sender.on_segment(now, &Segment { detail, timestamps: None, ..ack_of(una + packet, 10, Some(0)) });
        left.extend(
            std::iter::from_fn(|| sender.poll_transmit(now)).map(|transmit| transmit.segment.seq - una),
        );
    }
    left
}

/// F-RTO takes an ACK of packets that were not resent for a proof that nothing was lost (`tcp_process_loss`, step 3.b),
/// and new packets leave. An ACK within the resent packet ends F-RTO, for cwnd leaves no room for new ones
/// (`tcp_xmit_recovery`); the next ACK has the lost ones resent.
#[test]
fn an_ack_of_one_octet_ends_frto() {
    assert_eq!(leaves_after(&[])[0], 10);
    assert_eq!(leaves_after(&[0])[..2], [3, 4]);
    // One behind the resent packet leaves room.
    assert_eq!(leaves_after(&[1])[0], 10);
}

/// An octet stands between its packet and the next: it is in the past after that one's, and is not acknowledged before
/// it is sent.
#[test]
fn an_octet_stands_between_two_packets() {
    assert_eq!(leaves_after(&[1, 0]), leaves_after(&[1]));
    assert_eq!(leaves_after(&[0, 0]), leaves_after(&[0]));
    assert_eq!(leaves_after(&[10]), leaves_after(&[]));
}
