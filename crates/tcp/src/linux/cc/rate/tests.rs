use super::super::MinMax;
use super::*;

/// A packet of the tests' send queue.
#[derive(Clone, Copy)]
struct Sent {
    stamp: TxStamp,
    packet: Delivered,
}

fn sock() -> Sock {
    let mut sk = Sock::new(250, 1448);
    (sk.delivered, sk.app_limited) = (1, 0); // the SYN's
    sk.rtt_min = MinMax::new(0, 1_000);
    sk
}

fn at(sk: &mut Sock, us: u64) {
    sk.refresh(us * 1_000, (us / 4_000) as u32);
}

fn send(sk: &mut Sock, us: u64) -> Sent {
    at(sk, us);
    let stamp = sk.rate_skb_sent(us);
    sk.packets_out += 1;
    sk.snd_nxt += 1;
    let packet = Delivered { sent_us: us, end_seq: sk.snd_nxt, retransmitted: false, sacked: false };
    Sent { stamp, packet }
}

/// An ACK of `packets` at `us`.
fn ack(sk: &mut Sock, us: u64, packets: &mut [Sent]) -> RateSample {
    at(sk, us);
    let mut rs = RateSample { prior_in_flight: sk.packets_in_flight(), ..RateSample::default() };
    for sent in packets.iter_mut() {
        sk.delivered += 1;
        sk.packets_out -= u32::from(!sent.packet.sacked);
        sk.sacked_out += u32::from(sent.packet.sacked);
        sk.rate_skb_delivered(&mut sent.stamp, &sent.packet, &mut rs);
    }
    sk.rate_gen(packets.len() as u32, 0, false, &mut rs);
    rs
}

/// The sample of a flight that left within 3 ms and whose ACKs come 2 ms apart, RTT 20 ms.
#[test]
fn the_longer_phase_is_the_interval() {
    let mut sk = sock();
    let mut flight: Vec<Sent> = (0..4).map(|k| send(&mut sk, 1_000 + k * 1_000)).collect();
    let first = ack(&mut sk, 21_000, &mut flight[..1]);
    assert_eq!((first.delivered, first.interval_us), (1, 20_000)); // from the first send
    let mut fifth = [send(&mut sk, 21_000)];
    let last = ack(&mut sk, 27_000, &mut flight[1..]);
    // Sent when nothing was delivered yet: all four since 1,000.
    assert_eq!((last.delivered, last.interval_us, last.rcv_interval_us), (4, 26_000, 26_000));
    assert_eq!((last.acked_sacked, last.prior_in_flight), (3, 4));
    let next = ack(&mut sk, 41_000, &mut fifth);
    // One delivered when it left (and the SYN); sending phase: from the first packet's send at 1,000.
    assert_eq!((next.prior_delivered, next.delivered), (2, 4));
    assert_eq!((next.snd_interval_us, next.rcv_interval_us), (20_000, 20_000));
}

/// Compressed ACKs, the sending phase is the longer one.
#[test]
fn compressed_acks_do_not_raise_the_rate() {
    let mut sk = sock();
    let mut flight: Vec<Sent> = (0..3).map(|k| send(&mut sk, 1_000 + k * 30_000)).collect();
    for sent in &mut flight {
        // All were sent before any ACK, so they share `delivered_mstamp`; pretend ACKs moved it.
        sent.stamp.delivered_mstamp = 60_000;
    }
    let rs = ack(&mut sk, 70_000, &mut flight);
    assert_eq!((rs.snd_interval_us, rs.rcv_interval_us, rs.interval_us), (60_000, 10_000, 60_000));
}

/// A packet gives one sample, when it is SACKed, and none when it is acknowledged cumulatively.
#[test]
fn a_sacked_packet_gives_one_sample() {
    let mut sk = sock();
    let mut flight = [send(&mut sk, 1_000), send(&mut sk, 2_000)];
    flight[1].packet.sacked = true;
    assert_eq!(ack(&mut sk, 22_000, &mut flight[1..]).delivered, 1);
    let mut rs = RateSample::default();
    sk.rate_skb_delivered(&mut flight[1].stamp, &flight[1].packet, &mut rs);
    sk.rate_gen(0, 0, false, &mut rs);
    assert_eq!((rs.delivered, rs.interval_us), (-1, -1));
}

/// An interval below the smallest round trip measures nothing; nor does an ACK after reneging.
#[test]
fn samples_that_cannot_be_are_dropped() {
    let mut sk = sock();
    sk.rtt_min = MinMax::new(0, 20_000);
    let mut sent = [send(&mut sk, 1_000)];
    let rs = ack(&mut sk, 20_999, &mut sent);
    assert_eq!((rs.delivered, rs.interval_us, rs.is_valid()), (1, -1, false));
    let mut sent = send(&mut sk, 30_000);
    at(&mut sk, 60_000);
    let mut rs = RateSample::default();
    sk.rate_skb_delivered(&mut sent.stamp, &sent.packet, &mut rs);
    sk.rate_gen(1, 0, true, &mut rs);
    assert_eq!((rs.delivered, rs.interval_us), (-1, -1));
}

/// The mark holds until all that was in flight is delivered.
#[test]
fn the_bubble_ends_when_it_is_acknowledged() {
    let mut sk = sock();
    let mut flight = [send(&mut sk, 1_000), send(&mut sk, 1_000)];
    sk.rate_check_app_limited();
    assert_eq!(sk.app_limited, 3);
    let mut third = [send(&mut sk, 2_000)];
    let rs = ack(&mut sk, 21_000, &mut flight);
    assert!(!rs.is_app_limited);
    assert_eq!(sk.app_limited, 3); // 3 are delivered, not more
    let rs = ack(&mut sk, 22_000, &mut third);
    assert!(rs.is_app_limited);
    assert_eq!(sk.app_limited, 0);
    // Not with the window full, nor with losses still to repair.
    (sk.packets_out, sk.snd_cwnd) = (10, 10);
    sk.rate_check_app_limited();
    assert_eq!(sk.app_limited, 0);
    (sk.snd_cwnd, sk.lost_out) = (20, 1);
    sk.rate_check_app_limited();
    assert_eq!(sk.app_limited, 0);
}

/// After an outage of 1 s the ACK of the retransmission spans it.
#[test]
fn an_outage_makes_one_small_sample() {
    let mut sk = sock();
    let mut sent = send(&mut sk, 1_000);
    at(&mut sk, 1_001_000);
    let again = sk.rate_skb_sent(1_001_000); // still outstanding: the interval goes on from 1,000
    assert_eq!(again.delivered_mstamp, 1_000);
    sent.stamp = again;
    (sent.packet.sent_us, sent.packet.retransmitted) = (1_001_000, true);
    let rs = ack(&mut sk, 1_021_000, &mut [sent]);
    assert_eq!((rs.delivered, rs.interval_us, rs.is_retrans), (1, 1_020_000, true));
}
